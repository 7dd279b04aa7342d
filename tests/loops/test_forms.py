"""Whole answers, interpreted and compiled for either processor, on one thread and on two: the same bits.

tests/loops/test_replay.py compares single calls, one at a time even where threads share the work. Random
models are compared in the tests of rows, search, counting, loopy propagation, continuous variables, samplers
and triangulation, which ask under `tests.loops.forms`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pgm
from tests.inference.test_paths import shared_by_threads, slabs_of_every_clique
from tests.loops.forms import FORMS

SHARED: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "subtrees": shared_by_threads,
    "rows of cliques": slabs_of_every_clique,
}


def network() -> pgm.BayesianNetwork:
    """Loops, zeros, and cards of one to four."""
    rng, net = np.random.default_rng(6), pgm.BayesianNetwork()
    cards: list[int] = []
    for i in range(9):
        parents = sorted(rng.choice(i, min(i, 2), replace=False).tolist())
        cards.append(int(rng.integers(2, 5)))
        table = rng.dirichlet(np.ones(cards[i]), size=tuple(cards[p] for p in parents))
        table[..., 0] *= rng.random(table.shape[:-1]) < 0.8
        table /= table.sum(axis=-1, keepdims=True)
        net.add(f"v{i}", table, parents=[f"v{p}" for p in parents], states=list(range(cards[i])))
    return net


def answers() -> list[Any]:
    """Each kind of question once, as bytes or as plain Python; every model is new, so nothing is kept."""
    net, given = network(), {"v8": 1}
    columns = net.sample(40, seed=2)
    frame = {name: np.asarray(columns[name]).tolist() for name in net.variables if name != "v0"}
    found: list[Any] = [p.values.tobytes() for p in network().marginals(given).values()]
    found += [t.tobytes() for t in network().expected_counts(given).values()]
    best = network().map(given)
    found += [dict(best), best.log_joint, [dict(each) for each in network().k_best(given, k=3)]]
    found += [np.asarray(network().predict_proba(frame, "v0")).tobytes(), frame]
    for engine in (
        pgm.engines.Loopy(max_iter=20, tol=1e-300),
        pgm.engines.Gibbs(samples=60, seed=1),
        pgm.engines.Importance(samples=60, seed=1),
        pgm.engines.Bounds(),
    ):
        found.append(network().query("v1", given, engine=engine).values.tobytes())
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pgm.ConvergenceWarning")
@pytest.mark.parametrize("shared", SHARED)
def test_every_form_answers_alike_on_one_thread_and_on_two(shared: str) -> None:
    found = {}
    for form, running in FORMS.items():
        for n_threads in (1, 2):
            with running(), pgm.config(threads=n_threads), pytest.MonkeyPatch.context() as patch:
                SHARED[shared](patch)
                found[form, n_threads] = answers()
    first = found["interpreted", 1]
    for key, other in found.items():
        assert other == first, key
