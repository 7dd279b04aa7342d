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
from .learning import Parameters, Task

if TYPE_CHECKING:
    from .mixture import Mixture

_POWER = -0.6  # of the number of batches; between -1/2 and -1 it converges


@dataclass(frozen=True, eq=False)
class State:
    """Expected sufficient statistics per row, averaged over batches; and the number of batches."""

    batches: int
    rows: float  # of all batches
    counts: np.ndarray  # (components,)
    emission: Any  # its statistics


def begun(task: Task, made: Parameters) -> State:
    """The expected statistics of `fit`: the first batch."""
    return _of(task, made, task.last)


def _of(task: Task, now: Parameters, counted: Any) -> State:
    rows = float(task.heavy.sum())
    found = task.statistics(now.emission, counted)
    return State(1, rows, counted.shares.sum(axis=0) / rows, times(found, 1.0 / rows))


def step(
    model: Mixture,
    read: Sequences,
    labels: Labels,
    weights: Any,
    prior: Any,
    rate: Any,
    random: np.random.Generator,
) -> tuple[Parameters, State]:
    """One batch: expect, average, maximise."""
    if rate is not None and (
        isinstance(rate, bool) or not isinstance(rate, int | float) or not 0.0 < rate <= 1.0
    ):
        raise InvalidArgument(f"rate= is a number above 0, 1 at most, not {shown(rate)}.")
    task = Task(model, read, labels, weights=weights, prior=prior)
    now = task.given(random)
    new = _of(task, now, task.expect(now).statistics)
    old = model._state
    if old is not None:
        many = old.batches + 1
        share = float(many**_POWER if rate is None else rate)
        average = times(old.emission, 1.0 - share) + times(new.emission, share)
        counts = (1.0 - share) * old.counts + share * new.counts
        new = State(many, old.rows + new.rows, counts, average)
    made = normalised((new.rows * new.counts + task.prior_weights)[None], now.weights[None])[0]
    emission = task.fitted(now.emission, times(new.emission, new.rows))
    task.check(emission, f"in batch {new.batches}")
    return Parameters(made, emission), new
