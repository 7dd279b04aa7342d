"""Linear regression on inputs: for each state a linear function of them, with Gaussian noise."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from pgm.distributions.normal import log_peak
from pgm.errors import InvalidArgument, shown
from pgm.frames import Sequences
from pgm.printing import html_table, text_table

from .checks import finite, some
from .gaussian_statistics import near_centres
from .parts import Part
from .softmax import with_one

_ROWS = 20


class Regression:
    """A linear regression for each state: one output or several, linear in the inputs, with normal noise.

    Args:
        weights: of shape (states, inputs); or (states,) for one input; or, where several values are observed,
            (states, values, inputs). If left out, yet to be learned.
        bias: of shape (states,), or (states, values); zero if left out.
        sd: the standard deviation of the noise of each state.
        variance: its square, instead of `sd`.
        covariance: of shape (states, values, values), where several values are observed.
        inputs: how many inputs there are, if nothing else determines it.
        dim: how many values are observed.

    >>> lines = Regression([1.0, -1.0], bias=[0.0, 2.0], variance=[0.25, 0.5])
    >>> lines.mean([[3.0]]).tolist()
    [[3.0, -1.0]]
    """

    kind, label = "regression", "regression"
    domain = None

    def __init__(
        self,
        weights: Any = None,
        bias: Any = None,
        *,
        sd: Any = None,
        variance: Any = None,
        covariance: Any = None,
        inputs: int | None = None,
        dim: int = 1,
    ) -> None:
        self._w: np.ndarray | None = None  # (states, dim, inputs + 1), the bias last
        self._s: np.ndarray | None = None  # (states, dim, dim)
        self.inputs, self.dim = inputs, dim
        for what, value in (("inputs", inputs), ("dim", dim)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise InvalidArgument(f"{what}= is a whole number of at least 1, not {shown(value)}.")
        if weights is None:
            if any(one is not None for one in (bias, sd, variance, covariance)):
                raise InvalidArgument("A Regression with a bias= or noise needs weights too.")
            return
        found = some("weights= of a Regression", weights, (1, 2, 3))
        if found.ndim < 3:
            found = found.reshape(len(found), 1, -1)
        k, d, _ = found.shape
        offset = np.zeros((k, d)) if bias is None else some("bias= of a Regression", bias, (1, 2))
        offset = offset.reshape(len(offset), -1)
        if offset.shape != (k, d):
            raise InvalidArgument(
                f"The weights of a Regression are of {k} states and {d} output{'s' * (d > 1)}, but its bias "
                f"of {' and '.join(map(str, offset.shape))}."
            )
        given = [one for one in (sd, variance, covariance) if one is not None]
        if len(given) != 1:
            raise InvalidArgument("A Regression has one of sd=, variance= and covariance=.")
        if covariance is not None:
            noise = finite("covariance= of a Regression", covariance, (3,))
        else:
            flat = some("The noise of a Regression", given[0], (0, 1, 2))
            flat = np.broadcast_to(flat.reshape(-1, 1) if flat.ndim < 2 else flat, (k, d))
            if (flat < 0).any():
                raise InvalidArgument(f"The noise of a Regression cannot be negative: {shown(given[0])}.")
            noise = np.eye(d) * (flat**2 if sd is not None else flat)[:, :, None]
        if noise.shape != (k, d, d):
            raise InvalidArgument(f"covariance= has the shape {(k, d, d)}, not {noise.shape}.")
        self._take(np.concatenate([found, offset[:, :, None]], axis=2), noise)
        try:
            np.linalg.cholesky(noise)
        except np.linalg.LinAlgError:
            raise InvalidArgument(
                "The noise of a Regression must be positive, and a covariance positive definite."
            ) from None

    def _take(self, w: np.ndarray, noise: np.ndarray) -> None:
        noise = np.array(noise)
        w.flags.writeable = noise.flags.writeable = False
        self._w, self._s, self.dim, self.inputs = w, noise, w.shape[1], w.shape[2] - 1

    def _with(self, w: np.ndarray, noise: np.ndarray) -> Self:
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._take(w, noise)
        return made

    @property
    def has_parameters(self) -> bool:
        """Whether there are weights; else they are yet to be learned."""
        return self._w is not None

    @property
    def n_states(self) -> int | None:
        """How many states there are."""
        return None if self._w is None else len(self._w)

    @property
    def weights(self) -> np.ndarray:
        """The weights, of shape (states, inputs), or (states, values, inputs)."""
        return self._known[0][:, 0, :-1] if self.dim == 1 else self._known[0][:, :, :-1]

    @property
    def bias(self) -> np.ndarray:
        """The constants, of shape (states,), or (states, values)."""
        return self._known[0][:, 0, -1] if self.dim == 1 else self._known[0][:, :, -1]

    @property
    def variance(self) -> np.ndarray:
        """The variances of the noise, of shape (states,), or (states, values)."""
        found = np.diagonal(self._known[1], axis1=1, axis2=2)
        return np.asarray(found[:, 0] if self.dim == 1 else found)

    @property
    def covariance(self) -> np.ndarray:
        """The covariances of the noise, of shape (states, values, values)."""
        return self._known[1]

    @property
    def _known(self) -> tuple[np.ndarray, np.ndarray]:
        if self._w is None or self._s is None:
            raise InvalidArgument("This Regression has no weights yet: `fit` gives it some.")
        return self._w, self._s

    def mean(self, x: Any) -> np.ndarray:
        """Return what each state emits on average, (rows, states), or (rows, states, values).

        Args:
            x: rows of inputs.

        Raises:
            InvalidArgument: there are no weights yet, or a row has more or fewer inputs than they have.

        >>> Regression([2.0], sd=1.0).mean([[3.0], [4.0]]).tolist()
        [[6.0], [8.0]]
        """
        rows = finite("The inputs of a Regression", x, (2,))
        if rows.shape[1] != self._known[0].shape[2] - 1:
            raise InvalidArgument(f"A row has {self.inputs} inputs, not {rows.shape[1]}.")
        found = self._means(rows)
        return found[:, :, 0] if self.dim == 1 else found

    def _means(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.einsum("nd,kpd->nkp", with_one(x), self._known[0]))

    # --- in a model ---

    @property
    def vector(self) -> bool:
        """Whether an observation has several entries."""
        return self.dim > 1

    @property
    def _n_free(self) -> int:
        k, d, width = self._known[0].shape
        return int(k * (d * width + d * (d + 1) // 2))

    _log_prior = 0.0

    def _read(self, read: Sequences) -> np.ndarray:
        y = read.floats(self.dim, flat=self.dim == 1)
        some = np.isnan(y).any(axis=1) & ~np.isnan(y).all(axis=1)
        if some.any():
            place = read.place(int(some.argmax()))
            raise InvalidArgument(
                f"{place[0].upper()}{place[1:]}: a Regression needs all values of a step, or none; some "
                "are missing here."
            )
        return y

    def _log_given(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        off = y[:, None, :] - self._means(x)
        logs = np.empty(off.shape[:2])
        for k, noise in enumerate(self._known[1]):
            root = np.linalg.cholesky(noise)
            z = np.linalg.solve(root, off[:, k].T)
            peak = log_peak(self.dim, 2.0 * np.log(np.diag(root)).sum())
            logs[:, k] = peak - 0.5 * (z**2).sum(axis=0)
        logs[np.isnan(y).all(axis=1)] = 0.0
        return logs

    def _fitted_given(self, y: np.ndarray, x: np.ndarray, weights: np.ndarray) -> Self:
        there = ~np.isnan(y).any(axis=1)
        y, rows, weights = y[there], with_one(x[there]), weights[there]
        k, p = weights.shape[1], self.dim
        own = self._w is not None
        w = np.array(self._w) if own else np.zeros((k, p, rows.shape[1]))
        noise = np.array(self._s) if own else np.tile(np.eye(p), (k, 1, 1))
        for i in range(k):
            heavy = weights[:, i]
            total = heavy.sum()
            if not total > 0.0:
                if not own:
                    raise InvalidArgument("There is no row with any weight to fit a Regression to.")
                continue
            root = np.sqrt(heavy)[:, None]
            w[i] = np.linalg.lstsq(root * rows, root * y, rcond=None)[0].T
            off = y - rows @ w[i].T
            noise[i] = (off * heavy[:, None]).T @ off / total
        return self._with(w, noise)

    def _collapsed(self, y: np.ndarray) -> int | None:
        """A state whose noise has vanished relative to the spread of the observations."""
        spread = np.nanvar(y, axis=0)
        for k, noise in enumerate(self._known[1]):
            if not (np.linalg.eigvalsh(noise) > 1e-10 * spread.max() + 1e-300).all():
                return k
        return None

    def _guess(self, y: np.ndarray, x: np.ndarray, k: int, random: np.random.Generator) -> np.ndarray:
        """Weights of rows in states to start EM from: by clusters of the residuals of one regression."""
        there = ~np.isnan(y).any(axis=1)
        rows = with_one(np.nan_to_num(x))
        line = np.linalg.lstsq(rows[there], y[there], rcond=None)[0]
        off = np.where(there[:, None], y - rows @ line, 0.0)
        return near_centres(off, there.astype(float), k, random)

    def _draw_given(self, states: np.ndarray, x: np.ndarray, random: np.random.Generator) -> np.ndarray:
        means = self._means(x)[np.arange(len(states)), states]
        roots = np.linalg.cholesky(self._known[1])[states]
        drawn = means + np.einsum("nij,nj->ni", roots, random.normal(size=means.shape))
        return np.asarray(drawn[:, 0] if self.dim == 1 else drawn)

    def _coordinates(self, y: np.ndarray) -> np.ndarray:
        """Past observations as inputs: as they are."""
        return y

    # --- in files and text ---

    def to_parts(self) -> dict[str, Any]:
        """Return its parts, for a file."""
        w, noise = self._known
        return {"weights": w.tolist(), "covariance": noise.tolist()}

    @classmethod
    def from_parts(cls, part: Part) -> Self:
        """Return the distribution of these parts."""
        part.members("a regression", ["weights", "covariance"])
        listed = part.at("weights")
        k = len(listed.elements("a list of weights"))
        if not k or not listed.at(0).elements("rows of weights"):
            listed.expected("weights of at least one state")
        d, width = len(listed.value[0]), len(listed.at(0, 0).elements("a row of weights"))
        w = np.stack([listed.at(i).rows(d, width, "weights") for i in range(k)])
        spread = part.at("covariance")
        if len(spread.elements("a list of covariances")) != k:
            spread.expected(f"{k} covariances")
        noise = np.stack([spread.at(i).rows(d, d, "a covariance") for i in range(k)])
        return cls(w[:, :, :-1], w[:, :, -1], covariance=noise)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Regression):
            return NotImplemented
        if self._w is None or other._w is None or self._s is None or other._s is None:
            return self._w is other._w and self.dim == other.dim
        return np.array_equal(self._w, other._w) and np.array_equal(self._s, other._s)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self._w is None:
            return "Regression, not fitted yet"
        return text_table(*self._lines(), title="Regression")

    def _repr_html_(self) -> str:
        if self._w is None:
            return html_table(["Regression"], [["yet to be learned"]], "")
        return html_table(*self._lines(), title="Regression")

    def _lines(self) -> tuple[list[str], list[list[str]], str]:
        w, noise = self._known
        k, d, width = w.shape
        rows = []
        for i in range(k):
            for j in range(d):
                output = [] if d == 1 else [str(j)]
                rows.append(
                    [str(i), *output, *(f"{v:.6g}" for v in w[i, j]), f"{math.sqrt(noise[i, j, j]):.6g}"]
                )
        note = f"... {len(rows) - _ROWS:,} more rows" if len(rows) > _ROWS else ""
        header = ["state", *([] if d == 1 else ["output"]), *(f"input {i}" for i in range(width - 1))]
        return [*header, "bias", "sd"], rows[:_ROWS], note
