"""Influence diagrams against enumeration in fractions, books, and their own networks."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.models.decision.risk import RiskProfile
from tests.decision_oracle import allowed, best, best_policy, cases, random_diagram


def clinic() -> pgm.InfluenceDiagram:
    d = pgm.InfluenceDiagram("clinic")
    d.add_chance("disease", 0.1)
    d.add_chance("test", {True: 0.9, False: 0.2}, parents=["disease"])
    d.add_decision("treat", states=[False, True], observes=["test"])
    d.add_utility(
        "benefit",
        {(True, True): 80, (True, False): -100, (False, True): -20, (False, False): 0},
        parents=["disease", "treat"],
    )
    return d


def drawn(seed: int, **options: Any) -> tuple[np.random.Generator, pgm.InfluenceDiagram]:
    rng = np.random.default_rng(seed)
    combine = "product" if seed % 4 == 3 else "sum"
    chances, decisions = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    return rng, random_diagram(rng, chances=chances, decisions=decisions, combine=combine, **options)


@pytest.mark.parametrize("seed", range(120))
def test_solutions_are_those_of_all_histories(seed: int) -> None:
    _, d = drawn(seed)
    policy = d.solve()
    wanted = float(best(d))
    assert policy.expected_utility == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert policy.exact
    # Followed in a network, and evaluated by itself, the policy is worth the same.
    names = list(d.variables)
    joint = policy.network().query(names).values
    followed = sum(joint[tuple([case[n] for n in names])] * float(u) for case, _, u in cases(d, {}))
    assert followed == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert d.evaluate(policy) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert d.evaluate(policy).loses == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_solutions_are_the_best_of_all_policies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = random_diagram(rng, chances=2, decisions=1 + seed % 2)
    histories = [int(np.prod([d.variables[k].card for k in d.known(name)])) for name in d.decisions]
    cards = [d.variables[name].card for name in d.decisions]
    if np.prod([float(c) ** h for c, h in zip(cards, histories, strict=True)]) > 3000:
        return
    assert d.solve().expected_utility == pytest.approx(float(best_policy(d)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_the_past_may_be_given(seed: int) -> None:
    rng, d = drawn(seed)
    first = d.decisions[0]
    past = {first: d.variables[first].states[int(rng.integers(d.variables[first].card))]}
    past |= {k: d.variables[k].states[int(rng.integers(d.variables[k].card))] for k in d.known(first)}
    codes = {k: d.variables[k].code(v) for k, v in past.items()}
    possible = sum(p for _, p, _ in cases(d, past)) > 0
    if not allowed(d, first, codes) or not possible:
        with pytest.raises((pgm.ImpossibleEvidence, pgm.InvalidEvidence)):
            d.solve(past)
        return
    assert d.solve(past).expected_utility == pytest.approx(float(best(d, past)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_the_worth_of_each_action_is_what_taking_it_once_is_worth(seed: int) -> None:
    """The table of a decision against the network in which only this decision departs from the policy."""
    _, d = drawn(seed)
    policy = d.solve()
    names = list(d.variables)
    for name in policy:
        rule = policy[name]
        seen = [v.name for v in rule.given]
        cpds = {n: policy.network().cpd(n) for n in d.decisions}
        free = d.copy()
        total: dict[tuple[int, ...], float] = {}
        weight: dict[tuple[int, ...], float] = {}
        aside: dict[tuple[int, ...], tuple[float, float]] = {}
        for case, p, u in cases(free, {}):
            w = float(p)
            for other in d.decisions:
                if other == name or other in seen:
                    w *= allowed(d, other, case)  # what is known of them is given
                    continue
                cpd = cpds[other]
                w *= float(cpd.table()[tuple([case[q] for q in (*cpd.parents, other)])])
            key = tuple([case[s] for s in (*seen, name)])
            total[key] = total.get(key, 0.0) + w * float(u)
            weight[key] = weight.get(key, 0.0) + w
            # Where only a departure from the policy leads: each allowed action before is equally probable.
            w = float(p)
            for other in d.decisions:
                if d.decisions.index(other) > d.decisions.index(name) and other not in seen:
                    cpd = cpds[other]
                    w *= float(cpd.table()[tuple([case[q] for q in (*cpd.parents, other)])])
                elif other != name:
                    w *= chance_at_random(d, other, case)
            before = aside.get(key, (0.0, 0.0))
            if w:
                aside[key] = (before[0] + w * float(u), before[1] + w)
        uneven = [s for s in seen if s in d.decisions and d.allowed(s) is not None]
        if uneven or (set(seen) & set(d.decisions)):
            continue  # how probable earlier actions are is a convention: the histories test covers them
        for key, value in np.ndenumerate(rule.worth):
            if np.isfinite(value) and key in aside and not weight.get(key, 0.0):
                assert value == pytest.approx(aside[key][0] / aside[key][1], rel=1e-8, abs=1e-8)
            elif np.isfinite(value):
                assert value == pytest.approx(total[key] / weight[key], rel=1e-8, abs=1e-8)
            else:
                assert not weight.get(key, 0.0)
    assert names


def chance_at_random(d: pgm.InfluenceDiagram, name: str, case: dict[str, int]) -> float:
    mask = d.allowed(name)
    if mask is None:
        return 1.0 / d.variables[name].card
    row = mask[tuple([case[q] for q in d._decisions[name].allowed_given])]
    return float(row[case[name]] / row.sum())


def test_simulated_cases_have_the_expected_utility() -> None:
    d = clinic()
    policy = d.solve()
    worth = policy.simulate(40_000, seed=1)["benefit"]
    assert abs(worth.mean() - policy.expected_utility) < 4 * worth.std() / 200
    assert worth.var() == pytest.approx(741.24, rel=0.05)


def test_the_wildcatter_of_raiffa() -> None:
    d = oil()
    policy = d.solve()
    assert policy.expected_utility == pytest.approx(22.5)
    assert policy.decide("test?") == "yes"
    assert policy["drill"].to_dict() == {
        ("no", "no test"): "yes",
        ("yes", "none"): "no",
        ("yes", "open"): "yes",
        ("yes", "closed"): "yes",
    }
    assert d.solve({"test?": "no"}).expected_utility == pytest.approx(20.0)
    past = {"test?": "no", "report": "no test"}
    assert d.value_of_information("oil", before="drill", given=past) == pytest.approx(35.0)
    free = d.copy()
    free.set("cost", {"yes": 0, "no": 0})
    assert free.solve({"test?": "yes"}).expected_utility - 20.0 == pytest.approx(12.5)
    with pytest.raises(pgm.ImpossibleEvidence, match=r"report=open cannot happen"):
        policy.decide("drill", {"test?": "no", "report": "open"})


def oil() -> pgm.InfluenceDiagram:
    d = pgm.InfluenceDiagram("oil wildcatter")
    d.add_chance("oil", {"dry": 0.5, "wet": 0.3, "soaking": 0.2})
    d.add_decision("test?", ["no", "yes"])
    d.add_chance(
        "report",
        {
            ("yes", "dry"): [0, 0.6, 0.3, 0.1],
            ("yes", "wet"): [0, 0.3, 0.4, 0.3],
            ("yes", "soaking"): [0, 0.1, 0.4, 0.5],
            ...: [1, 0, 0, 0],
        },
        parents=["test?", "oil"],
        states=["no test", "none", "open", "closed"],
    )
    d.add_decision("drill", ["no", "yes"], observes=["report"])
    profit = {("yes", "dry"): -70, ("yes", "wet"): 50, ("yes", "soaking"): 200, ...: 0}
    d.add_utility("profit", profit, parents=["drill", "oil"])
    d.add_utility("cost", {"yes": -10, "no": 0}, parents=["test?"])
    return d


def test_a_chain_with_the_state_seen_is_backward_induction() -> None:
    rng = np.random.default_rng(0)
    n, actions, steps = 4, 3, 6
    move, reward = rng.dirichlet(np.ones(n), (n, actions)), rng.random((n, actions))
    start = rng.dirichlet(np.ones(n))
    d = pgm.InfluenceDiagram()
    d.add_chance("s0", start, states=range(n))
    for t in range(steps):
        d.add_decision(f"a{t}", range(actions), observes=f"s{t}")
        d.add_utility(f"r{t}", reward, parents=[f"s{t}", f"a{t}"])
        d.add_chance(f"s{t + 1}", move, parents=[f"s{t}", f"a{t}"], states=range(n))
    value, plans = np.zeros(n), []
    for _ in range(steps):
        q = reward + move @ value
        plans.append(q.argmax(axis=1))
        value = q.max(axis=1)
    policy = d.solve()
    assert policy.expected_utility == pytest.approx(float(start @ value))
    for t, plan in enumerate(reversed(plans)):
        assert [v.name for v in policy[f"a{t}"].given] == [f"s{t}"]
        assert policy[f"a{t}"].actions.tolist() == plan.tolist()


def test_only_what_matters_is_in_a_policy() -> None:
    d = clinic()
    d.add_chance("weather", 0.5)
    d.set("treat", observes=["weather", "test"])
    assert d.known("treat") == ("weather", "test")
    assert [v.name for v in d.solve()["treat"].given] == ["test"]
    assert d.plan().requisite == {"treat": ("test",)}


def test_equally_good_actions_go_to_the_first() -> None:
    d = pgm.InfluenceDiagram()
    d.add_chance("coin", [0.1, 0.2, 0.7], states=["a", "b", "c"])
    d.add_decision("bet", ["x", "y"])
    # Sums of the same numbers in another order differ in the last bits.
    d.add_utility("win", [[7.0, 7.0], [0.1, 0.1], [0.3, 0.3 + 1e-16]], parents=["coin", "bet"])
    assert d.solve().decide("bet") == "x"


def test_gates_need_no_table() -> None:
    causes = [f"c{i}" for i in range(40)]
    d = pgm.InfluenceDiagram()
    for cause in causes:
        d.add_chance(cause, 0.05)
    d.add_chance("alarm", pgm.NoisyOr(dict.fromkeys(causes, 0.5), leak=0.01))
    d.add_decision("go", [False, True], observes="alarm")
    d.add_utility("cost", {(True, True): 10, (False, True): -1, ...: 0}, parents=["c0", "go"])
    net = pgm.BayesianNetwork()
    for cause in causes:
        net.add(cause, 0.05)
    net.add("alarm", d.cpd("alarm"))
    p, joint = net.query("alarm"), net.query(["c0", "alarm"])
    wanted = sum(max(0.0, 10 * joint[True, a] - joint[False, a]) for a in (False, True))
    assert p[True] > 0
    assert d.solve().expected_utility == pytest.approx(wanted, rel=1e-9)


def test_utilities_of_utilities_count_once() -> None:
    d = pgm.InfluenceDiagram()
    d.add_decision("dose", [0, 1, 2])
    d.add_utility("effect", [0, 6, 8], parents="dose")
    d.add_utility("harm", lambda dose: dose**2, parents="dose")
    d.add_utility("total", {"effect": 1.0, "harm": -1.0}, parents=["effect", "harm"])
    assert d.solve().expected_utility == pytest.approx(5.0)
    d.set("total", lambda effect, harm: effect * harm, parents=["effect", "harm"])
    assert d.solve().expected_utility == pytest.approx(32.0)
    assert d.solve().decide("dose") == 2


@pytest.mark.parametrize("seed", range(30))
def test_information_is_never_worth_less_than_nothing(seed: int) -> None:
    _, d = drawn(seed, masks=False)
    before = d.decisions[-1]
    found = d.value_of_information(before=before) if _visible(d, before) else {}
    everything = d.copy()
    everything.set(before, observes=[*d.parents(before), *_visible(d, before)])
    most = float(everything.solve().expected_utility - d.solve().expected_utility)
    for name, value in found.items():
        assert value >= 0.0
        assert value <= most + 1e-9
        seen = d.copy()
        seen.set(before, observes=[*d.parents(before), name])
        assert value == pytest.approx(float(best(seen) - best(d)), abs=1e-9)


def _visible(d: pgm.InfluenceDiagram, before: str) -> list[str]:
    return [
        name
        for name in d.chances
        if name not in d.known(before) and name not in d._network.descendants(before)
    ]


def test_value_of_an_imperfect_test_and_of_control() -> None:
    d = clinic()
    d.set("treat", observes=[])
    sharp = {True: {"pos": 0.9, "neg": 0.1}, False: {"pos": 0.2, "neg": 0.8}}
    assert d.value_of_information("disease", before="treat", accuracy=sharp) == pytest.approx(12.6)
    assert d.value_of_information("disease", before="treat") == pytest.approx(18.0)
    assert d.value_of_information("disease", costs={"disease": 8}) == pytest.approx(10.0)
    assert clinic().value_of_information("test") == 0.0  # it is seen already
    assert clinic().value_of_control("disease") == pytest.approx(80.0 - 2.6)
    table = d.value_of_information(costs={"disease": 17, ("disease", "test"): 17.5}, k=2)
    assert table.best == ("disease", "test")
    assert table["disease", "test"] == pytest.approx(0.5)


def test_anybodys_policy_is_worth_something() -> None:
    d = clinic()
    assert d.evaluate({"treat": False}) == pytest.approx(-10.0)
    assert d.evaluate({"treat": False}).loses == pytest.approx(12.6)
    assert d.evaluate({"treat": {True: True, ...: False}}) == pytest.approx(2.6)
    assert d.evaluate({"treat": lambda test: test}) == pytest.approx(2.6)
    assert d.evaluate({"treat": {True: [0.5, 0.5], False: [1.0, 0.0]}}) == pytest.approx(-3.7)


def test_diagrams_are_copied_renamed_pickled_and_compared() -> None:
    d = oil()
    assert d.copy() == d
    assert pickle.loads(pickle.dumps(d)) == d
    assert pickle.loads(pickle.dumps(d)).solve().expected_utility == pytest.approx(22.5)
    policy = d.solve()
    again = pickle.loads(pickle.dumps(policy))
    assert again["drill"] == policy["drill"]
    german = d.rename({"oil": "Oel", "drill": "bohren"})
    assert german != d
    assert german.solve().expected_utility == pytest.approx(22.5)
    changed = d.copy()
    changed.set("cost", {"yes": -20, "no": 0})
    assert changed != d
    assert changed.solve().expected_utility == pytest.approx(20.0)
    assert d.solve().expected_utility == pytest.approx(22.5)


BAD = [
    (
        lambda d: d.set("treat", observes=["outcome"]),
        pgm.InvalidStructure,
        "observe its own consequence.*treat",
    ),
    (
        lambda d: d.add_chance("x", 0.5, parents=["benefit"]),
        pgm.InvalidStructure,
        "depend on the utility 'benefit'",
    ),
    (
        lambda d: d.add_utility("u", {True: float("nan"), False: 0}, parents="disease"),
        pgm.InvalidTable,
        "allowed=",
    ),
    (
        lambda d: d.add_utility("u", {True: 1}, parents="disease"),
        pgm.InvalidTable,
        "no value for disease=False",
    ),
    (lambda d: d.solve({"outcome": True}), pgm.InvalidEvidence, "'outcome' is known only after 'treat'"),
    (lambda d: d.value_of_information("outcome"), pgm.InvalidArgument, "'treat' influences"),
    (lambda d: d.value_of_information("treat"), pgm.InvalidArgument, "'treat' is a decision"),
    (lambda d: d.solve().decide("treat"), pgm.InvalidEvidence, "depends on 'test'"),
    (lambda d: d.solve().decide("treet"), pgm.UnknownVariable, "Did you mean 'treat'"),
    (lambda d: d.solve().decide("treat", {"test": "maybe"}), pgm.UnknownState, "'test' has no state 'maybe'"),
    (lambda d: d.evaluate({}), pgm.InvalidArgument, "no rule for 'treat'"),
    (lambda d: d.evaluate({"treat": lambda tset: tset}), pgm.UnknownVariable, "Did you mean 'test'"),
    (lambda d: d.evaluate(oil().solve()), pgm.InvalidArgument, "another diagram"),
    (lambda d: d.add_decision("x", ["a"], allowed=[]), pgm.InvalidTable, "no action is left"),
    (lambda d: d.add_decision("x", ["a", "b"], allowed=["c"]), pgm.UnknownState, "'x' has no state 'c'"),
    (lambda d: d.remove("disease"), pgm.InvalidStructure, "remove them first"),
    (lambda d: d.add_chance("x", pgm.Gaussian(0.0, 1.0)), pgm.InvalidStructure, "'x' would be continuous"),
    (lambda d: pgm.InfluenceDiagram().solve(), pgm.IncompleteModel, "no utility"),
    (
        lambda d: d.solve({"disease": pgm.Soft({True: 0.5, False: 0.5})}),
        pgm.InvalidEvidence,
        "pgm.Likelihood",
    ),
    (lambda d: d.add_utility("u", [1, 2], parents=["benefit"]), pgm.InvalidTable, "2 weights"),
    (
        lambda d: d.add_utility("u", [1, 2], parents=["benefit", "disease"]),
        pgm.InvalidStructure,
        "'benefit' and on the variable 'disease'",
    ),
]


@pytest.mark.parametrize(("act", "error", "message"), BAD)
def test_mistakes_are_named(act: Any, error: type[Exception], message: str) -> None:
    d = clinic()
    d.add_chance("outcome", {True: 0.9, False: 0.5}, parents=["treat"])
    before = d.copy()
    with pytest.raises(error, match=message):
        act(d)
    assert d == before


def test_uncertain_findings_are_evidence() -> None:
    d = clinic()
    doubtful = d.solve({"disease": pgm.Likelihood({True: 0.9, False: 0.1})})
    odds = d.copy()
    odds.set("disease", 0.5)
    assert doubtful.expected_utility == pytest.approx(float(odds.solve().expected_utility))
    assert d.solve({"disease": pgm.Not(False)}).expected_utility == pytest.approx(80.0)


def test_what_does_not_fit_is_refused_before_anything_is_allocated() -> None:
    d = pgm.InfluenceDiagram()
    for i in range(40):
        d.add_chance(f"x{i}", 0.5)
    d.add_decision("go", [0, 1], observes=[f"x{i}" for i in range(40)])
    d.add_chance("sum", pgm.AtLeast(20, [f"x{i}" for i in range(40)]))
    d.add_utility("u", {(True, 1): 1, ...: 0}, parents=["sum", "go"])
    with pgm.config(memory_limit="10 MB"), pytest.raises(pgm.TooLarge, match="observe less"):
        d.solve()


@pytest.mark.parametrize("seed", range(40))
def test_aversion_to_risk_is_the_best_of_all_histories(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = random_diagram(rng, chances=int(rng.integers(1, 4)), decisions=int(rng.integers(1, 3)))
    tolerance = float(rng.uniform(2.0, 30.0))
    judged = d.copy()  # one utility, minus exp of the sum
    cards = {name: v.card for name, v in d.variables.items()}
    scope = tuple(dict.fromkeys(v for u in d.utilities for v in d.parents(u)))
    total = np.zeros([cards[v] for v in scope])
    for u in d.utilities:
        own = d.parents(u)
        order = [own.index(v) for v in scope if v in own]
        total = total + d.utility(u).values.transpose(order).reshape(
            [cards[v] if v in own else 1 for v in scope]
        )
        judged.remove(u)
    judged.add_utility("judged", -np.exp(-total / tolerance), parents=scope)
    wanted = -tolerance * np.log(-float(best(judged)))
    policy = d.solve(risk=pgm.ExponentialUtility(tolerance))
    assert policy.certainty_equivalent == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert policy.certainty_equivalent <= policy.expected_utility + 1e-9
    assert policy.expected_utility <= d.solve().expected_utility + 1e-9
    profile = policy.risk()
    attitude = pgm.ExponentialUtility(tolerance)
    assert attitude.certainty_equivalent(profile.values, profile.probabilities) == pytest.approx(wanted)


def test_the_wildcatter_who_minds_risk() -> None:
    assert oil().solve(risk=pgm.ExponentialUtility(100)).certainty_equivalent == pytest.approx(0.0, abs=1e-12)
    assert oil().solve(risk=pgm.ExponentialUtility(100)).decide("test?") == "no"
    cautious = oil().solve(risk=pgm.ExponentialUtility(200))
    assert cautious.certainty_equivalent == pytest.approx(5.899577, abs=5e-7)
    assert cautious.decide("test?") == "yes"
    assert cautious.decide("drill", {"test?": "yes", "report": "none"}) == "no"
    with pytest.raises(pgm.InvalidArgument, match="positive number"):
        pgm.ExponentialUtility(-1)


@pytest.mark.parametrize("seed", range(40))
def test_risk_is_the_distribution_of_all_cases(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _, d = drawn(seed)
    policy = d.solve()
    cpds = {n: policy.network().cpd(n) for n in d.decisions}
    wanted: dict[float, float] = {}
    for case, p, u in cases(d, {}):
        for name, cpd in cpds.items():
            p *= int(cpd.table()[tuple([case[q] for q in (*cpd.parents, name)])])
        wanted[float(u)] = wanted.get(float(u), 0.0) + float(p)
    wanted = {u: p for u, p in sorted(wanted.items()) if p}
    for cells in (2_000_000, 0):  # all at once, and sum by sum
        monkeypatch.setattr("pgm.models.decision.risk._CELLS", cells)
        found = policy.risk(seed=0)
        if not found.exact:
            assert d.combine == "product"
            assert abs(found.mean - policy.expected_utility) <= 5 * found.report.error + 1e-12
            continue
        assert found.to_dict() == pytest.approx(wanted)
        assert found.mean == pytest.approx(float(policy.expected_utility), rel=1e-9, abs=1e-9)


def test_measures_of_risk() -> None:
    profile = clinic().solve().risk()
    assert profile.variance == pytest.approx(741.24)
    assert profile.to_dict() == pytest.approx({-100: 0.01, -20: 0.18, 0: 0.72, 80: 0.09})
    assert profile.probability_below() == pytest.approx(0.19)
    assert profile.quantile(0.01) == -100
    assert profile.quantile(0.0101) == -20
    assert profile.expected_shortfall(0.05) == pytest.approx((-100 * 0.01 - 20 * 0.04) / 0.05)
    sure = clinic().solve({"disease": False, "test": False}).risk()
    assert sure.to_dict() == {0.0: 1.0}
    assert not profile.dominates(sure)
    better = RiskProfile(profile.values + 1, profile.probabilities.copy())
    assert better.dominates(profile)
    assert better.dominates(profile, order=2)
    assert not profile.dominates(better)
    assert pickle.loads(pickle.dumps(profile)) == profile


def team(seed: int) -> pgm.InfluenceDiagram:
    """Decisions that each see something else of what is hidden, and are worth something together."""
    rng = np.random.default_rng(seed)
    d = pgm.InfluenceDiagram(memory="limited")
    d.add_chance("h", rng.dirichlet(np.ones(3)), states=range(3))
    names = [f"d{i}" for i in range(2 + seed % 2)]
    for i, name in enumerate(names):
        if rng.random() < 0.8:
            d.add_chance(f"o{i}", rng.dirichlet(np.ones(2), 3), parents=["h"], states=range(2))
        d.add_decision(name, range(2), observes=[f"o{i}"] if f"o{i}" in d else [])
    d.add_utility("worth", rng.integers(-9, 10, (3, *[2] * len(names))).astype(float), parents=["h", *names])
    return d


@pytest.mark.parametrize("seed", range(30))
def test_what_is_forgotten_is_no_help(seed: int) -> None:
    d = team(seed)
    wanted = float(best_policy(d, limited=True))
    policy = d.solve()
    assert policy.exact
    assert policy.expected_utility == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert d.evaluate(policy) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert all([v.name for v in policy[name].given] == list(d.parents(name)) for name in policy)
    full = d.copy()
    full.memory = "full"
    assert full.solve().expected_utility >= wanted - 1e-9


def test_forgetting_costs_something_in_these_tests() -> None:
    lost = []
    for seed in range(30):
        full = team(seed)
        full.memory = "full"
        lost.append(float(full.solve().expected_utility) - float(team(seed).solve().expected_utility))
    assert sum(one > 1e-6 for one in lost) > 10


@pytest.mark.parametrize("seed", range(40))
def test_limited_memory_is_the_best_of_all_policies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = random_diagram(rng, chances=2, decisions=2, combine="product" if seed % 5 == 4 else "sum")
    d.memory = "limited"
    rows = [int(np.prod([d.variables[k].card for k in d.parents(name)])) for name in d.decisions]
    if np.prod([float(d.variables[n].card) ** r for n, r in zip(d.decisions, rows, strict=True)]) > 1000:
        return
    assert d.solve().expected_utility == pytest.approx(float(best_policy(d, limited=True)), abs=1e-9)


def test_a_search_that_is_cut_short_says_what_is_possible() -> None:
    rng = np.random.default_rng(5)
    d = pgm.InfluenceDiagram(memory="limited")
    d.add_chance("h", rng.dirichlet(np.ones(6)), states=range(6))
    for i in range(6):
        d.add_chance(f"o{i}", rng.dirichlet(np.ones(3), 6), parents=["h"], states=range(3))
        d.add_decision(f"d{i}", range(3), observes=[f"o{i}"])
    d.add_utility("worth", rng.random((6, *[3] * 6)), parents=["h", *[f"d{i}" for i in range(6)]])
    with pgm.config(time_limit=1.5):
        policy = d.solve()
        other = d.evaluate(dict.fromkeys(d.decisions, 0))
    assert not policy.exact
    low, high = policy.report.bounds
    assert low == pytest.approx(float(policy.expected_utility))
    assert high > low
    assert policy.report.error == pytest.approx(high - low)
    assert "time limit" in policy.report.advice
    assert other <= high


@pytest.mark.parametrize("seed", range(12))
def test_a_table_of_values_of_information_is_that_of_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = random_diagram(rng, chances=4, decisions=1 + seed % 2)
    d.memory = "limited" if seed % 4 == 3 else "full"
    given: dict[str, Any] = {d.decisions[0]: "s0"} if len(d.decisions) > 1 else {}
    above = [c for c in d.chances if c not in d._network.descendants(d.decisions[-1])]
    if above and seed % 3 == 0:
        given[above[0]] = pgm.Likelihood(
            {state: float(rng.random()) for state in d.variables[above[0]].states}
        )
    try:
        table = d.value_of_information(given=given)
    except (pgm.InvalidArgument, pgm.InvalidEvidence, pgm.ImpossibleEvidence):
        return  # nothing is left to see, or the past cannot be
    for name, value in table.items():
        assert value == pytest.approx(d.value_of_information(name, given=given), abs=1e-8)


def test_a_fitted_classifier_is_a_rule() -> None:
    tree = pytest.importorskip("sklearn.tree").DecisionTreeClassifier()
    pandas = pytest.importorskip("pandas")
    d = clinic()
    d.add_chance("age", {"old": 0.5, "young": 0.5})
    d.set("treat", observes=["age", "test"])
    frame = pandas.DataFrame({"test": [False, False, True, True]})
    assert d.evaluate({"treat": tree.fit(frame, [False, False, True, True])}).loses == 0.0
    assert d.evaluate({"treat": tree.fit(frame, [True, True, False, False])}) == pytest.approx(
        float(d.evaluate({"treat": {("old", True): False, ("young", True): False, ...: True}}))
    )
    with pytest.raises(pgm.UnknownVariable, match="'disease'"):
        d.evaluate({"treat": tree.fit(frame.rename(columns={"test": "disease"}), [0, 0, 1, 1])})
    with pytest.raises(pgm.UnknownState, match="no state 7"):
        d.evaluate({"treat": tree.fit(frame, [7, 7, 7, 7])})
    with pytest.raises(pgm.InvalidArgument, match="classifier of 'treat' failed"):
        d.evaluate({"treat": type(tree)()})


def test_alternatives_side_by_side() -> None:
    d = oil()
    test, none = d.solve().risk(), d.solve({"test?": "no"}).risk()
    wasted = d.evaluate({"test?": "yes", "drill": "no"})
    nothing = d.solve({"test?": "no", "report": "no test", "drill": "no"}).risk()
    both = test.compared({"no test": none, "nothing": nothing}, "test")
    assert list(both) == ["test", "no test", "nothing"]
    assert both.dominated() == {}
    assert wasted == pytest.approx(-10.0)
    worse = pgm.models.decision.risk.RiskProfile(np.array([-10.0]), np.array([1.0]))
    assert nothing.compared({"tested for nothing": worse}, "nothing").dominated() == {
        "tested for nothing": ("nothing", 1)
    }
    assert both.to_pandas().loc["test", "mean"] == pytest.approx(22.5)
    assert len(both.plot().get_legend().get_texts()) == 3
    with pytest.raises(pgm.InvalidArgument, match="by its risk profile"):
        test.compared({"x": 3})  # type: ignore[dict-item]


@pytest.mark.parametrize("function", [np.maximum, np.minimum])
@pytest.mark.parametrize("few", [1, 2, 3, 16, 17])
def test_large_tables_are_compared_as_small_ones(few: int, function: np.ufunc) -> None:
    from pgm.inference.engines.decisions import over_last

    table = np.random.default_rng(few).normal(size=(10, 500, few))
    table[0, 0, 0], table[1, 1] = np.nan, -np.inf
    before = table.copy()
    np.testing.assert_array_equal(over_last(function, table), function.reduce(table, axis=-1))
    np.testing.assert_array_equal(table, before)
