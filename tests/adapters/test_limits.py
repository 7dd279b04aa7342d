"""Time limits hold in long fits and measures of rows, and nothing of them is silent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pgm
from pgm import adapters, evaluation
from pgm.runtime import progress, running
from pgm.runtime.clock import in_one_time, start_clock

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 3))
CLASSES = (ROWS[:, 0] + 0.5 * RNG.normal(size=60) > 0.0).astype(int)
ONE, SUM = ROWS[:, :1], ROWS.sum(axis=1)


def searched(optimizer: str) -> adapters.LogisticDiscriminant:
    return adapters.LogisticDiscriminant(optimizer=optimizer, max_iter=2, tol=None, seed=0).fit(ROWS, CLASSES)


LONG: dict[str, Callable[[], object]] = {
    "k-means": lambda: adapters.KMeans(3, starts=2, seed=0).fit(ROWS),
    "online k-means": lambda: adapters.OnlineKMeans(3, passes=3, seed=0).fit(ROWS),
    "prototypes": lambda: adapters.PrototypeClassifier(3, seed=0).fit(ROWS, CLASSES),
    "single linkage": lambda: adapters.SingleLinkageOutliers().fit(ROWS),
    "silhouettes": lambda: adapters.cluster_quality(ROWS, CLASSES),
    "splines": lambda: adapters.SmoothingSpline().fit(ONE, SUM),
    "additive": lambda: adapters.AdditiveSmoother().fit(ROWS, SUM),
    "condensed": lambda: adapters.CondensedSmoother(0.1).fit(ONE, SUM),
    "linear program": lambda: adapters.LinearProgram().fit(ROWS, CLASSES),
    "logistic": lambda: adapters.LogisticDiscriminant().fit(ROWS, CLASSES),
    "annealing": lambda: searched("annealing"),
    "genetic": lambda: searched("genetic"),
    "one against the rest": lambda: adapters.RejectingClassifier().fit(ROWS, CLASSES),
    "roc": lambda: evaluation.roc(CLASSES, SUM),
    "cross-validation": lambda: evaluation.error_estimates(adapters.NearestNeighbours(1), ROWS, CLASSES),
    "cuts": lambda: pgm.discretize({"x": SUM, "c": CLASSES}, "mdlp", target="c"),
    "scores": lambda: pgm.structure_score(pgm.BayesianNetwork(edges="a -> c"), {"a": CLASSES, "c": CLASSES}),
    "components": lambda: pgm.select_components(ROWS, emission=pgm.Gaussian(dim=3), n_components=[1, 2]),
}


@pytest.mark.parametrize("call", LONG.values(), ids=list(LONG))
def test_a_time_limit_ends_what_takes_long(call: Callable[[], object]) -> None:
    call()
    with pgm.config(time_limit=1e-9), pytest.raises(pgm.OutOfTime):
        call()


def test_a_solver_that_cannot_be_asked_how_far_it_is_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_SILENCE", 0.001)
    monkeypatch.setattr(running, "_TICK", 0.001)
    calls: list[Any] = []
    with pgm.config(progress=lambda *call: calls.append(call)):
        adapters.SingleLinkageOutliers().fit(RNG.normal(size=(2500, 2)))
    assert {what for *_, what in calls} == {"joining rows"}


def test_many_fits_share_one_time_limit() -> None:
    clocks = in_one_time(lambda: [start_clock(), in_one_time(start_clock)()])()
    assert clocks[0] is clocks[1]
    assert start_clock() is not clocks[0]


@pytest.mark.parametrize("optimizer", ["annealing", "genetic"])
def test_searches_say_how_far_they_are(optimizer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_INTERVAL", 0.0)
    calls: list[tuple[float, float, str]] = []
    with pgm.config(progress=lambda *call: calls.append(call)):
        searched(optimizer)
    assert {what for *_, what in calls} == {optimizer}
    assert 0.0 < calls[0][0] <= calls[0][1]
