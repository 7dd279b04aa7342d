"""Sequences of forests: what is lost is what is said to be lost, and nothing where one forest does."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import pgm
from pgm.graphs.triangulation import triangulate
from pgm.inference.engines.clique_sequence.clusters import Cluster, cut, joined, trees
from pgm.inference.engines.clique_sequence.forest import Forest
from pgm.inference.program.reduction import Known, reduce_case
from pgm.runtime.clock import Clock
from tests.known import test_uai as uai
from tests.strategies import TAME, knowledge, models

pytestmark = pytest.mark.filterwarnings("ignore::pgm.ConvergenceWarning")
SMALL = pgm.engines.CliqueSequence(clique_bound=2)
DATA = st.data()


def factors_of(seed: int, n: int = 10) -> tuple[np.ndarray, list[tuple[list[str], np.ndarray]]]:
    """How many states, two or three, and nearly twice as many factors of up to three variables."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 4, n)
    found = []
    for _ in range(int(1.8 * n)):
        scope = rng.choice(n, rng.integers(1, 4), replace=False)
        found.append(([f"v{i}" for i in scope], np.exp(rng.normal(size=cards[scope]))))
    return cards, found


def random_model(seed: int, *, turned: bool = False) -> pgm.MarkovNetwork:
    """The same, and with the states of all variables in the opposite order."""
    mrf, (cards, factors) = pgm.MarkovNetwork(), factors_of(seed)
    for i, card in enumerate(cards.tolist()):
        states = list(range(card))
        mrf.add_variable(f"v{i}", states=states[::-1] if turned else states)
    for names, values in factors:
        mrf.add_factor(names, np.flip(values) if turned else values)
    return mrf


def furthest(p, q) -> float:
    return max(float(np.abs(p[name].values - q[name].values).max()) for name in p)


# --- clusters ---


def product(clusters: list[Cluster], n: int) -> np.ndarray:
    """The distribution that a tree of clusters stands for, over n variables of two states."""
    whole = np.ones([2] * n)
    for part in trees(clusters):
        for one, shared in part:
            shape = [2 if v in one.variables else 1 for v in range(n)]
            whole = whole * one.given(shared).reshape(shape)
    return whole


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 6), bound=st.integers(1, 4), zeros=st.booleans())
def test_what_is_cut_is_the_divergence_from_what_is_left(seed, n, bound, zeros):
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(2**n, 0.3)).reshape([2] * n)
    if zeros:
        table[rng.random(table.shape) < 0.4] = 0.0
        table.flat[0] += 0.1
        table /= table.sum()
    left, lost = cut([Cluster(tuple(range(n)), table)], np.ones(n), float(bound))
    assert max(len(one.variables) for one in left) == min(bound, n)
    found = product(left, n)
    assert found.sum() == pytest.approx(1.0, abs=1e-9)
    assert (found[table > 0.0] > 0.0).all()
    there = table > 0.0
    divergence = float((table[there] * np.log(table[there] / found[there])).sum())
    assert lost == pytest.approx(divergence, abs=1e-9)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), bound=st.integers(1, 8))
def test_without_what_is_inside_cliques_are_still_those_of_a_tree(seed, n, bound):
    rng = np.random.default_rng(seed)
    near = np.triu(rng.random((n, n)) < 0.3, 1)
    near |= near.T
    at = np.concatenate([[0], np.cumsum(near.sum(1))]).astype(np.int64)
    found = triangulate(at, np.nonzero(near)[1].astype(np.int32), np.ones(n))
    inside = rng.random(n) < 0.5
    scopes, dropped = joined(found, inside, np.ones(n), float(bound))
    largest = max(len(found.clique(c)) for c in range(found.n_cliques))
    assert all(len(scope) <= max(bound, largest) for scope in scopes)
    assert {v for scope in scopes for v in scope} == set(np.flatnonzero(~inside).tolist())
    clusters = [Cluster(scope, np.ones([2] * len(scope))) for scope in scopes]
    parts = trees(clusters)
    for part in parts:
        members = {v for one, _ in part for v in one.variables}
        assert sum(len(one.variables) - len(shared) for one, shared in part) == len(members)
    if bound >= n:
        assert dropped == 0
    if not dropped:  # all that was linked through what is inside is linked now
        linked = near.copy()
        for v in np.flatnonzero(inside):
            linked |= np.outer(linked[:, v], linked[v])
        together = {pair for scope in scopes for pair in combinations(scope, 2)}
        for u, w in combinations(np.flatnonzero(~inside).tolist(), 2):
            assert not linked[u, w] or (u, w) in together


