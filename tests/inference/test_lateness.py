"""The clock is looked at often: pieces of work are counted here, since seconds depend on the machine."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.errors import OutOfTime
from pgm.evidence import observe
from pgm.graphs import triangulation
from pgm.inference import trees
from pgm.inference.asking import compiled_model
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.elimination import prepared as elimination
from pgm.inference.engines.exact.prepared import prepare as prepare_exact
from pgm.inference.engines.loopy import propagation
from pgm.inference.engines.loopy.prepared import prepare as prepare_loopy
from pgm.runtime import running
from pgm.runtime.clock import Clock
from tests.graphs import twins

STOP, GO = np.ones(1, np.uint8), np.zeros(1, np.uint8)


def grid(n: int) -> pgm.MarkovNetwork:
    rng, mrf = np.random.default_rng(0), pgm.MarkovNetwork()
    for i in range(n):
        for j in range(n):
            mrf.add_variable(f"{i},{j}", states=[0, 1, 2])
            mrf.add_factor([f"{i},{j}"], rng.normal(size=3), log=True)
            for other in (f"{i - 1},{j}", f"{i},{j - 1}"):
                if other in mrf.variables:
                    mrf.add_factor([other, f"{i},{j}"], rng.normal(size=(3, 3)), log=True)
    return mrf


class Checks(Clock):
    """A clock that counts how often it is looked at, and is up after this many times."""

    __slots__ = ("left", "looks")

    def __init__(self, most: float = np.inf) -> None:
        super().__init__(None, None)
        self.looks, self.left = 0, most

    def check(self, doing: str = "working") -> None:
        self.looks += 1
        if self.looks > self.left:
            raise OutOfTime("up")

    def remaining(self) -> float:
        return np.inf if self.looks < self.left else 0.0


def test_one_large_step_of_elimination_goes_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight neighbours of one hub: a table of 3**9 entries, by blocks of at most 100, with the same bits."""
    rng, mrf = np.random.default_rng(0), pgm.MarkovNetwork()
    names = [f"x{i}" for i in range(9)]
    tables = {}
    for name in names:
        mrf.add_variable(name, states=[0, 1, 2])
    for i in range(9):
        for j in range(i):
            tables[j, i] = rng.random((3, 3))
            mrf.add_factor([names[j], names[i]], tables[j, i])
    whole = mrf.log_partition(engine="elimination")
    joint = np.einsum(*[x for (j, i), t in tables.items() for x in (t, [j, i])], [])
    assert whole == pytest.approx(np.log(joint), rel=1e-12)
    monkeypatch.setattr(elimination, "_BLOCK", 100)
    snapshot = mrf._compile()
    clocks = [Checks(), Checks(20)]
    prepared = [
        elimination.prepare(pgm.engines.Elimination(), snapshot, observe(mrf.variables, {}), None, clock)
        for clock in clocks
    ]
    mantissa, exponent = prepared[0].total()
    assert np.log(mantissa) + exponent * np.log(2.0) == pytest.approx(whole, rel=1e-15)
    assert clocks[0].looks > 3**9 / 100
    with pytest.raises(OutOfTime):
        prepared[1].total()
    assert clocks[1].looks == 21


def test_loops_stop_where_they_are_told_to() -> None:
    full = twins.nx.complete_graph(30)
    indptr, indices = twins.arrays(full)
    found = np.zeros(30)
    triangulation.LOOPS.missing_edges(indptr, indices, np.ones(30), found, GO)
    assert not found.any()
    triangulation.LOOPS.missing_edges(indptr, indices, np.ones(30), found, STOP)
    assert found.all()  # no triangle was looked at
    order = np.arange(30, dtype=np.int32)
    assert [
        triangulation.LOOPS.ordered(indptr, indices, np.ones(30), order, np.inf, s)[0] for s in (GO, STOP)
    ] == [0, 1]
    stopped = triangulation.triangulate(indptr, indices, np.ones(30), order=order, stop=STOP)
    assert stopped.stopped
    assert not stopped.complete
    links = running.CUTS.link(3, np.array([0, 1], np.int32), np.array([1, 2], np.int32))
    first, head, sister = links[:3]
    excess, tree = np.array([9, 0, 0]), np.full(3, 1, np.uint8)
    for stop, status in ((GO, 0), (STOP, 1)):
        reached = np.zeros(3, np.uint8)
        args = first, head, sister, np.full(4, 5), excess, tree, 1, 1, reached, stop
        assert running.CUTS.firm(*args) == status
        assert reached.sum() == (1 if status else 3)


