"""Rows of one clique shared by threads: the whole of it, nothing twice, and the same bits."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import pgm
from pgm.inference.trees import sweeps
from pgm.inference.trees.sweeps import compiled, row_slices
from pgm.runtime.running import run
from tests.inference.test_paths import slabs_of_every_clique
from tests.inference.test_sparse_cliques import the_tree


def dense(seed: int) -> pgm.BayesianNetwork:
    rng = np.random.default_rng(seed)
    net = pgm.BayesianNetwork()
    cards = rng.integers(2, 6, 9).tolist()
    for i, card in enumerate(cards):
        parents = sorted(rng.choice(i, min(i, 4), replace=False).tolist())
        rows = rng.dirichlet(np.ones(card), size=tuple(cards[p] for p in parents))
        net.add(f"v{i}", rows, parents=[f"v{p}" for p in parents], states=range(card))
    return net


@pytest.fixture
def eager(monkeypatch):
    slabs_of_every_clique(monkeypatch)
    return monkeypatch


@pytest.mark.parametrize("cut", [row_slices.slabs_in, row_slices.slabs_out], ids=["in", "out"])
@pytest.mark.parametrize("seed", range(6))
def test_slices_have_every_row_once_and_add_to_different_entries(cut, seed, eager):
    t = the_tree(dense(seed), eager).tree.arrays
    n_tables = t.item_at.size - 1 - t.parent.size
    several = 0
    for c in range(t.parent.size):
        found = cut(t, c, 4)
        several += len(found) > 1
        n_rows, seen = int(t.size[c] // t.inner[c]), []
        written: list[set[tuple[int, int]]] = []
        for _, period, begin, end in found:
            rows = np.concatenate([np.arange(turn + begin, turn + end) for turn in range(0, n_rows, period)])
            seen += rows.tolist()
            entries = (rows[:, None] * t.inner[c] + np.arange(t.inner[c])).ravel()
            if cut is row_slices.slabs_in:
                written.append({(c, int(s)) for s in entries % t.sent[c]})
                continue
            mine = set()
            for o in range(t.operand_at[c], t.operand_at[c + 1]):
                if t.operand[o] >= n_tables:
                    along = [
                        compiled._along(t.lookup, t.kind[o], t.run[o], t.inner_at[o], j)
                        for j in range(t.inner[c])
                    ]
                    starts = t.lookup[t.outer_at[o] + rows]
                    mine |= {(o, int(x)) for x in np.add.outer(starts, along).ravel()}
            written.append(mine)
        if found:
            assert sorted(seen) == list(range(n_rows))
            assert sum(map(len, written)) == len(set().union(*written))
    assert several > 0


@pytest.mark.parametrize("seed", range(6))
def test_any_number_of_threads_gives_the_same_bits(seed, eager):
    net = dense(seed)
    used = []
    eager.setattr(sweeps, "slabs_in", lambda *args: used.append(row_slices.slabs_in(*args)) or used[-1])
    found = []
    for threads in (1, 2, 3):
        with pgm.config(threads=threads):
            answer = net.copy().marginals({"v8": 0})
            found.append(np.concatenate([p.values for p in answer.values()]).tobytes())
    assert len(set(found)) == 1
    assert any(used)


@pytest.mark.parametrize("seed", range(6))
def test_rows_may_be_shared_in_any_way(seed, eager):
    """Every this many rows from here to there, several times over, whatever the axes are."""
    net = dense(seed)
    expected = net.copy().marginals({"v8": 0})
    turns = {"slabs_in": 0, "slabs_out": 0}

    def cut(name, t, c, count):
        n_rows = int(t.size[c] // t.inner[c])
        period = next((d for d in range(n_rows // 2, 1, -1) if n_rows % d == 0), 0)
        turns[name] = max(turns[name], n_rows // period if period else 0)
        ends = [(0, 1), (1, period)] if period else []
        return [np.array([row_slices._ROWS, period, *some]) for some in ends]

    def one_after_the_other(name, calls, steps, clock):
        for args in calls:
            run(name, *args, steps=0.0, clock=clock)

    for name in turns:
        eager.setattr(sweeps, name, partial(cut, name))
    eager.setattr(sweeps, "_side_by_side", one_after_the_other)
    with pgm.config(threads=2):
        found = net.copy().marginals({"v8": 0})
    for name, p in expected.items():
        assert found[name].values == pytest.approx(p.values, abs=1e-13), name
    assert min(turns.values()) >= 2
