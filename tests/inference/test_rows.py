"""Rows of a frame: whatever tree, lane and thread answers a row, it is the answer of a single question."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import pgm
from pgm.frames import reading
from pgm.inference.asking import frame_queries
from pgm.inference.engines import model_snapshot
from pgm.inference.trees.batching import compiled
from pgm.inference.trees.batching import lanes as batching
from pgm.runtime import threads
from pgm.runtime.clock import start_clock
from tests.loops.forms import baseline, interpreted
from tests.oracle import Known, Oracle
from tests.strategies import Case, models

DATA = st.data()


@contextlib.contextmanager
def forced(n_lanes: int | None = None, own: bool | None = None, n_threads: int = 1) -> Iterator[None]:
    """So many lanes and threads; every kind of row on a tree of its own, or all on one."""
    before = batching.lanes_for, frame_queries._OWN_TREE, frame_queries._OWN_TREE_FACTOR, threads._SHORT
    if n_lanes is not None:
        batching.lanes_for = lambda pool_size, n_rows: n_lanes  # type: ignore[assignment]
    if own is not None:
        frame_queries._OWN_TREE, frame_queries._OWN_TREE_FACTOR = (-1.0 if own else 1e9), 0.0
    if n_threads > 1:
        threads._SHORT = -math.inf
    try:
        with pgm.config(threads=n_threads):
            yield
    finally:
        batching.lanes_for, frame_queries._OWN_TREE, frame_queries._OWN_TREE_FACTOR, threads._SHORT = before  # type: ignore[assignment]


def close(found: Any, expected: Any) -> None:
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    assert np.all(np.abs(found - expected) <= 1e-12 * np.maximum(1.0, np.abs(expected))), (found, expected)


def same(a: Any, b: Any) -> None:
    """The same bits."""
    if isinstance(a, dict):
        assert list(a) == list(b)
        for name in a:
            same(a[name], b[name])
    else:
        assert a.dtype == b.dtype
        assert a.tolist() == b.tolist() if a.dtype == object else np.array_equal(a, b, equal_nan=True)


def drawn_frame(data: st.DataObject, case: Case, most: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Codes, -1 where missing, and the frame; rows repeat, columns are missing."""
    columns = data.draw(st.lists(st.sampled_from(case.names), unique=True))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n = data.draw(st.integers(1, most))
    gaps = data.draw(st.sampled_from([0.0, 0.1, 0.5, 0.9]))
    codes = {name: rng.integers(len(case.states[name]), size=n) for name in columns}
    for column in codes.values():
        column[rng.random(n) < gaps] = -1
    again = rng.integers(n, size=n)
    codes = {name: np.where(rng.random(n) < 0.3, column[again], column) for name, column in codes.items()}
    frame: dict[str, Any] = {
        name: [None if c < 0 else case.states[name][c] for c in codes[name]] for name in columns
    }
    if not columns:  # nothing is known of any row; a frame without any variable is refused
        codes[case.names[0]], frame[case.names[0]] = np.full(n, -1), [None] * n
    frame["no variable"] = [0] * n
    note(f"{case!r}\nframe = {frame}")
    return codes, frame


def answers(model: Any, frame: Any, target: str) -> list[Any]:
    return [
        model.log_likelihood(frame, bad_rows="missing"),
        model.predict_proba(frame, target, bad_rows="missing"),
        model.predict(frame, target, bad_rows="missing"),
        model.predict_proba(frame, bad_rows="missing"),
        model.predict(frame, bad_rows="missing"),
    ]


