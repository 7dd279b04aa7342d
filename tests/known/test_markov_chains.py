"""Worked numbers of the catalogue on chains whose states are seen: C.md, O27, O28 and O32."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pgm
from tests.known.book import near

START = [0.5, 0.2, 0.3]
MOVES = [[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]


def colours() -> pgm.MarkovChain:
    return pgm.MarkovChain(START, MOVES, states=["red", "blue", "green"])


def test_C79_letters_are_not_drawn_one_by_one():
    letters = sorted(set("thatthepathtax"))
    chain = pgm.MarkovChain(states=letters).fit([list(word) for word in ("that", "the", "path", "tax")])
    p = {pair: chain.transition[letters.index(pair[0]), letters.index(pair[1])] for pair in
         ("th", "ta", "ha", "he", "at", "ax")}  # fmt: skip
    assert list(p.values()) == near([3 / 4, 1 / 4, 1 / 2, 1 / 2, 2 / 3, 1 / 3])
    assert chain.initial[letters.index("t")] == near(3 / 4)
    assert [chain.probability(list(word)) for word in ("that", "the", "txe")] == near([3 / 16, 9 / 32, 0.0])


def test_C80_O27_first_order_and_stationary():
    chain = colours()
    steps = [[0.27, 0.3, 0.43], [0.211, 0.304, 0.485], [0.1937, 0.2942, 0.5121]]
    for t, row in enumerate(steps, 1):
        assert chain.distribution(t) == near(row)
    assert chain.stationary() == near([2 / 11, 3 / 11, 6 / 11])
    assert 1 / (1 - chain.transition[2, 2]) == near(5)  # the expected run of green


def test_C82_probability_of_a_sequence():
    every = itertools.product(["red", "blue", "green"], repeat=4)
    found = {path: float(colours().probability(list(path))) for path in every}
    assert math.fsum(found.values()) == near(1.0)
    assert max(found, key=found.__getitem__) == ("green",) * 4
    assert max(found.values()) == near(0.1536)


def test_C83_urns_of_single_colour_balls():
    assert colours().probability(["red", "red", "green", "green"]) == near(0.048)
    assert colours().score(["red", "red", "green", "green"]) == near(math.log(0.048))


def test_C84_O28_sequences_are_drawn():
    """O28: within four standard errors."""
    random = np.random.default_rng(0)
    chain = pgm.MarkovChain(START, MOVES)
    data = [chain.sample(1000, seed=random) for _ in range(30)]
    found = pgm.MarkovChain(states=[0, 1, 2]).fit(data)
    limit = np.array([
        [0.003630403678, 0.003395931685, 0.003395931685],
        [0.002423160752, 0.002967753704, 0.002423160752],
        [0.001285754405, 0.001285754405, 0.001714339207],
    ])  # fmt: skip
    assert (np.abs(found.transition - MOVES) < 4 * limit * math.sqrt(100 / 30)).all()


def test_C85_counts():
    data = [list("RRGG"), list("GGGB"), list("BBRG")]
    chain = pgm.MarkovChain(states=["R", "B", "G"]).fit(data)
    assert chain.initial == near([1 / 3] * 3)
    assert chain.transition == near(np.array([[1 / 3, 0, 2 / 3], [1 / 2, 1 / 2, 0], [0, 1 / 4, 3 / 4]]))
    with_prior = pgm.MarkovChain(states=["R", "B", "G"]).fit(data, prior=1.0)
    assert with_prior.transition[0] == near([2 / 6, 1 / 6, 3 / 6])


def second_order() -> pgm.MarkovChain:
    moves = [[[0.9, 0.1], [0.5, 0.5]], [[0.6, 0.4], [0.2, 0.8]]]
    return pgm.MarkovChain([[0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]]], moves, states=[1, 2], order=2)


def test_C135_O32_second_order():
    """T25: subscripts in the order of time."""
    chain = second_order()
    assert chain.probability([1, 1, 2, 2, 1]) == near(0.0042)
    every = [list(path) for path in itertools.product([1, 2], repeat=5)]
    assert math.fsum(float(chain.probability(path)) for path in every) == near(1.0)
    found = pgm.MarkovChain(states=[1, 2], order=2)
    found.fit([[int(c) for c in text] for text in ("1122", "1212", "2211", "1121")])
    pi, theta = found.initial
    assert (pi[0], theta[0, 1]) == (near(3 / 4), near(1 / 3))
    a = found.transition
    assert [a[0, 0, 1], a[0, 1, 0], a[0, 1, 1], a[1, 0, 0], a[1, 0, 1], a[1, 1, 0]] == near(
        [1, 2 / 3, 1 / 3, 1 / 2, 1 / 2, 1]
    )
    assert a[0, 0, 0] == a[1, 1, 1] == 0.0


def test_C136_T26_the_same_chain_over_pairs():
    """T26: only N**3 of N**4 transitions of pairs are possible; there is one pair less than steps."""
    chain = second_order()
    pairs = chain.to_first_order()
    assert pairs.states == ((1, 1), (1, 2), (2, 1), (2, 2))
    assert pairs.initial == near([0.42, 0.18, 0.16, 0.24])
    assert pairs.transition == near(
        np.array([[0.9, 0.1, 0, 0], [0, 0, 0.5, 0.5], [0.6, 0.4, 0, 0], [0, 0, 0.2, 0.8]])
    )
    for path in itertools.product([1, 2], repeat=5):
        both = list(itertools.pairwise(path))
        assert float(pairs.probability(both)) == pytest.approx(
            float(chain.probability(list(path))), rel=1e-12
        )
    for t in range(5):
        exact = sum(
            float(chain.probability(list(path))) * (path[t] == 1)
            for path in itertools.product([1, 2], repeat=5)
        )
        assert chain.distribution(t)[0] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: pgm.MarkovChain([0.5, 0.5], [[0.5, 0.6], [0.5, 0.5]]), "transition= row 0 sums to 1.1"),
        (
            lambda: pgm.MarkovChain([[0.5, 0.5], np.eye(2)], np.eye(2), order=2),
            "transition= has the shape (2, 2, 2)",
        ),
        (lambda: pgm.MarkovChain([0.5, 0.5]), "initial= and transition=, or neither"),
        (lambda: pgm.MarkovChain(order=0, states=[1, 2]), "order= is a whole number from 1"),
        (lambda: pgm.MarkovChain().score([1]), "The chain has no states yet: fit it to sequences"),
        (lambda: pgm.MarkovChain().fit([[0.5, 1.25]]), "The sequences hold measurements"),
        (lambda: pgm.MarkovChain().fit([[1, "a"]]), "Name the states, MarkovChain(states=[...])"),
        (lambda: pgm.MarkovChain().fit([["a", None]]), "step 1 (both count from 0): the state is missing"),
        (lambda: pgm.MarkovChain(order=8).fit([list(range(500))]), "or a lower order"),
        (lambda: colours().score(["red", None]), "Step 1 (the first is 0): the state is missing."),
        (
            lambda: colours().score(["red", "pink"]),
            "Step 1 (the first is 0): 'pink' is not one of the states",
        ),
        (lambda: colours().fit(["red"], prior=-1), "prior= is a number that is not negative"),
        (lambda: pgm.MarkovChain(states=[1, 2]).score([1]), "The chain has no parameters yet"),
        (lambda: pgm.MarkovChain([1, 0], np.eye(2)).stationary(), "several stationary distributions"),
    ],
)
def test_what_is_no_chain(make, said):
    with pytest.raises(pgm.PGMError) as error:
        make()
    assert said in str(error.value)


def test_it_prints_and_is_drawn():
    assert repr(colours()).splitlines()[1].split() == ["from", "to", "red", "to", "blue", "to", "green"]
    assert second_order()._repr_html_().startswith("<div")
    assert second_order().plot(title="pairs").get_title() == "pairs"
    assert "no parameters yet" in repr(pgm.MarkovChain(states=[1, 2]))
    assert repr(pgm.MarkovChain(order=2)).startswith("Markov chain of order 2: no states yet")


@pytest.mark.parametrize("order", [1, 2, 3])
def test_fit_takes_the_states_from_the_sequences(order):
    rng = np.random.default_rng(order)
    data = [list(rng.choice(["sun", "fog", "rain"], int(rng.integers(1, 12)))) for _ in range(40)]
    found = pgm.MarkovChain(order=order).fit(data, prior=0.5)
    assert found == pgm.MarkovChain(states=["fog", "rain", "sun"], order=order).fit(data, prior=0.5)
    frame = {"id": np.repeat(np.arange(40), list(map(len, data))), "sky": np.concatenate(data)}
    assert pgm.MarkovChain(order=order).fit(frame, sequence="id", prior=0.5) == found
    for each, share in zip(data, found.score(data, by="sequence"), strict=True):
        by_step = found.score(each, by="step")
        assert share == pytest.approx(by_step.sum()) == pytest.approx(found.score(each))
        past = tuple(found.states.index(state) for state in each)
        tables = [*([found.initial] if order == 1 else found.initial), found.transition]
        own = [tables[min(t, order)][past[max(t - order, 0) : t + 1]] for t in range(len(each))]
        np.testing.assert_allclose(by_step, np.log(own))


def test_a_fit_that_fails_leaves_the_chain_without_states():
    chain = pgm.MarkovChain()
    with pytest.raises(pgm.InvalidArgument):
        chain.fit([["a", "b", None]])
    assert chain == pgm.MarkovChain()
    assert chain.fit([[True, True]]).states == (False, True)
