"""Undeclared states, read off the column: booleans, texts, integers and categories are states.

Floats and decimals with decimal places are measurements, unless all of them are whole numbers: those
may be codes, and the user must decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidFrame, InvalidVariable, shown
from pgm.frames.coded import Coded
from pgm.frames.reading import _NARROW, Column, _read
from pgm.variables import REAL, Domain, as_domain, is_missing

if TYPE_CHECKING:
    import narwhals as nw
else:
    from pgm.frames import narwhals_later as nw

_SHOWN = 3  # values that an error shows


def domains_of(frame: Any, names: Iterable[str]) -> dict[str, Domain]:
    """The domain of each of these columns that the frame has, inferred from its values.

    Raises:
        InvalidFrame: a column has no value, holds whole numbers as floats, or has values of several kinds.

    >>> frame = {"rain": ["no", "yes"], "wet": [True, None], "mm": [0.5, 2.25]}
    >>> found = domains_of(frame, ["rain", "wet", "mm"])
    >>> {name: domain.states for name, domain in found.items()}
    {'rain': ('no', 'yes'), 'wet': (False, True), 'mm': ()}
    """
    wanted: Mapping[str, Any] = dict.fromkeys(names)
    n_rows, found = _read(frame, wanted)
    if found and not n_rows:
        raise InvalidFrame("The frame has no rows: there is nothing to learn from.")
    return {name: domain_of(name, column) for name, column in found.items()}


def domain_of(name: str, column: Column) -> Domain:
    """The domain of one column.

    >>> domain_of("wet", ["yes", None, "no"]).states
    ('no', 'yes')
    """
    if isinstance(column, Coded):
        column = column.values
    if isinstance(column, nw.Series):
        dtype = column.dtype
        if isinstance(dtype, nw.Categorical | nw.Enum):
            return _categories(name, column)
        if dtype == nw.Boolean:
            _refuse_empty(name, column.null_count() == len(column))
            return as_domain([False, True])
        if dtype.is_integer():
            known = column.drop_nulls().unique().to_list()
            return _sorted(name, known)
        if dtype.is_float():
            return _floats(name, column.to_numpy())
        if dtype == nw.String:
            return _sorted(name, column.drop_nulls().unique().to_list())
        column = column.to_list()
    if isinstance(column, np.ndarray):
        kind = column.dtype.kind
        if kind == "f":
            return _floats(name, column)
        if kind == "b":
            _refuse_empty(name, column.size == 0)
            return as_domain([False, True])
        if kind in "iu":
            return _sorted(name, _distinct(column))
        if kind == "U":
            return _sorted(name, np.unique(column).tolist())
        column = (column.astype("datetime64[us]") if kind == "M" else column).tolist()
    return _of_values(name, list(column))


def _distinct(column: np.ndarray) -> list[int]:
    """The distinct integers of a column; by a table, not by sorting, if their range is small."""
    if column.size == 0 or column.dtype == np.uint64:
        return [int(value) for value in np.unique(column)]
    low, high = int(column.min()), int(column.max())
    if high - low >= _NARROW:
        return [int(value) for value in np.unique(column)]
    there = np.bincount(column.astype(np.int64) - low)
    return (np.flatnonzero(there) + low).tolist()


def _of_values(name: str, column: list[Any]) -> Domain:
    values = [value for value in column if not is_missing(value)]
    _refuse_empty(name, not values)
    kinds = set(map(type, values))
    truths = {kind for kind in kinds if issubclass(kind, bool | np.bool_)}
    numbers = {kind for kind in kinds - truths if issubclass(kind, int | float | np.number | Decimal)}
    if kinds == truths:
        return as_domain([False, True])
    if kinds == numbers:
        if any(issubclass(type(value), float | np.floating) or has_places(value) for value in values):
            return _floats(name, np.array(values, dtype=np.float64))
        return _sorted(name, {int(value) for value in values})
    if truths or numbers:
        several = sorted(kind.__name__ for kind in kinds)
        raise InvalidFrame(
            f"The column {shown(name)} holds values of several kinds, {' and '.join(several)}: say which "
            f"states it has, states={{{name!r}: [...]}}."
        )
    try:
        return _sorted(name, set(values))
    except TypeError:
        raise InvalidFrame(
            f"The column {shown(name)} holds values such as {shown(values[0])}, which cannot be sorted: say "
            f"which states it has, states={{{name!r}: [...]}}."
        ) from None


def has_places(value: Any) -> bool:
    """Whether a number is a decimal with decimal places.

    >>> has_places(Decimal("2.50")), has_places(Decimal("2")), has_places(2.5)
    (True, False, False)
    """
    return isinstance(value, Decimal) and value.is_finite() and int(value.as_tuple().exponent) < 0


def _categories(name: str, column: Any) -> Domain:
    """The categories, including those that no row has; in their order if they have one."""
    _refuse_empty(name, column.null_count() == len(column))
    ordered = isinstance(column.dtype, nw.Enum)
    if column.implementation.is_pandas():
        ordered = bool(column.to_native().cat.ordered)
        found = column.to_native().cat.categories.tolist()
    elif ordered:
        found = list(column.dtype.categories)
    else:  # categories may be shared with other columns: only those that occur count
        found = column.drop_nulls().cast(nw.String).unique().to_list()
    return as_domain(list(found)) if ordered else _sorted(name, found)


def _floats(name: str, column: np.ndarray) -> Domain:
    known = column[~np.isnan(column)]
    _refuse_empty(name, known.size == 0)
    if (known == np.floor(known)).all():
        some = ", ".join(map(str, np.unique(known)[:_SHOWN].tolist()))
        raise InvalidFrame(
            f"The column {shown(name)} holds whole numbers as floats ({some}, ...), which may be states or "
            f"measurements: say states={{{name!r}: [...]}} or continuous=[{name!r}]."
        )
    return REAL


def _sorted(name: str, states: Iterable[Any]) -> Domain:
    found = sorted(states)
    _refuse_empty(name, not found)
    try:
        return as_domain(found, declared=False)
    except InvalidVariable as error:
        raise InvalidFrame(f"The column {shown(name)}: {error}") from None


def _refuse_empty(name: str, empty: bool) -> None:
    if empty:
        raise InvalidFrame(
            f"The column {shown(name)} has no value. Leave it out, or, if {shown(name)} is a hidden cause, "
            f"say how many states it has: latent={{{name!r}: 2}}."
        )
