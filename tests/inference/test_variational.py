"""Lower bounds for states that follow numbers: against integrals of scipy's, quadrature, and each other."""

from __future__ import annotations

import itertools
import math
import pickle
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from scipy.special import expit, log_expit

import pgm
from tests import strategies  # noqa: F401  (the profile of hypothesis)

V, Q = "variational", "quadrature"


def one(sd: float = 1.5, weight: float = 2.0, bias: float = -0.5) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.4, sd))
    net.add("d", pgm.Logistic({"x": weight}, bias=bias))
    return net


@pytest.mark.parametrize("d", [True, False])
@pytest.mark.parametrize(("sd", "weight", "bias"), [(1.5, 2.0, -0.5), (0.3, 1.0, 0.0), (4.0, 3.0, 2.0)])
def test_one_state_against_the_best_tangent(sd: float, weight: float, bias: float, d: bool) -> None:
    """The bound is the largest integral, over x, of the normal under the tangent at x: both by scipy."""
    sign = 1.0 if d else -1.0

    def log_integral(x: float, f: Any = None) -> float:
        h = math.tanh(x / 2) / (4 * x)

        def tangent(number: float) -> float:
            z = sign * (weight * number + bias)
            return math.exp(log_expit(x) + (z - x) / 2 - h * (z * z - x * x)) * stats.norm.pdf(
                number, 0.4, sd
            )

        lo, hi = 0.4 - 12 * sd, 0.4 + 12 * sd
        return math.log(integrate.quad(tangent, lo, hi, epsrel=1e-12, limit=200)[0])

    best = optimize.minimize_scalar(
        lambda x: -log_integral(x), bounds=(1e-3, 60), method="bounded", options={"xatol": 1e-9}
    )
    truth = integrate.quad(
        lambda x: expit(sign * (weight * x + bias)) * stats.norm.pdf(x, 0.4, sd), 0.4 - 12 * sd, 0.4 + 12 * sd
    )[0]
    p = one(sd, weight, bias).probability({"d": d}, engine=V)
    assert p.log == pytest.approx(-best.fun, abs=1e-9)
    low, high = p.report.log_bounds
    assert low <= p.log <= math.log(truth)
    assert high == math.inf
    assert not p.exact
    assert p.report.converged


