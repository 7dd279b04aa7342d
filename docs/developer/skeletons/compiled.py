"""Loops to copy, rename, fill in. `->` says what else belongs to them.

-> `Loops("pgm.your.room.compiled", "doing what")` where they are called: Python calls them through it, and with
   `run` of pgm/runtime/running.py, which raises for a status, if they take a stop flag
-> tests/test_house.py: a line in ORACLES, which names the test against something that shares no code with them
-> `python -m build_loops` after each edit; what is not in the subset is refused with file and line
-> docs/developer/loops.md: the subset

These count the steps from a vertex to all others. An oracle is networkx.single_source_shortest_path_length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pgm.runtime.kinds import Flag, Ints, Ints32

DONE, STOPPED = 0, 1  # statuses: a loop cannot speak, what it returns becomes an exception in running.py
LOOK = 1024  # entries between two looks at the stop flag
FAR = -1


class Links(NamedTuple):
    """A graph as sorted neighbour lists: those of v are indices[indptr[v] : indptr[v + 1]]."""

    indptr: Ints
    indices: Ints32


def _visit(g: Links, v: int, steps, waiting, end):
    """Put the neighbours of v that are new into the queue; return its end. Kinds come from the call."""
    for k in range(g.indptr[v], g.indptr[v + 1]):
        w = g.indices[k]
        if steps[w] == FAR:
            steps[w] = steps[v] + 1
            waiting[end] = w
            end += 1
    return end


def walk(g: Links, start: int, steps: Ints, stop: Flag):
    """Leave in `steps` how far each vertex is from `start`, FAR if there is no way; return a status."""
    waiting = np.empty(steps.size, np.int64)  # scratch: given back when the loop returns
    steps[:] = FAR
    steps[start] = 0
    waiting[0] = start
    begin, end, looked = 0, 1, 0
    while begin < end:
        v = waiting[begin]
        begin += 1
        looked += 1 + g.indptr[v + 1] - g.indptr[v]
        if looked >= LOOK:
            if stop[0]:
                return STOPPED
            looked = 0
        end = _visit(g, v, steps, waiting, end)
    return DONE
