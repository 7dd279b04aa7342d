"""Sums over formulas, tables that say only yes or no: against brute force, and their limits."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pgm
from pgm.inference.engines.counting import clauses, compiled, counter, simplify
from pgm.runtime.clock import start_clock
from tests.inference.test_search import formula, models_of
from tests.inference.test_truth import close, drawn, possible
from tests.loops import forms
from tests.machine import slowness
from tests.oracle import Oracle
from tests.strategies import Numbers, markov_networks

DATA = st.data()


@dataclass(frozen=True)
class YesOrNo(Numbers):
    """Tables of several variables with one number beside zero; those of one variable have any."""

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        values = super().draw(rng, shape)
        if len(shape) > 1:
            values = np.where(values > 0, 3.0, 0.0)
        return values


RULES = st.builds(YesOrNo, zeros=st.sampled_from([0.1, 0.3, 0.6]), decades=st.sampled_from([0.0, 3.0, 40.0]))


@pytest.fixture
def tiny(monkeypatch):
    """Few learned clauses and a cache of a few parts, so that both are swept all the time."""
    monkeypatch.setattr(counter, "_LEARNED", 3)

    def grow_never(self):
        self._code.sweep(self._cache, self._n, self._frames)
        if int(self._n[counter._CACHED]) * 2 > self._cache.at.size or self._n[counter._KEYS] > 2000:
            self._n[counter._STORING] = 0

    monkeypatch.setattr(counter.Counter, "_grow_cache", grow_never)


# --- what a formula is ---


@given(data=DATA)
def test_boxes_cover_what_is_marked_and_nothing_else(data):
    shape = tuple(data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=4)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    zero = rng.random(shape) < rng.random()
    covered = np.zeros(shape, bool)
    for box in clauses.boxes(zero):
        covered[np.ix_(*box)] = True
    assert (covered == zero).all()


# --- against brute force ---


@given(data=DATA)
def test_every_kind_of_evidence(data):
    case, question, oracle = drawn(data, markov_networks(RULES), soft=1)
    ask = case.model.marginals
    if not possible(oracle, lambda: ask(question.given, engine="search")):
        return
    found = ask(question.given, engine="search")
    for name, distribution in found.items():
        close(distribution.values, oracle.posterior([name]))
    names = data.draw(st.lists(st.sampled_from(case.names), min_size=1, max_size=3, unique=True))
    close(case.model.query(names, question.given, engine="search").values, oracle.posterior(names))


@given(data=DATA)
def test_the_partition_function(data):
    case = data.draw(markov_networks(RULES))
    oracle = Oracle(case.plain)
    found = case.model.log_partition(engine="search")
    if oracle.possible:
        close(found, case.model.log_partition())
    else:
        assert found == -math.inf


@given(seed=st.integers(0, 10_000), density=st.floats(1.0, 5.0), k=st.integers(2, 4))
def test_random_formulas_by_enumeration(seed, density, k):
    """Near the density at which most have no solution dead ends, and empty parts beside others, abound."""
    n = 16
    net, rules = formula(n, int(density * n), k, seed)
    assert net.partition(engine="search") == models_of(n, rules).size


@pytest.mark.parametrize("seed", range(12))
def test_with_hardly_any_memory_of_parts_and_dead_ends(tiny, seed):
    net, rules = formula(18, 66, 3, seed)
    every = models_of(18, rules)
    assert net.partition(engine="search") == every.size
    if every.size:
        found = net.marginals(engine="search")
        for v in range(18):
            assert found[f"x{v}"][1] == pytest.approx(((every >> np.uint32(v)) & 1).mean(), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_what_dead_ends_teach_follows_from_the_rules(seed):
    """Learned clauses change no sum: that there are any, and that they hold, is seen here alone."""
    n = 18
    rng = np.random.default_rng(seed)
    rules = [(rng.choice(n, 3, replace=False), rng.integers(0, 2, 3)) for _ in range(68)]
    # The literal 2 v says that v is true, 2 v + 1 that it is not; what would break a rule is its negation.
    literals = [tuple((2 * who + broken).tolist()) for who, broken in rules]
    ones = np.full(2 * n, 0.5), np.ones(2 * n, np.int64)
    asked = clauses.Formula(literals, *ones, np.empty(0, np.int32), (0.5, 1))
    search = counter.Counter(asked, start_clock())
    every = models_of(n, rules)
    assert math.ldexp(*search.total()) == every.size
    begin, end = (int(search._n[at]) for at in (counter._GIVEN, counter._CLAUSES))
    assert every.size > 0
    assert end > begin
    for c in range(begin, end):
        learned = search._clauses.literals[search._clauses.at[c] : search._clauses.at[c + 1]]
        holds = np.zeros(every.size, bool)
        for literal in learned.tolist():
            holds |= (every >> np.uint32(literal // 2)) & 1 == 1 - literal % 2
        assert holds.all()


@pytest.mark.parametrize("seed", range(4))
def test_parts_of_which_one_has_no_solution(seed):
    """What a part learned while one beside it cannot be must not stay in the cache."""
    rng = np.random.default_rng(seed)
    net, n = pgm.MarkovNetwork(), 17
    for i in range(n):
        net.add_variable(f"x{i}", states=[0, 1])
    rules = []
    for block in (range(1, 9), range(9, 17)):  # x0 alone links them, and makes one of them hard
        for _ in range(26):
            who = rng.choice(list(block), 3, replace=False)
            if rng.random() < 0.4:
                who[0] = 0
            rules.append((who, rng.integers(0, 2, 3)))
    for who, broken in rules:
        table = np.ones((2, 2, 2))
        table[tuple(broken)] = 0
        net.add_factor([f"x{v}" for v in who], table)
    assert net.partition(engine="search") == models_of(n, rules).size


def test_atoms_that_others_decide_are_summed_out():
    """A circuit of and, or and exclusive or: as many solutions as there are inputs' values."""
    rng = np.random.default_rng(1)
    net, n_inputs, n_gates = pgm.MarkovNetwork(), 12, 60
    for i in range(n_inputs + n_gates):
        net.add_variable(f"x{i}", states=[0, 1])
    for g in range(n_inputs, n_inputs + n_gates):
        a, b = sorted(rng.choice(g, 2, replace=False).tolist())
        gate = [np.logical_and, np.logical_or, np.logical_xor][int(rng.integers(3))]
        table = np.zeros((2, 2, 2))
        for x, y in itertools.product((0, 1), repeat=2):
            table[x, y, int(gate(x, y))] = 1
        net.add_factor([f"x{a}", f"x{b}", f"x{g}"], table)
    assert net.partition(engine="search") == 2**n_inputs
    found = net.marginals(engine="search")
    expected = net.marginals()
    for name in expected:
        close(found[name].values, expected[name].values)


