"""Why, and what to look at next, against the joint distribution and all orders of findings."""

from __future__ import annotations

import math
import pickle
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

import pgm
from tests.insight.enumeration import Joint, random_findings, random_network
from tests.insight.test_sensitivity import gates, wet_grass


def odds(p: float) -> float:
    return -math.inf if p == 0 else math.inf if p == 1 else math.log(p / (1 - p))


def entropy(p: np.ndarray) -> float:
    some = p[p > 0]
    return float(-(some * np.log(some)).sum())


def mutual(table: np.ndarray) -> float:
    """I(row; column) of a joint distribution, from entropies."""
    return entropy(table.sum(axis=1)) + entropy(table.sum(axis=0)) - entropy(table.ravel())


def test_the_numbers_of_the_contract() -> None:
    known = {"wet": True, "sprinkler": True}
    why = wet_grass().explain("rain", known)
    numbers = [odds(p) for p in (why.before, why["wet"].alone, why["sprinkler"].alone, why.after)]
    assert numbers == pytest.approx([-0.200671, 0.518818, -1.285198, -1.231131], abs=5e-7)
    assert why.conflict == pytest.approx(-0.335466, abs=5e-7)
    assert why.without == pytest.approx({"sprinkler": 0.626871, "wet": 0.216667}, abs=5e-7)
    assert why.pulls == (("wet",), ("sprinkler",))
    assert why["sprinkler"].path in (("sprinkler", "cloudy", "rain"), ("sprinkler", "wet", "rain"))
    values = wet_grass().shapley("rain", known)
    assert dict(values) == pytest.approx({"wet": 0.093094, "sprinkler": -0.317111}, abs=5e-7)
    found = wet_grass().informative("rain", {"wet": True})
    assert next(iter(found.items())) == ("cloudy", pytest.approx(0.359118, abs=5e-7))
    assert found.entropy == pytest.approx(0.660600, abs=5e-7)


@pytest.mark.parametrize("seed", range(8))
def test_every_part_of_an_explanation(seed: int) -> None:
    net = random_network(seed, 6)
    target = f"v{seed % 6}"
    known = random_findings(net, seed, 3, but=(target,))
    joint = Joint(net)
    state = net.variables[target].states[seed % 2]
    why = net.explain(target, known, state=state)
    code = seed % 2

    def p(some: dict[str, Any]) -> float:
        return float(joint.posterior(target, some)[code])

    assert (why.before, why.after) == pytest.approx((p({}), p(known)), abs=1e-12)
    names = list(known)
    for i, name in enumerate(names):
        rest = {n: s for n, s in known.items() if n != name}
        finding = why[name]
        assert finding.alone == pytest.approx(p({name: known[name]}), abs=1e-12)
        assert finding.without == pytest.approx(p(rest), abs=1e-12)
        if 0 < p(rest) < 1 and 0 < p(known) < 1:
            assert finding.adds == pytest.approx(odds(p(known)) - odds(p(rest)), abs=1e-9)
        assert why.steps[i + 1] == pytest.approx(p(dict(list(known.items())[: i + 1])), abs=1e-12)
        assert bool(finding.path) is not net.independent(name, target, given=list(rest))
    whole = joint.probability(known)
    each = {n: joint.probability({n: s}) for n, s in known.items()}
    assert why.conflict == pytest.approx(math.log(math.prod(each.values()) / whole), abs=1e-10)
    for a, b in combinations(names, 2):
        both = joint.probability({a: known[a], b: known[b]})
        assert why.pairs[a, b] == pytest.approx(math.log(each[a] * each[b] / both), abs=1e-10)
    assert list(why.pairs.values()) == sorted(why.pairs.values(), reverse=True)
    for name in net:
        if name in known:
            continue
        prior, posterior = joint.posterior(name, {}), joint.posterior(name, known)
        assert why.moved[name] == pytest.approx(0.5 * np.abs(prior - posterior).sum(), abs=1e-12)
        for at, other in enumerate(net.variables[name].states):
            event = {**known, name: other}
            if joint.probability(event) > 0 and why.conflict > 0:
                left = why.conflict + math.log(prior[at] / posterior[at])
                if left < -1e-9 and len(why.rare) < 20:
                    assert why.rare[name, other] == pytest.approx(left, abs=1e-9)
                elif left > 1e-9:
                    assert (name, other) not in why.rare
    assert f"{why.after:.3f}" in why.story


def test_a_rare_cause_explains_a_conflict_away() -> None:
    """Two alarms that hardly ever go off, both because of one rare fire."""
    net = pgm.BayesianNetwork()
    net.add("fire", 0.001)
    net.add("flood", 0.001)
    net.add("smoke", {True: 0.9, False: 0.01}, parents=["fire"])
    net.add("water", {True: 0.9, False: 0.01}, parents=["flood"])
    net.add("quiet", {True: 0.05, False: 0.99}, parents=["fire"])
    why = net.explain("fire", {"smoke": True, "quiet": True})
    joint = Joint(net)
    single = joint.probability({"smoke": True}) * joint.probability({"quiet": True})
    assert why.conflict == pytest.approx(math.log(single / joint.probability({"smoke": True, "quiet": True})))
    assert why.conflict > 0
    assert next(iter(why.rare)) == ("fire", True)
    assert "fire=True would explain that away" in why.story


