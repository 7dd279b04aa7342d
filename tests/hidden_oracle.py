"""All paths of hidden states, one by one: what variants of hidden Markov models are checked against."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Paths:
    """Every path with its probability together with what was observed.

    Args:
        states: those of one step.
        first: P(state in the first step).
        move: P(state, the step that it is entered in | state before).
        like: P(what was observed in a step | state).
        steps: how many.
    """

    def __init__(
        self,
        states: Sequence[Any],
        first: Callable[[Any], float],
        move: Callable[[Any, Any, int], float],
        like: Callable[[Any, int], float],
        steps: int,
    ) -> None:
        self.states, self.steps = list(states), steps
        self.joint: dict[tuple[Any, ...], float] = {}
        for path in itertools.product(self.states, repeat=steps):
            p = first(path[0]) * like(path[0], 0)
            for t in range(1, steps):
                if p == 0.0:
                    break
                p *= move(path[t - 1], path[t], t) * like(path[t], t)
            self.joint[path] = p
        self.total = sum(self.joint.values())

    def marginal(self, t: int) -> np.ndarray:
        """P(state at a step | all)."""
        found = dict.fromkeys(self.states, 0.0)
        for path, p in self.joint.items():
            found[path[t]] += p
        return np.array(list(found.values())) / self.total

    def best(self) -> float:
        """The probability of the best path with what was observed."""
        return max(self.joint.values())


def check(model: Any, data: Any, every: Paths, shorter: Callable[[int], Paths], **options: Any) -> None:
    """All questions about one sequence against all of its paths."""
    near = {"rtol": 1e-9, "atol": 1e-12}
    assert np.isclose(model.score(data, **options), np.log(every.total), **near)
    smooth = model.smooth(data, **options)
    filtered = model.filter(data, **options)
    for t in range(every.steps):
        assert np.allclose(smooth.values[t], every.marginal(t), **near)
        assert np.allclose(filtered.values[t], shorter(t + 1).marginal(t), **near)
    assert np.isclose(smooth.log_likelihood, np.log(every.total), **near)
    lagged = model.smooth(data, lag=1, **options)
    for t in range(every.steps):
        assert np.allclose(lagged.values[t], shorter(min(t + 2, every.steps)).marginal(t), **near)
    path = model.decode(data, **options)
    assert np.isclose(path.log_joint, np.log(every.best()), **near)
    assert np.isclose(every.joint[path.path], every.best(), **near)
    assert np.isclose(path.probability, every.best() / every.total, **near)
