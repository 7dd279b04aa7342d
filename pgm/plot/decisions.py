"""Influence diagrams, with posteriors and the values of actions, and rules as coloured tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch

from pgm.errors import InvalidArgument
from pgm.evidence import observe
from pgm.graphs.layout import Link

from .canvas import (
    DASHES,
    STATES,
    Paper,
    Size,
    bare,
    lines,
    plain,
    readable_on,
    shortened,
    text_width,
    tidy,
    wrapped,
)
from .drawing import ARROW, DASHED, Box, Sketch, Stroke, draw, refuse_many
from .networks import posterior_rows

if TYPE_CHECKING:
    from pgm.models.decision import InfluenceDiagram
    from pgm.models.decision.risk import RiskProfile
    from pgm.models.decision.rule import Rule

_INFORMATION = Stroke(style=DASHED.style, head="lower")
_MOST_ROWS, _MOST_CELLS = 60, 6_000
_FACES = {"decision": "#f3e3c8", "utility": "#dcebd9"}


def influence_diagram(
    diagram: InfluenceDiagram,
    ax: Axes | None = None,
    given: Mapping[str, Any] | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a diagram: chance nodes rounded, decisions square, utilities as rhombs; information is dashed.

    Args:
        diagram: what to draw.
        ax: axes to draw on; a new figure if left out.
        given: the past, possibly empty: chance nodes show their posterior under the best policy, and
            decisions what each action is worth, or how often it is taken where that depends on what is seen.
        figsize: width and height of a new figure in inches.
        title: the title; the name of the diagram if left out.
    """
    refuse_many(len(diagram), len(diagram.edges))
    head = diagram.name
    shown = {} if given is None else _believed(diagram, given)
    if given is not None:
        head = f"{head}: {shown['']}" if head else str(shown[""])
    boxes: dict[Hashable, Box] = {}
    for name in diagram.nodes:
        kind = diagram.kind(name)
        shape: Any = "variable" if kind == "chance" else kind
        rows, figures, note, seen = shown.get(name, ((), (), "", False))
        face = "" if seen else _FACES.get(kind, "")
        boxes[name] = Box(wrapped(name, 18), rows, figures, note=note, seen=seen, face=face, shape=shape)
    links = list(diagram.edges)
    strokes: dict[Link, Stroke] = {edge: _INFORMATION for edge in links if edge[1] in diagram.decisions}
    with Paper(ax, figsize, title) as paper:
        return draw(Sketch(boxes, links, ARROW, strokes), paper, head)


def _believed(diagram: InfluenceDiagram, given: Mapping[str, Any]) -> dict[str, Any]:
    """What each box shows: rows, figures, note, whether it is given; "" is the expected utility."""
    policy = diagram.solve(given)
    observed = observe(diagram.variables, given)
    chances = {name: value for name, value in given.items() if name not in diagram.decisions}
    answers = policy.network().marginals(chances)
    found: dict[str, Any] = {"": f"expected utility {policy.expected_utility:.6g}"}
    for name, variable in diagram.variables.items():
        figures: tuple[str, ...] = ()
        if name in observed.hard:
            values = np.zeros(variable.card)
            values[observed.hard[name]] = 1.0
        else:
            values = np.asarray(answers[name].values)
        rows = posterior_rows(variable.states, values)
        if name in policy and policy[name].worth.ndim == 1 and variable.card == len(rows):
            rows, figures = _worth_rows(policy[name])
        found[name] = rows, figures, "", name in observed.given
    for name, value in policy.contributions().items():
        found[name] = (), (), f"{value:.6g}", False
    return found


def _worth_rows(rule: Rule) -> tuple[tuple[tuple[str, float], ...], tuple[str, ...]]:
    """Bars from the worst action to the best, with their expected utilities."""
    worth = rule.worth
    known = worth[np.isfinite(worth)]
    low, high = float(known.min()), float(known.max())
    span = high - low or 1.0
    shares = [0.15 + 0.85 * (w - low) / span if np.isfinite(w) else 0.0 for w in worth.tolist()]
    rows = tuple(
        [(shortened(state, 16), share) for state, share in zip(rule.decision.states, shares, strict=True)]
    )
    return rows, tuple([f"{w:.5g}" if np.isfinite(w) else "-" for w in worth.tolist()])


