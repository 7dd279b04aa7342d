"""Student's t, codebooks, classifiers and shared components as emissions; forecasts of any kind of number."""

from __future__ import annotations

import io
import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats

import pgm

START, MOVES = [0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]]


def outliers(n: int = 300, seed: int = 0) -> np.ndarray:
    return np.asarray(stats.t(3.0, loc=1.0, scale=2.0).rvs(n, random_state=seed))


def written(hmm: pgm.HMM) -> Any:
    file = io.StringIO()
    pgm.write(hmm, file, format="json")
    file.seek(0)
    return pgm.read(file, format="json")


# --- Student's t ---


def test_students_t_is_that_of_scipy() -> None:
    x = np.linspace(-5.0, 5.0, 11)
    one = pgm.StudentT([0.0, 1.0], [1.0, 2.0], df=[1.0, 7.5])
    for k, truth in enumerate((stats.t(1.0), stats.t(7.5, 1.0, 2.0))):
        assert one.log_density(x)[:, k] == pytest.approx(truth.logpdf(x), rel=1e-12)
        assert [one.below(v, 0)[k] for v in x] == pytest.approx(truth.cdf(x), rel=1e-9)
    matrix = [[2.0, 0.5], [0.5, 1.0]]
    plane = pgm.StudentT([0.0, 1.0], covariance=matrix, df=4.0)
    rows = np.random.default_rng(0).normal(size=(5, 2))
    truth = stats.multivariate_t([0.0, 1.0], matrix, df=4.0)
    assert plane.log_density(rows) == pytest.approx(truth.logpdf(rows), rel=1e-12)
    partly = plane.log_density([[0.3, None], [None, None]])
    assert partly == pytest.approx([stats.t(4.0, 0.0, math.sqrt(2.0)).logpdf(0.3), 0.0])


def test_students_t_is_fitted_to_the_top() -> None:
    x = outliers()
    found = pgm.StudentT().fit(x)
    top = found.log_density(x).sum()
    assert top >= stats.t(*stats.t.fit(x)).logpdf(x).sum() - 1e-3
    for by in (-1e-3, 1e-3):
        near = [
            pgm.StudentT(found.mean + by, found.scale, df=found.df),
            pgm.StudentT(found.mean, found.scale * (1 + by), df=found.df),
            pgm.StudentT(found.mean, found.scale, df=found.df * (1 + by)),
        ]
        assert all(one.log_density(x).sum() <= top + 1e-9 for one in near)
    kept = pgm.StudentT(df=5.0, fixed_df=True).fit(x)
    assert kept.df == 5.0


@pytest.mark.parametrize("vector", [False, True])
def test_states_with_students_t_learn_with_gaps(vector: bool) -> None:
    rng = np.random.default_rng(1)
    path = np.repeat([0, 1, 0, 1], 40)
    x = np.where(path == 0, 0.0, 6.0) + stats.t(3.0).rvs(160, random_state=rng)
    data: Any = x
    if vector:
        data = np.column_stack([x, rng.standard_t(4.0, 160)])
        data[rng.random(data.shape) < 0.1] = np.nan
    emission = pgm.StudentT(dim=2) if vector else pgm.StudentT()
    begin = (
        pgm.StudentT([0.0, 5.0], 1.0)
        if not vector
        else pgm.StudentT([[0.0, 0.0], [5.0, 0.0]], covariance=np.eye(2))
    )
    hmm = pgm.HMM(START, MOVES, begin).fit(data, max_iter=300, tol=1e-10)
    report = hmm.fit_report
    assert report is not None
    assert all(b >= a - 1e-9 * abs(a) for a, b in itertools.pairwise(report.log_likelihoods))
    assert (np.array(hmm.decode(data).path) == path).mean() > 0.95
    fast = pgm.HMM(START, MOVES, begin).fit(data, max_iter=300, tol=1e-10, method="squarem")
    assert fast.score(data) >= hmm.score(data) - 1e-3
    guessed = pgm.HMM(n_states=2, emission=emission)
    if not vector:
        assert guessed.fit(data, seed=0, prior=0.1).score(data) > pgm.HMM(START, MOVES, begin).score(data)
        assert hmm.forecast(data, steps=2).interval(0.9)[0].shape == (2,)
    assert written(hmm) == hmm
    assert pickle.loads(pickle.dumps(hmm.emission)) == hmm.emission
    drawn = hmm.sample(3, given=data[:5], seed=0)
    assert len(drawn) == 3


