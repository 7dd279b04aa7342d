"""Worked numbers of the catalogue on structures: C.md, O5 and O15 (C64 to C67), and D.md on BIC and AIC."""

from __future__ import annotations

import math

import networkx as nx
import pytest

import pgm
from tests.graphs.test_equivalence import all_dags
from tests.known.book import JOINT, fig_14_5, near

# O13: 100 rows of rain and wet grass; 4000 P(C, S, R, W) of figure 14.5, all of them whole.
HUNDRED = {"R": [1, 1, 0, 0], "W": [1, 0, 1, 0], "n": [36, 4, 12, 48]}
FOUR_THOUSAND = {
    **{name: [key[i] == "1" for key in JOINT] for i, name in enumerate("CSRW")},
    "n": [round(4000 * p) for p in JOINT.values()],
}


def score(edges: str, data: dict[str, list[float]], by: str | pgm.scores.Score) -> float:
    return pgm.structure_score(pgm.BayesianNetwork(edges=edges), data, by, weights="n")


def test_C65_scores_of_an_arc_and_of_none():
    """O15, the table of 100 rows."""
    for arc in ("R -> W", "W -> R"):
        assert score(arc, HUNDRED, "log-likelihood") == near(-110.328631, 9)
        assert score(arc, HUNDRED, "bic") == near(-117.2363863)
        assert score(arc, HUNDRED, pgm.scores.BDeu(1)) == near(-117.8633276)
    assert score("R; W", HUNDRED, "log-likelihood") == near(-136.5358634)
    assert score("R; W", HUNDRED, "bic") == near(-141.1410336)
    assert score("R; W", HUNDRED, pgm.scores.BDeu(1)) == near(-141.5976883)
    assert score("R; W", HUNDRED, "k2") == near(-140.7254191)
    assert score("R -> W", HUNDRED, "k2") == near(-116.6200555)
    assert score("W -> R", HUNDRED, "k2") == near(-116.6577218)
    # Twice the gain in likelihood is G squared.
    gain = score("R -> W", HUNDRED, "log-likelihood") - score("R; W", HUNDRED, "log-likelihood")
    assert 2.0 * gain == near(52.41446472)


def test_D44_BIC_and_D45_AIC_are_the_likelihood_less_the_parameters():
    for arc, parameters in (("R -> W", 3), ("R; W", 2)):
        fit = score(arc, HUNDRED, "log-likelihood")
        assert score(arc, HUNDRED, "bic") == pytest.approx(fit - parameters / 2 * math.log(100))
        assert score(arc, HUNDRED, "aic") == pytest.approx(fit - parameters)


def test_C65_all_graphs_of_four_nodes():
    """O15, the table of 4000 rows: which of the 543 are best, and by how much."""
    for by, best, following in (
        ("bic", -7764.767331, -7773.061381),
        (pgm.scores.BDeu(1), -7766.264424, -7775.004209),
    ):
        every = []
        for arcs in all_dags(4):
            net = pgm.BayesianNetwork(
                edges="C; S; R; W" + "".join(f"; {'CSRW'[a]} -> {'CSRW'[b]}" for a, b in arcs)
            )
            every.append((pgm.structure_score(net, FOUR_THOUSAND, by, weights="n"), net))
        every.sort(key=lambda pair: -pair[0])
        assert every[0][0] == near(best)
        assert every[2][0] == near(best)
        assert every[3][0] == near(following)
        assert all(net.cpdag() == fig_14_5().cpdag() for _, net in every[:3])
    assert score("C; S; R; W", FOUR_THOUSAND, "bic") == near(-10571.8669, 9)
    assert score("C -> S; C -> R; C -> W; S -> R; S -> W; R -> W", FOUR_THOUSAND, "bic") == near(
        -7789.64948, 9
    )
    assert score("C -> S; C -> R; R -> W; S -> W", FOUR_THOUSAND, "k2") == near(-7761.809743)


