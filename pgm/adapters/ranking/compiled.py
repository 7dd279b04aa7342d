"""Pairwise ranking updates: the loops."""

from __future__ import annotations

from pgm.runtime.kinds import Floats, Ints


def follow_pairs(
    rows: Floats, dim: int, better: Ints, worse: Ints, margin: float, rate: float, weights: Floats
):
    """Move the weights at each pair whose better row leads by less than the margin; returns how many did."""
    moved = 0
    for t in range(better.size):
        u = better[t] * dim
        v = worse[t] * dim
        ahead = 0.0
        for i in range(dim):
            ahead += weights[i] * (rows[u + i] - rows[v + i])
        if ahead < margin:
            moved += 1
            for i in range(dim):
                weights[i] += rate * (rows[u + i] - rows[v + i])
    return moved


def hinge(scores: Floats, better: Ints, worse: Ints, margin: float):
    """The hinge loss: by how much the pairs fall short of the margin, in all."""
    total = 0.0
    for t in range(better.size):
        short = margin - (scores[better[t]] - scores[worse[t]])
        if short > 0.0:
            total += short
    return total


def in_order(scores: Floats, better: Ints, worse: Ints):
    """How many pairs are in the right order; those that tie count half."""
    total = 0.0
    for t in range(better.size):
        ahead = scores[better[t]] - scores[worse[t]]
        if ahead > 0.0:
            total += 1.0
        elif ahead == 0.0:
            total += 0.5
    return total
