"""Rows as estimators take them: data frames, or arrays whose columns have positions instead of names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.errors import InvalidFrame, shown
from pgm.runtime.loops import Loops
from pgm.variables import REAL, Domain, Variable, as_domain

from .reading import columns, names_of, real_columns
from .undeclared import Observations, observations

MATRICES = Loops("pgm.frames.compiled", "reading rows")
_WIDE = 1 << 16  # the widest range of integers in a column that is looked up in a table


class NotNumeric(InvalidFrame, TypeError):
    """A cell that is neither numeric nor a state."""


@dataclass(frozen=True, slots=True)
class Features:
    """Rows to predict, with a name for each column."""

    names: tuple[str, ...]
    named: bool  # False: the columns had positions only, and are called x0, x1, ...
    frame: Any  # in a form that the rest of this room reads
    whole: np.ndarray | None  # all columns as one array (rows, columns) of int64, if they are integers


def features(rows: Any) -> Features:
    """Accept rows of any kind: a frame, a dict of columns, a list of dicts or of rows, an array.

    Raises:
        InvalidFrame: the rows do not have two dimensions, there is no row or no column, or they are sparse
            or complex.

    >>> features([[1, 2], [3, 4]]).names, features({"rain": [True]}).names
    (('x0', 'x1'), ('rain',))
    """
    if hasattr(rows, "tocsr"):
        raise InvalidFrame("Sparse rows are not read: pass them dense, rows.toarray().")
    array = _array(rows)
    if array is None:
        names = list(names_of(rows))
        if not names:
            raise InvalidFrame(f"{shown(rows)} has no columns: pass a data frame, or an array of rows.")
        if all(isinstance(name, str) for name in names):
            return Features(tuple(map(str, names)), True, rows, None)
        found = {f"x{j}": rows[name] for j, name in enumerate(names)}
        return Features(tuple(found), False, found, None)
    if array.ndim != 2:
        raise InvalidFrame(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: array.reshape(-1, 1) if "
            "it has one column, array.reshape(1, -1) if it is one row."
        )
    if array.dtype.kind == "c":
        raise InvalidFrame(
            "Complex data not supported: classes are distinguished by states and real numbers."
        )
    if array.shape[1] == 0:
        raise InvalidFrame(f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.shape[0] == 0:
        raise InvalidFrame(f"0 sample(s) (shape={array.shape}) while a minimum of 1 is required: no rows.")
    if array.dtype.kind == "O":
        _refuse_things(array)
    places = tuple([f"x{j}" for j in range(array.shape[1])])
    whole = None
    if array.dtype.kind in "iu" and array.dtype != np.uint64:
        whole = np.ascontiguousarray(array, np.int64)
    return Features(places, False, {name: array[:, j] for j, name in enumerate(places)}, whole)


def _array(rows: Any) -> np.ndarray | None:
    """The rows as an array; None: they are a frame."""
    if isinstance(rows, np.ndarray):
        return rows if rows.dtype.names is None else None
    if isinstance(rows, list | tuple):
        if rows and isinstance(rows[0], Mapping):
            return None
        try:
            found = np.asarray(rows)
        except ValueError:
            raise InvalidFrame("The rows differ in length: each has a value for every column.") from None
        return np.array(rows, dtype=object) if found.dtype.kind in "US" else found
    if isinstance(rows, Mapping) or hasattr(rows, "columns") or hasattr(rows, "schema"):
        return None
    if hasattr(rows, "__array__"):
        return np.asarray(rows)
    if next(iter(names_of(rows)), None) is None:
        raise InvalidFrame(f"{shown(rows)} is neither a data frame nor an array of rows.")
    return None


def _refuse_things(array: np.ndarray) -> None:
    for (i, j), cell in np.ndenumerate(array):
        if isinstance(cell, dict | list | set):
            raise NotNumeric(
                f"Row {i:,}, column {j} (the first is 0): the argument must be a string or a number, not "
                f"{shown(cell)}."
            )


# --- rows to learn from ---


def learned(
    given: Features,
    *,
    states: Mapping[str, Any],
    continuous: Iterable[str],
    check: Callable[[], None] = lambda: None,
) -> Observations:
    """Read rows with unknown columns; in an array of floats every column is continuous."""
    array = None if given.named else given.frame
    real = {name: None for name in continuous}
    if given.whole is not None and not states and not real:
        found = _whole(given, check)
        if found is not None:
            return found
    if array is not None:
        for name, column in array.items():
            if isinstance(column, np.ndarray) and column.dtype.kind == "f" and name not in states:
                real[name] = None
            elif isinstance(column, np.ndarray) and column.dtype.kind == "O" and name not in states:
                if all(isinstance(cell, float | np.floating) or cell is None for cell in column):
                    real[name] = None
    return observations(given.frame, states=states, continuous=list(real), names=given.names, check=check)


def _whole(given: Features, check: Callable[[], None]) -> Observations | None:
    """Integer columns with a narrow range, all in one pass; None: the range is wide."""
    values = given.whole
    assert values is not None
    low, high = values.min(axis=0), values.max(axis=0)
    sizes = high - low + 1  # wraps around where the range is wider than any integer
    if ((sizes < 1) | (sizes > _WIDE)).any() or sizes.sum() > 4 * _WIDE:
        return None
    begin = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    table = (np.arange(int(sizes.sum())) - np.repeat(begin, sizes)).astype(np.int32)
    codes = np.empty((values.shape[1], values.shape[0]), np.int32)
    MATRICES.look_up(values, low, sizes, begin, table, codes)
    check()
    variables, found = {}, {}
    for j, name in enumerate(given.names):
        there = np.flatnonzero(np.bincount(codes[j], minlength=int(sizes[j])))
        variables[name] = Variable.of(name, as_domain((there + int(low[j])).tolist(), declared=False))
        found[name] = codes[j]
        if there.size < sizes[j]:
            place = np.full(int(sizes[j]), -1, np.int32)
            place[there] = np.arange(there.size)
            found[name] = place[codes[j]]
    return Observations(len(values), variables, found, {})


# --- rows to ask about ---


def observed(
    given: Features,
    variables: Mapping[str, Variable],
    *,
    bad: str = "raise",
    check: Callable[[], None] = lambda: None,
) -> Observations:
    """Read rows whose columns are these variables; an absent column counts as missing values."""
    remedy = 'unknown="missing" takes such values as gaps'
    if given.whole is not None:
        codes = _looked_up(given, variables)
        if codes is not None:
            return Observations(len(given.whole), dict(variables), codes, {})
    states = {name: v for name, v in variables.items() if not v.continuous}
    reals = {name: v for name, v in variables.items() if v.continuous}
    coded = columns(given.frame, states, bad=bad, remedy=remedy, check=check)
    real = real_columns(given.frame, reals, check=check)
    n = max(coded.n_rows, real.n_rows)
    return Observations(n, dict(variables), coded.codes, real.values)


def _looked_up(given: Features, variables: Mapping[str, Variable]) -> dict[str, np.ndarray] | None:
    """The codes of integer states, in one pass; None: a state or value is of another kind."""
    values = given.whole
    assert values is not None
    each: list[tuple[int, int, np.ndarray]] = []
    for name in given.names:
        place = _place(variables[name].domain) if name in variables else None
        if place is None:
            return None
        each.append(place)
    low = np.array([first for first, _, _ in each], np.int64)
    sizes = np.array([size for _, size, _ in each], np.int64)
    begin = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    codes = np.empty((values.shape[1], values.shape[0]), np.int32)
    if MATRICES.look_up(values, low, sizes, begin, np.concatenate([t for _, _, t in each]), codes):
        return None  # the slow way says which value is not a state
    return dict(zip(given.names, codes, strict=True))


def _place(domain: Domain) -> tuple[int, int, np.ndarray] | None:
    """A lookup table for the codes of integers: the smallest, the size, and the code of each or -1."""
    if domain is REAL or not all(type(state) in (int, bool) for state in domain.states):
        return None
    states = [int(state) for state in domain.states]
    low, size = min(states), max(states) - min(states) + 1
    if size > _WIDE or getattr(domain, "bins", None) is not None:
        return None
    table = np.full(size, -1, np.int32)
    table[np.array(states) - low] = np.arange(len(states))
    return low, size, table