# --- a codebook: O33 ---


def book() -> pgm.Codebook:
    return pgm.Codebook([0.0, 2.0, 4.0], [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])


def test_a_codebook_is_a_categorical_of_the_nearest() -> None:
    x = [0.5, 2.5, None, 3.5, -0.5, 1.0]
    plain = pgm.HMM(START, MOVES, pgm.Categorical(book().p))
    coded = pgm.HMM(START, MOVES, book())
    codes = [0, 1, None, 2, 0, 0]
    assert coded.score(x) == plain.score(codes)
    a, b = coded.fit([x, x], max_iter=3), plain.fit([codes, codes], max_iter=3)
    assert np.array_equal(a.emission.p, b.emission.p)  # type: ignore[attr-defined]
    assert a.forecast(x, 2).observations == pytest.approx(b.forecast(codes, 2).observations)
    assert set(coded.sample(20, seed=0).observations.tolist()) <= {0.0, 2.0, 4.0}
    assert pickle.loads(pickle.dumps(book())) == book()
    assert written(coded) == coded


def test_reference_vectors_are_means_of_clusters() -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 9.0])
    found = pgm.Codebook.of(rows, 2, seed=0)
    assert found.centres == pytest.approx(np.array([rows[:30].mean(axis=0), rows[30:].mean(axis=0)]))
    assert found.error(rows) == pytest.approx(
        ((rows[:30] - rows[:30].mean(0)) ** 2).sum() + ((rows[30:] - rows[30:].mean(0)) ** 2).sum()
    )


# --- components that states share ---


def test_shared_components_learn_together() -> None:
    x = np.random.default_rng(0).normal(size=80) + np.repeat([0.0, 4.0, 0.0, 2.0], 20)
    tied = pgm.GaussianMixture([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], mean=[0.0, 2.0, 4.0], sd=1.0)
    assert tied.shared
    hmm = pgm.HMM(START, MOVES, tied)
    assert hmm.n_parameters == 1 + 2 + 4 + 6
    hmm.fit(x, max_iter=5000, tol=1e-14, method="squarem")
    assert written(hmm) == hmm
    logs = hmm.fit_report.log_likelihoods  # type: ignore[union-attr]
    assert all(b >= a - 1e-9 * abs(a) for a, b in itertools.pairwise(logs))
    means = hmm.emission.mean  # type: ignore[attr-defined]
    assert np.array_equal(means[0], means[1])
    top = hmm.score(x)
    for j, by in itertools.product(range(3), (-1e-3, 1e-3)):
        moved = means[0].copy()
        moved[j] += by
        other = pgm.GaussianMixture(hmm.emission.weights, mean=moved, sd=hmm.emission.sd[0])  # type: ignore[attr-defined]
        assert pgm.HMM(hmm.initial, hmm.transition, other).score(x) <= top + 1e-7
    fresh = pgm.HMM(n_states=2, emission=pgm.GaussianMixture(n_components=2, shared=True)).fit(x, seed=0)
    assert np.array_equal(fresh.emission.mean[0], fresh.emission.mean[1])  # type: ignore[attr-defined]


# --- a classifier ---


class Believes:
    """P(S1 | x) by a table."""

    classes_ = np.array(["S1", "S2"])
    n_features_in_ = 1

    def predict_proba(self, rows: Any) -> np.ndarray:
        p = np.array([0.9, 0.6, 0.3, 0.2])[np.asarray(rows)[:, 0].astype(int)]
        return np.column_stack([p, 1.0 - p])


