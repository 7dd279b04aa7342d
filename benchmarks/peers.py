"""The other programs, each behind the same few calls and filled with the same float64 tables.

An engine of pyAgrum keeps its last answer: asked again with the same evidence it hands that back. A race
gives it other evidence each time, or makes it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import pgm


class NotInstalled(Exception):
    """A peer that is not there."""


class PyAgrum:
    """Lazy propagation in C++."""

    def __init__(self, net: pgm.BayesianNetwork, threads: int | None) -> None:
        try:
            import pyagrum as gum
        except ImportError:
            raise NotInstalled("pyAgrum is not installed") from None
        self._gum = gum
        self._threads = threads
        self._codes = {n: {s: i for i, s in enumerate(v.states)} for n, v in net.variables.items()}
        self.network = bn = gum.BayesNet()
        for name, variable in net.variables.items():
            bn.add(gum.LabelizedVariable(name, name, [f"s{i}" for i in range(len(variable.states))]))
        for name in net.variables:
            for parent in net.parents(name):
                bn.addArc(parent, name)
        for name in net.variables:
            axes = [*net.parents(name), name]
            tensor = bn.cpt(name)
            order = [axes.index(n) for n in reversed(tensor.names)]  # its arrays have their axes backwards
            tensor[:] = np.ascontiguousarray(np.asarray(net.cpd(name).table(), dtype=float).transpose(order))
        self._ids = {name: bn.idFromName(name) for name in net.variables}
        self._engine = self.fresh()
        self._of_target: dict[str, tuple[Any, Mapping[str, Any]]] = {}  # an engine and what it was asked last

    def fresh(self) -> Any:
        """An engine that has answered nothing yet."""
        engine = self._gum.LazyPropagation(self.network)
        if self._threads is not None:
            engine.setNumberOfThreads(self._threads)
        return engine

    def _evidence(self, given: Mapping[str, Any]) -> dict[str, int]:
        return {name: self._codes[name][state] for name, state in given.items()}

    def marginals(self, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """All posteriors of what is not observed, every value read."""
        engine = self._engine if given else self.fresh()
        engine.setEvidence(self._evidence(given))
        engine.makeInference()
        return {name: engine.posterior(i).toarray() for name, i in self._ids.items() if name not in given}

    def query(self, target: str, given: Mapping[str, Any]) -> np.ndarray:
        """One posterior, the others not computed; the engine is kept as long as the evidence changes."""
        engine, last = self._of_target.get(target, (None, given))
        if engine is None or last == given:
            engine = self.fresh()
            engine.eraseAllTargets()
            engine.addTarget(self._ids[target])
        self._of_target[target] = engine, given
        engine.setEvidence(self._evidence(given))
        engine.makeInference()
        return engine.posterior(self._ids[target]).toarray()

    def probability(self, given: Mapping[str, Any]) -> float:
        """P(given); no logarithm, so it may underflow."""
        engine = self.fresh()
        engine.setEvidence(self._evidence(given))
        return float(engine.evidenceProbability())


class Pgmpy:
    """Variable elimination in Python."""

    def __init__(self, net: pgm.BayesianNetwork) -> None:
        try:
            from pgmpy.factors.discrete import TabularCPD
            from pgmpy.inference import VariableElimination

            try:
                from pgmpy.models import DiscreteBayesianNetwork as Network
            except ImportError:
                from pgmpy.models import BayesianNetwork as Network
        except ImportError:
            raise NotInstalled("pgmpy is not installed") from None
        states = {name: list(variable.states) for name, variable in net.variables.items()}
        model = Network(list(net.edges))
        model.add_nodes_from(net.variables)
        for name in net.variables:
            parents = list(net.parents(name))
            table = np.asarray(net.cpd(name).table(), dtype=float).reshape(-1, len(states[name])).T
            cards = [len(states[p]) for p in parents]
            model.add_cpds(
                TabularCPD(
                    name, len(states[name]), table, parents, cards, {n: states[n] for n in [*parents, name]}
                )
            )
        self._states = states
        self._engine = VariableElimination(model)

    def query(self, target: str, given: Mapping[str, Any]) -> np.ndarray:
        """One posterior, in our order of states."""
        found = self._engine.query([target], evidence=dict(given), show_progress=False)
        order = [found.state_names[target].index(state) for state in self._states[target]]
        return np.asarray(found.values)[order]

    def marginals(self, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """All posteriors: it has no call that shares work between them."""
        return {name: self.query(name, given) for name in self._states if name not in given}


def versions(peer: str) -> list[tuple[str, Callable[[pgm.BayesianNetwork], Any]]]:
    """A peer in each setting worth timing: pyAgrum's own number of threads is often its slower one."""
    if peer == "pyagrum":
        return [
            ("pyAgrum, 1 thread", lambda net: PyAgrum(net, 1)),
            ("pyAgrum, its default", lambda net: PyAgrum(net, None)),
        ]
    return [("pgmpy", Pgmpy)]
