"""The oracle itself, against numbers that can be written down."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tests.oracle import Known, Oracle, Plain, integers, log, noisy_or

HALF, TENTH = Fraction(1, 2), Fraction(1, 10)


def wet_grass() -> Plain:
    """Figure 14.5 of the catalogue, in exact tenths; code 1 is True."""

    def on(*rows: object) -> np.ndarray:
        table = np.array([[1 - Fraction(str(r)), Fraction(str(r))] for r in rows], dtype=object)
        return table.reshape((2,) * (int(math.log2(len(rows))) + 1))

    return Plain(
        {"c": 2, "s": 2, "r": 2, "w": 2},
        (
            (("c",), on("0.5")),
            (("c", "s"), on("0.5", "0.1")),
            (("c", "r"), on("0.1", "0.8")),
            (("r", "s", "w"), on("0.1", "0.9", "0.9", "0.95")),
        ),
        directed=True,
    )


def test_O5_wet_grass_in_rationals():
    wet = Oracle(wet_grass(), Known({"w": [0, 1]}))
    assert wet.partition == Fraction(521, 800)
    assert wet.partition_before == 1
    assert wet.posterior(["c"])[1] == 304 / 521
    assert wet.posterior(["r"])[1] == 1633 / 2605
    assert wet.posterior(["r", "c"]).T == pytest.approx(wet.posterior(["c", "r"]), abs=0)
    assert wet.best() == [({"c": 1, "s": 0, "r": 1, "w": 1}, Fraction("0.324"))]
    assert wet.best(["r"])[0] == ({"r": 1}, Fraction(1633, 4000))
    assert wet.weight_of({"c": 1, "s": 0}) == Fraction("0.324") + Fraction("0.009")
    assert len(wet.best(k=20)) == 8


def test_gradients_are_finite_differences_in_rationals():
    plain = wet_grass()
    known = Known({"w": [0, 1], "s": [Fraction("0.3"), Fraction("0.7")]})
    base = Oracle(plain, known)
    step = Fraction(1, 10**9)
    for number, (scope, table) in enumerate(plain.tables):
        gradient = base.gradient(number)
        for where in itertools.product(*(range(k) for k in table.shape)):
            moved = table.copy()
            moved[where] += step
            tables = list(plain.tables)
            tables[number] = (scope, moved)
            there = Oracle(Plain(plain.cards, tuple(tables), directed=True), known)
            assert gradient[where] == pytest.approx(
                float((there.partition / base.partition - 1) / step), rel=1e-12
            )
        counts = base.expected_counts(number)
        assert counts == pytest.approx(gradient * table.astype(float), abs=1e-15)


def test_an_ising_ring_has_a_closed_form():
    coupling = 0.5
    bond = np.exp(coupling * np.array([[1, -1], [-1, 1]]))
    ring = Plain(dict.fromkeys("abcd", 2), tuple(((a, b), bond) for a, b in ["ab", "bc", "cd", "da"]))
    assert float(Oracle(ring).partition) == pytest.approx(
        (2 * math.cosh(coupling)) ** 4 * (1 + math.tanh(coupling) ** 4), rel=1e-14
    )
    assert Oracle(ring).posterior(["b"]) == pytest.approx([0.5, 0.5], abs=0)


def test_a_variable_without_factors_counts_its_states_and_ties_go_to_the_first():
    free = Oracle(Plain({"a": 3, "b": 2}, ()))
    assert free.partition == 6
    assert [codes for codes, _ in free.best(k=9)] == [{"a": i, "b": j} for i in range(3) for j in range(2)]
    assert Oracle(Plain({}, ())).partition == 1


def test_nothing_is_too_small_or_too_large():
    tiny = Plain({"a": 2}, tuple((("a",), np.array([1e-300, 2e-300])) for _ in range(5)))
    oracle = Oracle(tiny)
    assert oracle.posterior(["a"]) == pytest.approx([1 / 33, 32 / 33], rel=1e-12)
    assert log(oracle.partition) == pytest.approx(math.log(33) - 1500 * math.log(10), rel=1e-14)
    assert log(Fraction(0)) == -math.inf


def test_several_soft_findings_by_fitting_and_in_closed_form():
    plain = wet_grass()
    tilts = {"r": [0.3, 1.7], "s": [1.0, 2.5], "w": [0.4, 0.9]}
    tilted = Oracle(plain, Known({"c": [0.2, 0.9], **tilts}))
    wanted = {name: tilted.posterior([name]).tolist() for name in tilts}
    fitted = Oracle(plain, Known({"c": [0.2, 0.9]}, wanted))
    closed = Oracle(plain, Known({"c": [0.2, 0.9]}, wanted, tilts))
    for name in plain.names:
        assert fitted.posterior([name]) == pytest.approx(tilted.posterior([name]), abs=1e-13)
        assert closed.posterior([name]) == pytest.approx(tilted.posterior([name]), abs=1e-15)


def test_one_soft_finding_is_jeffreys_rule():
    seen = Oracle(wet_grass(), Known({}, {"w": [0.25, 0.75]}))
    wet, dry = (Oracle(wet_grass(), Known({"w": w})).posterior(["r"]) for w in ([0, 1], [1, 0]))
    assert seen.posterior(["r"]) == pytest.approx(0.75 * wet + 0.25 * dry, abs=1e-15)
    with pytest.raises(ValueError, match="cannot have"):
        Oracle(wet_grass(), Known({"w": [0, 1]}, {"w": [0.5, 0.5]})).posterior(["r"])


def test_noisy_or_and_integers():
    table = noisy_or([Fraction("0.9"), Fraction("0.9")], Fraction("0.05"))
    assert [table[0, 0, 1], table[0, 1, 1], table[1, 1, 1]] == [
        Fraction(1, 20),
        Fraction(905, 1000),
        Fraction("0.9905"),
    ]
    numerators, denominator = integers([[HALF, TENTH], [0.25, 1]])
    assert (numerators.tolist(), denominator) == ([[10, 2], [5, 20]], 20)
