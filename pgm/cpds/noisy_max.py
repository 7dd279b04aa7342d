"""Noisy-MAX, -MIN, -OR and -AND: the largest or smallest effect is observed; small tables for inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from pgm.distributions.parts import Part
from pgm.errors import InvalidTable, shown
from pgm.factors import Gate, Writer
from pgm.printing import chances
from pgm.variables import Variable

from .base import CPD, ROWS_SHOWN, Causes, active, as_it_is, check_order, set_fields
from .noisy_fit import effects_of_chain, fit_effects
from .statistics import Codes, Configurations, RowCounts, SeenAndCounted, normalised
from .table_input import Array, BadRow, check_gate, complement, find_row, is_number, plain, read_row, sentence

Pair = tuple[float, float]  # 1 - p and p, both as written


class NoisyMax(CPD):
    """The largest of the effects of causes that act independently (Henrion 1989; Diez 1993).

    P(child <= k | causes) = P(leak <= k) * product of P(effect of cause i <= k | its state). The child's
    states are declared from the weakest to the strongest. It costs a small table for each cause, in memory
    and in inference.

    Args:
        causes: {name: {state: row}}, the distribution of the child if this cause acted alone; a state left
            out has no effect: the child's first state. Where the child has two states, `{name: p}` is the
            probability of the second if the cause is True (or in the state declared second of two).
        leak: the distribution of the child if no cause acts, or for two states the probability of the
            second; left out: the first state.

    Raises:
        InvalidTable: an entry is not a probability, or the parents cannot be read; states that do not fit
            are refused when it is added to a network.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("flu", {"no": 0.9, "mild": 0.08, "severe": 0.02})
    >>> net.add("cold", 0.2)
    >>> fever = pgm.NoisyMax({"flu": {"mild": [0.5, 0.4, 0.1], "severe": [0.1, 0.3, 0.6]},
    ...                       "cold": {True: [0.7, 0.3, 0.0]}}, leak=[0.98, 0.02, 0.0])
    >>> net.add("fever", fever, states=["none", "low", "high"])
    >>> round(net.cpd("fever").probability({"flu": "mild", "cold": True, "fever": "none"}), 6)
    0.343
    """

    __slots__ = ("_effects", "_free", "_leak", "_parents", "_written")
    kind, label = "noisy-max", "noisy-MAX"

    _parents: tuple[str, ...]
    _written: tuple[object, ...]  # as the user wrote the causes and the leak; empty once bound
    _effects: tuple[Array, ...]  # for each cause (states, child's states)
    _free: tuple[npt.NDArray[np.bool_], ...]  # which states of each cause have an effect
    _leak: Array

    smallest: ClassVar[bool] = False  # the smallest effect is observed, and no effect is the last state
    of_two: ClassVar[bool] = False  # only for children with two states

    def __init__(self, causes: Mapping[str, Any], leak: Any = None) -> None:
        if not isinstance(causes, Mapping):
            raise InvalidTable(
                f"A {self.label} takes its causes as a dict {{name: probability}}, not {shown(causes)}."
            )
        for name, entry in causes.items():
            if not isinstance(name, str):
                raise InvalidTable(f"A {self.label} takes its causes by name, not {shown(name)}.")
            if not _several(entry):
                check_probability(entry, f"cause {name!r} of a {self.label}")
        if self.of_two and leak is None:
            leak = 0.0
        if leak is not None and (self.of_two or not _several(leak)):
            check_probability(leak, f"leak of a {self.label}")
        entries = [pair(e) if is_number(e) else plain(n, e) for n, e in causes.items()]
        leak = pair(leak) if is_number(leak) else plain("leak", leak)
        set_fields(self, _child=None, _given=(), _parents=tuple(causes), _written=(*entries, leak))
        set_fields(self, _effects=(), _free=(), _leak=np.empty(0))

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the causes, in the order given."""
        return self._parents

    @property
    def effects(self) -> dict[str, Array]:
        """For each cause the distribution of its effect, (states of the cause, states of the child)."""
        _ = self.child  # an error if there is none
        return dict(zip(self._parents, self._effects, strict=True))

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> Self:
        """Return this gate for the effect `name` of these causes."""
        if self._child is not None:
            child = self._matched(name, states, given)
            check_order(name, self.label, (child,))
            return self._made(child, given, self._effects, self._leak)
        if states is None and not self.of_two and any(not isinstance(e, tuple) for e in self._written[:-1]):
            raise InvalidTable(f"{name!r}: which states does it have? Write states=[...], the weakest first.")
        child = Variable(name, (False, True) if states is None else states)
        if self.of_two and child.card != 2:
            raise InvalidTable(
                f"{name!r}: a {self.label} needs variables with two states; "
                f"{name!r} has {child.card}: {list(child.states[:10])}."
            )
        check_order(name, self.label, (child,))
        if child.card == 2 and active(child) != 1:
            raise InvalidTable(
                f"{name!r}: the effect of a {self.label} has its states in the order False, True: "
                "declare them with states=[False, True]."
            )
        effects, free = [], []
        for cause, entry in zip(given, self._written[:-1], strict=True):
            effect, has = self._read(child, cause, entry)
            effects.append(effect)
            free.append(has)
        leak = self._written[-1]
        if leak is None:
            without = self._none(child.card)
        elif isinstance(leak, tuple):
            without = self._of_pair(child, leak, "leak")
        else:
            without = read_row(child, leak, "leak")
        made = self._made(child, given, tuple(effects), without)
        set_fields(made, _free=tuple(free))
        return made

    def _read(self, child: Variable, cause: Variable, entry: object) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Return the effect of a cause in each of its states, and which states have one."""
        effect = np.tile(self._none(child.card), (cause.card, 1))
        has = np.zeros(cause.card, dtype=bool)
        where = f"{child.name!r}, cause {cause.name!r}"
        if isinstance(entry, tuple):
            if cause.card != 2:
                raise InvalidTable(
                    f"{child.name!r}: a {self.label} with one probability per cause needs variables with two "
                    f"states; {cause.name!r} has {cause.card}: {list(cause.states[:10])}. "
                    f"Write {{{cause.name!r}: {{state: row}}}}."
                )
            check_order(child.name, f"{self.label} with one probability per cause", (cause,))
            at = active(cause) if not self.smallest else 1 - active(cause)
            effect[at], has[at] = self._of_pair(child, entry, f"cause {cause.name!r}"), True
        elif isinstance(entry, Mapping):
            for state, row in entry.items():
                try:
                    (at,) = find_row((cause,), state)
                except BadRow as bad:
                    raise InvalidTable(f"{where}: {sentence(str(bad))}") from None
                if has[at]:
                    raise InvalidTable(f"{where}: the state {shown(state)} is written twice.")
                effect[at], has[at] = read_row(child, row, f"{cause.name}={cause.states[at]!r}"), True
        else:
            check_order(child.name, f"{self.label} with a list of rows for a cause", (cause,))
            if len(entry) != cause.card:  # type: ignore[arg-type]
                raise InvalidTable(
                    f"{where}: {len(entry)} rows for its {cause.card} states."  # type: ignore[arg-type]
                )
            for at, row in enumerate(entry):  # type: ignore[arg-type]
                effect[at] = read_row(child, row, f"{cause.name}={cause.states[at]!r}")
            has[:] = True
        effect.flags.writeable = has.flags.writeable = False
        return effect, has

    def _none(self, card: int) -> Array:
        """The distribution of no effect."""
        row = np.zeros(card)
        row[card - 1 if self.smallest else 0] = 1.0
        return row

    def _of_pair(self, child: Variable, pair: tuple[object, ...], what: str) -> Array:
        if child.card != 2:
            raise InvalidTable(
                f"{child.name!r}, {what}: a lone probability is for two states; write a row for the "
                f"{child.card} states of {child.name!r}."
            )
        return np.array(pair[::-1] if self.smallest else pair, dtype=np.float64)

    @classmethod
    def trusted(
        cls, child: Variable, given: tuple[Variable, ...], effects: tuple[Array, ...], leak: Array
    ) -> Self:
        """Make a gate from arrays that are known to be valid.

        Args:
            child: the variable whose distribution it is.
            given: the causes.
            effects: of each cause, as `effects` returns them.
            leak: the distribution of the child if no cause acts.

        >>> a, b = Variable("a", [False, True]), Variable("b", [False, True])
        >>> effect = np.array([[1.0, 0.0], [0.2, 0.8]])
        >>> NoisyMax.trusted(b, (a,), (effect,), np.array([0.9, 0.1])).probability({"a": True, "b": False})
        0.18000000000000002
        """
        bare = cls({})
        none = bare._none(child.card)
        set_fields(bare, _free=tuple([(effect != none).any(axis=1) for effect in effects]))
        return bare._made(child, given, effects, leak)

    def _made(
        self, child: Variable, given: tuple[Variable, ...], effects: tuple[Array, ...], leak: Array
    ) -> Self:
        made = self.__new__(type(self))
        for part in (*effects, leak):
            part.flags.writeable = False
        names = tuple([v.name for v in given])
        set_fields(made, _child=child, _given=given, _parents=names, _written=())
        set_fields(made, _effects=effects, _free=self._free, _leak=leak)
        return made

    def factor(self, scope: Sequence[int]) -> Gate:
        """Return the gate as a chain of "the largest so far", the causes in the model's order."""
        writer = Writer(len(scope))
        k = self.child.card
        size = k * k * sum(v.card for v in self._given)
        check_gate(self.child.name, size, "use fewer states")
        order = np.argsort(np.array(scope[:-1]), kind="stable").tolist()
        links = [self._link(self._effects[i]) for i in order]
        writer.chain(order, self._leak, links)
        return writer.finish(scope, in_two=self._in_two)

    def _in_two(self) -> tuple[Array, list[Array]]:
        flip = slice(None, None, -1 if self.smallest else 1)
        start, *steps = (_steps(effect[:, flip]) for effect in (self._leak[np.newaxis], *self._effects))
        for step in steps:  # there is nothing below the first state: P(0) = F(0), and a product like it
            step[:, 0, 1:] = np.stack([np.zeros(len(step)), step[:, 0, 0]], axis=-1)
        return start[0, flip], [step[:, flip] for step in steps]

    def _link(self, effect: Array) -> Array:
        """P(next | so far, state of the cause)."""
        k = effect.shape[1]
        at_most = np.cumsum(effect[:, ::-1] if self.smallest else effect, axis=1)
        at_most[:, -1] = 1.0
        own = np.arange(k)
        link = np.zeros((k, len(effect), k))
        inner = effect[:, ::-1] if self.smallest else effect
        for before in range(k):
            link[before, :, before + 1 :] = inner[:, before + 1 :]
        link[own, :, own] = at_most.T
        return np.ascontiguousarray(link[::-1, :, ::-1]) if self.smallest else link

    def rows(self, codes: Codes) -> Array:
        """Return P(effect | row), cause by cause without subtraction: rare effects keep their digits."""
        flip = slice(None, None, -1 if self.smallest else 1)
        so_far = np.tile(self._leak[flip], (len(codes), 1))
        for i, effect in enumerate(self._effects):
            at_most = np.cumsum(effect[:, flip], axis=1)
            at_most[:, -1] = 1.0
            less = np.zeros_like(so_far)
            less[:, 1:] = np.cumsum(so_far, axis=1)[:, :-1]
            so_far = so_far * at_most[codes[:, i]] + less * effect[:, flip][codes[:, i]]
        return so_far[:, flip]

    def causes(self) -> Causes:
        """Return the effects of the causes, the leak, and the row of no effect."""
        return Causes(self.effects, self._leak, self._none(self.child.card), self.smallest)

    def expected(self, gate: Gate, tables: Sequence[Array]) -> RowCounts:
        """Return how often each cause, in each of its states, had each effect; the leak comes last."""
        order = [at[-2] for at, _ in gate.tables if len(at) > 1]
        flip = slice(None, None, -1 if self.smallest else 1)
        turned = [np.ascontiguousarray(self._effects[i][:, flip]) for i in order]
        links = [self._link(self._effects[i]) for i in order]
        effects, leak = effects_of_chain(turned, links, self._leak, tables, flip)
        found = dict(zip(order, effects, strict=True))
        counts = [found[i] for i in range(len(order))]
        return RowCounts(np.concatenate([*counts, leak[np.newaxis]])[:, flip])

    def _own_rows(self) -> Array:
        return np.concatenate([*self._effects, self._leak[np.newaxis]])

    def _row_texts(self) -> list[str]:
        acts = [f"{v.name}={state}" for v in self._given for state in v.states]
        return [*acts, "leak"]

    def _fitted(self, statistics: Any) -> Self:
        """Count effects; where these are hidden, run EM. A zero stays a zero."""
        if isinstance(statistics, SeenAndCounted):
            return self._by_em(statistics.seen, statistics.counted.values)
        if not isinstance(statistics, RowCounts):
            return self._by_em(self._checked_statistics(statistics, Configurations), None)
        rows = normalised(statistics.values, np.concatenate([*self._effects, self._leak[np.newaxis]]))
        sizes = np.cumsum([len(effect) for effect in self._effects], dtype=np.int64)
        *parts, (leak,) = np.split(rows, sizes)
        effects = [
            np.where(has[:, np.newaxis], part, effect)
            for has, part, effect in zip(self._free, parts, self._effects, strict=True)
        ]
        return self._made(self.child, self._given, tuple(effects), leak.copy())

    def _by_em(self, seen: Configurations, counted: Array | None) -> Self:
        """Run EM from the current parameters: effects of causes are hidden, except in `counted`."""
        codes, weights = seen.rows, seen.weights
        flip = slice(None, None, -1 if self.smallest else 1)
        effects, leak = fit_effects(
            self.child.name,
            [effect[:, flip] for effect in self._effects],
            self._free,
            self._leak[flip],
            codes[:, :-1],
            self.child.card - 1 - codes[:, -1] if self.smallest else codes[:, -1],
            weights,
            None if counted is None else counted[:, flip],
        )
        back = tuple([np.ascontiguousarray(effect[:, flip]) for effect in effects])
        return self._made(self.child, self._given, back, np.ascontiguousarray(leak[flip]))

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same gate for variables that differ only in their names."""
        return self._made(child, given, self._effects, self._leak)

    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> dict[str, Any]:
        """Return for each cause its probability, or a row for each state that has an effect; and the leak."""
        causes: dict[str, Any] = {}
        two = self.child.card == 2
        for v, effect, free in zip(self._given, self._effects, self._free, strict=True):
            at = active(v) if not self.smallest else 1 - active(v)
            one = two and v.card == 2 and free[at] and not free[1 - at]
            p = self._lone(effect[at]) if one else None
            each = [row if has else None for row, has in zip(effect.tolist(), free.tolist(), strict=True)]
            causes[v.name] = each if p is None else p
        leak = self._lone(self._leak) if two else None
        return {"causes": causes, "leak": self._leak.tolist() if leak is None else leak}

    def _lone(self, row: Array) -> float | None:
        """Return the probability that determines a row of two, if it does so to the last bit."""
        values: list[float] = row.tolist()[::-1] if self.smallest else row.tolist()
        return values[1] if list(pair(values[1])) == values else None

    @classmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> Self:
        """Return the gate of these causes and this leak."""
        found = part.members("a noisy gate", ["causes", "leak"])
        part.at("causes").members("the causes", [v.name for v in given])
        part.take(sum(v.card for v in given) * child.card, f"the gate of {shown(child.name)}")
        causes: dict[str, Any] = {}
        for v in given:
            entry = part.at("causes", v.name)
            if type(entry.value) is not list:
                causes[v.name] = entry.number("the probability of a cause")
            elif len(entry.value) != v.card:
                entry.expected(f"a row or null for each of the {v.card} states of {shown(v.name)}")
            else:
                causes[v.name] = {
                    state: entry.at(i).numbers(child.card, "an effect").tolist()
                    for i, state in enumerate(v.states)
                    if entry.value[i] is not None
                }
        if type(found["leak"]) is not list:
            return cls(causes, part.at("leak").number("the leak")).bind(child.name, child.domain, given)
        # A leak that was fitted is a row; noisy-OR and AND take only a float from a user.
        gate = cls(causes, 0.0)
        row = part.at("leak").numbers(child.card, "the leak").tolist()
        set_fields(gate, _written=(*gate._written[:-1], row))
        return gate.bind(child.name, child.domain, given)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: those of each state with an effect, and the leak."""
        return (1 + sum(int(has.sum()) for has in self._free)) * (self.child.card - 1)

    def to_dict(self) -> dict[Any, Any]:
        """Return {"causes": {name: {state: {state: p}}}, "leak": {state: p}}."""
        states = self.child.states
        causes = {
            v.name: {
                v.states[at]: dict(zip(states, effect[at].tolist(), strict=True))
                for at in np.flatnonzero(has).tolist()
            }
            for v, effect, has in zip(self._given, self._effects, self._free, strict=True)
        }
        return {"causes": causes, "leak": dict(zip(states, self._leak.tolist(), strict=True))}

    def __eq__(self, other: object) -> bool:
        """Tell whether the parameters are equal and, where both belong to networks, the variables."""
        if type(other) is not type(self):
            return NotImplemented
        if self._child != other._child or set(self._given) != set(other._given):
            return False
        if self._child is None:
            return dict(zip(self._parents, self._written[:-1], strict=True)) == dict(
                zip(other._parents, other._written[:-1], strict=True)
            ) and bool(self._written[-1] == other._written[-1])
        theirs = other.effects
        return np.array_equal(self._leak, other._leak) and all(
            np.array_equal(effect, theirs[name]) for name, effect in self.effects.items()
        )

    __hash__ = None  # type: ignore[assignment]

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        rows: list[list[object]] = []
        for v, effect, has in zip(self._given, self._effects, self._free, strict=True):
            for at in np.flatnonzero(has).tolist():
                rows.append([f"{v.name} = {v.states[at]}", *chances(effect[at].tolist())])
        count = len(rows) + 1
        rows = [*rows[:ROWS_SHOWN], ["(leak)", *chances(self._leak.tolist())]]
        return [f"{self.label} of", *self.child.states], rows, count


