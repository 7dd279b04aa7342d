"""Normal densities of rows with one pattern of observed variables, and means of the hidden ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from pgm.distributions.normal import log_peak
from pgm.inference.program.continuous import Gaussians

_LEAST_PIVOT = 1e-6  # share of a variance that earlier variables leave: below, digits have been lost


@dataclass(frozen=True, eq=False, slots=True)
class Normals:
    """The normal part under each of K configurations of the open discrete variables that select densities."""

    axes: list[int]
    rows: dict[int, np.ndarray]  # the row of its density, for each continuous variable that matters: (K,)
    order: list[int]  # these variables, parents first


class Conditional:
    """Log densities of observed and means of hidden variables, for K configurations and all rows."""

    left: np.ndarray  # (K, hidden, hidden) the covariance of the hidden variables given the observed ones
    # Observed blocks with densities of their own, and the density that each configuration selects.
    own: Mapping[int, np.ndarray] = MappingProxyType({})

    def of(self, values: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """From values (seen, rows): log densities (K, rows), and each hidden target's means (K, rows)."""
        raise NotImplementedError


class _Chained(Conditional):
    """For patterns in which all relevant variables are observed: a product of densities given parents."""

    def __init__(self, g: Gaussians, normals: Normals, seen: list[int]) -> None:
        d = g.arrays
        self.size = len(next(iter(normals.rows.values())))
        self.left = np.zeros((self.size, 0, 0))
        self.terms = []
        for x in normals.order:
            rows, which = np.unique(normals.rows[x], return_inverse=True)
            parents = [seen.index(p) for p in d.parents[d.parent_at[x] : d.parent_at[x + 1]].tolist()]
            self.terms.append((seen.index(x), parents, _weights(g, x, rows), d.bias[rows], d.sd[rows], which))

    def of(self, values: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        logs = np.zeros((self.size, values.shape[1]))
        for at, parents, weights, bias, sd, which in self.terms:
            off = values[at] - bias[:, None]
            if parents:
                off -= weights @ values[parents]
            off /= sd[:, None]
            off *= off
            off *= -0.5
            off += log_peak(1, 2.0 * np.log(sd))[:, None]
            logs += off if which.size == off.shape[0] and (np.diff(which) == 1).all() else off[which]
        return logs, []


class _WithOwn(Conditional):
    """For patterns with densities of their own: their logarithms are added to those of the normals."""

    def __init__(
        self, others: Conditional | None, where: list[int], own: Mapping[int, np.ndarray], size: int
    ) -> None:
        self.others, self.where, self.own, self.size = others, where, own, size
        self.left = np.zeros((size, 0, 0)) if others is None else others.left

    def of(self, values: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        if self.others is None:
            return np.zeros((self.size, values.shape[1])), []
        return self.others.of(values[self.where])


class _Joint(Conditional):
    """For patterns with hidden variables that matter: the joint density of the observed ones."""

    def __init__(
        self, mean: np.ndarray, factor: np.ndarray, gain: np.ndarray, centre: np.ndarray, left: np.ndarray
    ) -> None:
        self.mean, self.centre, self.gain, self.left = mean, centre, gain, left
        self.inverse = np.linalg.inv(factor) if factor.shape[1] else factor
        pivots = np.diagonal(factor, axis1=1, axis2=2)
        self.constant = log_peak(factor.shape[1], 2.0 * np.log(pivots).sum(axis=1))

    def of(self, values: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        z = self.inverse @ (values[None] - self.mean[:, :, None])
        logs = self.constant[:, None] - 0.5 * np.einsum("ksn,ksn->kn", z, z)
        means = self.centre[:, :, None] + self.gain @ z
        return logs, [means[:, i] for i in range(means.shape[1])]


def _weights(g: Gaussians, x: int, rows: np.ndarray) -> np.ndarray:
    """The weights of the parents in these rows of a density: (rows, parents)."""
    d = g.arrays
    k = int(d.parent_at[x + 1] - d.parent_at[x])
    every = d.weights[d.weight_at[x] : d.weight_at[x + 1]].reshape(-1, k) if k else np.zeros((1, 0))
    return np.asarray(every[rows - d.row_at[x]] if k else np.zeros((rows.size, 0)))


def conditional_of(g: Gaussians, normals: Normals, seen: list[int], hidden: list[int]) -> Conditional | None:
    """The continuous part of a pattern; None where exact or nearly exact relations would cost digits.

    Densities that are not normal are kept separate; None, too, if the joint density would need them.
    """
    if not g.own:
        return _of_normals(g, normals, seen, hidden)
    d, size = g.arrays, len(next(iter(normals.rows.values()), ()))
    apart = {x: normals.rows[x] - d.row_at[x] for x in normals.order if x in g.own and g.own[x].whole}
    order = [x for x in normals.order if x not in g.own]
    rest = Normals(normals.axes, {x: normals.rows[x] for x in order}, order)
    observed = [x for x in seen if x not in g.own]
    if hidden or set(observed) != set(order):
        above = {p for x in order for p in d.parents[d.parent_at[x] : d.parent_at[x + 1]].tolist()}
        if above.intersection(g.own):
            return None
        found = _of_normals(g, rest, observed, hidden)
        where = [seen.index(x) for x in observed]
    elif order:
        found = _of_normals(g, rest, seen, hidden, chained=True)
        where = list(range(len(seen)))
    else:
        return _WithOwn(None, [], apart, size) if apart else _of_normals(g, rest, observed, hidden)
    return None if found is None else _WithOwn(found, where, apart, size)


def _of_normals(
    g: Gaussians, normals: Normals, seen: list[int], hidden: list[int], *, chained: bool = False
) -> Conditional | None:
    """The normal part of a pattern; None where exact or nearly exact relations would cost digits.

    `chained`: all that matters is observed, and `seen` has more than the normals.
    """
    d = g.arrays
    if chained or (seen and len(seen) == len(normals.order) and not hidden):
        if any((d.sd[rows] == 0.0).any() for rows in normals.rows.values()):
            return None
        return _Chained(g, normals, seen)
    place = {x: i for i, x in enumerate(normals.order)}
    m = len(place)
    n = len(next(iter(normals.rows.values()))) if m else 1
    mean, maps = np.zeros((n, m)), np.zeros((n, m, m))  # and the matrices that map noise to variables
    for x, i in place.items():
        rows = normals.rows[x]
        parents = [place[p] for p in d.parents[d.parent_at[x] : d.parent_at[x + 1]].tolist()]
        weights = _weights(g, x, rows)
        mean[:, i] = d.bias[rows] + (weights * mean[:, parents]).sum(axis=1)
        maps[:, i] = np.einsum("kp,kpm->km", weights, maps[:, parents])
        maps[:, i, i] += d.sd[rows]
    s, t = [place[x] for x in seen], [place[x] for x in hidden]
    cov = maps[:, s] @ maps[:, s].transpose(0, 2, 1)
    try:
        factor = np.linalg.cholesky(cov) if s else cov
    except np.linalg.LinAlgError:
        return None
    pivots = np.diagonal(factor, axis1=1, axis2=2) ** 2
    if not (pivots >= _LEAST_PIVOT * np.diagonal(cov, axis1=1, axis2=2)).all() or not np.isfinite(cov).all():
        return None
    cross = maps[:, t] @ maps[:, s].transpose(0, 2, 1)
    gain = np.linalg.solve(factor, cross.transpose(0, 2, 1)).transpose(0, 2, 1) if s else cross
    left = maps[:, t] @ maps[:, t].transpose(0, 2, 1) - gain @ gain.transpose(0, 2, 1)
    return _Joint(mean[:, s], factor, gain, mean[:, t], left)
