"""Printed errors of the chapter on hidden Markov models, which the models do not copy: C.md, T15 to T25."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pgm
from tests.known.book import near

START = [0.5, 0.2, 0.3]
MOVES = [[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]
COLOURS = [[0.5, 0.2, 0.2, 0.1], [0.1, 0.6, 0.1, 0.2], [0.1, 0.2, 0.5, 0.2]]
SEEN = [0, 0, 2, 1, 3]  # red, red, green, blue, yellow


def balls(start: object = START) -> pgm.HMM:
    return pgm.HMM(start, MOVES, pgm.Categorical(COLOURS))


def alpha(t: int) -> np.ndarray:
    """P(observations up to step t, state), by all paths."""
    found = np.zeros(3)
    for path in itertools.product(range(3), repeat=t + 1):
        p = START[path[0]] * np.prod([MOVES[a][b] for a, b in itertools.pairwise(path)])
        found[path[-1]] += p * np.prod([COLOURS[q][o] for q, o in zip(path, SEEN, strict=False)])
    return found


def beta(t: int) -> np.ndarray:
    """What is observed after step t given its state: a sequence that begins with that row of transitions."""
    return np.array([np.exp(balls(row).score(SEEN[t + 1 :])) for row in MOVES])


def test_T15_beta_is_given_the_state_and_not_joint_with_it():
    total = float(np.exp(balls().score(SEEN)))
    for t in range(4):
        assert (alpha(t) * beta(t)).sum() == near(total)
        assert balls().smooth(SEEN).values[t] == near(alpha(t) * beta(t) / total)


def test_T17_scaled_messages_give_the_same_posteriors_and_the_last_scale_is_not_one():
    hmm, total = balls(), 32207 / 31250000
    found = hmm.filter(SEEN)
    shares = np.exp(found.step_scores)  # 1 / c_t
    assert shares.prod() == near(total)
    assert shares[-1] != pytest.approx(1.0, abs=0.1)
    assert found.values[2] == near(alpha(2) / alpha(2).sum())
    pairs = hmm.smooth(SEEN, pairs=True).pairs
    for t in range(3):
        joint = alpha(t)[:, None] * np.array(MOVES) * np.array(COLOURS)[:, SEEN[t + 1]] * beta(t + 1)
        assert pairs[t] == near(joint / total)


def test_T18_alpha_times_beta_is_joint_with_the_observations():
    assert (alpha(2) * beta(2)).sum() == near(0.001030624)  # P(O), not 1
    assert balls().smooth(SEEN).values[2].sum() == near(1.0)


def test_T19_states_that_are_each_most_probable_may_be_no_path():
    flat = pgm.Categorical([[1.0], [1.0], [1.0]], symbols=["o"])
    hmm = pgm.HMM([0.4, 0.35, 0.25], [[0.5, 0, 0.5], [0, 1, 0], [0, 1, 0]], flat)
    found = hmm.smooth(["o", "o"])
    assert found.values == near(np.array([[0.4, 0.35, 0.25], [0.2, 0.6, 0.2]]))
    assert found.path == (0, 1)
    assert hmm.transition[0, 1] == 0.0
    best = hmm.decode(["o", "o"])
    assert best.path == (1, 1)
    assert best.probability == near(0.35)


def test_T20_pairs_end_one_step_before_the_last():
    found = balls().smooth(SEEN, pairs=True)
    assert found.pairs.shape == (4, 3, 3)
    assert found.pairs.sum(axis=2) == near(found.values[:-1])
    learned = balls().fit(SEEN, max_iter=1)
    gamma = found.values
    moves = found.pairs.sum(axis=0) / gamma[:-1].sum(axis=0)[:, None]  # up to T - 1
    shown = np.array([[gamma[np.array(SEEN) == m, i].sum() for m in range(4)] for i in range(3)])
    assert learned.transition == near(moves)
    assert learned.emission.p == near(shown / gamma.sum(axis=0)[:, None])  # up to T


def test_T21_a_symbol_is_an_exponent():
    """One of M as a bag of one word: the probability of that word, to the power one."""
    words = pgm.Multinomial(COLOURS)
    one_hot = np.eye(4)[SEEN]
    assert pgm.HMM(START, MOVES, words).score(one_hot) == near(np.log(0.001030624), 9)


def test_T22_weights_of_a_mixture_are_those_of_the_state():
    """O33: with the same weights in all states, as printed, states are irrelevant."""
    seen = [0.5, 2.5, 3.5, -0.5, 1.0]

    def density(weights: object) -> float:
        mixed = pgm.GaussianMixture(weights, [[0.0, 2.0, 4.0]] * 2, sd=[[1.0] * 3] * 2)
        return float(np.exp(pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], mixed).score(seen)))

    assert density([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]) == near(6.896508982e-05)
    assert density([[0.4, 0.3, 0.3]] * 2) == near(9.845193414e-05)


def test_T23_the_variance_is_about_the_new_mean():
    normal = pgm.Gaussian([0.0, 3.0], sd=np.sqrt([1.0, 2.0]))
    hmm = pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], normal)
    hmm.fit([0.5, 2.5, 3.5, -0.5, 1.0], max_iter=1)
    variances = np.ravel(hmm.emission.covariance)
    assert variances == near([0.4950031473, 1.271777954])
    assert variances != pytest.approx([0.609910955, 1.525759024], rel=1e-3)  # about the old one


def test_T25_the_first_subscript_is_the_earlier_state():
    second = [[[0.9, 0.1], [0.5, 0.5]], [[0.6, 0.4], [0.2, 0.8]]]
    chain = pgm.MarkovChain([[0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]]], second, order=2, states=[1, 2])
    assert chain.probability([1, 1, 2, 2, 1]) == near(0.0042)