# --- answers ---


@settings(max_examples=40)
@given(data=DATA)
def test_one_forest_is_exact(data):
    case = data.draw(models(most=6))
    question = data.draw(knowledge(case))
    note(f"{case!r}\ngiven = {question.given}")
    oracle = question.oracle(case)
    if not oracle.possible:
        with pytest.raises(pgm.ImpossibleEvidence):
            case.model.marginals(question.given, engine="clique-sequence")
        return
    found = case.model.marginals(question.given, engine="clique-sequence")
    assert not found.exact
    assert "one forest held everything" in found.report.advice
    for name, p in found.items():
        np.testing.assert_allclose(p.values, oracle.posterior([name]), atol=1e-9)


def test_several_forests_are_near_and_nearer_than_loopy():
    engine = pgm.engines.CliqueSequence(clique_bound=4)
    errors = {"loopy": [], engine: []}
    off = {"loopy": [], engine: []}
    for seed in range(12):
        mrf = random_model(seed)
        exact, z = mrf.marginals(), float(mrf.log_partition())
        for used in errors:
            found, log_z = mrf.marginals(engine=used), mrf.log_partition(engine=used)
            errors[used].append(furthest(exact, found))
            off[used].append(abs(float(log_z) - z))
            assert found.exact is log_z.exact is False
        assert "forests of cliques" in found.report.advice
    assert 0.0 < np.mean(errors[engine]) < 0.5 * np.mean(errors["loopy"])
    assert 0.0 < np.mean(off[engine]) < 0.5 * np.mean(off["loopy"])


@settings(max_examples=60)
@given(data=DATA)
def test_what_is_possible_stays_possible(data):
    """And what is not said to be known, sums to one; with zeros, and evidence of every kind."""
    case = data.draw(models(TAME, most=7))
    question = data.draw(knowledge(case))
    oracle = question.oracle(case)
    note(f"{case!r}\ngiven = {question.given}")
    if not oracle.possible:
        return
    for name, p in case.model.marginals(question.given, engine=SMALL).items():
        assert p.values.sum() == pytest.approx(1.0, abs=1e-12)
        assert (p.values[oracle.posterior([name]) > 0.0] > 0.0).all()


@pytest.mark.parametrize("seed", range(4))
def test_scales_and_the_names_of_states_are_nobodys_business(seed):
    mrf, other = random_model(seed), random_model(seed)
    other.add_factor(["v0"], np.full(len(mrf.variables["v0"].states), 3e5))
    z, more = (float(m.log_partition(engine=SMALL)) for m in (mrf, other))
    assert more == pytest.approx(z + math.log(3e5), abs=1e-5)
    before = mrf.marginals(engine=SMALL)
    assert furthest(before, other.marginals(engine=SMALL)) < 1e-5
    after = random_model(seed, turned=True).marginals(engine=SMALL)
    for name, p in before.items():
        assert {state: after[name][state] for state in p.states} == pytest.approx(dict(p.items()), abs=1e-5)


def test_joints_come_from_a_clique_that_is_made_for_them_or_by_conditioning():
    names = ["v0", "v5", "v7"]
    for seed in range(4):
        mrf = random_model(seed)
        exact = mrf.query(names, {"v3": 1}).values
        for bound, conditioned in ((1, True), (5, False)):
            p = mrf.query(names, {"v3": 1}, engine=pgm.engines.CliqueSequence(clique_bound=bound))
            assert ("by conditioning" in p.report.advice) == conditioned
            assert p.values.sum() == pytest.approx(1.0, abs=1e-12)
            assert 0.5 * np.abs(p.values - exact).sum() < 0.1


