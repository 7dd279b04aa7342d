"""Hidden semi-Markov models: how long a state lasts has a distribution of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.distributions import Emission, Tied
from pgm.errors import InvalidArgument, InvalidTable, shown
from pgm.inference.engines.staged import stage
from pgm.models.bayesian_network import BayesianNetwork
from pgm.results import StatePath
from pgm.variables import Variable, as_domain

from .chain_network import steps_of
from .chain_tables import CERTAIN, IMPOSSIBLE, ChainLayout, Entries, Key
from .checks import distribution, domain_of, names, printed_rows, probabilities, rows_of, transitions
from .expanded_network import network
from .hidden import HiddenChain, Sheet

_ROWS = 12
_TAIL = 1e-9  # the probability that a distribution may leave beyond the longest duration


class SemiMarkovHMM(HiddenChain):
    """A hidden Markov model with an explicit distribution of state durations (Ferguson 1980).

    When the time of a state is over, the next one is entered. Exact answers take O(T (K D + K^2)) operations
    for K states that stay at most D steps.

    Args:
        initial: the probabilities of the first state.
        transition: for each state the probabilities of the next one, when its time is over.
        emission: what the states emit, a row for each.
        durations: a row for each state: P(it stays 1, 2, ... steps); or a distribution of counts, such as
            `pgm.Poisson([3.0, 8.0])`, of how many steps it stays after the first.
        max_duration: the longest duration; needed if `durations` is a distribution or left out.
        complete: whether the time of the last state is over when the sequence ends; if not, it may go on.
        states: the names of the states; 0, 1, ... if left out.
        n_states: how many there are, if nothing else determines it.
        name: of the model, in print and in files.

    >>> import pgm
    >>> two = SemiMarkovHMM(
    ...     [1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]], pgm.Gaussian([0.0, 1.0], sd=0.5), [[0, 0, 1], [0, 1, 0]]
    ... )
    >>> two.decode([0.1, 0.6, 0.2, 0.7, 0.4]).path
    (0, 0, 0, 1, 1)
    """

    _word = "SemiMarkovHMM"
    complete: bool
    max_duration: int
    _form: Any  # the distribution of durations less one; None: a free table

    def __init__(
        self,
        initial: Any = None,
        transition: Any = None,
        emission: Any = None,
        durations: Any = None,
        *,
        max_duration: int | None = None,
        complete: bool = False,
        states: Any = None,
        n_states: int | None = None,
        name: str = "",
    ) -> None:
        if not isinstance(name, str):
            raise InvalidArgument(f"The name of a model is text, not {shown(name)}.")
        if not isinstance(emission, Emission):
            raise InvalidArgument(
                f"emission= is a distribution such as pgm.Categorical(...) or pgm.Gaussian(...), not "
                f"{shown(emission)}."
            )
        if not isinstance(complete, bool):
            raise InvalidArgument(f"complete= is True or False, not {shown(complete)}.")
        self._form = durations if isinstance(durations, Emission) else None
        table = (
            None if self._form is not None or durations is None else probabilities(durations, "durations=")
        )
        if table is not None and table.ndim != 2:
            raise InvalidTable("durations= has a row for each state: P(it stays 1, 2, ... steps).")
        if table is not None and max_duration is not None and max_duration != table.shape[1]:
            raise InvalidArgument(
                f"durations= has {table.shape[1]} columns, but max_duration= is {max_duration}."
            )
        longest = table.shape[1] if table is not None else max_duration
        if isinstance(longest, bool) or not isinstance(longest, int | np.integer) or longest < 1:
            raise InvalidArgument(
                f"max_duration= is a whole number of at least 1, not {shown(max_duration)}."
            )
        sizes = {
            "initial=": _length(initial),
            "transition=": _length(transition),
            "emission=": emission.n_states,
            "durations=": len(table) if table is not None else getattr(self._form, "n_states", None),
        }
        self.variable = Variable.of("state", domain_of(states, n_states, sizes, transition))
        self.name, self.fit_report, self.complete = name, None, complete
        k, d = self.variable.card, int(longest)
        self.max_duration = d
        check_cells((k * d + k * k, 4), "A step of these durations", "choose a smaller max_duration=")
        self._visible = np.repeat(np.arange(k), d)
        self._emission = Tied(emission, self._visible)
        self._shapes = {("initial", ""): (k,), ("transition", ""): (k, k), ("durations", ""): (k, d, 2)}
        last = np.ones((k, d, 2), bool)
        last[:, -1, 0] = False
        self._masks = {("durations", ""): last}
        self._tables = {}
        if initial is not None:
            self._tables["initial", ""] = distribution(initial, self.variable, "initial=")
        if transition is not None:
            self._tables["transition", ""] = transitions(transition, self.variable)
        if self._form is not None and self._form.has_parameters:
            table = self._rows_of_form(self._form)
        if table is not None:
            found = rows_of(table, self.variable, 1, "durations=") if self._form is None else table
            self._tables["durations", ""] = hazards(found)
        self._layout = _layout(k, d, complete)

    def _rows_of_form(self, form: Any) -> np.ndarray:
        """The table of a distribution of durations, which must not reach far beyond the longest."""
        with np.errstate(under="ignore"):
            table = np.exp(form.log_rows(self._counts_of(form)).T)
        left = 1.0 - table.sum(axis=1)
        if (np.abs(left) > _TAIL).any():
            state = self.states[int(np.abs(left).argmax())]
            raise InvalidArgument(
                f"Durations of state {shown(state)} are longer than max_duration={self.max_duration} with "
                f"probability {np.abs(left).max():.3g}: choose a larger one."
            )
        return np.asarray(table)

    def _counts_of(self, form: Any) -> np.ndarray:
        """0, 1, ... as rows of a distribution."""
        found = np.arange(self.max_duration)
        return found if form.domain is not None else found[:, None].astype(float)

    # --- properties ---

    @property
    def initial(self) -> np.ndarray:
        """The probabilities of the first state."""
        return self._part("initial")

    @property
    def transition(self) -> np.ndarray:
        """P(next state | state), when its time is over."""
        return self._part("transition")

    @property
    def durations(self) -> np.ndarray:
        """P(a state stays 1, 2, ... steps), a row for each state."""
        h = self._part("durations")
        stays = np.cumprod(np.column_stack([np.ones(len(h)), h[:, :-1, 0]]), axis=1)
        return np.asarray(stays * h[:, :, 1])

    @property
    def emission(self) -> Any:
        """What the states emit."""
        return self._emission.shared

    def _part(self, part: str) -> np.ndarray:
        if (part, "") not in self._tables:
            self._check_parameters()
        return self._tables[part, ""]

    def _free_of(self, key: Key) -> int:
        if key[0] != "durations" or self._form is None:
            return super()._free_of(key)
        return int(self._form.n_free(np.ones(self.n_states, bool)))

    # --- internals ---

    def _refined(self, made: Any, counts: Mapping[Key, np.ndarray], fixed: set[str]) -> Any:
        """Fit the distribution of durations, where there is one; those cut off at the end are expected."""
        if self._form is None or "durations" in fixed:
            return made
        exits, stays = counts["durations", ""][:, :, 1], counts["durations", ""][:, :, 0]
        entered = counts["initial", ""] + counts["transition", ""].sum(axis=0)
        cut = np.column_stack([entered, stays[:, :-1]]) - stays - exits
        cut = np.maximum(cut, 0.0) if not self.complete else np.zeros_like(cut)  # below zero by rounding only
        own = self.durations
        left = np.flip(np.cumsum(np.flip(own, 1), axis=1), 1)
        ratio = np.divide(cut, left, out=np.zeros_like(cut), where=left > 0)
        whole = exits + own * np.cumsum(ratio, axis=1)
        rows = self._counts_of(self._form)
        made._form = self._form.fitted(self._form.gathered(rows, np.ascontiguousarray(whole.T)))
        made._tables["durations", ""] = hazards(self._rows_of_form(made._form))
        return made

    def _path(self, codes: np.ndarray, path: np.ndarray, joint: float, likely: float) -> StatePath:
        return StatePath(self.variable, codes, joint, likely)

    def to_network(self, steps: int) -> BayesianNetwork:
        """Return the Bayesian network of this many steps: "place[0]" is a state and how long it has lasted.

        If the model is `complete`, "ends[T-1]" says whether the time of the last state is over then.
        """
        places = as_domain([(state, age) for state in self.states for age in range(1, self.max_duration + 1)])
        return network(self, steps_of(steps), places)

    def __eq__(self, other: object) -> bool:
        """Equal when states and parameters are."""
        if not isinstance(other, SemiMarkovHMM):
            return NotImplemented
        return self.complete == other.complete and self._form == other._form and bool(super().__eq__(other))

    __hash__ = None

    def _title(self) -> str:
        return f"{super()._title()}, which stay up to {self.max_duration} steps"

    def _sheets(self) -> list[Sheet]:
        called, k = names(self.variable)[:_ROWS], min(self.n_states, _ROWS)
        start, move = self._tables.get(("initial", "")), self._tables.get(("transition", ""))
        starts = ["?"] * k if start is None else printed_rows(start[None, :k])[0]
        moves = [["?"] * k] * k if move is None else printed_rows(move[:k, :k])
        stay = ["?"] * k
        if ("durations", "") in self._tables:
            rows = self.durations
            mean = rows @ np.arange(1, self.max_duration + 1)
            stay = [f"{m:.6g}" for m in mean[:k].tolist()]
        lines = [[called[i], starts[i], stay[i], *moves[i]] for i in range(k)]
        note = f"... {self.n_states - k:,} more states" if self.n_states > k else ""
        if self._form is not None:
            note = f"{note}\ndurations less one: {self._form!r}".strip()
        return [("", ["state", "initial", "mean duration", *(f"to {name}" for name in called)], lines, note)]


def hazards(durations: np.ndarray) -> np.ndarray:
    """P(a state goes on, or its time is over | how long it has lasted), (states, durations, 2)."""
    left = np.flip(np.cumsum(np.flip(durations, 1), axis=1), 1)
    over = np.divide(durations, left, out=np.ones_like(durations), where=left > 0)
    over[:, -1] = 1.0
    over = np.clip(over, 0.0, 1.0)
    beyond = np.column_stack([left[:, 1:] <= 0, np.ones(len(left), bool)])
    over[beyond] = 1.0  # nothing is left after it
    return np.stack([1.0 - over, over], axis=2)


def _layout(k: int, d: int, complete: bool) -> ChainLayout:
    """Places are states with their ages; a step ages one, or leads out of it and into the next state."""
    place = np.arange(k * d).reshape(k, d)
    age, out = place[:, :-1], k * d + np.arange(k)
    source = np.concatenate([age.reshape(-1), place.reshape(-1)])
    to = np.concatenate([place[:, 1:].reshape(-1), np.repeat(out, d)])
    entry = np.concatenate([2 * age.reshape(-1), 2 * place.reshape(-1) + 1])
    leave, order = stage(k * d, k * d + k, source, to)
    left = Entries(("durations", ""), entry[order])
    onward = place[:, 1:].reshape(-1)
    source = np.concatenate([onward, np.repeat(out, k)])
    to = np.concatenate([onward, np.tile(place[:, 0], k)])
    entry = np.concatenate([np.full(onward.size, CERTAIN), np.arange(k * k)])
    enter, order = stage(k * d + k, k * d, source, to)
    entered = Entries(("transition", ""), entry[order])
    begin = np.full(k * d, IMPOSSIBLE)
    begin[place[:, 0]] = np.arange(k)
    first = Entries(("initial", ""), begin)
    end = (Entries(("durations", ""), 2 * place.reshape(-1) + 1),) if complete else ()
    return ChainLayout((first,), ((leave, (left,)), (enter, (entered,))), end)


def _length(given: Any) -> int | None:
    return len(given) if hasattr(given, "__len__") and not isinstance(given, dict) else None
