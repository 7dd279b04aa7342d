"""A dynamic network as a Bayesian network of many steps, whose tables are shared."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, repeat
from typing import Any

import numpy as np

from pgm.cpds import CPD, TableCPD
from pgm.cpds.table_input import check_cells
from pgm.errors import ImpossibleEvidence, InvalidArgument, UnknownVariable
from pgm.evidence import Likelihood
from pgm.frames import has_parts
from pgm.inference.engines.interface import ObservedRows
from pgm.models.bayesian_network import BayesianNetwork
from pgm.variables import Variable, is_missing

from .network_rows import read
from .network_slices import Node, back_of, check_whole, template


def unrolled(name: str, nodes: Mapping[str, Node], steps: int) -> BayesianNetwork:
    """The network of this many steps, one step after the other, static variables first."""
    check_whole(nodes)
    check_cells((steps, len(nodes), 100), "The network", "unroll fewer steps")
    called = {
        node.name: [node.name] * steps if node.static else [f"{node.name}[{t}]" for t in range(steps)]
        for node in nodes.values()
    }
    moving = [node for node in nodes.values() if not node.static]
    parents: dict[str, tuple[str, ...]] = {}
    domains: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    for node in nodes.values():
        if node.static:
            parents[node.name], domains[node.name] = node.parents, node.domain
            kept[node.name] = _kept(node.cpds[0], node.name, node.parents)
    if moving:
        every = list(chain.from_iterable(zip(*(called[node.name] for node in moving), strict=True)))
        own = [_parents(node, called, steps) for node in moving]
        parents.update(zip(every, chain.from_iterable(zip(*own, strict=True)), strict=True))
        domains.update(
            zip(every, chain.from_iterable(repeat([n.domain for n in moving], steps)), strict=True)
        )
        what = [_cpds(node, called[node.name], those) for node, those in zip(moving, own, strict=True)]
        kept.update(zip(every, chain.from_iterable(zip(*what, strict=True)), strict=True))
    return BayesianNetwork._of_parts(name, parents, domains, kept)


def _parents(node: Node, called: Mapping[str, list[str]], steps: int) -> list[tuple[str, ...]]:
    """The names of the parents in each step."""
    found: list[tuple[str, ...]] = []
    for t, cpd in enumerate(node.cpds[:-1][:steps]):
        found.append(tuple([called[p][t - back] for p, back in map(back_of, cpd.parents)]))
    first = len(node.cpds) - 1
    if steps > first:
        those = [called[p][first - back : steps - back] for p, back in map(back_of, node.cpds[-1].parents)]
        found += list(zip(*those, strict=True)) if those else [()] * (steps - first)
    return found


def _cpds(node: Node, names: list[str], parents: list[tuple[str, ...]]) -> list[Any]:
    """What the network stores for each step; for a table, the same array every time."""
    steps, first, last = len(names), len(node.cpds) - 1, node.cpds[-1]
    early = [
        _kept(cpd, child, those) for cpd, child, those in zip(node.cpds[:-1], names, parents, strict=False)
    ]
    if type(last) is TableCPD:
        return early + [last.values] * max(steps - first, 0)
    return early + [
        _kept(last, child, those) for child, those in zip(names[first:], parents[first:], strict=True)
    ]


def _kept(cpd: CPD, child: str, parents: tuple[str, ...]) -> Any:
    if type(cpd) is TableCPD:
        return cpd.values
    given = tuple([Variable.of(name, v.domain) for name, v in zip(parents, cpd.given, strict=True)])
    return cpd.renamed(Variable.of(child, cpd.child.domain), given)


def evidence(nodes: Mapping[str, Node], data: Any) -> dict[str, Any]:
    """A sequence as evidence of the unrolled network."""
    if data is None:
        return {}
    found = read(nodes, template(nodes), data, held=None)
    if not found.sequences.lone:
        raise InvalidArgument("This question is about one sequence, not several.")
    known: dict[str, Any] = {}
    for name, column in (data if isinstance(data, Mapping) else found.sequences.rows).items():
        if name not in nodes:
            continue
        if not has_parts(column):
            known[name] = column
            continue
        if not nodes[name].static:
            known |= {f"{name}[{t}]": value for t, value in enumerate(list(column))}
        elif seen := [value for value in column if not is_missing(value)]:
            known[name] = seen[0] if len(seen) == 1 else _static_value(nodes, name, found.rows)
    return known


def _static_value(nodes: Mapping[str, Node], name: str, rows: ObservedRows) -> Any:
    """The evidence on a static variable that several steps give."""
    v = list(nodes).index(name)
    if v in rows.values:
        values = np.unique(rows.values[v][~np.isnan(rows.values[v])])
        if values.size > 1:
            raise _contradiction(name)
        return float(values[0])
    logs = np.zeros(len(nodes[name].domain.states))
    codes = np.unique(rows.codes[v][rows.codes[v] >= 0])
    if codes.size:
        logs[:] = -np.inf
    if codes.size == 1:
        logs[codes] = 0.0
    if v in rows.soft:
        logs = logs + rows.soft[v][1].sum(axis=0)
    if np.isneginf(logs).all():
        raise _contradiction(name)
    weights = np.exp(logs - logs.max())
    return Likelihood(dict(zip(nodes[name].domain.states, weights.tolist(), strict=True)))


def _contradiction(name: str) -> ImpossibleEvidence:
    return ImpossibleEvidence(
        f"{name!r} is static, one variable for all steps, but its steps contradict each other."
    )


def step_of(name: str, nodes: Mapping[str, Node]) -> int:
    """The step in the name of a variable of the unrolled network; 0 for static ones."""
    plain, back = back_of(name)
    if plain not in nodes or (name == plain) != nodes[plain].static or back > 0:
        examples = [node.name if node.static else f"{node.name}[0]" for node in nodes.values()]
        raise UnknownVariable(name, examples)
    return -back


def drawn(
    name: str, nodes: Mapping[str, Node], steps: int, *, named: bool
) -> tuple[BayesianNetwork, dict[str, list[str]]]:
    """A network to draw, with the variables of each step; `named`: the last is now, the others before it."""
    net = unrolled(name, nodes, steps)
    moving = [node.name for node in nodes.values() if not node.static]
    called = {f"{node}[{t}]": f"{node}[{t}]" for node in moving for t in range(steps)}
    if named:
        for node in moving:
            for t in range(steps):
                back = steps - 1 - t
                called[f"{node}[{t}]"] = f"{node}[-{back}]" if back else node
        net = net.rename(called)
    plates = {}
    for t in range(steps):
        back = steps - 1 - t
        label = f"step {t}" if not named else "now" if not back else f"{back} step{'s' * (back > 1)} ago"
        plates[label] = [called[f"{node}[{t}]"] for node in moving]
    return net, plates
