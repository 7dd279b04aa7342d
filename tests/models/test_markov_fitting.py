"""Markov networks learn from data: shares of tables, closed forms on trees, Ising models."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.errors import InvalidArgument, InvalidFrame


def chain(n: int) -> pgm.MarkovNetwork:
    mrf = pgm.MarkovNetwork()
    for i in range(n):
        mrf.add_variable(f"x{i}", states=[0, 1, 2][: 2 + i % 2])
    for i in range(n - 1):
        shape = [mrf.variables[f"x{i + d}"].card for d in (0, 1)]
        mrf.add_factor([f"x{i}", f"x{i + 1}"], np.ones(shape))
    return mrf


def rows(mrf: pgm.MarkovNetwork, n: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.integers(v.card, size=n) for name, v in mrf.variables.items()}


def test_pairs_of_a_tree_have_the_shares_of_the_rows() -> None:
    mrf = chain(4)
    data = rows(mrf, 60, 0)
    weights = np.random.default_rng(1).random(60)
    mrf.fit(data, weights=weights)
    assert mrf.fit_report is not None
    assert mrf.fit_report.converged
    log = 0.0
    pairs = []
    for i in range(3):
        a, b = f"x{i}", f"x{i + 1}"
        shape = (mrf.variables[a].card, mrf.variables[b].card)
        counts = np.zeros(shape)
        np.add.at(counts, (data[a], data[b]), weights)
        np.testing.assert_allclose(mrf.query([a, b]).values, counts / counts.sum(), atol=2e-6)
        pairs.append(counts)
    for i, counts in enumerate(pairs):  # the closed form of a tree
        log += float((counts * np.log(counts / counts.sum())).sum())
        if i:
            single = counts.sum(axis=1)
            log -= float((single * np.log(single / single.sum())).sum())
    assert mrf.fit_report.log_likelihood == pytest.approx(log, rel=1e-8)
    assert float(weights @ mrf.log_likelihood(data)) == pytest.approx(log, rel=1e-8)


def by_hand(tables: dict[tuple[str, ...], np.ndarray], names: list[str], data: dict[str, Any]) -> float:
    total, seen = 0.0, 0.0
    weight = {}
    for at in itertools.product((0, 1), repeat=len(names)):
        state = dict(zip(names, at, strict=True))
        weight[at] = float(np.prod([t[tuple(state[v] for v in scope)] for scope, t in tables.items()]))
        total += weight[at]
    for i in range(len(next(iter(data.values())))):
        known = {n: c[i] for n, c in data.items() if c[i] is not None}
        some = sum(w for at, w in weight.items() if all(at[names.index(n)] == s for n, s in known.items()))
        seen += np.log(some / total)
    return seen


@pytest.mark.parametrize("gaps", [False, True])
def test_no_numbers_near_are_better(gaps: bool) -> None:
    """On a loop, by enumeration; with gaps what is missing is summed out."""
    names = list("abc")
    mrf = pgm.MarkovNetwork()
    for name in names:
        mrf.add_variable(name, states=[0, 1])
    scopes = [("a", "b"), ("b", "c"), ("c", "a")]
    for scope in scopes:
        mrf.add_factor(list(scope), [[1.2, 1.0], [0.9, 1.0]])
    rng = np.random.default_rng(3)
    data: dict[str, Any] = {n: (rng.random(80) < 0.4).astype(int) for n in names}
    data["b"] = np.where(rng.random(80) < 0.8, data["a"], data["b"])
    if gaps:
        data = {n: np.where(rng.random(80) < 0.2, None, c.astype(object)) for n, c in data.items()}
    mrf.fit(data)
    tables = {s: np.array(mrf.potentials[i].values) for i, s in enumerate(scopes)}
    best = by_hand(tables, names, data)
    assert mrf.fit_report.log_likelihood == pytest.approx(best, rel=1e-9)
    for scope in scopes:
        for at in itertools.product((0, 1), repeat=2):
            for factor in (1.05, 1 / 1.05):
                other = {s: t.copy() for s, t in tables.items()}
                other[scope][at] *= factor
                assert by_hand(other, names, data) <= best + 1e-7


def test_tied_fixed_and_log_linear_factors_and_priors() -> None:
    mrf = chain(3)
    mrf = pgm.MarkovNetwork()
    for i in range(4):
        mrf.add_variable(f"x{i}", states=[0, 1])
    for i in range(3):
        mrf.add_factor([f"x{i}", f"x{i + 1}"], np.ones((2, 2)))
    mrf.add_factor("x0", [1.0, 2.0])
    data = rows(mrf, 200, 5)
    data["x1"] = np.where(np.random.default_rng(0).random(200) < 0.7, data["x0"], data["x1"])
    shared = mrf.copy().fit(data, tied=[[0, 1, 2]], fixed=[3])
    values = [np.array(shared.potentials[i].values) for i in range(4)]
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_array_equal(values[0], values[2])
    np.testing.assert_array_equal(values[3], [1.0, 2.0])
    counts = sum(shared.expected_counts(data)[i] for i in range(3))
    model = sum(shared.expected_counts()[i] for i in range(3))
    np.testing.assert_allclose(200 * model, counts, atol=2e-3)
    agree = np.array([np.eye(2)])
    ising = mrf.copy().fit(data, features={0: agree, 1: agree, 2: agree}, fixed=[3])
    w = np.log(np.array(ising.potentials[0].values))
    assert w[0, 0] == pytest.approx(w[1, 1])
    assert w[0, 1] == pytest.approx(0.0)
    same = (data["x0"] == data["x1"]).mean()
    joint = ising.query(["x0", "x1"]).values
    assert joint[0, 0] + joint[1, 1] == pytest.approx(same, abs=1e-5)
    weak = mrf.copy().fit(
        data, features={0: agree, 1: agree, 2: agree}, fixed=[3], prior=pgm.priors.Normal(0, sd=0.05)
    )
    shrunk = np.log(np.array(weak.potentials[0].values))[0, 0]
    assert 0 < shrunk < w[0, 0]
    seen = 200 * same - 200 * (weak.query(["x0", "x1"]).values * np.eye(2)).sum()
    assert seen == pytest.approx(shrunk / 0.05**2, abs=0.02)


def test_pseudo_likelihood_is_the_product_of_conditionals() -> None:
    mrf = chain(3)
    mrf.add_factor("x0", [1.0, 1.0])
    data = rows(mrf, 120, 7)
    mrf.fit(data, method="pseudo-likelihood", prior=pgm.priors.Normal(0, sd=1.0))

    def value(model: pgm.MarkovNetwork) -> float:
        total, order = 0.0, list(model.variables)
        joint = model.query(order).values
        for i in range(120):
            at = tuple(int(data[n][i]) for n in order)
            for axis in range(len(order)):
                row = joint[(*at[:axis], slice(None), *at[axis + 1 :])]
                total += float(np.log(joint[at] / row.sum()))
        for potential in model.potentials:
            total -= 0.5 * float((np.log(np.array(potential.values)) ** 2).sum())
        return total

    best = value(mrf)
    for i in range(mrf.n_factors):
        table = np.array(mrf.potentials[i].values)
        for at in np.ndindex(table.shape):
            for factor in (1.05, 1 / 1.05):
                other, new = pgm.MarkovNetwork(), table.copy()
                new[at] *= factor
                for name, v in mrf.variables.items():
                    other.add_variable(name, states=v.states)
                for k in range(mrf.n_factors):
                    potential = mrf.potentials[k]
                    other.add_factor(list(potential.names), new if k == i else np.array(potential.values))
                assert value(other) <= best + 1e-5


def test_a_grid_shares_its_coupling() -> None:
    """The pairs of an image are one table: Besag's estimate finds the coupling that made it."""
    rng = np.random.default_rng(0)
    true = 0.6
    image = rng.integers(2, size=(24, 24))
    for _ in range(60):  # Gibbs
        for parity in (0, 1):
            around = sum(
                np.pad(np.where(image == 1, 1, -1), 1)[a : a + 24, b : b + 24]
                for a, b in ((0, 1), (2, 1), (1, 0), (1, 2))
            )
            p = 1 / (1 + np.exp(-true * around))
            mask = np.add.outer(np.arange(24), np.arange(24)) % 2 == parity
            image = np.where(mask, rng.random((24, 24)) < p, image)
    grid = pgm.MarkovNetwork.grid(
        np.full((24, 24), None), states=[0, 1], coupling=0.0, unary=[[0.5, 0.5], [0.5, 0.5]]
    )
    agree = np.array([np.eye(2)])
    data = {name: [int(image[i // 24, i % 24])] for i, name in enumerate(grid.variables)}
    grid.fit(data, features={0: agree}, method="pseudo-likelihood")
    found = np.array(grid.potentials[0].values)  # of a grid they are logarithms
    assert found[0, 0] - found[0, 1] == pytest.approx(true, abs=0.15)


def test_unseen_entries_are_zero_and_named_and_mistakes_are_answered() -> None:
    mrf = pgm.MarkovNetwork()
    for name in "ab":
        mrf.add_variable(name, states=["x", "y"])
    mrf.add_factor(["a", "b"], np.ones((2, 2)))
    data = {"a": ["x", "x", "y"], "b": ["x", "y", "y"]}
    mrf.fit(data)
    assert mrf.query(["a", "b"])["y", "x"] == 0.0
    assert mrf.fit_report.unseen == (("factor 0", {"a": "y", "b": "x"}),)
    with pytest.raises(InvalidFrame, match="No column"):
        mrf.fit({"c": [1]})
    with pytest.raises(InvalidFrame, match="Pseudo-likelihood needs every variable"):
        mrf.fit({"a": ["x"]}, method="pseudo-likelihood")
    for options, words in (
        ({"method": "em"}, "method="),
        ({"prior": "bdeu"}, "prior="),
        ({"fixed": [3]}, "fixed="),
        ({"fixed": [0]}, "nothing to learn"),
        ({"features": {0: np.ones((2, 3))}}, "features="),
        ({"weights": [1, 1]}, "weights="),
        ({"max_iter": 0}, "max_iter="),
    ):
        before = mrf.copy()
        with pytest.raises(InvalidArgument, match=words):
            mrf.fit(data, **options)  # type: ignore[arg-type]
        assert mrf == before


def test_tables_of_a_bayesian_network_are_no_longer_conditional_once_learned() -> None:
    """On a tree the best Markov network is the best Bayesian network, with gaps and without."""
    net = pgm.BayesianNetwork()
    net.add("a", {"u": 0.3, "v": 0.7})
    net.add("b", {"u": {0: 0.2, 1: 0.3, 2: 0.5}, "v": {0: 0.6, 1: 0.2, 2: 0.2}}, parents=["a"])
    net.add("c", {0: 0.1, 1: 0.5, 2: 0.9}, parents=["b"])
    data = net.sample(300, seed=0)
    frame: dict[str, Any] = {name: np.array(data[name], object) for name in net.nodes}
    rng = np.random.default_rng(1)
    for gaps in (False, True):
        if gaps:
            frame = {name: np.where(rng.random(300) < 0.3, None, x) for name, x in frame.items()}
        best = net.copy().fit(frame, **({"tol": 1e-12, "max_iter": 1000} if gaps else {}))
        mrf = net.to_markov_network().fit(frame)
        assert mrf.fit_report.converged
        assert mrf.fit_report.log_likelihood == pytest.approx(best.fit_report.log_likelihood, rel=1e-7)
        assert mrf.log_likelihood(frame).sum() == pytest.approx(mrf.fit_report.log_likelihood, rel=1e-9)
        np.testing.assert_allclose(mrf.query(["a", "c"]).values, best.query(["a", "c"]).values, atol=1e-4)
        assert mrf.fit_report.n_parameters == best.fit_report.n_parameters == 8
        some = mrf.sample(20_000, seed=0)
        assert np.mean(some["c"]) == pytest.approx(best.query("c")[True], abs=0.015)


def test_reports_count_steps_and_say_what_stopped_them() -> None:
    mrf = chain(3)
    data = rows(mrf, 60, 0)
    few = mrf.copy().fit(data, max_iter=2).fit_report
    assert (few.iterations, few.stopped_by, few.converged) == (2, "max_iter", False)
    assert few.to_pandas()["log_likelihood"].tolist() == list(few.log_likelihoods)
    with pytest.raises(InvalidArgument, match="max_iter="):
        mrf.fit(data, max_iter=0)
    # A loop of three pairs: 3 of single states, 3 of pairs.
    loop = pgm.MarkovNetwork()
    for name in "abc":
        loop.add_variable(name, states=[0, 1])
    for scope in ("ab", "bc", "ca"):
        loop.add_factor(list(scope), np.ones((2, 2)))
    full = {name: [i >> k & 1 for i in range(8)] for k, name in enumerate("abc")}
    assert loop.fit(full).fit_report.n_parameters == 6
