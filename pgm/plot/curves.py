"""Densities as pictures: a curve for one variable, a map for two; stems where there is no density."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from pgm.errors import InvalidArgument, listed
from pgm.results import Density

from .canvas import BAR, DARK_LINES, EDGE, Paper, beside, lines, plain, shortened, tidy

_POINTS = 400  # of a curve
_CELLS = 160  # of a map, along each axis
_ENDS = (0.0005, 0.9995)  # quantiles; the tails beyond are not drawn
_FLAT = 1e-7  # a standard deviation, relative to the largest, that counts as zero


def density(dist: Density, paper: Paper) -> Axes:
    """Draw the density of one continuous variable, or of two.

    Values with a positive probability (sd = 0) are drawn as stems of that height.
    """
    if len(dist.variables) > 2:
        raise InvalidArgument(
            f"A picture shows one variable or two; this is the joint distribution of {listed(dist.names)}. "
            "Take p.marginal([name, other])."
        )
    said = [dist.title]
    if dist.form == "moments":
        ax = _moments(dist, paper)
        said.append("mean and standard deviation; the density is not known")
    else:
        ax = _curve(dist, paper) if len(dist.variables) == 1 else _plane(dist, paper)
    if not dist.exact:
        said.append(f"approximate: {dist.engine}")
    tidy(ax)
    paper.entitle(ax, *said)
    return ax


def _curve(dist: Density, paper: Paper) -> Axes:
    """The density, without the extreme tails on either side."""
    ax = paper.axes(4.6, 2.8)
    weights, means, covariances = dist.components
    sds = np.sqrt(covariances[:, 0, 0])
    used = weights > 0
    points, spread = used & (sds == 0), used & (sds > 0)
    if spread.any():
        share = float(weights[spread].sum())
        smooth = Density(dist.variables, weights[spread] / share, means[spread], covariances[spread])
        lo, hi = smooth.quantile(list(_ENDS))
        inside = smooth.quantile(np.linspace(*_ENDS, _POINTS))
        x = np.unique(np.concatenate([np.linspace(lo, hi, _POINTS), inside]))
        y = share * smooth.pdf(x)
        ax.fill_between(x, y, color=BAR, edgecolor=EDGE, linewidth=0.8)
        ax.set_ylim(0.0, 1.08 * float(y.max()))
        ax.set_ylabel("density")
    if points.any():
        _stems(ax, weights[points], means[points, 0], alone=not spread.any())
    ax.set_xlabel(plain(shortened(dist.names[0])))
    ax.locator_params(axis="x", nbins=6)
    return ax


def _stems(ax: Axes, weights: np.ndarray, at: np.ndarray, *, alone: bool) -> None:
    """Probabilities of single values, on their own scale beside that of a density."""
    color = lines(ax)[1]
    at, codes = np.unique(at, return_inverse=True)
    heights = np.bincount(codes, weights)
    stems = ax
    if not alone:
        stems = ax.twinx()
        ax.margins(x=0.15)  # for the numbers beside the outer ones
        ax.figure.sca(ax)  # what a user adds next belongs to the picture, not to its second scale
        stems.grid(visible=False)
        stems.spines["top"].set_visible(False)
        stems.spines["left"].set_visible(False)
    stems.vlines(at, 0.0, heights, color=color, linewidth=2.0)
    stems.plot(at, heights, "o", color=color, markersize=5.0)
    stems.set_ylim(0.0, 1.15 * float(heights.max()))
    stems.set_ylabel("probability", color=color)
    stems.tick_params(axis="y", colors=color)
    if len(at) <= 12:
        for x, height in zip(at.tolist(), heights.tolist(), strict=True):
            beside(stems, x, height, f"{height:.3g} at {x:.4g}", color)
    if len(at) == 1 and alone:
        ax.set_xlim(at[0] - max(1.0, 0.1 * abs(at[0])), at[0] + max(1.0, 0.1 * abs(at[0])))


def _moments(dist: Density, paper: Paper) -> Axes:
    ax = paper.axes(4.6, 1.2 + 0.4 * len(dist.variables))
    means, sds = np.atleast_1d(dist.mean), np.atleast_1d(dist.std)
    rows = np.arange(len(means))
    ax.errorbar(means, rows, xerr=sds, fmt="o", color=lines(ax)[0], capsize=4.0)
    ax.set_yticks(rows, [plain(shortened(name)) for name in dist.names])
    ax.set_ylim(len(means) - 0.4, -0.6)
    return ax


def _plane(dist: Density, paper: Paper) -> Axes:
    """The density of two variables as a map with contours; degenerate components as lines and points."""
    ax = paper.axes(4.8, 4.2)
    weights, means, covariances = dist.components
    used = weights > 0
    weights, means, covariances = weights[used], means[used], covariances[used]
    sds = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    scale = np.where(sds > 0, sds, 1.0)
    angles = covariances / (scale[:, :, None] * scale[:, None, :])
    sizes, directions = np.linalg.eigh(angles)
    full = sizes[:, 0] > _FLAT * np.maximum(sizes[:, 1], 1e-300)
    lo, hi = (means - 3.3 * sds).min(axis=0), (means + 3.3 * sds).max(axis=0)
    flat = hi <= lo
    away = np.where(flat, np.maximum(1.0, 0.1 * np.abs(lo)), 0.0)
    lo, hi = lo - away, hi + away
    if full.any():
        share = float(weights[full].sum())
        smooth = Density(dist.variables, weights[full] / share, means[full], covariances[full])
        x, y = (np.linspace(a, b, _CELLS) for a, b in zip(lo, hi, strict=True))
        z = share * smooth.pdf(np.stack(np.meshgrid(x, y), axis=-1))
        extent = (float(lo[0]), float(hi[0]), float(lo[1]), float(hi[1]))
        ax.imshow(z, cmap="Blues", origin="lower", extent=extent, aspect="auto", interpolation="bilinear")
        ax.contour(x, y, z, levels=_levels(z), colors=[EDGE], linewidths=0.8)
    for k in np.flatnonzero(~full).tolist():
        arm = 2.0 * np.sqrt(max(float(sizes[k, 1]), 0.0)) * directions[k, :, 1] * scale[k] * (sds[k] > 0)
        ends = np.stack([means[k] - arm, means[k] + arm])
        # A map is light whatever the style, so lines are not drawn on the colour around it.
        color = DARK_LINES[1] if full.any() else lines(ax)[1]
        ax.plot(ends[:, 0], ends[:, 1], "-", color=color, linewidth=2.0)
        ax.plot(*means[k], "o", color=color, markersize=5.0)
        beside(ax, float(means[k, 0]), float(means[k, 1]), f"{weights[k]:.3g}", color, below=True)
    ax.grid(visible=False)
    ax.set_xlim(float(lo[0]), float(hi[0]))
    ax.set_ylim(float(lo[1]), float(hi[1]))
    ax.set_xlabel(plain(shortened(dist.names[0])))
    ax.set_ylabel(plain(shortened(dist.names[1])))
    return ax


def _levels(z: np.ndarray) -> list[float]:
    """The densities above which half, four fifths and 95 % of the probability lie."""
    falling = np.sort(z, axis=None)[::-1]
    held = np.cumsum(falling) / falling.sum()
    at = [min(int(np.searchsorted(held, share)), falling.size - 1) for share in (0.95, 0.8, 0.5)]
    return sorted(set(falling[at].tolist()))
