"""A noisy-OR: many causes, each enough by itself with some probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .dense import Dense


@dataclass(frozen=True, eq=False, slots=True)
class NoisyOr:
    """P(child | causes) = 1 - (1 - leak) * product of (1 - p) over active causes; child code 1 is True."""

    scope: np.ndarray  # (k,) positions: the causes, then the child
    probabilities: np.ndarray  # (k - 1,)
    leak: float
    active: np.ndarray  # (k - 1,) the state code of each cause in which it acts

    heads = 1

    def as_tables(self, cards: np.ndarray, first_auxiliary: int) -> list[Dense]:
        """Write the gate as a chain: after each cause, "has anything fired yet?" (Heckerman & Breese 1996).

        Every link is a conditional table, so nothing is negative and pruning works on it as on any network. A
        child observed False fixes the whole chain, which leaves one factor of one variable for each cause.
        The causes are linked in the order of the model, which keeps the chains of neighbouring gates narrow.
        """
        causes, child = self.scope[:-1], int(self.scope[-1])
        order = np.argsort(causes, kind="stable")
        if order.size == 0:
            return [Dense(np.array([[child]]), np.array([1.0 - self.leak, self.leak]), 1)]
        tables: list[Dense] = []
        before = -1
        for step, cause in enumerate(order):
            after = child if step == order.size - 1 else first_auxiliary + step
            fires = np.zeros(int(cards[causes[cause]]))
            fires[self.active[cause]] = self.probabilities[cause]
            link = np.empty((2, fires.size, 2))
            link[0, :, 0], link[0, :, 1] = 1.0 - fires, fires
            link[1, :, 0], link[1, :, 1] = 0.0, 1.0
            if before < 0:  # the first link starts from the leak
                quiet = (1.0 - self.leak) * (1.0 - fires)
                scope = np.array([[causes[cause], after]])
                tables.append(
                    Dense(scope, np.stack([quiet, self.leak + (1.0 - self.leak) * fires], axis=1), 1)
                )
            else:
                tables.append(Dense(np.array([[before, causes[cause], after]]), link, 1))
            before = after
        return tables

    @property
    def auxiliaries(self) -> int:
        """How many variables of its own the chain needs."""
        return max(0, self.scope.size - 2)
