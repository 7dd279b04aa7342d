"""Search as an engine: exact sums for models full of zeros."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pgm.evidence import Observed
from pgm.inference.engines.by_position import make_sums
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.search import Search, component_search
from pgm.inference.engines.table_sums import TableSums, spread_marginals, wanted_of
from pgm.inference.engines.wide_numbers import Wide
from pgm.inference.program.reduction import WideArray, reduce_case, spread
from pgm.inference.trees.needs import Needs
from pgm.runtime.clock import Clock

if TYPE_CHECKING:
    from pgm.inference.engines.gaussian.hybrid import HybridSums


@dataclass(frozen=True, eq=False, slots=True)
class SearchSums(TableSums):
    """A model and its evidence, to be summed by search."""

    def total(self) -> Wide:
        """The sum of the product of all factors with the evidence."""
        return component_search.total(reduce_case(self.program, self.known, [], self.clock), self.clock)

    def joint_table(self, targets: Sequence[int], needs: Needs) -> WideArray:
        """The joint up to a scale; as wide numbers if doubles would lose any of it."""
        case, inner = self.targeted(targets)
        values, powers = component_search.joint(case, inner, self.clock)
        return spread(case, targets, values), None if powers is None else spread(case, targets, powers)

    def marginals_and_total(self, targets: Sequence[int] | None = None) -> tuple[np.ndarray, Wide]:
        """P(v | known) for all of the user's variables, concatenated, and the total."""
        wanted = self.everything() if targets is None else np.array(targets, dtype=np.int64)
        case = reduce_case(self.program, self.known, wanted, self.clock)
        mine, places = wanted_of(case, wanted)
        values, whole = component_search.marginals(case, self.clock)
        return spread_marginals(case, mine, places, values[places]), whole


def prepare(
    options: Search,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> TableSums | HybridSums:
    """Search over tables; continuous variables are eliminated first."""
    return make_sums(SearchSums, compiled, observed, clock, options.name, fit=fit)
