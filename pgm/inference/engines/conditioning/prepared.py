"""Conditioning as an engine: exact sums by several runs of a smaller tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pgm.evidence import Observed
from pgm.evidence import names as names_of
from pgm.inference.engines.by_position import make_sums
from pgm.inference.engines.conditioning import Conditioned, cutsets
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.table_sums import TOTAL, TableSums
from pgm.inference.engines.wide_numbers import Wide
from pgm.inference.program.reduction import Case, WideArray
from pgm.inference.trees import Shape
from pgm.inference.trees.needs import Needs
from pgm.runtime.clock import Clock

if TYPE_CHECKING:
    from pgm.inference.engines.gaussian.hybrid import HybridSums


@dataclass(frozen=True, eq=False, slots=True)
class ConditionedSums(TableSums):
    """A model and its evidence, to be summed for each joint state of a cutset."""

    cutset: tuple[str, ...] | None = None  # by name; None: as few variables as make it fit

    def _cut(self, needs: Needs, targets: Sequence[int] | None) -> cutsets.Cut:
        return cutsets.prepare(self, needs, targets, self.cutset)

    def total(self) -> Wide:
        """The sum of the product of all factors with the evidence."""
        return cutsets.total(self._cut(replace(TOTAL, engine=self.engine), []), self.clock)

    def joint_table(self, targets: Sequence[int], needs: Needs) -> WideArray:
        """The joint up to a scale; as wide numbers if doubles would lose any of it."""
        return cutsets.joint(self._cut(needs, targets), targets, self.clock)

    def marginals_and_total(self, targets: Sequence[int] | None = None) -> tuple[np.ndarray, Wide]:
        """P(v | known) for all of the user's variables, concatenated, and the total."""
        return cutsets.marginals(self._cut(self.needs_of_marginals(targets), None), self.clock)

    def case_of_plan(self, needs: Needs, targets: Sequence[int] | None) -> tuple[Case, Shape, Needs]:
        """What a plan describes: the question without the cutset, its tree, the number of runs."""
        case, cutset, states, shape = cutsets.cut_case(self, needs, targets, self.cutset)
        runs = math.prod(len(s) for s in states)
        return case, shape, replace(needs, runs=float(runs), cutset=tuple(cutset))


def prepare(
    options: Conditioned,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> TableSums | HybridSums:
    """Conditioning over tables; continuous variables are eliminated first."""
    cutset = None if options.variables is None else names_of(options.variables, compiled.by_name)
    return make_sums(ConditionedSums, compiled, observed, clock, options.name, cutset, fit=fit)
