"""Every search, beside brute force over all networks, other libraries, and definitions worked out by hand."""

from __future__ import annotations

import itertools
import math
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pgm
from pgm.learning.scoring.testing import Tester
from pgm.learning.searches import SEARCHES
from pgm.learning.searching import exact
from pgm.learning.searching.constraints import constraints
from pgm.models.structure_data import read_columns
from pgm.runtime.clock import start_clock

S = pgm.searches


def rows_of(seed: int, n: int, names: str, states: int = 3) -> dict[str, list[int]]:
    """Columns that depend on each other in no order in particular."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 2, n)
    return {c: ((base * (rng.random(n) < 0.6) + rng.integers(0, states, n)) % states).tolist() for c in names}


def every_dag(n: int) -> list[tuple[tuple[int, ...], ...]]:
    """The parents of each node in every DAG, by trying all sets of parents."""
    sets = [
        [tuple(u for u in range(n) if m >> u & 1) for m in range(2**n) if not m >> v & 1] for v in range(n)
    ]
    found = []
    for parents in itertools.product(*sets):
        left, order = set(range(n)), True
        while left and order:
            order = next(((v,) for v in left if not set(parents[v]) & left), ())
            left -= set(order)
        if not left:
            found.append(parents)
    return found


def problem_of(rows: Any, by: str = "bdeu", **given: Any) -> Any:
    read = read_columns(rows)
    known = constraints(sorted(read.variables), **given)
    return read.problem(pgm.learning.scores.find_score(by), known, start_clock(), np.random.default_rng(0))


@pytest.fixture(scope="module")
def dags() -> np.ndarray:
    """Every DAG of five nodes, the parents of each node as a number whose bits they are."""
    found = np.array([[sum(1 << u for u in those) for those in parents] for parents in every_dag(5)])
    assert len(found) == 29281  # Robinson 1973
    return found


def best_of(problem: Any, dags: np.ndarray) -> float:
    """The highest score of a DAG that obeys the constraints."""
    families, known = problem.families(), problem.known
    totals = np.zeros(len(dags))
    for v in range(5):
        table = np.full(32, -np.inf)
        for mask in range(32):
            those = [u for u in range(5) if mask >> u & 1]
            permitted = all(known.allowed[u, v] for u in those) and len(those) <= known.room[v]
            if v not in those and permitted and all(u in those for u in np.flatnonzero(known.required[:, v])):
                table[mask] = families.score(v, those)
        totals += table[dags[:, v]]
    return float(totals.max())


CONSTRAINTS: list[dict[str, Any]] = [
    {},
    {"max_parents": 1},
    {"require": [("c", "a")], "forbid": [("a", "b"), ("b", "a")]},
    {"tiers": [["e", "d"], ["a", "b"]], "roots": "c"},
    {"max_parents": {"a": 2, "b": 0}, "leaves": ["e"]},
]


@pytest.mark.parametrize("by", ["bic", "k2"])
def test_exact_search_finds_the_best_of_all_networks(
    by: str, dags: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed, given in enumerate(CONSTRAINTS):
        rows = rows_of(seed, 80, "abcde", 2 + seed % 2)
        problem = problem_of(rows, by, **given)
        best = best_of(problem, dags)
        for most in (26, 0):  # dynamic programming, then integer programming
            monkeypatch.setattr(exact, "_MOST_NODES", most)
            found = pgm.learn_structure(rows, search="exact", score=by, **given)
            assert found.exact
            assert found.score == pytest.approx(best, abs=1e-7)
            place = {name: i for i, name in enumerate("abcde")}
            assert problem.known.obeyed([[place[p] for p in found.network.parents(v)] for v in "abcde"])


def test_ges_and_boss_come_close_to_the_best_of_all(dags: np.ndarray) -> None:
    """Given enough rows both are consistent; on 300 rows of five columns they seldom miss."""
    missed = 0
    for seed in range(6):
        rows = rows_of(seed, 300, "abcde", 2)
        best = best_of(problem_of(rows, "bdeu"), dags)
        for search in ("ges", "boss"):
            found = pgm.learn_structure(rows, search=search, score="bdeu")
            assert found.score <= best + 1e-7
            missed += found.score < best - 1e-6
            assert found.score == pytest.approx(pgm.structure_score(found.network, rows, "bdeu"))
            if search == "ges":  # what each operator promised is what it gained
                assert found.trace[-1].score == pytest.approx(found.score)
    assert missed <= 2


def test_posteriors_of_arcs_are_those_over_all_networks() -> None:
    """Networks are weighed alike by one walk, and by the number of their orders by the other."""
    small = every_dag(4)
    assert len(small) == 543
    orders = list(itertools.permutations(range(4)))
    for seed, given, n in ((0, {}, 60), (1, {"forbid": [("a", "b")], "max_parents": 2}, 60), (2, {}, 90)):
        rows = rows_of(seed, n, "abcd")
        if seed == 2:  # a collider: orders differ much
            either = (
                np.array(rows["a"]) + np.array(rows["d"][::-1]) + np.random.default_rng(0).integers(0, 2, n)
            )
            rows = {**rows, "b": (either % 4).tolist(), "d": rows["d"][::-1]}
        problem = problem_of(rows, "bdeu", **given)
        families = problem.families()
        kept = [parents for parents in small if problem.known.obeyed(parents)]
        scores = np.array([families.total(parents) for parents in kept])
        weights = np.exp(scores - scores.max())
        linear = np.array(
            [sum(all(o.index(u) < o.index(v) for v in range(4) for u in p[v]) for o in orders) for p in kept]
        )
        for how, weigh in (
            (S.StructureMCMC(steps=40_000), weights),
            (S.OrderMCMC(steps=20_000, thin=2), weights * linear),
        ):
            found = pgm.learn_structure(rows, search=how, score="bdeu", seed=1, **given)
            for u, v in itertools.permutations(range(4), 2):
                share = (
                    sum(w for w, parents in zip(weigh, kept, strict=True) if u in parents[v]) / weigh.sum()
                )
                assert found.confidence is not None
                assert found.confidence.get(("abcd"[u], "abcd"[v]), 0.0) == pytest.approx(share, abs=0.03)
            assert found.score == pytest.approx(scores.max())


# --- trees and orders ---


def mutual_information(table: np.ndarray) -> float:
    p = table / table.sum()
    outer = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    return float((p[p > 0] * np.log(p[p > 0] / outer[p > 0])).sum())


def test_chow_and_lius_tree_is_the_heaviest() -> None:
    rows = pgm.load_network("asia").sample(1500, seed=2).to_pandas()
    graph = nx.Graph()
    for a, b in itertools.combinations(rows.columns, 2):
        graph.add_edge(a, b, weight=mutual_information(pd.crosstab(rows[a], rows[b]).to_numpy()))
    tree = nx.maximum_spanning_tree(graph)
    found = pgm.learn_structure(rows, search=S.ChowLiu(root="smoke"))
    assert {frozenset(arc) for arc in found.network.edges} == {frozenset(edge) for edge in tree.edges}
    assert not found.network.parents("smoke")
    assert max(len(found.network.parents(v)) for v in found.network.nodes) == 1
    forest = pgm.learn_structure(rows, search=S.ChowLiu(forest=True), forbid=[("asia", "tub")])
    assert ("asia", "tub") not in forest.network.edges
    assert forest.score >= found.score


def test_a_tree_augmented_class() -> None:
    rows = pgm.load_network("asia").sample(1500, seed=2).to_pandas()
    found = pgm.learn_structure(rows, search=S.TAN("lung"))
    net = found.network
    assert not net.parents("lung")
    graph = nx.Graph()
    others = [v for v in net.nodes if v != "lung"]
    for a, b in itertools.combinations(others, 2):
        told = sum(
            len(part) / len(rows) * mutual_information(pd.crosstab(part[a], part[b]).to_numpy())
            for _, part in rows.groupby("lung")
        )
        graph.add_edge(a, b, weight=told)
    within = [arc for arc in net.edges if "lung" not in arc]
    weight = sum(graph.edges[arc]["weight"] for arc in within)
    best = sum(d["weight"] for *_, d in nx.maximum_spanning_tree(graph).edges(data=True))
    assert weight == pytest.approx(best)
    assert all("lung" in net.parents(v) for v in others)


def test_k2_adds_parents_in_order() -> None:
    rows = rows_of(3, 200, "abcde")
    order = ["d", "b", "a", "e", "c"]
    found = pgm.learn_structure(rows, search=S.K2Search(order=order), score="k2", max_parents=2)
    families = problem_of(rows, "k2").families()
    place = {name: i for i, name in enumerate("abcde")}
    for i, node in enumerate(order):
        chosen: list[int] = []
        while len(chosen) < 2:
            here = families.score(place[node], chosen)
            options = {
                u: families.score(place[node], [*chosen, place[u]])
                for u in order[:i]
                if place[u] not in chosen
            }
            if not options or max(options.values()) <= here + 1e-6:
                break
            chosen.append(place[max(options, key=lambda u: options[u])])
        assert {place[p] for p in found.network.parents(node)} == set(chosen)


# --- tests ---


def by_scipy(frame: pd.DataFrame, a: str, b: str, given: list[str], kind: str) -> tuple[float, int]:
    parts = [part for _, part in frame.groupby(given)] if given else [frame]
    statistic, freedom = 0.0, 0
    for part in parts:
        table = pd.crosstab(part[a], part[b]).to_numpy()
        if min(table.shape) > 1:
            found = stats.chi2_contingency(table, correction=False, lambda_=kind)
            statistic += found.statistic
            freedom += found.dof
    return statistic, freedom


@pytest.mark.parametrize(("test", "kind"), [("g", "log-likelihood"), ("chi-square", "pearson")])
def test_statistics_are_those_of_scipy(test: str, kind: str) -> None:
    frame = pd.DataFrame(rows_of(5, 300, "abcd", 4))
    holes = frame.astype("Int64").mask(np.random.default_rng(0).random(frame.shape) < 0.1)
    for data in (frame, holes):
        tester = Tester(problem_of(data), pgm.independence.find_test(test))
        for given in ([], ["c"], ["c", "d"]):
            seen = tester.outcomes(0, tuple("abcd".index(c) for c in given), np.array([1]))
            statistic, freedom = by_scipy(data.dropna(subset=["a", "b", *given]), "a", "b", given, kind)
            assert seen.statistics[0] == pytest.approx(statistic)
            assert seen.freedom[0] == freedom
            assert seen.rows[0] == len(data.dropna(subset=["a", "b", *given]))
            assert seen.p_values[0] == pytest.approx(stats.chi2.sf(statistic, freedom))


def test_partial_correlation_is_that_of_residuals() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 4)) @ rng.normal(size=(4, 4)), columns=list("abcd"))
    tester = Tester(problem_of(frame, "bic"), pgm.independence.PartialCorrelation())
    for given in ([], ["c"], ["c", "d"]):
        design = np.column_stack([np.ones(120), *(frame[c] for c in given)])
        left = [frame[c] - design @ np.linalg.lstsq(design, frame[c], rcond=None)[0] for c in "ab"]
        z = math.sqrt(120 - len(given) - 3) * math.atanh(abs(stats.pearsonr(*left).statistic))
        seen = tester.outcomes(0, tuple("abcd".index(c) for c in given), np.array([1]))
        assert seen.p_values[0] == pytest.approx(2 * stats.norm.sf(z))


def g_of(table: np.ndarray) -> float:
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return 2.0 * float(np.sum(np.where(table > 0, table * np.log(np.maximum(table, 1) / expected), 0.0)))


def shuffled_exactly(tables: list[np.ndarray]) -> float:
    """P(a shuffle of the rows in each table of two by two tells at least as much): hypergeometric."""
    observed, found = sum(map(g_of, tables)), [(0.0, 1.0)]
    for table in tables:
        (a, b), (c, d) = table
        law = stats.hypergeom(a + b + c + d, a + c, a + b)
        each = [
            (g_of(np.array([[k, a + b - k], [a + c - k, d - a + k]])), law.pmf(k))
            for k in range(max(0, a - d), min(a + b, a + c) + 1)
        ]
        found = [(g + own, p * q) for g, p in found for own, q in each]
    return sum(p for g, p in found if g >= observed - 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_permutation_test_is_that_of_all_shuffles(seed: int) -> None:
    frame, shuffles = pd.DataFrame(rows_of(seed, [15, 40, 60, 400][seed], "abc", 2)), 20_000
    tester = Tester(problem_of(frame), pgm.independence.Permutation(shuffles=shuffles))
    for given in ((), (2,)):
        groups = [frame] if not given else [some for _, some in frame.groupby("c")]
        wanted = shuffled_exactly([pd.crosstab(x.a, x.b).to_numpy() for x in groups])
        found = tester.outcomes(0, given, np.array([1])).p_values[0]
        assert abs(found - wanted) < 4 * math.sqrt(wanted * max(1 - wanted, 0.0) / shuffles) + 1 / shuffles


def test_a_permutation_test_counts_rows() -> None:
    """Weights that are whole numbers are so many rows; rows that occur often are counted once, unseen."""
    frame = pd.DataFrame(rows_of(5, 3000, "abc", 2))
    frame["b"] = np.where(np.arange(3000) % 3 > 0, frame["a"], frame["b"])
    search, whole = pgm.searches.PC(test="permutation"), dict(frame)
    once = frame.value_counts().rename("n").reset_index()
    found = pgm.learn_structure(whole, search=search, seed=0)
    assert (
        found.network.cpdag() == pgm.learn_structure(once, weights="n", search=search, seed=0).network.cpdag()
    )
    assert {frozenset(arc) for arc in found.network.edges} == {frozenset("ab")}
    with pytest.raises(pgm.InvalidArgument, match="weights= are whole numbers of rows"):
        pgm.learn_structure(frame, weights=np.full(3000, 0.5), search=search)


def test_mutual_information_has_a_threshold() -> None:
    frame = pd.DataFrame(rows_of(5, 400, "abc", 2))
    told = Tester(problem_of(frame), pgm.independence.MutualInformation(threshold=1.0))
    assert told.outcomes(0, (), np.array([1])).p_values[0] == 1.0


def test_pc_finds_what_the_tests_of_a_true_network_say() -> None:
    """On very many rows: a collider is directed, a chain is not, and background knowledge directs it."""
    net = pgm.BayesianNetwork()
    net.add("a", 0.4)
    net.add("b", {True: 0.8, False: 0.3}, parents=["a"])
    net.add("c", 0.5)
    net.add(
        "d",
        {(True, True): 0.9, (True, False): 0.4, (False, True): 0.5, (False, False): 0.1},
        parents=["b", "c"],
    )
    rows = net.sample(20_000, seed=0)
    found = pgm.learn_structure(rows, search="pc")
    assert found.network.cpdag() == net.cpdag()
    assert found.score is None
    told = pgm.learn_structure(rows, search=S.PC(test="chi-square", alpha=0.01), tiers=["a", ["b", "c"], "d"])
    assert set(told.network.edges) == set(net.edges)
    holes = rows.to_pandas().astype(object)
    holes.loc[:500, "b"] = None
    less = pgm.learn_structure(holes, search="pc")
    assert less.network.cpdag() == net.cpdag()
    assert "missing cells" in less.notes
    linear = pgm.BayesianNetwork()
    linear.add("x", pgm.LinearGaussian(bias=0.0, sd=1.0))
    linear.add("y", pgm.LinearGaussian(bias=0.0, sd=1.0))
    linear.add("z", pgm.LinearGaussian({"x": 1.0, "y": -1.0}, bias=1.0, sd=0.5))
    assert set(pgm.learn_structure(linear.sample(2000, seed=0), search="pc").network.edges) == {
        ("x", "z"),
        ("y", "z"),
    }


# --- numbers, and both ---


def test_scores_of_numbers() -> None:
    """BIC by least squares; BGe as the product of Student predictive densities of a complete network."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)) + 3.0, columns=list("abc"))
    full = pgm.BayesianNetwork(edges="a -> b -> c <- a")
    total = 0.0
    for node in "abc":
        design = np.column_stack([np.ones(40), *(frame[p] for p in full.parents(node))])
        left = frame[node] - design @ np.linalg.lstsq(design, frame[node], rcond=None)[0]
        total += stats.norm.logpdf(left, scale=math.sqrt(float((left**2).mean()))).sum()
        total -= (design.shape[1] + 1) / 2 * math.log(40)
    assert pgm.structure_score(full, frame, "bic") == pytest.approx(total)
    # A normal-Wishart prior: rows one by one, each from the Student density that those before it leave.
    n, mean_rows, freedom = 3, 2.0, 6.0
    t = mean_rows * (freedom - n - 1) / (mean_rows + 1)
    mean, scale, k, nu = frame.mean().to_numpy(), t * np.eye(n), mean_rows, freedom
    log = 0.0
    for row in frame.to_numpy():
        shape = scale * (k + 1) / (k * (nu - n + 1))
        log += stats.multivariate_t.logpdf(row, mean, shape, df=nu - n + 1)
        scale = scale + k / (k + 1) * np.outer(row - mean, row - mean)
        mean, k, nu = (k * mean + row) / (k + 1), k + 1, nu + 1
    bge = pgm.scores.BGe(mean_rows=mean_rows, freedom=freedom)
    assert pgm.structure_score(full, frame, bge) == pytest.approx(log)
    turned = pgm.BayesianNetwork(edges="c -> b -> a <- c")
    assert pgm.structure_score(turned, frame, bge) == pytest.approx(log)


