"""Preference pairs: from ranks within groups, all or sampled, and from clicks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import InvalidArgument, shown


class Pairs:
    """All pairs of rows of a group with different ranks, counted without being listed.

    >>> found = Pairs(np.array([2.0, 1.0, 3.0, 1.0]), np.array([0, 0, 0, 1]))
    >>> found.total, [each.tolist() for each in found.take(np.arange(3))]
    (3, [[1, 1, 0], [0, 2, 2]])
    """

    def __init__(self, ranks: np.ndarray, groups: np.ndarray) -> None:
        """Sort the rows by groups and ranks.

        Args:
            ranks: of each row; the smaller, the better.
            groups: the index of each row's group.
        """
        n = len(ranks)
        self.order = np.lexsort((ranks, groups))
        sorted_groups, sorted_ranks = groups[self.order], ranks[self.order]
        new_group = np.concatenate([[True], sorted_groups[1:] != sorted_groups[:-1]])
        new_tie = new_group | np.concatenate([[True], sorted_ranks[1:] != sorted_ranks[:-1]])
        self.begin = _next(new_tie)  # where those that are worse than a row begin
        counts = np.maximum(_next(new_group) - self.begin, 0)
        self.until = np.cumsum(counts)
        self.total = int(self.until[-1]) if n else 0

    def take(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The better and the worse row of pairs by number, from 0 to less than the total."""
        place = np.searchsorted(self.until, numbers, side="right")
        before = np.concatenate([[0], self.until[:-1]])[place]
        return self.order[place], self.order[self.begin[place] + numbers - before]


def _next(new: np.ndarray) -> np.ndarray:
    """For each place where the next one that is new is."""
    starts = np.flatnonzero(new)
    after = np.append(starts[1:], len(new))
    return np.asarray(after[np.cumsum(new) - 1])


@guarded
def click_pairs(shown: Sequence[Any], clicked: Any) -> list[tuple[Any, Any]]:
    """Preference pairs from clicks on a list: a clicked item beats those above it that were not clicked.

    Args:
        shown: what was shown, from the top.
        clicked: what was clicked, one or several.

    Raises:
        InvalidArgument: something was clicked that was not shown, or shown twice.

    >>> click_pairs(["first", "second", "third", "fourth"], "third")
    [('third', 'first'), ('third', 'second')]
    """
    listed = list(shown)
    if len(set(listed)) < len(listed):
        raise InvalidArgument("Something is shown twice in one list.")
    several = isinstance(clicked, list | tuple | set | frozenset) and clicked not in listed
    chosen = list(clicked) if several else [clicked]
    for one in chosen:
        if one not in listed:
            raise InvalidArgument(f"{one!r} was clicked and not shown.")
    pairs = []
    for one in sorted(chosen, key=listed.index):
        pairs += [(one, above) for above in listed[: listed.index(one)] if above not in chosen]
    return pairs


def pairs_given(pairs: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of row indices, checked.

    >>> [each.tolist() for each in pairs_given([(2, 0)], 3)]
    [[2], [0]]
    """
    try:
        found = np.array(pairs)
    except ValueError:
        found = np.array(0.5)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu" or not len(found):
        raise InvalidArgument(f"pairs= lists (better row, worse row) by their indices, not {shown(pairs)}.")
    if found.min() < 0 or found.max() >= n:
        odd = found.min() if found.min() < 0 else found.max()
        raise InvalidArgument(f"pairs= names rows by index, 0 to {n - 1:,}; there is no row {odd}.")
    if (same := found[:, 0] == found[:, 1]).any():
        raise InvalidArgument(f"Row {int(found[same.argmax(), 0]):,} cannot be better than itself.")
    return np.ascontiguousarray(found[:, 0], np.int64), np.ascontiguousarray(found[:, 1], np.int64)
