"""Answers from samples of models with continuous variables: weighted samples, or those of Markov chains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pgm.errors import InvalidArgument, listed
from pgm.evidence import Observed
from pgm.inference.engines.problem import none_possible
from pgm.inference.engines.sampling import Gibbs, Importance, LikelihoodWeighting, Rejection
from pgm.inference.engines.sampling.diagnostics import effective_sample_size, r_hat, share_interval
from pgm.inference.engines.sampling.draws import generator
from pgm.inference.engines.sampling.gibbs_blocks import check_names
from pgm.inference.engines.sampling.hybrid_cases import Cases
from pgm.inference.engines.sampling.hybrid_chains import HybridChains
from pgm.inference.engines.sampling.hybrid_guide import Guide
from pgm.inference.engines.sampling.hybrid_model import HybridModel
from pgm.inference.engines.sampling.weighted import nothing_found
from pgm.inference.engines.wide_numbers import Wide, times_exp
from pgm.results import (
    NORMAL_95,
    Density,
    Distribution,
    Intervals,
    Marginals,
    MixedMarginals,
    Report,
    Samples,
    as_density,
)
from pgm.runtime.clock import Clock
from pgm.runtime.room import check_room
from pgm.variables import VariableList, states_array

if TYPE_CHECKING:
    from pgm.inference.engines.model_snapshot import ModelSnapshot

_LEAST_SIZE = 100.0  # effective samples below which an answer counts as not converged
_MOST_R_HAT = 1.05
HybridSampler = Rejection | LikelihoodWeighting | Importance | Gibbs


class Series(NamedTuple):
    """How well means are known: standard errors, effective sample sizes, and R-hat where there are chains."""

    errors: np.ndarray
    sizes: np.ndarray
    hats: np.ndarray | None


@dataclass(frozen=True, eq=False, slots=True)
class Drawn:
    """Sampled cases: independent ones with weights, or those of Markov chains, one chain after the other."""

    codes: np.ndarray  # (cases, variables)
    values: np.ndarray  # (cases, continuous variables)
    weights: np.ndarray  # sum to one
    log_total: float = math.nan  # log of the mean weight
    log_error: float = math.nan  # relative standard error of the mean weight
    chains: int = 0  # 0: independent cases
    tried: int = 0  # cases or sweeps, including those discarded
    asked_for: int = 0  # more than `tried` if the time limit was reached

    @property
    def size(self) -> float:
        """The effective sample size that the weights alone imply, whatever is asked."""
        return float(1.0 / (self.weights**2).sum())

    def measured(self, series: np.ndarray) -> Series:
        """How well the means of these series, (cases, series), are known."""
        if self.chains:
            x = series.reshape(self.chains, -1, series.shape[1]).transpose(2, 0, 1)
            sizes, hats = effective_sample_size(x), r_hat(x)
            sizes = np.where(np.isnan(sizes), float(len(series)), sizes)  # a constant series
            return Series(series.std(axis=0) / np.sqrt(sizes), sizes, hats)
        squares, mean = self.weights**2, self.weights @ series
        errors = np.sqrt(squares @ (series - mean) ** 2)
        return Series(errors, np.full(series.shape[1], self.size), None)


@dataclass(frozen=True, eq=False, slots=True)
class HybridSamples:
    """A model with continuous variables and its evidence, answered from samples."""

    compiled: ModelSnapshot
    observed: Observed
    about: Sequence[str] | None  # None: every variable; empty: only the evidence
    options: HybridSampler
    clock: Clock
    _kept: dict[str, Any] = field(default_factory=dict)

    # --- how it went ---

    @property
    def report(self) -> Report:
        """How the answers asked for so far were made."""
        found: Report = self._kept.get("report") or self._report(self._drawn(), None)
        return found.changed(profile=self.clock.profile)

    @property
    def doubtful(self) -> bool:
        """Whether the effective sample size is too small, or the chains disagree."""
        return not self.report.converged

    def _report(self, drawn: Drawn, series: Series | None, **more: Any) -> Report:
        """A report of what was measured: the worst of each measure over all answers so far."""
        old: Report | None = self._kept.get("report")
        size = drawn.size if not drawn.chains else float(len(drawn.weights))
        hat, error = (1.0 if drawn.chains else None), None
        if series is not None:
            error = float(series.errors.max(initial=0.0))
            size = min(size, float(series.sizes.min(initial=math.inf)))
            hat = None if series.hats is None else float(series.hats.max(initial=1.0))
        if old is not None:
            size = min(size, old.effective_sample_size or size)
            hat = None if hat is None else max(hat, old.r_hat or hat)
        advice = []
        if drawn.tried < drawn.asked_for:
            advice.append(
                f"the time limit was reached after {drawn.tried:,} of {drawn.asked_for:,} samples; allow "
                "more with pgm.set_config(time_limit=...)"
            )
        if size < _LEAST_SIZE:
            remedy = "try more samples= or less evidence"
            if isinstance(self.options, Rejection):
                remedy += ', or engine="likelihood-weighting"'
            elif isinstance(self.options, LikelihoodWeighting):
                remedy += ', or engine="importance" or "gibbs"'
            advice.append(f"{drawn.tried:,} samples are worth only {size:.3g} independent ones; {remedy}")
        if hat is not None and not hat <= _MOST_R_HAT:
            advice.append(
                f"the chains do not agree yet (R-hat {hat:.3g}); try more samples= and burn_in=, or chains="
            )
        made = Report(
            self.options.name, exact=False, converged=not advice, error=error, advice=", and ".join(advice),
            samples=drawn.tried, effective_sample_size=size,
            log_error=None if drawn.chains else drawn.log_error, r_hat=hat,
            chains=self._traces(drawn), given=self.observed.given, **more,
        )  # fmt: skip
        self._kept["report"] = made
        return made

    def _traces(self, drawn: Drawn) -> dict[str, np.ndarray] | None:
        """The sampled states or values of each traced variable: (chains, draws)."""
        if not isinstance(self.options, Gibbs) or not self.options.trace:
            return None
        found = {}
        for name in self.options.trace:
            v = self.compiled.position[name]
            x = int(self._gaussians.index_of[v])
            series = drawn.codes[:, v] if x < 0 else drawn.values[:, x]
            found[name] = series.reshape(drawn.chains, -1)
        return found

    # --- questions ---

    def distribution(self, variables: VariableList, targets: Sequence[int]) -> Distribution | Density:
        """P(targets | evidence)."""
        index_of = self._gaussians.index_of
        continuous = [v for v in targets if index_of[v] >= 0]
        if continuous and len(continuous) < len(targets):
            raise InvalidArgument(
                "A joint distribution is over discrete or over continuous variables, and "
                f"{listed([self.compiled.names[v] for v in targets])} "
                "are of both kinds. Ask for them separately, or draw them together with net.sample."
            )
        asked = tuple([variables[v] for v in targets])
        return self._density(asked, continuous) if continuous else self._states(asked, targets)

    def _states(self, asked: Any, targets: Sequence[int]) -> Distribution:
        drawn, cards = self._drawn(), [v.card for v in asked]
        size = math.prod(cards)
        check_room(
            8.0 * size * (len(drawn.weights) if drawn.chains else 8),
            f"The joint distribution of {len(asked)} variables has {size:,} entries, which takes",
            "Ask for fewer variables at once",
        )
        flat = np.zeros(len(drawn.weights), np.int64)
        for v, card in zip(targets, cards, strict=True):
            flat = flat * card + drawn.codes[:, v]
        p = np.bincount(flat, drawn.weights, size)
        if drawn.chains:
            series = drawn.measured((flat[:, np.newaxis] == np.arange(size)).astype(np.float64))
        else:
            squares = drawn.weights**2
            off = p**2 * squares.sum() + (1.0 - 2.0 * p) * np.bincount(flat, squares, size)
            series = Series(np.sqrt(np.maximum(off, 0.0)), np.full(size, drawn.size), None)
        low, high = share_interval(p, series.sizes)
        errors = (high - low) / (2.0 * NORMAL_95)  # not 0 for states that were never drawn
        shape = tuple(cards)
        hats = None if series.hats is None else series.hats.reshape(shape)
        intervals = Intervals(
            low.reshape(shape), high.reshape(shape), errors.reshape(shape), series.sizes.reshape(shape), hats
        )
        report = self._report(drawn, series._replace(errors=errors), intervals=intervals)
        return Distribution(asked, p.reshape(cards), report)

    def _density(self, asked: Any, targets: Sequence[int]) -> Density:
        drawn = self._drawn()
        values = drawn.values[:, self._gaussians.index_of[list(targets)]]
        mean = drawn.weights @ values
        off = values - mean
        covariance = (drawn.weights[:, None] * off).T @ off
        report = self._report(drawn, drawn.measured(values))
        return as_density(asked, np.ones(1), mean[None], covariance[None], report, "moments")

    def every_marginal(self, variables: VariableList, targets: Sequence[int] | None) -> Marginals:
        """P(variable | evidence) of each variable that is not observed."""
        hard, index_of = self.observed.hard, self._gaussians.index_of
        in_interval = {int(self._gaussians.positions[x]) for x in self._model.intervals}
        left = [
            v for v in (range(len(variables)) if targets is None else targets)
            if self.compiled.names[v] not in hard or v in in_interval
        ]  # fmt: skip
        discrete = [v for v in left if index_of[v] < 0]
        found = [self._states((variables[v],), [v]) for v in discrete]
        densities = {variables[v].name: self._density((variables[v],), [v]) for v in left if index_of[v] >= 0}
        flat = np.concatenate([np.empty(0), *(p.values for p in found)])
        begins = np.cumsum([0, *(p.values.size for p in found)])[:-1]
        report = self._report(self._drawn(), None).changed(
            error=max([p.report.error or 0.0 for p in found], default=0.0),
            intervals=_side_by_side([p.report.intervals for p in found]),
        )
        self._kept["report"] = report
        marginals = Marginals([variables[v] for v in discrete], flat, begins, report)
        if len(discrete) == len(left):
            return marginals
        return MixedMarginals([variables[v] for v in left], marginals, densities.__getitem__, report)

    # --- drawing ---

    @property
    def _gaussians(self) -> Any:
        assert self.compiled.gaussians is not None
        return self.compiled.gaussians

    @property
    def _model(self) -> HybridModel:
        if "model" not in self._kept:
            self._kept["model"] = HybridModel(self.compiled, self.observed, self.clock)
        found: HybridModel = self._kept["model"]
        return found

    def _drawn(self) -> Drawn:
        if "drawn" not in self._kept:
            if isinstance(self.options, Gibbs):
                check_names(self.options, self.compiled.names)
            every = self.about is None
            traced = self.options.trace if isinstance(self.options, Gibbs) else ()
            names = self.compiled.names if every else [*(self.about or ()), *self.observed.given, *traced]
            self._kept["drawn"] = self._draw([self.compiled.position[name] for name in names])
        found: Drawn = self._kept["drawn"]
        return found

    def _draw(self, about: Sequence[int]) -> Drawn:
        """Draw these variables and their ancestors."""
        raise NotImplementedError


class _Summed(HybridSamples):
    """Cases whose mean weight estimates the probability of the evidence."""

    __slots__ = ()

    def total(self) -> Wide:
        """The mean weight: an unbiased estimate of P(evidence)."""
        drawn = self._drawn()
        error = np.array([drawn.log_error * math.exp(min(drawn.log_total, 700.0))])
        self._report(drawn, Series(error, np.array([drawn.size]), None))
        return times_exp((0.5, 1), drawn.log_total)


class _Sampled(HybridSamples):
    """Cases that can be returned as samples."""

    __slots__ = ()

    def samples(self, variables: VariableList, n: int, rng: np.random.Generator) -> Samples:
        """Cases from P(all variables | evidence)."""
        options = replace(self.options, samples=max(n, self.options.samples), seed=int(rng.integers(1 << 62)))
        full = replace(self, options=options, about=None, _kept={})
        drawn = full._drawn()
        if drawn.chains:
            chosen = np.arange(n) * len(drawn.weights) // max(1, n)
            said = "successive cases of a chain are correlated"
        else:
            chosen = generator(options.seed, 1 << 34).choice(len(drawn.weights), n, p=drawn.weights)
            said = "resampled by weight: a case may occur several times"
        index_of = self._gaussians.index_of
        columns = {
            v.name: states_array(v, drawn.codes[chosen, i])
            if index_of[i] < 0
            else drawn.values[chosen, index_of[i]]
            for i, v in enumerate(variables)
        }
        every = np.column_stack([drawn.codes[:, : len(variables)], drawn.values])
        report = full._report(drawn, drawn.measured(every) if drawn.chains else None).changed(error=None)
        self._kept["report"] = report.changed(advice=f"{report.advice}; {said}" if report.advice else said)
        return Samples(columns, self.report)


class WeightedHybrid(_Summed, _Sampled):
    """Independent cases with the weights of likelihood weighting."""

    __slots__ = ()

    def _draw(self, about: Sequence[int]) -> Drawn:
        model, n = self._model, self.options.samples
        cases = Cases(model, n, np.random.default_rng(self.options.seed)).draw(model.needed(about))
        return weighted(cases.codes, cases.values, cases.logs, self.options.name)


class RejectedHybrid(_Summed):
    """Independent cases of equal weight: of rejection sampling."""

    __slots__ = ()

    def _draw(self, about: Sequence[int]) -> Drawn:
        model, options = self._model, self.options
        largest = model.log_bound(options.name)
        if largest == -math.inf:
            raise nothing_found(options.name, options.samples)
        cases = Cases(model, options.samples, np.random.default_rng(options.seed)).draw(model.needed(about))
        kept = generator(options.seed, 1 << 31).random(options.samples) < np.exp(cases.logs - largest)
        n, tried = int(kept.sum()), options.samples
        if n == 0:
            raise nothing_found(options.name, tried)
        return Drawn(
            cases.codes[kept], cases.values[kept], np.full(n, 1.0 / n), math.log(n / tried) + largest,
            math.sqrt((1.0 - n / tried) / n), tried=tried, asked_for=tried,
        )  # fmt: skip


class GuidedHybrid(_Summed, _Sampled):
    """Independent cases with the weights of importance sampling."""

    __slots__ = ()

    def _draw(self, about: Sequence[int]) -> Drawn:
        model, options = self._model, self.options
        assert isinstance(options, Importance)
        guide = Guide(model, options)
        cases = guide.draw(options.samples, generator(options.seed, 1 << 37))
        cases.draw(model.needed(about) | guide.above, guide.above)
        return weighted(cases.codes, cases.values, cases.logs, options.name)


class HybridChainSamples(_Sampled):
    """Cases of Markov chains, by Gibbs sampling."""

    __slots__ = ()

    def _draw(self, about: Sequence[int]) -> Drawn:
        options = self.options
        assert isinstance(options, Gibbs)
        model = self._model
        sampler = HybridChains(model, options)
        codes, values, done = sampler.run(model.needed(about))
        chains, kept = sampler.chains, -(-options.samples // sampler.chains)
        equal = np.full(len(codes), 1.0 / len(codes))
        tried, asked = chains * (done + options.burn_in), chains * (kept + options.burn_in)
        return Drawn(codes, values, equal, chains=chains, tried=tried, asked_for=asked)


def _side_by_side(parts: Sequence[Intervals]) -> Intervals | None:
    """The intervals of several answers one after the other, flat; None if there are no answers."""
    if not parts:
        return None

    def joined(name: str) -> np.ndarray | None:
        arrays = [getattr(part, name) for part in parts]
        return None if arrays[0] is None else np.concatenate([np.ravel(array) for array in arrays])

    low, high, *others = (joined(name) for name in ("low", "high", "errors", "effective_sizes", "r_hat"))
    assert low is not None
    assert high is not None
    return Intervals(low, high, *others)


def weighted(codes: np.ndarray, values: np.ndarray, logs: np.ndarray, engine: str) -> Drawn:
    """Cases with these log weights, normalised; `NoSupportFound` if all weights are zero."""
    n, top = len(logs), float(logs.max(initial=-math.inf))
    if top == -math.inf:
        raise none_possible(engine)
    weights = np.exp(logs - top)
    mean = float(weights.mean())
    error = float(weights.std() / mean / math.sqrt(n))
    return Drawn(codes, values, weights / weights.sum(), top + math.log(mean), error, tried=n, asked_for=n)
