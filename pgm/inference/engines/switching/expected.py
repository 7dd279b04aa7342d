"""Expected sufficient statistics of each regime of a switching system, from its smoother."""

from __future__ import annotations

import numpy as np

from .lanes import Gaussians, Link


class Expected:
    """Weighted sums of moments, by step and regime; the smoother adds to them as it goes back."""

    def __init__(self, regimes: int, steps: int, n: int) -> None:
        """Start all sums at zero."""
        self.weight = np.zeros((steps, regimes))
        self.x = np.zeros((steps, regimes, n))
        self.xx = np.zeros((steps, regimes, n, n))
        self.pairs = np.zeros((regimes, regimes))  # counts of a regime (rows) and the next
        # of each step but the last, by the regime of the next step:
        self.before = np.zeros((steps - 1, regimes, n))
        self.before_xx = np.zeros((steps - 1, regimes, n, n))
        self.after_before = np.zeros((steps - 1, regimes, n, n))  # the next state (rows) with this one

    def see(self, t: int, g: Gaussians, regime: np.ndarray, weights: np.ndarray) -> None:
        """Add the states of a step."""
        share = self._shares(regime, weights)
        self.weight[t] += share.sum(axis=0)
        self.x[t] += share.T @ g.mean
        self.xx[t] += np.einsum("lk,lij->kij", share, _second(g, g.mean))

    def see_move(
        self,
        t: int,
        g: Gaussians,
        link: Link,
        later: Gaussians,
        regime: np.ndarray,
        after: np.ndarray,
        weights: np.ndarray,
    ) -> None:
        """Add the states of a step together with those of the next."""
        share = self._shares(after, weights)
        own = (
            link.J @ later.root @ later.root.transpose(0, 2, 1) + g.mean[:, :, None] * later.mean[:, None, :]
        )
        self.before[t] += share.T @ g.mean
        self.before_xx[t] += np.einsum("lk,lij->kij", share, _second(g, g.mean))
        self.after_before[t] += np.einsum("lk,lij->kji", share, own)
        np.add.at(self.pairs, (regime, after), weights)

    def _shares(self, regime: np.ndarray, weights: np.ndarray) -> np.ndarray:
        found = np.zeros((regime.size, self.weight.shape[1]))
        found[np.arange(regime.size), regime] = weights
        return found


def _second(g: Gaussians, mean: np.ndarray) -> np.ndarray:
    return np.asarray(g.root @ g.root.transpose(0, 2, 1) + mean[:, :, None] * mean[:, None, :])
