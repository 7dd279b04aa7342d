"""The most probable states beside gates: against brute force, closed forms, and in time where these end."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.inference.engines import gate_maxima
from pgm.inference.engines.exact import posterior
from tests.machine import slowness

Ask = Callable[[], float]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Fronts are asked even where a tree is quick; the list says how often they answered."""
    answered: list[bool] = []
    whole = gate_maxima.maximum

    def noted(*args: Any) -> Any:
        found = whole(*args)
        answered.append(found is not None)
        return found

    monkeypatch.setattr(posterior, "_WORTH_FRONTS", -1.0)
    monkeypatch.setattr(gate_maxima, "maximum", noted)
    return answered


def of_causes(priors: Any, effects: Any, kind: Any = pgm.NoisyOr, leak: float = 0.01) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    names = [f"c{i}" for i in range(len(priors))]
    for name, p in zip(names, priors, strict=True):
        net.add(name, float(p))
    net.add("x", kind(dict(zip(names, map(float, effects), strict=True)), leak=leak))
    return net


def random_network(rng: np.random.Generator) -> pgm.BayesianNetwork:
    """Up to five causes, some of them parents of others, and up to three gates, which may be causes too."""
    net, names = pgm.BayesianNetwork(), []

    def number() -> float:
        return float(rng.choice([0, 0.1, 0.25, 0.5, 0.75, 1])) if rng.random() < 0.6 else float(rng.random())

    def row() -> list[float]:
        x = rng.choice([0, 1, 1, 2, 3], size=3).astype(float)
        x[0] += x.sum() == 0
        return list((x / x.sum()).tolist())

    for i in range(int(rng.integers(2, 6))):
        parents = [p for p in names if rng.random() < 0.25][:2]
        keys = list(itertools.product([True, False], repeat=len(parents)))
        rows = {key if len(parents) > 1 else key[0]: number() for key in keys if parents}
        net.add(f"c{i}", rows if parents else number(), parents=parents)
        names.append(f"c{i}")
    for g in range(int(rng.integers(1, 4))):
        among = [p for p in names if rng.random() < 0.7 and net.variables[p].card == 2]
        if len(among) < 2:
            continue
        parents = [among[i] for i in rng.permutation(len(among))]
        kind = [pgm.NoisyOr, pgm.NoisyAnd, pgm.NoisyMax, pgm.NoisyMin, pgm.MixtureCPD][rng.integers(5)]
        if kind is pgm.MixtureCPD:
            net.add(f"x{g}", kind({p: {True: number(), False: number()} for p in parents}))
        elif kind in (pgm.NoisyOr, pgm.NoisyAnd):
            net.add(f"x{g}", kind({p: number() for p in parents}, leak=number() * float(rng.integers(2))))
        else:
            rows = {p: {s: row() for s in ([True, False] if rng.random() < 0.4 else [True])} for p in parents}
            net.add(f"x{g}", kind(rows, leak=row()), states=["low", "middle", "high"])
        if rng.random() < 0.6:
            names.append(f"x{g}")
    return net


def brute(net: pgm.BayesianNetwork, given: dict[str, Any]) -> tuple[float, tuple[Any, ...]]:
    """The largest P(states, given), by all of them, and the first states that reach it."""
    hard = {name: value for name, value in given.items() if not isinstance(value, pgm.Likelihood)}
    free = [name for name in net.variables if name not in hard]
    worth = {}
    for states in itertools.product(*[net.variables[name].states for name in free]):
        full = {**hard, **dict(zip(free, states, strict=True))}
        p = math.prod(dict(w.items)[full[name]] for name, w in given.items() if name not in hard)
        for name in net.variables:
            p *= net.cpd(name).probability({v: full[v] for v in (*net.parents(name), name)}) if p else 1.0
        worth[states] = p
    top = max(worth.values())
    return top, next(states for states, p in worth.items() if p >= top * (1 - 1e-11))


