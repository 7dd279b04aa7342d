"""Filters that merge Gaussians in every step, and Kim's smoother.

GPB1 keeps one Gaussian, GPB2 one for each regime (Ackerson & Fu 1970; Bar-Shalom, Li & Kirubarajan 2001,
section 11.6), and so does IMM, which merges before the prediction (Blom & Bar-Shalom 1988).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .expected import Expected
from .lanes import (
    Gaussians,
    Link,
    Mixture,
    Regimes,
    Steps,
    began,
    cross,
    log_sum,
    merged,
    mixture,
    moved,
    observed,
    returned,
    shares,
)


class RegimeBelief(NamedTuple):
    """The belief in a step: a Gaussian for each regime, and the log probabilities of the regimes."""

    each: Gaussians  # (K, ...)
    logs: np.ndarray  # (K,)


class MergedStep(NamedTuple):
    """One step of the filter."""

    before: RegimeBelief  # given the observations before it
    after: RegimeBelief  # given also its own observation
    log: float  # this step's term of the log density
    links: Link | None  # of GPB2: for each of the K * K pairs of regimes, the earlier one changing slowest


def begun(r: Regimes, row: np.ndarray, shift: np.ndarray, how: str) -> MergedStep:
    """The first step; `how` is "gpb1", "gpb2" or "imm"."""
    own = np.arange(r.count)
    before = RegimeBelief(began(r), r.log_initial)
    after, log = _seen(r, before.each, own, before.logs, row, shift, 0)
    return MergedStep(_kept(before, how), _kept(RegimeBelief(after, log[0]), how), log[1], None)


def _seen(
    r: Regimes, g: Gaussians, regime: np.ndarray, logs: np.ndarray, row: np.ndarray, shift: np.ndarray, t: int
) -> tuple[Gaussians, tuple[np.ndarray, float]]:
    after, own = observed(r, g, regime, row, shift, t)
    total = float(log_sum(logs + own, 0))
    return after, (logs + own - total, total)


def _kept(now: RegimeBelief, how: str) -> RegimeBelief:
    """For GPB1 merge all Gaussians into one, the same in every regime."""
    if how != "gpb1":
        return now
    K = len(now.logs)
    one = merged(now.each, np.exp(now.logs)[None])
    return RegimeBelief(one.at(np.zeros(K, np.int64)), now.logs)


def advanced(
    r: Regimes, now: RegimeBelief, row: np.ndarray, push: np.ndarray, shift: np.ndarray, t: int, how: str
) -> MergedStep:
    """The step after a belief; `how` is "gpb1", "gpb2" or "imm"."""
    K = r.count
    own = np.arange(K)
    ways = now.logs[:, None] + r.log_transition  # from, to
    if how == "gpb2":
        regime = np.tile(own, K)
        g, links = moved(r, now.each.at(np.repeat(own, K)), regime, push)
        before = _to(g, ways)
        after, (logs, log) = _seen(r, g, regime, ways.ravel(), row, shift, t)
        return MergedStep(before, _to(after, logs.reshape(K, K)), log, links)
    mixed = _to(now.each.at(np.repeat(own, K)), ways)
    g, _ = moved(r, mixed.each, own, push)
    before = RegimeBelief(g, mixed.logs)
    after, (logs, log) = _seen(r, g, own, before.logs, row, shift, t)
    return MergedStep(before, _kept(RegimeBelief(after, logs), how), log, None)


def _to(g: Gaussians, ways: np.ndarray) -> RegimeBelief:
    """For each regime, one Gaussian merged from all that lead there."""
    K = len(ways)
    turned = np.arange(K * K).reshape(K, K).T.ravel()
    return RegimeBelief(merged(g.at(turned), shares(ways, 0).T), log_sum(ways, 0))


def back(
    r: Regimes, s: Steps, steps: list[MergedStep], expected: Expected | None = None
) -> tuple[list[Mixture], list[np.ndarray]]:
    """Kim's smoother (1994): given the next regime, the next state is taken as independent of this one.

    Returns the mixture of each step, and the covariance of each state with the next.
    """
    K = r.count
    own = np.arange(K)
    later = steps[-1].after
    found, crosses = [mixture(r, later.each, own, np.exp(later.logs), s.shifts[-1])], []
    if expected is not None:
        expected.see(len(steps) - 1, later.each, own, np.exp(later.logs))
    for t in range(len(steps) - 2, -1, -1):
        now, link = steps[t].after, steps[t + 1].links
        assert link is not None
        after = later.each.at(np.tile(own, K))
        pairs = returned(now.each.at(np.repeat(own, K)), link, after)
        ways = now.logs[:, None] + r.log_transition
        with np.errstate(invalid="ignore"):
            both = ways - log_sum(ways, 0) + later.logs
        both = np.where(np.isfinite(ways), both, -np.inf)
        before = RegimeBelief(merged(pairs, shares(both, 1)), log_sum(both, 1))
        found.append(mixture(r, before.each, own, np.exp(before.logs), s.shifts[t]))
        weights = np.exp(both).ravel()
        crosses.append(cross(pairs, link, after, weights, found[-1].mean, found[-2].mean))
        if expected is not None:
            expected.see(t, before.each, own, np.exp(before.logs))
            expected.see_move(t, pairs, link, after, np.repeat(own, K), np.tile(own, K), weights)
        later = before
    return found[::-1], crosses[::-1]