@given(data=DATA)
def test_all_marginals_of_every_row(data):
    case = data.draw(models(most=6))
    codes, frame = drawn_frame(data, case, 6)
    if not Oracle(case.plain).possible:
        return
    targets = data.draw(st.lists(st.sampled_from(case.names), min_size=1, max_size=4, unique=True))
    with forced(own=data.draw(st.sampled_from([None, True, False]))):
        shares = case.model.predict_proba(frame, bad_rows="missing")
        states = case.model.predict(frame, bad_rows="missing")
        several = case.model.predict_proba(frame, targets, bad_rows="missing")
    if len(targets) == 1:
        several = {targets[0]: several}
    assert list(shares) == list(states) == list(case.names)
    assert list(several) == targets
    for i in range(len(frame["no variable"])):
        for found, left_out in ((shares, []), (several, targets)):
            weights = {
                name: np.eye(len(case.states[name]))[codes[name][i]]
                for name in codes
                if codes[name][i] >= 0 and name not in left_out
            }
            oracle = Oracle(case.plain, Known(weights))
            for name, table in found.items():
                if not oracle.possible:
                    assert np.isnan(table[i]).all()
                    continue
                expected = oracle.posterior([name])
                close(table[i], expected)
                if found is shares:
                    best = case.states[name].index(states[name][i])
                    assert expected[best] >= expected.max() - 1e-12
                    if name in weights:
                        assert states[name][i] == case.states[name][codes[name][i]]


@given(data=DATA)
def test_the_same_bits_for_any_lanes_and_threads_and_all_forms_of_loops(data):
    case = data.draw(models(most=6))
    _, frame = drawn_frame(data, case, 40)
    if not Oracle(case.plain).possible:
        return
    target = data.draw(st.sampled_from(case.names))
    own = data.draw(st.booleans())
    with forced(1, own):
        alone = answers(case.model, frame, target)
    for n_lanes, n_threads in ((4, 1), (16, 2)):
        with forced(n_lanes, own, n_threads):
            for a, b in zip(alone, answers(case.model, frame, target), strict=True):
                same(a, b)
    frame = {name: column[:5] for name, column in frame.items()}
    with forced(16, own):
        alone = answers(case.model, frame, target)
    for form in (interpreted, baseline):
        with forced(4, own), form():
            for a, b in zip(alone, answers(case.model, frame, target), strict=True):
                same(a, b)


@given(data=DATA)
def test_rows_are_single_questions(data):
    case = data.draw(models())
    codes, frame = drawn_frame(data, case, 5)
    if not Oracle(case.plain).possible:
        return
    target = data.draw(st.sampled_from(case.names))
    with forced(own=data.draw(st.sampled_from([None, True, False]))):
        logs, table, _, shares, _ = answers(case.model, frame, target)
    for i in range(len(logs)):
        row = {name: case.states[name][column[i]] for name, column in codes.items() if column[i] >= 0}
        try:
            for name, distribution in case.model.marginals(row).items():
                close(shares[name][i], distribution.values)
            close(logs[i], case.model.log_probability(row))
        except pgm.ImpossibleEvidence:
            assert math.isnan(logs[i])
        row.pop(target, None)
        try:
            close(table[i], case.model.query(target, row).values)
        except pgm.ImpossibleEvidence:
            assert np.isnan(table[i]).all()


@given(data=DATA)
def test_scaling_and_split_cliques(data):
    """With bounds so narrow that every other message is scaled, cliques are split and lanes are given up."""
    case = data.draw(models(most=7))
    _, frame = drawn_frame(data, case, 6)
    if not Oracle(case.plain).possible:
        return
    target = data.draw(st.sampled_from(case.names))
    before = compiled.SAFE, compiled.DRIFT
    with forced(own=data.draw(st.booleans())), interpreted():
        alone = answers(case.model, frame, target)
        try:
            compiled.SAFE, compiled.DRIFT = data.draw(st.sampled_from([(60, 10), (30, 5), (1000, 3)]))
            again = answers(case.model, frame, target)
        finally:
            compiled.SAFE, compiled.DRIFT = before
    for a, b in (
        (alone[0], again[0]),
        (alone[1], again[1]),
        *((alone[3][n], again[3][n]) for n in case.names),
    ):
        assert np.array_equal(np.isnan(a), np.isnan(b))
        close(a[~np.isnan(a)], b[~np.isnan(b)])


# --- the ways that a row can take ---


