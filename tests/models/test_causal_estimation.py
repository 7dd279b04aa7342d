"""Estimates from rows against closed forms on the same rows, and against the network that drew them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import pgm


@pytest.fixture(scope="module")
def net():
    net = pgm.BayesianNetwork()
    net.add("z", 0.4)
    net.add("x", {True: 0.8, False: 0.3}, parents="z")
    net.add("y", {(True, True): 0.9, (True, False): 0.7, (False, True): 0.5, (False, False): 0.1},
            parents=["z", "x"])  # fmt: skip
    return net


@pytest.fixture(scope="module")
def rows(net):
    return net.sample(3000, seed=1)


def stratified(rows):
    z, x, y = (np.asarray(rows[name], float) for name in "zxy")
    return sum(
        (z == k).mean() * (y[(z == k) & (x == 1)].mean() - y[(z == k) & (x == 0)].mean()) for k in (0, 1)
    )


@pytest.mark.parametrize("method", ["plug-in", "inverse-weights", "doubly-robust"])
def test_with_one_set_of_strata_all_are_the_stratified_difference(net, rows, method):
    found = net.causal_graph().estimate(rows, "x", "y", method=method, bootstrap=60, seed=0)
    assert found.value == pytest.approx(stratified(rows), abs=1e-8)
    assert found.interval[0] < net.effect("x", "y").average < found.interval[1]
    assert 0.005 < found.error < 0.05
    again = net.causal_graph().estimate(rows, "x", "y", method=method, bootstrap=60, seed=0)
    assert again.interval == found.interval
    checks = found.checks(times=5, seed=0)
    assert abs(checks["placebo"]) < 4 * found.error
    assert abs(checks["subset"] - found.value) < 4 * found.error
    if method != "plug-in":
        assert abs(checks["random common cause"] - found.value) < found.error


def test_two_stages_with_one_instrument_are_walds_ratio():
    rng = np.random.default_rng(0)
    n = 4000
    u, z = rng.normal(size=n), rng.integers(0, 2, n)
    x = 0.8 * z + u + rng.normal(size=n)
    y = 1.5 * x - 2.0 * u + rng.normal(size=n)
    graph = pgm.CausalGraph("z -> x -> y; x <-> y")
    found = graph.estimate({"z": z, "x": x, "y": y}, "x", "y", method="two-stage", bootstrap=50, seed=0)
    wald = (y[z == 1].mean() - y[z == 0].mean()) / (x[z == 1].mean() - x[z == 0].mean())
    assert found.value == pytest.approx(wald, abs=1e-9)
    assert found.adjust == ("z",)
    assert found.interval[0] < 1.5 < found.interval[1]


def test_numbers_are_adjusted_for_by_regression():
    rng = np.random.default_rng(0)
    n = 4000
    age = rng.normal(size=n)
    treated = rng.random(n) < 1 / (1 + np.exp(-age))
    y = 2.0 * treated + 3.0 * age + rng.normal(size=n)
    graph = pgm.CausalGraph("age -> treated -> y <- age")
    rows = {"age": age, "treated": treated, "y": y}
    for method in ("inverse-weights", "doubly-robust"):
        found = graph.estimate(rows, "treated", "y", method=method, bootstrap=40, seed=0)
        assert abs(found.value - 2.0) < 4 * found.error
    assert "adjusted for age" in str(found)
    assert "<table" in found._repr_html_()
    assert list(found.to_pandas()["rows"]) == [n]
    copy = pickle.loads(pickle.dumps(found))
    assert copy.to_dict() == found.to_dict()
    with pytest.raises(pgm.InvalidArgument, match="not kept in a pickle"):
        copy.checks()


def test_the_front_door_on_rows():
    whole = pgm.BayesianNetwork()
    whole.add("u", 0.5)
    whole.add("x", {True: 0.8, False: 0.2}, parents="u")
    whole.add("m", {True: 0.9, False: 0.2}, parents="x")
    whole.add("y", {(True, True): 0.9, (True, False): 0.6, (False, True): 0.4, (False, False): 0.1},
              parents=["m", "u"])  # fmt: skip
    rows = whole.sample(4000, seed=0)
    found = whole.causal_graph(hidden="u").estimate(
        {name: rows[name] for name in "xmy"}, "x", "y", bootstrap=40, seed=0
    )
    assert abs(found.value - whole.effect("x", "y").average) < 4 * found.error


MISTAKES = {
    "lies on a causal path": ("z -> x -> m -> y <- z", {"method": "inverse-weights", "adjust": ["z", "m"]}),
    "stays open": ("z -> x -> m -> y <- z", {"method": "doubly-robust", "adjust": []}),
    "no instrument": ("z -> x -> m -> y <- z", {"method": "two-stage"}),
    "adjust= has no effect": ("z -> x -> m -> y <- z", {"adjust": ["z"]}),
    "No set of variables": ("x -> y; x <-> y", {"method": "doubly-robust"}),
    "is not identifiable": ("x -> y; x <-> y", {}),
    "Did you mean 'plug-in'": ("x -> y", {"method": "plugin"}),
    "at least 2": ("x -> y", {"bootstrap": 0}),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message):
    edges, options = MISTAKES[message]
    rows = {name: [True, False, True, False] for name in "zxmy"}
    with pytest.raises(pgm.PGMError, match=message):
        pgm.CausalGraph(edges).estimate(rows, "x", "y", **options)


def test_rows_that_do_not_tell():
    rows = {"z": [0, 0, 1, 1, 1], "x": [0, 1, 1, 1, 1], "y": [0, 1, 1, 0, 1]}
    with pytest.raises(pgm.InvalidArgument, match="do not tell"):
        pgm.CausalGraph("z -> x -> y <- z").estimate(rows, "x", "y", bootstrap=10, seed=0)


@pytest.fixture(scope="module")
def by_sex():
    net = pgm.BayesianNetwork()
    net.add("sex", {"f": 0.5, "m": 0.5})
    net.add("z", {"f": 0.7, "m": 0.3}, parents="sex")
    net.add("x", {True: 0.8, False: 0.3}, parents="z")
    table = np.random.default_rng(0).dirichlet([1, 1], size=(2, 2, 2))
    net.add("y", table, parents=["sex", "z", "x"], states=[False, True])
    return net


@pytest.mark.parametrize("method", ["plug-in", "inverse-weights", "doubly-robust"])
@pytest.mark.parametrize("sex", ["f", "m"])
def test_the_effect_among_some(by_sex, method, sex):
    """With strata of their own all three are the stratified difference among these rows."""
    rows = by_sex.sample(4000, seed=1)
    graph = by_sex.causal_graph()
    found = graph.estimate(rows, "x", "y", method=method, given={"sex": sex}, bootstrap=40, seed=0)
    mine = np.asarray(rows["sex"]) == sex
    some = {name: np.asarray(rows[name])[mine] for name in "zxy"}
    assert found.value == pytest.approx(stratified(some), abs=1e-8)
    truth = by_sex.effect("x", "y", given={"sex": sex}).average
    assert abs(found.value - truth) < 4 * found.error
    assert f"| sex={sex}" in str(found)
    assert found.given == {"sex": sex}
    assert found.rows == (4000 if method == "plug-in" else mine.sum())


def test_a_set_for_all_may_be_wrong_among_some():
    """m is a child of two hidden causes: who is given m has to be adjusted for what blocks that path."""
    graph = pgm.CausalGraph("x -> y; a -> x; b -> y; a -> m <- b")
    rows = {v: np.random.default_rng(i).integers(0, 2, 500) for i, v in enumerate("xyabm")}
    found = graph.estimate(rows, "x", "y", method="doubly-robust", given={"m": 1}, bootstrap=5, seed=0)
    assert found.adjust in (("a",), ("b",))
    with pytest.raises(pgm.InvalidArgument, match=r"among rows with 'm' given.*stays open"):
        graph.estimate(rows, "x", "y", method="doubly-robust", given={"m": 1}, adjust=[], bootstrap=5)
    with pytest.raises(pgm.InvalidArgument, match="lies on a causal path"):
        pgm.CausalGraph("x -> y; y -> w").estimate(
            {v: rows[u] for u, v in (("x", "x"), ("y", "y"), ("a", "w"))},
            "x", "y", method="doubly-robust", given={"w": 1}, bootstrap=5,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "method", "message"),
    [
        ({"y": 1}, "plug-in", "'y' is the cause or the outcome"),
        (["z"], "plug-in", "given= is a dict"),
        ({"q": 1}, "plug-in", "no variable 'q'"),
        ({"z": 7}, "plug-in", "no state 7"),
        ({"z": 1}, "two-stage", "finds one effect for all"),
    ],
)
def test_mistakes_about_who_is_given(rows, net, given, method, message):
    with pytest.raises(pgm.PGMError, match=message):
        net.causal_graph().estimate(rows, "x", "y", method=method, given=given, bootstrap=5)


def test_estimates_and_ranges_draw_themselves(rows, net):
    found = net.causal_graph().estimate(rows, "x", "y", bootstrap=20, seed=0)
    ax = found.plot(checks=found.checks(times=2, seed=0))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["plug-in", "placebo", "subset"]
    assert "from False to True on y" in " ".join(ax.get_title().split())
    ax = pgm.effect_range(net.cpdag(), "x", "y", net).plot()
    assert "no parents" in [text.get_text() for text in ax.get_yticklabels()]


def test_both_models_at_once_by_scikit_learn():
    """The outcome is not a line in age, so what the lines miss has to be weighted (Robins et al. 1994)."""
    from sklearn.linear_model import LinearRegression, LogisticRegression

    rng = np.random.default_rng(2)
    age = rng.normal(size=1500)
    treated = rng.random(1500) < 1 / (1 + np.exp(-1.5 * age))
    y = 2.0 * treated + age**2 + rng.normal(size=1500)
    z = age[:, None]
    share = LogisticRegression(penalty=None, tol=1e-10).fit(z, treated).predict_proba(z)[:, 1]
    means = []
    for arm, p in ((~treated, 1 - share), (treated, share)):
        line = LinearRegression().fit(z[arm], y[arm]).predict(z)
        means.append((line + arm * (y - line) / p).mean())
    graph = pgm.CausalGraph("age -> treated -> y <- age")
    rows = {"age": age, "treated": treated, "y": y}
    found = graph.estimate(rows, "treated", "y", method="doubly-robust", bootstrap=5, seed=0)
    assert found.value == pytest.approx(means[1] - means[0], abs=1e-4)
    weighted = graph.estimate(rows, "treated", "y", method="inverse-weights", bootstrap=5, seed=0)
    ends = [(arm * y / p).sum() / (arm / p).sum() for arm, p in ((~treated, 1 - share), (treated, share))]
    assert weighted.value == pytest.approx(ends[1] - ends[0], abs=1e-4)


@pytest.mark.parametrize("method", ["inverse-weights", "doubly-robust"])
def test_strata_without_treatment_are_refused(method):
    z = np.repeat([0, 1], 200)
    x = np.where(z == 0, 0, np.tile([0, 1], 200))
    rows = {"z": z, "x": x, "y": np.tile([0, 1, 1, 0], 100)}
    with pytest.raises(pgm.InvalidArgument, match="the rows do not tell"):
        pgm.CausalGraph("z -> x -> y <- z").estimate(rows, "x", "y", method=method, bootstrap=5, seed=0)