def test_scores_of_mixed_columns() -> None:
    rng = np.random.default_rng(2)
    k = rng.integers(0, 2, 200)
    x = rng.normal(size=200)
    y = np.where(k == 1, 2.0 * x + 1.0, -x) + 0.3 * rng.normal(size=200)
    frame = pd.DataFrame({"k": k, "x": x, "y": y})
    net = pgm.BayesianNetwork(edges="k -> y <- x")
    total = 0.0
    for _, part in frame.groupby("k"):
        design = np.column_stack([np.ones(len(part)), part.x])
        left = part.y - design @ np.linalg.lstsq(design, part.y, rcond=None)[0]
        total += stats.norm.logpdf(left, scale=math.sqrt(float((left**2).mean()))).sum()
    total += stats.norm.logpdf(x, loc=x.mean(), scale=x.std()).sum() + sum(
        (k == s).sum() * math.log((k == s).mean()) for s in (0, 1)
    )
    assert pgm.structure_score(net, frame, "log-likelihood") == pytest.approx(total)
    parameters = 2 * 3 + 2 + 1
    assert pgm.structure_score(net, frame) == pytest.approx(total - parameters / 2 * math.log(200))
    found = pgm.learn_structure(frame)
    assert set(found.network.edges) == {("k", "y"), ("x", "y")}
    # A state has no number as a parent, so x -> k is not even asked about.
    with pytest.raises(pgm.InvalidStructure, match="'x' is continuous and 'k' is discrete"):
        pgm.learn_structure(frame, require=[("x", "k")])


