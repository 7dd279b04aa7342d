"""Branch and bound and its bounds, against brute force: good states, true bounds, exact where it says so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import pgm
from pgm import jit
from pgm.config import Clock
from pgm.evidence import observe
from pgm.inference.compiled_model import make_posterior
from pgm.inference.engines import branching, cuts
from pgm.inference.engines.branching import compiled
from tests.strategies import KINDS, NUMBERS, TIES, knowledge, models

DATA = st.data()
MODULES = pytest.mark.parametrize(
    "module", [compiled, jit.interpreted(branching.BRANCHING)], ids=["compiled", "interpreted"]
)


def case_of(model: Any, given: Any = None) -> Any:
    compiled_model = model._compile()
    posterior = make_posterior(compiled_model, observe(compiled_model.by_name, given), Clock(None, None))
    return cuts.reduce_everything(posterior.program, posterior.known, posterior.clock)


def ising(n: int, seed: int, strength: float = 1.0) -> pgm.MarkovNetwork:
    """A square of spins that want to be equal here and different there."""
    rng = np.random.default_rng(seed)
    mrf = pgm.MarkovNetwork()
    for i in range(n * n):
        mrf.add_variable(f"s{i}", states=[-1, 1])
    for i in range(n * n):
        h = strength * rng.normal()
        mrf.add_factor([f"s{i}"], [math.exp(-h), math.exp(h)])
        for j in [i + 1] * (i % n < n - 1) + [i + n] * (i + n < n * n):
            w = strength * rng.normal()
            mrf.add_factor([f"s{i}", f"s{j}"], np.exp([[w, -w], [-w, w]]))
    return mrf


@pytest.mark.parametrize("numbers", [NUMBERS, TIES], ids=["numbers", "ties"])
@settings(max_examples=100)
@given(data=DATA)
def test_branch_and_bound_finds_the_best(numbers, data):
    case = data.draw(models(numbers, most=8))
    question = data.draw(knowledge(case, soft=0, kinds=KINDS))
    note(f"{case!r}\ngiven = {question.given}")
    oracle = question.oracle(case)
    if not oracle.possible:
        with pytest.raises((pgm.ImpossibleEvidence, pgm.NoSupportFound)):
            case.model.map(question.given, engine="branch-and-bound")
        return
    right = case.model.map(question.given)
    for engine in ("branch-and-bound", pgm.engines.Srmp(sweeps=3, moves=3)):
        try:
            found = case.model.map(question.given, engine=engine)
        except pgm.NoSupportFound:
            assert engine != "branch-and-bound"
            continue
        assert found.log_joint <= right.log_joint + 1e-9
        assert found.bound is None or found.bound >= right.log_joint - 1e-9
        if found.exact:
            assert found.log_joint == pytest.approx(right.log_joint, rel=1e-9, abs=1e-9)
        elif engine == "branch-and-bound":
            assert "hidden" in found.report.advice
