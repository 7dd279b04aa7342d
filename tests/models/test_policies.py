"""What a policy answers, one case or a frame of them, and which questions it refuses."""

from __future__ import annotations

import json
import math
import pickle
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pgm
from tests.decision_oracle import random_diagram
from tests.models.test_influence_diagram import clinic, oil


def shop() -> pgm.InfluenceDiagram:
    """What is sold tomorrow bears on tomorrow's action, and blocks today's."""
    d = pgm.InfluenceDiagram()
    d.add_decision("price", ["low", "high"])
    d.add_chance("sold", {"low": [0, 1], "high": [1, 0]}, parents=["price"], states=["none", "all"])
    d.add_decision("order", ["no", "yes"], observes=["sold"])
    d.add_utility("gain", {("all", "yes"): 5, ("none", "no"): 1, ...: 0}, parents=["sold", "order"])
    return d


@pytest.mark.parametrize("seed", range(40))
def test_a_frame_is_decided_row_by_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = random_diagram(rng, chances=3, decisions=2, combine=["sum", "product"][seed % 2])
    first = d.decisions[0]
    above = [c for c in d.chances if not any(c in d._network.descendants(x) for x in d.decisions)]
    given = {c: pgm.Not(d.variables[c].states[0]) for c in above[: seed % 3]}
    try:
        policy = d.solve(given)
    except pgm.ImpossibleEvidence:
        return
    for name in policy:
        names = [n for n in d.known(name)] or [first]
        rows = list(product(*[[*d.variables[n].states, None] for n in names]))
        frame = pd.DataFrame(rows, columns=names, index=range(100, 100 + len(rows)), dtype=object)
        found = policy.predict(frame, name, bad_rows="missing")
        assert list(found.index) == list(frame.index)
        for row, action in zip(rows, found, strict=True):
            case = {n: state for n, state in zip(names, row, strict=True) if state is not None}
            if name == first and first in case:
                case = {}
            try:
                wanted = policy.decide(name, case)
            except (pgm.ImpossibleEvidence, pgm.InvalidEvidence):
                wanted = None
            assert pd.isna(action) if wanted is None else action == wanted


def test_rows_without_advice_are_named() -> None:
    policy = oil().solve()
    rows = {"test?": ["no", "yes", "no", "yes"], "report": ["no test", "none", "open", None]}
    assert policy.predict(rows, "drill", bad_rows="missing").tolist() == ["yes", "no", None, None]
    with pytest.raises(pgm.ImpossibleEvidence, match=r"Row 2 .*, and 1 more: .*report=open cannot happen"):
        policy.predict(rows, "drill")
    with pytest.raises(pgm.InvalidEvidence, match=r"Row 0 .*'report', which is missing"):
        policy.predict({"test?": ["yes"], "report": [None]}, "drill")
    with pytest.raises(pgm.UnknownState, match="Row 1"):
        policy.predict({"test?": ["yes", "yes"], "report": ["open", "opened"]}, "drill")
    with pytest.raises(pgm.InvalidFrame, match="'report', and the frame has no such column"):
        policy.predict({"test?": ["yes"], "raport": ["open"]}, "drill")
    with pytest.raises(pgm.UnknownVariable, match="drill"):
        policy.predict(rows, "dril")
    with pytest.raises(pgm.InvalidArgument, match="raise"):
        policy.predict(rows, "drill", bad_rows="skip")
    assert policy.predict({"test?": [], "report": []}, "drill").tolist() == []
    assert policy.predict({"note": ["a", "b"]}, "test?").tolist() == ["yes", "yes"]
    frame = pl.DataFrame({"test?": ["yes", "yes"], "report": ["none", "open"]})
    assert policy.predict(frame, "drill").equals(pl.Series("drill", ["no", "yes"]))


def test_the_past_cannot_be_contradicted() -> None:
    policy = clinic().solve({"test": True})
    assert policy.decide("treat", {"test": True}) is True
    with pytest.raises(pgm.ImpossibleEvidence, match="test=False contradicts the past, test=True"):
        policy.decide("treat", {"test": False})
    assert policy.predict({"test": [True, False]}, "treat", bad_rows="missing").tolist() == [True, None]
    d = pgm.InfluenceDiagram()
    d.add_chance("c", {"a": 0.2, "b": 0.3, "e": 0.5})
    d.add_decision("name", ["a", "b", "e"], observes="c")
    d.add_utility("hit", lambda c, name: float(c == name), parents=["c", "name"])
    policy = d.solve({"c": pgm.Not("a")})
    assert policy.decide("name", {"c": "b"}) == "b"
    for _ in range(2):  # the answer is the same once the table was looked at
        with pytest.raises(pgm.ImpossibleEvidence):
            policy.decide("name", {"c": "a"})
        assert policy["name"].to_dict() == {"b": "b", "e": "e"}


