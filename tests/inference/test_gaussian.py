"""Continuous variables against joint Gaussians written out by numpy, mixed over all discrete states."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import linalg

import pgm
from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.inference import program
from pgm.inference.engines.gaussian import elimination, hybrid
from tests.gaussian_oracle import Mixture, Plain, plains
from tests.loops import forms

near = lambda x: pytest.approx(x, rel=1e-7, abs=1e-8)  # noqa: E731


def some_evidence(data: st.DataObject, plain: Plain, rng: np.random.Generator) -> dict[str, Any]:
    case = plain.draw(rng)
    return {name: case[name] for name in case if data.draw(st.integers(0, 2), label=name) == 0}


@pytest.mark.parametrize("asked", [["x0", "x1"], ["x1", "x0"], ["x1", "x2", "x0"], ["x2", "x0"]])
@pytest.mark.parametrize("seen", [["y2"], ["y0", "y2"], ["y0", "y1", "y2"], ["y0", "y1", "y3"]])
def test_a_joint_of_some_in_the_middle_of_a_chain(asked: list[str], seen: list[str]) -> None:
    """The clique that has them all need not be a root of the tree."""
    net, n = pgm.BayesianNetwork(), 4
    precision = np.zeros((2 * n, 2 * n))
    for t in range(n):
        one = np.zeros(2 * n)
        one[t] = 1.0
        if t:
            net.add(f"x{t}", pgm.LinearGaussian({f"x{t - 1}": 0.95}, sd=0.3))
            one[t - 1] = -0.95
        else:
            net.add("x0", pgm.Gaussian(0.0, 0.3))
        precision += np.outer(one, one) / 0.09
        net.add(f"y{t}", pgm.LinearGaussian({f"x{t}": 1.0}, sd=0.5))
        one = np.zeros(2 * n)
        one[n + t], one[t] = 1.0, -1.0
        precision += np.outer(one, one) / 0.25
    cov = np.linalg.inv(precision)
    x, y = [int(name[1]) for name in asked], [n + int(name[1]) for name in seen]
    gain = cov[np.ix_(x, y)] @ np.linalg.inv(cov[np.ix_(y, y)])
    values = [0.4 * i - 0.3 for i in range(len(seen))]
    p = net.query(asked, dict(zip(seen, values, strict=True)))
    assert p.mean == near((gain @ values).tolist())
    np.testing.assert_allclose(p.covariance, cov[np.ix_(x, x)] - gain @ cov[np.ix_(y, x)], atol=1e-12)


@settings(max_examples=120)
@given(plains(), st.data())
def test_all_answers_are_those_of_the_mixture(
    model: tuple[Plain, np.random.Generator], data: st.DataObject
) -> None:
    plain, rng = model
    known = some_evidence(data, plain, rng)
    truth = plain.answer(known)
    assume(truth is not None)
    assert truth is not None
    net = plain.network()
    assert net.log_probability(known) == near(truth.log_density)
    found = net.marginals(known)
    assert list(found) == [n.name for n in plain.nodes if n.name not in known]
    for name in plain.discrete:
        if name not in known:
            states = [truth.state(name, code) for code in range(plain.cards[name])]
            assert found[name].values == near(states)
            assert net.query(name, known).values == near(states)
    for name in truth.names:
        for p in (found[name], net.query(name, known)):
            assert isinstance(p, pgm.Density)
            assert p.exact
            assert (p.mean, p.variance) == near((truth.mean(name), truth.variance(name)))
            if p.form != "moments" and truth.covariances[:, truth.names.index(name)].min() >= 0:
                check_density(p, truth, name)
    if len(truth.names) > 1:
        some = data.draw(st.lists(st.sampled_from(truth.names), min_size=2, unique=True), label="joint")
        for names in (truth.names[::-1], some):
            j = net.query(names, known)
            assert j.mean == near([truth.mean(a) for a in names])
            assert j.covariance == near(np.array([[truth.covariance(a, b) for b in names] for a in names]))


@settings(max_examples=60)
@given(plains(), st.data())
def test_tables_under_numbers_are_those_of_the_mixture(
    model: tuple[Plain, np.random.Generator], data: st.DataObject
) -> None:
    """Counts are shares of the mixture; a derivative is the density were an entry 1 and all beside it 0."""
    plain, rng = model
    known = some_evidence(data, plain, rng)
    truth = plain.answer(known)
    assume(truth is not None)
    assert truth is not None
    net = plain.network()
    counts, gradients = net.expected_counts(known), net.gradients(known, zeros=True)
    assert list(counts) == [node.name for node in plain.nodes]
    assert [name for name, found in gradients.items() if isinstance(found, np.ndarray)] == plain.discrete
    for node in plain.nodes:
        if node.table is None:
            continue
        expected, slopes = np.zeros(node.table.shape), np.zeros(node.table.shape)
        for w, c in zip(truth.weights, truth.configurations, strict=True):
            expected[(*[c[s] for s in node.switches], c[node.name])] += w
        table = node.table
        for at in np.ndindex(*table.shape):
            node.table = np.zeros(table.shape)
            node.table[at] = 1.0
            alone = plain.answer(known)
            if alone is not None:
                slopes[at] = math.exp(alone.log_density - truth.log_density)
            elif table[at] == 0.0:  # impossible, or without a density: the truth here does not tell
                slopes[at] = gradients[node.name][at]
        node.table = table
        np.testing.assert_allclose(counts[node.name], expected, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(gradients[node.name], slopes, rtol=1e-6, atol=1e-9)


WAYS = ("one tree", "few mixtures", "one by one", "an order of its own")


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plains(), st.data())
def test_expected_statistics_of_densities_are_those_of_the_mixture(
    way: str, model: tuple[Plain, np.random.Generator], data: st.DataObject
) -> None:
    """Of parents and child: P(row | known), and their mean and covariance given the row and what is known."""
    plain, rng = model
    known = some_evidence(data, plain, rng)
    truth = plain.answer(known)
    assume(truth is not None)
    assert truth is not None
    with pytest.MonkeyPatch.context() as patch:
        if way == "few mixtures":
            patch.setattr(hybrid, "_MIXTURE_BYTES", 0.0)
        if way == "one by one":
            patch.setattr(hybrid.HybridSums, "at_once", lambda _: False)
        if way == "an order of its own":
            patch.setattr(program, "_FAR_APART", 1)
            patch.setattr(program, "_FAR", 0)
        net = plain.network()
        found = net.expected_counts(known)
    for node in plain.nodes:
        if node.table is not None:
            continue
        statistics, members = found[node.name], [*node.causes, node.name]
        assert isinstance(statistics, GaussianStatistics)
        for r, at in enumerate(np.ndindex(*node.sd.shape)):
            those = [
                i for i, c in enumerate(truth.configurations) if tuple(c[s] for s in node.switches) == at
            ]
            weight = truth.weights[those].sum()
            assert statistics.weight[r] == near(weight)
            if weight < 1e-9:
                continue
            means, second = np.zeros(len(members)), np.zeros((len(members), len(members)))
            for i in those:
                mean, cov = np.zeros(len(members)), np.zeros((len(members), len(members)))
                for j, a in enumerate(members):
                    mean[j] = known[a] if a in known else truth.means[i, truth.names.index(a)]
                    for k, b in enumerate(members):
                        if a not in known and b not in known:
                            cov[j, k] = truth.covariances[i, truth.names.index(a), truth.names.index(b)]
                means += truth.weights[i] * mean
                second += truth.weights[i] * (cov + np.outer(mean, mean))
            assert statistics.mean[r] == near(means / weight)
            moments = statistics.scatter[r] + weight * np.outer(statistics.mean[r], statistics.mean[r])
            np.testing.assert_allclose(moments, second, rtol=1e-7, atol=1e-8)


def test_an_em_step_from_expected_statistics_raises_the_likelihood_to_that_of_the_data() -> None:
    """Two normals whose labels are hidden: EM by `fitted` is the textbook's (Bishop 2006, 9.2.2)."""
    rng = np.random.default_rng(7)
    x = np.where(rng.random(60) < 0.4, rng.normal(-2.0, 0.5, 60), rng.normal(1.0, 1.5, 60))
    share, mean, sd = np.array([0.5, 0.5]), np.array([-1.0, 0.5]), np.array([1.0, 1.0])
    net = pgm.BayesianNetwork()
    net.add("z", share.tolist(), states=["a", "b"])
    net.add("x", {s: pgm.Gaussian(m, v) for s, m, v in zip("ab", mean, sd, strict=True)}, parents=["z"])
    for _ in range(5):
        total: dict[str, Any] = {}
        for value in x:
            for name, part in net.expected_counts({"x": value}).items():
                total[name] = total[name] + part if name in total else part
        for name, statistics in total.items():
            net.set(name, net.cpd(name).fitted(statistics))
        dense = share * np.exp(-0.5 * ((x[:, None] - mean) / sd) ** 2) / sd
        r = dense / dense.sum(axis=1, keepdims=True)
        share, mean = r.mean(axis=0), (r * x[:, None]).sum(axis=0) / r.sum(axis=0)
        sd = np.sqrt((r * (x[:, None] - mean) ** 2).sum(axis=0) / r.sum(axis=0))
        assert net.cpd("z").values == near(share)
        cpd = net.cpd("x")
        assert isinstance(cpd, pgm.LinearGaussian)
        assert cpd.bias == near(mean)
        assert cpd.sd == near(sd)


