"""How many Python functions of pgm a small question calls: what it costs beside its arithmetic."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import pgm

HERE = str(Path(pgm.__file__).parent)


def calls(ask: Callable[[], Any]) -> int:
    """Calls of functions in pgm's files, once all that is kept has been made."""
    for _ in range(5):
        ask()
    count = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(HERE)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        ask()
    finally:
        sys.setprofile(before)
    return count


def alarm() -> pgm.BayesianNetwork:
    return pgm.load_network("alarm")


def numbers() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("x", pgm.LinearGaussian(bias=1.0, sd=1.0))
    net.add("y", pgm.LinearGaussian({"x": 2.0}, bias=1.0, sd=0.5))
    net.add("z", pgm.LinearGaussian({"y": 1.0}, bias=0.0, sd=0.5))
    return net


@pytest.mark.parametrize(
    ("model", "ask", "most"),
    [
        (alarm, lambda net: net.query("HR"), 42),
        (alarm, lambda net: net.map(), 77),
        (numbers, lambda net: net.query("x", {"z": 1.0}), 94),
    ],
    ids=["query", "map", "numbers"],
)
def test_a_small_question_makes_few_calls(
    model: Callable[[], Any], ask: Callable[[Any], Any], most: int
) -> None:
    net = model()
    assert calls(lambda: ask(net)) <= most


def test_values_that_change_cost_few_calls() -> None:
    """What a question after a `set` calls beside the set and the question: 8."""
    net = alarm()
    table = net.cpd("HR").values
    changed = calls(lambda: (net.set("HR", table), net.marginals()))
    assert changed - calls(lambda: net.set("HR", table)) - calls(net.marginals) <= 8
