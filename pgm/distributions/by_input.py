"""Dependence on an input that takes few values: a table, or a distribution, for each value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from pgm.errors import InvalidArgument, listed, shown
from pgm.frames import Sequences
from pgm.printing import html_text
from pgm.variables import as_domain

from .emission import Emission
from .parts import Part


class ByInput:
    """An initial distribution, a transition table or an emission for each value of an input.

    Args:
        parts: a dict from values of the input to tables of probabilities, or to distributions.
        column: the index of this input among several.

    >>> import pgm
    >>> wet = ByInput({"sun": pgm.Categorical([[0.9, 0.1]]), "rain": pgm.Categorical([[0.2, 0.8]])})
    >>> wet.values
    ('sun', 'rain')
    """

    kind, label = "by-input", "by input"

    def __init__(self, parts: Mapping[Any, Any], column: int = 0) -> None:
        if not isinstance(parts, Mapping) or not parts:
            raise InvalidArgument(
                f"ByInput takes a dict from values of an input to tables, or to distributions, not "
                f"{shown(parts)}."
            )
        if isinstance(column, bool) or not isinstance(column, int) or column < 0:
            raise InvalidArgument(f"column= is the index of an input, not {shown(column)}.")
        self.values = tuple(parts)
        self.column = column
        self._emits = all(isinstance(part, Emission) for part in parts.values())
        self.parts: tuple[Any, ...]
        if self._emits:
            self.parts = tuple(parts.values())
            sizes = {part.n_states or 1 for part in self.parts if part.has_parameters}
            if len(sizes) > 1 or len({str(part.domain) for part in self.parts}) > 1:
                raise InvalidArgument("ByInput takes distributions over the same states and symbols.")
        else:
            try:
                self.parts = tuple(np.array(part, dtype=np.float64) for part in parts.values())
            except (TypeError, ValueError):
                raise InvalidArgument(
                    "ByInput takes a table of parameters for each value, or a distribution for each."
                ) from None
        self._keys: np.ndarray | None = None
        if all(isinstance(v, int | float | np.number) for v in self.values):
            self._keys = np.array(self.values, dtype=np.float64)

    def _over(self, values: tuple[Any, ...]) -> Self:
        """The same for inputs that are positions in these values."""
        domain = as_domain(list(values))
        codes = [domain.find(value) for value in self.values]
        if sorted(codes) != list(range(len(values))):
            raise InvalidArgument(
                f"The input has the values {listed(values)}, but here there are {listed(self.values)}."
            )
        made = self._with(self.parts)
        made._keys = np.array(codes, dtype=np.float64)
        return made

    def _with(self, parts: tuple[Any, ...]) -> Self:
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.parts = parts
        return made

    def _index(self, x: np.ndarray) -> np.ndarray:
        if self._keys is None:
            raise InvalidArgument("Values of ByInput must be numeric where other parts take numeric inputs.")
        found = x[:, self.column][:, None] == self._keys
        there = found.any(axis=1) | np.isnan(x[:, self.column])
        if not there.all():
            bad = x[int((~there).argmax()), self.column]
            raise InvalidArgument(f"The input {bad:.6g} is not one of {listed(self.values)}.")
        return np.asarray(found.argmax(axis=1))

    # --- as a part of a model ---

    @property
    def has_parameters(self) -> bool:
        """Whether there are parameters."""
        return not self._emits or all(part.has_parameters for part in self.parts)

    @property
    def n_states(self) -> int | None:
        """How many rows there are."""
        if self._emits:
            return next((part.n_states or 1 for part in self.parts if part.has_parameters), None)
        return len(np.atleast_2d(self.parts[0]))

    @property
    def inputs(self) -> None:
        """It takes any number of inputs."""

    @property
    def domain(self) -> Any:
        """The symbols that it emits, if any."""
        return self.parts[0].domain

    @property
    def vector(self) -> bool:
        """Whether an observation has several entries."""
        return bool(self.parts[0].vector)

    @property
    def dim(self) -> int:
        """The dimension of an observation."""
        return int(self.parts[0].dim)

    _log_prior = 0.0

    @property
    def _n_free(self) -> int:
        if self._emits:
            return sum(part.n_free(np.ones(self.n_states or 1, bool)) for part in self.parts)
        return sum(int((t > 0).sum()) - np.atleast_2d(t).shape[0] for t in self.parts)

    def is_value(self, value: Any) -> bool:
        """Whether this is a symbol, even if it has a length."""
        return self._emits and bool(getattr(self.parts[0], "is_value", lambda value: False)(value))

    def _shaped(self, states: int, classes: int) -> None:
        for value, table in zip(self.values, self.parts, strict=True):
            if self._emits or np.atleast_2d(table).shape != (states, classes):
                raise InvalidArgument(
                    f"For the input {shown(value)} a table of shape {(states, classes)} is needed."
                )
            bad = np.atleast_2d(table)
            if (bad < 0).any() or not np.allclose(bad.sum(axis=1), 1.0, rtol=0, atol=1e-6):
                raise InvalidArgument(
                    f"For the input {shown(value)} rows are probabilities that sum to one, not "
                    f"{shown(table)}."
                )

    def _logs(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            tables = np.log(np.stack([np.atleast_2d(t) for t in self.parts]))
        return np.asarray(tables[self._index(x)])

    def _fitted_counts(self, x: np.ndarray, counts: np.ndarray) -> Self:
        index, made = self._index(x), []
        for i, table in enumerate(self.parts):
            own = np.atleast_2d(table)
            taken = counts[index == i].sum(axis=0)
            total = taken.sum(axis=1, keepdims=True)
            new = np.where(total > 0, taken / np.where(total > 0, total, 1.0), own)
            made.append(new.reshape(table.shape))
        return self._with(tuple(made))

    def _read(self, read: Sequences) -> np.ndarray:
        observed = self.parts[0].read(read)
        return np.asarray(observed.rows[observed.code] if observed.code.size else observed.rows)

    def _log_given(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        index = self._index(x)
        found = np.empty((len(y), self.n_states or 1))
        for i, part in enumerate(self.parts):
            mine = index == i
            if mine.any():
                found[mine] = part.log_rows(y[mine])
        return found

    def _fitted_given(self, y: np.ndarray, x: np.ndarray, weights: np.ndarray) -> Self:
        index, made = self._index(x), []
        for i, part in enumerate(self.parts):
            mine = index == i
            if part.has_parameters and not weights[mine].any():
                made.append(part)
            else:
                made.append(part.fitted(part.gathered(y[mine], np.ascontiguousarray(weights[mine]))))
        return self._with(tuple(made))

    def _guess(self, y: np.ndarray, x: np.ndarray, k: int, random: np.random.Generator) -> np.ndarray:
        return np.asarray(self.parts[0].first_guess(y, np.ones(len(y)), k, random))

    def _collapsed(self, y: np.ndarray) -> int | None:
        found = (part.collapsed(y) for part in self.parts)
        return next((state for state in found if state is not None), None)

    def _draw_given(self, states: np.ndarray, x: np.ndarray, random: np.random.Generator) -> np.ndarray:
        index = self._index(x)
        drawn = np.stack([part.draw(states, random) for part in self.parts])
        return np.asarray(drawn[index, np.arange(len(states))])

    # --- in files and text ---

    def to_parts(self, state: Any = lambda symbol, name: symbol) -> dict[str, Any]:
        """Return its parts, for a file.

        Args:
            state: turns a symbol into its form in the file; if left out, symbols stay as they are.
        """
        values = [state(value, "input") for value in self.values]
        if not self._emits:
            tables = [np.atleast_2d(table).tolist() for table in self.parts]
            return {"values": values, "column": self.column, "tables": tables}
        made = []
        for part in self.parts:
            symbols = {"state": state} if part.kind in ("categorical", "product") else {}
            made.append({part.kind: part.to_parts(**symbols)})
        return {"values": values, "column": self.column, "emissions": made}

    @classmethod
    def from_parts(cls, part: Part) -> Self:
        """Return the distribution of these parts."""
        from . import EMISSIONS

        found = part.members("what depends on an input", ["values", "column"], ["tables", "emissions"])
        values = [part.at("values", i).state() for i in range(len(part.at("values").elements("values")))]
        which = "tables" if "tables" in found else "emissions"
        if which not in found or len(part.at(which).elements("a list")) != len(values):
            part.fail("there is a table, or an emission, for each value")
        made: list[Any] = []
        for i in range(len(values)):
            one = part.at(which, i)
            if which == "tables":
                rows = len(one.elements("rows of probabilities"))
                made.append(one.rows(rows, len(one.at(0).elements("a row")) if rows else 0, "probabilities"))
                continue
            kinds = list(one.members("an emission", [], EMISSIONS))
            if len(kinds) != 1:
                one.fail(f"an emission is one of {listed(EMISSIONS)}")
            made.append(EMISSIONS[kinds[0]].from_parts(one.at(kinds[0])))
        column = part.at("column").whole("the index of an input")
        return cls(dict(zip(values, made, strict=True)), column)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByInput):
            return NotImplemented
        if (self.values, self.column, self._emits) != (other.values, other.column, other._emits):
            return False
        pairs = zip(self.parts, other.parts, strict=True)
        if self._emits:
            return all(a == b for a, b in pairs)
        return all(np.array_equal(np.atleast_2d(a), np.atleast_2d(b)) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = []
        for value, part in zip(self.values, self.parts, strict=True):
            said = repr(part) if self._emits else repr(part.tolist())
            lines.append(f"input {value}: {said}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_text(repr(self))
