"""XML read safely: no entities but the five of XML, nothing fetched, no deep nesting, exact positions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import islice
from typing import NoReturn
from xml.parsers import expat

from pgm.config import current
from pgm.errors import FileFormatError, InvalidArgument, TooLarge, shown
from pgm.runtime import progress

from .text import Text

_DEEPEST = 100
_BYTES_EACH = 500  # what an element takes as an object
_BLANK = " \t\r\n"
_LINE = re.compile(r"\r\n|\r|\n")
_PIECE = re.compile(r"<!--.*?-->|<!\[CDATA\[|\]\]>|<\?.*?\?>|<[^>]*>|([^\s<]+)", re.DOTALL)
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Element:
    """An element: `<name attributes>text children</name>`, and where it begins."""

    __slots__ = ("_pairs", "children", "column", "line", "name", "text")

    def __init__(self, name: str, pairs: Sequence[str], line: int, column: int) -> None:
        self.name, self.line, self.column = name, line, column
        # Lists and dicts of their own would double the memory of an element.
        self._pairs = tuple(pairs)
        self.children: Sequence[Element] = ()
        self.text = ""

    @property
    def attributes(self) -> Mapping[str, str]:
        """The attributes, in the order of the file."""
        return dict(zip(self._pairs[::2], self._pairs[1::2], strict=True))

    def add(self, child: Element) -> None:
        """Append another element to this one."""
        if isinstance(self.children, list):
            self.children.append(child)
        else:
            self.children = [child]

    @property
    def tag(self) -> str:
        """The name for a message: in a broken file it may have any length."""
        return shown(self.name)[1:-1]


class Markup:
    """An XML file as a tree of elements."""

    def __init__(self, source: Text) -> None:
        self.source = source
        self._open: list[Element] = []
        self._texts: list[list[str]] = []
        self._left = current().memory_limit // _BYTES_EACH
        self.root = self._parsed()

    def _parsed(self) -> Element:
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.ordered_attributes = True  # a list of names and values
        parser.specified_attributes = True  # attribute defaults of a DTD could blow up a small file
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._skipped
        self._pulse = progress.pulse()
        top = Element("", (), 1, 1)
        self._open.append(top)
        self._texts.append([])
        try:
            parser.Parse(self.source.content, True)
        except expat.ExpatError as error:
            still = self._open[-1]
            hint = f"; <{still.tag}> of line {still.line} is open" if still.name else ""
            message = f"this is not well-formed XML: {expat.ErrorString(error.code)}{hint}"
            raise FileFormatError(message, self.source.path, error.lineno, error.offset + 1) from None
        finally:
            del self._parser
        return top.children[0]

    def _start(self, name: str, attributes: list[str]) -> None:
        if self._pulse is not None:
            self._pulse.beat("reading")
        self._left -= 1
        if self._left < 0:
            raise TooLarge(f"{self.source.path}: more XML elements than the memory limit allows")
        if len(self._open) > _DEEPEST:
            self._refuse(f"elements are nested more than {_DEEPEST} deep")
        parser = self._parser
        made = Element(name, attributes, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)
        self._open[-1].add(made)
        self._open.append(made)
        self._texts.append([])

    def _end(self, name: str) -> None:
        self._open.pop().text = "".join(self._texts.pop())

    def _characters(self, text: str) -> None:
        self._texts[-1].append(text)

    def _entity(self, name: str, *_: object) -> None:
        self._refuse(f"the file declares the entity {shown(name)}; files with entities are not read")

    def _skipped(self, name: str, _: object) -> None:
        self._refuse(f"the entity {shown(name)} is not known")

    def _refuse(self, message: str) -> NoReturn:
        line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
        raise FileFormatError(message, self.source.path, line, column)

    def fail(self, message: str, element: Element) -> NoReturn:
        """Raise the error that names the place of an element."""
        raise FileFormatError(message, self.source.path, element.line, element.column)

    def fail_word(self, message: str, element: Element, number: int) -> NoReturn:
        """Raise the error that names the place of a word in an element without children."""
        content = self.source.content
        line = next(islice(_LINE.finditer(content), element.line - 2, None)).end() if element.line > 1 else 0
        inside = content.index(">", line + element.column) + 1
        words = (match.start(1) for match in _PIECE.finditer(content, inside) if match[1])
        found = next(islice(words, number, None), inside)
        raise self.source.error(message, found)

    def inside(self, element: Element) -> Iterator[Element]:
        """Yield the children of an element that holds no text of its own."""
        if stray := element.text.strip(_BLANK):
            self.fail(f"expected elements in <{element.tag}>, found the text {shown(stray)}", element)
        yield from element.children

    def leaf(self, element: Element) -> str:
        """Return the text of an element without children, stripped."""
        if element.children:
            child = element.children[0]
            self.fail(f"expected text in <{element.tag}>, found the element <{child.tag}>", child)
        if element.attributes.get("xml:space") == "preserve":
            return element.text
        return element.text.strip(_BLANK)


def marked(text: str, what: str) -> str:
    """Return a text escaped for XML, also in an attribute."""
    if bad := _FORBIDDEN.search(text):
        raise InvalidArgument(f"XML cannot hold {what} {shown(text)}: it has the character {bad[0]!r}")
    found = escape(text)
    for blank in "\t\n\r":
        found = found.replace(blank, f"&#{ord(blank)};")
    return found


def leaf(name: str, text: str, what: str, attributes: str = "") -> str:
    """Return an element with a text that `Markup.leaf` reads back."""
    kept = ' xml:space="preserve"' if text != text.strip(_BLANK) else ""
    return f"<{name}{attributes}{kept}>{marked(text, what)}</{name}>"
