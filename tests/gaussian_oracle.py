"""Random networks with continuous variables, and their answers by brute force over the discrete states.

For each configuration the joint Gaussian is written out by (I - B)^-1 and conditioned with numpy; nothing of
it knows of trees, equations or rows.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import pgm
from tests import strategies  # noqa: F401  (the profile of hypothesis)


@dataclass
class Node:
    """A node in plain numbers: a table, or weights, bias and sd for each configuration of the switches."""

    name: str
    switches: tuple[str, ...]
    causes: tuple[str, ...] = ()
    table: np.ndarray | None = None  # (cards of switches..., card)
    weights: np.ndarray | None = None  # (cards of switches..., causes)
    bias: np.ndarray | None = None
    sd: np.ndarray | None = None


@dataclass
class Mixture:
    """The posterior under each possible configuration: weight, mean and covariance of the hidden "
    "variables."""

    log_density: float
    names: list[str]
    configurations: list[dict[str, int]]
    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray

    def mean(self, name: str) -> float:
        return float(self.weights @ self.means[:, self.names.index(name)])

    def covariance(self, a: str, b: str) -> float:
        i, j = self.names.index(a), self.names.index(b)
        off = (self.means[:, i] - self.mean(a)) * (self.means[:, j] - self.mean(b))
        return float(self.weights @ (self.covariances[:, i, j] + off))

    def variance(self, name: str) -> float:
        return max(self.covariance(name, name), 0.0)  # of nothing, rounding may leave less

    def pdf(self, name: str, x: float) -> float:
        i = self.names.index(name)
        m, v = self.means[:, i], self.covariances[:, i, i]
        return float(self.weights @ (np.exp(-0.5 * (x - m) ** 2 / v) / np.sqrt(2 * math.pi * v)))

    def cdf(self, name: str, x: float) -> float:
        i = self.names.index(name)
        z = (x - self.means[:, i]) / np.sqrt(2 * self.covariances[:, i, i])
        return float(self.weights @ [0.5 * (1 + math.erf(t)) for t in z])

    def state(self, name: str, code: int) -> float:
        return float(
            sum(w for w, c in zip(self.weights, self.configurations, strict=True) if c[name] == code)
        )


