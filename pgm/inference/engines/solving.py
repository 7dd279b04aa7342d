"""What an engine that approximates is given, and what it hands back; all by the numbers of a reduced case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pgm.inference.reduction import Case
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
    targets: np.ndarray | None = (
        None  # reduced variables whose joint is asked; none: the total; None: marginals
    )


@dataclass(frozen=True, eq=False, slots=True)
class Solution:
    """What was found of a reduced question."""

    values: np.ndarray  # the probability of each open state of each reduced variable
    total: Callable[[], tuple[float, int]]  # the sum of the product of all factors: a wide number
    joint: Callable[[np.ndarray], np.ndarray | None]  # of reduced variables in this order; None: not known
    weights: Callable[[], dict[int, np.ndarray]]  # which likelihoods give the held variables their marginals
    report: Report  # what it says number by number is of `values`, or of the joint of the targets, flat


@dataclass(frozen=True, eq=False, slots=True)
class Maximum:
    """Good states of a reduced question."""

    states: np.ndarray  # of each reduced variable
    bound: float  # on the logarithm of the product of all factors, at any states
    report: Report
