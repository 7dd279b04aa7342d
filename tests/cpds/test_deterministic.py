"""Functions as distributions."""

import pickle

import numpy as np
import pytest

import pgm


def network():
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("b", {"x": 0.2, "y": 0.3, "z": 0.5})
    return net


def test_parents_are_the_parameters():
    net = network()
    net.add("c", pgm.Deterministic(lambda b, a: f"{b}{a}"[:2]))
    assert net.parents("c") == ("b", "a")
    assert net.variables["c"].states == ("xF", "xT", "yF", "yT", "zF", "zT")
    assert net.cpd("c").values[1, 1].tolist() == [0, 0, 0, 1, 0, 0]
    np.testing.assert_array_equal(net.cpd("c").values.sum(axis=-1), 1)


def test_outcomes_of_one_kind_are_bools_still():
    net = network()
    net.add("c", pgm.Deterministic(lambda a: True))
    assert net.variables["c"].states == (False, True)


def test_declared_states_and_parents():
    net = network()
    net.add("c", pgm.Deterministic(lambda *s: len(s), parents=["a", "b"]), states=[1, 2, 3])
    assert net.cpd("c").to_dict()[True, "z"] == 2
    net.add("d", pgm.Deterministic(max, parents=["c", "a"]), states=[1, 2, 3])
    assert net.cpd("d").codes.tolist() == [[0, 0], [1, 1], [2, 2]]


def test_once_for_each_configuration():
    calls = []
    net = network()
    net.add("c", pgm.Deterministic(lambda a, b: calls.append((a, b)) or 1))
    net.factors()
    assert len(calls) == 6


def test_pickles_by_its_rows():
    net = network()
    net.add("c", pgm.Deterministic(lambda a, b: a and b == "x"))
    again = pickle.loads(pickle.dumps(net))
    assert again == net
    assert again.cpd("c") == net.cpd("c")


def test_the_rows_serve_another_network():
    net = network()
    net.add("c", pgm.Deterministic(lambda a: not a))
    other = network()
    other.add("d", net.cpd("c"))
    assert other.cpd("d").values.tolist() == [[0, 1], [1, 0]]
    third = pgm.BayesianNetwork()
    third.add("a", {"no": 0.5, "yes": 0.5})
    with pytest.raises(pgm.InvalidTable, match="'a'"):
        third.add("d", net.cpd("c"))


def test_wide_functions_keep_their_rows():
    net = pgm.BayesianNetwork()
    for i in range(4):
        net.add(f"x{i}", np.full(16, 1 / 16), states=range(16))
    net.add("sum", pgm.Deterministic(lambda x0, x1, x2, x3: x0 + x1 + x2 + x3))
    factor = net.factors()[-1]
    assert factor.rows.shape == (16**4, 5)
    assert (factor.rows[:, :4].sum(axis=1) == factor.rows[:, 4]).all()


@pytest.mark.parametrize(
    ("function", "states", "words"),
    [
        (lambda a, b: 1 / a, None, ["a=False, b='x'", "division"]),
        (lambda a, b: None, None, ["a=False, b='x'", "None"]),
        (lambda a, b: float("nan"), None, ["nan"]),
        (lambda a, b: [1], None, ["unhashable"]),
        (lambda a, b: b, ["x", "y"], ["a=False, b='z'", "'z'"]),
        (lambda a, b: b if a else 1, ["x", "y", "z", "w"], ["a=False, b='x'", "1"]),
    ],
)
def test_mistakes_name_the_configuration(function, states, words):
    net = network()
    with pytest.raises(pgm.InvalidTable) as caught:
        net.add("c", pgm.Deterministic(function), states=states)
    for word in ["'c'", *words]:
        assert word in str(caught.value)
    assert "c" not in net


@pytest.mark.parametrize("function", [lambda *a: 1, lambda **a: 1, lambda a, *, b: 1, 3])
def test_functions_whose_parents_cannot_be_told(function):
    with pytest.raises(pgm.InvalidTable):
        pgm.Deterministic(function)


def test_too_many_configurations():
    net = pgm.BayesianNetwork()
    for i in range(21):
        net.add(f"x{i}", 0.5)
    with pytest.raises(pgm.TooLarge, match="2,097,152"):
        net.add("c", pgm.Deterministic(lambda *s: any(s), parents=list(net.nodes)))


def test_too_many_axes():
    net = pgm.BayesianNetwork()
    for i in range(70):
        net.add(f"x{i}", {"only": 1})
    with pytest.raises(pgm.TooLarge, match="70 parents"):
        net.add("c", pgm.Deterministic(lambda *s: len(s), parents=list(net.nodes)))


def test_print():
    net = network()
    net.add("c", pgm.Deterministic(lambda a, b: a and b == "x"))
    assert str(net.cpd("c")).splitlines()[1].split() == ["a", "b", "c"]
    assert repr(pgm.Deterministic(lambda a: a)) == "Deterministic(parents=['a'])"
