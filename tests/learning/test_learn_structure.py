"""`pgm.learn_structure`: what it finds, what it obeys, what it refuses, how it is shown."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pgm
from pgm.learning.counts import Counts
from pgm.learning.scores import BIC
from pgm.learning.scoring.discrete import DiscreteFamilies
from pgm.learning.searching.climbing import Climber
from pgm.learning.searching.constraints import constraints
from pgm.runtime.clock import start_clock

ASIA = pgm.load_network("asia")
ROWS = ASIA.sample(2000, seed=0)


def learn(**given: Any) -> pgm.LearnedStructure:
    return pgm.learn_structure(ROWS, **given)


# --- the same graph whatever the order ---


@pytest.mark.parametrize("search", ["hill-climb", "tabu"])
def test_the_order_of_columns_rows_and_threads_does_not_matter(search: str) -> None:
    frame = ROWS.to_pandas()
    first = pgm.learn_structure(frame, search=search, bootstrap=3, seed=5)
    rng = np.random.default_rng(0)
    for _ in range(3):
        mixed = frame[list(rng.permutation(frame.columns))].iloc[rng.permutation(len(frame))]
        again = pgm.learn_structure(mixed, search=search)
        assert set(again.network.edges) == set(first.network.edges)
        assert again.score == pytest.approx(first.score, rel=1e-12)
    with pgm.config(threads=1):
        alone = pgm.learn_structure(frame, search=search, bootstrap=3, seed=5)
    assert alone.confidence == first.confidence
    assert alone.network == first.network


def test_any_frame_will_do() -> None:
    wanted = learn().network
    frame = ROWS.to_pandas()
    pl = pytest.importorskip("polars")
    for same in (
        frame,
        frame.astype("category"),
        pl.from_pandas(frame),
        pl.from_pandas(frame).lazy(),
        dict(ROWS),
    ):
        assert pgm.learn_structure(same).network == wanted


# --- moves, beside brute force ---


def test_each_move_is_the_best_of_all() -> None:
    """Every change of one arc is tried and scored from scratch; also with constraints."""
    rng = np.random.default_rng(3)
    for round_ in range(4):
        cards = rng.integers(2, 4, size=5).tolist()
        base = rng.integers(0, 2, size=200)
        codes = [
            ((base * (rng.random(200) < 0.7) + rng.integers(0, c, size=200)) % c).astype(np.int32)
            for c in cards
        ]
        names = "abcde"
        given: dict[str, Any] = {"max_parents": 2} if round_ else {}
        if round_ > 1:
            given |= {"require": [("a", "b")], "forbid": [("c", "d"), ("d", "c")], "roots": ["a"]}
        known = constraints(names, **given)
        families = DiscreteFamilies(Counts(codes, cards), BIC(), start_clock())
        families.permit(known.allowed)
        climber = Climber(families, known, known.start)
        for step in range(25):
            here = families.total(climber.parents)
            tried = {}
            for kind, (u, v) in itertools.product(range(3), itertools.permutations(range(5), 2)):
                changed = [set(those) for those in climber.parents]
                if kind == 0 and u not in changed[v] and v not in changed[u]:
                    changed[v].add(u)
                elif kind == 1 and u in changed[v]:
                    changed[v].discard(u)
                elif kind == 2 and u in changed[v]:
                    changed[v].discard(u)
                    changed[u].add(v)
                else:
                    continue
                graph = pgm.BayesianNetwork().to_networkx()
                graph.add_nodes_from(range(5))
                graph.add_edges_from((a, b) for b in range(5) for a in changed[b])
                import networkx as nx

                if nx.is_directed_acyclic_graph(graph) and known.obeyed(changed):
                    tried[kind, u, v] = families.total(changed) - here
            move = climber.best(step, 0.0, -np.inf)
            assert move is not None
            kind, u, v, gain = move
            assert gain == pytest.approx(max(tried.values()), abs=1e-6)
            assert tried[kind, u, v] == pytest.approx(gain, abs=1e-6)
            if step % 3 == 2:  # somewhere else, to see every kind of move
                kind, u, v = sorted(tried)[int(rng.integers(len(tried)))]
            climber.change(kind, u, v)


# --- constraints ---


def test_constraints_are_true_of_every_result() -> None:
    found = learn(
        tiers=[["smoke", "asia"], ["tub", "lung", "bronc"], "either"],
        require=[("smoke", "dysp")],
        forbid=[("bronc", "dysp"), ("dysp", "bronc")],
        roots="asia",
        leaves=["xray"],
        max_parents=2,
        bootstrap=3,
        seed=1,
    )
    late = {"smoke": 0, "asia": 0, "tub": 1, "lung": 1, "bronc": 1, "either": 2}
    for net in (found.network, found.averaged):
        assert net is not None
        arcs = set(net.edges)
        assert ("smoke", "dysp") in arcs
        assert not arcs & {("bronc", "dysp"), ("dysp", "bronc")}
        assert all(late[a] <= late[b] for a, b in arcs if a in late and b in late)
        assert not net.parents("asia")
        assert not net.children("xray")
        assert max(len(net.parents(node)) for node in net.nodes) <= 2
    assert all(late[a] <= late[b] for a, b in found.confidence or () if a in late and b in late)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"require": [("tub", "asia")], "roots": "asia"}, "not permitted: 'asia' is among roots="),
        ({"require": [("tub", "asia")], "forbid": [("tub", "asia")]}, "forbid= excludes it"),
        ({"require": [("tub", "asia")], "tiers": ["asia", "tub"]}, "'tub' is in a later tier"),
        ({"require": [("tub", "asia")], "leaves": ["tub"]}, "'tub' is among leaves="),
        ({"require": [("tub", "asia"), ("asia", "tub")]}, "require= form a cycle: 'asia' -> 'tub' -> 'asia'"),
        ({"require": [("tub", "xray"), ("asia", "xray")], "max_parents": 1}, "'xray' 2 parents"),
        ({"require": [("tub", "asia")], "start": [("asia", "tub")]}, "start= and require= together form"),
        ({"start": [("tub", "asia")], "roots": "asia"}, "start= has 'tub' -> 'asia'"),
        ({"require": [("tub", "tub")]}, "to itself"),
        ({"require": [("tub", "asai")]}, "Did you mean 'asia'"),
        ({"require": "tub"}, "require= takes pairs"),
        ({"require": ["tub"]}, "one of these is 'tub'"),
        ({"tiers": [["tub"], ["tub"]]}, "'tub' twice"),
        ({"max_parents": -1}, "max_parents= is a whole number"),
        ({"bootstrap": -1}, "bootstrap= is a whole number"),
        ({"search": "taboo"}, "Did you mean 'tabu'"),
        ({"search": pgm.searches.Tabu}, r"write Tabu\(\)"),
        ({"score": "bick"}, "Did you mean 'bic'"),
        ({"score": pgm.scores.BIC}, r"write BIC\(\)"),
        ({"columns": ["asia", "tubb"]}, "Did you mean 'tub'"),
        ({"weights": [1.0]}, "one number for each of the 2,000 rows"),
        ({"weights": [-1.0] * 2000}, "The weight of row 0"),
        ({"weights": [0.0] * 2000}, "all 0"),
        ({"states": {"asia": ["yes", "no"]}, "continuous": "asia"}, "contradict each other"),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused_before_the_search(given: dict[str, Any], said: str) -> None:
    with pytest.raises(pgm.PGMError, match=said):
        learn(**given)


def test_frames_that_nothing_can_be_learned_from() -> None:
    for frame, said in (
        ({"a": [], "b": []}, "no rows|no value"),
        ({"a": [1, 2], "b": [None, None]}, "'b' has no value"),
        ({"a": [1.0, 2.0], "b": [1, 2]}, "'a' holds whole numbers as floats"),
        ({"a": [1, None], "b": [1, 2]}, "missing in the columns 'a'"),
        ({}, "no columns"),
        ({"a": [[1], [2]]}, "cannot be sorted"),
        ({"a": [0.5, np.inf]}, "is continuous"),
    ):
        with pytest.raises(pgm.PGMError, match=said):
            pgm.learn_structure(frame)


def test_a_start_and_a_seed() -> None:
    """From the network itself hill climbing does no worse than it; restarts do no worse than none."""
    true = pgm.structure_score(ASIA, ROWS)
    assert learn(search="hill-climb", start=ASIA).score >= true - 1e-9
    plain = learn(search="hill-climb").score
    again = pgm.searches.HillClimb(restarts=5)
    one, other = learn(search=again, seed=3), learn(search=again, seed=3)
    assert one.network == other.network
    assert one.score >= plain
    assert [step.move for step in one.trace].count("restart") == 5
    short = learn(search=pgm.searches.Tabu(max_steps=2))
    assert short.stopped_by == "max_steps"
    assert len(short.trace) == 3


def test_the_time_limit_gives_the_best_so_far() -> None:
    alarm = pgm.load_network("alarm").sample(20_000, seed=0)
    with pgm.config(time_limit=0.4, threads=1):
        found = pgm.learn_structure(alarm, search=pgm.searches.Tabu(restarts=1000), seed=0, bootstrap=3)
    assert found.stopped_by == "time limit"
    assert "stopped by" in repr(found)
    assert found.score > pgm.structure_score(pgm.BayesianNetwork(edges=";".join(alarm)), alarm)
    assert found.confidence is None


def test_weights_are_repeated_rows() -> None:
    frame = ROWS.to_pandas()
    grouped = frame.groupby(list(frame.columns)).size().reset_index(name="how often")
    one = pgm.learn_structure(grouped, weights="how often")
    assert one.network == learn().network
    assert one.score == pytest.approx(learn().score)


# --- how it is shown ---


def test_a_result_prints_pickles_and_becomes_a_frame() -> None:
    found = learn(bootstrap=4, seed=0, name="clinic")
    assert found.network.name == "clinic"
    text = repr(found)
    assert "8 nodes" in text
    assert "(bic)" in text
    assert "4 samples" in text
    assert "<table" in found._repr_html_()
    copy = pickle.loads(pickle.dumps(found))
    assert copy.network == found.network
    assert copy.trace == found.trace
    assert copy.confidence == found.confidence
    assert set(found.network.edges) <= set(found.confidence or ())
    frame = found.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["in_network"].sum() == len(found.network.edges)
    assert found.to_dict()["score"] == found.score
    assert found.trace.to_pandas().shape == (len(found.trace), 4)
    assert found.trace[-1].score <= max(found.trace.scores)
    assert pgm.structure_score(found.network, ROWS) == pytest.approx(found.score)
    with pytest.raises(AttributeError, match="does not change"):
        found.score = 1.0  # type: ignore[misc]


def test_the_averaged_network_has_what_is_found_often() -> None:
    found = learn(bootstrap=12, seed=2)
    assert found.averaged is not None
    assert found.confidence is not None
    assert found.threshold is not None

    def share(a: str, b: str) -> float:
        assert found.confidence is not None
        return found.confidence.get((a, b), 0.0) + found.confidence.get((b, a), 0.0)

    arcs = set(found.averaged.edges)
    assert all(share(a, b) > found.threshold for a, b in arcs)
    rare = [arc for arc in found.confidence if share(*arc) <= found.threshold]
    assert rare
    assert not arcs & set(rare)
    often = {frozenset(arc) for arc in found.confidence if share(*arc) > found.threshold}
    assert often == {frozenset(arc) for arc in arcs}


def test_a_result_is_drawn_with_its_trace() -> None:
    found = learn(bootstrap=4, seed=0)
    ax = found.plot()
    assert ax.get_title().startswith("bic -")
    assert len(ax.figure.axes) == 2
    plain = learn().plot(figsize=(6, 3), title="asia")
    assert plain.get_title() == "asia"
    assert found.plot(ax=plain) is plain


def test_the_tables_are_the_shares_in_the_data() -> None:
    found = learn(require=[("smoke", "bronc")], roots="smoke")
    frame = ROWS.to_pandas()
    for smoke in ("yes", "no"):
        some = frame[frame.smoke == smoke]
        for bronc in ("yes", "no"):
            share = (some.bronc == bronc).mean()
            row = found.network.cpd("bronc").to_dict()
            assert found.network.parents("bronc") == ("smoke",)
            assert row[smoke][bronc] == pytest.approx(share)


@pytest.mark.parametrize("search", ["hill-climb", "tabu", "structure-mcmc"])
def test_a_constant_column_has_no_arcs(search: str) -> None:
    """It tells nothing, and its arcs cost nothing: they are left out unless they are required."""
    frame = ROWS.to_pandas().assign(always="x", ever="y")
    kind = pgm.searches.StructureMCMC(steps=500, burn_in=100) if search == "structure-mcmc" else search
    found = pgm.learn_structure(frame, search=kind, require=[("asia", "ever")], seed=0)
    assert [arc for arc in found.network.edges if {"always", "ever"} & set(arc)] == [("asia", "ever")]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_order_of_rows_and_columns_does_not_matter_to_confidence(weighted: bool) -> None:
    frame = ROWS.to_pandas()[:400]
    frame["n"] = np.arange(400) % 3 if weighted else 1
    shuffled = frame.sample(frac=1.0, random_state=1)[list(frame.columns[::-1])]
    given = {"weights": "n"} if weighted else {"columns": [name for name in frame if name != "n"]}
    one, other = (pgm.learn_structure(each, bootstrap=5, seed=0, **given) for each in (frame, shuffled))
    assert one.confidence == other.confidence
    assert set(one.averaged.edges) == set(other.averaged.edges)
