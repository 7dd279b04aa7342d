"""What all results have in common: they are immutable, pickle as their parts, and know how they were made."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

from pgm.errors import InvalidArgument, UnknownVariable, listed, shown
from pgm.evidence import names as names_of
from pgm.printing import Tabular, joined, label
from pgm.variables import Variable, VariableList

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pgm.results.report import Report

new = object.__new__
put = object.__setattr__  # past the guard of Frozen, for constructors


class Frozen:
    """An immutable value."""

    __slots__ = ()
    _frozen: ClassVar[str] = ""  # the opening of the message, where the class's name does not make a good one

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Raise: results are immutable."""
        raise AttributeError(f"{self._unchanging()}; .{name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        """Raise: results are immutable."""
        raise AttributeError(f"{self._unchanging()}; .{name} cannot be deleted")

    def _unchanging(self) -> str:
        name = type(self).__name__
        return self._frozen or f"{'an' if name[0] in 'AEIOU' else 'a'} {name} does not change"


class Result(Frozen):
    """An answer to a question, with a report on how it was made."""

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
        """What was given when the question was asked; results that differ only in this are equal."""
        return MappingProxyType(self.report.given or {})

    def with_report(self, report: Report) -> Self:
        """The same answer with another report, for an engine that delegates to another one.

        Args:
            report: how the answer was made.
        """
        made = copy.copy(self)
        put(made, "report", report)
        return made

    def _parts(self) -> tuple[object, ...]:
        """The arguments that rebuild this."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return type(self), self._parts()


class OfVariables(Result, Tabular):
    """A distribution of one variable, or of several jointly."""

    __slots__ = ("report", "variables")
    variables: tuple[Variable, ...]
    report: Report
    _letter: ClassVar[str] = "P"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in order."""
        return tuple(variable.name for variable in self.variables)

    @property
    def title(self) -> str:
        """What this is about, and given what, as in P(rain | wet=True).

        >>> import pgm
        >>> pgm.load_network("asia").query("lung", {"smoke": "yes"}).title
        'P(lung | smoke=yes)'
        """
        given = f" | {condition(self.report.given)}" if self.report.given else ""
        return f"{self._letter}({joined(self.names, len(self.names), 60)}{given})"

    def _kept(self, names: str | Sequence[str]) -> list[int]:
        """The axes of the variables of a marginal, in the order asked."""
        own = {variable.name: i for i, variable in enumerate(self.variables)}
        kept = names_of(names, dict(zip(own, self.variables, strict=True)))
        if not kept:
            raise InvalidArgument(f"marginal needs at least one of the names {listed(own)}.")
        return [own[name] for name in kept]

    def _sets(
        self, a: str | Sequence[str], b: str | Sequence[str], given: str | Sequence[str]
    ) -> tuple[tuple[str, ...], ...]:
        """The names of three sets that have none in common; only the last may be empty."""
        own = {variable.name: variable for variable in self.variables}
        sets = names_of(a, own), names_of(b, own), names_of(given, own)
        every = [name for names in sets for name in names]
        if twice := [name for i, name in enumerate(every) if name in every[:i]]:
            raise InvalidArgument(
                f"{listed(dict.fromkeys(twice))}: the two sides and what is given must be different "
                "variables. The information of a variable about itself is its entropy()."
            )
        if not sets[0] or not sets[1]:
            raise InvalidArgument(f"mutual_information is between two of the names {listed(own)}.")
        return sets

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the probabilities as bars, or the density of one variable or of two; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.distribution(self, ax, figsize=figsize, title=title)  # type: ignore[arg-type]  # either child


class ByName(Result, Tabular):
    """An answer for each of many variables, in the model's order."""

    __slots__ = ("_places", "_variables", "report")
    report: Report
    _variables: VariableList
    _places: dict[str, int] | None  # made when a name is first looked up: most answers are read in order

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the model's order."""
        return tuple(self._variables)

    def _index(self) -> dict[str, int]:
        """The index of each name, cached."""
        places = self._places
        if places is None:
            names = self._variables.names
            places = dict(zip(names, range(len(names)), strict=True))
            put(self, "_places", places)
        return places

    def _place(self, name: str) -> int:
        try:
            return self._index()[name]
        except (KeyError, TypeError):
            raise not_among(name, self._index(), self.report) from None

    def __contains__(self, name: object) -> bool:
        """Whether there is an answer for this variable: there is none for observed ones."""
        return isinstance(name, str) and name in self._index()

    def __iter__(self) -> Iterator[str]:
        """The names, in the model's order."""
        return iter(self._variables.names)

    def __len__(self) -> int:
        """The number of variables."""
        return len(self._variables)


def not_among(name: object, names: Iterable[str], report: Report) -> UnknownVariable:
    """The error for a name that an answer does not have; observed variables are in no answer."""
    if report.given and isinstance(name, str) and name in report.given:
        given = condition({name: report.given[name]})
        return UnknownVariable(name, names, why=f"{name!r} was given ({given}) and is not part of the answer")
    return UnknownVariable(name, names)


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
    """The notes under a table: that it was shortened, what was given, and that it is approximate."""
    notes = [f"... {total - printed:,} more of {total:,} {things}"] if printed < total else []
    if given and report.given:
        notes.append(f"given {condition(report.given)}")
    return "\n".join(notes if report.exact else [*notes, report.summary])


def pandas() -> Any:
    """The module, or an error that names the alternative."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas needs pandas, which is not installed; to_dict does not.") from None
    return pandas
