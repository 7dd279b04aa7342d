"""Models that emit on arcs, and urns without putting back: all paths, networks, EM, files."""

from __future__ import annotations

import io
import itertools
import json
import pickle
from fractions import Fraction
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


def test_arcs_against_all_paths_and_the_network():
    possible = 0
    for seed in range(30):
        random = np.random.default_rng(seed)
        k, steps = int(random.integers(1, 4)), int(random.integers(1, 4))
        start, move, seen = rows(random, k), rows(random, k, k), rows(random, k * k, 3)
        seq = [None if random.random() < 0.2 else int(random.integers(0, 3)) for _ in range(steps)]
        model = pgm.MealyHMM(start, move, pgm.Categorical(seen))

        def like(arc, step, seq=seq, seen=seen, k=k):
            return 1.0 if seq[step] is None else seen[arc[0] * k + arc[1], seq[step]]

        def paths(n, start=start, move=move, k=k, like=like):
            return Paths(
                list(itertools.product(range(k), repeat=2)),
                lambda a: start[a[0]] * move[a],
                lambda a, b, t: move[b] if a[1] == b[0] else 0.0,
                like,
                n,
            )

        every = paths(steps)
        if every.total == 0.0:
            continue
        possible += 1
        check(model, seq, every, paths)
        known = {f"observation[{t}]": o for t, o in enumerate(seq) if o is not None}
        if known:
            net = model.to_network(steps)
            assert net.log_probability(known) == pytest.approx(np.log(every.total), abs=1e-9)
    assert possible > 20


def of_urns(model, start, move, urns, seq):
    """The probability of each sequence of urns with what was drawn, in fractions."""
    found = {}
    for path in itertools.product(range(len(urns)), repeat=len(seq)):
        left = [dict(balls) for balls in urns.values()]
        p = Fraction(1)
        for t, urn in enumerate(path):
            p *= Fraction(start[urn]) if t == 0 else Fraction(move[path[t - 1]][urn])
            total = sum(left[urn].values())
            if total == 0 or left[urn].get(seq[t], 0) == 0:
                p = Fraction(0)
                break
            p *= Fraction(left[urn][seq[t]], total)
            left[urn][seq[t]] -= 1
        found[path] = p
    return found


def test_urns_against_all_paths_and_the_network():
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    start, move = [half, half], [[3 * quarter, quarter], [quarter, 3 * quarter]]
    urns = {"a": {"R": 2, "B": 1}, "b": {"R": 1, "B": 1, "G": 1}}
    model = pgm.UrnHMM([0.5, 0.5], [[0.75, 0.25], [0.25, 0.75]], urns)
    total = 0.0
    for seq in itertools.product("RBG", repeat=3):
        every = of_urns(model, start, move, urns, seq)
        p = sum(every.values())
        total += float(p)
        if p == 0:
            with pytest.raises(pgm.ImpossibleEvidence):
                model.score(list(seq))
            continue
        assert model.score(list(seq)) == pytest.approx(np.log(float(p)), abs=1e-12)
        gamma = np.zeros((3, 2))
        for path, q in every.items():
            gamma[np.arange(3), list(path)] += float(q / p)
        assert model.smooth(list(seq)).values == pytest.approx(gamma, abs=1e-12)
        assert np.exp(model.decode(list(seq)).log_joint) == pytest.approx(
            float(max(every.values())), rel=1e-12
        )
    net = model.to_network(3)
    known = {f"observation[{t}]": o for t, o in enumerate("RBR")} | {f"ends[{t}]": False for t in range(2)}
    assert net.log_probability(known) == pytest.approx(model.score(list("RBR")), abs=1e-9)
    assert total == pytest.approx(1.0)  # three draws never empty an urn before
    for seed in range(5):
        drawn = model.sample(4, seed=seed)
        counts = {c: drawn.observations.tolist().count(c) for c in "RBG"}
        assert all(n <= {"R": 3, "B": 2, "G": 1}[c] for c, n in counts.items())
    with pytest.raises(pgm.InvalidArgument, match="has 7 steps"):
        model.sample(7, seed=0)


def cases():
    random = np.random.default_rng(0)
    yield pgm.MealyHMM(rows(random, 2), rows(random, 2, 2), pgm.Categorical(random.dirichlet([1, 1, 1], 4)))
    yield pgm.UrnHMM([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], {1: {"R": 9, "B": 4}, 2: {"R": 3, "B": 8}})


@pytest.mark.parametrize("model", cases(), ids=lambda model: type(model).__name__)
def test_em_files_pickles_and_print(model):
    seqs = [one.observations.tolist() for one in model.sample(8, sequences=6, seed=0)]
    learned = model.copy().fit(seqs, max_iter=2000, tol=1e-13)
    assert (np.diff(learned.fit_report.log_likelihoods) >= -1e-9).all()
    for key, table in learned._tables.items():
        for row in np.ndindex(table.shape[:-1]):
            if not (table[row] > 1e-3).all():
                continue
            slopes = []
            for h in (1e-5, -1e-5):
                moved = table.copy()
                moved[(*row, 0)] += h
                moved[(*row, 1)] -= h
                slopes.append(learned._with({**learned._tables, key: moved}, learned._emission).score(seqs))
            assert abs(slopes[0] - slopes[1]) / 2e-5 < 0.05
    file = io.StringIO()
    pgm.write(model, file, format="json")
    SCHEMA.validate(json.loads(file.getvalue()))
    assert pgm.read(io.StringIO(file.getvalue()), format="json") == model
    assert pickle.loads(pickle.dumps(model)) == model
    assert type(model).__name__ in repr(model)
    assert "<table" in model._repr_html_()
    assert model.forecast(seqs[0], 2).values.sum(axis=1) == pytest.approx([1.0, 1.0])


def test_what_is_wrong_is_said():
    for wrong, said in [
        (
            lambda: pgm.MealyHMM([1.0, 0.0], np.eye(2), pgm.Categorical([[1.0]] * 2)),
            "2 rows, but there are 4",
        ),
        (lambda: pgm.UrnHMM([1.0], [[1.0]], {"a": 3}), "dicts of colours"),
        (lambda: pgm.UrnHMM([1.0], [[1.0]], {"a": {"R": -1}}), "count of 'R', a whole number"),
        (lambda: pgm.UrnHMM([1.0], [[1.0]], {"a": {"R": 1}}).score(["B"]), "not one of the symbols"),
        (lambda: pgm.UrnHMM([1.0], [[1.0]], {"a": {"R": 1}}).score(["R", "R"]), "Step 1"),
    ]:
        with pytest.raises(pgm.PGMError, match=said):
            wrong()
