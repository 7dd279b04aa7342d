"""From an influence diagram to the tables of a decision problem, and from its solution to a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.config import current
from pgm.errors import ImpossibleEvidence, InvalidArgument, InvalidEvidence, listed, shown
from pgm.evidence import Observed, observe
from pgm.graphs.requisite import requisite
from pgm.inference.engines.decisions import Choice, Schedule, best_actions, over_last, schedule, solve
from pgm.printing import html_facts, joined, text_facts
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.room import size_of

from .advice import Advice, as_cpd
from .attitude import ExponentialUtility
from .policy import Policy
from .tables import Tables, check_room, expected, information

if TYPE_CHECKING:
    from .influence_diagram import InfluenceDiagram


@dataclass(frozen=True)
class DiagramLayout:
    """The structure, independent of values: the tables, and the elimination order."""

    decisions: tuple[str, ...]  # open
    requisite: dict[str, tuple[str, ...]]
    plan: Schedule


def solved(
    diagram: InfluenceDiagram, given: Mapping[str, Any] | None, attitude: ExponentialUtility | None = None
) -> Policy:
    """Return the optimal policy of a diagram, given the past and an attitude to risk."""
    diagram._check_complete()
    observed = observe(diagram.variables, given)
    refuse(diagram, observed)
    clock = start_clock()
    if attitude is not None:
        _check_attitude(diagram, attitude)
        return with_full_memory(diagram, observed, clock, attitude)
    from .solvers import SOLVERS

    return SOLVERS[diagram.memory](diagram, observed, clock)


def with_full_memory(
    diagram: InfluenceDiagram,
    observed: Observed,
    clock: Clock,
    attitude: ExponentialUtility | None = None,
) -> Policy:
    """Return the optimal policy of a diagram under no-forgetting.

    Args:
        diagram: the diagram.
        observed: the past.
        clock: the clock of the question.
        attitude: to risk.

    Raises:
        ImpossibleEvidence: the past has probability zero.
        TooLarge: the tables do not fit the memory limit.
    """
    tables = Tables.of(diagram, observed, attitude=attitude)
    product = diagram.combine == "product" or attitude is not None
    layout = laid_out(diagram, observed, tables, product)
    check_room(
        layout.plan,
        ""
        if diagram.combine == "product" or attitude is not None
        else 'Or let decisions forget: with memory="limited" each knows only what it observes, and the '
        "optimum is at most as high.",
    )
    least = attitude is not None
    found = solve(layout.plan, tables.cards, tables.all, clock, multiply=product, least=least)
    if found.probability == 0.0:
        raise ImpossibleEvidence("What is given has probability zero.", dict(observed.given))
    names = list(diagram.variables)
    choices = found.choices
    if attitude is not None:  # certainty equivalents: they compare as utilities do
        choices = {v: replace(one, values=attitude.certain(one.values, 0.0)) for v, one in choices.items()}
    advice = {
        name: _advice(diagram, names, layout.requisite[name], choices[names.index(name)])
        for name in layout.decisions
    }
    if attitude is None:
        return Policy(diagram.copy(), observed.given, advice, float(found.value))
    rules = {name: as_cpd(one) for name, one in advice.items()}
    mean = float(expected(diagram, rules, observed.given)[0])
    return Policy(diagram.copy(), observed.given, advice, mean, attitude=attitude)


def _check_attitude(diagram: InfluenceDiagram, attitude: object) -> None:
    if not isinstance(attitude, ExponentialUtility):
        raise InvalidArgument(f"risk= takes pgm.ExponentialUtility(tolerance=...), not {shown(attitude)}.")
    if diagram.combine == "product":
        raise InvalidArgument('risk= needs utilities that add up, but this diagram has combine="product".')
    if diagram.memory == "limited":
        raise InvalidArgument('risk= cannot be combined with memory="limited" yet: solve without either.')


def refuse(diagram: InfluenceDiagram, observed: Observed) -> None:
    """Refuse evidence that is not about the past."""
    if observed.soft:
        raise InvalidEvidence(
            f"pgm.Soft, given for {listed(list(observed.soft))}, fixes a marginal after the fact; an "
            "influence diagram takes pgm.Likelihood for uncertain evidence."
        )
    waiting = [name for name in diagram.decisions if name not in observed.given]
    for name in observed.weights:
        if name in diagram.decisions:
            raise InvalidEvidence(
                f"{name!r} is a decision: give the action that was taken, or nothing, but no likelihood."
            )
    taken = [name for name in diagram.decisions if name in observed.hard]
    if waiting and taken and diagram.decisions.index(taken[-1]) > diagram.decisions.index(waiting[0]):
        raise InvalidEvidence(f"{taken[-1]!r} is taken after {waiting[0]!r}: give that decision too.")
    network = diagram._network
    for name in waiting if observed.given else ():
        below = set(network.descendants(name))
        for known in observed.given:
            if known in below:
                raise InvalidEvidence(
                    f"{known!r} is known only after {name!r} is decided, which influences it: give the "
                    "decision too, or leave the finding out."
                )


@dataclass(frozen=True)
class DecisionPlan:
    """The plan for solving an influence diagram; it prints, and allocates nothing.

    >>> print(DecisionPlan({"umbrella": ("rain",)}, ("umbrella", "rain"), 4.0, 104.0, 2_000_000_000, 20.0))
    decisions     umbrella: depends on rain
    order         umbrella, rain
    largest table  4 entries
    memory        104 bytes of 2.0 GB allowed
    """

    requisite: dict[str, tuple[str, ...]]  # of each open decision what matters to it
    order: tuple[str, ...]  # in which variables are summed out or maximised
    largest_entries: float
    bytes: float
    memory_limit: int
    operations: float

    @property
    def fits(self) -> bool:
        """Whether the tables fit the memory limit."""
        return self.bytes <= self.memory_limit

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain Python objects, with `fits`."""
        return {
            "requisite": {name: list(needed) for name, needed in self.requisite.items()},
            "order": list(self.order),
            "largest_entries": self.largest_entries,
            "bytes": self.bytes,
            "memory_limit": self.memory_limit,
            "operations": self.operations,
            "fits": self.fits,
        }

    def _lines(self) -> list[tuple[str, str]]:
        each = [f"{name}: depends on {joined(n, len(n)) or 'nothing'}" for name, n in self.requisite.items()]
        return [
            ("decisions", joined(each, len(each), 90) or "none is open"),
            ("order", joined(self.order, len(self.order), 90)),
            ("largest table", f"{self.largest_entries:,.0f} entries"),
            ("memory", f"{size_of(self.bytes)} of {size_of(self.memory_limit)} allowed"),
        ]

    def __str__(self) -> str:
        return text_facts(self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_facts(self._lines())


def planned(diagram: InfluenceDiagram, given: Mapping[str, Any] | None) -> DecisionPlan:
    """Return the plan of a solution."""
    diagram._check_complete()
    observed = observe(diagram.variables, given)
    refuse(diagram, observed)
    product = diagram.combine == "product"
    layout = laid_out(diagram, observed, Tables.of(diagram, observed), product)
    names = list(diagram.variables)
    order = [names[s.variable] if s.variable < len(names) else "(hidden)" for s in layout.plan.steps]
    return DecisionPlan(
        layout.requisite,
        tuple(order),
        layout.plan.entries,
        layout.plan.bytes,
        current().memory_limit,
        layout.plan.operations,
    )


def laid_out(diagram: InfluenceDiagram, observed: Observed, tables: Tables, product: bool) -> DiagramLayout:
    """Return requisite observations and elimination order; cached until the diagram changes."""
    key = (frozenset(observed.hard), tuple(observed.weights), product)
    found: DiagramLayout | None = diagram._prepared.get(key)
    if found is None:
        found = _laid_out(diagram, observed, tables, product)
        if len(diagram._prepared) > 64:
            diagram._prepared.clear()
        diagram._prepared[key] = found
    return found


def _laid_out(diagram: InfluenceDiagram, observed: Observed, tables: Tables, product: bool) -> DiagramLayout:
    names, hard = list(diagram.variables), observed.hard
    place = {name: i for i, name in enumerate(names)}
    waiting = tuple([name for name in diagram.decisions if name not in hard])
    flow = information(diagram, observed, waiting, tables.utility_scopes)
    needed = requisite(*flow, product=product)
    first: dict[int, int] = {}  # of each variable that matters the first decision to which it does
    for d in waiting:
        for v in needed[place[d]]:
            first.setdefault(v, place[d])
    hidden = [
        v
        for v in range(len(tables.cards))
        if v not in first and not (v < len(names) and (names[v] in hard or names[v] in waiting))
    ]
    rounds: list[tuple[bool, tuple[int, ...]]] = [(False, tuple(hidden))]
    for d in reversed(waiting):
        rounds.append((True, (place[d],)))
        chances = [v for v, where in first.items() if where == place[d] and names[v] not in waiting]
        rounds.append((False, tuple(chances)))
    matters = {d: tuple([names[v] for v in needed[place[d]]]) for d in waiting}
    return DiagramLayout(waiting, matters, schedule(tables.problem(rounds)))


def _advice(diagram: InfluenceDiagram, names: list[str], needed: Sequence[str], choice: Choice) -> Advice:
    """How the actions compare, with the axes in the order in which things become known."""
    *scope, decision = choice.scope
    values = choice.values
    own = [names[v] for v in scope]
    # What the tables still depend on but the comparison does not: any of its states that can occur will do;
    # where utilities are multiplied, one where they are not all zero.
    spare = [axis for axis, name in enumerate(own) if name not in needed]
    kept = [name for name in needed if name in own]
    values = values.transpose([*spare, *[own.index(name) for name in kept], len(own)])
    if spare:
        values = values.reshape((-1, *values.shape[len(spare) :]))
        most = over_last(np.maximum, np.where(np.isnan(values), -np.inf, values))
        values = np.take_along_axis(values, most.argmax(axis=0)[np.newaxis, ..., np.newaxis], axis=0)[0]
    return Advice(
        diagram.variables[names[decision]],
        tuple([diagram.variables[name] for name in kept]),
        np.array(values),
        best_actions(values, product=diagram.combine == "product"),
    )
