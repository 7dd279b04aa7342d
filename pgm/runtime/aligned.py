"""Arrays that begin with a line of the cache: what is read of them in one go never spans two."""

from __future__ import annotations

import math

import numpy as np

_LINE = 64  # bytes


def aligned(shape: tuple[int, ...]) -> np.ndarray:
    """Return an array of floats, without values yet."""
    size = math.prod(shape)
    room = np.empty(size + _LINE // 8)
    skip = -room.ctypes.data % _LINE // 8
    return room[skip : skip + size].reshape(shape)


def aligned_copy(table: np.ndarray) -> np.ndarray:
    """Return a copy of a table, row after row."""
    made = aligned(table.shape)
    made[...] = table
    return made
