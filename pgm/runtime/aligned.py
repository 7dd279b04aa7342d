"""Arrays that begin at a cache line, so that an aligned vector load never spans two."""

from __future__ import annotations

import math

import numpy as np

_LINE = 64  # bytes of a cache line


def aligned(shape: tuple[int, ...]) -> np.ndarray:
    """Return an uninitialised array of floats."""
    size = math.prod(shape)
    room = np.empty(size + _LINE // 8)
    skip = -room.ctypes.data % _LINE // 8
    return room[skip : skip + size].reshape(shape)


def aligned_copy(table: np.ndarray) -> np.ndarray:
    """Return a copy of a table that begins at a cache line."""
    made = aligned(table.shape)
    made[...] = table
    return made
