"""Hidden Markov models in JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.distributions import EMISSIONS
from pgm.distributions.parts import Part
from pgm.errors import FileFormatError, InvalidArgument, PGMError, TooLarge, listed
from pgm.models.dynamic import HMM

from .states import read_domain, write_domain, write_state


def write(model: HMM) -> dict[str, Any]:
    """Return the model as the object of its file."""
    emission: Any = model.emission
    if not emission.has_parameters:
        raise InvalidArgument("The emission has no parameters yet: give it some, or fit the model to data.")
    if EMISSIONS.get(getattr(emission, "kind", "")) is not type(emission):
        raise InvalidArgument(f"An emission that is a {type(emission).__name__} has no JSON form.")
    symbols = {"state": write_state} if emission.kind in ("categorical", "product") else {}
    body = {
        **write_domain("state", model.variable.domain),
        "initial": model.initial.tolist(),
        "transition": model.transition.tolist(),
        "emission": {emission.kind: emission.to_parts(**symbols)},
    }
    if not model._mask.all():
        body["possible"] = model._mask.tolist()
    return body


def read(part: Part) -> HMM:
    """Return the model of a file."""
    value = part.members("a model", ["pgm", "hmm"], ["name", "about"])
    for key in ("name", "about"):
        if key in value:
            part.at(key).text("a text")
    inside = part.at("hmm")
    keys = ["initial", "transition", "emission"]
    found = inside.members("a hidden Markov model", keys, ["states", "bins", "possible"])
    if "states" not in found and "bins" not in found:
        inside.fail("a hidden Markov model has states")
    domain = read_domain(inside, "state")
    k = domain.card
    initial = inside.at("initial").numbers(k, "the probabilities of the first state")
    transition = inside.at("transition").rows(k, k, "the transitions")
    mask = None
    if "possible" in found:
        rows = inside.at("possible")
        if len(rows.elements("rows of true and false")) != k:
            rows.expected(f"{k} rows of true and false")
        mask = np.array(
            [
                [rows.at(i, j).truth("whether the transition is possible") for j in range(k)]
                for i in range(k)
                if len(rows.at(i).elements("a row of true and false")) == k or rows.expected("k entries", i)
            ]
        )
    emission = _emission(inside.at("emission"))
    try:
        return HMM(
            initial, transition, emission, states=domain.states, topology=mask, name=value.get("name", "")
        )
    except PGMError as error:
        inside.fail(str(error))


def _emission(part: Part) -> Any:
    found = part.members("an emission", [], list(EMISSIONS))
    if len(found) != 1:
        part.fail(f"an emission is one of {listed(EMISSIONS)}")
    (kind,) = found
    inside = part.at(kind)
    try:
        return EMISSIONS[kind].from_parts(inside)
    except (FileFormatError, TooLarge):
        raise
    except PGMError as error:
        inside.fail(str(error))
