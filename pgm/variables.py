"""A variable is a name and its states; only here is a state turned into an integer, its code.

A value means a state if it is equal to it (numpy.True_, 1 and 1.0 mean True), or else is written alike: True
means "TRUE", "1" and "1.0" mean 1. Text means only the same text. Ambiguous states are refused.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import islice, pairwise
from numbers import Real
from typing import Any, NoReturn, overload

import numpy as np

from pgm.errors import InvalidVariable, UnknownState, UnknownVariable, listed, shown
from pgm.printing import ROWS, html_table, joined, label, text_table

State = Any  # any hashable value

_MISSING_TYPES = frozenset({"NAType", "NaTType", "MaskedConstant"})  # pandas.NA, pandas.NaT, numpy.ma.masked
_SURELY_PRINTS = 14_000  # bits
_TRUTH = {"true": True, "false": False}


def is_missing(value: object) -> bool:
    """Whether a value means "not observed": None, NaN, pandas.NA, NaT.

    >>> is_missing(None), is_missing(float("nan")), is_missing(False), is_missing("")
    (True, True, False, False)
    """
    if value is None:
        return True
    if isinstance(value, float | np.floating | Decimal | np.datetime64 | np.timedelta64):
        return value.is_nan() if isinstance(value, Decimal) else bool(value != value)
    return type(value).__name__ in _MISSING_TYPES


@dataclass(frozen=True, slots=True)
class Interval:
    """The values from `lo` up to, but not including, `hi`; the last interval of `Bins` includes `hi`.

    As evidence it means the same for numeric states, for whole bins, and for continuous variables.

    Args:
        lo: the smaller end.
        hi: the larger end.
        closed: whether `hi` belongs to it.

    Raises:
        InvalidVariable: an end is not a number, or they are in the wrong order.

    >>> print(Interval(0, 18), 17.5 in Interval(0, 18), 18 in Interval(0, 18))
    [0, 18) True False
    """

    lo: float
    hi: float
    closed: bool = field(default=False, compare=False, repr=False)  # whether hi belongs to it

    def __post_init__(self) -> None:
        """Raise for an invalid interval."""
        if not (_is_number(self.lo) and _is_number(self.hi) and self.lo < self.hi):
            raise InvalidVariable(
                f"Interval({shown(self.lo)}, {shown(self.hi)}) must have two numbers, the smaller one first."
            )
        object.__setattr__(self, "lo", _edge(self.lo))
        object.__setattr__(self, "hi", _edge(self.hi))

    def __contains__(self, number: object) -> bool:
        """Whether the value lies in the interval."""
        if not _is_number(number):
            return False
        return bool(self.lo <= number < self.hi or (self.closed and number == self.hi))  # type: ignore[operator]

    def __str__(self) -> str:
        """As in mathematics: "[0, 18)"."""
        left = "(" if self.lo == -math.inf else "["
        right = "]" if self.closed and self.hi != math.inf else ")"
        return f"{left}{_short(self.lo)}, {_short(self.hi)}{right}"


@dataclass(frozen=True, slots=True, init=False)
class Bins:
    """Edges that divide a range into states: `Bins([0, 18, 65, 120])` makes [0, 18), [18, 65), [65, 120].

    Args:
        edges: increasing numbers, two at least; the first and the last may be infinite.

    Raises:
        InvalidVariable: the edges do not increase, or are not numbers.

    >>> age = Variable("age", Bins([0, 18, 65, 120]))
    >>> age.code(17), age.code(18), age.code(120), age.code("[18, 65)")
    (0, 1, 2, 1)
    """

    edges: tuple[float, ...]

    def __init__(self, edges: Sequence[float]) -> None:
        """Take increasing numbers; the first and the last may be infinite."""
        try:
            found = tuple(map(_edge, edges))
        except TypeError:
            raise InvalidVariable(f"Bins takes edges such as [0, 18, 65], not {shown(edges)}.") from None
        if len(found) < 2:
            raise InvalidVariable(f"Bins needs two edges or more, not {shown(list(found))}.")
        for left, right in pairwise(found):
            if not left < right:
                raise InvalidVariable(
                    f"The edges of Bins must increase; {shown(left)} comes before {shown(right)}."
                )
        object.__setattr__(self, "edges", found)

    @property
    def states(self) -> tuple[Interval, ...]:
        """The intervals between the edges; only the last one includes its upper edge."""
        e = self.edges
        return tuple(Interval(e[i], e[i + 1], closed=i == len(e) - 2) for i in range(len(e) - 1))


class Domain:
    """Ordered states with their codes 0, 1, ...; immutable, and shared by variables with equal states.

    If the order was never declared, as when the states come from data only, `declared` is False and they are
    sorted. It does not affect equality: it tells whether the order is meaningful, not what the states are.
    """

    __slots__ = ("_alike", "_array", "_codes", "_hash", "bins", "card", "declared", "states")
    states: tuple[State, ...]
    card: int
    bins: Bins | None
    declared: bool

    def __init__(self, states: Sequence[State] | Bins, declared: bool = True) -> None:
        """Check the states; `as_domain` is cheaper when domains repeat."""
        self.declared = declared
        self.bins = states if isinstance(states, Bins) else None
        self.states = states.states if isinstance(states, Bins) else _checked(states)
        self.card = len(self.states)
        self._codes: dict[State, int] = {state: code for code, state in enumerate(self.states)}
        self._alike = _alike(self.states)
        if len(self._codes) < self.card:  # equal states of different types, such as 1 and Decimal(1)
            twice = next(s for code, s in enumerate(self.states) if self._codes[s] != code)
            raise InvalidVariable(_confusion(twice, self.states[self._codes[twice]], twice))
        self._hash = hash(self.states)
        self._array: np.ndarray | None = None

    def find(self, value: object) -> int:
        """The code of the state that a value means, -1 if it means none.

        >>> yes = as_domain(["FALSE", "TRUE"])
        >>> yes.find("TRUE"), yes.find(True), yes.find("true")
        (1, 1, -1)
        """
        try:
            code = self._codes.get(value)
        except TypeError:  # unhashable: not a state, unless it is an array with one element
            if not isinstance(value, np.ndarray) or value.ndim or is_missing(value):
                return -1
            return self.find(value.item())
        if code is not None:
            return code
        value = _plain(value)
        if isinstance(value, str):
            code = self._alike.get(("text", value))
            if code is None and (truth := _TRUTH.get(value.lower())) is not None:
                code = self._alike.get(("truth", truth))
        elif isinstance(value, bool):
            code = self._alike.get(("bool", value))
        elif isinstance(value, int | float):
            code = self._alike.get(("number", value))
        if code is None and self.bins is not None:
            return self._bin(value)
        return -1 if code is None else code

    def _bin(self, value: object) -> int:
        if isinstance(value, str):
            value = _number_written(value)
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or self.bins is None:
            return -1
        if isinstance(value, Decimal) and value != value:
            return -1
        edges = self.bins.edges
        if not edges[0] <= value <= edges[-1]:  # NaN too
            return -1
        return min(bisect_right(edges, value) - 1, self.card - 1)

    @property
    def array(self) -> np.ndarray:
        """The states as a read-only array: of bool, int64 or float64 if all are, else of objects."""
        if self._array is None:
            self._array = typed_array(self.states)
            self._array.flags.writeable = False
        return self._array

    def __eq__(self, other: object) -> bool:
        """Equal when the states are equal, in order."""
        if self is other:
            return True
        return isinstance(other, Domain) and self.states == other.states

    def __hash__(self) -> int:
        """Hash of the states, cached."""
        return self._hash

    def __len__(self) -> int:
        """The number of states."""
        return self.card

    def __iter__(self) -> Iterator[State]:
        """The states in order."""
        return iter(self.states)

    def __repr__(self) -> str:
        """The states, abbreviated if there are many."""
        return f"Domain({listed(self.states)})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the states; unpickling restores sharing."""
        return as_domain, (self.bins if self.bins is not None else self.states, self.declared)

    def __deepcopy__(self, memo: dict[int, object]) -> Domain:
        """Itself: immutable."""
        return self