@dataclass
class Plain:
    """All nodes in an order with parents first."""

    nodes: list[Node]
    cards: dict[str, int]

    @property
    def discrete(self) -> list[str]:
        return [n.name for n in self.nodes if n.table is not None]

    @property
    def continuous(self) -> list[str]:
        return [n.name for n in self.nodes if n.table is None]

    def network(self, order: list[int] | None = None) -> pgm.BayesianNetwork:
        net = pgm.BayesianNetwork()
        for node in self.nodes:
            if node.table is not None:
                states = list(range(self.cards[node.name]))
                net.add(node.name, node.table, parents=node.switches, states=states)
                continue
            rows = {}
            for at in np.ndindex(*[self.cards[s] for s in node.switches]):
                weights = dict(zip(node.causes, node.weights[at].tolist(), strict=True))
                key = at if len(at) > 1 else at[0] if at else ()
                rows[key] = pgm.LinearGaussian(weights, bias=float(node.bias[at]), sd=float(node.sd[at]))
            if node.switches:
                net.add(node.name, rows, parents=node.switches)
            else:
                net.add(node.name, rows[()])
        return net

    def gaussian(self, codes: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of all continuous variables under a configuration."""
        names = self.continuous
        n = len(names)
        b, mean, noise = np.zeros((n, n)), np.zeros(n), np.zeros(n)
        for node in self.nodes:
            if node.table is None:
                at, i = tuple(codes[s] for s in node.switches), names.index(node.name)
                for cause, w in zip(node.causes, node.weights[at], strict=True):
                    b[i, names.index(cause)] = w
                mean[i], noise[i] = node.bias[at], node.sd[at] ** 2
        inverse = np.linalg.inv(np.eye(n) - b)
        return inverse @ mean, inverse @ np.diag(noise) @ inverse.T

    def chance(self, codes: dict[str, int]) -> float:
        p = 1.0
        for node in self.nodes:
            if node.table is not None:
                p *= float(node.table[(*[codes[s] for s in node.switches], codes[node.name])])
        return p

    def answer(self, given: dict[str, Any]) -> Mixture | None:
        """The posterior; None where some configuration has no density, or all are impossible."""
        names = self.continuous
        seen = [i for i, name in enumerate(names) if name in given]
        free = [i for i, name in enumerate(names) if name not in given]
        y = np.array([given[names[i]] for i in seen])
        logs, found, means, covariances = [], [], [], []
        for states in itertools.product(*[range(self.cards[name]) for name in self.discrete]):
            codes = dict(zip(self.discrete, states, strict=True))
            if any(codes[name] != given[name] for name in self.discrete if name in given):
                continue
            p = self.chance(codes)
            if p == 0.0:
                continue
            mean, cov = self.gaussian(codes)
            log = math.log(p)
            gain = np.zeros((len(free), len(seen)))
            if seen:
                s = cov[np.ix_(seen, seen)]
                if np.linalg.eigvalsh(s)[0] < 1e-6 * max(1.0, np.abs(s).max()):
                    return None
                gain = np.linalg.solve(s, cov[np.ix_(seen, free)]).T
                off = y - mean[seen]
                _, size = np.linalg.slogdet(2 * math.pi * s)
                log += -0.5 * size - 0.5 * float(off @ np.linalg.solve(s, off))
                mean = mean.copy()
                mean[free] += gain @ off
            logs.append(log)
            found.append(codes)
            means.append(mean[free])
            covariances.append(cov[np.ix_(free, free)] - gain @ cov[np.ix_(seen, free)])
        if not logs:
            return None
        top = max(logs)
        weights = np.exp(np.array(logs) - top)
        total = top + math.log(weights.sum())
        return Mixture(
            total,
            [names[i] for i in free],
            found,
            weights / weights.sum(),
            np.array(means),
            np.array(covariances),
        )

    def draw(self, rng: np.random.Generator) -> dict[str, Any]:
        """One case, parents first."""
        case: dict[str, Any] = {}
        for node in self.nodes:
            at = tuple(case[s] for s in node.switches)
            if node.table is not None:
                case[node.name] = int(rng.choice(self.cards[node.name], p=node.table[at]))
            else:
                mean = node.bias[at] + sum(
                    w * case[c] for w, c in zip(node.weights[at], node.causes, strict=True)
                )
                case[node.name] = float(mean + node.sd[at] * rng.standard_normal())
        return case


@st.composite
def plains(
    draw: st.DrawFn, most_discrete: int = 3, most_continuous: int = 5, zeros: bool = True
) -> tuple[Plain, np.random.Generator]:
    """A network whose structure hypothesis draws, and whose numbers come from a seed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_discrete = draw(st.integers(0, most_discrete))
    n_continuous = draw(st.integers(1, most_continuous))
    nodes, cards = [], {}
    for i in range(n_discrete):
        name = f"d{i}"
        cards[name] = draw(st.integers(1, 3))
        parents = tuple(f"d{j}" for j in range(i) if draw(st.booleans()))[:2]
        table = rng.dirichlet(np.ones(cards[name]), size=[cards[p] for p in parents])
        if draw(st.integers(0, 5)) == 0 and cards[name] > 1:  # a state that cannot be
            table[..., 0] = 0.0
            table /= table.sum(axis=-1, keepdims=True)
        nodes.append(Node(name, parents, table=table))
    for i in range(n_continuous):
        switches = tuple(f"d{j}" for j in range(n_discrete) if draw(st.integers(0, 3)) == 0)
        causes = tuple(f"x{j}" for j in range(i) if draw(st.booleans()))
        shape = [cards[s] for s in switches]
        weights = rng.normal(size=[*shape, len(causes)]).round(2)
        sd = (0.2 + rng.random(shape)).round(2)
        if zeros and draw(st.integers(0, 3)) == 0:
            sd = np.zeros(shape)
        nodes.append(
            Node(f"x{i}", switches, causes, weights=weights, bias=rng.normal(size=shape).round(2), sd=sd)
        )
    return Plain(nodes, cards), rng
