"""Undirected models: the numbers of the contract by brute force, factors in every form, grids."""

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest

import pgm


def brute_force(mrf):
    """The log of the product of all factors, for every configuration."""
    cards = [v.card for v in mrf.variables.values()]
    place = {name: i for i, name in enumerate(mrf.variables)}
    logs = np.zeros(cards)
    for potential in mrf.potentials:
        with np.errstate(divide="ignore"):
            values = potential.values if potential.log else np.log(potential.values)
        axes = [place[name] for name in potential.names]
        shape = [1] * len(cards)
        for axis in axes:
            shape[axis] = cards[axis]
        logs = logs + values.transpose(np.argsort(axes)).reshape(shape)
    return logs


def pair():
    mrf = pgm.MarkovNetwork()
    mrf.add_variable("a", states=["red", "blue"])
    mrf.add_variable("b", states=["red", "blue"])
    mrf.add_factor(["a", "b"], [[10, 1], [1, 10]])
    return mrf


def contract_grid():
    noisy = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 0, 1], [1, 1, 0, 0]])
    return pgm.MarkovNetwork.grid(noisy, states=[0, 1], coupling=2.0, unary=[[0.9, 0.1], [0.1, 0.9]])


def test_the_contract():
    weights = np.exp(brute_force(pair()))
    assert math.log(weights.sum()) == pytest.approx(3.091042, abs=1e-6)
    assert weights[0, 0] / weights[:, 0].sum() == pytest.approx(0.909091, abs=1e-6)
    assert pgm.FactorGraph is pgm.MarkovNetwork


def test_the_engine_agrees():
    mrf = pair()
    assert mrf.log_partition() == pytest.approx(3.091042, abs=1e-6)
    assert mrf.query("a", {"b": "red"})["red"] == pytest.approx(0.909091, abs=1e-6)
    assert dict(mrf.map()) == {"a": "red", "b": "red"}
    assert contract_grid().map().to_array("pixel").tolist() == [[1, 1, 0, 0]] * 4
    logs = brute_force(contract_grid())
    assert contract_grid().log_partition() == pytest.approx(np.logaddexp.reduce(logs.ravel()), rel=1e-12)
    mrf.add_factor([], 2.0)
    mrf.add_factor(["b"], [0.0, -1.0], log=True)
    expected = np.logaddexp.reduce(brute_force(mrf).ravel())
    assert mrf.log_partition() == pytest.approx(expected, rel=1e-12)
    counts = mrf.expected_counts()
    assert counts[0].shape == (2, 2)
    assert counts[0].sum() == pytest.approx(1)
    grid = contract_grid()
    assert all(
        counts.shape == (2,) * len(grid.potentials[i].names) for i, counts in grid.expected_counts().items()
    )


def test_partition_under_evidence():
    """The contract's number, weights that multiply, what nothing agrees with, and what is not evidence."""
    mrf = pair()
    assert mrf.log_partition({"b": "red"}) == pytest.approx(2.397895, abs=5e-7)
    assert mrf.partition({"b": "red"}) == pytest.approx(11)
    assert mrf.partition({"a": "blue", "b": "red"}) == pytest.approx(1)
    assert mrf.partition({"b": pgm.Likelihood({"red": 3, "blue": 5})}) == pytest.approx(88)
    assert mrf.partition({"b": pgm.Likelihood({"red": 3, "blue": 0})}) == pytest.approx(33)
    assert mrf.partition({"b": None}) == mrf.partition() == 22
    assert mrf.probability({"b": "red"}) == pytest.approx(0.5)
    assert mrf.partition({"b": "red"}).report.given == {"b": "red"}
    mrf.add_factor("a", {"red": 0, "blue": 1})
    assert (mrf.partition({"a": "red"}), mrf.log_partition({"a": "red"})) == (0, -math.inf)
    with pytest.raises(pgm.InvalidEvidence, match=r"'b': pgm\.Soft fixes a marginal after the update"):
        mrf.partition({"b": pgm.Soft({"red": 0.5, "blue": 0.5})})
    with pytest.raises(pgm.UnknownState, match="'b' has no state 'rod'"):
        mrf.log_partition({"b": "rod"})


@pytest.mark.parametrize("engine", ["bounds", "loopy", "mean-field", "best", pgm.engines.Importance(seed=0)])
def test_partition_under_evidence_by_engines_that_approximate(engine):
    """Log 33 for weights of one state and log 88 for weights of both; a bound is one of that too."""
    for red, blue in ((3, 0), (3, 5)):
        found = pair().log_partition({"b": pgm.Likelihood({"red": red, "blue": blue})}, engine=engine)
        if found.bounds is not None:
            assert found.bounds[0] <= math.log(11 * (red + blue)) <= found.bounds[1]
        if engine != "mean-field":
            assert found == pytest.approx(math.log(11 * (red + blue)), abs=0.05)


