"""The benchmarks run, agree with the peer, and add up; how fast anything is, is not tested here."""

from __future__ import annotations

import ast
import json
import random
import shutil
from typing import Any

import numpy as np
import pytest

import pgm
from benchmarks import (
    against,
    bridge,
    counting,
    drawing,
    growth,
    harness,
    hidden_markov,
    kalman,
    loopy,
    methods,
    mixtures,
    mutation,
    networks,
    overhead,
    pages,
    peers,
    processes,
    random_networks,
    reading,
    rows,
    sampling,
    smoothing,
    uai,
    weighted_constraints,
)
from benchmarks.harness import PYAGRUM, Options, Report, Result
from pgm.runtime.loops import Loops

QUICK = Options(networks=("asia",), rounds=1, sizes=(40, 400), rows=200, peer_rows=5, targets=2, seconds=5)
needs_networks = pytest.mark.skipif(
    not harness.NETWORKS.is_dir(), reason="the networks of shared/ are not here"
)
needs_problems = pytest.mark.skipif(not uai.UAI.is_dir(), reason="the problems of shared/ are not here")


@pytest.fixture(autouse=True)
def _briefly(monkeypatch):
    monkeypatch.setattr(harness, "WARM_UP", 0.01)
    monkeypatch.setattr(harness, "LONG_ENOUGH", 0.001)


def test_kalman_filters_agree_with_their_peers():
    pytest.importorskip("statsmodels")
    report = Report()
    kalman.run(report, QUICK)
    assert {r.race for r in report.results} == {"Kalman filter", "Kalman smooth"}
    assert {r.side for r in report.results} >= {"pgm", kalman.STATSMODELS}


def test_hidden_markov_models_agree_with_their_peers(monkeypatch):
    pytest.importorskip("hmmlearn")
    # What dynamax has compiled takes a minute; a run of the benchmark compares its answers each time.
    monkeypatch.setattr(hidden_markov, "_dynamax", lambda made, question: None)
    report = Report()
    hidden_markov.run(report, QUICK)
    questions = {f"HMM {what}" for what in ("score", "posteriors", "Viterbi", "Baum-Welch")}
    assert {r.race for r in report.results} == questions | {
        f"HMM of Gaussians, {form}" for form in ("diagonal", "full")
    }
    assert {r.side for r in report.results} >= {"pgm", hidden_markov.HMMLEARN}
    assert len(report.findings) == 12


def test_classifiers_in_networks_agree_with_themselves():
    pytest.importorskip("pandas")
    report = Report()
    bridge.run(report, Options(rounds=1, rows=500))
    assert len(report.results) == 8
    assert len(report.findings) == 4


def test_windows_and_curves_agree_with_their_peers():
    pytest.importorskip("statsmodels")
    report = Report()
    smoothing.run(report, Options(rounds=1, rows=100, races=("grid", "loess", "spline", "ten columns")))
    assert len(report.results) == 1 + 2 * 2 + 9


def test_every_method_of_the_families_is_run():
    pytest.importorskip("sklearn")
    report = Report()
    methods.run(report, Options(rows=60))
    assert len(report.findings) == 54
    assert {one.side for one in report.results} == {"pgm", methods.SCIKIT, methods.SCIPY}


def test_mixtures_agree_with_scikit_learn():
    pytest.importorskip("sklearn")
    report = Report()
    mixtures.run(report, Options(rounds=1, rows=2000))
    assert len(report.results) == 2 * 5
    assert len(report.findings) == 5


@needs_networks
def test_every_race_on_asia():
    pytest.importorskip("pyagrum")
    report = Report()
    networks.run(report, QUICK)
    races = {*networks.ALL.values(), networks.TARGET, networks.EVIDENCE}
    assert {r.race for r in report.results} == races
    for race in races:
        ours, theirs = report.of(race, "pgm")["asia"], report.of(race, PYAGRUM)["asia"]
        assert ours.seconds > 0
        assert theirs.ratio == pytest.approx(theirs.seconds / ours.seconds)


@needs_networks
def test_overhead_on_asia():
    report = Report()
    harness.load_loops()
    overhead.run(report, QUICK)
    found = {r.side: r.seconds for r in report.results}
    assert found["its compiled run"] > 0
    assert found["beyond all compiled"] <= found["beyond the run"] <= found["all of it"]
    for loops in Loops.every.values():
        assert not any(getattr(f, "__name__", "") == "call" for f in vars(loops).values())  # all put back


