"""Several hidden chains: against all paths, against the network of their steps, and what they learn."""

from __future__ import annotations

import io
import itertools
import json
import pickle
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import pgm
from tests.hidden_oracle import Paths, check

ROOT = Path(__file__).parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/schema/pgm-1.json").read_text()))


def rows(random, *shape):
    found = random.dirichlet(np.ones(shape[-1]), shape[:-1]) * (random.random(shape) > 0.2)
    found[found.sum(axis=-1) == 0.0] = 1.0
    return found / found.sum(axis=-1, keepdims=True)


class Case:
    """A random model, P of its first tuple of states and of its moves said once more, and a sequence."""

    def __init__(self, kind, seed):
        random = np.random.default_rng(seed)
        self.steps = int(random.integers(1, 4))
        m = int(random.integers(1, 4)) if kind != "coupled" else int(random.integers(1, 3))
        sizes = [int(random.integers(1, 4)) for _ in range(m)]
        self.seq = [None if random.random() < 0.2 else int(random.integers(0, 3)) for _ in range(self.steps)]
        self.single = True
        getattr(self, kind)(random, sizes)
        self.states = list(itertools.product(*(range(k) for k in self.sizes)))

    def factorial(self, random, sizes):
        self.sizes = sizes
        start, move = [rows(random, k) for k in sizes], [rows(random, k, k) for k in sizes]
        seen = rows(random, int(np.prod(sizes)), 3)
        self.model = pgm.FactorialHMM(
            [pgm.MarkovChain(a, b) for a, b in zip(start, move, strict=True)], pgm.Categorical(seen)
        )
        self.first = lambda q: np.prod([start[i][s] for i, s in enumerate(q)])
        self.move = lambda p, q: np.prod([move[i][p[i], s] for i, s in enumerate(q)])
        table = seen.reshape(*sizes, 3)
        self.emit = lambda q, o: 1.0 if o is None else table[(*q, o)]

    def tree(self, random, sizes):
        self.sizes = sizes
        over = [sizes[i - 1] for i in range(1, len(sizes))]
        start = [rows(random, sizes[0])] + [rows(random, o, k) for o, k in zip(over, sizes[1:], strict=True)]
        move = [rows(random, sizes[0], sizes[0])] + [
            rows(random, o, k, k) for o, k in zip(over, sizes[1:], strict=True)
        ]
        seen = rows(random, int(np.prod(sizes)), 3)
        self.model = pgm.TreeHMM(list(zip(start, move, strict=True)), pgm.Categorical(seen))

        def first(q):
            return start[0][q[0]] * np.prod([start[i][q[i - 1], q[i]] for i in range(1, len(q))])

        def step(p, q):
            return move[0][p[0], q[0]] * np.prod([move[i][q[i - 1], p[i], q[i]] for i in range(1, len(q))])

        self.first, self.move = first, step
        table = seen.reshape(*sizes, 3)
        self.emit = lambda q, o: 1.0 if o is None else table[(*q, o)]

    def coupled(self, random, sizes):
        self.sizes, self.single = sizes, False
        start, move = [rows(random, k) for k in sizes], [rows(random, *sizes, k) for k in sizes]
        seen = [rows(random, k, 3) for k in sizes]
        self.model = pgm.CoupledHMM(start, move, [pgm.Categorical(one) for one in seen])
        self.first = lambda q: np.prod([start[i][s] for i, s in enumerate(q)])
        self.move = lambda p, q: np.prod([move[i][(*p, s)] for i, s in enumerate(q)])
        self.seq = [
            [None if random.random() < 0.3 else int(random.integers(0, 3)) for _ in sizes] for _ in self.seq
        ]
        self.emit = lambda q, o: np.prod([1.0 if x is None else seen[i][q[i], x] for i, x in enumerate(o)])

    def switching(self, random, sizes):
        sizes = [min(k, 2) for k in sizes]
        m, anew = len(sizes), random.random() < 0.5
        self.sizes = [m, *sizes]
        start, move = [rows(random, k) for k in sizes], [rows(random, k, k) for k in sizes]
        seen = [rows(random, k, 3) for k in sizes]
        choice, change = rows(random, m), rows(random, m, m)
        if anew:
            change = np.tile(choice, (m, 1))
        switch = choice if anew else pgm.MarkovChain(choice, change)
        self.model = pgm.SwitchingHMM(
            list(zip(start, move, strict=True)), switch, [pgm.Categorical(one) for one in seen]
        )
        self.first = lambda q: choice[q[0]] * np.prod([start[i][s] for i, s in enumerate(q[1:])])
        self.move = lambda p, q: (
            change[p[0], q[0]] * np.prod([move[i][p[1 + i], s] for i, s in enumerate(q[1:])])
        )
        self.emit = lambda q, o: 1.0 if o is None else seen[q[0]][q[1 + q[0]], o]

    def paths(self, steps):
        named = self.model.states  # of a switch, chains are named
        code = dict(zip(named, self.states, strict=True))
        return Paths(
            named,
            lambda q: self.first(code[q]),
            lambda p, q, t: self.move(code[p], code[q]),
            lambda q, t: self.emit(code[q], self.seq[t]),
            steps,
        )

    def known(self):
        if self.single:
            return {f"observation[{t}]": o for t, o in enumerate(self.seq) if o is not None}
        return {
            f"observation[{t},chain{i}]": o
            for t, row in enumerate(self.seq)
            for i, o in enumerate(row)
            if o is not None
        }


