"""Forward and backward passes along sequences, block by block, and the marginals of each step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from pgm.inference.engines.interface.log_tables import Piece, aligned, logs_of, onto, product
from pgm.inference.engines.interface.observed_rows import ObservedRows
from pgm.inference.engines.interface.slice_layout import SliceLayout
from pgm.runtime.clock import Clock
from pgm.runtime.loops import Loops
from pgm.runtime.running import Impossible, Narrow, run

LOOPS = Loops("pgm.inference.engines.interface.compiled", "passing messages along steps")
_NARROWEST = -400.0 * math.log(2.0)  # of the product of a step's tables; below, doubles may lose states
_FLOATS = 1 << 22  # that a block may hold
_ROWS = 1 << 16  # that a block may have
_PAIRS = 64  # entries of the frontier, or pairs of them, up to which patterns are read for each

_Found = TypeVar("_Found")


class ImpossibleRow(Exception):
    """No state is possible any more at this row."""

    def __init__(self, row: int) -> None:
        """Take the row."""
        super().__init__(row)
        self.row = row


@dataclass(eq=False)
class Block:
    """Rows a to b of a course: the evidence and the messages."""

    a: int
    b: int
    code: np.ndarray  # the pattern of each row
    rows: np.ndarray  # one row of each pattern
    pieces: list[Piece]  # the slice's tables for each pattern
    g: np.ndarray  # (patterns, entries) for the loops: logarithms, or their exponentials
    shift: np.ndarray  # log of the factor that each pattern was divided by
    alpha: np.ndarray  # (rows, frontier) messages from the past
    share: np.ndarray  # log P(row | rows before)
    carried: np.ndarray  # the frontier before the first of these rows


@dataclass(frozen=True, eq=False)
class Course:
    """Sequences with the layout of their steps; `logs`: messages are in logarithms."""

    layout: SliceLayout
    data: ObservedRows
    clock: Clock
    logs: bool = False
    carried: np.ndarray | None = None  # the frontier before the first row, where no sequence begins there

    @property
    def k(self) -> int:
        """How many entries the frontier has."""
        return self.layout.interface_entries

    @property
    def first(self) -> np.ndarray:
        """The frontier before the first row of a sequence."""
        return logs_of(self.layout.first) if self.logs else self.layout.first

    def blocks(self, most: int = _ROWS) -> list[tuple[int, int]]:
        """Where the rows are cut into blocks."""
        size = max(1, min(most, _FLOATS // max(self.k, self.layout.block, 1)))
        return [(a, min(a + size, self.data.n)) for a in range(0, self.data.n, size)]

    # --- forward ---

    def prepared(self, a: int, b: int, carried: np.ndarray, *, best: bool = False) -> Block:
        """Rows a to b, whose evidence is laid out for the loops; messages are still empty."""
        code, rows = self.data.patterns(self.layout.template, a, b)
        pieces = self.data.pieces(self.layout, rows)
        tables = self._along(pieces, rows.size, best)
        shift = np.zeros(rows.size)
        least = np.zeros(rows.size)
        if not self.logs:
            for table in tables:
                most = table.max(axis=1)
                most[most == -np.inf] = 0.0
                table -= most[:, None]
                shift += most
                least += np.where(table == -np.inf, 0.0, table).min(axis=1)
            if least.min() < _NARROWEST:
                raise Narrow
        g = np.concatenate(tables, axis=1)
        if not self.logs:
            np.exp(g, out=g)
        n = b - a
        return Block(a, b, code, rows, pieces, g, shift, np.empty((n, self.k)), np.empty(n), carried)

    def _along(self, pieces: list[Piece], count: int, best: bool) -> list[np.ndarray]:
        """The table that each operation multiplies the frontier by, (patterns, entries)."""
        layout = self.layout
        on_path = set(layout.path)
        sent: dict[int, Piece] = {}
        for b, bucket in enumerate(layout.buckets):
            if b in on_path:
                continue
            mine = [pieces[f] for f in bucket.factors] + [sent[c] for c in bucket.children]
            table = product(mine, bucket.scope, layout.cards)
            sent[b] = bucket.sent, onto((bucket.scope, table), bucket.sent, best=best)
        found = []
        for b, scope in zip(layout.path, layout.path_scopes, strict=True):
            bucket = layout.buckets[b]
            mine = [pieces[f] for f in bucket.factors] + [sent[c] for c in bucket.children if c in sent]
            table = product(mine, scope, layout.cards)
            found.append(np.array(np.broadcast_to(table.reshape(table.shape[0], -1), (count, table[0].size))))
        return found

    def forward(self, block: Block, *, best: bool = False) -> None:
        """Fill in the messages from the past; `ImpossibleRow` where no state is left."""
        where = np.zeros(1, np.int64)
        d = self.data
        args = [self.layout.operations, block.g.reshape(-1), block.code, d.begins[block.a : block.b]]
        args += [self.first, block.carried]
        ends = [block.alpha.reshape(-1), block.share, where]
        try:
            if self.logs:
                self._run("forward_in_logs", *args, int(best), *ends, rows=block.b - block.a)
            else:
                self._run("forward", *args, *ends, rows=block.b - block.a)
        except Impossible:
            raise ImpossibleRow(block.a + int(where[0])) from None
        if not self.logs:
            np.log(block.share, out=block.share)
        block.share += block.shift[block.code]

    def start(self) -> np.ndarray:
        """The frontier before the first row."""
        if self.carried is None:
            return self.first
        return logs_of(self.carried) if self.logs else self.carried

    def walked(self, *, best: bool = False, most: int = _ROWS) -> Iterator[Block]:
        """Blocks with their messages from the past, one after the other."""
        carried = self.start()
        for a, b in self.blocks(most):
            block = self.prepared(a, b, carried, best=best)
            self.forward(block, best=best)
            yield block
            carried = np.array(block.alpha[-1])

    # --- backward ---

    def backward(self, block: Block, later: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Messages from the future, (rows, frontier), and the one before the first of these rows.

        `later` is the message from the rows after the block.
        """
        beta, before = np.empty((block.b - block.a, self.k)), np.empty(self.k)
        ends = self.data.ends[block.a : block.b]
        args = (
            self.layout.operations,
            block.g.reshape(-1),
            block.code,
            ends,
            later,
            beta.reshape(-1),
            before,
        )
        name = "backward_in_logs" if self.logs else "backward"
        self._run(name, *args, rows=block.b - block.a)
        return beta, before

    def lagged(self, lag: int) -> Iterator[tuple[Block, np.ndarray, int]]:
        """Blocks with messages from up to `lag` steps later, and how many rows precede the next block."""
        carried = self.start()
        for a, b in self.blocks():
            block = self.prepared(a, min(b + lag, self.data.n), carried)
            self.forward(block)
            n, ends = block.b - a, self.data.ends[a : block.b]
            beta, before = np.empty((n, self.k)), np.empty(self.k)
            name = "lagged_in_logs" if self.logs else "lagged"
            args = (
                self.layout.operations,
                block.g.reshape(-1),
                block.code,
                ends,
                lag,
                beta.reshape(-1),
                before,
            )
            self._run(name, *args, rows=n * max(1, min(lag, n)))
            yield block, beta, b - a
            carried = np.array(block.alpha[b - a - 1])

    def _run(self, name: str, *args: object, rows: int) -> None:
        run(name, *args, steps=float(rows) * self.layout.work, clock=self.clock, module=LOOPS)

    def before(self, block: Block) -> np.ndarray:
        """The frontier before each row of a block."""
        found = np.empty_like(block.alpha)
        found[0] = block.carried
        found[1:] = block.alpha[:-1]
        found[self.data.begins[block.a : block.b] != 0] = self.first
        return found

    # --- marginals ---

    def marginals(self, block: Block, wanted: Sequence[int], beta: np.ndarray | None) -> np.ndarray:
        """P(variable) in each row, for several variables, with a column for each state.

        Given the rows up to this one and, with `beta`, those after.
        """
        layout = self.layout
        places = [layout.template.at[v] for v in wanted]
        if not places:
            return np.empty((block.b - block.a, 0))
        if set(places) <= set(layout.outgoing):
            return self._of_frontier(block, places, beta)
        found = None if self.logs else self._by_patterns(block, places, beta)
        return self._row_by_row(block, places, beta) if found is None else found

    def _of_frontier(self, block: Block, places: list[int], beta: np.ndarray | None) -> np.ndarray:
        joint = block.alpha
        if self.logs:
            joint = joint if beta is None else joint + beta
            joint = np.exp(joint - joint.max(axis=1, keepdims=True))
        elif beta is not None:
            joint = joint * beta
        cards = [self.layout.cards[p] for p in self.layout.outgoing]
        table = joint.reshape(-1, *cards)
        parts = []
        for p in places:
            axis = self.layout.outgoing.index(p) + 1
            parts.append(table.sum(axis=tuple(i for i in range(1, table.ndim) if i != axis)))
        return np.concatenate([self._normal(part) for part in parts], axis=1)

    def _normal(self, part: np.ndarray) -> np.ndarray:
        total = part.sum(axis=1, keepdims=True)
        if not (total > 0.0).all():
            raise Narrow
        return np.asarray(part / total)

    def _by_patterns(self, block: Block, places: list[int], beta: np.ndarray | None) -> np.ndarray | None:
        """Marginals of each pattern for each entry of the frontier, mixed; None if there are too many."""
        k, count = self.k, block.rows.size
        pairs = k if beta is None else k * k
        if pairs > _PAIRS or count * pairs > min(block.b - block.a, 4096) // 2:
            return None
        eye = logs_of(np.eye(k))
        code = np.repeat(np.arange(count), pairs)
        past = np.tile(np.repeat(eye, pairs // k, axis=0), (count, 1))
        future = None if beta is None else np.tile(eye, (count * k, 1))
        made = self._read(block, code, places, past, future)
        before = self.before(block)
        weight = before if beta is None else (before[:, :, None] * beta[:, None, :]).reshape(-1, pairs)
        states = made.shape[1]
        found = np.empty((block.b - block.a, states))
        for pattern in range(count):
            rows = np.flatnonzero(block.code == pattern)
            own = made[pattern * pairs : (pattern + 1) * pairs]
            most = own.max()
            if np.where(own == -np.inf, 0.0, own - most).min() < _NARROWEST:
                return None
            found[rows] = weight[rows] @ np.exp(own - most)
        at = 0
        for p in places:
            end = at + self.layout.cards[p]
            found[:, at:end] = self._normal(found[:, at:end])
            at = end
        return found

    def _row_by_row(self, block: Block, places: list[int], beta: np.ndarray | None) -> np.ndarray:
        past, future = self.before(block), beta
        if not self.logs:
            past, future = logs_of(past), None if beta is None else logs_of(beta)
        size = max(1, _FLOATS // max(self.layout.entries, 1))
        parts = []
        for a in range(0, block.b - block.a, size):
            self.clock.check(LOOPS.doing)
            some = slice(a, a + size)
            made = self._read(
                block, block.code[some], places, past[some], None if future is None else future[some]
            )
            at = 0
            for p in places:
                own = made[:, at : at + self.layout.cards[p]]
                own -= own.max(axis=1, keepdims=True)
                np.exp(own, out=own)
                own /= own.sum(axis=1, keepdims=True)
                at += self.layout.cards[p]
            parts.append(made)
        found = np.concatenate(parts)
        if np.isnan(found).any():
            raise Narrow
        return found

    def _read(
        self,
        block: Block,
        code: np.ndarray,
        places: Sequence[int],
        past: np.ndarray,
        future: np.ndarray | None,
    ) -> np.ndarray:
        """Logarithms of P(variable at a place, row) given messages, up to a factor for each row."""
        layout = self.layout
        wanted = {layout.bucket_of[p] for p in places}
        beliefs = self.beliefs(block, code, past, future, wanted)
        made = []
        for p in places:
            b = layout.bucket_of[p]
            made.append(onto((layout.buckets[b].scope, beliefs[b]), (p,)))
        return np.concatenate([np.broadcast_to(m, (code.size, m.shape[1])) for m in made], axis=1)

    def beliefs(
        self,
        block: Block,
        code: np.ndarray,
        past: np.ndarray,
        future: np.ndarray | None,
        wanted: set[int],
    ) -> dict[int, np.ndarray]:
        """Logarithms of the joint distribution of each of these buckets given messages, unnormalised."""
        layout = self.layout
        pieces = [(s, t if t.shape[0] == 1 else t[code]) for s, t in block.pieces]
        shape = [layout.cards[p] for p in layout.incoming]
        extra: dict[int, list[Piece]] = {layout.entry: [(layout.incoming, past.reshape(-1, *shape))]}
        if future is not None:
            leaving = (layout.outgoing, future.reshape(-1, *shape))
            extra.setdefault(len(layout.buckets) - 1, []).append(leaving)
        return tree_beliefs(layout, pieces, extra, wanted)


def tree_beliefs(
    layout: SliceLayout, pieces: Sequence[Piece], extra: Mapping[int, list[Piece]], wanted: set[int]
) -> dict[int, np.ndarray]:
    """Logarithms of the joint distribution of each of these buckets and of the last one, unnormalised.

    Args:
        layout: the slice.
        pieces: its tables, in the order of `layout.scopes`.
        extra: further tables, by bucket.
        wanted: the buckets.
    """
    cards, root = layout.cards, len(layout.buckets) - 1
    local: list[np.ndarray] = []
    sent: list[np.ndarray] = []
    for b, bucket in enumerate(layout.buckets):
        mine = [pieces[f] for f in bucket.factors]
        mine += [(layout.buckets[c].sent, sent[c]) for c in bucket.children]
        local.append(product([*mine, *extra.get(b, ())], bucket.scope, cards))
        sent.append(onto((bucket.scope, local[b]), bucket.sent) if b < root else local[b])
    needed = set(wanted)
    for b in sorted(wanted):
        while b != root and (b := layout.buckets[b].parent) not in needed:
            needed.add(b)
    found = {root: local[root]}
    for b in range(root - 1, -1, -1):
        if b not in needed:
            continue
        bucket = layout.buckets[b]
        over = layout.buckets[bucket.parent]
        received = onto((over.scope, found[bucket.parent]), bucket.sent)
        with np.errstate(invalid="ignore"):
            ratio = received - sent[b]
        ratio = np.where(sent[b] == -np.inf, -np.inf, ratio)
        found[b] = local[b] + aligned((bucket.sent, ratio), bucket.scope)
    return found


def in_doubles_or_logs(ask: Callable[[bool], _Found]) -> _Found:
    """Run in doubles; where these might lose states, again in logarithms."""
    try:
        return ask(False)
    except Narrow:
        return ask(True)
