"""Expected counts from a tree that all questions with the same observed variables share."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pgm
from pgm.inference.engines.exact.posterior import Posterior
from tests.insight.enumeration import Joint, random_network


@pytest.mark.parametrize("seed", range(6))
def test_every_state_of_the_observed_variables_on_one_tree(seed: int) -> None:
    net = random_network(seed, 6)
    joint, rng = Joint(net), np.random.default_rng(seed)
    seen = [str(v) for v in rng.permutation(list(net))[: rng.integers(0, 4)]]
    for states in itertools.product(*[net.variables[v].states for v in seen]):
        given = dict(zip(seen, states, strict=True))
        if joint.probability(given) == 0.0:
            with pytest.raises(pgm.ImpossibleEvidence):
                net.expected_counts(given)
            continue
        found = net.expected_counts(given)
        for name in net:
            wanted = joint.posterior([*net.parents(name), name], given)
            np.testing.assert_allclose(np.asarray(found[name]), wanted, atol=1e-12)


def test_it_is_the_tree_that_was_made_for_other_states(monkeypatch: pytest.MonkeyPatch) -> None:
    net = pgm.load_network("asia")
    net.sensitivity("lung", {"xray": "yes", "dysp": "no"})
    monkeypatch.setattr("pgm.inference.trees.shared_trees._make", None)
    monkeypatch.setattr("pgm.inference.engines.exact.expected_statistics.reduce_case", None)
    found = net.sensitivity("lung", {"xray": "no", "dysp": "yes"}, state="yes")
    monkeypatch.undo()
    monkeypatch.setattr(Posterior, "on_shared_tree", lambda *_, **__: None)
    wanted = net.sensitivity("lung", {"xray": "no", "dysp": "yes"}, state="yes")
    assert found.nodes == wanted.nodes
    for name in found.nodes:
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-12)


def test_products_that_leave_doubles_are_answered_without_it() -> None:
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    for i in range(12):
        net.add(f"b{i}", {True: 1e-60, False: 2e-60}, parents=["a"])
    given = {f"b{i}": True for i in range(12)}
    np.testing.assert_allclose(net.expected_counts(given)["a"], [2.0**12 / (2.0**12 + 1), 1 / (2.0**12 + 1)])
    assert net.sensitivity("a", given).probability == pytest.approx(1 / (2.0**12 + 1))
