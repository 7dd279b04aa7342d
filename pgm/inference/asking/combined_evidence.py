"""Two pieces of evidence combined: an event and further evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from pgm.evidence import Observed
from pgm.variables import Interval, Variable, as_float


def combined(first: Observed, second: Observed, variables: Mapping[str, Variable]) -> Observed | None:
    """Both pieces of evidence combined; None if they contradict each other on some variable."""
    if not second.given:
        return first
    values = _continuous(first, second, variables)
    if values is None:
        return None
    hard = dict(first.hard)
    weights = dict(first.weights)
    log_weight = first.log_weight + second.log_weight
    for name, code in second.hard.items():
        if hard.get(name, code) != code:
            return None
        hard[name] = code
    for name, tables in second.weights.items():  # a double might not hold their product
        weights[name] = (*weights.get(name, ()), *tables)
        if not np.all([w > 0.0 for w in weights[name]], axis=0).any():
            return None
    for name in [name for name in weights if name in hard]:
        for w in weights.pop(name):
            if w[hard[name]] == 0.0:
                return None
            log_weight += math.log(w[hard[name]])
    return Observed(hard, weights, {}, log_weight, first.given | second.given | values)


def _continuous(
    first: Observed, second: Observed, variables: Mapping[str, Variable]
) -> dict[str, object] | None:
    """The combined evidence on continuous variables that both mention; None if they contradict each other."""
    given: dict[str, object] = {}
    for name in first.given.keys() & second.given.keys():
        if not variables[name].continuous:
            continue
        pieces = (first.given[name], second.given[name])
        values = {as_float(piece) for piece in pieces if not isinstance(piece, Interval)}
        spans = [piece for piece in pieces if isinstance(piece, Interval)]
        if values:
            value = values.pop()
            if values or not all(value in span for span in spans):
                return None
            given[name] = value
        else:
            lo, hi = max(span.lo for span in spans), min(span.hi for span in spans)
            if not lo < hi:
                return None
            given[name] = Interval(lo, hi, closed=all(span.closed for span in spans if span.hi == hi))
    return given
