"""Input-output hidden Markov models: all parts may depend on inputs, and on past observations."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pgm.distributions import ByInput, Emission, Estimators, Regression, Softmax
from pgm.errors import IncompleteModel, InvalidArgument, shown
from pgm.frames.sequences import Sequences
from pgm.frames.sequences import sequences as sequences_of
from pgm.inference.engines import staged as engine
from pgm.inference.engines.chain import Rows
from pgm.models.bayesian_network import BayesianNetwork
from pgm.randomness import draw_count, generator
from pgm.results import Density, Distribution, PerSequence, SampledSequence, SequenceForecast
from pgm.results.outlook import EachStep, emitted
from pgm.runtime.clock import start_clock
from pgm.variables import REAL, Variable

from . import input_output_learning, input_output_network
from .chain_network import steps_of
from .chain_tables import ChainLayout, Entries
from .checks import check_steps, distribution, domain_of, names, printed_rows, transitions
from .hidden import HiddenChain, Sheet
from .inputs import WithInputs, input_rows, read_with_inputs, with_past
from .linear_parameters import plural

_ROWS = 12
_MODELS_OF_INPUTS = (Softmax, ByInput, Estimators)


class InputOutputHMM(HiddenChain):
    """A hidden Markov model whose parts may depend on inputs (Bengio & Frasconi 1996).

    Args:
        initial: the probabilities of the states in the first step; or a model of them given its inputs:
            `pgm.Softmax(...)` with one row, `pgm.ByInput({value: probabilities})`.
        transition: for each state the probabilities of the next one; or a model of them given inputs:
            `pgm.Softmax(...)` with a row for each state, `pgm.ByInput({value: rows})`. Such a gate has
            memory: the states are then a Markov mixture of experts (Meila & Jordan 1996).
        emission: what the states emit, given inputs: `pgm.Regression(...)`, `pgm.Softmax(...)`,
            `pgm.ByInput({value: distribution})`, `pgm.Estimators(...)` of scikit-learn; or a distribution
            that does not depend on them.
        states: the names of the states; 0, 1, ... if left out.
        n_states: how many there are, if nothing else determines it.
        window: the inputs of this many earlier steps are inputs of a step too; zeros before the first.
        lags: this many past observations are inputs too, after the others, most recent first.
        entering: True if a transition depends on the inputs of the step that it enters; False if on those of
            the step that it leaves.
        name: of the model, in print and in files.

    All questions take `inputs=`: a row for each step of each sequence, in the form of the data; for a data
    frame, the names of its columns.

    >>> import pgm
    >>> lines = InputOutputHMM(
    ...     [0.5, 0.5],
    ...     [[0.8, 0.2], [0.3, 0.7]],
    ...     pgm.Regression([1.0, -1.0], bias=[0.0, 2.0], variance=[0.25, 0.5]),
    ... )
    >>> round(lines.score([0.2, 0.8, 1.5, 1.2], inputs=[0, 1, 2, 1]), 6)
    -2.711949
    """

    _word = "InputOutputHMM"
    window: int
    lags: int
    entering: bool
    _by_inputs: dict[str, Any]  # parts that depend on inputs
    _values: tuple[Any, ...] | None  # of an input that all parts take value by value
    _width: int | None  # how many inputs, without window and lags; None: not known yet

    def __init__(
        self,
        initial: Any = None,
        transition: Any = None,
        emission: Any = None,
        *,
        states: Any = None,
        n_states: int | None = None,
        window: int = 0,
        lags: int = 0,
        entering: bool = False,
        name: str = "",
    ) -> None:
        if not isinstance(name, str):
            raise InvalidArgument(f"The name of a model is text, not {shown(name)}.")
        for what, value in (("window", window), ("lags", lags)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
                raise InvalidArgument(f"{what}= is a whole number, not {shown(value)}.")
        if not isinstance(entering, bool):
            raise InvalidArgument(f"entering= is True or False, not {shown(entering)}.")
        if not isinstance(emission, Emission | Regression | Softmax | ByInput | Estimators):
            raise InvalidArgument(
                "emission= is pgm.Regression(...), pgm.Softmax(...), pgm.ByInput({...}) or a distribution "
                f"such as pgm.Gaussian(...), not {shown(emission)}."
            )
        self.name, self.fit_report, self._visible, self._masks = name, None, None, {}
        self.window, self.lags, self.entering = int(window), int(lags), entering
        sizes = {
            "initial=": _length(initial),
            "transition=": _length(transition),
            "emission=": emission.n_states,
        }
        self.variable = Variable.of("state", domain_of(states, n_states, sizes, transition))
        k = self.variable.card
        self._tables, self._shapes, self._by_inputs = {}, {}, {}
        for part, given, rows in (("initial", initial, 1), ("transition", transition, k)):
            if isinstance(given, _MODELS_OF_INPUTS):
                given._shaped(rows, k)
                self._by_inputs[part] = given
                continue
            self._shapes[part, ""] = (k,) if part == "initial" else (k, k)
            if given is not None:
                check = distribution if part == "initial" else transitions
                self._tables[part, ""] = check(given, self.variable, f"{part}=")
        if isinstance(emission, Emission):
            if emission.has_parameters and (emission.n_states or 1) != k:
                raise InvalidArgument(
                    f"emission= has {emission.n_states or 1} rows, but there are {k} states."
                )
        else:
            self._by_inputs["emission"] = emission
        self._emission = emission
        self._take_inputs()
        one, _ = engine.stage(k, k, np.repeat(np.arange(k), k), np.tile(np.arange(k), k))
        self._layout = ChainLayout(
            (Entries(("initial", ""), np.arange(k)),),
            ((one, (Entries(("transition", ""), np.arange(k * k)),)),),
        )

    def _take_inputs(self) -> None:
        """Find how many inputs there are, and whether they are values that all parts know."""
        given = list(self._by_inputs.values())
        self._values = None
        if given and not self.lags and not self.window and all(isinstance(one, ByInput) for one in given):
            self._values = given[0].values
            self._by_inputs = {part: one._over(given[0].values) for part, one in self._by_inputs.items()}
            self._emission = self._by_inputs.get("emission", self._emission)
        widths = {one.inputs for one in given if one.inputs is not None}
        if len(widths) > 1:
            raise InvalidArgument(f"Parts differ in how many inputs they take: {sorted(widths)}.")
        self._width = None
        if self._values is not None:
            self._width = 1
        elif not given:
            self._width = 0
        elif widths:
            past = self.lags * self._lag_width()
            own, rest = divmod(widths.pop() - past, self.window + 1)
            if rest or own < 0:
                raise InvalidArgument(
                    "Each part has weights for all inputs, those of the window, and the past observations: "
                    f"{self.window + 1} times the number of inputs, and {past} more."
                )
            self._width = own

    def _lag_width(self) -> int:
        """How many inputs one past observation makes."""
        if not self.lags:
            return 0
        if self._emission.domain is not None:
            return int(self._emission.domain.card) - 1
        return int(self._emission.dim)

    # --- properties ---

    @property
    def initial(self) -> Any:
        """The probabilities of the states in the first step, or a model of them given inputs."""
        return self._part("initial")

    @property
    def transition(self) -> Any:
        """P(next state | state), or a model of it given inputs."""
        return self._part("transition")

    @property
    def emission(self) -> Any:
        """What the states emit."""
        return self._emission

    def _part(self, part: str) -> Any:
        if part in self._by_inputs:
            return self._by_inputs[part]
        if (part, "") not in self._tables:
            self._check_parameters()
        return self._tables[part, ""]

    def _check_parameters(self) -> None:
        for part, _ in self._shapes:
            if (part, "") not in self._tables:
                raise IncompleteModel(f"The model has no {part} yet: give it one, or fit it to data.")
        for part, one in {**self._by_inputs, "emission": self._emission}.items():
            if not one.has_parameters:
                raise IncompleteModel(
                    f"The {part} has no parameters yet: give it some, or fit the model to data."
                )

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        self._check_parameters()
        tables = sum(int((t > 0).sum()) - t[..., 0].size for t in self._tables.values())
        given = sum(one._n_free for one in self._by_inputs.values())
        plain = 0 if "emission" in self._by_inputs else self._emission.n_free(np.ones(self.n_states, bool))
        return int(tables + given + plain)

    # --- questions ---

    def score(
        self,
        data: Any,
        *,
        inputs: Any = None,
        before: Any = None,
        lengths: Any = None,
        sequence: Any = None,
        by: str | None = None,
    ) -> Any:
        """Return log P of what was observed given the inputs; a density where continuous values are observed.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            inputs: a row for each step, in the form of the data; for a data frame, the names of its columns.
            before: with lags, what was observed before the first step, most recent first. If left out, the
                first observations are conditioned on.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            by: "sequence" for an array with one entry for each, "step" for log P of each step given those
                before it; the total if left out.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; an input is missing.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> coin = InputOutputHMM([1.0], [[1.0]], pgm.ByInput({"fair": pgm.Categorical([[0.5, 0.5]])}))
        >>> round(coin.score([0, 1], inputs=["fair", "fair"]), 6)
        -1.386294
        """
        return self._scored(self._read_with_inputs(data, lengths, sequence, inputs, before), by)

    def filter(
        self, data: Any, *, inputs: Any = None, before: Any = None, lengths: Any = None, sequence: Any = None
    ) -> Any:
        """Return P(state | what was observed until then, inputs) for each step.

        Args:
            data: a sequence, or several; see `score`.
            inputs: a row for each step, in the form of the data; for a data frame, the names of its columns.
            before: with lags, what was observed before the first step.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; an input is missing.
            ImpossibleEvidence: no path of states emits this; the message names the step.
        """
        return self._filtered(self._read_with_inputs(data, lengths, sequence, inputs, before))

    def smooth(
        self,
        data: Any,
        *,
        inputs: Any = None,
        before: Any = None,
        lengths: Any = None,
        sequence: Any = None,
        lag: int | None = None,
    ) -> Any:
        """Return P(state | the whole sequence, inputs) for each step.

        Args:
            data: a sequence, or several; see `score`.
            inputs: a row for each step, in the form of the data; for a data frame, the names of its columns.
            before: with lags, what was observed before the first step.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            lag: condition only on what was observed up to this many steps later.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; an input is missing; a bad
                lag.
            ImpossibleEvidence: no path of states emits this; the message names the step.
        """
        return self._smoothed(self._read_with_inputs(data, lengths, sequence, inputs, before), lag)

    def decode(
        self, data: Any, *, inputs: Any = None, before: Any = None, lengths: Any = None, sequence: Any = None
    ) -> Any:
        """Return the most probable path of states (Viterbi).

        Args:
            data: a sequence, or several; see `score`.
            inputs: a row for each step, in the form of the data; for a data frame, the names of its columns.
            before: with lags, what was observed before the first step.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; an input is missing.
            ImpossibleEvidence: no path of states emits this; the message names the step.
        """
        return self._decoded(self._read_with_inputs(data, lengths, sequence, inputs, before))

    def forecast(
        self,
        data: Any,
        steps: int = 1,
        *,
        inputs: Any = None,
        future: Any = None,
        before: Any = None,
        lengths: Any = None,
        sequence: Any = None,
    ) -> Any:
        """Return what follows a sequence: the states, and what will be observed.

        Args:
            data: a sequence; see `score`.
            steps: how many steps to look ahead; with lags only one, since later steps depend on what comes.
            inputs: a row for each step, in the form of the data; for a data frame, the names of its columns.
            future: a row of inputs for each step ahead.
            before: with lags, what was observed before the first step.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; an input is missing.
            ImpossibleEvidence: no path of states emits this; the message names the step.
        """
        read = self._read_with_inputs(data, lengths, sequence, inputs, before)
        ahead = steps_of(steps)
        if self.lags and ahead > 1:
            raise InvalidArgument("With lags, one step is forecast; draw those after it by `sample`.")
        values, scores = self._answered(read, engine.filtered)
        rows = None
        if self._width:
            if future is None:
                raise InvalidArgument("The model has inputs: future= has a row for each step ahead.")
            rows = self._columns(sequences_of(future, vector=self._width > 1))
            if len(rows) != ahead:
                raise InvalidArgument(
                    f"future= has {plural(len(rows), 'row')}, but {plural(ahead, 'step')} are ahead."
                )

        def one(n: int, a: int, b: int) -> SequenceForecast:
            own = np.zeros((b - a, 0)) if rows is None else read.own[a:b]
            later = np.zeros((ahead, 0)) if rows is None else rows
            past = np.concatenate([read.past[a:b], np.full((ahead, read.past.shape[1]), np.nan)])
            x = with_past(np.concatenate([own, later]), self.window, past, self.lags, read.before)
            p, found, seen = values[b - 1], [], []
            clock = start_clock()
            for t in range(b - a, b - a + ahead):
                clock.check()
                p = p @ self._moves(x[t if self.entering else t - 1][None])[0]
                found.append(p)
                seen.append(self._emitted_at(p, x[t]))
            share = float(scores[a:b].sum())
            return SequenceForecast(self.variable, np.array(found), EachStep(seen), share)

        return self._each(read, one)

    def sample(
        self,
        n: int,
        *,
        sequences: int | None = None,
        inputs: Any = None,
        before: Any = None,
        given: Any = None,
        seed: int | np.random.Generator | None = None,
    ) -> Any:
        """Draw states and what they emit; or, given a sequence, paths of states from their posterior.

        Args:
            n: how many steps; with `given`, how many paths.
            sequences: how many sequences, each of n steps; one by itself if left out.
            inputs: a row for each step, the same for all sequences.
            before: with lags, what was observed before the first step.
            given: a sequence: its states are drawn, and its missing observations.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: n is not a whole number; an input is missing; a value of `given` is not a symbol.
            ImpossibleEvidence: no path of states emits what is given.
        """
        random, n, many = generator(seed), draw_count(n), 1 if sequences is None else draw_count(sequences)
        if n < 1:
            raise InvalidArgument("n is how many steps, or paths, are drawn: at least 1, not 0.")
        if many < 1:
            raise InvalidArgument("sequences= is how many sequences are drawn: at least 1, not 0.")
        if given is not None:
            if sequences is not None:
                raise InvalidArgument("With given=, n is how many paths are drawn: leave out sequences=.")
            read = self._read_with_inputs(given, None, None, inputs, before)
            if not read.lone:
                raise InvalidArgument("given= is one sequence.")
            paths = self._answered(read, lambda s, r, clock: engine.draw_given(s, r, n, random, clock))
            drawn = [SampledSequence(self.variable, p, self._filled(read, p, random)) for p in paths]
            return PerSequence(drawn)
        self._check_parameters()
        check_steps(n, many)
        own = np.zeros((n, 0)) if not self._width else self._columns(self._inputs(inputs, None))
        if len(own) != n:
            raise InvalidArgument(f"inputs= has {plural(len(own), 'row')} for {plural(n, 'step')}.")
        moved = with_past(own, self.window, None, 0, None)
        if self.lags:
            paths, seen = self._drawn_in_turn(moved, many, before, random)
        else:
            x, rows = np.tile(moved, (many, 1)), np.tile(own, (many, 1))
            starts = np.arange(many + 1) * n
            read = WithInputs([None] * len(x), starts, many == 1, x=x, own=rows, entering=self.entering)
            codes = engine.draw(self._steps(read), starts, random)
            paths, seen = (np.split(each, starts[1:-1]) for each in (codes, self._draw(codes, x, random)))
        found = [SampledSequence(self.variable, *one) for one in zip(paths, seen, strict=True)]
        return found[0] if sequences is None else PerSequence(found)

    def _drawn_in_turn(
        self, moved: np.ndarray, many: int, before: Any, random: np.random.Generator
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Draw step by step, all sequences at once: each draw is an input of the next step."""
        first = self._before(before)
        if first is None:
            raise InvalidArgument(
                "The model has lags: before= takes what was observed before the first step, most recent "
                "first."
            )
        past, n, vector = np.tile(first, (many, 1, 1)), len(moved), self._emission.vector
        codes, seen, row = np.empty((n, many), np.int32), [], np.empty((many, 0))
        for t in range(n):
            x = np.hstack([np.tile(moved[t], (many, 1)), past.reshape(many, -1)])
            if t == 0:
                p = self._starts(x)
            else:
                p = self._moves(x if self.entering else row)[np.arange(many), codes[t - 1]]
            beyond = (random.random(many)[:, None] >= np.cumsum(p, axis=1)).sum(axis=1)
            codes[t] = np.minimum(beyond, self.n_states - 1)
            seen.append(self._draw(codes[t], x, random))
            row, new = x, self._past_of(sequences_of(list(seen[-1]), vector=vector))
            past = np.concatenate([new[:, None], past[:, :-1]], axis=1)
        return list(codes.T.copy()), list(np.stack(seen, axis=1))

    def fit(  # type: ignore[override]
        self,
        data: Any,
        *,
        inputs: Any = None,
        before: Any = None,
        lengths: Any = None,
        sequence: Any = None,
        weights: Any = None,
        fixed: Any = (),
        starts: int = 1,
        max_iter: int = 100,
        tol: float = 1e-6,
        seed: int | np.random.Generator | None = None,
    ) -> Self:
        """Learn from sequences and their inputs by EM; returns the model itself.

        Each M-step maximises over tables and regressions, and improves a softmax by Newton steps, so the
        likelihood never falls.

        Args:
            data: a sequence, or several; see `score`.
            inputs: a row for each step, in the form of the data; for a data frame, the names of its columns.
            before: with lags, what was observed before the first step.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            weights: how much each sequence counts; 1 if left out.
            fixed: names of parts that stay: "initial", "transition", "emission".
            starts: how many runs of EM, all but the first from random guesses; the best is kept.
            max_iter: the largest number of steps.
            tol: it has converged when the relative gain in log-likelihood is at most this.
            seed: for the random guesses.

        Raises:
            InvalidArgument: an option is out of range; a value is not a symbol; the noise of a state
                collapses.
            ImpossibleEvidence: no path of states emits this; the message names the step.
        """
        read = self._read_with_inputs(data, lengths, sequence, inputs, before)
        fitting = input_output_learning.InputOutputLearning(self, read, weights, fixed)
        best, report = fitting.run(starts, max_iter, tol, generator(seed))
        self.__dict__.update(best.__dict__)
        self.fit_report = report
        return self

    def to_network(self, steps: int, *, inputs: Any = None, before: Any = None) -> BayesianNetwork:
        """Return the Bayesian network of this many steps with these inputs, whose answers are the same.

        Args:
            steps: how many.
            inputs: a row for each step.
            before: with lags, what was observed before the first step, most recent first.

        Raises:
            InvalidArgument: it is not a whole number of at least 1, an input is missing, or the emission
                cannot be written as nodes.
        """
        return input_output_network.network(self, steps_of(steps), inputs, before)

    # --- internals ---

    def _read_with_inputs(
        self, data: Any, lengths: Any, sequence: Any, inputs: Any, before: Any
    ) -> WithInputs:
        return read_with_inputs(self, data, lengths, sequence, inputs, before)

    def _inputs(self, inputs: Any, lengths: Any) -> Sequences:
        if inputs is None:
            raise InvalidArgument("The model has inputs: inputs= has a row for each step.")
        return sequences_of(inputs, vector=(self._width or 2) > 1, lengths=lengths)

    def _columns(self, read: Sequences) -> np.ndarray:
        """Rows of inputs as floats; values become their positions."""
        return input_rows(read, self._values, self._width or 1)

    def _before(self, before: Any) -> np.ndarray | None:
        """Past observations before the first step, (lags, dimensions), most recent first."""
        if before is None:
            return None
        if not self.lags:
            raise InvalidArgument("before= has no effect: the model has no lags.")
        given = before if isinstance(before, list | tuple | np.ndarray) and np.ndim(before) else [before]
        found = self._past_of(sequences_of(given, vector=self._emission.vector))
        if len(found) != self.lags or np.isnan(found).any():
            many = f"{self.lags} observation{'s' * (self.lags > 1)}"
            raise InvalidArgument(f"before= takes {many}, most recent first, not {shown(before)}.")
        return found

    def _past_of(self, read: Sequences) -> np.ndarray:
        """Observations as inputs of later steps."""
        emission = self._emission
        if hasattr(emission, "_coordinates"):
            return np.asarray(emission._coordinates(emission._read(read)))
        if emission.domain is None:
            return read.floats(emission.dim, flat=not emission.vector)
        codes = read.codes(emission.domain)
        found: np.ndarray = (codes[:, None] == np.arange(1, emission.domain.card)).astype(float)
        found[codes < 0] = np.nan
        return found

    def _starts(self, x: np.ndarray) -> np.ndarray:
        """P(first state | inputs), (rows, k)."""
        if "initial" in self._by_inputs:
            return np.asarray(np.exp(self._by_inputs["initial"]._logs(x)[:, 0]))
        return np.tile(self._tables["initial", ""], (len(x), 1))

    def _moves(self, x: np.ndarray) -> np.ndarray:
        """P(next state | state, inputs), (rows, k, k)."""
        if "transition" in self._by_inputs:
            return np.asarray(np.exp(self._by_inputs["transition"]._logs(x)))
        return np.broadcast_to(self._tables["transition", ""], (len(x), self.n_states, self.n_states))

    def _steps(self, read: Any) -> engine.Steps:
        self._check_parameters()
        k, none = self.n_states, np.empty(0, np.int64)
        start, begin = self._tables.get(("initial", "")), none
        if start is None:
            rows, begin = read.beginning
            start = self._starts(rows)
        move, which = self._tables.get(("transition", "")), none
        if move is None:
            rows, which = read.moving
            move = self._moves(rows)
        stages = (self._layout.stages[0][0],)
        return engine.Steps(start.reshape(-1, k), stages, move.reshape(-1, k * k), begin, which)

    def _rows(self, read: Any, ends: bool = True) -> Rows:
        self._check_parameters()
        self._check_size(read.n_rows)
        if "emission" not in self._by_inputs:
            observed = self._emission.read(read)
            return Rows(self._emission.log_rows(observed.rows), observed.code, read.starts)
        y = self._emission._read(read)
        self._check_inputs(read, y)
        logs = self._emission._log_given(y, np.nan_to_num(read.x))
        logs[read.taken] = 0.0
        return Rows(logs, np.empty(0, np.int32), read.starts)

    def _check_inputs(self, read: Any, y: np.ndarray) -> None:
        """Refuse an observation that lacks inputs, unless it is conditioned on."""
        there = y >= 0 if self._emission.domain is not None else ~np.isnan(y.reshape(len(y), -1)).all(axis=1)
        bad = np.isnan(read.x).any(axis=1) & there & ~read.taken
        if bad.any():
            raise read.lacks(int(bad.argmax()), "the observation depends on")

    def _draw(self, codes: np.ndarray, x: np.ndarray, random: np.random.Generator) -> np.ndarray:
        if "emission" in self._by_inputs:
            return np.asarray(self._emission._draw_given(codes, x, random))
        return np.asarray(self._emission.draw(codes, random))

    def _filled(self, read: Any, codes: np.ndarray, random: np.random.Generator) -> np.ndarray:
        if "emission" not in self._by_inputs:
            return np.asarray(self._emission.filled(self._emission.read(read), codes, random))
        y = self._emission._read(read)
        drawn = self._draw(codes, np.nan_to_num(read.x), random)
        if self._emission.domain is not None:
            return np.where(y < 0, drawn, np.take(self._emission.domain.array, np.maximum(y, 0)))
        gaps = np.isnan(y.reshape(len(y), -1)).all(axis=1)
        if self.lags and gaps.any():
            raise InvalidArgument("With lags, a gap is an input of the next step: it is not drawn.")
        flat = y[:, 0] if drawn.ndim == 1 else y
        return np.where(gaps if drawn.ndim == 1 else gaps[:, None], drawn, flat)

    def _emitted_at(self, p: np.ndarray, x: np.ndarray) -> Any:
        if "emission" not in self._by_inputs:
            return emitted(self._emission, p)
        emission, row = self._emission, x[None]
        if emission.domain is not None:
            card = emission.domain.card
            table = np.exp(emission._log_given(np.arange(card), np.repeat(row, card, axis=0)))
            return Distribution((Variable.of("observation", emission.domain),), table @ p)
        if isinstance(emission, ByInput):
            return emitted(emission.parts[int(emission._index(row)[0])], p)
        d = emission.dim
        called = ["observation"] if d == 1 else [f"observation[{i}]" for i in range(d)]
        variables = tuple(Variable.of(name, REAL) for name in called)
        return Density(variables, p, emission._means(row)[0], emission.covariance)

    def __eq__(self, other: object) -> bool:
        """Equal when states and parameters are."""
        if not isinstance(other, InputOutputHMM) or type(other) is not type(self):
            return NotImplemented
        mine, theirs = (self.window, self.lags, self.entering), (other.window, other.lags, other.entering)
        return mine == theirs and self._by_inputs == other._by_inputs and bool(super().__eq__(other))

    __hash__ = None

    def _title(self) -> str:
        said = super()._title()
        said += f", {self._width} input{'s' * (self._width > 1)}" if self._width else ""
        said += f", a window of {self.window}" if self.window else ""
        return said + (f", {self.lags} lag{'s' * (self.lags > 1)}" if self.lags else "")

    def _sheets(self) -> list[Sheet]:
        start, move = self._tables.get(("initial", "")), self._tables.get(("transition", ""))
        called, k = names(self.variable)[:_ROWS], min(self.n_states, _ROWS)
        gate = ["by inputs"] if "transition" in self._by_inputs else ["?"] * k
        moves = [gate] * k if move is None else printed_rows(move[:k, :k])
        first = "by inputs" if "initial" in self._by_inputs else "?"
        starts = [first] * k if start is None else printed_rows(start[None, :k])[0]
        rows = [[called[i], starts[i], *moves[i]] for i in range(k)]
        by_gate = move is None and gate == ["by inputs"]
        header = ["state", "initial", *(["next"] if by_gate else [f"to {name}" for name in called])]
        note = f"... {self.n_states - k:,} more states" if self.n_states > k else ""
        return [("", header, rows, note)]

    def __repr__(self) -> str:
        said = [super().__repr__()]
        for part in ("initial", "transition"):
            if part in self._by_inputs:
                said.append(f"{part}, by inputs:\n{self._by_inputs[part]!r}")
        return "\n".join(said)

    def plot(self, ax: Any = None, *, figsize: Any = None, title: str | None = None) -> Any:
        """Draw the states, and what they depend on; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        return input_output_network.picture(self).plot(
            ax=ax, figsize=figsize, title=self._title() if title is None else title
        )


def _length(given: Any) -> int | None:
    if isinstance(given, _MODELS_OF_INPUTS):
        return None
    return len(given) if hasattr(given, "__len__") and not isinstance(given, dict) else None
