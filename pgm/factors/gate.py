"""A conditional distribution too wide for a table, written as small ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dense import Dense

_SMALLEST = sys.float_info.min
# A gate in two numbers A and B, for each state of the child. They begin as the first two of three: a, b, g.
# Every cause has three too, and makes A * a and A * b + B * g of them, whatever the order of the causes; in
# the end B is P(child | causes). Returned are the three of the beginning, (child, 3), and those of causes,
# (states of the cause, child, 3).
InTwo = Callable[[], tuple[np.ndarray, Sequence[np.ndarray]]]


@dataclass(frozen=True, eq=False, slots=True)
class Gate:
    """P(child | causes) as a product of small tables, summed over variables that only the gate has.

    A table's places are numbers: 0 .. k - 1 mean the variables of `scope`, k and on the hidden ones. There
    are two forms. Where each table is a distribution of its last variable given the others, nothing is ever
    negative and pruning works as on any network: so chains and trees of running results are written. Of the
    last tables only the product may be a distribution, of the child: so the leaves of a decision tree are
    written, each all ones where it does not apply.
    """

    scope: np.ndarray  # (k,) positions: the causes, then the child
    tables: tuple[tuple[tuple[int, ...], np.ndarray], ...]
    hidden: tuple[int, ...] = ()  # how many states each hidden variable has
    function: bool = False  # the hidden variables are functions of the causes, and may be maximised
    together: int = 0  # of how many tables, the last ones, only the product is a distribution
    in_two: InTwo | None = None  # who says the same in two numbers

    heads = 1

    def as_tables(self, first_hidden: int) -> list[Dense]:
        """Write the tables with the model's positions; the hidden variables begin at this one."""
        k = self.scope.size
        place = np.concatenate([self.scope, first_hidden + np.arange(len(self.hidden))])
        assert place.size == k + len(self.hidden)
        found = []
        alone = len(self.tables) - max(self.together - 1, 0)
        for step, (at, values) in enumerate(self.tables):
            joined = step >= alone
            found.append(Dense(place[np.array([at])], values, 0 if joined else 1, joined=joined))
        return found

    def turns(self) -> np.ndarray:
        """When to sum out each hidden variable: twice a position, less one, just before that variable.

        Sweeping over the causes in the model's order, a hidden variable is done with when the last cause has
        come that its successor depends on. This keeps open one hidden variable of each gate.
        """
        k = self.scope.size
        latest = np.concatenate([self.scope, np.full(len(self.hidden), -1)]).astype(np.int64)
        turn = np.zeros(len(self.hidden), np.int64)
        for at, _ in self.tables:  # a table stands after those of what it depends on
            reached = max((int(latest[i]) for i in at[:-1]), default=-1)
            for i in at[:-1]:
                if i >= k:
                    turn[i - k] = 2 * reached - 1
            if at[-1] >= k:
                latest[at[-1]] = reached
        return turn

    def written_out(self, cards: Sequence[int]) -> np.ndarray:
        """The whole table, of the cards of its scope; the caller has checked that it fits."""
        k = self.scope.size
        last_use = {i: step for step, (at, _) in enumerate(self.tables) for i in at}
        found: Any = np.ones(())
        axes: list[int] = []
        for step, (at, values) in enumerate(self.tables):
            every = list(dict.fromkeys([*axes, *at]))
            left = [i for i in every if i < k or last_use[i] > step]
            number = {i: n for n, i in enumerate(every)}
            einsum: Any = np.einsum  # its types know nothing of lists of axes
            found = einsum(
                found, [number[i] for i in axes], values, [number[i] for i in at], [number[i] for i in left]
            )
            axes = left
        missing = [i for i in range(k) if i not in axes]
        found = found.reshape(found.shape + (1,) * len(missing))
        order = [*axes, *missing]
        table = np.transpose(found, [order.index(i) for i in range(k)])
        return np.ascontiguousarray(np.broadcast_to(table, tuple(cards)))


class Writer:
    """Collects the tables of a gate; gives out numbers for its hidden variables."""

    def __init__(self, n_scope: int) -> None:
        """A gate over so many variables, the child the last of them."""
        self.child = n_scope - 1
        self.tables: list[tuple[tuple[int, ...], np.ndarray]] = []
        self.hidden: list[int] = []

    def new(self, card: int) -> int:
        """Return the number of a new hidden variable."""
        self.hidden.append(card)
        return self.child + len(self.hidden)

    def put(self, at: Sequence[int], values: np.ndarray) -> None:
        """Add a table over these numbers, the last of which it is the distribution of."""
        self.tables.append((tuple(at), values))

    def chain(self, causes: Sequence[int], first: np.ndarray, links: Sequence[np.ndarray]) -> None:
        """Write the child as the last of a chain (Heckerman & Breese 1996).

        Args:
            causes: numbers of the causes, in the order of the chain.
            first: the distribution of the running state before any cause.
            links: for each cause P(next state | state, cause); the last leads to the child's states.
        """
        if not links:
            self.put([self.child], first)
            return
        before = -1
        if _least(first) * _least(links[0]) < _SMALLEST:  # not in one table: their product is no double
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
        self, scope: Sequence[int], *, function: bool = False, together: int = 0, in_two: InTwo | None = None
    ) -> Gate:
        """Return the gate; the arguments are its fields."""
        positions = np.array(scope, dtype=np.int64)
        return Gate(positions, tuple(self.tables), tuple(self.hidden), function, together, in_two)


def _least(values: np.ndarray) -> float:
    """The smallest number that is not zero."""
    return float(values[values > 0.0].min())