@pytest.mark.parametrize("seed", range(200))
def test_as_by_brute_force(seed: int, always: list[bool]) -> None:
    """With ties, zeros, chains of gates, gates of several states and weights on some variables."""
    rng = np.random.default_rng(seed)
    net = random_network(rng)
    given: dict[str, Any] = {}
    for name, variable in net.variables.items():
        if rng.random() < 0.35:
            given[name] = variable.states[int(rng.integers(variable.card))]
        elif rng.random() < 0.1:
            given[name] = pgm.Likelihood({s: float(rng.choice([0.2, 0.5, 1])) for s in variable.states})
    try:
        best = net.map(given)
    except pgm.ImpossibleEvidence:
        return
    top, states = brute(net, given)
    assert tuple(best.values()) == states
    assert best.log_joint == pytest.approx(math.log(top), abs=1e-11)
    assert best.exact
    assert not best.report.advice
    assert all(always)


def test_what_is_tested_above_is_of_fronts(always: list[bool]) -> None:
    of_causes([0.2] * 5, [0.5] * 5).map({"x": True})
    assert always == [True]


@pytest.mark.parametrize("kind", [pgm.NoisyOr, pgm.NoisyAnd])
@pytest.mark.parametrize("given", [{"x": True}, {"x": False}, {}])
@pytest.mark.parametrize("n", [30, 300, 1000])
def test_fourteen_causes_among_many_that_do_nothing(n: int, given: dict[str, Any], kind: Any) -> None:
    """Those without effect take their own best states; the others by brute force over all 2**14."""
    rng = np.random.default_rng(n)
    priors, effects = rng.uniform(0.05, 0.95, n), np.zeros(n)
    real = np.sort(rng.choice(n, 14, replace=False))
    effects[real] = rng.uniform(0.02, 0.9, 14)
    states = np.array(list(itertools.product([False, True], repeat=14)))
    p = np.where(states, priors[real], 1 - priors[real]).prod(axis=1)
    acts = states if kind is pgm.NoisyOr else ~states
    none = 0.99 * np.where(acts, 1 - effects[real], 1.0).prod(axis=1)
    on = 1 - none if kind is pgm.NoisyOr else none
    worth = np.concatenate([p * on if x else p * (1 - on) for x in (False, True) if given.get("x", x) == x])
    rest = np.maximum(priors, 1 - priors)
    rest[real] = 1.0
    best = of_causes(priors, effects, kind).map(given)
    assert best.log_joint == pytest.approx(math.log(worth.max()) + np.log(rest).sum(), abs=1e-9)
    chosen = states[int(worth.argmax()) % len(states)]
    assert [best[f"c{i}"] for i in real] == chosen.tolist()
    assert best.exact


@pytest.mark.parametrize("n", [30, 300, 1000])
def test_two_kinds_of_causes_in_closed_form(n: int) -> None:
    """Only how many of each kind there are counts: of those that are equal the last declared are true."""
    half = n // 2
    net = of_causes([0.4] * half + [0.45] * (n - half), [0.03] * half + [0.02] * (n - half))
    i, j = np.meshgrid(np.arange(half + 1), np.arange(n - half + 1), indexing="ij")
    logs = i * math.log(0.4 / 0.6) + j * math.log(0.45 / 0.55) + np.log1p(-0.99 * 0.97**i * 0.98**j)
    first, second = np.unravel_index(int(logs.argmax()), logs.shape)
    best = net.map({"x": True})
    assert best.log_joint == pytest.approx(
        logs.max() + half * math.log(0.6) + (n - half) * math.log(0.55), abs=1e-9
    )
    on = [k for k in range(n) if best[f"c{k}"]]
    assert on == [*range(half - int(first), half), *range(n - int(second), n)]


