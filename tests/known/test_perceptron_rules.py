"""Worked numbers of the catalogue on rules that correct errors: F.md, 5.3 to 5.7, O12 to O15, O26."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.adapters import Perceptron, VotedPerceptron, Winnow, criteria, descend, rates, separability
from tests.known.book import near

X = np.array([[1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [2.0, 3.0]])  # O12
CLASS = ["w1", "w1", "w2", "w2"]
Y = np.array([[1, 1, 2], [1, 2, 0], [-1, -3, -1], [-1, -2, -3]], float)
SMALL, OF = np.array([[2.0], [-1.0]]), ["w1", "w2"]  # O13
XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])


def signs(names: list[str]) -> list[int]:
    """w1 is the positive class."""
    return [int(name == "w1") for name in names]


def weights(found: Any) -> list[float]:
    return [float(found.intercept_[0]), *found.coef_[0].tolist()]


def path(found: Any) -> list[list[float]]:
    return found.traces_[1].weights.tolist()


def fitted(estimator: Any, rows: np.ndarray = X, names: list[str] = CLASS) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(rows, signs(names))


def by_hand(rows: np.ndarray, each: bool, rate: Any, b: float, relax: bool, updates: int) -> list[np.ndarray]:
    """The text's rules with the signs put right (its printed ones go the wrong way)."""
    a, found, k, i, quiet = np.zeros(rows.shape[1]), [], 0, 0, 0
    while len(found) < updates and quiet < len(rows):
        some = rows[[i % len(rows)]] if each else rows
        i += 1
        bad = some[some @ a <= b]
        if not len(bad):
            quiet += 1 if each else len(rows)
            continue
        quiet, k = 0, k + 1
        add = sum((b - a @ y) * y / (y @ y) if relax else y for y in bad)
        a = a + rate(k) * add
        found.append(a)
    return found


# --- F60: the shortest weights ---


def test_F60_the_shortest_weights_with_a_margin():
    """O13: (-1/3, 2/3). By an optimiser of scipy's on random separable rows too."""
    assert separability(SMALL, signs(OF)).regions[1].shortest == near([-1 / 3, 2 / 3], 9)
    from scipy.optimize import minimize

    rng = np.random.default_rng(1)
    for margin in (0.5, 2.0):
        rows = rng.normal(size=(12, 2))
        region = separability(rows, rows @ [1.0, -2.0] > 0.3, margin=margin).regions[True]
        a = region.shortest
        assert a is not None
        assert (region.rows @ a >= margin * (1 - 1e-9)).all()
        peer = minimize(
            lambda w: w @ w,
            2.0 * a + 0.1,
            jac=lambda w: 2 * w,
            constraints={"type": "ineq", "fun": lambda w, r=region, b=margin: r.rows @ w - b},
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-14},
        )
        assert np.linalg.norm(a) == pytest.approx(np.linalg.norm(peer.x), rel=1e-6)


# --- F61 to F63: descent ---

H, C = np.diag([2.0, 4.0]), np.array([2.0, 4.0])  # O14


def gradient(a: np.ndarray) -> np.ndarray:
    return H @ a - C


def test_F61_gradient_descent():
    """a(k+1) = a(k) - eta dJ until |eta dJ| < theta."""
    found = descend(gradient, [0.0, 0.0], rate=0.1, tol=1e-3)
    a = np.zeros(2)
    for k, step in enumerate(found.trace.weights):
        assert step.tolist() == pytest.approx(a.tolist())
        last = k == len(found.trace.weights) - 1
        assert (np.linalg.norm(0.1 * gradient(a)) < 1e-3) == last
        a = a - 0.1 * gradient(a)
    assert found.converged
    assert not descend(gradient, [0.0, 0.0], rate=0.1, tol=1e-3, max_iter=5).converged


def test_F62_the_rate_that_is_best():
    """O14: eta = 5/18 then 5/12; a = (5/9, 10/9), (25/27, 25/27)."""
    found = descend(gradient, [0.0, 0.0], hessian=lambda a: H, max_iter=2)
    assert found.trace.weights.tolist() == [[0.0, 0.0], near([5 / 9, 10 / 9]), near([25 / 27, 25 / 27])]
    for a, eta in ((np.zeros(2), 5 / 18), (np.array([5 / 9, 10 / 9]), 5 / 12)):
        g = gradient(a)
        assert g @ g / (g @ H @ g) == near(eta)


