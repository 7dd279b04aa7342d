"""Traps T16, T24, T27 of the catalogue, C.md, and rows C124, C127, C129, C130: systems around sequences."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

import pgm
from tests.known.book import near
from tests.known.test_sequence_traps import COLOURS, MOVES, SEEN, START, alpha, balls, beta


def test_T16_what_is_printed_as_y_is_the_posterior_of_the_state():
    """It sums to one in each step, decodes the single steps, and weighs what is learned of colours."""
    found = balls().smooth(SEEN).values
    by_paths = np.zeros((5, 3))
    for path in itertools.product(range(3), repeat=5):
        p = START[path[0]] * math.prod(MOVES[a][b] for a, b in itertools.pairwise(path))
        p *= math.prod(COLOURS[q][o] for q, o in zip(path, SEEN, strict=True))
        by_paths[range(5), path] += p
    gamma = by_paths / by_paths[0].sum()
    assert found == near(gamma)
    assert found.sum(axis=1) == near(np.ones(5))
    assert found[2] == near(alpha(2) * beta(2) / (alpha(2) @ beta(2)))
    assert balls().decode(SEEN, pointwise=True).path == tuple(gamma.argmax(axis=1).tolist())
    learned = balls().fit(SEEN, max_iter=1)
    assert learned.initial == near(gamma[0])
    red = gamma[:2].sum(axis=0) / gamma.sum(axis=0)
    assert learned.emission.p[:, 0] == near(red)


def test_T24_one_input_of_a_step_both_emits_and_moves_on():
    """x_t drives q_t -> q_(t+1) and emits O_t: the last input moves nothing, the first already does."""
    moves = {0: np.array([[0.8, 0.2], [0.3, 0.7]]), 1: np.array([[0.4, 0.6], [0.1, 0.9]])}
    heads = {0: [0.1, 0.5], 1: [0.6, 0.9]}
    emission = pgm.ByInput({x: pgm.Categorical([[1 - p, p] for p in ps]) for x, ps in heads.items()})
    model = pgm.InputOutputHMM([0.5, 0.5], pgm.ByInput(moves), emission)
    for seq in itertools.product([0, 1], repeat=3):
        for x in itertools.product([0, 1], repeat=3):
            total = 0.0
            for path in itertools.product([0, 1], repeat=3):
                p = 0.5 * moves[x[0]][path[0], path[1]] * moves[x[1]][path[1], path[2]]
                for q, o, u in zip(path, seq, x, strict=True):
                    p *= heads[u][q] if o else 1.0 - heads[u][q]
                total += p
            assert math.exp(model.score(list(seq), inputs=list(x))) == near(total)


def test_T27_what_an_urn_gives_depends_on_what_was_drawn_and_not_on_the_step():
    """Both histories have two balls: the third is surely blue after one, surely red after the other."""
    one = pgm.UrnHMM([1.0], [[1.0]], {"urn": {"R": 2, "B": 1}})
    third = {"RR": "B", "RB": "R", "BR": "R"}
    for before, after in third.items():
        assert math.exp(one.score(list(before + after))) == near(1 / 3)  # each order of three balls
    with pytest.raises(pgm.ImpossibleEvidence):
        one.score(list("RRR"))
    # Two urns: all paths, each ball drawn from what is left.
    urns = {1: {"R": 2, "B": 1}, 2: {"R": 1, "B": 2}}
    move = {(1, 1): 0.6, (1, 2): 0.4, (2, 1): 0.3, (2, 2): 0.7}
    two = pgm.UrnHMM([0.5, 0.5], [[0.6, 0.4], [0.3, 0.7]], urns)
    for seen in itertools.product("RB", repeat=4):
        total = 0.0
        for path in itertools.product([1, 2], repeat=4):
            left = {urn: dict(some) for urn, some in urns.items()}
            p = 0.5 * math.prod(move[pair] for pair in itertools.pairwise(path))
            spent = False
            for urn, ball in zip(path, seen, strict=True):
                many = sum(left[urn].values())
                spent |= many == 0
                p *= left[urn][ball] / many if many else 0.0
                left[urn][ball] -= 1
            total += p
        if total > 0.0:
            assert math.exp(two.score(list(seen))) == near(total)


# --- C127: characters by a network, words by hidden Markov models ---

LETTERS = ["a", "c", "t"]
CENTRES = {"c": (-2.0, 0.0), "a": (0.0, 2.0), "t": (2.0, 0.0)}


def strokes(word: str, rng: np.random.Generator, spread: float) -> np.ndarray:
    """The pen's (dx, dy), two or three for each letter."""
    letters = [letter for letter in word for _ in range(int(rng.integers(2, 4)))]
    return np.array([CENTRES[letter] for letter in letters]) + spread * rng.standard_normal((len(letters), 2))


