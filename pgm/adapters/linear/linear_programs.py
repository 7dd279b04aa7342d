"""Linear programs that find hyperplanes, their duals, and whether any hyperplane separates the classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pgm.adapters.rows import positive
from pgm.errors import OutOfTime
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.running import unstoppable

from .linear_classifier import LinearClassifier, Separation, Solved, chosen
from .perceptrons import errors

_OBJECTIVES = ("sum", "largest")
_FORMS = ("dual", "primal")
_TOLERANCE = 1e-7  # HiGHS's own, of what is feasible


class Program(NamedTuple):
    """What a linear program has found."""

    a: np.ndarray  # the weights
    optimum: float  # the sum, or the largest, of the violations
    duals: np.ndarray  # how much the optimum grows with the margin of each row


class LinearProgram(LinearClassifier):
    """A hyperplane by linear programming, HiGHS (Duda, Hart & Stork 2001, section 5.10).

    A row y, augmented by a leading 1 and negated in the other class, violates the margin by
    max(0, margin - a y). "sum" minimises the sum of the violations, which is the perceptron criterion with a
    margin; "largest" the largest of them. Both are zero if a hyperplane separates the classes, and above
    zero if none does.

    Args:
        objective: "sum" or "largest".
        margin: the required value of g for each row.
        form: which of the two programs is solved: "dual" has few constraints, "primal" is the program as
            stated; they have the same optimum.

    If none does, "largest" has the optimum `margin` at zero weights: it is a test, whereas "sum" is a
    classifier.

    After `fit` there are `classes_`, `coef_`, `intercept_`, `optimum_` and `separable_` (one for each
    hyperplane), `duals_` (one for each row, by which the optimum grows with its margin) and `hyperplanes_`.

    >>> found = LinearProgram().fit([[0.0], [2.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes", "yes"])
    >>> found.optimum_.round(4).tolist(), found.separable_.tolist(), found.coef_.round(4).tolist()
    ([2.6667], [False], [[0.6667]])
    """

    optimum_: np.ndarray
    separable_: np.ndarray
    duals_: np.ndarray

    def __init__(self, objective: str = "sum", *, margin: float = 1.0, form: str = "dual") -> None:
        self.objective, self.margin, self.form = objective, margin, form

    def _check(self) -> None:
        chosen("objective", self.objective, _OBJECTIVES)
        positive("margin", self.margin)
        chosen("form", self.form, _FORMS)

    def _solve(self, separation: Separation, columns: list[str]) -> Solved:
        found = solve_program(
            separation.rows, float(self.margin), str(self.objective), str(self.form), separation.clock
        )
        facts = {
            "optimum_": found.optimum,
            "separable_": separates(separation.rows, found.a),
            "duals_": found.duals,
        }
        return Solved(found.a, facts=facts)

    def _summary(self) -> str:
        said = ", ".join("yes" if one else "no" for one in self.separable_.tolist())
        what = "sum of violations" if self.objective == "sum" else "largest violation"
        return f"{what} {float(self.optimum_.sum()):.6g}; separable: {said}"


def separates(rows: np.ndarray, a: np.ndarray) -> bool:
    """Whether these weights classify all normalised rows correctly."""
    return errors(rows, a) == 0


def solve_program(
    rows: np.ndarray, margin: float | np.ndarray, objective: str, form: str, clock: Clock | None = None
) -> Program:
    """Minimise the violations of the margin by normalised rows.

    Primal, of "sum": min sum t_i, t_i >= b_i - a y_i, t_i >= 0; of "largest" one t for all. Dual: max b z
    over z >= 0 with Y'z = 0, and z_i <= 1, or sum z_i <= 1. The weights are the multipliers of Y'z = 0.

    >>> found = solve_program(np.array([[1.0, 1.0], [-1.0, 1.0]]), 1.0, "sum", "dual")
    >>> found.optimum, found.a.tolist()
    (0.0, [0.0, 1.0])
    """
    from scipy import optimize, sparse

    n, dim = rows.shape
    b = np.broadcast_to(np.asarray(margin, dtype=np.float64), (n,))
    clock = start_clock() if clock is None else clock
    options: Any = {} if not np.isfinite(clock.remaining()) else {"time_limit": max(clock.remaining(), 1e-3)}
    one = objective == "largest"

    def solve(cost: np.ndarray, **program: Any) -> Any:
        run: Any = optimize.linprog  # whose types say less than it takes
        return unstoppable(lambda: run(cost, **program), clock, "a linear program")

    if form == "dual":
        found = solve(
            -b,
            A_eq=rows.T,
            b_eq=np.zeros(dim),
            A_ub=np.ones((1, n)) if one else None,
            b_ub=np.ones(1) if one else None,
            bounds=(0.0, None if one else 1.0),
            method="highs",
            options=options,
        )
    else:
        method = "highs"
        if not one and solve_program(rows, margin, "largest", form, clock).optimum > 0.0:
            # The simplex takes a step for each row that stays violated, an interior point a few in all; but
            # many where classes are separable, and a whole face of hyperplanes is as good.
            method = "highs-ipm"
        slack = np.ones((n, 1)) if one else sparse.identity(n, format="csr")
        cost = np.concatenate([np.zeros(dim), np.ones(1 if one else n)])
        found = solve(
            cost,
            A_ub=sparse.hstack([sparse.csr_array(-rows), sparse.csr_array(-slack)], format="csr"),
            b_ub=-b,
            bounds=[(None, None)] * dim + [(0.0, None)] * (cost.size - dim),
            method=method,
            options=options,
        )
    clock.check("a linear program")
    if found.status == 1:
        raise OutOfTime(
            "The linear program was not solved in time: allow more with pgm.set_config(time_limit=...)."
        )
    assert found.status == 0, found.message  # a = 0 and z = 0 are feasible, and the optimum is bounded
    if form == "dual":
        return Program(-np.asarray(found.eqlin.marginals), -float(found.fun) + 0.0, np.asarray(found.x))
    return Program(np.asarray(found.x[:dim]), float(found.fun), -np.asarray(found.ineqlin.marginals))