class Continuous(Domain):
    """The real line: the domain of a continuous variable, which has no states.

    To code that works on tables it has a single state, so that it takes no space there.

    >>> height = Variable("height", Continuous())
    >>> height, height.continuous, height.states
    (Variable('height', Continuous()), True, ())
    """

    __slots__ = ()

    def __init__(self) -> None:
        """Take no options."""
        self.bins, self.states, self.card, self.declared = None, (), 1, True
        self._codes, self._alike, self._array = {}, {}, None
        self._hash = hash(Continuous)

    def find(self, value: object) -> int:
        """Return 0 for a finite number and -1 for anything else."""
        return 0 if math.isfinite(as_float(value)) else -1

    def __eq__(self, other: object) -> bool:
        """There is only one real line."""
        return isinstance(other, Continuous)

    def __hash__(self) -> int:
        """The same for all instances."""
        return self._hash

    def __len__(self) -> int:
        """No states."""
        return 0

    def __repr__(self) -> str:
        """As it would be written."""
        return "Continuous()"

    def __reduce__(self) -> tuple[object, ...]:
        """Nothing to pickle."""
        return Continuous, ()


class IntegerDomain(Domain):
    """The states 0, 1, ..., which are never looked up by name.

    >>> IntegerDomain(3).card
    3
    """

    __slots__ = ()

    def __init__(self, card: int) -> None:
        """Take the number of states."""
        self.bins, self.states, self.card, self.declared = None, range(card), card, True  # type: ignore[assignment]
        self._codes, self._alike, self._array = {}, {}, None
        self._hash = hash((IntegerDomain, card))