def wet_grass() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("cloudy", 0.5)
    net.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    net.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    wet = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.0}
    net.add("wet", wet, parents=["rain", "sprinkler"])
    return net


def hub(n: int) -> tuple[pgm.BayesianNetwork, list[np.ndarray]]:
    """A class and n features whose likelihoods multiply far below the smallest double; their tables."""
    rng = np.random.default_rng(0)
    net = pgm.BayesianNetwork()
    net.add("class", {"a": 0.2, "b": 0.3, "c": 0.5})
    tables = [0.9 * rng.dirichlet([1.0] * 4) + 0.1 * rng.dirichlet([1.0] * 4, size=3) for _ in range(n)]
    for i, table in enumerate(tables):
        net.add(f"f{i}", table, parents=["class"], states=list("wxyz"))
    return net, tables


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("own", [True, False])
def test_a_hub_is_answered_in_lanes(gaps, own, monkeypatch):
    """1,500 features: the product leaves the range of doubles, and no row is answered by itself for that."""
    net, tables = hub(1500)
    drawn = net.sample(40, seed=0)
    rng = np.random.default_rng(1)
    frame = {
        name: np.where(rng.random(40) < gaps, None, column.astype(object))
        for name, column in drawn.items()
        if name != "class"
    }
    monkeypatch.setattr(frame_queries, "_one_row", None)
    logs = np.tile(np.log([0.2, 0.3, 0.5]), (40, 1))
    for (_, column), table in zip(sorted(frame.items(), key=lambda f: int(f[0][1:])), tables, strict=True):
        for i, state in enumerate(column):
            if state is not None:
                logs[i] += np.log(table[:, "wxyz".index(state)])
    top = logs.max(axis=1, keepdims=True)
    expected = np.exp(logs - top)
    with forced(own=own):
        shares = net.predict_proba(frame, "class")
        every = net.predict_proba({name: column[:8] for name, column in frame.items()})
        found = net.log_likelihood(frame)
    assert np.abs(shares - expected / expected.sum(axis=1, keepdims=True)).max() < 1e-9  # sums of logarithms
    assert np.abs(every["class"] - shares[:8]).max() < 1e-12
    assert np.allclose(found, top[:, 0] + np.log(expected.sum(axis=1)), rtol=1e-13, atol=0)
    for i in range(3):
        row = {name: column[i] for name, column in frame.items() if column[i] is not None}
        assert found[i] == pytest.approx(net.log_probability(row), rel=1e-13)
        assert shares[i] == pytest.approx(net.query("class", row).values, abs=1e-12)


def test_numbers_too_far_apart_are_answered_one_by_one():
    """Messages that span more than a double are noticed in their own lane, and only there."""
    net = pgm.BayesianNetwork()
    net.add("x0", [0.5, 0.5], states=["a", "b"])
    for i in range(1, 40):
        net.add(f"x{i}", [[1 - 1e-80, 1e-80], [1e-80, 1 - 1e-80]], parents=[f"x{i - 1}"], states=["a", "b"])
    rng = np.random.default_rng(0)
    frame = {f"x{i}": rng.choice(["a", "b", None], size=30, p=[0.2, 0.2, 0.6]) for i in range(40)}
    logs = net.log_likelihood(frame)
    shares = net.predict_proba({k: v for k, v in frame.items() if k != "x0"}, "x0")
    for i in range(30):
        row = {name: column[i] for name, column in frame.items() if column[i] is not None}
        assert logs[i] == pytest.approx(net.log_probability(row), rel=1e-13)
        row.pop("x0", None)
        assert shares[i] == pytest.approx(net.query("x0", row).values, abs=1e-12)


