"""Engines that sample: right on average, honest about their errors, and never silent about what they miss.

Seeds are fixed, and the bounds are so wide that a right program fails once in a million seeds.
"""

from __future__ import annotations

import math
import re
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import pgm
from pgm import engines
from pgm.inference.engines.problem import Problem
from pgm.inference.engines.sampling.gibbs_blocks import find_blocks
from pgm.inference.engines.sampling.lookup_arrays import lay_out
from pgm.inference.program.reduction import Known, reduce_case
from pgm.inference.trees import TreeCache
from pgm.runtime.clock import Clock
from tests.loops import forms
from tests.oracle import Oracle
from tests.strategies import TAME, bayesian_networks, knowledge, models

FAR = 4.9  # a normal number is further off once in a million
DATA = st.data()
pytestmark = pytest.mark.filterwarnings("ignore::pgm.ConvergenceWarning")


def ising(n: int, coupling: float, field: float = 0.0, q: int = 2) -> pgm.MarkovNetwork:
    """A square of q states, equal neighbours favoured; the first state of the first has a field."""
    mrf = pgm.MarkovNetwork()
    for i in range(n * n):
        mrf.add_variable(f"s{i}", states=range(q))
    for i in range(n * n):
        if field:
            mrf.add_factor([f"s{i}"], [field] + [0.0] * (q - 1), log=True)
        for j in ([i + 1] if (i + 1) % n else []) + ([i + n] if i + n < n * n else []):
            mrf.add_factor([f"s{i}", f"s{j}"], coupling * np.eye(q), log=True)
    return mrf


def close(found: Any, expected: Any, least: float = 0.0) -> None:
    """Every number within so many of its standard errors."""
    for name, p in found.items():
        error = np.maximum(p.report.intervals.errors, least)
        np.testing.assert_array_less(np.abs(p.values - expected[name].values), FAR * error + 1e-12, name)


EVERY = {
    "rejection": engines.Rejection(samples=20_000),
    "likelihood-weighting": engines.LikelihoodWeighting(samples=20_000),
    "importance": engines.Importance(samples=20_000),
    "gibbs": engines.Gibbs(samples=20_000),
    "gibbs, single": engines.Gibbs(samples=20_000, blocks="single"),
    "gibbs, lists": engines.Gibbs(samples=20_000, blocks=[["cloudy", "rain"], ["sprinkler"]]),
}


@pytest.fixture
def net() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("cloudy", 0.5)
    net.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    net.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    wet = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}
    net.add("wet", wet, parents=["rain", "sprinkler"])
    return net


@pytest.mark.parametrize("engine", EVERY.values(), ids=list(EVERY))
def test_answers_are_within_their_errors(net, engine):
    known = {"wet": True}
    close(net.marginals(known, engine=engine), net.marginals(known))
    p, exact = (net.query(["rain", "sprinkler"], known, engine=e) for e in (engine, "exact"))
    assert np.abs(p.values - exact.values).max() < FAR * p.report.error
    assert p.report.error < 0.02
    assert p.report.intervals.low.shape == p.values.shape
    low, high = p.report.intervals[1, 1]
    assert low < p[True, True] < high
    if "probability" in engine.answers:
        found, truth = net.probability(known, engine=engine), net.probability(known)
        assert abs(found - truth) < FAR * found.report.error
        assert found.report.interval[0] < truth < found.report.interval[1]
        assert abs(found.log - truth.log) < FAR * found.log.report.error
        joint = net.probability({"rain": True}, given=known, engine=engine)
        assert abs(joint - net.probability({"rain": True}, given=known)) < FAR * joint.report.error


