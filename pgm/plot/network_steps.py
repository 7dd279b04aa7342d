"""Steps of dynamic networks as pictures: a line or a strip for each variable."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from pgm.printing import number
from pgm.results import NetworkBeliefs, NetworkCourse, SampledSteps

from .canvas import DASHES, STATES, Paper, ink, lines, plain, shortened

_MOST_LINES = 5
_MOST_ROWS = 40


def network_beliefs(found: NetworkBeliefs, paper: Paper) -> Axes:
    """The probability of the last state of each variable, or of every state where there are more than two."""
    rows: list[tuple[str, np.ndarray]] = []
    for i, v in enumerate(found.variables):
        own = found.values[:, found._at(i)]
        for k in range(1 if v.card == 2 else 0, v.card):
            rows.append((plain(f"{shortened(v.name, 16)} = {shortened(v.states[k], 12)}"), own[:, k]))
    first, count = found.start, len(found)
    if len(rows) <= _MOST_LINES:
        ax = paper.axes(7.0, 2.4)
        steps = np.arange(first, first + count)
        for i, (name, column) in enumerate(rows):
            color, dash = lines(ax)[i % len(lines(ax))], DASHES[i % len(DASHES)]
            marker = "o" if count <= 40 else ""
            ax.plot(steps, column, color=color, linestyle=dash, marker=marker, markersize=3.5, label=name)
        ax.set_ylim(-0.02, 1.02)
        ax.set_ylabel("probability")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, labelcolor=ink(ax), fontsize=9)
    else:
        rows = rows[:_MOST_ROWS]
        ax = paper.axes(7.0, 0.7 + 0.24 * len(rows))
        extent = (first - 0.5, first + count - 0.5, len(rows) - 0.5, -0.5)
        table = np.array([column for _, column in rows])
        ax.imshow(table, aspect="auto", cmap="Blues", vmin=0.0, vmax=1.0, extent=extent)
        ax.set_yticks(range(len(rows)), [name for name, _ in rows], fontsize=8)
    ax.set_xlabel("step")
    paper.entitle(ax, f"Variables, {found.about}")
    return ax


def network_course(found: NetworkCourse, paper: Paper) -> Axes:
    """The states of each variable as a strip of colours."""
    count = min(len(found.variables), _MOST_ROWS)
    ax = paper.axes(7.0, 0.9 + 0.3 * count)
    names = [v.name for v in found.variables[:count]]
    _strips(ax, names, found.codes[:, :count].T, [v.states for v in found.variables[:count]])
    paper.entitle(ax, f"Course of probability {number(found.probability)}")
    return ax


def sampled_steps(found: SampledSteps, paper: Paper) -> Axes:
    """What was drawn: states as strips of colours; continuous values relative to their largest."""
    names = list(found.names[:_MOST_ROWS])
    ax = paper.axes(7.0, 0.9 + 0.3 * len(names))
    codes: list[np.ndarray] = []
    states: list[tuple[object, ...]] = []
    for column in found.columns[: len(names)]:
        if column.dtype.kind == "f":
            low, high = float(column.min()), float(column.max())
            codes.append(np.round((column - low) / max(high - low, 1e-300) * (len(STATES) - 1)).astype(int))
            states.append(())
        else:
            every = sorted(dict.fromkeys(column.tolist()), key=str)
            codes.append(np.array([every.index(value) for value in column.tolist()]))
            states.append(tuple(every))
    _strips(ax, names, np.array(codes), states)
    paper.entitle(ax, "Drawn steps")
    return ax


def _strips(ax: Axes, names: list[str], codes: np.ndarray, states: list[tuple[object, ...]]) -> None:
    most = len(STATES)
    extent = (-0.5, codes.shape[1] - 0.5, len(names) - 0.5, -0.5)
    ax.imshow(
        codes % most,
        ListedColormap(list(STATES)),
        aspect="auto",
        vmin=0,
        vmax=most - 1,
        extent=extent,
        interpolation="nearest",
    )
    for row in range(1, len(names)):
        ax.axhline(row - 0.5, color=ax.get_facecolor(), linewidth=2.0)
    ax.set_yticks(range(len(names)), [plain(shortened(name, 16)) for name in names])
    ax.set_xlabel("step")
    called = {those for those in states if 0 < len(those) <= most}
    if len(called) == 1:
        (those,) = called
        ax.legend(
            handles=[
                Patch(color=STATES[k], label=plain(shortened(name, 16))) for k, name in enumerate(those)
            ],
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
            frameon=False,
            labelcolor=ink(ax),
            fontsize=9,
        )
