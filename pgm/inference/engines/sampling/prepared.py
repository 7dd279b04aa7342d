"""Samplers as engines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pgm.evidence import Observed
from pgm.inference.engines.exact.posterior import exactly
from pgm.inference.engines.gaussian.scores import tabulate
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.naming import NamedDraws
from pgm.inference.engines.options import Engine
from pgm.inference.engines.problem import Problem, Solution
from pgm.inference.engines.reduced import ReducedShares, ReducedSums, reduced
from pgm.inference.engines.sampling import (
    Gibbs,
    Importance,
    LikelihoodWeighting,
    Rejection,
    Sampler,
    SwendsenWang,
    answers,
)
from pgm.inference.engines.sampling.hybrid_answers import (
    GuidedHybrid,
    HybridChainSamples,
    HybridSamples,
    RejectedHybrid,
    WeightedHybrid,
)
from pgm.runtime.clock import Clock
from pgm.variables import Interval


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class SamplerShares(ReducedShares):
    """A model with evidence, whose questions are answered from samples."""

    def run(self, problem: Problem) -> Solution:
        """Answer a reduced question from samples."""
        return answers.solve(problem, self.options, self.clock)


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class ChainAnswers(SamplerShares, NamedDraws):
    """Answers from samples that can also be returned themselves."""

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Approximate samples from the posterior: (n, variables)."""
        self.only_states(None)
        case = self.case([], only_wanted=False)
        seed = int(rng.integers(1 << 62))
        drawn, report = answers.sample(self.problem(case, {}), self.options, self.clock, n, seed)
        self.reports.append(report)
        return exactly(self).all_states(case, drawn, rng)


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class RejectionSums(SamplerShares, ReducedSums):
    """Samples whose acceptance rate estimates the probability of the evidence; they are not returned."""


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class WeightedAnswers(ChainAnswers, ReducedSums):
    """Samples whose weights estimate the probability of the evidence."""


_KINDS: dict[type[Sampler], type[SamplerShares]] = {
    Rejection: RejectionSums,
    LikelihoodWeighting: WeightedAnswers,
    Importance: WeightedAnswers,
    Gibbs: ChainAnswers,
    SwendsenWang: ChainAnswers,
}


_HYBRID_KINDS: dict[type[Engine], type[HybridSamples]] = {
    Rejection: RejectedHybrid,
    LikelihoodWeighting: WeightedHybrid,
    Importance: GuidedHybrid,
    Gibbs: HybridChainSamples,
}


def prepare(
    options: Sampler,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> SamplerShares | HybridSamples:
    """Prepare a sampler for a model, its evidence, and questions about some variables (None: about any)."""
    kind = _HYBRID_KINDS.get(type(options))
    if kind is not None and not isinstance(options, SwendsenWang) and compiled.gaussians is not None:
        compiled, draws = _with_links_tabulated(compiled, observed, about)
        # Summed out, continuous evidence is a factor over its discrete ancestors, with no child to draw.
        draws |= isinstance(options, Rejection) and _any_continuous(compiled, observed.given)
        if draws:
            return kind(compiled, observed, about, options, clock)
    return reduced(_KINDS[type(options)], options, compiled, observed, clock)


def _any_continuous(compiled: ModelSnapshot, names: Iterable[str]) -> bool:
    return any(compiled.by_name[name].continuous for name in names)


def _with_links_tabulated(
    compiled: ModelSnapshot, observed: Observed, about: Sequence[str] | None
) -> tuple[ModelSnapshot, bool]:
    """Replace links to continuous variables by tables if these are all observed.

    Returns the model, and whether continuous variables are left to be drawn.
    """
    gaussians = compiled.gaussians
    assert gaussians is not None
    to_draw = _any_continuous(compiled, compiled.names if about is None else about)
    to_draw &= about is not None or any(
        compiled.by_name[name].continuous
        and (name not in observed.hard or isinstance(observed.given[name], Interval))
        for name in compiled.names
    )
    if gaussians.own or to_draw or compiled.linked is None:
        return compiled, bool(gaussians.own) or to_draw
    found = tabulate(compiled, observed, about)
    if found.open_ or found.unknown:
        return compiled, True
    return found.compiled, False
