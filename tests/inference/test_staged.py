"""Chains in stages against all paths; in doubles and in logarithms; interpreted loops against compiled."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pgm.inference.engines import staged as engine
from pgm.inference.engines.chain import ImpossibleStep, Rows
from pgm.runtime.clock import start_clock


def rows_with_zeros(random, *shape, possible=True):
    possible = np.broadcast_to(possible, shape)
    found = random.dirichlet(np.ones(shape[-1]), shape[:-1]) * (random.random(shape) > 0.3) * possible
    found = np.where(found.sum(axis=-1, keepdims=True) == 0.0, possible, found)
    return found / np.maximum(found.sum(axis=-1, keepdims=True), 1e-300)


class Case:
    """Two sequences of a chain of two stages, whose start and steps are of two kinds."""

    def __init__(self, seed):
        random = np.random.default_rng(seed)
        self.k, self.mid, self.length = (int(random.integers(1, 4)) for _ in range(3))
        k, mid, rows = self.k, self.mid, 2 * self.length
        # Between two states there is one way: each state is entered from one place in the middle.
        owner = random.integers(0, mid, k)
        used = np.bincount(owner, minlength=mid) > 0
        self.first = [rows_with_zeros(random, k, mid, possible=used) for _ in range(2)]
        owned = np.arange(mid)[:, None] == owner
        self.then = [rows_with_zeros(random, mid, k, possible=owned) for _ in range(2)]
        one, _ = engine.stage(k, mid, np.repeat(np.arange(k), mid), np.tile(np.arange(mid), k))
        two, _ = engine.stage(mid, k, np.repeat(np.arange(mid), k), np.tile(np.arange(k), mid))
        self.start = rows_with_zeros(random, 2, k)
        self.begin, self.which = np.array([1, 0]), random.integers(0, 2, rows)
        self.values = np.array([np.append(f, t) for f, t in zip(self.first, self.then, strict=True)])
        self.steps = engine.Steps(self.start, (one, two), self.values, self.begin, self.which)
        self.code = random.integers(0, 3, rows).astype(np.int32)
        self.like = random.random((3, k)) * (random.random((3, k)) > 0.15)
        with np.errstate(divide="ignore"):
            logs = np.log(self.like)
        starts = np.array([0, self.length, rows])
        self.rows = Rows(logs, self.code, starts)
        self.plain = Rows(logs[self.code], np.empty(0, np.int32), starts)

    def paths(self, n, upto=None):
        """Each path of one sequence and its probability, with the places in the middle."""
        found = {}
        steps = self.length if upto is None else upto
        o = n * self.length
        for path in itertools.product(range(self.k), repeat=steps):
            p = self.start[self.begin[n], path[0]]
            for t in range(steps):
                if t:
                    kind = self.which[o + t]
                    p *= (self.first[kind] @ self.then[kind])[path[t - 1], path[t]]
                p *= self.like[self.code[o + t], path[t]]
            found[path] = p
        return found


@pytest.mark.parametrize("in_logs", [False, True])
def test_everything_against_all_paths(in_logs):
    possible = 0
    for seed in range(150):
        case, clock = Case(seed), start_clock()
        if in_logs:
            case.steps.__dict__["is_narrow"] = True
        every = [case.paths(n) for n in range(2)]
        totals = np.array([sum(paths.values()) for paths in every])
        rows = case.rows if seed % 2 else case.plain
        if (totals == 0.0).any():
            n = int((totals == 0.0).argmax())
            for ask in (engine.filtered, engine.smoothed, engine.best_paths, engine.log_likelihoods):
                with pytest.raises(ImpossibleStep) as error:
                    ask(case.steps, rows, clock)
                t = error.value.row - n * case.length
                assert sum(case.paths(n, t + 1).values()) == 0.0
                assert t == 0 or sum(case.paths(n, t).values()) > 0.0
            continue
        possible += 1
        k, length = case.k, case.length
        near = {"rtol": 1e-11, "atol": 1e-13}
        assert np.allclose(engine.log_likelihoods(case.steps, rows, clock), np.log(totals), **near)
        gamma, shares = engine.smoothed(case.steps, rows, clock)
        assert np.allclose(np.add.reduceat(shares, rows.starts[:-1]), np.log(totals), **near)
        filtered, lagged = (
            engine.filtered(case.steps, rows, clock)[0],
            engine.smoothed(case.steps, rows, clock, 1)[0],
        )
        weight = np.array([1.0, 2.5])
        found = engine.expected(case.steps, rows, weight, clock)
        begun, counts = np.zeros_like(case.start), np.zeros_like(case.values)
        for n, paths in enumerate(every):
            o = n * length
            for t in range(length):
                for beliefs, upto in ((gamma, length), (filtered, t + 1), (lagged, min(t + 2, length))):
                    wanted = np.zeros(k)
                    for path, p in case.paths(n, upto).items():
                        wanted[path[t]] += p
                    assert np.allclose(beliefs[o + t], wanted / wanted.sum(), **near)
            for path, p in paths.items():
                begun[case.begin[n], path[0]] += weight[n] * p / totals[n]
                for t in range(1, length if p else 0):
                    kind = case.which[o + t]
                    for m in range(case.mid):
                        way = case.first[kind][path[t - 1], m] * case.then[kind][m, path[t]]
                        if way:  # the only one
                            counts[kind, path[t - 1] * case.mid + m] += weight[n] * p / totals[n]
                            at = case.k * case.mid + m * k + path[t]
                            counts[kind, at] += weight[n] * p / totals[n]
        assert np.allclose(found.begun, begun, **near)
        assert np.allclose(found.counts, counts, **near)
        heavy = gamma * np.repeat(weight, length)[:, None]
        if rows.code.size:
            by_code = np.zeros_like(case.like)
            np.add.at(by_code, case.code, heavy)
            heavy = by_code
        assert np.allclose(found.seen, heavy, **near)
        path, value = engine.best_paths(case.steps, rows, clock)
        for n, paths in enumerate(every):
            best = max(paths.values())
            assert value[n] == pytest.approx(np.log(best), abs=1e-12)
            assert paths[tuple(path[n * length : (n + 1) * length].tolist())] == pytest.approx(
                best, rel=1e-12
            )
    assert possible > 60


def test_what_doubles_cannot_hold_is_held_in_logarithms():
    """A state that nothing but a zero keeps apart comes back after 3,000 steps of 1e-1 against 1."""
    length = 3000
    one, _ = engine.stage(2, 2, [0, 1], [0, 1])
    steps = engine.Steps(np.array([[0.5, 0.5]]), (one,), np.ones((1, 2)))
    like = np.tile([1.0, 0.1], (length, 1))
    like[-1] = [0.0, 1.0]
    with np.errstate(divide="ignore"):
        rows = Rows(np.log(like), np.empty(0, np.int32), np.array([0, length]))
    gamma, shares = engine.smoothed(steps, rows, start_clock())
    assert shares.sum() == pytest.approx(np.log(0.5) + (length - 1) * np.log(0.1), rel=1e-12)
    assert gamma[0] == pytest.approx([0.0, 1.0], abs=1e-12)
    found = engine.expected(steps, rows, np.ones(1), start_clock())
    assert found.counts[0] == pytest.approx([0.0, length - 1], rel=1e-9, abs=1e-9)


def test_draws_follow_the_chain_and_what_was_observed():
    case, random = Case(6), np.random.default_rng(0)
    while not all(sum(case.paths(n).values()) > 0 for n in range(2)) or case.k < 2 or case.length < 2:
        case = Case(int(random.integers(1000, 9000)))
    many, length = 20_000, case.length
    one = engine.Steps(case.start[:1], case.steps.stages, case.values[:1])
    drawn = engine.draw(one, np.arange(many + 1) * length, random).reshape(many, length)
    move = case.first[0] @ case.then[0]
    for t in range(length):
        wanted = case.start[0] @ np.linalg.matrix_power(move, t)
        assert np.bincount(drawn[:, t], minlength=case.k) / many == pytest.approx(wanted, abs=0.02)
    single = Rows(case.rows.logs, case.code[:length], np.array([0, length]))
    steps = engine.Steps(case.start, case.steps.stages, case.values, case.begin[:1], case.which[:length])
    found = np.array(engine.draw_given(steps, single, 5000, random, start_clock()))
    paths = case.paths(0)
    total = sum(paths.values())
    for path, p in paths.items():
        share = (found == np.array(path)).all(axis=1).mean()
        assert share == pytest.approx(p / total, abs=0.03)