@pytest.mark.parametrize("given", [{}, {"b": "red"}, {"b": pgm.Likelihood({"red": 3.0, "blue": 0.5})}])
def test_gradients_are_finite_differences_of_log_partition(given):
    """And the derivative of log P(given) is what is left of it less that without evidence."""
    tables = [np.array([[10.0, 1.0], [0.0, 4.0]]), np.array([0.5, 2.0])]

    def built(tables):
        mrf = pgm.MarkovNetwork()
        mrf.add_variable("b", states=["red", "blue"])
        mrf.add_variable("a", states=["red", "blue"])
        mrf.add_factor(["a", "b"], tables[0])
        mrf.add_factor(["b"], np.log(tables[1]), log=True)  # by the number, not by its logarithm
        return mrf

    found, before = built(tables).gradients(given, zeros=True), built(tables).gradients(zeros=True)
    for i, table in enumerate(tables):
        for at in np.ndindex(*table.shape):
            ends = []
            for off in (1e-5, 0.0) if table[at] == 0.0 else (1e-5, -1e-5):
                moved = [one.copy() for one in tables]
                moved[i][at] += off
                mrf = built(moved)
                ends.append((mrf.log_partition(given), mrf.log_probability(given)))
            width = 1e-5 if table[at] == 0.0 else 2e-5
            assert found[i][at] == pytest.approx((ends[0][0] - ends[1][0]) / width, rel=1e-4, abs=1e-5)
            slope = found[i][at] - before[i][at]
            assert slope == pytest.approx((ends[0][1] - ends[1][1]) / width, rel=1e-4, abs=1e-5)


def test_gradients_take_no_wanted_marginals():
    with pytest.raises(pgm.InvalidEvidence, match=r"pgm\.Soft fixes a marginal after the update"):
        pair().gradients({"b": pgm.Soft({"red": 0.5, "blue": 0.5})})


def test_separation():
    grid = contract_grid()
    column = [f"pixel[{i},1]" for i in range(4)]
    assert grid.independent("pixel[0,0]", "pixel[2,3]", given=column)
    assert not grid.independent("pixel[0,0]", "pixel[2,3]", given=column[:3])
    assert grid.junction_tree().width == 4


def test_the_grid_of_the_contract():
    logs = brute_force(contract_grid())
    best = np.array(np.unravel_index(logs.argmax(), logs.shape)).reshape(4, 4)
    assert best.tolist() == [[1, 1, 0, 0]] * 4
    assert (logs == logs.max()).sum() == 1


def test_grid():
    image = np.array([["w", None, "b"], [float("nan"), "b", "w"]], dtype=object)
    grid = pgm.MarkovNetwork.grid(image, states=["w", "b"], coupling=1.5, unary=[[0.7, 0.3], [0.2, 0.8]])
    assert list(grid.variables)[:4] == ["pixel[0,0]", "pixel[0,1]", "pixel[0,2]", "pixel[1,0]"]
    assert len({id(v.domain) for v in grid.variables.values()}) == 1
    logs = brute_force(grid)
    for code in itertools.product([0, 1], repeat=6):
        x = np.array(code).reshape(2, 3)
        agree = (x[:, 1:] == x[:, :-1]).sum() + (x[1:] == x[:-1]).sum()
        seen = [[0.7, 0.3], [0.2, 0.8]]
        unary = sum(math.log(seen[x[i, j]][k]) for i, j, k in [(0, 0, 0), (0, 2, 1), (1, 1, 1), (1, 2, 0)])
        assert logs[code] == pytest.approx(1.5 * agree + unary)
    assert grid.neighbors("pixel[0,1]") == ("pixel[0,0]", "pixel[0,2]", "pixel[1,1]")


