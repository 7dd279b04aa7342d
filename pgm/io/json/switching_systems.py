"""Switching linear systems in JSON."""

from __future__ import annotations

from typing import Any

from pgm.distributions.parts import Part
from pgm.errors import PGMError
from pgm.models.dynamic import SwitchingLinearDynamicalSystem

from . import linear_systems
from .states import read_domain, write_domain

SWITCHING = "switching-linear-dynamical-system"


def write(model: SwitchingLinearDynamicalSystem) -> dict[str, Any]:
    """Return the model as the object of its file."""
    return {
        **write_domain("regime", model.variable.domain),
        "initial": model.initial.tolist(),
        "transition": model.transition.tolist(),
        "systems": [linear_systems.write(each) for each in model.systems.values()],
    }


def read(part: Part) -> SwitchingLinearDynamicalSystem:
    """Return the model of a file."""
    value = part.members("a model", ["pgm", SWITCHING], ["about"])
    if "about" in value:
        part.at("about").text("a text")
    inside = part.at(SWITCHING)
    required = ["initial", "transition", "systems"]
    found = inside.members("a switching linear dynamical system", required, ["states", "bins"])
    if "states" not in found and "bins" not in found:
        inside.fail("a switching system has states: its regimes")
    domain = read_domain(inside, "regime")
    listed = inside.at("systems")
    if len(listed.elements("a list of systems")) != domain.card:
        listed.fail(f"one system for each of {domain.card} regimes expected, found {len(listed.value):,}")
    systems = {state: linear_systems.read_system(listed.at(k)) for k, state in enumerate(domain.states)}
    initial = inside.at("initial").numbers(domain.card, "the probabilities of the first regime")
    moves = inside.at("transition").rows(domain.card, domain.card, "the probabilities of the next regime")
    try:
        return SwitchingLinearDynamicalSystem(initial, moves, systems)
    except PGMError as error:
        inside.fail(str(error))
