"""What a query returns about continuous variables: normal distributions and mixtures of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

import numpy as np

from pgm.distributions.normal import cholesky_of_correlations, log_normal, log_peak
from pgm.errors import InvalidArgument, listed, shown
from pgm.printing import ROWS, Share, label, number
from pgm.randomness import draw_count, generator
from pgm.results.base import OfVariables, condition, pandas, put
from pgm.results.report import EXACT, Report
from pgm.variables import Variable

if TYPE_CHECKING:
    import pandas as pd

Form = Literal["normal", "mixture", "moments"]
_OF_STATES = frozenset(("bounds", "items", "keys", "states", "values"))  # of a Distribution


class Density(OfVariables):
    """The distribution of one continuous variable, or the joint one of several.

    `form` says what is known: a "normal" distribution, an exact "mixture" of normals, or only "moments":
    the exact mean and covariance of what is too large to write out, or is no mixture of normals.

    >>> from pgm.variables import Continuous
    >>> p = Density((Variable("x", Continuous()),), np.ones(1), np.array([[1.0]]), np.array([[[4.0]]]))
    >>> p.mean, p.variance, round(p.cdf(3.0), 6), round(p.quantile(0.5), 6)
    (1.0, 4.0, 0.841345, 1.0)
    """

    __slots__ = ("_covariances", "_means", "_weights", "form")
    form: Form
    _letter: ClassVar[str] = "p"
    _weights: np.ndarray  # (k,)
    _means: np.ndarray  # (k, d)
    _covariances: np.ndarray  # (k, d, d)

    def __init__(
        self,
        variables: tuple[Variable, ...],
        weights: np.ndarray,
        means: np.ndarray,
        covariances: np.ndarray,
        report: Report = EXACT,
        form: Form | None = None,
    ) -> None:
        """Take weights that sum to one, and a mean and a covariance for each; they become read-only."""
        for name, values in (("_weights", weights), ("_means", means), ("_covariances", covariances)):
            values = values.view()
            values.flags.writeable = False
            put(self, name, values)
        put(self, "variables", variables)
        put(self, "report", report)
        put(self, "form", form or ("normal" if len(weights) == 1 else "mixture"))

    # --- moments ---

    @property
    def _one(self) -> bool:
        return len(self.variables) == 1

    @property
    def mean(self) -> Any:
        """The mean: a float, or for a joint distribution an array in the order of `names`."""
        found = self._weights @ self._means
        return float(found[0]) if self._one else found

    @property
    def covariance(self) -> np.ndarray:
        """The covariance matrix, in the order of `names`."""
        off = self._means - self._weights @ self._means
        within = np.tensordot(self._weights, self._covariances, 1)
        return np.asarray(within + (self._weights[:, None] * off).T @ off)

    @property
    def variance(self) -> Any:
        """The variance, or that of each variable."""
        found = np.diag(self.covariance)
        return float(found[0]) if self._one else found.copy()

    @property
    def std(self) -> Any:
        """The standard deviation, or that of each variable."""
        found = np.sqrt(self.variance)
        return float(found) if self._one else found

    sd = std

    @property
    def components(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The weights, means and covariances of the mixture's components."""
        self._needs_density("components")
        return self._weights, self._means, self._covariances

    def expectation(self, f: Callable[..., float] | None = None) -> Any:
        """The mean; the mean of a function would need an integral, which is not computed.

        Args:
            f: leave it out; it is here because discrete distributions take one.

        Raises:
            InvalidArgument: a function is given.

        >>> from pgm.variables import Continuous
        >>> p = Density((Variable("x", Continuous()),), np.ones(1), np.array([[1.0]]), np.array([[[4.0]]]))
        >>> p.expectation()
        1.0
        """
        if f is not None:
            raise InvalidArgument(
                f"The mean of a function of {listed(self.names)} is an integral; average it over "
                "p.sample(n, seed=0), or take p.mean and p.variance."
            )
        return self.mean

    # --- density ---

    def _needs_density(self, what: str, *, one: bool = False) -> None:
        if self.form == "moments":
            if not self.report.exact:
                raise InvalidArgument(
                    f"Only mean and variance of {listed(self.names)} are known here, from a grid, and {what} "
                    f"needs the density. At a point it is net.probability({{{self.names[0]!r}: value}}, "
                    f'given=..., engine="{self.report.engine}").'
                )
            raise InvalidArgument(
                f"Only mean and variance of {listed(self.names)} are known here, and {what} needs the "
                "density. It is a mixture of too many normals to be kept for every variable at once (then "
                "ask for this variable alone, net.query), or not of normals (then ask for it at a value, "
                f"net.probability({{{self.names[0]!r}: value}}, given=...))."
            )
        if one and not self._one:
            raise InvalidArgument(
                f"{what} is of one variable; this is the joint distribution of {listed(self.names)}. Take "
                "p.marginal(name)."
            )

    def pdf(self, x: Any) -> Any:
        """The density at a value or at each element of an array; for several variables, at points.

        The last axis of points has the variables in the order of `names`; a dict {name: value} works too.
        Where a standard deviation is zero, the density is infinite at the mean.

        Args:
            x: a value, an array of values, or points.

        Raises:
            InvalidArgument: only moments are known, or the covariance is singular.

        >>> from pgm.variables import Continuous
        >>> p = Density((Variable("x", Continuous()),), np.ones(1), np.array([[1.0]]), np.array([[[4.0]]]))
        >>> round(p.pdf(1.0), 6)
        0.199471
        """
        log = self.log_pdf(x)
        return math.exp(log) if isinstance(log, float) else np.exp(log)

    def log_pdf(self, x: Any) -> Any:
        """The logarithm of the density; see `pdf`.

        Args:
            x: as for `pdf`.

        Raises:
            InvalidArgument: only moments are known, or the covariance is singular.

        >>> from pgm.variables import Continuous
        >>> p = Density((Variable("x", Continuous()),), np.ones(1), np.array([[1.0]]), np.array([[[4.0]]]))
        >>> round(p.log_pdf(1.0), 6)
        -1.612086
        """
        self._needs_density("pdf")
        points = _points(x, len(self.variables), self.names)
        logs = np.full((len(self._weights), *points.shape[:-1]), -np.inf)
        for k in np.flatnonzero(self._weights).tolist():
            log = log_normal(points - self._means[k], self._covariances[k])
            if log is None:
                raise _singular(self.names, "density")
            logs[k] = math.log(self._weights[k]) + log
        top = logs.max(axis=0)
        shift = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            found = np.where(np.isinf(top), top, shift + np.log(np.exp(logs - shift).sum(axis=0)))
        return float(found) if found.ndim == 0 else found

    def cdf(self, x: Any) -> Any:
        """P(variable <= x), for a value or each element of an array.

        Args:
            x: a value, or an array of them.

        Raises:
            InvalidArgument: only moments are known, or there are several variables.

        >>> from pgm.variables import Continuous
        >>> p = Density((Variable("x", Continuous()),), np.ones(1), np.array([[1.0]]), np.array([[[4.0]]]))
        >>> p.cdf(1.0)
        0.5
        """
        self._needs_density("cdf", one=True)
        points = _points(x, 1, self.names)[..., 0]
        found = self._below(points)
        return float(found) if found.ndim == 0 else found

    def _below(self, points: np.ndarray) -> np.ndarray:
        from scipy.special import ndtr

        sds = np.sqrt(self._covariances[:, 0, 0])
        off = points[..., None] - self._means[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(sds > 0, ndtr(off / sds), off >= 0)
        return np.asarray(parts @ self._weights)

    def quantile(self, q: Any) -> Any:
        """The smallest x with cdf(x) >= q, for a probability or each element of an array.

        Args:
            q: a probability, or an array of them.

        Raises:
            InvalidArgument: q is not from 0 to 1, only moments are known, or there are several variables.

        >>> from pgm.variables import Continuous
        >>> p = Density((Variable("x", Continuous()),), np.ones(1), np.array([[1.0]]), np.array([[[4.0]]]))
        >>> round(p.quantile(0.975), 6)
        4.919928
        """
        self._needs_density("quantile", one=True)
        wanted = np.asarray(q, dtype=np.float64)
        if not ((wanted >= 0) & (wanted <= 1)).all():
            raise InvalidArgument(f"A quantile is of a probability from 0 to 1, not {shown(q)}.")
        from scipy.special import ndtri

        means, sds = self._means[:, 0], np.sqrt(self._covariances[:, 0, 0])
        with np.errstate(invalid="ignore"):
            each = np.where(sds > 0, means + sds * ndtri(wanted)[..., None], means)
        found = each[..., 0] if len(means) == 1 else self._bisected(wanted, each)
        return float(found) if found.ndim == 0 else found

    def _bisected(self, wanted: np.ndarray, each: np.ndarray) -> np.ndarray:
        """Bisect between the quantiles of the components, to the last digit."""
        used = self._weights > 0
        low, high = each[..., used].min(axis=-1), each[..., used].max(axis=-1)
        for _ in range(2100):  # far more than the digits of two doubles; ends when nothing lies between
            middle = 0.5 * low + 0.5 * high
            open_ = (middle > low) & (middle < high)
            if not open_.any():
                break
            reached = self._below(middle) >= wanted
            high = np.where(open_ & reached, middle, high)
            low = np.where(open_ & ~reached, middle, low)
        return np.asarray(np.where(self._below(low) >= wanted, low, high))

    def mode(self) -> Any:
        """The point of highest density of a normal distribution; that of a mixture is not computed."""
        if self.form != "normal":
            raise InvalidArgument(
                f"This is a mixture of normals, whose mode has no closed form; p.mean is {self.mean!r}."
            )
        if self._one:
            return self.mean
        return dict(zip(self.names, self.mean.tolist(), strict=True))

    def entropy(self) -> float:
        """The differential entropy of a normal in nats; minus infinity if the covariance is singular.

        >>> from pgm.variables import Continuous
        >>> x = Variable("x", Continuous())
        >>> round(Density((x,), np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1))).entropy(), 6)
        1.418939
        """
        if self.form != "normal":
            raise InvalidArgument("The entropy of a mixture of normals has no closed form.")
        sign, log = np.linalg.slogdet(self._covariances[0])
        if sign <= 0:
            return -math.inf
        return float(0.5 * len(self.variables) - log_peak(len(self.variables), float(log)))

    def mutual_information(
        self, a: str | Sequence[str], b: str | Sequence[str], given: str | Sequence[str] = ()
    ) -> float:
        """The mutual information of variables of a joint normal distribution, in nats.

        For two variables with correlation r it is -log(1 - r**2) / 2 (Cover & Thomas 2006, example 8.5.1).

        Args:
            a: one of the names, or several.
            b: others.
            given: variables that are known beforehand, whatever their values.

        Raises:
            InvalidArgument: this is a mixture, for which there is no closed form; some variables are
                determined by the others, so that it is infinite or undefined; or a name is repeated.

        >>> from pgm.variables import Continuous
        >>> xy = Variable("x", Continuous()), Variable("y", Continuous())
        >>> p = Density(xy, np.ones(1), np.zeros((1, 2)), np.array([[[1.0, 0.6], [0.6, 1.0]]]))
        >>> round(p.mutual_information("x", "y"), 6)
        0.223144
        """
        sets = self._sets(a, b, given)
        if self.form != "normal":
            raise InvalidArgument("The mutual information of a mixture of normals has no closed form.")
        place = {name: i for i, name in enumerate(self.names)}

        def log_determinant(*names: str) -> float:
            """The log determinant of their correlations: the scales cancel."""
            at = [place[name] for name in names]
            found = cholesky_of_correlations(self._covariances[0][np.ix_(at, at)])
            if found is None:
                raise _singular(names, "mutual information")
            return 2.0 * float(np.log(np.diag(found[0])).sum())

        first, second, known = sets
        apart = log_determinant(*first, *known) + log_determinant(*second, *known)
        return max(0.0, 0.5 * (apart - log_determinant(*first, *second, *known) - log_determinant(*known)))

    def sample(self, n: int, *, seed: int | np.random.Generator | None = None) -> np.ndarray:
        """Draw n values, or n rows with the variables in the order of `names`.

        Args:
            n: the number of draws.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: only moments are known; n or seed is not a whole number of at least 0.

        >>> from pgm.variables import Continuous
        >>> p = Density((Variable("x", Continuous()),), np.ones(1), np.array([[1.0]]), np.array([[[4.0]]]))
        >>> p.sample(3, seed=0).shape
        (3,)
        """
        self._needs_density("sample")
        rng, n = generator(seed), draw_count(n)
        chosen = rng.choice(len(self._weights), size=n, p=self._weights / self._weights.sum())
        noise = rng.standard_normal((n, len(self.variables)))
        found = self._means[chosen]
        for k in np.unique(chosen).tolist():
            values, vectors = np.linalg.eigh(self._covariances[k])
            found[chosen == k] += noise[chosen == k] @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        return np.asarray(found[:, 0] if self._one else found)

    def marginal(self, names: str | Sequence[str]) -> Density:
        """The distribution of some of the variables, in the order asked.

        Args:
            names: one name, or a list of names in the order wanted.

        Raises:
            UnknownVariable: a name is not one of the variables.
            InvalidArgument: no name is given.

        >>> from pgm.variables import Continuous
        >>> xy = Variable("x", Continuous()), Variable("y", Continuous())
        >>> p = Density(xy, np.ones(1), np.array([[1.0, 2.0]]), np.array([[[1.0, 0.6], [0.6, 1.0]]]))
        >>> p.marginal("y").mean
        2.0
        """
        at = self._kept(names)
        variables = tuple(self.variables[i] for i in at)
        covariances = self._covariances[:, at][:, :, at]
        return Density(variables, self._weights, self._means[:, at], covariances, self.report, self.form)

    def __len__(self) -> int:
        """The number of variables."""
        return len(self.variables)

    def __getattr__(self, name: str) -> NoReturn:
        """Name the alternative to what only discrete distributions have."""
        instead = ": see .mean, .variance, .pdf(x) and .quantile(q)" if name in _OF_STATES else ""
        raise AttributeError(f"a Density has no .{name}{instead}", name=name, obj=self)

    def only_moments(self, report: Report) -> Density:
        """The same mean and covariance, of an unknown density.

        Args:
            report: how they were found.
        """
        return Density(self.variables, self._weights, self._means, self._covariances, report, "moments")

    # --- elsewhere ---

    def to_dict(self) -> dict[Any, Any]:
        """{"mean": ..., "sd": ...}; of a joint distribution {"names", "mean", "covariance"}."""
        if self._one:
            return {"mean": self.mean, "sd": self.std}
        return {"names": self.names, "mean": self.mean.tolist(), "covariance": self.covariance.tolist()}

    def to_pandas(self) -> Any:
        """A Series of mean and standard deviation; of a joint distribution a frame with the covariances."""
        if self._one:
            series: pd.Series = pandas().Series(self.to_dict(), name=self.names[0])
            return series
        frame: Any = pandas().DataFrame(self.covariance, index=self.names, columns=self.names)
        frame.insert(0, "mean", self.mean)
        return frame

    def __eq__(self, other: object) -> bool:
        """Equal when variables, weights, means and covariances are."""
        if not isinstance(other, Density):
            return NotImplemented
        return (
            self.variables == other.variables
            and self.form == other.form
            and np.array_equal(self._weights, other._weights)
            and np.array_equal(self._means, other._means)
            and np.array_equal(self._covariances, other._covariances)
        )

    def __hash__(self) -> int:
        """Hash of the variables and means."""
        return hash((self.variables, (self._means + 0.0).tobytes()))

    def _parts(self) -> tuple[object, ...]:
        return self.variables, self._weights, self._means, self._covariances, self.report, self.form

    # --- in print ---

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        notes = []
        k = len(self._weights)
        if self.form == "moments":
            exact = " (they are exact)" if self.report.exact else ""
            notes.append(f"only these moments are known{exact}")
        elif k > 1:
            notes.append(f"a mixture of {k:,} normals")
        if not self._one:
            header, rows = self._covariance_table()
        elif self.form == "mixture":
            header = [self.title, "mean", "sd"]
            order = np.argsort(-self._weights, kind="stable")[: ROWS - 1]
            sds = np.sqrt(self._covariances[:, 0, 0])
            rows = [["all", digits(self.mean), digits(self.std)]]
            rows += [
                [
                    Share(self._weights[i], f"p = {number(self._weights[i])}"),
                    digits(self._means[i, 0]),
                    digits(sds[i]),
                ]
                for i in order
            ]
            if k >= ROWS:
                notes.append(f"... {k - len(order):,} more of {k:,} components")
        else:
            header = ["variable", "mean", "sd"]
            rows = [[label(self.names[0]), digits(self.mean), digits(self.std)]]
        if self.report.given and header[0] != self.title:
            notes.append(f"given {condition(self.report.given)}")
        if not self.report.exact:
            notes.append(self.report.summary)
        return header, rows, "\n".join(notes)

    def _covariance_table(self) -> tuple[list[str], list[list[str]]]:
        mean, covariance = self.mean, self.covariance
        some = list(self.names[:10])
        more = ["..."] if len(self.names) > 10 else []
        rows = [
            [label(name), digits(mean[i]), *map(digits, covariance[i, :10]), *more]
            for i, name in enumerate(self.names[:ROWS])
        ]
        return ["variable", "mean", *(f"cov {label(name)}" for name in some), *more], rows


def as_density(
    variables: tuple[Variable, ...],
    weights: np.ndarray,
    means: np.ndarray,
    covariances: np.ndarray,
    report: Report,
    form: Form | None = None,
) -> Density:
    """A mixture as a result; identical components become a single one."""
    if len(weights) > 1 and (means == means[0]).all() and (covariances == covariances[0]).all():
        weights, means, covariances = np.ones(1), means[:1], covariances[:1]
    return Density(variables, weights, means, covariances, report, form)


def digits(value: float) -> str:
    """A value in print."""
    return f"{value:.6g}"


def _points(x: Any, dim: int, names: tuple[str, ...]) -> np.ndarray:
    """Values as points: the last axis has the variables."""
    if isinstance(x, Mapping):
        if set(x) != set(names):
            raise InvalidArgument(f"A point has a value for each of {listed(names)}, not {shown(x)}.")
        x = np.stack([np.asarray(x[name], dtype=np.float64) for name in names], axis=-1)
        return np.asarray(x)
    try:
        points = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidArgument(f"{listed(names)}: a number is expected, not {shown(x)}.") from None
    if dim == 1:
        return points[..., None]
    if points.ndim == 0 or points.shape[-1] != dim:
        raise InvalidArgument(f"A point has {dim} values, one for each of {listed(names)}, not {shown(x)}.")
    return points


def _singular(names: Sequence[str], what: str) -> InvalidArgument:
    return InvalidArgument(
        f"The joint distribution of {listed(names)} has no {what}: its covariance is singular, because some "
        "of them are determined by the others. Leave those out."
    )
