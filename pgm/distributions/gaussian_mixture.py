"""Mixtures of normal distributions, for one state or for each of many."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pgm.errors import InvalidArgument, InvalidTable, shown

from .checks import finite, row_weights
from .coordinates import of_shares, shares_at
from .emission import Observed
from .gaussian import Gaussian
from .gaussian_statistics import FORMS, GaussianStatistics, near_centres
from .normal import are_covariances, cholesky_of_correlations
from .of_states import StateDistribution, width
from .parts import Part

_ROUNDING = 1e-6 * (1 + 1e-6)
_LAST_BITS = 2.0**-50  # sums this near to one are left alone: files are read back unchanged
_ROWS = 20


class GaussianMixture(StateDistribution):
    """A mixture of normal distributions, with weights.

    With one more axis it holds a mixture for each of several states, as for emissions. Missing entries of a
    row are integrated out. `statistics` and `fitted` are one step of EM; `fit` takes as many as it needs.

    Args:
        weights: of the components, which sum to one; with an axis before it, for each state. If left out, yet
            to be fitted.
        mean: of each component: a float, or one for each dimension.
        sd: the standard deviation of each component.
        covariance: instead of `sd`: a matrix for each component.
        n_components: how many components, instead of parameters.
        dim: the number of dimensions, instead of parameters.
        form: which covariances are fitted: "full", "diagonal", "spherical" (one variance for all dimensions),
            or "tied" (one matrix for all components and states).
        shared: whether all states have the same components, and differ in their weights alone; if left out,
            they do where `weights` has a row for each state, but the components are given once.

    >>> two = GaussianMixture([0.5, 0.5], mean=[0.0, 4.0], sd=[1.0, 1.0])
    >>> two.log_density([0.0, 2.0]).round(6).tolist()
    [-1.61175, -2.918939]
    """

    __slots__ = ("form", "n_components", "shared")
    kind, label = "gaussian-mixture", "Gaussian mixture"

    form: str
    n_components: int
    shared: bool

    def __init__(
        self,
        weights: Any = None,
        mean: Any = None,
        sd: Any = None,
        *,
        covariance: Any = None,
        n_components: int | None = None,
        dim: int | None = None,
        form: str = "full",
        shared: bool | None = None,
    ) -> None:
        if form not in FORMS:
            raise InvalidArgument(f"form= is {' or '.join(map(repr, FORMS))}, not {shown(form)}.")
        object.__setattr__(self, "form", form)
        object.__setattr__(self, "shared", bool(shared))
        if weights is None:
            if any(given is not None for given in (mean, sd, covariance)):
                raise InvalidArgument(
                    "A GaussianMixture needs weights= with its mean= and sd= or covariance=."
                )
            count = n_components
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise InvalidArgument(
                    f"A GaussianMixture needs weights=, or n_components= of at least 1, not {shown(count)}."
                )
            object.__setattr__(self, "n_components", count)
            self._fill(None, width(dim), None, dim is not None and dim > 1)
            return
        shares = finite("weights=", weights, (1, 2))
        if shares.size == 0 or (shares < 0.0).any():
            raise InvalidTable(f"weights= has probabilities, which are not negative, not {shown(weights)}.")
        sums = shares.sum(axis=-1, keepdims=True)
        worst = float(sums.flat[int(np.abs(sums - 1.0).argmax())])
        if abs(worst - 1.0) > _ROUNDING:
            raise InvalidTable(f"weights= sums to one for each state, not to {worst:.10g}.")
        shares = np.where(np.abs(sums - 1.0) <= _LAST_BITS, shares, shares / sums)
        if shares.ndim == 2 and shared is not False and mean is not None:
            mean, sd, covariance = self._spread(shares, mean, sd, covariance)
        flat = self._flat(shares, mean, sd, covariance)
        if n_components not in (None, shares.shape[-1]) or dim not in (None, flat.dim):
            raise InvalidArgument(
                f"There are {shares.shape[-1]} components of {flat.dim} dimensions: leave out n_components= "
                "and dim=."
            )
        object.__setattr__(self, "n_components", shares.shape[-1])
        shares = np.atleast_2d(shares)
        means, covariances = flat.normals()
        parameters = {
            "weights": shares,
            "mean": means.reshape(*shares.shape, -1),
            "covariance": covariances.reshape(*shares.shape, flat.dim, flat.dim),
        }
        states = len(shares) if np.ndim(weights) == 2 else None
        self._fill(parameters, flat.dim, states, flat.vector)

    def _spread(self, shares: np.ndarray, mean: Any, sd: Any, covariance: Any) -> tuple[Any, Any, Any]:
        """Components repeated for all states, where they are given once."""
        size = 0 if covariance is None else 1
        if np.ndim(mean) != 1 + size:
            if self.shared:
                raise InvalidArgument("Shared components are the same in all states: give each of them once.")
            return mean, sd, covariance
        object.__setattr__(self, "shared", True)
        k = len(shares)
        means = np.repeat(np.asarray(mean, np.float64)[None], k, axis=0)
        if np.ndim(sd) == 1:
            sd = np.repeat(np.asarray(sd, np.float64)[None], k, axis=0)
        if np.ndim(covariance) == 3:
            covariance = np.repeat(np.asarray(covariance, np.float64)[None], k, axis=0)
        return means, sd, covariance

    def _flat(self, shares: np.ndarray, mean: Any, sd: Any, covariance: Any) -> Gaussian:
        """All components of all states, as the states of one distribution."""
        if mean is None or (sd is None) == (covariance is None):
            raise InvalidArgument("A GaussianMixture has mean=, and sd= or covariance=: give one of the two.")
        size = 0 if covariance is None else 1
        means = finite("mean=", mean, (shares.ndim + size,))
        if means.shape[: shares.ndim] != shares.shape:
            raise InvalidArgument(
                f"mean= of shape {means.shape} does not match weights= of shape {shares.shape}."
            )
        name = "sd=" if covariance is None else "covariance="
        spread = finite(
            name, sd if covariance is None else covariance, tuple(range(shares.ndim + 2 * size + 1))
        )
        wanted = (*shares.shape, *means.shape[shares.ndim :] * 2)
        try:
            spread = np.broadcast_to(spread, wanted)
        except ValueError:
            raise InvalidArgument(
                f"{name} of shape {spread.shape} does not match mean= of shape {means.shape}."
            ) from None
        if covariance is None:
            made = Gaussian(means.reshape(-1), sd=spread.reshape(-1))
        else:
            d = means.shape[-1]
            made = Gaussian(means.reshape(-1, d), covariance=spread.reshape(-1, d, d))
        for i, matrix in enumerate(made.normals()[1]):
            if not matrix.any() or cholesky_of_correlations(matrix) is None:
                raise InvalidArgument(
                    f"{name} of component {i % shares.shape[-1]} is singular: there is no density."
                )
        return made

    @property
    def weights(self) -> np.ndarray:
        """The weights of the components, read-only; a row for each state if there are several."""
        return np.asarray(self._shaped(self._known["weights"]))

    @property
    def mean(self) -> np.ndarray:
        """The mean of each component, as it was given."""
        found = self._known["mean"]
        return np.asarray(self._shaped(found if self._vector else found[..., 0]))

    @property
    def covariance(self) -> np.ndarray:
        """The covariance matrix of each component."""
        return np.asarray(self._shaped(self._known["covariance"]))

    @property
    def sd(self) -> np.ndarray:
        """The standard deviation of each component, and of each dimension if there are several."""
        found = np.sqrt(np.einsum("kmii->kmi", self._known["covariance"]))
        return np.asarray(self._shaped(found if self._vector else found[..., 0]))

    def fit(self, x: Any, weights: Any = None, *, max_iter: int = 1000, tol: float = 1e-9) -> Self:
        """Return a mixture that is fitted by EM, from the current parameters or from a guess.

        Args:
            x: as for `log_density`.
            weights: one for each row; or a column for each state.
            max_iter: the largest number of steps.
            tol: it has converged when the relative gain in log-likelihood is at most this.
        """
        rows, _ = self._rows(x)
        return self._fit_rows(rows, row_weights(weights, rows.shape[0]), max_iter, tol)

    def _fit_rows(
        self, rows: np.ndarray, weights: np.ndarray, max_iter: int = 1000, tol: float = 1e-9
    ) -> Self:
        made, last = self, -np.inf
        for _ in range(max_iter):
            made = made.fitted(made.gathered(rows, weights))
            state = made.collapsed(rows)
            if state is not None:
                raise InvalidArgument(
                    "The covariance of a component collapsed: the rows that it explains lie on one point or "
                    "line. Use fewer components, or another form= of covariance."
                )
            now = float((weights * made.log_rows(rows)).sum())
            if now - last <= tol * (1.0 + abs(now)):
                break
            last = now
        return made

    # --- as an emission ---

    @property
    def _components(self) -> Gaussian:
        made = Gaussian.__new__(Gaussian)
        object.__setattr__(made, "form", self.form)
        mean = covariance = states = None
        if self._parameters is not None:
            mean = self._parameters["mean"].reshape(-1, self.dim)
            covariance = self._parameters["covariance"].reshape(-1, self.dim, self.dim)
            states = len(mean)
        made._fill(mean, covariance, self.dim, states, not self._vector)
        return made

    def _joint(self, rows: np.ndarray) -> np.ndarray:
        """Log density of each row and component: (rows, states, components)."""
        shares = self._known["weights"]
        with np.errstate(divide="ignore"):
            return np.asarray(self._components.log_rows(rows).reshape(-1, *shares.shape) + np.log(shares))

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log density of each row, a column for each state, of the entries that are not NaN."""
        joint = self._joint(rows)
        top = joint.max(axis=2)
        top[top == -np.inf] = 0.0  # too far from all components for finite squares
        with np.errstate(divide="ignore"):
            found = top + np.log(np.exp(joint - top[:, :, None]).sum(axis=2))
        found[np.isnan(rows).all(axis=1)] = 0.0
        return np.asarray(found)

    def gathered(self, rows: np.ndarray, weights: np.ndarray) -> GaussianStatistics:
        """Sufficient statistics of all components, in which each row counts by its responsibilities."""
        if self._parameters is None:
            believed = self._first_responsibilities(rows, weights)
        else:
            joint = self._joint(rows)
            believed = np.exp(joint - joint.max(axis=2, keepdims=True))
            believed /= believed.sum(axis=2, keepdims=True)
        shares = (weights[:, :, None] * believed).reshape(len(rows), -1)
        return self._components.gathered(rows, shares)

    def _first_responsibilities(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Responsibilities to start EM from: by centres that lie far apart among the rows of each state."""
        k, m = weights.shape[1], self.n_components
        found = np.full((len(rows), k, m), 1.0 / m)
        most = weights.argmax(axis=1)
        for state in range(k):
            own = (most == state) & (weights[:, state] > 0.0)
            if own.any():
                random = np.random.default_rng(state)
                found[own, state] = near_centres(rows[own], np.ones(int(own.sum())), m, random)
        return found

    def fitted(self, statistics: GaussianStatistics, prior: GaussianStatistics | None = None) -> Self:
        """Return the maximum-likelihood mixture for these statistics of its components."""
        statistics = statistics if prior is None else statistics + prior
        shape = (-1, self.n_components)
        weight = statistics.weight.reshape(shape)
        flat = self._components
        if self._parameters is None and not (statistics.weight > 0.0).all():
            raise InvalidArgument(
                "There is no row with any weight to fit a GaussianMixture to, or too few for its components."
            )
        if not weight.any():
            raise InvalidArgument("There is no row with any weight to fit a GaussianMixture to.")
        sums = weight.sum(axis=1, keepdims=True)
        shares = np.divide(weight, sums, out=np.zeros_like(weight), where=sums > 0.0)
        if self._parameters is not None:
            if len(self._parameters["weights"]) == len(shares):
                shares = np.where(sums > 0.0, shares, self._parameters["weights"])
        if self.shared:
            statistics = self._pooled(statistics, len(shares))
        means, covariances = flat.fitted(statistics).normals()
        parameters = {
            "weights": shares,
            "mean": means.reshape(*shares.shape, self.dim),
            "covariance": covariances.reshape(*shares.shape, self.dim, self.dim),
        }
        return self._with(parameters)

    def _possible(self, name: str, value: np.ndarray) -> bool:
        if name == "covariance":
            return are_covariances(value.reshape(-1, self.dim, self.dim))
        return name == "mean" or super()._possible(name, value)

    def coordinates(self) -> np.ndarray:
        """The parameters, unconstrained."""
        if self.shared:
            raise InvalidArgument("Components that states share are not fitted along a gradient.")
        return np.concatenate([of_shares(self._known["weights"]), self._components.coordinates()])

    def at(self, coordinates: np.ndarray) -> Self:
        """The same distribution with the parameters at these coordinates."""
        known = self._known
        many = int((known["weights"] > 0.0).sum())
        mean, covariance = self._components.at(coordinates[many:]).normals()
        return self._with(
            {
                "weights": shares_at(coordinates[:many], known["weights"]),
                "mean": mean.reshape(known["mean"].shape),
                "covariance": covariance.reshape(known["covariance"].shape),
            }
        )

    def components(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights, means and covariances of the components of each state: (states, components, ...)."""
        known = self._known
        return known["weights"], known["mean"], known["covariance"]

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each entry in each state."""
        shares, means = self._known["weights"][:, :, None], self._known["mean"]
        spread = np.einsum("kmii->kmi", self._known["covariance"])
        mean = (shares * means).sum(axis=1)
        return mean, (shares * (spread + (means - mean[:, None]) ** 2)).sum(axis=1)

    def below(self, x: float, entry: int) -> np.ndarray:
        """P(entry <= x) in each state."""
        from scipy.special import ndtr

        known = self._known
        z = (x - known["mean"][:, :, entry]) / np.sqrt(known["covariance"][:, :, entry, entry])
        return np.asarray((known["weights"] * ndtr(z)).sum(axis=1))

    def _pooled(self, statistics: GaussianStatistics, k: int) -> GaussianStatistics:
        """The statistics of each component over all states, for each state."""
        m, dim = self.n_components, self.dim
        weight = statistics.weight.reshape(k, m)
        mean, scatter = statistics.mean.reshape(k, m, dim), statistics.scatter.reshape(k, m, dim, dim)
        total = GaussianStatistics(weight[0], mean[0], scatter[0])
        for state in range(1, k):
            total = total + GaussianStatistics(weight[state], mean[state], scatter[state])
        return GaussianStatistics(
            np.tile(total.weight, k), np.tile(total.mean, (k, 1)), np.tile(total.scatter, (k, 1, 1))
        )

    def n_free(self, states: np.ndarray) -> int:
        """All weights of each state but one, and the parameters of the normal distributions."""
        m = self.n_components
        if self.shared:
            return int(states.sum()) * (m - 1) + self._components.n_free(np.ones(m, bool))
        return int(states.sum()) * (m - 1) + self._components.n_free(np.repeat(states, m))

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """An observation for each of these states."""
        return self._components.draw(_codes(self._known["weights"][states], states, random), random)

    def filled(self, observed: Observed, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """What was observed, and draws from these states, given the rest of a row, where it was not."""
        joint = self._joint(observed.rows)[np.arange(states.size), states]
        shares = np.exp(joint - joint.max(axis=1, keepdims=True))
        return self._components.filled(observed, _codes(shares, states, random), random)

    def collapsed(self, rows: np.ndarray) -> int | None:
        """A state with a component whose covariance is singular, or negligible beside the spread of rows."""
        found = self._components.collapsed(rows)
        return None if found is None else found // self.n_components

    def collapse(self, spread: np.ndarray) -> tuple[int, int] | None:
        """A state with a component that has collapsed, and the flattest entry."""
        found = self._components.collapse(spread)
        return None if found is None else (found[0] // self.n_components, found[1])

    def expected_log(self, statistics: GaussianStatistics) -> float:
        """The expected log density of rows and their components, with these statistics."""
        weight = statistics.weight.reshape(-1, self.n_components)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(weight > 0.0, weight * np.log(self._known["weights"]), 0.0)
        return float(shares.sum()) + self._components.expected_log(statistics)

    def pseudo(
        self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray
    ) -> GaussianStatistics:
        """This weight of rows in each state, evenly over its components, which vary as all the data do."""
        m = self.n_components
        return self._components.pseudo(weight / m, n_states * m, rows, counts)

    def first_guess(
        self, rows: np.ndarray, counts: np.ndarray, n_states: int, random: np.random.Generator
    ) -> np.ndarray:
        """Mostly for the nearest of centres that lie far apart; rows with gaps count for none."""
        return near_centres(rows, counts, n_states, random)

    # --- in files and text ---

    def to_parts(self) -> dict[str, Any]:
        """Return weights, means and covariances, for a file."""
        form: dict[str, Any] = {} if self.form == "full" else {"form": self.form}
        form |= {"shared": True} if self.shared else {}
        one = {} if self._vector else {"variance": np.asarray(self.covariance)[..., 0, 0].tolist()}
        several = {"covariance": self.covariance.tolist()} if self._vector else {}
        return {**form, "weights": self.weights.tolist(), "mean": self.mean.tolist(), **one, **several}

    @classmethod
    def from_parts(cls, part: Part) -> Self:
        """Return the distribution of these parts."""
        what = "a mixture of Gaussians"
        found = part.members(what, ["weights", "mean"], ["variance", "covariance", "form", "shared"])
        form = part.at("form").text("the form of the covariances") if "form" in found else "full"
        shared = part.at("shared").truth("whether they are shared") if "shared" in found else False
        if "variance" not in found:
            made = cls(
                found["weights"], found["mean"], covariance=found.get("covariance"), form=form, shared=False
            )
            object.__setattr__(made, "shared", shared)
            return made
        variance = finite("variance", found["variance"], (1, 2))
        if (variance < 0).any():
            part.expected("variances, which are not negative", "variance")
        made = cls(found["weights"], found["mean"], np.sqrt(variance), form=form, shared=False)
        object.__setattr__(made, "shared", shared)
        exact = variance.reshape(made._known["covariance"].shape)  # to the last bit
        made._fill({**made._known, "covariance": exact}, 1, made.n_states, False)
        return made

    def _options(self) -> str:
        form = [] if self.form == "full" else [f"form={self.form!r}"]
        dim = [f"dim={self.dim}"] if self._vector else []
        return ", ".join([f"n_components={self.n_components}", *dim, *form])

    def _title(self) -> str:
        states = "" if self.n_states is None else f"{self.n_states} states, "
        return f"GaussianMixture: {states}{self.n_components} components, {self.dim} dimension" + "s" * (
            self.dim > 1
        )

    def _lines(self) -> tuple[list[str], list[list[str]], str]:
        known, rows = self._known, []
        total = known["weights"].size
        for i in range(min(total, _ROWS)):
            k, j = divmod(i, self.n_components)
            state = str(k) if self.n_states is not None and j == 0 else ""
            sd = np.sqrt(np.diag(known["covariance"][k, j]))
            numbers = [", ".join(f"{x:.6g}" for x in v[:_ROWS].tolist()) for v in (known["mean"][k, j], sd)]
            rows.append([state, str(j), f"{known['weights'][k, j]:.6g}", *numbers])
        note = f"... {total - _ROWS:,} more of {total:,} components" if total > _ROWS else ""
        return ["state" if self.n_states is not None else "", "component", "weight", "mean", "sd"], rows, note


def _codes(shares: np.ndarray, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A component for each row of weights, as an index over the components of all states."""
    sums = np.cumsum(shares, axis=1)
    drawn = random.random(states.size) * sums[:, -1]
    return np.asarray(states * shares.shape[1] + (sums <= drawn[:, None]).sum(axis=1))
