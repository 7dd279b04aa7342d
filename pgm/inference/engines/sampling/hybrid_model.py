"""A model with continuous variables and its evidence, as samplers see it.

Every distribution is evaluated in many cases at once: in arrays of codes, with a column for each variable of
the program, and of values, with a column for each continuous variable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pgm.distributions.normal import LOG_2PI, log_standard_normal
from pgm.errors import InvalidArgument
from pgm.evidence import Observed
from pgm.factors import Dense
from pgm.inference.engines.exact.posterior import draw_forward
from pgm.inference.engines.gaussian import own_densities
from pgm.inference.engines.gaussian.scores import closure
from pgm.runtime.clock import Clock
from pgm.variables import Interval, as_float

if TYPE_CHECKING:
    from pgm.inference.engines.model_snapshot import ModelSnapshot


class HybridModel:
    """The distributions of a model, by the position of their child, and the evidence.

    Continuous variables have an index of their own beside their position: `x` is an index, `v` a position.
    """

    def __init__(self, compiled: ModelSnapshot, observed: Observed, clock: Clock) -> None:
        """Find every variable's distribution and evidence."""
        assert compiled.gaussians is not None
        self.compiled, self.observed, self.clock, self.names = compiled, observed, clock, compiled.names
        self.g = g = compiled.gaussians
        self.program = compiled.program
        linked = compiled.linked
        self.scores = {} if linked is None else {score.child: score for score in linked.scores}
        self.curves = {} if linked is None else {curve.child: curve for curve in linked.curves}
        self.factors, self.place = compiled.factors, np.cumsum(g.index_of < 0) - 1
        self.order = self.program.loose[0]
        self.owners = self.program.factor_of[self.order]
        self.cards = np.asarray(self.program.arrays.cards)
        self.hard = {compiled.position[n]: c for n, c in observed.hard.items()}
        self.weights = {compiled.position[n]: w for n, w in observed.weights.items()}
        self.seen = np.zeros(g.n, bool)
        self.value, self.intervals = np.zeros(g.n), dict[int, tuple[float, float]]()
        for name, what in observed.given.items():
            x = int(g.index_of[compiled.position[name]])
            if x >= 0 and isinstance(what, Interval):
                self.intervals[x] = float(what.lo), float(what.hi)
            elif x >= 0:
                self.seen[x], self.value[x] = True, as_float(what)
        torn = own_densities.whole_blocks(g, self.seen)[1]
        if torn:
            raise own_densities.refuse_torn(torn, [compiled.names[v] for v in g.positions.tolist()])
        self.parents = self._parents()

    def _parents(self) -> list[tuple[int, ...]]:
        """The parents of every variable, by position."""
        linked, g = self.compiled.linked, self.g
        if linked is not None:
            return list(linked.parents)
        found: list[tuple[int, ...]] = [()] * len(self.names)
        for part in self.compiled.factors:
            *above, child = (part.scopes[0] if isinstance(part, Dense) else part.scope).tolist()
            found[child] = tuple(above)
        for x, v in enumerate(g.positions.tolist()):
            found[v] = (*own_densities.switches_of(g, x), *g.positions[self.linear_parents(x)].tolist())
        return found

    def needed(self, about: Sequence[int]) -> set[int]:
        """These variables and their ancestors; for a variable with a joint density, of its whole block."""
        found = closure(about, self.parents)
        for x in [int(self.g.index_of[v]) for v in found]:
            if x in self.g.own:
                found |= closure(self.g.positions[own_densities.block_of(self.g, x)].tolist(), self.parents)
        return found

    @property
    def known(self) -> set[int]:
        """The positions of all variables with evidence."""
        return {self.compiled.position[name] for name in self.observed.given}

    def linear_parents(self, x: int) -> np.ndarray:
        """The indices of the continuous parents of a linear Gaussian, or of those before x in its block."""
        d = self.g.arrays
        return np.asarray(d.parents[d.parent_at[x] : d.parent_at[x + 1]])

    # --- distributions of continuous variables ---

    def selection(self, x: int, codes: np.ndarray) -> np.ndarray:
        """The index of the density that the discrete parents of x select in each case."""
        row = np.zeros(len(codes), np.int64)
        for v in own_densities.switches_of(self.g, x):
            row = row * int(self.cards[v]) + codes[:, v]
        return row

    def moments(self, x: int, codes: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The mean and standard deviation of a variable with a normal density, in each case."""
        v = int(self.g.positions[x])
        if v in self.curves:
            curve = self.curves[v]
            mean, sd = curve.moments(codes[:, curve.discrete], values[:, self.g.index_of[curve.continuous]])
            return np.asarray(mean), np.asarray(sd)
        d = self.g.arrays
        row = d.row_at[x] + self.selection(x, codes)
        mean, sd = d.bias[row], d.sd[row]
        parents = self.linear_parents(x)
        if parents.size:
            weights = d.weights[d.weight_at[x] : d.weight_at[x + 1]].reshape(-1, parents.size)
            mean = mean + (weights[row - d.row_at[x]] * values[:, parents]).sum(axis=1)
        return mean, sd

    def density_logs(self, x: int, codes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The log density of x at its value in each case; that of a block counts for its last variable."""
        if x not in self.g.own:
            mean, sd = self.moments(x, codes, values)
            return log_normal_or_constant(values[:, x] - mean, sd)
        own = self.g.own[x]
        if not own.whole:
            return np.zeros(len(codes))
        logs = own.logs(values[:, own_densities.columns_of(self.g, x)])
        return np.asarray(logs[np.arange(len(codes)), self.selection(x, codes)])

    def log_bound(self, engine: str) -> float:
        """An upper bound of the log weight of any case, for rejection sampling."""
        weights = [float(w.max()) for given in self.weights.values() for w in given]
        found = math.fsum(math.log(w) if w > 0.0 else -math.inf for w in weights)
        for x in np.flatnonzero(self.seen).tolist():
            peak = self._log_peak(x)
            if peak == math.inf:
                raise InvalidArgument(
                    f'engine="{engine}": {self.names[self.g.positions[x]]!r} is observed, and its density '
                    "has no known upper bound: its regressor returns a standard deviation for each row. "
                    'Give it sd=, or use engine="likelihood-weighting".'
                )
            found += peak
        return found

    def _log_peak(self, x: int) -> float:
        """The largest log density that a continuous variable can have where it is observed."""
        if x in self.g.own:
            own = self.g.own[x]
            columns = own_densities.columns_of(self.g, x)
            return float(own.logs(self.value[columns][np.newaxis]).max()) if own.whole else 0.0
        curve = self.curves.get(int(self.g.positions[x]))
        if curve is not None:
            return math.inf if curve.sd is None else float(-math.log(curve.sd) - 0.5 * LOG_2PI)
        sd = self.g.arrays.sd[self.g.arrays.row_at[x] : self.g.arrays.row_at[x + 1]]
        with np.errstate(divide="ignore"):
            return float(np.where(sd > 0.0, -np.log(sd) - 0.5 * LOG_2PI, 0.0).max())

    # --- distributions of states ---

    def state_logs(self, v: int, codes: np.ndarray, values: np.ndarray) -> np.ndarray | None:
        """The log probability of the state in each case; None for a gate, where it is a sum."""
        score = self.scores.get(v)
        if score is not None:
            logs = score.logs(codes[:, score.discrete], values[:, self.g.index_of[score.continuous]])
            return np.asarray(logs[np.arange(len(codes)), codes[:, v]])
        factor = self.factors[int(self.place[v])]
        if not isinstance(factor, Dense):
            return None
        shares = factor.values[tuple(codes[:, p] for p in factor.scopes[0].tolist())]
        if factor.log:
            return np.asarray(shares)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(shares))

    def logs(self, v: int, codes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The log probability or density of a variable given its parents in each case; 0 for a gate."""
        x = int(self.g.index_of[v])
        if x >= 0:
            return self.density_logs(x, codes, values)
        found = self.state_logs(v, codes, values)
        return np.zeros(len(codes)) if found is None else found

    def draw_state(self, v: int, codes: np.ndarray, rng: np.random.Generator) -> None:
        """Draw a state in each case from tables, with the auxiliary variables of its gate."""
        variables = self.order[self.owners == self.place[v]]
        draw_forward(self.program, variables, codes, rng, self.clock)


def log_normal_or_constant(off: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """The normal log density this far off the mean; without noise the mean has probability one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = log_standard_normal(off / sd) - np.log(sd)
    return np.where(sd > 0.0, found, np.where(off == 0.0, 0.0, -math.inf))
