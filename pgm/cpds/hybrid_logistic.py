"""Logistic distributions some of whose parents are continuous."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Self

import numpy as np

from pgm.errors import ConvergenceWarning, InvalidFrame, InvalidTable, listed, warn
from pgm.factors import Score

from .complete_rows import codes_of_row, values_of_frame, values_of_row, weighted_rows
from .logistic import Logistic, features, newton, softmax
from .statistics import Codes, Configurations, weighted_log
from .table_input import MAX_AXES, Array, check_cells

_CERTAIN = -1e-9  # log-likelihood per row; a larger one means that the weights diverge


class HybridLogistic(Logistic):
    """A `Logistic` with continuous parents, each of which contributes its value times its weight.

    Its rows are arrays with a column for each parent, in order: codes of states, or values.
    """

    __slots__ = ()

    @classmethod
    def of(cls, logistic: Logistic) -> HybridLogistic:
        """The same weights, for parents some of which are continuous."""
        made = cls.__new__(cls)
        made.__setstate__(logistic.__getstate__())
        return made

    def _is_continuous(self) -> list[bool]:
        return [v.continuous for v in self.given]

    # --- for inference ---

    def factor(self, scope: Sequence[int]) -> Score:
        """Return it as inference takes it; `scope`: positions of the parents, then the child's."""
        shape = (*[v.card for v in self.given if not v.continuous], self.child.card)
        if len(shape) > MAX_AXES:
            raise InvalidTable(
                f"{self.child.name!r} has {len(shape) - 1} discrete parents; {MAX_AXES - 1} are possible."
            )
        check_cells(shape, f"{self.child.name!r}: its scores", "give it fewer discrete parents")
        is_continuous = self._is_continuous()
        states = [i for i, real in enumerate(is_continuous) if not real]
        others = [i for i, real in enumerate(is_continuous) if real]
        offset = np.array(self._bias)
        for i in states:
            offset = offset[..., np.newaxis, :] + self._scores[i]
        order = [scope[i] for i in (*states, *others)]
        weights = np.array([self._scores[i][0] for i in others])
        return Score(np.array([*order, scope[-1]], dtype=np.int64), len(states), offset, weights)

    # --- rows ---

    def rows(self, codes: Any) -> Array:
        """Return the softmax of the sums of weights of each row."""
        total = np.tile(np.array(self._bias), (len(codes), 1))
        for i, (score, real) in enumerate(zip(self._scores, self._is_continuous(), strict=True)):
            total += codes[:, i : i + 1] * score if real else score[codes[:, i].astype(np.int64)]
        return softmax(total)

    def probability(self, row: Mapping[str, Any]) -> float:
        """Return P(child | parents) of one row: a state or value for the child and for each parent."""
        code = codes_of_row((*self.given, self.child), row)[-1]
        return float(self.rows(self._row({v.name: row[v.name] for v in self.given}))[0, code])

    def _row(self, row: Any) -> Array:
        return values_of_row(self.given, row)

    def _frame(self, frame: Any) -> Array:
        return values_of_frame(self.child.name, self.given, frame)

    def table(self, limit: int | None = None) -> NoReturn:
        """Refuse: there is no table where parents are continuous."""
        those = [v.name for v in self.given if v.continuous]
        raise InvalidTable(
            f"{self.child.name!r} depends on {listed(those)}, continuous: there is no table; see .weights "
            "and .bias, or .probability(row)."
        )

    # --- learning ---

    def statistics(self, data: Any, weights: Any = None) -> Configurations:
        """Return the rows themselves: with continuous parents there are no smaller sufficient statistics.

        Args:
            data: a data frame or a dict of columns, with the child and all parents in each row.
            weights: one for each row.
        """
        if isinstance(data, Configurations):
            return data
        seen, shares = weighted_rows((self.child,), data, weights)
        kept = slice(None) if weights is None else np.asarray(weights, dtype=np.float64) > 0
        known = values_of_frame(self.child.name, self.given, data)[kept]
        if len(known) != len(seen):
            raise InvalidFrame(f"{self.child.name!r}: its columns differ in length.")
        return Configurations.of(np.column_stack([known, seen]), shares, None)

    def gathered(self, codes: Codes, values: Array, weights: Array) -> Configurations:
        """Return the rows themselves.

        >>> from pgm.variables import REAL, Variable
        >>> ill = HybridLogistic({"x": 1.0}).bind("ill", [False, True], (Variable("x", REAL),))
        >>> ill.gathered(np.array([[1], [0]]), np.array([[0.5], [-1.0]]), np.ones(2)).rows.tolist()
        [[0.5, 1.0], [-1.0, 0.0]]
        """
        states, reals = iter(codes.T), iter(values.T)
        columns_ = [next(reals) if v.continuous else next(states) for v in (*self.given, self.child)]
        return Configurations.of(np.column_stack(columns_), weights, None)

    def expected_log(self, statistics: Any) -> float:
        """Return the log-likelihood of these rows.

        >>> from pgm.variables import REAL, Variable
        >>> ill = HybridLogistic({"x": 0.0}).bind("ill", [False, True], (Variable("x", REAL),))
        >>> round(ill.expected_log(ill.statistics({"x": [0.5], "ill": [True]})), 6)
        -0.693147
        """
        found = self._checked_statistics(statistics, Configurations)
        seen = found.rows[:, -1].astype(np.int64)
        return weighted_log(found.weights, self.rows(found.rows[:, :-1])[np.arange(len(seen)), seen])

    def _fitted(self, statistics: Any) -> Self:
        rows = self._checked_statistics(statistics, Configurations)
        known, seen, shares = rows.rows[:, :-1], rows.rows[:, -1:].astype(np.int64), rows.weights
        blocks, scales = [], []
        for i, (v, entry) in enumerate(zip(self.given, self._weights, strict=True)):
            if not v.continuous:
                block = features(self.child.name, v, entry)[known[:, i].astype(np.int64)]
                blocks.append(block)
                scales += [(0.0, 1.0)] * block.shape[1]
                continue
            # standardised, for the least squares of Newton's method compare columns by their size
            centre, spread = float(known[:, i].mean()), float(known[:, i].std())
            spread = spread if spread > 0.0 else 1.0
            blocks.append(((known[:, i] - centre) / spread)[:, np.newaxis])
            scales.append((centre, spread))
        card = self.child.card
        width = 1 + sum(block.shape[1] for block in blocks)
        check_cells(
            (len(known) * (width + 4 * card) + (width * card) ** 2,),
            f"{self.child.name!r}: fitting its weights",
            "fit to fewer rows",
        )
        design = np.concatenate([np.ones((len(known), 1)), *blocks], axis=1)
        found = newton(self.child.name, design, seen[:, 0], shares, card, most=np.inf)
        found = np.concatenate([np.zeros((width, 1)), found], axis=1)
        if float(shares @ np.log(softmax(design @ found)[np.arange(len(known)), seen[:, 0]])) > (
            _CERTAIN * float(shares.sum())
        ):
            warn(
                f"{self.child.name!r}: the weights diverge, because the parents separate its states "
                "perfectly; those returned are merely large. Fit to more rows.",
                ConvergenceWarning,
            )
        centres, spreads = np.array(scales).reshape(-1, 2).T
        found[1:] /= spreads[:, np.newaxis]
        found[0] -= centres @ found[1:]
        return self._of_found(found)
