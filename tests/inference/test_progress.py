"""Nothing that takes long is silent: every engine, and what comes before and after, says that it goes on."""

from __future__ import annotations

import gc
import io
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pgm
from pgm.config import config
from pgm.graphs import triangulation
from pgm.runtime import progress
from pgm.runtime.clock import Clock

pytestmark = pytest.mark.filterwarnings("ignore::pgm.ConvergenceWarning")


def grid(n: int, states: int = 2, strength: float = 1.0) -> pgm.MarkovNetwork:
    """Couplings of either sign between neighbours."""
    rng, mrf = np.random.default_rng(0), pgm.MarkovNetwork()
    cells = [(i, j) for i in range(n) for j in range(n)]
    for i, j in cells:
        mrf.add_variable(f"{i},{j}", states=range(states))
        mrf.add_factor([f"{i},{j}"], rng.normal(size=states), log=True)
    for i, j in cells:
        for other in ((i + 1, j), (i, j + 1)):
            if max(other) < n:
                table = strength * rng.normal(size=(states, states))
                mrf.add_factor([f"{i},{j}", f"{other[0]},{other[1]}"], table, log=True)
    return mrf


def diagnoses(n: int, m: int, positive: int) -> tuple[pgm.BayesianNetwork, dict[str, bool]]:
    """Diseases and findings (QMR), some of these positive."""
    rng, net = np.random.default_rng(0), pgm.BayesianNetwork()
    for i in range(n):
        net.add(f"d{i}", float(rng.uniform(0.005, 0.05)))
    for j in range(m):
        parents = rng.choice(n, 8, replace=False)
        net.add(f"f{j}", pgm.NoisyOr({f"d{p}": float(rng.uniform(0.2, 0.9)) for p in parents}, leak=0.01))
    return net, {f"f{j}": j < positive for j in range(m)}


def chain(n: int) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("x0", 0.3)
    for i in range(1, n):
        net.add(f"x{i}", {True: 0.8, False: 0.1}, parents=[f"x{i - 1}"])
    return net


def rows(n: int) -> tuple[pgm.BayesianNetwork, Any]:
    net = pgm.load_network("alarm")
    frame = pd.DataFrame(net.sample(n, seed=0).to_dict())
    return net, frame.mask(np.random.default_rng(0).random(frame.shape) < 0.3)


def _late(call: Callable[[], object]) -> None:
    try:
        with config(time_limit=4.0, memory_limit="2 GB"):
            call()
    except (pgm.OutOfTime, pgm.TooLarge):
        pass


engines = pgm.engines
LONG: dict[str, Callable[[], Callable[[], object]]] = {
    "exact": lambda: grid(17).marginals,
    "exact maximum": lambda: lambda: grid(16).map(engine="exact"),
    "elimination": lambda: lambda: grid(14).query("3,3", engine="elimination"),
    "search": lambda: lambda: grid(11).log_partition(engine="search"),
    "conditioned": lambda: (
        lambda: grid(16).log_partition(engine=engines.Conditioned(variables=[f"8,{j}" for j in range(7)]))
    ),
    "branch and bound": lambda: lambda: grid(14, 4, 2.0).map(engine="branch-and-bound"),
    "map by itself": lambda: lambda: (lambda net, given: net.map(given))(*diagnoses(150, 60, 25)),
    "srmp": lambda: lambda: grid(40, 4, 2.0).map(engine="srmp"),
    "expansion": lambda: (
        lambda: pgm.MarkovNetwork.grid(
            np.random.default_rng(0).integers(0, 6, (60, 60)),
            states=range(6),
            coupling=1.0,
            unary=np.full((6, 6), 0.04) + 0.76 * np.eye(6),
        ).map(engine="expansion")
    ),
    "loopy": lambda: lambda: grid(60, 3).marginals(engine="loopy"),
    "mean field": lambda: lambda: grid(60).marginals(engine="mean-field"),
    "bounds": lambda: lambda: grid(24).marginals(engine="bounds"),
    "clique sequence": lambda: lambda: grid(24).marginals(engine="clique-sequence"),
    "gibbs": lambda: lambda: grid(30).marginals(engine=engines.Gibbs(samples=4000)),
    "weighting": lambda: lambda: grid(14).marginals(engine=engines.Importance(samples=40_000)),
    "k best": lambda: lambda: grid(9).k_best(k=4000),
    "best of several": lambda: lambda: grid(24).marginals(engine=engines.Best(seconds=2)),
    "order": lambda: lambda: grid(90).plan("3,3"),
}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[float, float, str]]]:
    """Everything that is said, when a second is a thousandth of one."""
    monkeypatch.setattr(progress, "_SILENCE", 0.001)
    monkeypatch.setattr(progress, "_INTERVAL", 0.0)
    calls: list[tuple[float, float, str]] = []
    with config(progress=lambda *call: calls.append(call)):
        yield calls


@pytest.mark.parametrize("make", LONG.values(), ids=list(LONG))
def test_every_engine_says_that_it_goes_on(make, told):
    _late(make())
    assert len(told) >= 3
    done, total, _ = told[-1]
    gc.collect()
    assert done >= total  # whoever shows a bar can put it away
    for done, total, what in told:
        assert 0 <= done <= total
        assert what


