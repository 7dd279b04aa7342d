"""Every local distribution, in random networks: the engines against enumeration, and what all forms share."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pgm
from pgm.cpds import default as default_module
from pgm.cpds import logistic as logistic_module
from pgm.cpds import tree as tree_module
from pgm.factors import Gate
from tests.cpds.gates import (
    STATES,
    any_form,
    counting,
    default,
    distribution,
    extreme,
    function,
    logistic,
    mixture,
    noisy,
    tree,
)

FORMS = {
    "noisy-OR": lambda *a: noisy(*a, True),
    "noisy-AND": lambda *a: noisy(*a, False),
    "noisy-MAX": lambda *a: extreme(*a, True),
    "noisy-MIN": lambda *a: extreme(*a, False),
    "logistic": logistic,
    "tree": tree,
    "rows and a default": default,
    "counting": counting,
    "mixture": mixture,
    "function": function,
}
OF_TWO_STATES = ("noisy-OR", "noisy-AND", "counting")


Table = tuple[list[int], np.ndarray]  # the places of parents and child, and P(child | parents)


def network(rng: np.random.Generator, n: int) -> tuple[pgm.BayesianNetwork, np.ndarray, list[Table]]:
    """A random network, its joint distribution with an axis for each node, and the tables it is made of."""
    net = pgm.BayesianNetwork()
    joint: np.ndarray = np.ones(())
    tables = []
    cards: dict[str, int] = {}
    for i in range(n):
        earlier = [name for name in cards if rng.random() < 0.6][-4:]
        earlier = [earlier[j] for j in rng.permutation(len(earlier))]
        k = int(rng.choice([2, 2, 2, 3]))
        made, table = any_form(rng, {name: cards[name] for name in earlier}, k)
        net.add(f"v{i}", made, states=STATES[k])
        axes = [list(cards).index(name) for name in earlier]
        joint = np.einsum(joint, list(range(i)), table, [*axes, i], list(range(i + 1)))
        cards[f"v{i}"] = k
        tables.append(([*axes, i], table))
    return net, joint, tables


def conditioned(joint: np.ndarray, seen: dict[int, int]) -> np.ndarray:
    masked = np.zeros_like(joint)
    index = tuple(seen.get(i, slice(None)) for i in range(joint.ndim))
    masked[index] = joint[index]
    return masked


def marginal(joint: np.ndarray, i: int) -> np.ndarray:
    sums = joint.sum(axis=tuple(a for a in range(joint.ndim) if a != i))
    return sums / sums.sum()


def check_tables(
    net: pgm.BayesianNetwork, tables: list[Table], known: dict[str, object], seen: dict[int, int]
) -> None:
    """Counts and gradients of whatever has a table: the sum of all others' product, entry by entry."""
    names, every = list(net), list(range(len(tables)))
    counts, gradients = net.expected_counts(known), net.gradients(known, zeros=True)
    plain = [name for name in names if isinstance(net.cpd(name), pgm.TableCPD)]
    tabled = [name for name, found in gradients.items() if isinstance(found, np.ndarray)]
    assert set(plain) <= set(tabled) <= counts.keys()
    assert {net.cpd(name).kind for name in names if name not in counts} <= {"logistic"}
    shape = [table.shape[-1] for _, table in tables]
    masked = conditioned(np.ones(shape), seen)
    for name in tabled:  # what gates are expected to have done: see test_statistics.py
        i = names.index(name)
        axes, table = tables[i]
        others = [part for j, (at, values) in enumerate(tables) if j != i for part in (values, at)]
        slopes = np.einsum(masked, every, *others, axes)
        total = float((slopes * table).sum())
        np.testing.assert_allclose(gradients[name], slopes / total, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(counts[name], slopes * table / total, rtol=1e-9, atol=1e-11)


def check_rows(net: pgm.BayesianNetwork, joint: np.ndarray, rng: np.random.Generator) -> None:
    """Rows of a frame with cells missing here and there, each against the joint."""
    names, n = list(net), joint.ndim
    drawn = np.array(
        np.unravel_index(rng.choice(joint.size, 6, p=joint.ravel() / joint.sum()), joint.shape)
    ).T
    gone = rng.random(drawn.shape) < 0.5
    frame = {
        name: [None if g else STATES[joint.shape[i]][c] for c, g in zip(drawn[:, i], gone[:, i], strict=True)]
        for i, name in enumerate(names)
    }
    target = int(rng.integers(n))
    sums, shares = [], []
    for codes, missing in zip(drawn, gone, strict=True):
        masked = conditioned(joint, {i: int(codes[i]) for i in range(n) if not missing[i]})
        sums.append(masked.sum())
        others = {i: int(codes[i]) for i in range(n) if not missing[i] and i != target}
        shares.append(marginal(conditioned(joint, others), target))
    np.testing.assert_allclose(net.log_likelihood(frame), np.log(sums), atol=1e-9)
    np.testing.assert_allclose(net.predict_proba(frame, names[target]), shares, atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 7), apart=st.booleans())
