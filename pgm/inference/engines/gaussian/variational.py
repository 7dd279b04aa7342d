"""A lower bound for discrete variables with hidden continuous parents, by normal densities.

For every x the sigmoid of z is at least sigmoid(x) exp((z - x) / 2 - h(x) (z^2 - x^2)), where h(x) is
tanh(x / 2) / (4 x) (Jaakkola & Jordan 2000): as a function of z a normal density times a constant. So a state
acts as one more observed continuous variable, whose mean is z; the model is linear Gaussian again, and all of
exact inference applies. The best x of each state under the resulting posterior of z is its root mean
square, which is expectation maximisation: every iteration raises the bound on log P(given). With more than
two states P(k) is at least the product, over the others j, of the sigmoids of s_k - s_j (Titsias 2016).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from pgm.distributions.normal import log_peak
from pgm.errors import InvalidArgument, listed
from pgm.evidence import Observed
from pgm.factors import Dense, Factor, GaussianFactor
from pgm.inference.engines.by_position import make_posterior, make_sums
from pgm.inference.engines.capabilities import Sums
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.gaussian import Variational, elimination
from pgm.inference.engines.gaussian.answers import gathered
from pgm.inference.engines.gaussian.extended import extended
from pgm.inference.engines.gaussian.hybrid import HybridSums, Solved
from pgm.inference.engines.gaussian.outward import all_weights
from pgm.inference.engines.gaussian.scores import (
    Open,
    Tabulated,
    below,
    refuse_intervals,
    refuse_unknown,
    tabulate,
)
from pgm.inference.engines.gaussian.strong_tree import StrongTreeLayout
from pgm.inference.engines.wide_numbers import Wide, log_of
from pgm.inference.program import compile_program
from pgm.inference.program.continuous import starts
from pgm.results import Density, Distribution, Marginals, Report, merged
from pgm.runtime.clock import Clock
from pgm.runtime.progress import report as report_progress
from pgm.variables import REAL, VariableList

if TYPE_CHECKING:
    from pgm.inference.engines.model_snapshot import ModelSnapshot

_ROUNDING = 1e-13  # of a sum of logarithms, for each of its terms and relative to their size
_SMALL = 1e-4  # below it h(x) is its series
_ADVICE = "normal densities stand for the states; there is no upper bound"


def prepare(
    options: Variational,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> Sums:
    """The model with normal densities in place of relevant states; the exact engine if there are none."""
    found = None if compiled.linked is None else tabulate(compiled, observed, about)
    if found is not None:
        refuse_unknown(found)
    if found is None or not found.open_:
        at = compiled if found is None else found.compiled
        return make_posterior(at, observed, clock, fit=fit)
    refuse_intervals(observed, compiled, options.name)
    others = [compiled.names[one.score.child] for one in found.open_ if not one.score.linear]
    if others:
        raise InvalidArgument(
            'engine="variational" takes log odds that are linear in hidden variables, and those of '
            f'{listed(others)} are not: engine="quadrature" sums over up to two such variables.'
        )
    if fit and any(not one.informed for one in found.open_):
        return _OneByOne(compiled, observed, about, clock, options)
    return _bounded(options, found, observed, clock, fit=fit)


def _bounded(
    options: Variational, tabulated: Tabulated, observed: Observed, clock: Clock, *, fit: bool = True
) -> HybridSums:
    """The model with normal densities in place of all relevant states."""
    sigmoids, run, known = _extend(tabulated.compiled, tabulated.open_, observed)
    posterior = make_sums(Posterior, run, known, clock, options.name, fit=fit)
    assert isinstance(posterior, HybridSums)
    if not fit:
        return replace(posterior, measured=Report(options.name, exact=False, given=observed.given))
    return _climbed(posterior, sigmoids, observed, options)


@dataclass(frozen=True, eq=False, slots=True)
class _OneByOne:
    """For models in which some children of continuous variables have no evidence: marginals one by one.

    A bound in place of such a child would inform its continuous parents, although without evidence it says
    nothing about them. So everything that does not depend on it is answered without it.
    """

    compiled: ModelSnapshot
    observed: Observed
    about: Sequence[str] | None
    clock: Clock
    options: Variational
    used: list[Sums] = field(default_factory=list)  # the engines that answered

    @property
    def report(self) -> Report:
        """How the answers asked for so far were made."""
        reports = [one.report for one in self.used]
        return merged(reports).changed(log_bounds=reports[0].log_bounds)

    @property
    def doubtful(self) -> bool:
        """Whether some of them have not converged."""
        return any(one.doubtful for one in self.used)

    def _on(self, about: Sequence[str] | None) -> Sums:
        """The posterior for a question about these variables."""
        found = tabulate(self.compiled, self.observed, about)
        if not found.open_:
            self.used.append(make_posterior(found.compiled, self.observed, self.clock))
        else:
            self.used.append(_bounded(self.options, found, self.observed, self.clock))
        return self.used[-1]

    def total(self) -> Wide:
        """The sum of the product of all factors with the evidence."""
        return self._on(self.about).total()

    def distribution(self, variables: VariableList, targets: Sequence[int]) -> Distribution | Density:
        """P(targets | evidence)."""
        return self._on(self.about).distribution(variables, targets)

    def every_marginal(self, variables: VariableList, targets: Sequence[int] | None) -> Marginals:
        """P(variable | evidence) of each; those that depend on children without evidence one at a time."""
        assert self.compiled.linked is not None
        position, hard = self.compiled.position, self.observed.hard
        alone = set(below(self.compiled.linked, [position[name] for name in self.observed.given]))
        open_ = [
            v
            for v in (range(len(variables)) if targets is None else targets)
            if variables.names[v] not in hard
        ]
        if alone.isdisjoint(open_):
            return self._on(self.about).every_marginal(variables, targets)
        most = [v for v in open_ if v not in alone]
        each: dict[str, Distribution | Density] = {}
        if most:
            together = self._on([variables.names[v] for v in most])
            each.update(together.every_marginal(variables, most))
        for v in open_:
            if v in alone:
                name = variables.names[v]
                each[name] = self._on([name]).distribution(variables, [v])
        return gathered(variables, each, self.report)


@dataclass(frozen=True, eq=False, slots=True)
class _Sigmoids:
    """The continuous variables in place of states, the last of the model; rows of their densities, flat."""

    z: np.ndarray  # the known part of the mean of each row
    scopes: list[list[int]]  # of each discrete child: its discrete parents and itself
    shapes: list[tuple[int, ...]]
    places: list[int]  # the index of its factor
    row_at: np.ndarray  # where the rows of each child begin


def _extend(
    compiled: ModelSnapshot, open_: Sequence[Open], observed: Observed
) -> tuple[_Sigmoids, ModelSnapshot, Observed]:
    """The model with an observed continuous variable for all but one state of each distribution."""
    assert compiled.gaussians is not None
    place = np.cumsum(compiled.gaussians.index_of < 0) - 1
    positions, n = compiled.gaussians.positions, len(compiled.names)
    made: list[GaussianFactor] = []
    z, lengths = [], []
    for one in open_:
        card, k = one.offset.shape[-1], one.hidden.size
        offset = one.offset.reshape(-1, card)
        scope = [*one.score.discrete.tolist(), one.score.child]
        for i in range(card - 1):
            other = np.where(i < np.arange(card), i, i + 1)  # the i-th of the other states
            weights = np.tile((one.weights - one.weights[:, other]).T, (len(offset), 1))
            where = np.array([*scope, *positions[one.hidden].tolist(), n + len(made)], dtype=np.int64)
            z.append((offset - offset[:, other]).ravel())
            rows = z[-1].size
            made.append(
                GaussianFactor(where, len(scope), weights.reshape(rows, k), np.zeros(rows), np.ones(rows))
            )
        lengths.append((card - 1) * offset.size)
    run = extended(compiled, made, [], [REAL] * len(made), compiled.factors)
    zeros = run.names[n:]
    known = replace(
        observed,
        hard=observed.hard | dict.fromkeys(zeros, 0),
        given=observed.given | dict.fromkeys(zeros, 0.0),
    )
    sigmoids = _Sigmoids(
        np.concatenate(z),
        [[*one.score.discrete.tolist(), one.score.child] for one in open_],
        [one.offset.shape for one in open_],
        [int(place[one.score.child]) for one in open_],
        starts(lengths),
    )
    return sigmoids, run, known


def _climbed(
    posterior: HybridSums, sigmoids: _Sigmoids, observed: Observed, options: Variational
) -> HybridSums:
    """Iterate until the tangent points converge: every iteration raises the bound."""
    clock = posterior.clock
    x, bound, converged = np.ones(sigmoids.z.size), -math.inf, False
    gains: list[float] = []
    places: _Places | None = None
    at = _tangent(posterior, sigmoids, x)
    while True:
        clock.check()
        report_progress(float(len(gains)), float(options.max_iter), options.name)
        solved = at.solve()
        new = log_of(solved.discrete.total()) + solved.offset
        gains.append(new - bound)
        bound = new
        if converged or len(gains) > options.max_iter:
            break
        assert solved.made is not None
        if places is None or places.layout is not solved.made.layout:
            places = _find_places(at, solved.made.layout, sigmoids.z)
        better = places.roots(at, solved, x)
        converged = float((np.abs(better - x) / (1.0 + better)).max()) <= options.tol
        x = better
        at = _tangent(posterior, sigmoids, x)
    low = bound + observed.log_weight
    terms = sigmoids.z.size + 10
    low -= _ROUNDING * terms * (1.0 + abs(bound) / terms + float(x.max()))
    advice = _ADVICE if converged else f"parameters still move after {options.max_iter} iterations; {_ADVICE}"
    known = not (solved.repeats or observed.soft)
    report = Report(
        options.name,
        exact=False,
        converged=converged,
        iterations=len(gains) - 1,
        residuals=tuple(gains[1:]),
        log_bounds=(low, math.inf) if known else None,
        advice=advice,
        given=observed.given,
    )
    return replace(at, measured=report)


def _slope(x: np.ndarray) -> np.ndarray:
    """h(x) = tanh(x / 2) / (4 x)."""
    small = x < _SMALL
    safe = np.where(small, 1.0, x)
    return np.where(small, 0.125 - x * x / 96.0, np.tanh(safe / 2.0) / (4.0 * safe))


def _tangent(posterior: HybridSums, sigmoids: _Sigmoids, x: np.ndarray) -> HybridSums:
    """The model in which normal densities touch the sigmoids at z = x and z = -x.

    exp(z / 2 - h z^2) is a normal density of mean 1 / (4 h) and variance 1 / (2 h), up to a constant.
    """
    h = _slope(x)
    sd = np.sqrt(0.5 / h)
    logs = -np.log1p(np.exp(-x)) - 0.5 * x + h * x * x + 0.0625 / h - log_peak(1, 2.0 * np.log(sd))
    factors: list[Factor] = list(posterior.factors)
    for i, (scope, shape) in enumerate(zip(sigmoids.scopes, sigmoids.shapes, strict=True)):
        part = logs[sigmoids.row_at[i] : sigmoids.row_at[i + 1]].reshape(shape[-1] - 1, *shape)
        table = np.exp(part.sum(axis=0))  # each term is between 1 and 1 + log(x)
        factors[sigmoids.places[i]] = Dense(np.array([scope], dtype=np.int64), table)
    g = posterior.gaussians
    first = g.arrays.sd.size - x.size
    arrays = g.arrays._replace(
        bias=np.concatenate([g.arrays.bias[:first], sigmoids.z - 0.25 / h]),
        sd=np.concatenate([g.arrays.sd[:first], sd]),
    )
    cards = posterior.program.arrays.cards[: posterior.program.n_named].tolist()
    program = compile_program(cards, factors)
    return replace(
        posterior,
        plain=replace(posterior.plain, program=program),
        program=program,
        factors=factors,
        gaussians=replace(g, arrays=arrays),
        solved={},
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Places:
    """Where to find the moments of each z, for each configuration of the clique that has its density."""

    layout: StrongTreeLayout
    cliques: np.ndarray  # all cliques, parents first
    row: np.ndarray  # the row that each configuration selects
    weight_at: np.ndarray
    z: np.ndarray
    mean_of: np.ndarray  # for each term of a mean: its configuration, then its place and weight
    mean_at: np.ndarray
    mean_weight: np.ndarray
    cov_of: np.ndarray  # the same for a variance
    cov_at: np.ndarray
    cov_weight: np.ndarray

    def roots(self, at: HybridSums, solved: Solved, x: np.ndarray) -> np.ndarray:
        """The root mean square of z in each row; impossible rows keep their x."""
        assert solved.made is not None
        weights = all_weights(at, solved, self.layout, solved.discrete.marginals())
        found = elimination.moments(solved.made, self.cliques, weights, at.clock)
        size = self.row.size
        mean = self.z + np.bincount(self.mean_of, self.mean_weight * found.mean[self.mean_at], size)
        variance = np.bincount(self.cov_of, self.cov_weight * found.cov[self.cov_at], size)
        w = found.weight[self.weight_at]
        total = np.bincount(self.row, w, x.size)
        square = np.bincount(self.row, w * (mean**2 + np.maximum(variance, 0.0)), x.size)
        possible = total > 0.0
        return np.where(possible, np.sqrt(square / np.where(possible, total, 1.0)), x)


def _find_places(at: HybridSums, layout: StrongTreeLayout, z: np.ndarray) -> _Places:
    """Find the moments of each z in the arrays of a layout."""
    t, d, cards = layout.tree, at.gaussians.arrays, layout.cards
    first = d.row_at[-1] - z.size  # of the rows of the variables in place of states
    begin = int(np.searchsorted(d.row_at, first))
    home = np.repeat(np.arange(t.parent.size), np.diff(t.density_at))
    row: list[int] = []
    weight_at, base = [], []
    means: list[tuple[int, int, float]] = []
    covs: list[tuple[int, int, float]] = []
    for x, c in zip(t.densities.tolist(), home.tolist(), strict=True):
        if x < begin:
            continue
        at.clock.check()
        axes = t.axes[t.axis_at[c] : t.axis_at[c + 1]].tolist()
        columns = t.columns[t.column_at[c] : t.column_at[c + 1]].tolist()
        switches = d.switches[d.switch_at[x] : d.switch_at[x + 1]].tolist()
        places = [columns.index(p) for p in d.parents[d.parent_at[x] : d.parent_at[x + 1]].tolist()]
        wide, k = len(columns), len(places)
        for conf, digits in enumerate(np.ndindex(*[int(cards[v]) for v in axes])):
            state = {**at.known.hard, **dict(zip(axes, digits, strict=True))}
            own = 0
            for v in switches:
                own = own * int(cards[v]) + state.get(v, 0)
            w = d.weights[d.weight_at[x] + own * k : d.weight_at[x] + (own + 1) * k].tolist()
            case, m_at, c_at = len(row), int(t.mean_at[c]) + conf * wide, int(t.cov_at[c]) + conf * wide**2
            row.append(int(d.row_at[x] - first) + own)
            weight_at.append(int(t.log_at[c]) + conf)
            base.append(z[row[-1]])
            means += [(case, m_at + i, a) for i, a in zip(places, w, strict=True)]
            covs += [
                (case, c_at + i * wide + j, a * b)
                for i, a in zip(places, w, strict=True)
                for j, b in zip(places, w, strict=True)
            ]

    def columns_of(found: list[tuple[int, int, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        of, where, weight = zip(*found, strict=True) if found else ((), (), ())
        return np.array(of, np.int64), np.array(where, np.int64), np.array(weight, np.float64)

    cliques = np.arange(t.parent.size)[::-1].copy()
    cases = np.array(row, np.int64), np.array(weight_at, np.int64), np.array(base)
    return _Places(layout, cliques, *cases, *columns_of(means), *columns_of(covs))
