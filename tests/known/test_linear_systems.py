"""Worked numbers of the catalogue on linear dynamical systems: C.md, C116 and C117, oracle O38."""

from __future__ import annotations

import numpy as np
import pytest

import pgm
from tests.known.book import near
from tests.linear_oracle import Linear

Y = [1.0, 0.5, -0.3, 1.2, 2.0]
SMOOTH = [0.5588051728, 0.5069866771, 0.4656532259, 0.9611973284, 1.301586213]
SMOOTH_VARIANCE = [0.3253843176, 0.3096445638, 0.3095935038, 0.3250616169, 0.4074035161]


def system() -> pgm.LinearDynamicalSystem:
    return pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)


def test_C116_O38_log_likelihood():
    assert system().score(Y) == near(-7.346238326)
    assert system().filter(Y).log_likelihood == near(-7.346238326)
    assert system().smooth(Y).log_likelihood == near(-7.346238326)


def test_C116_filter():
    found = system().filter(Y)
    assert found.predicted_mean[:, 0] == near([0, 0.5, 0.45, 0.06013169912, 0.5768312942])
    variances = [1, 0.86, 0.8357108434, 0.8310735688, 0.8301725213]
    assert found.predicted_covariance[:, 0, 0] == near(variances)
    assert found.mean[:, 0] == near([0.5555555556, 0.5, 0.06681299903, 0.6409236603, 1.301586213])
    own = [0.4444444444, 0.4144578313, 0.408732801, 0.4076203966, 0.4074035161]
    assert found.covariance[:, 0, 0] == near(own)
    gains = [0.5555555556, 0.5180722892, 0.5109160013, 0.5095254958, 0.5092543951]
    assert found.predicted_covariance[:, 0, 0] / (found.predicted_covariance[:, 0, 0] + 0.8) == near(gains)


def test_C116_smoother():
    found = system().smooth(Y)
    assert found.mean[:, 0] == near(SMOOTH)
    assert found.covariance[:, 0, 0] == near(SMOOTH_VARIANCE)
    pairs = [0.1440207273, 0.1381842869, 0.1438825817, 0.1800341263]
    assert found.lag_one_covariance[:, 0, 0] == near(pairs)


def test_C116_forecast():
    found = system().forecast(Y, steps=1)
    assert found.mean[0, 0] == near(1.171427591)
    assert found.covariance[0, 0, 0] == near(0.829996848, 9)
    assert found.predicted.covariance[0, 0, 0] == near(1.629996848)


def test_C116_steady_state():
    found = system().filter([0.0] * 200)
    variance = found.predicted_covariance[-1, 0, 0]
    assert variance == near(0.8299542667)
    assert variance / (variance + 0.8) == near(0.5091886832)


def test_C116_one_observation_is_missing():
    seen = [1.0, 0.5, None, 1.2, 2.0]
    found = system().smooth(seen)
    assert found.mean[:, 0] == near([0.6591502576, 0.7227286093, 0.9490099243, 1.185835794, 1.426001363])
    assert system().score(seen) == near(-5.696490222)


def test_C116_without_memory_each_step_is_by_itself():
    lds = pgm.LinearDynamicalSystem(A=0.0, C=0.7, Q=1.0, R=0.5, mean=0.0, covariance=1.0)
    assert lds.score(Y) == near(-7.993809251)
    expected = [0.7070707071, 0.3535353535, -0.2121212121, 0.8484848485, 1.414141414]
    assert lds.smooth(Y).mean[:, 0] == near(expected)
    alone = pgm.LinearDynamicalSystem(A=0.0, C=0.7, Q=1.0, R=0.5)  # the stationary start is N(0, 1), too
    assert alone.score(Y) == near(-7.993809251)


def test_C116_constant_velocity():
    lds = pgm.LinearDynamicalSystem(
        A=[[1, 1], [0, 1]], C=[[1, 0]], Q=0.1, R=0.5, mean=[0, 1], covariance=np.eye(2)
    )
    y = [0.9, 2.1, 2.9, 4.2]
    filtered = [(0.6, 1), (1.970689655, 1.25862069), (2.979517069, 1.124812656), (4.172293224, 1.154960212)]
    smoothed = [
        (0.6911502291, 1.160694478),
        (1.879189776, 1.149418857),
        (3.011791657, 1.154960212),
        (4.172293224, 1.154960212),
    ]
    assert lds.filter(y).mean == near(np.array(filtered))
    assert lds.smooth(y).mean == near(np.array(smoothed))
    assert lds.score(y) == near(-5.20858377, 9)


def test_C116_as_a_network():
    """Gaussian belief propagation on the chain: the filter is its way forward, the smoother its way back."""
    net = system().to_network(5)
    seen = {f"y[{t}]": y for t, y in enumerate(Y)}
    assert net.log_probability(seen) == near(-7.346238326)
    for t in range(5):
        p = net.query(f"x[{t}]", seen)
        assert p.mean == near(SMOOTH[t])
        assert p.variance == near(SMOOTH_VARIANCE[t])
    ends = net.query(["x[0]", "x[4]"], seen)
    assert ends.covariance[0, 1] == near(0.01654343649, 9)


@pytest.mark.parametrize("engine", ["exact", "loopy"])
def test_C116_a_forecast_of_the_network(engine):
    net = system().to_network(6)
    seen = {f"y[{t}]": y for t, y in enumerate(Y)}
    assert net.query("x[5]", seen, engine=engine).mean == near(1.171427591)


def turns() -> pgm.SwitchingLinearDynamicalSystem:
    rest = {"C": 1.0, "R": 0.8, "mean": 0.0, "covariance": 1.0}
    systems = [pgm.LinearDynamicalSystem(A=a, Q=q, **rest) for a, q in ((0.9, 0.1), (-0.5, 1.0))]
    return pgm.SwitchingLinearDynamicalSystem([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], systems)


