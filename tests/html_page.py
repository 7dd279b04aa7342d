"""One of everything that prints, and a page that shows how each looks in a notebook.

`python -m tests.html_page page.html` writes page-light.html and page-dark.html.
"""

from __future__ import annotations

import sys
from functools import cache
from html import escape
from pathlib import Path

import numpy as np

import pgm
from pgm.inference import engines
from pgm.results import (
    Assignment,
    Course,
    Distribution,
    Intervals,
    Logarithm,
    RankedAssignments,
    Report,
    Trace,
)
from pgm.runtime.clock import Profile
from pgm.variables import Continuous, as_domain

NASTY = ("<script>alert(1)</script>", "say \"hi\" & 'bye'", "a\nb\tc", "日本語の長い名前", "x" * 300, "$x_1$")


def _wet() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("wet grass")
    net.add("cloudy", 0.5)
    net.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    net.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    wet = {(True, True): 0.95, (True, False): 0.9, (False, True): 0.9, (False, False): 0.1}
    net.add("wet", wet, parents=["rain", "sprinkler"])
    return net


def _numbers() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("numbers")
    net.add("kind", {"a": 0.3, "b": 0.7})
    parts = {"a": pgm.LinearGaussian(bias=0, sd=1), "b": pgm.LinearGaussian(bias=4, sd=0.5)}
    net.add("x", parts, parents=["kind"])
    net.add("y", pgm.LinearGaussian({"x": 0.7}, bias=1, sd=1.0))
    net.add("z", pgm.LinearGaussian({"y": 2.0}, bias=0, sd=0.1))
    return net


def _switch() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("switch")
    net.add("x", pgm.LinearGaussian(bias=0, sd=1))
    net.add("on", pgm.Logistic({"x": 2.0}, bias=0.5))
    return net


def _forms() -> pgm.BayesianNetwork:
    """A node for each local distribution."""
    net = pgm.BayesianNetwork("forms")
    for name in "abc":
        net.add(name, 0.3)
    net.add("or", pgm.NoisyOr({"a": 0.9, "b": 0.8}, leak=0.1))
    net.add("and", pgm.NoisyAnd({"a": 0.9, "b": 0.8}, leak=0.1))
    net.add("logistic", pgm.Logistic({"a": 2.0, "b": 1.5}, bias=-1.0))
    net.add("either", pgm.Deterministic(lambda a, b: a or b))
    net.add("listed", pgm.DefaultCPD(["a", "b"], {(True, True): 0.9, ...: 0.1}))
    net.add("tree", pgm.TreeCPD("a", {True: 0.95, False: pgm.TreeCPD("b", {True: 0.9, False: 0.1})}))
    net.add("odd", pgm.Parity(["a", "b", "c"]))
    net.add("two", pgm.AtLeast(2, ["a", "b", "c"]))
    net.add("one", pgm.Exactly(1, ["a", "b", "c"]))
    tables = {"a": {True: 0.9, False: 0.2}, "b": {True: 0.7, False: 0.1}}
    net.add("mixed", pgm.MixtureCPD(tables, weights={"a": 0.4, "b": 0.6}))
    levels = {"a": {True: [0.2, 0.3, 0.5]}, "b": {True: [0.6, 0.3, 0.1]}}
    net.add("max", pgm.NoisyMax(levels, leak=[0.9, 0.1, 0.0]), states=[0, 1, 2])
    net.add("min", pgm.NoisyMin(levels, leak=[0.0, 0.1, 0.9]), states=[0, 1, 2])
    return net