@pytest.mark.parametrize("engine", EVERY.values(), ids=list(EVERY))
def test_uncertain_evidence_of_every_kind_but_one(net, engine):
    known = {
        "wet": pgm.Likelihood({True: 0.9, False: 0.3}),
        "rain": pgm.OneOf(True, False),
        "sprinkler": pgm.Not(True),
    }
    close(net.marginals(known, engine=engine), net.marginals(known))
    if "probability" in engine.answers:
        found = net.probability(known, engine=engine)
        assert abs(found - net.probability(known)) < FAR * found.report.error
    with pytest.raises(pgm.InvalidEvidence, match=r"does not take pgm\.Soft.*'loopy'") as refused:
        net.marginals({"wet": pgm.Soft({True: 0.9, False: 0.1})}, engine=engine)
    assert "'cuts'" not in str(refused.value)  # it takes them, and has no marginals


@pytest.mark.parametrize(
    "engine",
    [
        engines.Importance(samples=3000),
        engines.Importance(samples=3000, guide="bounds"),
        engines.Gibbs(samples=4000, burn_in=200),
    ],
)
@settings(max_examples=40)
@given(data=DATA)
def test_random_models(engine, data):
    case = data.draw(models(TAME, most=5))
    question = data.draw(knowledge(case, soft=0))
    note(f"{case!r}\ngiven = {question.given}")
    oracle = question.oracle(case)
    if not oracle.possible:
        return
    try:
        found = case.model.marginals(question.given, engine=engine)
    except pgm.NoSupportFound:
        return
    except pgm.InvalidArgument as refused:
        assert "zeros tie" in str(refused)  # noqa: PT017
        return
    if not found.report.converged:
        return
    for name, p in found.items():
        s = p.report.intervals
        error = 0.0 if s is None else s.errors
        # What was met five times, or missed, is not a normal number: hence the second term.
        rare = 0.0 if s is None else 15.0 / s.effective_sizes
        assert (np.abs(p.values - oracle.posterior([name])) <= FAR * error + rare + 1e-9).all(), name


@settings(max_examples=40)
@given(data=DATA)
def test_estimates_of_the_total_are_unbiased(data):
    """The mean over many seeds of few samples each; not of the logarithm."""
    case = data.draw(bayesian_networks(TAME, most=4))
    question = data.draw(knowledge(case, soft=0))
    oracle = question.oracle(case)
    if not oracle.possible or not question.given:
        return
    expected = float(case.model.probability(question.given))
    for make in (engines.LikelihoodWeighting, engines.Importance):
        values = []
        for seed in range(40):
            try:
                values.append(
                    float(case.model.probability(question.given, engine=make(samples=20, seed=seed)))
                )
            except pgm.NoSupportFound:
                values.append(0.0)
        error = np.std(values, ddof=1) / math.sqrt(len(values))
        assert (
            abs(np.mean(values) - expected) < 6.5 * error + 0.02 * expected
        )  # rare weights are not normal ones


@pytest.mark.parametrize("q", [2, 3])
def test_swendsen_and_wang_on_a_magnet(q):
    mrf = ising(4, 0.9, field=0.1, q=q)
    exact = mrf.marginals()
    close(mrf.marginals(engine=engines.SwendsenWang(samples=8000)), exact)
    pair = mrf.query(["s0", "s5"], engine=engines.SwendsenWang(samples=8000))
    assert np.abs(pair.values - mrf.query(["s0", "s5"]).values).max() < FAR * pair.report.error


def test_clusters_move_where_single_sites_stand_still():
    """A cold magnet without a field: all up or all down, and half of the time each."""
    mrf = ising(8, 3.0)
    clusters = mrf.query("s0", engine=engines.SwendsenWang(samples=4000))
    assert clusters.report.converged
    assert abs(clusters[0] - 0.5) < FAR * clusters.report.error
    single = mrf.query("s0", engine=engines.Gibbs(samples=4000, blocks="single"))
    assert not single.report.converged  # and it says so
    assert single.report.r_hat > 1.05


