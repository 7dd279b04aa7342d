"""Learning, by the books: counts, EM step by step, a hidden cause, mixtures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pgm
from tests.known import book


def near(value: object, digits: float = 1e-8) -> object:
    return pytest.approx(value, rel=digits)


def test_C61_four_thousand_rows_give_the_tables_back() -> None:
    """O13: 4,000 P(figure 14.5) are whole numbers."""
    wanted = book.fig_14_5()
    joint = np.round(4000 * wanted.query(list("CSRW")).values).astype(int)
    rows = [dict(zip("CSRW", map(bool, at), strict=True)) for at in np.ndindex(joint.shape)]
    net = pgm.BayesianNetwork(edges=wanted.edges).fit(rows, weights=joint.ravel())
    for name in "CSRW":
        order = [v for v in net.parents(name)]
        table = wanted.cpd(name).values
        if list(wanted.parents(name)) != order:
            table = table.transpose([*(list(wanted.parents(name)).index(v) for v in order), len(order)])
        np.testing.assert_allclose(net.cpd(name).values, table, atol=1e-15)
    assert net.fit_report.log_likelihood == near(-7727.444108)


BABY = {"111": 5, "011": 2, "101": 1, "001": 6, "000": 5, "110": 1}  # food, diapers, milk


def baby() -> tuple[pgm.BayesianNetwork, dict[str, list[bool]], list[int]]:
    net = pgm.BayesianNetwork()
    net.add("H", 0.5)
    for name, with_baby, without in (("food", 0.8, 0.2), ("diapers", 0.8, 0.2), ("milk", 0.8, 0.4)):
        net.add(name, {True: with_baby, False: without}, parents=["H"])
    rows = {name: [key[i] == "1" for key in BABY] for i, name in enumerate(("food", "diapers", "milk"))}
    return net, rows, list(BABY.values())


def test_C20_C63_a_hidden_cause_step_by_step() -> None:
    """O17: one step of EM, and where it ends."""
    net, rows, weights = baby()
    assert float(np.array(weights) @ net.log_likelihood(rows)) == near(-36.04212906)
    one = net.copy().fit(rows, weights=weights, latent=["H"], max_iter=1)
    assert one.query("H")[True] == near(0.4229648797)
    wanted = {
        "food": (0.05569359638, 0.7515111872),
        "diapers": (0.08457687589, 0.8303199369),
        "milk": (0.5619110741, 0.8883895419),
    }
    for name, pair in wanted.items():
        assert one.cpd(name).values[:, 1] == near(pair)
    assert one.fit_report.log_likelihoods == (near(-36.04212906), near(-32.84527585))
    end = net.fit(rows, weights=weights, latent=["H"], max_iter=2000, tol=1e-13)
    assert end.fit_report.log_likelihood == near(-32.11953678, 1e-7)


def mixture(means: tuple[float, float], sd: float = 1.0) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("Z", [0.5, 0.5], states=[1, 2])
    rows = {state: pgm.Gaussian(mean, sd=sd) for state, mean in zip((1, 2), means, strict=True)}
    net.add("t", rows, parents=["Z"])
    return net


def test_F138_F139_F140_a_mixture_of_two_step_by_step() -> None:
    """O21: responsibilities, one step, and the limit."""
    rows: dict[str, Any] = {"t": [-2.0, -1.0, 1.0, 2.0]}
    net = mixture((-1.0, 1.0))
    shares = net.predict_proba(rows, "Z")[:, 0]
    assert shares == near([0.98201379, 0.88079708, 0.11920292, 0.01798621], 1e-6)
    one = net.fit(rows, latent=["Z"], max_iter=1)
    assert one.fit_report.log_likelihoods == (near(-7.1581869771), near(-6.4618563013))
    assert one.cpd("Z").values == near([0.5, 0.5])
    assert one.cpd("t").bias == near([-1.34482466, 1.34482466], 1e-7)
    assert np.square(one.cpd("t").sd) == near([0.69144664] * 2, 1e-7)
    rows = {"t": [0.0, 1.0, 4.0, 5.0]}
    two = mixture((0.0, 4.0)).fit(rows, latent=["Z"], max_iter=1)
    assert two.cpd("Z").values == near([0.49550498, 0.50449502], 1e-7)
    assert two.cpd("t").bias == near([0.49615339, 4.46813833], 1e-7)
    assert np.square(two.cpd("t").sd) == near([0.25207756, 0.35926418], 1e-7)
    end = mixture((0.0, 4.0)).fit(rows, latent=["Z"], max_iter=1000, tol=1e-14)
    assert end.fit_report.log_likelihood == near(-5.6757541327)
    assert end.cpd("t").bias == near([0.5, 4.5], 1e-5)
    assert np.square(end.cpd("t").sd) == near([0.25, 0.25], 1e-4)


def test_G27_G44_G45_G46_G47_who_buys_a_computer() -> None:
    """O1: shares of 14 rows."""
    text = """youth high no fair no/youth high no excellent no/middle high no fair yes/
    senior medium no fair yes/senior low yes fair yes/senior low yes excellent no/
    middle low yes excellent yes/youth medium no fair no/youth low yes fair yes/
    senior medium yes fair yes/youth medium yes excellent yes/middle medium no excellent yes/
    middle high yes fair yes/senior medium no excellent no"""
    names = ["age", "income", "student", "credit", "buys"]
    rows = [dict(zip(names, line.split(), strict=True)) for line in text.split("/")]
    net = pgm.BayesianNetwork(edges="; ".join(f"buys -> {name}" for name in names[:-1])).fit(rows)
    assert net.query("buys")["yes"] == near(9 / 14)
    assert net.query("age", {"buys": "yes"})["youth"] == near(2 / 9)
    assert net.query("age", {"buys": "no"})["youth"] == near(3 / 5)
    given = {"age": "youth", "income": "medium", "student": "yes", "credit": "fair"}
    yes, no = (
        (9 / 14) * (2 / 9) * (4 / 9) * (6 / 9) * (6 / 9),
        (5 / 14) * (3 / 5) * (2 / 5) * (1 / 5) * (2 / 5),
    )
    assert net.query("buys", given)["yes"] == near(yes / (yes + no))


def test_G48_G51_G52_G57_normal_numbers_and_lines() -> None:
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=50), rng.normal(size=50)
    r = 3.0 * x - 1.0 + noise
    net = pgm.BayesianNetwork(edges="x -> r").fit({"x": x, "r": r})
    assert net.cpd("x").bias == near(x.mean())
    assert net.cpd("x").sd == near(x.std())  # divided by N
    slope, bias = np.polyfit(x, r, 1)
    assert (net.cpd("r").weights[0], net.cpd("r").bias) == (near(slope), near(bias))
    joint = net.query(["x", "r"])
    assert joint.covariance == near(np.cov(x, r, bias=True))


def test_G3_G19_labels_of_some_rows_and_labels_with_noise() -> None:
    """A few labels name the classes; a label that lies in a tenth of the rows is a node of its own."""
    rng = np.random.default_rng(1)
    true = rng.integers(2, size=3000)
    frame: dict[str, Any] = {f"x{i}": rng.random(3000) < np.array([0.2, 0.8])[true] for i in range(4)}
    said = np.where(rng.random(3000) < 0.1, 1 - true, true)
    net = pgm.BayesianNetwork()
    net.add("true", [0.5, 0.5], states=[0, 1])
    for i in range(4):
        net.add(f"x{i}", {0: 0.3, 1: 0.7}, parents=["true"])
    net.add("said", {0: {0: 0.8, 1: 0.2}, 1: {0: 0.2, 1: 0.8}}, parents=["true"])
    net.fit({**frame, "said": said}, latent=["true"])
    assert net.cpd("said").values == pytest.approx(np.array([[0.9, 0.1], [0.1, 0.9]]), abs=0.03)
    some = np.where(rng.random(3000) < 0.02, true.astype(object), None)
    few = pgm.BayesianNetwork(edges="; ".join(f"true -> x{i}" for i in range(4))).fit({**frame, "true": some})
    assert few.cpd("x0").values[:, 1] == pytest.approx([0.2, 0.8], abs=0.05)


def test_G49_bias_and_variance_of_an_estimator() -> None:
    """The share of rows has no bias, the variance that is divided by N has; a prior trades one for the other.

    Over all samples of n tosses, each weighed by its probability, so that nothing is left to chance; and over
    many samples of normal numbers.
    """
    p, n = 0.3, 5

    def moments(prior: str | None) -> tuple[float, float]:
        found, weights = [], []
        for heads in range(n + 1):
            rows = {"x": [1] * heads + [0] * (n - heads)}
            net = pgm.BayesianNetwork(edges="x").fit(rows, states={"x": [0, 1]}, prior=prior)
            found.append(net.query("x")[1])
            weights.append(math.comb(n, heads) * p**heads * (1 - p) ** (n - heads))
        mean = float(np.dot(weights, found))
        return mean - p, float(np.dot(weights, np.square(np.array(found) - mean)))

    bias, variance = moments(None)
    assert bias == pytest.approx(0.0, abs=1e-15)
    assert variance == near(p * (1 - p) / n)
    bias, variance = moments("laplace")  # (heads + 1) / (n + 2)
    assert bias == near((n * p + 1) / (n + 2) - p)
    assert variance == near(n * p * (1 - p) / (n + 2) ** 2)
    rng = np.random.default_rng(0)
    x = rng.normal(10.0, 2.0, size=(400, 4))
    fits = [pgm.BayesianNetwork(edges="x").fit({"x": row}).cpd("x") for row in x]
    assert np.mean([cpd.bias for cpd in fits]) == pytest.approx(10.0, abs=0.15)
    assert np.mean([cpd.sd**2 for cpd in fits]) == pytest.approx(4.0 * (4 - 1) / 4, abs=0.3)
