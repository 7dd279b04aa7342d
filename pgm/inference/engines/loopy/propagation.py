"""Belief propagation: messages between the factors and the variables of a graph, until they converge.

Sum-product gives marginals and Bethe's approximation of the partition function; max-product gives good states
and a bound. On a graph without loops both are exact (Pearl 1988; Kschischang, Frey & Loeliger 2001).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from pgm.config import current
from pgm.errors import OutOfTime
from pgm.inference.engines.factor_graph import GRAPHS, Graph, make_graph
from pgm.inference.engines.loopy import Loopy
from pgm.inference.engines.loopy.trace import Notes
from pgm.inference.engines.problem import Maximum, Problem, Solution
from pgm.inference.program.reduction import wide_multiply
from pgm.results import Report
from pgm.runtime.clock import RUNNING, Clock
from pgm.runtime.loops import Loops
from pgm.runtime.progress import report as report_progress
from pgm.runtime.running import raise_status, run
from pgm.runtime.threads import Task, run_all

LOOPY = Loops("pgm.inference.engines.loopy.compiled")
_LN2 = math.log(2.0)
_ROUNDING = 1e-13  # a change of messages, relative to the largest belief, that counts as none
_SECONDS = 1e-9  # of an inner step
_BEYOND = 1e13  # a change of a log message beyond which messages never converge
_WORTH_THREADS = 5e-3  # seconds of one sweep


@dataclass(eq=False, slots=True)
class Messages:
    """A run of message passing: its inputs and its state."""

    graph: Graph
    options: Loopy
    largest: bool
    clock: Clock
    held: np.ndarray  # uint8[m] variables whose marginal is prescribed
    beliefs: np.ndarray  # logarithms
    messages: np.ndarray  # log messages from factors, the largest 0
    order: np.ndarray  # of factors
    walked: np.ndarray  # variables, from the first of each component outwards
    reached_by: np.ndarray  # the axis along which a variable was reached; -1 for the first of each component
    has_loops: bool
    residuals: list[float]
    notes: Notes | None
    late: bool = False  # out of time

    @property
    def rounding(self) -> float:
        """How much rounding alone may still change messages."""
        return _ROUNDING * max(1.0, float(np.abs(self.beliefs).max(initial=1.0)))

    @property
    def converged(self) -> bool:
        """Whether messages no longer change; also true if there are none."""
        return self._moves_less_than(max(self.options.tol, self.rounding))

    @property
    def exact(self) -> bool:
        """Whether the answer is provably exact: no loops, and no change beyond rounding.

        Several prescribed marginals are approached iteratively, so their answer is not.
        """
        return not self.has_loops and self._moves_less_than(self.rounding) and int(self.held.sum()) <= 1

    def _moves_less_than(self, change: float) -> bool:
        # In the first parallel sweep no factor has received anything: no change there proves nothing.
        sweeps = 2 if self.options.schedule == "parallel" else 1
        return not self.order.size or (len(self.residuals) >= sweeps and self.residuals[-1] <= change)

    def report(self, name: str) -> Report:
        """The report of this run."""
        advice = ""
        if self.residuals and self.residuals[-1] > _BEYOND:
            advice = (
                "messages diverge, as they do where nearly hard constraints around a loop contradict each "
                "other; try pgm.engines.Loopy(damping=0.5), or another engine"
            )
        elif not self.converged:
            what = f"messages still change by {self.residuals[-1]:.2g}"
            advice = how_to_go_on(what, len(self.residuals), self.late, self.options)
        return Report(
            name,
            exact=self.exact,
            converged=self.converged,
            iterations=len(self.residuals),
            residuals=tuple(self.residuals),
            advice=advice,
            trace=self.notes.trace if self.notes else None,
        )


def how_to_go_on(what: str, sweeps: int, late: bool, options: Loopy) -> str:
    """The advice for messages that have not converged; `what` says by how much they still change."""
    after = f"after {sweeps} sweep{'s' if sweeps > 1 else ''}"
    if late:
        return f"the time limit was reached {after}"
    more = ", or pgm.engines.Loopy(damping=0.5)" if options.damping == 0.0 else " and damping="
    return f"{what} {after}; try a larger max_iter={more}, or another schedule="


def send(problem: Problem, options: Loopy, clock: Clock, *, largest: bool = False) -> Messages:
    """Send messages until they converge or `max_iter` is reached."""
    graph = make_graph(problem.case, options.name, each_message=40.0)
    g = graph.arrays
    held, beliefs = np.zeros(g.cards.size, np.uint8), g.local.copy()
    for v, wanted in problem.held.items():
        held[v] = 1
        beliefs[g.state_at[v] : g.state_at[v + 1]] = np.log(wanted)
    order = np.empty(g.table.size, np.int64)
    walked, reached_by = np.empty(g.cards.size, np.int64), np.empty(g.cards.size, np.int64)
    links = g.scope_at, g.scopes, g.owner, g.user_at, g.users
    has_loops = not GRAPHS.walk(*links, order, walked, reached_by)
    if has_loops:  # by their last variables: row by row in an image
        order = np.argsort(np.maximum.reduceat(g.scopes, g.scope_at[:-1]), kind="stable")
    else:  # in from the leaves and out again: two sweeps suffice
        order = order[::-1].copy()
    messages = np.zeros(graph.n_messages)
    notes = Notes(graph, problem.names) if options.trace else None
    state = held, beliefs, messages, order, walked, reached_by, has_loops
    run_ = Messages(graph, options, largest, clock, *state, [], notes)
    _gather(run_)
    sweep = _sweeps(run_)
    while not run_.converged and len(run_.residuals) < options.max_iter:
        report_progress(float(len(run_.residuals)), float(options.max_iter), "messages")
        try:
            clock.check()
            run_.residuals.append(sweep(len(run_.residuals)))
        except OutOfTime:
            if not run_.residuals:
                raise
            run_.clock, run_.late = Clock(None, None, clock.profile), True  # messages can still be read
            break
        if run_.residuals[-1] > _BEYOND:
            break
        if notes is not None:
            notes.take(len(run_.residuals), run_.beliefs, messages)
    _gather(run_)
    return run_


def _room(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """A thread's work space: five rows over the states of one factor's variables, and where each begins."""
    size = graph.most_of_a_factor
    return np.empty((5, size)), np.empty(size + 1, np.int64)


def _call(messages: Messages, name: str, *args: object) -> None:
    run(name, *args, steps=messages.graph.steps, clock=messages.clock, module=LOOPY)


def _gather(run_: Messages) -> None:
    g = run_.graph.arrays
    LOOPY.gather(g, run_.messages, run_.held, run_.beliefs, 0, g.cards.size)
    run_.clock.lap(RUNNING)


def _sweeps(run_: Messages) -> Callable[[int], float]:
    """A function that does one sweep and returns the largest change of a message."""
    if run_.options.schedule == "parallel":
        return _parallel(run_)
    return _residual(run_) if run_.options.schedule == "residual" else _sequential(run_)


def _sequential(run_: Messages) -> Callable[[int], float]:
    """Sweep forwards and backwards alternately, each factor with the newest beliefs."""
    g, out, (room, offset) = run_.graph.arrays, np.zeros(1), _room(run_.graph)
    damping, largest, n = run_.options.damping, run_.largest, run_.order.size

    def sweep(done: int) -> float:
        _gather(run_)  # recomputes sums, so rounding does not accumulate
        first, last = (0, n) if done % 2 == 0 else (n - 1, -1)
        state = run_.beliefs, run_.messages, run_.held
        _call(run_, "send_all", g, run_.order, first, last, *state, damping, largest, True, room, offset, out)
        return float(out[0])

    return sweep


def _parallel(run_: Messages) -> Callable[[int], float]:
    """Send from all factors at once, by the previous beliefs: the number of threads changes no bit.

    As in textbooks, factors have received nothing when they send their first messages.
    """
    g, graph, options = run_.graph.arrays, run_.graph, run_.options
    threads = current().threads if graph.steps * _SECONDS > _WORTH_THREADS else 1
    rooms = [_room(graph) for _ in range(threads)]
    out = np.zeros((threads, 1))
    state = run_.beliefs, run_.messages, run_.held
    run_.beliefs[np.repeat(run_.held == 0, g.cards)] = 0.0
    everything = np.arange(run_.order.size)

    def share(size: int, i: int) -> tuple[int, int]:
        return size * i // threads, size * (i + 1) // threads

    def side_by_side(work: Callable[[int, np.ndarray], None]) -> None:
        seconds = graph.steps * _SECONDS / threads
        run_all([Task(partial(work, i), seconds) for i in range(threads)], run_.clock)
        run_.clock.lap(RUNNING)

    def gather(i: int, stop: np.ndarray) -> None:
        LOOPY.gather(g, run_.messages, run_.held, run_.beliefs, *share(g.cards.size, i))

    def send_part(i: int, stop: np.ndarray) -> None:
        rest = options.damping, run_.largest, False, *rooms[i], out[i], stop
        status = LOOPY.send_all(g, everything, *share(everything.size, i), *state, *rest)
        if not stop[0]:
            raise_status(status, "send_all", run_.clock)

    def sweep(done: int) -> float:
        side_by_side(send_part)
        side_by_side(gather)
        return float(out.max())

    return sweep


def _residual(run_: Messages) -> Callable[[int], float]:
    """Make as many updates as there are factors, the largest change first."""
    g, out, (room, offset) = run_.graph.arrays, np.zeros(1), _room(run_.graph)
    n, options = run_.order.size, run_.options
    place = np.empty(n, np.int64)
    place[run_.order] = np.arange(n)
    heap, priority = run_.order.copy(), np.full(n, math.inf)
    state = run_.beliefs, run_.messages, run_.held, options.damping, run_.largest

    def sweep(done: int) -> float:
        _gather(run_)
        tol = max(0.5 * options.tol, run_.rounding)
        _call(run_, "send_most", g, heap, place, priority, n, tol, *state, room, offset, out)
        if out[0] > tol:
            return float(out[0])
        _gather(run_)
        _call(run_, "measure", g, 0, n, run_.beliefs, run_.messages, run_.largest, room, offset, out)
        if out[0] > max(options.tol, run_.rounding):  # many small changes add up: all are due again
            priority[:] = out[0]
        return float(out[0])

    return sweep


# --- answers ---


def solve(problem: Problem, options: Loopy, clock: Clock) -> Solution:
    """Marginals and Bethe's partition function from sum-product."""
    found = send(problem, options, clock)
    g = found.graph.arrays
    tops = np.maximum.reduceat(found.beliefs, g.state_at[:-1]) if g.cards.size else found.beliefs
    values = np.exp(found.beliefs - np.repeat(tops, g.cards))
    sums = np.add.reduceat(values, g.state_at[:-1]) if g.cards.size else values
    values /= np.repeat(sums, g.cards)
    return Solution(
        values=values if problem.targets is None else _joint(found, values, problem.targets),
        total=lambda: wide_multiply(found.graph.constant, wide_of(_bethe(found))),
        weights=lambda: _weights(found),
        report=found.report(options.name),
    )


