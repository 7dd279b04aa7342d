"""An engine that approximates: copy, rename, fill in. `->` says what else belongs to it.

-> pgm/inference/engines/alone/__init__.py: the class of options; pgm/inference/engines/alone/prepared.py: all else
-> pgm/inference/engines/__init__.py: its class in ENGINES; the conformance suite, messages and the command find it there
-> docs/reference/engines.rst: its page; docs/how-to/big-networks.md: when to choose it; CHANGELOG.md: a line
-> docs/developer/rooms.md: its folder on the map, by `python docs/rooms.py --write`

This one looks at factors of one variable and at no others: exact where there are no others, else a caricature.
"""

from __future__ import annotations

# --- its options: alone/__init__.py, which imports none of its code ---

from dataclasses import dataclass

from pgm.inference.engines.options import Engine


@dataclass(frozen=True, kw_only=True, slots=True)
class Alone(Engine):
    """Every variable by itself.

    Args:
        -> each option with its meaning; __post_init__ refuses what is out of range.

    >>> import pgm
    >>> pgm.load_network("asia").query("lung", engine=Alone()).exact
    False
    """

    name = "alone"
    module = __name__  # -> f"{__name__}.prepared", which has `prepare`; imported when first used
    answers = ("query", "marginals", "probability")
    approximates = True
    takes_soft = False
    # -> turns = {"query": Turn(2, "why")} where "auto" shall ask it when no tree fits


# --- the engine: alone/prepared.py ---

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgm.evidence import Observed
# -> from pgm.inference.engines.alone import Alone
from pgm.inference.engines.factor_graph import make_graph
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.problem import Problem, Solution
from pgm.inference.engines.reduced import ReducedSums, reduced
from pgm.results import Report
from pgm.runtime.clock import Clock


def solve(problem: Problem, options: Alone, clock: Clock) -> Solution:
    """Answer a reduced question: evidence is sliced in, impossible states are closed, names are numbers."""
    graph = make_graph(problem.case, "alone", each_message=0.0)  # checks that it fits in memory
    g = graph.arrays
    beliefs, log = np.empty(int(g.state_at[-1])), 0.0
    for i in range(g.cards.size):  # -> loops over many numbers belong in a file named compiled.py
        clock.check()  # pgm.OutOfTime, and Ctrl-C
        here = slice(g.state_at[i], g.state_at[i + 1])
        top = g.local[here].max()
        weights = np.exp(g.local[here] - top)
        beliefs[here] = weights / weights.sum()
        log += top + math.log(weights.sum())
    values: np.ndarray | None = beliefs  # of all variables, one after the other
    if problem.targets is not None:  # the joint of these; None: put it together from answers for single ones
        own = [beliefs[g.state_at[i] : g.state_at[i + 1]] for i in problem.targets.tolist()]
        single = own[0] if own else np.ones(1)  # of none: only the total is asked for
        values = None if len(own) > 1 else single
    mantissa, exponent = graph.constant  # wide numbers: no evidence is too improbable
    shift = int(log / math.log(2.0))
    return Solution(
        values=values,
        total=lambda: (mantissa * math.exp(log - shift * math.log(2.0)), exponent + shift),
        weights=dict,
        report=Report("alone", exact=g.table.size == 0),  # honest: exact only where it is
    )


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class AloneSums(ReducedSums):
    """A model with what is known of it, ready to be asked of this engine.

    -> ReducedMaxima for `map`; NamedDraws for `sample`; a `plan`: what it can, no more
    """

    def run(self, problem: Problem) -> Solution:
        """Sum a reduced question."""
        return solve(problem, self.options, self.clock)


def prepare(
    options: Alone,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> AloneSums:
    """What the door hands the question to."""
    return reduced(AloneSums, options, compiled, observed, clock)
