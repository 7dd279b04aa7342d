"""Prior distributions of the parameters of a hidden Markov model: one for each of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pgm.distributions import Categorical, Emission, Gaussian
from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.distributions.priors import Dirichlet, Laplace, NormalGamma, NormalWishart
from pgm.errors import InvalidArgument, shown
from pgm.variables import Variable


class EmissionPrior(Protocol):
    """A prior of an emission's parameters: fits, scores and draws them."""

    def fitted(self, emission: Any, statistics: Any) -> Any:
        """The most probable emission, given sufficient statistics of rows."""

    def log(self, emission: Any) -> float:
        """The log density of the emission's parameters, up to a constant."""

    def drawn(self, emission: Any, statistics: Any, random: np.random.Generator) -> Any:
        """An emission drawn from its posterior, given sufficient statistics of rows."""


@dataclass(frozen=True, eq=False)
class UnseenRows:
    """Pseudo-observations, as statistics added to those of the data; None: there are none."""

    statistics: Any

    def fitted(self, emission: Any, statistics: Any) -> Any:
        """The most likely emission for all rows."""
        return emission.fitted(statistics, self.statistics)

    def log(self, emission: Any) -> float:
        """The log density of the pseudo-observations."""
        return 0.0 if self.statistics is None else float(emission.expected_log(self.statistics))

    def drawn(self, emission: Any, statistics: Any, random: np.random.Generator) -> Any:
        """An emission drawn from a Dirichlet for each state: all its rows, and one of each symbol."""
        if not isinstance(emission, Categorical):
            kind = type(emission).__name__
            wanted = (
                'Give prior={"emission": pgm.priors.NormalWishart(...)}, or NormalGamma(...).'
                if isinstance(emission, Gaussian)
                else "Those of Categorical and Gaussian have."
            )
            raise InvalidArgument(f"The parameters of a {kind} have no posterior to draw from. {wanted}")
        counts = statistics if self.statistics is None else statistics + self.statistics
        return emission.with_parameters([drawn_rows(counts + 1.0, random)])


@dataclass(frozen=True, eq=False)
class NormalRows:
    """Normal-Wishart distributions of each state; for diagonal covariances, normal-gamma ones of each entry.

    The log density of mean m and precision P is, up to a constant, strength / 2 log|P| - tr(inverse P) / 2
    - rows / 2 (m - mean)' P (m - mean): the log-likelihood of `rows` normal rows if `strength` were `rows`.
    """

    mean: np.ndarray  # (k, d)
    rows: np.ndarray  # (k,)
    strength: np.ndarray  # (k,)
    inverse: np.ndarray  # (k, d, d)
    diagonal: bool

    def _after(self, s: GaussianStatistics) -> NormalRows:
        rows = self.rows + s.weight
        off = s.mean - self.mean
        spread = (self.rows * s.weight / rows)[:, None, None] * off[:, :, None] * off[:, None, :]
        inverse = self.inverse + s.scatter + spread
        if self.diagonal:
            inverse = inverse * np.eye(off.shape[1])
        mean = self.mean + (s.weight / rows)[:, None] * off
        return NormalRows(mean, rows, self.strength + s.weight, inverse, self.diagonal)

    def fitted(self, emission: Any, statistics: GaussianStatistics) -> Any:
        """The means and covariances at which the density of mean and precision is highest."""
        after = self._after(statistics)
        return emission.with_parameters([after.mean, after.inverse / after.strength[:, None, None]])

    def log(self, emission: Any) -> float:
        """The log density of means and precisions."""
        mean, covariance = emission.parameters()
        off = mean - self.mean
        spread = self.inverse + self.rows[:, None, None] * off[:, :, None] * off[:, None, :]
        traces = np.trace(np.linalg.solve(covariance, spread), axis1=1, axis2=2)
        return float(-0.5 * (self.strength * np.linalg.slogdet(covariance)[1] + traces).sum())

    def drawn(self, emission: Any, statistics: GaussianStatistics, random: np.random.Generator) -> Any:
        """Precisions from Wishart (if diagonal, gamma) distributions, and means given these."""
        after = self._after(statistics)
        k, d = after.mean.shape
        root = np.linalg.cholesky(after.inverse)
        below = np.zeros((k, d, d))  # Bartlett's factor of a Wishart matrix with unit scale
        at = np.arange(d)
        lost = np.zeros(d) if self.diagonal else at
        df = after.strength + (1.0 if self.diagonal else d)
        below[:, at, at] = np.sqrt(random.chisquare(df[:, None] - lost))
        if not self.diagonal:
            i, j = np.tril_indices(d, -1)
            below[:, i, j] = random.standard_normal((k, i.size))
        roots = root @ np.linalg.inv(below).transpose(0, 2, 1)
        noise = random.standard_normal((k, d, 1)) / np.sqrt(after.rows)[:, None, None]
        covariance = roots @ roots.transpose(0, 2, 1)
        return emission.with_parameters([after.mean + (roots @ noise)[:, :, 0], covariance])


