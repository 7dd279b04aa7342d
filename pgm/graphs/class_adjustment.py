"""Adjustment where only the equivalence class of the graph is known; front doors and instruments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import combinations, islice
from typing import Any

import numpy as np

from pgm.errors import TooLarge, listed
from pgm.graphs import walks
from pgm.graphs.adjustment import MOST, AdjustmentSets, Effect, check_ends, sets_of
from pgm.graphs.cpdag import CPDAG
from pgm.graphs.naming import members
from pgm.graphs.separators import Separation
from pgm.graphs.walks import Arrows
from pgm.runtime.clock import start_clock

MOST_CANDIDATES = 16  # variables of which all sets are tried as a front door


def class_adjustment_sets(
    graph: CPDAG,
    xs: Any,
    ys: Any,
    *,
    hidden: Collection[Any] = (),
    costs: Mapping[Any, float] | None = None,
    limit: int = MOST,
) -> AdjustmentSets:
    """Return the minimal sets that are right for every graph of a class (Perković et al. 2018).

    There are none if a path that may be causal leaves x by an undirected edge: then graphs of the class
    disagree about the effect. Otherwise one graph of the class decides which sets separate (van der Zander
    & Liśkiewicz 2016).

    Args:
        graph: the class.
        xs: the treatments: a name or several.
        ys: the outcomes.
        hidden: unobserved variables, which are in no set.
        costs: of observing each variable; 1 for those left out.
        limit: the largest number of sets to list.

    >>> graph = CPDAG("vwxy", [("v", "x"), ("w", "x"), ("x", "y"), ("w", "y")])
    >>> class_adjustment_sets(graph, "x", "y") == [{"w"}]
    True
    """
    index = {name: i for i, name in enumerate(graph.nodes)}
    one = graph.extension()
    arrows = Arrows.of({name: tuple(one.predecessors(name)) for name in graph.nodes})
    effect = Effect.of(arrows, xs, ys)
    tails = [*(index[a] for a, _ in graph.directed), *(index[v] for e in graph.undirected for v in e)]
    heads = [*(index[b] for _, b in graph.directed), *(index[v] for e in graph.undirected for v in e[::-1])]
    may = walks.from_pairs(len(index), np.array(tails, np.int64), np.array(heads, np.int64))
    all_tails, all_heads = walks.pairs(may)
    x = effect.x != 0
    down = walks.descendants(walks.without(may, x[all_heads]), effect.x)
    up = walks.ancestors(walks.without(may, x[all_tails]), effect.y)
    possible = down & up & (1 - effect.x)
    below = walks.descendants(may, possible)
    unseen = arrows.flags(members(arrows.index, hidden))
    for a, b in graph.undirected:
        for u, v in ((index[a], index[b]), (index[b], index[a])):
            if x[u] and possible[v]:
                return AdjustmentSets(
                    (),
                    arrows_of(arrows),
                    (arrows.listed(effect.x), arrows.listed(effect.y)),
                    why=f"no set is right for the whole class: {graph.nodes[u]!r} - {graph.nodes[v]!r} may "
                    "point either way, and graphs of the class disagree; see pgm.effect_range",
                )
    return sets_of(replace(effect, below=below), unseen, costs, limit)


def arrows_of(arrows: Arrows) -> dict[Any, tuple[Any, ...]]:
    """The parents of each node by name."""
    g, names = arrows.graph, arrows.names
    return {
        name: tuple([names[u] for u in g.parents[g.parents_at[v] : g.parents_at[v + 1]].tolist()])
        for v, name in enumerate(names)
    }


def front_door_sets(arrows: Arrows, x: Any, y: Any, *, hidden: Collection[Any] = ()) -> list[frozenset[Any]]:
    """Return the minimal front-door sets, the smallest first (Pearl 2009, definition 3.3.3).

    They intercept all directed paths from x to y; no back-door path leads from x to them; and x blocks all
    back-door paths from them to y.

    Raises:
        TooLarge: too many variables to try all their subsets.

    >>> graph = Arrows.of({"u": (), "x": ("u",), "m": ("x",), "y": ("m", "u")})
    >>> [sorted(some) for some in front_door_sets(graph, "x", "y", hidden=["u"])]
    [['m']]
    """
    check_ends((x,), (y,))
    effect = Effect.of(arrows, [x], [y])
    tails, _ = walks.pairs(arrows.graph)
    start, goal = arrows.index[x], arrows.index[y]
    unseen = arrows.flags(hidden)
    apart = walks.without(arrows.graph, tails == start)
    touched = walks.connected(apart, [start], np.zeros(len(arrows.names), np.uint8))
    free = effect.causal & (1 - touched) & (1 - unseen) & (1 - effect.y)
    candidates = np.flatnonzero(free).tolist()
    if len(candidates) > MOST_CANDIDATES:
        raise TooLarge(
            f"Sets of {len(candidates):,} variables may be front doors; {MOST_CANDIDATES} are tried. "
            "`identify` finds the formula without listing them."
        )
    found: list[frozenset[int]] = []
    for size in range(1, len(candidates) + 1):
        for some in combinations(candidates, size):
            if any(part <= set(some) for part in found):
                continue
            chosen = walks.marks(len(arrows.names), some)
            kept = walks.without(arrows.graph, chosen[tails] != 0)
            open_ = walks.descendants(kept, walks.marks(len(arrows.names), [start]))[goal]
            if not open_ and walks.d_separated(kept, some, [goal], [start]):
                found.append(frozenset(some))
    return [frozenset(arrows.names[v] for v in some) for some in found]


def instruments(
    arrows: Arrows, x: Any, y: Any, *, hidden: Collection[Any] = ()
) -> list[tuple[Any, frozenset[Any]]]:
    """Return pairs of an instrument z and a smallest known set W to condition on (Brito & Pearl 2002).

    Given W, z is dependent on x, and on y only through x: with the arrows that leave x removed the two
    are separated. No member of W is influenced by x. Of the minimal separating sets, the first that leaves z
    and x d-connected is taken.

    >>> graph = Arrows.of({"u": (), "z": (), "x": ("z", "u"), "y": ("x", "u")})
    >>> instruments(graph, "x", "y", hidden=["u"])
    [('z', frozenset())]
    """
    check_ends((x,), (y,))
    n = len(arrows.names)
    tails, _ = walks.pairs(arrows.graph)
    start, goal = arrows.index[x], arrows.index[y]
    below = walks.descendants(arrows.graph, walks.marks(n, [start]))
    apart = walks.without(arrows.graph, tails == start)
    unseen = arrows.flags(hidden)
    found = []
    clock = start_clock()
    for z in range(n):
        if below[z] or unseen[z] or z == goal:
            continue
        free = (1 - below) & (1 - unseen)
        free[[z, goal]] = 0
        problem = Separation.of(apart, walks.marks(n, [z]), walks.marks(n, [goal]), free)
        for some in islice(problem.every(np.ones(n), clock), MOST):
            known = np.flatnonzero(some).tolist()
            if not walks.d_separated(arrows.graph, [z], [start], known):
                found.append((arrows.names[z], frozenset(arrows.listed(some))))
                break
    return found


def local_parents(graph: CPDAG, x: Any) -> list[tuple[Any, ...]]:
    """The sets of parents that x has in the graphs of the class (Maathuis, Kalisch & Bühlmann 2009).

    >>> local_parents(CPDAG("abc", [], [("a", "b"), ("b", "c")]), "b")
    [(), ('a',), ('c',)]
    """
    sure = [a for a, b in graph.directed if b == x]
    beside = [a if b == x else b for a, b in graph.undirected if x in (a, b)]
    joined = {frozenset(pair) for pair in (*graph.directed, *graph.undirected)}
    found = []
    if len(beside) > MOST_CANDIDATES:
        raise TooLarge(
            f"{x!r} has {len(beside):,} undirected edges, to {listed(beside)}: too many to try them all."
        )
    for size in range(len(beside) + 1):
        for some in combinations(beside, size):
            if all(frozenset(pair) in joined for pair in combinations(some, 2)):
                found.append((*sure, *some))
    return found
