"""Factorial hidden Markov models: chains that move by themselves and emit together."""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import Any, Self

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.distributions import Tied
from pgm.errors import InvalidArgument
from pgm.inference.engines.sampling import Gibbs
from pgm.randomness import generator

from . import factorial_engines
from .chain_tables import ChainLayout, Key, side_by_side
from .joint_chains import JointChains, chain_of, check_emission, named


class FactorialHMM(JointChains):
    """Independent hidden chains that jointly emit the observations (Ghahramani & Jordan 1997).

    Exact answers take O(T M K^(M+1)) operations for M chains of K states: each chain's own matrix is applied
    in turn, and the K^M x K^M matrix is never formed. On request, engine="mean-field" and engine="gibbs"
    approximate in `smooth`, the first also in `score` and `fit`: their results hold marginals of the
    individual chains, and say that they are approximate.

    Args:
        chains: a list of chains, or a dict by name: `pgm.MarkovChain(initial, transition)`, a pair of such
            tables, or a count of states whose tables are yet to be learned.
        emission: what they emit: a row for each combination of states, those of the last chain vary fastest.
        name: of the model, in print and in files.

    >>> import pgm
    >>> slow = pgm.MarkovChain([0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]], states=["low", "high"])
    >>> quick = pgm.MarkovChain([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], states=["off", "on"])
    >>> both = FactorialHMM({"level": slow, "switch": quick}, pgm.Gaussian([0.0, 1.0, 5.0, 6.0], sd=0.5))
    >>> both.decode([0.1, 0.9, 5.8]).path
    (('low', 'off'), ('low', 'on'), ('high', 'on'))
    """

    _word = "FactorialHMM"

    def __init__(self, chains: Any, emission: Any, *, name: str = "") -> None:
        found = {called: chain_of(called, one) for called, one in named(chains, "chains=").items()}
        given: dict[Key, Any] = {}
        shapes: dict[Key, tuple[int, ...]] = {}
        for called, (variable, start, move) in found.items():
            k = variable.card
            shapes["initial", called], shapes["transition", called] = (k,), (k, k)
            given["initial", called], given["transition", called] = start, move
        variables = tuple(variable for variable, _, _ in found.values())
        self._take(variables, given, shapes, name)
        rows = prod(v.card for v in variables)
        check_emission(emission, rows, "emission=")
        self._emission = Tied(emission, np.arange(rows))

    @cached_property
    def _layout(self) -> ChainLayout:  # type: ignore[override]
        """How tables make up a step of all chains together; approximations do not need it."""
        arcs = self.n_states * sum(v.card for v in self.variables)
        check_cells((arcs, 4), "A step of these chains", self._remedy())
        return side_by_side(self._links())

    def _remedy(self) -> str:
        return (
            'smooth, score and fit take engine="mean-field", and smooth engine="gibbs", which approximate; '
            "else choose fewer states, or shorter sequences"
        )

    @property
    def emission(self) -> Any:
        """What the states emit: a row for each tuple of states, the last chain's varying fastest."""
        return self._emission.shared

    def score(
        self,
        data: Any,
        *,
        lengths: Any = None,
        sequence: Any = None,
        by: str | None = None,
        engine: Any = "auto",
        seed: int | np.random.Generator | None = None,
    ) -> Any:
        """Return log P of what was observed; a density where continuous values are observed.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            by: "sequence" for an array with one entry for each, "step" for log P of each step given those
                before it; the total if left out.
            engine: "exact", the same as "auto"; or "mean-field", or `pgm.engines.MeanField(...)`: a lower
                bound, and `bounds` says so.
            seed: for the random starts of mean field.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; a sequence is empty.
            ImpossibleEvidence: no path of states emits this; the message names the step.
            NoSupportFound: mean field found no path that does.
            TooLarge: the states of all chains together are too many for the exact engine.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> emission = pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0, 1]])
        >>> both = pgm.FactorialHMM([coin, coin], emission)
        >>> least = both.score([0, 1, 1], engine="mean-field")
        >>> least.exact, bool(least.bounds[0] < both.score([0, 1, 1]) < least.bounds[1])
        (False, True)
        """
        how, read = factorial_engines.engine_of(engine, seed), self._read(data, lengths, sequence)
        if how is None:
            return self._scored(read, by)
        return factorial_engines.scored(self, read, by, how, seed)

    def smooth(
        self,
        data: Any,
        *,
        lengths: Any = None,
        sequence: Any = None,
        lag: int | None = None,
        engine: Any = "auto",
        seed: int | np.random.Generator | None = None,
    ) -> Any:
        """Return P(state | the whole sequence) for each step.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            lag: condition only on what was observed up to this many steps later.
            engine: "exact", the same as "auto"; or "mean-field" or "gibbs", which approximate the marginals
                of each chain: `pgm.results.ChainBeliefs`. `pgm.engines.MeanField(...)` and
                `pgm.engines.Gibbs(...)` have options.
            seed: for the draws of Gibbs, and the random starts of mean field.

        Raises:
            InvalidArgument: a value is not one of the symbols, or not a number; a sequence is empty; a bad
                lag.
            ImpossibleEvidence: no path of states emits this; the message names the step.
            NoSupportFound: an approximation found no path that does.
            TooLarge: the states of all chains together are too many for the exact engine.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> emission = pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0, 1]])
        >>> both = pgm.FactorialHMM([coin, coin], emission)
        >>> both.smooth([0, 1, 1]).marginal("chain1").values[0].round(6).tolist()
        [0.588338, 0.411662]
        >>> both.smooth([0, 1, 1], engine="gibbs", seed=0).report.exact
        False
        """
        how, read = factorial_engines.engine_of(engine, seed), self._read(data, lengths, sequence)
        if how is None:
            return self._smoothed(read, lag)
        if lag is not None:
            raise InvalidArgument("lag= needs the exact engine: approximations see the whole sequence.")
        return factorial_engines.smoothed(self, read, how, seed)

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
        engine: Any = "auto",
    ) -> Self:
        """Learn from sequences whose states are hidden, by EM; returns the model itself.

        It starts from the current parameters or, where there are none, from a guess based on the data. Zeros
        stay zero, and rows that are never used keep their values. `fit_report` has the details.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            weights: how much each sequence counts; 1 if left out.
            fixed: names of parts that stay: "initial", "transition", "emission".
            prior: pseudo-counts of all possible entries: one for all parts, or a dict by part.
            starts: how many runs of EM, all but the first from random guesses; the best is kept.
            max_iter: the largest number of steps.
            tol: it has converged when the relative gain in log-likelihood is at most this.
            seed: for the random guesses.
            engine: "exact", the same as "auto"; or "mean-field", which maximises the lower bound:
                `fit_report.log_likelihoods` are its values.

        Raises:
            InvalidArgument: an option is out of range; a value is not a symbol; a covariance collapses.
            ImpossibleEvidence: no path of states emits this; the message names the step.
            NoSupportFound: mean field found no path that does.
            TooLarge: the states of all chains together are too many for the exact engine.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> emission = pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0, 1]])
        >>> both = pgm.FactorialHMM([coin, coin], emission)
        >>> both.fit([0, 0, 0, 1, 1, 0, 1], engine="mean-field").fit_report.exact
        False
        """
        how, read = factorial_engines.engine_of(engine), self._read(data, lengths, sequence)
        if how is None:
            return self._fitted(read, weights, fixed, prior, starts, max_iter, tol, generator(seed))
        if isinstance(how, Gibbs):
            raise InvalidArgument(
                'fit takes engine="exact" or "mean-field"; Gibbs sampling has no bound to maximise.'
            )
        from .factorial_learning import FactorialLearning

        fitting = FactorialLearning(self, read, weights, fixed, prior, how)
        best, report = fitting.run(starts, max_iter, tol, generator(seed))
        self.__dict__.update(best.__dict__)
        self.fit_report = report.changed(engine=how.name)
        return self