def test_F63_newton():
    """O14: (1, 1) in one step; a singular Hessian has none."""
    found = descend(gradient, [0.0, 0.0], hessian=lambda a: H, method="newton")
    assert found.trace.weights.tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert found.converged
    with pytest.raises(pgm.InvalidArgument, match="singular"):
        descend(gradient, [0.0, 0.0], hessian=lambda a: np.ones((2, 2)), method="newton")


# --- F64, F65, F72, F73: criteria ---


def value_of(name: str, margin: float) -> Any:
    return lambda a: getattr(criteria(a, X, signs(CLASS), margin=margin), name)


def slope(function: Any, a: np.ndarray, h: float = 1e-6) -> list[float]:
    return [(function(a + step) - function(a - step)) / (2 * h) for step in h * np.eye(len(a))]


def test_F64_how_many_are_wrong():
    """O12 at a = (1, 0, 0): two; a row on the border is wrong."""
    assert criteria([1.0, 0.0, 0.0], X, signs(CLASS)).misclassified == 2
    assert criteria([0.0, 0.0, 0.0], X, signs(CLASS)).misclassified == 4


def test_F65_the_perceptron_criterion():
    """O12: 2; its gradient is the sum of -y over what is wrong."""
    found = criteria([1.0, 0.0, 0.0], X, signs(CLASS))
    assert found.perceptron == 2.0
    assert found.gradients["perceptron"].tolist() == [2.0, 5.0, 4.0]
    a = np.array([1.0, 0.2, -0.3])
    slopes = slope(value_of("perceptron", 0.0), a)
    assert criteria(a, X, signs(CLASS)).gradients["perceptron"] == pytest.approx(slopes, rel=1e-6)


def test_F72_squared_relaxation():
    """O12: 2; the gradient is continuous: it vanishes at the border."""
    assert criteria([1.0, 0.0, 0.0], X, signs(CLASS)).squared == 2.0
    a = np.array([1.0, 0.2, -0.3])
    slopes = slope(value_of("squared", 0.0), a)
    assert criteria(a, X, signs(CLASS)).gradients["squared"] == pytest.approx(slopes, rel=1e-6)


def test_F73_normalised_relaxation():
    """O12: 25/77 with margin 1. The gradient has y, which the text leaves out."""
    found = criteria([1.0, 0.0, 0.0], X, signs(CLASS), margin=1.0)
    assert found.relaxation == near(25 / 77)
    assert found.relaxation == near(0.3246753247)
    a = np.array([1.0, 0.2, -0.3])
    slopes = slope(value_of("relaxation", 1.0), a)
    assert criteria(a, X, signs(CLASS), margin=1.0).gradients["relaxation"] == pytest.approx(slopes, rel=1e-6)


# --- F66 to F71, F74 to F76: the rules ---


def test_F66_batch_perceptron():
    """O12: 34 updates to (15, -5, -2); O13: one to (0, 3). It adds the sum of what is wrong."""
    found = fitted(Perceptron("batch"))
    assert found.n_corrections_.tolist() == [34]
    assert weights(found) == [15.0, -5.0, -2.0]
    assert path(found)[:4] == [[0, 0, 0], [0, -2, -2], [2, 1, 0], [0, -4, -4]]
    small = fitted(Perceptron("batch"), SMALL, OF)
    assert (small.n_corrections_.tolist(), weights(small)) == ([1], [0.0, 3.0])


def test_F67_fixed_increment_single_sample():
    """O12: 52 corrections to (12, -5, -2), the first by rows 1, 3, 1; O13: one to (1, 2)."""
    found = fitted(Perceptron())
    assert found.n_corrections_.tolist() == [52]
    assert weights(found) == [12.0, -5.0, -2.0]
    assert path(found)[1:4] == [[1, 1, 2], [0, -2, 1], [1, -1, 3]]
    small = fitted(Perceptron(), SMALL, OF)
    assert (small.n_corrections_.tolist(), weights(small)) == ([1], [1.0, 2.0])
    # in random order it ends too, wherever
    for seed in range(5):
        other = fitted(Perceptron(shuffle=True, seed=seed))
        assert other.converged_
        assert (Y @ weights(other) > 0.0).all()


