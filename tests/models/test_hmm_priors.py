"""Beliefs as priors of hidden Markov models: the most probable numbers, held to scipy's densities."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats

import pgm
from pgm.distributions.priors import Dirichlet, Laplace, NormalGamma, NormalWishart

STATES = ["u", "v"]


def log_dirichlet(rows: Any, alpha: Any) -> float:
    rows = np.atleast_2d(rows)
    return sum(
        float(stats.dirichlet.logpdf(p / p.sum(), a))
        for p, a in zip(rows, np.broadcast_to(alpha, rows.shape), strict=True)
    )


def log_normals(emission: Any, prior: Any) -> float:
    """Of mean and precision: Wishart and Gamma as scipy has them."""
    mean, covariance = emission.parameters()
    total = 0.0
    for m, c in zip(mean, covariance, strict=True):
        if isinstance(prior, NormalWishart):
            total += float(stats.wishart.logpdf(np.linalg.inv(c), prior.df, prior.scale))
            total += float(stats.multivariate_normal.logpdf(m, prior.mean, c / prior.rows))
        else:
            for x, v in zip(m, np.diag(c), strict=True):
                total += float(stats.gamma.logpdf(1.0 / v, prior.a, scale=1.0 / prior.b))
                total += float(stats.norm.logpdf(x, prior.mean, math.sqrt(v / prior.rows)))
    return total


def log_paths(hmm: pgm.HMM, x: Any) -> float:
    """By all paths, densities by scipy."""
    like = np.ones((len(x), hmm.n_states))
    emission: Any = hmm.emission
    for t, seen in enumerate(x):
        for s in range(hmm.n_states):
            if isinstance(emission, pgm.Categorical):
                like[t, s] = 1.0 if seen is None else emission.p[s, seen]
            else:
                mean, covariance = emission.parameters()
                row = np.atleast_1d(np.array(seen, float))
                there = ~np.isnan(row)
                if there.any():
                    some = covariance[s][np.ix_(there, there)]
                    like[t, s] = stats.multivariate_normal.pdf(row[there], mean[s][there], some)
    total = 0.0
    for path in itertools.product(range(hmm.n_states), repeat=len(x)):
        p = hmm.initial[path[0]] * math.prod(hmm.transition[i, j] for i, j in itertools.pairwise(path))
        total += p * math.prod(like[t, s] for t, s in enumerate(path))
    return math.log(total)


GAP = math.nan
CASES: dict[str, tuple[Any, Any, Any]] = {
    "symbols": (
        pgm.Categorical([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]]),
        [[0, 1, None, 0, 2, 2, 1], [2, 2, 0]],
        Dirichlet([2.5, 1.0, 1.5]),
    ),
    "numbers": (
        pgm.Gaussian([0.0, 2.0], sd=[1.0, 1.5]),
        [[0.3, -0.4, GAP, 2.5, 3.0, 1.0], [2.2, 0.1]],
        NormalGamma(1.0, rows=0.5, a=1.7, b=0.8),
    ),
    "one dimension": (
        pgm.Gaussian([0.0, 2.0], sd=[1.0, 1.5]),
        [[0.3, -0.4, 2.5, 3.0, 1.0], [2.2, 0.1]],
        NormalWishart([0.5], rows=2.0, df=2.5, scale=[[0.7]]),
    ),
    "vectors": (
        pgm.Gaussian([[0.0, 0.0], [2.0, 1.0]], covariance=[np.eye(2), 2.0 * np.eye(2)]),
        [[[0.1, 0.4], [0.3, GAP], [2.0, 1.5], [GAP, GAP], [3.0, 0.5]], [[0.0, -1.0], [2.5, 2.5]]],
        NormalWishart([0.5, 0.2], rows=0.7, df=3.5, scale=[[0.5, 0.1], [0.1, 0.8]]),
    ),
    "entries apart": (
        pgm.Gaussian([[0.0, 0.0], [2.0, 1.0]], covariance=[np.eye(2)] * 2, form="diagonal"),
        [[[0.1, 0.4], [0.3, GAP], [2.0, 1.5], [3.0, 0.5]], [[0.0, -1.0], [2.5, 2.5]]],
        NormalGamma(0.5, rows=0.7, a=1.5, b=0.6),
    ),
}
START, MOVE = Dirichlet([1.5, 2.0]), Dirichlet([[3.0, 1.0], [1.2, 2.0]])


def objective(hmm: pgm.HMM, data: Any, prior: Any) -> float:
    emission: Any = hmm.emission
    found = sum(log_paths(hmm, x) for x in data)
    found += log_dirichlet(hmm.initial, START.alpha) + log_dirichlet(hmm.transition, MOVE.alpha)
    if isinstance(prior, Dirichlet):
        return found + log_dirichlet(emission.p, prior.alpha)
    return found + log_normals(emission, prior)


def nudged(hmm: pgm.HMM, rng: np.random.Generator, size: float) -> pgm.HMM:
    """The same with all numbers a little off."""

    def rows(p: Any) -> Any:
        off = p * np.exp(size * rng.standard_normal(p.shape))
        return off / off.sum(axis=-1, keepdims=True)

    emission: Any = hmm.emission
    if isinstance(emission, pgm.Categorical):
        other: Any = pgm.Categorical(rows(emission.p))
    else:
        mean, covariance = emission.parameters()
        d = mean.shape[1]
        turn = np.eye(d) + size * rng.standard_normal((len(mean), d, d))
        if emission.form == "diagonal":
            turn = turn * np.eye(d)
        other = pgm.Gaussian(
            mean + size * rng.standard_normal(mean.shape),
            covariance=turn @ covariance @ turn.transpose(0, 2, 1),
            form=emission.form,
        )
    return pgm.HMM(rows(hmm.initial), rows(hmm.transition), other, states=STATES)


@pytest.mark.parametrize("case", CASES)
def test_em_climbs_to_the_most_probable_numbers(case: str) -> None:
    emission, data, prior = CASES[case]
    options = {"prior": {"initial": START, "transition": MOVE, "emission": prior}, "tol": 0.0}
    hmm = pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], emission, states=STATES)
    before = objective(hmm, data, prior)
    for _ in range(6):
        hmm.fit(data, max_iter=1, **options)
        now = objective(hmm, data, prior)
        assert now >= before - 1e-10
        before = now
    hmm.fit(data, max_iter=3000, method="squarem", **options)
    best = objective(hmm, data, prior)
    assert best > before
    rng = np.random.default_rng(0)
    for size in [1e-3, 1e-2] * 6:
        assert objective(nudged(hmm, rng, size), data, prior) < best


def test_where_all_states_were_seen_it_is_a_closed_form() -> None:
    words, seen = [[0, 1, 1, 2], [2, 0]], [["u", "u", "v", "v"], ["v", "u"]]
    prior = {"initial": Dirichlet([2, 3]), "transition": Dirichlet([2, 1.5]), "emission": Dirichlet(2)}
    hmm = pgm.HMM(states=STATES, emission=pgm.Categorical(symbols=[0, 1, 2])).fit(
        words, states=seen, prior=prior
    )
    assert hmm.initial == pytest.approx(np.array([2, 3]) / 5)
    assert hmm.transition == pytest.approx(np.array([[2 / 3.5, 1.5 / 3.5], [2 / 3.5, 1.5 / 3.5]]))
    assert hmm.emission.p == pytest.approx(np.array([[3, 2, 1], [1, 2, 3]]) / 6)  # type: ignore[attr-defined]
    # DeGroot (1970): for 0, 1 and the belief N(1; 2 rows), Gamma(2, rate 3) the mode is ...
    numbers = pgm.HMM(states=STATES, emission=pgm.Gaussian()).fit(
        [0.0, 1.0, 5.0], states=["u", "u", "v"], prior={"emission": NormalGamma(1.0, rows=2, a=2, b=3)}
    )
    mean, covariance = numbers.emission.parameters()  # type: ignore[attr-defined]
    assert mean[:, 0] == pytest.approx([3 / 4, 7 / 3])
    rate = 3 + 0.5 * 0.5 + 0.5 * (2 * 2 / 4) * 0.25, 3 + 0.5 * (2 * 1 / 3) * 16
    assert covariance[:, 0, 0] == pytest.approx([rate[0] / 2.5, rate[1] / 2.0])


def test_the_same_as_hmmlearn_with_its_dirichlet_priors() -> None:
    peer = pytest.importorskip("hmmlearn.hmm")
    rng = np.random.default_rng(0)
    start, move, shares = rng.dirichlet([2, 2]), rng.dirichlet([2, 2], 2), rng.dirichlet([2, 2, 2], 2)
    data = rng.integers(0, 3, 60)
    alpha = {"startprob_prior": 1.5, "transmat_prior": MOVE.alpha, "emissionprob_prior": 2.5}
    other = peer.CategoricalHMM(2, n_iter=8, tol=-1.0, init_params="", **alpha)
    other.startprob_, other.transmat_, other.emissionprob_ = start, move, shares
    other.fit(data[:, None])
    hmm = pgm.HMM(start, move, pgm.Categorical(shares))
    beliefs = {"initial": Dirichlet(1.5), "transition": MOVE, "emission": Dirichlet(2.5)}
    hmm.fit(data, prior=beliefs, max_iter=8, tol=0.0)
    assert hmm.initial == pytest.approx(other.startprob_, abs=1e-9)
    assert hmm.transition == pytest.approx(other.transmat_, abs=1e-9)
    assert hmm.emission.p == pytest.approx(other.emissionprob_, abs=1e-9)  # type: ignore[attr-defined]


def test_a_number_is_a_dirichlet_of_one_more_and_states_may_have_their_own() -> None:
    data = [0, 1, 1, 2, 0, 0, 2]
    start = pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], pgm.Categorical([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]))
    for same in (Dirichlet(1.5), Laplace(0.5)):
        assert start.copy().fit(data, prior=same) == start.copy().fit(data, prior=0.5)
    each = [NormalGamma(-3.0, rows=100), NormalGamma(3.0, rows=100)]
    seen = [0.1, 0.2, -0.2]
    for prior in (each, {0: each[0], 1: each[1]}):
        hmm = pgm.HMM(n_states=2, emission=pgm.Gaussian()).fit(seen, prior={"emission": prior}, seed=0)
        means = hmm.emission.mean  # type: ignore[attr-defined]
        assert means == pytest.approx([-3.0, 3.0], abs=0.2)
    assert pickle.loads(pickle.dumps(hmm)) == hmm


def test_what_a_topology_rules_out_stays_so() -> None:
    hmm = pgm.HMM(n_states=3, topology=pgm.LeftToRight(), emission=pgm.Categorical(symbols="ab"))
    hmm.fit(list("aabba"), prior=Dirichlet(2), seed=0)
    assert (hmm.transition[np.tril_indices(3, -1)] == 0.0).all()


@pytest.mark.parametrize(
    ("emission", "prior", "words"),
    [
        (
            pgm.Categorical(symbols=[0, 1]),
            {"emission": NormalGamma()},
            "prior of Gaussian emissions, but this is",
        ),
        (pgm.Gaussian(), Dirichlet(2), "prior of probabilities"),
        (pgm.Gaussian(), {"transition": Dirichlet([1, 1, 1])}, r"shape \(3,\)"),
        (pgm.Gaussian(), {"transition": Dirichlet(0.5)}, "below 1"),
        (pgm.Categorical(symbols=[0, 1]), {"emission": Dirichlet(0.5)}, "below 1"),
        (pgm.Gaussian(), {"emission": NormalGamma(a=0.5)}, "a above 1/2"),
        (pgm.Gaussian(), {"emission": NormalWishart([0.0], df=1.0)}, "df above 1"),
        (pgm.Gaussian(), {"emission": NormalWishart([0.0, 1.0])}, "2 dimensions"),
        (pgm.Gaussian(form="tied"), {"emission": NormalGamma()}, "takes a number"),
        (pgm.Gaussian(), {"emission": [NormalGamma()]}, "each of 2 states"),
        (pgm.Gaussian(), {"emission": {"u": NormalGamma(), "w": NormalGamma()}}, "each of the states"),
        (pgm.Poisson(), {"emission": NormalGamma()}, "prior of Gaussian emissions, but this is"),
        (pgm.Gaussian(), {"emission": pgm.priors.BDeu(2)}, "a number, a prior"),
    ],
)
def test_bad_priors(emission: Any, prior: Any, words: str) -> None:
    with pytest.raises(pgm.InvalidArgument, match=words):
        pgm.HMM(states=STATES, emission=emission).fit([0, 1, 1, 0], prior=prior, seed=0)


def test_the_form_says_which_normal_prior_it_takes() -> None:
    data = [[0.0, 1.0], [1.0, 0.5], [2.0, 0.0]]
    for form, prior in (("full", NormalGamma()), ("diagonal", NormalWishart([0.0, 0.0]))):
        with pytest.raises(pgm.InvalidArgument, match="takes a Normal"):
            pgm.HMM(n_states=2, emission=pgm.Gaussian(dim=2, form=form)).fit(
                data, prior={"emission": prior}, seed=0
            )
