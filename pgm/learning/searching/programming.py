"""The best network as an integer program (Jaakkola et al. 2010; Bartlett & Cussens 2017), solved by HiGHS.

One set of parents is chosen for each node; in every cluster of nodes at least one has no parent inside it.
These inequalities are too many, so those that the last solution violates are added, until it violates none.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import networkx as nx
import numpy as np

from pgm.errors import OutOfTime
from pgm.learning.scoring.families import Families
from pgm.runtime.running import unstoppable

from .exact import members
from .found import Found
from .parent_sets import ParentSets
from .problem import StructureProblem

_TIME = 600.0  # seconds, where there is no limit


def by_cuts(sets: list[ParentSets], problem: StructureProblem, families: Families, best: Found) -> Found:
    """Solve; at the time limit the better of what was known and found, with the bound that was proved."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, vstack

    n = problem.n
    owner = np.concatenate([np.full(own.masks.size, v) for v, own in enumerate(sets)])
    masks = np.concatenate([own.masks for own in sets])
    scores = np.concatenate([own.scores for own in sets])
    size = masks.size
    one_each = csr_array((np.ones(size), (owner, np.arange(size))), shape=(n, size))
    rows: list[Any] = []
    for u in range(n):  # no two nodes are parents of each other
        for v in range(u + 1, n):
            row = ((owner == u) & (masks >> v & 1 == 0)) | ((owner == v) & (masks >> u & 1 == 0))
            rows.append(csr_array(row.astype(np.float64)[None, :]))
    bound = math.inf
    begun = problem.clock.remaining()
    while True:
        problem.clock.check("searching all networks")
        constraints = [LinearConstraint(one_each, 1.0, 1.0)]
        if rows:
            constraints.append(LinearConstraint(vstack(rows, format="csr"), 1.0, np.inf))
        # HiGHS reports the bound that it has proved only if it ends by itself.
        left = min(0.9 * problem.clock.remaining(), _TIME if begun == math.inf else begun)
        ask = partial(
            milp,
            -scores,
            constraints=constraints,
            integrality=np.ones(size, np.int64),
            bounds=Bounds(0.0, 1.0),
            options={"time_limit": max(left, 0.1), "mip_rel_gap": 0.0},
        )
        solved = unstoppable(ask, problem.clock, "searching all networks")
        proved = getattr(solved, "mip_dual_bound", None)
        if proved is not None:
            bound = min(bound, -float(proved))
        if solved.x is None or not solved.success:
            best.interrupt(OutOfTime(""))
            best.notes["bound"] = f"no network scores more than {bound:,.3f}"
            return best
        chosen = np.flatnonzero(solved.x > 0.5)
        parents: list[tuple[int, ...]] = [()] * n
        for i in chosen.tolist():
            parents[int(owner[i])] = members(int(masks[i]), n)
        graph: nx.DiGraph[int] = nx.DiGraph((u, v) for v, those in enumerate(parents) for u in those)
        cyclic = [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]
        if not cyclic:
            return Found(parents, families.total(parents), exact=True)
        for nodes in [*cyclic, *_cycles(graph, cyclic)]:
            cluster = sum(1 << v for v in nodes)
            row = np.isin(owner, nodes) & ((masks & cluster) == 0)
            rows.append(csr_array(row.astype(np.float64)[None, :]))


def _cycles(graph: Any, components: list[list[int]]) -> list[list[int]]:
    """A shortest cycle through each node of these strong components: smaller clusters cut deeper."""
    found: dict[tuple[int, ...], None] = {}
    for component in components:
        part = graph.subgraph(component)
        for v in component:
            reach = nx.single_source_shortest_path(part, v)
            back = [reach[u] for u in part.predecessors(v) if u in reach]
            if back:
                found[tuple(sorted(min(back, key=lambda path: (len(list(path)), list(path)))))] = None
    return [list(cycle) for cycle in found]
