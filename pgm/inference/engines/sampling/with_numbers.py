"""Likelihood weighting where some variables are numbers: parents first, whatever they follow them by.

Each sample draws what is hidden from its distribution given the parents drawn before, and is weighted by the
probability or density of what is known. So hidden numbers may have densities of their own, follow others by
any regression, and decide states by any classifier, with evidence below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.config import current
from pgm.distributions.normal import log_standard_normal
from pgm.errors import InvalidArgument, TooLarge, listed
from pgm.evidence import Observed
from pgm.factors import Dense
from pgm.inference.engines.exact.posterior import draw_forward
from pgm.inference.engines.gaussian import own_densities
from pgm.inference.engines.gaussian.scores import closure
from pgm.inference.engines.problem import none_possible
from pgm.inference.engines.sampling import LikelihoodWeighting
from pgm.inference.engines.wide_numbers import Wide, times_exp
from pgm.results import Density, Distribution, Marginals, MixedMarginals, Report, Samples, as_density
from pgm.runtime.clock import Clock
from pgm.runtime.progress import report as report_progress
from pgm.variables import Interval, VariableList, as_float, states_array

if TYPE_CHECKING:
    from pgm.inference.engines.model_snapshot import ModelSnapshot

_LEAST_SIZE = 100.0  # effective samples below which an answer counts as not converged


def takes(compiled: ModelSnapshot, about: Sequence[str] | None) -> bool:
    """Whether a question needs numbers to be drawn: some are not linear Gaussian, or are asked about."""
    g = compiled.gaussians
    if g is None:
        return False
    asked = any(compiled.by_name[name].continuous for name in about or ())
    return compiled.linked is not None or bool(g.own) or asked


@dataclass(frozen=True, eq=False, slots=True)
class Drawn:
    """Weighted cases."""

    codes: np.ndarray  # (cases, variables)
    values: np.ndarray  # (cases, continuous variables)
    weights: np.ndarray  # they sum to one
    log_total: float  # of the mean weight
    log_error: float  # its relative standard error

    @property
    def size(self) -> float:
        """How many independent cases would tell as much."""
        return float(1.0 / (self.weights**2).sum())


@dataclass(frozen=True, eq=False, slots=True)
class WeightedNumbers:
    """A model some of whose variables are numbers, and its evidence."""

    compiled: ModelSnapshot
    observed: Observed
    about: Sequence[str] | None  # none: only what is known matters
    options: LikelihoodWeighting
    clock: Clock
    _kept: dict[str, Any] = field(default_factory=dict)

    # --- how it went ---

    @property
    def report(self) -> Report:
        """How the answers asked for so far were made."""
        found: Report = self._kept.get("report") or self._report(self._drawn(), None)
        return found.changed(profile=self.clock.profile, given=self.observed.given)

    @property
    def doubtful(self) -> bool:
        """Whether too few samples count."""
        return not self.report.converged

    def _report(self, drawn: Drawn, error: float | None) -> Report:
        size, n = drawn.size, len(drawn.weights)
        enough = size >= _LEAST_SIZE
        advice = (
            ""
            if enough
            else f"{n:,} samples count like {size:.3g} from the posterior: raise samples= or observe less"
        )
        made = Report(
            self.options.name, exact=False, converged=enough, error=error, advice=advice,
            samples=n, effective_sample_size=size, log_error=drawn.log_error,
        )  # fmt: skip
        self._kept["report"] = made
        return made

    # --- questions ---

    def total(self) -> Wide:
        """The mean weight: an unbiased estimate of P(known)."""
        drawn = self._drawn()
        self._report(drawn, drawn.log_error * math.exp(min(drawn.log_total, 700.0)))
        return times_exp((0.5, 1), drawn.log_total)

    def distribution(self, variables: VariableList, targets: Sequence[int]) -> Distribution | Density:
        """P(targets | known)."""
        index_of = self._gaussians.index_of
        numbers = [v for v in targets if index_of[v] >= 0]
        if numbers and len(numbers) < len(targets):
            raise InvalidArgument(
                "A joint distribution is of states or of numbers, and "
                f"{listed([self.compiled.names[v] for v in targets])} "
                "are of both kinds. Ask for them separately, or draw them together by net.sample."
            )
        asked = tuple([variables[v] for v in targets])
        return self._density(asked, numbers) if numbers else self._states(asked, targets)

    def _states(self, asked: Any, targets: Sequence[int]) -> Distribution:
        drawn, cards = self._drawn(), [v.card for v in asked]
        flat = np.zeros(len(drawn.weights), np.int64)
        for v, card in zip(targets, cards, strict=True):
            flat = flat * card + drawn.codes[:, v]
        size = math.prod(cards)
        p = np.bincount(flat, drawn.weights, size)
        squares = drawn.weights**2
        off = p**2 * squares.sum() + (1.0 - 2.0 * p) * np.bincount(flat, squares, size)
        error = float(np.sqrt(np.maximum(off, 0.0)).max())
        return Distribution(asked, p.reshape(cards), self._report(drawn, error))

    def _density(self, asked: Any, targets: Sequence[int]) -> Density:
        drawn = self._drawn()
        values = drawn.values[:, self._gaussians.index_of[list(targets)]]
        mean = drawn.weights @ values
        off = values - mean
        covariance = (drawn.weights[:, None] * off).T @ off
        error = float(np.sqrt((drawn.weights**2) @ off**2).max())
        report = self._report(drawn, error)
        return as_density(asked, np.ones(1), mean[None], covariance[None], report, "moments")

    def every_marginal(self, variables: VariableList, targets: Sequence[int] | None) -> Marginals:
        """P(variable | known) of each variable that is not observed."""
        hard, index_of = self.observed.hard, self._gaussians.index_of
        left = [
            v for v in (range(len(variables)) if targets is None else targets)
            if self.compiled.names[v] not in hard
        ]  # fmt: skip
        plain = [v for v in left if index_of[v] < 0]
        found = [self._states((variables[v],), [v]) for v in plain]
        flat = np.concatenate([np.empty(0), *(p.values for p in found)])
        begins = np.cumsum([0, *(p.values.size for p in found)])[:-1]
        report = self._report(self._drawn(), max([p.report.error or 0.0 for p in found], default=0.0))
        discrete = Marginals([variables[v] for v in plain], flat, begins, report)
        if len(plain) == len(left):
            return discrete
        made = {variables[v].name: self._density((variables[v],), [v]) for v in left if index_of[v] >= 0}
        return MixedMarginals([variables[v] for v in left], discrete, made.__getitem__, report)

    def samples(self, variables: VariableList, n: int, rng: np.random.Generator) -> Samples:
        """Cases drawn by weight from weighted ones."""
        drawn = self._draw(max(n, self.options.samples), rng, range(len(variables)))
        chosen = rng.choice(len(drawn.weights), n, p=drawn.weights)
        index_of = self._gaussians.index_of
        columns = {
            v.name: states_array(v, drawn.codes[chosen, i])
            if index_of[i] < 0
            else drawn.values[chosen, index_of[i]]
            for i, v in enumerate(variables)
        }
        report = self._report(drawn, None)
        said = "drawn by weight from weighted cases: some may come several times"
        return Samples(columns, report.changed(advice=f"{report.advice}; {said}" if report.advice else said))

    # --- drawing ---

    @property
    def _gaussians(self) -> Any:
        assert self.compiled.gaussians is not None
        return self.compiled.gaussians

    def _drawn(self) -> Drawn:
        if "drawn" not in self._kept:
            names = self.compiled.names if self.about is None else [*self.about, *self.observed.given]
            rng = np.random.default_rng(self.options.seed)
            places = [self.compiled.position[name] for name in names]
            self._kept["drawn"] = self._draw(self.options.samples, rng, places)
        found: Drawn = self._kept["drawn"]
        return found

    def _draw(self, n: int, rng: np.random.Generator, about: Sequence[int]) -> Drawn:
        """Draw these variables and their ancestors."""
        g, program = self._gaussians, self.compiled.program
        size = 8.0 * n * (program.n + 2 * g.n + 2)
        if size > current().memory_limit:
            raise TooLarge(
                f"{n:,} samples of {program.n:,} variables would take {size / 1e9:.3g} GB; draw "
                "fewer, samples=."
            )
        parents = self._parents()
        needed = closure(about, parents)
        order = TopologicalSorter({v: parents[v] for v in sorted(needed)}).static_order()
        run = _Run(self, np.zeros((n, program.n), np.int64), np.zeros((n, g.n)), np.zeros(n), rng)
        for done, v in enumerate(order):
            self.clock.check("drawing samples")
            report_progress(float(done), float(len(needed)), "drawing")
            run.step(v)
        top = float(run.logs.max(initial=-math.inf))
        if top == -math.inf:
            raise none_possible(self.options.name)
        weights = np.exp(run.logs - top)
        mean = float(weights.mean())
        error = float(weights.std() / mean / math.sqrt(n))
        return Drawn(run.codes, run.values, weights / weights.sum(), top + math.log(mean), error)

    def _parents(self) -> list[tuple[int, ...]]:
        """Of every variable, by position."""
        linked, g = self.compiled.linked, self._gaussians
        if linked is not None:
            return list(linked.parents)
        found: list[tuple[int, ...]] = [()] * len(self.compiled.names)
        for part in self.compiled.factors:
            *above, child = (part.scopes[0] if isinstance(part, Dense) else part.scope).tolist()
            found[child] = tuple(above)
        d = g.arrays
        for x, v in enumerate(g.positions.tolist()):
            above = g.positions[d.parents[d.parent_at[x] : d.parent_at[x + 1]]].tolist()
            found[v] = (*own_densities.switches_of(g, x), *above)
        return found


class _Run:
    """Cases as they are drawn, variable by variable."""

    def __init__(
        self,
        at: WeightedNumbers,
        codes: np.ndarray,
        values: np.ndarray,
        logs: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        """Take the arrays to fill, and where the evidence is."""
        self.at, self.codes, self.values, self.logs, self.rng = at, codes, values, logs, rng
        compiled, g = at.compiled, at._gaussians
        linked = compiled.linked
        self.g, self.program = g, compiled.program
        self.scores = {} if linked is None else {score.child: score for score in linked.scores}
        self.curves = {} if linked is None else {curve.child: curve for curve in linked.curves}
        self.factors, self.place = compiled.factors, np.cumsum(g.index_of < 0) - 1
        self.order = self.program.loose[0]
        self.owners = self.program.factor_of[self.order]
        self.hard = {compiled.position[n]: c for n, c in at.observed.hard.items()}
        self.weights = {compiled.position[n]: w for n, w in at.observed.weights.items()}
        self.seen = np.zeros(g.n, bool)
        self.value, self.intervals = np.zeros(g.n), dict[int, Interval]()
        for name, what in at.observed.given.items():
            x = int(g.index_of[compiled.position[name]])
            if x >= 0 and isinstance(what, Interval):
                self.intervals[x] = what
            elif x >= 0:
                self.seen[x], self.value[x] = True, as_float(what)
        torn = own_densities.whole_blocks(g, self.seen)[1]
        if torn:
            raise own_densities.refuse_torn(torn, [compiled.names[v] for v in g.positions.tolist()])
        self.cards = np.asarray(self.program.arrays.cards)
        self.drawn: set[int] = set()

    def step(self, v: int) -> None:
        """Draw a variable in all cases, or weigh them by what is known of it."""
        x = int(self.g.index_of[v])
        if x < 0:
            self._state(v)
            return
        if x in self.g.own:
            self._block(x)
        else:
            mean, sd = self._moments(v, x)
            if self.seen[x]:
                self.values[:, x] = self.value[x]
                self.logs += _log_normal(self.value[x] - mean, sd)
            else:
                self.values[:, x] = mean + sd * self.rng.standard_normal(len(self.logs))
        if x in self.intervals:
            low, high = (float(end) for end in (self.intervals[x].lo, self.intervals[x].hi))
            inside = (self.values[:, x] >= low) & (self.values[:, x] < high)
            self.logs[~inside] = -math.inf

    def _moments(self, v: int, x: int) -> tuple[np.ndarray, np.ndarray]:
        if v in self.curves:
            curve = self.curves[v]
            above = self.values[:, self.g.index_of[curve.continuous]]
            mean, sd = curve.moments(self.codes[:, curve.discrete], above)
            return np.asarray(mean), np.asarray(sd)
        d = self.g.arrays
        row = d.row_at[x] + self._selection(x)
        mean, sd = d.bias[row], d.sd[row]
        parents = d.parents[d.parent_at[x] : d.parent_at[x + 1]]
        if parents.size:
            weights = d.weights[d.weight_at[x] : d.weight_at[x + 1]].reshape(-1, parents.size)
            mean = mean + (weights[row - d.row_at[x]] * self.values[:, parents]).sum(axis=1)
        return mean, sd

    def _selection(self, x: int) -> np.ndarray:
        row = np.zeros(len(self.logs), np.int64)
        for v in own_densities.switches_of(self.g, x):
            row = row * int(self.cards[v]) + self.codes[:, v]
        return row

    def _block(self, x: int) -> None:
        """The numbers of a block are drawn or weighed together, with the first of them."""
        if x in self.drawn:
            return
        columns = own_densities.block_of(self.g, x)
        self.drawn.update(columns)
        own, selection = self.g.own[columns[-1]], self._selection(columns[-1])
        if self.seen[columns].any():
            self.values[:, columns] = self.value[columns]
            self.logs += own.logs(self.value[columns][np.newaxis])[0][selection]
        else:
            self.values[:, columns] = own.draw(selection, self.rng)

    def _state(self, v: int) -> None:
        code = self.hard.get(v)
        score = self.scores.get(v)
        factor = None if score is not None else self.factors[int(self.place[v])]
        if score is not None:
            above = self.values[:, self.g.index_of[score.continuous]]
            codes = self.codes[:, score.discrete]
            if code is None:
                self.codes[:, v] = score.drawn(codes, above, self.rng)
            else:
                self.logs += score.logs(codes, above)[:, code]
        elif code is not None and isinstance(factor, Dense):
            *above, _ = factor.scopes[0].tolist()
            shares = factor.values[(*(self.codes[:, p] for p in above), code)]
            with np.errstate(divide="ignore"):
                self.logs += shares if factor.log else np.log(shares)
        else:
            draw_forward(
                self.program, self.order[self.owners == self.place[v]], self.codes, self.rng, self.at.clock
            )
            if code is not None:  # what a gate gives is drawn, and what differs does not count
                self.logs[self.codes[:, v] != code] = -math.inf
        if code is not None:
            self.codes[:, v] = code
        for weights in self.weights.get(v, ()):
            with np.errstate(divide="ignore"):
                self.logs += np.log(weights)[self.codes[:, v]]


def _log_normal(off: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Log density of what is this far off; without noise it is one value, of probability one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = log_standard_normal(off / sd) - np.log(sd)
    return np.where(sd > 0.0, found, np.where(off == 0.0, 0.0, -math.inf))