@pytest.mark.parametrize(
    "given",
    [{"test": True, "disease": "banana"}, {"test": True, "disease": True}, {"test": True, "treat": True}],
)
def test_what_is_not_known_then_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises((pgm.UnknownState, pgm.InvalidEvidence), match=r"no state|not known when 'treat'"):
        clinic().solve().decide("treat", given)


def test_there_is_advice_after_a_departure_from_the_policy() -> None:
    policy = shop().solve()
    assert policy.decide("price") == "low"
    assert policy.decide("order", {"price": "high", "sold": "none"}) == "no"
    assert policy["order"].worth.tolist() == [[1.0, 0.0], [0.0, 5.0]]


def test_policies_given_a_past_are_pickled() -> None:
    policy = oil().solve({"test?": "yes", "report": "open"})
    again = pickle.loads(pickle.dumps(policy))
    assert (again, again.given, again.decide("drill")) == (policy, policy.given, "yes")


def test_a_policy_that_knows_more_is_of_another_diagram() -> None:
    knowing = clinic()
    knowing.set("treat", observes=["disease", "test"])
    with pytest.raises(pgm.InvalidArgument, match="another diagram: at 'treat' it depends on 'disease'"):
        clinic().evaluate(knowing.solve())
    with pytest.raises(pgm.UnknownVariable, match="'disease'"):
        clinic().evaluate({"treat": pgm.NoisyOr({"disease": 0.3})})
    bound = clinic()
    bound.set("treat", allowed=[False])
    with pytest.raises(pgm.InvalidTable, match="not allowed"):
        bound.evaluate(clinic().solve())
    with pytest.raises(pgm.InvalidArgument, match="failed for test=False: ZeroDivisionError"):
        clinic().evaluate({"treat": lambda test: 1 / 0})


def test_what_was_given_decides_which_actions_are_allowed() -> None:
    d = pgm.InfluenceDiagram()
    d.add_chance("stock", {"none": 0.4, "some": 0.3, "much": 0.3})
    rule = {"none": ["wait"], ...: ["wait", "sell"]}
    d.add_decision("act", ["wait", "sell"], observes="stock", allowed=rule)
    d.add_utility("gain", {"wait": 0, "sell": 5}, parents=["act"])
    for past in ({"stock": "some"}, {"stock": pgm.Not("none")}):
        assert d.evaluate({"act": "sell"}, past) == 5.0
        assert d.evaluate(d.solve(past), past) == 5.0
    with pytest.raises(pgm.InvalidTable, match="stock='none'"):
        d.evaluate({"act": "sell"})


def test_tolerances_that_doubles_cannot_hold_are_refused() -> None:
    d = pgm.InfluenceDiagram()
    d.add_chance("luck", {"worst": 0.0, "bad": 0.5, "good": 0.5})
    d.add_decision("play", ["yes", "no"])
    worth = {("worst", "yes"): -1e6, ("bad", "yes"): -1, ("good", "yes"): 1, ...: 0.5}
    d.add_utility("win", worth, parents=["luck", "play"])
    with pytest.raises(pgm.InvalidArgument, match="tolerance=1 is too small"):
        d.solve(risk=pgm.ExponentialUtility(1))
    cautious = d.solve(risk=pgm.ExponentialUtility(np.int64(5_000)))
    assert cautious.certainty_equivalent == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("values", "probabilities"),
    [([1, 2], [1.0]), ([], []), ([math.nan], [1.0]), (["a"], [1.0]), (1, 1), ([1, 2], [2, -1]), ([1], [0.9])],
)
def test_what_is_no_lottery_is_refused(values: Any, probabilities: Any) -> None:
    with pytest.raises(pgm.InvalidArgument, match=r"lottery|sum to 1"):
        pgm.ExponentialUtility(1.0).certainty_equivalent(values, probabilities)


def test_what_cannot_happen_costs_nothing() -> None:
    assert pgm.ExponentialUtility(1.0).certainty_equivalent([-1e6, 3], [0, 1]) == 3.0


MISTAKES: list[tuple[Any, str]] = [
    (lambda d: d.solve().risk(seed="x"), "seed is a whole number"),
    (lambda d: d.solve().risk().dominates(5), "another one, not with 5"),
    (lambda d: d.solve().risk().probability_below(math.nan), "limit= is a number"),
    (lambda d: d.solve()["treat"].act(5), "is a dict"),
    (lambda d: d.value_of_information(5), "list"),
    (lambda d: d.value_of_information("disease", costs={5: 5}), "list"),
    (lambda d: d.value_of_information("treat", accuracy={...: {"a": 1.0}}), "'treat' is a decision"),
    (lambda d: d.add_utility("v", lambda test: 1 / 0, parents="test"), "failed: ZeroDivisionError"),
]


