"""Importance sampling where some variables are continuous: a guide fitted to short Gibbs chains.

The guide draws what evidence depends on parents first, states by how often chains had them and numbers by
regression on their parents, with heavier tails. One case in a few is drawn without it, and all are weighed
as draws from the mixture of both: so no weight is far above what it would be without a guide, and the mean
weight is an unbiased estimate of P(known) whatever the guide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from graphlib import TopologicalSorter

import numpy as np

from pgm.errors import InvalidArgument
from pgm.factors import Dense
from pgm.inference.engines.gaussian import own_densities
from pgm.inference.engines.sampling import Gibbs, Importance
from pgm.inference.engines.sampling.hybrid_cases import Cases, truncated
from pgm.inference.engines.sampling.hybrid_chains import HybridChains
from pgm.inference.engines.sampling.hybrid_model import HybridModel

_PLAIN_EVERY = 5  # one case in this many is drawn without the guide
_CHAINS, _KEPT = 20, 1000  # of the pilot
_WIDER = 1.2  # noise of the guide relative to what is left after the regression
_TAILS = 5.0  # degrees of freedom of this noise
_ROWS = 4096  # configurations of parents that have frequencies of their own


@dataclass(frozen=True, eq=False, slots=True)
class _Line:
    """A number by regression on its parents; states of these as indicators."""

    weights: np.ndarray
    sd: float


class Guide:
    """How the variables that evidence depends on are drawn."""

    def __init__(self, model: HybridModel, options: Importance) -> None:
        """Fit it to chains."""
        if options.guide != "loopy":
            raise InvalidArgument(
                f"guide={options.guide!r} is for models of states; where continuous variables are drawn the "
                "guide is fitted to short Gibbs chains: leave it out."
            )
        self.model = model
        self.above = model.needed(sorted(model.known))
        self.order = list(TopologicalSorter({v: model.parents[v] for v in sorted(self.above)}).static_order())
        chains = Gibbs(samples=_KEPT, burn_in=options.guide_iter, chains=_CHAINS, seed=options.seed)
        pilot = HybridChains(model, chains, options.name)
        codes, values, _ = pilot.run(set())
        self.lines: dict[int, _Line] = {}
        self.rows: dict[int, np.ndarray] = {}
        for v in self.order:
            x = int(model.g.index_of[v])
            if x >= 0 and not model.seen[x] and not self._counts(x):
                self.lines[v] = self._line(v, x, codes, values)
            elif x < 0 and v not in model.hard and self._tabular(v):
                self.rows[v] = self._frequencies(v, codes)

    def _counts(self, x: int) -> bool:
        own = self.model.g.own
        return x in own and own[own_densities.block_of(self.model.g, x)[-1]].counts

    def _tabular(self, v: int) -> bool:
        """Whether a state has a probability of its own: what a gate gives is drawn as the gate gives it."""
        model = self.model
        return v in model.scores or isinstance(model.factors[int(model.place[v])], Dense)

    def _inputs(self, v: int, codes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The parents of a number as columns: values, and indicators of states but the first."""
        columns = [np.ones(len(codes))]
        for p in self.model.parents[v]:
            x = int(self.model.g.index_of[p])
            if x >= 0:
                columns.append(values[:, x])
            else:
                columns += [(codes[:, p] == s).astype(np.float64) for s in range(1, int(self.model.cards[p]))]
        return np.column_stack(columns)

    def _line(self, v: int, x: int, codes: np.ndarray, values: np.ndarray) -> _Line:
        inputs, y = self._inputs(v, codes, values), values[:, x]
        weights = np.linalg.lstsq(inputs, y, rcond=1e-8)[0]
        sd = float(np.std(y - inputs @ weights))
        return _Line(weights, _WIDER * sd if sd > 0.0 else 1.0)

    def _above(self, v: int) -> list[int]:
        """The discrete parents whose states have frequencies of their own."""
        model = self.model
        those = [p for p in model.parents[v] if model.g.index_of[p] < 0 and p not in model.hard]
        while math.prod(int(model.cards[p]) for p in those) > _ROWS:
            those.pop()
        return those

    def _frequencies(self, v: int, codes: np.ndarray) -> np.ndarray:
        """How often chains had each state, given the discrete parents; no state is left out."""
        row, n = self._row(v, codes)
        card = int(self.model.cards[v])
        counts = np.bincount(row * card + codes[:, v], minlength=n * card).reshape(n, card) + 0.0
        overall = counts.sum(axis=0) + 1.0
        counts += 4.0 * overall / overall.sum()
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def _row(self, v: int, codes: np.ndarray) -> tuple[np.ndarray, int]:
        row, n = np.zeros(len(codes), np.int64), 1
        for p in self._above(v):
            row, n = row * int(self.model.cards[p]) + codes[:, p], n * int(self.model.cards[p])
        return row, n

    # --- drawing ---

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Weighted cases of the variables that evidence depends on."""
        model = self.model
        plain = Cases(model, -(-n // _PLAIN_EVERY), rng).draw(self.above)
        guided = self._guided(n - len(plain.logs), rng)
        cases = Cases(model, n, rng)
        cases.codes[:] = np.concatenate([plain.codes, guided.codes])
        cases.values[:] = np.concatenate([plain.values, guided.values])
        # What a gate gives is drawn, and what differs from what is known does not count.
        differs = np.concatenate([np.isneginf(plain.logs), np.isneginf(guided.logs)])
        own, guide, within, given = self._logs(cases)
        share = len(plain.logs) / n
        with np.errstate(divide="ignore", invalid="ignore"):
            mixed = np.logaddexp(math.log(share) + own - within, math.log1p(-share) + guide)
            logs = own + given - mixed
        cases.logs[:] = np.where(differs | np.isneginf(own) | np.isnan(logs), -math.inf, logs)
        return cases

    def _guided(self, n: int, rng: np.random.Generator) -> Cases:
        model = self.model
        cases = Cases(model, n, rng)
        for v in self.order:
            model.clock.check("drawing samples")
            x = int(model.g.index_of[v])
            if v in self.lines:
                line = self.lines[v]
                centre = self._inputs(v, cases.codes, cases.values) @ line.weights
                cases.values[:, x] = centre + line.sd * rng.standard_t(_TAILS, n)
            elif v in self.rows:
                shares = self.rows[v][self._row(v, cases.codes)[0]].cumsum(axis=1)
                drawn = (shares <= rng.random((n, 1)) * shares[:, -1:]).sum(axis=1)
                cases.codes[:, v] = drawn.clip(max=shares.shape[1] - 1)
            elif x >= 0 and model.seen[x]:
                cases.values[:, x] = model.value[x]
            elif x < 0 and v in model.hard and self._tabular(v):
                cases.codes[:, v] = model.hard[v]
            else:
                cases.step(v)
        return cases

    def _logs(self, cases: Cases) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of what is drawn its own density and the guide's; of lying within intervals; of what is known."""
        from scipy.stats import t

        model, n = self.model, len(cases.logs)
        own, guide, within, given = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
        for v in self.order:
            x = int(model.g.index_of[v])
            hidden = v in self.lines or v in self.rows
            if hidden or (v in model.hard and x < 0) or (x >= 0 and model.seen[x]):
                found = model.logs(v, cases.codes, cases.values)
                (own if hidden else given)[:] += found
            if v in self.lines:
                line = self.lines[v]
                off = cases.values[:, x] - self._inputs(v, cases.codes, cases.values) @ line.weights
                guide += t.logpdf(off / line.sd, _TAILS) - math.log(line.sd)
            elif v in self.rows:
                row = self._row(v, cases.codes)[0]
                guide += np.log(self.rows[v][row, cases.codes[:, v]])
            if x in model.intervals:
                low, high = model.intervals[x]
                outside = (cases.values[:, x] < low) | (cases.values[:, x] >= high)
                given[outside] = -math.inf
                if x not in model.g.own:
                    mean, sd = model.moments(x, cases.codes, cases.values)
                    within += truncated(mean, sd, low, high, np.full(n, 0.5))[1]
            for weights in model.weights.get(v, ()):
                with np.errstate(divide="ignore"):
                    given += np.log(weights)[cases.codes[:, v]]
        return own, guide, within, given
