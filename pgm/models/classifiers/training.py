"""Rows to learn from: their columns, classes and weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, nearest, shown
from pgm.frames import observations
from pgm.frames.matrices import Features
from pgm.runtime.clock import Clock
from pgm.variables import Variable


@dataclass(frozen=True, eq=False)
class Training:
    """Rows with their classes."""

    variables: dict[str, Variable]  # of the columns
    codes: dict[str, np.ndarray]  # -1 where missing
    values: dict[str, np.ndarray]  # NaN where missing
    target: Variable
    classes: np.ndarray
    labels: np.ndarray  # the index of each row's class in `classes`; -1 where it is unknown
    weights: np.ndarray  # each greater than zero
    class_prior: np.ndarray
    clock: Clock

    @property
    def in_part(self) -> bool:
        """Whether some rows have no class."""
        return bool((self.labels < 0).any())

    def known(self) -> Training:
        """The rows that have a class."""
        if not self.in_part:
            return self
        rows = self.labels >= 0
        return replace(
            self,
            codes={name: column[rows] for name, column in self.codes.items()},
            values={name: column[rows] for name, column in self.values.items()},
            labels=self.labels[rows],
            weights=self.weights[rows],
        )

    def per_class(self) -> np.ndarray:
        """The total weight of the rows of each class."""
        return np.bincount(self.labels, self.weights, self.target.card)


def classes_column(given: Features, y: Any) -> tuple[str, Any, Features]:
    """The name of the target, the classes of the rows, and the rows without them."""
    if not isinstance(y, str):
        name = getattr(y, "name", None)
        return (name if isinstance(name, str) and name else "class"), y, given
    if y not in given.names:
        raise InvalidFrame(
            f"y={shown(y)} names a column, but the rows have no such column.{nearest(y, given.names)}"
        )
    read = observations(given.frame, names=[y])
    target = read.variables[y]
    if target.continuous:
        raise InvalidArgument(
            f"Unknown label type: continuous. The column {shown(y)} has fractional values, and classes are "
            "needed: cut it into bins with pgm.discretize first."
        )
    codes = read.codes[y]
    states = np.array(target.states)
    if states.tolist() != list(target.states) or (codes < 0).any():
        states = np.empty(len(target.states) + 1, dtype=object)
        states[:-1] = target.states  # -1, where there is no class, is the last: None
    names = tuple(name for name in given.names if name != y)
    if not names:
        raise InvalidFrame(f"The rows have no column but {shown(y)}: there is nothing to predict it from.")
    return y, states[codes], Features(names, given.named, given.frame, None)


def free_name(name: str, taken: tuple[str, ...]) -> str:
    """A name for the class that no column has."""
    while name in taken:
        name += "_"
    return name
