"""Mixtures as pictures: densities of one column, ellipses of two, or what each column is like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse

from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.models.mixtures.nodes import parts_of
from pgm.printing import label

from .canvas import DASHES, GROUPS, INK, SOFT, Paper, Size, plain, shortened, tidy

if TYPE_CHECKING:
    from pgm.models.mixtures import Mixture

_POINTS = 400  # of a curve
_RADII = (1.1774100225154747, 2.447746830680816)  # in standard deviations, round half and 95 % of the rows
_ROWS = 5000  # that are drawn
_CELLS = 40  # of a table of columns, each way


def mixture(
    model: Mixture,
    data: Any = None,
    columns: Any = None,
    ax: Axes | None = None,
    *,
    figsize: Size | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the components, and rows of data coloured by the one that they most probably come from.

    >>> import pgm
    >>> two = pgm.Mixture([0.5, 0.5], pgm.Gaussian([0.0, 4.0], sd=1.0))
    >>> mixture(two).get_xlabel()
    'x'
    """
    numbers, means, covariances = _normals(model)
    chosen = _chosen(model, columns, numbers)
    with Paper(ax, figsize, title) as paper:
        if not chosen:
            ax = _table(model, paper)
        else:
            at = [numbers.index(name) for name in chosen]
            some = means[:, at], covariances[:, at][:, :, at]
            found = None if data is None else _points(model, data, chosen)
            ax = _curves(model, *some, found, paper) if len(at) == 1 else _plane(model, *some, found, paper)
            ax.set_xlabel(plain(shortened(chosen[0])))
            if len(chosen) > 1:
                ax.set_ylabel(plain(shortened(chosen[1])))
        many = f"{model.n_components} component{'s' * (model.n_components > 1)}"
        paper.entitle(ax, f"{model.name}: {many}" if model.name else many)
        tidy(ax)
        return ax


def _normals(model: Mixture) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The columns of normal numbers, with mean and covariance of each component."""
    names, means, covariances = [], [], []
    for part, columns in parts_of(model.emission, list(model.columns)):
        if part.domain is None and (found := part.normals()) is not None:
            names += columns
            means.append(found[0])
            covariances.append(found[1])
    k, dim = model.n_components, len(names)
    whole, at = np.zeros((k, dim, dim)), 0
    for block in covariances:
        d = block.shape[1]
        whole[:, at : at + d, at : at + d] = block
        at += d
    return names, np.hstack(means) if means else np.zeros((k, 0)), whole


def _chosen(model: Mixture, columns: Any, numbers: list[str]) -> list[str]:
    """The columns to draw; none: all of them, as a table."""
    if columns is None:
        return numbers[:2] if len(numbers) == len(model.columns) else []
    found = [columns] if isinstance(columns, str) else list(columns)
    for name in found:
        if name not in numbers:
            there = f"they are {listed(numbers)}" if numbers else "there is none"
            raise InvalidArgument(
                f"columns= names one or two continuous columns, {there}; not {shown(name)}."
                f"{nearest(name, numbers)}"
            )
    if not 1 <= len(found) <= 2:
        raise InvalidArgument(f"columns= names one column or two, not {shown(columns)}.")
    return found


def _points(model: Mixture, data: Any, chosen: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the chosen columns, and the code of the component of each."""
    codes = model.predict_proba(data).argmax(axis=1)
    rows = model.emission.read(model._selected(model._rows(data))).rows
    rows = rows[:, [model.columns.index(name) for name in chosen]]
    there = ~np.isnan(rows).any(axis=1)
    rows, codes = rows[there], codes[there]
    if len(rows) > _ROWS:  # an evenly spaced part
        keep = np.linspace(0, len(rows) - 1, _ROWS).astype(np.int64)
        rows, codes = rows[keep], codes[keep]
    return rows, codes


def _curves(model: Mixture, means: np.ndarray, covariances: np.ndarray, data: Any, paper: Paper) -> Axes:
    ax = paper.axes(5.4, 3.2)
    means, sds = means[:, 0], np.sqrt(covariances[:, 0, 0])
    lo, hi = float((means - 3.3 * sds).min()), float((means + 3.3 * sds).max())
    if data is not None and len(data[0]):
        lo, hi = min(lo, float(data[0].min())), max(hi, float(data[0].max()))
        ax.hist(data[0][:, 0], bins="auto", density=True, color=SOFT, alpha=0.6, zorder=0)
    x = np.linspace(lo, hi, _POINTS)
    each = model.weights[:, None] * _density(x, means[:, None], sds[:, None])
    for k, y in enumerate(each):
        dashes = DASHES[1 + k % 3]
        ax.plot(x, y, color=_color(k), linestyle=dashes, linewidth=1.4, label=label(model.states[k]))
    whole = ax.xaxis.label.get_color()
    ax.plot(x, each.sum(axis=0), color=whole, linewidth=1.8, label="mixture")
    ax.set_ylabel("density")
    ax.set_ylim(bottom=0.0)
    ax.legend(frameon=False, fontsize=8)
    return ax


