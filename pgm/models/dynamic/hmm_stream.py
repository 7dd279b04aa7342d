"""A hidden Markov model that takes observations as they come."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guard_methods
from pgm.errors import ImpossibleEvidence, InvalidArgument
from pgm.frames import has_parts
from pgm.inference.engines import chain as engine
from pgm.printing import html_text
from pgm.results import Distribution, SequenceForecast, StateBeliefs
from pgm.results.steps import CHAIN
from pgm.runtime.clock import start_clock

from .checks import steps_ahead

if TYPE_CHECKING:
    from .hmm import HMM


class HMMStream:
    """An online filter: `push` takes the next observation, `forecast` looks ahead.

    Results equal those of `filter` on all steps; memory does not grow. A stream can be copied and pickled.

    >>> import pgm
    >>> coin = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
    >>> stream = coin.stream()
    >>> stream.push(0).values.round(6).tolist(), stream.push([0, 1]).values.round(6).tolist()
    ([[0.357143, 0.642857]], [[0.258621, 0.741379], [0.688854, 0.311146]])
    >>> round(stream.log_likelihood, 6), stream.forecast(1).observations.round(6).tolist()
    (-2.151754, [[0.639567, 0.360433]])
    """

    def __init__(self, model: HMM) -> None:
        """Start before the first observation."""
        self._model = model.copy()
        self._chain = model._chain()
        self._carried: engine.Carried | None = None
        self._belief = self._chain.start
        self._steps = 0
        self._log = 0.0

    @property
    def state(self) -> Distribution:
        """The distribution of the latest state given all observations; before any, that of the first."""
        return Distribution((self._model.variable,), self._belief, CHAIN)

    @property
    def log_likelihood(self) -> float:
        """The log probability, or density, of all observations so far."""
        return self._log

    def __len__(self) -> int:
        """The number of steps so far."""
        return self._steps

    def push(self, data: Any) -> StateBeliefs:
        """Take the next observation, or several; returns the states of these steps, as `filter` does.

        If it raises, the stream is as it was.

        Args:
            data: what is observed in a step, None where nothing was; or a list or an array of these.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; no step; many sequences.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> place = pgm.Gaussian([[0.0, 0.0]], covariance=[[1.0, 0.0], [0.0, 1.0]])
        >>> stream = pgm.HMM([1.0], [[1.0]], place).stream()
        >>> len(stream.push([0.1, 0.2])), len(stream.push([[0.3, None], None])), len(stream)
        (1, 2, 3)
        """
        read = self._model._read(self._as_rows(data), None, None)
        if not read.lone:
            raise InvalidArgument("A stream is one sequence: push one observation, or a list of them.")
        rows = self._model._rows(read)
        try:
            values, scores, carried = engine.filtered_on(self._chain, rows, self._carried, start_clock())
        except engine.ImpossibleStep as error:
            raise ImpossibleEvidence(
                f"Step {self._steps + error.row:,} (the first is 0): what is observed here is impossible "
                "after what was observed before: no state that can be reached emits it."
            ) from None
        made = StateBeliefs(self._model.variable, values, scores, "filtered")
        self._carried, self._belief = carried, values[-1].copy()
        self._steps += len(values)
        self._log += made.log_likelihood
        return made

    def _as_rows(self, x: Any) -> Any:
        """Rows of observations; one by itself becomes a list of one."""
        emission = self._model.emission
        if isinstance(x, Mapping):
            return x if any(map(has_parts, x.values())) else {name: [value] for name, value in x.items()}
        if not has_parts(x) or getattr(emission, "is_value", lambda value: False)(x):
            return [x]
        if emission.vector and getattr(emission, "dim", 1) > 1 and isinstance(x, list | tuple | np.ndarray):
            return [x] if len(x) and not any(map(has_parts, x)) else x
        return x

    def forecast(self, steps: int = 1) -> SequenceForecast:
        """Return the states of the steps to come, and what will be observed.

        Args:
            steps: how many.

        Raises:
            InvalidArgument: steps is not a whole number of at least 1.

        >>> import pgm
        >>> coin = pgm.HMM([1.0, 0.0], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
        >>> coin.stream().forecast(2).values.round(6).tolist()
        [[1.0, 0.0], [0.9, 0.1]]
        """
        before = self._belief if self._steps else None
        return self._model._forecast(before, steps_ahead(steps), self._log)

    def copy(self) -> HMMStream:
        """Return an independent copy, which goes on from here."""
        return copy.copy(self)

    def __repr__(self) -> str:
        """The steps and the log-likelihood so far."""
        return f"stream of a hidden Markov model: {self._steps:,} steps, log-likelihood {self._log:.6f}"

    def _repr_html_(self) -> str:
        return html_text(repr(self))


guard_methods([HMMStream])
