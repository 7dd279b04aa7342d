"""Worked numbers of the catalogue on hidden Markov models: C.md, O26 to O33, O39, O41, O42 and O46."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pgm
from tests.known.book import near

START = [0.5, 0.2, 0.3]
MOVES = [[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]
COLOURS = ["red", "blue", "green", "yellow"]
URNS = [[0.5, 0.2, 0.2, 0.1], [0.1, 0.6, 0.1, 0.2], [0.1, 0.2, 0.5, 0.2]]
SEEN = ["red", "red", "green", "blue", "yellow"]
GAMMA = [
    [0.8838722948, 0.04724749278, 0.06888021238],
    [0.7034883721, 0.09983078213, 0.1966808458],
    [0.2661335269, 0.1718787841, 0.561987689],
    [0.1146489894, 0.4303866396, 0.4549643711],
    [0.1004284783, 0.3778087838, 0.5217627379],
]


def urns(**changes: object) -> pgm.HMM:
    """O29: three urns behind a curtain."""
    given = {"initial": START, "transition": MOVES, "emission": pgm.Categorical(URNS, COLOURS)}
    return pgm.HMM(**{**given, "states": ["S1", "S2", "S3"], **changes})


# --- one model, O29 ---


def test_C86_three_urns_have_seventeen_numbers():
    assert urns().n_parameters == 17


def test_C87_urns_behind_a_curtain():
    hmm = urns()
    assert math.exp(hmm.score(SEEN)) == near(0.001030624)
    assert hmm.score(SEEN) == near(-6.877590835)
    assert hmm.smooth(SEEN).values == near(np.array(GAMMA))


def test_C90_three_problems():
    hmm = urns()
    assert hmm.score(SEEN) == near(-6.877590835)
    assert hmm.decode(SEEN).path == ("S1", "S1", "S3", "S3", "S3")
    assert urns().fit(SEEN, max_iter=1, tol=0.0).score(SEEN) == near(-5.495576182)


def test_C91_O29_all_sequences_and_all_paths():
    hmm = urns()
    every = [list(seq) for seq in itertools.product(COLOURS, repeat=5)]
    assert np.exp(hmm.score(every, by="sequence")).sum() == near(1.0)
    paths = hmm.decode(SEEN, k=300)
    assert len(paths) == 243
    assert math.fsum(math.exp(path.log_joint) for path in paths) == near(32207 / 31250000)


def test_C92_forwards():
    alpha = [
        [0.25, 0.02, 0.03],
        [0.0535, 0.009, 0.0103],
        [0.004846, 0.002248, 0.013045],
        [0.0007385, 0.00246426, 0.00246788],
        [0.000103504, 0.0003893788, 0.0005377412],
    ]
    found = urns().filter(SEEN)
    joint = found.values * np.exp(np.cumsum(found.step_scores))[:, None]
    assert joint == near(np.array(alpha), 7)


def test_C93_filtering_and_prediction():
    hmm, found = urns(), urns().filter(SEEN)
    filtered = [
        [0.8333333333, 0.06666666667, 0.1],
        [0.7348901099, 0.1236263736, 0.1414835165],
        [0.2406276379, 0.1116242117, 0.6477481504],
        [0.1302322136, 0.4345647052, 0.4352030811],
        [0.1004284783, 0.3778087838, 0.5217627379],
    ]
    assert found.values == near(np.array(filtered))
    scales = [3.333333333, 4.120879121, 3.614876608, 3.551450983, 5.502142391]
    assert np.exp(-found.step_scores) == near(np.array(scales))
    assert hmm.score(SEEN, by="step") == near(-np.log(scales))
    ahead = hmm.forecast(SEEN, steps=1)
    assert ahead.values[0] == near([0.1679094219, 0.3089900876, 0.5231004906])
    assert ahead.observations[0] == near([0.1671637687, 0.323596035, 0.3260311384, 0.1832090578])


def test_C94_backwards():
    """T15 to T17: beta is given the state; alpha times beta is the joint, and sums to P(O) at every step."""
    beta = [
        [0.00364376, 0.00243472, 0.00236632],
        [0.013552, 0.011432, 0.01968],
        [0.0566, 0.0788, 0.0444],
        [0.16, 0.18, 0.19],
        [1, 1, 1],
    ]
    hmm = urns()
    alpha = hmm.filter(SEEN)
    joint = alpha.values * np.exp(np.cumsum(alpha.step_scores))[:, None]
    assert hmm.smooth(SEEN).values * 0.001030624 == near(joint * np.array(beta), 7)
    for t in range(1, 5):  # from each state alone: what follows is a sequence that begins with a transition
        for i in range(3):
            assert math.exp(urns(initial=MOVES[i]).score(SEEN[t:])) == near(beta[t - 1][i], 7)


def test_C95_five_thousand_steps():
    hmm = urns()
    assert hmm.score(SEEN * 1000) == near(-7594.9052325339, 13)
    assert hmm.filter(SEEN * 1000).values[-1] == near([0.09876561619, 0.3686313532, 0.5326030306])
    assert hmm.filter(SEEN * 1000).log_likelihood == near(-7594.9052325339, 13)


def test_C96_posteriors():
    """T16, T18: what the book writes as y is gamma, and alpha times beta is a joint probability."""
    found = urns().smooth(SEEN)
    assert found.values == near(np.array(GAMMA))
    assert found.values.sum(axis=1) == near(np.ones(5))
    assert urns().smooth(SEEN[:4], lag=1).values[2] == near([0.2734647236, 0.1744282832, 0.5521069932])
    assert urns().smooth(SEEN, lag=1).values[2] == near([0.2734647236, 0.1744282832, 0.5521069932])
    assert urns().smooth(SEEN, lag=4).values == near(np.array(GAMMA))
    assert urns().smooth(SEEN, lag=0).values == near(urns().filter(SEEN).values)


def test_C97_O30_pointwise_states_may_be_no_path():
    """O30 (i), T19: the likeliest states of each step, S1 and S2, cannot follow each other."""
    hmm = pgm.HMM(
        [0.4, 0.35, 0.25],
        [[0.5, 0, 0.5], [0, 1, 0], [0, 1, 0]],
        pgm.Categorical([[1.0]] * 3, symbols=["flat"]),
        states=["S1", "S2", "S3"],
    )
    flat = ["flat", "flat"]
    assert hmm.smooth(flat).values == near(np.array([[0.4, 0.35, 0.25], [0.2, 0.6, 0.2]]))
    with pytest.warns(UserWarning, match="do not form a possible path"):
        found = hmm.decode(flat, pointwise=True)
    assert (found.path, found.probability) == (("S1", "S2"), 0.0)
    best = hmm.decode(flat)
    assert (best.path, best.probability) == (("S2", "S2"), near(0.35))
    assert urns().decode(SEEN, pointwise=True).path == urns().decode(SEEN).path


def test_C98_viterbi():
    best, *others = urns().decode(SEEN, k=5)
    assert best.path == ("S1", "S1", "S3", "S3", "S3")
    assert best.probability == near(0.1862949048)
    assert math.exp(best.log_joint) == near(3 / 15625)
    found = ["".join(state[1] for state in path.path) for path in others]
    assert found == ["11122", "13333", "11222", "11322"]
    assert [math.exp(p.log_joint) for p in others] == near([8.64e-05, 7.68e-05, 6.48e-05, 5.4e-05])


def test_C99_pairs_of_states():
    """T20: there is no pair after the last step."""
    xi = [
        [
            [0.6574657683, 0.08319231844, 0.1432142081],
            [0.02629863073, 0.01331077095, 0.007638091098],
            [0.01972397305, 0.003327692738, 0.04582854659],
        ],
        [
            [0.2350498339, 0.1227159468, 0.3457225914],
            [0.01977054678, 0.04128760828, 0.03877262707],
            [0.01131314621, 0.007875228987, 0.1774924706],
        ],
        [
            [0.06018567392, 0.1523449871, 0.05360286584],
            [0.0139596982, 0.1413419443, 0.01657714162],
            [0.04050361723, 0.1366997081, 0.3847843636],
        ],
        [
            [0.02866224734, 0.04299337101, 0.04299337101],
            [0.04782073773, 0.2869244264, 0.09564147546],
            [0.02394549322, 0.04789098643, 0.3831278915],
        ],
    ]
    found = urns().smooth(SEEN, pairs=True)
    assert found.pairs == near(np.array(xi))
    assert found.pairs.sum(axis=2) == near(np.array(GAMMA[:4]))
    assert found.pairs.sum(axis=1) == near(np.array(GAMMA[1:]))


# --- learning, O31 ---


def test_C100_O31_baum_welch_one_sequence():
    """T20: transitions are divided by sums to T - 1, emissions by sums to T."""
    hmm = urns().fit(SEEN, max_iter=1, tol=0.0)
    assert hmm.initial == near([0.8838722948, 0.04724749278, 0.06888021238])
    moves = [
        [0.4986240492, 0.2038706466, 0.2975053041],
        [0.1439254292, 0.6443835463, 0.2116910245],
        [0.074452439, 0.1526640262, 0.7728835348],
    ]
    assert hmm.transition == near(np.array(moves), 9)
    emitted = [
        [0.7673704018, 0.05542422894, 0.128655696, 0.04854967326],
        [0.1304865821, 0.3818353295, 0.1524893808, 0.3351887076],
        [0.1471842885, 0.2521589864, 0.3114754804, 0.2891812447],
    ]
    assert hmm.emission.p == near(np.array(emitted), 9)
    assert hmm.fit_report.log_likelihoods == near((-6.877590835, -5.495576182))
    assert not hmm.fit_report.converged
    assert urns().fit(SEEN, max_iter=2, tol=0.0).fit_report.log_likelihood == near(-4.920447082)


def test_C101_baum_welch_three_sequences():
    three = [[COLOURS[int(c)] for c in text] for text in ("00213", "2220", "113100")]
    logs = urns().score(three, by="sequence")
    assert logs == near([-6.877590835, -5.183454145, -8.333498711])
    hmm = urns().fit(three, max_iter=1, tol=0.0)
    assert hmm.initial == near([0.4847392945, 0.2159921137, 0.2992685918])
    moves = [
        [0.5177593278, 0.2253546987, 0.2568859735],
        [0.2455412461, 0.6388561368, 0.1156026171],
        [0.1510648538, 0.1000836525, 0.7488514937],
    ]
    assert hmm.transition == near(np.array(moves))
    emitted = [
        [0.6648041208, 0.143448383, 0.1485093933, 0.04323810291],
        [0.1383970854, 0.5525521224, 0.06741036138, 0.2416404308],
        [0.1879942291, 0.1575287732, 0.5239350905, 0.1305419073],
    ]
    assert hmm.emission.p == near(np.array(emitted))
    report = urns().fit(three, max_iter=100, tol=0.0).fit_report
    found = [report.log_likelihoods[i] for i in (0, 1, 2, 5, 10, 50, 100)]
    assert found == near([
        -20.39454369, -19.09618181, -18.28819792, -16.2890707, -15.7504541, -15.69726718, -15.68546427
    ])  # fmt: skip
    assert (np.diff(report.log_likelihoods) >= 0).all()


# --- gaps, splits, soft evidence: O30 ---


def test_C102_a_gap_is_summed_out():
    """O30 (iv); T21: the indicator is an exponent, and where there is none the factor is one."""
    gap = [*SEEN[:2], None, *SEEN[3:]]
    assert math.exp(urns().score(gap)) == near(0.004301238)
    drawn = urns().sample(20_000, given=gap, seed=0)
    shares = np.mean([[one.observations[2] == colour for colour in COLOURS] for one in drawn], axis=0)
    exact = np.array([0.2275370486, 0.3647361992, 0.2396110143, 0.1681157378])
    assert np.abs(shares - exact).max() < 4 * math.sqrt(0.25 / 20_000)


def test_C107_hidden_markov_model_as_a_network():
    hmm = urns()
    net = hmm.to_network(5)
    seen = {f"observation[{t}]": colour for t, colour in enumerate(SEEN)}
    assert net.log_probability(seen) == pytest.approx(float(hmm.score(SEEN)), rel=1e-12)
    found = net.marginals(seen)
    for t, row in enumerate(hmm.smooth(SEEN).values):
        assert found[f"state[{t}]"].values == pytest.approx(row, abs=1e-12)


def test_C133_without_memory_it_is_clustering():
    """O30 (ii) and (v): rows of A all alike; a state split in two."""
    assert math.exp(urns(transition=[START] * 3).score(SEEN)) == near(0.0010206)
    split = pgm.HMM(
        [0.5, 0.2, 0.09, 0.21],
        [[*row[:2], 0.3 * row[2], 0.7 * row[2]] for row in [*MOVES, MOVES[2]]],
        pgm.Categorical([*URNS, URNS[2]], COLOURS),
    )
    assert math.exp(split.score(SEEN)) == near(0.001030624)


def test_C88_observable_states_are_counted_in_one_step():
    """O27: Baum-Welch with an identity as emission."""
    names = ["R", "B", "G"]
    chain = pgm.HMM([1 / 3] * 3, [[1 / 3] * 3] * 3, pgm.Categorical(np.eye(3), names), states=names)
    chain.fit([list("RRGG"), list("GGGB"), list("BBRG")], max_iter=1)
    assert chain.initial == near([1 / 3] * 3)
    assert chain.transition == near(np.array([[1 / 3, 0, 2 / 3], [1 / 2, 1 / 2, 0], [0, 1 / 4, 3 / 4]]))
    seed = pgm.HMM(START, MOVES, pgm.Categorical(np.eye(3), names), states=names)
    assert math.exp(seed.score(list("RRGG"))) == near(0.048)


def test_C141_pseudo_counts():
    """The posterior mean of O27's first row with one of each: (2, 1, 3) / 6."""
    names = ["R", "B", "G"]
    chain = pgm.HMM([1 / 3] * 3, [[1 / 3] * 3] * 3, pgm.Categorical(np.eye(3), names), states=names)
    data = [list("RRGG"), list("GGGB"), list("BBRG")]
    chain.fit(data, max_iter=1, fixed=["emission"], prior={"transition": 1.0})
    assert chain.transition[0] == near([2 / 6, 1 / 6, 3 / 6])


