"""What hidden states emit: how observations are read, and what a distribution does with rows of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from pgm.errors import InvalidArgument
from pgm.frames import Sequences
from pgm.variables import Domain

NO_CODES = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class Observed:
    """The observations, each distinct row once where there are few of them.

    `code` has the index in `rows` of each step; empty: each step has a row of its own.
    """

    rows: np.ndarray
    code: np.ndarray = field(default_factory=lambda: NO_CODES)  # int32


@runtime_checkable
class Emission(Protocol):
    """A distribution for each state, over what is observed in a step; what was not observed has density one.

    `read`, `log_rows`, `draw` and `filled` serve questions; `gathered` and `fitted` let it learn.

    >>> from pgm.distributions import Gaussian
    >>> isinstance(Gaussian([0.0, 3.0], sd=1.0), Emission)
    True
    """

    n_states: int | None

    @property
    def vector(self) -> bool:
        """Whether an observation has several entries."""

    @property
    def has_parameters(self) -> bool:
        """Whether there are parameters; else they are yet to be learned."""

    def n_free(self, states: np.ndarray) -> int:
        """How many parameters of these states are free."""

    @property
    def domain(self) -> Domain | None:
        """The symbols, where what is observed is one of a list; else None."""

    def normals(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Mean and covariance of each state, where it is Gaussian; else None."""

    def read(self, sequences: Sequences) -> Observed:
        """Read what was observed."""

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log density of each row, a column for each state."""

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """An observation for each of these states."""

    def filled(self, observed: Observed, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """What was observed, and draws from these states where it was not."""

    def collapsed(self, rows: np.ndarray) -> int | None:
        """A state that has collapsed to a point, so that its density is unbounded; None: there is none."""

    def gathered(self, rows: np.ndarray, weights: np.ndarray) -> Any:
        """Sufficient statistics of rows, weighted for each state; `+` adds those of other rows."""

    def fitted(self, statistics: Any, prior: Any = None) -> Self:
        """The most likely distribution; a state without any weight keeps its own."""

    def expected_log(self, statistics: Any) -> float:
        """The log density of all rows that these statistics were gathered from."""

    def pseudo(self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray) -> Any:
        """Statistics of pseudo-observations of this weight in each state: a pseudo-count as a prior."""

    def first_guess(
        self, rows: np.ndarray, counts: np.ndarray, n_states: int, random: np.random.Generator
    ) -> np.ndarray:
        """Weights of each row in each state, to start EM from."""


def kept_where_empty(weight: np.ndarray, own: int | None, what: str) -> np.ndarray:
    """Which states have no weight and so keep their parameters; an error where there are none to keep.

    Args:
        weight: of each state.
        own: how many states have parameters now; None: there are no parameters.
        what: the kind of distribution.
    """
    empty = ~(weight > 0.0)
    if empty.any() and (empty.all() or own != weight.size):
        raise InvalidArgument(f"There is no row with any weight to fit a {what} to.")
    return empty