def test_grid_of_grey_levels_and_masks():
    image = np.ma.masked_equal([[0, 3], [9, 1]], 9)
    grid = pgm.MarkovNetwork.grid(
        image, states=["dark", "light"], coupling=1, unary=[[4, 3, 2, 1], [1, 2, 3, 4]]
    )
    assert [p.to_dict() for p in grid.potentials if len(p.names) == 1] == [
        {"dark": 4, "light": 1},
        {"dark": 3, "light": 2},
        {"dark": 1, "light": 4},
    ]
    assert len(pgm.MarkovNetwork.grid([0.0, np.nan, 1.0], [0, 1], 1, np.eye(2)).potentials) == 4
    assert len(pgm.MarkovNetwork.grid(np.zeros((2, 2, 2)), [0, 1], 1, np.eye(2)).potentials) == 20
    assert len(pgm.MarkovNetwork.grid([[1]], [0, 1], 1, np.eye(2)).potentials) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"observed": [[0, 2]]}, r"pixel\[0,1\].*no state 2"),
        ({"observed": [[0, -1]]}, "None and NaN"),
        ({"observed": []}, "pixels"),
        ({"observed": 3}, "pixels"),
        ({"observed": [[1], [0, 1]]}, "same length"),
        ({"coupling": np.nan}, "coupling="),
        ({"coupling": "x"}, "coupling="),
        ({"unary": [[1, 2]]}, "each of 2 states"),
        ({"unary": [[1, 2], [3, -4]]}, "negative"),
        ({"unary": [[1, 2], [3, np.nan]]}, "NaN"),
        ({"unary": "x"}, "unary"),
        ({"states": []}, "state"),
    ],
)
def test_grid_mistakes(change, words):
    parts = {"observed": [[0, 1]], "states": [0, 1], "coupling": 1.0, "unary": np.eye(2)} | change
    with pytest.raises(pgm.PGMError, match=words):
        pgm.MarkovNetwork.grid(**parts)


def test_a_large_grid_is_refused():
    image = np.broadcast_to(np.int8(1), (10**6, 10**6))
    with pytest.raises(pgm.TooLarge, match="1,000,000,000,000"):
        pgm.MarkovNetwork.grid(image, [0, 1], 1.0, np.eye(2))


def test_a_million_pixels():
    image = np.random.default_rng(0).integers(0, 2, (1000, 1000))
    grid = pgm.MarkovNetwork.grid(image, [0, 1], 1.0, np.eye(2) + 0.1)
    assert grid.n_factors == 1_000_000 + 2 * 999 * 1000
    assert len(grid.factors()) == 3
    assert grid.potentials[-1].names == ("pixel[999,998]", "pixel[999,999]")


def wide(n=20):
    mrf = pgm.MarkovNetwork()
    for i in range(n):
        mrf.add_variable(f"x{i}", range(10))
    return mrf


@pytest.mark.parametrize(
    "values",
    [
        [[10, 1], [1, 10]],
        np.array([[10, 1], [1, 10]]),
        {("red", "red"): 10, ("blue", "blue"): 10, ...: 1},
        {("red", "red"): 10, ("blue", "blue"): 10, ("red", "blue"): 1, ("blue", "red"): 1},
        pd.DataFrame(
            {"b": ["red", "blue"] * 2, "a": ["red", "red", "blue", "blue"], "value": [10, 1, 1, 10]}
        ),
    ],
    ids=str,
)
def test_forms_of_a_factor(values):
    mrf = pair()
    mrf.add_factor(["a", "b"], values)
    mrf.add_factor(["b", "a"], values)
    assert mrf.potentials[0] == mrf.potentials[1]
    np.testing.assert_array_equal(mrf.potentials[2].values, mrf.potentials[0].values)


def test_logs():
    mrf = pair()
    mrf.add_factor(["a", "b"], {("red", "red"): 1.0}, log=True)
    mrf.add_factor(["a", "b"], [[1, -np.inf], [0, 0]], log=True)
    assert mrf.potentials[1].values.tolist() == [[1, -np.inf], [-np.inf, -np.inf]]
    assert mrf.potentials[2].values.tolist() == [[1, -np.inf], [0, 0]]


def test_rows_of_a_wide_factor_cost_what_they_are():
    mrf = wide()
    rows = {tuple(range(10)) * 2: 2.0, (0,) * 20: 3.0}
    mrf.add_factor(list(mrf.variables), rows)
    factor = mrf.factors()[0]
    assert factor.rows.shape == (2, 20)
    assert mrf.potentials[0].to_dict() == rows
    with pytest.raises(pgm.TooLarge):
        mrf.potentials[0].values  # noqa: B018
    with pytest.raises(pgm.TooLarge, match="a dict without"):
        mrf.add_factor(list(mrf.variables), {**rows, ...: 1.0})
    assert pickle.loads(pickle.dumps(mrf)) == mrf == mrf.copy()
    shuffled = wide()
    shuffled.add_factor(list(mrf.variables), dict(reversed(rows.items())))
    assert shuffled == mrf


