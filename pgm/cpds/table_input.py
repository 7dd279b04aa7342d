"""Reads the tables that users write: a probability, a list, a dict of rows, an array, a data frame."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Context, Decimal
from numbers import Real
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from pgm.config import current
from pgm.errors import InvalidArgument, InvalidTable, InvalidVariable, TooLarge, listed, nearest, shown
from pgm.frames import LongForm, is_frame, long_form
from pgm.variables import BOOLEAN, Domain, Interval, Variable, as_domain

Array = npt.NDArray[np.float64]

# A row is divided by its sum when it is off by rounding: thirds written with six digits are off by 1e-6.
# Below EXACT dividing would only change the last bits: a table read twice would not equal itself.
TOLERANCE = 1e-6 * (1 + 1e-6)
EXACT = 1e-13
UNCOUNTED = 2**62  # more entries than any machine holds
MAX_AXES = 64  # of a numpy array
_CELLS_UNCHECKED = 100_000  # tables up to this size are not checked against the memory limit
_SHOWN = 3
_FEW = 64  # probabilities that are checked faster one by one than by numpy
CELLS = (
    "p",
    "proportion",
    "count",
)  # what a frame may call its last column; value_counts() uses the last two
_BYTES_COMPILED = 64  # for each entry, while a model is compiled
_DIVIDES = "; normalize=True divides each row by its sum"
_ONE, _DIGITS = Decimal(1), Context(prec=40)


class BadRow(Exception):
    """What is wrong with a row or a cell; the caller adds which one it is."""


def frozen(name: str, table: object) -> object:
    """Return a copy of a table as written, unaffected by the user's later edits."""
    if is_frame(table):
        return long_form(repr(name), table, CELLS, name)
    return copy.deepcopy(table) if isinstance(table, Mapping | list | np.ndarray) else table


def plain(name: str, table: object) -> object:
    """Return a table with lists in place of arrays, so that two tables can be compared."""
    table = frozen(name, table)
    if isinstance(table, np.ndarray):
        return table.tolist()
    if isinstance(table, Mapping):
        return {key: plain(name, row) for key, row in table.items()}
    if isinstance(table, list | tuple):
        return [plain(name, row) for row in table]
    return table


def child_states(name: str, table: object, n_parents: int) -> Domain:
    """Return the undeclared states of a child, as its table names them."""
    if is_number(table):
        return BOOLEAN
    if isinstance(table, LongForm):
        if name not in table.columns:
            raise InvalidTable(f"{name!r}: the frame has no column {name!r}; {_columns_are(table)}.")
        return sorted_domain(name, _named(name, table.columns[name]))
    if isinstance(table, Mapping):
        rows = [row for row in table.values() if not is_uniform(row)] if n_parents else [table]
        if rows and all(is_number(row) for row in rows):
            return BOOLEAN
        for key, row in table.items() if n_parents else ():
            if not (isinstance(row, Mapping) or is_number(row) or is_uniform(row)) and np.ndim(row) == 0:
                raise InvalidTable(f"{name!r}, row {'...' if key is ... else shown(key)}: {_what_else(row)}.")
        if rows and all(isinstance(row, Mapping) or is_number(row) for row in rows):
            named = _named(name, (state for row in rows if isinstance(row, Mapping) for state in row))
            return _domain(name, named, declared=True)
    if (
        not isinstance(table, Mapping | list | tuple | np.ndarray)
        and not is_uniform(table)
        and np.ndim(table) == 0  # type: ignore[arg-type]
    ):
        raise InvalidTable(f"{name!r}: {_what_else(table)}.")
    raise InvalidTable(
        f"{name!r}: which states do the probabilities belong to? Write states=[...] in their order"
        + ("." if n_parents else ", or a dict {state: probability}.")
    )


def _named(name: str, values: Iterable[object]) -> list[Any]:
    """Return each state that is named once, in order of first appearance."""
    try:
        found = dict.fromkeys(values)
    except TypeError as error:
        raise InvalidTable(
            f"{name!r}: a state must be hashable, such as text or a number ({error})."
        ) from None
    if ... in found:
        raise InvalidTable(
            f"{name!r}: `...` stands for the rows left out, not for states: write states=[...]."
        )
    return [state.item() if isinstance(state, np.generic) else state for state in found]


