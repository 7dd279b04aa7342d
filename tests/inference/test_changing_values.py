"""Values change, structure stays: no answer comes from tables that have been replaced.

Whatever was set and asked before, a model answers bit for bit as a network freshly built with its tables.
"""

from __future__ import annotations

import gc
import pickle
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pgm
from pgm.inference import trees
from pgm.inference.engines.exact import expected_statistics
from pgm.inference.engines.gaussian import hybrid
from pgm.inference.trees import shared_trees, sparse_cliques
from pgm.inference.trees.batching import layouts as batching_layouts
from tests.gaussian_oracle import plains

_KINDS = ("plain", "zeros", "others", "wide", "gate")


class Model:
    """A network whose tables keep changing, and what it takes to build it anew."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        n = int(rng.integers(2, 7))
        self.cards = {f"v{i}": int(rng.choice([2, 2, 2, 3, 1])) for i in range(n)}
        self.parents = {
            name: tuple(p for p in list(self.cards)[:i] if rng.random() < 0.5)[-3:]
            for i, name in enumerate(self.cards)
        }
        self.net = pgm.BayesianNetwork()
        for name in self.cards:
            table = self.distribution(name, str(rng.choice(_KINDS)))
            self.net.add(name, table, parents=self.parents[name], states=self.states(name))
        self.frame: list[dict[str, Any]] = []

    def states(self, name: str) -> list[Any]:
        return [False, True] if self.cards[name] == 2 else list(range(self.cards[name]))

    def distribution(self, name: str, kind: str) -> object:
        """A table with positive numbers, with zeros, with huge ratios; or a gate where one can be."""
        rng, parents = self.rng, self.parents[name]
        if kind == "gate" and parents and all(self.cards[v] == 2 for v in (name, *parents)):
            chances = [float(rng.choice([0.0, 1.0, rng.random()])) for _ in parents]
            return pgm.NoisyOr(dict(zip(parents, chances, strict=True)), leak=float(rng.choice([0.0, 0.1])))
        table = rng.random([*[self.cards[p] for p in parents], self.cards[name]]) + 0.01
        if kind in ("zeros", "others"):
            table[rng.random(table.shape) < 0.4] = 0.0
        if kind == "wide":
            table[..., 0] *= 10.0 ** rng.choice([-320, -305, -200])
        table[table.sum(-1) == 0.0] = 1.0
        return table / table.sum(-1, keepdims=True)

    def set(self) -> None:
        """Replace one distribution, mostly by one with zeros in the same places."""
        rng, name = self.rng, str(self.rng.choice(list(self.cards)))
        old = self.net.cpd(name)
        if rng.random() < 0.5 and isinstance(old, pgm.TableCPD):
            table = old.values * rng.uniform(0.2, 3.0, old.values.shape)
            self.net.set(name, table / table.sum(-1, keepdims=True))
        else:
            self.net.set(name, self.distribution(name, str(rng.choice(_KINDS))))

    def fresh(self) -> pgm.BayesianNetwork:
        made = pgm.BayesianNetwork()
        for name in self.cards:
            made.add(name, self.net.cpd(name), states=self.states(name))
        return made

    def evidence(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in self.cards:
            states = self.states(name)
            state = states[int(self.rng.integers(len(states)))]
            kind = int(self.rng.integers(9))
            if kind < 2:
                found[name] = state
            elif kind == 2:
                found[name] = pgm.OneOf([state])
            elif kind == 3:
                found[name] = pgm.Likelihood({s: float(self.rng.random()) + 0.1 for s in states})
            elif kind == 4 and len(states) > 1:
                weights = self.rng.dirichlet(np.ones(len(states)))
                found[name] = pgm.Soft(dict(zip(states, weights.tolist(), strict=True)))
        return found

    def questions(self) -> list[Callable[[pgm.BayesianNetwork], Any]]:
        """What is asked of the old and of the new: arrays, or numbers."""
        known, names = self.evidence(), list(self.cards)
        hard = {n: s for n, s in known.items() if not isinstance(s, pgm.Likelihood | pgm.Soft | pgm.OneOf)}
        targets = [str(t) for t in self.rng.permutation(names)[: int(self.rng.integers(1, 3))]]
        if not self.frame or self.rng.random() < 0.3:  # otherwise the same again, with other values
            self.frame = [{n: s for n, s in hard.items() if self.rng.random() < 0.7} for _ in range(5)]
            self.frame.append({names[0]: self.states(names[0])[0]})
        frame = self.frame
        seed = int(self.rng.integers(1000))
        every: list[Callable[[pgm.BayesianNetwork], Any]] = [
            lambda net: [net.marginals(known)[n].values for n in names],
            lambda net: [net.marginals()[n].values for n in names],
            lambda net: net.query(targets, known).values,
            lambda net: net.query(targets, hard).values,
            lambda net: net.probability(hard),
            lambda net: list(net.map(given=hard).values()),
            lambda net: list(net.sample(20, seed=seed, given=hard).values()),
            lambda net: net.log_likelihood(frame, bad_rows="missing"),
            lambda net: net.predict_proba(frame, targets[0], bad_rows="missing"),
            lambda net: list(net.predict_proba(frame, names, bad_rows="missing").values()),
            lambda net: list(net.expected_counts(frame[-1:]).values()),
        ]
        chosen = self.rng.random(len(every)) < 0.6
        return [ask for ask, wanted in zip(every, chosen, strict=True) if wanted]


def said(ask: Callable[[], Any]) -> Any:
    """The answer to the last bit, or what kind of error it is."""
    try:
        found = ask()
    except pgm.PGMError as error:
        return type(error), str(error)
    arrays = found if isinstance(found, list) else [found]
    return [(np.asarray(a).dtype, np.asarray(a).tolist().__repr__()) for a in arrays]


@contextmanager
def path(name: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if name in ("sliced", "large", "lists"):
            patch.setattr(shared_trees, "_NEW_TREE", np.inf)
        if name in ("large", "lists"):
            patch.setattr(shared_trees, "_AT_ONCE", -1.0)
        if name == "lists":
            for limit, value in {"_LEAST_ENTRIES": 0, "_SHARE": 2.0, "_FULL": 2.0}.items():
                patch.setattr(sparse_cliques, limit, value)
        yield


@pytest.mark.parametrize("name", ["as it comes", "sliced", "large", "lists"])
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_answers_are_those_of_a_network_built_afresh(name: str, seed: int) -> None:
    with path(name):
        model = Model(np.random.default_rng(seed))
        asked: list[tuple[Any, dict[str, Any], Any]] = []
        for _ in range(6):
            for _ in range(int(model.rng.choice([0, 1, 1, 1, 3]))):
                model.set()
            fresh = model.fresh()
            for ask in model.questions():
                assert said(lambda ask=ask: ask(model.net)) == said(lambda ask=ask, net=fresh: ask(net))
            for compiled, states, expected in asked:  # with the tables of when it was compiled
                assert said(lambda c=compiled, s=states: c(s).values) == expected
            names = list(model.cards)
            try:
                compiled = model.net.compile(names[-1], given=names[:-1])
            except pgm.ImpossibleEvidence:
                pass
            else:
                states = {n: model.states(n)[0] for n in names[:-1]}
                again = fresh.compile(compiled.targets, compiled.given)
                asked.append((compiled, states, said(lambda c=again, s=states: c(s).values)))
            other = model.net.copy() if model.rng.random() < 0.5 else pickle.loads(pickle.dumps(model.net))
            if model.rng.random() < 0.3:
                model.net = other
            else:  # what is set there stays there
                other.set(names[0], np.full(model.cards[names[0]], 1.0 / model.cards[names[0]]))
                other.marginals()


@settings(max_examples=40)
@given(plains(), st.randoms(use_true_random=False))
def test_densities_that_are_replaced_answer_as_built_afresh(case: Any, random: Any) -> None:
    plain, rng = case
    net = plain.network()
    for _ in range(4):
        node = random.choice(plain.nodes)
        if node.table is not None:
            table = node.table * rng.uniform(0.5, 2.0, node.table.shape)
            node.table = table / table.sum(-1, keepdims=True)
        else:
            node.bias = node.bias + rng.normal(size=node.bias.shape)
        fresh = plain.network()
        net.set(node.name, fresh.cpd(node.name))
        drawn = plain.draw(rng)
        known = {name: value for name, value in drawn.items() if rng.random() < 0.4}
        for name in drawn:
            assert said(lambda name=name, known=known: repr(net.query(name, known).to_dict())
                        if name in plain.cards else repr(net.query(name, known).mean)) == said(
                lambda name=name, known=known, fresh=fresh: repr(fresh.query(name, known).to_dict())
                if name in plain.cards else repr(fresh.query(name, known).mean))  # fmt: skip


def chain(n: int = 12) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("v0", 0.3)
    for i in range(1, n):
        net.add(f"v{i}", {True: 0.9 - 0.05 * i, False: 0.2}, parents=[f"v{i - 1}"])
    return net


def test_a_sliced_tree_serves_on_while_the_zeros_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    whole = shared_trees._make
    monkeypatch.setattr(shared_trees, "_make", lambda *args: made.append(args[1]) or whole(*args))
    net = chain()
    ask = [
        lambda: net.marginals(),
        lambda: net.query("v0", {"v5": True}),
        lambda: net.probability({"v3": True}),
    ]
    for one in ask:
        one()
    first = len(made)
    assert first
    net.set("v2", {True: 0.5, False: 0.4})
    net.set("v0", 0.8)
    for one in ask:
        one()
    assert len(made) == first
    for i in range(1, 12):  # many at once: compiled anew, with the same trees
        net.set(f"v{i}", {True: 0.55, False: 0.35})
    for one in ask:
        one()
    assert len(made) == first
    support = net._compile().program.support
    net.set("v2", {True: 1.0, False: 0.4})
    for one in ask:
        one()
    assert len(made) == 2 * first
    assert all(key[0] is not support for key in net._compile().trees._trees)


def test_rows_and_expected_statistics_find_the_same_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """EM asks both again and again, with other values each time."""
    used: list[Any] = []
    find = trees.tree_of

    def noted(*args: Any, **named: Any) -> Any:
        used.append(find(*args, **named))
        return used[-1]

    monkeypatch.setattr(batching_layouts, "tree_of", noted)
    monkeypatch.setattr(expected_statistics, "tree_of", noted)
    net = chain()
    frame = {f"v{i}": [True, False, None] for i in range(0, 12, 3)}
    ask: list[Callable[[], Any]] = [
        lambda: net.log_likelihood(frame),
        lambda: net.predict_proba(frame, "v4"),
        lambda: net.predict_proba(frame, ["v4", "v5"]),
        lambda: net.expected_counts({"v3": True}),
    ]
    for one in ask:
        one()
    first = list(used)
    assert len(first) >= len(ask)
    for value in (0.5, 0.8):
        used.clear()
        net.set("v2", {True: value, False: 0.4})
        for one in ask:
            one()
        assert used
        assert {id(tree) for tree in used} <= {id(tree) for tree in first}
    made = []
    lay_out = trees.lay_out_tree
    monkeypatch.setattr(trees, "lay_out_tree", lambda *args: made.append(args) or lay_out(*args))
    statistics = net.expected_counts({"v3": True})
    net.set("v1", net.cpd("v1").fitted(statistics["v1"] + 1.0))
    net.expected_counts({"v3": True})
    assert not made


@pytest.fixture
def layouts(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Of what was laid out for rows of frames: what the rows observe and what is asked."""
    made: list[bytes] = []
    whole = batching_layouts.lay_out

    def lay_out(model: Any, pattern: Any, wanted: Any, stop: Any, skeleton: Any) -> Any:
        made.append(pattern.key(wanted) + (b"" if skeleton is None else skeleton[4].tobytes()))
        return whole(model, pattern, wanted, stop, skeleton)

    monkeypatch.setattr(batching_layouts, "lay_out", lay_out)
    return made


