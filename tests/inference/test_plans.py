"""What a plan says comes true: sizes, decisions, memory, and where the time went."""

from __future__ import annotations

import re
import time
import tracemalloc
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import pgm
from pgm.inference import trees
from pgm.inference.trees import sweeps
from tests.io.formats import reset_peak
from tests.machine import memory

NETWORKS = Path(__file__).resolve().parents[3] / "shared" / "networks"

# Entries of all cliques, nothing observed: what the triangulation must reach or beat.
ENTRIES = {"water": 3e4, "andes": 3.5e5, "pigs": 6.6e5, "diabetes": 1.1e7, "munin": 1.3e7, "link": 2.7e7}


def network(name: str) -> pgm.BayesianNetwork:
    path = NETWORKS / f"{name}.bif.gz"
    if not path.exists():
        pytest.skip("shared/networks is not here")
    return pgm.read(path)


@pytest.mark.parametrize("name", ENTRIES)
def test_trees_are_small(name):
    plan = network(name).plan()
    assert plan.entries <= ENTRIES[name]
    assert plan.bytes_inward <= plan.bytes_all
    assert plan.bytes_all < 40 * plan.entries + 4e6


def test_the_plan_says_which_tree_is_taken():
    net = network("alarm")
    assert net.plan().tree == "built once: nothing is observed"
    assert net.plan("HR", {"CVP": "LOW"}).tree.startswith("sliced by what is observed")
    assert "sliced" in repr(net.plan("HR", {"CVP": "LOW"}))
    munin = network("munin")
    known = {name: column[0] for name, column in list(munin.sample(1, seed=0).items())[:50]}
    assert munin.plan(None, known).tree.startswith("built for the reduced question")


def test_the_parts_of_a_question_add_up_to_the_whole():
    net = network("munin")
    net.marginals()
    known = {name: column[0] for name, column in list(net.sample(1, seed=0).items())[::9]}
    target = next(name for name in reversed(list(net.variables)) if name not in known)
    for ask in (
        net.marginals,
        lambda: net.marginals(known),
        lambda: net.query(target, known),
        lambda: net.probability(known),
        lambda: net.map(known),
        lambda: net.sample(100, given=known, seed=0),
    ):
        shares = []
        for _ in range(5):  # the machine may look elsewhere between two checks of the clock
            begin = time.perf_counter()
            answer = ask()
            whole = time.perf_counter() - begin
            profile = answer.report.profile
            parts = (profile.reduction, profile.triangulation, profile.run, profile.wrapping)
            assert min(parts) >= 0.0
            assert sum(parts) == pytest.approx(profile.total)
            shares.append(profile.total / whole)
        assert max(shares) <= 1.0
        assert max(shares) > 0.95
    assert repr(net.marginals().report.profile).startswith("reduction ")


def test_threads_give_the_same_bits(monkeypatch):
    net = network("munin")
    known = {name: column[0] for name, column in list(net.sample(1, seed=0).items())[::50]}
    monkeypatch.setattr(sweeps, "_WORTH_THREADS", 0.0)
    for given in (None, known):
        found = []
        for threads in (1, 2, 3):
            with pgm.config(threads=threads):
                found.append(np.concatenate([p.values for p in net.marginals(given).values()]))
        assert (found[0] == found[1]).all()
        assert (found[0] == found[2]).all()


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(trees, "_KEPT_BYTES", 100_000)
    net = network("alarm")
    names = list(net.variables)
    with pgm.config(memory_limit="1 MB"):
        for i in range(len(names) - 1):
            net.marginals({names[i]: net.variables[names[i]].states[0]})
        cache = net._compile().trees
        held = sum(tree.nbytes for tree in cache._trees.values())
        assert held == cache._bytes
        assert 0 < held <= 125_000


def test_a_report_says_where_the_time_went():
    report = network("alarm").query("HR", {"CVP": "LOW"}).report
    assert report.summary == "exact"
    assert str(report).startswith("exact; time: reduction ")
    for part in ("reduction", "triangulation", "run", "wrapping"):
        assert part in str(report)
        assert part in repr(report)


