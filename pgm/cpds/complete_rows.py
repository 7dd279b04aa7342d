"""Complete rows of a family, as codes with weights: from a frame, or from expected counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pgm import frames
from pgm.errors import InvalidArgument, InvalidEvidence, InvalidFrame, UnknownVariable, listed, nearest, shown
from pgm.variables import Variable, as_float

from .statistics import Codes
from .table_input import Array, float_array


def codes_of_row(variables: Sequence[Variable], row: Any) -> Codes:
    """Return the codes of one row, a state for each of the variables."""
    if not isinstance(row, Mapping):
        raise InvalidEvidence(f"A row is a dict {{name: state}}, not {shown(row)}.")
    known = {v.name for v in variables}
    for name in row:
        if name not in known:
            raise UnknownVariable(name, [v.name for v in variables])
    missing = [v.name for v in variables if v.name not in row]
    if missing:
        raise InvalidEvidence(f"The row {shown(dict(row))} has no state for {listed(missing)}.")
    return np.array([v.code(row[v.name]) for v in variables], dtype=np.int64)


def values_of_row(variables: Sequence[Variable], row: Any) -> Array:
    """Return one row with codes of states and values of continuous variables: (1, variables)."""
    found = codes_of_row(variables, row).astype(np.float64)
    for i, v in enumerate(variables):
        if v.continuous:
            found[i] = as_float(row[v.name])
    return found[np.newaxis]


def values_of_frame(child: str, variables: Sequence[Variable], frame: Any) -> Array:
    """Return the rows of a frame, codes of states and values of continuous variables: (rows, variables).

    No column or cell may be missing; `child` is named if one is.
    """
    remedy = "Leave such rows out"
    states = frames.columns(frame, {v.name: v for v in variables if not v.continuous}, remedy=remedy).codes
    values = frames.real_columns(frame, {v.name: v for v in variables if v.continuous}, remedy=remedy).values
    found = {name: np.where(codes < 0, np.nan, codes) for name, codes in states.items()} | values
    for v in variables:
        if v.name not in found or np.isnan(found[v.name]).any():
            raise InvalidFrame(f"{child!r}: every row needs a value of {v.name!r}.")
    return np.column_stack([found[v.name] for v in variables])


def codes_of_frame(variables: Sequence[Variable], frame: Any) -> Codes:
    """Return the codes of a frame, a row each, (rows, variables); no column or cell may be missing."""
    if frame is None:
        raise InvalidFrame(f"A frame with the columns {listed([v.name for v in variables])} is needed.")
    found = frames.columns(frame, {v.name: v for v in variables}, remedy="Leave such rows out")
    absent = [v.name for v in variables if v.name not in found.codes]
    if absent:
        hint = nearest(absent[0], [name for name in frames.names_of(frame) if name not in found.codes])
        raise InvalidFrame(f"The frame has no column {listed(absent)}.{hint}")
    codes = np.empty((found.n_rows, len(variables)), dtype=np.int64)
    for i, v in enumerate(variables):
        codes[:, i] = found.codes[v.name]
        if codes.size and codes[:, i].min() < 0:
            row = int(codes[:, i].argmin())
            raise InvalidFrame(
                f"Row {row:,} (the first is 0) has no value for {v.name!r}. One distribution is fitted to "
                "complete rows, or to expected counts."
            )
    return codes


def weighted_rows(variables: Sequence[Variable], data: Any, weights: Any) -> tuple[Codes, Array]:
    """Return rows of codes and their weights; `variables` has the child last."""
    child = variables[-1].name
    if isinstance(data, np.ndarray) and data.dtype.names is None:
        counts = float_array(f"{child!r}, expected counts", data)
        shape = tuple(v.card for v in variables)
        if counts.shape != shape:
            raise InvalidFrame(
                f"{child!r}: expected counts have the shape of the table, {shape}, not {counts.shape}."
            )
        if weights is not None:
            raise InvalidArgument("weights= are for the rows of a frame; expected counts have their own.")
        _check(child, counts.ravel(), "count")
        codes = np.argwhere(counts > 0).astype(np.int64)
        return codes, counts[counts > 0]
    codes = codes_of_frame(variables, data)
    if weights is None:
        if not len(codes):
            raise InvalidFrame(f"{child!r}: there are no rows to fit to.")
        return codes, np.ones(len(codes))
    found = float_array(f"{child!r}, weights", weights)
    if found.shape != (len(codes),):
        raise InvalidArgument(f"{child!r}: one weight for each of the {len(codes):,} rows is expected.")
    _check(child, found, "weight")
    return codes[found > 0], found[found > 0]


def _check(child: str, found: Array, what: str) -> None:
    bad = ~((found >= 0.0) & (found < math.inf))
    if bad.any():
        at = int(bad.argmax())
        raise InvalidArgument(
            f"{child!r}: the {what} at {at:,} is {float(found[at])!r}; it must be a non-negative number."
        )
    if not found.any():
        raise InvalidFrame(f"{child!r}: every {what} is 0, so there is nothing to fit to.")