def test_a_classifier_is_divided_by_its_prior() -> None:
    emission = pgm.ClassifierEmission(Believes(), prior={"S1": 0.6, "S2": 0.4})
    hmm = pgm.HMM(START, MOVES, emission)
    assert hmm.states == ("S1", "S2")
    x = [[0], [1], [2], [3]]
    assert math.exp(hmm.score(x)) == pytest.approx(1.604166667, rel=1e-9)
    turned = pgm.HMM([0.4, 0.6], [[0.8, 0.2], [0.3, 0.7]], emission, states=["S2", "S1"])
    assert turned.score(x) == pytest.approx(hmm.score(x))
    assert turned.smooth(x).values[:, ::-1] == pytest.approx(hmm.smooth(x).values)
    learned = hmm.copy().fit([x, x], max_iter=3)
    assert learned.emission == hmm.emission
    logs = learned.fit_report.log_likelihoods  # type: ignore[union-attr]
    assert logs[-1] > logs[0]
    assert hmm.filter([[0], None]).values[1] == pytest.approx(hmm.filter([[0]]).values[0] @ MOVES)


def test_any_classifier_of_scikit_learn() -> None:
    naive = pytest.importorskip("sklearn.naive_bayes")
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    x = rng.normal(size=(100, 2)) + 3.0 * y[:, None]
    model = naive.GaussianNB().fit(x, y)
    hmm = pgm.HMM(START, MOVES, pgm.ClassifierEmission(model), states=[0, 1])
    logs = np.log(model.predict_proba(x) / model.class_prior_)
    total = 0.0
    p = np.array(START)
    for row in np.exp(logs):
        p = p * row
        total += math.log(p.sum())
        p = p / p.sum() @ np.array(MOVES)
    assert hmm.score(x) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: pgm.StudentT(0.0, 0.0), "singular"),
        (lambda: pgm.StudentT(0.0, 1.0, df=0.0), "df= is from 0.01"),
        (lambda: pgm.StudentT(0.0), "give one of the two"),
        (lambda: pgm.Codebook([0.0, 0.0]), "are the same"),
        (lambda: pgm.Codebook([0.0, 1.0], [0.2, 0.3, 0.5]), "3 probabilities"),
        (lambda: pgm.Codebook.of([1.0, 1.0], 2), "from 1 to 1, the count of different rows"),
        (lambda: pgm.ClassifierEmission(3), "with predict_proba"),
        (lambda: pgm.ClassifierEmission(Believes()), "prior= is needed"),
        (lambda: pgm.ClassifierEmission(Believes(), prior=[0.5, 0.6]), "which sum to one"),
        (
            lambda: pgm.HMM(START, MOVES, pgm.ClassifierEmission(Believes(), [0.6, 0.4]), states=["a", "b"]),
            "same names",
        ),
        (
            lambda: pgm.HMM(START, MOVES, pgm.ClassifierEmission(Believes(), [0.6, 0.4])).sample(3),
            "cannot be sampled",
        ),
    ],
)
def test_mistakes_are_named(ask: Any, said: str) -> None:
    with pytest.raises(pgm.PGMError) as error:
        ask()
    assert said in str(error.value)


# --- soft symbols ---


