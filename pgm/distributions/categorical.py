"""The categorical distribution, for one state or for each of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, Self

import numpy as np

from pgm.errors import InvalidArgument, InvalidTable, listed, shown
from pgm.evidence import Likelihood
from pgm.frames import Sequences
from pgm.printing import chances, html_table, html_text, label, text_table
from pgm.randomness import draw_count, generator
from pgm.variables import Domain, as_domain, is_missing, unordered

from .checks import finite, row_weights
from .coordinates import of_shares, shares_at
from .emission import Observed, kept_where_empty
from .parts import Part

_ROWS = 20
_NEGLIGIBLE = 2.0**-200  # a probability that EM drives to zero: it changes no digit of any answer
_ROUNDING = 1e-6 * (1 + 1e-6)
_LAST_BITS = 2.0**-50  # sums this near to one are left alone: files are read back unchanged


class Categorical:
    """A categorical distribution: a list of probabilities, or a table with a row for each state.

    Args:
        p: probabilities that sum to one, in each row; or a dict {symbol: p}. If left out, yet to be fitted.
        symbols: the symbols of the columns, in order; 0, 1, ... if left out.

    >>> weather = Categorical({"dry": 0.7, "rainy": 0.3})
    >>> weather.symbols, round(float(weather.log_density("dry")), 6)
    (('dry', 'rainy'), -0.356675)
    """

    __slots__ = ("_domain", "_p", "n_states")
    kind, label = "categorical", "categorical"

    _domain: Domain
    _p: np.ndarray  # (k, symbols); without rows: yet to be fitted
    n_states: int | None  # None: one distribution, not one for each state

    def __init__(self, p: Any = None, symbols: Iterable[Any] | None = None) -> None:
        if p is None:
            if symbols is None or unordered(symbols):
                raise InvalidArgument("A Categorical needs probabilities, or symbols= as a list.")
            domain = as_domain(list(symbols))
            self._fill(np.empty((0, domain.card)), domain, None)
            return
        if isinstance(p, Mapping):
            if symbols is not None:
                raise InvalidArgument("symbols= is for a list; a dict has its symbols already.")
            p, symbols = list(p.values()), list(p)
        table = finite("Categorical", p, (1, 2))
        if table.size == 0 or (table < 0).any():
            raise InvalidTable(f"Categorical takes probabilities, which are not negative: {shown(p)}.")
        sums = table.sum(axis=-1, keepdims=True)
        if (np.abs(sums - 1.0) > _ROUNDING).any():
            worst = float(sums.flat[int(np.abs(sums - 1.0).argmax())])
            raise InvalidTable(
                f"The probabilities of a Categorical sum to one in each row, not to {worst:.10g}."
            )
        if unordered(symbols):
            raise InvalidArgument(f"A set has no order; write symbols= as a list, not {shown(symbols)}.")
        if symbols is not None and not isinstance(symbols, Iterable):
            raise InvalidArgument(f"symbols= is a list, not {shown(symbols)}.")
        domain = as_domain(list(range(table.shape[-1]) if symbols is None else symbols))
        if domain.card != table.shape[-1]:
            raise InvalidArgument(f"There are {domain.card} symbols for {table.shape[-1]} probabilities.")
        table = np.where(np.abs(sums - 1.0) <= _LAST_BITS, table, table / sums)
        self._fill(table, domain, table.shape[0] if table.ndim == 2 else None)

    def _fill(self, table: np.ndarray, domain: Domain, n_states: int | None) -> None:
        table = np.array(table).reshape(-1, domain.card)
        table.flags.writeable = False
        for name, value in (("_p", table), ("_domain", domain), ("n_states", n_states)):
            object.__setattr__(self, name, value)

    @property
    def symbols(self) -> tuple[Any, ...]:
        """The symbols, in the order of the probabilities."""
        return self._domain.states

    @property
    def p(self) -> np.ndarray:
        """The probabilities, read-only; a row for each state if there are several."""
        return self._p if self.n_states is not None else self._known[0]

    @property
    def _known(self) -> np.ndarray:
        if not self.has_parameters:
            raise InvalidArgument("This Categorical has no parameters yet: `fit` gives it some.")
        return self._p

    def log_density(self, x: Any) -> np.ndarray:
        """Return the logarithm of the probability of each symbol in `x`, a column for each state.

        Args:
            x: a symbol, or a list of them; None where nothing was observed, which has probability one.

        Raises:
            InvalidArgument: a value is not one of the symbols.

        >>> Categorical({"a": 0.75, "b": 0.25}).log_density(["a", "b"]).round(6)
        array([-0.287682, -1.386294])
        """
        codes, lone = self._codes(x)
        found = self.log_rows(codes)
        found = found if self.n_states is not None else found[:, 0]
        return np.asarray(found[0] if lone else found)

    def sample(
        self, n: int, *, seed: int | np.random.Generator | None = None, state: int | None = None
    ) -> np.ndarray:
        """Draw n symbols; with several states, from the distribution of one of them.

        Args:
            n: how many.
            seed: a whole number, or a numpy Generator.
            state: which of several distributions to draw from; only where there are several.

        Raises:
            InvalidArgument: `state` is missing, or given where there is only one distribution; n or seed is
                not a whole number of at least 0.

        >>> Categorical({"dry": 1.0, "rainy": 0.0}).sample(2, seed=0).tolist()
        ['dry', 'dry']
        """
        if (state is None) != (self.n_states is None):
            raise InvalidArgument(
                "Give state= where there are several distributions to draw from, and only there."
            )
        p = self._known[0 if state is None else state]
        codes = generator(seed).choice(self._domain.card, size=draw_count(n), p=p)
        return np.take(self._domain.array, codes)

    def statistics(self, x: Any, weights: Any = None) -> np.ndarray:
        """Return the weight of each symbol: (states, symbols).

        Args:
            x: a symbol, or a list of them.
            weights: one for each row; or a column for each state.

        Raises:
            InvalidArgument: a value is not one of the symbols, or weights are negative or too few.

        >>> Categorical([0.5, 0.5], symbols=["a", "b"]).statistics(["a", "b", "a"]).tolist()
        [[2.0, 1.0]]
        """
        codes, _ = self._codes(x)
        return self.gathered(codes, row_weights(weights, codes.size))

    def fit(self, x: Any, weights: Any = None) -> Self:
        """Return the maximum-likelihood distribution for these symbols.

        Args:
            x: a symbol, or a list of them.
            weights: as for `statistics`.

        Raises:
            InvalidArgument: no row has any weight, or a value is not one of the symbols.

        >>> Categorical([0.5, 0.5], symbols=["a", "b"]).fit(["a", "b", "a", "a"])
        Categorical({'a': 0.75, 'b': 0.25})
        """
        return self.fitted(self.statistics(x, weights))

    def fitted(self, statistics: np.ndarray, prior: np.ndarray | None = None) -> Self:
        """Return the maximum-likelihood distribution for symbols with these weights.

        Args:
            statistics: what `statistics` returned, or a sum of several such results.
            prior: weights of symbols that were never seen, counted with the others.

        Raises:
            InvalidArgument: no row has any weight. Of several states, one without weight keeps its own.

        >>> one = Categorical([0.5, 0.5], symbols=["a", "b"])
        >>> one.fitted(one.statistics(["a", "a", "b"]) + one.statistics(["a"]))
        Categorical({'a': 0.75, 'b': 0.25})
        """
        statistics = statistics if prior is None else statistics + prior
        sums = statistics.sum(axis=1, keepdims=True)
        empty = kept_where_empty(sums[:, 0], len(self._p), "Categorical")
        shares = np.divide(statistics, sums, out=np.zeros_like(statistics), where=~empty[:, None])
        shares[shares < _NEGLIGIBLE] = 0.0
        if empty.any():
            shares[empty] = self._p[empty]
        return self._of(shares)

    def to_parts(self, state: Callable[[Any, str], Any] = lambda symbol, name: symbol) -> dict[str, Any]:
        """Return the symbols and the probabilities, for a file.

        Args:
            state: turns a symbol into its form in the file; if left out, symbols stay as they are.

        Raises:
            InvalidArgument: a symbol has no form in that file.

        >>> Categorical({"dry": 0.7, "rainy": 0.3}).to_parts()
        {'symbols': ['dry', 'rainy'], 'p': [0.7, 0.3]}
        """
        return {"symbols": [state(s, "symbols") for s in self.symbols], "p": self.p.tolist()}

    @classmethod
    def from_parts(cls, part: Part) -> Self:
        """Return the distribution of these parts, as `to_parts` returned them.

        Args:
            part: read from a file, or `Part.of(parts)`.

        Raises:
            FileFormatError, InvalidTable: these are not parts of such a distribution.

        >>> weather = Categorical({"dry": 0.7, "rainy": 0.3})
        >>> Categorical.from_parts(Part.of(weather.to_parts())) == weather
        True
        """
        part.members("a categorical distribution", ["symbols", "p"])
        named = part.at("symbols")
        symbols = [named.at(i).state() for i in range(len(named.elements("a list of symbols")))]
        p = part.at("p")
        if p.elements("a list of probabilities") and type(p.value[0]) is list:
            return cls(p.rows(len(p.value), len(symbols), "the probabilities"), symbols)
        return cls(p.numbers(len(symbols), "the probabilities"), symbols)

    def _codes(self, x: Any) -> tuple[np.ndarray, bool]:
        lone = isinstance(x, str) or not hasattr(x, "__len__") or self._domain.find(x) >= 0
        values = [x] if lone else list(x)
        codes = np.array([self._domain.find(value) for value in values], dtype=np.int64)
        for i in np.flatnonzero(codes < 0).tolist():
            if not is_missing(values[i]):
                raise InvalidArgument(
                    f"{shown(values[i])} is not one of the symbols {list(self.symbols)[:10]}."
                )
        return codes, lone

    # --- as an emission ---

    @property
    def vector(self) -> bool:
        """Whether an observation has several entries: it is one symbol."""
        return False

    @property
    def has_parameters(self) -> bool:
        """Whether there are probabilities; else they are yet to be fitted."""
        return len(self._p) > 0

    def n_free(self, states: np.ndarray) -> int:
        """The number of free parameters: one fewer than symbols in each row, without impossible ones."""
        return int((self._known[states] > 0.0).sum() - states.sum())

    @property
    def domain(self) -> Any:
        """The symbols with their codes, as variables have them."""
        return self._domain

    def normals(self) -> None:
        """It is not Gaussian."""

    def is_value(self, value: Any) -> bool:
        """Whether this is a symbol, even if it has a length."""
        return self._domain.find(value) >= 0

    def read(self, sequences: Sequences) -> Observed:
        """Read symbols as codes; those that were not observed have a row of their own."""
        card = self._domain.card
        if isinstance(sequences.rows, list) and any(isinstance(x, Likelihood) for x in sequences.rows):
            return self._read_soft(sequences)
        codes = sequences.codes(self._domain)
        if codes.min(initial=0) < 0:
            codes[codes < 0] = card
        return Observed(np.array([*range(card), -1]), codes)

    def _read_soft(self, sequences: Sequences) -> Observed:
        """Distinct rows of likelihoods of each symbol; ones where nothing was observed."""
        soft = [i for i, x in enumerate(sequences.rows) if isinstance(x, Likelihood)]
        plain = [None if isinstance(x, Likelihood) else x for x in sequences.rows]
        card = self._domain.card
        codes = replace(sequences, rows=plain).codes(self._domain)
        codes[codes < 0] = card
        rows = [*np.eye(card), np.ones(card)]
        for i in soft:
            found = np.full(card, np.nan)
            place = sequences.place(i)
            for symbol, weight in sequences.rows[i].items:
                at = self._domain.find(symbol)
                if at < 0:
                    raise InvalidArgument(
                        f"{place[0].upper()}{place[1:]}: {shown(symbol)} is not one of the symbols "
                        f"{listed(self.symbols)}."
                    )
                found[at] = weight
            if not (found >= 0.0).all() or not 0.0 < found.sum() < np.inf:
                raise InvalidArgument(
                    f"{place[0].upper()}{place[1:]}: a Likelihood has a weight for each of the symbols "
                    f"{listed(self.symbols)}, not negative, and not all zero; not {sequences.rows[i]!r}."
                )
            codes[i] = len(rows)
            rows.append(found)
        return Observed(np.array(rows), codes)

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log probability of each code, a column for each state; -1 was not observed."""
        if rows.ndim == 2:  # likelihoods of each symbol
            with np.errstate(divide="ignore"):  # einsum: a row's bits do not depend on other rows
                logs = np.log(np.einsum("rs,ks->rk", rows, self._known))
            logs[(rows == 1.0).all(axis=1)] = 0.0  # nothing was observed
            return np.asarray(logs)
        with np.errstate(divide="ignore"):
            found = np.log(self._known.T)[rows]
        found[rows < 0] = 0.0
        return np.asarray(found)

    def gathered(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The weight of each symbol in each state."""
        if rows.ndim == 2:
            p = self._known if self.has_parameters else np.ones((weights.shape[1], self._domain.card))
            sums = rows @ p.T
            ratio: np.ndarray = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0.0)
            ratio[(rows == 1.0).all(axis=1)] = 0.0  # nothing was observed
            return np.asarray(p * (ratio.T @ rows))
        found = np.zeros((self._domain.card, weights.shape[1]))
        there = rows >= 0
        np.add.at(found, rows[there], weights[there])
        return found.T

    def parameters(self) -> tuple[np.ndarray]:
        """The probabilities."""
        return (self._known,)

    def with_parameters(self, values: Sequence[np.ndarray]) -> Self | None:
        """The same distribution with other parameters; None if these are impossible."""
        p = values[0]
        return (
            self._of(p / p.sum(axis=1, keepdims=True)) if (p >= 0.0).all() and p.any(axis=1).all() else None
        )

    def coordinates(self) -> np.ndarray:
        """The parameters, unconstrained."""
        return of_shares(self._known)

    def at(self, coordinates: np.ndarray) -> Self:
        """The same distribution with the parameters at these coordinates."""
        return self._of(shares_at(coordinates, self._known))

    def _of(self, p: np.ndarray) -> Self:
        made = self.__new__(type(self))
        made._fill(p, self._domain, len(p) if self.n_states is not None or len(p) > 1 else None)
        return made

    def filled(self, observed: Observed, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """What was observed, and draws from these states where it was not."""
        if observed.rows.ndim == 2:
            shares = np.cumsum(observed.rows[observed.code] * self._known[states], axis=1)
            uniform = random.random(states.size) * shares[:, -1]
            return np.asarray(np.take(self._domain.array, (shares <= uniform[:, None]).sum(axis=1)))
        codes, drawn = observed.rows[observed.code], self.draw(states, random)
        return np.where(codes < 0, drawn, np.take(self._domain.array, codes))

    def collapsed(self, rows: np.ndarray) -> None:
        """None: probabilities do not collapse."""

    def expected_log(self, statistics: np.ndarray) -> float:
        """The log probability of symbols with these weights."""
        seen = statistics > 0.0
        with np.errstate(divide="ignore"):
            return float((statistics[seen] * np.log(self._known[seen])).sum())

    def pseudo(self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """This weight of each symbol in each state."""
        return np.full((n_states, self._domain.card), weight)

    def first_guess(
        self, rows: np.ndarray, counts: np.ndarray, n_states: int, random: np.random.Generator
    ) -> np.ndarray:
        """Each symbol divided among the states at random."""
        return np.asarray(random.dirichlet(np.ones(n_states), len(rows)) * counts[:, None])

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """A symbol for each of these states."""
        sums = np.cumsum(self._known, axis=1)
        sums /= sums[:, -1:]
        codes = np.empty(states.size, np.int64)
        uniform = random.random(states.size)
        for k in range(len(sums)):
            mine = states == k
            codes[mine] = np.searchsorted(sums[k], uniform[mine], side="right")
        return np.take(self._domain.array, codes)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Categorical does not change; .{name} cannot be set")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categorical):
            return NotImplemented
        same = self._domain == other._domain and self.n_states == other.n_states
        return same and np.array_equal(self._p, other._p)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {slot: getattr(self, slot) for slot in Categorical.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._fill(state["_p"], state["_domain"], state["n_states"])

    def __repr__(self) -> str:
        if not self.has_parameters:
            return f"Categorical(symbols=[{listed(self.symbols)}])"
        if self.n_states is None and self._domain.card <= 10:
            inside = ", ".join(f"{s!r}: {p:.6g}" for s, p in zip(self.symbols, self.p.tolist(), strict=True))
            return f"Categorical({{{inside}}})"
        return text_table(*self._lines(), title="Categorical")

    def _repr_html_(self) -> str:
        if not self.has_parameters:
            return html_text(repr(self))
        return html_table(*self._lines(), title="Categorical")

    def _lines(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [str(k) if self.n_states is not None else "", *chances(row[:_ROWS])]
            for k, row in enumerate(self._p[:_ROWS].tolist())
        ]
        return (
            ["state" if self.n_states is not None else "", *map(label, self.symbols[:_ROWS])],
            rows,
            self._left_out(),
        )

    def _left_out(self) -> str:
        sizes = (len(self._p), "states"), (len(self.symbols), "symbols")
        said = [f"{n - _ROWS:,} more of {n:,} {what}" for n, what in sizes if n > _ROWS]
        return f"... {', '.join(said)}" if said else ""
