"""Quadrature on a grid, for discrete variables with hidden continuous parents.

Such a variable depends on a few linear combinations of these, its scores. A score gets a grid: an extra
discrete variable, whose states are the points, and an extra continuous one, observed as 0: the score less the
point. The model is then conditional linear Gaussian again, the discrete variable has a table, and all of
exact inference applies. On an even grid such sums over normal densities converge faster than any power of
the spacing (Trefethen & Weideman 2014, The exponentially convergent trapezoidal rule). The same grid shifted
by half a step has an error of the other sign, so the difference of two answers estimates their error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pgm.config import current
from pgm.errors import InvalidArgument, TooLarge, listed
from pgm.evidence import Observed
from pgm.factors import Dense, GaussianFactor
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.capabilities import Sums
from pgm.inference.engines.gaussian import Quadrature
from pgm.inference.engines.gaussian.extended import extended
from pgm.inference.engines.gaussian.hybrid import HybridPosterior
from pgm.inference.engines.gaussian.outward import densities
from pgm.inference.engines.gaussian.scores import Open, Tabulated, refuse_intervals, refuse_unknown, tabulate
from pgm.inference.engines.plan import Plan
from pgm.inference.engines.wide_numbers import Wide
from pgm.results import EXACT, Density, Distribution, Marginals, MixedMarginals, Report
from pgm.runtime.clock import Clock
from pgm.runtime.room import check_room, size_of
from pgm.variables import REAL, VariableList, as_domain

if TYPE_CHECKING:
    from pgm.inference.engines.model_snapshot import ModelSnapshot

_Answer = TypeVar("_Answer")
_MOST_HIDDEN = 2  # hidden parents of a distribution that is not linear in them
_OWN_POINTS = {1: 1024, 2: 128}  # at least, on each of their axes: how steep it is is not known
_OWN_REACH = (
    4.0  # additional standard deviations, where an observed state moves a variable by an unknown amount
)
_REACH = 8.5  # standard deviations to either side of the mean; beyond is 1e-17
# A step, in standard deviations of the narrowest normal and in log odds. Both leave errors of about 1e-12.
_STEP, _ODDS_STEP = 0.8, 0.5
_TIED = 1e-9  # share of its variance that a score keeps given the others: less counts as zero
_CORRELATED = 0.3  # scores with larger correlations are transformed into uncorrelated ones
_MOST_POINTS = 1_000_000
_ROUNDING = 2.0**-52  # no sum is more accurate
_FEW = 3  # scores whose distributions are computed one by one
_FEWEST = 2.0 * _REACH / _STEP  # points on an axis, unless fewer are requested
_MOST_STEPS, _AT_REST = 60, 1e-2  # of the search for a peak


@dataclass(frozen=True, eq=False, slots=True)
class Axes:
    """Linear combinations of hidden variables, each with a grid, and the scores in terms of them."""

    hidden: np.ndarray  # the hidden variables that occur
    weights: np.ndarray  # (axes, hidden)
    shares: list[np.ndarray]  # for each open distribution: (axes, states), 0 for the first state


@dataclass(frozen=True, eq=False, slots=True)
class Grid:
    """Evenly spaced points on each axis."""

    low: np.ndarray
    step: np.ndarray
    count: np.ndarray  # int64


@dataclass(frozen=True, eq=False, slots=True)
class Run:
    """A question to a linear Gaussian model that stands in for the real one."""

    compiled: ModelSnapshot
    observed: Observed
    points: int  # in total


def prepare(
    options: Quadrature,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> Sums:
    """The exact engine if no grid is needed, else two runs of it, on grids that are half a step apart."""
    found = None if compiled.linked is None else tabulate(compiled, observed, about)
    if found is not None:
        refuse_unknown(found)
    if found is None or not found.open_:
        return make_posterior(compiled if found is None else found.compiled, observed, clock, fit=fit)
    refuse_intervals(observed, compiled, options.name)
    names = [compiled.names[one.score.child] for one in found.open_]
    _check_few(compiled, found.open_)
    axes = _independent(found.open_)
    axes, grid = _spread(found, observed, axes, options.points, names, clock)
    runs = [_on_points(found, observed, axes, grid, shift, names) for shift in (0.25, 0.75)]
    return OnGrids(runs, clock, observed.given, fit)


def _check_few(compiled: ModelSnapshot, open_: Sequence[Open]) -> None:
    """Refuse nonlinear distributions of more hidden continuous parents than a grid can cover."""
    assert compiled.gaussians is not None
    for one in open_:
        if not one.score.linear and one.hidden.size > _MOST_HIDDEN:
            hidden = [compiled.names[int(compiled.gaussians.positions[x])] for x in one.hidden]
            raise InvalidArgument(
                f"{compiled.names[one.score.child]!r} depends on {listed(hidden)}, not observed: a grid "
                f"covers at most {_MOST_HIDDEN} such inputs of an estimator. Observe some of them, "
                'or draw: engine="likelihood-weighting".'
            )


def _independent(open_: Sequence[Open]) -> Axes:
    """A minimal basis of sums for all scores: twenty answers that depend on one ability need one grid."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    hidden = np.unique(np.concatenate([one.hidden for one in open_]))
    of = np.repeat(np.arange(len(open_)), [one.hidden.size for one in open_])
    at = np.searchsorted(hidden, np.concatenate([one.hidden for one in open_]))
    size = len(open_) + hidden.size
    links = coo_array((np.ones(of.size), (of, len(open_) + at)), shape=(size, size))
    part = connected_components(links, directed=False)[1][: len(open_)]
    groups = [np.flatnonzero(part == group).tolist() for group in range(int(part.max()) + 1)]
    bases = [_basis([open_[j] for j in group]) for group in groups]
    count = sum(len(basis) for _, basis, _ in bases)
    needed = 8.0 * count * (hidden.size + sum(one.weights.shape[1] for one in open_))
    check_room(
        needed,
        f"{len(open_):,} discrete variables in this question depend on {hidden.size:,} unobserved continuous "
        "ones, and the weights alone take",
        "Ask about fewer variables at once, observe some of the continuous ones",
    )
    weights = np.zeros((count, hidden.size))
    shares = [np.zeros((count, one.weights.shape[1])) for one in open_]
    first = 0
    for group, (some, basis, mine) in zip(groups, bases, strict=True):
        own = slice(first, first + len(basis))
        weights[own, np.searchsorted(hidden, some)] = basis
        for j, share in zip(group, mine, strict=True):
            shares[j][own] = share
        first += len(basis)
    return Axes(hidden, weights, shares)


