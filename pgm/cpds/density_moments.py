"""The mean and the covariance of a density of scipy, scikit-learn or pgm, where there is a closed form."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.errors import InvalidArgument

from .table_input import Array

Moments = tuple[Array, Array]


def moments_of(name: str, where: str, density: Any, width: int) -> Moments:
    """Return the mean, (width,), and the covariance, (width, width).

    Args:
        name: of the variable.
        where: which of its densities this is, for messages.
        density: the density.
        width: its number of columns.

    Raises:
        InvalidArgument: the density has none, or does not provide them.

    >>> from scipy import stats
    >>> moments_of("'x'", "", stats.gamma(2.0), 1)
    (array([2.]), array([[2.]]))
    """
    kind, why = type(density).__name__, "does not provide its mean and variance"
    try:
        found = _moments(density, width)
        if found is not None:
            mean, covariance = (np.asarray(part, dtype=np.float64) for part in found)
            mean, covariance = mean.reshape(width), covariance.reshape(width, width)
            if np.isfinite(mean).all() and np.isfinite(covariance).all():
                return mean, covariance
            why = "has no finite mean and variance"
    except Exception as error:
        raise InvalidArgument(
            f"{name}{where}: the moments of the density, a {kind}, fail: {type(error).__name__}: {error}"
        ) from error
    raise InvalidArgument(
        f"{name}{where}: the density, a {kind}, {why}, so there is no exact answer. Sample: "
        'engine="likelihood-weighting" or "gibbs".'
    )


def _moments(density: Any, width: int) -> tuple[Any, Any] | None:
    if hasattr(density, "dataset") and hasattr(density, "resample"):  # scipy's gaussian_kde
        return _of_mixture(density.weights, density.dataset.T, density.covariance)
    if hasattr(density, "means_") and hasattr(density, "weights_") and hasattr(density, "covariances_"):
        return _of_mixture(density.weights_, density.means_, _covariances(density))
    if hasattr(density, "tree_") and hasattr(density, "bandwidth_"):
        return _of_kernels(density, width)
    if hasattr(density, "score_samples"):
        return density.moments() if hasattr(density, "moments") else None  # those of pgm.adapters
    if hasattr(density, "log_density"):
        return _of_ours(density, width)
    if hasattr(density, "df") and hasattr(density, "shape") and hasattr(density, "loc"):  # multivariate t
        ratio = density.df / (density.df - 2.0) if density.df > 2.0 else np.inf
        return density.loc, ratio * density.shape
    if not callable(getattr(density, "mean", None)):  # multivariate normal
        return density.mean, density.cov
    if width > 1:
        return density.mean(), density.cov()
    return density.mean(), density.var()


def _of_mixture(weights: Any, means: Array, covariances: Any) -> Moments:
    mean = weights @ means
    off = means - mean
    spread = np.broadcast_to(covariances, (len(means), mean.size, mean.size))
    return mean, np.tensordot(weights, spread, 1) + (weights[:, None] * off).T @ off


def _covariances(mixture: Any) -> Array:
    """The covariances of scikit-learn's mixtures, as matrices."""
    found, width = np.asarray(mixture.covariances_), mixture.means_.shape[1]
    if mixture.covariance_type == "diag":
        return np.asarray(found[:, :, None] * np.eye(width))
    if mixture.covariance_type == "spherical":
        return np.asarray(found[:, None, None] * np.eye(width))
    return found


def _of_kernels(density: Any, width: int) -> Moments | None:
    """The moments of scikit-learn's KernelDensity."""
    # of a kernel along each axis, in units of the squared bandwidth
    variance = {
        "gaussian": 1.0,
        "tophat": 1.0 / (width + 2.0),
        "epanechnikov": 1.0 / (width + 4.0),
        "exponential": width + 1.0,
        "linear": (width + 1.0) / ((width + 2.0) * (width + 3.0)),
    }.get(density.kernel)
    if variance is None or density.metric not in ("euclidean", "l2", "minkowski"):
        return None
    if getattr(density, "metric_params", None):
        return None
    rows = np.asarray(density.tree_.data)
    given = getattr(density.tree_, "sample_weight", None)
    weights = np.ones(len(rows)) if given is None else np.asarray(given)
    return _of_mixture(weights / weights.sum(), rows, variance * density.bandwidth_**2 * np.eye(width))


def _of_ours(density: Any, width: int) -> tuple[Any, Any] | None:
    if hasattr(density, "components"):  # a mixture; those of one state
        weights, means, covariances = density.components()
        return _of_mixture(weights[0], means[0], covariances[0])
    if width == 1 and hasattr(density, "moments"):
        mean, variance = density.moments()
        return mean[0], variance[0]
    if hasattr(density, "df") or not hasattr(density, "covariance"):
        return None
    return density.mean, density.covariance
