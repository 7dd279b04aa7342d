"""What an answer depends on as pictures: tornadoes, lines of actions, maps of two parameters."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from .canvas import BAR, DASHES, SEEN_BAR, SOFT, Paper, Size, ink, lines, plain, shortened, text_width, tidy
from .decisions import colors_of

if TYPE_CHECKING:
    from pgm.models.decision.sensitivity import Sensitivities, Sensitivity
    from pgm.models.decision.sensitivity_map import SensitivityMap

_BARS = 20
_CURVE = 200  # points of a line that is bent by what is given


def tornado(
    found: Sensitivities, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw for each parameter the expected utilities between its two values, the largest effect on top.

    A bar is blue where the parameter is higher than now, and orange where it is lower, as in other tornadoes.
    """
    with Paper(ax, figsize, title) as paper:
        shown = list(islice(found.items(), _BARS))
        names = [shortened(name, 48) for name, _ in shown]
        side = max([text_width(name, 9) for name in names], default=0.0) / 72
        ax = paper.axes(side + 4.6, 1.2 + 0.3 * len(shown))
        now = found.expected_utility
        for place, (_, one) in enumerate(shown):
            for end, color, text in ((one.at_low, SEEN_BAR, one.low), (one.at_high, BAR, one.high)):
                ax.barh(place, end - now, left=now, height=0.62, color=color)
                if end != now:
                    outer = "right" if end < now else "left"
                    other = one.at_high if end == one.at_low else one.at_low
                    if (other - now) * (end - now) <= 0 or abs(end - now) >= abs(other - now):
                        ax.annotate(
                            f"{text:.4g}", (end, place), ha=outer, va="center", fontsize=8, color=ink(ax),
                            xytext=(-3 if end < now else 3, 0), textcoords="offset points",
                        )  # fmt: skip
        ax.axvline(now, color=ink(ax), linewidth=0.8)
        ax.set_yticks(range(len(shown)), [plain(name) for name in names], fontsize=9)
        ax.set_ylim(len(shown) - 0.4, -0.6)
        ax.margins(x=0.12)
        ax.set_xlabel("expected utility")
        keys = [Patch(color=SEEN_BAR, label="parameter lower"), Patch(color=BAR, label="parameter higher")]
        ax.legend(handles=keys, frameon=False, fontsize=8, loc="lower right")
        tidy(ax)
        more = len(found) - len(shown)
        lines_ = [
            "what the expected utility depends on",
            *([f"the first {_BARS} of {len(found):,}"] * bool(more)),
        ]
        paper.entitle(ax, *lines_)
        return ax


def sensitivity(
    found: Sensitivity, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw the expected utility of each action by a parameter; shaded: where the present policy stays."""
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(6.2, 3.6)
        x = np.linspace(found.low, found.high, _CURVE)
        x = np.unique([*x, *[s.low for s in found.segments], *[s.high for s in found.segments]])
        best = [found.expected_utility(at) for at in x]
        ax.plot(x, best, color=SOFT, linewidth=5.0, solid_capstyle="butt", label="the best policy")
        for place, action in enumerate(found.actions(found.low)):
            worth = [found.actions(at)[action] for at in x]
            color, dashes = lines(ax)[place % len(lines(ax))], DASHES[place % len(DASHES)]
            text = plain(shortened(f"{found.decision}: {action}"))
            ax.plot(x, worth, dashes, color=color, label=text)
        low, high = max(found.stays[0], found.low), min(found.stays[1], found.high)
        ax.axvspan(low, high, color=SOFT, alpha=0.25, linewidth=0)
        ax.axvline(found.parameter.value, color=ink(ax), linewidth=0.8, linestyle=":")
        ax.set_xlim(found.low, found.high)
        ax.set_xlabel(plain(str(found.parameter)))
        ax.set_ylabel("expected utility")
        ax.legend(frameon=False, fontsize=8)
        tidy(ax)
        paper.entitle(ax, "the policy stays where it is shaded")
        return ax


def sensitivity_map(
    found: SensitivityMap, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw which policy is the best by two parameters; the cross is where they are now."""
    with Paper(ax, figsize, title) as paper:
        widest = max(text_width(name, 9) for name in found.policies) / 72
        ax = paper.axes(5.2 + min(widest, 4.0), 4.0)
        colors = colors_of(len(found.policies))
        image = np.array(colors)[found.best.T]
        steps = [(v[1] - v[0]) / 2 for v in (found.x, found.y)]
        box = (
            found.x[0] - steps[0],
            found.x[-1] + steps[0],
            found.y[0] - steps[1],
            found.y[-1] + steps[1],
        )
        ax.imshow(image, origin="lower", extent=box, aspect="auto", interpolation="nearest")
        ax.plot(found.first.value, found.second.value, "+", color="white", markersize=14, markeredgewidth=4)
        ax.plot(found.first.value, found.second.value, "+", color="black", markersize=12, markeredgewidth=1.6)
        ax.set_xlabel(plain(str(found.first)))
        ax.set_ylabel(plain(str(found.second)))
        keys = [
            Patch(color=color, label=plain(shortened(name, 44)))
            for color, name in zip(colors, found.policies[:12], strict=False)
        ]
        ax.legend(handles=keys, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9)
        paper.entitle(ax, "the best policy")
        return ax
