"""The one gate for `seed=`: everything random takes its generator from here."""

from __future__ import annotations

import numpy as np

from pgm.errors import InvalidArgument, shown


def generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    """The generator that a user's `seed=` stands for.

    A Generator is used as it is, so that several calls can share one; None draws differently each time. The
    random states of older numpy, and lists, are refused, so that a seed means the same in every call.

    Args:
        seed: a whole number of at least 0, however large; a numpy Generator; or None.

    Raises:
        InvalidArgument: it is not one of these.

    >>> generator(7).random() == generator(7).random()
    True
    """
    if isinstance(seed, np.random.Generator):
        return seed
    whole = _natural(seed)
    if whole is None and seed is not None:
        raise InvalidArgument(
            f"seed is a whole number of at least 0, a numpy Generator or None, not {shown(seed)}."
        )
    return np.random.default_rng(whole)


def fixed_seed(seed: object) -> int:
    """A seed among the options of an engine: only an integer, so that equal options give equal answers.

    Args:
        seed: a whole number of at least 0, however large.

    Raises:
        InvalidArgument: it is not.

    >>> fixed_seed(np.int64(3))
    3
    """
    whole = _natural(seed)
    if whole is None:
        raise InvalidArgument(f"seed is a whole number of at least 0, not {shown(seed)}.")
    return whole


def draw_count(n: object) -> int:
    """The number of draws that a user asks for, checked.

    Args:
        n: a whole number of at least 0.

    Raises:
        InvalidArgument: it is not.

    >>> draw_count(10)
    10
    """
    whole = _natural(n)
    if whole is None:
        raise InvalidArgument(f"n is a whole number of at least 0, not {shown(n)}.")
    return whole


def _natural(value: object) -> int | None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0
    return int(value) if whole else None  # type: ignore[call-overload]
