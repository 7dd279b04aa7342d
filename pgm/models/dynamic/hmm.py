"""Hidden Markov models: a chain of hidden states, each of which emits what is observed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.distributions import Emission, emission_tables
from pgm.errors import ImpossibleEvidence, IncompleteModel, InvalidArgument, shown, warn
from pgm.frames.sequences import Sequences, sequences
from pgm.inference.engines import chain as engine
from pgm.printing import html_table, text_table
from pgm.randomness import draw_count, generator
from pgm.results import (
    FitReport,
    Logarithm,
    PerSequence,
    SampledSequence,
    SequenceForecast,
    StateBeliefs,
    StatePath,
)
from pgm.results.outlook import Outlook
from pgm.results.steps import CHAIN
from pgm.runtime.clock import start_clock
from pgm.variables import Variable

from . import chain_network, hmm_learning
from .checks import (
    check_by,
    check_steps,
    distribution,
    domain_of,
    names,
    printed_rows,
    steps_after,
    steps_ahead,
    transitions,
)
from .hmm_labels import known_states
from .hmm_stream import HMMStream
from .topology import allowed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pgm.models import BayesianNetwork

    from .hmm_posterior import HMMPosterior

_Answer = TypeVar("_Answer")
_ROWS = 12  # states that are printed
_ARRAYS = ("_initial", "_transition", "_mask")


class HMM:
    """A hidden Markov model: a Markov chain of hidden states, which emit the observations.

    `fit` learns what is left out, and starts from what is given.

    Args:
        initial: the probabilities of the states in the first step; a list, or a dict by state.
        transition: for each state the probabilities of the next one: rows are "from".
        emission: what the states emit: `pgm.Categorical`, `pgm.Gaussian`, ..., with a row for each state.
        states: the names of the states; if left out the keys of `transition`, else 0, 1, ...
        n_states: how many there are, if nothing else determines it.
        topology: which transitions are possible: `pgm.LeftToRight(max_jump=2)`, `pgm.Banded(1)`, or rows of
            booleans. Impossible transitions stay so in learning, as do zeros in `transition`.
        name: of the model, in print and in files.

    A sequence is a list, an array or a series of observations; several are a list of them, or one array with
    `lengths=`, or a data frame with `sequence="column"`. None and NaN were not observed.

    >>> import pgm
    >>> weather = HMM(
    ...     initial=[0.6, 0.4],
    ...     transition=[[0.7, 0.3], [0.4, 0.6]],
    ...     emission=pgm.Categorical([[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]], symbols=["walk", "shop", "clean"]),
    ...     states=["rainy", "sunny"],
    ... )
    >>> weather.decode(["walk", "shop", "clean"]).path
    ('sunny', 'rainy', 'rainy')
    """

    name: str
    variable: Variable
    emission: Emission
    fit_report: FitReport | None
    _initial: np.ndarray | None
    _transition: np.ndarray | None
    _mask: np.ndarray
    _first: np.ndarray

    def __init__(
        self,
        initial: Any = None,
        transition: Any = None,
        emission: Any = None,
        *,
        states: Any = None,
        n_states: int | None = None,
        topology: Any = None,
        name: str = "",
    ) -> None:
        if not isinstance(emission, Emission):
            raise InvalidArgument(
                f"emission= is a distribution such as pgm.Categorical(...) or pgm.Gaussian(...), not "
                f"{shown(emission)}."
            )
        if not isinstance(name, str):
            raise InvalidArgument(f"The name of a model is text, not {shown(name)}.")
        sizes = {
            "initial=": len(initial)
            if hasattr(initial, "__len__") and not isinstance(initial, dict)
            else None,
            "transition=": len(transition) if hasattr(transition, "__len__") else None,
            "emission=": emission.n_states,
        }
        if states is None and hasattr(emission, "of_states"):
            states = list(emission.classes)  # type: ignore[attr-defined]
        self.name, self.emission, self.fit_report = name, emission, None
        self.variable = Variable.of("state", domain_of(states, n_states, sizes, transition))
        if hasattr(emission, "of_states"):
            self.emission = emission.of_states(self.states)
        k = self.variable.card
        self._initial = None if initial is None else distribution(initial, self.variable, "initial=")
        self._transition = None if transition is None else transitions(transition, self.variable)
        if topology is None:
            self._mask, self._first = np.ones((k, k), bool), np.ones(k, bool)
        else:
            self._mask, self._first = allowed(topology, k)
            if self._transition is not None and (self._transition[~self._mask] > 0).any():
                i, j = np.argwhere((self._transition > 0) & ~self._mask)[0].tolist()
                a, b = self.states[i], self.states[j]
                raise InvalidArgument(
                    f"topology= rules out {a!r} -> {b!r}, which transition= makes possible."
                )
            if self._initial is not None and (self._initial[~self._first] > 0).any():
                a = self.states[int(((self._initial > 0) & ~self._first).argmax())]
                raise InvalidArgument(
                    f"topology= rules out {a!r} as the first state, which initial= makes possible."
                )
        if emission.has_parameters and emission.n_states is None and k > 1:
            raise InvalidArgument(
                f"emission= is one distribution, but there are {k} states: it needs a row for each of them."
            )

    # --- properties ---

    @property
    def states(self) -> tuple[Any, ...]:
        """The states, in order."""
        return self.variable.states

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return self.variable.card

    @property
    def initial(self) -> np.ndarray:
        """The probabilities of the states in the first step."""
        if self._initial is None:
            raise self._incomplete("initial=")
        return self._initial

    @property
    def transition(self) -> np.ndarray:
        """P(next state | state): rows are "from"."""
        if self._transition is None:
            raise self._incomplete("transition=")
        return self._transition

    @property
    def n_parameters(self) -> int:
        """The number of free parameters; impossible transitions and symbols are not counted."""
        start, move = self.initial, self.transition
        return int((start > 0).sum() - 1 + (move > 0).sum() - len(move)) + self.emission.n_free(
            np.ones(self.n_states, bool)
        )

    def _incomplete(self, what: str) -> IncompleteModel:
        return IncompleteModel(f"The model has no {what} yet: give it one, or fit it to data.")

    def _chain(self) -> engine.Chain:
        if not self.emission.has_parameters:
            raise self._incomplete("emission= with parameters")
        return engine.Chain(self.initial, self.transition)

    # --- questions ---

    def score(self, data: Any, *, lengths: Any = None, sequence: Any = None, by: str | None = None) -> Any:
        """Return log P of what was observed; a density where continuous values are observed.

        Args:
            data: a sequence, or several; see the class.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            by: "sequence" for an array with one entry for each, "step" for log P of each step given those
                before it; the total if left out.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; a sequence is empty.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
        >>> round(coin.score([0, 0, 1]), 6), coin.score([0, 0, 1], by="step").round(6).tolist()
        (-2.151754, [-0.356675, -0.293413, -1.501667])
        """
        read = self._read(data, lengths, sequence)
        check_by(by)
        clock = start_clock()
        if by == "step":
            shares = self._answered(read, lambda c, rows: engine.filtered(c, rows, clock)[1])
            return shares if read.lone else np.split(shares, read.starts[1:-1])
        logs = self._answered(read, lambda c, rows: engine.log_likelihoods(c, rows, clock))
        return logs if by else Logarithm(float(logs.sum()), CHAIN)

    def filter(self, data: Any, *, lengths: Any = None, sequence: Any = None) -> Any:
        """Return P(state | what was observed until then) for each step.

        Args:
            data: a sequence, or several; see the class.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; a sequence is empty.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
        >>> coin.filter([0, None]).values.round(6).tolist()
        [[0.357143, 0.642857], [0.385714, 0.614286]]
        """
        read, clock = self._read(data, lengths, sequence), start_clock()
        values, scores = self._answered(read, lambda c, rows: engine.filtered(c, rows, clock))
        return self._each(
            read, lambda a, b: StateBeliefs(self.variable, values[a:b], scores[a:b], "filtered")
        )

    def smooth(
        self,
        data: Any,
        *,
        lengths: Any = None,
        sequence: Any = None,
        lag: int | None = None,
        pairs: bool = False,
    ) -> Any:
        """Return P(state | the whole sequence) for each step.

        Args:
            data: a sequence, or several; see the class.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            lag: condition only on what was observed up to this many steps later.
            pairs: also compute `.pairs`, P(state, next state) for each step but the last.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; a sequence is empty; a bad
                lag.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
        >>> coin.smooth([0, 1]).values.round(6).tolist()
        [[0.646067, 0.353933], [0.758427, 0.241573]]
        """
        if lag is not None and (isinstance(lag, bool) or not isinstance(lag, int | np.integer) or lag < 0):
            raise InvalidArgument(f"lag= is a whole number of steps, not {shown(lag)}.")
        if pairs and lag is not None:
            raise InvalidArgument("pairs= are of the whole sequence: leave out lag=.")
        read, clock = self._read(data, lengths, sequence), start_clock()
        values, scores = self._answered(read, lambda c, rows: engine.smoothed(c, rows, clock, lag))
        both = None
        if pairs:
            both = self._answered(read, lambda c, rows: engine.pairs_of(c, rows, values, clock))
        lag = None if lag is None else int(lag)
        about = "smoothed" if lag is None else f"smoothed with a lag of {lag}"

        def one(a: int, b: int) -> StateBeliefs:
            # Each sequence before has one pair fewer than steps.
            at = a - int(np.searchsorted(read.starts, a, side="right")) + 1
            some = None if both is None else both[at : at + b - a - 1]
            return StateBeliefs(self.variable, values[a:b], scores[a:b], about, some)

        return self._each(read, one)

    def decode(
        self,
        data: Any,
        *,
        lengths: Any = None,
        sequence: Any = None,
        k: int | None = None,
        pointwise: bool = False,
    ) -> Any:
        """Return the most probable path of states (Viterbi).

        Args:
            data: a sequence, or several; see the class.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            k: this many best paths, as a list, the best first.
            pointwise: the most probable state of each step by itself; warns where these do not form a
                possible path.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; a sequence is empty; k is
                below 1.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
        >>> [path.path for path in coin.decode([0, 1], k=2)]
        [(0, 0), (1, 1)]
        """
        if k is not None and (isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1):
            raise InvalidArgument(f"k= is a whole number of at least 1, not {shown(k)}.")
        if k is not None and pointwise:
            raise InvalidArgument("Paths are ranked as a whole: k= cannot be combined with pointwise=.")
        read, clock = self._read(data, lengths, sequence), start_clock()
        if k is not None:
            logs = self._answered(read, lambda c, rows: engine.log_likelihoods(c, rows, clock))
            return self._ranked(read, logs, int(k))

        def best(chain: engine.Chain, rows: engine.Rows) -> Any:
            likely = cache(lambda: engine.log_likelihoods(chain, rows, start_clock()))
            if not pointwise:
                return *engine.best_paths(chain, rows, clock), likely
            found = engine.smoothed(chain, rows, clock)[0].argmax(axis=1).astype(np.int32)
            return found, engine.log_joints(chain, rows, found), likely

        codes, joint, likely = self._answered(read, best)
        if pointwise:
            if (joint == -np.inf).any():
                warn(
                    "The most probable states of single steps do not form a possible path: it has a "
                    "transition of probability zero. Leave out pointwise= for the most probable path."
                )
        indices = iter(range(len(read)))

        def one(a: int, b: int) -> StatePath:
            n = next(indices)
            return StatePath(self.variable, codes[a:b], joint[n], lambda: likely()[n])

        return self._each(read, one)

    def _ranked(self, read: Sequences, logs: np.ndarray, k: int) -> Any:
        chain, rows, clock = self._chain(), self._rows(read), start_clock()
        found = []
        for n, length in enumerate(read.lengths.tolist()):
            all_of_them = length * math.log2(self.n_states)  # as a power of two
            many = min(k, self.n_states**length) if all_of_them < 64 else k
            check_cells((length, self.n_states, many), "The best paths to each state", "ask for fewer, by k=")
            paths, values = engine.ranked_paths(chain, rows.part(n, n + 1), many, clock)
            found.append(
                [StatePath(self.variable, p, v, logs[n]) for p, v in zip(paths, values, strict=True)]
            )
        return found[0] if read.lone else found

    def forecast(self, data: Any, steps: int = 1, *, lengths: Any = None, sequence: Any = None) -> Any:
        """Return what follows a sequence: the states, and what will be observed.

        Args:
            data: a sequence, or several; see the class.
            steps: how many steps to look ahead.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; a sequence is empty; steps
                is not a whole number of at least 1.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
        >>> coin.forecast([0, 0, 1], steps=2).values.round(6).tolist()
        [[0.651084, 0.348916], [0.620867, 0.379133]]
        """
        steps = steps_ahead(steps)
        read, clock = self._read(data, lengths, sequence), start_clock()
        values, scores = self._answered(read, lambda c, rows: engine.filtered(c, rows, clock))
        return self._each(read, lambda a, b: self._forecast(values[b - 1], steps, float(scores[a:b].sum())))

    def _forecast(self, p: np.ndarray | None, steps: int, log_likelihood: float) -> SequenceForecast:
        """What follows a step whose states have these probabilities; None: nothing came before."""
        first = self.initial if p is None else p @ self.transition
        believed = steps_after(first, self.transition, steps)
        seen = Outlook(self.emission, believed)
        return SequenceForecast(self.variable, believed, seen, log_likelihood)

    def stream(self) -> HMMStream:
        """Return a filter that takes observations as they come, one or several at a time, in constant memory.

        >>> import pgm
        >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
        >>> stream = coin.stream()
        >>> for x in [0, 0, 1]:
        ...     now = stream.push(x)
        >>> now.values.round(6).tolist(), round(stream.log_likelihood, 6)
        ([[0.688854, 0.311146]], -2.151754)
        """
        return HMMStream(self)

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
        >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[1.0, 0.0], [0.0, 1.0]]))
        >>> drawn = coin.sample(3, given=[0, None, 1], seed=1)
        >>> [one.observations.tolist() for one in drawn]
        [[0, 1, 1], [0, 0, 1], [0, 0, 1]]
        """
        chain, random = self._chain(), generator(seed)
        n = draw_count(n)
        if given is not None:
            if sequences is not None:
                raise InvalidArgument("With given=, n is how many paths are drawn: leave out sequences=.")
            if n < 1:
                raise InvalidArgument("n is how many paths are drawn: at least 1, not 0.")
            return self._drawn_given(n, given, random)
        many = 1 if sequences is None else draw_count(sequences)
        if n < 1:
            raise InvalidArgument("A sequence has at least one step.")
        if many < 1:
            raise InvalidArgument("sequences= is how many sequences are drawn: at least 1, not 0.")
        check_steps(n, many)
        codes = engine.draw(chain, np.arange(many + 1) * n, random)
        seen = self.emission.draw(codes, random)
        drawn = [
            SampledSequence(self.variable, codes[i * n : (i + 1) * n], seen[i * n : (i + 1) * n])
            for i in range(many)
        ]
        return drawn[0] if sequences is None else PerSequence(drawn)

    def _drawn_given(self, n: int, given: Any, random: np.random.Generator) -> PerSequence[SampledSequence]:
        read, clock = self._read(given, None, None), start_clock()
        if not read.lone:
            raise InvalidArgument("given= is one sequence.")
        paths = self._answered(read, lambda c, rows: engine.draw_given(c, rows, n, random, clock))
        observed = self.emission.read(read)
        return PerSequence(
            [SampledSequence(self.variable, c, self.emission.filled(observed, c, random)) for c in paths]
        )

    # --- learning ---

    def fit(
        self,
        data: Any,
        *,
        lengths: Any = None,
        sequence: Any = None,
        states: Any = None,
        weights: Any = None,
        fixed: Any = (),
        prior: Any = None,
        starts: int = 1,
        method: str = "em",
        max_iter: int = 100,
        tol: float = 1e-6,
        seed: int | np.random.Generator | None = None,
    ) -> Self:
        """Learn from sequences whose states are hidden (Baum & Welch); returns the model itself.

        It starts from the current parameters or, where there are none, from a guess based on the data. Zeros
        stay zero, and a state that is never visited keeps its parameters. `fit_report` has the details.

        Args:
            data: a sequence, or several; see the class.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            states: the states that were observed, in the form of the data, None where they were not; for a
                data frame, the column that has them.
            weights: how much each sequence counts; 1 if left out.
            fixed: what stays: names among "initial", "transition", "emission"; or a dict from these to states
                whose rows stay, or (except for emission) to an array of booleans.
            prior: pseudo-counts: one for all, or a dict from the names above to a float, an array, or for the
                emission what its `statistics` returned; or priors, for the mode of the posterior:
                `pgm.priors.Dirichlet` for probabilities, `NormalWishart` or `NormalGamma` (for diagonal
                covariances) for a Gaussian; one for all states, or a list or dict with one for each.
            starts: how many runs of EM, all but the first from random guesses; the best is kept.
            method: "em"; "squarem", which extrapolates (Varadhan & Roland 2008), where EM needs many steps;
                or "viterbi" for counts along the best paths.
            max_iter: the largest number of steps.
            tol: it has converged when the relative gain in log-likelihood is at most this.
            seed: for the random guesses.

        Raises:
            InvalidArgument: an option is out of range; a value is not a symbol; a covariance collapses.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> tags = HMM(states=["noun", "verb"], emission=pgm.Categorical(symbols=["fish", "swim"]))
        >>> tags.fit([["fish", "swim"], ["fish", "fish"]], states=[["noun", "verb"], ["noun", None]]).states
        ('noun', 'verb')
        >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
        >>> coin.fit([[0, 0, 0, 1, 1, 0], [0, 0, 1]], fixed=["initial"]).initial.tolist()
        [0.5, 0.5]
        """
        read = self._read(data, lengths, sequence)
        known = None
        if states is not None:
            read, known = known_states(states, read, data, lengths, self.variable)
        self._learn(
            read, known, starts, max_iter, tol, generator(seed),
            weights=weights, fixed=fixed, prior=prior, method=method,
        )  # fmt: skip
        return self

    def posterior(
        self,
        data: Any,
        *,
        lengths: Any = None,
        sequence: Any = None,
        states: Any = None,
        prior: Any = None,
        draws: int = 1000,
        burn_in: int = 200,
        chains: int = 4,
        seed: int | np.random.Generator | None = None,
    ) -> HMMPosterior:
        """Draw the parameters from their posterior given sequences (Gibbs sampling).

        The model stays as it is; each chain starts from its current parameters, and zeros stay zero. Which
        state is which is arbitrary unless the prior or observed states determine it: chains may swap states
        (label switching), and R-hat then shows that they disagree.

        Args:
            data: a sequence, or several; see the class.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            states: the states that were observed, as for `fit`.
            prior: as for `fit`; rows of probabilities are uniform if left out, and a Gaussian needs a
                `pgm.priors.NormalWishart` or `NormalGamma`.
            draws: how many are kept, of all chains together.
            burn_in: how many draws of each chain are discarded first.
            chains: how many there are: at least two, so that they can be compared.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: an option is out of range; a value is not a symbol; a part without a prior.
            ImpossibleEvidence: no path of states emits this; the message names the step.

        >>> import pgm
        >>> tags = HMM(states=["noun", "verb"], emission=pgm.Categorical(symbols=["fish", "swim"]))
        >>> seen = {"data": ["fish", "swim", "fish"], "states": ["noun", "verb", "noun"]}
        >>> found = tags.posterior(**seen, draws=4000, seed=0)
        >>> found.transition.mean.round(1).tolist()  # (0 + 1) / (1 + 2) from noun to noun
        [[0.3, 0.7], [0.7, 0.3]]
        """
        from .hmm_posterior import draw

        read = self._read(data, lengths, sequence)
        known = None
        if states is not None:
            read, known = known_states(states, read, data, lengths, self.variable)
        fitting = hmm_learning.HMMLearning(self, read, known, prior=prior, climbs=False)
        return draw(fitting, draws, burn_in, chains, generator(seed))

    def _learn(
        self,
        read: Sequences,
        known: np.ndarray | None,
        starts: int,
        max_iter: int,
        tol: float,
        random: np.random.Generator,
        **options: Any,
    ) -> None:
        made, report = hmm_learning.HMMLearning(self, read, known, **options).run(
            starts, max_iter, tol, random
        )
        self._take(made)
        self.fit_report = report

    def _take(self, made: hmm_learning.Parameters) -> None:
        for table in (made.start, made.move):
            table.flags.writeable = False
        self._initial, self._transition, self.emission = made.start, made.move, made.emission

    # --- as other models ---

    def to_network(self, steps: int) -> BayesianNetwork:
        """Return the Bayesian network of this many steps: "state[0]", "observation[0]", "state[1]", ...

        Args:
            steps: how many.

        Raises:
            InvalidArgument: it is not a whole number of at least 1, or the emission has no form as nodes.

        >>> import pgm
        >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
        >>> net = coin.to_network(2)
        >>> round(net.query("state[0]", {"observation[0]": 0, "observation[1]": 1})[0], 6)
        0.646067
        """
        return chain_network.network(self, steps)

    def copy(self) -> Self:
        """Return an independent copy."""
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __eq__(self, other: object) -> bool:
        """Equal when states and parameters are."""
        if not isinstance(other, HMM):
            return NotImplemented
        if (self.name, self.variable, self.emission) != (other.name, other.variable, other.emission):
            return False
        return all(_same(getattr(self, name), getattr(other, name)) for name in _ARRAYS)

    __hash__ = None  # type: ignore[assignment]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the states and the transitions between them; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.state_graph(self, ax, figsize=figsize, title=title)

    def __repr__(self) -> str:
        """States and transitions as a table, then the emission."""
        below = emission_tables.as_text(self.emission, names(self.variable))
        return f"{text_table(*self._lines(), title=self._title())}\n{below}"

    def _repr_html_(self) -> str:
        below = emission_tables.as_html(self.emission, names(self.variable))
        return html_table(*self._lines(), title=self._title()) + below

    def _title(self) -> str:
        return f"HMM{f' {self.name!r}' if self.name else ''}: {self.n_states} states"

    def _lines(self) -> tuple[list[str], list[list[str]], str]:
        k = min(self.n_states, _ROWS)
        called = names(self.variable)[:k]
        unknown = [["?"] * k] * k
        start = unknown[0] if self._initial is None else printed_rows(self._initial[None, :k])[0]
        move = unknown if self._transition is None else printed_rows(self._transition[:k, :k])
        rows = [[called[i], start[i], *move[i]] for i in range(k)]
        more = self.n_states - k
        note = f"... {more:,} more of {self.n_states:,} states" if more else ""
        return ["state", "initial", *(f"to {name}" for name in called)], rows, note

    # --- internals ---

    def _read(self, data: Any, lengths: Any, sequence: Any) -> Sequences:
        is_value = getattr(self.emission, "is_value", lambda value: False)
        return sequences(
            data, vector=self.emission.vector, lengths=lengths, sequence=sequence, is_value=is_value
        )

    def _rows(self, read: Sequences) -> engine.Rows:
        observed = self.emission.read(read)
        return engine.Rows(self.emission.log_rows(observed.rows), observed.code, read.starts)

    def _answered(self, read: Sequences, ask: Callable[[engine.Chain, engine.Rows], _Answer]) -> _Answer:
        chain = self._chain()
        try:
            return ask(chain, self._rows(read))
        except engine.ImpossibleStep as error:
            raise impossible(read, error.row) from None

    def _each(self, read: Sequences, make: Callable[[int, int], Any]) -> Any:
        found: Sequence[Any] = [make(a, b) for a, b in pairwise(read.starts.tolist())]
        return found[0] if read.lone else PerSequence(found, read.ids)


def _same(mine: np.ndarray | None, theirs: np.ndarray | None) -> bool:
    if mine is None or theirs is None:
        return mine is theirs
    return np.array_equal(mine, theirs)


def impossible(read: Sequences, row: int) -> ImpossibleEvidence:
    """The error for a sequence of probability zero, which says where it became impossible."""
    place = read.place(row)
    return ImpossibleEvidence(
        f"{place[0].upper()}{place[1:]}: what is observed here is impossible after what was observed before: "
        "no state that can be reached emits it."
    )
