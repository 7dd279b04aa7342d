"""Hidden Markov chains, many sequences at once: forward and backward passes, Viterbi paths, samples.

Everything here is arrays: `Chain` holds the initial and transition probabilities, `Rows` the likelihood of
each state in each row. Sums are scaled, so that no length underflows. Where transitions are zero, a state
that is improbable now may be the only one left later: sequences that leave the range of doubles there are
run again in logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from pgm.runtime.aligned import aligned, aligned_copy
from pgm.runtime.clock import Clock
from pgm.runtime.loops import Loops
from pgm.runtime.running import Impossible, Narrow, run

LOOPS = Loops("pgm.inference.engines.chain.compiled", "passing messages along sequences")
_LEAST = 2.0**-300  # with transitions this large or larger, sums lose no states
_LEAST_WITH_ZEROS = 2.0**-200  # the same, where some transitions are zero
_RANGE = math.log(2.0**64)  # rows whose largest likelihood is further from 1 are divided by it
_SPARSE = 0.4  # share of positive transitions up to which loops visit only these
_WORK_SPACE = 40  # distributions that a loop works on: ten for each sequence that goes side by side
_AT_ONCE = 16384  # rows whose forward messages are kept for the backward pass
_AT_A_TIME = 0.25  # cost of a transition in a full matrix, several at a time, relative to a single one
_LN2 = math.log(2.0)
_NO_FLOATS, _NO_INTS = np.empty(0), np.empty(0, np.int64)

_Found = TypeVar("_Found")


class ImpossibleStep(Exception):
    """No state is possible at this row."""

    def __init__(self, row: int) -> None:
        """Take the row."""
        super().__init__(row)
        self.row = row


@dataclass(frozen=True, eq=False)
class Chain:
    """A Markov chain: its initial (k) and transition (k, k) probabilities; rows of `move`: from."""

    start: np.ndarray
    move: np.ndarray

    @property
    def k(self) -> int:
        """How many states there are."""
        return int(self.start.size)

    @cached_property
    def flat(self) -> np.ndarray:
        """The transitions, row after row."""
        return aligned_copy(self.move).reshape(-1)

    def room(self) -> np.ndarray:
        """Work space for loops that go along several sequences at once."""
        return aligned((_WORK_SPACE * self.k,))

    @cached_property
    def turned(self) -> np.ndarray:
        """The transitions, column after column."""
        return aligned_copy(self.move.T).reshape(-1)

    @cached_property
    def arcs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positive transitions: where those of each state begin, where they lead, and their probabilities.

        Empty if most transitions are positive.
        """
        if self.k < 4 or (self.move > 0.0).sum() > _SPARSE * self.k**2:
            return _NO_INTS, _NO_INTS, _NO_FLOATS
        return _arcs(self.move)

    @cached_property
    def arcs_into(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same by target: where the arcs into each state begin, their sources and probabilities."""
        return _arcs(self.move.T)

    @cached_property
    def is_four(self) -> bool:
        """Whether there are four states, most transitions positive: such chains have loops of their own."""
        return self.k == 4 and not self.arcs[0].size

    @cached_property
    def in_logs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Logarithms of the start, of the transitions row after row, and of the arcs."""
        with np.errstate(divide="ignore"):
            return np.log(self.start), np.log(self.flat), np.log(self.arcs[2])

    @cached_property
    def is_safe(self) -> bool:
        """Whether all transitions are so probable that states lost to underflow could not have mattered."""
        return bool(self.move.min() >= _LEAST)

    @cached_property
    def is_narrow(self) -> bool:
        """Whether some transitions are so small compared with others that sums may lose states."""
        small = np.concatenate([self.start, self.flat])
        return not self.is_safe and bool(small[small > 0.0].min(initial=1.0) < _LEAST_WITH_ZEROS)


def _arcs(move: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    there = move > 0.0
    at = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
    return at, np.nonzero(there)[1].astype(np.int64), move[there]


_Places = np.ndarray | None  # the indices of the rows of some sequences among all rows; None: all rows


@dataclass(frozen=True, eq=False)
class Rows:
    """The log likelihoods of all states, for all rows of all sequences.

    `logs` has a row for each distinct observation, and `code` says which one each row has; without codes each
    row has its own.
    """

    logs: np.ndarray  # (distinct, k)
    code: np.ndarray  # int32; empty: each row has its own
    starts: np.ndarray  # int64: where sequences begin, and where the last one ends

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.starts[-1])

    @cached_property
    def shifts(self) -> np.ndarray | None:
        """The log of the factor that each distinct row is divided by; None if no row is.

        It depends on the row alone, so that a stream gives the same bits as a batch.
        """
        most = np.empty(len(self.logs))
        LOOPS.largest(np.ascontiguousarray(self.logs).reshape(-1), self.logs.shape[1], most)
        most[(most == -np.inf) | (np.abs(most) <= _RANGE)] = 0.0
        return most if most.any() else None

    @cached_property
    def like(self) -> np.ndarray:
        """The likelihoods, row after row."""
        shifts = self.shifts
        found = aligned(self.logs.shape)
        np.exp(self.logs if shifts is None else self.logs - shifts[:, None], out=found)
        return found.reshape(-1)

    @cached_property
    def is_narrow(self) -> bool:
        """Whether some states are so much less likely than others that sums may lose them."""
        like = self.like
        small = like < _LEAST_WITH_ZEROS
        return bool(small.any() and (self.logs.reshape(-1)[small] > -np.inf).any())

    @property
    def narrow_sequences(self) -> np.ndarray:
        """For which sequences this holds, as flags."""
        if not self.is_narrow:
            return np.full(self.starts.size - 1, False)
        if self.code.size:  # all possible observations count, so that it is the same for all sequences
            return np.full(self.starts.size - 1, True)
        small = (self.like < _LEAST_WITH_ZEROS) & (self.logs.reshape(-1) > -np.inf)
        found: np.ndarray = np.logical_or.reduceat(small.reshape(self.logs.shape).any(1), self.starts[:-1])
        return found

    def some(self, which: np.ndarray) -> tuple[Rows, _Places]:
        """These sequences, and the indices of their rows among all rows; None: all rows."""
        if which.size == self.starts.size - 1:
            return self, None
        first, last = int(which[0]), int(which[-1]) + 1
        if last - first == which.size:
            return self.part(first, last), np.arange(self.starts[first], self.starts[last])
        lengths = np.diff(self.starts)[which]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(starts[-1]) + np.repeat(self.starts[which] - starts[:-1], lengths)
        coded = bool(self.code.size)
        return Rows(self.logs if coded else self.logs[at], self.code[at] if coded else self.code, starts), at

    def shift_of(self) -> np.ndarray | None:
        """The shift of each row."""
        if self.shifts is None or not self.code.size:
            return self.shifts
        return np.asarray(np.take(self.shifts, self.code))

    def part(self, first: int, last: int) -> Rows:
        """The sequences from first to before last."""
        begin, end = int(self.starts[first]), int(self.starts[last])
        starts = self.starts[first : last + 1] - begin
        coded = bool(self.code.size)
        made = Rows(
            self.logs if coded else self.logs[begin:end], self.code[begin:end] if coded else self.code, starts
        )
        k = self.logs.shape[1]
        made.__dict__["like"] = self.like if coded else self.like[begin * k : end * k]
        made.__dict__["shifts"] = self.shifts if coded or self.shifts is None else self.shifts[begin:end]
        return made


@dataclass(frozen=True, eq=False)
class Expected:
    """Expected counts for EM: starts in each state, transitions, and states of each distinct row."""

    first: np.ndarray  # (k,)
    pairs: np.ndarray  # (k, k)
    seen: np.ndarray  # (distinct rows, k)
    logs: np.ndarray  # log P of each sequence


# --- sums ---------------------------------------------------------------------------------------------------


def log_likelihoods(chain: Chain, rows: Rows, clock: Clock) -> np.ndarray:
    """Log P of each sequence."""

    def fast(rows: Rows, at: _Places) -> tuple[np.ndarray, ...]:
        count = rows.starts.size - 1
        logs, powers = np.empty(count), np.empty(count, np.int64)
        args: tuple[Any, ...]
        if chain.k == 4:
            name, args = "score_of_four", (chain.start, chain.flat)
        elif chain.arcs[0].size:
            name, args = "score_along", (chain.start, *chain.arcs, *chain.arcs_into, chain.room())
        else:
            name, args = "score", (chain.start, chain.flat, chain.turned, chain.room())
        safe = () if name == "score_along" else (int(chain.is_safe),)
        seen = (rows.like, rows.code, rows.starts, *safe)
        _run(name, *args, *seen, logs, powers, chain=chain, rows=rows, clock=clock)
        logs += powers * _LN2
        shift = rows.shift_of()
        return (logs if shift is None else logs + np.add.reduceat(shift, rows.starts[:-1]),)

    def slow(rows: Rows, at: _Places) -> tuple[np.ndarray, ...]:
        return (np.add.reduceat(filtered(chain, rows, clock)[1], rows.starts[:-1]),)

    return _by_sequence(fast, slow, chain, rows, "s")[0]


def filtered(chain: Chain, rows: Rows, clock: Clock) -> tuple[np.ndarray, np.ndarray]:
    """P(state | rows up to this one), (rows, k); and log P(row | rows before)."""

    def fast(rows: Rows, at: _Places) -> tuple[np.ndarray, ...]:
        alpha, share = _forward(chain, rows, clock)
        shift = rows.shift_of()
        log = np.log(share)
        return alpha, log if shift is None else log + shift

    def slow(rows: Rows, at: _Places) -> tuple[np.ndarray, ...]:
        alpha, share = _forward_in_logs(chain, rows, clock)
        return np.exp(alpha), share

    alpha, share = _by_sequence(fast, slow, chain, rows, "rr")
    return alpha, share


@dataclass(frozen=True, eq=False)
class Carried:
    """The state of a filter after some rows of a sequence: what the rows to come need."""

    shares: np.ndarray  # probabilities of the states, unnormalised, and their sum; or logarithms alone
    in_logs: bool = False


def filtered_on(
    chain: Chain, rows: Rows, before: Carried | None, clock: Clock
) -> tuple[np.ndarray, np.ndarray, Carried]:
    """`filtered` for the next rows of one sequence, with the same bits as for all rows at once.

    Where sums in doubles would lose states, it continues in logarithms to the end of the sequence.
    """
    if before is None or not before.in_logs:
        if chain.is_safe or not (chain.is_narrow or rows.is_narrow):
            carried = np.zeros(chain.k + 1) if before is None else before.shares.copy()
            try:
                alpha, share = _forward(chain, rows, clock, carried)
            except Narrow:
                pass
            else:
                log, shift = np.log(share), rows.shift_of()
                return alpha, log if shift is None else log + shift, Carried(carried)
        if before is not None:
            with np.errstate(divide="ignore"):
                before = Carried(np.log(before.shares[:-1] / before.shares[-1]), True)
    found, logs = _forward_in_logs(chain, rows, clock, _NO_FLOATS if before is None else before.shares)
    return np.exp(found), logs, Carried(found[-1].copy(), True)


def smoothed(chain: Chain, rows: Rows, clock: Clock, lag: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """P(state | all rows, or those up to `lag` steps later), (rows, k); and log P(row | rows before)."""
    k = chain.k

    def fast(rows: Rows, at: _Places) -> tuple[np.ndarray, ...]:
        alpha, share = _forward(chain, rows, clock)
        if lag is None:
            nothing = (np.zeros(k), _NO_FLOATS, _NO_FLOATS)
            _backward(chain, rows, np.ones(rows.starts.size - 1), alpha, share, *nothing, clock=clock)
        else:
            gamma = np.empty_like(alpha)
            shared = (chain.turned, *chain.arcs, rows.like, rows.code, rows.starts)
            args = (*shared, lag, k, alpha.reshape(-1), share, gamma.reshape(-1))
            _run("lagged", *args, chain=chain, rows=rows, clock=clock, more=lag)
            alpha = gamma
        shift = rows.shift_of()
        log = np.log(share)
        return alpha, log if shift is None else log + shift

    def slow(rows: Rows, at: _Places) -> tuple[np.ndarray, ...]:
        alpha, share = _forward_in_logs(chain, rows, clock)
        if lag is None:
            return _normal(alpha + _backward_in_logs(chain, rows, clock)), share
        gamma = np.empty_like(alpha)
        for begin, end in zip(rows.starts[:-1].tolist(), rows.starts[1:].tolist(), strict=True):
            for t in range(begin, end):
                stop = min(t + lag + 1, end)
                starts = np.array([0, stop - t])
                window = Rows(
                    rows.logs[rows.code[t:stop]] if rows.code.size else rows.logs[t:stop], _NO_CODES, starts
                )
                beta = _backward_in_logs(chain, window, clock)
                gamma[t] = _normal((alpha[t] + beta[0])[None])[0]
        return gamma, share

    gamma, share = _by_sequence(fast, slow, chain, rows, "rr")
    return gamma, share


def expected(chain: Chain, rows: Rows, weight: np.ndarray, clock: Clock) -> Expected:
    """Expected counts, each sequence with its weight: the E-step of Baum-Welch."""
    k, coded = chain.k, bool(rows.code.size)

    def fast() -> Expected:
        at, to, arc = chain.arcs
        first, pairs = np.zeros(k), np.zeros(arc.size or k * k)
        seen = np.zeros(rows.logs.shape) if coded else aligned((rows.n_rows, k))
        logs = np.empty(rows.starts.size - 1)
        for begin, end in _groups(rows.starts):
            part = rows.part(begin, end)
            own = None if coded else seen[int(rows.starts[begin]) : int(rows.starts[end])]
            alpha, share = _forward(chain, part, clock, alpha=own)
            log, shift = np.log(share), part.shift_of()
            logs[begin:end] = np.add.reduceat(log if shift is None else log + shift, part.starts[:-1])
            kept = seen.reshape(-1) if coded else _NO_FLOATS
            _backward(chain, part, weight[begin:end], alpha, share, first, pairs, kept, clock=clock)
        if not coded and (weight != 1.0).any():
            seen *= np.repeat(weight, np.diff(rows.starts))[:, None]
        if arc.size:
            full = np.zeros((k, k))
            full[np.repeat(np.arange(k), np.diff(at)), to] = pairs * arc
        else:
            full = pairs.reshape(k, k) * chain.move
        return Expected(first, full, seen, logs)

    def slow() -> Expected:
        alpha, share = _forward_in_logs(chain, rows, clock)
        beta = _backward_in_logs(chain, rows, clock)
        gamma = _normal(alpha + beta)
        heavy: np.ndarray = np.repeat(weight, np.diff(rows.starts))[:, None]
        like = rows.logs[rows.code] if coded else rows.logs
        onward = np.delete(np.arange(rows.n_rows), rows.starts[1:] - 1)
        pairs = np.zeros((k, k))
        log_move = chain.in_logs[1].reshape(k, k)
        for chunk in np.array_split(onward, len(onward) // 4096 + 1):
            w = (like + beta)[chunk + 1]
            joint = alpha[chunk, :, None] + log_move + w[:, None, :]
            pairs += (heavy[chunk] * _normal(joint.reshape(len(chunk), k * k))).sum(axis=0).reshape(k, k)
        seen = heavy * gamma
        first = seen[rows.starts[:-1]].sum(axis=0)
        if coded:
            by_code = np.zeros(rows.logs.shape)
            np.add.at(by_code, rows.code, seen)
            seen = by_code
        return Expected(first, pairs, seen, np.add.reduceat(share, rows.starts[:-1]))

    return _either(fast, slow, chain, rows)


def pairs_of(chain: Chain, rows: Rows, gamma: np.ndarray, clock: Clock) -> np.ndarray:
    """P(state, next state | all rows) from the smoothed marginals `gamma`, (rows - sequences, k, k).

    Given the next state, this one is independent of later observations (Rauch, Tung & Striebel 1965).
    """

    def fast(rows: Rows, at: _Places) -> tuple[np.ndarray, ...]:
        onward = _onward(rows)
        alpha = _forward(chain, rows, clock)[0][onward]
        ahead = alpha[:, :1] * chain.move[0]
        for i in range(1, chain.k):  # the last bits of a matrix product depend on the count of rows
            ahead += alpha[:, i : i + 1] * chain.move[i]
        ratio = np.divide(_rows_at(gamma, at)[onward + 1], ahead, out=np.zeros_like(ahead), where=ahead > 0.0)
        return (alpha[:, :, None] * chain.move * ratio[:, None, :],)

    def slow(rows: Rows, at: _Places) -> tuple[np.ndarray, ...]:
        onward = _onward(rows)
        alpha = _forward_in_logs(chain, rows, clock)[0][onward]
        joint = alpha[:, :, None] + chain.in_logs[1].reshape(chain.k, chain.k)
        most = joint.max(axis=1, keepdims=True)
        joint -= np.where(most == -np.inf, 0.0, most)
        np.exp(joint, out=joint)
        sums = joint.sum(axis=1)
        ratio = np.divide(_rows_at(gamma, at)[onward + 1], sums, out=np.zeros_like(sums), where=sums > 0.0)
        joint *= ratio[:, None, :]
        return (joint,)

    return _by_sequence(fast, slow, chain, rows, "p")[0]


def _rows_at(table: np.ndarray, at: _Places) -> np.ndarray:
    return table if at is None else table[at]


def _onward(rows: Rows) -> np.ndarray:
    """All rows but the last one of each sequence."""
    return np.delete(np.arange(rows.n_rows), rows.starts[1:] - 1)


def log_joints(chain: Chain, rows: Rows, path: np.ndarray) -> np.ndarray:
    """Log P(path, rows) of each sequence."""
    start, move, _ = chain.in_logs
    seen = np.arange(rows.n_rows) if not rows.code.size else rows.code
    terms = rows.logs[seen, path]
    first = rows.starts[:-1]
    onward = np.delete(np.arange(rows.n_rows), first)
    terms[first] += start[path[first]]
    terms[onward] += move[path[onward - 1].astype(np.int64) * chain.k + path[onward]]
    return np.add.reduceat(terms, first)


# --- paths --------------------------------------------------------------------------------------------------


def best_paths(chain: Chain, rows: Rows, clock: Clock) -> tuple[np.ndarray, np.ndarray]:
    """The most probable path, a state for each row, and log P(path, rows) of each sequence."""
    start, move, arc = chain.in_logs
    k, longest = chain.k, int(np.diff(rows.starts).max())
    path, value = np.empty(rows.n_rows, np.int32), np.empty(rows.starts.size - 1)
    logs = np.ascontiguousarray(rows.logs).reshape(-1)
    shared = (logs, rows.code, rows.starts)
    if chain.is_four:
        args: tuple[Any, ...] = (start, move, *shared, np.empty(longest, np.uint8), path, value)
        _run_to_row("best_paths_of_four", *args, chain=chain, rows=rows, clock=clock)
    else:
        turned = np.ascontiguousarray(move.reshape(k, k).T).reshape(-1)
        at, to, _ = chain.arcs
        args = (start, move, turned, at, to, arc, *shared, np.empty(longest * k), path, value)
        _run_to_row("best_paths", *args, chain=chain, rows=rows, clock=clock)
    return path, value


def ranked_paths(chain: Chain, rows: Rows, many: int, clock: Clock) -> tuple[np.ndarray, np.ndarray]:
    """The `many` best paths of one sequence, (found, steps), best first, and log P(path, rows) of each.

    There are fewer where fewer paths are possible.
    """
    start, move, _ = chain.in_logs
    values, paths = np.empty(many), np.empty(many * rows.n_rows, np.int32)
    logs = np.ascontiguousarray(rows.logs).reshape(-1)
    count = np.zeros(1, np.int64)
    args = (start, move, logs, rows.code, many, values, paths, count)
    _run("ranked_paths", *args, chain=chain, rows=rows, clock=clock, more=many)
    found = int(count[0])
    return paths.reshape(many, -1)[:found], values[:found]


def draw(chain: Chain, starts: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """States of new sequences, one after the other."""
    path = np.empty(int(starts[-1]), np.int32)
    sums = sums_so_far(chain.move).reshape(-1)
    LOOPS.walk(sums_so_far(chain.start), sums, random.random(path.size), starts, path)
    return path


def draw_far(tables: Sequence[np.ndarray], starts: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """States of new sequences in which each state depends on several before it.

    Args:
        tables: of the first state, of the second given the first, ..., and of all later ones.
        starts: where sequences begin, and where the last one ends.
        random: the generator of random values.
    """
    *first, move = (sums_so_far(table).reshape(-1) for table in tables)
    at = np.cumsum([0, *(table.size for table in first[:-1])])
    path = np.empty(int(starts[-1]), np.int32)
    k = tables[0].size
    LOOPS.walk_far(np.concatenate(first), at, move, k, random.random(path.size), starts, path)
    return path


def draw_given(
    chain: Chain, rows: Rows, many: int, random: np.random.Generator, clock: Clock
) -> list[np.ndarray]:
    """States of all sequences drawn from their posterior, `many` times."""

    def fast() -> list[np.ndarray]:
        alpha = _forward(chain, rows, clock)[0].reshape(-1)
        return [walked(LOOPS.walk_back, chain.flat, alpha) for _ in range(many)]

    def slow() -> list[np.ndarray]:
        alpha = _forward_in_logs(chain, rows, clock)[0].reshape(-1)
        return [walked(LOOPS.walk_back_in_logs, chain.in_logs[1], alpha) for _ in range(many)]

    def walked(loop: Any, move: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        clock.check("drawing paths")
        path = np.empty(rows.n_rows, np.int32)
        loop(move, chain.k, alpha, random.random(path.size), rows.starts, path)
        return path

    return _either(fast, slow, chain, rows)


def sums_so_far(p: np.ndarray) -> np.ndarray:
    """Cumulative sums, infinite from the last possible state on: no draw falls beyond it."""
    sums = np.cumsum(p, axis=-1)
    later = np.flip(np.cumsum(np.flip(p, -1), axis=-1), -1) - p
    sums[later <= 0.0] = np.inf
    return np.ascontiguousarray(sums)


# --- running ------------------------------------------------------------------------------------------------

_NO_CODES = np.empty(0, np.int32)


def _either(fast: Callable[[], _Found], slow: Callable[[], _Found], chain: Chain, rows: Rows) -> _Found:
    """Run in doubles where no state is lost, else in logarithms."""
    if chain.is_safe or not (chain.is_narrow or rows.is_narrow):
        try:
            return fast()
        except Narrow:
            pass
    return slow()


_Answer = Callable[[Rows, _Places], tuple[np.ndarray, ...]]


def _by_sequence(
    fast: _Answer,
    slow: _Answer,
    chain: Chain,
    rows: Rows,
    kinds: str,
) -> tuple[np.ndarray, ...]:
    """Run each sequence in doubles where it loses no state, else in logarithms: the same bits as alone.

    Args:
        fast: answers for some sequences, given their rows and where these are among all; in doubles.
        slow: the same in logarithms.
        chain: the chain.
        rows: all sequences.
        kinds: the rows of each answer: "r" one for each row, "s" for each sequence, "p" for each row but the
            last of each sequence.
    """
    many = rows.starts.size - 1
    made: list[np.ndarray] = []
    impossible: list[int] = []  # rows at which no state is left

    def answer(which: np.ndarray, how: _Answer) -> None:
        some, at = rows.some(which)
        try:
            found = how(some, at)
        except ImpossibleStep as error:
            impossible.append(error.row if at is None else int(at[error.row]))
            return
        for i, (kind, part) in enumerate(zip(kinds, found, strict=True)):
            size = {"r": rows.n_rows, "s": many, "p": rows.n_rows - many}[kind]
            if at is None:
                made.append(part)
                continue
            if len(made) <= i:
                made.append(np.empty((size, *part.shape[1:]), part.dtype))
            if kind == "p":  # each earlier sequence has one row less
                at = at[_onward(some)] - np.repeat(which, np.diff(some.starts) - 1)
            made[i][which if kind == "s" else at] = part

    def in_doubles(which: np.ndarray) -> None:
        if impossible:  # then the answer is an error
            return
        try:
            answer(which, fast)
        except Narrow:
            if which.size == 1:
                answer(which, slow)
            else:
                for half in np.array_split(which, 2):
                    in_doubles(half)

    logs = np.full(many, False) if chain.is_safe else rows.narrow_sequences | chain.is_narrow
    if not logs.all():
        in_doubles(np.flatnonzero(~logs))
    if logs.any():
        answer(np.flatnonzero(logs), slow)
    if impossible:
        raise ImpossibleStep(min(impossible))
    return tuple(made)


def _groups(starts: np.ndarray) -> list[tuple[int, int]]:
    """Groups of successive sequences with about _AT_ONCE rows each."""
    found, begin, count = [], 0, starts.size - 1
    while begin < count:
        end = int(np.searchsorted(starts, starts[begin] + _AT_ONCE, side="right")) - 1
        end = max(end, begin + 1)
        found.append((begin, end))
        begin = end
    return found


def _forward(
    chain: Chain,
    rows: Rows,
    clock: Clock,
    carried: np.ndarray | None = None,
    alpha: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    alpha = aligned((rows.n_rows, chain.k)) if alpha is None else alpha
    share = np.empty(rows.n_rows)
    carried = np.zeros(chain.k + 1) if carried is None else carried
    seen, kept = (rows.like, rows.code, rows.starts), (carried, alpha.reshape(-1), share)
    args: tuple[Any, ...]
    if chain.is_four:
        name, args = "forward_of_four", (chain.start, chain.flat, *seen, int(chain.is_safe), *kept)
    elif chain.arcs[0].size:
        name = "forward_along"
        args = (chain.start, *chain.arcs, *chain.arcs_into, *seen, *kept, chain.room())
    else:
        name = "forward"
        args = (chain.start, chain.flat, *seen, int(chain.is_safe), *kept, chain.room())
    _run_to_row(name, *args, chain=chain, rows=rows, clock=clock)
    return alpha, share


def _backward(
    chain: Chain,
    rows: Rows,
    weight: np.ndarray,
    alpha: np.ndarray,
    share: np.ndarray,
    *sums: np.ndarray,
    clock: Clock,
) -> None:
    shared = (rows.like, rows.code, rows.starts, weight, alpha.reshape(-1), share)
    args: tuple[Any, ...]
    if chain.is_four:
        name, args = "backward_of_four", (chain.flat, *shared, *sums)
    elif chain.arcs[0].size:
        name, args = "backward_along", (*chain.arcs, *shared, chain.room(), *sums)
    else:
        name, args = "backward", (chain.turned, *shared, chain.room(), *sums)
    _run(name, *args, chain=chain, rows=rows, clock=clock)


def _forward_in_logs(
    chain: Chain, rows: Rows, clock: Clock, carried: np.ndarray = _NO_FLOATS
) -> tuple[np.ndarray, np.ndarray]:
    alpha, share = np.empty((rows.n_rows, chain.k)), np.empty(rows.n_rows)
    start, move, _ = chain.in_logs
    logs = np.ascontiguousarray(rows.logs).reshape(-1)
    args = (start, move, logs, rows.code, rows.starts, carried, alpha.reshape(-1), share)
    _run_to_row("forward_in_logs", *args, chain=chain, rows=rows, clock=clock)
    return alpha, share


def _normal(logs: np.ndarray) -> np.ndarray:
    """Normalised probabilities from unnormalised logarithms, row by row."""
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _backward_in_logs(chain: Chain, rows: Rows, clock: Clock) -> np.ndarray:
    beta = np.empty((rows.n_rows, chain.k))
    logs = np.ascontiguousarray(rows.logs).reshape(-1)
    args = (chain.in_logs[1], logs, rows.code, rows.starts, chain.k, beta.reshape(-1))
    _run("backward_in_logs", *args, chain=chain, rows=rows, clock=clock)
    return beta


def _run_to_row(name: str, *args: Any, chain: Chain, rows: Rows, clock: Clock) -> None:
    """Run a loop that reports the row at which no state was left."""
    where = np.zeros(1, np.int64)
    try:
        _run(name, *args, where, chain=chain, rows=rows, clock=clock)
    except Impossible:
        raise ImpossibleStep(int(where[0])) from None


def _run(name: str, *args: Any, chain: Chain, rows: Rows, clock: Clock, more: int = 1) -> None:
    arcs = chain.arcs[1].size or _AT_A_TIME * chain.k**2
    run(name, *args, steps=float(rows.n_rows) * arcs * max(more, 1), clock=clock, module=LOOPS)