@st.composite
def networks(draw: st.DrawFn) -> tuple[pgm.BayesianNetwork, dict[str, Any]]:
    """A chain or two of numbers, a state that selects, logistic children of two or three states."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    net = pgm.BayesianNetwork()
    net.add("s", float(rng.uniform(0.1, 0.9)))
    length = draw(st.integers(1, 2))
    for i in range(length):
        rows = {
            state: pgm.LinearGaussian(
                {f"x{i - 1}": float(rng.normal())} if i else {},
                bias=float(rng.normal()),
                sd=float(rng.uniform(0.2, 2.0)),
            )
            for state in (True, False)
        }
        if draw(st.booleans()):
            net.add(f"x{i}", rows, parents=["s"])
        else:
            net.add(f"x{i}", rows[True])
    known: dict[str, Any] = {}
    for j in range(draw(st.integers(1, 3))):
        x = f"x{draw(st.integers(0, length - 1))}"
        if draw(st.booleans()):
            card = 3
            net.add(
                f"d{j}",
                pgm.Logistic({x: (2 * rng.normal(size=card)).tolist()}, bias=rng.normal(size=card).tolist()),
                states=list(range(card)),
            )
            known[f"d{j}"] = int(rng.integers(card))
        else:
            net.add(f"d{j}", pgm.Logistic({x: float(2 * rng.normal()), "s": 1.0}, bias=float(rng.normal())))
            known[f"d{j}"] = bool(rng.integers(2))
    net.add("e", {True: 0.9, False: 0.3}, parents=["s"])
    if draw(st.booleans()):
        net.add("y", pgm.LinearGaussian({"x0": 1.0}, sd=0.5))
        known["y"] = float(rng.normal())
    last = max(name for name in known if name[0] == "d")
    how = draw(st.integers(0, 2))
    if how == 1:
        del known[last]
    elif how == 2:
        known[last] = pgm.Not(known[last])
    return net, known


@settings(max_examples=40)
@given(networks())
def test_the_bound_holds_and_every_iteration_raises_it(case: tuple[pgm.BayesianNetwork, Any]) -> None:
    net, known = case
    if not any(name[0] == "d" for name in known):
        return
    truth = net.log_probability(known, engine=Q)
    found = net.log_probability(known, engine=V)
    assert found.report.log_bounds[0] <= truth + truth.report.error + 1e-11
    assert found.report.converged
    assert min(found.report.residuals) >= -1e-12 * (1.0 + abs(truth))
    few = net.log_probability(known, engine=pgm.engines.Variational(max_iter=1, tol=1e9))
    assert few <= found + 1e-9
    # Beliefs have no bound on their error, but what they are made of has.
    for state in (True, False):
        with_state = known | {"s": state}
        low = net.log_probability(with_state, engine=V).report.log_bounds[0]
        right = net.log_probability(with_state, engine=Q)
        assert low <= right + right.report.error + 1e-11
    assert net.query("s", known, engine=V).values.sum() == pytest.approx(1.0, abs=1e-12)
    x = net.query("x0", known, engine=V)
    assert x.form in ("normal", "mixture")


def test_three_states_against_a_search_over_all_tangents() -> None:
    """With two numbers to choose, their best is found by scipy's search as well."""
    w, bias = np.array([1.0, -0.5, 0.3]), np.array([0.2, 0.0, -0.4])
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.3, 1.2))
    net.add("c", pgm.Logistic({"x": w.tolist()}, bias=bias.tolist()), states=["a", "b", "c"])
    g = np.linspace(-14, 14, 4001)
    prior = stats.norm.pdf(g, 0.3, 1.2) * (g[1] - g[0])
    for k, state in enumerate("abc"):
        others = [j for j in range(3) if j != k]

        def log_bound(x: np.ndarray, k: int = k, others: list[int] = others) -> float:
            log = 0.0
            for j, t in zip(others, x, strict=True):
                z = (w[k] - w[j]) * g + bias[k] - bias[j]
                log = (
                    log + log_expit(t) + (z - t) / 2 - math.tanh(t / 2) / (4 * t) * (z * z - t * t)
                )  # as printed
            return float(np.log((prior * np.exp(log)).sum()))

        best = optimize.minimize(
            lambda x: -log_bound(np.exp(x)),
            np.zeros(2),
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-13},
        )
        p = net.probability({"c": state}, engine=V)
        assert p.log == pytest.approx(-best.fun, abs=1e-9)
        assert p < net.probability({"c": state}, engine=Q)


def chain(steps: int, seed: int = 0) -> tuple[pgm.BayesianNetwork, dict[str, bool], np.ndarray]:
    """A number that wanders, and a coin at each step that leans with it."""
    rng = np.random.default_rng(seed)
    net, known, x = pgm.BayesianNetwork(), {}, np.zeros(steps)
    for t in range(steps):
        if t:
            net.add(f"x{t}", pgm.LinearGaussian({f"x{t - 1}": 0.95}, sd=0.3))
        else:
            net.add("x0", pgm.Gaussian(0.0, 1.0))
        x[t] = (0.95 * x[t - 1] + 0.3 * rng.normal()) if t else rng.normal()
        net.add(f"d{t}", pgm.Logistic({f"x{t}": 2.0}))
        known[f"d{t}"] = bool(rng.random() < expit(2.0 * x[t]))
    return net, known, x


