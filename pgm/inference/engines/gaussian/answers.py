"""Answers about continuous variables, in the user's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.densities import Density, MixedAssignment, MixedMarginals
from pgm.errors import InvalidArgument, listed
from pgm.inference.posterior import Posterior, log_of
from pgm.results import Assignment, Marginals, Report, Samples, states_array

if TYPE_CHECKING:
    from pgm.inference.compiled_model import CompiledModel
    from pgm.inference.engines.gaussian.mixed import Mixed


def among(compiled: CompiledModel, positions: Sequence[int]) -> bool:
    """Whether some of these variables are continuous."""
    assert compiled.gaussians is not None
    return bool((compiled.gaussians.number[list(positions)] >= 0).any())


def density(compiled: CompiledModel, posterior: Mixed, positions: Sequence[int], report: Report) -> Density:
    """P(variables | known), all of them continuous."""
    return posterior.density(positions, tuple(compiled.variables[i] for i in positions), report)


def marginals(compiled: CompiledModel, posterior: Mixed, report: Report) -> Marginals:
    """P(variable | known) for every variable that is not known."""
    assert compiled.gaussians is not None
    flat, _ = posterior.marginals()
    hard = posterior.known.hard
    left = [i for i in range(len(compiled.names)) if i not in hard]
    of_numbers = compiled.gaussians.number >= 0
    begins = posterior.discrete.program.arrays.state_at[: len(compiled.names)]
    plain = [i for i in left if not of_numbers[i]]
    discrete = Marginals([compiled.variables[i] for i in plain], flat, begins[plain], report)
    open_numbers = {i: compiled.variables[i] for i in left if of_numbers[i]}
    if not open_numbers:
        return discrete
    made = posterior.densities(open_numbers, report)
    return MixedMarginals([compiled.variables[i] for i in left], discrete, made, report)


def samples(
    compiled: CompiledModel, posterior: Mixed, n: int, rng: np.random.Generator, report: Report
) -> Samples:
    """Cases from P(all variables | known)."""
    assert compiled.gaussians is not None
    codes, values = posterior.sample(n, rng)
    columns = {}
    for i, v in enumerate(compiled.variables):
        x = int(compiled.gaussians.number[i])
        columns[v.name] = states_array(v, codes[:, i]) if x < 0 else values[:, x].copy()
    return Samples(columns, report)


def best(
    compiled: CompiledModel, posterior: Mixed, asked: Sequence[str] | None, k: int, report: Report
) -> list[Assignment] | None:
    """The states and numbers of greatest density; None where only variables with states are asked for."""
    g = compiled.gaussians
    assert g is not None
    if asked is not None:
        positions = [compiled.position[name] for name in asked]
        if not among(compiled, positions):
            return None
        if not all(compiled.variables[i].continuous for i in positions):
            raise InvalidArgument(
                f"map with targets= of both kinds, {listed(list(asked))}, would maximise over numbers what is summed "
                "over states, which is not exact. Ask for all variables, or for those with states."
            )
    if k > 1:
        raise InvalidArgument("The k best are of states; numbers have no second best. Use map, or targets=.")
    hard = posterior.known.hard
    left = [i for i in range(len(compiled.names)) if i not in hard]
    if asked is not None:
        found = posterior.density(positions, tuple(compiled.variables[i] for i in positions), report)
        if found.form != "normal":
            raise InvalidArgument(
                f"The density of {listed(list(asked))} is a mixture of normals, whose highest point has no formula."
            )
        mean = np.atleast_1d(found.mean)
        log = float(np.atleast_1d(found.log_pdf(mean if len(asked) > 1 else mean[0]))[0])
        numbers = dict(zip(asked, mean.tolist(), strict=True))
        joint = log + log_of(posterior.total())
        variables = [compiled.variables[i] for i in positions]
        return [MixedAssignment(variables, [0] * len(asked), numbers, log, joint, report)]
    codes, values, joint = posterior.best()
    numbers = {compiled.names[i]: float(values[g.number[i]]) for i in left if g.number[i] >= 0}
    log = joint - log_of(posterior.total())
    return [MixedAssignment([compiled.variables[i] for i in left], codes[left], numbers, log, joint, report)]


def without(posterior: Any) -> Posterior:
    """What is left for the engine of tables once the continuous variables are eliminated."""
    found: Posterior = posterior.solve().discrete
    return found
