"""An engine that approximates: copy, rename, fill in. `->` says what else belongs to it.

-> its options (the class below) and its name in ENGINES: pgm/inference/engines/__init__.py
-> its `solve` in SOLVERS: pgm/inference/engines/approximate.py
-> a line in ENGINES of tests/inference/test_approximate.py, and docs/reference/engines.rst

This one looks at factors of one variable and at no others: exact where there are no others, else a caricature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pgm.runtime.clock import Clock
from pgm.inference.engines.factor_graph import make_graph
from pgm.inference.engines.problem import Problem, Solution
from pgm.results import Report


@dataclass(frozen=True, kw_only=True, slots=True)
class Alone:
    """Every variable by itself.

    Args:
        -> each option with its meaning; __post_init__ refuses what is out of range.
    """

    name = "alone"
    answers = ("query", "marginals", "probability")
    approximates = True
    takes_soft = False


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
