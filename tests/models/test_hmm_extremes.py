"""Hidden Markov models where numbers leave the range of doubles, and where data have odd shapes."""

from __future__ import annotations

import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import pgm
from pgm.distributions import Categorical, Gaussian


def far_apart() -> pgm.HMM:
    """What is observed first all but rules out the only state that explains what comes later."""
    return pgm.HMM(
        [0.5, 0.25, 0.25], np.eye(3), Gaussian([0.0, 100.0, -50.0], sd=1.0), states=["low", "high", "below"]
    )


def test_pairs_of_states_that_filtering_all_but_ruled_out() -> None:
    found = far_apart().smooth([0.0, 100.0, 100.0, 100.0], pairs=True)
    exact = np.zeros((3, 3, 3))
    exact[:, 1, 1] = 1.0  # exp(-5000) against exp(-15000): no other path has any share
    assert found.pairs == pytest.approx(exact, abs=1e-12)
    assert found.pairs.sum(axis=2) == pytest.approx(found.values[:-1], abs=1e-12)


def test_paths_are_drawn_through_states_that_filtering_all_but_ruled_out() -> None:
    for path in far_apart().sample(20, given=[0.0, 100.0, 100.0, 100.0], seed=0):
        assert path.states.tolist() == ["high"] * 4


@pytest.mark.parametrize("steps", [1, 3])
def test_a_column_that_was_never_observed(steps: int) -> None:
    """All rows have the same gap: only the other column counts."""
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    both = pgm.HMM(
        [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], Gaussian([[0.0, 1.0], [3.0, 2.0]], covariance=covariance)
    )
    one = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], Gaussian([1.0, 2.0], sd=1.0))
    data = np.array([[math.nan, 0.5], [math.nan, 1.5], [math.nan, 2.5]])[:steps]
    assert both.score(data) == pytest.approx(one.score(data[:, 1]), rel=1e-12)
    assert both.smooth(data).values == pytest.approx(one.smooth(data[:, 1]).values, abs=1e-12)


@pytest.mark.parametrize("kind", [object, "U1"])
def test_a_column_of_symbols_is_one_sequence(kind: type | str) -> None:
    """As hmmlearn takes them: one row for each step, one column."""
    hmm = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], Categorical([[0.7, 0.3], [0.1, 0.9]], ["r", "g"]))
    column = np.array(list("rgg"), dtype=kind)[:, None]
    assert hmm.decode(column).path == hmm.decode(list("rgg")).path
    assert hmm.score(column, lengths=[1, 2]) == hmm.score([["r"], ["g", "g"]])


# --- hostile input ---


def coin(**changes: Any) -> pgm.HMM:
    numbers = {"initial": [0.5, 0.5], "transition": [[0.9, 0.1], [0.2, 0.8]]}
    return pgm.HMM(**{**numbers, "emission": Categorical([[0.7, 0.3]] * 2), **changes})


def pair(form: str = "full") -> Gaussian:
    return Gaussian([[0.0, 1.0], [3.0, 2.0]], covariance=np.eye(2), form=form)


