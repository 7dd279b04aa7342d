"""Every error that a user can cause, in the user's words: what, where, what was expected, what to do.

All derive from `PGMError`, and from the built-in exception that Python users would catch in its place.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence, Sized
from itertools import islice
from os import PathLike, fspath, path, sep
from reprlib import Repr
from typing import Protocol

_COMPARED = 10_000  # names that a hint compares: a model may have millions
_LISTED = 10  # names or states that a message lists
_LONG = 200  # characters beyond which a text is not compared
_NEAR = 0.6  # the least share of common letters of two texts that count as near
_PACKAGE = path.dirname(__file__) + sep
_IMPORTING = "<frozen importlib"


class _Short(Repr):
    def repr_dict(self, x: dict[object, object], level: int) -> str:  # reprlib would sort the keys
        if level <= 0:
            return "{...}"
        first = islice(x.items(), _LISTED)
        items = [f"{self.repr1(key, level - 1)}: {self.repr1(value, level - 1)}" for key, value in first]
        return "{" + ", ".join(items + ["..."] * (len(x) > _LISTED)) + "}"


_repr = _Short()
_repr.maxstring = _repr.maxother = _repr.maxlong = 60
_repr.maxlist = _repr.maxtuple = _repr.maxset = _repr.maxfrozenset = 6


def shown(value: object) -> str:
    """The `repr` of a value for a message: short for any value, and never raises."""
    if type(value).__module__ == "numpy" and (isinstance(value, str) or not hasattr(value, "__len__")):
        value = getattr(value, "item", lambda: value)()  # True, not np.True_; 'a', not np.str_('a')
    try:
        text = _repr.repr(value)
        return " ".join(text.split()) if "\n" in text else text  # a message is one line
    except Exception:  # a value's repr may fail; the message about it must not
        return f"<{type(value).__name__}>"


def counted(count: int) -> str:
    """Return a count for a message: a file may announce a count of a million digits."""
    return f"{count:,}" if count < 10**15 else "more than 10**15"


def listed(values: Iterable[object], total: int | None = None) -> str:
    """Values for a message, separated by commas: the first few and how many there are."""
    if total is None:
        values = values if isinstance(values, Sized) else tuple(values)
        total = len(values)
    first = ", ".join(shown(value) for value in islice(values, _LISTED))
    return first if total <= _LISTED else f"{first}, ... ({total:,} in all)"


def nearest(word: object, known: Iterable[object]) -> str:
    """The sentence " Did you mean 'rain'?", or "" if no known name is near."""
    folded = _folded(word)
    if not 0 < len(folded) <= _LONG:
        return ""
    originals: dict[str, object] = {}
    for candidate in islice(known, _COMPARED):
        originals.setdefault(_folded(candidate), candidate)
    near = folded if folded in originals else nearest_text(folded, originals)
    return f" Did you mean {shown(originals[near])}?" if near is not None else ""


def nearest_text(word: str, texts: Iterable[str], least: float = _NEAR) -> str | None:
    """The text with the longest common subsequence with the word, if that is at least this share."""
    places: dict[str, int] = {}  # of each letter, as bits
    for place, letter in enumerate(word):
        places[letter] = places.get(letter, 0) | 1 << place
    every = (1 << len(word)) - 1
    best, found = least, None
    for text in texts:
        total = len(word) + len(text)
        if len(text) > _LONG or 2 * min(len(word), len(text)) < best * total:
            continue
        # The longest common subsequence, bit-parallel over the word (Hyyro 2004): a few steps for each
        # letter of the text, where difflib is quadratic or cubic in its length.
        unmatched = every
        for letter in text:
            hit = unmatched & places.get(letter, 0)
            unmatched = ((unmatched + hit) | (unmatched - hit)) & every
        near = 2 * (len(word) - unmatched.bit_count()) / total
        if near > best or (found is None and near == best):
            best, found = near, text
    return found


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn the caller of pgm: the line shown is theirs, however deep the call; or it is their import."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((_PACKAGE, _IMPORTING)):
        depth += not frame.f_code.co_filename.startswith(_IMPORTING)  # `warnings` does not count these
        frame = frame.f_back
    warnings.warn(text, category, stacklevel=depth)


def _folded(value: object) -> str:
    return (value if isinstance(value, str) else shown(value))[: _LONG + 1].casefold()


class _HasStates(Protocol):
    """What an error needs of a Variable; variables.py imports this file."""

    @property
    def name(self) -> str: ...
    @property
    def states(self) -> Sequence[object]: ...


class PGMError(Exception):
    """The base of every error that a user of pgm can cause; catch this to catch them all.

    >>> issubclass(UnknownState, PGMError) and issubclass(UnknownState, KeyError)
    True
    """


class _Unknown(PGMError, KeyError):
    __str__ = Exception.__str__  # KeyError would print the repr

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the finished message, not its ingredients."""
        return _again, (type(self), self.args), dict(self.__dict__)