def test_pairs_with_fields_of_their_own_and_strengths_by_state():
    rng = np.random.default_rng(3)
    mrf = pgm.MarkovNetwork()
    for name in "abcd":
        mrf.add_variable(name, states=["x", "y", "z"])
    for pair in ("ab", "bc", "cd", "da"):
        table = rng.normal(size=(3, 1)) + rng.normal(size=3) + np.diag([0.0, 0.5, 2.0])
        mrf.add_factor(list(pair), table, log=True)
    close(
        mrf.marginals({"a": pgm.Likelihood({"x": 1, "y": 2, "z": 3})}, engine="swendsen-wang"),
        mrf.marginals({"a": pgm.Likelihood({"x": 1, "y": 2, "z": 3})}),
    )


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ([(["a", "b"], [[1.0, 2.0], [2.0, 1.0]])], "favours unequal"),
        ([(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])], "has a zero"),
        ([(["a", "b", "c"], np.ones((2, 2, 2)) + np.arange(8).reshape(2, 2, 2))], "more than two"),
    ],
)
def test_no_magnet_is_refused_by_the_names_of_its_factor(tables, said):
    mrf = pgm.MarkovNetwork()
    for name in "abc":
        mrf.add_variable(name, states=[0, 1])
    for scope, table in tables:
        mrf.add_factor(scope, table)
    with pytest.raises(pgm.InvalidArgument, match=f"'a', 'b'.*{said}"):
        mrf.marginals(engine="swendsen-wang")


# --- rare evidence ---


def rare_findings() -> tuple[pgm.BayesianNetwork, dict[str, bool]]:
    """Twelve rare diseases, four of eight findings positive."""
    rng = np.random.default_rng(5)
    net = pgm.BayesianNetwork()
    for d in range(12):
        net.add(f"d{d}", 0.01)
    for f in range(8):
        causes = {f"d{d}": float(rng.uniform(0.3, 0.9)) for d in rng.choice(12, 4, replace=False)}
        net.add(f"f{f}", pgm.NoisyOr(causes, leak=0.001))
    return net, {f"f{f}": f < 4 for f in range(8)}


def test_beliefs_guide_to_rare_evidence():
    net, known = rare_findings()
    exact = net.log_probability(known)
    found = net.log_probability(known, engine="importance")
    assert exact < -11.0
    assert abs(found - exact) < FAR * found.report.error < 0.25
    assert found.report.effective_sample_size > 500
    with pytest.raises(pgm.NoSupportFound):
        net.probability(known, engine="likelihood-weighting")
    close(net.marginals(known, engine="importance"), net.marginals(known), least=1e-3)


def test_on_a_tree_every_guided_sample_weighs_the_same():
    net = pgm.BayesianNetwork()
    net.add("a", 0.001)
    for i in range(30):
        net.add(f"b{i}", {True: 0.9, False: 0.05}, parents=["a"])
        net.add(f"c{i}", {True: 0.8, False: 0.01}, parents=[f"b{i}"])
    known = {f"c{i}": True for i in range(30)}
    found = net.log_probability(known, engine=engines.Importance(samples=100))
    assert found == pytest.approx(net.log_probability(known), rel=1e-12)
    assert found.report.effective_sample_size == pytest.approx(100)