@pytest.mark.parametrize("seed", range(6))
def test_shapley_values_are_means_over_all_orders(seed: int) -> None:
    net = random_network(seed, 7)
    target = f"v{seed}"
    known = random_findings(net, seed, 4, but=(target,))
    joint = Joint(net)
    code = int(joint.posterior(target, known).argmax())
    state = net.variables[target].states[code]
    wanted = dict.fromkeys(known, 0.0)
    for order in permutations(known):
        seen: dict[str, Any] = {}
        for name in order:
            before = joint.posterior(target, seen)[code]
            seen[name] = known[name]
            wanted[name] += float(joint.posterior(target, seen)[code] - before) / math.factorial(len(known))
    found = net.shapley(target, known, state=state)
    assert dict(found) == pytest.approx(wanted, abs=1e-12)
    assert found.exact
    drawn = net.shapley(target, known, state=state, orders=400, seed=seed)
    assert not drawn.exact
    for name, value in wanted.items():
        assert abs(drawn[name] - value) <= 5 * drawn.errors[name] + 1e-12
    assert sum(drawn.values()) == pytest.approx(sum(wanted.values()), abs=1e-12)
    again = net.shapley(target, known, state=state, orders=400, seed=seed)
    assert dict(drawn) == dict(again)


def test_findings_of_every_kind_are_explained() -> None:
    net = gates()
    known = {"or": pgm.Likelihood({True: 0.7, False: 0.2}), "y": 0.7, "log": pgm.OneOf(True)}
    why, values = net.explain("a", known), net.shapley("a", known)
    assert why["y"].alone == pytest.approx(net.query("a", {"y": 0.7})[True])
    assert why["or"].without == pytest.approx(net.query("a", {"y": 0.7, "log": True})[True])
    assert sum(values.values()) == pytest.approx(why.after - why.before)


@pytest.mark.parametrize("seed", range(8))
def test_information_of_every_variable(seed: int) -> None:
    net = random_network(seed, 6)
    target = f"v{seed % 6}"
    known = random_findings(net, seed, 2, but=(target,))
    joint = Joint(net)
    found = net.informative(target, known)
    rest = [n for n in net if n != target and n not in known]
    assert set(found) == set(rest)
    assert found.entropy == pytest.approx(entropy(joint.posterior(target, known)), abs=1e-12)
    for name in rest:
        assert found[name] == pytest.approx(mutual(joint.posterior([target, name], known)), abs=1e-10)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    state = net.variables[target].states[0]
    pursued = net.informative(target, known, state=state)
    for name in rest:
        table = joint.posterior([target, name], known)
        two = np.stack([table[0], table[1:].sum(axis=0)])
        assert pursued[name] == pytest.approx(mutual(two), abs=1e-10)
    both = [target, rest[0]]
    joined = net.informative(both, known)
    for name in rest[1:]:
        table = joint.posterior([*both, name], known)
        assert joined[name] == pytest.approx(mutual(table.reshape(-1, table.shape[-1])), abs=1e-10)
    pairs = net.informative(target, known, k=2)
    assert pairs.exact
    for some in combinations(rest, 2):
        table = joint.posterior([target, *some], known)
        assert pairs[some] == pytest.approx(mutual(table.reshape(table.shape[0], -1)), abs=1e-10)


def test_costs_and_greedy_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    net = pgm.BayesianNetwork()
    net.add("ill", 0.2)
    for i in range(6):
        net.add(f"t{i}", {True: 0.6 + 0.05 * i, False: 0.3}, parents=["ill"])
    dear = net.informative("ill", costs={"t5": 100.0, "t4": 1.0, "t3": 1.0, ("t1", "t2"): 1.0})
    assert list(dear)[-1] == "t5"
    assert dear.costs["t5",] == 100.0
    exact = net.informative("ill", k=3)
    assert exact.best == ("t3", "t4", "t5")
    monkeypatch.setattr("pgm.inference.insight.costs.SETS", 5)
    greedy = net.informative("ill", k=3)
    assert (greedy.exact, set(greedy.best)) == (False, {"t3", "t4", "t5"})
    assert "at least 0.63 of the best set" in greedy.report.summary
    net.add("both", {(False, False): 0.1, ...: 0.9}, parents=["t0", "t1"])
    assert "0.63" not in net.informative("ill", k=3).report.summary


