"""The pseudo-likelihood of a Markov network: each variable given all others, for many rows at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument
from pgm.factors import Dense
from pgm.frames import Columns

if TYPE_CHECKING:
    from .markov_network import MarkovNetwork


class PseudoLikelihood:
    """The sum of log P(variable | all others), which needs no partition function (Besag 1975)."""

    def __init__(self, model: MarkovNetwork, data: Columns, shares: np.ndarray) -> None:
        if not all(isinstance(f, Dense) for f in model._factors):
            raise InvalidArgument(
                "A Markov network with factors that are not tables is not fitted; give tables."
            )
        self._factors: list[Any] = list(model._factors)
        self._codes = np.array([data.codes[name] for name in model.variables], dtype=np.int64)
        self._cards = np.array([v.card for v in model.variables.values()])
        self._shares = shares
        self.seen: Callable[[], list[np.ndarray]] = self._seen

    def _seen(self) -> list[np.ndarray]:
        found = []
        for factor in self._factors:
            total = np.zeros(factor.values.size)
            for scope in factor.scopes:
                flat = np.ravel_multi_index([self._codes[v] for v in scope], factor.values.shape)
                total += np.bincount(flat, self._shares, minlength=total.size)
            found.append(total)
        return found

    def of(self, logs: Sequence[np.ndarray]) -> tuple[float, list[np.ndarray]]:
        """The value and the gradient at these logarithms of all factors."""
        n, m, most = self._codes.shape[0], self._codes.shape[1], int(self._cards.max(initial=1))
        totals = np.where(np.arange(most) < self._cards[:, None], 0.0, -np.inf)[:, None, :] + np.zeros(
            (n, m, most)
        )
        parts = list(self._parts(logs))
        for _, scope, axis, table, rest in parts:
            np.add.at(totals, scope[:, axis], _padded(table[rest], most))
        top = totals.max(axis=2, keepdims=True)
        shares = np.exp(totals - top)
        sums = shares.sum(axis=2, keepdims=True)
        shares /= sums
        own = np.take_along_axis(totals, self._codes[:, :, None], axis=2)[:, :, 0]
        log = float(((own - top[:, :, 0] - np.log(sums[:, :, 0])) * self._shares).sum())
        shares *= -1.0
        np.put_along_axis(
            shares,
            self._codes[:, :, None],
            np.take_along_axis(shares, self._codes[:, :, None], 2) + 1.0,
            axis=2,
        )
        shares *= self._shares[None, :, None]
        slopes = [np.zeros(x.size) for x in logs]
        for i, scope, axis, table, rest in parts:
            moved = np.zeros(table.shape)
            np.add.at(moved, rest, shares[scope[:, axis]][:, :, : table.shape[-1]])
            slopes[i] += np.moveaxis(moved, -1, axis).ravel()
        return log, slopes

    def _parts(self, logs: Sequence[np.ndarray]) -> Iterable[tuple[int, np.ndarray, int, np.ndarray, Any]]:
        """For each factor and axis its table with that axis last, and each row's position in the others."""
        for i, factor in enumerate(self._factors):
            table = logs[i].reshape(factor.values.shape)
            for axis in range(factor.scopes.shape[1]):
                others = [a for a in range(factor.scopes.shape[1]) if a != axis]
                rest = tuple(self._codes[factor.scopes[:, a]] for a in others)
                if not rest:
                    rest = (np.zeros((len(factor.scopes), self._codes.shape[1]), np.int64),)
                    yield i, factor.scopes, axis, table[None], rest
                else:
                    yield i, factor.scopes, axis, np.moveaxis(table, axis, -1), rest


def _padded(values: np.ndarray, width: int) -> np.ndarray:
    if values.shape[-1] == width:
        return values
    return np.concatenate([values, np.zeros((*values.shape[:-1], width - values.shape[-1]))], axis=-1)
