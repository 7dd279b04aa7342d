"""A dynamic network that takes observations as they come."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guard_methods
from pgm.cpds.table_input import check_cells
from pgm.errors import ImpossibleEvidence, InvalidArgument
from pgm.frames import has_parts
from pgm.inference.engines import interface as engine
from pgm.printing import html_text
from pgm.results import NetworkBeliefs
from pgm.runtime.clock import start_clock

from .checks import steps_ahead
from .network_rows import Read, read

if TYPE_CHECKING:
    from .dynamic_bayesian_network import DynamicBayesianNetwork


class NetworkStream:
    """An online filter: `push` takes the next observations, `forecast` looks ahead.

    Results equal those of `filter` on all steps; memory does not grow. A stream can be copied and pickled.

    >>> import pgm
    >>> dbn = pgm.DynamicBayesianNetwork()
    >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
    >>> dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    >>> stream = dbn.stream()
    >>> stream.push({"wet": True}).marginal("rain").values.round(6).tolist()
    [[0.142857, 0.857143]]
    >>> stream.push({"wet": [True, False]}).marginal("rain").values[:, 1].round(6).tolist()
    [0.938389, 0.18352]
    >>> round(stream.log_likelihood, 6), len(stream)
    (-2.382408, 3)
    """

    def __init__(self, model: DynamicBayesianNetwork) -> None:
        """Start before the first observation."""
        self._model = model.copy()
        self._model._layout()
        self._carried: np.ndarray | None = None
        self._past_values: dict[
            int, np.ndarray
        ] = {}  # of continuous variables, at which later steps look back
        self._held: dict[int, float] = {}  # the values of static variables
        self._steps = 0
        self._log = 0.0

    @property
    def log_likelihood(self) -> float:
        """The log probability, or density, of all observations so far."""
        return self._log

    def __len__(self) -> int:
        """The number of steps so far."""
        return self._steps

    def push(self, data: Any, *, targets: Any = None) -> NetworkBeliefs:
        """Take what was observed in the next step, or in several; returns beliefs, as `filter` does.

        If it raises, the stream is as it was.

        Args:
            data: {name: value} for one step, or {name: list of values} or a frame for several.
            targets: names; if left out, all variables with states that are not observed in all these steps.

        Raises:
            UnknownVariable, InvalidArgument, InvalidFrame, InvalidEvidence: data that cannot be read.
            ImpossibleEvidence: what is observed has probability zero; the message names the step.

        >>> import pgm
        >>> dbn = pgm.DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> len(dbn.stream().push({"rain": [True, None]}))
        2
        """
        model = self._model
        layout = model._layout()
        if isinstance(data, Mapping) and not any(has_parts(value) for value in data.values()):
            data = {name: [value] for name, value in data.items()} or {model.nodes[0]: [None]}
        found = read(model._nodes, layout.template, data, **self._past())
        if not found.sequences.lone:
            raise InvalidArgument("A stream is one sequence: push the steps that follow, in their order.")
        wanted = model._wanted(found, targets)
        values, scores, after = self._asked(found, wanted)
        made = NetworkBeliefs(model._some(wanted), values, scores, "filtered", self._steps)
        lag = model.lag
        last = {v: float(column[-1]) for v, column in found.rows.values.items()}
        self._held = {v: last[v] for v, node in enumerate(model._nodes.values()) if node.static and v in last}
        self._past_values = {v: column[-lag:] for v, column in found.rows.values.items()} if lag else {}
        self._carried = after
        self._steps += len(made)
        self._log += made.log_likelihood
        return made

    def forecast(self, steps: int = 1, *, targets: Any = None) -> NetworkBeliefs:
        """Return P(variable | all observations) for the steps to come.

        Args:
            steps: how many.
            targets: names; if left out, all variables with states.

        Raises:
            InvalidArgument: steps is not a whole number of at least 1.

        >>> import pgm
        >>> dbn = pgm.DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.stream().forecast(2).marginal("rain").values[:, 1].round(6).tolist()
        [0.4, 0.4]
        """
        count, model = steps_ahead(steps), self._model
        check_cells((count, len(model), 8), "The forecast", "look fewer steps ahead")
        nothing = {model.nodes[0]: [None] * count}
        found = read(model._nodes, model._layout().template, nothing, **self._past())
        wanted = model._wanted(found, model._with_states() if targets is None else targets)
        values, _, _ = self._asked(found, wanted)
        scores = np.array([self._log])
        return NetworkBeliefs(model._some(wanted), values, scores, "forecast", self._steps)

    def copy(self) -> NetworkStream:
        """Return an independent copy, which goes on from here."""
        return copy.copy(self)

    def _past(self) -> dict[str, Any]:
        """What later steps need to know of those so far."""
        return {"before": self._steps, "past": self._past_values, "held": self._held}

    def _asked(self, found: Read, wanted: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        layout = self._model._layout()
        try:
            return engine.continued(layout, found.rows, wanted, self._carried, start_clock())
        except engine.ImpossibleRow as error:
            raise ImpossibleEvidence(
                f"Step {self._steps + error.row:,} (the first is 0): what is observed here is impossible "
                "after what was observed before: the network gives it probability zero."
            ) from None
        except engine.Unseen as error:
            raise self._model._unseen(f"step {self._steps + error.row:,} (the first is 0)", error) from None

    def __repr__(self) -> str:
        """The steps and the log-likelihood so far."""
        return f"stream of a dynamic network: {self._steps:,} steps, log-likelihood {self._log:.6f}"

    def _repr_html_(self) -> str:
        return html_text(repr(self))


guard_methods([NetworkStream])