class Variable:
    """A name and its states, in order; immutable, and equal when both are.

    Args:
        name: text that is not empty.
        states: usually two or more values (one is allowed), or `pgm.Bins` for a binned continuous variable.

    >>> rain = Variable("rain", ["no", "yes"])
    >>> rain.code("yes"), rain.card, rain
    (1, 2, Variable('rain', ['no', 'yes']))
    """

    __slots__ = ("domain", "name")
    name: str
    domain: Domain

    def __init__(self, name: str, states: Sequence[State] | Bins | Domain) -> None:
        """Check the name and the states."""
        checked = check_name(name)
        _set_name(self, checked)
        try:
            _set_domain(self, as_domain(states))
        except InvalidVariable as error:
            raise InvalidVariable(f"{shown(checked)}: {error}") from None

    @classmethod
    def of(cls, name: str, domain: Domain) -> Variable:
        """A variable without checks: for millions that share one domain."""
        self = _new(cls)
        _set_name(self, name)
        _set_domain(self, domain)
        return self

    @property
    def states(self) -> tuple[State, ...]:
        """The states in their order."""
        return self.domain.states

    @property
    def card(self) -> int:
        """The number of states."""
        return self.domain.card

    @property
    def continuous(self) -> bool:
        """Whether the variable is continuous, and so has no states."""
        return isinstance(self.domain, Continuous)

    @property
    def bins(self) -> Bins | None:
        """The bins, if the variable has them."""
        return self.domain.bins

    def code(self, state: object) -> int:
        """The index of the state that a value means; `UnknownState` if it means none.

        Args:
            state: a value that means a state: equal to it, or else written alike.

        Raises:
            UnknownState: it matches none of them; the error names the closest.

        >>> Variable("rain", ["no", "yes"]).code("yes")
        1
        """
        code = self.domain.find(state)
        if code < 0:
            missing = "None and NaN mean not observed." if is_missing(state) else ""
            raise UnknownState(self, state, remedy=missing)
        return code

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Raise: variables are immutable."""
        raise AttributeError(f"a Variable does not change; make another one instead of setting .{name}")

    def __delattr__(self, name: str) -> NoReturn:
        """Raise: variables are immutable."""
        raise AttributeError(f"a Variable does not change; .{name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        """Equal when name and states are equal, in order."""
        if self is other:
            return True
        if not isinstance(other, Variable):
            return NotImplemented
        return self.name == other.name and self.domain == other.domain

    def __hash__(self) -> int:
        """Hash of name and states."""
        return hash((self.name, self.domain))

    def __repr__(self) -> str:
        """As it would be written, with the first few of many states."""
        if self.continuous:
            return f"Variable({shown(self.name)}, {self.domain!r})"
        if self.bins is not None:
            return f"Variable({shown(self.name)}, Bins([{listed(self.bins.edges)}]))"
        return f"Variable({shown(self.name)}, [{listed(self.states)}])"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle name and domain."""
        return Variable.of, (self.name, self.domain)

    def __copy__(self) -> Variable:
        """Itself: it never changes."""
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Variable:
        """Itself: it never changes."""
        return self


