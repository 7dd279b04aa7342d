"""Products below the smallest double: left there where that provably does not show, else wide numbers."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pgm
from pgm.inference.engines.exact import tree_runs
from pgm.inference.trees import shared_trees

LOG_TINY = math.log(1e-15)
MANY = 90  # so many of those are 1e-1350


@pytest.fixture(params=["sliced", "stepwise", "new tree"])
def wide_runs(request, monkeypatch):
    """How often wide numbers were needed, on each of the paths."""
    if request.param == "new tree":
        monkeypatch.setattr(shared_trees, "consider", lambda *_, **__: None)
    elif request.param == "stepwise":
        monkeypatch.setattr(shared_trees, "_AT_ONCE", -1.0)
    counted: Counter[str] = Counter()
    pool = tree_runs._wide_pool

    def counting(*args):
        counted["runs"] += 1
        return pool(*args)

    monkeypatch.setattr(tree_runs, "_wide_pool", counting)
    return counted


def twins(*more: tuple[list[str], list]) -> pgm.MarkovNetwork:
    """Two variables that are alike but for one chance in 10^1350, and further factors."""
    net = pgm.MarkovNetwork()
    for name in "abc":
        net.add_variable(name, states=[0, 1])
    for _ in range(MANY):
        net.add_factor(["a", "b"], [[1.0, 1e-15], [1e-15, 1.0]])
    net.add_factor(["b", "c"], [[3.0, 1.0], [1.0, 2.0]])
    for names, table in more:
        net.add_factor(names, table)
    return net


def test_what_is_lost_does_not_show_in_one_of_them(wide_runs):
    net = twins()
    assert net.query("a").values == pytest.approx([4 / 7, 3 / 7], rel=1e-14)
    assert net.query("c").values == pytest.approx([4 / 7, 3 / 7], rel=1e-14)
    assert net.log_partition() == pytest.approx(math.log(7), rel=1e-14)
    assert not wide_runs


def test_it_shows_in_their_joint(wide_runs):
    values = twins().query(["a", "b"]).values
    assert values == pytest.approx(np.diag([4 / 7, 3 / 7]), rel=1e-14)
    assert wide_runs


@pytest.mark.parametrize("apart", [[[0.0, 1.0], [1.0, 0.0]], [[1e-300, 1.0], [1.0, 1e-300]]])
def test_where_only_what_is_lost_is_left(wide_runs, apart):
    """That they differ is all but impossible, and given: what is lost is then nearly everything, or all."""
    ten = [(["a", "b"], apart)] * 10
    net = twins(*ten)
    assert net.query("a").values == pytest.approx([3 / 7, 4 / 7], rel=1e-12)
    assert net.log_partition() == pytest.approx(MANY * LOG_TINY + math.log(7), rel=1e-13)
    assert wide_runs


def test_evidence_that_is_all_but_impossible(wide_runs):
    """The states are certain, so that each factor is a number of its own: nothing is lost at all."""
    net = twins()
    ratio = net.log_probability({"a": 0, "b": 1})
    assert ratio == pytest.approx(MANY * LOG_TINY + math.log(3 / 7), rel=1e-13)
    assert net.query("c", {"a": 0, "b": 1}).values == pytest.approx([1 / 3, 2 / 3], rel=1e-13)


@given(seed=st.integers(0, 2**32 - 1))
def test_random_models_of_extreme_factors(seed):
    """Against sums of logarithms over all states; each factor holds up to 10^280 or as little, or zeros."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    net = pgm.MarkovNetwork()
    cards = rng.integers(2, 4, n).tolist()
    for i, card in enumerate(cards):
        net.add_variable(f"v{i}", states=list(range(card)))
    logs = np.zeros(cards)
    reach = rng.choice([30.0, 200.0, 640.0])
    for _ in range(int(rng.integers(3, 14))):
        scope = sorted(rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False).tolist())
        shape = [cards[v] for v in scope]
        powers = rng.choice([-1.0, 0.0, 0.3], p=[0.4, 0.5, 0.1], size=shape) * reach * rng.random(shape)
        powers[rng.random(shape) < 0.05] = -np.inf
        net.add_factor([f"v{v}" for v in scope], powers, log=True)
        logs += powers.reshape([cards[v] if v in scope else 1 for v in range(n)])
    top = logs.max()
    if top == -np.inf:
        with pytest.raises(pgm.ImpossibleEvidence):
            net.query("v0")
        return
    log_z = top + math.log(np.exp(logs - top).sum())
    assert net.log_partition() == pytest.approx(log_z, rel=1e-11, abs=1e-9)
    for v in range(n):
        others = tuple(i for i in range(n) if i != v)
        expected = np.exp(np.logaddexp.reduce(logs, axis=others) - log_z)
        assert net.query(f"v{v}").values == pytest.approx(expected, rel=1e-9, abs=1e-300)
