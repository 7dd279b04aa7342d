"""The expected utility of policies as a function of one parameter (Nielsen & Jensen 2003).

For a fixed policy the utility, times the probability of what is given, is a line in each probability and in
each utility. The best policy's is the largest of all lines: convex, in pieces. Each piece is found from a
solution: where two lines cross the diagram is solved again, until nothing lies above the crossing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD
from pgm.errors import InvalidArgument, InvalidEvidence
from pgm.evidence import observe
from pgm.runtime.clock import Clock

from .advice import as_cpd
from .parameters import Entry, changed, described, limits, replace_table, shares, weight
from .policy import Policy
from .solving import solved
from .tables import expected

if TYPE_CHECKING:
    from .influence_diagram import InfluenceDiagram

Changes = Mapping[str, Mapping[Any, Any]]  # {decision: {what is known: action}}
_ROUNDING = 1e-10
_FAR = 1e6  # times the largest utility: the range of utilities that is examined
_MOST_PIECES = 1000


@dataclass(frozen=True)
class Line:
    """The expected utility of a policy: (start + slope x) / (chance + chance_slope x)."""

    start: float
    slope: float
    chance: float = 1.0
    chance_slope: float = 0.0

    def above(self, x: float) -> float:
        """The expected utility times the probability of what is given, which is a line."""
        return self.start + self.slope * x

    def __call__(self, x: float) -> float:
        """The expected utility; NaN where what is given is impossible."""
        chance = self.chance + self.chance_slope * x
        return self.above(x) / chance if chance > 0.0 else math.nan


@dataclass(frozen=True, eq=False)
class Found:
    """A policy that is optimal at some value."""

    policy: Policy
    line: Line


@dataclass(frozen=True, eq=False)
class Piece:
    """A range over which one policy is optimal."""

    low: float
    high: float
    found: Found


@dataclass
class Varying:
    """One parameter of a diagram, and the optimal expected utility as a function of it."""

    diagram: InfluenceDiagram
    given: Mapping[str, Any] | None
    where: Entry
    clock: Clock
    now: float = field(init=False)
    size: float = field(init=False)  # of utilities
    exact: bool = field(init=False, default=True)
    low: float = field(init=False)  # the range of the parameter
    high: float = field(init=False)
    known: dict[object, Line] = field(init=False, default_factory=dict)  # by the actions of a policy

    def __post_init__(self) -> None:
        self.now = described(self.diagram, self.where).value
        terms = [u.values for u in self.diagram._utilities.values() if u.values is not None]
        self.size = max([float(np.abs(values).max()) for values in terms], default=1.0) or 1.0
        self.low, self.high = limits(self.diagram, self.where)
        if self.where.is_utility:
            far = _FAR * max(self.size, abs(self.now))
            self.low, self.high = max(self.low, -far), far

    def solve(self, x: float) -> Found:
        """Return the optimal policy at x."""
        self.clock.check("varying a parameter")
        policy = solved(changed(self.diagram, {self.where: x}), self.given)
        self.exact &= policy.exact
        key = tuple([(one.actions.shape, one.actions.tobytes()) for one in policy._advice.values()])
        if key not in self.known:
            rules = {name: as_cpd(one) for name, one in policy._advice.items()}
            self.known[key] = self.line(rules)
        return Found(policy, self.known[key])

    def line(self, rules: Mapping[str, CPD]) -> Line:
        """Return the expected utility of a policy as a function of the parameter."""
        if not self.where.is_utility:
            return self._of_probability(rules)
        value, chance = expected(self.diagram, rules, self.given)
        total, p = float(value) * float(chance), float(chance)
        if self.diagram.combine == "product":
            more, _ = expected(changed(self.diagram, {self.where: self.now + self.size}), rules, self.given)
            slope = (float(more) * p - total) / self.size
        else:
            _, chances = self._by(self.diagram, self.diagram.parents(self.where.node), rules)
            slope = weight(self.diagram, self.where.node) * float(chances[self.where.at])
        return Line(total - slope * self.now, slope, p)

    def _of_probability(self, rules: Mapping[str, CPD]) -> Line:
        node, (*row, place) = self.where.node, self.where.at
        table = np.asarray(self.diagram.cpd(node).table())
        even = self.diagram.copy()
        replace_table(even, node, np.full(table.shape, 1.0 / table.shape[-1]))
        totals, chances = self._by(even, [*self.diagram.parents(node), node], rules)
        found = []
        for each in (totals * table.shape[-1], chances * table.shape[-1]):
            own = each[tuple(row)]
            rest = float((table * each).sum() - table[tuple(row)] @ own)
            others = float(shares(table[tuple(row)], place) @ own)
            found += [rest + others, float(own[place]) - others]
        return Line(*found)

    def _by(
        self, diagram: InfluenceDiagram, names: Any, rules: Mapping[str, CPD]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The utility times the probability, and the probability, of each case of some variables."""
        hard = observe(diagram.variables, self.given).hard
        free = [name for name in names if name not in hard]
        value, chance = expected(diagram, rules, self.given, free)
        shape = [diagram.variables[name].card for name in names]
        at = tuple([hard.get(name, slice(None)) for name in names])
        made = []
        for each in (np.where(chance > 0.0, value * chance, 0.0), chance):
            whole = np.zeros(shape)
            whole[at] = each
            made.append(whole)
        return made[0], made[1]

    # --- where the best policy changes ---

    def edge(self, start: Found, end: float) -> tuple[float, Found | None]:
        """Return up to where a policy stays optimal on the way to a value, and the one that then takes over.

        Args:
            start: the optimal policy at the current value.
            end: the value.
        """
        x, beyond = self.possible(end, start), None
        while True:
            other = self.solve(x)
            if not self._better(other, start, x):
                return (end if beyond is None else x), beyond
            beyond = other
            cross = _crossing(start.line, other.line)
            cross = min(max(cross, min(self.now, end)), max(self.now, end))
            if cross == x or math.isnan(cross):
                return x, beyond
            x = cross

    def pieces(self, low: float, high: float) -> list[Piece]:
        """Return the optimal policies between two values, in pieces.

        Args:
            low: the smallest value.
            high: the largest.
        """
        start = self.solve(self.now)
        low_, high_ = self.possible(low, start), self.possible(high, start)
        ends = [(low_, self.solve(low_)), (high_, self.solve(high_))]
        if low_ < self.now < high_:
            ends.insert(1, (self.now, start))
        cuts: list[tuple[float, Found]] = []
        for (x, left), (y, right) in pairwise(ends):
            cuts += self._cut(x, left, y, right)
        found: list[Piece] = []
        for x, best in cuts:
            if found and not any(self._better(best, found[-1].found, at) for at in (x, high_)):
                continue
            if found:
                found[-1] = replace(found[-1], high=x)
            found.append(Piece(x, high, best))
        found[0] = replace(found[0], low=low)
        return found

    def _cut(self, x: float, left: Found, y: float, right: Found) -> list[tuple[float, Found]]:
        """The breakpoints of the optimal policy, from x on."""
        done: list[tuple[float, Found]] = [(x, left)]
        waiting = [(x, left, y, right)]
        while waiting:
            x, left, y, right = waiting.pop()
            if left.line is right.line or not self._better(right, left, y):
                continue
            if not self._better(left, right, x):  # as good from the beginning
                done.append((x, right))
                continue
            if len(done) > _MOST_PIECES:
                raise InvalidArgument(
                    f"The best policy changes more than {_MOST_PIECES:,} times: ask for a smaller range."
                )
            cross = _crossing(left.line, right.line)
            between = self.solve(cross)
            if x < cross < y and self._better(between, left, cross):
                waiting += [(cross, between, y, right), (x, left, cross, between)]
            else:
                done.append((cross, right))
        return sorted(done, key=lambda cut: cut[0])

    def _better(self, a: Found, b: Found, x: float) -> bool:
        mine, theirs = float(a.line.above(x)), float(b.line.above(x))
        chance = a.line.chance + a.line.chance_slope * x
        return mine - theirs > _ROUNDING * max(abs(mine), abs(theirs), self.size * chance)

    def possible(self, x: float, start: Found) -> float:
        """Return the value, or one close to it where what is given would be impossible.

        Args:
            x: a value.
            start: any policy.
        """
        chance = start.line.chance + start.line.chance_slope * x
        here = start.line.chance + start.line.chance_slope * self.now
        return x if chance > 1e-12 * here else x + 1e-6 * (self.now - x)


