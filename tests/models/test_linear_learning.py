"""EM of linear dynamical systems: the catalogue's step, pykalman's, and likelihoods that never fall."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pgm
from pgm import LinearDynamicalSystem
from pgm.models.dynamic import linear_learning
from tests.known.book import near
from tests.models.test_linear_dynamical_system import gappy, plane, scalar

Y = [1.0, 0.5, -0.3, 1.2, 2.0]


def test_C116_one_step_of_em() -> None:
    lds = scalar().fit(Y, max_iter=1)
    found = [lds.A[0, 0], lds.Q[0, 0], lds.C[0, 0], lds.R[0, 0], lds.mean[0], lds.covariance[0, 0]]
    expected = [0.9477998443, 0.4417116553, 0.8716782556, 0.5838304833, 0.5588051728, 0.3253843176]
    assert found == near(expected)
    assert lds.score(Y) == near(-6.537987868)
    report = lds.fit_report
    assert report.log_likelihoods == near((-7.346238326, -6.537987868))
    assert not report.converged
    assert report.stopped_by == "max_iter"
    assert report.n_parameters == 6


def test_pykalman_takes_the_same_steps() -> None:
    pykalman = pytest.importorskip("pykalman")
    lds = plane(mean=[0.5, 0.0], covariance=np.eye(2))
    y = np.random.default_rng(0).normal(size=(60, 3))
    y[20] = np.nan
    peer = pykalman.KalmanFilter(
        lds.A, lds.C, lds.Q, lds.R, np.zeros(2), np.zeros(3), lds.mean, lds.covariance,
        em_vars=["transition_matrices", "observation_matrices", "transition_covariance",
                 "observation_covariance", "initial_state_mean", "initial_state_covariance"],
    )  # fmt: skip
    peer = peer.em(np.ma.masked_invalid(y), n_iter=3)
    found = lds.fit(y, max_iter=3, tol=0.0)
    assert found.A == pytest.approx(peer.transition_matrices, abs=1e-8)
    assert found.C == pytest.approx(peer.observation_matrices, abs=1e-8)
    assert found.Q == pytest.approx(peer.transition_covariance, abs=1e-8)
    assert found.R == pytest.approx(peer.observation_covariance, abs=1e-8)
    assert found.mean == pytest.approx(peer.initial_state_mean, abs=1e-8)
    assert found.covariance == pytest.approx(peer.initial_state_covariance, abs=1e-8)


CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"R": [0.5, 0.4, 0.6]}, {"fixed": {"R": ~np.eye(3, dtype=bool)}}),
    ({}, {"fixed": ["A", "C"]}),
    ({"covariance": "diffuse"}, {"fixed": ["C"]}),
    ({"Q": [[1.0, 0.0], [0.0, 0.0]]}, {"fixed": ["C"]}),
    ({"b": [0.1, 0.2], "d": [0.0, 1.0, 0.0]}, {"fixed": {"C": [[True, False]] * 3}}),
    ({}, {"fixed": {"A": [[True, False], [False, False]], "mean": [True, False]}}),
]


@pytest.mark.parametrize(("changes", "given"), CASES)
@pytest.mark.parametrize("gaps", [False, True])
def test_the_likelihood_never_falls(changes: dict[str, Any], given: dict[str, Any], gaps: bool) -> None:
    y = [gappy(40, 3, seed) for seed in range(3)]
    if not gaps:
        y = [np.random.default_rng(seed).normal(size=(40, 3)) for seed in range(3)]
    lds = plane(**changes)
    before = lds.copy()
    lds.fit(y, max_iter=25, tol=0.0, **given)
    logs = lds.fit_report.log_likelihoods
    assert len(logs) == 26
    assert (np.diff(logs) > -1e-9).all()
    assert logs[-1] > logs[0] + 1.0
    assert lds.score(y) == pytest.approx(logs[-1], rel=1e-12)
    assert before.score(y) == pytest.approx(logs[0], rel=1e-12)
    fixed = given.get("fixed", [])
    for name in fixed:
        held = np.asarray(fixed[name] if isinstance(fixed, dict) else True)
        held = np.broadcast_to(held, getattr(before, name).shape)
        assert np.array_equal(getattr(lds, name)[held], getattr(before, name)[held])
        assert held.all() or not np.array_equal(getattr(lds, name), getattr(before, name))


def test_inputs_are_learned() -> None:
    rng = np.random.default_rng(1)
    truth = LinearDynamicalSystem(
        A=0.7, C=1.0, Q=0.1, R=0.2, B=[[1.0, -0.5]], D=[[0.0, 2.0]], d=3.0, mean=0.0, covariance=1.0
    )
    u = rng.normal(size=(2000, 2))
    y = truth.sample(2000, inputs=u, seed=3).observations
    lds = LinearDynamicalSystem(
        A=0.5, C=1.0, Q=1.0, R=1.0, B=[[0.0, 0.0]], D=[[0.0, 0.0]], d=0.0, mean=0.0, covariance=1.0
    )
    lds.fit(y, inputs=u, fixed=["C"], max_iter=600, tol=1e-9)
    assert (np.diff(lds.fit_report.log_likelihoods) > -1e-9).all()
    assert lds.A[0, 0] == pytest.approx(0.7, abs=0.05)
    assert lds.B == pytest.approx(truth.B, abs=0.05)
    assert lds.D == pytest.approx(truth.D, abs=0.05)
    assert lds.d == pytest.approx(truth.d, abs=0.1)
    assert lds.score(y, inputs=u) >= truth.score(y, inputs=u)


def test_where_em_rests_the_gradient_vanishes() -> None:
    y = scalar().sample(300, seed=2).observations.copy()
    y[100:120] = np.nan
    lds = scalar(Q=1.0, R=0.3).fit(y, fixed=["C", "mean", "covariance"], max_iter=5000, tol=1e-15)
    point = np.array([lds.A[0, 0], lds.Q[0, 0], lds.R[0, 0]])

    def log(values: np.ndarray) -> float:
        return float(scalar(A=values[0], Q=values[1], R=values[2]).score(y))

    for step in np.eye(3) * 1e-4:
        assert abs(log(point + step) - log(point - step)) / 2e-4 < 2e-3


def test_several_series_with_gaps_learn_from_all() -> None:
    truth = plane()
    rng = np.random.default_rng(5)
    y = [truth.sample(300, seed=seed).observations.copy() for seed in range(5)]
    for one in y:
        one[rng.random(one.shape) < 0.1] = np.nan
    lds = plane(A=np.eye(2) * 0.5, Q=np.eye(2), R=np.eye(3)).fit(y, fixed=["C"], max_iter=300, tol=1e-9)
    assert lds.fit_report.converged
    assert lds.A == pytest.approx(truth.A, abs=0.1)
    assert lds.score(y) > truth.score(y)
    assert lds.fit_report.aic == pytest.approx(2 * (lds.fit_report.n_parameters - lds.score(y)))


@pytest.mark.parametrize(
    ("lds", "y", "given", "words"),
    [
        (scalar(), Y, {"fixed": ["a"]}, r"fixed= names 'a'; there are 'A'"),
        (scalar(), Y, {"fixed": {"A": [True, False]}}, r"fixed= of 'A' takes True, or an array"),
        (scalar(), Y, {"fixed": ["A", "C", "Q", "R", "mean", "covariance"]}, r"holds everything"),
        (plane(), gappy(9, 3), {"fixed": {"Q": np.eye(2, dtype=bool)}}, r"blocks on its diagonal"),
        (plane(), gappy(9, 3), {"fixed": {"Q": ~np.eye(2, dtype=bool)}}, r"with zeros elsewhere"),
        (scalar(), [None, None], {}, r"Nothing was observed"),
        (scalar(), Y, {"max_iter": 0}, r"max_iter="),
        (scalar(A=[[[0.9]]] * 4), Y, {}, r"the same in all steps"),
    ],
)
def test_bad_fits(lds: LinearDynamicalSystem, y: Any, given: dict[str, Any], words: str) -> None:
    before = lds.copy()
    with pytest.raises(pgm.InvalidArgument, match=words):
        lds.fit(y, **given)
    assert lds == before


def test_noise_that_collapses_is_named() -> None:
    """An observation that repeats a state exactly: its noise shrinks to nothing."""
    with pytest.raises(pgm.InvalidArgument, match=r"R= collapses in iteration \d+.*'y1'.*fixed="):
        LinearDynamicalSystem(A=0.5, C=[[1.0], [0.0]], Q=1.0, R=[1.0, 1.0]).fit(
            [[1.0, 0.0], [2.0, 0.0], [0.5, 0.0]]
        )
    assert scalar().fit_report is None


def drawn(n: int = 6, steps: int = 40, seed: int = 3) -> list[np.ndarray]:
    system = pgm.LinearDynamicalSystem(A=0.8, C=1.0, Q=0.5, R=0.3)
    return [np.array(one.observations) for one in system.sample(steps, sequences=n, seed=seed)]


def begin() -> pgm.LinearDynamicalSystem:
    return pgm.LinearDynamicalSystem(A=0.5, C=1.0, Q=1.0, R=1.0, b=[0.1], mean=0.0, covariance=1.0)


def test_a_weight_of_two_is_the_series_twice() -> None:
    y = drawn(3)
    a = begin().fit(y, weights=[2, 0, 1], max_iter=7)
    b = begin().fit([y[0], y[0], y[2]], max_iter=7)
    np.testing.assert_allclose(a.A, b.A, rtol=1e-10)
    np.testing.assert_allclose(a.R, b.R, rtol=1e-10)
    assert a.fit_report.log_likelihoods == pytest.approx(b.fit_report.log_likelihoods)
    with pytest.raises(pgm.InvalidArgument, match="weights= has a non-negative number"):
        begin().fit(y, weights=[1.0, 2.0])


def test_a_prior_is_so_many_further_steps() -> None:
    """At rest the gradient of log-likelihood and log prior vanishes; the prior is written out here."""
    y = drawn(2, 30)
    weights = {"A": 40.0, "Q": 25.0, "R": 15.0, "b": 3.0, "mean": 4.0, "covariance": 6.0}
    found = begin().fit(y, fixed=["C"], prior=weights, max_iter=4000, tol=1e-14)
    first = begin()

    def objective(x: np.ndarray) -> float:
        A, Q, R, b, mean, covariance = x
        lds = pgm.LinearDynamicalSystem(A=A, C=1.0, Q=Q, R=R, b=[b], mean=mean, covariance=covariance)
        log = lds.score(y)
        log -= 0.5 * (25 * np.log(Q) + (25 * first.Q[0, 0] + 40 * (A - 0.5) ** 2 + 3 * (b - 0.1) ** 2) / Q)
        log -= 0.5 * (15 * np.log(R) + 15 * 1.0 / R)
        log -= 0.5 * (6 * np.log(covariance) + (6 * 1.0 + 4 * mean**2) / covariance)
        return float(log)

    rest = np.array(
        [found.A, found.Q, found.R, found.b[:, None], found.mean[:, None], found.covariance]
    ).ravel()
    for i in range(6):
        step = np.zeros(6)
        step[i] = 1e-4
        slope = (objective(rest + step) - objective(rest - step)) / 2e-4
        assert abs(slope) < 2e-3, i
    plain = begin().fit(y, fixed=["C"], max_iter=4000, tol=1e-12)
    assert abs(found.A[0, 0] - 0.5) < abs(plain.A[0, 0] - 0.5)
    strong = begin().fit(y, prior=1e9, max_iter=3)
    np.testing.assert_allclose(strong.A, first.A, rtol=1e-6)
    np.testing.assert_allclose(strong.Q, first.Q, rtol=1e-6)
    with pytest.raises(pgm.InvalidArgument, match="prior= names 'a'"):
        begin().fit(y, prior={"a": 1.0})
    with pytest.raises(pgm.InvalidArgument, match="prior= of 'A' is a number that is not negative"):
        begin().fit(y, prior={"A": -1.0})


def test_a_prior_of_several_numbers_never_lets_the_objective_fall() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=(50, 3))
    y[rng.random(y.shape) < 0.2] = np.nan
    lds = pgm.LinearDynamicalSystem(
        A=0.5 * np.eye(2), C=rng.normal(size=(3, 2)), Q=np.eye(2), R=np.eye(3) + 0.2
    )
    fitting = linear_learning.LinearLearning(
        lds, y, None, None, None, (), prior={"A": 5.0, "Q": 8.0, "C": 2.0, "R": 9.0}
    )
    now, before = fitting.p, -np.inf
    for k in range(30):
        step = fitting.expect(now)
        assert step.objective >= before - 1e-9
        before, now = step.objective, fitting.maximise(now, step.statistics, k)


@pytest.mark.parametrize("gaps", [False, True])
def test_strides_climb_as_high_in_fewer_steps(gaps: bool) -> None:
    y = drawn(4, 60)
    if gaps:
        y[1][10:30] = np.nan
    slow = begin().fit(y, fixed=["C"], max_iter=3000, tol=1e-11)
    fast = begin().fit(y, fixed=["C"], max_iter=3000, tol=1e-11, method="squarem")
    assert fast.fit_report.log_likelihoods[-1] >= slow.fit_report.log_likelihoods[-1] - 1e-5
    assert fast.fit_report.iterations < slow.fit_report.iterations / 2
    assert (np.diff(fast.fit_report.log_likelihoods) >= -1e-9).all()
    with pytest.raises(pgm.InvalidArgument, match="method= is"):
        begin().fit(y, method="viterbi")


def test_of_several_starts_the_best_is_kept() -> None:
    rng = np.random.default_rng(5)
    truth = pgm.LinearDynamicalSystem(A=[[0.9, 0.3], [-0.3, 0.9]], C=rng.normal(size=(3, 2)), Q=0.1, R=0.2)
    y = np.array(truth.sample(150, seed=1).observations)
    poor = pgm.LinearDynamicalSystem(A=0.1 * np.eye(2), C=np.full((3, 2), 0.1), Q=1.0, R=1.0)
    one, many = poor.copy().fit(y, max_iter=20), poor.copy().fit(y, max_iter=20, starts=4, seed=2)
    ends = [logs[-1] for logs in many.fit_report.starts]
    assert len(ends) == 4
    assert many.fit_report.log_likelihoods[-1] == max(ends) > one.fit_report.log_likelihoods[-1]
    assert ends[0] == one.fit_report.log_likelihoods[-1]
    assert poor.copy().fit(y, max_iter=20, starts=4, seed=2) == many
    held = poor.copy().fit(y, fixed=["A", "Q"], max_iter=2, starts=3, seed=0)
    assert (held.A == poor.A).all()
    with pytest.raises(pgm.InvalidArgument, match="starts= is a whole number"):
        poor.fit(y, starts=0)


def test_what_does_not_change_is_learned_beside_what_does() -> None:
    """Irregular times make the states' equation change; the noise of observations is learned all the same."""
    rng = np.random.default_rng(2)
    times = [np.cumsum(rng.uniform(0.2, 2.0, 60)) for _ in range(2)]

    def walk(R: float, d: float) -> pgm.LinearDynamicalSystem:
        return pgm.LinearDynamicalSystem(
            A=lambda gap: 1.0, C=1.0, Q=lambda gap: 0.3 * gap, R=R, d=[d], covariance="diffuse"
        )

    y = [np.cumsum(rng.normal(size=60)) + rng.normal(size=60) for _ in range(2)]
    y[0][5:9] = np.nan
    found = walk(1.0, 0.0).fit(y, times=times, fixed=["A", "Q", "C", "d"], max_iter=3000, tol=1e-13)
    R = float(found.R[0, 0])
    slope = (walk(R + 1e-4, 0.0).score(y, times=times) - walk(R - 1e-4, 0.0).score(y, times=times)) / 2e-4
    assert abs(slope) < 1e-3
    with pytest.raises(pgm.InvalidArgument, match=r"A= changes.*hold it and what depends on it, fixed="):
        walk(1.0, 0.0).fit(y, times=times)
    with pytest.raises(pgm.InvalidArgument, match="prior= of what changes"):
        walk(1.0, 0.0).fit(y, times=times, fixed=["A", "Q"], prior={"Q": 2.0})


