"""All parent sets that a node may have, with their scores: the input of exact search and order sampling."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pgm.config import current
from pgm.errors import TooLarge, counted
from pgm.learning.scores import AIC, BIC
from pgm.learning.scoring.families import Families
from pgm.runtime import progress

from .problem import StructureProblem

MOST_NODES = 62  # a set of nodes is a bit mask
_MOST = 30_000_000  # families: a minute or more, and half a gigabyte


@dataclass(frozen=True)
class ParentSets:
    """The sets of one node, the best first; a set is a bit mask."""

    masks: np.ndarray  # int64
    scores: np.ndarray


def parent_sets(problem: StructureProblem, families: Families, *, prune: bool) -> list[ParentSets]:
    """The permitted sets of each node and their scores.

    Args:
        problem: the columns and constraints.
        families: the scores.
        prune: whether to leave out sets that score no better than a subset: some best network has none.

    Raises:
        TooLarge: there are too many.
    """
    n, known = problem.n, problem.known
    if n > MOST_NODES:
        raise TooLarge(f"Sets of {n} nodes are too many to be listed: at most {MOST_NODES} are possible.")
    room = [int(min(known.room[v], known.allowed[:, v].sum())) for v in range(n)]
    if prune and isinstance(problem.score, BIC) and problem.continuous == []:
        rows = max(float(problem.total), 3.0)
        # De Campos & Ji 2011: a best network under BIC has no more parents than this.
        room = [min(most, math.ceil(math.log2(2.0 * rows / math.log(rows)))) for most in room]
    total = 0
    for v in range(n):
        optional = int((known.allowed[:, v] & ~known.required[:, v]).sum())
        already = int(known.required[:, v].sum())
        total += sum(math.comb(optional, k) for k in range(room[v] - already + 1))
    if total > _MOST or 40.0 * total > current().memory_limit:
        raise TooLarge(
            f"There are {counted(total)} families to be scored, which takes too long or too much memory: set "
            'max_parents=, forbid arcs, or search by "tabu", "boss" or "ges".'
        )
    found = []
    for v in range(n):
        problem.clock.check("scoring sets of parents")
        progress.report(v, n, "scoring sets of parents")
        found.append(_of_node(problem, families, v, room[v], prune))
    progress.report(n, n, "scoring sets of parents")
    return found


def _of_node(problem: StructureProblem, families: Families, v: int, room: int, prune: bool) -> ParentSets:
    """Level by level; a set is made by adding the last of its optional members."""
    known = problem.known
    base = tuple(np.flatnonzero(known.required[:, v]).tolist())
    optional = np.flatnonzero(known.allowed[:, v] & ~known.required[:, v]).astype(np.int64)
    start = sum(1 << u for u in base)
    masks, scores = [start], [families.score(v, base)]
    best = {start: scores[0]} if prune else {}
    level: list[tuple[int, tuple[int, ...], int]] = [(start, base, 0)]
    superset_bound = _superset_bound(problem, v) if prune else None
    for _ in range(len(base), room):
        following = []
        for mask, members, begin in level:
            more = optional[begin:]
            if not more.size:
                continue
            problem.clock.check("scoring sets of parents")
            made = families.work(v, members, more)
            families.asked += more.size
            for i, (u, score) in enumerate(zip(more.tolist(), made.tolist(), strict=True)):
                larger = mask | 1 << u
                those = tuple(sorted((*members, u)))
                if prune:
                    below = max(
                        (best[larger ^ 1 << w] for w in those if w not in base and larger ^ 1 << w in best),
                        default=-np.inf,
                    )
                    best[larger] = max(below, score)
                    if score > below:
                        masks.append(larger)
                        scores.append(score)
                    if superset_bound is not None and superset_bound(those) < best[larger]:
                        continue  # no superset scores better than this set or its best subset
                else:
                    masks.append(larger)
                    scores.append(score)
                following.append((larger, those, begin + i + 1))
        level = following
    order = np.argsort(-np.array(scores), kind="stable")
    return ParentSets(np.array(masks, np.int64)[order], np.array(scores)[order])


def _superset_bound(problem: StructureProblem, v: int) -> Callable[[tuple[int, ...]], float] | None:
    """A bound on the scores of all proper supersets: likelihood at most 1, tables at least twice as large."""
    if not isinstance(problem.score, BIC | AIC) or problem.continuous:
        return None
    each = problem.score.per_parameter(problem.total)
    cards = [variable.card for variable in problem.variables]

    def bound(those: tuple[int, ...]) -> float:
        return -each * (cards[v] - 1) * math.prod(cards[u] for u in those) * 2.0

    return bound