def test_F68_variable_increment_with_a_margin():
    """O12: 65 corrections to (15, -6, -3); O13: two to (0, 3). With falling rates as by hand."""
    found = fitted(Perceptron(margin=1.0))
    assert (found.n_corrections_.tolist(), weights(found)) == ([65], [15.0, -6.0, -3.0])
    small = fitted(Perceptron(margin=1.0), SMALL, OF)
    assert (small.n_corrections_.tolist(), weights(small)) == ([2], [0.0, 3.0])
    falling = fitted(Perceptron(margin=0.1, increment=2.0, schedule="inverse", max_iter=4))
    steps = by_hand(Y, True, lambda k: 2.0 / k, 0.1, False, 6)
    assert path(falling)[1:7] == [near(step.tolist(), 12) for step in steps]
    slower = fitted(Perceptron(margin=0.1, increment=2.0, schedule="sqrt", max_iter=4))
    steps = by_hand(Y, True, lambda k: 2.0 / np.sqrt(k), 0.1, False, 6)
    assert path(slower)[1:7] == [near(step.tolist(), 12) for step in steps]


def test_F69_rates_that_suffice():
    """O15: the squares of rates over the square of their sum: 1 / m constant; .1806..., .0293... of 1 / k."""

    def share(schedule: str, m: int) -> float:
        eta = rates(schedule, m)
        return float((eta**2).sum() / eta.sum() ** 2)

    assert [share("constant", m) for m in (10, 1000)] == near([0.1, 0.001])
    assert [share("inverse", m) for m in (10, 1000)] == near([0.1806497167, 0.0293390657], 9)
    assert rates("inverse", 3, first=3.0).tolist() == [3.0, 1.5, 1.0]
    assert share("sqrt", 10**6) < share("sqrt", 10**3) < 0.01
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(40, 2))
    for schedule in ("constant", "inverse", "sqrt"):
        found = Perceptron(schedule=schedule, margin=0.01, max_iter=20000).fit(rows, rows @ [1.0, 2.0] > 0.5)
        assert found.converged_


def test_F70_batch_with_a_margin():
    """O12: 27 updates to (13, -4, -3); O13: one to (0, 3)."""
    found = fitted(Perceptron("batch", margin=1.0))
    assert (found.n_corrections_.tolist(), weights(found)) == ([27], [13.0, -4.0, -3.0])
    small = fitted(Perceptron("batch", margin=1.0), SMALL, OF)
    assert (small.n_corrections_.tolist(), weights(small)) == ([1], [0.0, 3.0])
    falling = fitted(Perceptron("batch", margin=1.0, schedule="sqrt"))
    steps = by_hand(Y, False, lambda k: 1.0 / np.sqrt(k), 1.0, False, 8)
    assert path(falling)[1:9] == [near(step.tolist(), 12) for step in steps]


def test_F71_balanced_winnow():
    """O26: alpha = 2, y = (1, 1, 0) of w1, (1, 0, 1) of w2: a+ = (1, 2, .5), a- = (1, .5, 2)."""
    found = fitted(Winnow(2.0), np.array([[1.0, 0.0], [0.0, 1.0]]), ["w1", "w2"])
    assert found.n_corrections_.tolist() == [2]
    assert found.positive_.tolist() == [near([1.0, 2.0, 0.5])]
    assert found.negative_.tolist() == [near([1.0, 0.5, 2.0])]
    assert weights(found) == [pytest.approx(0.0, abs=1e-15), near(1.5), near(-1.5)]


