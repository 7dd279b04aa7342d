"""Junction trees with their tables: against sums in rationals over all states."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import pgm
from tests.strategies import knowledge, models


def grass() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("wet grass")
    net.add("cloudy", 0.5)
    net.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    net.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    rows = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}
    net.add("wet", rows, parents=["rain", "sprinkler"])
    return net


@given(st.data())
def test_tables_are_sums_over_all_states(data: st.DataObject) -> None:
    """For any order of elimination, any root and any evidence that is an event."""
    case = data.draw(models())
    question = data.draw(knowledge(case))
    note(f"{case!r}\ngiven = {question.given}")
    oracle = question.oracle(case)
    order = data.draw(st.none() | st.permutations(case.names))
    root = data.draw(st.none() | st.sampled_from(case.names))
    tree = case.model.junction_tree(question.given, order=order, root=root)
    assert order is None or tree.order == tuple(order)
    if not oracle.possible:
        with pytest.raises(pgm.ImpossibleEvidence):
            _ = tree.beliefs
        return
    total = float(oracle.partition)
    assert math.exp(tree.total.log) == pytest.approx(total, rel=1e-9)
    for clique, table in zip(tree.cliques, tree.beliefs, strict=True):
        assert table.names == clique
        values = np.exp(table.values) if table.log else table.values
        np.testing.assert_allclose(values / values.sum(), oracle.posterior(clique), atol=1e-12)
        if len(tree.edges) == len(tree) - 1:
            assert values.sum() == pytest.approx(total, rel=1e-9)
    for separator, table in zip(tree.separators, tree.separator_beliefs, strict=True):
        values = np.exp(table.values) if table.log else table.values
        np.testing.assert_allclose(values / values.sum(), oracle.posterior(separator), atol=1e-12)
    sent = [(m.sender, m.receiver, m.inward) for m in tree.messages]
    pairs = [(tree.cliques[c], tree.cliques[p]) for c, p in tree.edges]
    assert sorted(sent) == sorted([(c, p, True) for c, p in pairs] + [(p, c, False) for c, p in pairs])
    assert [inward for *_, inward in sent] == [True] * len(pairs) + [False] * len(pairs)
    for i, (sender, receiver, inward) in enumerate(sent):  # each has heard before it speaks
        for other, to, way in sent:
            if to == sender and other != receiver and (way or not inward):
                assert sent.index((other, to, way)) < i
    if root is not None:
        last = next(c for c, p in zip(tree.cliques, tree.parent, strict=True) if p < 0 and root in c)
        assert root in last


def test_in_print_and_as_text() -> None:
    tree = grass().junction_tree({"wet": True}, root="wet")
    assert str(tree).splitlines()[0] == "CliqueTree(2 cliques, 4 variables, width 2)"
    assert str(tree.messages[0]).splitlines() == [
        "Message(cloudy, sprinkler, rain -> sprinkler, rain, wet; inward)",
        "Potential(sprinkler, rain)",
        "sprinkler  rain   value",
        "False      False  0.315",
        "False      True   0.385",
        "True       False  0.235",
        "True       True   0.065",
    ]
    assert tree.trace.header == ("step", "pass", "from", "to", "over", "entries")
    assert [row[:2] for row in tree.trace] == [("1", "inward"), ("2", "outward")]
    assert tree.trace[1][-1] == "0.100000 0.900000 0.900000 0.950000"
    assert tree.assigned[0] == ("P(cloudy)", "P(sprinkler | cloudy)", "P(rain | cloudy)")
    assert tree.assigned[1] == ("P(wet | rain, sprinkler)", "evidence on wet")
    assert "cloudy, sprinkler, rain" in tree.messages[0]._repr_html_()


def test_the_tables_are_those_of_the_moment() -> None:
    net = grass()
    tree = net.junction_tree({"wet": True})
    net.set("cloudy", 0.9)
    assert tree.total == pytest.approx(0.65125)
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    assert hash(again) == hash(tree)
    assert again.beliefs == tree.beliefs
    assert tree.total.given == {"wet": True}


def test_an_order_decides_the_cliques() -> None:
    ring = pgm.BayesianNetwork(edges="a -> b -> c -> d; a -> d")
    tree = ring.junction_tree(order=["b", "a", "c", "d"])
    assert set(map(frozenset, tree.cliques)) == {frozenset("abc"), frozenset("acd")}
    with pytest.raises(pgm.InvalidArgument, match="each of the 4 nodes once"):
        ring.junction_tree(order=["b", "a"])
    with pytest.raises(pgm.IncompleteModel):  # the tree needs no tables, its numbers do
        _ = tree.potentials


def test_long_chains_are_in_logarithms() -> None:
    """P(all heads) = 2 ** -n, which is not a double."""
    net, n = pgm.BayesianNetwork(), 1500
    net.add("x0", 0.5)
    for i in range(1, n):
        net.add(f"x{i}", {True: 0.5, False: 0.5}, parents=[f"x{i - 1}"])
    tree = net.junction_tree(dict.fromkeys(net, True))
    assert tree.total.log == pytest.approx(-n * math.log(2), rel=1e-12)
    assert tree.total == 0.0
    assert all(table.log for table in (*tree.beliefs, *tree.potentials))
    assert tree.beliefs[7].values.max() == pytest.approx(-n * math.log(2), rel=1e-12)
    assert tree.trace.header[-1] == "log entries"


def test_what_has_no_tables_is_said() -> None:
    apart = pgm.MarkovNetwork()
    apart.add_variable("a", states=[0, 1])
    apart.add_factor("a", [1e-200, 1.0])
    apart.add_factor("a", [1e-200, 1.0])
    with pytest.raises(pgm.TooLarge, match="differ by more than a double can hold"):
        _ = apart.junction_tree().beliefs
    wide = pgm.BayesianNetwork()
    for i in range(40):
        wide.add(f"c{i}", 0.5)
    wide.add("any", pgm.NoisyOr(dict.fromkeys(wide, 0.5)))
    tree = wide.junction_tree()
    assert tree.width == 40
    with pytest.raises(pgm.TooLarge, match=r"with the beliefs and the messages, take about .* are allowed"):
        _ = tree.potentials
    mixed = pgm.BayesianNetwork()
    mixed.add("x", pgm.Gaussian(0.0, 1.0))
    mixed.add("y", pgm.LinearGaussian({"x": 1.0}))
    with pytest.raises(pgm.InvalidStructure, match="cliques of continuous variables have no tables"):
        _ = mixed.junction_tree().beliefs
    with pytest.raises(pgm.InvalidEvidence, match="Soft"):
        grass().junction_tree({"wet": pgm.Soft({True: 0.5, False: 0.5})})
    net = pgm.BayesianNetwork()
    net.add("a", 0.0)
    with pytest.raises(pgm.ImpossibleEvidence, match="a = True has probability zero"):
        _ = net.junction_tree({"a": True}).messages


def test_models_without_variables_or_with_a_lone_number() -> None:
    empty = pgm.MarkovNetwork()
    empty.add_factor([], 5.0)
    assert empty.junction_tree().total == 5.0
    assert (*empty.junction_tree().messages, *empty.junction_tree().beliefs) == ()
    assert pgm.BayesianNetwork().junction_tree().total == 1.0


def test_the_trees_of_a_forest_have_what_is_given_in_each():
    net = pgm.BayesianNetwork()
    net.add("a", 0.2)
    net.add("b", 0.4)
    net.add("c", {True: 0.5, False: 0.1}, parents=["b"])
    tree = net.junction_tree({"a": True, "c": True})
    shares = {belief.names: float(belief.values.sum()) for belief in tree.beliefs}
    assert shares == {("a",): pytest.approx(0.2), ("b", "c"): pytest.approx(0.26)}
    assert tree.total == pytest.approx(0.2 * 0.26)
