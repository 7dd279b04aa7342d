"""Worked numbers of the catalogue on hidden Markov models as networks: C.md, O22, O29, O30, O36 and O46."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pgm
from tests.known import book
from tests.known.book import near

START = [0.5, 0.2, 0.3]
MOVES = [[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]
RED, BLUE, GREEN, YELLOW = range(4)
COLOURS = [[0.5, 0.2, 0.2, 0.1], [0.1, 0.6, 0.1, 0.2], [0.1, 0.2, 0.5, 0.2]]
SEEN = {"o1": RED, "o2": RED, "o3": GREEN, "o4": BLUE, "o5": YELLOW}
EXACT = ["exact", "elimination", "loopy"]  # on a tree forwards and backwards is what messages do


def balls(steps: int = 5) -> pgm.BayesianNetwork:
    return book.hmm(START, MOVES, {"o": COLOURS}, steps)


def until(t: int) -> dict[str, int]:
    return {name: o for name, o in SEEN.items() if int(name[1:]) <= t}


# --- C107: what forward-backward and Viterbi give, by a network ---


@pytest.mark.parametrize("engine", EXACT)
def test_C107_smoothing(engine):
    net = balls()
    assert net.probability(SEEN, engine=engine) == near(32207 / 31250000)
    gamma = [
        [0.8838722948, 0.04724749278, 0.06888021238],
        [0.7034883721, 0.09983078213, 0.1966808458],
        [0.2661335269, 0.1718787841, 0.561987689],
        [0.1146489894, 0.4303866396, 0.4549643711],
        [0.1004284783, 0.3778087838, 0.5217627379],
    ]
    found = net.marginals(SEEN, engine=engine)
    for t, row in enumerate(gamma, 1):
        assert found[f"q{t}"].values == near(row)


@pytest.mark.parametrize("engine", EXACT)
def test_C107_filtering_and_prediction(engine):
    net = balls(6)
    filtered = [
        [0.8333333333, 0.06666666667, 0.1],
        [0.7348901099, 0.1236263736, 0.1414835165],
        [0.2406276379, 0.1116242117, 0.6477481504],
        [0.1302322136, 0.4345647052, 0.4352030811],
        [0.1004284783, 0.3778087838, 0.5217627379],
    ]
    scales = [3.333333333, 4.120879121, 3.614876608, 3.551450983, 5.502142391]
    for t, (row, c) in enumerate(zip(filtered, scales, strict=True), 1):
        assert net.query(f"q{t}", until(t), engine=engine).values == near(row)
        assert 1 / net.probability({f"o{t}": SEEN[f"o{t}"]}, given=until(t - 1), engine=engine) == near(c)
    assert net.query("q6", SEEN, engine=engine).values == near([0.1679094219, 0.3089900876, 0.5231004906])
    assert net.query("o6", SEEN, engine=engine).values == near(
        [0.1671637687, 0.323596035, 0.3260311384, 0.1832090578]
    )
    assert net.query("q3", until(4), engine=engine).values == near([0.2734647236, 0.1744282832, 0.5521069932])
    assert net.query("q3", {"q2": 1, "q4": 3, "o3": GREEN}, engine=engine).values == near([0.16, 0.04, 0.8])


def test_C107_forwards_and_backwards():
    """alpha_t = P(O_1..t, q_t) and beta_t = P(O_t+1..T | q_t), as they stand in the table of O29."""
    net = balls()
    alpha = {1: (0.25, 0.02, 0.03), 3: (0.004846, 0.002248, 0.013045), 4: (0.0007385, 0.00246426, 0.00246788)}
    beta = {1: (0.00364376, 0.00243472, 0.00236632), 3: (0.0566, 0.0788, 0.0444), 4: (0.16, 0.18, 0.19)}
    for t in (1, 3, 4):
        later = {name: o for name, o in SEEN.items() if name not in until(t)}
        for i in (1, 2, 3):
            assert net.probability({**until(t), f"q{t}": i}) == near(alpha[t][i - 1])
            assert net.probability(later, given={f"q{t}": i}) == near(beta[t][i - 1])


def test_C107_pairs_of_states():
    net = balls()
    xi = {
        1: [
            [0.6574657683, 0.08319231844, 0.1432142081],
            [0.02629863073, 0.01331077095, 0.007638091098],
            [0.01972397305, 0.003327692738, 0.04582854659],
        ],
        3: [
            [0.06018567392, 0.1523449871, 0.05360286584],
            [0.0139596982, 0.1413419443, 0.01657714162],
            [0.04050361723, 0.1366997081, 0.3847843636],
        ],
    }
    for t, rows in xi.items():
        assert net.query([f"q{t}", f"q{t + 1}"], SEEN).values == near(np.array(rows))


@pytest.mark.parametrize("engine", ["exact", "loopy"])
def test_C107_viterbi(engine):
    best = balls().map(SEEN, engine=engine)
    assert [best[f"q{t}"] for t in range(1, 6)] == [1, 1, 3, 3, 3]
    assert math.exp(best.log_joint) == near(3 / 15625)
    assert best.probability == near(0.1862949048)


def test_C107_the_paths_after_the_best():
    net = balls()
    paths = net.k_best(SEEN, k=6)
    found = ["".join(str(path[f"q{t}"]) for t in range(1, 6)) for path in paths]
    assert found[:4] == ["11333", "11122", "13333", "11222"]
    assert [math.exp(path.log_joint) for path in paths[:5]] == near(
        [0.000192, 8.64e-05, 7.68e-05, 6.48e-05, 5.4e-05]
    )
    # The best path through each state.
    for t, most in ((1, (0.000192, 7.68e-06, 2.4576e-05)), (3, (8.64e-05, 6.48e-05, 0.000192))):
        through = [math.exp(net.map({**SEEN, f"q{t}": i}).log_joint) for i in (1, 2, 3)]
        assert through == near(most, 9)


def test_C107_all_sequences_together_are_certain():
    sequences = np.array(list(itertools.product(range(4), repeat=5)))
    frame = {f"o{t}": sequences[:, t - 1] for t in range(1, 6)}
    each = np.exp(balls().log_likelihood(frame))
    assert each.sum() == near(1.0)
    assert each[np.flatnonzero((sequences == [RED, RED, GREEN, BLUE, YELLOW]).all(axis=1))] == near(
        [0.001030624]
    )


def test_C107_five_thousand_steps():
    """O29, the sequence a thousand times: what the plain recursion would lose below 1e-308."""
    net = balls(5000)
    seen = {f"o{t + 1}": SEEN[f"o{t % 5 + 1}"] for t in range(5000)}
    assert net.log_probability(seen) == near(-7594.9052325339, 13)
    assert net.query("q5000", seen).values == near([0.09876561619, 0.3686313532, 0.5326030306])


def test_C107_what_is_seen_is_no_markov_chain():
    """O30 (iii): the hidden state before makes the future independent, what was seen before does not."""
    net = balls(3)
    assert net.independent("q3", "q1", given="q2")
    assert not net.independent("o3", "o1", given="o2")
    assert not net.independent("q3", "q1", given=["o1", "o2", "o3"])
    assert net.query("o3", {"o1": RED, "o2": RED})[GREEN] == near(0.2766346154)
    assert net.query("o3", {"o2": RED})[GREEN] == near(5959 / 20800)
    assert net.query("o3")[GREEN] == near(0.3151)
    assert net.query("q3", {"q1": 1, "q2": 2}).values == near([0.2, 0.6, 0.2])


def test_C107_states_one_by_one_may_be_no_path():
    """O30 (i): the likeliest states of each step, S1 and S2, cannot follow each other."""
    moves = [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    net = book.hmm([0.4, 0.35, 0.25], moves, {"o": [[1.0, 0.0]] * 3}, 2)
    seen = {"o1": 0, "o2": 0}
    assert net.query("q1", seen).values == near([0.4, 0.35, 0.25])
    assert net.query("q2", seen).values == near([0.2, 0.6, 0.2])
    assert [net.query(f"q{t}", seen).mode() for t in (1, 2)] == [1, 2]
    assert net.probability({"q1": 1, "q2": 2}) == 0.0
    best = net.map(seen)
    assert (best["q1"], best["q2"], best.probability) == (2, 2, near(0.35))


def test_C107_a_gap_is_summed_out():
    """O30 (iv)."""
    net = balls()
    rest = {name: o for name, o in SEEN.items() if name != "o3"}
    assert net.probability(rest) == near(0.004301238)
    assert net.query("o3", rest).values == near([0.2275370486, 0.3647361992, 0.2396110143, 0.1681157378])
    frame = {name: [o, o] for name, o in SEEN.items()} | {"o3": [GREEN, None]}
    assert np.exp(balls().log_likelihood(frame)) == near([0.001030624, 0.004301238])


def test_C107_a_state_may_be_two():
    """O30 (v): S3 as two states of the same kind, entered with the shares .3 and .7."""
    split = [[*row[:2], 0.3 * row[2], 0.7 * row[2]] for row in [*MOVES, MOVES[2]]]
    net = book.hmm([0.5, 0.2, 0.09, 0.21], split, {"o": [*COLOURS, COLOURS[2]]}, 5)
    assert net.probability(SEEN) == near(0.001030624)
    q5 = net.query("q5", SEEN)
    assert q5[3] + q5[4] == near(0.5217627379)
    assert q5[3] == near(0.3 * 0.5217627379)


# --- C133: without memory it is clustering ---


def test_C133_a_chain_without_memory_clusters_each_row_by_itself():
    """O30 (ii): with every row of A the initial distribution, P(O) is the product of (.3, .28, .27, .15)."""
    chain = book.hmm(START, [START] * 3, {"o": COLOURS}, 5)
    mixture = book.hmm(START, [], {"o": COLOURS}, 1)
    assert chain.probability(SEEN) == near(0.0010206)
    assert mixture.query("o1").values == near([0.3, 0.28, 0.27, 0.15])
    assert mixture.score({"o1": list(SEEN.values())}) == near(math.log(0.0010206), 9)
    found = chain.marginals(SEEN)
    for t, o in enumerate(SEEN.values(), 1):
        share = [p * row[o] for p, row in zip(START, COLOURS, strict=True)]
        assert found[f"q{t}"].values == near([p / sum(share) for p in share])
        assert mixture.query("q1", {"o1": o}).values == near([p / sum(share) for p in share])
    # With memory the cluster of one step tells about that of the next.
    assert balls().query("q2", {"q1": 3}).values == near([0.1, 0.1, 0.8])
    assert chain.query("q2", {"q1": 3}).values == near(START)
    assert balls().probability(SEEN) == near(0.001030624)


# --- C75: one hidden class, two kinds of signs ---


def test_C75_two_alphabets_of_one_state():
    """O46: the chain of O29 also says up or down at each step."""
    net = book.hmm(START, MOVES, {"o": COLOURS, "d": [[0.7, 0.3], [0.5, 0.5], [0.1, 0.9]]}, 5)
    directions = {"d1": 0, "d2": 0, "d3": 1, "d4": 0, "d5": 1}
    both = {**SEEN, **directions}
    assert net.probability(both) == near(4.708599743e-05)
    assert net.probability(directions) == near(0.0231308398, 9)
    assert net.probability(SEEN) == near(0.001030624)
    best = net.map(both)
    assert [best[f"q{t}"] for t in range(1, 6)] == [1, 1, 3, 3, 3]
    assert math.exp(best.log_joint) == near(7.62048e-06)
    assert net.query("q1", both).values == near([0.9598467839, 0.0346803264, 0.005472889735], 9)
    assert net.query("q5", both).values == near([0.06382674859, 0.4111019478, 0.5250713036])
    assert net.independent("o2", "d2", given="q2")
    assert not net.independent("o2", "d2")


def test_C75_a_word_and_a_number_of_one_class():
    """The clusters of O18 (.6 N(0, 1) + .4 N(3, 2)) also have words: each sign alone, then both."""
    net = pgm.BayesianNetwork()
    net.add("Z", [0.6, 0.4], states=[1, 2])
    net.add("region", {1: pgm.Gaussian(0.0, 1.0), 2: pgm.Gaussian(3.0, math.sqrt(2))}, parents=["Z"])
    net.add("word", {1: [0.6, 0.3, 0.1], 2: [0.1, 0.2, 0.7]}, parents=["Z"], states=["sky", "sea", "tiger"])
    p = 0.09026025852  # P(Z = 1 | region = 2.5)
    assert net.query("Z", {"region": 2.5})[1] == near(p)
    assert net.query("word", {"region": 2.5})["tiger"] == near(0.1 * p + 0.7 * (1 - p))
    assert net.query("Z", {"word": "sky"})[1] == near(0.36 / 0.40)
    assert net.query("region", {"word": "sky"}).mean == near(0.1 * 3.0)
    assert net.query("Z", {"region": 2.5, "word": "sky"})[1] == near(0.6 * p / (0.6 * p + 0.1 * (1 - p)))


# --- C113: families ---


def meiosis() -> pgm.BayesianNetwork:
    """O36: at three loci in turn which of a parent's two copies the child has; neighbours differ by .1."""
    copies = {"f": (("A", "a"), ("b", "B"), ("D", "d")), "m": (("a", "A"), ("B", "b"), ("d", "d"))}
    net = pgm.BayesianNetwork("meiosis")
    for parent in ("f", "m"):
        net.add(f"{parent}1", [0.5, 0.5], states=[1, 2])
        for locus in (2, 3):
            net.add(
                f"{parent}{locus}",
                {1: [0.9, 0.1], 2: [0.1, 0.9]},
                parents=[f"{parent}{locus - 1}"],
                states=[1, 2],
            )
    for locus, (father, mother) in enumerate(zip(*copies.values(), strict=True), 1):

        def child(f: int, m: int, father: tuple[str, str] = father, mother: tuple[str, str] = mother) -> str:
            return "".join(sorted(father[f - 1] + mother[m - 1]))

        net.add(f"child{locus}", pgm.Deterministic(child, parents=[f"f{locus}", f"m{locus}"]))
    return net


