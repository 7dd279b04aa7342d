"""What a question hands back: values that print as tables and know how they were made."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field, fields, replace
from itertools import islice, pairwise, product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from pgm.errors import InvalidArgument, TooLarge, UnknownVariable, listed, nearest, shown
from pgm.evidence import names as names_of
from pgm.printing import ROWS as _ROWS
from pgm.printing import (
    Share,
    html_facts,
    html_table,
    html_text,
    joined,
    label,
    number,
    outward,
    text_facts,
    text_table,
)
from pgm.runtime.clock import Profile
from pgm.variables import State, Variable, VariableList, is_missing, typed_array

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_CELL = 50  # letters of a cell of a trace
_TITLE = 60  # letters, above which a title is no heading of a column
_COUNTS = ("samples", "points", "iterations")  # said as "12 iterations"
NORMAL_95 = 1.959963984540054  # a normal number is this many standard deviations off in one case of twenty
_NUMBERS = re.compile(r"\d{1,9}(?:,\d{1,9})*", re.ASCII).fullmatch


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Intervals:
    """What each number of an answer lies between: arrays alike in shape with its `values`.

    >>> Intervals(np.array([0.28]), np.array([0.32]))[0]
    (0.28, 0.32)
    """

    low: np.ndarray
    high: np.ndarray
    errors: np.ndarray | None = None  # standard errors; None where nothing was drawn
    effective_sizes: np.ndarray | None = None  # independent samples that would know as much; inf: it is known
    r_hat: np.ndarray | None = None  # by how much chains disagree

    def __post_init__(self) -> None:
        """They never change, as the values."""
        for array in (self.low, self.high, self.errors, self.effective_sizes, self.r_hat):
            if array is not None:
                array.flags.writeable = False

    def __getitem__(self, index: Any) -> tuple[float, float]:
        """The ends for one number."""
        return float(self.low[index]), float(self.high[index])

    def changed(
        self, change: Callable[[np.ndarray, Any], np.ndarray], values: np.ndarray | float = math.nan
    ) -> Intervals:
        """The same for other numbers: `change` gets an array, and what stands in it for a known number.

        The ends of what is known are the values.
        """

        def of(array: np.ndarray | None, known: float) -> np.ndarray | None:
            return None if array is None else change(array, known)

        return Intervals(
            change(self.low, values),
            change(self.high, values),
            of(self.errors, 0.0),
            of(self.effective_sizes, math.inf),
            of(self.r_hat, 1.0),
        )

    @property
    def sure(self) -> bool:
        """Whether they hold the numbers without fail, or in 95 of 100 seeds."""
        return self.errors is None

    @property
    def heads(self) -> tuple[str, str]:
        """What stands above the ends in a table."""
        return ("at least", "at most") if self.sure else ("95 % from", "to")

    def cells(self, index: Any = ...) -> list[list[str]]:
        """The ends in a table, one row for each number."""
        lows, highs = np.ravel(self.low[index])[:_ROWS], np.ravel(self.high[index])[:_ROWS]
        return [outward(*ends) for ends in zip(lows.tolist(), highs.tolist(), strict=True)]

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[str(i), *ends] for i, ends in enumerate(self.cells())]
        more = self.low.size - len(rows)
        return ["", *self.heads], rows, f"... {more:,} more of {self.low.size:,} numbers" if more else ""

    def __repr__(self) -> str:
        """A table of the ends, as numbers follow each other in `values`."""
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


def farthest(intervals: Intervals, values: np.ndarray) -> float:
    """How far one of these numbers is from an end of its interval at most."""
    return float(np.maximum(intervals.high - values, values - intervals.low).max(initial=0.0))


@dataclass(frozen=True, slots=True, repr=False)
class Course:
    """How an answer came to be: what it was known to be at least and at most, after so much work.

    The numbers are logarithms of P(given), or of the best states' P(states, given).

    >>> Course("iterations", (1.0, 2.0), (-5.0, -4.5), (math.inf, math.inf)).least[-1]
    -4.5
    """

    unit: Literal["iterations", "seconds"]
    at: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]

    def __repr__(self) -> str:
        """A table of the first times and the last."""
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        n = len(self.at)
        some = range(n) if n <= _ROWS else [*range(_ROWS - 1), n - 1]
        rows = [[f"{each[i]:.6g}" for each in (self.at, self.least, self.most)] for i in some]
        return (
            [self.unit, "at least", "at most"],
            rows,
            f"{n:,} times, of which {_ROWS} are shown" * (n > _ROWS),
        )

    def moved(self, by: float) -> Course:
        """The same of numbers that are larger by this."""
        return Course(self.unit, self.at, tuple(x + by for x in self.least), tuple(x + by for x in self.most))


@dataclass(frozen=True, repr=False)
class Report:
    """How an answer was made, and what was measured on the way.

    An error that nobody measured is None; that of an exact answer is 0.

    >>> print(Report("loopy", exact=False, converged=False, error=3e-4, advice="raise sweeps="))
    APPROXIMATE (loopy): not converged, error 0.0003; raise sweeps=
    """

    engine: str
    exact: bool
    converged: bool = True  # False as soon as anything but the tolerance stopped it
    error: float | None = None  # bound, estimate or standard error, in the units of the answer
    advice: str = ""
    iterations: int = 0
    points: int = 0  # of the grid that was summed over
    modes: int = 1  # parts of the distribution that were found apart, and mixed
    samples: int = 0  # drawn, with those thrown away
    effective_sample_size: float | None = None  # the smallest of all numbers of the answer
    r_hat: float | None = None  # the largest, where chains were run
    interval: tuple[float, float] | None = None  # holds the answer in 95 of 100 seeds
    bounds: tuple[float, float] | None = None  # what the answer is surely between
    intervals: Intervals | None = field(default=None, compare=False)  # the same, number by number
    # Of the logarithm of P(given), or of the partition function: what it is between, and its standard error.
    log_bounds: tuple[float, float] | None = None
    log_error: float | None = None
    residuals: tuple[float, ...] = ()  # by how much messages still changed, after each iteration
    # Of the variables to be traced: which of its states each had, (chains, draws).
    chains: Mapping[str, np.ndarray] | None = field(default=None, compare=False)
    trace: Trace | None = field(default=None, compare=False)  # what an engine noted down, for teaching
    profile: Profile = field(default_factory=Profile, compare=False)  # where the time went
    course: Course | None = field(default=None, compare=False)  # what was known when
    given: Mapping[str, Any] | None = field(default=None, compare=False)  # as the user wrote it

    def __post_init__(self) -> None:
        """What is exact has no error."""
        if self.exact and self.error is None:
            self.__dict__["error"] = 0.0

    @classmethod
    def of_exact(cls, engine: str, profile: Profile, given: Mapping[str, Any] | None) -> Report:
        """The report of an exact answer: all else is as the class has it, which saves setting it."""
        self = _new(cls)
        self.__dict__.update(engine=engine, exact=True, error=0.0, profile=profile, given=given)
        return self

    def __str__(self) -> str:
        """How it was made, and how long that took where it was measured."""
        return self.summary + (f"; time: {self.profile!r}" if self.profile.total else "")

    def __repr__(self) -> str:
        """A line for each thing that was measured."""
        return text_facts(self._facts())

    def _repr_html_(self) -> str:
        return html_facts(self._facts())

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("engine", self.engine), ("exact", "yes" if self.exact else "no")]
        if self.given:
            facts.append(("given", condition(self.given)))
        if not self.exact:
            facts.append(("converged", "yes" if self.converged else "no"))
        facts += self._measured()
        if self.intervals is not None:
            sure = "bounds" if self.intervals.sure else "95 % intervals"
            facts.append(("intervals", f"{sure} for each of {self.intervals.low.size:,} numbers"))
        if self.chains:
            one = next(iter(self.chains.values()))
            facts.append(
                ("chains", f"{one.shape[0]} of {one.shape[1]:,} states: {listed(list(self.chains))}")
            )
        if self.course is not None and len(self.course.at):
            facts.append(
                (
                    "course",
                    f"{len(self.course.at):,} times, up to {self.course.at[-1]:.3g} {self.course.unit}",
                )
            )
        if self.trace is not None:
            facts.append(("trace", f"{len(self.trace):,} rows"))
        if self.advice:
            facts.append(("advice", self.advice))
        if self.profile.total:
            facts.append(("time", repr(self.profile)))
        return facts

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw how the answer came to be: chains, changes of messages, or bounds; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: what stands above; what is shown if left out.
        """
        from pgm import plot

        return plot.report(self, ax, figsize=figsize, title=title)

    @property
    def residual(self) -> float | None:
        """By how much messages still changed when it stopped; None for an engine that sends none."""
        return self.residuals[-1] if self.residuals else None

    @property
    def summary(self) -> str:
        """One line for under a table."""
        if self.exact:
            return "exact" if self.engine == "exact" else f"exact ({self.engine})"
        facts = [] if self.converged else ["not converged"]
        for name, text in self._measured():
            facts.append(f"{text} {name}" if name in _COUNTS else f"{name} {text}")
        said = ": " + ", ".join(facts) if facts else ""
        return f"APPROXIMATE ({self.engine}){said}" + (f"; {self.advice}" if self.advice else "")

    def _measured(self) -> list[tuple[str, str]]:
        """The numbers that were measured, each under its name."""
        facts: list[tuple[str, str]] = []
        if not self.exact:
            facts.append(("error", "not measured" if self.error is None else f"{self.error:.2g}"))
        if self.interval is not None:
            facts.append(("95 % interval", f"{self.interval[0]:.6g} to {self.interval[1]:.6g}"))
        if self.bounds is not None:
            facts.append(("between", f"{self.bounds[0]:.6g} and {self.bounds[1]:.6g}"))
        if self.effective_sample_size is not None:
            facts.append(("effective sample size", f"{self.effective_sample_size:,.0f}"))
        if self.r_hat is not None:
            facts.append(("R-hat", f"{self.r_hat:.3f}"))
        if self.samples:
            facts.append(("samples", f"{self.samples:,}"))
        readable = self.bounds is not None and 1e-300 < self.bounds[1] < math.inf
        if self.log_bounds is not None and not readable:
            low, high = self.log_bounds
            upper = f" and at most {high:.6g}" if high < math.inf else ""
            facts.append(("log P(given)", f"at least {low:.6g}{upper}"))
        if self.points:
            facts.append(("points", f"{self.points:,}"))
        if self.iterations:
            facts.append(("iterations", f"{self.iterations:,}"))
        if self.residuals:
            facts.append(("residual", f"{self.residuals[-1]:.1e}"))
        return facts

    def to_dict(self) -> dict[str, Any]:
        """What was measured, as plain Python objects; what was not, and long records, are left out.

        But for the error: None says that it was not measured.

        >>> Report("loopy", exact=False, iterations=20).to_dict()
        {'engine': 'loopy', 'exact': False, 'converged': True, 'error': None, 'iterations': 20}
        """
        always = ("engine", "exact", "converged", "error")
        found: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.compare and (each.name in always or value != each.default):
                found[each.name] = list(value) if isinstance(value, tuple) else value
        if self.intervals is not None:
            found["intervals"] = {"low": self.intervals.low.tolist(), "high": self.intervals.high.tolist()}
        return found