@pytest.mark.parametrize("priors", ["any", "rare", "one half"])
@pytest.mark.parametrize("given", [{"x": True}, {"x": False}, {}])
def test_a_thousand_causes_take_seconds(given: dict[str, Any], priors: str) -> None:
    rng = np.random.default_rng(0)
    p = {"any": rng.random(1000), "rare": rng.uniform(0.001, 0.05, 1000), "one half": np.full(1000, 0.5)}
    net = of_causes(p[priors], rng.random(1000))
    begin = time.process_time()
    best = net.map(given)
    assert time.process_time() - begin < 5.0 * slowness()
    # No change of one cause, nor of two, makes it better.
    on = np.array([best[f"c{i}"] for i in range(1000)])
    effects = np.array(list(net.cpd("x").probabilities.values()))
    prior = p[priors]
    gain = np.where(on, np.log1p(-prior) - np.log(prior), np.log(prior) - np.log1p(-prior))
    fails = np.where(on, 1.0, -1.0) * -np.log1p(-effects)
    log_none = math.log(0.99) + float(np.log1p(-effects[on]).sum())

    def worth(log_q: Any) -> Any:
        return np.where(best["x"] if "x" not in given else given["x"], np.log(-np.expm1(log_q)), log_q)

    for left in (fails, fails[:, None] + fails[None, :]):
        more = gain if left.ndim == 1 else gain[:, None] + gain[None, :]
        off = np.zeros(left.shape, bool) if left.ndim == 1 else np.eye(1000, dtype=bool)
        change = np.where(off, -1.0, more + worth(np.minimum(log_none + left, -1e-300)) - worth(log_none))
        assert change.max() <= 1e-9


def test_a_wide_gate_within_a_network(always: list[bool]) -> None:
    """Its causes have parents and other children: against the same network with the gate as a table."""
    rng = np.random.default_rng(4)
    net, written_out = pgm.BayesianNetwork(), pgm.BayesianNetwork()
    n = 16
    effects = rng.uniform(0.2, 0.9, n)
    for target in (net, written_out):
        draw = np.random.default_rng(5)
        for i in range(n):
            if i % 4:
                target.add(f"c{i}", {True: draw.random(), False: draw.random()}, parents=[f"c{i - 1}"])
            else:
                target.add(f"c{i}", draw.random())
            target.add(f"sign{i}", {True: draw.random(), False: draw.random()}, parents=[f"c{i}"])
    net.add("x", pgm.NoisyOr({f"c{i}": effects[i] for i in range(n)}, leak=0.02))
    table = 1 - 0.98 * np.array([1.0])
    for i in range(n):
        table = 1 - np.multiply.outer(1 - table, [1.0, 1 - effects[i]]).ravel()
    table = table.reshape([2] * n)
    names = [f"c{i}" for i in range(n)]
    written_out.add("x", np.stack([1 - table, table], axis=-1), parents=names, states=[False, True])
    for x in (True, False, None):
        given = {f"sign{i}": bool(rng.random() < 0.3) for i in range(n)} | ({} if x is None else {"x": x})
        best, truth = net.map(given), written_out.map(given)
        assert dict(best) == dict(truth)
        assert best.log_joint == pytest.approx(truth.log_joint, abs=1e-11)
    assert True in always


def test_what_is_too_much_is_refused_as_before() -> None:
    """A hundred positive findings of three hundred diseases tie too many gates together."""
    rng = np.random.default_rng(0)
    net = pgm.BayesianNetwork()
    for i in range(300):
        net.add(f"d{i}", 0.3)
    for j in range(100):
        causes = rng.choice(300, 20, replace=False)
        net.add(f"f{j}", pgm.NoisyOr({f"d{i}": 0.2 for i in causes}, leak=0.1))
    with pytest.raises(pgm.TooLarge):
        net.map({f"f{j}": True for j in range(100)})


