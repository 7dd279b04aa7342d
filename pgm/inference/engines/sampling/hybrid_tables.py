"""The discrete part of a model as tables, some of which change with the values of continuous variables.

Given the continuous variables, a model is one of tables: a continuous variable with discrete parents weights
their states by its density, and a discrete variable with continuous parents has the probabilities that these
give. So states are drawn as in any model of tables, in blocks, once such tables have been rewritten.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgm.factors import Dense, Factor, Score
from pgm.inference.engines.gaussian import own_densities
from pgm.inference.engines.problem import Problem
from pgm.inference.engines.sampling import Gibbs
from pgm.inference.engines.sampling.gibbs_blocks import Blocks, find_blocks
from pgm.inference.engines.sampling.hybrid_arrays import EntryArrays, LinkArrays
from pgm.inference.engines.sampling.hybrid_model import HybridModel
from pgm.inference.engines.sampling.lookup_arrays import LookupLayout, lay_out
from pgm.inference.program import compile_program
from pgm.inference.program.reduction import Known, reduce_case
from pgm.inference.trees import TreeCache


@dataclass(frozen=True, eq=False, slots=True)
class Called:
    """Entries of a table given by a call: to a classifier, a regressor, or densities of their own."""

    v: int  # the child, by position
    codes: np.ndarray  # (configurations, variables of the program)
    which: np.ndarray  # the configuration of each entry
    code: np.ndarray  # the state of the child in each entry; 0 if it is continuous
    to: np.ndarray  # where each entry is
    fixed: bool  # whether its continuous variables are observed, so that the entries never change


@dataclass(frozen=True, eq=False, slots=True)
class StateTables:
    """The discrete variables that are drawn, and the tables that are rewritten beforehand."""

    layout: LookupLayout
    blocks: Blocks | None  # None: all states are known
    links: LinkArrays
    link_of: dict[int, int]  # by the position of the child
    entries: EntryArrays
    called: list[Called]
    codes: np.ndarray  # of all variables of the program; 0 for those that are drawn

    @property
    def n_logs(self) -> int:
        """The count of entries of all tables over two variables or more."""
        return int(self.layout.arrays.logs.size)


def state_tables(model: HybridModel, above: set[int], options: Gibbs) -> StateTables:
    """Lay out the discrete variables among those at these positions."""
    families = _families(model, above)
    n_named, cards = model.program.n_named, model.cards
    rng = np.random.default_rng(0)
    factors: list[Factor] = list(model.factors)
    for child in model.scores:  # a table that is rewritten takes the place of a uniform one
        factors[int(model.place[child])] = Dense(np.array([[child]]), np.ones(cards[child]))
    first = len(factors)
    # Random positive values: tables that are equal, or all ones, would not be kept apart.
    holders = [rng.uniform(0.5, 1.0, [int(cards[v]) for v in axes]) for _, axes in families]
    factors += [Dense(np.array([axes], np.int64), h) for (_, axes), h in zip(families, holders, strict=True)]
    program = compile_program(cards[:n_named].tolist(), factors)
    known = Known(dict(sorted(model.hard.items())), dict(sorted(model.weights.items())))
    wanted = sorted(v for v in above if model.g.index_of[v] < 0)
    case = reduce_case(program, known, wanted, model.clock, keep_ones=True)
    names = list(model.names)
    problem = Problem(case, {}, names, TreeCache())
    layout = lay_out(problem, options.name)
    blocks = find_blocks(layout, options, model.clock) if layout.arrays.cards.size else None
    links, link_of = _links(model, above)
    codes = np.where(case.codes >= 0, case.codes, 0).astype(np.int64)

    a, r, places = layout.arrays, case.reduced, {}
    several, alone = layout.graph.factors.tolist(), layout.graph.alone.tolist()
    for j, f in [*enumerate(several), *((-1, f) for f in alone)]:
        index = int(r.factors[f])
        if index < program.arrays.heads.size and program.factor_of[index] >= first:
            places[int(program.factor_of[index]) - first] = j, f
    base = np.concatenate([a.logs, a.local])
    lines, linked, called = _Columns(), _Columns(), []
    for i, (v, axes) in enumerate(families):
        if i not in places:
            continue  # all of its states are known
        configurations, to = _entries(layout, *places[i], codes)
        columns = tuple(configurations[:, u] for u in axes)
        base[to] -= np.log(holders[i][columns])
        x, score = int(model.g.index_of[v]), model.scores.get(v)
        if x >= 0 and x not in model.g.own and v not in model.curves:
            row = model.g.arrays.row_at[x] + model.selection(x, configurations)
            lines.add(np.full(len(to), x), row, to)
        elif isinstance(score, Score):
            at = np.zeros(len(to), np.int64)
            for u in score.discrete.tolist():
                at = at * int(cards[u]) + configurations[:, u]
            begin = int(links.offset_at[link_of[v]])
            linked.add(np.full(len(to), link_of[v]), begin + at * score.card, configurations[:, v], to)
        else:
            called.append(_called(model, v, configurations, to))
    entries = EntryArrays(base, *lines.arrays(3), *linked.arrays(4))
    return StateTables(layout, blocks, links, link_of, entries, called, codes)


def _families(model: HybridModel, above: set[int]) -> list[tuple[int, list[int]]]:
    """Each child whose family is mixed, and the discrete variables of that family.

    A family is mixed if it has both discrete and continuous variables.
    """
    found = []
    for v in sorted(above):
        x = int(model.g.index_of[v])
        if x < 0:
            own = model.scores.get(v)
            if own is not None:
                found.append((v, [*own.discrete.tolist(), v]))
            continue
        if v in model.curves:
            axes = model.curves[v].discrete.tolist()
        elif x in model.g.own and not model.g.own[x].whole:
            axes = []
        else:
            axes = own_densities.switches_of(model.g, x)
        if axes:
            found.append((v, axes))
    return found


def _entries(layout: LookupLayout, j: int, f: int, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The states of all variables at each entry of a table, and where each entry is.

    `j` is the index of the table among those over several variables, -1 if it is over one; `f` is its reduced
    factor.
    """
    a, r = layout.arrays, layout.problem.case.reduced
    if j < 0:
        scope = r.scopes[r.scope_at[f] : r.scope_at[f] + 1]
        to = a.logs.size + int(a.state_at[scope[0]]) + np.arange(int(a.cards[scope[0]]))
    else:
        scope = a.scopes[a.scope_at[j] : a.scope_at[j + 1]]
        to = int(a.table_at[j]) + np.arange(math.prod(a.cards[scope].tolist()))
    digits = np.unravel_index(np.arange(to.size), a.cards[scope].tolist())
    found = np.tile(codes, (to.size, 1))
    for u, digit in zip(scope.tolist(), digits, strict=True):
        found[:, r.variables[u]] = r.states[r.state_at[u] : r.state_at[u + 1]][digit]
    return found, to


