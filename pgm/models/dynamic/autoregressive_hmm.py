"""Autoregressive hidden Markov models: what is observed depends on the state and on past observations."""

from __future__ import annotations

from typing import Any

from pgm.distributions import Regression
from pgm.errors import InvalidArgument, shown

from .input_output_hmm import InputOutputHMM


class AutoregressiveHMM(InputOutputHMM):
    """A hidden Markov model whose emissions depend on past observations too (Hamilton 1989).

    Past observations are the inputs of the emission, the most recent first. The first `order` observations
    of a sequence are conditioned on, unless `before=` says what preceded them.

    Args:
        initial: the probabilities of the states in the first step.
        transition: for each state the probabilities of the next one; or a model of them given inputs.
        emission: `pgm.Regression(...)`, or `pgm.Softmax(...)` of symbols, with a weight for each past
            observation; if left out, a regression that is yet to be learned.
        order: how many past observations the emission depends on.
        states: the names of the states; 0, 1, ... if left out.
        n_states: how many there are, if nothing else determines it.
        name: of the model, in print and in files.

    >>> import pgm
    >>> lines = pgm.Regression([0.9, -0.5], bias=[0.0, 1.0], variance=[0.1, 0.2])
    >>> model = AutoregressiveHMM([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], lines)
    >>> round(model.score([0.2, 0.3, 0.9, 0.6], before=0.0), 6)
    -1.644583
    """

    _word = "AutoregressiveHMM"

    def __init__(
        self,
        initial: Any = None,
        transition: Any = None,
        emission: Any = None,
        *,
        order: int = 1,
        states: Any = None,
        n_states: int | None = None,
        name: str = "",
    ) -> None:
        if isinstance(order, bool) or not isinstance(order, int) or order < 1:
            raise InvalidArgument(f"order= is a whole number of at least 1, not {shown(order)}.")
        given = Regression(inputs=order) if emission is None else emission
        if not hasattr(given, "_log_given"):
            raise InvalidArgument(
                "emission= depends on past observations: pgm.Regression(...) or pgm.Softmax(...), not "
                f"{shown(emission)}."
            )
        super().__init__(initial, transition, given, states=states, n_states=n_states, lags=order, name=name)