def _bethe(found: Messages) -> float:
    """The logarithm of Bethe's partition function, without the constant."""
    g = found.graph.arrays
    of_factor, of_variable = np.empty(g.table.size), np.empty(g.cards.size)
    rest = _room(found.graph)[0], of_factor, of_variable
    _call(found, "bethe", g, found.beliefs, found.messages, *rest)
    return math.fsum([*of_factor.tolist(), *of_variable.tolist()])


def wide_of(log: float) -> tuple[float, int]:
    """The wide number with this logarithm."""
    exponent = math.floor(log / _LN2)
    return math.exp(log - exponent * _LN2), exponent


def _joint(found: Messages, values: np.ndarray, targets: np.ndarray) -> np.ndarray | None:
    """The joint belief over these variables from a factor; None if no factor has them all."""
    g = found.graph.arrays
    if not targets.size:
        return np.ones(1)
    if targets.size == 1:
        v = int(targets[0])
        return values[g.state_at[v] : g.state_at[v + 1]].copy()
    common: set[int] | None = None
    for v in targets.tolist():
        mine = set(g.owner[g.users[g.user_at[v] : g.user_at[v + 1]]].tolist())
        common = mine if common is None else common & mine
    if not common:
        return None
    f = min(common, key=lambda f: (int(g.scope_at[f + 1] - g.scope_at[f]), f))
    scope = g.scopes[g.scope_at[f] : g.scope_at[f + 1]].tolist()
    flat = np.full(math.prod(g.cards[scope].tolist()), -math.inf)
    LOOPY.belief_of_factor(g, f, found.beliefs, found.messages, _room(found.graph)[0], flat)
    table = np.exp(flat - flat.max()).reshape(g.cards[scope])
    gone = tuple(i for i, v in enumerate(scope) if v not in targets)
    left = [v for v in scope if v in targets]
    return np.asarray(table.sum(axis=gone).transpose([left.index(v) for v in targets.tolist()]))