def _called(model: HybridModel, v: int, configurations: np.ndarray, to: np.ndarray) -> Called:
    x = int(model.g.index_of[v])
    code = np.zeros(len(to), np.int64) if x >= 0 else configurations[:, v].copy()
    if x < 0:
        configurations[:, v] = 0
    codes, which = np.unique(configurations, axis=0, return_inverse=True)
    if x in model.g.own:
        continuous = own_densities.block_of(model.g, x)
    else:
        linked = model.scores[v] if x < 0 else model.curves[v]
        continuous = [*model.g.index_of[linked.continuous].tolist(), *([x] if x >= 0 else [])]
    return Called(v, codes, which.ravel(), code, to, bool(model.seen[continuous].all()))


class _Columns:
    """Arrays that grow side by side."""

    def __init__(self) -> None:
        self.parts: list[tuple[np.ndarray, ...]] = []

    def add(self, *columns: np.ndarray) -> None:
        self.parts.append(columns)

    def arrays(self, width: int) -> list[np.ndarray]:
        """Each column as one array."""
        return [
            np.concatenate([np.empty(0, np.int64), *(part[i] for part in self.parts)]).astype(np.int64)
            for i in range(width)
        ]


def _links(model: HybridModel, above: set[int]) -> tuple[LinkArrays, dict[int, int]]:
    """The discrete variables among these whose log odds are linear, as arrays."""
    scores = [s for v, s in sorted(model.scores.items()) if v in above and isinstance(s, Score)]

    def at(sizes: Sequence[int]) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def joined(parts: Sequence[np.ndarray], kind: type = np.int64) -> np.ndarray:
        return np.concatenate([np.empty(0, kind), *(np.ravel(part) for part in parts)]).astype(kind)

    arrays = LinkArrays(
        child=np.array([s.child for s in scores], np.int64),
        card=np.array([s.card for s in scores], np.int64),
        offset_at=at([s.offset.size for s in scores]),
        offsets=joined([s.offset for s in scores], np.float64),
        above_at=at([s.discrete.size for s in scores]),
        above=joined([s.discrete for s in scores]),
        continuous_at=at([s.continuous.size for s in scores]),
        continuous=joined([model.g.index_of[s.continuous] for s in scores]),
        weight_at=at([s.weights.size for s in scores]),
        weights=joined([s.weights for s in scores], np.float64),
    )
    return arrays, {s.child: i for i, s in enumerate(scores)}


def write_called(model: HybridModel, one: Called, values: np.ndarray, tables: np.ndarray) -> None:
    """Add the logarithms that one call returns to the tables of several chains.

    Args:
        model: the model.
        one: the call and its entries.
        values: (chains, continuous variables).
        tables: (chains, entries).
    """
    chains, k = len(values), len(one.codes)
    codes, tiled = np.tile(one.codes, (chains, 1)), np.repeat(values, k, axis=0)
    if model.g.index_of[one.v] >= 0:
        logs = model.density_logs(int(model.g.index_of[one.v]), codes, tiled).reshape(chains, k, 1)
    else:
        score = model.scores[one.v]
        logs = score.logs(codes[:, score.discrete], tiled[:, model.g.index_of[score.continuous]])
        logs = logs.reshape(chains, k, -1)
    tables[:, one.to] += logs[:, one.which, one.code]
