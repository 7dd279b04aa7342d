"""A large grid as an image: the likely state of each pixel."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch

from pgm.errors import InvalidArgument
from pgm.evidence import observe
from pgm.factors import Dense
from pgm.models import MarkovNetwork

from .canvas import STATES, Paper, bare, ink, plain, shortened

MOST_PIXELS = 4_000_000
_SIDE = 6.0  # inches, of the longer side
_KEY = 0.35


def image(
    net: MarkovNetwork,
    cells: Mapping[Hashable, tuple[int, int]],
    given: Mapping[str, Any] | None,
    engine: Any,
    paper: Paper,
) -> tuple[Axes, bool]:
    """Draw a pixel for each variable: its posterior, or without evidence the product of its own factors."""
    domains = {v.states for v in net.variables.values()}
    if len(cells) > MOST_PIXELS or len(domains) > 1:
        raise InvalidArgument(
            f"A picture of {len(cells):,} boxes would be unreadable, and as an image a grid has at most "
            f"{MOST_PIXELS:,} pixels, all with the same states."
        )
    (states,) = domains
    shares, exact = _own(net, len(states)), True
    if given is not None:
        answers = net.marginals(given, engine=engine)
        exact = answers.exact
        hard = observe(net.variables, given).hard
        shares = np.empty((len(cells), len(states)))
        for i, name in enumerate(net.variables):
            shares[i] = np.eye(len(states))[hard[name]] if name in hard else answers[name].values
    places = np.array(list(cells.values()))
    rows, columns = (places.max(axis=0) + 1).tolist()
    scale = _SIDE / max(rows, columns)
    ax = paper.sheet(max(columns * scale, 2.5), max(rows * scale, 1.0), _KEY)
    shown = np.ones((rows, columns, 3))
    colors = np.array([to_rgb(c) for c in _colors(len(states))])
    shown[places[:, 0], places[:, 1]] = shares @ colors  # an uncertain pixel is a mixture of colours
    ax.imshow(shown, interpolation="nearest")
    bare(ax)
    ax.legend(
        [Patch(facecolor=c, edgecolor=ink(ax), linewidth=0.5) for c in colors[:8]],
        [plain(shortened(s, 16)) for s in states[:8]],
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=min(len(states), 8),
        frameon=False,
        fontsize=8.5,
        labelcolor=ink(ax),
        handlelength=1.2,
    )
    return ax, exact


def _colors(n: int) -> list[Any]:
    if n == 2:
        return ["#f4f4f1", "#22303f"]
    if n <= len(STATES):
        return list(STATES[:n])
    return [str(grey) for grey in np.linspace(0.95, 0.1, n)]


def _own(net: MarkovNetwork, card: int) -> np.ndarray:
    """Return for each variable the product of its unary factors."""
    logs = np.zeros((len(net), card))
    with np.errstate(divide="ignore", invalid="ignore"):
        for factor in net.factors():
            if isinstance(factor, Dense) and factor.scopes.shape[1] == 1:
                np.add.at(logs, factor.scopes[:, 0], factor.values if factor.log else np.log(factor.values))
        top = logs.max(axis=1, keepdims=True)
        shares = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
        total = shares.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, shares / total, 1.0 / card))
