"""Structural EM: hidden variables that are there are found, others removed, errors named."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pgm


def causes(n: int, seed: int) -> dict[str, Any]:
    net = pgm.BayesianNetwork()
    net.add("h", 0.4)
    for name in "abcd":
        net.add(name, {True: 0.9, False: 0.15}, parents=["h"])
    rows = net.sample(n, seed=seed)
    return {name: rows[name] for name in "abcd"}


def test_a_common_cause_is_found() -> None:
    rows = causes(1500, 1)
    found = pgm.learn_structure(rows, latent={"h": 2}, seed=0)
    assert set(found.network.children("h")) == set("abcd")
    assert len(found.network.edges) == 4
    assert found.score is not None
    # The score is that of the likelihood of what was observed.
    fit = float(np.sum(found.network.log_likelihood(rows)))
    assert found.score == pytest.approx(fit - found.network.n_parameters / 2 * math.log(1500))
    assert found.score > pgm.learn_structure(rows).score
    assert [step.move for step in found.trace].count("hidden") == 1
    assert "kept" in repr(found)
    assert found.cpdag.undirected


def test_what_explains_nothing_is_removed() -> None:
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 2, 300) for name in "abc"}
    found = pgm.learn_structure(rows, latent={"h": 2}, seed=0)
    assert set(found.network.nodes) == set("abc")
    assert found.notes["hidden"].startswith("removed")
    assert found.network == pgm.learn_structure(rows).network


def test_constraints_name_hidden_variables_too() -> None:
    rows = causes(1500, 2)
    forbid = [("a", "b"), ("b", "a"), ("a", "h")]
    found = pgm.learn_structure(rows, latent={"h": ["no", "yes"]}, roots="h", forbid=forbid, seed=0)
    assert not set(forbid) & set(found.network.edges)
    assert not found.network.parents("h")
    assert found.network.variables["h"].states == ("no", "yes")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"latent": 2}, "latent= is a dict"),
        ({"latent": {"a": 2}}, "which is a column"),
        ({"latent": {"h": 1}}, "two states or more"),
        ({"latent": {"h": 2}, "score": "bdeu"}, 'use "bic" or "aic"'),
        ({"latent": {"h": 2}, "search": "pc"}, "needs a search by score"),
        ({"latent": {"h": 2}, "bootstrap": 2}, "leave one of them out"),
    ],
)
def test_what_goes_with_no_hidden_variables(given: dict[str, Any], said: str) -> None:
    with pytest.raises(pgm.PGMError, match=said):
        pgm.learn_structure({"a": [0, 1, 1], "b": [0, 1, 0]}, **given)
