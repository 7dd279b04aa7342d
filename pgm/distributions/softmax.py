"""Classes that depend on inputs: a softmax of linear functions for each state (logistic for two classes)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.frames import Sequences
from pgm.printing import html_table, text_table
from pgm.variables import Domain, as_domain, unordered

from .checks import finite, some
from .parts import Part

_STEPS = 5  # of Newton in one M-step; each gains, and the next M-step continues
_ROWS = 20


class Softmax:
    """P(class | inputs) for each state: a softmax of linear functions of the inputs.

    As an emission, the classes are symbols. As a transition, they are the next states, with a row for each
    previous state; as an initial distribution, there is one row.

    Args:
        weights: of shape (states, classes, inputs); or, for two classes, (states, inputs) or (states,): those
            of the second class. If left out, yet to be learned.
        bias: of shape (states, classes), or for two classes (states,); zero if left out.
        symbols: what the classes are called where they are observed; 0, 1, ... if left out.
        inputs: how many inputs there are, if nothing else determines it.
        ridge: the penalty on squared weights in learning: without it, weights may grow without bound where
            classes are linearly separable.

    >>> gate = Softmax([1.0, 0.5], bias=[-1.0, 1.0])
    >>> gate.probabilities([[2.0]]).round(4).tolist()
    [[[0.2689, 0.7311], [0.1192, 0.8808]]]
    """

    kind, label = "softmax", "softmax"

    def __init__(
        self,
        weights: Any = None,
        bias: Any = None,
        *,
        symbols: Iterable[Any] | None = None,
        inputs: int | None = None,
        ridge: float = 0.0,
    ) -> None:
        if isinstance(ridge, bool) or not isinstance(ridge, int | float) or not 0.0 <= ridge < np.inf:
            raise InvalidArgument(f"ridge= is a non-negative number, not {shown(ridge)}.")
        self.ridge = float(ridge)
        self._w: np.ndarray | None = None  # (states, classes, inputs + 1), the bias last
        self.inputs = inputs
        if unordered(symbols):
            raise InvalidArgument(f"A set has no order; write symbols= as a list, not {shown(symbols)}.")
        self._domain: Domain | None = None if symbols is None else as_domain(list(symbols))
        if weights is None:
            if bias is not None:
                raise InvalidArgument("A Softmax with a bias= needs weights too.")
            if inputs is not None and (isinstance(inputs, bool) or not isinstance(inputs, int) or inputs < 1):
                raise InvalidArgument(f"inputs= is a whole number of at least 1, not {shown(inputs)}.")
            return
        found = some("weights= of a Softmax", weights, (1, 2, 3))
        if found.ndim < 3:  # two classes
            found = found.reshape(len(found), -1)
            found = np.stack([np.zeros_like(found), found], axis=1)
        shape = found.shape[:2]
        offset = np.zeros(shape) if bias is None else finite("bias= of a Softmax", bias, (1, 2))
        if offset.ndim == 1:
            offset = np.column_stack([np.zeros(len(offset)), offset])
        if offset.shape != shape:
            raise InvalidArgument(
                f"The weights of a Softmax are of {shape[0]} states and {shape[1]} classes, but its bias of "
                f"{' and '.join(map(str, offset.shape))}."
            )
        self._take(np.concatenate([found, offset[:, :, None]], axis=2))

    def _take(self, w: np.ndarray) -> None:
        w.flags.writeable = False
        self._w, self.inputs = w, w.shape[2] - 1
        if self._domain is None:
            self._domain = as_domain(list(range(w.shape[1])))
        if self._domain.card != w.shape[1]:
            raise InvalidArgument(f"There are {self._domain.card} symbols for {w.shape[1]} classes.")

    def _with(self, w: np.ndarray) -> Self:
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._take(w)
        return made

    @property
    def has_parameters(self) -> bool:
        """Whether there are weights; else they are yet to be learned."""
        return self._w is not None

    @property
    def n_states(self) -> int | None:
        """How many rows there are."""
        return None if self._w is None else len(self._w)

    @property
    def weights(self) -> np.ndarray:
        """The weights, of shape (states, classes, inputs)."""
        return self._known[:, :, :-1]

    @property
    def bias(self) -> np.ndarray:
        """The constants, of shape (states, classes)."""
        return self._known[:, :, -1]

    @property
    def domain(self) -> Any:
        """The symbols."""
        return self._domain

    @property
    def _known(self) -> np.ndarray:
        if self._w is None:
            raise InvalidArgument("This Softmax has no weights yet: `fit` gives it some.")
        return self._w

    def probabilities(self, x: Any) -> np.ndarray:
        """Return P(class | inputs), of shape (rows, states, classes).

        Args:
            x: rows of inputs.

        Raises:
            InvalidArgument: there are no weights yet, or a row has more or fewer inputs than they have.

        >>> Softmax([[0.0]]).probabilities([[3.0]]).tolist()
        [[[0.5, 0.5]]]
        """
        rows = finite("The inputs of a Softmax", x, (2,))
        if rows.shape[1] != self._known.shape[2] - 1:
            raise InvalidArgument(f"A row has {self.inputs} inputs, not {rows.shape[1]}.")
        return np.asarray(np.exp(self._logs(rows)))

    def _logs(self, x: np.ndarray) -> np.ndarray:
        return log_softmax(np.einsum("nd,rcd->nrc", with_one(x), self._known))

    # --- in a model ---

    def _shaped(self, states: int, classes: int) -> None:
        """Check that it has this shape, if any."""
        if self._w is not None and self._w.shape[:2] != (states, classes):
            raise InvalidArgument(
                f"A Softmax here has {states} rows and {classes} classes, not {self._w.shape[0]} and "
                f"{self._w.shape[1]}."
            )

    @property
    def _n_free(self) -> int:
        r, c, d = self._known.shape
        return int(r * (c - 1) * d)

    def _fitted_counts(self, x: np.ndarray, counts: np.ndarray) -> Self:
        """Weights for which counts (rows, states, classes) are more likely, by a few Newton steps."""
        _, r, c = counts.shape
        rows = with_one(x)
        own = np.zeros((r, c, rows.shape[1])) if self._w is None else self._w
        return self._with(np.stack([climbed(rows, counts[:, i], own[i], self.ridge) for i in range(r)]))

    @property
    def _log_prior(self) -> float:
        return -0.5 * self.ridge * float((self.weights**2).sum())

    # --- as an emission ---

    vector = False

    def is_value(self, value: Any) -> bool:
        """Whether this is a symbol, even if it has a length."""
        return self._domain is not None and self._domain.find(value) >= 0

    def _read(self, read: Sequences) -> np.ndarray:
        if self._domain is None:
            raise InvalidArgument("A Softmax as an emission needs symbols=.")
        return read.codes(self._domain).astype(np.int64)

    def _log_given(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        logs = self._logs(x)
        found = np.take_along_axis(logs, np.maximum(y, 0)[:, None, None], axis=2)[:, :, 0]
        found[y < 0] = 0.0
        return np.asarray(found)

    def _fitted_given(self, y: np.ndarray, x: np.ndarray, weights: np.ndarray) -> Self:
        assert self._domain is not None
        there = y >= 0
        counts = np.zeros((int(there.sum()), weights.shape[1], self._domain.card))
        counts[np.arange(len(counts)), :, y[there]] = weights[there]
        return self._fitted_counts(x[there], counts)

    def _guess(self, y: np.ndarray, x: np.ndarray, k: int, random: np.random.Generator) -> np.ndarray:
        """Weights of rows in states to start EM from."""
        return np.asarray(random.dirichlet(np.ones(k), len(y)))

    def _draw_given(self, states: np.ndarray, x: np.ndarray, random: np.random.Generator) -> np.ndarray:
        assert self._domain is not None
        p = np.exp(self._logs(x))[np.arange(len(states)), states]
        codes = (random.random(len(p))[:, None] >= np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
        return np.asarray(np.take(self._domain.array, codes))

    def _coordinates(self, y: np.ndarray) -> np.ndarray:
        """Past observations as inputs: a column for each symbol but the first; NaN where not observed."""
        assert self._domain is not None
        found: np.ndarray = (y[:, None] == np.arange(1, self._domain.card)).astype(float)
        found[y < 0] = np.nan
        return found

    # --- in files and text ---

    def to_parts(self, state: Any = lambda symbol, name: symbol) -> dict[str, Any]:
        """Return its parts, for a file.

        Args:
            state: turns a symbol into its form in the file; if left out, symbols stay as they are.
        """
        assert self._domain is not None
        called = [state(symbol, "observation") for symbol in self._domain.states]
        return {"symbols": called, "weights": self._known.tolist(), "ridge": self.ridge}

    @classmethod
    def from_parts(cls, part: Part) -> Self:
        """Return the distribution of these parts."""
        part.members("a softmax", ["symbols", "weights"], ["ridge"])
        listed = part.at("symbols")
        symbols = [listed.at(i).state() for i in range(len(listed.elements("a list of symbols")))]
        w = cubes(part.at("weights"), len(symbols))
        ridge = part.at("ridge").number("the penalty on weights") if "ridge" in part.value else 0.0
        made = cls(symbols=symbols, ridge=ridge)
        made._take(w)
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Softmax):
            return NotImplemented
        if (self._domain, self.ridge) != (other._domain, other.ridge):
            return False
        if self._w is None or other._w is None:
            return self._w is other._w
        return np.array_equal(self._w, other._w)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Softmax, not fitted yet" if self._w is None else text_table(*self._lines(), title="Softmax")

    def _repr_html_(self) -> str:
        if self._w is None:
            return html_table(["Softmax"], [["yet to be learned"]], "")
        return html_table(*self._lines(), title="Softmax")

    def _lines(self) -> tuple[list[str], list[list[str]], str]:
        r, c, d = self._known.shape
        assert self._domain is not None
        rows = [
            [str(i), str(self._domain.states[j]), *(f"{v:.6g}" for v in self._known[i, j])]
            for i in range(r)
            for j in range(c)
        ]
        note = f"... {len(rows) - _ROWS:,} more rows" if len(rows) > _ROWS else ""
        return ["row", "class", *(f"input {i}" for i in range(d - 1)), "bias"], rows[:_ROWS], note


def with_one(x: np.ndarray) -> np.ndarray:
    """Rows with a one after them, for the bias."""
    return np.column_stack([x, np.ones(len(x))])


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Logarithms of the softmax along the last axis."""
    scores = scores - scores.max(axis=-1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True)))


