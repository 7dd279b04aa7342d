"""Expected counts over the rows of a frame, beside sums over the whole joint table, and single questions."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.errors import ImpossibleEvidence, InvalidArgument


def random_net(rng: np.random.Generator, n: int) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    for i in range(n):
        parents = [f"v{j}" for j in rng.permutation(i)[: rng.integers(0, min(i, 3) + 1)]]
        shape = [*(net.variables[p].card for p in parents), int(rng.integers(1, 4))]
        table = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
        if rng.random() < 0.4:  # some zeros
            table = table * (rng.random(table.shape) < 0.7)
            table = table + (table.sum(-1, keepdims=True) == 0) * np.eye(shape[-1])[0]
            table /= table.sum(-1, keepdims=True)
        net.add(f"v{i}", table, parents=parents, states=[f"s{x}" for x in range(shape[-1])])
    return net


def whole_joint(net: pgm.BayesianNetwork) -> np.ndarray:
    names = list(net.variables)
    joint = np.ones([v.card for v in net.variables.values()])
    for name in names:
        axes = [names.index(v) for v in (*net.parents(name), name)]
        order = np.argsort(axes)
        shape = [net.variables[v].card if i in axes else 1 for i, v in enumerate(names)]
        joint = joint * net.cpd(name).values.transpose(order).reshape(shape)
    return joint


def by_hand(net: pgm.BayesianNetwork, frame: dict[str, Any], weights: np.ndarray) -> dict[str, np.ndarray]:
    names, joint = list(net.variables), whole_joint(net)
    total = np.zeros_like(joint)
    for row, weight in enumerate(weights):
        at: list[Any] = [slice(None)] * len(names)
        for name, column in frame.items():
            if column[row] is not None:
                at[names.index(name)] = [net.variables[name].code(column[row])]
        grid = np.ix_(*[np.arange(s)[a] for s, a in zip(joint.shape, at, strict=True)])
        if weight:
            total[grid] += weight * joint[grid] / joint[grid].sum()
    found = {}
    for name in names:
        axes = [names.index(v) for v in (*net.parents(name), name)]
        family = total.sum(axis=tuple(i for i in range(len(names)) if i not in axes))
        found[name] = family.transpose(np.argsort(np.argsort(axes)))
    return found


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("few", [False, True], ids=["every row has its own gaps", "few patterns"])
def test_counts_of_a_frame_are_sums_over_the_joint(seed: int, few: bool) -> None:
    rng = np.random.default_rng(seed)
    net = random_net(rng, int(rng.integers(1, 7)))
    m = 200 if few else 40
    gap = float(rng.choice([0.0, 0.2, 0.5, 1.0]))
    drawn = {
        n: c.astype(object)
        for n, c in dict(net.sample(m, seed=seed)).items()
        if n == "v0" or rng.random() < 0.8
    }
    which, gone = rng.integers(3, size=m), rng.random((3, len(drawn))) < gap
    frame = {}
    for i, (name, column) in enumerate(drawn.items()):
        frame[name] = np.where(gone[which, i] if few else rng.random(m) < gap, None, column)
    weights = rng.integers(0, 3, size=m) * rng.random(m)
    found, wanted = net.expected_counts(frame, weights=weights), by_hand(net, frame, weights)
    for name in wanted:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-9, atol=1e-11)
    plain = net.expected_counts(frame)
    wanted = by_hand(net, frame, np.ones(m))
    for name in wanted:
        np.testing.assert_allclose(plain[name], wanted[name], rtol=1e-9, atol=1e-11)


def summed(model: Any, frame: dict[str, Any]) -> dict[Any, Any]:
    """The sum of single questions."""
    found: dict[Any, Any] = {}
    for row in range(len(next(iter(frame.values())))):
        given = {name: column[row] for name, column in frame.items() if column[row] is not None}
        for name, one in model.expected_counts(given).items():
            found[name] = found[name] + one if name in found else one
    return found


def with_gaps(net: Any, n: int, share: float, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    drawn = dict(net.sample(n, seed=seed))
    return {name: np.where(rng.random(n) < share, None, c.astype(object)) for name, c in drawn.items()}


def test_gates_trees_and_shared_tables_are_counted_as_in_single_questions() -> None:
    net = pgm.BayesianNetwork()
    for i in range(5):
        net.add(f"a{i}", 0.2 + 0.1 * i)
    net.add("or", pgm.NoisyOr({f"a{i}": 0.5 + 0.1 * i for i in range(4)}, leak=0.1))
    net.add("odd", pgm.Parity(["a0", "a1", "a4"]))
    net.add("tree", pgm.TreeCPD("a0", {True: 0.9, False: pgm.TreeCPD("or", {True: 0.3, False: 0.6})}))
    frame = with_gaps(net, 60, 0.3, 1)
    found, wanted = net.expected_counts(frame), summed(net, frame)
    assert list(found) == list(wanted) == list(net.nodes)
    for name, one in wanted.items():
        values = [x.values if hasattr(x, "values") else x for x in (found[name], one)]
        np.testing.assert_allclose(values[0], values[1], atol=1e-11)
    mrf = pgm.MarkovNetwork()
    for v in "abc":
        mrf.add_variable(v, states=[0, 1])
    mrf.add_factor(["a", "b"], [[10, 1], [1, 10]])
    mrf.add_factor(["b", "c"], [[1, 2], [3, 4]])
    frame = {"a": [0, 1, None], "c": [None, 1, 0]}
    found, wanted = mrf.expected_counts(frame), summed(mrf, frame)
    for number in (0, 1):
        np.testing.assert_allclose(found[number], wanted[number], atol=1e-12)


def hybrid() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("c", [0.3, 0.5, 0.2], states=["u", "v", "w"])
    lines = {"u": (1.0, 0.5), "v": (-1.0, 1.5), "w": (4.0, 1.0)}
    net.add("x", {s: pgm.LinearGaussian(bias=b, sd=d) for s, (b, d) in lines.items()}, parents=["c"])
    net.add("y", pgm.LinearGaussian({"x": 2.0}, bias=1.0, sd=0.7))
    net.add("d", {"u": 0.9, "v": 0.2, "w": 0.5}, parents=["c"])
    return net


def test_moments_of_a_frame_are_sums_of_single_questions() -> None:
    net = hybrid()
    for share in (0.0, 0.3, 0.7):
        frame = with_gaps(net, 30, share, 2)
        found, wanted = net.expected_counts(frame), summed(net, frame)
        for name in "cd":
            np.testing.assert_allclose(found[name], wanted[name], rtol=1e-8, atol=1e-10)
        for name in "xy":
            for part in ("weight", "mean", "scatter"):
                one, other = getattr(found[name], part), getattr(wanted[name], part)
                np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-8)


def test_a_weight_counts_a_row_of_numbers_as_often() -> None:
    net = hybrid()
    frame = with_gaps(net, 40, 0.3, 5)
    weights = np.random.default_rng(0).integers(0, 4, size=40)
    repeated = {name: np.repeat(column, weights) for name, column in frame.items()}
    found, wanted = net.expected_counts(frame, weights=weights), net.expected_counts(repeated)
    for name in "cd":
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-9, atol=1e-10)
    for name in "xy":
        for part in ("weight", "mean", "scatter"):
            one, other = getattr(found[name], part), getattr(wanted[name], part)
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9)


def test_numbers_that_are_given_count() -> None:
    """In 0.1.0 they did not: the prior's counts came back, and its gradients."""
    net = hybrid()
    for given in ({"x": 2.0}, {"y": -1.0}, {"x": 1.0, "d": True}, {"y": 5.0, "x": 2.5}):
        counts = net.expected_counts(given)
        np.testing.assert_allclose(counts["c"], net.query("c", given).values, rtol=1e-9)
        np.testing.assert_allclose(counts["d"], net.query(["c", "d"], given).values, rtol=1e-9, atol=1e-12)
        slopes, h = net.gradients(given)["c"], 1e-6
        for i in range(3):
            up, down = net.copy(), net.copy()
            for other, by in ((up, h), (down, -h)):
                table = net.cpd("c").values + by * (np.arange(3) == i)
                other.set("c", table / table.sum())
            change = np.log(1 + h) - np.log(1 - h)  # of the sum by which it was divided
            wanted = (float(up.log_probability(given)) - float(down.log_probability(given)) + change) / (
                2 * h
            )
            assert slopes[i] == pytest.approx(wanted, rel=1e-5)


