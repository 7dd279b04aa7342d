"""What cold reviews found, so that it stays found."""

from __future__ import annotations

import math
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import pgm
from pgm.inference.asking import failures
from pgm.runtime import running, threads
from pgm.runtime.clock import Clock


def pair() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("b", {True: 0.2, False: 0.4}, parents=["a"])
    return net


def test_virtual_evidence_on_another_variable_has_a_tree_of_its_own():
    asked_before, likelihood = pair(), pgm.Likelihood({True: 0.9, False: 0.2})
    asked_before.marginals({"a": likelihood})
    again = asked_before.marginals({"b": likelihood})["a"].values
    assert again == pytest.approx(pair().marginals({"b": likelihood})["a"].values, abs=1e-14)
    p = np.array([0.7 * (0.4 * 0.9 + 0.6 * 0.2), 0.3 * (0.2 * 0.9 + 0.8 * 0.2)])
    assert again == pytest.approx(p / p.sum(), abs=1e-14)


def test_counts_and_marginals_do_not_share_a_tree():
    mrf = pgm.MarkovNetwork()
    mrf.add_variable("a", [0, 1])
    mrf.add_variable("b", [0, 1, 2])
    mrf.add_factor(["a", "b"], [[1, 2, 3], [4, 5, 6]])
    mrf.marginals()
    assert mrf.expected_counts()[0] == pytest.approx(np.array([[1, 2, 3], [4, 5, 6]]) / 21)
    assert mrf.marginals()["a"].values == pytest.approx([6 / 21, 15 / 21])


def test_a_likelihood_in_the_condition_counts_once():
    net = pair()
    given = {"a": pgm.Likelihood({True: 0.8, False: 0.1})}
    assert net.probability({"a": True}, given=given) == pytest.approx(0.24 / 0.31, rel=1e-13)


def test_the_k_best_keep_their_order_far_below_the_best():
    net = pgm.BayesianNetwork()
    logs = {"a": -200, "b": -150, "c": -170, "d": -190}
    for name, log in logs.items():
        net.add(name, 10.0**log)
    found = [best.log_probability / math.log(10) for best in net.k_best(k=16)]
    sums = [sum(log for i, log in enumerate(logs.values()) if mask >> i & 1) for mask in range(16)]
    assert found == pytest.approx(sorted(sums, reverse=True), rel=1e-9, abs=1e-9)


def test_the_best_of_many_leaves_on_one_hub():
    net = pgm.BayesianNetwork()
    net.add("hub", 0.4)
    for i in range(2_000):
        net.add(f"leaf{i}", {True: 0.6, False: 0.3}, parents=["hub"])
    best = net.map({f"leaf{i}": True for i in range(1_500)})
    assert best["hub"] is True
    assert best["leaf1999"] is True


def test_a_gradient_of_a_table_of_logarithms_that_is_all_observed():
    mrf = pgm.MarkovNetwork()
    mrf.add_variable("a", ["x", "y"])
    mrf.add_factor(["a"], [0, -700], log=True)
    assert mrf.gradients({"a": "y"})[0][1] == pytest.approx(math.exp(700), rel=1e-9)
    assert mrf.gradients({"a": "y"})[0][0] == 0.0


def test_targets_that_are_all_observed_still_need_room():
    net = pgm.BayesianNetwork()
    names = [f"x{i}" for i in range(45)]
    for name in names:
        net.add(name, 0.5)
    with pytest.raises(pgm.TooLarge, match="answer alone"):
        net.query(names, dict.fromkeys(names, True))


def test_a_pickled_compiled_query_keeps_its_tables():
    net = pair()
    ask = net.compile("a", given=["b"])
    before = ask({"b": True})
    net.set("b", {True: 0.9, False: 0.1})
    assert pickle.loads(pickle.dumps(ask))({"b": True}) == before == ask({"b": True})
    assert net.query("a", {"b": True}) != before