def winners_twin(worth: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Rows such that no other of the same group is as good in every respect, and not just the same."""
    keep = np.ones(len(worth), bool)
    for i, j in itertools.permutations(range(len(worth)), 2):
        if groups[i] == groups[j] and (worth[j] >= worth[i]).all() and (worth[j] > worth[i]).any():
            keep[i] = False
    return keep


@pytest.mark.parametrize("respects", [1, 2, 4])
def test_winners_are_those_of_the_twin(respects: int) -> None:
    rng = np.random.default_rng(respects)
    for _ in range(30):
        worth = rng.choice(np.log(np.arange(1, 7)), size=(40, respects))
        worth[rng.random(worth.shape) < 0.1] = -np.inf
        worth = worth[(worth > -np.inf).any(axis=1)]
        groups = np.sort(rng.integers(0, 4, len(worth)))
        sort = np.lexsort((*-worth.T[::-1], groups))
        worth, groups = worth[sort], groups[sort]
        codes = rng.integers(0, 3, (len(worth), 4)).astype(np.uint16)
        begins = np.flatnonzero(np.concatenate([[True], np.diff(groups) > 0, [True]]))
        keep, stop = np.empty(len(worth), np.uint8), np.zeros(1, np.uint8)
        shares = np.full(respects, np.inf)
        shares[-1] = 0.0
        gate_maxima.FRONTS.winners(worth, codes, begins, shares, 1e-12, False, keep, stop)
        wanted = winners_twin(worth, groups)
        # Of equal rows one is kept, the first by its codes.
        for i in np.flatnonzero(wanted):
            same = [k for k in np.flatnonzero(groups == groups[i]) if (worth[k] == worth[i]).all()]
            kept = [k for k in same if keep[k]]
            assert len(kept) == 1
            assert codes[kept[0]].tolist() == min(codes[k].tolist() for k in same)
        assert not keep[~wanted].any()


def test_targets_that_are_all_that_is_not_observed() -> None:
    """Naming everything is asking for everything, in the order named."""
    rng = np.random.default_rng(1)
    net = of_causes(rng.uniform(0.1, 0.9, 40), rng.uniform(0.1, 0.9, 40))
    names = [f"c{i}" for i in reversed(range(40))]
    best = net.map({"x": True}, targets=names)
    assert list(best) == names
    assert dict(best) == dict(net.map({"x": True}))
    assert best.log_joint == pytest.approx(net.map({"x": True}).log_joint, abs=1e-12)


def test_the_time_limit_holds() -> None:
    rng = np.random.default_rng(1)
    net = of_causes(rng.uniform(0.1, 0.9, 1000), rng.uniform(0.1, 0.9, 1000))
    net.map({"x": True})
    begin = time.perf_counter()
    with pgm.config(time_limit=0.1), pytest.raises(pgm.OutOfTime):
        net.map({"x": True})
    assert time.perf_counter() - begin < 1.0 * slowness()


@pytest.mark.parametrize("n_gates", [2, 3, 4])
def test_gates_that_share_their_causes(n_gates: int, always: list[bool]) -> None:
    """Twelve causes of several positive findings, by brute force."""
    rng = np.random.default_rng(n_gates)
    states = np.array(list(itertools.product([False, True], repeat=12)))
    priors, effects = rng.uniform(0.05, 0.6, 12), rng.uniform(0.05, 0.9, (n_gates, 12))
    net = pgm.BayesianNetwork()
    for i, p in enumerate(priors.tolist()):
        net.add(f"c{i}", p)
    worth = np.where(states, priors, 1 - priors).prod(axis=1)
    for g, row in enumerate(effects):
        net.add(f"x{g}", pgm.NoisyOr({f"c{i}": float(p) for i, p in enumerate(row)}, leak=0.02))
        worth = worth * (1 - 0.98 * np.where(states, 1 - row, 1.0).prod(axis=1))
    best = net.map({f"x{g}": True for g in range(n_gates)})
    assert list(best.values()) == states[int(worth.argmax())].tolist()
    assert best.log_joint == pytest.approx(math.log(worth.max()), abs=1e-11)
    assert always == [True]


def test_what_no_search_can_answer_is_not_said_to_need_time() -> None:
    """Twelve findings of sixteen diseases, in 30 kB: search would maximise what is summed inside gates."""
    rng, net = np.random.default_rng(0), pgm.BayesianNetwork()
    for i in range(16):
        net.add(f"d{i}", float(rng.uniform(0.005, 0.05)))
    for j in range(12):
        parents = rng.choice(16, 8, replace=False)
        net.add(f"f{j}", pgm.NoisyOr({f"d{p}": float(rng.uniform(0.2, 0.9)) for p in parents}, leak=0.01))
    given = {f"f{j}": j < 10 for j in range(12)}
    for limit in (None, 60.0):
        with (
            pgm.config(memory_limit="30 kB", time_limit=limit),
            pytest.raises(pgm.TooLarge, match=r"inside gates are summed.*memory_limit") as refused,
        ):
            net.map(given=given)
        assert "time_limit" not in str(refused.value).partition("engine=")[0]
    assert net.map(given=given).exact
