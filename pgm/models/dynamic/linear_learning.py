"""Learning the matrices of a linear dynamical system: which entries may change, and EM over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.learning import Collapsed, EStep, climb, strides
from pgm.learning import linear_systems as em
from pgm.results import FitReport
from pgm.runtime.clock import start_clock

from .checks import MOST_STARTS, weights_of
from .linear_questions import Parameters, asked, prepared

if TYPE_CHECKING:
    from .linear_dynamical_system import LinearDynamicalSystem

NAMES = ("A", "C", "Q", "R", "B", "D", "b", "d", "mean", "covariance")
_STATE, _OUTPUT = "ABbQ", "CDdR"  # the parts of each equation: coefficients, and noise
METHODS = ("em", "squarem")
_COVARIANCES = ("Q", "R", "covariance")


@dataclass(frozen=True)
class Free:
    """Which entries may change."""

    masks: dict[str, np.ndarray]
    blocks: dict[str, list[np.ndarray]]  # of covariances: the entries that change together


class LinearLearning:
    """One call of `fit`: the system, what was observed of it, and what stays fixed."""

    def __init__(
        self,
        system: LinearDynamicalSystem,
        y: Any,
        inputs: Any,
        lengths: Any,
        sequence: Any,
        fixed: Any,
        *,
        times: Any = None,
        weights: Any = None,
        prior: Any = None,
        method: Any = "em",
    ) -> None:
        self.system, self.p, self.clock = system, system._p, start_clock()
        self.question = asked(self.p, y, inputs, times, lengths, sequence)
        self.free = free_of(self.p, fixed)
        every = np.concatenate(self.question.y)
        seen = ~np.isnan(every)
        if not seen.any():
            raise InvalidArgument("Nothing was observed: there is nothing to learn from.")
        squares = np.where(seen, every, 0.0) ** 2
        self.sizes = squares.sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
        self.n_rows = int(seen.any(axis=1).sum())
        if method not in METHODS:
            raise InvalidArgument(
                f"method= is {listed(METHODS)}, not {shown(method)}.{nearest(method, METHODS)}"
            )
        self.method = method
        self.weights = weights_of(weights, len(self.question.y))
        self.priors = _priors(self.p, prior)

    def run(
        self, starts: Any, max_iter: int, tol: float, random: np.random.Generator
    ) -> tuple[Parameters, FitReport]:
        """Run EM from the current parameters and from perturbed ones; keep the best."""
        if (
            isinstance(starts, bool)
            or not isinstance(starts, int | np.integer)
            or not 1 <= starts <= MOST_STARTS
        ):
            raise InvalidArgument(
                f"starts= is a whole number from 1 to {MOST_STARTS:,}, not {shown(starts)}."
            )
        begin: list[Callable[[], Parameters]] = [lambda: self.p]
        begin += [lambda seed=seed: self.around(seed) for seed in random.spawn(int(starts) - 1)]  # type: ignore[misc]
        found, reports, winner = climb(
            begin,
            self.expect,
            self.maximise,
            max_iter=max_iter,
            tol=tol,
            clock=self.clock,
            stride=self.stride if self.method == "squarem" else None,
        )
        logs = tuple(report.log_likelihoods for report in reports)
        made = reports[winner].changed(n_parameters=n_free(self.free), n_rows=self.n_rows, starts=logs)
        return found, made

    def around(self, random: np.random.Generator) -> Parameters:
        """Other parameters to start from: free ones are moved by about their size, covariances are scaled."""
        made: dict[str, Any] = {}
        for name, free in self.free.masks.items():
            now = getattr(self.p, name)
            size = np.sqrt((now**2).mean()) or 1.0
            made[name] = np.where(free, now + size * random.standard_normal(now.shape), now)
        if "A" not in made:
            return self._scaled(made, random)
        assert isinstance(self.p.A, np.ndarray)
        A, own = made["A"], np.abs(np.linalg.eigvals(self.p.A)).max()
        grown = np.abs(np.linalg.eigvals(A)).max()
        if self.free.masks["A"].all() and grown > max(own, 1.0):  # the given system sets how fast it may grow
            made["A"] = A * max(own, 1.0) / grown
        return self._scaled(made, random)

    def _scaled(self, made: dict[str, Any], random: np.random.Generator) -> Parameters:
        for name, blocks in self.free.blocks.items():
            made[name] = getattr(self.p, name).copy()
            for block in blocks:
                made[name][np.ix_(block, block)] *= np.exp(random.standard_normal())
        return replace(self.p, **made)

    def stride(self, first: Parameters, second: Parameters, third: Parameters) -> Parameters | None:
        """Extrapolate three successive sets of parameters; None where a covariance would not stay one."""
        names = [*self.free.masks, *self.free.blocks]

        def flat(p: Parameters) -> np.ndarray:
            return np.concatenate([getattr(p, name).ravel() for name in names])

        wide = np.isinf(flat(third))  # a diffuse start stays
        way = [np.where(wide, 0.0, flat(each)) for each in (first, second, third)]
        for far in strides(*way):
            made: dict[str, Any] = {}
            at = 0
            for name in names:
                now = getattr(third, name)
                made[name] = np.where(wide, np.inf, far)[at : at + now.size].reshape(now.shape)
                at += now.size
            if all(self._is_covariance(made[name], getattr(third, name)) for name in self.free.blocks):
                return replace(third, **made)
        return None

    @staticmethod
    def _is_covariance(far: np.ndarray, near: np.ndarray) -> bool:
        """Whether the entries that have noise still have a positive definite covariance."""
        some = np.flatnonzero((np.diagonal(near) > 0.0) & np.isfinite(np.diagonal(near)))
        if not some.size:
            return True
        own = (far[np.ix_(some, some)] + far[np.ix_(some, some)].T) / 2
        least = np.linalg.eigvalsh(near[np.ix_(some, some)])[0]
        return bool(np.linalg.eigvalsh(own)[0] > 1e-3 * max(least, 0.0))

    def expect(self, now: Parameters) -> EStep[em.Moments]:
        """The E-step."""
        question = prepared(now, self.question.given)
        try:
            runs = self.system._runs(question, smooth=True, clock=self.clock)
        except InvalidArgument as error:  # it diverges: another start may do better
            raise Collapsed(str(error)) from None
        inputs: list[Any] = [None] * len(runs) if question.given.inputs is None else question.given.inputs
        width = now.n + now.n_inputs + 1
        held = np.zeros((now.m, width)), np.eye(now.m)  # what changes is not learned, and needs no moments
        output, noise = (stacked(now, _OUTPUT), now.R) if self.learns(_OUTPUT) else held
        each = [
            em.moments(run, y, u, output, noise) for run, y, u in zip(runs, question.y, inputs, strict=True)
        ]
        each = [found.weighted(w) for found, w in zip(each, self.weights, strict=True)]
        log = float(sum(w * run.log.sum() for run, w in zip(runs, self.weights, strict=True)))
        return EStep(log, log + self._log_prior(now), reduce(add, each))

    def learns(self, names: str) -> bool:
        """Whether an equation is learned: its matrices are the same in all steps."""
        return names[0] in self.free.masks

    def _log_prior(self, now: Parameters) -> float:
        """The logarithm of the prior's density, but for a constant."""
        found = 0.0
        for name, prior in self.priors.items():
            if name == "start":
                found += prior.log_density(now.mean[:, None], now.covariance)
            else:
                names = _STATE if name == "state" else _OUTPUT
                found += prior.log_density(stacked(now, names), getattr(now, names[3]))
        return found

    def maximise(self, now: Parameters, found: em.Moments, iteration: int) -> Parameters:
        """The M-step."""
        return maximised(now, found, self.free, self.priors, self.sizes, self.system.observations, iteration)


