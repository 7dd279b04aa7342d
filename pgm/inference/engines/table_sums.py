"""A model and its evidence, by position, and what the exact engines for tables share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np

from pgm.errors import TooLarge
from pgm.inference.engines.exact import tree_runs
from pgm.inference.engines.naming import NamedSums
from pgm.inference.engines.plan import Plan, make_plan
from pgm.inference.engines.wide_numbers import Wide
from pgm.inference.program import Program
from pgm.inference.program.proportional_fitting import Weights, fit_by_passes, fit_jointly, in_doubles
from pgm.inference.program.reduction import Case, Known, WideArray, narrow, open_targets, reduce_case
from pgm.inference.trees import Shape, Tree, TreeCache, planned
from pgm.inference.trees.needs import Needs
from pgm.results import Report, exact_report
from pgm.runtime.clock import Clock

_Answer = TypeVar("_Answer")
TOTAL = Needs("the probability of the evidence")
_ONE_OF_SEVERAL = "one of several equally probable answers, not necessarily the first in declared order"


@dataclass(frozen=True, eq=False, slots=True)
class Context:
    """A compiled model and its evidence: the starting point of every engine's answers."""

    program: Program
    trees: TreeCache
    known: Known
    clock: Clock
    names: Sequence[str]
    engine: str = "exact"  # its name in reports and plans
    given: Mapping[str, object] | None = None  # the evidence, as the user wrote it

    @property
    def report(self) -> Report:
        """How the answers asked for so far were made."""
        return exact_report(self.engine, self.clock.profile, self.given)

    def report_of(self, engine: str, ties_broken: bool) -> Report:
        """The report of the best states; `ties_broken`: they are the first among equals."""
        if ties_broken:
            return exact_report(engine, self.clock.profile, self.given)
        profile = self.clock.profile
        return Report(engine, exact=True, advice=_ONE_OF_SEVERAL, profile=profile, given=self.given)

    # --- reducing, planning ---

    def check_of(self, case: Case, needs: Needs) -> Callable[[Shape], None]:
        """A function that raises `TooLarge`, with the plan, for a tree that does not fit."""

        def check(shape: Shape) -> None:
            if not needs.fits(shape):
                make_plan(case, shape, needs, self.names).check()

        return check

    def everything(self) -> np.ndarray:
        """The positions of all the user's variables."""
        return np.arange(self.program.n_named)


