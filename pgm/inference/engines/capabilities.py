"""What engines can do: the object that `prepare` returns has the methods of what its engine can do.

The `answers` of its options list the questions, so that any other is refused before any work is done.
Targets are positions among the model's variables; None stands for all that are not observed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.evidence import Observed
from pgm.inference.engines.plan import Plan
from pgm.inference.program import Program
from pgm.results import Assignment, Density, Distribution, Marginals, MaxMarginals, Report, Samples
from pgm.variables import VariableList

Wide = tuple[float, int]


class Prepared(Protocol):
    """A model and its evidence, ready for questions to an engine."""

    @property
    def report(self) -> Report:
        """How the answers asked for so far were made."""

    @property
    def doubtful(self) -> bool:
        """Whether the engine stopped before it converged; the user is then warned."""


class Sums(Prepared, Protocol):
    """`query`, `marginals`, `probability`."""

    def total(self) -> Wide:
        """The sum of the product of all factors with the evidence."""

    def distribution(self, variables: VariableList, targets: Sequence[int]) -> Distribution | Density:
        """P(targets | known)."""

    def every_marginal(self, variables: VariableList, targets: Sequence[int] | None) -> Marginals:
        """P(variable | known) for each target."""


class Maxima(Prepared, Protocol):
    """`map`, `k_best`, `marginal MAP`."""

    def assignments(
        self,
        variables: VariableList,
        targets: Sequence[int] | None,
        k: int,
        observed: Observed,
        *,
        normalised: bool,
    ) -> list[Assignment]:
        """The k most probable, best first; `normalised`: without evidence the total is 1."""


class Draws(Prepared, Protocol):
    """`sample`."""

    def samples(self, variables: VariableList, n: int, rng: np.random.Generator) -> Samples:
        """Cases from P(all variables | known)."""


class Plans(Prepared, Protocol):
    """`plan`."""

    def plan(self, question: str, targets: Sequence[int] | None) -> Plan:
        """What the sums of this question cost."""


class Everything(Sums, Maxima, Draws, Plans, Protocol):
    """All that the exact engine can do: also max-marginals, and what learning needs."""

    @property
    def program(self) -> Program:
        """The program whose factors, by index, the tables below belong to."""

    def max_assignments(self, variables: VariableList, observed: Observed) -> MaxMarginals:
        """For each state, the most probable assignment that contains it."""

    def expected_statistics(self) -> tuple[dict[int, np.ndarray], dict[int, GaussianStatistics]]:
        """P(entry | known) for each entry of each factor's table, flat; the statistics of each density."""

    def derivatives(self, *, zeros: bool) -> dict[int, np.ndarray]:
        """The derivative of log P(known) with respect to each entry of each factor's table, flat."""
