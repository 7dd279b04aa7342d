"""Bandwidth selection: by rules, and by validation."""

from __future__ import annotations

import math

import numpy as np

from pgm.adapters.windows import SHAPES, distances, log_volume
from pgm.errors import InvalidArgument
from pgm.runtime.progress import report

RULES = ("silverman", "scott", "root", "volume", "validation")
_STEPS = 25  # widths tried, before the best is refined
_RANGE = 40.0  # ratio of the smallest and the largest of them to Silverman's


def rule_width(rule: str, rows: np.ndarray, weights: np.ndarray, window: str, relative: bool) -> float:
    """The width of a rule; `relative`: to a covariance."""
    n, dim = float(weights.sum()), rows.shape[1]
    if rule == "root":
        return 1.0 / math.sqrt(n)
    if rule == "volume":
        return float(n ** (-0.5 / dim))
    factor = (4.0 / ((dim + 2.0) * n) if rule == "silverman" else 1.0 / n) ** (1.0 / (dim + 4.0))
    factor *= _beside_gaussian(window, dim)
    if relative:
        return float(factor)
    variance = weights @ (rows - weights @ rows / n) ** 2 / (n - 1.0) if n > 1.0 else np.zeros(1)
    spread = math.sqrt(variance.mean())
    if not spread > 0.0:
        raise InvalidArgument(
            f'width="{rule}" follows how rows vary, and these do not (n_samples={len(rows)}): set a number.'
        )
    return float(factor * spread)


def _beside_gaussian(window: str, dim: int) -> float:
    """How much wider a window is than a Gaussian one that is as smooth."""
    if window == "gaussian":
        return 1.0
    if window == "cube":  # integral of the square, and variance along a column
        square, variance = 1.0, 1.0 / 12.0
    else:
        square, variance = 2.0 * (dim + 2.0) / (dim + 4.0), 1.0 / (dim + 4.0)
        square /= math.exp(log_volume(window, dim)) * (dim + 2.0) / 2.0
    gaussian = (4.0 * math.pi) ** (-0.5 * dim)
    return float((square / variance**2 / gaussian) ** (1.0 / (dim + 4.0)))


def validated_width(rows: np.ndarray, weights: np.ndarray, window: str) -> float:
    """The width that maximises the leave-one-out likelihood."""
    from scipy.optimize import minimize_scalar

    if len(rows) < 2:
        raise InvalidArgument('width="validation" leaves each row out in turn: there are two at least.')
    start = math.log(rule_width("silverman", rows, weights, window, False))
    tried = np.linspace(start - math.log(_RANGE), start + math.log(_RANGE), _STEPS)
    losses = []
    for i, log_width in enumerate(tried.tolist()):
        report(i, _STEPS, "width of windows")
        losses.append(-left_out(rows, weights, math.exp(log_width), window))
    report(_STEPS, _STEPS, "width of windows")
    best = int(np.argmin(losses))
    if best == 0:
        raise InvalidArgument(
            "The narrower the windows, the more probable is each row by the others: many rows are equal, or "
            "lie on lines. Set width= to a number."
        )
    found = minimize_scalar(
        lambda x: -left_out(rows, weights, math.exp(x), window),
        bounds=(tried[best - 1], tried[min(best + 1, _STEPS - 1)]),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return math.exp(found.x if found.fun < losses[best] else tried[best])


def left_out(rows: np.ndarray, weights: np.ndarray, width: float, window: str) -> float:
    """The leave-one-out log-likelihood."""
    dim, total = rows.shape[1], 0.0
    others = weights.sum() - weights
    places = np.arange(len(rows))
    for part, far in distances(rows, rows, window, "width of windows"):
        here = places[part]
        far *= 1.0 / width**2
        far[np.arange(len(here)), here] = np.inf
        with np.errstate(divide="ignore"):
            if window == "gaussian":
                best = far.min(axis=1)
                far -= best[:, None]
                found = np.log(SHAPES[window](far) @ weights) - 0.5 * best
            else:
                found = np.log(SHAPES[window](far) @ weights)
        total += float(weights[here] @ (found - np.log(others[here])))
    log_peak = dim * math.log(width) + log_volume(window, dim)
    return float(total - weights.sum() * log_peak)