def _estimated() -> dict[str, object]:
    """Nodes with a classifier and with densities, and what a classifier says of rows."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    net = pgm.BayesianNetwork("estimated")
    net.add("x", pgm.Gaussian(0.0, 1.0))
    net.add("class", pgm.EstimatorCPD(tree, parents=["x"]))
    net.add(
        "size", pgm.DensityCPD({"a": pgm.StudentT(0.0, 1.0), "b": pgm.StudentT(2.0, 1.0)}), parents=["class"]
    )
    said = pgm.Likelihood.from_classifier(tree, [[0.0], [2.0]], prior={"a": 0.5, "b": 0.5})
    return {"cpd class": net.cpd("class"), "cpd size": net.cpd("size"), "likelihoods": said}


def _nasty() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork(NASTY[0])
    for i, name in enumerate(NASTY):
        parents = NASTY[max(0, i - 3) : i]
        table = np.full((*[len(NASTY)] * len(parents), len(NASTY)), 1 / len(NASTY))
        net.add(name, table, parents=list(parents), states=list(NASTY))
    return net


def _large() -> dict[str, object]:
    n = 1_041
    net = pgm.BayesianNetwork("large")
    for i in range(n):
        parents = [f"a node with the number {j}" for j in range(max(0, i - 2), i)]
        table = np.full((2,) * (len(parents) + 1), 0.5)
        net.add(f"a node with the number {i}", table, parents=parents, states=[False, True])
    wide = pgm.BayesianNetwork("wide")
    wide.add("m", np.full(1000, 1e-3), states=range(1000))
    wide.add("n", np.full((1000, 1000), 1e-3), parents=["m"], states=range(1000))
    pixels = np.zeros((300, 300))
    grid = pgm.MarkovNetwork.grid(pixels, states=[0, 1], coupling=1.0, unary=[[0.9, 0.1], [0.1, 0.9]])
    hidden = {f"cause {i}": 0.5 for i in range(1000)}
    gate = pgm.BayesianNetwork("gate")
    for name in hidden:
        gate.add(name, 0.1)
    gate.add("effect", pgm.NoisyOr(hidden))
    rng = np.random.default_rng(0)
    variables = list(net.variables.values())
    guesses = [Assignment(variables, rng.integers(2, size=n), -float(i), -float(i)) for i in range(50)]
    return {
        "large network": net,
        "large variables": net.variables,
        "large independencies": net.independencies(),
        "large marginals": net.marginals(),
        "large map": net.map(),
        "large k best": RankedAssignments(guesses),
        "large samples": net.sample(1000, seed=0),
        "large plan": net.plan(),
        "large junction tree": net.junction_tree(),
        "table of a million": wide.cpd("n"),
        "joint of a million": wide.query(["m", "n"]),
        "large grid": grid,
        "large grid map": grid.map(),
        "gate of a thousand": gate.cpd("effect"),
        "trace of 10,000": Trace(("sweep", "numbers"), [("1", "0.5 " * 200)] * 10_000),
    }


def _values() -> dict[str, object]:
    """What users write and small results."""
    with (limits := pgm.config(memory_limit="4 GB", threads=2)):
        pass  # one that is dropped without having been used warns
    return {
        "bins": pgm.Bins([0, 18, 65, 120]),
        "interval": pgm.Interval(0, 18),
        "one of": pgm.OneOf(*range(1000)),
        "not": pgm.Not(NASTY[0]),
        "likelihood": pgm.Likelihood(dict.fromkeys(range(1000), 0.5)),
        "soft": pgm.Soft({"yes": 0.7, "no": 0.3}),
        "variable": pgm.Variable(NASTY[1], list(NASTY)),
        "many states": pgm.Variable("n", range(100_000)),
        "domain": as_domain(range(100_000)),
        "continuous": Continuous(),
        "config": limits,
        "profile": Profile(),
        "categorical": pgm.Categorical([[0.5, 0.2, 0.2, 0.1]] * 50, symbols=["r", "g", "b", "y"]),
        "gaussian": pgm.Gaussian(np.zeros(3), covariance=np.eye(3)),
        "large gaussian": pgm.Gaussian(np.zeros(200), covariance=np.eye(200)),
        "loose gate": pgm.NoisyOr({name: 0.5 for name in NASTY}),
        "loose logistic": pgm.Logistic(dict.fromkeys(NASTY, 2.0)),
        "course": Course("iterations", (1.0,), (-4.0,), (np.inf,)),
        "intervals": Intervals(np.zeros(1000), np.ones(1000)),
        "logarithm": Logarithm(-2000.0),
        "no explanations": RankedAssignments(),
        "trace": Trace(("sweep", "message"), [("1", NASTY[0])]),
        "report": Report(
            "loopy", exact=False, converged=False, error=3e-4, advice="raise " + "max_iter= " * 99
        ),
        **{f"engine {name}": kind() for name, kind in engines.ENGINES.items()},
    }


def _hidden(states: tuple[str, ...], symbols: tuple[str, ...]) -> pgm.HMM:
    """Which of its states it is in shows in its symbols, of which there are as many."""
    n = len(states)
    table = np.full((n, n), 0.1) + np.eye(n)
    table /= table.sum(axis=1, keepdims=True)
    return pgm.HMM(np.full(n, 1 / n), table, pgm.Categorical(table, symbols=symbols), states=states)


def _radar() -> pgm.NonlinearDynamicalSystem:
    """A point in a plane, of which the direction and the distance are seen."""
    return pgm.NonlinearDynamicalSystem(
        lambda x: x,
        lambda x: [np.arctan2(x[1], x[0]), np.hypot(x[0], x[1])],
        Q=0.01,
        R=[0.01, 0.1],
        mean=[5.0, 0.0],
        covariance=1.0,
        periods={"bearing": 2 * np.pi},
        states=["east", "north"],
        observations=["bearing", "range"],
    )


def _switching() -> pgm.SwitchingLinearDynamicalSystem:
    """A calm and a wild system that take turns."""
    calm = pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.1, R=0.8, mean=0.0, covariance=1.0)
    wild = pgm.LinearDynamicalSystem(A=-0.5, C=1.0, Q=1.0, R=0.8, mean=0.0, covariance=1.0)
    return pgm.SwitchingLinearDynamicalSystem(
        [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], {"calm": calm, NASTY[0]: wild}
    )


class _Threshold:
    """Stands for a fitted classifier."""

    classes_, n_features_in_ = ("low", "high"), 1

    def predict_proba(self, rows: object) -> np.ndarray:
        return np.where(np.asarray(rows) > 1.0, [[0.2, 0.8]], [[0.9, 0.1]])

    def predict(self, rows: object) -> np.ndarray:
        return self.predict_proba(rows).argmax(axis=1)

    def fit(self, rows: object, codes: object) -> _Threshold:
        return self


def _chains() -> dict[str, object]:
    """Hidden Markov models of every kind, and what their states emit."""
    coin = pgm.Categorical([[0.8, 0.2], [0.2, 0.8]])
    quiet = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    sees = [[[0.9, 0.1], [0.6, 0.4]], [[0.4, 0.6], [0.1, 0.9]]]
    move, start = [[0.8, 0.2], [0.3, 0.7]], [0.5, 0.5]
    lines = pgm.Regression([0.9, -0.5], bias=[0.0, 1.0], variance=[0.1, 0.2])
    mood = (start, [[0.9, 0.1], [0.1, 0.9]])
    word = ([[0.9, 0.1], [0.1, 0.9]], [[[0.8, 0.2], [0.8, 0.2]], [[0.1, 0.9], [0.1, 0.9]]])
    four = pgm.Categorical([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
    parts = [
        pgm.part_of(name, pgm.Categorical([[p, 1 - p]]), stay=0.5) for name, p in (("a", 0.9), ("b", 0.2))
    ]
    by_input = pgm.ByInput({"sun": pgm.Categorical([[0.9, 0.1]]), NASTY[0]: pgm.Categorical([[0.2, 0.8]])})
    normal = pgm.Gaussian([0.0, 1.0], sd=0.5)
    factorial = pgm.FactorialHMM({"slow": quiet, NASTY[0]: quiet}, four)
    return {
        "factorial chains": factorial,
        "beliefs of chains": factorial.smooth([0, 1, None]),
        "path of chains": factorial.decode([0, 1, None]),
        "clusters": pgm.KMeans(2, seed=0).fit({NASTY[0]: [0.0, 1.0, 9.0], "b": [1.0, 0.0, 9.0]}),
        "clusters one by one": pgm.OnlineKMeans(2, seed=0).fit({NASTY[0]: [0.0, 1.0, 9.0]}),
        "medoids": pgm.KMedoids(2, seed=0).fit({NASTY[0]: [0.0, 1.0, 9.0], "b": [1.0, 0.0, 9.0]}),
        "quality": pgm.cluster_quality({"b": [0.0, 1.0, 9.0, 8.0]}, [NASTY[0]] * 2 + ["c"] * 2),
        "mixture of columns": pgm.Mixture(
            {NASTY[0]: 0.5, "b": 0.5}, pgm.Product({NASTY[0]: pgm.Categorical([[0.9, 0.1], [0.2, 0.8]])})
        ),
        "coupled chains": pgm.CoupledHMM([[0.7, 0.3], start], [sees, sees], [coin, coin]),
        "switching chains": pgm.SwitchingHMM([quiet, quiet], switch=start, emission=[normal, normal]),
        "tree of chains": pgm.TreeHMM({"mood": mood, "word": word}, four),
        "chain by inputs": pgm.InputOutputHMM(start, move, normal),
        "autoregressive chain": pgm.AutoregressiveHMM(start, move, lines),
        "chain of segments": pgm.SemiMarkovHMM([1, 0], [[0, 1], [1, 0]], normal, [[0, 0, 1], [0, 1, 0]]),
        "composed chain": parts[0] + parts[1],
        "chain of arcs": pgm.MealyHMM([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], four),
        "chain of urns": pgm.UrnHMM(start, move, {1: {"R": 2, "B": 1}, 2: {"R": 1, "B": 2}}),
        "classifier of sequences": pgm.HMMClassifier(
            pgm.HMM(n_states=1, emission=pgm.Categorical(symbols=["x", "y"]))
        ),
        "naive Bayes": pgm.NaiveBayes().fit(
            {NASTY[0]: ["x", "y", None], "n": [0.5, 1.5, 2.25]}, ["a", "b", "b"]
        ),
        "tree of columns": pgm.TANClassifier().fit({NASTY[0]: [0, 1, 1], "n": [0, 0, 1]}, [0, 1, 1]),
        "one-dependence, averaged": pgm.AODEClassifier().fit(
            {NASTY[0]: [0, 1, 1], "n": [0, 0, 1]}, [0, 1, 1]
        ),
        "k-dependence": pgm.KDependenceClassifier(1).fit(
            {NASTY[0]: [0, 1, 1, 0], "b": [0, 0, 1, 1]}, [0, 0, 1, 1]
        ),
        "classifier of a network": pgm.NetworkClassifier.of(pgm.load_network("asia"), "lung"),
        "discriminants": pgm.DiscriminantAnalysis("diagonal").fit(
            {NASTY[0]: [0.5, 1.5, 3.0, 4.5]}, [0, 0, 1, 1]
        ),
        "classes of mixtures": pgm.MixtureClassifier().fit({NASTY[0]: [0.5, 1.5, 3.0, 4.5]}, [0, 0, 1, 1]),
        "decisions by losses": pgm.NaiveBayes().fit([[0], [1]], [0, 1]).decide([[0], [1]], reject=0.2),
        "value of a gate": pgm.Softmax([1.0, 0.5], bias=[-1.0, 1.0]),
        "value of lines": lines,
        "value by input": by_input,
        "value of estimators": pgm.Estimators(_Threshold(), inputs=1),
        "value of a codebook": pgm.Codebook([0.0, 2.0, 4.0], [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]),
        "value of heavy tails": pgm.StudentT([0.0, 1.0], 1.0, df=3.0),
        "value of a classifier": pgm.ClassifierEmission(_Threshold(), prior=start),
    }


def _dynamic() -> dict[str, object]:
    dbn = pgm.DynamicBayesianNetwork("weather")
    dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
    dbn.add(NASTY[0], {True: 0.9, False: 0.1}, parents=["rain"])
    seen = {NASTY[0]: [True, True, None, False]}
    return {
        "dynamic network": dbn,
        "beliefs of a dynamic network": dbn.filter(seen),
        "course of a dynamic network": dbn.map(seen),
        "steps of a dynamic network": dbn.sample(4, seed=0),
    }


def _decisions() -> dict[str, object]:
    d = pgm.InfluenceDiagram("clinic")
    d.add_chance("disease", 0.1)
    d.add_chance(NASTY[0], {True: 0.9, False: 0.2}, parents=["disease"])
    d.add_decision("treat", states=[False, True], observes=[NASTY[0]])
    worth = {(True, True): 80, (True, False): -100, (False, True): -20, (False, False): 0}
    d.add_utility("benefit", worth, parents=["disease", "treat"])
    policy = d.solve()
    return {
        "influence diagram": d,
        "policy": policy,
        "rule": policy["treat"],
        "risk": policy.risk(),
        "values of information": d.value_of_information(before="treat"),
        "decision plan": d.plan(),
        "value of an attitude": pgm.ExponentialUtility(200),
    }


def _learned() -> dict[str, object]:
    frame = _wet().sample(300, seed=0)
    found = pgm.learn_structure(frame, search="hill-climb", seed=0)
    steps = {"rain": [0, 0, 1, 1, 0, 1, 1, 0] * 10, "wet": [0, 0, 1, 1, 0, 1, 1, 1] * 10}
    return {
        "learned structure": found,
        "comparison": pgm.compare(found.network, _wet()),
        "learned transitions": pgm.learn_transitions(steps),
        "fitted network": pgm.BayesianNetwork(edges="rain -> wet").fit(frame),
        "fit of a network": pgm.BayesianNetwork(edges="rain -> wet").fit(frame).fit_report,
    }


def _over_time() -> dict[str, object]:
    y = [1.0, 0.5, None, 1.2, 2.0]
    system = pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
    found: dict[str, object] = {
        "linear dynamical system": system,
        "filtered": system.filter(y),
        "smoothed": system.smooth(y),
        "forecast of a series": system.forecast(y, steps=3),
        "sampled series": system.sample(4, seed=0),
        "fit of a linear dynamical system": system.copy().fit(y, max_iter=3).fit_report,
        "nonlinear system": _radar(),
        "filtered by tangents": _radar().filter([[0.1, 5.0], [None, 5.5]], engine="extended"),
        "smoothed by particles": _radar().smooth(
            [[0.1, 5.0], [None, 5.5]], engine=pgm.filters.Particles(samples=200, paths=20)
        ),
        "forecast by sigma points": _radar().forecast([[0.1, 5.0]], steps=2, engine="unscented"),
        "switching system": _switching(),
        "filtered regimes": _switching().filter([1.0, None, 2.0]),
        "smoothed regimes": _switching().smooth([1.0, None, 2.0], engine="gpb2"),
        "forecast of regimes": _switching().forecast([1.0, None, 2.0], steps=2),
        "drawn regimes": _switching().sample(3, seed=0),
        "engine of paths": pgm.filters.RaoBlackwellised(),
        "engine of particles": pgm.filters.Particles(),
        "seasons": pgm.components.trend() + pgm.components.season(12),
        "Markov chain": pgm.MarkovChain([0.5, 0.5], [[0.1, 0.9], [0.5, 0.5]], states=["a", "b"]),
        "large Markov chain": pgm.MarkovChain(np.full(300, 1 / 300), np.full((300, 300), 1 / 300)),
        "value of a topology": pgm.LeftToRight(max_jump=2),
        "value of another topology": pgm.Banded(1),
        "emission of counts": pgm.Poisson([1.0, 20.0]),
        "emission of bits": pgm.Bernoulli([[0.1, 0.9], [0.5, 0.5]]),
        "emission of words": pgm.Multinomial([[0.1, 0.9], [0.5, 0.5]]),
        "emission of columns": pgm.Product([pgm.Poisson([1.0, 2.0]), pgm.Bernoulli([0.1, 0.9])]),
        "emission of mixtures": pgm.GaussianMixture([[0.5, 0.5]], [[0.0, 1.0]], sd=[[1.0, 2.0]]),
    }
    for kind, model in {
        "": _hidden(("dry", "wet"), ("sun", "rain")),
        "nasty ": _hidden(NASTY, NASTY),
        "large ": _hidden(tuple(f"s{i}" for i in range(100)), tuple(f"o{i}" for i in range(100))),
    }.items():
        symbols = model.emission.symbols
        sequence = [symbols[i % len(symbols)] for i in range(2000 if kind == "large " else 7)]
        found |= {
            f"{kind}hidden Markov model": model,
            f"{kind}beliefs": model.smooth(sequence),
            f"{kind}path": model.decode(sequence),
            f"{kind}forecast": model.forecast(sequence, steps=50),
            f"{kind}sampled sequence": model.sample(100, seed=0),
            f"{kind}beliefs of several": model.smooth([sequence] * 50),
        }
    return found


@cache
def everything() -> dict[str, object]:
    """One of each, by a name for it."""
    wet, numbers, forms, nasty = _wet(), _numbers(), _forms(), _nasty()
    seen = {"wet": True}
    gibbs = engines.Gibbs(samples=400, trace=["rain"])
    mrf = wet.to_markov_network()
    some = dict.fromkeys(NASTY[1:], NASTY[0])
    found: dict[str, object] = {
        "distribution": wet.query("rain", seen),
        "joint": wet.query(["rain", "sprinkler"], seen),
        "drawn distribution": wet.query("rain", seen, engine=gibbs),
        "bounded distribution": wet.query("rain", seen, engine="bounds"),
        "marginals": wet.marginals(seen),
        "max-marginals": wet.max_marginals(seen),
        "no max-marginals": wet.max_marginals(dict.fromkeys(wet.nodes, True)),
        "drawn marginals": wet.marginals(seen, engine=gibbs),
        "no marginals": wet.marginals(dict.fromkeys(wet.nodes, True)),
        "probability": wet.probability(seen),
        "drawn probability": wet.probability(seen, engine="likelihood-weighting"),
        "log probability": wet.log_probability(seen),
        "map": wet.map(seen),
        "k best": wet.k_best(seen, k=3),
        "samples": wet.sample(5, given=seen, seed=0),
        "no samples": wet.sample(0, seed=0),
        "plan": wet.plan("rain", seen),
        "report of draws": wet.query("rain", seen, engine=gibbs).report,
        "report of messages": wet.query("rain", seen, engine=engines.Loopy(trace=True)).report,
        "compiled": wet.compile("rain", given=["wet"]),
        "network": wet,
        "unfinished network": pgm.BayesianNetwork(edges="a -> b"),
        "empty network": pgm.BayesianNetwork(),
        "variables": wet.variables,
        "junction tree": wet.junction_tree(),
        "message of a junction tree": wet.junction_tree(seen).messages[0],
        "trace of a junction tree": wet.junction_tree(seen).trace,
        "independencies": wet.independencies(),
        "causes": pgm.CausalGraph("x -> y; x <-> y; y -> z"),
        "undirected": mrf,
        "potential": mrf.potentials[0],
        "potentials": mrf.potentials,
        **{f"cpd {node}": forms.cpd(node) for node in forms.nodes},
        **{f"cpd {node}": numbers.cpd(node) for node in numbers.nodes},
        "cpd on": _switch().cpd("on"),
        **_estimated(),
        "density": numbers.query("y", {"kind": "a"}),
        "mixture": numbers.query("x"),
        "joint density": numbers.query(["x", "y"], {"kind": "a"}),
        "moments": _switch().query("x", {"on": True}, engine="quadrature"),
        "mixed marginals": numbers.marginals({"kind": "a"}),
        "mixed map": numbers.map(),
        "mixed samples": numbers.sample(5, seed=0),
        "nasty network": nasty,
        "nasty cpd": nasty.cpd(NASTY[-1]),
        "nasty distribution": nasty.query(NASTY[0], some),
        "nasty joint": nasty.query(list(NASTY[:3]), dict.fromkeys(NASTY[3:], NASTY[0])),
        "nasty marginals": nasty.marginals({NASTY[0]: NASTY[1]}),
        "nasty max-marginals": nasty.max_marginals({NASTY[0]: NASTY[1]}),
        "nasty map": nasty.map({NASTY[0]: NASTY[1]}),
        "nasty k best": nasty.k_best({NASTY[0]: NASTY[1]}, k=4),
        "nasty samples": nasty.sample(5, seed=0),
        "nasty plan": nasty.plan(NASTY[0], some),
        "nasty junction tree": nasty.junction_tree(),
        "nasty message": nasty.junction_tree().messages[0],
        "nasty variables": nasty.variables,
        "nasty independencies": nasty.independencies(),
        "nasty compiled": nasty.compile(NASTY[0], given=list(NASTY[1:])),
        "one state": Distribution((pgm.Variable("only", ["it"]),), np.ones(1)),
    }
    for more in (_over_time(), _chains(), _dynamic(), _decisions(), _learned(), _values(), _large()):
        assert not found.keys() & more.keys(), f"two objects of one name: {found.keys() & more.keys()}"
        found |= more
    return found


HEAD = """<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>everything</title><style>
body { font: 14px sans-serif; margin: 1em; columns: 3 }
body.light { background: #ffffff; color: #1f1f1f; color-scheme: light }
body.dark { background: #111111; color: #e0e0e0; color-scheme: dark }
section { break-inside: avoid; margin-bottom: 1.2em; overflow: hidden }
h2 { font-size: 12px; font-weight: normal; margin: 0 }
</style></head><body class="THEME">
"""


def page(theme: str, script: str = "") -> str:
    """All forms on one page, in the colours of a light notebook or of a dark one."""
    parts = [
        f"<section><h2>{escape(name)}</h2>{thing._repr_html_()}</section>"
        for name, thing in everything().items()
        if hasattr(thing, "_repr_html_")
    ]
    return HEAD.replace("THEME", theme) + "\n".join(parts) + script + "</body></html>\n"


if __name__ == "__main__":
    for theme in ("light", "dark"):
        out = Path(sys.argv[1])
        out.with_stem(f"{out.stem}-{theme}").write_text(page(theme), encoding="utf-8")