def _density(x: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2.0 * np.pi)))


def _plane(model: Mixture, means: np.ndarray, covariances: np.ndarray, data: Any, paper: Paper) -> Axes:
    ax = paper.axes(5.0, 4.4)
    sds = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    lo, hi = (means - 2.7 * sds).min(axis=0), (means + 2.7 * sds).max(axis=0)
    if data is not None and len(data[0]):
        rows, codes = data
        lo, hi = np.minimum(lo, rows.min(axis=0)), np.maximum(hi, rows.max(axis=0))
        for k in range(model.n_components):
            mine = rows[codes == k]
            ax.plot(mine[:, 0], mine[:, 1], ".", color=_color(k), markersize=3.0, alpha=0.6)
    for k, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
        sizes, directions = np.linalg.eigh(covariance)
        angle = float(np.degrees(np.arctan2(directions[1, 1], directions[0, 1])))
        for radius, style in zip(_RADII, ("-", "--"), strict=True):
            width, height = 2.0 * radius * np.sqrt(np.maximum(sizes[::-1], 0.0))
            ax.add_patch(
                Ellipse(
                    (float(mean[0]), float(mean[1])), width, height, angle=angle, fill=False,
                    edgecolor=_color(k), linestyle=style, linewidth=1.6,
                )
            )  # fmt: skip
        said = f"{label(model.states[k])} ({model.weights[k]:.2g})"
        ax.annotate(
            plain(said), (float(mean[0]), float(mean[1])), ha="center", va="center", fontsize=8, color=INK,
            bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": _color(k), "alpha": 0.85},
        )  # fmt: skip
    room = 0.04 * (hi - lo)
    ax.set_xlim(float(lo[0] - room[0]), float(hi[0] + room[0]))
    ax.set_ylim(float(lo[1] - room[1]), float(hi[1] + room[1]))
    return ax


def _color(k: int) -> str:
    """Of a component: dark ones first, for lines."""
    return GROUPS[k % len(GROUPS)]


def _table(model: Mixture, paper: Paper) -> Axes:
    """A row for each column, or state of one, a column for each component: probabilities, means and sds."""
    rows: list[tuple[str, np.ndarray, list[str]]] = []
    for part, columns in parts_of(model.emission, list(model.columns)):
        rows += _rows_of(part, columns)
    rows, k = rows[:_CELLS], min(model.n_components, _CELLS)
    longest = max(len(name) for name, _, _ in rows)
    ax = paper.axes(1.2 + 0.07 * min(longest, 30) + 0.95 * k, 0.9 + 0.28 * len(rows))
    shades = np.array([shade[:k] for _, shade, _ in rows])
    ax.imshow(shades, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    for i, (_, shade, texts) in enumerate(rows):
        for j in range(k):
            color = "white" if shade[j] > 0.6 else INK
            ax.text(j, i, texts[j], ha="center", va="center", fontsize=8, color=color)
    pairs = zip(model.states[:k], model.weights[:k].tolist(), strict=True)
    called = [f"{label(state)} ({weight:.2g})" for state, weight in pairs]
    ax.set_xticks(range(k), [plain(text) for text in called])
    ax.set_yticks(range(len(rows)), [plain(shortened(name)) for name, _, _ in rows])
    ax.tick_params(length=0, bottom=False, top=False, labelbottom=False, labeltop=True)
    ax.grid(visible=False)
    return ax


def _rows_of(part: Any, columns: list[str]) -> list[tuple[str, np.ndarray, list[str]]]:
    """Of columns of one kind: what they are called, how dark they are, and what is written."""
    if (domain := part.domain) is not None:
        with np.errstate(divide="ignore"):
            table = np.exp(part.log_rows(np.arange(domain.card)))
        return [
            (f"{columns[0]} = {label(state)}", p, [f"{x:.3g}" for x in p.tolist()])
            for state, p in zip(domain.states, table, strict=True)
        ]
    if hasattr(part, "yes"):
        return [
            (name, p, [f"{x:.3g}" for x in p.tolist()]) for name, p in zip(columns, part.yes().T, strict=True)
        ]
    if (normals := part.normals()) is not None:
        mean, variance = normals[0], np.diagonal(normals[1], axis1=1, axis2=2)
    elif hasattr(part, "moments"):
        mean, variance = part.moments()
    else:
        raise InvalidArgument(f"A {type(part).__name__} has no picture.")
    found = []
    for i, name in enumerate(columns):
        lo, hi = mean[:, i].min(), mean[:, i].max()
        shade = (mean[:, i] - lo) / (hi - lo) if hi > lo else np.zeros(len(mean))
        pairs = zip(mean[:, i].tolist(), np.sqrt(variance[:, i]).tolist(), strict=True)
        found.append((name, 0.75 * shade, [f"{m:.3g} ± {s:.2g}" for m, s in pairs]))
    return found
