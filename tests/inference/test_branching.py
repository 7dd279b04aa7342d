"""Branch and bound and its bounds, against brute force: good states, true bounds, exact where it says so."""

from __future__ import annotations

import itertools
import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

import pgm
from pgm.evidence import observe
from pgm.inference.engines.branching import branch_and_bound, compiled, relaxation
from pgm.inference.engines.branching.branching_arrays import lay_out
from pgm.inference.engines.branching.neighbourhoods import Neighbourhoods
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.wide_numbers import log_of
from pgm.inference.program.reduction import reduce_everything
from pgm.runtime.clock import Clock
from tests.strategies import KINDS, NUMBERS, TIES, knowledge, models

DATA = st.data()
MODULES = pytest.mark.parametrize(
    "module", [branch_and_bound.BRANCHING, compiled], ids=["compiled", "interpreted"]
)


def case_of(model: Any, given: Any = None) -> Any:
    compiled_model = model._compile()
    posterior = make_posterior(compiled_model, observe(compiled_model.by_name, given), Clock(None, None))
    return reduce_everything(posterior.program, posterior.known, posterior.clock)


def ising(n: int, seed: int, strength: float = 1.0) -> pgm.MarkovNetwork:
    """A square of spins that want to be equal here and different there."""
    rng = np.random.default_rng(seed)
    mrf = pgm.MarkovNetwork()
    for i in range(n * n):
        mrf.add_variable(f"s{i}", states=[-1, 1])
    for i in range(n * n):
        h = strength * rng.normal()
        mrf.add_factor([f"s{i}"], [math.exp(-h), math.exp(h)])
        for j in [i + 1] * (i % n < n - 1) + [i + n] * (i + n < n * n):
            w = strength * rng.normal()
            mrf.add_factor([f"s{i}", f"s{j}"], np.exp([[w, -w], [-w, w]]))
    return mrf


@pytest.fixture
def at_once(monkeypatch):
    """HiGHS is asked at the first occasion, and then again and again."""
    monkeypatch.setattr(branch_and_bound, "_UNAIDED", -1.0)
    monkeypatch.setattr(branch_and_bound, "_FIRST_TURN", 0.0)
    monkeypatch.setattr(branch_and_bound, "_AGAIN", 1.0)


def noisy_network(diseases: int, findings: int, seed: int) -> tuple[pgm.BayesianNetwork, dict[str, Any]]:
    """Rare diseases, findings of a few of them each as tables, all findings there."""
    rng = np.random.default_rng(seed)
    net = pgm.BayesianNetwork()
    for i in range(diseases):
        net.add(f"d{i}", float(rng.uniform(0.01, 0.2)))
    for j in range(findings):
        parents = [f"d{i}" for i in rng.choice(diseases, 3, replace=False)]
        q = rng.uniform(0.1, 0.9, 3)
        rows = {}
        for states in itertools.product([False, True], repeat=3):
            rows[states] = 1.0 - 0.99 * float(np.prod(q[list(states)]))
        net.add(f"f{j}", rows, parents=parents)
    return net, {f"f{j}": True for j in range(findings)}


@pytest.mark.parametrize("numbers", [NUMBERS, TIES], ids=["numbers", "ties"])
@settings(max_examples=100)
@given(data=DATA)
def test_branch_and_bound_finds_the_best(numbers, data):
    case = data.draw(models(numbers, most=8))
    question = data.draw(knowledge(case, soft=0, kinds=KINDS))
    note(f"{case!r}\ngiven = {question.given}")
    oracle = question.oracle(case)
    if not oracle.possible:
        with pytest.raises((pgm.ImpossibleEvidence, pgm.NoSupportFound)):
            case.model.map(question.given, engine="branch-and-bound")
        return
    right = case.model.map(question.given)
    for engine in ("branch-and-bound", pgm.engines.Srmp(sweeps=3, moves=3)):
        try:
            found = case.model.map(question.given, engine=engine)
        except pgm.NoSupportFound:
            assert engine != "branch-and-bound"
            continue
        assert found.log_joint <= right.log_joint + 1e-9
        assert found.bound is None or found.bound >= right.log_joint - 1e-9
        if found.exact:
            assert found.log_joint == pytest.approx(right.log_joint, rel=1e-9, abs=1e-9)
        elif engine == "branch-and-bound":
            assert "hidden" in found.report.advice


@pytest.mark.parametrize("numbers", [NUMBERS, TIES], ids=["numbers", "ties"])
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=DATA)
def test_the_same_with_highs_at_once(at_once, numbers, data):
    case = data.draw(models(numbers, most=8))
    question = data.draw(knowledge(case, soft=0, kinds=KINDS))
    if not question.oracle(case).possible:
        return
    right = case.model.map(question.given)
    found = case.model.map(question.given, engine="branch-and-bound")
    assert found.log_joint <= right.log_joint + 1e-9
    assert found.bound >= right.log_joint - 1e-9
    if found.exact:
        assert found.log_joint == pytest.approx(right.log_joint, rel=1e-9, abs=1e-9)
    elif "HiGHS" in found.report.advice:
        assert found.gap < 1e-3 * max(1.0, abs(found.bound))
    else:
        assert "hidden" in found.report.advice