@needs_networks
def test_rows_of_alarm():
    pytest.importorskip("pyagrum")
    pytest.importorskip("pandas")
    report = Report()
    rows.run(report, Options(rounds=1, rows=200, peer_rows=5, targets=2))
    assert len(report.results) == 2 * 3
    assert len(report.findings) == 2


@needs_networks
def test_a_tenth_of_the_cells_is_observed():
    pytest.importorskip("pandas")
    net = pgm.read(harness.NETWORKS / "asia.bif.gz")
    frame, codes = rows.frame_of(net, 2000, 1)
    assert 0.08 < (codes >= 0).mean() < 0.12
    for i, (name, variable) in enumerate(net.variables.items()):
        seen = codes[:, i] >= 0
        assert frame[name].notna().to_numpy().tolist() == seen.tolist()
        assert list(frame[name][seen]) == [variable.states[c] for c in codes[seen, i]]


@needs_networks
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_sets_of_evidence_differ_and_are_possible(share):
    net = pgm.read(harness.NETWORKS / "asia.bif.gz")
    sets = networks.evidence_sets(net, share, 8)
    assert len(sets) == 8
    assert all(a != b for i, a in enumerate(sets) for b in sets[:i])
    assert all(len(given) == max(1, round(share * 8)) and net.probability(given) > 0 for given in sets)


def test_a_race_that_disagrees_has_no_winner():
    with pytest.raises(AssertionError, match="differ by"):
        harness.compete(
            Report(),
            "race",
            "case",
            lambda i: {"a": np.array([0.5, 0.5])},
            lambda i: {"a": np.array([0.5 + 1e-8, 0.5 - 1e-8])},
            questions=2,
            rounds=1,
        )


def test_a_peer_that_fails_is_a_note():
    report = Report()

    def fails(number):
        raise ValueError("not for it")

    harness.compete(report, "race", "case", lambda i: {}, fails, questions=2, rounds=1)
    assert [(r.side, r.seconds, r.note) for r in report.results] == [(PYAGRUM, None, "not for it")]


def test_a_peer_without_memory_counts_as_a_minute():
    report = Report()

    def fails(number):
        raise Exception("std::bad_alloc")

    harness.compete(report, "race", "case", lambda i: {}, fails, questions=2, rounds=1)
    ours, theirs = report.results
    assert theirs.seconds == 60.0
    assert theirs.ratio == pytest.approx(60.0 / ours.seconds)


def test_findings_of_a_race():
    report = Report()
    for case, nodes, ratio in (("a", 50, 4.0), ("b", 20, 16.0), ("c", 5, 0.5)):
        report.add(Result("race", case, "pgm", 1.0, 1.0, figures={"nodes": nodes, "new": 2.0}))
        report.add(Result("race", case, PYAGRUM, ratio, ratio, figures={"nodes": nodes}))
    harness.conclude(report, "race", 7.0)
    mean, new, slower = report.findings
    assert mean.found.startswith("8.0 (lowest 4.0, a)")
    assert mean.met is True
    assert new.found.startswith("4.0 (lowest 2.0)")
    assert slower.found == "c 0.50"
    assert slower.met is False


def test_what_is_known_of_libdai_is_carried_over():
    report = Report()
    race = networks.ALL[0.1]
    for case, ours, theirs in (("pigs", 0.002, 0.0338 * 2), ("link", 0.5, 80.0), ("alarm", 0.1, 0.00105 * 8)):
        report.add(Result(race, case, "pgm", ours, 1.0))
        report.add(Result(race, case, PYAGRUM, theirs, theirs / ours))
    networks.carry_over(report)
    found = report.of(race, "libDAI, carried over")
    assert set(found) == {"pigs", "link"}  # alarm's tree is small
    assert found["pigs"].seconds == pytest.approx(0.015 * 2)
    # No ratio of its own: this machine is the geometric mean of 2 and 8 times as slow as that of the table.
    assert found["link"].seconds == pytest.approx(0.179 * 4)
    assert [f.found for f in report.findings] == ["none"]