def test_a_long_chain_against_one_matrix() -> None:
    """A thousand steps: the same fixed point, found here from both ends, and that of one dense matrix."""
    net, known, x = chain(1000)
    begin = time.process_time()
    found = net.marginals(known, engine=V)
    assert time.process_time() - begin < 30.0
    n = len(x)
    precision = np.zeros((n, n))
    precision[0, 0] = 1.0
    for t in range(1, n):
        precision[t - 1 : t + 1, t - 1 : t + 1] += np.outer([-0.95, 1.0], [-0.95, 1.0]) / 0.09
    sign = np.array([1.0 if known[f"d{t}"] else -1.0 for t in range(n)])
    beside, pull = -0.95 / 0.09, sign * 0.5 * 2.0
    xi, gap = np.ones(n), 1.0
    while gap > 1e-7:
        own = np.diag(precision) + 2 * np.tanh(xi / 2) / (4 * xi) * 4.0
        ends = []
        for steps in (range(n), range(n)[::-1]):
            weight, sum_ = own.copy(), pull.copy()
            for last, t in itertools.pairwise(steps):
                weight[t] -= beside**2 / weight[last]
                sum_[t] -= beside / weight[last] * sum_[last]
            ends.append((weight, sum_))
        (left, from_left), (right, from_right) = ends
        variance = 1.0 / (left + right - own)
        new = 2.0 * np.sqrt(variance + (variance * (from_left + from_right - pull)) ** 2)
        gap, xi = float(np.abs(new - xi).max()), new
    cov = np.linalg.inv(precision + np.diag(2 * np.tanh(xi / 2) / (4 * xi) * 4.0))
    mean = cov @ pull
    assert np.abs(2.0 * np.sqrt(np.diag(cov) + mean**2) - xi).max() < 1e-7
    assert [found[f"x{t}"].mean for t in range(n)] == pytest.approx(mean.tolist(), abs=1e-5)
    assert [found[f"x{t}"].variance for t in range(n)] == pytest.approx(np.diag(cov).tolist(), abs=1e-5)
    assert np.corrcoef(mean, x)[0, 1] > 0.6
    assert found.report.log_bounds[0] < found.report.log_bounds[1] == math.inf
    with pytest.raises(pgm.TooLarge):
        net.query("x5", known, engine=Q)


def test_short_chains_near_quadrature() -> None:
    net, known, _ = chain(3)
    for name in ("x0", "x2"):
        a, b = net.query(name, known, engine=V), net.query(name, known, engine=Q)
        assert a.mean == pytest.approx(b.mean, abs=0.05)
        assert a.std == pytest.approx(b.std, abs=0.05)
    found = net.query(["x0", "x1"], known, engine=V)
    assert found.covariance == pytest.approx(net.query(["x0", "x1"], known, engine=Q).covariance, abs=0.05)


def test_states_of_which_nothing_is_known() -> None:
    """They say nothing of the numbers above them, and are asked one by one."""
    net, known, _ = chain(3)
    net.add("after", {True: 0.8, False: 0.1}, parents=["d2"])
    net.add("z", {True: pgm.Gaussian(1.0, 1.0), False: pgm.Gaussian(-1.0, 0.5)}, parents=["d2"])
    del known["d2"]
    found = net.marginals(known, engine=V)
    assert list(found) == [name for name in net.variables if name not in known]
    assert found["x2"].mean == pytest.approx(net.query("x2", known, engine=V).mean, abs=1e-12)
    for name in ("d2", "after"):
        assert found[name].values.sum() == pytest.approx(1.0)
        assert found[name][True] == net.query(name, known, engine=V)[True]
        assert found[name][True] == pytest.approx(net.query(name, known, engine=Q)[True], abs=0.05)
    assert found["z"].mean == pytest.approx(net.query("z", known, engine=Q).mean, abs=0.1)
    assert pickle.loads(pickle.dumps(found)) == found
    few = net.marginals(known, targets=["x0", "d2"], engine=V)
    assert list(few) == ["x0", "d2"]
    nothing = net.query("x2", engine=V)
    assert nothing.exact
    assert nothing.variance == pytest.approx(net.query("x2").variance, abs=1e-12)