def test_rows_are_laid_out_once_while_the_zeros_stay(layouts: list[bytes]) -> None:
    net = chain()
    frame = {f"v{i}": [True, False, None] for i in range(0, 12, 3)}
    ask: list[Callable[[], Any]] = [
        lambda: net.log_likelihood(frame),
        lambda: net.predict_proba(frame, "v4"),
        lambda: net.predict_proba(frame, ["v5", "v4"]),
        lambda: net.expected_counts(frame),
    ]
    for one in ask:
        one()
    first = len(layouts)
    assert len(set(layouts)) == first >= len(ask)
    net.set("v2", {True: 0.8, False: 0.4})
    for one in ask:
        one()
    assert len(layouts) == first
    net.log_likelihood(dict(reversed(frame.items())))
    assert len(layouts) == first
    net.predict_proba(frame, ["v4", "v5"])  # another order of the targets, other columns, another share
    net.log_likelihood({name: column for name, column in frame.items() if name != "v3"})
    net.log_likelihood({name: [*column, name == "v0"] for name, column in frame.items()})
    assert len(set(layouts)) == len(layouts) == first + 3
    net.set("v2", {True: 1.0, False: 0.4})
    net.log_likelihood(frame)
    assert len(layouts) == first + 4
    with pgm.config(memory_limit=1000), pytest.raises(pgm.TooLarge, match="rows of a frame"):
        net.log_likelihood(frame)


