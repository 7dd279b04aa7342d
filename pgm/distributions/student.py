"""Student's t distribution: the predictive distribution where the spread is unknown, too."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument
from pgm.randomness import draw_count, generator

from .checks import finite
from .pseudo_counts import Printed, positive, short, tail_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Drawn(Printed):
    """Distributions that plots show as univariate densities."""

    def _curves(self) -> dict[str, Any]:
        """Univariate distributions of scipy, by the name of what they describe."""
        raise NotImplementedError

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the densities; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        curves = self._curves()
        ends = [float(each.ppf(p)) for each in curves.values() for p in (0.002, 0.998)]
        grid = np.linspace(min(ends), max(ends), 401)
        densities = {name: each.pdf(grid) for name, each in curves.items()}
        return plot.densities(
            grid, densities, "value", ax, figsize=figsize, title=repr(self) if title is None else title
        )


def marginals(joint: Student, of: str) -> dict[str, Any]:
    """The distribution of each entry of a multivariate one, as scipy's.

    >>> list(marginals(Student(3, [0.0, 1.0], [[1.0, 0.0], [0.0, 4.0]]), "mean"))
    ['mean[0]', 'mean[1]']
    """
    from scipy import stats

    scales = np.sqrt(np.diag(joint.scale))
    return {
        f"{of}[{i}]": stats.t(joint.df, m, s) for i, (m, s) in enumerate(zip(joint.mean, scales, strict=True))
    }


class Student(Drawn):
    """Student's t distribution with a location and a scale: predictive where the spread is unknown, too.

    Args:
        df: the degrees of freedom.
        mean: where its centre is; a list for a multivariate one.
        scale: the scale; for a multivariate one, the shape matrix.

    Raises:
        InvalidArgument: degrees or a scale that are not greater than 0.

    >>> x = Student(9, mean=6.0, scale=2.0)
    >>> round(float(x.log_density(6.0)), 6), round(x.variance, 6)
    (-1.639807, 5.142857)
    """

    fields = ("df", "mean", "scale")

    def __init__(self, df: float, mean: Any = 0.0, scale: Any = 1.0) -> None:
        """Take degrees of freedom, centre and scale."""
        self.df = positive("df", df)
        self.mean = finite("mean=", mean, (0, 1))
        self.scale = finite("scale=", scale, (2,) if self.mean.ndim else (0,))
        if self.mean.ndim == 0:
            positive("scale", float(self.scale))

    def _scipy(self) -> Any:
        from scipy import stats

        df: Any = self.df
        if self.mean.ndim:
            return stats.multivariate_t(self.mean, self.scale, df)
        return stats.t(self.df, float(self.mean), float(self.scale))

    @property
    def variance(self) -> Any:
        """The variance, or the covariance; infinite up to 2 degrees of freedom."""
        factor = self.df / (self.df - 2.0) if self.df > 2.0 else math.inf
        return self.scale * factor if self.mean.ndim else float(self.scale**2) * factor

    def log_density(self, x: Any) -> Any:
        """Return the log density.

        Args:
            x: a value, or an array.

        Raises:
            ValueError: the rows of an array have another number of dimensions.

        >>> round(float(Student(1).log_density(0.0)), 6)  # Cauchy's: 1 / pi
        -1.14473
        """
        return self._scipy().logpdf(x)

    def cdf(self, x: Any) -> Any:
        """Return the probability of a value not greater than x.

        Args:
            x: a value, or an array.

        Raises:
            ValueError: the rows of an array have another number of dimensions.

        >>> float(Student(3).cdf(0.0))
        0.5
        """
        return self._scipy().cdf(x)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the interval with this probability, with equal tails.

        Args:
            level: the probability that lies inside.

        Raises:
            InvalidArgument: the level is not between 0 and 1, or there are several dimensions.

        >>> [round(x, 6) for x in Student(1).interval(0.5)]
        [-1.0, 1.0]
        """
        tail = tail_of(level)
        if self.mean.ndim:
            raise InvalidArgument(
                "Only a univariate distribution has an interval; this has several dimensions."
            )
        found = self._scipy()
        return float(found.ppf(tail)), float(found.ppf(1.0 - tail))

    def sample(self, n: int, *, seed: Any = None) -> np.ndarray:
        """Draw n values.

        Args:
            n: how many.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: n or seed is not a whole number of at least 0.

        >>> Student(3).sample(2, seed=0).shape
        (2,)
        """
        return np.asarray(self._scipy().rvs(size=draw_count(n), random_state=generator(seed)))

    def _curves(self) -> dict[str, Any]:
        return marginals(self, "") if self.mean.ndim else {"": self._scipy()}

    def __repr__(self) -> str:
        return f"Student({self.df:g}, mean={short(self.mean)}, scale={short(self.scale)})"
