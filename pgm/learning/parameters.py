"""From statistics to local distributions: by maximum likelihood or with a prior, some held fixed, some tied.

A prior is statistics of pseudo-observations, added to those of the data. For a table with a
Dirichlet prior the result is then the posterior mean; with `mode` it is the most probable table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.cpds import CPD
from pgm.cpds.table_input import BadRow, find_row, row_label
from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.distributions.pseudo_counts import NAMED, Conjugate, Expert, PseudoCounts
from pgm.errors import InvalidArgument, UnknownVariable, listed, nearest, shown

ESTIMATES = ("mean", "mode")


@dataclass(frozen=True, eq=False)
class Rule:
    """How one node is learned."""

    pseudo: Any = None  # statistics that are added
    conjugate: Conjugate | None = None  # a prior that is not pseudo-observations
    fixed: np.ndarray | bool = False  # rows of the table that are kept; True: the whole distribution
    mode: bool = False

    def fitted(self, cpd: CPD, statistics: Any) -> CPD:
        """The distribution for these statistics, of the kind of `cpd`, from which fixed rows are copied."""
        if self.fixed is True:
            return cpd
        if self.conjugate is not None:
            made: CPD = self.conjugate.fitted(cpd, statistics, self.mode)
        elif self.mode and cpd.tabular:
            counts = np.asarray(statistics) + self.pseudo
            if (counts < 0.0).any():
                at = np.unravel_index(int((counts < 0.0).any(axis=-1).argmax()), counts.shape[:-1])
                where = f", row {row_label(cpd.given, [int(i) for i in at])}" if cpd.given else ""
                raise InvalidArgument(
                    f"{cpd.child.name!r}{where}: a Dirichlet prior below 1 without data has no mode; use "
                    'estimate="mean".'
                )
            made = cpd.fitted(counts)
        else:
            made = cpd.fitted(statistics, self.pseudo)
        if isinstance(self.fixed, np.ndarray):
            values = np.where(self.fixed[..., None], cpd.values, made.values)
            made = cpd.fitted(values)
        return made

    def log_prior(self, cpd: CPD) -> float:
        """Its log prior density, up to a constant."""
        if self.fixed is True:
            return 0.0
        if self.conjugate is not None:
            return self.conjugate.log_prior(cpd)
        return 0.0 if self.pseudo is None else cpd.expected_log(self.pseudo)


def tied_groups(tied: Any, cpds: Mapping[str, CPD]) -> list[tuple[str, ...]]:
    """Nodes that share one distribution, checked."""
    groups: list[tuple[str, ...]] = []
    if isinstance(tied, str | Mapping) or not isinstance(tied, Iterable):
        raise InvalidArgument(f"tied= lists groups of nodes, [['a', 'b'], ...], not {shown(tied)}.")
    seen: set[str] = set()
    for group in tied:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise InvalidArgument(f"tied= lists groups of nodes, [['a', 'b'], ...], not {shown(tied)}.")
        names = tuple(group)
        for name in names:
            if not isinstance(name, str) or name not in cpds:
                raise UnknownVariable(name, cpds, where="tied=")
            if name in seen:
                raise InvalidArgument(f"tied= names {name!r} twice.")
            seen.add(name)
        if len(names) < 2:
            raise InvalidArgument(f"tied= ties {listed(names)} to nothing: a group has two nodes or more.")
        first = cpds[names[0]]
        for name in names[1:]:
            other = cpds[name]
            mine, theirs = [[v.states for v in (*c.given, c.child)] for c in (first, other)]
            if type(first) is not type(other) or mine != theirs:
                raise InvalidArgument(
                    f"tied=: {names[0]!r} and {name!r} cannot share one distribution: they, or their "
                    "parents, have different states, or their distributions are of different kinds."
                )
        groups.append(names)
    return groups


def fixed_rows(fixed: Any, cpds: Mapping[str, CPD], known: Iterable[str]) -> dict[str, np.ndarray | bool]:
    """For each node the fixed part: all, or a mask of the rows of its table."""
    if fixed is None or fixed == ():
        return {}
    given = [fixed] if isinstance(fixed, str) else fixed
    if not isinstance(given, Mapping | list | tuple | set | frozenset):
        raise InvalidArgument(f"fixed= lists nodes, or is a dict {{node: rows}}, not {shown(fixed)}.")
    found: dict[str, np.ndarray | bool] = {}
    there = set(known)
    for name in given:
        if not isinstance(name, str) or name not in cpds:
            raise UnknownVariable(name, cpds, where="fixed=")
        if name not in there:
            raise InvalidArgument(
                f"fixed= names {name!r}, which has no distribution yet: give it one with `set`."
            )
        rows = given[name] if isinstance(given, Mapping) else True
        found[name] = True if rows is True else _mask(name, rows, cpds[name])
    return found


def _mask(name: str, rows: Any, cpd: CPD) -> np.ndarray:
    if not cpd.tabular or not cpd.given:
        raise InvalidArgument(
            f"fixed=: {name!r} has no rows of a table; write its name alone to keep all of it."
        )
    mask = np.zeros([v.card for v in cpd.given], bool)
    for key in rows if isinstance(rows, list) else [rows]:
        try:
            codes = find_row(list(cpd.given), key)
        except BadRow as bad:
            raise InvalidArgument(f"fixed=, {name!r}, row {shown(key)}: {bad}") from None
        mask[codes] = True
    return mask


def rules(
    prior: Any, estimate: str, fixed: Mapping[str, np.ndarray | bool], cpds: Mapping[str, CPD]
) -> dict[str, Rule]:
    """How each node is learned.

    Args:
        prior: one for all nodes, or {node: prior}, `...` for the rest; see `pgm.priors`.
        estimate: "mean" or "mode".
        fixed: the fixed part of each node.
        cpds: the distribution of each node, of the kind that is wanted.
    """
    if estimate not in ESTIMATES:
        raise InvalidArgument(f'estimate= is "mean" or "mode", not {shown(estimate)}.')
    by_node = prior if isinstance(prior, Mapping) else {...: prior}
    for name in by_node:
        if name is not ... and name not in cpds:
            raise UnknownVariable(name, cpds, where="prior=")
    found: dict[str, Rule] = {}
    used = False
    for name, cpd in cpds.items():
        stays = fixed.get(name, False)
        own = name in by_node
        wanted = _named(by_node.get(name, by_node.get(...)))
        if wanted is None or stays is True:
            found[name] = Rule(fixed=stays, mode=False)
            continue
        if isinstance(wanted, Conjugate):
            if wanted.takes(cpd):
                found[name] = Rule(conjugate=wanted, fixed=stays, mode=estimate == "mode")
                used = True
                continue
            if own:
                raise InvalidArgument(
                    f"prior= of {name!r}: {wanted!r} is not a prior of such a distribution."
                )
        pseudo = None if isinstance(wanted, Conjugate) else wanted.pseudo(name, cpd)
        if pseudo is None:
            if own or not cpd.continuous:
                raise InvalidArgument(
                    f"prior= of {name!r}: {wanted!r} says nothing about a {type(cpd).__name__}. Name the "
                    "nodes that it is for, prior={node: ...}, or give a network as the prior."
                )
            found[name] = Rule(fixed=stays)
            continue
        used = True
        if estimate == "mode" and not isinstance(pseudo, GaussianStatistics):
            if not cpd.tabular:
                raise InvalidArgument(f'estimate="mode" is for tables, and {name!r} has none.')
            pseudo = pseudo - 1.0
        found[name] = Rule(pseudo, fixed=stays, mode=estimate == "mode")
    if prior is not None and not used:
        raise InvalidArgument(f"prior={shown(prior)} has no effect: it is for no node that is learned.")
    if prior is None and estimate != "mean":
        raise InvalidArgument(f"estimate={shown(estimate)} has no effect without a prior.")
    return found


def _named(prior: Any) -> PseudoCounts | Conjugate | None:
    if prior is None:
        return None
    if isinstance(prior, str):
        if prior not in NAMED:
            raise InvalidArgument(
                f"prior= is {' or '.join(map(repr, NAMED))}, an object of pgm.priors, or a network, not "
                f"{shown(prior)}.{nearest(prior, NAMED)}"
            )
        made: PseudoCounts = NAMED[prior]()
        return made
    if isinstance(prior, PseudoCounts | Conjugate):
        return prior
    if hasattr(prior, "expected_counts"):
        return Expert(prior)
    raise InvalidArgument(
        f'prior= is a name such as "bdeu", an object of pgm.priors, a network, or a dict {{node: one of '
        f"these}}, not {shown(prior)}."
    )


def pooled(groups: Sequence[tuple[str, ...]], statistics: Mapping[str, Any]) -> dict[str, Any]:
    """The statistics of each node, those of tied ones added up."""
    found = dict(statistics)
    for group in groups:
        total = statistics[group[0]]
        for name in group[1:]:
            total = total + statistics[name]
        found.update(dict.fromkeys(group, total))
    return found


def maximise(
    rules: Mapping[str, Rule],
    groups: Sequence[tuple[str, ...]],
    cpds: Mapping[str, CPD],
    statistics: Mapping[str, Any],
) -> dict[str, CPD]:
    """The distributions for these statistics: the M-step; tied nodes share the sum of theirs."""
    shared = pooled(groups, statistics)
    return {
        name: rules[name].fitted(cpd, shared.get(name)) if rules[name].fixed is not True else cpd
        for name, cpd in cpds.items()
    }
