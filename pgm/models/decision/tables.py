"""The tables of an influence diagram, and expected utilities under given rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.config import current
from pgm.cpds import CPD, TableCPD
from pgm.cpds.table_input import check_cells
from pgm.errors import InvalidEvidence, InvalidTable, TooLarge
from pgm.evidence import Observed, observe
from pgm.factors import Gate
from pgm.inference.engines.decisions import DiagramProblem, Schedule, schedule, solve
from pgm.runtime.clock import start_clock
from pgm.runtime.room import size_of

from . import utilities as worth
from .utilities import Term

if TYPE_CHECKING:
    from .attitude import ExponentialUtility
    from .influence_diagram import InfluenceDiagram

_SMALL = 4096  # a distribution of this many entries is written out as one table


@dataclass(frozen=True)
class Tables:
    """All tables of a diagram given some evidence; variables have its order, then come hidden ones."""

    cards: list[int]
    scopes: list[tuple[int, ...]]
    heads: list[int]
    probabilities: list[np.ndarray]
    utility_scopes: list[tuple[int, ...]]
    utilities: list[np.ndarray]

    shifts: list[float]  # what an attitude to risk took off each utility

    @classmethod
    def of(
        cls,
        diagram: InfluenceDiagram,
        observed: Observed,
        rules: Mapping[str, CPD] | None = None,
        attitude: ExponentialUtility | None = None,
    ) -> Tables:
        """Gather and slice the tables.

        Args:
            diagram: the diagram.
            observed: the past.
            rules: distributions of the decisions; without them these are open, and restricted as allowed.
            attitude: to risk; utilities then become factors of a product to be minimised.
        """
        place = {name: i for i, name in enumerate(diagram.variables)}
        made = cls([v.card for v in diagram.variables.values()], [], [], [], [], [], [])
        hard = {place[name]: code for name, code in observed.hard.items()}
        own = [diagram._network.cpd(name) for name in diagram.chances]
        for cpd in (*own, *(rules or {}).values()):
            name = cpd.child.name
            made._add_cpd(cpd, [*[place[p] for p in cpd.parents], place[name]], hard)
        for name, several in observed.weights.items():
            for weights in several:
                made._add((place[name],), np.asarray(weights), -1, hard)
        for scope, values in used_terms(diagram):
            if attitude is not None:
                values, least = attitude.disutility(values)
                made.shifts.append(least)
            made._add_utility([place[name] for name in scope], values, hard)
        for name, decision in diagram._decisions.items():
            if decision.allowed is not None and rules is None:
                at = [*[place[p] for p in decision.allowed_given], place[name]]
                made._add_allowed(name, at, decision.allowed, hard)
        return made

    @property
    def all(self) -> list[np.ndarray]:
        """The tables, probabilities first."""
        return [*self.probabilities, *self.utilities]

    def problem(self, rounds: Sequence[tuple[bool, tuple[int, ...]]]) -> DiagramProblem:
        """Return the structure, with what is eliminated when.

        Args:
            rounds: (whether a decision, variables), the first to go first.
        """
        return DiagramProblem(
            tuple(self.cards),
            tuple(self.scopes),
            tuple(self.heads),
            tuple(self.utility_scopes),
            tuple(rounds),
        )

    def _add_cpd(self, cpd: CPD, scope: list[int], hard: Mapping[int, int]) -> None:
        if type(cpd) is not TableCPD:
            factor = cpd.factor(scope)
            if isinstance(factor, Gate) and math.prod([float(self.cards[v]) for v in scope]) > _SMALL:
                first = len(self.cards)
                self.cards.extend(factor.hidden)
                for dense in factor.as_tables(first):
                    own = tuple(dense.scopes[0].tolist())
                    self._add(
                        own,
                        dense.values.reshape([self.cards[v] for v in own]),
                        -1 if dense.joined else own[-1],
                        hard,
                    )
                return
        self._add(tuple(scope), np.asarray(cpd.table()), scope[-1], hard)

    def _add(self, scope: tuple[int, ...], values: np.ndarray, head: int, hard: Mapping[int, int]) -> None:
        self.scopes.append(tuple([v for v in scope if v not in hard]))
        self.heads.append(-1 if head in hard else head)
        self.probabilities.append(_sliced(scope, values, hard))

    def _add_utility(self, scope: Sequence[int], values: np.ndarray, hard: Mapping[int, int]) -> None:
        self.utility_scopes.append(tuple([v for v in scope if v not in hard]))
        self.utilities.append(_sliced(scope, values, hard))

    def _add_allowed(
        self, name: str, scope: Sequence[int], values: np.ndarray, hard: Mapping[int, int]
    ) -> None:
        if scope[-1] in hard:
            left = _sliced(scope, values, hard)
            if not left.any():
                raise InvalidEvidence(
                    f"{name!r}: the action that is given is not allowed after what is given."
                )
            return
        self._add_utility(scope, values, hard)


def used_terms(diagram: InfluenceDiagram) -> list[Term]:
    """Return the tables whose sum, or product, is the utility: those of utilities that no other uses."""
    cards = {name: v.card for name, v in diagram.variables.items()}
    found: list[Term] = []
    for name in sinks(diagram):
        part = worth.terms(name, diagram._utilities, cards)
        if diagram.combine == "product" and len(part) > 1:
            scope = tuple(dict.fromkeys(v for names, _ in part for v in names))
            what = f"The table of the utility {name!r}"
            check_cells([cards[v] for v in scope], what, "use a sum of fewer utilities")
            part = [(scope, worth.sum_of(part, scope, [cards[v] for v in scope]))]
        if diagram.combine == "product" and (least := min(float(values.min()) for _, values in part)) < 0.0:
            raise InvalidTable(
                f'The utility {name!r} comes to {least:g} in some case, and combine="product" takes '
                "utilities from 0 on."
            )
        found += part
    return found


def sinks(diagram: InfluenceDiagram) -> list[str]:
    """Return the utilities that count by themselves: no other depends on them."""
    used = {parent for utility in diagram._utilities.values() for parent in utility.parents}
    return [name for name in diagram.utilities if name not in used]


def expected(
    diagram: InfluenceDiagram,
    rules: Mapping[str, CPD],
    given: Mapping[str, Any] | None,
    keep: Sequence[str] = (),
    attitude: ExponentialUtility | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected utility given each configuration of some variables, and the probability of each.

    With an attitude to risk it is the certainty equivalent.

    Args:
        diagram: the diagram.
        rules: a distribution for each decision that is not given.
        given: the past.
        keep: the variables, in the order of the answers' axes.
        attitude: to risk.
    """
    observed = observe(diagram.variables, given)
    tables = Tables.of(diagram, observed, rules, attitude)
    place = {name: i for i, name in enumerate(diagram.variables)}
    kept = tuple([place[name] for name in keep])
    out = {*kept, *[place[name] for name in observed.hard]}
    problem = tables.problem([(False, tuple([v for v in range(len(tables.cards)) if v not in out]))])
    plan = schedule(problem)
    check_room(plan)
    multiply = diagram.combine == "product" or attitude is not None
    found = solve(plan, tables.cards, tables.all, start_clock(), multiply=multiply, keep=kept)
    if attitude is None:
        return found.value, found.probability
    return attitude.certain(found.value, math.fsum(tables.shifts)), found.probability