def test_C113_meiosis():
    net = meiosis()
    child = {"child1": "Aa", "child2": "BB", "child3": "Dd"}
    assert net.probability(child) == near(0.0045)
    phases = net.k_best(child, k=9)
    found = {
        tuple(path[f"{who}{at}"] for who in "fm" for at in (1, 2, 3)): path.probability for path in phases
    }
    expected = {
        (1, 2, 1, 1, 1, 1): 0.45,
        (1, 2, 1, 1, 1, 2): 0.05,
        (2, 2, 1, 2, 1, 1): 0.45,
        (2, 2, 1, 2, 1, 2): 0.05,
    }
    assert found == near(expected)
    assert net.query("m3", child).values == near([0.9, 0.1])
    assert net.query("f1", child).values == near([0.5, 0.5])
    # The two chains know of each other only by the child.
    assert net.independent(["f1", "f2", "f3"], ["m1", "m2", "m3"])
    assert not net.independent("f1", "m1", given="child1")
    assert net.query("m1", {"child1": "Aa", "f1": 1}).values == near([1.0, 0.0])


def test_C113_the_second_child_of_a_family():
    """O22: one child with aa makes it .3025 for the next, not .01."""
    net = book.pedigree()
    assert net.query("K2")["aa"] == near(0.01)
    assert net.query("K2", {"K1": "aa"})["aa"] == near(0.3025)
    assert net.query("K2", {"K1": "aa", "F": "Aa", "M": "Aa"})["aa"] == near(0.25)
    assert net.query(["F", "M"], {"K1": "aa"})["Aa", "Aa"] == near(0.81)
