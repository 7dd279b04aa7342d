"""Pairwise binary models: the best states of all variables by a minimum cut, or of some by roof duality."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgm.inference.engines.cuts.energies import Energies, Pairs
from pgm.runtime.clock import Clock
from pgm.runtime.running import CUTS, run

FREE, SOURCE, SINK = 0, 1, 2  # as in compiled.py
_ENDLESS = 1 << 62
_SAME = 36  # fractional binary digits to which tied energies agree
_STEPS = 60.0  # inner steps for each arc, roughly estimated in advance


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """The result of a cut: a state for each variable, -1 where it decides none."""

    states: np.ndarray  # int64[n]
    ties_broken: bool = True  # False: states that come earlier may be equally good up to rounding


class Network:
    """A graph with capacities, the flow pushed through it, and the resulting trees."""

    def __init__(
        self,
        n: int,
        left: np.ndarray,
        right: np.ndarray,
        there: np.ndarray,
        back: np.ndarray,
        excess: np.ndarray,
    ) -> None:
        """Take pairs of nodes with capacities both ways, and `excess` from the source (+) or sink (-)."""
        self.steps = _STEPS * (n + 2.0 * left.size)
        ends = left.astype(np.int32, copy=False), right.astype(np.int32, copy=False)
        self.first, self.head, self.sister, self.forward = CUTS.link(n, *ends)
        self.residual = np.empty(2 * left.size, np.int64)
        self.residual[self.forward] = there
        self.residual[self.sister[self.forward]] = back
        self.excess = excess
        self.tree = np.zeros(n, np.uint8)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The first arguments of the compiled functions."""
        return self.first, self.head, self.sister, self.residual

    def push(self, clock: Clock) -> np.ndarray:
        """Push a maximum flow; return for each node SOURCE, SINK, or FREE where minimum cuts differ."""
        run("max_flow", *self.arrays, self.excess, self.tree, steps=self.steps, clock=clock, module=CUTS)
        return self.tree.copy()

    def stays(self, trees: np.ndarray, tilt: np.ndarray, clock: Clock) -> bool:
        """Whether every node stays on its side if all are paid `tilt` to leave, one side at a time.

        Call it after `push`, which left these `trees`.
        """
        unsure = [side for side in (SOURCE, SINK) if not self.firm(trees, side, tilt, clock)]
        for side in unsure:
            change = tilt if side == SINK else -tilt
            self.excess += change
            if not np.array_equal(self.push(clock) == side, trees == side):
                return False
            self.excess -= change
        return True

    def firm(self, trees: np.ndarray, side: int, tilt: np.ndarray, clock: Clock) -> bool:
        """Whether the residual capacities show that `tilt` moves no node from this side.

        Call it after `push`, which left these `trees`. With large residual capacities this saves another
        flow: making up for millions of small losses takes long paths.
        """
        mine, found = trees == side, np.empty(trees.size, np.uint8)
        args = (*self.arrays, self.excess, self.tree, side, int(tilt[mine].sum()), found)
        run("firm", *args, steps=0.1 * self.steps, clock=clock, module=CUTS)
        return bool(found[mine].all())

    def forget(self, tiny: np.ndarray) -> bool:
        """Drop residual capacities up to `tiny` at both of their nodes, as rounding; were there any?"""
        tails = np.repeat(tiny, np.diff(self.first))
        residual = (self.residual > 0) & (self.residual <= np.minimum(tails, tiny[self.head]))
        excess = (self.excess != 0) & (np.abs(self.excess) <= tiny)
        self.residual[residual] = 0
        self.excess[excess] = 0
        return bool(residual.any() or excess.any())


def curves(tables: np.ndarray, forbidden: np.ndarray, slack: int) -> np.ndarray:
    """For each pair 1 if equal states are favoured, -1 if unequal ones are, 0 if neither."""
    c = tables[:, 1] + tables[:, 2] - tables[:, 0] - tables[:, 3]
    sign = np.where(c > slack, 1, np.where(c < -slack, -1, 0))
    sign[forbidden[:, 1] | forbidden[:, 2]] = 1
    sign[forbidden[:, 0] | forbidden[:, 3]] = -1
    return sign


