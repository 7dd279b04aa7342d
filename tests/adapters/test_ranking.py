"""Rankers beside enumeration of pairs, a linear program and scikit-learn; what is refused."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import kendalltau, rankdata

import pgm
from pgm.adapters import LinearRanker, click_pairs
from pgm.adapters.ranking.linear_ranker import RANKING
from pgm.adapters.ranking.pairs import Pairs
from tests.adapters.estimators import check

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("options", [{}, {"margin": 0.5, "max_pairs": 20}])
def test_the_battery_of_scikit_learn(options, monkeypatch):
    check(LinearRanker(**options), 42, monkeypatch)


@pytest.mark.parametrize("seed", range(6))
def test_pairs_are_those_of_an_enumeration(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    ranks, groups = rng.integers(0, 4, n).astype(float), rng.integers(0, 3, n)
    pairs = Pairs(ranks, groups)
    wanted = {
        (a, b) if ranks[a] < ranks[b] else (b, a)
        for a, b in itertools.combinations(range(n), 2)
        if groups[a] == groups[b] and ranks[a] != ranks[b]
    }
    better, worse = pairs.take(np.arange(pairs.total))
    assert pairs.total == len(wanted)
    assert set(zip(better.tolist(), worse.tolist(), strict=True)) == wanted


def test_the_loops_are_the_update_written_out():
    rows = RNG.normal(size=(12, 3))
    better, worse = RNG.integers(0, 12, 40), RNG.integers(0, 12, 40)
    w = RNG.normal(size=3)
    wanted, moved = w.copy(), 0
    for u, v in zip(better, worse, strict=True):
        if wanted @ rows[v] > wanted @ rows[u] - 0.7:
            wanted += 0.2 * (rows[u] - rows[v])
            moved += 1
    assert RANKING.follow_pairs(rows.reshape(-1), 3, better, worse, 0.7, 0.2, w) == moved
    np.testing.assert_allclose(w, wanted, atol=1e-12)
    scores = rows @ w
    short = np.maximum(0.0, 0.7 - scores[better] + scores[worse])
    assert RANKING.hinge(scores, better, worse, 0.7) == pytest.approx(short.sum())


@pytest.mark.parametrize("seed", range(8))
def test_what_a_line_can_order_is_ordered_and_nothing_else(seed):
    """A linear program says whether some w has all pairs ahead."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(8, 3))
    ranks = rankdata(-(rows @ rng.normal(size=3)) + (seed % 2) * rng.normal(size=8) * 0.6)
    better, worse = Pairs(ranks, np.zeros(8, int)).take(np.arange(28))
    off = rows[better] - rows[worse]
    found = linprog(np.zeros(3), A_ub=-off, b_ub=-np.ones(28), bounds=[(None, None)] * 3)
    told = LinearRanker(max_iter=3000, rate=1.0).fit(rows, ranks)
    if found.status == 0:
        assert told.converged_
        assert told.rank(rows).tolist() == ranks.tolist()
        assert (off @ told.coef_ >= 1.0 - 1e-9).all()
        assert (told.loss_, told.score(rows, ranks)) == (0.0, 1.0)
    else:
        assert not told.converged_
        assert told.score(rows, ranks) < 1.0


def test_the_score_is_kendalls_and_lists_are_compared_apart():
    rows = RNG.normal(size=(40, 2))
    ranks = RNG.permutation(40).astype(float)
    told = LinearRanker().fit(rows, ranks)
    tau = kendalltau(-told.predict(rows), ranks).statistic
    assert told.score(rows, ranks) == pytest.approx((1 + tau) / 2)
    lists = np.repeat(["p", "q"], 20)
    apart = [told.score(rows[lists == name], ranks[lists == name]) for name in "pq"]
    assert told.score(rows, ranks, lists) == pytest.approx(np.mean(apart))
    both = told.rank(rows, lists)
    for name in "pq":
        mine = lists == name
        assert both[mine].tolist() == rankdata(-told.predict(rows[mine]), method="min").tolist()
    same = LinearRanker(shuffle=False, seed=3).fit(rows, ranks, lists)
    assert same.n_pairs_ == 2 * 190


