"""Cases of a model with continuous variables, drawn parents first and weighted by the evidence.

Hidden variables are drawn from their distributions given the parents drawn before, and a case is weighted by
the probability or density of the observed ones. So continuous variables may have densities of their own,
follow others by any regression, and decide states by any classifier, with evidence on their descendants.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from graphlib import TopologicalSorter

import numpy as np

from pgm.factors import Dense
from pgm.inference.engines.gaussian import own_densities
from pgm.inference.engines.sampling.hybrid_model import HybridModel, log_normal_or_constant
from pgm.runtime.progress import report as report_progress
from pgm.runtime.room import check_room


class Cases:
    """Cases as they are drawn, variable by variable."""

    def __init__(self, model: HybridModel, n: int, rng: np.random.Generator) -> None:
        """Allocate n of them; `TooLarge` if they do not fit the memory limit."""
        size = 8.0 * n * (model.program.n + 2 * model.g.n + 2)
        check_room(size, f"{n:,} samples of {model.program.n:,} variables take", "Take fewer samples=")
        self.model, self.rng = model, rng
        self.codes = np.zeros((n, model.program.n), np.int64)
        self.values = np.zeros((n, model.g.n), order="F")  # written a column at a time
        self.logs = np.zeros(n)
        self._blocks: set[int] = set()

    def draw(self, needed: Collection[int], done: Collection[int] = ()) -> Cases:
        """Draw these variables, parents first; those in `done` have been drawn already."""
        model = self.model
        order = TopologicalSorter({v: model.parents[v] for v in sorted(needed)}).static_order()
        for i, v in enumerate(order):
            if v not in done:
                model.clock.check("drawing samples")
                report_progress(float(i), float(len(needed)), "drawing")
                self.step(v)
        return self

    def step(self, v: int) -> None:
        """Draw a hidden variable in all cases, or weight the cases by an observed one."""
        model = self.model
        x = int(model.g.index_of[v])
        if x < 0:
            self._state(v)
        elif x in model.g.own:
            self._block(x)
        else:
            self._normal(x)

    def _normal(self, x: int) -> None:
        model = self.model
        mean, sd = model.moments(x, self.codes, self.values)
        if model.seen[x]:
            self.values[:, x] = model.value[x]
            self.logs += log_normal_or_constant(model.value[x] - mean, sd)
        elif x in model.intervals and (sd > 0.0).all():
            self.values[:, x], logs = truncated(mean, sd, *model.intervals[x], self.rng.random(len(mean)))
            self.logs += logs
        else:
            self.values[:, x] = mean + sd * self.rng.standard_normal(len(self.logs))
            self._keep_to_interval(x)

    def _keep_to_interval(self, x: int) -> None:
        """Give weight zero to cases outside the interval that is the evidence on x."""
        if x in self.model.intervals:
            low, high = self.model.intervals[x]
            self.logs[(self.values[:, x] < low) | (self.values[:, x] >= high)] = -math.inf

    def _block(self, x: int) -> None:
        """Draw a block of variables with one joint density, or weight by it, when the first of them comes."""
        if x in self._blocks:
            return
        model = self.model
        columns = own_densities.block_of(model.g, x)
        self._blocks.update(columns)
        last = columns[-1]
        if model.seen[columns].any():
            self.values[:, columns] = model.value[columns]
            logs = model.g.own[last].logs(model.value[columns][np.newaxis])[0]
            self.logs += logs[model.selection(last, self.codes)]
        else:
            self.values[:, columns] = model.g.own[last].draw(model.selection(last, self.codes), self.rng)
            for column in columns:
                self._keep_to_interval(column)

    def _state(self, v: int) -> None:
        model, code = self.model, self.model.hard.get(v)
        score = model.scores.get(v)
        if code is not None and (score or isinstance(model.factors[int(model.place[v])], Dense)):
            self.codes[:, v] = code
            self.logs += model.logs(v, self.codes, self.values)
        elif score is not None:
            above = self.values[:, model.g.index_of[score.continuous]]
            self.codes[:, v] = score.drawn(self.codes[:, score.discrete], above, self.rng)
        else:
            model.draw_state(v, self.codes, self.rng)
            if code is not None:  # a gate is drawn: cases that differ from the evidence get weight zero
                self.logs[self.codes[:, v] != code] = -math.inf
                self.codes[:, v] = code
        for weights in model.weights.get(v, ()):
            with np.errstate(divide="ignore"):
                self.logs += np.log(weights)[self.codes[:, v]]


def truncated(
    mean: np.ndarray, sd: np.ndarray, low: float, high: float, uniforms: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Draws from normal densities truncated to [low, high), and the log probability of that interval.

    Where rounding leaves no finite draw or probability, the draw is the mean and the log is -inf.

    >>> x, logs = truncated(np.zeros(1), np.ones(1), 0.0, np.inf, np.array([0.5]))
    >>> x.round(6).tolist(), logs.round(6).tolist()
    ([0.67449], [-0.693147])
    """
    from scipy.special import log_ndtr, ndtri_exp

    a, b = (low - mean) / sd, (high - mean) / sd
    flipped = a > 0.0  # the lower tail has more digits
    a, b = np.where(flipped, -b, a), np.where(flipped, -a, b)
    top, bottom = log_ndtr(b), log_ndtr(a)
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = top + np.log1p(-np.exp(bottom - top))
        # the quantile at the share u between the ends: log(exp(bottom) + u (exp(top) - exp(bottom)))
        share = np.exp(bottom - top) + uniforms * -np.expm1(bottom - top)
        z = ndtri_exp(np.minimum(top + np.log(share), top))
    found = mean + sd * np.where(flipped, -z, z)
    bad = ~np.isfinite(found) | ~np.isfinite(logs)
    found = np.clip(found, low, np.nextafter(high, -math.inf))
    return np.where(bad, mean, found), np.where(bad, -math.inf, logs)
