"""Labels of rows, perhaps partial or noisy, as likelihoods of each row's component."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, listed, nearest, shown
from pgm.frames import Sequences
from pgm.models.dynamic.hmm_labels import Labelled, matched
from pgm.variables import Variable

_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Labels:
    """The code of each row's label, -1 where there is none, and log P(label | component)."""

    codes: np.ndarray | None
    logs: np.ndarray  # (components, labels)

    @property
    def silent(self) -> bool:
        """Whether no row has a label."""
        return self.codes is None or bool((self.codes < 0).all())

    def added(self, of_rows: np.ndarray, seen: Labelled) -> np.ndarray:
        """Log densities of rows together with their labels."""
        if seen.base is None or seen.state is None:
            return of_rows
        said = np.vstack([self.logs.T, np.zeros(len(self.logs))])  # the last row: no label
        found: np.ndarray = of_rows[seen.base] + said[seen.state]
        return found

    def first(self, guess: np.ndarray, seen: Labelled, heavy: np.ndarray) -> np.ndarray:
        """Initial responsibilities: from the labels, with a small share of the initial guess."""
        if seen.state is None or seen.base is None:
            return guess
        if seen.code.size:
            known = seen.state[seen.code]
            keep = known >= 0
            weights = np.bincount(seen.code[keep], heavy[keep], len(seen.state))
        else:
            weights = np.where(seen.state >= 0, heavy, 0.0)
        p = np.exp(self.logs.T)
        sums = p.sum(axis=1, keepdims=True)
        p = np.divide(p, sums, out=np.zeros_like(p), where=sums > 0.0)
        said = np.vstack([p, np.zeros(len(self.logs))])[seen.state]
        return matched(guess, seen.per_row(said * weights[:, None], len(guess)))


def labels_of(labels: Any, noise: Any, read: Sequences, variable: Variable) -> tuple[Sequences, Labels]:
    """The rows without the column of labels, and the labels.

    Args:
        labels: the name of a column, or a label for each row, None where there is none.
        noise: the error rate of labels, or P(label | component), a row for each component.
        read: the rows.
        variable: the components.
    """
    k = variable.card
    if labels is None:
        if noise is not None:
            raise InvalidArgument("label_noise= has no effect without labels=.")
        return read, Labels(None, np.zeros((k, k)))
    rows = read.rows
    if isinstance(labels, str):
        if not isinstance(rows, dict) or labels not in rows:
            there = listed(rows) if isinstance(rows, dict) else "no columns with names"
            hint = nearest(labels, rows) if isinstance(rows, dict) else ""
            raise InvalidFrame(f"labels= names the column {shown(labels)}; the data have {there}.{hint}")
        column = rows[labels]
        read = replace(read, rows={name: cells for name, cells in rows.items() if name != labels})
    else:
        column = list(labels) if not isinstance(labels, np.ndarray) else labels
        if np.ndim(column) != 1 or len(column) != read.n_rows:
            raise InvalidArgument(
                f"labels= has one label for each of {read.n_rows:,} rows, None where there is none; these "
                f"are {len(column):,}."
            )
    seen = Sequences(column, read.starts, True, None, "labels=", "row")
    codes = seen.codes(variable.domain, "components")
    with np.errstate(divide="ignore"):
        return read, Labels(codes, np.log(_noise(noise, k)))


def _noise(noise: Any, k: int) -> np.ndarray:
    """P(label | component)."""
    if noise is None:
        return np.eye(k)
    try:
        found = np.array(np.nan if isinstance(noise, bool) else noise, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.ndim == 0 and 0.0 <= found < 1.0 and k > 1:
        return np.asarray(np.where(np.eye(k) > 0, 1.0 - found, found / (k - 1)))
    sums = found.sum(axis=-1) if found.ndim else found
    if found.shape != (k, k) or not (found >= 0.0).all() or (np.abs(sums - 1.0) > _ROUNDING).any():
        raise InvalidArgument(
            f"label_noise= is the share of labels that are wrong, from 0 to below 1, or {k} rows of "
            f"P(label | component) which sum to one; not {shown(noise)}."
        )
    return np.asarray(found / sums[:, None])
