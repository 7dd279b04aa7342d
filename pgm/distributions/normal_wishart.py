"""Conjugate priors of the mean vector and the precision matrix of multivariate normal data."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.randomness import draw_count, generator

from .checks import finite
from .normal import LOG_2PI
from .normal_priors import moments
from .pseudo_counts import Prior, positive, short, tail_of
from .student import Drawn, Student, marginals


class NormalWishart(Drawn, Prior):
    """A prior on the mean vector and the precision matrix of multivariate normal data.

    Args:
        mean: the expected mean vector.
        rows: how many observations the prior on the mean is worth.
        df: the degrees of freedom of the Wishart distribution, more than the dimensions less one.
        scale: its scale matrix; the precision that is expected is `df` times this.

    Raises:
        InvalidArgument: parameters out of range, or a scale that is not a covariance.

    >>> belief = NormalWishart([0, 0], rows=1, df=3).posterior([[1, 2], [2, 1], [3, 4], [4, 3]])
    >>> belief.mean.tolist(), belief.df, np.linalg.inv(belief.scale).round(6).tolist()
    ([2.0, 2.0], 7.0, [[11.0, 8.0], [8.0, 11.0]])
    """

    kind = "normal-wishart"
    fields = ("mean", "rows", "df", "scale")

    def __init__(self, mean: Any, rows: float = 1.0, df: float | None = None, scale: Any = None) -> None:
        """Take the four parameters; df is the dimensions plus 1 and scale the unit matrix if left out."""
        self.mean = finite("mean=", mean, (1,))
        d = self.mean.size
        if not d:
            raise InvalidArgument("mean= is a vector with at least one entry, not an empty one.")
        self.rows = positive("rows", rows)
        self.df = positive("df", d + 1.0 if df is None else df)
        if self.df <= d - 1:
            raise InvalidArgument(f"df= is more than {d - 1}, the dimensions less one, not {shown(df)}.")
        self.scale = np.eye(d) if scale is None else finite("scale=", scale, (2,))
        symmetric = self.scale.shape == (d, d) and np.allclose(self.scale, self.scale.T)
        if not symmetric or np.linalg.eigvalsh(self.scale).min() <= 0.0:
            raise InvalidArgument(f"scale= is a positive definite matrix, {d} by {d}, not {shown(scale)}.")

    @property
    def precision(self) -> np.ndarray:
        """The expected precision matrix."""
        return np.asarray(self.df * self.scale)

    @property
    def mode(self) -> tuple[np.ndarray, np.ndarray]:
        """The jointly most probable mean and precision."""
        return self.mean, np.asarray(max(0.0, self.df - self.mean.size) * self.scale)

    def posterior(self, data: Any) -> Self:
        """Return the posterior given these data.

        Args:
            data: rows of values, or their statistics.

        Raises:
            InvalidArgument: they are not finite.

        >>> NormalWishart([0.0]).posterior([[1.0]]).rows
        2.0
        """
        n, mean, scatter = moments(data, self.mean.size)
        rows, off = self.rows + n, mean - self.mean
        inverse = np.linalg.inv(self.scale) + scatter + self.rows * n / rows * np.outer(off, off)
        scale = np.linalg.inv(inverse)
        return type(self)(self.mean + n / rows * off, rows, self.df + n, (scale + scale.T) / 2.0)

    def sample(self, n: int, *, seed: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw n mean vectors with their precision matrices: arrays of the shapes (n, d) and (n, d, d).

        Args:
            n: how many.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: n or seed is not a whole number of at least 0.

        >>> means, precisions = NormalWishart([0.0, 2.0]).sample(3, seed=0)
        >>> means.shape, precisions.shape
        ((3, 2), (3, 2, 2))
        """
        from scipy.stats import wishart

        random, n, d = generator(seed), draw_count(n), self.mean.size
        precisions = np.empty((n, d, d))
        if n:
            precisions[:] = wishart(self.df, self.scale).rvs(n, random_state=random).reshape(n, d, d)
        standard = random.standard_normal((n, d, 1))
        # solving L' x = z gives x the precision L L', where L is its Cholesky factor
        roots = np.linalg.cholesky(self.rows * precisions)
        return self.mean + np.linalg.solve(roots.transpose(0, 2, 1), standard)[:, :, 0], precisions

    def _mean(self) -> Student:
        """The marginal distribution of the mean."""
        df = self.df - self.mean.size + 1.0
        return Student(df, self.mean, np.linalg.inv(self.scale) / (self.rows * df))

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the credible interval of each entry of the mean, with equal tails.

        Args:
            level: the probability that lies inside.

        Raises:
            InvalidArgument: the level is not between 0 and 1.

        >>> NormalWishart([0.0, 2.0], df=2).interval(0.5)[1].round(6).tolist()  # t of one degree of freedom
        [1.0, 3.0]
        """
        tail = tail_of(level)
        each = marginals(self._mean(), "mean").values()
        return np.array([t.ppf(tail) for t in each]), np.array([t.ppf(1.0 - tail) for t in each])

    def log_density(self, mean: Any, precision: Any) -> float:
        """Return the joint log density of mean vector and precision matrix.

        Args:
            mean: a vector.
            precision: a positive definite matrix.

        Raises:
            InvalidArgument: the vector is not finite, or the matrix not positive definite.

        >>> one = NormalWishart([0.0], rows=2, df=4, scale=[[0.25]])
        >>> from pgm.distributions.normal_priors import NormalGamma
        >>> same = NormalGamma(0, rows=2, a=2, b=2)
        >>> round(one.log_density([0.5], [[3.0]]) - same.log_density(0.5, 3.0), 9)
        0.0
        """
        from scipy.stats import wishart

        d = self.mean.size
        off, matrix = finite("mean", mean, (1,)) - self.mean, finite("precision", precision, (2,))
        if matrix.shape != (d, d) or np.linalg.eigvalsh(matrix).min() <= 0.0:
            raise InvalidArgument(f"precision is a positive definite matrix, {d} by {d}.")
        normal = 0.5 * (d * (math.log(self.rows) - LOG_2PI) + np.linalg.slogdet(matrix)[1])
        spread = float(wishart(self.df, self.scale).logpdf(matrix))
        return float(normal - 0.5 * self.rows * off @ matrix @ off + spread)

    def _curves(self) -> dict[str, Any]:
        return marginals(self._mean(), "mean")

    def predictive(self) -> Student:
        """Return the distribution of the next observation.

        >>> NormalWishart([0.0, 0.0], rows=1, df=3).predictive().df
        2.0
        """
        df = self.df - self.mean.size + 1.0
        shape = (self.rows + 1.0) / (self.rows * df) * np.linalg.inv(self.scale)
        return Student(df, self.mean, (shape + shape.T) / 2.0)

    def log_evidence(self, data: Any) -> float:
        """Return the log density of all these data together.

        Args:
            data: rows of values, or their statistics.

        Raises:
            InvalidArgument: they are not finite.

        >>> prior = NormalWishart([0.0, 0.0], rows=2, df=4)
        >>> round(prior.log_evidence([[1.0, 2.0]]) - float(prior.predictive().log_density([1.0, 2.0])), 9)
        0.0
        """
        from scipy.special import multigammaln

        n, d = moments(data, self.mean.size)[0], self.mean.size
        after = self.posterior(data)
        logs = [np.linalg.slogdet(each.scale)[1] for each in (self, after)]
        found = multigammaln(after.df / 2.0, d) - multigammaln(self.df / 2.0, d)
        found += (
            0.5 * after.df * logs[1] - 0.5 * self.df * logs[0] + 0.5 * d * math.log(self.rows / after.rows)
        )
        return float(found - 0.5 * n * d * math.log(math.pi))

    def __repr__(self) -> str:
        return (
            f"NormalWishart({short(self.mean)}, rows={self.rows:g}, df={self.df:g}, "
            f"scale={short(self.scale)})"
        )
