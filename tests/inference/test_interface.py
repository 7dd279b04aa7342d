"""Messages of dynamic networks against the sum over all courses, and doubles against logarithms."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pgm
from pgm.inference.engines import interface as engine
from pgm.inference.engines.interface import passes
from pgm.runtime.running import Narrow
from tests.models.random_dynamic import network, observed


def likelihood(value, state):
    """How likely this is observed in this state."""
    if value is None:
        return 1.0
    if isinstance(value, pgm.Likelihood):
        return dict(value.items)[state]
    if isinstance(value, pgm.OneOf):
        return float(state in value.states)
    if isinstance(value, pgm.Not):
        return float(state not in value.states)
    return float(state == value)


def courses(dbn, data, steps):
    """All courses with P(course, observations), by the tables alone."""
    each = [v.states for v in dbn.variables.values()]
    names = dbn.nodes
    for flat in itertools.product(*(each * steps)):
        course = [dict(zip(names, flat[t * len(names) :], strict=False)) for t in range(steps)]
        if any(row[n] != course[0][n] for row in course for n in names if dbn._nodes[n].static):
            continue
        p = 1.0
        for t, row in enumerate(course):
            for name in names:
                if dbn._nodes[name].static and t:
                    continue
                cpd = dbn.cpd(name, step=t)
                seen = {name: row[name]}
                for parent in cpd.parents:
                    other, _, back = parent.partition("[-")
                    seen[parent] = course[t - int(back[:-1])][other] if back else row[other]
                p *= cpd.probability(seen) * likelihood(data.get(name, [None] * steps)[t], row[name])
                if p == 0.0:
                    break
        yield course, p


def small(seed):
    rng = np.random.default_rng(seed)
    while True:
        dbn = network(rng, zeros=seed % 2 == 0)
        steps = int(rng.integers(1, 4))
        cells = math.prod(v.card for v in dbn.variables.values()) ** steps
        if cells <= 2_000:
            return dbn, observed(rng, dbn, steps), steps


@pytest.mark.parametrize("seed", range(12))
def test_smoothing_and_maxima_are_those_of_all_courses(seed):
    dbn, data, steps = small(seed)
    every = list(courses(dbn, data, steps))
    total = math.fsum(p for _, p in every)
    smoothed = dbn.smooth(data, targets=dbn.nodes)
    assert smoothed.log_likelihood == pytest.approx(math.log(total), abs=1e-10)
    for t in range(steps):
        for name, variable in dbn.variables.items():
            for state in variable.states:
                share = math.fsum(p for course, p in every if course[t][name] == state) / total
                assert smoothed[t][name][state] == pytest.approx(share, abs=1e-10)
    best = dbn.map(data)
    most = max(p for _, p in every)
    assert best.log_joint == pytest.approx(math.log(most), abs=1e-10)
    assert [p for course, p in every if course == [best[t] for t in range(steps)]] == [pytest.approx(most)]


def both(dbn, data, ask):
    """The same in doubles and in logarithms."""
    found, wanted = dbn._read(data, None, None, dbn.nodes)
    return [
        ask(engine.Course(dbn._layout(), found.rows, passes_clock(), logs), wanted) for logs in (False, True)
    ]


def passes_clock():
    from pgm.runtime.clock import start_clock

    return start_clock()


@pytest.mark.parametrize("seed", range(20, 30))
def test_logarithms_give_the_same(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    dbn = network(rng)
    data = observed(rng, dbn, 40)
    asked = [
        lambda: dbn.filter(data, targets=dbn.nodes),
        lambda: dbn.smooth(data, targets=dbn.nodes),
        lambda: dbn.smooth(data, targets=dbn.nodes, lag=2),
        lambda: dbn.smooth(data, targets=dbn.nodes, sparing=True),
    ]
    plain = [ask() for ask in asked]

    def narrow(*args, **options):
        raise Narrow

    forward = passes.Course.forward
    monkeypatch.setattr(
        passes.Course, "forward", lambda c, *a, **o: forward(c, *a, **o) if c.logs else narrow()
    )
    for before, ask in zip(plain, asked, strict=True):
        again = ask()
        np.testing.assert_allclose(again.values, before.values, rtol=0, atol=1e-11)
        np.testing.assert_allclose(again.step_scores, before.step_scores, rtol=0, atol=1e-10)


def test_what_is_nearly_impossible_is_not_lost():
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("x", {"a": [1.0, 0.0], "b": [0.0, 1.0]}, parents=["x[-1]"], states=["a", "b"], initial=[0.5, 0.5])
    dbn.add("y", {"a": [1.0, 0.0], "b": [1.0 - 1e-6, 1e-6]}, parents=["x"], states=["no", "yes"])
    y = ["no"] * 10 + [pgm.Likelihood({"no": 1.0, "yes": 1e-9})] * 300 + ["yes"]
    weak = pgm.DynamicBayesianNetwork()
    weak.add(
        "x", {"a": [1.0, 0.0], "b": [0.0, 1.0]}, parents=["x[-1]"], states=["a", "b"], initial=[0.5, 0.5]
    )
    weak.add("y", {"a": [1.0, 0.0], "b": [1e-6, 1.0 - 1e-6]}, parents=["x"], states=["no", "yes"])
    for model, data in ((dbn, y), (weak, ["no"] * 400 + ["yes"])):
        last = model.filter({"y": data})
        assert last.marginal("x")[-1]["b"] == 1.0
        assert model.smooth({"y": data}).marginal("x")[0]["b"] == pytest.approx(1.0, abs=1e-12)
    assert weak.score({"y": ["no"] * 400 + ["yes"]}) == pytest.approx(
        math.log(0.5) + 400 * math.log(1e-6) + math.log1p(-1e-6), rel=1e-12
    )


def test_blocks_make_no_difference(monkeypatch):
    rng = np.random.default_rng(5)
    dbn = network(rng)
    data = [observed(rng, dbn, n) for n in (7, 1, 30, 12)]
    columns = sorted({name for one in data for name in one})
    data = [{name: one.get(name, [None] * len(next(iter(one.values())))) for name in columns} for one in data]
    asked = [
        lambda: dbn.filter(data, targets=dbn.nodes).values,
        lambda: dbn.smooth(data, targets=dbn.nodes).values,
        lambda: dbn.smooth(data, targets=dbn.nodes, lag=3).values,
        lambda: dbn.smooth(data, targets=dbn.nodes, sparing=True).values,
        lambda: np.concatenate([one.codes for one in dbn.map(data)]),
        lambda: dbn.score(data, by="sequence"),
    ]
    whole = [ask() for ask in asked]
    monkeypatch.setattr(passes, "_ROWS", 4)
    monkeypatch.setattr(passes, "_FLOATS", 64)
    monkeypatch.setattr(passes.Course, "blocks", cut(passes.Course.blocks))
    for before, ask in zip(whole, asked, strict=True):
        np.testing.assert_allclose(ask(), before, rtol=0, atol=1e-12)


def cut(blocks):
    return lambda self, most=4: blocks(self, min(most, 4))
