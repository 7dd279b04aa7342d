"""Hidden semi-Markov models against all segmentations, the network of their steps, and what they learn."""

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

ROOT = Path(__file__).parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/schema/pgm-1.json").read_text()))


def rows(random, *shape):
    found = random.dirichlet(np.ones(shape[-1]), shape[:-1]) * (random.random(shape) > 0.2)
    found[found.sum(axis=-1) == 0.0] = 1.0
    return found / found.sum(axis=-1, keepdims=True)


class Case:
    def __init__(self, seed, complete):
        random = np.random.default_rng(seed)
        k, d = int(random.integers(1, 4)), int(random.integers(1, 4))
        self.k, self.d, self.complete = k, d, complete
        self.steps = int(random.integers(1, 6))
        self.start, self.move, self.stay = rows(random, k), rows(random, k, k), rows(random, k, d)
        self.seen = rows(random, k, 3)
        self.seq = [None if random.random() < 0.2 else int(random.integers(0, 3)) for _ in range(self.steps)]
        self.model = pgm.SemiMarkovHMM(
            self.start, self.move, pgm.Categorical(self.seen), self.stay, complete=complete
        )

    def segmentations(self, steps, complete):
        """Each list of segments (state, how long it was seen) and its probability with what was observed."""
        found = []

        def emitted(state, begin, end):
            p = 1.0
            for t in range(begin, end):
                p *= 1.0 if self.seq[t] is None else self.seen[state, self.seq[t]]
            return p

        def go(t, segments, p):
            for state in range(self.k):
                q = p * (self.move[segments[-1][0], state] if segments else self.start[state])
                for long in range(1, min(self.d, steps - t) + 1):
                    last = t + long == steps
                    exactly, at_least = self.stay[state, long - 1], self.stay[state, long - 1 :].sum()
                    stays = exactly if complete or not last else at_least
                    r = q * stays * emitted(state, t, t + long)
                    if r == 0.0:
                        continue
                    if last:
                        found.append(([*segments, (state, long)], r))
                    else:
                        go(t + long, [*segments, (state, long)], r)

        go(0, [], 1.0)
        return found


def path_of(segments):
    return [state for state, long in segments for _ in range(long)]


@pytest.mark.parametrize("complete", [False, True])
def test_against_all_segmentations_and_the_network(complete):
    possible = 0
    for seed in range(40):
        case = Case(seed, complete)
        assert case.model.durations == pytest.approx(case.stay, abs=1e-14)
        every = case.segmentations(case.steps, complete)
        total = sum(p for _, p in every)
        if total == 0.0:
            with pytest.raises(pgm.ImpossibleEvidence):
                case.model.score(case.seq)
            continue
        possible += 1
        assert case.model.score(case.seq) == pytest.approx(np.log(total), abs=1e-10)
        gamma = np.zeros((case.steps, case.k))
        for segments, p in every:
            gamma[np.arange(case.steps), path_of(segments)] += p / total
        assert case.model.smooth(case.seq).values == pytest.approx(gamma, abs=1e-10)
        until = case.segmentations(case.steps, False)
        if until:
            last = np.zeros(case.k)
            for segments, p in until:
                last[segments[-1][0]] += p
            assert case.model.filter(case.seq).values[-1] == pytest.approx(last / last.sum(), abs=1e-10)
        best = case.model.decode(case.seq)
        assert np.exp(best.log_joint) == pytest.approx(max(p for _, p in every), rel=1e-10)
        agree = [p for segments, p in every if tuple(path_of(segments)) == best.path]
        assert max(agree) == pytest.approx(np.exp(best.log_joint), rel=1e-10)
        net = case.model.to_network(case.steps)
        known = {f"observation[{t}]": o for t, o in enumerate(case.seq) if o is not None}
        known |= {f"ends[{case.steps - 1}]": True} if complete else {}
        if known:
            assert net.log_probability(known) == pytest.approx(np.log(total), abs=1e-9)
            assert net.query("state[0]", known).values == pytest.approx(gamma[0], abs=1e-9)
    assert possible > 25


