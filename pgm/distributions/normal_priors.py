"""Conjugate priors of a normal distribution: of its mean, and of mean and precision.

`posterior(data)` may be called with the rows in parts or all at once: the result is the same. `predictive()`
is the distribution of the next observation, and `log_evidence(data)` the log density of all of them, whose
differences are logarithms of Bayes factors (DeGroot 1970; Gelman & al. 2013, chapters 2 and 3).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pgm.distributions.normal import LOG_2PI, log_standard_normal
from pgm.errors import InvalidArgument
from pgm.randomness import draw_count, generator

from .checks import finite
from .gaussian_statistics import GaussianStatistics
from .pseudo_counts import Conjugate, Prior, positive, tail_of
from .student import Drawn, Student


def moments(data: Any, dim: int | None) -> tuple[float, np.ndarray, np.ndarray]:
    """How many rows, their mean and their scatter about it."""
    if isinstance(data, GaussianStatistics):
        if data.weight.size != 1:
            raise InvalidArgument("These are statistics of several states: give those of one at a time.")
        return float(data.weight[0]), data.mean[0], data.scatter[0]
    rows = finite("data", data, (1,) if dim is None else (1, 2))
    if dim is not None and (rows.shape[-1] != dim if rows.ndim == 2 else rows.size % dim):
        raise InvalidArgument(f"data are rows of {dim} values each, not of the shape {rows.shape}.")
    rows = rows.reshape(-1, 1) if dim is None else rows.reshape(-1, dim)
    if not len(rows):
        width = rows.shape[1]
        return 0.0, np.zeros(width), np.zeros((width, width))
    mean = rows.mean(axis=0)
    return float(len(rows)), mean, (rows - mean).T @ (rows - mean)


class Normal(Drawn, Prior, Conjugate):
    """A normal prior on the mean of normal data whose standard deviation is known.

    As `prior=` it goes with continuous nodes that have no continuous parents.

    Args:
        mean: the expected mean.
        sd: its standard deviation.
        noise: the standard deviation of the data.

    Raises:
        InvalidArgument: standard deviations that are not greater than 0.

    >>> belief = Normal(4, sd=0.8, noise=1.5).posterior([6.0] * 20)
    >>> round(belief.mean, 6), round(belief.sd, 6), round(belief.predictive().sd, 6)
    (5.700997, 0.309324, 1.531562)
    """

    kind = "normal"
    fields = ("mean", "sd", "noise")

    def __init__(self, mean: float, sd: float, *, noise: float = 1.0) -> None:
        """Take the mean and spread of the prior, and the spread of the data."""
        self.mean = float(finite("mean=", mean, (0,)))
        self.sd, self.noise = positive("sd", sd), positive("noise", noise)

    @property
    def mode(self) -> float:
        """The most probable mean, which is the expected one."""
        return self.mean

    def posterior(self, data: Any) -> Normal:
        """Return the posterior given these data.

        Args:
            data: values, or their statistics.

        Raises:
            InvalidArgument: they are not finite.

        >>> Normal(0, sd=1).posterior([1.0]).posterior([3.0]) == Normal(0, sd=1).posterior([1.0, 3.0])
        True
        """
        n, mean, _ = moments(data, None)
        precision = 1.0 / self.sd**2 + n / self.noise**2
        centre = (self.mean / self.sd**2 + n * float(mean[0]) / self.noise**2) / precision
        return Normal(centre, precision**-0.5, noise=self.noise)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the credible interval of the mean, with equal tails.

        Args:
            level: the probability that lies inside.

        Raises:
            InvalidArgument: the level is not between 0 and 1.

        >>> [round(x, 3) for x in Normal(0, sd=1).interval()]
        [-1.96, 1.96]
        """
        from scipy.special import ndtri

        half = -float(ndtri(tail_of(level))) * self.sd
        return self.mean - half, self.mean + half

    def predictive(self) -> Any:
        """Return the distribution of the next observation, a `Gaussian`.

        >>> round(float(Normal(0, sd=3, noise=4).predictive().sd), 6)
        5.0
        """
        from .gaussian import Gaussian

        return Gaussian(self.mean, sd=math.hypot(self.sd, self.noise))

    def log_evidence(self, data: Any) -> float:
        """Return the log density of all these data together.

        Args:
            data: values, or their statistics.

        Raises:
            InvalidArgument: they are not finite.

        >>> round(Normal(0, sd=3, noise=4).log_evidence([0.0]), 6)  # that of N(0, 5)
        -2.528376
        """
        n, mean, scatter = moments(data, None)
        after = self.posterior(data)
        squares = float(scatter[0, 0]) / self.noise**2 + n * float(mean[0]) ** 2 / self.noise**2
        squares += self.mean**2 / self.sd**2 - after.mean**2 / after.sd**2
        return -n * (math.log(self.noise) + 0.5 * LOG_2PI) + math.log(after.sd / self.sd) - 0.5 * squares

    # --- as the prior of a node ---

    def takes(self, cpd: Any) -> bool:
        """Whether a density has no continuous parents."""
        return bool(cpd.continuous and not any(v.continuous for v in cpd.given))

    def rows_of(self, statistics: GaussianStatistics) -> list[Normal]:
        """The posterior of each row of a density."""
        s = statistics
        each = [slice(i, i + 1) for i in range(s.weight.size)]
        return [self.posterior(GaussianStatistics(s.weight[i], s.mean[i], s.scatter[i])) for i in each]

    def fitted(self, cpd: Any, statistics: Any, mode: bool) -> Any:
        """Return the density at the posterior's mean, which is its mode; the spread is the noise."""
        mean = np.array([[row.mean] for row in self.rows_of(statistics)])
        n = len(mean)
        return cpd.fitted(GaussianStatistics(np.ones(n), mean, np.full((n, 1, 1), self.noise**2)))

    def log_prior(self, cpd: Any) -> float:
        """Return the log density of the means of all rows."""
        off = (np.ravel(cpd.bias) - self.mean) / self.sd
        return float(-0.5 * (off**2).sum())

    def log_density(self, mean: Any) -> Any:
        """Return the log density of the mean.

        Args:
            mean: a float, or an array of them.

        Raises:
            InvalidArgument: they are not finite.

        >>> round(float(Normal(0, sd=1).log_density(0)), 6)
        -0.918939
        """
        off = (finite("mean", mean, (0, 1, 2)) - self.mean) / self.sd
        return log_standard_normal(off) - math.log(self.sd)

    def sample(self, n: int, *, seed: Any = None) -> np.ndarray:
        """Draw n means.

        Args:
            n: how many.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: n or seed is not a whole number of at least 0.

        >>> Normal(100, sd=0.01).sample(3, seed=0).round().tolist()
        [100.0, 100.0, 100.0]
        """
        return generator(seed).normal(self.mean, self.sd, draw_count(n))

    def _curves(self) -> dict[str, Any]:
        from scipy.stats import norm

        wide = math.hypot(self.sd, self.noise)
        return {"the mean": norm(self.mean, self.sd), "the next value": norm(self.mean, wide)}

    def __repr__(self) -> str:
        return f"Normal({self.mean:.12g}, sd={self.sd:.12g}, noise={self.noise:.12g})"


