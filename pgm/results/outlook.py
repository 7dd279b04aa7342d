"""Forecasts of observations, each computed on access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.results.density import Density
from pgm.results.discrete import Distribution
from pgm.results.emitted import Emitted
from pgm.variables import REAL, Variable

Seen = Any  # Distribution, Density or Emitted; of columns of several kinds a dict of these
_CHUNK = 65_536


def emitted(emission: Any, p: np.ndarray, name: str = "observation", names: Sequence[str] = ()) -> Seen:
    """The observation when states have these probabilities.

    Args:
        emission: what the states emit.
        p: the probabilities.
        name: of the observation.
        names: of the entries of normal observations; from `name` if left out.

    Raises:
        InvalidArgument: the emission cannot be written as a distribution.

    >>> from pgm.distributions import Categorical
    >>> emitted(Categorical([[0.5, 0.5], [0.9, 0.1]]), np.array([0.5, 0.5])).values.round(6).tolist()
    [0.7, 0.3]
    """
    emission, p = _untied(emission, p)
    if (domain := emission.domain) is not None:
        return Distribution((Variable.of(name, domain),), _table(emission) @ p)
    if (parts := columns(emission)) is not None:
        return {column: emitted(part, p, column) for column, part in parts.items()}
    if (found := emission.normals()) is not None:
        d = found[0].shape[1]
        called = names or ([name] if d == 1 else [f"{name}[{i}]" for i in range(d)])
        return Density(tuple(Variable.of(each, REAL) for each in called), p, *found)
    if (why := unknown(emission)) is not None:
        raise InvalidArgument(why)
    return Emitted(emission, p, name)


def unknown(emission: Any) -> str | None:
    """Why the emission cannot be written as a distribution; None: it can."""
    if hasattr(emission, "by_row"):
        return unknown(emission.shared)
    if emission.domain is not None or emission.normals() is not None:
        return None
    if (parts := columns(emission)) is not None:
        return next((why for why in map(unknown, parts.values()) if why is not None), None)
    if hasattr(emission, "moments"):
        reason = getattr(emission, "unforeseen", None)
        return None if reason is None else reason()
    kind = type(next(iter(getattr(emission, "parts", [emission])))).__name__
    return f"What a {kind} emits cannot be forecast."


def columns(emission: Any) -> Mapping[str, Any] | None:
    """The parts of an emission with columns of mixed kinds, by name; None: it has none."""
    found = getattr(emission, "columns", None)
    return None if found is None else found()


def _untied(emission: Any, p: np.ndarray) -> tuple[Any, np.ndarray]:
    """The emission rows that several states share, with the probabilities of the rows."""
    while hasattr(emission, "by_row"):
        emission, p = emission.shared, emission.by_row(p)
    return emission, p


def _table(emission: Any) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(emission.log_rows(np.arange(emission.domain.card))))


class Outlook(Sequence[Seen]):
    """The emissions of states with these probabilities, a row for each step.

    >>> from pgm.distributions import Poisson
    >>> Outlook(Poisson([1.0, 5.0]), np.array([[0.5, 0.5]])).mean.tolist()
    [3.0]
    """

    __slots__ = ("_emission", "_name", "_names", "_p")

    def __init__(
        self, emission: Any, p: np.ndarray, name: str = "observation", names: Sequence[str] = ()
    ) -> None:
        """Take the emission and the probabilities, (steps, states)."""
        self._emission, self._p = _untied(emission, p)
        self._name, self._names = name, tuple(names)

    def __len__(self) -> int:
        """The number of steps."""
        return len(self._p)

    def __getitem__(self, step: Any) -> Any:
        """The observation in one step."""
        if isinstance(step, slice):
            return Outlook(self._emission, self._p[step], self._name, self._names)
        return emitted(self._emission, self._p[step], self._name, self._names)

    def __eq__(self, other: object) -> bool:
        """Equal when the same is emitted with the same probabilities."""
        if not isinstance(other, Outlook):
            return NotImplemented
        same = (self._name, self._names) == (other._name, other._names)
        return same and bool(self._emission == other._emission) and np.array_equal(self._p, other._p)

    __hash__ = None  # type: ignore[assignment]

    @property
    def unknown(self) -> str | None:
        """Why there is no forecast; None: there is one."""
        return unknown(self._emission)

    @property
    def columns(self) -> Mapping[str, Outlook] | None:
        """Each column separately, where columns are of mixed kinds."""
        parts = columns(self._emission)
        return None if parts is None else {name: Outlook(one, self._p, name) for name, one in parts.items()}

    @property
    def probabilities(self) -> np.ndarray:
        """P(symbol), (steps, symbols)."""
        return np.asarray(self._p @ _table(self._emission).T)

    @property
    def mean(self) -> np.ndarray:
        """The mean of each step's values."""
        return self._moments()[0]

    @property
    def std(self) -> np.ndarray:
        """The standard deviation of each step's values."""
        return self._moments()[1]

    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        if (parts := self.columns) is not None:
            return _beside(parts)
        if self._emission.domain is not None:
            found = list(self)
            return np.array([one.mean for one in found]), np.array([one.std for one in found])
        if (why := self.unknown) is not None:
            raise InvalidArgument(why)
        if (normals := self._emission.normals()) is not None:
            means, spread, flat = normals[0], np.einsum("kdd->kd", normals[1]), normals[0].shape[1] == 1
        else:
            (means, spread), flat = self._emission.moments(), not self._emission.vector
        mean, std = np.empty((len(self), means.shape[1])), np.empty((len(self), means.shape[1]))
        for at in range(0, len(self), _CHUNK):
            p, some = self._p[at : at + _CHUNK], slice(at, at + _CHUNK)
            mean[some] = p @ means
            apart = (means - mean[some, None]) ** 2
            std[some] = np.sqrt(np.einsum("tk,tkd->td", p, spread + apart))
        return (mean[:, 0], std[:, 0]) if flat else (mean, std)


