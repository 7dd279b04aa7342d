"""The rest of a problem as a linear programme, for HiGHS (Huangfu & Hall 2018).

There is a column for each open state and for each row of each factor; rows that contain a state sum to its
column. The duals of this programme are costs to move. Moved as integers, they give an exact bound however
HiGHS rounds. If columns of states must be 0 or 1, HiGHS also branches and cuts: that bound is in floating
point, so it is lowered by the largest effect of the tolerances and never called exact.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pgm.inference.engines.branching.branching_arrays import FORBIDDEN, BranchingProblem, BranchingState
from pgm.runtime.clock import Clock
from pgm.runtime.running import unstoppable

_MOST_COLUMNS = 50_000
_MOST_ROWS = 1_000_000  # examined, closed ones included
_ROW_BYTES, _COLUMN_BYTES = 100.0, 4000.0  # at the peak: HiGHS takes about 20 times its matrix
_LARGEST = 1e3  # of the costs passed to HiGHS
_TOLERANCE = 1e-6  # of each of its columns, which lie between 0 and 1: its own are no larger
_BEST, _TRAIL = 3, 0  # places in `n`, as in compiled.py


class Residual(NamedTuple):
    """What is still open: costs above the floor, and which columns add up to which."""

    states: np.ndarray  # int64 the open states
    factor: np.ndarray  # int64[R] of each remaining row
    rest: np.ndarray  # int64[R] its cost apart from what the factor has given away
    row: np.ndarray  # int64[P] for each row and axis
    message: np.ndarray  # int64[P] the place of its state there among the messages
    messages: np.ndarray  # int64 those of open states
    state_of: np.ndarray  # int64 the state of each message
    scale: float  # from integer costs to those passed to HiGHS
    most: int  # anything that costs more is no better than the best known states


class Whole(NamedTuple):
    """What HiGHS found with integer columns."""

    states: np.ndarray | None  # of each variable
    least: int | None  # a lower bound on the cost of any states, or the cost of the best known; rounded
    ended: bool  # whether HiGHS claims that these are the best


def residual(p: BranchingProblem, s: BranchingState, room: float) -> Residual | None:
    """The open part of a problem at its root; None if HiGHS would take too long or too many bytes."""
    n_open, most = int(s.w[p.open_at : p.left_at].sum()), min(_MOST_COLUMNS, room / _COLUMN_BYTES)
    if int(p.rows.sum()) > min(_MOST_ROWS, room / _ROW_BYTES) or n_open > most:
        return None
    factor = np.repeat(np.arange(p.rows.size), p.rows)
    within = np.arange(factor.size) - np.repeat(np.cumsum(p.rows) - p.rows, p.rows)
    rest = p.values[p.table[factor] + within]
    is_left = rest < FORBIDDEN
    rows, messages = [], []
    for d in range(int(np.diff(p.scope_at).max(initial=0))):
        row = np.flatnonzero(p.scope_at[factor] + d < p.scope_at[factor + 1])
        axis = p.scope_at[factor[row]] + d
        v = p.scopes[axis]
        x = within[row] // p.stride[axis] % p.cards[v]
        message = p.message_at[axis] + x
        rest[row] -= s.w[p.given_at + message]
        is_left[row] &= s.w[p.open_at + p.state_at[v] + x] != 0
        rows.append(row)
        messages.append(message)
    if n_open + int(is_left.sum()) > most or not rows:
        return None
    row, message = np.concatenate(rows), np.concatenate(messages)
    index = np.cumsum(is_left) - 1
    kept = is_left[row]
    v = np.repeat(p.scopes, p.cards[p.scopes])
    state_of = p.state_at[v] + np.arange(v.size) - np.repeat(p.message_at[:-1], p.cards[p.scopes])
    left = rest[is_left]
    largest = max(int(left.max(initial=0)), int(s.w[: p.given_at].max(initial=0)))
    most = max(1, min(largest, int(s.n[_BEST] - s.w[p.floor_at])))
    return Residual(
        np.flatnonzero(s.w[p.open_at : p.left_at]),
        factor[is_left],
        left,
        index[row[kept]],
        message[kept],
        np.flatnonzero(s.w[p.open_at + state_of]),
        state_of,
        _LARGEST / most,
        most,
    )


def _programme(p: BranchingProblem, s: BranchingState, r: Residual) -> tuple[np.ndarray, Any, np.ndarray]:
    """Costs, the matrix of equations and their right-hand sides: variables first, then messages."""
    from scipy.sparse import csc_array

    n_variables, n_states = p.cards.size, r.states.size
    column = np.full(p.given_at, -1)
    column[r.states] = np.arange(n_states)
    equation = np.full(r.state_of.size, -1)
    equation[r.messages] = n_variables + np.arange(r.messages.size)
    equations = np.concatenate([p.owner_of_state[r.states], equation[r.messages], equation[r.message]])
    columns = np.concatenate([column[r.states], column[r.state_of[r.messages]], n_states + r.row])
    signs = np.ones(equations.size)
    signs[n_states : n_states + r.messages.size] = -1.0
    size = (n_variables + r.messages.size, n_states + r.rest.size)
    right = np.zeros(size[0])
    right[:n_variables] = 1.0
    # Costs beyond the best known can be capped there: the scale for HiGHS is then finer.
    costs = np.minimum(np.concatenate([s.w[r.states], r.rest]), r.most) * r.scale
    return costs, csc_array((signs, (equations, columns)), shape=size), right


def relax(
    p: BranchingProblem, s: BranchingState, r: Residual, clock: Clock, seconds: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """The increase of each message, as an integer, and good states; None if HiGHS is too slow."""
    from scipy.optimize import linprog

    costs, matrix, right = _programme(p, s, r)

    def solve() -> Any:
        options: Any = {"time_limit": max(seconds, 0.01)}
        return linprog(costs, A_eq=matrix, b_eq=right, method="highs-ipm", options=options)

    found = unstoppable(solve, clock, "branch and bound")
    if found.status != 0:
        return None
    moved = np.zeros(r.state_of.size, np.int64)
    wanted = found.eqlin.marginals[p.cards.size :] / r.scale
    if not np.abs(wanted).sum() < FORBIDDEN / 2:  # so that sums of them do not overflow
        return None
    moved[r.messages] = np.rint(wanted)
    return moved, _largest(p, r, found.x)


def move(p: BranchingProblem, s: BranchingState, r: Residual, moved: np.ndarray) -> bool:
    """Move costs this way, for good, if that raises the floor; all remaining costs stay non-negative."""
    w = s.w
    rest = r.rest.copy()
    np.subtract.at(rest, r.row, moved[r.message])
    least = np.full(p.rows.size, FORBIDDEN)
    np.minimum.at(least, r.factor, rest)
    least[least == FORBIDDEN] = 0  # no rows left: nothing is possible here, as the next pass will find
    first = p.scope_at[:-1]
    # The factor's first variable pays its shortfall and receives its surplus.
    sizes = p.cards[p.scopes[first]]
    places = np.repeat(p.message_at[first] - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
    moved = moved.copy()
    moved[places] += np.repeat(least, sizes)
    own = w[: p.given_at].copy()
    np.add.at(own, r.state_of, moved)
    lowest = np.full(p.cards.size, FORBIDDEN)
    np.minimum.at(lowest, p.owner_of_state[r.states], own[r.states])
    gain = int(lowest.sum())
    if gain <= 0:
        return False
    w[: p.given_at] = own - lowest[p.owner_of_state]
    w[p.given_at : p.given_at + moved.size] += moved
    w[p.floor_at] += gain
    return True


def whole(p: BranchingProblem, s: BranchingState, r: Residual, clock: Clock, seconds: float) -> Whole:
    """Good states, and a lower bound on the cost of any, by branch and cut in floating point."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    costs, matrix, right = _programme(p, s, r)
    is_whole = np.zeros(costs.size, np.int64)
    is_whole[: r.states.size] = 1

    def solve() -> Any:
        return milp(
            costs,
            integrality=is_whole,
            bounds=Bounds(0.0, 1.0),
            constraints=LinearConstraint(matrix, right, right),
            options={"time_limit": max(seconds, 0.01), "mip_rel_gap": 0.0},
        )

    found = unstoppable(solve, clock, "branch and bound")
    states, least = None if found.x is None else _largest(p, r, found.x), None
    bound = found.mip_dual_bound
    if bound is not None and math.isfinite(bound):
        least = int(s.w[p.floor_at]) + math.floor((bound - _TOLERANCE * costs.size) / r.scale)
    return Whole(states, least, found.status == 0)


def _largest(p: BranchingProblem, r: Residual, columns: np.ndarray) -> np.ndarray:
    """The state of each variable with the largest share."""
    shares = np.full(p.given_at, -1.0)
    shares[r.states] = columns[: r.states.size]
    most = np.maximum.reduceat(shares, p.state_at[:-1])
    chosen = np.flatnonzero(shares == most[p.owner_of_state])
    owners, first = np.unique(p.owner_of_state[chosen], return_index=True)
    return np.asarray(chosen[first] - p.state_at[owners])


def cost_of(p: BranchingProblem, states: np.ndarray) -> int:
    """The cost of these states; `FORBIDDEN` or more if they are impossible."""
    rows = p.table + np.add.reduceat(states[p.scopes] * p.stride, p.scope_at[:-1])
    values = p.values[rows]
    if (values >= FORBIDDEN).any():
        return FORBIDDEN
    return int(values.sum()) + int(p.own[p.state_at[:-1] + states].sum())


def to_root(s: BranchingState) -> None:
    """Undo all decisions: restore the first saved value of each entry."""
    n = int(s.n[_TRAIL])
    places, first = np.unique(s.trail_at[:n], return_index=True)
    s.w[places] = s.trail_old[first]
    s.n[_TRAIL] = 0