def check_room(plan: Schedule, advice: str = "") -> None:
    """Raise `TooLarge` where the tables do not fit the memory limit."""
    limit = current().memory_limit
    if plan.bytes > limit:
        raise TooLarge(
            f"The largest table would have {plan.entries:.3g} entries, and all together would take "
            f"{size_of(plan.bytes)} of {size_of(limit)} allowed. Allow more with "
            "pgm.set_config(memory_limit=...), let decisions observe less, or give what is already known."
            + (f" {advice}" if advice else ""),
            plan,
        )


def _sliced(scope: Sequence[int], values: np.ndarray, hard: Mapping[int, int]) -> np.ndarray:
    return values[tuple([hard[v] if v in hard else slice(None) for v in scope])] if hard else values


def information(
    diagram: InfluenceDiagram,
    observed: Observed,
    waiting: Sequence[str],
    utility_scopes: Sequence[Sequence[int]],
) -> tuple[dict[int, list[int]], list[int], dict[int, list[int]], Sequence[Sequence[int]], set[int]]:
    """Return the arrows, open decisions, what is known at each, utilities and evidence, as indices.

    Args:
        diagram: the diagram.
        observed: the past.
        waiting: the open decisions, in order.
        utility_scopes: of the tables of utilities.
    """
    names, hard = list(diagram.variables), observed.hard
    place = {name: i for i, name in enumerate(names)}
    parents = {
        place[name]: [] if name in diagram.decisions else [place[p] for p in diagram._network.parents(name)]
        for name in names
    }
    given = {place[name] for name in hard}
    for extra, name in enumerate(observed.weights, len(names)):  # virtual evidence: an observed child
        parents[extra] = [place[name]]
        given.add(extra)
    known = {place[d]: [place[name] for name in diagram.known(d) if name not in hard] for d in waiting}
    return parents, [place[d] for d in waiting], known, utility_scopes, given