def test_F74_batch_relaxation():
    """O13: one update to (-.3, .9), or at 1.5 to (-.45, 1.35); O12: first (.1021645, .0755411, .0140693)."""
    for eta, expected in ((1.0, [-0.3, 0.9]), (1.5, [-0.45, 1.35])):
        small = fitted(Perceptron("batch", rule="relaxation", margin=1.0, increment=eta), SMALL, OF)
        assert (small.n_corrections_.tolist(), weights(small)) == ([1], near(expected))
    found = fitted(Perceptron("batch", rule="relaxation", margin=1.0, increment=0.5, max_iter=2000))
    begin = fitted(Perceptron("batch", rule="relaxation", margin=1.0, increment=0.5, max_iter=5))
    assert path(begin)[1] == near([0.1021645, 0.0755411, 0.0140693], 6)
    steps = by_hand(Y, False, lambda k: 0.5, 1.0, True, 5)
    assert path(begin)[1:] == [near(step.tolist(), 12) for step in steps]
    assert weights(found) == pytest.approx([11 / 3, -4 / 3, -2 / 3], rel=1e-6)
    with pytest.raises(pgm.InvalidArgument, match="diverge"):
        fitted(Perceptron("batch", rule="relaxation", margin=1.0, increment=2.5, max_iter=5000))


def test_F75_single_sample_relaxation():
    """O13: at 1.5 (.3, .6), (-.225, 1.125) and an end; at 1 (.2, .4), (-.2, .8), and for ever on the margin.

    O12: infinitely many corrections, towards (11/3, -4/3, -2/3), on the border of the region of solutions.
    """
    small = fitted(Perceptron(rule="relaxation", margin=1.0, increment=1.5), SMALL, OF)
    assert small.converged_
    assert path(small)[1:] == [near([0.3, 0.6]), near([-0.225, 1.125])]
    stays = fitted(Perceptron(rule="relaxation", margin=1.0), SMALL, OF)
    assert path(stays)[1:3] == [near([0.2, 0.4]), near([-0.2, 0.8])]
    assert (stays.converged_, weights(stays)) == (False, near([-0.2, 0.8]))
    assert stays.n_errors_.tolist() == [0]
    found = fitted(Perceptron(rule="relaxation", margin=1.0, max_iter=1000))
    assert weights(found) == near([11 / 3, -4 / 3, -2 / 3], 9)
    assert Y @ weights(found) == near([1.0] * 4, 9)
    assert not found.converged_


def test_F76_rows_that_nothing_separates():
    """XOR never ends; with falling rates the weights settle, with constant ones they do not."""
    with pytest.warns(UserWarning, match="has not separated"):
        found = Perceptron(max_iter=500).fit(XOR, signs(CLASS))
    assert not found.converged_
    assert found.n_iter_ == 500

    rows = np.vstack([X, [[2.0, 0.1]]])  # one of w2 among those of w1

    def drift(schedule: str) -> float:
        found = fitted(Perceptron(schedule=schedule, max_iter=300), rows, [*CLASS, "w2"])
        return float(np.abs(np.diff(found.traces_[1].weights[-50:], axis=0)).max())

    assert drift("inverse") < 0.1  # its corrections are at most |y| / k
    assert drift("constant") >= 1.0


# --- F86 to F88: voted, pocket, farthest margin ---


def voted_by_hand(rows: np.ndarray, z: np.ndarray, passes: int, kernel: Any) -> tuple[list[int], list[int]]:
    mistaken: list[int] = []
    votes: list[int] = []
    for _ in range(passes):
        for i, x in enumerate(rows):
            value = sum(z[j] * kernel(rows[j], x) for j in mistaken)
            if z[i] * value <= 0.0:
                mistaken.append(i)
                votes.append(1)
            else:
                votes[-1] += 1
    return mistaken, votes


@pytest.mark.parametrize("name", ["linear", "poly", "rbf"])
def test_F86_the_voted_perceptron(name):
    """Each weight that there was votes as often as it survived; by the definition, row by row."""
    kernel = {
        "linear": lambda u, v: 1.0 + u @ v,
        "poly": lambda u, v: (1.0 + 0.5 * (u @ v)) ** 3,
        "rbf": lambda u, v: np.exp(-0.5 * ((u - v) @ (u - v))),
    }[name]
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(90, 2))
    y = (rows[:, 0] * rows[:, 1] > 0.0).astype(int)
    found = VotedPerceptron(name, degree=3, gamma=0.5, max_iter=2).fit(rows, y)
    mistaken, votes = voted_by_hand(rows, 2 * y - 1, 2, kernel)
    assert found.mistaken_[1].tolist() == mistaken
    assert found.votes_[1].tolist() == votes
    assert sum(votes) == 180
    new = rng.normal(size=(15, 2))
    share = []
    for x in new:
        value, total = 0.0, 0.0
        for j, c in zip(mistaken, votes, strict=True):
            value += (2 * y[j] - 1) * kernel(rows[j], x)
            total += c * np.sign(value)
        share.append(total / 180)
    assert found.decision_function(new) == pytest.approx(share, abs=1e-12)
    if name != "linear":  # XOR needs a kernel
        assert (
            VotedPerceptron(name, degree=2, gamma=0.5, max_iter=20)
            .fit(XOR, signs(CLASS))
            .score(XOR, signs(CLASS))
            == 1.0
        )


