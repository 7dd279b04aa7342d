"""Every engine, question and kind of evidence: the right answer, an honest one, or a refusal by name.

The model is small enough for its joint distribution to be written out by numpy. New engines are asked too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pgm

NAMES = ["season", "age", "ill", "tired"]
STATES: dict[str, list[Any]] = {
    "season": ["dry", "mild", "wet"],
    "age": [0, 1, 2],
    "ill": [False, True],
    "tired": [False, True],
}
P_SEASON = np.array([0.5, 0.3, 0.2])
P_AGE = np.array([[0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.6, 0.3, 0.1]])
P_ILL = np.array([0.1, 0.25, 0.6])
P_TIRED = np.array([[0.2, 0.4, 0.5], [0.7, 0.8, 0.9]])  # by ill, age


def network() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("season", dict(zip(STATES["season"], P_SEASON.tolist(), strict=True)))
    net.add("age", P_AGE, parents=["season"], states=pgm.Bins([0, 18, 65, 120]))
    net.add("ill", np.stack([1 - P_ILL, P_ILL], axis=-1), parents=["season"], states=[False, True])
    net.add("tired", np.stack([1 - P_TIRED, P_TIRED], axis=-1), parents=["ill", "age"], states=[False, True])
    return net


NET = network()
JOINT = (
    P_SEASON[:, None, None, None]
    * P_AGE[:, :, None, None]
    * np.stack([1 - P_ILL, P_ILL], axis=-1)[:, None, :, None]
    * np.stack([1 - P_TIRED, P_TIRED], axis=-1).transpose(1, 0, 2)[None]
)

# What is given, and by what it multiplies the states of each variable.
EVIDENCE: dict[str, tuple[dict[str, Any], dict[str, list[float]]]] = {
    "nothing": ({}, {}),
    "a state": ({"tired": True}, {"tired": [0, 1]}),
    "OneOf": ({"season": pgm.OneOf("dry", "wet")}, {"season": [1, 0, 1]}),
    "Not": ({"season": pgm.Not("dry"), "tired": False}, {"season": [0, 1, 1], "tired": [1, 0]}),
    "Likelihood": ({"ill": pgm.Likelihood({True: 0.8, False: 0.1})}, {"ill": [0.1, 0.8]}),
    "Soft": ({"ill": pgm.Soft({True: 0.7, False: 0.3})}, {}),
    "a number in a bin": ({"age": 20}, {"age": [0, 1, 0]}),
    "Interval of bins": ({"age": pgm.Interval(18, 120)}, {"age": [0, 1, 1]}),
    "a Likelihood with zeros": (
        {"season": pgm.Likelihood({"dry": 1.0, "mild": 0.0, "wet": 0.0}), "tired": True},
        {"season": [1, 0, 0], "tired": [0, 1]},
    ),
}
ENGINES: dict[str, Any] = {name: name for name in pgm.engines.ENGINES} | {
    "best": pgm.engines.Best(seconds=5),
    "rejection": pgm.engines.Rejection(samples=4000),
    "likelihood-weighting": pgm.engines.LikelihoodWeighting(samples=4000),
    "importance": pgm.engines.Importance(samples=4000),
    "gibbs": pgm.engines.Gibbs(samples=1000, burn_in=50),
}
pytestmark = pytest.mark.filterwarnings("ignore::pgm.ConvergenceWarning")
every_engine = pytest.mark.parametrize("name", ENGINES)
every_evidence = pytest.mark.parametrize("kind", EVIDENCE)


def posterior(kind: str) -> tuple[np.ndarray, float]:
    """The joint posterior of everything, and the weight of the evidence."""
    table = JOINT
    for name, weights in EVIDENCE[kind][1].items():
        shape = [1] * 4
        shape[NAMES.index(name)] = -1
        table = table * np.reshape(np.array(weights, dtype=np.float64), shape)
    if kind == "Soft":  # Jeffrey's rule: the marginal afterwards
        table = table / table.sum(axis=(0, 1, 3), keepdims=True) * np.array([0.3, 0.7])[:, None]
    total = float(table.sum())
    return table / total, total


def over(table: np.ndarray, names: list[str]) -> np.ndarray:
    axes = [NAMES.index(name) for name in names]
    left = table.sum(axis=tuple(i for i in range(4) if i not in axes))
    return left.transpose([sorted(axes).index(a) for a in axes])


def asked(name: str, kind: str, call: Any) -> Any:
    """The answer, or None where it is refused in words that say by whom, or what of."""
    try:
        return call()
    except pgm.PGMError as refused:
        text = str(refused)
        assert f'"{name}"' in text or f"pgm.{kind}" in text, text
        assert pgm.engines.ENGINES[name].approximates or "does not answer" in text or kind == "Soft", text
        return None


def honest(p: Any, values: np.ndarray, truth: np.ndarray) -> None:
    """Exact to rounding, inside sure bounds, within six standard errors; or it claims none of these."""
    report = p.report
    assert values.sum() == pytest.approx(1.0, abs=1e-9)
    if report.exact:
        np.testing.assert_allclose(values, truth, atol=1e-9)
        return
    found = report.intervals
    if getattr(p, "bounds", None) is not None:
        assert (p.bounds[..., 0] <= truth + 1e-12).all()
        assert (truth <= p.bounds[..., 1] + 1e-12).all()
    if found is not None and found.errors is not None:
        assert (np.abs(values - truth) <= 6.0 * found.errors + 1e-9).all()
    assert f"APPROXIMATE ({report.engine})" in repr(p)


@every_evidence
@every_engine
def test_sums(name: str, kind: str) -> None:
    engine, given = ENGINES[name], EVIDENCE[kind][0]
    table, total = posterior(kind)
    for targets in (["ill"], ["tired", "season"], ["ill", "age"]):
        p = asked(name, kind, lambda targets=targets: NET.query(targets, given, engine=engine))
        if p is not None:
            honest(p, p.values, over(table, targets))
    every = asked(name, kind, lambda: NET.marginals(given, engine=engine))
    for one, p in (every or {}).items():
        honest(p, p.values, over(table, [one]))
    p = asked(name, "Soft", lambda: NET.probability(given, engine=engine))
    if kind == "Soft":
        assert p is None  # a marginal afterwards has no probability
        return
    log = asked(name, "Soft", lambda: NET.log_probability(given, engine=engine))
    if p is None:
        return
    assert log == pytest.approx(p.log, abs=1e-12)
    if p.exact:
        assert p == pytest.approx(total, rel=1e-9)
    if p.report.log_bounds is not None:
        assert p.report.log_bounds[0] <= math.log(total) + 1e-12
        assert math.log(total) <= p.report.log_bounds[1] + 1e-12
    if p.report.log_error:
        assert abs(p.log - math.log(total)) <= 6.0 * p.report.log_error


@every_evidence
@every_engine
def test_maxima(name: str, kind: str) -> None:
    engine, given = ENGINES[name], EVIDENCE[kind][0]
    table, _ = posterior(kind)
    best = asked(name, kind, lambda: NET.map(given, engine=engine))
    free = [n for n in NAMES if n in (best or {})]
    values = np.sort(over(table, free).ravel())[::-1]
    if best is not None:
        own = over(table, free)[tuple(NET.variables[n].code(best[n]) for n in free)]
        assert own <= values[0] + 1e-12
        if best.exact:
            assert own == pytest.approx(values[0], rel=1e-9)
            assert best.probability is None or best.probability == pytest.approx(values[0], rel=1e-9)
    several = asked(name, kind, lambda: NET.k_best(given, k=3, engine=engine))
    if several is not None:
        found = [one.probability for one in several]
        assert found == pytest.approx(values[:3].tolist(), rel=1e-9)
    some = asked(name, kind, lambda: NET.map(given, targets=["ill"], engine=engine))
    if some is not None and some.exact and "ill" not in given:
        assert some["ill"] == bool(over(table, ["ill"]).argmax())


@every_evidence
@every_engine
def test_samples(name: str, kind: str) -> None:
    engine, given, n = ENGINES[name], EVIDENCE[kind][0], 3000
    table, _ = posterior(kind)
    drawn = asked(name, kind, lambda: NET.sample(n, given=given, seed=3, engine=engine))
    if drawn is None:
        return
    for one in NAMES:
        codes = np.array([NET.variables[one].code(state) for state in drawn[one]])
        truth = over(table, [one])
        share = np.bincount(codes, minlength=truth.size) / n
        assert (np.abs(share - truth) <= 6.0 * np.sqrt(truth * (1 - truth) / (0.2 * n)) + 1e-12).all()


@every_engine
def test_plans(name: str) -> None:
    for kind in EVIDENCE:
        plan = asked(name, kind, lambda kind=kind: NET.plan("ill", EVIDENCE[kind][0], engine=ENGINES[name]))
        if plan is not None:
            assert plan.fits


def test_rows_and_compiled_questions() -> None:
    """They take states and numbers in cells, and are exact."""
    frame = {"season": ["dry", None, "wet"], "tired": [True, False, None], "age": [20.0, 70.0, 3.0]}
    ages = [1, 2, 0]
    probabilities, logs = NET.predict_proba(frame, "ill"), NET.log_likelihood(frame)
    ask = NET.compile("ill", ["tired", "age"])
    for row in range(3):
        table = JOINT
        for name, code in (("season", (0, None, 2)[row]), ("tired", (1, 0, None)[row]), ("age", ages[row])):
            if code is not None:
                table = np.take(table, [code], axis=NAMES.index(name))
        truth = table.sum(axis=(0, 1, 3))
        assert logs[row] == pytest.approx(math.log(truth.sum()), abs=1e-9)
        assert probabilities[row] == pytest.approx((truth / truth.sum()).tolist(), abs=1e-9)
        assert NET.predict(frame, "ill")[row] == bool(truth.argmax())
    truth = JOINT[:, 1, :, 1].sum(axis=0)
    assert ask({"tired": True, "age": 20}).values == pytest.approx((truth / truth.sum()).tolist(), abs=1e-9)
