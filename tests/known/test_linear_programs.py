"""Worked numbers of the catalogue on linear programs for classes: F.md, section 5.8, O17."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from pgm.adapters import Hyperplane, LinearProgram, criteria, normalised, separability
from pgm.adapters.linear.linear_programs import solve_program
from tests.known.book import near

X = np.array([[1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [2.0, 3.0]])  # O12
CLASS = [1, 1, 0, 0]
XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
LINE, OF = np.array([[1.0], [3.0], [4.0], [0.0], [2.0]]), [1, 1, 1, 0, 0]  # O17
FORMS = ["primal", "dual"]


def weights(found: LinearProgram) -> list[float]:
    return [float(found.intercept_[0]), *found.coef_[0].tolist()]


def random_rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(14, 2))
    return rows, (rows @ [1.0, -1.0] + 0.8 * rng.normal(size=14) > 0.0).astype(int)


def vertices(y: np.ndarray, b: float, one: bool) -> float:
    """The optimum by its definition: that of the best vertex."""
    n, d = y.shape
    best = np.inf
    # as many rows are on their margin as there are variables: the weights, and t of "largest"
    rows = np.column_stack([y, np.ones(n)]) if one else y
    for some in itertools.combinations(range(n), rows.shape[1]):
        part = rows[list(some)]
        if abs(np.linalg.det(part)) > 1e-9:
            a = np.linalg.solve(part, np.full(len(some), b))[:d]
            lack = np.maximum(b - y @ a, 0.0)
            best = min(best, float(lack.max() if one else lack.sum()))
    return min(best, b if one else b * n)


def test_F90_a_linear_program():
    """min a u, A u >= b, u >= 0, by the very matrices of the text, for both of its problems."""
    y = normalised(LINE, OF)
    n, d = y.shape
    for tau in (np.ones((n, 1)), np.eye(n)):
        matrix = np.hstack([y, -y, tau])
        cost = np.concatenate([np.zeros(2 * d), np.ones(tau.shape[1])])
        found = linprog(cost, A_ub=-matrix, b_ub=-np.ones(n), method="highs")
        a = found.x[:d] - found.x[d : 2 * d]
        kind = "largest" if tau.shape[1] == 1 else "sum"
        for form in FORMS:
            ours = LinearProgram(kind, form=form).fit(LINE, OF)
            assert ours.optimum_[0] == near(found.fun)
            lack = np.maximum(1.0 - y @ weights(ours), 0.0)
            assert (lack.max() if kind == "largest" else lack.sum()) == near(found.fun)
        assert (matrix @ found.x >= 1.0 - 1e-9).all()
        assert a.shape == (d,)


def test_F91_two_parts_that_are_not_negative():
    """a = (1, -2, 0): a+ = (1, 0, 0), a- = (0, 2, 0)."""
    up, down = Hyperplane([-2.0, 0.0], 1.0).parts
    assert (up.tolist(), down.tolist()) == ([1.0, 0.0, 0.0], [0.0, 2.0, 0.0])
    for a in np.random.default_rng(0).normal(size=(5, 4)):
        up, down = Hyperplane(a[1:], a[0]).parts
        assert (up - down).tolist() == a.tolist()
        assert (up + down).tolist() == np.abs(a).tolist()
        assert min(up.min(), down.min()) == 0.0


@pytest.mark.parametrize("form", FORMS)
def test_F92_the_largest_that_rows_lack(form):
    """O17: 0 of O12; 1 of XOR, at a = 0; 1 of the line. With t: a y + t >= b, which the text drops once."""
    for rows, y, optimum in ((X, CLASS, 0.0), (XOR, CLASS, 1.0), (LINE, OF, 1.0)):
        found = LinearProgram("largest", form=form).fit(rows, y)
        assert found.optimum_[0] == pytest.approx(optimum, abs=1e-9)
        assert found.separable_.tolist() == [optimum == 0.0] == [separability(rows, y).separable]
        lack = np.maximum(1.0 - normalised(rows, y) @ weights(found), 0.0).max()
        assert lack == pytest.approx(optimum, abs=1e-9)
    assert weights(LinearProgram("largest", form=form).fit(XOR, CLASS)) == pytest.approx([0.0] * 3, abs=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_F93_the_perceptron_criterion_with_a_margin(form):
    """O17: 0 of O12, at (11/3, -4/3, -2/3); 4 of XOR; 8/3 of the line, at (-1, 2/3)."""
    found = LinearProgram(form=form).fit(X, CLASS)
    assert found.optimum_[0] == pytest.approx(0.0, abs=1e-9)
    assert weights(found) == near([11 / 3, -4 / 3, -2 / 3])
    assert LinearProgram(form=form).fit(XOR, CLASS).optimum_[0] == near(4.0)
    found = LinearProgram(form=form).fit(LINE, OF)
    assert found.optimum_[0] == near(8 / 3)
    assert weights(found) == near([-1.0, 2 / 3])
    assert np.maximum(1.0 - normalised(LINE, OF) @ weights(found), 0.0) == pytest.approx(
        [4 / 3, 0.0, 0.0, 0.0, 4 / 3], abs=1e-9
    )
    assert criteria(weights(found), LINE, OF, margin=1.0).shortfall == near(8 / 3)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["sum", "largest"])
def test_F93_no_vertex_is_better(seed, kind):
    rows, y = random_rows(seed)
    found = LinearProgram(kind, margin=2.0).fit(rows, y)
    assert found.optimum_[0] == pytest.approx(vertices(normalised(rows, y), 2.0, kind == "largest"), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["sum", "largest"])
def test_F94_the_dual(seed, kind):
    """Equal optima; the multipliers are feasible, and what they promise when a margin moves is so."""
    rows, y = random_rows(seed)
    one, other = (LinearProgram(kind, form=form).fit(rows, y) for form in FORMS)
    assert one.optimum_[0] == near(other.optimum_[0], 9)
    normal = normalised(rows, y)
    for found in (one, other):
        z = found.duals_[0]
        assert z.min() >= -1e-9
        assert z @ normal == pytest.approx(0.0, abs=1e-8)
        assert (z.sum() if kind == "largest" else z.max()) <= 1.0 + 1e-9
        assert z.sum() == near(found.optimum_[0], 8)  # b z with b = 1: strong duality
    if kind == "sum":  # unique at random rows
        assert one.duals_[0] == pytest.approx(other.duals_[0], abs=1e-8)
        h = 1e-5
        for i in np.flatnonzero(one.duals_[0] > 0.0)[:3]:
            margins = np.ones(len(rows))
            margins[i] += h
            grown = solve_program(normal, margins, "sum", "primal").optimum
            assert (grown - one.optimum_[0]) / h == pytest.approx(one.duals_[0][i], abs=1e-3)
