"""Worked numbers of the catalogue on distances and densities: A.md, chapter 8, O7; C.md, O18."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import pgm
from tests.known import book
from tests.known.book import near

ONE = [[1.0, 0.0], [0.0, 1.0]]
SHARED = [[2.0, 1.8], [1.8, 2.0]]


def squared(net: pgm.BayesianNetwork, c: int, x: tuple[float, float], mean: tuple[float, float]) -> float:
    """The squared distance to a mean: what the density of the class loses on the way from there, twice."""
    at, best = (net.log_probability({"x1": p[0], "x2": p[1]}, given={"C": c}) for p in (x, mean))
    return 2 * (best - at)


def test_A14_the_nearest_mean():
    """O7, (8.18): x = (1.5, 1) is nearer to (2, 0) by Euclid, and to (0, 0) by Mahalanobis."""
    means, x = [(0.0, 0.0), (2.0, 0.0)], (1.5, 1.0)
    euclid = book.classes([0.5, 0.5], means, [ONE, ONE])
    assert [math.sqrt(squared(euclid, c, x, means[c - 1])) for c in (1, 2)] == near([1.8027756, 1.1180340], 8)
    assert euclid.map({"x1": 1.5, "x2": 1.0})["C"] == 2
    mahalanobis = book.classes([0.5, 0.5], means, [SHARED, SHARED])
    assert [squared(mahalanobis, c, x, means[c - 1]) for c in (1, 2)] == near([1.4473684, 5.6578947], 8)
    assert mahalanobis.map({"x1": 1.5, "x2": 1.0})["C"] == 1
    frame = {"x1": [0.0, 2.0, 1.5], "x2": [0.0, 0.0, 1.0]}
    assert euclid.predict(frame, "C").tolist() == [1, 2, 2]
    assert mahalanobis.predict(frame, "C").tolist() == [1, 2, 1]
    assert euclid.query("C", {"x1": 1.0, "x2": 9.0}).values == near([0.5, 0.5])


def test_A15_the_nearest_of_several_prototypes():
    """O7, (8.19): class 1 has the centres (0, 0) and (4, 0), class 2 has (2, 1)."""
    net = pgm.BayesianNetwork()
    net.add("C", [2 / 3, 1 / 3], states=[1, 2])
    net.add("L", {1: [0.5, 0.5], 2: [1.0, 0.0]}, parents=["C"], states=[1, 2])
    centres = {(1, 1): (0.0, 0.0), (1, 2): (4.0, 0.0), (2, 1): (2.0, 1.0), (2, 2): (9.0, 9.0)}
    for i in (0, 1):
        rows = {key: pgm.Gaussian(centre[i], 1.0) for key, centre in centres.items()}
        net.add(f"x{i + 1}", rows, parents=["C", "L"])
    cases = {(3.2, 0.2): (1, 2, 0.8246, 1.4422), (1.2, 0.7): (2, 1, 1.3892, 0.8544)}
    for (x1, x2), (c, prototype, to_one, to_two) in cases.items():
        seen = {"x1": x1, "x2": x2}
        best = net.map(seen)
        assert (best["C"], best["L"]) == (c, prototype)
        for within, distance in ((1, to_one), (2, to_two)):
            found = net.map({**seen, "C": within}).log_joint
            constant = math.log(1 / 3) - math.log(2 * math.pi)
            assert math.sqrt(2 * (constant - found)) == pytest.approx(distance, abs=5e-5)
    ordered = net.k_best({"x1": 3.2, "x2": 0.2}, k=5, targets=["C", "L"])  # three: (2, 2) cannot be
    assert [(best["C"], best["L"]) for best in ordered] == [(1, 2), (2, 1), (1, 1)]


def test_A24_outliers_of_a_mixture():
    """O18 of C.md: .6 N(0, 1) + .4 N(3, 2); far from both centres the density is small."""
    net = pgm.BayesianNetwork()
    net.add("Z", [0.6, 0.4], states=[1, 2])
    net.add("x", {1: pgm.Gaussian(0.0, 1.0), 2: pgm.Gaussian(3.0, math.sqrt(2))}, parents=["Z"])
    x = [0.5, 2.5, -6.0, 12.0, 3.0]
    density = np.exp(net.log_likelihood({"x": x}))
    assert density[:2] == near([0.2348913083, 0.1165183932])
    assert density == near(0.6 * stats.norm.pdf(x) + 0.4 * stats.norm.pdf(x, 3, math.sqrt(2)), 9)
    assert (density < 1e-6).tolist() == [False, False, True, True, False]
    # Not what one normal distribution of all would say: 1.5 lies between the clusters, at its mean 1.2.
    assert net.query("x").pdf(1.5) < min(net.query("x").pdf(0.0), 0.15)


def test_A24_a_cluster_of_its_own():
    """A component that has one of a hundred rows is small where it stands, and takes its row whole."""
    net = pgm.BayesianNetwork()
    net.add("Z", [0.6, 0.39, 0.01], states=[1, 2, 3])
    rows = {1: pgm.Gaussian(0.0, 1.0), 2: pgm.Gaussian(3.0, math.sqrt(2)), 3: pgm.Gaussian(12.0, 1.0)}
    net.add("x", rows, parents=["Z"])
    assert net.query("Z", {"x": 12.0})[3] > 1 - 1e-6
    assert net.probability({"x": 12.0}) == near(0.01 / math.sqrt(2 * math.pi), 7)
    outliers = net.log_likelihood({"x": [0.0, 3.0, 12.0]}) < math.log(0.005)
    assert outliers.tolist() == [False, False, True]
