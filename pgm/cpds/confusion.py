"""The confusion matrix of a classifier as a table: the distribution of its output given the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import InvalidArgument, InvalidTable, listed, shown
from pgm.variables import is_missing

from .table_input import Array, is_number, sorted_domain


@guarded
def confusion_table(
    truth: Any = None,
    predicted: Any = None,
    *,
    counts: Any = None,
    states: Sequence[Any] | None = None,
    outputs: Sequence[Any] | None = None,
    smoothing: float = 0.0,
) -> dict[Any, dict[Any, float]]:
    """Return P(predicted | truth) of a classifier, the table of a child of the true class.

    Count on rows that the classifier was not trained on: on its training rows it is overconfident. Rows
    without a true or predicted state are left out.

    Args:
        truth: the true state of each row.
        predicted: the classifier's prediction for each row.
        counts: instead of rows, the counts: an array (truth, predicted) as scikit-learn's
            `confusion_matrix` returns it, a data frame of that form, or a dict {truth: {predicted: n}}.
        states: the true states, in order; needed with an array.
        outputs: the possible predictions, in order; by default the same as `states`.
        smoothing: added to every count; without it, pairs that were not seen are impossible.

    Raises:
        InvalidArgument: both rows and counts, or neither; columns of different lengths; negative counts;
            a value that is not a state; a true state without any row, and no smoothing.

    >>> import pgm
    >>> table = pgm.confusion_table(["cat", "cat", "dog", "dog"], ["cat", "dog", "dog", "dog"], smoothing=1)
    >>> {truth: {said: round(p, 6) for said, p in row.items()} for truth, row in table.items()}
    {'cat': {'cat': 0.5, 'dog': 0.5}, 'dog': {'cat': 0.25, 'dog': 0.75}}
    >>> net = pgm.BayesianNetwork()
    >>> net.add("animal", {"cat": 0.5, "dog": 0.5})
    >>> net.add("predicted", table, parents=["animal"])
    >>> round(net.query("animal", {"predicted": "dog"})["dog"], 6)
    0.6
    """
    if not is_number(smoothing) or not 0.0 <= float(smoothing) < np.inf:
        raise InvalidArgument(f"smoothing= is a non-negative number, not {shown(smoothing)}.")
    if counts is None:
        if truth is None or predicted is None:
            raise InvalidArgument("Give the true states and what was predicted for each row, or counts=.")
        rows, columns, found = _of_rows(list(truth), list(predicted), states, outputs)
    else:
        if truth is not None or predicted is not None:
            raise InvalidArgument("Give rows or counts=, not both.")
        rows, columns, found = _of_counts(counts, states, outputs)
    if not ((found >= 0.0) & (found < np.inf)).all():
        raise InvalidArgument(f"counts= are non-negative numbers, not {shown(counts)}.")
    found = found + float(smoothing)
    totals = found.sum(axis=1)
    if (totals == 0.0).any():
        absent = [state for state, total in zip(rows, totals.tolist(), strict=True) if total == 0.0]
        raise InvalidArgument(
            f"There is no row whose truth is {listed(absent)}: what is predicted for it is not known. Count "
            "on rows that have it, or say how much to add to each count, smoothing=1."
        )
    shares = found / totals[:, None]
    return {
        state: dict(zip(columns, row, strict=True)) for state, row in zip(rows, shares.tolist(), strict=True)
    }


def _of_rows(
    truth: list[Any], predicted: list[Any], states: Any, outputs: Any
) -> tuple[list[Any], list[Any], Array]:
    if len(truth) != len(predicted):
        raise InvalidArgument(
            f"There are {len(truth):,} true states and {len(predicted):,} predictions; one of each for a row."
        )
    pairs = [
        (_plain(a), _plain(b))
        for a, b in zip(truth, predicted, strict=True)
        if not (is_missing(a) or is_missing(b))
    ]
    if states is None:
        if not pairs:
            raise InvalidArgument("There is no row to count.")
        both = [a for a, _ in pairs] + ([b for _, b in pairs] if outputs is None else [])
        states = sorted_domain("truth", dict.fromkeys(both)).states
    rows = list(states)
    columns = rows if outputs is None else list(outputs)
    found = np.zeros((len(rows), len(columns)))
    place_of_row, place_of_column = ({s: i for i, s in enumerate(some)} for some in (rows, columns))
    for a, b in pairs:
        if a not in place_of_row:
            raise InvalidArgument(f"The truth {shown(a)} is not one of the states {listed(rows)}.")
        if b not in place_of_column:
            raise InvalidArgument(f"The prediction {shown(b)} is not one of {listed(columns)}.")
        found[place_of_row[a], place_of_column[b]] += 1.0
    return rows, columns, found


def _of_counts(counts: Any, states: Any, outputs: Any) -> tuple[list[Any], list[Any], Array]:
    if hasattr(counts, "columns") and hasattr(counts, "index"):
        states = [_plain(s) for s in counts.index] if states is None else states
        outputs = [_plain(s) for s in counts.columns] if outputs is None else outputs
        counts = np.asarray(counts)
    if isinstance(counts, Mapping):
        written = {_plain(key): row for key, row in counts.items()}
        if not written or not all(isinstance(row, Mapping) for row in written.values()):
            raise InvalidArgument(f"counts= as a dict is {{truth: {{predicted: n}}}}, not {shown(counts)}.")
        states = list(written) if states is None else list(states)
        every = dict.fromkeys(_plain(said) for row in written.values() for said in row)
        if outputs is None:
            outputs = states if set(every) <= set(states) else list(every)
        for what, there, allowed in (("truth", written, states), ("prediction", every, outputs)):
            if unknown := [key for key in there if key not in allowed]:
                raise InvalidArgument(f"counts= has the {what} {listed(unknown)}, none of {listed(allowed)}.")
        counts = [[written.get(s, {}).get(said, 0) for said in outputs] for s in states]
    if states is None:
        raise InvalidArgument("states= names the rows of counts=, in order: an array does not.")
    rows = list(states)
    columns = rows if outputs is None else list(outputs)
    try:
        found = np.array(counts, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (len(rows), len(columns)):
        raise InvalidTable(
            f"counts= needs a row for each of {listed(rows)} and a column for each of {listed(columns)}; its "
            f"shape is {found.shape}."
        )
    return rows, columns, found


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