class NormalGamma(Drawn, Prior, Conjugate):
    """A prior on the mean and the precision (one over the variance) of normal data, both unknown.

    The precision has the Gamma distribution of shape `a` and rate `b`, and the mean given it is normal, as
    precise as `rows` observations. As `prior=` it goes with continuous nodes that have no continuous parents.

    Args:
        mean: the expected mean.
        rows: how many observations the prior on the mean is worth.
        a: the shape: half of how many observations the prior on the spread is worth.
        b: the rate: about `a` times the variance that is expected.

    Raises:
        InvalidArgument: rows, a or b that are not greater than 0.

    >>> belief = NormalGamma(4, rows=2, a=2, b=2).posterior([4.0, 6.0, 6.0, 6.0, 8.0])
    >>> round(belief.mean, 6), belief.rows, belief.a, round(belief.b, 6)
    (5.428571, 7.0, 4.5, 8.857143)
    """

    kind = "normal-gamma"
    fields = ("mean", "rows", "a", "b")

    def __init__(self, mean: float = 0.0, rows: float = 1.0, a: float = 1.0, b: float = 1.0) -> None:
        """Take the four parameters."""
        self.mean = float(finite("mean=", mean, (0,)))
        self.rows, self.a, self.b = positive("rows", rows), positive("a", a), positive("b", b)

    @property
    def precision(self) -> float:
        """The expected precision."""
        return self.a / self.b

    @property
    def mode(self) -> tuple[float, float]:
        """The jointly most probable mean and precision."""
        return self.mean, max(0.0, self.a - 0.5) / self.b

    def posterior(self, data: Any) -> NormalGamma:
        """Return the posterior given these data.

        Args:
            data: values, or their statistics.

        Raises:
            InvalidArgument: they are not finite.

        >>> prior = NormalGamma(0, rows=1, a=1, b=1)
        >>> prior.posterior([1.0]).posterior([3.0]) == prior.posterior([1.0, 3.0])
        True
        """
        n, mean, scatter = moments(data, None)
        rows = self.rows + n
        off = float(mean[0]) - self.mean
        centre = self.mean + n / rows * off
        b = self.b + 0.5 * float(scatter[0, 0]) + 0.5 * self.rows * n / rows * off**2
        return NormalGamma(centre, rows, self.a + 0.5 * n, b)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the credible interval of the mean, with equal tails.

        Args:
            level: the probability that lies inside.

        Raises:
            InvalidArgument: the level is not between 0 and 1.

        >>> [round(x, 6) for x in NormalGamma(0, rows=1, a=0.5, b=0.5).interval(0.5)]
        [-1.0, 1.0]
        """
        return self._mean().interval(level)

    def sample(self, n: int, *, seed: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw n means with their precisions: two arrays.

        Args:
            n: how many.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: n or seed is not a whole number of at least 0.

        >>> means, precisions = NormalGamma(100, rows=1e6, a=1e6, b=1e6).sample(3, seed=0)
        >>> means.round().tolist(), precisions.round(1).tolist()
        ([100.0, 100.0, 100.0], [1.0, 1.0, 1.0])
        """
        random, n = generator(seed), draw_count(n)
        precisions = random.gamma(self.a, 1.0 / self.b, n)
        return random.normal(self.mean, (self.rows * precisions) ** -0.5), precisions

    def _mean(self) -> Student:
        """The marginal distribution of the mean."""
        return Student(2.0 * self.a, self.mean, math.sqrt(self.b / (self.a * self.rows)))

    def _curves(self) -> dict[str, Any]:
        return {"the mean": self._mean()._scipy(), "the next value": self.predictive()._scipy()}

    def log_density(self, mean: float, precision: float) -> float:
        """Return the joint log density of mean and precision.

        Args:
            mean: a float.
            precision: a float greater than 0.

        Raises:
            InvalidArgument: the mean is not finite, or the precision not greater than 0.

        >>> round(NormalGamma(0, rows=1, a=1, b=1).log_density(0, 1), 6)  # that of Gamma and N(0, 1)
        -1.918939
        """
        off, p = float(finite("mean", mean, (0,))) - self.mean, positive("precision", precision)
        gamma = self.a * math.log(self.b) - math.lgamma(self.a) + (self.a - 1.0) * math.log(p) - self.b * p
        return gamma + 0.5 * (math.log(self.rows * p) - LOG_2PI - self.rows * p * off**2)

    def predictive(self) -> Student:
        """Return the distribution of the next observation.

        >>> NormalGamma(1, rows=1, a=2, b=1).predictive()
        Student(4, mean=1, scale=1)
        """
        scale = math.sqrt(self.b * (self.rows + 1.0) / (self.a * self.rows))
        return Student(2.0 * self.a, self.mean, scale)

    def log_evidence(self, data: Any) -> float:
        """Return the log density of all these data together.

        Args:
            data: values, or their statistics.

        Raises:
            InvalidArgument: they are not finite.

        >>> prior = NormalGamma(4, rows=2, a=2, b=2)
        >>> round(prior.log_evidence([2.0]) - float(prior.predictive().log_density(2.0)), 9)
        0.0
        """
        n = moments(data, None)[0]
        after = self.posterior(data)
        found = math.lgamma(after.a) - math.lgamma(self.a) + self.a * math.log(self.b)
        return (
            found - after.a * math.log(after.b) + 0.5 * math.log(self.rows / after.rows) - 0.5 * n * LOG_2PI
        )

    # --- as the prior of a node ---

    def takes(self, cpd: Any) -> bool:
        """Whether a density has no continuous parents."""
        return bool(cpd.continuous and not any(v.continuous for v in cpd.given))

    def rows_of(self, statistics: GaussianStatistics) -> list[NormalGamma]:
        """The posterior of each row of a density."""
        s = statistics
        each = [slice(i, i + 1) for i in range(s.weight.size)]
        return [self.posterior(GaussianStatistics(s.weight[i], s.mean[i], s.scatter[i])) for i in each]

    def fitted(self, cpd: Any, statistics: Any, mode: bool) -> Any:
        """Return the density at the posterior's mean of mean and precision, or at its mode."""
        found = self.rows_of(statistics)
        precision = [row.mode[1] if mode else row.precision for row in found]
        n = len(found)
        mean = np.array([[row.mean] for row in found])
        return cpd.fitted(GaussianStatistics(np.ones(n), mean, 1.0 / np.array(precision).reshape(n, 1, 1)))

    def log_prior(self, cpd: Any) -> float:
        """Return the log density of means and precisions of all rows."""
        precision = np.ravel(cpd.sd) ** -2.0
        off = np.ravel(cpd.bias) - self.mean
        logs = (self.a - 0.5) * np.log(precision) - precision * (self.b + 0.5 * self.rows * off**2)
        return float(logs.sum())

    def __repr__(self) -> str:
        return f"NormalGamma({self.mean:.12g}, rows={self.rows:.12g}, a={self.a:.12g}, b={self.b:.12g})"
