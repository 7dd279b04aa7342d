"""Contradictory findings, relevant explanations, and changes of findings that change the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, listed, shown
from pgm.evidence import names as names_of
from pgm.evidence import observe
from pgm.inference.asking.session import whole
from pgm.inference.insight.aims import Given, target_of
from pgm.inference.insight.costs import SETS
from pgm.inference.insight.subsets import Parts, one_by_one, rows_of
from pgm.printing import ROWS, Tabular, number
from pgm.results.base import Result, condition, noted, pandas, put
from pgm.results.report import EXACT, Report
from pgm.runtime.clock import start_clock
from pgm.variables import State

if TYPE_CHECKING:
    import pandas as pd

_MOST_CHANGED = 3


def contradictions(model: Any, given: Given) -> list[dict[str, object]]:
    """See `BayesianNetwork.contradictions`."""
    known = dict(observe(model.variables, given).given)
    names, n = list(known), len(known)
    parts = Parts(model, None, known, start_clock())
    found: list[frozenset[int]] = []
    if parts.answers(np.ones((1, n), dtype=bool))[1][0] > -math.inf:
        return []
    for size in range(1, n + 1):
        if math.comb(n, size) > SETS:
            so_far = [sorted(names[i] for i in core) for core in found]
            raise InvalidArgument(
                f"Of {n} findings there are {math.comb(n, size):,} sets of {size}, more than {SETS:,}: give "
                f"fewer. Smaller contradictions found so far: {listed(so_far)}."
            )
        some = [s for s in combinations(range(n), size) if not any(core <= set(s) for core in found)]
        if not some:  # then every larger set contains one of these too
            break
        sets = np.zeros((len(some), n), dtype=bool)
        for row, members in enumerate(some):
            sets[row, list(members)] = True
        logs = parts.answers(sets)[1]
        found += [frozenset(s) for s, log in zip(some, logs.tolist(), strict=True) if log == -math.inf]
    return [{names[i]: known[names[i]] for i in sorted(core)} for core in found]


@dataclass(frozen=True, slots=True)
class RelevantExplanation:
    """States of some variables, and by how much they raise the probability of the findings."""

    states: Mapping[str, State]
    factor: float  # P(given | states) over P(given | anything else)
    probability: float  # P(states | given)


class RelevantExplanations(Result, Tabular, Sequence[RelevantExplanation]):
    """Explanations of findings, by decreasing generalised Bayes factor (Yuan, Lim & Lu 2011).

    The factor of states x is P(given | x) over P(given | not x). An explanation is left out if a part of it
    has a factor at least as large.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.3); net.add("sprinkler", 0.2)
    >>> net.add("wet", {(False, False): 0.1, ...: 0.9}, parents=["rain", "sprinkler"])
    >>> net.relevant_explanation({"wet": True}, over=["rain", "sprinkler"])[0].states
    {'rain': True}
    """

    __slots__ = ("_found", "report")
    report: Report
    _found: tuple[RelevantExplanation, ...]

    def __init__(self, found: Sequence[RelevantExplanation], report: Report = EXACT) -> None:
        """Store explanations, the best first."""
        put(self, "_found", tuple(found))
        put(self, "report", report)

    def _parts(self) -> tuple[object, ...]:
        return self._found, self.report

    def __getitem__(self, index: Any) -> Any:
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def to_dict(self) -> dict[str, float]:
        """{states as text: factor}."""
        return {condition(one.states): one.factor for one in self}

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for each explanation: states, factor, probability."""
        frame: pd.DataFrame = pandas().DataFrame(
            {
                "states": [condition(one.states) for one in self],
                "factor": [one.factor for one in self],
                "probability": [one.probability for one in self],
            }
        )
        return frame

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [condition(one.states), number(one.factor), number(one.probability)] for one in islice(self, ROWS)
        ]
        note = noted(len(self), len(rows), "explanations", self.report)
        return ["states", "factor", "probability"], rows, note


