"""Worked numbers of the catalogue on dynamic networks: C.md, oracles O29, O30, O36, O37 and O44."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pgm
from tests.models.random_dynamic import given

WET = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}


def weather():
    """Figure 15.8: the network of figure 14.5 each day, the clouds of one day following those before."""
    dbn = pgm.DynamicBayesianNetwork("weather")
    dbn.add("cloudy", {True: 0.7, False: 0.3}, parents=["cloudy[-1]"], initial=0.5)
    dbn.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    dbn.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    dbn.add("wet", WET, parents=["rain", "sprinkler"])
    return dbn


def test_C132_O44_weather_on_consecutive_days():
    dbn, data = weather(), {"wet": [True, True, False]}
    assert math.exp(dbn.score(data)) == pytest.approx(0.1452507968, abs=1e-10)
    filtered = dbn.filter(data).marginal("cloudy").values[:, 1]
    np.testing.assert_allclose(filtered, [0.5834932821, 0.6156012017, 0.3870698044], atol=1e-10)
    smoothed = dbn.smooth(data)
    cloudy, rain = (smoothed.marginal(name).values[:, 1] for name in ("cloudy", "rain"))
    np.testing.assert_allclose(cloudy, [0.5918593436, 0.5548164143, 0.3870698044], atol=1e-10)
    np.testing.assert_allclose(rain, [0.6334147042, 0.6044425154, 0.1326201407], atol=1e-10)
    ahead = dbn.forecast(data)
    assert ahead.marginal("cloudy")[0][True] == pytest.approx(0.4548279217, abs=1e-10)
    assert ahead.marginal("wet")[0][True] == pytest.approx(0.641425073, abs=1e-9)


def test_C74_a_slice_that_repeats_is_a_network():
    dbn, data = weather(), {"wet": [True, True, False]}
    net = dbn.unroll(4)
    known = given(dbn, data)
    assert net.probability(known) == pytest.approx(0.1452507968, abs=1e-10)
    assert net.query("rain[1]", known)[True] == pytest.approx(0.6044425154, abs=1e-10)
    assert net.query("wet[3]", known)[True] == pytest.approx(0.641425073, abs=1e-9)


def test_C58_the_interface_of_the_weather_is_one_variable():
    plan = weather().plan()
    assert (plan.interface, plan.entries) == (("cloudy[-1]",), 2)


def test_C107_a_hidden_markov_model_as_a_dynamic_network():
    dbn = pgm.DynamicBayesianNetwork()
    A = [[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]
    B = [[0.5, 0.2, 0.2, 0.1], [0.1, 0.6, 0.1, 0.2], [0.1, 0.2, 0.5, 0.2]]
    dbn.add("q", A, parents=["q[-1]"], initial=[0.5, 0.2, 0.3], states=[1, 2, 3])
    dbn.add("o", B, parents=["q"], states=["red", "blue", "green", "yellow"])
    data = {"o": ["red", "red", "green", "blue", "yellow"]}
    assert math.exp(dbn.score(data)) == pytest.approx(0.001030624, abs=1e-12)
    smoothed = dbn.smooth(data).marginal("q").values
    np.testing.assert_allclose(smoothed[2], [0.2661335269, 0.1718787841, 0.561987689], atol=1e-10)
    best = dbn.map(data)
    assert best.path("q").path == (1, 1, 3, 3, 3)
    assert best.probability == pytest.approx(0.1862949048, abs=1e-10)
    lagged = dbn.smooth({"o": data["o"][:4]}, lag=1).marginal("q").values[2]
    np.testing.assert_allclose(lagged, [0.2734647236, 0.1744282832, 0.5521069932], atol=1e-10)
    ahead = dbn.forecast(data)
    np.testing.assert_allclose(
        ahead.marginal("q").values[0], [0.1679094219, 0.3089900876, 0.5231004906], atol=1e-10
    )
    gap = {"o": ["red", "red", None, "blue", "yellow"]}
    assert math.exp(dbn.score(gap)) == pytest.approx(0.004301238, abs=1e-12)


def test_C133_rows_that_are_alike_are_a_mixture_of_each_step():
    dbn = pgm.DynamicBayesianNetwork()
    B = [[0.5, 0.2, 0.2, 0.1], [0.1, 0.6, 0.1, 0.2], [0.1, 0.2, 0.5, 0.2]]
    dbn.add("q", [[0.5, 0.2, 0.3]] * 3, parents=["q[-1]"], initial=[0.5, 0.2, 0.3], states=[1, 2, 3])
    dbn.add("o", B, parents=["q"], states=["red", "blue", "green", "yellow"])
    found = math.exp(dbn.score({"o": ["red", "red", "green", "blue", "yellow"]}))
    assert found == pytest.approx(0.0010206, abs=1e-12)
    assert found == pytest.approx(0.3 * 0.3 * 0.27 * 0.28 * 0.15, abs=1e-12)


def test_C131_a_tree_of_states_in_each_step():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("u", {1: [0.8, 0.2], 2: [0.3, 0.7]}, parents=["u[-1]"], initial=[0.5, 0.5], states=[1, 2])
    rows = {(1, 1): [0.9, 0.1], (1, 2): [0.4, 0.6], (2, 1): [0.6, 0.4], (2, 2): [0.1, 0.9]}
    dbn.add("v", rows, parents=["v[-1]", "u"], initial={1: [0.8, 0.2], 2: [0.3, 0.7]}, states=[1, 2])
    ones = {(1, 1): 0.1, (1, 2): 0.5, (2, 1): 0.4, (2, 2): 0.9}
    dbn.add("O", {key: [1 - p, p] for key, p in ones.items()}, parents=["u", "v"], states=[0, 1])
    data = {"O": [1, 1, 0]}
    assert math.exp(dbn.score(data)) == pytest.approx(0.105629655, abs=1e-10)
    smoothed = dbn.smooth(data)
    np.testing.assert_allclose(
        smoothed.marginal("u").values[:, 0], [0.1398113058, 0.262134341, 0.7378442162], atol=1e-10
    )
    np.testing.assert_allclose(
        smoothed.marginal("v").values[:, 0], [0.1656163698, 0.1653069869, 0.6861289095], atol=1e-10
    )
    best = dbn.map(data)
    assert (best.path("u").path, best.path("v").path) == ((2, 2, 1), (2, 2, 1))


def factorial():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("q1", {1: [0.7, 0.3], 2: [0.2, 0.8]}, parents=["q1[-1]"], initial=[0.6, 0.4], states=[1, 2])
    dbn.add("q2", {1: [0.9, 0.1], 2: [0.4, 0.6]}, parents=["q2[-1]"], initial=[0.5, 0.5], states=[1, 2])
    return dbn


def test_C112_O36_factorial():
    dbn = factorial()
    ones = {(1, 1): 0.1, (1, 2): 0.4, (2, 1): 0.6, (2, 2): 0.95}
    dbn.add("O", {key: [1 - p, p] for key, p in ones.items()}, parents=["q1", "q2"], states=[0, 1])
    data = {"O": [1, 0, 0, 1]}
    assert math.exp(dbn.score(data)) == pytest.approx(0.04391372637, abs=1e-11)
    found = dbn.smooth(data)
    expected = [0.4539716343, 0.6600369585, 0.6045331627, 0.2353327414]
    np.testing.assert_allclose(found.marginal("q1").values[:, 0], expected, atol=1e-10)
    expected = [0.3898949814, 0.7540558401, 0.8208450024, 0.7142670264]
    np.testing.assert_allclose(found.marginal("q2").values[:, 0], expected, atol=1e-10)
    best = dbn.map(data)
    assert (best.path("q1").path, best.path("q2").path) == ((2, 2, 2, 2), (1, 1, 1, 1))
    assert math.exp(best.log_joint) == pytest.approx(0.00429981696, abs=1e-13)


def test_C114_O37_coupled():
    dbn = pgm.DynamicBayesianNetwork()
    rows = {(1, 1): [0.9, 0.1], (1, 2): [0.6, 0.4], (2, 1): [0.4, 0.6], (2, 2): [0.1, 0.9]}
    dbn.add("q1", rows, parents=["q1[-1]", "q2[-1]"], initial=[0.7, 0.3], states=[1, 2])
    dbn.add("q2", rows, parents=["q2[-1]", "q1[-1]"], initial=[0.5, 0.5], states=[1, 2])
    for i in (1, 2):
        dbn.add(f"O{i}", {1: [0.8, 0.2], 2: [0.2, 0.8]}, parents=[f"q{i}"], states=[0, 1])
    data = {"O1": [0, 1, 1], "O2": [0, 0, 1]}
    assert math.exp(dbn.score(data)) == pytest.approx(0.010955392, abs=1e-11)
    found = dbn.smooth(data)
    np.testing.assert_allclose(
        found.marginal("q1").values[:, 1], [0.2267604482, 0.7616393462, 0.7674117001], atol=1e-10
    )
    np.testing.assert_allclose(
        found.marginal("q2").values[:, 1], [0.3150521679, 0.250549136, 0.7010363481], atol=1e-10
    )
    best = dbn.map(data)
    assert (best.path("q1").path, best.path("q2").path) == ((1, 2, 2), (1, 1, 2))
    assert math.exp(dbn.score({"O1": [0, 1, 1]})) == pytest.approx(0.124922, abs=1e-10)


def test_C115_O37_switching():
    dbn = factorial()
    dbn.add("S", {1: [0.9, 0.1], 2: [0.2, 0.8]}, parents=["S[-1]"], initial=[0.5, 0.5], states=[1, 2])
    chains = {1: (0.1, 0.7), 2: (0.4, 0.95)}
    rows = {(s, a, b): chains[s][(a, b)[s - 1] - 1] for s in (1, 2) for a in (1, 2) for b in (1, 2)}
    dbn.add("O", {key: [1 - p, p] for key, p in rows.items()}, parents=["S", "q1", "q2"], states=[0, 1])
    data = {"O": [1, 0, 0, 1]}
    assert math.exp(dbn.score(data)) == pytest.approx(0.04910697597, abs=1e-11)
    found = dbn.smooth(data)
    expected = [0.3568570635, 0.5112951527, 0.5545953069, 0.5627753807]
    np.testing.assert_allclose(found.marginal("S").values[:, 0], expected, atol=1e-10)
    expected = [0.5096754537, 0.5774219208, 0.5259378989, 0.2828629434]
    np.testing.assert_allclose(found.marginal("q1").values[:, 0], expected, atol=1e-10)


def test_C135_O32_second_order():
    dbn = pgm.DynamicBayesianNetwork()
    second = {(1, 1): [0.9, 0.1], (1, 2): [0.5, 0.5], (2, 1): [0.6, 0.4], (2, 2): [0.2, 0.8]}
    first = [[0.6, 0.4], {1: [0.7, 0.3], 2: [0.4, 0.6]}]
    dbn.add("q", second, parents=["q[-2]", "q[-1]"], initial=first, states=[1, 2])
    assert math.exp(dbn.score({"q": [1, 1, 2, 2, 1]})) == pytest.approx(0.0042, abs=1e-12)
    dbn.add("o", {1: [0.8, 0.2], 2: [0.3, 0.7]}, parents=["q"], states=[1, 2])
    assert math.exp(dbn.score({"o": [1, 2, 2, 1]})) == pytest.approx(0.0466608, abs=1e-11)