def test_with_an_interval_the_statistics_are_those_of_the_tables() -> None:
    net = pgm.BayesianNetwork()
    net.add("z", 0.5)
    net.add("x", {True: pgm.Gaussian(0.0, 1.0), False: pgm.Gaussian(1.0, 1.0)}, parents=["z"])
    assert list(net.expected_counts({"x": pgm.Interval(0.0, 1.0)})) == ["z"]


def check_density(p: pgm.Density, truth: Mixture, name: str) -> None:
    i = truth.names.index(name)
    if truth.covariances[:, i, i].min() < 1e-6:
        return
    for x in (truth.mean(name) - 0.7, truth.mean(name) + 0.3):
        assert p.pdf(x) == near(truth.pdf(name, x))
        assert p.cdf(x) == near(truth.cdf(name, x))
    for q in (0.02, 0.5, 0.9):
        assert truth.cdf(name, p.quantile(q)) == near(q)


def test_a_joint_of_some_when_others_hang_on_the_last_of_them() -> None:
    """What is hidden behind y is eliminated into a clique of its own, not into that of x and y."""
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(1.0, 2.0))
    net.add("h", pgm.Gaussian(0.0, 1.0))
    net.add("y", pgm.LinearGaussian({"x": 2.0}, sd=0.5))
    net.add("z", pgm.LinearGaussian({"y": 1.0, "h": 1.0}, bias=1.0, sd=0.3))
    mean, cov = (
        np.array([1.0, 2.0, 3.0]),
        np.array([[4.0, 8.0, 8.0], [8.0, 16.25, 16.25], [8.0, 16.25, 17.34]]),
    )
    expected = mean[:2] + cov[:2, 2] / cov[2, 2] * (4.0 - mean[2])
    left = cov[:2, :2] - np.outer(cov[:2, 2], cov[2, :2]) / cov[2, 2]
    for names, at in ((["x", "y"], [0, 1]), (["y", "x"], [1, 0])):
        p = net.query(names, {"z": 4.0})
        assert p.exact
        assert p.mean == near(expected[at])
        assert p.covariance == near(left[np.ix_(at, at)])


