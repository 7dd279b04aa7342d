"""Linear dynamical systems as Bayesian networks: variables for each entry of each step, and its regime."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pgm.cpds import LinearGaussian
from pgm.errors import InvalidArgument, shown
from pgm.inference.engines.kalman.schedule import factored
from pgm.models.bayesian_network import BayesianNetwork
from pgm.variables import Variable

from .checks import check_steps
from .dynamic_bayesian_network import DynamicBayesianNetwork
from .linear_parameters import Varying, names_of
from .linear_questions import Parameters, added, of_gap, schedule
from .network_unrolled import drawn

if TYPE_CHECKING:
    from .linear_dynamical_system import LinearDynamicalSystem


def of(system: LinearDynamicalSystem, steps: int) -> BayesianNetwork:
    """The Bayesian network of this many steps."""
    p = system._p
    _check(p, steps)
    s = schedule(p, int(steps))
    pushes, shifts = added(steps, p.b, None, None), added(steps, p.d, None, None)
    net = BayesianNetwork()
    before: list[str] = []
    for t in range(int(steps)):
        own = [f"{name}[{t}]" for name in system.states]
        if t == 0:
            vector = _vector(own, [], np.zeros((p.n, 0)), p.mean, p.covariance)
        else:
            k = s.move[t - 1]
            push = np.zeros(p.n) if pushes is None else pushes[t - 1]
            vector = _vector(own, before, s.A[k], push, s.Q[k])
        k = s.look[t]
        shift = np.zeros(p.m) if shifts is None else shifts[t]
        seen = [f"{name}[{t}]" for name in system.observations]
        for name, density in (vector | _vector(seen, own, s.C[k], shift, s.R[k])).items():
            net.add(name, density)
        before = own
    return net


def in_slices(system: LinearDynamicalSystem) -> DynamicBayesianNetwork:
    """A network to draw, of a step and the one before: an arrow where an entry of a matrix is not zero."""
    p, net = system._p, DynamicBayesianNetwork("Linear dynamical system")
    inputs = names_of("inputs", None, p.n_inputs, "u") if p.n_inputs else ()
    taken = {*system.states, *system.observations}
    own = [f"input {name}" if name in taken else name for name in inputs]
    seen = [f"{name} observed" if name in system.states else name for name in system.observations]

    def arrows(value: Varying | None, parents: Iterable[str], i: int) -> dict[str, float]:
        if value is None:
            return {}
        matrix = of_gap("A", value, 1.0, p.n) if callable(value) else value
        there = (matrix != 0.0).any(axis=tuple(range(matrix.ndim - 2)))[i]
        return {name: 1.0 for name, some in zip(parents, there, strict=True) if some}

    def before(names: Iterable[str]) -> list[str]:
        return [f"{name}[-1]" for name in names]

    for name in own:
        net.add(name, LinearGaussian())
    for i, name in enumerate(system.states):
        found = arrows(p.A, before(system.states), i) | arrows(p.B, before(own), i)
        net.add(name, LinearGaussian(found), initial=LinearGaussian() if found else None)
    for i, name in enumerate(seen):
        net.add(name, LinearGaussian(arrows(p.C, system.states, i) | arrows(p.D, own, i)))
    return net


def picture(system: LinearDynamicalSystem) -> BayesianNetwork:
    """The two steps of `in_slices` to draw, without earlier observations, on which nothing depends."""
    slices = in_slices(system)
    net, _ = drawn(slices.name, slices._nodes, slices.lag + 1, named=True)
    for name in [name for name in net.nodes if name.endswith("[-1]") and not net.children(name)]:
        net.remove(name)
    return net


def of_switching(
    regimes: Variable,
    initial: np.ndarray,
    transition: np.ndarray,
    systems: Sequence[LinearDynamicalSystem],
    steps: int,
) -> BayesianNetwork:
    """The Bayesian network of this many steps of a switching system: regime[0], x[0], y[0], regime[1], ...

    Args:
        regimes: their names.
        initial: their probabilities in the first step.
        transition: those of the next regime: rows are "from".
        systems: the system of each regime.
        steps: how many.
    """
    parameters = [system._p for system in systems]
    for p in parameters:
        _check(p, steps)
    rows = dict(zip(regimes.states, transition.tolist(), strict=True))
    net = BayesianNetwork()
    before: list[str] = []
    for t in range(int(steps)):
        regime, states = f"regime[{t}]", list(regimes.states)
        if t == 0:
            net.add(regime, initial.tolist(), states=states)
        else:
            net.add(regime, rows, parents=[f"regime[{t - 1}]"], states=states)
        own = [f"{name}[{t}]" for name in systems[0].states]
        seen = [f"{name}[{t}]" for name in systems[0].observations]
        by_regime = []
        for p in parameters:
            if t == 0:
                moved = _vector(own, [], np.zeros((p.n, 0)), p.mean, p.covariance)
            else:
                assert isinstance(p.A, np.ndarray)
                assert isinstance(p.Q, np.ndarray)
                moved = _vector(own, before, p.A, np.zeros(p.n) if p.b is None else p.b, p.Q)
            by_regime.append(moved | _vector(seen, own, p.C, np.zeros(p.m) if p.d is None else p.d, p.R))
        for name in (*own, *seen):
            densities = dict(zip(regimes.states, (one[name] for one in by_regime), strict=True))
            net.add(name, densities, parents=[regime])
        before = own
    return net


def _check(p: Parameters, steps: int) -> None:
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise InvalidArgument(f"steps= is a whole number of at least 1, not {shown(steps)}.")
    check_steps(int(steps))
    if np.isinf(p.covariance).any():
        raise InvalidArgument(
            "The start is diffuse, but a network needs a distribution: give mean= and covariance=."
        )
    if p.n_inputs or p.timed:
        raise InvalidArgument(
            "A system with inputs, or with functions of the gap, cannot be written as a network."
        )


def _vector(
    names: list[str], parents: list[str], weights: np.ndarray, constant: np.ndarray, covariance: np.ndarray
) -> dict[str, LinearGaussian]:
    """The entries of a vector by name: each depends on those before it, by the correlation of their noise."""
    made = {}
    U, d = factored(covariance[::-1, ::-1])
    apart = np.linalg.inv(U)[::-1, ::-1]  # unit lower triangular: it decorrelates the noise
    variances = d[::-1]
    own, bias = apart @ weights, apart @ constant
    for i, name in enumerate(names):
        found = {parent: float(w) for parent, w in zip(parents, own[i], strict=True) if w != 0.0}
        found |= {names[j]: float(-apart[i, j]) for j in range(i) if apart[i, j] != 0.0}
        made[name] = LinearGaussian(found, bias=float(bias[i]), sd=float(np.sqrt(variances[i])))
    return made