def test_random_networks_of_every_form(seed: int, n: int, apart: bool) -> None:
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        if apart:  # small ones too are written as several tables, long paths with hidden variables
            patch.setattr(tree_module, "_SMALL", int(rng.choice([0, 8])))
            patch.setattr(default_module, "_SMALL", 0)
            patch.setattr(logistic_module, "_SMALL", 0)
        net, joint, tables = network(rng, n)
        names = list(net)
        drawn = np.unravel_index(rng.choice(joint.size, p=joint.ravel() / joint.sum()), joint.shape)
        seen = {i: int(drawn[i]) for i in range(n) if rng.random() < 0.4}
        known = {names[i]: STATES[joint.shape[i]][code] for i, code in seen.items()}
        masked = conditioned(joint, seen)
        assert net.probability(known) == pytest.approx(masked.sum(), rel=1e-10)
        for engine in ("exact", "search", "conditioned", "elimination"):
            found = net.marginals(known, engine=engine)
            for i in range(n):
                if i not in seen:
                    np.testing.assert_allclose(found[names[i]].values, marginal(masked, i), atol=1e-11)
        some = [name for i, name in enumerate(names) if i not in seen and rng.random() < 0.5]
        found = net.marginals(known, targets=some) if some else {}
        assert list(found) == some
        for name in some:
            np.testing.assert_allclose(found[name].values, marginal(masked, names.index(name)), atol=1e-11)
        best = net.map(known)
        codes = tuple(
            seen[i] if i in seen else STATES[joint.shape[i]].index(best[name]) for i, name in enumerate(names)
        )
        assert joint[codes] == pytest.approx(masked.max(), rel=1e-9)
        assert best.log_joint == pytest.approx(np.log(masked.max()), abs=1e-9)
        several = net.k_best(known, k=3)
        ranked = np.sort(masked[masked > 0])[::-1][:3]
        np.testing.assert_allclose([one.log_joint for one in several], np.log(ranked), atol=1e-9)
        check_rows(net, joint, rng)
        check_tables(net, tables, known, seen)
        undirected = net.to_markov_network()
        assert undirected == net.to_markov_network()
        for potential, name in zip(undirected.potentials, names, strict=True):
            np.testing.assert_allclose(potential.values, net.cpd(name).values, atol=1e-14)