CAUSES = [f"c{i}" for i in range(14)]
FORMS = {
    "noisy-or": pgm.NoisyOr(dict.fromkeys(CAUSES, 0.3), leak=0.05),
    "at least": pgm.AtLeast(6, CAUSES),
    "parity": pgm.Parity(CAUSES),
    "leaves": pgm.TreeCPD.from_rules(
        [({"c0": True, "c3": False}, [0.2, 0.8]), ({"c5": True}, [0.9, 0.1]), ({}, [0.4, 0.6])],
        parents=CAUSES,
    ),
    "paths": pgm.TreeCPD.from_rules(
        [({name: i % 2 == 0 for i, name in enumerate(CAUSES[:12])}, [0.2, 0.8]), ({}, [0.4, 0.6])],
        parents=CAUSES,
    ),
    "mixture": pgm.MixtureCPD(
        {name: np.array([[0.8, 0.2], [0.3, 0.7]]) for name in CAUSES}, dict.fromkeys(CAUSES, 1 / 14)
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_written_as_small_tables_is_drawn_from_its_parents(form):
    """Whatever is hidden in them: without evidence every case weighs the same."""
    net = pgm.BayesianNetwork()
    for i, name in enumerate(CAUSES):
        net.add(name, 0.2 + 0.03 * i)
    net.add("x", FORMS[form], parents=CAUSES, states=[False, True])
    net.add("y", {True: 0.9, False: 0.2}, parents=["x"])
    for make in (engines.Rejection, engines.LikelihoodWeighting, engines.Importance):
        engine = make(samples=4000)
        p = net.query("y", engine=engine)
        assert p.report.effective_sample_size == pytest.approx(4000)
        assert abs(p[True] - net.query("y")[True]) < FAR * p.report.error
        close(net.marginals({"y": True}, engine=engine), net.marginals({"y": True}))
    close(
        net.marginals({"x": True}, engine=engines.Gibbs(samples=4000, burn_in=100)),
        net.marginals({"x": True}),
    )


def test_mini_buckets_that_are_whole_guide_perfectly():
    for mrf, known in (rare_findings(), (ising(6, 0.7, field=0.3), None)):
        engine = engines.Importance(samples=200, guide="bounds")
        ask = mrf.log_partition if known is None else lambda m=mrf, k=known, **e: m.log_probability(k, **e)
        found = ask(engine=engine)
        assert found == pytest.approx(ask(), rel=1e-11)
        assert found.report.effective_sample_size == pytest.approx(200)
        close(mrf.marginals(known, engine=engine), mrf.marginals(known))


def test_split_mini_buckets_know_more_than_beliefs():
    """Spins that contradict each other: beliefs are all wrong, and the interval has to say so."""
    rng, n, mrf = np.random.default_rng(5), 16, pgm.MarkovNetwork()
    for i in range(n * n):
        mrf.add_variable(f"s{i}", states=[0, 1])
        mrf.add_factor([f"s{i}"], rng.normal(size=2) * 0.5, log=True)
    for i in range(n * n):
        for j in ([i + 1] if (i + 1) % n else []) + ([i + n] if i + n < n * n else []):
            mrf.add_factor([f"s{i}", f"s{j}"], rng.normal() * np.eye(2), log=True)
    exact, sizes = mrf.log_partition(), []
    for guide in ("loopy", "bounds"):
        found = mrf.log_partition(engine=engines.Importance(guide=guide, samples=4000))
        assert abs(found - exact) < FAR * found.report.error
        sizes.append(found.report.effective_sample_size)
    assert sizes[1] > 2.0 * sizes[0]
    assert sizes[1] < 3999.0


def test_no_sample_with_weight_is_no_proof():
    net = pgm.BayesianNetwork()
    net.add("a", 1e-9)
    net.add("b", {True: 1.0, False: 1e-9}, parents=["a"])
    net.add("c", {True: 0.5, False: 1e-9}, parents=["b"])
    with pytest.raises(pgm.NoSupportFound, match="no sample of 500 was accepted; this does not prove"):
        net.query("a", {"c": True}, engine=engines.Rejection(samples=500))
    mrf = pgm.MarkovNetwork()  # all different: odd rings of two states, seen by no engine but the exact one
    for name in "abc":
        mrf.add_variable(name, states=[0, 1])
    for pair in ("ab", "bc", "ca"):
        mrf.add_factor(list(pair), [[0, 1], [1, 0]])
    for engine in ("likelihood-weighting", "importance"):
        with pytest.raises(pgm.NoSupportFound, match="does not prove"):
            mrf.query("a", engine=engine)
    with pytest.raises(pgm.ImpossibleEvidence):
        mrf.query("a")


# --- what zeros disconnect ---


def two_blocks(coupled: bool = True) -> pgm.MarkovNetwork:
    """Two variables that must be equal, and three that depend on them."""
    mrf = pgm.MarkovNetwork()
    for name in "abcde":
        mrf.add_variable(name, states=[0, 1])
    mrf.add_factor(["a", "b"], [[1, 0], [0, 2]])
    for pair in ("ac", "bd", "ce", "de"):
        mrf.add_factor(list(pair), [[2, 1], [1, 2]])
    return mrf


@pytest.mark.parametrize("blocks", ["single", "trees", [["a", "c"]]])
def test_what_zeros_tie_together_is_drawn_together(blocks):
    mrf = two_blocks()
    close(mrf.marginals(engine=engines.Gibbs(samples=8000, blocks=blocks)), mrf.marginals())


def test_what_is_tied_too_widely_is_refused_by_name():
    """Latin squares: 8 x 8 cells, each row and column all different."""
    mrf = pgm.MarkovNetwork()
    n = 8
    for i in range(n):
        for j in range(n):
            mrf.add_variable(f"x[{i},{j}]", states=range(n))
    for i in range(n):
        for j in range(n):
            for k in range(j):
                mrf.add_factor([f"x[{i},{j}]", f"x[{i},{k}]"], 1.0 - np.eye(n))
                mrf.add_factor([f"x[{j},{i}]", f"x[{k},{i}]"], 1.0 - np.eye(n))
    with pytest.raises(pgm.InvalidArgument, match=r"zeros tie 'x\[0,0\]'.*\"importance\""):
        mrf.marginals(engine="gibbs")


def moves(case: Any) -> tuple[Any, Any]:
    """The blocks of a model as chains would draw them."""
    model = case.model._compile()
    known = Known({}, {})
    clock = Clock(None, None)
    reduced = reduce_case(model.program, known, range(len(model.names)), clock)
    layout = lay_out(Problem(reduced, {}, model.names, TreeCache()), "gibbs")
    return layout, find_blocks(layout, engines.Gibbs(blocks="single"), clock)


@settings(max_examples=150)
@given(data=DATA)
def test_chains_reach_all_that_is_possible(data):
    """By brute force: whether the blocks link all joint states that are possible."""
    case = data.draw(models(TAME, most=5))
    if not Oracle(case.plain).possible:
        return
    try:
        layout, blocks = moves(case)
    except pgm.InvalidArgument:  # tied too widely
        return
    a = layout.arrays
    shape = tuple(a.cards.tolist())
    if not shape or math.prod(shape) > 4096:
        return
    states = np.array(list(np.ndindex(*shape))).reshape(-1, len(shape))
    logs = np.zeros(len(states))
    for f in range(a.table_at.size):
        part = slice(int(a.scope_at[f]), int(a.scope_at[f + 1]))
        logs += a.logs[a.table_at[f] + states[:, a.scopes[part]] @ a.stride[part]]
    possible = states[logs > -math.inf]
    reached, new = {tuple(possible[0])}, [tuple(possible[0])]
    everything = {tuple(s) for s in possible}
    while new:
        here = np.array(new.pop())
        for b in range(blocks.block_at.size - 1):
            mine = blocks.steps.variable[blocks.block_at[b] : blocks.block_at[b + 1]]
            others = np.setdiff1d(np.arange(len(shape)), mine)
            for s in possible[(possible[:, others] == here[others]).all(axis=1)]:
                if tuple(s) not in reached:
                    reached.add(tuple(s))
                    new.append(tuple(s))
    assert reached == everything


# --- blocks ---


def test_one_block_over_everything_draws_independently():
    """A tree is one block: each sweep is an independent draw, so that no size is lost."""
    net = pgm.BayesianNetwork()
    net.add("x0", [0.5, 0.3, 0.2], states=range(3))
    rows = np.random.default_rng(1).dirichlet(np.ones(3) * 0.2, 3)
    for i in range(1, 40):
        net.add(f"x{i}", rows, parents=[f"x{(i - 1) // 2}"], states=range(3))
    found = net.marginals(engine=engines.Gibbs(samples=4000, burn_in=10))
    assert found.report.effective_sample_size > 2500
    close(found, net.marginals())
    apart = net.marginals(engine=engines.Gibbs(samples=4000, burn_in=10, blocks="single"))
    assert apart.report.effective_sample_size < 0.2 * found.report.effective_sample_size


def test_blocks_that_are_too_wide_or_not_there(net):
    for blocks, said in (
        ([["rain"], ["rain", "wet"]], "'rain' is in blocks= twice"),
        ([["rian"]], "blocks=: there is no variable 'rian'.*'rain'"),
    ):
        with pytest.raises(pgm.PGMError, match=said):
            net.query("cloudy", engine=engines.Gibbs(blocks=blocks))
    mrf = ising(26, 0.3)
    everything = [[f"s{i}" for i in range(26 * 26)]]
    with pytest.raises(pgm.InvalidArgument, match="blocks that are too wide"):
        mrf.query("s0", engine=engines.Gibbs(blocks=everything))


# --- draws ---


@pytest.mark.parametrize("engine", ["likelihood-weighting", "importance", "gibbs"])
def test_samples_have_the_right_shares(net, engine):
    given = {"wet": True, "cloudy": pgm.Likelihood({True: 0.3, False: 0.7})}
    drawn = net.sample(20_000, given=given, engine=engine, seed=1)
    assert not drawn.exact
    assert drawn.engine == engine
    assert drawn["wet"].all()
    for name, p in net.marginals(given).items():
        share, q = float(drawn[name].mean()), p[True]
        assert abs(share - q) < FAR * math.sqrt(q * (1 - q) / min(5000, drawn.report.effective_sample_size))
    assert drawn == net.sample(20_000, given=given, engine=engine, seed=1)
    assert drawn != net.sample(20_000, given=given, engine=engine, seed=2)
    assert net.sample(0, engine=engine, seed=0).n_rows == 0


def test_samples_reach_what_no_evidence_speaks_of(net):
    net.add("after", {True: 0.9, False: 0.2}, parents=["wet"])
    drawn = net.sample(10_000, given={"cloudy": True}, engine="gibbs", seed=0)
    p = net.query("after", {"cloudy": True})[True]
    assert abs(drawn["after"].mean() - p) < FAR * math.sqrt(p * (1 - p) / 5000)


def test_chains_are_kept_when_asked(net):
    engine = engines.Gibbs(samples=400, chains=2, trace=["rain", "wet"])
    p = net.query("rain", {"wet": True}, engine=engine)
    assert list(p.report.chains) == ["rain"]  # wet is known
    chain = p.report.chains["rain"]
    assert chain.shape == (2, 200)
    assert chain.mean() == pytest.approx(p[True])
    assert net.query("rain", engine="gibbs").report.chains is None
    with pytest.raises(pgm.UnknownVariable, match="trace="):
        net.query("rain", {"wet": True}, engine=engines.Gibbs(trace=["rian"]))


def test_intervals_are_printed(net):
    p = net.query("rain", {"wet": True}, engine="gibbs")
    assert "P(rain | wet=True)  95 % from  to" in re.sub(" {2,}", "  ", repr(p).splitlines()[0])
    low, high = p.report.intervals[1]
    shown = [float(x) for x in repr(p).splitlines()[2].split()[2:]]
    assert shown[0] <= low < p[True] < high <= shown[1]
    assert shown == pytest.approx([low, high], abs=1e-6)
    assert ">95 % from</th>" in p._repr_html_()
    assert p.bounds is None  # not surely
    joint = net.query(["rain", "cloudy"], {"wet": True}, engine="gibbs")
    turned, summed = joint.marginal(["cloudy", "rain"]), joint.marginal("rain")
    assert turned.report.intervals[0, 1] == joint.report.intervals[1, 0]
    assert summed.report.intervals is None  # of a sum it is not known how often they hold
    assert joint.report.error < summed.report.error < 3.0 * joint.report.error
    q = net.marginals({"wet": True}, engine="gibbs")
    assert "95 % from" in repr(q)
    assert "R-hat" in repr(q)
    z = net.probability({"wet": True}, engine="importance")
    assert "95 % interval" in str(z.report)


# --- limits ---


def test_a_time_limit_returns_what_was_drawn_and_says_so():
    mrf = ising(20, 0.2)
    for engine in (
        engines.LikelihoodWeighting(samples=2_000_000),
        engines.Gibbs(samples=2_000_000, burn_in=0),
        engines.SwendsenWang(samples=2_000_000, burn_in=0),
    ):
        mrf.query("s0", engine=type(engine)(samples=40))  # compiled
        begin = time.perf_counter()
        with pgm.config(time_limit=1.5):
            p = mrf.query("s0", engine=engine)
        assert time.perf_counter() - begin < 5.0
        assert not p.report.converged
        assert 0 < p.report.samples < 2_000_000
        assert "the time limit was reached after" in " ".join(repr(p).split())
        assert abs(p[0] - 0.5) < 6.0 * p.report.error


@pytest.mark.parametrize(
    ("make", "options", "said"),
    [
        (engines.Rejection, {"samples": 0}, "samples is a whole number of at least 1"),
        (engines.LikelihoodWeighting, {"seed": -1}, "seed"),
        (engines.Importance, {"guide_iter": 0}, "guide_iter"),
        (engines.Importance, {"guide": "bound"}, "'loopy', 'bounds'.*'bounds'"),
        (engines.Gibbs, {"chains": 1}, "chains is a whole number of at least 2"),
        (engines.Gibbs, {"samples": 10}, "samples is a whole number of at least 32"),
        (engines.Gibbs, {"burn_in": -1}, "burn_in"),
        (engines.Gibbs, {"blocks": "tree"}, "blocks is"),
        (engines.Gibbs, {"blocks": ["ab"]}, "blocks= takes lists of names"),
        (engines.Gibbs, {"trace": "rain"}, "trace= takes a list of names"),
        (engines.SwendsenWang, {"chains": True}, "chains"),
    ],
)
def test_options_out_of_range(make, options, said):
    with pytest.raises(pgm.InvalidArgument, match=said):
        make(**options)


@pytest.mark.parametrize("engine", ["likelihood-weighting", "importance", "gibbs", "swendsen-wang"])
def test_the_same_draws_without_a_compiler(engine):
    mrf = ising(3, 0.4, field=0.2)
    kind = engines.ENGINES[engine]
    options = kind(samples=40)
    compiled = mrf.marginals({"s0": 1}, engine=options)
    with forms.interpreted():
        plain = mrf.marginals({"s0": 1}, engine=options)
    for name, p in compiled.items():
        np.testing.assert_allclose(plain[name].values, p.values, rtol=1e-13)


def test_dense_models_get_their_blocks_in_time():
    """150 variables, each linked to each other: blocks are not trees, and the search for them ends."""
    mrf, n, rng = pgm.MarkovNetwork(), 150, np.random.default_rng(0)
    for i in range(n):
        mrf.add_variable(f"x{i}", states=[0, 1])
    for i in range(n):
        for j in range(i):
            mrf.add_factor([f"x{i}", f"x{j}"], 0.05 * rng.normal(size=(2, 2)), log=True)
    found = mrf.marginals(engine=engines.Gibbs(samples=100, burn_in=10))
    assert found.report.samples == 140


def test_rejection_is_for_networks():
    with pytest.raises(pgm.InvalidArgument, match="draws each variable from its table"):
        ising(2, 0.3).query("s0", engine="rejection")


@pytest.mark.parametrize("engine", [engines.Gibbs, engines.SwendsenWang])
def test_chains_that_do_not_fit_are_refused_before_they_begin(engine):
    mrf = pgm.MarkovNetwork()
    for name in "abc":
        mrf.add_variable(name, states=[0, 1])
    for pair in ("ab", "bc"):
        mrf.add_factor(list(pair), [[2.0, 1.0], [1.0, 2.0]])
    tracemalloc.start()
    try:
        with pgm.config(memory_limit="100 MB"), pytest.raises(pgm.TooLarge, match="10,000,000 chains"):
            mrf.query("a", engine=engine(chains=10**7, samples=10**9))
        assert tracemalloc.get_traced_memory()[1] < 2e7
    finally:
        tracemalloc.stop()
