"""The search and the conditioning, against brute force, enumeration and the tree."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import pgm
from pgm.inference.engines.search import compiled, component_search
from tests.inference.test_truth import close, drawn, possible
from tests.loops import forms
from tests.oracle import Oracle
from tests.strategies import TAME, Numbers, bayesian_networks, knowledge, markov_networks, models

DATA = st.data()
MOSTLY_ZERO = st.builds(Numbers, zeros=st.sampled_from([0.4, 0.6, 0.8]), decades=st.sampled_from([0.0, 3.0]))


def formula(
    n: int, m: int, k: int, seed: int
) -> tuple[pgm.MarkovNetwork, list[tuple[np.ndarray, np.ndarray]]]:
    """A random k-CNF: each clause is a factor that is 0 where it is broken; and the clauses."""
    rng = np.random.default_rng(seed)
    net = pgm.MarkovNetwork()
    for i in range(n):
        net.add_variable(f"x{i}", states=[0, 1])
    clauses = []
    for _ in range(m):
        who, broken = rng.choice(n, k, replace=False), rng.integers(0, 2, k)
        table = np.ones((2,) * k)
        table[tuple(broken)] = 0
        net.add_factor([f"x{v}" for v in who], table)
        clauses.append((who, broken))
    return net, clauses


def models_of(n: int, clauses: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The assignments, as the bits of integers, that break no clause: by enumeration."""
    every = np.arange(1 << n, dtype=np.uint32)
    for who, broken in clauses:
        bad = np.ones(every.size, bool)
        for v, b in zip(who, broken, strict=True):
            bad &= ((every >> np.uint32(v)) & 1) == b
        every = every[~bad]
    return every


@pytest.fixture(params=["clauses", "tables"])
def way(request, monkeypatch):
    """Formulas are counted; the search over tables must give the same."""
    if request.param == "tables":
        by_tables(monkeypatch)


