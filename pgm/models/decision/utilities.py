"""Utilities: tables over variables, or functions of other utilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from pgm.cpds.table_input import (
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
from pgm.errors import InvalidTable, listed, shown
from pgm.frames import is_frame, long_form
from pgm.variables import Variable

_SHOWN = 3


@dataclass(frozen=True, eq=False)
class Utility:
    """A utility: a table over the states of its parents, or a sum or function of other utilities.

    Exactly one of `values`, `weights` and `function` is there.
    """

    parents: tuple[str, ...]
    values: np.ndarray | None = None  # an axis for each parent
    weights: tuple[float, ...] | None = None  # of the utilities that are its parents
    function: Callable[..., Any] | None = None  # of their values, in the order of the parents

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Utility):
            return NotImplemented
        if (self.values is None) != (other.values is None):
            return False
        if self.values is not None and other.values is not None:
            if sorted(self.parents) != sorted(other.parents):
                return False
            order = [other.parents.index(name) for name in self.parents]
            return np.array_equal(self.values, other.values.transpose(order))
        if self.function is not None or other.function is not None:
            return self.parents == other.parents and self.function == other.function
        mine, theirs = (dict(zip(u.parents, u.weights or (), strict=True)) for u in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]


def of_variables(name: str, variables: Sequence[Variable], table: object) -> Utility:
    """Read a utility as a user writes it.

    Args:
        name: the utility, for messages.
        variables: its parents.
        table: a value without parents; a dict {state or (state, ...): value}, where `...` stands for the
            rows left out; an array with an axis for each parent; a frame whose last column is `value`; or a
            function of the states, called with the names of the parents.

    >>> rain = Variable("rain", [False, True])
    >>> of_variables("mood", [rain], {True: -5, False: 10}).values.tolist()
    [10.0, -5.0]
    """
    what = f"the utility {name!r}"
    shape = tuple([v.card for v in variables])
    check_cells(shape, f"The table of {what}", "use several smaller utilities, which add up")
    if callable(table):
        values = _from_function(what, variables, table)
    elif is_frame(table):
        lone = variables[0].name if variables else ""
        values = _filled(
            what, variables, read_cells(what, variables, long_form(what, table, ("value",), lone))
        )
    elif isinstance(table, Mapping):
        values = _filled(what, variables, *_rows(what, variables, table))
    else:
        values = np.array(float(table)) if is_number(table) else float_array(what, table)  # type: ignore[arg-type]
        if values.shape != shape:
            expected = " x ".join(f"{v.card} ({v.name!r})" for v in variables) or "a single value"
            hint = f"this one has shape {values.shape}" if values.ndim else f"not {shown(table)}"
            raise InvalidTable(f"{_start(what)} takes an array of shape {shape}, {expected}; {hint}.")
    values = np.array(values, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        row = row_label(variables, bad[0])
        raise InvalidTable(
            f"{_start(what)}{f', row {row}' if row else ''}: {float(values[tuple(bad[0])])!r} is not a "
            "finite number. What must not be done is said by allowed= of the decision, not by a utility of "
            "minus infinity."
        )
    values.flags.writeable = False
    return Utility(tuple([v.name for v in variables]), values)


def of_utilities(name: str, parents: Sequence[str], table: object) -> Utility:
    """Read a utility that is a weighted sum of others, {utility: weight} or weights in order, or a function.

    Args:
        name: the utility, for messages.
        parents: the utilities that it depends on.
        table: weights, or a function, called with the names of the parents.
    """
    what = f"The utility {name!r}"
    if callable(table):
        return Utility(tuple(parents), function=table)
    if isinstance(table, Mapping):
        strange = [key for key in table if key not in parents]
        absent = [parent for parent in parents if parent not in table]
        if strange or absent:
            why = f"{listed(strange)} is not a parent" if strange else f"{listed(absent)} has no weight"
            raise InvalidTable(
                f"{what} is a sum of {listed(parents)}: {why}. Give a weight for each of them, or a function."
            )
        weights = [table[parent] for parent in parents]
    elif isinstance(table, Iterable) and not isinstance(table, str):
        weights = list(table)
        if len(weights) != len(parents):
            raise InvalidTable(
                f"{what} is a sum of {len(parents)} utilities: {len(weights)} weights were given."
            )
    else:
        raise InvalidTable(
            f"{what} depends on the utilities {listed(parents)}: give a weight for each, or a function of "
            f"them, not {shown(table)}."
        )
    found = []
    for parent, weight in zip(parents, weights, strict=True):
        if not is_number(weight) or not math.isfinite(float(weight)):
            raise InvalidTable(f"{what}: the weight of {parent!r} is {shown(weight)}, not a finite number.")
        found.append(float(weight))
    return Utility(tuple(parents), weights=tuple(found))


# A table with the variables of its axes.
Term = tuple[tuple[str, ...], np.ndarray]


def terms(name: str, utilities: Mapping[str, Utility], cards: Mapping[str, int]) -> list[Term]:
    """Return tables over variables that add up to a utility.

    Args:
        name: the utility.
        utilities: all of them.
        cards: the number of states of each variable.
    """
    utility = utilities[name]
    if utility.values is not None:
        return [(utility.parents, utility.values)]
    if utility.weights is not None:
        return [
            (scope, weight * values)
            for parent, weight in zip(utility.parents, utility.weights, strict=True)
            for scope, values in terms(parent, utilities, cards)
        ]
    assert utility.function is not None
    parts = [terms(parent, utilities, cards) for parent in utility.parents]
    scope = tuple(dict.fromkeys(v for part in parts for names, _ in part for v in names))
    shape = tuple([cards[v] for v in scope])
    check_cells(shape, f"The table of the utility {name!r}", "use a function of fewer utilities")
    grids = [sum_of(part, scope, shape) for part in parts]
    made = np.empty(shape)
    for at in np.ndindex(shape):
        worth = {parent: float(g[at]) for parent, g in zip(utility.parents, grids, strict=True)}
        made[at] = _called(f"The utility {name!r}", utility.function, worth)
    return [(scope, made)]


def sum_of(part: Iterable[Term], scope: Sequence[str], shape: Sequence[int]) -> np.ndarray:
    """Return the sum of some tables over these variables."""
    total = np.zeros(shape)
    for names, values in part:
        order = [names.index(v) for v in scope if v in names]
        sizes = iter([values.shape[i] for i in order])
        total += values.transpose(order).reshape([next(sizes) if v in names else 1 for v in scope])
    return total


def _start(what: str) -> str:
    return what[0].upper() + what[1:]


def _called(what: str, function: Callable[..., Any], arguments: Mapping[str, Any]) -> float:
    try:
        value = function(**arguments)
    except Exception as error:
        given = ", ".join(f"{name}={shown(v)}" for name, v in arguments.items())
        raise InvalidTable(
            f"{what}: its function is called with its parents by name ({given}), and failed: "
            f"{type(error).__name__}: {error}."
        ) from error
    if not is_number(value) or not math.isfinite(float(value)):
        given = ", ".join(f"{name}={shown(v)}" for name, v in arguments.items())
        raise InvalidTable(f"{what}: its function of {given} is {shown(value)}, not a finite number.")
    return float(value)


def _from_function(what: str, variables: Sequence[Variable], function: Callable[..., Any]) -> np.ndarray:
    values = np.empty([v.card for v in variables])
    for at, states in zip(np.ndindex(values.shape), product(*[v.states for v in variables]), strict=True):
        named = dict(zip([v.name for v in variables], states, strict=True))
        values[at] = _called(_start(what), function, named)
    return values


def _rows(
    what: str, variables: Sequence[Variable], table: Mapping[Any, object]
) -> tuple[dict[tuple[int, ...], float], float | None]:
    rows: dict[tuple[int, ...], float] = {}
    rest: float | None = None
    for key, value in table.items():
        try:
            if key is ...:
                rest = number(value)
                continue
            codes = find_row(variables, key)
            if codes in rows:
                raise BadRow(f"{row_label(variables, codes)} appears twice")
            rows[codes] = number(value)
        except BadRow as bad:
            raise InvalidTable(f"{_start(what)}, row {shown(key)}: {sentence(str(bad))}") from None
    return rows, rest


def _filled(
    what: str,
    variables: Sequence[Variable],
    rows: Mapping[tuple[int, ...], float],
    rest: float | None = None,
) -> np.ndarray:
    shape = [v.card for v in variables]
    values = np.full(shape, math.nan if rest is None else rest)
    for codes, value in rows.items():
        values[codes] = value
    if rest is None and len(rows) < values.size:
        absent = [codes for codes in np.ndindex(*shape) if codes not in rows]
        some = "; ".join(row_label(variables, codes) for codes in absent[:_SHOWN])
        more = f" and {len(absent) - _SHOWN:,} more" if len(absent) > _SHOWN else ""
        raise InvalidTable(
            f"{_start(what)}: there is no value for {some}{more}; the key `...` stands for all rows left out."
        )
    return values
