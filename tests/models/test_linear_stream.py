"""Kalman filters step by step: the same numbers as all at once, and as by conditioning."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

import pgm
from pgm import components
from tests.linear_oracle import random_linear


def plane(**changes: Any) -> pgm.LinearDynamicalSystem:
    given: dict[str, Any] = {
        "A": [[0.9, 0.2], [-0.1, 0.7]],
        "C": [[1.0, 0.0], [1.0, 0.5], [0.0, 1.0]],
        "Q": [[0.5, 0.1], [0.1, 0.3]],
        "R": [[1.0, 0.3, 0.0], [0.3, 2.0, 0.1], [0.0, 0.1, 0.5]],
    }
    return pgm.LinearDynamicalSystem(**{**given, **changes})


def gaps(T: int, m: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(T, m))
    y[rng.random(y.shape) < 0.3] = np.nan
    y[T // 3] = np.nan
    return y if m > 1 else y[:, 0]


def changing() -> pgm.LinearDynamicalSystem:
    rng = np.random.default_rng(3)
    A, C = rng.normal(size=(39, 2, 2)) / 2, rng.normal(size=(40, 3, 2))
    return plane(A=A, C=C, mean=[0.0, 1.0], covariance=np.eye(2))


SYSTEMS: dict[str, Any] = {
    "stationary": plane,
    "constants": lambda: plane(b=[1.0, 2.0], d=[0.5, 0.0, -1.0]),
    "diffuse": lambda: plane(covariance="diffuse"),
    "partly diffuse": lambda: plane(covariance=[2.0, np.inf]),
    "changing": changing,
    "trend and season": lambda: components.trend(Q=(0.1, 0.01), R=0.5) + components.season(4, Q=0.1),
}


@pytest.mark.parametrize("chunk", [1, 2, 7, 40])
@pytest.mark.parametrize("name", SYSTEMS)
def test_chunks_of_any_size_give_the_bits_of_the_batch(name: str, chunk: int) -> None:
    lds = SYSTEMS[name]()
    y = gaps(40, len(lds.observations))
    whole, stream = lds.filter(y), lds.stream()
    found = [stream.push(y[t : t + chunk]) for t in range(0, 40, chunk)]
    for what in ("mean", "covariance", "predicted_mean", "predicted_covariance", "step_scores", "steps"):
        together = np.concatenate([getattr(one, what) for one in found])
        assert np.array_equal(together, getattr(whole, what)), what
    assert np.array_equal(stream.mean, whole.mean[-1])
    assert np.array_equal(stream.covariance, whole.covariance[-1])
    assert stream.log_likelihood == pytest.approx(lds.score(y), rel=1e-12)
    assert len(stream) == 40
    assert np.array_equal(np.concatenate([one.signal.mean for one in found]), whole.signal.mean)
    if name != "changing":
        ours, theirs = stream.forecast(3), lds.forecast(y, steps=3)
        assert np.array_equal(ours.mean, theirs.mean)
        assert np.array_equal(ours.covariance, theirs.covariance)
        assert np.array_equal(ours.predicted.covariance, theirs.predicted.covariance)
        assert ours.steps.tolist() == [40, 41, 42]
        assert ours.log_likelihood == stream.log_likelihood


@pytest.mark.parametrize("seed", range(12))
def test_one_at_a_time_is_as_by_conditioning(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m, T = (int(x) for x in (rng.integers(1, 4), rng.integers(1, 4), rng.integers(1, 7)))
    truth = random_linear(rng, n, m, T, changing=False)
    lds = pgm.LinearDynamicalSystem(
        truth.A[0],
        truth.C[0],
        truth.Q[0],
        truth.R[0],
        truth.mean,
        np.where(np.diag(truth.diffuse), np.inf, truth.covariance),
    )
    y = rng.normal(size=(T, m))
    y[rng.random(y.shape) < 0.2] = np.nan
    plain = type(truth)(**{**vars(truth), "push": np.zeros((T, n)), "shift": np.zeros((T, m))})
    stream = lds.stream()
    for t in range(T):
        stream.push(y[t] if m > 1 else y[t, 0])
        seen = np.where(np.arange(T)[:, None] <= t, y, np.nan)
        assert stream.log_likelihood == pytest.approx(plain.given(seen).log, rel=1e-9, abs=1e-9)


def test_inputs_and_times_come_with_each_observation() -> None:
    heated = plane(B=[[0.5], [1.0]], D=[[0.1], [0.0], [0.2]])
    y, u = gaps(9, 3), np.random.default_rng(2).normal(size=12)
    stream = heated.stream()
    for t in range(9):
        stream.push(y[t], inputs=u[t])
    assert np.array_equal(stream.mean, heated.filter(y, inputs=u[:9]).mean[-1])
    ahead = heated.forecast(y, steps=3, inputs=u)
    assert np.array_equal(stream.forecast(3, inputs=u[9:]).predicted.mean, ahead.predicted.mean)

    walk = pgm.LinearDynamicalSystem(
        lambda gap: 0.5**gap, 1.0, lambda gap: 0.3 * gap, 0.1, mean=0.0, covariance=2.0
    )
    times, values = [0.0, 0.4, 3.0, 3.5], [1.0, None, 2.0, 1.5]
    stream = walk.stream()
    for time, value in zip(times, values, strict=True):
        stream.push(value, times=time)
    assert np.array_equal(stream.mean, walk.filter(values, times=times).mean[-1])
    ahead = walk.forecast(values, steps=1, times=[*times, 5.0])
    assert np.array_equal(stream.forecast(1, times=5.0).mean, ahead.mean)
    with pytest.raises(pgm.InvalidArgument, match=r"the last step was at 3\.5, and the next is at 3"):
        stream.push(1.0, times=3.0)


def test_a_stream_copies_and_pickles_and_goes_on_apart() -> None:
    y = gaps(12, 3)
    stream = plane(covariance="diffuse").stream()
    stream.push(y[:6])
    others = [stream.copy(), copy.deepcopy(stream), pickle.loads(pickle.dumps(stream))]
    stream.push(y[6:])
    for other in others:
        assert len(other) == 6
        other.push(y[6:])
        assert np.array_equal(other.mean, stream.mean)
        assert other.log_likelihood == stream.log_likelihood


def test_its_memory_does_not_grow() -> None:
    stream = plane().stream()
    y = gaps(1_000, 3)

    def held() -> int:
        tracemalloc.start()
        for _ in range(20):
            stream.push(y)
        found = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return found

    held()
    assert held() < 200_000
    assert len(pickle.dumps(stream)) < 10_000


def test_fitting_the_system_does_not_change_its_streams() -> None:
    lds = pgm.LinearDynamicalSystem(0.5, 1.0, 1.0, 1.0)
    stream, before = lds.stream(), lds.copy()
    lds.fit(gaps(30, 1), max_iter=2)
    assert np.array_equal(stream.push([1.0, 2.0]).mean, before.filter([1.0, 2.0]).mean)


def test_a_stream_that_refuses_is_as_it_was() -> None:
    exact = pgm.LinearDynamicalSystem(1.0, 1.0, 0.0, 0.0, mean=0.0, covariance=1.0)
    stream = exact.stream()
    stream.push([2.0, 2.0])
    with pytest.raises(pgm.ImpossibleEvidence, match="The observation of step 3 "):
        stream.push([2.0, 3.0])
    with pytest.raises(pgm.InvalidArgument):
        stream.push("x")
    with pytest.raises(pgm.InvalidArgument):
        stream.push([])
    with pytest.raises(pgm.InvalidArgument, match=r"A stream is one series"):
        stream.push([[1.0, 2.0], [3.0]])
    assert (len(stream), stream.mean.tolist()) == (2, [2.0])
    with pytest.raises(pgm.InvalidArgument, match="steps= is a whole number"):
        stream.forecast(0)
    late = changing().stream()
    late.push(gaps(40, 3))
    with pytest.raises(pgm.InvalidArgument, match=r"A= has matrices for 39 steps in time; 41 observations"):
        late.push([1.0, 2.0, 3.0])


def test_before_anything_it_knows_the_start() -> None:
    stream = plane(mean=[1.0, 2.0], covariance=[3.0, 4.0]).stream()
    assert (stream.mean.tolist(), stream.covariance.diagonal().tolist()) == ([1.0, 2.0], [3.0, 4.0])
    assert (len(stream), stream.log_likelihood) == (0, 0.0)
    assert stream.forecast(1).mean.tolist() == [[1.0, 2.0]]
    assert repr(stream) == "stream of a linear dynamical system: 0 steps, log-likelihood 0.000000"
