"""Mixtures in JSON."""

from __future__ import annotations

from typing import Any

from pgm.distributions.parts import Part
from pgm.errors import PGMError
from pgm.models.mixtures import Mixture

from .hidden_chains import write_emission
from .hmm import _emission
from .states import read_domain, write_domain


def write(model: Mixture) -> dict[str, Any]:
    """Return the mixture as the object of its file."""
    model._check_parameters()
    named = {} if model._columns is None else {"columns": list(model._columns)}
    return {
        **write_domain("component", model.variable.domain),
        "weights": model.weights.tolist(),
        **named,
        "emission": write_emission(model.emission),
    }


def read(part: Part) -> Mixture:
    """Return the mixture of a file."""
    value = part.members("a model", ["pgm", "mixture"], ["name", "about"])
    for key in ("name", "about"):
        if key in value:
            part.at(key).text("a text")
    inside = part.at("mixture")
    found = inside.members("a mixture", ["states", "weights", "emission"], ["columns"])
    domain = read_domain(inside, "component")
    weights = inside.at("weights").numbers(domain.card, "the probabilities of the components")
    columns = inside.at("columns").names("the names of columns") if "columns" in found else None
    emission = _emission(inside.at("emission"))
    try:
        return Mixture(weights, emission, states=domain.states, columns=columns, name=value.get("name", ""))
    except PGMError as error:
        inside.fail(str(error))