@settings(max_examples=80)
@given(plains(), st.data())
def test_moments_alone_are_as_exact(model: tuple[Plain, np.random.Generator], data: st.DataObject) -> None:
    """Where mixtures for all variables would be too large the way back mixes as it goes."""
    plain, rng = model
    known = some_evidence(data, plain, rng)
    truth = plain.answer(known)
    assume(truth is not None and truth.names)
    assert truth is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hybrid, "_MIXTURE_BYTES", 0.0)
        found = plain.network().marginals(known)
    for name in truth.names:
        assert (found[name].mean, found[name].variance) == near((truth.mean(name), truth.variance(name)))


@settings(max_examples=60)
@given(plains(most_discrete=2, most_continuous=3), st.data())
def test_an_interval_is_an_integral_of_its_density(
    model: tuple[Plain, np.random.Generator], data: st.DataObject
) -> None:
    plain, rng = model
    known = some_evidence(data, plain, rng)
    truth = plain.answer(known)
    assume(truth is not None and truth.names)
    assert truth is not None
    name = data.draw(st.sampled_from(truth.names))
    i = truth.names.index(name)
    assume(truth.covariances[:, i, i].min() > 1e-6)
    lo, hi = truth.mean(name) - 0.4, truth.mean(name) + 1.1
    inside = truth.cdf(name, hi) - truth.cdf(name, lo)
    net = plain.network()
    interval = pgm.Interval(lo, hi)
    assert net.probability({name: interval}, given=known) == near(inside)
    for d in plain.discrete:
        if d in known:
            continue
        z = np.array([truth.means[:, i] * 0 + x for x in (lo, hi)]) - truth.means[:, i]
        z /= np.sqrt(2 * truth.covariances[:, i, i])
        each = [0.5 * (math.erf(b) - math.erf(a)) for a, b in z.T]
        states = [
            sum(
                w * e
                for w, e, c in zip(truth.weights, each, truth.configurations, strict=True)
                if c[d] == code
            )
            for code in range(plain.cards[d])
        ]
        assert net.query(d, {**known, name: interval}).values == near(np.array(states) / inside)


