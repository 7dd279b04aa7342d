"""What is not a table learns from rows with gaps, in parts, and with a network as its prior."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import pgm

KINDS = {
    "one cause": lambda p: pgm.NoisyOr({"a": p[0]}, leak=p[1]),
    "noisy-OR": lambda p: pgm.NoisyOr({"a": p[0], "c": p[1]}, leak=p[2]),
    "noisy-AND": lambda p: pgm.NoisyAnd({"a": p[0], "c": p[1]}, leak=0.1),
    "tree": lambda p: pgm.TreeCPD("a", {True: p[0], False: pgm.TreeCPD("c", {True: p[1], False: p[2]})}),
    "mixture": lambda p: pgm.MixtureCPD({"a": {True: p[0], False: p[1]}, "c": {True: p[2], False: 0.5}}),
    "logistic": lambda p: pgm.Logistic({"a": 2 * p[0], "c": -p[1]}, bias=p[2]),
}
NAMES = ("a", "c", "b")
B = [False, True]


def network(kind: str, p: Any = (0.6, 0.7, 0.2)) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("c", 0.6)
    net.add("b", KINDS[kind](list(p)))
    return net


def data(seed: int, n: int, gaps: float) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    rows: dict[str, list[Any]] = {name: (rng.random(n) < 0.5).tolist() for name in NAMES}
    rows["b"] = [a and c if rng.random() < 0.7 else b for a, c, b in zip(*rows.values(), strict=True)]
    return {name: [None if rng.random() < gaps else x for x in column] for name, column in rows.items()}


def entry(net: pgm.BayesianNetwork, name: str, row: dict[str, Any]) -> float:
    return net.cpd(name).probability({v: row[v] for v in (*net.parents(name), name)})


def likelihood(net: pgm.BayesianNetwork, rows: dict[str, list[Any]]) -> float:
    """By every completion of every row."""
    total = []
    for row in zip(*(rows[name] for name in NAMES), strict=True):
        options = [B if x is None else [x] for x in row]
        probability = 0.0
        for full in itertools.product(*options):
            there = dict(zip(NAMES, full, strict=True))
            probability += math.prod(entry(net, name, there) for name in NAMES)
        total.append(math.log(probability))
    return math.fsum(total)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_climbs_with_gaps(kind: str) -> None:
    rows = data(1, 40, 0.25)
    net = network(kind)
    before = likelihood(net, rows)
    report = net.fit(rows, max_iter=2000, tol=1e-11).fit_report
    assert report.log_likelihoods[0] == pytest.approx(before, abs=1e-8)
    assert report.log_likelihood == pytest.approx(likelihood(net, rows), abs=1e-5)
    assert (np.diff(report.log_likelihoods) > -1e-9).all()
    rng = np.random.default_rng(0)  # at rest nothing near is better
    for _ in range(10):
        other = net.copy()
        other.set("b", network(kind, rng.uniform(0.05, 0.95, 3)).cpd("b"))
        blended = other.cpd("b").fitted(other.expected_counts(rows)["b"])
        other.set("b", blended)
        assert likelihood(other, rows) < report.log_likelihood + 1e-4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [0.0, 0.3])
def test_every_kind_counts_more_rows_with_and_without_gaps(kind: str, first: float) -> None:
    before, after = data(2, 30, first), data(3, 25, 0.3 - first)
    net = network(kind).fit(before, max_iter=1000 if first else None)
    gaps = before if first else after
    expected = net.expected_counts(gaps)["b"]
    cpd = net.partial_fit(after).cpd("b")
    whole = {name: (after if first else before)[name] for name in (*cpd.parents, "b")}

    def said(other: Any) -> float:
        return float(other.expected_log(other.statistics(whole)) + other.expected_log(expected))

    # rows without gaps as they are, the others as was expected of them: nothing says so much of both
    rng, best = np.random.default_rng(1), said(cpd)
    for _ in range(20):
        assert said(network(kind, rng.uniform(0.05, 0.95, 3)).cpd("b")) < best + 1e-6
    assert net.fit_report.n_rows == 25  # the rows that the log-likelihood is of


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_takes_a_network_as_its_prior(kind: str) -> None:
    expert, rows = network(kind, (0.8, 0.3, 0.4)), data(4, 30, 0.0)
    firm = network(kind).fit(rows, prior=pgm.priors.Expert(expert, rows=1e7))
    for a, c in itertools.product(B, B):
        full = {"a": a, "c": c, "b": True}
        assert entry(firm, "b", full) == pytest.approx(entry(expert, "b", full), abs=1e-3)


def test_a_tree_counts_in_its_leaves_what_is_expected() -> None:
    rows = {"a": [None, True, False, False], "c": [True, None, True, False], "b": [True, None, False, True]}
    net = network("tree")
    p = 0.3 * 0.6 / (0.3 * 0.6 + 0.7 * 0.7)  # that a is true in the first row
    net.fit(rows, max_iter=1, tol=1e-300)
    found = net.cpd("b").probability({"a": True, "c": True, "b": True})
    assert found == pytest.approx((p + 0.6) / (p + 1), abs=1e-9)


def test_a_row_that_counts_nothing_is_not_seen() -> None:
    rows = {"a": [True, False, True, False], "c": [True, False, False, True], "b": [True, False, True, False]}
    for kind in KINDS:
        lone = network(kind).fit(rows, weights=[1, 1, 1, 0])
        short = network(kind).fit({name: column[:3] for name, column in rows.items()})
        assert lone.cpd("b") == short.cpd("b")
