"""Wide numbers: a double times a power of two, for products below the smallest double."""

from __future__ import annotations

import math

Wide = tuple[float, int]
_LN2 = math.log(2.0)


def log_of(value: Wide) -> float:
    """The natural logarithm of a wide number."""
    return math.log(value[0]) + value[1] * _LN2 if value[0] > 0.0 else -math.inf


def times_exp(value: Wide, log: float) -> Wide:
    """A wide number times the exponential of a double."""
    power = math.floor(log / _LN2)
    rest = min(max(log - power * _LN2, 0.0), _LN2)  # outside that range only by rounding of a large log
    return value[0] * math.exp(rest), value[1] + power


def ratio_of(a: Wide, b: Wide) -> float:
    """One wide number divided by another, as a double."""
    shift = max(-4000, min(4000, a[1] - b[1]))
    return math.ldexp(a[0] / b[0], shift) if shift < 1000 else math.inf