@pytest.mark.parametrize(
    ("gate", "table"),
    [
        (pgm.AtLeast(1, ["b", "a"]), [[[1, 0], [0, 1]], [[0, 1], [0, 1]]]),
        (pgm.Exactly(1, ["b", "a"]), [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]),
        (pgm.Parity(["b", "a"]), [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]),
    ],
    ids=lambda one: type(one).__name__,
)
def test_tables_of_small_gates_have_their_parents_in_the_order_given(gate: pgm.Parity, table: object) -> None:
    """By hand: P(a) = .1, P(b) = .4, and the parents are b, a."""
    net = pgm.BayesianNetwork()
    net.add("a", 0.1)
    net.add("b", 0.4)
    net.add("g", gate)
    weights = np.outer([0.6, 0.4], [0.9, 0.1])[:, :, np.newaxis] * np.ones(2)
    np.testing.assert_allclose(net.expected_counts()["g"], weights * table, atol=1e-15)
    np.testing.assert_allclose(net.gradients(zeros=True)["g"], weights, atol=1e-15)


def test_a_large_tree_of_one_leaf_has_no_table_of_its_parents() -> None:
    net = pgm.BayesianNetwork()
    names = [f"x{i}" for i in range(12)]  # 2 ** 13 numbers, were they written out
    for name in names:
        net.add(name, 0.25)
    net.add("t", pgm.TreeCPD.from_rules([({}, 0.3)], parents=names))
    counts = net.expected_counts({"t": True})
    slopes = net.gradients({"t": True})
    assert (list(counts), list(slopes)) == ([*names, "t"], [*names, "t"])
    assert not isinstance(slopes["t"], np.ndarray)  # in the tree's own numbers
    assert counts["x3"] == pytest.approx([0.75, 0.25])
    assert counts["t"].values == pytest.approx(np.array([[0.0, 1.0]]))
    assert net.gradients({"t": True})["x3"] == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("form", FORMS)
def test_what_all_forms_share(form: str) -> None:
    rng = np.random.default_rng(7)
    for trial in range(5):
        two = form in OF_TWO_STATES
        parents = {f"p{i}": 2 for i in range(3)} if two else {"a": 2, "b": 3, "c": 4, "d": 2}
        k = 2 if two else 3
        made, table = FORMS[form](rng, parents, k)
        assert pickle.loads(pickle.dumps(made)) == made == copy.deepcopy(made), trial
        assert len(repr(made)) < 700
        net = pgm.BayesianNetwork()
        for name, card in parents.items():
            net.add(name, distribution(rng, card, 0.0), states=STATES[card])
        net.add("x", made, states=STATES[k])
        cpd = net.cpd("x")
        np.testing.assert_allclose(cpd.values, table, atol=1e-14)
        assert not cpd.values.flags.writeable
        # value and name
        assert pickle.loads(pickle.dumps(cpd)) == cpd
        assert cpd != net.cpd("p0" if two else "a")
        renamed = net.rename({"x": "y", next(iter(parents)): "z"})
        np.testing.assert_array_equal(renamed.cpd("y").values, cpd.values)
        assert renamed.cpd("y").parents == ("z", *list(parents)[1:])
        assert renamed.rename({"y": "x", "z": next(iter(parents))}) == net
        # in print
        assert str(cpd).startswith("P(x | ")
        assert "<table" in cpd._repr_html_()
        assert str(cpd) == str(cpd)
        cpd.to_dict()
        assert cpd.n_parameters >= 0
        # probability of a row, and draws
        codes = np.array([rng.integers(c) for c in table.shape])
        row = {
            n: v.states[c] for n, v, c in zip([*parents, "x"], [*cpd.given, cpd.child], codes, strict=True)
        }
        assert cpd.probability(row) == pytest.approx(table[tuple(codes)], abs=1e-14)
        state = row.pop("x")
        count = (cpd.sample(row, n=20_000, seed=1) == state).sum()
        p = table[tuple(codes)]
        assert abs(count - 20_000 * p) <= 5 * np.sqrt(20_000 * p * (1 - p)) + 1e-9
        rows = {name: [value, value] for name, value in row.items()}
        assert len(cpd.sample(rows, seed=3)) == 2
        # what it is like is fitted to it, and to rows with weights as to counts
        counts = np.round(1000 * table)
        fitted = cpd.fit(counts)
        assert type(fitted) is type(cpd)
        seen = np.argwhere(counts > 0)
        variables = (*cpd.given, cpd.child)
        frame = {v.name: [v.states[c] for c in seen[:, i]] for i, v in enumerate(variables)}
        assert cpd.fit(frame, weights=counts[counts > 0]) == fitted
        np.testing.assert_allclose(fitted.values, table, atol=0.02)