def _basis(open_: Sequence[Open]) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """For scores that share variables: these, a basis, and each state's score in terms of the basis."""
    hidden = np.unique(np.concatenate([one.hidden for one in open_]))
    basis = np.zeros((0, hidden.size))
    each = []
    for one in open_:
        rows = np.zeros((one.weights.shape[1], hidden.size))
        rows[:, np.searchsorted(hidden, one.hidden)] = (one.weights - one.weights[:, :1]).T
        each.append(rows)
        for row in rows:
            most = np.abs(row).max()
            if most > 0.0 and not _spans(basis, row / most):
                basis = np.vstack([basis, row / most])
    inverse, shares = np.linalg.pinv(basis), []
    for rows in each:
        most = np.abs(rows).max()
        share = (rows / most @ inverse).T
        share[np.abs(share) <= 1e-13] = 0.0
        shares.append(most * share)
    return hidden, basis, shares


def _spans(basis: np.ndarray, row: np.ndarray) -> bool:
    """Whether the basis spans a row."""
    if (row[~basis.any(axis=0)] != 0.0).any():  # it has a variable that occurs in no other
        return False
    left = row - basis.T @ np.linalg.lstsq(basis.T, row, rcond=None)[0]
    return float(np.abs(left).max()) <= 1e-10


# --- where the points are -----------------------------------------------------------------------------------