def test_the_probability_of_the_evidence_is_nearer_than_loopy():
    given = {"v1": 0, "v5": 1}
    ours, theirs = [], []
    for seed in range(12):
        mrf = random_model(seed)
        exact = float(mrf.log_probability(given))
        p = mrf.log_probability(given, engine=pgm.engines.CliqueSequence(clique_bound=4))
        ours.append(abs(float(p) - exact))
        theirs.append(abs(float(mrf.log_probability(given, engine="loopy")) - exact))
    assert 0.0 < np.mean(ours) < 0.7 * np.mean(theirs)


def test_numbers_that_no_double_holds():
    """Forests believe the opposite of each other, to 400 decades, before they meet: that is said."""
    n, mrf = 12, pgm.MarkovNetwork()
    rng = np.random.default_rng(2)
    for i in range(n):
        mrf.add_variable(f"v{i}", states=[0, 1])
    for i in range(n):
        for j in (1, 2, 5):
            logs = rng.normal(size=(2, 2))
            tilt = np.array([0.0, -921.0])
            names = [f"v{i}", f"v{(i + j) % n}"]
            mrf.add_factor(names, logs + (tilt[:, None] if j == 1 else 0.0), log=True)
    for i in range(n):
        mrf.add_factor([f"v{i}"], [0.0, 921.0], log=True)
    found, exact = mrf.marginals(engine=SMALL), mrf.marginals()
    assert furthest(found, exact) < 0.2 or not found.report.converged


# --- manners ---


def grid(n: int = 12, coupling: float = 0.8) -> pgm.MarkovNetwork:
    seen = np.random.default_rng(3).integers(0, 2, (n, n))
    return pgm.MarkovNetwork.grid(seen, states=[0, 1], coupling=coupling, unary=[[0.6, 0.4], [0.4, 0.6]])


def test_larger_cliques_come_nearer():
    mrf = grid()
    exact = mrf.marginals()
    errors = [
        furthest(exact, mrf.marginals(engine=pgm.engines.CliqueSequence(clique_bound=b)))
        for b in (2, 6, 10, 20)
    ]
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[3] < 1e-9
    assert errors[1] < furthest(exact, mrf.marginals(engine="loopy"))


def test_the_report_says_how_many_forests_and_what_was_lost():
    p = grid().query("pixel[5,5]", engine=pgm.engines.CliqueSequence(clique_bound=6))
    for text in (" ".join(repr(p).split()), p._repr_html_().replace("<br>", " ")):
        assert "APPROXIMATE (clique-sequence)" in text
        assert "forests of cliques of at most 2^" in text
        assert "nats cut" in text
        assert "no bound" in text
    assert p.report.converged == (p.report.residuals[-1] <= 1e-6)
    assert p.report.iterations == len(p.report.residuals)


def test_too_few_iterations_are_said_and_warned_of():
    with pytest.warns(pgm.ConvergenceWarning, match=r"forests still differ by .* after 1 iteration;"):
        p = grid().query("pixel[5,5]", engine=pgm.engines.CliqueSequence(clique_bound=6, iterations=1))
    assert "not converged" in " ".join(repr(p).split())


def test_it_stops_in_time_for_an_answer(monkeypatch):
    monkeypatch.setattr(Clock, "remaining", lambda self: 0.0)
    p = grid().query("pixel[5,5]", engine=pgm.engines.CliqueSequence(clique_bound=6))
    assert not p.report.converged
    assert "the time limit was reached after 1 iteration: forests still differ by" in p.report.advice


def test_where_memory_is_short_cliques_are_smaller():
    mrf = grid(40)
    engine = pgm.engines.CliqueSequence(clique_bound=20)
    with pgm.config(memory_limit="12 MB"):
        with pytest.raises(pgm.TooLarge, match=r"For its forests.*smaller clique_bound"):
            mrf.marginals(engine=engine)
        assert mrf.marginals(engine="clique-sequence")["pixel[0,0]"].values.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"clique_bound": 0}, "clique_bound is a whole number of at least 1, not 0"),
        ({"clique_bound": 2.5}, "clique_bound"),
        ({"iterations": 0}, "iterations"),
        ({"tol": -1.0}, "tol"),
    ],
)
def test_options_out_of_range(options, said):
    with pytest.raises(pgm.InvalidArgument, match=said):
        pgm.engines.CliqueSequence(**options)


