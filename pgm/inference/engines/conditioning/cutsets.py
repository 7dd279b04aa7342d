"""Exact answers beyond memory: some variables, the cutset, take each of their states in turn.

Given the cutset the tree is smaller; one tree serves all its states. The answers are added up, each weighted
by the probability of its cutset states.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pgm.config import current
from pgm.errors import TooLarge
from pgm.graphs.triangulation import Triangulation
from pgm.inference.engines.exact import tree_runs
from pgm.inference.program.reduction import Case, WideArray, open_targets, reduce_case, spread, wide_multiply
from pgm.inference.trees import Shape, Tree, measure, planned, tree_of
from pgm.runtime.clock import Clock
from pgm.runtime.progress import report
from pgm.runtime.running import Impossible

if TYPE_CHECKING:
    from pgm.inference.engines.table_sums import Context
    from pgm.inference.trees.needs import Needs

Wide = tuple[float, int]
_MOST_VARIABLES = 64  # 2**64 runs would never end


@dataclass(frozen=True, eq=False, slots=True)
class Offer:
    """Which variables to condition on so that a question fits, and what one run then costs."""

    variables: np.ndarray  # indices in the program
    runs: float
    bytes: float
    operations: float  # of all runs


def choose(case: Case, shape: Shape, needs: Needs, room: float) -> Offer | None:
    """The cutset that shrinks the cliques of this tree until a run takes no more than `room` bytes.

    Greedy: each step takes the variable whose removal saves most clique entries for the runs that it adds.
    None if the tree is too large to lay out, or no cutset of a few dozen variables suffices.
    """
    if not shape.complete:
        return None
    r = case.reduced
    found, log2_cards = shape.triangulation, np.log2(r.cards.astype(np.float64))
    lengths = np.diff(found.clique_ptr)
    at = found.clique_ptr[:-1]
    chosen: list[int] = []
    now = shape
    while needs.bytes_in_doubles(now) > room:
        if len(chosen) == min(_MOST_VARIABLES, r.cards.size):
            return None
        sizes = np.exp2(np.add.reduceat(log2_cards[found.clique_vars], at))
        inside = np.bincount(found.clique_vars, np.repeat(sizes, lengths), r.cards.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            cards = np.exp2(log2_cards)
            left = sizes.sum() - inside * (1.0 - 1.0 / cards)
            gain = np.where(log2_cards > 0, np.log2(sizes.sum() / left) / log2_cards, -1.0)
        best = int(gain.argmax())
        if gain[best] <= 0:
            return None
        chosen.append(best)
        log2_cards[best] = 0.0
        now = shape_under(case, found, log2_cards)
    runs = float(np.prod(r.cards[chosen].astype(np.float64)))
    return Offer(r.variables[chosen], runs, needs.bytes_in_doubles(now), runs * needs.steps(now))


def shape_under(case: Case, found: Triangulation, log2_cards: np.ndarray) -> Shape:
    """The shape of a tree with some of its variables known: those with log2_cards 0."""
    sizes = np.add.reduceat(log2_cards[found.clique_vars], found.clique_ptr[:-1])
    total, largest = float(np.log2(np.exp2(sizes).sum())), float(sizes.max())
    cards = np.rint(np.exp2(log2_cards)).astype(np.int64)
    return measure(case, replace(found, log2_total=total, log2_largest=largest), cards)


@dataclass(frozen=True, eq=False, slots=True)
class Cut:
    """A question with a cutset: one tree, and the cutset's states to enumerate."""

    case: Case
    tree: Tree
    variables: list[int]  # the cutset, by its indices in the program
    states: list[list[int]]  # the open states of each
    weights: list[tuple[np.ndarray, ...]]  # evidence on each
    check: Callable[[Shape], None]  # raises if a run in wide numbers does not fit

    @property
    def runs(self) -> int:
        """The number of runs of the tree."""
        return math.prod(len(s) for s in self.states)

    def each(self, clock: Clock) -> Iterator[Case]:
        """The question for each joint state of the cutset."""
        p, case = self.case.program.arrays, self.case
        for done, place in enumerate(np.ndindex(*[len(s) for s in self.states])):
            clock.check()
            report(float(done), float(self.runs), "conditioning")
            codes, weight = case.codes.copy(), case.weight
            open_states = case.open_states.copy()
            for v, states, i, tables in zip(self.variables, self.states, place, self.weights, strict=True):
                codes[v] = states[i]
                open_states[p.state_at[v] : p.state_at[v + 1]] = 0
                open_states[p.state_at[v] + states[i]] = 1
                for w in tables:
                    weight = wide_multiply(weight, (float(w[states[i]]), 0))
            yield replace(case, codes=codes, open_states=open_states, weight=weight)
        report(float(self.runs), float(self.runs), "conditioning")


