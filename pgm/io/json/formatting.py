"""JSON laid out for people: short items on one line, tables with one line per row."""

from __future__ import annotations

import json
import re
from typing import Any

WIDTH = 100
_MANY = 64  # members from which on one line is not tried
encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_SURROGATE = re.compile("[\ud800-\udfff]")
_FULL_LINE = re.compile(rf"(.{{1,{WIDTH - 12}}}\],) ")


class Filled(list[Any]):
    """Lists of integers, written many to a line."""


def lay_out(value: Any, indent: int = 0) -> str:
    """Return JSON text whose later lines are indented by `indent` spaces."""
    if not value or not isinstance(value, dict | list):
        return encode(value)
    if len(value) <= _MANY and not _tall(value):
        line = encode(value)
        if len(line) + indent <= WIDTH:
            return line
    inner = "\n" + " " * (indent + 2)
    if isinstance(value, dict):
        lines = [f"{encode(key)}: {lay_out(part, indent + 2)}" for key, part in value.items()]
        opening, closing = "{", "}"
    else:
        opening, closing = "[", "]"
        if isinstance(value, Filled):
            lines = [_FULL_LINE.sub(rf"\1{inner}", encode(value)[1:-1])]
        elif _is_table(value):
            lines = [encode(value)[1:-1].replace("], [", f"],{inner}[")]
        elif isinstance(value[0], dict | list):
            lines = [lay_out(part, indent + 2) for part in value]
        else:
            lines = _filled(list(map(encode, value)), WIDTH - indent)
    return f"{opening}{inner}{f',{inner}'.join(lines)}\n{' ' * indent}{closing}"


def escaped(text: str) -> str:
    """Return JSON text that UTF-8 can hold: a lone surrogate is written as an escape."""
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _tall(value: Any) -> bool:
    """Whether this is or contains a table of several rows."""
    if isinstance(value, dict):
        return any(map(_tall, value.values()))
    if isinstance(value, Filled) or not isinstance(value, list) or not value:
        return False
    if isinstance(value[0], dict):
        return any(map(_tall, value))
    return len(value) > 1 and _is_table(value)


def _is_table(value: list[Any]) -> bool:
    first = value[0]
    return isinstance(first, list) and bool(first) and isinstance(first[0], float)


def _filled(words: list[str], room: int) -> list[str]:
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 3 > room:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]}, {word}"
    return lines
