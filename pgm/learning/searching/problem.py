"""What a search works on: columns in the order of their names, a score, constraints, and the clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, listed
from pgm.learning.counts import Counts
from pgm.learning.counts.asked import AskedCounts
from pgm.learning.scores import Score
from pgm.learning.scoring.asked import AskedFamilies
from pgm.learning.scoring.discrete import DiscreteFamilies
from pgm.learning.scoring.families import Families
from pgm.learning.scoring.gaussian import GaussianFamilies
from pgm.learning.scoring.mixed import MixedFamilies
from pgm.runtime.clock import Clock
from pgm.variables import Variable

from .constraints import Constraints


@dataclass(frozen=True)
class StructureProblem:
    """Columns, a score and constraints; nodes are indexed in the order of their names.

    So no search can depend on the order of the columns.
    """

    variables: tuple[Variable, ...]
    columns: tuple[np.ndarray, ...]  # codes, -1 where missing; or values, NaN where missing
    weights: np.ndarray | None
    score: Score
    known: Constraints
    clock: Clock
    rng: np.random.Generator
    given: int | None = None  # how many rows the data had before equal ones were merged
    asked: AskedCounts | None = None  # of rows that stay in their engine; `columns` then have distinct values

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return self.known.names

    @property
    def n(self) -> int:
        """How many nodes there are."""
        return len(self.variables)

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are."""
        if self.asked is not None:
            return self.asked.n_rows
        return len(self.columns[0]) if self.columns else 0

    @property
    def total(self) -> float:
        """The total weight of the rows."""
        return float(self.counts.total) if self.asked is None else self.asked.total

    def need_rows(self, what: str) -> None:
        """Raise if the rows stay in their engine: `what` needs more than counts of some columns."""
        if self.asked is not None:
            raise InvalidArgument(
                f"{what} needs the rows, and {self.n_rows:,} of them do not fit the memory limit: only "
                "counts are taken from the data engine. Take a sample of them, fewer columns, or more "
                "memory."
            )

    @cached_property
    def gaps(self) -> tuple[bool, ...]:
        """Which columns lack a value in some row."""
        return tuple(
            bool(np.isnan(column).any() if variable.continuous else (column < 0).any())
            for variable, column in zip(self.variables, self.columns, strict=True)
        )

    @cached_property
    def counts(self) -> Counts:
        """Counts of the discrete columns; in place of a continuous one there is a column with one state."""
        self.need_rows("This search")
        none = np.zeros(self.n_rows, np.int32)
        columns = [none if v.continuous else c for v, c in zip(self.variables, self.columns, strict=True)]
        return Counts(columns, [variable.card for variable in self.variables], self.weights)

    @property
    def continuous(self) -> list[int]:
        """The nodes that are continuous."""
        return [i for i, variable in enumerate(self.variables) if variable.continuous]

    def families(self) -> Families:
        """The scores of families; arcs that are not permitted score -inf."""
        if any(self.gaps):
            holes = [name for name, gap in zip(self.names, self.gaps, strict=True) if gap]
            raise InvalidFrame(
                f"Cells are missing in the columns {listed(holes)}, and scores of different rows cannot be "
                "compared: leave those rows out."
            )
        found = self._families()
        found.permit(self.known.allowed)
        return found

    def _families(self) -> Families:
        continuous, score = self.continuous, self.score
        if continuous and not score.continuous:
            raise InvalidArgument(
                f'score="{score.name}" is for states; {listed([self.names[i] for i in continuous])} are '
                'continuous: use "bic", or cut them into states with states=pgm.Bins.'
            )
        if len(continuous) < self.n and not score.discrete:
            states = [name for i, name in enumerate(self.names) if i not in continuous]
            raise InvalidArgument(
                f'score="{score.name}" is for continuous columns; {listed(states)} have states: use "bic".'
            )
        if self.asked is not None:
            return AskedFamilies(self.asked, score, self.clock)
        if not continuous:
            return DiscreteFamilies(self.counts, score, self.clock)
        values = np.array([self.columns[i] for i in continuous])
        if len(continuous) == self.n:
            return GaussianFamilies(self.names, values, self.weights, score, self.clock)
        return MixedFamilies(
            DiscreteFamilies(self.counts, score, self.clock),
            {i: k for k, i in enumerate(continuous)},
            values,
            self.columns,
            self.weights,
            score,
            self.clock,
        )

    def with_score(self, score: Score) -> StructureProblem:
        """The same problem under another score."""
        return replace(self, score=score)

    def in_order(self) -> StructureProblem:
        """The same problem with its rows sorted, so that what is drawn does not depend on their order."""
        self.need_rows("bootstrap=")
        if not self.columns:
            return self
        keys = self.columns if self.weights is None else (self.weights, *self.columns)
        order = np.lexsort(keys)
        weights = None if self.weights is None else self.weights[order]
        return replace(self, columns=tuple(column[order] for column in self.columns), weights=weights)

    def resampled(self, weights: np.ndarray, rng: np.random.Generator) -> StructureProblem:
        """The same problem with other weights; rows of weight 0 are left out."""
        kept = np.flatnonzero(weights)
        columns = tuple(column[kept] for column in self.columns)
        return replace(self, columns=columns, weights=weights[kept].astype(np.float64), rng=rng)


def sampled_rows(problem: StructureProblem, rng: np.random.Generator) -> np.ndarray:
    """How often each row is drawn in a bootstrap sample; weighted rows are drawn by their weights."""
    n = problem.n_rows
    if problem.weights is None:
        return np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
    total = float(problem.weights.sum())
    drawn: np.ndarray = rng.multinomial(max(1, round(total)), problem.weights / total).astype(np.float64)
    return drawn