class EachStep(tuple[Seen, ...]):
    """The observation in each step, where different states emit it.

    >>> EachStep(()).columns
    """

    __slots__ = ()
    unknown = None
    columns = None

    @property
    def probabilities(self) -> np.ndarray:
        """P(symbol), (steps, symbols)."""
        return np.array([one.values for one in self])

    @property
    def mean(self) -> np.ndarray:
        """The mean of each step's values."""
        return np.array([one.mean for one in self])

    @property
    def std(self) -> np.ndarray:
        """The standard deviation of each step's values."""
        return np.array([one.std for one in self])


def _beside(parts: Mapping[str, Outlook]) -> tuple[np.ndarray, np.ndarray]:
    for name, one in parts.items():
        if isinstance(one[0], Distribution) and not all(_is_number(s) for s in one[0].variables[0].states):
            raise InvalidArgument(
                f"The states of column {name!r} are not numeric: ask for it alone, .column({name!r})."
            )
    found = [(one.mean.reshape(len(one), -1), one.std.reshape(len(one), -1)) for one in parts.values()]
    return np.hstack([mean for mean, _ in found]), np.hstack([std for _, std in found])


def _is_number(state: Any) -> bool:
    return isinstance(state, int | float | np.number)


def column(outlook: Outlook | EachStep, name: Any) -> Outlook:
    """One column; the error for an unknown one names those that exist.

    Args:
        outlook: a forecast with columns.
        name: what the column is called.

    Raises:
        InvalidArgument: there is no such column, or there are none.
    """
    parts = outlook.columns
    if parts is None:
        raise InvalidArgument("What is observed has no columns of several kinds.")
    if name not in parts:
        raise InvalidArgument(
            f"There is no column {shown(name)}; there are {listed(parts)}.{nearest(str(name), parts)}"
        )
    return parts[name]