@pytest.mark.filterwarnings("ignore::pgm.ConvergenceWarning")
def test_the_plan_of_the_best_is_what_runs():
    Best = pgm.engines.Best
    seen = np.random.default_rng(14).integers(0, 2, (14, 14))
    mrf = pgm.MarkovNetwork.grid(seen, states=[0, 1], coupling=0.5, unary=[[0.7, 0.3], [0.4, 0.6]])
    plan = mrf.plan(engine=Best(seconds=60))
    assert (plan.engine, plan.exact, plan.fits) == ("best", True, True)
    assert 'engine="exact": exact within 60 s' in repr(plan)
    assert mrf.marginals(engine=Best(seconds=60)).report.engine == "exact"
    with pgm.config(memory_limit="900 kB"):  # the tree takes more, and less if some are conditioned on
        assert not mrf.plan("pixel[2,3]").fits
        plan = mrf.plan("pixel[2,3]", engine=Best(seconds=600))
        assert (plan.engine, plan.exact, plan.fits) == ("best", True, True)
        assert plan.runs > 1
        assert 'engine="conditioned": exact within' in repr(plan)
        found = mrf.query("pixel[2,3]", engine=Best(seconds=600))
        assert (found.exact, found.report.engine) == (True, "conditioned")
        assert found.values == pytest.approx(mrf.query("pixel[2,3]", engine="conditioned").values, abs=1e-13)
    assert found.values == pytest.approx(mrf.query("pixel[2,3]").values, abs=1e-12)
    plan = mrf.plan(engine=Best(seconds=1e-3))
    assert (plan.exact, plan.fits) == (False, True)
    text = repr(plan)
    assert "no exact answer is expected within" in text
    for name in ("clique-sequence", "loopy", "bounds", "importance"):
        assert f"'{name}'" in text
    assert not mrf.marginals(engine=Best(seconds=1e-3)).report.exact


@pytest.mark.parametrize("engine", ["search", "elimination"])
def test_engines_that_search_or_eliminate_say_when_they_ran(engine):
    mrf, rng = pgm.MarkovNetwork(), np.random.default_rng(0)
    for i in range(40):
        mrf.add_variable(f"x{i}", states=[0, 1])
    for i in range(38):
        table = np.ones((2, 2, 2))
        table[tuple(rng.integers(0, 2, 3))] = 0.0
        mrf.add_factor([f"x{i}", f"x{i + 1}", f"x{i + 2}"], table)
    profiles = [mrf.query("x0", engine=engine).report.profile for _ in range(5)]  # others may run beside
    assert min(p.run for p in profiles) > 10 * min(p.wrapping for p in profiles)


def test_a_joint_of_millions_takes_what_the_plan_says():
    net = network("alarm")
    names = list(net.variables)[:17]
    network("alarm").query(names)  # the compiler and the code are loaded: they are not part of the question
    net.query(names[:3])
    plan = net.plan(names)
    tracemalloc.start()
    try:
        joint = net.query(names)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert joint.values.size > 6e6
    assert 0.85 * plan.bytes < peak < 1.15 * plan.bytes
    others = tuple(range(2, 17))
    assert joint.values.sum(axis=others) == pytest.approx(net.query(names[:2]).values, rel=1e-12)


def test_a_dense_model_takes_what_its_plan_says():
    """The look-up of its one clique is most of it; no tracer of Python sees the loops that write it."""
    rng = np.random.default_rng(0)

    def dense(n: int) -> pgm.MarkovNetwork:
        mrf = pgm.MarkovNetwork()
        for i in range(n):
            mrf.add_variable(f"x{i}", states=[0, 1])
        for i, j in combinations(range(n), 2):
            mrf.add_factor([f"x{i}", f"x{j}"], rng.uniform(0.5, 1.0, (2, 2)))
        return mrf

    dense(18).query("x0")  # the code is loaded
    mrf = dense(24)
    plan = mrf.plan("x0")
    before = memory("VmRSS")
    if not before:
        pytest.skip("this system does not say what memory a process takes")
    reset_peak()
    mrf.query("x0")
    assert plan.bytes > 3.5e7
    assert memory("VmHWM") - before < 1.3 * plan.bytes


