"""What the registry says of an engine is what the engine can do; nothing else decides who answers."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import pgm
from pgm.evidence import observe
from pgm.inference.engines import ENGINES, Auto, prepare
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
