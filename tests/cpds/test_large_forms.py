"""Distributions with hundreds of parents: what is exact there, against closed forms, and what is refused."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pytest

import pgm
from pgm.cpds.count_gate import cells, count
from pgm.factors import Writer
from tests.machine import memory


def inputs(n: int, seed: int = 0) -> tuple[pgm.BayesianNetwork, np.ndarray]:
    p = np.random.default_rng(seed).uniform(0.05, 0.95, n)
    net = pgm.BayesianNetwork()
    for i in range(n):
        net.add(f"b{i}", float(p[i]))
    return net, p


def counts(p: np.ndarray) -> np.ndarray:
    """The distribution of how many are on, one input after the other."""
    found = np.ones(1)
    for q in p.tolist():
        found = np.convolve(found, [1 - q, q])
    return found


@pytest.mark.parametrize("k", [0, 1, 7, 250, 260, 499, 500])
def test_counting_500_inputs(k: int) -> None:
    net, p = inputs(500)
    names = list(net)
    net.add("enough", pgm.AtLeast(k, names))
    net.add("just", pgm.Exactly(k, names))
    number = counts(p)
    assert net.query("enough")[True] == pytest.approx(number[k:].sum(), abs=1e-12)
    assert net.probability({"just": True}) == pytest.approx(number[k], rel=1e-9)
    if 0 < k < 500:
        rest = counts(np.delete(p, 3))
        found = net.query("b3", {"just": True})[True]
        assert found == pytest.approx(p[3] * rest[k - 1] / number[k], rel=1e-9)


def test_a_table_of_more_rows_than_are_worked_out_at_once() -> None:
    net, _ = inputs(17)  # 131,072 rows, of which 65,536 are a part
    net.add("x", pgm.NoisyOr(dict.fromkeys(list(net), 0.5)))
    found = net.cpd("x").table().reshape(-1, 2)[:, 1]
    on = np.array([row.bit_count() for row in range(1 << 17)])
    assert found == pytest.approx(1 - 0.5**on, rel=1e-15)


@pytest.mark.parametrize("n", [2, 3, 10, 41])
def test_the_size_of_a_count_is_told_before_it_is_written(n: int) -> None:
    """A gate that would not fit is refused by what `cells` says: that is what `count` writes."""
    for most in (1, 4, n):
        for parts in (1, 2, 3):
            writer = Writer(n + 1)
            each = [(i, np.arange(2)) for i in range(n)]
            count(writer, each, lambda counts, most=most: np.minimum(counts, most), parts)
            told = cells([1] * n, lambda size, most=most: min(size, most) + 1, parts)
            assert told == sum(table.size for _, table in writer.tables)


def test_parity_of_500_inputs() -> None:
    net, p = inputs(500)
    net.add("odd", pgm.Parity(list(net)))
    assert net.query("odd")[True] == pytest.approx((1 - np.prod(1 - 2 * p)) / 2, abs=1e-13)
    known = {f"b{i}": bool(i % 3) for i in range(499)}
    assert net.query("b499", {**known, "odd": True})[True] in (0.0, 1.0)
    best = net.map({"odd": True})  # the hidden variables are functions, so the best is found exactly
    states = np.array([best[f"b{i}"] for i in range(500)])
    assert states.sum() % 2 == 1
    likely = p > 0.5
    flips = np.flatnonzero(states != likely)
    if likely.sum() % 2 == 1:
        assert flips.size == 0
    else:
        assert flips.tolist() == [int(np.abs(np.log(p / (1 - p))).argmin())]


def test_logistic_counts_what_weighs_the_same() -> None:
    net, p = inputs(300, seed=1)
    net.add("x", pgm.Logistic({f"b{i}": 0.05 for i in range(300)}, bias=-7.0))
    on = np.arange(301)
    sigmoid = 1 / (1 + np.exp(7.0 - 0.05 * on))
    assert net.query("x")[True] == pytest.approx(counts(p) @ sigmoid, abs=1e-12)
    rest = counts(np.delete(p, 3))
    expected = p[3] * (rest @ sigmoid[1:]) / (counts(p) @ sigmoid)
    assert net.query("b3", {"x": True})[True] == pytest.approx(expected, abs=1e-12)
    # weights of opposite sign are one kind, counted from the other side; two kinds; a parent with many states
    net, p = inputs(60, seed=2)
    net.add("s", [0.2, 0.5, 0.3], states=["u", "v", "w"])
    weights: dict[str, object] = {f"b{i}": (0.3, -0.3, 1.1)[i % 3] for i in range(60)}
    net.add("x", pgm.Logistic({**weights, "s": {"v": 2.0, "w": -1.0}}, bias=-9.0))
    a, b, c = (counts(p[i::3]) for i in range(3))
    total = 0.0
    for q, extra in ((0.2, 0.0), (0.5, 2.0), (0.3, -1.0)):
        score = (
            0.3 * np.arange(21)[:, None, None]
            - 0.3 * np.arange(21)[None, :, None]
            + 1.1 * np.arange(21)[None, None, :]
        )
        total += q * np.einsum("a,b,c,abc->", a, b, c, 1 / (1 + np.exp(9.0 - extra - score)))
    assert net.query("x")[True] == pytest.approx(total, abs=1e-12)


def test_what_has_no_small_form_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    net, _ = inputs(200)
    rng = np.random.default_rng(0)
    net.add("x", pgm.Logistic(dict(zip(net, rng.normal(size=200).tolist(), strict=True))))
    row = dict.fromkeys([f"b{i}" for i in range(200)], True)
    assert 0 < net.cpd("x").probability({**row, "x": True}) < 1
    with pytest.raises(pgm.TooLarge, match="'x': a logistic distribution with 200 parents of 200 different"):
        net.query("b0")
    net, _ = inputs(200)
    with pytest.raises(pgm.TooLarge, match=r"'x': .*nothing is known of a function"):
        net.add("x", pgm.Deterministic(lambda *s: sum(s) > 3, parents=list(net)))
    net, _ = inputs(40)
    net.add("x", pgm.Deterministic(lambda b0, b1: b0 and b1))
    monkeypatch.setattr("pgm.cpds.tree._MOST_LEAVES", 100)
    rules = [({f"b{2 * i}": True, f"b{2 * i + 1}": True}, 0.1 * (i % 9)) for i in range(20)]
    with pytest.raises(pgm.TooLarge, match="leaves"):
        net.add("y", pgm.TreeCPD.from_rules([*rules, ({}, 0.5)]))


def test_a_deep_tree_and_a_wide_one() -> None:
    """The first input that is on decides: 60 tests deep; and 63 inputs of which each path asks six."""
    n = 60
    net, p = inputs(n)
    row = np.linspace(0.1, 0.9, n + 1)
    rules = [({f"b{i}": True}, float(row[i])) for i in range(n)]
    net.add("x", pgm.TreeCPD.from_rules([*rules, ({}, float(row[n]))]))
    first = np.append(p, 1) * np.concatenate([[1], np.cumprod(1 - p)])
    assert net.query("x")[True] == pytest.approx(first @ row, abs=1e-12)
    found = net.query("b40", {"x": True, "b3": False})[True]
    q = np.where(np.arange(n) == 3, 0.0, p)
    first = np.append(q, 1) * np.concatenate([[1], np.cumprod(1 - q)])
    on = np.where(np.arange(n) == 40, 1.0, q)
    with_40 = np.append(on, 1) * np.concatenate([[1], np.cumprod(1 - on)])
    assert found == pytest.approx(p[40] * (with_40 @ row) / (first @ row), abs=1e-12)

    def grown(i: int, depth: int, leaf: list[float]) -> object:
        if depth == 0:
            leaf.append((len(leaf) * 37 % 64) / 64)
            return leaf[-1]
        return pgm.TreeCPD(
            f"b{i}", {False: grown(2 * i + 1, depth - 1, leaf), True: grown(2 * i + 2, depth - 1, leaf)}
        )

    net, p = inputs(63, seed=3)
    net.add("x", grown(0, 6, []))
    numbers = iter((i * 37 % 64) / 64 for i in range(64))

    def value(i: int, depth: int) -> float:
        if depth == 0:
            return next(numbers)
        low, high = value(2 * i + 1, depth - 1), value(2 * i + 2, depth - 1)
        return (1 - p[i]) * low + p[i] * high

    assert net.query("x")[True] == pytest.approx(value(0, 6), abs=1e-12)
    assert net.plan("x").width < 20
    # where the top says which side decides, nothing of the other side is in the question
    seen = pgm.Likelihood({True: 0.9, False: 0.3})
    assert net.plan("b2", {"x": seen}).n_left == 64
    assert net.plan("b2", {"x": seen, "b0": True}).n_left == 32
    assert net.plan("b62").n_left == 1
    best = net.map({"x": True})
    assert best.log_joint == pytest.approx(
        np.log(np.where([best[f"b{i}"] for i in range(63)], p, 1 - p)).sum()
        + np.log(net.cpd("x").probability({**dict(best), "x": True})),
        abs=1e-9,
    )


def test_trees_as_deep_as_they_come() -> None:
    n = 3_000
    net = pgm.BayesianNetwork()
    tree: object = 0.001
    for i in reversed(range(n)):
        net.add(f"x{i}", 0.5)
        tree = pgm.TreeCPD(f"x{i}", {True: (i + 1) / (n + 1), False: tree})
    assert isinstance(tree, pgm.TreeCPD)
    assert tree.parents == tuple(f"x{i}" for i in range(n))
    assert pickle.loads(pickle.dumps(tree)) == tree == copy.deepcopy(tree)
    assert copy.copy(tree) == tree != pgm.TreeCPD("x0", {True: 0.5, False: tree._written[1][False]})
    assert len(repr(tree)) < 40_000
    before = memory("VmHWM")
    net.add("y", tree)
    cpd = net.cpd("y")
    assert net.query("y")[True] == pytest.approx(sum(0.5**i * i / (n + 1) for i in range(1, 60)), abs=1e-12)
    off = {f"x{i}": False for i in range(n)}
    assert net.query("y", off)[True] == 0.001
    assert net.query("y", {**off, f"x{n - 1}": True})[True] == n / (n + 1)
    assert cpd.probability({**off, "x7": True, "y": True}) == 8 / (n + 1)
    assert pickle.loads(pickle.dumps(cpd)) == cpd == copy.deepcopy(cpd)
    assert len(repr(cpd)) < 5_000
    file = io.StringIO()
    pgm.write(net, file, format="json")
    file.seek(0)
    assert pgm.read(file, format="json") == net
    rules = [({f"x{i}": True}, (i + 1) / (n + 1)) for i in range(n)]
    same = net.copy()
    same.set("y", pgm.TreeCPD.from_rules([*rules, ({}, 0.001)]))
    assert same.cpd("y") == cpd
    same.set("y", pgm.TreeCPD.from_rules([*rules, ({}, 0.002)]))
    assert same.cpd("y") != cpd
    assert memory("VmHWM") - before < 400e6
    with pytest.raises(pgm.InvalidTable, match=r"x0=False, x1=False, .*x19=False, \.\.\.: .* sum to 1.1"):
        net.add("z", _deep(n, [0.5, 0.6]), states=[False, True])


def _deep(n: int, row: object) -> object:
    for i in reversed(range(n)):
        row = pgm.TreeCPD(f"x{i}", {True: 0.5, False: row})
    return row


def test_a_tree_may_stand_in_many_places() -> None:
    net = pgm.BayesianNetwork()
    below = _deep(4, 0.25)
    for name in "abc":
        net.add(name, 0.5)
    for i in range(40):
        net.add(f"x{i}", 0.5)
    tree = pgm.TreeCPD("a", {True: pgm.TreeCPD("b", {True: below, False: 0.1}), False: below})
    assert tree.parents == ("a", "b", "x0", "x1", "x2", "x3")
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    net.add("y", again)
    known = {"a": True, "b": True, **{f"x{i}": False for i in range(4)}}
    assert net.query("y", known)[True] == net.query("y", {**known, "a": False})[True] == 0.25
    shared: object = 0.5  # 2**40 paths
    for i in range(40):
        shared = pgm.TreeCPD(f"x{i}", {True: shared, False: shared})
    assert pickle.loads(pickle.dumps(shared)) == shared
    with pytest.raises(pgm.TooLarge, match="more than 100,000 leaves"):
        net.add("z", shared)


@pytest.mark.parametrize("seed", range(20))
def test_trees_are_equal_when_their_leaves_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    net = pgm.BayesianNetwork()
    cards = {"a": 2, "b": 3, "c": 4}
    for name, card in cards.items():
        net.add(name, np.full(card, 1 / card), states=range(card))
    contexts = [{n: int(rng.integers(cards[n])) for n in cards if rng.random() < 0.6} for _ in range(4)]
    rules = [(context, float(rng.random())) for context in contexts]
    found = []
    for order in (rules, rules[::-1]):
        made = net.copy()
        made.add("y", pgm.TreeCPD.from_rules([*order, ({}, 0.5)], parents=list(rng.permutation(list(cards)))))
        found.append(made.cpd("y"))
    leaves = [
        {frozenset((n, str(states)) for n, states in context.items()): p[True] for context, p in rules}
        for rules in (cpd.to_dict()["rules"] for cpd in found)
    ]
    assert (found[0] == found[1]) == (leaves[0] == leaves[1])
    assert found[0] == copy.deepcopy(found[0])


def test_a_mixture_of_300_parents() -> None:
    net, p = inputs(300)
    rng = np.random.default_rng(4)
    weights = rng.dirichlet(np.ones(300))
    tables = rng.dirichlet(np.ones(3), size=(300, 2))
    names = list(net)
    made = pgm.MixtureCPD(
        dict(zip(names, tables, strict=True)), dict(zip(names, weights.tolist(), strict=True))
    )
    net.add("x", made, states=["u", "v", "w"])
    each = (1 - p)[:, None] * tables[:, 0] + p[:, None] * tables[:, 1]
    expected = weights @ each
    np.testing.assert_allclose(net.query("x").values, expected, atol=1e-13)
    others = expected[1] - weights[7] * each[7, 1]
    on = p[7] * (others + weights[7] * tables[7, 1, 1])
    assert net.query("b7", {"x": "v"})[True] == pytest.approx(on / expected[1], abs=1e-12)


def test_mistakes_of_counting_trees_mixtures_and_logistic() -> None:
    net = pgm.BayesianNetwork()
    for name in "ab":
        net.add(name, 0.5)
    net.add("s", [0.5, 0.2, 0.3], states=["x", "y", "z"])
    leaf = {True: 0.9, False: 0.1}
    cases = [
        (lambda: pgm.AtLeast(3, ["a", "b"]), "from 0 to 2, the count of parents"),
        (lambda: pgm.AtLeast(True, ["a"]), "whole number"),
        (lambda: pgm.Exactly(1, ["a", "s"]), "'s' has 3"),
        (lambda: pgm.Parity({"a"}), "list of parents"),
        (lambda: pgm.TreeCPD(3, leaf), "name of the parent"),
        (lambda: pgm.TreeCPD("a", {}), "takes a dict"),
        (lambda: pgm.TreeCPD("a", {True: 0.9}), "no branch for a = False"),
        (lambda: pgm.TreeCPD("a", {"maybe": 0.9, ...: 0.5}), "no state 'maybe'"),
        (lambda: pgm.TreeCPD("a", {True: 0.9, pgm.OneOf(True): 0.5, ...: 1.0}), "appears twice"),
        (lambda: pgm.TreeCPD("a", {True: pgm.TreeCPD("a", leaf), ...: 0.5}), "tests 'a' twice"),
        (lambda: pgm.TreeCPD("a", {True: 1.5, False: 0.5}), "row a=True: .*from 0 to 1"),
        (lambda: pgm.TreeCPD("a", {True: pgm.NoisyOr({"b": 0.5}), False: 0.5}), "another pgm.TreeCPD"),
        (lambda: pgm.TreeCPD.from_rules([]), "list of pairs"),
        (lambda: pgm.TreeCPD.from_rules([0.5]), "Rule 0"),
        (lambda: pgm.TreeCPD.from_rules([({"a": True}, 0.5)]), "no rule holds for a=False"),
        (lambda: pgm.TreeCPD.from_rules([({"a": "maybe"}, 0.5)]), "no state 'maybe'"),
        (
            lambda: pgm.TreeCPD.from_rules([({"a": pgm.Likelihood({True: 0.3, False: 0.2})}, 0.5)]),
            "names states",
        ),
        (lambda: pgm.MixtureCPD([]), "dict"),
        (lambda: pgm.MixtureCPD({"a": leaf}, weights={"b": 1.0}), "a weight for each"),
        (lambda: pgm.MixtureCPD({"a": leaf, "b": leaf}, weights={"a": 0.5, "b": 0.4}), "sum to 0.9"),
        (lambda: pgm.MixtureCPD({"a": leaf, "b": leaf}, weights={"a": 1.5, "b": -0.5}), "'a' is from 0 to 1"),
        (lambda: pgm.MixtureCPD({"a": {True: 0.9}}), "missing for a=False"),
        (lambda: pgm.Logistic(["a"]), "dict"),
        (lambda: pgm.Logistic({"a": "x"}), "weight of 'a'"),
        (lambda: pgm.Logistic({"a": float("inf")}), "weight of 'a'"),
        (lambda: pgm.Logistic({"a": np.array([])}), "weight of 'a'"),
        (lambda: pgm.Logistic({"a": 1.0}, bias=None), "bias"),
        (lambda: pgm.Logistic({"s": 1.0}), "give each a weight"),
        (lambda: pgm.Logistic({"s": {"q": 1.0}}), "no state 'q'"),
        (lambda: pgm.Logistic({"a": [1.0, 2.0, 3.0]}), "states=..."),
    ]
    for made, words in cases:
        with pytest.raises(pgm.InvalidTable, match=words):
            net.add("x", made())
    with pytest.raises(pgm.InvalidTable, match="2 weights of 'a' for the 3 states"):
        net.add("x", pgm.Logistic({"a": [1.0, 2.0]}), states=["x", "y", "z"])
    assert "x" not in net


def test_uniform_rows() -> None:
    net = pgm.BayesianNetwork()
    net.add("s", "uniform", states=["x", "y", "z"])
    net.add("t", {"x": {"u": 0.7, "v": 0.3}, ...: "uniform"}, parents=["s"])
    net.add("p", {"x": 0.9, ...: "uniform"}, parents=["s"])
    net.add("w", pgm.TreeCPD("s", {"x": {"u": 1.0, "v": 0.0}, ...: "uniform"}))
    assert net.query("s").values.tolist() == [1 / 3] * 3
    assert net.query("t", {"s": "y"}).values.tolist() == [0.5, 0.5]
    assert net.query("p", {"s": "z"})[True] == 0.5
    assert net.query("w", {"s": "z"}).values.tolist() == [0.5, 0.5]
    with pytest.raises(pgm.InvalidTable, match="states="):
        net.add("q", "uniform")
    with pytest.raises(pgm.InvalidTable, match="states="):
        net.add("q", {...: "uniform"}, parents=["s"])
