"""The other programs, each behind the same few calls and filled with the same float64 tables.

pyAgrum's engine keeps its last answer: asked again with the same evidence it hands that back. A race gives it
other evidence each time, in which case a used engine is quicker than a new one, or makes it anew. It only
computes what its targets need, so each kind of question has an engine with targets of its own: one that asks
for P(evidence) has none, which is three to eight times as fast as with all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import pgm


class NotInstalled(Exception):
    """A peer that is not there."""


def pyagrum() -> Any:
    """The module."""
    try:
        import pyagrum
    except ImportError:
        raise NotInstalled("pyAgrum is not installed") from None
    return pyagrum


class PyAgrum:
    """Lazy propagation in C++, with one thread."""

    def __init__(self, net: pgm.BayesianNetwork) -> None:
        self._gum = gum = pyagrum()
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
        self._all = self.fresh()
        self._one, self._target = self.fresh(), ""
        self._none = self.fresh()
        self._none.eraseAllTargets()

    def fresh(self) -> Any:
        """An engine that has answered nothing yet."""
        engine = self._gum.LazyPropagation(self.network)
        engine.setNumberOfThreads(1)
        return engine

    def evidence(self, given: Mapping[str, Any]) -> dict[int, int]:
        """Findings in its numbers, so that no race times a look-up of names on its side."""
        return {self._ids[name]: self._codes[name][state] for name, state in given.items()}

    def marginals(self, given: Mapping[int, int]) -> dict[str, np.ndarray]:
        """All posteriors of what is not observed, every value read."""
        engine = self._all if given else self.fresh()
        engine.setEvidence(given)
        engine.makeInference()
        return {name: engine.posterior(i).toarray() for name, i in self._ids.items() if i not in given}

    def query(self, target: str, given: Mapping[int, int]) -> np.ndarray:
        """One posterior, the others not computed."""
        engine, number = self._one, self._ids[target]
        if target != self._target:
            engine.eraseAllTargets()
            engine.addTarget(number)
            self._target = target
        engine.setEvidence(given)
        engine.makeInference()
        return np.asarray(engine.posterior(number).toarray())

    def probability(self, given: Mapping[int, int]) -> float:
        """P(given); no logarithm, so it may underflow."""
        self._none.setEvidence(given)
        return float(self._none.evidenceProbability())


class PyAgrumMarkov:
    """Shafer-Shenoy message passing in C++ on a Markov network, with one thread.

    Filled factor by factor: its reader of UAI files mixes up axes.
    """

    def __init__(self, cards: Sequence[int], factors: Iterable[tuple[Sequence[int], np.ndarray]]) -> None:
        gum = pyagrum()
        self.network = mrf = gum.MarkovRandomField()
        for number, card in enumerate(cards):
            mrf.add(gum.RangeVariable(f"x{number}", "", 0, card - 1))
        merged: dict[frozenset[int], tuple[tuple[int, ...], np.ndarray]] = {}
        for scope, values in factors:  # it takes one factor for each set of variables
            if not scope:
                continue
            key = frozenset(scope)
            if key in merged:
                axes, product = merged[key]
                merged[key] = axes, product * values.transpose([list(scope).index(v) for v in axes])
            else:
                merged[key] = tuple(scope), values
        for axes, values in merged.values():
            tensor = mrf.addFactor([f"x{v}" for v in axes])
            order = [axes.index(int(name[1:])) for name in reversed(tensor.names)]
            tensor[:] = np.ascontiguousarray(values.transpose(order))
        self._engine = gum.ShaferShenoyMRFInference(mrf)
        self._engine.setNumberOfThreads(1)
        self._ids = [mrf.idFromName(f"x{number}") for number in range(len(cards))]

    def marginals(self, given: Mapping[int, int]) -> dict[int, np.ndarray]:
        """All posteriors by the number of the variable, as far as they are not observed."""
        self._engine.setEvidence({self._ids[v]: code for v, code in given.items()})
        self._engine.makeInference()
        return {v: self._engine.posterior(i).toarray() for v, i in enumerate(self._ids) if v not in given}


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
