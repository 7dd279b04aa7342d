"""Parameters of an influence diagram that can be varied one by one: probabilities and utilities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import TableCPD
from pgm.errors import InvalidArgument, InvalidStructure, UnknownVariable, listed, shown

if TYPE_CHECKING:
    from .influence_diagram import InfluenceDiagram


@dataclass(frozen=True)
class Parameter:
    """One parameter of an influence diagram: a probability or a utility.

    >>> Parameter("test", {"disease": True}, True, 0.9)
    P(test=True | disease=True)
    >>> Parameter("benefit", {"disease": True, "treat": False}, None, -100.0)
    benefit(disease=True, treat=False)
    """

    node: str
    given: Mapping[str, Any]  # the states of its parents
    state: Any  # whose probability it is; None: it is a utility
    value: float  # now
    is_utility: bool = False

    def __repr__(self) -> str:
        rows = ", ".join(f"{name}={state}" for name, state in self.given.items())
        if self.is_utility or self.state is None:
            return f"{self.node}({rows})"
        return f"P({self.node}={self.state}{' | ' if rows else ''}{rows})"

    __str__ = __repr__

    def __hash__(self) -> int:
        return hash(repr(self))


@dataclass(frozen=True)
class Entry:
    """The position of a parameter in its table."""

    node: str
    at: tuple[int, ...]  # codes of the parents; of a probability, then of the state
    is_utility: bool


def entries(diagram: InfluenceDiagram, node: str | None = None) -> list[Entry]:
    """Return the parameters of a node, or of all: for a row of two probabilities the second.

    Args:
        diagram: the diagram.
        node: a chance node with a table, or a utility of variables; all of these if left out.
    """
    if node is not None:
        _check_node(diagram, node)
    found = []
    for name in diagram.nodes if node is None else [node]:
        kind = diagram.kind(name)
        if kind == "utility" and _why_not(diagram, name) == "":
            values = diagram.utility(name).values
            assert values is not None
            found += [Entry(name, at, True) for at in np.ndindex(values.shape)]
        elif kind == "chance" and _why_not(diagram, name) == "":
            shape = diagram.cpd(name).table().shape
            first = 1 if shape[-1] <= 2 else 0  # a single state has probability one
            found += [Entry(name, at, False) for at in np.ndindex(shape) if at[-1] >= first]
    return found


def entry(diagram: InfluenceDiagram, written: Any) -> Entry:
    """Return the parameter that (node, {name: state}) names.

    Args:
        diagram: the diagram.
        written: the node, and the states of its parents and, of a chance node, its own.
    """
    if not isinstance(written, tuple) or len(written) != 2 or not isinstance(written[1], Mapping):
        raise InvalidArgument(
            "A parameter of the diagram is named by its node and the states of its row, as in "
            f'("test", {{"disease": True, "test": True}}), not by {shown(written)}.'
        )
    node, case = written
    _check_node(diagram, node)
    is_utility = diagram.kind(node) == "utility"
    names = [*diagram.parents(node), *([] if is_utility else [node])]
    for name in case:
        if name not in names:
            raise UnknownVariable(name, names, where=f"In the table of {node!r}")
    if absent := [name for name in names if name not in case]:
        raise InvalidArgument(f"The parameter of {node!r} also needs the state of {listed(absent)}.")
    at = tuple([diagram.variables[name].code(case[name]) for name in names])
    return Entry(node, at, is_utility)


def described(diagram: InfluenceDiagram, where: Entry) -> Parameter:
    """Return a parameter as a user sees it."""
    parents = [diagram.variables[name] for name in diagram.parents(where.node)]
    given = {v.name: v.states[code] for v, code in zip(parents, where.at, strict=False)}
    value = float(_table(diagram, where)[where.at])
    state = None if where.is_utility else diagram.variables[where.node].states[where.at[-1]]
    return Parameter(where.node, given, state, value, where.is_utility)


def changed(diagram: InfluenceDiagram, new: Mapping[Entry, float]) -> InfluenceDiagram:
    """Return the diagram with other values of some parameters; the rest of a row stays in proportion.

    Args:
        diagram: the diagram; its plans serve the new one, too.
        new: values; of one row of probabilities only one.
    """
    made = diagram.copy()
    made._prepared = diagram._prepared
    for where, value in new.items():
        table = np.array(_table(made, where))
        if where.is_utility:
            table[where.at] = value
            table.flags.writeable = False
            made._utilities[where.node] = replace(made._utilities[where.node], values=table)
            continue
        *row, place = where.at
        table[tuple(row)] = in_proportion(table[tuple(row)], place, value)
        replace_table(made, where.node, table)
    return made


def replace_table(diagram: InfluenceDiagram, node: str, table: np.ndarray) -> None:
    """Give a chance node of a diagram another table of the same shape.

    Args:
        diagram: the diagram, which is changed.
        node: the chance node.
        table: rows that sum to one.
    """
    old = diagram._network.cpd(node)
    table.flags.writeable = False
    diagram._network.set(node, TableCPD.trusted(old.child, old.given, table))


def shares(row: np.ndarray, place: int) -> np.ndarray:
    """Return how the rest of a row is divided among the other states: in proportion, or evenly if zero.

    >>> shares(np.array([0.2, 0.6, 0.2]), 1).tolist()
    [0.5, 0.0, 0.5]
    """
    others = np.array(row)
    others[place] = 0.0
    if not others.any():
        others[:] = 1.0
        others[place] = 0.0
    return np.asarray(others / others.sum())


def in_proportion(row: np.ndarray, place: int, value: float) -> np.ndarray:
    """Return a row in which one probability is this, and the others are as they were to each other."""
    found = (1.0 - value) * shares(row, place)
    found[place] = value
    return found


def limits(diagram: InfluenceDiagram, where: Entry) -> tuple[float, float]:
    """Return the range of a parameter."""
    if not where.is_utility:
        return 0.0, 1.0
    return (0.0 if diagram.combine == "product" else -math.inf), math.inf


def weight(diagram: InfluenceDiagram, name: str) -> float:
    """Return how often a utility counts in the total: the weights of those that use it."""
    users = [one for one, u in diagram._utilities.items() if name in u.parents]
    if not users:
        return 1.0
    total = 0.0
    for user in users:
        weights = diagram._utilities[user].weights
        assert weights is not None
        total += weights[diagram._utilities[user].parents.index(name)] * weight(diagram, user)
    return total


def _table(diagram: InfluenceDiagram, where: Entry) -> np.ndarray:
    if not where.is_utility:
        return np.asarray(diagram.cpd(where.node).table())
    values = diagram.utility(where.node).values
    assert values is not None
    return values


def _check_node(diagram: InfluenceDiagram, node: object) -> None:
    known = diagram._known_node(node)
    if known in diagram.decisions:
        raise InvalidArgument(
            f"{known!r} is a decision: it has no parameters. Name a chance node or a utility."
        )
    if why := _why_not(diagram, known):
        raise InvalidStructure(why)


def _why_not(diagram: InfluenceDiagram, node: str) -> str:
    """Why the parameters of a node cannot be varied one by one; "" if they can."""
    if diagram.kind(node) == "chance":
        if isinstance(diagram.cpd(node), TableCPD):
            return ""
        kind = type(diagram.cpd(node)).__name__
        return f"{node!r} is a {kind}, which has no row of probabilities: give it a table with `set`."
    if diagram.kind(node) == "decision":
        return f"{node!r} is a decision."
    if diagram.utility(node).values is None:
        return f"{node!r} is made of other utilities: name one of {listed(diagram.parents(node))}."
    queue = [node]
    for name in queue:  # grows during the loop
        for user, one in diagram._utilities.items():
            if name in one.parents and user not in queue:
                if one.function is not None:
                    return f"{node!r} is used by the function {user!r}, so its effect is not linear."
                queue.append(user)
    return ""