def test_many_states_and_hard_rules_between_them():
    """Colourings of a cycle, by the chromatic polynomial (k - 1)^n + (-1)^n (k - 1)."""
    net, n, k = pgm.MarkovNetwork(), 11, 7
    for i in range(n):
        net.add_variable(f"c{i}", states=list(range(k)))
    for i in range(n):
        net.add_factor([f"c{i}", f"c{(i + 1) % n}"], 1 - np.eye(k))
    assert net.partition(engine="search") == (k - 1) ** n + (-1) ** n * (k - 1)
    given = {"c0": 3}
    assert net.query("c1", given, engine="search")[3] == 0.0
    assert net.query("c1", given, engine="search")[4] == pytest.approx(1 / 6, abs=1e-15)


@given(data=DATA)
def test_without_a_compiler_the_same_bits(data):
    case, question, oracle = drawn(data, markov_networks(RULES, most=5))
    if not oracle.possible:
        return
    with forms.interpreted():
        slow = case.model.marginals(question.given, engine="search")
    fast = case.model.marginals(question.given, engine="search")
    for name in fast:
        assert slow[name].values.tobytes() == fast[name].values.tobytes()


def test_a_hash_decides_nothing(monkeypatch):
    net, rules = formula(11, 26, 3, seed=4)
    monkeypatch.setattr(compiled, "_MIX", 0)
    with forms.interpreted():
        assert net.partition(engine="search") == models_of(11, rules).size


