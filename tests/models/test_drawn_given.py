"""Courses drawn given what was observed: against conditioned joint normals, and all courses counted."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.models.dynamic.linear_network import in_slices
from tests.linear_oracle import Linear, _solved, random_linear


class Units(np.random.Generator):
    """Draws the unit vectors: what is linear in normal numbers shows its matrix."""

    def __init__(self, size: int) -> None:
        super().__init__(np.random.PCG64(0))
        self.size, self.taken = size, 0

    def standard_normal(self, shape: Any) -> np.ndarray:  # type: ignore[override]
        many, width = shape
        assert many == self.size
        found = np.eye(self.size)[:, self.taken : self.taken + width]
        self.taken += width
        return found


def conditioned(truth: Linear, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean and covariance of all states and observations given those that were made."""
    number = Decimal if truth.diffuse.any() else float
    mean, cov = truth.joint(number)
    n, flat = truth.T * len(truth.mean), y.ravel()
    seen = np.flatnonzero(~np.isnan(flat)) + n
    S, cross = cov[np.ix_(seen, seen)], cov[seen]
    off = np.array([number(float(v)) for v in flat[~np.isnan(flat)]]) - mean[seen]
    solved, _ = _solved(S, np.column_stack([off, cross]))
    return (mean + cross.T @ solved[:, 0]).astype(float), (cov - cross.T @ solved[:, 1:]).astype(float)


def system(truth: Linear, changing: bool) -> tuple[pgm.LinearDynamicalSystem, np.ndarray]:
    """The oracle's system, what it adds in each step as inputs."""
    n, m, T = len(truth.mean), len(truth.shift[0]), truth.T
    A, Q, C, R = (np.array(each) if changing else each[0] for each in (truth.A, truth.Q, truth.C, truth.R))
    start = truth.covariance + np.diag(np.where(truth.diffuse, np.inf, 0.0))
    B, D = np.hstack([np.eye(n), np.zeros((n, m))]), np.hstack([np.zeros((m, n)), np.eye(m)])
    inputs = np.array([np.concatenate(each) for each in zip(truth.push, truth.shift, strict=True)])
    assert len(inputs) == T
    return pgm.LinearDynamicalSystem(A, C, Q, R, truth.mean, start, B=B, D=D), inputs


