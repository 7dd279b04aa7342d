"""Sequences with inputs: those of each step, those of a window before it, and past observations."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, listed, shown
from pgm.frames.sequences import Sequences, sequences
from pgm.variables import Domain, as_domain

if TYPE_CHECKING:
    from .input_output_hmm import InputOutputHMM

_NOTHING = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class WithInputs(Sequences):
    """Sequences of observations with the inputs of each row; NaN where an input is missing."""

    x: np.ndarray = field(default_factory=lambda: _NOTHING)  # all inputs of each row
    own: np.ndarray = field(default_factory=lambda: _NOTHING)  # without window and past observations
    past: np.ndarray = field(default_factory=lambda: _NOTHING)  # observations as inputs of later rows
    before: np.ndarray | None = None
    lags: int = 0
    entering: bool = False

    @cached_property
    def position(self) -> np.ndarray:
        """The step of each row in its sequence."""
        return np.asarray(np.arange(self.n_rows) - np.repeat(self.starts[:-1], self.lengths))

    @cached_property
    def taken(self) -> np.ndarray:
        """Rows whose observations are conditioned on, because what came before is not known."""
        if not self.lags or self.before is not None:
            return np.zeros(self.n_rows, bool)
        return np.asarray(self.position < self.lags)

    @cached_property
    def beginning(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct inputs of first rows, and which of them each sequence has."""
        rows = self.x[self.starts[:-1]]
        if np.isnan(rows).any():
            bad = int(np.isnan(rows).any(axis=1).argmax())
            raise self.lacks(int(self.starts[bad]), "the first state depends on")
        return _distinct(rows)

    @cached_property
    def moving(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct inputs of transitions, and which of them leads into each row."""
        first = self.starts[:-1]
        used = np.delete(np.arange(self.n_rows), first)
        found = self.x.copy() if self.entering else np.roll(self.x, 1, axis=0)
        bad = np.isnan(found[used]).any(axis=1)
        if bad.any():
            row = int(used[bad.argmax()]) - (0 if self.entering else 1)
            raise self.lacks(row, "a transition depends on")
        found[first] = found[used[0]] if used.size else 0.0
        return _distinct(found)

    def lacks(self, row: int, what: str) -> InvalidArgument:
        """The error for a missing input."""
        place = self.place(row)
        said = f"{place[0].upper()}{place[1:]}: an input is missing that {what}."
        if self.lags:
            said += (
                " Past observations are inputs: a gap leaves the next steps without theirs. Give what came "
                "before the first step as before=; start a new sequence after a gap."
            )
        return InvalidArgument(said)


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found, which = np.unique(rows, axis=0, return_inverse=True)
    return found, which.reshape(-1).astype(np.int64)


def read_with_inputs(
    model: InputOutputHMM, data: Any, lengths: Any, sequence: Any, inputs: Any, before: Any
) -> WithInputs:
    """Read observations and their inputs."""
    emission = model._emission
    is_value = getattr(emission, "is_value", lambda value: False)
    columns = _columns_of(inputs)
    vector = emission.vector
    read = sequences(data, vector=vector, lengths=lengths, sequence=sequence, is_value=is_value)
    if columns is not None and isinstance(read.rows, dict):
        missing = [name for name in columns if name not in read.rows]
        if missing:
            raise InvalidArgument(f"The frame has no column {shown(missing[0])}; it has {listed(read.rows)}.")
        left = {name: column for name, column in read.rows.items() if name not in columns}
        given = {name: read.rows[name] for name in columns}
        beside = Sequences(given, read.starts, read.lone, read.ids, "inputs=")
        read = Sequences(left, read.starts, read.lone, read.ids)
    elif model._width == 0:
        if inputs is not None:
            raise InvalidArgument("inputs= has no effect: no part of the model depends on inputs.")
        beside = None
    else:
        if inputs is None:
            raise InvalidArgument("The model has inputs: inputs= has a row for each step.")
        found = sequences(inputs, vector=(model._width or 1) > 1, lengths=lengths)
        if not np.array_equal(found.starts, read.starts):
            raise InvalidArgument(
                f"inputs= has {found.n_rows:,} row{'s' * (found.n_rows != 1)} in {len(found)} "
                f"sequence{'s' * (len(found) > 1)}, but "
                f"the data have {read.n_rows:,} in {len(read)}: each step needs a row of inputs."
            )
        beside = Sequences(found.rows, read.starts, read.lone, read.ids, "inputs=")
    own = (
        np.zeros((read.n_rows, 0)) if beside is None else input_rows(beside, model._values, model._width or 1)
    )
    past = model._past_of(read) if model.lags else np.zeros((read.n_rows, 0))
    first = model._before(before)
    at = np.arange(read.n_rows) - np.repeat(read.starts[:-1], read.lengths)
    x = with_past(own, model.window, past, model.lags, first, at)
    steps = read.rows, read.starts, read.lone, read.ids
    return WithInputs(*steps, x=x, own=own, past=past, before=first, lags=model.lags, entering=model.entering)


def _columns_of(inputs: Any) -> list[str] | None:
    """The names of columns; None if the inputs are rows."""
    if isinstance(inputs, str):
        return [inputs]
    if isinstance(inputs, list | tuple) and inputs and all(isinstance(name, str) for name in inputs):
        return list(inputs)
    return None


def input_rows(read: Sequences, values: tuple[Any, ...] | None, width: int) -> np.ndarray:
    """Rows of inputs as floats; values of a list become their positions in it."""
    if values is None:
        return read.floats(width, flat=width == 1 and not isinstance(read.rows, dict))
    domain: Domain = as_domain(list(values))
    codes = read.codes(domain, "values of the input").astype(np.float64)
    codes[codes < 0] = np.nan
    return codes[:, None]


def with_past(
    own: np.ndarray,
    window: int,
    past: np.ndarray | None,
    lags: int,
    before: np.ndarray | None,
    position: np.ndarray | None = None,
) -> np.ndarray:
    """Inputs of each row, those of `window` rows before it, and `lags` past observations.

    Args:
        own: inputs of each row.
        window: how many rows before; zeros before the first.
        past: observations of each row as inputs of later ones.
        lags: how many past observations.
        before: those before the first row, most recent first; None: not known.
        position: the step of each row in its sequence; None: all rows are of one.
    """
    at = np.arange(len(own)) if position is None else position
    parts = [own]
    for w in range(1, window + 1):
        rolled = np.roll(own, w, axis=0)
        rolled[at < w] = 0.0
        parts.append(rolled)
    for lag in range(1, lags + 1):
        assert past is not None
        rolled = np.roll(past, lag, axis=0)
        early = at < lag
        rolled[early] = np.nan if before is None else before[lag - 1 - at[early]]
        parts.append(rolled)
    return np.hstack(parts)
