"""A policy as a decision tree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument
from pgm.evidence import observe
from pgm.printing import Tabular, label, number
from pgm.results.base import Result, pandas, put
from pgm.results.report import EXACT, Report

from .advice import as_cpd
from .tables import expected

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .policy import Policy

_MOST = 20_000  # combinations of observations
_ROWS = 60  # that are printed


@dataclass(frozen=True)
class Branch:
    """A part of the tree, and how it is reached.

    >>> Branch("umbrella", "decision", ("take",), 0.3, 2.0, ()).label
    'umbrella: take'
    """

    name: str  # of a chance node whose states branch, or of a decision
    kind: str  # "chance" or "decision"
    states: tuple[Any, ...]  # of a decision the action; of a chance node those that lead here
    probability: float  # of coming here
    expected_utility: float  # of all that comes here
    children: tuple[Branch, ...]

    @property
    def label(self) -> str:
        """The observation or action, in words."""
        return f"{self.name}: {' or '.join(map(label, self.states))}"

    def _what(self) -> object:
        """The actions, without their values."""
        return self.name, self.states, tuple([child._what() for child in self.children])


class Strategy(Result, Tabular):
    """A policy as a tree: observations and actions. Branches with the same actions are merged.

    >>> import pgm
    >>> d = pgm.InfluenceDiagram()
    >>> d.add_chance("sky", {"clear": 0.5, "grey": 0.3, "black": 0.2})
    >>> d.add_decision("umbrella", [False, True], observes="sky")
    >>> d.add_utility("comfort", [[8, 5], [2, 5], [-10, 2]], parents=["sky", "umbrella"])
    >>> d.solve().strategy()
    what is seen, and done   P         expected utility
    sky: clear               0.500000  8
      umbrella: False        0.500000  8
    sky: grey or black       0.500000  3.8
      umbrella: True         0.500000  3.8
    """

    __slots__ = ("branches", "report")
    report: Report
    branches: tuple[Branch, ...]

    def __init__(self, branches: tuple[Branch, ...], report: Report = EXACT) -> None:
        """Store the branches at the root."""
        put(self, "branches", tuple(branches))
        put(self, "report", report)

    def to_dict(self) -> list[dict[str, Any]]:
        """The branches as plain dicts, each with its own under "then"."""
        return [_as_dict(one) for one in self.branches]

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each path through the tree."""
        rows = []
        for path in _paths(self.branches):
            said: dict[str, Any] = {one.name: " or ".join(map(label, one.states)) for one in path}
            rows.append(said | {"P": path[-1].probability, "expected utility": path[-1].expected_utility})
        frame: pd.DataFrame = pandas().DataFrame(rows)
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the tree from left to right: decisions square, observations round; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        return plot.strategy(self, ax, figsize=figsize, title=title)

    def _parts(self) -> tuple[object, ...]:
        return self.branches, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        every = list(_walk(self.branches, 0))
        rows = [
            ["  " * depth + one.label, number(one.probability), f"{one.expected_utility:.6g}"]
            for depth, one in islice(every, _ROWS)
        ]
        more = len(every) - len(rows)
        notes = [f"... {more:,} more"] if more else []
        header = ["what is seen, and done", "P", "expected utility"]
        return header, rows, "\n".join(notes if self.exact else [*notes, self.report.summary])


def _as_dict(one: Branch) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": one.name,
        "kind": one.kind,
        "states": list(one.states),
        "probability": one.probability,
        "expected_utility": one.expected_utility,
    }
    return found | ({"then": [_as_dict(child) for child in one.children]} if one.children else {})


def _walk(branches: tuple[Branch, ...], depth: int) -> Iterator[tuple[int, Branch]]:
    for one in branches:
        yield depth, one
        yield from _walk(one.children, depth + 1)


def _paths(branches: tuple[Branch, ...]) -> Iterator[list[Branch]]:
    for one in branches:
        if not one.children:
            yield [one]
        for rest in _paths(one.children):
            yield [one, *rest]


def strategy(policy: Policy) -> Strategy:
    """Return a policy as a tree; see `Policy.strategy`."""
    diagram = policy._diagram
    order: list[str] = []  # what is seen and done, one after the other
    for name, advice in policy._advice.items():
        order += [v.name for v in advice.given if v.name not in order and v.name not in diagram.decisions]
        order.append(name)
    seen = [name for name in order if name not in diagram.decisions]
    cases = math.prod([diagram.variables[name].card for name in seen])
    if cases > _MOST:
        raise InvalidArgument(
            f"The tree of {cases:,} cases would be unreadable: give what is known already to `solve`, or "
            "look at one decision."
        )
    rules = {name: as_cpd(one) for name, one in policy._advice.items()}
    worth, chance = expected(diagram, rules, policy.given, seen)
    chance = chance / chance.sum()
    totals = np.where(chance > 0.0, chance * worth, 0.0)
    hard = observe(diagram.variables, policy.given).hard

    def grown(place: int, codes: dict[str, int]) -> tuple[Branch, ...]:
        if place == len(order):
            return ()
        name = order[place]
        variable = diagram.variables[name]
        if name in policy._advice:
            advice = policy._advice[name]
            code = int(advice.actions[tuple([codes[v.name] for v in advice.given])])
            after = grown(place + 1, {**codes, name: code})
            p, total = _sums(chance, totals, seen, codes)
            return (Branch(name, "decision", (variable.states[code],), p, total / p, after),)
        found: list[Branch] = []
        for code, state in enumerate(variable.states):
            now = {**codes, name: code}
            p, total = _sums(chance, totals, seen, now)
            if p == 0.0:
                continue
            one = Branch(name, "chance", (state,), p, total / p, grown(place + 1, now))
            what = [child._what() for child in one.children]
            alike = next((i for i, f in enumerate(found) if [c._what() for c in f.children] == what), None)
            if alike is None:
                found.append(one)
            else:
                found[alike] = _merged(found[alike], one)
        if len(found) == 1:  # the same actions follow whatever is seen
            return found[0].children
        return tuple(found)

    return Strategy(grown(0, dict(hard)), policy.report)


def _sums(
    chance: np.ndarray, totals: np.ndarray, seen: list[str], codes: dict[str, int]
) -> tuple[float, float]:
    at = tuple([codes.get(name, slice(None)) for name in seen])
    return float(np.sum(chance[at])), float(np.sum(totals[at]))


def _merged(a: Branch, b: Branch) -> Branch:
    """Merge two branches with the same actions."""
    states = a.states if a.kind == "decision" else tuple(dict.fromkeys((*a.states, *b.states)))
    p = a.probability + b.probability
    worth = (a.probability * a.expected_utility + b.probability * b.expected_utility) / p
    children = tuple([_merged(x, y) for x, y in zip(a.children, b.children, strict=True)])
    return Branch(a.name, a.kind, states, p, worth, children)
