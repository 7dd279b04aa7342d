"""A search for a structure: copy, rename, fill in. `->` says what else belongs to it.

-> pgm/learning/searching/once.py: `search` and what it needs
-> pgm/learning/searches.py: the class of its options, and that class in SEARCHES; the command, messages and tests find it there
-> tests/test_house.py: that file among the exceptions with a reason, if it is longer than 400 lines now
-> pgm/models/learned.py: its name in what `learn_structure` says of search=
-> docs/how-to/structure.md: its row in the table of searches; docs/reference/learning.rst, CHANGELOG.md: a line each
-> tests/learning/test_searches.py: under `ready` what it cannot do without, and an oracle of its own; the tests of all
   searches find it in the registry: any order of columns and rows, everything that is known beforehand

This one tries each arc once, that of the largest gain first, and keeps what still gains when its turn comes.
"""

from __future__ import annotations

# --- its options: in searches.py, which imports no search; what is imported here is there ---

from dataclasses import dataclass
from typing import ClassVar

from pgm.errors import InvalidArgument, shown
from pgm.learning.searches import Search


@dataclass(frozen=True, slots=True)
class Once(Search):
    """Each arc is tried once, that of the largest gain first, and stays if the score still grows.

    Args:
        least: how much an arc has to gain.

    >>> Once(least=2.0).name
    'once'
    """

    least: float = 0.0
    name: ClassVar[str] = "once"
    module: ClassVar[str] = "once"  # -> below pgm.learning.searching; imported when first used
    # -> heeds = frozenset() if max_parents= or start= have no effect; scores = False if it goes by tests

    def __post_init__(self) -> None:
        """Check the options."""
        value = self.least
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value < float("inf"):
            raise InvalidArgument(f"least is a number of at least 0, not {shown(value)}.")


# --- the search: once.py ---

import numpy as np

from pgm.errors import OutOfTime
from pgm.graphs.equivalence import topological
from pgm.learning.searching.found import Found, Move
from pgm.learning.searching.problem import StructureProblem

# -> from pgm.learning.searches import Once

_DIGITS = 6  # gains that differ by less are ties, which go by name: rounding decides nothing
_SLACK = 1e-9  # of the score: a smaller difference is rounding


def search(options: Once, problem: StructureProblem) -> Found:
    """Begin with the arcs that are given; nodes are numbered in the order of their names."""
    known, families = problem.known, problem.families()  # the scores of families, of permitted arcs only
    parents = list(known.start)  # what is required at least
    found = Found(list(parents), families.total(parents))
    found.trace.append(Move("start", None, found.score))
    try:
        above = _ancestors(parents)
        gains = np.empty((problem.n, problem.n))  # [parent, child]; -inf where an arc is not permitted
        for v in range(problem.n):
            problem.clock.check("searching for a structure")  # OutOfTime, and Ctrl-C
            gains[:, v] = families.grown(v, parents[v]) - families.score(v, parents[v])
        promising = int((gains > options.least).sum())
        order = np.argsort(-gains.round(_DIGITS), axis=None, kind="stable")[:promising]
        for u, v in np.transpose(np.unravel_index(order, gains.shape)).tolist():
            problem.clock.check("searching for a structure")
            if above[v, u] or len(parents[v]) >= known.room[v]:
                continue
            here, more = families.score(v, parents[v]), tuple(sorted((*parents[v], u)))
            gain = families.score(v, more) - here
            if gain <= options.least + _SLACK * (1.0 + abs(here)):
                continue
            parents[v] = found.parents[v] = more
            above |= np.outer(above[:, u], above[v])  # -> in a compiled.py if there are many
            found.score += gain
            found.trace.append(Move("add", (u, v), found.score))
    except (OutOfTime, KeyboardInterrupt) as error:  # the best so far is the answer, and says so
        found.interrupt(error)
    return found


def _ancestors(parents: list[tuple[int, ...]]) -> np.ndarray:
    """Whether a node [u] is another [v] or comes before it."""
    above = np.eye(len(parents), dtype=bool)
    for v in topological(parents):
        above[:, v] |= above[:, list(parents[v])].any(axis=1)
    return above
