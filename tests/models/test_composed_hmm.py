"""Models that are put together of parts: against all ways through all their places, networks, and EM."""

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
from pgm.models.dynamic.composed_hmm import END, START

ROOT = Path(__file__).parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/schema/pgm-1.json").read_text()))


def part(name, random, k=None):
    k = int(random.integers(1, 3)) if k is None else k
    rows = random.dirichlet(np.ones(k + 1), k)[:, :k]
    first = random.dirichlet(np.ones(k))
    return pgm.part_of(name, pgm.Categorical(random.dirichlet(np.ones(2), k)), initial=first, transition=rows)


def models(seed):
    random = np.random.default_rng(seed)
    a, b, c = part("a", random), part("b", random), part("c", random)
    yield a
    yield a + b
    yield a | b
    yield a + b + a
    yield pgm.loop_of(a, again=0.3) + b
    yield pgm.loop_of(pgm.choice_of([a + b, c], [0.3, 0.7], name="w"), again=0.6)
    yield pgm.grammar_of([a, b], [0.6, 0.4], [[0.3, 0.7], [0.8, 0.2]])
    yield pgm.grammar_of([pgm.sequence_of(a, b, name="ab"), c], [0.5, 0.5], [[0.1, 0.5], [0.4, 0.3]])


def every_way(model, seq, whole):
    """The probability of each way through states: the model's arcs are walked one by one, silent ones too."""
    p = model._places
    flat = [model._tables[key].reshape(-1) for key in p.keys]
    arcs = {}
    for s, t, table, number in zip(p.source, p.to, p.table, p.entry, strict=True):
        share = 1.0 if number < 0 else flat[table][number]
        arcs.setdefault(int(s), []).append((int(t), float(share)))
    state = {place: i for i, place in enumerate(model._states.tolist())}
    emission = model.emission
    found = {}

    def go(place, t, path, share):
        if share < 1e-14:
            return
        for to, q in arcs.get(place, []):
            if to == END:
                if t == len(seq) and whole:
                    found[path] = found.get(path, 0.0) + share * q
            elif to in state:
                if t < len(seq):
                    owner, row = p.rows[to]
                    emitted = 1.0 if seq[t] is None else emission[owner].p[row, seq[t]]
                    r = share * q * emitted
                    if t == len(seq) - 1 and not whole:
                        found[(*path, state[to])] = found.get((*path, state[to]), 0.0) + r
                    else:
                        go(to, t + 1, (*path, state[to]), r)
            else:
                go(to, t, path, share * q)

    go(START, 0, (), 1.0)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_against_all_ways_and_the_network(seed):
    random = np.random.default_rng(seed)
    for model in models(seed):
        seq = [None if random.random() < 0.2 else int(random.integers(0, 2)) for _ in range(4)]
        for whole in (True, False):
            asked = model if whole else model.unfinished()
            ways = every_way(model, seq, whole)
            total = sum(ways.values())
            if total == 0.0:
                with pytest.raises(pgm.ImpossibleEvidence):
                    asked.score(seq)
                continue
            assert asked.score(seq) == pytest.approx(np.log(total), abs=1e-9)
            gamma = np.zeros((4, model.n_states))
            for path, p in ways.items():
                gamma[np.arange(4), list(path)] += p / total
            assert asked.smooth(seq).values == pytest.approx(gamma, abs=1e-9)
            best = asked.decode(seq)
            assert np.exp(best.log_joint) == pytest.approx(max(ways.values()), rel=1e-9)
            if (
                "next" in {key[0] for key in model._tables}
                and (model.transition.sum(axis=1) > 1 - 1e-9).all()
            ):
                known = {"ends[3]": True} if whole else {}
            else:
                known = {f"ends[{t}]": False for t in range(3)} | ({"ends[3]": True} if whole else {})
            known |= {f"observation[{t}]": o for t, o in enumerate(seq) if o is not None}
            net = model.to_network(4)
            assert net.log_probability(known) == pytest.approx(np.log(total), abs=1e-9)


def test_em_climbs_to_where_the_gradient_vanishes_and_parts_learn_together():
    random = np.random.default_rng(0)
    for model in itertools.islice(models(4), 3, 8):
        seqs = []
        for n in (4, 5, 6, 7) * 3:
            seqs.append(model.sample(n, seed=random).observations.tolist())
        learned = model.copy().fit(seqs, max_iter=2000, tol=1e-13)
        assert (np.diff(learned.fit_report.log_likelihoods) >= -1e-9).all()
        for key, table in learned._tables.items():
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
                    assert abs(slopes[0] - slopes[1]) / 2e-5 < 0.1


def test_a_part_that_stands_twice_has_one_table():
    a = pgm.part_of("a", pgm.Categorical([[0.6, 0.4]]))
    b = pgm.part_of("b", pgm.Categorical([[0.4, 0.6]]))
    twice = pgm.sequence_of(a, b, a)
    assert twice.states == (("a", 0, "#0"), ("b", 0), ("a", 0, "#1"))
    twice.fit([[0, 0, 1, 0], [0, 1, 1, 0, 0]], max_iter=500)
    assert twice.emission["a"].p[0] == pytest.approx([1.0, 0.0], abs=1e-3)
    assert set(twice.parts) == {"a", "b"}
    # Two a's, each of 1.5 states on average over four occurrences: six rows, four ends.
    assert twice._tables["transition", "a"][0] == pytest.approx([1 / 3, 2 / 3], abs=2e-2)


def test_files_pickles_print_draws_and_errors():
    for model in models(2):
        file = io.StringIO()
        pgm.write(model, file, format="json")
        SCHEMA.validate(json.loads(file.getvalue()))
        assert pgm.read(io.StringIO(file.getvalue()), format="json") == model
        assert pickle.loads(pickle.dumps(model)) == model
        assert "silent places" in repr(model)
        assert "<table" in model._repr_html_()
        assert len(model.sample(6, seed=0)) == 6
        assert model.forecast([0, 1]).values.sum() == pytest.approx(1.0)
    assert (model.unfinished()).plot() is not None
    a = pgm.part_of("a", pgm.Categorical([[0.9, 0.1]]))
    other = pgm.part_of("a", pgm.Categorical([[0.2, 0.8]]))
    for wrong, said in [
        (lambda: pgm.ComposedHMM(), "made of parts"),
        (lambda: a + other, "called 'a'"),
        (lambda: pgm.part_of("", pgm.Categorical([[1.0]])), "name of a part"),
        (lambda: pgm.part_of("a", pgm.Gaussian(dim=1)), "distribution with parameters"),
        (lambda: pgm.part_of("a", pgm.Categorical([[1.0]]), transition=[[1.2]]), "at most one"),
        (lambda: pgm.part_of("a", pgm.Categorical([[1.0]]), stay=1.0), "below one"),
        (lambda: pgm.sequence_of(), "no part"),
        (lambda: pgm.sequence_of("a"), "made by pgm.part_of"),
        (lambda: pgm.choice_of([a, a], [0.5, 0.4]), "sum to one"),
        (lambda: pgm.loop_of(a, again=1.0), "below one"),
        (lambda: pgm.grammar_of([a], [1.0], [[1.0, 0.0]]), "shape"),
        (lambda: (a + a).score([0]), "Step 0"),
    ]:
        with pytest.raises(pgm.PGMError, match=said):
            wrong()


def test_a_loop_of_what_may_emit_nothing_is_refused():
    nothing = pgm.choice_of([pgm.part_of("a", pgm.Categorical([[1.0, 0.0]]))])
    assert nothing.score([0]) == pytest.approx(np.log(0.5))