def test_small_and_constant_factors():
    mrf = pair()
    mrf.add_factor("a", [2, 3])
    mrf.add_factor([], 5.0)
    assert np.exp(brute_force(mrf)).sum() == pytest.approx(22 * 2.5 * 5)
    assert [p.names for p in mrf.potentials] == [("a", "b"), ("a",), ()]
    mrf.remove_factor(0)
    mrf.remove_factor(-1)
    assert [p.names for p in mrf.potentials] == [("a",)]


def test_a_factor_of_a_family_can_go():
    grid = contract_grid()
    names = [p.names for p in grid.potentials]
    grid.remove_factor(20)
    del names[20]
    assert [p.names for p in grid.potentials] == names
    assert contract_grid() != grid
    assert contract_grid() == contract_grid()


@pytest.mark.parametrize(
    ("names", "values", "log", "words"),
    [
        (["a", "c"], [[1, 1]] * 2, False, "'c'"),
        (["a", "a"], [[1, 1]] * 2, False, "once"),
        ({"a", "b"}, [[1, 1]] * 2, False, "order"),
        (3, [[1, 1]] * 2, False, "list"),
        (["a", "b"], [[1, 1]], False, r"\(2, 2\).*\(1, 2\)"),
        (["a", "b"], 3, False, r"\(2, 2\)"),
        ([], [1, 2], False, "shape"),
        ([], "x", False, "'x'"),
        (["a", "b"], [[1, -1], [1, 1]], False, "a='red', b='blue' is -1.0"),
        (["a", "b"], [[1, np.nan], [1, 1]], False, "nan"),
        (["a", "b"], [[1, np.inf], [1, 1]], False, "inf"),
        (["a", "b"], [[1, np.inf], [1, 1]], True, "minus infinity"),
        (["a", "b"], {("red", "red"): -1}, False, "a='red', b='red' is -1.0"),
        (["a", "b"], {("red", "red"): -1, ...: np.nan}, True, "nan"),
        (["a", "b"], {("red", "red"): "1"}, False, "'1'"),
        (["a", "b"], {("red", "pink"): 1}, False, "'pink'"),
        (["a", "b"], {"red": 1}, False, "order"),
        (["a", "b"], [["1", "2"]] * 2, False, "numbers"),
        (["a", "b"], [[1, 1]] * 2, "yes", "log="),
        (["a", "b"], None, False, "None"),
    ],
    ids=lambda value: None if isinstance(value, set) else repr(value)[:60],
)
def test_mistakes_change_nothing(names, values, log, words):
    mrf = pair()
    with pytest.raises(pgm.PGMError, match=words):
        mrf.add_factor(names, values, log=log)
    assert mrf == pair()


def test_variables():
    mrf = pair()
    with pytest.raises(pgm.InvalidStructure, match="'a' already"):
        mrf.add_variable("a", [0, 1])
    with pytest.raises(pgm.InvalidVariable):
        mrf.add_variable("c", [1, True])
    assert mrf == pair()
    assert mrf.rename({"a": "b", "b": "a"}).potentials[0].names == ("b", "a")
    assert "a" in mrf
    assert len(mrf) == 2
    assert list(mrf) == ["a", "b"]
    assert mrf.markov_blanket("a") == {"b"}
    assert mrf.edges == (("a", "b"),)


def test_networks_become_undirected():
    net = pgm.BayesianNetwork("n")
    net.add("a", 0.3)
    net.add("b", 0.2)
    net.add("c", pgm.NoisyOr({"a": 0.5, "b": 0.25}, leak=0.1))
    net.add("d", pgm.Deterministic(lambda a, c: a == c))
    mrf = net.to_markov_network()
    p = np.exp(brute_force(mrf))
    assert p.sum() == pytest.approx(1)
    assert p[1, 1, 0].sum() == pytest.approx(0.3 * 0.2 * 0.9 * 0.5 * 0.75)
    assert mrf.name == "n"
    assert pickle.loads(pickle.dumps(mrf)) == mrf


def test_order_of_variables_does_not_count():
    other = pgm.MarkovNetwork()
    other.add_variable("b", states=["red", "blue"])
    other.add_variable("a", states=["red", "blue"])
    other.add_factor(["a", "b"], [[10, 1], [1, 10]])
    assert other == pair()
    other.add_factor(["a"], [1, 1])
    assert other != pair()


def test_print():
    assert repr(pair()) == "MarkovNetwork(2 variables, 1 factors)"
    assert str(pair().potentials[0]).splitlines()[1].split() == ["a", "b", "value"]
    assert "<table" in pair()._repr_html_()
    assert len(str(contract_grid()).splitlines()) < 40
    assert pair().potentials[0:1] == [pair().potentials[0]]
    with pytest.raises(IndexError):
        pair().potentials[1]
    with pytest.raises(pgm.InvalidArgument):
        pair().potentials["a"]


