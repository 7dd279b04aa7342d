"""Worked numbers of the catalogue on perceptrons: B.md, chapter 11, O1, O3 to O5 and O10; G.md, O8."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pgm
from tests.known import book
from tests.known.book import near, threshold

PAIRS = [(0, 0), (0, 1), (1, 0), (1, 1)]


def table(net: pgm.BayesianNetwork, unit: str, inputs: int) -> list[int]:
    """What a unit answers to 00..0, ..., 11..1; it must be sure of each."""
    names = [f"x{i}" for i in range(1, inputs + 1)]
    found = []
    for bits in itertools.product((0, 1), repeat=inputs):
        p = net.query(unit, dict(zip(names, bits, strict=True)))
        assert sorted(p.values) == [0.0, 1.0]
        found.append(p.mode())
    return found


# --- B1, B7: linear units ---


def test_B1_a_linear_unit_is_fitted_by_least_squares():
    """O10: w = (7/6, 1/2); the noise is what is left: squares 1/36 + 1/9 + 1/36 over three rows."""
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, 1.0))
    net.add("r", pgm.LinearGaussian({"x": 9.0}, bias=9.0, sd=9.0))
    net.set("r", net.cpd("r").fit({"x": [0.0, 1.0, 2.0], "r": [1.0, 2.0, 2.0]}))
    for x in (0.0, 3.0, -2.0):
        r = net.query("r", {"x": x})
        assert (r.mean, r.variance) == near((7 / 6 + x / 2, 1 / 18))


def test_B1_the_output_of_a_linear_unit():
    """O4: x = (1, 2, -1), w = (.1, -.2, .3)."""
    net = pgm.BayesianNetwork()
    for name in ("x1", "x2"):
        net.add(name, pgm.Gaussian(0.0, 1.0))
    net.add("y", pgm.LinearGaussian({"x1": -0.2, "x2": 0.3}, bias=0.1, sd=0.0))
    y = net.query("y", {"x1": 2.0, "x2": -1.0})
    assert (y.mean, y.variance) == (near(-0.6), 0.0)


def ridge(prior_sd: float) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    for w in ("w0", "w1"):
        net.add(w, pgm.Gaussian(0.0, prior_sd))
    for t, x in enumerate((0.0, 1.0, 2.0, 3.0)):
        net.add(f"r{t}", pgm.LinearGaussian({"w0": 1.0, "w1": x}, sd=1.0))
    return net


def test_B1_the_weights_as_nodes():
    """O10: with the prior N(0, 1) they shrink to (.8, .6); with a flat one they are the least squares."""
    seen = {"r0": 1.0, "r1": 2.0, "r2": 2.0}
    w = ridge(1.0).query(["w0", "w1"], seen)
    assert w.mean == near([0.8, 0.6])
    assert w.covariance == near(np.array([[0.4, -0.2], [-0.2, 4 / 15]]))
    r = ridge(1.0).query("r3", seen)
    assert (r.mean, r.variance) == near((2.6, 2.6))
    assert ridge(1e5).query(["w0", "w1"], seen).mean == near([7 / 6, 1 / 2], 9)


def test_B7_two_linear_layers_are_one():
    """W2 W1 = ((2, 3, 1), (1, 5, -3)); what noise the first layer has, the second mixes: W2 W2'."""
    first = [[1.0, 2.0, 0.0], [0.0, -1.0, 1.0]]
    second = [[2.0, 1.0], [1.0, -3.0]]
    product = [[2.0, 3.0, 1.0], [1.0, 5.0, -3.0]]

    def layer(net: pgm.BayesianNetwork, name: str, below: str, weights: list[list[float]], sd: float) -> None:
        for i, row in enumerate(weights, 1):
            net.add(f"{name}{i}", pgm.LinearGaussian({f"{below}{j}": w for j, w in enumerate(row, 1)}, sd=sd))

    def inputs() -> pgm.BayesianNetwork:
        net = pgm.BayesianNetwork()
        for i in range(1, 4):
            net.add(f"x{i}", pgm.Gaussian(0.0, 1.0))
        return net

    one, two, noisy = inputs(), inputs(), inputs()
    layer(one, "y", "x", product, 0.0)
    layer(two, "z", "x", first, 0.0)
    layer(two, "y", "z", second, 0.0)
    layer(noisy, "z", "x", first, 0.5)
    layer(noisy, "y", "z", second, 2.0)
    for x, expected in (((1.0, 2.0, 3.0), (11.0, 2.0)), ((-1.0, 0.5, 4.0), (3.5, -10.5))):
        seen = {f"x{i}": v for i, v in enumerate(x, 1)}
        for net in (one, two, noisy):
            assert net.query(["y1", "y2"], seen).mean == near(expected)
        assert two.query(["y1", "y2"], seen).covariance == pytest.approx(np.zeros((2, 2)), abs=1e-12)
        assert noisy.query(["y1", "y2"], seen).covariance == near(
            np.array([[5 / 4 + 4, -1 / 4], [-1 / 4, 10 / 4 + 4]])
        )
    for net in (one, two):
        assert net.query(["y1", "y2"]).covariance == near(np.array([[14.0, 14.0], [14.0, 35.0]]))
    # Two numbers say less than three: x2 is not told apart from what else gives the same y.
    assert two.query("x2", {"y1": 11.0, "y2": 2.0}).variance > 0.1
    both = [net.query(["x1", "x2", "x3"], {"y1": 11.0, "y2": 2.0}) for net in (one, two)]
    assert both[0].mean == pytest.approx(both[1].mean, abs=1e-9)
    assert both[0].covariance == pytest.approx(both[1].covariance, abs=1e-9)