REGIME = [0.6144703646, 0.7118938013, 0.7304295625, 0.7336726019, 0.7887413687]
SWITCHED = [0.5842495685, 0.4956126512, 0.3638964361, 0.7194378746, 0.896879202]


def test_C117_a_switching_system():
    assert turns().score(Y) == near(-7.655902514)
    assert np.exp(turns().score(Y)) == near(0.0004732425482)
    found = turns().smooth(Y)
    assert found.exact
    assert found.regimes.values[:, 0] == near(REGIME)
    assert found.mean[:, 0] == near(SWITCHED)


@pytest.mark.parametrize("engine", ["gpb2", "imm", "gpb1", "rao-blackwellised"])
def test_C117_a_switching_system_is_approximated_by_name_only(engine):
    found = turns().filter(Y, engine=engine)
    assert not found.exact
    assert found.log_likelihood == pytest.approx(-7.655902514, abs=0.02)
    if engine == "gpb2":
        assert turns().smooth(Y, engine=engine).mean[:, 0] == pytest.approx(SWITCHED, abs=0.06)
    if engine == "rao-blackwellised":  # ten groups, each with all 32 paths
        assert turns().smooth(Y, engine=engine).mean[:, 0] == near(SWITCHED)


def numbers(seed: int, T: int = 6) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=T)


def test_C117_factorial_two_chains_and_what_both_make_of_an_observation():
    """Chains that know nothing of each other before they are seen: their systems add up with `+`."""
    one = pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.3, mean=1.0, covariance=1.0)
    two = pgm.LinearDynamicalSystem(A=-0.4, C=2.0, Q=0.2, R=0.4, mean=0.0, covariance=2.0)
    y = numbers(1)
    found = (one + two).smooth(y)
    A, C = np.diag([0.9, -0.4]), np.array([[1.0, 2.0]])
    zero = [np.zeros(2)] * 6
    truth = Linear(
        [A] * 6, [np.diag([0.5, 0.2])] * 6, [C] * 6, [np.array([[0.7]])] * 6,
        np.array([1.0, 0.0]), np.diag([1.0, 2.0]), zero, [np.zeros(1)] * 6,
    ).given(y[:, None])  # fmt: skip
    assert found.mean == near(truth.mean)
    assert found.log_likelihood == near(truth.log)
    assert abs(found.covariance[2, 0, 1]) > 0.01  # once seen together, they do


def test_C117_coupled_two_chains_each_of_which_is_seen():
    A = np.array([[0.6, 0.3], [-0.2, 0.7]])
    lds = pgm.LinearDynamicalSystem(A=A, C=np.eye(2), Q=[0.5, 0.4], R=[0.3, 0.6], mean=[0, 1], covariance=1.0)
    y = numbers(2, 12).reshape(6, 2)
    y[3, 1] = np.nan
    zero = [np.zeros(2)] * 6
    truth = Linear(
        [A] * 6, [np.diag([0.5, 0.4])] * 6, [np.eye(2)] * 6, [np.diag([0.3, 0.6])] * 6,
        np.array([0.0, 1.0]), np.eye(2), zero, zero,
    ).given(y)  # fmt: skip
    found = lds.smooth(y)
    assert found.mean == near(truth.mean)
    assert found.log_likelihood == near(truth.log)


def test_C117_input_output_and_autoregression_are_inputs():
    """Observations that depend on the one before are a system whose input is that observation."""
    y, a = numbers(3, 7), 0.4
    lds = pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, D=[[a]], mean=0.0, covariance=1.0)
    shifted = system().score(y[1:] - a * y[:-1])
    assert lds.score(y[1:], inputs=y[:-1]) == near(shifted)


@pytest.mark.parametrize("engine", ["extended", "unscented"])
def test_C117_filters_of_functions_give_o38_where_these_are_linear(engine):
    nds = pgm.NonlinearDynamicalSystem(lambda x: 0.9 * x, lambda x: x, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
    found = nds.smooth(Y, engine=engine)
    assert found.log_likelihood == near(-7.346238326)
    assert found.mean[:, 0] == near(SMOOTH)
    assert found.covariance[:, 0, 0] == near(SMOOTH_VARIANCE)
    assert not found.exact


def test_C117_particles_find_o38_within_their_errors():
    nds = pgm.NonlinearDynamicalSystem(lambda x: 0.9 * x, lambda x: x, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
    found = nds.smooth(Y, engine="particles")
    errors = found.report.intervals.errors[:, 0]
    assert (np.abs(found.mean[:, 0] - SMOOTH) < 4.5 * errors).all()
    assert errors.max() < 0.05
    assert abs(found.log_likelihood + 7.346238326) < 4.5 * found.report.log_error


def test_C134_a_system_without_memory_is_factor_analysis_of_each_step():
    """The posterior mean is C'(CC' + R)^-1 y, section 6.5."""
    rng = np.random.default_rng(4)
    C, R = rng.normal(size=(4, 2)), np.diag(rng.uniform(0.2, 1.0, 4))
    lds = pgm.LinearDynamicalSystem(A=np.zeros((2, 2)), C=C, Q=np.eye(2), R=R, mean=[0, 0], covariance=1.0)
    y = rng.normal(size=(5, 4))
    expected = y @ np.linalg.inv(C @ C.T + R) @ C
    assert lds.smooth(y).mean == near(expected)
    assert lds.filter(y).mean == near(expected)


def test_T28_the_filter_is_an_answer_and_the_system_is_the_model():
    assert type(system()).__name__ == "LinearDynamicalSystem"
    assert system().filter(Y).engine == "kalman"
