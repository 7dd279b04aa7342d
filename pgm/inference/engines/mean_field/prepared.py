"""Mean field as an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgm.evidence import Observed
from pgm.inference.engines.mean_field import MeanField, ascent
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.problem import Problem, Solution
from pgm.inference.engines.reduced import ReducedSums, reduced
from pgm.runtime.clock import Clock


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class MeanFieldSums(ReducedSums):
    """A model and its evidence, ready to be approximated by independent distributions."""

    def run(self, problem: Problem) -> Solution:
        """Sum a reduced question."""
        return ascent.solve(problem, self.options, self.clock)


def prepare(
    options: MeanField,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> MeanFieldSums:
    """Prepare this engine."""
    return reduced(MeanFieldSums, options, compiled, observed, clock)
