"""The interface of every local distribution P(child | parents)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from pgm.distributions.parts import Part
from pgm.errors import InvalidArgument, InvalidTable, listed, shown
from pgm.factors import Gate, ModelPart
from pgm.printing import COLUMNS, html_table, html_text, joined, label, text_table
from pgm.randomness import draw_count, generator
from pgm.variables import Variable, states_array

from .complete_rows import codes_of_frame, codes_of_row, weighted_rows
from .own_parameters import OwnParameters, of_rows
from .statistics import Codes, Configurations, RowCounts, SeenAndCounted, weighted_log
from .table_input import Array, check_cells

ROWS_SHOWN = 30
_CHUNK = 1 << 16  # rows at a time
_S = TypeVar("_S")


def printed(
    lines: tuple[Sequence[object], Sequence[Sequence[object]], int], title: str
) -> tuple[list[str], list[list[str]], str, str, int]:
    """Return the header, rows, note and title of a printed table, and its count of columns before cutting."""
    header, rows, count = lines
    cut = [
        list(map(label, row if len(row) <= COLUMNS else (*row[: COLUMNS - 1], row[-1])))
        for row in (header, *rows)
    ]
    note = f"... {count - len(rows):,} more of {count:,} rows" if count > len(rows) else ""
    return cut[0], cut[1:], note, title, len(header)


class Causes(NamedTuple):
    """Causes that act independently of each other, as in a noisy-OR."""

    effects: Mapping[str, Array]  # for each cause (its states, the child's states)
    leak: Array  # the effect when no cause acts
    none: Array  # no effect, as a distribution over the child's states
    smallest: bool  # whether the smallest effect is observed, not the largest


def active(variable: Variable) -> int:
    """Return the code of the state in which an input of a gate acts: True, or else the second of two."""
    found = variable.domain.find(True)
    return found if found >= 0 else 1


def check_order(name: str, what: str, variables: Iterable[Variable]) -> None:
    """Refuse variables whose states have an undeclared order, where it matters which state comes second."""
    for v in variables:
        if not v.domain.declared and v.card > 1 and v.domain.find(True) < 0:
            raise InvalidTable(
                f"{name!r}: a {what} depends on the order of the states of {v.name!r}, which was never "
                f"declared: {listed(v.states)} are merely sorted, because only data or a function named "
                f"them. Declare it with states=[...] where {v.name!r} gets its distribution; of two states "
                "the second one acts."
            )


def set_fields(cpd: CPD, **fields: object) -> None:
    """Set the fields of a new CPD, which refuses assignment otherwise."""
    for name, value in fields.items():
        object.__setattr__(cpd, name, value)


def as_it_is(state: Any, name: str) -> Any:
    """Return a state as it is."""
    return state


class CPD(ABC):
    """P(child | parents), an immutable value.

    A distribution that names its parents can be created before there are variables; the network makes a bound
    copy, which knows its child and the states of its parents.

    It is learned from its sufficient statistics: `fit(data)` is `fitted(statistics(data))`. The statistics of
    parts of the data add up, and expected statistics, as `BayesianNetwork.expected_counts` returns them,
    serve as well. So one M-step serves data with and without gaps.
    """

    __slots__ = ("_child", "_given")

    kind: ClassVar[str]  # its key in pgm.cpds.KINDS, and in JSON
    label: ClassVar[str]  # what a picture calls it
    continuous: ClassVar[bool] = False  # whether the child has no states, but a density
    takes_continuous: ClassVar[bool] = False  # whether parents may be continuous
    tabular: ClassVar[bool] = False  # whether its statistics are counts in the shape of its table
    rowwise: ClassVar[bool] = False  # whether it is fitted to rows, having no smaller sufficient statistics

    _child: Variable | None
    _given: tuple[Variable, ...]

    @property
    @abstractmethod
    def parents(self) -> tuple[str, ...]:
        """The names of the parents, in order."""

    @property
    def called(self) -> str:
        """Its name in messages."""
        return f"a {type(self).__name__}"

    @property
    def is_fitted(self) -> bool:
        """Whether it has parameters already; only estimators may be without."""
        return True

    @property
    def waits_for_states(self) -> bool:
        """Whether the states of the child come with `fit`, unless they are declared."""
        return False

    @abstractmethod
    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> CPD:
        """Return a copy bound to the child `name` and these parents.

        Args:
            name: the child.
            states: its states in order; None: not declared.
            given: the parents as variables, in the order of `parents`.

        Raises:
            InvalidTable: it does not fit these states.

        >>> import pgm
        >>> rain = Variable("rain", [False, True])
        >>> pgm.NoisyOr({"rain": 0.9}).bind("wet", None, (rain,)).child.states
        (False, True)
        """

    @abstractmethod
    def factor(self, scope: Sequence[int]) -> ModelPart:
        """Return the distribution as inference takes it; `scope`: positions of the parents, then the child's.

        Args:
            scope: positions among the variables of a model.

        Raises:
            InvalidTable: it belongs to no network yet.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> net.cpd("lung").factor([2, 3]).scopes.tolist()
        [[2, 3]]
        """

    @abstractmethod
    def rows(self, codes: Codes) -> Array:
        """Return P(child | row) for each row of the parents' codes, of shape (rows, states).

        Args:
            codes: int array of shape (rows, parents), with the columns in the order of `parents`.

        Raises:
            InvalidTable: it belongs to no network yet.
            InvalidArgument: it is a density, which has no such rows.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> import numpy as np
        >>> net.cpd("lung").rows(np.array([[0], [1]])).tolist()
        [[0.1, 0.9], [0.01, 0.99]]
        """

    def table(self, limit: int | None = None) -> Array:
        """Return P(child | parents) written out, of shape (parents..., states).

        More than `limit` entries (default: what the memory limit holds) raise pgm.TooLarge.

        Args:
            limit: the most entries it may have.

        Raises:
            TooLarge: it would have more.
            InvalidTable: it belongs to no network yet, or is a density.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> net.cpd("lung").table().tolist()
        [[0.1, 0.9], [0.01, 0.99]]
        """
        shape = self._cells(limit)
        count = math.prod(shape[:-1])
        table = np.empty((count, shape[-1]))
        for begin in range(0, count, _CHUNK):
            part = np.arange(begin, min(count, begin + _CHUNK))
            codes = np.empty((part.size, len(shape) - 1), dtype=np.int64)
            for i, steps in enumerate(np.unravel_index(part, shape[:-1]) if len(shape) > 1 else ()):
                codes[:, i] = steps
            table[part] = self.rows(codes)
        table.flags.writeable = False
        return table.reshape(shape)

    def probability(self, row: Mapping[str, Any]) -> float:
        """Return P(child | parents) for one row: a state for the child and for each parent.

        Args:
            row: {name: state} for the child and every parent.

        Raises:
            InvalidEvidence: one of them is missing.
            UnknownState: a value is not a state.

        >>> wet, rain = Variable("wet", [False, True]), Variable("rain", [False, True])
        >>> from pgm.cpds import TableCPD
        >>> TableCPD(wet, [rain], {True: 0.9, False: 0.2}).probability({"rain": True, "wet": False})
        0.1
        """
        codes = codes_of_row((*self.given, self.child), row)
        return float(self.rows(codes[np.newaxis, :-1])[0, codes[-1]])

    def _row(self, row: Any) -> Any:
        """Return one row of the parents as `rows` takes it."""
        return codes_of_row(self.given, row)[np.newaxis]

    def _frame(self, frame: Any) -> Any:
        """Return the parents' columns as `rows` takes them."""
        return codes_of_frame(self.given, frame)

    def sample(
        self, given: Any = None, *, n: int | None = None, seed: int | np.random.Generator | None = None
    ) -> npt.NDArray[Any]:
        """Draw states of the child: `n` for one row of the parents, or one for each row of a frame.

        Args:
            given: a state for each parent, with `n`; or a frame with their columns.
            n: how many states to draw for one row of the parents.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidEvidence, InvalidFrame: a parent is missing.
            InvalidArgument: n or seed is not a whole number of at least 0.
            TooLarge: this many draws do not fit the memory limit.

        >>> wet, rain = Variable("wet", [False, True]), Variable("rain", [False, True])
        >>> from pgm.cpds import TableCPD
        >>> TableCPD(wet, [rain], {True: 1.0, False: 0.0}).sample({"rain": [True, False]}, seed=0)
        array([ True, False])
        """
        one = n is not None or not self.given
        codes = self._row({} if given is None else given) if one else self._frame(given)
        rng = generator(seed)
        count = draw_count(1 if n is None else n) if one else len(codes)
        check_cells((count,), f"{self.child.name!r}: this many draws", "draw fewer at a time")
        drawn = np.empty(count, dtype=np.int64)
        for begin in range(0, count, _CHUNK):
            part = slice(begin, begin + _CHUNK)
            rows = self.rows(codes if one else codes[part])
            sums = np.cumsum(rows, axis=1)
            uniform = rng.random(min(count, begin + _CHUNK) - begin)[:, np.newaxis] * sums[:, -1:]
            last = rows.shape[1] - 1 - (rows[:, ::-1] > 0).argmax(axis=1)  # rounding may reach past it
            drawn[part] = np.minimum((sums <= uniform).sum(axis=1), last)
        return states_array(self.child, drawn)

    # --- equivalent forms, for file formats that have them; None where there is none ---

    def listed_rows(self) -> tuple[npt.NDArray[np.int32], Array, Array] | None:
        """Return configurations of the parents that have rows, these rows, and the row of all others."""
        return None

    def outcomes(self) -> npt.NDArray[np.int32] | None:
        """Return the child's state for each configuration of the parents, if these determine it."""
        return None

    def causes(self) -> Causes | None:
        """Return the effects of independent causes, of which the largest or smallest is observed."""
        return None

    # --- learning ---

    def statistics(self, data: Any, weights: Any = None) -> Any:
        """Return the sufficient statistics of some data; those of parts of the data add up with `+`.

        Args:
            data: a data frame or a dict of columns, with the child and all parents in each row; or expected
                counts: an array of the shape of the table, or whatever else `net.expected_counts` returns.
            weights: one for each row of a frame.

        Raises:
            InvalidArgument: weights are negative or of the wrong length.
            InvalidFrame, UnknownState: a column is missing or has gaps, or has a value that is not a state.

        >>> wet, rain = Variable("wet", [False, True]), Variable("rain", [False, True])
        >>> from pgm.cpds import TableCPD
        >>> cpd = TableCPD(wet, [rain], {True: 0.9, False: 0.2})
        >>> cpd.statistics({"rain": [1, 1, 0], "wet": [1, 0, 0]}, weights=[3, 1, 1]).tolist()
        [[1.0, 0.0], [1.0, 3.0]]
        """
        if isinstance(data, RowCounts | Configurations | SeenAndCounted):
            if weights is not None:
                raise InvalidArgument("weights= are for the rows of a frame; statistics have their own.")
            return data
        codes, shares = weighted_rows((*self.given, self.child), data, weights)
        return self._counted(codes, shares)

    def gathered(self, codes: Codes, values: Array, weights: Array) -> Any:
        """Return the statistics of complete rows that are already coded.

        Args:
            codes: a column for each discrete parent, and the child if it is discrete, in order.
            values: a column for each continuous parent, and the child if it is continuous, in order.
            weights: one for each row.

        Raises:
            InvalidTable: it belongs to no network yet.

        >>> import pgm
        >>> lung = pgm.load_network("asia").cpd("lung")
        >>> lung.gathered(np.array([[0, 1], [0, 0]]), np.empty((2, 0)), np.ones(2)).tolist()
        [[1.0, 1.0], [0.0, 0.0]]
        """
        return self._counted(codes, weights)

    def expected_log(self, statistics: Any) -> float:
        """Return the log-likelihood of data with these statistics: the sum of log P(child | parents).

        Args:
            statistics: what `statistics` returned, or expected ones.

        Raises:
            InvalidArgument: statistics of another distribution.

        >>> import pgm
        >>> lung = pgm.load_network("asia").cpd("lung")
        >>> round(lung.expected_log(np.array([[1.0, 0.0], [0.0, 0.0]])), 6)
        -2.302585
        """
        if isinstance(statistics, np.ndarray):
            statistics = self.statistics(statistics)
        if isinstance(statistics, SeenAndCounted):
            return self.expected_log(statistics.seen) + self.expected_log(statistics.counted)
        if isinstance(statistics, RowCounts):
            return weighted_log(statistics.values, self._own_rows())
        found = self._checked_statistics(statistics, Configurations)
        shares = self.rows(found.rows[:, :-1])[np.arange(len(found.rows)), found.rows[:, -1]]
        return weighted_log(found.weights, shares)

    def _own_rows(self) -> Array:
        """Return the rows that `RowCounts` count, in the same shape; by default there are no parameters."""
        return np.ones((1, 1))

    def _counted(self, codes: Codes, weights: Array) -> Any:
        """Return the statistics of rows of codes, the child last, and their weights."""
        return Configurations.of(codes, weights, [v.card for v in (*self._given, self.child)])

    def expected(self, gate: Gate, tables: Sequence[Array]) -> Any:
        """Return the statistics that expected counts of a gate's tables determine; None if they fall short.

        Args:
            gate: what `factor` returned.
            tables: expected counts for each of its tables, in their shape.

        Raises:
            InvalidTable: it belongs to no network yet.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("a", 0.5); net.add("b", 0.5)
        >>> net.add("odd", pgm.Parity(["a", "b"]))
        >>> gate = net.cpd("odd").factor([0, 1, 2])
        >>> net.cpd("odd").expected(gate, [t / 4 for _, t in gate.tables]).values.tolist()
        [[1.0]]
        """
        return None

    def own_parameters(self, statistics: Any) -> OwnParameters | None:
        """Return the parameters as a user writes them, and the derivative of a log-likelihood by each.

        The other entries of a row that sums to one change in proportion. None if there are no parameters, or
        if these statistics do not determine the derivatives.

        Args:
            statistics: those of the data, or expected ones: the derivative is then that of log P(known).

        Raises:
            InvalidTable: it belongs to no network yet.

        >>> import pgm
        >>> lung = pgm.load_network("asia").cpd("lung")
        >>> lung.own_parameters(np.array([[1.0, 0.0], [0.0, 0.0]])).slopes.round(6).tolist()
        [10.0, -10.0, 0.0, 0.0]
        """
        if isinstance(statistics, np.ndarray):
            statistics = self.statistics(statistics)
        rows = self._own_rows()
        if not isinstance(statistics, RowCounts) or not self.n_parameters:
            return None
        return of_rows(statistics.values, rows, self._row_texts(), self.child.states)

    def _row_texts(self) -> list[str]:
        """Return the names of `_own_rows`."""
        return [f"row {i}" for i in range(len(self._own_rows()))]

    def fitted(self, statistics: Any, prior: Any = None) -> Self:
        """Return the same kind of distribution with the most likely parameters.

        Args:
            statistics: what `statistics` returned, or a sum of several such results.
            prior: statistics of pseudo-observations, added to the others: a conjugate prior.

        Raises:
            InvalidArgument: statistics of another distribution.
            InvalidFrame: no parameters make the data possible.

        >>> wet = Variable("wet", [False, True])
        >>> from pgm.cpds import TableCPD
        >>> cpd = TableCPD(wet, [], 0.5)
        >>> cpd.fitted(cpd.statistics({"wet": [True]}), prior=np.ones(2)).values.round(6).tolist()
        [0.333333, 0.666667]
        """
        if not self.tabular:  # an array has expected counts in the shape of the whole table
            statistics, prior = (
                self.statistics(s) if isinstance(s, np.ndarray) else s for s in (statistics, prior)
            )
        return self._fitted(statistics if prior is None else statistics + prior)

    def fit(self, data: Any, weights: Any = None) -> Self:
        """Return the same kind of distribution with maximum-likelihood parameters.

        Args:
            data: a data frame or a dict of columns, with the child and all parents in each row; or expected
                counts, an array of the shape of the table, as `net.expected_counts` returns them.
            weights: one for each row of a frame.

        Raises:
            InvalidArgument: weights are negative or of the wrong length.
            InvalidFrame, UnknownState: a column is missing or has gaps, or has a value that is not a state.

        >>> wet, rain = Variable("wet", [False, True]), Variable("rain", [False, True])
        >>> from pgm.cpds import TableCPD
        >>> before = TableCPD(wet, [rain], {True: 0.9, False: 0.2})
        >>> before.fit({"rain": [1, 1, 0], "wet": [1, 0, 0]}, weights=[3, 1, 1]).to_dict()[True]
        {False: 0.25, True: 0.75}
        """
        return self.fitted(self.statistics(data, weights))

    def check_learnable(self) -> None:  # noqa: B027
        """Raise if no data can change the parameters; by default data can, or there are no parameters."""

    @abstractmethod
    def _fitted(self, statistics: Any) -> Self:
        """Return the same kind with the most likely parameters for these statistics."""

    def _checked_statistics(self, statistics: Any, kind: type[_S]) -> _S:
        if not isinstance(statistics, kind):
            raise InvalidArgument(
                f"{self.child.name!r}: a {type(self).__name__} is fitted to {kind.__name__}, as its "
                f"`statistics` returns them, not to {shown(statistics)}."
            )
        return statistics

    @abstractmethod
    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same distribution for variables that differ only in their names.

        Args:
            child: the new child.
            given: the new parents, in the same order.

        Raises:
            InvalidTable: it belongs to no network yet.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> cpd = net.cpd("asia")
        >>> cpd.renamed(Variable("visit", cpd.child.domain), ()).child.name
        'visit'
        """

    @abstractmethod
    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> Any:
        """Return its parts, for a file: dicts, lists, floats, text and states.

        Args:
            state: how a state of a variable of this name is written; left out: as it is.

        Raises:
            InvalidTable: it belongs to no network yet.

        >>> import pgm
        >>> pgm.load_network("asia").cpd("lung").to_parts()
        [[0.1, 0.9], [0.01, 0.99]]
        """

    @classmethod
    @abstractmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> CPD:
        """Return the distribution of these parts, as `to_parts` returned them.

        Args:
            child: the variable whose distribution it is.
            given: the parents, in order.
            part: read from a file, or `Part.of(parts)`.

        Raises:
            FileFormatError, InvalidTable: these are not the parts of such a distribution.

        >>> import pgm
        >>> from pgm.distributions.parts import Part
        >>> lung = pgm.load_network("asia").cpd("lung")
        >>> pgm.TableCPD.from_parts(lung.child, lung.given, Part.of(lung.to_parts())) == lung
        True
        """

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """The number of free parameters."""

    @abstractmethod
    def to_dict(self) -> dict[Any, Any]:
        """Return the parameters as plain Python objects."""

    @abstractmethod
    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        """Return the header, the first rows and the count of all rows of the printed form."""

    @property
    def child(self) -> Variable:
        """The variable whose distribution this is."""
        if self._child is None:
            raise InvalidTable(f"{self!r} does not belong to a network yet: add it to one first.")
        return self._child

    @property
    def given(self) -> tuple[Variable, ...]:
        """The parents as variables, in order."""
        _ = self.child  # an error if there is none
        return self._given

    @property
    def values(self) -> Array:
        """P(child | parents) as a read-only array of shape (parents..., states)."""
        return self.table()

    def _cells(self, limit: int | None) -> tuple[int, ...]:
        shape = (*[v.card for v in self.given], self.child.card)
        check_cells(shape, f"{self.child.name!r}: its distribution as a table", "keep its own form", limit)
        return shape

    def _matched(self, name: str, states: Any, given: tuple[Variable, ...]) -> Variable:
        """Return the child under its new name, if it and the parents have the same states as before."""
        child = Variable(name, self.child.domain if states is None else states)
        for mine, theirs in zip((*self._given, self.child), (*given, child), strict=True):
            if mine.states != theirs.states:
                raise InvalidTable(
                    f"{name!r}: its distribution is for the states {listed(mine.states)} of {mine.name!r}; "
                    f"here they are {listed(theirs.states)}."
                )
        return child

    def _title(self) -> str:
        given = f" | {joined(self.parents, len(self.parents), 60)}" if self.parents else ""
        return f"P({label(self.child.name)}{given})"

    def __repr__(self) -> str:
        if self._child is None:
            return f"{type(self).__name__}(parents={list(self.parents)})"
        return text_table(*printed(self._lines(), self._title()))

    def _repr_html_(self) -> str:
        if self._child is None:
            return html_text(repr(self))
        return html_table(*printed(self._lines(), self._title()))

    def to_pandas(self) -> Any:
        """Return a DataFrame in long form, which `add` reads back: parents, child, `p`."""
        import pandas as pd

        values = self.table()
        variables = (*self.given, self.child)
        codes = np.indices(values.shape).reshape(len(variables), -1)
        columns: dict[str, Any] = {
            v.name: [v.states[code] for code in row] for v, row in zip(variables, codes, strict=True)
        }
        return pd.DataFrame({**columns, "p": values.ravel()})

    def __getstate__(self) -> dict[str, Any]:
        slots = (slot for cls in type(self).__mro__ for slot in getattr(cls, "__slots__", ()))
        return {slot: getattr(self, slot) for slot in slots}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for slot, value in state.items():
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, np.ndarray):
                    part.flags.writeable = False
            object.__setattr__(self, slot, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A {type(self).__name__} never changes: give the network another with `set`.")
