"""A conditional distribution too wide for a table, decomposed into small ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dense import Dense

_SMALLEST = sys.float_info.min
# A gate as two scalars A and B for each state of the child. They start as the first two of three values
# a, b, g. Every cause has three such values as well, and maps A, B to A * a and A * b + B * g, in any order
# of the causes; in the end B is P(child | causes). The function returns the initial values, of shape
# (child, 3), and those of each cause, (states of the cause, child, 3).
InTwo = Callable[[], tuple[np.ndarray, Sequence[np.ndarray]]]


@dataclass(frozen=True, eq=False, slots=True)
class Gate:
    """P(child | causes) as a product of small tables, summed over hidden variables of the gate.

    The scope of a table is local: 0 .. k - 1 are the variables of `scope`, the hidden ones follow from k on.
    There are two forms. Either each table is a distribution of its last variable given the others: then
    nothing is ever negative, and pruning works as in any network. Chains and trees of partial results have
    this form. Or only the product of the last tables is a distribution, that of the child: the leaves of a
    decision tree have this form, each with ones where it does not apply.
    """

    scope: np.ndarray  # (k,) positions: the causes, then the child
    tables: tuple[tuple[tuple[int, ...], np.ndarray], ...]
    hidden: tuple[int, ...] = ()  # the number of states of each hidden variable
    function: bool = False  # the hidden variables are functions of the causes, and may be maximised
    unnormalised: int = 0  # the number of last tables of which only the product is a distribution
    in_two: InTwo | None = None  # the same gate as two scalars

    heads = 1

    def as_tables(self, first_hidden: int) -> list[Dense]:
        """Return the tables with the model's indices; those of hidden variables start at `first_hidden`."""
        k = self.scope.size
        place = np.concatenate([self.scope, first_hidden + np.arange(len(self.hidden))])
        assert place.size == k + len(self.hidden)
        found = []
        alone = len(self.tables) - max(self.unnormalised - 1, 0)
        for step, (at, values) in enumerate(self.tables):
            joined = step >= alone
            found.append(Dense(place[np.array([at])], values, 0 if joined else 1, joined=joined))
        return found

    def turns(self) -> np.ndarray:
        """When to sum out each hidden variable: at 2 p - 1, which is just before the variable at position p.

        In a sweep over the causes in the model's order, a hidden variable is finished after the last cause
        that its successor depends on. This keeps one hidden variable of each gate open.
        """
        k = self.scope.size
        latest = np.concatenate([self.scope, np.full(len(self.hidden), -1)]).astype(np.int64)
        turn = np.zeros(len(self.hidden), np.int64)
        for at, _ in self.tables:  # a table comes after those that it depends on
            reached = max((int(latest[i]) for i in at[:-1]), default=-1)
            for i in at[:-1]:
                if i >= k:
                    turn[i - k] = 2 * reached - 1
            if at[-1] >= k:
                latest[at[-1]] = reached
        return turn

    def written_out(self, cards: Sequence[int]) -> np.ndarray:
        """The whole table, of shape `cards`; the caller has checked that it fits in memory."""
        k = self.scope.size
        last_use = {i: step for step, (at, _) in enumerate(self.tables) for i in at}
        found: Any = np.ones(())
        axes: list[int] = []
        for step, (at, values) in enumerate(self.tables):
            every = list(dict.fromkeys([*axes, *at]))
            left = [i for i in every if i < k or last_use[i] > step]
            axis = {i: n for n, i in enumerate(every)}
            einsum: Any = np.einsum  # its type stubs do not cover lists of axes
            found = einsum(
                found, [axis[i] for i in axes], values, [axis[i] for i in at], [axis[i] for i in left]
            )
            axes = left
        missing = [i for i in range(k) if i not in axes]
        found = found.reshape(found.shape + (1,) * len(missing))
        order = [*axes, *missing]
        table = np.transpose(found, [order.index(i) for i in range(k)])
        return np.ascontiguousarray(np.broadcast_to(table, tuple(cards)))


class Writer:
    """Collects the tables of a gate; assigns indices to its hidden variables."""

    def __init__(self, n_scope: int) -> None:
        """A gate over this many variables, the child last."""
        self.child = n_scope - 1
        self.tables: list[tuple[tuple[int, ...], np.ndarray]] = []
        self.hidden: list[int] = []

    def new(self, card: int) -> int:
        """Return the index of a new hidden variable."""
        self.hidden.append(card)
        return self.child + len(self.hidden)

    def put(self, at: Sequence[int], values: np.ndarray) -> None:
        """Add a table over these indices, a distribution of the last."""
        self.tables.append((tuple(at), values))

    def chain(self, causes: Sequence[int], first: np.ndarray, links: Sequence[np.ndarray]) -> None:
        """Write the child as the last of a chain (Heckerman & Breese 1996).

        Args:
            causes: indices of the causes, in the order of the chain.
            first: the distribution of the running state before the first cause.
            links: for each cause P(next state | state, cause); the last leads to the child's states.
        """
        if not links:
            self.put([self.child], first)
            return
        before = -1
        if _least(first) * _least(links[0]) < _SMALLEST:  # their product would underflow in one table
            before = self.new(first.size)
            self.put([before], first)
        for step, (cause, link) in enumerate(zip(causes, links, strict=True)):
            after = self.child if step == len(links) - 1 else self.new(link.shape[2])
            if before < 0:
                self.put([cause, after], np.tensordot(first, link, axes=1))
            else:
                self.put([before, cause, after], link)
            before = after

    def finish(
        self,
        scope: Sequence[int],
        *,
        function: bool = False,
        unnormalised: int = 0,
        in_two: InTwo | None = None,
    ) -> Gate:
        """Return the gate; the arguments are its fields."""
        positions = np.array(scope, dtype=np.int64)
        return Gate(positions, tuple(self.tables), tuple(self.hidden), function, unnormalised, in_two)


def _least(values: np.ndarray) -> float:
    """The smallest non-zero value."""
    return float(values[values > 0.0].min())
