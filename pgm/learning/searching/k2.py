"""K2: parents one by one, among those that come before in a given order (Cooper & Herskovits 1992)."""

from __future__ import annotations

import numpy as np

from pgm.errors import InvalidArgument, OutOfTime, UnknownVariable, listed
from pgm.learning.searches import K2Search

from .found import Found, Move
from .problem import StructureProblem

_SLACK = 1e-9


def search(options: K2Search, problem: StructureProblem) -> Found:
    """Add the best parent of each node as long as the score grows."""
    known, names = problem.known, problem.names
    if not options.order:
        raise InvalidArgument(
            'search="k2" needs the order of the nodes, causes first: pgm.searches.K2Search(order=[...]).'
        )
    for name in options.order:
        if name not in names:
            raise UnknownVariable(name, names, where="order=")
    if len(set(options.order)) < len(options.order) or len(options.order) < len(names):
        missing = [name for name in names if name not in options.order]
        raise InvalidArgument(
            f"order= names each column once; it lacks {listed(missing)}."
            if missing
            else "order= names a column twice."
        )
    place = {name: i for i, name in enumerate(options.order)}
    rank = np.array([place[name] for name in names])
    early = rank[:, None] < rank[None, :]
    if (known.required & ~early).any():
        u, v = np.argwhere(known.required & ~early)[0].tolist()
        raise InvalidArgument(
            f"order= has {names[v]!r} before {names[u]!r}, which require= makes its parent."
        )
    families = problem.families()
    parents = [tuple(np.flatnonzero(known.required[:, v]).tolist()) for v in range(problem.n)]
    found = Found(list(parents), families.total(parents))
    found.trace.append(Move("start", None, found.score))
    try:
        for v in np.argsort(rank).tolist():
            here = families.score(v, parents[v])
            while len(parents[v]) < known.room[v]:
                problem.clock.check("searching for a structure")
                gains = np.where(early[:, v], families.grown(v, parents[v]) - here, -np.inf)
                u = int(np.argmax(gains))
                if not gains[u] > _SLACK * (1.0 + abs(here)):
                    break
                found.score += float(gains[u])
                here += float(gains[u])
                parents[v] = tuple(sorted((*parents[v], u)))
                found.parents[v] = parents[v]
                found.trace.append(Move("add", (u, v), found.score))
    except (OutOfTime, KeyboardInterrupt) as error:
        found.interrupt(error)
    found.score = families.total(found.parents)
    return found