EXACT = Report("exact", exact=True)


def _not_among(name: object, names: Iterable[str], report: Report) -> UnknownVariable:
    """The error for a name that an answer does not have; what was given is known, and in no answer."""
    if report.given and isinstance(name, str) and name in report.given:
        given = condition({name: report.given[name]})
        return UnknownVariable(name, names, why=f"{name!r} was given ({given}) and is no part of the answer")
    return UnknownVariable(name, names)


def together(reports: Sequence[Report]) -> Report:
    """One report on an answer that several runs went into; each says the worst of them."""
    first = reports[0]
    if len(reports) == 1:
        return first
    sizes = [r.effective_sample_size for r in reports if r.effective_sample_size is not None]
    worst = max(reports, key=lambda r: r.residual or 0.0)
    errors = [r.error for r in reports]
    log_errors = [r.log_error for r in reports]
    hats = [r.r_hat for r in reports if r.r_hat is not None]
    return replace(
        first,
        exact=all(r.exact for r in reports),
        converged=all(r.converged for r in reports),
        error=None if None in errors else max(error for error in errors if error is not None),
        advice=max(reports, key=lambda r: (not r.converged, bool(r.advice))).advice,
        iterations=sum(r.iterations for r in reports),
        samples=sum(r.samples for r in reports),
        effective_sample_size=min(sizes) if sizes else None,
        r_hat=max(hats) if hats else None,
        log_error=None if None in log_errors else math.hypot(*(e for e in log_errors if e is not None)),
        bounds=None,
        intervals=None,
        log_bounds=None,
        residuals=worst.residuals,
    )


