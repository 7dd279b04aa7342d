"""From what a user hands to `add` or `set` to a local distribution."""

from __future__ import annotations

from typing import Any

from pgm.variables import Domain, Variable

from .base import CPD
from .rows import child_states, is_frame, long_form, read
from .table import TableCPD


def make(name: str, table: object, states: Any, given: tuple[Variable, ...]) -> CPD:
    """Return P(name | given); states None: not declared."""
    if isinstance(table, CPD):
        return table.bind(name, states, given)
    if is_frame(table):
        table = long_form(repr(name), table, "p")
    if states is None:
        states = child_states(name, table, len(given))
    child = Variable.of(name, states) if type(states) is Domain else Variable(name, states)
    return TableCPD._of(child, given, read(child, given, table))
