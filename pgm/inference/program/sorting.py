"""The parts of a model by kind: tables, densities, and states with continuous parents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np

from pgm.factors import Dense, Factor, GaussianFactor, Linking, ModelPart, RowNormal, RowTable, Score, Tables

_Part = TypeVar("_Part")


def checked(parts: Iterable[_Part], check: Callable[[], None]) -> Iterator[_Part]:
    """The parts, with a call of `check`, which may raise, every thousand or so."""
    for i, part in enumerate(parts):
        if i & 1023 == 1023:
            check()
        yield part


class Sorted(NamedTuple):
    """The parts of a model, each kind in the model's order."""

    discrete: list[Factor | Tables]  # with a uniform table in place of each score
    densities: list[GaussianFactor]  # with a density of the child alone in place of each curve
    scores: list[Linking]
    curves: list[RowNormal]


def sort_parts(parts: Iterable[ModelPart]) -> Sorted:
    """Sort the parts of a model by kind."""
    found = Sorted([], [], [], [])
    for part in parts:
        if isinstance(part, GaussianFactor):
            found.densities.append(part)
        elif isinstance(part, RowNormal):
            found.densities.append(part.stand_in())
            found.curves.append(part)
        elif isinstance(part, Score | RowTable):
            found.scores.append(part)
            found.discrete.append(part.uniform())
        else:
            found.discrete.append(part)
    return found


def in_tables(parts: Iterable[ModelPart]) -> list[ModelPart]:
    """The parts; those given row by row become tables if they have no continuous parents."""
    nothing = np.empty(0)
    return [
        part.table(nothing, {}) if isinstance(part, RowTable) and not part.continuous.size else part
        for part in parts
    ]


def one_by_one(parts: Iterable[Factor | Tables]) -> tuple[Factor, ...]:
    """The parts, with a factor for each of the tables that were given together."""
    found: list[Factor] = []
    for part in parts:
        found += part.each() if isinstance(part, Tables) else (part,)
    return tuple(found)


def parents_by(n: int, sorted_: Sorted) -> list[tuple[int, ...]]:
    """The positions of the parents of each of n variables, all of which have a conditional distribution."""
    found: list[tuple[int, ...]] = [()] * n
    # Scores and curves come last: they, not their stand-ins, say what their children depend on.
    for part in (*one_by_one(sorted_.discrete), *sorted_.densities, *sorted_.scores, *sorted_.curves):
        *parents, child = (part.scopes[0] if isinstance(part, Dense) else part.scope).tolist()
        found[child] = tuple(parents)
    return found
