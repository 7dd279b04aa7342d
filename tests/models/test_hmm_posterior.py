"""What is believed of the numbers of hidden Markov models: draws beside closed forms and all paths."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

import pgm
from pgm.distributions.priors import Dirichlet, NormalGamma, NormalWishart
from pgm.inference.engines import chain as engine
from pgm.models.dynamic.hmm_posterior import ParameterDraws
from pgm.runtime.clock import start_clock

STATES = ["u", "v"]
START, MOVE = np.array([2.0, 1.0]), np.array([[3.0, 1.0], [0.5, 2.0]])


def close(part: ParameterDraws, mean: Any) -> None:
    """Within four and a half standard errors, entry by entry."""
    error = part.sd / np.sqrt(part.effective_sizes)
    assert (np.abs(part.mean - mean) < 4.5 * error).all(), (part.mean, mean, error)


def log_counts(counts: np.ndarray, alpha: np.ndarray) -> float:
    """Dirichlet-multinomial, in an order."""
    found = gammaln(alpha.sum(-1)) - gammaln((alpha + counts).sum(-1))
    return float((found + (gammaln(alpha + counts) - gammaln(alpha)).sum(-1)).sum())


def counted(paths: list[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    first, pairs = np.zeros(2), np.zeros((2, 2))
    for path in paths:
        first[path[0]] += 1
        for i, j in itertools.pairwise(path):
            pairs[i, j] += 1
    return first, pairs


def normal(alpha: np.ndarray) -> np.ndarray:
    return alpha / alpha.sum(-1, keepdims=True)


def all_paths(lengths: list[int]) -> Any:
    return itertools.product(*(itertools.product(range(2), repeat=n) for n in lengths))


def test_where_all_states_were_seen_it_is_a_dirichlet_distribution() -> None:
    hmm = pgm.HMM(states=STATES, emission=pgm.Categorical(symbols=[0, 1, 2]))
    prior = {"initial": Dirichlet(START), "transition": Dirichlet(MOVE), "emission": Dirichlet(0.5)}
    found = hmm.posterior(
        [[0, 1, 1, 2, 0], [2, 2]],
        states=[["u", "u", "v", "v", "u"], ["v", "v"]],
        prior=prior,
        draws=4000,
        burn_in=0,
        seed=1,
    )
    alphas = {
        "initial": START + 1.0,
        "transition": MOVE + np.array([[1, 1], [1, 2]]),
        "emission.p": 0.5 + np.array([[2, 1, 0], [0, 1, 3]]),
    }
    for name, alpha in alphas.items():
        close(found[name], normal(alpha))
        flat, total = (
            found[name].draws.reshape(4000, -1),
            np.broadcast_to(alpha.sum(-1, keepdims=True), alpha.shape),
        )
        for i, (a, n) in enumerate(zip(alpha.ravel(), total.ravel(), strict=True)):
            assert stats.kstest(flat[:, i], stats.beta(a, n - a).cdf).pvalue > 1e-4
        assert found[name].r_hat.max() < 1.01
        low, high = found[name].interval(0.8)
        assert low == pytest.approx(stats.beta.ppf(0.1, alpha, total - alpha), abs=0.02)
        assert high == pytest.approx(stats.beta.ppf(0.9, alpha, total - alpha), abs=0.02)


def test_symbols_against_all_paths() -> None:
    """With a gap, a state that was seen, and two sequences."""
    data, known = [[0, 1, None, 1, 0], [1, 1, 0]], [[None, "v", None, None, None], None]
    shares = np.array([[2.0, 1.0], [1.0, 2.0]])
    total, first, moves, seen = 0.0, 0.0, 0.0, 0.0
    for paths in all_paths([5, 3]):
        if paths[0][1] != 1:
            continue
        starts, pairs = counted(list(paths))
        symbols = np.zeros((2, 2))
        for path, x in zip(paths, data, strict=True):
            for s, symbol in zip(path, x, strict=True):
                if symbol is not None:
                    symbols[s, symbol] += 1
        w = np.exp(log_counts(starts, START) + log_counts(pairs, MOVE) + log_counts(symbols, shares))
        total += w
        first, moves = first + w * normal(START + starts), moves + w * normal(MOVE + pairs)
        seen = seen + w * normal(shares + symbols)
    hmm = pgm.HMM(states=STATES, emission=pgm.Categorical(symbols=[0, 1]))
    prior = {"initial": Dirichlet(START), "transition": Dirichlet(MOVE), "emission": Dirichlet(shares)}
    states = [known[0], [None] * 3]
    found = hmm.posterior(data, states=states, prior=prior, draws=5000, seed=2)
    close(found.initial, first / total)
    close(found.transition, moves / total)
    close(found.emission["p"], seen / total)
    assert found.r_hat < 1.01


def test_numbers_against_all_paths() -> None:
    """The evidence of each path's rows by multivariate t densities."""
    x = [0.3, -0.2, 2.0, np.nan, 2.6]
    beliefs = [NormalGamma(0.0, rows=1.0, a=3.0, b=2.0), NormalGamma(2.0, rows=0.5, a=4.0, b=3.0)]
    total, moves, means, variances = 0.0, 0.0, np.zeros(2), np.zeros(2)
    for (path,) in all_paths([5]):
        starts, pairs = counted([path])
        log = log_counts(starts, START) + log_counts(pairs, MOVE)
        mean, variance = np.zeros(2), np.zeros(2)
        for s, b in enumerate(beliefs):
            rows = np.array([v for v, q in zip(x, path, strict=True) if q == s and not np.isnan(v)])
            n = len(rows)
            if n:
                shape = b.b / b.a * (np.eye(n) + 1.0 / b.rows)
                log += stats.multivariate_t.logpdf(rows, np.full(n, b.mean), shape, df=2 * b.a)
            mean[s] = (b.rows * b.mean + rows.sum()) / (b.rows + n)
            rate = b.b + 0.5 * ((rows**2).sum() + b.rows * b.mean**2 - (b.rows + n) * mean[s] ** 2)
            variance[s] = rate / (b.a + n / 2 - 1.0)
        w = np.exp(log)
        total, moves = total + w, moves + w * normal(MOVE + pairs)
        means, variances = means + w * mean, variances + w * variance
    prior = {"initial": Dirichlet(START), "transition": Dirichlet(MOVE), "emission": beliefs}
    hmm = pgm.HMM(states=STATES, emission=pgm.Gaussian())
    found = hmm.posterior(x, prior=prior, draws=5000, seed=3)
    close(found.transition, moves / total)
    close(found.emission["mean"], (means / total)[:, None])
    close(found.emission["covariance"], (variances / total)[:, None, None])
    again = pgm.HMM(states=STATES, emission=pgm.Gaussian(form="diagonal"))
    apart = again.posterior(x, prior=prior, draws=2000, seed=4).emission
    close(apart["mean"], (means / total)[:, None])
    close(apart["covariance"], (variances / total)[:, None, None])