def _spread(
    found: Tabulated, observed: Observed, axes: Axes, points: int | None, names: Sequence[str], clock: Clock
) -> tuple[Axes, Grid]:
    """A grid for each axis, from the distribution of its sum before the open distributions count."""
    n = len(axes.weights)
    compiled = _with_sums(found.compiled, axes)
    first = len(found.compiled.names)
    posterior = make_posterior(compiled, observed, clock, fit=False)
    assert isinstance(posterior, HybridPosterior)
    low, high, narrow = np.zeros(n), np.zeros(n), np.zeros(n)
    weights, shares = axes.weights.copy(), [part.copy() for part in axes.shares]
    users: list[list[int]] = [[] for _ in range(n)]
    for j, part in enumerate(shares):
        clock.check()
        for i in np.flatnonzero(part.any(axis=1)).tolist():
            users[i].append(j)
    of = _densities(compiled, posterior, first)
    seen = [_seen(one, observed, compiled) for one in found.open_]
    vague = np.array([one.informed and fact is None for one, fact in zip(found.open_, seen, strict=True)])
    for block in _blocks(found, posterior, axes):
        clock.check()
        if math.log(points or _FEWEST) * len(block) > math.log(current().memory_limit / 8.0):
            raise _too_many(len(block), names)
        share, means, covs = of([first + i for i in block])
        if _is_flat(covs):
            raise InvalidArgument(
                f"The scores of {listed(names)} are determined by each other, or by the evidence, without "
                "noise (sd = 0), at least for some states, which no grid can represent. Give the continuous "
                "variables that they depend on a positive sd, or observe them."
            )
        pooled = np.tensordot(share, covs, 1)
        sd = np.sqrt(np.diag(pooled))
        if np.abs(pooled / np.outer(sd, sd) - np.eye(len(block))).max(initial=0.0) > _CORRELATED:
            root = np.linalg.cholesky(pooled)
            back = np.linalg.inv(root)
            means, covs = means @ back.T, back @ covs @ back.T
            weights[block] = back @ weights[block]
            for j in sorted({j for i in block for j in users[i]}):
                shares[j][block] = root.T @ shares[j][block]
        mine = sorted({j for i in block for j in users[i]})
        ranges = np.array([np.ptp(shares[j][block], axis=1) * found.open_[j].score.linear for j in mine])
        own = np.zeros((len(block), 2))  # for each axis: the fewest points, and how far it must reach beyond
        for j in mine:
            one = found.open_[j]
            if not one.score.linear:
                at = shares[j][block].any(axis=1)
                own[at] = np.maximum(own[at], [_OWN_POINTS[one.hidden.size], _OWN_REACH * one.informed])
        informed = np.array([found.open_[j].informed for j in mine])
        curve = (ranges[informed] ** 2).sum(axis=0) / 4.0
        # Observed states make a density narrower, and move it: to its peak, and if it is not known
        # which state it is, or what else is in its score, by at most the largest possible shift.
        facts = [(fact[0], shares[j][block], fact[1]) for j in mine if (fact := seen[j])]
        peaks, slope = _peaks(means, covs, facts)
        sds = np.sqrt(np.einsum("kii->ki", covs))
        moved = (sds * (np.abs(slope) + ranges[vague[mine]].sum(axis=0))).sum(axis=1, keepdims=True)
        reach = sds * (_REACH + own[:, 1] + moved)
        low[block], high[block] = (peaks - reach).min(axis=0), (peaks + reach).max(axis=0)
        precision = np.einsum("kii->ki", np.linalg.inv(covs)) + curve
        steepest = np.maximum(ranges.max(axis=0), 1e-300)
        narrow[block] = np.minimum(_STEP / np.sqrt(precision.max(axis=0)), _ODDS_STEP / steepest)
        narrow[block] = np.minimum(narrow[block], (high[block] - low[block]) / np.maximum(own[:, 0], 1.0))
    wanted = np.ceil((high - low) / narrow) if points is None else np.full(n, float(points))
    if wanted.max() > _MOST_POINTS:
        why = "" if points else ": their precisions differ widely, or a weight is very large"
        raise TooLarge(
            f"The scores of {listed(names)} need a grid of {wanted.max():.2g} points{why}. "
            f"Give engine=pgm.engines.Quadrature(points=...) fewer, at most {_MOST_POINTS:,}."
        )
    return Axes(axes.hidden, weights, shares), Grid(low, (high - low) / wanted, wanted.astype(np.int64))


