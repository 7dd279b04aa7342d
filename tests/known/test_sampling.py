"""Worked numbers of the catalogue on sampling: C.md rows C22 and C59, O5 and O14."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from pgm import engines
from pgm.inference.engines.problem import Problem
from pgm.inference.engines.sampling import weighted
from pgm.inference.engines.sampling.lookup_arrays import lay_out
from pgm.inference.program.reduction import Known, reduce_case
from pgm.inference.trees import TreeCache
from pgm.runtime.clock import Clock
from tests.known import book
from tests.known.book import JOINT

FAR = 4.9  # a normal number is further off once in a million
# O14: P(next | the others, W), keys in the order of the names
CONDITIONALS = {
    ("C", "RS"): {"11": 0.6153846154, "10": 0.9350649351, "01": 0.04255319149, "00": 0.2857142857},
    ("S", "CR"): {"11": 0.1049723757, "10": 0.5, "01": 0.5135135135, "00": 0.9},
    ("R", "CS"): {"11": 0.8085106383, "10": 0.972972973, "01": 0.1049723757, "00": 0.5},
}
POSTERIOR = {"C": 0.5834932821, "S": 0.4195777351, "R": 0.6268714012}


def shares(states: dict[str, np.ndarray], key: str) -> float:
    same = [states[name] == (bit == "1") for name, bit in zip("CSRW", key, strict=True)]
    return float(np.logical_and.reduce(same).mean())


def test_C22_ancestral_sampling():
    """Frequencies of generated cases come to the joint, within 4 standard deviations as the row says."""
    net, n = book.fig_14_5(), 40_000
    drawn = net.sample(n, seed=0)
    for key, p in JOINT.items():
        assert abs(shares(drawn, key) - p) < 4.0 * math.sqrt(p * (1 - p) / n), key
    found = net.query(list("CSRW"), engine=engines.Rejection(samples=n))
    assert found.report.effective_sample_size == pytest.approx(n)  # nothing is known, nothing is thrown away
    for key, p in JOINT.items():
        states = tuple(bit == "1" for bit in key)
        assert abs(found[states] - p) < 4.0 * math.sqrt(p * (1 - p) / n), key


@pytest.mark.parametrize(("name", "others"), CONDITIONALS)
def test_C59_full_conditionals_of_gibbs(name, others):
    """With the others known one sweep draws from the conditional of O14; so does the exact engine."""
    net = book.fig_14_5()
    for key, p in CONDITIONALS[name, others].items():
        known = {o: bit == "1" for o, bit in zip(others, key, strict=True)} | {"W": True}
        assert net.query(name, known)[True] == pytest.approx(p, rel=1e-9)
        assert net.query(name, known, engine="gibbs")[True] == pytest.approx(p, rel=1e-9)


def test_C59_chains_move_by_the_full_conditionals():
    """Counted in a chain of single sites: how often each is true right after the others were so."""
    net = book.fig_14_5()
    engine = engines.Gibbs(samples=80_000, chains=2, blocks="single", trace=list("CSR"))
    chain = net.marginals({"W": True}, engine=engine).report.chains
    c, s, r = (chain[name].astype(bool) for name in "CSR")
    # C is drawn first in a sweep, from S and R of the sweep before.
    for key, p in CONDITIONALS["C", "RS"].items():
        at = (r[:, :-1] == (key[0] == "1")) & (s[:, :-1] == (key[1] == "1"))
        after = c[:, 1:][at]
        assert abs(after.mean() - p) < FAR * math.sqrt(p * (1 - p) / after.size), key


@pytest.mark.parametrize("engine", ["gibbs", "likelihood-weighting", "importance", "rejection"])
def test_C59_limits_are_the_exact_marginals(engine):
    found = book.fig_14_5().marginals({"W": True}, engine=engine)
    for name, p in POSTERIOR.items():
        error = found[name].report.error
        assert 0.0 < error < 0.02
        assert abs(found[name][True] - p) < FAR * error


def test_C59_rejection_keeps_as_many_as_the_evidence_is_probable():
    n = 50_000
    found = book.fig_14_5().probability({"W": True}, engine=engines.Rejection(samples=n))
    assert abs(found - 0.65125) < FAR * math.sqrt(0.65125 * 0.34875 / n)
    assert found.report.effective_sample_size == pytest.approx(found * n)
    assert found.report.error == pytest.approx(math.sqrt(0.65125 * 0.34875 / n), rel=0.05)


def test_C59_weights_of_likelihood_weighting():
    """O14: E[w] = 0.65125, Var[w] = 0.1398859375: a weight is P(wet | sprinkler, rain)."""
    net, n = book.fig_14_5(), 50_000
    model, clock = net._compile(), Clock(None, None)
    case = reduce_case(model.program, Known({3: 1}, {}), [0, 1, 2], clock)
    layout = lay_out(Problem(case, {}, model.names, TreeCache()), "likelihood-weighting")
    proposal = weighted.from_network(layout)
    _, logs, _ = weighted.draw_from(proposal, layout, "likelihood-weighting", n, 0, clock)
    constant = layout.graph.constant
    w = np.exp(logs) * math.ldexp(*constant)
    assert set(w.round(9)) == {0.95, 0.9, 0.1}
    variance = 0.1398859375
    assert abs(w.mean() - 0.65125) < FAR * math.sqrt(variance / n)
    weight = {"11": 0.95, "10": 0.9, "01": 0.9, "00": 0.1}  # by S and R
    fourth = math.fsum(p * (weight[key[1:3]] - 0.65125) ** 4 for key, p in JOINT.items())
    assert abs(w.var() - variance) < FAR * math.sqrt(fourth / n)


def test_C59_the_joint_of_weighted_cases():
    found = book.fig_14_5().query(
        list("CSR"), {"W": True}, engine=engines.LikelihoodWeighting(samples=50_000)
    )
    for states in itertools.product([False, True], repeat=3):
        p = JOINT["".join("01"[s] for s in states) + "1"] / 0.65125
        assert abs(found[states] - p) < FAR * found.report.error