@settings(max_examples=60)
@given(plains(most_discrete=2, most_continuous=4, zeros=False), st.data())
def test_the_most_probable_explanation_is_the_highest_point(
    model: tuple[Plain, np.random.Generator], data: st.DataObject
) -> None:
    plain, rng = model
    known = some_evidence(data, plain, rng)
    truth = plain.answer(known)
    assert truth is not None
    n = len(truth.names)
    heights = np.log(truth.weights) - 0.5 * n * math.log(2 * math.pi)
    if n:
        heights = heights - 0.5 * np.linalg.slogdet(truth.covariances)[1]
    best = int(np.argmax(heights))
    found = plain.network().map(known)
    assert found.log_probability == near(float(heights[best]))
    assert found.log_joint == near(float(heights[best] + truth.log_density))
    second = np.delete(heights, best)
    if not second.size or second.max() < heights[best] - 1e-6:
        for name in plain.discrete:
            if name not in known:
                assert found[name] == truth.configurations[best][name]
        for i, name in enumerate(truth.names):
            assert found[name] == near(truth.means[best, i])


@settings(max_examples=8)
@given(plains(), st.data())
def test_samples_have_the_moments_of_the_posterior(
    model: tuple[Plain, np.random.Generator], data: st.DataObject
) -> None:
    plain, rng = model
    known = some_evidence(data, plain, rng)
    truth = plain.answer(known)
    assume(truth is not None)
    assert truth is not None
    n = 20_000
    drawn = plain.network().sample(n, given=known, seed=1)
    for name, value in known.items():
        assert (drawn[name] == value).all()
    for name in truth.names:  # five standard errors: one in two million
        sd = math.sqrt(truth.variance(name))
        assert abs(drawn[name].mean() - truth.mean(name)) <= 5.2 * sd / math.sqrt(n) + 1e-9
    for a in truth.names:
        for b in truth.names:
            product = (drawn[a] - truth.mean(a)) * (drawn[b] - truth.mean(b))
            spread = product.std() / math.sqrt(n)
            assert abs(product.mean() - truth.covariance(a, b)) <= 5.5 * spread + 1e-9
    for name in plain.discrete:
        if name not in known:
            p = truth.state(name, 0)
            assert abs((drawn[name] == 0).mean() - p) <= 5.2 * math.sqrt(p * (1 - p) / n) + 1e-9


# --- no noise ---------------------------------------------------------------------------------------------


def stuck() -> pgm.BayesianNetwork:
    """A meter that shows 20 when it is broken, and 20 to 22 degrees with an error when it is not."""
    net = pgm.BayesianNetwork()
    net.add("broken", 0.01)
    net.add("degrees", pgm.Gaussian(21.0, sd=1.0))
    rows = {True: pgm.LinearGaussian(bias=20.0, sd=0.0), False: pgm.LinearGaussian({"degrees": 1.0}, sd=0.1)}
    net.add("shown", rows, parents=["broken"])
    return net


def test_a_value_that_a_state_forces_is_that_state() -> None:
    net = stuck()
    assert net.query("broken", {"shown": 20.0})[True] == 1.0
    assert net.query("degrees", {"shown": 20.0}).mean == near(21.0)
    assert net.query("broken", {"shown": 20.001})[True] == 0.0
    assert net.query("degrees", {"shown": 20.001}).mean == near((21.0 + 100 * 20.001) / 101)
    with pytest.raises(pgm.InvalidEvidence, match="'shown' has no density"):
        net.probability({"shown": 20.0})
    assert net.probability({"shown": 20.001}) == near(
        0.99 * math.exp(-0.5 * 0.999**2 / 1.01) / math.sqrt(2 * math.pi * 1.01)
    )


def test_of_two_forced_values_the_state_that_forces_more_wins() -> None:
    """As the limit of small deviations: each value met exactly is worth more than any density."""
    net = pgm.BayesianNetwork()
    net.add("a", {"x": 0.001, "y": 0.999})
    net.add("b", {"x": [0.5, 0.5], "y": [0.1, 0.9]}, parents=["a"], states=[0, 1])
    net.add("u", {"x": pgm.Gaussian(1.0, 0.0), "y": pgm.Gaussian(1.0, 1.0)}, parents=["a"])
    net.add("v", {0: pgm.Gaussian(2.0, 0.0), 1: pgm.Gaussian(2.0, 3.0)}, parents=["b"])
    limit = net.copy()
    limit.set("u", {"x": pgm.Gaussian(1.0, 1e-9), "y": pgm.Gaussian(1.0, 1.0)})
    limit.set("v", {0: pgm.Gaussian(2.0, 1e-9), 1: pgm.Gaussian(2.0, 3.0)})
    known = {"u": 1.0, "v": 2.0}
    assert net.query(["a", "b"], known)["x", 0] == near(1.0)
    assert limit.query(["a", "b"], known)["x", 0] == pytest.approx(1.0, abs=1e-5)
    assert net.query("b", {"u": 1.0, "v": 2.5}).values == near([0.0, 1.0])


def copies(n: int = 3) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(1.0, sd=2.0))
    for i in range(n):
        net.add(f"y{i}", pgm.LinearGaussian({"x": i + 1.0}, bias=0.5, sd=0.0))
    return net