def test_a_model_of_many_parts_is_compiled_aloud(told):
    chain(60_000).query("x5")
    assert {what for _, _, what in told} & {"compiling the model", "reading the evidence"}


def test_frames_are_answered_aloud(told):
    net, frame = rows(30_000)
    net.predict_proba(frame, "HR")
    assert len(told) >= 3


@pytest.mark.parametrize("format", ["bif", "xmlbif", "xdsl", "net", "dsc", "uai", "json"])
def test_files_are_read_and_written_aloud(format, told, tmp_path):
    net = chain(4_000)
    pgm.write(net, tmp_path / f"net.{format}")
    assert "writing" in {what for _, _, what in told}
    told.clear()
    pgm.read(tmp_path / f"net.{format}")
    assert [what for _, _, what in told if what.startswith("reading")]
    assert told[-1][0] >= told[-1][1]


def test_large_drawings_are_laid_out_aloud(told):
    net = pgm.BayesianNetwork()
    for i in range(60):
        parents = [f"x{j}" for j in {max(0, i - 7), i // 2} if j < i]
        net.add(f"x{i}", pgm.LinearGaussian(weights=dict.fromkeys(parents, 1.0), sd=1.0), parents=parents)
    net.plot()
    gc.collect()
    assert {what for _, _, what in told} >= {"measuring labels", "ordering nodes", "placing nodes", "drawing"}
    assert told[-1][0] >= told[-1][1]


def test_one_large_step_of_elimination_is_not_silent(told):
    """All are neighbours of all: the first step makes a table of two million entries."""
    mrf, rng = pgm.MarkovNetwork(), np.random.default_rng(0)
    for i in range(22):
        mrf.add_variable(f"x{i}", states=[0, 1])
        for j in range(i):
            mrf.add_factor([f"x{j}", f"x{i}"], rng.random((2, 2)))
    mrf.log_partition(engine="elimination")
    assert len([what for _, total, what in told if what == "eliminating" and total == math.inf]) >= 3


# --- the pulse itself, by a clock that a test sets ---------------------------------------------------------


class Hands:
    """A clock that goes when it is told."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    found = Hands()
    monkeypatch.setattr(progress, "time", found)
    monkeypatch.setattr(progress, "_last", type(progress._last)("pgm.test", default=progress._NOTHING))
    return found


def test_a_question_speaks_once_a_second_and_says_when_it_is_over(hands):
    calls: list[tuple[float, float, str]] = []
    with config(progress=lambda *call: calls.append(call)):
        clock = Clock(None, None)
        for hands.now in np.arange(0.0, 3.55, 0.05).tolist():
            clock.check("searching")
        assert calls == [(float(s), math.inf, "searching") for s in (1, 2, 3)]
        del clock
        assert calls[3:] == [(3.0, 3.0, "searching")]


def test_what_tells_how_far_it_is_needs_no_pulse(hands):
    calls: list[tuple[float, float, str]] = []
    with config(progress=lambda *call: calls.append(call)):
        clock = Clock(None, None)
        for step in range(40):
            hands.now += 0.5
            progress.report(step, 100, "messages")
            clock.check("searching")
        assert {what for *_, what in calls} == {"messages"}
        del clock  # it came to rest after 40 of 100
    assert calls[-1] == (100, 100, "messages")


def test_a_short_question_says_nothing(hands):
    calls: list[tuple[float, float, str]] = []
    with config(progress=lambda *call: calls.append(call)):
        clock = Clock(None, None)
        hands.now = 0.9
        clock.check()
        del clock
        assert list(progress.each(range(10), "numbers")) == list(range(10))
    assert not calls


def test_the_line_of_what_has_no_total(hands, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with config(progress=True):
        clock = Clock(None, None)
        hands.now = 12.0
        clock.check("branch and bound")
        assert stream.getvalue() == "\rbranch and bound: 12 s"
        del clock
    assert stream.getvalue().endswith("100%\n")


def test_nobody_listens_by_default():
    assert Clock(None, None).pulse is None
    numbers = [1, 2]
    assert progress.each(numbers, "numbers") is numbers


def test_laying_out_numbers_is_told_and_heeds_the_time_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An order that is looked for forever: it is said every second, and stopped when the time is up."""
    stopped = threading.Event()

    def endless(*_: object, stop: np.ndarray, **__: object) -> None:
        while stop[0] == 0:
            time.sleep(0.01)
        stopped.set()

    net = pgm.BayesianNetwork()
    net.add("x0", pgm.LinearGaussian(sd=1.0))
    for i in range(1, 1500):
        net.add(f"x{i}", pgm.LinearGaussian({f"x{i - 1}": 1.0}, sd=1.0))
    net._compile()
    told: list[str] = []
    monkeypatch.setattr(triangulation, "triangulate", endless)
    with pytest.raises(pgm.OutOfTime), config(time_limit=2.5, progress=lambda *said: told.append(said[2])):
        net.query("x1499")
    assert stopped.wait(5.0)
    assert "looking for a tree" in told
