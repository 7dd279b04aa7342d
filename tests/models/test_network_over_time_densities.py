"""Densities and regressors in networks over time: beside their unrolled networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KernelDensity

import pgm

RNG = np.random.default_rng(0)
ROWS = np.column_stack([RNG.normal(size=200), RNG.random(200) < 0.5])
LINE = LinearRegression().fit(ROWS, 0.5 * ROWS[:, 0] + ROWS[:, 1])


def state() -> pgm.DynamicBayesianNetwork:
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("c", {True: 0.7, False: 0.2}, parents=["c[-1]"], initial=0.4)
    return dbn


def same(dbn: pgm.DynamicBayesianNetwork, seen: dict[str, list[Any]], steps: int) -> None:
    net = dbn.unroll(steps)
    known = {f"{n}[{t}]": x for n, column in seen.items() for t, x in enumerate(column) if x is not None}
    right = [net.query(f"c[{t}]", known)[True] for t in range(steps)]
    np.testing.assert_allclose(dbn.smooth(seen).marginal("c").values[:, 1], right, rtol=1e-12)
    assert dbn.score(seen) == pytest.approx(net.log_probability(known), rel=1e-12)


def test_densities_and_regressors_of_a_step() -> None:
    dbn = state()
    dbn.add("x", pgm.DensityCPD({True: stats.norm(), False: stats.gamma(2.0)}), parents=["c"])
    dbn.add("y", pgm.EstimatorCPD(LINE, parents=["x", "c"], sd=1.0))
    same(dbn, {"x": [0.5, 1.0, None, 2.0], "y": [0.2, None, None, 1.5]}, 4)
    drawn = dbn.sample(2000, seed=0)
    np.testing.assert_allclose(
        [drawn["x"][drawn["c"] == state].mean() for state in (True, False)], [0.0, 2.0], atol=0.2
    )
    seen = {"x": [0.5, 1.0, None, 2.0], "y": [0.2, None, 0.7, 1.5]}
    right = dbn.unroll(4).query(
        "c[3]", {"x[0]": 0.5, "x[1]": 1.0, "x[3]": 2.0, "y[0]": 0.2, "y[2]": 0.7, "y[3]": 1.5},
        engine=pgm.engines.Importance(samples=20_000),
    )  # fmt: skip
    found = dbn.filter(seen, engine="particles")
    assert found.marginal("c").values[3, 1] == pytest.approx(right[True], abs=0.06)
    with pytest.raises(pgm.InvalidArgument, match=r"'y' depends on .*'x', which was not observed"):
        dbn.filter({"y": [0.0, 1.0]})


def test_a_regressor_of_the_step_before() -> None:
    dbn = state()
    dbn.add("x", pgm.LinearGaussian({"x[-1]": 0.5}, sd=1.0), initial=pgm.LinearGaussian(sd=1.0))
    first = pgm.DensityCPD({True: stats.norm(1.0), False: stats.norm()})
    dbn.add("r", pgm.EstimatorCPD(LINE, parents=["x[-1]", "c"], sd=1.0), initial=first.selected_by(["c"]))
    same(dbn, {"x": [0.5, 1.0, 0.3], "r": [0.2, 1.4, -0.3]}, 3)


def test_they_learn() -> None:
    codes = RNG.random(60) < 0.5
    x = RNG.normal(2.0 * codes, 1.0)
    dbn = state()
    both = {s: KernelDensity(bandwidth=0.5).fit(x[:, None]) for s in (True, False)}
    dbn.add("x", pgm.DensityCPD(both), parents=["c"])
    dbn.fit({"c": codes, "x": x})
    right = KernelDensity(bandwidth=0.5).fit(x[codes][:, None])
    assert np.log(dbn.cpd("x").probability({"c": True, "x": 1.0})) == pytest.approx(
        right.score_samples([[1.0]])[0]
    )
    fixed = state()
    fixed.add("x", pgm.DensityCPD({True: stats.norm(2.0), False: stats.norm()}), parents=["c"])
    with pytest.raises(pgm.InvalidArgument, match="no `fit`"):
        fixed.copy().fit({"c": codes, "x": x})
    gaps = [bool(code) if i % 2 else None for i, code in enumerate(codes)]
    other = state()
    rows = {True: pgm.LinearGaussian(bias=2.0), False: pgm.LinearGaussian()}
    other.add("x", rows, parents=["c"])
    one, two = (n.fit({"c": gaps, "x": x}, fixed=["x"], max_iter=20) for n in (fixed, other))
    np.testing.assert_allclose(one.cpd("c").values, two.cpd("c").values, rtol=1e-9)