def test_complete_rows_are_sums_of_logarithms():
    net = wet_grass()
    frame = net.sample(500, seed=0)
    expected = []
    for i in range(500):
        row = {name: bool(column[i]) for name, column in frame.items()}
        values = [
            {True: 0.5, False: 0.5}[row["cloudy"]],
            abs((not row["sprinkler"]) - (0.1 if row["cloudy"] else 0.5)),
            abs((not row["rain"]) - (0.8 if row["cloudy"] else 0.1)),
            abs(
                (not row["wet"])
                - {(1, 1): 0.95, (1, 0): 0.9, (0, 1): 0.9, (0, 0): 0.0}[row["rain"], row["sprinkler"]]
            ),
        ]
        expected.append(math.fsum(map(math.log, values)))
    close(net.log_likelihood(frame), expected)


def test_impossible_rows_are_named_and_bad_cells_before_anything_runs():
    net = wet_grass()
    frame = {
        "sprinkler": [True, False, False, None],
        "rain": [True, True, False, None],
        "wet": [True, True, True, True],
    }
    with pytest.raises(pgm.ImpossibleEvidence, match="Row 2: "):
        net.predict_proba(frame)
    with pytest.raises(pgm.ImpossibleEvidence, match="Row 2: "):
        net.predict(frame, "cloudy")
    shares = net.predict_proba(frame, bad_rows="missing")
    assert all(np.isnan(table[2]).all() and not np.isnan(table[[0, 1, 3]]).any() for table in shares.values())
    states = net.predict(frame, bad_rows="missing")
    assert [states["wet"][i] for i in range(4)] == [True, True, None, True]
    frame["wet"] = [True, True, True, "soaked"]
    with pytest.raises(pgm.UnknownState, match="Row 3"):
        net.predict(frame)
    assert net.predict(frame, "cloudy", bad_rows="missing").tolist()[2:] == [None, None]
    assert math.isnan(net.log_likelihood(frame, bad_rows="missing")[3])


def test_what_is_asked_and_what_comes_back():
    net = wet_grass()
    frame = {"rain": [True, None], "wet": [None, True]}
    one = net.predict_proba(frame, "rain")
    same(one, net.predict_proba(frame, ["rain"]))
    same(net.predict(frame, "rain"), net.predict(frame, ["rain"]))
    assert one[0] == pytest.approx(net.query("rain").values)  # its own column is not read
    two = net.predict_proba(frame, ["rain", "wet"])
    assert list(two) == ["rain", "wet"]
    assert two["rain"][1] == pytest.approx(net.query("rain").values)
    every = net.predict_proba(frame)
    assert list(every) == list(net.variables)
    assert every["rain"][0].tolist() == [0.0, 1.0]
    filled = net.predict(frame)
    assert filled["rain"][0] == True  # noqa: E712
    assert filled["wet"].tolist() == [True, True]
    with pytest.raises(pgm.UnknownVariable):
        net.predict(frame, ["rain", "snow"])


def test_no_rows_and_no_columns():
    net = wet_grass()
    assert net.predict_proba({"rain": []}, "wet").shape == (0, 2)
    assert net.predict({"rain": []})["wet"].shape == (0,)
    assert net.log_likelihood([]).shape == (0,)
    for nothing in ([{}, {}, {}], {"rain": [None] * 3, "note": [1, 2, 3]}):
        every = net.predict_proba(nothing)
        assert every["wet"] == pytest.approx(np.tile(net.query("wet").values, (3, 1)))
        close(net.log_likelihood(nothing), [0.0, 0.0, 0.0])
    alone = net.predict_proba({"wet": [True, False]}, "wet")  # the target's own column is a variable's
    assert alone == pytest.approx(np.tile(net.query("wet").values, (2, 1)))


