"""A sequence of trees as an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgm.evidence import Observed
from pgm.inference.engines.clique_sequence import CliqueSequence, sequence
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.plan import Plan, make_plan
from pgm.inference.engines.problem import Problem, Solution
from pgm.inference.engines.reduced import ReducedSums, reduced
from pgm.inference.engines.table_sums import entries
from pgm.inference.program.reduction import open_targets
from pgm.inference.trees.needs import Needs
from pgm.runtime.clock import Clock


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class CliqueSequenceSums(ReducedSums):
    """A model and its evidence, ready for a sequence of trees."""

    def run(self, problem: Problem) -> Solution:
        """Sum a reduced question."""
        return sequence.solve(problem, self.options, self.clock)

    def plan(self, question: str, targets: Sequence[int] | None) -> Plan:
        """The plan of the tree of the whole question, and what runs instead if that is too large."""
        self.only_states(targets)
        case = self.case(self.everything() if targets is None else targets, only_wanted=targets is not None)
        cards = self.program.arrays.cards
        size = float(cards[: self.program.n_named].sum()) if targets is None else entries(cards, targets)
        needs = Needs(question, "both" if targets is None else "in", results=size, engine=self.engine)
        free = None if targets is None else open_targets(case, targets)
        shape, later = sequence.outline(self.problem(case, {}, free), self.options, needs, self.clock)
        return replace(make_plan(case, shape, needs, self.names), exact=False, later=later)


def prepare(
    options: CliqueSequence,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> CliqueSequenceSums:
    """Prepare this engine."""
    return reduced(CliqueSequenceSums, options, compiled, observed, clock)
