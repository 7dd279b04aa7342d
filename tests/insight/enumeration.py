"""Every joint state of a small network, one by one: the truth that questions about answers are held to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import pgm


class Joint:
    """P(all variables) as one array, an axis for each node in the network's order."""

    def __init__(self, net: pgm.BayesianNetwork) -> None:
        self.names = list(net)
        self.states = {name: list(net.variables[name].states) for name in self.names}
        self.values = np.ones([len(self.states[name]) for name in self.names])
        every = list(range(len(self.names)))
        for name in self.names:
            axes = [self.names.index(n) for n in (*net.parents(name), name)]
            self.values = np.einsum(self.values, every, np.asarray(net.cpd(name).values), axes, every)

    def of(self, known: Mapping[str, Any]) -> np.ndarray:
        """The joint where what is known holds, and zero elsewhere."""
        found = self.values.copy()
        for name, state in known.items():
            keep = np.zeros(len(self.states[name]))
            keep[self.states[name].index(state)] = 1.0
            found *= keep.reshape([-1 if n == name else 1 for n in self.names])
        return found

    def probability(self, known: Mapping[str, Any]) -> float:
        return float(self.of(known).sum())

    def posterior(self, names: str | list[str], known: Mapping[str, Any]) -> np.ndarray:
        """P(names | known), with axes in this order; NaN where what is known is impossible."""
        listing = [names] if isinstance(names, str) else names
        masked, every = self.of(known), list(range(len(self.names)))
        found = np.einsum(masked, every, [self.names.index(n) for n in listing])
        with np.errstate(invalid="ignore"):
            return found / found.sum()


def random_network(
    seed: int, n: int = 6, *, zeros: float = 0.2, states: tuple[int, ...] = (2, 3), parents: int = 3
) -> pgm.BayesianNetwork:
    """Random arrows and tables, some entries zero; text states where there are three."""
    rng = np.random.default_rng(seed)
    net, names = pgm.BayesianNetwork(), []
    for i in range(n):
        name = f"v{i}"
        count = int(rng.integers(0, min(parents, i) + 1))
        chosen = [names[j] for j in rng.permutation(i)[:count]]
        card = int(rng.choice(states))
        shape = [len(net.variables[p].states) for p in chosen] + [card]
        table = rng.dirichlet(np.ones(card), size=shape[:-1] or None).reshape(shape)
        holes = rng.random(shape) < zeros
        holes[..., int(rng.integers(card))] = False
        table = np.where(holes, 0.0, table)
        table /= table.sum(axis=-1, keepdims=True)
        net.add(name, table, parents=chosen, states=[False, True] if card == 2 else list("abcd"[:card]))
        names.append(name)
    return net


def random_findings(
    net: pgm.BayesianNetwork, seed: int, count: int, *, but: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Findings on some nodes that are possible together."""
    rng = np.random.default_rng(seed)
    case = net.sample(1, seed=seed)
    names = [name for name in net if name not in but]
    return {str(n): case[str(n)][0] for n in rng.permutation(names)[:count]}
