"""Learning the matrices of a linear dynamical system: which entries may change, and EM over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.learning import Step, climb
from pgm.learning import linear_systems as em
from pgm.results import FitReport
from pgm.runtime.clock import start_clock

from .linear_questions import Parameters, asked, prepared

if TYPE_CHECKING:
    from .linear_dynamical_system import LinearDynamicalSystem

_NAMES = ("A", "C", "Q", "R", "B", "D", "b", "d", "mean", "covariance")
_COVARIANCES = ("Q", "R", "covariance")


@dataclass(frozen=True)
class _Free:
    """Which entries may change."""

    masks: dict[str, np.ndarray]
    blocks: dict[str, list[np.ndarray]]  # of covariances: the entries that change together


class Task:
    """One fit: the system, what was observed of it, and what is held."""

    def __init__(
        self, system: LinearDynamicalSystem, y: Any, inputs: Any, lengths: Any, sequence: Any, fixed: Any
    ) -> None:
        if system._p.varying:
            raise InvalidArgument("Only matrices that are the same in all steps are learned.")
        self.system, self.p, self.clock = system, system._p, start_clock()
        self.question = asked(self.p, y, inputs, None, lengths, sequence)
        self.free = _free(self.p, fixed)
        every = np.concatenate(self.question.y)
        seen = ~np.isnan(every)
        if not seen.any():
            raise InvalidArgument("Nothing was observed: there is nothing to learn from.")
        squares = np.where(seen, every, 0.0) ** 2
        self.sizes = squares.sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
        self.n_rows = int(seen.any(axis=1).sum())

    def run(self, max_iter: int, tol: float) -> tuple[Parameters, FitReport]:
        """Climb from the numbers that the system has."""
        found, reports, _ = climb(
            [lambda: self.p], self.expect, self.maximise, max_iter=max_iter, tol=tol, clock=self.clock
        )
        return found, reports[0].changed(n_parameters=self.n_free(), n_rows=self.n_rows)

    def n_free(self) -> int:
        """How many numbers were learned."""
        of_covariances = sum(
            block.size * (block.size + 1) // 2 for blocks in self.free.blocks.values() for block in blocks
        )
        return of_covariances + sum(int(mask.sum()) for mask in self.free.masks.values())

    def expect(self, now: Parameters) -> Step[em.Moments]:
        """The E-step."""
        question = prepared(now, self.question.given)
        runs = self.system._runs(question, smooth=True, clock=self.clock)
        _, output = _stacked(now)
        inputs: list[Any] = [None] * len(runs) if question.given.inputs is None else question.given.inputs
        each = [
            em.moments(run, y, u, output, now.R) for run, y, u in zip(runs, question.y, inputs, strict=True)
        ]
        log = float(sum(run.log.sum() for run in runs))
        return Step(log, log, reduce(add, each))

    def maximise(self, now: Parameters, found: em.Moments, iteration: int) -> Parameters:
        """The M-step: coefficients given noise, then noise given these."""
        assert isinstance(now.Q, np.ndarray)
        masks, blocks = self.free.masks, self.free.blocks
        state, output = _stacked(now)
        of_state = _side_by_side(now, masks) > 0
        of_output = _side_by_side(now, masks, "CDd", now.m) > 0
        made: dict[str, Any] = {}
        Q, R = now.Q, now.R
        if found.state.count[0] > 0:
            state = em.coefficients_of(found.state, state, Q, of_state)
            Q = em.covariance_of(Q, found.state.residual(state), blocks["Q"])
        output = em.coefficients_of(found.output, output, R, of_output)
        seen = found.output.count > 0
        some = [kept for block in blocks["R"] if (kept := block[seen[block]]).size]
        R = em.covariance_of(R, found.output.residual(output), some)
        em.check_noise("R", R, now.R, self.sizes, self.system.observations, iteration)
        made |= _unstacked(now, state, "ABb") | _unstacked(now, output, "CDd") | {"Q": Q, "R": R}
        if not np.isinf(now.covariance).any():
            mean = em.coefficients_of(found.start, now.mean[:, None], now.covariance, masks["mean"][:, None])
            left = found.start.residual(mean)
            made |= {
                "mean": mean[:, 0],
                "covariance": em.covariance_of(now.covariance, left, blocks["covariance"]),
            }
        return replace(now, **made)


def _stacked(p: Parameters) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients of both regressions: on the state, the inputs and 1."""
    return _side_by_side(p, {}), _side_by_side(p, {}, "CDd", p.m)


def _side_by_side(
    p: Parameters, given: Mapping[str, np.ndarray], names: str = "ABb", rows: int = 0
) -> np.ndarray:
    """Three parts as one array, each from `given` or from the parameters; of what is not there, zeros."""
    rows = rows or p.n
    parts = []
    for name, columns in zip(names, (p.n, p.n_inputs, 1), strict=True):
        part = given[name] if name in given else None if given else getattr(p, name)
        parts.append(np.zeros((rows, columns)) if part is None else part.reshape(rows, columns))
    return np.hstack(parts)


def _unstacked(p: Parameters, coefficients: np.ndarray, names: str) -> dict[str, np.ndarray]:
    """The parts that there are, out of one array."""
    by, constant = getattr(p, names[1]), getattr(p, names[2])
    made = {names[0]: coefficients[:, : p.n].copy()}
    if by is not None:
        made[names[1]] = coefficients[:, p.n : p.n + p.n_inputs].copy()
    if constant is not None:
        made[names[2]] = coefficients[:, -1].copy()
    return made


def _free(p: Parameters, fixed: Any) -> _Free:
    """Read `fixed=`: names, or for some of them which entries."""
    there = [name for name in _NAMES if getattr(p, name) is not None]
    if isinstance(fixed, str):
        fixed = [fixed]
    if not isinstance(fixed, Iterable):
        raise InvalidArgument(f"fixed= takes names among {listed(there)}, not {shown(fixed)}.")
    for name in (chosen := list(fixed)):
        if name not in there:
            raise InvalidArgument(
                f"fixed= names {shown(name)}; there are {listed(there)}.{nearest(name, there)}"
            )
    given = dict(fixed) if isinstance(fixed, Mapping) else dict.fromkeys(chosen, True)
    masks: dict[str, np.ndarray] = {}
    blocks: dict[str, list[np.ndarray]] = {}
    for name in there:
        now = getattr(p, name)
        try:
            held = np.asarray(given.get(name, False))
        except ValueError:  # rows of different lengths
            held = np.empty(0)
        if held.dtype != bool or held.shape not in ((), now.shape):
            raise InvalidArgument(
                f"fixed= of {name!r} takes True, or an array of truth values of shape {now.shape}, not "
                f"{shown(given[name])}."
            )
        free = ~np.broadcast_to(held, now.shape)
        if name not in _COVARIANCES:
            masks[name] = free
            continue
        if name == "covariance" and np.isinf(now).any():
            free = np.zeros_like(free)
        found = em.blocks_of(free)
        if found is None or any(now[np.ix_(block, _others(block, len(now)))].any() for block in found):
            raise InvalidArgument(
                f"fixed= of {name!r}: what is free of a covariance are blocks on its diagonal with zeros "
                "beside them: such as its diagonal, or all of it."
            )
        blocks[name] = found
    if np.isinf(p.covariance).any():
        masks["mean"] = np.zeros(p.n, bool)
    if not any(mask.any() for mask in masks.values()) and not any(blocks.values()):
        raise InvalidArgument("fixed= holds everything: there is nothing to learn.")
    return _Free(masks, blocks)


def _others(block: np.ndarray, n: int) -> np.ndarray:
    return np.setdiff1d(np.arange(n), block)