def _weights(found: Messages) -> dict[int, np.ndarray]:
    """The log likelihoods that give held variables their prescribed beliefs."""
    g = found.graph.arrays
    without = np.empty_like(found.beliefs)
    nothing = np.zeros(g.cards.size, np.uint8)
    LOOPY.gather(g, found.messages, nothing, without, 0, g.cards.size)
    weights = {}
    for v in np.flatnonzero(found.held).tolist():
        part = slice(int(g.state_at[v]), int(g.state_at[v + 1]))
        logs = found.beliefs[part] - without[part]
        weights[v] = logs - logs.max()
    return weights


def maximise(problem: Problem, options: Loopy, clock: Clock) -> Maximum:
    """Good states from max-product, improved one variable at a time, and a bound from the messages."""
    found = send(problem, options, clock, largest=True)
    found.clock = Clock(None, None, clock.profile)  # messages are read even if time has just run out
    constant = found.graph.constant
    bound = min(_dual(found, alone) for alone in (True, False))
    bound += math.log(constant[0]) + constant[1] * _LN2
    states = choose_states(found, seconds=clock.remaining())
    return Maximum(states, bound, found.report(options.name))


def _dual(found: Messages, along_the_walk: bool) -> float:
    """A bound on the logarithm of the largest product, valid for any messages.

    In logarithms the model is the sum of all beliefs and of each factor minus its messages, and the maximum
    of a sum is at most the sum of the maxima. First, beliefs are distributed among the factors: to the one by
    which a variable was reached first, which is tight without loops, or to all in equal parts.
    """
    g, n = found.graph.arrays, found.graph.arrays.cards.size
    if along_the_walk:
        weight, own = np.zeros(g.scopes.size), np.ones(n)
        reached = found.reached_by
        weight[reached[reached >= 0]], own[reached >= 0] = 1.0, 0.0
    else:
        degree = np.diff(g.user_at)
        weight, own = 1.0 / degree[g.scopes], (degree == 0).astype(np.float64)
    of_factor, of_variable = np.empty(g.table.size), np.empty(n)
    rest = weight, own, _room(found.graph)[0], of_factor, of_variable
    _call(found, "dual", g, found.beliefs, found.messages, *rest)
    parts = [*of_factor.tolist(), *of_variable.tolist()]
    mass = math.fsum(map(abs, parts)) + float(np.abs(found.beliefs).sum()) + n
    return math.fsum(parts) + 2.0**-48 * mass  # rounding must not invalidate the bound


def choose_states(found: Messages, noise: np.ndarray | None = None, seconds: float = math.inf) -> np.ndarray:
    """A state for each variable, from max-product: one by one, then all again until none changes.

    Args:
        found: the messages.
        noise: added to the logarithms of each variable's states while choosing.
        seconds: after this many no state is reconsidered.
    """
    until = time.monotonic() + seconds
    g = found.graph.arrays
    states = np.full(g.cards.size, -1, np.int64)
    most = int(g.cards.max(initial=1))
    noisy = g if noise is None else g._replace(local=g.local + noise)
    room, out = (np.empty(most), np.empty(most)), np.zeros(1)
    state = found.walked, found.beliefs, found.messages, states
    for done in range(found.options.max_iter if noise is None else 1):
        if done > 0 and time.monotonic() > until:
            break
        _call(found, "choose", noisy if done == 0 else g, *state, done > 0, *room, out)
        if out[0] == 0.0:
            break
    return states
