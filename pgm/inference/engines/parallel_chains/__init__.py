"""Factorial hidden Markov models, approximated one chain at a time.

The hidden chains move independently and emit together. Given the others, a chain is a hidden Markov model of
its own, whose log densities are expectations over the others in structured mean field, and those on the drawn
paths of the others in Gibbs sampling (Ghahramani & Jordan 1997).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from math import prod

import numpy as np

from pgm.inference.engines.chain import Chain
from pgm.runtime.clock import Clock

_HELD = 2**24  # log densities that are kept; if there are more, they are computed again each time
_AT_ONCE = 2**21  # log densities that are computed together
SHARES = np.geomspace(1e-3, 0.9, 25)  # of the log densities, in successive sweeps of an annealed start
_NO_CODES = np.empty(0, np.int32)


class Emitted:
    """Log densities of each row for each tuple of states: computed in pieces, and kept if there are few."""

    def __init__(
        self,
        log_rows: Callable[[np.ndarray], np.ndarray],
        rows: np.ndarray,
        code: np.ndarray,
        starts: np.ndarray,
        shape: tuple[int, ...],
    ) -> None:
        """Take the emission and the rows.

        Args:
            log_rows: gives the log densities of rows, (rows, tuples of states).
            rows: the rows, or the distinct ones where there are codes.
            code: the distinct row that each step has; empty: each step has its own.
            starts: where sequences begin, and where the last one ends.
            shape: how many states each chain has.
        """
        self.log_rows, self.rows, self.code, self.starts, self.shape = log_rows, rows, code, starts, shape
        self.has_zeros = False  # whether any zero has been met so far
        self.strides = [prod(shape[m + 1 :]) for m in range(len(shape))]

    @property
    def n_rows(self) -> int:
        """How many steps all sequences have."""
        return int(self.starts[-1])

    @cached_property
    def _kept(self) -> np.ndarray | None:
        little = len(self.rows) * prod(self.shape) <= _HELD
        return np.asarray(self.log_rows(self.rows)) if little else None

    def part(self, n: int) -> Emitted:
        """One sequence by itself."""
        a, b = int(self.starts[n]), int(self.starts[n + 1])
        coded = bool(self.code.size)
        rows = self.rows if coded else self.rows[a:b]
        made = Emitted(
            self.log_rows, rows, self.code[a:b] if coded else _NO_CODES, np.array([0, b - a]), self.shape
        )
        if self._kept is not None:
            made.__dict__["_kept"] = self._kept if coded else self._kept[a:b]
        return made

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Ranges of steps whose log densities are computed together."""
        size = max(1, _AT_ONCE // prod(self.shape))
        for a in range(0, self.n_rows, size):
            yield a, min(a + size, self.n_rows)

    def logs(self, a: int, b: int) -> np.ndarray:
        """Log densities of some steps, (steps, tuples of states)."""
        if self._kept is not None:
            return self._kept[self.code[a:b]] if self.code.size else self._kept[a:b]
        return np.asarray(self.log_rows(self.rows[self.code[a:b]] if self.code.size else self.rows[a:b]))

    def expected(self, m: int, beliefs: Sequence[np.ndarray], clock: Clock) -> np.ndarray:
        """The expected log density for each state of a chain, under the distributions of the others."""
        found = np.empty((self.n_rows, self.shape[m]))
        for a, b in self.pieces():
            clock.check("mean field")
            some = [q[a:b] for q in beliefs]
            logs = self.logs(a, b)
            zeros = logs == -np.inf
            if zeros.any():
                self.has_zeros = True
                found[a:b] = contracted(np.where(zeros, 0.0, logs), m, some)
                found[a:b][contracted(zeros * 1.0, m, some) > 0.0] = -np.inf
            else:
                found[a:b] = contracted(logs, m, some)
        return found

    def along(self, m: int, paths: np.ndarray) -> np.ndarray:
        """The log density for each state of a chain, where the others are on these paths."""
        tuples = self.tuples(paths) - paths[m].astype(np.int64) * self.strides[m]
        return self._at(tuples[:, None] + np.arange(self.shape[m]) * self.strides[m])

    def on(self, paths: np.ndarray) -> np.ndarray:
        """The log density of each step, where all chains are on these paths."""
        return self._at(self.tuples(paths)[:, None])[:, 0]

    def tuples(self, paths: np.ndarray) -> np.ndarray:
        """The index of the tuple of states in each step."""
        return np.asarray(np.array(self.strides, np.int64) @ paths.astype(np.int64))

    def _at(self, tuples: np.ndarray) -> np.ndarray:
        if self._kept is not None:
            row = self.code if self.code.size else np.arange(self.n_rows)
            return np.asarray(self._kept[row[:, None], tuples])
        found = np.empty(tuples.shape)
        for a, b in self.pieces():
            found[a:b] = np.take_along_axis(self.logs(a, b), tuples[a:b], axis=1)
        return found


def contracted(values: np.ndarray, m: int, beliefs: Sequence[np.ndarray]) -> np.ndarray:
    """The mean over all chains but the m-th, axis by axis: (steps, tuples) to (steps, states)."""
    steps = len(values)
    for q in reversed(beliefs[m + 1 :]):
        values = np.matmul(values.reshape(steps, -1, q.shape[1]), q[:, :, None])
    for q in beliefs[:m]:
        values = np.matmul(q[:, None, :], values.reshape(steps, q.shape[1], -1))
    return values.reshape(steps, -1)


def moved(chain: Chain, starts: np.ndarray) -> np.ndarray:
    """The prior P(state) of each step."""
    found = np.empty((int(starts[-1]), chain.k))
    lengths = np.diff(starts)
    p = chain.start
    for t in range(int(lengths.max())):
        found[starts[:-1][lengths > t] + t] = p
        p = p @ chain.move
    return found