@pytest.mark.parametrize("least", [0.0, 1e-250])
def test_paths_of_several_sequences_are_those_that_smoothing_expects(least: float) -> None:
    """In doubles, and in logarithms where transitions leave their range."""
    move = np.array([[0.7, 0.3 - least, least], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    emission = pgm.Categorical([[0.6, 0.4], [0.3, 0.7], [0.5, 0.5]])
    hmm = pgm.HMM([0.5, 0.3, 0.2], move, emission)
    data = [[0, 1, 1], [1], [0, 0]]
    codes = np.concatenate(data).astype(np.int32)
    rows = engine.Rows(emission.log_rows(np.arange(2)), codes, np.array([0, 3, 4, 6]))
    chain = engine.Chain(hmm.initial, hmm.transition)
    paths = engine.draw_given(chain, rows, 4000, np.random.default_rng(0), start_clock())
    shares = (np.array(paths)[:, :, None] == np.arange(3)).mean(axis=0)
    expected = np.concatenate([one.values for one in hmm.smooth(data)])
    assert (np.abs(shares - expected) < 4.5 * np.sqrt(expected * (1.0 - expected) / 4000)).all()


def test_vectors_whose_states_were_seen() -> None:
    """Normal-Wishart as scipy has it: the precision is Wishart, the mean multivariate t."""
    x = np.array([[0.2, 1.0], [1.0, 0.4], [-0.5, 0.3], [0.6, 0.9]])
    belief = NormalWishart([0.5, 0.0], rows=2.0, df=6.0, scale=[[0.5, 0.2], [0.2, 0.4]])
    hmm = pgm.HMM(n_states=1, emission=pgm.Gaussian(dim=2))
    found = hmm.posterior(x, prior={"emission": belief}, draws=4000, burn_in=0, seed=5)
    off = x.mean(0) - belief.mean
    scatter = (x - x.mean(0)).T @ (x - x.mean(0)) + 2 * 4 / 6 * np.outer(off, off)
    inverse = np.linalg.inv(belief.scale) + scatter
    close(found.emission["mean"], [(2 * belief.mean + x.sum(0)) / 6])
    close(found.emission["covariance"], [inverse / (10 - 2 - 1)])
    precision = np.linalg.inv(found.emission["covariance"].draws[:, 0])
    scale = np.linalg.inv(inverse)
    error = np.sqrt(10 * (scale**2 + np.outer(np.diag(scale), np.diag(scale))) / 4000)  # of a Wishart mean
    assert (np.abs(precision.mean(0) - 10 * scale) < 4.5 * error).all()
    entry = precision[:, 0, 0] / scale[0, 0]  # chi-squared
    assert stats.kstest(entry, stats.chi2(10).cdf).pvalue > 1e-4
    one = stats.t(df=9, loc=(2 * 0.5 + x[:, 0].sum()) / 6, scale=np.sqrt(inverse[0, 0] / 9 / 6))
    assert stats.kstest(found.emission["mean"].draws[:, 0, 0], one.cdf).pvalue > 1e-4
    gap = x.copy()
    gap[0, 1] = gap[3, 0] = np.nan  # missing entries are drawn: less is known
    less = hmm.posterior(gap, prior={"emission": belief}, draws=2000, seed=5)
    assert (less.emission["covariance"].sd > found.emission["covariance"].sd)[0, [0, 1], [0, 1]].all()


def test_what_is_impossible_stays_so_and_chains_begin_at_the_numbers_that_there_are() -> None:
    hmm = pgm.HMM(n_states=3, topology=pgm.LeftToRight(), emission=pgm.Categorical(symbols="ab"))
    found = hmm.posterior(list("aabba"), draws=40, seed=0)
    assert (found.transition.draws[:, np.tril(np.ones((3, 3), bool), -1)] == 0.0).all()
    assert found.initial.draws[:, 1:].max() == 0.0
    assert np.isfinite(found.r_hat)
    assert "-" in repr(found.initial)
    apart = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Gaussian([0.0, 9.0], sd=1.0))
    data = apart.sample(60, seed=0).observations
    prior = {"emission": NormalGamma(4.0, rows=0.1)}
    kept = apart.posterior(data, prior=prior, draws=80, seed=0)
    assert kept.emission["mean"].mean[:, 0] == pytest.approx([0.0, 9.0], abs=0.7)
    free = pgm.HMM(n_states=2, emission=pgm.Gaussian()).posterior(
        data, prior=prior, draws=80, chains=6, seed=0
    )
    assert free.r_hat > 1.5
    assert "states were swapped" in repr(free)


def test_results_print_pickle_and_plot() -> None:
    hmm = pgm.HMM(states=STATES, emission=pgm.Categorical(symbols=[0, 1]))
    found = hmm.posterior([0, 1, 1, 0], draws=41, seed=0)
    same = hmm.posterior([0, 1, 1, 0], draws=41, seed=0)
    assert found == same == pickle.loads(pickle.dumps(found))
    assert found != hmm.posterior([0, 1, 1, 0], draws=41, seed=1)
    assert hmm._initial is None  # the model stays as it is
    assert not found.exact
    assert found.initial.values.shape == (4, 11, 2)
    assert "transition u -> v" in repr(found)
    assert "<table" in found._repr_html_()
    frame = found.to_pandas()
    assert frame.loc[("transition", "u -> v"), "mean"] == pytest.approx(found.transition.mean[0, 1])
    assert len(found.to_dict()["emission.p"]["u: 0"]) == 44
    ax = found.plot(part="initial")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == STATES
    with pytest.raises(ValueError, match="read-only"):
        found.initial.values[0, 0, 0] = 1.0
    with pytest.raises(AttributeError):
        found.parts = ()  # type: ignore[misc]
    with pytest.raises(pgm.InvalidArgument, match="Did you mean 'transition'"):
        found["transitions"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"draws": 0}, "draws= is a whole number"),
        ({"draws": 10}, "at least 4 for each"),
        ({"chains": 1}, "chains= is a whole number of at least 2"),
        ({"burn_in": -1}, "burn_in="),
        ({"prior": {"emission": 1.0}, "emission": pgm.Gaussian()}, "NormalWishart"),
        ({"emission": pgm.Gaussian()}, "NormalWishart"),
        ({"emission": pgm.Poisson()}, "Categorical and Gaussian"),
        ({"data": [0, pgm.Likelihood({0: 0.5, 1: 0.5})]}, "Likelihood"),
    ],
)
def test_bad_questions(options: dict[str, Any], words: str) -> None:
    emission = options.pop("emission", pgm.Categorical(symbols=[0, 1]))
    with pytest.raises(pgm.InvalidArgument, match=words):
        pgm.HMM(states=STATES, emission=emission).posterior(options.pop("data", [0, 1, 1]), seed=0, **options)


def test_what_is_impossible_is_said() -> None:
    hmm = pgm.HMM(
        [1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], pgm.Categorical([[0.5, 0.5], [0.5, 0.5]]), states=STATES
    )
    with pytest.raises(pgm.ImpossibleEvidence, match="Step 1"):
        hmm.posterior([0, 1], states=["u", "v"], seed=0)


def test_time_is_limited() -> None:
    hmm = pgm.HMM(states=STATES, emission=pgm.Categorical(symbols=[0, 1]))
    with pgm.config(time_limit=0.05), pytest.raises(pgm.OutOfTime):
        hmm.posterior([0, 1] * 100, draws=10**6, seed=0)