@pytest.mark.parametrize(("limit", "watched"), [(None, False), (60.0, True)])
def test_a_limit_is_watched_while_a_tree_of_a_small_graph_is_sought(
    limit: float | None, watched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A grid of 400 cells has 1,520 neighbours; a better order is sought for half a second."""
    doing: list[str] = []

    def beside(work: Any, args: Any, stop: Any, clock: Any, what: str = "", **more: Any) -> Any:
        doing.append(what)
        return work(*args, stop)

    monkeypatch.setattr(triangulation, "beside", beside)
    with pgm.config(time_limit=limit):
        grid(6).plan("3,3")
    assert ("looking for a tree" in doing) == watched


def test_laying_out_a_wide_tree_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    doing: list[str] = []

    def beside(work: Any, args: Any, stop: Any, clock: Any, what: str = "") -> Any:
        doing.append(what)
        if len(doing) > 1:
            stop[0] = 1
        return work(*args, stop)

    monkeypatch.setattr(trees, "beside", beside)
    monkeypatch.setattr(trees, "_WIDE", 1.0)
    mrf = grid(3)
    found = mrf.query("1,1")
    assert doing == ["laying out a tree"]
    assert found.values == pytest.approx(mrf.query("1,1", engine="elimination").values, rel=1e-12)


def test_what_cannot_be_stopped_is_not_waited_for() -> None:
    begun, end = threading.Event(), threading.Event()

    def deaf(_: np.ndarray) -> None:
        begun.set()
        end.wait(60)

    clock = Clock(0.05, time.monotonic() + 0.05)
    try:
        with pytest.raises(OutOfTime):
            running.beside(deaf, (), np.zeros(1, np.uint8), clock, wait=0.0)
        assert begun.is_set()
        assert not end.is_set()
        left = [thread for thread in running._left_running if thread.is_alive()]
    finally:
        end.set()
    running._let_end()  # as at exit: until then a solver in C++ would abort the process
    assert len(left) == 1
    assert not left[0].is_alive()


def test_where_time_is_limited_shorter_loops_are_watched() -> None:
    done: list[str] = []
    loops: Any = SimpleNamespace(work=lambda stop: done.append(threading.current_thread().name), doing="work")
    for clock in (Clock(None, None), Clock(60.0, time.monotonic() + 60.0)):
        for steps in (1e5, 1e7, 1e9):
            running.run("work", steps=steps, clock=clock, module=loops)
    here = threading.current_thread().name
    assert done == [here, here, "pgm-run", here, "pgm-run", "pgm-run"]


def test_states_are_read_from_messages_when_time_is_up_and_not_tried_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mrf = grid(8)
    calls: list[bool] = []
    run = propagation.run

    def counted(name: str, *args: Any, **more: Any) -> None:
        if name == "choose":
            calls.append(bool(args[5]))
        run(name, *args, **more)

    monkeypatch.setattr(propagation, "run", counted)
    posterior = make_posterior(mrf._compile(), observe(mrf.variables, {}), Clock(None, None))
    assert posterior is not None
    for most in (np.inf, 12):
        calls.clear()
        options = pgm.engines.Loopy(tol=0.0, max_iter=30)
        ready = prepare_loopy(options, mrf._compile(), observe(mrf.variables, {}), None, Checks(most))
        found = ready.explained(None, 1)[0][0]
        assert len(found.codes) == 64
        assert calls[0] is False
        assert (len(calls) == 1) == (most == 12)


def test_what_is_compiled_for_a_question_is_compiled_within_its_time() -> None:
    """Ten continuous variables, their means by states of their own, and the sum: 2**10 configurations."""
    net = pgm.BayesianNetwork()
    for i in range(10):
        net.add(f"d{i}", 0.3)
        rows = {s: pgm.LinearGaussian(bias=float(s), sd=0.3) for s in (False, True)}
        net.add(f"x{i}", rows, parents=[f"d{i}"])
    names = [f"x{i}" for i in range(10)]
    net.add("sum", pgm.LinearGaussian(weights=dict.fromkeys(names, 1.0), sd=1.0), parents=names)
    snapshot = net._compile()
    observed = observe(net.variables, {"sum": 4.0})
    for whole in (Checks(), Checks()):  # the second finds the tree that the first has made
        prepare_exact(pgm.engines.Exact(), snapshot, observed, None, whole).total()
    assert whole.looks >= 8
    for most in range(whole.looks):
        with pytest.raises(OutOfTime):
            prepare_exact(pgm.engines.Exact(), snapshot, observed, None, Checks(most)).total()


def test_naming_the_samples_of_many_variables_is_watched() -> None:
    mrf = pgm.MarkovNetwork()
    for i in range(2_500):
        mrf.add_variable(f"x{i}", states=[0, 1])
    compiled, looks = mrf._compile(), []
    for ask in ("sample", "sample", "samples"):  # the first finds a tree, which the others share
        clock, rng = Checks(), np.random.default_rng(0)
        posterior = make_posterior(compiled, observe(mrf.variables, {}), clock)
        posterior.sample(1, rng) if ask == "sample" else posterior.samples(compiled.variables, 1, rng)
        looks.append(clock.looks)
    assert looks[2] - looks[1] == 3


def test_compiling_many_factors_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the parts, and between the steps that join them; a model that was late can be asked again."""
    monkeypatch.setattr(compiled_model, "_SHORT", -1.0)
    n, mrf = 3000, pgm.MarkovNetwork()
    for i in range(n):
        mrf.add_variable(f"x{i}", states=[0, 1])
        mrf.add_factor([f"x{i}"], [1.0, 1.0 + i])
    for most in range(2 * (n // 1024)):
        with pytest.raises(OutOfTime):
            mrf._compile_in(Checks(most))
    clock = Checks()
    mrf._compile_in(clock)
    assert clock.looks > 2 * (n // 1024) + 5
    assert mrf.log_partition() == pytest.approx(np.log(2.0 + np.arange(n)).sum(), rel=1e-12)
