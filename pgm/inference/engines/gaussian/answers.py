"""Answers about continuous variables, by the user's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pgm.distributions.normal import log_peak
from pgm.errors import InvalidArgument, listed
from pgm.evidence import Observed
from pgm.inference.engines.gaussian import elimination, own_densities
from pgm.inference.engines.gaussian.outward import densities
from pgm.inference.engines.wide_numbers import log_of
from pgm.results import (
    Assignment,
    Density,
    Distribution,
    Marginals,
    MixedAssignment,
    MixedMarginals,
    Report,
    Samples,
)
from pgm.variables import Variable, VariableList, states_array

if TYPE_CHECKING:
    from pgm.inference.engines.gaussian.hybrid import HybridPosterior, HybridSums


def marginals(
    variables: VariableList, posterior: HybridSums, places: Sequence[int] | None, flat: np.ndarray
) -> Marginals:
    """P(variable | evidence) of all or some unobserved variables; `flat` has those of the discrete ones."""
    hard, report = posterior.known.hard, posterior.report
    left = [i for i in (range(len(variables)) if places is None else places) if i not in hard]
    is_continuous = posterior.gaussians.index_of >= 0
    begins = posterior.program.arrays.state_at[: len(variables)]
    plain = [i for i in left if not is_continuous[i]]
    discrete = Marginals([variables[i] for i in plain], flat, begins[plain], report)
    open_continuous = {i: variables[i] for i in left if is_continuous[i]}
    if not open_continuous:
        return discrete
    own = _of_own(posterior, open_continuous, report) if posterior.unknown.any() else {}
    rest = {i: v for i, v in open_continuous.items() if v.name not in own}
    others = densities(posterior, rest, flat, report) if rest else own.__getitem__
    made = (lambda name: own[name] if name in own else others(name)) if own else others
    return MixedMarginals([variables[i] for i in left], discrete, made, report)


def _of_own(
    posterior: HybridSums, open_continuous: Mapping[int, Variable], report: Report
) -> dict[str, Density]:
    """The moments of hidden variables with densities of their own, of which there is an exact answer."""
    g, found = posterior.gaussians, {}
    for i, variable in open_continuous.items():
        x = int(g.index_of[i])
        if not posterior.unknown[x]:
            continue
        if own_densities.asked_for(g, [x], posterior.seen, list(posterior.intervals)) is None:
            marked = np.zeros(g.n, np.uint8)
            marked[x] = 1
            posterior.refuse_unknown(elimination.ancestors(g, marked) != 0, others=True)
        posterior.clock.check()
        found[variable.name] = posterior.density([i], (variable,), report)
    return found


def gathered(
    variables: VariableList, each: Mapping[str, Distribution | Density], report: Report
) -> Marginals:
    """Distributions computed separately, as one answer in the order of the model."""
    every = [v for v in variables if v.name in each]
    plain = [v for v in every if not v.continuous]
    flat = np.concatenate([np.empty(0), *(each[v.name].values for v in plain)])
    begins = np.cumsum([0, *(v.card for v in plain)])[:-1]
    densities = {v.name: p for v in every if isinstance(p := each[v.name], Density)}
    return MixedMarginals(every, Marginals(plain, flat, begins, report), densities.__getitem__, report)


def samples(variables: VariableList, posterior: HybridPosterior, n: int, rng: np.random.Generator) -> Samples:
    """Cases from P(all variables | evidence)."""
    codes, values = posterior.draw(n, rng)
    columns = {}
    for i, v in enumerate(variables):
        x = int(posterior.gaussians.index_of[i])
        columns[v.name] = states_array(v, codes[:, i]) if x < 0 else values[:, x].copy()
    return Samples(columns, posterior.report)


def best(
    variables: VariableList,
    posterior: HybridPosterior,
    places: Sequence[int] | None,
    k: int,
    observed: Observed,
) -> list[Assignment]:
    """The states and values of greatest density: of all variables, or of some continuous ones."""
    if k > 1:
        raise InvalidArgument(
            "k_best ranks states; a continuous variable has no second best value. Use map, or targets=."
        )
    if places is not None:
        return [_top(variables, posterior, places, observed)]
    hard, index_of = posterior.known.hard, posterior.gaussians.index_of
    left = [i for i in range(len(variables)) if i not in hard]
    codes, values, joint = posterior.highest()
    values_of = {variables.names[i]: float(values[index_of[i]]) for i in left if index_of[i] >= 0}
    log = joint - log_of(posterior.total())
    joint = log if observed.soft else joint + observed.log_weight  # as in `naming`
    return [MixedAssignment(variables.take(left), codes[left], values_of, log, joint, posterior.report)]


def _top(
    variables: VariableList, posterior: HybridPosterior, places: Sequence[int], observed: Observed
) -> Assignment:
    """The mode of the density of some variables, all else integrated out.

    If the covariance is singular, the density is that on the affine subspace of their values.
    """
    asked = tuple(variables[i] for i in places)
    names = [v.name for v in asked]
    if not all(v.continuous for v in asked):
        raise InvalidArgument(
            f"map with both discrete and continuous targets, {listed(names)}, would need the modes of "
            "mixtures, which have no formula. Ask for all variables, or for the discrete ones."
        )
    found = posterior.density(places, asked, posterior.report)
    if found.form != "normal":
        raise InvalidArgument(
            f"The density of {listed(names)} is a mixture of normals, whose mode has no formula."
        )
    mean, (covariance,) = np.atleast_1d(found.mean), found.components[2]
    log = _log_peak(covariance)
    values_of = dict(zip(names, mean.tolist(), strict=True))
    joint = log if observed.soft else log + log_of(posterior.total()) + observed.log_weight
    return MixedAssignment(asked, [0] * len(places), values_of, log, joint, posterior.report)


def _log_peak(covariance: np.ndarray) -> float:
    """The logarithm of a normal density at its mean, on the subspace in which it has a density."""
    scale = np.sqrt(np.diag(covariance))
    scale[scale == 0.0] = 1.0
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    kept = values > 1e-13 * max(1.0, float(values.max(initial=0.0)))
    root = vectors[:, kept] * np.sqrt(values[kept]) * scale[:, None]
    log = float(np.linalg.slogdet(root.T @ root)[1]) if kept.any() else 0.0
    return float(log_peak(int(kept.sum()), log))