def test_observations_that_change_leave_the_states_to_be_learned() -> None:
    rng = np.random.default_rng(3)
    C = rng.normal(size=(80, 1, 1))
    y = rng.normal(size=80)

    def system(A: float, Q: float) -> pgm.LinearDynamicalSystem:
        return pgm.LinearDynamicalSystem(A=A, C=C, Q=Q, R=0.5, mean=0.0, covariance=1.0)

    held = ["C", "R", "mean", "covariance"]
    found = system(0.3, 1.0).fit(y, fixed=held, max_iter=5000, tol=1e-14, method="squarem")
    A, Q = float(found.A[0, 0]), float(found.Q[0, 0])
    for dA, dQ in ((1e-4, 0.0), (0.0, 1e-4)):
        slope = (system(A + dA, Q + dQ).score(y) - system(A - dA, Q - dQ).score(y)) / 2e-4
        assert abs(slope) < 2e-2
    assert system(0.3, 1.0).fit(y, fixed=held, starts=3, seed=1, max_iter=5).fit_report.starts


@pytest.mark.parametrize("seed", range(5))
def test_what_has_no_noise_between_what_has_stays(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, Q = 0.3 * rng.normal(size=(4, 4)), np.zeros((4, 4))
    some = np.ix_([0, 2, 3], [0, 2, 3])
    root = rng.normal(size=(3, 3))
    Q[some] = root @ root.T
    lds = pgm.LinearDynamicalSystem(
        A=A, C=np.eye(2, 4), Q=Q, R=np.eye(2), mean=np.zeros(4), covariance=np.eye(4)
    )
    lds.fit(rng.normal(size=(30, 2)), fixed=["C", "mean", "covariance"], max_iter=8)
    logs = lds.fit_report.log_likelihoods
    assert (lds.A[1] == A[1]).all()
    assert (np.diff(logs) > -1e-9).all()
