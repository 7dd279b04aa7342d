"""Gaussian windows on a grid: rows are binned, and convolved by Fourier transform."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from pgm.runtime.room import check_room

_BLOCK = 1 << 15  # rows at once
_REACH = 6.0  # widths that the grid goes beyond the rows: a window has less than 1e-8 of its peak there


@dataclass(frozen=True)
class Grid:
    """Densities at the points of a grid, with linear interpolation."""

    origin: np.ndarray
    step: np.ndarray
    values: np.ndarray
    shares: np.ndarray  # of the rows, at each point
    error: float  # by which a density may be off anywhere

    @property
    def end(self) -> np.ndarray:
        """The last point in each column."""
        return np.asarray(self.origin + self.step * (np.array(self.values.shape) - 1))

    def at(self, places: np.ndarray) -> np.ndarray:
        """The density at places; 0 beyond the grid."""
        size = np.array(self.values.shape)
        off = (places - self.origin) / self.step
        inside = ((off >= 0.0) & (off <= size - 1)).all(axis=1)
        off = np.clip(off, 0.0, size - 1)
        low = np.minimum(off.astype(np.int64), size - 2)
        share = off - low
        found = np.zeros(len(places))
        for corner in itertools.product((0, 1), repeat=len(size)):
            weight = np.where(corner, share, 1.0 - share).prod(axis=1)
            found += weight * self.values[tuple((low + corner).T)]
        return np.where(inside, found, 0.0)


def spread_on_grid(rows: np.ndarray, weights: np.ndarray, widths: np.ndarray, count: int) -> Grid:
    """Bin rows linearly on a grid, and convolve with a Gaussian window.

    Linear binning and linear interpolation each have an error of at most step^2 / 8 times the second
    derivative, which for a window is largest at its centre.
    """
    from scipy import fft

    dim = rows.shape[1]
    check_room(
        48.0 * (2.0 * count) ** dim,
        f"A grid of {count:,} points in each of {dim} columns has {count**dim:,} points, and spreading "
        "windows over it takes",
        "Take fewer points, grid=None",
    )
    low, high = rows.min(axis=0), rows.max(axis=0)
    origin = low - _REACH * widths
    step = (high + _REACH * widths - origin) / (count - 1)
    counts = _shared(rows, weights, origin, step, count)
    peak = float(np.prod(1.0 / (math.sqrt(2.0 * math.pi) * widths)))
    # The window at all distances on the grid, around a place where nothing wraps into what is read.
    transformed = fft.rfftn(counts, [2 * count] * dim)
    window = np.ones((1,) * dim) * peak
    for j in range(dim):
        there = np.minimum(np.arange(2 * count), 2 * count - np.arange(2 * count)) * step[j] / widths[j]
        shape = [1] * dim
        shape[j] = 2 * count
        window = window * np.exp(-0.5 * there**2).reshape(shape)
    transformed *= fft.rfftn(window)
    values = fft.irfftn(transformed, [2 * count] * dim)[(slice(count),) * dim] / weights.sum()
    values = np.maximum(values, 0.0)  # rounding of the transform
    error = 2.0 * peak * float(((step / widths) ** 2).sum()) / 8.0
    return Grid(origin, step, values, counts / weights.sum(), error + peak * math.exp(-0.5 * _REACH**2))


def _shared(
    rows: np.ndarray, weights: np.ndarray, origin: np.ndarray, step: np.ndarray, count: int
) -> np.ndarray:
    """The share of the rows at each point of the grid."""
    dim = rows.shape[1]
    size = count**dim
    found = np.zeros(size)
    for first in range(0, len(rows), _BLOCK):
        off = (rows[first : first + _BLOCK] - origin) / step
        low = np.minimum(off.astype(np.int64), count - 2)
        share = off - low
        for corner in itertools.product((0, 1), repeat=dim):
            place, weight = np.zeros(len(off), np.int64), weights[first : first + _BLOCK]
            for j, one in enumerate(corner):
                place = place * count + low[:, j] + one
                weight = weight * (share[:, j] if one else 1.0 - share[:, j])
            found += np.bincount(place, weight, size)
    return found.reshape((count,) * dim)
