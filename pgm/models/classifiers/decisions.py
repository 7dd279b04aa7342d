"""Decisions about rows: the class with the smallest expected loss, or none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.printing import ROWS, Tabular, label, number
from pgm.results.base import Frozen, put
from pgm.variables import Variable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Decisions(Frozen, Tabular):
    """For each row the action with the smallest expected loss: to name a class, or none (None).

    `.decisions` are the actions taken, `.expected_loss` is their expected loss, `.risk` that of every action,
    a column for each of `.actions`.
    """

    __slots__ = ("actions", "posterior", "risk")
    actions: tuple[Any, ...]  # the classes; and None where rejecting is a choice
    risk: np.ndarray
    posterior: np.ndarray

    def __init__(self, actions: tuple[Any, ...], risk: np.ndarray, posterior: np.ndarray) -> None:
        put(self, "actions", tuple(actions))
        for name, values in (("risk", risk), ("posterior", posterior)):
            values.flags.writeable = False
            put(self, name, values)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.actions, self.risk, self.posterior)

    @classmethod
    def of(cls, shares: np.ndarray, target: Variable, loss: Any, reject: float | None) -> Decisions:
        """Weigh losses by P(class | row).

        Args:
            shares: P(class | row), a row for each row.
            target: the class.
            loss: an array (true, named), a dict of pairs, or None: each mistake costs 1.
            reject: the loss of naming no class; None: this is not allowed.
        """
        cost = loss_matrix(target, loss)
        actions: tuple[Any, ...] = target.states
        if reject is not None:
            if (
                isinstance(reject, bool)
                or not isinstance(reject, int | float | np.number)
                or not math.isfinite(reject)
            ):
                raise InvalidArgument(
                    f"reject= is the cost of naming no class, a number, not {shown(reject)}."
                )
            cost = np.column_stack([cost, np.full(target.card, float(reject))])
            actions = (*actions, None)
        return cls(actions, shares @ cost, shares)

    @property
    def decisions(self) -> np.ndarray:
        """The class that is named for each row; None where the row is rejected."""
        best = self.risk.argmin(axis=1)
        if None not in self.actions:
            return np.asarray(np.array(self.actions)[best])
        found = np.empty(len(self.actions), dtype=object)
        found[:] = self.actions
        return np.asarray(found[best])

    @property
    def rejected(self) -> np.ndarray:
        """For each row whether no class is named."""
        if None not in self.actions:
            return np.zeros(len(self.risk), bool)
        return np.asarray(self.risk.argmin(axis=1) == len(self.actions) - 1)

    @property
    def expected_loss(self) -> np.ndarray:
        """The expected loss of the decision about each row."""
        return np.asarray(self.risk.min(axis=1))

    @property
    def values(self) -> np.ndarray:
        """The expected loss of each action, a column for each."""
        return self.risk

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.risk)

    def to_dict(self) -> dict[str, Any]:
        """Return decisions and expected losses as lists.

        >>> import pgm
        >>> model = pgm.NaiveBayes().fit([[0], [1], [1]], ["a", "b", "b"])
        >>> model.decide([[1]]).to_dict()["decision"]
        ['b']
        """
        return {"decision": self.decisions.tolist(), "expected_loss": self.expected_loss.tolist()}

    def to_pandas(self) -> Any:
        """Return a data frame of the rows: the decision, its expected loss, and the loss of each action.

        >>> import pgm
        >>> model = pgm.NaiveBayes().fit([[0], [1], [1]], ["a", "b", "b"])
        >>> list(model.decide([[1]], reject=0.3).to_pandas().columns)
        ['decision', 'expected loss', 'loss of a', 'loss of b', 'loss of none']
        """
        import pandas as pd

        found = {"decision": self.decisions, "expected loss": self.expected_loss}
        for action, column in zip(self.actions, self.risk.T, strict=True):
            found[f"loss of {'none' if action is None else action}"] = column
        return pd.DataFrame(found)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [str(i), "-" if said is None else label(said), f"{number(cost):>13}"]
            for i, (said, cost) in enumerate(
                zip(self.decisions[:ROWS].tolist(), self.expected_loss[:ROWS].tolist(), strict=True)
            )
        ]
        notes = []
        if len(self) > ROWS:
            notes.append(f"... {len(self) - ROWS:,} more of {len(self):,} rows")
            if None in self.actions:
                notes.append(f"{int(self.rejected.sum()):,} of them rejected")
        return ["row", "decision", "expected loss"], rows, "; ".join(notes)

    def plot(
        self,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Return a picture of the expected loss of each action, row by row; what is decided is filled.

        Args:
            ax: the axes to draw into.
            figsize: the size of a new figure.
            title: instead of the usual one; "" for none.

        Raises:
            InvalidArgument: there are more rows than a picture shows.

        >>> import pgm
        >>> model = pgm.NaiveBayes().fit([[0], [1], [1]], ["a", "b", "b"])
        >>> model.decide([[0], [1]]).plot().get_ylabel()
        'expected loss'
        """
        from pgm import plot

        made: Axes = plot.expected_losses(self.actions, self.risk, ax, figsize, title)
        return made


def loss_matrix(target: Variable, loss: Any) -> np.ndarray:
    """The loss of naming each class (columns) when each is the true one (rows), checked.

    >>> loss_matrix(Variable("c", ["a", "b"]), {("a", "b"): 5}).tolist()
    [[0.0, 5.0], [0.0, 0.0]]
    """
    k = target.card
    if loss is None:
        return 1.0 - np.eye(k)
    if isinstance(loss, Mapping):
        found = np.zeros((k, k))
        for pair, cost in loss.items():
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise InvalidArgument(f"loss= has keys (true class, class named), not {shown(pair)}.")
            found[target.code(pair[0]), target.code(pair[1])] = _number(cost)
        return found
    try:
        found = np.array(loss, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidArgument(f"loss= is an array of numbers, or a dict, not {shown(loss)}.") from None
    if found.shape != (k, k):
        raise InvalidArgument(
            f"loss= has a row for each of the {k} true classes and a column for each class named, not the "
            f"shape {found.shape}."
        )
    if not np.isfinite(found).all():
        raise InvalidArgument("loss= has finite numbers only.")
    return found


def _number(cost: Any) -> float:
    if isinstance(cost, bool) or not isinstance(cost, int | float | np.number) or not math.isfinite(cost):
        raise InvalidArgument(f"A loss is a finite number, not {shown(cost)}.")
    return float(cost)