def rule(
    found: Rule,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw what to do as a table: rows and columns are what is known, colours the actions."""
    if found.actions.size > _MOST_CELLS:
        raise InvalidArgument(
            f"A picture of {found.actions.size:,} cases would be unreadable: give what is known already to "
            "`solve`, or read the table with to_pandas()."
        )
    with Paper(ax, figsize, title) as paper:
        return _rule(found, paper)


def risk(
    profiles: Mapping[str, RiskProfile],
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw for each profile the probability that no more than so much comes out."""
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(6.0, 3.4)
        low = min(float(p.values[0]) for p in profiles.values())
        high = max(float(p.values[-1]) for p in profiles.values())
        margin = 0.05 * (high - low) or 1.0
        for place, (name, profile) in enumerate(profiles.items()):
            at = np.concatenate([[low - margin], profile.values, [high + margin]])
            height = np.concatenate([[0.0], np.cumsum(profile.probabilities), [1.0]])
            color, dashes = lines(ax)[place % len(lines(ax))], DASHES[place % len(DASHES)]
            ax.plot(at, height, dashes, color=color, drawstyle="steps-post", label=plain(shortened(name)))
            ax.plot([profile.mean], [0.0], "^", color=color, clip_on=False)
        ax.set_xlim(low - margin, high + margin)
        ax.set_ylim(0.0, 1.02)
        ax.set_xlabel("total utility (triangles: the mean)")
        ax.set_ylabel("P(no more than that)")
        if len(profiles) > 1:
            ax.legend(frameon=False)
        tidy(ax)
        paper.entitle(ax, "what may come out")
        return ax


def _rule(found: Rule, paper: Paper) -> Axes:
    given = found.given
    split = _split([v.card for v in given])
    down = [_case(given[:split], states) for states in product(*[v.states for v in given[:split]])]
    across = [_case(given[split:], states) for states in product(*[v.states for v in given[split:]])]
    cells = found.actions.reshape(len(down), len(across))
    side = max([text_width(text, 9) for text in down], default=0.0) / 72
    widths = [max(text_width(text, 9) / 72 + 0.2, 0.7) for text in across]
    ax = paper.axes(1.6 + side + max(widths) * len(across), 1.1 + 0.32 * len(down))
    colors = colors_of(found.decision.card)
    image = np.ones((*cells.shape, 3))
    for code in range(found.decision.card):
        image[cells == code] = colors[code]
    ax.imshow(image, aspect="auto", interpolation="nearest")
    bare(ax)
    ax.set_yticks(range(len(down)), [plain(text) for text in down], fontsize=9)
    ax.set_xticks(range(len(across)), [plain(text) for text in across], fontsize=9)
    ax.tick_params(length=0)
    if cells.size <= 200:
        for (row, column), code in np.ndenumerate(cells):
            text = "-" if code < 0 else shortened(found.decision.states[code], 14)
            ink = readable_on(image[row, column])
            ax.text(column, row, plain(text), ha="center", va="center", fontsize=9, color=ink)
    else:
        used = sorted({int(code) for code in cells.flat if code >= 0})
        keys = [Patch(color=colors[c], label=plain(shortened(found.decision.states[c]))) for c in used]
        ax.legend(handles=keys, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    paper.entitle(ax, f"what to do at {found.decision.name}")
    return ax


def colors_of(n: int) -> list[tuple[float, float, float]]:
    """Return a colour for each of this many categories."""
    if n <= len(STATES):
        return [to_rgb(color) for color in STATES[:n]]
    return [(float(r), float(g), float(b)) for r, g, b, _ in colormaps["viridis"](np.linspace(0.0, 1.0, n))]


def _case(variables: Any, states: Any) -> str:
    return ", ".join(
        f"{shortened(v.name, 14)}={shortened(state, 14)}" for v, state in zip(variables, states, strict=True)
    )


def _split(cards: list[int]) -> int:
    """How many of the variables stand along the rows: as many as fit, at least one."""
    rows = 1
    for place, card in enumerate(cards):
        if place and rows * card > _MOST_ROWS:
            return place
        rows *= card
    return max(len(cards) - 1, min(len(cards), 1)) if rows > 12 else len(cards)