def test_T29_what_learning_leaves_alone():
    """A state that is never visited keeps its numbers; zeros stay zero."""
    hmm = urns(
        initial=[1.0, 0.0, 0.0],
        transition=[[0.5, 0.5, 0.0], [0.3, 0.7, 0.0], [0.2, 0.3, 0.5]],
    )
    hmm.fit([SEEN, SEEN[::-1]], max_iter=5)
    assert hmm.transition[2].tolist() == [0.2, 0.3, 0.5]
    assert hmm.emission.p[2].tolist() == URNS[2]
    assert (hmm.transition[:2, 2] == 0).all()
    assert hmm.fit_report.kept == ("S3",)


# --- numbers, O33 ---

TWO = ([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]])
NUMBERS = [0.5, 2.5, 3.5, -0.5, 1.0]


def test_C105_O33_scalar_gaussians():
    """T23: the variance is about the new mean."""
    hmm = pgm.HMM(*TWO, pgm.Gaussian([0.0, 3.0], sd=[1.0, math.sqrt(2)]), states=[1, 2])
    assert math.exp(hmm.score(NUMBERS)) == near(7.52579615e-05)
    first = [0.7790019219, 0.04489715938, 0.003609759455, 0.9108289616, 0.802244392]
    assert hmm.smooth(NUMBERS).values[:, 0] == near(np.array(first))
    best = hmm.decode(NUMBERS)
    assert best.path == (1, 2, 2, 1, 1)
    assert math.exp(best.log_joint) == near(4.246226825e-05)
    hmm.fit(NUMBERS, max_iter=1, tol=0.0)
    assert hmm.initial[0] == near(0.7790019219)
    assert hmm.transition == near(np.array([[0.4703163252, 0.5296836748], [0.4173972693, 0.5826027307]]))
    assert hmm.emission.mean == near(np.array([0.3389805418, 2.496034654]))
    assert hmm.emission.sd**2 == near(np.array([0.4950031473, 1.271777954]))
    assert hmm.fit_report.log_likelihood == near(-7.934145921)