# --- all of them ---


def ready(name: str, **given: Any) -> Any:
    """The search with what it cannot do without, and short."""
    made = {
        "tan": {"target": "lung"},
        "iamb": {"target": "lung"},
        "k2": {"order": ("asia", "smoke", "tub", "lung", "bronc", "either", "xray", "dysp")},
        "order-mcmc": {"steps": 2000, "burn_in": 200},
        "structure-mcmc": {"steps": 2000, "burn_in": 200},
    }
    return SEARCHES[name](**{**made.get(name, {}), **given})


ASIA = pgm.load_network("asia").sample(1200, seed=4).to_pandas()


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_does_not_depend_on_the_order_of_columns_and_rows(name: str) -> None:
    first = pgm.learn_structure(ASIA, search=ready(name), seed=3)
    rng = np.random.default_rng(1)
    mixed = ASIA[list(rng.permutation(ASIA.columns))].iloc[rng.permutation(len(ASIA))]
    again = pgm.learn_structure(mixed, search=ready(name), seed=3)
    assert set(again.network.edges) == set(first.network.edges)
    assert again.confidence == pytest.approx(first.confidence)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_obeys_what_is_known(name: str) -> None:
    given: dict[str, Any] = {
        "forbid": [("lung", "either"), ("either", "lung")],
        "tiers": ["smoke", ["lung", "bronc"]],
    }
    if name not in ("tan", "chow-liu", "iamb"):
        given["require"] = [("asia", "dysp")]
    if "max_parents" in SEARCHES[name].heeds:
        given["max_parents"] = 2
    elif name != "pc":
        with pytest.raises(pgm.InvalidArgument, match="max_parents= has no effect"):
            pgm.learn_structure(ASIA, search=ready(name), max_parents=2)
    if name == "tan":  # whose class is above all
        with pytest.raises(pgm.InvalidStructure, match="leaves no such network"):
            pgm.learn_structure(ASIA, search=ready(name), **given)
        given = {}
    found = pgm.learn_structure(ASIA, search=ready(name), seed=0, **given)
    arcs = set(found.network.edges)
    assert not arcs & {("lung", "either"), ("either", "lung")} or name == "tan"
    assert not arcs & {("lung", "smoke"), ("bronc", "smoke")} or name == "tan"
    assert set(given.get("require", ())) <= arcs
    if "max_parents" in given:
        assert max(len(found.network.parents(v)) for v in found.network.nodes) <= 2
    assert found.network.fit_report is not None


