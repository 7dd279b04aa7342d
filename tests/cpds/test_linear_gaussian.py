"""Linear Gaussian densities: what they say, what they refuse, what they learn."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import pgm


def net() -> pgm.BayesianNetwork:
    made = pgm.BayesianNetwork("weights")
    made.add("sex", {"f": 0.5, "m": 0.5})
    made.add("height", {"f": pgm.Gaussian(1.65, 0.07), "m": pgm.Gaussian(1.78, 0.07)}, parents="sex")
    rows = {"f": pgm.LinearGaussian({"height": 60.0}, bias=-40.0, sd=8.0), ...: pgm.Gaussian(80.0, 12.0)}
    made.add("weight", rows, parents=["sex"])
    return made


def test_it_prints_as_a_table() -> None:
    assert repr(net().cpd("weight")) == (
        "p(weight | sex, height)\nsex  * height  bias  sd\nf    60        -40   8\nm    0         80    12"
    )
    assert ">60</td>" in net().cpd("weight")._repr_html_()
    assert (
        repr(pgm.LinearGaussian({"x": 2.0}, bias=1.0, sd=0.5)) == "LinearGaussian({'x': 2.0}, bias=1, sd=0.5)"
    )
    assert "continuous" in str(net())


def test_its_numbers_can_be_read() -> None:
    cpd = net().cpd("weight")
    assert isinstance(cpd, pgm.LinearGaussian)
    assert cpd.parents == ("sex", "height")
    assert cpd.weights.tolist() == [[60.0], [0.0]]
    assert (cpd.bias.tolist(), cpd.sd.tolist()) == ([-40.0, 80.0], [8.0, 12.0])
    assert cpd.to_dict()["m"] == {"weights": {"height": 0.0}, "bias": 80.0, "sd": 12.0}
    assert cpd.n_parameters == 6


def test_networks_with_it_are_values() -> None:
    made = net()
    assert pickle.loads(pickle.dumps(made)) == made
    assert made.copy() == made
    other = made.rename({"height": "h"})
    assert other.cpd("weight").parents == ("sex", "h")
    assert other.query("weight", {"h": 1.7}).mean == made.query("weight", {"height": 1.7}).mean
    other.set(
        "weight",
        pgm.LinearGaussian.select(
            "weight", {"f": pgm.Gaussian(1, 1), "m": pgm.LinearGaussian({"h": 2.0})}, ["sex"]
        ),
    )
    assert other.query("weight", {"sex": "m", "h": 3.0}).mean == 6.0
    assert other != made
    done = made.do({"height": 1.7})
    assert done.parents("height") == ()
    assert done.query("sex", {"weight": 70.0}) != made.query("sex", {"weight": 70.0, "height": 1.7})
    assert done.query("weight", {"sex": "f"}).mean == pytest.approx(62.0)


def test_tables_may_come_later_in_any_order() -> None:
    made = pgm.BayesianNetwork(edges="x -> y <- d")
    made.set("y", {True: pgm.LinearGaussian({"x": 1.0}), False: pgm.LinearGaussian({"x": -1.0})})
    made.set("x", pgm.Gaussian(2.0, 1.0))
    with pytest.raises(pgm.IncompleteModel, match="'d'"):
        made.query("x")
    made.set("d", 0.5)
    assert made.query("y").mean == 0.0
    made.set("x", pgm.Gaussian(3.0, 1.0))
    assert made.query("y", {"d": True}).mean == 3.0


def test_several_discrete_parents_select() -> None:
    made = pgm.BayesianNetwork()
    made.add("a", 0.5)
    made.add("b", {"x": 0.2, "y": 0.8})
    made.add("z", {(True, "x"): pgm.Gaussian(5.0, 1.0), ...: pgm.LinearGaussian(sd=2.0)}, parents=["a", "b"])
    assert made.query("z", {"a": True, "b": "x"}).mean == 5.0
    assert made.query("z").mean == pytest.approx(0.5)
    assert made.cpd("z").bias.tolist() == [[0.0, 0.0], [5.0, 0.0]]


def test_it_is_fitted_by_linear_regression() -> None:
    rng = np.random.default_rng(0)
    made = net()
    n = 200
    frame = {
        "sex": rng.choice(["f", "m"], n),
        "height": rng.normal(1.7, 0.1, n),
        "weight": rng.normal(70.0, 10.0, n),
    }
    w = rng.random(n)
    found = made.cpd("weight").fit(frame, w)
    for code, sex in enumerate("fm"):
        mine = frame["sex"] == sex
        design = np.column_stack([frame["height"][mine], np.ones(mine.sum())])
        root = np.sqrt(w[mine])
        beta, rss, *_ = np.linalg.lstsq(design * root[:, None], frame["weight"][mine] * root)
        assert found.weights[code, 0] == pytest.approx(beta[0], rel=1e-9)
        assert found.bias[code] == pytest.approx(beta[1], rel=1e-9)
        assert found.sd[code] == pytest.approx(np.sqrt(rss[0] / w[mine].sum()), rel=1e-9)
    made.set("weight", found)  # it fits where it came from
    shares = (np.array(["f", "m"]) == frame["sex"][:, None]) * w[:, None]
    again = made.cpd("weight").fit({k: v for k, v in frame.items() if k != "sex"}, shares)
    assert again.weights == pytest.approx(found.weights)


def test_gaussian_roots_are_fitted_by_mean_and_deviation() -> None:
    rng = np.random.default_rng(1)
    made = net()
    made.add("age", pgm.Gaussian(40.0, 10.0))
    n = 100
    frame = {
        "sex": rng.choice(["f", "m"], n),
        "height": rng.normal(1.7, 0.1, n),
        "age": rng.normal(30.0, 5.0, n),
    }
    w = rng.random(n)
    age = made.cpd("age").fit(frame, w)
    mean = np.average(frame["age"], weights=w)
    assert age.bias == pytest.approx(mean, rel=1e-12)
    assert age.sd == pytest.approx(np.sqrt(np.average((frame["age"] - mean) ** 2, weights=w)), rel=1e-12)
    assert made.cpd("age").fit(frame).sd == pytest.approx(np.std(frame["age"]), rel=1e-12)
    height = made.cpd("height").fit(frame)
    for code, sex in enumerate("fm"):
        mine = frame["height"][frame["sex"] == sex]
        assert height.bias[code] == pytest.approx(mine.mean(), rel=1e-12)
        assert height.sd[code] == pytest.approx(mine.std(), rel=1e-12)
    made.set("age", age)
    made.set("height", height)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda n: pgm.LinearGaussian(sd=-0.1), "0 or more, not -0.1"),
        (lambda n: pgm.LinearGaussian(sd=float("nan")), "sd of a linear Gaussian"),
        (lambda n: pgm.LinearGaussian(sd=1e-200), "at least 1e-100"),
        (lambda n: pgm.LinearGaussian({"x": "2"}), "weight of 'x'"),
        (lambda n: pgm.LinearGaussian(["x"]), "as a dict"),
        (lambda n: n.add("z", pgm.LinearGaussian({"sex": 2.0})), "'sex' has states, 'f', 'm'"),
        (lambda n: n.add("z", {1.5: pgm.Gaussian(0, 1)}, parents=["height"]), "continuous and has no states"),
        (lambda n: n.add("z", {"f": pgm.Gaussian(0, 1)}, parents=["sex"]), "no row for sex='m'"),
        (lambda n: n.add("z", {"f": pgm.Gaussian(0, 1), "m": 0.5}, parents=["sex"]), "row 'm'"),
        (
            lambda n: n.add("z", {"f": pgm.Gaussian(0, 1), "w": pgm.Gaussian(0, 1)}, parents=["sex"]),
            "no state 'w'",
        ),
        (lambda n: n.add("z", {"f": pgm.Gaussian(0, 1)}), "needs parents="),
        (
            lambda n: n.add("z", pgm.Gaussian([0, 1], covariance=np.eye(2))),
            "A node is one continuous variable",
        ),
        (lambda n: n.add("z", pgm.LinearGaussian(), states=["a", "b"]), "leave out states="),
        (
            lambda n: n.add("z", {True: 0.5, False: 0.1}, parents=["height"]),
            "cannot have the continuous parent",
        ),
        (lambda n: n.add("z", pgm.NoisyOr({"height": 0.5})), "cannot have the continuous parent"),
        (lambda n: n.add("z", pgm.Deterministic(lambda height: height > 1)), "continuous parent"),
        (lambda n: n.set("height", {...: [0.5, 0.5]}, states=["a", "b"]), "has children"),
        (lambda n: n.cpd("weight").table(), "not a table"),
        (lambda n: n.cpd("weight").fit({"sex": ["f"], "height": [1.0], "weight": [None]}), "without gaps"),
        (lambda n: n.cpd("weight").fit({"sex": ["f"], "height": [1.0], "weight": [2.0]}), "sex='m'"),
        (lambda n: n.query("weight", {"height": "tall"}), "takes a finite number, not 'tall'"),
        (lambda n: n.query("weight", {"height": True}), "takes a finite number, not True"),
        (lambda n: n.query("sex", {"height": pgm.OneOf(1, 2)}), "no states for OneOf"),
        (lambda n: n.query("sex", {"height": pgm.Likelihood({1: 0.5})}), "no states for Likelihood"),
        (lambda n: n.map(engine="cuts"), 'engine="cuts" is for discrete variables'),
        (
            lambda n: n.map({"height": 1.7, "weight": 60}, targets="sex", engine="cuts"),
            'engine="cuts" is for',
        ),
        (
            lambda n: n.map({"height": 1.7, "weight": 60}, targets="sex", engine="expansion"),
            "is for discrete variables",
        ),
        (lambda n: n.query(["sex", "height"]), "are of both kinds"),
        (lambda n: n.query("height", {"weight": pgm.Interval(60, 70)}), "no longer normally distributed"),
        (lambda n: n.predict_proba({"sex": ["f"]}, "height"), "has no states"),
        (lambda n: n.predict({"height": ["tall"]}, "sex"), "Row 0"),
        (lambda n: n.to_markov_network(), "Markov network has discrete variables only"),
        (lambda n: pgm.write(n, "n.bif"), "these are continuous: 'height', 'weight'"),
        (lambda n: n.k_best(k=2), "a continuous variable has no second best"),
    ],
)
def test_mistakes_are_named(make: Any, what: str) -> None:
    with pytest.raises(pgm.PGMError, match=what):
        make(net())


def test_the_density_of_one_row() -> None:
    cpd = net().cpd("weight")
    for sex, height, weight in [("f", 1.7, 60.0), ("m", 1.8, 95.0)]:
        mean, sd = (60 * height - 40, 8.0) if sex == "f" else (80.0, 12.0)
        expected = math.exp(-0.5 * ((weight - mean) / sd) ** 2) / (sd * math.sqrt(2 * math.pi))
        found = cpd.probability({"sex": sex, "height": height, "weight": weight})
        assert found == pytest.approx(expected, rel=1e-13)


def test_draws_follow_the_parents() -> None:
    cpd = net().cpd("weight")
    one = cpd.sample({"sex": "f", "height": 1.7}, n=40_000, seed=1)
    assert one.shape == (40_000,)
    assert abs(one.mean() - 62.0) < 5 * 8 / 200  # five standard errors: one time in a million
    assert abs(one.std() - 8.0) < 5 * 8 / (200 * math.sqrt(2))
    rows = {"sex": ["f", "m"] * 5_000, "height": [1.6, 1.8] * 5_000}
    each = cpd.sample(rows, seed=2)
    assert abs(each[::2].mean() - 56.0) < 5 * 8 / math.sqrt(5_000)
    assert abs(each[1::2].mean() - 80.0) < 5 * 12 / math.sqrt(5_000)
    assert (cpd.sample(rows, seed=2) == each).all()


@pytest.mark.parametrize(
    ("row", "error", "words"),
    [
        ({"sex": "f", "height": 1.7}, pgm.InvalidEvidence, "'weight'"),
        ({"sex": "f", "weight": 60.0}, pgm.PGMError, "'height'"),
        ({"sex": "x", "height": 1.7, "weight": 60.0}, pgm.UnknownState, "'x'"),
        ({"sex": "f", "height": "tall", "weight": 60.0}, pgm.UnknownState, "tall"),
        ({"sex": "f", "height": 1.7, "weight": "much"}, pgm.UnknownState, "much"),
        ({"sex": "f", "height": 1.7, "age": 3, "weight": 60.0}, pgm.UnknownVariable, "'age'"),
    ],
)
def test_rows_that_say_nothing(row: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        net().cpd("weight").probability(row)


def test_what_follows_from_its_parents_has_no_density() -> None:
    made = pgm.BayesianNetwork()
    made.add("x", pgm.Gaussian(0.0, 1.0))
    made.add("y", pgm.LinearGaussian({"x": 2.0}, sd=0.0))
    with pytest.raises(pgm.InvalidArgument, match="'y' follows from its parents"):
        made.cpd("y").probability({"x": 1.0, "y": 2.0})
    assert made.cpd("y").sample({"x": [1.0, 2.0]}, seed=0).tolist() == [2.0, 4.0]


def test_marginals_of_some_targets() -> None:
    found = net().marginals({"height": 1.7}, targets=["weight", "sex"])
    assert list(found) == ["weight", "sex"]
    assert found["weight"].mean == pytest.approx(net().query("weight", {"height": 1.7}).mean)
