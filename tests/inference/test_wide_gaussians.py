"""Numbers with very many parents: closed forms, the way back in matrices, and what is too much."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pgm
from pgm.inference.engines.gaussian import elimination
from tests.gaussian_oracle import Plain, plains

near = lambda x: pytest.approx(x, rel=1e-7, abs=1e-8)  # noqa: E731


def star(n: int) -> tuple[pgm.BayesianNetwork, np.ndarray]:
    net = pgm.BayesianNetwork()
    w = np.random.default_rng(0).normal(size=n)
    for i in range(n):
        net.add(f"x{i}", pgm.Gaussian(float(i % 7), sd=1.0))
    net.add("y", pgm.LinearGaussian({f"x{i}": float(w[i]) for i in range(n)}, sd=0.5))
    return net, w


def test_two_thousand_parents_of_one_child() -> None:
    """The sum is normal, and each parent given it is its regression on the sum."""
    net, w = star(2_000)
    mean = np.arange(2_000) % 7
    centre, variance = float(w @ mean), float(w @ w) + 0.25
    y = net.query("y")
    assert (y.mean, y.variance) == near((centre, variance))
    found = net.marginals({"y": centre + 40.0})
    for i in range(0, 2_000, 37):
        p = found[f"x{i}"]
        assert p.mean == near(mean[i] + w[i] * 40.0 / variance)
        assert p.variance == near(1.0 - w[i] ** 2 / variance)
    p = net.query(["x3", "x4"], {"y": centre + 40.0})
    assert p.covariance[0, 1] == near(-w[3] * w[4] / variance)
    log = -0.5 * 40.0**2 / variance - 0.5 * np.log(2 * np.pi * variance)
    assert net.log_probability({"y": centre + 40.0}) == near(log)


def test_twice_the_parents_cost_no_more_than_their_pairs() -> None:
    """The way in goes over the rows that a parent is in, not over all: four times the work, not eight."""

    def seconds(n: int) -> float:
        net, _ = star(n)
        net.query("y")  # lays the tree out
        best = np.inf
        for i in range(3):
            start = time.process_time()
            net.log_probability({"y": float(i)})
            best = min(best, time.process_time() - start)
        return float(best)

    seconds(50)
    seconds(400)
    assert seconds(1_600) < 30.0 * seconds(400)  # 16 where pairs are counted, 64 where triples are


@settings(max_examples=60)
@given(plains(), st.data())
def test_the_way_back_in_matrices_gives_the_same(
    model: tuple[Plain, np.random.Generator], data: st.DataObject
) -> None:
    plain, rng = model
    case = plain.draw(rng)
    known = {name: case[name] for name in case if data.draw(st.integers(0, 2), label=name) == 0}
    truth = plain.answer(known)
    assume(truth is not None and truth.names)
    assert truth is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "_LARGE", -1.0)
        patch.setattr(elimination, "_BLOCK", 2)
        net = plain.network()
        found = net.marginals(known)
        joint = net.query(truth.names, known)
    for i, name in enumerate(truth.names):
        assert (found[name].mean, found[name].variance) == near((truth.mean(name), truth.variance(name)))
        assert np.atleast_1d(joint.mean)[i] == near(truth.mean(name))
        for j, other in enumerate(truth.names):
            assert np.atleast_2d(joint.covariance)[i, j] == near(truth.covariance(name, other))


def test_too_many_parents_are_refused_before_anything_is_made() -> None:
    net, _ = star(20_000)
    for ask in (
        lambda: net.query("x0", {"y": 1.0}),
        lambda: net.marginals({"y": 1.0}),
        lambda: net.query("y"),
    ):
        with (
            pgm.config(memory_limit="500 MB"),
            pytest.raises(
                pgm.TooLarge,
                match=r"density of 'y' couples 20,00[01] unobserved variables, which takes about 9\.6 GB",
            ),
        ):
            ask()


def test_a_sum_in_parts_is_what_that_error_proposes() -> None:
    net = pgm.BayesianNetwork()
    n, size = 2_000, 50
    w = np.random.default_rng(0).normal(size=n)
    for begin in range(0, n, size):
        for i in range(begin, begin + size):
            net.add(f"x{i}", pgm.Gaussian(0.0, sd=1.0))
        part = {f"x{i}": float(w[i]) for i in range(begin, begin + size)}
        net.add(f"s{begin}", pgm.LinearGaussian(part, sd=0.0))
    net.add("y", pgm.LinearGaussian({f"s{begin}": 1.0 for begin in range(0, n, size)}, sd=0.5))
    with pgm.config(memory_limit="20 MB"):
        p = net.query("x7", {"y": 10.0})
    variance = float(w @ w) + 0.25
    assert (p.mean, p.variance) == near((w[7] * 10.0 / variance, 1.0 - w[7] ** 2 / variance))