def test_mistakes_are_named() -> None:
    net = wet_grass()
    with pytest.raises(pgm.InvalidArgument, match="Nothing is given"):
        net.explain("rain")
    with pytest.raises(pgm.InvalidEvidence, match="The target 'wet' is given"):
        net.explain("wet", {"wet": True, "sprinkler": True})
    with pytest.raises(pgm.InvalidEvidence, match="The target 'wet' is given"):
        net.informative("wet", {"wet": True})
    with pytest.raises(pgm.InvalidArgument, match="'sprinkler', which is given"):
        net.informative("rain", {"sprinkler": True}, over=["sprinkler"])
    with pytest.raises(pgm.InvalidArgument, match="k= is a whole number from 1 to 2"):
        net.informative("rain", {"wet": True}, k=7)
    with pytest.raises(pgm.InvalidArgument, match="orders= is a whole number"):
        net.shapley("rain", {"wet": True}, orders=1)
    with pytest.raises(pgm.InvalidArgument, match="state= is for one target"):
        net.informative(["rain", "cloudy"], state=True)
    net.add("never", {True: 1.0, False: 1.0}, parents=["wet"])
    with pytest.raises(pgm.ImpossibleEvidence):
        net.explain("rain", {"never": False})
    with pytest.raises(pgm.InvalidArgument, match="is continuous"):
        gates().informative("x")


def test_results_print_pickle_and_draw() -> None:
    net = wet_grass()
    known = {"wet": True, "sprinkler": True}
    why, values, told = net.explain("rain", known), net.shapley("rain", known), net.informative("rain", known)
    for one in (why, values, told):
        assert repr(pickle.loads(pickle.dumps(one))) == repr(one)
        assert "<table" in one._repr_html_()
        assert one.to_dict()
        assert len(one.to_pandas()) == len(one)
        assert one.plot().get_title()
    assert why.plot(kind="paths").get_title()
    assert told.plot(kind="map").get_title().split() == ["information", "about", "rain"]
    assert net.explain("rain", {"cloudy": True}).plot().get_title()
    for one in (why, told):
        with pytest.raises(pgm.InvalidArgument, match="kind is"):
            one.plot(kind="pie")


def test_findings_that_tell_nothing_of_each_other_do_not_conflict() -> None:
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("b", 0.7)
    net.add("both", {(True, True): 0.9, ...: 0.2}, parents=["a", "b"])
    found = net.explain("both", {"a": True, "b": True})
    assert found.conflict == 0.0
    assert "the findings are independent" in str(found)


def test_what_passes_along_paths_is_at_most_what_reaches_each_variable():
    """wet tells rain straight, and by cloudy and the sprinkler: by total variation of their marginals."""
    net = wet_grass()
    known = {"wet": True}
    why = net.explain("rain", known)
    before, after = net.marginals(), net.marginals(known)

    def far(name):
        return abs(before[name][True] - after[name][True])

    paths = dict(why["wet"].paths)
    assert paths == pytest.approx(
        {
            ("wet", "rain"): far("rain"),
            ("wet", "sprinkler", "cloudy", "rain"): min(map(far, ("rain", "sprinkler", "cloudy"))),
        }
    )
    flows = [flow for _, flow in why["wet"].paths]
    assert flows == sorted(flows, reverse=True)
    both = net.explain("rain", {"wet": True, "cloudy": True})
    assert [path for path, _ in both["wet"].paths] == [("wet", "rain")]  # cloudy blocks the other way
    assert {path for path, _ in both["cloudy"].paths} == {
        ("cloudy", "rain"),
        ("cloudy", "sprinkler", "wet", "rain"),
    }
    assert why.plot(kind="paths").get_title().startswith("P(rain=True")


def test_paths_are_all_that_are_active():
    """Against networkx: simple paths without directions of which every triple is active."""
    import networkx as nx

    from pgm.graphs.walks import Arrows
    from pgm.inference.insight.flows import flows

    rng = np.random.default_rng(3)
    for _ in range(30):
        graph = nx.DiGraph()
        graph.add_nodes_from(range(6))
        graph.add_edges_from((u, v) for u in range(6) for v in range(u + 1, 6) if rng.random() < 0.35)
        start, goal, *rest = rng.permutation(6).tolist()
        given = [v for v in rest if rng.random() < 0.4]
        open_ = set(given).union(*(nx.ancestors(graph, v) for v in given)) if given else set()

        def active(path, graph=graph, given=given, open_=open_):
            return all(
                b in open_ if graph.has_edge(a, b) and graph.has_edge(c, b) else b not in given
                for a, b, c in zip(path, path[1:], path[2:], strict=False)
            )

        wanted = {tuple(p) for p in nx.all_simple_paths(graph.to_undirected(), start, goal) if active(p)}
        arrows = Arrows.of({v: tuple(graph.predecessors(v)) for v in graph})
        found = flows(arrows, start, goal, given, dict.fromkeys(range(6), 0.5))
        assert {path for path, _ in found} <= wanted
        assert len(found) == min(len(wanted), 5)


def test_what_two_tell_about_one_state() -> None:
    """The mutual information of a set with one state against the others together."""
    net = random_network(4)
    target, *others = [name for name in net if net.variables[name].card == 3][:1] + [
        name for name in net if net.variables[name].card == 2
    ][:2]
    names = [target, *others]
    table = np.asarray(net.query(names).values)
    state = net.variables[target].states[1]
    two = np.stack([table[1], table[0] + table[2]]).reshape(2, -1)
    found = net.informative(target, state=state, over=others, k=2)
    assert found[tuple(others)] == pytest.approx(mutual(two), abs=1e-12)