def test_em_lays_its_rows_out_once(layouts: list[bytes]) -> None:
    full = chain().sample(60, seed=0)
    gaps = {
        n: [None if i % 5 == k % 5 else s for i, s in enumerate(c)] for k, (n, c) in enumerate(full.items())
    }
    report = chain().fit(gaps, prior="bdeu", method="em", max_iter=100, tol=0.0).fit_report
    assert report.iterations >= 20
    assert len(layouts) == 1
    layouts.clear()
    gaps["v4"] = [pgm.Likelihood({True: 0.5 + i % 3 / 8, False: 0.3}) for i in range(60)]
    report = chain().fit(gaps, prior="bdeu", method="em", max_iter=100, tol=0.0).fit_report
    assert report.iterations >= 20
    assert len(layouts) == 1


def test_a_hub_too_deep_for_doubles_is_laid_out_for_its_values(layouts: list[bytes]) -> None:
    def hub(seed: int) -> pgm.BayesianNetwork:
        rng = np.random.default_rng(seed)
        made = pgm.BayesianNetwork()
        made.add("hub", 0.4)
        for i in range(150):
            p = 2.0 ** -rng.uniform(1, 20, 2)
            made.add(f"v{i}", {True: p[0], False: p[1]}, parents=["hub"])
        return made

    frame = [{f"v{i}": bool(i % 3 == k) for i in range(150) if i % 7 != k} for k in range(3)]
    for target in (None, ["hub", "v0"]):
        net = hub(0)
        for seed in (0, 1, 2, 0):
            other = hub(seed)
            layouts.clear()
            expected = said(lambda net=other, target=target: list(net.predict_proba(frame, target).values()))
            fresh = list(layouts)
            assert len(fresh) == len(set(fresh)) == 2  # the hub in one piece, and in several
            for name in other:
                net.set(name, other.cpd(name))
            layouts.clear()
            found = said(lambda net=net, target=target: list(net.predict_proba(frame, target).values()))
            assert found == expected
            assert seed != 0 or layouts in (fresh, [])
        assert layouts == []


