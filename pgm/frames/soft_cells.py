"""Cells of a frame that hold uncertain evidence: a Likelihood, OneOf or Not, or a row of weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.errors import InvalidEvidence, InvalidFrame, listed, shown
from pgm.evidence import Likelihood, Likelihoods, Soft, is_weighed, weights_over
from pgm.variables import Variable

_FEW = 1 << 12  # rows that are searched for equal weights first


@dataclass(frozen=True, eq=False, slots=True)
class SoftCells:
    """The cells of a column that weigh states."""

    variable: Variable
    which: np.ndarray  # int32 for each row: the index of its weights, -1 where it has none
    weights: np.ndarray  # (distinct weights, states), none of them all zero

    def given(self, row: int) -> Likelihood | None:
        """The evidence in a row; None: there is none of this kind."""
        at = int(self.which[row])
        if at < 0:
            return None
        return Likelihood(dict(zip(self.variable.states, self.weights[at].tolist(), strict=True)))

    def logs(self) -> np.ndarray:
        """The logarithms of the weights."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.weights))


def is_array(column: Any) -> bool:
    """Whether a column is an array of weights, a row for each cell."""
    return isinstance(column, Likelihoods) or (isinstance(column, np.ndarray) and column.ndim == 2)


def of_array(variable: Variable, column: Any) -> SoftCells:
    """The cells of an array (rows, states); a row of NaN is no evidence.

    Raises:
        InvalidEvidence, InvalidFrame: the states differ, or weights are negative or all zero.
    """
    name = variable.name
    if isinstance(column, Likelihoods):
        places = [variable.code(state) for state in column.states]
        if sorted(places) != list(range(variable.card)):
            raise InvalidEvidence(
                f"{name!r}: a Likelihood has a weight for each of {listed(variable.states)}; these are for "
                f"{listed(column.states)}."
            )
        weights = np.empty_like(column.weights)
        weights[:, places] = column.weights
    else:
        try:
            weights = np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidFrame(
                f"The column {shown(name)} has two dimensions, and not all its entries are numbers."
            ) from None
        if weights.shape[1] != variable.card:
            raise InvalidFrame(
                f"The column {shown(name)} is an array of shape {weights.shape}; weights of states have a "
                f"column for each of {listed(variable.states)}."
            )
    there = ~np.isnan(weights).all(axis=1)
    wrong = there & ~((weights >= 0.0) & (weights < np.inf)).all(axis=1)
    wrong |= there & ~(weights > 0.0).any(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        raise InvalidEvidence(
            f"Row {row:,} (the first is 0), {name!r}: weights are non-negative and not all zero, not "
            f"{shown(weights[row].tolist())}."
        )
    which = np.full(len(weights), -1, np.int32)
    found = np.ascontiguousarray(weights[there])
    few = np.unique(found[:_FEW], axis=0)
    if len(few) < 0.9 * len(found[:_FEW]):  # worth searching all rows
        found, inverse = np.unique(found, axis=0, return_inverse=True)
        which[there] = inverse.reshape(-1)
    else:
        which[there] = np.arange(len(found))
    return SoftCells(variable, which, found)


def of_cells(
    variable: Variable, column: Sequence[Any], rows: np.ndarray
) -> tuple[SoftCells | None, np.ndarray]:
    """The evidence among these cells, and its positions; None if there is none.

    Raises:
        InvalidEvidence: evidence that does not fit the states.
    """
    which = np.full(len(column), -1, np.int32)
    known: dict[Any, int] = {}
    weights: list[np.ndarray] = []
    taken = np.zeros(len(column), bool)
    for row in rows.tolist():
        cell = column[row]
        if not is_weighed(cell):
            continue
        if cell not in known:
            if isinstance(cell, Soft):
                raise InvalidEvidence(
                    f"Row {row:,} (the first is 0), {variable.name!r}: pgm.Soft fixes a marginal after the "
                    "update; a cell of a frame takes pgm.Likelihood, pgm.OneOf or pgm.Not."
                )
            try:
                weights.append(weights_over(variable, cell))
            except InvalidEvidence as error:
                raise InvalidEvidence(f"Row {row:,} (the first is 0): {error}") from None
            known[cell] = len(weights) - 1
        which[row], taken[row] = known[cell], True
    return (SoftCells(variable, which, np.array(weights)) if weights else None), taken