@pytest.mark.parametrize("size", [1e300, 1e308, -1e308])
def test_logarithms_beyond_the_exponents_of_the_engine_are_refused(size: float) -> None:
    """They gave NaN, or a model said to be impossible."""
    mrf = pgm.MarkovNetwork()
    mrf.add_variable("a", states=[0, 1])
    for values in ([size, 0], {0: size}):
        with pytest.raises(
            pgm.InvalidTable, match=r"a=0 is .*a log value is a number from -1e\+09 to 1e\+09"
        ):
            mrf.add_factor("a", values, log=True)
    with pytest.raises(pgm.InvalidArgument, match=r"coupling= takes a number up to 1e\+09"):
        pgm.MarkovNetwork.grid([[0, 1]], states=[0, 1], coupling=size, unary=np.eye(2) + 0.1)
    assert mrf.n_factors == 0
    for value in (1e9, -1e9):
        mrf.add_factor("a", [value, 0], log=True)
    assert mrf.query("a").values == pytest.approx([0.5, 0.5], abs=1e-9)


def test_a_factor_that_is_not_there_is_no_factor_to_remove() -> None:
    mrf = pgm.MarkovNetwork()
    with pytest.raises(pgm.InvalidArgument, match="There are 0 factors; 5 is not an index of one"):
        mrf.remove_factor(5)
    with pytest.raises(pgm.InvalidTable, match=r"the factor of no variables takes .* a single value"):
        mrf.add_factor([], [])


def test_pixels_of_text_are_named_as_the_user_wrote_them() -> None:
    with pytest.raises(pgm.UnknownState, match="has no state 'a'; it has 0, 1"):
        pgm.MarkovNetwork.grid([["a", "b"]], states=[0, 1], coupling=1.0, unary=np.eye(2))


def test_the_variables_of_a_grid_are_found_without_a_list_of_them() -> None:
    grid = pgm.MarkovNetwork.grid(np.zeros((3, 12), int), [0, 1], 1.0, [[0.9, 0.1], [0.1, 0.9]])
    names = [f"pixel[{i},{j}]" for i in range(3) for j in range(12)]
    assert list(grid) == list(grid.variables) == list(grid.nodes) == names
    assert all(name in grid and grid.variables[name].states == (0, 1) for name in names)
    for name in (
        *(
            "pixel[3,0]",
            "pixel[0,12]",
            "pixel[0]",
            "pixel[0,0,0]",
            "pixel[-1,0]",
            "pixel[00,0]",
            "pixel[0,01]",
        ),
        *(
            "pixel[0, 1]",
            "pixel[,]",
            "pixel[0,]",
            "pixel[]",
            "pixel[",
            "pixel[\u0663,0]",
            "pixel[1_0,0]",
            "x",
            "",
        ),
        *("Pixel[0,0]", "pixel[0,0] ", f"pixel[{'9' * 5000},0]"),
    ):
        assert name not in grid
        with pytest.raises(pgm.UnknownVariable):
            grid.variables[name]
    with pytest.raises(pgm.InvalidStructure, match="already"):
        grid.add_variable("pixel[2,11]", [0, 1])
    view, other = grid.variables, grid.copy()
    grid.add_variable("light", ["off", "on"])
    grid.add_factor(["light", "pixel[0,1]"], [[1, 2], [3, 1]])
    assert list(view) == [*names, "light"]
    assert view["light"].states == ("off", "on")
    assert len(grid) == 37
    assert len(other) == 36
    assert grid.neighbors("light") == ("pixel[0,1]",)
    assert "light" not in other
    assert other != grid
    other.add_variable("light", ["off", "on"])
    other.add_factor(["light", "pixel[0,1]"], [[1, 2], [3, 1]])
    assert other == grid == pickle.loads(pickle.dumps(grid)) == grid.rename({})
    assert grid.query("light").to_dict() == pytest.approx(grid.rename({"light": "a"}).query("a").to_dict())
    deep = pgm.MarkovNetwork.grid(np.zeros((2, 1, 2), int), [0, 1], 1.0, [[0.9, 0.1], [0.1, 0.9]])
    assert list(deep) == ["pixel[0,0,0]", "pixel[0,0,1]", "pixel[1,0,0]", "pixel[1,0,1]"]
    assert "pixel[1,0,1]" in deep
    assert "pixel[1,1,1]" not in deep