def test_evidence_that_repeats_itself_is_read_once() -> None:
    net = copies()
    p = net.query(["x", "y2"], {"y0": 3.5, "y1": 6.5})
    assert p.mean == near([3.0, 9.5])
    assert (p.covariance == 0.0).all()
    with pytest.raises(pgm.InvalidEvidence, match="no density"):
        net.log_probability({"y0": 3.5, "y1": 6.5})
    assert net.log_probability({"y1": 6.5}) == near(-0.5 - math.log(4.0) - 0.5 * math.log(2 * math.pi))


def test_evidence_that_contradicts_an_equation_is_impossible() -> None:
    net = copies()
    with pytest.raises(pgm.ImpossibleEvidence, match="cannot all be true") as caught:
        net.query("x", {"y2": 0.0, "y0": 3.5, "y1": 6.6})
    assert len(caught.value.contradiction) == 2
    assert net.probability({"y0": 3.5}, given={"x": 4.0}) == 0.0
    with pytest.raises(pgm.ImpossibleEvidence, match=r"y0 = 3\.5"):
        net.query("y1", {"x": 4.0, "y0": 3.5})


def test_a_difference_of_equals_is_nothing() -> None:
    net = copies(2)
    net.add("d", pgm.LinearGaussian({"y1": 1.0, "y0": -2.0}, sd=0.0))  # always -0.5
    p = net.query("d")
    assert (p.mean, p.variance) == (-0.5, 0.0)
    assert net.query("x", {"d": -0.5}).variance == near(4.0)
    with pytest.raises(pgm.ImpossibleEvidence):
        net.query("x", {"d": 0.5})
    p = net.query(["d", "x"])
    assert p.covariance == near(np.diag([0.0, 4.0]))
    with pytest.raises(pgm.InvalidArgument, match="singular"):
        p.pdf([-0.5, 1.0])


# --- numbers of very different size -----------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-40, 1e-6, 1.0, 1e7, 1e40])
def test_units_do_not_matter(scale: float) -> None:
    """Kilometres or nanometres, each variable in a unit of its own: the same posterior in those units."""
    units = dict(zip("abcd", (1.0, scale, 1.0 / scale, scale), strict=True))
    plain, scaled = pgm.BayesianNetwork(), pgm.BayesianNetwork()
    for net, unit in ((plain, dict.fromkeys("abcd", 1.0)), (scaled, units)):
        net.add("a", pgm.LinearGaussian(bias=1.0 * unit["a"], sd=2.0 * unit["a"]))
        net.add("b", pgm.LinearGaussian({"a": 0.5 * unit["b"] / unit["a"]}, sd=0.3 * unit["b"]))
        weights = {"a": -1.0 * unit["c"] / unit["a"], "b": 2.0 * unit["c"] / unit["b"]}
        net.add("c", pgm.LinearGaussian(weights, bias=3.0 * unit["c"], sd=0.1 * unit["c"]))
        net.add("d", pgm.LinearGaussian({"c": unit["d"] / unit["c"]}, sd=0.0))
    left = plain.query(["a", "b"], {"d": 2.5})
    right = scaled.query(["a", "b"], {"d": 2.5 * units["d"]})
    size = np.array([units["a"], units["b"]])
    assert right.mean / size == pytest.approx(left.mean, rel=1e-11)
    assert right.covariance / np.outer(size, size) == pytest.approx(left.covariance, rel=1e-10)
    density = scaled.log_probability({"d": 2.5 * units["d"]}) + math.log(units["d"])
    assert density == pytest.approx(plain.log_probability({"d": 2.5}), rel=1e-12)


def test_a_very_precise_measurement_keeps_its_digits() -> None:
    """Two sums known to 1e-9 tell a difference whose prior is a million: squares would lose all of it."""
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1e6))
    net.add("y", pgm.Gaussian(0.0, sd=1e6))
    net.add("s", pgm.LinearGaussian({"x": 1.0, "y": 1.0}, sd=1e-9))
    net.add("d", pgm.LinearGaussian({"x": 1.0, "y": 1.0 + 1e-5}, sd=1e-9))
    p = net.query("y", {"s": 3.0, "d": 3.0 + 2e-5})
    # exact, in fractions: y = (d - s) / 1e-5 but for the priors, whose pull is of the order 1e-16
    assert p.mean == pytest.approx(2.0, abs=1e-8)
    assert p.std == pytest.approx(math.sqrt(2) * 1e-4, rel=1e-4)


