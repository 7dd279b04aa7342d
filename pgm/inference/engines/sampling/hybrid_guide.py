"""Importance sampling in models with continuous variables: a guide fitted to short Gibbs chains.

The guide draws the ancestors of the evidence parents first: states by their frequencies in the chains,
continuous variables by regression on their parents, with heavier tails. One case in a few is drawn without
it, and all are weighted as draws from the mixture of both: so no weight is far above what it would be without
a guide, and the mean weight is an unbiased estimate of P(evidence) whatever the guide.
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
_CHAINS, _KEPT = 20, 1000  # of the chains that the guide is fitted to
_WIDER = 1.2  # noise of the guide, relative to the residuals of the regression
_TAILS = 5.0  # degrees of freedom of this noise
_ROWS = 4096  # at most so many configurations of the parents have frequencies of their own


@dataclass(frozen=True, eq=False, slots=True)
class _LinearGuide:
    """Regression of a continuous variable on its parents, discrete ones as indicators of their states."""

    weights: np.ndarray
    sd: float


class Guide:
    """A proposal distribution for the observed variables and their ancestors."""

    def __init__(self, model: HybridModel, options: Importance) -> None:
        """Run the chains and fit the guide to them; `InvalidArgument` if `guide=` asks for another."""
        if options.guide != "loopy":
            raise InvalidArgument(
                f"guide={options.guide!r} is for discrete variables; where continuous ones are drawn too, "
                "the guide is fitted to short Gibbs chains: leave guide= out."
            )
        self.model = model
        self.above = model.needed(sorted(model.known))
        self.order = list(TopologicalSorter({v: model.parents[v] for v in sorted(self.above)}).static_order())
        chains = Gibbs(samples=_KEPT, burn_in=options.guide_iter, chains=_CHAINS, seed=options.seed)
        pilot = HybridChains(model, chains, options.name)
        codes, values, _ = pilot.run(set())
        self.regressions: dict[int, _LinearGuide] = {}
        self.frequencies: dict[int, np.ndarray] = {}
        for v in self.order:
            x = int(model.g.index_of[v])
            if x >= 0 and not model.seen[x] and not self._counts(x):
                self.regressions[v] = self._regression(v, x, codes, values)
            elif x < 0 and v not in model.hard and self._tabular(v):
                self.frequencies[v] = self._frequencies(v, codes)

    def _counts(self, x: int) -> bool:
        """Whether x is a count: its block has a distribution over whole numbers."""
        own = self.model.g.own
        return x in own and own[own_densities.block_of(self.model.g, x)[-1]].counts

    def _tabular(self, v: int) -> bool:
        """Whether the states have a table or a score: a gate is drawn by the model itself."""
        model = self.model
        return v in model.scores or isinstance(model.factors[int(model.place[v])], Dense)

    def _inputs(self, v: int, codes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The parents of v as columns: a constant, values, and indicators of all states but the first."""
        columns = [np.ones(len(codes))]
        for p in self.model.parents[v]:
            x = int(self.model.g.index_of[p])
            if x >= 0:
                columns.append(values[:, x])
            else:
                columns += [(codes[:, p] == s).astype(np.float64) for s in range(1, int(self.model.cards[p]))]
        return np.column_stack(columns)

    def _regression(self, v: int, x: int, codes: np.ndarray, values: np.ndarray) -> _LinearGuide:
        inputs, y = self._inputs(v, codes, values), values[:, x]
        weights = np.linalg.lstsq(inputs, y, rcond=1e-8)[0]
        sd = float(np.std(y - inputs @ weights))
        return _LinearGuide(weights, _WIDER * sd if sd > 0.0 else 1.0)

    def _conditions(self, v: int) -> list[int]:
        """The discrete parents whose states have frequencies of their own."""
        model = self.model
        chosen = [p for p in model.parents[v] if model.g.index_of[p] < 0 and p not in model.hard]
        while math.prod(int(model.cards[p]) for p in chosen) > _ROWS:
            chosen.pop()
        return chosen

    def _frequencies(self, v: int, codes: np.ndarray) -> np.ndarray:
        """The frequency of each state in the chains given the discrete parents, smoothed: none is zero."""
        row, n = self._row(v, codes)
        card = int(self.model.cards[v])
        counts = np.bincount(row * card + codes[:, v], minlength=n * card).reshape(n, card) + 0.0
        overall = counts.sum(axis=0) + 1.0
        counts += 4.0 * overall / overall.sum()
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def _row(self, v: int, codes: np.ndarray) -> tuple[np.ndarray, int]:
        """The row of frequencies that applies in each case, and how many rows there are."""
        row, n = np.zeros(len(codes), np.int64), 1
        for p in self._conditions(v):
            row, n = row * int(self.model.cards[p]) + codes[:, p], n * int(self.model.cards[p])
        return row, n

    # --- drawing ---

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Weighted cases of the observed variables and their ancestors."""
        model = self.model
        plain = Cases(model, -(-n // _PLAIN_EVERY), rng).draw(self.above)
        guided = self._guided(n - len(plain.logs), rng)
        cases = Cases(model, n, rng)
        cases.codes[:] = np.concatenate([plain.codes, guided.codes])
        cases.values[:] = np.concatenate([plain.values, guided.values])
        # Gates are drawn; cases in which they differ from the evidence get weight zero.
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
            if v in self.regressions:
                line = self.regressions[v]
                centre = self._inputs(v, cases.codes, cases.values) @ line.weights
                cases.values[:, x] = centre + line.sd * rng.standard_t(_TAILS, n)
            elif v in self.frequencies:
                shares = self.frequencies[v][self._row(v, cases.codes)[0]].cumsum(axis=1)
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
        """Log densities of each case: by the model, by the guide, of its intervals, and of the evidence."""
        from scipy.stats import t

        model, n = self.model, len(cases.logs)
        own, guide, within, given = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
        for v in self.order:
            x = int(model.g.index_of[v])
            hidden = v in self.regressions or v in self.frequencies
            if hidden or (v in model.hard and x < 0) or (x >= 0 and model.seen[x]):
                found = model.logs(v, cases.codes, cases.values)
                (own if hidden else given)[:] += found
            if v in self.regressions:
                line = self.regressions[v]
                off = cases.values[:, x] - self._inputs(v, cases.codes, cases.values) @ line.weights
                guide += t.logpdf(off / line.sd, _TAILS) - math.log(line.sd)
            elif v in self.frequencies:
                row = self._row(v, cases.codes)[0]
                guide += np.log(self.frequencies[v][row, cases.codes[:, v]])
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
