"""Optimisers: gradient descent, second-order methods, global search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument
from pgm.runtime.clock import start_clock
from pgm.runtime.progress import report as report_progress

from .objectives import Objective
from .trace import LogisticTrace

LOCAL = {"newton": "Newton-CG", "bfgs": "BFGS", "cg": "CG"}  # what scipy.optimize.minimize calls them
GLOBAL = ("annealing", "genetic")
OPTIMISERS = ("gradient", *LOCAL, *GLOBAL)
_EVERY = 50  # steps between two reports of progress


@dataclass(frozen=True)
class Stopping:
    """When to stop."""

    max_iter: int
    tol: float | None  # of the largest component of the mean gradient; None: after max_iter steps, no sooner
    patience: int | None  # steps without fewer rows misclassified
    watched: Objective | None  # the rows on which they are counted


@dataclass(frozen=True)
class Found:
    """The weights, and how the optimisation ended."""

    weights: np.ndarray
    steps: int
    converged: bool
    trace: LogisticTrace


def descend(target: Objective, start: np.ndarray, rate: float, stop: Stopping) -> Found:
    """Gradient descent on all rows at once; with patience, the weights that misclassify fewest are kept."""
    clock, trace = start_clock(), LogisticTrace()
    total = float(target.weights.sum())
    flat = start.copy()
    watched = stop.watched or target
    best, best_at, fewest = flat, 0, np.inf
    converged = False
    step = 0
    while True:
        now = target.look(flat)
        seen = now.misclassified if watched is target else watched.misclassified(flat)
        trace._add(step, now.error, now.misclassified, flat.reshape(target.shape))
        if seen < fewest:
            best, best_at, fewest = flat, step, seen
        if stop.patience is not None and step > 0 and (fewest == 0.0 or step - best_at >= stop.patience):
            break
        if step == stop.max_iter:
            break
        slope = now.gradient
        if stop.tol is not None and float(np.abs(slope).max()) <= stop.tol * total:
            converged = True
            break
        with np.errstate(over="ignore", invalid="ignore"):
            flat = flat - rate * slope
        if not np.isfinite(flat).all():
            raise InvalidArgument(
                f"At rate={rate:g} the weights grow beyond all bounds at step {step + 1:,}: take a smaller "
                "one; rate=None takes one that never overshoots."
            )
        step += 1
        clock.check("logistic discrimination")
        if step % _EVERY == 0:
            report_progress(step, stop.max_iter, "gradient descent")
    return Found(best if stop.patience is not None else flat, step, converged, trace)


def minimise(target: Objective, start: np.ndarray, method: str, stop: Stopping) -> Found:
    """Scipy's minimisers, with gradients and Hessian products."""
    from scipy import optimize

    clock, trace = start_clock(), LogisticTrace()
    total = float(target.weights.sum())

    def value(flat: np.ndarray) -> float:
        clock.check("logistic discrimination")
        return target.value(flat) / total

    def slope(flat: np.ndarray) -> np.ndarray:
        clock.check("logistic discrimination")
        return target.gradient(flat) / total

    def curved(flat: np.ndarray, along: np.ndarray) -> np.ndarray:
        clock.check("logistic discrimination")
        return target.curved(flat, along) / total

    def note(flat: np.ndarray) -> None:
        now = target.look(flat)
        trace._add(trace._next, now.error, now.misclassified, flat.reshape(target.shape))

    note(start)
    given: dict[str, Any] = {}
    options: dict[str, Any] = {"maxiter": stop.max_iter}
    tol = 1e-6 if stop.tol is None else stop.tol
    options["xtol" if method == "newton" else "gtol"] = 1e-3 * tol if method == "newton" else tol
    if method == "newton":
        given["hessp"] = curved
    run: Any = optimize.minimize
    found = run(value, start, jac=slope, method=LOCAL[method], callback=note, options=options, **given)
    converged = bool(np.abs(slope(found.x)).max() <= max(tol, 1e-6))
    return Found(np.asarray(found.x), int(found.nit), converged, trace)


def search(
    target: Objective,
    start: np.ndarray,
    method: str,
    bound: float,
    random: np.random.Generator,
    stop: Stopping,
) -> Found:
    """Global search within bounds: simulated annealing, and differential evolution."""
    from scipy import optimize

    clock, trace = start_clock(), LogisticTrace()
    total = float(target.weights.sum())

    asked, most = 0, stop.max_iter * 16 * len(start)

    def value(flat: np.ndarray) -> float:
        nonlocal asked
        asked += 1
        clock.check("logistic discrimination")
        report_progress(min(asked, most), most, method)
        return target.value(flat) / total

    def slope(flat: np.ndarray) -> np.ndarray:
        clock.check("logistic discrimination")
        return target.gradient(flat) / total

    def note(flat: np.ndarray, *more: Any, **rest: Any) -> None:
        x = np.asarray(getattr(flat, "x", flat))
        now = target.look(x)
        trace._add(trace._next, now.error, now.misclassified, x.reshape(target.shape))

    begin = np.clip(start, -bound, bound)
    run: Any
    note(begin)
    bounds = [(-bound, bound)] * len(start)
    if method == "annealing":
        local: Any = {"method": "L-BFGS-B", "jac": slope, "bounds": bounds}
        run = optimize.dual_annealing
        found = run(
            value, bounds, maxiter=stop.max_iter, rng=random, x0=begin, minimizer_kwargs=local, callback=note
        )
    else:
        run = optimize.differential_evolution
        found = run(value, bounds, maxiter=stop.max_iter, rng=random, x0=begin, callback=note, polish=True)
    x = np.asarray(found.x)
    note(x)
    inside = bool((np.abs(x) < bound * (1.0 - 1e-6)).all())
    tol = 1e-4 if stop.tol is None else max(stop.tol, 1e-4)
    return Found(x, int(found.nit), inside and bool(np.abs(slope(x)).max() <= tol), trace)