def test_gaussian_trees_of_ten_thousand_take_no_python_loop() -> None:
    """A chain: the stationary process has closed form correlations a**k."""
    net = pgm.BayesianNetwork()
    a, n = 0.9, 10_000
    net.add("x0", pgm.Gaussian(0.0, sd=1.0))
    for i in range(1, n):
        net.add(f"x{i}", pgm.LinearGaussian({f"x{i - 1}": a}, sd=math.sqrt(1 - a * a)))
    found = net.marginals({"x5000": 2.0})
    for k in (1, 7, 30):
        for name in (f"x{5000 - k}", f"x{5000 + k}"):
            assert found[name].mean == near(2.0 * a**k)
            assert found[name].variance == near(1 - a ** (2 * k))
    assert net.log_probability({"x0": 1.0, "x9999": 1.0}) == near(-1.0 - math.log(2 * math.pi))


def test_ten_thousand_in_a_band_against_a_sparse_solver() -> None:
    """Each depends on the three before it: the posterior by scipy from the precision matrix."""
    rng, n, sd = np.random.default_rng(0), 10_000, 0.5
    net = pgm.BayesianNetwork()
    links, bias = sparse.lil_matrix((n, n)), rng.normal(size=n)
    for i in range(n):
        weights = {j: float(rng.normal() * 0.3) for j in range(max(0, i - 3), i)}
        for j, w in weights.items():
            links[i, j] = w
        net.add(f"x{i}", pgm.LinearGaussian({f"x{j}": w for j, w in weights.items()}, bias=bias[i], sd=sd))
    seen = np.arange(0, n, 50)
    free, values = np.setdiff1d(np.arange(n), seen), rng.normal(size=seen.size)
    noise = sparse.eye(n, format="csr") - links.tocsr()
    precision = (noise.T @ noise / sd**2).tocsc()
    prior = linalg.spsolve(noise.tocsc(), bias)
    solver = linalg.splu(precision[free][:, free].tocsc())
    mean = prior[free] + solver.solve(-(precision[free][:, seen] @ (values - prior[seen])))
    known = dict(zip([f"x{i}" for i in seen], values.tolist(), strict=True))
    found, best = net.marginals(known), net.map(known)
    assert [found[f"x{i}"].mean for i in free] == near(mean)
    assert [best[f"x{i}"] for i in free] == near(mean)
    pair = np.searchsorted(free, [5_007, 5_009])
    columns = np.zeros((free.size, 2))
    columns[pair, [0, 1]] = 1.0
    covariance = solver.solve(columns)[pair]
    joint = net.query(["x5007", "x5009"], known)
    assert joint.covariance == near(covariance)
    assert found["x5007"].variance == near(covariance[0, 0])


def sensors(n: int) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    for i in range(n):
        net.add(f"broken{i}", 0.1)
        rows = {True: pgm.Gaussian(0.0, sd=10.0), False: pgm.LinearGaussian({"x": 1.0}, sd=0.5)}
        net.add(f"shown{i}", rows, parents=[f"broken{i}"])
    return net


def test_what_was_not_seen_makes_no_mixture_too_large() -> None:
    """Sixty sensors are connected by x, but only three of them say something."""
    known = {"shown0": 1.0, "shown1": 1.2, "shown2": -7.0}
    few, many = sensors(4).marginals(known), sensors(60).marginals(known)
    assert len(many) == 118
    for name in ("x", "shown3"):
        assert (many[name].mean, many[name].variance) == near((few[name].mean, few[name].variance))
    assert many["broken2"].values == near(few["broken2"].values)
    everything = {f"shown{i}": 0.1 * i for i in range(60)}
    with pytest.raises(pgm.TooLarge, match="depend on 60 discrete ones"):
        sensors(60).query("x", everything)
    plan = sensors(60).plan("x", everything)
    assert not plan.fits
    assert "Gaussians for the states of" in repr(plan)
    assert sensors(60).plan("x", known).fits


