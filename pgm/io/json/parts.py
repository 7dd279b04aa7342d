"""JSON as it is read: each part of a file knows its place, so that an error has a line and a column."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from pgm.config import current
from pgm.errors import TooLarge, listed, nearest, shown
from pgm.io.text import Text
from pgm.runtime import progress

Path = tuple[str | int, ...]  # keys and indices that lead to a part

DEEPEST = 64  # lists and objects inside each other; a network needs about ten
_CHUNK = 1 << 20
_BYTES_A_LIST, _BYTES_AN_OBJECT = 120, 400  # what Python takes for a short one
_LARGEST = sys.float_info.max
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_TOKEN = re.compile(rf"({_STRING.pattern})|([\[\]{{}},:])|[^\s\[\]{{}},:\"]+", re.DOTALL)
_WORD = re.compile(r"[^\s,:\[\]{}]{1,30}|.", re.DOTALL)

# What the standard library says of text that is no JSON, in our words.
_EXPECTED = {
    "Expecting value": "expected a value",
    "Expecting ',' delimiter": "expected ',' or the bracket that closes",
    "Expecting ':' delimiter": "expected ':' after a key",
    "Expecting property name enclosed in double quotes": "expected a key in double quotes",
    "Extra data": "expected the end of the file",
}
_WRONG = {
    "Unterminated string starting at": "the quote that opens here is never closed",
    "Invalid control character at": r"a control character inside a text: it is written \n, \t or \u0000",
    "Invalid \\escape": "a backslash that begins no escape: a backslash itself is written twice",
    "Invalid \\uXXXX escape": r"\u needs four hexadecimal digits after it",
    "Illegal trailing comma before end of array": "a comma before the bracket that closes",
    "Illegal trailing comma before end of object": "a comma before the bracket that closes",
}


class _Twice(Exception):
    """A key appears twice in an object."""


class _Constant(Exception):
    """NaN or an infinity written as such, which JSON does not have."""


class Part:
    """A value in a file, and the way to it; its methods say what is expected there."""

    __slots__ = ("budget", "path", "source", "value")

    def __init__(self, source: Text, value: Any, path: Path, budget: Budget) -> None:
        self.source, self.value, self.path, self.budget = source, value, path, budget

    def at(self, *steps: str | int) -> Part:
        """Return what is further inside."""
        value = self.value
        for step in steps:
            value = value[step]
        return Part(self.source, value, (*self.path, *steps), self.budget)

    def fail(self, message: str, *steps: str | int, key: bool = False) -> NoReturn:
        """Raise the error about this part, or about one inside it, or about its key."""
        raise self.source.error(message, _place(self.source.content, [*self.path, *steps], key))

    def expected(self, what: str, *steps: str | int) -> NoReturn:
        """Fail, telling what was found instead."""
        value = self.at(*steps).value
        if isinstance(value, dict | list):
            found = "a list" if isinstance(value, list) else "an object"
            found += "" if value else " without anything"
        else:
            found = _written(value)
        self.fail(f"expected {what}, found {found}", *steps)

    # --- what is there ---

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
                self.fail(f"{shown(key)} is no key of {what}; {keys}.{hint}", key, key=True)
        for key in required:
            if key not in found:
                self.fail(f"{what} has no {_written(key)}")
        return found

    def elements(self, what: str) -> list[Any]:
        """Return a list."""
        if type(self.value) is not list:
            self.expected(what)
        return self.value

    def text(self, what: str) -> str:
        """Return a text."""
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
        """Return a list of texts, none of them twice."""
        found = self.elements(what)
        for i, name in enumerate(found):
            if type(name) is not str:
                self.expected("a name", i)
        if len(set(found)) < len(found):
            first = {name: i for i, name in reversed(list(enumerate(found)))}
            i = next(i for i, name in enumerate(found) if first[name] < i)
            self.fail(f"{_written(found[i])} is there twice", i)
        return found

    def numbers(self, count: int, what: str, *, infinite: bool = False) -> np.ndarray:
        """Return so many numbers of a list; "-inf" is one where `infinite` says so."""
        if len(self.elements(f"{what}, a list of numbers")) != count:
            self.fail(f"{what}: {_count(count, 'number')} expected, found {len(self.value):,}")
        return self._converted(self.value, lambda i: (i,), what, infinite)

    def rows(self, count: int, width: int, what: str, *, infinite: bool = False) -> np.ndarray:
        """Return the numbers of so many rows of this width; "-inf" is one where `infinite` says so."""
        found = self.elements(f"{what}, a list of rows")
        if len(found) != count:
            self.fail(f"{what}: {_count(count, 'row')} expected, found {len(found):,}")
        if set(map(type, found)) - {list} or set(map(len, found)) - {width}:
            for i, row in enumerate(found):
                if type(row) is not list:
                    self.expected(f"a row of {_count(width, 'number')} of {what}", i)
                if len(row) != width:
                    self.fail(f"{what}: a row of {_count(width, 'number')} expected, found {len(row):,}", i)
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
        """Return whole numbers from 0 on, all below a bound; `step` tells the way to each."""
        if set(map(type, flat)) <= {int}:
            try:
                values = np.array(flat, dtype=np.int64)
            except OverflowError:
                values = None
            if values is not None and (not values.size or (values.min() >= 0 and values.max() < below)):
                return values
        i = next(i for i, x in enumerate(flat) if type(x) is not int or not 0 <= x < below)
        self.expected(f"{what}, a whole number from 0 to {below - 1}", *step(i))


class Budget:
    """How many numbers all that is read may take; counted before any of them is made."""

    def __init__(self, path: str) -> None:
        self.path, self.used, self.limit = path, 0, current().memory_limit // 8

    def take(self, count: int, what: str) -> None:
        """Count these numbers, or raise TooLarge."""
        self.used += count
        if self.used > self.limit:
            raise TooLarge(
                f"{self.path}: {what} has {shown(count)} numbers; with it the model would have "
                f"{shown(self.used)}, and the memory limit allows {self.limit:,}"
            )


def parse(source: Text) -> Part:
    """Read JSON, strictly: no key twice, no NaN, nothing nested without end."""
    content = source.content
    room = content.count("[") * _BYTES_A_LIST + content.count("{") * _BYTES_AN_OBJECT
    if room > current().memory_limit:
        raise TooLarge(
            f"{source.path}: its lists and objects would take {room / 1e6:,.3g} MB, and the memory limit "
            "allows less"
        )
    if _depth(content) > DEEPEST:
        message = f"more than {DEEPEST} lists and objects inside each other"
        raise source.error(message, _place_of_depth(content))
    pulse = progress.pulse()

    def beating(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert pulse is not None
        pulse.beat("reading")
        return _once(pairs)

    hook = _once if pulse is None else beating
    try:
        value = json.loads(content, object_pairs_hook=hook, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise source.error(_explained(error, content), error.pos) from None
    except _Twice:
        place, path = next((at, path) for at, path, _, twice in _walk(content) if twice)
        raise source.error(f"the key {_written(path[-1])} is there twice", place) from None
    except _Constant as constant:
        place = next(
            (m.start() for m in _TOKEN.finditer(content) if m[0].lstrip("-") == str(constant).lstrip("-")), 0
        )
        raise source.error(
            f'{constant} is no JSON; an infinite number is written "inf" or "-inf", and NaN is none', place
        ) from None
    except ValueError:  # Python's limit
        place = next(m.start() for m in _TOKEN.finditer(content) if len(m[0]) > 1000 and m[0][0] != '"')
        raise source.error("a number has too many digits", place) from None
    return Part(source, value, (), Budget(source.path))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Twice
    return found


def _refuse(constant: str) -> NoReturn:
    raise _Constant(constant)


def _explained(error: json.JSONDecodeError, content: str) -> str:
    if error.msg in _WRONG:
        return _WRONG[error.msg]
    word = _WORD.match(content, error.pos)
    found = shown(word[0]) if word else "the end of the file"
    return f"{_EXPECTED.get(error.msg, error.msg)}, found {found}"


def _depth(content: str) -> int:
    """How deep lists and objects are nested; the parser would find out on its own stack."""
    bare = _STRING.sub("", content)
    depth = deepest = 0
    for start in range(0, len(bare), _CHUNK):
        marks = np.frombuffer(bare[start : start + _CHUNK].encode("ascii", "replace"), dtype=np.uint8)
        opens = (marks == ord("[")) | (marks == ord("{"))
        steps = opens.astype(np.int8) - ((marks == ord("]")) | (marks == ord("}")))
        depths = np.cumsum(steps[steps != 0], dtype=np.int64)
        deepest = max(deepest, depth + int(depths.max(initial=0)))
        depth += int(depths[-1]) if depths.size else 0
    return deepest


def _place_of_depth(content: str) -> int:
    """Where the first of too many brackets opens, whatever else is wrong with the text."""
    depth = 0
    for match in _TOKEN.finditer(content):
        depth += (match[2] in ("[", "{")) - (match[2] in ("]", "}"))
        if depth > DEEPEST:
            return match.start()
    return 0


def _walk(content: str) -> Iterator[tuple[int, list[Any], bool, bool]]:
    """Yield for each key and each value where it stands, the path to it, whether it is a key, a repeated one.

    Slow, and only for messages. The path is one list that changes.
    """
    path: list[Any] = []
    keys: list[set[str] | None] = []  # of the objects around; None: a list
    for match in _TOKEN.finditer(content):
        string, mark = match[1], match[2]
        if mark == ":":
            continue
        if mark in ("]", "}"):
            if not path:
                return
            path.pop()
            keys.pop()
        elif mark == ",":
            if not path:
                return
            path[-1] = None if keys[-1] is not None else path[-1] + 1
        elif keys and (seen := keys[-1]) is not None and path[-1] is None:
            if string is None:
                return
            path[-1] = key = json.loads(string, strict=False)
            yield match.start(), path, True, key in seen
            seen.add(key)
        else:
            yield match.start(), path, False, False
            if mark in ("[", "{"):
                path.append(0 if mark == "[" else None)
                keys.append(None if mark == "[" else set())


def _place(content: str, wanted: list[str | int], key: bool) -> int:
    return next((at for at, path, is_key, _ in _walk(content) if is_key == key and path == wanted), 0)


def _written(value: object) -> str:
    """Return a value as JSON writes it, for a message."""
    if isinstance(value, str):
        return shown(value)
    return (
        {True: "true", False: "false", None: "null"}[value]
        if value is None or type(value) is bool
        else shown(value)
    )


def _count(count: int, what: str) -> str:
    number = f"{count:,}" if count < 10**15 else f"10**{len(str(count)) - 1}"
    return f"{number} {what}{'' if count == 1 else 's'}"