@pytest.mark.parametrize(
    "ask",
    [
        lambda net, frame: net.predict(frame, "rain"),
        lambda net, frame: net.predict(frame),
        lambda net, frame: net.predict_proba(frame, "rain"),
        lambda net, frame: net.log_likelihood(frame),
        lambda net, frame: net.score(frame),
        lambda net, frame: net.predict_proba(frame, "rain", bad_rows="missing"),
    ],
)
@pytest.mark.parametrize("numbers", [False, True])
def test_a_frame_without_any_variable_is_refused_and_a_slip_warned_of(ask, numbers):
    net = wet_grass()
    if numbers:
        net.add("height", pgm.Gaussian(0.0, 1.0))
    with pytest.raises(pgm.InvalidFrame, match=r"it has 'WET', 'note', .* Did you mean 'wet'\?"):
        ask(net, pd.DataFrame({"WET": [True], "note": ["x"]}))
    with pytest.raises(pgm.InvalidFrame, match="No column of the frame is a variable: it has 0, 1,"):
        ask(net, pd.DataFrame(np.zeros((2, 2))))
    with pytest.raises(pgm.InvalidFrame, match="No column"):
        ask(net, [{"Wet": True}])
    with pytest.warns(UserWarning, match="The column 'WET' is ignored, .* 'wet' has no column") as caught:
        ask(net, {"WET": [True], "cloudy": [True], "note": ["x"]})
    assert len(caught) == 1


def test_only_what_is_nearly_the_name_of_a_variable_without_a_column_is_warned_of(recwarn):
    net = pgm.BayesianNetwork()
    for name in ("x1", "blood pressure", "rain", "lung"):
        net.add(name, 0.5)
    for quiet in ("x2", "x12", "note", "id", "rain 2", 7, "LUNG"):  # the target's column is not read anyway
        net.predict({"x1": [True], quiet: [True]}, "lung")
        net.predict({"rain": [True], quiet: [True]}, "lung")
        net.predict({"blood pressure": [True], "Blood_Pressure": [True], quiet: [True]}, "lung")
    assert not recwarn.list
    slips = {"X1 ": "x1", "Blood_Pressure": "blood pressure", "rian": "rain", "rains": "rain"}
    for slip, meant in slips.items():
        with pytest.warns(UserWarning, match=f"'{slip}' is ignored, .* '{meant}' has no column") as caught:
            net.predict({"lung": [True], slip: [True]}, "lung")
        assert caught[0].filename == __file__


def test_targets_have_an_order():
    net = wet_grass()
    asked = {"rain", "wet"}
    for ask in (
        lambda: net.query(asked),
        lambda: net.marginals(targets=asked),
        lambda: net.map(targets=asked),
        lambda: net.k_best(targets=frozenset(asked)),
        lambda: net.plan(asked),
        lambda: net.compile(asked),
        lambda: net.predict({"cloudy": [True]}, asked),
        lambda: net.predict_proba({"cloudy": [True]}, asked),
        lambda: net.to_markov_network().query(asked),
    ):
        with pytest.raises(
            pgm.InvalidArgument, match="a set has no order, and answers keep that of the targets"
        ):
            ask()
    assert net.query(dict.fromkeys(["wet", "rain"]).keys()).names == ("wet", "rain")  # keys have one
    assert net.query(net.variables.keys()).names == tuple(net.variables)


def test_variables_of_one_state_or_in_no_factor():
    mrf = pgm.MarkovNetwork()
    mrf.add_variable("a", states=["x", "y"])
    mrf.add_variable("b", states=["only"])
    mrf.add_variable("c", states=["x", "y", "z"])
    mrf.add_factor(["a", "b"], [[1.0], [3.0]])
    frame = {"a": ["x", None, "y"], "b": ["only", None, "only"], "c": [None, "z", "y"]}
    close(mrf.log_likelihood(frame), np.log([0.25, 1 / 3, 0.25]))
    every = mrf.predict_proba(frame)
    close(every["a"], [[1, 0], [0.25, 0.75], [0, 1]])
    close(every["b"], [[1], [1], [1]])
    close(every["c"], [[1 / 3] * 3, [0, 0, 1], [0, 1, 0]])