class Trace(tuple[tuple[str, ...], ...]):
    """What an engine did, step by step: rows of text under a heading each; prints as a table.

    >>> Trace(("sweep", "message"), [("1", "C -> R")])
    sweep  message
    1      C -> R
    """

    header: tuple[str, ...]

    def __new__(cls, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Trace:
        """Take the headings and the rows."""
        self = super().__new__(cls, (tuple(row) for row in rows))
        self.header = tuple(header)
        return self

    def _table(self) -> tuple[tuple[str, ...], list[list[str]], str]:
        rows = [
            [cell if len(cell) <= _CELL else cell[: _CELL - 1] + "…" for cell in row] for row in self[:_ROWS]
        ]
        more = len(self) - len(rows)
        return (
            self.header,
            rows,
            f"... {more:,} more of {len(self):,} rows; print(trace) has all" if more else "",
        )

    def __repr__(self) -> str:
        """A table of the first rows."""
        return text_table(*self._table())

    def __str__(self) -> str:
        """All rows, whole: whoever prints a trace wants to read it."""
        return "\n".join("  ".join(row) for row in (self.header, *self))

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle headings and rows."""
        return Trace, (self.header, tuple(self))


class _Value:
    """A result: it never changes, and shares what its report says."""

    __slots__ = ()
    report: Report

    @property
    def exact(self) -> bool:
        """Whether this is the exact answer, up to rounding."""
        return self.report.exact

    @property
    def engine(self) -> str:
        """The engine that answered."""
        return self.report.engine

    @property
    def given(self) -> Mapping[str, Any]:
        """What was given when the question was asked; it is no part of what makes results equal."""
        return MappingProxyType(self.report.given or {})

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: results are values."""
        raise AttributeError(f"{_a(self)} does not change; .{name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse: results are values."""
        raise AttributeError(f"{_a(self)} does not change; .{name} stays")


def _a(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


_put = object.__setattr__  # past the guard of _Value
_new = object.__new__


class Distribution(_Value):
    """A probability for each state of a variable, or for each combination of states of several.

    `p[state]`, or `p[state1, state2]` in the order asked; a mapping names the variables instead, and those
    that it leaves out are summed out.

    >>> rain, wet = Variable("rain", [False, True]), Variable("wet", ["no", "yes"])
    >>> j = Distribution((rain, wet), np.array([[0.5, 0.1], [0.1, 0.3]]))
    >>> j[True, "yes"], j[{"wet": "yes"}], j.mode()
    (0.3, 0.4, {'rain': False, 'wet': 'no'})
    >>> j.marginal("rain")
    rain   P(rain)
    False  0.600000
    True   0.400000
    """

    __slots__ = ("report", "values", "variables")
    variables: tuple[Variable, ...]
    values: np.ndarray
    report: Report

    def __init__(self, variables: tuple[Variable, ...], values: np.ndarray, report: Report = EXACT) -> None:
        """Take values with one axis for each variable; they are kept as they are, and become read-only."""
        values.setflags(write=False)
        if values.base is None:  # of an array that owns its memory anyone may lift that flag again
            values = values.view()
        _set_variables(self, variables)  # without any check: a thousand are made in one call
        _set_values(self, values)
        _set_report(self, report)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in the order of the axes."""
        return tuple(variable.name for variable in self.variables)

    @property
    def title(self) -> str:
        """What this is the distribution of, and given what.

        >>> coin = Distribution((Variable("coin", ["head", "tail"]),), np.array([0.5, 0.5]))
        >>> coin.title
        'P(coin)'
        """
        given = f" | {condition(self.report.given)}" if self.report.given else ""
        return f"P({joined(self.names, len(self.names), 60)}{given})"

    @property
    def states(self) -> tuple[Any, ...]:
        """The states of the variable; of a joint distribution, those of each."""
        if len(self.variables) == 1:
            return self.variables[0].states
        return tuple(variable.states for variable in self.variables)

    def __getitem__(self, key: State | tuple[State, ...] | Mapping[str, State]) -> float:
        """The probability of a state, of a combination of states, or of a mapping from names to states."""
        if isinstance(key, Mapping):
            return self._of_mapping(key)
        if len(self.variables) == 1:
            return float(self.values[self.variables[0].code(key)])
        if not isinstance(key, tuple) or len(key) != len(self.variables):
            raise InvalidArgument(
                f"This is the joint of {listed(self.names)}; ask with {len(self.variables)} states in this "
                f"order, or with a mapping from names to states, not {shown(key)}."
            )
        return float(self.values[tuple(v.code(state) for v, state in zip(self.variables, key, strict=True))])

    def _of_mapping(self, wanted: Mapping[str, State]) -> float:
        names = self.names
        index: list[int | slice] = [slice(None)] * len(names)
        for name, state in wanted.items():
            if name not in names:
                raise UnknownVariable(name, names)
            if not is_missing(state):
                axis = names.index(name)
                index[axis] = self.variables[axis].code(state)
        return float(self.values[tuple(index)].sum())

    @property
    def bounds(self) -> np.ndarray | None:
        """The least and the most that each probability can be, along the last axis; None: not known."""
        found = self.report.intervals
        if found is None or not found.sure:
            return None
        ends = np.stack([found.low, found.high], axis=-1)
        ends.flags.writeable = False
        return ends

    def keys(self) -> Iterator[Any]:
        """The states in order; of a joint distribution, tuples of them."""
        if len(self.variables) == 1:
            return iter(self.variables[0].states)
        return product(*(variable.states for variable in self.variables))

    def items(self) -> Iterator[tuple[Any, float]]:
        """Pairs of state and probability, in order."""
        return zip(self.keys(), map(float, self.values.flat), strict=True)

    def __iter__(self) -> Iterator[Any]:
        """The states in order; of a joint distribution, tuples of them."""
        return self.keys()

    def __len__(self) -> int:
        """The number of states, or of their combinations."""
        return int(self.values.size)

    def mode(self) -> Any:
        """The most probable state, the one declared first of equals; of a joint distribution, a dict."""
        best = np.unravel_index(int(self.values.argmax()), self.values.shape)
        states = {v.name: v.states[code] for v, code in zip(self.variables, best, strict=True)}
        return states if len(states) > 1 else next(iter(states.values()))

    def entropy(self) -> float:
        """How uncertain this is, in nats.

        >>> round(Distribution((Variable("coin", ["head", "tail"]),), np.array([0.5, 0.5])).entropy(), 6)
        0.693147
        """
        p = self.values[self.values > 0]
        return max(0.0, -float(p @ np.log(p)))

    def mutual_information(
        self, a: str | Sequence[str], b: str | Sequence[str], given: str | Sequence[str] = ()
    ) -> float:
        """How much some variables of a joint distribution tell about others, in nats.

        I(a; b), or I(a; b | given), averaged over the states of `given` (Cover & Thomas 2006, equations 2.28
        and 2.60). It is 0 where they are independent, and at most the entropy of either.

        Args:
            a: one of the names, or several, taken as one variable.
            b: others.
            given: variables whose states are known when b is heard of, whichever they are.

        Raises:
            UnknownVariable: a name that this is not the distribution of.
            InvalidArgument: a name comes twice, or a or b is empty.

        >>> bits = [Variable(name, [0, 1]) for name in ("a", "b", "parity")]
        >>> j = Distribution(tuple(bits), np.array([[[0.25, 0.0], [0.0, 0.25]], [[0.0, 0.25], [0.25, 0.0]]]))
        >>> j.mutual_information("a", "b"), round(j.mutual_information("a", "b", given="parity"), 6)
        (0.0, 0.693147)
        """
        sets = self._sets(a, b, given)
        joint = self.marginal([name for names in sets for name in names])
        cards = [v.card for v in joint.variables]
        ends = np.cumsum([0, *map(len, sets)])
        abc = joint.values.reshape([math.prod(cards[i:j]) for i, j in pairwise(ends.tolist())])
        ac, bc, c = abc.sum(axis=1, keepdims=True), abc.sum(axis=0, keepdims=True), abc.sum(axis=(0, 1))
        some = abc > 0.0
        b_given_ac = np.divide(abc, ac, where=some, out=np.ones_like(abc))
        b_given_c = np.divide(bc, c, where=bc > 0.0, out=np.ones_like(bc))
        return max(0.0, float((abc * (np.log(b_given_ac) - np.log(b_given_c))).sum()))

    def _sets(
        self, a: str | Sequence[str], b: str | Sequence[str], given: str | Sequence[str]
    ) -> tuple[tuple[str, ...], ...]:
        """The names of three sets that have none in common; only the last may be empty."""
        own = {variable.name: variable for variable in self.variables}
        sets = names_of(a, own), names_of(b, own), names_of(given, own)
        every = [name for names in sets for name in names]
        if twice := [name for i, name in enumerate(every) if name in every[:i]]:
            raise InvalidArgument(
                f"{listed(dict.fromkeys(twice))}: what tells, what is told about and what is given are "
                "different variables. What one tells about itself is its entropy()."
            )
        if not sets[0] or not sets[1]:
            raise InvalidArgument(f"mutual_information is between two of the names {listed(own)}.")
        return sets

    def expectation(self, f: Callable[..., float] | None = None) -> float:
        """The mean of the states, which must be numbers, or of a function of them.

        Args:
            f: a function of a state; of a joint distribution, of as many states. None: the state itself.

        Raises:
            InvalidArgument: without f, states that are no numbers, or several variables.

        >>> die = Distribution((Variable("die", range(1, 7)),), np.full(6, 1 / 6))
        >>> round(die.expectation(), 6), round(die.expectation(lambda eyes: eyes**2), 6)
        (3.5, 15.166667)
        """
        if f is not None:
            joint = len(self.variables) > 1
            return math.fsum(p * (f(*key) if joint else f(key)) for key, p in self.items() if p > 0)
        return math.fsum(p * state for state, p in self._numbers() if p > 0)

    @property
    def mean(self) -> Any:
        """The mean of one variable whose states are numbers, as `expectation()` gives it.

        >>> Distribution((Variable("children", [0, 1, 2]),), np.array([0.5, 0.25, 0.25])).mean
        0.75
        """
        return self.expectation()

    @property
    def variance(self) -> Any:
        """The variance of one variable whose states are numbers.

        >>> Distribution((Variable("children", [0, 1, 2]),), np.array([0.5, 0.25, 0.25])).variance
        0.6875
        """
        mean = self.expectation()
        return math.fsum(p * (state - mean) ** 2 for state, p in self._numbers() if p > 0)

    @property
    def std(self) -> Any:
        """The standard deviation of one variable whose states are numbers."""
        return math.sqrt(self.variance)

    def _numbers(self) -> Iterable[tuple[Any, float]]:
        """Pairs of state and probability, of one variable whose states are numbers."""
        if len(self.variables) > 1 or not all(isinstance(state, int | float) for state in self.states):
            raise InvalidArgument(
                f"The mean of {listed(self.names)} needs one variable whose states are numbers; "
                "give a function of the states: expectation(lambda state: ...)."
            )
        return self.items()

    def marginal(self, names: str | Sequence[str]) -> Distribution:
        """The distribution of some of the variables, with its axes in the order asked.

        Args:
            names: one name, or a list of names in the order wanted.

        Raises:
            UnknownVariable: a name that this is not the distribution of.
            InvalidArgument: no name at all.

        >>> rain, wet = Variable("rain", [False, True]), Variable("wet", ["no", "yes"])
        >>> Distribution((rain, wet), np.array([[0.5, 0.125], [0.125, 0.25]])).marginal("rain")[True]
        0.375
        """
        own = {variable.name: axis for axis, variable in enumerate(self.variables)}
        kept = names_of(names, dict(zip(own, self.variables, strict=True)))
        if not kept:
            raise InvalidArgument(f"marginal needs at least one of the names {listed(own)}.")
        axes = [own[name] for name in kept]
        gone = tuple(axis for axis in own.values() if axis not in axes)
        order = [sorted(axes).index(axis) for axis in axes]
        values = self.values.sum(axis=gone).transpose(order).copy()
        report = _summed(self.report, gone, self.values.sum(axis=gone)) if gone else self.report
        if report.intervals is not None:
            report = replace(report, intervals=report.intervals.changed(lambda a, _: a.transpose(order)))
        return Distribution(tuple(self.variables[axis] for axis in axes), values, report)

    def to_dict(self) -> dict[Any, float]:
        """{state: probability}; of a joint distribution, {(state, state, ...): probability}."""
        return dict(self.items())

    def to_pandas(self) -> pd.Series:
        """A Series whose index holds the states."""
        pandas = _pandas()
        if len(self.variables) == 1:
            index = pandas.Index(self.states, name=self.names[0], tupleize_cols=False)
        else:
            index = pandas.MultiIndex.from_product(self.states, names=self.names)
        series: pd.Series = pandas.Series(self.values.ravel().copy(), index=index, name="p")
        return series

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the probabilities as bars; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: what stands above; what is shown if left out.
        """
        from pgm import plot

        return plot.distribution(self, ax, figsize=figsize, title=title)

    def __eq__(self, other: object) -> bool:
        """Equal when the variables are the same, in order, and the probabilities identical."""
        if not isinstance(other, Distribution):
            return NotImplemented
        return self.variables == other.variables and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        """That of variables and values."""
        return hash((self.variables, (self.values + 0.0).tobytes()))  # -0.0 equals 0.0

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The probabilities, for numpy."""
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return Distribution, (self.variables, self.values, self.report)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        joint = len(self.variables) > 1
        names = [label(name) for name in self.names]
        title = self.title
        titled = not joint and len(title) <= _TITLE
        header = [*names, title if titled else "P"]
        rows = [[*map(label, key if joint else (key,)), Share(p)] for key, p in islice(self.items(), _ROWS)]
        if self.report.intervals is not None:
            header += self.report.intervals.heads
            for row, ends in zip(rows, self.report.intervals.cells(), strict=False):
                row += ends
        return header, rows, noted(len(self), len(rows), "rows", self.report, given=not titled)

    def __repr__(self) -> str:
        """A table, one line for each state."""
        header, rows, notes = self._table()
        return text_table(header, rows, notes)

    def _repr_html_(self) -> str:
        header, rows, notes = self._table()
        return html_table(header, rows, notes)


_set_variables = Distribution.__dict__["variables"].__set__
_set_values = Distribution.__dict__["values"].__set__
_set_report = Distribution.__dict__["report"].__set__


class _Values(ValuesView[Distribution]):
    """The distributions, made as they are looked at: a million at once would keep the collector busy."""

    _mapping: Marginals

    def __iter__(self) -> Iterator[Distribution]:
        return self._mapping._all()


class _Items(ItemsView[str, Distribution]):
    _mapping: Marginals

    def __iter__(self) -> Iterator[tuple[str, Distribution]]:
        return zip(self._mapping, self._mapping._all(), strict=True)


def _then(p: Distribution, code: int) -> str:
    return f"{label(p.states[code])} {number(p.values[code])}"


def _of_part(report: Report, part: slice, values: np.ndarray) -> Report:
    """What a report on several answers says of one of them."""
    assert report.intervals is not None
    own = report.intervals.changed(lambda a, _: a[part])
    report = replace(report, intervals=own)
    if own.errors is None or own.effective_sizes is None:
        return replace(report, error=farthest(own, values))
    size = min(float(own.effective_sizes.min()), float(report.samples))
    hat = None if own.r_hat is None else float(own.r_hat.max())
    return replace(report, error=float(own.errors.max()), effective_sample_size=size, r_hat=hat)


class Marginals(_Value, Mapping[str, Distribution]):
    """The distribution of each variable that is not observed: {name: Distribution}, in the model's order.

    >>> ab = [Variable("a", [0, 1]), Variable("b", ["x", "y", "z"])]
    >>> Marginals(ab, np.array([0.25, 0.75, 0.5, 0.125, 0.375]), [0, 2, 5])
    variable  most probable  P         next
    a         1              0.750000  0 0.250000
    b         x              0.500000  z 0.375000
    """

    __slots__ = ("_flat", "_offsets", "_places", "_variables", "report")
    report: Report
    _flat: np.ndarray
    _offsets: Sequence[int]
    _variables: VariableList
    _places: dict[str, int] | None

    def __init__(
        self,
        variables: Iterable[Variable],
        flat: np.ndarray,
        offsets: Sequence[int] | np.ndarray,
        report: Report = EXACT,
    ) -> None:
        """Take the probabilities of all variables in one array; those of the i-th begin at offsets[i]."""
        flat.flags.writeable = False
        _put(self, "report", report)
        _put(self, "_flat", flat)
        _put(self, "_offsets", offsets.tolist() if isinstance(offsets, np.ndarray) else list(offsets))
        _put(self, "_variables", VariableList.of(variables))
        _put(self, "_places", None)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the model's order."""
        return tuple(self._variables)

    @property
    def _index(self) -> dict[str, int]:
        """The place of each name; made when it is first asked for."""
        return _places_of(self)

    def __getitem__(self, name: str) -> Distribution:
        """The distribution of one variable."""
        try:
            i = self._index[name]
        except (KeyError, TypeError):
            raise _not_among(name, self._index, self.report) from None
        return self._make(self._variables[i], self._offsets[i])

    def _all(self) -> Iterator[Distribution]:
        return map(self._make, self._variables, self._offsets)

    def _make(self, variable: Variable, start: int) -> Distribution:
        made = _new(Distribution)  # read-only as the array that it is a part of
        part, report = slice(start, start + variable.domain.card), self.report
        values = self._flat[part]
        _set_variables(made, (variable,))
        _set_values(made, values)
        _set_report(made, report if report.intervals is None else _of_part(report, part, values))
        return made

    def items(self) -> ItemsView[str, Distribution]:
        """Each name with its distribution."""
        return _Items(self)

    def values(self) -> ValuesView[Distribution]:
        """The distributions."""
        return _Values(self)

    def __contains__(self, name: object) -> bool:
        """Whether the variable is there: observed ones are not."""
        return isinstance(name, str) and name in self._index

    def __iter__(self) -> Iterator[str]:
        """The names, in the model's order."""
        return iter(self._variables.names)

    def __len__(self) -> int:
        """The number of variables."""
        return len(self._variables)

    def to_dict(self) -> dict[str, dict[Any, float]]:
        """{name: {state: probability}}."""
        return {name: p.to_dict() for name, p in self.items()}

    def to_pandas(self) -> pd.DataFrame:
        """A long frame with the columns variable, state, p."""
        cards = [domain.card for domain in self._variables.domains]
        states = [state for domain in self._variables.domains for state in domain.states]
        parts = [p.values for p in self.values()]
        columns = {
            "variable": np.repeat(np.array(list(self), dtype=object), cards),
            "state": typed_array(states),
            "p": np.concatenate(parts) if parts else np.zeros(0),
        }
        frame: pd.DataFrame = _pandas().DataFrame(columns)
        return frame

    def to_array(self, prefix: str) -> np.ndarray:
        """The probabilities of the variables "prefix[0]", "prefix[1]", ..., or "prefix[0,0]", ....

        The last axis has the states, in order, which must be the same for all; the others are the indices.

        Args:
            prefix: what stands before the brackets.

        Raises:
            InvalidArgument: no variable is named so, some are missing, or they have different states.

        >>> pixels = [Variable(f"pixel[{i}]", ["black", "white"]) for i in range(2)]
        >>> Marginals(pixels, np.array([0.25, 0.75, 0.5, 0.5]), [0, 2]).to_array("pixel")
        array([[0.25, 0.75],
               [0.5 , 0.5 ]])
        """
        places, index, shape = _indexed(self, prefix, self.report)
        first, *others = (self._variables.domains[i] for i in places)
        if any(other is not first and other != first for other in others):
            raise InvalidArgument(
                f"The variables '{prefix}[...]' do not all have the same states in the same order, so that "
                "their probabilities make no array. Take them one by one, by name."
            )
        begins = np.array(self._offsets)[places]
        result = np.empty((*shape, first.card))
        result[index] = self._flat[begins[:, np.newaxis] + np.arange(first.card)]
        return result

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the probabilities of every variable as bars; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: what stands above; what is shown if left out.
        """
        from pgm import plot

        return plot.marginals(self, ax, figsize=figsize, title=title)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return Marginals, (self._variables, self._flat, self._offsets, self.report)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows, header = [], ["variable", "most probable", "P", "next"]
        if self.report.intervals is not None:
            header[3:3] = self.report.intervals.heads
        for name, p in islice(self.items(), _ROWS):
            first, *rest = np.argsort(-p.values, kind="stable")[:2].tolist()
            then = Share(p.values[rest[0]], _then(p, rest[0])) if rest else ""
            ends = [] if p.report.intervals is None else p.report.intervals.cells(first)[0]
            rows.append([label(name), label(p.states[first]), Share(p.values[first]), *ends, then])
        notes = noted(len(self), len(rows), "variables", self.report)
        return header, rows, notes

    def __repr__(self) -> str:
        """A table, one line for each variable."""
        header, rows, notes = self._table()
        return text_table(header, rows, notes)

    def _repr_html_(self) -> str:
        header, rows, notes = self._table()
        return html_table(header, rows, notes)


class MaxMarginals(_Value, Mapping[str, Mapping[Any, "Probability"]]):
    """For each variable that is not observed {state: max P(all states, given) with it}, in the model's order.

    Each number is a float with a `.log` that does not underflow. The largest of any variable is that of the
    most probable explanation, and stands at its state there.

    >>> rain = Variable("rain", [False, True])
    >>> found = MaxMarginals([rain], np.log([0.14, 0.27]), [0])
    >>> found
    variable  state  P         next
    rain      True   0.270000  False 0.140000
    >>> round(found["rain"][False], 6)
    0.14
    """

    __slots__ = ("_flat", "_offsets", "_places", "_variables", "report")
    report: Report
    _flat: np.ndarray
    _offsets: list[int]
    _variables: VariableList
    _places: dict[str, int] | None

    def __init__(
        self,
        variables: Iterable[Variable],
        logs: np.ndarray,
        offsets: Sequence[int] | np.ndarray,
        report: Report = EXACT,
    ) -> None:
        """Take the logarithms of all in one array; those of the i-th variable begin at offsets[i]."""
        logs.flags.writeable = False
        _put(self, "report", report)
        _put(self, "_flat", logs)
        _put(self, "_offsets", [int(at) for at in offsets])
        _put(self, "_variables", VariableList.of(variables))
        _put(self, "_places", None)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the model's order."""
        return tuple(self._variables)

    def log_values(self, name: str) -> np.ndarray:
        """The logarithms of one variable's numbers, in the order of its states.

        Args:
            name: one of the variables.

        Raises:
            UnknownVariable: a name that is none of them.

        >>> import pgm
        >>> mrf = pgm.MarkovNetwork()
        >>> mrf.add_variable("a", states=["red", "blue"])
        >>> mrf.add_factor("a", [3.0, 1.0])
        >>> mrf.max_marginals().log_values("a").round(6).tolist()
        [1.098612, 0.0]
        """
        try:
            i = _places_of(self)[name]
        except (KeyError, TypeError):
            raise _not_among(name, _places_of(self), self.report) from None
        return self._flat[self._offsets[i] : self._offsets[i] + self._variables.domains[i].card]

    def __getitem__(self, name: str) -> Mapping[Any, Probability]:
        """The numbers of one variable, by its states."""
        logs = self.log_values(name)
        states = self._variables[_places_of(self)[name]].states
        made = {
            s: Probability(_exp(x), self.report, log=x) for s, x in zip(states, logs.tolist(), strict=True)
        }
        return MappingProxyType(made)

    def __iter__(self) -> Iterator[str]:
        """The names, in the model's order."""
        return iter(self._variables.names)

    def __len__(self) -> int:
        """The number of variables."""
        return len(self._variables)

    def to_dict(self) -> dict[str, dict[Any, float]]:
        """{name: {state: number}}."""
        return {name: {state: float(p) for state, p in each.items()} for name, each in self.items()}

    def to_pandas(self) -> pd.DataFrame:
        """A long frame with the columns variable, state, p and log_p."""
        cards = [domain.card for domain in self._variables.domains]
        logs = np.concatenate([self.log_values(name) for name in self]) if len(self) else np.zeros(0)
        columns = {
            "variable": np.repeat(np.array(list(self), dtype=object), cards),
            "state": typed_array([state for domain in self._variables.domains for state in domain.states]),
            "p": [_exp(x) for x in logs.tolist()],
            "log_p": logs,
        }
        frame: pd.DataFrame = _pandas().DataFrame(columns)
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw how probable the best with each state is, relative to the best of all; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: what stands above; what is shown if left out.
        """
        from pgm import plot

        return plot.max_marginals(self, ax, figsize=figsize, title=title)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return MaxMarginals, (self._variables, self._flat, self._offsets, self.report)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        top = float(self._flat.max(initial=0.0 if not len(self) else -math.inf))
        head = "P" if top <= 0.0 else "product"
        in_logs = not -600.0 < top < 600.0

        def value(log: float) -> str:
            return f"{log:.6f}" if in_logs else number(math.exp(log))

        rows = []
        for name in islice(self, _ROWS):
            logs, states = self.log_values(name), self._variables[_places_of(self)[name]].states
            first, *rest = np.argsort(-logs, kind="stable")[:2].tolist()
            then = f"{label(states[rest[0]])} {value(float(logs[rest[0]]))}" if rest else ""
            rows.append([label(name), label(states[first]), value(float(logs[first])), then])
        notes = noted(len(self), len(rows), "variables", self.report)
        return ["variable", "state", f"log {head}" if in_logs else head, "next"], rows, notes

    def __repr__(self) -> str:
        """A table, one line for each variable."""
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


class Probability(_Value, float):
    """A float that knows whether it is exact, and its logarithm even where the float itself is 0.

    >>> p = Probability(math.exp(-2000), log=-2000.0)
    >>> p, p.log, p.exact
    (0.0, -2000.0, True)
    """

    __slots__ = ("log", "report")
    log: Logarithm
    report: Report

    def __new__(cls, value: float, report: Report = EXACT, *, log: float | None = None) -> Probability:
        """Take a probability, and its logarithm where that is known better."""
        self = super().__new__(cls, value)
        if log is None:
            log = math.log(value) if value > 0 else -math.inf
        in_logs = report
        if report.log_error is not None:
            in_logs = replace(report, error=report.log_error)
            report = replace(report, error=value * report.log_error)
            if in_logs.log_error:
                off = NORMAL_95 * in_logs.log_error
                in_logs = replace(in_logs, interval=(log - off, log + off))
                report = replace(report, interval=(_exp(log - off), _exp(log + off)))
        if report.log_bounds is not None and report.log_bounds[1] < math.inf:
            least, most = report.log_bounds
            low = min(_exp(least), sys.float_info.max) * (1.0 - 2.0**-50)
            high = _exp(most) * (1.0 + 2.0**-50) + sys.float_info.min
            report = replace(report, bounds=(low, high))
            if report.error is None and log < math.inf:  # the bounds say how far off it may be
                report = replace(report, error=max(value - low, high - value))
                if least > -math.inf:
                    in_logs = replace(in_logs, error=max(log - least, most - log))
        _put(self, "log", Logarithm(log, in_logs))
        _put(self, "report", report)
        return self

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the most that it can be; None: not known. `log.bounds` does not underflow."""
        return self.report.bounds

    def to_dict(self) -> dict[str, float]:
        """{"value": p, "log": its natural logarithm}."""
        return {"value": float(self), "log": float(self.log)}

    def _repr_html_(self) -> str:
        return _html_number(self, self.report)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle value, report and logarithm."""
        return _probability, (float(self), self.report, float(self.log))


class Logarithm(_Value, float):
    """The logarithm of a probability or of a partition function; a float that knows whether it is exact.

    >>> Logarithm(-2000.0).exact
    True
    """

    __slots__ = ("report",)
    report: Report

    def __new__(cls, value: float, report: Report = EXACT) -> Logarithm:
        """Take a logarithm and how it was found."""
        self = super().__new__(cls, value)
        _put(self, "report", report)
        return self

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the most that it can be, where an engine knows that."""
        return self.report.log_bounds

    def to_dict(self) -> dict[str, float]:
        """{"log": the logarithm}."""
        return {"log": float(self)}

    def _repr_html_(self) -> str:
        return _html_number(self, self.report)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle value and report."""
        return Logarithm, (float(self), self.report)


class Information(_Value, float):
    """How much variables tell about each other, in nats; a float that knows whether it is exact.

    >>> Information(0.5).exact
    True
    """

    __slots__ = ("report",)
    report: Report

    def __new__(cls, value: float, report: Report = EXACT) -> Information:
        """Take a number of nats and how it was found."""
        self = super().__new__(cls, value)
        _put(self, "report", report)
        return self

    def to_dict(self) -> dict[str, float]:
        """{"nats": the number}."""
        return {"nats": float(self)}

    def _repr_html_(self) -> str:
        return _html_number(self, self.report)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle value and report."""
        return Information, (float(self), self.report)


def _html_number(value: float, report: Report) -> str:
    return html_text(repr(value) if report.exact else f"{value!r}\n{report.summary}")


def _exp(log: float) -> float:
    return math.exp(log) if log < 709.0 else math.inf


def _probability(value: float, report: Report, log: float) -> Probability:
    return Probability(value, report, log=log)


class Assignment(_Value, Mapping[str, Any]):
    """A state for each of some variables: {name: state}; an answer to "what is most probable?".

    `log_joint`, also called `value`, is log P(states, given), and `bound` is what no states exceed: the same
    when the answer is exact.

    >>> rain = Variable("rain", ["no", "yes"])
    >>> best = Assignment((rain,), [1], log_probability=math.log(0.8), log_joint=math.log(0.2))
    >>> best["rain"], round(best.probability, 6), best.gap
    ('yes', 0.8, 0.0)
    """

    __slots__ = ("_log_probability", "_places", "_variables", "bound", "codes", "log_joint", "report")
    codes: np.ndarray
    log_joint: float
    bound: float
    report: Report
    _variables: VariableList
    _places: dict[str, int] | None
    _log_probability: float | None

    def __init__(
        self,
        variables: Iterable[Variable],
        codes: Sequence[int] | np.ndarray,
        log_probability: float | None,
        log_joint: float,
        report: Report = EXACT,
        bound: float | None = None,
    ) -> None:
        """Take codes of states, log P(states | given) if known, log P(states, given) and its bound."""
        kept = np.array(codes, dtype=np.int32)
        kept.flags.writeable = False
        _put(self, "_variables", VariableList.of(variables))
        _put(self, "_places", None)
        _put(self, "codes", kept)
        _put(self, "_log_probability", None if log_probability is None else float(log_probability))
        _put(self, "log_joint", float(log_joint))
        _put(self, "report", report)
        _put(self, "bound", float(log_joint if bound is None else bound))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables whose states these are, in order."""
        return tuple(self._variables)

    @property
    def _index(self) -> dict[str, int]:
        """The place of each name; made when it is first asked for."""
        return _places_of(self)

    @property
    def value(self) -> float:
        """What was made as large as possible: log P(states, given)."""
        return self.log_joint

    @property
    def gap(self) -> float:
        """By how much `value` may at most be improved; 0 when this is the best."""
        return self.bound - self.log_joint

    @property
    def log_probability(self) -> float:
        """Log P(states | given); `TooLarge` where log P(given) is too much work, as for a large image."""
        if self._log_probability is None:
            raise TooLarge(
                "The probability of these states needs P(given), the sum over all states, which is too large "
                "a sum here. `log_joint` is known: log P(states, given), up to the constant of the model."
            )
        return self._log_probability

    @property
    def is_normalised(self) -> bool:
        """Whether `log_probability` is known: P(given) was not too much work."""
        return self._log_probability is not None

    @property
    def probability(self) -> Probability:
        """The probability of these states, given what was known."""
        return Probability(math.exp(min(self.log_probability, 700.0)), self.report, log=self.log_probability)

    def __getitem__(self, name: str) -> Any:
        """The state of one variable."""
        try:
            i = self._index[name]
        except (KeyError, TypeError):
            raise _not_among(name, self._index, self.report) from None
        return self._variables.domains[i].states[self.codes[i]]

    def __contains__(self, name: object) -> bool:
        """Whether the variable is there."""
        return isinstance(name, str) and name in self._index

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._variables.names)

    def __len__(self) -> int:
        """The number of variables."""
        return len(self._variables)

    def to_dict(self) -> dict[str, Any]:
        """{name: state}."""
        found = self._variables
        states = [domain.states[c] for domain, c in zip(found.domains, self.codes.tolist(), strict=True)]
        return dict(zip(found.names, states, strict=True))

    def to_pandas(self) -> pd.Series:
        """A Series of states, its index the names."""
        pandas = _pandas()
        states = typed_array(list(self.to_dict().values()))
        series: pd.Series = pandas.Series(states, pandas.Index(list(self), name="variable"), name="state")
        return series

    def to_array(self, prefix: str) -> np.ndarray:
        """The states of the variables "prefix[0]", "prefix[1]", ..., or "prefix[0,0]", ..., as an array.

        Args:
            prefix: what stands before the brackets.

        Raises:
            InvalidArgument: no variable is named so, or some are missing.

        >>> pixels = [Variable(f"pixel[{i},{j}]", [0, 1]) for i in range(2) for j in range(2)]
        >>> Assignment(pixels, [1, 0, 0, 1], 0.0, 0.0).to_array("pixel")
        array([[1, 0],
               [0, 1]])
        """
        places, index, shape = _indexed(self, prefix, self.report)
        array = _states_of(self._variables.take(places), self.codes[places])
        result = np.empty(shape, dtype=array.dtype)
        result[index] = array
        return result

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the states; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: what stands above; what is shown if left out.
        """
        from pgm import plot

        return plot.assignment(self, ax, figsize=figsize, title=title)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        log = self._log_probability
        return Assignment, (self._variables, self.codes, log, self.log_joint, self.report, self.bound)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[label(name), label(state)] for name, state in islice(self.items(), _ROWS)]
        notes = noted(len(self), len(rows), "variables", self.report)
        log = self._log_probability
        if log is None:
            chance = f"log joint {self.log_joint:.10g}"
        elif log > -600:
            chance = f"probability {number(math.exp(log))}"
        else:
            chance = f"log probability {log:.6g}"
        if self.gap > 0.0:
            chance += f", at most {self.gap:.6g} (in logarithms) below the best"
        return ["variable", "state"], rows, "\n".join(note for note in (chance, notes) if note)

    def __repr__(self) -> str:
        """A table, one line for each variable, and the probability."""
        header, rows, notes = self._table()
        return text_table(header, rows, notes)

    def _repr_html_(self) -> str:
        header, rows, notes = self._table()
        return html_table(header, rows, notes)


class Explanations(list[Assignment]):
    """Several explanations, best first: a list that prints as one table, of where they differ.

    >>> rain, wet = Variable("rain", ["no", "yes"]), Variable("wet", ["no", "yes"])
    >>> logs = {(1, 1): math.log(0.6), (0, 1): math.log(0.3)}
    >>> Explanations(Assignment((rain, wet), codes, log, log) for codes, log in logs.items())
    P         rain
    0.600000  yes
    0.300000  no
    the same in all: wet=yes
    """

    def differing(self) -> list[str]:
        """The variables that do not have the same state in all."""
        if not self:
            return []
        differ = (np.array([one.codes for one in self]) != self[0].codes).any(axis=0)
        return [name for name, some in zip(self[0], differ.tolist(), strict=True) if some]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw their probabilities as bars, beside the states in which they differ; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: what stands above; what is shown if left out.
        """
        from pgm import plot

        return plot.explanations(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        if not self:
            return ["P"], [], "no states are possible"
        names = self.differing()
        some_names = names[:_ROWS]
        in_logs = not all(one.is_normalised for one in self)
        rows = [
            [
                _digits(one.log_joint) if in_logs else Share(math.exp(one.log_probability)),
                *(label(one[name]) for name in some_names),
            ]
            for one in self[:_ROWS]
        ]
        notes = (
            [f"... {len(self) - len(rows):,} more of {len(self):,} explanations"]
            if len(self) > len(rows)
            else []
        )
        if len(names) > len(some_names):
            notes.append(f"... {len(names) - len(some_names):,} more of {len(names):,} variables that differ")
        same = [name for name in islice(self[0], 1000) if name not in names]
        if same:
            some = (f"{label(name)}={label(self[0][name])}" for name in same)
            notes.append(f"the same in all: {joined(some, len(self[0]) - len(names), 80)}")
        notes.append(noted(0, 0, "", self[0].report))
        header = ["log joint" if in_logs else "P", *map(label, some_names)]
        return header, rows, "\n".join(note for note in notes if note)

    def __repr__(self) -> str:
        """A table, one line for each explanation."""
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


class Samples(dict[str, np.ndarray]):
    """Sampled cases, an array of states for each variable: a dict that goes straight into a DataFrame.

    >>> Samples({"rain": np.array([True, False]), "mood": np.array(["good", "bad"], dtype=object)})
    rain   mood
    True   good
    False  bad
    """

    __slots__ = ("report",)
    report: Report

    def __init__(self, columns: Mapping[str, np.ndarray], report: Report = EXACT) -> None:
        """Take arrays of equal length; they become read-only."""
        super().__init__(columns)
        for column in self.values():
            column.flags.writeable = False
        _put(self, "report", report)

    def __missing__(self, name: object) -> NoReturn:
        raise _not_among(name, self, self.report)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: results are values."""
        raise AttributeError(f"samples do not change; .{name} cannot be set")

    def __eq__(self, other: object) -> bool:
        """Equal when names, in order, and all cases are; also to a plain dict of arrays."""
        if not isinstance(other, dict):
            return NotImplemented
        return list(self) == list(other) and all(
            np.array_equal(mine, theirs) for mine, theirs in zip(self.values(), other.values(), strict=True)
        )

    def __ne__(self, other: object) -> bool:
        """Not equal; a dict has its own idea of this."""
        return not self == other

    __hash__ = None

    @property
    def exact(self) -> bool:
        """Whether the cases come from the exact distribution."""
        return self.report.exact

    @property
    def engine(self) -> str:
        """The engine that sampled."""
        return self.report.engine

    @property
    def given(self) -> Mapping[str, Any]:
        """What was given when they were drawn."""
        return MappingProxyType(self.report.given or {})

    @property
    def n_rows(self) -> int:
        """The number of cases."""
        return next((len(column) for column in self.values()), 0)

    def to_dict(self) -> dict[str, list[Any]]:
        """{name: list of states}; `dict(samples)` has the arrays themselves."""
        return {name: column.tolist() for name, column in self.items()}

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a column for each variable."""
        frame: pd.DataFrame = _pandas().DataFrame(dict(self))
        return frame

    def plot(
        self,
        name: str | None = None,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the shares of the states of every variable, or one variable by itself; returns the Axes.

        Args:
            name: of one variable; all if left out.
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: what stands above; what is shown if left out.
        """
        from pgm import plot

        return plot.samples(self, name, ax, figsize=figsize, title=title)

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("samples do not change; dict(samples) is a copy that does")

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return Samples, (dict(self), self.report)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        columns = list(islice(self.items(), _ROWS))
        header = [label(name) for name, _ in columns]
        rows = [[label(column[i]) for _, column in columns] for i in range(min(self.n_rows, _ROWS))]
        notes = noted(self.n_rows, len(rows), "rows", self.report)
        if len(columns) < len(self):
            notes = f"... {len(self) - len(columns):,} more of {len(self):,} columns\n{notes}".rstrip()
        return header, rows, notes

    def __repr__(self) -> str:
        """A table of the first cases."""
        header, rows, notes = self._table()
        return text_table(header, rows, notes) or "(no columns)"

    def _repr_html_(self) -> str:
        header, rows, notes = self._table()
        return html_table(header, rows, notes)


def states_array(variable: Variable, codes: np.ndarray) -> np.ndarray:
    """The states that codes stand for: an array of bool, int64, float64 or objects; -1 gives None.

    >>> rain = Variable("rain", [False, True])
    >>> states_array(rain, np.array([1, 0])), states_array(rain, np.array([1, -1]))
    (array([ True, False]), array([True, None], dtype=object))
    """
    array = variable.domain.array
    if codes.size and codes.min() < 0:
        array = typed_array([*variable.states, None])  # the last one, as -1 asks
    return np.take(array, codes)


def _states_of(variables: VariableList, codes: np.ndarray) -> np.ndarray:
    """One state of each variable, as an array."""
    domains = variables.domains
    if all(domain is domains[0] for domain in domains):
        return np.take(domains[0].array, codes)
    return typed_array([domain.states[code] for domain, code in zip(domains, codes.tolist(), strict=True)])


def _indexed(
    names: Iterable[str], prefix: str, report: Report
) -> tuple[list[int], tuple[np.ndarray, ...], tuple[int, ...]]:
    """Where names like "prefix[0,0]" stand, their indices axis by axis, and the shape that these fill."""
    begin = f"{prefix}["
    matches = [
        (i, name[len(begin) : -1])
        for i, name in enumerate(names)
        if name.startswith(begin) and name[-1] == "]"
    ]
    text = ",".join([indices for _, indices in matches])
    if not _NUMBERS(text):  # some other name is written alike
        matches = [(i, indices) for i, indices in matches if _NUMBERS(indices)]
        text = ",".join([indices for _, indices in matches])
    if not matches:
        prefixes = dict.fromkeys(name.partition("[")[0] for name in islice(names, 10_000) if "[" in name)
        raise InvalidArgument(
            f"No variable is named like '{prefix}[0]' or '{prefix}[0,0]'.{nearest(prefix, prefixes)}"
        )
    if len({indices.count(",") for _, indices in matches}) > 1:
        raise InvalidArgument(f"The variables '{prefix}[...]' have different numbers of indices.")
    index = np.fromstring(text, dtype=np.int64, sep=",").reshape(len(matches), -1)
    shape = tuple(int(size) for size in index.max(axis=0) + 1)
    right = math.prod(shape) == len(matches)
    if right:
        seen = np.zeros(shape, bool)
        seen[tuple(index.T)] = True
    if not seen.all() if right else len(np.unique(index, axis=0)) < len(matches):
        raise InvalidArgument(f"Several of the variables '{prefix}[...]' have the same indices.")
    if not right:
        given = [name for name in report.given or () if name.startswith(begin)]
        was = "was" if len(given) == 1 else "were"
        why = f" {listed(given)} {was} given: what is known is no part of it."
        raise InvalidArgument(
            f"The variables '{prefix}[...]' are {len(matches):,} of the {math.prod(shape):,} "
            f"that an array of shape {shape} needs.{why if given else ''}"
        )
    return [i for i, _ in matches], tuple(index.T), shape


def _places_of(found: Marginals | MaxMarginals | Assignment) -> dict[str, int]:
    """The place of each name in what a query hands back, kept: most of these are read from first to last."""
    places = found._places
    if places is None:
        names = found._variables.names
        places = dict(zip(names, range(len(names)), strict=True))
        _put(found, "_places", places)
    return places


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas needs pandas, which is not installed; to_dict does without.") from None
    return pandas


# --- notes --------------------------------------------------------------------------------------------------


def _summed(report: Report, axes: tuple[int, ...], values: np.ndarray) -> Report:
    """The report on these values, the sums of the numbers along some axes."""
    each = report.intervals
    if each is None:
        return report
    if each.errors is not None:  # at most their sum; intervals that hold so often do not follow
        return replace(report, intervals=None, error=float(each.errors.sum(axis=axes).max()))
    low = each.low.sum(axis=axes) * (1.0 - 2.0**-40)
    high = each.high.sum(axis=axes) * (1.0 + 2.0**-40)
    ends = Intervals(np.minimum(low, 1.0), np.minimum(high, 1.0))
    return replace(report, intervals=ends, error=farthest(ends, values))


def _digits(value: float) -> str:
    return f"{value:.10g}"


def condition(given: Mapping[str, Any] | None) -> str:
    """What is given in one short line, as a user would write it.

    >>> condition({"wet": True, "mood": "good"}), condition({f"x{i}": 0 for i in range(1000)})
    ('wet=True, mood=good', 'x0=0, x1=0, x2=0, ... (1,000)')
    """
    given = given or {}
    some = (
        f"{label(name)}={label(value) if isinstance(value, str) else shown(value)}"
        for name, value in given.items()
    )
    return joined(islice(some, 3), len(given), 60)


def noted(total: int, printed: int, things: str, report: Report, *, given: bool = True) -> str:
    """What stands under a table: that it was shortened, what was given, and that it is approximate."""
    notes = [f"... {total - printed:,} more of {total:,} {things}"] if printed < total else []
    if given and report.given:
        notes.append(f"given {condition(report.given)}")
    return "\n".join(notes if report.exact else [*notes, report.summary])