@settings(max_examples=100)
@given(data=DATA)
def test_duals_and_whole_columns_bound_the_least_cost(data):
    """Costs are moved by duals, by any numbers at all, and HiGHS cuts: nothing passes the best states."""
    case = data.draw(models(NUMBERS, most=7))
    question = data.draw(knowledge(case, soft=0, kinds=KINDS))
    if not question.oracle(case).possible:
        return
    reduced = case_of(case.model, question.given)
    layout = lay_out(reduced, "branch-and-bound")
    p, s = layout.problem, layout.state
    least = least_cost(p)
    left = relaxation.residual(p, s, math.inf)
    if left is None:
        assert not p.rows.size
        return
    clock = Clock(None, None)
    whole = relaxation.whole(p, s, left, clock, 10.0)
    assert whole.ended
    rounded_down = whole.least + 1  # costs are whole numbers, mostly of nine digits; here and there of one
    assert least - 1e-6 * max(1, left.most) <= rounded_down + 2e-6 * left.most * left.rest.size
    assert whole.least <= least
    assert relaxation.cost_of(p, whole.states) == least
    relaxed = relaxation.relax(p, s, left, clock, 10.0)
    assume(relaxed is not None)
    moved, states = relaxed
    if data.draw(st.booleans()):
        seed = data.draw(st.integers(0, 99))
        off = np.random.default_rng(seed).integers(-left.most, left.most, left.messages.size)
        moved[left.messages] += off
    before = int(s.w[p.floor_at])
    assert relaxation.move(p, s, left, moved) == (s.w[p.floor_at] > before)
    assert s.w[p.floor_at] <= least <= relaxation.cost_of(p, states)
    again = relaxation.residual(p, s, math.inf)
    assert (again.rest >= 0).all()
    assert (s.w[again.states] >= 0).all()


def least_cost(p: Any) -> int:
    """By trying everything."""
    found = []
    for states in itertools.product(*(range(card) for card in p.cards.tolist())):
        cost = sum(int(p.own[p.state_at[v] + x]) for v, x in enumerate(states))
        for f in range(p.rows.size):
            axes = range(p.scope_at[f], p.scope_at[f + 1])
            value = p.values[p.table[f] + sum(states[p.scopes[a]] * int(p.stride[a]) for a in axes)]
            cost += int(value)
        found.append(cost)
    return min(found)


def test_a_relaxation_that_settles_all(at_once):
    """Where the linear relaxation has whole states, its duals prove them: an exact answer."""
    net, asked = noisy_network(60, 40, 4)
    found = net.map(asked, engine="branch-and-bound")
    assert found.exact
    assert found.gap == 0.0
    with pgm.config(memory_limit="8 GB"):
        assert found.log_joint == pytest.approx(net.map(asked, engine="exact").log_joint, rel=1e-9)


def test_cuts_of_highs_are_a_bound_and_no_proof(monkeypatch):
    """Beyond what the search itself can prove: the answer says whose bound it is."""
    monkeypatch.setattr(branch_and_bound, "_FIRST_TURN", 0.0)
    monkeypatch.setattr(branch_and_bound, "_UNAIDED", -1.0)
    mrf = ising(16, 5)
    right = mrf.map(engine="exact")
    work = branch_and_bound._Branching(lay_out(case_of(mrf), "branch-and-bound"), 0, Clock(None, None))
    work.raise_floor(5)
    work.start()
    work._relax()
    work._turn(60.0)
    layout = work.layout
    log = log_of(case_of(mrf).constant()) + layout.offset
    assert work.claimed <= work.best
    assert log - work.best * layout.unit == pytest.approx(right.log_joint, rel=1e-9)
    assert right.log_joint - 1e-9 <= log - work.claimed * layout.unit <= right.log_joint + 1e-2
    assert work.floor() < work.claimed


def test_a_sum_over_a_gate_is_no_maximum():
    net = pgm.BayesianNetwork()
    causes = [f"c{i}" for i in range(5)]
    for name in causes:
        net.add(name, 0.3)
    net.add("e", pgm.NoisyOr(dict.fromkeys(causes, 0.6), leak=0.01))
    found, right = net.map({"e": True}, engine="branch-and-bound"), net.map({"e": True})
    assert found.log_joint <= right.log_joint + 1e-12
    assert found.bound is None or found.bound >= right.log_joint - 1e-9


