"""Distributions of counts, bags, mixtures and columns, alone and as what hidden states emit: beside scipy."""

from __future__ import annotations

import io
import itertools
import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import pgm
from pgm.distributions import Emission, LocalDistribution
from pgm.distributions.parts import Part

START = np.array([0.6, 0.4])
MOVES = np.array([[0.7, 0.3], [0.2, 0.8]])
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schema" / "pgm-1.json").read_text())


@dataclass
class Case:
    """A distribution for two states, what scipy says of a row, and one that has to learn."""

    made: Any
    log: Callable[[Any, int], float]  # of a row without gaps in a state
    new: Any
    mean: Callable[[int], Any]


def poisson() -> Case:
    rate = [1.5, 6.0]
    return Case(
        pgm.Poisson(rate), lambda x, k: stats.poisson(rate[k]).logpmf(x), pgm.Poisson(), lambda k: rate[k]
    )


def poissons() -> Case:
    rate = np.array([[1.5, 6.0, 0.0], [4.0, 0.5, 2.0]])
    return Case(
        pgm.Poisson(rate),
        lambda x, k: float(stats.poisson(rate[k]).logpmf(x).sum()),
        pgm.Poisson(dim=3),
        lambda k: rate[k],
    )


def bernoulli() -> Case:
    p = [0.2, 0.9]
    return Case(
        pgm.Bernoulli(p), lambda x, k: stats.bernoulli(p[k]).logpmf(x), pgm.Bernoulli(), lambda k: p[k]
    )


def bernoullis() -> Case:
    p = np.array([[0.2, 0.9, 0.5], [0.6, 0.3, 1.0]])
    return Case(
        pgm.Bernoulli(p),
        lambda x, k: float(stats.bernoulli(p[k]).logpmf(x).sum()),
        pgm.Bernoulli(dim=3),
        lambda k: p[k],
    )


def multinomial() -> Case:
    p = np.array([[0.2, 0.5, 0.3], [0.6, 0.4, 0.0]])
    return Case(
        pgm.Multinomial(p, size=4),
        lambda x, k: float(stats.multinomial(sum(x), p[k]).logpmf(x)),
        pgm.Multinomial(dim=3),
        lambda k: 4 * p[k],
    )


def mixture() -> Case:
    w, mean, sd = [[0.3, 0.7], [0.6, 0.4]], [[0.0, 4.0], [8.0, 15.0]], [[1.0, 0.5], [1.0, 2.0]]
    return Case(
        pgm.GaussianMixture(w, mean, sd),
        lambda x, k: float(special.logsumexp(stats.norm(mean[k], sd[k]).logpdf(x), b=w[k])),
        pgm.GaussianMixture(n_components=2),
        lambda k: np.dot(w[k], mean[k]),
    )


def mixtures() -> Case:
    w = np.array([[0.3, 0.7], [0.6, 0.4]])
    mean = np.array([[[0.0, 0.0], [6.0, 0.0]], [[0.0, 9.0], [9.0, 9.0]]])
    covariance = np.array([[[2.0, 0.6], [0.6, 0.5]], [[1.0, -0.2], [-0.2, 1.0]]])
    return Case(
        pgm.GaussianMixture(w, mean, covariance=covariance),
        lambda x, k: float(
            special.logsumexp(
                [stats.multivariate_normal(mean[k, j], covariance[j]).logpdf(x) for j in (0, 1)], b=w[k]
            )
        ),
        pgm.GaussianMixture(n_components=2, dim=2),
        lambda k: w[k] @ mean[k],
    )


def product() -> Case:
    a, b = poissons(), mixture()
    p = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    symbols = pgm.Categorical(p)
    return Case(
        pgm.Product([b.made, symbols, a.made]),
        lambda x, k: b.log(x[0], k) + float(np.log(p[k, int(x[1])])) + a.log(x[2:], k),
        pgm.Product([b.new, pgm.Categorical(symbols=[0, 1, 2]), a.new]),
        lambda k: np.concatenate([[b.mean(k), p[k] @ [0, 1, 2]], a.mean(k)]),
    )


CASES = [poisson, poissons, bernoulli, bernoullis, multinomial, mixture, mixtures, product]
each = pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)


def rows_of(case: Case, n: int, seed: int = 0) -> Any:
    """So many rows, half of each state, in turns."""
    return case.made.draw(np.arange(n) % 2, np.random.default_rng(seed))


