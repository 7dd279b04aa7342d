"""How large an effect may be: an estimate with its interval, and a range over a class of graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from pgm.printing import joined

from .canvas import BAR, EDGE, SEEN_EDGE, SOFT, Paper, Size, ink, plain, shortened, text_width, tidy

if TYPE_CHECKING:
    from pgm.models.causal.effect_range import EffectRange
    from pgm.models.causal.estimation import Estimate

_MOST = 40  # sets of parents


def estimate(
    found: Estimate,
    checks: Mapping[str, float],
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw an estimate with its interval, and the mean estimate of each check below."""
    names = [found.method, *checks]
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(3.6 + _room(names), 1.2 + 0.36 * max(len(names), 2))
        low, high = found.interval
        ax.axvspan(low, high, color=SOFT, alpha=0.4, linewidth=0)
        error = [[found.value - low], [high - found.value]]
        ax.errorbar(found.value, 0.0, xerr=error, fmt="o", color=EDGE, ecolor=EDGE, capsize=4, markersize=6)
        _said(ax, found.value, 0, beyond=high)
        for row, value in enumerate(checks.values(), start=1):
            ax.plot(value, row, "D", color=SEEN_EDGE, markersize=5)
            _said(ax, value, row)
        _finish(ax, names)
        ax.set_xlabel("effect, with its 95 % interval", fontsize=9)
        paper.entitle(ax, f"effect {found.question}")
        return ax


def effect_range(
    found: EffectRange, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw the effect for each set of parents that the graphs of a class give x, the smallest on top."""
    ordered = sorted(found.effects, key=lambda item: item[1])
    shown = ordered if len(ordered) <= _MOST else [*ordered[: _MOST // 2], *ordered[-_MOST // 2 :]]
    names = [joined(those, len(those), 40) or "no parents" for those, _ in shown]
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(3.6 + _room(names), 1.2 + 0.3 * max(len(names), 2))
        ax.axvspan(found.least, found.most, color=SOFT, alpha=0.4, linewidth=0)
        for row, (_, value) in enumerate(shown):
            ax.plot(value, row, "o", color=BAR, markeredgecolor=EDGE, markersize=7)
            _said(ax, value, row)
        _finish(ax, names)
        ax.set_ylabel(plain(shortened(f"parents of {found.x}")), fontsize=9)
        said = f"{found.question} by {found.least:+.4g} to {found.most:+.4g}"
        more = len(ordered) - len(shown)
        paper.entitle(ax, said, *[f"{more:,} in between are left out"] * bool(more))
        return ax


def between(
    ends: Mapping[str, tuple[float, float]],
    head: str,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw probabilities of which only the least and the most are known.

    >>> between({"yes": (0.2, 0.5)}, "P(y)").get_title()
    'P(y)'
    """
    names = list(ends)[:_MOST]
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(3.6 + _room(names), 1.2 + 0.36 * max(len(names), 2))
        for row, (low, high) in enumerate(list(ends.values())[:_MOST]):
            ax.plot(
                [low, high], [row, row], "|-", color=EDGE, linewidth=5 if low < high else 1, markersize=12
            )
            said = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
            where = (
                {"ha": "right", "xytext": (-8, 0)} if low + high > 1.0 else {"ha": "left", "xytext": (8, 0)}
            )
            ax.annotate(
                said,
                (low if low + high > 1.0 else high, row),
                textcoords="offset points",
                va="center",
                fontsize=8.5,
                color=ink(ax),
                **where,  # type: ignore[arg-type]
            )
        _finish(ax, names)
        ax.set_xlim(-0.02, 1.02)
        ax.set_xlabel("probability, least to most", fontsize=9)
        paper.entitle(ax, head)
        return ax


def ranges(
    found: Mapping[str, tuple[float, float, float]],
    head: str,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw for each number its value, and from where to where nothing changes.

    >>> ranges({"rain=True": (0.3, 0.2, 1.0)}, "stays").get_title()
    'stays'
    """
    names = list(found)[:_MOST]
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(3.6 + _room(names), 1.2 + 0.3 * max(len(names), 2))
        for row, (value, low, high) in enumerate(list(found.values())[:_MOST]):
            ax.plot([0.0, 1.0], [row, row], color=SOFT, linewidth=1.0, zorder=1)
            ax.plot([low, high], [row, row], color=BAR, linewidth=6, solid_capstyle="butt", zorder=2)
            ax.plot(value, row, "o", color=EDGE, markersize=6, zorder=3)
        _finish(ax, names)
        ax.set_xlim(-0.02, 1.02)
        ax.set_xlabel("the parameter, from 0 to 1", fontsize=9)
        paper.entitle(ax, head)
        return ax


def _said(ax: Axes, value: float, row: int, beyond: float | None = None) -> None:
    """Write a number beside its mark."""
    at = value if beyond is None else beyond, float(row)
    ax.annotate(
        f"{value:+.4g}", at, (8, 0), textcoords="offset points", va="center", fontsize=8.5, color=ink(ax)
    )


def _room(names: list[str]) -> float:
    return max(text_width(shortened(name, 40), 10) for name in names) / 72


def _finish(ax: Axes, names: list[str]) -> None:
    ax.axvline(0.0, color=ink(ax), linewidth=0.8, linestyle=":")
    ax.set_yticks(range(len(names)), [plain(shortened(name, 40)) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.margins(x=0.18)
    ax.locator_params(axis="x", nbins=5)
    tidy(ax)