KINDS = ["factorial", "tree", "coupled", "switching"]


@pytest.mark.parametrize("kind", KINDS)
def test_against_all_paths_and_the_network(kind):
    possible = 0
    for seed in range(25):
        case = Case(kind, seed)
        every = case.paths(case.steps)
        if every.total == 0.0:
            with pytest.raises(pgm.ImpossibleEvidence, match="Step"):
                case.model.score(case.seq)
            continue
        possible += 1
        check(case.model, case.seq, every, case.paths)
        if seed < 12:
            net = case.model.to_network(case.steps)
            assert net.log_probability(case.known()) == pytest.approx(np.log(every.total), abs=1e-9)
            smooth = case.model.smooth(case.seq)
            for name in case.model.chains:
                for t in range(case.steps):
                    wanted = net.query(f"{name}[{t}]", case.known()).values
                    assert smooth.marginal(name).values[t] == pytest.approx(wanted, abs=1e-9)
            assert case.model.filter(case.seq).values[-1] == pytest.approx(smooth.values[-1], abs=1e-12)
            longer = case.model.to_network(case.steps + 2)
            ahead = case.model.forecast(case.seq, steps=2)
            names = [f"{name}[{case.steps + 1}]" for name in case.model.chains]
            assert ahead.values[1] == pytest.approx(
                longer.query(names, case.known()).values.ravel(), abs=1e-9
            )
            if case.single:
                wanted = longer.query(f"observation[{case.steps + 1}]", case.known()).values
                assert ahead.observations[1] == pytest.approx(wanted, abs=1e-9)
            else:
                names = [f"observation[{case.steps + 1},{name}]" for name in case.model.chains]
                wanted = longer.query(names, case.known()).values.ravel()
                assert ahead.observations[1] == pytest.approx(wanted, abs=1e-9)
    assert possible > 10


def data(model, random, count=6, n=12):
    return [one.observations.tolist() for one in model.sample(n, sequences=count, seed=random)]


