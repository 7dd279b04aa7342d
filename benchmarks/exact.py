"""Races on exact inference: all posteriors, one posterior, classified rows."""

from __future__ import annotations

from typing import Any

import numpy as np

import pgm
from benchmarks.harness import Side, assert_close, race

SMALL = ("asia", "alarm", "child", "insurance", "hailfinder", "win95pts")
LARGE = ("andes", "pigs", "water", "diabetes", "munin", "munin2", "munin4")
TOO_SLOW = {
    (name, "pgmpy"): "minutes and more" for name in (*LARGE, "link", "insurance", "hailfinder", "win95pts")
}
NO_MEMORY = {("link", "pyagrum"): "runs out of memory without evidence"}


def evidence_sets(net: pgm.BayesianNetwork, share: float, count: int) -> list[dict[str, Any]]:
    """Forward-sampled findings on a share of the nodes; all sets differ."""
    rng = np.random.default_rng(2024)
    names = list(net.variables)
    size = max(1, round(share * len(names)))
    drawn = net.sample(count, seed=7)
    sets = []
    for number in range(count):
        seen = sorted(rng.choice(len(names), size=size, replace=False))
        sets.append({names[i]: drawn[names[i]][number] for i in seen})
    return sets


def read(marginals: Any) -> dict[str, np.ndarray]:
    """Every value of every posterior."""
    return {name: distribution.values for name, distribution in marginals.items()}


@race("all posteriors, nothing known", *SMALL, *LARGE, "link", questions=1, skip=TOO_SLOW | NO_MEMORY)
def all_posteriors(net: pgm.BayesianNetwork, peer: Any) -> tuple[Side, Side]:
    assert_close(read(net.marginals()), peer.marginals({}))
    return lambda _: read(net.marginals()), lambda _: peer.marginals({})


@race("all posteriors, 10 % observed", *SMALL, *LARGE, "link", skip=TOO_SLOW)
def all_posteriors_observed(net: pgm.BayesianNetwork, peer: Any) -> tuple[Side, Side]:
    sets = evidence_sets(net, 0.1, 10)
    for given in sets[:3]:
        assert_close(read(net.marginals(given)), peer.marginals(given))
    return lambda i: read(net.marginals(sets[i])), lambda i: peer.marginals(sets[i])


@race("one posterior, 10 % observed", *SMALL, *LARGE, skip=TOO_SLOW)
def one_posterior(net: pgm.BayesianNetwork, peer: Any) -> tuple[Side, Side]:
    sets = evidence_sets(net, 0.1, 10)
    rng = np.random.default_rng(1)
    targets = [str(rng.choice([name for name in net.variables if name not in given])) for given in sets]
    for target, given in zip(targets, sets, strict=True):
        assert_close({target: net.query(target, given).values}, {target: peer.query(target, given)})
    return (
        lambda i: net.query(targets[i], sets[i]).values,
        lambda i: peer.query(targets[i], sets[i]),
    )


@race("probability of 10 % observed", "asia", "alarm", "hailfinder", "win95pts", "andes", peers=["pyagrum"])
def probability(net: pgm.BayesianNetwork, peer: Any) -> tuple[Side, Side]:
    sets = evidence_sets(net, 0.1, 10)
    for given in sets:
        assert_close({"P": [net.probability(given)]}, {"P": [peer.probability(given)]})
    return lambda i: net.probability(sets[i]), lambda i: peer.probability(sets[i])


CLASS = {"asia": "lung", "alarm": "LVFAILURE", "child": "Disease"}
ROWS = 1000


@race("1,000 rows classified", *CLASS, peers=["pyagrum"], questions=4)
def classified_rows(net: pgm.BayesianNetwork, peer: Any) -> tuple[Side, Side]:
    """All columns but the class and every third are known: a posterior that needs inference."""
    target = next(name for name in CLASS.values() if name in net.variables)
    columns = [name for i, name in enumerate(net.variables) if name != target and i % 3]
    frames, rows = [], []
    for seed in range(4):
        drawn = net.sample(ROWS, seed=seed)
        frames.append({name: drawn[name] for name in columns})
        rows.append([{name: drawn[name][i] for name in columns} for i in range(ROWS)])

    def theirs(number: int) -> np.ndarray:
        return np.array([peer.query(target, row) for row in rows[number]])

    def ours(number: int) -> np.ndarray:
        return np.asarray(net.predict_proba(frames[number], target))

    assert_close({"rows": ours(0)}, {"rows": theirs(0)})
    return ours, theirs


RACES = [all_posteriors, all_posteriors_observed, one_posterior, probability, classified_rows]
