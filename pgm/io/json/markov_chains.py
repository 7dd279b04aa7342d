"""Markov chains in JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.distributions.parts import Part
from pgm.errors import PGMError
from pgm.models.dynamic import MarkovChain

from .states import read_domain, write_domain

CHAIN = "markov-chain"
_MOST_ORDER = 8


def write(chain: MarkovChain) -> dict[str, Any]:
    """Return the chain as the object of its file: its tables from the first state on."""
    return {
        **write_domain("state", chain.variable.domain),
        "order": chain.order,
        "tables": [table.tolist() for table in chain._known],
    }


def read(part: Part) -> MarkovChain:
    """Return the chain of a file."""
    value = part.members("a model", ["pgm", CHAIN], ["name", "about"])
    for key in ("name", "about"):
        if key in value:
            part.at(key).text("a text")
    inside = part.at(CHAIN)
    found = inside.members("a Markov chain", ["order", "tables"], ["states", "bins"])
    if "states" not in found and "bins" not in found:
        inside.fail("a Markov chain has states")
    domain = read_domain(inside, "state")
    order = inside.at("order").whole("the order of the chain", 1, _MOST_ORDER)
    listed = inside.at("tables")
    if len(listed.elements("a list of tables")) != order + 1:
        listed.fail(f"a chain of order {order} has {order + 1} tables, found {len(listed.value)}")
    tables = [_table(listed.at(i), i + 1, domain.card) for i in range(order + 1)]
    initial = tables[0] if order == 1 else tables[:-1]
    try:
        return MarkovChain(initial, tables[-1], states=domain.states, order=order, name=value.get("name", ""))
    except PGMError as error:
        inside.fail(str(error))


def _table(part: Part, axes: int, k: int) -> np.ndarray:
    """A table with this many axes of k entries each."""
    if axes == 1:
        return part.numbers(k, "the probabilities of a state")
    if len(part.elements("a list of tables")) != k:
        part.fail(f"one entry for each of {k} states expected, found {len(part.value):,}")
    return np.stack([_table(part.at(i), axes - 1, k) for i in range(k)])
