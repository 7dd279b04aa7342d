"""Checks that models of chains share: distributions over states, transitions, and the states themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.errors import InvalidArgument, InvalidTable, listed, nearest, shown
from pgm.printing import label
from pgm.results import Logarithm, Report
from pgm.variables import Domain, Variable, as_domain, unordered

_ROUNDING = 1e-6 * (1 + 1e-6)
_LAST_BITS = 2.0**-50  # sums this near to one are left alone: files are read back unchanged

MOST_STARTS = 100_000  # of EM
_LEAST_OF_STEP = 4  # floats kept for each step, at the very least


def domain_of(
    states: Any, n_states: Any, sizes: Mapping[str, int | None], transition: Any = None, order: int = 1
) -> Domain:
    """The states of a chain, from their names, from how many there are, or from the sizes of what was given.

    Args:
        states: the names, or None.
        n_states: how many, or None.
        sizes: for each argument that was given, how many states it has.
        transition: rows of transitions; the keys of a dict, which has a row for each state, name the states.
        order: how many previous states each one depends on, which sets the size of the tables.
    """
    if states is None and isinstance(transition, Mapping):
        states = list(transition)
    known = {name: size for name, size in sizes.items() if size is not None}
    if n_states is not None:
        if isinstance(n_states, bool) or not isinstance(n_states, int | np.integer) or n_states < 1:
            raise InvalidArgument(f"n_states= is a whole number of at least 1, not {shown(n_states)}.")
        known = {"n_states=": int(n_states), **known}
    if states is not None:
        if unordered(states) or isinstance(states, str) or not isinstance(states, Iterable):
            raise InvalidArgument(f"states= is a list, because states have an order, not {shown(states)}.")
        domain = as_domain(list(states))
        known = {"states=": domain.card, **known}
    if not known:
        raise InvalidArgument("How many states are there? Give n_states=, states= or the transitions.")
    (first, size), *others = known.items()
    for name, other in others:
        if other != size:
            raise InvalidArgument(f"{first} has {size} states, but {name} has {other}.")
    check_cells(
        (size,) * (order + 1), "The transitions", "choose fewer states" + " or a lower order" * (order > 1)
    )
    return domain if states is not None else as_domain(list(range(size)))


def distribution(given: Any, variable: Variable, what: str) -> np.ndarray:
    """Probabilities of the states, from a list or from a dict by state."""
    if isinstance(given, Mapping):
        made = np.zeros(variable.card)
        for state, p in given.items():
            one = probabilities(p, what)
            if one.ndim:
                raise InvalidTable(f"{what} has one probability for each state, not {shown(p)}.")
            made[variable.code(state)] = one
        given = made
    found = probabilities(given, what)
    if found.shape != (variable.card,):
        raise InvalidTable(
            f"{what} has one probability for each of {variable.card} states, not {shown(given)}."
        )
    return np.asarray(_normal(found[None], what, lambda row: "")[0])


def transitions(given: Any, variable: Variable, what: str = "transition=") -> np.ndarray:
    """A row of probabilities for each state: from an array, or a dict of rows by state."""
    k = variable.card
    if isinstance(given, Mapping):
        rows: list[Any] = [None] * k
        for state, row in given.items():
            rows[variable.code(state)] = distribution(row, variable, f"{what} row {shown(state)}")
        missing = [variable.states[i] for i, row in enumerate(rows) if row is None]
        if missing:
            raise InvalidTable(f"{what} has no row for the state {shown(missing[0])}.")
        given = np.array(rows)
    found = probabilities(given, what)
    if found.shape != (k, k):
        raise InvalidTable(f"{what} has the shape {(k, k)}, a row for each state, not {found.shape}.")
    return _normal(found, what, lambda row: f" row {shown(variable.states[row])}")


def rows_of(table: np.ndarray, variable: Variable, order: int, what: str) -> np.ndarray:
    """Rows of probabilities, one for each sequence of this many states; an error names the row."""
    called = list(product(variable.states, repeat=order))
    return _normal(table, what, lambda row: f" row {shown(called[row] if order > 1 else called[row][0])}")


def probabilities(given: Any, what: str) -> np.ndarray:
    """What was given as an array; an error where it is not a numeric table."""
    try:
        found = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidTable(f"{what} takes probabilities, not {shown(given)}.") from None
    return found


def _normal(table: np.ndarray, what: str, of: Any) -> np.ndarray:
    """The rows divided by their sums, which are one up to rounding; an error names the row."""
    for i, row in enumerate(table):
        if not np.isfinite(row).all() or (row < 0).any():
            bad = row[~(np.isfinite(row) & (row >= 0))][0]
            raise InvalidTable(f"{what}{of(i)} has {bad:.10g}, which is not a probability.")
        if abs(row.sum() - 1.0) > _ROUNDING:
            raise InvalidTable(f"{what}{of(i)} sums to {row.sum():.10g}, not to one.")
    sums = table.sum(axis=1, keepdims=True)
    made: np.ndarray = np.where(np.abs(sums - 1.0) <= _LAST_BITS, table, table / sums)
    made.flags.writeable = False
    return made


def normalised(counts: np.ndarray, own: np.ndarray, fixed: np.ndarray | None = None) -> np.ndarray:
    """Counts divided by the sums of their rows; a row without counts, and what is fixed, stay as they are.

    >>> normalised(np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([[0.5, 0.5], [0.9, 0.1]])).tolist()
    [[0.25, 0.75], [0.9, 0.1]]
    """
    free = np.ones_like(own, dtype=bool) if fixed is None else ~fixed
    counts = np.where(free, counts, 0.0)
    left = 1.0 - np.where(free, 0.0, own).sum(axis=1, keepdims=True)
    sums = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts * left, sums, out=np.zeros_like(counts), where=sums > 0)
    return np.where(sums > 0, np.where(free, shares, own), own)


def weights_of(weights: Any, count: int) -> np.ndarray:
    """How much each sequence counts; 1 for all if None."""
    if weights is None:
        return np.ones(count)
    try:
        found = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.shape != (count,) or not np.isfinite(found).all() or (found < 0).any() or not found.any():
        raise InvalidArgument(
            f"weights= has a non-negative number for each of {count} sequences, not {shown(weights)}."
        )
    return found


def steps_ahead(steps: Any) -> int:
    """How many steps to look ahead, checked: at least 1."""
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise InvalidArgument(f"steps= is a whole number of at least 1, not {shown(steps)}.")
    check_steps(int(steps))
    return int(steps)


def steps_after(first: np.ndarray, move: np.ndarray, steps: int) -> np.ndarray:
    """Beliefs about this many steps, a row for each, from those about the first.

    Rows are computed in doubling blocks: all rows so far times a power of the transition matrix. Each power
    is divided by the sums of its rows, which are one but for rounding.

    >>> steps_after(np.array([1.0, 0.0]), np.array([[0.5, 0.5], [0.0, 1.0]]), 3).tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.25, 0.75]]
    """
    found = np.empty((steps, first.size))
    found[0], done, power = first, 1, move
    while done < steps:
        some = min(done, steps - done)
        np.matmul(found[:some], power, out=found[done : done + some])
        done += some
        if done < steps:
            power = squared(power)
    return found


def squared(move: np.ndarray) -> np.ndarray:
    """The transitions over twice as many steps."""
    twice = move @ move
    made: np.ndarray = twice / twice.sum(axis=1, keepdims=True)
    return made


def check_steps(steps: int, sequences: int = 1) -> None:
    """Raise TooLarge where this many steps can hardly fit in memory, whatever is kept of each."""
    check_cells((steps, sequences, _LEAST_OF_STEP), "This many steps", "choose fewer")


def check_by(by: object) -> None:
    """Refuse a `by=` that `score` does not know."""
    if by not in (None, "sequence", "step"):
        raise InvalidArgument(f'by= is "sequence", "step" or left out, not {shown(by)}.')


def scores_by(by: object, shares: np.ndarray, starts: np.ndarray, lone: bool, report: Report) -> Any:
    """The answer of `score` from log P of each step given those before, the sequences concatenated."""
    if by == "step":
        return shares if lone else np.split(shares, starts[1:-1])
    logs = np.add.reduceat(shares, starts[:-1])
    return logs if by == "sequence" else Logarithm(float(logs.sum()), report)


def rows_fixed(given: Any, variable: Variable, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Which entries stay fixed: those of some states, or as an array of booleans says."""
    if isinstance(given, np.ndarray | list | tuple) and np.shape(given) == shape:
        found = np.asarray(given)
        if found.dtype == bool:
            return found
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        given = [given]
    made = np.zeros(shape, bool)
    for state in given:
        made[variable.code(state)] = True
    if not made.any():
        raise InvalidArgument(f"fixed={{{what!r}: ...}} names states, or is an array of booleans.")
    return made