def test_C139_O46_two_alphabets():
    """O46: one hidden state, two currencies."""
    moves = pgm.Categorical([[0.7, 0.3], [0.5, 0.5], [0.1, 0.9]], ["up", "down"])
    hmm = urns(emission=pgm.Product([pgm.Categorical(URNS, COLOURS), moves]))
    seen = list(zip(SEEN, ["up", "up", "down", "up", "down"], strict=True))
    assert math.exp(hmm.score(seen)) == near(4.708599743e-05)
    assert math.exp(hmm.score([[None, move] for _, move in seen])) == near(0.0231308398)
    best = hmm.decode(seen)
    assert best.path == ("S1", "S1", "S3", "S3", "S3")
    assert math.exp(best.log_joint) == near(7.62048e-06)
    assert hmm.smooth(seen).values[0] == near(np.array([0.9598467839, 0.0346803264, 0.005472889735]))
    assert hmm.smooth(seen).values[4] == near(np.array([0.06382674859, 0.4111019478, 0.5250713036]))


def test_C104_gaussian_mixtures():
    """T22: the weights of components are those of the state."""
    shares = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    hmm = pgm.HMM(*TWO, pgm.GaussianMixture(shares, mean=[[0, 2, 4]] * 2, sd=1.0))
    assert hmm.score(NUMBERS) == near(-9.581910126)
    first = [0.7852995268, 0.4055705998, 0.3219880743, 0.7793926696, 0.7301902458]
    assert hmm.smooth(NUMBERS).values[:, 0] == near(np.array(first))
    hmm.fit(NUMBERS, max_iter=1, tol=0.0)
    stepped = [[0.6950775118, 0.2254064529, 0.07951603531], [0.184446334, 0.3954241546, 0.4201295114]]
    assert hmm.emission.weights == near(np.array(stepped))