def near(value: Any, rel: float = 1e-10) -> Any:
    return pytest.approx(value, rel=rel, abs=1e-11)


@each
def test_densities_are_those_of_scipy(make: Any) -> None:
    case = make()
    rows = rows_of(case, 20)
    expected = np.array([[case.log(x, k) for k in (0, 1)] for x in rows])
    assert case.made.log_density(rows) == near(expected)
    assert case.made.log_density(rows[3]) == near(expected[3])
    nothing = [None, *rows.tolist()]
    if case.made.vector:
        nothing[0] = [None] * case.made.dim
    assert case.made.log_density(nothing)[0].tolist() == [0.0, 0.0]
    assert isinstance(case.made, Emission)
    assert isinstance(case.made, LocalDistribution)


@each
def test_draws_have_the_mean_of_their_state(make: Any) -> None:
    case = make()
    for k in (0, 1):
        drawn = case.made.sample(20_000, seed=1, state=k)
        error = np.std(drawn, axis=0) / np.sqrt(20_000)
        assert (np.abs(drawn.mean(axis=0) - case.mean(k)) <= 5 * error + 1e-12).all()
        assert (case.made.sample(5, seed=1, state=k) == case.made.sample(5, seed=1, state=k)).all()
    with pytest.raises(pgm.InvalidArgument, match="state="):
        case.made.sample(3)
    with pytest.raises(pgm.InvalidArgument, match="from 0 to 1"):
        case.made.sample(3, state=2)


@each
def test_it_keeps_the_protocol_of_local_distributions(make: Any) -> None:
    """Statistics of parts add up, weights are rows, a prior is rows nobody saw, parts make it again."""
    case = make()
    data, times = rows_of(case, 12), np.arange(12) % 3 + 1
    one = case.made
    both = np.column_stack([times, times[::-1]]).astype(float)
    whole = one.fitted(one.statistics(data, both))
    first, rest = one.statistics(data[:5], both[:5]), one.statistics(data[5:], both[5:])
    for other in (one.fitted(first + rest), one.fitted(first, prior=rest)):
        assert other.log_density(data) == near(whole.log_density(data))
    repeated = np.repeat(np.arange(12), times)
    alone = np.column_stack([times, np.zeros(12)])
    single = np.column_stack([np.ones(len(repeated)), np.zeros(len(repeated))])
    again = one.fitted(one.statistics(data[repeated], single))
    assert again.log_density(data) == near(one.fitted(one.statistics(data, alone)).log_density(data))
    assert again.log_density(data)[:, 1] == near(one.log_density(data)[:, 1])  # no weight: it keeps its own
    assert type(one).from_parts(Part.of(json.loads(json.dumps(whole.to_parts())))) == whole
    assert pickle.loads(pickle.dumps(whole)) == whole != one
    with pytest.raises(AttributeError):
        one.dim = 9
    assert "<" in one._repr_html_()
    assert type(one).__name__ in repr(one)
    with pytest.raises(pgm.InvalidArgument, match="no parameters yet"):
        case.new.log_density(data)
    assert type(one).__name__ in repr(case.new)
    with pytest.raises(pgm.InvalidArgument, match="no row with any weight"):
        case.new.fit(data, np.zeros(12))


@each
def test_states_that_emit_it_beside_all_paths(make: Any) -> None:
    case = make()
    rows = list(rows_of(case, 5))
    logs = np.array([[case.log(x, k) for k in (0, 1)] for x in rows])
    rows[2], logs[2] = None, 0.0
    paths = np.array(list(itertools.product((0, 1), repeat=5)))
    with np.errstate(divide="ignore"):
        joint = np.log(START[paths[:, 0]]) + logs[np.arange(5), paths].sum(axis=1)
    joint += np.log(MOVES[paths[:, :-1], paths[:, 1:]]).sum(axis=1)
    total = special.logsumexp(joint)
    hmm = pgm.HMM(START, MOVES, case.made)
    assert float(hmm.score(rows)) == near(total)
    assert hmm.decode(rows).codes.tolist() == paths[joint.argmax()].tolist()
    for t in range(5):
        believed = [np.exp(special.logsumexp(joint[paths[:, t] == k]) - total) for k in (0, 1)]
        assert hmm.smooth(rows).values[t] == near(np.array(believed))
    filled = hmm.sample(20, given=rows, seed=0)
    for one in filled:
        assert np.delete(one.observations, 2, 0).tolist() == np.array(rows[:2] + rows[3:]).tolist()
        assert np.isfinite(case.made.log_density(one.observations[2])).any()


