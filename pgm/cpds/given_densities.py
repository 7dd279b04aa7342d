"""What counts as a density: an object with `score_samples`, a frozen scipy distribution, or one of pgm."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, InvalidTable, shown

from .table_input import Array

_KINDS = (
    "an object with score_samples, a frozen scipy distribution, or a distribution of pgm such as pgm.Gaussian"
)


class Form(NamedTuple):
    """How log densities are evaluated and rows are drawn."""

    logs: Callable[[Any, Array], Any]  # rows have shape (n, variables)
    draw: Callable[[Any, int, np.random.Generator], Any] | None
    mass: bool = False  # whether these are probabilities, not densities


def form_of(density: Any) -> Form | None:
    """Return how this density is evaluated; None if it is not a density."""
    if isinstance(density, type):
        return None
    if hasattr(density, "score_samples"):
        if getattr(density, "_estimator_type", "") == "outlier_detector" or _is_outlier_detector(density):
            return None
        return Form(lambda d, x: d.score_samples(x), _sampled if hasattr(density, "sample") else None)
    if hasattr(density, "logpdf") and hasattr(density, "resample"):  # gaussian_kde: a column for each row
        return Form(lambda d, x: d.logpdf(x.T), lambda d, n, rng: d.resample(n, seed=rng).T)
    if callable(density):  # a family of scipy, which is not frozen
        return None
    for name in ("logpdf", "logpmf"):
        support = getattr(density, "dist", density)  # rv_frozen has both, whatever it is
        if hasattr(density, name) and (support is density or hasattr(support, name)):
            return Form(_scipy(name), _rvs if hasattr(density, "rvs") else None, name == "logpmf")
    if hasattr(density, "log_density") and getattr(density, "n_states", None) is None:
        return Form(_ours, _sampled if hasattr(density, "sample") else None)
    return None


def _is_outlier_detector(density: Any) -> bool:
    tags = getattr(density, "__sklearn_tags__", None)
    try:
        return tags is not None and getattr(tags(), "estimator_type", "") == "outlier_detector"
    except Exception:  # an estimator of another kind may have tags that fail
        return False


def _scipy(name: str) -> Callable[[Any, Array], Any]:
    return lambda density, rows: getattr(density, name)(rows[:, 0] if rows.shape[1] == 1 else rows)


def _rvs(density: Any, n: int, rng: np.random.Generator) -> Any:
    return density.rvs(size=n, random_state=rng)


def _ours(density: Any, rows: Array) -> Any:
    return density.log_density(rows if rows.shape[1] > 1 else rows[:, 0])


def _sampled(density: Any, n: int, rng: np.random.Generator) -> Any:
    """Draw with scikit-learn's `sample`, which takes no generator, or with pgm's."""
    if hasattr(density, "log_density"):
        return density.sample(n, seed=rng)
    seed = int(rng.integers(2**31))
    try:
        found = density.sample(n, random_state=seed)
    except TypeError:
        if not hasattr(density, "random_state"):
            return density.sample(n)
        density = copy.copy(density)
        density.random_state = seed
        found = density.sample(n)
    return found[0] if isinstance(found, tuple) else found


def checked(name: str, where: str, density: Any) -> Any:
    """Return a copy of the density, unaffected by later changes; `where`: the row that it belongs to.

    Raises:
        InvalidTable: it is not a density.
    """
    if form_of(density) is None:
        what = shown(density)
        if isinstance(density, type):
            what = f"the class {density.__name__}: create one, or fit it"
        elif callable(density) and hasattr(density, "logpdf"):
            what = "a family of distributions: freeze one with its parameters, such as stats.norm(0, 1)"
        elif hasattr(density, "score_samples"):
            what += ", whose score_samples is an outlier score and no log density"
        elif getattr(density, "n_states", None) is not None:
            what += ", which is one for each of several states: give one for each key"
        raise InvalidTable(f"{name}{where}: a density is expected ({_KINDS}), not {what}.")
    try:
        return copy.deepcopy(density)
    except Exception as error:
        raise InvalidTable(f"{name}{where}: {shown(density)} cannot be copied: {shown(error)}.") from error


def is_fitted(density: Any) -> bool:
    """Whether a density can be evaluated; one without `fit` always can."""
    if not hasattr(density, "score_samples") or not hasattr(density, "fit"):
        return True
    from .estimator_traits import is_fitted as estimator_is_fitted

    return estimator_is_fitted(density)


def learned_density(name: str, where: str, density: Any, rows: Array, weights: Array) -> Any:
    """Return a clone of a density, fitted to rows.

    Args:
        name: of the variable.
        where: the configuration that it is for, for messages.
        density: an object with `fit` and `score_samples`.
        rows: the values, (rows, variables of the block).
        weights: one for each row.

    Raises:
        InvalidFrame: there is no row, or `fit` fails.
        InvalidArgument: the rows have weights, and `fit` takes none.
    """
    from sklearn.base import clone

    from .estimator_traits import weights_key

    kind, options = type(density).__name__, {}
    if not len(rows):
        raise InvalidFrame(f"{name}{where}: no row has these states, so that its {kind} cannot be fitted.")
    if not (weights == 1.0).all():
        key = weights_key(density)
        if key is None:
            raise InvalidArgument(
                f"{name}{where}: rows have weights here, from weights= or because EM completes missing "
                f"cells, and `fit` of {kind} takes no sample_weight. Use a density that does, such as "
                f"pgm.adapters.ParzenDensity, leave out rows with gaps, or keep it, fixed=[{name}]."
            )
        options[key] = weights
    try:
        return clone(density).fit(rows, **options)
    except Exception as error:
        raise InvalidFrame(
            f"{name}{where}: the density, a {kind}, raises {type(error).__name__} in `fit` for "
            f"{_size_of(rows)}: {error}"
        ) from error


def logs_of(name: str, where: str, density: Any, rows: Array) -> Array:
    """Return the log density of each row.

    Raises:
        InvalidTable: the density fails, or what it returns is not a log density.
    """
    form = form_of(density)
    assert form is not None
    kind = type(density).__name__
    try:
        with np.errstate(divide="ignore"):
            found = np.asarray(form.logs(density, rows), dtype=np.float64)
    except Exception as error:
        raise InvalidTable(
            f"{name}{where}: the density, a {kind}, fails for {_size_of(rows)}: "
            f"{type(error).__name__}: {error}"
        ) from error
    if found.ndim == 0 and len(rows) == 1:  # scipy drops axes of length one
        found = found.reshape(1)
    if found.shape != (len(rows),):
        raise InvalidTable(
            f"{name}{where}: the density, a {kind}, returns {found.shape} for {_size_of(rows)}, where one "
            "log density for each row is expected."
        )
    wrong = np.isnan(found) | (found == math.inf)
    if wrong.any():
        at = int(wrong.argmax())
        raise InvalidTable(
            f"{name}{where}: the log density of {shown(rows[at].tolist())} is {found[at]} by a {kind}; a "
            "number is expected, or minus infinity where it is impossible."
        )
    return found


def draws_of(name: str, where: str, density: Any, n: int, width: int, rng: np.random.Generator) -> Array:
    """Return n rows drawn from the density.

    Raises:
        InvalidArgument: it cannot be sampled.
    """
    form = form_of(density)
    assert form is not None
    kind = type(density).__name__
    if form.draw is None:
        raise InvalidArgument(f"{name}{where}: a {kind} has no method to draw samples.")
    try:
        found = np.asarray(form.draw(density, n, rng), dtype=np.float64).reshape(n, width)
    except Exception as error:
        raise InvalidArgument(
            f"{name}{where}: drawing from the density, a {kind}, fails: {type(error).__name__}: {error}"
        ) from error
    return found


def _size_of(rows: Array) -> str:
    several, values = "s"[: len(rows) != 1], "s"[: rows.shape[1] != 1]
    return f"{len(rows):,} row{several} of {rows.shape[1]} value{values}"
