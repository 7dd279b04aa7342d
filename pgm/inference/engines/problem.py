"""What an engine that approximates is given, and what it hands back; all by the numbers of a reduced case."""

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
    held: Mapping[
        int, np.ndarray
    ]  # reduced variables whose marginal is given, and that over their open states
    names: Sequence[str]  # of the model's variables, for messages
    trees: TreeCache  # for engines that put smaller questions to the exact one
    # Reduced variables whose joint is asked, or none for the total alone; None: the marginals of all.
    targets: np.ndarray | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Solution:
    """What was found of a reduced question."""

    # Of each open state of each reduced variable, or the joint of the targets; None: the engine knows it not.
    values: np.ndarray | None
    total: Callable[[], tuple[float, int]]  # the sum of the product of all factors: a wide number
    weights: Callable[[], dict[int, np.ndarray]]  # logarithms of what gives held variables their marginals
    report: Report  # its intervals are those of `values`, flat


class BestStates(NamedTuple):
    """The most probable states, by position; P(states, known); whether they are the first of their equals."""

    codes: np.ndarray
    value: tuple[float, int]
    ties_broken: bool


# Finds the best of the states that are allowed; and says who did, if not a tree.
Rest = Callable[[np.ndarray], tuple[str | None, BestStates]]


@dataclass(frozen=True, eq=False, slots=True)
class Maximum:
    """Good states of a reduced question."""

    states: np.ndarray  # of each reduced variable
    bound: float  # on the logarithm of the product of all factors, at any states
    report: Report


def none_possible(engine: str) -> NoSupportFound:
    """The error where an engine found only impossible states, which does not prove that all are."""
    return NoSupportFound(
        f'engine="{engine}" found no states of non-zero probability; this does not prove that there are none.'
    )
