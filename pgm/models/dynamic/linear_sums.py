"""Sums of linear dynamical systems: states side by side, whose signals add up to one observation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument

if TYPE_CHECKING:
    from .linear_dynamical_system import LinearDynamicalSystem


def parameters_of_sum(a: LinearDynamicalSystem, b: LinearDynamicalSystem) -> dict[str, Any]:
    """The constructor's arguments for the system whose signals and noise are the sums of both."""
    if a._p.varying or b._p.varying or a._p.n_inputs or b._p.n_inputs:
        raise InvalidArgument(
            "Systems with inputs, or with matrices that change, cannot be added: give the sum's own matrices."
        )
    if len(a.observations) != len(b.observations):
        sizes = f"{len(a.observations)} and {len(b.observations)}"
        raise InvalidArgument(f"Systems that are added have observations of the same dimension, not {sizes}.")
    both = (a._p, b._p)
    made: dict[str, Any] = {
        "A": _diagonal([p.A for p in both]),
        "C": np.hstack([p.C for p in both]),
        "Q": _diagonal([p.Q for p in both]),
        "R": a.R + b.R,
        "mean": np.concatenate([p.mean for p in both]),
        "covariance": _diagonal([p.covariance for p in both]),
        "states": _distinct([*a.states, *b.states]),
        "observations": a.observations,
    }
    if a.b is not None or b.b is not None:
        made["b"] = np.concatenate([np.zeros(p.n) if p.b is None else p.b for p in both])
    if a.d is not None or b.d is not None:
        made["d"] = sum(np.zeros(p.m) if p.d is None else p.d for p in both)
    return made


def _diagonal(blocks: list[Any]) -> np.ndarray:
    n = sum(len(block) for block in blocks)
    made, at = np.zeros((n, n)), 0
    for block in blocks:
        made[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return made


def _distinct(names: list[str]) -> list[str]:
    """Names made distinct: the second of a name gets the suffix (2)."""
    found: list[str] = []
    for name in names:
        made, suffix = name, 1
        while made in found:
            suffix += 1
            made = f"{name} ({suffix})"
        found.append(made)
    return found