# --- B2, B13 to B16, B20, B22: units with a threshold ---


def test_B2_a_threshold_unit_is_a_half_plane():
    """Strictly above the line: of 4 x 4 points six are, four lie on it, and these belong below."""
    net = pgm.BayesianNetwork()
    for name in ("x1", "x2"):
        net.add(name, [0.25] * 4, states=[0.0, 0.5, 1.0, 1.5])
    net.add("y", threshold({"x1": 1.0, "x2": 1.0}, -1.5), states=[0, 1])
    assert net.query("y").values == near([10 / 16, 6 / 16])
    for x1, x2, y in ((1.0, 0.5, 0), (1.0, 1.0, 1), (0.0, 1.5, 0), (0.5, 1.5, 1), (0.0, 0.0, 0)):
        assert net.query("y", {"x1": x1, "x2": x2})[y] == 1.0
    assert net.query("x1", {"y": 1}).values == near([0.0, 1 / 6, 2 / 6, 3 / 6])
    assert net.predict({"x1": [1.5, 1.0, 0.0], "x2": [0.0, 1.0, 0.5]}, "y").tolist() == [0, 1, 0]


def test_B13_G144_and():
    net = book.boolean({"and": threshold({"x1": 1.0, "x2": 1.0}, -1.5)}, 2)
    assert table(net, "and", 2) == [0, 0, 0, 1]
    assert net.query("x1", {"and": 0})[1] == near(1 / 3)
    assert net.query("x1", {"and": 1})[1] == 1.0
    assert net.probability({"and": 1}) == near(1 / 4)


def test_B14_G145_or():
    """Also a noisy-OR that fails in no case and leaks in none."""
    sure = pgm.NoisyOr({"x1": 1.0, "x2": 1.0})
    net = book.boolean({"or": threshold({"x1": 1.0, "x2": 1.0}, -0.5), "gate": sure}, 2)
    for unit in ("or", "gate"):
        assert table(net, unit, 2) == [0, 1, 1, 1]
        assert net.query("x1", {unit: 1})[1] == near(2 / 3)
        assert net.query("x2", {unit: 1, "x1": 0})[1] == 1.0
    assert net.probability({"or": 1, "gate": 0}) == 0.0


