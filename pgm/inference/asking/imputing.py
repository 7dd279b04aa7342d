"""Random imputation: each row's missing cells are drawn given the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from pgm.errors import ImpossibleEvidence, InvalidFrame
from pgm.frames import Alike, among, columns, real_columns
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.runtime.clock import Clock
from pgm.runtime.room import check_room


class _Sampled(Protocol):
    def sample(self, n: int, *, given: Any = None, seed: Any = None) -> Mapping[str, np.ndarray]:
        """Draw n cases."""


def imputed(
    model: _Sampled,
    compiled: ModelSnapshot,
    frame: Any,
    draws: int,
    random: np.random.Generator,
    clock: Clock,
) -> list[Any]:
    """Copies of a frame, as many as `draws`, with all gaps filled; equal rows are sampled together."""
    wanted = among(frame, compiled.by_name, compiled.position, frozenset())
    states = {n: v for n, v in wanted.items() if not v.continuous}
    codes = columns(frame, states, check=clock.check, soft=True)  # cells that weigh states are drawn, too
    reals = real_columns(frame, {n: v for n, v in wanted.items() if v.continuous}, check=clock.check)
    n = max(codes.n_rows, reals.n_rows)
    if n == 0:
        raise InvalidFrame("The frame has no rows: there is nothing to fill in.")
    cells = {name: column.astype(np.float64) for name, column in codes.codes.items()}
    for column in cells.values():
        column[column < 0.0] = np.nan
    cells |= reals.values
    names = list(cells)
    table = np.column_stack([cells[name] for name in names])
    gone = np.isnan(table)
    check_room(8 * draws * table.size, f"{draws:,} copies of {len(table):,} rows take", "Ask for fewer draws")
    filled = np.repeat(table[None], draws, axis=0)
    rows = np.flatnonzero(gone.any(axis=1))
    said = [np.where(gone, np.inf, table), *(cells.which[:, None] for cells in codes.soft.values())]
    distinct, which = np.unique(np.column_stack(said)[rows], axis=0, return_inverse=True)
    order = np.argsort(which.reshape(-1), kind="stable")
    groups = np.split(rows[order], np.cumsum(np.bincount(which.reshape(-1), minlength=len(distinct)))[:-1])
    for group in groups if rows.size else ():
        clock.check()
        first = int(group[0])
        given: dict[str, Any] = {
            name: float(table[first, i]) if compiled.by_name[name].continuous
            else compiled.by_name[name].states[int(table[first, i])]
            for i, name in enumerate(names)
            if not gone[first, i]
        }  # fmt: skip
        given |= {n: told for n, cells in codes.soft.items() if (told := cells.given(first)) is not None}
        try:
            drawn = model.sample(group.size * draws, given=given, seed=random)
        except ImpossibleEvidence as error:
            raise ImpossibleEvidence(f"Row {first:,} (the first is 0): {error}") from None
        for i in np.flatnonzero(gone[first]).tolist():
            variable = compiled.by_name[names[i]]
            values = drawn[names[i]]
            if not variable.continuous:
                values = np.fromiter(map(variable.domain.find, values.tolist()), np.float64, values.size)
            filled[:, group, i] = values.reshape(draws, group.size)
    alike = Alike(frame, compiled.by_name)
    found = []
    for one in filled:
        made = {}
        for i, name in enumerate(names):
            made[name] = one[:, i].astype(np.float64 if compiled.by_name[name].continuous else np.int64)
        found.append(alike.replaced(frame, made))
    return found
