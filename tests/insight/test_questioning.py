"""Questions, whole diagnoses, contradictions, explanations and turning points, against enumeration."""

from __future__ import annotations

import math
import pickle
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import pgm
from tests.insight.enumeration import Joint, random_findings, random_network
from tests.insight.test_explanations import mutual
from tests.insight.test_sensitivity import wet_grass


@pytest.mark.parametrize("seed", range(5))
def test_a_diagnosis_asks_what_tells_most_until_it_is_sure(seed: int) -> None:
    net = random_network(seed, 6)
    target = f"v{seed}"
    known = random_findings(net, seed, 1, but=(target,))
    joint = Joint(net)
    tree = net.diagnosis(target, known, sure=0.9, depth=3)
    total = right = asked = 0.0
    waiting = [(tree.root, dict(known), 0)]
    while waiting:
        step, found, depth = waiting.pop()
        share = joint.posterior(target, found)
        assert list(step.shares.values()) == pytest.approx(share, abs=1e-10)
        assert step.probability == pytest.approx(joint.probability(found) / joint.probability(known))
        rest = [n for n in net if n != target and n not in found]
        told = {n: mutual(joint.posterior([target, n], found)) for n in rest}
        if step.question is None:
            total += step.probability
            right += step.probability * share.max()
            assert share.max() >= 0.9 or depth == 3 or max(told.values(), default=0) < 1e-12
            continue
        asked += step.probability
        assert share.max() < 0.9
        assert told[step.question] == pytest.approx(max(told.values()), abs=1e-10)
        waiting += [(after, {**found, step.question: s}, depth + 1) for s, after in step.answers.items()]
    assert total == pytest.approx(1.0)
    assert (tree.right, tree.questions) == (pytest.approx(right), pytest.approx(asked))
    cases = {n: list(v) for n, v in net.sample(4000, given=known, seed=seed).items()}
    followed = tree.follow(cases)
    share = np.mean([a == b for a, b in zip(followed["conclusion"], cases[target], strict=True)])
    assert share == pytest.approx(tree.right, abs=0.04)
    assert followed["questions"].mean() == pytest.approx(tree.questions, abs=0.1)
    assert repr(pickle.loads(pickle.dumps(tree))) == repr(tree)


def test_a_question_and_when_to_stop() -> None:
    net = wet_grass()
    first = net.next_question("rain", {"wet": True})
    joint = Joint(net)
    assert (bool(first), first.name) == (True, "cloudy")
    assert first.gain == pytest.approx(mutual(joint.posterior(["rain", "cloudy"], {"wet": True})))
    for state, (p, after) in first.outcomes.items():
        assert p == pytest.approx(joint.posterior("cloudy", {"wet": True})[int(state)])
        assert after[True] == pytest.approx(joint.posterior("rain", {"wet": True, "cloudy": state})[1])
    assert str(first).startswith("ask cloudy: its expected information is 0.3591 nats")
    sure = net.next_question("rain", {"wet": True, "cloudy": True}, sure=0.9)
    assert not sure
    assert "rain=True is sure enough" in sure.reason
    assert "gains only" in net.next_question("rain", {"wet": True}, least=0.5).reason
    dear = net.next_question("rain", {"wet": True}, costs={"cloudy": 10.0, "sprinkler": 1.0})
    assert dear.name == "sprinkler"
    tree = net.diagnosis(
        "rain", {"wet": True}, costs={"cloudy": 2.0, "sprinkler": 1.0, ("cloudy", "sprinkler"): 2.5}
    )
    leaves = [step for step in tree.root.leaves()]
    assert math.fsum(leaf.probability for leaf in leaves) == pytest.approx(1.0)
    assert 1.0 <= tree.cost <= 2.5
    assert tree.plot().get_title()
    assert tree.to_pandas()["question"].isna().sum() == len(leaves)
    assert tree.to_dict()["ask"] == "sprinkler"
    with pytest.raises(pgm.InvalidArgument, match="sure= is a number from 0 to 1"):
        net.next_question("rain", sure=2)
    with pytest.raises(pgm.InvalidArgument, match="depth= is a whole number"):
        net.diagnosis("rain", depth=0)
    with pytest.raises(pgm.UnknownVariable, match="columns of the frame"):
        tree.follow({"wet": [True]})
    with pytest.raises(pgm.UnknownState):
        tree.follow({"sprinkler": ["maybe"], "cloudy": [True]})


@pytest.mark.parametrize("seed", range(8))
def test_all_smallest_contradictions(seed: int) -> None:
    net = random_network(seed, 6, zeros=0.5)
    joint, rng = Joint(net), np.random.default_rng(seed)
    known = {n: net.variables[n].states[rng.integers(net.variables[n].card)] for n in net}
    wanted = []
    for size in range(1, 7):
        for some in combinations(known, size):
            part = {n: known[n] for n in some}
            if joint.probability(part) == 0 and not any(core.items() <= part.items() for core in wanted):
                wanted.append(part)
    assert net.contradictions(known) == wanted


