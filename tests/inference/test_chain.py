"""Chains against the enumeration of all paths, in rational arithmetic; interpreted loops against compiled."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgm.inference.engines import chain as engine
from pgm.inference.engines.chain import Chain, ImpossibleStep, Rows
from pgm.runtime.clock import start_clock
from tests.loops import forms


def enumerated(start, move, like):
    """All paths and their exact joint probabilities."""
    k, steps = len(start), len(like)
    exact = np.vectorize(Fraction)
    start, move, like = exact(start), exact(move), exact(like)
    found = {}
    for path in itertools.product(range(k), repeat=steps):
        p = start[path[0]] * like[0][path[0]]
        for t in range(1, steps):
            p *= move[path[t - 1]][path[t]] * like[t][path[t]]
        found[path] = p
    return found


@st.composite
def chains(draw):
    """A chain, with zeros, and rows of likelihoods: some all one, as where nothing was observed."""
    k, steps = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    weight = st.sampled_from([0, 0, 1, 2, 3, 5, 1000])

    def row():
        found = [draw(weight) for _ in range(k)]
        found[draw(st.integers(0, k - 1))] += 1
        return np.array(found) / sum(found)

    start, move = row(), np.array([row() for _ in range(k)])
    like = np.array(
        [np.ones(k) if draw(st.booleans()) else [draw(weight) / 8 for _ in range(k)] for _ in range(steps)]
    )
    return start, move, like


def rows_of(like, starts=None):
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(like, float))
    return Rows(logs, np.empty(0, np.int32), np.array([0, len(like)] if starts is None else starts))


@settings(deadline=None, max_examples=300)
@given(chains(), st.booleans())
def test_everything_against_all_paths(model, in_logs):
    start, move, like = model
    every = enumerated(start, move, like)
    total = sum(every.values())
    chain, rows, clock = Chain(start, move), rows_of(like), start_clock()
    if in_logs:  # as where sums would lose states
        chain.__dict__.update(is_safe=False, is_narrow=True)
    if total == 0:
        for ask in (engine.log_likelihoods, engine.filtered, engine.smoothed, engine.best_paths):
            with pytest.raises(ImpossibleStep) as error:
                ask(chain, rows, clock)
            row = error.value.row
            assert sum(enumerated(start, move, like[: row + 1]).values()) == 0
            assert row == 0 or sum(enumerated(start, move, like[:row]).values()) > 0
        return
    k, steps = len(start), len(like)
    log = float(np.log(float(total)))
    assert engine.log_likelihoods(chain, rows, clock) == pytest.approx([log], abs=1e-12)
    alpha, shares = engine.filtered(chain, rows, clock)
    assert shares.sum() == pytest.approx(log, abs=1e-12)
    gamma, _ = engine.smoothed(chain, rows, clock)
    lagged, _ = engine.smoothed(chain, rows, clock, 1)
    found = engine.expected(chain, rows, np.ones(1), clock)
    pairs, both = np.zeros((k, k)), np.zeros((steps, k, k))
    until = [enumerated(start, move, like[: t + 1]) for t in range(steps)]
    sums = [sum(part.values()) for part in until]
    for t in range(steps):
        for upto, have in ((t, alpha), (min(t + 1, steps - 1), lagged), (steps - 1, gamma)):
            exact = np.zeros(k)
            for path, p in until[upto].items():
                exact[path[t]] += float(p / sums[upto])
            assert have[t] == pytest.approx(exact, abs=1e-12)
        for path, p in every.items():
            if t:
                both[t, path[t - 1], path[t]] += float(p / total)
    pairs = both.sum(axis=0)
    assert engine.pairs_of(chain, rows, gamma, clock) == pytest.approx(both[1:], abs=1e-12)
    assert found.pairs == pytest.approx(pairs, abs=1e-12)
    assert found.first == pytest.approx(gamma[0], abs=1e-12)
    assert found.seen == pytest.approx(gamma, abs=1e-12)
    assert found.logs == pytest.approx([log], abs=1e-12)
    path, value = engine.best_paths(chain, rows, clock)
    best = max(every.values())
    assert value == pytest.approx([float(np.log(float(best)))], abs=1e-12)
    assert float(every[tuple(path.tolist())]) == pytest.approx(float(best), rel=1e-12)
    assert engine.log_joints(chain, rows, path) == pytest.approx(value, abs=1e-12)
    paths, values = engine.ranked_paths(chain, rows, 7, clock)
    ranked = sorted((p for p in every.values() if p), reverse=True)[:7]
    assert np.exp(values) == pytest.approx(np.array(ranked, float), rel=1e-11)
    assert len({tuple(p.tolist()) for p in paths}) == len(paths)
    for p, v in zip(paths, values, strict=True):
        assert float(every[tuple(p.tolist())]) == pytest.approx(np.exp(v), rel=1e-11)


def random_chain(k, seed=0, zeros=0.0):
    random = np.random.default_rng(seed)
    move = random.dirichlet(np.ones(k), k) * (random.random((k, k)) >= zeros)
    move[np.arange(k), np.arange(k)] += 0.1
    return random.dirichlet(np.ones(k)), move / move.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("zeros", [0.0, 0.7], ids=["dense", "arcs"])
@pytest.mark.parametrize("k", [1, 3, 4, 6, 8, 9, 16, 32])
def test_many_sequences_are_each_by_itself_to_the_last_bit(k, zeros):
    start, move = random_chain(k, 1, zeros)
    random = np.random.default_rng(2)
    logs = np.log(random.random((7, k)))
    code = random.integers(0, 7, 90).astype(np.int32)
    starts = np.array([0, 1, 3, 20, 60, 61, 70, 72, 89, 90])
    chain, clock = Chain(start, move), start_clock()
    rows = Rows(logs, code, starts)
    scores, (alpha, _), (gamma, _) = (
        ask(chain, rows, clock) for ask in (engine.log_likelihoods, engine.filtered, engine.smoothed)
    )
    path, value = engine.best_paths(chain, rows, clock)
    for n, (a, b) in enumerate(itertools.pairwise(starts.tolist())):
        one = Rows(logs, code[a:b], np.array([0, b - a]))
        plain = Rows(logs[code[a:b]], np.empty(0, np.int32), np.array([0, b - a]))
        for alone in (one, plain):
            assert engine.log_likelihoods(chain, alone, clock)[0] == scores[n]
            assert (engine.filtered(chain, alone, clock)[0] == alpha[a:b]).all()
            assert (engine.smoothed(chain, alone, clock)[0] == gamma[a:b]).all()
            assert (engine.best_paths(chain, alone, clock)[0] == path[a:b]).all()
            assert value[n] == pytest.approx(engine.best_paths(chain, alone, clock)[1][0], rel=1e-14)


@pytest.mark.parametrize("k", [3, 8])
def test_of_several_sequences_the_first_step_that_is_impossible_is_named(k):
    """Those beside it, which go a step at a time with it, come to theirs earlier."""
    chain, logs = Chain(*random_chain(k, 1)), np.zeros((40, k))
    logs[[18, 22, 33]] = -np.inf
    rows = Rows(logs, np.empty(0, np.int32), np.array([0, 10, 20, 30, 40]))
    for ask in (engine.log_likelihoods, engine.filtered, engine.smoothed):
        with pytest.raises(ImpossibleStep) as error:
            ask(chain, rows, start_clock())
        assert error.value.row == 18
    with pytest.raises(ImpossibleStep) as error:
        engine.expected(chain, rows, np.ones(4), start_clock())
    assert error.value.row == 18


@pytest.mark.parametrize("impossible", [0.0, 0.4, 0.7])
def test_arcs_give_the_bits_of_the_whole_matrix(impossible):
    """Where rows make many states impossible, steps go another way along the arcs."""
    start, move = random_chain(24, 3, 0.7)
    random = np.random.default_rng(4)
    like = random.random((50, 24))
    rows = rows_of(np.where(random.random(like.shape) < impossible, 0.0, like))
    sparse, dense, clock = Chain(start, move), Chain(start, move), start_clock()
    dense.__dict__["arcs"] = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    assert sparse.arcs[1].size
    for ask in (engine.log_likelihoods, engine.filtered, engine.smoothed, engine.best_paths):
        for one, other in zip(
            np.atleast_1d(ask(sparse, rows, clock)[0]), np.atleast_1d(ask(dense, rows, clock)[0]), strict=True
        ):
            assert np.array_equal(one, other)
    few, all_ = (engine.expected(c, rows, np.ones(1), clock) for c in (sparse, dense))
    assert few.pairs == pytest.approx(all_.pairs, rel=1e-14)


def test_a_block_that_lost_may_win_later():
    """Two chains side by side: the first wins the beginning by 1,000 bits, the second the rest by 2,000."""
    steps = 3000
    logs = np.zeros((steps, 2))
    logs[:1000, 1], logs[1000:, 0] = -np.log(2.0), -np.log(2.0)
    chain, clock = Chain(np.array([0.5, 0.5]), np.eye(2)), start_clock()
    rows = Rows(logs, np.empty(0, np.int32), np.array([0, steps]))
    assert engine.log_likelihoods(chain, rows, clock) == pytest.approx([-1001 * np.log(2.0)], rel=1e-12)
    alpha, _ = engine.filtered(chain, rows, clock)
    assert (alpha[999, 0], alpha[-1, 1]) == (1.0, 1.0)
    gamma, _ = engine.smoothed(chain, rows, clock)
    assert gamma[:, 1] == pytest.approx(np.ones(steps))


@pytest.mark.parametrize("k", [2, 4, 5])
def test_densities_of_any_size(k):
    """Far from all means densities are below the smallest double; where they are narrow, above all bounds."""
    start, move = random_chain(k, 5)
    random = np.random.default_rng(6)
    logs = random.normal(size=(200, k)) + random.normal(size=(200, 1)) * 2000.0
    rows = Rows(logs, np.empty(0, np.int32), np.array([0, 200]))
    chain, clock = Chain(start, move), start_clock()
    slow = Chain(start, move)
    slow.__dict__.update(is_safe=False, is_narrow=True)
    for ask in (engine.log_likelihoods, lambda *a: engine.filtered(*a)[0], lambda *a: engine.smoothed(*a)[0]):
        assert ask(chain, rows, clock) == pytest.approx(ask(slow, rows, clock), rel=1e-10, abs=1e-12)
    spread = logs * np.linspace(1.0, 50.0, k)
    rows = Rows(spread, np.empty(0, np.int32), np.array([0, 200]))
    for ask in (engine.log_likelihoods, lambda *a: engine.filtered(*a)[0], lambda *a: engine.smoothed(*a)[0]):
        assert ask(chain, rows, clock) == pytest.approx(ask(slow, rows, clock), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("k", [2, 4, 5])
@pytest.mark.parametrize("mean", [-25.0, 25.0])
def test_densities_that_are_not_divided_add_up(k, zeros, mean):
    """Of a thousand densities of which each is within bounds, the product is not."""
    start, move = random_chain(k, 5)
    if zeros:
        move[0, 1] = 0.0
        move[0] /= move[0].sum()
    random = np.random.default_rng(6)
    logs = random.normal(size=(1000, k)) + mean
    rows = Rows(logs, np.empty(0, np.int32), np.array([0, 1, 400, 1000]))
    assert rows.shifts is None
    chain, clock = Chain(start, move), start_clock()
    total, alpha = [], start
    for t in range(1000):
        alpha = (start if t in rows.starts else alpha @ move) * np.exp(logs[t] - mean)
        total.append(np.log(alpha.sum()) + mean)
        alpha = alpha / alpha.sum()
    assert engine.filtered(chain, rows, clock)[1] == pytest.approx(np.array(total), rel=1e-12)
    sums = np.add.reduceat(total, rows.starts[:-1])
    assert engine.log_likelihoods(chain, rows, clock) == pytest.approx(sums, rel=1e-12)


@pytest.mark.parametrize("k", [2, 4, 5, 9])
def test_of_equal_paths_that_with_the_first_states_wins(k):
    like = np.random.default_rng(k).choice([0.25, 0.5], size=(300, k))
    chain = Chain(np.full(k, 1 / k), np.full((k, k), 1 / k))
    path, _ = engine.best_paths(chain, rows_of(like, [0, 1, 150, 300]), start_clock())
    assert path.tolist() == like.argmax(axis=1).tolist()


def test_long_double_agrees():
    """Log-likelihoods of 20,000 steps within 1e-12 of the same sums in long double."""
    start, move = random_chain(4, 7)
    random = np.random.default_rng(8)
    like = random.random((20_000, 4))
    rows, clock = rows_of(like), start_clock()
    alpha, total = start.astype(np.longdouble), np.longdouble(0)
    for t in range(len(like)):
        alpha = (alpha if t == 0 else alpha @ move.astype(np.longdouble)) * like[t]
        total += np.log(alpha.sum())
        alpha = alpha / alpha.sum()
    chain = Chain(start, move)
    assert engine.log_likelihoods(chain, rows, clock)[0] == pytest.approx(float(total), rel=1e-12)
    assert engine.filtered(chain, rows, clock)[1].sum() == pytest.approx(float(total), rel=1e-12)


@pytest.mark.parametrize("k", [3, 4, 8, 13])
def test_interpreted_loops_give_the_same_bits(k):
    start, move = random_chain(k, 9)
    random = np.random.default_rng(10)
    rows = rows_of(random.random((40, k)), [0, 1, 15, 28, 29, 35, 40])
    chain, narrow, clock = Chain(start, move), Chain(start, move), start_clock()
    narrow.__dict__.update(is_safe=False, is_narrow=True)

    def all_of_it():
        found = engine.expected(chain, rows, np.array([1.0, 2.0, 0.5, 1.0, 0.25, 3.0]), clock)
        drawn = engine.draw(chain, rows.starts, np.random.default_rng(0))
        alpha, _ = engine.filtered(chain, rows, clock)
        (back,) = engine.draw_given(chain, rows.part(2, 3), 1, np.random.default_rng(1), clock)
        (far,) = engine.draw_given(narrow, rows.part(2, 3), 1, np.random.default_rng(1), clock)
        return [
            engine.log_likelihoods(chain, rows, clock), alpha, engine.smoothed(chain, rows, clock)[0],
            engine.smoothed(chain, rows, clock, 2)[0], *engine.best_paths(chain, rows, clock),
            *engine.ranked_paths(chain, rows.part(1, 2), 5, clock), found.pairs, found.seen, drawn, back, far,
        ]  # fmt: skip

    fast = all_of_it()
    with forms.interpreted():
        slow = all_of_it()
    for one, other in zip(fast, slow, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("in_logs", [False, True])
def test_paths_given_what_was_observed_are_drawn_from_their_posterior(in_logs):
    start, move = random_chain(3, 11, 0.3)
    like = np.random.default_rng(12).random((4, 3))
    every = enumerated(start, move, like)
    chain, clock = Chain(start, move), start_clock()
    if in_logs:
        chain.__dict__.update(is_safe=False, is_narrow=True)
    n = 20_000
    counts = dict.fromkeys(every, 0)
    for path in engine.draw_given(chain, rows_of(like), n, np.random.default_rng(13), clock):
        counts[tuple(path.tolist())] += 1
    total = sum(every.values())
    for path, count in counts.items():
        p = float(every[path] / total)
        assert abs(count / n - p) <= 5 * np.sqrt(p * (1 - p) / n)


@pytest.mark.parametrize("coded", [True, False])
@pytest.mark.parametrize(
    ("k", "lengths"),
    [(9, [5000]), (8, [1, 700, 1, 2, 400]), (3, [17000, 3, 1]), (1, [3] * 5), (16, [6, 9] * 5)],
)
def test_counts_of_many_states_four_rows_at_a_time(coded, k, lengths):
    """Beside plain sums in logarithms: sequences side by side, weights, states that cannot be reached."""
    rng = np.random.default_rng(len(lengths))
    start, move = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), k)
    start[0] = 0.0 if k > 1 else 1.0
    chain = Chain(start / start.sum(), move)
    logs = np.log(rng.random((6, k)))
    logs[2] = 0.0
    if k > 1:
        logs[3, -1] = -np.inf
    code = rng.integers(0, 6, sum(lengths)).astype(np.int32)
    starts = np.cumsum([0, *lengths])
    rows = Rows(logs, code, starts) if coded else Rows(logs[code], np.empty(0, np.int32), starts)
    weight = rng.random(len(lengths)) - 0.3
    found = engine.expected(chain, rows, weight, start_clock())
    slow = Chain(chain.start, chain.move)
    slow.__dict__.update(is_safe=False, is_narrow=True)
    truth = engine.expected(slow, rows, weight, start_clock())
    for name in ("first", "pairs", "seen", "logs"):
        mine, theirs = getattr(found, name), getattr(truth, name)
        assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-9), name