# --- published answers ---


@pytest.mark.skipif(not uai.UAI.is_dir(), reason="the problems of shared/ are not here")
@pytest.mark.parametrize(
    ("name", "bound"),
    [("Grids_15", 10), ("linkage_21", 10), ("Pedigree_11", 8), ("Segmentation_15", 8), ("linkage_13", None)],
)
def test_it_is_nearer_to_the_published_marginals_than_loopy(name, bound):
    path = uai.UAI / "MAR" / f"{name}.uai.gz"
    net = pgm.read(path)
    evidence = uai.evidence(path, net)
    published = uai.published(path, "MAR", net)

    def error(engine) -> float:
        found = net.marginals(evidence, engine=engine)
        return float(np.mean([np.abs(p.values - published[v].values).mean() for v, p in found.items()]))

    assert error(pgm.engines.CliqueSequence(clique_bound=bound)) < 0.7 * error("loopy")


def test_two_orders_and_what_is_made_of_them():
    """Confirmed, not confirmed, and two parts of one distribution: these have the weights of their totals."""
    from pgm.inference.engines.clique_sequence.modes import Calibrated, _joined

    def calibrated(a, log_total, converged=True):
        report = pgm.results.Report("clique-sequence", exact=False, converged=converged, iterations=2)
        return Calibrated(np.array([a, 1 - a]), np.array([a, 1 - a]), log_total, report)

    near = _joined(calibrated(0.3, 1.0), calibrated(0.35, 1.2))
    assert (near.values[0], near.log_total) == (0.3, 1.0)
    assert near.report.converged
    assert near.report.error == pytest.approx(0.05)
    off = _joined(calibrated(0.3, 1.0), calibrated(0.6, 1.2))
    assert off.values[0] == 0.3
    assert not off.report.converged
    assert "another order of the tables gave values up to 0.3 apart" in off.report.advice
    late = _joined(calibrated(0.3, 9.0, converged=False), calibrated(0.6, 1.2))
    assert (late.values[0], late.report.converged) == (0.6, False)
    parts = _joined(calibrated(0.99, math.log(3.0)), calibrated(0.01, 0.0))
    assert parts.values[0] == pytest.approx(0.75 * 0.99 + 0.25 * 0.01)
    assert parts.log_total == pytest.approx(math.log(4.0))
    assert (parts.report.modes, parts.report.converged) == (2, False)
    assert parts.report.error == pytest.approx(0.98)
    assert "different parts of the distribution, of 0.75 and 0.25" in parts.report.advice


def test_its_plan_says_what_will_run():
    small = grid()
    plan = small.plan(engine="clique-sequence")
    assert (plan.engine, plan.exact, plan.fits, plan.later) == ("clique-sequence", False, True, "")
    plan = small.plan("pixel[5,5]", engine=pgm.engines.CliqueSequence(clique_bound=6))
    assert plan.fits
    assert "forests of cliques of at most 2^6 entries; the sizes are those of one tree" in " ".join(
        repr(plan).split()
    )


@pytest.mark.parametrize("least", [0.5, 0.3, 1e-5])
def test_a_table_put_into_a_forest_says_how_small_its_entries_are(least: float) -> None:
    """The power of two that says so is below the smallest entry, by less than one: no run may trust more."""
    mrf = pgm.MarkovNetwork()
    mrf.add_variable("a", states=[0, 1])
    mrf.add_variable("b", states=[0, 1])
    mrf.add_factor(["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
    program = mrf._compile().program
    case = reduce_case(program, Known(), [0, 1], Clock(None, None), prune=False)
    forest = Forest(case, tree=None, wide=[], inside=np.empty(0), arriving=[])  # type: ignore[arg-type]
    forest.put(0, np.array([[3.0, least], [0.0, 1.5]]))
    kept = program.values[:4]
    assert np.ldexp(kept, int(program.arrays.exponent[0])).tolist() == [3.0, least, 0.0, 1.5]
    assert program.arrays.low[0] <= math.log2(kept[kept > 0.0].min()) < program.arrays.low[0] + 1