def test_expected_statistics_of_densities_find_the_same_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    lay_out, tree = hybrid.make_layout, trees.lay_out_tree
    monkeypatch.setattr(hybrid, "make_layout", lambda *args: made.append(args) or lay_out(*args))
    monkeypatch.setattr(trees, "lay_out_tree", lambda *args: made.append(args) or tree(*args))
    net = pgm.BayesianNetwork()
    net.add("z", 0.3)
    net.add("x", {True: pgm.Gaussian(0.0, 1.0), False: pgm.Gaussian(3.0, 0.5)}, parents=["z"])
    net.add("y", pgm.LinearGaussian({"x": 2.0}, sd=0.3))
    first = net.expected_counts({"y": 2.0})
    count = len(made)
    assert count
    for _ in range(3):  # steps of EM on one row, with one that was never seen
        found = net.expected_counts({"y": 1.0})
        for name, statistics in first.items():
            net.set(name, net.cpd(name).fitted(found[name], prior=statistics))
    assert len(made) == count


def test_a_gate_keeps_its_trees_too(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    whole = shared_trees._make
    monkeypatch.setattr(shared_trees, "_make", lambda *args: made.append(args[1]) or whole(*args))
    net = pgm.BayesianNetwork()
    for name in "abcd":
        net.add(name, 0.3)
    net.add("e", pgm.NoisyOr({"a": 0.5, "b": 0.6, "c": 0.7, "d": 0.8}))
    net.marginals()
    first = len(made)
    net.set("e", pgm.NoisyOr({"a": 0.25, "b": 0.6, "c": 0.7, "d": 0.1}))
    assert abs(net.query("e", {"a": True, "b": False, "c": False, "d": False})[True] - 0.25) < 1e-15
    net.marginals()
    assert len(made) - first <= 1  # that of the query


def test_old_tables_are_not_kept() -> None:
    net = chain()
    programs = []
    for i in range(20):
        net.set("v0", 0.01 + i / 30)
        net.query("v0", {"v1": True})
        net.marginals()
        net.log_likelihood({"v3": [True, None]})
        programs.append(weakref.ref(net._compile().program))
    gc.collect()
    assert sum(program() is not None for program in programs) == 1


def test_a_plan_knows_the_range_of_the_new_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgm.inference.trees._WORTH_A_LOOK", -1.0)
    net = chain(4)
    net.marginals()
    net.map()
    small = {True: 1e-290, False: 1e-290}
    for i in range(1, 4):
        net.set(f"v{i}", small)
    fresh = chain(4)
    for i in range(1, 4):
        fresh.set(f"v{i}", small)
    assert repr(net.plan()) == repr(fresh.plan())
    assert said(lambda: net.probability({"v1": True, "v2": True, "v3": True})) == said(
        lambda: fresh.probability({"v1": True, "v2": True, "v3": True})
    )


def test_a_question_that_runs_ends_on_the_tables_it_began_with() -> None:
    tables = [0.3, 0.6]
    net = chain(8)
    expected = set()
    for p in tables:
        net.set("v0", p)
        expected.add(tuple(d.values.tobytes() for d in net.marginals().values()))
    stop, wrong = threading.Event(), []

    def ask() -> None:
        while not stop.is_set():
            found = tuple(d.values.tobytes() for d in net.marginals().values())
            if found not in expected:
                wrong.append(found)

    askers = [threading.Thread(target=ask) for _ in range(3)]
    for thread in askers:
        thread.start()
    for i in range(600):
        net.set("v0", tables[i % 2])
    stop.set()
    for thread in askers:
        thread.join()
    assert not wrong
