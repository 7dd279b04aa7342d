"""Strategies as decision trees, drawn from left to right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from pgm.errors import InvalidArgument
from pgm.printing import label

from .canvas import EDGE, FILL, LINE, Paper, Size, bare, ink, plain, shortened, text_width

if TYPE_CHECKING:
    from pgm.models.decision.strategy import Branch, Strategy

_MOST_LEAVES = 120
_ROW, _LETTER, _GAP = 26.0, 9.0, 26.0  # points
_FACE = "#f3e3c8"


def strategy(
    found: Strategy, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw a tree: squares are decisions with what is done, round boxes what is seen."""
    leaves = sum(map(_leaves, found.branches))
    if leaves > _MOST_LEAVES:
        raise InvalidArgument(
            f"A tree of {leaves:,} branches would be unreadable: give what is known already to `solve`."
        )
    with Paper(ax, figsize, title) as paper:
        columns: list[float] = []
        _measure(found.branches, 0, columns)
        starts = [10.0]
        for width in columns:
            starts.append(starts[-1] + width)
        worth = max([text_width(_worth(one), _LETTER) for one in _ends(found.branches)], default=0.0)
        width, height = starts[-1] + worth + 20.0, _ROW * max(leaves, 1) + 24.0
        ax = paper.axes(max(width, 180.0) / 72, height / 72)
        ax.set_xlim(0, max(width, 180.0))
        ax.set_ylim(0, height)
        bare(ax)
        for side in ax.spines.values():
            side.set_visible(False)
        _draw(ax, found.branches, 0, starts, height - 12.0)
        paper.entitle(ax, "what to do")
        return ax


def _leaves(one: Branch) -> int:
    return sum(map(_leaves, one.children)) or 1


def _ends(branches: tuple[Branch, ...]) -> list[Branch]:
    return [end for one in branches for end in (_ends(one.children) if one.children else [one])]


def _worth(one: Branch) -> str:
    return f"{one.expected_utility:.5g}"


def _head(branches: tuple[Branch, ...]) -> str:
    """The text at a fork: a decision with its action, or an observation."""
    one = branches[0]
    return shortened(one.label if one.kind == "decision" else one.name, 32)


def _way(one: Branch, whole: float) -> str:
    """The text on a line: the states and their probability."""
    if one.kind == "decision":
        return ""
    return f"{shortened(' or '.join(map(label, one.states)), 30)}  {one.probability / whole:.3g}"


def _measure(branches: tuple[Branch, ...], depth: int, columns: list[float]) -> None:
    """Find how wide each level of the tree is."""
    if not branches:
        return
    whole = sum(one.probability for one in branches)
    ways = max(text_width(_way(one, whole), _LETTER - 1) for one in branches)
    own = text_width(_head(branches), _LETTER) + 16.0 + ways + _GAP
    if depth == len(columns):
        columns.append(own)
    columns[depth] = max(columns[depth], own)
    for one in branches:
        _measure(one.children, depth + 1, columns)


def _draw(ax: Axes, branches: tuple[Branch, ...], depth: int, starts: list[float], top: float) -> float:
    """Draw a fork and all that follows; return the height of its middle."""
    whole = sum(one.probability for one in branches)
    middles, down = [], top
    for one in branches:
        rows = _leaves(one)
        if one.children:
            middles.append(_draw(ax, one.children, depth + 1, starts, down))
        else:
            middles.append(down - _ROW / 2)
            end = starts[-1]
            ax.text(end + 4.0, middles[-1], _worth(one), fontsize=_LETTER, va="center", color=ink(ax))
        down -= _ROW * rows
    middle = (middles[0] + middles[-1]) / 2
    text = _head(branches)
    left, wide = starts[depth], text_width(text, _LETTER) + 16.0
    for one, at in zip(branches, middles, strict=True):
        end = starts[depth + 1] if one.children else starts[-1]
        way = _way(one, whole)
        corner = left + wide + (12.0 if len(branches) > 1 else 0.0)
        ax.plot([left + wide, corner, end], [middle, at, at], color=LINE, linewidth=1.0, zorder=1)
        if way:
            ax.text(
                corner + 4.0, at + 2.0, plain(way), fontsize=_LETTER - 1, va="bottom", color=ink(ax), zorder=3
            )
    decision = branches[0].kind == "decision"
    corners = 0.01 if decision else 9.0
    ax.add_patch(
        FancyBboxPatch(
            (left, middle - 9.0), wide, 18.0, boxstyle=f"round,pad=0,rounding_size={corners}",
            facecolor=_FACE if decision else FILL, edgecolor=EDGE, linewidth=1.0, zorder=2,
        )
    )  # fmt: skip
    ax.text(left + wide / 2, middle, plain(text), fontsize=_LETTER, ha="center", va="center", zorder=3)
    return middle
