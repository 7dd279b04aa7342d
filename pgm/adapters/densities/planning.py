"""How many rows a density estimate needs by dimension."""

from __future__ import annotations

import math

from pgm.adapters.rows import fraction, whole
from pgm.errors import InvalidArgument


def rows_needed(dim: int, *, error: float = 0.1) -> int:
    """Return how many rows a Gaussian kernel density estimate needs, in the easiest case.

    The rows are from a standard normal distribution, the density is estimated at its mean, and the width is
    optimal: the smallest number of rows for which the mean squared error, relative to the squared density, is
    below `error` (Silverman 1986, section 4.5.2). It grows so fast that windows suit few columns only.

    Args:
        dim: how many columns there are.
        error: the relative mean squared error.

    Raises:
        InvalidArgument: `dim` is not an integer of at least 1, or `error` is not in (0, 1];
            or there are too many columns to count the rows.

    >>> [rows_needed(d) for d in (1, 2, 5, 10)]
    [4, 19, 768, 841566]
    """
    from scipy.optimize import minimize_scalar

    d, most = whole("dim", dim), fraction("error", error)
    if d > 200:
        raise InvalidArgument(f"dim={d:,}: the number of rows is beyond the range of a float.")

    def log_rows(log_h: float) -> float:
        """The rows at which variance is what the bias of this width leaves."""
        h2 = math.exp(2.0 * log_h)
        log_mean = -0.5 * d * math.log1p(h2)  # of the estimate as a share of the density
        left = most - math.expm1(log_mean) ** 2
        if left <= 0.0:
            return math.inf
        log_square = 0.5 * d * (2.0 * math.log(2.0 * math.pi) - math.log(4.0 * math.pi * h2))
        log_square -= 0.5 * d * math.log(2.0 * math.pi * (1.0 + 0.5 * h2))
        # Of one window: the mean of its square, less the square of its mean.
        return log_square + math.log(-math.expm1(2.0 * log_mean - log_square)) - math.log(left)

    # The widest window whose bias alone is not too much; from there down there is one valley.
    most_h = 0.5 * math.log(math.expm1(-2.0 / d * math.log1p(-math.sqrt(most)))) if most < 1.0 else 8.0
    found = minimize_scalar(
        log_rows, bounds=(most_h - 8.0, most_h), method="bounded", options={"xatol": 1e-9}
    )
    return math.floor(math.exp(found.fun)) + 1