def by_tables(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(component_search, "formula_of", lambda case: None)


# --- counting ---


@pytest.mark.parametrize("m", [0, 24, 48, 72, 100, 110, 160])
def test_models_of_a_formula_are_counted_to_the_last_digit(way, m):
    net, clauses = formula(24, m, 3, seed=m)
    count = models_of(24, clauses).size
    for engine in ("search", "auto", pgm.engines.Conditioned(variables=("x0", "x5", "x9"))):
        found = net.partition(engine=engine)
        assert float(found) == count  # as integers: no tolerance
        assert found.exact
        assert net.log_partition(engine=engine) == (pytest.approx(math.log(count)) if count else -math.inf)


def test_the_marginals_of_a_formula(way):
    net, clauses = formula(20, 55, 3, seed=5)
    every = models_of(20, clauses)
    assert every.size
    found = net.marginals(engine="search")
    for v in range(20):
        assert found[f"x{v}"][1] == pytest.approx(((every >> np.uint32(v)) & 1).mean(), abs=1e-13)
    joint = net.query(["x3", "x17", "x8"], engine="search")
    for states in itertools.product((0, 1), repeat=3):
        ones = [((every >> np.uint32(v)) & 1) == s for v, s in zip((3, 17, 8), states, strict=True)]
        assert joint[states] == pytest.approx(np.logical_and.reduce(ones).mean(), abs=1e-13)


def test_counts_past_what_a_float_holds(way):
    """Free variables double the count each; it has a logarithm when it is not a float any more."""
    net, clauses = formula(12, 20, 3, seed=1)
    count = models_of(12, clauses).size
    for i in range(1200):
        net.add_variable(f"free{i}", states=[0, 1])
    found = net.partition(engine="search")
    assert found == math.inf
    assert found.log == pytest.approx(math.log(count) + 1200 * math.log(2), rel=1e-14)


def test_a_formula_that_no_tree_fits(way):
    """Clauses along a line, and far ones that meet in a few hubs; counted by a table over a window."""
    n, rng = 400, np.random.default_rng(3)
    net = pgm.MarkovNetwork()
    for i in range(n):
        net.add_variable(f"x{i}", states=[0, 1])
    counts = {(a, b): 1 for a in (0, 1) for b in (0, 1)}
    for i in range(2, n):
        broken = tuple(int(b) for b in rng.integers(0, 2, 3))
        table = np.ones((2, 2, 2))
        table[broken] = 0
        net.add_factor([f"x{i - 2}", f"x{i - 1}", f"x{i}"], table)
        after = dict.fromkeys(counts, 0)
        for (a, b), ways in counts.items():
            for c in (0, 1):
                if (a, b, c) != broken:
                    after[b, c] += ways
        counts = after
    exact = sum(counts.values())  # a Python integer of any length
    assert net.log_partition(engine="search") == pytest.approx(math.log(exact), rel=1e-14)


# --- against brute force, zeros everywhere ---


@given(data=DATA)
def test_models_full_of_zeros(data):
    case, question, oracle = drawn(data, models(MOSTLY_ZERO), soft=1)
    if not possible(oracle, lambda: case.model.marginals(question.given, engine="search")):
        return
    found = case.model.marginals(question.given, engine="search")
    assert found.engine == "search"
    assert found.exact
    for name, distribution in found.items():
        close(distribution.values, oracle.posterior([name]))


@given(data=DATA)
def test_any_cutset_gives_the_same(data):
    """Every question and kind of evidence, conditioned on any variables: observed, targets, hidden."""
    case, question, oracle = drawn(data, models(), soft=1)
    cutset = tuple(data.draw(st.lists(st.sampled_from(case.names), unique=True, max_size=4)))
    engine = pgm.engines.Conditioned(variables=cutset)
    note(f"cutset = {cutset}")
    names = data.draw(st.lists(st.sampled_from(case.names), min_size=1, unique=True))
    if not possible(oracle, lambda: case.model.marginals(question.given, engine=engine)):
        with pytest.raises(pgm.ImpossibleEvidence):
            case.model.query(names, question.given, engine=engine)
        return
    found = case.model.marginals(question.given, engine=engine)
    assert found.engine == "conditioned"
    for name, distribution in found.items():
        close(distribution.values, oracle.posterior([name]))
    close(case.model.query(names, question.given, engine=engine).values, oracle.posterior(names))


@given(data=DATA)
def test_any_cutset_gives_the_probability_of_evidence(data):
    case, question, oracle = drawn(data, models())
    cutset = tuple(data.draw(st.lists(st.sampled_from(case.names), unique=True, max_size=4)))
    engine = pgm.engines.Conditioned(variables=cutset)
    if Oracle(case.plain).possible:
        found = case.model.probability(question.given, engine=engine)
        if oracle.possible:
            close(found.log, oracle.log_probability)
        else:
            assert found == 0.0


@given(data=DATA)
def test_several_soft(data):
    case, question, oracle = drawn(data, models(TAME, most=5), soft=3)
    engine = data.draw(st.sampled_from(["search", pgm.engines.Conditioned(variables=case.names[:2])]))
    if possible(oracle, lambda: case.model.marginals(question.given, engine=engine)):
        for name, distribution in case.model.marginals(question.given, engine=engine).items():
            close(distribution.values, oracle.posterior([name]), question.tolerance)


@given(case=markov_networks(MOSTLY_ZERO))
def test_the_partition_function_by_search(case):
    oracle = Oracle(case.plain)
    found = case.model.log_partition(engine="search")
    if oracle.possible:
        close(found, case.model.log_partition())
        close(case.model.partition(engine="search").log, found)
    else:
        assert found == -math.inf


@given(data=DATA)
def test_the_search_without_a_compiler_gives_the_same_bits(data):
    """The loops are plain Python too."""
    case = data.draw(bayesian_networks(most=5))
    question = data.draw(knowledge(case))
    note(f"{case!r}\ngiven = {question.given}")
    if not Oracle(case.plain, question.known).possible:
        return
    with pytest.MonkeyPatch.context() as patched:
        by_tables(patched)
        with forms.interpreted():
            slow = case.model.marginals(question.given, engine="search")
        fast = case.model.marginals(question.given, engine="search")
    for name in fast:
        assert slow[name].values.tobytes() == fast[name].values.tobytes()


def test_a_hash_decides_nothing(monkeypatch):
    """All hashes made equal: the answers stay, for keys are compared in full."""
    by_tables(monkeypatch)
    net, clauses = formula(11, 26, 3, seed=4)
    monkeypatch.setattr(compiled, "_MIX", 0)
    every = models_of(11, clauses)
    with forms.interpreted():
        assert net.partition(engine="search") == every.size
        found = net.marginals(engine="search")
    for v in range(11):
        assert found[f"x{v}"][1] == pytest.approx(((every >> np.uint32(v)) & 1).mean(), abs=1e-13)


def test_variables_of_many_states():
    """Sets of states of more than one word."""
    rng = np.random.default_rng(0)
    cards = {"a": 130, "b": 70, "c": 62, "d": 63, "e": 2}
    net = pgm.MarkovNetwork()
    for name, card in cards.items():
        net.add_variable(name, states=list(range(card)))
    for pair in ("ab", "bc", "cd", "de", "ea"):
        shape = tuple(cards[name] for name in pair)
        net.add_factor(list(pair), np.where(rng.random(shape) < 0.9, 0.0, rng.random(shape)))
    known = {"a": pgm.Not(*range(0, 130, 3)), "d": pgm.OneOf(0, 1, 30, 61, 62)}
    found, expected = net.marginals(known, engine="search"), net.marginals(known)
    for name in cards:
        close(found[name].values, expected[name].values)


def test_numbers_far_below_what_a_double_holds():
    net = pgm.MarkovNetwork()
    for i in range(30):
        net.add_variable(f"x{i}", states=[0, 1])
    for i in range(29):
        net.add_factor([f"x{i}", f"x{i + 1}"], [[-300.0, -900.0], [-math.inf, -700.0]], log=True)
    assert net.log_partition(engine="search") == pytest.approx(net.log_partition(), rel=1e-14)
    for engine in ("search", pgm.engines.Conditioned(variables=("x3", "x9"))):
        found = net.marginals(engine=engine)
        for name, distribution in net.marginals().items():
            close(found[name].values, distribution.values)


# --- limits ---


def hard_grid(k: int, seed: int = 0) -> pgm.MarkovNetwork:
    """A grid of k x k variables of three states, without zeros."""
    rng = np.random.default_rng(seed)
    net = pgm.MarkovNetwork()
    for i, j in np.ndindex(k, k):
        net.add_variable(f"v{i},{j}", states=[0, 1, 2])
    for i, j in np.ndindex(k, k):
        for a, b in ((i + 1, j), (i, j + 1)):
            if a < k and b < k:
                net.add_factor([f"v{i},{j}", f"v{a},{b}"], rng.random((3, 3)))
    return net


def test_the_search_keeps_within_its_memory_and_forgets_what_it_must():
    net, _ = formula(36, 110, 3, seed=2)
    expected = net.partition()
    sizes = []
    grow = component_search.Search._grow

    def watched(self, status):
        grow(self, status)
        sizes.append(self._bytes())

    for limit in (300_000, 30_000_000):
        sizes.clear()
        with pytest.MonkeyPatch.context() as patched, pgm.config(memory_limit=limit):
            by_tables(patched)
            patched.setattr(component_search.Search, "_grow", watched)
            assert net.partition(engine="search") == expected
        assert max(sizes) <= limit
    with pgm.config(memory_limit=10_000), pytest.raises(pgm.TooLarge, match="search"):
        net.partition(engine="search")


@pytest.mark.parametrize(
    "engine", ["search", pgm.engines.Conditioned(variables=tuple(f"v{i},{i}" for i in range(11)))]
)
def test_a_time_limit_holds_to_a_second(engine):
    hard_grid(3).marginals(engine="search")  # what must compile has compiled
    hard_grid(8).marginals()
    net = hard_grid(12)
    net.plan()
    begin = time.monotonic()
    with pgm.config(time_limit=1.0, memory_limit="1 GB"), pytest.raises(pgm.OutOfTime):
        net.marginals(engine=engine)
    assert time.monotonic() - begin < 2.0


def test_the_plan_offers_a_cutset_and_the_engine_takes_it():
    net = hard_grid(9)
    expected, joint, log_total = net.marginals(), net.query(["v8,8", "v0,4"]), net.log_partition()
    limit = net.plan().bytes / 8
    with pgm.config(memory_limit=int(limit)):
        with pytest.raises(pgm.TooLarge, match="conditioned") as refused:
            net.marginals()
        assert "conditioned" in refused.value.plan.offer
        plan = net.plan(engine="conditioned")
        assert plan.fits
        assert plan.bytes <= limit
        assert plan.runs == 3 ** len(plan.cutset) > 1
        assert "runs" in repr(plan)
        found = net.marginals(engine="conditioned")
        for name in expected:
            close(found[name].values, expected[name].values)
        close(net.query(["v8,8", "v0,4"], engine="conditioned").values, joint.values)
        close(net.log_partition(engine="conditioned"), log_total)
    with pgm.config(memory_limit=20_000), pytest.raises(pgm.TooLarge):
        net.marginals(engine="conditioned")


def test_more_runs_than_anyone_waits_for_are_refused():
    net = hard_grid(12)
    names = tuple(net.variables)[:60]
    begin = time.monotonic()
    with pytest.raises(pgm.TooLarge):
        net.marginals(engine=pgm.engines.Conditioned(variables=names))
    assert time.monotonic() - begin < 10


def test_an_answer_that_is_too_large_is_refused():
    net, _ = formula(44, 20, 3, seed=0)
    for engine in ("search", "conditioned"):
        with pytest.raises(pgm.TooLarge):
            net.query(list(net.variables), engine=engine)


def test_what_is_not_built_is_refused_by_name():
    net = hard_grid(2)
    for engine in ("search", "conditioned"):
        for ask in (
            lambda e: net.map(engine=e),
            lambda e: net.k_best(engine=e),
            lambda e: net.sample(3, engine=e),
        ):
            with pytest.raises(pgm.InvalidArgument, match=engine):
                ask(engine)
    with pytest.raises(pgm.UnknownVariable, match="nobody"):
        net.marginals(engine=pgm.engines.Conditioned(variables=("nobody",)))


def test_impossible_evidence_is_named():
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("b", {True: 1.0, False: 0.0}, parents=["a"])
    net.add("c", {True: 0.5, False: 0.25}, parents=["b"])
    for engine in ("search", pgm.engines.Conditioned(variables=("c",))):
        with pytest.raises(pgm.ImpossibleEvidence) as refused:
            net.marginals({"a": True, "b": False}, engine=engine)
        assert refused.value.contradiction == {"a": True, "b": False}
        assert net.probability({"a": True, "b": False}, engine=engine) == 0.0


def test_a_contradiction_that_propagation_does_not_see():
    """Three that all differ have no room in two states: each pair alone has."""
    net = pgm.MarkovNetwork()
    for name in "abc":
        net.add_variable(name, states=[0, 1])
    for pair in ("ab", "bc", "ca"):
        net.add_factor(list(pair), 1 - np.eye(2))
    assert net.partition(engine="search") == 0.0
    with pytest.raises(pgm.ImpossibleEvidence):
        net.marginals(engine="search")
    with pytest.raises(pgm.ImpossibleEvidence):
        net.query("a", engine="search")


def test_nothing_left_to_search():
    """No factor; and all variables known."""
    net = pgm.MarkovNetwork()
    net.add_variable("a", states=[0, 1, 2])
    assert net.partition(engine="search") == 3.0
    assert net.query("a", {"a": 1}, engine="search")[1] == 1.0
    assert len(net.marginals({"a": 1}, engine="search")) == 0
