"""Where pictures are drawn: on axes passed by the user, or on a figure sized to its content.

The figure is pyplot's if the program has imported that (docs/decisions/0037); otherwise it needs no screen.
"""

from __future__ import annotations

import io
import math
import sys
import textwrap
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Any, Literal, TypeAlias

import numpy as np
from matplotlib import get_backend, is_interactive, rc_context, rcParams
from matplotlib._pylab_helpers import Gcf
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags
from matplotlib.patches import Patch
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
# The one palette of categories, safe for colour-blind readers: neighbours differ in lightness,
# so in grey too. The even ones are dark enough for white letters and for lines, the odd ones light enough
# for INK.
STATES = ("#274f8f", "#a6c6ee", "#b35c00", "#f7d083", "#2a7f72", "#b3e0d2", "#5b1e54", "#e2b3d8")
DARK_LINES, LIGHT_LINES = STATES[::2], STATES[1::2]
GROUPS = (*DARK_LINES, *LIGHT_LINES)  # classes, clusters, components: each hue once before any comes again
DASHES = ("-", "--", "-.", ":")  # lines that cross each other also differ in these
SOFT = "#b9c2cc"


_TITLE_LINES = 4
_MIDDLE = 0.225  # the luminance on which white and INK are equally easy to read


HEADROOM, _MORE_ROOM = 0.35, 0.2  # inches, for a title, and for each further line
_LONGEST_SIDE = 650.0  # inches: beyond 65,535 pixels of 100 to the inch nothing draws
_SHOWN_BY_NOBODY = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")  # backends that only write files
_UNITS = 100.0  # the size at which letter outlines are cached
_OUTLINED = 300  # texts; from this many on, all are drawn at once
_CAPITAL = 0.365  # half the height of a capital letter, relative to the font size


Size: TypeAlias = tuple[float, float]


class Picture(Axes):
    """Axes of a figure of ours: a notebook shows them as a picture."""

    headroom = math.inf  # inches above, for a title; a layout makes room by itself

    def set_title(self, label: str, *args: Any, **kwargs: Any) -> Any:
        """Write a title, and grow the figure if there is no room for it yet."""
        wanted = HEADROOM + _MORE_ROOM * str(label).count("\n") if label else 0.0
        if wanted > self.headroom:
            figure = self.get_figure(root=True)
            assert figure is not None
            width, height = figure.get_size_inches()
            whole = height + wanted - self.headroom
            left, low, right, top = self.get_position(original=True).extents
            figure.set_size_inches(width, whole)
            self.set_position((left, low * height / whole, right - left, (top - low) * height / whole))
            self.headroom = wanted
        return super().set_title(label, *args, **kwargs)

    def _repr_png_(self) -> bytes | None:
        """The picture, unless pyplot will show it anyway."""
        figure = self.get_figure(root=True)
        assert figure is not None
        shows = is_interactive() and get_backend().lower() not in _SHOWN_BY_NOBODY
        if shows and figure.canvas.manager in Gcf.get_all_fig_managers():
            return None
        out = io.BytesIO()
        figure.savefig(out, format="png")
        return out.getvalue()


