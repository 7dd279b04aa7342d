"""Options in JSON: values of a few kinds, each of which says what it is; nothing else is read or made.

Text, true, false, null, finite numbers and lists are themselves; what JSON lacks is an object with one key.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pgm.distributions.parts import Part
from pgm.distributions.pseudo_counts import Prior
from pgm.errors import InvalidArgument, PGMError, listed, nearest, shown
from pgm.learning.independence import TESTS
from pgm.learning.scores import SCORES
from pgm.learning.searches import SEARCHES
from pgm.models import BayesianNetwork
from pgm.variables import Bins, Variable

from .networks import read_network, write_network
from .priors import read_prior
from .priors import write as write_prior
from .states import read_domain, read_edge, write_domain, write_edge

_NAMED: dict[str, dict[str, Any]] = {"search": SEARCHES, "score": SCORES, "test": TESTS}
_DEEP = 32
_KEYS = ("number", "tuple", "dict", "rest", "bins", "prior", "network", "arrows", *_NAMED)


def write_value(value: Any, what: str) -> Any:
    """Return a value as JSON has it.

    Args:
        value: of one of the kinds.
        what: whose it is, for messages.
    """
    if isinstance(value, np.generic):
        value = value.item()
    kind = type(value)
    if value is None or kind in (str, bool, int):
        return value
    if kind is float:
        if math.isnan(value):
            return {"number": "nan"}
        return value if math.isfinite(value) else {"number": write_edge(value)}
    if isinstance(value, np.ndarray):
        return write_value(value.tolist(), what)
    if kind is list:
        return [write_value(one, what) for one in value]
    if kind is tuple:
        return {"tuple": [write_value(one, what) for one in value]}
    if value is ...:
        return {"rest": True}
    if isinstance(value, Mapping):
        return {"dict": [[write_value(key, what), write_value(one, what)] for key, one in value.items()]}
    if isinstance(value, Bins):
        return write_domain("bins", Variable("bins", value).domain)
    if isinstance(value, Prior):
        return {"prior": write_prior(value)}
    if isinstance(value, BayesianNetwork):
        return _network(value, what)
    for key, kinds in _NAMED.items():
        name = getattr(value, "name", None)
        if isinstance(name, str) and kinds.get(name) is kind:
            fields = {f.name: write_value(getattr(value, f.name), what) for f in dataclasses.fields(value)}
            return {key: name, "options": fields}
    if isinstance(value, np.random.Generator):
        raise InvalidArgument(
            f"{what} is a numpy Generator, whose state no file holds: set_params(seed=None), or a number."
        )
    raise InvalidArgument(f"{what} is {shown(value)}, which has no JSON form.")


def _network(net: BayesianNetwork, what: str) -> dict[str, Any]:
    if all(name in net._cpds for name in net.nodes):
        return {"network": write_network(net, expand=False)}
    if any(domain is not None for domain in net._domains.values()) or net._pending:
        raise InvalidArgument(
            f"{what} is a network some of whose parameters are missing, which no file holds: "
            "set_params(net=told.network_) takes the one that was learned."
        )
    return {"arrows": {name: list(net.parents(name)) for name in net.nodes}}


def read_value(part: Part, deep: int = 0) -> Any:
    """Return the value that this part is."""
    value = part.value
    kind = type(value)
    if value is None or kind in (str, bool, int):
        return value
    if kind is float:
        return part.number("a number")
    if deep > _DEEP:
        part.fail("values inside each other, too deep")
    if kind is list:
        return [read_value(part.at(i), deep + 1) for i in range(len(value))]
    keys = [key for key in _KEYS if key in value]
    if len(keys) != 1:
        part.fail(f"an object that is an option has one key of {listed(_KEYS)}")
    key = keys[0]
    if key in _NAMED:
        return _named(part, key, deep)
    part.members("an option", [key])
    inside = part.at(key)
    if key == "number":
        return math.nan if inside.value == "nan" else read_edge(inside)
    if key == "tuple":
        return tuple([read_value(inside.at(i), deep + 1) for i in range(len(inside.elements("a list")))])
    if key == "rest":
        return ...
    if key == "bins":
        return read_domain(part, "bins").bins
    if key == "prior":
        return read_prior(inside)
    if key == "network":
        return read_network(inside, "")
    if key == "arrows":
        return _arrows(inside)
    found = {}
    for i in range(len(inside.elements("a list of pairs"))):
        pair = inside.at(i)
        if len(pair.elements("a key and its value")) != 2:
            pair.expected("a key and its value")
        name = read_value(pair.at(0), deep + 1)
        if isinstance(name, list | dict):
            pair.expected("a key", 0)
        found[name] = read_value(pair.at(1), deep + 1)
    return found


def _named(part: Part, key: str, deep: int) -> Any:
    part.members(f"a {key}", [key, "options"])
    name, kinds = part.at(key).text(f"the name of a {key}"), _NAMED[key]
    if name not in kinds:
        part.fail(f"{shown(name)} is no {key}; there are {listed(kinds)}.{nearest(name, kinds)}", key)
    there = [field.name for field in dataclasses.fields(kinds[name])]
    inside = part.at("options")
    inside.members(f"the options of {name}", [], there)
    options = {field: read_value(inside.at(field), deep + 1) for field in inside.value}
    try:
        return kinds[name](**options)
    except (PGMError, TypeError) as error:
        inside.fail(str(error))


def _arrows(part: Part) -> BayesianNetwork:
    if type(part.value) is not dict:
        part.expected("an object {node: its parents}")
    parents = {name: part.at(name).names("a list of parents") for name in part.value}
    for name, those in parents.items():
        for i, parent in enumerate(those):
            if parent not in parents:
                part.fail(f"there is no node {shown(parent)}.{nearest(parent, parents)}", name, i)
    try:
        BayesianNetwork(edges=[(parent, name) for name, those in parents.items() for parent in those])
    except PGMError as error:
        part.fail(str(error))
    net = BayesianNetwork()
    net._parents.update({name: tuple(those) for name, those in parents.items()})
    net._domains.update(dict.fromkeys(parents))
    return net
