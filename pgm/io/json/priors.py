"""Priors in JSON, and posteriors of parameters after data."""

from __future__ import annotations

from typing import Any

from pgm.distributions.parts import Part
from pgm.distributions.priors import PRIORS, Expert
from pgm.distributions.pseudo_counts import Prior
from pgm.errors import PGMError, listed, nearest, shown

from .networks import read_network, write_network

PRIOR = "prior"
_DEEP = 64  # axes of an array


def write(prior: Prior) -> dict[str, Any]:
    """Return the prior as the object of its file."""
    if isinstance(prior, Expert):
        return {prior.kind: {"rows": prior.rows, "nodes": write_network(prior.network, expand=False)}}
    return {prior.kind: prior.to_dict()}


def read(part: Part) -> Prior:
    """Return the prior of a file."""
    value = part.members("a prior", ["pgm", PRIOR], ["name", "about"])
    for key in ("name", "about"):
        if key in value:
            part.at(key).text("a text")
    return read_prior(part.at(PRIOR))


def read_prior(outside: Part) -> Prior:
    """Return the prior that this object is."""
    if type(outside.value) is not dict or len(outside.value) != 1:
        outside.expected("an object with one key, the kind of the prior")
    kind = next(iter(outside.value))
    if kind not in PRIORS:
        outside.fail(
            f"{shown(kind)} is not a kind of prior; there are {listed(PRIORS)}.{nearest(kind, PRIORS)}",
            kind,
            key=True,
        )
    made, inside = PRIORS[kind], outside.at(kind)
    if made is Expert:
        inside.members("an expert", ["rows", "nodes"])
        parts: dict[str, Any] = {"network": read_network(inside.at("nodes"), "")}
        parts["rows"] = inside.at("rows").number("rows")
    else:
        inside.members(f"a prior of the kind {kind}", made.fields)
        parts = {name: _array(inside.at(name), name, _DEEP) for name in made.fields}
    try:
        return made(**parts)
    except PGMError as error:
        inside.fail(str(error))


def _array(part: Part, what: str, deep: int) -> Any:
    """A number, or nested lists of numbers."""
    if type(part.value) is not list:
        return part.number(what)
    if not part.value or deep == 0:
        part.expected(f"{what}, numbers")
    if type(part.value[0]) is not list:
        return part.numbers(len(part.value), what).tolist()
    return [_array(part.at(i), what, deep - 1) for i in range(len(part.value))]