@each
def test_models_with_it_are_written_and_read(make: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    hmm, file = pgm.HMM(START, MOVES, make().made), io.StringIO()
    pgm.write(hmm, file, format="json")
    assert pgm.read(io.StringIO(file.getvalue()), format="json") == hmm
    jsonschema.validate(json.loads(file.getvalue()), SCHEMA)
    assert pickle.loads(pickle.dumps(hmm)) == hmm


@each
@pytest.mark.parametrize("prior", [None, 0.5])
@pytest.mark.parametrize("gaps", [False, True])
def test_states_learn_it(make: Any, prior: float | None, gaps: bool) -> None:
    """The likelihood never falls, and where it rests no parameter of the chain or the emission raises it."""
    case = make()
    data = [
        list(one.observations) for one in pgm.HMM(START, MOVES, case.made).sample(60, sequences=4, seed=3)
    ]
    if gaps:
        for sequence in data:
            sequence[::7] = [None] * len(sequence[::7])
    hmm = pgm.HMM(n_states=2, emission=case.new)
    hmm.fit(data, prior=prior, seed=5, starts=2, max_iter=3000, tol=1e-11)
    assert hmm.fit_report.converged
    assert hmm.fit_report.n_parameters == hmm.n_parameters
    if prior is None:
        assert (np.diff(hmm.fit_report.log_likelihoods) >= -1e-8).all()
        here = float(hmm.score(data))
        parts = hmm.emission.to_parts()
        for other in neighbours(parts, 1e-3):
            try:
                moved = type(hmm.emission).from_parts(Part.of(other))
                there = float(pgm.HMM(hmm.initial, hmm.transition, moved).score(data))
            except pgm.PGMError:
                continue
            assert there <= here + 1e-6


def neighbours(parts: Any, step: float) -> list[Any]:
    """The same parts with one number off by a little, each in turn; rows of probabilities are mended."""
    found = []
    for name, value in parts.items():
        if name in ("dim", "symbols") or isinstance(value, str):
            continue
        if name == "columns":
            for i, column in enumerate(value):
                ((kind, inside),) = column.items()
                for other in neighbours(inside, step):
                    found.append({"columns": [*value[:i], {kind: other}, *value[i + 1 :]]})
            continue
        table = np.array(value, dtype=float)
        for i in range(table.size):
            for sign in (1, -1):
                other = table.copy()
                other.flat[i] += sign * step
                found.append({**parts, name: other.tolist()})
    return found


# --- what is right for one kind ---


def test_columns_have_names_and_gaps() -> None:
    words = pgm.Categorical([[0.9, 0.1], [0.2, 0.8]], ["a", "b"])
    places = pgm.Gaussian([[0.0, 0.0], [3.0, 3.0]], covariance=np.eye(2))
    both = pgm.Product({"word": words, ("x", "y"): places})
    frame = {"y": [0.5, None, 3.0], "other": [1, 2, 3], "word": ["a", None, "b"], "x": [0.1, 2.0, None]}
    rows = [["a", 0.1, 0.5], [None, 2.0, None], ["b", None, 3.0]]
    hmm = pgm.HMM(START, MOVES, both)
    assert float(hmm.score(frame)) == float(hmm.score(rows))
    expected = np.log([0.1, 0.8]) + np.column_stack([stats.norm(m).logpdf([3.0]) for m in (0, 3)])
    assert both.log_density(rows)[2:] == near(expected)
    for one in hmm.sample(3, given=rows, seed=1):
        assert one.observations[0].tolist() == rows[0]
        assert one.observations[1][1] == 2.0
        assert one.observations[1][0] in ("a", "b")
    drawn = [one.observations for one in hmm.sample(80, sequences=3, seed=0)]
    fresh = pgm.Product({"word": pgm.Categorical(symbols=["a", "b"]), ("x", "y"): pgm.Gaussian(dim=2)})
    learned = pgm.HMM(n_states=2, emission=fresh).fit(drawn, seed=0)
    assert np.sort(learned.emission.parts[1].mean[:, 0]) == pytest.approx([0.0, 3.0], abs=0.5)
    file = io.StringIO()
    pgm.write(hmm, file, format="json")
    assert pgm.read(io.StringIO(file.getvalue()), format="json") == hmm


@pytest.mark.parametrize("form", ["full", "diagonal"])
def test_hmmlearn_learns_the_same_mixtures(form: str) -> None:
    """hmmlearn's full covariances are about the means before the step: there only where both rest."""
    steps = 200 if form == "full" else 5
    hmmlearn = pytest.importorskip("hmmlearn.hmm")
    hmm = pgm.HMM(START, MOVES, mixtures().made)
    data = [one.observations for one in hmm.sample(60, sequences=4, seed=0)]
    x, lengths = np.concatenate(data), [60] * 4
    kind = {"diagonal": "diag"}.get(form, form)
    exactly = {"tol": -np.inf, "min_covar": 0.0}
    other = hmmlearn.GMMHMM(2, 2, covariance_type=kind, init_params="", n_iter=steps, **exactly)
    other.startprob_, other.transmat_ = START.copy(), MOVES.copy()
    emission = pgm.GaussianMixture(hmm.emission.weights, hmm.emission.mean, covariance=np.eye(2), form=form)
    other.weights_, other.means_ = emission.weights.copy(), emission.mean.copy()
    theirs = emission.covariance if form == "full" else np.ones((2, 2, 2))
    other.covars_ = np.array(theirs)
    hmm = pgm.HMM(START, MOVES, emission)
    assert float(hmm.score(data)) == near(other.score(x, lengths))
    other.fit(x, lengths)
    hmm.fit(data, max_iter=steps, tol=0.0)
    assert hmm.transition == near(other.transmat_, 1e-7)
    assert hmm.emission.weights == near(other.weights_, 1e-7)
    assert hmm.emission.mean == near(other.means_, 1e-7)
    found = hmm.emission.covariance if form == "full" else hmm.emission.sd**2
    assert found == near(other.covars_, 1e-6)


def test_a_mixture_is_fitted_as_scikit_learn_does() -> None:
    mixture_of = pytest.importorskip("sklearn.mixture").GaussianMixture
    x = mixtures().made.sample(400, seed=2, state=1)
    other = mixture_of(2, reg_covar=0.0, tol=1e-10, max_iter=1000, random_state=0).fit(x)
    made = pgm.GaussianMixture(n_components=2, dim=2).fit(x)
    assert float(made.log_density(x).mean()) == pytest.approx(other.score(x), abs=1e-7)
    order = np.argsort(made.mean[:, 0])
    assert made.mean[order] == pytest.approx(other.means_[np.argsort(other.means_[:, 0])], abs=1e-3)


def test_single_entries_of_a_mixture_may_be_missing() -> None:
    case = mixtures()
    w, mean = case.made.weights[0], case.made.mean[0]
    sd = np.sqrt(case.made.covariance[0, :, 1, 1])
    expected = special.logsumexp(stats.norm(mean[:, 1], sd).logpdf(0.7), b=w)
    assert case.made.log_density([None, 0.7])[0] == near(expected)
    x = np.array([[0.0, 0.5], [5.0, np.nan], [6.0, 0.2], [np.nan, 0.1], [0.3, -0.2], [6.5, 0.3], [5.5, 1.0]])
    made, last = pgm.GaussianMixture([0.5, 0.5], mean, covariance=np.eye(2), form="diagonal"), -np.inf
    for _ in range(20):
        made = made.fitted(made.statistics(x))
        now = float(made.log_density(x).sum())
        assert now >= last - 1e-9
        last = now


def test_hmmlearn_learns_the_same_bags() -> None:
    hmmlearn = pytest.importorskip("hmmlearn.hmm")
    p = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])
    hmm = pgm.HMM(START, MOVES, pgm.Multinomial(p, size=5))
    data = [one.observations for one in hmm.sample(50, sequences=4, seed=0)]
    x, lengths = np.concatenate(data), [50] * 4
    other = hmmlearn.MultinomialHMM(2, n_trials=5, init_params="", n_iter=10, tol=-np.inf)
    other.startprob_, other.transmat_, other.emissionprob_ = START.copy(), MOVES.copy(), p.copy()
    assert float(hmm.score(data)) == near(other.score(x, lengths))
    other.fit(x, lengths)
    hmm.fit(data, max_iter=10, tol=0.0)
    assert hmm.emission.p == near(other.emissionprob_, 1e-9)
    assert hmm.emission.size == 5


