"""Where pictures are drawn: on the axes that a user hands over, or on a figure that needs no screen."""

from __future__ import annotations

import io
from functools import lru_cache

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.textpath import TextPath

from pgm.errors import InvalidArgument, shown

INK = "#1f2a37"
LINE = "#8793a3"
FILL = "#eef3fa"
EDGE = "#45699e"
BAR = "#6f94c8"
SEEN_FILL = "#fff0d2"
SEEN_EDGE = "#c27c0e"
SEEN_BAR = "#e3a43b"
# Neighbours differ in lightness too, so that they can be told apart in grey.
STATES = ("#45699e", "#a9c4e8", "#c27c0e", "#f3d19a", "#4b8b6f", "#b4d8c5", "#8a5a8c", "#d9bfdb")


class Picture(Axes):
    """Axes that a notebook shows as the picture itself."""

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        figure = self.get_figure(root=True)
        assert figure is not None
        figure.savefig(out, format="png")
        return out.getvalue()


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return `ax`, or axes on a new figure of this size in inches, made without a screen."""
    if ax is not None:
        return usable(ax)
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot(axes_class=Picture)


def usable(ax: object) -> Axes:
    """Return the axes that a user handed over, if they are that."""
    if not isinstance(ax, Axes):
        raise InvalidArgument(
            f"ax= takes matplotlib Axes, one of what plt.subplots() returns, not {shown(ax)}."
        )
    return ax


def bare(ax: Axes) -> None:
    """Take everything off the axes that is no data: frame, ticks, grid."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)


@lru_cache(maxsize=10_000)
def text_width(text: str, size: float) -> float:
    """Return how wide `text` is in points, in the default font."""
    # A dollar sign would start a formula, which a user's name never means.
    return float(TextPath((0, 0), plain(text), size=size).get_extents().width) if text.strip() else 0.0


def plain(text: object) -> str:
    """Return the text on one line and as it is: a dollar sign in a name starts no formula."""
    return " ".join(str(text).split()).replace("$", r"\$")


def shortened(text: object, longest: int = 24) -> str:
    """Return the text, or its two ends when it is longer than a label can be."""
    whole = str(text)
    whole = (
        " ".join(whole.split()) if all(c.isprintable() or c.isspace() for c in whole) else repr(whole)[1:-1]
    )
    if len(whole) <= longest:
        return whole
    tail = longest // 3
    return whole[: longest - tail - 1] + "…" + whole[-tail:]
