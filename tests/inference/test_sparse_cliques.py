"""Lists of the entries of a clique that are not zero: none too few, none too many, and where each one is."""

from __future__ import annotations

import numpy as np
import pytest

import pgm
from pgm.inference.trees import shared_trees, sparse_cliques
from pgm.inference.trees.shared_trees import Sliced


def functional(seed: int, nodes: int = 12, states: int = 4) -> pgm.BayesianNetwork:
    """Every node is about the mean of its parents, of which nearly all other states are impossible."""
    rng = np.random.default_rng(seed)
    net = pgm.BayesianNetwork()
    for i in range(nodes):
        parents = sorted(rng.choice(np.arange(max(0, i - 5), i), min(i, 2), replace=False).tolist())
        middle = np.zeros((states,) * len(parents))
        for k in range(len(parents)):
            middle += np.arange(states).reshape([-1 if a == k else 1 for a in range(len(parents))])
        middle = middle[..., None] / max(1, len(parents))
        table = (np.abs(np.arange(states) - middle) <= 0.5) * rng.random((*middle.shape[:-1], states))
        if not parents:
            table = rng.random(states)
        net.add(
            f"v{i}",
            table / table.sum(-1, keepdims=True),
            parents=[f"v{p}" for p in parents],
            states=range(states),
        )
    return net


def the_tree(net: pgm.BayesianNetwork, patch: pytest.MonkeyPatch) -> Sliced:
    """The tree on which all marginals are read, with a list for every clique that may have one."""
    made: list[Sliced] = []
    patch.setattr(shared_trees, "_AT_ONCE", -1.0)
    for name, value in {"_LEAST_ENTRIES": 0, "_SHARE": 2.0, "_FULL": 2.0}.items():
        patch.setattr(sparse_cliques, name, value)
    whole = shared_trees._make
    patch.setattr(shared_trees, "_make", lambda *args: made.append(whole(*args)) or made[-1])
    net.marginals()
    return made[-1]


@pytest.mark.parametrize("seed", range(8))
def test_what_is_listed_is_what_is_possible(seed, monkeypatch):
    net = functional(seed)
    tree = the_tree(net, monkeypatch).tree
    t = tree.arrays
    names = list(net.variables)
    listed = 0
    for c in np.flatnonzero(np.diff(t.list_at)).tolist():
        columns = 1 + int(t.operand_at[c + 1] - t.operand_at[c]) + int(t.wanted_at[c + 1] - t.wanted_at[c])
        mine = t.lists[t.list_at[c] : t.list_at[c + 1]].reshape(columns, -1)
        axes = t.axes[t.axis_at[c] : t.axis_at[c + 1]].tolist()
        joint = net.query([names[v] for v in axes], engine="elimination").values.ravel()
        possible = np.flatnonzero(joint > 0)
        assert mine.shape[1] == possible.size
        assert (mine[0] == possible % t.sent[c]).all()
        listed += 1
    assert listed > 3


@pytest.mark.parametrize("seed", range(8))
def test_what_is_listed_gives_the_same_numbers(seed, monkeypatch):
    net = functional(seed)
    expected = net.marginals()
    given = {"v3": expected["v3"].mode()}
    likely = {"v5": pgm.Likelihood({0: 0.1, 1: 0.4, 2: 0.6, 3: 0.9})}
    before = [net.marginals(given), net.marginals(likely)]
    fresh = net.copy()
    assert np.diff(the_tree(fresh, monkeypatch).tree.arrays.list_at).any()
    for new, old in zip(
        [fresh.marginals(), fresh.marginals(given), fresh.marginals(likely)], [expected, *before], strict=True
    ):
        for name in old:
            assert new[name].values == pytest.approx(old[name].values, abs=1e-14)


def test_lists_are_made_only_where_they_pay(monkeypatch):
    monkeypatch.setattr(shared_trees, "_AT_ONCE", -1.0)
    monkeypatch.setattr(sparse_cliques, "_LEAST_ENTRIES", 0)
    made: list[Sliced] = []
    whole = shared_trees._make
    monkeypatch.setattr(shared_trees, "_make", lambda *args: made.append(whole(*args)) or made[-1])
    full = pgm.BayesianNetwork()
    full.add("a", [0.5, 0.5], states=["x", "y"])
    full.add("b", [[0.2, 0.8], [1.0, 0.0]], parents=["a"], states=["x", "y"])
    full.marginals()
    assert not made[-1].tree.arrays.list_at.size
    functional(1, states=9).marginals()
    t = made[-1].tree.arrays
    columns = 1 + np.diff(t.operand_at) + np.diff(t.wanted_at)
    share = np.diff(t.list_at) / columns / t.size
    assert share.max() < sparse_cliques._SHARE
    assert share.max() > 0