def test_many_pairs_are_drawn_and_print_says_so():
    rows = RNG.normal(size=(300, 4))
    w = np.array([1.0, -2.0, 0.5, 0.0])
    ranks = rankdata(-(rows @ w + 0.1 * RNG.normal(size=300)))
    told = LinearRanker(max_pairs=2000).fit(rows, ranks)
    assert told.n_pairs_ == 300 * 299 // 2
    assert "2,000 of them in each pass" in repr(told)
    assert not told.converged_
    assert told.score(rows, ranks) > 0.97
    assert abs(np.dot(told.coef_, w)) / np.linalg.norm(told.coef_) / np.linalg.norm(w) > 0.99


def test_rows_of_frames_copies_traces_and_pictures():
    frame = {"u": [1.0, 2.0, 3.0], "v": [5.0, 1.0, 9.0], "w": [0.0, 0.0, 1.0]}
    told = LinearRanker().fit(frame, [3, 2, 1])
    for again in (copy.deepcopy(told), pickle.loads(pickle.dumps(told))):
        assert repr(again) == repr(told)
    assert told.trace_.weights.shape == (told.n_iter_ + 1, 3)
    ax = told.plot(frame, [3, 2, 1], columns=["u", "w"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("u", "w")
    assert [t.get_text() for t in ax.texts if t.get_text()] == ["3", "2", "1"]
    assert "v" in repr(told)


def test_clicks():
    assert click_pairs([10, 20, 30, 40], [20, 40]) == [(20, 10), (40, 10), (40, 30)]
    assert click_pairs(["a"], "a") == []
    with pytest.raises(pgm.InvalidArgument, match="not shown"):
        click_pairs(["a", "b"], "c")
    with pytest.raises(pgm.InvalidArgument, match="twice"):
        click_pairs(["a", "a"], "a")


ROWS = [[1.0], [2.0], [3.0]]


WRONG = pgm.InvalidArgument


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        (lambda: LinearRanker(margin=-1).fit(ROWS, [1, 2, 3]), WRONG, "margin="),
        (lambda: LinearRanker(margin=0).fit(ROWS, [1, 2, 3]), WRONG, "init="),
        (lambda: LinearRanker(rate=0).fit(ROWS, [1, 2, 3]), WRONG, "rate="),
        (lambda: LinearRanker().fit([[1e200], [0.0], [-1e200]], [1, 2, 3]), pgm.InvalidFrame, "unit"),
        (lambda: LinearRanker(max_pairs=0).fit(ROWS, [1, 2, 3]), WRONG, "max_pairs="),
        (lambda: LinearRanker(init=[1.0, 2.0]).fit(ROWS, [1, 2, 3]), WRONG, "1 weights"),
        (lambda: LinearRanker().fit(ROWS, [1, 1, 1]), WRONG, "nothing to compare"),
        (lambda: LinearRanker().fit(ROWS, [1, 2, 3], ["a"]), WRONG, "group="),
        (lambda: LinearRanker().fit(ROWS, [1, 2, 3], ["a", None, "b"]), pgm.InvalidFrame, "no list"),
        (lambda: LinearRanker().fit_pairs(ROWS, [(0, 3)]), WRONG, "no row 3"),
        (lambda: LinearRanker().fit_pairs(ROWS, [(1, 1)]), WRONG, "itself"),
        (lambda: LinearRanker().fit_pairs(ROWS, [(0, 1, 2)]), WRONG, "better row"),
        (lambda: LinearRanker().fit_pairs(ROWS, []), WRONG, "better row"),
        (lambda: LinearRanker().predict(ROWS), pgm.IncompleteModel, "fit"),
        (lambda: LinearRanker().fit(ROWS, [1, 2, 3]).top(ROWS, 4), WRONG, "k="),
        (lambda: LinearRanker().fit(ROWS, [1, 2, 3]).score(ROWS, [1, 1, 1]), WRONG, "compare"),
        (lambda: LinearRanker().fit(ROWS, [1, 2, 3]).plot(ROWS), WRONG, "two columns"),
    ],
)  # fmt: skip
def test_what_is_no_ranking_is_refused(asked, error, said):
    with pytest.raises(error, match=said):
        asked()