@pytest.mark.parametrize("kind", KINDS)
def test_em_climbs_to_where_the_gradient_vanishes(kind):
    random = np.random.default_rng(1)
    for seed in (3, 8, 11):
        case = Case(kind, seed)
        model = case.model
        seqs = data(model, random)
        before = model.score(seqs)
        learned = model.copy().fit(seqs, max_iter=400, tol=1e-13)
        logs = np.array(learned.fit_report.log_likelihoods)
        assert logs[0] == pytest.approx(before, abs=1e-9)
        assert (np.diff(logs) >= -1e-9 * (1 + np.abs(logs[1:]))).all()
        assert learned.score(seqs) == pytest.approx(logs[-1], abs=1e-9)
        if not learned.fit_report.converged:
            continue
        for key, table in learned._tables.items():  # along each edge of each simplex
            for row in itertools.product(*(range(n) for n in table.shape[:-1])):
                inside = np.flatnonzero(table[row] > 1e-3)
                for a, b in itertools.pairwise(inside.tolist()):
                    slopes = []
                    for h in (1e-5, -1e-5):
                        moved = table.copy()
                        moved[(*row, a)] += h
                        moved[(*row, b)] -= h
                        changed = learned._with({**learned._tables, key: moved}, learned._emission)
                        slopes.append(changed.score(seqs))
                    assert abs(slopes[0] - slopes[1]) / 2e-5 < 0.3


@pytest.mark.parametrize("kind", KINDS)
def test_files_pickles_copies_and_print(kind):
    for seed in range(4):
        model = Case(kind, seed).model
        file = io.StringIO()
        pgm.write(model, file, format="json")
        SCHEMA.validate(json.loads(file.getvalue()))
        again = pgm.read(io.StringIO(file.getvalue()), format="json")
        assert again == model
        assert type(again) is type(model)
        assert pickle.loads(pickle.dumps(model)) == model
        assert model.copy() == model
        assert type(model).__name__ in repr(model)
        assert "<table" in model._repr_html_()


def test_what_is_learned_from_nothing_finds_two_levels_and_a_switch():
    random = np.random.default_rng(0)
    level = np.repeat(random.integers(0, 2, 40), 10)
    switch = random.integers(0, 2, 400)
    y = 10.0 * level + 3.0 * switch + 0.3 * random.normal(size=400)
    model = pgm.FactorialHMM([2, 2], pgm.Gaussian(dim=1)).fit(y, starts=4, seed=3)
    assert sorted(model.emission.mean.round(0).tolist()) == [0.0, 3.0, 10.0, 13.0]
    assert model.fit_report.n_parameters == 2 + 2 + 8  # the first state is certain


def test_priors_fixed_parts_and_weights():
    chains = [pgm.MarkovChain([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]])] * 2
    model = pgm.FactorialHMM(chains, pgm.Categorical([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]))
    seqs = data(model, 0)
    kept = model.copy().fit(seqs, fixed=["transition"], max_iter=3, tol=0.0)
    assert np.array_equal(kept.transition("chain0"), model.transition("chain0"))
    assert not np.array_equal(kept.initial("chain0"), model.initial("chain0"))
    twice = model.copy().fit(seqs[:2] + seqs[:1], max_iter=2, tol=0.0)
    weighted = model.copy().fit(seqs[:2], weights=[2.0, 1.0], max_iter=2, tol=0.0)
    assert weighted.transition("chain1") == pytest.approx(twice.transition("chain1"), abs=1e-12)
    heavy = model.copy().fit(seqs, prior={"transition": 1e9}, max_iter=1, tol=0.0)
    assert heavy.transition("chain0") == pytest.approx(np.full((2, 2), 0.5), abs=1e-6)


def test_a_table_that_is_the_same_for_all_steps_of_a_switch_learns_from_all():
    """A switch that chooses anew has one table: its share is that of all steps, the first with them."""
    model = pgm.SwitchingHMM(
        [([1.0], [[1.0]])] * 2, [0.5, 0.5], [pgm.Categorical([[1.0, 0.0]]), pgm.Categorical([[0.0, 1.0]])]
    )
    assert model.fit([0, 1, 1, 1], fixed=["emission"]).initial("switch").tolist() == [0.25, 0.75]


