"""Fits causes with independent effects of which only the largest is observed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pgm.errors import InvalidFrame

from .em_acceleration import maximise
from .statistics import Codes, weighted_log
from .table_input import Array


def fit_effects(
    name: str,
    effects: Sequence[Array],
    free: Sequence[npt.NDArray[np.bool_]],
    leak: Array,
    causes: Codes,
    largest: Codes,
    weights: Array,
    counted: Array | None = None,
) -> tuple[list[Array], Array]:
    """Raise the likelihood by EM (Dempster, Laird & Rubin 1977): the effect of each cause is hidden.

    Let x be the largest effect, and F'(x) the probability that the effects of all causes but one are at most
    x. Then that one had the effect z < x with probability proportional to theta(z) * (F'(x) - F'(x - 1)), and
    the effect x with probability proportional to theta(x) * F'(x).

    Args:
        name: of the child, for errors.
        effects: for each cause P(effect | its state).
        free: the states whose row is fitted.
        leak: P(effect) of unnamed causes, also fitted.
        causes: the states of the causes in each row.
        largest: the observed effect in each row.
        weights: of the rows.
        counted: how often each cause, in each of its states, had each effect in other rows; the leak last.
    """
    k = leak.size
    fitted = np.concatenate([*free, [True]]).astype(bool)
    more = np.zeros((int(fitted.sum()), k)) if counted is None else counted[fitted]
    theta = np.concatenate(
        [effect[has] for effect, has in zip(effects, free, strict=True)] + [leak[np.newaxis]]
    )
    # One pair for each row and each cause that is in a state with an effect; and the leak, which always is.
    row, which, begin = [np.arange(len(causes))], [np.full(len(causes), len(theta) - 1)], 0
    for i, has in enumerate(free):
        entry = np.cumsum(has) - 1 + begin
        acts = np.flatnonzero(has[causes[:, i]])
        row.append(acts)
        which.append(entry[causes[acts, i]])
        begin += int(has.sum())
    rows, entries = np.concatenate(row), np.concatenate(which)
    seen = largest[rows]
    cell = entries * k + seen
    weight = weights[rows]
    total = float(weights.sum() + more.sum())

    def step(theta: Array) -> tuple[Array, float]:
        tail = np.concatenate(
            [np.cumsum(theta[:, :0:-1], axis=1)[:, ::-1], np.zeros((len(theta), 1))], axis=1
        )
        with np.errstate(divide="ignore"):
            at_most = np.where(tail < 0.5, np.log1p(-np.minimum(tail, 0.5)), np.log(np.cumsum(theta, axis=1)))
        here, here_zeros = _finite_sums(at_most[entries, seen], rows, len(causes))
        lower = np.where(seen > 0, at_most[entries, seen - 1], -math.inf)
        below, below_zeros = _finite_sums(lower, rows, len(causes))
        own, own_below = at_most[entries, seen], lower
        # of all causes together, then of all but one
        probability = _difference(here, here_zeros, below, below_zeros)
        if not (probability > 0).all():
            raise InvalidFrame(
                f"{name!r}: some rows have probability zero whatever the other parameters are; a leak "
                "between 0 and 1 makes all effects possible."
            )
        likelihood = float(weights @ np.log(probability)) + weighted_log(more.ravel(), theta.ravel())
        finite = np.where(own > -math.inf, own, 0.0)
        finite_below = np.where(own_below > -math.inf, own_below, 0.0)
        rest, rest_zeros = here[rows] - finite, here_zeros[rows] - (own == -math.inf)
        rest_below = below[rows] - finite_below
        rest_below_zeros = below_zeros[rows] - (own_below == -math.inf)
        share = weight / probability[rows]
        full = np.where(rest_zeros == 0, np.exp(rest), 0.0)
        # nothing is below the first state, so there is no difference to take
        first = seen == 0
        part = np.where(first, full, _difference(rest, rest_zeros, rest_below, rest_below_zeros))
        equal = np.bincount(cell, share * full, minlength=theta.size).reshape(theta.shape)
        above = np.bincount(cell, share * part, minlength=theta.size).reshape(theta.shape)
        larger = np.zeros_like(above)  # what was seen above each column
        larger[:, :-1] = np.cumsum(above[:, :0:-1], axis=1)[:, ::-1]
        counts = theta * (equal + larger) + more
        sums = counts.sum(axis=1, keepdims=True)
        return np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), theta), likelihood

    if counted is not None:
        theta = step(theta)[0]  # has no zero where something was counted
    theta = maximise(name, step, theta, total)
    found, begin = [], 0
    for effect, has in zip(effects, free, strict=True):
        made = effect.copy()
        made[has] = theta[begin : begin + int(has.sum())]
        begin += int(has.sum())
        found.append(made)
    return found, theta[-1]


def effects_of_chain(
    effects: Sequence[Array], links: Sequence[Array], leak: Array, tables: Sequence[Array], flip: slice
) -> tuple[list[Array], Array]:
    """Return expected counts of each cause's effect and of the leak's, from those of a chain's tables.

    A link P(next | so far, cause's state) has next = max(so far, effect): where that is larger than before,
    it is the effect; otherwise the effect is any state up to it, in proportion to its probability.

    Args:
        effects: P(effect | state) of each cause, in the order of the chain, no effect first.
        links: of the chain, in the order of the child's states.
        leak: the distribution of the running state before any cause, in that order.
        tables: expected counts of the tables that were written.
        flip: reverses the child's states if the smallest effect is observed.
    """
    if not links:
        return [], tables[0][flip]
    joint = list(tables)
    if len(joint) > len(links):  # the leak has a table of its own
        first = joint.pop(0)
    else:  # it was summed into the first link, and is split off again in proportion
        written = np.tensordot(leak, links[0], axes=1)
        share = np.divide(joint[0], written, out=np.zeros_like(written), where=written > 0)
        joint[0] = leak[:, np.newaxis, np.newaxis] * links[0] * share
        first = joint[0].sum(axis=(1, 2))
    found = []
    for effect, counts in zip(effects, joint, strict=True):
        counts = counts[flip, :, flip]  # so far, cause's state, next
        k = effect.shape[1]
        own = np.zeros_like(effect)
        for after in range(k):
            own[:, after] += counts[:after, :, after].sum(axis=0)
            at_most = effect[:, : after + 1]
            sums = at_most.sum(axis=1)
            stays = np.divide(counts[after, :, after], sums, out=np.zeros_like(sums), where=sums > 0)
            own[:, : after + 1] += stays[:, np.newaxis] * at_most
        found.append(own)
    return found, first[flip]


def _finite_sums(logs: Array, rows: Codes, n: int) -> tuple[Array, Array]:
    """The sum of finite logarithms in each row, and how many are not finite."""
    zero = logs == -math.inf
    sums = np.bincount(rows, np.where(zero, 0.0, logs), minlength=n)
    return sums.astype(np.float64), np.bincount(rows, zero, minlength=n).astype(np.float64)


def _difference(a: Array, a_zeros: Array, b: Array, b_zeros: Array) -> Array:
    """exp(a) - exp(b) for b <= a, without cancellation."""
    with np.errstate(over="ignore"):
        close = np.exp(a) * -np.expm1(np.minimum(b - a, 0.0))
    return np.where(a_zeros > 0, 0.0, np.where(b_zeros > 0, np.exp(a), close))
