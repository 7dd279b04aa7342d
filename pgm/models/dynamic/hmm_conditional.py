"""Models of several classes, trained discriminatively: they maximise P(class | sequence).

The gradient is that of each model's log-likelihood, with sequences weighted by how far P(class | sequence) is
off (Bahl, Brown, de Souza & Mercer 1986); the search is quasi-Newton (L-BFGS).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.distributions.coordinates import of_shares, shares_at
from pgm.errors import ImpossibleEvidence, InvalidArgument, OutOfTime
from pgm.frames import Sequences
from pgm.inference.engines import chain as engine
from pgm.results import FitReport
from pgm.runtime.clock import start_clock
from pgm.runtime.progress import report as report_progress

from .hmm_learning import Parameters

if TYPE_CHECKING:
    from .hmm import HMM

_DIFFERENCE = 1e-5  # half the width of central differences along the coordinates of an emission


def fit(
    models: list[HMM],
    read: Sequences,
    codes: np.ndarray,
    weight: np.ndarray,
    shares: np.ndarray,
    max_iter: int,
    tol: float,
) -> FitReport:
    """Maximise P(class | sequence) from the models' parameters; the report has its logarithms."""
    from scipy import optimize

    for model in models:
        if not hasattr(model.emission, "coordinates"):
            raise InvalidArgument(f'method="conditional" cannot fit a {type(model.emission).__name__}.')
    learning = _ConditionalLearning(models, read, codes, weight, shares)
    begin = np.concatenate([_coordinates(one) for one in learning.begin])
    log = learning.with_gradient(begin)[0]
    logs, best = [log], begin

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        learning.clock.check("conditional likelihood")
        try:
            value, slope = learning.with_gradient(x)
        except (ImpossibleEvidence, InvalidArgument):  # beyond the range of doubles
            return 1e300, np.zeros_like(x)
        return -value, -slope

    def stepped(*, intermediate_result: Any) -> None:
        nonlocal best
        best = intermediate_result.x.copy()
        logs.append(-float(intermediate_result.fun))
        report_progress(len(logs) - 1, max_iter, "conditional likelihood")

    search: Any = optimize.minimize
    stopped = "max_iter"
    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": tol, "gtol": 0.0}
    try:
        found = search(loss, begin, jac=True, method="L-BFGS-B", callback=stepped, options=options)
        stopped = {0: "tol", 1: "max_iter"}.get(int(found.status), "rounding")
    except OutOfTime:
        stopped = "time limit"
    for model, now in zip(models, learning.at(best), strict=True):
        model._take(now)
    return FitReport(tuple(logs), stopped)


class _ConditionalLearning:
    def __init__(
        self, models: list[HMM], read: Sequences, codes: np.ndarray, weight: np.ndarray, shares: np.ndarray
    ) -> None:
        self.read, self.weight, self.clock = read, weight, start_clock()
        self.begin = [Parameters(model.initial, model.transition, model.emission) for model in models]
        self.observed = [model.emission.read(read) for model in models]
        with np.errstate(divide="ignore"):
            self.logs_prior = np.log(shares)
        self.own = np.arange(len(models)) == codes[:, None]  # (sequences, classes)

    def at(self, x: np.ndarray) -> list[Parameters]:
        """The parameters of all models at these coordinates."""
        found, begin = [], 0
        for one in self.begin:
            end = begin + _coordinates(one).size
            found.append(_parameters_at(x[begin:end], one))
            begin = end
        return found

    def with_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The log-probability of the classes, and its gradient."""
        now = self.at(x)
        chains = [engine.Chain(one.start, one.move) for one in now]
        rows = [
            engine.Rows(one.emission.log_rows(seen.rows), seen.code, self.read.starts)
            for one, seen in zip(now, self.observed, strict=True)
        ]
        try:
            logs = np.column_stack(
                [engine.log_likelihoods(c, r, self.clock) for c, r in zip(chains, rows, strict=True)]
            )
        except engine.ImpossibleStep as error:
            raise ImpossibleEvidence(
                f"{self.read.place(error.row)}: what is observed here is impossible in one of the classes: "
                "give prior= some pseudo-counts."
            ) from None
        logs += self.logs_prior
        most = logs.max(axis=1, keepdims=True)
        believed = logs - (most + np.log(np.exp(logs - most).sum(axis=1, keepdims=True)))
        off = self.weight[:, None] * (self.own - np.exp(believed))
        slopes = []
        for c, (one, seen) in enumerate(zip(now, self.observed, strict=True)):
            found = engine.expected(chains[c], rows[c], np.ascontiguousarray(off[:, c]), self.clock)
            slopes += [
                _of_counts(found.first[None], one.start[None]),
                _of_counts(found.pairs, one.move),
                _of_emission(one.emission, seen.rows, found.seen),
            ]
        return float(self.weight @ believed[self.own]), np.concatenate(slopes)


def _coordinates(now: Parameters) -> np.ndarray:
    emission: Any = now.emission
    return np.concatenate([of_shares(now.start), of_shares(now.move), emission.coordinates()])


def _parameters_at(x: np.ndarray, like: Parameters) -> Parameters:
    emission: Any = like.emission
    first, many = int((like.start > 0.0).sum()), int((like.move > 0.0).sum())
    start, move = shares_at(x[:first], like.start), shares_at(x[first : first + many], like.move)
    return Parameters(start, move, emission.at(x[first + many :]))


def _of_counts(counts: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The gradient along the logarithms of probabilities, which are normalised."""
    return np.asarray((counts - shares * counts.sum(axis=1, keepdims=True))[shares > 0.0])


def _of_emission(emission: Any, rows: np.ndarray, off: np.ndarray) -> np.ndarray:
    """The gradient along the coordinates of an emission, for rows whose weights have either sign."""
    more = emission.gathered(rows, np.maximum(off, 0.0))
    less = emission.gathered(rows, np.maximum(-off, 0.0))
    x = emission.coordinates()
    found: np.ndarray = np.empty_like(x)
    for i in range(x.size):
        ends = []
        for by in (-_DIFFERENCE, _DIFFERENCE):
            moved = x.copy()
            moved[i] += by
            there = emission.at(moved)
            ends.append(there.expected_log(more) - there.expected_log(less))
        found[i] = (ends[1] - ends[0]) / (2.0 * _DIFFERENCE)
    return found
