"""How hidden Markov models learn: states that were seen, strides, priors."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pgm

WORDS = ["fish", "swim", "the"]


def tags(**changes: Any) -> pgm.HMM:
    given = {"states": ["noun", "verb", "other"], "emission": pgm.Categorical(symbols=WORDS)}
    return pgm.HMM(**{**given, **changes})


def dense(k: int, m: int, seed: int) -> pgm.HMM:
    rng = np.random.default_rng(seed)
    return pgm.HMM(
        rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), k), pgm.Categorical(rng.dirichlet(np.ones(m), k))
    )


def every_path(hmm: pgm.HMM, x: list[int], known: list[int | None]) -> dict[tuple[int, ...], float]:
    """The joint probability of each path that agrees with the states that were seen."""
    p = hmm.emission.p  # type: ignore[attr-defined]
    found = {}
    for path in itertools.product(range(hmm.n_states), repeat=len(x)):
        if all(s is None or s == i for s, i in zip(known, path, strict=True)):
            joint = hmm.initial[path[0]] * math.prod(p[i, v] for i, v in zip(path, x, strict=True))
            found[path] = joint * math.prod(hmm.transition[i, j] for i, j in itertools.pairwise(path))
    return found


# --- states that were seen ---

SEEN = [["the", "fish", "swim"], ["fish", "swim", "the", "fish"]]
TAGS = [["other", "noun", "verb"], ["noun", "verb", "other", "noun"]]


def test_states_that_were_all_seen_are_counted() -> None:
    hmm = tags().fit(SEEN, states=TAGS, seed=0)
    assert hmm.initial == pytest.approx([0.5, 0.0, 0.5])
    assert hmm.transition == pytest.approx(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]))
    assert hmm.emission.p == pytest.approx(np.eye(3))  # type: ignore[attr-defined]
    report = hmm.fit_report
    assert report is not None
    assert report.converged
    assert report.log_likelihood == pytest.approx(math.log(0.25))
    frame = pd.DataFrame({"id": [0] * 3 + [1] * 4, "word": [*SEEN[0], *SEEN[1]], "tag": [*TAGS[0], *TAGS[1]]})
    named = tags().fit(frame, states="tag", sequence="id", seed=0)
    below = tags().fit([*SEEN[0], *SEEN[1]], states=[*TAGS[0], *TAGS[1]], lengths=[3, 4], seed=0)
    assert named == hmm == below
    hard = tags().fit(SEEN, states=TAGS, method="viterbi")
    assert hard.transition == pytest.approx(hmm.transition)


@pytest.mark.parametrize("seed", range(8))
def test_one_step_from_states_seen_in_part_is_that_of_all_paths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, m = 3, 3
    hmm, x, known = dense(k, m, seed), [], []
    for length in (3, 4, 1):
        x.append(rng.integers(0, m, length).tolist())
        known.append([None if rng.random() < 0.5 else int(rng.integers(0, k)) for _ in range(length)])
    first, pairs, seen, log = np.zeros(k), np.zeros((k, k)), np.zeros((k, m)), 0.0
    for one, states in zip(x, known, strict=True):
        paths = every_path(hmm, one, states)
        total = sum(paths.values())
        log += math.log(total)
        for path, p in paths.items():
            first[path[0]] += p / total
            for i, j in itertools.pairwise(path):
                pairs[i, j] += p / total
            for i, v in zip(path, one, strict=True):
                seen[i, v] += p / total
    learned = hmm.copy().fit(x, states=known, max_iter=1, tol=0.0)
    assert learned.fit_report is not None
    assert learned.fit_report.log_likelihoods[0] == pytest.approx(log, rel=1e-12)
    assert learned.initial == pytest.approx(first / first.sum(), abs=1e-12)
    assert learned.transition == pytest.approx(pairs / pairs.sum(axis=1, keepdims=True), abs=1e-12)
    assert learned.emission.p == pytest.approx(  # type: ignore[attr-defined]
        seen / seen.sum(axis=1, keepdims=True), abs=1e-12
    )


def test_states_seen_in_part_name_what_is_guessed() -> None:
    """A few labels say which cluster is which; the rest is learned from rows without."""
    truth = pgm.HMM(
        [0.4, 0.3, 0.3],
        0.7 * np.eye(3) + 0.1,
        pgm.Gaussian([0.0, 5.0, 10.0], sd=1.0),
        states=["low", "mid", "high"],
    )
    drawn = truth.sample(60, sequences=5, seed=1)
    x = [one.observations for one in drawn]
    for seed in range(5):
        states: list[Any] = [[None] * 60 for _ in x]
        for t in range(12):
            states[0][t] = drawn[0].states[t]
        hmm = pgm.HMM(states=["low", "mid", "high"], emission=pgm.Gaussian()).fit(x, states=states, seed=seed)
        assert hmm.emission.mean == pytest.approx([0.0, 5.0, 10.0], abs=0.6)  # type: ignore[attr-defined]
        logs = hmm.fit_report.log_likelihoods  # type: ignore[union-attr]
        assert all(b >= a - 1e-9 * abs(a) for a, b in itertools.pairwise(logs))


@pytest.mark.parametrize(
    ("data", "states", "options", "error", "said"),
    [
        (SEEN, TAGS[:1], {}, pgm.InvalidArgument, "There are 2 sequences, but states= has 1."),
        (SEEN, [TAGS[0], TAGS[0]], {}, pgm.InvalidArgument, "Sequence 1 has 4 steps, but states= has 3."),
        (SEEN, [TAGS[0], ["verbs", *TAGS[1][1:]]], {}, pgm.InvalidArgument, "'verbs' is not one of"),
        ({"word": SEEN[0], "tag": TAGS[0]}, "tags", {}, pgm.InvalidFrame, "Did you mean 'tag'?"),
        ({"word": SEEN[0], "tag": TAGS[0]}, TAGS[0], {}, pgm.InvalidArgument, "names the column"),
    ],
)  # fmt: skip
def test_states_that_do_not_fit(data: Any, states: Any, options: Any, error: Any, said: str) -> None:
    with pytest.raises(error) as raised:
        tags().fit(data, states=states, **options)
    assert said in str(raised.value)


def test_a_state_that_cannot_be_is_named() -> None:
    hmm = pgm.HMM([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], pgm.Categorical([[0.5, 0.5]] * 2), states=["a", "b"])
    with pytest.raises(pgm.ImpossibleEvidence, match=r"Step 2 .* in the state 'a' is impossible"):
        hmm.fit([0, 0, 1], states=["a", "b", "a"])


# --- strides ---


def slow() -> tuple[pgm.HMM, Any]:
    """States that are hard to tell apart: plain steps are many."""
    truth = pgm.HMM([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], pgm.Categorical([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]))
    x = [one.observations for one in truth.sample(50, sequences=10, seed=0)]
    begin = pgm.HMM([0.5, 0.5], [[0.6, 0.4], [0.4, 0.6]], pgm.Categorical([[0.4, 0.3, 0.3], [0.3, 0.3, 0.4]]))
    return begin, x


def test_strides_lead_to_the_same_top_in_fewer_steps() -> None:
    begin, x = slow()
    plain = begin.copy().fit(x, max_iter=20_000, tol=1e-12)
    fast = begin.copy().fit(x, max_iter=20_000, tol=1e-12, method="squarem")
    a, b = plain.fit_report, fast.fit_report
    assert a is not None
    assert b is not None
    assert a.converged
    assert b.converged
    assert b.log_likelihood >= a.log_likelihood - 1e-6
    assert b.iterations < a.iterations / 3
    assert all(later >= before for before, later in itertools.pairwise(b.log_likelihoods))
    assert fast.transition.sum(axis=1) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    "emission",
    [
        pgm.Gaussian([0.0, 1.0], sd=[1.0, 1.5]),
        pgm.Poisson([1.0, 2.0]),
        pgm.GaussianMixture([[0.5, 0.5], [0.3, 0.7]], mean=[[0.0, 1.0], [2.0, 3.0]], sd=1.0),
        pgm.Product([pgm.Gaussian([0.0, 1.0], sd=[1.0, 1.5])]),
    ],
    ids=lambda e: e.kind,
)  # fmt: skip
def test_strides_never_fall_and_keep_zeros_and_what_is_fixed(emission: Any) -> None:
    x = np.random.default_rng(0).poisson(2.0, 120).astype(float)
    if emission.kind != "poisson":
        x += np.random.default_rng(1).normal(size=120)
    data = x[:, None] if emission.vector else x
    hmm = pgm.HMM([1.0, 0.0], [[0.7, 0.3], [0.2, 0.8]], emission)
    hmm.fit(data, method="squarem", fixed={"transition": [1]}, max_iter=60, tol=1e-9)
    logs = hmm.fit_report.log_likelihoods  # type: ignore[union-attr]
    assert all(later >= before - 1e-9 for before, later in itertools.pairwise(logs))
    assert hmm.initial.tolist() == [1.0, 0.0]
    assert hmm.transition[1].tolist() == [0.2, 0.8]
    assert hmm.score(data) == pytest.approx(logs[-1], rel=1e-12)


@pytest.mark.parametrize("kind", [pgm.Gaussian, pgm.StudentT])
def test_weights_count_in_priors_of_numbers_too(kind: Any) -> None:
    hmm = pgm.HMM([0.5, 0.5], [[0.7, 0.3], [0.4, 0.6]], kind([0.0, 2.0], [1.0, 1.0]))
    data = [[0.1, 2.5, None, 1.0], [7.0, -3.0], [0.4]]
    once = hmm.copy().fit(data, weights=[3, 0, 2], prior=1.0, max_iter=3)
    again = hmm.copy().fit([data[0]] * 3 + [data[2]] * 2, prior=1.0, max_iter=3)
    assert once.transition == pytest.approx(again.transition, rel=1e-9)
    assert once.emission.mean == pytest.approx(again.emission.mean, rel=1e-9)


def test_starts_climb_at_the_same_time_to_the_same_bits():
    truth = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], pgm.Gaussian([0.0, 3.0], sd=1.0))
    data = [one.observations for one in truth.sample(300, sequences=3, seed=0)]

    def learned(threads: int, **options: Any) -> pgm.HMM:
        with pgm.config(threads=threads):
            return pgm.HMM(n_states=3, emission=pgm.Gaussian()).fit(data, starts=5, seed=1, **options)

    one, other = learned(1, max_iter=20), learned(4, max_iter=20)
    assert one == other
    assert one.fit_report == other.fit_report
    assert len(other.fit_report.starts) == 5
    assert other.fit_report.log_likelihood == max(logs[-1] for logs in other.fit_report.starts)
    told: list[Any] = []
    with pgm.config(time_limit=0.3, progress=lambda *step: told.append(step)):
        late = learned(2, max_iter=10**6, tol=0.0)
    assert not late.fit_report.converged
    assert late.fit_report.stopped_by in ("time limit", "tol")  # nothing may be left to gain before
    with pytest.raises(pgm.ImpossibleEvidence), pgm.config(threads=4):
        pgm.HMM([1, 0], [[1, 0], [0, 1]], pgm.Categorical([[1, 0], [0, 1]])).fit([0, 1], starts=3, seed=0)
