"""The parts of a distribution in a file: each part knows its position."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NoReturn, Protocol

import numpy as np

from pgm.errors import InvalidTable, listed, nearest, shown

Path = tuple[str | int, ...]  # keys and indices that lead to a part

_LARGEST = sys.float_info.max


class Source(Protocol):
    """Where parts come from: it knows how states are written there, and the line of each part."""

    name: str  # what the whole is called: the path of a file

    def error(self, message: str, path: Path, key: bool) -> Exception:
        """Return the error about the part at the end of this path, or about its key."""

    def take(self, count: int, what: str) -> None:
        """Count this many values, or raise TooLarge."""

    def state(self, part: Part) -> Any:
        """Return the state that a part is."""


class _Memory:
    """Parts that are Python's own values."""

    name = "parts"

    def error(self, message: str, path: Path, key: bool) -> Exception:
        where = "".join([f"[{step!r}]" for step in path])
        return InvalidTable(f"parts{where}: {message}.")

    def take(self, count: int, what: str) -> None:
        """All of them are in memory already."""

    def state(self, part: Part) -> Any:
        return part.value


class Part:
    """A value and the path to it from the whole; its methods check what is there, or say what is expected."""

    __slots__ = ("path", "source", "value")

    def __init__(self, source: Source, value: Any, path: Path = ()) -> None:
        self.source, self.value, self.path = source, value, path

    @classmethod
    def of(cls, value: object) -> Part:
        """Return the part of a value that comes from no file, such as `to_parts` returns."""
        return cls(_Memory(), value)

    def at(self, *steps: str | int) -> Part:
        """Return the part at the end of these steps."""
        value = self.value
        for step in steps:
            value = value[step]
        return Part(self.source, value, (*self.path, *steps))

    def fail(self, message: str, *steps: str | int, key: bool = False) -> NoReturn:
        """Raise an error about this part, one inside it, or its key."""
        raise self.source.error(message, (*self.path, *steps), key)

    def take(self, count: int, what: str) -> None:
        """Count this many values that are about to be made, or raise TooLarge."""
        self.source.take(count, what)

    def state(self) -> Any:
        """Return the state of a variable that is written here."""
        return self.source.state(self)

    def expected(self, what: str, *steps: str | int) -> NoReturn:
        """Fail, saying what was found instead."""
        value = self.at(*steps).value
        if isinstance(value, dict | list):
            found = "a list" if isinstance(value, list) else "an object"
            found += "" if value else " without anything"
        else:
            found = written(value)
        self.fail(f"expected {what}, found {found}", *steps)

    # --- values ---

    def members(
        self, what: str, required: Sequence[str] = (), optional: Iterable[str] = ()
    ) -> dict[str, Any]:
        """Return an object that has all the required keys, and no others than these and the optional ones."""
        found = self.value
        if type(found) is not dict:
            self.expected(what)
        known = dict.fromkeys((*required, *optional))
        for key in found:
            if key not in known:
                keys = f"it has {listed(known)}" if known else "it has none"
                hint = nearest(key, known)
                self.fail(f"{shown(key)} is not a key of {what}; {keys}.{hint}", key, key=True)
        for key in required:
            if key not in found:
                self.fail(f"{what} has no {written(key)}")
        return found

    def elements(self, what: str) -> list[Any]:
        """Return a list."""
        if type(self.value) is not list:
            self.expected(what)
        return self.value

    def text(self, what: str) -> str:
        """Return a string."""
        if type(self.value) is not str:
            self.expected(what)
        return self.value

    def truth(self, what: str) -> bool:
        """Return true or false."""
        if type(self.value) is not bool:
            self.expected(f"true or false, {what}")
        return self.value

    def whole(self, what: str, least: int = 0, most: int | None = None) -> int:
        """Return a whole number within these bounds."""
        value = self.value
        if type(value) is not int or value < least or (most is not None and value > most):
            self.expected(
                f"{what}, a whole number {f'from {least}' if most is None else f'{least} to {most}'}"
            )
        return value

    def number(self, what: str) -> float:
        """Return a finite number."""
        value = self.value
        if type(value) is float and abs(value) < np.inf:
            return value
        if type(value) is not int or abs(value) > 1e308:
            self.expected(f"{what}, a number")
        return float(value)

    def names(self, what: str) -> list[str]:
        """Return a list of distinct strings."""
        found = self.elements(what)
        for i, name in enumerate(found):
            if type(name) is not str:
                self.expected("a name", i)
        if len(set(found)) < len(found):
            first = {name: i for i, name in reversed(list(enumerate(found)))}
            i = next(i for i, name in enumerate(found) if first[name] < i)
            self.fail(f"{written(found[i])} appears twice", i)
        return found

    def numbers(self, count: int, what: str, *, infinite: bool = False) -> np.ndarray:
        """Return a list of this many numbers; "-inf" is allowed where `infinite` says so."""
        if len(self.elements(f"{what}, a list of numbers")) != count:
            self.fail(f"{what}: {_counted(count, 'number')} expected, found {len(self.value):,}")
        return self._converted(self.value, lambda i: (i,), what, infinite)

    def rows(self, count: int, width: int, what: str, *, infinite: bool = False) -> np.ndarray:
        """Return this many rows of numbers of this width; "-inf" is allowed where `infinite` says so."""
        found = self.elements(f"{what}, a list of rows")
        if len(found) != count:
            self.fail(f"{what}: {_counted(count, 'row')} expected, found {len(found):,}")
        if set(map(type, found)) - {list} or set(map(len, found)) - {width}:
            for i, row in enumerate(found):
                if type(row) is not list:
                    self.expected(f"a row of {_counted(width, 'number')} of {what}", i)
                if len(row) != width:
                    self.fail(f"{what}: a row of {_counted(width, 'number')} expected, found {len(row):,}", i)
        flat = list(chain.from_iterable(found))
        return self._converted(flat, lambda i: divmod(i, width), what, infinite).reshape(count, width)

    def _converted(
        self, flat: list[Any], step: Callable[[int], Path], what: str, infinite: bool = False
    ) -> np.ndarray:
        if infinite and "-inf" in flat:
            flat = [-np.inf if x == "-inf" else x for x in flat]
        if set(map(type, flat)) <= {float, int}:
            try:
                values = np.array(flat, dtype=np.float64)
            except OverflowError:
                values = np.array([np.inf])
            if (np.isfinite(values) | ((values == -np.inf) & infinite)).all():
                return values
        least = -np.inf if infinite else -_LARGEST
        for i, x in enumerate(flat):
            if type(x) not in (int, float) or not least <= x <= _LARGEST:
                self.expected(f"a number of {what}", *step(i))
        raise AssertionError(what)

    def positions(self, flat: list[Any], step: Callable[[int], Path], below: int, what: str) -> np.ndarray:
        """Return integers from 0 up to a bound; `step` gives the path to each."""
        if set(map(type, flat)) <= {int}:
            try:
                values = np.array(flat, dtype=np.int64)
            except OverflowError:
                values = None
            if values is not None and (not values.size or (values.min() >= 0 and values.max() < below)):
                return values
        i = next(i for i, x in enumerate(flat) if type(x) is not int or not 0 <= x < below)
        self.expected(f"{what}, a whole number from 0 to {below - 1}", *step(i))


def written(value: object) -> str:
    """Return a value as JSON writes it, for a message."""
    if isinstance(value, str):
        return shown(value)
    return (
        {True: "true", False: "false", None: "null"}[value]
        if value is None or type(value) is bool
        else shown(value)
    )


def _counted(count: int, what: str) -> str:
    number = f"{count:,}" if count < 10**15 else f"10**{len(str(count)) - 1}"
    return f"{number} {what}{'' if count == 1 else 's'}"
