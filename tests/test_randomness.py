"""One gate for `seed=`: what is a seed anywhere is one everywhere, and what is none is the same error."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.errors import shown
from pgm.results import SampledSequence, SampledSeries

BAD = [-1, 1.5, 1.0, "x", "1", True, np.True_, [1, 2], np.array(3), np.random.RandomState(0), np.random]
GOOD = [0, 7, np.int64(7), np.uint8(7), 2**200]


def classes() -> Iterator[type]:
    """Every public class of pgm, wherever it is."""
    for found in pkgutil.walk_packages(pgm.__path__, "pgm."):
        if not found.name.endswith(("__main__", ".compiled")):
            module = importlib.import_module(found.name)
            for name, each in vars(module).items():
                if inspect.isclass(each) and each.__module__ == module.__name__ and name[0] != "_":
                    yield each


def takes_seed(function: object) -> bool:
    return inspect.isfunction(function) and "seed" in inspect.signature(function).parameters


# By signature and not from a list: whatever comes to take a seed is tested, or fails for want of an object.
CLASSES = list(classes())
METHODS = {
    f"{cls.__name__}.{name}": (name, found)
    for cls in CLASSES
    for name, found in vars(cls).items()
    if name[0] != "_" and takes_seed(found)
}
del METHODS["Policy.risk"]  # draws only where it cannot add up: tested beside it
ENGINES = {cls.__name__: cls for cls in CLASSES if hasattr(cls, "answers") and takes_seed(cls.__init__)}
SEEDED = {**ENGINES, "Particles": pgm.filters.Particles, "RaoBlackwellised": pgm.filters.RaoBlackwellised}
FUNCTIONS = [name for name in pgm.__all__ if takes_seed(getattr(pgm, name))]


ESTIMATORS = {
    cls.__name__: cls for cls in CLASSES if cls.__name__ in pgm.adapters.__all__ and takes_seed(cls.__init__)
}


def sloped() -> Any:
    """A number that a fitted regressor predicts from another."""
    from sklearn.linear_model import LinearRegression

    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, 1.0))
    line = LinearRegression().fit([[0.0], [1.0]], [0.0, 2.0])
    net.add("y", pgm.EstimatorCPD(line, parents=["x"], sd=1.0))
    return net.cpd("y")


def one_number() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, 1.0))
    return net


def objects() -> Iterator[Any]:
    """Something of each class that has a method of its own with a seed."""
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("x", pgm.LinearGaussian(bias=1.0, sd=2.0))
    yield from (net, net.query("x"), net.cpd("a"), net.cpd("x"))
    yield from (pgm.Gaussian(0.0, sd=1.0), pgm.Categorical([0.5, 0.5]), pgm.Poisson(1e6))
    yield pgm.MarkovChain([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    yield pgm.HMM([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], pgm.Poisson([1e6, 2e6]))
    yield pgm.Mixture([0.5, 0.5], pgm.Poisson([1e6, 2e6]))
    yield pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
    yield pgm.NonlinearDynamicalSystem(lambda x: x, lambda x: x, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
    yield from (pgm.priors.Dirichlet([1.0, 2.0]), pgm.priors.Student(3.0))
    yield from (pgm.priors.Normal(0, sd=1), pgm.priors.NormalGamma(), pgm.priors.NormalWishart([0.0, 0.0]))
    yield pgm.BayesianNetwork(edges="a -> b").fit(ROWS, prior="laplace").posterior("b")
    yield pgm.adapters.ParzenDensity(1.0).fit([[0.0], [3.0]])
    yield pgm.adapters.HistogramDensity().fit([[0.0], [3.0]])
    own = pgm.BayesianNetwork()
    own.add("x", pgm.DensityCPD(pgm.StudentT(0.0, 1.0)))
    yield own.cpd("x")
    still = pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8)
    yield pgm.SwitchingLinearDynamicalSystem([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [still, still])


ROWS = {"a": list("xyxy"), "b": list("uuvv")}
COUNTS = [3, 1, 4, 1, 5, 9, 2, 6]


def weather() -> pgm.DynamicBayesianNetwork:
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
    return dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"]) or dbn


def policy() -> Any:
    diagram = pgm.InfluenceDiagram()
    diagram.add_chance("rain", 0.5)
    diagram.add_decision("umbrella", states=[False, True])
    diagram.add_utility("dry", np.eye(2), parents=["rain", "umbrella"])
    return diagram.solve()


def by_inputs() -> pgm.InputOutputHMM:
    return pgm.InputOutputHMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], pgm.Poisson([1e6, 2e6]))


def two_chains() -> pgm.FactorialHMM:
    slow = pgm.MarkovChain([0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]])
    quick = pgm.MarkovChain([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    return pgm.FactorialHMM({"slow": slow, "quick": quick}, pgm.Poisson([1e6, 2e6, 3e6, 4e6]))


def near_chains() -> pgm.FactorialHMM:
    """Their states look much alike, so that what is drawn differs."""
    chain = pgm.MarkovChain([0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]])
    return pgm.FactorialHMM({"slow": chain, "quick": chain}, pgm.Poisson([1.0, 2.0, 2.5, 3.0]))


def estimated(n: Any, **seed: Any) -> Any:
    rows = {"x": [False, True] * 20, "y": [False, True, True, True, False] * 8}
    return pgm.CausalGraph("x -> y").estimate(rows, "x", "y", bootstrap=n, **seed)


def halves() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    return net


# What fits, and models that are asked in a way of their own. What a fit draws is where it starts.
OWN: dict[str, Callable[..., Any]] = {
    "BayesianNetwork.fit": lambda **seed: (
        pgm.BayesianNetwork(edges="h -> a; h -> b")
        .fit(ROWS, latent={"h": 2}, max_iter=1, **seed)
        .cpd("h")
        .values
    ),
    "HMM.fit": lambda **seed: (
        pgm.HMM(n_states=3, emission=pgm.Poisson()).fit(COUNTS, max_iter=1, **seed).transition
    ),
    "Mixture.fit": lambda **seed: (
        pgm.Mixture(n_components=3, emission=pgm.Poisson()).fit(COUNTS, max_iter=1, **seed).emission.rate
    ),
    "Mixture.partial_fit": lambda **seed: (
        pgm.Mixture(n_components=3, emission=pgm.Poisson()).partial_fit(COUNTS, **seed).emission.rate
    ),
    "LinearDynamicalSystem.fit": lambda **seed: (
        pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8).fit(COUNTS, starts=3, max_iter=2, **seed).A
    ),
    "DynamicBayesianNetwork.fit": lambda **seed: (
        weather()
        .fit({"wet": [True, False, True, True]}, starts=3, max_iter=2, **seed)
        .unroll(1)
        .cpd("wet[0]")
        .values
    ),
    "DynamicBayesianNetwork.sample": lambda n=5, **seed: str(weather().sample(n, **seed)),
    "InputOutputHMM.sample": lambda n=5, **seed: by_inputs().sample(n, **seed).observations,
    "InputOutputHMM.fit": lambda **seed: (
        pgm.InputOutputHMM(n_states=3, emission=pgm.Poisson()).fit(COUNTS, max_iter=1, **seed).transition
    ),
    "HiddenChain.sample": lambda n=5, **seed: two_chains().sample(n, **seed).observations,
    "HMM.posterior": lambda n=8, **seed: (
        pgm.HMM(n_states=2, emission=pgm.Categorical(symbols=["x", "y"]))
        .posterior([list("xyxxy")], draws=n, burn_in=2, chains=2, **seed)
        .transition.draws
    ),
    "FactorialHMM.smooth": lambda **seed: near_chains().smooth(COUNTS, engine="gibbs", **seed).values,
    "FactorialHMM.score": lambda **seed: near_chains().score(COUNTS, engine="mean-field", **seed),
    "FactorialHMM.fit": lambda **seed: two_chains().fit(COUNTS, starts=3, max_iter=1, **seed).emission.rate,
    "HiddenChain.fit": lambda **seed: two_chains().fit(COUNTS, starts=3, max_iter=1, **seed).emission.rate,
    "CausalGraph.estimate": lambda n=20, **seed: estimated(n, **seed).interval,
    "Estimate.checks": lambda n=3, **seed: list(estimated(20, seed=0).checks(times=n, **seed).values()),
    "Questions.impute": lambda n=2, **seed: [
        column.tolist()
        for each in halves().impute({"a": [None] * 30}, draws=n, **seed)
        for column in each.values()
    ],
    "Understanding.shapley": lambda **seed: list(
        pgm.load_network("asia")
        .shapley("lung", dict.fromkeys(["xray", "smoke", "dysp", "asia"], "yes"), orders=2, **seed)
        .to_dict()
        .items()
    ),
    "Understanding.credible_interval": lambda **seed: (
        pgm.BayesianNetwork(edges="a -> b")
        .fit(ROWS, prior="laplace")
        .credible_interval("b", draws=40, **seed)
        .interval
    ),
    "RegressorCPD.sample": lambda n=5, **seed: sloped().sample({"x": np.zeros(n)}, **seed),
    "Understanding.surprise": lambda **seed: one_number().surprise({"x": [0.5]}, rate=0.5, **seed).row_limit,
    "Policy.simulate": lambda n=5, **seed: list(map(list, policy().simulate(n, **seed).values())),
}


# They draw as many as their engine says and, without a seed, with the engine's.
UNCOUNTED = ("shapley", "credible_interval", "surprise", "FactorialHMM.smooth", "FactorialHMM.score")


def drawn(name: str, **options: Any) -> Any:
    """What a method with a seed gives, as lists that can be compared."""
    if name in OWN:
        return np.asarray(OWN[name](**options)).tolist()
    method, function = METHODS[name]
    owner = next(one for one in objects() if getattr(type(one), method, None) is function)
    found = getattr(owner, method)(**{"n": 5, **options})
    if isinstance(found, SampledSequence):
        found = np.array(found.observations)
    elif isinstance(found, SampledSeries):
        found = found.observations
    if isinstance(found, tuple):
        return [column.tolist() for column in found]
    return [column.tolist() for column in (found.values() if isinstance(found, dict) else [found])]


def test_they_are_found() -> None:
    assert {"Questions.sample", "CPD.sample", "Density.sample", "Gaussian.sample"} <= set(METHODS)
    assert {"Gibbs", "MeanField", "Srmp", "BranchAndBound"} <= set(ENGINES)
    known = {
        "learn_structure",
        "learn_transitions",
        "select_states",
        "cluster_quality",
        "select_components",
        "random_network",
        "random_question",
    }  # tested beside what they learn
    assert set(FUNCTIONS) == known, "a function with a seed is to be tested here, as methods are"
    # A classifier checks its options in `fit`, as in scikit-learn; searches have tests of their own.
    later = {"KMeans", "OnlineKMeans", "KMedoids", "HMMClassifier", "Options"}
    later |= {"MixtureClassifier", "NetworkClassifier", *ESTIMATORS}
    inits = {cls.__name__ for cls in CLASSES if takes_seed(cls.__init__)} - later
    assert inits == set(SEEDED), "a class made with a seed is to be tested here, as engines are"


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", BAD, ids=lambda seed: str(seed)[:20])
def test_what_is_no_seed_is_the_same_error_everywhere(name: str, seed: object) -> None:
    with pytest.raises(pgm.InvalidArgument) as caught:
        drawn(name, seed=seed)
    expected = f"seed is a whole number of at least 0, a numpy Generator or None, not {shown(seed)}."
    assert str(caught.value) == expected


@pytest.mark.parametrize("name", METHODS)
def test_a_seed_decides_what_is_drawn_whatever_its_size_and_type(name: str) -> None:
    draws = [drawn(name, seed=seed) for seed in GOOD]
    assert draws == [drawn(name, seed=np.random.default_rng(int(seed))) for seed in GOOD]
    assert draws[1] == draws[2] == draws[3]


@pytest.mark.parametrize("name", METHODS)
def test_a_generator_goes_on_and_none_is_different_each_time(name: str) -> None:
    rng, same = np.random.default_rng(7), np.random.default_rng(7)
    first, *others = [drawn(name, seed=rng) for _ in range(20)]
    assert any(other != first for other in others)
    assert [first, *others] == [drawn(name, seed=same) for _ in range(20)]
    if name not in UNCOUNTED:
        assert len({str(drawn(name, seed=None)) for _ in range(20)}) > 1


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("seed", [-1, 1.5, "x"], ids=str)
def test_estimators_of_rows_check_their_seed_in_fit(name: str, seed: object) -> None:
    if name == "Condensing":  # an option of another
        told = pgm.adapters.EditedNeighbours(pgm.adapters.Condensing(seed=seed))
    else:
        told = ESTIMATORS[name](**{"method": "clarans"} if name == "KMedoids" else {})
        told.seed = seed
    rows, y = [[0.0, 1.0], [1.0, 0.0], [4.0, 5.0], [5.0, 3.0]] * 5, [0, 0, 1, 1] * 5
    with pytest.raises(pgm.InvalidArgument, match="seed is a whole number"):
        told.fit(rows, y)


@pytest.mark.parametrize("name", SEEDED)
@pytest.mark.parametrize("seed", [*BAD, None, np.random.default_rng(0)], ids=lambda seed: str(seed)[:20])
def test_engines_take_numbers_only_as_their_options_are_values(name: str, seed: object) -> None:
    with pytest.raises(pgm.InvalidArgument) as caught:
        SEEDED[name](seed=seed)
    assert str(caught.value) == f"seed is a whole number of at least 0, not {shown(seed)}."


@pytest.mark.parametrize("name", SEEDED)
def test_engines_keep_a_seed_as_a_number_of_python(name: str) -> None:
    made = [SEEDED[name](seed=seed) for seed in GOOD]
    assert [type(one.seed) for one in made] == [int] * len(GOOD)
    assert made[1] == made[2] == made[3] != made[0]


@pytest.mark.parametrize("name", ENGINES)
def test_engines_answer_with_the_largest_of_seeds(name: str) -> None:
    unary = [[0.6, 0.4], [0.3, 0.7]]
    model = pgm.MarkovNetwork.grid([[1, 0], [0, 1]], states=[0, 1], coupling=1.0, unary=unary)
    engine = ENGINES[name](seed=2**200)
    if name == "Rejection":  # draws from Bayesian networks only
        model = pgm.load_network("asia")
    ask = model.marginals if "marginals" in engine.answers else model.map
    assert ask(engine=engine).to_dict() == ask(engine=engine).to_dict()


@pytest.mark.parametrize("n", [-1, 1.5, "x", True, None, [3]])
@pytest.mark.parametrize(
    "name", [name for name in METHODS if not name.endswith(("fit", "RegressorCPD.sample", *UNCOUNTED))]
)
def test_how_many_to_draw_is_one_error_too(name: str, n: object) -> None:
    method, function = METHODS[name]
    if name in OWN:
        with pytest.raises(pgm.InvalidArgument, match=r"whole number of at least [012], not "):
            drawn(name, n=n)
        return
    owner = next(one for one in objects() if getattr(type(one), method, None) is function)
    if n is None and inspect.signature(function).parameters["n"].default is None:
        assert len(getattr(owner, method)()) == 1
        return
    with pytest.raises(pgm.InvalidArgument) as caught:
        getattr(owner, method)(n=n)
    assert str(caught.value) == f"n is a whole number of at least 0, not {shown(n)}."
