"""Distributions over probabilities: Dirichlet, and Beta for two states (Gelman & al. 2013, 3.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.randomness import draw_count, generator

from .checks import finite
from .pseudo_counts import PseudoCounts, positive, short, tail_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Dirichlet(PseudoCounts):
    """A distribution over probabilities: density proportional to the product of p_i ** (alpha_i - 1).

    As a prior, alpha are pseudo-counts: the posterior adds the observed counts to them.

    Args:
        alpha: values greater than 0, one for each state; with more axes, one distribution for each row of a
            table. A single value, as `prior=` of a table, is used for every entry.

    Raises:
        InvalidArgument: values that are not greater than 0.

    >>> belief = Dirichlet([1, 1, 1]).posterior([3, 1, 0])
    >>> belief, belief.mean.round(6).tolist()
    (Dirichlet([4, 2, 1]), [0.571429, 0.285714, 0.142857])
    >>> round(Dirichlet([1, 1, 1]).log_evidence([3, 1, 0]), 6)
    -4.094345
    """

    kind = "dirichlet"
    fields: ClassVar[tuple[str, ...]] = ("alpha",)

    def __init__(self, alpha: Any) -> None:
        """Take values greater than 0."""
        self.alpha = finite("alpha=", alpha, tuple(range(65)))
        if self.alpha.size == 0 or not (self.alpha > 0.0).all():
            raise InvalidArgument(f"alpha= has numbers greater than 0, not {shown(alpha)}.")
        self.alpha.flags.writeable = False

    def pseudo(self, node: str, cpd: Any) -> Any:
        """Return alpha in the shape of a table."""
        if not cpd.tabular:
            return None
        try:
            return np.broadcast_to(self.alpha, cpd.values.shape).astype(np.float64)
        except ValueError:
            raise InvalidArgument(
                f"prior= of {node!r}: alpha has the shape {self.alpha.shape}, but its table has "
                f"{cpd.values.shape}."
            ) from None

    def _several(self) -> np.ndarray:
        if self.alpha.ndim == 0:
            raise InvalidArgument("A Dirichlet with one value for all states leaves open how many there are.")
        return self.alpha

    def posterior(self, counts: Any) -> Dirichlet:
        """Return the posterior given these counts.

        Args:
            counts: how often each state occurred, in the shape of alpha.

        Raises:
            InvalidArgument: values that are negative, or of another shape.

        >>> Dirichlet([1, 1]).posterior([2, 0]).posterior([1, 4]) == Dirichlet([1, 1]).posterior([3, 4])
        True
        """
        return Dirichlet(self.alpha + self._counts(counts))

    def _counts(self, counts: Any) -> np.ndarray:
        found = finite("counts", counts, tuple(range(65)))
        if (found < 0.0).any() or (self.alpha.ndim and found.shape != self.alpha.shape):
            raise InvalidArgument(
                f"Counts are not negative, and of shape {self.alpha.shape}, not {shown(counts)}."
            )
        return found

    @property
    def mean(self) -> np.ndarray:
        """The expected probabilities: those of the next observation."""
        return np.asarray(self._several() / self.alpha.sum(axis=-1, keepdims=True))

    @property
    def mode(self) -> np.ndarray:
        """The most probable probabilities; every alpha must be at least 1, and one greater."""
        less = self._several() - 1.0
        if (less < 0.0).any() or not (less.sum(axis=-1) > 0.0).all():
            raise InvalidArgument(
                f"{self!r} has no single mode: alpha must be at least 1, and one entry greater."
            )
        return np.asarray(less / less.sum(axis=-1, keepdims=True))

    @property
    def variance(self) -> np.ndarray:
        """The variance of each probability."""
        total = self._several().sum(axis=-1, keepdims=True)
        return np.asarray(self.alpha * (total - self.alpha) / (total**2 * (total + 1.0)))

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the credible interval of each probability, with equal tails.

        Args:
            level: the probability that lies inside.

        Raises:
            InvalidArgument: the level is not between 0 and 1.

        >>> low, high = Dirichlet([1, 1]).interval(0.9)
        >>> low.round(6).tolist(), high.round(6).tolist()
        ([0.05, 0.05], [0.95, 0.95])
        """
        from scipy.special import betaincinv

        tail, rest = tail_of(level), self._several().sum(axis=-1, keepdims=True) - self.alpha
        return betaincinv(self.alpha, rest, tail), betaincinv(self.alpha, rest, 1.0 - tail)

    def predictive(self) -> np.ndarray:
        """Return the probabilities of the next observation.

        >>> Dirichlet([4, 2, 2]).predictive().tolist()
        [0.5, 0.25, 0.25]
        """
        return self.mean

    def log_evidence(self, counts: Any) -> float:
        """Return the log-probability of observations with these counts, in one order of them.

        Args:
            counts: how often each state occurred.

        Raises:
            InvalidArgument: values that are negative, or of another shape.

        >>> tosses = Dirichlet([1, 1]).log_evidence([5, 5])  # in an order; a fair coin: 2 ** -10
        >>> round(float(np.exp(tosses)) * 2**10, 6)  # the Bayes factor
        0.369408
        """
        from scipy.special import gammaln

        n, a = self._counts(counts), self._several()
        total = gammaln(a.sum(axis=-1)) - gammaln((a + n).sum(axis=-1))
        return float((total + (gammaln(a + n) - gammaln(a)).sum(axis=-1)).sum())

    def log_density(self, p: Any) -> Any:
        """Return the log density at these probabilities.

        Args:
            p: probabilities that sum to one, along the last axis.

        Raises:
            InvalidArgument: they are not finite.

        >>> float(Dirichlet([1, 1]).log_density([0.3, 0.7]))
        0.0
        """
        from scipy.special import gammaln, xlogy

        a, x = self._several(), finite("p", p, tuple(range(1, 65)))
        return gammaln(a.sum(axis=-1)) - gammaln(a).sum(axis=-1) + xlogy(a - 1.0, x).sum(axis=-1)

    def sample(self, n: int, *, seed: Any = None) -> np.ndarray:
        """Draw probabilities: an array with one more axis, of length n, in front.

        Args:
            n: how many.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: n or seed is not a whole number of at least 0.

        >>> Dirichlet([1, 2]).sample(3, seed=0).shape
        (3, 2)
        """
        drawn = generator(seed).standard_gamma(self._several(), size=(draw_count(n), *self.alpha.shape))
        return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))

    def plot(self, ax: Axes | None = None, *, figsize: Any = None, title: str | None = None) -> Axes:
        """Draw the density of each probability; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title; left out, it says what is shown.
        """
        from scipy.stats import beta

        from pgm import plot

        a = self._several().reshape(-1, self.alpha.shape[-1])
        grid = np.linspace(0.0, 1.0, 401)[1:-1]
        curves = {
            f"p[{i}]": beta.pdf(grid, row[i], row.sum() - row[i]) for row in a[:1] for i in range(row.size)
        }
        return plot.densities(
            grid, curves, "probability", ax, figsize=figsize, title=repr(self) if title is None else title
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({short(self.alpha)})"


class Beta(Dirichlet):
    """A distribution over the probability of True: a Dirichlet of two states.

    Args:
        a: the pseudo-count of True.
        b: the pseudo-count of False.

    Raises:
        InvalidArgument: they are not greater than 0.

    >>> belief = Beta(1, 1).posterior([7, 3])  # counts of False and True, as everywhere
    >>> belief, round(float(belief.mean[1]), 6), float(belief.mode[1].round(6))
    (Beta(4, 8), 0.333333, 0.3)
    """

    kind = "beta"
    fields = ("a", "b")

    def __init__(self, a: float, b: float) -> None:
        """Take two values greater than 0."""
        super().__init__([positive("b", b), positive("a", a)])

    @property
    def a(self) -> float:
        """The pseudo-count of True."""
        return float(self.alpha[1])

    @property
    def b(self) -> float:
        """The pseudo-count of False."""
        return float(self.alpha[0])

    def posterior(self, counts: Any) -> Beta:
        """Return the posterior after these counts of False and True.

        >>> Beta(1, 1).posterior([0, 2])
        Beta(3, 1)
        """
        b, a = (self.alpha + self._counts(counts)).tolist()
        return Beta(a, b)

    def __repr__(self) -> str:
        return f"Beta({self.a:g}, {self.b:g})"