def test_rows_that_doubles_do_not_hold_are_counted_one_by_one() -> None:
    net = pgm.BayesianNetwork()
    net.add("a", [1e-200, 1.0], states=["x", "y"], normalize=True)
    for i in range(6):
        net.add(
            f"b{i}", {"x": [1e-250, 1.0], "y": [0.5, 0.5]}, parents=["a"], states=["x", "y"], normalize=True
        )
    frame = {"a": ["x", None], **{f"b{i}": ["x", "x"] for i in range(6)}}
    found, wanted = net.expected_counts(frame), summed(net, frame)
    for name, one in wanted.items():
        np.testing.assert_allclose(found[name], one, rtol=1e-12)


def test_threads_change_no_bit() -> None:
    net = pgm.load_network("alarm")
    frame = with_gaps(net, 800, 0.2, 3)
    with pgm.config(threads=1):
        one = net.expected_counts(frame)
    with pgm.config(threads=2):
        two = net.expected_counts(frame)
    assert all((one[name] == two[name]).all() for name in one)
    alone = summed(net, {name: column[:20] for name, column in frame.items()})
    few = net.expected_counts({name: column[:20] for name, column in frame.items()})
    for name in alone:
        np.testing.assert_allclose(few[name], alone[name], rtol=1e-9, atol=1e-11)


def test_a_step_of_em_costs_about_as_much_as_all_marginals() -> None:
    net = pgm.load_network("alarm")
    frame = with_gaps(net, 2000, 0.2, 4)

    def seconds(work: Any) -> float:
        work(frame)
        begin = time.process_time()
        for _ in range(3):
            work(frame)
        return time.process_time() - begin

    with pgm.config(threads=1):
        assert seconds(net.expected_counts) < 3.0 * seconds(net.predict_proba)


def test_what_is_wrong_is_said() -> None:
    net = hybrid()
    with pytest.raises(InvalidArgument, match="evidence on one case"):
        net.expected_counts({"c": "u"}, weights=[1.0])
    with pytest.raises(InvalidArgument, match="one number for each of the 2 rows"):
        net.expected_counts({"c": ["u", "v"]}, weights=[1.0])
    with pytest.raises(InvalidArgument, match="The weight of row 1"):
        net.expected_counts({"c": ["u", "v"]}, weights=[1.0, -1.0])
    sure = pgm.BayesianNetwork()
    sure.add("a", 1.0)
    sure.add("b", {True: 1.0, False: 0.0}, parents=["a"])
    with pytest.raises(ImpossibleEvidence, match="1"):
        sure.expected_counts({"a": [True, True], "b": [True, False]})
    assert sure.expected_counts({"a": [True, True], "b": [True, False]}, weights=[1, 0])["a"].tolist() == [
        0,
        1,
    ]
