"""Courses drawn given what was observed: against conditioned joint normals, and all courses counted."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.inference.engines.interface import courses_given
from pgm.models.dynamic.linear_network import in_slices
from tests.inference.test_interface import courses, small
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
    drawn = lds.sample(1000, given=y, seed=3)
    assert drawn[:2] == lds.sample(1000, given=y, seed=3)[:2]
    assert drawn[0] != drawn[1]
    smoothed, states = lds.smooth(y), np.array([one.states for one in drawn])
    error = smoothed.std / np.sqrt(len(drawn))
    assert (np.abs(states.mean(axis=0) - smoothed.mean) < 4 * error).all()
    np.testing.assert_allclose(states.std(axis=0), smoothed.std, rtol=0.08)
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
        (lambda s: s.sample(0, given=[1.0]), "n is how many series are drawn: at least 1, not 0"),
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


# --- dynamic networks ---


@pytest.mark.parametrize("seed", range(24))
def test_courses_are_drawn_as_often_as_they_are_probable(seed: int) -> None:
    dbn, data, steps = small(seed)
    every = {
        tuple(map(repr, map(dict.values, course))): p for course, p in courses(dbn, data, steps) if p > 0
    }
    total, many = sum(every.values()), 4000
    drawn = dbn.sample(many, given=data, seed=seed)
    seen: Counter[Any] = Counter()
    for one in drawn:
        columns = [one[name].tolist() for name in dbn.nodes]
        course = [dict(zip(dbn.nodes, row, strict=True)) for row in zip(*columns, strict=True)]
        seen[tuple(map(repr, map(dict.values, course)))] += 1
    assert set(seen) <= set(every)  # never what is impossible
    for course, p in every.items():
        share = p / total
        error = np.sqrt(share * (1 - share) / many)
        assert abs(seen[course] / many - share) < 4.5 * error + 1e-12 + (2 / many if share < 1e-3 else 0)


@pytest.mark.parametrize("seed", [3, 8])
def test_draws_in_pieces_are_those_of_the_whole(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dbn, data, steps = small(seed)
    monkeypatch.setattr(courses_given, "_TOGETHER", 3000)  # a step or two at a time
    smoothed, drawn = dbn.smooth(data, targets=dbn.nodes), dbn.sample(3000, given=data, seed=1)
    for t in range(steps):
        for name, variable in dbn.variables.items():
            for state in variable.states:
                share = float(smoothed[t][name][state])
                error = np.sqrt(share * (1 - share) / len(drawn))
                found = np.mean([one[name][t] == state for one in drawn])
                assert abs(found - share) < 4 * error + 1e-9


def test_numbers_that_were_not_observed_are_drawn_below_their_parents() -> None:
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("bias", pgm.LinearGaussian(bias=5.0, sd=0.1), static=True)
    dbn.add("on", {True: 0.8, False: 0.3}, parents=["on[-1]"], initial=0.5)
    dbn.add(
        "x",
        {True: pgm.LinearGaussian({"x[-1]": 0.5}, bias=1.0, sd=0.5), False: pgm.LinearGaussian(sd=2.0)},
        parents=["on", "x[-1]"],
        initial={True: pgm.LinearGaussian(bias=1.0, sd=0.5), False: pgm.LinearGaussian(sd=2.0)},
    )
    dbn.add("y", pgm.LinearGaussian({"x": 2.0, "bias": 1.0}, sd=0.3))
    given = {"x": [1.2, 0.9, None, None], "on": [None, None, None, None]}
    drawn = dbn.sample(6000, given=given, seed=5)
    one = {name: np.array([each[name] for each in drawn]) for name in dbn.nodes}
    assert (one["x"][:, :2] == [1.2, 0.9]).all()
    assert (one["bias"] == one["bias"][:, :1]).all()
    on = np.asarray(dbn.smooth({"x": given["x"]}).marginal("on").values[:, 1])
    error = np.sqrt(on * (1 - on) / len(drawn))
    assert (np.abs(one["on"].mean(axis=0) - on) < 4 * error).all()
    # the last x by its parents, and y by its own
    for state, mean, sd in ((True, 1.0 + 0.5 * one["x"][:, 2], 0.5), (False, 0.0 * one["x"][:, 2], 2.0)):
        off = (one["x"][:, 3] - mean)[one["on"][:, 3] == state] / sd
        assert abs(off.mean()) < 4 / np.sqrt(off.size)
        assert abs(off.var() - 1) < 4 * np.sqrt(2 / off.size)
    off = (one["y"] - 2.0 * one["x"] - one["bias"]) / 0.3
    assert abs(off.mean()) < 4 / np.sqrt(off.size)
    assert abs(off.var() - 1) < 4 * np.sqrt(2 / off.size)
    assert abs(one["bias"][:, 0].mean() - 5.0) < 4 * 0.1 / np.sqrt(len(drawn))
    kept = dbn.sample(2, given={**given, "bias": 4.0}, seed=0)
    assert all((each["bias"] == 4.0).all() for each in kept)
    with pytest.raises(pgm.InvalidArgument, match="depends on the continuous 'x', which was not"):
        dbn.sample(2, given={"y": [1.0, 2.0], "bias": 4.0})


def test_courses_behind_a_gate_and_of_a_long_sequence() -> None:
    dbn = pgm.DynamicBayesianNetwork()
    for name in ("a", "b", "c"):
        dbn.add(name, {True: 0.8, False: 0.1}, parents=[f"{name}[-1]"], initial=0.3)
    dbn.add("alarm", pgm.NoisyOr({"a": 0.9, "b": 0.5, "c": 0.2}, leak=0.05))
    drawn = dbn.sample(300, seed=2)
    smoothed = dbn.smooth({"alarm": drawn["alarm"]})
    many = dbn.sample(500, given={"alarm": drawn["alarm"]}, seed=0)
    for name in ("a", "b", "c"):
        share = smoothed.marginal(name).values[:, 1]
        found = np.mean([one[name] for one in many], axis=0)
        assert (np.abs(found - share) < 4.5 * np.sqrt(share * (1 - share) / 500) + 1e-9).all()
    assert (many[0]["alarm"] == drawn["alarm"]).all()
    assert many[7] == dbn.sample(500, given={"alarm": drawn["alarm"]}, seed=0)[7]


@pytest.mark.parametrize(
    ("given", "n", "said"),
    [
        ({"wet": [True]}, 0, "least one sequence of at least one step"),
        ([{"wet": [True]}, {"wet": [True]}], 2, "given= is one sequence"),
        ({"wet": [True, False]}, 2, "Step 1 (the first is 0): what is observed here is impossible"),
        ({"wat": [True]}, 2, "'wat'"),
    ],
)
def test_courses_that_cannot_be_drawn(given: Any, n: int, said: str) -> None:
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("rain", {True: 1.0, False: 0.0}, parents=["rain[-1]"], initial=0.5)
    dbn.add("wet", {True: 1.0, False: 0.0}, parents=["rain"])
    with pytest.raises(pgm.PGMError) as error:
        dbn.sample(n, given=given)
    assert said in str(error.value)
    with pytest.raises(pgm.InvalidArgument, match="leave out sequences="):
        dbn.sample(2, given={"wet": [True]}, sequences=2)


def test_drawn_steps_are_data() -> None:
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
    dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    one, several = dbn.sample(200, seed=0), dbn.sample(60, sequences=4, seed=0)
    for drawn, same in ((one, one.to_dict()), (several, [each.to_dict() for each in several])):
        assert dbn.copy().fit(drawn) == dbn.copy().fit(same)
        assert dbn.score(drawn) == dbn.score(same)
        found = pgm.learn_transitions(drawn)
        assert set(found.network.edges) == {("rain[-1]", "rain"), ("rain", "wet")}
    whole = {name: np.concatenate([each[name] for each in several]) for name in dbn.nodes}
    by_lengths = pgm.learn_transitions(whole, lengths=[60] * 4)
    assert by_lengths.network == pgm.learn_transitions(several).network
    assert dbn.query("rain[1]", one.to_dict() | {"rain": [None] * 200}).exact
    with pytest.raises(pgm.InvalidFrame, match="steps of variables with names"):
        pgm.learn_transitions([[1, 2], [2, 1]])
    hmm = pgm.HMM([1.0], [[1.0]], pgm.Categorical([[0.5, 0.5]]))
    with pytest.raises(pgm.InvalidArgument, match=r"take \.observations"):
        hmm.fit(hmm.sample(3, seed=0))


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
