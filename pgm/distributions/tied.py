"""Emissions made of others: rows that several states share, and several distributions of one observation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument
from pgm.frames import Sequences
from pgm.variables import Domain

from .emission import Observed


class Tied:
    """State i emits what row `of[i]` of another emission does; states of one row are learned together.

    >>> import pgm
    >>> phone = Tied(pgm.Gaussian([0.0, 3.0], sd=1.0), np.array([0, 1, 0]))
    >>> phone.log_rows(np.array([[0.0]])).round(3).tolist()
    [[-0.919, -5.419, -0.919]]
    """

    kind = "tied"

    def __init__(self, shared: Any, of: np.ndarray) -> None:
        self.shared: Any = shared
        self.of = of
        self.n_states: int | None = int(of.size)

    @property
    def n_rows(self) -> int:
        """How many shared rows there are."""
        return int(self.of.max()) + 1

    @property
    def dim(self) -> int:
        """The dimension of an observation."""
        return int(self.shared.dim)

    @property
    def vector(self) -> bool:
        """Whether an observation has several entries."""
        return bool(self.shared.vector)

    @property
    def has_parameters(self) -> bool:
        """Whether there are parameters."""
        return bool(self.shared.has_parameters)

    @property
    def domain(self) -> Domain | None:
        """The symbols that it emits, if any."""
        found: Domain | None = self.shared.domain
        return found

    def is_value(self, value: Any) -> bool:
        """Whether this is a symbol, even if it has a length."""
        return bool(getattr(self.shared, "is_value", lambda value: False)(value))

    def n_free(self, states: np.ndarray) -> int:
        """The number of free parameters of the rows that these states use."""
        rows = np.zeros(self.n_rows, bool)
        rows[self.of[states]] = True
        return int(self.shared.n_free(rows))

    def normals(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Mean and covariance of each state."""
        found = self.shared.normals()
        return None if found is None else (found[0][self.of], found[1][self.of])

    def by_row(self, p: np.ndarray) -> np.ndarray:
        """The probabilities of the rows, from those of the states: the last axis of both."""
        return np.asarray(p @ (self.of[:, None] == np.arange(self.n_rows)))

    def read(self, sequences: Sequences) -> Observed:
        """Read what was observed."""
        found: Observed = self.shared.read(sequences)
        return found

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log density of each row, a column for each state."""
        return np.asarray(self.shared.log_rows(rows)[:, self.of])

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """An observation for each of these states."""
        return np.asarray(self.shared.draw(self.of[states], random))

    def filled(self, observed: Observed, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """What was observed, and draws where it was not."""
        return np.asarray(self.shared.filled(observed, self.of[states], random))

    def collapsed(self, rows: np.ndarray) -> int | None:
        """A row that has collapsed to a point; None: there is none."""
        found: int | None = self.shared.collapsed(rows)
        return found

    def folded(self, weights: np.ndarray) -> np.ndarray:
        """Weights of states, summed to weights of rows."""
        order = np.argsort(self.of, kind="stable")
        begin = np.searchsorted(self.of[order], np.arange(self.n_rows))
        return np.asarray(np.add.reduceat(weights[:, order], begin, axis=1))

    def gathered(self, rows: np.ndarray, weights: np.ndarray) -> Any:
        """Sufficient statistics of the shared rows."""
        return self.shared.gathered(rows, self.folded(weights))

    def fitted(self, statistics: Any, prior: Any = None) -> Tied:
        """The most likely distribution."""
        return Tied(self.shared.fitted(statistics, prior), self.of)

    def expected_log(self, statistics: Any) -> float:
        """The log density of all rows that these statistics were gathered from."""
        return float(self.shared.expected_log(statistics))

    def pseudo(self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray) -> Any:
        """Statistics of pseudo-observations of this weight in each shared row."""
        return self.shared.pseudo(weight, self.n_rows, rows, counts)

    def first_guess(
        self, rows: np.ndarray, counts: np.ndarray, n_states: int, random: np.random.Generator
    ) -> np.ndarray:
        """Weights of each observation in each state; states of one row share its weight equally."""
        weights = self.shared.first_guess(rows, counts, self.n_rows, random)
        return np.asarray((weights / np.bincount(self.of, minlength=self.n_rows))[:, self.of])

    def __eq__(self, other: object) -> bool:
        """Equal when rows and what they emit are."""
        if not isinstance(other, Tied):
            return NotImplemented
        return bool(self.shared == other.shared) and np.array_equal(self.of, other.of)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.shared)


class Stacked:
    """Several distributions of the same kind of observation, their rows concatenated.

    >>> import pgm
    >>> both = Stacked([pgm.Categorical([[0.5, 0.5]]), pgm.Categorical([[0.9, 0.1], [0.2, 0.8]])], [1, 2])
    >>> both.n_states
    3
    """

    kind = "stacked"

    def __init__(self, parts: Sequence[Any], sizes: Sequence[int]) -> None:
        self.parts, self.sizes = tuple(parts), tuple(sizes)
        self.n_states: int | None = sum(sizes)

    def _split(self, columns: np.ndarray) -> list[np.ndarray]:
        return np.split(columns, np.cumsum(self.sizes)[:-1], axis=-1)

    @property
    def dim(self) -> int:
        """The dimension of an observation."""
        return int(self.parts[0].dim)

    @property
    def vector(self) -> bool:
        """Whether an observation has several entries."""
        return bool(self.parts[0].vector)

    @property
    def has_parameters(self) -> bool:
        """Whether all have parameters."""
        return all(part.has_parameters for part in self.parts)

    @property
    def domain(self) -> Domain | None:
        """The symbols that they emit, if any."""
        found: Domain | None = self.parts[0].domain
        return found

    def is_value(self, value: Any) -> bool:
        """Whether this is a symbol, even if it has a length."""
        return bool(getattr(self.parts[0], "is_value", lambda value: False)(value))

    def n_free(self, states: np.ndarray) -> int:
        """The number of free parameters of all parts."""
        return sum(p.n_free(some) for p, some in zip(self.parts, self._split(states), strict=True))

    def normals(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Mean and covariance of each row."""
        found = [part.normals() for part in self.parts]
        if any(one is None for one in found):
            return None
        return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])

    def read(self, sequences: Sequences) -> Observed:
        """Read what was observed."""
        found: Observed = self.parts[0].read(sequences)
        return found

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log density of each row, a column for each row of the parts."""
        return np.hstack([part.log_rows(rows) for part in self.parts])

    def _owner(self) -> tuple[np.ndarray, np.ndarray]:
        part = np.repeat(np.arange(len(self.parts)), self.sizes)
        return part, np.concatenate([np.arange(size) for size in self.sizes])

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """An observation for each of these rows."""
        part, row = self._owner()
        drawn = [
            p.draw(np.where(part[states] == i, row[states], 0), random) for i, p in enumerate(self.parts)
        ]
        return np.asarray(np.stack(drawn)[part[states], np.arange(states.size)])

    def filled(self, observed: Observed, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """What was observed, and draws where it was not."""
        part, row = self._owner()
        drawn = [
            p.filled(observed, np.where(part[states] == i, row[states], 0), random)
            for i, p in enumerate(self.parts)
        ]
        return np.asarray(np.stack(drawn)[part[states], np.arange(states.size)])

    def collapsed(self, rows: np.ndarray) -> int | None:
        """A row that has collapsed to a point; None: there is none."""
        at = 0
        for part, size in zip(self.parts, self.sizes, strict=True):
            bad = part.collapsed(rows)
            if bad is not None:
                return at + int(bad)
            at += size
        return None

    def gathered(self, rows: np.ndarray, weights: np.ndarray) -> list[Any]:
        """Sufficient statistics of each part."""
        split = zip(self.parts, self._split(weights), strict=True)
        return [p.gathered(rows, np.ascontiguousarray(some)) for p, some in split]

    def fitted(self, statistics: list[Any], prior: Any = None) -> Stacked:
        """The most likely distributions."""
        priors = [None] * len(self.parts) if prior is None else prior
        made = [
            _refitted(p, one, before) for p, one, before in zip(self.parts, statistics, priors, strict=True)
        ]
        return Stacked(made, self.sizes)

    def expected_log(self, statistics: list[Any]) -> float:
        """The sum of that of all parts."""
        return float(sum(p.expected_log(one) for p, one in zip(self.parts, statistics, strict=True)))

    def pseudo(self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray) -> list[Any]:
        """Statistics of pseudo-observations."""
        return [p.pseudo(weight, size, rows, counts) for p, size in zip(self.parts, self.sizes, strict=True)]

    def first_guess(
        self, rows: np.ndarray, counts: np.ndarray, n_states: int, random: np.random.Generator
    ) -> np.ndarray:
        """The guess of each part, with an equal share of the rows' weights."""
        found = [
            p.first_guess(rows, counts, size, random) for p, size in zip(self.parts, self.sizes, strict=True)
        ]
        return np.hstack(found) / len(self.parts)

    def __eq__(self, other: object) -> bool:
        """Equal when all parts are."""
        return self.parts == other.parts if isinstance(other, Stacked) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.parts))


def _refitted(part: Any, statistics: Any, prior: Any) -> Any:
    """The most likely distribution; unchanged where no row has any weight."""
    try:
        return part.fitted(statistics, prior)
    except InvalidArgument:
        if not part.has_parameters:
            raise
        return part
