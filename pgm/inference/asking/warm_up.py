"""Small questions that make numba load every kernel, for the background thread that warms a process up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pgm.factors import Dense
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.program import compile_program
from pgm.inference.program.reduction import Known
from pgm.inference.trees import TreeCache
from pgm.runtime import jit
from pgm.runtime.clock import Clock
from pgm.variables import Variable, VariableList


def _posterior() -> Posterior:
    """Three variables in a row; a zero, a known state and a weight, so that every path is taken."""
    tables = [np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.2, 0.8], [0.6, 0.4]])]
    scopes = [[0], [0, 1], [1, 2]]
    factors = [Dense(np.array([s]), t, 1) for s, t in zip(scopes, tables, strict=True)]
    program = compile_program([2, 2, 2], factors)
    return Posterior(
        program, TreeCache(), Known({1: 0}, {2: (np.array([0.5, 1.0]),)}), Clock(None, None), ["a", "b", "c"]
    )


def _sums() -> object:
    posterior = _posterior()
    return posterior.marginals(), posterior.joint([0]), posterior.total()


def _sliced() -> object:
    posterior = replace(_posterior(), known=Known({1: 0}, {}))
    return posterior.marginals(), posterior.joint([0]), posterior.total()


def _maxima() -> object:
    return _posterior().best(None, 2)


def _draws() -> object:
    return _posterior().sample(1, np.random.default_rng(0))


def _rows() -> object:
    from pgm.inference.asking import frame_queries

    posterior = _posterior()
    variables = VariableList.of(Variable(name, [0, 1]) for name in posterior.names)
    position = {name: i for i, name in enumerate(posterior.names)}
    model = ModelSnapshot(posterior.program, posterior.trees, variables, position)
    return frame_queries.predict_proba(model, {"b": [0, None], "c": [1, 1]}, None, "missing")


def kept() -> bool:
    """Whether an earlier process has compiled what these need."""
    from pgm.inference.trees.sweeps import compiled

    return jit.is_kept(compiled.sliced)


STEPS = (_sliced, _sums, _maxima, _draws, _rows)