def relevant_explanation(model: Any, given: Given, over: object, most: object) -> RelevantExplanations:
    """See `BayesianNetwork.relevant_explanation`."""
    known = dict(observe(model.variables, given).given)
    if not known:
        raise InvalidArgument("Nothing is given, so there is nothing to explain.")
    names = names_of(over, model.variables, least=1)
    for name in names:
        if name in known:
            raise InvalidArgument(f"over= names {name!r}, which is given: it cannot be an explanation.")
    largest = min(whole(most, "most=", 1), len(names))
    clock, report = start_clock(), model.query(names[0], known).report
    every: dict[frozenset[tuple[str, State]], RelevantExplanation] = {}

    def look(some: Sequence[str]) -> None:
        clock.check()
        prior, posterior = model.query(list(some)), model.query(list(some), known)
        states = product(*[model.variables[name].states for name in some])
        for one, p, q in zip(states, prior.values.ravel(), posterior.values.ravel(), strict=True):
            if p > 0.0 and q > 0.0:
                pairs = dict(zip(some, one, strict=True))
                factor = _factor(float(p), float(q))
                every[frozenset(pairs.items())] = RelevantExplanation(pairs, factor, float(q))

    count = sum(math.comb(len(names), size) for size in range(1, largest + 1))
    if largest <= _MOST_CHANGED and count <= SETS:
        for size in range(1, largest + 1):
            for some in combinations(names, size):
                look(some)
    else:
        _grow(names, largest, look, every)
        advice = f"{count:,} sets are too many to try: one was grown by the variable that helps most"
        report = Report("greedy", exact=False, advice=advice, given=report.given)
    kept = [one for key, one in every.items() if not _dominated(key, one, every)]
    kept.sort(key=lambda one: (-one.factor, len(one.states)))
    return RelevantExplanations(kept, report)


def _grow(names: Sequence[str], largest: int, look: Any, every: Mapping[Any, RelevantExplanation]) -> None:
    chosen: tuple[str, ...] = ()
    for _ in range(largest):
        for name in names:
            if name not in chosen:
                look((*chosen, name))
        sets = [one for one in every.values() if set(chosen) < set(one.states)]
        sets = [one for one in sets if len(one.states) == len(chosen) + 1]
        if not sets:
            return
        chosen = tuple(max(sets, key=lambda one: one.factor).states)


def _factor(p: float, q: float) -> float:
    """The generalised Bayes factor from the prior and the posterior of an explanation."""
    above, below = q * (1.0 - p), p * (1.0 - q)
    return above / below if below > 0.0 else math.inf if above > 0.0 else 1.0


def _dominated(
    key: frozenset[tuple[str, State]],
    one: RelevantExplanation,
    every: Mapping[frozenset[tuple[str, State]], RelevantExplanation],
) -> bool:
    """Whether a part of this explanation is at least as good."""
    parts = (frozenset(s) for size in range(1, len(key)) for s in combinations(key, size))
    return any(part in every and every[part].factor >= one.factor * (1.0 - 1e-12) for part in parts)


@dataclass(frozen=True, slots=True)
class Turn:
    """A change of some findings that makes another state of the target the most probable."""

    changes: Mapping[str, State]
    answer: State  # the state of the target that is then most probable
    probability: float  # its probability then


def turning(model: Any, target: object, given: Given, to: State | None, most: object) -> list[Turn]:
    """See `BayesianNetwork.turning`."""
    variable, known = target_of(model, target, given)
    observed = observe(model.variables, known)
    kept = {
        name: value
        for name, value in known.items()
        if name not in observed.hard or model.variables[name].continuous
    }
    names = [name for name in known if name not in kept]
    if not names:
        raise InvalidArgument(f"{listed(kept)}: only discrete findings can be changed, and there are none.")
    largest = min(whole(most, "most=", 1), len(names))
    clock = start_clock()
    compiled = model._compile_in(clock)
    current = int(model.query(variable.name, known).values.argmax())
    wanted = None if to is None else variable.code(to)
    if wanted == current:
        raise InvalidArgument(
            f"{shown(to)} is already the most probable state of {variable.name!r}: name another one as to=."
        )
    own = np.array([observed.hard[name] for name in names], dtype=np.int32)
    cards = [model.variables[name].card for name in names]
    for size in range(1, largest + 1):
        rows, changes = [], []
        for some in combinations(range(len(names)), size):
            others = [[c for c in range(cards[i]) if c != own[i]] for i in some]
            for codes in product(*others):
                row = own.copy()
                row[list(some)] = codes
                rows.append(row)
                changes.append(some)
            if len(rows) > SETS:
                raise InvalidArgument(
                    f"There are more than {SETS:,} ways to change {size} findings of {len(names)}: give "
                    "fewer findings, or lower most=."
                )
        table = np.array(rows, dtype=np.int32).reshape(len(rows), len(names))
        if kept or compiled.gaussians is not None:
            states = [model.variables[name].states for name in names]
            parts = (
                {**kept, **{n: of[c] for n, of, c in zip(names, states, row, strict=True)}}
                for row in table.tolist()
            )
            shares, logs = one_by_one(model, variable, parts, len(table), clock)
        else:
            shares, logs = rows_of(compiled, names, table, (variable.name,), clock)
        found = []
        for row, some, share, log in zip(rows, changes, shares, logs.tolist(), strict=True):
            if log == -math.inf:
                continue
            best = int(share.argmax())
            if best != current if wanted is None else best == wanted:
                turned = {names[i]: model.variables[names[i]].states[int(row[i])] for i in some}
                found.append(Turn(turned, variable.states[best], float(share[best])))
        if found:
            return sorted(found, key=lambda turn: -turn.probability)
    return []
