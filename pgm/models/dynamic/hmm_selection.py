"""Choosing the number of hidden states: models of several sizes, by a criterion or held-out sequences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.calls import guarded
from pgm.distributions import Emission
from pgm.errors import InvalidArgument, listed, shown
from pgm.frames import Sequences
from pgm.models.selection import Selection, goodness
from pgm.randomness import generator
from pgm.runtime.clock import in_one_time
from pgm.runtime.progress import report as report_progress

from .hmm import HMM
from .hmm_classifier import log_likelihoods, some_sequences
from .hmm_learning import HMMLearning, Parameters

_SCORES = ("bic", "aic", "validation")
_SEARCHES = ("starts", "split")


@dataclass(frozen=True)
class Candidate:
    """A model with this many states, and how good it is."""

    n_states: int
    model: HMM
    log_likelihood: float
    aic: float
    bic: float
    validation: float | None  # log P of sequences that were held out


class StateSelection(Selection[Candidate]):
    """Models with different numbers of states; `model` is the best by `score`.

    >>> import pgm
    >>> data = [[0.0, 0.1, 5.0, 5.1, 0.2, 0.1, 4.9], [5.0, 5.2, 0.0, -0.1, 0.1]]
    >>> found = select_states(data, emission=pgm.Gaussian(form="tied"), n_states=[1, 2], seed=0)
    >>> found.n_states, [one.n_states for one in found.candidates]
    (2, [1, 2])
    """

    size, word, rows = "n_states", "states", "sequences"

    @property
    def model(self) -> HMM:
        """The best model."""
        return self.best.model

    @property
    def n_states(self) -> int:
        """How many states the best model has."""
        return self.best.n_states


@guarded
@in_one_time
def select_states(
    data: Any,
    *,
    emission: Any,
    n_states: Any = range(1, 8),
    score: str = "bic",
    search: str = "starts",
    validation: Any = None,
    folds: int | None = None,
    lengths: Any = None,
    sequence: Any = None,
    prior: Any = None,
    starts: int = 5,
    max_iter: int = 100,
    tol: float = 1e-6,
    seed: int | np.random.Generator | None = None,
) -> StateSelection:
    """Fit hidden Markov models of several sizes, and choose the number of states.

    Args:
        data: sequences, as for `HMM.fit`.
        emission: what the states emit, its parameters yet to be learned: `pgm.Gaussian(dim=2)`, ...
        n_states: the numbers of states to try.
        score: "bic" or "aic", the smaller the better; or "validation", log P of held-out sequences.
        search: "starts" fits each size from several guesses; "split" grows the model before by splitting the
            state that gains most, and stops when the score is no better.
        validation: sequences to hold out, for score="validation"; or use `folds`.
        folds: how many parts the data are divided into, each of which is held out once.
        lengths: how many steps each sequence has, if all are concatenated.
        sequence: the column of a data frame that says which sequence a row belongs to.
        prior: pseudo-counts, as for `HMM.fit`.
        starts: how many runs of EM for each model; the best is kept.
        max_iter: the largest number of EM steps.
        tol: as for `HMM.fit`.
        seed: for the random guesses.

    Raises:
        InvalidArgument: an option is out of range, or cannot be combined with another; a value is not a
            symbol.

    >>> import pgm
    >>> data = [[0.0, 0.1, 5.0, 5.1, 0.2, 0.1, 4.9], [5.0, 5.2, 0.0, -0.1, 0.1]]
    >>> select_states(data, emission=pgm.Gaussian(form="tied"), n_states=[1, 2], seed=0).model.n_states
    2
    """
    if score not in _SCORES or search not in _SEARCHES:
        what, given, known = (
            ("score", score, _SCORES) if score not in _SCORES else ("search", search, _SEARCHES)
        )
        raise InvalidArgument(f"{what}= is one of {listed(known)}, not {shown(given)}.")
    if not isinstance(emission, Emission) or emission.n_states is not None:
        raise InvalidArgument(
            f"emission= is a distribution that has no parameters yet, such as pgm.Gaussian(dim=2), not "
            f"{shown(emission)}."
        )
    sizes = _sizes(n_states)
    if (score == "validation") != (validation is not None or folds is not None):
        raise InvalidArgument(
            'score="validation" needs validation= or folds=, the sequences that are held out; other scores '
            "need none."
        )
    if folds is not None and (validation is not None or search == "split"):
        raise InvalidArgument('folds= can be combined neither with validation= nor with search="split".')
    if search == "split" and not hasattr(emission, "with_parameters"):
        raise InvalidArgument(f'search="split" does not work with a {type(emission).__name__}.')
    random = generator(seed)
    first = HMM(n_states=1, emission=emission)
    read = first._read(data, lengths, sequence)
    held = None if validation is None else first._read(validation, None, sequence)
    if folds is not None and (
        isinstance(folds, bool) or not isinstance(folds, int) or not 2 <= folds <= len(read)
    ):
        raise InvalidArgument(
            f"folds= is a whole number from 2 to {len(read)}, the sequences, not {shown(folds)}."
        )

    def fitted(size: int, part: Sequences) -> HMM:
        made = HMM(n_states=size, emission=emission)
        made._learn(part, None, starts, max_iter, tol, random.spawn(1)[0], prior=prior)
        return made

    def candidate(model: HMM) -> Candidate:
        report = model.fit_report
        assert report is not None
        found = None if held is None else float(log_likelihoods(model, held).sum())
        if folds is not None:
            found = 0.0
            for fold in range(folds):
                outside = np.arange(len(read)) % folds == fold
                other = fitted(model.n_states, some_sequences(read, np.flatnonzero(~outside)))
                found += float(log_likelihoods(other, some_sequences(read, np.flatnonzero(outside))).sum())
        return Candidate(model.n_states, model, report.log_likelihood, report.aic, report.bic, found)

    made = []
    for i, size in enumerate(sizes):
        report_progress(i, len(sizes), "choosing the number of states")
        if i == 0 or search == "starts":
            made.append(candidate(fitted(size, read)))
            continue
        model = made[-1].model
        while model.n_states < size:
            model = max(
                _grown(model, read, prior, max_iter, tol, random),
                key=lambda one: one.fit_report.log_likelihood,  # type: ignore[union-attr]
            )
        made.append(candidate(model))
        if goodness(made[-1], score) <= goodness(made[-2], score):
            break
    report_progress(len(sizes), len(sizes), "choosing the number of states")
    return StateSelection(made, score)


def _sizes(n_states: Any) -> list[int]:
    try:
        found = sorted(set(n_states))
    except TypeError:
        found = [None]
    if not found or not all(isinstance(n, int | np.integer) and n >= 1 for n in found):
        raise InvalidArgument(
            f"n_states= is a range or a list of whole numbers of at least 1, not {shown(n_states)}."
        )
    return [int(n) for n in found]


def _grown(
    model: HMM, read: Sequences, prior: Any, max_iter: int, tol: float, random: np.random.Generator
) -> Iterator[HMM]:
    """Models with one more state, each of which has split a different state."""
    fitting = HMMLearning(model, read)
    now = Parameters(model.initial, model.transition, model.emission)
    seen = fitting.expect(now).statistics.seen
    for state in range(model.n_states):
        made = _split(now, fitting.observed.rows, seen, state, random)
        grown = HMM(made.start, made.move, made.emission)
        grown._learn(read, None, 1, max_iter, tol, random, prior=prior)
        yield grown


def _split(
    now: Parameters, rows: np.ndarray, seen: np.ndarray, state: int, random: np.random.Generator
) -> Parameters:
    """One state as two: its rows are divided, and each is entered half as often."""
    emission: Any = now.emission
    parts = emission.first_guess(rows, np.ones(len(rows)), 2, random)
    sums = parts.sum(axis=1, keepdims=True)
    shares = np.where(sums > 0.0, parts / np.where(sums > 0.0, sums, 1.0), 0.5)
    weights = np.insert(seen, state + 1, seen[:, state] * shares[:, 1], axis=1)
    weights[:, state] *= shares[:, 0]
    wide = [np.insert(p, state + 1, p[state], axis=0) for p in emission.parameters()]
    emission = _several(emission, wide)
    emission = emission.fitted(emission.gathered(rows, weights))
    half = np.ones(len(now.start) + 1)
    half[state : state + 2] = 0.5
    start = np.insert(now.start, state + 1, now.start[state]) * half
    move = np.insert(now.move, state + 1, now.move[state], axis=0)
    move = np.insert(move, state + 1, move[:, state], axis=1)
    return Parameters(start, move * half, emission)


def _several(emission: Any, parameters: list[np.ndarray]) -> Any:
    made = emission.with_parameters(parameters)
    assert made is not None
    return made
