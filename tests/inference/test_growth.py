"""That ten times the variables cost ten times the work: counted, not timed."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pgm
from pgm.inference.engines.exact import tree_runs
from pgm.runtime.running import REDUCTION
from tests.strategies import models

N = 10_000


def chain(n: int) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("x0", [0.3, 0.7], states=[0, 1])
    for i in range(1, n):
        net.add(f"x{i}", np.array([[0.9, 0.1], [0.2, 0.8]]), parents=[f"x{i - 1}"], states=(0, 1))
    return net


def hub(n: int) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("x0", 0.5)
    for i in range(1, n):
        net.add(f"x{i}", {True: 0.9, False: 0.2}, parents="x0")
    return net


def waiting(n: int) -> pgm.BayesianNetwork:
    """Children first, so that no table can be read before the last."""
    net = pgm.BayesianNetwork(edges=[(f"x{i}", f"x{i + 1}") for i in range(n - 1)])
    for i in range(n - 1, -1, -1):
        net.set(f"x{i}", {True: 0.9, False: 0.2} if i else 0.5)
    return net


def image(n: int) -> pgm.MarkovNetwork:
    unary = [[0.8, 0.2], [0.3, 0.7]]
    return pgm.MarkovNetwork.grid(np.zeros((n // 5, 5), int), states=(0, 1), coupling=0.5, unary=unary)


def tracked(make: Callable[[], object]) -> tuple[object, int]:
    """What was made, and how many objects more the garbage collector has to look at."""
    gc.collect()
    gc.freeze()  # what was there before is not counted, nor looked at again
    before = len(gc.get_objects())
    made = make()
    gc.collect()
    return made, len(gc.get_objects()) - before


QUESTIONS: dict[str, Callable[[Any, str, dict[str, Any]], object]] = {
    "marginals": lambda net, name, known: net.marginals(known),
    "map": lambda net, name, known: net.map(known),
    "probability": lambda net, name, known: net.probability(known),
    "query": lambda net, name, known: net.query(name, known),
}


@pytest.mark.parametrize("make", [chain, hub, waiting, image])
def test_the_garbage_collector_has_nothing_to_do_with_the_size_of_a_model(make: Callable[[int], Any]) -> None:
    net = make(N)
    names = list(net)
    known = {names[-1]: net.variables[names[-1]].states[1]}
    for ask in QUESTIONS.values():  # whatever is made once
        ask(net, names[7], known)
    net, count = tracked(lambda: make(N))
    assert count < N / 5
    assert tracked(net.copy)[1] < N / 5
    for what, ask in QUESTIONS.items():
        assert tracked(lambda ask=ask: ask(net, names[7], known))[1] < N / 5, what


@given(st.data())
def test_what_is_pruned_is_the_same_from_above_and_from_below(data: st.DataObject) -> None:
    program = data.draw(models()).model._compile().program
    needed = np.array(
        data.draw(st.lists(st.integers(0, 1), min_size=program.n, max_size=program.n)), np.uint8
    )
    below, above = (np.empty(program.arrays.heads.size, np.uint8) for _ in range(2))
    dropped = REDUCTION.prune(program.arrays, needed, below)
    order, loose = program.loose
    REDUCTION.ancestors(program.arrays, loose, needed, above)
    assert above.tolist() == below.tolist()
    assert order[above[order] == 0].tolist() == dropped.tolist()


def test_bounds_that_add_up_at_a_hub_do_not_make_numbers_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is carried along of what its neighbours send is that it is at least 2**-300 or so."""
    n, flips = 3000, 1e-10
    parents = (np.random.default_rng(n).random(n) * np.arange(n)).astype(int)
    net = pgm.BayesianNetwork()
    net.add("x0", 0.5)
    for i in range(1, n):
        net.add(f"x{i}", {True: 1.0 - flips, False: flips}, parents=f"x{parents[i]}")
    monkeypatch.setattr(tree_runs, "wide_results", None)  # it is not needed
    found = net.marginals({"x5": True})
    above = [5]
    while above[-1]:
        above.append(parents[above[-1]])
    away = {v: i for i, v in enumerate(above)}  # arrows between x5 and others
    for i in range(1, n):
        if i not in away:
            away[i] = away[parents[i]] + 1
        if i != 5:
            other = -0.5 * np.expm1(away[i] * np.log1p(-2.0 * flips))
            assert found[f"x{i}"][False] == pytest.approx(other, rel=1e-12)