def test_growth():
    report = Report()
    growth.run(report, QUICK)
    assert {r.race for r in report.results} == {f"growth of {kind}" for kind in growth.KINDS}
    assert all(r.seconds > 0 for r in report.results)
    assert sum(r.ratio is not None for r in report.results) == 3 * 9
    for make in growth.KINDS.values():
        net, names = make(400)
        assert len(net.variables) == 400
        assert set(names) <= set(net.variables)


def test_stand_ins_are_dense_and_the_same_each_time():
    shape = random_networks.MIDDLE["dense44"]
    one, two = random_networks.dense(shape), random_networks.dense(shape)
    assert one == two
    assert len(one.variables) == shape.nodes
    for name, variable in one.variables.items():
        assert 5 <= len(variable.states) <= 60
        assert one.cpd(name).table().min() > 0.0
    assert 1.5e7 < one.plan().entries < 3e7


@needs_problems
def test_the_reader_of_uai_against_ours():
    path = uai.UAI / "MAR" / "Grids_11.uai.gz"
    cards, tables = uai.factors(path)
    net = pgm.read(path)
    assert cards == [len(v.states) for v in net.variables.values()]
    codes = np.random.default_rng(0).integers(0, cards)
    joint = dict(zip(net.variables, codes.tolist(), strict=True))
    with pgm.config(memory_limit="1 GB"):
        expected = net.log_probability(joint) + net.log_partition()
    assert uai.log_value(tables, codes.tolist()) == pytest.approx(expected, rel=1e-9)


@needs_problems
def test_a_problem_of_uai_in_processes():
    pytest.importorskip("pyagrum")
    report = Report()
    uai.run_marginals(report, Options(networks=("Promedus_31",), seconds=20))
    assert [(r.side, r.note) for r in report.results] == [("pgm", ""), ("pyAgrum", "")]
    assert all(f.met is not False for f in report.findings)


def test_a_process_that_fails_says_why():
    found = processes.ask("benchmarks.uai_worker", "nobody", "x", 1, 1, ".", seconds=60)
    assert "nobody" in found["failed"]


def test_what_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    report = Report()
    report.add(Result("race", "case", "pgm", 0.0021, 1.0))
    report.add(Result("beside", "one", "pgm", 0.5, 1.0))
    report.add(Result("beside", "one", PYAGRUM, 2.0, 4.0))
    report.find(harness.Finding("race", "2 ms", "1 ms", False))
    pages.keep("exact", report, QUICK)
    (kept,) = tmp_path.glob("*.json")
    content = json.loads(kept.read_text())
    assert content["results"][0] == {
        "race": "race",
        "case": "case",
        "side": "pgm",
        "seconds": 0.0021,
        "ratio": 1.0,
    }
    page = kept.with_suffix(".md").read_text()
    assert "| race | 2 ms | 1 ms | **no** |" in page
    assert "| case | pgm | 2.1 ms | 1.00 |  |" in page
    assert "| one | 500 ms (4) |" in page


SMALL = """
def f(a, b=1):
    \"\"\"What it says stays.\"\"\"
    if not a < b and len(b) == 2:
        raise ValueError(f"{a + 1} is too much")
    a[0] = pow(a, max(b + 3, b))
    return a in b
"""


def test_mutants_change_one_thing_each():
    made = {str(m) for seed in range(9) for m in mutation.mutants("f.py", SMALL, random.Random(seed))}
    assert {m for m in made if "raise" not in m} == {
        "`not a < b and len(b) == 2` becomes `not a < b or len(b) == 2`",
        "`not a < b` becomes `a < b`",
        "`a < b` becomes `a <= b`",
        "`a < b` becomes `a >= b`",
        "`len(b) == 2` becomes `len(b) != 2`",
        "`2` becomes `1`",
        "`2` becomes `3`",
        "`a[0] = pow(a, max(b + 3, b))` becomes `pass`",
        "`0` becomes `1`",
        "`0` becomes `-1`",
        "`pow(a, max(b + 3, b))` becomes `pow(max(b + 3, b), a)`",
        "`b + 3` becomes `b - 3`",
        "`3` becomes `2`",
        "`3` becomes `4`",
        "`a in b` becomes `a not in b`",
    }
    (removed,) = made - {m for m in made if "raise" not in m}
    assert removed.endswith("too much')` becomes `pass`")


