"""Hidden Markov models whose transitions emit (Mealy machines)."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.distributions import Tied
from pgm.errors import InvalidArgument, shown
from pgm.inference.engines.staged import stage
from pgm.models.bayesian_network import BayesianNetwork
from pgm.results import JointBeliefs, JointPath
from pgm.variables import Variable, as_domain

from .chain_network import steps_of
from .chain_tables import ChainLayout, Entries
from .checks import distribution, domain_of, names, printed_rows, transitions
from .expanded_network import network
from .hidden import HiddenChain, Sheet
from .joint_chains import check_emission

_ROWS = 12


class MealyHMM(HiddenChain):
    """A hidden Markov model whose transitions emit: an observation depends on a state and on the next one.

    T observations visit T + 1 states; beliefs and decoded paths are about the arc of each observation.
    A step takes O(arcs) operations: it passes the state between two arcs.

    Args:
        initial: the probabilities of the first state.
        transition: for each state the probabilities of the next one.
        emission: what arcs emit: a row for each pair (state, next state), the next ones vary fastest.
        states: the names of the states; 0, 1, ... if left out.
        n_states: how many there are, if nothing else determines it.
        name: of the model, in print and in files.

    >>> import pgm
    >>> arcs = pgm.Categorical([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
    >>> machine = MealyHMM([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], arcs)
    >>> machine.decode([0, 1, 0]).chain("to")
    (0, 0, 0)
    """

    _word = "MealyHMM"
    variables: tuple[Variable, ...]

    def __init__(
        self,
        initial: Any = None,
        transition: Any = None,
        emission: Any = None,
        *,
        states: Any = None,
        n_states: int | None = None,
        name: str = "",
    ) -> None:
        if not isinstance(name, str):
            raise InvalidArgument(f"The name of a model is text, not {shown(name)}.")
        sizes = {"initial=": _length(initial), "transition=": _length(transition)}
        one = Variable.of("from", domain_of(states, n_states, sizes, transition))
        k = one.card
        check_emission(emission, k * k, "emission=")
        check_cells((k * k, 4), "The arcs", "choose fewer states")
        self.name, self.fit_report, self._visible, self._masks = name, None, None, {}
        self.variables = (one, Variable.of("to", one.domain))
        self.variable = Variable.of("arc", as_domain(list(product(one.states, repeat=2))))
        self._shapes = {("initial", ""): (k,), ("transition", ""): (k, k)}
        self._tables = {}
        if initial is not None:
            self._tables["initial", ""] = distribution(initial, one, "initial=")
        if transition is not None:
            self._tables["transition", ""] = transitions(transition, one)
        arc = np.arange(k * k)
        into, _ = stage(k * k, k, arc, arc % k)
        out, _ = stage(k, k * k, arc // k, arc)
        first = Entries(("initial", ""), arc // k), Entries(("transition", ""), arc)
        self._layout = ChainLayout(first, ((into, ()), (out, (Entries(("transition", ""), arc),))))
        self._emission = Tied(emission, arc)

    @property
    def initial(self) -> np.ndarray:
        """The probabilities of the first state."""
        return self._part("initial")

    @property
    def transition(self) -> np.ndarray:
        """P(next state | state)."""
        return self._part("transition")

    @property
    def emission(self) -> Any:
        """What arcs emit: a row for each pair (state, next state)."""
        return self._emission.shared

    def _part(self, part: str) -> np.ndarray:
        if (part, "") not in self._tables:
            self._check_parameters()
        return self._tables[part, ""]

    def _beliefs(self, values: np.ndarray, scores: np.ndarray, about: str) -> JointBeliefs:
        return JointBeliefs(self.variable, np.array(values), np.array(scores), about, self.variables)

    def _path(self, codes: np.ndarray, path: np.ndarray, joint: float, likely: float) -> JointPath:
        return JointPath(self.variable, codes, joint, likely, self.variables)

    def to_network(self, steps: int) -> BayesianNetwork:
        """Return the Bayesian network of this many steps: "state[t]" is an arc, (state, next state)."""
        return network(self, steps_of(steps), self.variable.domain)

    def _title(self) -> str:
        called = f" {self.name!r}" if self.name else ""
        return f"{self._word}{called}: {self.variables[0].card} states, {self.variable.card} arcs"

    def _sheets(self) -> list[Sheet]:
        called = names(self.variables[0])
        start, move = self._tables.get(("initial", "")), self._tables.get(("transition", ""))
        k = min(len(called), _ROWS)
        starts = ["?"] * k if start is None else printed_rows(start[None, :k])[0]
        moves = [["?"] * k] * k if move is None else printed_rows(move[:k, :k])
        rows = [[called[i], starts[i], *moves[i]] for i in range(k)]
        note = f"... {len(called) - k:,} more states" if len(called) > k else ""
        return [("", ["state", "initial", *(f"to {name}" for name in called[:k])], rows, note)]


def _length(given: Any) -> int | None:
    return len(given) if hasattr(given, "__len__") and not isinstance(given, dict) else None
