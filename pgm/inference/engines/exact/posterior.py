"""Exact answers to every kind of question, on clique trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.errors import OutOfTime, TooLarge
from pgm.evidence import Observed
from pgm.inference.engines import gate_maxima
from pgm.inference.engines.exact import expected_statistics, k_best, tree_runs
from pgm.inference.engines.naming import Explanation, NamedDraws, NamedMaxima
from pgm.inference.engines.plan import Plan, make_plan
from pgm.inference.engines.problem import BestStates
from pgm.inference.engines.table_sums import TOTAL, Context, TableSums, spread_marginals, wanted_of
from pgm.inference.engines.wide_numbers import Wide, log_of
from pgm.inference.program import SUMMED, Program
from pgm.inference.program.reduction import (
    Case,
    WideArray,
    narrow,
    one_of_each,
    only,
    reduce_case,
    reduce_everything,
    spread,
)
from pgm.inference.trees import Shape, planned, tree_of
from pgm.inference.trees.needs import Needs, Question
from pgm.inference.trees.shared_trees import Sliced, consider, sliced
from pgm.results import MaxMarginals
from pgm.runtime.buffers import give
from pgm.runtime.clock import Clock
from pgm.runtime.running import READING, Narrow, run
from pgm.variables import VariableList

_WORTH_FRONTS = 20.0  # log2 of the entries of a tree that sums inside gates first
_CELLS = 4_000_000  # of samples, between two checks of the clock
_PASSING_STEPS = 3e9  # of a sum that is a by-product: a few seconds
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, eq=False, slots=True)
class Posterior(TableSums, NamedMaxima, NamedDraws):
    """A compiled model and its evidence, ready for exact answers."""

    def plan(self, question: str, targets: Sequence[int] | None) -> Plan:
        """The plan of a query for these targets, or of all marginals."""
        if not self.known.weights:
            needs = self._needs_of_plan(question, targets)
            found = consider(self.program, self.known.hard, targets, needs, self.clock)
            if found is not None and found.pays and needs.fits(found.shape):
                return make_plan(found.case, found.shape, needs, self.names, found.why)
        return TableSums.plan(self, question, targets)

    # --- sums ---

    def on_shared_tree(
        self,
        targets: tuple[int, ...] | None,
        needs: Callable[[], Needs],
        ask: Callable[[Sliced, Program, np.ndarray, Clock], _Answer],
        *,
        entries: bool = False,
    ) -> _Answer | None:
        """The answer from a tree shared by all questions like this one; None if that does not pay.

        See `sliced`.
        """
        if self.known.weights:
            return None
        hard = self.known.hard

        def refuse(case: Case, shape: Shape) -> None:
            make_plan(case, shape, needs(), self.names).check()

        tree = sliced(self.program, self.trees, hard, targets, needs, self.clock, refuse, entries=entries)
        if tree is None:
            return None
        try:
            return ask(tree, self.program, np.array(list(hard.values()), dtype=np.int64), self.clock)
        except Narrow:
            return None

    def total(self) -> Wide:
        """The sum of the product of all factors with the evidence."""
        found = self.on_shared_tree((), lambda: TOTAL, Sliced.answer)
        if found is not None:
            return found[1]
        return self._total_on_a_tree()

    def _total_on_a_tree(self) -> Wide:
        case = reduce_case(self.program, self.known, [], self.clock)
        needs = replace(TOTAL, engine=self.engine)
        tree = tree_of(case, self.clock, self.trees, check=self.check_of(case, needs))
        return self.in_doubles_or_wide(tree_runs.total, case, tree, needs)

    def joint(self, targets: Sequence[int], question: str = "the joint distribution") -> np.ndarray:
        """P(targets | known), one axis for each target in this order."""
        cards = self.program.arrays.cards

        def needs() -> Needs:
            return self._needs_of_joint(targets, question)

        found = self.on_shared_tree(tuple(targets), needs, Sliced.answer)
        if found is not None:
            return found[0] if len(targets) == 1 else found[0].reshape([int(cards[t]) for t in targets])
        table = narrow(self.joint_table(targets, needs()))
        table /= table.sum()
        return table

    def joint_table(self, targets: Sequence[int], needs: Needs) -> WideArray:
        """The joint up to a scale; as wide numbers if doubles would lose any of it."""
        case, inner = self.targeted(targets)
        compact: WideArray = np.ones(1), None
        if inner.size == 0:
            check = self.check_of(case, needs)
            tree = tree_of(case, self.clock, self.trees, check=check)
            # For its error if the evidence is impossible.
            self.in_doubles_or_wide(tree_runs.total, case, tree, needs)
        else:
            check = self.check_of(case, needs)
            tree = tree_of(case, self.clock, self.trees, targets=inner, check=check)
            compact = self.in_doubles_or_wide(tree_runs.joint, case, tree, needs, inner.size)[0]
        values, powers = compact
        return spread(case, targets, values), None if powers is None else spread(case, targets, powers)

    def marginals_and_total(self, targets: Sequence[int] | None = None) -> tuple[np.ndarray, Wide]:
        """P(v | known) for all of the user's variables, concatenated, and the total.

        With targets, work that only the other variables need is left out, and their entries are zero.
        """
        wanted = self.everything() if targets is None else np.array(targets, dtype=np.int64)
        needs = self.needs_of_marginals(targets)
        found = None if targets is not None else self.on_shared_tree(None, lambda: needs, Sliced.answer)
        if found is not None:
            return found
        case = reduce_case(self.program, self.known, wanted, self.clock)
        mine, places = wanted_of(case, wanted)
        results = (np.arange(mine.size + 1, dtype=np.int64), mine)
        check = self.check_of(case, needs)
        tree = tree_of(case, self.clock, self.trees, results=results, check=check)
        values, whole = self.in_doubles_or_wide(tree_runs.marginals, case, tree, needs)
        return spread_marginals(case, mine, places, values), whole

    # --- maxima ---

    def best(
        self, targets: Sequence[int] | None, k: int = 1, allowed: np.ndarray | None = None
    ) -> list[BestStates]:
        """The k most probable states of the targets (None: of everything), and P(states, known) for each.

        The codes are those of the targets in their order, or of all the user's variables; the last item says
        whether they are the first among equals. `allowed` marks the states to choose from, if not all.
        """
        wanted = self.everything() if targets is None else np.array(targets, dtype=np.int64)
        case = reduce_case(
            self.program, self.known, wanted, self.clock, prune=targets is not None, allowed=allowed
        )
        r = case.reduced
        is_wanted = np.zeros(self.program.n, bool)
        is_wanted[wanted] = True
        real = r.variables
        if targets is None:  # a sparse factor's row is a function of its variables, so it may be maximised
            stage = (self.program.kinds[real] != SUMMED).astype(np.int64)
        else:
            stage = is_wanted[real].astype(np.int64)
        question = "the most probable states"
        asks: Question | None = "map" if targets is None else "marginal MAP"
        if k > 1:  # no other engine both ranks answers and sums
            asks = "k_best" if stage.all() else None
        needs = Needs(question, wide=True, asks=asks)
        everything = bool((stage[real < self.program.n_named] != 0).all())
        hides = bool((self.program.kinds[real] == SUMMED).any())
        if k == 1 and everything and hides and allowed is None:
            front = self._by_choices(case, stage, needs)
            if front is not None:
                codes, value, _ = self.worth(case, front.states)
                return [BestStates(codes[wanted], value, front.ties_broken)]
        check = self.check_of(case, needs)
        tree = tree_of(case, self.clock, self.trees, stage=stage, check=check)
        if k == 1:
            best, pool = tree_runs.maximum(case, tree, self.clock, stage)
            found = [best]
            for part in pool:
                give(part)
        else:
            found = k_best.best(case, tree, self.clock, stage, k)
        answers = []
        for one in found:
            codes = case.codes.astype(np.int64).copy()
            codes[real] = r.states[r.state_at[:-1] + one.states]
            answers.append(BestStates(codes[wanted], one.value, one.ties_broken))
        return answers

    def explained(
        self, targets: Sequence[int] | None, k: int
    ) -> tuple[list[Explanation], Callable[[], Wide | None]]:
        """The k most probable states of the targets (None: of everything), and P(known)."""
        found = []
        for codes, value, ties_broken in self.best(targets, k):
            found.append(Explanation(codes, value, self.report_of(self.engine, ties_broken)))
        return found, self.total

    def total_in_passing(self) -> Wide | None:
        """P(known) if it is cheap."""
        try:
            case = reduce_case(self.program, self.known, [], self.clock)
            shape = planned(case, self.clock, self.trees)
            if not TOTAL.fits(shape) or TOTAL.steps(shape) > _PASSING_STEPS:
                return None
            return self.total()
        except (TooLarge, OutOfTime):
            return None

    def max_assignments(self, variables: VariableList, observed: Observed) -> MaxMarginals:
        """For each state, the most probable assignment that contains it."""
        flat, best = self.max_marginals()
        log = observed.log_weight + log_of(best)
        if observed.soft:  # it prescribes a posterior marginal and has no probability of its own
            log = log_of(best) - log_of(self.total())
        left = [i for i in range(len(variables)) if i not in self.known.hard]
        begins = self.program.arrays.state_at[left]
        return MaxMarginals(variables.take(left), flat + log, begins, self.report)

    def max_marginals(self) -> tuple[np.ndarray, Wide]:
        """The log of the largest P(states, known) with each of the user's states, relative to the best.

        They are in order of the variables; the value of the best is also returned.
        """
        p, n_named = self.program.arrays, self.program.n_named
        flat = np.full(int(p.state_at[n_named]), -math.inf)
        case = reduce_case(self.program, self.known, self.everything(), self.clock, prune=False)
        r = case.reduced
        stage = (self.program.kinds[r.variables] != SUMMED).astype(np.int64)
        needs = Needs("the max-marginals", "both", wide=True, results=float(flat.size), asks=None)
        check = self.check_of(case, needs)
        tree = tree_of(case, self.clock, self.trees, stage=stage, check=check)
        logs, most = tree_runs.max_marginals(case, tree, self.clock)
        fixed = np.flatnonzero(case.codes[:n_named] >= 0)
        flat[p.state_at[fixed] + case.codes[fixed]] = 0.0
        ours = np.repeat(r.variables, r.cards) < n_named
        flat[(np.repeat(p.state_at[r.variables], r.cards) + r.states)[ours]] = logs[ours]
        return flat, most

    def _by_choices(self, case: Case, stage: np.ndarray, needs: Needs) -> gate_maxima.Front | None:
        """The best states by undominated choices, if a tree that sums inside gates first would be slow."""
        if gate_maxima.log2_summed_first(case) < _WORTH_FRONTS:
            shape = planned(case, self.clock, self.trees, stage=stage)
            if needs.fits(shape) and shape.log2_total < _WORTH_FRONTS:
                return None
        return gate_maxima.maximum(case, self.clock)

    def worth(self, case: Case, states: np.ndarray) -> tuple[np.ndarray, Wide, float]:
        """The codes of all the user's variables, P(states, known), and what summing can add to its logarithm.

        Variables inside gates are summed out, whatever their states here; trees do that, since everything
        else is fixed. So if an engine maximised them too, its maximum grows by at most the last value, the
        logarithm of how many states are summed. An engine may answer with its best when time has run out, so
        this ignores the clock.
        """
        hidden = self.program.kinds[case.reduced.variables] == SUMMED
        chosen = only(case, one_of_each(case, np.where(hidden, -1, states)))
        unhurried = replace(self, clock=Clock(None, None))
        at = reduce_everything(self.program, self.known, unhurried.clock, chosen)
        more = float(np.log(case.reduced.cards[hidden]).sum())
        return at.codes[: self.program.n_named].astype(np.int64), unhurried._sum_inside_gates(at), more

    def _sum_inside_gates(self, case: Case) -> Wide:
        """The sum over variables inside gates with everything else fixed, which leaves only trees."""
        if not case.reduced.variables.size:
            return case.constant()
        needs = Needs("the value of the states")
        tree = tree_of(case, self.clock, self.trees, check=self.check_of(case, needs))
        return self.in_doubles_or_wide(tree_runs.total, case, tree, needs)

    # --- samples ---

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Joint states of all the user's variables, drawn from the posterior: (n, variables)."""
        case = reduce_case(self.program, self.known, [], self.clock)
        every, drawn = self.program.n, case.reduced.cards.size
        # The states of all variables and then the columns; before that, three arrays of the drawn variables.
        row = max(16.0 * every, 8.0 * every + 24.0 * drawn)
        results, each = float(n * self.program.n_named), row / max(1, self.program.n_named)
        needs = Needs("posterior samples", "kept", results=results, each=each, asks="sample")
        tree = tree_of(case, self.clock, self.trees, check=self.check_of(case, needs))
        wide = self.check_of(case, replace(needs, wide=True))
        return self.all_states(case, tree_runs.draws(case, tree, self.clock, n, rng, check=wide), rng)

    def all_states(self, case: Case, drawn: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Samples of the reduced variables, completed by the certain and the pruned ones."""
        r, n = case.reduced, len(drawn)
        certain = np.maximum(case.codes, 0).astype(np.int64)
        states = np.empty((n, certain.size), np.int64)
        rows = max(1, _CELLS // max(certain.size, 1))
        for begin in range(0, n, rows):
            self.clock.check("completing the samples")
            some = slice(begin, begin + rows)
            states[some] = certain
            states[some, r.variables] = r.states[r.state_at[:-1] + drawn[some]]
        draw_forward(self.program, case.dropped(), states, rng, self.clock)
        return states[:, : self.program.n_named]

    # --- what learning needs ---

    def expected_counts(self) -> dict[int, np.ndarray]:
        """For each factor of the program, P(entry | known) for each entry of its table, flat."""
        return expected_statistics.expected_counts(self)

    def expected_statistics(self) -> tuple[dict[int, np.ndarray], dict[int, GaussianStatistics]]:
        """The expected counts, and the statistics of densities, of which there are none here."""
        return self.expected_counts(), {}

    def derivatives(self, *, zeros: bool) -> dict[int, np.ndarray]:
        """For each factor of the program, the derivative of log P(known) by each entry of its table, flat.

        For zero entries it is NaN or, with `zeros`, computed as well, which takes longer.
        """
        return expected_statistics.derivatives(self, zeros=zeros)


def draw_forward(
    program: Program, which: np.ndarray, states: np.ndarray, rng: np.random.Generator, clock: Clock
) -> None:
    """Draw the heads of these factors, last factor first, in each row of states; fills the rows in place."""
    if not which.size:
        return
    values = program.values
    if program.wide_exponents is not None:
        values = np.ldexp(values, np.maximum(program.wide_exponents, -1070).astype(np.int32))
    chunk = max(1, int(4e6) // which.size)
    for begin in range(0, len(states), chunk):
        part = states[begin : begin + chunk]
        uniforms = rng.random((part.shape[0], which.size))
        run(
            "forward", program.arrays, values, which, uniforms, part,
            steps=12.0 * uniforms.size, clock=clock, module=READING,
        )  # fmt: skip


def exactly(at: Context) -> Posterior:
    """The exact engine with this model and evidence."""
    return Posterior(at.program, at.trees, at.known, at.clock, at.names, given=at.given)