def test_pruning_and_forward_sampling_of_trees_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves go together when nothing asks for their child, which is then drawn from their product."""
    monkeypatch.setattr(tree_module, "_SMALL", 8)
    rng = np.random.default_rng(0)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        made, table = tree(rng, {"a": 2, "b": 3, "c": 2}, 3)
        net = pgm.BayesianNetwork()
        for name, card in {"a": 2, "b": 3, "c": 2}.items():
            net.add(name, distribution(rng, card, 0.0), states=STATES[card])
        net.add("x", made, states=STATES[3])
        net.add("y", {"low": 0.2, ...: 0.7}, parents=["x"])
        gate = net.factors()[3]
        if not isinstance(gate, Gate):
            continue
        assert net.plan("a", {"b": "low"}).n_left == 1
        drawn = net.sample(40_000, seed=1)
        joint = np.einsum("a,b,c,abcx->abcx", *(net.cpd(n).values for n in "abc"), table)
        counts = np.zeros(joint.shape)
        columns = [
            [STATES[c].index(s) for s in drawn[n].tolist()] for n, c in zip("abcx", joint.shape, strict=True)
        ]
        np.add.at(counts, tuple(columns), 1)
        error = np.abs(counts - 40_000 * joint)
        assert (error <= 5.5 * np.sqrt(40_000 * joint * (1 - joint)) + 1e-9).all()


def test_bad_rows_and_data() -> None:
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("x", pgm.NoisyOr({"a": 0.5}, leak=0.1))
    cpd = net.cpd("x")
    with pytest.raises(pgm.InvalidEvidence, match="no state for 'x'"):
        cpd.probability({"a": True})
    with pytest.raises(pgm.UnknownVariable, match="'b'"):
        cpd.probability({"a": True, "b": True, "x": True})
    with pytest.raises(pgm.UnknownState, match="'maybe'"):
        cpd.probability({"a": "maybe", "x": True})
    with pytest.raises(pgm.InvalidFrame, match="no column 'a'"):
        cpd.fit({"x": [True]})
    with pytest.raises(pgm.UnknownState, match=r"Row 1 .*Leave such rows out\."):
        cpd.fit({"x": [True, True], "a": [True, "maybe"]})
    with pytest.raises(pgm.InvalidFrame, match="Row 1"):
        cpd.fit({"x": [True, True], "a": [True, None]})
    with pytest.raises(pgm.InvalidFrame, match="no rows"):
        cpd.fit({"x": [], "a": []})
    with pytest.raises(pgm.InvalidArgument, match="weight at 1"):
        cpd.fit({"x": [True, True], "a": [True, True]}, weights=[1, -1])
    with pytest.raises(pgm.InvalidArgument, match="one weight"):
        cpd.fit({"x": [True, True], "a": [True, True]}, weights=[1])
    with pytest.raises(pgm.InvalidFrame, match="every weight is 0"):
        cpd.fit({"x": [True], "a": [True]}, weights=[0])
    with pytest.raises(pgm.InvalidFrame, match="shape of the table"):
        cpd.fit(np.ones((2, 3)))
    with pytest.raises(pgm.InvalidArgument, match="count at 0"):
        cpd.fit(np.full((2, 2), np.nan))
    with pytest.raises(pgm.InvalidArgument, match="n is a whole number"):
        cpd.sample({"a": True}, n=-1)
    with pytest.raises(pgm.InvalidArgument, match="seed"):
        cpd.sample({"a": True}, n=1, seed=-1)
