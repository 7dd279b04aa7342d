"""States that were observed, in some steps or in all: how they are read, and what they rule out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pgm.distributions import Observed
from pgm.errors import InvalidArgument, InvalidFrame, listed, nearest
from pgm.frames.sequences import Sequences, sequences
from pgm.variables import Variable

_LITTLE = 1e-3  # the weight of guesses relative to observations


def known_states(
    states: Any, read: Sequences, data: Any, lengths: Any, variable: Variable
) -> tuple[Sequences, np.ndarray]:
    """The observations without the column of states, and the code of each state; -1: not observed."""
    rows = read.rows
    if isinstance(rows, dict):
        if not isinstance(states, str):
            raise InvalidArgument("states= names the column of the data frame that has the states.")
        if states not in rows:
            raise InvalidFrame(
                f"The frame has no column {states!r} of states; it has {listed(rows)}.{nearest(states, rows)}"
            )
        rest = {name: column for name, column in rows.items() if name != states}
        column = Sequences(rows[states], read.starts, read.lone, read.ids, "states=")
        return replace(read, rows=rest), column.codes(variable.domain, "states")
    seen = sequences(states, lengths=lengths, is_value=lambda value: variable.domain.find(value) >= 0)
    if len(seen) != len(read):
        raise InvalidArgument(f"There are {len(read):,} sequences, but states= has {len(seen):,}.")
    for i, (mine, theirs) in enumerate(zip(read.lengths.tolist(), seen.lengths.tolist(), strict=True)):
        if mine != theirs:
            raise InvalidArgument(f"{read.title(i)} has {mine:,} steps, but states= has {theirs:,}.")
    return read, replace(seen, argument="states=").codes(variable.domain, "states")


@dataclass(frozen=True, eq=False)
class Labelled:
    """Distinct pairs of an observation and the state that was observed with it, if any."""

    code: np.ndarray  # int32: of each step, the index of its pair; empty: each step has its own
    base: np.ndarray | None  # of each pair, the index of its observation; None: pairs are observations
    state: np.ndarray | None  # of each pair, the state that was observed, or -1

    @staticmethod
    def of(observed: Observed, known: np.ndarray | None, k: int) -> Labelled:
        """Pair the observations with the states that were observed."""
        if known is None or (known < 0).all():
            return Labelled(observed.code, None, None)
        if not observed.code.size:
            return Labelled(observed.code, np.arange(len(known)), known)
        both, code = np.unique(observed.code.astype(np.int64) * (k + 1) + known + 1, return_inverse=True)
        return Labelled(code.astype(np.int32).reshape(-1), both // (k + 1), both % (k + 1) - 1)

    def logs(self, of_rows: np.ndarray) -> np.ndarray:
        """Log-likelihoods of each pair under each state: -inf where another state was observed."""
        if self.base is None or self.state is None:
            return of_rows
        found: np.ndarray = of_rows[self.base]
        seen = self.state >= 0
        others = np.arange(found.shape[1]) != self.state[seen, None]
        found[seen] = np.where(others, -np.inf, found[seen])
        return found

    def per_row(self, weights: np.ndarray, n_rows: int) -> np.ndarray:
        """Weights of pairs, added up for each observation."""
        if self.base is None or not self.code.size:
            return weights
        found = np.zeros((n_rows, weights.shape[1]))
        np.add.at(found, self.base, weights)
        return found

    def state_of(self, row: int) -> int:
        """The state that was observed in a step, or -1."""
        return -1 if self.state is None else int(self.state[self.code[row] if self.code.size else row])

    def labelled(self, guess: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Initial weights: those of the states that were observed, plus a little of the guess.

        The order of guessed states is arbitrary: each is matched to the state that it agrees with best.
        """
        if self.state is None or self.base is None:
            return guess
        n_rows, k = guess.shape
        each = np.bincount(self.code, minlength=self.base.size) if self.code.size else np.ones(self.base.size)
        there = self.state >= 0
        seen = np.zeros((n_rows, k))
        np.add.at(seen, (self.base[there], self.state[there]), each[there])
        return matched(guess, seen)


def matched(guess: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Observed weights plus a little of the guess, whose states are matched to those observed."""
    from scipy.optimize import linear_sum_assignment

    _, order = linear_sum_assignment(seen.T @ guess, maximize=True)
    return np.asarray(seen + np.where(seen.any(axis=0), _LITTLE, 1.0) * guess[:, order])
