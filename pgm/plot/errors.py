"""How well is decided, as pictures: errors beneath densities, rates, ROC curves, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from pgm.printing import label

from .canvas import DASHES, LINE, Paper, Size, lines, plain, readable_on, shortened, tidy
from .regions import paint

if TYPE_CHECKING:
    from pgm.adapters import LogisticTrace
    from pgm.evaluation import ROC, Calibrations, DecisionRates, ErrorEstimates

_STRIP = 0.06  # of the height, for what is named


def decision_rates(
    found: DecisionRates, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw densities with what is named and the errors; or P(named | true) as a table of colours.

    >>> import pgm
    >>> alarm = {"N": pgm.Gaussian(0.0, sd=1.0), "A": pgm.Gaussian(2.0, sd=1.0)}
    >>> decision_rates(pgm.evaluation.decision_rates(alarm, prior=[0.5, 0.5])).get_ylabel()
    'P(class) × density'
    """
    with Paper(ax, figsize, title) as paper:
        ax = _confusion(found, paper) if found.curves is None else _areas(found, paper)
        rejected = f", rejected {found.rejected:.4g}" if found.rejected > 0.0 else ""
        paper.entitle(ax, f"error {found.error:.4g}{rejected}; Bayes error {found.bayes_error:.4g}")
        return ax


def _areas(found: DecisionRates, paper: Paper) -> Axes:
    ax = paper.axes(5.4, 3.4)
    curves = found.curves
    assert curves is not None
    colours = lines(ax)
    x, top = curves.x, float(curves.joint.max())
    named = np.full(len(x), -1)
    place = {one: c for c, one in enumerate(found.classes)}
    for one in found.where:
        named[(x >= one.low) & (x < one.high)] = -1 if one.named is None else place[one.named]
    for c, name in enumerate(found.classes):
        color = colours[c % len(colours)]
        ax.plot(x, curves.joint[c], color=color, linestyle=DASHES[c % len(DASHES)], label=plain(label(name)))
        wrong = (named >= 0) & (named != c)
        ax.fill_between(
            x, curves.joint[c], where=wrong.tolist(), facecolor=color, alpha=0.35, hatch="//", linewidth=0
        )
    for one in found.where[1:]:
        ax.axvline(one.low, color=LINE, linewidth=0.9, linestyle=":")
    low, high = -top * (0.02 + _STRIP), -top * 0.02
    paint(ax, named[None, :], None, (float(x[0]), float(x[-1]), low, high), colours)
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(1.2 * low, 1.06 * top)
    ax.set_xlabel(plain(shortened(curves.name)))
    ax.set_ylabel("P(class) × density")
    ax.legend(title="class; hatched: errors", frameon=False, fontsize=8)
    tidy(ax)
    return ax


