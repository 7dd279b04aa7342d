"""Decisions: what is observed before each, and the actions available."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from pgm.cpds.table_input import BadRow, check_cells, find_row, row_label, sentence
from pgm.errors import InvalidTable, listed, shown
from pgm.variables import Variable


@dataclass(frozen=True, eq=False)
class Decision:
    """What is observed before a decision, and which actions there are given it."""

    observes: tuple[str, ...]
    allowed_given: tuple[str, ...] = ()
    allowed: np.ndarray | None = None  # bool, an axis for each of `allowed_given`, then the actions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decision) or set(self.observes) != set(other.observes):
            return False
        if self.allowed is None or other.allowed is None:
            return self.allowed is other.allowed
        if sorted(self.allowed_given) != sorted(other.allowed_given):
            return False
        order = [other.allowed_given.index(name) for name in self.allowed_given]
        return np.array_equal(self.allowed, other.allowed.transpose([*order, len(order)]))

    __hash__ = None  # type: ignore[assignment]


def decision(variable: Variable, seen: tuple[Variable, ...], allowed: object) -> Decision:
    """Read a decision.

    Args:
        variable: its name and actions.
        seen: what it observes.
        allowed: which actions there are, as a user writes it.
    """
    node = variable.name
    observes = tuple([v.name for v in seen])
    if allowed is None:
        return Decision(observes)
    given: tuple[Variable, ...] = ()
    if isinstance(allowed, Mapping):
        given = seen
        if not given:
            raise InvalidTable(f"{node!r} observes nothing that allowed= could depend on: list the actions.")
    shape = (*[v.card for v in given], variable.card)
    check_cells(shape, f"allowed= of {node!r}", "let the decision observe less")
    made = np.zeros(shape, bool)
    if not isinstance(allowed, Mapping):
        made[:] = _actions(variable, "", allowed)
    else:
        if ... in allowed:
            made[:] = _actions(variable, "...", allowed[...])
        written = set()
        for key, actions in allowed.items():
            if key is ...:
                continue
            try:
                row = find_row(given, key)
            except BadRow as bad:
                raise InvalidTable(f"allowed= of {node!r}, row {shown(key)}: {sentence(str(bad))}") from None
            made[row] = _actions(variable, row_label(given, row), actions)
            written.add(row)
        if ... not in allowed and len(written) < made[..., 0].size:
            absent = next(row for row in np.ndindex(*shape[:-1]) if row not in written)
            raise InvalidTable(
                f"allowed= of {node!r} has no row for {row_label(given, absent)}; the key `...` stands for "
                "all rows left out."
            )
    made.flags.writeable = False
    return Decision(observes, tuple([v.name for v in given]), made)


def _actions(variable: Variable, row: str, actions: object) -> np.ndarray:
    where = f"allowed= of {variable.name!r}" + (f", row {row}" if row else "")
    if isinstance(actions, str) or not isinstance(actions, Iterable):
        raise InvalidTable(f"{where}: a list of actions is expected, not {shown(actions)}.")
    found = np.zeros(variable.card, bool)
    for action in actions:
        found[variable.code(action)] = True
    if not found.any():
        raise InvalidTable(f"{where}: no action is left of {listed(variable.states)}.")
    return found
