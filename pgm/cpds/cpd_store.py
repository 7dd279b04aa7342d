"""The distributions of a network's nodes, tables kept as bare arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, MutableMapping

import numpy as np

from pgm.variables import Domain, Variable

from .base import CPD
from .table import TableCPD
from .table_input import Array


class CPDStore(MutableMapping[str, CPD]):
    """{node: its distribution}, of a table only its array: the network knows the rest.

    So a million tables are a million arrays and nothing else: the garbage collector, which repeatedly
    traverses every object with references, has nothing to traverse.

    Args:
        parents: of each node, as the network keeps them.
        domains: of each node, as the network keeps them.
    """

    __slots__ = ("_domains", "_kept", "_parents")
    _kept: dict[str, Array | CPD]

    def __init__(self, parents: Mapping[str, tuple[str, ...]], domains: Mapping[str, Domain | None]) -> None:
        """Start empty."""
        self._parents, self._domains, self._kept = parents, domains, {}

    def copy(self, parents: Mapping[str, tuple[str, ...]], domains: Mapping[str, Domain | None]) -> CPDStore:
        """The same distributions for the copy of a network."""
        made = CPDStore(parents, domains)
        made._kept = dict(self._kept)
        return made

    def update_kept(self, kept: Mapping[str, Array | CPD]) -> None:
        """Add what is kept for many nodes at once."""
        self._kept.update(kept)

    def in_order(self, nodes: Collection[str]) -> list[Array | CPD]:
        """For each of these nodes the array of its table, or whatever else its distribution is."""
        if list(self._kept) == list(nodes):  # the usual case: every node was added with its distribution
            return list(self._kept.values())
        return [self._kept[node] for node in nodes]

    def array(self, node: str) -> Array | None:
        """The array of a node's table; None where its distribution is something else, or there is none."""
        found = self._kept.get(node)
        return found if isinstance(found, np.ndarray) else None

    def __getitem__(self, node: str) -> CPD:
        found = self._kept[node]
        if isinstance(found, CPD):
            return found
        *given, child = [self._variable(name) for name in (*self._parents[node], node)]
        return TableCPD.trusted(child, tuple(given), found)

    def _variable(self, name: str) -> Variable:
        domain = self._domains[name]
        assert domain is not None  # a node with children that have tables has states
        return Variable.of(name, domain)

    def __setitem__(self, node: str, cpd: CPD) -> None:
        self._kept[node] = cpd._values if type(cpd) is TableCPD else cpd

    def __delitem__(self, node: str) -> None:
        del self._kept[node]

    def __contains__(self, node: object) -> bool:
        return node in self._kept

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def __getstate__(self) -> tuple[object, ...]:
        return self._parents, self._domains, self._kept

    def __setstate__(self, state: tuple[object, ...]) -> None:
        self._parents, self._domains, self._kept = state  # type: ignore[assignment]
        for found in self._kept.values():
            if isinstance(found, np.ndarray):
                found.flags.writeable = False
