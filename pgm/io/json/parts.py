"""JSON as it is read: each part of a file knows its position, so that an error has a line and a column."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from pgm.config import current
from pgm.distributions.parts import Part, Path, written
from pgm.errors import FileFormatError, TooLarge, shown
from pgm.io.text import Text
from pgm.runtime import progress
from pgm.runtime.room import check_room

from .states import read_state

DEEPEST = 64  # lists and objects inside each other; a network needs about ten
_CHUNK = 1 << 20
_BYTES_A_LIST, _BYTES_AN_OBJECT = 120, 400  # memory of a short one in Python
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_TOKEN = re.compile(rf"({_STRING.pattern})|([\[\]{{}},:])|[^\s\[\]{{}},:\"]+", re.DOTALL)
_WORD = re.compile(r"[^\s,:\[\]{}]{1,30}|.", re.DOTALL)

# The standard library's messages about invalid JSON, in our words.
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
    "Invalid \\escape": "a backslash that does not begin an escape: a backslash itself is written twice",
    "Invalid \\uXXXX escape": r"\u needs four hexadecimal digits after it",
    "Illegal trailing comma before end of array": "a comma before the bracket that closes",
    "Illegal trailing comma before end of object": "a comma before the bracket that closes",
}


class _Twice(Exception):
    """A key appears twice in an object."""


class _Constant(Exception):
    """NaN or an infinity written as such, which JSON does not have."""


class _File:
    """A text of JSON: where each part is in it, and how many numbers may be read from it."""

    def __init__(self, text: Text) -> None:
        self.text, self.name = text, text.path
        self.used, self.limit = 0, current().memory_limit // 8

    def error(self, message: str, path: Path, key: bool) -> FileFormatError:
        """Return the error about a part, with its line and column."""
        return self.text.error(message, _place(self.text.content, list(path), key))

    def take(self, count: int, what: str) -> None:
        """Count these numbers before any of them is made, or raise TooLarge."""
        self.used += count
        if self.used > self.limit:
            raise TooLarge(
                f"{self.name}: {what} has {shown(count)} numbers; with it the model would have "
                f"{shown(self.used)}, and the memory limit allows {self.limit:,}"
            )

    def state(self, part: Part) -> Any:
        """Return the state that this part is."""
        return read_state(part)


def parse(source: Text) -> Part:
    """Read JSON, strictly: no duplicate keys, no NaN, no unlimited nesting."""
    content = source.content
    room = content.count("[") * _BYTES_A_LIST + content.count("{") * _BYTES_AN_OBJECT
    check_room(room, f"{source.path}: its lists and objects take")
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
        raise source.error(f"the key {written(path[-1])} appears twice", place) from None
    except _Constant as constant:
        place = next(
            (m.start() for m in _TOKEN.finditer(content) if m[0].lstrip("-") == str(constant).lstrip("-")), 0
        )
        raise source.error(
            f'{constant} is not JSON; infinity is written "inf" or "-inf", and NaN is not allowed', place
        ) from None
    except ValueError:  # Python's limit
        place = next(m.start() for m in _TOKEN.finditer(content) if len(m[0]) > 1000 and m[0][0] != '"')
        raise source.error("a number has too many digits", place) from None
    return Part(_File(source), value)


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
    """How deep lists and objects are nested; the parser would overflow its own stack."""
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
    """Where the first bracket that is too deep opens, whatever else is wrong with the text."""
    depth = 0
    for match in _TOKEN.finditer(content):
        depth += (match[2] in ("[", "{")) - (match[2] in ("]", "}"))
        if depth > DEEPEST:
            return match.start()
    return 0


def _walk(content: str) -> Iterator[tuple[int, list[Any], bool, bool]]:
    """Yield for each key and value its position, its path, whether it is a key, and whether it is repeated.

    Slow; only for messages. The path is one list, updated in place.
    """
    path: list[Any] = []
    keys: list[set[str] | None] = []  # of the enclosing objects; None: a list
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
