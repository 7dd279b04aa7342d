"""The value of observing each variable before the last decision, all in a few passes over the network.

For each case of what the utilities depend on and of what is known anyway, one pass has the probabilities of
every state of every variable. With them P(x, known) E[utility | x, known, action] is a product of matrices.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import TooLarge
from pgm.evidence import observe

from . import utilities as worth
from .tables import used_terms

if TYPE_CHECKING:
    from .influence_diagram import InfluenceDiagram

_ROUNDING = 1e-9  # relative to the utilities
_MOST = 256  # cases; beyond them each variable is evaluated by itself


def gains_in_one_pass(
    diagram: InfluenceDiagram, names: Sequence[str], before: str, given: Mapping[str, Any] | None
) -> dict[str, float] | None:
    """Return the gain in expected utility from each variable; None if this method does not apply.

    Args:
        diagram: the diagram.
        names: the variables, one by one.
        before: a decision, the only one that is open.
        given: the past.
    """
    hard = observe(diagram.variables, given).hard
    waiting = [name for name in diagram.decisions if name not in hard]
    if waiting != [before] or diagram.combine != "sum":
        return None
    net, variables = diagram._network, diagram.variables
    below = {before, *net.descendants(before)}
    terms = [term for term in used_terms(diagram) if below & {*term[0]}]
    known = [name for name in diagram.known(before) if name not in hard]
    scope = dict.fromkeys([*known, *[name for names_, _ in terms for name in names_]])
    free = [name for name in scope if name not in hard and name != before]
    moved = before if below & {*free} else ""  # the decision has to be given, too
    cases = list(product(*[range(variables[name].card) for name in free]))
    if not free or len(cases) * (variables[before].card if moved else 1) > _MOST:
        return None
    shape = [variables[name].card for name in (*free, before)]
    total = worth.sum_of([_sliced(term, hard) for term in terms], [*free, before], shape).reshape(
        len(cases), -1
    )
    mask = _allowed(diagram, before, free, hard, shape)
    try:
        parts = [
            _by_cases(diagram, names, free, cases, {**(given or {}), **own})
            for own in ([{before: state} for state in variables[before].states] if moved else [{}])
        ]
    except TooLarge:
        return None
    # Cases go along the first axis: first those of what is known, then the rest, over which is summed.
    count = math.prod(shape[: len(known)])
    rows = np.repeat(np.arange(count), len(cases) // count)
    actions = total.shape[1]
    sums, plain = np.zeros((count, parts[0][1].shape[1], actions)), np.zeros((count, actions))
    for place, (weights, chances, _) in enumerate(parts):
        where = [place] if moved else list(range(actions))
        for row in range(count):
            own = rows == row
            valued = weights[own, np.newaxis] * total[own][:, where]
            sums[row][:, where] = chances[own].T @ valued
            plain[row, where] = valued.sum(axis=0)
    if mask is not None:
        forbidden = ~mask.reshape(len(cases), -1)
        for row in range(count):
            never = forbidden[int(np.flatnonzero(rows == row)[0])]
            sums[row][:, never] = plain[row, never] = -np.inf
    best = sums.max(axis=2).sum(axis=0)
    base = plain.max(axis=1).sum()
    seen = np.add.reduceat(best, parts[0][2]) - base
    seen[seen <= _ROUNDING * max(1.0, abs(base))] = 0.0
    return dict(zip(names, seen.tolist(), strict=True))


def _by_cases(
    diagram: InfluenceDiagram,
    names: Sequence[str],
    free: Sequence[str],
    cases: Sequence[tuple[int, ...]],
    given: Mapping[str, Any],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The probability of each case, that of every state of the variables given it, and where each begins."""
    net, variables = diagram._network, diagram.variables
    joint = np.asarray(net.query(list(free), given).values).ravel()
    starts = np.cumsum([0, *[variables[name].card for name in names]])
    chances = np.zeros((len(cases), starts[-1]))
    for row, case in enumerate(cases):
        if joint[row] == 0.0:
            continue
        states = {name: variables[name].states[code] for name, code in zip(free, case, strict=True)}
        found = net.marginals({**given, **states})
        for name, start, stop in zip(names, starts[:-1], starts[1:], strict=True):
            if name in states:
                chances[row, start + case[free.index(name)]] = 1.0
            else:
                chances[row, start:stop] = found[name].values
    return joint, chances, starts[:-1]


def _sliced(term: worth.Term, hard: Mapping[str, int]) -> worth.Term:
    names, values = term
    at = tuple([hard.get(name, slice(None)) for name in names])
    return tuple([name for name in names if name not in hard]), values[at]


def _allowed(
    diagram: InfluenceDiagram,
    decision: str,
    free: Sequence[str],
    hard: Mapping[str, int],
    shape: Sequence[int],
) -> np.ndarray | None:
    one = diagram._decisions[decision]
    if one.allowed is None:
        return None
    names, mask = _sliced(((*one.allowed_given, decision), one.allowed), hard)
    order = [names.index(name) for name in (*free, decision) if name in names]
    sizes = iter([mask.shape[i] for i in order])
    lined = mask.transpose(order).reshape([next(sizes) if v in names else 1 for v in (*free, decision)])
    return np.broadcast_to(lined, shape)
