"""Online learning of mixtures: stepwise EM (Cappé & Moulines 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.distributions.pseudo_counts import times
from pgm.errors import InvalidArgument, shown
from pgm.frames import Sequences
from pgm.models.dynamic.checks import normalised

from .labels import Labels
from .learning import MixtureLearning, Parameters

if TYPE_CHECKING:
    from .mixture import Mixture

_POWER = -0.6  # of the number of batches; between -1/2 and -1 it converges


@dataclass(frozen=True, eq=False)
class OnlineStatistics:
    """Expected sufficient statistics per row, averaged over batches; and the number of batches."""

    batches: int
    rows: float  # of all batches
    counts: np.ndarray  # (components,)
    emission: Any  # its statistics


def begun(fitting: MixtureLearning, made: Parameters) -> OnlineStatistics:
    """The expected statistics of `fit`: the first batch."""
    return _of(fitting, made, fitting.last)


def _of(fitting: MixtureLearning, now: Parameters, counted: Any) -> OnlineStatistics:
    rows = float(fitting.heavy.sum())
    found = fitting.statistics(now.emission, counted)
    return OnlineStatistics(1, rows, counted.shares.sum(axis=0) / rows, times(found, 1.0 / rows))


def step(
    model: Mixture,
    read: Sequences,
    labels: Labels,
    weights: Any,
    prior: Any,
    rate: Any,
    random: np.random.Generator,
) -> tuple[Parameters, OnlineStatistics]:
    """One batch: expect, average, maximise."""
    if rate is not None and (
        isinstance(rate, bool) or not isinstance(rate, int | float) or not 0.0 < rate <= 1.0
    ):
        raise InvalidArgument(f"rate= is a number above 0, 1 at most, not {shown(rate)}.")
    fitting = MixtureLearning(model, read, labels, weights=weights, prior=prior)
    now = fitting.given(random)
    new = _of(fitting, now, fitting.expect(now).statistics)
    old = model._state
    if old is not None:
        many = old.batches + 1
        share = float(many**_POWER if rate is None else rate)
        average = times(old.emission, 1.0 - share) + times(new.emission, share)
        counts = (1.0 - share) * old.counts + share * new.counts
        new = OnlineStatistics(many, old.rows + new.rows, counts, average)
    made = normalised((new.rows * new.counts + fitting.prior_weights)[None], now.weights[None])[0]
    emission = fitting.fitted(now.emission, times(new.emission, new.rows))
    fitting.check(emission, f"in batch {new.batches}")
    return Parameters(made, emission), new
