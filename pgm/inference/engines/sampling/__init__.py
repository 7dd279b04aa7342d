"""Engines that draw samples: independent ones with weights, or those of Markov chains; one file per subject.

`lookup_arrays` turns a question into arrays, `steps` decides the order in which variables are drawn and from
what, `weighted` and `chains` draw, `answers` turns samples into estimates. The `hybrid_` files do the same
where continuous variables are drawn too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from pgm.errors import InvalidArgument, shown
from pgm.inference.engines.options import Engine, lists_of_names, one_of, seeded, whole

_OTHER_SEEDS = 1 << 40
CHAINS, CALLED_CHAINS = 4, 40  # defaults; the second where estimators are called, for all chains at once


class _Drawing(Engine):
    """An engine whose samples are determined by a seed."""

    __slots__ = ()
    seed: int

    def for_both_sums(self) -> tuple[Engine, Engine]:
        """Draw different samples for the second, so that numerator and denominator err independently."""
        return self, replace(self, seed=self.seed + _OTHER_SEEDS)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejection(_Drawing):
    """Samples drawn from the network, parents first; those that contradict the evidence are rejected.

    For teaching: the rarer the evidence, the more samples are rejected. Without evidence this is ancestral
    sampling. It works only for Bayesian networks. An observed value of a continuous variable has probability
    zero: a sample is kept with a probability proportional to the density there, which must be bounded.

    Args:
        samples: how many cases are drawn.
        seed: of the draws; the same seed gives the same answer, for any number of threads.

    >>> Rejection(samples=1000).samples
    1000
    """

    samples: int = 10_000
    seed: int = 0
    name = "rejection"
    module = f"{__name__}.prepared"
    answers = ("query", "marginals", "probability")
    approximates = True
    takes_scores = True
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        whole(self, "samples", 1)
        seeded(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class LikelihoodWeighting(_Drawing):
    """Samples drawn parents first, each weighted by how well it explains the evidence.

    Good if the evidence is near the roots, or not rare; `"importance"` is for rare evidence. Variables
    without a conditional distribution, as in a Markov network, are drawn from the factors met so far. Hidden
    continuous variables are drawn too, with densities, regressions and classifiers of any kind.

    Args:
        samples: how many cases are drawn.
        seed: of the draws; the same seed gives the same answer, for any number of threads.

    >>> LikelihoodWeighting(samples=1000, seed=1).seed
    1
    """

    samples: int = 10_000
    seed: int = 0
    name = "likelihood-weighting"
    module = f"{__name__}.prepared"
    answers = ("query", "marginals", "probability", "sample")
    approximates = True
    takes_scores = True
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        whole(self, "samples", 1)
        seeded(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Importance(_Drawing):
    """Samples drawn with another engine's messages as a guide, and weighted to correct for its errors.

    For rare evidence, which reaches every sample through the guide. The estimate of P(given) is unbiased
    whatever the guide. If the guide is exact, all weights are equal and the estimate is exact up to rounding:
    so with belief propagation on a tree of pairwise factors, and with mini-buckets if none had to be split.
    Where continuous variables are drawn, the guide is fitted to short Gibbs chains.

    Args:
        samples: how many cases are drawn.
        seed: of the draws; the same seed gives the same answer, for any number of threads.
        guide: "loopy" for belief propagation, quick on large models; "bounds" for mini-buckets, better where
            loops are short and strong.
        guide_iter: the largest number of sweeps over the guide's messages; where it is fitted to Gibbs
            chains, how many sweeps of each are discarded first.

    >>> Importance(samples=1000).guide
    'loopy'
    """

    samples: int = 10_000
    seed: int = 0
    guide: Literal["loopy", "bounds"] = "loopy"
    guide_iter: int = 100
    name = "importance"
    module = f"{__name__}.prepared"
    answers = ("query", "marginals", "probability", "sample")
    approximates = True
    takes_scores = True
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        whole(self, "samples", 1)
        seeded(self)
        whole(self, "guide_iter", 1)
        one_of(self, "guide", ("loopy", "bounds"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Gibbs(_Drawing):
    """Markov chains in which one block of variables after the other is resampled given all others.

    Within a block sampling is exact. A model whose zeros could disconnect the chain is refused, unless every
    state is proven reachable. P(given) is not estimated.

    Continuous variables are drawn one by one: from a normal density where all relations are linear Gaussian,
    otherwise by slice sampling or by a choice among several proposals, which leave the posterior invariant
    too. A linear relation without noise (sd=0) is refused.

    Args:
        samples: how many states are kept, of all chains together.
        burn_in: how many states of each chain are discarded first.
        chains: how many there are; two at least, so that they can be compared. None: 4, or 40 where
            classifiers, regressors or densities are called, which is done for all chains at once.
        blocks: "trees" covers the model with trees, "single" draws each variable on its own; or lists of
            names, with all others on their own.
        seed: of the draws; the same seed gives the same answer, for any number of threads.
        trace: names of variables whose states are kept as `p.report.chains`, {name: (chains, draws)}.

    >>> Gibbs(blocks=[["rain", "wet"]]).blocks
    (('rain', 'wet'),)
    """

    samples: int = 10_000
    burn_in: int = 500
    chains: int | None = None
    blocks: Literal["trees", "single"] | Iterable[Iterable[str]] = "trees"
    seed: int = 0
    trace: Iterable[str] = ()
    name = "gibbs"
    module = f"{__name__}.prepared"
    answers = ("query", "marginals", "sample")
    approximates = True
    takes_scores = True
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        _check_chains(self)
        if self.blocks not in ("trees", "single"):
            if isinstance(self.blocks, str):
                raise InvalidArgument(
                    f'blocks is "trees", "single" or lists of names, not {shown(self.blocks)}.'
                )
            lists_of_names(self, "blocks")


@dataclass(frozen=True, kw_only=True, slots=True)
class SwendsenWang(_Drawing):
    """Markov chains in which clusters of equal neighbours are resampled together (Swendsen & Wang 1987).

    For ferromagnets: factors over two variables that favour equal states, as in Ising and Potts models and
    images, with any factors over one variable. Factors that are not attractive are refused. Mixes fast where
    single variables no longer move, as long as the fields are weak.

    Args:
        samples: how many states are kept, of all chains together.
        burn_in: how many states of each chain are discarded first.
        chains: how many there are; two at least, so that they can be compared.
        seed: of the draws; the same seed gives the same answer, for any number of threads.
        trace: names of variables whose states are kept as `p.report.chains`, {name: (chains, draws)}.

    >>> SwendsenWang(chains=2).burn_in
    100
    """

    samples: int = 10_000
    burn_in: int = 100
    chains: int = 4
    seed: int = 0
    trace: Iterable[str] = ()
    name = "swendsen-wang"
    module = f"{__name__}.prepared"
    answers = ("query", "marginals", "sample")
    approximates = True
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        _check_chains(self)


def count_chains(engine: Gibbs | SwendsenWang) -> int:
    """How many chains run in a model without continuous variables."""
    return CHAINS if engine.chains is None else engine.chains


def _check_chains(engine: Gibbs | SwendsenWang) -> None:
    if engine.chains is not None:
        whole(engine, "chains", 2)
    whole(engine, "samples", 8 * count_chains(engine))
    whole(engine, "burn_in", 0)
    seeded(engine)
    names = engine.trace
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InvalidArgument(f"trace= takes a list of names, not {shown(names)}.")
    object.__setattr__(engine, "trace", tuple(names))


Sampler = Rejection | LikelihoodWeighting | Importance | Gibbs | SwendsenWang
