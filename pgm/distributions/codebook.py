"""Vector quantisation: vectors count as the nearest of some reference vectors."""

from __future__ import annotations

from typing import Any, NoReturn, Self

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.frames import Sequences
from pgm.printing import html_text
from pgm.randomness import generator

from .categorical import Categorical
from .checks import finite
from .emission import Observed
from .parts import Part

_CHUNK = 4096  # rows whose distances are computed together


class Codebook:
    """Vector quantisation: each vector becomes the index of its nearest reference vector.

    Of each row only its symbol is used.

    Args:
        centres: the reference vectors, in rows; or a list of floats for observations of one value.
        p: the probability of each in each state, as for `Categorical`; if left out, yet to be fitted.

    >>> import pgm
    >>> book = Codebook([0.0, 2.0, 4.0], [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    >>> book.codes([0.5, 2.5, 3.5]).tolist(), book.error([0.5, 2.5, 3.5])
    ([0, 1, 2], 0.75)
    >>> pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], book).decode([0.5, 2.5, 3.5]).path
    (0, 1, 1)
    """

    __slots__ = ("_p", "_univariate", "centres")
    kind, label = "codebook", "codebook"

    centres: np.ndarray  # (symbols, dim)
    _p: Categorical
    _univariate: bool

    def __init__(self, centres: Any, p: Any = None) -> None:
        table = finite("centres=", centres, (1, 2))
        if table.size == 0:
            raise InvalidArgument("A Codebook needs at least one reference vector.")
        rows = table.reshape(len(table), -1)
        if len(np.unique(rows, axis=0)) < len(rows):
            raise InvalidArgument("Two reference vectors of a Codebook are the same.")
        self._fill(rows, Categorical(p, range(len(rows))), table.ndim == 1)
        if self._p.symbols != tuple(range(len(rows))):
            raise InvalidArgument(f"p= has a probability for each of {len(rows)} reference vectors.")

    def _fill(self, centres: np.ndarray, p: Categorical, univariate: bool) -> None:
        centres = np.array(centres)
        centres.flags.writeable = False
        for name, value in (("centres", centres), ("_p", p), ("_univariate", univariate)):
            object.__setattr__(self, name, value)

    def _with(self, p: Categorical) -> Self:
        made = self.__new__(type(self))
        made._fill(self.centres, p, self._univariate)
        return made

    @classmethod
    def of(cls, rows: Any, n: int, *, seed: int | np.random.Generator | None = None) -> Self:
        """Return a codebook whose reference vectors are the means of clusters of these rows (k-means).

        Args:
            rows: floats, or rows of them.
            n: how many reference vectors.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: there are fewer different rows than reference vectors.

        >>> Codebook.of([0.0, 0.2, 4.0, 4.2], 2, seed=0).centres.round(6).tolist()
        [[0.1], [4.1]]
        """
        table = finite("rows=", rows, (1, 2))
        x = table.reshape(len(table), -1)
        distinct = np.unique(x, axis=0)
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= len(distinct):
            raise InvalidArgument(
                f"n= is how many reference vectors, from 1 to {len(distinct)}, the count of different rows, "
                f"not {shown(n)}."
            )
        random = generator(seed)
        centres = distinct[random.integers(len(distinct))][None]
        while len(centres) < n:
            far = _squares(distinct, centres).min(axis=1)
            centres = np.vstack([centres, distinct[random.choice(len(distinct), p=far / far.sum())]])
        for _ in range(100):
            codes = _nearest(x, centres)
            moved = np.array(
                [x[codes == c].mean(axis=0) if (codes == c).any() else centres[c] for c in range(n)]
            )
            if np.array_equal(moved, centres):
                break
            centres = moved
        order = np.lexsort(centres.T[::-1])
        return cls(centres[order, 0] if table.ndim == 1 else centres[order])

    @property
    def p(self) -> np.ndarray:
        """The probability of each reference vector, a row for each state."""
        return self._p.p

    def codes(self, x: Any) -> np.ndarray:
        """Return the index of the reference vector nearest to each row; the first where several are.

        Args:
            x: floats, or rows of them.

        Raises:
            InvalidArgument: a row has the wrong number of entries, or one that is not a finite number.

        >>> Codebook([[0.0, 0.0], [1.0, 1.0]]).codes([[0.1, 0.2], [0.9, 0.7]]).tolist()
        [0, 1]
        """
        return _nearest(self._table(x), self.centres)

    def error(self, x: Any) -> float:
        """Return the sum of squared distances of rows to their reference vectors.

        Args:
            x: floats, or rows of them.

        Raises:
            InvalidArgument: a row has the wrong number of entries, or one that is not a finite number.

        >>> Codebook([0.0, 2.0]).error([0.5, 2.0])
        0.25
        """
        rows = self._table(x)
        return float(((rows - self.centres[_nearest(rows, self.centres)]) ** 2).sum())

    def _table(self, x: Any) -> np.ndarray:
        rows = finite("A Codebook", x, (1,) if self._univariate else (2,))
        rows = rows.reshape(len(rows), -1)
        if rows.shape[1] != self.dim:
            raise InvalidArgument(f"A row has {self.dim} values, not {rows.shape[1]}.")
        return rows

    # --- as an emission ---

    @property
    def dim(self) -> int:
        """The dimension of a row."""
        return int(self.centres.shape[1])

    @property
    def n_states(self) -> int | None:
        """How many states there are probabilities for."""
        return self._p.n_states

    @property
    def vector(self) -> bool:
        """Whether an observation has several entries."""
        return not self._univariate

    @property
    def has_parameters(self) -> bool:
        """Whether there are probabilities."""
        return self._p.has_parameters

    @property
    def domain(self) -> Any:
        """The indices of the reference vectors."""
        return self._p.domain

    def normals(self) -> None:
        """It is not Gaussian."""

    def n_free(self, states: np.ndarray) -> int:
        """Probabilities; the reference vectors are given."""
        return self._p.n_free(states)

    def read(self, sequences: Sequences) -> Observed:
        """Read vectors as symbols; a vector with a missing entry counts as not observed."""
        rows = sequences.floats(self.dim, flat=self._univariate)
        gaps = np.isnan(rows).any(axis=1)
        codes = np.full(len(rows), len(self.centres), np.int32)
        codes[~gaps] = _nearest(rows[~gaps], self.centres)
        return Observed(np.array([*range(len(self.centres)), -1]), codes)

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log probability of each symbol, a column for each state."""
        return self._p.log_rows(rows)

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """A reference vector for each of these states."""
        return self._vectors(np.asarray(self._p.draw(states, random), np.int64))

    def filled(self, observed: Observed, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """The reference vectors of what was observed, and draws from these states where it was not."""
        return self._vectors(np.asarray(self._p.filled(observed, states, random), np.int64))

    def _vectors(self, codes: np.ndarray) -> np.ndarray:
        found = self.centres[codes]
        return np.asarray(found[:, 0] if self._univariate else found)

    def collapsed(self, rows: np.ndarray) -> None:
        """None: probabilities do not collapse."""

    def gathered(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The weight of each symbol in each state."""
        return self._p.gathered(rows, weights)

    def fitted(self, statistics: np.ndarray, prior: np.ndarray | None = None) -> Self:
        """The same reference vectors with the most likely probabilities."""
        return self._with(self._p.fitted(statistics, prior))

    def expected_log(self, statistics: np.ndarray) -> float:
        """The log probability of symbols with these weights."""
        return self._p.expected_log(statistics)

    def pseudo(self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """This weight of each symbol in each state."""
        return self._p.pseudo(weight, n_states, rows, counts)

    def first_guess(
        self, rows: np.ndarray, counts: np.ndarray, n_states: int, random: np.random.Generator
    ) -> np.ndarray:
        """Each symbol divided among the states at random."""
        return self._p.first_guess(rows, counts, n_states, random)

    def parameters(self) -> tuple[np.ndarray, ...]:
        """The probabilities."""
        return self._p.parameters()

    def with_parameters(self, values: Any) -> Self | None:
        """The same with other probabilities; None if these are impossible."""
        found = self._p.with_parameters(values)
        return None if found is None else self._with(found)

    def coordinates(self) -> np.ndarray:
        """The probabilities, unconstrained."""
        return self._p.coordinates()

    def at(self, coordinates: np.ndarray) -> Self:
        """The same with the probabilities at these coordinates."""
        return self._with(self._p.at(coordinates))

    # --- in files, as a value, in text ---

    def to_parts(self) -> dict[str, Any]:
        """Return reference vectors and probabilities, for a file."""
        centres = self.centres[:, 0] if self._univariate else self.centres
        return {"centres": centres.tolist(), "p": self.p.tolist()}

    @classmethod
    def from_parts(cls, part: Part) -> Self:
        """Return the codebook of these parts.

        Args:
            part: read from a file, or `Part.of(parts)`.

        Raises:
            FileFormatError, InvalidTable, InvalidArgument: these are not parts of a codebook.

        >>> book = Codebook([0.0, 2.0], [0.5, 0.5])
        >>> Codebook.from_parts(Part.of(book.to_parts())) == book
        True
        """
        found = part.members("a codebook", ["centres", "p"])
        return cls(found["centres"], found["p"])

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Codebook does not change; .{name} cannot be set")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Codebook):
            return NotImplemented
        same = self._p == other._p and self._univariate == other._univariate
        return same and np.array_equal(self.centres, other.centres)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> tuple[Any, ...]:
        return self.centres, self._p, self._univariate

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._fill(*state)

    def __repr__(self) -> str:
        below = "" if not self.has_parameters else f"\n{self._p!r}"
        where = f"{self.dim} dimension{'s' * (self.dim > 1)}"
        return f"Codebook of {len(self.centres)} reference vectors in {where}{below}"

    def _repr_html_(self) -> str:
        return html_text(repr(self))


def _squares(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    return np.asarray(((rows[:, None, :] - centres) ** 2).sum(axis=2))


def _nearest(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    parts = [_squares(rows[i : i + _CHUNK], centres).argmin(axis=1) for i in range(0, len(rows), _CHUNK)]
    return np.concatenate([np.empty(0, np.int64), *parts])
