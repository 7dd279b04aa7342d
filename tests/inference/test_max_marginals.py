"""Max-marginals where brute force ends (see test_truth.py), under evidence of every kind, and as results."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pgm


def wet() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("rain", 0.3)
    net.add("wet", {True: 0.9, False: 0.2}, parents=["rain"])
    return net


def test_a_chain_of_three_thousand_by_the_best_paths_there_and_back() -> None:
    """Viterbi's recursion forwards and backwards, in logarithms; the numbers themselves underflow."""
    rng, n = np.random.default_rng(0), 3000
    tables = [rng.dirichlet(np.ones(3), size=3) for _ in range(n - 1)]
    net = pgm.BayesianNetwork()
    net.add("v0", [0.2, 0.5, 0.3], states=list("abc"))
    for i, table in enumerate(tables, 1):
        net.add(
            f"v{i}", dict(zip("abc", table.tolist(), strict=True)), parents=[f"v{i - 1}"], states=list("abc")
        )
    there, back = [np.log([0.2, 0.5, 0.3])], [np.zeros(3)]
    for table in tables:
        there.append((there[-1][:, None] + np.log(table)).max(axis=0))
    for table in reversed(tables):
        back.append((back[-1][None, :] + np.log(table)).max(axis=1))
    found, best = net.max_marginals(), net.map()
    assert found["v0"]["a"] == 0.0
    for i, (first, second) in enumerate(zip(there, reversed(back), strict=True)):
        logs = found.log_values(f"v{i}")
        assert logs == pytest.approx(first + second, abs=1e-9)
        assert logs.max() == pytest.approx(best.log_joint, abs=1e-9)
        assert "abc"[int(logs.argmax())] == best[f"v{i}"]
        assert found[f"v{i}"]["b"].log == logs[1]
    assert repr(found).splitlines()[0].split() == ["variable", "state", "log", "P", "next"]


def test_with_parts_apart_and_numbers_wider_than_a_double() -> None:
    """Two pairs of variables that do not touch; e**1000 and e**-1000 in one table."""
    mrf = pgm.MarkovNetwork()
    for name in "abcd":
        mrf.add_variable(name, [0, 1])
    mrf.add_factor(["a", "b"], [[1000.0, -1000.0], [3.0, 2.0]], log=True)
    mrf.add_factor(["c", "d"], [[1.0, 7.0], [5.0, 4.0]])
    found = mrf.max_marginals()
    assert found.log_values("a") == pytest.approx([1000 + math.log(7), 3 + math.log(7)])
    assert found.log_values("b") == pytest.approx([1000 + math.log(7), 2 + math.log(7)])
    assert found.log_values("c") == pytest.approx([1000 + math.log(7), 1000 + math.log(5)])
    assert found.log_values("d") == pytest.approx([1000 + math.log(5), 1000 + math.log(7)])
    assert mrf.max_marginals({"a": 1})["c"] == pytest.approx({0: 7 * math.e**3, 1: 5 * math.e**3})
    assert repr(mrf.max_marginals({"a": 1})).splitlines()[0].split() == [
        "variable",
        "state",
        "product",
        "next",
    ]


def test_evidence_of_every_kind() -> None:
    net = wet()
    assert net.max_marginals({"wet": True})["rain"] == pytest.approx({False: 0.14, True: 0.27})
    seen = net.max_marginals({"rain": pgm.Likelihood({True: 0.5, False: 0.25})})
    assert seen["rain"] == pytest.approx({False: 0.14, True: 0.135})
    assert seen["wet"] == pytest.approx({False: 0.14, True: 0.135})
    sure = net.max_marginals({"rain": pgm.Likelihood({True: 0.5, False: 0.0})})
    assert sure["wet"] == pytest.approx({False: 0.015, True: 0.135})
    wanted = net.max_marginals({"rain": pgm.Soft({True: 0.6, False: 0.4})})
    assert wanted["wet"] == pytest.approx({False: 0.32, True: 0.54})
    assert len(net.max_marginals({"rain": True, "wet": False})) == 0
    flooded = wet()
    flooded.add("flood", {True: 1.0, False: 0.0}, parents=["wet"])
    with pytest.raises(pgm.ImpossibleEvidence):
        flooded.max_marginals({"flood": True, "wet": False})


def test_who_does_not_answer_says_so() -> None:
    net = wet()
    with pytest.raises(pgm.InvalidArgument, match=r'engine="loopy" does not answer `max_marginals`.*"exact"'):
        net.max_marginals(engine="loopy")
    net.add("level", {True: pgm.Gaussian(1.0, 1.0), False: pgm.Gaussian(0.0, 1.0)}, parents=["wet"])
    for given in ({}, {"level": pgm.Interval(0, 1)}):
        with pytest.raises(pgm.InvalidArgument, match="are of discrete variables; 'level' is continuous"):
            net.max_marginals(given)
    height = {wet: math.exp(-((0.5 - wet) ** 2) / 2) / math.sqrt(2 * math.pi) for wet in (False, True)}
    seen = net.max_marginals({"level": 0.5})
    assert seen["wet"] == pytest.approx({False: 0.56 * height[False], True: 0.27 * height[True]})
    large = pgm.MarkovNetwork.grid(
        np.zeros((60, 60), int), states=[0, 1], coupling=1.0, unary=[[0.9, 0.1], [0.1, 0.9]]
    )
    with pytest.raises(pgm.TooLarge), pgm.config(memory_limit="1 GB"):
        large.max_marginals()


def test_as_a_result() -> None:
    found = wet().max_marginals()
    assert (list(found), len(found), found.variables[0].name) == (["rain", "wet"], 2, "rain")
    assert found.exact
    frame = found.to_pandas()
    assert frame["p"].tolist() == pytest.approx([0.56, 0.27, 0.56, 0.27])
    assert frame["log_p"].tolist() == pytest.approx(np.log([0.56, 0.27, 0.56, 0.27]).tolist())
    with pytest.raises(pgm.UnknownVariable, match="Did you mean 'rain'"):
        found["rian"]
    with pytest.raises(ValueError, match="read-only"):
        found.log_values("rain")[0] = 0.0
    ax = found.plot()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([1.0, 27 / 56, 1.0, 27 / 56])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [
        "rain=False",
        "rain=True",
        "wet=False",
        "wet=True",
    ]
