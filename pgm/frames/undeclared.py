"""Frames with undeclared columns: each becomes a variable with codes or values, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, UnknownVariable, counted, listed, shown
from pgm.variables import REAL, Domain, Variable, check_name, is_missing

from .coded import Coded
from .inferring import domain_of
from .reading import _BAD, Column, _codes, _floats, _read, _unknown, names_of

if TYPE_CHECKING:
    import narwhals as nw
else:
    from pgm.frames import narwhals_later as nw

_ANY = Domain([0])
_MOST = 65_535  # states of a column


@dataclass(frozen=True, slots=True)
class Observations:
    """All columns of a frame as variables, with their observations."""

    n_rows: int
    variables: dict[str, Variable]  # in the order of the columns
    codes: dict[str, np.ndarray]  # int32, -1 where missing, of those that have states
    values: dict[str, np.ndarray]  # float64, NaN where missing, of those that are continuous


def observations(
    frame: object,
    *,
    states: Mapping[str, Any] | None = None,
    continuous: str | Iterable[str] = (),
    declared: Mapping[str, Variable] | None = None,
    names: Iterable[str] | None = None,
    check: Callable[[], None] = lambda: None,
    numbered: bool = True,
) -> Observations:
    """Read a frame, and infer the kinds of its columns.

    Booleans, text, integers and categories become states, sorted unless the categories have an order;
    other numeric columns are continuous. A float column of whole numbers could be either: declare it.

    Args:
        frame: a pandas, polars, pyarrow, duckdb or dask frame, a dict of columns, or a list of dicts (rows).
        states: {name: states in order, or Bins}, of columns whose states are not to be inferred.
        continuous: names of columns that are continuous although their values could be states.
        declared: known variables, by name.
        names: the columns to read; all if left out.
        check: called before each column; raises when the time limit has passed.
        numbered: whether rows are those of the user's frame, so that an error names one.

    Raises:
        InvalidFrame: a column has no value, or could be either.
        UnknownVariable: a name is not a column.
        UnknownState: a value is not one of the declared states.

    >>> seen = observations({"wet": ["yes", None, "no"], "x": [0.5, 1.0, None], "n": [2, 1, 2]})
    >>> seen.variables["wet"].states, seen.codes["wet"].tolist(), seen.variables["x"].continuous
    (('no', 'yes'), [1, -1, 0], True)
    """
    if isinstance(continuous, Mapping) or not isinstance(continuous, Iterable):
        raise InvalidArgument(f"continuous= lists names of columns, not {shown(continuous)}.")
    if states is not None and not isinstance(states, Mapping):
        raise InvalidArgument(f"states= is a dict {{column: its states}}, not {shown(states)}.")
    real = [continuous] if isinstance(continuous, str) else list(continuous)
    stated = dict(states or {})
    there = [name for name in names_of(frame) if isinstance(name, str)]
    wanted = there if names is None else list(names)
    for name in [*stated, *real, *wanted]:
        if name not in there:
            raise UnknownVariable(name, there, where="The frame's columns")
    if twice := [name for name in real if name in stated]:
        raise InvalidArgument(f"{listed(twice)}: states= and continuous= contradict each other.")
    n_rows, found = _read(frame, {check_name(name): Variable.of(name, _ANY) for name in wanted})
    if found and not n_rows:
        raise InvalidFrame("The frame has no rows: there is nothing to learn from.")
    variables: dict[str, Variable] = {}
    codes: dict[str, np.ndarray] = {}
    values: dict[str, np.ndarray] = {}
    for name in wanted:
        check()
        column = found[name]
        known = (declared or {}).get(name)
        if known is None and name in stated:
            known = Variable(name, stated[name])
        if known is None and name in real:
            known = Variable.of(name, REAL)
        if known is None:
            known, read = _found(name, column)
        elif known.continuous:
            read, wrong = _floats(column)
            _refuse(known, column, wrong, numbered)
        else:
            read = _codes(known, column)
            _refuse(known, column, read == _BAD, numbered)
        if known.card > _MOST:
            raise InvalidFrame(
                f"The column {shown(name)} has {counted(known.card)} different values, as an identifier has; "
                "states recur. Leave the column out, or cut it into bins with states=pgm.Bins."
            )
        variables[name] = known
        (values if known.continuous else codes)[name] = read
    return Observations(n_rows, variables, codes, values)


def _refuse(variable: Variable, column: Column, wrong: np.ndarray | None, numbered: bool = True) -> None:
    if wrong is not None and wrong.any():
        row = int(wrong.argmax())
        at, remedy = row if numbered else None, "Declare it in states=, or leave it out"
        raise _unknown(variable, column[row], at, int(wrong.sum()), remedy)


def _found(name: str, column: Column) -> tuple[Variable, np.ndarray]:
    """The variable that a column's values make, and its codes or values.

    Where many rows may have few distinct values, only the distinct ones are inspected.
    """
    if isinstance(column, Coded):
        return _inferred(name, column)
    if isinstance(column, nw.Series):
        dtype = column.dtype
        if not isinstance(dtype, nw.Categorical | nw.Enum) and not dtype.is_numeric() and dtype != nw.Boolean:
            if column.implementation.is_pandas():
                indices, distinct = column.to_native().factorize()
                return _of_distinct(name, column, np.asarray(indices), list(distinct))
            column = column.to_list()
    if isinstance(column, np.ndarray) and column.dtype.kind not in "biufM":
        column = column.tolist()
    if isinstance(column, list):
        seen = _Seen()
        with suppress(TypeError):  # an unhashable value
            indices = np.fromiter(map(seen.__getitem__, column), np.int64, len(column))
            return _of_distinct(name, column, indices, list(seen))
    return _inferred(name, column)


class _Seen(dict[Any, int]):
    """Indexes values in order of appearance."""

    def __missing__(self, value: Any) -> int:
        self[value] = found = len(self)
        return found


def _of_distinct(
    name: str, column: Any, indices: np.ndarray, distinct: list[Any]
) -> tuple[Variable, np.ndarray]:
    """The variable and the codes, given the index of each row's value among the distinct ones, or -1."""
    several = bool | int | float | np.generic | Decimal
    if any(isinstance(value, several) for value in distinct if not is_missing(value)):
        return _inferred(name, column)  # True == 1, so the distinct values may hide a mixture of kinds
    variable = Variable.of(name, domain_of(name, distinct))
    table = np.array([*(-1 if is_missing(v) else variable.domain.find(v) for v in distinct), -1], np.int32)
    return variable, table[indices]


def _inferred(name: str, column: Column) -> tuple[Variable, np.ndarray]:
    variable = Variable.of(name, domain_of(name, column))
    if not variable.continuous:
        return variable, _codes(variable, column)
    values, wrong = _floats(column)
    _refuse(variable, column, wrong)
    return variable, values
