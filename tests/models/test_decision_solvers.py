"""What every solver of influence diagrams must do: find the best of all policies, one by one in fractions."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import pgm
from pgm.models.decision.solvers import SOLVERS
from tests.decision_oracle import allowed, cases, random_diagram

MOST = 20_000  # policies


def best_of_all(d: pgm.InfluenceDiagram, given: dict[str, str]) -> Fraction | None:
    """The largest expected utility over all policies that are allowed, given the past; None: too many."""
    every = [one for one in cases(d, given) if one[1]]
    waiting = [name for name in d.decisions if name not in given]
    known = {name: [v for v in d.known(name) if v not in given] for name in waiting}
    rows = {name: list(product(*[range(d.variables[v].card) for v in known[name]])) for name in waiting}
    rules = {name: d.variables[name].card ** len(rows[name]) for name in waiting}
    if math.prod(rules.values()) * len(every) > MOST * 100 or not every:
        return None
    chances = [Fraction(p) for _, p, _ in every]
    totals = [Fraction(p * worth) for _, p, worth in every]
    scales = [math.lcm(*(x.denominator for x in column)) for column in (chances, totals)]
    row_of = {name: {row: i for i, row in enumerate(rows[name])} for name in waiting}
    plain = [  # of each case: what each rule must say for it, whether that is allowed, and whole numbers
        (
            [(row_of[name][tuple([case[v] for v in known[name]])], case[name]) for name in waiting],
            all(allowed(d, name, case) for name in waiting),
            int(chance * scales[0]),
            int(total * scales[1]),
        )
        for (case, *_), chance, total in zip(every, chances, totals, strict=True)
    ]
    values = []
    for rules_chosen in product(
        *[product(range(d.variables[name].card), repeat=len(rows[name])) for name in waiting]
    ):
        total = chance = 0
        for wanted, may_be, p, worth in plain:
            if any(rule[row] != act for rule, (row, act) in zip(rules_chosen, wanted, strict=True)):
                continue
            if not may_be:
                break
            total, chance = total + worth, chance + p
        else:
            if chance:
                values.append(Fraction(total * scales[0], chance * scales[1]))
    return max(values) if values else None


@pytest.mark.parametrize("memory", SOLVERS)
@pytest.mark.parametrize("seed", range(20))
def test_the_best_of_all_policies_is_found(memory: str, seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    combine = "product" if seed % 4 == 0 else "sum"
    d = random_diagram(rng, chances=3, decisions=1 + seed % 2, combine=combine)
    d.memory = memory
    below = set().union(*[d._network.descendants(name) for name in d.decisions])
    above = [name for name in d.chances if name not in below]
    given = {str(rng.choice(above)): "s0"} if above and seed % 3 == 0 else {}
    wanted = best_of_all(d, given)
    if wanted is None:
        return
    policy = d.solve(given)
    assert policy.exact
    assert policy.expected_utility == pytest.approx(float(wanted), abs=1e-9)
    assert d.evaluate(policy, given) == pytest.approx(float(wanted), abs=1e-9)  # and it is what is advised
    again = pickle.loads(pickle.dumps(policy))
    assert again.to_dict() == policy.to_dict()


@pytest.mark.parametrize("memory", SOLVERS)
def test_what_cannot_be_is_refused(memory: str) -> None:
    d = pgm.InfluenceDiagram(memory=memory)
    d.add_chance("rain", {"no": 1.0, "yes": 0.0})
    d.add_decision("umbrella", ["leave", "take"], observes="rain")
    d.add_utility("load", [0, -1], parents="umbrella")
    with pytest.raises(pgm.ImpossibleEvidence):
        d.solve({"rain": "yes"})
    policy = d.solve()
    assert policy.decide("umbrella", {"rain": "no"}) == "leave"
    assert policy.expected_utility == 0.0


@pytest.mark.parametrize("memory", SOLVERS)
def test_mean_and_variance_are_those_of_pyagrum_or_better(memory: str, tmp_path: Path) -> None:
    """Of diagrams that it can solve; in some of these it finds less than enumeration does, never more."""
    gum = pytest.importorskip("pyagrum")
    same = 0
    for seed in range(12):
        d = random_diagram(np.random.default_rng(100 + seed), masks=False, decisions=1 + seed % 3)
        d.memory = memory
        pgm.write(d, tmp_path / "d.bifxml")
        theirs = gum.InfluenceDiagram()
        theirs.loadBIFXML(str(tmp_path / "d.bifxml"))
        engine = gum.ShaferShenoyLIMIDInference(theirs)
        if memory == "full":
            engine.addNoForgettingAssumption(list(d.decisions))
        if not engine.isSolvable():
            continue
        engine.makeInference()
        found, policy = engine.MEU(), d.solve()
        assert found["mean"] <= policy.expected_utility + 1e-6
        if found["mean"] == pytest.approx(policy.expected_utility, abs=1e-9):
            same += 1
            assert policy.risk().variance == pytest.approx(found["variance"], rel=1e-6, abs=1e-6)
    assert same >= 6