class Variables(Mapping[str, Variable]):
    """The variables of a model by name, in the model's order: a read-only view that reflects later edits.

    Each is built when accessed: a million at once would keep the garbage collector busy.

    >>> Variables({"rain": as_domain([False, True])})["rian"]
    Traceback (most recent call last):
    pgm.errors.UnknownVariable: There is no variable 'rian'; there are 'rain'. Did you mean 'rain'?
    """

    __slots__ = ("_domains",)

    def __init__(self, domains: Mapping[str, Domain]) -> None:
        """Wrap a dict without copying it."""
        self._domains = domains

    def __getitem__(self, name: str) -> Variable:
        """The variable of this name; `UnknownVariable` if there is none."""
        try:
            domain = self._domains[name]
        except (KeyError, TypeError):
            raise UnknownVariable(name, self._domains) from None
        return Variable.of(name if type(name) is str else str.__str__(name), domain)

    def __contains__(self, name: object) -> bool:
        """Whether there is such a variable."""
        return isinstance(name, str) and name in self._domains

    def __iter__(self) -> Iterator[str]:
        """The names in order."""
        return iter(self._domains)

    def __len__(self) -> int:
        """The number of variables."""
        return len(self._domains)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._domains.keys()

    def __repr__(self) -> str:
        """A table of the first variables and their states."""
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [label(v.name), "continuous" if v.continuous else joined(v.states, v.card, 80)]
            for v in islice(self.values(), ROWS)
        ]
        more = len(self) - len(rows)
        return ["variable", "states"], rows, f"... {more:,} more of {len(self):,} variables" if more else ""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the present variables."""
        return Variables, (dict(self._domains),)


class VariableList(Sequence[Variable]):
    """Variables by their position, each built when accessed.

    >>> VariableList(["rain", "wet"], [BOOLEAN, BOOLEAN])[1]
    Variable('wet', [False, True])
    """

    __slots__ = ("domains", "names")

    def __init__(self, names: Sequence[str], domains: Sequence[Domain]) -> None:
        """Take the names and the domain of each; the lists must not change from now on."""
        self.names, self.domains = names, domains

    @classmethod
    def of(cls, variables: Iterable[Variable]) -> VariableList:
        """These variables as a list of this kind, unless they are one already."""
        if isinstance(variables, VariableList):
            return variables
        kept = tuple(variables)
        return cls([v.name for v in kept], [v.domain for v in kept])

    @classmethod
    def of_model(cls, by_name: Mapping[str, Variable]) -> VariableList:
        """The variables of a model as they are now."""
        if isinstance(by_name, Variables):
            domains = by_name._domains
            # Some build a name only when it is accessed.
            return cls(getattr(domains, "names", None) or list(domains), list(domains.values()))
        return cls.of(by_name.values())

    def places(self) -> Mapping[str, int]:
        """The position of each name."""
        found: Mapping[str, int] | None = getattr(self.names, "places", None)
        return dict(zip(self.names, range(len(self)), strict=True)) if found is None else found

    def take(self, positions: Iterable[int]) -> VariableList:
        """Some of them, in this order."""
        names, domains = self.names, self.domains
        chosen = list(positions)
        return VariableList([names[i] for i in chosen], [domains[i] for i in chosen])

    @overload
    def __getitem__(self, i: int) -> Variable: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Variable, ...]: ...
    def __getitem__(self, i: int | slice) -> Variable | tuple[Variable, ...]:
        """The variable at this position, or a tuple of those of a slice."""
        if isinstance(i, slice):
            return tuple(map(Variable.of, self.names[i], self.domains[i]))
        return Variable.of(self.names[i], self.domains[i])

    def __iter__(self) -> Iterator[Variable]:
        """The variables in order."""
        return map(Variable.of, self.names, self.domains)

    def __len__(self) -> int:
        """The number of variables."""
        return len(self.names)


_new = object.__new__
_set_name = Variable.__dict__["name"].__set__  # bypasses the guard of __setattr__, and is fast
_set_domain = Variable.__dict__["domain"].__set__


def as_domain(states: Sequence[State] | Bins | Domain, declared: bool = True) -> Domain:
    """The domain of these states: an existing one if the same plain states were seen before.

    With `declared` False the order is arbitrary: they are sorted.

    >>> as_domain([False, True]) is as_domain([False, True])
    True
    """
    if isinstance(states, Domain):
        return states
    if isinstance(states, Bins):
        return Domain(states)
    if type(states) is tuple or type(states) is list:
        kinds = tuple(map(type, states))
        if _few_and_plain(kinds):
            return _shared(tuple(states), kinds, declared)
    checked = _sequence(states)
    kinds = tuple(map(type, checked))
    if _few_and_plain(kinds):
        return _shared(checked, kinds, declared)  # the types too: (0, 1) == (False, True)
    if checked and all(kind is Interval for kind in kinds):
        return Domain(_joined(checked))  # numeric intervals have an order of their own
    return Domain(checked, declared)


def _few_and_plain(kinds: tuple[type, ...]) -> bool:
    for kind in kinds:
        if kind is not int and kind is not str and kind is not bool:
            return False
    return len(kinds) <= 64


@lru_cache(maxsize=4096)
def _shared(states: tuple[State, ...], kinds: tuple[type, ...], declared: bool) -> Domain:
    return Domain(states, declared)


def check_name(name: object) -> str:
    """The name as plain text; `InvalidVariable` if it is not text or empty."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidVariable(f"The name of a variable is text that is not empty, not {shown(name)}.")
    return name if type(name) is str else str.__str__(name)