def sorted_domain(name: str, states: Iterable[Any]) -> Domain:
    """Return states in undeclared order, known only from data: sorted, mixed kinds by kind."""
    found = [state.item() if isinstance(state, np.generic) else state for state in states]
    try:
        found.sort()
    except TypeError:
        found.sort(key=_rank)
    return _domain(name, found, declared=False)


def _domain(name: str, states: list[Any], declared: bool) -> Domain:
    if states and all(isinstance(state, bool) for state in states):
        return BOOLEAN  # even if only one of them was named
    if all(isinstance(state, Interval) for state in states):  # ranges have an order of their own, too
        states = sorted(states, key=_rank)
    try:
        return as_domain(states, declared)
    except InvalidVariable as error:
        raise InvalidVariable(f"{name!r}: {error}") from None


def _rank(state: Any) -> tuple[Any, ...]:
    """The sort key of a state among others of many kinds: numbers first, then kind by kind."""
    if is_number(state):
        return (0, "", state, "")
    return (1, type(state).__name__, state.lo if isinstance(state, Interval) else 0, str(state))


def read(child: Variable, given: Sequence[Variable], table: object, normalize: bool | None = None) -> Array:
    """Return P(child | given) as a read-only array of shape (given..., states).

    Args:
        child: whose distribution it is.
        given: its parents.
        table: as the user wrote it.
        normalize: whether each row is divided by its sum; None where that is not an option.
    """
    shape = check_size(child, given)
    plain = type(table) is np.ndarray  # as a million of them will be: no need to ask what else it could be
    if not plain and isinstance(table, LongForm):
        values = _from_long(child, given, table)
    elif not plain and isinstance(table, Mapping):
        values = _from_rows(child, given, table) if given else _from_row(child, table)
    elif is_uniform(table):
        values = np.full(shape, 1.0 / child.card)
    elif not plain and is_number(table):
        if given:
            name = given[0].name
            _fail(
                child,
                f"one number, but a row is needed for each state of {name!r}; {{...: number}} repeats it",
            )
        values = _from_row(child, table)
    else:
        values = float_array(repr(child.name), table)
        if values.shape != shape:
            expected = " x ".join(
                [f"{v.card} ({v.name!r})" for v in given] + [f"{child.card} (the states of {child.name!r})"]
            )
            hint = _what_else(table) if values.ndim == 0 else f"this one has shape {values.shape}"
            _fail(child, f"an array of shape {shape} is expected, {expected}; {hint}")
    if normalize:
        values = _divided(child, given, values)
    return checked(child, given, values, remedy=_DIVIDES if normalize is False else "")


def read_row(child: Variable, row: object, label: str) -> Array:
    """Return one row as written, checked and read-only; `label` says in errors which one it is."""
    try:
        return checked(child, (), np.array(one_row(child, row), dtype=np.float64), label)
    except BadRow as bad:
        _fail(child, str(bad), label)


def checked_flag(name: str, normalize: object) -> bool:
    """Return the user's normalize= if it is valid."""
    if not isinstance(normalize, bool):
        raise InvalidArgument(f"{name!r}: normalize= takes True or False, not {shown(normalize)}.")
    return normalize


def _divided(child: Variable, given: Sequence[Variable], values: Array) -> Array:
    """Return rows of non-negative entries divided by their sums; one that sums to one stays as it is."""
    bad = ~((values >= 0.0) & (values < math.inf))
    if bad.any():
        at = np.argwhere(bad)[0]
        state, value = shown(child.states[at[-1]]), float(values[tuple(at)])
        _fail(
            child, f"the entry for {state} is {value!r}, not a non-negative number", row_label(given, at[:-1])
        )
    largest = values.max(axis=-1, keepdims=True)
    if not largest.all():
        at = np.argwhere(largest[..., 0] == 0.0)[0]
        _fail(child, "every entry is 0, so there is no sum to divide by", row_label(given, at))
    with np.errstate(over="ignore"):
        sums = values.sum(axis=-1, keepdims=True)
    if not np.isfinite(sums).all():
        values = values / largest
        sums = values.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(np.abs(sums - 1.0) > EXACT, values / sums, values))


def checked(
    child: Variable,
    given: Sequence[Variable],
    values: Array,
    label: str | None = None,
    remedy: str = "",
) -> Array:
    """Return `values` read-only, each row summing to one; a row further off than rounding is an error."""
    if values.size <= _FEW and _add_to_one(values.ravel().tolist(), values.shape[-1]):
        values.flags.writeable = False
        return values
    if not (values.min() >= 0.0 and values.max() <= 1.0 + TOLERANCE):
        _fail_row(child, given, values, label, remedy)
    sums = values.sum(axis=-1)
    off = np.abs(sums - 1.0)
    worst = off.max()
    if not worst <= TOLERANCE:
        _fail_row(child, given, values, label, remedy)
    if worst > EXACT:
        values = values / np.where(off > EXACT, sums, 1.0)[..., np.newaxis]
    values.flags.writeable = False
    return values


