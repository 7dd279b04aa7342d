"""Scores of families, beside their definitions worked out row by row, in fractions and gamma functions."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import pgm
from pgm.learning.counts import Counts
from pgm.learning.scores import AIC, BIC, FNML, K2, QNML, SCORES, BDeu, BDs, LogLikelihood, Score
from pgm.learning.scoring import discrete
from pgm.learning.scoring.discrete import DiscreteFamilies
from pgm.learning.scoring.regret import one_regret
from pgm.runtime.clock import start_clock

PGMPY = {"bic": -5485.612677721486, "k2": -5230.931647730444, "aic": -5026.5942548040675}


def tables(
    codes: list[np.ndarray], v: int, parents: list[int], weights: np.ndarray
) -> dict[tuple[int, ...], Counter[int]]:
    """For each configuration of the parents that occurs, how much each state of v weighs."""
    found: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for r, w in enumerate(weights):
        if w:
            found[tuple(int(codes[u][r]) for u in parents)][int(codes[v][r])] += w
    return found


def rising(a: Fraction, n: int) -> float:
    """log of a (a + 1) ... (a + n - 1), in fractions."""
    product = Fraction(1)
    for i in range(n):
        product *= a + i
    return math.log(product.numerator) - math.log(product.denominator)


@cache
def multinomial_normaliser(n: int, k: int) -> Fraction:
    """The largest likelihood of n rows in k states, summed over all data."""
    total = Fraction(0)
    for cut in itertools.combinations(range(n + k - 1), k - 1):
        ends = (-1, *cut, n + k - 1)
        counts = [b - a - 1 for a, b in itertools.pairwise(ends)]
        term = Fraction(math.factorial(n))
        for c in counts:
            term *= Fraction(c**c, n**c * math.factorial(c)) if n else 1
        total += term
    return total


def by_hand(
    score: Score, codes: list[np.ndarray], cards: list[int], v: int, parents: list[int], weights: np.ndarray
) -> float:
    found = tables(codes, v, parents, weights)
    q, r, n = math.prod(cards[u] for u in parents), cards[v], float(weights.sum())
    fit = sum(
        w * math.log(w / sum(counts.values())) for counts in found.values() for w in counts.values() if w
    )
    if isinstance(score, LogLikelihood):
        return fit
    if isinstance(score, BIC | AIC):
        return fit - (r - 1) * q * (math.log(n) / 2 if isinstance(score, BIC) else 1.0)
    if isinstance(score, FNML):
        return fit - sum(
            math.log(multinomial_normaliser(int(sum(counts.values())), r)) for counts in found.values()
        )
    if isinstance(score, QNML):  # these normalisers are checked below
        return fit - one_regret(int(n), q * r) + one_regret(int(n), q)
    if isinstance(score, K2):
        cell, total = Fraction(1), Fraction(r)
    else:
        assert isinstance(score, BDeu | BDs)
        total = Fraction(score.equivalent_sample_size) / (q if isinstance(score, BDeu) else len(found))
        cell = total / r
    return sum(
        sum(rising(cell, int(w)) for w in counts.values()) - rising(total, int(sum(counts.values())))
        for counts in found.values()
    )


@pytest.mark.parametrize(
    "score", [kind() for kind in SCORES.values() if kind.discrete] + [BDeu(0.3), BDs(2.5)], ids=repr
)
def test_a_score_is_its_definition(score: Score) -> None:
    rng = np.random.default_rng(0)
    most = 7 if score.whole else 40  # all counts of a normaliser are listed
    for _ in range(6):
        cards = [2, 3, 2, 1] if score.whole else [2, 3, 4, 1, 5]
        n = int(rng.integers(1, most))
        codes = [rng.integers(card, size=n).astype(np.int32) for card in cards]
        families = DiscreteFamilies(Counts(codes, cards, merge=False), score, start_clock())
        for v in range(len(cards)):
            for size in range(3):
                for parents in itertools.combinations([u for u in range(len(cards)) if u != v], size):
                    wanted = by_hand(score, codes, cards, v, list(parents), np.ones(n))
                    assert families.score(v, parents) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
                    grown = families.grown(v, parents)
                    for u in range(len(cards)):
                        if u == v or u in parents:
                            assert grown[u] == -np.inf
                        else:
                            wanted = by_hand(score, codes, cards, v, [*parents, u], np.ones(n))
                            assert grown[u] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("score", [BIC(), AIC(), LogLikelihood(), BDeu(), K2(), BDs()], ids=repr)
def test_tables_larger_than_the_data(score: Score) -> None:
    """Many states, so that most cells are empty, and configurations are found by sorting."""
    rng = np.random.default_rng(1)
    cards = [90, 130, 3, 400, 60_000]
    codes = [rng.integers(min(card, 25), size=300).astype(np.int32) for card in cards]
    codes[4] = (codes[4] * 2399 + codes[2]).astype(np.int32)
    families = DiscreteFamilies(Counts(codes, cards), score, start_clock())
    for v, parents in [(2, ()), (0, (1,)), (3, (0, 1)), (2, (0, 1, 3)), (0, (1, 3, 4)), (4, (0,))]:
        wanted = by_hand(score, codes, cards, v, list(parents), np.ones(300))
        assert families.work(v, parents, np.array([-1]))[0] == pytest.approx(wanted, rel=1e-9)
        more = np.array([u for u in range(5) if u != v and u not in parents])
        for u, found in zip(more.tolist(), families.work(v, parents, more), strict=True):
            assert found == pytest.approx(
                by_hand(score, codes, cards, v, [*parents, u], np.ones(300)), rel=1e-9
            )


@pytest.mark.parametrize("score", [BIC(), LogLikelihood(), BDeu(), K2(), BDs()], ids=repr)
def test_weights_count_rows(score: Score) -> None:
    """Whole weights are repeated rows; others scale what is linear in them."""
    rng = np.random.default_rng(2)
    cards = [3, 2, 4]
    codes = [rng.integers(card, size=30).astype(np.int32) for card in cards]
    times = rng.integers(0, 4, size=30)
    repeated = [np.repeat(column, times) for column in codes]
    one = DiscreteFamilies(Counts(codes, cards, times.astype(float)), score, start_clock())
    other = DiscreteFamilies(Counts(repeated, cards), score, start_clock())
    for v, parents in [(0, ()), (0, (1,)), (2, (0, 1))]:
        assert one.score(v, parents) == pytest.approx(other.score(v, parents), rel=1e-12)
        if isinstance(score, LogLikelihood):
            half = DiscreteFamilies(Counts(codes, cards, times * 0.25), score, start_clock())
            assert half.score(v, parents) == pytest.approx(0.25 * other.score(v, parents), rel=1e-9)
    assert one.grown(0, ()) == pytest.approx(other.grown(0, ()))


def test_the_normaliser_of_the_multinomial_is_the_sum_over_all_data() -> None:
    for n, k in itertools.product(range(8), range(1, 6)):
        assert one_regret(n, k) == pytest.approx(math.log(multinomial_normaliser(n, k)), abs=1e-12)


@pytest.mark.parametrize("score", [BIC(), AIC(), BDeu(), LogLikelihood(), QNML()], ids=repr)
def test_equivalent_networks_score_alike(score: Score) -> None:
    """And K2, BDs and FNML, which say that they do not, do not."""
    asia = pgm.load_network("asia")
    rows = asia.sample(500, seed=3)
    turned = pgm.BayesianNetwork(
        edges=[(b, a) if {a, b} == {"smoke", "lung"} else (a, b) for a, b in asia.edges]
    )
    assert pgm.compare(turned, asia).shd_cpdag == 0
    assert score.equivalent
    assert pgm.structure_score(asia, rows, score) == pytest.approx(pgm.structure_score(turned, rows, score))
    for other in (K2(), FNML()):
        assert not other.equivalent
        assert abs(pgm.structure_score(asia, rows, other) - pgm.structure_score(turned, rows, other)) > 1e-3


def test_scores_are_those_of_pgmpy() -> None:
    """Of `child` on 400 of its own rows; the numbers are those of pgmpy 1.1 (BIC, K2 and AIC)."""
    net = pgm.load_network("child")
    rows = net.sample(400, seed=1)
    for score, theirs in PGMPY.items():
        assert pgm.structure_score(net, rows, score) == pytest.approx(theirs, rel=1e-9)


def test_the_strength_of_an_arc_is_what_the_score_loses() -> None:
    net = pgm.load_network("asia")
    rows = net.sample(2000, seed=0)
    strengths = pgm.arc_strength(net, rows, "bdeu")
    whole = pgm.structure_score(net, rows, "bdeu")
    for arc, strength in strengths.items():
        kept = [e for e in net.edges if e != arc]
        other = pgm.BayesianNetwork(edges=kept)
        lone = [node for node in net.nodes if node not in other]
        rest = sum(pgm.structure_score(pgm.BayesianNetwork(edges=f"{node}"), rows, "bdeu") for node in lone)
        assert strength == pytest.approx(whole - pgm.structure_score(other, rows, "bdeu") - rest)
    assert list(strengths.values()) == sorted(strengths.values(), reverse=True)
    assert strengths.to_pandas().shape == (8, 3)


def test_scores_that_need_whole_rows_say_so() -> None:
    rows = {"a": [0, 1, 1], "b": [0, 0, 1]}
    with pytest.raises(pgm.InvalidArgument, match="whole rows"):
        pgm.learn_structure(rows, score="fnml", weights=[0.5, 1.0, 1.0])


def test_the_bound_of_looked_up_logarithms_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    net = pgm.load_network("asia")
    rows = net.sample(1000, seed=0)
    before = pgm.structure_score(net, rows)
    monkeypatch.setattr(discrete, "_WHOLE", 10)
    assert pgm.structure_score(net, rows) == pytest.approx(before, rel=1e-12)
