"""Hidden Markov models where numbers leave the range of doubles, and where data have odd shapes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pgm
from pgm.distributions import Categorical, Gaussian


def far_apart() -> pgm.HMM:
    """What is observed first all but rules out the only state that explains what comes later."""
    return pgm.HMM(
        [0.5, 0.25, 0.25], np.eye(3), Gaussian([0.0, 100.0, -50.0], sd=1.0), states=["low", "high", "below"]
    )


def test_pairs_of_states_that_filtering_all_but_ruled_out() -> None:
    found = far_apart().smooth([0.0, 100.0, 100.0, 100.0], pairs=True)
    exact = np.zeros((3, 3, 3))
    exact[:, 1, 1] = 1.0  # exp(-5000) against exp(-15000): no other path has any share
    assert found.pairs == pytest.approx(exact, abs=1e-12)
    assert found.pairs.sum(axis=2) == pytest.approx(found.values[:-1], abs=1e-12)


def test_paths_are_drawn_through_states_that_filtering_all_but_ruled_out() -> None:
    for path in far_apart().sample(20, given=[0.0, 100.0, 100.0, 100.0], seed=0):
        assert path.states.tolist() == ["high"] * 4


@pytest.mark.parametrize("steps", [1, 3])
def test_a_column_that_was_never_observed(steps: int) -> None:
    """All rows have the same gap: only the other column counts."""
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    both = pgm.HMM(
        [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], Gaussian([[0.0, 1.0], [3.0, 2.0]], covariance=covariance)
    )
    one = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], Gaussian([1.0, 2.0], sd=1.0))
    data = np.array([[math.nan, 0.5], [math.nan, 1.5], [math.nan, 2.5]])[:steps]
    assert both.score(data) == pytest.approx(one.score(data[:, 1]), rel=1e-12)
    assert both.smooth(data).values == pytest.approx(one.smooth(data[:, 1]).values, abs=1e-12)


@pytest.mark.parametrize("kind", [object, "U1"])
def test_a_column_of_symbols_is_one_sequence(kind: type | str) -> None:
    """As hmmlearn takes them: one row for each step, one column."""
    hmm = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], Categorical([[0.7, 0.3], [0.1, 0.9]], ["r", "g"]))
    column = np.array(list("rgg"), dtype=kind)[:, None]
    assert hmm.decode(column).path == hmm.decode(list("rgg")).path
    assert hmm.score(column, lengths=[1, 2]) == hmm.score([["r"], ["g", "g"]])
