"""Which transitions are possible: the others stay impossible, whatever is learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pgm.errors import InvalidArgument, shown


@runtime_checkable
class Topology(Protocol):
    """Which state may follow which, and which may be first."""

    def mask(self, n: int) -> np.ndarray:
        """Return whether each of n states (rows) may be followed by each (columns)."""

    def first(self, n: int) -> np.ndarray:
        """Return whether each of n states may be the first."""


def _jump(value: object, name: str, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidArgument(f"{name}= is a whole number of at least {least}, not {shown(value)}.")


@dataclass(frozen=True)
class LeftToRight:
    """Left-to-right transitions: a state is followed by itself or a later one, and the first state starts.

    Args:
        max_jump: how many states one step may advance.

    >>> LeftToRight(max_jump=2).mask(4).astype(int)
    array([[1, 1, 1, 0],
           [0, 1, 1, 1],
           [0, 0, 1, 1],
           [0, 0, 0, 1]])
    """

    max_jump: int = 1

    def __post_init__(self) -> None:
        """Check the argument."""
        _jump(self.max_jump, "max_jump", 1)

    def mask(self, n: int) -> np.ndarray:
        """Return whether each of n states (rows) may be followed by each (columns).

        Args:
            n: how many states there are.

        Raises:
            InvalidArgument: never here; other topologies may not fit n.

        >>> LeftToRight().mask(2).tolist()
        [[True, True], [False, True]]
        """
        off = np.arange(n) - np.arange(n)[:, None]
        return np.asarray((off >= 0) & (off <= self.max_jump))

    def first(self, n: int) -> np.ndarray:
        """Return whether each of n states may be the first: only the leftmost.

        Args:
            n: how many states there are.

        Raises:
            InvalidArgument: never here; other topologies may not fit n.

        >>> LeftToRight().first(3).tolist()
        [True, False, False]
        """
        return np.asarray(np.arange(n) == 0)


@dataclass(frozen=True)
class Banded:
    """Banded transitions: a step moves a limited number of states, in either direction.

    Args:
        width: how many states to either side.

    >>> Banded(1).mask(3).astype(int)
    array([[1, 1, 0],
           [1, 1, 1],
           [0, 1, 1]])
    """

    width: int = 1

    def __post_init__(self) -> None:
        """Check the argument."""
        _jump(self.width, "width", 0)

    def mask(self, n: int) -> np.ndarray:
        """Return whether each of n states (rows) may be followed by each (columns).

        Args:
            n: how many states there are.

        Raises:
            InvalidArgument: never here; other topologies may not fit n.

        >>> Banded(0).mask(2).tolist()
        [[True, False], [False, True]]
        """
        return np.asarray(np.abs(np.arange(n) - np.arange(n)[:, None]) <= self.width)

    def first(self, n: int) -> np.ndarray:
        """Return whether each of n states may be the first: all.

        Args:
            n: how many states there are.

        Raises:
            InvalidArgument: never here; other topologies may not fit n.

        >>> Banded().first(2).tolist()
        [True, True]
        """
        return np.ones(n, bool)


def allowed(topology: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Which transitions, and which first states, a topology or a mask allows.

    Args:
        topology: `LeftToRight`, `Banded`, or an array of booleans with a row for each state.
        n: how many states there are.
    """
    if isinstance(topology, Topology) and not isinstance(topology, type):
        return topology.mask(n), topology.first(n)
    try:
        mask = np.asarray(topology)
    except ValueError:  # rows of several lengths
        mask = np.empty(0)
    if mask.shape != (n, n) or not np.isin(mask, (0, 1)).all():
        raise InvalidArgument(
            f"topology= is pgm.LeftToRight(...), pgm.Banded(...), or {n} rows of {n} booleans, not "
            f"{shown(topology)}."
        )
    mask = mask.astype(bool)
    if not mask.any(axis=1).all():
        raise InvalidArgument(
            f"topology= lets state {int((~mask.any(axis=1)).argmax())} be followed by no state."
        )
    return mask, np.ones(n, bool)
