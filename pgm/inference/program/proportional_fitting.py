"""Weights that give variables the required marginals (Jeffrey's rule), by iterative proportional fitting.

Weights may exceed the range of a double, as when 1e-165 must become 0.3 in several variables: then they, and
the joint distribution that is fitted, are mantissas and powers of two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from pgm.inference.program.reduction import WideArray

_ERROR = 1e-10  # the largest error of a marginal
_SWEEPS = 20_000
_PASSES = 1_000  # if each sweep costs a run of the engine
_SPAN = 900  # powers of two within one array of doubles

Wides = tuple[np.ndarray, np.ndarray]  # mantissas, and powers of two
Weights = dict[int, Wides]  # for each variable


class NoFit(Exception):
    """The wanted marginals are inconsistent: `error` is how far from them fitting stopped.

    `place` is a variable and a state that was given probability but is impossible.
    """

    def __init__(self, error: float, place: tuple[int, int] | None = None) -> None:
        """Say how far off, or where."""
        super().__init__(error, place)
        self.error, self.place = error, place


def fit_jointly(joint: WideArray, wanted: Mapping[int, np.ndarray], check: Callable[[], None]) -> Weights:
    """Find the weights from the joint distribution of these variables.

    Args:
        joint: the joint distribution, not necessarily normalised: an axis for each variable, in their order.
        wanted: the marginal of each variable.
        check: checks the clock.
    """
    n = len(wanted)
    table, powers = joint
    shapes = [[-1 if j == i else 1 for j in range(n)] for i in range(n)]
    others = [tuple(j for j in range(n) if j != i) for i in range(n)]
    whole, power = _sums(table, powers, tuple(range(n)))
    table, powers = table / whole, None if powers is None else powers - power
    found = _ones(wanted)
    error, last, stale = math.inf, math.inf, 0
    for sweep in range(_SWEEPS):
        if sweep % 64 == 0:
            check()
        error = 0.0
        for i, (v, target) in enumerate(wanted.items()):
            current = _sums(table, powers, others[i])
            error = max(error, _distance(current, target))
            ratio, shift = _corrections(current, target, v)
            found[v] = _times(found[v], (ratio, shift))
            table = table * ratio.reshape(shapes[i])
            if powers is not None:
                table, more = np.frexp(table)
                powers = powers + more + shift.reshape(shapes[i])
        if error < 1e-15 or (error < 1e-12 and error >= last):
            stale += 1
            if stale > 2:
                break
        last = error
    if error > _ERROR:
        raise NoFit(error)
    return found


def fit_by_passes(marginal: Callable[[int, Weights], WideArray], wanted: Mapping[int, np.ndarray]) -> Weights:
    """Find the weights from single marginals, each computed under the weights so far, up to a scale."""
    found = _ones(wanted)
    error = math.inf
    for _ in range(_PASSES):
        error = 0.0
        for v, target in wanted.items():
            table, powers = marginal(v, found)
            whole, power = _sums(table, powers, (0,))
            current = table / whole, np.zeros_like(target, np.int64) if powers is None else powers - power
            error = max(error, _distance(current, target))
            found[v] = _times(found[v], _corrections(current, target, v))
        if error < _ERROR / 100:
            return found
    if error > _ERROR:
        raise NoFit(error)
    return found


def in_doubles(mantissas: np.ndarray, powers: np.ndarray) -> tuple[np.ndarray, ...]:
    """Arrays of doubles whose product is these weights up to a common factor; the largest is 1."""
    top = powers[mantissas > 0].max()
    values = mantissas / mantissas[powers == top].max()
    left = np.where(mantissas > 0, powers - top, 0)
    found = []
    while True:
        step = np.maximum(left, -_SPAN)
        found.append(np.ldexp(values, step))
        left, values = left - step, np.ones_like(values)
        if not left.any():
            return tuple(found)


def _ones(wanted: Mapping[int, np.ndarray]) -> Weights:
    """Weights of one for the states that must be possible."""
    return {v: ((w > 0).astype(np.float64), np.zeros(w.size, np.int64)) for v, w in wanted.items()}


def _sums(table: np.ndarray, powers: np.ndarray | None, axes: tuple[int, ...]) -> Wides:
    """Sums over some axes."""
    if powers is None:
        sums = table.sum(axis=axes)
        return sums, np.zeros(sums.shape, np.int64)
    tops = np.where(table > 0, powers, -(1 << 60)).max(axis=axes, keepdims=True)
    sums = np.ldexp(table, np.clip(powers - tops, -2000, 0)).sum(axis=axes)
    return sums, np.where(sums > 0, tops.reshape(sums.shape), 0)


def _distance(current: Wides, target: np.ndarray) -> float:
    return float(np.abs(np.ldexp(current[0], np.maximum(current[1], -2000)) - target).max())


def _corrections(current: Wides, target: np.ndarray, v: int) -> Wides:
    """The factors that turn the current marginal into the target."""
    sums, powers = current
    out_of_reach = np.flatnonzero((sums <= 0) & (target > 0))
    if out_of_reach.size:
        raise NoFit(float(target[out_of_reach[0]]), (v, int(out_of_reach[0])))
    return np.divide(target, sums, out=np.zeros_like(target), where=target > 0), -powers


def _times(weights: Wides, ratio: Wides) -> Wides:
    mantissas, more = np.frexp(weights[0] * ratio[0])
    return mantissas, weights[1] + ratio[1] + more