def first_wrong(values: Array, card: int) -> int:
    """Return the index of the first row that `checked` refuses; 0 if there is none."""
    flat = values.reshape(-1, card)
    for bad in (~((flat >= 0.0) & (flat < math.inf)), flat > 1.0 + TOLERANCE):
        if bad.any():
            return int(bad.any(axis=1).argmax())
    return int((np.abs(flat.sum(axis=1) - 1.0) > TOLERANCE).argmax())


def _fail_row(
    child: Variable, given: Sequence[Variable], values: Array, label: str | None, remedy: str
) -> NoReturn:
    index = first_wrong(values, child.card)
    row = values.reshape(-1, child.card)[index].tolist()
    if label is None:
        label = row_label(given, map(int, np.unravel_index(index, values.shape[:-1])))
    good = [0.0 <= p < math.inf for p in row]
    if all(good):
        good = [p <= 1.0 + TOLERANCE for p in row]
    if all(good):
        _fail(child, f"the probabilities sum to {sum(row):.10g}, not to 1{remedy}", label)
    wrong = good.index(False)
    hint = remedy if row[wrong] > 1.0 else ""
    what = f"the probability of {shown(child.states[wrong])} is {row[wrong]!r}, not from 0 to 1{hint}"
    _fail(child, what, label)


def _add_to_one(values: list[float], card: int) -> bool:
    """Tell whether each row of this many entries certainly sums to one."""
    if not (min(values) >= 0.0 and max(values) <= 1.0):
        return False
    for begin in range(0, len(values), card):
        if not abs(sum(values[begin : begin + card]) - 1.0) <= EXACT / 2:  # NaN too
            return False
    return True


def check_size(child: Variable, given: Sequence[Variable]) -> tuple[int, ...]:
    """Return the shape of the table, or refuse one that would not fit in memory."""
    shape = (*[v.card for v in given], child.card)
    if math.prod(shape) > _CELLS_UNCHECKED or len(shape) > MAX_AXES:
        check_cells(shape, f"{child.name!r}: its table", "a noisy-OR, or fewer parents, costs less")
    return shape


def product(cards: Iterable[int]) -> int:
    """Return the product of the cardinalities, or `UNCOUNTED` where it is at least that.

    A file may declare any number of parents; Python's integers would grow with each of them.
    """
    found = 1
    for card in cards:
        found *= card
        if found >= UNCOUNTED:
            return UNCOUNTED
    return found


def check_gate(name: str, cells: int, remedy: str) -> None:
    """Raise TooLarge if the tables of a gate, and the engine's copies of them, exceed the memory limit."""
    limit = current().memory_limit // _BYTES_COMPILED
    check_cells((cells,), f"{name!r}: the small tables that it is written as", remedy, limit)


def check_cells(shape: Sequence[int], what: str, remedy: str, limit: int | None = None) -> None:
    """Raise TooLarge if an array of this shape has more entries than `limit`; None: the memory limit."""
    cells = math.prod(shape)
    if len(shape) > MAX_AXES and cells <= _CELLS_UNCHECKED:
        raise TooLarge(f"{what} would have {len(shape)} axes, and numpy allows {MAX_AXES}; {remedy}.")
    if limit is None:
        if cells <= _CELLS_UNCHECKED:
            return
        limit = current().memory_limit // 8
    if cells > limit or len(shape) > MAX_AXES:
        count = f"{cells:,}" if cells < 10**15 else f"10**{math.log10(cells):.0f}"
        raise TooLarge(f"{what} would have {count} entries, and {limit:,} are allowed; {remedy}.")


def row_label(given: Sequence[Variable], codes: Iterable[int]) -> str:
    """Name a parent configuration: "rain=True, sprinkler=False"."""
    return ", ".join(f"{v.name}={v.states[code]!r}" for v, code in zip(given, codes, strict=True))


def is_number(value: object) -> bool:
    """Tell whether `value` is a real number; True and False are states."""
    return isinstance(value, float | int | Real | Decimal) and not isinstance(value, bool | np.bool_)


