"""Continuous variables with arbitrary densities: their likelihood where observed, errors where hidden.

A block is one variable, or several with a joint density. Observed, it is a likelihood over the states that
select its density; its values are known, and linear functions of them stay exact. Hidden, it takes part in no
exact answer: what depends on it is `unknown`, and questions that need it are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pgm.errors import InvalidArgument, InvalidEvidence, listed
from pgm.inference.program.continuous import Gaussians

# The standard deviation of the normal density that is 1 at its mean.
_PEAK_AT_ONE = 1.0 / np.sqrt(2.0 * np.pi)

Likelihoods = dict[
    tuple[int, ...], np.ndarray
]  # logarithms, by the positions of discrete variables in rising order


class Observed(NamedTuple):
    """The continuous variables and likelihoods once blocks are observed."""

    gaussians: Gaussians  # in which observed blocks have density one at their values
    likelihoods: Likelihoods


def columns_of(g: Gaussians, x: int) -> list[int]:
    """The indices of the variables of a block, the last of which is x."""
    d = g.arrays
    return [*d.parents[d.parent_at[x] : d.parent_at[x + 1]].tolist(), x]


def block_of(g: Gaussians, x: int) -> list[int]:
    """The indices of the variables of the block that has x."""
    for y, own in g.own.items():
        if own.whole and x in (columns := columns_of(g, y)):
            return columns
    return [x]


def switches_of(g: Gaussians, x: int) -> list[int]:
    """The positions of the discrete variables that select the density of x."""
    d = g.arrays
    found: list[int] = d.switches[d.switch_at[x] : d.switch_at[x + 1]].tolist()
    return found


def whole_blocks(g: Gaussians, seen: np.ndarray) -> tuple[list[int], list[tuple[list[int], list[int]]]]:
    """The observed blocks, each by its last variable; and the observed and hidden parts of the others."""
    found, torn, covered = [], [], set()
    for x, own in g.own.items():
        if own.whole:
            columns = columns_of(g, x)
            covered.update(columns)
            there = [c for c in columns if seen[c]]
            if len(there) == len(columns):
                found.append(x)
            elif there:
                torn.append((there, [c for c in columns if not seen[c]]))
    torn += [([x], []) for x in g.own if x not in covered and seen[x]]
    return found, torn


def refuse_torn(torn: Sequence[tuple[list[int], list[int]]], names: Sequence[str]) -> InvalidEvidence:
    """The error for a block observed in part; `names` are those of all continuous variables."""
    there, missing = ([names[c] for c in part] for part in torn[0])
    block = [names[c] for c in sorted([*torn[0][0], *torn[0][1]])]
    if not missing:
        return InvalidEvidence(
            f"{listed(there)} was added as part of a block whose last variable is not in the network: add "
            "all of them, or remove it."
        )
    is_are = "is" if len(there) == 1 else "are"
    return InvalidEvidence(
        f"{listed(block)} are a block with one density, observed whole or not at all: {listed(there)} "
        f"{is_are} given, without {listed(missing)}."
    )


def observe(
    g: Gaussians, seen: np.ndarray, value: np.ndarray, codes: Mapping[int, int], cards: np.ndarray,
    names: Sequence[str],
) -> Observed:  # fmt: skip
    """The likelihoods of observed blocks over the hidden states that select their densities.

    Args:
        g: the continuous variables.
        seen: which are observed.
        value: their values.
        codes: the states that are known, by position.
        cards: of all variables.
        names: of the continuous variables.
    """
    blocks, torn = whole_blocks(g, seen)
    if torn:
        raise refuse_torn(torn, names)
    bias, sd, found = g.arrays.bias.copy(), g.arrays.sd.copy(), Likelihoods()
    for x in g.own:
        if seen[x]:
            rows = slice(g.arrays.row_at[x], g.arrays.row_at[x + 1])
            bias[rows], sd[rows] = value[x], _PEAK_AT_ONE
    for x in blocks:
        switches = switches_of(g, x)
        logs = (
            g.own[x].logs(value[columns_of(g, x)][np.newaxis])[0].reshape([int(cards[v]) for v in switches])
        )
        logs = logs[tuple([codes.get(v, slice(None)) for v in switches])]
        axes = [v for v in switches if v not in codes]
        key = tuple(sorted(axes))
        logs = logs.transpose([axes.index(v) for v in key])
        found[key] = found[key] + logs if key in found else logs
    return Observed(replace(g, arrays=g.arrays._replace(bias=bias, sd=sd)), found)


def unknown(g: Gaussians, seen: np.ndarray) -> np.ndarray:
    """Which hidden variables have an arbitrary density, or depend on such ones."""
    found = np.zeros(g.n, bool)
    if g.own:
        d = g.arrays
        for x in g.order.tolist():
            above = d.parents[d.parent_at[x] : d.parent_at[x + 1]]
            found[x] = not seen[x] and (x in g.own or bool(found[above].any()))
    return found


def asked_for(g: Gaussians, asked: Sequence[int], seen: np.ndarray, intervals: Sequence[int]) -> int | None:
    """The last variable of the hidden block that contains all of these, if no evidence depends on it."""
    if not asked or asked[0] not in g.own or any(x not in g.own or seen[x] for x in asked):
        return None
    block = block_of(g, asked[0])
    if not set(asked) <= set(block) or not g.own[block[-1]].whole:
        return None
    d, follow = g.arrays, set(block)
    for x in g.order.tolist():
        if x not in g.own and follow.intersection(d.parents[d.parent_at[x] : d.parent_at[x + 1]].tolist()):
            follow.add(x)
    informed = any(seen[x] for x in follow) or bool(follow.intersection(intervals))
    return None if informed else block[-1]


def refuse(names: Sequence[str], unknowns: Sequence[str], *, others: bool = False) -> InvalidArgument:
    """The error where an exact answer would need the density of hidden variables; `others` have answers."""
    them = "it" if len(names) == 1 else "them"
    depends = (
        "" if set(names) == set(unknowns) else f" (the question or the evidence depends on {listed(names)})"
    )
    return InvalidArgument(
        f"{listed(names)}, not observed, {'has a density' if len(names) == 1 else 'have densities'} of "
        f"{'its' if len(names) == 1 else 'their'} own, and exact inference has no form for {them}{depends}. "
        f'Observe {them}, or draw: engine="likelihood-weighting" or "gibbs". The density of a value is '
        f"exact: net.probability({{{names[0]!r}: value}}, given=...)."
        f"{' targets=[...] asks for other variables alone.' if others else ''}"
    )


def draw(
    g: Gaussians, states: np.ndarray, seen: np.ndarray, noise: np.ndarray, cards: np.ndarray,
    rng: np.random.Generator, only: int | None = None,
) -> None:  # fmt: skip
    """Draw hidden blocks into the columns of `noise`: the normals in their place have mean 0 and sd 1.

    `only`: just the block that has this variable.
    """
    for x, own in g.own.items():
        if own.whole and not seen[x] and (only is None or only in columns_of(g, x)):
            row = np.zeros(len(states), np.int64)
            for v in switches_of(g, x):
                row = row * int(cards[v]) + states[:, v]
            noise[:, columns_of(g, x)] = own.draw(row, rng)