@settings(max_examples=80)
@given(plains(most_discrete=0, most_continuous=6), st.data())
def test_equations_without_noise_may_repeat_each_other(
    model: tuple[Plain, np.random.Generator], data: st.DataObject
) -> None:
    """Evidence that follows from other evidence changes nothing; pseudo-inverses say the same."""
    plain, rng = model
    known = some_evidence(data, plain, rng)
    names = plain.continuous
    seen = [i for i, name in enumerate(names) if name in known]
    free = [i for i, name in enumerate(names) if name not in known]
    assume(seen and free)
    mean, cov = plain.gaussian({})
    inner = cov[np.ix_(seen, seen)]
    values = np.linalg.eigvalsh(inner)
    assume(values.max() > 1e-6)  # else pseudo-inverses are of rounding
    assume(not ((values > 1e-11 * values.max()) & (values < 1e-5 * values.max())).any())
    gain = cov[np.ix_(free, seen)] @ np.linalg.pinv(inner, rcond=1e-8, hermitian=True)
    off = np.array([known[names[i]] for i in seen]) - mean[seen]
    net = plain.network()
    p = net.query([names[i] for i in free], known) if len(free) > 1 else net.query(names[free[0]], known)
    close = pytest.approx(mean[free] + gain @ off, rel=1e-6, abs=1e-6)
    assert np.atleast_1d(p.mean) == close
    spread = cov[np.ix_(free, free)] - gain @ cov[np.ix_(seen, free)]
    assert np.atleast_2d(p.covariance) == pytest.approx(spread, rel=1e-6, abs=1e-6)
    constant = {node.name for node in plain.nodes if not node.causes and node.sd == 0.0}
    some = [k for k, i in enumerate(seen) if names[i] not in constant]  # a constant has probability 1
    inner, off = inner[np.ix_(some, some)], off[some]
    values = np.linalg.eigvalsh(inner)
    if (values > 1e-5 * values.max(initial=0.0)).all():
        _, size = np.linalg.slogdet(2 * math.pi * inner)
        log = -0.5 * size - 0.5 * float(off @ np.linalg.solve(inner, off))
        assert net.log_probability(known) == pytest.approx(log, rel=1e-7, abs=1e-7)
    else:
        with pytest.raises(pgm.InvalidEvidence, match="no density"):
            net.log_probability(known)


def test_many_parts_with_several_discrete_variables_each() -> None:
    """Their joint tables are read in one pass; each part alone says the same."""
    net, one = pgm.BayesianNetwork(), pgm.BayesianNetwork()
    for made, parts in ((net, 5), (one, 1)):
        for i in range(parts):
            made.add(f"a{i}", 0.3)
            rows = {True: {"x": 0.2, "y": 0.5, "z": 0.3}, False: {"x": 0.6, "y": 0.1, "z": 0.3}}
            made.add(f"b{i}", rows, parents=[f"a{i}"])
            made.add(f"u{i}", {s: pgm.Gaussian(k, 1.0 + k) for k, s in enumerate("zyx")}, parents=[f"b{i}"])
            lines = {
                True: pgm.LinearGaussian({f"u{i}": 2.0}),
                False: pgm.LinearGaussian({f"u{i}": -1.0}, sd=0.5),
            }
            made.add(f"v{i}", lines, parents=[f"a{i}"])
            made.add(f"w{i}", pgm.LinearGaussian({f"v{i}": 1.0}))
    left, right = net.marginals({f"w{i}": 0.5 for i in range(5)}), one.marginals({"w0": 0.5})
    for name in ("u", "v"):
        for i in range(5):
            p, q = left[f"{name}{i}"], right[f"{name}0"]
            assert (p.mean, p.variance, p.cdf(0.3)) == near((q.mean, q.variance, q.cdf(0.3)))


@settings(max_examples=25)
@given(plains(most_discrete=2, most_continuous=4), st.data())
def test_interpreted_and_compiled_give_the_same_bits(
    model: tuple[Plain, np.random.Generator], data: st.DataObject
) -> None:
    plain, rng = model
    known = some_evidence(data, plain, rng)
    assume(plain.answer(known) is not None)

    def answers() -> list[Any]:
        net = plain.network()
        found = net.marginals(known)
        moments = [(p.mean, p.variance) for p in found.values() if isinstance(p, pgm.Density)]
        drawn = net.sample(3, given=known, seed=0)
        return [net.log_probability(known), moments, {name: drawn[name].tolist() for name in drawn}]

    with forms.interpreted():
        python = answers()
    with forms.baseline():
        assert answers() == python
    assert answers() == python


# --- rows, limits ------------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(plains(most_discrete=2, most_continuous=3, zeros=False), st.data())
def test_rows_are_questions(model: tuple[Plain, np.random.Generator], data: st.DataObject) -> None:
    """With gaps: each row's answers are those of the same question asked alone."""
    plain, rng = model
    net = plain.network()
    cases = [plain.draw(rng) for _ in range(4)]
    for case in cases:
        for name in case:
            if data.draw(st.integers(0, 2)) == 0:
                case[name] = None
    logs = net.log_likelihood(cases)
    filled = net.predict(cases)
    target = data.draw(st.sampled_from(list(cases[0])))
    chosen = net.predict(cases, target)
    for i, case in enumerate(cases):
        assert logs[i] == near(net.log_probability(case))
        found = net.marginals(case)
        for name in case:
            if case[name] is not None:
                assert filled[name][i] == case[name]
            elif isinstance(found[name], pgm.Density):
                assert filled[name][i] == near(found[name].mean)
            else:
                assert filled[name][i] == found[name].mode()
        rest = net.query(target, {name: value for name, value in case.items() if name != target})
        assert chosen[i] == (near(rest.mean) if isinstance(rest, pgm.Density) else rest.mode())
    if plain.discrete:
        shares = net.predict_proba(cases, plain.discrete[0])
        known = {name: value for name, value in cases[0].items() if name != plain.discrete[0]}
        assert shares[0] == near(net.query(plain.discrete[0], known).values)