@dataclass(frozen=True, eq=False, slots=True)
class TableSums(Context, NamedSums):
    """What exact engines for tables share; each defines `total`, `joint_table` and `marginals_and_total`."""

    def total(self) -> Wide:
        """The sum of the product of all factors with the evidence."""
        raise NotImplementedError

    def joint_table(self, targets: Sequence[int], needs: Needs) -> WideArray:
        """The joint up to a scale; as wide numbers if doubles would lose any of it."""
        raise NotImplementedError

    def marginals_and_total(self, targets: Sequence[int] | None = None) -> tuple[np.ndarray, Wide]:
        """P(v | known) for all of the user's variables, concatenated, and the total.

        With targets, work that only the other variables need is left out, and their entries are zero.
        """
        raise NotImplementedError

    def case_of_plan(self, needs: Needs, targets: Sequence[int] | None) -> tuple[Case, Shape, Needs]:
        """What a plan describes: the reduced question, its tree, and what a run needs."""
        if targets is None:
            case = reduce_case(self.program, self.known, self.everything(), self.clock)
            return case, planned(case, self.clock, self.trees), needs
        case, inner = self.targeted(targets)
        return case, planned(case, self.clock, self.trees, inner), needs

    def plan(self, question: str, targets: Sequence[int] | None) -> Plan:
        """The plan of a query for these targets, or of all marginals."""
        needs = self._needs_of_plan(question, targets)
        case, shape, needs = self.case_of_plan(needs, targets)
        return make_plan(case, shape, needs, self.names)

    def _needs_of_plan(self, question: str, targets: Sequence[int] | None) -> Needs:
        p = self.program.arrays
        if targets is not None:
            return Needs(question, results=entries(p.cards, targets), engine=self.engine)
        return Needs(question, "both", results=float(p.state_at[self.program.n_named]), engine=self.engine)

    def in_doubles_or_wide(
        self, question: Callable[..., _Answer], case: Case, tree: Tree, needs: Needs, *args: Any
    ) -> _Answer:
        """Run a question of tree_runs.py; if doubles underflow, again with wide numbers where those fit."""
        check = self.check_of(case, replace(needs, wide=True))
        return tree_runs.in_doubles_or_wide(question, case, tree, self.clock, *args, check=check)

    def targeted(self, targets: Sequence[int]) -> tuple[Case, np.ndarray]:
        """The question reduced to what these variables need, and the targets' reduced indices."""
        case = reduce_case(self.program, self.known, targets, self.clock, only_wanted=True)
        return case, open_targets(case, targets)

    def joint(self, targets: Sequence[int], question: str = "the joint distribution") -> np.ndarray:
        """P(targets | known), one axis for each target in this order."""
        table = narrow(self.joint_table(targets, self._needs_of_joint(targets, question)))
        table /= table.sum()
        return table

    def _needs_of_joint(self, targets: Sequence[int], question: str) -> Needs:
        return Needs(question, results=entries(self.program.arrays.cards, targets), engine=self.engine)

    def needs_of_marginals(self, targets: Sequence[int] | None) -> Needs:
        """What a run for all marginals needs, or for those of the targets."""
        what = "all marginals" if targets is None else f"the marginals of {len(targets):,} variables"
        size = float(self.program.arrays.state_at[self.program.n_named])
        return Needs(what, "both", results=size, engine=self.engine)

    def marginals(self, targets: Sequence[int] | None = None) -> np.ndarray:
        """P(v | known) for all of the user's variables, concatenated."""
        return self.marginals_and_total(targets)[0]

    # --- prescribed posterior marginals (Jeffrey's rule) ---

    def fitted(self, wanted: dict[int, np.ndarray]) -> Self:
        """This engine with weights that give variables these marginals (iterative proportional fitting)."""
        positions = list(wanted)
        before = replace(
            self, known=self.known.with_weights({v: ((w > 0).astype(np.float64),) for v, w in wanted.items()})
        )
        try:
            needs = self._needs_of_joint(positions, "the variables with soft evidence")
            joint = before.joint_table(positions, needs)
        except TooLarge:
            found = fit_by_passes(before._marginal_under, wanted)
        else:
            found = fit_jointly(joint, wanted, self.clock.check)
        return self._weighted(found)

    def _weighted(self, weights: Weights) -> Self:
        doubles = {v: in_doubles(*w) for v, w in weights.items()}
        return replace(self, known=self.known.with_weights(doubles))

    def _marginal_under(self, v: int, weights: Weights) -> WideArray:
        return self._weighted(weights).joint_table([v], self._needs_of_joint([v], "a marginal"))


def entries(cards: np.ndarray, targets: Sequence[int]) -> float:
    """The number of joint states of the targets."""
    return float(np.exp2(np.log2(cards[list(targets)]).sum()))


def wanted_of(case: Case, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which reduced variables are wanted, and the places of their states among all reduced states."""
    r = case.reduced
    is_wanted = np.zeros(case.program.n, bool)
    is_wanted[wanted] = True
    mine = np.flatnonzero(is_wanted[r.variables]).astype(np.int32)
    return mine, np.flatnonzero(np.repeat(is_wanted[r.variables], r.cards))


def spread_marginals(case: Case, mine: np.ndarray, places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The marginals of these reduced variables placed among all the user's; certain states have 1."""
    p, r, n_named = case.program.arrays, case.reduced, case.program.n_named
    flat = np.zeros(int(p.state_at[n_named]))
    fixed = np.flatnonzero(case.codes[:n_named] >= 0)
    flat[p.state_at[fixed] + case.codes[fixed]] = 1.0
    owners = np.repeat(p.state_at[r.variables[mine]], r.cards[mine])
    flat[owners + r.states[places]] = values[: places.size]
    return flat
