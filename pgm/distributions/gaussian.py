"""The normal distribution, univariate or multivariate, for one state or for each of many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NoReturn, Self

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.frames import Sequences
from pgm.printing import html_table, html_text, joined, text_table
from pgm.randomness import draw_count, generator

from .checks import finite, row_weights, some
from .coordinates import covariances_at, of_covariances
from .emission import Observed, kept_where_empty
from .gaussian_statistics import FORMS, GaussianStatistics, gathered, near_centres, patterns, restricted
from .normal import NORMALS, are_covariances, cholesky_of_correlations, log_normals, log_peak
from .parts import Part

_LARGEST = 1e100  # of means and standard deviations, and one over the smallest: squares stay finite
_ROWS = 20
_COLLAPSED = 1e-7  # of the standard deviation of all rows


class Gaussian:
    """A normal distribution: univariate with `mean` and `sd`, multivariate with `mean` and `covariance`.

    With one more axis it holds a distribution for each of several states, as for emissions.

    Args:
        mean: a float, or one for each dimension; with an axis before it, for each state.
        sd: the standard deviation; 0 is allowed and means a constant.
        covariance: instead of `sd`: a matrix; with an axis before it, one for each state.
        dim: the number of dimensions, instead of parameters that are yet to be fitted.
        form: which covariances are fitted: "full", "diagonal", "spherical" (one variance for all
            dimensions), or "tied" (one matrix for all states).

    >>> height = Gaussian(1.75, sd=0.1)
    >>> round(float(height.log_density(1.75)), 6), Gaussian([0, 1], covariance=[[2, 1], [1, 2]]).dim
    (1.383647, 2)
    """

    __slots__ = ("_covariance", "_mean", "_univariate", "dim", "form", "n_states")
    kind, label = "gaussian", "Gaussian"

    _mean: np.ndarray | None  # (k, dim)
    _covariance: np.ndarray | None  # (k, dim, dim)
    _univariate: bool
    dim: int
    n_states: int | None  # None: one distribution, not one for each state
    form: str

    def __init__(
        self,
        mean: Any = None,
        sd: Any = None,
        *,
        covariance: Any = None,
        dim: int | None = None,
        form: str = "full",
    ) -> None:
        if not isinstance(form, str) or form not in FORMS:
            raise InvalidArgument(f"form= is {' or '.join(map(repr, FORMS))}, not {shown(form)}.")
        object.__setattr__(self, "form", form)
        if mean is None:
            if sd is not None or covariance is not None:
                raise InvalidArgument("A Gaussian needs a mean with its sd= or covariance=.")
            size = 1 if dim is None else dim
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                raise InvalidArgument(f"dim= is a whole number of at least 1, not {shown(dim)}.")
            self._fill(None, None, size, None, dim is None or dim == 1)
            return
        if (sd is None) == (covariance is None):
            raise InvalidArgument(
                "A Gaussian has sd= (univariate) or covariance= (multivariate): give one of the two."
            )
        if covariance is None:
            means, sds = some("mean=", mean, (0, 1)), some("sd=", sd, (0, 1))
            if (sds < 0).any():
                raise InvalidArgument(f"sd= is a standard deviation and cannot be negative: {shown(sd)}.")
            means, sds = np.broadcast_arrays(means, sds)
            check_scale("mean=", means)
            check_scale("sd=", sds, positive=True)
            states = means.size if means.ndim else None
            self._fill(means.reshape(-1, 1), (sds**2).reshape(-1, 1, 1), 1, states, True)
        else:
            matrices = finite("covariance=", covariance, (2, 3))
            size = matrices.shape[-1]
            if matrices.shape[-2] != size:
                raise InvalidArgument(
                    f"covariance= is a square matrix, not one of shape {matrices.shape[-2:]}."
                )
            means = finite("mean=", mean, (1, 2))
            if means.shape[-1] != size or means.ndim + 1 < matrices.ndim:
                raise InvalidArgument(
                    f"mean= of shape {means.shape} does not match covariance= of shape {matrices.shape}."
                )
            matrices = np.broadcast_to(matrices, (*means.shape[:-1], size, size))
            check_scale("mean=", means)
            _check_covariance(matrices)
            states = means.shape[0] if means.ndim == 2 else None
            self._fill(means.reshape(-1, size), matrices.reshape(-1, size, size), size, states, False)
        if dim is not None and not (isinstance(dim, int) and dim == self.dim):
            raise InvalidArgument(f"dim={shown(dim)} does not match a mean of {self.dim} dimensions.")

    def _fill(
        self,
        mean: np.ndarray | None,
        covariance: np.ndarray | None,
        dim: int,
        n_states: int | None,
        univariate: bool,
    ) -> None:
        parts = (("_mean", mean), ("_covariance", covariance), ("dim", dim), ("n_states", n_states))
        for name, value in (*parts, ("_univariate", univariate)):
            if isinstance(value, np.ndarray):
                value = np.array(value)
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    # --- properties ---

    @property
    def mean(self) -> Any:
        """The mean: a float or an array, as it was given."""
        return self._shaped(self._known[0] if not self._univariate else self._known[0][:, 0])

    @property
    def covariance(self) -> Any:
        """The covariance matrix, or one for each state."""
        return self._shaped(self._known[1])

    @property
    def sd(self) -> Any:
        """The standard deviation, of each dimension if there are several."""
        found = np.sqrt(np.einsum("kii->ki", self._known[1]))
        return self._shaped(found[:, 0] if self._univariate else found)

    def _shaped(self, values: np.ndarray) -> Any:
        found = values if self.n_states is not None else values[0]
        return float(found) if np.ndim(found) == 0 else found

    @property
    def _known(self) -> tuple[np.ndarray, np.ndarray]:
        if self._mean is None or self._covariance is None:
            raise InvalidArgument("This Gaussian has no parameters yet: `fit` gives it some.")
        return self._mean, self._covariance

    # --- methods ---

    def log_density(self, x: Any) -> np.ndarray:
        """Return the log density of each row of `x`, a column for each state if there are several.

        Args:
            x: a value, or an array of them; with several dimensions, rows.

        Raises:
            InvalidArgument: a value is not a finite number, or has the wrong dimension.

        >>> Gaussian([0.0, 3.0], sd=1.0).log_density([0.0, 3.0]).round(6)
        array([[-0.918939, -5.418939],
               [-5.418939, -0.918939]])
        """
        rows, lone = self._rows(x)
        found = self.log_rows(rows)
        found = found if self.n_states is not None else found[:, 0]
        return np.asarray(found[0] if lone else found)

    def sample(
        self, n: int, *, seed: int | np.random.Generator | None = None, state: int | None = None
    ) -> np.ndarray:
        """Draw n values; with several states, from the distribution of one of them.

        Args:
            n: how many.
            seed: a whole number, or a numpy Generator.
            state: which of several distributions to draw from; only where there are several.

        Raises:
            InvalidArgument: `state` is missing, or given where there is only one distribution; n or seed is
                not a whole number of at least 0.

        >>> Gaussian(10.0, sd=0.0).sample(3, seed=0)
        array([10., 10., 10.])
        """
        if (state is None) != (self.n_states is None):
            raise InvalidArgument(
                "Give state= where there are several distributions to draw from, and only there."
            )
        means, covariances = self._known
        k = 0 if state is None else state
        values, vectors = np.linalg.eigh(covariances[k])
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        drawn = means[k] + generator(seed).standard_normal((draw_count(n), self.dim)) @ root.T
        return np.asarray(drawn[:, 0] if self._univariate else drawn)

    def statistics(self, x: Any, weights: Any = None) -> GaussianStatistics:
        """Return the sufficient statistics of the rows; with a column of weights per state, for each state.

        Args:
            x: a value, or an array of them; with several dimensions, rows.
            weights: one for each row; or a column for each state.

        Raises:
            InvalidArgument: a value is not a finite number, or has the wrong dimension, or weights are
                negative or too few.

        >>> found = Gaussian().statistics([1.0, 2.0, 6.0])
        >>> found.weight.tolist(), found.mean.tolist()
        ([3.0], [[3.0]])
        """
        rows, _ = self._rows(x)
        return self.gathered(rows, row_weights(weights, rows.shape[0]))

    def fit(self, x: Any, weights: Any = None) -> Self:
        """Return the maximum-likelihood Gaussian for these rows.

        Args:
            x: a value, or an array of them; with several dimensions, rows.
            weights: as for `statistics`.

        Raises:
            InvalidArgument: no row has any weight, or a value is not a finite number, or has the wrong
                dimension.

        >>> Gaussian().fit([1.0, 2.0, 3.0, 6.0])
        Gaussian(3, sd=1.87083)
        """
        return self.fitted(self.statistics(x, weights))

    def fitted(self, statistics: GaussianStatistics, prior: GaussianStatistics | None = None) -> Self:
        """Return the maximum-likelihood Gaussian for rows with these sufficient statistics.

        Args:
            statistics: what `statistics` returned, or a sum of several such results.
            prior: statistics of rows that were never seen, counted with the others.

        Raises:
            InvalidArgument: no row has any weight. Of several states, one without weight keeps its own.

        >>> one = Gaussian()
        >>> one.fitted(one.statistics([1.0, 2.0, 3.0, 6.0]))
        Gaussian(3, sd=1.87083)
        """
        statistics = statistics if prior is None else statistics + prior
        own = None if self._mean is None else len(self._mean)
        empty = kept_where_empty(statistics.weight, own, "Gaussian")
        mean, covariance = statistics.mean, restricted(statistics.scatter, statistics.weight, self.form)
        if self._mean is not None and self._covariance is not None and empty.any():
            mean = np.where(empty[:, None], self._mean, mean)
            if self.form != "tied":
                covariance = np.where(empty[:, None, None], self._covariance, covariance)
        return self._of(mean, covariance)

    def _of(self, mean: np.ndarray, covariance: np.ndarray) -> Self:
        """The same with other parameters, with as many states as these have."""
        made = self.__new__(type(self))
        object.__setattr__(made, "form", self.form)
        states = len(mean) if self.n_states is not None or len(mean) > 1 else None
        made._fill(mean, covariance, self.dim, states, self._univariate)
        return made

    # --- as an emission ---

    @property
    def vector(self) -> bool:
        """Whether an observation has several entries, not a single value."""
        return not self._univariate

    @property
    def has_parameters(self) -> bool:
        """Whether there are means and covariances; else they are yet to be fitted."""
        return self._mean is not None

    def parameters(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariances."""
        return self._known

    def with_parameters(self, values: Sequence[np.ndarray]) -> Self | None:
        """The same distribution with other parameters; None if these are impossible."""
        mean, covariance = values
        return self._of(mean, covariance) if are_covariances(covariance) else None

    def coordinates(self) -> np.ndarray:
        """The parameters, unconstrained."""
        mean, covariance = self._known
        return np.concatenate([mean.reshape(-1), of_covariances(covariance, self.form)])

    def at(self, coordinates: np.ndarray) -> Self:
        """The same distribution with the parameters at these coordinates."""
        mean, covariance = self._known
        spread = covariances_at(coordinates[mean.size :], self.form, covariance.shape)
        return self._of(coordinates[: mean.size].reshape(mean.shape), spread)

    def n_free(self, states: np.ndarray) -> int:
        """The number of free parameters, by the form of the covariances."""
        k, d = int(states.sum()), self.dim
        full = d * (d + 1) // 2
        more = {"full": k * full, "diagonal": k * d, "spherical": k, "tied": full if k else 0}
        return k * d + more[self.form]

    @property
    def domain(self) -> None:
        """It emits no symbols."""

    def normals(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the covariance of each state."""
        return self._known

    def read(self, sequences: Sequences) -> Observed:
        """Read rows of values, NaN where not observed."""
        return Observed(sequences.floats(self.dim, flat=self._univariate))

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log density of each row, a column for each state, of the entries that are not NaN."""
        means, covariances = self._known
        found = log_normals(rows, means, covariances)
        if isinstance(found, int):
            state = "" if self.n_states is None else f" of state {found}"
            raise InvalidArgument(
                f"The covariance{state} is singular: there is no density. Leave out the dimensions "
                "that follow from the others."
            )
        return found

    def gathered(self, rows: np.ndarray, weights: np.ndarray) -> GaussianStatistics:
        """Sufficient statistics of weighted rows; missing entries are expected given the rest."""
        alone = self.form in ("diagonal", "spherical")
        return gathered(rows, weights, self._mean, self._covariance, alone)

    def filled(self, observed: Observed, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """What was observed, and draws from these states, given the rest of a row, where it was not."""
        made = observed.rows.copy()
        means, covariances = self._known
        for at, seen in patterns(made):
            missing = np.setdiff1d(np.arange(self.dim), seen)
            for k in np.unique(states[at]).tolist() if missing.size else []:
                mine = at[states[at] == k]
                cov = covariances[k]
                gain = np.linalg.solve(cov[np.ix_(seen, seen)], cov[np.ix_(seen, missing)]).T
                left = cov[np.ix_(missing, missing)] - gain @ cov[np.ix_(seen, missing)]
                values, vectors = np.linalg.eigh((left + left.T) / 2)
                root = vectors * np.sqrt(np.maximum(values, 0.0))
                noise = random.standard_normal((mine.size, missing.size)) @ root.T
                off = made[np.ix_(mine, seen)] - means[k, seen]
                made[np.ix_(mine, missing)] = means[k, missing] + off @ gain.T + noise
        return np.asarray(made[:, 0] if self._univariate else made)

    def collapsed(self, rows: np.ndarray) -> int | None:
        """A state whose covariance is singular, or negligible relative to the spread of rows."""
        spread = np.empty(self.dim)
        NORMALS.spreads(np.ascontiguousarray(rows).reshape(-1), self.dim, spread)
        found = self.collapse(spread)
        return None if found is None else found[0]

    def collapse(self, spread: np.ndarray) -> tuple[int, int] | None:
        """A state that has collapsed relative to the spread of rows in each entry, and the flattest entry."""
        for k, covariance in enumerate(self._known[1]):
            sd = np.sqrt(np.diag(covariance))
            small = sd <= _COLLAPSED * spread
            if small.any():
                return k, int(small.argmax())
            if cholesky_of_correlations(covariance) is None:
                flat = np.linalg.eigh(covariance / np.outer(sd, sd))[1][:, 0]
                return k, int(np.abs(flat).argmax())
        return None

    def expected_log(self, statistics: GaussianStatistics) -> float:
        """The log density of rows with these statistics."""
        total = 0.0
        for k, (mean, covariance) in enumerate(zip(*self._known, strict=True)):
            weight, off = float(statistics.weight[k]), statistics.mean[k] - mean
            if weight > 0.0:
                scatter = statistics.scatter[k] + weight * np.outer(off, off)
                total += weight * log_peak(self.dim, float(np.linalg.slogdet(covariance)[1]))
                total -= 0.5 * float(np.trace(np.linalg.solve(covariance, scatter)))
        return total

    def pseudo(
        self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray
    ) -> GaussianStatistics:
        """This weight of rows in each state, which vary as all the data do: a normal-Wishart prior."""
        whole = ~np.isnan(rows).any(axis=1) & (counts > 0.0)
        seen, times = rows[whole], counts[whole]
        if not len(seen):
            raise InvalidArgument(
                "A pseudo-count as a prior needs complete rows, as it adds rows that vary as all the data do."
            )
        mean = np.average(seen, axis=0, weights=times)
        spread = (seen - mean) * np.sqrt(times / times.sum())[:, None]
        scatter = spread.T @ spread * weight
        return GaussianStatistics(
            np.full(n_states, weight), np.tile(mean, (n_states, 1)), np.tile(scatter, (n_states, 1, 1))
        )

    def first_guess(
        self, rows: np.ndarray, counts: np.ndarray, n_states: int, random: np.random.Generator
    ) -> np.ndarray:
        """Mostly for the nearest of centres that lie far apart (k-means++, Arthur & Vassilvitskii 2007)."""
        return near_centres(rows, counts, n_states, random)

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """An observation for each of these states."""
        means, covariances = self._known
        values, vectors = np.linalg.eigh(covariances)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        noise = random.standard_normal((states.size, self.dim))
        drawn = means[states]
        for k, root in enumerate(roots):
            mine = states == k
            drawn[mine] += noise[mine] @ root.T
        return np.asarray(drawn[:, 0] if self._univariate else drawn)

    # --- in files ---

    def to_parts(self) -> dict[str, Any]:
        """Return the mean and the variance or covariance, for a file.

        >>> Gaussian(1.75, sd=0.5).to_parts()
        {'mean': 1.75, 'variance': 0.25}
        """
        mean, covariance = self._known
        form = {} if self.form == "full" else {"form": self.form}
        if not self._univariate:
            several = self.n_states is not None
            return form | {
                "mean": (mean if several else mean[0]).tolist(),
                "covariance": (covariance if several else covariance[0]).tolist(),
            }
        return form | {
            "mean": np.asarray(self._shaped(mean[:, 0])).tolist(),
            "variance": np.asarray(self._shaped(covariance[:, 0, 0])).tolist(),
        }

    @classmethod
    def from_parts(cls, part: Part) -> Self:
        """Return the distribution of these parts, as `to_parts` returned them.

        Args:
            part: read from a file, or `Part.of(parts)`.

        Raises:
            FileFormatError, InvalidTable: these are not parts of such a distribution.
            InvalidArgument: they are not the parameters of a Gaussian.

        >>> height = Gaussian(1.75, sd=0.5)
        >>> Gaussian.from_parts(Part.of(height.to_parts())) == height
        True
        """
        found = part.members("a Gaussian", ["mean"], ["variance", "covariance", "form"])
        form = part.at("form").text("the form of the covariances") if "form" in found else "full"
        if "variance" not in found:
            return cls(found["mean"], covariance=found.get("covariance"), form=form)
        variance = finite("variance", found["variance"], (0, 1))
        if (variance < 0).any():
            part.expected("a variance, which is not negative", "variance")
        made = cls(found["mean"], np.sqrt(variance), form=form)
        exact = np.broadcast_to(variance.reshape(-1, 1, 1), made._known[1].shape)
        made._fill(made._known[0], exact, 1, made.n_states, True)  # to the last bit
        return made

    def _rows(self, x: Any) -> tuple[np.ndarray, bool]:
        rows = finite("A Gaussian", x, (0, 1) if self._univariate else (1, 2))
        lone = rows.ndim == (0 if self._univariate else 1)
        rows = rows.reshape(-1, 1) if self._univariate else np.atleast_2d(rows)
        if rows.shape[1] != self.dim:
            raise InvalidArgument(f"A row has {self.dim} values, not {rows.shape[1]}.")
        return rows, lone

    # --- as a value ---

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Gaussian does not change; .{name} cannot be set")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Gaussian):
            return NotImplemented
        alike = (self.dim, self.n_states, self._univariate, self.form)
        return alike == (other.dim, other.n_states, other._univariate, other.form) and all(
            mine is theirs is None
            or (mine is not None and theirs is not None and np.array_equal(mine, theirs))
            for mine, theirs in ((self._mean, other._mean), (self._covariance, other._covariance))
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {slot: getattr(self, slot) for slot in Gaussian.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        object.__setattr__(self, "form", state.get("form", "full"))
        self._fill(
            state["_mean"], state["_covariance"], state["dim"], state["n_states"], state["_univariate"]
        )

    def __repr__(self) -> str:
        if self._mean is None:
            form = [] if self.form == "full" else [f"form={self.form!r}"]
            return f"Gaussian({', '.join([*([] if self._univariate else [f'dim={self.dim}']), *form])})"
        if self._univariate and self.n_states is None:
            return f"Gaussian({self.mean:.6g}, sd={self.sd:.6g})"
        return text_table(*self._lines(), title=self._title())

    def _repr_html_(self) -> str:
        if self._mean is None:
            return html_text(repr(self))
        return html_table(*self._lines(), title=self._title())

    def _title(self) -> str:
        states = "" if self.n_states is None else f"{self.n_states} states, "
        return f"Gaussian: {states}{self.dim} dimension{'s' * (self.dim > 1)}"

    def _lines(self) -> tuple[list[str], list[list[str]], str]:
        header = ["state" if self.n_states is not None else "", "mean", "covariance"]
        total = len(self._known[0]) * self.dim
        note = f"... {total - _ROWS:,} more of {total:,} rows" if total > _ROWS else ""
        return header, list(islice(self._printed(), _ROWS)), note

    def _printed(self) -> Iterator[list[str]]:
        means, covariances = self._known
        for k in range(min(len(means), _ROWS)):
            for i in range(min(self.dim, _ROWS)):
                spread = joined((f"{c:.6g}" for c in covariances[k, i, :_ROWS].tolist()), self.dim, 70)
                state = str(k) if self.n_states is not None and i == 0 else ""
                yield [state, f"{means[k, i]:.6g}", spread]


def check_scale(what: str, values: np.ndarray, *, positive: bool = False) -> None:
    """Refuse values whose squares overflow a double."""
    sizes = np.abs(values)
    bad = sizes > _LARGEST
    if positive:
        bad |= (sizes > 0) & (sizes < 1 / _LARGEST)
    if bad.any():
        raise InvalidArgument(
            f"{what} has the entry {float(values[bad].flat[0])!r}; sizes from {1 / _LARGEST:g} to "
            f"{_LARGEST:g} (and 0) can be worked with. Choose another unit."
        )


def _check_covariance(matrices: np.ndarray) -> None:
    size = np.abs(matrices).max(axis=(-1, -2), keepdims=True)
    check_scale("covariance=", np.sqrt(np.abs(matrices)))
    if (np.abs(matrices - np.swapaxes(matrices, -1, -2)) > 1e-12 * size).any():
        raise InvalidArgument("covariance= is not symmetric.")
    if (np.linalg.eigvalsh(matrices) < -1e-12 * size[..., 0]).any():
        raise InvalidArgument("covariance= has a negative eigenvalue: it is not a covariance.")