def test_soft_symbols_are_weighed() -> None:
    """All paths and all symbols, by hand; and the step of EM that follows."""
    p = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    hmm = pgm.HMM(START, MOVES, pgm.Categorical(p, ["a", "b", "c"]))
    seen = np.array([[1.0, 0.0, 0.0], [0.5, 0.2, 0.0], [1.0, 1.0, 1.0], [0.1, 0.1, 0.9]])
    x = [
        "a",
        pgm.Likelihood({"a": 0.5, "b": 0.2, "c": 0.0}),
        None,
        pgm.Likelihood({"a": 0.1, "b": 0.1, "c": 0.9}),
    ]
    total, counts = 0.0, np.zeros((2, 3))
    for path in itertools.product(range(2), repeat=4):
        chance = START[path[0]] * math.prod(MOVES[i][j] for i, j in itertools.pairwise(path))
        for symbols in itertools.product(range(3), repeat=4):
            joint = chance * math.prod(
                p[s, m] * seen[t, m] for t, (s, m) in enumerate(zip(path, symbols, strict=True))
            )
            total += joint
            for t in (0, 1, 3):
                counts[path[t], symbols[t]] += joint
    assert hmm.score(x) == pytest.approx(math.log(total), rel=1e-12)
    learned = hmm.copy().fit(x, max_iter=1, tol=0.0)
    assert learned.emission.p == pytest.approx(counts / counts.sum(axis=1, keepdims=True))  # type: ignore[attr-defined]
    hard = ["a", pgm.Likelihood({"a": 0.0, "b": 1.0, "c": 0.0})]
    assert hmm.score(hard) == pytest.approx(hmm.score(["a", "b"]))
    drawn = hmm.sample(50, given=x, seed=0)
    assert {one.observations[1] for one in drawn} == {"a", "b"}
    with pytest.raises(pgm.InvalidArgument, match=r"Step 1 .* a weight for each of the symbols"):
        hmm.score(["a", pgm.Likelihood({"a": 1.0})])


# --- forecasts ---


@pytest.mark.parametrize(
    ("emission", "x", "parts"),
    [
        (pgm.Poisson([1.0, 6.0]), [0, 2, 7], [stats.poisson(1.0), stats.poisson(6.0)]),
        (pgm.Bernoulli([0.1, 0.8]), [0, 1, 1], [stats.bernoulli(0.1), stats.bernoulli(0.8)]),
        (pgm.StudentT([0.0, 3.0], 1.0, df=5.0), [0.0, 2.0, 3.0], [stats.t(5.0), stats.t(5.0, 3.0)]),
        (
            pgm.GaussianMixture([[0.5, 0.5], [1.0, 0.0]], mean=[[0.0, 4.0], [2.0, 9.0]], sd=1.0),
            [0.0, 2.0, 3.0],
            [[stats.norm(0.0), stats.norm(4.0)], stats.norm(2.0)],
        ),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_forecasts_have_moments_and_intervals(emission: Any, x: Any, parts: Any) -> None:
    hmm = pgm.HMM(START, MOVES, emission)
    found = hmm.forecast(x, steps=2)
    p = hmm.filter(x).values[-1] @ np.array(MOVES)

    def of(state: int, what: str, *at: float) -> float:
        one = parts[state] if isinstance(parts[state], list) else [parts[state]]
        return float(np.mean([getattr(part, what)(*at) for part in one]))

    def mixed(what: str, *at: float) -> float:
        return float(p[0] * of(0, what, *at) + p[1] * of(1, what, *at))

    squares = 0.0
    for state in range(2):
        one = parts[state] if isinstance(parts[state], list) else [parts[state]]
        squares += p[state] * float(np.mean([part.var() + part.mean() ** 2 for part in one]))
    assert found.mean[0] == pytest.approx(mixed("mean"))
    assert found.std[0] == pytest.approx(math.sqrt(squares - mixed("mean") ** 2))
    low, high = found.interval(0.8)
    if emission.whole:
        for end, tail in ((low[0], 0.1), (high[0], 0.9)):
            assert mixed("cdf", end) >= tail > mixed("cdf", end - 1)
    else:
        assert mixed("cdf", low[0]) == pytest.approx(0.1, abs=1e-9)
        assert mixed("cdf", high[0]) == pytest.approx(0.9, abs=1e-9)
    assert pickle.loads(pickle.dumps(found)).mean == pytest.approx(found.mean)
    assert "observation mean" in repr(found)