def test_C106_multivariate_m_step():
    rows = np.array([[0, 0], [1, 2], [3, 3], [4, 2]], float)
    one = pgm.Gaussian(dim=2)
    gamma = np.array([0.9, 0.8, 0.3, 0.1])
    found = one.fitted(one.statistics(rows, np.column_stack([gamma, 1 - gamma])))
    assert found.mean[0] == near([1, 1.285714286])
    assert found.covariance[0] == near(np.array([[1.428571429, 1.142857143], [1.142857143, 1.346938776]]))


# --- topologies, O39 and O42 ---


def left_to_right() -> pgm.HMM:
    moves = [[0.5, 0.3, 0.2, 0], [0, 0.5, 0.3, 0.2], [0, 0, 0.6, 0.4], [0, 0, 0, 1]]
    emitted = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.4, 0.3, 0.3]]
    return pgm.HMM([1, 0, 0, 0], moves, pgm.Categorical(emitted, [1, 2, 3]), states=[1, 2, 3, 4])


def test_C118_arcs_that_are_missing_stay_missing():
    mask = pgm.LeftToRight(max_jump=2).mask(4)
    assert mask.sum() == 9
    paths = [(0, *p) for p in itertools.product(range(4), repeat=4)]
    assert sum(all(mask[a, b] for a, b in itertools.pairwise(path)) for path in paths) == 31
    hmm = left_to_right().fit([[1, 1, 2, 3, 3], [1, 2, 2, 3, 1]], max_iter=1, tol=0.0)
    moves = [
        [0.3560794077, 0.5587441133, 0.08517647903, 0],
        [0, 0.3460603529, 0.4728623213, 0.1810773257],
        [0, 0, 0.6165217565, 0.3834782435],
        [0, 0, 0, 1],
    ]
    assert hmm.transition == near(np.array(moves))
    assert (hmm.transition[~mask] == 0).all()
    assert math.exp(hmm.score([1, 1, 2, 3, 3])) == near(0.05127796283)


