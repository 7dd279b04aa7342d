"""Networks learn their numbers: beside pandas, closed forms, and what EM promises."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pgm
from pgm.errors import (
    ImpossibleEvidence,
    InvalidArgument,
    InvalidFrame,
    InvalidStructure,
    OutOfTime,
    PGMError,
    UnknownState,
    UnknownVariable,
)

EDGES = "cloudy -> rain -> wet <- sprinkler <- cloudy"


def wet_grass() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("cloudy", 0.5)
    net.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    net.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    rows = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}
    net.add("wet", rows, parents=["rain", "sprinkler"])
    return net


def drawn(n: int, seed: int = 0) -> pd.DataFrame:
    return pd.DataFrame(dict(wet_grass().sample(n, seed=seed)))


def with_gaps(frame: pd.DataFrame, share: float, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {n: np.where(rng.random(len(frame)) < share, None, frame[n].to_numpy(object)) for n in frame}


def pandas_table(net: pgm.BayesianNetwork, frame: pd.DataFrame, node: str, add: float = 0.0) -> np.ndarray:
    names = [*net.parents(node), node]
    grid = pd.MultiIndex.from_product([net.variables[n].states for n in names])
    counts = frame.groupby(names).size()
    counts.index = pd.MultiIndex.from_tuples([k if isinstance(k, tuple) else (k,) for k in counts.index])
    values = (
        counts.reindex(grid, fill_value=0).to_numpy().reshape([net.variables[n].card for n in names]) + add
    )
    return values / values.sum(axis=-1, keepdims=True)


# --- complete rows ---


@pytest.mark.parametrize(
    "kind", ["pandas", "categories", "polars", "pyarrow", "dict", "rows", "integers", "text"]
)
def test_maximum_likelihood_is_pandas_group_by_from_every_kind_of_frame(kind: str) -> None:
    frame = drawn(400)
    given: Any = frame
    if kind == "categories":
        given = frame.astype("category")
    elif kind == "polars":
        given = pytest.importorskip("polars").from_pandas(frame)
    elif kind == "pyarrow":
        given = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    elif kind == "dict":
        given = {n: frame[n].tolist() for n in frame}
    elif kind == "rows":
        given = frame.to_dict("records")
    elif kind == "integers":
        frame = frame.astype(int)
        given = frame
    elif kind == "text":
        frame = frame.replace({True: "yes", False: "no"}).astype(str)
        given = frame
    net = pgm.BayesianNetwork(edges=EDGES)
    assert net.fit(given) is net
    for node in net.nodes:
        np.testing.assert_allclose(net.cpd(node).values, pandas_table(net, frame, node), rtol=1e-12)
    states = {"integers": (0, 1), "text": ("no", "yes")}.get(kind, (False, True))
    assert net.variables["wet"].states == states
    report = net.fit_report
    assert report is not None
    assert report.converged
    assert report.log_likelihood == pytest.approx(net.score(given), rel=1e-12)
    assert (report.n_parameters, report.n_rows) == (9, 400)


def test_weights_count_rows_as_often() -> None:
    frame = drawn(200)
    weights = np.random.default_rng(1).integers(0, 4, size=200)
    one = pgm.BayesianNetwork(edges=EDGES).fit(frame, weights=weights)
    other = pgm.BayesianNetwork(edges=EDGES).fit(frame.loc[frame.index.repeat(weights)])
    assert one == other


def test_priors_add_rows_that_nobody_saw() -> None:
    frame = drawn(50)
    bdeu = pgm.BayesianNetwork(edges=EDGES).fit(frame, prior=pgm.priors.BDeu(8))
    laplace = pgm.BayesianNetwork(edges=EDGES).fit(frame, prior="laplace")
    for node in bdeu.nodes:
        table = bdeu.cpd(node).values
        np.testing.assert_allclose(table, pandas_table(bdeu, frame, node, 8 / table.size), rtol=1e-12)
        np.testing.assert_allclose(laplace.cpd(node).values, pandas_table(bdeu, frame, node, 1.0), rtol=1e-12)
    assert pgm.BayesianNetwork(edges=EDGES).fit(frame, prior="k2") == laplace
    named = pgm.BayesianNetwork(edges=EDGES).fit(frame, prior={"wet": "laplace"})
    np.testing.assert_array_equal(named.cpd("wet").values, laplace.cpd("wet").values)
    np.testing.assert_allclose(named.cpd("rain").values, pandas_table(bdeu, frame, "rain"), rtol=1e-12)
    mode = pgm.BayesianNetwork(edges=EDGES).fit(frame, prior=pgm.priors.Laplace(3), estimate="mode")
    np.testing.assert_allclose(mode.cpd("wet").values, pandas_table(bdeu, frame, "wet", 2.0), rtol=1e-12)


def test_expert_numbers_and_data_together() -> None:
    expert, frame = wet_grass(), drawn(30)
    net = pgm.BayesianNetwork(edges="cloudy -> rain -> wet; sprinkler -> wet; cloudy -> sprinkler")
    net.fit(frame, prior=pgm.priors.Expert(expert, rows=10))
    for node in net.nodes:
        parents = expert.parents(node)
        joint = expert.query([*parents, node]).values * 10.0
        counts = frame.groupby([*parents, node]).size()
        for at in np.ndindex(joint.shape):
            states = tuple(expert.variables[v].states[i] for v, i in zip([*parents, node], at, strict=True))
            joint[at] += counts.get(states if len(states) > 1 else states[0], 0)
        np.testing.assert_allclose(net.cpd(node).values, joint / joint.sum(-1, keepdims=True), rtol=1e-9)
    plain = pgm.BayesianNetwork(edges=EDGES).fit(frame, prior=expert)
    assert plain == pgm.BayesianNetwork(edges=EDGES).fit(frame, prior=pgm.priors.Expert(expert, rows=1))


def test_fixed_nodes_and_rows_stay() -> None:
    net, frame = wet_grass(), drawn(100)
    before = net.copy()
    net.fit(frame, fixed={"rain": True, "wet": [(True, True), (False, False)]})
    assert (net.cpd("rain").values == before.cpd("rain").values).all()
    wanted = pandas_table(net, frame, "wet")
    wanted[1, 1], wanted[0, 0] = before.cpd("wet").values[1, 1], before.cpd("wet").values[0, 0]
    np.testing.assert_allclose(net.cpd("wet").values, wanted, rtol=1e-12)
    np.testing.assert_allclose(net.cpd("cloudy").values, pandas_table(net, frame, "cloudy"), rtol=1e-12)


def test_tied_nodes_share_the_sum_of_their_counts() -> None:
    net, frame = (
        pgm.BayesianNetwork(edges="c -> a; c -> b"),
        pd.DataFrame({"c": [0, 0, 0, 1, 1], "a": [0, 0, 1, 1, 1], "b": [1, 0, 1, 0, 1]}),
    )
    net.fit(frame, tied=[["a", "b"]])
    np.testing.assert_allclose(net.cpd("a").values, [[3 / 6, 3 / 6], [1 / 4, 3 / 4]])
    assert (net.cpd("a").values == net.cpd("b").values).all()
    assert net.fit_report.n_parameters == 3


def test_more_rows_are_counted_with_those_before() -> None:
    frame = drawn(300)
    for prior in (None, "bdeu"):
        whole = pgm.BayesianNetwork(edges=EDGES).fit(frame, prior=prior)
        parts = pgm.BayesianNetwork(edges=EDGES).fit(frame[:100], prior=prior)
        parts.partial_fit(frame[100:250]).partial_fit(frame[250:])
        assert parts == whole
        assert parts.fit_report.n_rows == 300
    half = pgm.BayesianNetwork(edges="a -> b").fit({"a": [0, 0, 1, 1], "b": [0, 1, 0, 0]})
    half.partial_fit({"a": [1, 1], "b": [1, 1]}, forget=0.5)
    np.testing.assert_allclose(half.cpd("b").values, [[0.5, 0.5], [1 / 3, 2 / 3]])
    np.testing.assert_allclose(half.cpd("a").values, [1 / 4, 3 / 4])


def test_densities_are_regressions_and_discrete_parents_select() -> None:
    rng = np.random.default_rng(0)
    c, x = rng.integers(2, size=200), rng.normal(size=200)
    y = np.where(c == 1, 2.0 * x + 1.0, -x) + 0.1 * rng.normal(size=200)
    frame = pd.DataFrame({"c": np.where(c == 1, "b", "a"), "x": x, "y": y})
    net = pgm.BayesianNetwork(edges="c -> y <- x").fit(frame)
    assert net.parents("y") == ("c", "x")
    for i in (0, 1):
        some = c == i
        design = np.column_stack([np.ones(some.sum()), x[some]])
        (bias, slope), rest, *_ = np.linalg.lstsq(design, y[some], rcond=None)
        assert net.cpd("y").bias[i] == pytest.approx(bias)
        assert net.cpd("y").weights[i, 0] == pytest.approx(slope)
        assert net.cpd("y").sd[i] == pytest.approx(math.sqrt(float(rest[0]) / some.sum()))
    assert net.fit_report.log_likelihood == pytest.approx(net.score(frame))
    parts = pgm.BayesianNetwork(edges="c -> y <- x").fit(frame[:90]).partial_fit(frame[90:])
    np.testing.assert_allclose(parts.cpd("y").weights, net.cpd("y").weights, rtol=1e-9)
    np.testing.assert_allclose(parts.cpd("y").sd, net.cpd("y").sd, rtol=1e-9)


def test_every_kind_fits_itself() -> None:
    rng = np.random.default_rng(0)
    net = pgm.BayesianNetwork()
    for name in "abc":
        net.add(name, 0.4)
    net.add("x", pgm.LinearGaussian(bias=0.0, sd=1.0))
    net.add("or", pgm.NoisyOr({"a": 0.5, "b": 0.5}, leak=0.1))
    net.add("tree", pgm.TreeCPD("a", {True: 0.5, False: pgm.TreeCPD("b", {True: 0.5, False: 0.5})}))
    net.add("log", pgm.Logistic({"a": 0.0, "x": 0.0}))
    net.add("odd", pgm.Parity(["a", "c"]))
    frame = pd.DataFrame({n: rng.random(400) < 0.4 for n in "abc"})
    frame["x"] = rng.normal(size=400)
    frame["or"] = rng.random(400) < 1 - 0.9 * (1 - 0.8 * frame["a"]) * (1 - 0.3 * frame["b"])
    frame["tree"] = rng.random(400) < np.where(frame["a"], 0.9, np.where(frame["b"], 0.6, 0.1))
    frame["log"] = rng.random(400) < 1 / (1 + np.exp(-(frame["a"] + 2 * frame["x"])))
    frame["odd"] = frame["a"] ^ frame["c"]
    net.fit(frame)
    for name in ("or", "tree", "log"):
        columns = {n: frame[n].tolist() for n in (*net.parents(name), name)}
        alone = net.cpd(name).fit(columns)
        rows = [{n: columns[n][i] for n in columns} for i in range(40)]
        for row in rows:
            assert net.cpd(name).probability(row) == pytest.approx(alone.probability(row), rel=1e-5)
    assert net.fit_report.log_likelihood == pytest.approx(net.score(frame), rel=1e-9)


def test_states_are_read_off_the_column() -> None:
    frame = pd.DataFrame(
        {
            "flag": [True, False, True],
            "word": ["b", "a", "c"],
            "number": [3, 1, 3],
            "level": pd.Categorical(["lo", "hi", "lo"], categories=["lo", "mid", "hi"], ordered=True),
            "plain": pd.Categorical(["lo", "hi", "lo"], categories=["lo", "mid", "hi"]),
            "size": [1.5, 2.0, 2.5],
        }
    )
    net = pgm.BayesianNetwork(
        edges=[
            ("flag", "word"),
            ("number", "word"),
            ("level", "word"),
            ("plain", "number"),
            ("flag", "level"),
            ("plain", "level"),
        ]
    )
    net.fit(frame)
    assert {n: v.states for n, v in net.variables.items()} == {
        "flag": (False, True),
        "word": ("a", "b", "c"),
        "number": (1, 3),
        "level": ("lo", "mid", "hi"),
        "plain": ("hi", "lo", "mid"),
    }
    whole = pd.DataFrame({"a": [1.0, 2.0, 1.0], "b": ["x", "y", "x"]})
    with pytest.raises(InvalidFrame, match="'a' holds whole numbers as floats"):
        pgm.BayesianNetwork(edges="a -> b").fit(whole)
    assert pgm.BayesianNetwork(edges="a -> b").fit(whole, states={"a": [1, 2]}).variables["a"].states == (
        1,
        2,
    )
    whole["a"] = [1.0, 2.0, 4.0]
    more = pd.concat([whole, whole.assign(a=[2.0, 3.0, 5.0])])
    assert pgm.BayesianNetwork(edges="b -> a").fit(more, continuous=["a"]).variables["a"].continuous
    bins = pgm.BayesianNetwork(edges="size -> word").fit(frame, states={"size": pgm.Bins([0, 2, 4])})
    assert bins.variables["size"].card == 2


def test_rows_without_data_are_uniform_and_named() -> None:
    net = pgm.BayesianNetwork(edges="a -> b").fit({"a": ["x", "x"], "b": [0, 1]}, states={"a": ["x", "y"]})
    assert net.cpd("b").to_dict()["y"] == {0: 0.5, 1: 0.5}
    assert net.fit_report.unseen == (("b", {"a": "y"}),)
    assert "b | a = y" in str(net.fit_report)
    assert pickle.loads(pickle.dumps(net)).fit_report == net.fit_report


# --- rows with gaps ---


def rises(net: pgm.BayesianNetwork) -> bool:
    logs = np.array(net.fit_report.log_likelihoods)
    return bool((np.diff(logs) >= -1e-9 * np.abs(logs[1:])).all())


def slope_at_rest(net: pgm.BayesianNetwork, frame: Any, node: str) -> float:
    """The largest derivative of the log-likelihood in a direction that keeps rows normalised."""
    counts = net.expected_counts(frame)[node]
    table = net.cpd(node).values
    inside = table > 1e-4
    slope = np.where(inside, counts / np.where(inside, table, 1.0), np.nan)
    return float(np.nanmax(np.abs(slope - counts.sum(axis=-1, keepdims=True))))


def test_em_rises_and_rests_where_the_gradient_vanishes() -> None:
    frame = with_gaps(drawn(300, 2), 0.3, 3)
    net = pgm.BayesianNetwork(edges=EDGES).fit(frame, tol=1e-12, max_iter=2000)
    assert net.fit_report.converged
    assert rises(net)
    assert net.fit_report.log_likelihood == pytest.approx(net.score(frame), rel=1e-9)
    for node in net.nodes:
        assert slope_at_rest(net, frame, node) < 0.05
        for sign in (1, -1):  # and no other numbers near are better
            other, table = net.copy(), net.cpd(node).values.copy()
            table[..., 0] = np.clip(table[..., 0] + sign * 0.02, 0.001, 0.999)
            table[..., 1] = 1.0 - table[..., 0]
            other.set(node, table)
            assert other.score(frame) < net.score(frame) + 1e-6


def test_gaps_change_nothing_where_nothing_is_missing_and_complete_rows_need_no_em() -> None:
    frame = drawn(100)
    assert pgm.BayesianNetwork(edges=EDGES).fit(frame).fit_report.iterations == 0
    for option in ({"seed": 0}, {"starts": 2}, {"max_iter": 5}, {"tol": 1e-3}, {"method": "em"}):
        with pytest.raises(InvalidArgument, match="has no effect"):
            pgm.BayesianNetwork(edges=EDGES).fit(frame, **option)


def test_a_hidden_cause_is_found() -> None:
    rng = np.random.default_rng(0)
    cause = rng.integers(2, size=2000)
    chance = np.array([[0.1, 0.2, 0.15, 0.1], [0.9, 0.8, 0.7, 0.95]])
    frame = {f"x{i}": rng.random(2000) < chance[cause, i] for i in range(4)}
    edges = "; ".join(f"cause -> x{i}" for i in range(4))
    net = pgm.BayesianNetwork(edges=edges).fit(frame, latent={"cause": 2}, seed=1, starts=3)
    assert rises(net)
    assert len(net.fit_report.starts) == 3
    found = np.array([net.cpd(f"x{i}").values[:, 1] for i in range(4)]).T
    found = found[np.argsort(found[:, 0])]
    np.testing.assert_allclose(found, chance, atol=0.05)
    again = pgm.BayesianNetwork(edges=edges).fit(frame, latent={"cause": 2}, seed=1, starts=3)
    assert again == net


def test_labels_known_in_part_name_the_states() -> None:
    rng = np.random.default_rng(0)
    cause = rng.integers(2, size=600)
    frame: dict[str, Any] = {f"x{i}": rng.random(600) < np.array([0.2, 0.8])[cause] for i in range(3)}
    frame["cause"] = np.where(rng.random(600) < 0.9, None, np.where(cause == 1, "ill", "well"))
    net = pgm.BayesianNetwork(edges="cause -> x0; cause -> x1; cause -> x2").fit(frame)
    assert net.variables["cause"].states == ("ill", "well")
    assert net.cpd("x0").values[0, 1] > 0.7
    assert net.cpd("x0").values[1, 1] < 0.3
    assert rises(net)


def test_map_em_rises_in_posterior_and_hard_em_counts_the_best_completions() -> None:
    frame = with_gaps(drawn(150, 5), 0.3, 6)
    net = pgm.BayesianNetwork(edges=EDGES).fit(frame, prior=pgm.priors.Laplace(2), tol=1e-12, max_iter=1000)
    counts = net.expected_counts(frame)
    for node in net.nodes:
        table = counts[node] + 2.0
        np.testing.assert_allclose(net.cpd(node).values, table / table.sum(-1, keepdims=True), atol=1e-5)
    hard = pgm.BayesianNetwork(edges=EDGES).fit(frame, method="hard")
    assert rises(hard)
    total = 0.0
    for i in range(150):
        given = {n: c[i] for n, c in frame.items() if c[i] is not None}
        total += float(hard.map(given).log_joint)
    assert hard.fit_report.log_likelihood == pytest.approx(total, rel=1e-9)


def test_gates_and_mixtures_learn_with_gaps() -> None:
    net = pgm.BayesianNetwork()
    for name in "ab":
        net.add(name, 0.4)
    net.add("or", pgm.NoisyOr({"a": 0.8, "b": 0.3}, leak=0.05))
    frame = with_gaps(pd.DataFrame(dict(net.sample(400, seed=0))), 0.2, 1)
    learner = net.copy()
    learner.set("or", pgm.NoisyOr({"a": 0.5, "b": 0.5}, leak=0.2))
    learner.fit(frame)
    assert rises(learner)
    assert learner.fit_report.log_likelihood >= net.score(frame)
    assert type(learner.cpd("or")).__name__ == "NoisyOr"
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(-2, 1, 60), rng.normal(3, 0.5, 40)])
    mixture = pgm.BayesianNetwork(edges="c -> x").fit({"x": x}, latent={"c": 2}, seed=0)
    assert rises(mixture)
    assert sorted(mixture.cpd("x").bias.tolist()) == pytest.approx([-2, 3], abs=0.4)
    assert mixture.fit_report.log_likelihood == pytest.approx(mixture.score({"x": x}), rel=1e-9)


def test_a_start_that_em_cannot_leave_is_refused() -> None:
    net = pgm.BayesianNetwork()
    net.add("c", [0.5, 0.5], states=["u", "v"])
    net.add("x", {"u": 0.3, "v": 0.3}, parents=["c"])
    with pytest.raises(InvalidArgument, match="all states of the hidden 'c' give its children the same"):
        net.fit({"x": [True, False]}, latent=["c"])


def test_a_component_that_collapses_is_named() -> None:
    net = pgm.BayesianNetwork()
    net.add("c", [0.5, 0.5], states=["u", "v"])
    net.add(
        "x",
        {"u": pgm.LinearGaussian(bias=0.0, sd=1e-3), "v": pgm.LinearGaussian(bias=5.0, sd=2.0)},
        parents=["c"],
    )
    with pytest.raises(InvalidArgument, match=r"'x' where c = u: the standard deviation collapses"):
        net.fit({"x": [0.0, 4.0, 5.0, 6.0, 7.5]}, latent=["c"])
    with pytest.raises(InvalidArgument, match=r"'x': the standard deviation collapses"):
        pgm.BayesianNetwork(edges="x -> y").fit({"x": [1.5, 1.5], "y": [0.5, 1.0]})


# --- what is refused ---


@pytest.mark.parametrize(
    ("frame", "options", "error", "words"),
    [
        ({"a": [], "b": []}, {}, InvalidFrame, "has no value|no rows"),
        ({"a": [1, 0], "b": [None, None]}, {}, InvalidFrame, "'b' has no value"),
        ({"a": [1, 0], "bb": [1, 1]}, {}, InvalidFrame, "no column 'b'"),
        ({"a": [1, 0], "b": [1, 1]}, {"weights": [1, -1]}, InvalidArgument, "weight of row 1"),
        ({"a": [1, 0], "b": [1, 1]}, {"weights": [0, 0]}, InvalidArgument, "all 0"),
        ({"a": [1, 0], "b": [1, 1]}, {"prior": "bdue"}, InvalidArgument, "bdeu"),
        ({"a": [1, 0], "b": [1, 1]}, {"prior": {"z": "bdeu"}}, UnknownVariable, "z"),
        ({"a": [1, 0], "b": [1, 1]}, {"fixed": ["a"]}, InvalidArgument, "no distribution yet"),
        ({"a": [1, 0], "b": [1, 1]}, {"tied": [["a"]]}, InvalidArgument, "to nothing"),
        ({"a": [1, 0], "b": [1, 1]}, {"tied": [["a", "b"]]}, InvalidArgument, "cannot share"),
        ({"a": [1, 0], "b": [1, 1]}, {"latent": {"z": 2}}, UnknownVariable, "z"),
        ({"b": [1, 1]}, {"latent": {"a": 0}}, InvalidArgument, "at least 1"),
        ({"a": [1, "x"], "b": [1, 1]}, {}, InvalidFrame, "several kinds"),
        ({"a": [0.5, 1.5], "b": [True, False]}, {}, InvalidFrame, "pgm.Logistic"),
        ({"a": [1, 0], "b": [1, 1]}, {"estimate": "mode"}, InvalidArgument, "without a prior"),
        ({"a": [1, None], "b": [1, 1]}, {"method": "soft"}, InvalidArgument, '"em" or "hard"'),
        ({"a": [1, None], "b": [1, 1]}, {"starts": 0}, InvalidArgument, "starts="),
        ({"a": [1, None], "b": [1, 1]}, {"max_iter": 0}, InvalidArgument, "max_iter="),
    ],
)
def test_mistakes_are_answered(frame: Any, options: Any, error: type[PGMError], words: str) -> None:
    net = pgm.BayesianNetwork(edges="a -> b")
    with pytest.raises(error, match=words):
        net.fit(frame, **options)
    assert net == pgm.BayesianNetwork(edges="a -> b")
    assert net.fit_report is None


def test_other_mistakes_are_answered() -> None:
    net = wet_grass()
    with pytest.raises(UnknownState, match="maybe"):
        net.fit({n: [True, "maybe"] for n in net.nodes})
    with pytest.raises(InvalidArgument, match="call `fit` first"):
        wet_grass().partial_fit(drawn(5))
    net.fit(drawn(20))
    net.set("rain", {True: 0.5, False: 0.5})
    with pytest.raises(InvalidArgument, match="'rain' was changed"):
        net.partial_fit(drawn(5))
    with pytest.raises(InvalidArgument, match="forget="):
        wet_grass().fit(drawn(20)).partial_fit(drawn(5), forget=1.5)
    sure = pgm.BayesianNetwork()
    sure.add("a", 1.0)
    sure.add("b", {True: 1.0, False: 0.0}, parents=["a"])
    with pytest.raises(ImpossibleEvidence):
        sure.fit({"a": [True, None], "b": [True, False]})
    with pytest.raises(InvalidStructure, match="other parents"):
        pgm.BayesianNetwork(edges="rain -> wet").fit({"rain": [True], "wet": [True]}, prior=wet_grass())


def test_a_fit_that_is_too_late_changes_nothing() -> None:
    net, frame = wet_grass(), with_gaps(drawn(300), 0.3, 0)
    before = net.copy()
    with pytest.raises(OutOfTime), pgm.config(time_limit=1e-9):
        net.fit(frame)
    assert net == before
    assert net.fit_report is None


def test_reports_of_more_rows_are_about_the_rows_they_count() -> None:
    frame = drawn(90, 5)
    states = {key: [False, True] for key in frame.columns}
    whole = pgm.BayesianNetwork(edges=EDGES).fit(frame, states=states, prior="laplace")
    parts = pgm.BayesianNetwork(edges=EDGES).fit(frame[:30], states=states, prior="laplace")
    parts.partial_fit(frame[30:60]).partial_fit(frame[60:])
    assert parts.fit_report.log_likelihood == pytest.approx(whole.fit_report.log_likelihood, rel=1e-12)
    assert parts.fit_report.log_likelihood == pytest.approx(parts.log_likelihood(frame).sum(), rel=1e-12)
    assert parts.fit_report.bic == pytest.approx(whole.fit_report.bic, rel=1e-12)
    faded = parts.copy().partial_fit(frame[:30], forget=0.5)
    assert faded.fit_report.n_rows == 30
    assert faded.fit_report.log_likelihood == pytest.approx(faded.log_likelihood(frame[:30]).sum(), rel=1e-12)


def test_a_prior_network_may_name_states_and_parents_in_another_order() -> None:
    """It also declares the states that nobody saw; an expert who never heard of a state is told."""
    rows = {"a": ["x", "y", "y"], "b": ["u", "u", "v"], "c": ["p", "q", "q"]}
    tables = np.random.default_rng(0).dirichlet([1, 1, 1], size=(2, 2))
    one = pgm.BayesianNetwork()
    one.add("a", {"x": 0.3, "y": 0.7})
    one.add("b", {"u": 0.6, "v": 0.4})
    one.add("c", tables, parents=["a", "b"], states=["p", "q", "r"])
    other = pgm.BayesianNetwork()
    other.add("a", {"y": 0.7, "x": 0.3})
    other.add("b", {"v": 0.4, "u": 0.6})
    flipped = tables.transpose(1, 0, 2)[::-1, ::-1, ::-1]
    other.add("c", flipped, parents=["b", "a"], states=["r", "q", "p"])
    found = [
        pgm.BayesianNetwork(edges="a -> c <- b").fit(rows, prior=pgm.priors.Expert(net, rows=5)).query("c")
        for net in (one, other)
    ]
    assert tuple(found[0].to_dict()) == ("p", "q", "r")
    for state in "pqr":
        assert found[0][state] == pytest.approx(found[1][state], rel=1e-12)
    net = one.copy().fit(rows, prior=other)
    assert net.cpd("c").values[0, 0, 2] == pytest.approx(tables[0, 0, 2] * 0.18 / 1.18)
    with pytest.raises(UnknownState, match="'c' has no state 's'"):
        pgm.BayesianNetwork(edges="a -> c <- b").fit({**rows, "c": ["s", "q", "q"]}, prior=other)
    with pytest.raises(InvalidStructure, match=r"other parents in the prior network, 'a', 'b', than .* 'a'"):
        pgm.BayesianNetwork(edges="a -> c; b").fit(rows, prior=one)
    less = pgm.BayesianNetwork(edges="a -> c <- b")
    with pytest.raises(InvalidStructure, match="'c' has other states in the prior network"):
        less.fit(rows, prior=one, states={"c": ["p", "q"]})


def test_weights_are_numbers_or_a_column() -> None:
    frame = drawn(40, 2).assign(n=np.arange(40) % 3)
    net = pgm.BayesianNetwork(edges=EDGES)
    assert net.copy().fit(frame, weights="n") == net.copy().fit(frame, weights=frame["n"])
    full = net.copy().fit(frame)
    np.testing.assert_array_equal(
        full.expected_counts(frame, weights="n")["rain"],
        full.expected_counts(frame, weights=frame["n"])["rain"],
    )
    with pytest.raises(InvalidArgument, match="or a column's name, not 'm'"):
        net.fit(frame, weights="m")


def test_frames_that_are_none_or_empty_are_refused_in_words() -> None:
    net = pgm.BayesianNetwork(edges="a -> b")
    with pytest.raises(InvalidFrame, match=r"is not a data frame.*pandas.read_csv\('rows.csv'\)"):
        net.fit("rows.csv")
    with pytest.raises(InvalidFrame, match="None is not a data frame"):
        net.fit(None)
    with pytest.raises(InvalidFrame, match="no rows"):
        net.fit({"a": [], "b": []})
    with pytest.raises(InvalidFrame, match="no rows"):
        pgm.learn_structure({"a": [], "b": []})
    sure = pgm.BayesianNetwork(edges="a -> b").fit({"a": [0, 1], "b": [0, 1]})
    with pytest.raises(ImpossibleEvidence, match="with a prior"):
        sure.partial_fit({"a": [0, None], "b": [1, 1]})
    with pytest.raises(ImpossibleEvidence, match="with a prior"):
        sure.expected_counts({"a": [0], "b": [1]})