def unordered(names: object) -> bool:
    """Whether these are unordered: a set, and not the keys of a dict or the nodes of a graph.

    >>> unordered({"a", "b"}), unordered({"a": 0}.keys()), unordered(["a", "b"])
    (True, False, False)
    """
    return isinstance(names, AbstractSet) and not isinstance(names, KeysView | Mapping)


def typed_array(values: Sequence[State]) -> np.ndarray:
    """An array of bool, int64 or float64 if all values are that, else of objects."""
    for kind, dtype in ((bool, np.bool_), (int, np.int64), (float, np.float64)):
        if all(type(value) is kind for value in values):
            try:
                return np.array(values, dtype=dtype)
            except OverflowError:  # an integer that needs more than 64 bits
                break
    array = np.empty(len(values), dtype=object)
    for position, value in enumerate(values):  # one by one, or numpy would unpack tuples
        array[position] = value
    return array


def states_array(variable: Variable, codes: np.ndarray) -> np.ndarray:
    """The states that codes stand for: an array of bool, int64, float64 or objects; -1 gives None.

    >>> rain = Variable("rain", [False, True])
    >>> states_array(rain, np.array([1, 0])), states_array(rain, np.array([1, -1]))
    (array([ True, False]), array([True, None], dtype=object))
    """
    array = variable.domain.array
    if codes.size and codes.min() < 0:
        array = typed_array([*variable.states, None])  # -1 indexes the last one
    return np.take(array, codes)


# --- states and what means them -----------------------------------------------------------------------------


def _sequence(states: object) -> tuple[State, ...]:
    if isinstance(states, str | bytes) or not hasattr(states, "__len__") or not hasattr(states, "__iter__"):
        hint = f"range({shown(states)})" if _is_number(states) else "['no', 'yes']"
        raise InvalidVariable(f"States are a list such as {hint}, not {shown(states)}.")
    if unordered(states):
        raise InvalidVariable(f"A set has no order; write the states as a list instead of {shown(states)}.")
    if isinstance(states, np.ndarray) and states.ndim != 1:
        raise InvalidVariable(f"States are a list; the array given has {states.ndim} dimensions.")
    return tuple(map(_plain, states))


def _checked(states: object) -> tuple[State, ...]:
    found = _sequence(states)
    if not found:
        raise InvalidVariable("There must be at least one state.")
    for state in found:
        if is_missing(state):
            raise InvalidVariable(f"{shown(state)} cannot be a state: it means not observed.")
        if not _hashes(state):
            raise InvalidVariable(f"{shown(state)} cannot be a state: not hashable; make it a tuple or text.")
        if not _prints(state):
            raise InvalidVariable(f"{shown(state)} cannot be a state: Python cannot print it; make it text.")
    return found


def _prints(state: object) -> bool:
    """Tell whether messages and tables can show it; Python prints at most 4,300 digits of an integer."""
    if isinstance(state, str | bool | float) or (type(state) is int and state.bit_length() <= _SURELY_PRINTS):
        return True
    try:
        return isinstance(str(state) + repr(state), str)
    except Exception:  # a state may be any object
        return False