class Paper:
    """What a picture is drawn on, as a user asked for it; a `with` block closes it if drawing fails.

    Args:
        ax: axes to draw on, or None: a new figure.
        figsize: width and height of that figure in inches, or None: of the size that the content needs.
        title: the title of the picture, or None: it says what is shown.
    """

    def __init__(self, ax: object, figsize: object, title: object) -> None:
        if ax is not None and not isinstance(ax, Axes):
            raise InvalidArgument(
                f"ax= takes matplotlib Axes, one of what plt.subplots() returns, not {shown(ax)}."
            )
        if ax is not None and figsize is not None:
            raise InvalidArgument("figsize= is the size of a new figure; that of ax= has one already.")
        self.ax = ax
        self.figsize = None if figsize is None else _size(figsize)
        self.title = title
        self._figure: Figure | None = None

    def __enter__(self) -> Paper:
        """No figure is made before its size is known."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave no empty figure behind."""
        if error is not None and self._figure is not None and self._figure.canvas.manager is not None:
            Gcf.destroy_fig(self._figure)

    @property
    def natural(self) -> bool:
        """Whether the content determines the size."""
        return self.ax is None and self.figsize is None

    def axes(self, width: float, height: float) -> Axes:
        """Return the user's axes, or axes on a new figure of this size in inches."""
        if self.ax is not None:
            return self.ax
        self._figure = new_figure(self.figsize or (width, height))
        self._figure.set_layout_engine("constrained")
        return self._figure.add_subplot(axes_class=Picture)

    def sheet(self, width: float, height: float, below: float = 0.0) -> Axes:
        """The same without margins except some below; a title gets the room that it needs."""
        if self.ax is not None:
            return self.ax
        above = 0.0 if self.figsize is None else min(HEADROOM, 0.2 * self.figsize[1])
        width, whole = self.figsize or (width, height + below)
        low = min(below / whole, 0.4)
        self._figure = new_figure((width, whole))
        self._figure.set_layout_engine("none")
        ax = self._figure.add_axes((0.0, low, 1.0, 1.0 - low - above / whole), axes_class=Picture)
        assert isinstance(ax, Picture)
        ax.headroom = above if self.figsize is None else math.inf
        return ax

    def titled(self, title: str) -> str:
        """Return the user's title if given, else this one."""
        return title if self.title is None else str(self.title)

    def entitle(self, ax: Axes, *lines: str) -> None:
        """Write a title of at most four lines, as wide as the axes will be, in a suitable font size."""
        if self.title is not None:
            lines = tuple(str(self.title).splitlines())
        elif not any(lines):
            return  # a title that the axes have already is the user's
        figure = ax.get_figure(root=True)
        inches = ax.bbox.width / ax.figure.dpi
        if figure is not None and isinstance(ax, Picture):  # it is laid out when drawn
            labels = max((text_width(tick.get_text(), 10.0) for tick in ax.get_yticklabels()), default=0.0)
            inches = figure.get_figwidth() - 0.6 - labels / 72
        size = 12.0 if max((text_width(line, 12.0) for line in lines), default=0.0) <= 72 * inches else 9.5
        letters = max(16, int(72 * inches / (0.56 * size)))
        broken = [part for line in lines for part in textwrap.wrap(" ".join(line.split()), letters)]
        if len(broken) > _TITLE_LINES:
            broken = [*broken[: _TITLE_LINES - 1], "…"]
        ax.set_title("\n".join(map(plain, broken)), fontsize=size)


def _size(figsize: object) -> Size:
    try:
        width, height = map(float, figsize)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        width = height = math.nan
    if not (0.0 < width <= _LONGEST_SIDE and 0.0 < height <= _LONGEST_SIDE):
        raise InvalidArgument(f"figsize= takes width and height in inches, as (6, 4), not {shown(figsize)}.")
    return width, height


def new_figure(size: Size) -> Figure:
    """Make a figure: one of pyplot's if the program uses that and it can show or save it."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None and threading.current_thread() is threading.main_thread():
        ours = [
            manager.canvas.figure
            for manager in Gcf.get_all_fig_managers()
            if any(isinstance(ax, Picture) for ax in manager.canvas.figure.axes)
        ]
        most = rcParams["figure.max_open_warning"]
        try:
            with rc_context({"figure.max_open_warning": 0}):
                figure: Figure = pyplot.figure(figsize=size)
        except Exception:  # the backend lacks a screen or its toolkit; each raises its own error
            pass
        else:
            # Keep at most half as many as pyplot allows without a warning: the oldest are closed first.
            others = len(Gcf.figs) - len(ours) - 1
            kept = max(1, min(most // 2, most - others))
            for old in ours[: max(0, len(ours) + 1 - kept)] if most else ():
                Gcf.destroy_fig(old)
            return figure
    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)
    return figure


def bare(ax: Axes) -> None:
    """Remove everything but the data from the axes: frame, ticks, grid."""
    ax.grid(visible=False)
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)


def tidy(ax: Axes) -> None:
    """Keep two sides of the frame, in a light style."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(SOFT)
    ax.tick_params(length=3)


def beside(ax: Axes, x: float, y: float, text: str, color: str = "", *, below: bool = False) -> None:
    """Write to the right of a point."""
    at = (6.0, -10.0) if below else (4.0, 0.0)
    ax.annotate(
        plain(text),
        (x, y),
        xytext=at,
        textcoords="offset points",
        va="center",
        fontsize=9,
        color=color or ink(ax),
    )


def key_beside(ax: Axes, handles: list[Patch] | None = None) -> None:
    """Say to the right of the axes what colours mean."""
    given: dict[str, Any] = {} if handles is None else {"handles": handles}
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}
    ax.legend(**given, **place, labelcolor=ink(ax), fontsize=9)


def count_along(ax: Axes) -> None:
    """Put ticks at integers only."""
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))


