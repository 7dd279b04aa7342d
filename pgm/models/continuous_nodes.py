"""Continuous columns as nodes given states: normal ones as linear Gaussians, others with their density."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from pgm.cpds import CPD, DensityCPD, LinearGaussian
from pgm.variables import REAL, Variable


def normal_nodes(
    means: np.ndarray, covariances: np.ndarray, parents: Sequence[Variable], names: Sequence[str]
) -> list[CPD]:
    """Each variable given those before it (the chain rule of a normal distribution).

    Args:
        means: a row for each combination of states of the parents, the last of which varies fastest.
        covariances: a matrix for each.
        parents: variables with states, one at least.
        names: of the columns.

    >>> apart, c = np.tile(np.eye(2), (2, 1, 1)), Variable("c", [0, 1])
    >>> [cpd.parents for cpd in normal_nodes(np.zeros((2, 2)), apart, [c], ["x", "y"])]
    [('c',), ('c',)]
    """
    variables = [Variable.of(name, REAL) for name in names]
    keys = _keys(parents)
    made: list[CPD] = []
    for d, name in enumerate(names):
        before = list(range(d)) if covariances[:, d, :d].any() else []
        rows = {
            key: _line(mean, covariance, d, [names[i] for i in before])
            for key, mean, covariance in zip(keys, means, covariances, strict=True)
        }
        line = LinearGaussian.select(name, rows, [v.name for v in parents])
        made.append(line.bind(name, None, (*parents, *(variables[i] for i in before))))
    return made


def density_nodes(densities: Sequence[Any], parents: Sequence[Variable], names: Sequence[str]) -> list[CPD]:
    """Variables with a joint density for each combination of states: all observed, or none.

    Args:
        densities: one for each combination of states of the parents, the last of which varies fastest.
        parents: variables with states, one at least.
        names: of the variables.

    >>> import pgm
    >>> [cpd] = density_nodes([pgm.Poisson(1.0), pgm.Poisson(5.0)], [Variable("c", [0, 1])], ["n"])
    >>> cpd.parents
    ('c',)
    """
    density = DensityCPD(dict(zip(_keys(parents), densities, strict=True)))
    variables = [Variable.of(name, REAL) for name in names]
    switches, last = [v.name for v in parents], len(names) - 1
    return [
        density.selected_by([*switches, *names[:i]], i, whole=i == last).bind(
            name, None, (*parents, *variables[:i])
        )
        for i, name in enumerate(names)
    ]


def _keys(parents: Sequence[Variable]) -> list[Any]:
    return list(product(*(v.states for v in parents))) if len(parents) > 1 else list(parents[0].states)


def _line(mean: np.ndarray, covariance: np.ndarray, d: int, before: Sequence[str]) -> LinearGaussian:
    n = len(before)
    slope = np.linalg.solve(covariance[:n, :n], covariance[:n, d])
    return LinearGaussian(
        dict(zip(before, slope.tolist(), strict=True)),
        bias=float(mean[d] - slope @ mean[:n]),
        sd=float(np.sqrt(covariance[d, d] - covariance[d, :n] @ slope)),
    )
