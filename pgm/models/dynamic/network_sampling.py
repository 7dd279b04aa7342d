"""Drawing all variables of a dynamic network, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.inference.engines.chain import sums_so_far
from pgm.inference.engines.interface import LOOPS

from .network_slices import Node, back_of

_MOST_ENTRIES = 1 << 20  # the most entries of a table that is expanded to draw from it


def draw(
    nodes: Mapping[str, Node], steps: int, sequences: int, random: np.random.Generator
) -> list[np.ndarray]:
    """A column for each variable, the sequences concatenated."""
    check_cells((steps, sequences, len(nodes), 4), "This many draws", "draw fewer at a time")
    if all(_has_table(node) for node in nodes.values()):
        return _from_tables(nodes, steps, sequences, random)
    return _one_by_one(nodes, steps, sequences, random)


def _has_table(node: Node) -> bool:
    if node.variable.continuous:
        return False
    return all(
        not any(v.continuous for v in cpd.given)
        and math.prod([v.card for v in (*cpd.given, cpd.child)]) <= _MOST_ENTRIES
        for cpd in node.cpds
    )


def _from_tables(
    nodes: Mapping[str, Node], steps: int, sequences: int, random: np.random.Generator
) -> list[np.ndarray]:
    names = list(nodes)
    kinds = max([1 + any(n.static for n in nodes.values()), *(len(n.cpds) for n in nodes.values())])
    parent_at, parent, back, stride = [0], [], [], []
    sums, table_at = [], [0]
    for kind in range(kinds):
        for node in nodes.values():
            size = 0
            if not (node.static and kind):
                cpd = node.cpds[min(kind, len(node.cpds) - 1)]
                table = sums_so_far(np.array(cpd.table()))
                size = table.size
                sums.append(table.reshape(-1))
                step = 1
                for name, v in reversed(list(zip(cpd.parents, cpd.given, strict=True))):
                    other, lag = back_of(name)
                    parent.append(names.index(other))
                    back.append(lag)
                    stride.append(step)
                    step *= v.card
            parent_at.append(len(parent))
            table_at.append(table_at[-1] + size)
    ints = [np.array(each, np.int64) for each in (parent_at, parent, back, stride)]
    cards = np.array([node.variable.card for node in nodes.values()], np.int64)
    begins = np.zeros(steps * sequences, np.uint8)
    begins[::steps] = 1
    codes = np.empty(begins.size * len(names), np.int32)
    uniform = random.random(codes.size)
    at = np.array(table_at, np.int64)
    LOOPS.draw(*ints, np.concatenate(sums), at, cards, kinds, begins, uniform, codes)
    table = codes.reshape(-1, len(names))
    return [np.take(node.domain.array, table[:, v]) for v, node in enumerate(nodes.values())]


def completed(
    nodes: Mapping[str, Node],
    codes: np.ndarray,
    numbers: Mapping[int, np.ndarray],
    random: np.random.Generator,
) -> list[np.ndarray]:
    """The values of each variable, (courses, steps); missing continuous values are drawn.

    Nothing observed depends on these, so they are drawn given their parents alone.

    Args:
        nodes: the variables.
        codes: the states of variables that have some, (courses, steps, variables).
        numbers: the observed values of continuous variables, by position.
        random: the generator.
    """
    many = len(codes)
    values = {
        name: np.tile(numbers[v], (many, 1)) if v in numbers else np.take(node.domain.array, codes[:, :, v])
        for v, (name, node) in enumerate(nodes.items())
    }
    missing = {list(nodes)[v]: np.isnan(column) for v, column in numbers.items()}
    for name, gaps in missing.items():
        if nodes[name].static and not gaps.all():
            values[name][:] = values[name][:, [gaps.argmin()]]
            gaps[:] = False
    for t in np.flatnonzero(np.any(list(missing.values()), axis=0)).tolist() if missing else []:
        for name in [name for name, gaps in missing.items() if gaps[t]]:
            node = nodes[name]
            if node.static and t:
                values[name][:, t] = values[name][:, 0]
                continue
            cpd = node.cpds[min(t, len(node.cpds) - 1)]
            frame = {p: values[back_of(p)[0]][:, t - back_of(p)[1]] for p in cpd.parents}
            drawn = cpd.sample(frame, seed=random) if frame else cpd.sample(n=many, seed=random)
            values[name][:, t] = np.asarray(drawn)
    return list(values.values())


def _one_by_one(
    nodes: Mapping[str, Node], steps: int, sequences: int, random: np.random.Generator
) -> list[np.ndarray]:
    """Each variable of each step by its own distribution, in all sequences at once."""
    drawn: dict[str, list[np.ndarray]] = {name: [] for name in nodes}
    for t in range(steps):
        for name, node in nodes.items():
            if node.static and t:
                drawn[name].append(drawn[name][0])
                continue
            cpd = node.cpds[min(t, len(node.cpds) - 1)]
            frame = {p: drawn[back_of(p)[0]][t - back_of(p)[1]] for p in cpd.parents}
            if frame:
                drawn[name].append(np.asarray(cpd.sample(frame, seed=random)))
            else:
                drawn[name].append(np.asarray(cpd.sample(n=sequences, seed=random)))
    return [np.stack(column, axis=1).reshape(-1) for column in drawn.values()]