def _confusion(found: DecisionRates, paper: Paper) -> Axes:
    k, actions = len(found.classes), len(found.actions)
    ax = paper.axes(2.0 + 0.7 * actions, 1.4 + 0.5 * k)
    rates = found.joint / np.where(found.prior > 0.0, found.prior, 1.0)[:, None]
    image = ax.imshow(rates, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    for (i, j), rate in np.ndenumerate(rates):
        color = readable_on(image.cmap(float(rate)))
        ax.text(j, i, f"{rate:.3g}", ha="center", va="center", fontsize=9, color=color)
    said = ["none" if one is None else one for one in found.actions]
    ax.set_xticks(range(actions), [plain(shortened(one, 12)) for one in said])
    ax.set_yticks(range(k), [plain(shortened(one, 12)) for one in found.classes])
    ax.set_xlabel("named")
    ax.set_ylabel("true")
    ax.grid(visible=False)
    return ax


def roc_curves(
    curves: Sequence[ROC], ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw ROC curves in one picture, and the diagonal of a score that says nothing.

    >>> from pgm.evaluation.roc import roc
    >>> roc_curves([roc([0, 1], [1.0, 2.0])]).get_xlabel()
    'false positives'
    """
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(4.4, 4.2)
        colours = lines(ax)
        if not any(line.get_gid() == "chance" for line in ax.lines):
            ax.plot([0, 1], [0, 1], color=LINE, linewidth=0.9, linestyle=":", gid="chance")
        begun = sum(line.get_gid() == "roc" for line in ax.lines)
        for i, one in enumerate(curves, begun):
            said = f"{shortened(one.name)}, " if one.name else ""
            ax.plot(
                one.false_positive,
                one.true_positive,
                color=colours[i % len(colours)],
                linestyle=DASHES[(i // len(colours) + i) % len(DASHES)],
                label=plain(f"{said}area {one.auc:.4g}"),
                gid="roc",
            )
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        ax.set_aspect("equal")
        ax.set_xlabel("false positives")
        ax.set_ylabel("true positives")
        ax.legend(loc="lower right", edgecolor="none", framealpha=0.8)
        paper.entitle(ax, "ROC")
        tidy(ax)
        return ax


def calibration(
    found: Calibrations, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw how often the class occurs against its predicted probability, with intervals.

    >>> from pgm.evaluation.calibration import calibration as calibrated
    >>> calibration(calibrated([0, 1, 1], [0.2, 0.7, 0.9])).get_xlabel()
    'probability said'
    """
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(4.4, 4.2)
        colours = lines(ax)
        ax.plot([0, 1], [0, 1], color=LINE, linewidth=0.9, linestyle=":")
        for i, (name, one) in enumerate(found.items()):
            color: Any = colours[i % len(colours)]
            off = np.vstack([one.share - one.low, one.high - one.share])
            ax.errorbar(
                one.said,
                one.share,
                yerr=np.maximum(off, 0.0),
                color=color,
                linestyle=DASHES[i % len(DASHES)],
                marker="o",
                markersize=4,
                capsize=2,
                linewidth=1.2,
                label=plain(f"{f'{shortened(name)}, ' if name else ''}Brier {one.brier:.4g}"),
            )
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        ax.set_aspect("equal")
        ax.set_xlabel("probability said")
        ax.set_ylabel("share that comes true")
        ax.legend(loc="upper left", edgecolor="none", framealpha=0.8)
        paper.entitle(ax, "calibration")
        tidy(ax)
        return ax


def error_estimates(
    found: ErrorEstimates, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw estimates of an error with their intervals, and the folds of the cross-validation.

    >>> import pgm
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [9.0], [8.0], [7.0]], [0, 0, 0, 1, 1, 1]
    >>> found = pgm.evaluation.error_estimates(KNeighborsClassifier(1), X, y, folds=3)
    >>> error_estimates(found).get_xlabel()
    'error rate'
    """
    with Paper(ax, figsize, title) as paper:
        each = found._each
        ax = paper.axes(5.0, 1.0 + 0.45 * len(each))
        color = lines(ax)[0]
        for i, one in enumerate(each):
            if np.isfinite(one.low):
                ax.plot([one.low, one.high], [i, i], color=color, linewidth=1.4)
            ax.plot([one.rate], [i], "o", color=color, markersize=6)
        ax.plot(found.folds, np.full(len(found.folds), 1.0), "|", color=LINE, markersize=10)
        ax.set_yticks(range(len(each)), [one.method for one in each])
        ax.set_ylim(len(each) - 0.5, -0.5)
        ax.set_xlim(left=0.0)
        ax.set_xlabel("error rate")
        paper.entitle(ax, "estimates of the error, with 95 % intervals")
        tidy(ax)
        return ax


def error_by_step(
    trace: LogisticTrace, ax: Axes | None = None, *, figsize: Size | None = None, title: str | None = None
) -> Axes:
    """Draw the error by step, and on an axis of their own the rows misclassified.

    >>> import pgm
    >>> told = pgm.adapters.LogisticDiscriminant().fit([[-1.0], [1.0]], ["no", "yes"])
    >>> error_by_step(told.trace_).get_xlabel()
    'step'
    """
    with Paper(ax, figsize, title) as paper:
        ax = paper.axes(5.0, 3.2)
        first, second = lines(ax)[:2]
        ax.plot(trace.steps, trace.errors, color=first, label="error")
        ax.set_xlabel("step")
        ax.set_ylabel("error", color=first)
        if len(trace) > 1 and trace.steps[-1] > 30:
            ax.set_xscale("symlog", linthresh=1.0)
        ax.set_xlim(left=0.0)
        right = ax.twinx()
        right.step(trace.steps, trace.misclassified, where="post", color=second, linestyle="--")
        right.set_ylabel("rows misclassified", color=second)
        right.set_ylim(bottom=0.0)
        right.spines["top"].set_visible(False)
        paper.entitle(ax, f"error {trace.errors[-1]:.4g} after {trace.steps[-1]:,} steps")
        tidy(ax)
        return ax