def test_a_mutant_meets_the_tests_that_run_its_line(tmp_path):
    pytest.importorskip("coverage")
    (tests := tmp_path / "tests").mkdir()
    (room := tmp_path / "pgm" / "cpds").mkdir(parents=True)
    (room / "half.py").write_text("def half(x):\n    if x > 9:\n        return 9\n    return x / 2\n")
    load = "import runpy; half = runpy.run_path('pgm/cpds/half.py')['half']\n"
    checks = "def test_small():\n    assert half(4) == 2\ndef test_large():\n    half(10)\n"
    (tests / "test_half.py").write_text(load + checks)
    shutil.copy(harness.ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(harness.ROOT / "benchmarks", tmp_path / "benchmarks", ignore=lambda *_: ["results"])
    tree = mutation.Copy.__new__(mutation.Copy)
    tree.root = tmp_path
    took, lines = tree.lines(["tests"], 60.0)
    small, large = (f"tests/test_half.py::test_{name}" for name in ("small", "large"))
    assert set(took) == {small, large}
    assert (lines["pgm/cpds/half.py"]["3"], lines["pgm/cpds/half.py"]["4"]) == ([large], [small])
    text = (room / "half.py").read_text()
    made = {str(m): m for m in mutation.mutants("pgm/cpds/half.py", text, random.Random(0))}
    assert not tree.survives(made["`x / 2` becomes `x * 2`"], [small], 60.0)
    assert tree.survives(made["`x / 2` becomes `x * 2`"], [large], 60.0)
    assert (room / "half.py").read_text() == text


def test_survivors_that_change_nothing_are_said_to(monkeypatch):
    report = Report()
    one = mutation.Mutant("pgm/cpds/a.py", 3, 3, "return a", "a", "b", "")
    two = mutation.Mutant("pgm/inference/b.py", 4, 4, "c = 1", "1", "0", "")
    mutation.summarise(report, [(one, True), (two, False)], 5, 70)
    assert report.findings[0].found == "1 of 2; 0 of the survivors cannot be"
    assert not report.findings[0].met
    assert report.results[-1].note == "`a` becomes `b`"
    assert report.of("mutants", "tests")["pgm/inference"].figures == {"killed": 1.0, "survived": 0.0}
    monkeypatch.setitem(mutation.EQUIVALENT, ("pgm/cpds/a.py", "return a", "a", "b"), "b is a")
    mutation.summarise(report, [(one, True), (two, False)], 5, 70)
    assert report.results[-1].note == "`a` becomes `b`: b is a"
    assert report.findings[2].met


@pytest.mark.parametrize(("file", "line", "before", "after"), mutation.EQUIVALENT)
def test_a_verdict_is_about_a_line_that_is_there(file, line, before, after):
    text = (harness.ROOT / file).read_text()
    lines = text.splitlines()
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.expr | ast.stmt)]
    there = [n for n in nodes if lines[n.lineno - 1].strip() == line]
    assert before in [ast.unparse(n) for n in there]
    assert after != before


def test_nothing_is_asked_of_a_network_left_out():
    report = Report()
    for part in (overhead.run, rows.run, reading.run, random_networks.run):
        part(report, Options(networks=("cancer",)))
    assert report.results == []


def test_a_peer_fills_in_our_tables():
    pytest.importorskip("pyagrum")
    net = pgm.BayesianNetwork()
    net.add("a", {"x": 0.2, "y": 0.3, "z": 0.5})
    net.add("b", {"x": 0.1, "y": 0.6, "z": 0.7}, parents=["a"])
    net.add(
        "c",
        np.random.default_rng(0).dirichlet([1, 1, 1, 1], size=(2, 3)),
        parents=["b", "a"],
        states=range(4),
    )
    peer = peers.PyAgrum(net)
    given = {"c": 2}
    for name, values in peer.marginals(peer.evidence(given)).items():
        assert values == pytest.approx(net.query(name, given).values, abs=1e-12)
    assert peer.query("b", peer.evidence(given)) == pytest.approx(net.query("b", given).values, abs=1e-12)
    assert peer.probability(peer.evidence(given)) == pytest.approx(float(net.probability(given)), rel=1e-12)