def test_a_large_factorial_model_never_makes_its_matrix():
    """Ten chains: 1,024 states, 20,480 arcs where the matrix has a million entries."""
    chain = pgm.MarkovChain([0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]])
    counts = np.array(list(itertools.product([0, 1], repeat=10))).sum(axis=1)
    model = pgm.FactorialHMM([chain] * 10, pgm.Gaussian(counts.astype(float), sd=0.5))
    drawn = model.sample(50, seed=0)
    assert model._steps(None).values.size == 10 * 2 * 1024
    # What ten equal chains add up to is a chain of eleven states by itself.
    move = np.zeros((11, 11))
    for up in range(11):
        stay = np.convolve(_binomial(up, 0.9), _binomial(10 - up, 0.05))
        move[up] = stay
    start = _binomial(10, 0.5)
    counted = pgm.HMM(start, move, pgm.Gaussian(np.arange(11.0), sd=0.5))
    assert model.score(drawn.observations) == pytest.approx(counted.score(drawn.observations), rel=1e-10)


def _binomial(n, p):
    found = np.ones(1)
    for _ in range(n):
        found = np.convolve(found, [1 - p, p])
    return found


def test_what_is_wrong_is_said():
    coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    seen = pgm.Categorical([[0.9, 0.1]] * 4)
    for wrong, said in [
        (
            lambda: pgm.FactorialHMM([coin, coin], pgm.Categorical([[1.0, 0.0]] * 3)),
            "3 rows, but there are 4",
        ),
        (lambda: pgm.FactorialHMM([], seen), "at least one chain"),
        (lambda: pgm.FactorialHMM(coin, seen), "a list with an entry for each chain"),
        (lambda: pgm.FactorialHMM([coin, "b"], seen), "'chain1' is a pgm.MarkovChain"),
        (lambda: pgm.FactorialHMM([coin, coin], None), "emission= is a distribution"),
        (lambda: pgm.CoupledHMM([[1.0]], [[[1.0]], [[1.0]]], [seen]), "transition= has the chains"),
        (
            lambda: pgm.CoupledHMM([[0.5, 0.5]], [[[0.5, 0.4], [1, 0]]], [pgm.Categorical([[1.0, 0]] * 2)]),
            "sums to 0.9",
        ),
        (lambda: pgm.SwitchingHMM([coin], [0.5, 0.5], [seen]), "row|chains"),
        (lambda: pgm.TreeHMM([([0.5, 0.5], [[1.0, 0.0]])], seen), r"shape \(2, 2\)"),
        (lambda: pgm.FactorialHMM([coin, coin], seen).filter([0]).marginal("chain2"), "no chain 'chain2'"),
        (lambda: pgm.FactorialHMM([coin, coin], seen).initial("a"), "no chain 'a'"),
        (lambda: pgm.FactorialHMM([coin, coin], seen).score([2]), "Step 0"),
        (lambda: pgm.FactorialHMM([coin, coin], seen).fit([0, 1], fixed=["start"]), "names 'start'"),
        (lambda: pgm.FactorialHMM([2, 2], pgm.Gaussian(dim=1)).score([0.0]), "no initial of 'chain0' yet"),
        (lambda: pgm.FactorialHMM([50] * 8, pgm.Gaussian(dim=1)), "10\\*\\*1[36]|entries"),
    ]:
        with pytest.raises(pgm.PGMError, match=said):
            wrong()


def test_too_many_chains_are_refused_before_anything_is_made():
    with pytest.raises(pgm.TooLarge, match="all chains together"):
        pgm.FactorialHMM([2] * 40, pgm.Gaussian(dim=1))
    with pgm.config(memory_limit="200 MB"), pytest.raises(pgm.TooLarge):
        pgm.FactorialHMM([2] * 20, pgm.Gaussian(dim=1))
    with pgm.config(memory_limit="200 MB"), pytest.raises(pgm.TooLarge):
        pgm.CoupledHMM(None, None, [pgm.Gaussian(dim=1)] * 3, states=[20, 20, 20])
