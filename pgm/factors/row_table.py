"""States given by a function of rows, such as a classifier: a factor once continuous parents are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pgm.runtime.room import check_room

from .dense import Dense
from .mixed_family import MixedFamily

Rows = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False, slots=True)
class RowTable(MixedFamily):
    """P(child | parents) for each row of codes of the discrete and values of the continuous parents.

    `rows(codes, values)` takes arrays (n, discrete parents) of int64 and (n, continuous parents) and returns
    the probabilities (n, states), a row each. It is called once for many rows.
    """

    cards: tuple[int, ...]  # of the discrete parents
    card: int  # of the child
    rows: Rows

    heads = 1
    linear = False

    @property
    def matters(self) -> np.ndarray:
        """Which of the continuous parents make a difference: that is unknown, so all of them."""
        return np.ones(self.scope.size - 1 - self.n_discrete, bool)

    def uniform(self) -> Dense:
        """A uniform table over the states alone, for where this distribution sums to one."""
        return Dense(np.array([[self.child]], np.int64), np.full(self.card, 1.0 / self.card), 1)

    def table(self, values: np.ndarray, codes: Mapping[int, int]) -> Dense:
        """P(child | unobserved discrete parents) at these values of the continuous parents.

        Args:
            values: of the continuous parents, in order.
            codes: of the observed discrete parents, by position.
        """
        rows = configurations(self.discrete, self.cards, codes, self.scope.size + self.card)
        real = np.broadcast_to(values, (len(rows), values.size))
        open_ = [i for i, v in enumerate(self.discrete.tolist()) if v not in codes]
        found = self.rows(rows, real).reshape(*[self.cards[i] for i in open_], self.card)
        scope = [*(int(self.scope[i]) for i in open_), self.child]
        return Dense(np.array([scope], np.int64), found, 1)

    def logs(self, codes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Log P(child | row) for rows of codes (n, discrete) and of values (n, continuous): (n, states)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.rows(codes, values)))

    def drawn(self, codes: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw a state for each row."""
        sums = np.cumsum(self.rows(codes, values), axis=1)
        uniform = rng.random(len(sums))[:, None] * sums[:, -1:]
        return np.asarray((sums <= uniform).sum(axis=1).clip(max=self.card - 1))


def configurations(
    discrete: np.ndarray, cards: Sequence[int], codes: Mapping[int, int], width: int
) -> np.ndarray:
    """Every configuration of discrete variables consistent with the evidence, in order: (n, discrete).

    Args:
        discrete: their positions.
        cards: the number of states of each.
        codes: the evidence, by position.
        width: the number of floats that a row takes; too many rows raise TooLarge before they are made.
    """
    left = [1 if v in codes else k for v, k in zip(discrete.tolist(), cards, strict=True)]
    count = math.prod(left)
    check_rows(count, width)
    found = np.empty((count, discrete.size), np.int64)
    for i, column in enumerate(np.unravel_index(np.arange(count), left) if left else ()):
        v = int(discrete[i])
        found[:, i] = codes[v] if v in codes else column
    return found


def check_rows(count: int, width: int) -> None:
    """Refuse more rows at once than the memory limit holds, before anything is allocated."""
    many = f"{count:,}" if count < 10**15 else f"10**{math.log10(count):.0f}"
    check_room(
        8.0 * count * width,
        f"An estimator would be asked about {many} rows at once, one for each configuration of its "
        "unobserved inputs, which takes",
        "Observe more of its inputs",
    )
