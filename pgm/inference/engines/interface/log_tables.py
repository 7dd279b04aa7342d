"""Tables of logarithms, many at once: the first axis is for rows, the others for variables, rising."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

Scope = tuple[int, ...]
Piece = tuple[Scope, np.ndarray]  # variables, and a table (rows or 1, their states...)


def aligned(piece: Piece, into: Scope) -> np.ndarray:
    """A table with an axis for each variable of a larger scope."""
    scope, table = piece
    sizes = dict(zip(scope, table.shape[1:], strict=True))
    return table.reshape(table.shape[0], *[sizes.get(v, 1) for v in into])


def product(pieces: Iterable[Piece], into: Scope, cards: Sequence[int]) -> np.ndarray:
    """The product of tables, with an axis for each variable of a scope."""
    found: np.ndarray | None = None
    for piece in pieces:
        table = aligned(piece, into)
        found = table if found is None else found + table
    shape = tuple(cards[v] for v in into)
    if found is None:
        return np.zeros((1, *shape))
    return np.asarray(np.broadcast_to(found, (found.shape[0], *shape)))


def summed(table: np.ndarray, axes: tuple[int, ...], *, best: bool = False) -> np.ndarray:
    """Sums over some axes; `best`: the largest entry in place of the sum."""
    if not axes:
        return table
    most = table.max(axis=axes, keepdims=True)
    if best:
        return np.asarray(most.squeeze(axes))
    np.copyto(most, 0.0, where=most == -np.inf)
    with np.errstate(divide="ignore"):
        found = np.log(np.exp(table - most).sum(axis=axes, keepdims=True))
    found += most
    return np.asarray(found.squeeze(axes))


def onto(piece: Piece, scope: Scope, *, best: bool = False) -> np.ndarray:
    """A table with all variables but those of a scope summed out, or maximised."""
    own, table = piece
    return summed(table, tuple(i + 1 for i, v in enumerate(own) if v not in scope), best=best)


def logs_of(values: np.ndarray) -> np.ndarray:
    """Logarithms; -inf for zero."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))
