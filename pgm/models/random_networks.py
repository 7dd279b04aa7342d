"""Random networks and questions of given sizes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pgm.calls import guarded
from pgm.cpds import TableCPD
from pgm.cpds.table_input import check_cells
from pgm.errors import InvalidArgument, shown
from pgm.randomness import generator
from pgm.variables import Variable

from .bayesian_network import BayesianNetwork


@guarded
def random_network(
    nodes: int,
    *,
    arcs: int | None = None,
    states: int | tuple[int, int] = 2,
    treewidth: int | None = None,
    max_parents: int = 4,
    zeros: float = 0.0,
    concentration: float = 1.0,
    seed: int | np.random.Generator | None = None,
) -> BayesianNetwork:
    """Draw a random Bayesian network: nodes v0, v1, ..., a given number of arcs, rows from a Dirichlet.

    Args:
        nodes: how many.
        arcs: how many; half as many again as nodes if left out, or as many as there may be.
        states: of each node, or (least, most), drawn evenly.
        treewidth: the largest treewidth of the moral graph: parents come from one bag of a tree
            of bags with that many nodes and one more.
        max_parents: the largest number of parents of a node.
        zeros: the share of entries of all tables that are zero; each row keeps one that is not.
        concentration: of the Dirichlet distribution: below 1 rows are nearly certain, above it nearly even.
        seed: for everything random.

    Raises:
        InvalidArgument: a size out of range, more arcs or zeros than there may be.
        TooLarge: a table does not fit the memory limit.

    >>> net = random_network(20, arcs=30, states=(2, 4), treewidth=3, seed=0)
    >>> len(net), len(net.edges), {v.card for v in net.variables.values()} <= {2, 3, 4}
    (20, 30, True)
    """
    rng = generator(seed)
    n = _count("nodes", nodes, 1)
    widest = _count("max_parents", max_parents, 0)
    bag = None if treewidth is None else _count("treewidth", treewidth, 0)
    low, high = (states, states) if isinstance(states, int) else _pair(states)
    _count("states", low, 1)
    if not isinstance(concentration, int | float) or not 0.0 < concentration < math.inf:
        raise InvalidArgument(f"concentration= is a positive number, not {shown(concentration)}.")
    cards = rng.integers(low, high + 1, size=n)
    parents = _arcs(n, None if arcs is None else _count("arcs", arcs, 0), bag, widest, rng)
    variables = [Variable(f"v{v}", list(range(int(card)))) for v, card in enumerate(cards)]
    tables = []
    for v, those in enumerate(parents):
        shape = [int(cards[u]) for u in those]
        check_cells([*shape, int(cards[v])], f"The table of 'v{v}'", "lower max_parents= or states=")
        tables.append(rng.dirichlet(np.full(int(cards[v]), float(concentration)), size=shape or None))
    _zeros(tables, zeros, rng)
    cpds = []
    for v, (those, table) in enumerate(zip(parents, tables, strict=True)):
        table.flags.writeable = False
        cpds.append(TableCPD.trusted(variables[v], tuple(variables[u] for u in those), table))
    return BayesianNetwork._from_cpds("random", cpds)


@guarded
def random_question(
    net: BayesianNetwork,
    *,
    evidence: int | float = 0.1,
    targets: int = 1,
    seed: int | np.random.Generator | None = None,
) -> tuple[list[str], dict[str, Any]]:
    """Draw random targets, and possible evidence: random nodes, with their states in one sampled case.

    Args:
        net: a network.
        evidence: how many nodes are observed, or which share of all.
        targets: how many others are asked for.
        seed: for everything random.

    Raises:
        InvalidArgument: more nodes than there are.

    >>> net = random_network(20, seed=0)
    >>> targets, given = random_question(net, evidence=5, seed=1)
    >>> len(targets), len(given), net.probability(given) > 0
    (1, 5, True)
    """
    rng = generator(seed)
    names = list(net.nodes)
    share = isinstance(evidence, float)
    if share and not 0.0 <= evidence <= 1.0:
        raise InvalidArgument(f"evidence= is a whole number or a share of the nodes, not {shown(evidence)}.")
    count = round(evidence * len(names)) if share else _count("evidence", evidence, 0)
    wanted = _count("targets", targets, 1)
    if count + wanted > len(names):
        raise InvalidArgument(
            f"{count:,} nodes are to be observed and {wanted:,} asked for; there are {len(names):,}."
        )
    order = [names[i] for i in rng.permutation(len(names))]
    case = net.sample(1, seed=rng)
    return order[count : count + wanted], {name: case[name][0] for name in order[:count]}


def _arcs(
    n: int, arcs: int | None, treewidth: int | None, widest: int, rng: np.random.Generator
) -> list[list[int]]:
    """Parents of each vertex, all before it."""
    if treewidth is None:
        candidates = [list(range(v)) for v in range(n)]
    else:
        candidates = [[]]
        bags: list[list[int]] = [[0]]
        for v in range(1, n):
            bag = bags[int(rng.integers(len(bags)))]
            kept = bag if len(bag) <= treewidth else [u for u in bag if u != bag[int(rng.integers(len(bag)))]]
            kept = kept[:treewidth] if len(kept) > treewidth else kept
            candidates.append(list(kept))
            bags.append([*kept, v])
    most = sum(min(len(those), widest) for those in candidates)
    wanted = min(most, n + n // 2) if arcs is None else arcs
    if wanted > most:
        raise InvalidArgument(
            f"{wanted:,} arcs are more than the {most:,} that {n:,} nodes may have with max_parents={widest}"
            + (f" and treewidth={treewidth}." if treewidth is not None else ".")
        )
    parents: list[list[int]] = [[] for _ in range(n)]
    room = np.array([min(len(those), widest) for those in candidates])
    slots = np.repeat(np.arange(n), room)  # each vertex as often as it may have a parent
    for v in rng.permutation(slots)[:wanted]:
        parents[v].append(-1)
    for v, those in enumerate(parents):
        if those:
            chosen = rng.choice(len(candidates[v]), size=len(those), replace=False).tolist()
            parents[v] = sorted(candidates[v][i] for i in chosen)
    return parents


def _zeros(tables: list[np.ndarray], share: float, rng: np.random.Generator) -> None:
    """Set a share of all entries to zero, in place; rows are renormalised."""
    if not isinstance(share, int | float) or not 0.0 <= share < 1.0:
        raise InvalidArgument(f"zeros= is a share from 0 up to 1, not {shown(share)}.")
    total = sum(table.size for table in tables)
    wanted = round(share * total)
    if not wanted:
        return
    places = []  # of all entries but one of each row, which stays
    for which, table in enumerate(tables):
        rows = table.reshape(-1, table.shape[-1])
        kept = rng.integers(table.shape[-1], size=len(rows))
        spare = np.ones(rows.shape, bool)
        spare[np.arange(len(rows)), kept] = False
        flat = np.flatnonzero(spare)
        places.append(np.stack([np.full(flat.size, which), flat], axis=1))
    every = np.concatenate(places)
    if wanted > len(every):
        raise InvalidArgument(
            f"zeros={share:g}: at most {len(every) / total:.6g} of all entries may be zero."
        )
    for which, flat in every[rng.permutation(len(every))[:wanted]].tolist():
        tables[which].reshape(-1)[flat] = 0.0
    for table in tables:
        table /= table.sum(axis=-1, keepdims=True)


def _count(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidArgument(f"{name}= is a whole number, at least {least}, not {shown(value)}.")
    return int(value)


def _pair(states: object) -> tuple[int, int]:
    if not isinstance(states, tuple | list) or len(states) != 2 or not states[0] <= states[1]:
        raise InvalidArgument(f"states= is a whole number or (least, most), not {shown(states)}.")
    return _count("states", states[0], 1), _count("states", states[1], 1)
