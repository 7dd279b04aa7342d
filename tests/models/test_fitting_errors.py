"""Wrong input of `fit` and of what goes with it is refused in words, never by an error of Python or numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pgm

ROWS = {"a": [True, False, True], "b": ["x", "y", "x"]}
PAIRS = pgm.priors.NormalWishart([0.0, 0.0])


def net() -> pgm.BayesianNetwork:
    return pgm.BayesianNetwork(edges="a -> b")


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"fixed": [["a"]]}, "Names are text"),
        ({"tied": [[["a"], "b"]]}, "Names are text"),
        ({"continuous": [["a"]]}, "Names are text"),
        ({"latent": [["a"]]}, "latent= is a dict such as"),
        ({"latent": {"a": 10**12}}, "its table would have 1,000,000,000,000 entries"),
        ({"weights": [1e308] * 3}, "their sum is infinite"),
    ],
)
def test_fit_says_what_is_wrong(option: dict[str, Any], said: str) -> None:
    rows = {"b": ROWS["b"]} if "latent" in option else ROWS
    with pytest.raises(pgm.PGMError, match=said):
        net().fit(rows, **option)


def test_a_number_of_states_may_be_numpys() -> None:
    assert len(net().fit({"b": ROWS["b"]}, latent={"a": np.int64(2)}, seed=0).variables["a"].states) == 2


def test_copies_without_end_are_refused_before_memory_is_asked_for() -> None:
    with pytest.raises(pgm.TooLarge, match="1,000,000,000,000 copies of 1 rows"):
        net().fit(ROWS).impute({"a": [None], "b": ["x"]}, draws=10**12)


@pytest.mark.parametrize("method", ["k-means", "width", "quantile"])
def test_more_bins_than_numbers_are_refused(method: str) -> None:
    with pytest.raises(pgm.InvalidArgument, match="the column has 4 values: ask for fewer"):
        pgm.discretize([1.0, 2.5, 3.5, 9.0], method, 10**9)


def test_columns_to_cut_are_named_in_a_list() -> None:
    with pytest.raises(pgm.InvalidArgument, match="columns= lists names of columns, not 3"):
        pgm.discretize({"x": [1.0, 2.5]}, columns=3)


def test_a_target_may_have_very_many_classes() -> None:
    found = pgm.discretize({"x": np.arange(800) + 0.5, "c": [str(i) for i in range(800)]}, "mdlp", target="c")
    assert isinstance(found["x"], pgm.Bins)


@pytest.mark.parametrize("data", [[1, 2, 3], [[1]]])
def test_rows_of_another_width_are_refused(data: Any) -> None:
    for question in (PAIRS.posterior, PAIRS.log_evidence):
        with pytest.raises(pgm.InvalidArgument, match="rows of 2 values each"):
            question(data)
    with pytest.raises(pgm.InvalidArgument, match="not an empty one"):
        pgm.priors.NormalWishart([])


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"start": 3}, "start= is a network or a list of arcs"),
        ({"states": 3}, "states= is a dict"),
        ({"continuous": 3}, "continuous= lists names"),
        ({"columns": 3}, "columns= lists names"),
        ({"latent": {"h": 10**12}}, "its table would have 1,000,000,000,000 entries"),
    ],
)
def test_learn_structure_says_what_is_wrong(option: dict[str, Any], said: str) -> None:
    with pytest.raises(pgm.PGMError, match=said):
        pgm.learn_structure(ROWS, **option)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"tied": 3}, "tied= lists groups of indices"),
        ({"tied": [3]}, "tied= lists groups of indices"),
        ({"features": {0: "x"}}, "features= of a factor are numbers, not 'x'"),
        ({"features": {0: np.empty((0, 2, 2))}}, r"not \(0, 2, 2\)"),
        ({"tol": "a"}, "tol= is a number from 0 on, not 'a'"),
        ({"tol": float("nan")}, "tol= is a number from 0 on, not nan"),
    ],
)
def test_undirected_fit_says_what_is_wrong(option: dict[str, Any], said: str) -> None:
    model = pgm.MarkovNetwork()
    model.add_variable("a", states=[False, True])
    model.add_variable("b", states=["x", "y"])
    model.add_factor(["a", "b"], [[1, 1], [1, 1]])
    with pytest.raises(pgm.InvalidArgument, match=said):
        model.fit(ROWS, **option)


def test_a_collapse_names_a_prior_that_goes_with_the_node() -> None:
    for rows, prior in (({"x": [1.5, 2.5], "y": [3.1, 5.0]}, "Expert"), ({"x": [1.5, 1.5]}, "NormalGamma")):
        with pytest.raises(pgm.InvalidArgument, match=f"pgm.priors.{prior}"):
            pgm.BayesianNetwork(edges="x -> y" if "y" in rows else "x").fit(rows)


def test_more_rows_have_the_columns_of_the_first() -> None:
    with pytest.raises(pgm.InvalidFrame, match=r"no column 'b', which `fit` had\. Did you mean 'B'"):
        net().fit(ROWS).partial_fit({"a": [True], "B": ["x"]})
    hidden = net().fit({"b": ROWS["b"]}, latent={"a": 2}, seed=0)
    assert hidden.partial_fit({"b": ["x", "y"]}).fit_report.n_rows == 2  # of which the log-likelihood is