def test_B15_not():
    net = book.boolean({"not": threshold({"x1": -1.0}, 0.5)}, 1)
    assert table(net, "not", 1) == [1, 0]
    assert net.query("x1", {"not": 1})[0] == 1.0


def test_B16_nand():
    """Of its own and as NOT after AND."""
    units = {
        "nand": threshold({"x1": -1.0, "x2": -1.0}, 1.5),
        "and": threshold({"x1": 1.0, "x2": 1.0}, -1.5),
        "not": threshold({"and": -1.0}, 0.5),
    }
    net = book.boolean(units, 2)
    assert table(net, "nand", 2) == table(net, "not", 2) == [1, 1, 1, 0]
    assert net.query("x1", {"nand": 1})[1] == near(1 / 3)
    assert net.query("x1", {"nand": 0})[1] == 1.0


def test_B20_xor_by_two_layers():
    """O1: both 00 and 11 come to z = 00, which is why one line is enough behind the hidden units."""
    units = {
        "z1": threshold({"x1": 1.0, "x2": -1.0}, -0.5),
        "z2": threshold({"x1": -1.0, "x2": 1.0}, -0.5),
        "y": threshold({"z1": 1.0, "z2": 1.0}, -0.5),
    }
    net = book.boolean(units, 2)
    assert table(net, "y", 2) == [0, 1, 1, 0]
    hidden = [net.map({"x1": a, "x2": b}, targets=["z1", "z2"]) for a, b in PAIRS]
    assert [(h["z1"], h["z2"]) for h in hidden] == [(0, 0), (0, 1), (1, 0), (0, 0)]
    assert net.query(["z1", "z2"]).to_dict() == near({(0, 0): 0.5, (0, 1): 0.25, (1, 0): 0.25, (1, 1): 0.0})
    # One input alone says nothing, both everything (O3).
    assert net.query("x1", {"y": 1})[1] == near(1 / 2)
    assert net.query("x1", {"y": 1, "x2": 1})[0] == 1.0
    assert net.query(["x1", "x2"], {"z1": 0, "z2": 0}).to_dict() == near(
        {(0, 0): 0.5, (0, 1): 0.0, (1, 0): 0.0, (1, 1): 0.5}
    )


def test_B22_the_parity_of_three_bits():
    """O1: each hidden unit stands for one row of the table with an odd number of ones."""
    units = {
        "h1": threshold({"x1": -1.0, "x2": -1.0, "x3": 2.0}, -1.5),
        "h2": threshold({"x1": -1.0, "x2": 2.0, "x3": -1.0}, -1.5),
        "h3": threshold({"x1": 2.0, "x2": -1.0, "x3": -1.0}, -1.5),
        "h4": threshold({"x1": 1.0, "x2": 1.0, "x3": 1.0}, -2.5),
        "y": threshold({"h1": 1.0, "h2": 1.0, "h3": 1.0, "h4": 1.0}, -0.5),
        "gate": pgm.Parity(["x1", "x2", "x3"]),
    }
    net = book.boolean(units, 3)
    assert table(net, "y", 3) == table(net, "gate", 3) == [0, 1, 1, 0, 1, 0, 0, 1]
    for bits in itertools.product((0, 1), repeat=3):
        found = net.map(dict(zip(("x1", "x2", "x3"), bits, strict=True)), targets=["h1", "h2", "h3", "h4"])
        row = {(0, 0, 1): 0, (0, 1, 0): 1, (1, 0, 0): 2, (1, 1, 1): 3}.get(bits)
        assert [found[f"h{i}"] for i in range(1, 5)] == [int(i == row) for i in range(4)]
    assert net.query("x1", {"y": 1, "x2": 1}).values == near([0.5, 0.5])
    assert net.query("x1", {"y": 1, "x2": 1, "x3": 0})[0] == 1.0
    assert net.query("h2", {"y": 1})[1] == near(1 / 4)
    assert net.probability({"y": 1, "gate": 1}) == near(1 / 2)


