"""What an approximate engine is given and what it returns, by the indices of a reduced case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pgm.errors import NoSupportFound
from pgm.inference.program.reduction import Case
from pgm.inference.trees import TreeCache
from pgm.results import Report


@dataclass(frozen=True, eq=False, slots=True)
class Problem:
    """A reduced question."""

    case: Case
    held: Mapping[int, np.ndarray]  # prescribed marginals of reduced variables, over their open states
    names: Sequence[str]  # of the model's variables, for messages
    trees: TreeCache  # for engines that put smaller questions to the exact one
    # The reduced variables whose joint is wanted, empty for the total alone; None: the marginals of all.
    targets: np.ndarray | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Solution:
    """The result for a reduced question."""

    # For each open state of each reduced variable, or the joint of the targets; None: the engine cannot tell.
    values: np.ndarray | None
    total: Callable[[], tuple[float, int]]  # the sum of the product of all factors: a wide number
    weights: Callable[[], dict[int, np.ndarray]]  # log weights that give held variables their marginals
    report: Report  # its intervals are those of `values`, flat


class BestStates(NamedTuple):
    """The most probable states, by position; P(states, known); whether they are the first among equals."""

    codes: np.ndarray
    value: tuple[float, int]
    ties_broken: bool


# Finds the best of the allowed states; also returns the name of the engine that did, None for a tree.
Rest = Callable[[np.ndarray], tuple[str | None, BestStates]]


@dataclass(frozen=True, eq=False, slots=True)
class Maximum:
    """Good states for a reduced question."""

    states: np.ndarray  # of each reduced variable
    bound: float  # on the logarithm of the product of all factors, for any states
    report: Report


def none_possible(engine: str) -> NoSupportFound:
    """The error of an engine that found only impossible states, which proves nothing about the others."""
    return NoSupportFound(
        f'engine="{engine}" found no states of non-zero probability; this does not prove that there are none.'
    )
