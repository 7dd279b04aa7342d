"""Real questions, each call of a loop made interpreted and in every compiled form, equal to the last bit.

Only some files of loops are compiled here, unless the environment variable PGM_REPLAY is set: to "all", or to
"checked" for the form in which every index is tested.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.learning.counts import Counts
from tests.loops import replay

WANTED = os.environ.get("PGM_REPLAY", "")
SAMPLE = [
    "pgm.graphs.compiled",
    "pgm.inference.program.reduction.compiled",
    "pgm.inference.trees.sweeps.compiled",
]
NAMES = list(replay.modules()) if WANTED else SAMPLE

pytestmark = [
    pytest.mark.skipif(replay.COMPILER is None, reason="no C++ compiler is installed"),
    pytest.mark.filterwarnings("ignore::pgm.ConvergenceWarning"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module", autouse=True)
def replayed() -> Iterator[Counter[str]]:
    count: Counter[str] = Counter()
    with replay.installed(count, NAMES, checked=WANTED == "checked"):
        yield count


def of_numbers() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("sex", {"f": 0.4, "m": 0.6})
    rows = {"f": pgm.LinearGaussian(bias=1.65, sd=0.07), "m": pgm.LinearGaussian(bias=1.78, sd=0.08)}
    net.add("height", rows, parents=["sex"])
    net.add("weight", pgm.LinearGaussian({"height": 90.0}, bias=-80.0, sd=9.0))
    return net


def grid(n: int, states: int) -> pgm.MarkovNetwork:
    """An n x n grid of variables whose neighbours are coupled by random tables."""
    rng, net = np.random.default_rng(4), pgm.MarkovNetwork()
    for i, j in np.ndindex(n, n):
        net.add_variable(f"x[{i},{j}]", list(range(states)))
        net.add_factor([f"x[{i},{j}]"], rng.random(states) + 0.1)
    for i, j in np.ndindex(n, n):
        for k, m in ((i + 1, j), (i, j + 1)):
            if k < n and m < n:
                net.add_factor([f"x[{i},{j}]", f"x[{k},{m}]"], rng.random((states, states)) + 0.1)
    return net


def ask(question: Callable[[], Any]) -> None:
    """Ask; a refusal in words is as good as an answer here."""
    try:
        question()
    except pgm.PGMError:
        pass


@pytest.mark.parametrize("name", ["asia", "child"])
@pytest.mark.parametrize("observed", [0, 3])
def test_exact_questions(name: str, observed: int) -> None:
    net = pgm.load_network(name)
    given = {v: net.variables[v].states[0] for v in list(net.variables)[-observed:]} if observed else {}
    free = [v for v in net.variables if v not in given]
    net.marginals(given)
    net.query(free[:2], given)
    net.map(given)
    net.k_best(given, k=3)
    net.max_marginals(given)
    net.expected_counts(given)
    cases = dict(net.sample(30, given=given, seed=1))
    net.log_likelihood({v: cases[v] for v in net.variables if v in cases})
    net.predict_proba({v: cases[v] for v in free[1:]}, free[0])


@pytest.mark.skipif(not WANTED, reason="all loops are replayed with PGM_REPLAY=all")
@pytest.mark.parametrize("engine", pgm.engines.ENGINES)
def test_engines(engine: str) -> None:
    for net in (pgm.load_network("asia"), grid(3, 2), grid(3, 3)):
        first = next(iter(net.variables))
        for given in ({}, {first: net.variables[first].states[0]}):
            ask(lambda net=net, given=given: net.marginals(given, engine=engine))
            ask(lambda net=net, given=given: net.map(given, engine=engine))
            ask(lambda net=net, given=given: net.log_probability(given, engine=engine))


@pytest.mark.skipif(not WANTED, reason="all loops are replayed with PGM_REPLAY=all")
def test_numbers() -> None:
    net = of_numbers()
    net.marginals({"weight": 80.0})
    net.query("sex", {"height": 1.7})
    net.sample(10, given={"weight": 75.0}, seed=3)
    numbers = pgm.BayesianNetwork()
    numbers.add("x", pgm.LinearGaussian({}, bias=1.0, sd=1.0))
    numbers.add("y", pgm.LinearGaussian({"x": 0.5}, bias=0.0, sd=1.0))
    numbers.marginals({"y": 1.0}, engine="loopy")


@pytest.mark.skipif(not WANTED, reason="all loops are replayed with PGM_REPLAY=all")
@pytest.mark.parametrize("start", ["diffuse", [1.0, 1.0]])
def test_linear_systems(start: Any) -> None:
    lds = pgm.LinearDynamicalSystem(
        A=[[1, 1], [0, 0.9]], C=[[1, 0], [0.5, 1]], Q=[0.1, 0], R=[[0.5, 0.1], [0.1, 0.7]], covariance=start
    )
    rng = np.random.default_rng(0)
    y = rng.normal(size=(60, 2))
    y[rng.random(y.shape) < 0.2] = np.nan
    lds.smooth([y, y, y[:20]])
    lds.filter(np.zeros((300, 2)))  # into the steady state


def hidden(k: int, emission: Any, sparse: bool = False, zeros: bool = False) -> pgm.HMM:
    """Of k states; `sparse`: from each to itself and the next; `zeros`: some moves are impossible."""
    rng = np.random.default_rng(k)
    move = rng.dirichlet(np.ones(k), size=k)
    if zeros:
        move[0, 1:-1] = 0.0
    if sparse:
        move = 0.9 * np.eye(k) + 0.1 * np.roll(np.eye(k), 1, axis=1)
    return pgm.HMM(rng.dirichlet(np.ones(k)), move / move.sum(axis=1, keepdims=True), emission)


@pytest.mark.skipif(not WANTED, reason="all loops are replayed with PGM_REPLAY=all")
@pytest.mark.parametrize("n_states", [2, 3, 4, 5, 9])
@pytest.mark.parametrize("shape", [{}, {"zeros": True}, {"sparse": True}])
def test_hidden_states(n_states: int, shape: dict[str, bool]) -> None:
    """Filters, smoothers, paths, draws and learning, of letters, of numbers, of several, with gaps."""
    rng = np.random.default_rng(1)
    rows = rng.dirichlet(np.ones(4), size=n_states)
    rows[0] = [0.5, 0.5, 0.0, 0.0]
    letters = hidden(n_states, pgm.Categorical(rows, symbols=list("abcd")), **shape)
    means, spread = np.arange(2.0 * n_states).reshape(-1, 2), np.array([np.eye(2) + 0.3] * n_states)
    numbers = hidden(n_states, pgm.Gaussian(means, covariance=spread), **shape)
    far = np.where(rng.random((40, 2)) < 0.1, np.nan, rng.normal(size=(40, 2)) * n_states)
    far[7] = 300.0  # further off than doubles reach: in logarithms
    of_letters: list[Any] = [None if rng.random() < 0.1 else x for x in rng.choice(list("ab"), 50)]
    for hmm, data in ((letters, of_letters), (numbers, far)):
        for each in (data, [data, data[:1], data[:9], data[3:20]]):
            ask(lambda hmm=hmm, each=each: (hmm.score(each), hmm.filter(each), hmm.smooth(each, pairs=True)))
            ask(lambda hmm=hmm, each=each: (hmm.smooth(each, lag=2), hmm.decode(each), hmm.decode(each, k=3)))
            ask(lambda hmm=hmm, each=each: (hmm.sample(20, seed=1), hmm.sample(2, given=each, seed=1)))
            ask(lambda hmm=hmm, each=each: hmm.copy().fit(each, max_iter=2))


@pytest.mark.skipif(not WANTED, reason="all loops are replayed with PGM_REPLAY=all")
@pytest.mark.parametrize("wide", [4, 300, 70_000])
def test_counts(wide: int) -> None:
    """Of columns of codes of 8, 16 and 32 bits, with gaps and weights."""
    rng = np.random.default_rng(2)
    columns = [rng.integers(-1, card, size=3000).astype(np.int32) for card in (2, 3, wide)]
    for weights in (None, rng.random(3000)):
        Counts(columns, [2, 3, wide], weights, merge=False).tables([[0], [1, 0], [2, 0]])


@pytest.mark.skipif(not WANTED, reason="all loops are replayed with PGM_REPLAY=all")
@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "bds", "k2", "log-likelihood", "fnml", "qnml"])
@pytest.mark.parametrize("search", ["tabu", "ges", "exact", "pc", "boss", "order-mcmc"])
def test_structures(score: str, search: str) -> None:
    """Arcs from rows, with some cells missing or none."""
    rows = dict(pgm.load_network("asia").sample(200, seed=1))
    rows = {name: list(rows[name]) for name in list(rows)[:6]}
    for missing in (0, 9):
        rows["asia"][:missing] = [None] * missing
        ask(lambda: pgm.learn_structure(rows, score=score, search=search, seed=1))


@pytest.mark.skipif(not WANTED, reason="all loops are replayed with PGM_REPLAY=all")
def test_steps_of_several_variables() -> None:
    """Dynamic networks, and chains that move side by side."""
    net = pgm.DynamicBayesianNetwork()
    net.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
    net.add("wind", {(True, True): 0.9, ...: 0.3}, parents=["wind[-1]", "rain"], initial={...: 0.5})
    net.add("wet", {True: 0.9, False: 0.0}, parents=["rain"])
    rows = {"wet": [True, None, False, True] * 9}
    ask(
        lambda: (
            net.filter(rows),
            net.smooth(rows),
            net.map(rows),
            net.score(rows),
            net.fit(rows, max_iter=2),
        )
    )
    slow = pgm.MarkovChain([0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]], states=["low", "high"])
    quick = pgm.MarkovChain([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], states=["off", "on"])
    both = pgm.FactorialHMM({"level": slow, "switch": quick}, pgm.Gaussian([0.0, 1.0, 5.0, 6.0], sd=0.5))
    data = [0.1, 0.9, None, 5.8, 300.0, 1.1, 5.1, 6.2, 0.3, -0.2]
    ask(lambda: (both.filter(data), both.smooth(data), both.decode(data), both.sample(5, seed=1)))
    ask(lambda: both.fit([data, data[:2]], max_iter=2))


@pytest.mark.skipif(not WANTED, reason="all loops are replayed with PGM_REPLAY=all")
def test_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    """The most probable states beside a gate of many causes."""
    monkeypatch.setattr("pgm.inference.engines.exact.posterior._WORTH_FRONTS", -1.0)
    net, rng = pgm.BayesianNetwork(), np.random.default_rng(3)
    causes = {f"c{i}": float(rng.random()) for i in range(8)}
    for name in causes:
        net.add(name, float(rng.choice([0.1, 0.1, 0.4])))
    net.add("x", pgm.NoisyOr(causes, leak=0.01))
    net.map({"x": True})
    net.map()


@pytest.mark.skipif(not WANTED, reason="all loops are replayed with PGM_REPLAY=all")
def test_structures_of_wide_columns() -> None:
    """Every score, the tests, the searches with loops of their own; tables larger than the data."""
    rng = np.random.default_rng(0)
    base, cards = rng.integers(0, 2, 60), {"a": 2, "b": 3, "c": 2, "d": 4}
    rows = {v: (base * (rng.random(60) < 0.7) + rng.integers(0, k, 60)) % k for v, k in cards.items()}
    rows["wide"] = rng.integers(0, 40, 60)
    for score in ("bic", "bdeu", "bds", "k2", "fnml", "qnml"):
        pgm.learn_structure(rows, score=score, search=pgm.searches.Tabu(restarts=1), max_parents=3, seed=0)
    pgm.learn_structure(rows, weights=rng.random(60), search="exact", max_parents=2)
    pgm.learn_structure(rows, search=pgm.searches.OrderMCMC(steps=300, burn_in=50), max_parents=2, seed=0)
    holes = {name: [None if rng.random() < 0.1 else int(x) for x in column] for name, column in rows.items()}
    for data in (rows, holes):
        for test in ("g", "chi-square"):
            pgm.learn_structure(data, search=pgm.searches.PC(test=test, alpha=0.2))


def test_loops_were_replayed(replayed: Counter[str]) -> None:
    pgm.load_network("asia").marginals()
    used = {name.rpartition(".")[0] for name in replayed}
    assert set(SAMPLE) <= used
    left = set(NAMES) - used
    assert not left, f"no question here is answered by these loops: add one, {left}"
