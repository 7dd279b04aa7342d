"""Diseases and findings, as in QMR-DT: every finding a noisy-OR of some diseases (Shwe et al. 1991)."""

from __future__ import annotations

import numpy as np
import pytest

import pgm


def two_layers(
    seed: int, diseases: int = 500, findings: int = 2000, causes: tuple[int, int] = (5, 40)
) -> tuple[pgm.BayesianNetwork, np.ndarray, list[dict[int, float]], np.ndarray, np.ndarray]:
    """A network with its numbers: priors, strengths of each finding, leaks; and an order of the findings."""
    rng = np.random.default_rng(seed)
    priors = 10 ** rng.uniform(-3, -1.3, diseases)
    net = pgm.BayesianNetwork("two layers")
    for i in range(diseases):
        net.add(f"d{i}", float(priors[i]))
    strengths, leaks = [], rng.choice([0.0, 0.001, 0.01], findings)
    for j in range(findings):
        who = rng.choice(diseases, int(rng.integers(causes[0], causes[1] + 1)), replace=False)
        strengths.append({int(i): float(rng.uniform(0.05, 0.95)) for i in who})
        net.add(f"f{j}", pgm.NoisyOr({f"d{i}": p for i, p in strengths[j].items()}, leak=float(leaks[j])))
    return net, priors, strengths, leaks, rng.permutation(findings)


def swept(
    priors: np.ndarray, strengths: list[dict[int, float]], leaks: np.ndarray, yes: list[int], no: list[int]
) -> tuple[float, np.ndarray]:
    """P(findings) and P(disease | findings), from tables over which positive findings are explained so far.

    Diseases are gone through once from each side; nothing is subtracted. Written for this test alone.
    """
    k, n = len(yes), len(priors)
    start = np.ones(1)
    for f in yes:
        start = np.multiply.outer(start, [1 - leaks[f], leaks[f]]).ravel()
    quiet = np.array([np.prod([1 - strengths[f][d] for f in no if d in strengths[f]]) for d in range(n)])
    weights = np.stack([1 - priors, priors * quiet], axis=1)

    def on(table: np.ndarray, d: int, back: bool) -> np.ndarray:
        for axis, f in enumerate(yes):
            if d in strengths[f]:
                p = strengths[f][d]
                cells = table.reshape(2**axis, 2, -1)
                off, already = cells[:, 0], cells[:, 1]
                if back:
                    table = np.stack([(1 - p) * off + p * already, already], axis=1).ravel()
                else:
                    table = np.stack([(1 - p) * off, p * off + already], axis=1).ravel()
        return table

    before = [start]
    for d in range(n):
        before.append(weights[d, 0] * before[-1] + weights[d, 1] * on(before[-1], d, False))
    after = np.zeros(2**k)
    after[-1] = 1.0
    total = before[-1][-1]
    found = np.empty(n)
    for d in range(n - 1, -1, -1):
        sick = on(after, d, True)
        found[d] = weights[d, 1] * (before[d] @ sick) / total
        after = weights[d, 0] * after + weights[d, 1] * sick
    none = float(np.prod([1 - leaks[f] for f in no]))
    return total * none, found


def test_500_diseases_and_2000_findings() -> None:
    net, priors, strengths, leaks, order = two_layers(0)
    yes, no = order[:8].tolist(), order[8:208].tolist()
    seen = {f"f{j}": True for j in yes} | {f"f{j}": False for j in no}
    total, expected = swept(priors, strengths, leaks, yes, no)
    assert net.log_probability(seen) == pytest.approx(np.log(total), abs=1e-11)
    found = net.marginals(seen, targets=[f"d{i}" for i in range(500)])
    np.testing.assert_allclose([found[f"d{i}"][True] for i in range(500)], expected, rtol=1e-10)
    assert found["d0"].exact
    assert net.query("d3", seen)[True] == pytest.approx(expected[3], rel=1e-10)
    for i in (0, 3):
        p = net.query(f"d{i}", seen, engine="bounds")
        assert not p.exact
        assert p.bounds[1][0] <= expected[i] <= p.bounds[1][1] < 0.1
    more = seen | {f"f{j}": True for j in order[208:240].tolist()}
    p = net.query("d0", more, engine="bounds")  # 40 positive ones
    assert p.bounds is not None
    assert 0.0 < p.bounds[1][0] <= p[True] <= p.bounds[1][1] < 0.1


def test_12_positive_findings_that_many_diseases_share() -> None:
    """60 diseases with several of the findings each: the order of the chains, not luck, keeps it narrow."""
    net, priors, strengths, leaks, _ = two_layers(1, diseases=60, findings=40, causes=(10, 25))
    yes, no = list(range(12)), list(range(12, 40))
    seen = {f"f{j}": True for j in yes} | {f"f{j}": False for j in no}
    total, expected = swept(priors, strengths, leaks, yes, no)
    assert net.probability(seen) == pytest.approx(total, rel=1e-11)
    found = net.marginals(seen)
    np.testing.assert_allclose([found[f"d{i}"][True] for i in range(60)], expected, rtol=1e-10)
    assert net.plan(None, seen).log2_largest <= 15


@pytest.mark.parametrize("seed", [1, 3])
def test_20_positive_findings_fit_and_40_say_what_they_would_take(seed: int) -> None:
    net, _, _, _, order = two_layers(seed)
    seen = {f"f{j}": True for j in order[:20].tolist()} | {f"f{j}": False for j in order[20:220].tolist()}
    with pgm.config(memory_limit="8 GB"):
        plan = net.plan("d0", seen)
        assert plan.fits
        assert plan.log2_largest <= 23
        assert plan.bytes_all < 8e9
        more = seen | {f"f{j}": True for j in order[220:240].tolist()}
        with pytest.raises(pgm.TooLarge, match="largest table"):
            net.query("d0", more)