def test_C127_a_network_reads_characters_and_models_of_words_read_words():
    """A lexicon of words as left-to-right models over the network's characters."""
    rng = np.random.default_rng(0)
    named = rng.choice(LETTERS, 600, p=[0.5, 0.25, 0.25])
    pen = np.array([CENTRES[letter] for letter in named]) + 1.5 * rng.standard_normal((600, 2))
    network = MLPClassifier((8,), alpha=1.0, max_iter=2000, random_state=0, solver="lbfgs").fit(pen, named)
    shares = {letter: float((named == letter).mean()) for letter in LETTERS}
    stay = 0.6

    def model(word: str) -> pgm.HMM:
        """Letter after letter; what does not occur in the word is never reached."""
        move = np.eye(3)
        for a, b in itertools.pairwise(word):
            i, j = LETTERS.index(a), LETTERS.index(b)
            move[i] = 0.0
            move[i, i], move[i, j] = stay, 1.0 - stay
        start = [float(letter == word[0]) for letter in LETTERS]
        return pgm.HMM(start, move, pgm.ClassifierEmission(network, shares))

    lexicon = ["cat", "act", "tac", "at", "ta"]
    reader = pgm.HMMClassifier.of({word: model(word) for word in lexicon})

    def by_hand(word: str, x: np.ndarray) -> float:
        """All ways to cut the strokes into letters; the word may not be finished."""
        scaled = network.predict_proba(x) / [shares[letter] for letter in LETTERS]
        n, total = len(x), 0.0
        for reached in range(1, len(word) + 1):
            for cuts in itertools.combinations(range(1, n), reached - 1):
                ends = [0, *cuts, n]
                p = 1.0
                for i, (begin, end) in enumerate(itertools.pairwise(ends)):
                    p *= math.prod(scaled[begin:end, LETTERS.index(word[i])])
                    last = i == len(word) - 1
                    p *= 1.0 if last else stay ** (end - begin - 1) * (1.0 - stay if i < reached - 1 else 1.0)
                total += p
        return math.log(total)

    right = {"words": 0, "strokes": 0}
    for number in range(40):
        word = lexicon[number % 5]
        x = strokes(word, rng, 1.2)
        scores = {each: by_hand(each, x) for each in lexicon}
        for each in lexicon:
            assert model(each).score(x) == near(scores[each])
        read = reader.predict([x])[0]
        assert read == max(scores, key=scores.__getitem__)
        right["words"] += read == word
        alone = "".join(letter for letter, _ in itertools.groupby(network.predict(x)))
        right["strokes"] += alone == word
    assert right["words"] > 30 > right["strokes"]  # the lexicon corrects single strokes


# --- C124: frames in parallel, phones in series; C129: other alphabets ---