def test_spins_that_contradict_each_other():
    mrf = ising(7, 3)
    right, found = mrf.map(), mrf.map(engine="branch-and-bound")
    assert found.exact
    assert found.log_joint == pytest.approx(right.log_joint, rel=1e-12)
    good = mrf.map(engine="srmp")
    assert good.log_joint <= right.log_joint + 1e-9
    assert good.bound is None or good.bound >= right.log_joint - 1e-9


def test_a_time_limit_gives_the_best_so_far_with_its_bound():
    mrf = ising(24, 1)
    mrf.map(engine=pgm.engines.Srmp(sweeps=1, moves=1))  # compiles
    with pgm.config(time_limit=0.5):
        found = mrf.map(engine="branch-and-bound")
    assert not found.exact
    assert found.bound > found.log_joint
    assert "time" in found.report.advice
    again = {name: state for name, state in found.items()}
    assert len(again) == 24 * 24


def test_without_a_tree_the_exact_search_goes_on():
    mrf = ising(12, 5, 0.6)
    right = mrf.map()
    with pgm.config(memory_limit="2 MB"):
        found = mrf.map()
    assert found.exact
    assert found.log_joint == pytest.approx(right.log_joint, rel=1e-12)


def test_the_same_seed_gives_the_same_answer():
    mrf = ising(12, 2, 2.0)
    engine = pgm.engines.Srmp(sweeps=5, moves=3, seed=4)
    assert dict(mrf.map(engine=engine)) == dict(mrf.map(engine=engine))


def test_options_are_checked():
    for wrong in ({"sweeps": 0}, {"moves": -1}, {"seed": 1.5}):
        with pytest.raises(pgm.InvalidArgument, match="whole number"):
            pgm.engines.Srmp(**wrong)
    with pytest.raises(pgm.InvalidArgument, match="does not answer"):
        ising(2, 0).log_partition(engine="branch-and-bound")
    with pytest.raises(pgm.InvalidArgument, match="k_best"):
        ising(2, 0).k_best(k=2, engine="srmp")


def test_C56_corners_and_lines_by_branching():
    """The cube's units, corner by corner, as small integers over a hand-set compatibility."""
    cube = pgm.MarkovNetwork()
    for i in range(8):
        cube.add_variable(f"corner{i}", states=["in", "out", "flat"])
    fits = np.array([[3.0, 0.2, 1.0], [0.2, 2.0, 1.0], [1.0, 1.0, 0.5]])
    for i in range(8):
        for b in (1, 2, 4):
            if i < i ^ b:
                cube.add_factor([f"corner{i}", f"corner{i ^ b}"], fits)
    found = cube.map(engine="branch-and-bound")
    assert found.exact
    assert set(found.values()) == {"in"}
    assert found.log_joint == pytest.approx(12 * math.log(3.0), rel=1e-12)


def test_wanted_marginals_are_refused_by_name():
    with pytest.raises(pgm.InvalidEvidence, match=r'"branch-and-bound" does not take pgm\.Soft'):
        ising(2, 0).map({"s0": pgm.Soft({-1: 0.5, 1: 0.5})}, engine="branch-and-bound")


@MODULES
def test_no_floor_passes_the_least_cost(module):
    """The floor after any number of sweeps, beside the cost of states found by the tree."""
    mrf = ising(5, 8)
    case = case_of(mrf)
    layout = lay_out(case, "srmp")
    p, s = layout.problem, layout.state
    right = mrf.map().log_joint
    floors = []
    for _ in range(6):
        assert module.sweep(p, s, 0, 1 << 40) == 0
        floors.append(int(s.w[p.floor_at]))
        value = log_of(case.constant()) + layout.offset - floors[-1] * layout.unit
        assert value >= right - 1e-9
    assert floors == sorted(floors)
    assert floors[-1] > floors[0]


def test_a_search_whose_decisions_take_longer_than_a_slice_goes_on(monkeypatch):
    """It used to take up its decisions and stop, again and again."""
    monkeypatch.setattr(branch_and_bound, "_SLICE", 1)
    model = ising(6, seed=3)
    with pgm.config(time_limit=60):
        found = model.map(engine="branch-and-bound")
    assert found.exact
    assert found == model.map(engine="exact")  # by the tree


def test_neighbourhoods_hang_together_and_differ() -> None:
    """Of a square of spins: connected, of the size asked for, all of them where there are no more."""
    case = case_of(ising(6, 0))
    found, rng = Neighbourhoods(lay_out(case, "branch-and-bound").problem), np.random.default_rng(0)
    square = nx.grid_2d_graph(6, 6)
    place = [divmod(int(v), 6) for v in case.reduced.variables]
    sets = [found.of(14, 9, rng) for _ in range(20)]
    for marked in sets:
        assert marked[14] == 1
        assert marked.sum() == 9
        assert nx.is_connected(square.subgraph([place[v] for v in np.flatnonzero(marked)]))
    assert len({marked.tobytes() for marked in sets}) > 10
    assert found.of(0, 100, rng).all()
