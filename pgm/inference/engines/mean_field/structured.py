"""Blocks of variables that stay dependent on each other, each handled by the exact engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pgm.errors import InvalidArgument, UnknownVariable, listed
from pgm.factors import Dense
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.factor_graph import Graph
from pgm.inference.engines.mean_field import MeanField
from pgm.inference.engines.problem import Problem
from pgm.inference.engines.wide_numbers import log_of
from pgm.inference.program import Program, compile_program
from pgm.inference.program.reduction import Known, open_targets
from pgm.inference.trees import TreeCache
from pgm.runtime.clock import Clock


@dataclass(eq=False, slots=True)
class Block:
    """Some variables, the factors among them as a program, and the influence of other variables."""

    variables: list[int]  # indices of reduced variables
    program: Program
    names: list[str]
    trees: TreeCache = field(default_factory=TreeCache)
    known: Known = field(default_factory=Known)

    def improve(self, fields: Sequence[np.ndarray], clock: Clock) -> tuple[list[np.ndarray], list[float]]:
        """The best distribution of the block, given each variable's mean logarithms from outside.

        Returns the marginals and the block's contribution to the bound: its entropy and the mean logarithm of
        its own factors.
        """
        weights = [np.exp(f - f.max()) if f.max() > -math.inf else np.zeros(f.size) for f in fields]
        self.known = Known({}, {i: (w,) for i, w in enumerate(weights)})
        flat, total = self._ask(clock).marginals_and_total()
        marginals = np.split(flat, np.cumsum([w.size for w in weights])[:-1])
        terms = [log_of(total)]
        for p, w in zip(marginals, weights, strict=True):
            terms.append(-math.fsum((p[w > 0] * np.log(w[w > 0])).tolist()))
        return marginals, terms

    def joint(self, variables: Sequence[int], clock: Clock) -> np.ndarray:
        """The joint distribution of some of the variables after the block's last improvement."""
        return self._ask(clock).joint([self.variables.index(v) for v in variables])

    def _ask(self, clock: Clock) -> Posterior:
        return Posterior(self.program, self.trees, self.known, clock, self.names)


def find_blocks(
    problem: Problem, graph: Graph, options: MeanField
) -> tuple[list[Block], np.ndarray, np.ndarray]:
    """The blocks, which variables are in none, and which factors are inside none."""
    g, r = graph.arrays, graph.case.reduced
    block_of = np.full(g.cards.size, -1, np.int64)
    place = {name: i for i, name in enumerate(problem.names)}
    lists: list[list[int]] = []
    seen: set[str] = set()
    for block in options.structured:
        for name in block:
            if not isinstance(name, str) or name not in place:
                raise UnknownVariable(name, place, "structured=")
            if name in seen:
                raise InvalidArgument(f"{name!r} is in structured= twice; blocks cannot share variables.")
            seen.add(name)
        mine = open_targets(problem.case, [place[name] for name in block]).tolist()  # those that matter
        for at in mine:
            if at in problem.held:
                name = problem.names[r.variables[at]]
                raise InvalidArgument(
                    f"{name!r} has pgm.Soft evidence and is in a block of structured=; leave it out there."
                )
        if len(mine) > 1:
            block_of[mine] = len(lists)
            lists.append(sorted(mine))
    between = np.ones(g.table.size, np.uint8)
    if not lists:
        return [], np.ones(g.cards.size, np.uint8), between
    inside: list[list[int]] = [[] for _ in lists]
    for f in range(g.table.size):
        scope = g.scopes[g.scope_at[f] : g.scope_at[f + 1]]
        own = block_of[scope]
        blocks, counts = np.unique(own[own >= 0], return_counts=True)
        if not counts.size or counts.max() < 2:
            continue
        if counts.max() < scope.size:
            named = [problem.names[v] for v in r.variables[scope].tolist() if v < len(problem.names)]
            raise InvalidArgument(
                f"A factor over {listed(named)} has several of its variables in one block of structured=, "
                "but not all. Put all of them into it, or only one."
            )
        inside[int(blocks[0])].append(f)
        between[f] = 0
    found = []
    for mine, factors in zip(lists, inside, strict=True):
        tables = [_table(graph, f, mine) for f in factors]
        program = compile_program([int(g.cards[v]) for v in mine], tables)
        names = [
            problem.names[v] if v < len(problem.names) else "(hidden)" for v in r.variables[mine].tolist()
        ]
        found.append(Block(mine, program, names))
    return found, (block_of < 0).astype(np.uint8), between


def _table(graph: Graph, f: int, variables: Sequence[int]) -> Dense:
    """A factor of the graph as a dense table, its scope as indices into the block."""
    g = graph.arrays
    scope, t = g.scopes[g.scope_at[f] : g.scope_at[f + 1]].tolist(), int(g.table[f])
    values = np.full([int(g.cards[v]) for v in scope], -math.inf)
    rows = g.codes[g.code_at[t] : g.code_at[t + 1]].reshape(-1, len(scope))
    values[tuple(rows.T)] = g.logs[g.row_at[t] : g.row_at[t + 1]]
    return Dense(np.array([[variables.index(v) for v in scope]]), values, log=True)
