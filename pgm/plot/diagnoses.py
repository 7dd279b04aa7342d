"""A diagnosis as a tree of questions, drawn from left to right."""

from __future__ import annotations

from matplotlib.axes import Axes

from pgm.errors import InvalidArgument
from pgm.inference.insight.questioning import Diagnosis, DiagnosisStep
from pgm.printing import label

from .canvas import EDGE, FILL, LINE, SEEN_EDGE, SEEN_FILL, Paper, Size, bare, ink, plain, shortened

_MOST_LEAVES = 120
_WIDE, _HIGH = 2.1, 0.42  # inches for a question in a row, and for a conclusion


def diagnosis(
    tree: Diagnosis, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw the questions and conclusions; the width of a line is the probability of the answer."""
    leaves = list(tree.root.leaves())
    if len(leaves) > _MOST_LEAVES:
        raise InvalidArgument(
            f"The tree has {len(leaves):,} conclusions, and a picture shows at most {_MOST_LEAVES}: "
            "lower depth=."
        )
    places: dict[int, tuple[float, int]] = {}
    order: list[tuple[DiagnosisStep, int, DiagnosisStep | None, object]] = []
    rows = 0.0

    def place(root: DiagnosisStep) -> int:
        """Give conclusions rows of their own, and questions the middle of theirs; without recursion."""
        nonlocal rows
        deepest = 0
        waiting: list[tuple[DiagnosisStep, int, DiagnosisStep | None, object, bool]] = [
            (root, 0, None, None, False)
        ]
        while waiting:
            step, depth, above, answer, done = waiting.pop()
            deepest = max(deepest, depth)
            if done:
                below = [places[id(s)][0] for s in step.answers.values()]
                places[id(step)] = (sum(below) / len(below), depth)
            elif step.question is None:
                places[id(step)] = (rows, depth)
                rows += 1.0
            else:
                waiting.append((step, depth, above, answer, True))
                for state, after in reversed(list(step.answers.items())):
                    waiting.append((after, depth + 1, step, state, False))
            if not done:
                order.append((step, depth, above, answer))
        return deepest

    deepest = place(tree.root)
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(_WIDE * (deepest + 1) + 0.6, _HIGH * max(rows, 2.0) + 0.8)
        for step, depth, above, answer in order:
            y, _ = places[id(step)]
            if above is not None:
                y0, d0 = places[id(above)]
                width = 0.6 + 4.0 * step.probability
                ax.plot([d0 + 0.05, depth], [y0, y], "-", color=LINE, linewidth=width, zorder=1)
                middle, height = d0 + 0.56 * (depth - d0), y0 + 0.56 * (y - y0)
                said = plain(shortened(label(answer), 14))
                ax.annotate(
                    said, (middle, height), fontsize=7.5, ha="center", va="bottom", color=ink(ax), zorder=3
                )
            asks = step.question is not None
            best = step.conclusion
            name = f"{step.question}?" if asks else label(best)
            share = f"{step.shares[best]:.3g}{f' {shortened(label(best), 10)}' if asks else ''}"
            text = f"{plain(shortened(name, 18))}\n{plain(share)}"
            face, edge = (FILL, EDGE) if asks else (SEEN_FILL, SEEN_EDGE)
            box = {"boxstyle": "round,pad=0.3", "facecolor": face, "edgecolor": edge, "linewidth": 1.0}
            ax.text(depth, y, text, ha="center", va="center", fontsize=7.5, bbox=box, zorder=2)
        ax.set_xlim(-0.5, deepest + 0.5)
        ax.set_ylim(max(rows, 2.0) - 0.4, -0.6)
        bare(ax)
        paper.entitle(ax, f"{tree.target}: right {tree.right:.3g}, {tree.questions:.3g} questions on average")
        return ax
