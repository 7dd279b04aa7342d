"""Tables and lists of facts, in a terminal and in a notebook; short whatever they contain."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import islice
from typing import Any
from unicodedata import east_asian_width

from pgm.calls import guard_own_methods

ROWS = 20  # of a table that are printed
WIDTH = 110  # characters in a line
_LABEL = 40  # characters of a name or state
COLUMNS = 24  # of a table in a notebook
_LINES = 12  # of a note, or of one fact
# Everything inherits the colours of the page around it, light or dark; the bars are half transparent on it.
_TABLE = "border-collapse:collapse;color:inherit;background:transparent;font-variant-numeric:tabular-nums"
_TEXT = "color:inherit;padding:1px 6px"
_CELL = "text-align:left;padding:1px 6px"
_BARS = 300  # cells of a table; larger ones have no bars
_BAR = "#5b86c466"


class Share(str):
    """A probability or share as text, with a bar behind it in a notebook.

    >>> Share(0.25), Share(0.25).share
    ('0.250000', 0.25)
    """

    __slots__ = ("share",)
    share: float

    def __new__(cls, p: float, text: str | None = None) -> Share:
        """Take the share, and its text if that is not `number(p)`."""
        self = super().__new__(cls, number(p) if text is None else text)
        self.share = float(p)
        return self


def chances(row: Iterable[float]) -> list[Share]:
    """Probabilities in up to six significant digits."""
    return [Share(p, f"{p:.6g}") for p in row]


# --- words and numbers --------------------------------------------------------------------------------------


def number(p: float) -> str:
    """A probability for a table: with six decimals, or in scientific notation if these would hide it."""
    return f"{p:.6f}" if p == 0 or abs(p) >= 1e-4 else f"{p:.2e}"


def outward(low: float, high: float) -> list[str]:
    """The ends of an interval for a table, as `number` has them, rounded outwards."""
    return [number(_rounded(low, math.floor)), number(_rounded(high, math.ceil))]


def _rounded(x: float, way: Callable[[float], int]) -> float:
    digits = 6 if x == 0.0 or abs(x) >= 1e-4 else 2 - math.floor(math.log10(abs(x)))
    return way(x * 10.0**digits) / 10.0**digits if digits < 300 else x


def label(state: object) -> str:
    """A state or name for a table: its text on one line, shortened if long."""
    text = state if isinstance(state, str) else str(state)
    if not text.isprintable() or text == "":
        text = repr(text)[1:-1] or "''"
    return text if len(text) <= _LABEL else text[: _LABEL - 1] + "…"


def joined(values: Iterable[object], total: int, room: int = _LABEL) -> str:
    """Some values separated by commas, as many as fit, and how many there are.

    >>> joined(["rain", "wet"], 2), joined(map(str, range(1000)), 1000, room=20)
    ('rain, wet', '0, 1, 2, ... (1,000)')
    """
    end = f", ... ({total:,})"
    found: list[str] = []
    left = room
    for value in islice(values, room):
        text = label(value)
        left -= len(text) + 2
        if found and left + 2 < (len(end) if len(found) + 1 < total else 0):
            break
        found.append(text)
    return ", ".join(found) + (end if len(found) < total else "")


# --- tables -------------------------------------------------------------------------------------------------


def text_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: str = "",
    title: str = "",
    columns: int | None = None,
) -> str:
    """Left-aligned columns under their names, and notes below; a table too wide loses its middle columns.

    Args:
        header: the names of the columns.
        rows: the cells.
        notes: the lines below.
        title: the line above.
        columns: the full number of columns, if some before the last have been left out already.
    """
    widths = [max(map(_width, column)) for column in zip(header, *rows, strict=True)]
    total = len(header) if columns is None else columns
    kept = _fitting([width + 2 for width in widths], WIDTH + 2, 5, total)
    lines = [title] if title else []
    for row in (header, *rows):
        cells = ("..." if i < 0 else row[i] + " " * (widths[i] - _width(row[i])) for i in kept)
        lines.append("  ".join(cells).rstrip())
    return "\n".join([*lines, *_wrapped(_with_columns(notes, kept, total))])


def html_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: str = "",
    title: str = "",
    columns: int | None = None,
) -> str:
    """The same table for a notebook, light or dark; every text escaped."""
    total = len(header) if columns is None else columns
    kept = _fitting([1] * len(header), COLUMNS, 1, total)
    bars = len(rows) * len(kept) <= _BARS
    head = "".join(_cell("th", "..." if i < 0 else header[i]) for i in kept)
    lines = ("".join(_cell("td", "..." if i < 0 else row[i], bars) for i in kept) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    said = "<br>".join(map(escape, _wrapped(_with_columns(notes, kept, total))))
    above, below = (f'<div style="{_TEXT}">{text}</div>' if text else "" for text in (escape(title), said))
    return (
        f'<div>{above}<table style="{_TABLE};white-space:nowrap"><thead style="border-bottom:1px solid">'
        f"<tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )


def _cell(tag: str, text: str, bar: bool = True) -> str:
    style = _CELL
    if bar and isinstance(text, Share) and text.share > 0.0:
        end = f"{100 * min(text.share, 1.0):.4g}%"
        style += f";background:linear-gradient(90deg,{_BAR} {end},transparent {end})"
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'


def _fitting(sizes: Sequence[int], room: int, gap: int, total: int) -> list[int]:
    """The columns that fit, the first ones and the last; -1 stands for the others."""
    if len(sizes) == total and sum(sizes) <= room:
        return list(range(total))
    left = room - sizes[-1] - gap
    first = 0
    while first < len(sizes) - 1 and (left := left - sizes[first]) >= 0:
        first += 1
    return [*range(max(first, 1)), -1, len(sizes) - 1]


def _with_columns(notes: str, kept: Sequence[int], total: int) -> str:
    if -1 not in kept:
        return notes
    said = f"... {total - len(kept) + 1:,} more of {total:,} columns"
    return f"{said}\n{notes}" if notes else said


class Tabular:
    """Prints as a table, in a terminal and in a notebook; `_table` gives its header, rows and notes."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        """Guard the public methods of a subclass: most objects that users receive print as a table."""
        super().__init_subclass__(**options)
        if cls.__module__.startswith("pgm."):
            guard_own_methods(cls)

    def _heading(self) -> str:
        """The line above the table."""
        return ""

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[str]], str]:
        raise NotImplementedError

    def __repr__(self) -> str:
        """As a table."""
        return text_table(*self._table(), title=self._heading())

    def _repr_html_(self) -> str:
        return html_table(*self._table(), title=self._heading())


# --- facts --------------------------------------------------------------------------------------------------


def text_facts(facts: Iterable[tuple[str, str]]) -> str:
    """A line for each fact, its name first; long ones are wrapped.

    >>> print(text_facts([("engine", "exact"), ("error", "0")]))
    engine        exact
    error         0
    """
    facts = list(facts)
    left = max([14, *(len(name) + 2 for name, _ in facts)])
    lines = []
    for name, text in facts:
        first, *more = _wrapped(text, WIDTH - left) or [""]
        lines += [f"{name:<{left}}{first}".rstrip(), *(" " * left + line for line in more)]
    return "\n".join(lines)


def html_facts(facts: Iterable[tuple[str, str]]) -> str:
    """The same facts for a notebook."""
    rows = "".join(
        f"<tr>{_cell('th', name)}{_cell('td', ' '.join(_wrapped(text)))}</tr>" for name, text in facts
    )
    return f'<table style="{_TABLE}"><tbody>{rows}</tbody></table>'


def html_text(text: str) -> str:
    """Monospaced text for a notebook.

    >>> html_text("a < b")
    '<pre style="color:inherit;background:transparent;white-space:pre-wrap">a &lt; b</pre>'
    """
    return f'<pre style="color:inherit;background:transparent;white-space:pre-wrap">{escape(text)}</pre>'


def _wrapped(text: str, width: int = WIDTH) -> list[str]:
    """Lines of a readable length, and not too many of them."""
    lines: list[str] = []
    for line in text.split("\n"):
        lines += (
            [line]
            if len(line) <= width
            else textwrap.wrap(line[: width * _LINES], width, break_on_hyphens=False)
        )
    return [*lines[: _LINES - 1], "..."] if len(lines) > _LINES else [line for line in lines if text]


def _width(text: str) -> int:
    return len(text) if text.isascii() else sum(1 + (east_asian_width(letter) in "WF") for letter in text)