def test_F87_the_pocket():
    """The best weights are kept: on XOR, one row wrong; with the last ones it would be two or more."""
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(60, 2))
    y = (rows @ [1.0, -1.0] + 0.7 * rng.normal(size=60) > 0.0).astype(int)
    pocket = fitted_any(Perceptron(keep="best", every=10, max_iter=50), rows, y)
    last = fitted_any(Perceptron(max_iter=50), rows, y)
    z = np.column_stack([np.ones(60), rows]) * (2 * y - 1)[:, None]
    a, best, k = np.zeros(3), 61, 0
    kept = a
    for _ in range(50):
        for row in z:
            if row @ a <= 0.0:
                a = a + row
                k += 1
                if k % 10 == 0 and (wrong := int((z @ a <= 0.0).sum())) < best:
                    best, kept = wrong, a
    assert pocket.n_errors_.tolist() == [best]
    assert weights(pocket) == near(kept.tolist(), 9)
    assert best < last.n_errors_[0]
    assert fitted(Perceptron(keep="best", every=1), XOR).n_errors_.tolist() == [1]
    assert weights(fitted(Perceptron(keep="best"))) == [12.0, -5.0, -2.0]  # separable: where it ends


def fitted_any(estimator: Any, rows: np.ndarray, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(rows, y)


def test_F88_the_farthest_margin():
    """O12: 34 corrections to (8, -3, -1), each by the row that is farthest on the wrong side."""
    found = fitted(Perceptron("farthest"))
    assert (found.n_corrections_.tolist(), weights(found)) == ([34], [8.0, -3.0, -1.0])
    a = np.zeros(3)
    for step in path(found)[1:]:
        a = a + Y[int((Y @ a).argmin())]
        assert step == a.tolist()
    loose = fitted(Perceptron("farthest", start="sum", margin=-1.5))
    assert loose.converged_
    assert (Y @ weights(loose)).min() > -1.5
    assert loose.n_corrections_[0] < 34


# --- F89: the list of them ---

ALGORITHMS = {
    "Perceptron_batch": lambda: Perceptron("batch"),
    "Perceptron_FIS": lambda: Perceptron(),
    "Perceptron_VIM": lambda: Perceptron(margin=1.0, schedule="inverse", max_iter=20000),
    "Perceptron_BVI": lambda: Perceptron("batch", margin=1.0, schedule="inverse", max_iter=20000),
    "Balanced_Winnow": lambda: Winnow(),
    "Relaxation_BM": lambda: Perceptron("batch", rule="relaxation", margin=1.0, increment=0.5),
    "Relaxation_SSM": lambda: Perceptron(rule="relaxation", margin=1.0, increment=1.5),
    "LS": lambda: pgm.adapters.LeastSquares(),
    "LMS": lambda: pgm.adapters.LeastSquares(solver="sequential"),
    "Perceptron_Voted": lambda: VotedPerceptron(max_iter=500),
    "Pocket": lambda: Perceptron(keep="best"),
    "Perceptron_FM": lambda: Perceptron("farthest"),
}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_F89_all_of_them_part_these_rows(name):
    """With BasicGradientDescent and Newton_descent, which are `descend`, the fourteen of the list."""
    found = fitted(ALGORITHMS[name]())
    assert found.score(X, signs(CLASS)) == 1.0
    if name not in ("LS", "Perceptron_Voted"):
        assert found.traces_[1].weights.shape[1] == 3
        assert found.traces_[1].weights[-1].tolist() == weights(found)
        assert found.plot().get_ylabel() == "weight"