class NoisyMin(NoisyMax):
    """The smallest of the effects of causes that act independently: noisy-MAX reversed.

    P(child >= k | causes) = P(leak >= k) * product of P(effect of cause i >= k | its state). A state of a
    cause that is left out has no effect: the child's last state. A single probability p is that of the cause
    lowering the child when it is False (or in the state declared first of two).

    Args:
        causes: {name: {state: row}}, the distribution of the child if this cause acted alone; or {name: p}.
        leak: the distribution of the child if no cause acts; left out: the last state.

    Raises:
        InvalidTable: an entry is not a probability, or the parents cannot be read; states that do not fit
            are refused when it is added to a network.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("pump", {"old": 0.3, "new": 0.7})
    >>> net.add("power", 0.99)
    >>> net.add("flow", pgm.NoisyMin({"pump": {"old": [0.1, 0.4, 0.5]}, "power": {False: [1, 0, 0]}}),
    ...         states=["none", "weak", "full"])
    >>> net.cpd("flow").probability({"pump": "old", "power": True, "flow": "full"})
    0.5
    """

    __slots__ = ()
    kind, label = "noisy-min", "noisy-MIN"
    smallest = True


def _steps(effect: Array) -> Array:
    """For each state k of the child, the probabilities of an effect of at most k, just k, and less than k.

    Let F(k) be the probability that the effects so far are at most k, and P(k) = F(k) - F(k - 1). A cause
    turns F(k) into F(k) * f(k), and P(k) into F(k) * f(k) - F(k - 1) * f(k - 1) = F(k) * p(k) + P(k) *
    f(k - 1), where nothing is subtracted.
    """
    at_most = np.cumsum(effect, axis=1)
    at_most[:, -1] = 1.0
    less = np.concatenate([np.zeros((len(effect), 1)), at_most[:, :-1]], axis=1)
    return np.stack([at_most, effect, less], axis=-1)


def pair(p: Any) -> Pair:
    """Return 1 - p and p."""
    return complement(float(p)), float(p)


def check_probability(p: object, what: str) -> None:
    """Raise if p is not a probability."""
    if not is_number(p) or not 0.0 <= float(p) <= 1.0:  # type: ignore[arg-type]
        raise InvalidTable(f"The {what} needs a probability from 0 to 1, not {shown(p)}.")


def _several(entry: object) -> bool:
    """Whether this is written as rows, not as one probability."""
    return isinstance(entry, Mapping | list | tuple) or (isinstance(entry, np.ndarray) and entry.ndim > 0)
