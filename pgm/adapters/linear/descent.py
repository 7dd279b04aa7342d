"""Gradient descent, with a fixed or optimal rate, and Newton's method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.adapters.rows import positive, whole
from pgm.calls import guarded
from pgm.errors import InvalidArgument, shown
from pgm.printing import Tabular
from pgm.runtime.clock import start_clock

from .linear_classifier import SCHEDULES, chosen, passes, real
from .perceptrons import rate_at
from .traces import Recorder, WeightTrace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_METHODS = ("gradient", "newton")
Vector = Callable[[np.ndarray], Any]


class Descent(Tabular):
    """The result of a descent; see `descend`: final `weights`, `trace`, `n_iter`, `converged`."""

    def __init__(self, weights: np.ndarray, trace: WeightTrace, n_iter: int, converged: bool) -> None:
        """Store the results."""
        self.weights, self.trace, self.n_iter, self.converged = weights, trace, n_iter, converged

    def to_dict(self) -> dict[str, Any]:
        """Return the result."""
        return {"weights": self.weights.tolist(), "n_iter": self.n_iter, "converged": self.converged}

    def to_pandas(self) -> Any:
        """Return a DataFrame of the weights by step."""
        return self.trace.to_pandas()

    def plot(
        self,
        columns: Any = None,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the weights by step; returns the Axes.

        Args:
            columns: the names of those to draw; by default those that change most.
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            InvalidArgument: there is no such column.
        """
        return self.trace.plot(columns, ax=ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        header, rows, _ = self.trace._table()
        state = "converged" if self.converged else "not converged"
        return header, rows, f"{state} after {self.n_iter:,} step{'s' * (self.n_iter != 1)}"


@guarded
def rates(schedule: str, n: int, *, first: float = 1.0) -> np.ndarray:
    """Return the step sizes of n corrections: "constant", "inverse" (first / k) or "sqrt" (first / sqrt(k)).

    With separable rows corrections end for each of them: their sum diverges, and the sum of their squares
    over the square of their sum vanishes.

    Args:
        schedule: how rates fall.
        n: the number of rows.
        first: the first of them.

    Raises:
        InvalidArgument: an option is out of range.

    >>> rates("inverse", 3).round(4).tolist()
    [1.0, 0.5, 0.3333]
    """
    kind = SCHEDULES[chosen("schedule", schedule, SCHEDULES)]
    k = np.arange(1, whole("n", n) + 1, dtype=np.float64)
    return positive("first", first) / (np.ones(k.size), k, np.sqrt(k))[kind]


@guarded
def descend(
    gradient: Vector,
    start: Any,
    *,
    hessian: Vector | None = None,
    method: str = "gradient",
    rate: float | str = "optimal",
    schedule: str = "constant",
    tol: float = 1e-8,
    max_iter: int = 1000,
    columns: Sequence[str] | None = None,
) -> Descent:
    """Minimise by gradient descent or Newton's method (Duda, Hart & Stork 2001, 5.4, algorithms 1 and 2).

    Args:
        gradient: of the criterion, as a function of the weights.
        start: the initial weights.
        hessian: of the criterion, as a function of the weights: for "newton" and the optimal rate.
        method: "gradient", or "newton", whose steps are inverse Hessian times gradient.
        rate: of the first step; "optimal": |g|**2 / (g H g), which is best along the gradient of a quadratic.
        schedule: how a rate that is a number falls: "constant", "inverse" or "sqrt".
        tol: it has converged when a step would be shorter.
        max_iter: the maximum number of steps.
        columns: the names of the weights; by default a0, a1, ...

    Raises:
        InvalidArgument: an option is out of range; a Hessian is missing, singular, or has no positive
            curvature along the gradient; steps diverge.
        OutOfTime: the time limit is reached.

    >>> found = descend(lambda a: 2.0 * (a - 3.0), [0.0], rate=0.25)
    >>> found.weights.round(6).tolist(), found.converged
    ([3.0], True)
    """
    newton = chosen("method", method, _METHODS) == "newton"
    optimal = isinstance(rate, str)
    if not newton and optimal:
        chosen("rate", rate, ("optimal",))
    eta = 1.0 if isinstance(rate, str) else positive("rate", rate)
    chosen("schedule", schedule, SCHEDULES)
    real("tol", tol, 0.0)
    if hessian is None and (newton or optimal):
        raise InvalidArgument(
            'hessian= is needed for method="newton" and rate="optimal"; else give rate= a number.'
        )
    a = np.array(start, dtype=np.float64).reshape(-1)
    if not a.size or not np.isfinite(a).all():
        raise InvalidArgument(f"start= has finite numbers, not {shown(start)}.")
    names = [f"a{i}" for i in range(a.size)] if columns is None else list(columns)
    if len(names) != a.size:
        raise InvalidArgument(f"columns= has a name for each of {a.size} weights, not {len(names)}.")
    recorder, steps, converged = Recorder(a), whole("max_iter", max_iter), False
    with np.errstate(over="ignore", invalid="ignore"):  # reported as an error
        for i in passes(steps, "a descent", start_clock()):
            g = _finite(gradient(a), (a.size,), "gradient=")
            if newton or optimal:
                assert hessian is not None
                curvature = _finite(hessian(a), (a.size, a.size), "hessian=")
            if newton:
                step = _newton(curvature, g)
            elif optimal:
                bend = float(g @ curvature @ g)
                if bend <= 0.0 and g.any():
                    raise InvalidArgument(
                        "The criterion has no positive curvature along its gradient, so no rate is optimal. "
                        "Give rate= a number."
                    )
                step = g * (float(g @ g) / bend) if bend > 0.0 else 0.0 * g
            else:
                step = g * rate_at(eta, schedule, i + 1)
            if not step.any() or float(np.linalg.norm(step)) < tol:
                steps, converged = i, True
                break
            a = a - step
            if not np.isfinite(a).all():
                raise InvalidArgument("The steps diverge: use a smaller rate=.")
            recorder.add(a)
    return Descent(a, recorder.trace(names, None, a), steps, converged)


def _newton(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    if np.linalg.matrix_rank(hessian) < len(hessian):
        raise InvalidArgument('The Hessian is singular: there is no Newton step. Use method="gradient".')
    return np.linalg.solve(hessian, gradient)


def _finite(given: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.shape != shape or not np.isfinite(found).all():
        raise InvalidArgument(f"{what} has to return finite numbers of shape {shape}, not {shown(given)}.")
    return found