def maximised(
    now: Parameters,
    found: em.Moments,
    free: Free,
    priors: Mapping[str, em.Prior],
    sizes: np.ndarray,
    observations: Sequence[str],
    iteration: int,
) -> Parameters:
    """The M-step: coefficients given noise, then noise given these."""
    masks, blocks = free.masks, free.blocks
    parts = (("state", found.state), ("output", found.output), ("start", found.start))
    moves, looks, begins = (priors[name].added(own) if name in priors else own for name, own in parts)
    made: dict[str, Any] = {}
    if "A" in masks and moves.count[0] > 0:
        assert isinstance(now.Q, np.ndarray)
        state = em.coefficients_of(moves, stacked(now, _STATE), now.Q, stacked(now, _STATE, masks) > 0)
        Q = em.covariance_of(now.Q, moves.residual(state), blocks["Q"])
        made |= _unstacked(now, state, _STATE) | {"Q": Q}
    if "C" in masks:
        output = em.coefficients_of(looks, stacked(now, _OUTPUT), now.R, stacked(now, _OUTPUT, masks) > 0)
        seen = looks.count > 0
        some = [kept for block in blocks["R"] if (kept := block[seen[block]]).size]
        R = em.covariance_of(now.R, looks.residual(output), some)
        em.check_noise("R", R, now.R, sizes, observations, iteration)
        made |= _unstacked(now, output, _OUTPUT) | {"R": R}
    if not np.isinf(now.covariance).any() and begins.count[0] > 0:
        mean = em.coefficients_of(begins, now.mean[:, None], now.covariance, masks["mean"][:, None])
        left = begins.residual(mean)
        made |= {
            "mean": mean[:, 0],
            "covariance": em.covariance_of(now.covariance, left, blocks["covariance"]),
        }
    return replace(now, **made)


def n_free(free: Free) -> int:
    """How many parameters are learned."""
    of_covariances = sum(
        block.size * (block.size + 1) // 2 for blocks in free.blocks.values() for block in blocks
    )
    return of_covariances + sum(int(mask.sum()) for mask in free.masks.values())


