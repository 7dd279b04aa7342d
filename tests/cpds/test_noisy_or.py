"""Noisy-OR: the formula of the contract, its states, its size."""

import itertools
import pickle

import numpy as np
import pytest

import pgm


def network():
    net = pgm.BayesianNetwork()
    net.add("rain", 0.3)
    net.add("sprinkler", {"off": 0.9, "on": 0.1}, states=["off", "on"])
    net.add("wet", pgm.NoisyOr({"rain": 0.9, "sprinkler": 0.8}, leak=0.1))
    return net


def test_formula():
    net = network()
    values = net.cpd("wet").values
    for rain, on in itertools.product([0, 1], repeat=2):
        expected = 1 - 0.9 * (0.1 if rain else 1) * (0.2 if on else 1)
        assert values[rain, on, 1] == pytest.approx(expected, rel=1e-15)
    np.testing.assert_allclose(values.sum(axis=-1), 1)
    assert net.parents("wet") == ("rain", "sprinkler")


def test_factor_keeps_one_number_for_each_cause():
    factor = network().factors()[2]
    assert factor.scope.tolist() == [0, 1, 2]
    assert factor.hidden == (2,)
    chain = factor.as_tables(3)
    product = np.einsum("ab,bcd->acd", chain[0].values, chain[1].values)
    np.testing.assert_allclose(product, network().cpd("wet").values)


def test_true_is_the_active_state_wherever_it_stands():
    net = pgm.BayesianNetwork()
    net.add("a", [0.5, 0.5], states=["True", "False"])
    net.add("b", pgm.NoisyOr({"a": 0.75}))
    assert net.cpd("b").values.tolist() == [[0.25, 0.75], [1.0, 0.0]]


def test_a_thousand_causes():
    net = pgm.BayesianNetwork()
    for i in range(1000):
        net.add(f"c{i}", 0.01)
    net.add("effect", pgm.NoisyOr({f"c{i}": 0.5 for i in range(1000)}))
    assert net.cpd("effect").n_parameters == 1001
    with pytest.raises(pgm.TooLarge, match="effect"):
        net.cpd("effect").table()
    assert len(str(net.cpd("effect"))) < 2000


@pytest.mark.parametrize(
    ("causes", "leak", "words"),
    [
        ({"a": 1.5}, 0, "'a'"),
        ({"a": -0.1}, 0, "'a'"),
        ({"a": float("nan")}, 0, "'a'"),
        ({"a": "0.5"}, 0, "'a'"),
        ({"a": True}, 0, "'a'"),
        ({"a": 0.5}, 2, "leak"),
        (["a"], 0, "dict"),
        ({1: 0.5}, 0, "1"),
    ],
)
def test_mistakes(causes, leak, words):
    with pytest.raises(pgm.InvalidTable, match=words):
        pgm.NoisyOr(causes, leak)


def test_two_states_only():
    net = network()
    net.add("sky", {"clear": 0.5, "cloudy": 0.3, "dark": 0.2})
    with pytest.raises(pgm.InvalidTable, match="'sky' has 3"):
        net.add("x", pgm.NoisyOr({"sky": 0.5}))
    with pytest.raises(pgm.InvalidTable, match="'x' has 3"):
        net.add("x", pgm.NoisyOr({"rain": 0.5}), states=["a", "b", "c"])
    with pytest.raises(pgm.InvalidTable, match="order False, True"):
        net.add("x", pgm.NoisyOr({"rain": 0.5}), states=[True, False])
    with pytest.raises(pgm.UnknownVariable, match="'snow'"):
        net.add("x", pgm.NoisyOr({"snow": 0.5}))
    assert "x" not in net


def test_value():
    gate = pgm.NoisyOr({"rain": 0.9}, leak=0.1)
    assert gate == pgm.NoisyOr({"rain": 0.9}, leak=0.1)
    assert gate != pgm.NoisyOr({"rain": 0.8}, leak=0.1)
    assert repr(gate) == "NoisyOr({'rain': 0.9}, leak=0.1)"
    assert pickle.loads(pickle.dumps(gate)) == gate
    with pytest.raises(pgm.InvalidTable, match="add it to one"):
        gate.table()
    bound = network().cpd("wet")
    assert pickle.loads(pickle.dumps(bound)) == bound == network().cpd("wet")
    assert bound.to_dict() == {"causes": {"rain": 0.9, "sprinkler": 0.8}, "leak": 0.1}
    assert network().rename({"rain": "r"}).cpd("wet").parents == ("r", "sprinkler")


def test_only_a_leak():
    net = pgm.BayesianNetwork()
    net.add("x", pgm.NoisyOr({}, leak=0.25))
    assert net.cpd("x").values.tolist() == [0.75, 0.25]