@pytest.mark.parametrize(("act", "message"), MISTAKES)
def test_mistakes_about_policies_are_named(act: Any, message: str) -> None:
    with pytest.raises(pgm.PGMError, match=message):
        act(clinic())


def test_numbers_of_numpy_are_numbers_and_none_is_not_known() -> None:
    d = clinic()
    for cost in (np.float32(2), np.int64(2)):
        assert d.value_of_information("disease", costs={"disease": cost}) == pytest.approx(3.4)
    assert d.value_of_information("disease", given={"disease": None}) == pytest.approx(5.4)
    assert d.value_of_control("disease", given={"disease": None}) > 0.0
    assert [1] not in d


def test_limited_memory_takes_evidence_of_every_kind() -> None:
    d = pgm.InfluenceDiagram(memory="limited")
    d.add_chance("c", {"a": 0.2, "b": 0.3, "e": 0.5})
    d.add_chance(
        "hint", {"a": [0.8, 0.2], "b": [0.3, 0.7], "e": [0.0, 1.0]}, parents=["c"], states=["x", "y"]
    )
    d.add_decision("first", ["a", "b", "e"], observes=["hint"], allowed={"x": ["a", "b"], ...: ["b", "e"]})
    d.add_decision("second", ["a", "b", "e"], observes=["first"])
    d.add_utility("hit", lambda c, second: float(c == second), parents=["c", "second"])
    for past, wanted in (
        ({"hint": pgm.Likelihood({"x": 0.5, "y": 1.0})}, (0.5 + 0.08) / 0.875),  # tells x from y
        ({"c": pgm.Not("e")}, 0.16 / 0.5 + 0.21 / 0.5),
        ({"hint": pgm.OneOf("x")}, 0.16 / 0.25),
    ):
        policy = d.solve(past)
        assert policy.exact
        assert policy.expected_utility == pytest.approx(wanted)
        assert d.evaluate(policy, past) == pytest.approx(wanted)
    with pytest.raises(pgm.ImpossibleEvidence):
        d.solve({"c": "e", "hint": "x"})


def test_a_large_row_hides_no_difference_in_another() -> None:
    d = pgm.InfluenceDiagram()
    d.add_chance("big", 0.5)
    d.add_decision("act", ["a", "b"], observes="big")
    d.add_utility("u", [[0, 0.5], [1e12, 0]], parents=["big", "act"])
    policy = d.solve()
    assert policy["act"].to_dict() == {False: "b", True: "a"}
    assert policy["act"].worth.tolist() == [[0.0, 0.5], [1e12, 0.0]]
    p = pgm.InfluenceDiagram(combine="product")
    p.add_chance("big", 0.5)
    p.add_decision("act", ["a", "b"], observes="big")
    p.add_utility("u", [[1e-14, 5e-13], [1, 2]], parents=["big", "act"])
    assert p.solve()["act"].to_dict() == {False: "b", True: "b"}


def test_products_of_what_comes_to_less_than_nothing_are_refused() -> None:
    d = pgm.InfluenceDiagram(combine="product")
    d.add_decision("x", ["a", "b"])
    d.add_utility("u", [1, 2], parents="x")
    d.add_utility("v", [3, 1], parents="x")
    d.add_utility("m", [1.0, -1.0], parents=["u", "v"])
    with pytest.raises(pgm.InvalidTable, match=r"'m' comes to -2 in some case"):
        d.solve()


def test_a_product_with_a_wide_sum_is_refused_before_it_is_made() -> None:
    d = pgm.InfluenceDiagram(combine="product")
    for i in range(40):
        d.add_chance(f"c{i}", 0.5)
        d.add_utility(f"u{i}", [1, 2], parents=f"c{i}")
    d.add_utility("s", [1.0] * 40, parents=[f"u{i}" for i in range(40)])
    with pytest.raises(pgm.TooLarge, match="'s'"):
        d.solve()


def test_a_decision_in_a_file_has_neither_parents_nor_a_distribution(tmp_path: Path) -> None:
    path = tmp_path / "clinic.json"
    pgm.write(clinic(), path)
    content = json.loads(path.read_text())
    node = next(n for n in content["influence-diagram"]["nodes"] if n["name"] == "treat")
    node["parents"] = ["disease"]
    path.write_text(json.dumps(content))
    with pytest.raises(pgm.FileFormatError, match="a decision observes, and has no 'parents'"):
        pgm.read(path)
