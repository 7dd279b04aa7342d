"""Files of whitespace-separated numbers, such as those of the UAI competitions."""

from __future__ import annotations

import re
from itertools import islice
from typing import NoReturn

import numpy as np

from pgm.errors import shown

from .text import NUMBER, Text, parsed

# In 2016 a line that begins with the letter c was a comment; aGrUM writes # and a remark after the numbers.
_COMMENT = re.compile(r"^c(?!\S)[^\r\n]*|#[^\r\n]*", re.MULTILINE)
WORD = re.compile(r"\S+")
_SPACE = re.compile(r"\s")
THIS = "{this}"  # in a message: the number itself, as it is written
_CHUNK = 1 << 20


def without_comments(source: Text) -> str:
    """Return the text with blanks in place of comments."""
    return _COMMENT.sub(lambda match: " " * len(match[0]), source.content)


class Numbers:
    """All numbers of a file, and how many of them have been read."""

    def __init__(self, source: Text, content: str, start: int) -> None:
        self.source, self.content, self.start = source, content, start
        self.pos = 0
        self.values = self._converted()
        self.size = self.values.size
        if bad := np.flatnonzero(~((self.values >= 0.0) & (self.values < np.inf)))[:1].tolist():
            self.fail(f"a number must not be negative or infinite, and this is {THIS}", bad[0])

    def _converted(self) -> np.ndarray:
        parts = [np.empty(0)]
        start, end = self.start, len(self.content)
        while start < end:  # in chunks: numbers as words take many times their size as floats
            space = _SPACE.search(self.content, start + _CHUNK)
            stop = space.start() if space else end
            chunk = self.content[start:stop]
            found = parsed(chunk.split(), chunk)
            if found is None:
                self._fail_word()
            parts.append(found)
            start = stop
        return np.concatenate(parts)

    def _fail_word(self) -> NoReturn:
        for match in WORD.finditer(self.content, self.start):
            if not NUMBER.fullmatch(match[0]):
                raise self.source.error(f"expected a number, found {shown(match[0])}", match.start())
        raise AssertionError(self.source.path)

    def fail(self, message: str, position: int) -> NoReturn:
        """Raise the error that names the place of the number at this position."""
        match = next(islice(WORD.finditer(self.content, self.start), position, None), None)
        place = match.start() if match else len(self.content.rstrip())
        raise self.source.error(message.replace(THIS, shown(match[0])) if match else message, place)

    def count(self, what: str) -> int:
        """Read an integer."""
        if self.pos >= self.size:
            self.fail(f"the file ends before {what}", self.pos)
        value: float = self.values.item(self.pos)
        if not value.is_integer():
            self.fail(f"expected {what}, a whole number, found {THIS}", self.pos)
        self.pos += 1
        return int(value)

    def counts(self, length: int, what: str, least: int = 0) -> list[int]:
        """Read this many integers."""
        self.at_most_left(length, "numbers")
        found: list[float] = self.values[self.pos : self.pos + length].tolist()
        for number, value in enumerate(found):
            if value < least or not value.is_integer():
                message = f"expected {what} {number}, a whole number from {least}, found {THIS}"
                self.fail(message, self.pos + number)
        self.pos += length
        return list(map(int, found))

    def at_most_left(self, count: int, what: str) -> int:
        """Return the count if this many items can follow; nothing is allocated before this is known."""
        left = self.size - self.pos
        if count > left:
            self.fail(f"{THIS} {what} are announced, and {left:,} numbers follow", self.pos - 1)
        return count
