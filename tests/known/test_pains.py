"""What users of other libraries run into (shared/design/pains.md): each row of exact inference is a test."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pandas as pd
import pytest

import pgm
from tests.known import book
from tests.machine import slowness

T, F = True, False


def asia() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("asia")
    net.add("tub", {"yes": 0.01, "no": 0.99}, states=["yes", "no"])
    net.add("lung", {"yes": 0.05, "no": 0.95}, states=["yes", "no"])
    either = {("no", "no"): {"no": 1.0}, ...: {"yes": 1.0}}
    net.add("either", either, parents=["tub", "lung"], states=["yes", "no"])
    net.add("dysp", {"yes": [0.8, 0.2], "no": [0.1, 0.9]}, parents=["either"], states=["yes", "no"])
    return net


# --- defects found by running the peers ---


def test_defect_1_scopes_of_uai_files_in_any_order(tmp_path):
    """`2 0 1` and `2 1 0` are different factors."""
    table = "0.1 0.9 0.7 0.3 0.2 0.8"
    for scope, cards, expected in (("0 1", "2 3", [1.7, 1.3]), ("1 0", "3 2", [1.0, 2.0])):
        rows = np.array([float(x) for x in table.split()]).reshape([int(c) for c in cards.split()])
        sums = rows.sum(axis=1) if scope == "0 1" else rows.sum(axis=0)
        assert sums == pytest.approx(expected)
        path = tmp_path / f"{scope[0]}.uai"
        path.write_text(f"MARKOV\n2\n2 3\n1\n2 {scope}\n\n6\n{table}\n")
        net = pgm.read(path)
        assert net.query(next(iter(net.variables))).values == pytest.approx(sums / sums.sum())


def test_defect_2_variables_of_one_state(tmp_path):
    path = tmp_path / "one.uai"
    path.write_text("MARKOV\n2\n1 2\n1\n2 0 1\n2\n 3.0 1.0\n")
    net = pgm.read(path)
    first, second = net.variables
    assert net.query(first).values.tolist() == [1.0]
    assert net.query(second).values == pytest.approx([0.75, 0.25])


def test_defect_3_numbers_of_bif_files_are_doubles(tmp_path):
    path = tmp_path / "a.bif"
    path.write_text(
        "network unknown {\n}\nvariable a {\n  type discrete [ 2 ] { yes, no };\n}\n"
        "probability ( a ) {\n  table 0.01, 0.99;\n}\n"
    )
    assert pgm.read(path).query("a").values.tolist() == [0.01, 0.99]


def test_defect_4_a_contradiction_that_was_pruned_away():
    net = asia()
    impossible = {"either": "yes", "lung": "no", "tub": "no"}
    assert net.probability(impossible) == 0.0
    with pytest.raises(pgm.ImpossibleEvidence) as caught:
        net.query("dysp", impossible)
    assert caught.value.contradiction == impossible


def test_defect_5_log_probability_of_a_thousand_findings():
    net = pgm.BayesianNetwork()
    net.add("v0", 0.5)
    for i in range(1, 2000):
        net.add(f"v{i}", {True: 0.6, False: 0.4}, parents=[f"v{i - 1}"])
    seen = {f"v{i}": bool(i % 4) for i in range(0, 2000, 2)}
    two_steps = {same: 0.6**2 + 0.4**2 if same else 2 * 0.6 * 0.4 for same in (True, False)}
    values = list(seen.values())
    expected = math.log(0.5) + sum(math.log(two_steps[a == b]) for a, b in itertools.pairwise(values))
    assert net.log_probability(seen) == pytest.approx(expected, rel=1e-12)


def test_defect_6_too_little_memory_says_how_much_is_missing():
    net = pgm.MarkovNetwork()
    for i in range(12):
        net.add_variable(f"v{i}", states=list(range(4)))
    for i in range(12):
        for j in range(i):
            net.add_factor([f"v{i}", f"v{j}"], np.ones((4, 4)))
    with pgm.config(memory_limit="1 MB"), pytest.raises(pgm.TooLarge, match="memory"):
        net.marginals()


def test_defect_8_virtual_evidence_leaves_the_model_alone():
    net = book.fig_14_5()
    before = net.copy()
    net.query("C", {"W": pgm.Likelihood({True: 0.8, False: 0.1})})
    net.marginals({"R": pgm.Soft({True: 0.5, False: 0.5})})
    assert net == before
    assert net.nodes == before.nodes


# --- what users complain about ---


def test_pain_1_the_size_is_known_before_anything_is_allocated():
    def pairs(n):
        net = pgm.BayesianNetwork()
        for i in range(n):
            net.add(f"a{i}", 0.5)
        for i in range(n):
            for j in range(i):
                net.add(f"b{i}_{j}", np.full((2, 2, 2), 0.5), parents=[f"a{i}", f"a{j}"], states=[F, T])
        return net, {f"b{i}_{j}": True for i in range(n) for j in range(i)}

    times = []
    for n in (45, 60, 60):  # the first compiles what it needs
        net, everything = pairs(n)
        start = time.thread_time()
        with pytest.raises(pgm.TooLarge) as caught:
            net.query("a0", everything)
        times.append(time.thread_time() - start)
    assert min(times[1:]) < slowness()
    assert caught.value.plan is not None
    assert str(net.plan("a0", everything))
    assert net.query("a0").exact  # without evidence everything is barren


def test_pain_2_rows_in_one_call():
    net = book.fig_14_5()
    frame = pd.DataFrame(net.sample(5_000, seed=1))
    table = np.asarray(net.predict_proba(frame.drop(columns="R"), "R"))
    assert table.shape == (5_000, 2)
    for i in (0, 1, 4_999):
        row = {name: bool(frame[name][i]) for name in "CSW"}
        assert table[i] == pytest.approx(net.query("R", row).values, abs=1e-12)


def test_pain_3_no_nan_and_no_number_on_impossible_evidence():
    net = asia()
    for ask in (
        net.marginals,
        net.map,
        lambda e: net.query(["dysp", "tub"], e),
        lambda e: net.k_best(e, k=2),
    ):
        with pytest.raises(pgm.ImpossibleEvidence):
            ask({"lung": "yes", "either": "no"})


def test_pain_4_states_keep_their_declared_order():
    net = pgm.BayesianNetwork()
    net.add("size", [0.2, 0.3, 0.5], states=["small", "medium", "large"])
    net.add("n", {"small": [1, 0, 0], ...: [0, 0.5, 0.5]}, parents=["size"], states=[10, 9, 2])
    assert net.query("size").states == ("small", "medium", "large")
    assert net.query("n", {"size": "large"}).values.tolist() == [0.0, 0.5, 0.5]
    assert net.query("n", {"size": "large"})[9] == 0.5
    for unknown in (0, "Large", "big"):
        with pytest.raises(pgm.UnknownState):
            net.query("n", {"size": unknown})


def test_pain_5_axes_in_the_order_asked():
    net = book.fig_14_5()
    a, b = net.query(["R", "S"], {"W": T}), net.query(["S", "R"], {"W": T})
    assert (a.names, b.names) == (("R", "S"), ("S", "R"))
    assert np.array_equal(a.values, b.values.T)


def test_pain_6_tables_by_name_in_every_form():
    rows = {("a", "x"): [0.1, 0.9], ("a", "y"): [0.2, 0.8], ("b", "x"): [0.3, 0.7], ("b", "y"): [0.4, 0.6]}
    as_dicts = {key: {"off": p, "on": q} for key, (p, q) in rows.items()}
    as_array = np.array(list(rows.values())).reshape(2, 2, 2)
    as_frame = pd.DataFrame(
        [(u, v, z, p) for (u, v), row in rows.items() for z, p in zip(("off", "on"), row, strict=True)],
        columns=["u", "v", "z", "p"],
    )
    nets = []
    for table in (rows, as_dicts, as_array, as_frame):
        net = pgm.BayesianNetwork()
        net.add("u", [0.5, 0.5], states=["a", "b"])
        net.add("v", [0.5, 0.5], states=["x", "y"])
        net.add("z", table, parents=["u", "v"], states=["off", "on"])
        nets.append(net)
    assert all(net == nets[0] for net in nets)
    assert nets[0].query("z", {"v": "y", "u": "a"})["on"] == pytest.approx(0.8)


def test_pain_7_an_unseen_category_says_so():
    net = book.fig_14_5()
    frame = {"C": [True, "maybe"], "W": [True, False]}
    with pytest.raises(pgm.PGMError, match="maybe"):
        net.predict(frame, "R")
    assert list(net.predict(frame, "R", bad_rows="missing"))[1] is None


@pytest.mark.parametrize(
    ("p", "fine"), [(0.3 + 1e-7, True), (0.3 + 1e-3, False), (-0.1, False), (np.nan, False)]
)
def test_pain_8_rows_off_by_rounding_are_divided_others_refused(p, fine):
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    table = {True: [0.7, p], False: [0.5, 0.5]}
    if fine:
        net.add("b", table, parents=["a"], states=["x", "y"])
        assert net.query("b", {"a": True}).values.sum() == pytest.approx(1.0, abs=1e-15)
    else:
        with pytest.raises(pgm.InvalidTable, match=r"'b'.*True"):
            net.add("b", table, parents=["a"], states=["x", "y"])
        assert net.nodes == ("a",)


def test_pain_11_more_variables_than_numpy_has_axes():
    n = 80
    net = pgm.BayesianNetwork()
    net.add("hub", 0.5)
    for i in range(n):
        net.add(f"leaf{i}", {True: 0.6, False: 0.4}, parents=["hub"])
    best = net.map({"leaf0": True})
    assert len(best) == n
    assert net.query("hub", {f"leaf{i}": True for i in range(n)})[T] == pytest.approx(1 / (1 + (2 / 3) ** n))


def test_pain_13_a_table_that_cannot_be_is_refused_before_it_is_made():
    net = pgm.BayesianNetwork()
    names = [f"u{i}" for i in range(50)]
    for name in names:
        net.add(name, 0.01)
    with pytest.raises(pgm.PGMError):
        net.add("x", {...: [0.5, 0.5]}, parents=names, states=[F, T])
    net.add("x", pgm.NoisyOr(dict.fromkeys(names, 0.5)))
    assert net.query("x")[T] == pytest.approx(1 - 0.995**50)


def test_pain_19_the_best_explanation_is_not_the_best_of_each():
    net = pgm.BayesianNetwork()
    net.add("a", {"x": 0.4, "y": 0.6})
    net.add("b", {"x": [1.0, 0.0, 0.0], "y": [0.2, 0.5, 0.3]}, parents=["a"], states=["p", "q", "r"])
    each = {name: d.mode() for name, d in net.marginals().items()}
    assert each == {"a": "y", "b": "p"}
    assert dict(net.map()) == {"a": "x", "b": "p"}
    assert net.map().probability == pytest.approx(0.4)
    assert dict(net.map(targets="a")) == {"a": "y"}
    assert [dict(x) for x in net.k_best(k=2)] == [{"a": "x", "b": "p"}, {"a": "y", "b": "q"}]


def test_pain_20_answers_say_that_they_are_exact():
    net = book.fig_14_5()
    assert net.query("C", {"W": T}).exact
    assert net.marginals({"W": T}).exact
    assert net.map({"W": T}).exact
    assert net.probability({"W": T}).exact


def test_pain_21_parts_that_have_nothing_to_do_with_each_other():
    net = book.fig_14_5()
    net.add("x", 0.25)
    net.add("y", {True: 0.5, False: 0.1}, parents=["x"])
    net.add("alone", {"a": 0.5, "b": 0.5})
    assert net.query(["C", "y"], {"W": T}).values == pytest.approx(
        np.outer(net.query("C", {"W": T}).values, net.query("y").values)
    )
    assert len(net.junction_tree().cliques) == 4
    assert net.probability({"W": T, "y": T}) == pytest.approx(0.65125 * 0.2)


def test_pain_25_questions_change_nothing():
    net = book.fig_14_5()
    before = net.copy()
    given = {"W": True, "R": pgm.OneOf(True)}
    told = dict(given)
    net.marginals(given)
    net.map(given, targets=["C"])
    net.sample(3, given=given, seed=0)
    net.do({"S": True}).query("W")
    assert net == before
    assert given == told


def test_asked_too_noisy_or_that_does_not_expand():
    net = pgm.BayesianNetwork()
    causes = {f"u{i}": 0.1 for i in range(300)}
    for name in causes:
        net.add(name, 0.02)
    net.add("x", pgm.NoisyOr(causes))
    assert net.query("x")[T] == pytest.approx(1 - 0.998**300)


def test_asked_too_soft_evidence_is_the_marginal_afterwards():
    net = book.fig_14_5()
    soft = net.marginals({"R": pgm.Soft({True: 0.9, False: 0.1})})
    assert soft["R"][T] == pytest.approx(0.9)
    rainy, dry = (net.query("C", {"R": r})[T] for r in (True, False))
    assert soft["C"][T] == pytest.approx(0.9 * rainy + 0.1 * dry)
