"""An engine that approximates: copy, rename, fill in. `->` says what else belongs to it.

-> a folder in pgm/inference/engines: the class of options in its __init__.py, all else in its prepared.py
-> its class in ENGINES: pgm/inference/engines/__init__.py; the conformance suite, messages and docs find it there
-> its page: docs/reference/engines.rst

This one looks at factors of one variable and at no others: exact where there are no others, else a caricature.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgm.evidence import Observed
from pgm.inference.engines.factor_graph import make_graph
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.options import Engine
from pgm.inference.engines.problem import Problem, Solution
from pgm.inference.engines.reduced import ReducedSums, reduced
from pgm.results import Report
from pgm.runtime.clock import Clock


@dataclass(frozen=True, kw_only=True, slots=True)
class Alone(Engine):
    """Every variable by itself.

    Args:
        -> each option with its meaning; __post_init__ refuses what is out of range.
    """

    name = "alone"
    module = __name__  # -> f"{__name__}.prepared", which has `prepare`; imported when first used
    answers = ("query", "marginals", "probability")
    approximates = True
    takes_soft = False
    # -> turns = {"query": Turn(2, "why")} where "auto" shall ask it when no tree fits


def solve(problem: Problem, options: Alone, clock: Clock) -> Solution:
    """Answer a reduced question: evidence is sliced in, impossible states are closed, names are numbers."""
    graph = make_graph(problem.case, "alone", each_message=0.0)  # checks that it fits in memory
    g = graph.arrays
    beliefs, log = np.empty(int(g.state_at[-1])), 0.0
    for i in range(g.cards.size):  # -> loops over many numbers belong in a file named compiled.py
        clock.check()  # pgm.OutOfTime, and Ctrl-C
        own = slice(g.state_at[i], g.state_at[i + 1])
        top = g.local[own].max()
        weights = np.exp(g.local[own] - top)
        beliefs[own] = weights / weights.sum()
        log += top + math.log(weights.sum())
    values: np.ndarray | None = beliefs  # of all variables, one after the other
    if problem.targets is not None:  # the joint of these; None: put it together from answers for single ones
        several, only = problem.targets.size != 1, int(problem.targets[0])
        values = None if several else beliefs[g.state_at[only] : g.state_at[only + 1]]
    mantissa, exponent = graph.constant  # wide numbers: no evidence is too improbable
    shift = int(log / math.log(2.0))
    return Solution(
        values=values,
        total=lambda: (mantissa * math.exp(log - shift * math.log(2.0)), exponent + shift),
        weights=dict,
        report=Report("alone", exact=g.table.size == 0),  # honest: exact only where it is
    )


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class AloneSums(ReducedSums):  # -> ReducedMaxima for `map`; NamedDraws for `sample`; a `plan`: what it can, no more
    """A model with what is known of it, ready to be asked of this engine."""

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