@pytest.mark.parametrize("seed", range(40))
def test_draws_are_the_conditioned_joint_normal_to_the_last_digits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m, T = (int(rng.integers(1, high)) for high in (4, 4, 6))
    changing, diffuse = seed % 3 == 0, seed % 4 == 1
    truth = random_linear(rng, n, m, T, changing=changing, diffuse=diffuse)
    lds, inputs = system(truth, changing)
    y = rng.normal(size=(T, m)).round(2)
    y[rng.random(y.shape) < 0.3] = np.nan
    given = y if m > 1 else y[:, 0]
    size = T * n + T * m
    if np.isinf(lds.smooth(given, inputs=inputs).covariance).any():
        with pytest.raises(pgm.InvalidArgument, match="does not determine it"):
            lds.sample(2, given=given, inputs=inputs)
        return
    units = Units(size)
    drawn = lds.sample(size, given=given, inputs=inputs, seed=units)
    assert units.taken == size
    rows = np.array([[*one.states.ravel(), *one.observations.ravel()] for one in drawn])
    mean, cov = conditioned(truth, y)
    centre = lds.sample(1, given=given, inputs=inputs, seed=Zeros())[0]
    at = np.array([*centre.states.ravel(), *centre.observations.ravel()])
    np.testing.assert_allclose(at, mean, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose((rows - at).T @ (rows - at), cov, rtol=1e-7, atol=1e-7)
    observed = ~np.isnan(y.ravel())
    assert (rows[:, T * n :][:, observed] == y.ravel()[observed]).all()


class Zeros(np.random.Generator):
    """Draws the mean."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def standard_normal(self, shape: Any) -> np.ndarray:  # type: ignore[override]
        return np.zeros(shape)


def test_draws_given_a_series_have_its_moments_and_are_seeded() -> None:
    lds = pgm.LinearDynamicalSystem(
        A=[[1.0, 1.0], [0.0, 0.9]], C=[[1.0, 0.0], [1.0, 1.0]], Q=[0.1, 0.4], R=[[0.5, 0.2], [0.2, 0.3]],
        mean=[0.0, 0.0], covariance="diffuse", states=["place", "speed"],
    )  # fmt: skip
    y = [[0.0, 1.0], [None, 2.5], [None, None], [4.0, None]]
    drawn = lds.sample(4000, given=y, seed=3)
    assert drawn[:2] == lds.sample(4000, given=y, seed=3)[:2]
    assert drawn[0] != drawn[1]
    smoothed, states = lds.smooth(y), np.array([one.states for one in drawn])
    error = smoothed.std / np.sqrt(len(drawn))
    assert (np.abs(states.mean(axis=0) - smoothed.mean) < 4 * error).all()
    np.testing.assert_allclose(states.std(axis=0), smoothed.std, rtol=0.05)
    assert drawn[0].to_pandas().columns.tolist() == ["place", "speed", "y0", "y1"]
    assert drawn[0].exact


def test_what_has_no_noise_is_drawn_as_it_was_observed() -> None:
    lds = pgm.LinearDynamicalSystem(A=0.5, C=1.0, Q=1.0, R=0.0, mean=0.0, covariance=1.0)
    for one in lds.sample(5, given=[1.0, None, 3.0], seed=0):
        assert one.states[[0, 2], 0] == pytest.approx([1.0, 3.0], abs=1e-12)
        assert one.observations[1] == pytest.approx(one.states[1, 0], abs=1e-12)


def test_times_of_draws_are_those_given() -> None:
    lds = pgm.LinearDynamicalSystem(
        A=lambda gap: 0.9**gap, C=1.0, Q=lambda gap: gap, R=1.0, mean=0, covariance=1
    )
    drawn = lds.sample(3, given=[1.0, None, 0.0], times=[0.0, 0.5, 2.0], seed=0)
    assert drawn[0].steps.tolist() == [0.0, 0.5, 2.0]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda s: s.sample(0, given=[1.0]), "n is how many series are drawn, 1 at least; not 0"),
        (lambda s: s.sample(2, given=[1.0], sequences=2), "leave out sequences="),
        (lambda s: s.sample(2, given=[[1.0], [2.0]]), "given= is one series"),
        (lambda s: s.sample(2, given=["a"]), "'a'"),
        (
            lambda s: pgm.LinearDynamicalSystem(3.0, 1.0, 1.0, 1.0, 0.0, 1.0).sample(2, given=[1.0] * 40),
            "The system is unstable",
        ),
    ],
)
def test_what_cannot_be_drawn(ask: Any, said: str) -> None:
    with pytest.raises(pgm.InvalidArgument) as error:
        ask(pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8))
    assert said in str(error.value)


# --- pictures of what leads to what ---


def test_arrows_of_a_linear_system_are_its_entries() -> None:
    lds = pgm.LinearDynamicalSystem(
        A=[[1, 1], [0, 0]], C=[[1, 0], [0, 2]], Q=1, R=1, mean=[0, 0], covariance=1, B=[[0, 1], [0, 0]],
        D=[[0, 0], [3, 0]], states=["level", "y1"],
    )  # fmt: skip
    net = in_slices(lds)
    arrows = {
        ("level[-1]", "level"), ("y1[-1]", "level"), ("u1[-1]", "level"),
        ("level", "y0"), ("y1", "y1 observed"), ("u0", "y1 observed"),
    }  # fmt: skip
    assert set(net.edges) == arrows
    changing = pgm.LinearDynamicalSystem(A=[[[0.0]], [[1.0]]], C=1, Q=1, R=1, mean=0, covariance=1)
    assert set(in_slices(changing).edges) == {("x[-1]", "x"), ("x", "y")}
    timed = pgm.LinearDynamicalSystem(A=lambda gap: gap - 1.0, C=1, Q=1, R=1, mean=0, covariance=1)
    assert set(in_slices(timed).edges) == {("x", "y")}
    assert lds.plot(title="parts").get_title() == "parts"
    assert timed.plot().get_title() == "Linear dynamical system"


def test_a_switching_system_draws_its_regimes() -> None:
    calm = pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.1, R=0.8)
    both = pgm.SwitchingLinearDynamicalSystem(
        [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], {"calm": calm, "wild": calm}
    )
    axes = both.plot()
    assert axes.get_title() == "Regimes"
    assert {"calm", "wild"} <= {text.get_text() for text in axes.texts}