def one_state(weights: Any) -> pgm.MarkovChain:
    return pgm.MarkovChain(states=["a"]).fit([["a"]], weights=weights)


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda: coin(topology=[[1], [1, 1]]), pgm.InvalidArgument, "or 2 rows of 2 booleans"),
        (lambda: coin(topology=pgm.LeftToRight), pgm.InvalidArgument, "topology= is pgm.LeftToRight(...)"),
        (lambda: coin(transition=[[0.5, 0.5], [0, 1]], topology=pgm.LeftToRight()), pgm.InvalidArgument,
         "rules out 1 as the first state, which initial= makes possible."),
        (lambda: coin(initial=5), pgm.InvalidTable, "initial= has one probability for each of 2"),
        (lambda: coin(initial={0: [0.5, 0.5]}), pgm.InvalidTable, "for each state, not [0.5, 0.5]"),
        (lambda: pgm.HMM(n_states=10**9, emission=Gaussian()), pgm.TooLarge, "choose fewer states."),
        (lambda: pgm.HMM(n_states=10**30, emission=Gaussian()), pgm.TooLarge, "choose fewer states."),
        (lambda: coin().decode([0] * 1000, k=10**9), pgm.TooLarge, "ask for fewer, by k="),
        (lambda: coin().sample(0, given=[0]), pgm.InvalidArgument, "how many paths are drawn: at least 1"),
        (lambda: coin().sample(3, sequences=0), pgm.InvalidArgument, "sequences= is how many sequences"),
        (lambda: coin().fit([0, 1], fixed=None), pgm.InvalidArgument, "fixed= is a list of 'initial'"),
        (lambda: coin().fit([0, 1], fixed=True), pgm.InvalidArgument, "fixed= is a list of 'initial'"),
        (lambda: coin().fit([0, 1], prior=True), pgm.InvalidArgument, "an array of shape (2,)"),
        (lambda: coin().fit([0, 1], prior={"emission": "x"}), pgm.InvalidArgument, "array of shape (2, 2)"),
        (lambda: coin().fit([0, 1], prior={"emission": np.ones((3, 2))}), pgm.PGMError, "of shape (2, 2)"),
        (lambda: coin(emission=Gaussian([0.0, 1.0], sd=1.0)).fit([0, 1], prior={"emission": np.ones((2, 2))}),
         pgm.InvalidArgument, "statistics(rows, weights)"),
        (lambda: coin(emission=pair("tied")).fit([[0, 1]] * 3, fixed={"emission": [0]}),
         pgm.InvalidArgument, "fix the emission of all of them, or of none."),
        (lambda: coin(emission=pair()).fit([[math.nan, 1], [2, math.nan]], prior=1.0), pgm.InvalidArgument,
         "needs complete rows"),
        (lambda: coin().score(pd.DataFrame({"id": [0, 0]}), sequence="id"), pgm.InvalidFrame,
         "The frame has no column of observations."),
        (lambda: pgm.MarkovChain([0.5, 0.5], 3, states=["a", "b"]), pgm.InvalidTable, "(2, 2), not ()"),
        (lambda: pgm.MarkovChain([0.5, 0.5], [["x", "y"], [0, 1]]), pgm.InvalidTable, "takes probabilities"),
        (lambda: pgm.MarkovChain([0.5, 0.5], [[1.0], [0, 1]]), pgm.InvalidTable, "takes probabilities"),
        (lambda: pgm.MarkovChain(0.5, np.full((2, 2, 2), 0.5), order=2), pgm.InvalidTable, "of 2 tables"),
        (lambda: pgm.MarkovChain(states=list(range(50)), order=8), pgm.TooLarge, "or a lower order."),
        (lambda: pgm.MarkovChain(states=["a"], name=5), pgm.InvalidArgument, "The name of a model is text"),
        (lambda: one_state(["x"]), pgm.InvalidArgument, "weights= has"),
        (lambda: one_state([np.inf]), pgm.InvalidArgument, "weights= has"),
    ],
)  # fmt: skip
def test_mistakes_are_named(ask: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as raised:
        ask()
    assert said in str(raised.value)


def test_integers_of_numpy_are_whole_numbers() -> None:
    hmm = coin()
    assert np.array_equal(hmm.smooth([0, 1, 1], lag=np.int64(1)).values, hmm.smooth([0, 1, 1], lag=1).values)
    assert hmm.decode([0, 1], k=np.int64(2)) == hmm.decode([0, 1], k=2)
    assert pgm.MarkovChain(states=["a"], order=np.int64(2)) == pgm.MarkovChain(states=["a"], order=2)


def test_more_best_paths_than_there_are() -> None:
    assert len(coin().decode([0, 1], k=10**12)) == 4


def test_the_keys_of_a_dict_are_the_states() -> None:
    rows = {"sun": {"sun": 0.9, "rain": 0.1}, "rain": {"rain": 1.0}}
    hmm = coin(initial={"sun": 0.5, "rain": 0.5}, transition=rows)
    chain = pgm.MarkovChain({"sun": 0.5, "rain": 0.5}, rows)
    for model in (hmm, chain):
        assert model.states == ("sun", "rain")
        assert model.transition.tolist() == [[0.9, 0.1], [0.0, 1.0]]


def test_a_copy_of_a_chain_learns_by_itself() -> None:
    chain = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])
    same = chain.copy()
    assert same == chain
    assert same.fit([[0, 1, 0]]) != chain


@pytest.mark.parametrize(
    "emission",
    [
        Gaussian([0.0, 1.0], sd=1.0),
        pgm.GaussianMixture([[0.5, 0.5]] * 2, mean=[[0.0, 1.0], [2.0, 3.0]], sd=1.0),
    ],
)
def test_what_is_too_far_off_for_squares_is_impossible(emission: Any) -> None:
    hmm = coin(emission=emission)
    with pytest.raises(pgm.ImpossibleEvidence, match="Step 1"):
        hmm.score([0.0, 1e200])


def test_ranking_paths_keeps_to_the_time() -> None:
    hmm = coin()
    with pgm.config(time_limit=0.2), pytest.raises(pgm.OutOfTime):
        hmm.decode(hmm.sample(1500, seed=0).observations, k=3000)


def test_loops_are_drawn_clear_of_arcs_that_skip_states() -> None:
    """States in a row: arcs that skip some of them run above, so that loops and their numbers hang below."""
    move = [[0.5, 0.3, 0.2], [0.0, 0.6, 0.4], [0.0, 0.0, 1.0]]
    axes = pgm.MarkovChain([1.0, 0.0, 0.0], move).plot()
    height = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert max(height[p] for p in ("0.5", "0.6")) < 0.0 < height["0.2"]
    plt.close(axes.figure)