def _densities(
    compiled: ModelSnapshot, posterior: HybridPosterior, first: int
) -> Callable[[Sequence[int]], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """A function that gives the mixture of normals of some of the sums, from index `first` on."""
    sums = {v: compiled.variables[v] for v in range(first, len(compiled.names))}
    every = None
    if len(sums) > _FEW and posterior.at_once():
        every = densities(posterior, sums, posterior.marginals(), EXACT)

    def of(positions: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if every is not None and len(positions) == 1:
            found = every(sums[positions[0]].name)
            if found.form != "moments":
                return found.components
        found = posterior.density(positions, tuple(sums[v] for v in positions), EXACT)
        posterior.solved.clear()
        return found.components

    return of


def _seen(one: Open, observed: Observed, compiled: ModelSnapshot) -> tuple[np.ndarray, int] | None:
    """The known part of the scores and the observed state; None unless both are known."""
    if not one.score.linear:
        return None
    code = observed.hard.get(compiled.names[one.score.child])
    known = [observed.hard.get(compiled.names[int(v)], slice(None)) for v in one.score.discrete]
    offsets = one.offset[tuple(known)].reshape(-1, one.offset.shape[-1])
    return (offsets[0], code) if code is not None and (offsets == offsets[0]).all() else None


def _peaks(
    means: np.ndarray, covs: np.ndarray, facts: Sequence[tuple[np.ndarray, np.ndarray, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """The maximum of normal densities times the probabilities of observed states, by Newton's method.

    Returns the points, and the gradient of the logarithm there. The logarithm is concave, with at least the
    curvature of the normal, so that the peak is no further than the covariance times the gradient.
    """
    precision = np.linalg.inv(covs)

    def look(at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        off = at - means
        slope = -np.einsum("kij,kj->ki", precision, off)
        value, bend = 0.5 * (off * slope).sum(axis=1), precision.copy()
        for offset, share, code in facts:
            scores = offset + at @ share
            top = scores.max(axis=1, keepdims=True)
            p = np.exp(scores - top)
            total = p.sum(axis=1, keepdims=True)
            p /= total
            value += scores[:, code] - top[:, 0] - np.log(total[:, 0])
            centre = p @ share.T
            slope += share[:, code] - centre
            bend += np.einsum("ia,ka,ja->kij", share, p, share) - centre[:, :, None] * centre[:, None, :]
        return value, slope, bend

    at = means.copy()
    value, slope, bend = look(at)
    for _ in range(_MOST_STEPS if facts else 0):
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        if float((step * slope).sum(axis=1).max()) < _AT_REST:
            break
        length = np.ones((len(at), 1))
        for _ in range(_MOST_STEPS):
            there, new_slope, new_bend = look(at + length * step)
            worse = there < value
            if not worse.any():
                break
            length[worse] /= 2.0
        at, value, slope, bend = at + length * step, there, new_slope, new_bend
    return at, slope


def _is_flat(covs: np.ndarray) -> bool:
    """Whether in one of these normals some sum is constant, or a function of the others."""
    variances = np.einsum("kii->ki", covs)
    if (variances <= 0.0).any():
        return True
    sds = np.sqrt(variances)
    return bool(np.linalg.eigvalsh(covs / (sds[:, :, None] * sds[:, None, :])).min() < _TIED)


def _blocks(found: Tabulated, posterior: HybridPosterior, axes: Axes) -> list[list[int]]:
    """Axes whose sums may be dependent, whatever the states: connected by hidden variables that matter."""
    g = posterior.gaussians
    d, n = g.arrays, len(axes.weights)
    at_ = np.arange(g.n)
    relevant = [x for x in at_.tolist() if int(g.positions[x]) in found.needed or x >= g.n - n]
    above = at_.copy()

    def root(x: int) -> int:
        while above[x] != x:
            above[x] = above[above[x]]
            x = int(above[x])
        return x

    for x in relevant:
        tied = [p for p in d.parents[d.parent_at[x] : d.parent_at[x + 1]].tolist() if not posterior.seen[p]]
        tied += [] if posterior.seen[x] else [x]
        for y in tied[1:]:
            above[root(y)] = root(tied[0])
    groups: dict[int, list[int]] = {}
    for i in range(n):
        groups.setdefault(root(g.n - n + i), []).append(i)
    return list(groups.values())


# --- models that approximate the given one ------------------------------------------------------------------


def _with_sums(compiled: ModelSnapshot, axes: Axes) -> ModelSnapshot:
    """The model with the sums as extra continuous variables, without noise."""
    n, k = len(compiled.names), len(axes.weights)
    sums = [_sum(compiled, axes, i, np.zeros(1), n + i, []) for i in range(k)]
    return extended(compiled, sums, [], [REAL] * k, compiled.factors)


def _on_points(
    found: Tabulated, observed: Observed, axes: Axes, grid: Grid, shift: float, names: Sequence[str]
) -> Run:
    """The model in which each sum is at one of the points of its grid."""
    compiled = found.compiled
    n, k = len(compiled.names), len(axes.weights)
    points = [grid.low[i] + grid.step[i] * (np.arange(grid.count[i]) + shift) for i in range(k)]
    sums = [_sum(compiled, axes, i, points[i], n + k + i, [n + i]) for i in range(k)]
    factors = list(compiled.factors)
    assert compiled.gaussians is not None
    place = np.cumsum(compiled.gaussians.index_of < 0) - 1
    for one, share in zip(found.open_, axes.shares, strict=True):
        used = np.flatnonzero(share.any(axis=1)).tolist()
        size = 24.0 * one.offset.size * math.prod(float(grid.count[i]) for i in used)
        if size > current().memory_limit:
            raise _too_many(len(used), names)
        scores = np.zeros((*[1] * len(used), share.shape[1]))
        for a, i in enumerate(used):
            shape = [1] * (len(used) - 1 - a)
            scores = scores + (points[i][:, None] * share[i]).reshape(-1, *shape, share.shape[1])
        scope = [*one.score.discrete.tolist(), *[n + i for i in used], one.score.child]
        factors[int(place[one.score.child])] = one.table(scores, scope)
    steps = [
        Dense(np.array([[n + i]], dtype=np.int64), np.full(points[i].size, float(grid.step[i])))
        for i in range(k)
    ]
    domains = [*[as_domain(range(p.size)) for p in points], *[REAL] * k]
    made = extended(compiled, sums, steps, domains, factors)
    zeros = dict.fromkeys(made.names[n + k :], 0)
    known = replace(
        observed,
        hard=observed.hard | zeros,
        given=observed.given | {name: 0.0 for name in zeros},
    )
    return Run(made, known, int(grid.count.sum()))


def _too_many(count: int, names: Sequence[str]) -> TooLarge:
    several = f"{count:,} connected sums of hidden variables" if count > 1 else "a sum of hidden variables"
    depend = "depend" if len(names) > 1 else "depends"
    return TooLarge(
        f"{listed(names)} {depend} on {several}: a grid of it takes more than the "
        f"{size_of(current().memory_limit)} allowed. engine=pgm.engines.Quadrature(points=...) takes "
        "coarser ones; or observe some of the continuous variables."
    )


def _sum(
    compiled: ModelSnapshot, axes: Axes, i: int, points: np.ndarray, position: int, switch: list[int]
) -> GaussianFactor:
    """The density of the sum of an axis less each of these points."""
    assert compiled.gaussians is not None
    used = np.flatnonzero(axes.weights[i])
    parents = compiled.gaussians.positions[axes.hidden[used]].tolist()
    return GaussianFactor(
        np.array([*switch, *parents, position], dtype=np.int64),
        len(switch),
        np.tile(axes.weights[i][used], (points.size, 1)),
        -points,
        np.zeros(points.size),
    )


# --- what was measured --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class OnGrids:
    """A model on two grids, ready for questions; the difference of their answers estimates the error."""

    runs: Sequence[Run]
    clock: Clock
    given: Mapping[str, object] | None
    fit: bool
    reports: list[Report] = field(default_factory=list)  # of the answers so far

    @property
    def report(self) -> Report:
        """The count of points, and the distance between the last answer and that on the other grid."""
        return self.reports[-1]

    @property
    def doubtful(self) -> bool:
        """A sum over a grid always ends."""
        return False

    def _both(self, ask: Callable[[HybridPosterior], _Answer]) -> _Answer:
        first, other = (ask(self._on(run)) for run in self.runs)
        error = max(_difference(first, other), _ROUNDING)
        points = self.runs[0].points
        self.reports.append(Report("quadrature", exact=False, error=error, points=points, given=self.given))
        return first

    def _on(self, run: Run) -> HybridPosterior:
        found = make_posterior(run.compiled, run.observed, self.clock, fit=self.fit)
        assert isinstance(found, HybridPosterior)
        return found

    def total(self) -> Wide:
        """The density of the evidence."""
        return self._both(lambda p: p.total())

    def distribution(self, variables: VariableList, targets: Sequence[int]) -> Distribution | Density:
        """P(targets | evidence); means and variances of continuous variables."""
        found: Distribution | Density = _reported(
            self._both(lambda p: p.distribution(variables, targets)), self.report
        )
        return found

    def every_marginal(self, variables: VariableList, targets: Sequence[int] | None) -> Marginals:
        """P(variable | evidence) of each variable that is not observed."""
        found: Marginals = _reported(self._both(lambda p: p.every_marginal(variables, targets)), self.report)
        return found

    def plan(self, question: str, targets: Sequence[int] | None) -> Plan:
        """What one of the two runs costs."""
        return replace(self._on(self.runs[0]).plan(question, targets), engine="quadrature", exact=False)


def _difference(a: Any, b: Any) -> float:
    """The largest difference of probabilities, means and standard deviations; for totals, of their logs."""
    if isinstance(a, Density):
        return float(max(np.abs(a.mean - b.mean).max(), np.abs(a.std - b.std).max()))
    if isinstance(a, Distribution):
        return float(np.abs(a.values - b.values).max())
    if isinstance(a, Marginals):
        return max((_difference(a[name], b[name]) for name in a), default=0.0)
    (x, i), (y, j) = a, b
    difference: float = math.log(x / y) + (i - j) * math.log(2.0)
    return abs(difference)


def _reported(found: Any, report: Report) -> Any:
    if isinstance(found, Density):
        return found.only_moments(report)
    if isinstance(found, MixedMarginals):
        densities = {name: _reported(p, report) for name, p in found.items() if isinstance(p, Density)}
        discrete = _reported(found.discrete, report)
        return MixedMarginals(found.variables, discrete, densities.__getitem__, report)
    return found.with_report(report)
