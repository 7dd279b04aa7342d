"""The factors of an undirected model, as users write and see them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np
import numpy.typing as npt

from pgm.cpds.base import ROWS_SHOWN, printed
from pgm.cpds.table_input import (
    MAX_AXES,
    BadRow,
    check_cells,
    find_row,
    float_array,
    is_number,
    number,
    read_cells,
    row_label,
    sentence,
)
from pgm.errors import InvalidTable, shown
from pgm.factors import Dense, Factor, Gate, Sparse
from pgm.frames import is_frame, long_form
from pgm.printing import html_table, joined, text_table
from pgm.variables import Variable

# The largest magnitude of a log: sums of millions fit the engine's exponents, and 1e-7 is still resolved.
LARGEST_LOG = 1e9
_SMALL = 4096  # a table up to this size is written out whatever its zeros


@dataclass(frozen=True, eq=False, slots=True)
class Potential:
    """One factor of an undirected model: a value for each configuration of its variables."""

    variables: tuple[Variable, ...]
    factor: Factor

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its variables, in the order of the axes."""
        return tuple([v.name for v in self.variables])

    @property
    def log(self) -> bool:
        """Whether the values are natural logarithms."""
        return not isinstance(self.factor, Gate) and self.factor.log

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The values as a read-only array with an axis for each variable."""
        if isinstance(self.factor, Dense):
            return self.factor.values
        shape = [v.card for v in self.variables]
        check_cells(shape, f"The factor of {list(self.names[:10])} written out", "ask for its to_dict()")
        if isinstance(self.factor, Sparse):
            values = np.full(shape, -math.inf if self.log else 0.0)
            values[tuple(self.factor.rows.T)] = self.factor.values
        else:
            values = self.factor.written_out(shape)
        values.flags.writeable = False
        return values

    def to_dict(self) -> dict[Any, float]:
        """Return {(state, ...): value}, without rows that were left out; one variable needs no tuples."""
        return dict(self._items())

    def _items(self) -> Iterator[tuple[Any, float]]:
        values = self.factor.values if isinstance(self.factor, Sparse) else self.values
        keys: Iterable[tuple[Any, ...]] = product(*[v.states for v in self.variables])
        if isinstance(self.factor, Sparse):
            rows = self.factor.rows
            keys = (tuple([v.states[i] for v, i in zip(self.variables, row, strict=True)]) for row in rows)
        for key, value in zip(keys, values.flat, strict=True):
            yield (key[0] if len(key) == 1 else key), float(value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Potential):
            return NotImplemented
        return (
            self.variables == other.variables
            and self.log == other.log
            and np.array_equal(self.values, other.values)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Potential({joined(self.names, len(self.names), 80)})"

    def __str__(self) -> str:
        return text_table(*printed(self._lines(), repr(self)))

    def _repr_html_(self) -> str:
        return html_table(*printed(self._lines(), repr(self)))

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        rows = []
        for key, value in islice(self._items(), ROWS_SHOWN):
            states = (key,) if len(self.variables) == 1 else key
            rows.append([*states, f"{value:.6g}"])
        count = len(self.factor.rows) if isinstance(self.factor, Sparse) else self.values.size
        return [*self.names, "log value" if self.log else "value"], rows, count


def read_factor(
    variables: Sequence[Variable], scope: Sequence[int], values: object, log: bool
) -> Dense | Sparse:
    """Return the factor that a user wrote: an array, a dict of rows, a frame whose last column is `value`."""
    what = f"the factor of {', '.join(repr(v.name) for v in variables[:10]) or 'no variables'}"
    shape = tuple([v.card for v in variables])
    positions = np.array(scope, dtype=np.int64)
    bottom = -math.inf if log else 0.0
    rest = None  # the value of all rows left out
    if is_frame(values):
        only = variables[0].name if variables else ""
        rows = read_cells(what, variables, long_form(what, values, ("value",), only))
    elif isinstance(values, Mapping):
        rows, rest = _read_rows(what, variables, values)
    else:
        return Dense(positions[np.newaxis], _array(what, variables, shape, values, log), log=log)
    for codes, value in rows.items():
        if not bottom <= value < math.inf or log:
            _check(what, row_label(variables, codes), value, log)
    if rest is not None:
        _check(what, "...", rest, log)
    if rest is None and (math.prod(shape) > _SMALL or len(shape) > MAX_AXES):
        cells = np.array(list(rows), dtype=np.int64).reshape(-1, len(shape))
        return Sparse(positions, cells, np.array(list(rows.values())), log=log)
    check_cells(shape, what, "a dict without `...` keeps only its rows")
    array = np.full(shape, bottom if rest is None else rest)
    for codes, value in rows.items():
        array[codes] = value
    array.flags.writeable = False
    return Dense(positions[np.newaxis], array, log=log)


def _array(
    what: str, variables: Sequence[Variable], shape: tuple[int, ...], values: object, log: bool
) -> Any:
    array = np.array(float(values)) if is_number(values) else float_array(what, values)  # type: ignore[arg-type]
    lone = is_number(values) or (isinstance(values, np.ndarray) and values.dtype.kind in "fiu")
    if array.shape != shape or (not shape and not lone):
        expected = " x ".join(f"{v.card} ({v.name!r})" for v in variables) or "a single value"
        hint = f"this one has shape {array.shape}" if array.ndim else f"not {shown(values)}"
        raise InvalidTable(f"{what} takes an array of shape {shape}, {expected}; {hint}.")
    good = (
        (np.abs(array) <= LARGEST_LOG) | (array == -math.inf) if log else (array >= 0.0) & (array < math.inf)
    )
    if not good.all():
        at = np.argwhere(~good)[0]
        _check(what, row_label(variables, at), float(array[tuple(at)]), log)
    array.flags.writeable = False
    return array


def _read_rows(
    what: str, variables: Sequence[Variable], values: Mapping[Any, object]
) -> tuple[dict[tuple[int, ...], float], float | None]:
    rows: dict[tuple[int, ...], float] = {}
    for key, value in values.items():
        try:
            if key is ...:
                continue
            codes = find_row(variables, key)
            if codes in rows:
                raise BadRow(f"{row_label(variables, codes)} appears twice")
            rows[codes] = number(value)
        except BadRow as bad:
            raise InvalidTable(f"{what}, row {shown(key)}: {sentence(str(bad))}") from None
    if ... not in values:
        return rows, None
    try:
        rest = number(values[...])
    except BadRow as bad:
        raise InvalidTable(f"{what}, row ...: {bad}.") from None
    return rows, rest


def _check(what: str, row: str, value: float, log: bool) -> None:
    if log and not (abs(value) <= LARGEST_LOG or value == -math.inf):
        problem = f"a log value is a number from {-LARGEST_LOG:g} to {LARGEST_LOG:g}, or minus infinity"
    elif not log and not 0.0 <= value < math.inf:
        problem = "a value must be a number from 0 on; log=True takes logarithms"
    else:
        return
    place = f" for {row}" if row else ""
    raise InvalidTable(f"{what}: the value{place} is {value!r}; {problem}.")
