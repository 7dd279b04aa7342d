"""Hidden Markov models step by step: the same numbers as all at once, and as by enumerating all paths."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pgm


def random_chain(k: int, seed: int = 0, zeros: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    move = rng.dirichlet(np.ones(k), k)
    if zeros:
        move = np.triu(move) + 0.1 * np.eye(k)
    return rng.dirichlet(np.ones(k)), move / move.sum(axis=1, keepdims=True)


def symbols(k: int = 3, zeros: bool = False) -> pgm.HMM:
    emit = np.random.default_rng(1).dirichlet(np.ones(4), k)
    return pgm.HMM(*random_chain(k, 0, zeros), pgm.Categorical(emit, ["r", "g", "b", "y"]))


def plane() -> pgm.HMM:
    rng = np.random.default_rng(2)
    root = rng.normal(size=(3, 2, 2))
    return pgm.HMM(
        *random_chain(3),
        pgm.Gaussian(rng.normal(size=(3, 2)), covariance=root @ root.transpose(0, 2, 1) + np.eye(2)),
    )


def far_away() -> pgm.HMM:
    """Densities so small that rows are divided by their largest, some of them."""
    return pgm.HMM(*random_chain(3), pgm.Gaussian([0.0, 1.0, 3.0], sd=[0.01, 1.0, 0.001]))


def two_blocks() -> pgm.HMM:
    """Doubles would lose the block that is behind."""
    move = np.kron(np.eye(2), [[0.5, 0.5], [0.5, 0.5]])
    emit = [[0.999, 0.001], [0.999, 0.001], [0.001, 0.999], [0.001, 0.999]]
    return pgm.HMM(np.full(4, 0.25), move, pgm.Categorical(emit, ["r", "g"]))


def columns() -> pgm.HMM:
    return pgm.HMM(
        *random_chain(2),
        pgm.Product({"n": pgm.Poisson([1.0, 6.0]), "sky": pgm.Categorical([[0.9, 0.1], [0.3, 0.7]], "gb")}),
    )


def letters(n: int, k: int = 4, seed: int = 3) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [None if rng.random() < 0.2 else "rgby"[code] for code in rng.integers(0, k, n).tolist()]


def points(n: int, dim: int = 2) -> np.ndarray:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(n, dim)) * 2
    x[rng.random(x.shape) < 0.2] = np.nan
    return x if dim > 1 else x[:, 0]


CASES: dict[str, tuple[Callable[[], pgm.HMM], Any]] = {
    "symbols": (symbols, letters(40)),
    "four states": (lambda: symbols(4), letters(40)),
    "six states, most arcs missing": (lambda: symbols(6, zeros=True), letters(40)),
    "rows of numbers": (plane, points(40)),
    "densities beyond doubles": (far_away, points(40, 1) * 10),
}


@pytest.mark.parametrize("chunk", [1, 2, 7, 40])
@pytest.mark.parametrize("name", CASES)
def test_chunks_of_any_size_give_the_bits_of_the_batch(name: str, chunk: int) -> None:
    make, x = CASES[name]
    hmm = make()
    whole, stream = hmm.filter(x), hmm.stream()
    found = [stream.push(x[t : t + chunk]) for t in range(0, 40, chunk)]
    assert np.array_equal(np.concatenate([one.values for one in found]), whole.values)
    assert np.array_equal(np.concatenate([one.step_scores for one in found]), whole.step_scores)
    assert np.array_equal(stream.state.values, whole.values[-1])
    assert stream.log_likelihood == pytest.approx(hmm.score(x), rel=1e-12)
    assert len(stream) == 40
    ours, theirs = stream.forecast(3), hmm.forecast(x, steps=3)
    assert np.array_equal(ours.values, theirs.values)
    assert np.array_equal(ours.observations, theirs.observations)
    assert ours.log_likelihood == stream.log_likelihood


@pytest.mark.parametrize("name", ["symbols", "rows of numbers"])
def test_observations_one_by_one_need_no_list(name: str) -> None:
    make, x = CASES[name]
    hmm = make()
    stream = hmm.stream()
    for one in x:
        stream.push(one)
    assert len(stream) == 40
    assert np.array_equal(stream.state.values, hmm.filter(x).values[-1])


@pytest.mark.parametrize("seed", range(10))
def test_one_at_a_time_is_as_by_all_paths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 5))
    start, move = random_chain(k, seed, zeros=bool(seed % 2))
    emit = rng.dirichlet(np.ones(3), k)
    stream = pgm.HMM(start, move, pgm.Categorical(emit)).stream()
    seen: list[int] = []
    for _ in range(5):
        seen.append(int(rng.integers(0, 3)))
        stream.push(seen[-1])
        last = np.zeros(k)
        for path in itertools.product(range(k), repeat=len(seen)):
            p = start[path[0]] * math.prod(emit[i, x] for i, x in zip(path, seen, strict=True))
            last[path[-1]] += p * math.prod(move[i, j] for i, j in itertools.pairwise(path))
        assert stream.log_likelihood == pytest.approx(math.log(last.sum()), abs=1e-12)
        assert stream.state.values == pytest.approx(last / last.sum(), abs=1e-12)
        assert stream.forecast().values[0] == pytest.approx(last / last.sum() @ move, abs=1e-12)


@pytest.mark.parametrize("chunk", [1, 50, 300])
def test_states_that_doubles_would_lose_are_kept(chunk: int) -> None:
    """200 letters for the first block, then 400 for the second: the batch runs in logarithms."""
    hmm, x = two_blocks(), ["r"] * 200 + ["g"] * 400
    stream = hmm.stream()
    found = np.concatenate([stream.push(x[t : t + chunk]).values for t in range(0, 600, chunk)])
    first, second = (
        200 * math.log(0.999) + 400 * math.log(0.001),
        400 * math.log(0.999) + 200 * math.log(1e-3),
    )
    log = math.log(0.5) + second + math.log1p(math.exp(first - second))
    assert stream.log_likelihood == pytest.approx(log, rel=1e-12)
    assert found == pytest.approx(hmm.filter(x).values, abs=1e-12)
    assert stream.state.values == pytest.approx([0, 0, 0.5, 0.5], abs=1e-12)


def test_rows_of_columns_come_as_dicts() -> None:
    hmm, stream = columns(), columns().stream()
    stream.push({"n": 0, "sky": "g"})
    stream.push({"n": None, "sky": "b"})
    stream.push({"n": [7, 5], "sky": ["b", None]})
    whole = {"n": [0, None, 7, 5], "sky": ["g", "b", "b", None]}
    assert len(stream) == 4
    assert np.array_equal(stream.state.values, hmm.filter(whole).values[-1])


def test_before_anything_was_observed() -> None:
    hmm = symbols()
    stream = hmm.stream()
    assert np.array_equal(stream.state.values, hmm.initial)
    assert stream.log_likelihood == 0.0
    ahead = stream.forecast(2).values
    assert np.array_equal(ahead, [hmm.initial, hmm.initial @ hmm.transition])


def test_a_mistake_leaves_it_as_it_was() -> None:
    stream = pgm.HMM([1.0, 0.0], [[0.0, 1.0], [0.0, 1.0]], pgm.Categorical(np.eye(2), ["r", "g"])).stream()
    stream.push("r")
    for bad, error, said in (
        (["g", "r"], pgm.ImpossibleEvidence, r"Step 2 \(the first is 0\)"),
        (["g", "x"], pgm.InvalidArgument, "'x' is not one of the symbols"),
        ([], pgm.InvalidArgument, "empty"),
        ([["g"], ["g"]], pgm.InvalidArgument, "A stream is one sequence"),
    ):
        with pytest.raises(error, match=said):
            stream.push(bad)
    assert len(stream) == 1
    stream.push("g")
    assert stream.log_likelihood == 0.0
    with pytest.raises(pgm.InvalidArgument, match="steps= is a whole number"):
        stream.forecast(0)
    with pytest.raises(pgm.InvalidArgument, match="2 values, not 3"):
        plane().stream().push([0.0, 1.0, 2.0])
    assert repr(stream) == "stream of a hidden Markov model: 2 steps, log-likelihood 0.000000"


def test_a_stream_copies_and_pickles_and_goes_on_apart() -> None:
    hmm, x = symbols(), letters(20)
    stream = hmm.stream()
    stream.push(x[:10])
    others = [stream.copy(), copy.deepcopy(stream), pickle.loads(pickle.dumps(stream))]
    hmm.fit(letters(30), max_iter=2)  # what was learned later changes no stream
    stream.push(x[10:])
    for other in others:
        assert len(other) == 10
        other.push(x[10:])
        assert np.array_equal(other.state.values, stream.state.values)
        assert other.log_likelihood == stream.log_likelihood
    assert np.array_equal(stream.state.values, symbols().filter(x).values[-1])


def test_its_memory_does_not_grow() -> None:
    stream = symbols().stream()
    x = np.array(["r", "g"] * 5_000)

    def peak() -> int:
        tracemalloc.start()
        for _ in range(10):
            stream.push(x)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    first = peak()
    assert peak() < first + 100_000 < 4_000_000  # 10,000 steps at a time
    assert len(pickle.dumps(stream)) < 10_000


def test_uncertain_observations_have_the_same_bits_in_any_chunks() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        hmm = pgm.HMM(*random_chain(3), pgm.Categorical(rng.dirichlet(np.ones(5), 3), list("abcde")))
        seen = pgm.Likelihood(dict(zip("abcde", rng.random(5).tolist(), strict=True)))
        x: list[Any] = [seen, "a", None, "e"]
        stream = hmm.stream()
        pushed = np.concatenate([stream.push(one).values for one in x])
        assert np.array_equal(pushed, hmm.filter(x).values)
