"""One-way and two-way sensitivity analysis of influence diagrams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds.table_input import is_number
from pgm.errors import IncompleteModel, InvalidArgument, InvalidStructure, shown
from pgm.evidence import observe
from pgm.results.report import EXACT, Report
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.progress import each

from .parameters import Entry, changed, described, entries, entry, limits
from .policy import Policy
from .sensitivity import Effect, Segment, Sensitivities, Sensitivity
from .sensitivity_map import SensitivityMap
from .solving import refuse, solved
from .varying import Found, Varying, always, changes, first_open, written

if TYPE_CHECKING:
    from .influence_diagram import InfluenceDiagram

_POINTS = 21  # on each side of a two-way map


def sensitivity(
    diagram: InfluenceDiagram,
    first: Any,
    second: Any,
    decision: str | None,
    given: Mapping[str, Any] | None,
    spread: float,
    low: float | None,
    high: float | None,
) -> Sensitivities | Sensitivity | SensitivityMap:
    """See `InfluenceDiagram.sensitivity`."""
    diagram._check_complete()
    observed = observe(diagram.variables, given)
    refuse(diagram, observed)
    if not is_number(spread) or not 0 < spread <= 1:
        raise InvalidArgument(f"spread= is a number above 0, up to 1, not {shown(spread)}.")
    clock = start_clock()
    copy = diagram.copy()
    if first is None or isinstance(first, str):
        if second is not None:
            raise InvalidArgument("Two parameters at a time are each named by (node, {name: state}).")
        if decision is not None or low is not None or high is not None:
            raise InvalidArgument(
                "decision=, low= and high= are about one parameter, named by (node, {name: state}); spread= "
                "says by how much each of several moves."
            )
        return _several(copy, given, entries(copy, first), float(spread), clock)
    where = entry(copy, first)
    if second is None:
        return _one(copy, given, where, first_open(copy, given, decision), low, high, clock)
    if decision is not None or low is not None or high is not None:
        raise InvalidArgument("decision=, low= and high= are about one parameter, and here are two.")
    return _two(copy, given, where, entry(copy, second), clock)


def _several(
    diagram: InfluenceDiagram,
    given: Mapping[str, Any] | None,
    places: list[Entry],
    spread: float,
    clock: Clock,
) -> Sensitivities:
    if not places:
        raise IncompleteModel("There is no parameter to vary: no table of probabilities, and no utility.")
    now = solved(diagram, given)
    range_, exact = _range(diagram), now.exact
    found = {}
    for where in each(places, "varying parameters"):
        one = Varying(diagram, given, where, clock)
        start = one.solve(one.now)
        own = [one.now - spread * (range_ if where.is_utility else 1.0)]
        own.append(2 * one.now - own[0])
        low, high = [one.possible(min(max(x, one.low), one.high), start) for x in own]
        worth = [float(solved(changed(diagram, {where: x}), given).expected_utility) for x in (low, high)]
        edges = [one.edge(start, end) for end in (one.low, one.high)]
        parameter = described(diagram, where)
        found[str(parameter)] = Effect(
            parameter, low, high, worth[0], worth[1], _stays(one, edges),
            *[{} if beyond is None else changes(start.policy, beyond.policy) for _, beyond in edges],
        )  # fmt: skip
        exact &= one.exact
    return Sensitivities(found, float(now.expected_utility), _report(now, exact))


def _one(
    diagram: InfluenceDiagram,
    given: Mapping[str, Any] | None,
    where: Entry,
    decision: str,
    low: float | None,
    high: float | None,
    clock: Clock,
) -> Sensitivity:
    one = Varying(diagram, given, where, clock)
    start = one.solve(one.now)
    edges = [one.edge(start, end) for end in (one.low, one.high)]
    ends = _ends(diagram, one, low, high)
    segments = _segments(one, start, *ends)
    actions = {}
    if decision:
        for code, action in enumerate(diagram.variables[decision].states):
            only = always(diagram, decision, code)
            if only is not None:
                each_ = Varying(only, given, where, clock)
                actions[action] = _segments(each_, each_.solve(each_.now), *ends)
                one.exact &= each_.exact
    parameter, report = described(diagram, where), _report(start.policy, one.exact)
    return Sensitivity(parameter, segments, _stays(one, edges), decision, actions, report)


def _segments(one: Varying, start: Found, low: float, high: float) -> tuple[Segment, ...]:
    made = []
    for piece in one.pieces(low, high):
        other = changes(start.policy, piece.found.policy)
        said = written(start.policy, other)
        made.append(Segment(piece.low, piece.high, piece.found.line, other, said))
    return tuple(made)


def _stays(one: Varying, edges: list[tuple[float, Found | None]]) -> tuple[float, float]:
    """Where the policy stays optimal; the whole range examined counts as everywhere."""
    (low, below), (high, above) = edges
    least, most = limits(one.diagram, one.where)
    return (least if below is None else low), (most if above is None else high)


def _ends(
    diagram: InfluenceDiagram, one: Varying, low: float | None, high: float | None
) -> tuple[float, float]:
    """The range over which the parameter is varied."""
    least, most = limits(diagram, one.where)
    room = max(_range(diagram), abs(one.now)) if one.where.is_utility else 1.0
    found = []
    for name, given, default in (("low", low, one.now - room), ("high", high, one.now + room)):
        if given is None:
            found.append(min(max(default, least), most))
            continue
        if not is_number(given) or not least <= given <= most:
            raise InvalidArgument(f"{name}= is a number from {least:g} to {most:g}, not {shown(given)}.")
        found.append(float(given))
    if not found[0] <= one.now <= found[1] or found[0] == found[1]:
        raise InvalidArgument(
            f"low= and high= have the present value between them, {one.now:g}; these are {found[0]:g} and "
            f"{found[1]:g}."
        )
    return found[0], found[1]


def _range(diagram: InfluenceDiagram) -> float:
    """By how much the utilities of one table differ at the most."""
    tables = [u.values for u in diagram._utilities.values() if u.values is not None]
    return max([float(values.max() - values.min()) for values in tables], default=0.0) or 1.0


def _two(
    diagram: InfluenceDiagram, given: Mapping[str, Any] | None, a: Entry, b: Entry, clock: Clock
) -> SensitivityMap:
    if a == b or (a.node == b.node and not a.is_utility and a.at[:-1] == b.at[:-1]):
        raise InvalidStructure(
            f"{described(diagram, a)} and {described(diagram, b)} are of one row, whose rest stays in "
            "proportion to both: vary them one at a time."
        )
    axes = []
    now = solved(diagram, given)
    for where in (a, b):
        one = Varying(diagram, given, where, clock)
        low, high = _ends(diagram, one, None, None)
        start = one.solve(one.now)
        axes.append(np.linspace(one.possible(low, start), one.possible(high, start), _POINTS))
    worth, best = np.empty((_POINTS, _POINTS)), np.empty((_POINTS, _POINTS), dtype=np.int64)
    policies: dict[str, int] = {}
    exact = now.exact
    for i in each(range(_POINTS), "varying two parameters"):
        for j in range(_POINTS):
            clock.check("varying two parameters")
            there = solved(changed(diagram, {a: float(axes[0][i]), b: float(axes[1][j])}), given)
            worth[i, j] = there.expected_utility
            best[i, j] = policies.setdefault(_name(now, there), len(policies))
            exact &= there.exact
    first, second = described(diagram, a), described(diagram, b)
    return SensitivityMap(first, second, axes[0], axes[1], worth, best, tuple(policies), _report(now, exact))


def _name(now: Policy, there: Policy) -> str:
    """A policy in words: its actions, or its differences from the current one."""
    advice = there._advice
    if all(not one.given for one in advice.values()):
        actions = [f"{name}: {one.decision.states[int(one.actions)]}" for name, one in advice.items()]
        return ", ".join(actions)
    return written(now, changes(now, there)) or "as now"


def _report(policy: Policy, exact: bool) -> Report:
    report = EXACT if exact else Report("single policy updating", exact=False)
    return report.changed(given=policy.report.given) if policy.report.given else report
