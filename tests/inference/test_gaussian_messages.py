"""Belief propagation for numbers, against the closed form: the joint precision matrix, inverted."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pgm

Loopy = pgm.engines.Loopy
SCHEDULES = st.sampled_from(["sequential", "parallel"])


def random_network(rng, n, most_parents, *, tree):
    """A network of n numbers, and (I - W), biases and deviations; `tree`: no two paths between any two."""
    net = pgm.BayesianNetwork()
    weights, bias, sd = np.zeros((n, n)), rng.normal(0, 3, n), rng.uniform(0.3, 2.0, n)
    part = np.arange(n)
    for x in range(n):
        chosen = []
        for p in rng.permutation(x)[:most_parents].tolist():
            if not tree or part[p] not in {part[c] for c in [*chosen, x]}:
                chosen.append(p)
        for p in chosen:
            part[part == part[p]] = part[x]
            weights[x, p] = rng.choice([-1.5, -0.7, 0.0, 0.4, 1.2])
        named = {f"v{p}": float(weights[x, p]) for p in chosen}
        net.add(f"v{x}", pgm.LinearGaussian(named, bias=float(bias[x]), sd=float(sd[x])))
    return net, np.eye(n) - weights, bias, sd


def closed_form(rows, bias, sd, seen):
    """Means and variances of what is not seen, from the joint density."""
    precision = rows.T @ np.diag(sd**-2.0) @ rows
    linear = rows.T @ (bias / sd**2)
    free = np.array([x for x in range(len(bias)) if x not in seen], dtype=int)
    known = np.array(sorted(seen), dtype=int)
    values = np.array([seen[x] for x in known])
    cov = np.linalg.inv(precision[np.ix_(free, free)])
    mean = cov @ (linear[free] - precision[np.ix_(free, known)] @ values)
    return dict(zip(free.tolist(), zip(mean, np.diag(cov), strict=True), strict=True))


@settings(max_examples=60)
@given(
    st.integers(0, 2**32), st.integers(1, 14), st.integers(1, 4), st.sampled_from(["sequential", "parallel"])
)
def test_on_trees_means_and_variances_are_those_of_the_joint_density(seed, n, most, schedule):
    rng = np.random.default_rng(seed)
    net, rows, bias, sd = random_network(rng, n, most, tree=True)
    seen = {x: float(rng.normal(0, 3)) for x in range(n) if rng.random() < 0.3}
    p = net.marginals({f"v{x}": value for x, value in seen.items()}, engine=Loopy(schedule=schedule))
    expected = closed_form(rows, bias, sd, seen)
    assert p.exact
    assert set(p) == {f"v{x}" for x in expected}
    for x, (mean, variance) in expected.items():
        assert float(p[f"v{x}"].mean) == pytest.approx(mean, rel=1e-9, abs=1e-9)
        assert float(p[f"v{x}"].variance) == pytest.approx(variance, rel=1e-9)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(3, 9))
def test_with_loops_means_at_rest_are_right_and_it_says_that_variances_are_not(seed, n):
    rng = np.random.default_rng(seed)
    net, rows, bias, sd = random_network(rng, n, 3, tree=False)
    seen = {x: float(rng.normal(0, 3)) for x in range(n) if rng.random() < 0.4}
    names = {f"v{x}": value for x, value in seen.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pgm.ConvergenceWarning)
        p = net.marginals(names, engine=Loopy(damping=0.3, max_iter=3000, tol=1e-11))
    for x, (mean, variance) in closed_form(rows, bias, sd, seen).items():
        if p.report.converged:
            assert float(p[f"v{x}"].mean) == pytest.approx(mean, rel=1e-6, abs=1e-6)
        if p.report.converged and "variances are not" not in p.report.advice:
            assert float(p[f"v{x}"].variance) == pytest.approx(variance, rel=1e-9 if p.exact else 1e-6)


def test_a_long_chain_and_a_wide_star_are_exact():
    rng = np.random.default_rng(3)
    for parents in (lambda x: x - 1, lambda x: 0):
        net = pgm.BayesianNetwork()
        net.add("v0", pgm.Gaussian(1.0, 2.0))
        for x in range(1, 2_000):
            net.add(f"v{x}", pgm.LinearGaussian({f"v{parents(x)}": float(rng.uniform(0.5, 1.1))}, sd=0.5))
        seen = {f"v{x}": float(rng.normal()) for x in range(1, 2_000, 7)}
        p, q = net.marginals(seen, engine="loopy"), net.marginals(seen)
        assert p.exact
        assert p.report.iterations <= 3
        for name in q:
            assert float(p[name].mean) == pytest.approx(float(q[name].mean), rel=1e-9, abs=1e-9)
            assert float(p[name].std) == pytest.approx(float(q[name].std), rel=1e-9)


def test_a_very_exact_observation_cancels_nothing():
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, 1.0))
    net.add("sharp", pgm.LinearGaussian({"x": 1.0}, sd=1e-9))
    net.add("blunt", pgm.LinearGaussian({"x": 1.0}, sd=1.0))
    net.add("far", pgm.LinearGaussian({"blunt": 1.0}, sd=1.0))
    p = net.query("far", given={"sharp": 0.25}, engine="loopy")
    assert p.exact
    assert (float(p.mean), float(p.variance)) == pytest.approx((0.25, 2.0), rel=1e-12)
    back = net.query("sharp", given={"far": 1.0}, engine="loopy")
    assert (float(back.mean), float(back.variance)) == pytest.approx((1 / 3, 2 / 3), rel=1e-12)


def test_observed_states_choose_the_density():
    net = pgm.BayesianNetwork()
    net.add("kind", [0.5, 0.5], states=["a", "b"])
    net.add("x", {"a": pgm.Gaussian(0.0, 1.0), "b": pgm.Gaussian(5.0, 1.0)}, parents=["kind"])
    net.add("y", pgm.LinearGaussian({"x": 2.0}, sd=1.0))
    for state, bias in {"a": 0.0, "b": 5.0}.items():
        p = net.query("y", given={"kind": state}, engine="loopy")
        assert (float(p.mean), float(p.variance)) == pytest.approx((2 * bias, 5.0))
    with pytest.raises(pgm.InvalidEvidence, match="depend on 'kind'"):
        net.query("y", engine="loopy")
    assert float(net.query("kind", given={"y": 9.0}, engine="loopy")["b"]) == pytest.approx(
        float(net.query("kind", given={"y": 9.0})["b"])
    )


def test_what_it_cannot_take_is_refused_by_name():
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, 1.0))
    net.add("y", pgm.LinearGaussian({"x": 2.0}, sd=0.0))
    net.add("z", pgm.LinearGaussian({"y": 2.0}, sd=1.0))
    net.add("x2", pgm.LinearGaussian({"x": 2.0}, sd=1.0))
    with pytest.raises(pgm.InvalidArgument, match=r"without noise \(sd=0\): 'y'"):
        net.query("z", engine="loopy")
    assert float(net.query("x", engine="loopy").std) == 1.0  # which does not need y
    with pytest.raises(pgm.InvalidArgument, match=r"takes no pgm\.Interval"):
        net.query("x", given={"y": pgm.Interval(0, 1)}, engine="loopy")
    with pytest.raises(pgm.InvalidArgument, match="of one continuous variable, not a joint"):
        net.query(["x", "x2"], engine="loopy")
    for options in (Loopy(trace=True), Loopy(schedule="residual")):
        with pytest.raises(pgm.InvalidArgument, match="for discrete variables, and 'x' is continuous"):
            net.query("x", engine=options)
    with pytest.raises(pgm.InvalidArgument, match="for discrete variables"):
        net.map(engine="loopy")
    small = pgm.BayesianNetwork()
    small.add("x", pgm.Gaussian(0.0, 1.0))
    small.add("y", pgm.LinearGaussian({"x": 1e100}, sd=1e-90))
    with pytest.raises(pgm.InvalidArgument, match="other units"):
        small.query("y", engine="loopy")


def test_what_has_not_come_to_rest_warns():
    rng = np.random.default_rng(0)
    net = pgm.BayesianNetwork()
    for x in range(6):
        net.add(f"x{x}", pgm.Gaussian(0.0, 10.0))
    for i in range(10):
        some = {f"x{x}": float(rng.choice([-1.0, 1.0])) for x in rng.choice(6, 4, replace=False)}
        net.add(f"y{i}", pgm.LinearGaussian(some, sd=0.1))
    seen = {f"y{i}": float(i) for i in range(10)}
    with pytest.warns(pgm.ConvergenceWarning, match=r"larger max_iter=, or pgm.engines.Loopy\(damping=0.5\)"):
        p = net.query("x0", given=seen, engine=Loopy(max_iter=20))
    assert not p.report.converged
    assert not p.exact
    assert len(p.report.residuals) == 20


def test_states_too_many_for_a_tree_do_not_keep_messages_from_numbers():
    """Whether such states can be is then checked as far as closing domains goes, and the answer says so."""
    net, side = pgm.BayesianNetwork(), 13
    rng = np.random.default_rng(0)
    for i in range(side):
        for j in range(side):
            parents = [f"d{i - 1},{j}"] * (i > 0) + [f"d{i},{j - 1}"] * (j > 0)
            net.add(f"d{i},{j}", rng.dirichlet([1, 1], [2] * len(parents)), parents=parents, states=[0, 1])
    last = f"d{side - 1},{side - 1}"
    high, low = pgm.LinearGaussian({}, bias=1.0, sd=1.0), pgm.LinearGaussian({}, bias=0.0, sd=1.0)
    net.add("x", {1: high, 0: low}, parents=[last])
    net.add("y", pgm.LinearGaussian({"x": 1.0}, sd=1.0))
    net.add("copy", {1: [0.0, 1.0], 0: [1.0, 0.0]}, parents=[last], states=[0, 1])
    with pgm.config(memory_limit="1 MB"):
        found = net.query("x", {last: 1, "y": 2.0}, engine="loopy")
        assert (found.mean, found.sd) == pytest.approx((1.5, math.sqrt(0.5)), rel=1e-12)
        assert not found.report.exact
        assert "possible" in found.report.advice
        with pytest.raises(pgm.ImpossibleEvidence):
            net.query("x", {last: 1, "copy": 0, "y": 2.0}, engine="loopy")
    assert net.query("x", {last: 1, "y": 2.0}, engine="loopy").report.exact