@pytest.mark.parametrize("given", [{}, {"HRBP": "LOW", "CVP": "LOW"}])
def test_samples_take_what_their_plan_says(given):
    net, n = network("alarm"), 100_000
    net.sample(10, given=given, seed=0)
    with pgm.config(memory_limit="1 MB"), pytest.raises(pgm.TooLarge) as refused:
        net.sample(n, given=given, seed=0)
    planned = refused.value.plan.bytes
    tracemalloc.start()
    try:
        with pgm.config(memory_limit=round(planned) + 1):
            net.sample(n, given=given, seed=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    room = 4e6 * 8  # of uniform numbers, drawn in parts
    assert planned - room < peak < planned + room
    assert f"{n * len(net.variables):.2g} values" in str(refused.value)


def test_a_plan_that_does_not_fit_says_what_would():
    """What it offers is then as good as it says: exact, and within the limit."""
    grid = pgm.MarkovNetwork.grid(
        np.zeros((10, 10), int), states=[0, 1], coupling=0.3, unary=[[0.6, 0.4], [0.3, 0.7]]
    )
    expected = grid.query("pixel[0,0]").values
    assert "it would fit" not in str(grid.plan("pixel[0,0]"))
    with pgm.config(memory_limit="170 kB"):
        plan = " ".join(str(grid.plan("pixel[0,0]")).split())
        assert 'it would fit engine="conditioned": 4 runs, one for each state of' in plan
        with pytest.raises(pgm.TooLarge, match='It would fit with engine="conditioned": 4 runs'):
            grid.query("pixel[0,0]")
        found = grid.query("pixel[0,0]", engine="conditioned")
    assert found.exact
    assert found.values == pytest.approx(expected, abs=1e-12)


def test_a_plan_says_what_wide_numbers_would_take():
    """The product of 30 tables may be too small for a double; where only roots are looked at, it may do."""
    mrf, rng = pgm.MarkovNetwork(), np.random.default_rng(0)
    names = [f"x{i}" for i in range(22)]
    for name in names:
        mrf.add_variable(name, states=[0, 1])
    for _ in range(30):
        mrf.add_factor(rng.permutation(names)[:12].tolist(), rng.choice([1e-30, 1.0], [2] * 12))
    plan = mrf.plan("x0")
    assert plan.bytes > 1.5 * plan.bytes_in_doubles
    with pgm.config(memory_limit=round(plan.bytes_in_doubles) + 1):
        assert mrf.plan("x0").fits
    assert "if doubles suffice" in repr(plan)
    assert plan.to_dict()["bytes_in_doubles"] == plan.bytes_in_doubles
    plain = network("alarm").plan("HR")
    assert plain.bytes == plain.bytes_in_doubles
    assert "if doubles suffice" not in repr(plain)


def gates() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    causes = [f"c{i}" for i in range(12)]
    for name in causes:
        net.add(name, 0.2)
    net.add("ill", pgm.NoisyOr(dict.fromkeys(causes, 0.5)))
    net.add("enough", pgm.AtLeast(3, causes))
    return net


@pytest.mark.parametrize("engine", ["auto", "bounds", "clique-sequence"])
def test_what_a_gate_hides_is_called_by_its_gate(engine):
    net = gates()
    for model in (net, net.to_markov_network()):
        plan = model.plan("c0", {"ill": True, "enough": True}, engine=engine)
        hidden = {name for name in (*plan.order, *plan.largest) if name not in net}
        assert hidden
        assert "auxiliary" not in repr(plan)
        for name in hidden:
            assert re.fullmatch(r"\(part \d+ of the gate of '(ill|enough)'\)", name)
        assert len(set(plan.order)) == len(plan.order)


def test_the_rows_of_a_factor_are_called_by_it():
    mrf = pgm.MarkovNetwork()
    names = [f"x{i}" for i in range(40)]
    for name in names:
        mrf.add_variable(name, states=[0, 1])
    mrf.add_factor(names, {(0,) * 40: 1.0, (1,) * 40: 2.0, (0, 1) * 20: 3.0})
    mrf.add_factor(["x0", "x1"], [[1.0, 2.0], [2.0, 1.0]])
    assert "(the rows of a factor of 'x39')" in mrf.plan("x0").order


def message(call: Callable[[], object], limit: float = 1e-9) -> str:
    with pgm.config(time_limit=limit), pytest.raises(pgm.OutOfTime) as late:
        call()
    return str(late.value)


def test_who_is_late_while_compiling_is_not_sent_to_another_engine(monkeypatch):
    net = pgm.load_network("asia")
    for call in (lambda: net.query("lung"), lambda: net.map(), lambda: net.compile("lung")):
        said = message(call)
        assert "The time went into compiling the model, which every engine needs. A compilation that" in said
        assert "approximate" not in said
    plain = pgm.BayesianNetwork()  # nothing here is impossible: no clock is looked at while it compiles
    plain.add("a", 0.5)
    plain.add("b", {True: 0.5, False: 0.25}, parents=["a"])
    said = message(lambda: plain.query("b"))
    assert "The time went into compiling the model, which is kept: ask again." in said


def test_who_is_late_learns_of_engines_that_can():
    net = pgm.load_network("asia")
    net.query("lung")  # it is compiled
    assert 'engine="loopy", ' in message(lambda: net.query("lung"))
    assert 'engine="bounds" or "best" would approximate it' in message(
        lambda: net.map(targets=["lung", "tub"])
    )
    for call in (
        lambda: net.query("lung", engine="mean-field"),  # it approximates, and is late all the same
        lambda: net.expected_counts(),  # these take no engine=
        lambda: net.gradients(),
        lambda: net.plan("lung"),
        lambda: net.compile("lung"),
    ):
        said = message(call)
        late = "This took longer than the time limit of 1e-09 s."
        assert said == f"{late} Allow more with pgm.set_config(time_limit=...)."
