"""Learning switching linear systems: EM over every path of regimes, or over Kim's smoother."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, listed, shown
from pgm.inference.engines import switching as engine
from pgm.learning import EStep, climb
from pgm.learning import linear_systems as em
from pgm.results import FitReport
from pgm.runtime.clock import start_clock

from . import linear_learning as linear
from . import switching_answers as answers
from .checks import normalised, weights_of
from .linear_questions import Given, Parameters

if TYPE_CHECKING:
    from .switching_linear_dynamical_system import SwitchingLinearDynamicalSystem

_CHAIN = ("initial", "transition")


@dataclass(frozen=True)
class SwitchingParameters:
    """The parameters of a switching system."""

    initial: np.ndarray
    transition: np.ndarray
    systems: tuple[Parameters, ...]


class SwitchingLearning:
    """One call of `fit`: the model, what was observed of it, and what stays fixed."""

    def __init__(
        self, model: SwitchingLinearDynamicalSystem, given: Given, how: Any, fixed: Any, weights: Any
    ) -> None:
        if how not in ("auto", "exact", "gpb2"):
            raise InvalidArgument(
                f'engine= of a fit is "auto" or "exact", over every path of regimes, or "gpb2", which '
                f"approximates them by Kim's smoother; not {shown(how)}."
            )
        self.model, self.given, self.how, self.clock = model, given, how, start_clock()
        self.weights = weights_of(weights, len(given.y))
        fixed = [fixed] if isinstance(fixed, str) else fixed
        if not isinstance(fixed, Iterable) or isinstance(fixed, Mapping):
            raise InvalidArgument(f"fixed= takes names of what stays in all regimes, not {shown(fixed)}.")
        held = list(fixed)
        first = model._systems[0]._p
        there = [*_CHAIN, *(name for name in linear.NAMES if getattr(first, name) is not None)]
        for name in held:
            if name not in there:
                raise InvalidArgument(f"fixed= names {shown(name)}; there are {listed(there)}.")
        self.held = set(held)
        if self.held >= set(there):
            raise InvalidArgument("fixed= holds everything: there is nothing to learn.")
        every = np.concatenate(given.y)
        if np.isnan(every).all():
            raise InvalidArgument("Nothing was observed: there is nothing to learn from.")
        self.sizes = np.nanmean(np.where(np.isnan(every), np.nan, every) ** 2, axis=0)
        self.n_rows = int((~np.isnan(every)).any(axis=1).sum())
        self.best: tuple[float, SwitchingParameters] | None = None

    def run(self, max_iter: int, tol: float) -> tuple[SwitchingParameters, FitReport]:
        """Run EM from the current parameters."""
        begin = SwitchingParameters(
            self.model.initial, self.model.transition, tuple(s._p for s in self.model._systems)
        )
        found, reports, _ = climb(
            [lambda: begin], self.expect, self.maximise, max_iter=max_iter, tol=tol, clock=self.clock
        )
        report = reports[0].changed(n_parameters=self._n_free(found), n_rows=self.n_rows)
        if self.how != "gpb2":
            return found, report
        assert self.best is not None  # an approximate likelihood may fall: the highest is kept
        logs = report.log_likelihoods
        top = int(np.argmax(logs))
        kept = report.changed(log_likelihoods=logs[: top + 1], engine="gpb2")
        return self.best[1], kept

    def expect(self, now: SwitchingParameters) -> EStep[list[Any]]:
        """The E-step: for each series, the expected statistics of each regime."""
        model = self.model._with_parameters(now)
        r, log, found = model._regimes, 0.0, []
        for i, (y, weight) in enumerate(zip(self.given.y, self.weights, strict=True)):
            s = model._steps(self.given, i)
            expected = engine.Expected(r.count, len(y), r.size)
            steps = answers.expect(r, s, self.how, expected, self.clock)
            log += float(weight) * float(steps.sum())
            found.append(expected)
        if self.best is None or log > self.best[0]:
            self.best = log, now
        return EStep(log, log, found)

    def maximise(self, now: SwitchingParameters, found: list[Any], iteration: int) -> SwitchingParameters:
        """The M-step: probabilities of regimes, and regressions of each."""
        first = sum(w * e.weight[0] for w, e in zip(self.weights, found, strict=True))
        pairs = sum(w * e.pairs for w, e in zip(self.weights, found, strict=True))
        initial, transition = now.initial, now.transition
        if "initial" not in self.held:
            initial = normalised(first[None], now.initial[None])[0]
        if "transition" not in self.held:
            transition = normalised(pairs, now.transition)
        systems = tuple(self._maximised(p, k, found, iteration) for k, p in enumerate(now.systems))
        return SwitchingParameters(initial, transition, systems)

    def _maximised(self, p: Parameters, k: int, found: list[Any], iteration: int) -> Parameters:
        total: em.Moments | None = None
        for i, (weight, expected) in enumerate(zip(self.weights, found, strict=True)):
            u = None if self.given.inputs is None else self.given.inputs[i]
            own = _moments(p, k, expected, self.given.y[i], u).weighted(float(weight))
            total = own if total is None else total + own
        assert total is not None
        fixed = [name for name in self.held if name not in _CHAIN]
        if len(fixed) == sum(getattr(p, name) is not None for name in linear.NAMES):
            return p
        names = self.model.observations
        return linear.maximised(p, total, linear.free_of(p, fixed), {}, self.sizes, names, iteration)

    def _n_free(self, now: SwitchingParameters) -> int:
        count = 0
        if "initial" not in self.held:
            count += int((now.initial > 0).sum()) - 1
        if "transition" not in self.held:
            count += int(np.maximum((now.transition > 0).sum(axis=1) - 1, 0).sum())
        fixed = [name for name in self.held if name not in _CHAIN]
        for p in now.systems:
            if len(fixed) < sum(getattr(p, name) is not None for name in linear.NAMES):
                count += linear.n_free(linear.free_of(p, fixed))
        return count


def _moments(p: Parameters, k: int, e: Any, y: np.ndarray, u: np.ndarray | None) -> em.Moments:
    """The expected moments of one regime of one series."""
    T, n = len(y), p.n
    z, zz = _regressors(e.x[:, k], e.xx[:, k], e.weight[:, k], u)
    looks = em.outputs(y, z, zz, e.weight[:, k], linear.stacked(p, "CDdR"), p.R)
    w = e.weight[1:, k]
    before, square = _regressors(e.before[:, k], e.before_xx[:, k], w, None if u is None else u[:-1])
    xz = np.zeros((n, before.shape[1]))
    xz[:, :n] = e.after_before[:, k].sum(axis=0)
    if u is not None:
        xz[:, n:-1] = e.x[1:, k].T @ u[: T - 1]
    xz[:, -1] = e.x[1:, k].sum(axis=0)
    moves = em.RegressionMoments(
        np.full(n, w.sum()), square.sum(axis=0, keepdims=True), xz, e.xx[1:, k].sum(axis=0)
    )
    one = np.full((1, 1, 1), e.weight[0, k])
    start = em.RegressionMoments(np.full(n, e.weight[0, k]), one, e.x[:1, k].T.copy(), e.xx[0, k])
    return em.Moments(start, moves, looks)


def _regressors(
    x: np.ndarray, xx: np.ndarray, w: np.ndarray, u: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The weighted first and second moments of (x, u, 1), (T, k) and (T, k, k)."""
    known = np.ones((len(x), 1)) if u is None else np.hstack([u, np.ones((len(x), 1))])
    mixed = x[:, :, None] * known[:, None, :]
    below = known[:, :, None] * known[:, None, :] * w[:, None, None]
    zz = np.concatenate(
        [np.concatenate([xx, mixed], axis=2), np.concatenate([mixed.transpose(0, 2, 1), below], axis=2)],
        axis=1,
    )
    return np.hstack([x, known * w[:, None]]), zz
