"""A linear dynamical system as a Bayesian network: a variable for each entry of each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pgm.cpds import LinearGaussian
from pgm.errors import InvalidArgument, shown
from pgm.inference.engines.kalman.schedule import factored
from pgm.models.bayesian_network import BayesianNetwork

from .linear_questions import added, schedule
from .numbers import check_steps

if TYPE_CHECKING:
    from .linear_dynamical_system import LinearDynamicalSystem


def of(system: LinearDynamicalSystem, steps: int) -> BayesianNetwork:
    """The network of so many steps."""
    p = system._p
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise InvalidArgument(f"steps= is a whole number of 1 at least, not {shown(steps)}.")
    check_steps(int(steps))
    if np.isinf(p.covariance).any():
        raise InvalidArgument(
            "The start is diffuse, and a network needs a distribution: give mean= and covariance=."
        )
    if p.n_inputs or p.timed:
        raise InvalidArgument("A system with inputs, or with functions of the gap, is no network by itself.")
    s = schedule(p, int(steps))
    pushes, shifts = added(steps, p.b, None, None), added(steps, p.d, None, None)
    net = BayesianNetwork()
    before: list[str] = []
    for t in range(int(steps)):
        own = [f"{name}[{t}]" for name in system.states]
        if t == 0:
            _add(net, own, [], np.zeros((p.n, 0)), p.mean, p.covariance)
        else:
            k = s.move[t - 1]
            push = np.zeros(p.n) if pushes is None else pushes[t - 1]
            _add(net, own, before, s.A[k], push, s.Q[k])
        k = s.look[t]
        shift = np.zeros(p.m) if shifts is None else shifts[t]
        _add(net, [f"{name}[{t}]" for name in system.observations], own, s.C[k], shift, s.R[k])
        before = own
    return net


def _add(
    net: BayesianNetwork,
    names: list[str],
    parents: list[str],
    weights: np.ndarray,
    constant: np.ndarray,
    covariance: np.ndarray,
) -> None:
    """Add a vector, an entry after the other: each depends on those before it as its noise does."""
    U, d = factored(covariance[::-1, ::-1])
    apart = np.linalg.inv(U)[::-1, ::-1]  # unit lower triangular: it makes the noise independent
    variances = d[::-1]
    own, bias = apart @ weights, apart @ constant
    for i, name in enumerate(names):
        found = {parent: float(w) for parent, w in zip(parents, own[i], strict=True) if w != 0.0}
        found |= {names[j]: float(-apart[i, j]) for j in range(i) if apart[i, j] != 0.0}
        net.add(name, LinearGaussian(found, bias=float(bias[i]), sd=float(np.sqrt(variances[i]))))
