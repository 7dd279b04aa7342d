"""Exact answers by search: one variable after another takes each of its states.

After each step states without support are closed, and the rest decomposes into components that are summed
separately. A component's sum is cached under everything that determines it, so no component is summed twice
while memory lasts. For models full of zeros, whose clique trees would have to store large tables of zeros.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pgm.config import current
from pgm.graphs.triangulation import triangulate_in
from pgm.inference.engines.counting import Count, formula_of
from pgm.inference.engines.search.search_arrays import (
    Record,
    SearchProblem,
    SearchState,
    empty_cache,
    empty_memo,
    empty_record,
)
from pgm.inference.program.reduction import Case, WideArray, wide_multiply
from pgm.runtime.clock import RUNNING, Clock
from pgm.runtime.progress import report
from pgm.runtime.room import check_room, too_large
from pgm.runtime.running import REDUCTION, SEARCH, Impossible

Wide = tuple[float, int]
_SLICE = 300_000  # units of work between two checks of the clock: some tens of milliseconds
_BITS = 62
_COUNTERS, _COLUMNS, _SUM = 21, 15, 13  # these and what follows as in compiled.py
_CACHED, _KEYS, _NODES, _WORK, _RECORDING, _STORING = 8, 9, 10, 15, 18, 19
_RUNNING, _MEMO, _PILE, _FRAMES, _CACHE, _RECORD = 4, 5, 6, 7, 8, 9
_RESULT = 40  # bytes per entry of the answer while it is computed
_MOST_FOR_ORDER = 2e7  # entries of all cliques, up to which their tree guides the search


_RECORD_PARTS = {"node": (0, 3, _NODES), "branch": (3, 9, 11), "lit": (9, 12, 12), "child": (12, 14, 13)}


class Search:
    """A search over a reduced question; sums over the same one share the cache."""

    def __init__(self, case: Case, clock: Clock, *, record: bool = False) -> None:
        """Lay out the arrays; `record` keeps the whole search, for `shares`."""
        self._case, self._clock = case, clock
        self._limit = current().memory_limit
        r = case.reduced
        m, n_factors = r.cards.size, r.factors.size
        self._problem = p = self._lay_out()
        states = int(p.state_at[-1])
        axes = int(np.diff(p.axis_at).max(initial=1))
        trail = n_factors + int(p.axis_cards[_ranges(p.axis_at, p.kind)].sum())
        self._state = SearchState(
            domain=np.zeros(p.full.size, np.int64),
            n_open=np.zeros(m, np.int64),
            current=np.zeros(n_factors, np.int64),
            queued=np.zeros(n_factors, np.uint8),
            queue=np.zeros(n_factors + 1, np.int32),
            domain_trail=np.zeros((states + 1, 4), np.int64),
            current_trail=np.zeros((trail + 1, 2), np.int64),
            activity=np.zeros(m),
            label=np.full(m, -1, np.int64),
            factor_label=np.zeros(n_factors, np.int64),
            stamp=np.zeros(n_factors, np.int64),
            reached=np.zeros(m + 1, np.int32),
            between=np.zeros(n_factors + 1, np.int32),
            part=np.zeros(m + 1, np.int64),
            mask=np.zeros(int(p.kind_words.max(initial=1)), np.int64),
            begins=np.zeros(axes + 1, np.int64),
            codes=np.zeros(states + 1, np.int64),
            seen=np.zeros(states + 1, np.uint8),
            position=np.zeros(axes + 1, np.int64),
            offset=np.zeros(n_factors, np.int64),
            last=np.zeros(n_factors, np.int64),
            small_depth=np.zeros(m, np.int64),
            small_at=np.zeros(m + 1, np.int64),
            small_codes=np.zeros(states + 1, np.int64),
            small_ready=np.zeros(m + 1, np.int64),
            small_mantissa=np.zeros(m),
            small_exponent=np.zeros(m, np.int64),
        )
        self._memo = empty_memo(256, 16 * int(p.kind_words.max(initial=1)) + 1024)
        self._cache = empty_cache(64, 4096)
        sizes = (64, 64, states + 64, m + 64) if record else (0, 0, 0, 0)
        self._record = empty_record(*sizes)
        self._n = np.zeros(_COUNTERS, np.int64)
        self._n[_STORING], self._n[_RECORDING] = 1, int(record)
        self._frames = np.zeros((16, _COLUMNS), np.int64)
        self._mantissas = np.zeros((16, 2))
        self._pile = np.zeros(8 * (m + n_factors) + 2 * p.full.size + 256, np.int32)
        self._room(0)

    def _lay_out(self) -> SearchProblem:
        r = self._case.reduced
        mantissas, exponents = self._case.wide_tables()
        exponents = np.where(mantissas > 0, exponents, 0)
        kind, first = SEARCH.kinds(r.cards, r.scope_at, r.scopes, r.table_at, mantissas, exponents)
        words = -(-r.cards // _BITS)
        word_at = np.concatenate([[0], np.cumsum(words)]).astype(np.int64)
        full = np.full(int(word_at[-1]), (1 << _BITS) - 1, np.int64)
        full[word_at[1:] - 1] = (np.int64(1) << (r.cards - _BITS * (words - 1))) - 1
        axes = r.scopes[_ranges(r.scope_at, first)]
        n_axes = np.diff(r.scope_at)[first]
        axis_at = np.concatenate([[0], np.cumsum(n_axes)]).astype(np.int64)
        axis_word = np.cumsum(words[axes]) - words[axes]
        axis_word -= np.repeat(axis_word[axis_at[:-1]], n_axes)
        kind_words = np.add.reduceat(words[axes], axis_at[:-1]) if first.size else np.empty(0, np.int64)
        stride = np.ones(axes.size, np.int64)
        for a in range(int(n_axes.max(initial=0)) - 1, 0, -1):  # the last axis runs fastest
            at = axis_at[:-1][n_axes > a] + a
            stride[at - 1] = stride[at] * r.cards[axes[at]]
        user_at, users, user_axis = SEARCH.users_of(r.cards.size, r.scope_at, r.scopes)
        return SearchProblem(
            cards=r.cards,
            state_at=r.state_at,
            word_at=word_at,
            full=full,
            scope_at=r.scope_at,
            scopes=r.scopes,
            kind=kind,
            axis_at=axis_at,
            axis_cards=r.cards[axes],
            axis_word=axis_word,
            axis_stride=stride,
            kind_words=kind_words,
            kind_table=r.table_at[first],
            mantissas=mantissas,
            exponents=exponents,
            user_at=user_at,
            users=users,
            user_axis=user_axis,
            score=self._scores(),
        )

    def _scores(self) -> np.ndarray:
        """How early each variable should be tried, by its place in a clique tree.

        A narrow tree shows where the model decomposes; the wider the tree, the less it is worth compared with
        what the search learns about the zeros.
        """
        r = self._case.reduced
        m = r.cards.size
        score = np.zeros(m)
        if m == 0:
            return score
        at, indices = REDUCTION.neighbours(m, r.scope_at, r.scopes, np.empty(0, np.int32))
        log2_cards = np.log2(r.cards.astype(np.float64))
        found = triangulate_in(self._clock, at, indices, log2_cards, limit_log2=60.0)
        if not found.complete and m * min(m, found.log2_largest + 1.0) < _MOST_FOR_ORDER:
            found = triangulate_in(self._clock, at, indices, log2_cards, order=found.order)
        self._clock.check()
        if not found.complete:
            return score
        depth = np.full(m, -1, np.int64)
        ptr, variables = found.clique_ptr.astype(np.int64), found.clique_vars.astype(np.int64)
        SEARCH.depths(m, ptr, variables, found.parent.astype(np.int64), depth)
        width = int(np.diff(ptr).max())
        weight = 100.0 * math.exp(min(m / width, 20.0)) / m
        rank = np.empty(m)
        rank[found.order] = np.arange(m) / m  # one order for all branches, so that cached components recur
        return np.asarray(weight * (1.0 - (depth - 0.5 * rank) / (1.0 + depth.max())))

    # --- memory ---

    def _bytes(self) -> int:
        parts: tuple[Sequence[np.ndarray], ...] = (
            self._problem,
            self._state,
            self._memo,
            self._cache,
            self._record,
            (self._frames, self._mantissas, self._pile),
        )
        return sum(a.nbytes for part in parts for a in part)

    def _room(self, more: int) -> None:
        """Raise `TooLarge` unless this many bytes are still available."""
        needed = self._bytes() + more
        if needed > self._limit:
            one = ", query one variable, which keeps no record" if self._n[_RECORDING] else ""
            raise too_large(needed, self._limit, "The search now needs", f"Observe more{one}")

    def _grow(self, status: int) -> None:
        if status == _MEMO:
            self._room(2 * sum(a.nbytes for a in self._memo))
            old = self._memo
            self._memo = empty_memo(2 * old.kind.size, 2 * old.words.size)
            for new, before in zip(self._memo[2:], old[2:], strict=True):
                new[: before.size] = before
            SEARCH.rehash(self._problem, self._memo, self._n)
            SEARCH.rehash_classes(self._problem, self._memo, self._state, self._n)
        elif status == _PILE:
            self._room(2 * self._pile.nbytes)
            self._pile = _longer(self._pile, 2 * self._pile.size)
        elif status == _FRAMES:
            self._room(2 * self._frames.nbytes)
            rows = 2 * self._frames.shape[0]
            self._frames, self._mantissas = _longer(self._frames, rows), _longer(self._mantissas, rows)
        elif status == _RECORD:
            self._grow_record()
        else:
            self._grow_cache()

    def _grow_record(self) -> None:
        parts: list[np.ndarray] = list(self._record)
        spare = int(self._problem.state_at[-1]) + 64  # the most that one step may need
        for begin, end, used in _RECORD_PARTS.values():
            size = parts[begin].size
            if 2 * (int(self._n[used]) + spare) > size:
                self._room(2 * sum(a.nbytes for a in parts[begin:end]) + 40 * spare)
                for i in range(begin, end):
                    parts[i] = _longer(parts[i], 2 * size + 2 * spare)
        self._record = Record(*parts)

    def _grow_cache(self) -> None:
        old = self._cache
        nbytes = sum(a.nbytes for a in old)
        if self._bytes() + 2 * nbytes <= (self._limit * 3) // 4 and old.keys.size < 2**31:
            wide = 2 * int(self._n[_KEYS]) > old.keys.size
            many = 2 * int(self._n[_CACHED]) > old.at.size
            self._cache = empty_cache(
                old.at.size * (2 if many else 1), old.keys.size * (2 if wide or not many else 1)
            )
            for new, before in zip(self._cache[1:], old[1:], strict=True):
                new[: before.size] = before
            SEARCH.relink(self._cache, self._n)
            return
        nothing = int(self._n[_CACHED]) == 0
        SEARCH.sweep(old, self._n)
        if nothing:  # a key longer than the limit for all keys
            self._n[_STORING] = 0

    # --- the search ---

    def total(self, clamped: Sequence[int] = ()) -> Wide:
        """The sum over everything open, with variables clamped to these reduced states."""
        flat = np.array(clamped, np.int64)
        names = np.searchsorted(self._problem.state_at, flat, side="right") - 1
        states = flat - self._problem.state_at[names]
        never = np.zeros(1, np.uint8)
        SEARCH.begin(
            self._problem, self._memo, self._state, self._n, self._frames, self._mantissas, self._pile
        )
        while True:
            self._clock.check()
            status = SEARCH.advance(
                self._problem,
                self._memo,
                self._cache,
                self._state,
                self._record,
                self._n,
                self._frames,
                self._mantissas,
                self._pile,
                names,
                states,
                _SLICE,
                never,
            )
            if status == 0:
                break
            if status == _RUNNING:
                report(float(self._n[_WORK]), math.inf, "search")
            else:
                self._grow(status)
        self._clock.lap(RUNNING)
        return float(self._mantissas[0, 0]), int(self._frames[0, _SUM])

    def shares(self) -> np.ndarray:
        """The probability of each open state of each reduced variable, after a recorded `total`."""
        out = np.zeros(int(self._problem.state_at[-1]))
        self._room(8 * int(self._n[_NODES]))
        SEARCH.shares(self._record, self._n, np.zeros(int(self._n[_NODES])), out)
        self._clock.lap(RUNNING)
        return out


def _prepared(case: Case, clock: Clock, asked: np.ndarray, *, record: bool = False) -> Search | Count:
    """Prepare the search for sums with these reduced states clamped, or for their probabilities."""
    formula = formula_of(case)
    if formula is None:
        return Search(case, clock, record=record)
    return Count(formula, asked, clock, record=record)


def total(case: Case, clock: Clock) -> Wide:
    """The sum of the product of all factors over all open states."""
    constant = case.constant()
    found = _prepared(case, clock, np.empty(0, np.int64)).total()
    if found[0] == 0.0:
        raise Impossible
    return wide_multiply(constant, found)


def joint(case: Case, targets: np.ndarray, clock: Clock) -> WideArray:
    """The table over the reduced variables `targets`, up to a scale."""
    r = case.reduced
    size = float(np.exp2(np.log2(r.cards[targets].astype(np.float64)).sum()))
    answer = f"The answer alone has {size:,.0f} entries, which take"
    check_room(_RESULT * size, answer, "Ask for fewer targets at once")
    case.constant()
    search = _prepared(case, clock, _ranges(r.state_at, targets))
    cards = r.cards[targets].tolist()
    mantissas, exponents = np.zeros(cards), np.zeros(cards, np.int64)
    for codes in np.ndindex(*cards):
        mantissas[codes], exponents[codes] = search.total((r.state_at[targets] + codes).tolist())
    if not (mantissas > 0).any():
        raise Impossible
    return mantissas, exponents


def marginals(case: Case, clock: Clock) -> tuple[np.ndarray, Wide]:
    """The probability of each open state of each reduced variable, and the total."""
    constant = case.constant()
    r = case.reduced
    search = _prepared(case, clock, np.arange(int(r.state_at[-1])), record=True)
    found = search.total()
    if found[0] == 0.0:
        raise Impossible
    values = search.shares()
    sums = np.add.reduceat(values, r.state_at[:-1]) if values.size else values
    return values / np.repeat(sums, r.cards), wide_multiply(constant, found)


# --- arrays ---


def _ranges(begins: np.ndarray, which: np.ndarray) -> np.ndarray:
    """The positions from begins[i] to before begins[i + 1] for each i in `which`, concatenated."""
    lengths = np.diff(begins)[which]
    shift = begins[:-1][which] - (np.cumsum(lengths) - lengths)
    return np.asarray(np.arange(int(lengths.sum())) + np.repeat(shift, lengths))


def _longer(array: np.ndarray, size: int) -> np.ndarray:
    new = np.zeros((size, *array.shape[1:]), array.dtype)
    new[: len(array)] = array
    return new
