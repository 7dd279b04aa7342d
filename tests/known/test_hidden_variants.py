"""Worked numbers of the catalogue on variants of hidden Markov models: C.md, O34 to O37, O42, O44 and O45."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pgm
from tests.known.book import near

CHAINS = {
    "q1": pgm.MarkovChain([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], states=[1, 2]),
    "q2": pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.4, 0.6]], states=[1, 2]),
}


def coins(*ones: float) -> pgm.Categorical:
    """P(1) of each state."""
    return pgm.Categorical([[1.0 - p, p] for p in ones])


# --- several chains, O36, O37 and O44 ---


def test_C112_O36_factorial():
    model = pgm.FactorialHMM(CHAINS, coins(0.1, 0.4, 0.6, 0.95))
    seq = [1, 0, 0, 1]
    assert math.exp(model.score(seq)) == near(0.04391372637)
    best = model.decode(seq)
    assert (best.chain("q1"), best.chain("q2")) == ((2, 2, 2, 2), (1, 1, 1, 1))
    assert math.exp(best.log_joint) == near(0.00429981696)
    found = model.smooth(seq)
    q1, q2 = found.marginal("q1").values[:, 0], found.marginal("q2").values[:, 0]
    assert q1 == near(np.array([0.4539716343, 0.6600369585, 0.6045331627, 0.2353327414]))
    assert q2 == near(np.array([0.3898949814, 0.7540558401, 0.8208450024, 0.7142670264]))
    assert found[0][(1, 1)] == near(0.1132908559)
    assert math.exp(
        model.to_network(4).log_probability({f"observation[{t}]": o for t, o in enumerate(seq)})
    ) == (near(0.04391372637))


def meiosis(recombination: float = 0.1) -> pgm.FactorialHMM:
    """Which grandparent's allele each parent passes on, locus after locus; the child's genotype is seen.

    The genotype depends on the locus, so a locus is read as its number and the alleles that it makes.
    """
    father = [("A", "a"), ("b", "B"), ("D", "d")]
    mother = [("a", "A"), ("B", "b"), ("d", "d")]
    seen = [("Aa",), ("BB",), ("Dd",)]
    same = 1.0 - recombination
    moves = [[same, recombination], [recombination, same]]
    chain = pgm.MarkovChain([0.5, 0.5], moves)
    # What is seen of a locus is which of the four ways of passing on agree with it.
    patterns = {}
    for locus, (genotype,) in enumerate(seen):
        fits = [
            sorted(father[locus][f] + mother[locus][m]) == sorted(genotype) for f in (0, 1) for m in (0, 1)
        ]
        patterns[locus] = fits
    table = np.array([patterns[locus] for locus in range(3)], float).T
    # A column of ones and zeros for each locus, and a last one that makes rows of probabilities.
    rows = np.column_stack([table, 3.0 - table.sum(axis=1)]) / 3.0
    return pgm.FactorialHMM({"father": chain, "mother": chain}, pgm.Categorical(rows))


def test_C113_meiosis_is_two_chains_along_the_loci():
    """Father Aa, bB, Dd, mother aA, Bb, dd, child Aa, BB, Dd: P = .0045, four phases .45, .05, .45, .05."""
    model = meiosis()
    assert math.exp(model.score([0, 1, 2])) * 27.0 == near(0.0045)
    paths = {}
    for path in itertools.product(itertools.product((0, 1), repeat=2), repeat=3):
        p = 0.25
        for before, after in itertools.pairwise(path):
            p *= math.prod(0.9 if a == b else 0.1 for a, b in zip(before, after, strict=True))
        genotypes = [
            {("A", "a")[path[0][0]], ("a", "A")[path[0][1]]} == {"A", "a"},
            ("b", "B")[path[1][0]] + ("B", "b")[path[1][1]] == "BB",
            {("D", "d")[path[2][0]], "d"} == {"D", "d"},
        ]
        if all(genotypes):
            paths[path] = p
    total = sum(paths.values())
    assert total == near(0.0045)
    assert sorted(p / total for p in paths.values()) == near([0.05, 0.05, 0.45, 0.45])
    found = model.smooth([0, 1, 2])
    for t in range(3):
        for name, m in (("father", 0), ("mother", 1)):
            wanted = sum(p for path, p in paths.items() if path[t][m] == 0) / total
            assert found.marginal(name).values[t, 0] == pytest.approx(wanted, abs=1e-12)
    net = model.to_network(3)
    known = {f"observation[{t}]": t for t in range(3)}
    assert math.exp(net.log_probability(known)) * 27.0 == near(0.0045)


def test_C114_O37_coupled_speech_and_lips():
    own = {(1, 1): 0.1, (1, 2): 0.4, (2, 1): 0.6, (2, 2): 0.9}  # P(own next = 2 | own, other)
    audio = [[[1 - own[a, b], own[a, b]] for b in (1, 2)] for a in (1, 2)]
    lips = [[[1 - own[b, a], own[b, a]] for b in (1, 2)] for a in (1, 2)]
    seen = coins(0.2, 0.8)
    model = pgm.CoupledHMM(
        {"audio": [0.7, 0.3], "lips": [0.5, 0.5]},
        {"audio": audio, "lips": lips},
        {"audio": seen, "lips": seen},
        states={"audio": [1, 2], "lips": [1, 2]},
    )
    rows = [[0, 0], [1, 0], [1, 1]]
    assert math.exp(model.score(rows)) == near(0.010955392)
    best = model.decode(rows)
    assert (best.chain("audio"), best.chain("lips")) == ((1, 2, 2), (1, 1, 2))
    assert math.exp(best.log_joint) == near(0.00198180864)
    found = model.smooth(rows)
    a, b = found.marginal("audio").values[:, 1], found.marginal("lips").values[:, 1]
    assert a == near(np.array([0.2267604482, 0.7616393462, 0.7674117001]))
    assert b == near(np.array([0.3150521679, 0.250549136, 0.7010363481]))
    alone = math.exp(model.score([[first, None] for first, _ in rows]))
    assert alone == near(0.124922)
    assert 0.010955392 / alone == near(0.08769785946)
    frame = {"lips": [0, 0, 1], "audio": [0, 1, 1]}
    assert math.exp(model.score(frame)) == near(0.010955392)


@pytest.mark.parametrize(
    ("switch", "p", "shares"),
    [
        (
            pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]]),
            0.04910697597,
            [0.3568570635, 0.5112951527, 0.5545953069, 0.5627753807],
        ),
        ([0.5, 0.5], 0.05554779937, [0.3150360823, 0.5946683824, 0.5545468982, 0.4409649065]),
    ],
)
def test_C115_switching(switch, p, shares):
    model = pgm.SwitchingHMM(CHAINS, switch, {"q1": coins(0.1, 0.7), "q2": coins(0.4, 0.95)})
    seq = [1, 0, 0, 1]
    assert math.exp(model.score(seq)) == near(p)
    assert model.smooth(seq).marginal("switch").values[:, 0] == near(np.array(shares))
    if not isinstance(switch, list):
        q1 = model.smooth(seq).marginal("q1").values[:, 0]
        assert q1 == near(np.array([0.5096754537, 0.5774219208, 0.5259378989, 0.2828629434]))
        best = model.decode(seq)
        assert best.chain("switch") == ("q1",) * 4
        assert (best.chain("q1"), best.chain("q2")) == ((2,) * 4, (1,) * 4)


def test_C131_tree_structured():
    v = {(1, 1): 0.1, (1, 2): 0.6, (2, 1): 0.4, (2, 2): 0.9}  # P(v = 2 | v before, u)
    moves = [[[1 - v[a, u], v[a, u]] for a in (1, 2)] for u in (1, 2)]
    model = pgm.TreeHMM(
        {"u": ([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]]), "v": ([[0.8, 0.2], [0.3, 0.7]], moves)},
        coins(0.1, 0.5, 0.4, 0.9),
        states={"u": [1, 2], "v": [1, 2]},
    )
    seq = [1, 1, 0]
    assert math.exp(model.score(seq)) == near(0.105629655)
    found = model.smooth(seq)
    u, w = found.marginal("u").values[:, 0], found.marginal("v").values[:, 0]
    assert u == near(np.array([0.1398113058, 0.262134341, 0.7378442162]))
    assert w == near(np.array([0.1656163698, 0.1653069869, 0.6861289095]))
    best = model.decode(seq)
    assert (best.chain("u"), best.chain("v")) == ((2, 2, 1), (2, 2, 1))


# --- inputs and past observations, O34 and O35 ---

SWITCHES = [[0.8, 0.2], [0.3, 0.7]]
BY_INPUT = pgm.ByInput({0: coins(0.1, 0.5), 1: coins(0.6, 0.9)})
LINES = pgm.Regression([1.0, -1.0], bias=[0.0, 2.0], variance=[0.25, 0.5])


def test_C108_O34_input_output():
    x = [0, 1, 1, 0]
    model = pgm.InputOutputHMM([0.5, 0.5], SWITCHES, BY_INPUT)
    assert math.exp(model.score(x, inputs=x)) == near(0.2602179)
    best = model.decode(x, inputs=x)
    assert best.path == (0, 0, 0, 0)
    assert math.exp(best.log_joint) == near(0.0746496)
    gamma = [0.5868827625, 0.5067184079, 0.5300642269, 0.6700716976]
    assert model.smooth(x, inputs=x).values[:, 0] == near(np.array(gamma))
    moved = pgm.InputOutputHMM([0.5, 0.5], pgm.ByInput({0: SWITCHES, 1: [[0.4, 0.6], [0.1, 0.9]]}), BY_INPUT)
    assert math.exp(moved.score(x, inputs=x)) == near(0.2312145)
    gamma = [0.5874934314, 0.5079698721, 0.2196531792, 0.2498686285]
    assert moved.smooth(x, inputs=x).values[:, 0] == near(np.array(gamma))


def test_C108_numbers_that_follow_inputs():
    model = pgm.InputOutputHMM([0.5, 0.5], SWITCHES, LINES)
    seq, x = [0.2, 0.8, 1.5, 1.2], [0, 1, 2, 1]
    assert math.exp(model.score(seq, inputs=x)) == near(0.06640724238)
    assert model.score(seq, inputs=x) == near(-2.711949157)
    gamma = [0.9818370063, 0.9161071995, 0.9598004754, 0.8254425879]
    assert model.smooth(seq, inputs=x).values[:, 0] == near(np.array(gamma))
    assert model.decode(seq, inputs=x).path == (0, 0, 0, 0)


def test_C109_O35_markov_mixture_of_experts():
    gate = pgm.Softmax([1.0, 0.5], bias=[-1.0, 1.0])
    model = pgm.InputOutputHMM([0.5, 0.5], gate, LINES)
    seq, x = [0.2, 0.8, 1.5, 1.2], [0, 1, 2, 1]
    assert model.score(seq, inputs=x) == near(-3.301014783)
    gamma = [0.9809593514, 0.8739990218, 0.8652458583, 0.3092923895]
    assert model.smooth(seq, inputs=x).values[:, 0] == near(np.array(gamma))
    ahead = model.forecast(seq, inputs=x, future=[1.5])
    assert ahead.values[0, 1] == near(0.7193511076)
    assert ahead.mean[0] == near(0.7806488924)


def test_C110_a_window_of_inputs():
    """A window is a vector of inputs: those of the rows before, zeros before the first."""
    wide = pgm.Regression([[1.0, 0.3, -0.2], [-1.0, 0.1, 0.4]], bias=[0.0, 2.0], variance=[0.25, 0.5])
    seq, x = [0.2, 0.8, 1.5, 1.2], [0.5, 1.0, 2.0, 1.0]
    windowed = pgm.InputOutputHMM([0.5, 0.5], SWITCHES, wide, window=2)
    by_hand = pgm.InputOutputHMM([0.5, 0.5], SWITCHES, wide)
    rows = [[0.5, 0, 0], [1.0, 0.5, 0], [2.0, 1.0, 0.5], [1.0, 2.0, 1.0]]
    assert windowed.score(seq, inputs=x) == pytest.approx(by_hand.score(seq, inputs=rows), abs=1e-12)


def test_C111_past_observations_as_inputs():
    lines = pgm.Regression([0.9, -0.5], bias=[0.0, 1.0], variance=[0.1, 0.2])
    model = pgm.AutoregressiveHMM([0.5, 0.5], SWITCHES, lines)
    seq = [0.2, 0.3, 0.9, 0.6]
    assert math.exp(model.score(seq, before=0.0)) == near(0.1930931612)
    assert model.score(seq, before=0.0) == near(-1.644582506)
    gamma = [0.8766267544, 0.804806054, 0.3823764384, 0.5165664647]
    assert model.smooth(seq, before=0.0).values[:, 0] == near(np.array(gamma))
    known = {f"observation[{t}]": y for t, y in enumerate(seq)}
    assert model.to_network(4, before=0.0).log_probability(known) == near(-1.644582506)


# --- parts that make a whole, O42 ---


def test_C123_parallel_pronunciations_are_a_choice():
    path_a = pgm.part_of(
        "A", pgm.Categorical([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]]), transition=[[0.5, 0.5], [0.0, 1.0]]
    )
    path_b = pgm.part_of(
        "B",
        pgm.Categorical([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.2, 0.6, 0.2]]),
        transition=[[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]],
    )
    word = pgm.choice_of([path_a, path_b], [0.7, 0.3]).unfinished()
    seq = [0, 2, 1, 1]
    assert math.exp(word.score(seq)) == near(0.04444125)
    assert word.smooth(seq).values[0, 2:].sum() == near(0.380980508)


def test_C125_O42_phones_make_words_and_words_sentences():
    a = pgm.part_of("a", pgm.Categorical([[0.9, 0.1]], symbols=["x", "y"]), stay=0.5)
    b = pgm.part_of("b", pgm.Categorical([[0.2, 0.8]], symbols=["x", "y"]), stay=0.5)
    words = [pgm.sequence_of(a, b, name="W1"), pgm.sequence_of(b, a, name="W2")]
    speech = pgm.grammar_of(words, [0.6, 0.4], [[0.3, 0.7], [0.8, 0.2]])
    seq = list("xyyxy")
    assert math.exp(speech.score(seq)) == near(0.00642375)
    assert math.exp(speech.unfinished().score(seq)) == near(0.026402)
    best = speech.decode(seq)
    assert math.exp(best.log_joint) == near(0.0023328)
    assert best.path == (("W1", "a", 0), ("W1", "b", 0), ("W1", "b", 0), ("W1", "a", 0), ("W1", "b", 0))
    known = {f"observation[{t}]": o for t, o in enumerate(seq)} | {"ends[4]": True}
    assert math.exp(speech.to_network(5).log_probability(known)) == near(0.00642375)


# --- arcs that emit, and urns, O32 and O45 ---


def test_C137_arc_emission_is_a_chain_of_pairs():
    emission = pgm.Categorical([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
    model = pgm.MealyHMM([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], emission)
    assert math.exp(model.score([0, 1, 0])) == near(0.0797922)
    move = np.zeros((4, 4))
    for i, j, k in itertools.product((0, 1), repeat=3):
        move[2 * i + j, 2 * j + k] = model.transition[j, k]
    pairs = pgm.HMM(np.outer([0.6, 0.4], [1, 1]).ravel() * model.transition.ravel(), move, emission)
    assert pairs.score([0, 1, 0]) == pytest.approx(model.score([0, 1, 0]), abs=1e-12)


def test_C138_O45_urns_without_putting_back():
    model = pgm.UrnHMM([0.5, 0.5], [[0.6, 0.4], [0.3, 0.7]], {1: {"R": 2, "B": 1}, 2: {"R": 1, "B": 2}})
    assert math.exp(model.score(list("RRB"))) == near(133 / 900)
    put_back = pgm.HMM(
        [0.5, 0.5], [[0.6, 0.4], [0.3, 0.7]], pgm.Categorical([[2 / 3, 1 / 3], [1 / 3, 2 / 3]], ["R", "B"])
    )
    assert math.exp(put_back.score(list("RRB"))) == near(1 / 8)
    paths = model.sample(20_000, given=list("RRB"), seed=0)
    codes = np.array([one.codes for one in paths])
    for path, p in [((0, 0, 0), 0.4060150376), ((0, 0, 1), 0.1804511278), ((0, 1, 1), 0.2105263158)]:
        assert (codes == path).all(axis=1).mean() == pytest.approx(p, abs=0.015)
