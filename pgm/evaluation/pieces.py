"""The possible observations of a decision rule: states, and the class-conditional density of a variable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.distributions import Gaussian
from pgm.errors import InvalidArgument, shown
from pgm.models.bayesian_network import BayesianNetwork

_TAIL = 1e-15  # probability of each tail that the grid leaves out


@dataclass(frozen=True)
class Piece:
    """Observable states: P(class, these states), and the density of the continuous variable in each class."""

    seen: tuple[Any, ...]
    weights: np.ndarray
    densities: tuple[Any, ...] | None  # each with pdf and cdf; None: nothing continuous is observed


def density_of(name: Any, density: Any) -> Any:
    """Something with pdf and cdf."""
    if isinstance(density, Gaussian):
        net = BayesianNetwork()
        net.add("x", density)
        return net.query("x")
    if not callable(getattr(density, "pdf", None)) or not callable(getattr(density, "cdf", None)):
        raise InvalidArgument(
            f"The density of the class {shown(name)} needs pdf and cdf, as pgm.Gaussian(0, 1) or "
            f"scipy.stats.norm(0, 1) have; {shown(density)} lacks them."
        )
    return density


def joint_at(piece: Piece, x: np.ndarray) -> np.ndarray:
    """P(class, states) times the density of the class, a row for each class."""
    assert piece.densities is not None
    return np.array(
        [
            np.zeros_like(x) if density is None else p * np.asarray(density.pdf(x), dtype=np.float64)
            for p, density in zip(piece.weights.tolist(), piece.densities, strict=True)
        ]
    )


def reach(piece: Piece) -> tuple[float, float]:
    """Bounds outside of which there is almost no probability."""
    assert piece.densities is not None
    ends = []
    for density in piece.densities:
        if density is not None:
            quantile = density.ppf if hasattr(density, "ppf") else density.quantile
            for q in (_TAIL, 1.0 - _TAIL):
                ends.append(float(quantile(q)))
    low, high = min(ends), max(ends)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InvalidArgument(
            "A density has infinite quantiles near 0 or 1, so there is no range to search for boundaries."
        )
    return low, high if high > low else low + 1.0


def between(piece: Piece, edges: np.ndarray) -> np.ndarray:
    """P(class, states, value between two edges), a row for each class."""
    assert piece.densities is not None
    found = np.zeros((len(piece.weights), len(edges) - 1))
    inner = edges[1:-1]
    for c, (p, density) in enumerate(zip(piece.weights.tolist(), piece.densities, strict=True)):
        if density is not None:
            below = np.concatenate(
                [[0.0], np.asarray(density.cdf(inner), dtype=np.float64).reshape(-1), [1.0]]
            )
            found[c] = p * np.diff(below)
    return found
