"""Ranges of numbers that keep the most probable explanation, beside the joint with the number moved."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import pgm


def random_net(seed, *, zeros=False):
    rng = np.random.default_rng(seed)
    net = pgm.BayesianNetwork()
    names = list("abcde")
    for i, name in enumerate(names):
        parents = [p for p in names[:i] if rng.random() < 0.5][:3]
        states = ["s", "t", "u"][: rng.integers(2, 4)]
        shape = [net.variables[p].card for p in parents]
        table = rng.dirichlet(np.full(len(states), 0.7), size=shape or None)
        if zeros:
            table = np.where(table < 0.15, 0.0, table)
            table /= table.sum(axis=-1, keepdims=True)
        net.add(name, table, parents=parents, states=states)
    return net


def joint(tables, axes, n):
    """The product of tables whose axes are numbers of variables."""
    args = [part for table, axis in zip(tables, axes, strict=True) for part in (table, axis)]
    return np.einsum(*args, list(range(n)))


@pytest.mark.parametrize("seed", range(12))
def test_the_best_explanation_stays_inside_and_not_outside(seed):
    net = random_net(seed, zeros=seed % 3 == 0)
    names = list(net)
    axes = [[names.index(v) for v in (*net.parents(name), name)] for name in names]
    tables = [np.asarray(net.cpd(name).values) for name in names]
    given = {"d": net.sample(1, seed=seed)["d"][0]} if seed % 2 else {}
    seen = tuple(net.variables[v].code(given[v]) if v in given else slice(None) for v in names)
    found = net.map_sensitivity(given)
    best = tuple(net.variables[v].code(found.best[v]) for v in names if v not in given)
    compared = 0
    for i, name in enumerate(names):
        for index in np.ndindex(*tables[i].shape):
            scope = (*net.parents(name), name)
            key = tuple(net.variables[v].states[k] for v, k in zip(scope, index, strict=True))
            value = tables[i][index]
            if value in (0.0, 1.0):
                with pytest.raises(pgm.InvalidArgument, match="cannot change in proportion"):
                    found.range(name, key)
                continue
            low, high = found.range(name, key).range
            assert low <= value <= high

            def after(to, i=i, index=index, value=value):
                table = tables[i].copy()
                table[index[:-1]] *= (1 - to) / (1 - value)
                table[index] = to
                moved = joint([*tables[:i], table, *tables[i + 1 :]], axes, len(names))[seen]
                top = np.unravel_index(moved.argmax(), moved.shape)
                return moved[best] >= moved[top] * (1 - 1e-9)

            for to in (low, (low + value) / 2, (high + value) / 2, high):
                assert after(to)
            if low > 0:
                assert not after(low - min(low, 1e-6))
                compared += 1
            if high < 1:
                assert not after(high + min(1 - high, 1e-6))
                compared += 1
    assert compared > 3
    room = [one.room for one in found]
    assert room == sorted(room)
    assert all(np.isfinite(room))


def test_it_prints_and_is_drawn():
    net = pgm.load_network("asia")
    found = net.map_sensitivity({"dysp": "yes"})
    assert len(found) + found.stays == 14  # one of two in each row that is not certain
    assert found.left_out == 8
    assert "stays the most probable explanation" in str(found)
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()
    assert list(found.to_pandas().columns) == ["node", "parameter", "value", "from", "to"]
    assert found[0].log_odds_room > 0
    assert found[:2] == [found[0], found[1]]
    ax = found.plot(count=3)
    assert [text.get_text() for text in ax.get_yticklabels()] == [one.text for one in found[:3]]
    with pytest.raises(pgm.UnknownVariable, match="brong"):
        found.range("brong", "yes")


def test_gates_and_mistakes():
    net = pgm.BayesianNetwork()
    for name in "abc":
        net.add(name, 0.4)
    net.add("d", pgm.NoisyOr({"a": 0.9, "b": 0.8, "c": 0.7}, leak=0.1))
    net.add("e", {True: 0.9, False: 0.3}, parents=["d"])
    found = net.map_sensitivity({"e": True})
    expanded = pgm.BayesianNetwork()
    for name in net:
        table = np.asarray(net.cpd(name).table())
        expanded.add(name, table, parents=net.parents(name), states=[False, True])
    other = expanded.map_sensitivity({"e": True})
    for name, key in (("a", True), ("e", (True, True)), ("e", (False, True))):
        assert found.range(name, key).range == pytest.approx(other.range(name, key).range, abs=1e-9)
    with pytest.raises(pgm.UnknownVariable):
        found.range("d", (True, True, True, True))
    with pytest.raises(pgm.ImpossibleEvidence):
        pgm.load_network("asia").map_sensitivity({"tub": "yes", "either": "no"})
    net.add("x", pgm.LinearGaussian(bias=0.0, sd=1.0))
    with pytest.raises(pgm.InvalidArgument, match="continuous variables"):
        net.map_sensitivity()


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_the_answer(seed):
    """Inside `order` all states keep their order, just outside two of them change places."""
    net = random_net(seed)
    target = next(name for name in reversed(list(net)) if net.variables[name].card == 3)
    found = net.sensitivity(target, ranges=True)
    ranked = np.argsort(-net.query(target).values, kind="stable")
    for curve in itertools.islice(found, 12):
        low, high = curve.order
        assert curve.range[0] <= low <= curve.value <= high <= curve.range[1]

        def ordered(to, curve=curve):
            made = net.copy()
            table = np.array(net.cpd(curve.node).values)
            names = (*net.parents(curve.node), curve.node)
            index = tuple(net.variables[v].code(s) for v, s in zip(names, curve.key, strict=True))
            table[index[:-1]] *= (1 - to) / (1 - curve.value)
            table[index] = to
            made.set(curve.node, table)
            p = made.query(target).values[ranked]
            return bool((np.diff(p) <= 1e-12).all())

        assert ordered(low)
        assert ordered(high)
        if low > 1e-6:
            assert not ordered(low - 1e-6)
        if high < 1 - 1e-6:
            assert not ordered(high + 1e-6)