def test_a_frame_whose_rows_do_not_fit_one_tree():
    """What each row observes makes its own tree small: a grid of 24 times 24, of which 60 % are observed."""
    rng = np.random.default_rng(0)
    grid = pgm.MarkovNetwork.grid(
        np.zeros((24, 24), int), states=[0, 1], coupling=1.5, unary=[[2, 1], [1, 2]]
    )
    frame = {name: rng.choice([0, 1, None], size=6, p=[0.3, 0.3, 0.4]) for name in grid.variables}
    target = "pixel[3,4]"
    with pgm.config(memory_limit="8 MB"):
        with pytest.raises(pgm.TooLarge):
            grid.query(target)
        shares = grid.predict_proba(frame, target)
        for i in range(6):
            row = {name: column[i] for name, column in frame.items() if column[i] is not None}
            row.pop(target, None)
            close(shares[i], grid.query(target, row).values)
        with pytest.raises(pgm.TooLarge, match="entries"):
            grid.predict_proba({name: np.resize(column, 1000) for name, column in frame.items()})


# --- threads, time, forks ---


def layered(width: int, depth: int, card: int) -> pgm.BayesianNetwork:
    rng = np.random.default_rng(0)
    net = pgm.BayesianNetwork()
    for i in range(depth):
        for j in range(width):
            parents = [f"v{i - 1}_{(j + s) % width}" for s in range(3)] if i else []
            table = rng.dirichlet(np.ones(card), size=(card,) * len(parents))
            net.add(f"v{i}_{j}", table, parents=parents, states=list(range(card)))
    return net


@pytest.mark.parametrize("what", ["one tree", "own trees"])
def test_time_that_runs_out_in_a_batch(what):
    net = layered(5, 6, 4)
    n = 20_000
    rng = np.random.default_rng(0)
    drawn = net.sample(n, seed=0)
    frame = {
        name: np.where(rng.random(n) < 0.9, None, column.astype(object)) for name, column in drawn.items()
    }
    net.predict_proba({name: column[:50] for name, column in frame.items()}, "v0_0")
    with forced(own=what == "own trees"), pgm.config(time_limit=0.3, threads=2):
        begin = time.perf_counter()
        with pytest.raises(pgm.OutOfTime):
            net.predict_proba(frame)
        # the time of reading the frame is not counted by the clock
        assert time.perf_counter() - begin < 3.0


def test_short_work_starts_no_thread(monkeypatch):
    net = wet_grass()
    monkeypatch.setattr(threads, "_start", None)
    net.predict_proba(net.sample(100, seed=0))


def test_an_error_in_a_task_stops_the_others():
    done = []

    def fail(stop: np.ndarray) -> None:
        raise ValueError("no")

    def work(stop: np.ndarray) -> list[threads.Task]:
        time.sleep(0.01)
        done.append(1)
        return [threads.Task(work, 1.0)]

    with pgm.config(threads=2), pytest.raises(ValueError, match="no"):
        threads.run_all(
            [threads.Task(work, 1.0), threads.Task(fail, 1.0)],
            start_clock(),
        )
    count = len(done)
    time.sleep(0.1)
    assert len(done) <= count + 1


def _ask(net: pgm.BayesianNetwork, frame: Any, out: Any) -> None:
    with forced(n_threads=2):
        out.put(net.predict_proba(frame, "rain").tolist())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_threads_work_after_a_fork():
    net = wet_grass()
    frame = net.sample(200, seed=0)
    with forced(n_threads=2):
        here = net.predict_proba(frame, "rain").tolist()
    context = multiprocessing.get_context("fork")
    out = context.Queue()
    child = context.Process(target=_ask, args=(net, frame, out))
    child.start()
    assert out.get(timeout=60) == here
    child.join(60)


