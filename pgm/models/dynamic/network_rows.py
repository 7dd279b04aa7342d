"""Observations of a dynamic network: columns become the rows that the engine takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from pgm.errors import ImpossibleEvidence, InvalidArgument, InvalidEvidence, UnknownVariable, shown
from pgm.evidence import Likelihood, Not, OneOf, Soft, observe
from pgm.factors import GaussianFactor
from pgm.frames import among
from pgm.frames.sequences import Sequences, sequences
from pgm.inference.engines.interface import ObservedRows, Template
from pgm.inference.engines.interface.log_tables import logs_of
from pgm.results import PerSequence, SampledSteps
from pgm.variables import Interval, Variable

from .network_slices import Node, back_of

_PIECES = (OneOf, Not, Likelihood, Soft, Interval)


@dataclass(frozen=True, eq=False)
class Read:
    """Sequences as they were given, and as the engine takes them."""

    sequences: Sequences
    rows: ObservedRows
    observed: frozenset[str]  # variables that are known in every step


def read(
    nodes: Mapping[str, Node],
    template: Template,
    data: Any,
    lengths: Any = None,
    sequence: Any = None,
    *,
    before: int = 0,
    past: Mapping[int, np.ndarray] = MappingProxyType({}),
    held: Mapping[int, float] | None = MappingProxyType({}),
) -> Read:
    """Read sequences.

    Args:
        nodes: the variables.
        template: the network as the engine takes it.
        data: what was observed.
        lengths: of concatenated sequences.
        sequence: the column of a frame that says which sequence a row belongs to.
        before: how many steps of the only sequence were taken earlier.
        past: the last values of the continuous variables.
        held: the static values that earlier steps gave; None: they may come in any step.
    """
    lone, data = _statics(nodes, plain(data))
    if isinstance(data, Mapping):
        for name in data:
            if name != sequence and name not in nodes:
                raise _unknown(name, nodes)
    found = sequences(data, vector=True, lengths=lengths, sequence=sequence)
    if not isinstance(found.rows, dict):
        raise InvalidArgument(
            "Observations of a dynamic network have names: {name: list of values, one for each step}, a list "
            f"of such dicts, or a data frame; not {shown(data)}."
        )
    if not isinstance(data, Mapping):
        variables = {name: node.variable for name, node in nodes.items()}
        places = {name: i for i, name in enumerate(nodes)}
        among({name: [] for name in found.rows}, variables, places, {sequence} if sequence else set())
    codes: dict[int, np.ndarray] = {}
    soft: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    numbers: dict[int, np.ndarray] = {}
    observed = set()
    n = found.n_rows
    own = np.zeros(n, bool)
    for v, (name, node) in enumerate(nodes.items()):
        if template.cards[v] == 0:
            numbers[v] = np.full(n, np.nan)
        if name in found.rows:
            column = Sequences(found.rows[name], found.starts, found.lone, found.ids)
            if template.cards[v] == 0:
                numbers[v] = _numbers(name, column)
                seen = ~np.isnan(numbers[v])
            else:
                column, said = _separated(node.variable, column)
                codes[v] = column.codes(node.domain, f"states of {name!r}:")
                seen = codes[v] >= 0
                if said is not None:
                    soft[v] = said
                    own[said[0]] = True
            if seen.all():
                observed.add(name)
    for name, value in lone.items():
        v = list(nodes).index(name)
        begin = found.starts[:-1]
        if template.cards[v] == 0:
            numbers[v] = np.full(n, float(_numbers(name, sequences([value]))[0]))
        else:
            column, said = _separated(nodes[name].variable, sequences([value]))
            codes[v] = np.full(n, -1, np.int32)
            codes[v][begin] = column.codes(nodes[name].domain, f"states of {name!r}:")[0]
            if said is not None:
                soft[v] = begin.astype(np.int64), np.repeat(said[1], begin.size, axis=0)
                own[begin] = True
        observed.add(name)
    step = np.arange(n) - np.repeat(found.starts[:-1], found.lengths) + before
    begins, ends = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
    begins[found.starts[:-1]] = 0 if before else 1
    ends[found.starts[1:] - 1] = 1
    kind = np.minimum(step, template.n_kinds - 1).astype(np.int64)
    if held is not None:
        for v in [v for v, node in enumerate(nodes.values()) if node.static and v in numbers]:
            first = np.array([held.get(v, np.nan)]) if before else numbers[v][found.starts[:-1]]
            numbers[v] = _static(list(nodes)[v], numbers[v], np.repeat(first, found.lengths), found)
    history = len(next(iter(past.values()), ()))
    numbers = {v: np.concatenate([past[v], column]) if v in past else column for v, column in numbers.items()}
    rows = ObservedRows(kind, begins, ends, codes, soft, numbers, own, history)
    return Read(found, rows, frozenset(observed))


def _static(name: str, column: np.ndarray, known: np.ndarray, found: Sequences) -> np.ndarray:
    """The one value of a static variable, which the first step gives, and which is observed there."""
    seen = ~np.isnan(column)
    if (late := seen & np.isnan(known)).any():
        t = int(late.argmax())
        raise InvalidArgument(
            f"{name!r} is static, one value for all steps, but is first observed later, {found.place(t)}: "
            f"give it once, {{{name!r}: {column[t]:.6g}}}, or from the first step on."
        )
    if (other := seen & (column != known)).any():
        t = int(other.argmax())
        raise ImpossibleEvidence(
            f"{name!r} is static, one value for all steps: it was {known[t]:.6g}, but {found.place(t)} says "
            f"{column[t]:.6g}."
        )
    return known


def plain(data: Any) -> Any:
    """Steps drawn from a network, as columns by name; anything else unchanged."""
    if isinstance(data, SampledSteps):
        return dict(data)
    if isinstance(data, list | tuple | PerSequence):
        return [dict(one) if isinstance(one, SampledSteps) else one for one in data]
    return data


def _statics(nodes: Mapping[str, Node], data: Any) -> tuple[dict[str, Any], Any]:
    """Static variables that are given once, separated from what is given for each step."""
    if not isinstance(data, Mapping):
        return {}, data
    lone = {
        name: value
        for name, value in data.items()
        if isinstance(name, str)
        and name in nodes
        and nodes[name].static
        and (isinstance(value, str) or not hasattr(value, "__len__"))
    }
    return lone, {name: value for name, value in data.items() if name not in lone} if lone else data


def _unknown(name: Any, nodes: Mapping[str, Node]) -> UnknownVariable:
    if isinstance(name, str) and back_of(name)[0] in nodes and back_of(name)[0] != name:
        plain = back_of(name)[0]
        return UnknownVariable(
            name,
            nodes,
            why=f"Sequences name variables without steps: {shown(plain)} with a list of a value for each "
            f"step, not {shown(name)}",
        )
    return UnknownVariable(name, nodes)


def _numbers(name: str, column: Sequences) -> np.ndarray:
    try:
        return column.floats(1, flat=True)[:, 0]
    except InvalidArgument as error:
        raise InvalidArgument(f"{name!r}: {error}") from None


def _separated(
    variable: Variable, column: Sequences
) -> tuple[Sequences, tuple[np.ndarray, np.ndarray] | None]:
    """The column with named states alone, and the rows and log weights of other evidence on states."""
    cells = column.rows
    if not isinstance(cells, list) or not any(issubclass(kind, _PIECES) for kind in set(map(type, cells))):
        return column, None
    plain, rows, weights = list(cells), [], []
    for row, cell in enumerate(cells):
        if not isinstance(cell, _PIECES):
            continue
        place = column.place(row)
        if isinstance(cell, Soft):
            raise InvalidEvidence(
                f"{variable.name!r}, {place}: pgm.Soft fixes a marginal after the update, which sequences "
                "do not support; use pgm.Likelihood for uncertain observations."
            )
        try:
            seen = observe({variable.name: variable}, {variable.name: cell})
        except InvalidEvidence as error:
            raise InvalidEvidence(f"{place[0].upper()}{place[1:]}: {error}") from None
        table = np.zeros(variable.card)
        if variable.name in seen.hard:
            table[seen.hard[variable.name]] = np.exp(seen.log_weight)
        else:
            table = seen.weights[variable.name][0]
        rows.append(row)
        weights.append(logs_of(table))
        plain[row] = None
    apart = Sequences(plain, column.starts, column.lone, column.ids)
    return apart, (np.array(rows, np.int64), np.array(weights))


def check_noise(nodes: Mapping[str, Node], template: Template, read: Read) -> None:
    """Refuse continuous variables that are observed but have no noise, and so no density."""
    for (v, name), parts in zip(enumerate(nodes), template.parts, strict=True):
        if template.cards[v] or np.isnan(read.rows.values[v]).all():
            continue
        if any(isinstance(part, GaussianFactor) and (part.sd == 0.0).any() for part in parts):
            raise InvalidArgument(
                f"{name!r} is observed and has no noise (sd=0): its density is infinite or zero. Give it "
                "some, or unroll the network, whose engine handles such variables."
            )