def backdrop(ax: Axes) -> tuple[float, float, float]:
    """Return the background colour: that of the axes, or of the figure if they are transparent."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    face, behind = to_rgba(ax.get_facecolor()), to_rgba(figure.get_facecolor())
    share = face[3] if ax.patch.get_visible() and ax.axison else 0.0
    r, g, b = (share * a + (1.0 - share) * c for a, c in zip(face[:3], behind[:3], strict=True))
    return r, g, b


def ink(ax: Axes) -> str:
    """Return the colour of text outside bars and boxes: styles may be dark."""
    return readable_on(backdrop(ax))


def lines(ax: Axes) -> tuple[str, ...]:
    """Return the line colours that stand out against the axes."""
    return DARK_LINES if ink(ax) == INK else LIGHT_LINES


def readable_on(color: Sequence[float] | np.ndarray) -> str:
    """White or INK, whichever is easier to read on a colour."""
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color[:3])
    return "white" if 0.2126 * r + 0.7152 * g + 0.0722 * b < _MIDDLE else INK


def text_width(text: str, size: float) -> float:
    """Return how wide `text` is in points, in the default font."""
    return _text_width(text, size, *_family())


def _family() -> tuple[str, ...]:
    """What the default font depends on, which a style may change."""
    return (
        *rcParams["font.family"],
        *rcParams["font.sans-serif"],
        *rcParams["font.serif"],
        *rcParams["font.monospace"],
    )


@lru_cache(maxsize=10_000)
def _text_width(text: str, size: float, *family: str) -> float:
    # As a picture measures it, but without drawing letters; a user's name is never a formula.
    font = FontProperties(size=size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks are boxes, and measured as such
        width, _, _ = text_to_path.get_text_width_height_descent(one_line(text), font, ismath=False)
    return float(width)


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text at a point of the axes, centred or anchored at an end, at half the capital height."""

    x: float
    y: float
    text: str
    side: Literal["left", "center", "right"] = "center"
    size: float = 7.5  # points
    color: str = INK
    bold: bool = False


def write(ax: Axes, texts: Sequence[Text]) -> None:
    """Write where room was reserved: the layout need not measure it again.

    Many are drawn as outlines, in a third of the time or less, except those with letters that the default
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
    """Return the letters of a text in the default font as one path, in points relative to its position.

    None: the font lacks a letter.
    """
    family = _family()
    found = [_letter(letter, text.bold, *family) for letter in one_line(text.text)]
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
def _letter(letter: str, bold: bool, *family: str) -> tuple[np.ndarray, np.ndarray, float] | None:
    """The outline of a letter at `_UNITS` points, and how far it is to the next one."""
    font = get_font(findfont(FontProperties(weight="bold" if bold else "normal")))
    if font.get_char_index(ord(letter)) == 0:
        return None
    font.set_size(_UNITS, 72)
    glyph = font.load_char(ord(letter), flags=LoadFlags.NO_HINTING)
    vertices, codes = font.get_path()
    return np.asarray(vertices), np.asarray(codes), glyph.linearHoriAdvance / 65536


def one_line(text: object) -> str:
    """Return the text without line breaks; characters that cannot be printed, or held by SVG, as escapes."""
    line = " ".join(str(text).split())
    if line.isprintable():
        return line
    return "".join([letter if letter.isprintable() else repr(letter)[1:-1] for letter in line])


def plain(text: object) -> str:
    """Return the text on one line and as it is: a dollar sign in a name does not start a formula."""
    return one_line(text).replace("$", r"\$")


def wrapped(name: str, longest: int = 26, lines: int = 3) -> tuple[str, ...]:
    """Return a name in lines that fit a box, broken at spaces and underscores where possible.

    >>> wrapped("PROBABILITY_OF_PRECIPITATION_TOMORROW")
    ('PROBABILITY_OF_', 'PRECIPITATION_TOMORROW')
    """
    left = shortened(name, longest * lines - 3 * lines)
    found: list[str] = []
    while len(left) > longest and len(found) < lines - 1:
        fair = -(-len(left) // -(-len(left) // longest))  # lines of similar length
        breaks = [i + 1 for i in range(longest) if left[i] in " _-./:,;"]
        at = min(breaks, key=lambda i: abs(i - fair), default=longest)
        at = at if at >= longest // 3 else longest
        found.append(left[:at].strip())
        left = left[at:].strip()
    return (*found, shortened(left, longest))


def shortened(text: object, longest: int = 24) -> str:
    """Return the text, or its two ends when it is longer than a label can be."""
    whole = one_line(text)
    if len(whole) <= longest:
        return whole
    tail = longest // 3
    return whole[: longest - tail - 1] + "…" + whole[-tail:]