def test_durations_of_geometric_chains_are_those_of_a_hidden_markov_model():
    move, stay = np.array([[0.0, 1.0], [1.0, 0.0]]), [0.8, 0.5]
    seen = pgm.Gaussian([0.0, 2.0], sd=1.0)
    plain = pgm.HMM([0.3, 0.7], [[0.8, 0.2], [0.5, 0.5]], seen)
    d = np.arange(400)
    durations = np.array([(1 - p) * p**d for p in stay])
    durations /= durations.sum(axis=1, keepdims=True)
    model = pgm.SemiMarkovHMM([0.3, 0.7], move, seen, durations)
    y = plain.sample(200, seed=0).observations
    assert model.score(y) == pytest.approx(plain.score(y), abs=1e-9)
    assert model.smooth(y).values == pytest.approx(plain.smooth(y).values, abs=1e-9)


@pytest.mark.parametrize("complete", [False, True])
def test_em_climbs_to_where_the_gradient_vanishes(complete):
    case = Case(2, complete)
    seqs = [one.observations.tolist() for one in case.model.sample(15, sequences=8, seed=1)]
    if complete:
        assert all(np.isfinite(case.model.score(seqs, by="sequence")))
    learned = case.model.copy().fit(seqs, max_iter=1000, tol=1e-13)
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
                assert abs(slopes[0] - slopes[1]) / 2e-5 < 0.05


def test_a_form_of_durations_is_learned_from_times_that_are_cut_off():
    true = pgm.SemiMarkovHMM(
        [1.0, 0.0],
        [[0.0, 1.0], [1.0, 0.0]],
        pgm.Gaussian([0.0, 3.0], sd=1.0),
        pgm.Poisson([6.0, 1.5]),
        max_duration=40,
    )
    y = [one.observations for one in true.sample(12, sequences=80, seed=0)]
    model = pgm.SemiMarkovHMM(
        [0.5, 0.5],
        true.transition,
        pgm.Gaussian([1.0, 2.0], sd=2.0),
        pgm.Poisson([3.0, 3.0]),
        max_duration=40,
    ).fit(y)
    assert (np.diff(model.fit_report.log_likelihoods) >= -1e-8).all()
    rates = sorted(np.ravel(model._form.rate).tolist())
    assert rates == pytest.approx([1.5, 6.0], abs=0.5)
    assert model.fit_report.n_parameters == 1 + 0 + 2 + 4 - int((model.initial == 0).any())
    slopes = []
    for h in (1e-4, -1e-4):  # where the rate rests, too
        form = pgm.Poisson(np.ravel(model._form.rate) + np.array([h, 0.0]))
        changed = pgm.SemiMarkovHMM(model.initial, model.transition, model.emission, form, max_duration=40)
        slopes.append(changed.score(y))
    assert abs(slopes[0] - slopes[1]) / 2e-4 < 0.5


def test_files_pickles_print_draws_and_errors():
    for seed in range(4):
        model = Case(seed, bool(seed % 2)).model
        file = io.StringIO()
        pgm.write(model, file, format="json")
        SCHEMA.validate(json.loads(file.getvalue()))
        again = pgm.read(io.StringIO(file.getvalue()), format="json")
        assert again.durations == pytest.approx(model.durations, abs=1e-15)
        assert pickle.loads(pickle.dumps(model)) == model
        assert "mean duration" in repr(model)
        assert "<table" in model._repr_html_()
    seen, swap = pgm.Gaussian([0.0, 1.0], sd=1.0), [[0, 1], [1, 0]]
    drawn = pgm.SemiMarkovHMM([1, 0], swap, seen, [[0, 0, 1], [0, 1, 0]]).sample(10, seed=0)
    assert drawn.states.tolist() == [0, 0, 0, 1, 1, 0, 0, 0, 1, 1]
    for wrong, said in [
        (lambda: pgm.SemiMarkovHMM([1, 0], swap, seen, [0.5, 0.5]), "a row for each state"),
        (lambda: pgm.SemiMarkovHMM([1, 0], swap, seen, [[0.5, 0.4], [1, 0]]), "sums to 0.9"),
        (lambda: pgm.SemiMarkovHMM([1, 0], swap, seen), "max_duration="),
        (
            lambda: pgm.SemiMarkovHMM([1, 0], swap, seen, pgm.Poisson([5.0, 1.0]), max_duration=6),
            "a larger one",
        ),
        (lambda: pgm.SemiMarkovHMM([1, 0], swap, seen, [[1.0]] * 3), "states"),
        (
            lambda: pgm.SemiMarkovHMM([1, 0], swap, seen, [[0, 1], [0, 1]], complete=True).sample(3, seed=0),
            "No sequence",
        ),
    ]:
        with pytest.raises(pgm.PGMError, match=said):
            wrong()
