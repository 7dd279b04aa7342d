"""Walks over arrows: what is reached and how, separators next to a set, the cheapest separator. The loops."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pgm.runtime.kinds import Bytes, Floats, Ints

NOT_YET, START = -2, -1  # of `came`: not reached, and where the walk begins


class Graph(NamedTuple):
    """The arrows among vertices 0, 1, ...: parents and children of v, one vertex after the other."""

    parents_at: Ints
    parents: Ints
    children_at: Ints
    children: Ints


def spread(at: Ints, nexts: Ints, marked: Bytes):
    """Mark all that is reached from what is marked, along lists of next vertices."""
    n = at.size - 1
    stack = np.empty(n, np.int64)
    size = 0
    for v in range(n):
        if marked[v]:
            stack[size] = v
            size += 1
    while size > 0:
        size -= 1
        v = stack[size]
        for e in range(at[v], at[v + 1]):
            w = nexts[e]
            if not marked[w]:
                marked[w] = 1
                stack[size] = w
                size += 1


def sorted_vertices(g: Graph, order: Ints):
    """Write the vertices with parents before children; return how many: not all, if there is a cycle."""
    n = g.parents_at.size - 1
    waiting = np.empty(n, np.int64)
    size = 0
    for v in range(n):
        waiting[v] = g.parents_at[v + 1] - g.parents_at[v]
        if waiting[v] == 0:
            order[size] = v
            size += 1
    head = 0
    while head < size:
        v = order[head]
        head += 1
        for e in range(g.children_at[v], g.children_at[v + 1]):
            w = g.children[e]
            waiting[w] -= 1
            if waiting[w] == 0:
                order[size] = w
                size += 1
    return size


def walk(g: Graph, observed: Bytes, opened: Bytes, goal: int, came: Ints, queue: Ints, size: int):
    """Walk breadth first over (vertex, whether it was entered from a parent); return how many were reached.

    State 2 v + 1 is "down to v from a parent", 2 v "up from a child, or the start". The first `size` of the
    queue are the starts; `came` has the state before each one. It stops at the goal, unless that is -1.
    """
    head = 0
    while head < size:
        state = queue[head]
        head += 1
        v = state >> 1
        down = state & 1
        if v == goal:
            return size
        if not observed[v]:
            for e in range(g.children_at[v], g.children_at[v + 1]):
                next_state = 2 * g.children[e] + 1
                if came[next_state] == NOT_YET:
                    came[next_state] = state
                    queue[size] = next_state
                    size += 1
        passes = opened[v] if down else 1 - observed[v]
        if passes:  # up to the parents: through an unobserved chain or fork, or an opened collider
            for e in range(g.parents_at[v], g.parents_at[v + 1]):
                next_state = 2 * g.parents[e]
                if came[next_state] == NOT_YET:
                    came[next_state] = state
                    queue[size] = next_state
                    size += 1
    return size


def not_causal(g: Graph, start: int, observed: Bytes, opened: Bytes, found: Bytes):
    """Mark what active walks from the start reach that turn at least once, or begin against an arrow.

    They never come back to the start. State 3 v is "down to v, all the way from the start", 3 v + 1 "down
    to v from a parent", 3 v + 2 "up from a child".
    """
    seen = np.zeros(3 * observed.size, np.uint8)
    stack = np.empty(3 * observed.size, np.int64)
    size = 0
    for e in range(g.children_at[start], g.children_at[start + 1]):
        seen[3 * g.children[e]] = 1
        stack[size] = 3 * g.children[e]
        size += 1
    for e in range(g.parents_at[start], g.parents_at[start + 1]):
        seen[3 * g.parents[e] + 2] = 1
        stack[size] = 3 * g.parents[e] + 2
        size += 1
    while size > 0:
        size -= 1
        state = stack[size]
        v = state // 3
        way = state - 3 * v
        if way > 0:
            found[v] = 1
        if not observed[v]:
            for e in range(g.children_at[v], g.children_at[v + 1]):
                w = g.children[e]
                after = 3 * w + (0 if way == 0 else 1)
                if w != start and not seen[after]:
                    seen[after] = 1
                    stack[size] = after
                    size += 1
        passes = 1 - observed[v] if way == 2 else opened[v]
        if passes:
            for e in range(g.parents_at[v], g.parents_at[v + 1]):
                after = 3 * g.parents[e] + 2
                if g.parents[e] != start and not seen[after]:
                    seen[after] = 1
                    stack[size] = after
                    size += 1


# --- trails -------------------------------------------------------------------------------------------------


def between(at: Ints, near: Ints, arc: Ints, start: int, goal: int, kept: Bytes):
    """Mark the arcs on paths between two vertices, whatever their directions, that visit no vertex twice.

    If an edge joined the two, they would be those of its biconnected component (Menger): a depth-first search
    from the start enters the goal first, and what remains when it returns is that component. Step e leads to
    `near[e]` along `arc[e]`.
    """
    n = at.size - 1
    depth = np.full(n, -1, np.int64)
    low = np.empty(n, np.int64)
    place = at.copy()
    path = np.empty(n, np.int64)
    through = np.full(n, -1, np.int64)  # the arc by which a vertex was entered
    edges = np.empty(near.size + 1, np.int64)
    begin = np.empty(n, np.int64)  # of the edges below a vertex
    n_edges = 0
    depth[start], depth[goal] = 0, 1
    low[start], low[goal] = 0, 0  # as if joined: this component is closed by the start alone
    path[0] = goal
    begin[goal] = 0
    size = 1
    while size > 0:
        v = path[size - 1]
        if place[v] < at[v + 1]:
            e = place[v]
            place[v] += 1
            w = near[e]
            if arc[e] == through[v]:
                continue
            if depth[w] < 0:
                through[w] = arc[e]
                depth[w] = depth[v] + 1
                low[w] = depth[w]
                begin[w] = n_edges
                edges[n_edges] = arc[e]
                n_edges += 1
                path[size] = w
                size += 1
            elif depth[w] < depth[v]:
                edges[n_edges] = arc[e]
                n_edges += 1
                low[v] = min(low[v], depth[w])
        else:
            size -= 1
            if size > 0:
                u = path[size - 1]
                if low[v] >= depth[u]:
                    n_edges = begin[v]  # a component that hangs at u
                else:
                    low[u] = min(low[u], low[v])
    for i in range(n_edges):
        kept[edges[i]] = 1


def steps(
    at: Ints, near: Ints, back: Ints, down: Bytes, observed: Bytes, opened: Bytes, start: int, found: Bytes
):
    """Mark the steps of walks from the start that are active and never turn back along the arc they came by.

    Step e of vertex v, between at[v] and at[v + 1], leads to `near[e]`, with the arrow if `down[e]`;
    `back[e]` is the same arc the other way.
    """
    stack = np.empty(near.size, np.int64)
    size = 0
    for e in range(at[start], at[start + 1]):
        found[e] = 1
        stack[size] = e
        size += 1
    while size > 0:
        size -= 1
        e = stack[size]
        v = near[e]
        for f in range(at[v], at[v + 1]):
            if found[f] or f == back[e]:
                continue
            collider = down[e] == 1 and down[f] == 0
            passes = opened[v] if collider else 1 - observed[v]
            if passes:
                found[f] = 1
                stack[size] = f
                size += 1


# --- separators ---------------------------------------------------------------------------------------------
# These work in the moral graph of an ancestral set, in which vertices are joined if a family contains both. A
# family serves as a vertex that cannot be removed, so that the moral graph is never built.


def component(g: Graph, alive: Bytes, reached: Bytes, blocked: Bytes, edge: Bytes):
    """Extend `reached` to all that is joined to it, never past a blocked vertex; mark those met in `edge`."""
    n = alive.size
    stack = np.empty(n, np.int64)
    family = np.zeros(n, np.uint8)
    size = 0
    for v in range(n):
        if reached[v]:
            stack[size] = v
            size += 1
    while size > 0:
        size -= 1
        v = stack[size]
        for k in range(-1, g.children_at[v + 1] - g.children_at[v]):
            child = v if k < 0 else g.children[g.children_at[v] + k]
            if not alive[child] or family[child]:
                continue
            family[child] = 1
            for e in range(g.parents_at[child] - 1, g.parents_at[child + 1]):
                w = child if e < g.parents_at[child] else g.parents[e]
                if reached[w]:
                    continue
                if blocked[w]:
                    edge[w] = 1
                else:
                    reached[w] = 1
                    stack[size] = w
                    size += 1


def next_to(g: Graph, alive: Bytes, free: Bytes, inside: Bytes, goals: Bytes, found: Bytes):
    """Write the minimal separator next to a connected set, of free vertices; return whether there is one.

    `inside` grows by the vertices joined to it that are not free. Of those that border on it, the ones that
    also border on what is left of the goals' side separate, and each is needed.
    """
    n = alive.size
    blocked = np.zeros(n, np.uint8)
    border = np.zeros(n, np.uint8)
    for v in range(n):
        blocked[v] = 1 if free[v] == 1 and inside[v] == 0 else 0
    component(g, alive, inside, blocked, border)
    far = np.zeros(n, np.uint8)
    for v in range(n):
        if goals[v]:
            if inside[v]:
                return False
            far[v] = 1
    component(g, alive, far, border, found)
    return True


def flow(at: Ints, heads: Ints, room: Floats, source: int, sink: int, reached: Bytes):
    """The maximum flow (Dinic 1970), which uses up `room`; mark what the source still reaches.

    The arcs of vertex v are at[v]:at[v + 1]; `heads` says where each of the m arcs leads, and in its second
    half which arc is its reverse. Returns infinity as soon as one path has infinite room.
    """
    n = at.size - 1
    m = room.size
    level = np.empty(n, np.int64)
    place = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    path = np.empty(n, np.int64)
    total = 0.0
    level[sink] = 0
    while level[sink] >= 0:
        for v in range(n):
            level[v] = -1
            reached[v] = 0
        level[source] = 0
        reached[source] = 1
        queue[0] = source
        head, size = 0, 1
        while head < size:
            v = queue[head]
            head += 1
            for e in range(at[v], at[v + 1]):
                w = heads[e]
                if room[e] > 0.0 and level[w] < 0:
                    level[w] = level[v] + 1
                    reached[w] = 1
                    queue[size] = w
                    size += 1
        for v in range(n):
            place[v] = at[v]
        depth = 0
        v = source
        while level[sink] >= 0:
            if v == sink:
                least = math.inf
                for i in range(depth):
                    least = min(least, room[path[i]])
                if least == math.inf:
                    return least
                total += least
                cut = depth
                for i in range(depth - 1, -1, -1):
                    e = path[i]
                    if room[e] == least:
                        room[e] = 0.0
                        cut = i
                    else:
                        room[e] -= least
                    room[heads[m + e]] += least
                depth = cut
                v = source if depth == 0 else heads[path[depth - 1]]
                continue
            stepped = False
            while place[v] < at[v + 1]:
                e = place[v]
                if room[e] > 0.0 and level[heads[e]] == level[v] + 1:
                    path[depth] = e
                    depth += 1
                    v = heads[e]
                    stepped = True
                    break
                place[v] += 1
            if not stepped:
                if depth == 0:
                    break
                level[v] = -1  # leads nowhere
                depth -= 1
                v = source if depth == 0 else heads[path[depth - 1]]
                place[v] += 1
    return total