def _again(cls: type[_Unknown], args: tuple[object, ...]) -> _Unknown:
    return KeyError.__new__(cls, *args)


class UnknownVariable(_Unknown):
    """A name that the model does not have.

    >>> print(UnknownVariable("rian", ["cloudy", "rain"]))
    There is no variable 'rian'; there are 'cloudy', 'rain'. Did you mean 'rain'?
    """

    def __init__(self, name: object, known: Iterable[str], where: str = "", why: str = "") -> None:
        """Say which name is unknown, and what is known; `where` or `why` opens the message."""
        known = known if isinstance(known, Sized) else tuple(known)
        there = f"there are {listed(known)}" if len(known) else "there are no variables yet"
        text = "" if isinstance(name, str) else " Names are text."
        opening = f"{where}: there" if where else "There"
        missing = why or f"{opening} is no variable {shown(name)}"
        super().__init__(f"{missing}; {there}.{text}{'' if why else nearest(name, known)}")
        self.name = name


class UnknownState(_Unknown):
    """A value that is not a state of its variable."""

    def __init__(self, variable: _HasStates, state: object, where: str = "", remedy: str = "") -> None:
        """Say what the states are; `where` opens the message ("row 3"), `remedy` closes it."""
        what = f"{where}: {variable.name!r}" if where else repr(variable.name)
        if getattr(variable, "continuous", False):
            message = f"{what} is continuous: it takes a finite number, not {shown(state)}.{no_number(state)}"
        elif getattr(variable, "bins", None) is not None:
            message = f"{what} has no bin for {shown(state)}; its bins are {_ranges(variable.states)}."
        else:
            message = f"{what} has no state {shown(state)}; it has {listed(variable.states)}."
            message += nearest(state, variable.states)
        super().__init__(f"{message} {remedy}" if remedy else message)
        self.variable = variable.name
        self.state = state


def no_number(value: object) -> str:
    """A hint if a number is expected and something easily mistaken for one is given."""
    if type(value).__name__ in ("bool", "bool_"):
        return " True and False are states: write 1 or 0 if a number is meant."
    return " Text is not a number: leave the quotes out, or convert it." if isinstance(value, str) else ""


def _ranges(states: Sequence[object]) -> str:
    texts = [str(state) for state in states[:_LISTED]]
    return ", ".join(texts) if len(states) <= _LISTED else f"{', '.join(texts)}, ..., {states[-1]}"


class InvalidVariable(PGMError, ValueError):
    """An invalid name or list of states."""


class InvalidTable(PGMError, ValueError):
    """A table of probabilities or values of the wrong shape or content."""


class InvalidStructure(PGMError, ValueError):
    """An edit that would leave an invalid graph: a cycle, two nodes of one name, an orphan."""


class InvalidEvidence(PGMError, ValueError):
    """Evidence that cannot be read, or contradicts its own definition."""


class InvalidArgument(PGMError, ValueError):
    """An option out of range, unknown, or without effect."""


