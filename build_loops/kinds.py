"""The kinds of value that a loop works on, and what C++ calls them."""

from __future__ import annotations

from dataclasses import dataclass

# What an entry is called in C++, and the kind of number that it is once it has been read.
ENTRIES = {
    "float64": ("double", "double"),
    "int64": ("i64", "i64"),
    "int32": ("int32_t", "i64"),
    "int8": ("int8_t", "i64"),
    "uint8": ("uint8_t", "i64"),
    "int16": ("int16_t", "i64"),
    "uint16": ("uint16_t", "i64"),
    "uint64": ("u64", "u64"),
    "bool": ("bool", "bool"),
    "flag": ("volatile uint8_t", "i64"),  # another thread may set it: looked at each time
}
SCALARS = ("bool", "i64", "double")  # each holds all values of those before it


@dataclass(frozen=True)
class Array:
    """An array without gaps; `entry` is one of ENTRIES."""

    entry: str
    axes: int

    def __str__(self) -> str:
        return f"Array<{ENTRIES[self.entry][0]}, {self.axes}>"


@dataclass(frozen=True)
class Several:
    """A tuple."""

    items: tuple[Kind, ...]

    def __str__(self) -> str:
        return f"std::tuple<{', '.join(map(str, self.items))}>"


@dataclass(frozen=True)
class Record:
    """A named tuple."""

    name: str
    fields: tuple[tuple[str, Kind], ...]

    def __str__(self) -> str:
        return f"R_{self.name}"


Kind = str | Array | Several | Record  # a string is a number, or "void"


class Differ(Exception):
    """Two kinds that no variable can have both."""


def either(a: Kind | None, b: Kind | None) -> Kind | None:
    """The kind of what is sometimes the one and sometimes the other; None is not known yet."""
    if a is None or b is None or a == b:
        return b if a is None else a
    if isinstance(a, str) and isinstance(b, str) and a in SCALARS and b in SCALARS:
        return max(a, b, key=SCALARS.index)
    if isinstance(a, Several) and isinstance(b, Several) and len(a.items) == len(b.items):
        return Several(tuple(either(x, y) or "void" for x, y in zip(a.items, b.items, strict=True)))
    raise Differ(f"{a} here and {b} there")


def arrays_in(kind: Kind, code: str) -> list[str]:
    """The expressions of all arrays in a value."""
    if isinstance(kind, Array):
        return [code]
    if isinstance(kind, Several):
        return [x for i, k in enumerate(kind.items) for x in arrays_in(k, f"std::get<{i}>({code})")]
    if isinstance(kind, Record):
        return [x for name, k in kind.fields for x in arrays_in(k, f"{code}.f_{name}")]
    return []


def has_record(kind: Kind | None) -> bool:
    """Whether a named tuple is in it."""
    return isinstance(kind, Record) or (isinstance(kind, Several) and any(map(has_record, kind.items)))
