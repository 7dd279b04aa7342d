"""Hidden Markov models composed of parts: phones make words, and words make sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.distributions import Stacked, Tied
from pgm.errors import InvalidArgument, InvalidTable
from pgm.inference.engines.staged import Steps, stage
from pgm.models.bayesian_network import BayesianNetwork
from pgm.printing import label
from pgm.variables import Variable, as_domain

from .chain_network import steps_of
from .chain_tables import CERTAIN, ChainLayout, Key
from .expanded_network import network
from .hidden import HiddenChain, Sheet

_ROWS = 20
START, END = 0, 1  # the first two places of a part


@dataclass(frozen=True, eq=False)
class Places:
    """Places and the arcs between them. States emit; silent places do not; place 0 begins, and 1 ends."""

    labels: tuple[tuple[Any, ...], ...]  # of each place, from the outermost part to the state; silent: ()
    rows: tuple[
        tuple[str, int], ...
    ]  # of each place, which row of which part's emission it takes; silent: ("", -1)
    source: np.ndarray
    to: np.ndarray
    keys: tuple[Key, ...]  # the tables
    table: np.ndarray  # of each arc, which of them it takes
    entry: np.ndarray  # ... and which entry of it; CERTAIN: probability one


class ComposedHMM(HiddenChain):
    """A hidden Markov model composed of parts, each with a beginning and an end: see `pgm.part_of`.

    `a + b` is a followed by b, `a | b` is a or b with equal probabilities; `pgm.sequence_of`,
    `pgm.choice_of`, `pgm.loop_of` and `pgm.grammar_of` can express more. Parts of the same name are one
    part, which is learned from all its places together. Sequences end where the whole ends; those of
    `unfinished()` may stop anywhere.

    >>> import pgm
    >>> a = pgm.part_of("a", pgm.Categorical([[0.9, 0.1]]), stay=0.5)
    >>> b = pgm.part_of("b", pgm.Categorical([[0.2, 0.8]]), stay=0.5)
    >>> word = a + b
    >>> word.decode([0, 0, 1]).path
    (('a', 0), ('a', 0), ('b', 0))
    """

    _word = "ComposedHMM"
    whole: bool
    _places: Places
    _emissions: dict[str, Any]  # by part
    _order: list[str]  # of the parts
    _states: np.ndarray  # the places that emit
    _silent: np.ndarray  # those that do not

    def __init__(self) -> None:
        raise InvalidArgument(
            "A ComposedHMM is made of parts: pgm.part_of(name, emission, ...), then +, |, pgm.sequence_of, "
            "pgm.choice_of, pgm.loop_of or pgm.grammar_of."
        )

    @classmethod
    def _of(
        cls, places: Places, tables: Mapping[Key, np.ndarray], emissions: Mapping[str, Any], name: str
    ) -> ComposedHMM:
        self = cls.__new__(cls)
        self.name, self.fit_report, self.whole = name, None, True
        self._places, self._emissions = places, dict(emissions)
        self._tables = {key: tables[key] for key in places.keys}
        self._shapes = {key: table.shape for key, table in self._tables.items()}
        self._masks, self._visible = {}, None
        self._states = np.array([i for i, (_, row) in enumerate(places.rows) if row >= 0], np.int64)
        self._silent = np.array([i for i, (_, row) in enumerate(places.rows) if row < 0], np.int64)
        check_cells((len(self._states), len(self._states)), "The transitions", "compose fewer parts")
        parts = list(dict.fromkeys(places.rows[i][0] for i in self._states))
        sizes = [self._emissions[part].n_states or 1 for part in parts]
        first = dict(zip(parts, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
        of = np.array([first[places.rows[i][0]] + places.rows[i][1] for i in self._states], np.int64)
        self._order = parts
        self._emission = Tied(Stacked([self._emissions[part] for part in parts], sizes), of)
        called = _distinct([places.labels[i] for i in self._states])
        self.variable = Variable.of("state", as_domain(called))
        self._layout = ChainLayout((), ())
        return self

    # --- properties ---

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts that emit."""
        return tuple(self._order)

    @property
    def emission(self) -> dict[str, Any]:
        """What each part emits, by its name."""
        return dict(zip(self._order, self._emission.shared.parts, strict=True))

    @property
    def initial(self) -> np.ndarray:
        """The probabilities of the first state, silent places eliminated."""
        return np.asarray(self._steps(None).start[0])

    @property
    def transition(self) -> np.ndarray:
        """P(next state | state), silent places eliminated; what a row lacks to one is the end."""
        return self._steps(None).dense()

    @property
    def end(self) -> np.ndarray:
        """P(the sequence ends after the state), silent places eliminated."""
        return self._ending()

    def unfinished(self) -> ComposedHMM:
        """The same model of sequences that may stop anywhere, not only where the whole ends."""
        made = self.copy()
        made.whole = False
        return made

    # --- composition ---

    def __add__(self, other: Any) -> ComposedHMM:
        """This, followed by another."""
        from .composition import sequence_of

        return sequence_of(self, other) if isinstance(other, ComposedHMM) else NotImplemented

    def __or__(self, other: Any) -> ComposedHMM:
        """This or another, with equal probabilities."""
        from .composition import choice_of

        return choice_of([self, other]) if isinstance(other, ComposedHMM) else NotImplemented

    # --- internals ---

    @property
    def _ends(self) -> bool:
        return self.whole

    def _matrix(self) -> np.ndarray:
        """P(next place | place), silent ones too."""
        p = self._places
        n = len(p.labels)
        check_cells((n, n), "The transitions between places", "compose fewer parts")
        found = np.zeros((n, n))
        np.add.at(found, (p.source, p.to), self._shares())
        return found

    def _shares(self) -> np.ndarray:
        """The probability of each arc."""
        p = self._places
        first = np.cumsum([0, *(self._tables[key].size for key in p.keys)])[:-1]
        flat = np.concatenate([self._tables[key].reshape(-1) for key in p.keys])
        return np.asarray(np.where(p.entry == CERTAIN, 1.0, flat[first[p.table] + np.maximum(p.entry, 0)]))

    def _silent_eliminated(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Transitions, ways out of silent places, expected visits to them from each state, their indices.

        With E the states and S the silent places between, the transitions from E to E by any way through S
        are A_EE + A_ES (I - A_SS)^-1 A_SE.
        """
        every, e = self._matrix(), self._states
        s = self._silent[(self._silent != END)]
        inner = np.eye(len(s)) - every[np.ix_(s, s)]
        try:
            on = np.linalg.solve(inner, np.column_stack([every[np.ix_(s, e)], every[s, END]]))
        except np.linalg.LinAlgError:
            raise InvalidArgument(
                "Silent places form a cycle: a loop repeats a part that may emit nothing."
            ) from None
        move = np.column_stack([every[np.ix_(e, e)], every[e, END]]) + every[np.ix_(e, s)] @ on
        reach = np.linalg.solve(inner.T, every[np.ix_(e, s)].T).T
        return move, on, reach, s

    def _steps(self, read: Any) -> Steps:
        self._check_parameters()
        move, on, _, s = self._silent_eliminated()
        k = len(self._states)
        start = on[int(np.flatnonzero(s == START)[0]), :k]
        if not start.sum() > 0.0:
            raise InvalidTable("No state can be the first.")
        source, to = np.nonzero(move[:, :k])
        one, _ = stage(k, k, source, to)
        return Steps(start[None], (one,), move[:, :k][source, to][None])

    def _ending(self) -> np.ndarray:
        return np.asarray(self._silent_eliminated()[0][:, -1])

    def _counted(self, begun: np.ndarray, arcs: np.ndarray, ended: np.ndarray) -> dict[Key, np.ndarray]:
        """Expected counts; a transition's is shared among the arcs of its ways through silent places."""
        move, on, reach, s = self._silent_eliminated()
        k, n, p = len(self._states), len(self._places.labels), self._places
        source, to = np.nonzero(move[:, :k])
        both = np.zeros((k, k + 1))
        both[source, to] = arcs
        both[:, k] = ended if self.whole else 0.0
        ratio = np.divide(both, move, out=np.zeros_like(both), where=move > 0)
        begin = int(np.flatnonzero(s == START)[0])
        first = np.divide(begun, on[begin, :k], out=np.zeros(k), where=on[begin, :k] > 0)
        # An arc is taken as often as its source is visited, times the worth of what its target leads to.
        inner = np.eye(len(s)) - self._matrix()[np.ix_(s, s)]
        from_start = np.linalg.solve(inner.T, (np.arange(len(s)) == begin) * 1.0)
        worth = np.zeros((n, n))  # of an arc between two places, summed over ways
        e = self._states
        ends = np.zeros((n, k + 1))  # what a place leads to
        ends[e, np.arange(k)] = 1.0
        ends[END, k] = 1.0
        ends[s] = on
        worth[e] = ratio @ ends.T
        worth[s] = reach.T @ (ratio @ ends.T) + np.outer(from_start, ends[:, :k] @ first)
        found = worth[p.source, p.to] * self._shares()
        sizes = [self._tables[key].size for key in p.keys]
        at = np.cumsum([0, *sizes])[:-1]
        learned = p.entry >= 0
        flat = np.bincount((at[p.table] + p.entry)[learned], found[learned], sum(sizes))
        split = np.split(flat, np.cumsum(sizes)[:-1])
        return {key: part.reshape(self._tables[key].shape) for key, part in zip(p.keys, split, strict=True)}

    def to_network(self, steps: int) -> BayesianNetwork:
        """Return the Bayesian network of this many steps; "ends[t]" says whether the sequence ends there."""
        return network(self, steps_of(steps), self.variable.domain)

    def __eq__(self, other: object) -> bool:
        """Equal when parts and parameters are."""
        if not isinstance(other, ComposedHMM):
            return NotImplemented
        mine, theirs = self._places, other._places
        same = (mine.labels, mine.rows, mine.keys) == (theirs.labels, theirs.rows, theirs.keys)
        arcs = all(
            np.array_equal(getattr(mine, name), getattr(theirs, name))
            for name in ("source", "to", "table", "entry")
        )
        return same and arcs and self.whole == other.whole and bool(super().__eq__(other))

    __hash__ = None

    def _title(self) -> str:
        said = f"{super()._title()}, {len(self._silent)} silent places, {self._places.source.size} arcs"
        return said if self.whole else f"{said}, unfinished"

    def _sheets(self) -> list[Sheet]:
        rows = []
        for (part, name), table in self._tables.items():
            for i, row in enumerate(table.reshape(-1, table.shape[-1]).tolist()):
                rows.append([f"{part} of {name}", str(i), ", ".join(f"{p:.6g}" for p in row)])
        note = f"... {len(rows) - _ROWS:,} more rows" if len(rows) > _ROWS else ""
        return [("", ["table", "row", "probabilities"], rows[:_ROWS], note)]

    def _repr_html_(self) -> str:
        found: str = super()._repr_html_()
        return found

    def plot(self, ax: Any = None, *, figsize: Any = None, title: str | None = None) -> Any:
        """Draw the states and the transitions between them, silent places eliminated; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.state_graph(
            _Shown(self), ax, figsize=figsize, title=self._title() if title is None else title
        )


class _Shown:
    """States and transitions for a picture."""

    def __init__(self, model: ComposedHMM) -> None:
        self.initial, self.transition, self.name = model.initial, model.transition, model.name
        self.states = [" ".join(map(label, state)) for state in model.states]


def _distinct(labels: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Labels made distinct: those that occur several times get a numbered suffix."""
    seen: dict[tuple[Any, ...], Any] = {}
    found = []
    for one in labels:
        many = labels.count(one) if len(labels) < 2000 else 2
        if many == 1:
            found.append(one)
            continue
        number = seen.setdefault(one, count())
        found.append((*one, f"#{next(number)}"))
    return found
