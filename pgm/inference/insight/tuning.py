"""Parameter tuning: changes of parameters that make an answer reach a goal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD
from pgm.cpds.table_input import is_number
from pgm.errors import InvalidArgument, shown
from pgm.inference.insight.aims import Aim, Given, log_odds
from pgm.inference.insight.curve import possible_at
from pgm.inference.insight.sensitivity import AnswerSensitivity, sensitivity
from pgm.printing import ROWS, Tabular, number
from pgm.results.base import Result, pandas, put
from pgm.results.report import Report
from pgm.variables import State

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_STEPS = 100
_REACHED, _STILL = 1e-10, 1e-9  # how close the answer must come; smaller changes of a table are rounding


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one parameter, with the other entries of its row in proportion."""

    node: str
    key: Any  # the states of the parents and the child; for other parameters their name
    text: str
    value: float
    to: float

    @property
    def size(self) -> float:
        """How far the parameter moves."""
        return abs(self.to - self.value)

    @property
    def log_odds(self) -> float:
        """How far its log-odds move, which bounds how far any answer may (Chan & Darwiche 2005)."""
        return abs(log_odds(self.to) - log_odds(self.value))


class Tuning(Result, Tabular, Sequence[Change]):
    """Every single parameter change that makes an answer reach a goal, the smallest first.

    `several` is the least change of several parameters at once: {node: its new table}.
    """

    __slots__ = ("_changes", "aim", "goal", "report", "several")
    report: Report
    aim: Aim
    goal: tuple[str, float]  # "at least" or "at most", and the probability
    several: Mapping[str, np.ndarray]
    _changes: tuple[Change, ...]

    def __init__(
        self,
        aim: Aim,
        goal: tuple[str, float],
        changes: Sequence[Change],
        several: Mapping[str, np.ndarray],
        report: Report,
    ) -> None:
        """Store the results of `tune`."""
        put(self, "aim", aim)
        put(self, "goal", goal)
        put(self, "_changes", tuple(changes))
        put(self, "several", dict(several))
        put(self, "report", report)

    def _parts(self) -> tuple[object, ...]:
        return self.aim, self.goal, self._changes, self.several, self.report

    def __getitem__(self, index: Any) -> Any:
        return self._changes[index]

    def __iter__(self) -> Iterator[Change]:
        return iter(self._changes)

    def __len__(self) -> int:
        return len(self._changes)

    def to_dict(self) -> dict[str, tuple[float, float]]:
        """{parameter: (current value, required value)}."""
        return {change.text: (change.value, change.to) for change in self}

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for each change: node, parameter, value, to, size, log_odds."""
        columns = {
            "node": [c.node for c in self],
            "parameter": [c.text for c in self],
            "value": [c.value for c in self],
            "to": [c.to for c in self],
            "size": [c.size for c in self],
            "log_odds": [c.log_odds for c in self],
        }
        frame: pd.DataFrame = pandas().DataFrame(columns)
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw how far each parameter would have to move, the smallest change first; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        some = list(islice(self, ROWS))
        labels, sizes = [c.text for c in some], [c.size for c in some]
        head = f"single changes for {self._heading()}"
        return plot.ranked(labels, sizes, ax, xlabel="change", head=head, figsize=figsize, title=title)

    def _heading(self) -> str:
        return f"{self.aim.title} {self.goal[0]} {self.goal[1]:g}, now {number(self.aim.probability)}"

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[c.text, number(c.value), number(c.to), number(c.size)] for c in islice(self, ROWS)]
        notes = [f"... {len(self) - ROWS:,} more"] if len(self) > ROWS else []
        if not self._changes:
            notes.append("no change of one parameter reaches it; .several has the least change of several")
        return ["parameter", "value", "to", "change"], rows, "\n".join(notes)


def tune(
    model: Any,
    others: Mapping[str, CPD],
    target: object,
    given: Given,
    state: State | None,
    at_least: float | None,
    at_most: float | None,
    several: bool,
) -> Tuning:
    """See `BayesianNetwork.tune`."""
    if (at_least is None) == (at_most is None):
        raise InvalidArgument("tune takes one goal: either at_least= or at_most=.")
    name, goal = ("at least", at_least) if at_least is not None else ("at most", at_most)
    if goal is None or not is_number(goal) or not 0.0 <= goal <= 1.0:
        raise InvalidArgument(f"The goal is a probability, from 0 to 1, not {shown(goal)}.")
    found = sensitivity(model, others, target, given, state, zeros=False, ranges=False)
    p, wanted = found.probability, float(goal)
    reached = p >= wanted if at_least is not None else p <= wanted
    changes: list[Change] = []
    if reached:
        return Tuning(found.aim, (name, wanted), (), {}, found.report)
    for curve in found:
        to = None if np.isnan(curve.down) else curve.solve(wanted)
        if to is not None:
            changes.append(Change(curve.node, curve.key, curve.text, curve.value, to))
    changes.sort(key=lambda change: change.size)
    least = _several(model, found, wanted) if several else {}
    if not changes and not least:
        raise InvalidArgument(_out_of_reach(found, name, wanted, rising=at_least is not None))
    return Tuning(found.aim, (name, wanted), changes, least, found.report)


def _out_of_reach(found: AnswerSensitivity, name: str, wanted: float, *, rising: bool) -> str:
    ends = [(c(end), c, end) for c in found for end in (0.0, 1.0) if possible_at(c, end)]
    if not ends:
        return f"{found.aim.title} depends on no parameter that may change: it stays {found.probability:g}."
    best, curve, end = (max if rising else min)(ends, key=lambda one: one[0])
    return (
        f"No change of one parameter makes {found.aim.title} {name} {wanted:g}: it is "
        f"{found.probability:.6g}, "
        f"and the farthest that one change takes it is {best:.6g}, with {curve.text} at {end:g}. "
        "Ask for that, or for the least change of several parameters: several=True."
    )


def _several(model: Any, found: AnswerSensitivity, goal: float) -> dict[str, np.ndarray]:
    """The least change (sum of squares) of all entries that are neither 0 nor 1, by successive projections.

    Each step moves to the nearest point of the plane on which the answer, linearised at the current point, is
    the goal. {} if the steps do not converge.
    """
    asked, known = found.aim, found.aim.given
    event = {**known, asked.name: asked.state}
    own = model._own_parameters()
    start = {name: np.array(model.cpd(name).values) for name in found.nodes if name not in own}
    current, base = dict(start), dict(start)
    free = {name: (table > 0.0) & (table < 1.0) for name, table in start.items()}
    trial = model.copy()
    for _ in range(_STEPS):
        p = float(trial.query(asked.name, known)[asked.state])
        if abs(p - goal) <= _REACHED:
            return {
                name: current[name] for name in current if np.abs(current[name] - start[name]).max() > _STILL
            }
        if p in (0.0, 1.0):
            break
        above, below = trial.gradients(event), trial.gradients(known)
        slopes = {name: _within_rows(p * (above[name] - below[name]), free[name]) for name in current}
        norm = sum(float((slope**2).sum()) for slope in slopes.values())
        if norm == 0.0:
            break
        gap = goal - p + sum(float((slopes[n] * (current[n] - base[n])).sum()) for n in current)
        for name, slope in slopes.items():
            moved = base[name] + gap / norm * slope
            out = free[name] & ((moved <= 0.0) | (moved >= 1.0))
            if out.any():  # these stay at 0 or 1 from here on
                free[name] = free[name] & ~out
                base[name] = _summing_to_one(np.where(out, np.clip(moved, 0.0, 1.0), base[name]), free[name])
                moved = _summing_to_one(np.where(free[name], moved, base[name]), free[name])
            current[name] = np.clip(moved, 0.0, 1.0)
            trial.set(name, current[name] / current[name].sum(axis=-1, keepdims=True))
    return {}


def _summing_to_one(table: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The table with its free entries shifted by equal amounts so that rows sum to one."""
    count = free.sum(axis=-1, keepdims=True)
    off = 1.0 - table.sum(axis=-1, keepdims=True)
    return np.asarray(table + free * np.divide(off, count, out=np.zeros(count.shape), where=count > 0))


def _within_rows(slope: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The part of a slope along which rows keep their sums, and entries that are not free stay."""
    inside = np.where(free, slope, 0.0)
    count = free.sum(axis=-1, keepdims=True)
    mean = np.divide(inside.sum(axis=-1, keepdims=True), count, out=np.zeros(count.shape), where=count > 0)
    return np.asarray(np.where(free, inside - mean, 0.0))