@pytest.mark.parametrize("seed", range(5))
def test_relevant_explanations(seed: int) -> None:
    net = random_network(seed, 6)
    known = random_findings(net, seed, 2)
    joint, over = Joint(net), [n for n in net if n not in known]
    found = net.relevant_explanation(known, over=over)
    factors: dict[frozenset[Any], float] = {}
    for size in (1, 2, 3):
        for some in combinations(over, size):
            for states in product(*[net.variables[n].states for n in some]):
                x = dict(zip(some, states, strict=True))
                both, alone = joint.probability({**known, **x}), joint.probability(x)
                if both > 0:
                    other = joint.probability(known) - both
                    factors[frozenset(x.items())] = (
                        math.inf
                        if other <= 1e-15 and alone < 1
                        else (both / alone) / (other / (1 - alone))
                        if alone < 1
                        else 1.0
                    )
    assert found.exact
    best = max(factors.values())
    assert found[0].factor == pytest.approx(best, rel=1e-6)
    for one in found:
        assert one.factor == pytest.approx(factors[frozenset(one.states.items())], rel=1e-6)
        assert one.probability == pytest.approx(
            joint.probability({**known, **one.states}) / joint.probability(known)
        )
    assert [one.factor for one in found] == sorted((one.factor for one in found), reverse=True)
    greedy = net.relevant_explanation(known, over=over, most=4)
    assert not greedy.exact
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)
    assert len(found.to_pandas()) == len(found) == len(found.to_dict())


@pytest.mark.parametrize("seed", range(6))
def test_the_smallest_changes_that_turn_an_answer(seed: int) -> None:
    net = random_network(seed, 6)
    target = f"v{seed}"
    known = random_findings(net, seed, 3, but=(target,))
    joint = Joint(net)
    now = int(joint.posterior(target, known).argmax())
    wanted: list[tuple[dict[str, Any], int, float]] = []
    for size in (1, 2, 3):
        for some in combinations(known, size):
            for states in product(*[[s for s in net.variables[n].states if s != known[n]] for n in some]):
                change = dict(zip(some, states, strict=True))
                share = joint.posterior(target, {**known, **change})
                if not np.isnan(share).any() and int(share.argmax()) != now:
                    wanted.append((change, int(share.argmax()), float(share.max())))
        if wanted:
            break
    found = net.turning(target, known)
    assert len(found) == len(wanted)
    for turn in found:
        code = net.variables[target].code(turn.answer)
        assert (dict(turn.changes), code, pytest.approx(turn.probability)) in wanted
    sizes = [turn.probability for turn in found]
    assert sizes == sorted(sizes, reverse=True)


def test_shapley_values_of_rows() -> None:
    net = wet_grass()
    rows = {"wet": [True, True, None, False], "sprinkler": [True, False, True, None]}
    found = net.shapley("rain", frame=rows)
    for row in range(4):
        known = {n: v[row] for n, v in rows.items() if v[row] is not None}
        one = net.shapley("rain", known)
        for name in rows:
            assert found[name][row] == pytest.approx(one.get(name, 0.0), abs=1e-12)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows, index=list("abcd"))
    assert net.shapley("rain", frame=frame).loc["a", "wet"] == pytest.approx(0.093094, abs=5e-7)
    with pytest.raises(pgm.InvalidArgument, match="are for one case"):
        net.shapley("rain", {"wet": True}, frame=rows)
    with pytest.raises(pgm.InvalidArgument, match="as state="):
        pgm.load_network("asia").shapley("lung", frame={"xray": ["yes"]})
    with pytest.raises(pgm.ImpossibleEvidence, match="1"):
        pgm.load_network("asia").shapley(
            "lung", frame={"tub": ["yes"] * 2, "either": ["yes", "no"]}, state="yes"
        )


def test_mistakes_are_named() -> None:
    net = wet_grass()
    with pytest.raises(pgm.InvalidArgument, match="Nothing is given"):
        net.relevant_explanation({}, over=["rain"])
    with pytest.raises(pgm.InvalidArgument, match="over= names 'wet', which is given"):
        net.relevant_explanation({"wet": True}, over=["wet"])
    with pytest.raises(pgm.InvalidArgument, match="only discrete findings"):
        net.turning("rain", {"wet": pgm.Likelihood({True: 0.3, False: 0.2})})
    with pytest.raises(pgm.InvalidArgument, match="is already the most probable state"):
        net.turning("rain", {"wet": True}, to=True)
    assert net.turning("cloudy", {"wet": True}, to=False)[0].changes == {"wet": False}
    assert net.contradictions({"wet": True}) == []
