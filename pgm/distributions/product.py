"""Columns of any kinds, which are independent given the state: each has its own distribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, listed, shown
from pgm.frames.sequences import Sequences, sequences
from pgm.printing import html_text

from .emission import Emission, Observed
from .gaussian_statistics import near_centres
from .of_states import StateDistribution, completed
from .parts import Part


@dataclass(frozen=True, eq=False)
class ProductStatistics:
    """The statistics of each part; `+` adds those of other rows."""

    parts: tuple[Any, ...]

    def __add__(self, other: ProductStatistics) -> ProductStatistics:
        """The statistics of all rows."""
        return ProductStatistics(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))


class Product(StateDistribution):
    """Several columns of any kinds, which are independent given the state.

    Args:
        parts: a distribution for each column, in order; one of vectors takes as many columns as it has
            entries. Or a dict by the name of the column, or a tuple of names for vectors; data frames may
            then have other columns too.

    >>> import pgm
    >>> both = Product({"height": pgm.Gaussian([1.0, 3.0], sd=1.0), "visits": pgm.Poisson([1.0, 5.0])})
    >>> both.log_density([[1.0, 0], [None, 2]]).round(6).tolist()
    [[-1.918939, -7.918939], [-1.693147, -2.474271]]
    """

    __slots__ = ("names", "parts")
    kind, label = "product", "product"

    parts: tuple[Any, ...]
    names: tuple[tuple[str, ...], ...] | None  # of the columns of each part

    def __init__(self, parts: Any) -> None:
        found = list(parts.values()) if isinstance(parts, Mapping) else parts
        if not isinstance(found, list | tuple) or not found:
            raise InvalidArgument(
                f"A Product takes a list of distributions, or a dict by column, not {shown(parts)}."
            )
        for part in found:
            if not isinstance(part, Emission):
                raise InvalidArgument(f"A part of a Product is a distribution, not {shown(part)}.")
        names = None
        if isinstance(parts, Mapping):
            names = tuple(name if isinstance(name, tuple) else (name,) for name in parts)
            flat = [name for group in names for name in group]
            if len(set(flat)) < len(flat) or not all(isinstance(name, str) for name in flat):
                raise InvalidArgument(f"Columns need different names, which are text, not {listed(flat)}.")
            for group, part in zip(names, found, strict=True):
                if len(group) != _width(part):
                    raise InvalidArgument(
                        f"{listed(group)} name{'s' * (len(group) == 1)} {len(group)} "
                        f"column{'s' * (len(group) > 1)}, but the "
                        f"distribution takes {_width(part)}."
                    )
        sizes = {part.n_states for part in found if part.has_parameters}
        if len(sizes) > 1:
            raise InvalidArgument(
                "The parts of a Product have the same number of states, not "
                f"{listed(sorted('one distribution' if n is None else str(n) for n in sizes))}."
            )
        self._take(tuple(found), names)

    def _take(self, parts: tuple[Any, ...], names: tuple[tuple[str, ...], ...] | None) -> None:
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "names", names)
        known = next((part.n_states for part in parts if part.has_parameters), None)
        parameters: dict[str, np.ndarray] | None = {} if all(part.has_parameters for part in parts) else None
        self._fill(parameters, sum(map(_width, parts)), known, True)

    def _fit_rows(self, rows: np.ndarray, weights: np.ndarray) -> Self:
        made = self.__new__(type(self))
        made._take(
            tuple(
                part._fit_rows(some, weights)  # a mixture takes several steps
                if isinstance(part, StateDistribution)
                else part.fitted(part.gathered(some, weights))
                for part, some in self._split(rows)
            ),
            self.names,
        )
        return made

    def fitted(self, statistics: ProductStatistics, prior: ProductStatistics | None = None) -> Self:
        """Return the most likely distribution for these statistics of its parts."""
        statistics = statistics if prior is None else statistics + prior
        made = self.__new__(type(self))
        parts = zip(self.parts, statistics.parts, strict=True)
        made._take(tuple(part.fitted(one) for part, one in parts), self.names)
        return made

    # --- as an emission ---

    def parameters(self) -> tuple[np.ndarray, ...]:
        """The parameters of all parts, one after the other."""
        return tuple(value for part in self.parts for value in part.parameters())

    def with_parameters(self, values: Sequence[np.ndarray]) -> Self | None:
        """The same distribution with other parameters; None if these are impossible."""
        found, at = [], 0
        for part in self.parts:
            many = len(part.parameters())
            found.append(part.with_parameters(values[at : at + many]))
            at += many
        if any(part is None for part in found):
            return None
        made = self.__new__(type(self))
        made._take(tuple(found), self.names)
        return made

    def coordinates(self) -> np.ndarray:
        """The coordinates of all parts, one after the other."""
        return np.concatenate([part.coordinates() for part in self.parts])

    def at(self, coordinates: np.ndarray) -> Self:
        """The same distribution with the parameters at these coordinates."""
        found, begin = [], 0
        for part in self.parts:
            end = begin + part.coordinates().size
            found.append(part.at(coordinates[begin:end]))
            begin = end
        made = self.__new__(type(self))
        made._take(tuple(found), self.names)
        return made

    def n_free(self, states: np.ndarray) -> int:
        """The number of free parameters of all parts."""
        return sum(part.n_free(states) for part in self.parts)

    def columns(self) -> dict[str, Any]:
        """The parts, by the names of their columns; by index where they have none."""
        names = self.names or [(f"observation[{i}]",) for i in range(len(self.parts))]
        return {", ".join(group): part for group, part in zip(names, self.parts, strict=True)}

    def read(self, sequences: Sequences) -> Observed:
        """Read each part's columns; rows hold floats, symbols as codes, NaN where not observed."""
        self._check_width(sequences)
        names = self._columns(sequences)
        found, index = [], 0
        for part in self.parts:
            columns = []
            for _ in range(_width(part)):
                columns.append(sequences.column(names[index], index))
                index += 1
            one = columns[0]
            if part.vector:
                cells: Any = [list(row) for row in zip(*(column.rows for column in columns), strict=True)]
                one = replace(sequences, rows=cells)
            observed = part.read(one)
            rows = observed.rows[observed.code] if observed.code.size else observed.rows
            if part.domain is not None:
                rows = np.where(rows < 0, np.nan, rows)
            found.append(rows.reshape(len(rows), -1))
        return Observed(np.hstack(found))

    def _columns(self, read: Sequences) -> list[Any]:
        """The names of the columns, in order."""
        if self.names is not None:
            return [name for group in self.names for name in group]
        return list(read.rows) if isinstance(read.rows, dict) else list(range(self.dim))

    def _check_width(self, read: Sequences) -> None:
        rows, wanted = read.rows, f"{self.dim} column{'s' * (self.dim > 1)}"
        if isinstance(rows, dict):
            if self.names is None and len(rows) != self.dim:
                raise InvalidFrame(f"A row has {wanted}, but the frame has {listed(rows)}: select those.")
        elif isinstance(rows, np.ndarray):
            if rows.ndim != 2 or rows.shape[1] != self.dim:
                raise InvalidArgument(f"A row has {wanted}; these have shape {rows.shape}.")
        else:
            for i, row in enumerate(rows):
                if hasattr(row, "__len__") and not isinstance(row, str) and len(row) != self.dim:
                    place = read.place(i)
                    raise InvalidArgument(
                        f"{place[0].upper()}{place[1:]}: a row has {wanted}, not {len(row)}."
                    )

    def _split(self, rows: np.ndarray) -> list[tuple[Any, np.ndarray]]:
        """Each part with its rows, as it reads them."""
        found, at = [], 0
        for part in self.parts:
            some = rows[:, at : at + _width(part)]
            at += _width(part)
            if part.domain is not None:
                some = np.where(np.isnan(some[:, 0]), -1, some[:, 0]).astype(np.int64)
            found.append((part, some))
        return found

    def _rows(self, x: Any) -> tuple[np.ndarray, bool]:
        plain = isinstance(x, list | tuple | np.ndarray) and len(x) > 0
        lone = plain and not any(
            (hasattr(cell, "__len__") and not isinstance(cell, str) and np.ndim(cell) > 0)
            or isinstance(cell, Mapping)
            for cell in x
        )
        return self.read(sequences([x] if lone else x, vector=True)).rows, lone

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log density of each row, a column for each state, of the entries that were observed."""
        logs = [part.log_rows(some) for part, some in self._split(rows)]
        return np.asarray(np.sum(logs, axis=0))

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """An observation for each of these states."""
        return _joined([part.draw(states, random) for part in self.parts])

    def filled(self, observed: Observed, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """What was observed, and draws from these states where it was not."""
        each = np.arange(len(observed.rows), dtype=np.int32)
        return _joined(
            [
                part.filled(
                    Observed(some, each) if part.domain is not None else Observed(some), states, random
                )
                for part, some in self._split(observed.rows)
            ]
        )

    def collapsed(self, rows: np.ndarray) -> int | None:
        """A state in which a part has collapsed; None: there is none."""
        found = (part.collapsed(some) for part, some in self._split(rows))
        return next((state for state in found if state is not None), None)

    def collapse(self, spread: np.ndarray) -> tuple[int, int] | None:
        """A state that has collapsed relative to the spread of rows, and the flattest column."""
        at = 0
        for part in self.parts:
            if hasattr(part, "collapse"):
                found = part.collapse(spread[at : at + _width(part)])
                if found is not None:
                    return found[0], at + found[1]
            at += _width(part)
        return None

    @property
    def continuous_columns(self) -> np.ndarray:
        """Which columns are continuous, so that their mean can stand in for missing values."""
        found = [part.domain is None and not getattr(part, "whole", False) for part in self.parts]
        return np.repeat(found, [_width(part) for part in self.parts])

    def gathered(self, rows: np.ndarray, weights: np.ndarray) -> ProductStatistics:
        """The statistics of each part."""
        return ProductStatistics(tuple(part.gathered(some, weights) for part, some in self._split(rows)))

    def expected_log(self, statistics: ProductStatistics) -> float:
        """The sum of that of all parts."""
        pairs = zip(self.parts, statistics.parts, strict=True)
        return float(sum(part.expected_log(one) for part, one in pairs))

    def pseudo(self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray) -> ProductStatistics:
        """The statistics of pseudo-observations of this weight for each part."""
        return ProductStatistics(
            tuple(part.pseudo(weight, n_states, some, counts) for part, some in self._split(rows))
        )

    def first_guess(
        self, rows: np.ndarray, counts: np.ndarray, n_states: int, random: np.random.Generator
    ) -> np.ndarray:
        """Mostly for the nearest of centres that lie far apart; each symbol is a dimension of its own."""
        features, usable = [], np.ones(len(rows), bool)
        for part, some in self._split(rows):
            if part.domain is not None:
                features.append((some[:, None] == np.arange(part.domain.card)).astype(np.float64))
                continue
            features.append(completed(some))
            gaps = np.isnan(some)
            # Rows with gaps in some entries of a part do not count: not every emission can fill them.
            usable &= gaps.all(axis=1) | ~gaps.any(axis=1)
        return near_centres(np.hstack(features), counts * usable, n_states, random)

    # --- in files and text ---

    def to_parts(self, state: Callable[[Any, str], Any] = lambda symbol, name: symbol) -> dict[str, Any]:
        """Return the parts of each column, for a file.

        Args:
            state: turns a symbol into its form in the file; if left out, symbols stay as they are.
        """
        columns = []
        for i, part in enumerate(self.parts):
            symbols = {"state": state} if part.kind in ("categorical", "product") else {}
            called = {} if self.names is None else {"names": list(self.names[i])}
            columns.append({**called, part.kind: part.to_parts(**symbols)})
        return {"columns": columns}

    @classmethod
    def from_parts(cls, part: Part) -> Self:
        """Return the distribution of these parts."""
        from . import EMISSIONS

        part.members("a product", ["columns"])
        made: list[Any] = []
        names: list[tuple[str, ...]] = []
        for i in range(len(part.at("columns").elements("a list of columns"))):
            one = part.at("columns", i)
            kinds = [kind for kind in one.members("a column", [], ["names", *EMISSIONS]) if kind != "names"]
            if len(kinds) != 1:
                one.fail(f"a column has one of {listed(EMISSIONS)}")
            made.append(EMISSIONS[kinds[0]].from_parts(one.at(kinds[0])))
            if "names" in one.value:
                names.append(tuple(one.at("names").names("the names of columns")))
        if names and len(names) < len(made):
            part.fail("all columns have names, or none")
        return cls(dict(zip(names, made, strict=True)) if names else made)

    def __repr__(self) -> str:
        called = [""] * len(self.parts) if self.names is None else [f"{', '.join(g)}: " for g in self.names]
        return "\n".join(
            [f"Product of {self.dim} column{'s' * (self.dim > 1)}"]
            + [f"{name}{part!r}" for name, part in zip(called, self.parts, strict=True)]
        )

    def _repr_html_(self) -> str:
        return html_text(repr(self))


def _width(part: Any) -> int:
    """How many columns a distribution takes."""
    return 1 if part.domain is not None else int(part.dim)


def _joined(columns: list[np.ndarray]) -> np.ndarray:
    """Columns side by side, as floats where all are numeric."""
    tables = [column.reshape(len(column), -1) for column in columns]
    if all(table.dtype.kind in "fiu" for table in tables):
        return np.hstack([table.astype(np.float64) for table in tables])
    return np.hstack([table.astype(object) for table in tables])
