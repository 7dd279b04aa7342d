"""Every message of a run, for readers who check them against Pearl's equations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pgm.errors import TooLarge
from pgm.inference.engines.factor_graph import Graph
from pgm.printing import number
from pgm.results import Trace

_MOST = 100_000  # rows of a trace
_MOVED = 1e-12  # a smaller change of a logarithm is rounding


class Notes:
    """Collects, after each sweep, the messages that have changed.

    In a network a factor is P(child | parents). Its message to the child is the child's pi, its message to a
    parent is the child's lambda for that parent; messages from variables to factors are named likewise (Pearl
    1988). Pi sums to one; lambda is defined up to a factor, and scaled so that its largest entry is 1.
    Entries are in the order of the states that are still possible.
    """

    def __init__(self, graph: Graph, names: Sequence[str]) -> None:
        """Record the messages of factors over one variable, which never change."""
        case, g = graph.case, graph.arrays
        self._graph = graph
        self._names = [
            names[v] if v < case.program.n_named else f"(hidden {v + 1 - case.program.n_named})"
            for v in range(case.program.n)
        ]
        self._rows: list[tuple[str, ...]] = []
        self._before = np.full((2, graph.n_messages), np.nan)
        for f in graph.alone.tolist():
            (v,) = self._scope(f)
            begin = g.row_at[graph.tables[f]]
            size = int(g.row_at[graph.tables[f] + 1] - begin)
            self._note(0, self._from_factor(f, v), g.logs[begin : begin + size])

    @property
    def trace(self) -> Trace:
        """The messages as a table."""
        return Trace(("sweep", "message", "from", "to", "entries"), self._rows)

    def take(self, sweep: int, beliefs: np.ndarray, messages: np.ndarray) -> None:
        """Record what has changed since the last sweep."""
        g = self._graph.arrays
        for a in range(g.scopes.size):
            f, v = int(self._graph.factors[g.owner[a]]), int(g.scopes[a])
            part = slice(int(g.message_at[a]), int(g.message_at[a + 1]))
            to_factor = beliefs[g.state_at[v] : g.state_at[v + 1]] - messages[part]
            named = int(self._graph.case.reduced.variables[v])
            for row, (label, logs) in enumerate(
                [(self._from_factor(f, named), messages[part]), (self._to_factor(f, named), to_factor)]
            ):
                logs = logs - logs.max()
                before = self._before[row, part]
                if not np.abs(logs - before).max() <= _MOVED:
                    self._note(sweep, label, logs)
                    self._before[row, part] = logs

    def _note(self, sweep: int, label: tuple[str, str, str], logs: np.ndarray) -> None:
        if len(self._rows) >= _MOST:
            raise TooLarge(
                f"trace=True records every message, and there are more than {_MOST:,}. Trace a smaller "
                "model, or with a smaller max_iter=."
            )
        values = np.exp(logs - logs.max())
        if not label[0].startswith("lambda"):
            values = values / values.sum()
        self._rows.append((str(sweep), *label, " ".join(map(number, values.tolist()))))

    def _scope(self, f: int) -> list[int]:
        """The variables of a reduced factor, by their indices in the program."""
        r = self._graph.case.reduced
        return [int(v) for v in r.variables[r.scopes[r.scope_at[f] : r.scope_at[f + 1]]]]

    def _child(self, f: int) -> int | None:
        """The variable whose conditional distribution a reduced factor is; None if it is no such thing."""
        p = self._graph.case.program.arrays
        own = int(self._graph.case.reduced.factors[f])
        if own >= p.heads.size or p.heads[own] != 1:
            return None
        return int(p.scopes[p.scope_at[own + 1] - 1])

    def _called(self, f: int) -> str:
        if self._graph.case.reduced.factors[f] >= self._graph.case.program.arrays.heads.size:
            return "evidence"
        return f"f({', '.join(self._names[v] for v in self._scope(f))})"

    def _from_factor(self, f: int, v: int) -> tuple[str, str, str]:
        child, name = self._child(f), self._names[v]
        if child is None:
            return ("lambda" if self._called(f) == "evidence" else "message", self._called(f), name)
        if child == v:
            parents = [self._names[u] for u in self._scope(f) if u != v]
            return (f"pi({name})", ", ".join(parents) or "prior", name)
        return (f"lambda_{self._names[child]}({name})", self._names[child], name)

    def _to_factor(self, f: int, v: int) -> tuple[str, str, str]:
        child, name = self._child(f), self._names[v]
        if child is None:
            return ("message", name, self._called(f))
        if child == v:
            parents = [self._names[u] for u in self._scope(f) if u != v]
            return (f"lambda({name})", name, ", ".join(parents))
        return (f"pi_{self._names[child]}({name})", name, self._names[child])