def test_hmmlearn_learns_the_same_counts() -> None:
    hmmlearn = pytest.importorskip("hmmlearn.hmm")
    rate = np.array([[1.0, 5.0], [4.0, 2.0]])
    hmm = pgm.HMM(START, MOVES, pgm.Poisson(rate))
    data = [one.observations for one in hmm.sample(50, sequences=4, seed=0)]
    x, lengths = np.concatenate(data), [50] * 4
    other = hmmlearn.PoissonHMM(2, init_params="", n_iter=10, tol=-np.inf)
    other.startprob_, other.transmat_, other.lambdas_ = START.copy(), MOVES.copy(), rate.copy()
    assert float(hmm.score(data)) == near(other.score(x, lengths))
    assert hmm.smooth(data).values == pytest.approx(other.predict_proba(x, lengths), abs=1e-9)
    other.fit(x, lengths)
    hmm.fit(data, max_iter=10, tol=0.0)
    assert hmm.emission.rate == near(other.lambdas_, 1e-9)
    assert hmm.transition == near(other.transmat_, 1e-9)


def test_single_entries_may_be_missing() -> None:
    rate, p = np.array([[1.5, 6.0]]), np.array([[0.2, 0.9]])
    assert pgm.Poisson(rate).log_density([[2, None]]) == near(stats.poisson(1.5).logpmf([[2]]))
    assert pgm.Bernoulli(p).log_density([[None, 0]]) == near(np.log([[0.1]]))
    assert pgm.Poisson(dim=2).fit([[1, None], [3, 4], [None, 8]]).rate.tolist() == [2.0, 6.0]
    assert pgm.Bernoulli(dim=2).fit([[1, None], [0, 1], [None, 1]]).p.tolist() == [0.5, 1.0]
    with pytest.raises(pgm.InvalidArgument, match=r"Entry 1 .* never observed"):
        pgm.Poisson(dim=2).fit([[1, None], [3, None]])