@needs_problems
def test_belief_propagation_beside_its_peers():
    report = Report()
    loopy.run(report, Options(networks=("Grids_11", "Promedus_31"), rounds=1, sizes=(400,), seconds=1))
    after = [f"{loopy.ERRORS} after {sweeps} sweeps" for sweeps in (20, 100)]
    assert {r.race for r in report.results} == {loopy.IMAGE, loopy.BESIDE, *after}
    assert all(f.met is not False for f in report.findings if "100" not in f.wanted), report.findings
    for race in after:
        error = report.of(race, "pgm")["Promedus_31"].figures["error"]
        assert 0.0 < error < 0.2


def test_intervals_of_samplers_hold_the_truth():
    """A smaller sample than the benchmark's: 10 seeds, bounds that fail once in a million."""
    report = Report()
    sampling.run(report, Options(networks=(), rounds=1, sizes=(400,), seconds=1, races=(sampling.HOLDS,)))
    found = {(r.case, r.side): r.figures for r in report.results}
    assert ("Ising", "swendsen-wang") in found
    assert ("noisy-OR", "rejection") in found
    for figures in found.values():
        assert figures["mean"] > 0.8
        assert figures.get("log P", 1.0) >= 0.5


def test_crossings_are_those_of_the_lines():
    lines = [np.array(line, float) for line in ([[0, 0], [2, 2]], [[0, 2], [2, 0]], [[0, 2], [0, 3], [2, 3]])]
    assert drawing.crossings(lines) == 1
    square = np.array([[0.5, -1], [0.5, 3.2], [1.5, 3.5], [1.5, -1]])
    assert drawing.crossings([square, *lines]) == 7
    assert drawing.crossings([square]) == 0


@needs_networks
@pytest.mark.skipif(shutil.which(drawing.DOT) is None, reason="Graphviz is not installed")
def test_drawings_beside_dot():
    report = drawing.run(Options(networks=("alarm",)))
    found = {r.side: r.figures["crossings"] for r in report.results}
    assert set(found) == {"pgm", drawing.DOT}
    assert [finding.met for finding in report.findings] == [True]


@needs_problems
def test_a_formula_is_counted(monkeypatch):
    monkeypatch.setattr(counting, "WANTED", 1)
    report = Report()
    counting.run(report, Options(networks=("log-1.cnf",)))
    assert {r.side for r in report.results} >= {"pgm", "pgm, auto"}
    assert all(not r.note for r in report.results)
    assert all(f.met is not False for f in report.findings)


def test_weighted_constraints_have_the_solution_that_was_put_in(tmp_path):
    """No rule need be broken: the best costs less than one rule."""
    problem = weighted_constraints.planning(6, 4, 6, 0)
    path = tmp_path / "plan.uai.gz"
    weighted_constraints.write(path, problem)
    net = pgm.read(path)
    assert len(net.variables) == len(problem[0])
    assert net.map().log_joint > np.log(weighted_constraints.RULE)
    cards, tables = weighted_constraints.planted(12, 6, 20, 0.2, 5, 0)
    assert all(values.shape == tuple(cards[v] for v in scope) for scope, values in tables)


def test_a_checkout_beside_itself_gives_the_same_answers() -> None:
    options = against.Options(
        str(harness.ROOT), networks=("asia",), kinds=("one target",), rounds=1, seconds=0.01
    )
    report = against.run(options)
    assert [(r.race, r.case, r.side) for r in report.results] == [
        ("one target, 10 %", "asia", "other"),
        ("one target, 10 %", "asia", "this"),
    ]
    assert all(r.seconds is not None and r.seconds > 0 for r in report.results)
    assert [f.what.rpartition(": ")[2] for f in report.findings] == ["one target, 10 %", "asia", "all"]


def test_two_checkouts_that_disagree_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(against.Side):
        def ask(self, **question: Any) -> Any:
            found = super().ask(**question)
            return found | {"sum": found["sum"] + 1e-6} if question["do"] == "prepare" else found

    sides = iter([against.Side, Wrong])
    monkeypatch.setattr(against, "Side", lambda *args: next(sides)(*args))
    options = against.Options(
        str(harness.ROOT), networks=("asia",), kinds=("one target",), rounds=1, seconds=0.01
    )
    with pytest.raises(AssertionError, match="the answers differ"):
        against.run(options)