def test_evidence_of_every_kind_is_taken_or_refused_by_name() -> None:
    net = one()
    net.add("e", {True: 0.9, False: 0.2}, parents=["d"])
    net.add("y", pgm.LinearGaussian({"x": 1.0}, sd=0.7))
    for known in (
        {"d": pgm.OneOf(True, False), "e": True},
        {"d": pgm.Not(False)},
        {"e": pgm.Likelihood({True: 0.8, False: 0.1})},
        {"d": pgm.Likelihood({True: 3.0, False: 20.0}), "y": 0.3},
    ):
        low, high = net.log_probability(known, engine=V).report.log_bounds
        assert low <= net.log_probability(known, engine=Q) + 1e-11 < high
    soft = net.query("d", {"d": pgm.Soft({True: 0.3, False: 0.7})}, engine=V)
    assert soft[True] == pytest.approx(0.3, abs=1e-9)
    assert soft.report.log_bounds is None
    with pytest.raises(pgm.InvalidArgument, match=r'"variational" takes no pgm\.Interval, given here for'):
        net.query("d", {"y": pgm.Interval(0, 1)}, engine=V)
    with pytest.raises(pgm.InvalidArgument, match="does not answer `map`"):
        net.map(engine=V)
    for options, said in (({"max_iter": 0}, "max_iter"), ({"tol": -1.0}, "tol")):
        with pytest.raises(pgm.InvalidArgument, match=said):
            pgm.engines.Variational(**options)


def test_what_is_said() -> None:
    net = one()
    p = net.query("x", {"d": True}, engine=V)
    assert (p.engine, p.form, p.exact) == ("variational", "normal", False)
    assert "log P(given) at least" in repr(p)
    assert "normal densities stand for the states" in " ".join(repr(p).split())
    assert p.pdf(1.0) > 0.0
    assert net.query("d", {"x": 0.3}, engine=V).exact
    plan = net.plan("x", {"d": True}, engine=V)
    assert (plan.engine, plan.exact) == ("variational", False)
    with pytest.warns(pgm.ConvergenceWarning, match="still move after 1 iterations") as caught:
        few = net.query("x", {"d": True}, engine=pgm.engines.Variational(max_iter=1))
    assert [w.filename for w in caught] == [__file__]
    assert not few.report.converged
    ratio = net.probability({"d": True}, given={"x": 0.5}, engine=V)
    assert ratio.exact
    assert net.query("x", {"d": True}, engine=V) == p


def test_each_state_that_a_score_depends_on_has_its_own_tangent() -> None:
    """Eight configurations, two of them told apart by the score: the two best tangents by scipy."""
    net = pgm.BayesianNetwork()
    for i in range(3):
        net.add(f"s{i}", 0.2 + 0.2 * i)
    each = list(itertools.product((False, True), repeat=3))
    net.add("x", {key: pgm.Gaussian(float(sum(key)), 0.8) for key in each}, parents=["s0", "s1", "s2"])
    net.add("d", pgm.Logistic({"x": 1.5, "s0": 0.7}, bias=-1.0))
    total = 0.0
    for first in (False, True):
        keys = [key for key in each if key[0] == first]
        share = [
            math.prod(0.2 + 0.2 * i if on else 0.8 - 0.2 * i for i, on in enumerate(key)) for key in keys
        ]
        mean, var = np.array([1.5 * sum(key) + 0.7 * first - 1.0 for key in keys]), (1.5 * 0.8) ** 2

        def below(x: float, mean: np.ndarray = mean, var: float = var, share: list[float] = share) -> float:
            h = math.tanh(x / 2) / (4 * x)
            log = (mean / 2 - h * mean**2 + var / 8) / (1 + 2 * h * var) - x / 2 + h * x * x
            return -float(share @ np.exp(log)) * expit(x) / math.sqrt(1 + 2 * h * var)

        best = optimize.minimize_scalar(below, bounds=(1e-3, 30), method="bounded", options={"xatol": 1e-9})
        total -= best.fun
    assert net.probability({"d": True}, engine=V) == pytest.approx(total, abs=1e-10)