# --- B3, B5: units with a probability ---


def test_B3_a_sigmoid_unit():
    """O3."""
    net = book.boolean({"y": pgm.Logistic({"x1": 1.0, "x2": 1.0}, bias=-1.5)}, 2)
    rows = [0.18242552380635635, 0.3775406687981454, 0.3775406687981454, 0.6224593312018546]
    assert [net.query("y", {"x1": a, "x2": b})[1] for a, b in PAIRS] == pytest.approx(rows, rel=1e-15)
    assert net.query("y")[1] == pytest.approx(0.38999154815112547, rel=1e-15)
    assert net.query("x1", {"y": 1})[1] == pytest.approx(0.6410395332545068, rel=1e-15)


def numbers(unit: pgm.Logistic, states: list[int]) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    for name in ("x1", "x2"):
        net.add(name, pgm.Gaussian(0.0, 1.0))
    net.add("y", unit, states=states)
    return net


def test_B3_a_sigmoid_unit_of_numbers():
    """O4: x = (1, 2, -1), w = (.1, -.2, .3)."""
    net = numbers(pgm.Logistic({"x1": -0.2, "x2": 0.3}, bias=0.1), [0, 1])
    x = {"x1": 2.0, "x2": -1.0}
    assert net.query("y", x)[1] == pytest.approx(0.35434369377420455, rel=1e-14)
    assert -net.log_probability({"y": 1}, given=x) == pytest.approx(1.0374879504858886, rel=1e-14)


def test_B5_a_softmax_layer():
    """O4: o = (-.6, .3, -.3) for x = (1, 2, -1)."""
    unit = pgm.Logistic({"x1": [-0.2, 0.1, 0.0], "x2": [0.3, -0.1, 0.2]}, bias=[0.1, 0.0, -0.1])
    net = numbers(unit, [1, 2, 3])
    x = {"x1": 2.0, "x2": -1.0}
    assert net.query("y", x).values == near([0.2079234677, 0.5114092081, 0.2806673242])
    assert -net.log_probability({"y": 2}, given=x) == pytest.approx(0.6705852106527809, rel=1e-14)
    assert net.predict({"x1": [2.0], "x2": [-1.0]}, "y").tolist() == [2]
    assert net.query("y", {"x1": 0.0, "x2": 0.0}).values == near(
        [math.exp(w) / (math.exp(0.1) + 1 + math.exp(-0.1)) for w in (0.1, 0.0, -0.1)]
    )


def test_B5_a_softmax_of_two_is_a_sigmoid():
    """O5: o = (.3, -.4)."""
    soft = numbers(pgm.Logistic({"x1": [0.3, 0.0], "x2": [0.0, -0.4]}), [1, 2])
    sigmoid = numbers(pgm.Logistic({"x1": 0.3, "x2": 0.4}), [2, 1])
    for net in (soft, sigmoid):
        assert net.query("y", {"x1": 1.0, "x2": 1.0})[1] == near(0.6681877722)


# --- G136 to G150: the same of the lecture notes, O8 of G.md ---


def sums(weights: dict[str, float], bias: float, inputs: int) -> pgm.BayesianNetwork:
    """A unit beside its net input, which is a node too."""
    net = book.boolean({"y": threshold(weights, bias)}, inputs)

    def total(*x: int) -> float:
        return bias + sum(w * v for w, v in zip(weights.values(), x, strict=True))

    states = sorted({total(*x) for x in itertools.product((0, 1), repeat=inputs)})
    net.add("net", pgm.Deterministic(total, parents=list(weights)), states=states)
    return net


def test_G136_the_unit_of_mcculloch_and_pitts():
    """y = f(sum of w_i x_i - theta): two excitations reach theta = 2 of an AND, an inhibition forbids."""
    net = book.boolean({"y": threshold({"x1": 1.0, "x2": 1.0, "x3": -2.0}, -1.5)}, 3)
    assert table(net, "y", 3) == [0, 0, 0, 0, 0, 0, 1, 0]
    assert net.probability({"y": 1}) == near(1 / 8)
    assert net.query("x3", {"y": 1})[0] == 1.0