def test_C64_the_steps_of_hill_climbing():
    """O15: C - R, R - W, S - W, C - S, and then nothing gains; the first arc has no direction of its own."""
    found = pgm.learn_structure(FOUR_THOUSAND, search="hill-climb", weights="n")
    assert [step.move for step in found.trace] == ["start", "add", "add", "add", "add"]
    assert [set(step.arc) for step in found.trace[1:]] == [{"C", "R"}, {"R", "W"}, {"S", "W"}, {"C", "S"}]
    assert list(found.trace.scores) == [
        near(-10571.8669, 9),
        near(-9474.429465),
        near(-8957.946567),
        near(-8167.617207),
        near(-7764.767331),
    ]
    assert found.score == near(-7764.767331)
    assert pgm.compare(found.network, fig_14_5()).shd_cpdag == 0


def test_C67_what_an_expert_knows():
    """Arcs that are required are there, those that are forbidden are not, and the search does the rest."""
    found = pgm.learn_structure(
        FOUR_THOUSAND, weights="n", require=[("C", "R")], tiers=["C", ["S", "R"], "W"]
    )
    assert set(found.network.edges) == set(fig_14_5().edges)
    assert found.score == near(-7764.767331)
    without = pgm.learn_structure(FOUR_THOUSAND, weights="n", forbid=[("C", "S"), ("S", "C")])
    assert not {("C", "S"), ("S", "C")} & set(without.network.edges)
    assert without.score < found.score
    # O5: sub-graphs that experts supply are put together by their arcs.
    one, other = pgm.BayesianNetwork(edges="C -> R; C -> S"), pgm.BayesianNetwork(edges="R -> W <- S")
    joined = nx.compose(one.to_networkx(), other.to_networkx())
    assert pgm.compare(pgm.BayesianNetwork(edges=joined), fig_14_5()).shd == 0
    started = pgm.learn_structure(FOUR_THOUSAND, weights="n", start=joined, search="hill-climb")
    assert [step.move for step in started.trace] == ["start"]


def test_C64_other_searches_reach_the_class_of_the_book():
    for search in ("tabu", "exact", "ges", "boss", "mmhc"):
        found = pgm.learn_structure(FOUR_THOUSAND, weights="n", search=search)
        assert found.score == near(-7764.767331)
        assert pgm.compare(found.network, fig_14_5()).shd_cpdag == 0


def test_C66_a_hidden_variable_stays_if_the_penalised_likelihood_rises():
    """O17, twenty shopping baskets: EM ends at -32.11953678; seven parameters cost more than that gains."""
    counts = {"111": 5, "011": 2, "101": 1, "001": 6, "000": 5, "110": 1}
    rows = {name: [int(key[i]) for key in counts] for i, name in enumerate(("food", "diapers", "milk"))}
    rows["n"] = list(counts.values())
    found = pgm.learn_structure(rows, latent={"home": 2}, weights="n", seed=0)
    with_it = -32.11953678 - 7 / 2 * math.log(20)
    assert f"{with_it:,.3f} with 'home'" in found.notes["hidden"]
    assert found.notes["hidden"].startswith("removed")
    assert "home" not in found.network.nodes
    assert found.score > with_it
    # A hundred times as many baskets pay for it.
    rows["n"] = [100 * n for n in rows["n"]]
    more = pgm.learn_structure(rows, latent={"home": 2}, weights="n", seed=0, max_parents=1)
    assert more.notes["hidden"].startswith("kept")
    assert set(more.network.children("home")) == {"food", "diapers", "milk"}
    assert more.score == pytest.approx(100 * -32.11953678 - 7 / 2 * math.log(2000), abs=0.02)


def test_G66_feature_selection_by_the_markov_blanket():
    """What tells anything about a target once the rest is known: parents, children, their other parents."""
    asia = pgm.load_network("asia")
    rows = asia.sample(20_000, seed=0)
    found = pgm.learn_structure(rows, search=pgm.searches.IAMB("dysp", alpha=0.01))
    assert asia.markov_blanket("dysp") == {"bronc", "either"}
    assert found.notes["Markov blanket"] == "of dysp: 'bronc', 'either'"
    assert {node for arc in found.network.edges for node in arc} <= {"dysp", "bronc", "either"}
