"""Tokenises text with comments, quoted names and braces, and knows the position of each word and mark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

from pgm.errors import InvalidArgument, shown

from .text import Text

# A quoted text may hold what would end a word elsewhere. Before anything is read, it is exchanged,
# one for one, for control characters, which no file may have; a quoted text is then a word like any other,
# and every position is still that in the file.
_ENDS_WORD = [chr(code) for code in range(0x3001) if chr(code).isspace()] + list(',;(){}[]|"=:')
_CONTROL = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0)) if not chr(code).isspace()]
_MASK = dict(zip(map(ord, _ENDS_WORD), _CONTROL, strict=False))
_UNMASK = {ord(mask): chr(code) for code, mask in _MASK.items()}
QUOTE = _MASK[ord('"')]  # as it appears in Scanner.text
_INNER_QUOTE = _CONTROL[len(_MASK)]  # one that was escaped
_UNMASK[ord(_INNER_QUOTE)] = '"'
_FORBIDDEN = re.compile(f"[{''.join(map(re.escape, _CONTROL))}]")
_ESCAPED = re.compile(r"\\([\\\"nrt])")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}

_PARTS = 1 << 16
_BLANK = re.compile(r"[\s,]*")  # a comma between words counts as blank
_LIST = re.compile(r"[^;(){}\[\]]*")
_TO_SEMICOLON = re.compile(r"[^;{}]*;")
_BARE = re.compile(r'[^\s,;(){}\[\]|"]+')


class Syntax:
    """What counts as a mark or a comment, and whether quoted text has escapes as in C."""

    def __init__(
        self, marks: str, comments: tuple[str, ...] = ("//", "/*"), *, escapes: bool = False
    ) -> None:
        ends = re.escape(marks)
        self.word = re.compile(rf"[\s,]*([^\s,{ends}]+)")
        self.mark = re.compile(rf"[\s,]*([{ends}])")
        self.found = re.compile(rf"[\s,]*([^\s,{ends}]+|.)?", re.DOTALL)
        quoted = r'"(?:[^"\\]++|\\.)*+\\?("|\Z)' if escapes else r'"[^"]*("|\Z)'
        to_line_end = [rf"{mark}[^\r\n]*" for mark in comments if mark != "/*"]
        self.hidden = re.compile("|".join([quoted, *to_line_end, r"/\*.*?(\*/|\Z)"]), re.DOTALL)
        self.hiding = ('"', *comments)
        self.escapes = escapes


_BIF = Syntax(";(){}[]|")


class Scanner:
    """A text and how far it has been read."""

    syntax = _BIF

    def __init__(self, source: Text) -> None:
        self.source = source
        self.pos = 0
        content = source.content
        if bad := _FORBIDDEN.search(content):
            self.fail(f"the character {bad[0]!r} is not allowed in a text file", bad.start())
        self.quotes = '"' in content
        if any(mark in content for mark in self.syntax.hiding):
            content = "".join(self._hidden(content))
        self.text = content

    def _hidden(self, content: str) -> Iterator[str]:
        """Yield the text with quoted words masked and comments blank, a large chunk at a time.

        Split at every quote it would take many times its size.
        """
        parts: list[str] = []
        done = 0
        for match in self.syntax.hidden.finditer(content):
            parts += [content[done : match.start()], self._masked(match)]
            done = match.end()
            if len(parts) > _PARTS:
                yield "".join(parts)
                parts.clear()
        yield "".join([*parts, content[done:]])

    def _masked(self, match: re.Match[str]) -> str:
        found = match[0]
        if found[0] == '"':
            if not match[1]:
                self.fail("the quote that opens here is never closed", match.start())
            inner = found[1:-1].replace('"', _INNER_QUOTE)  # there is one only if it was escaped
            return f'"{inner}"'.translate(_MASK)
        if found.startswith("/*") and not match[2]:
            self.fail("the comment that opens here is never closed: expected */", match.start())
        return " " * len(found)

    def fail(self, message: str, position: int) -> NoReturn:
        """Raise the error that names this place."""
        raise self.source.error(message, position)

    def expected(self, what: str) -> NoReturn:
        """Fail here, telling what was found instead."""
        match = self.syntax.found.match(self.text, self.pos)
        if match is None or match[1] is None:
            self.fail(f"expected {what}, found the end of the file", len(self.source.content.rstrip()))
        self.fail(f"expected {what}, found {self.as_written(match[1])}", match.start(1))

    def first(self, position: int) -> int:
        """Return where the next word or mark begins; the length of the text if there is none."""
        match = _BLANK.match(self.text, position)
        return match.end() if match else position

    def peek(self) -> str:
        """Return the next mark, or "" if a word or nothing comes next."""
        match = self.syntax.mark.match(self.text, self.pos)
        return match[1] if match else ""

    def word(self, what: str) -> str:
        """Read a word; a quoted one still has its quotes, masked."""
        match = self.syntax.word.match(self.text, self.pos)
        if match is None:
            self.expected(what)
        self.pos = match.end()
        return match[1]

    def name(self, what: str) -> str:
        """Read a word and strip its quotes."""
        position = self.first(self.pos)
        return self.plain([self.word(what)], position)[0]

    def mark(self, mark: str, where: str) -> None:
        """Read one of ; ( ) { } [ ] |."""
        match = self.syntax.mark.match(self.text, self.pos)
        if match is None or match[1] != mark:
            self.expected(f"'{mark}' {where}")
        self.pos = match.end()

    def until(self, closing: str, where: str) -> str:
        """Read what comes before a closing mark, and the mark."""
        start = self.pos
        match = _LIST.match(self.text, start)
        self.pos = match.end() if match else start
        chunk = self.text[start : self.pos]
        self.mark(closing, where)
        return chunk

    def attributes(self, where: str, *keywords: str) -> Iterator[str]:
        """Yield the keywords of a block in braces; properties are skipped."""
        self.mark("{", where)
        choice = " or ".join([f"'{keyword}'" for keyword in (*keywords, "property", "}")])
        while self.peek() != "}":
            position = self.first(self.pos)
            keyword = self.word(f"{choice} {where}")
            if keyword == "property":
                self.skip_value("this property has no ';' at its end", position)
            elif keyword in keywords:
                yield keyword
            else:
                self.pos = position
                self.expected(f"{choice} {where}")
        self.mark("}", where)

    def skip_value(self, message: str, position: int) -> None:
        """Skip up to and including a semicolon; the message says what lacks it."""
        end = _TO_SEMICOLON.match(self.text, self.pos)
        if end is None:
            self.fail(message, position)
        self.pos = end.end()

    def words(self, chunk: str, position: int) -> list[str]:
        """Return the names in a part of the text that begins at this position."""
        return self.plain(chunk.replace(",", " ").split(), position)

    def plain(self, words: list[str], position: int) -> list[str]:
        """Return words without their quotes."""
        if not self.quotes:
            return words
        names = []
        for word in words:
            if QUOTE in word and (word[0] != QUOTE or word.index(QUOTE, 1) < len(word) - 1):
                self.fail(f"a quote inside the word {self.as_written(word)}", self.text.index(word, position))
            name = word[1:-1].translate(_UNMASK) if word[0] == QUOTE else word
            if "\n" in name or "\r" in name:
                position = self.text.index(word, position)
                self.fail(f"the name {shown(name)} has a line break in it: is a quote missing?", position)
            if self.syntax.escapes and "\\" in word and word[0] == QUOTE:
                name = _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), name)
            names.append(name)
        return names

    def as_written(self, text: str) -> str:
        """Return a piece of the text for a message."""
        return shown(text.translate(_UNMASK))


def written(name: str, what: str, keywords: frozenset[str]) -> str:
    """Return a name as `Scanner.name` reads it back: in quotes where it must be."""
    if '"' in name or "\n" in name or "\r" in name or _FORBIDDEN.search(name):
        raise InvalidArgument(
            f"The file cannot hold {what} {shown(name)}: it has a quote, a line break or a control character"
        )
    _check_unicode(name, what)
    bare = _BARE.fullmatch(name) and "//" not in name and "/*" not in name and name not in keywords
    return name if bare else f'"{name}"'


def quoted(name: str, what: str) -> str:
    """Return a name in quotes, as `Scanner.name` reads it back where the syntax has escapes."""
    if _FORBIDDEN.search(name):
        raise InvalidArgument(f"The file cannot hold {what} {shown(name)}: it has a control character")
    _check_unicode(name, what)
    for letter, escape in (("\\", r"\\"), ('"', r"\""), ("\n", r"\n"), ("\r", r"\r")):
        name = name.replace(letter, escape)
    return f'"{name}"'


def _check_unicode(name: str, what: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"The file cannot hold {what} {shown(name)}: it is not valid Unicode") from None