def switching(n: int) -> tuple[pgm.BayesianNetwork, dict[str, float]]:
    net = pgm.BayesianNetwork()
    for t in range(n):
        net.add(f"s{t}", 0.5)
        before = {f"x{t - 1}": 0.9} if t else {}
        rows = {s: pgm.LinearGaussian(before, bias=float(s), sd=0.5 + s) for s in (True, False)}
        net.add(f"x{t}", rows, parents=[f"s{t}"])
        net.add(f"y{t}", pgm.LinearGaussian({f"x{t}": 1.0}))
    return net, {f"y{t}": 0.1 * t for t in range(n)}


def test_limits_hold() -> None:
    net, known = switching(22)
    with pgm.config(memory_limit="10 MB"), pytest.raises(pgm.TooLarge, match="4,194,304 combinations"):
        net.query("x3", known)
    with pgm.config(time_limit=0.05), pytest.raises(pgm.OutOfTime):
        net.query("x3", known)
    small, few = switching(6)
    assert small.query("x3", few).form == "mixture"
    with pgm.config(memory_limit="20 kB"):
        p = small.marginals({"y0": 0.0})["x5"]  # mixtures for all would not fit
    assert (p.mean, p.variance) == near((lambda q: (q.mean, q.variance))(small.query("x5", {"y0": 0.0})))


def test_seeds_and_threads() -> None:
    net, known = switching(5)
    one = net.sample(200, given=known, seed=3)
    with pgm.config(threads=2):
        assert net.sample(200, given=known, seed=3) == one
    assert net.sample(200, given=known, seed=4) != one


@given(
    st.floats(-12, 12),
    st.sampled_from([1e-14, 1e-9, 1e-4, 9e-4, 1.1e-3, 0.01, 0.3, 2.0]),
    st.sampled_from([1e-3, 1.0, 1e6]),
)
def test_an_interval_keeps_its_digits(lo: float, width: float, sd: float) -> None:
    """Against Gauss-Legendre quadrature of the density over it, forty points to a piece."""
    interval = pgm.Interval(lo * sd, (lo + width) * sd)
    x, w = np.polynomial.legendre.leggauss(40)
    h = (float(interval.hi) - float(interval.lo)) / sd
    points = float(interval.lo) / sd + 0.5 * h * (x + 1)
    top = -0.5 * points**2
    truth = top.max() + math.log((w * np.exp(top - top.max())).sum() * 0.5 * h) - 0.5 * math.log(2 * math.pi)
    found = elimination.log_inside(np.array([0.0]), np.array([sd * sd]), interval)[0]
    assert found == pytest.approx(truth, abs=1e-10)


def test_an_interval_may_have_no_end() -> None:
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, 1.0))
    assert net.probability({"x": pgm.Interval(0.0, math.inf)}) == near(0.5)
    assert net.log_probability({"x": pgm.Interval(-math.inf, -40.0)}) == near(-804.608442)
    assert net.probability({"x": pgm.Interval(-math.inf, math.inf)}) == 1.0


def test_an_interval_holds_its_lower_end_and_not_its_upper() -> None:
    net = pgm.BayesianNetwork()
    net.add("kind", {"a": 0.2, "b": 0.3, "c": 0.5})
    net.add(
        "x", {kind: pgm.Gaussian(at, 0.0) for kind, at in {"a": 0, "b": 9, "c": 18}.items()}, parents=["kind"]
    )
    assert net.probability({"x": pgm.Interval(0, 18)}) == near(0.5)
    assert net.probability({"x": pgm.Interval(0, 18, closed=True)}) == near(1.0)
    assert net.probability({"x": pgm.Interval(9, 30)}, given={"x": pgm.Interval(-5, 18)}) == near(0.6)
    closed = {"x": pgm.Interval(9, 18, closed=True)}
    assert net.probability({"x": pgm.Interval(0, 18, closed=True)}, given=closed) == near(1.0)


def test_marginals_of_states_beside_numbers_become_an_array_and_numbers_do_not() -> None:
    net = pgm.BayesianNetwork()
    for i, p in enumerate((0.25, 0.5)):
        net.add(f"a[{i}]", p)
        net.add(f"x[{i}]", pgm.Gaussian(float(i), 1.0))
    assert net.marginals().to_array("a").tolist() == [[0.75, 0.25], [0.5, 0.5]]
    with pytest.raises(pgm.InvalidArgument, match=r"'x\[\.\.\.\]' are continuous"):
        net.marginals().to_array("x")
