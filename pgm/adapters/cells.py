"""Binning of columns: which cell each row is in, and which cells contain rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.adapters.rows import whole
from pgm.errors import InvalidArgument, shown

_FAR = 2.0**52  # cells from the origin; beyond, floats no longer distinguish neighbours
RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")


@dataclass(frozen=True)
class Cells:
    """A grid, and its cells that have rows."""

    starts: np.ndarray  # where cell 0 of each column begins
    widths: np.ndarray
    ends: np.ndarray  # where the last cell ends, itself included; infinity: they go on
    counts: np.ndarray  # how many there are in each column; infinity: they go on to both sides
    filled: np.ndarray  # the cells with rows: a row for each, a column for each column

    @property
    def count(self) -> float:
        """How many cells there are in all."""
        return float(np.prod(self.counts))

    @property
    def volumes(self) -> float:
        """The volume of a cell."""
        return float(np.prod(self.widths))

    def corners(self) -> tuple[np.ndarray, np.ndarray]:
        """Where cells with rows begin and end."""
        low = self.starts + self.filled * self.widths
        return low, low + self.widths

    def find(self, rows: np.ndarray) -> np.ndarray:
        """Which of the cells with rows each row is in; -1: in none of them."""
        codes, inside = _codes(rows, self.starts, self.widths, self.ends, self.counts)
        both = np.concatenate([self.filled, codes])
        _, place = np.unique(both, axis=0, return_inverse=True)
        place = place.reshape(-1)
        mine = np.full(int(place.max()) + 1, -1)
        mine[place[: len(self.filled)]] = np.arange(len(self.filled))
        return np.asarray(np.where(inside, mine[place[len(self.filled) :]], -1))


def cells_of(rows: np.ndarray, bins: Any, width: Any, origin: Any) -> tuple[Cells, np.ndarray]:
    """Cut columns into cells; also which cell each row is in."""
    dim = rows.shape[1]
    if width is not None:
        if bins is not None:
            raise InvalidArgument("Cells are set by bins=, how many, or by width=: give one of the two.")
        widths = _each("width", width, dim)
        if not (widths > 0.0).all():
            raise InvalidArgument(f"width= is a number above 0, or one for each column, not {shown(width)}.")
        starts = _each("origin", 0.0 if origin is None else origin, dim)
        ends = counts = np.full(dim, np.inf)
    else:
        if origin is not None:
            raise InvalidArgument("origin= is where a cell of a given width= begins: set that too.")
        starts, widths, ends, counts = _between(rows, 10 if bins is None else bins)
    codes, inside = _codes(rows, starts, widths, ends, counts)
    assert inside.all()
    filled, place = np.unique(codes, axis=0, return_inverse=True)
    return Cells(starts, widths, ends, counts, filled), place.reshape(-1)


def _between(rows: np.ndarray, bins: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Cells of the same width from the smallest value of each column to the largest."""
    if isinstance(bins, str):
        if bins not in RULES:
            raise InvalidArgument(f"bins= is a whole number or one of {', '.join(RULES)}, not {shown(bins)}.")
        counts = [len(np.histogram_bin_edges(column, bins)) - 1 for column in rows.T]
    else:
        counts = [whole("bins", bins)] * rows.shape[1]
    low, high = rows.min(axis=0), rows.max(axis=0)
    flat = low == high
    low, high = np.where(flat, low - 0.5, low), np.where(flat, high + 0.5, high)
    found = np.array(counts, dtype=np.float64)
    return low, (high - low) / found, high, found


def _codes(
    rows: np.ndarray, starts: np.ndarray, widths: np.ndarray, ends: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The cell of each row, and whether it is one: the last is closed on both sides."""
    off = np.floor((rows - starts) / widths)
    if (np.abs(off) > _FAR).any():
        raise InvalidArgument(
            "A row is more than 2^52 cells away from the origin: take wider cells, or an origin near rows."
        )
    inside = ((rows <= ends) & ((off >= 0.0) | np.isinf(ends))).all(axis=1)
    off = np.where((rows <= ends) & (off >= counts), counts - 1.0, off)
    return off.astype(np.int64), np.asarray(inside)


def _each(name: str, given: Any, dim: int) -> np.ndarray:
    """A value for each column."""
    try:
        found = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.shape not in ((), (dim,)) or not np.isfinite(found).all() or isinstance(given, bool):
        raise InvalidArgument(f"{name}= is a number, or one for each of {dim} columns, not {shown(given)}.")
    return np.broadcast_to(found, (dim,)).copy()
