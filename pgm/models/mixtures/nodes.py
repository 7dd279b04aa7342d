"""Mixtures as Bayesian networks: the component above, the columns of a row below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, LinearGaussian, TableCPD, make, prepared
from pgm.errors import InvalidArgument
from pgm.variables import REAL, Variable, as_domain

if TYPE_CHECKING:
    from .mixture import Mixture


def nodes_of(model: Mixture) -> list[CPD]:
    """The distributions of the nodes: one of the component, then those of the columns."""
    found: list[CPD] = [TableCPD.trusted(model.variable, (), model.weights)]
    for part, names in parts_of(model.emission, list(model.columns)):
        found += emitted(part, model.variable, names)
    return found


def parts_of(emission: Any, names: list[str]) -> list[tuple[Any, list[str]]]:
    """Distributions that do not depend on each other but by the component, each with its columns."""
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
    """Columns of one kind, given the component: tables, or numbers each given those before it.

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
        return _normals(normals[0], normals[1], parent, names)
    raise InvalidArgument(
        f"{names[0]!r}: a {type(emission).__name__} has no form as a node of a network, whose nodes have "
        "states or normal numbers."
    )


def _normals(means: np.ndarray, covariances: np.ndarray, parent: Variable, names: list[str]) -> list[CPD]:
    """Each number given those before it (the chain rule of a normal distribution)."""
    numbers = [Variable.of(name, REAL) for name in names]
    made = []
    for d, name in enumerate(names):
        before = [i for i in range(d) if covariances[:, d, :d].any()]
        rows = {
            state: _regression(means[k], covariances[k], d, names, before)
            for k, state in enumerate(parent.states)
        }
        table, listed = prepared(name, rows, [parent.name])
        there = {v.name: v for v in (parent, *(numbers[i] for i in before))}
        parents = listed if listed is not None else table.parents  # type: ignore[attr-defined]
        made.append(make(name, table, None, tuple(there[one] for one in parents)))
    return made


def _regression(
    mean: np.ndarray, covariance: np.ndarray, d: int, names: list[str], before: list[int]
) -> LinearGaussian:
    slopes = np.linalg.solve(covariance[np.ix_(before, before)], covariance[before, d])
    left = covariance[d, d] - covariance[d, before] @ slopes
    bias = float(mean[d] - slopes @ mean[before])
    by_name = dict(zip([names[i] for i in before], slopes.tolist(), strict=True))
    return LinearGaussian(by_name, bias=bias, sd=float(np.sqrt(left)))
