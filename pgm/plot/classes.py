"""Classifiers as pictures: regions of two columns, densities of one, and what decisions cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from pgm.errors import InvalidArgument, UnknownVariable, listed
from pgm.frames import Observations
from pgm.printing import label
from pgm.variables import Variable

from .canvas import EDGE, GROUPS, Paper, lines, plain, shortened, tidy
from .regions import MARKERS, key, outline, paint, scatter

if TYPE_CHECKING:
    from pgm.models.classifiers.row_classifier import RowClassifier

_CELLS = 160  # of a map, along each axis
_POINTS = 400  # of a curve
_MARGIN = 0.08  # of the range of a column, on each side
_ROWS = 60  # whose losses a picture has room for


def decision_regions(
    told: RowClassifier, X: Any, y: Any, columns: Any, ax: Axes | None, figsize: Any, title: str | None
) -> Axes:
    """Draw the regions of two columns in which each class is chosen, or P(x, class) of one column.

    The colour is as strong as the class is probable; lines are where the two most probable ones tie.
    """
    names = _columns(told, columns)
    if (X is None) != (y is None):
        raise InvalidArgument("Points are drawn by their classes: give X and y, or neither.")
    with Paper(ax, figsize, title) as paper:
        if len(names) == 1:
            if X is not None:
                raise InvalidArgument("Points are drawn where there are two columns; this picture has one.")
            return _one(told, told._variables[names[0]], paper)
        return _two(told, [told._variables[name] for name in names], X, y, paper)


def _columns(told: RowClassifier, columns: Any) -> list[str]:
    every = list(told._variables)
    if columns is None:
        real = [name for name in every if told._variables[name].continuous]
        return (real if real else every)[:2]
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        if name not in told._variables:
            raise UnknownVariable(name, every, where="columns=")
    if not 1 <= len(names) <= 2 or len(set(names)) < len(names):
        raise InvalidArgument(f"A picture shows one column or two, not {listed(names)}.")
    return names


def _range(told: RowClassifier, variable: Variable) -> tuple[float, float]:
    if not variable.continuous:
        return -0.5, variable.card - 0.5
    low, high = told._ranges[variable.name]
    off = _MARGIN * (high - low) or 1.0
    return low - off, high + off


def _places(told: RowClassifier, variable: Variable, count: int) -> np.ndarray:
    """Values that are asked about: numbers side by side, or the codes of all states."""
    return np.linspace(*_range(told, variable), count) if variable.continuous else np.arange(variable.card)


def _log_joint(told: RowClassifier, given: dict[Variable, np.ndarray]) -> np.ndarray:
    """Log P(class, these columns)."""
    n = len(next(iter(given.values())))
    codes = {v.name: x.astype(np.int32) for v, x in given.items() if not v.continuous}
    values = {v.name: x for v, x in given.items() if v.continuous}
    return told._log_joint(Observations(n, {v.name: v for v in given}, codes, values))


def _two(told: RowClassifier, two: list[Variable], X: Any, y: Any, paper: Paper) -> Axes:
    ax = paper.axes(5.0, 4.2)
    along = [_places(told, v, _CELLS) for v in two]
    across, up = np.meshgrid(*along)
    logs = _log_joint(told, dict(zip(two, (across.reshape(-1), up.reshape(-1)), strict=True)))
    logs = logs - logs.max(axis=1, keepdims=True, initial=-np.inf, where=logs > -np.inf)
    shares = np.exp(logs)
    shares /= shares.sum(axis=1, keepdims=True)
    k = shares.shape[1]
    best = shares.argmax(axis=1)
    sure = (shares.max(axis=1) - 1.0 / k) / (1.0 - 1.0 / k)
    (x0, x1), (y0, y1) = (_range(told, v) for v in two)
    paint(ax, best.reshape(across.shape), sure.reshape(across.shape), (x0, x1, y0, y1))
    if all(v.continuous for v in two):
        outline(ax, along[0], along[1], shares.reshape(*across.shape, k))
    drawn = _points(told, two, X, y, ax) if X is not None else {}
    key(ax, told._target.states, drawn, title=told._target.name)
    for v, side in zip(two, (ax.xaxis, ax.yaxis), strict=True):
        side.set_label_text(plain(shortened(v.name)))
        if not v.continuous:
            side.set_ticks(range(v.card), [plain(shortened(state, 12)) for state in v.states])
    ax.set_xlim(x0, x1)
    ax.set_ylim(y0, y1)
    ax.grid(visible=False)
    rest_of = len(told._variables) - 2
    more = f"; {rest_of} more column{'s' * (rest_of > 1)} summed out" if rest_of else ""
    paper.entitle(ax, f"the most probable {told._target.name}{more}")
    return ax


def _points(told: RowClassifier, two: list[Variable], X: Any, y: Any, ax: Axes) -> dict[int, Any]:
    seen = told._seen(X)
    xs, ys = (seen.values[v.name] if v.continuous else seen.codes[v.name] for v in two)
    codes = np.array([told._target.code(one) for one in np.asarray(y).tolist()])
    if codes.shape != xs.shape:
        raise InvalidArgument(f"y has a class for each of {len(xs):,} rows.")
    return scatter(ax, xs, ys, codes, told._target.states)


def _one(told: RowClassifier, variable: Variable, paper: Paper) -> Axes:
    ax = paper.axes(5.0, 3.2)
    xs = _places(told, variable, _POINTS)
    joint = np.exp(_log_joint(told, {variable: xs}))
    colours = lines(ax)
    k = joint.shape[1]
    for c, state in enumerate(told._target.states):
        color = GROUPS[c % len(GROUPS)]
        name = plain(label(state))
        if variable.continuous:
            ax.plot(xs, joint[:, c], color=colours[c % len(colours)], label=name)
            mine = (joint.argmax(axis=1) == c).tolist()
            ax.fill_between(
                xs, joint[:, c], where=mine, color=colours[c % len(colours)], alpha=0.3, linewidth=0
            )
        else:
            width = 0.8 / k
            ax.bar(
                xs + (c - (k - 1) / 2) * width, joint[:, c], width, color=color, edgecolor=EDGE, label=name
            )
    if variable.continuous:
        best = joint.argmax(axis=1)
        for i in np.flatnonzero(np.diff(best)).tolist():
            ax.axvline((xs[i] + xs[i + 1]) / 2, color="#8793a3", linewidth=0.9, linestyle=":")
        ax.set_ylabel("P(class) × density")
    else:
        ax.set_xticks(xs, [plain(shortened(state, 12)) for state in variable.states])
        ax.set_ylabel("probability")
    ax.set_ylim(0.0, (1.08 if variable.continuous else 1.35) * float(joint.max()))
    ax.set_xlabel(plain(shortened(variable.name)))
    ax.legend(title=plain(told._target.name), frameon=False, ncols=1 if variable.continuous else min(k, 4))
    paper.entitle(ax, f"{variable.name}: the highest class is chosen")
    tidy(ax)
    return ax


def expected_losses(
    actions: Sequence[Any], risk: np.ndarray, ax: Axes | None, figsize: Any, title: str | None
) -> Axes:
    """Draw the expected loss of each action for some rows; the smallest, which is chosen, is filled."""
    if len(risk) > _ROWS:
        raise InvalidArgument(
            f"A picture shows the losses of up to {_ROWS} rows, and these are {len(risk):,}: decide about "
            "fewer."
        )
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(max(3.6, 1.2 + 0.3 * len(risk)), 3.0)
        rows = np.arange(len(risk))
        best = risk.argmin(axis=1)
        for a, action in enumerate(actions):
            color = GROUPS[a % len(GROUPS)]
            name = "none" if action is None else plain(label(action))
            marker = MARKERS[a % len(MARKERS)]
            ax.plot(rows, risk[:, a], marker, color=color, markerfacecolor="none", markersize=6, label=name)
            mine = best == a
            ax.plot(rows[mine], risk[mine, a], marker, color=color, markersize=6)
        ax.set_xticks(rows if len(rows) <= 20 else rows[:: max(1, len(rows) // 10)])
        ax.set_xlim(-0.6, len(risk) - 0.4)
        ax.set_xlabel("row")
        ax.set_ylabel("expected loss")
        ax.legend(title="decision", frameon=False)
        paper.entitle(ax, "the filled decision is taken")
        tidy(ax)
        return ax