def is_uniform(row: object) -> bool:
    """Tell whether a row is written as the word for equal probabilities."""
    return isinstance(row, str) and row == "uniform"


def float_array(what: str, table: object) -> Array:
    """Return nested lists or an array as a fresh float64 array; anything else becomes one without axes."""
    if (
        type(table) is not np.ndarray
        and isinstance(table, np.ma.MaskedArray)
        and np.ma.getmaskarray(table).any()
    ):
        raise InvalidTable(f"{what}: some entries of the array are masked.")
    try:
        raw = np.asarray(table)
    except (ValueError, TypeError, OverflowError):
        raise InvalidTable(f"{what}: the rows are not all of one length: {shown(table)}.") from None
    if raw.dtype.kind in "fiu":
        if raw.size > _CELLS_UNCHECKED:
            check_cells(raw.shape, f"{what}: a copy of the array", "pass a smaller one")
        return np.array(raw, dtype=np.float64, order="C")
    if raw.dtype.kind == "O" and raw.ndim:
        try:
            return np.array([number(cell) for cell in raw.flat]).reshape(raw.shape)
        except BadRow as bad:
            raise InvalidTable(f"{what}: {bad}.") from None
    if raw.ndim == 0:
        return np.zeros(())
    raise InvalidTable(f"{what}: these are not all numbers: {shown(table)}.")


def find_row(given: Sequence[Variable], key: object) -> tuple[int, ...]:
    """Return the codes of the states that `key` names: a state, or a tuple in the order of `given`."""
    if len(given) == 1:
        code = given[0].domain.find(key)
        if code >= 0:
            return (code,)
        states: tuple[object, ...] = key if isinstance(key, tuple) and len(key) == 1 else (key,)
    elif isinstance(key, tuple) and len(key) == len(given):
        states = key
    else:
        names = ", ".join(repr(v.name) for v in given)
        raise BadRow(f"the key of a row is a tuple of states of {names}, in this order")
    return tuple(_find(variable, state) for variable, state in zip(given, states, strict=True))


def _find(variable: Variable, state: object) -> int:
    code = variable.domain.find(state)
    if code < 0:
        has = f"{variable.name!r} has no state {shown(state)}; it has {listed(variable.states)}"
        raise BadRow(f"{has}.{nearest(state, variable.states)}")
    return code


def _from_row(child: Variable, row: object) -> Array:
    try:
        return np.array(one_row(child, row))
    except BadRow as bad:
        _fail(child, str(bad))


def one_row(child: Variable, row: object) -> Sequence[float]:
    """Return the probabilities of one row in the order of the child's states."""
    if isinstance(row, Mapping):
        by_state: dict[int, float] = {}
        for state, p in row.items():
            if state is ...:
                raise BadRow("`...` stands for the rows left out, not for states")
            code = _find(child, state)
            if code in by_state:
                raise BadRow(f"the state {child.states[code]!r} appears twice")
            by_state[code] = number(p)
        return [by_state.get(code, 0.0) for code in range(child.card)]
    if is_number(row):
        yes, no = child.domain.find(True), child.domain.find(False)
        if child.card != 2 or yes < 0 or no < 0:
            raise BadRow(
                f"a lone number is P(True), but the states are {listed(child.states)}: write a list or a dict"
            )
        p = number(row)
        if not 0.0 <= p <= 1.0:
            raise BadRow(f"P(True) is {p!r}; a probability is a number from 0 to 1")
        return (complement(p), p) if yes == 1 else (p, complement(p))
    if is_uniform(row):
        return [1.0 / child.card] * child.card
    if isinstance(row, list | tuple | np.ndarray) and (not isinstance(row, np.ndarray) or row.ndim == 1):
        if len(row) != child.card:
            raise BadRow(f"{len(row)} probabilities for the {child.card} states of {child.name!r}")
        return [number(p) for p in row]
    raise BadRow(_what_else(row))


def complement(p: float) -> float:
    """Return 1 - p as one would write it: 0.2 for 0.8, where floats give 0.19999999999999996."""
    return float(_DIGITS.subtract(_ONE, Decimal(repr(p))))


def number(value: object) -> float:
    """Return a real number as a float."""
    if not is_number(value):
        raise BadRow(f"{shown(value)} is not a number")
    try:
        return float(value)  # type: ignore[arg-type]
    except (OverflowError, ValueError):
        raise BadRow(f"{shown(value)} is too large") from None


