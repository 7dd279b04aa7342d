"""A particle filter for dynamic networks (Gordon, Salmond & Smith 1993), weighted by the evidence.

Particles come in independent groups: how far the answers of the groups lie apart gives the standard error of
their mean. Hidden variables are drawn parents first; observed ones weight the particles by their likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgm.cpds import CPD
from pgm.distributions.normal import log_standard_normal
from pgm.factors import GaussianFactor, OwnDensity, RowNormal
from pgm.inference.engines.interface.observed_rows import ObservedRows
from pgm.inference.engines.interface.part_tables import Template
from pgm.runtime.clock import Clock

# For each variable and kind of step the parents: a variable, and its lag.
Parents = Sequence[Sequence[Sequence[tuple[int, int]]]]


class NoParticles(Exception):
    """No particle is compatible with the evidence of this row."""

    def __init__(self, row: int) -> None:
        """Take the row."""
        super().__init__(row)
        self.row = row


@dataclass(frozen=True, eq=False)
class Swarm:
    """The results of a particle filter."""

    values: np.ndarray  # (rows, states of the variables asked about)
    shares: np.ndarray  # log P(row | rows before)
    errors: np.ndarray  # standard errors of `values`
    sizes: np.ndarray  # effective sample size in each row


def particle_filter(
    template: Template,
    cpds: Sequence[Sequence[CPD]],
    parents: Parents,
    data: ObservedRows,
    wanted: Sequence[int],
    groups: int,
    each: int,
    threshold: float,
    random: np.random.Generator,
    clock: Clock,
) -> Swarm:
    """Filter all rows.

    Args:
        template: the network.
        cpds: for each variable its distribution in each kind of step.
        parents: for each variable its parents in each kind of step.
        data: the rows.
        wanted: discrete variables whose marginals are wanted.
        groups: how many independent groups there are.
        each: how many particles each group has.
        threshold: a group is resampled if its effective sample size falls below this share of `each`.
        random: the generator of random values.
        clock: the clock of the question.

    Raises:
        NoParticles: no particle is left.
    """
    cards = [template.cards[v] for v in wanted]
    found = Swarm(
        np.empty((data.n, sum(cards))), np.empty(data.n), np.empty((data.n, sum(cards))), np.empty(data.n)
    )
    walk = _Walk(template, cpds, parents, data, groups, each, random)
    for t in range(data.n):
        clock.check("moving particles")
        if data.begins[t]:
            walk.begin()
        before = walk.total()
        walk.step(t)
        found.shares[t] = walk.total() - before
        weights = np.exp(walk.logs)
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        alive = np.flatnonzero(walk.so_far > -np.inf)
        at = 0
        for v, card in zip(wanted, cards, strict=True):
            codes = walk.past[v][0].reshape(groups, each)[alive]
            flat = codes + card * np.arange(alive.size)[:, None]
            shares = np.bincount(flat.ravel(), weights[alive].ravel(), alive.size * card)
            shares = shares.reshape(alive.size, card)
            found.values[t, at : at + card] = shares.mean(axis=0)
            spread = shares.std(axis=0, ddof=1) if alive.size > 1 else np.full(card, np.nan)
            found.errors[t, at : at + card] = spread / math.sqrt(alive.size)
            at += card
        found.sizes[t] = (1.0 / (weights[alive] ** 2).sum(axis=1)).sum()
        walk.resample(threshold)
    return found


class _Walk:
    """Particles at some row of a sequence."""

    def __init__(
        self,
        template: Template,
        cpds: Sequence[Sequence[CPD]],
        parents: Parents,
        data: ObservedRows,
        groups: int,
        each: int,
        random: np.random.Generator,
    ) -> None:
        self.template, self.cpds, self.parents = template, cpds, parents
        self.data, self.random = data, random
        self.shape = groups, each

    def begin(self) -> None:
        """Start a new sequence."""
        groups, each = self.shape
        self.past = [np.zeros((lag + 1, groups * each)) for lag in self.template.lags]
        self.past = [
            p if card == 0 else p.astype(np.int64)
            for p, card in zip(self.past, self.template.cards, strict=True)
        ]
        self.logs = np.full(self.shape, -math.log(each))
        self.so_far = np.zeros(groups)

    def total(self) -> float:
        """The log probability of the sequence so far, estimated by the mean over the groups."""
        most = float(self.so_far.max())
        return most + math.log(np.exp(self.so_far - most).mean())

    def step(self, t: int) -> None:
        """Draw the hidden variables of a row, and weight by the observed ones."""
        kind = int(self.data.kind[t])
        own = np.zeros(self.shape[0] * self.shape[1])
        for past in self.past:
            past[1:] = past[:-1].copy()
        for v, card in enumerate(self.template.cards):
            past = self.past[v]
            if self.template.static[v] and self.template.parts[v][kind] is None:
                if (weights := self._weights(t, v)) is not None:
                    with np.errstate(divide="ignore"):
                        own += np.log(weights[past[0]])
                continue
            columns = [
                self.past[u][0 if self.template.static[u] else back] for u, back in self._parents(v, kind)
            ]
            if card == 0:
                past[0], log = self._value(t, v, kind, columns)
            else:
                past[0], log = self._state(t, v, kind, columns)
            own += log
        logs = self.logs + own.reshape(self.shape)
        most = logs.max(axis=1)
        if not (most > -np.inf).any():
            raise NoParticles(t)
        safe = np.where(most > -np.inf, most, 0.0)
        with np.errstate(divide="ignore"):
            sums = safe + np.log(np.exp(logs - safe[:, None]).sum(axis=1))
        self.so_far = self.so_far + sums
        self.logs = np.where(
            sums[:, None] > -np.inf, logs - np.where(sums > -np.inf, sums, 0.0)[:, None], -np.inf
        )

    def _parents(self, v: int, kind: int) -> Sequence[tuple[int, int]]:
        return self.parents[v][min(kind, len(self.parents[v]) - 1)]

    def _weights(self, t: int, v: int) -> np.ndarray | None:
        """The likelihood of each state of a variable; None if there is no evidence on it."""
        card = self.template.cards[v]
        codes = self.data.codes.get(v)
        if codes is not None and codes[t] >= 0:
            return np.asarray(np.arange(card) == codes[t], float)
        if v in self.data.soft:
            rows, logs = self.data.soft[v]
            at = int(np.searchsorted(rows, t))
            if at < rows.size and rows[at] == t:
                return np.asarray(np.exp(logs[at]))
        return None

    def _state(
        self, t: int, v: int, kind: int, columns: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray | float]:
        cpds = self.cpds[v]
        n = self.shape[0] * self.shape[1]
        given = np.column_stack(columns) if columns else np.empty((n, 0), np.int64)
        p = np.asarray(cpds[min(kind, len(cpds) - 1)].rows(given))
        log: np.ndarray | float = 0.0
        if (weights := self._weights(t, v)) is not None:
            p = p * weights
            total = p.sum(axis=1)
            with np.errstate(divide="ignore"):
                log = np.log(total)
            p = np.where(total[:, None] > 0.0, p, 1.0)
        sums = np.cumsum(p, axis=1)
        u = self.random.random(n) * sums[:, -1]
        return np.minimum((sums <= u[:, None]).sum(axis=1), p.shape[1] - 1), log

    def _value(
        self, t: int, v: int, kind: int, columns: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray | float]:
        part = self.template.parts[v][kind]
        y = float(self.data.values[v][t + self.data.history])
        if isinstance(part, RowNormal):
            places = [self.template.at[u] + back for u, back in self._parents(v, kind)]
            by = dict(zip(places, columns, strict=True))
            n = self.shape[0] * self.shape[1]
            codes, values = (
                np.column_stack([by[p] for p in those.tolist()]) if those.size else np.empty((n, 0))
                for those in (part.discrete, part.continuous)
            )
            return self._drawn(y, *part.moments(codes.astype(np.int64), values))
        assert isinstance(part, GaussianFactor)
        switches = columns[: part.n_switches]
        which = np.zeros(self.shape[0] * self.shape[1], np.int64)
        for column, (u, _) in zip(switches, self._parents(v, kind), strict=False):
            which = which * self.template.cards[u] + column
        if isinstance(part, OwnDensity):
            if math.isnan(y):
                return part.draw(which, self.random)[:, 0], 0.0
            return np.full(which.size, y), part.logs(np.array([[y]]))[0][which]
        mean = part.bias[which]
        for i, column in enumerate(columns[part.n_switches :]):
            mean = mean + part.weights[which, i] * column
        return self._drawn(y, mean, part.sd[which])

    def _drawn(self, y: float, mean: np.ndarray, sd: np.ndarray) -> tuple[np.ndarray, np.ndarray | float]:
        """A value with a normal density: drawn, or as observed with its log density."""
        if math.isnan(y):
            return mean + sd * self.random.standard_normal(mean.size), 0.0
        return np.full(mean.size, y), log_standard_normal((y - mean) / sd) - np.log(sd)

    def resample(self, threshold: float) -> None:
        """Resample systematically the groups whose effective sample size is below the threshold."""
        groups, each = self.shape
        starts = self.random.random(groups)
        weights = np.exp(self.logs)
        few = 1.0 / np.maximum((weights**2).sum(axis=1), 1e-300) < threshold * each
        chosen = np.arange(groups * each).reshape(groups, each)
        for g in np.flatnonzero(few & (self.so_far > -np.inf)).tolist():
            sums = np.cumsum(weights[g])
            places = (np.arange(each) + starts[g]) / each * sums[-1]
            chosen[g] = np.minimum(np.searchsorted(sums, places, side="right"), each - 1) + g * each
            self.logs[g] = -math.log(each)
        flat = chosen.ravel()
        self.past = [past[:, flat] for past in self.past]