def always(diagram: InfluenceDiagram, decision: str, action: int) -> InfluenceDiagram | None:
    """Return the diagram in which a decision takes this action whatever is known; None if it may not.

    Args:
        diagram: the diagram.
        decision: the decision.
        action: the code of the action.
    """
    one = diagram._decisions[decision]
    only = np.zeros(diagram.variables[decision].card, bool)
    only[action] = True
    if one.allowed is not None and not one.allowed[..., action].all():
        return None
    made = diagram.copy()
    made._decisions[decision] = replace(one, allowed_given=(), allowed=only)
    return made


def changes(before: Policy, after: Policy) -> Changes:
    """Return where another policy differs, {decision: {what is known: action}}.

    Args:
        before: a policy.
        after: another one of the same structure.
    """
    found: dict[str, dict[Any, Any]] = {}
    for name, old in before._advice.items():
        new = after._advice[name]
        if [v.name for v in new.given] != [v.name for v in old.given]:
            continue  # limited memory may drop what does not matter
        happens = ~(np.isnan(old.values).any(axis=-1) | np.isnan(new.values).any(axis=-1))
        for at in np.argwhere((old.actions != new.actions) & happens):
            key = tuple([v.states[code] for v, code in zip(old.given, at, strict=True)])
            action = old.decision.states[int(new.actions[tuple(at)])]
            found.setdefault(name, {})[key[0] if len(key) == 1 else key] = action
    return found


def written(policy: Policy, other: Changes) -> str:
    """Return in words how another policy differs, as in "treat: False if test=True".

    Args:
        policy: the current policy.
        other: what the other one does.
    """
    parts = []
    for name, own in other.items():
        given = [v.name for v in policy._advice[name].given]
        texts = []
        for case, action in islice(own.items(), 2):
            states = case if len(given) > 1 else (case,) * len(given)
            when = ", ".join([f"{v}={state}" for v, state in zip(given, states, strict=True)])
            texts.append(f"{action} if {when}" if when else f"{action}")
        more = f" and {len(own) - 2:,} more" if len(own) > 2 else ""
        parts.append(f"{name}: {', or '.join(texts)}{more}")
    return "; ".join(parts)


def first_open(diagram: InfluenceDiagram, given: Mapping[str, Any] | None, decision: str | None) -> str:
    """Return the decision whose actions are compared.

    Args:
        diagram: the diagram.
        given: the past.
        decision: the one asked for; by default the first open one.
    """
    known = observe(diagram.variables, given).given
    if decision is not None:
        diagram._decision(decision)
        if decision in known:
            raise InvalidEvidence(f"{decision!r} is given: its actions are not compared any more.")
        return decision
    return next((name for name in diagram.decisions if name not in known), "")


def _crossing(a: Line, b: Line) -> float:
    if a.slope == b.slope:
        return math.nan
    return (a.start - b.start) / (b.slope - a.slope)
