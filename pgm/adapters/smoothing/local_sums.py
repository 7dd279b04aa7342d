"""Local polynomials from sums of products: the height at each place, and how sure it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .base import Curve, flattest


class Products(NamedTuple):
    """Sums over rows, weighted by window and count, for each place: what lines follow from."""

    about: np.ndarray  # products of monomials about their means
    squares: np.ndarray  # of monomials about the place
    right: np.ndarray  # products with the targets
    lean: np.ndarray  # from the mean to the place
    level: np.ndarray  # the mean of the targets
    residue: np.ndarray  # squares of the targets about it
    twice: np.ndarray = np.empty(0)  # with squared weights of the window: their sum,
    twice_mean: np.ndarray = np.empty(0)  # that of monomials about their means,
    twice_about: np.ndarray = np.empty(0)  # and of their products


def of_moments(
    sums: np.ndarray, answers: np.ndarray, spreads: np.ndarray, residues: np.ndarray, middles: np.ndarray,
    total: np.ndarray, spread: bool,
) -> Products:  # fmt: skip
    """These from moments about each place, of which the lower halves are given."""
    sums += np.tril(sums, -1).transpose(0, 2, 1)
    mean = sums[:, 0, 1:] / total[:, None]
    found = Products(
        about=sums[:, 1:, 1:] - sums[:, 0, 1:, None] * mean[:, None, :],
        squares=np.einsum("qaa->qa", sums)[:, 1:],
        right=answers[:, 1:] - answers[:, :1] * mean,
        lean=-mean,
        level=middles + answers[:, 0] / total,
        residue=residues - answers[:, 0] ** 2 / total,
    )
    if not spread:
        return found
    spreads += np.tril(spreads, -1).transpose(0, 2, 1)
    twice, first = spreads[:, 0, 0], spreads[:, 0, 1:]
    around = spreads[:, 1:, 1:] - first[:, :, None] * mean[:, None, :] - mean[:, :, None] * first[:, None, :]
    around += (twice[:, None] * mean)[:, :, None] * mean[:, None, :]
    return found._replace(twice=twice, twice_mean=first - twice[:, None] * mean, twice_about=around)


def heights(sums: Products, total: np.ndarray, spread: bool) -> Curve:
    """The polynomials at their places."""
    found = flattest(sums.about, sums.squares, sums.right)
    height = sums.level + (sums.lean * found.slopes).sum(axis=1)
    if not spread:
        return Curve(height)
    # A row counts by its window, and by how its place turns the line.
    turn = (found.inverse @ sums.lean[:, :, None])[:, :, 0]
    share = sums.twice / total**2 + 2.0 * (turn * sums.twice_mean).sum(axis=1) / total
    share += np.einsum("qa,qab,qb->q", turn, sums.twice_about, turn)
    left = total - sums.twice / total - np.einsum("qab,qba->q", found.inverse, sums.twice_about)
    residue = sums.residue - (sums.right * found.slopes).sum(axis=1)
    many = total**2 / sums.twice - 1.0 - found.rank
    return Curve(height, deviation(residue, left, total), np.sqrt(np.maximum(share, 0.0)), many)


def about_means(
    sums: np.ndarray, mean: np.ndarray, total: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Products of columns about their means, from sums of 1, columns and products."""
    m, dim = mean.shape
    found = np.empty((m, dim, dim))
    found[:, low, high] = sums[:, dim + 1 : dim + 1 + len(low)]
    found[:, high, low] = found[:, low, high]
    return np.asarray(found - (total[:, None] * mean)[:, :, None] * mean[:, None, :])


def deviation(residue: np.ndarray, left: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The standard deviation about the curve; NaN where nothing is left to tell it."""
    known = left > 1e-9 * total
    with np.errstate(invalid="ignore"):
        # What is below zero is rounding: rows on the curve.
        found = np.sqrt(np.maximum(residue, 0.0) / np.where(known, left, 1.0))
    return np.where(known, found, np.nan)