class InvalidCall(PGMError, TypeError):
    """A call with an unknown argument, or without a required one."""


class IncompleteModel(PGMError, ValueError):
    """A question to a model in which a distribution is missing."""


class InvalidFrame(PGMError, ValueError):
    """A data frame that cannot be read."""


class NotIdentifiable(PGMError, ValueError):
    """The effect of an action that the observed variables do not determine.

    `.hedge` is the pair of sets that shows it, the outer and the inner: hidden causes join each of them, and
    the action reaches into the outer one only (Shpitser & Pearl 2006). `.bounds` are its natural bounds as
    text; `graph.bounds(source, y, do)` computes them, or narrower ones, as probabilities.

    >>> print(NotIdentifiable("P(y | do(x))", ["x", "y"], ["y"], ["x"], ["y"]))
    P(y | do(x)) is not identifiable: hidden causes join 'x', 'y' (a hedge around 'y'), so models that agree \
on all that is seen differ in this effect. It lies between P(x, y) and P(x, y) + 1 - P(x); \
graph.bounds(source, y, do) computes bounds.
    """

    def __init__(
        self,
        question: str,
        outer: Iterable[str] = (),
        inner: Iterable[str] = (),
        do: Iterable[str] = (),
        y: Iterable[str] = (),
        given: Iterable[str] = (),
    ) -> None:
        """Say which sets form the hedge, and the bounds that hold for the effect."""
        self.question = question
        self.hedge = tuple(outer), tuple(inner)
        self.bounds: tuple[str, str] | None = None
        text = question
        if self.hedge[0]:
            text = (
                f"{question} is not identifiable: hidden causes join {listed(self.hedge[0])} (a hedge around "
                f"{listed(self.hedge[1])}), so models that agree on all that is seen differ in this effect."
            )
            if not tuple(given) and tuple(do):
                x = ", ".join(do)
                joint = f"P({x}, {', '.join(y)})"
                self.bounds = joint, f"{joint} + 1 - P({x})"
                text += (
                    f" It lies between {self.bounds[0]} and {self.bounds[1]}; graph.bounds(source, y, do) "
                    "computes bounds."
                )
        super().__init__(text)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the finished message."""
        return _finished, (type(self), self.args), dict(self.__dict__)


def _finished(cls: type[NotIdentifiable], args: tuple[object, ...]) -> NotIdentifiable:
    made = cls.__new__(cls, *args)
    made.args = args
    return made


class ImpossibleEvidence(PGMError, ValueError):
    """The evidence has probability zero; `.contradiction` is a part of it that already has.

    `.smallest` says whether that part is irreducible: the search for a smaller one may have been too large.
    """

    def __init__(
        self, message: str, contradiction: Mapping[str, object] | None = None, *, smallest: bool = True
    ) -> None:
        """Store the part of the evidence that contradicts itself or the model."""
        super().__init__(message)
        self.contradiction = dict(contradiction or {})
        self.smallest = smallest


class NoSupportFound(PGMError, ValueError):
    """An approximate engine found no assignment of non-zero probability; this proves nothing."""


class ConvergenceWarning(UserWarning):
    """An approximate engine stopped before it converged; it says what to try."""


class TooLarge(PGMError, MemoryError):
    """The exact answer would not fit into the memory limit; `.plan` has the sizes."""

    def __init__(self, message: str, plan: object = None) -> None:
        """Store the plan that does not fit."""
        super().__init__(message)
        self.plan = plan


class OutOfTime(PGMError, TimeoutError):
    """The time limit passed before there was an answer."""


class FileFormatError(PGMError, ValueError):
    """A file that does not follow its format; the message begins with the position.

    >>> print(FileFormatError("expected ';'", "net.bif", line=7, column=12))
    net.bif:7:12: expected ';'
    """

    def __init__(
        self,
        message: str,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        """Begin the message with the position, as compilers do."""
        self.path = None if path is None else fspath(path)
        self.line = line
        self.column = column
        place = ":".join(str(part) for part in (self.path, line, column) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)