def cut_case(
    posterior: Context, needs: Needs, targets: Sequence[int] | None, named: Sequence[str] | None
) -> tuple[Case, list[int], list[list[int]], Shape]:
    """Choose the cutset, or take the one named.

    Returns the case without the cutset, the cutset, its open states, and the tree's shape.

    Args:
        posterior: the model and its evidence.
        needs: the kind of run.
        targets: positions whose joint is wanted, empty for the total; None: all marginals.
        named: the variables to condition on; None: as few as make the question fit, possibly none.
    """
    program, known, clock = posterior.program, posterior.known, posterior.clock
    p = program.arrays
    wanted = np.arange(program.n_named) if targets is None else np.array(targets, np.int64)
    whole = case = reduce_case(program, known, wanted, clock)
    cutset: list[int] = []
    if named is not None:
        asked = [posterior.names.index(name) for name in named]
        cutset = [v for v in asked if (whole.reduced.variables == v).any()]
        case = reduce_case(program, known, wanted, clock, placeholders=cutset)
    shape = planned(case, clock, posterior.trees, _inner(case, targets))
    room = float(current().memory_limit)  # read once: the default follows the free memory
    while named is None and needs.bytes_in_doubles(shape) > room:
        offer = choose(case, shape, needs, room)
        if offer is None:
            from pgm.inference.engines.plan import make_plan

            plan = make_plan(case, shape, needs, posterior.names)
            raise TooLarge(f"No small set of variables to condition on makes this fit.\n\n{plan!r}", plan)
        # Half of them at a time: a new tree without these may be smaller than the old tree less these.
        cutset.extend(offer.variables[: (offer.variables.size + 1) // 2].tolist())
        case = reduce_case(program, known, wanted, clock, placeholders=cutset)
        shape = planned(case, clock, posterior.trees, _inner(case, targets))
    states = [np.flatnonzero(whole.open_states[p.state_at[v] : p.state_at[v + 1]]).tolist() for v in cutset]
    return case, cutset, states, shape


def prepare(
    posterior: Context, needs: Needs, targets: Sequence[int] | None, named: Sequence[str] | None
) -> Cut:
    """The cutset, and the tree that serves all of its states; `TooLarge` if that does not fit."""
    case, cutset, states, _ = cut_case(posterior, needs, targets, named)
    results = None
    if targets is None:
        mine = np.flatnonzero(case.reduced.variables < posterior.program.n_named).astype(np.int32)
        results = (np.arange(mine.size + 1, dtype=np.int64), mine)
    needs = replace(needs, runs=float(math.prod(len(s) for s in states)))
    check = posterior.check_of(case, needs)
    clock = posterior.clock
    inner = _inner(case, targets)
    tree = tree_of(case, clock, posterior.trees, targets=inner, results=results, check=check)
    weights = [posterior.known.weights.get(v, ()) for v in cutset]
    wide = posterior.check_of(case, replace(needs, wide=True))
    return Cut(case, tree, cutset, states, weights, wide)


class _Sum:
    """A sum of tables, each weighted by a wide number; relative to the largest weight so far."""

    def __init__(self, shape: Sequence[int]) -> None:
        self.table = np.zeros(shape)
        self._parts: list[Wide] = []
        self._exponent = 0

    def add(self, weight: Wide) -> float:
        """Make room for a table of this weight; return the factor to multiply it by."""
        if not self._parts or weight[1] > self._exponent:
            if self._parts:
                self.table *= 2.0 ** max(-2000, self._exponent - weight[1])
            self._exponent = weight[1]
        self._parts.append(weight)
        return math.ldexp(weight[0], max(-2000, weight[1] - self._exponent))

    def total(self) -> Wide:
        """The sum of the weights."""
        if not self._parts:
            raise Impossible
        whole = math.fsum(math.ldexp(m, max(-2000, e - self._exponent)) for m, e in self._parts)
        return wide_multiply((whole, self._exponent), (1.0, 0))


def total(cut: Cut, clock: Clock) -> Wide:
    """The sum of the product of all factors over all open states."""
    found = _Sum(())
    for case in cut.each(clock):
        with contextlib.suppress(Impossible):
            found.add(tree_runs.in_doubles_or_wide(tree_runs.total, case, cut.tree, clock, check=cut.check))
    return found.total()


def joint(cut: Cut, targets: Sequence[int], clock: Clock) -> WideArray:
    """The table over all states of the targets, in this order, up to a scale."""
    shape = [int(cut.case.program.arrays.cards[t]) for t in targets]
    table, powers = np.zeros(shape), np.zeros(shape, np.int64)
    inner = open_targets(cut.case, targets)
    for case in cut.each(clock):
        compact: WideArray = np.ones(1), None
        try:
            if inner.size:
                compact, weight = tree_runs.in_doubles_or_wide(
                    tree_runs.joint, case, cut.tree, clock, inner.size, check=cut.check
                )
            else:
                weight = tree_runs.in_doubles_or_wide(tree_runs.total, case, cut.tree, clock, check=cut.check)
        except Impossible:
            continue
        values, own = compact
        own = np.zeros(values.shape, np.int64) if own is None else own
        top = own[values > 0].max()  # the table has an arbitrary scale, but its total is known
        share = weight[0] / np.ldexp(values, np.maximum(own - top, -2000)).sum()
        more = spread(case, targets, values * share), spread(case, targets, own - top + weight[1])
        table, powers = _wide_sum((table, powers), more)
    if not (table > 0).any():
        raise Impossible
    return table, powers


def _wide_sum(
    a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The sum of two arrays of wide numbers."""
    tops = np.where(a[0] == 0, b[1], np.where(b[0] == 0, a[1], np.maximum(a[1], b[1])))
    sums = sum(np.ldexp(values, np.clip(powers - tops, -2000, 0)) for values, powers in (a, b))
    mantissas, more = np.frexp(sums)
    return mantissas, tops + more


def marginals(cut: Cut, clock: Clock) -> tuple[np.ndarray, Wide]:
    """P(v | known) for all of the user's variables, concatenated, and the total."""
    p, n_named, r = cut.case.program.arrays, cut.case.program.n_named, cut.case.reduced
    mine = np.flatnonzero(r.variables < n_named)
    n_states = int(r.state_at[mine.size])
    places = np.repeat(p.state_at[r.variables[mine]], r.cards[mine]) + r.states[:n_states]
    found = _Sum([int(p.state_at[n_named])])
    for case in cut.each(clock):
        try:
            values, weight = tree_runs.in_doubles_or_wide(
                tree_runs.marginals, case, cut.tree, clock, check=cut.check
            )
        except Impossible:
            continue
        share = found.add(weight)
        found.table[places] += share * values
        fixed = np.flatnonzero(case.codes[:n_named] >= 0)
        found.table[p.state_at[fixed] + case.codes[fixed]] += share
    whole = found.total()
    begins = p.state_at[:n_named]
    sums = np.add.reduceat(found.table, begins) if n_named else found.table
    return found.table / np.repeat(sums, p.cards[:n_named]), whole


def _inner(case: Case, targets: Sequence[int] | None) -> np.ndarray:
    return np.empty(0, np.int32) if targets is None else open_targets(case, targets)
