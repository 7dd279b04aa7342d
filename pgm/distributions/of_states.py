"""What numeric distributions have in common, whether one, or one for each of several states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.frames import Sequences
from pgm.printing import html_table, html_text, joined, text_table
from pgm.randomness import draw_count, generator

from .checks import finite, row_weights
from .emission import Observed
from .gaussian_statistics import near_centres
from .parts import Part

_ROWS = 20


class StateDistribution:
    """Parameters with the states as their first axis, and methods that follow from a density of rows."""

    __slots__ = ("_parameters", "_vector", "dim", "n_states")
    kind: ClassVar[str]
    label: ClassVar[str]

    whole: ClassVar[bool] = False  # whether it emits whole numbers

    _parameters: Mapping[str, np.ndarray] | None  # each (states, ...); None: yet to be fitted
    _vector: bool
    dim: int
    n_states: int | None  # None: one distribution, not one for each state

    def _fill(self, given: Mapping[str, Any] | None, dim: int, n_states: int | None, vector: bool) -> None:
        if given is not None:
            given = {name: np.array(value, dtype=np.float64) for name, value in given.items()}
            for value in given.values():
                value.flags.writeable = False
        for name, value in (
            ("_parameters", given),
            ("dim", dim),
            ("n_states", n_states),
            ("_vector", vector),
        ):
            object.__setattr__(self, name, value)

    def _with(self, parameters: Mapping[str, np.ndarray]) -> Self:
        """The same with other parameters, with as many states as these have."""
        made = self.__new__(type(self))
        for slot in self._slots():
            object.__setattr__(made, slot, getattr(self, slot))
        count = len(next(iter(parameters.values())))
        states = count if self.n_states is not None or count > 1 else None
        made._fill(parameters, self.dim, states, self._vector)
        return made

    def of_state(self, state: int) -> Self:
        """Return the distribution of one of several states alone.

        Args:
            state: its index, from 0.

        Raises:
            InvalidArgument: there are no parameters yet, or only one distribution.

        >>> import pgm
        >>> pgm.Poisson([1.0, 5.0]).of_state(1)
        Poisson(5)
        """
        if self.n_states is None or not 0 <= state < self.n_states:
            raise InvalidArgument(
                f"of_state takes an index from 0 to {(self.n_states or 1) - 1} where there are several "
                f"distributions, not {shown(state)}."
            )
        made = self._with({name: values[[state]] for name, values in self._known.items()})
        object.__setattr__(made, "n_states", None)
        return made

    @classmethod
    def _slots(cls) -> list[str]:
        return [slot for base in cls.__mro__ for slot in getattr(base, "__slots__", ())]

    @property
    def _known(self) -> Mapping[str, np.ndarray]:
        if self._parameters is None:
            raise InvalidArgument(f"This {type(self).__name__} has no parameters yet: `fit` gives it some.")
        return self._parameters

    def _shaped(self, values: np.ndarray) -> Any:
        """Parameters as the user gave them: without the axis of states for a single distribution."""
        found = values if self.n_states is not None else values[0]
        return float(found) if np.ndim(found) == 0 else found

    # --- methods ---

    def log_density(self, x: Any) -> np.ndarray:
        """Return the log density of each row of `x`, a column for each state if there are several.

        Args:
            x: what is observed once, or a list or an array of such rows; None and NaN were not observed, and
                have density one.

        Raises:
            InvalidArgument: a value cannot be observed, or there are too many or too few in a row.

        >>> import pgm
        >>> pgm.Poisson(2.0).log_density([0, 1, None]).round(6).tolist()
        [-2.0, -1.306853, 0.0]
        """
        rows, lone = self._rows(x)
        found = self.log_rows(rows)
        found = found if self.n_states is not None else found[:, 0]
        return np.asarray(found[0] if lone else found)

    def sample(
        self, n: int, *, seed: int | np.random.Generator | None = None, state: int | None = None
    ) -> np.ndarray:
        """Draw n rows; with several states, from the distribution of one of them.

        Args:
            n: how many.
            seed: a whole number, or a numpy Generator.
            state: which of several distributions to draw from; only where there are several.

        Raises:
            InvalidArgument: `state` is missing, or given where there is only one distribution; n or seed is
                not a whole number of at least 0.

        >>> import pgm
        >>> pgm.Poisson(0.0).sample(3, seed=0).tolist()
        [0, 0, 0]
        """
        if (state is None) != (self.n_states is None):
            raise InvalidArgument(
                "Give state= where there are several distributions to draw from, and only there."
            )
        k = 0 if state is None else state
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k < (self.n_states or 1):
            raise InvalidArgument(f"state= is an index from 0 to {(self.n_states or 1) - 1}, not {shown(k)}.")
        return self.draw(np.full(draw_count(n), k), generator(seed))

    def statistics(self, x: Any, weights: Any = None) -> Any:
        """Return the sufficient statistics of the rows; with a column of weights per state, for each state.

        Args:
            x: as for `log_density`.
            weights: one for each row; or a column for each state.

        Raises:
            InvalidArgument: a value cannot be observed, or weights are negative or too few.

        >>> import pgm
        >>> one = pgm.Poisson()
        >>> one.fitted(one.statistics([1, 2]) + one.statistics([6]))
        Poisson(3)
        """
        rows, _ = self._rows(x)
        return self.gathered(rows, row_weights(weights, rows.shape[0]))

    def fit(self, x: Any, weights: Any = None) -> Self:
        """Return the maximum-likelihood distribution for these rows.

        Args:
            x: as for `log_density`.
            weights: one for each row; or a column for each state.

        Raises:
            InvalidArgument: no row has any weight, or a value cannot be observed.

        >>> import pgm
        >>> pgm.Poisson().fit([1, 2, None, 6])
        Poisson(3)
        """
        rows, _ = self._rows(x)
        return self._fit_rows(rows, row_weights(weights, rows.shape[0]))

    def _fit_rows(self, rows: np.ndarray, weights: np.ndarray) -> Self:
        return self.fitted(self.gathered(rows, weights))

    def fitted(self, statistics: Any, prior: Any = None) -> Self:
        """Return the maximum-likelihood distribution for rows with these sufficient statistics.

        Args:
            statistics: what `statistics` returned, or a sum of several such results.
            prior: statistics of rows that were never seen, counted with the others.

        Raises:
            InvalidArgument: no row has any weight. Of several states, one without weight keeps its own.

        >>> import pgm
        >>> one = pgm.Poisson()
        >>> one.fitted(one.statistics([1, 2, 6]), prior=one.statistics([7]))
        Poisson(4)
        """
        raise NotImplementedError

    def to_parts(self) -> dict[str, Any]:
        """Return the parameters, for a file.

        >>> import pgm
        >>> pgm.Poisson(3.0).to_parts()
        {'rate': 3.0}
        """
        raise NotImplementedError

    @classmethod
    def from_parts(cls, part: Part) -> Self:
        """Return the distribution of these parts, as `to_parts` returned them.

        Args:
            part: read from a file, or `Part.of(parts)`.

        Raises:
            FileFormatError, InvalidTable: these are not parts of such a distribution.
            InvalidArgument: its parameters are impossible.

        >>> import pgm
        >>> from pgm.distributions.parts import Part
        >>> pgm.Poisson.from_parts(Part.of({"rate": [1.0, 3.0]})) == pgm.Poisson([1.0, 3.0])
        True
        """
        raise NotImplementedError

    # --- as an emission ---

    @property
    def vector(self) -> bool:
        """Whether an observation has several entries, not a single value."""
        return self._vector

    @property
    def has_parameters(self) -> bool:
        """Whether there are parameters; else they are yet to be fitted."""
        return self._parameters is not None

    def n_free(self, states: np.ndarray) -> int:
        """The number of free parameters of these states."""
        raise NotImplementedError

    @property
    def domain(self) -> None:
        """It emits no symbols."""

    def normals(self) -> None:
        """It is not Gaussian."""

    def read(self, sequences: Sequences) -> Observed:
        """Read rows of values, NaN where not observed."""
        rows = sequences.floats(self.dim, flat=not self._vector)
        self._check_rows(rows, lambda row: f"{sequences.place(row).capitalize()}: ")
        return Observed(rows)

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log density of each row, a column for each state."""
        raise NotImplementedError

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """An observation for each of these states."""
        raise NotImplementedError

    def filled(self, observed: Observed, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """What was observed, and draws from these states where it was not: entries are independent."""
        drawn = self.draw(states, random)
        rows = observed.rows if self._vector else observed.rows[:, 0]
        return np.where(np.isnan(rows), drawn, rows).astype(drawn.dtype)

    def collapsed(self, rows: np.ndarray) -> int | None:
        """None: densities are bounded."""
        return None

    def gathered(self, rows: np.ndarray, weights: np.ndarray) -> Any:
        """Sufficient statistics of rows, weighted for each state."""
        raise NotImplementedError

    def expected_log(self, statistics: Any) -> float:
        """The log density of rows with these statistics, up to terms without parameters."""
        raise NotImplementedError

    def pseudo(self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray) -> Any:
        """Statistics of pseudo-observations of this weight in each state."""
        raise NotImplementedError

    def parameters(self) -> tuple[np.ndarray, ...]:
        """All parameters, as arrays."""
        return tuple(self._known.values())

    def with_parameters(self, values: Sequence[np.ndarray]) -> Self | None:
        """The same distribution with other parameters; None if these are impossible."""
        named = dict(zip(self._known, values, strict=True))
        return (
            self._with(named) if all(self._possible(name, value) for name, value in named.items()) else None
        )

    def _possible(self, name: str, value: np.ndarray) -> bool:
        """Whether a parameter may have these values."""
        return bool((value >= 0.0).all())

    def first_guess(
        self, rows: np.ndarray, counts: np.ndarray, n_states: int, random: np.random.Generator
    ) -> np.ndarray:
        """Mostly for the nearest of centres that lie far apart; missing entries count as their means."""
        return near_centres(completed(rows), counts, n_states, random)

    def _rows(self, x: Any) -> tuple[np.ndarray, bool]:
        try:
            rows = np.array(x, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InvalidArgument(f"A {type(self).__name__} takes numbers, not {shown(x)}.") from None
        lone = rows.ndim == (1 if self._vector else 0)
        if isinstance(x, str) or (rows.ndim not in ((1, 2) if self._vector else (0, 1))):
            raise InvalidArgument(
                f"A {type(self).__name__} takes {'rows of ' * self._vector}numbers, not {shown(x)}."
            )
        rows = np.atleast_2d(rows) if self._vector else rows.reshape(-1, 1)
        if rows.shape[1] != self.dim:
            raise InvalidArgument(f"A row has {self.dim} values, not {rows.shape[1]}.")
        self._check_rows(rows, lambda row: "" if lone else f"Row {row} (the first is 0): ")
        return rows, lone

    def _wrong(self, rows: np.ndarray) -> tuple[np.ndarray, str]:
        """Which entries cannot be observed, and what they would have to be."""
        return np.isinf(rows), "a finite number"

    def _check_rows(self, rows: np.ndarray, place: Any) -> None:
        wrong, right = self._wrong(rows)
        if wrong.any():
            i, j = np.argwhere(wrong)[0].tolist()
            what = f"{place(i)}{float(rows[i, j]):.10g} is not {right}."
            raise InvalidArgument(what[0].upper() + what[1:])

    # --- as a value ---

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} does not change; .{name} cannot be set")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, StateDistribution)
        for slot in self._slots():
            mine, theirs = getattr(self, slot), getattr(other, slot)
            if slot == "_parameters" and mine is not None and theirs is not None:
                if not all(np.array_equal(mine[name], theirs[name]) for name in mine):
                    return False
            elif mine != theirs:
                return False
        return True

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {slot: getattr(self, slot) for slot in self._slots()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for slot, value in state.items():
            object.__setattr__(self, slot, value)
        self._fill(state["_parameters"], state["dim"], state["n_states"], state["_vector"])

    def __repr__(self) -> str:
        if self._parameters is None:
            return f"{type(self).__name__}({self._options()})"
        return text_table(*self._lines(), title=self._title())

    def _repr_html_(self) -> str:
        if self._parameters is None:
            return html_text(repr(self))
        return html_table(*self._lines(), title=self._title())

    def _options(self) -> str:
        return f"dim={self.dim}" if self._vector else ""

    def _title(self) -> str:
        parts = [] if self.n_states is None else [f"{self.n_states} states"]
        if self._vector:
            parts.append(f"{self.dim} entr{'ies' if self.dim > 1 else 'y'}")
        return ": ".join([type(self).__name__, *([", ".join(parts)] if parts else [])])

    def _lines(self) -> tuple[list[str], list[list[str]], str]:
        """A row for each state, a column for each parameter."""
        known = self._known
        total = len(next(iter(known.values())))
        rows = [
            [
                str(k) if self.n_states is not None else "",
                *(joined((f"{x:.6g}" for x in v[k].flat[:_ROWS].tolist()), v[k].size, 70)
                  for v in known.values()),
            ]
            for k in range(min(total, _ROWS))
        ]  # fmt: skip
        note = f"... {total - _ROWS:,} more of {total:,} states" if total > _ROWS else ""
        return ["state" if self.n_states is not None else "", *known], rows, note


def completed(rows: np.ndarray) -> np.ndarray:
    """Rows whose missing entries are replaced by the means of their columns.

    >>> completed(np.array([[1.0], [np.nan], [3.0]])).tolist()
    [[1.0], [2.0], [3.0]]
    """
    there = ~np.isnan(rows)
    if there.all():
        return rows
    mean = np.where(there, rows, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return np.where(there, rows, mean)


def entries(what: str, values: Any, dim: int | None) -> tuple[np.ndarray, int, int | None, bool]:
    """Parameters of independent entries: (states, entries), how many entries and states, whether vectors.

    Args:
        what: their name, for messages.
        values: a float; a list, one for each state, or with `dim` for each entry; or rows for the states.
        dim: the number of entries.
    """
    found = finite(what, values, (0, 1, 2))
    if found.size == 0:
        raise InvalidArgument(f"{what} is empty: {shown(values)}.")
    vector = found.ndim == 2 or dim is not None
    states = None if found.ndim == 0 or (found.ndim == 1 and dim is not None) else len(found)
    table = found.reshape(-1, 1) if not vector else np.atleast_2d(found)
    if dim is not None and table.shape[1] != dim:
        raise InvalidArgument(f"dim={shown(dim)} does not match rows of {table.shape[1]} in {what}.")
    return table, table.shape[1], states, vector


def width(dim: Any) -> int:
    """The number of entries that the user gave; 1 if left out."""
    if dim is None:
        return 1
    if isinstance(dim, bool) or not isinstance(dim, int) or dim < 1:
        raise InvalidArgument(f"dim= is a whole number of at least 1, not {shown(dim)}.")
    return dim
