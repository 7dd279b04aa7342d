"""Variational inference: the distribution closest to the model among those with independent blocks.

Any such distribution gives a lower bound on the partition function (Jordan et al. 1999; Saul & Jordan 1996
for blocks). Single variables are improved one after another in compiled code; a block of several goes to the
exact engine, weighted by the mean logarithms of the factors that it shares with others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pgm.errors import NoSupportFound
from pgm.inference.engines.factor_graph import Graph, make_graph
from pgm.inference.engines.loopy import Loopy, propagation
from pgm.inference.engines.mean_field import MeanField
from pgm.inference.engines.mean_field.structured import Block, find_blocks
from pgm.inference.engines.problem import Problem, Solution
from pgm.results import Course, Report
from pgm.runtime.clock import Clock
from pgm.runtime.loops import Loops
from pgm.runtime.progress import report as report_progress
from pgm.runtime.running import Impossible, run

MEAN_FIELD = Loops("pgm.inference.engines.mean_field.compiled")


@dataclass(eq=False, slots=True)
class Ascent:
    """One start: a distribution for each variable, improved until the bound no longer rises."""

    graph: Graph
    blocks: list[Block]
    alone: np.ndarray  # uint8[m] variables in no block
    free: np.ndarray  # those of them whose distribution is not prescribed
    between: np.ndarray  # uint8[F] factors inside no block
    has_zero: np.ndarray  # uint8[T]
    clock: Clock
    q: np.ndarray
    bound: float = -math.inf
    iterations: int = 0
    converged: bool = False
    bounds: list[float] = field(default_factory=list)  # after each sweep

    def climb(self, max_iter: int, tol: float) -> Ascent:
        """Improve all distributions repeatedly, until the bound no longer rises."""
        for done in range(max_iter):
            self.clock.check()
            report_progress(float(done), float(max_iter), "mean field")
            before = self.bound
            self._improve()
            self.iterations = done + 1
            self.bounds.append(self.bound)
            if self.bound - before <= tol * max(1.0, abs(self.bound)):
                self.converged = True
                break
        return self

    def _improve(self) -> None:
        g, out = self.graph.arrays, np.empty(int(self.graph.arrays.cards.max(initial=1)))
        rest = self.between, self.has_zero
        self._call("improve", g, self.free, self.q, *rest, out)
        of_blocks: list[float] = []
        for block in self.blocks:
            fields = []
            for v in block.variables:
                MEAN_FIELD.field(g, v, self.q, *rest, out)
                fields.append(out[: g.cards[v]].copy())
            marginals, terms = block.improve(fields, self.clock)
            of_blocks += terms
            for v, p in zip(block.variables, marginals, strict=True):
                self.q[g.state_at[v] : g.state_at[v + 1]] = p
        of_factor, of_variable = np.empty(g.table.size), np.empty(g.cards.size)
        self._call("terms", g, self.q, self.alone, *rest, of_factor, of_variable)
        parts = [*of_factor.tolist(), *of_variable.tolist(), *of_blocks]
        # Rounding must not invalidate the bound: each term is a sum of a few dozen products.
        mass = math.fsum(map(abs, parts)) + float(np.abs(g.logs).max(initial=0.0)) + g.cards.size
        self.bound = math.fsum(parts) - 2.0**-46 * mass

    def _call(self, name: str, *args: object) -> None:
        run(name, *args, steps=2.0 * self.graph.steps, clock=self.clock, module=MEAN_FIELD)


def solve(problem: Problem, options: MeanField, clock: Clock) -> Solution:
    """The best of several starts."""
    graph = make_graph(problem.case, options.name, each_message=16.0)
    blocks, alone, between = find_blocks(problem, graph, options)
    g = graph.arrays
    sizes = np.multiply.reduceat(g.cards[g.scopes], g.scope_at[:-1]) if g.table.size else np.empty(0)
    has_zero = np.zeros(g.low.size, np.uint8)
    has_zero[g.table] = np.diff(g.row_at)[g.table] < sizes
    free = np.array([v for v in np.flatnonzero(alone).tolist() if v not in problem.held], np.int64)
    touchy = bool(has_zero[g.table[between > 0]].any())
    best: Ascent | None = None
    for q in _starts(problem, options, graph, clock, touchy):
        for v, p in problem.held.items():
            q[g.state_at[v] : g.state_at[v + 1]] = p
        ascent = Ascent(graph, blocks, alone, free, between, has_zero, clock, q)
        try:
            ascent.climb(options.max_iter, options.tol)
        except Impossible:
            continue
        if best is None or ascent.bound > best.bound:
            best = ascent
    if best is None:
        raise NoSupportFound(
            'engine="mean-field" found nothing of non-zero probability from any of its starts, which does '
            "not prove that none exists. Put variables that exclude each other's states into one block "
            "of structured=."
        )
    constant = graph.constant
    parts = best.bound, math.log(constant[0]), constant[1] * math.log(2.0)
    rounded = problem.case.reduced.scalars.size + problem.case.program.n
    log = math.fsum(parts) - 2.0**-46 * (math.fsum(map(abs, parts)) + 1.0) - 2.0**-51 * rounded
    advice = (
        "" if best.converged else f"the bound still rises after {best.iterations} sweeps; raise max_iter="
    )
    return Solution(
        values=best.q if problem.targets is None else _joint(best, problem.targets),
        total=lambda: propagation.wide_of(log),
        weights=lambda: _weights(best, problem),
        report=Report(
            options.name,
            exact=False,
            converged=best.converged,
            iterations=best.iterations,
            log_bounds=(log, math.inf),
            advice=advice,
            course=_course(best.bounds, log - best.bound),
        ),
    )


def _course(bounds: Sequence[float], offset: float) -> Course:
    """The history of the bound."""
    sweeps = tuple(map(float, range(1, len(bounds) + 1)))
    return Course("iterations", sweeps, tuple(b + offset for b in bounds), (math.inf,) * len(bounds))


def _starts(
    problem: Problem, options: MeanField, graph: Graph, clock: Clock, touchy: bool
) -> Iterator[np.ndarray]:
    """The starting points: uniform, then random; if factors have zeros, states that these allow."""
    g, rng = graph.arrays, np.random.default_rng(options.seed)
    if touchy:
        sent = propagation.send(problem, Loopy(max_iter=50), clock, largest=True)
    for start in range(options.restarts):
        if touchy:
            q = np.zeros(g.local.size)
            noise = rng.gumbel(size=g.local.size) * (start > 0)
            q[g.state_at[:-1] + propagation.choose_states(sent, noise)] = 1.0
        elif start == 0:
            q = np.repeat(1.0 / g.cards, g.cards)
        else:
            q = rng.exponential(size=g.local.size)
            q /= np.repeat(np.add.reduceat(q, g.state_at[:-1]) if g.cards.size else q, g.cards)
        yield q


def _joint(found: Ascent, targets: np.ndarray) -> np.ndarray:
    """A joint distribution: the product over blocks, within a block that of the exact engine."""
    g = found.graph.arrays
    parts: list[tuple[list[int], np.ndarray]] = []
    left = targets.tolist()
    for block in found.blocks:
        mine = [v for v in left if v in block.variables]
        if len(mine) > 1:
            parts.append((mine, block.joint(mine, found.clock)))
            left = [v for v in left if v not in mine]
    parts += [([v], found.q[g.state_at[v] : g.state_at[v + 1]]) for v in left]
    table, order = np.ones(()), []
    for mine, p in parts:
        table = np.multiply.outer(table, p)
        order += mine
    return np.asarray(table.transpose([order.index(v) for v in targets.tolist()]))


def _weights(found: Ascent, problem: Problem) -> dict[int, np.ndarray]:
    """The log likelihoods that give held variables their distributions, according to this engine."""
    g, weights = found.graph.arrays, {}
    for v, p in problem.held.items():
        out = np.empty(int(g.cards[v]))
        rest = found.between, found.has_zero
        MEAN_FIELD.field(g, v, found.q, *rest, out)
        with np.errstate(divide="ignore"):
            logs = np.log(p) - out
        weights[v] = logs - logs.max()
    return weights
