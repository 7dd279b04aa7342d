"""States and edges in JSON: true, 1, 1.0 and "1" stay what they are."""

from __future__ import annotations

import math
from typing import Any

from pgm.distributions.parts import Part
from pgm.errors import InvalidArgument, InvalidVariable, shown
from pgm.variables import Bins, Domain, Interval, Variable

_INFINITIES = {"inf": math.inf, "-inf": -math.inf}
_DEEPEST = 20  # tuples inside each other
_MOST_BITS = 14_000  # of an integer; Python reads no more than 4,300 digits


def write_domain(name: str, domain: Domain) -> dict[str, Any]:
    """Return the states of a variable as a member of its object."""
    if domain.bins is not None:
        return {"bins": [write_edge(edge) for edge in domain.bins.edges]}
    return {"states": [write_state(state, name) for state in domain.states]}


def read_domain(part: Part, name: str) -> Domain:
    """Return the states of the variable that this object describes."""
    key = "bins" if "bins" in part.value else "states"
    if key == "bins" and "states" in part.value:
        part.fail("states and bins: a variable has only one of them", "bins", key=True)
    inside = part.at(key)
    what = "edges" if key == "bins" else "states"
    found = inside.elements(f"a list of {what}")
    try:
        if key == "bins":
            return Variable(name, Bins([read_edge(inside.at(i)) for i in range(len(found))])).domain
        plain = set(map(type, found)) <= {str, bool, int}
        return Variable(
            name, found if plain else [read_state(inside.at(i)) for i in range(len(found))]
        ).domain
    except InvalidVariable as error:
        inside.fail(str(error))


def write_state(state: Any, name: str, depth: int = 0) -> Any:
    """Return a state as JSON has it."""
    kind = type(state)
    if kind is str or kind is bool or (kind is float and math.isfinite(state)):
        return state
    if kind is float and not math.isnan(state):
        return {"number": write_edge(state)}
    if kind is int and state.bit_length() <= _MOST_BITS:
        return state
    if kind is Interval:
        edges = {"interval": [write_edge(state.lo), write_edge(state.hi)]}
        return {**edges, "closed": True} if state.closed else edges
    if kind is tuple and depth < _DEEPEST:
        return [write_state(inner, name, depth + 1) for inner in state]
    if state is None and depth:
        return None
    raise InvalidArgument(
        f"The state {shown(state)} of {shown(name)} has no JSON form: that is for text, numbers, True and "
        f"False, intervals and tuples of these, not for {kind.__name__}; make it text yourself."
    )


def read_state(part: Part, depth: int = 0) -> Any:
    """Return the state that this part is."""
    value = part.value
    kind = type(value)
    if kind is str or kind is bool or kind is int:
        return value
    if kind is float and math.isfinite(value):
        return value
    if kind is list and depth < _DEEPEST:
        return tuple([read_state(part.at(i), depth + 1) for i in range(len(value))])
    if kind is dict and "number" in value:
        part.members("an infinite number", ["number"])
        if type(value["number"]) is str:
            return read_edge(part.at("number"))
    elif kind is dict and "interval" in value:
        part.members("an interval", ["interval"], ["closed"])
        ends = part.at("interval")
        if len(ends.elements("a list of two edges")) != 2:
            ends.expected("a list of two edges")
        closed = (
            part.at("closed").truth("whether the interval has its upper edge") if "closed" in value else False
        )
        try:
            return Interval(read_edge(ends.at(0)), read_edge(ends.at(1)), closed)
        except InvalidVariable as error:
            part.fail(str(error))
    elif value is None and depth:
        return None
    part.expected("a state: text, a number, true, false, or a list of these")


def write_edge(edge: float) -> float | str:
    """Return an edge of bins as JSON has it."""
    return edge if math.isfinite(edge) else "inf" if edge > 0 else "-inf"


def read_edge(part: Part) -> float:
    """Return the edge that this part is: a number, "inf" or "-inf"."""
    value = part.value
    if type(value) is str and value in _INFINITIES:
        return _INFINITIES[value]
    if type(value) is int:
        return value
    return part.number('an edge, "inf" or "-inf"')