def parts_fixed(
    fixed: Any, shapes: Mapping[str, tuple[int, ...]], variable: Variable, of: str
) -> dict[str, np.ndarray]:
    """Which entries of each part stay fixed, as booleans.

    Args:
        fixed: as the user wrote it: names of parts, or {part: states or booleans}.
        shapes: of the parts.
        variable: the states, or components.
        of: what messages call these.
    """
    found = {name: np.zeros(shape, bool) for name, shape in shapes.items()}
    if not isinstance(fixed, Mapping | str | list | tuple | set | frozenset):
        raise InvalidArgument(
            f"fixed= is a list of {listed(shapes)}, or a dict from these to {of}, not {shown(fixed)}."
        )
    given = [fixed] if isinstance(fixed, str) else fixed
    for name in given:
        if name not in shapes:
            raise InvalidArgument(
                f"fixed= names {shown(name)}; the parts are {listed(shapes)}.{nearest(name, shapes)}"
            )
        if not isinstance(given, Mapping) or given[name] is True:
            found[name][...] = True
        elif given[name] is not False:
            found[name] = rows_fixed(given[name], variable, shapes[name], name)
    return found


def printed_rows(table: np.ndarray) -> list[list[str]]:
    """Probabilities as text, to six significant digits."""
    return [[f"{p:.6g}" for p in row] for row in table.tolist()]


def names(variable: Variable) -> list[str]:
    """The states as pictures and tables show them."""
    return [label(state) for state in variable.states]
