"""A sequence of forests of cliques, none larger than a bound, that exchange beliefs.

Tables are combined in elimination order for as long as the cliques of an exact forest stay small. Then that
forest is closed: its beliefs about the variables that it shares with others are sent as clusters of a tree,
with the least loss that fits, and the next forest begins with these (Bathla & Vasudevan 2022). Information
from later forests returns the same way, back and forth until all agree: expectation propagation, with a
forest in place of each factor (Minka 2001; Heskes & Zoeter 2002). A single forest is exact inference. There
may be several such fixed points, see modes.py, so tables are also taken in the reverse order.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from pgm.config import current
from pgm.errors import OutOfTime, TooLarge
from pgm.graphs.triangulation import triangulate_in
from pgm.inference.engines.clique_sequence import CliqueSequence
from pgm.inference.engines.clique_sequence.forest import Forest, Table
from pgm.inference.engines.clique_sequence.growing import Growth, Tables
from pgm.inference.engines.clique_sequence.modes import Calibrated, solution
from pgm.inference.engines.exact import tree_runs
from pgm.inference.engines.problem import Problem, Solution, none_possible
from pgm.inference.program.reduction import narrow
from pgm.inference.trees import Shape, planned, tree_of
from pgm.inference.trees.needs import Needs
from pgm.results import Report
from pgm.runtime.clock import Clock
from pgm.runtime.progress import report as report_progress
from pgm.runtime.room import too_large
from pgm.runtime.running import REDUCTION, Impossible

_BOUNDS = (20, 16, 12, 8, 4)  # tried in turn if none is given
_STEPS = 1e9  # inner steps of one sweep over all forests, if no bound is given
_KEPT = 60.0  # bytes per entry of a forest's tables
_DAMPING = 0.5  # once forests stop converging
_TOGETHER = np.empty(0, np.int32)
_LN2 = math.log(2.0)


class _TooMuch(Exception):
    """A default bound would take too long, or too much memory."""


def solve(problem: Problem, options: CliqueSequence, clock: Clock) -> Solution:
    """Exact if one forest holds everything; otherwise what the forests agree on."""
    bounds = _BOUNDS if options.clique_bound is None else (options.clique_bound,)
    found = _exactly(problem, options, bounds[0], clock)
    if found is not None:
        return found
    for bound in bounds:
        start = time.monotonic()
        try:
            first = _solved(problem, options, _grow(problem, bound, clock, is_last=bound == bounds[-1]))
        except _TooMuch:
            continue
        except Impossible:  # or merely far less probable than a forest believed before messages arrived
            raise none_possible(options.name) from None
        took = time.monotonic() - start
        second = None
        if clock.remaining() > 2.0 * took:
            with suppress(_TooMuch, TooLarge, OutOfTime, Impossible):
                sequence = _grow(problem, bound, clock, is_last=False, backwards=True)
                second = _solved(problem, options, sequence)
        return solution(problem, first, second)
    raise AssertionError("the last bound is kept")


def _exactly(problem: Problem, options: CliqueSequence, bound: float, clock: Clock) -> Solution | None:
    """The answer of the exact engine, if its tree is within the bound."""
    case, targets = problem.case, problem.targets
    r, needs = case.reduced, Needs("", sweeps="both" if targets is None else "in")

    def check(shape: Shape) -> None:
        if shape.log2_largest > bound or not needs.fits(shape):
            raise _TooMuch

    every = np.arange(r.cards.size + 1, dtype=np.int64), np.arange(r.cards.size, dtype=np.int32)
    try:
        if targets is None:
            tree = tree_of(case, clock, problem.trees, results=every, check=check)
            values, total = tree_runs.in_doubles_or_wide(tree_runs.marginals, case, tree, clock, check=check)
        elif targets.size:
            tree = tree_of(case, clock, problem.trees, targets=targets, check=check)
            args = case, tree, clock, targets.size
            found, total = tree_runs.in_doubles_or_wide(tree_runs.joint, *args, check=check)[0], (math.nan, 0)
            values = narrow(found)
            values /= values.sum()
        else:
            tree = tree_of(case, clock, problem.trees, check=check)
            total = tree_runs.in_doubles_or_wide(tree_runs.total, case, tree, clock, check=check)
            values = np.ones(1)
    except _TooMuch:
        return None
    said = "one forest held everything: these are the exact engine's results"
    report = Report(options.name, exact=False, error=0.0, iterations=1, advice=said)
    return Solution(values, lambda: total, dict, report)


def outline(problem: Problem, options: CliqueSequence, needs: Needs, clock: Clock) -> tuple[Shape, str]:
    """The tree of the whole question and, in words, what runs instead if that exceeds the bound."""
    bound = options.clique_bound or _BOUNDS[0]
    targets = _TOGETHER if problem.targets is None else problem.targets
    shape = planned(problem.case, clock, problem.trees, targets)
    if shape.complete and shape.log2_largest <= bound and needs.fits(shape):
        return shape, ""
    fewer = "" if options.clique_bound else ", smaller where these take too long or too much memory"
    return shape, f"forests of cliques of at most 2^{bound} entries{fewer}; the sizes are those of one tree"


@dataclass(eq=False, slots=True)
class Sequence:
    """Forests that exchange messages."""

    growth: Growth
    clock: Clock
    damping: float = 0.0

    @property
    def forests(self) -> list[Forest]:
        """All forests, senders before their receivers."""
        return self.growth.forests

    def forward(self) -> None:
        """Send messages from the first forest to the last."""
        for forest in self.forests:
            forest.sweep(self.clock, self.growth.check)
            for message in forest.leaving:
                message.send(self.damping)

    def back(self) -> float:
        """Send messages from the last forest to the first; return the largest disagreement of neighbours."""
        gap = 0.0
        for forest in reversed(self.forests):
            if forest.leaving:
                forest.take_back()
            forest.sweep(self.clock, self.growth.check)
            gap = max(gap, max((message.gap for message in forest.leaving), default=0.0))
            for message in forest.arriving:
                message.send_back(self.damping)
        return gap

    def log_total(self) -> float:
        """The logarithm of the total, without the constant factor."""
        if self.damping:  # only undamped messages multiply to beliefs
            self.damping = 0.0
            self.back()
        parts = [m.log_scale for forest in self.forests for m in forest.leaving]
        return math.fsum([*parts, *(forest.log_total for forest in self.forests)])


def _grow(
    problem: Problem, bound: float, clock: Clock, *, is_last: bool, backwards: bool = False
) -> Sequence:
    """All forests, each with the messages from those before it."""
    kept, steps = [0.0], [0.0]

    def check(shape: Shape, entries: float, wide: bool) -> None:
        needs, allowed = Needs("", sweeps="both", wide=wide, results=entries), current().memory_limit
        if not wide:  # a new forest, which stays
            kept[0] += shape.layout + _KEPT * shape.tables
            steps[0] += 2.0 * shape.steps
        needed = kept[0] + needs.bytes_in_doubles(shape)
        if needed > allowed or not shape.complete:
            if not is_last:
                raise _TooMuch
            raise _refusal(needed, allowed)
        if steps[0] > _STEPS and not is_last:
            raise _TooMuch

    found = Growth(_tables(problem, bound, clock, backwards), bound, clock, check)
    found.grow()
    return Sequence(found, clock)


def _refusal(needed: float, allowed: int) -> TooLarge:
    forests = f'For its forests engine="{CliqueSequence.name}" needs'
    return too_large(needed, allowed, forests, "Take a smaller clique_bound, observe more")


def _tables(problem: Problem, bound: float, clock: Clock, backwards: bool) -> Tables:
    """The tables of the question in elimination order or its reverse, and a table of ones for a joint."""
    case, targets = problem.case, problem.targets
    r = case.reduced
    needed, allowed = 60.0 * (float(r.table_at[-1]) + r.scopes.size), current().memory_limit
    if needed > allowed:
        raise _refusal(needed, allowed)
    log2_cards = np.log2(r.cards.astype(np.float64))
    at, indices = REDUCTION.neighbours(r.cards.size, r.scope_at, r.scopes, _TOGETHER)
    clock.check()
    order = triangulate_in(clock, at, indices, log2_cards, effort=0.0).order[:: -1 if backwards else 1]
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    alone = np.flatnonzero(np.bincount(r.scopes, minlength=r.cards.size) == 0)
    asked = _TOGETHER
    if targets is not None and targets.size > 1 and log2_cards[targets].sum() <= bound:
        asked = targets
    widths = [np.diff(r.scope_at), np.ones(alone.size, np.int64), np.full(int(asked.size > 0), asked.size)]
    scope_at = np.concatenate([[0], np.cumsum(np.concatenate(widths))]).astype(np.int64)
    scopes = np.concatenate([r.scopes, alone, asked]).astype(np.int64)
    turn, widths_of = np.minimum.reduceat(rank[scopes], scope_at[:-1]), np.diff(scope_at)
    begun = np.full(order.size, order.size)
    np.minimum.at(begun, scopes, np.repeat(turn, widths_of))
    # A table over one variable enters together with the variable, which improves beliefs.
    turn = np.where(widths_of == 1, begun[scopes[scope_at[:-1]]], turn)
    first = np.argsort(turn, kind="stable")
    widths_of, begins = widths_of[first], scope_at[:-1][first]
    ends = np.concatenate([[0], np.cumsum(widths_of)]).astype(np.int64)
    flat = scopes[np.arange(ends[-1]) + np.repeat(begins - ends[:-1], widths_of)]
    wide = case.program.wide_exponents is not None
    values, exponents = case.wide_tables() if wide else (case.tables(), None)

    def table(index: int) -> Table:
        scope, g = tuple(flat[ends[index] : ends[index + 1]].tolist()), int(first[index])
        shape = [int(r.cards[v]) for v in scope]
        if g >= r.factors.size:
            return Table(scope, np.ones(shape))
        part = slice(int(r.table_at[g]), int(r.table_at[g + 1]))
        if exponents is None:
            return Table(scope, values[part].reshape(shape))
        with np.errstate(divide="ignore"):
            logs = np.log(values[part]) + exponents[part] * _LN2
        return Table(scope, logs.reshape(shape), log=True)

    read = int(np.flatnonzero(first == scope_at.size - 2)[0]) if asked.size else -1
    return Tables(r.cards, ends, flat, table, read)


def _solved(problem: Problem, options: CliqueSequence, sequence: Sequence) -> Calibrated:
    """Send messages until forests agree."""
    clock, growth = sequence.clock, sequence.growth
    gaps: list[float] = []
    late = False
    while not gaps or (gaps[-1] > options.tol and len(gaps) < options.iterations):
        report_progress(float(len(gaps)), float(options.iterations), "forests")
        start = time.monotonic()
        if gaps:
            sequence.forward()
        gaps.append(sequence.back())
        if len(gaps) > 2 and gaps[-1] > 0.9 * gaps[-2]:
            sequence.damping = _DAMPING
        late = clock.remaining() < 2.0 * (time.monotonic() - start)
        if late:
            break
    converged = gaps[-1] <= options.tol
    size = f"{len(growth.forests):,} forests of cliques of at most 2^{growth.log2_largest:.3g} entries"
    said = (
        f"{size}; {growth.lost:.2g} nats cut and {growth.dropped:,} variables dropped between them; "
        "there is no bound on the error"
    )
    if not converged:
        after = f"after {len(gaps)} iteration{'s' if len(gaps) > 1 else ''}"
        apart = f"forests still differ by {gaps[-1]:.2g}"
        stopped = f"the time limit was reached {after}: {apart}" if late else f"{apart} {after}"
        said = f"{stopped}; try another clique_bound=; {said}"
    report = Report(
        options.name,
        exact=False,
        converged=converged,
        iterations=len(gaps),
        residuals=tuple(gaps),
        advice=said,
    )

    singles = _values(problem, growth, None)
    assert singles is not None
    return Calibrated(singles, _values(problem, growth, problem.targets), sequence.log_total(), report)


def _values(problem: Problem, growth: Growth, targets: np.ndarray | None) -> np.ndarray | None:
    """Beliefs of single variables, or of the targets together."""
    r = problem.case.reduced
    values = np.empty(int(r.state_at[-1]))
    joint = None
    for forest in growth.forests:
        at = forest.tree.arrays.result_at
        first = len(forest.wide) + len(forest.arriving)
        begin, end = int(at[first]), int(at[first + forest.inside.size])
        sizes = r.cards[forest.inside]
        places = np.repeat(r.state_at[forest.inside] - (np.cumsum(sizes) - sizes), sizes) + np.arange(
            end - begin
        )
        values[places] = forest.values[begin:end]
        if forest.values.size > end:
            joint = forest.values[end:]
    if targets is None:
        return values
    if targets.size == 0:
        return np.ones(1)
    if targets.size == 1:
        return values[r.state_at[targets[0]] : r.state_at[targets[0] + 1]]
    return joint