def test_a_soft_that_cannot_be_had_is_named_by_a_compiled_query_too():
    net = pgm.BayesianNetwork()
    net.add("a", 0.0)
    net.add("b", {True: 1.0, False: 0.0}, parents="a")
    net.add("c", 0.5)
    with pytest.raises(pgm.InvalidEvidence, match="'b' = True"):
        net.compile("c", given="b")({"b": pgm.Soft({True: 0.5, False: 0.5})})


def test_many_kinds_of_missing_cells_agree_with_single_questions():
    net = pair()
    net.add(
        "c",
        {(True, True): 0.1, (True, False): 0.7, (False, True): 0.6, (False, False): 0.3},
        parents=["a", "b"],
    )
    rng = np.random.default_rng(0)
    frame = {name: column.astype(object) for name, column in net.sample(200, seed=1).items()}
    for column in frame.values():
        column[rng.random(200) < 0.4] = None
    logs, shares = net.log_likelihood(frame), net.predict_proba(frame, "a")
    for i in range(200):
        row = {name: column[i] for name, column in frame.items() if column[i] is not None}
        assert logs[i] == pytest.approx(net.log_probability(row), abs=1e-12)
        row.pop("a", None)
        assert shares[i] == pytest.approx(net.query("a", row).values, abs=1e-12)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_another_thread_holds_the_locks_of_a_model():
    net = pair()
    net.query("a")
    trees = net._compile().trees
    with net._lock, trees._lock:
        child = 0

        def fork():
            nonlocal child
            child = os.fork()  # in this child the thread that holds them does not exist
            if child == 0:
                answer = 1
                try:
                    net.set("b", {True: 0.7, False: 0.2})
                    answer = 0 if net.query("a", {"b": True}).exact else 1
                finally:
                    os._exit(answer)

        thread = threading.Thread(target=fork)
        thread.start()
        thread.join()
    end = time.time() + 60
    done = status = 0
    while not done and time.time() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not done:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert done
    assert status == 0


