"""What models of hidden chains have in common: questions about sequences, learning, and printing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.distributions import Observed, emission_tables
from pgm.errors import ImpossibleEvidence, IncompleteModel, InvalidArgument, shown
from pgm.frames.sequences import Sequences, sequences
from pgm.inference.engines import staged as engine
from pgm.inference.engines.chain import ImpossibleStep, Rows
from pgm.printing import html_table, html_text, text_table
from pgm.randomness import draw_count, generator
from pgm.results import (
    FitReport,
    PerSequence,
    SampledSequence,
    SequenceForecast,
    StateBeliefs,
    StatePath,
)
from pgm.results.outlook import Outlook
from pgm.results.steps import CHAIN
from pgm.runtime.clock import Clock, start_clock
from pgm.variables import Variable

from . import hidden_learning
from .chain_network import steps_of
from .chain_tables import ChainLayout, Key
from .checks import check_by, check_steps, names, scores_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pgm.models import BayesianNetwork

_Answer = TypeVar("_Answer")
_STEPS_PER_CHECK = 1024  # steps of a forecast between two checks of the clock
Sheet = tuple[str, list[str], list[list[str]], str]  # a table that is printed: title, header, rows, notes


class HiddenChain:
    """A chain of hidden states, whose parameters are tables, and what the states emit."""

    _word: ClassVar[str]  # what it is called in print
    name: str
    variable: Variable  # the states as a user sees them
    fit_report: FitReport | None
    _layout: ChainLayout
    _tables: dict[Key, np.ndarray]
    _shapes: dict[Key, tuple[int, ...]]
    _masks: dict[Key, np.ndarray]  # which entries are possible, where not all are
    _emission: Any  # of the states that the engine sees
    _visible: np.ndarray | None  # for each of these, the state that the user sees; None: they are the same

    # --- properties ---

    @property
    def states(self) -> tuple[Any, ...]:
        """The states, in order; they are tuples for several chains together."""
        return self.variable.states

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return self.variable.card

    @property
    def n_parameters(self) -> int:
        """The number of free parameters; impossible states, transitions and symbols are not counted."""
        self._check_parameters()
        return sum(map(self._free_of, self._shapes)) + int(
            self._emission.n_free(np.ones(self._emission.n_states, bool))
        )

    def _free_of(self, key: Key) -> int:
        """The number of free parameters of a table."""
        table = self._tables[key]
        return int((table > 0).sum()) - table[..., 0].size

    def _check_parameters(self) -> None:
        for part, chain in self._shapes:
            if (part, chain) not in self._tables:
                of = f" of {chain!r}" if chain else ""
                raise IncompleteModel(f"The model has no {part}{of} yet: give it one, or fit it to data.")
        if not self._emission.has_parameters:
            raise IncompleteModel(
                "The emission has no parameters yet: give it some, or fit the model to data."
            )

    # --- questions ---

    def score(self, data: Any, *, lengths: Any = None, sequence: Any = None, by: str | None = None) -> Any:
        """Return log P of what was observed; a density where continuous values are observed.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            by: "sequence" for an array with one entry for each, "step" for log P of each step given those
                before it; the total if left out.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; a sequence is empty.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> emission = pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0, 1]])
        >>> both = pgm.FactorialHMM([coin, coin], emission)
        >>> round(both.score([0, 1, 1]), 6)
        -2.424917
        """
        return self._scored(self._read(data, lengths, sequence), by)

    def filter(self, data: Any, *, lengths: Any = None, sequence: Any = None) -> Any:
        """Return P(state | what was observed until then) for each step.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; a sequence is empty.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> emission = pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0, 1]])
        >>> both = pgm.FactorialHMM([coin, coin], emission)
        >>> both.filter([0, 1, 1]).marginal("chain0").values[-1].round(6).tolist()
        [0.33889, 0.66111]
        """
        return self._filtered(self._read(data, lengths, sequence))

    def smooth(self, data: Any, *, lengths: Any = None, sequence: Any = None, lag: int | None = None) -> Any:
        """Return P(state | the whole sequence) for each step.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            lag: condition only on what was observed up to this many steps later.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; a sequence is empty; a bad
                lag.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> emission = pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0, 1]])
        >>> both = pgm.FactorialHMM([coin, coin], emission)
        >>> both.smooth([0, 1, 1]).marginal("chain1").values[0].round(6).tolist()
        [0.588338, 0.411662]
        """
        return self._smoothed(self._read(data, lengths, sequence), lag)

    def decode(self, data: Any, *, lengths: Any = None, sequence: Any = None) -> Any:
        """Return the most probable path of states (Viterbi).

        Where states have hidden detail, this and `.probability` are those of the most probable path in full
        detail: how long a semi-Markov state lasts, what urns contain, which part of a composition it is.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; a sequence is empty.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> emission = pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0, 1]])
        >>> both = pgm.FactorialHMM([coin, coin], emission)
        >>> both.decode([1, 1, 1]).path
        ((1, 1), (1, 1), (1, 1))
        """
        return self._decoded(self._read(data, lengths, sequence))

    def forecast(self, data: Any, steps: int = 1, *, lengths: Any = None, sequence: Any = None) -> Any:
        """Return what follows a sequence: the states, and what will be observed.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            steps: how many steps to look ahead.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; a sequence is empty; steps
                is not a whole number of at least 1.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> emission = pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0, 1]])
        >>> both = pgm.FactorialHMM([coin, coin], emission)
        >>> both.forecast([1, 1, 1], steps=1).observations.round(6).tolist()
        [[0.210003, 0.789997]]
        """
        return self._forecast(self._read(data, lengths, sequence), steps)

    def sample(
        self,
        n: int,
        *,
        sequences: int | None = None,
        given: Any = None,
        seed: int | np.random.Generator | None = None,
    ) -> Any:
        """Draw states and what they emit; or, given a sequence, paths of states from their posterior.

        Args:
            n: how many steps; with `given`, how many paths.
            sequences: how many sequences, each of n steps; one by itself if left out.
            given: a sequence: its states are drawn, and its missing observations.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: n is not a whole number; the seed is invalid; a value of `given` is not a symbol.
            ImpossibleEvidence: no path of states emits what is given.

        >>> import pgm
        >>> same = pgm.MarkovChain([0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]])
        >>> both = pgm.FactorialHMM([same, same], pgm.Categorical([[1, 0], [0, 1], [0, 1], [0, 1]]))
        >>> both.sample(3, given=[0, None], seed=0)[2].observations.tolist()
        [0, 0]
        """
        if given is not None:
            if sequences is not None:
                raise InvalidArgument("With given=, n is how many paths are drawn: leave out sequences=.")
            return self._drawn_given(n, self._read(given, None, None), generator(seed))
        return self._drawn(n, sequences, generator(seed))

    def fit(
        self,
        data: Any,
        *,
        lengths: Any = None,
        sequence: Any = None,
        weights: Any = None,
        fixed: Any = (),
        prior: Any = None,
        starts: int = 1,
        max_iter: int = 100,
        tol: float = 1e-6,
        seed: int | np.random.Generator | None = None,
    ) -> Self:
        """Learn from sequences whose states are hidden, by exact EM; returns the model itself.

        It starts from the current parameters or, where there are none, from a guess based on the data. Zeros
        stay zero, and rows that are never used keep their values. `fit_report` has the details.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            weights: how much each sequence counts; 1 if left out.
            fixed: names of parts that stay, such as "initial", "transition", "emission".
            prior: pseudo-counts of all possible entries: one for all parts, or a dict by part.
            starts: how many runs of EM, all but the first from random guesses; the best is kept.
            max_iter: the largest number of steps.
            tol: it has converged when the relative gain in log-likelihood is at most this.
            seed: for the random guesses.

        Raises:
            InvalidArgument: an option is out of range; a value is not a symbol; a covariance collapses.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> emission = pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0, 1]])
        >>> both = pgm.FactorialHMM([coin, coin], emission)
        >>> both.fit([0, 0, 0, 1, 1, 0, 1], fixed=["transition"]).fit_report.converged
        True
        """
        read = self._read(data, lengths, sequence)
        return self._fitted(read, weights, fixed, prior, starts, max_iter, tol, generator(seed))

    def to_network(self, steps: int) -> BayesianNetwork:
        """Return the Bayesian network of this many steps, whose answers are the same.

        Args:
            steps: how many.

        Raises:
            InvalidArgument: it is not a whole number of at least 1, or the emission has no form as nodes.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> emission = pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0, 1]])
        >>> both = pgm.FactorialHMM([coin, coin], emission)
        >>> round(both.to_network(2).log_probability({"observation[0]": 1, "observation[1]": 1}), 6)
        -1.029949
        """
        raise NotImplementedError

    # --- internals ---

    def _read(self, data: Any, lengths: Any, sequence: Any) -> Sequences:
        emission = self._emission
        is_value = getattr(emission, "is_value", lambda value: False)
        return sequences(data, vector=emission.vector, lengths=lengths, sequence=sequence, is_value=is_value)

    def _steps(self, read: Sequences | None) -> engine.Steps:
        """The steps of the chain; where they depend on the data, those for these data."""
        self._check_parameters()
        return self._layout.steps(self._tables)[0]

    def _counted(self, begun: np.ndarray, arcs: np.ndarray, ended: np.ndarray) -> dict[Key, np.ndarray]:
        """Expected counts of the entries of all tables."""
        kept = self._layout.steps(self._tables)[1]
        every = np.zeros(kept.size)
        every[kept] = arcs
        return self._layout.counts(self._tables, begun, every, ended)

    def _refined(self, made: Any, counts: Mapping[Key, np.ndarray], fixed: set[str]) -> Any:
        """The learned model, its tables constrained where they are not free; self is the model before."""
        return made

    @property
    def _conditioned(self) -> bool:
        """Whether paths may end: draws and forecasts are then conditional on their going on."""
        return self._ends

    @property
    def _ends(self) -> bool:
        """Whether the model gives a probability to the end of a sequence."""
        return bool(self._layout.end)

    def _ending(self) -> np.ndarray:
        """P(the sequence ends after the state), for each state."""
        return self._layout.ending(self._tables)

    def _rows(self, read: Sequences, ends: bool = True) -> Rows:
        self._check_parameters()
        self._check_size(read.n_rows)
        return self._rows_of(self._emission.read(read), read.starts, ends)

    def _rows_of(self, observed: Observed, starts: np.ndarray, ends: bool = True) -> Rows:
        """Log-likelihoods of each row under each state; in last rows, with that of ending there."""
        logs, code = self._emission.log_rows(observed.rows), observed.code
        if not self._ends or not ends:
            return Rows(logs, code, starts)
        with np.errstate(divide="ignore"):
            last = np.log(self._ending())
        if code.size:
            code = code.copy()
            code[starts[1:] - 1] += len(logs)
            return Rows(np.concatenate([logs, logs + last]), code, starts)
        logs = logs.copy()
        logs[starts[1:] - 1] += last
        return Rows(logs, code, starts)

    def _check_size(self, steps: int) -> None:
        what = f"Distributions over {self._emission.n_states:,} states in each of {steps:,} steps"
        check_cells((steps, self._emission.n_states), what, self._remedy())

    def _remedy(self) -> str:
        return "choose fewer states, or shorter sequences"

    def _answered(
        self, read: Sequences, ask: Callable[[engine.Steps, Rows, Clock], _Answer], ends: bool = True
    ) -> _Answer:
        rows = self._rows(read, ends)
        steps = self._steps(read)
        try:
            return ask(steps, rows, start_clock())
        except ImpossibleStep as error:
            place = read.place(error.row)
            raise ImpossibleEvidence(
                f"{place[0].upper()}{place[1:]}: what is observed here is impossible after what was observed "
                "before: no state that can be reached emits it."
            ) from None

    def _each(self, read: Sequences, make: Callable[[int, int, int], Any]) -> Any:
        found: Sequence[Any] = [make(n, a, b) for n, (a, b) in enumerate(pairwise(read.starts.tolist()))]
        return found[0] if read.lone else PerSequence(found, read.ids)

    def _seen(self, values: np.ndarray) -> np.ndarray:
        """Beliefs about the states that a user sees."""
        if self._visible is None:
            return values
        order = np.argsort(self._visible, kind="stable")
        begin = np.searchsorted(self._visible[order], np.arange(self.n_states))
        return np.asarray(np.add.reduceat(values[:, order], begin, axis=1))

    def _codes(self, path: np.ndarray) -> np.ndarray:
        return path if self._visible is None else self._visible[path].astype(np.int32)

    def _scored(self, read: Sequences, by: Any) -> Any:
        check_by(by)
        shares = self._answered(read, engine.filtered)[1]
        return scores_by(by, shares, read.starts, read.lone, CHAIN)

    def _filtered(self, read: Sequences) -> Any:
        values, scores = self._answered(read, engine.filtered, False)
        seen = self._seen(values)
        return self._each(read, lambda n, a, b: self._beliefs(seen[a:b], scores[a:b], "filtered"))

    def _smoothed(self, read: Sequences, lag: Any) -> Any:
        if lag is not None and (isinstance(lag, bool) or not isinstance(lag, int | np.integer) or lag < 0):
            raise InvalidArgument(f"lag= is a whole number of steps, not {shown(lag)}.")
        far = None if lag is None else int(lag)
        values, scores = self._answered(read, lambda s, r, clock: engine.smoothed(s, r, clock, far))
        seen, about = self._seen(values), "smoothed" if far is None else f"smoothed with a lag of {far}"
        return self._each(read, lambda n, a, b: self._beliefs(seen[a:b], scores[a:b], about))

    def _decoded(self, read: Sequences) -> Any:
        path, joint = self._answered(read, engine.best_paths)
        codes, likely = self._codes(path), self._scored(read, "sequence")
        return self._each(read, lambda n, a, b: self._path(codes[a:b], path[a:b], joint[n], likely[n]))

    def _forecast(self, read: Sequences, steps: Any) -> Any:
        ahead = steps_of(steps)
        values, scores = self._answered(read, engine.filtered, False)
        chain = self._steps(None)

        check_steps(ahead, len(read))
        clock = start_clock()

        def one(n: int, a: int, b: int) -> SequenceForecast:
            believed, p = np.empty((ahead, values.shape[1])), values[b - 1]
            for t in range(ahead):
                if t % _STEPS_PER_CHECK == 0:
                    clock.check()
                p = chain.ahead(p)
                if self._conditioned:  # given that it goes on
                    p = p / p.sum() if p.sum() > 0.0 else p
                believed[t] = p
            outlook, states = self._outlook(believed), self._seen(believed)
            return SequenceForecast(self.variable, states, outlook, float(scores[a:b].sum()))

        return self._each(read, one)

    def _outlook(self, p: np.ndarray) -> Outlook:
        return Outlook(self._emission, p)

    def _drawn(self, n: Any, sequences: Any, random: np.random.Generator) -> Any:
        n, many = draw_count(n), 1 if sequences is None else draw_count(sequences)
        if n < 1 or many < 1:
            raise InvalidArgument("At least one sequence of at least one step is drawn.")
        check_steps(n, many)
        if self._conditioned:  # drawn given that it ends there, and not before
            rows = np.zeros((n, self._emission.n_states))
            with np.errstate(divide="ignore"):
                rows[-1] += np.log(self._ending()) if self._ends else 0.0
            alone = Rows(rows, np.empty(0, np.int32), np.array([0, n]))
            try:
                found = engine.draw_given(self._steps(None), alone, many, random, start_clock())
            except ImpossibleStep:
                raise InvalidArgument(f"No sequence of the model has {n} steps.") from None
            codes = np.concatenate(found)
        else:
            codes = engine.draw(self._steps(None), np.arange(many + 1) * n, random)
        seen = self._emission.draw(codes, random)
        states = self._codes(codes)
        drawn = [
            SampledSequence(self.variable, states[a : a + n], seen[a : a + n]) for a in range(0, many * n, n)
        ]
        return drawn[0] if sequences is None else PerSequence(drawn)

    def _drawn_given(self, n: Any, read: Sequences, random: np.random.Generator) -> Any:
        n = draw_count(n)
        if n < 1:
            raise InvalidArgument("n is how many paths are drawn: at least 1, not 0.")
        if not read.lone:
            raise InvalidArgument("given= is one sequence.")
        paths = self._answered(read, lambda s, r, clock: engine.draw_given(s, r, n, random, clock))
        observed = self._emission.read(read)
        return PerSequence(
            [
                SampledSequence(self.variable, self._codes(p), self._emission.filled(observed, p, random))
                for p in paths
            ]
        )

    def _beliefs(self, values: np.ndarray, scores: np.ndarray, about: str) -> StateBeliefs:
        return StateBeliefs(self.variable, np.array(values), np.array(scores), about)

    def _path(self, codes: np.ndarray, path: np.ndarray, joint: float, likely: float) -> StatePath:
        return StatePath(self.variable, codes, joint, likely)

    def _fitted(
        self,
        read: Sequences,
        weights: Any,
        fixed: Any,
        prior: Any,
        starts: Any,
        max_iter: int,
        tol: float,
        random: np.random.Generator,
    ) -> Self:
        self._check_size(read.n_rows)
        fitting = hidden_learning.HiddenLearning(self, read, weights, fixed, prior)
        best, report = fitting.run(starts, max_iter, tol, random)
        self.__dict__.update(best.__dict__)
        self.fit_report = report
        return self

    # --- as a value, and in print ---

    def _with(self, tables: Mapping[Key, np.ndarray], emission: Any) -> Self:
        """The same model with other parameters."""
        made = self.copy()
        for table in tables.values():
            table.flags.writeable = False
        made._tables, made._emission = dict(tables), emission
        return made

    def copy(self) -> Self:
        """Return an independent copy."""
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __eq__(self, other: object) -> bool:
        """Equal when states and parameters are."""
        if type(other) is not type(self):
            return NotImplemented
        if (self.name, self.variable) != (other.name, other.variable) or self._emission != other._emission:
            return False
        same = self._tables.keys() == other._tables.keys() and self._shapes == other._shapes
        return same and all(np.array_equal(t, other._tables[key]) for key, t in self._tables.items())

    __hash__ = None  # type: ignore[assignment]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the model: its variables in two steps and what they depend on; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        return self.to_network(2).plot(
            ax=ax, figsize=figsize, title=self._title() if title is None else title
        )

    def __repr__(self) -> str:
        """The tables, then the emission."""
        said = [self._title()]
        said += [
            text_table(header, rows, notes, title=title) for title, header, rows, notes in self._sheets()
        ]
        below = [f"{name}{emission_tables.as_text(one, states)}" for name, one, states in self._emits()]
        return "\n".join([*said, *below])

    def _repr_html_(self) -> str:
        said = [html_text(self._title())]
        said += [
            html_table(header, rows, notes, title=title) for title, header, rows, notes in self._sheets()
        ]
        for name, one, states in self._emits():
            said += [html_text(name)] if name else []
            said.append(emission_tables.as_html(one, states))
        return "".join(said)

    def _emits(self) -> list[tuple[str, Any, list[str]]]:
        """For each part: its name, its emission, and the names of the emission's rows."""
        found = getattr(self, "emission", self._emission)
        if not isinstance(found, dict):
            return [("", found, names(self.variable))]
        parts = {one.name: names(one) for one in getattr(self, "variables", ())}
        return [(f"{name}: ", one, parts.get(name, [])) for name, one in found.items()]

    def _title(self) -> str:
        return f"{self._word}{f' {self.name!r}' if self.name else ''}: {self.n_states:,} states"

    def _sheets(self) -> list[Sheet]:
        raise NotImplementedError
