"""A regressor as the distribution of a continuous child."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Self

import numpy as np

from pgm.distributions.normal import LOG_2PI, log_standard_normal
from pgm.errors import InvalidArgument, InvalidTable, listed, shown
from pgm.factors import RowNormal
from pgm.randomness import draw_count, generator
from pgm.variables import REAL, Continuous, Variable, as_float

from .complete_rows import codes_of_row, values_of_frame
from .estimator import EstimatorCPD
from .estimator_inputs import Inputs
from .statistics import Codes, Configurations
from .table_input import Array

_EXACT = 1e-14  # of the largest value: residuals that are only rounding


class RegressorCPD(EstimatorCPD):
    """p(child | parents) of a regressor; `pgm.EstimatorCPD` makes it."""

    __slots__ = ("_sd",)
    kind, label, continuous = "regressor", "regressor", True

    _sd: float | None  # None: the regressor returns one for each row, or it is not estimated yet

    def _unbound_fields(self) -> dict[str, Any]:
        return {"_sd": None}

    def _check_options(self, *, rows: Any, method: Any, sd: Any, coding: Any) -> None:
        if method is not None:
            raise InvalidArgument("method= says how a classifier is calibrated; a regressor has an sd=.")
        if sd is not None and not (
            isinstance(sd, int | float) and not isinstance(sd, bool) and 0 < sd < math.inf
        ):
            raise InvalidArgument(
                f"sd= is the standard deviation of the noise, a number above 0, not {shown(sd)}."
            )
        if sd is not None and rows is not None:
            raise InvalidArgument("Give sd=, or rows= to measure it on, not both.")

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> Self:
        """Return this density for the child `name`."""
        if states is not None and not isinstance(states, Continuous):
            raise InvalidTable(
                f"{name!r}: a {self._kind} is a regressor: its child is continuous and has no states; leave "
                "out states=, or cut the values into bins and fit a classifier."
            )
        given = self._in_order(name, given)
        inputs = Inputs.of(name, self._estimator, given, self._asked["coding"])
        made = self._bound(Variable(name, REAL), given, _inputs=inputs, _sd=self._asked["sd"])
        if not self.is_fitted:
            if self._asked["rows"] is not None:
                raise InvalidArgument(f"{name!r}: rows= measures the sd of a fitted regressor; fit it first.")
            return made
        made._probe()
        if self._asked["rows"] is not None:
            rows = values_of_frame(made.child.name, (*given, made.child), self._asked["rows"])
            made = made._bound(
                made.child,
                given,
                _sd=made._measured(rows, np.ones(len(rows))),
                _asked={**self._asked, "rows": None},
            )
        elif made._sd is None and not self._returns_sd():
            raise InvalidTable(
                f"{name!r}: its {self._kind} does not quantify the noise around its predictions: give sd=, "
                f"or rows=, a frame with {listed([*self._parents, name])} that it was not fitted on, to "
                "measure it."
            )
        return made

    def _returns_sd(self) -> bool:
        try:
            last = getattr(self._estimator, "steps", None)  # a pipeline passes options on to its last step
            return (
                "return_std"
                in inspect.signature((last[-1][1] if last else self._estimator).predict).parameters
            )
        except (TypeError, ValueError):
            return False

    def _measured(self, rows: Array, weights: Array) -> float:
        """The standard deviation of the residuals."""
        off = rows[:, -1] - self._answer(list(rows[:, :-1].T))[:, 0]
        found = math.sqrt(float(weights @ off**2) / float(weights.sum()))
        if not found > _EXACT * float(np.abs(rows[:, -1]).max(initial=0.0)):
            raise InvalidArgument(
                f"{self.child.name!r}: its {self._kind} predicts every row without error, and a density "
                "needs some. Give sd=, or rows= that it was not fitted on."
            )
        return found

    # --- densities ---

    def _answer(self, columns_: Sequence[Array], matrix: Array | None = None) -> Array:
        """Mean and standard deviation of each row, as two columns; the second is NaN if there is none."""
        if not len(columns_[0]):
            return np.empty((0, 2))
        asked = self._sd is None and self.is_fitted and self._returns_sd()
        found = self._ask("predict", columns_, matrix, **({"return_std": True} if asked else {}))
        mean, sd = found if asked else (found, np.nan if self._sd is None else self._sd)
        n, node = len(columns_[0]), self.child.name
        made = np.empty((n, 2))
        for i, (values, what) in enumerate(((mean, "predictions"), (sd, "standard deviations"))):
            if i and not asked:
                made[:, 1] = values
                continue
            values = np.asarray(values, dtype=np.float64)
            if values.size != n or values.ndim not in (1, 2):
                raise InvalidTable(
                    f"{node!r}: its {self._kind} returns {what} of shape {values.shape} for {n:,} rows; a "
                    "node has one output."
                )
            values = values.reshape(n)
            bad = ~np.isfinite(values) | ((values < 0.0) if i else False)
            if bad.any():
                row = int(bad.argmax())
                raise InvalidTable(
                    f"{node!r}: the {what} of its {self._kind} are {shown(float(values[row]))} where "
                    f"{self._row_text(columns_, row)}."
                )
            made[:, i] = values
        return made

    def moments(self, codes: Codes, values: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation for rows of state codes and continuous values."""
        found = self._answer(self._split(codes, values), self._as_matrix(values))
        return found[:, 0], found[:, 1]

    def factor(self, scope: Sequence[int]) -> RowNormal:
        """Return the density as inference takes it; `scope`: positions of the parents, then the child's."""
        made, n = self._sorted_scope(scope)
        return RowNormal(
            made, n, tuple([v.card for v in self.given if not v.continuous]), self.moments, self._sd
        )

    def rows(self, codes: Codes) -> NoReturn:
        """Refuse: a continuous variable has no table."""
        raise InvalidTable(f"{self.child.name!r} is continuous: its density is not a table.")

    def table(self, limit: int | None = None) -> NoReturn:
        """Refuse: a continuous variable has no table."""
        self.rows(np.empty((0, 0), np.int64))

    def probability(self, row: Mapping[str, Any]) -> float:
        """Return the density p(child | parents) for one row: a value or state of child and parents."""
        codes_of_row((*self.given, self.child), row)
        known = self._row({v.name: row[v.name] for v in self.given})
        mean, sd = self._answer([known[:, i] for i in range(len(self.given))])[0]
        return float(math.exp(log_standard_normal((as_float(row[self.child.name]) - mean) / sd)) / sd)

    def sample(
        self, given: Any = None, *, n: int | None = None, seed: int | np.random.Generator | None = None
    ) -> Array:
        """Draw values: `n` for one row of the parents, or one for each row of a frame."""
        count = draw_count(1 if n is None else n)
        rng = generator(seed)
        rows = self._row({} if given is None else given) if n is not None else self._frame(given)
        mean, sd = self._answer([rows[:, i] for i in range(len(self.given))]).T
        return np.asarray(mean + sd * rng.standard_normal(count if n is not None else len(rows)))

    # --- learning ---

    def expected_log(self, statistics: Any) -> float:
        """Return the log-likelihood of these rows."""
        found = self._checked_statistics(statistics, Configurations)
        mean, sd = self._answer(list(found.rows[:, :-1].T)).T
        off = (found.rows[:, -1] - mean) / sd
        return float(found.weights @ (-0.5 * (off**2 + LOG_2PI) - np.log(sd)))

    def _fitted(self, statistics: Any) -> Self:
        found = self._checked_statistics(statistics, Configurations)
        learned = self._learned(found.rows[:, :-1], found.rows[:, -1], found.weights)
        made = self._bound(self.child, self.given, _estimator=learned, _sd=self._asked["sd"])
        if made._sd is None and not made._returns_sd():
            made = made._bound(self.child, self.given, _sd=made._measured(found.rows, found.weights))
        return made

    @property
    def sd(self) -> float:
        """The standard deviation of the noise; NaN if the regressor returns one for each row."""
        return math.nan if self._sd is None else self._sd

    def _values_of(self) -> Any:
        return self._estimator, self._sd

    def _title(self) -> str:
        return super()._title().replace("P(", "p(", 1)

    def _own_lines(self) -> list[tuple[str, str]]:
        if self._sd is not None:
            return [("sd", f"{self._sd:.6g}")]
        return [("sd", "the regressor's own, for each row" if self._returns_sd() else "measured by fit")]
