"""Hidden Markov models beside hmmlearn and dynamax: long sequences, many short ones, rows of numbers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pgm
from benchmarks.harness import Finding, Options, Report, Side, compete

HMMLEARN, DYNAMAX = "hmmlearn", "dynamax"  # with scaling; compiled beforehand, in float64
_FLAGS = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
_ITERATIONS = 5
_OF_GAUSSIANS = 10


@dataclass(frozen=True)
class Case:
    """A model and what it is asked about, all as arrays."""

    name: str
    start: np.ndarray
    move: np.ndarray
    emit: np.ndarray  # (states, symbols)
    codes: np.ndarray  # (sequences, steps)
    wanted: dict[str, float]  # times the fastest peer, by question

    @property
    def model(self) -> pgm.HMM:
        """Ours."""
        return pgm.HMM(self.start, self.move, pgm.Categorical(self.emit))

    @property
    def lengths(self) -> list[int]:
        """Of each sequence."""
        return [self.codes.shape[1]] * len(self.codes)


def case(k: int, symbols: int, many: int, steps: int, wanted: dict[str, float], seed: int = 0) -> Case:
    """States that stay a while, and symbols that say something about them."""
    rng = np.random.default_rng(seed)
    move = 0.5 * rng.dirichlet(np.ones(k), k) + 0.5 * np.eye(k)
    move = 0.98 * move + 0.02 / k
    emit = 0.95 * rng.dirichlet(np.full(symbols, 0.5), k) + 0.05 / symbols
    start = rng.dirichlet(np.ones(k))
    made = pgm.HMM(start, move, pgm.Categorical(emit)).sample(many * steps, seed=seed)
    codes = np.asarray(made.observations, dtype=np.int64).reshape(many, steps)
    sequences = f"{steps:,} steps" if many == 1 else f"{many:,} sequences of {steps}"
    return Case(f"{k} states, {sequences}", start, move, emit, codes, wanted)


def run(report: Report, options: Options) -> None:
    """All races; of a peer that is not installed, none."""
    quick = max(options.sizes) < 100_000
    long, short, many = (300, 10, 20) if quick else (100_000, 50, 10_000)
    for made in (
        case(4, 8, 1, long, {"score": 2.5, "posteriors": 2.0, "Viterbi": 2.5, "Baum-Welch": 4.0}),
        case(32, 64, 1, long, {"score": 2.5, "posteriors": 4.0, "Viterbi": 4.0, "Baum-Welch": 8.0}),
        case(8, 16, many, short, {"score": 4.0, "Baum-Welch": 5.0}),
    ):
        for question, wanted in made.wanted.items():
            if options.wants(f"HMM {question}"):
                theirs = {HMMLEARN: _hmmlearn(made, question), DYNAMAX: _dynamax(made, question)}
                _races(report, options, f"HMM {question}", made.name, ours(made, question), theirs, wanted)
    many, steps = (20, 100) if quick else (200, 500)
    for form, wanted in (("diagonal", 3.0), ("full", 5.0)):
        race = f"HMM of Gaussians, {form}"
        if options.wants(race):
            mine, theirs_ = _gaussians(form, many, steps)
            _races(report, options, race, f"{many} sequences of {steps}", mine, {HMMLEARN: theirs_}, wanted)


def _races(
    report: Report,
    options: Options,
    race: str,
    name: str,
    mine: Side,
    theirs: dict[str, Side | None],
    wanted: float,
) -> None:
    """Beside each peer; the fastest counts."""
    found = {}
    for label, side in theirs.items():
        if side is not None:
            compete(report, race, name, mine, side, questions=1, rounds=options.rounds, compare=_agree,
                    label=label)  # fmt: skip
            found[label] = report.of(race, label)[name].ratio
    ratios = {label: ratio for label, ratio in found.items() if ratio is not None}
    if ratios:
        fastest = min(ratios, key=ratios.__getitem__)
        ratio = ratios[fastest]
        said = f"{race}, {name}, beside {fastest}"
        report.find(Finding(said, f"{ratio:.1f} times", f"{wanted:g} times", ratio >= wanted))


def _agree(mine: Any, theirs: Any) -> None:
    """The same numbers; of paths, the same states but where two are as good."""
    for one, other in zip(mine, theirs, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        if one.dtype.kind in "iu":
            assert (one.ravel() != other.ravel()).mean() < 1e-3
        else:
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def ours(made: Case, question: str) -> Side:
    """What pgm does, from an array to the numbers."""
    hmm = made.model
    data = made.codes[0] if len(made.codes) == 1 else made.codes.reshape(-1)
    lengths = None if len(made.codes) == 1 else made.lengths
    if question == "score":
        return lambda _: [float(hmm.score(data, lengths=lengths))]
    if question == "posteriors":
        return lambda _: [hmm.smooth(data, lengths=lengths).values]
    if question == "Viterbi":
        return lambda _: [hmm.decode(data, lengths=lengths).codes]

    def learned(_: int) -> Any:
        found = pgm.HMM(made.start, made.move, pgm.Categorical(made.emit))
        found.fit(data, lengths=lengths, max_iter=_ITERATIONS, tol=0.0)
        assert isinstance(found.emission, pgm.Categorical)
        return [found.initial, found.transition, found.emission.p]

    return learned


def _hmmlearn(made: Case, question: str) -> Side | None:
    try:
        from hmmlearn.hmm import CategoricalHMM
    except ImportError:
        return None
    rows, lengths = made.codes.reshape(-1, 1), made.lengths

    def model() -> Any:
        found = CategoricalHMM(len(made.start), n_features=made.emit.shape[1], n_iter=_ITERATIONS,
                               tol=-np.inf, init_params="", implementation="scaling")  # fmt: skip
        found.startprob_, found.transmat_, found.emissionprob_ = made.start, made.move, made.emit
        return found

    asked = model()
    if question == "score":
        return lambda _: [asked.score(rows, lengths)]
    if question == "posteriors":
        return lambda _: [asked.predict_proba(rows, lengths)]
    if question == "Viterbi":
        return lambda _: [asked.decode(rows, lengths)[1]]

    def learned(_: int) -> Any:
        found = model().fit(rows, lengths)
        return [found.startprob_, found.transmat_, found.emissionprob_]

    return learned


def _dynamax(made: Case, question: str) -> Side | None:
    os.environ.setdefault("XLA_FLAGS", _FLAGS)
    try:
        import jax
        import jax.numpy as jnp
        from dynamax.hidden_markov_model import inference
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    start, move, emit = jnp.asarray(made.start), jnp.asarray(made.move), jnp.asarray(made.emit)

    def over(one: Callable[..., Any]) -> Callable[..., Any]:
        return jax.vmap(one, in_axes=(None, None, None, 0))

    def scored(start: Any, move: Any, emit: Any, codes: Any) -> Any:
        return inference.hmm_filter(start, move, jnp.log(emit).T[codes]).marginal_loglik

    def smoothed(start: Any, move: Any, emit: Any, codes: Any) -> Any:
        return inference.hmm_smoother(start, move, jnp.log(emit).T[codes]).smoothed_probs

    def path(start: Any, move: Any, emit: Any, codes: Any) -> Any:
        return inference.hmm_posterior_mode(start, move, jnp.log(emit).T[codes])

    def counted(start: Any, move: Any, emit: Any, codes: Any) -> Any:
        found = inference.hmm_smoother(start, move, jnp.log(emit).T[codes])  # pairs too
        seen = jnp.zeros(emit.T.shape).at[codes].add(found.smoothed_probs).T
        return found.initial_probs, found.trans_probs, seen

    def learned(start: Any, move: Any, emit: Any, codes: Any) -> Any:
        for _ in range(_ITERATIONS):
            sums = [part.sum(axis=0) for part in over(counted)(start, move, emit, codes)]
            start, move, emit = (part / part.sum(axis=-1, keepdims=True) for part in sums)
        return start, move, emit

    asked = {
        "score": over(scored),
        "posteriors": over(smoothed),
        "Viterbi": over(path),
        "Baum-Welch": learned,
    }
    compiled = jax.jit(asked[question])

    def side(_: int) -> Any:
        found = compiled(start, move, emit, jnp.asarray(made.codes))
        if question == "Baum-Welch":
            return [np.asarray(part) for part in found]
        if question == "score":
            return [float(np.asarray(found).sum())]
        return [np.asarray(found)[0] if len(made.codes) == 1 else np.asarray(found)]

    return side


def _gaussians(form: str, many: int, steps: int) -> tuple[Side, Side | None]:
    """Ten iterations for eight states in four dimensions."""
    k, dim, rng = 8, 4, np.random.default_rng(0)
    centres = rng.normal(scale=2.0, size=(k, dim))
    states = case(k, 2, many, steps, {}).codes  # any walk will do
    x = centres[states.reshape(-1) * 3 + rng.integers(0, 3, many * steps)]
    x += rng.normal(size=x.shape)
    lengths = [steps] * many
    start, move = np.full(k, 1.0 / k), 0.6 * np.eye(k) + 0.4 / k
    wide = np.tile(2.0 * np.eye(dim), (k, 1, 1))

    def mine(_: int) -> Any:
        found = pgm.HMM(start, move, pgm.Gaussian(centres + 0.3, covariance=wide, form=form))
        found.fit(x, lengths=lengths, max_iter=_OF_GAUSSIANS, tol=0.0)
        assert isinstance(found.emission, pgm.Gaussian)
        return [found.transition, found.emission.mean, found.emission.covariance]

    try:
        from hmmlearn.hmm import GaussianHMM
    except ImportError:
        return mine, None

    def theirs(_: int) -> Any:
        kind = "diag" if form == "diagonal" else form
        found = GaussianHMM(k, covariance_type=kind, n_iter=_OF_GAUSSIANS, tol=-np.inf, init_params="",
                            covars_prior=0.0, implementation="scaling")  # fmt: skip
        found.startprob_, found.transmat_, found.means_ = start, move, centres + 0.3
        found.covars_ = np.full((k, dim), 2.0) if form == "diagonal" else wide
        found.fit(x, lengths)
        return [found.transmat_, found.means_, found.covars_]

    return mine, theirs
