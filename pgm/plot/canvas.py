"""Where pictures are drawn: on the axes that a user hands over, or on a figure that needs no screen."""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags
from matplotlib.path import Path
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Affine2D

from pgm.errors import InvalidArgument, shown

INK = "#1f2a37"
LINE = "#8793a3"
FILL = "#eef3fa"
EDGE = "#45699e"
BAR = "#6f94c8"
SEEN_FILL = "#fff0d2"
SEEN_EDGE = "#c27c0e"
SEEN_BAR = "#e3a43b"
# The one palette of categories, for those too who see no red, green or blue: neighbours differ in lightness,
# so also in grey. The even ones are dark enough for white letters and for lines, the odd ones light enough
# for INK.
STATES = ("#274f8f", "#a6c6ee", "#b35c00", "#f7d083", "#2a7f72", "#b3e0d2", "#5b1e54", "#e2b3d8")
LINES = STATES[::2]
DASHES = ("-", "--", "-.", ":")  # lines that cross each other differ in these too
SOFT = "#b9c2cc"


_TITLE_LINES = 4
_MIDDLE = 0.225  # the luminance on which white and INK are equally easy to read


HEADROOM = 0.35  # inches, for a title
_UNITS = 100.0  # the size that outlines of letters are kept at
_OUTLINED = 300  # texts, from which on all are drawn at once
_CAPITAL = 0.365  # half the height of a capital letter, of the size of letters


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


def tidy(ax: Axes) -> None:
    """Leave two sides of the frame, and these quiet."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(SOFT)
    ax.tick_params(colors=INK, length=3)


def entitle(ax: Axes, *lines: str) -> None:
    """Write a title of at most four lines, as wide as its axes will be, in letters that suit its length."""
    figure = ax.get_figure(root=True)
    inches = ax.bbox.width / ax.figure.dpi
    if figure is not None and isinstance(ax, Picture):  # its layout comes when it is drawn
        labels = max((text_width(tick.get_text(), 10.0) for tick in ax.get_yticklabels()), default=0.0)
        inches = figure.get_figwidth() - 0.6 - labels / 72
    size = 12.0 if max((text_width(line, 12.0) for line in lines), default=0.0) <= 72 * inches else 9.5
    letters = max(16, int(72 * inches / (0.56 * size)))
    broken = [part for line in lines for part in textwrap.wrap(" ".join(line.split()), letters)]
    if len(broken) > _TITLE_LINES:
        broken = [*broken[: _TITLE_LINES - 1], "…"]
    ax.set_title("\n".join(map(plain, broken)), color=INK, fontsize=size)


def beside(ax: Axes, x: float, y: float, text: str, color: str = INK, *, below: bool = False) -> None:
    """Write to the right of a point."""
    at = (6.0, -10.0) if below else (4.0, 0.0)
    ax.annotate(
        plain(text), (x, y), xytext=at, textcoords="offset points", va="center", fontsize=9, color=color
    )


def count_along(ax: Axes) -> None:
    """Put ticks at whole numbers only."""
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))


def readable_on(color: Sequence[float] | np.ndarray) -> str:
    """White or INK, whichever is easier to read on a colour."""
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color[:3])
    return "white" if 0.2126 * r + 0.7152 * g + 0.0722 * b < _MIDDLE else INK


@lru_cache(maxsize=10_000)
def text_width(text: str, size: float) -> float:
    """Return how wide `text` is in points, in the default font."""
    # As a picture measures it, but without drawing letters; a user's name never means a formula.
    font = FontProperties(size=size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks are boxes, and measured as such
        width, _, _ = text_to_path.get_text_width_height_descent(one_line(text), font, ismath=False)
    return float(width)


@dataclass(frozen=True, slots=True)
class Text:
    """One line at a point of the axes, which is its middle or an end; half as high as capital letters."""

    x: float
    y: float
    text: str
    side: Literal["left", "center", "right"] = "center"
    size: float = 7.5  # points
    color: str = INK
    bold: bool = False


def write(ax: Axes, texts: Sequence[Text]) -> None:
    """Write where room was kept: the layout need not measure it again.

    Many are drawn as outlines, in a third of the time or less, but for those with letters that the default
    font lacks: matplotlib takes them from another one.
    """
    paths: list[Path] = []
    outlined: list[Text] = []
    for one in texts:
        path = outlines(one) if len(texts) > _OUTLINED else None
        if path is not None:
            paths.append(path)
            outlined.append(one)
            continue
        text = ax.text(one.x, one.y, plain(one.text), ha=one.side, va="center_baseline", color=one.color)
        text.set(fontsize=one.size, fontweight="bold" if one.bold else "normal", in_layout=False, zorder=4)
    if not paths:
        return
    written = PathCollection(
        paths,
        offsets=[(one.x, one.y) for one in outlined],
        offset_transform=ax.transData,
        facecolors=[one.color for one in outlined],
        edgecolors="none",
        zorder=4,
    )
    figure = ax.get_figure(root=True)
    assert figure is not None
    written.set_transform(Affine2D().scale(1 / 72) + figure.dpi_scale_trans)
    written.set_in_layout(False)
    ax.add_collection(written, autolim=False)


def outlines(text: Text) -> Path | None:
    """Return the letters of a text in the default font as one path, in points around where it stands.

    None: the font lacks a letter.
    """
    found = [_letter(letter, text.bold) for letter in one_line(text.text)]
    pieces = [letter for letter in found if letter is not None]
    if len(pieces) < len(found):
        return None
    begins = np.cumsum([0.0, *(advance for _, _, advance in pieces)])
    vertices = [np.add(outline, (begin, 0.0)) for (outline, _, _), begin in zip(pieces, begins, strict=False)]
    if not any(len(outline) for outline in vertices):
        return Path(np.empty((0, 2)))
    unit = text.size / _UNITS
    before = {"left": 0.0, "center": 0.5, "right": 1.0}[text.side] * float(begins[-1])
    placed = (np.concatenate(vertices) - (before, _CAPITAL * _UNITS)) * unit
    return Path(placed, np.concatenate([codes for _, codes, _ in pieces]))


@lru_cache(maxsize=2_000)
def _letter(letter: str, bold: bool) -> tuple[np.ndarray, np.ndarray, float] | None:
    """The outline of a letter at `_UNITS` points, and how far it is to the next one."""
    font = get_font(findfont(FontProperties(weight="bold" if bold else "normal")))
    if font.get_char_index(ord(letter)) == 0:
        return None
    font.set_size(_UNITS, 72)
    glyph = font.load_char(ord(letter), flags=LoadFlags.NO_HINTING)
    vertices, codes = font.get_path()
    return np.asarray(vertices), np.asarray(codes), glyph.linearHoriAdvance / 65536


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
