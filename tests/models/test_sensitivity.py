"""How expected utilities depend on numbers: against diagrams that were changed by hand and solved anew."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import pgm
from tests.decision_oracle import random_diagram
from tests.models.test_influence_diagram import clinic, oil


def by_hand(d: pgm.InfluenceDiagram, number: Any, x: float) -> pgm.InfluenceDiagram:
    """The diagram with another value of one number, the rest of a row in proportion."""
    node, case = number
    made = d.copy()
    row = tuple([d.variables[name].code(case[name]) for name in d.parents(node)])
    if d.kind(node) == "utility":
        values = np.array(d.utility(node).values)
        values[row] = x
        made.set(node, values)
        return made
    table, place = np.array(d.cpd(node).table()), d.variables[node].code(case[node])
    rest = np.delete(table[row], place)
    rest = rest / rest.sum() if rest.any() else np.full(len(rest), 1 / len(rest))
    table[row] = np.insert(rest * (1 - x), place, x)
    made.set(node, table)
    return made


def some_number(rng: np.random.Generator, d: pgm.InfluenceDiagram) -> Any:
    node = str(rng.choice([*d.chances, *d.utilities]))
    names = [*d.parents(node), *([] if d.kind(node) == "utility" else [node])]
    return node, {name: str(rng.choice(d.variables[name].states)) for name in names}


@pytest.mark.parametrize("seed", range(14))
def test_utilities_are_those_of_the_diagram_changed_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    combine = "product" if seed % 4 == 0 else "sum"
    d = random_diagram(rng, chances=3, decisions=1 + seed % 2, combine=combine)
    d.memory = "limited" if seed % 5 == 1 else "full"
    number = some_number(rng, d)
    found, policy = d.sensitivity(number), d.solve()
    for x in rng.uniform(found.low, found.high, 3):
        changed = by_hand(d, number, float(x))
        worth = changed.solve().expected_utility
        assert found.expected_utility(float(x)) == pytest.approx(worth, rel=1e-9, abs=1e-9)
        for action, value in found.actions(float(x)).items():
            only = changed.copy()
            only.set(found.decision, allowed=[action])
            assert value == pytest.approx(only.solve().expected_utility, rel=1e-9, abs=1e-9)
    for end, sign in zip(found.stays, (-1, 1), strict=True):
        if math.isfinite(end):  # at the edge it loses nothing, and beyond it something
            assert by_hand(d, number, end).evaluate(policy).loses == pytest.approx(0.0, abs=1e-7)
        if math.isfinite(end) and not (d.kind(number[0]) == "chance" and end in (0.0, 1.0)) and end:
            beyond = by_hand(d, number, end + sign * min(1e-3, abs(end - (sign > 0)) / 2))
            assert beyond.evaluate(policy).loses > 0.0


def done(d: pgm.InfluenceDiagram) -> list[dict[str, str]]:
    """What is done in each case that the best policy comes to."""
    return d.solve().strategy().to_pandas().drop(columns=["P", "expected utility"]).to_dict("records")


def test_thresholds_are_where_bisection_finds_them() -> None:
    d = oil()
    number = ("oil", {"oil": "soaking"})
    low, high = d.sensitivity(number).stays
    before = done(d)
    for edge, end in ((low, 0.0), (high, 1.0)):
        inside, outside = 0.2, end
        for _ in range(60):
            middle = (inside + outside) / 2
            if done(by_hand(d, number, middle)) == before:
                inside = middle
            else:
                outside = middle
        assert edge == pytest.approx(inside, abs=1e-12)


def test_thresholds_of_the_clinic_in_closed_form() -> None:
    """Treat after a positive test from 162 p = 4 (1 - p) on, after a negative one from 18 p = 16 (1 - p)."""
    found = clinic().sensitivity(("disease", {"disease": True}))
    assert found.stays == pytest.approx((4 / 166, 16 / 34))
    assert [s.changes for s in found.segments] == [{"treat": {True: False}}, {}, {"treat": {False: True}}]
    assert [s.otherwise for s in found.segments] == [
        "treat: False if test=True",
        "",
        "treat: True if test=False",
    ]
    assert found.actions(0.3) == pytest.approx({False: -30.0, True: 10.0})
    told = clinic().sensitivity(("disease", {"disease": True}), given={"test": True})
    assert told.stays == pytest.approx((4 / 166, 1.0))
    p = 0.9 * 0.05 / (0.9 * 0.05 + 0.2 * 0.95)
    assert told.expected_utility(0.05) == pytest.approx(80 * p - 20 * (1 - p))
    # The price of the wildcatter's test: 12.5 is what it is worth.
    assert oil().sensitivity(("cost", {"test?": "yes"})).stays == pytest.approx((-12.5, math.inf))


def test_a_table_has_the_largest_effect_first() -> None:
    d = clinic()
    found = d.sensitivity(spread=0.05)
    sizes = [one.size for one in found.values()]
    assert sizes == sorted(sizes, reverse=True)
    assert len(found) == 3 + 4
    one = found["P(test=True | disease=False)"]
    assert (one.low, one.high) == pytest.approx((0.15, 0.25))
    for x, worth in ((one.low, one.at_low), (one.high, one.at_high)):
        changed = by_hand(d, ("test", {"disease": False, "test": True}), x)
        assert worth == pytest.approx(changed.solve().expected_utility)
    alone = d.sensitivity(("test", {"disease": False, "test": True}))
    assert one.stays == pytest.approx(alone.stays)
    assert one.above == alone.segments[-1].changes
    assert list(found.to_pandas().columns)[:3] == ["now", "from", "to"]
    assert found.to_dict()["P(disease=True)"]["now"] == 0.1
    assert "utility now 2.6" in repr(found)
    assert "P(disease=True)" in found._repr_html_()
    assert set(d.sensitivity("benefit")) == {name for name in found if name.startswith("benefit")}


def test_two_numbers_make_a_map() -> None:
    d = clinic()
    first, second = ("disease", {"disease": True}), ("benefit", {"disease": False, "treat": True})
    found = d.sensitivity(first, second)
    for i, j in ((0, 0), (3, 17), (20, 5)):
        there = by_hand(by_hand(d, first, found.x[i]), second, found.y[j])
        assert found.utilities[i, j] == pytest.approx(there.solve().expected_utility)
    assert "as now" in found.policies
    assert len(found.to_pandas()) == found.utilities.size
    assert "the best in" in repr(found)
    assert found.to_dict()["policies"] == list(found.policies)
    d = pgm.InfluenceDiagram()
    d.add_chance("rain", 0.3)
    d.add_decision("umbrella", [False, True])
    d.add_utility("comfort", [[8, 5], [-10, 2]], parents=["rain", "umbrella"])
    small = d.sensitivity(("rain", {"rain": True}), ("comfort", {"rain": False, "umbrella": True}))
    assert set(small.policies) == {"umbrella: False", "umbrella: True"}


def test_sensitivities_are_pickled() -> None:
    d = clinic()
    for found in (d.sensitivity(), d.sensitivity(("disease", {"disease": True}))):
        assert repr(pickle.loads(pickle.dumps(found))) == repr(found)


def gated() -> pgm.InfluenceDiagram:
    d = clinic()
    d.add_chance("alarm", pgm.NoisyOr({"disease": 0.3, "test": 0.2}))
    d.add_utility("squared", lambda benefit: benefit**2, parents=["benefit"])
    return d


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (
            lambda d: d.sensitivity("treat"),
            pgm.InvalidArgument,
            "'treat' is a decision: it has no parameters",
        ),
        (lambda d: d.sensitivity("desease"), pgm.UnknownVariable, "Did you mean 'disease'"),
        (
            lambda d: d.sensitivity(("test", {"test": True})),
            pgm.InvalidArgument,
            "also needs the state of 'disease'",
        ),
        (lambda d: d.sensitivity(("disease", {"disease": 3})), pgm.UnknownState, "no state 3"),
        (lambda d: d.sensitivity(("disease", True)), pgm.InvalidArgument, "states of its row"),
        (
            lambda d: d.sensitivity(("disease", {"test": True})),
            pgm.UnknownVariable,
            "In the table of 'disease'",
        ),
        (lambda d: d.sensitivity(spread=0), pgm.InvalidArgument, "spread="),
        (lambda d: d.sensitivity("disease", low=0), pgm.InvalidArgument, "spread= says"),
        (
            lambda d: d.sensitivity(("disease", {"disease": True}), low=0.2),
            pgm.InvalidArgument,
            "present value between them, 0.1",
        ),
        (
            lambda d: d.sensitivity(("disease", {"disease": True}), high=2),
            pgm.InvalidArgument,
            "high= is a number from 0 to 1",
        ),
        (
            lambda d: d.sensitivity(("disease", {"disease": True}), ("disease", {"disease": False})),
            pgm.InvalidStructure,
            "of one row",
        ),
        (
            lambda d: d.sensitivity(("disease", {"disease": True})).actions(2),
            pgm.InvalidArgument,
            "from 0 to 1",
        ),
        (
            lambda d: d.sensitivity(("disease", {"disease": True}), decision="treat", given={"treat": True}),
            pgm.InvalidEvidence,
            "'treat' is given",
        ),
        (lambda d: gated().sensitivity("alarm"), pgm.InvalidStructure, "is a NoisyOr"),
        (lambda d: gated().sensitivity("benefit"), pgm.InvalidStructure, "used by the function 'squared'"),
    ],
)
def test_mistakes_are_named(act: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        act(clinic())


def test_weights_of_utilities_count() -> None:
    d = pgm.InfluenceDiagram()
    d.add_chance("rain", 0.3)
    d.add_decision("umbrella", [False, True])
    d.add_utility("comfort", {(True, False): -10, (True, True): 2, ...: 0}, parents=["rain", "umbrella"])
    d.add_utility("load", [0, 1], parents="umbrella")
    d.add_utility("all", {"comfort": 2.0, "load": -1.5}, parents=["comfort", "load"])
    # 2 (.3 * 12) = 1.5 load: at 4.8 the umbrella is left at home
    assert d.sensitivity(("load", {"umbrella": True})).stays == pytest.approx((-math.inf, 4.8))
    assert d.sensitivity(("comfort", {"rain": True, "umbrella": True})).stays[0] == pytest.approx(-7.5)


def test_contributions_by_cases_add_up() -> None:
    policy = oil().solve({"test?": "yes"})
    whole, by = policy.contributions(), policy.contributions(by=["oil", "drill"])
    for name, parts in by.items():
        assert math.fsum(parts.values()) == pytest.approx(whole[name])
    assert by["profit"]["dry", "yes"] == pytest.approx(-70 * 0.5 * 0.4)
    assert by["profit"]["soaking", "no"] == 0.0
    assert policy.contributions(by="test?")["cost"] == {"no": 0.0, "yes": -10.0}
    with pytest.raises(pgm.UnknownVariable, match="Did you mean 'drill'"):
        policy.contributions(by="dril")
