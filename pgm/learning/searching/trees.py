"""Trees: Chow and Liu's, and the tree-augmented naive Bayes network of a class."""

from __future__ import annotations

import networkx as nx
import numpy as np

from pgm.errors import InvalidArgument, InvalidStructure, UnknownVariable
from pgm.learning.scores import LogLikelihood
from pgm.learning.searches import TAN, ChowLiu

from .constraints import Constraints
from .found import Found, Move
from .problem import StructureProblem


def search(options: ChowLiu | TAN, problem: StructureProblem) -> Found:
    """Weigh each pair by its mutual information, and take the heaviest tree."""
    known = problem.known
    given: tuple[int, ...] = ()
    if isinstance(options, TAN):
        given = (_place(options.target, problem, "target"),)
    weights = _information(problem, given)
    free = [v for v in range(problem.n) if v not in given]
    root = free[0] if options.root is None else _place(options.root, problem, "root")
    if isinstance(options, ChowLiu) and options.forest:
        families = problem.families()
        for v in free:
            gains = families.grown(v, ()) - families.score(v, ())
            weights[gains <= 1e-9 * (1.0 + abs(families.score(v, ()))), v] = -np.inf
    arcs = _heaviest(weights, free, root, known)
    parents = [set(given) if v in free else set() for v in range(problem.n)]
    for u, v in arcs:
        parents[v].add(u)
    if not known.obeyed(parents):
        raise InvalidStructure(
            f'search="{options.name}" gives each node a fixed number of parents, and what is required or '
            "forbidden leaves no such network."
        )
    families = problem.families()
    trace = [Move("start", None, families.total([()] * problem.n))]
    total = families.total(parents)
    return Found([tuple(sorted(those)) for those in parents], total, [*trace, Move("tree", None, total)])


def _place(name: str | None, problem: StructureProblem, what: str) -> int:
    if name is None:
        raise InvalidArgument(f'search="tan" needs the class: write pgm.searches.TAN({what}="...").')
    if name not in problem.names:
        raise UnknownVariable(name, problem.names, where=f"{what}=")
    return problem.names.index(name)


def _information(problem: StructureProblem, given: tuple[int, ...]) -> np.ndarray:
    """[u, v]: rows times the mutual information of each pair, given the class; -inf where no arc may be."""
    families = problem.with_score(LogLikelihood()).families()
    weights = np.full((problem.n, problem.n), -np.inf)
    for v in range(problem.n):
        if v not in given:
            problem.clock.check("scoring pairs of columns")
            weights[:, v] = families.grown(v, given) - families.score(v, given)
    return weights


def _heaviest(weights: np.ndarray, nodes: list[int], root: int, known: Constraints) -> list[tuple[int, int]]:
    """The arcs of the heaviest tree, away from the root; of the heaviest branching under constraints."""
    plain = bool((known.allowed[np.ix_(nodes, nodes)] | np.eye(len(nodes), dtype=bool)).all())
    if plain and not known.required.any():
        beside: dict[int, list[int]] = {v: [] for v in nodes}
        ranked = sorted(
            ((-weights[u, v], u, v) for i, u in enumerate(nodes) for v in nodes[i + 1 :]),
            key=lambda item: (round(item[0], 6), item[1], item[2]),
        )
        group = {v: v for v in nodes}

        def leader(v: int) -> int:
            while group[v] != v:
                group[v] = group[group[v]]
                v = group[v]
            return v

        for weight, u, v in ranked:
            if weight < np.inf and leader(u) != leader(v):
                group[leader(u)] = leader(v)
                beside[u].append(v)
                beside[v].append(u)
        arcs, seen = [], set()
        for start in [root, *nodes]:
            queue = [] if start in seen else [start]
            seen.update(queue)
            for u in queue:  # grows
                for v in sorted(beside[u]):
                    if v not in seen:
                        seen.add(v)
                        arcs.append((u, v))
                        queue.append(v)
        return arcs
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(nodes)
    bonus = 1.0 + float(np.abs(weights[np.isfinite(weights)]).sum())
    for u in nodes:
        for v in nodes:
            if u != v and weights[u, v] > -np.inf:
                worth = weights[u, v] + 1e-12 + (bonus if known.required[u, v] else 0.0)
                graph.add_edge(u, v, weight=max(float(worth), 1e-12))
    found: list[tuple[int, int]] = sorted(nx.maximum_branching(graph).edges)
    return found
