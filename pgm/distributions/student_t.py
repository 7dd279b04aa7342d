"""Student's t distribution as an emission: like a normal one, with heavy tails that allow for outliers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pgm.errors import InvalidArgument, shown

from .checks import finite
from .emission import Observed, kept_where_empty
from .gaussian import Gaussian
from .gaussian_statistics import GaussianStatistics, near_centres, patterns
from .normal import are_covariances, cholesky_of_correlations
from .of_states import StateDistribution, width
from .parts import Part

_MOST_DF = 1e6  # degrees of freedom; with so many, no row tells it from a normal distribution
_LEAST_DF = 1e-2


@dataclass(frozen=True, eq=False)
class StudentStatistics:
    """Statistics of EM, in which a row counts less the farther it is off; `+` adds those of other rows."""

    normal: GaussianStatistics  # of rows, each with its weight u
    count: np.ndarray  # (k,) of rows
    logs: np.ndarray  # (k,) sums of E[log u - u]

    def __add__(self, other: StudentStatistics) -> StudentStatistics:
        """The statistics of all rows."""
        return StudentStatistics(self.normal + other.normal, self.count + other.count, self.logs + other.logs)


class StudentT(StateDistribution):
    """Student's t distribution, robust to outliers: a normal whose scale is drawn for each row.

    With one more axis it holds a distribution for each of several states, as for emissions. Missing entries
    of a row are integrated out. `statistics` and `fitted` are one step of EM; `fit` takes as many as it
    needs.

    Args:
        mean: a float, or one for each dimension; with an axis before it, for each state. If left out, yet to
            be fitted.
        scale: for a univariate distribution, what the standard deviation is for a normal one.
        covariance: instead of `scale`, for several dimensions: a matrix, or one for each state.
        df: the degrees of freedom from which learning starts; or one for each state. Many are nearly normal.
        dim: the number of dimensions, instead of parameters.
        fixed_df: whether learning leaves the degrees of freedom as they are.

    >>> StudentT(0.0, 1.0, df=1.0).log_density([0.0, 1.0]).round(6).tolist()
    [-1.14473, -1.837877]
    """

    __slots__ = ("begin", "fixed_df")
    kind, label = "student-t", "Student's t"

    begin: float  # the degrees of freedom from which learning starts without parameters
    fixed_df: bool

    def __init__(
        self,
        mean: Any = None,
        scale: Any = None,
        *,
        covariance: Any = None,
        df: Any = 10.0,
        dim: int | None = None,
        fixed_df: bool = False,
    ) -> None:
        degrees = finite("df=", df, (0, 1))
        if degrees.size == 0 or (degrees < _LEAST_DF).any() or (degrees > _MOST_DF).any():
            raise InvalidArgument(
                f"df= is from {_LEAST_DF:g} to {_MOST_DF:g} degrees of freedom, not {shown(df)}."
            )
        object.__setattr__(self, "fixed_df", bool(fixed_df))
        object.__setattr__(self, "begin", float(degrees.flat[0]))
        if mean is None:
            if scale is not None or covariance is not None:
                raise InvalidArgument("A StudentT needs a mean with its scale= or covariance=.")
            self._fill(None, width(dim), None, dim is not None and dim > 1)
            return
        if (scale is None) == (covariance is None):
            raise InvalidArgument(
                "A StudentT has scale= (univariate) or covariance= (multivariate): give one of the two."
            )
        like = Gaussian(mean, scale) if covariance is None else Gaussian(mean, covariance=covariance)
        means, matrices = like.normals()
        if not are_covariances(matrices):
            what = "scale=" if covariance is None else "covariance="
            raise InvalidArgument(f"{what} is singular: there is no density.")
        if degrees.size not in (1, len(means)):
            raise InvalidArgument(
                f"df= has {degrees.size} values for {len(means)} state{'s' * (len(means) > 1)}."
            )
        if dim not in (None, like.dim):
            raise InvalidArgument(f"dim={shown(dim)} does not match a mean of {like.dim} dimensions.")
        parameters = {"mean": means, "covariance": matrices, "df": np.resize(degrees, len(means))}
        self._fill(parameters, like.dim, like.n_states, like.vector)

    def _with(self, parameters: Mapping[str, np.ndarray]) -> Self:
        made = super()._with(parameters)
        object.__setattr__(made, "begin", float(parameters["df"][0]))
        return made

    @property
    def mean(self) -> Any:
        """The centre, as it was given; it is the mean where there is more than one degree of freedom."""
        found = self._known["mean"]
        return self._shaped(found if self._vector else found[:, 0])

    @property
    def covariance(self) -> Any:
        """The scale matrix; the covariance is df / (df - 2) times as large."""
        return self._shaped(self._known["covariance"])

    @property
    def scale(self) -> Any:
        """The scale of each dimension."""
        found = np.sqrt(np.einsum("kii->ki", self._known["covariance"]))
        return self._shaped(found if self._vector else found[:, 0])

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self._shaped(self._known["df"])

    def _fit_rows(self, rows: np.ndarray, weights: np.ndarray) -> Self:
        made, last = self, -np.inf
        for _ in range(1000):
            made = made.fitted(made.gathered(rows, weights))
            if made.collapsed(rows) is not None:
                raise InvalidArgument("The scale collapsed: most rows are the same, or lie on one line.")
            now = float((weights * made.log_rows(rows)).sum())
            if now - last <= 1e-10 * (1.0 + abs(now)):
                break
            last = now
        return made

    # --- as an emission ---

    def _distances(self, rows: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Squared distances from each centre by these entries, (rows, states), and half log determinants."""
        known = self._known
        means, matrices = known["mean"][:, seen], known["covariance"][:, seen[:, None], seen]
        squares, halves = np.empty((len(rows), len(means))), np.empty(len(means))
        for k, matrix in enumerate(matrices):
            found = cholesky_of_correlations(matrix)
            if found is None:
                raise InvalidArgument(f"The covariance of state {k} is singular: there is no density.")
            factor, scale = found
            solved = np.linalg.solve(factor, ((rows - means[k]) / scale).T)
            squares[:, k] = (solved**2).sum(axis=0)
            halves[k] = np.log(np.diag(factor)).sum() + np.log(scale).sum()
        return squares, halves

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log density of each row, a column for each state, of the entries that are not NaN."""
        from scipy.special import gammaln

        df = self._known["df"]
        found = np.zeros((len(rows), len(df)))
        for at, seen in patterns(rows):
            d = seen.size
            if d:
                squares, halves = self._distances(rows[np.ix_(at, seen)], seen)
                peak = gammaln((df + d) / 2) - gammaln(df / 2) - 0.5 * d * np.log(df * np.pi) - halves
                found[at] = peak - 0.5 * (df + d) * np.log1p(squares / df)
        return found

    def gathered(self, rows: np.ndarray, weights: np.ndarray) -> StudentStatistics:
        """Sufficient statistics of weighted rows: distant ones count less, missing entries are expected."""
        from scipy.special import digamma

        k = weights.shape[1]
        total = np.zeros(k)
        logs = np.zeros(k)
        normal = GaussianStatistics(total, np.zeros((k, self.dim)), np.zeros((k, self.dim, self.dim)))
        if self._parameters is None:
            plain = Gaussian(dim=self.dim)
            there = ~np.isnan(rows).any(axis=1)
            sums = plain.gathered(rows[there], weights[there])
            return StudentStatistics(sums, sums.weight, np.full(k, np.nan))
        known = self._known
        df = known["df"]
        for at, seen in patterns(rows):
            d = seen.size
            if d == 0:
                continue
            some, shares = rows[np.ix_(at, seen)], weights[at]
            squares, _ = self._distances(some, seen)
            u = (df + d) / (df + squares)
            missing = np.setdiff1d(np.arange(self.dim), seen)
            for s in range(k):
                filled, left = np.empty((len(at), self.dim)), np.zeros((self.dim, self.dim))
                filled[:, seen] = some
                mean, matrix = known["mean"][s], known["covariance"][s]
                gain = np.linalg.solve(matrix[np.ix_(seen, seen)], matrix[np.ix_(seen, missing)]).T
                filled[:, missing] = mean[missing] + (some - mean[seen]) @ gain.T
                left[np.ix_(missing, missing)] = (
                    matrix[np.ix_(missing, missing)] - gain @ matrix[np.ix_(seen, missing)]
                )
                one = Gaussian(dim=self.dim).gathered(filled, (shares[:, s] * u[:, s])[:, None])
                pad = np.zeros(k)
                pad[s] = 1.0
                normal = normal + GaussianStatistics(
                    pad * one.weight,
                    pad[:, None] * one.mean,
                    pad[:, None, None] * (one.scatter + shares[:, s].sum() * (left + left.T) / 2),
                )
            total = total + shares.sum(axis=0)
            expected = digamma((df + d) / 2) - np.log((df + squares) / 2)
            logs = logs + (shares * (expected - u)).sum(axis=0)
        return StudentStatistics(normal, total, logs)

    def fitted(self, statistics: StudentStatistics, prior: StudentStatistics | None = None) -> Self:
        """Return the distribution that one step of EM leads to (Liu & Rubin 1995)."""
        statistics = statistics if prior is None else statistics + prior
        normal, count = statistics.normal, statistics.count
        own = None if self._parameters is None else len(self._parameters["mean"])
        empty = kept_where_empty(count, own, "StudentT")
        weight = np.where(empty, 1.0, count)
        mean, matrices = normal.mean, normal.scatter / weight[:, None, None]
        df = np.full(len(count), self.begin)
        if self._parameters is not None and own == len(count):
            known = self._known
            df = known["df"].copy()
            mean = np.where(empty[:, None], known["mean"], mean)
            matrices = np.where(empty[:, None, None], known["covariance"], matrices)
            if not self.fixed_df:
                for s in np.flatnonzero(~empty & np.isfinite(statistics.logs)).tolist():
                    df[s] = _degrees(statistics.logs[s] / count[s])
        return self._with({"mean": mean, "covariance": matrices, "df": df})

    def n_free(self, states: np.ndarray) -> int:
        """Centre, scales, and degrees of freedom unless they are fixed."""
        d = self.dim
        return int(states.sum()) * (d + d * (d + 1) // 2 + int(not self.fixed_df))

    def _possible(self, name: str, value: np.ndarray) -> bool:
        if name == "covariance":
            return are_covariances(value)
        return name == "mean" or bool(((value >= _LEAST_DF) & (value <= _MOST_DF)).all())

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """An observation for each of these states."""
        known = self._known
        noise = Gaussian(np.zeros_like(known["mean"]), covariance=known["covariance"]).draw(states, random)
        df = known["df"][states]
        wide = np.sqrt(df / random.chisquare(df))
        drawn = known["mean"][states] + noise.reshape(states.size, -1) * wide[:, None]
        return np.asarray(drawn if self._vector else drawn[:, 0])

    def filled(self, observed: Observed, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """What was observed, and draws from these states, given the rest of a row, where it was not."""
        made, known = observed.rows.copy(), self._known
        for at, seen in patterns(observed.rows):
            missing = np.setdiff1d(np.arange(self.dim), seen)
            if not missing.size:
                continue
            squares = np.zeros((len(at), len(known["df"])))
            if seen.size:
                squares = self._distances(made[np.ix_(at, seen)], seen)[0]
            df = known["df"][states[at]]
            off = squares[np.arange(len(at)), states[at]]
            wide = np.sqrt((df + off) / random.chisquare(df + seen.size))
            middle = Gaussian(known["mean"], covariance=known["covariance"])
            drawn = middle.filled(Observed(made[at]), states[at], random).reshape(len(at), -1)
            for k in np.unique(states[at]).tolist():
                mine = states[at] == k
                matrix = known["covariance"][k]
                gain = np.linalg.solve(matrix[np.ix_(seen, seen)], matrix[np.ix_(seen, missing)]).T
                rows = at[mine]
                centre = (
                    known["mean"][k, missing] + (made[np.ix_(rows, seen)] - known["mean"][k, seen]) @ gain.T
                )
                noise = drawn[mine][:, missing] - centre
                made[np.ix_(rows, missing)] = centre + noise * wide[mine][:, None]
        return np.asarray(made if self._vector else made[:, 0])

    def collapsed(self, rows: np.ndarray) -> int | None:
        """A state whose scale is singular, or negligible relative to the spread of rows."""
        return Gaussian(self._known["mean"], covariance=self._known["covariance"]).collapsed(rows)

    def collapse(self, spread: np.ndarray) -> tuple[int, int] | None:
        """A state that has collapsed relative to the spread of rows in each entry, and the flattest entry."""
        return Gaussian(self._known["mean"], covariance=self._known["covariance"]).collapse(spread)

    def expected_log(self, statistics: StudentStatistics) -> float:
        """The log density of rows with these statistics, up to terms without parameters."""
        from scipy.special import gammaln

        known, total = self._known, 0.0
        normal = statistics.normal
        for k, (mean, matrix) in enumerate(zip(known["mean"], known["covariance"], strict=True)):
            count, off = float(statistics.count[k]), normal.mean[k] - mean
            if count > 0.0:
                scatter = normal.scatter[k] + normal.weight[k] * np.outer(off, off)
                total -= 0.5 * count * float(np.linalg.slogdet(matrix)[1])
                total -= 0.5 * float(np.trace(np.linalg.solve(matrix, scatter)))
                if np.isfinite(statistics.logs[k]):
                    half = known["df"][k] / 2
                    total += count * (half * np.log(half) - float(gammaln(half))) + half * statistics.logs[k]
        return total

    def pseudo(self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray) -> StudentStatistics:
        """This weight of rows in each state, which vary as all the data do."""
        normal = Gaussian(dim=self.dim).pseudo(weight, n_states, rows, counts)
        return StudentStatistics(normal, np.full(n_states, weight), np.full(n_states, -weight))

    def first_guess(
        self, rows: np.ndarray, counts: np.ndarray, n_states: int, random: np.random.Generator
    ) -> np.ndarray:
        """Mostly for the nearest of centres that lie far apart; rows with gaps count for none."""
        return near_centres(rows, counts, n_states, random)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each entry in each state; infinite or NaN where there are none."""
        known = self._known
        df = known["df"][:, None]
        mean = np.where(df > 1.0, known["mean"], np.nan)
        spread = np.einsum("kii->ki", known["covariance"])
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.where(df > 2.0, spread * df / (df - 2.0), np.where(df > 1.0, np.inf, np.nan))
        return mean, variance

    def below(self, x: float, entry: int) -> np.ndarray:
        """P(entry <= x) in each state."""
        from scipy.special import stdtr

        known = self._known
        scale = np.sqrt(known["covariance"][:, entry, entry])
        return np.asarray(stdtr(known["df"], (x - known["mean"][:, entry]) / scale))

    # --- in files and text ---

    def to_parts(self) -> dict[str, Any]:
        """Return centre, scales and degrees of freedom, for a file."""
        several = {"covariance": np.asarray(self.covariance).tolist()} if self._vector else {}
        one = {} if self._vector else {"variance": np.asarray(self.covariance)[..., 0, 0].tolist()}
        fixed = {"fixed_df": True} if self.fixed_df else {}
        parameters = {"mean": np.asarray(self.mean).tolist(), "df": np.asarray(self.df).tolist()}
        return {**parameters, **one, **several, **fixed}

    @classmethod
    def from_parts(cls, part: Part) -> Self:
        """Return the distribution of these parts."""
        found = part.members("Student's t", ["mean", "df"], ["variance", "covariance", "fixed_df"])
        fixed = part.at("fixed_df").truth("whether they are fixed") if "fixed_df" in found else False
        if "variance" not in found:
            return cls(found["mean"], covariance=found.get("covariance"), df=found["df"], fixed_df=fixed)
        variance = finite("variance", found["variance"], (0, 1))
        if (variance < 0).any():
            part.expected("variances, which are not negative", "variance")
        made = cls(found["mean"], np.sqrt(variance), df=found["df"], fixed_df=fixed)
        exact = np.broadcast_to(variance.reshape(-1, 1, 1), made._known["covariance"].shape)
        made._fill({**made._known, "covariance": exact}, 1, made.n_states, False)  # to the last bit
        return made

    def _options(self) -> str:
        dim = [f"dim={self.dim}"] if self._vector else []
        return ", ".join([*dim, f"df={self.begin:g}"])


def _degrees(mean_log: float) -> float:
    """The degrees of freedom that a step of EM leads to."""
    from scipy.optimize import brentq
    from scipy.special import digamma

    def slope(log: float) -> float:
        half = np.exp(log) / 2
        return float(np.log(half) + 1.0 - digamma(half) + mean_log)

    low, high = np.log(_LEAST_DF), np.log(_MOST_DF)
    if slope(high) >= 0.0:
        return _MOST_DF
    if slope(low) <= 0.0:
        return _LEAST_DF
    return float(np.exp(brentq(slope, low, high, xtol=1e-12)))
