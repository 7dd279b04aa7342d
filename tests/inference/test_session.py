"""Questions, compiled queries and frames of either kind are asked in one way, and say the same of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import pgm
from pgm.inference.asking import session
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.gaussian.hybrid import HybridPosterior
from pgm.inference.trees import shared_trees
from pgm.runtime import clock, running, threads


def rain() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("rain", 0.2)
    net.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    return net


def heights() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("tall", 0.5)
    rows = {tall: pgm.LinearGaussian(bias=1.8 if tall else 1.6, sd=0.1) for tall in (False, True)}
    net.add("height", rows, parents=["tall"])
    return net


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"wet": True}, "P(rain | wet=True)"),
        ({"wet": pgm.Likelihood({True: 0.8, False: 0.1})}, "P(rain | wet="),
        (None, "P(rain)"),
    ],
)
def test_a_compiled_query_says_what_was_given_and_what_it_took(given: Any, said: str) -> None:
    net = rain()
    found, asked = net.compile("rain", given=["wet"])(given), net.query("rain", given)
    assert dict(found.given) == dict(asked.given) == (given or {})
    assert said in repr(found)
    assert repr(found) == repr(asked)
    assert found.report.profile.total > 0.0
    assert found.values == pytest.approx(asked.values, abs=1e-15)


def test_a_compiled_query_that_is_late_names_who_would_not_be(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = rain().compile("rain", given=["wet"])
    with pgm.config(time_limit=1e-9), pytest.raises(pgm.OutOfTime, match="would approximate it"):
        ask({"wet": True})


ASKED: dict[str, Callable[[], Any]] = {
    "a question": lambda: rain().query("rain", {"wet": pgm.Likelihood({True: 0.9, False: 0.2})}),
    "a compiled query": lambda: rain().compile("rain", given=["wet"])({"wet": True}),
    "a frame": lambda: rain().predict({"wet": [True, False]}, "rain"),
    "the shares of a frame": lambda: rain().predict_proba({"wet": [True, False]}, "rain"),
    "the likelihoods of a frame": lambda: rain().log_likelihood({"wet": [True, False]}),
    "a frame with numbers": lambda: heights().predict({"height": [1.7, 1.9]}, "tall"),
    "the shares of a frame with numbers": lambda: heights().predict_proba({"height": [1.7, 1.9]}, "tall"),
    "the likelihoods of a frame with numbers": lambda: heights().log_likelihood({"height": [1.7, 1.9]}),
}


@pytest.mark.parametrize("what", ASKED)
def test_it_enters_the_one_session_once(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[object] = []
    enter = session.answered

    def counted(*args: Any, **options: Any) -> Any:
        entered.append(args)
        return enter(*args, **options)

    monkeypatch.setattr(session, "answered", counted)
    ASKED[what]()
    assert len(entered) == (2 if what == "a compiled query" else 1)  # laid out, and asked


@pytest.mark.parametrize("make", [rain, heights])
@pytest.mark.parametrize("ask", ["predict", "predict_proba", "log_likelihood"])
def test_rows_have_the_clock_of_their_question(
    make: Callable[[], pgm.BayesianNetwork], ask: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = make()
    targets = [next(iter(net.variables))] if ask != "log_likelihood" else []
    frame = {"wet": [True, False]} if make is rain else {"height": [1.7, 1.9]}
    whole = clock.time_limit_and_progress
    begun: list[object] = []

    def counted() -> object:
        begun.append(whole())
        return begun[-1]

    getattr(net, ask)(frame, *targets)
    monkeypatch.setattr(clock, "time_limit_and_progress", counted)
    getattr(net, ask)(frame, *targets)
    assert len(begun) == 1


def test_the_time_limit_of_a_frame_counts_from_the_compiling_of_its_model() -> None:
    with (
        pgm.config(time_limit=1e-9),
        pytest.raises(pgm.OutOfTime, match="The time went into compiling the model"),
    ):
        rain().predict({"wet": [True]}, "rain")


@pytest.mark.parametrize("what", ASKED)
def test_an_interrupt_is_an_interrupt(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing on the way takes Ctrl-C for an error of its own."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    from pgm.inference.asking import continuous_frames, frame_queries

    for owner, name in (
        (Posterior, "joint"),
        (HybridPosterior, "solve"),
        (shared_trees.Sliced, "answer"),
        (frame_queries, "run_all"),
        (continuous_frames, "value_of"),
    ):
        monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        ASKED[what]()


def test_where_no_thread_can_be_started_none_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a browser: what is long elsewhere, and shared out, is done in the one thread that there is."""

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    net = pgm.load_network("insurance")
    given = {name: [net.variables[name].states[0]] * 40 for name in ("Age", "MakeModel")}
    known = net.marginals({"Age": "Adult"}), net.predict_proba(given, "Accident")
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        patch.setattr(running, "_LONG", -1.0)
        patch.setattr(threads, "_SHORT", -1.0)
        with pytest.raises(RuntimeError, match="can't start"):
            pgm.load_network("insurance").predict_proba(given, "Accident")
        patch.setattr(threads, "ALONE", True)
        fresh = pgm.load_network("insurance")
        here = fresh.marginals({"Age": "Adult"}), fresh.predict_proba(given, "Accident")
    assert all((here[0][name].values == known[0][name].values).all() for name in known[0])
    assert (here[1] == known[1]).all()