@pytest.mark.parametrize("name", ["order-mcmc", "structure-mcmc", "exact", "boss", "ges", "tabu", "mmhc"])
def test_a_search_that_runs_out_of_time_says_so(name: str) -> None:
    rows = pgm.load_network("alarm").sample(3000, seed=0)
    long: dict[str, Any] = {
        "order-mcmc": {"steps": 10**7}, "structure-mcmc": {"steps": 10**7}, "boss": {"restarts": 10**5},
        "tabu": {"restarts": 10**5}, "mmhc": {"alpha": 0.9, "max_given": None},
    }  # fmt: skip
    given: dict[str, Any] = {"max_parents": 2} if name in ("order-mcmc", "exact") else {}
    limit = 0.15 if name in ("ges", "mmhc", "exact") else 0.6
    with pgm.config(time_limit=limit, threads=1):
        try:
            found = pgm.learn_structure(rows, search=SEARCHES[name](**long.get(name, {})), seed=0, **given)
        except pgm.OutOfTime:
            return  # nothing was scored yet
    assert found.stopped_by in ("time limit", "")
    if name in ("order-mcmc", "structure-mcmc", "boss", "tabu"):
        assert found.stopped_by == "time limit"
        assert "the best so far" in repr(found)


@pytest.mark.parametrize(
    ("search", "given", "said"),
    [
        ("tan", {}, "needs the class"),
        ("iamb", {}, "needs the node whose blanket"),
        ("k2", {}, "needs the order"),
        (S.K2Search(order=["asia"]), {}, "it lacks"),
        (S.TAN("lungs"), {}, "Did you mean 'lung'"),
        ("pc", {"score": "bic"}, "score= has no effect"),
        ("pc", {"start": [("asia", "tub")]}, "start= has no effect"),
        ("order-mcmc", {"bootstrap": 3}, "bootstrap= has no effect"),
        ("tabu", {"score": "bge"}, "is for continuous columns"),
        (S.PC(test="partial-correlation"), {}, "is for continuous columns"),
    ],
)
def test_what_a_search_lacks(search: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(pgm.PGMError, match=said):
        pgm.learn_structure(ASIA, search=search, **given)


@pytest.mark.parametrize(
    "make",
    [
        lambda: S.Tabu(tenure=0), lambda: S.PC(alpha=2), lambda: S.PC(test="gg"), lambda: S.PC(max_given=-1),
        lambda: S.OrderMCMC(steps=5, burn_in=5), lambda: S.K2Search(order="ab"),
        lambda: pgm.scores.BGe(freedom=-1),
        lambda: pgm.independence.Permutation(shuffles=0),
        lambda: pgm.independence.MutualInformation(threshold=-1),
        lambda: S.PC(test=pgm.independence.G), lambda: pgm.scores.BDeu(0),
    ],
)  # fmt: skip
def test_options_out_of_range(make: Any) -> None:
    with pytest.raises(pgm.InvalidArgument):
        make()


def test_too_many_sets_of_parents_are_refused_beforehand() -> None:
    rng = np.random.default_rng(0)
    rows = {f"x{i}": rng.integers(0, 2, 50) for i in range(40)}
    with pytest.raises(pgm.TooLarge, match="set max_parents="):
        pgm.learn_structure(rows, search=S.OrderMCMC())


# --- bundled networks come back ---


@pytest.mark.parametrize(
    ("name", "rows", "search", "most"),
    [
        ("asia", 10_000, "exact", 5),
        ("child", 10_000, "ges", 1),
        ("alarm", 10_000, "boss", 8),
        ("alarm", 10_000, "pc", 8),
    ],
)
def test_networks_come_back_from_samples(name: str, rows: int, search: str, most: int) -> None:
    """Hamming distances of CPDAGs; pgmpy's and pyAgrum's hill climbing are at 20 and more on alarm."""
    net = pgm.load_network(name)
    data = net.sample(rows, seed=0)
    found = pgm.learn_structure(data, search=search)
    assert pgm.compare(found.network, net).shd_cpdag <= most
    if search != "pc":
        assert found.score >= pgm.structure_score(net, data) - 1e-6
