"""Gates that count: at least k, exactly k, an odd number of the inputs are on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np

from pgm.distributions.parts import Part
from pgm.errors import InvalidTable, shown
from pgm.factors import Gate, Writer
from pgm.variables import Variable

from .base import CPD, ROWS_SHOWN, active, as_it_is, check_order, set_fields
from .count_gate import Counts, cells, count
from .statistics import Codes, RowCounts
from .table_input import Array, check_gate


class CountingGate(CPD):
    """A binary child that depends only on how many of its parents are on.

    A parent is on in its state True, or in the second of two other states, whose order must be declared.
    Counts are merged pairwise, so 500 inputs cost only small tables.
    """

    __slots__ = ("_parents",)

    _parents: tuple[str, ...]

    def __init__(self, parents: str | Iterable[str]) -> None:
        names = (parents,) if isinstance(parents, str) else parents
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise InvalidTable(f"pgm.{type(self).__name__} takes a list of parents, not {shown(parents)}.")
        set_fields(self, _child=None, _given=(), _parents=tuple(names))

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the inputs, in the order given."""
        return self._parents

    @abstractmethod
    def _fold(self) -> tuple[bool, Callable[[Counts], Counts], Callable[[Counts], Counts]]:
        """Whether to count inputs that are off, how to fold a count, and which folded counts mean True."""

    @abstractmethod
    def _says(self) -> str:
        """What it means that the child is True, in words."""

    def _arguments(self) -> list[str]:
        """The arguments before the parents."""
        return []

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> Self:
        """Return this gate for the child `name`; it and its inputs must have two states."""
        if self._child is not None:
            child = self._matched(name, states, given)
        else:
            child = Variable(name, (False, True) if states is None else states)
        check_order(name, f"pgm.{type(self).__name__}", (child, *given))
        for variable in (child, *given):
            if variable.card != 2:
                raise InvalidTable(
                    f"{name!r}: pgm.{type(self).__name__} needs variables with two states; "
                    f"{variable.name!r} has {variable.card}: {list(variable.states[:10])}."
                )
        return self.renamed(child, given)

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same gate of other variables."""
        made = self.__new__(type(self))
        made.__setstate__(self.__getstate__())
        set_fields(made, _child=child, _given=given, _parents=tuple([v.name for v in given]))
        return made

    def factor(self, scope: Sequence[int]) -> Gate:
        """Return the gate as tables that merge counts; the last two make the child."""
        writer = Writer(len(scope))
        off, fold, true = self._fold()
        each = [_counts(v, off) for v in self._given]
        size = cells([1] * len(each), lambda n: np.unique(fold(np.arange(n + 1))).size, 2)
        check_gate(self.child.name, size, "count groups of the inputs in intermediate nodes")
        order = np.argsort(np.array(scope[:-1]), kind="stable").tolist()
        parts = count(writer, [(i, each[i]) for i in order], fold, 2)
        total = np.zeros([counts.size for _, counts in parts], dtype=np.int64)
        for axis, (_, counts) in enumerate(parts):
            total += counts.reshape([-1 if a == axis else 1 for a in range(total.ndim)])
        yes = true(fold(total)) == (active(self.child) == 1)
        writer.put(
            [*[place for place, _ in parts], writer.child], np.stack([~yes, yes], axis=-1).astype(float)
        )
        return writer.finish(scope, function=True)

    def rows(self, codes: Codes) -> Array:
        """Return a one for the outcome of each row."""
        off, fold, true = self._fold()
        each = [_counts(v, off) for v in self.given]
        total = np.zeros(len(codes), dtype=np.int64)
        for i, counts in enumerate(each):
            total += counts[codes[:, i]]
        yes = true(fold(total)) == (active(self.child) == 1)
        return np.stack([~yes, yes], axis=1).astype(np.float64)

    def _counted(self, codes: Codes, weights: Array) -> RowCounts:
        return RowCounts(np.array([[weights.sum()]]))

    def expected(self, gate: Gate, tables: Sequence[Array]) -> RowCounts:
        """Return the weight of the data, the only statistic."""
        return RowCounts(np.array([[tables[-1].sum()]]))

    def _fitted(self, statistics: Any) -> Self:
        return self  # there are no parameters

    @property
    def n_parameters(self) -> int:
        """Zero: the gate has no parameters."""
        return 0

    def to_dict(self) -> dict[Any, Any]:
        """Return {"true if": what the gate says, "of": the inputs}."""
        return {"true if": self._says(), "of": list(self._parents)}

    def __eq__(self, other: object) -> bool:
        """Tell whether both are the same gate of the same inputs."""
        if type(other) is not type(self):
            return NotImplemented
        return (
            self._says() == other._says()
            and self._child == other._child
            and (set(self._given), set(self._parents)) == (set(other._given), set(other._parents))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self._child is not None:
            return super().__repr__()
        of = list(self._parents) if len(self._parents) <= 5 else f"{len(self._parents)} parents"
        return f"{type(self).__name__}({', '.join([*self._arguments(), str(of)])})"

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        yes = active(self.child)
        states = self.child.states
        inputs = [[v.name, v.states[active(v)]] for v in self._given[:ROWS_SHOWN]]
        says = f"if {self._says()} of these {len(self._given):,} are on"
        rows = [*inputs, [f"({states[yes]})", says], [f"({states[1 - yes]})", "else"]]
        return ["input", "is on in"], rows, len(self._given) + 2


class _ThresholdGate(CountingGate):
    """A gate that compares the count with a threshold."""

    __slots__ = ("_k",)

    _k: int

    def __init__(self, k: int, parents: str | Iterable[str]) -> None:
        super().__init__(parents)
        set_fields(self, _k=_whole(k, self))

    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> int:
        """Return the threshold."""
        return self._k

    @classmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> Self:
        """Return the gate that compares with this threshold."""
        k = part.whole("a count of parents", most=len(given))
        return cls(k, [v.name for v in given]).bind(child.name, child.domain, given)

    def _arguments(self) -> list[str]:
        return [str(self._k)]


class AtLeast(_ThresholdGate):
    """True if at least k of the parents are true.

    Args:
        k: the fewest that make it true, a whole number.
        parents: names; each has two states.

    Raises:
        InvalidTable: k is not a whole number, or parents are not a list of different names.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> for name in "abc":
    ...     net.add(name, 0.5)
    >>> net.add("majority", pgm.AtLeast(2, ["a", "b", "c"]))
    >>> net.query("majority", {"a": True})[True]
    0.75
    """

    __slots__ = ()
    kind, label = "at-least", "at least"

    def _fold(self) -> tuple[bool, Callable[[Counts], Counts], Callable[[Counts], Counts]]:
        off_enough = len(self._parents) - self._k + 1  # with this many off there are too few on
        if self._k <= off_enough:
            return False, lambda n: np.minimum(n, self._k), lambda n: n >= self._k
        return True, lambda n: np.minimum(n, off_enough), lambda n: n < off_enough

    def _says(self) -> str:
        return f"at least {self._k}"


class Exactly(_ThresholdGate):
    """True if exactly k of the parents are true.

    Args:
        k: how many make it true, a whole number.
        parents: names; each has two states.

    Raises:
        InvalidTable: k is not a whole number, or parents are not a list of different names.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> for name in "abc":
    ...     net.add(name, 0.5)
    >>> net.add("one", pgm.Exactly(1, ["a", "b", "c"]))
    >>> net.query("a", {"one": True})[True]
    0.3333333333333333
    """

    __slots__ = ()
    kind, label = "exactly", "exactly"

    def _fold(self) -> tuple[bool, Callable[[Counts], Counts], Callable[[Counts], Counts]]:
        off = len(self._parents) - self._k
        wanted = min(self._k, off)
        return self._k > off, lambda n: np.minimum(n, wanted + 1), lambda n: n == wanted

    def _says(self) -> str:
        return f"exactly {self._k}"


class Parity(CountingGate):
    """True if an odd number of the parents are true: their exclusive or.

    Args:
        parents: names; each has two states.

    Raises:
        InvalidTable: parents are not a list of different names.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> for i in range(500):
    ...     net.add(f"bit{i}", 0.01)
    >>> net.add("odd", pgm.Parity([f"bit{i}" for i in range(500)]))
    >>> round(net.query("odd")[True], 9)
    0.499979488
    """

    __slots__ = ()
    kind, label = "parity", "parity"

    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> str:
        """Return "odd"."""
        return "odd"

    @classmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> Self:
        """Return the exclusive or of the parents."""
        if part.value != "odd":
            part.expected('"odd"')
        return cls([v.name for v in given]).bind(child.name, child.domain, given)

    def _fold(self) -> tuple[bool, Callable[[Counts], Counts], Callable[[Counts], Counts]]:
        return False, lambda n: n % 2, lambda n: n == 1

    def _says(self) -> str:
        return "an odd number"


def _whole(k: object, gate: CountingGate) -> int:
    n = len(gate.parents)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k <= n:
        raise InvalidTable(
            f"pgm.{type(gate).__name__}: k is a whole number from 0 to {n:,}, the count of parents, not "
            f"{shown(k)}."
        )
    return int(k)


def _counts(variable: Variable, off: bool) -> Counts:
    """What each state counts: one where the input is on, or with `off` where it is not."""
    return np.asarray((np.arange(2) == active(variable)) ^ off, dtype=np.int64)
