"""Mixtures as Bayesian networks: the component above, the columns of a row below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, TableCPD
from pgm.errors import InvalidArgument
from pgm.models.continuous_nodes import density_nodes, normal_nodes
from pgm.variables import Variable, as_domain

if TYPE_CHECKING:
    from .mixture import Mixture


def nodes_of(model: Mixture) -> list[CPD]:
    """The distributions of the nodes: one of the component, then those of the columns."""
    found: list[CPD] = [TableCPD.trusted(model.variable, (), model.weights)]
    for part, names in parts_of(model.emission, list(model.columns)):
        found += emitted(part, model.variable, names)
    return found


def parts_of(emission: Any, names: list[str]) -> list[tuple[Any, list[str]]]:
    """Distributions that are independent given the component, each with its columns."""
    if not (hasattr(emission, "names") and hasattr(emission, "parts")):
        return [(emission, names)]
    found: list[tuple[Any, list[str]]] = []
    at = 0
    for part in emission.parts:
        width = 1 if part.domain is not None else int(part.dim)
        found += parts_of(part, names[at : at + width])
        at += width
    return found


def emitted(emission: Any, parent: Variable, names: list[str]) -> list[CPD]:
    """Columns of one kind, given the component: tables, or continuous ones each given those before it.

    Args:
        emission: with a row for each state of the parent.
        parent: the component.
        names: of the columns.
    """
    if (domain := emission.domain) is not None:
        with np.errstate(divide="ignore"):
            table = np.exp(emission.log_rows(np.arange(domain.card))).T
        return [TableCPD.trusted(Variable.of(names[0], domain), (parent,), np.ascontiguousarray(table))]
    if hasattr(emission, "yes"):
        yes, answers = emission.yes(), as_domain([False, True])
        return [
            TableCPD.trusted(
                Variable.of(name, answers), (parent,), np.column_stack([1.0 - yes[:, i], yes[:, i]])
            )
            for i, name in enumerate(names)
        ]
    if (normals := emission.normals()) is not None:
        return normal_nodes(normals[0], normals[1], [parent], names)
    if hasattr(emission, "components"):  # each component is itself a mixture, with hidden components
        weights, means, covariances = emission.components()
        k, m, dim = means.shape
        part = Variable(f"component of {', '.join(names)}", list(range(m)))
        chosen = TableCPD.trusted(part, (parent,), np.ascontiguousarray(weights))
        flat = means.reshape(k * m, dim), covariances.reshape(k * m, dim, dim)
        return [chosen, *normal_nodes(*flat, [parent, part], names)]
    if hasattr(emission, "of_state"):  # any density: its observation is evidence on the component
        return density_nodes([emission.of_state(i) for i in range(parent.card)], [parent], names)
    raise InvalidArgument(f"{names[0]!r}: a {type(emission).__name__} has no form as a node of a network.")
