"""How many states there are: criteria, held-out sequences, states that are split."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pgm


def walks(seed: int = 0) -> list[Any]:
    truth = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], pgm.Gaussian([0.0, 5.0], sd=1.0))
    return [one.observations for one in truth.sample(40, sequences=6, seed=seed)]


@pytest.mark.parametrize("search", ["starts", "split"])
@pytest.mark.parametrize("score", ["bic", "aic"])
def test_the_criterion_is_that_of_the_fit(score: str, search: str) -> None:
    x = walks()
    found = pgm.select_states(
        x, emission=pgm.Gaussian(), n_states=range(1, 4), score=score, search=search, starts=2, seed=0
    )
    assert found.n_states == 2
    for one in found.candidates:
        k = one.n_states
        free = k - 1 + k * (k - 1) + 2 * k
        assert one.log_likelihood == pytest.approx(one.model.score(x), rel=1e-9)
        assert one.bic == pytest.approx(free * math.log(240) - 2 * one.log_likelihood, rel=1e-9)
        assert one.aic == pytest.approx(2 * free - 2 * one.log_likelihood, rel=1e-9)
    assert getattr(found.best, score) == min(getattr(one, score) for one in found.candidates)
    assert found.model is found.best.model


def test_each_part_is_held_out_once() -> None:
    x = walks()
    found = pgm.select_states(
        x, emission=pgm.Gaussian(), n_states=[1], score="validation", folds=3, starts=1, seed=0
    )
    total = 0.0
    for fold in range(3):
        rest = np.concatenate([one for i, one in enumerate(x) if i % 3 != fold])
        mean, sd = rest.mean(), rest.std()
        for one in x[fold::3]:
            total += float((-0.5 * ((one - mean) / sd) ** 2 - math.log(sd * math.sqrt(2 * math.pi))).sum())
    assert found.best.validation == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize(
    "emission",
    [
        pgm.Poisson(),
        pgm.GaussianMixture(n_components=2),
        pgm.Product([pgm.Gaussian(), pgm.Categorical(symbols=[0, 1])]),
    ],
    ids=lambda e: e.kind,
)  # fmt: skip
def test_any_kind_of_state_is_split(emission: Any) -> None:
    rng = np.random.default_rng(0)
    low = np.repeat(rng.random(12) < 0.5, 10)
    x: Any = np.where(low, rng.poisson(2.0, 120), rng.poisson(20.0, 120)).astype(float)
    if emission.kind != "poisson":
        x = x + rng.normal(size=120) * 0.1
    if emission.vector:
        x = [[value, int(value > 8)] for value in x.tolist()]
    found = pgm.select_states(
        x, emission=emission, n_states=[1, 2], search="split", starts=1, prior=0.1, seed=0
    )
    assert found.n_states == 2
    path = np.array(found.model.decode(x).path)
    assert len(set(zip(path.tolist(), low.tolist(), strict=True))) == 2


def test_it_is_a_table_and_a_picture() -> None:
    found = pgm.select_states(walks(), emission=pgm.Gaussian(), n_states=[1, 2], starts=1, seed=0)
    assert repr(found).splitlines()[0].split() == ["states", "log-likelihood", "AIC", "BIC"]
    assert "best" in repr(found).splitlines()[2]
    assert found.to_pandas().index.tolist() == [1, 2]
    assert found.plot().get_xlabel() == "states"
    assert "<table" in found._repr_html_()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"score": "mdl"}, "score= is one of"),
        ({"search": "grow"}, "search= is one of"),
        ({"emission": pgm.Gaussian([0.0], sd=1.0)}, "has no parameters yet"),
        ({"n_states": 3}, "n_states= is a range"),
        ({"n_states": [0]}, "n_states= is a range"),
        ({"score": "validation"}, "needs validation= or folds="),
        ({"folds": 2}, "needs validation= or folds="),
        ({"score": "validation", "folds": 9}, "folds= is a whole number from 2 to 6"),
        ({"score": "validation", "folds": 2, "search": "split"}, "folds= can be combined neither"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(pgm.InvalidArgument) as error:
        pgm.select_states(walks(), **{"emission": pgm.Gaussian(), **options})
    assert said in str(error.value)
