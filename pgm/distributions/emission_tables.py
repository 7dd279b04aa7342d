"""Emissions as tables, whose rows have the names of the states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pgm.printing import html_table, html_text, text_table

from .product import Product

Table = tuple[str, list[str], list[list[str]], str]  # title, header, rows, notes


def as_text(emission: Any, states: Sequence[str]) -> str:
    """Return the tables of an emission for a terminal.

    Args:
        emission: what is emitted; without parameters it is printed as it is.
        states: what the states are called.

    >>> from pgm.distributions import Poisson
    >>> as_text(Poisson([1.0, 5.0]), ["quiet", "busy"]).splitlines()[-1]
    'busy   5'
    """
    found = _tables(emission, states)
    if found is None:
        return repr(emission)
    return "\n".join(text_table(header, rows, notes, title=title) for title, header, rows, notes in found)


def as_html(emission: Any, states: Sequence[str]) -> str:
    """Return the tables of an emission for a notebook.

    Args:
        emission: what is emitted; without parameters it is printed as it is.
        states: what the states are called.

    >>> from pgm.distributions import Poisson
    >>> "busy" in as_html(Poisson([1.0, 5.0]), ["quiet", "busy"])
    True
    """
    found = _tables(emission, states)
    if found is None:
        own: str = getattr(emission, "_repr_html_", lambda: html_text(as_text(emission, states)))()
        return own
    return "".join(html_table(header, rows, notes, title=title) for title, header, rows, notes in found)


def _tables(emission: Any, states: Sequence[str], called: str = "") -> list[Table] | None:
    """A table for each part; None: an emission of another kind, or without parameters for each state."""
    if emission.n_states != len(states) or not emission.has_parameters:
        return None
    if isinstance(emission, Product):
        found: list[Table] = []
        for name, part in emission.columns().items():
            if (some := _tables(part, states, f"{name}: ")) is None:
                return None
            found += some
        return found
    if not hasattr(emission, "_lines"):
        return None
    header, rows, notes = emission._lines()
    title = emission._title() if hasattr(emission, "_title") else type(emission).__name__
    named = [[states[int(row[0])] if row[0] else "", *row[1:]] for row in rows]
    return [(called + title, header, named, notes)]