def climbed(x: np.ndarray, counts: np.ndarray, w: np.ndarray, ridge: float) -> np.ndarray:
    """Weights (classes, inputs) that make the counts (rows, classes) more likely, by damped Newton steps.

    The weights of the first class stay; nothing changes where there are no counts.
    """
    c, d = w.shape
    total = counts.sum(axis=1)
    if c == 1 or not total.any():
        return w
    penalty = ridge * np.append(np.ones(d - 1), 0.0)

    def value(now: np.ndarray) -> float:
        return float((counts * log_softmax(x @ now.T)).sum() - 0.5 * (penalty * now**2).sum())

    best, damping = value(w), 1e-9
    for _ in range(_STEPS):
        p = np.exp(log_softmax(x @ w.T))
        gradient = ((counts - total[:, None] * p).T @ x - penalty * w)[1:]
        if np.abs(gradient).max() <= 1e-10 * (1.0 + total.sum()):
            break
        hessian = np.zeros(((c - 1) * d, (c - 1) * d))
        for i in range(1, c):
            for j in range(i, c):
                share = total * p[:, i] * ((i == j) - p[:, j])
                block = (x * share[:, None]).T @ x
                hessian[(i - 1) * d : i * d, (j - 1) * d : j * d] = block
                hessian[(j - 1) * d : j * d, (i - 1) * d : i * d] = block
        hessian += np.diag(np.tile(penalty, c - 1))
        scale = max(float(np.trace(hessian)), 1e-12) / len(hessian)
        while True:
            step = np.linalg.solve(hessian + damping * scale * np.eye(len(hessian)), gradient.reshape(-1))
            moved = w.copy()
            moved[1:] += step.reshape(c - 1, d)
            now = value(moved)
            if now > best or damping > 1e12:
                break
            damping = max(damping * 10.0, 1e-8)
        if not now > best:
            break
        gain, w, best, damping = now - best, moved, now, damping / 10.0
        if gain <= 1e-13 * (1.0 + abs(best)):
            break
    return w


def cubes(part: Part, classes: int) -> np.ndarray:
    """Weights of shape (states, classes, inputs + 1), from a file."""
    states = len(part.elements("a list of weights"))
    if not states or not part.at(0).elements("a list of weights"):
        part.expected("weights of at least one state")
    width = len(part.at(0, 0).elements("a list of weights"))
    found = np.stack([part.at(i).rows(classes, width, "weights") for i in range(states)])
    return found