def _hashes(state: object) -> bool:
    try:
        hash(state)
    except TypeError:
        return False
    return True


def _joined(intervals: tuple[Interval, ...]) -> Bins:
    """The bins whose states these intervals are."""
    for left, right in pairwise(intervals):
        if left.hi != right.lo:
            raise InvalidVariable(
                f"Intervals as states must follow each other without a gap; {left} comes before {right}."
            )
    return Bins([intervals[0].lo, *(interval.hi for interval in intervals)])


def _alike(states: tuple[State, ...]) -> dict[tuple[str, State], int]:
    """The other values that mean each state; raises if one value would mean two states."""
    found: dict[tuple[str, State], int] = {}
    for code, state in enumerate(states):
        for key in _meanings(state):
            other = found.setdefault(key, code)
            if other != code:
                raise InvalidVariable(_confusion(states[other], state, key[1]))
    return found


def _confusion(first: State, second: State, value: State) -> str:
    if type(first) is type(second) and first == second:
        return f"The state {shown(first)} appears twice."
    return (
        f"The states {shown(first)} and {shown(second)} would be confused: {shown(value)} would mean both. "
        "Rename one of them."
    )


def _meanings(state: State) -> list[tuple[str, State]]:
    """Keys of the values that mean this state, each with the type of value."""
    if isinstance(state, bool):
        return [("bool", state), ("number", int(state)), ("truth", state)]
    if isinstance(state, str):
        keys: list[tuple[str, State]] = [("text", state)]
        if (truth := _TRUTH.get(state.lower())) is not None:
            keys.append(("bool", truth))
        if (number := _number_written(state)) is not None:
            keys.append(("number", number))
        return keys
    if isinstance(state, int | float):
        keys = [("number", state), *(("text", text) for text in _written(state))]
        if state in (0, 1):
            keys.append(("bool", bool(state)))
        return keys
    if isinstance(state, Interval):
        return [("other", state), ("text", str(state))]
    return [("other", state)]


def _written(number: float) -> list[str]:
    """How a number is written: 1 and 1.0 as "1" or "1.0", others as `repr` does."""
    if isinstance(number, int) and number.bit_length() > 1024:
        return []
    texts = [repr(float(number))] if abs(number) < 2**53 or isinstance(number, float) else []
    if isinstance(number, int) or number.is_integer():
        texts += [str(int(number)), f"{int(number)}.0"]
    return list(dict.fromkeys(texts))


def _number_written(text: str) -> float | None:
    """The number that a text spells, if any: "1", "1.0" and "0.5", but not "01" or "1e0"."""
    if not 0 < len(text) <= 400 or text[0] not in "-0123456789in":
        return None
    try:
        number: float = int(text.removesuffix(".0"))
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            return None
    return number if number == number and text in _written(number) else None


def _plain(value: Any) -> Any:
    """The Python value of a numpy scalar; any other value unchanged."""
    if isinstance(value, np.bool_ | np.integer | np.floating | np.str_):
        return value.item()
    return value


def as_float(value: object) -> float:
    """A real number of any kind as a float, also a 0-d array; NaN for anything else, True included.

    >>> from fractions import Fraction
    >>> as_float(Fraction(1, 2)), as_float(Decimal("0.1")), as_float(np.array(3)), as_float(True)
    (0.5, 0.1, 3.0, nan)
    """
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, float | Real | Decimal):
        return math.nan
    try:
        return float(value)
    except (OverflowError, ValueError):  # out of range for floats; a signalling NaN
        return math.nan


def _is_number(value: object) -> bool:
    """Whether this is a real number that is not NaN; True and False do not count."""
    if isinstance(value, int | np.integer):
        return not isinstance(value, bool)
    return not math.isnan(as_float(value))


def _edge(value: object) -> float:
    """A number to compare with: an int if that is exact, for readability, else a float."""
    if _is_number(value):
        number: float = _plain(value) if isinstance(value, int | np.integer) else as_float(value)
        try:
            return number if abs(number) < 2**53 else float(number)
        except OverflowError:
            pass
    raise InvalidVariable(f"An edge must be a number; {shown(value)} is not.")


def _short(number: float) -> str:
    return str(int(number)) if abs(number) < 2**53 and number == int(number) else repr(number)


BOOLEAN = as_domain((False, True))  # last: it needs everything above
REAL = Continuous()