def test_truth_values_are_ones_and_zeros() -> None:
    hmm = pgm.HMM(START, MOVES, pgm.Bernoulli([[0.2, 0.9], [0.6, 0.3]]))
    ones = [[1, 0], [0, None], None, [1, 1]]
    told = [[True, False], [False, None], None, [True, True]]
    assert float(hmm.score(told)) == float(hmm.score(ones))
    assert float(hmm.score(np.array([[True, False]]))) == float(hmm.score([[1, 0]]))
    frame = {"a": [True, False], "b": [False, None]}
    assert float(hmm.score(frame)) == float(hmm.score([[1, 0], [0, None]]))


def test_a_number_as_a_prior_is_rows() -> None:
    """The gamma prior adds rows with the mean of the data, the beta prior ones and zeros."""
    one = pgm.HMM([1.0], [[1.0]], pgm.Poisson([2.0])).fit([1, 2, 6], prior={"emission": 3.0})
    assert one.emission.rate == near(3.0)
    two = pgm.HMM([1.0], [[1.0]], pgm.Bernoulli([0.5])).fit([1, 1, 0], prior={"emission": 2.0})
    assert two.emission.p == near(np.array([4 / 7]))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: pgm.Poisson(-1.0), "rate= is the mean of counts and cannot be negative: -1.0."),
        (lambda: pgm.Poisson([[1.0, 2.0]], dim=3), "dim=3 does not match rows of 2 in rate=."),
        (lambda: pgm.Poisson(dim=0), "dim= is a whole number of at least 1, not 0."),
        (lambda: pgm.Poisson("many"), "rate= takes numbers"),
        (lambda: pgm.Poisson(1.0).log_density([1, 2.5]), "Row 1 (the first is 0): 2.5 is not a count."),
        (lambda: pgm.Poisson(1.0).log_density(-1), "-1 is not a count."),
        (lambda: pgm.Poisson(1.0).log_density("two"), "takes numbers, not 'two'"),
        (lambda: pgm.Poisson([[1.0, 2.0]]).log_density([1, 2, 3]), "A row has 2 values, not 3."),
        (lambda: pgm.HMM([1], [[1]], pgm.Poisson([1.0])).score([[1, 2], [3, -4]]),
         "Sequence 1, step 1 (both count from 0): -4 is not a count."),
        (lambda: pgm.Bernoulli(1.2), "p= is a probability, from 0 to 1, not 1.2."),
        (lambda: pgm.Bernoulli(0.5).log_density(2), "2 is not 1 or 0, True or False."),
        (lambda: pgm.Multinomial(), "needs probabilities, or dim="),
        (lambda: pgm.Multinomial([0.5, 0.6]), "p= sums to one in each row, not to 1.1."),
        (lambda: pgm.Multinomial([1.5, -0.5]), "p= has probabilities, which are not negative"),
        (lambda: pgm.Multinomial([0.5, 0.5], dim=3), "dim=3 does not match 2 probabilities."),
        (lambda: pgm.Multinomial([0.5, 0.5], size=-1), "size= is a whole number of words, not -1."),
        (lambda: pgm.Multinomial([0.5, 0.5]).sample(2), "How many words does a sampled bag have?"),
        (lambda: pgm.Multinomial([0.5, 0.5]).log_density([1, None]), "Word 1 has no count (the first is 0)."),
        (lambda: pgm.GaussianMixture(), "needs weights=, or n_components= of at least 1, not None."),
        (lambda: pgm.GaussianMixture(mean=[1.0]), "needs weights= with its mean="),
        (lambda: pgm.GaussianMixture([0.5, 0.6], [0, 1], [1, 1]), "for each state, not to 1.1."),
        (lambda: pgm.GaussianMixture([0.5, 0.5], [0, 1]), "sd= or covariance=: give one of the two."),
        (lambda: pgm.GaussianMixture([0.5, 0.5], [0, 1, 2], 1.0), "mean= of shape (3,) does not match"),
        (lambda: pgm.GaussianMixture([0.5, 0.5], [0, 1], [1, 2, 3]), "sd= of shape (3,) does not match"),
        (lambda: pgm.GaussianMixture([0.5, 0.5], [0, 1], [1, 0]), "sd= of component 1 is singular: "),
        (lambda: pgm.GaussianMixture([1.0], [0], 1.0, n_components=2), "There are 1 components"),
        (lambda: pgm.GaussianMixture(n_components=2, form="round"), "form= is 'full' or"),
        (lambda: pgm.GaussianMixture(n_components=2).fit([1.0, 1.0, 1.0, 2.0, 2.0]), "collapsed"),
        (lambda: pgm.Product([]), "takes a list of distributions, or a dict by column, not []."),
        (lambda: pgm.Product([1.0]), "A part of a Product is a distribution, not 1.0."),
        (lambda: pgm.Product([pgm.Poisson([1.0, 2.0]), pgm.Poisson(1.0)]), "the same number of states"),
        (lambda: pgm.Product({("x", "y"): pgm.Poisson()}), "name 2 columns, but the distribution takes 1."),
        (lambda: pgm.Product({"x": pgm.Poisson(), ("x",): pgm.Poisson()}), "Columns need different names"),
        (lambda: pgm.Product([pgm.Poisson(1.0)] * 2).log_density([[1, 2], [1, 2, 3]]),
         "Step 1 (the first is 0): a row has 2 columns, not 3."),
        (lambda: pgm.Product([pgm.Poisson(1.0)] * 2).log_density([[1, 2], [1, -2]]), "-2 is not a count."),
        (lambda: pgm.HMM(START, MOVES, pgm.Poisson(1.0)), "it needs a row for each of them"),
    ],
)  # fmt: skip
def test_mistakes_are_named(ask: Any, said: str) -> None:
    with pytest.raises(pgm.PGMError) as error:
        ask()
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("emission", "seen"),
    [
        (pgm.Poisson([1.0, 6.0]), [0, 4, 7]),
        (pgm.StudentT([0.0, 3.0], scale=[1.0, 2.0], df=4.0), [0.5, None, 4.0]),
        (pgm.StudentT(mean=[[0.0, 1.0], [3.0, 0.0]], covariance=[np.eye(2)] * 2), [[0.5, 1.0], [2.0, 0.5]]),
    ],
)
def test_networks_have_densities_that_are_not_normal(emission, seen):
    """The states of a hidden Markov model with any density, beside its own smoothing."""
    hmm = pgm.HMM([0.4, 0.6], [[0.9, 0.1], [0.3, 0.7]], emission)
    net = hmm.to_network(len(seen))
    given = {}
    for t, x in enumerate(seen):
        if x is not None and np.ndim(x):
            given |= {f"observation[{t},{i}]": value for i, value in enumerate(x)}
        elif x is not None:
            given[f"observation[{t}]"] = float(x)
    for t, row in enumerate(hmm.smooth(seen).values):
        assert net.query(f"state[{t}]", given).values == pytest.approx(row, rel=1e-10)
    assert float(net.log_probability(given)) == pytest.approx(float(hmm.score(seen)), rel=1e-10)
