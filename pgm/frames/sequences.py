"""Reads observations that have an order: one sequence or many, as lists, arrays, series or frames.

All of them become concatenated rows, with the start of each sequence. The caller, which knows what is
observed, asks `Sequences` for the codes or the values in the rows; errors name the sequence and the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, listed, nearest, no_number, shown
from pgm.frames.reading import Column, _as_table, _codes, _column, _floats, _read, names_of
from pgm.variables import Domain, Variable, is_missing

if TYPE_CHECKING:
    import narwhals as nw
else:
    from pgm.frames import narwhals_later as nw

_FAST = 256  # with up to this many states 0, 1, ..., integers are used as codes


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """Concatenated observed rows: sequence i is rows `starts[i]` to `starts[i + 1]`.

    >>> two = sequences([["a", "b"], ["b"]])
    >>> len(two), two.n_rows, two.place(2)
    (2, 3, 'sequence 1, step 0 (both count from 0)')
    """

    rows: Any  # a list, an array of one or two axes, or a dict of columns
    starts: np.ndarray  # int64, one more than there are sequences
    lone: bool  # a single sequence was given, not a list of them
    ids: tuple[Any, ...] | None = None  # what a frame calls them
    argument: str = ""  # what errors call these rows, where they are not observations: "inputs="
    word: str = "step"  # what errors call one of them: rows that have no order are not steps

    def __len__(self) -> int:
        """The number of sequences."""
        return self.starts.size - 1

    @property
    def n_rows(self) -> int:
        """The number of rows of all sequences."""
        return int(self.starts[-1])

    @property
    def lengths(self) -> np.ndarray:
        """The number of steps of each sequence."""
        return np.diff(self.starts)

    def name(self, i: int) -> str:
        """The name of a sequence in messages."""
        return f"sequence {i if self.ids is None else shown(self.ids[i])}"

    def title(self, i: int) -> str:
        """The beginning of a sentence about a sequence."""
        return "The sequence" if self.lone else _capital(self.name(i))

    def place(self, row: int) -> str:
        """The position of a row, for a message."""
        i = int(np.searchsorted(self.starts, row, side="right")) - 1
        step = row - int(self.starts[i])
        if self.lone:
            return f"{self.word} {step} (the first is 0)"
        return f"{self.name(i)}, step {step} ({'both count' if self.ids is None else 'steps count'} from 0)"

    def column(self, name: Any, index: int) -> Sequences:
        """One column of the rows: by its name in a frame, else by its index."""
        rows = self.rows
        if isinstance(rows, dict):
            if name not in rows:
                raise InvalidFrame(f"The frame has no column {shown(name)}; it has {listed(rows)}.")
            found: Any = rows[name]
        elif isinstance(rows, np.ndarray):
            if rows.ndim != 2 or index >= rows.shape[1]:
                raise InvalidArgument(
                    f"Observations are rows of several columns; there is no column {index}."
                )
            found = rows[:, index]
        else:
            found = []
            for i, row in enumerate(rows):
                if is_missing(row):
                    found.append(None)
                elif isinstance(row, str | bytes) or not hasattr(row, "__len__") or len(row) <= index:
                    raise InvalidArgument(f"{self._at(i)}: {shown(row)} has no column {index}.")
                else:
                    found.append(row[index])
        return replace(self, rows=found)

    def codes(self, domain: Domain, what: str = "symbols") -> np.ndarray:
        """Each row as the code of a state; -1 where nothing was observed.

        >>> from pgm.variables import as_domain
        >>> sequences(["a", None, "b"]).codes(as_domain(["a", "b"]))
        array([ 0, -1,  1], dtype=int32)
        """
        column = self.one_column()
        if isinstance(column, np.ndarray) and column.dtype.kind in "iu" and _counts(domain):
            large = column.view(column.dtype.str.replace("i", "u"))  # negative integers become large ones
            if column.size == 0 or large.max() < domain.card:
                return column.astype(np.int32)
        found = _codes(Variable.of("observation", domain), column)
        wrong = found < -1
        if wrong.any():
            row = int(wrong.argmax())
            value, more = column[row], int(wrong.sum()) - 1
            also = f" ({more:,} more values are none of them either.)" if more else ""
            raise InvalidArgument(
                f"{self._at(row)}: {shown(value)} is not one of the {what} {listed(domain.states)}."
                f"{nearest(value, domain.states)}{also}"
            )
        return found

    def floats(self, width: int, *, flat: bool = False) -> np.ndarray:
        """The rows as floats, (rows, width), NaN where nothing was observed: whole rows or single entries.

        Args:
            width: how many values an observation has.
            flat: an observation is a single value, not a list of one.

        >>> sequences([[1.0, None], None], vector=True).floats(2).tolist()
        [[1.0, nan], [nan, nan]]
        """
        if flat:
            return self._checked(self.one_column()).reshape(-1, 1)
        rows = self.rows
        if isinstance(rows, dict):
            if len(rows) != width:
                raise InvalidFrame(
                    f"An observation has {width} value{'s' * (width > 1)}, and the frame has the columns "
                    f"{listed(rows)}: select those that are observed."
                )
            return np.column_stack([self._checked(column) for column in rows.values()])
        if isinstance(rows, np.ndarray) and rows.dtype != object:
            if rows.ndim == 1 and width == 1:
                rows = rows[:, None]
            if rows.ndim != 2 or rows.shape[1] != width:
                has = f"{rows.shape[1]} columns" if rows.ndim == 2 else f"shape {rows.shape}"
                raise InvalidArgument(
                    f"{_capital(self._row)}{f' of {self.argument}' if self.argument else ''} has {width} "
                    f"value{'s' * (width > 1)}; these have {has}."
                )
            found = self._checked(rows.reshape(-1), width)
        else:
            found = self._checked(self._entries(rows, width), width)
        return found.reshape(-1, width)

    def _entries(self, rows: Iterable[Any], width: int) -> list[Any]:
        nothing = [None] * width
        cells: list[Any] = []
        for i, row in enumerate(rows):
            if isinstance(row, np.ndarray | list | tuple):
                if len(row) != width:
                    values = f"{width} value{'s' * (width > 1)}"
                    raise InvalidArgument(f"{self._at(i)}: {self._row} has {values}, not {len(row)}.")
                cells.extend(row)
            elif is_missing(row):
                cells.extend(nothing)
            elif width == 1:
                cells.append(row)
            else:
                raise InvalidArgument(f"{self._at(i)}: {self._row} has {width} values, not {shown(row)}.")
        return cells

    def _checked(self, column: Column, width: int = 1) -> np.ndarray:
        values, wrong = _floats(column)
        if wrong is not None and wrong.any():
            at = int(wrong.argmax())
            value = column[at]
            raise InvalidArgument(
                f"{self._at(at // width)}: {shown(value)} is not a finite number.{no_number(value)}"
            )
        return values

    def one_column(self) -> Column:
        """The rows as one column of values."""
        rows = self.rows
        if isinstance(rows, dict):
            if not rows:
                raise InvalidFrame("The frame has no column of observations.")
            if len(rows) != 1:
                raise InvalidFrame(
                    f"What is observed is one column, and the frame has {listed(rows)}: select the one "
                    "that is observed."
                )
            return next(iter(rows.values()))  # type: ignore[no-any-return]
        if isinstance(rows, np.ndarray) and rows.ndim == 2:
            if rows.shape[1] != 1:
                raise InvalidArgument(
                    f"{self.argument or 'What is observed'} is one value each step, not {rows.shape[1]} "
                    "columns."
                )
            return rows[:, 0]
        return rows  # type: ignore[no-any-return]

    def _at(self, row: int) -> str:
        place = self.place(row)
        return f"{self.argument}, {place}" if self.argument else _capital(place)

    @property
    def _row(self) -> str:
        return "a row" if self.argument else "an observation"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _counts(domain: Domain) -> bool:
    """Whether the states are 0, 1, ..., so that integers are codes as they are."""
    return domain.card <= _FAST and domain.bins is None and domain.states == tuple(range(domain.card))


def sequences(
    data: Any,
    *,
    vector: bool = False,
    lengths: Any = None,
    sequence: Any = None,
    is_value: Callable[[Any], bool] = lambda value: False,
) -> Sequences:
    """Read one sequence or many.

    Args:
        data: a sequence: a list, an array, a series; or a list of sequences; or all of them
            concatenated, with `lengths`; or a data frame, with `sequence` if it holds several.
        vector: whether an observation has several entries: then a sequence is a list of rows, an
            array of two axes, or a frame.
        lengths: the number of steps of each sequence.
        sequence: the column of the frame that says which sequence a row belongs to.
        is_value: whether an object with a length is one observed value: a tuple may be a symbol.

    >>> sequences(["a", "b", "b"], lengths=[1, 2]).lengths
    array([1, 2])
    >>> frame = {"id": [7, 8, 7], "symbol": ["a", "b", "c"]}
    >>> sequences(frame, sequence="id").rows
    {'symbol': ['a', 'c', 'b']}
    """
    if lengths is not None and sequence is not None:
        raise InvalidArgument("lengths= and sequence= both say where sequences begin: give one of the two.")
    if sequence is not None or _is_frame(data):
        rows, starts, ids = _of_frame(data, sequence)
        lone = sequence is None
    else:
        rows = _plain(data)
        ids, lone = None, lengths is not None or not _nested(rows, vector, is_value)
        rows, starts = (rows, np.array([0, len(rows)])) if lone else _joined(rows)
    if lengths is not None:
        total = len(next(iter(rows.values()), ())) if isinstance(rows, dict) else len(rows)
        starts, lone = _of_lengths(lengths, total), False
    made = Sequences(rows, starts, lone, ids)
    if len(made) == 0:
        raise InvalidArgument("There is no sequence: the list is empty.")
    if (made.lengths == 0).any():
        which = int((made.lengths == 0).argmax())
        raise InvalidArgument(f"{made.title(which)} is empty: a sequence has at least one step.")
    return made


def rows_of(data: Any, *, vector: bool, is_value: Callable[[Any], bool] = lambda value: False) -> Sequences:
    """Read unordered rows: a list, an array or a frame.

    >>> rows_of([1.0, 2.0], vector=False).place(1)
    'row 1 (the first is 0)'
    """
    if _is_frame(data):
        rows, starts, _ = _of_frame(data, None)
    else:
        if isinstance(data, str | bytes) or not hasattr(data, "__iter__") or np.ndim(data) == 0:
            raise InvalidArgument(f"Data are rows: a list, an array or a data frame, not {shown(data)}.")
        rows = _plain(data)
        if len(rows) and _nested(rows, vector, is_value):
            raise InvalidArgument(
                "Data are rows, and a row is "
                + ("a list of values" if vector else "one value")
                + f"; the first of these is {shown(rows[0])}."
            )
        starts = np.array([0, len(rows)])
    if not starts[-1]:
        raise InvalidFrame("The data have no rows.")
    return Sequences(rows, starts, True, word="row")


# --- inputs of many kinds -----------------------------------------------------------------------------------


def _is_frame(data: Any) -> bool:
    if isinstance(data, Mapping):
        return True
    if isinstance(data, list | tuple):
        cells = [list(row.values()) if isinstance(row, Mapping) else [None, [row]] for row in data[:2]]
        return bool(cells) and not any(has_parts(cell) for row in cells for cell in row)
    if isinstance(data, np.ndarray):
        return data.dtype.names is not None
    found: Any = nw.from_native(_as_table(data), pass_through=True)
    return isinstance(found, nw.DataFrame | nw.LazyFrame)


def _of_frame(frame: Any, sequence: Any) -> tuple[dict[Any, Any], np.ndarray, tuple[Any, ...] | None]:
    """The columns of a frame, its rows sorted by sequence, in order of appearance."""
    if not _is_frame(frame):
        raise InvalidArgument(
            f"sequence={shown(sequence)} is the column of a data frame, not of {shown(frame)}."
        )
    names = list(names_of(frame))
    if sequence is not None and sequence not in names:
        raise InvalidFrame(
            f"The frame has no column {shown(sequence)} that says which sequence a row belongs to; it has "
            f"{listed(names)}.{nearest(sequence, names)}"
        )
    n_rows, found = _columns(frame)
    if sequence is None:
        return dict(found), np.array([0, n_rows]), None
    keys = _list(found.pop(sequence))
    groups: dict[Any, list[int]] = {}
    for row, key in enumerate(keys):
        if is_missing(key):
            raise InvalidFrame(
                f"Row {row:,} (the first is 0) has no {shown(sequence)}: which sequence does it belong to?"
            )
        groups.setdefault(key, []).append(row)
    starts = np.cumsum([0, *map(len, groups.values())], dtype=np.int64)
    order = np.fromiter(chain.from_iterable(groups.values()), np.int64, n_rows)
    if (np.diff(order) == 1).all():
        return dict(found), starts, tuple(groups)
    return {name: _taken(column, order) for name, column in found.items()}, starts, tuple(groups)


_ANY = Domain([0])


def _columns(frame: Any) -> tuple[int, dict[str, Column]]:
    """The number of rows, and all columns."""
    return _read(frame, {name: Variable.of(str(name), _ANY) for name in names_of(frame)})  # type: ignore[misc]


def _list(column: Any) -> list[Any]:
    return column.to_list() if isinstance(column, nw.Series) else list(column)


def _taken(column: Any, order: np.ndarray) -> Column:
    if isinstance(column, list):
        return [column[i] for i in order.tolist()]
    return column[order if isinstance(column, np.ndarray) else order.tolist()]  # type: ignore[no-any-return]


def _plain(data: Any) -> Any:
    """One sequence, or a list of them, as a list or an array."""
    if isinstance(data, np.ma.MaskedArray):
        return data.tolist() if data.dtype.kind not in "f" else data.filled(np.nan)
    if isinstance(data, np.ndarray):
        if data.ndim == 0:
            raise InvalidArgument(f"A sequence is a list of observations, not {shown(data.item())} alone.")
        if data.ndim < 3 and data.dtype.kind in "biuf":
            return data
        if data.ndim == 2 and data.shape[1] == 1:  # a column is one sequence
            return data[:, 0].tolist()
        return list(data) if data.ndim > 1 else data.tolist()
    if isinstance(data, list):
        return data
    if isinstance(data, str | bytes) or not hasattr(data, "__iter__"):
        raise InvalidArgument(
            f"A sequence is a list of observations, not {shown(data)}."
            + (" For its letters write list(...)." if isinstance(data, str) else "")
            + (" Of draws take .observations." if hasattr(data, "observations") else "")
        )
    if isinstance(data, tuple | range):
        return list(data)
    if hasattr(data, "__len__"):
        found = _column("sequence", data)
        if isinstance(found, nw.Series):
            numeric = found.dtype.is_float() or (found.dtype.is_integer() and not found.null_count())
            return found.to_numpy() if numeric else found.to_list()
        return found
    return list(data)


def _nested(rows: Any, vector: bool, is_value: Callable[[Any], bool]) -> bool:
    """Whether these are several sequences, not the rows of one."""
    if isinstance(rows, np.ndarray):
        return rows.ndim == 2 and not vector and rows.shape[1] != 1  # a column is one sequence
    first: Any = next((row for row in rows if not is_missing(row)), None)
    if not has_parts(first) or is_value(first):
        return False
    if not vector or _is_frame(first):
        return True
    if isinstance(first, np.ndarray):
        return first.ndim > 1
    return len(first) == 0 or has_parts(next((cell for cell in first if not is_missing(cell)), None))


def has_parts(value: Any) -> bool:
    """Whether this is a list, an array or the like, and not one value.

    >>> has_parts([1.0]), has_parts("ab"), has_parts(None)
    (True, False, False)
    """
    return hasattr(value, "__len__") and not isinstance(value, str | bytes) and getattr(value, "ndim", 1) > 0


def _are_arrays(items: Any) -> bool:
    """Whether all are numeric arrays with rows of one shape, which need not be inspected one by one."""
    if not isinstance(items, list) or set(map(type, items)) != {np.ndarray}:
        return False
    if not {item.dtype.kind for item in items} <= set("biuf"):
        return False
    rows = {item.shape[1:] for item in items}
    return len(rows) == 1 and len(rows.pop()) < 2 and min(item.ndim for item in items) > 0


def _joined(items: Any) -> tuple[Any, np.ndarray]:
    """Several sequences, concatenated."""
    if isinstance(items, np.ndarray):  # numeric, with the same number of steps in each
        return items.reshape(-1, *items.shape[2:]), np.arange(len(items) + 1) * items.shape[1]
    if _are_arrays(items):
        return np.concatenate(items), np.cumsum([0, *map(len, items)], dtype=np.int64)
    parts: list[Any] = []
    for i, item in enumerate(items):
        if _is_frame(item):
            _, found = _columns(item)
            parts.append({name: _list(column) for name, column in found.items()})
        elif not has_parts(item):
            raise InvalidArgument(
                f"Item {i} of the list (the first is 0) is {shown(item)}, while others are sequences."
            )
        else:
            parts.append(_plain(item))
    if any(isinstance(part, dict) for part in parts):
        first = parts[0]
        if not all(isinstance(part, dict) and list(part) == list(first) for part in parts):
            raise InvalidFrame("The frames of several sequences need the same columns, in the same order.")
        sizes = [len(next(iter(part.values()), ())) for part in parts]
        rows: Any = {name: list(chain.from_iterable(part[name] for part in parts)) for name in first}
    else:
        sizes = [len(part) for part in parts]
        arrays = all(isinstance(part, np.ndarray) for part in parts)
        if arrays and len({part.shape[1:] for part in parts}) == 1:
            rows = np.concatenate(parts)
        else:
            rows = list(chain.from_iterable(map(list, parts)))
    return rows, np.cumsum([0, *sizes], dtype=np.int64)


def _of_lengths(lengths: Any, n_rows: int) -> np.ndarray:
    """The starts of sequences of these lengths."""
    try:
        sizes = np.asarray(lengths)
    except ValueError:
        sizes = np.array(None)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 1).any():
        raise InvalidArgument(
            f"lengths= is a list with the number of steps of each sequence, 1 at least, not {shown(lengths)}."
        )
    if int(sizes.sum()) != n_rows:
        raise InvalidArgument(
            f"lengths= add up to {int(sizes.sum()):,} steps, and there are {n_rows:,}: every row belongs to "
            "one sequence."
        )
    return np.cumsum(np.concatenate([[0], sizes]), dtype=np.int64)
