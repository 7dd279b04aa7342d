"""Markov chains of order 1 or higher, whose states are observed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.errors import IncompleteModel, InvalidArgument, InvalidFrame, InvalidTable, shown
from pgm.frames import inferring
from pgm.frames.sequences import Sequences, sequences
from pgm.inference.engines.chain import draw_far
from pgm.printing import html_table, label, text_table
from pgm.randomness import draw_count, generator
from pgm.results import Logarithm, Probability
from pgm.results.steps import CHAIN
from pgm.runtime.clock import start_clock
from pgm.variables import Domain, Variable

from . import chain_network
from .checks import (
    check_by,
    check_steps,
    distribution,
    domain_of,
    normalised,
    probabilities,
    rows_of,
    scores_by,
    squared,
    transitions,
    weights_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pgm.models import BayesianNetwork

_ROWS = 20
_MOST_ORDER = 8


class MarkovChain:
    """A Markov chain of observed states; each depends on the `order` states before it.

    Args:
        initial: the probabilities of the first state. For an order k above 1, a list of k tables: of the
            first state, of the second given the first, and so on.
        transition: P(next | the `order` states before it): an axis for each of these, the earliest first, and
            one for the next state.
        states: the names of the states; if left out the keys of `transition`, else 0, 1, ...; without
            tables `fit` takes them from the sequences, sorted.
        n_states: how many there are, if nothing else determines it.
        order: how many previous states each one depends on.
        name: of the chain, in print.

    >>> weather = MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]], states=["dry", "wet"])
    >>> round(float(weather.probability(["dry", "dry", "wet"])), 6), weather.stationary().round(6).tolist()
    (0.045, [0.75, 0.25])
    """

    name: str
    order: int
    _variable: Variable | None  # None: not known before `fit`
    _tables: tuple[np.ndarray, ...] | None  # of the first, the second given the first, ..., and all others

    def __init__(
        self,
        initial: Any = None,
        transition: Any = None,
        *,
        states: Any = None,
        n_states: int | None = None,
        order: int = 1,
        name: str = "",
    ) -> None:
        if (
            isinstance(order, bool)
            or not isinstance(order, int | np.integer)
            or not 1 <= order <= _MOST_ORDER
        ):
            raise InvalidArgument(f"order= is a whole number from 1 to {_MOST_ORDER}, not {shown(order)}.")
        if (initial is None) != (transition is None):
            raise InvalidArgument("A chain has initial= and transition=, or neither, to be fitted.")
        if not isinstance(name, str):
            raise InvalidArgument(f"The name of a model is text, not {shown(name)}.")
        self.name, self.order, self._tables, self._variable = name, int(order), None, None
        if initial is None and states is None and n_states is None:
            return
        size = len(transition) if hasattr(transition, "__len__") else None
        domain = domain_of(states, n_states, {"transition=": size}, transition, self.order)
        self._variable = Variable.of("state", domain)
        if initial is None:
            return
        first = [initial] if order == 1 else initial
        if not isinstance(first, list | tuple) or len(first) != order:
            raise InvalidTable(
                f"initial= of a chain of order {order} is a list of {order} tables: of the first state, "
                f"of the second given the first, ...; not {shown(initial)}."
            )
        k = self.variable.card
        made = [distribution(first[0], self.variable, "initial=")]
        for i, table in enumerate([*first[1:], transition], 1):
            what = "transition=" if i == order else f"initial=[{i}]"
            if i == 1 and isinstance(table, Mapping):
                table = transitions(table, self.variable, what)
            found = probabilities(table, what)
            if found.shape != (k,) * (i + 1):
                raise InvalidTable(f"{what} has the shape {(k,) * (i + 1)}, not {found.shape}.")
            made.append(rows_of(found.reshape(-1, k), self.variable, i, what).reshape(found.shape))
        self._tables = tuple(made)

    @property
    def variable(self) -> Variable:
        """The state as a variable."""
        if self._variable is None:
            raise IncompleteModel(
                "The chain has no states yet: fit it to sequences, which have them, or name them: states=."
            )
        return self._variable

    @property
    def states(self) -> tuple[Any, ...]:
        """The states, in order."""
        return self.variable.states

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return self.variable.card

    @property
    def initial(self) -> Any:
        """The probabilities of the first state; for a higher order, a list of tables, as they were given."""
        return self._known[0] if self.order == 1 else list(self._known[:-1])

    @property
    def transition(self) -> np.ndarray:
        """P(next | states before it), an axis for each of them, the earliest first."""
        return self._known[-1]

    @property
    def n_parameters(self) -> int:
        """The number of free parameters; impossible transitions are not counted."""
        return sum(int((table > 0).sum()) - table[..., 0].size for table in self._known)

    @property
    def _known(self) -> tuple[np.ndarray, ...]:
        if self._tables is None:
            raise IncompleteModel("The chain has no parameters yet: fit it to sequences.")
        return self._tables

    def score(self, data: Any, *, lengths: Any = None, sequence: Any = None, by: str | None = None) -> Any:
        """Return log P of a sequence of states, or of all sequences together.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            by: "sequence" for an array with one entry for each, "step" for log P of each step given those
                before it; the total if left out.

        Raises:
            InvalidArgument: a value is missing or not a state; a sequence is empty.

        >>> chain = MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]])
        >>> round(chain.score([0, 0, 1]), 6), chain.score([0, 0, 1], by="step").round(6).tolist()
        (-3.101093, [-0.693147, -0.105361, -2.302585])
        """
        check_by(by)
        codes, read = _codes(self.variable.domain, data, lengths, sequence)
        shares, total = np.empty(codes.size), 0.0
        with np.errstate(divide="ignore"):
            for table, (at, place) in zip(self._known, self._places(codes, read, self.n_states), strict=True):
                if by is not None:
                    shares[at] = np.log(table.reshape(-1)[place])
                    continue
                counts = np.bincount(place, minlength=table.size).reshape(table.shape)
                seen = counts > 0
                total += float((counts[seen] * np.log(table[seen])).sum())
        return Logarithm(total, CHAIN) if by is None else scores_by(by, shares, read.starts, read.lone, CHAIN)

    def probability(self, data: Any, *, lengths: Any = None, sequence: Any = None) -> Probability:
        """Return P of a sequence of states, or of all sequences together.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            InvalidArgument: a value is missing or not a state; a sequence is empty.

        >>> chain = MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]])
        >>> round(float(chain.probability([0, 0, 1])), 6)
        0.045
        """
        log = float(self.score(data, lengths=lengths, sequence=sequence))
        return Probability(math.exp(log), CHAIN, log=log)

    def fit(
        self, data: Any, *, lengths: Any = None, sequence: Any = None, weights: Any = None, prior: float = 0.0
    ) -> Self:
        """Learn the transition probabilities from sequences of states; returns the chain itself.

        States that were not named are those of the sequences, sorted; floats are states only if states=
        lists them.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            weights: how much each sequence counts; 1 if left out.
            prior: a pseudo-count, which is added to every count.

        Raises:
            InvalidArgument: a value is missing or not a state; a sequence is empty; prior is negative.

        >>> MarkovChain().fit([list("bba"), list("baa")])
        Markov chain: 2 states
        from  to a      to b
        a     1         0
        b     0.666667  0.333333
        first: 0, 1
        """
        if isinstance(prior, bool) or not isinstance(prior, int | float) or not 0.0 <= prior < math.inf:
            raise InvalidArgument(f"prior= is a number that is not negative, not {shown(prior)}.")
        variable = self._variable or _found(data, lengths, sequence)
        codes, read = _codes(variable.domain, data, lengths, sequence)
        k = variable.card
        check_cells((k,) * (self.order + 1), "The transitions", "choose fewer states, or a lower order")
        made = []
        for i, counts in enumerate(self._counted(codes, read, weights, k)):
            own = np.full(counts.shape, 1.0 / k) if self._tables is None else self._tables[i]
            table = normalised(counts.reshape(-1, k) + prior, own.reshape(-1, k)).reshape(counts.shape)
            table.flags.writeable = False
            made.append(table)
        self._tables, self._variable = tuple(made), variable
        return self

    def sample(
        self, n: int, *, sequences: int | None = None, seed: int | np.random.Generator | None = None
    ) -> Any:
        """Draw a sequence of n states, an array; or a list of several.

        Args:
            n: how many steps.
            sequences: how many sequences, each of n steps; one by itself if left out.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: n, sequences or the seed is not a whole number of at least 0.
            TooLarge: this many steps would not fit in memory.

        >>> MarkovChain([1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]]).sample(4, seed=0).tolist()
        [0, 1, 0, 1]
        """
        tables, random, size = self._known, generator(seed), draw_count(n)
        many = 1 if sequences is None else draw_count(sequences)
        check_steps(size, many)
        codes = draw_far(tables, np.arange(many + 1) * size, random)
        drawn = np.take(self.variable.domain.array, codes).reshape(many, size)
        return drawn[0] if sequences is None else list(drawn)

    def distribution(self, step: int) -> np.ndarray:
        """Return the probabilities of the states in one step; 0 is the first.

        Args:
            step: which step.

        Raises:
            InvalidArgument: it is not a whole number of at least 0.

        >>> MarkovChain([1.0, 0.0], [[0.9, 0.1], [0.3, 0.7]]).distribution(2).round(6).tolist()
        [0.84, 0.16]
        """
        if isinstance(step, bool) or not isinstance(step, int | np.integer) or step < 0:
            raise InvalidArgument(f"step is a whole number of at least 0, not {shown(step)}.")
        joint, far, clock = self._known[0], int(step), start_clock()
        for t in range(1, min(far, self.order - 1) + 1):
            joint = joint[..., None] * self._known[t]
        left = far - self.order + 1  # steps by the same table
        k, wide = self.n_states, self.n_states**self.order
        if left * k > 2 * wide**2 * left.bit_length():  # repeated squaring is less work
            chain = self.to_first_order()
            p, power = joint.reshape(-1), chain.transition
            while left:
                clock.check("multiplying transitions")
                p = p @ power if left & 1 else p
                left >>= 1
                power = squared(power) if left else power
            return np.asarray((p / p.sum()).reshape(-1, k).sum(axis=0))
        for _ in range(max(left, 0)):
            clock.check("multiplying transitions")
            joint = (joint[..., None] * self._known[-1]).sum(axis=0)
        return np.asarray(joint.sum(axis=tuple(range(joint.ndim - 1))))

    def stationary(self) -> np.ndarray:
        """Return the probabilities of the states that stay as they are from step to step.

        Raises:
            InvalidArgument: there are several such distributions.

        >>> MarkovChain([1.0, 0.0], [[0.9, 0.1], [0.3, 0.7]]).stationary().round(6).tolist()
        [0.75, 0.25]
        """
        chain = self.to_first_order()
        move = chain.transition
        n = len(move)
        equations = np.vstack([move.T - np.eye(n), np.ones(n)])
        found, _, rank, _ = np.linalg.lstsq(equations, np.append(np.zeros(n), 1.0), rcond=None)
        if rank < n:
            raise InvalidArgument(
                "The chain has several stationary distributions: several sets of states are never left."
            )
        k = self.variable.card
        return np.asarray(np.maximum(found, 0.0).reshape(-1, k).sum(axis=0))

    def to_first_order(self) -> MarkovChain:
        """Return the same chain as one of order 1, whose states are tuples of `order` states.

        Its sequences are order - 1 steps shorter: (a, b, c) becomes (a, b), (b, c).

        >>> pairs = MarkovChain([[0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]]], [[[0.9, 0.1], [0.5, 0.5]],
        ...     [[0.6, 0.4], [0.2, 0.8]]], order=2).to_first_order()
        >>> pairs.states, pairs.initial.round(6).tolist()
        (((0, 0), (0, 1), (1, 0), (1, 1)), [0.42, 0.18, 0.16, 0.24])
        """
        tables, k, order = self._known, self.variable.card, self.order
        if order == 1:
            return self
        wide = k**order
        check_cells((wide, wide), "The same chain of order 1", "choose fewer states, or a lower order")
        joint = tables[0]
        for table in tables[1:-1]:
            joint = joint[..., None] * table
        row = np.arange(wide)[:, None]
        move = np.zeros((wide, wide))
        move[row, row * k % wide + np.arange(k)] = tables[-1].reshape(wide, k)
        states = list(product(self.states, repeat=order))
        return MarkovChain(joint.reshape(-1), move, states=states, name=self.name)

    def to_network(self, steps: int) -> BayesianNetwork:
        """Return the Bayesian network of this many steps: "state[0]", "state[1]", ...

        Args:
            steps: how many.

        Raises:
            InvalidArgument: it is not a whole number of at least 1.

        >>> chain = MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]])
        >>> round(chain.to_network(3).query("state[1]", {"state[0]": 0, "state[2]": 1})[0], 6)
        0.5625
        """
        return chain_network.chain(self.name, self.variable, self._known, steps)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the states and the transitions between them (of order 1); returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.state_graph(self.to_first_order(), ax, figsize=figsize, title=title)

    def copy(self) -> Self:
        """Return an independent copy."""
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __eq__(self, other: object) -> bool:
        """Equal when states, order and parameters are."""
        if not isinstance(other, MarkovChain):
            return NotImplemented
        mine, theirs = self._tables, other._tables
        if (self._variable, self.order, mine is None) != (other._variable, other.order, theirs is None):
            return False
        return all(np.array_equal(a, b) for a, b in zip(mine or (), theirs or (), strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The transitions as a table."""
        return text_table(*self._lines(), title=self._title())

    def _repr_html_(self) -> str:
        return html_table(*self._lines(), title=self._title())

    def _title(self) -> str:
        order = f" of order {self.order}" if self.order > 1 else ""
        states = "no states yet" if self._variable is None else f"{self.n_states} states"
        return f"Markov chain{order}{f' {self.name!r}' if self.name else ''}: {states}"

    def _lines(self) -> tuple[list[str], list[list[str]], str]:
        if self._tables is None:
            some = () if self._variable is None else self.states[:_ROWS]
            return ["state"], [[label(state)] for state in some], "no parameters yet"
        k = self.variable.card
        rows = self.transition.reshape(-1, k)
        contexts = list(product(self.states, repeat=self.order))[:_ROWS]
        cells = [
            [", ".join(map(label, context)), *(f"{p:.6g}" for p in row)]
            for context, row in zip(contexts, rows.tolist(), strict=False)
        ]
        more = len(rows) - len(cells)
        first = ", ".join(f"{p:.6g}" for p in self._known[0].tolist()[:_ROWS])
        note = f"... {more:,} more rows\n" if more > 0 else ""
        return ["from", *(f"to {label(s)}" for s in self.states)], cells, f"{note}first: {first}"

    def _counted(self, codes: np.ndarray, read: Sequences, weights: Any, k: int) -> list[np.ndarray]:
        """How often each state followed those before it: the first ones by themselves, then all others."""
        each = np.repeat(weights_of(weights, len(read)), read.lengths)
        return [
            np.bincount(place, each[at], k ** (i + 1)).reshape((k,) * (i + 1))
            for i, (at, place) in enumerate(self._places(codes, read, k))
        ]

    def _places(self, codes: np.ndarray, read: Sequences, k: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each table the steps that use it, and which of its entries each of them uses."""
        step = np.arange(codes.size) - np.repeat(read.starts[:-1], read.lengths)
        for i in range(self.order + 1):
            at = np.flatnonzero(step == i if i < self.order else step >= i)
            place = np.zeros(at.size, dtype=np.int64)
            for back in range(i, -1, -1):
                place = place * k + codes[at - back]
            yield at, place


def _codes(domain: Domain, data: Any, lengths: Any, sequence: Any) -> tuple[np.ndarray, Sequences]:
    read = sequences(data, lengths=lengths, sequence=sequence, is_value=lambda value: domain.find(value) >= 0)
    codes = read.codes(domain, "states")
    if (codes < 0).any():
        place = read.place(int((codes < 0).argmax()))
        raise InvalidArgument(
            f"{place[0].upper()}{place[1:]}: the state is missing. The states of a chain are observed; where "
            "they are not, pgm.HMM sums over them."
        )
    return codes.astype(np.int64), read


def _found(data: Any, lengths: Any, sequence: Any) -> Variable:
    """The states that occur in sequences, where they were not named."""
    read, remedy = sequences(data, lengths=lengths, sequence=sequence), "MarkovChain(states=[...])"
    try:
        domain = inferring.domain_of("state", read.one_column())
    except InvalidFrame as error:
        why = str(error).partition(": say ")[0].rstrip(".")
        raise InvalidArgument(
            f"Name the states, {remedy}: the sequences do not determine them. {why}."
        ) from None
    if not domain.states:
        raise InvalidArgument(
            "The sequences hold measurements, but a chain has states: make these by pgm.discretize, "
            f"or name them, {remedy}."
        )
    return Variable.of("state", domain)