def test_C119_O39_left_to_right():
    hmm, seen = left_to_right(), [1, 1, 2, 3, 3]
    assert math.exp(hmm.score(seen)) == near(15879 / 781250)
    assert hmm.filter(seen).values[-1, 3] * 0.02032512 == near(0.005697408)
    best = hmm.decode(seen)
    assert (best.path, math.exp(best.log_joint)) == ((1, 1, 2, 3, 3), near(0.00884736))


def test_C123_parallel_pronunciations():
    """O42: two ways to say a word are two blocks; the start chooses one."""
    moves = np.zeros((5, 5))
    moves[0, :2] = moves[2, 2:4] = moves[3, 3:5] = 0.5
    moves[1, 1] = moves[4, 4] = 1.0
    emitted = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.2, 0.6, 0.2]]
    word = pgm.HMM([0.7, 0, 0.3, 0, 0], moves, pgm.Categorical(emitted, [1, 2, 3]))
    assert math.exp(word.score([1, 3, 2, 2])) == near(0.04444125)
    assert word.smooth([1, 3, 2, 2]).values[0, 2] == near(0.380980508)


def test_C121_O41_two_words_are_told_apart():
    """O41: the posterior of a class from the likelihoods of its model."""
    other = urns(initial=[0.2, 0.2, 0.6], transition=[[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    assert math.exp(other.score(SEEN)) == near(0.000532532)
    words = pgm.HMMClassifier.of({1: urns(), 2: other}, class_prior=[0.3, 0.7])
    assert words.predict_proba([SEEN])[0] == near([0.4533805228, 0.5466194772])
    assert words.predict([SEEN]).tolist() == [2]


# --- traps: what is printed elsewhere, and what holds ---


def forwards_and_backwards() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scaled alpha and beta of O29, and the factors, as the equations have them."""
    hmm, codes = urns(), [COLOURS.index(symbol) for symbol in SEEN]
    alpha, c = np.zeros((5, 3)), np.zeros(5)
    for t, m in enumerate(codes):
        ahead = hmm.initial if t == 0 else alpha[t - 1] @ hmm.transition
        alpha[t] = ahead * np.array(URNS)[:, m]
        c[t] = 1.0 / alpha[t].sum()
        alpha[t] *= c[t]
    beta = np.zeros((5, 3))
    beta[4] = c[4]
    for t in range(3, -1, -1):
        beta[t] = c[t] * (hmm.transition @ (np.array(URNS)[:, codes[t + 1]] * beta[t + 1]))
    return alpha, beta, c


def test_T15_beta_is_given_the_state():
    """Weighed by the first state and its symbol it sums to P(O); by itself it is not a joint probability."""
    beta = np.ones(3)
    for symbol in SEEN[:0:-1]:
        beta = np.array(MOVES) @ (np.array(URNS)[:, COLOURS.index(symbol)] * beta)
    assert np.array(START) * np.array(URNS)[:, 0] @ beta == near(math.exp(urns().score(SEEN)))
    assert beta.sum() != pytest.approx(math.exp(urns().score(SEEN)))


def test_T17_scaled_sums():
    alpha, beta, c = forwards_and_backwards()
    assert urns().filter(SEEN).values == near(alpha)
    assert urns().score(SEEN, by="step") == near(-np.log(c))
    assert urns().smooth(SEEN).values == near(alpha * beta / c[:, None])


def test_T18_alpha_times_beta_is_the_joint():
    """P(O, state): its sum over the states is P(O) in each step, not one."""
    alpha, beta, c = forwards_and_backwards()
    until, after = np.cumprod(1.0 / c), np.cumprod((1.0 / c)[::-1])[::-1]
    joint = (alpha * until[:, None]) * (beta * after[:, None])
    assert joint.sum(axis=1) == near(np.full(5, math.exp(urns().score(SEEN))))


def test_T20_pairs_end_one_step_before():
    found = urns().smooth(SEEN, pairs=True)
    assert found.pairs.shape == (4, 3, 3)
    assert found.pairs.sum(axis=2) == near(found.values[:4])
    learned = urns().fit(SEEN, max_iter=1, tol=0.0)
    moves = found.pairs.sum(axis=0) / found.values[:4].sum(axis=0)[:, None]
    assert learned.transition == near(moves)
    symbols = np.array(SEEN)[:, None] == np.array(COLOURS)
    emitted = found.values.T @ symbols / found.values.sum(axis=0)[:, None]
    assert learned.emission.p == near(emitted)


CONTINUOUS = [0.5, 2.5, 3.5, -0.5, 1.0]


def test_C103_a_codebook_before_symbols():
    """O33: indices 1, 2, 3, 1, 1 of three reference vectors."""
    book = pgm.Codebook([0.0, 2.0, 4.0], [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    hmm = pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], book)
    assert (book.codes(CONTINUOUS) + 1).tolist() == [1, 2, 3, 1, 1]
    assert book.error(CONTINUOUS) == near(2.0)
    assert math.exp(hmm.score(CONTINUOUS)) == near(0.004392616)
    first = hmm.smooth(CONTINUOUS).values[:, 0]
    assert first == near([0.8811496384, 0.4753495411, 0.3080183654, 0.8575008605, 0.8987109276])


def test_T22_components_are_weighed_by_state():
    """O33: printed without a state, the emission would not depend on it; shared means, weights by state."""
    weights = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    shared = pgm.GaussianMixture(weights, mean=[0.0, 2.0, 4.0], sd=1.0)
    hmm = pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], shared)
    assert hmm.score(CONTINUOUS) == near(-9.581910126)
    hmm.fit(CONTINUOUS, max_iter=1, tol=0.0)
    assert hmm.emission.weights == near(
        np.array([[0.6950775118, 0.2254064529, 0.07951603531], [0.184446334, 0.3954241546, 0.4201295114]])
    )
    assert hmm.emission.mean[0] == near([0.2896880341, 1.960314958, 3.190283055])
    assert np.array_equal(hmm.emission.mean[0], hmm.emission.mean[1])
    literal = pgm.GaussianMixture([[0.4, 0.3, 0.3]] * 2, mean=[0.0, 2.0, 4.0], sd=1.0)
    without = pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], literal)
    assert math.exp(without.score(CONTINUOUS)) == near(9.845193414e-05)


class Network:
    """P(S1 | x) by a table, as a classifier of frames would say it."""

    classes_ = np.array(["S1", "S2"])
    n_features_in_ = 1

    def predict_proba(self, rows):
        p = np.array([0.9, 0.6, 0.3, 0.2])[np.asarray(rows)[:, 0].astype(int)]
        return np.column_stack([p, 1 - p])


def test_C126_a_network_as_scaled_likelihood():
    """O33: posterior over prior; without the division the posteriors are others."""
    frames = [[0], [1], [2], [3]]
    hmm = pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], pgm.ClassifierEmission(Network(), [0.6, 0.4]))
    assert math.exp(hmm.score(frames)) == near(1.604166667)
    first = hmm.smooth(frames).values[:, 0]
    assert first == near([0.8649350649, 0.4727272727, 0.1363636364, 0.07272727273])
    best = hmm.decode(frames)
    assert best.path == ("S1", "S2", "S2", "S2")
    assert math.exp(best.log_joint) * 0.6 * 0.4**3 == near(0.6048 * 0.6 * 0.4**3)
    plain = pgm.ClassifierEmission(Network(), [0.5, 0.5])
    raw = pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], plain)
    assert raw.smooth(frames).values[:, 0] == near([0.9247701799, 0.6220824215, 0.2443598389, 0.1344767303])


def growing() -> tuple[pgm.HMM, list[np.ndarray], list[np.ndarray]]:
    """O40: a model of three states, and sequences drawn from it to learn from and to compare by."""
    emitted = [[0.85, 0.05, 0.05, 0.05], [0.05, 0.85, 0.05, 0.05], [0.05, 0.05, 0.45, 0.45]]
    truth = pgm.HMM([1 / 3] * 3, 0.7 * np.eye(3) + 0.1, pgm.Categorical(emitted))
    learn = [one.observations for one in truth.sample(40, sequences=20, seed=40)]
    return truth, learn, [one.observations for one in truth.sample(40, sequences=200, seed=41)]


def test_C120_O40_three_states_by_held_out_sequences():
    truth, learn, held = growing()
    symbols = pgm.Categorical(symbols=[0, 1, 2, 3])
    found = pgm.select_states(
        learn, emission=symbols, n_states=range(1, 6), score="validation", validation=held, starts=4, seed=0
    )
    assert found.n_states == 3
    logs = [one.log_likelihood for one in found.candidates]
    assert logs == sorted(logs)
    best = found.best.validation
    assert best is not None
    assert best / 8000 == pytest.approx(truth.score(held) / 8000, abs=0.02)


def test_C140_states_are_split_while_that_helps():
    _, learn, held = growing()
    symbols = pgm.Categorical(symbols=[0, 1, 2, 3])
    found = pgm.select_states(
        learn, emission=symbols, score="validation", validation=held, search="split", seed=0
    )
    assert found.n_states == 3
    assert [one.n_states for one in found.candidates] == [1, 2, 3, 4]  # four are tried, and are no better


def test_C122_gradient_of_the_conditional_likelihood():
    """O41: what is expected of a symbol in a state counts by how far the class is off."""

    def log_of_class(first: np.ndarray, second: np.ndarray) -> float:
        # `first` and `second` are factors of entries of B: rows that do not sum to one are no Categorical
        logs = []
        for hmm, by in ((urns(), first), (other, second)):
            p, rows = hmm.initial, (np.array(URNS) * by).T
            for t, symbol in enumerate(SEEN):
                p = (p if t == 0 else p @ hmm.transition) * rows[COLOURS.index(symbol)]
            logs.append(math.log(p.sum()))
        joint = np.array(logs) + np.log([0.3, 0.7])
        return float(joint[0] - np.logaddexp(*joint))

    other = urns(initial=[0.2, 0.2, 0.6], transition=[[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    words = pgm.HMMClassifier.of({1: urns(), 2: other}, class_prior=[0.3, 0.7])
    assert words.predict_log_proba([SEEN])[0, 0] == near(-0.7910234998)
    claim = words.predict_proba([SEEN])[0]
    red = np.array(SEEN) == "red"
    slopes = [
        (1.0 - claim[0]) * urns().smooth(SEEN).values[red, 0].sum(),
        (0.0 - claim[1]) * other.smooth(SEEN).values[red, 2].sum(),
    ]
    assert slopes == near([0.8676822578, -0.2477567879])
    for slope, (word, state) in zip(slopes, [(0, 0), (1, 2)], strict=True):
        ends = []
        for step in (-1e-5, 1e-5):
            by = [np.ones((3, 4)), np.ones((3, 4))]
            by[word][state, 0] = math.exp(step)
            ends.append(log_of_class(*by))
        assert (ends[1] - ends[0]) / 2e-5 == pytest.approx(slope, abs=1e-8)


def test_C84_states_are_drawn():
    """O28: a hundred sequences of a thousand steps, and what is counted in them."""
    chain = pgm.HMM(START, MOVES, pgm.Categorical(np.eye(3)))
    states = np.array([one.states for one in chain.sample(1000, sequences=100, seed=0)])
    counts = np.zeros((3, 3))
    np.add.at(counts, (states[:, :-1].ravel(), states[:, 1:].ravel()), 1)
    errors = np.abs(counts / counts.sum(axis=1, keepdims=True) - MOVES)
    limit = np.array([
        [0.003630403678, 0.003395931685, 0.003395931685],
        [0.002423160752, 0.002967753704, 0.002423160752],
        [0.001285754405, 0.001285754405, 0.001714339207],
    ])  # fmt: skip
    assert (errors < 4 * limit).all()
    first = np.bincount(states[:, 0], minlength=3) / 100
    assert (np.abs(first - START) < 4 * np.array([0.05, 0.04, 0.04582575695])).all()


# --- pictures ---


def test_C81_the_automaton_has_its_states_and_arcs():
    ax = urns().plot()
    shown = [text.get_text() for text in ax.texts]
    assert [name for name in shown if name.startswith("S")] == ["S1", "S2", "S3"]
    assert sorted(float(x) for x in shown if x[0] == "0") == sorted(p for row in MOVES for p in row)
    assert [x for x in shown if x.startswith("first")] == ["first 0.5", "first 0.2", "first 0.3"]


def test_C89_the_trellis_has_its_path():
    ax = urns().decode(SEEN).plot()
    (path,) = (line for line in ax.lines if len(line.get_xdata()) == 5)
    assert path.get_ydata().tolist() == [0, 0, 2, 2, 2]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["S1", "S2", "S3"]
