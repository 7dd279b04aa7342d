"""Any density given states: against linear Gaussians with the same densities, sums by hand, and scipy."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity

import pgm
from pgm.errors import InvalidArgument, InvalidEvidence, InvalidStructure, InvalidTable

POINTS = np.array([[0.0, 1.0], [1.0, 5.0], [2.0, 1.0]])


def wear() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("fault", 0.1)
    net.add("wear", pgm.DensityCPD({True: stats.gamma(5.0), False: stats.gamma(2.0)}), parents=["fault"])
    return net


def test_bayes_rule_by_hand() -> None:
    a, b = 0.1 * stats.gamma(5.0).pdf(6.5), 0.9 * stats.gamma(2.0).pdf(6.5)
    p = wear().query("fault", {"wear": 6.5})
    assert p[True] == pytest.approx(a / (a + b), rel=1e-12)
    assert p.exact
    assert wear().probability({"wear": 6.5}) == pytest.approx(a + b, rel=1e-12)
    assert wear().probability({"wear": 6.5}, given={"fault": True}) == pytest.approx(
        stats.gamma(5.0).pdf(6.5), rel=1e-12
    )
    assert wear().map({"wear": 6.5})["fault"] is True


def random_net(seed: int, own: bool) -> tuple[pgm.BayesianNetwork, np.random.Generator]:
    """States a, b -> c; numbers x | a, b and y | c with normal densities, z linear in x; linear or `own`."""
    rng = np.random.default_rng(seed)
    net = pgm.BayesianNetwork()
    net.add("a", rng.dirichlet(np.ones(3)), states=["i", "j", "k"])
    net.add("b", float(rng.random()))
    table = rng.dirichlet(np.ones(2), size=(3, 2))
    table[0, 1] = [0.0, 1.0]
    net.add("c", table, parents=["a", "b"], states=[False, True])
    for name, parents in (("x", ["b", "a"]), ("y", ["c"])):
        keys = list(itertools.product(*(net.variables[p].states for p in parents)))
        numbers = {key: (float(rng.normal()), float(rng.uniform(0.5, 2.0))) for key in keys}
        rows: dict[Any, Any] = {
            (key if len(key) > 1 else key[0]): stats.norm(m, s) if own else pgm.LinearGaussian(bias=m, sd=s)
            for key, (m, s) in numbers.items()
        }
        net.add(name, pgm.DensityCPD(rows) if own else rows, parents=parents)
    lines = {s: pgm.LinearGaussian({"x": float(rng.normal())}, bias=1.0, sd=0.7) for s in ("i", "j", "k")}
    net.add("z", lines, parents=["a"])
    return net, rng


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), hidden=st.sets(st.sampled_from("abcyz")))
def test_a_normal_density_is_a_linear_gaussian(seed: int, hidden: set[str]) -> None:
    (mine, rng), (theirs, _) = random_net(seed, True), random_net(seed, False)
    row: dict[str, Any] = {
        "a": "j",
        "b": True,
        "c": False,
        "x": rng.normal(),
        "y": rng.normal(),
        "z": rng.normal(),
    }
    known = {name: value for name, value in row.items() if name not in hidden}
    assert mine.log_probability(known) == pytest.approx(theirs.log_probability(known), rel=1e-10, abs=1e-10)
    one, other = mine.marginals(known), theirs.marginals(known)
    for name in hidden & {"a", "b", "c"}:
        np.testing.assert_allclose(one[name].values, other[name].values, atol=1e-12)
    if "z" in hidden:
        assert one["z"].mean == pytest.approx(other["z"].mean, rel=1e-10)
        assert one["z"].variance == pytest.approx(other["z"].variance, rel=1e-10)
    if hidden & {"a", "b", "c"}:
        best, again = (
            mine.map(known, targets=sorted(hidden & set("abc"))),
            theirs.map(known, targets=sorted(hidden & set("abc"))),
        )
        assert dict(best) == dict(again)
        assert best.log_joint == pytest.approx(again.log_joint, rel=1e-10, abs=1e-10)


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_frames_of_normal_densities_are_those_of_linear_gaussians(seed: int) -> None:
    (mine, rng), (theirs, _) = random_net(seed, True), random_net(seed, False)
    frame = {name: np.array(column, object) for name, column in theirs.sample(60, seed=seed).items()}
    for name in "abcy":
        frame[name][rng.random(60) < 0.3] = None
    np.testing.assert_allclose(mine.log_likelihood(frame), theirs.log_likelihood(frame), rtol=1e-9, atol=1e-9)
    for name in "abc":
        one, other = mine.predict_proba(frame, name), theirs.predict_proba(frame, name)
        np.testing.assert_allclose(one, other, atol=1e-11)
    without = {name: column for name, column in frame.items() if name != "z"}
    np.testing.assert_allclose(mine.predict(without, "z"), theirs.predict(without, "z"), rtol=1e-9)
    ours, others = mine.expected_counts(frame), theirs.expected_counts(frame)
    assert set(others) - set(ours) == {"x", "y"}
    for name in "abc":
        np.testing.assert_allclose(ours[name], others[name], atol=1e-9)
    np.testing.assert_allclose(ours["z"].mean, others["z"].mean, atol=1e-9)


def test_a_density_is_asked_once_for_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    score = KernelDensity.score_samples
    monkeypatch.setattr(KernelDensity, "score_samples", lambda d, x: calls.append(len(x)) or score(d, x))
    net = pgm.BayesianNetwork()
    net.add("c", 0.5)
    kernels = {s: KernelDensity().fit(np.array([[m]])) for s, m in ((True, 1.0), (False, -1.0))}
    net.add("x", pgm.DensityCPD(kernels), parents="c")
    calls.clear()
    found = net.predict_proba({"x": np.linspace(-3, 3, 5000)}, "c")
    assert calls == [5000, 5000]
    odds = np.exp(2.0 * np.linspace(-3, 3, 5000))
    np.testing.assert_allclose(found[:, 1], odds / (1 + odds), atol=1e-12)


@pytest.mark.parametrize(
    "densities",
    [
        {True: KernelDensity(bandwidth=0.5).fit(POINTS), False: KernelDensity().fit(POINTS + 2.0)},
        {True: GaussianMixture(1, random_state=0).fit(POINTS), ...: stats.multivariate_normal([1.0, 1.0])},
        {True: pgm.Gaussian([0.0, 1.0], covariance=np.eye(2)), False: stats.gaussian_kde(POINTS.T)},
    ],
    ids=["kernels", "mixture and normal", "ours and kde"],
)
def test_a_block_is_observed_whole_or_not_at_all(densities: dict[Any, Any]) -> None:
    net = pgm.BayesianNetwork()
    net.add("c", 0.3)
    net.add(["x", "y"], pgm.DensityCPD(densities), parents=["c"])
    point = np.array([[0.5, 1.5]])

    def log(density: Any) -> float:
        if hasattr(density, "score_samples"):
            return float(density.score_samples(point)[0])
        if isinstance(density, pgm.Gaussian):
            return float(stats.multivariate_normal([0.0, 1.0]).logpdf(point[0]))
        return float(np.ravel(density.logpdf(point[0]))[0])

    false = densities.get(False, densities.get(...))
    a, b = 0.3 * np.exp(log(densities[True])), 0.7 * np.exp(log(false))
    assert net.query("c", {"x": 0.5, "y": 1.5})[True] == pytest.approx(a / (a + b), rel=1e-10)
    assert net.query("c")[True] == pytest.approx(0.3)
    frame = {"x": [0.5, None], "y": [1.5, None]}
    np.testing.assert_allclose(net.predict_proba(frame, "c")[:, 1], [a / (a + b), 0.3])
    with pytest.raises(InvalidEvidence, match=r"'x', 'y' are a block .* without 'y'"):
        net.query("c", {"x": 0.5})
    with pytest.raises(InvalidEvidence, match=r"Row 1: .*without 'x'"):
        net.predict_proba({"x": [0.5, None], "y": [1.5, 1.0]}, "c")
    drawn = net.sample(400, seed=1)
    again = net.sample(400, seed=1)
    np.testing.assert_array_equal(drawn["x"], again["x"])
    other = net.copy()
    assert other == net
    assert pickle.loads(pickle.dumps(net)) == net
    assert net.rename({"x": "u"}).query("c", {"u": 0.5, "y": 1.5})[True] == pytest.approx(a / (a + b))
    assert net.independent("x", "y") is False


def test_samples_have_the_density() -> None:
    net = wear()
    net.add("y", pgm.LinearGaussian({"wear": 2.0}, bias=1.0, sd=0.1))
    drawn = net.sample(4000, seed=0)
    fault, values = np.asarray(drawn["fault"]), np.asarray(drawn["wear"])
    assert stats.kstest(values[fault], stats.gamma(5.0).cdf).pvalue > 1e-3
    assert stats.kstest(values[~fault], stats.gamma(2.0).cdf).pvalue > 1e-3
    assert np.abs(np.asarray(drawn["y"]) - 1.0 - 2.0 * values).max() < 0.6
    given = net.sample(4000, given={"wear": 6.0}, seed=0)
    assert np.mean(given["fault"]) == pytest.approx(0.5, abs=4 * 0.5 / 4000**0.5)


def test_samples_below_a_logistic_keep_a_block_together() -> None:
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    net.add("c", pgm.Logistic({"x": 3.0}))
    both = stats.multivariate_normal([0.0, 0.0], [[1.0, 0.99], [0.99, 1.0]])
    net.add(
        ["u", "v"], pgm.DensityCPD({True: both, False: stats.multivariate_normal([9.0, 9.0])}), parents="c"
    )
    drawn = net.sample(2000, seed=3)
    c, u, v = (np.asarray(drawn[name]) for name in "cuv")
    assert np.corrcoef(u[c], v[c])[0, 1] > 0.97
    assert u[~c].mean() == pytest.approx(9.0, abs=0.2)


def test_a_zero_of_a_density_excludes_a_state() -> None:
    net = pgm.BayesianNetwork()
    net.add("c", {"a": 0.5, "b": 0.5})
    net.add("x", pgm.DensityCPD({"a": stats.uniform(0, 1), "b": stats.uniform(0.5, 2)}), parents="c")
    assert net.query("c", {"x": 0.25})["a"] == 1.0
    assert net.query("c", {"x": 0.75})["a"] == pytest.approx(1.0 / 1.5)
    np.testing.assert_allclose(net.predict_proba({"x": [0.25, 0.75, 2.0]}, "c")[:, 0], [1.0, 1 / 1.5, 0.0])
    with pytest.raises(pgm.ImpossibleEvidence):
        net.query("c", {"x": 3.0})
    with pytest.raises(pgm.ImpossibleEvidence, match=r"[Rr]ow 1"):
        net.predict_proba({"x": [0.25, 3.0]}, "c")
    assert np.isnan(net.predict_proba({"x": [0.25, 3.0]}, "c", bad_rows="missing")[1]).all()


def test_far_out_values_do_not_underflow() -> None:
    net = pgm.BayesianNetwork()
    net.add("c", 0.5)
    net.add("x", pgm.DensityCPD({True: stats.norm(0), False: stats.norm(1)}), parents="c")
    assert net.query("c", {"x": 1e4})[True] == pytest.approx(0.0, abs=1e-300)
    assert net.log_probability({"x": 1e4}) == pytest.approx(
        stats.norm(1).logpdf(1e4) + np.log(0.5), rel=1e-12
    )


def test_counts_with_probabilities_of_whole_numbers() -> None:
    net = pgm.BayesianNetwork()
    net.add("c", 0.5)
    net.add("n", pgm.DensityCPD({True: stats.poisson(3.0), False: stats.poisson(1.0)}), parents="c")
    a, b = stats.poisson(3.0).pmf(2), stats.poisson(1.0).pmf(2)
    assert net.query("c", {"n": 2})[True] == pytest.approx(a / (a + b))
    with pytest.raises(InvalidTable, match="cannot be compared"):
        pgm.DensityCPD({True: stats.poisson(3.0), False: stats.norm()})


def test_what_depends_on_a_hidden_density_is_refused() -> None:
    net = wear()
    net.add("y", pgm.LinearGaussian({"wear": 1.0}))
    net.add("late", pgm.Logistic({"wear": 1.0}))
    for ask in (
        lambda: net.query("y"), lambda: net.query("fault", {"y": 1.0}),
        lambda: net.map(), lambda: net.query("late"), lambda: net.query("late", engine="quadrature"),
        lambda: net.query("fault", {"wear": pgm.Interval(0, 1)}),
        lambda: net.predict({"fault": [True, True]}, "wear"),
        lambda: net.query("y", engine="loopy"), lambda: net.expected_counts({"fault": [True, False]}),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match=r"'wear'.*not observed"):
            ask()
    assert set(net.marginals({"late": True, "wear": 1.0})) == {"fault", "y"}
    assert "wear" not in net.marginals(targets=["fault"])
    p = net.query("late", {"wear": 2.0})
    assert p[True] == pytest.approx(1.0 / (1.0 + np.exp(-2.0)))


def test_a_picture_has_hidden_densities_too() -> None:
    import matplotlib.pyplot as plt

    net = wear()
    net.add(["u", "v"], pgm.DensityCPD(stats.multivariate_normal([0.0, 0.0])))
    for known in ({}, {"wear": 6.0}):
        ax = net.plot(given=known)
        texts = " ".join(t.get_text() for t in ax.figure.findobj(plt.Text))
        assert ("6" in texts) == bool(known)
        assert ("2.3 ± 1.8" in texts) != bool(known)  # the mean of 0.1 · 5 + 0.9 · 2, and its deviation
        assert "0 ± 1" in texts
        plt.close(ax.figure)
    net.add("y", pgm.LinearGaussian({"u": 1.0}))  # which has no answer
    ax = net.plot(given={})
    assert "density" in " ".join(t.get_text() for t in ax.figure.findobj(plt.Text))
    plt.close(ax.figure)


def test_learning_keeps_densities_where_told() -> None:
    net = wear()
    frame = net.sample(500, seed=0)
    with pytest.raises(InvalidArgument, match=r"fixed=\['wear'\]"):
        net.copy().fit(frame)
    fitted = net.copy().fit(frame, fixed=["wear"])
    assert fitted.cpd("fault").values[1] == pytest.approx(np.mean(frame["fault"]))
    # EM with a hidden fault: the share that makes the data most likely
    hidden = net.copy().fit(
        {"wear": frame["wear"]}, latent=["fault"], fixed=["wear"], seed=0, tol=1e-9, max_iter=500
    )
    grid = np.linspace(0.001, 0.5, 4000)[:, None]
    a, b = stats.gamma(5.0).pdf(frame["wear"]), stats.gamma(2.0).pdf(frame["wear"])
    best = float(grid[np.log(grid * a + (1 - grid) * b).sum(axis=1).argmax(), 0])
    assert hidden.cpd("fault").values[1] == pytest.approx(best, abs=2e-3)


class Bad:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def score_samples(self, rows: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("density", "said"),
    [
        (0.5, "a density is expected"),
        (stats.norm, "a density is expected"),
        (KernelDensity, "the class KernelDensity: create one"),
        (GaussianNB(), "a density is expected"),
        (IsolationForest(), "no log density"),
        (pgm.Gaussian([0.0, 1.0], sd=1.0), "one for each of several states"),
        (KernelDensity().fit([[0.0, 1.0]]), "row True.*fails.*2 features"),
        (stats.multivariate_normal([0.0, 0.0]), "row True"),
        (Bad([0.0]), r"returns \(1,\) for 2 rows"),
        (Bad([np.nan, 0.0]), "log density of .* is nan"),
        (Bad([np.inf, 0.0]), "log density of .* is inf"),
        (Bad(RuntimeError("out of order")), "RuntimeError: out of order"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_densities_are_named(density: Any, said: str) -> None:
    net = pgm.BayesianNetwork()
    net.add("fault", 0.1)
    with pytest.raises(InvalidTable, match=said):
        net.add("wear", pgm.DensityCPD({True: density, False: stats.norm()}), parents=["fault"])
    assert list(net) == ["fault"]


def test_bad_rows_are_named() -> None:
    net = pgm.BayesianNetwork()
    net.add("fault", 0.1)
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    two = {True: stats.norm(), False: stats.norm(1.0)}
    for table, parents, said in (
        ({True: stats.norm()}, ["fault"], "no density for fault=False"),
        ({**two, "maybe": stats.norm()}, ["fault"], "no state 'maybe'"),
        (two, [], "needs parents="),
        (stats.norm(), ["fault"], "one density for all states of 'fault'"),
        (two, ["x"], "selected by states, and 'x' has none"),
        ({}, [], "is empty"),
    ):
        with pytest.raises(InvalidTable, match=said):
            net.add("y", pgm.DensityCPD(table), parents=parents)
    with pytest.raises(InvalidTable, match=r"have no states|has no states|leave out states"):
        net.add("y", pgm.DensityCPD(two), parents=["fault"], states=[1, 2])
    with pytest.raises(InvalidStructure, match="different names"):
        net.add(["u", "u"], pgm.DensityCPD(stats.multivariate_normal([0.0, 0.0])))
    with pytest.raises(InvalidTable, match=r"one pgm.DensityCPD"):
        net.add(["u", "v"], pgm.Gaussian(0.0, sd=1.0))
    with pytest.raises(InvalidTable):
        net.add(["u", "v"], pgm.DensityCPD(stats.multivariate_normal([0.0, 0.0, 0.0])))
    assert list(net) == ["fault", "x"]
    net.add(["u", "v"], pgm.DensityCPD(stats.multivariate_normal([0.0, 0.0])))
    net.remove("v")
    with pytest.raises(InvalidEvidence, match="last variable is not in the network"):
        net.query("fault", {"u": 0.0})


def test_it_is_a_value_and_prints() -> None:
    net = wear()
    assert str(net.cpd("wear")) == "p(wear | fault)\nfault  density\nFalse  gamma(2)\nTrue   gamma(5)"
    assert "gamma(5)" in net.cpd("wear")._repr_html_()
    assert list(net.cpd("wear").to_dict()) == [False, True]
    assert net.cpd("wear").probability({"fault": True, "wear": 2.0}) == pytest.approx(
        stats.gamma(5.0).pdf(2.0)
    )
    assert net == wear()
    other = wear()
    other.set("wear", pgm.DensityCPD({True: stats.gamma(6.0), False: stats.gamma(2.0)}))
    assert other != net
    assert other.query("fault", {"wear": 6.5})[True] != net.query("fault", {"wear": 6.5})[True]
    with pytest.raises(InvalidArgument, match="pickle"):
        pgm.write(net, "wear.json")
    with pytest.raises(InvalidArgument, match="linear Gaussians only"):
        pgm.write(net, "wear.net")
    # what the user does with a density afterwards does not reach the network
    kernel = KernelDensity().fit([[0.0]])
    lone = pgm.BayesianNetwork()
    lone.add("x", pgm.DensityCPD(kernel))
    kernel.fit([[100.0]])
    assert lone.probability({"x": 0.0}) == pytest.approx(stats.norm().pdf(0.0))