def test_G137_the_bias_is_the_weight_of_an_input_that_is_always_on():
    """w_0 = -theta with x_0 = 1: the same table; and with x_0 = 0 the threshold is gone."""
    with_bias = book.boolean({"y": threshold({"x1": 1.0, "x2": 1.0}, -1.5)}, 2)
    with_input = book.boolean({"y": threshold({"x1": 1.0, "x2": 1.0, "x3": -1.5}, 0.0)}, 3)
    for a, b in PAIRS:
        seen = {"x1": a, "x2": b}
        on = with_input.query("y", {**seen, "x3": 1})
        assert on.values.tolist() == with_bias.query("y", seen).values.tolist()
        assert with_input.query("y", {**seen, "x3": 0}).mode() == int(a + b > 0)


def test_G138_the_step_is_zero_at_zero():
    """f(0) = 0: of x1 - x2 only (1, 0) is above."""
    net = sums({"x1": 1.0, "x2": -1.0}, 0.0, 2)
    assert [net.query("y", {"net": value}).mode() for value in (-1.0, 0.0, 1.0)] == [0, 0, 1]
    assert net.query("net").values == near([1 / 4, 1 / 2, 1 / 4])
    assert net.query("net", {"y": 0}).values == near([1 / 3, 2 / 3, 0.0])


@pytest.mark.parametrize(
    ("bias", "nets", "outputs"),
    [
        pytest.param(-1.5, [-1.5, -0.5, -0.5, 0.5], [0, 0, 0, 1], id="G144_and"),
        pytest.param(-0.5, [-0.5, 0.5, 0.5, 1.5], [0, 1, 1, 1], id="G145_or"),
    ],
)
def test_boolean_functions_of_one_unit(bias, nets, outputs):
    """Net inputs and outputs for 00, 01, 10 and 11."""
    net = sums({"x1": 1.0, "x2": 1.0}, bias, 2)
    assert table(net, "y", 2) == outputs
    assert table_of(net, "net") == nets
    assert net.query("x1", {"y": 1})[1] == near(2 / 3 if sum(outputs) == 3 else 1.0)


def table_of(net: pgm.BayesianNetwork, name: str) -> list[float]:
    return [net.query(name, {"x1": a, "x2": b}).mode() for a, b in PAIRS]


def test_G148_xor_by_a_unit_for_01_and_one_for_10():
    """h1 = s(x2 - x1 - .5), h2 = s(x1 - x2 - .5), y = s(h1 + h2 - .5); never both hidden units."""
    units = {
        "h1": threshold({"x2": 1.0, "x1": -1.0}, -0.5),
        "h2": threshold({"x1": 1.0, "x2": -1.0}, -0.5),
        "y": threshold({"h1": 1.0, "h2": 1.0}, -0.5),
    }
    net = book.boolean(units, 2)
    assert [table(net, name, 2) for name in units] == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 1, 0]]
    assert net.probability({"h1": 1, "h2": 1}) == 0.0
    assert net.query("h1", {"y": 1})[1] == near(1 / 2)
    assert net.query(["x1", "x2"], {"h1": 1})[0, 1] == 1.0


def test_G150_times_five_and_times_two_is_times_ten():
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(3.0, 1.0))
    net.add("five", pgm.LinearGaussian({"x": 5.0}, sd=0.0))
    net.add("y", pgm.LinearGaussian({"five": 2.0}, sd=0.0))
    net.add("ten", pgm.LinearGaussian({"x": 10.0}, sd=0.0))
    assert [net.query("y", {"x": x}).mean for x in (0.0, 1.0, -2.5)] == near([0.0, 10.0, -25.0])
    assert (net.query("y").mean, net.query("y").variance) == near((30.0, 100.0))
    assert net.query("ten", {"y": 7.0}).mean == near(7.0)