def test_C124_frames_are_quantised_in_parallel_and_phones_follow_in_series():
    """O33's reference vectors and rows as two phones; a phone may itself be two simpler sounds."""
    frames, codes = [0.5, 2.5, 3.5, -0.5, 1.0], [0, 1, 2, 0, 0]
    rows = {"a": [0.7, 0.2, 0.1], "b": [0.1, 0.3, 0.6]}
    a, b = (pgm.part_of(name, pgm.Codebook([0.0, 2.0, 4.0], [row]), stay=0.5) for name, row in rows.items())
    word = pgm.sequence_of(a, b, name="ab")
    ways = {
        last: 0.5**5 * math.prod(rows["a" if t < last else "b"][code] for t, code in enumerate(codes))
        for last in range(1, 5)
    }
    assert math.exp(word.score(frames)) == near(sum(ways.values()))
    best = max(ways, key=ways.__getitem__)
    assert [phone for _, phone, _ in word.decode(frames).path] == ["a"] * best + ["b"] * (5 - best)
    two = pgm.part_of("ab", pgm.Codebook([0.0, 2.0, 4.0], list(rows.values())), stay=0.5)
    assert two.score(frames) == near(word.score(frames))


@pytest.mark.parametrize(
    "alphabet", [list("acgt"), ["the", "dog", "barks", "."], [0, 1, 2, 3], ["\u2191", None]]
)
def test_C129_any_alphabet_is_read_by_the_same_model(alphabet):
    """Speech, DNA, words, strokes: only the names of symbols differ. None is not a symbol, but a gap."""
    symbols = [symbol for symbol in alphabet if symbol is not None] + ["#"] * (None in alphabet)
    rng = np.random.default_rng(1)
    rows = rng.dirichlet(np.ones(len(symbols)), 2)
    model = pgm.HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], pgm.Categorical(rows, symbols=symbols))
    seen = [alphabet[i % len(alphabet)] for i in (0, 1, 1, 3)]
    total = 0.0
    for path in itertools.product(range(2), repeat=4):
        p = [0.6, 0.4][path[0]] * math.prod(
            [[0.7, 0.3], [0.2, 0.8]][i][j] for i, j in itertools.pairwise(path)
        )
        total += p * math.prod(
            1.0 if s is None else rows[q, symbols.index(s)] for q, s in zip(path, seen, strict=True)
        )
    assert math.exp(model.score(seen)) == near(total)


# --- C130: no fixed window ---


def test_C130_a_window_forgets_what_a_hidden_state_keeps():
    """A door opens or closes, and between that nothing is heard for any time."""
    states = ["opens", "open", "closes", "closed"]
    move = np.array([[0, 0.9, 0.1, 0], [0, 0.9, 0.1, 0], [0.1, 0, 0, 0.9], [0.1, 0, 0, 0.9]])
    sounds = pgm.Categorical([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]], symbols=["creak", "-", "bang"])
    truth = pgm.HMM([0.5, 0, 0.5, 0], move, sounds, states=states)
    drawn = truth.sample(600, sequences=3, seed=0)
    learned = pgm.HMM(states=states, emission=pgm.Categorical(symbols=["creak", "-", "bang"])).fit(
        [one.observations for one in drawn[:2]], states=[one.states for one in drawn[:2]]
    )
    test = drawn[2]
    opened = np.isin(test.states, ["opens", "open"])
    found = np.isin(learned.filter(test.observations).path, ["opens", "open"])
    assert (found == opened).all()  # however long ago it was heard
    codes = {"creak": 0, "-": 1, "bang": 2}

    def windows(one: pgm.results.SampledSequence, width: int) -> np.ndarray:
        x = np.eye(3)[[codes[sound] for sound in one.observations]]
        padded = np.vstack([np.zeros((width - 1, 3)), x])
        return np.hstack([padded[i : i + len(x)] for i in range(width)])

    shares = []
    for width in (1, 3, 6):
        learn = np.vstack([windows(one, width) for one in drawn[:2]])
        labels = np.concatenate([np.isin(one.states, ["opens", "open"]) for one in drawn[:2]])
        windowed = LogisticRegression(C=100.0).fit(learn, labels)
        shown = windows(test, width)
        shares.append(float((windowed.predict(shown) == opened).mean()))
        silent = (shown.reshape(len(shown), width, 3)[:, :, 1] == 1.0).all(axis=1)
        same = windowed.predict(shown[silent])
        assert np.unique(same).size == 1  # a silent window says nothing: one answer for all
        assert 0.0 < (same == opened[silent]).mean() < 1.0
    assert shares[0] < shares[1] < shares[2] < 0.95
