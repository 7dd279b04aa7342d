"""Arrays in JSON, and the statistics that models learn from."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.distributions.parts import Part


def written(statistics: Any) -> dict[str, Any]:
    """Return counts, or weights, means and scatters, as the members of an object."""
    if isinstance(statistics, np.ndarray):
        return {"counts": statistics.tolist()}
    parts = ("weight", "mean", "scatter")
    return {name: getattr(statistics, name).tolist() for name in parts}


def statistics(part: Part, shape: tuple[int, ...], dim: int = 0, more: tuple[str, ...] = ()) -> Any:
    """Return the statistics that this object holds.

    Args:
        part: the object.
        shape: of counts; or how many densities there are.
        dim: how many continuous variables each of these is about; 0: they are counts.
        more: other keys that it may have.
    """
    if not dim:
        part.members("statistics of states", ["counts"], more)
        return numbers(part, "counts", shape)
    part.members("statistics of numbers", ["weight", "mean", "scatter"], more)
    return GaussianStatistics(
        numbers(part, "weight", shape),
        numbers(part, "mean", (*shape, dim)),
        numbers(part, "scatter", (*shape, dim, dim)),
    )


def numbers(part: Part, key: str, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of this shape."""

    def of(inside: Part, rest: tuple[int, ...]) -> Any:
        if not rest:
            return inside.number(key)
        if len(rest) == 1:
            return inside.numbers(rest[0], key)
        if len(inside.elements(f"{key}, {rest[0]} lists")) != rest[0]:
            inside.fail(f"{key}: {rest[0]} lists expected, found {len(inside.value):,}")
        return [of(inside.at(i), rest[1:]) for i in range(rest[0])]

    return np.array(of(part.at(key), shape), dtype=np.float64).reshape(shape)
