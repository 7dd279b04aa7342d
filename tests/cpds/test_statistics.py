"""One protocol for every kind of distribution: statistics add up, `fitted` takes them, parts make it again.

The kinds are those of the registry: a new one fails here until tests/cpds/gates.py says how to make one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.cpds import KINDS
from pgm.cpds import default as default_module
from pgm.cpds import tree as tree_module
from pgm.cpds.statistics import Configurations, RowCounts
from pgm.distributions import LocalDistribution
from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.distributions.parts import Part
from tests.cpds.gates import MAKERS, STATES, bound, distribution, drawn, extreme, mixture

Frame = dict[str, np.ndarray]


def test_every_kind_of_the_registry_is_tried() -> None:
    assert set(MAKERS) == set(KINDS)
    for kind, cpd in KINDS.items():
        assert cpd.kind == kind
        assert isinstance(bound(kind, np.random.default_rng(0)), LocalDistribution)


def same(a: Any, b: Any) -> None:
    """Whether two statistics are those of the same data."""
    assert type(a) is type(b)
    if isinstance(a, RowCounts):
        a, b = a.values, b.values
    elif isinstance(a, GaussianStatistics):
        for field in ("weight", "mean", "scatter"):
            np.testing.assert_allclose(getattr(a, field), getattr(b, field), rtol=1e-10, atol=1e-12)
        return
    elif isinstance(a, Configurations):
        by_row = [dict(zip(map(tuple, s.rows.tolist()), s.weights.tolist(), strict=True)) for s in (a, b)]
        assert by_row[0] == pytest.approx(by_row[1], rel=1e-12)
        return
    np.testing.assert_allclose(a, b, rtol=1e-12)


def likelihood(cpd: pgm.CPD, frame: Frame, weights: np.ndarray) -> float:
    rows = [dict(zip(frame, row, strict=True)) for row in zip(*frame.values(), strict=True)]
    return float(weights @ np.log([cpd.probability(row) for row in rows]))


def split(frame: Frame, at: int) -> tuple[Frame, Frame]:
    return {n: c[:at] for n, c in frame.items()}, {n: c[at:] for n, c in frame.items()}


def hybrid(kind: str, rng: np.random.Generator) -> pgm.CPD:
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    net.add("child", pgm.Logistic({"a": rng.normal(), "x": rng.normal()}, bias=0.2))
    return net.cpd("child")


EVERY = {**{kind: bound for kind in KINDS}, "logistic of a continuous parent": hybrid}
every_kind = pytest.mark.parametrize(("kind", "make"), EVERY.items(), ids=list(EVERY))


@every_kind
def test_statistics_of_parts_add_up_to_those_of_the_whole(kind: str, make: Callable[..., pgm.CPD]) -> None:
    rng = np.random.default_rng(3)
    cpd = make(kind, rng)
    frame, weights = drawn(cpd, rng, 200), rng.random(200) + 0.1
    begin, rest = split(frame, 80)
    whole = cpd.statistics(frame, weights)
    both = cpd.statistics(begin, weights[:80]) + cpd.statistics(rest, weights[80:])
    same(both, whole)
    fitted, again = cpd.fitted(both), cpd.fit(frame, weights)
    assert likelihood(fitted, frame, weights) == pytest.approx(likelihood(again, frame, weights), rel=1e-9)
    assert likelihood(again, frame, weights) >= likelihood(cpd, frame, weights) - 1e-9


@every_kind
def test_a_weight_is_so_many_rows(kind: str, make: Callable[..., pgm.CPD]) -> None:
    rng = np.random.default_rng(4)
    cpd = make(kind, rng)
    frame, times = drawn(cpd, rng, 60), rng.integers(1, 4, size=60)
    often = {name: np.repeat(column, times) for name, column in frame.items()}
    weighed, repeated = cpd.statistics(frame, times.astype(float)), cpd.statistics(often)
    if kind == "logistic of a continuous parent":  # its rows are kept one by one
        np.testing.assert_array_equal(np.repeat(weighed.rows, times, axis=0), repeated.rows)
    else:
        same(weighed, repeated)
    ones = np.ones(60)
    found = [likelihood(cpd.fitted(s), frame, ones) for s in (weighed, repeated)]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


@every_kind
def test_a_prior_is_rows_that_were_never_seen(kind: str, make: Callable[..., pgm.CPD]) -> None:
    rng = np.random.default_rng(5)
    cpd = make(kind, rng)
    seen, unseen = drawn(cpd, rng, 90), drawn(cpd, rng, 60)
    together = {name: np.concatenate([seen[name], unseen[name]]) for name in seen}
    found = cpd.fitted(cpd.statistics(seen), prior=cpd.statistics(unseen))
    ones = np.ones(150)
    assert likelihood(found, together, ones) == pytest.approx(
        likelihood(cpd.fit(together), together, ones), rel=1e-9
    )


@pytest.mark.parametrize("kind", KINDS)
def test_expected_counts_in_the_shape_of_the_table_are_data_too(kind: str) -> None:
    rng = np.random.default_rng(6)
    cpd = bound(kind, rng)
    if cpd.continuous:
        return
    frame = drawn(cpd, rng, 100)
    codes = [[v.code(state) for state in frame[v.name].tolist()] for v in (*cpd.given, cpd.child)]
    counts = np.zeros([v.card for v in (*cpd.given, cpd.child)])
    np.add.at(counts, tuple(codes), 1.0)
    same(cpd.statistics(counts), cpd.statistics(frame))


@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_its_parts_make_it_again(kind: str, make: Callable[..., pgm.CPD], seed: int) -> None:
    rng = np.random.default_rng(seed)
    cpd = make(kind, rng)
    for one in (cpd, cpd.fit(drawn(cpd, rng, 300))):
        again = type(one).from_parts(one.child, one.given, Part.of(one.to_parts()))
        assert type(again) is type(one)
        assert again == one


def test_what_are_no_parts_says_where() -> None:
    cpd = bound("noisy-or", np.random.default_rng(0))
    parts = cpd.to_parts()
    parts["causes"]["a"] = "often"
    with pytest.raises(
        pgm.InvalidTable, match=r"parts\['causes'\]\['a'\]: expected the probability of a cause"
    ):
        pgm.NoisyOr.from_parts(cpd.child, cpd.given, Part.of(parts))


def test_statistics_of_another_distribution_are_refused() -> None:
    rng = np.random.default_rng(0)
    tree, table = bound("tree", rng), bound("table", rng)
    with pytest.raises(pgm.InvalidArgument, match="'child': a TreeCPD is fitted to RowCounts"):
        tree.fitted([1.0])
    with pytest.raises(pgm.InvalidFrame, match=r"expected counts have the shape of the table, \(2, 3, 3\)"):
        tree.fitted(np.ones((2, 3)))
    with pytest.raises(pgm.InvalidArgument, match=r"counts of its own shape, \(2, 3, 3\)"):
        table.fitted(np.ones((2, 2)))
    with pytest.raises(pgm.InvalidArgument, match="belong to two distributions"):
        tree.fitted(RowCounts(np.ones((1, 3))), prior=RowCounts(np.ones((2, 3))))
    with pytest.raises(pgm.InvalidArgument, match="statistics have their own"):
        tree.statistics(RowCounts(np.ones((1, 3))), weights=[1.0])


# --- what is expected of gates, against enumeration of all that is hidden in them ---------------------------


def network(
    rng: np.random.Generator, make: Callable[..., Any], k: int
) -> tuple[pgm.BayesianNetwork, np.ndarray, dict[str, int]]:
    """A distribution of three parents, and the joint distribution of all four from its table."""
    net = pgm.BayesianNetwork()
    parents = {"a": 2, "b": 3, "c": 2}
    joint: np.ndarray = np.ones(())
    for name, card in parents.items():
        p = np.array(distribution(rng, card, 0.0))
        net.add(name, p, states=STATES[card])
        joint = np.multiply.outer(joint, p)
    order = [list(parents)[i] for i in rng.permutation(3)]  # parents in an order that is not the model's
    made, table = make(rng, {name: parents[name] for name in order}, k)
    net.add("x", made, states=STATES[k])
    axes = [order.index(name) for name in parents]
    return net, joint[..., np.newaxis] * table.transpose([*axes, 3]), parents


def given_some(joint: np.ndarray, rng: np.random.Generator) -> tuple[dict[str, Any], np.ndarray]:
    """Evidence on some variables, and P(all | it)."""
    at = np.unravel_index(rng.choice(joint.size, p=joint.ravel() / joint.sum()), joint.shape)
    seen = {axis: int(code) for axis, code in enumerate(at) if rng.random() < 0.4}
    masked = np.zeros_like(joint)
    index = tuple(seen.get(axis, slice(None)) for axis in range(joint.ndim))
    masked[index] = joint[index]
    known = {"abcx"[axis]: STATES[joint.shape[axis]][code] for axis, code in seen.items()}
    return known, masked / masked.sum()


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_expected_effects_of_causes(largest: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.choice([2, 3]))
    net, joint, parents = network(rng, lambda *a: extreme(*a, largest), k)
    known, p = given_some(joint, rng)
    cpd = net.cpd("x")
    effects = [cpd.effects[name] for name in cpd.parents]
    begins = np.cumsum([0, *[len(effect) for effect in effects]])
    wanted = np.zeros((begins[-1] + 1, k))
    pick, place = max if largest else min, [list(parents).index(name) for name in cpd.parents]
    for codes in np.ndindex(p.shape):
        own = [codes[i] for i in place]
        ways = [e for e in itertools.product(range(k), repeat=4) if pick(e) == codes[-1]]
        shares = np.array(
            [np.prod([effects[i][own[i], e[i]] for i in range(3)]) * cpd._leak[e[3]] for e in ways]
        )
        if p[codes] > 0:
            for way, share in zip(ways, p[codes] * shares / shares.sum(), strict=True):
                for i in range(3):
                    wanted[begins[i] + own[i], way[i]] += share
                wanted[-1, way[3]] += share
    np.testing.assert_allclose(net.expected_counts(known)["x"].values, wanted, atol=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_expected_choices_of_a_mixture(seed: int) -> None:
    rng = np.random.default_rng(seed)
    net, joint, parents = network(rng, mixture, 3)
    known, p = given_some(joint, rng)
    cpd = net.cpd("x")
    parts = cpd.to_parts()
    tables = [np.array(parts["tables"][name]) * parts["weights"][name] for name in cpd.parents]
    begins = np.cumsum([0, *[len(table) for table in tables]])
    wanted = np.zeros((begins[-1], 3))
    for codes in np.ndindex(p.shape):
        own = [codes[list(parents).index(name)] for name in cpd.parents]
        shares = np.array([table[i, codes[-1]] for table, i in zip(tables, own, strict=True)])
        if p[codes] > 0:
            for begin, i, share in zip(begins, own, p[codes] * shares / shares.sum(), strict=False):
                wanted[begin + i, codes[-1]] += share
    np.testing.assert_allclose(net.expected_counts(known)["x"].values, wanted, atol=1e-12)


@pytest.mark.parametrize("kind", ["tree", "rows"])
@pytest.mark.parametrize("small", [0, 8])
@pytest.mark.parametrize("seed", range(8))
def test_expected_counts_of_rows_and_leaves(
    kind: str, small: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_module, "_SMALL", small)
    monkeypatch.setattr(default_module, "_SMALL", small)
    rng = np.random.default_rng(seed)
    net, joint, parents = network(rng, MAKERS[kind], 3)
    known, p = given_some(joint, rng)
    cpd, found = net.cpd("x"), net.expected_counts(known)["x"]
    counts = p.transpose([*[list(parents).index(name) for name in cpd.parents], 3])
    wanted = cpd.statistics(counts)
    np.testing.assert_allclose(cpd.statistics(found).values, wanted.values, atol=1e-12)


def test_counts_of_a_gate_of_many_causes_cost_its_links() -> None:
    net = pgm.BayesianNetwork()
    names = [f"c{i}" for i in range(200)]
    for name in names:
        net.add(name, 0.02)
    net.add("x", pgm.NoisyOr(dict.fromkeys(names, 0.7), leak=0.01))
    found = net.expected_counts({"x": True})["x"]
    assert found.values.shape == (401, 2)
    one = 0.02 * 0.7 / (1 - 0.99 * (1 - 0.02 * 0.7) ** 200)  # P(this cause acts | x)
    np.testing.assert_allclose(found.values[1:-1:2, 1], one, rtol=1e-9)
    fitted = net.cpd("x").fitted(found)
    on = found.values[1:-1:2].sum(axis=1)
    np.testing.assert_allclose([*fitted.probabilities.values()], one / on, rtol=1e-9)


@pytest.mark.parametrize("kind", ["noisy-or", "noisy-max", "noisy-min", "mixture", "tree", "table", "rows"])
def test_em_on_rows_with_gaps_never_loses(kind: str) -> None:
    """The M-step is the one of complete data: expected statistics of rows add up, and `fitted` takes them."""
    rng = np.random.default_rng(8)
    start, truth = bound(kind, rng), bound(kind, np.random.default_rng(9))
    net = pgm.BayesianNetwork()
    for v in start.given:
        net.add(v.name, distribution(rng, v.card, 0.0), states=list(v.states))
    rows = drawn(truth, rng, 40)
    net.add("child", start, parents=list(start.parents))
    observed = [
        {name: column[i] for name, column in rows.items() if name == "child" or rng.random() < 0.5}
        for i in range(40)
    ]
    observed = [row for row in observed if net.probability(row) > 0.0]  # a zero of the form stays a zero
    assert len(observed) > 20
    before = sum(net.log_probability(row) for row in observed)
    for _ in range(5):
        cpd = net.cpd("child")
        each = [cpd.statistics(net.expected_counts(row)["child"]) for row in observed]
        total = each[0]
        for more in each[1:]:
            total = total + more
        net.set("child", cpd.fitted(total))
        after = sum(net.log_probability(row) for row in observed)
        assert after >= before - 1e-9
        before = after
