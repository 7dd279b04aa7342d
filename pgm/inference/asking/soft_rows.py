"""Rows whose cells weigh states: each such column is observed through a variable of its own.

That variable has a state for each distinct set of weights in the cells, and one for an empty cell; its table
holds the weights. A row observes one of its states, so the lanes multiply weights like any other observed
entry, and rows with equal cells are still answered once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from pgm.factors import Dense, ModelPart
from pgm.frames import Columns
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.program import compile_program
from pgm.inference.program.sorting import sort_parts
from pgm.inference.trees import TreeCache
from pgm.runtime.room import check_room
from pgm.variables import IntegerDomain, VariableList

Parts = Callable[[], Iterable[ModelPart]]
_BYTES = 64  # that an entry takes while it is compiled


def extended(
    compiled: ModelSnapshot, data: Columns, parts: Parts
) -> tuple[ModelSnapshot, Columns, np.ndarray]:
    """The model with these variables, the rows with their states, and what to add to each row's logarithm.

    Args:
        compiled: the model, without continuous variables.
        data: the rows.
        parts: the parts of the model.
    """
    more = np.zeros(data.n_rows)
    if not data.soft:
        return compiled, data, more
    entries = sum((cells.weights.size + cells.weights.shape[1]) for cells in data.soft.values())
    said = f"The weights in the cells are {entries:,} floats, which take"
    check_room(_BYTES * entries, said, "Ask for fewer rows at once")
    n = len(compiled.names)
    names, domains, codes, tables = list(compiled.names), list(compiled.variables.domains), {}, []
    position = dict(compiled.position)
    for i, (name, cells) in enumerate(data.soft.items()):
        top = cells.weights.max(axis=1)
        more += np.where(cells.which >= 0, np.log(top[cells.which]), 0.0)
        rows = np.vstack([cells.weights / top[:, None], np.ones(cells.weights.shape[1])])
        called = f"(evidence on {name})"
        while called in position:
            called += "'"
        position[called] = n + i
        names.append(called)
        domains.append(IntegerDomain(len(rows)))
        codes[called] = np.where(cells.which < 0, len(rows) - 1, cells.which).astype(np.int32)
        tables.append(Dense(np.array([[n + i, compiled.position[name]]], np.int64), rows))
    cards = [domain.card for domain in domains]
    program = compile_program(cards, [*sort_parts(parts()).discrete, *tables])
    made = replace(
        compiled,
        program=program,
        trees=TreeCache(),
        variables=VariableList(names, domains),
        position=position,
    )
    return made, Columns(data.n_rows, {**data.codes, **codes}, data.bad), more