@pytest.mark.parametrize("seed", range(30))
def test_dense_models_over_many_decades(seed):
    """Hubs are cut into pieces here; what a child sends belongs to the piece that takes it."""
    rng = np.random.default_rng(seed)
    net = pgm.MarkovNetwork()
    names = [f"v{i}" for i in range(7)]
    for name in names:
        net.add_variable(name, states=[0, 1])
    for _ in range(14):
        scope = rng.permutation(7)[: rng.integers(1, 4)]
        net.add_factor([names[i] for i in scope], 10.0 ** -rng.uniform(0, 60, (2,) * len(scope)))
    cells = [(None, 0, 1)[k] for k in rng.integers(0, 3, 7)]
    frame = {name: [cell, None] for name, cell in zip(names, cells, strict=True)}
    given = {name: cell for name, cell in zip(names, cells, strict=True) if cell is not None}
    expected = net.log_probability(given, engine="elimination")
    assert net.log_likelihood(frame)[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    found = net.predict_proba(frame, None)
    for name in names:
        if name not in given:
            close = net.query(name, given, engine="elimination").values
            assert found[name][0] == pytest.approx(close, abs=1e-9)
            assert net.predict_proba(frame, name)[0] == pytest.approx(close, abs=1e-9)


def test_one_cell_of_a_large_model_costs_no_look_at_every_variable(monkeypatch):
    chain = pgm.MarkovNetwork.grid(
        np.zeros((1, 2000), int), states=[0, 1], coupling=1.0, unary=[[0.9, 0.1], [0.2, 0.8]]
    )
    looked = Counter()
    named = model_snapshot._Named
    whole = named.__getitem__

    def counting(self, name):
        looked["at"] += 1
        return whole(self, name)

    def every(self):
        raise AssertionError("went through all variables")

    monkeypatch.setattr(named, "__getitem__", counting)
    monkeypatch.setattr(named, "__iter__", every)
    frame = {"note": ["x"], "pixel[0,1]": [1]}
    shares = chain.predict_proba(frame, "pixel[0,7]")
    assert looked["at"] < 20
    assert shares[0] == pytest.approx(chain.query("pixel[0,7]", {"pixel[0,1]": 1}).values, rel=1e-12)
    whole_row = chain.predict(frame)
    assert len(whole_row) == 2000
    assert whole_row["pixel[0,1]"].tolist() == [1]


@pytest.mark.parametrize("numbers", [False, True])
def test_reading_a_frame_counts_in_the_time(monkeypatch, numbers):
    net = pgm.BayesianNetwork()
    net.add("c", 0.5)
    for i in range(5):
        net.add(f"x{i}", {True: 0.7, False: 0.2}, parents=["c"])
    if numbers:
        net.add("y", pgm.LinearGaussian({}, bias=0.0, sd=1.0))
    read = []
    codes = reading._codes

    def slow(variable, column):
        read.append(variable.name)
        time.sleep(0.1)
        return codes(variable, column)

    monkeypatch.setattr(reading, "_codes", slow)
    frame = {f"x{i}": [True, False] for i in range(5)}
    with pgm.config(time_limit=0.05), pytest.raises(pgm.OutOfTime):
        net.predict(frame, "c")
    assert read == ["x0"]


# --- answers in kind ----------------------------------------------------------------------------------------

CELLS = {"wet": [True, None, False], "note": ["x", "y", "z"]}


def moody() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("rain", 0.2)
    net.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    net.add("mood", {True: [0.2, 0.8], False: [0.6, 0.4]}, parents=["rain"], states=["low", "high"])
    net.add("drops", {True: [0.2, 0.8], False: [0.7, 0.3]}, parents=["rain"], states=[0, "many"])
    return net


RAIN = [0.2 * 0.9 / 0.26, 0.2, 0.2 * 0.1 / 0.74]  # P(rain | wet), P(rain), P(rain | dry)


def test_pandas_in_pandas_out_with_its_index() -> None:
    pd = pytest.importorskip("pandas")
    net, frame = moody(), pd.DataFrame(CELLS, index=pd.Index(["a", "b", "c"], name="who"))
    rain = net.predict(frame, "rain")
    pd.testing.assert_series_equal(rain, pd.Series([True, False, False], index=frame.index, name="rain"))
    rain["a"] = False  # the user's own
    shares = net.predict_proba(frame, "rain")
    assert shares.index.equals(frame.index)
    assert shares.columns.tolist() == [False, True]
    assert shares.columns.name == "rain"
    assert shares[True].tolist() == pytest.approx(RAIN)
    assert shares.loc["b", False] == pytest.approx(0.8)
    several = net.predict(frame, ["mood", "drops"])
    expected = pd.DataFrame({"mood": ["high", "low", "low"], "drops": ["many", 0, 0]}, index=frame.index)
    pd.testing.assert_frame_equal(several, expected, check_dtype=False)
    assert net.predict(frame).columns.tolist() == list(net)
    both = net.predict_proba(frame, ["drops", "rain"])
    assert list(both) == ["drops", "rain"]
    assert both["drops"].columns.tolist() == [0, "many"]
    bad = net.predict(pd.DataFrame({"wet": [True, "damp"]}, index=[7, 3]), "rain", bad_rows="missing")
    assert bad.to_dict() == {7: True, 3: None}
    twice = pd.DataFrame([[1, 2, True]], columns=["note", "note", "wet"])
    assert net.predict(twice, "rain").tolist() == [True]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_polars_and_pyarrow_give_their_own_kind(library: str) -> None:
    module = pytest.importorskip(library)
    net, frame = moody(), module.table(CELLS) if library == "pyarrow" else module.DataFrame(CELLS)
    rain = net.predict(frame, "rain")
    assert type(rain).__module__.startswith(library)
    assert rain.to_pylist() == [True, False, False] if library == "pyarrow" else rain.name == "rain"
    shares = net.predict_proba(frame, "rain")
    assert type(shares) is type(frame)
    names = shares.column_names if library == "pyarrow" else shares.columns
    assert list(names) == ["False", "True"]
    assert np.asarray(shares["True"]).tolist() == pytest.approx(RAIN)
    dry = net.predict(frame[1:], ["mood", "drops", "rain"])  # states of two types are text, whichever are met
    assert [
        list(map(type, column))
        for column in zip(
            *map(dict.values, dry.to_pylist() if library == "pyarrow" else dry.to_dicts()), strict=True
        )
    ] == [[str] * 2, [str] * 2, [bool] * 2]
    bad = net.predict(
        module.table({"wet": ["yes"]}) if library == "pyarrow" else module.DataFrame({"wet": ["yes"]}),
        "mood",
        bad_rows="missing",
    )
    assert list(bad.to_pylist() if library == "pyarrow" else bad) == [None]


def test_states_that_are_written_alike_name_no_columns_of_polars() -> None:
    pl = pytest.importorskip("polars")
    net = pgm.BayesianNetwork()
    net.add("x", [0.5, 0.5], states=[(1,), "(1,)"])
    net.add("y", 0.5)
    with pytest.raises(pgm.InvalidFrame, match="'x' has states that are written alike"):
        net.predict_proba(pl.DataFrame({"y": [True]}), "x")


def test_what_is_no_frame_in_memory_gives_arrays() -> None:
    net = moody()
    lists = [dict(zip(CELLS, row, strict=True)) for row in zip(*CELLS.values(), strict=True)]
    lazy = [pytest.importorskip("polars").DataFrame(CELLS).lazy()]
    for frame in [CELLS, lists, *lazy]:
        assert isinstance(net.predict(frame, "rain"), np.ndarray)
        assert net.predict_proba(frame, "rain")[:, 1].tolist() == pytest.approx(RAIN)
        assert isinstance(net.predict(frame), dict)


def test_numbers_are_predicted_in_kind_too() -> None:
    pd = pytest.importorskip("pandas")
    net = pgm.BayesianNetwork()
    net.add("sex", {"f": 0.5, "m": 0.5})
    net.add("height", {"f": pgm.Gaussian(1.65, 0.07), "m": pgm.Gaussian(1.78, 0.07)}, parents=["sex"])
    frame = pd.DataFrame({"sex": ["m", "f"]}, index=[5, 6])
    assert net.predict(frame, "height").to_dict() == {5: pytest.approx(1.78), 6: pytest.approx(1.65)}
    assert net.predict_proba(pd.DataFrame({"height": [1.9]}, index=["you"]), "sex").loc["you", "m"] > 0.99