def drawn_rows(alpha: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Rows of probabilities from Dirichlet distributions; entries whose alpha is zero stay zero.

    Small gammas are drawn as logarithms, which do not underflow: Gamma(a) is Gamma(a + 1) U^(1/a).
    """
    there = alpha > 0.0
    some = np.where(there, alpha, 1.0)
    logs = np.log(random.standard_gamma(some + 1.0)) + np.log1p(-random.random(alpha.shape)) / some
    logs = np.where(there, logs, -np.inf)
    found = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def counts_of(given: Any, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Pseudo-counts: as given, or the parameters of a Dirichlet less one."""
    if isinstance(given, Dirichlet):
        try:
            return np.broadcast_to(given.alpha, shape) - 1.0
        except ValueError:
            raise InvalidArgument(
                f"prior= of {name!r}: alpha has the shape {given.alpha.shape}, but {shape} is needed."
            ) from None
    if isinstance(given, Laplace):
        given = given.count
    if given is None:
        return np.zeros(shape)
    try:
        found = np.array(np.nan if isinstance(given, bool) else given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.shape not in ((), shape) or not np.isfinite(found).all() or (found < 0).any():
        raise InvalidArgument(
            f"prior= of {name!r} is a number, an array of shape {shape}, that is not negative, or a "
            f"pgm.priors.Dirichlet; not {shown(given)}."
        )
    return np.broadcast_to(found, shape)


def of_emission(
    given: Any, emission: Emission, states: Variable, rows: np.ndarray, counts: np.ndarray
) -> Any:
    """The prior of an emission, from what a user gave; None: there is none.

    Args:
        given: a pseudo-count, statistics, a prior, or priors for each state as a list or a dict.
        emission: the current one.
        states: the states.
        rows: what was observed.
        counts: how often each was.
    """
    k = states.card
    if isinstance(given, int | float) and not isinstance(given, bool):
        if not 0.0 <= given < np.inf:
            raise InvalidArgument(f"prior= is a number that is not negative, not {shown(given)}.")
        return UnseenRows(emission.pseudo(float(given), k, rows, counts)) if given else None
    if given is None:
        return None
    each = _of_each(given, states)
    if each is not None:
        return _normal_rows(each, emission, states)
    if isinstance(given, Dirichlet | Laplace) and not isinstance(emission, Categorical):
        raise InvalidArgument(
            f"prior= of 'emission': {given!r} is a prior of probabilities, which a "
            f"{type(emission).__name__} does not have. Name the parts: prior={{'transition': ...}}."
        )
    return UnseenRows(_statistics(given, emission.gathered(rows, np.zeros((len(rows), k)))))


def _of_each(given: Any, states: Variable) -> list[Any] | None:
    """A normal prior for each state; None if others, or none, were given."""
    if isinstance(given, NormalGamma | NormalWishart):
        return [given] * states.card
    if isinstance(given, Mapping):
        missing = [state for state in states.states if state not in given]
        if missing or len(given) != states.card:
            raise InvalidArgument(
                f"prior= of 'emission' has a prior for each of the states {list(states.states)}, not for "
                f"{list(given)}."
            )
        given = [given[state] for state in states.states]
    if not isinstance(given, list | tuple) or not any(
        isinstance(one, NormalGamma | NormalWishart) for one in given
    ):
        return None
    if len(given) != states.card or not all(isinstance(one, NormalGamma | NormalWishart) for one in given):
        raise InvalidArgument(
            f"prior= of 'emission' has a NormalGamma or a NormalWishart for each of {states.card} states, "
            f"not {shown(given)}."
        )
    return list(given)


def _normal_rows(each: list[Any], emission: Emission, states: Variable) -> NormalRows:
    if not isinstance(emission, Gaussian):
        raise InvalidArgument(
            f"prior= of 'emission': {each[0]!r} is a prior of Gaussian emissions, but this is a "
            f"{type(emission).__name__}."
        )
    d, form = emission.dim, emission.form
    if form == "tied" or (form == "spherical" and d > 1):
        raise InvalidArgument(
            f'prior= of \'emission\': a Gaussian of form="{form}" takes a number; priors go with "full" '
            'and "diagonal".'
        )
    diagonal = form == "diagonal"
    parts = []
    for state, one in zip(states.states, each, strict=True):
        gamma = isinstance(one, NormalGamma)
        if d > 1 and gamma != diagonal:
            wanted = "a NormalGamma, for each entry by itself" if diagonal else "a NormalWishart"
            raise InvalidArgument(f"prior= of 'emission': form=\"{form}\" takes {wanted}, not {one!r}.")
        if not gamma and one.mean.size != d:
            raise InvalidArgument(
                f"prior= of 'emission': {one!r} has {one.mean.size} dimensions, but the Gaussian has {d}."
            )
        if gamma:
            strength, inverse = 2.0 * one.a - 1.0, 2.0 * one.b * np.eye(d)
        else:
            strength, inverse = one.df - d, np.linalg.inv(one.scale)
        if not strength > 0.0:
            least = "a above 1/2" if gamma else f"df above {d}"
            raise InvalidArgument(
                f"prior= of 'emission': {one!r}, of state {shown(state)}, has no mode; take {least}."
            )
        parts.append((np.broadcast_to(one.mean, d), one.rows, strength, (inverse + inverse.T) / 2.0))
    mean, rows, strengths, inverses = (np.array(part) for part in zip(*parts, strict=True))
    return NormalRows(mean, rows, strengths, inverses, diagonal)


def _statistics(given: Any, example: Any) -> Any:
    """Statistics as a prior, if they have the kind and shape of the example."""
    if isinstance(example, np.ndarray):
        return counts_of(given, example.shape, "emission")
    parts = getattr(example, "__dict__", {})
    if type(given) is not type(example) or any(
        np.shape(getattr(given, name)) != np.shape(part) or not np.isfinite(getattr(given, name)).all()
        for name, part in parts.items()
    ):
        raise InvalidArgument(
            "prior= of 'emission' is a number, a prior of pgm.priors that goes with it, or what its "
            f"statistics(rows, weights) returns, with a column of weights for each state; not {shown(given)}."
        )
    return given
