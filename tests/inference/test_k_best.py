"""The k best on a tree where many are equal: in declared order, and in seconds."""

from __future__ import annotations

import itertools
import math
import time
import tracemalloc

import numpy as np
import pytest

import pgm
from tests.machine import slowness

N = 1041  # as many as munin has


def chain(p: float, n: int = N) -> pgm.BayesianNetwork:
    """Each node follows the one before, and takes no notice of it."""
    net = pgm.BayesianNetwork()
    net.add("v0", p)
    for i in range(1, n):
        net.add(f"v{i}", {True: p, False: p}, parents=[f"v{i - 1}"])
    return net


@pytest.mark.parametrize("parts", ["a chain", "apart"])
def test_fifty_of_equals_count_upwards(parts):
    """All 2**1041 are equal: the last variables, as declared, count in binary."""
    net = chain(0.5) if parts == "a chain" else pgm.BayesianNetwork()
    for i in range(0 if parts == "a chain" else N):
        net.add(f"v{i}", 0.5)
    net.k_best(k=2)
    begin = time.perf_counter()
    found = net.k_best(k=50)
    assert time.perf_counter() - begin < 5.0 * slowness()
    for number, one in enumerate(found):
        bits = "".join("1" if one[f"v{i}"] else "0" for i in range(N))
        assert int(bits, 2) == number
        assert one.log_probability == pytest.approx(-N * math.log(2))


def test_equals_below_the_best():
    """One is best; those with one variable true are equal and second, the last variable first."""
    net = chain(0.4)
    begin = time.perf_counter()
    found = net.k_best(k=50)
    assert time.perf_counter() - begin < 10.0 * slowness()
    true = [[i for i in range(N) if one[f"v{i}"]] for one in found]
    assert true == [[], *([N - 1 - j] for j in range(49))]


@pytest.mark.parametrize("seed", range(60))
def test_equals_of_trees_in_declared_order(seed):
    """Few different numbers, so that many are equal, and variables of several states: by brute force."""
    rng = np.random.default_rng(seed)
    mrf = pgm.MarkovNetwork()
    names = [f"v{i}" for i in rng.permutation(6)]
    cards = dict(zip(names, rng.integers(2, 4, 6).tolist(), strict=True))
    for name in names:
        mrf.add_variable(name, list(range(cards[name])))
    logs = 0.0
    states = np.array(list(itertools.product(*[range(cards[name]) for name in names])))
    for _ in range(6):
        scope = [names[i] for i in rng.choice(6, int(rng.integers(1, 3)), replace=False)]
        table = rng.choice([0.0, 1.0, 1.0, 2.0, 4.0], [cards[name] for name in scope])
        mrf.add_factor(scope, table)
        with np.errstate(divide="ignore"):
            logs = logs + np.log2(table)[tuple(states[:, names.index(name)] for name in scope)]
    order = sorted(range(len(states)), key=lambda i: (-round(float(logs[i]), 6), i))
    wanted = [tuple(states[i].tolist()) for i in order[:40] if logs[i] > -np.inf]
    if not wanted:
        return
    found = [tuple(one[name] for name in names) for one in mrf.k_best(k=40)]
    assert found == wanted


def test_a_billion_of_them_take_what_is_allowed_and_no_more():
    """How many there are nobody knows before: a few, and all are had; too many, and it stops at the limit."""
    few = pgm.BayesianNetwork()
    for name in "abc":
        few.add(name, 0.3)
    assert len(few.k_best(k=10**9)) == 8
    net = pgm.load_network("alarm")
    net.k_best(k=3)
    allowed = 20_000_000
    tracemalloc.start()
    try:
        with (
            pgm.config(memory_limit=allowed),
            pytest.raises(pgm.TooLarge, match=r"The first [\d,]+ of the 1,000,000,000 most probable"),
        ):
            net.k_best(k=10**9)
        assert tracemalloc.get_traced_memory()[1] < 1.2 * allowed
    finally:
        tracemalloc.stop()