@pytest.mark.parametrize(
    "ask",
    [
        lambda hmm: hmm.sample(10**13),
        lambda hmm: hmm.sample(2, sequences=10**13),
        lambda hmm: hmm.forecast([0, 1], steps=10**13),
        lambda hmm: hmm.to_network(10**13),
        lambda hmm: pgm.FactorialHMM(
            [pgm.MarkovChain([1.0], [[1.0]])], hmm.emission.__class__([[0.5, 0.5]])
        ).sample(10**13),
        lambda hmm: pgm.LinearDynamicalSystem(A=0.5, C=1.0, Q=1.0, R=1.0).forecast([1.0], steps=10**13),
        lambda hmm: pgm.LinearDynamicalSystem(A=0.5, C=1.0, Q=1.0, R=1.0).sample(2, sequences=10**13),
        lambda hmm: pgm.LinearDynamicalSystem(A=0.5, C=1.0, Q=1.0, R=1.0).to_network(10**13),
    ],
)
def test_too_many_steps_are_refused_before_anything_is_made(ask) -> None:
    with pytest.raises(pgm.TooLarge, match=r"This many steps .* choose fewer"):
        ask(pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], pgm.Categorical([[0.5, 0.5], [0.1, 0.9]])))


@pytest.mark.parametrize(
    "make",
    [
        lambda: pgm.HMM(states=float("nan")),
        lambda: pgm.Categorical([[0.5, 0.5]], symbols=1.5),
        lambda: pgm.Gaussian([], sd=1.0),
        lambda: pgm.Gaussian([0.0], sd=1.0, form=np.eye(2)),
        lambda: pgm.Softmax([]),
        lambda: pgm.Regression([1.0], variance=[]),
        lambda: pgm.HMM(n_states=1, emission=pgm.Gaussian()).fit([0.0, 1.0], starts=10**15),
        lambda: pgm.LinearDynamicalSystem(A=0.5, C=1.0, Q=1.0, R=1.0).fit([0.0, 1.0], starts=10**15),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(make) -> None:
    with pytest.raises(pgm.InvalidArgument):
        make()


@pytest.mark.parametrize("k", [1, 2, 4, 8, 33])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("numbers", [False, True])
def test_what_is_found_of_a_sequence_has_the_same_bits_in_any_company(k: int, zeros: bool, numbers: bool):
    """Alone or among others, some of which need logarithms; in any number of threads."""
    rng = np.random.default_rng(k)
    move = rng.dirichlet(np.ones(k), k)
    if zeros:
        move = np.where(rng.random((k, k)) < 0.5, 0.0, move) + 0.1 * np.eye(k)
        move /= move.sum(axis=1, keepdims=True)
    emission: Any = pgm.Categorical(rng.dirichlet(np.ones(6), k))
    data: list[Any] = [rng.integers(0, 6, n) for n in (1, 2, 3, 50, 1000, 2, 7)]
    if numbers:
        emission = pgm.Gaussian(np.arange(float(k)), sd=1.0)
        data = [rng.normal(size=one.size) for one in data]
        data[3][20:22] = 500.0, -500.0  # beyond what doubles hold
    hmm = pgm.HMM(rng.dirichlet(np.ones(k)), move, emission)
    questions: list[Any] = [
        lambda x: hmm.smooth(x),
        lambda x: hmm.filter(x),
        lambda x: hmm.smooth(x, lag=2),
        lambda x: hmm.smooth(x, pairs=True),
        lambda x: hmm.decode(x),
    ]
    for threads in (1, 3):
        with pgm.config(threads=threads):
            scores, found = hmm.score(data, by="sequence"), [ask(data) for ask in questions]
        for i, one in enumerate(data):
            assert hmm.score(one) == scores[i]
            for ask, several in zip(questions, found, strict=True):
                assert ask(one) == several[i]


def test_the_first_impossible_row_is_named_whatever_the_company():
    """A sequence that needs logarithms stands behind one that is impossible, and before another."""
    hmm = pgm.HMM([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], pgm.Gaussian([0.0, 1.0], sd=[1.0, 1e-3]))
    far, fine = [0.0, 500.0, 0.2], [0.1, 1.0]
    bad = [0.0, 1e200]
    for data, which in (([far, fine, bad, far], 2), ([fine, bad, far, bad], 1)):
        with pytest.raises(pgm.ImpossibleEvidence, match=f"Sequence {which}, step 1"):
            hmm.score(data)
        with pytest.raises(pgm.ImpossibleEvidence, match=f"Sequence {which}, step 1"):
            hmm.smooth(data, pairs=True)
