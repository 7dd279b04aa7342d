"""What a network has learned from, in JSON: posteriors of its parameters and later rows go on from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.cpds import CPD
from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.distributions.parts import Part
from pgm.distributions.pseudo_counts import Conjugate, Prior
from pgm.errors import nearest, shown
from pgm.learning.parameters import Rule
from pgm.models import BayesianNetwork
from pgm.models.fitting import Learned

from .learned_statistics import numbers, statistics, written
from .priors import read_prior
from .priors import write as write_prior


def write_learned(net: BayesianNetwork) -> dict[str, Any] | None:
    """Return what `fit` with a prior has counted and believed; None if there is no posterior to keep."""
    learned = net._learned
    if learned is None:
        return None
    nodes = {}
    for name, cpd in learned.cpds.items():
        counted = learned.statistics.get(name)
        if (
            name in net
            and net._cpds.get(name) == cpd
            and isinstance(counted, np.ndarray | GaussianStatistics)
        ):
            nodes[name] = {**written(counted), **_rule(learned.rules[name])}
    if not any("added" in node or "prior" in node for node in nodes.values()):
        return None
    groups = [list(group) for group in learned.groups if all(name in nodes for name in group)]
    return {
        "rows": learned.n_rows,
        "complete": learned.whole,
        "hidden": sorted(learned.latent & set(nodes)),
        "tied": groups,
        "nodes": nodes,
    }


def _rule(rule: Rule) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if isinstance(rule.pseudo, np.ndarray):
        one = rule.pseudo.size and bool((rule.pseudo == rule.pseudo.flat[0]).all())
        found["added"] = float(rule.pseudo.flat[0]) if one else rule.pseudo.tolist()
    elif isinstance(rule.pseudo, GaussianStatistics):
        found["added"] = written(rule.pseudo)
    conjugate: Any = rule.conjugate
    if isinstance(conjugate, Prior):
        found["prior"] = write_prior(conjugate)
    if rule.mode:
        found["mode"] = True
    if rule.fixed is not False:
        found["fixed"] = True if rule.fixed is True else np.asarray(rule.fixed).tolist()
    return found


def take_learned(net: BayesianNetwork, part: Part) -> None:
    """Give a network that was read what it has learned from."""
    part.members("what was learned", ["rows", "complete", "hidden", "tied", "nodes"])
    inside = part.at("nodes")
    inside.members("the nodes that were learned", [], net.nodes)
    found: dict[str, Any] = {}
    rules: dict[str, Rule] = {}
    cpds: dict[str, CPD] = {}
    for name in inside.value:
        cpds[name] = net.cpd(name)
        found[name], rules[name] = _node(inside.at(name), net.cpd(name))
    groups = []
    for i in range(len(part.at("tied").elements("a list of groups"))):
        group = part.at("tied", i).names("names of nodes")
        for j, name in enumerate(group):
            if name not in found or found[name].__class__ is not found[group[0]].__class__:
                part.fail(f"{shown(name)} is not a node that is tied.{nearest(name, found)}", "tied", i, j)
            if isinstance(found[name], np.ndarray) and found[name].shape != found[group[0]].shape:
                part.fail(f"{shown(name)} is tied to one with other states", "tied", i, j)
        groups.append(tuple(group))
    hidden = part.at("hidden").names("names of nodes")
    for i, name in enumerate(hidden):
        if name not in found:
            part.fail(f"there is no node {shown(name)}", "hidden", i)
    net._learned = Learned(
        found,
        rules,
        groups,
        cpds,
        part.at("rows").whole("how many rows there were"),
        frozenset(hidden),
        part.at("complete").truth("whether every row was complete"),
    )


_MORE = ("added", "prior", "mode", "fixed")


def _node(part: Part, cpd: CPD) -> tuple[Any, Rule]:
    """The statistics of a node, and how it is learned."""
    value = part.value if type(part.value) is dict else part.expected("an object")
    if cpd.tabular:
        shape, dim = cpd.values.shape, 0
    elif cpd.continuous and hasattr(cpd, "weights"):
        dim = 1 + sum(v.continuous for v in cpd.given)
        shape = (int(np.prod([v.card for v in cpd.given if not v.continuous], dtype=np.int64)),)
    else:
        part.fail(f"a {type(cpd).__name__} has no statistics in files")
    found = statistics(part, shape, dim, _MORE)
    pseudo: Any = None
    if "added" in value and dim:
        pseudo = statistics(part.at("added"), shape, dim)
    elif "added" in value:
        one = not isinstance(value["added"], list)
        added = part.at("added").number("pseudo-counts") if one else numbers(part, "added", shape)
        pseudo = np.broadcast_to(added, shape).astype(np.float64)
    conjugate: Any = None
    if "prior" in value:
        conjugate = read_prior(part.at("prior"))
        if not isinstance(conjugate, Conjugate) or not conjugate.takes(cpd):
            part.fail(f"{conjugate!r} is not a prior of this node", "prior")
    fixed: Any = False
    if "fixed" in value:
        fixed = True if value["fixed"] is True else _mask(part, shape[:-1])
    mode = part.at("mode").truth("whether it is the mode") if "mode" in value else False
    return found, Rule(pseudo, conjugate, fixed, mode)


def _mask(part: Part, shape: tuple[int, ...]) -> np.ndarray:
    found = np.array(part.value["fixed"])
    if found.dtype != bool or found.shape != shape:
        part.expected("true and false for each row of the table", "fixed")
    return found