def test_what_is_more_than_yes_and_no_is_searched_by_tables():
    net, _ = formula(6, 8, 3, seed=0)
    net.add_factor(["x0", "x1"], [[1, 2], [3, 0]])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(simplify, "simplified", None)  # would be called
        assert net.partition(engine="search") == net.partition()


# --- limits ---


def hard_formula(n: int = 130) -> pgm.MarkovNetwork:
    return formula(n, int(2.2 * n), 3, seed=7)[0]


def test_it_keeps_within_its_memory(monkeypatch):
    net, _ = formula(50, 120, 3, seed=2)
    expected = net.partition()  # by the tree
    sizes = []
    grow = counter.Counter._grow

    def watched(self, status):
        grow(self, status)
        sizes.append(self._bytes())

    monkeypatch.setattr(counter.Counter, "_grow", watched)
    for limit in (400_000, 30_000_000):
        sizes.clear()
        with pgm.config(memory_limit=limit):
            assert net.partition(engine="search") == expected
        assert sizes
        assert max(sizes) <= limit
    with pgm.config(memory_limit=60_000), pytest.raises(pgm.TooLarge, match="search"):
        net.marginals(engine="search")


def test_auto_searches_where_no_tree_fits_and_there_is_a_time_limit():
    """A circuit whose tree is far too wide, of which the number of solutions is known."""
    rng = np.random.default_rng(0)
    net, n_inputs, n_gates = pgm.MarkovNetwork(), 60, 300
    for i in range(n_inputs + n_gates):
        net.add_variable(f"x{i}", states=[0, 1])
    for g in range(n_inputs, n_inputs + n_gates):
        a, b = sorted(rng.choice(g, 2, replace=False).tolist())
        table = np.zeros((2, 2, 2))
        for x, y in itertools.product((0, 1), repeat=2):
            table[x, y, x & y] = 1
        net.add_factor([f"x{a}", f"x{b}", f"x{g}"], table)
    with pytest.raises(pgm.TooLarge, match=r"time_limit"):
        net.log_partition()
    assert not net.plan().fits
    with pgm.config(time_limit=60):
        plan = net.plan()
        assert plan.fits
        assert plan.engine == "search"
        assert "60 s" in " ".join(repr(plan).split())
        assert net.partition() == 2**60
        found = net.query("x70")
        assert found.engine == "search"
        assert found.exact
        with pytest.raises(pgm.TooLarge):
            net.partition(engine="exact")


def test_auto_says_that_the_search_ran_out_of_time():
    net = hard_formula()
    limit = round(2 * slowness())  # what comes before the search takes a part of it
    with pgm.config(time_limit=limit), pytest.raises(pgm.OutOfTime, match=rf"search.* {limit} s") as late:
        net.log_partition()
    assert "No clique tree" in str(late.value)


def test_auto_does_not_search_where_tables_are_full():
    rng = np.random.default_rng(0)
    net = pgm.MarkovNetwork()
    for i, j in np.ndindex(45, 45):
        net.add_variable(f"v{i},{j}", states=[0, 1])
    for i, j in np.ndindex(45, 45):
        for a, b in ((i + 1, j), (i, j + 1)):
            if a < 45 and b < 45:
                net.add_factor([f"v{i},{j}", f"v{a},{b}"], rng.random((2, 2)))
    with pgm.config(time_limit=20), pytest.raises(pgm.TooLarge) as refused:
        net.log_partition()
    assert not refused.value.plan.searchable
    assert "search" not in str(refused.value)