def _from_rows(child: Variable, given: Sequence[Variable], rows: Mapping[Any, object]) -> Array:
    cards = [v.card for v in given]
    found = written_rows(child, given, rows)
    values = np.empty((*cards, child.card))
    if len(found) < math.prod(cards):
        if ... not in rows:
            _fail_missing(child, given, found)
        values[:] = default_row(child, rows)
    if found:
        values[tuple(np.array(list(found)).T)] = list(found.values())
    return values


def written_rows(
    child: Variable, given: Sequence[Variable], rows: Mapping[Any, object]
) -> dict[tuple[int, ...], Sequence[float]]:
    """Return the rows as written, except that of `...`, keyed by the codes of the parents' states."""
    found: dict[tuple[int, ...], Sequence[float]] = {}
    keys: dict[tuple[int, ...], object] = {}
    label = ""
    try:
        for key, row in rows.items():
            if key is ...:
                continue
            label = shown(key)
            codes = find_row(given, key)
            label = row_label(given, codes)
            if codes in keys:
                raise BadRow(f"{shown(keys[codes])} and {shown(key)} mean the same row")
            keys[codes] = key
            found[codes] = one_row(child, row)
    except BadRow as bad:
        _fail(child, str(bad), label)
    return found


def default_row(child: Variable, rows: Mapping[Any, object]) -> Sequence[float]:
    """Return the row of `...`."""
    try:
        return one_row(child, rows[...])
    except BadRow as bad:
        _fail(child, str(bad), "...")


def _from_long(child: Variable, given: Sequence[Variable], table: LongForm) -> Array:
    variables = (*given, child)
    cells = read_cells(repr(child.name), variables, table)
    values = np.zeros([v.card for v in variables])
    values[tuple(np.array(list(cells)).reshape(-1, len(variables)).T)] = list(cells.values())
    rows = dict.fromkeys(cell[:-1] for cell in cells)
    if len(rows) < math.prod(v.card for v in given):
        _fail_missing(child, given, rows)
    return values


def read_cells(what: str, variables: Sequence[Variable], table: LongForm) -> dict[tuple[int, ...], float]:
    """Return the value of each cell in a frame with one cell per row."""
    if set(table.columns) != {v.name for v in variables}:
        wanted = [v.name for v in variables]
        raise InvalidTable(f"{what}: the frame needs a column for each of {wanted}; {_columns_are(table)}.")
    cells: dict[tuple[int, ...], float] = {}
    columns = [table.columns[v.name] for v in variables]
    for line, (value, *states) in enumerate(zip(table.values, *columns, strict=True)):
        try:
            cell = tuple([_find(variable, state) for variable, state in zip(variables, states, strict=True)])
            if cell in cells:
                raise BadRow(f"{row_label(variables, cell)} appears twice")
            cells[cell] = number(value)
        except BadRow as bad:
            raise InvalidTable(f"{what}, row {line} of the frame: {sentence(str(bad))}") from None
    return cells


def _fail_missing(
    child: Variable, given: Sequence[Variable], written: Mapping[tuple[int, ...], object]
) -> NoReturn:
    cards = [v.card for v in given]
    total = math.prod(cards)
    first: list[str] = []
    for index in range(total):
        codes = tuple(int(code) for code in np.unravel_index(index, cards))
        if codes not in written:
            first.append(row_label(given, codes))
            if len(first) == _SHOWN:
                break
    count = total - len(written)
    more = f" and {count - len(first):,} more" if count > len(first) else ""
    rows = "the row is" if count == 1 else f"{count:,} rows are"
    _fail(child, f"{rows} missing for {'; '.join(first)}{more}; the key `...` stands for all rows left out")


def _fail(child: Variable, what: str, row: str = "") -> NoReturn:
    where = f", row {row}" if row else ""
    raise InvalidTable(f"{child.name!r}{where}: {sentence(what)}")


def sentence(text: str) -> str:
    """Return the text with a full stop, unless it ends with one or with a question mark."""
    return text if text.endswith((".", "?")) else f"{text}."


def _what_else(value: object) -> str:
    if callable(value):
        return "a function needs pgm.Deterministic(function)"
    if isinstance(value, bool | np.bool_):
        return f"{value!r} is a state; a probability is written {float(value)}"
    return f"{shown(value)} is not a probability, nor a list or dict of them"


def _columns_are(table: LongForm) -> str:
    return f"before the probabilities it has {list(table.columns)}"
