"""Random networks in place of ones that nobody tunes for, seeds fixed: dense, and nearly all zero.

The shape is that of networks of agriculture: 40 to 60 nodes of 5 to 60 states, most of them few, with up to
four parents among the nodes before. In the others, of 35 nodes, each is about a mean of up to three parents.
Seeds were chosen by the size of the tree alone (`entries` below).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import pgm
from benchmarks import peers
from benchmarks.harness import PYAGRUM, Finding, Options, Report, conclude
from benchmarks.networks import race_marginals

SHARES = {0.0: "stand-ins, nothing known", 0.1: "stand-ins, 10 %", 0.3: "stand-ins, 30 %"}
_TABLE = 40_000  # entries that a node's own table may have


@dataclass(frozen=True)
class Shape:
    """How a random network is drawn."""

    seed: int
    nodes: int
    window: int  # parents are among so many nodes before


# Trees of about 2e7 entries, and one of about 1e8.
MIDDLE = {
    "dense44": Shape(9, 44, 10),
    "dense48": Shape(30, 48, 10),
    "dense52": Shape(3, 52, 9),
    "dense56": Shape(1, 56, 8),
    "dense60": Shape(33, 60, 7),
}
LARGE = {"large52": Shape(15, 52, 9)}
ZEROS = {"mean35a": Shape(0, 35, 6), "mean35b": Shape(1, 35, 6), "mean35c": Shape(2, 35, 6)}


def dense(shape: Shape) -> pgm.BayesianNetwork:
    """Draw a network."""
    rng = np.random.default_rng(shape.seed)
    cards = np.clip(np.round(5 * np.exp(rng.exponential(0.45, shape.nodes))), 5, 60).astype(int)
    net = pgm.BayesianNetwork(f"dense {shape.seed}")
    for i in range(shape.nodes):
        before = np.arange(max(0, i - shape.window), i)
        wanted = min(len(before), int(rng.choice([1, 2, 3, 4], p=[0.25, 0.45, 0.2, 0.1])))
        parents: list[int] = []
        for j in rng.permutation(before).tolist():
            if len(parents) < wanted and cards[[*parents, j, i]].prod() <= _TABLE:
                parents.append(j)
        rows = rng.dirichlet(np.ones(cards[i]), size=tuple(cards[parents]))
        net.add(f"v{i}", rows, parents=[f"v{j}" for j in parents], states=range(cards[i]))
    return net


def mean(shape: Shape) -> pgm.BayesianNetwork:
    """Draw a network whose nodes are a weighted mean of their parents, give or take one state."""
    rng = np.random.default_rng(shape.seed)
    net = pgm.BayesianNetwork(f"mean {shape.seed}")
    cards: list[int] = []
    for i in range(shape.nodes):
        card, wanted = int(rng.integers(4, 40)), min(i, int(rng.integers(1, 4)))
        before = np.arange(max(0, i - shape.window), i)
        parents = sorted(rng.choice(before, min(wanted, before.size), replace=False).tolist()) if i else []
        while math.prod(cards[p] for p in parents) * card > _TABLE:
            parents.pop()
        table = np.ones(card)
        if parents:
            axes = np.meshgrid(*[np.linspace(0, 1, cards[p]) for p in parents], indexing="ij")
            weights = rng.dirichlet(np.ones(len(parents)))
            middle = sum(weight * axis for weight, axis in zip(weights, axes, strict=True)) * (card - 1)
            away = np.abs(np.arange(card) - np.asarray(middle)[..., None])
            table = np.where(away <= 1, np.exp(-away), 0.0)
        cards.append(card)
        rows = table / table.sum(-1, keepdims=True)
        net.add(f"v{i}", rows, parents=[f"v{p}" for p in parents], states=range(card))
    return net


def run(report: Report, options: Options) -> None:
    """All posteriors with nothing, 10 % and 30 % observed."""
    for name, shape in {**MIDDLE, **LARGE, **ZEROS}.items():
        if not options.asked(name) or not any(map(options.wants, SHARES.values())):
            continue
        net = mean(shape) if name in ZEROS else dense(shape)
        entries = net.plan().entries
        peer = peers.PyAgrum(net)
        for share, race in SHARES.items():
            if options.wants(race):
                race_marginals(report, race, name, net, peer, share, options.rounds, entries=entries)
    for share, race in SHARES.items():
        conclude(report, race, None)
        found = {case: r.ratio for case, r in report.of(race, PYAGRUM).items() if r.ratio is not None}
        wanted, cases = (2.0, [*MIDDLE, *LARGE, *ZEROS]) if share else (20.0, [*LARGE])
        ratios = {case: found[case] for case in cases if case in found}
        if ratios:
            low = min(ratios, key=ratios.__getitem__)
            met = ratios[low] >= wanted
            what = f"{race}: lowest{'' if share else ', tree of 1e8 entries'}"
            report.find(Finding(what, f"{ratios[low]:.1f} ({low})", f"at least {wanted:g}", met))