def arcs(tables: np.ndarray, forbidden: np.ndarray, linked: np.ndarray) -> tuple[np.ndarray, ...]:
    """Write tables that favour equal states as costs of state 1 and capacities of arcs in both directions.

    Returns the cost of state 1 left and right, and the additional costs of (0, 1) and (1, 0); the table of a
    pair that is not linked is the sum of the first two, up to rounding.
    """
    e00, e01, e10, e11 = tables.T
    f01, f10 = forbidden[:, 1], forbidden[:, 2]
    curve = e01 + e10 - e00 - e11
    there = np.where(linked, curve // 2, 0)
    back = np.where(linked, curve - curve // 2, 0)
    right = e01 - e00 - there
    left = np.where(linked, e11 - e00 - right, e10 - e00)
    either = f01 | f10
    if either.any():
        left = np.where(f01, np.where(f10, e11 - e00, e10 - e00), left)
        right = np.where(f10, np.where(f01, 0, e01 - e00), right)
        right = np.where(f01 & ~f10, e11 - e10, right)
        left = np.where(f10 & ~f01, e11 - e01, left)
        there = np.where(f01, _ENDLESS, np.where(either, 0, there))
        back = np.where(f10, _ENDLESS, np.where(either, 0, back))
    return left, right, there, back


def flipped(tables: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The tables with the states of the left, or right, variable of some pairs exchanged."""
    t = tables.reshape(-1, 2, 2)
    t = np.where(left[:, None, None], t[:, ::-1], t)
    return np.where(right[:, None, None], t[:, :, ::-1], t).reshape(-1, 4)


def solve(pairs: Pairs, use: np.ndarray, energies: Energies, declared: np.ndarray, clock: Clock) -> Labels:
    """The best states of the variables in `use`, wherever their connected components allow.

    Among equally good ones it finds the first, where `declared` is the order of the variables.

    Components in which, after flips, all pairs favour equal states are solved by one minimum cut; in the
    others roof duality may label some variables.
    """
    error = energies.error
    slack = 4 * error
    sign = curves(pairs.tables, pairs.forbidden, slack)
    clock.check()
    linked = np.flatnonzero(sign)
    n = use.size
    first, head, sister, forward = CUTS.link(n, pairs.left[linked], pairs.right[linked])
    clock.check()
    odd = np.zeros(head.size, np.uint8)
    odd[forward] = odd[sister[forward]] = sign[linked] < 0
    part, flip = np.empty(n, np.int64), np.zeros(n, np.uint8)
    good = CUTS.colour(first, head, odd, part, flip)[part] > 0
    del first, head, sister, forward, odd
    clock.check()
    margin = 14 * error * pairs.uses  # each table is off by the slack and twice the error, before and after
    states = np.full(n, -1, np.int64)
    ties_broken = True
    if (use & good).any():
        most = 1 << max(0, energies.shift - _SAME)
        ties_broken = _cut(pairs, sign, flip > 0, use & good, margin, most, declared, states, clock)
    if (use & ~good).any():
        _by_roof_duality(pairs, sign, use & ~good, margin, states, clock)
    return Labels(states, ties_broken)


def _cut(
    pairs: Pairs,
    sign: np.ndarray,
    flip: np.ndarray,
    use: np.ndarray,
    margin: np.ndarray,
    most: int,
    declared: np.ndarray,
    states: np.ndarray,
    clock: Clock,
) -> bool:
    """Fill in the best states by a minimum cut, of several the first as declared; return if that is certain.

    A residual capacity up to the margin, and up to `most`, is treated as rounding.
    """
    index = np.cumsum(use) - 1
    places = np.flatnonzero(use)
    mine = np.flatnonzero(use[pairs.left] | use[pairs.right])
    u, v = pairs.left[mine], pairs.right[mine]
    tables = flipped(pairs.tables[mine], flip[u], flip[v])
    forbidden = flipped(pairs.forbidden[mine], flip[u], flip[v])
    clock.check()
    left, right, there, back = arcs(tables, forbidden, sign[mine] != 0)
    excess = np.where(flip, -pairs.alone, pairs.alone)
    np.add.at(excess, u, left)
    np.add.at(excess, v, right)
    kept = np.flatnonzero(sign[mine])
    clock.check()
    network = Network(
        places.size,
        index[u[kept]].astype(np.int32),
        index[v[kept]].astype(np.int32),
        there[kept],
        back[kept],
        excess[places],
    )
    del tables, forbidden, left, right, there, back, mine, kept, u, v
    trees = network.push(clock)
    margin = margin[places]
    tiny = np.minimum(margin, most)
    if network.forget(tiny):  # a tie up to rounding is a tie
        trees = network.push(clock)
        margin = margin + tiny * (pairs.uses[places] + 1)
    # State 0, or state 1 of a flipped variable, lies on the source's side.
    order = index[declared[use[declared]]]
    prefer = np.where(flip[places], SINK, SOURCE).astype(np.uint8)
    sides = trees.copy()
    run("break_ties", *network.arrays, sides, order, prefer, steps=network.steps, clock=clock, module=CUTS)
    states[places] = (sides == SINK) ^ flip[places]
    return _is_certain(network, trees, margin, clock)


def _is_certain(network: Network, trees: np.ndarray, margin: np.ndarray, clock: Clock) -> bool:
    """Whether every assignment within rounding of the best is equal to it exactly.

    Nodes that stay with the source even if each is paid its margin to leave stay there in all such
    assignments; likewise for the sink. For the free nodes, any assignment that is not a minimum cut costs at
    least the smallest residual capacity between them.
    """
    free = trees == FREE
    least = CUTS.least_residual(network.first, network.head, network.residual, trees)
    if free.any() and least <= int(margin[free].sum()):
        return False
    return network.stays(trees, margin, clock)


def _by_roof_duality(
    pairs: Pairs, sign: np.ndarray, use: np.ndarray, margin: np.ndarray, states: np.ndarray, clock: Clock
) -> None:
    """Label the variables that have one state in all best assignments, as far as roof duality proves it.

    Hammer, Hansen & Simeone 1984; Kolmogorov & Rother 2007. Every variable has a second node, its complement.
    A pair that favours unlike states is written with the complement of its right variable.
    """
    index = np.cumsum(use) - 1
    places = np.flatnonzero(use)
    n = places.size
    mine = np.flatnonzero(use[pairs.left] | use[pairs.right])
    u, v = pairs.left[mine], pairs.right[mine]
    unlike = sign[mine] < 0
    never = np.zeros(mine.size, bool)
    tables = flipped(pairs.tables[mine], never, unlike)
    forbidden = flipped(pairs.forbidden[mine], never, unlike)
    clock.check()
    left, right, there, back = arcs(tables, forbidden, sign[mine] != 0)
    alone = pairs.alone.copy()
    np.add.at(alone, u, left)
    np.add.at(alone, v, np.where(unlike, -right, right))
    clock.check()
    kept = np.flatnonzero(sign[mine])
    i = index[u[kept]]
    j = np.where(unlike[kept], index[v[kept]] + n, index[v[kept]])
    ends = np.concatenate([i, (j + n) % (2 * n)]), np.concatenate([j, (i + n) % (2 * n)])
    excess = np.concatenate([alone[places], -alone[places]])
    network = Network(
        2 * n,
        ends[0].astype(np.int32),
        ends[1].astype(np.int32),
        np.concatenate([there[kept], there[kept]]),
        np.concatenate([back[kept], back[kept]]),
        excess,
    )
    # v on the source's side: state 0. Its complement there: state 1.
    tilt = margin[places]
    trees = network.push(clock)
    labels = _labels(trees, n)
    tilts = np.concatenate([tilt, tilt])
    if network.firm(trees, SOURCE, tilts, clock) and network.firm(trees, SINK, tilts, clock):
        states[places] = labels
        return
    network.excess[:n] += np.where(labels == 1, tilt, np.where(labels == 0, -tilt, 0))
    network.excess[n:] -= np.where(labels == 1, tilt, np.where(labels == 0, -tilt, 0))
    again = _labels(network.push(clock), n)
    states[places] = np.where(labels == again, labels, -1)


def _labels(trees: np.ndarray, n: int) -> np.ndarray:
    return np.where(trees[:n] == SOURCE, 0, np.where(trees[n:] == SOURCE, 1, -1))
