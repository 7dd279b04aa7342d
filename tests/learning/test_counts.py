"""Counts of families, beside numpy's `add.at` and pandas' group-by."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pgm
from pgm.errors import TooLarge
from pgm.learning.counts import Counts


def data(seed: int, n: int, cards: list[int], gaps: float) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(card, size=n).astype(np.int32) for card in cards]
    for column in columns[1:]:  # the first one is complete
        column[rng.random(n) < gaps] = -1
    return columns


def by_hand(
    columns: list[np.ndarray], cards: list[int], family: list[int], weights: np.ndarray
) -> np.ndarray:
    if not family:
        return np.array(float(weights.sum()))
    table = np.zeros([cards[c] for c in family])
    seen = np.ones(len(weights), bool)
    for c in family:
        seen &= columns[c] >= 0
    np.add.at(table, tuple(columns[c][seen] for c in family), weights[seen])
    return table


@pytest.mark.parametrize("wide", [5, 254, 255, 300, 70_000])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("merge", [False, True, None])
def test_tables_are_those_of_numpy(wide: int, gaps: float, weighted: bool, merge: bool | None) -> None:
    cards = [2, 3, wide, 4, 1]
    for seed, n in enumerate([0, 1, 2047, 2049, 5000]):
        columns = data(seed, n, cards, gaps)
        weights = np.random.default_rng(seed).random(n) if weighted else np.ones(n)
        counts = Counts(columns, cards, weights if weighted else None, merge=merge)
        families = [[0], [2, 0], [3, 1, 0], [], [1, 2], [4, 3], [0, 1, 3]]
        for family, table in zip(families, counts.tables(families), strict=True):
            wanted = by_hand(columns, cards, family, weights)
            assert table.shape == wanted.shape
            np.testing.assert_allclose(table, wanted, rtol=1e-12, atol=1e-12)
            found = counts.occurring(family)
            assert found.codes.tolist() == np.argwhere(by_hand(columns, cards, family, weights > 0)).tolist()
            np.testing.assert_allclose(found.weights, wanted[tuple(found.codes.T)], rtol=1e-12)
        assert counts.total == pytest.approx(weights.sum())
        assert counts.complete([0])
        assert counts.complete([1]) == bool((columns[1] >= 0).all())


def test_a_table_is_pandas_group_by() -> None:
    net = pgm.load_network("asia")
    drawn = pd.DataFrame(dict(net.sample(3000, seed=1)))
    names = list(net.variables)
    codes = [
        pd.Categorical(drawn[n], categories=net.variables[n].states).codes.astype(np.int32) for n in names
    ]
    counts = Counts(codes, [2] * len(names))
    group = drawn.groupby(["smoke", "lung"], observed=False).size()
    table = counts.table([names.index("smoke"), names.index("lung")])
    for (smoke, lung), count in group.items():
        at = net.variables["smoke"].code(smoke), net.variables["lung"].code(lung)
        assert table[at] == count


def test_equal_rows_are_gone_through_once() -> None:
    columns = data(0, 20_000, [2, 3, 2], 0.1)
    counts = Counts(columns, [2, 3, 2])
    assert counts.n_rows == 20_000
    assert counts.n_distinct <= 3 * 4 * 3
    assert counts.weights.sum() == 20_000
    np.testing.assert_array_equal(counts.table([1, 2]), by_hand(columns, [2, 3, 2], [1, 2], np.ones(20_000)))
    assert (counts.codes(1) == -1).any()


def test_what_was_counted_is_kept_until_the_cache_is_full() -> None:
    columns = data(0, 300, [20, 20, 20], 0.0)
    counts = Counts(columns, [20, 20, 20], memory=4 * 4000)
    first = counts.table([0, 1])
    assert counts.table([0, 1]) is first
    assert counts.table([1, 0]).base is not None
    np.testing.assert_array_equal(counts.table([1, 0]), first.T)
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 1.0
    for family in ([0, 2], [1, 2], [0], [1], [2], [2, 0]):
        counts.table(family)
        assert counts._bytes <= 4 * 4000
        assert counts._bytes == sum(t.nbytes + 200 for t in counts._kept.values())
    np.testing.assert_array_equal(counts.table([0, 1]), by_hand(columns, [20] * 3, [0, 1], np.ones(300)))


def test_threads_count_the_same() -> None:
    columns = data(3, 60_000, [9] * 12, 0.05)
    families = [[i, j] for i in range(12) for j in range(i)]
    with pgm.config(threads=1):
        one = Counts(columns, [9] * 12, merge=False).tables(families)
    with pgm.config(threads=2):
        two = Counts(columns, [9] * 12, merge=False).tables(families)
    assert all((a == b).all() for a, b in zip(one, two, strict=True))


def test_a_table_too_large_is_refused_and_its_configurations_are_not() -> None:
    columns = data(4, 500, [300] * 6, 0.1)
    counts = Counts(columns, [300] * 6)
    with pytest.raises(TooLarge, match="The counts of 1 families"):
        counts.table(range(6))
    found = counts.occurring(range(6))
    complete = (np.array(columns) >= 0).all(axis=0)
    assert found.weights.sum() == complete.sum()
    assert found.codes.tolist() == sorted(np.array(columns)[:, complete].T.tolist())
