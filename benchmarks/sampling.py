"""Samplers: how often their 95 % intervals hold the exact answer, over many seeds; draws a second.

The models are small enough for the exact engine: Ising magnets with fields, and two layers of noisy-OR gates.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import pgm
from benchmarks.harness import Finding, Options, Report, Result

HOLDS, SPEED = "95 % intervals hold", "draws of a magnet"
_SEEDS = 500
_SAME_WEIGHTS = 1e-9


def magnet(n: int, coupling: float) -> tuple[Any, dict[str, Any]]:
    """A square of n x n spins with random fields; one is known."""
    rng, mrf = np.random.default_rng(1), pgm.MarkovNetwork()
    names = {(i, j): f"s[{i},{j}]" for i in range(n) for j in range(n)}
    for name in names.values():
        mrf.add_variable(name, states=[-1, 1])
    pair = coupling * np.array([[1.0, -1.0], [-1.0, 1.0]])
    for (i, j), name in names.items():
        field = 0.3 * rng.normal()
        mrf.add_factor([name], [-field, field], log=True)
        for at in ((i + 1, j), (i, j + 1)):
            if at in names:
                mrf.add_factor([name, names[at]], pair, log=True)
    return mrf, {"s[0,0]": 1}


def diagnosis(diseases: int, findings: int) -> tuple[Any, dict[str, Any]]:
    """Diseases, and findings that are noisy-OR gates of three; half are known, every fourth is positive."""
    rng, net = np.random.default_rng(2), pgm.BayesianNetwork()
    for d in range(diseases):
        net.add(f"d{d}", float(rng.uniform(0.02, 0.3)))
    for f in range(findings):
        causes = {f"d{d}": float(rng.uniform(0.2, 0.9)) for d in rng.choice(diseases, 3, replace=False)}
        net.add(f"f{f}", pgm.NoisyOr(causes, leak=0.05))
    return net, {f"f{f}": f % 4 == 0 for f in range(findings // 2)}


ENGINES: Mapping[str, Callable[[int], Any]] = {
    "rejection": lambda seed: pgm.engines.Rejection(seed=seed),
    "likelihood-weighting": lambda seed: pgm.engines.LikelihoodWeighting(seed=seed),
    "importance": lambda seed: pgm.engines.Importance(seed=seed),
    "importance, mini-buckets": lambda seed: pgm.engines.Importance(seed=seed, guide="bounds"),
    "gibbs": lambda seed: pgm.engines.Gibbs(seed=seed),
    "swendsen-wang": lambda seed: pgm.engines.SwendsenWang(seed=seed),
}


def run(report: Report, options: Options) -> None:
    """All of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pgm.ConvergenceWarning)
        if options.wants(HOLDS):
            intervals(report, _SEEDS if max(options.sizes) >= 100_000 else 10)
        if options.wants(SPEED):
            draws(report, 200 if max(options.sizes) >= 100_000 else 20)


def held(model: Any, given: Mapping[str, Any], make: Callable[[int], Any], seeds: int) -> dict[str, float]:
    """In which share of the seeds intervals of each variable, and of log P, hold the truth.

    Where all weights are the same, log P has no error to hold: it must be right up to rounding, and does not
    count.
    """
    exact, inside, totals = model.marginals(given), [], []
    sums = "probability" in make(0).answers
    log = float(model.log_probability(given)) if sums else 0.0
    good = 0
    for seed in range(seeds):
        found = model.marginals(given, engine=make(seed))
        good += found.report.converged
        row = []
        for name, p in found.items():
            low, high = p.report.intervals[-1]
            row.append(low <= exact[name].values[-1] <= high)
        inside.append(row)
        if sums:
            answer = model.log_probability(given, engine=make(seed))
            low, high = answer.report.interval
            if high - low > _SAME_WEIGHTS:
                totals.append(low <= log <= high)
            elif not abs(answer - log) <= _SAME_WEIGHTS:
                totals.append(False)
    each = np.mean(inside, axis=0)
    figures = {"mean": float(each.mean()), "least": float(each.min()), "most": float(each.max())}
    if totals:
        figures["log P"] = float(np.mean(totals))
    return figures | {"converged": good / seeds}


def intervals(report: Report, seeds: int) -> None:
    """Every engine on both models, as far as it takes them."""
    for case, (model, given) in {"Ising": magnet(5, 0.35), "noisy-OR": diagnosis(8, 12)}.items():
        for name, make in ENGINES.items():
            try:
                begin = time.perf_counter()
                figures = held(model, given, make, seeds)
            except pgm.InvalidArgument:
                continue  # not for this kind of model
            seconds = (time.perf_counter() - begin) / seeds
            report.add(Result(HOLDS, case, name, seconds, figures=figures))
            what = f"{HOLDS}: {case}, {name}, {seeds} seeds"
            shares = [figures["mean"], *([figures["log P"]] if "log P" in figures else [])]
            within = all(0.92 <= share <= 0.98 for share in shares)
            report.find(Finding(what, ", ".join(f"{s:.3f}" for s in shares), "0.92 to 0.98", within))


def draws(report: Report, n: int) -> None:
    """Seconds for one draw of all spins, by one thread."""
    model, given = magnet(n, 0.3)
    with pgm.config(threads=1):
        for name in ("gibbs", "swendsen-wang", "importance"):
            kind = pgm.engines.ENGINES[name]
            small = magnet(4, 0.3)[0]
            small.marginals(engine=kind(samples=200))
            begin = time.perf_counter()
            found = model.marginals(given, engine=kind(samples=400))
            each = (time.perf_counter() - begin) / found.report.samples / n**2
            report.add(Result(SPEED, f"{n} x {n}", name, each, note="for each spin of each draw"))
