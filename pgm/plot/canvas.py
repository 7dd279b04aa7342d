"""Where pictures are drawn: on the axes that a user hands over, or on a figure that needs no screen."""

from __future__ import annotations

import io
import warnings
from functools import lru_cache

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

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


HEADROOM = 0.35  # inches, for a title


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


def sheet(width: float, height: float, above: float = 0.0, below: float = 0.0) -> Axes:
    """Return axes of this size in inches that fill a new figure but for some room above and below."""
    whole = height + above + below
    figure = Figure(figsize=(width, whole))
    FigureCanvasAgg(figure)
    return figure.add_axes((0.0, below / whole, 1.0, height / whole), axes_class=Picture)


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
    # As a picture measures it, but without drawing letters; a user's name never means a formula.
    font = FontProperties(size=size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks are boxes, and measured as such
        width, _, _ = text_to_path.get_text_width_height_descent(one_line(text), font, ismath=False)
    return float(width)


def one_line(text: object) -> str:
    """Return the text without line breaks."""
    return " ".join(str(text).split())


def plain(text: object) -> str:
    """Return the text on one line and as it is: a dollar sign in a name starts no formula."""
    return one_line(text).replace("$", r"\$")


def wrapped(name: str, longest: int = 26, lines: int = 3) -> tuple[str, ...]:
    """Return a name in lines that a box can hold, parted at spaces and underscores where there are some.

    >>> wrapped("PROBABILITY_OF_PRECIPITATION_TOMORROW")
    ('PROBABILITY_OF_', 'PRECIPITATION_TOMORROW')
    """
    left = shortened(name, longest * lines - 3 * lines)
    found: list[str] = []
    while len(left) > longest and len(found) < lines - 1:
        fair = -(-len(left) // -(-len(left) // longest))  # lines of like length
        breaks = [i + 1 for i in range(longest) if left[i] in " _-./:,;"]
        at = min(breaks, key=lambda i: abs(i - fair), default=longest)
        at = at if at >= longest // 3 else longest
        found.append(left[:at].strip())
        left = left[at:].strip()
    return (*found, shortened(left, longest))


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