def test_a_long_run_in_a_thread_of_the_pool_stops_when_its_neighbour_fails():
    def endless(stop):
        while not stop[0]:
            time.sleep(0.001)
        return 1

    def fails(stop):
        time.sleep(0.05)
        raise ValueError("the neighbour")

    loops = SimpleNamespace(endless=endless, doing="waiting")
    clock = Clock(20.0, time.monotonic() + 20.0)
    long = threads.Task(lambda stop: running.run("endless", steps=1e12, clock=clock, module=loops), 1.0)
    begin = time.monotonic()
    with pgm.config(threads=2), pytest.raises(ValueError, match="the neighbour"):
        threads.run_all([long, threads.Task(fails, 1.0)], clock)
    assert time.monotonic() - begin < 5.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_answers_and_loads_loops_that_its_parent_never_wanted():
    script = """
        import os, threading, pgm
        net = pgm.BayesianNetwork(); net.add("a", 0.3); net.add("b", {True: 0.2, False: 0.4}, parents=["a"])
        net.query("a", {"b": True})
        lock = pgm.runtime.loops._BUILD._lock
        threading.Thread(target=lambda: (lock.__enter__(), threading.Event().wait()), daemon=True).start()
        child = os.fork()  # while another thread loads some
        if child == 0:
            good = abs(net.query("a", {"b": True})[True] - 0.06 / 0.34) < 1e-12
            os._exit(0 if good and net.sample(3, given={"b": True}, engine="gibbs") else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "0"


def test_a_tree_that_is_kept_knows_nothing_of_old_tables():
    net = pgm.BayesianNetwork()
    net.add("a", [0.5, 0.5], states=[False, True])
    net.add("b", [[0.5, 0.5], [1.0, 0.0]], parents=["a"], states=[False, True])
    net.add("c", [[0.9, 0.1], [0.2, 0.8]], parents=["b"], states=[False, True])
    assert net.marginals()["b"][False] == 0.75
    ask = net.compile("a", given=["c"])
    before = ask({"c": True})[True]
    net.set("a", [1.0, 0.0])  # a zero that was not there
    assert net.marginals()["b"][False] == 0.5
    assert net.query("a", {"c": True})[True] == 0.0
    net.set("a", [1e-300, 1.0])  # a scale that was not there
    assert net.query("a", {"b": True}).values.tolist() == [1.0, 0.0]
    assert net.probability({"b": True}) == 5e-301
    assert ask({"c": True})[True] == before


def switched() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("d", 0.5)
    rows = {True: pgm.LinearGaussian(sd=1.0), False: pgm.LinearGaussian(sd=2.0)}
    net.add("x", rows, parents=["d"])
    return net


def test_numbers_too_far_off_are_refused_not_answered_wrongly():
    net = switched()
    assert net.query("d", {"x": 4e4})[False] == 1.0  # the wider one
    for ask in (net.query, net.map):
        with pytest.raises(pgm.InvalidEvidence, match="'x'"):
            ask(*(["d"] if ask == net.query else []), {"x": 5e9})
    log = net.log_probability({"x": 3e4})
    assert log == pytest.approx(
        -((3e4 / 2) ** 2) / 2 - math.log(2 * math.sqrt(2 * math.pi)) - math.log(2), rel=1e-13
    )


def test_a_density_far_out_has_a_logarithm():
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, 1.0))
    assert net.log_probability({"x": 1e99}) == pytest.approx(-0.5e198, rel=1e-13)


def test_a_whole_number_past_all_floats_is_no_number():
    with pytest.raises(pgm.PGMError, match="'x'"):
        switched().query("d", {"x": 10**400})


def test_a_partition_function_just_past_a_double():
    mrf = pgm.MarkovNetwork()
    mrf.add_variable("a", states=[0, 1])
    mrf.add_factor(["a"], [709.9, -5], log=True)
    for engine in ("exact", "mean-field", "loopy"):
        assert mrf.log_partition(engine=engine) == pytest.approx(709.9, rel=1e-12)


def test_a_contradiction_is_only_called_smallest_if_it_is(monkeypatch):
    """Two of eleven findings exclude each other, the others say nothing."""
    net = pgm.BayesianNetwork()
    for i in range(10):
        net.add(f"x{i}", 0.5)
    net.add("z", {True: 0.0, False: 1.0}, parents=["x3"])
    given = {f"x{i}": True for i in range(10)} | {"z": True}
    whole, asked = failures.possible, []

    def refused(*args):
        asked.append(args)
        if len(asked) > allowed:
            raise pgm.TooLarge("no room")
        return whole(*args)

    monkeypatch.setattr(failures, "possible", refused)
    sizes = []
    for allowed in range(12):
        asked.clear()
        with pytest.raises(pgm.ImpossibleEvidence) as caught:
            net.query("x3", given)
        found, said = caught.value, str(caught.value)
        assert net.probability(found.contradiction) == 0.0
        assert found.smallest == (found.contradiction == {"x3": True, "z": True} and len(asked) <= allowed)
        assert ("but can be if any one of these is left out" in said) == found.smallest
        assert ("Fewer of these may already be impossible" in said) != found.smallest
        sizes.append(len(found.contradiction))
    assert sizes[0] == 11
    assert sizes == sorted(sizes, reverse=True)
    assert found.smallest


def test_a_contradiction_met_by_an_approximate_engine_is_not_called_smallest():
    """No tree fits, so that nothing can be left out for sure; the engine has proven the whole impossible."""
    mrf = pgm.MarkovNetwork()
    names = [f"v{i}" for i in range(24)]
    for name in names:
        mrf.add_variable(name, [0, 1])
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            mrf.add_factor([a, b], [[2.0, 1.0], [1.0, 2.0]])
    mrf.add_factor(["v0", "v1"], [[1.0, 0.0], [0.0, 1.0]])
    given = {"v0": 0, "v1": 1, "v2": 0}
    with pgm.config(memory_limit="100 kB"), pytest.raises(pgm.ImpossibleEvidence) as caught:
        mrf.marginals(given, engine="loopy")
    assert not caught.value.smallest
    assert "Fewer of these may already be impossible" in str(caught.value)
