"""Mean-field variational inference: the loops."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pgm.runtime.kinds import Bytes, Flag, Floats, Ints

if TYPE_CHECKING:
    from pgm.inference.engines.factor_graph import GraphArrays

DONE, STOPPED, IMPOSSIBLE = 0, 1, 3  # as in pgm/inference/trees/sweeps/compiled.py
_LOOK = 1024  # variables between two looks at the stop flag


def _possible(g, f, q, axis, s):
    """Whether no combination of states that q allows beside state s of an axis is zero."""
    begin, t = g.scope_at[f], g.table[f]
    k = g.scope_at[f + 1] - begin
    wanted = 1
    for a in range(k):
        if a != axis:
            v, n = g.scopes[begin + a], 0
            for i in range(g.state_at[v], g.state_at[v + 1]):
                if q[i] > 0.0:
                    n += 1
            wanted *= n
    found = 0
    code = g.code_at[t]
    for _ in range(g.row_at[t], g.row_at[t + 1]):
        if axis < 0 or g.codes[code + axis] == s:
            inside = 1
            for a in range(k):
                if a != axis and q[g.state_at[g.scopes[begin + a]] + g.codes[code + a]] == 0.0:
                    inside = 0
                    break
            found += inside
        code += k
    return found == wanted


def _field(g, f, q, axis, has_zero, out):
    """Add to `out` the mean of the logarithm of a factor for each state of an axis."""
    begin, t = g.scope_at[f], g.table[f]
    k = g.scope_at[f + 1] - begin
    code = g.code_at[t]
    for row in range(g.row_at[t], g.row_at[t + 1]):
        x = g.logs[row]
        for a in range(k):
            if a != axis:
                x *= q[g.state_at[g.scopes[begin + a]] + g.codes[code + a]]
        out[g.codes[code + axis]] += x
        code += k
    if has_zero[t] != 0:
        for s in range(g.cards[g.scopes[begin + axis]]):
            if not _possible(g, f, q, axis, s):
                out[s] = -math.inf


def field(g: GraphArrays, v: int, q: Floats, between: Bytes, has_zero: Bytes, out: Floats):
    """The mean of the logarithm of everything that touches a variable, for each of its states.

    Factors over several variables count only if they are marked as `between` blocks.
    """
    begin = g.state_at[v]
    for s in range(g.cards[v]):
        out[s] = g.local[begin + s]
    for i in range(g.user_at[v], g.user_at[v + 1]):
        a = g.users[i]
        f = g.owner[a]
        if between[f] != 0:
            _field(g, f, q, a - g.scope_at[f], has_zero, out)


def improve(
    g: GraphArrays, variables: Ints, q: Floats, between: Bytes, has_zero: Bytes, out: Floats, stop: Flag
):
    """Give each of these variables in turn the best distribution given those of the others."""
    for place in range(variables.size):
        if place % _LOOK == 0 and stop[0] != 0:
            return STOPPED
        v = variables[place]
        field(g, v, q, between, has_zero, out)
        begin, n = g.state_at[v], g.cards[v]
        top = -math.inf
        for s in range(n):
            if out[s] > top:
                top = out[s]
        if top == -math.inf:
            return IMPOSSIBLE
        total = 0.0
        for s in range(n):
            q[begin + s] = math.exp(out[s] - top)
            total += q[begin + s]
        for s in range(n):
            q[begin + s] /= total
    return DONE


def terms(
    g: GraphArrays,
    q: Floats,
    alone: Bytes,
    between: Bytes,
    has_zero: Bytes,
    of_factor: Floats,
    of_variable: Floats,
    stop: Flag,
):
    """The contributions of factors and variables to the bound: mean logarithms, entropies outside blocks."""
    for v in range(g.cards.size):
        total = 0.0
        for i in range(g.state_at[v], g.state_at[v + 1]):
            if q[i] > 0.0:
                total += q[i] * g.local[i]
                if alone[v] != 0:
                    total -= q[i] * math.log(q[i])
        of_variable[v] = total
    for f in range(g.scope_at.size - 1):
        if f % _LOOK == 0 and stop[0] != 0:
            return STOPPED
        of_factor[f] = 0.0
        if between[f] == 0:
            continue
        begin, t = g.scope_at[f], g.table[f]
        k = g.scope_at[f + 1] - begin
        if has_zero[t] != 0 and not _possible(g, f, q, -1, 0):
            return IMPOSSIBLE
        total = 0.0
        code = g.code_at[t]
        for row in range(g.row_at[t], g.row_at[t + 1]):
            x = g.logs[row]
            for a in range(k):
                x *= q[g.state_at[g.scopes[begin + a]] + g.codes[code + a]]
            total += x
            code += k
        of_factor[f] = total
    return DONE