def n_parameters(p: Parameters) -> int:
    """How many parameters are learned if nothing is fixed but what changes, with all of its equation."""
    given = [name for names in (_STATE, _OUTPUT) if changing(p, names) for name in names]
    return n_free(free_of(p, [name for name in given if getattr(p, name) is not None]))


def changing(p: Parameters, names: str) -> str:
    """The first matrix of an equation that is not the same in all steps; empty if there is none."""
    every = [(name, getattr(p, name)) for name in (names[0], names[3])]
    return next((name for name, value in every if callable(value) or value.ndim == 3), "")


def _priors(p: Parameters, given: Any) -> dict[str, em.Prior]:
    """Read `prior=`: how many steps the current parameters count for, by part; or one for all."""
    there = [name for name in NAMES if getattr(p, name) is not None]
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        given = dict.fromkeys(there, given)
    weight = dict.fromkeys(NAMES, 0.0)
    for name, value in given.items():
        if name not in there:
            raise InvalidArgument(
                f"prior= names {shown(name)}; there are {listed(there)}.{nearest(name, there)}"
            )
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float | np.number)
            or not 0.0 <= value < np.inf
        ):
            raise InvalidArgument(
                f"prior= of {name!r} is a number that is not negative, how many steps it counts for, not "
                f"{shown(value)}."
            )
        weight[name] = float(value)

    def strength(names: str) -> np.ndarray:
        return np.repeat([weight[name] for name in names], [p.n, p.n_inputs, 1])

    made: dict[str, em.Prior | None] = {}
    for equation, names in (("state", _STATE), ("output", _OUTPUT)):
        own = {name: value for name, value in weight.items() if name in names}
        if not changing(p, names):
            noise = getattr(p, names[3])
            made[equation] = em.pseudo_steps(stacked(p, names), noise, strength(names[:3]), weight[names[3]])
        elif any(own.values()):
            raise InvalidArgument(
                f"prior= of what changes from step to step, and is not learned: {listed(own)}."
            )
    if not np.isinf(p.covariance).any():
        strong = np.array([weight["mean"]])
        made["start"] = em.pseudo_steps(p.mean[:, None], p.covariance, strong, weight["covariance"])
    return {name: prior for name, prior in made.items() if prior is not None}


def stacked(p: Parameters, names: str, given: Mapping[str, np.ndarray] | None = None) -> np.ndarray:
    """The coefficients of the state, the inputs and 1 in an equation; or given arrays of their shapes."""
    rows = p.n if names == _STATE else p.m
    parts = []
    for name, columns in zip(names, (p.n, p.n_inputs, 1), strict=False):
        part = getattr(p, name) if given is None else given.get(name)
        parts.append(np.zeros((rows, columns)) if part is None else part.reshape(rows, columns))
    return np.hstack(parts)


def _unstacked(p: Parameters, coefficients: np.ndarray, names: str) -> dict[str, np.ndarray]:
    """The parts that the system has, out of one array."""
    by, constant = getattr(p, names[1]), getattr(p, names[2])
    made = {names[0]: coefficients[:, : p.n].copy()}
    if by is not None:
        made[names[1]] = coefficients[:, p.n : p.n + p.n_inputs].copy()
    if constant is not None:
        made[names[2]] = coefficients[:, -1].copy()
    return made


def free_of(p: Parameters, fixed: Any) -> Free:
    """Read `fixed=`: names of parts, or which entries of them."""
    there = [name for name in NAMES if getattr(p, name) is not None]
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
    for names in (_STATE, _OUTPUT):
        first = changing(p, names)
        loose = [name for name in there if name in names and given.get(name) is not True]
        if first and loose:
            hold = [*dict.fromkeys([*given, *loose])]
            raise InvalidArgument(
                f"{first}= changes from step to step or with the gap, and only what is the same in all steps "
                f"is learned: hold it and what depends on it, fixed={hold}."
            )
    for name in there:
        if any(name in names and changing(p, names) for names in (_STATE, _OUTPUT)):
            continue
        now = getattr(p, name)
        try:
            held = np.asarray(given.get(name, False))
        except ValueError:  # rows of different lengths
            held = np.empty(0)
        if held.dtype != bool or held.shape not in ((), now.shape):
            raise InvalidArgument(
                f"fixed= of {name!r} takes True, or an array of booleans of shape {now.shape}, not "
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
                f"fixed= of {name!r}: the free entries of a covariance are blocks on its diagonal, with "
                "zeros elsewhere: its diagonal, for instance, or all of it."
            )
        blocks[name] = found
    if np.isinf(p.covariance).any():
        masks["mean"] = np.zeros(p.n, bool)
    if not any(mask.any() for mask in masks.values()) and not any(blocks.values()):
        raise InvalidArgument("fixed= holds everything: there is nothing to learn.")
    return Free(masks, blocks)


def _others(block: np.ndarray, n: int) -> np.ndarray:
    return np.setdiff1d(np.arange(n), block)
