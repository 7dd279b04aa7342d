"""What the registry says of an engine is what the engine can do; nothing else decides who answers."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import pgm
from pgm.evidence import observe
from pgm.inference.engines import ENGINES, Auto, Question, after_the_tree, prepare
from pgm.runtime.clock import Clock

METHODS = {
    "query": "distribution",
    "marginals": "every_marginal",
    "probability": "total",
    "map": "assignments",
    "k_best": "assignments",
    "marginal MAP": "assignments",
    "sample": "samples",
    "plan": "plan",
    "max_marginals": "max_assignments",
}
KINDS = pytest.mark.parametrize("kind", [*ENGINES.values(), Auto], ids=lambda kind: kind.__name__)


def network() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("rain", 0.2)
    net.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    return net


def hidden() -> pgm.BayesianNetwork:
    """A state that follows a hidden number, for the engines that take such: others are exact without."""
    net = pgm.BayesianNetwork()
    net.add("skill", pgm.LinearGaussian(bias=0.0, sd=1.0))
    net.add("wet", pgm.Logistic({"skill": 2.0}))
    return net


def prepared(kind: Any, limit: float | None = None) -> Any:
    compiled = (hidden() if kind.takes_scores else network())._compile()
    clock = Clock(limit, None)
    return prepare(kind(), compiled, observe(compiled.by_name, {"wet": True}), None, clock)


@KINDS
@pytest.mark.parametrize("limit", [None, 60.0])
def test_it_has_the_capabilities_that_it_names_and_no_others(kind: Any, limit: float | None) -> None:
    found = prepared(kind, limit)
    for question, method in METHODS.items():
        named = any(METHODS[other] == method for other in kind.answers)
        assert hasattr(found, method) == named, (question, method)
    assert isinstance(found.doubtful, bool)


@KINDS
def test_its_module_prepares_it(kind: Any) -> None:
    assert callable(importlib.import_module(kind.module).prepare)
    assert issubclass(kind, pgm.engines.Engine)
    assert set(kind.answers) <= set(METHODS)


def test_the_registry_is_by_name_and_public() -> None:
    assert all(kind.name == name for name, kind in ENGINES.items())
    for kind in ENGINES.values():
        assert getattr(pgm.engines, kind.__name__) is kind
        assert kind.__name__ in pgm.engines.__all__


def test_whom_auto_asks_is_read_off_the_registry() -> None:
    def names(question: Question, *, timed: bool) -> list[str]:
        return [kind.name for kind in after_the_tree(question, timed)]

    for timed in (False, True):
        assert names("map", timed=timed) == ["cuts", "branch-and-bound"]
        assert names("k_best", timed=timed) == ["branch-and-bound"]
        assert names("marginal MAP", timed=timed) == names("sample", timed=timed) == []
    assert names("query", timed=True) == ["search"]
    assert names("query", timed=False) == []
    for kind in ENGINES.values():
        assert set(kind.turns) <= set(kind.answers)
        assert all(turn.why for turn in kind.turns.values())
        later = [question for question, turn in kind.turns.items() if turn.rank]
        if {"map", "k_best"} & set(later):
            assert callable(importlib.import_module(kind.module).instead)


def test_the_two_sums_of_a_quotient_share_the_time_and_no_draws() -> None:
    first, second = pgm.engines.Best(seconds=4.0).for_both_sums()
    assert first == second == pgm.engines.Best(seconds=2.0)
    for kind in ENGINES.values():
        first, second = kind().for_both_sums()
        draws = kind.module.startswith("pgm.inference.engines.sampling.")
        assert (first == second) != draws
