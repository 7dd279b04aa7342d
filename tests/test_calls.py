"""A wrong call is answered with the argument that would be right."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pgm
from pgm import calls
from tests.test_docstrings import CLASSES, FUNCTIONS, MADE

ROOT = Path(__file__).parents[1]


def wet() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("rain", 0.2)
    net.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    return net


ANY: Any = pgm  # wrong on purpose: not for the type checker
WRONG: list[tuple[Callable[[Any], object], str]] = [
    (
        lambda n: n.query("rain", evidence={}),
        "query() has no evidence=; what is known is the second argument, given=.",
    ),
    (
        lambda n: n.query(variables=["rain"]),
        "query() has no variables=; what is asked for is the first argument, targets=.",
    ),
    (lambda n: n.map(variables=["rain"]), "map() has no variables=; what is asked for is targets=."),
    (
        lambda n: n.sample(5, random_state=1),
        "sample() has no random_state=; the seed for everything random is seed=.",
    ),
    (
        lambda n: n.sample(n_samples=5),
        "sample() has no n_samples=; the number of draws is the first argument, n=.",
    ),
    (lambda n: n.k_best(n=5), "k_best() has no n=; how many to find is k=."),
    (lambda n: n.predict(X=1), "predict() has no X=; the data is the first argument, frame=."),
    (
        lambda n: n.query("rain", enigne="x"),
        "query() has no enigne=; it takes targets=, given=, engine=. Did you mean 'engine'?",
    ),
    (
        lambda n: n.add("x", 0.2, evidence=["rain"]),
        "add() has no evidence=; what the distribution depends on is parents=.",
    ),
    (
        lambda n: n.junction_tree(elimination_order=[]),
        "junction_tree() has no elimination_order=; the elimination order is order=.",
    ),
    (
        lambda n: n.query("rain").marginal(variables="x"),
        "marginal() has no variables=; the list of variables is the first argument, names=.",
    ),
    (lambda n: n.cpd("wet").fit(df={}), "fit() has no df=; the data is the first argument, data=."),
    (
        lambda n: n.probability({"wet": True}, {"rain": True}),
        "probability() takes 1 positional argument, not 2; the others are named: given=, engine=.",
    ),
    (lambda n: n.query(), "query() lacks the first argument, targets=."),
    (lambda n: n.query("rain", targets="wet"), "query() has targets= twice: by position and by name."),
    (
        lambda n: ANY.MarkovNetwork.grid([[1]], states=[0, 1], unary=[[1]]),
        "grid() lacks the third argument, coupling=.",
    ),
    (
        lambda n: ANY.BayesianNetwork(ebunch=[]),
        "BayesianNetwork() has no ebunch=; the list of arrows is edges=.",
    ),
    (lambda n: ANY.engines.Gibbs(n_samples=4), "Gibbs() has no n_samples=; the number of draws is samples=."),
    (
        lambda n: ANY.engines.Loopy(n_iter=4),
        "Loopy() has no n_iter=; the largest number of iterations is max_iter=.",
    ),
    (lambda n: ANY.engines.Exact(3), "Exact() takes no positional argument, not 1."),
    (lambda n: ANY.NoisyOr(probs={}), "NoisyOr() has no probs=; it takes causes=, leak=."),
    (lambda n: ANY.Not(state="a"), "Not() has no state=; it takes no keywords."),
    (lambda n: ANY.config(n_jobs=4), "config() has no n_jobs=; the number of threads is threads=."),
    (
        lambda n: ANY.read(path="a.bif"),
        "read() has no path=; the path, or an open file, is the first argument, file=.",
    ),
    (
        lambda n: ANY.load_network(nam="asia"),
        "load_network() has no nam=; it takes name=. Did you mean 'name'?",
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=[message.partition(";")[0] for _, message in WRONG])
def test_a_wrong_call_names_ours(call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(pgm.InvalidCall) as raised:
        call(wet())
    assert str(raised.value) == message
    assert isinstance(raised.value, TypeError)  # which Python users expect
    assert raised.value.__suppress_context__


def test_an_error_inside_a_right_call_stays_what_it_is() -> None:
    def asked(state: object) -> float:
        return len(state)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len") as raised:
        wet().query("rain").expectation(asked)
    assert not isinstance(raised.value, pgm.PGMError)


def test_every_word_is_an_argument_somewhere() -> None:
    """What a message proposes exists, and each has its meaning said."""
    modules = [
        pgm.BayesianNetwork,
        pgm.MarkovNetwork,
        pgm.CPD,
        pgm.Distribution,
        *pgm.engines.ENGINES.values(),
    ]
    functions: list[Any] = [pgm.read, pgm.config]
    functions += [f for kind in modules for f in (kind, *vars(kind).values()) if callable(f)]
    functions += [
        f for kind in pgm.BayesianNetwork.__mro__[:-1] for f in vars(kind).values() if inspect.isfunction(f)
    ]
    used = {name for function in functions for name in inspect.signature(function).parameters}
    assert set(calls._MEANING) <= used
    assert {ours for several in calls._OTHERS for ours in several} == set(calls._MEANING)


def test_help_signatures_and_pickles_are_as_before() -> None:
    assert list(inspect.signature(pgm.BayesianNetwork.query).parameters) == [
        "self",
        "targets",
        "given",
        "engine",
    ]
    assert pgm.BayesianNetwork.query.__doc__
    assert pgm.BayesianNetwork.query.__module__ == "pgm.inference.asking.questions"
    assert pickle.loads(pickle.dumps(pgm.read)) is pgm.read
    net = wet()
    assert pickle.loads(pickle.dumps(net.query))("rain") == net.query("rain")


def test_a_right_call_costs_next_to_nothing() -> None:
    """Against 40 microseconds of a question."""

    def nothing(self: object, targets: str, given: object = None, *, engine: str = "auto") -> None: ...

    made = calls.guarded(nothing)
    plain = min(timeit.repeat(lambda: nothing(1, "a", {}, engine="b"), number=10_000, repeat=7))
    guarded = min(timeit.repeat(lambda: made(1, "a", {}, engine="b"), number=10_000, repeat=7))
    assert (guarded - plain) / 10_000 < 2e-6


def test_the_class_of_an_engine_is_no_engine() -> None:
    for name in ("Loopy", "Gibbs"):
        with pytest.raises(pgm.InvalidArgument, match=rf"{name} is the class of one: write {name}\(\)\."):
            wet().query("rain", engine=getattr(pgm.engines, name))


def test_a_name_without_a_file_is_perhaps_a_network_of_ours(tmp_path: Path) -> None:
    with pytest.raises(
        pgm.InvalidArgument, match=r'no file \'alarm\'\. .* comes with pgm: pgm\.load_network\("alarm"\)'
    ):
        pgm.read("alarm")
    with pytest.raises(pgm.InvalidArgument, match=r"those are 'alarm', 'asia'.*Did you mean 'asia'\?"):
        pgm.read("asai")
    (tmp_path / "alarm").write_text("network unknown {}")
    with pytest.raises(pgm.InvalidArgument, match="What is the format of"):
        pgm.read(tmp_path / "alarm")
    done = subprocess.run(
        [sys.executable, "-c", "from pgm.cli import run; run()", "info", "asai"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode
    assert "Did you mean 'asia'?" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("called", [*FUNCTIONS, *MADE.values()], ids=lambda made: made.__qualname__)
def test_functions_and_constructors_answer_a_wrong_keyword(called: Callable[..., Any]) -> None:
    """A keyword that none of them has: not Python's TypeError, but ours."""
    with pytest.raises(pgm.InvalidCall, match=r"has no such_a_keyword=|takes no"):
        called(such_a_keyword=1)


def test_every_method_is_guarded() -> None:
    """No method of a class that users make or receive, if it takes arguments; and none is wrapped twice."""
    forgotten, twice = set(), set()
    for cls in CLASSES:
        for name, found in inspect.getmembers(cls, inspect.isroutine):
            inner = getattr(found, "__func__", found)
            if name.startswith("_") or not inspect.isfunction(inner) or cls is pgm.Variable:
                continue
            if not inner.__module__.startswith("pgm."):
                continue
            depth = 0
            while (deeper := getattr(inner, "__wrapped__", None)) is not None:
                depth += inner.__code__ is calls.guarded(lambda: None).__code__
                inner = deeper
            if len(inspect.signature(inner).parameters) > 1 and not depth:
                forgotten.add(inner.__qualname__)
            if depth > 1:
                twice.add(inner.__qualname__)
    assert not forgotten
    assert not twice
