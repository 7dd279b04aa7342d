"""The truth, by brute force: every joint state of a small model, in exact rationals.

A model is described by its states and its tables, nothing else; nothing of pgm is used. The values of a table
are floats or Fractions and are taken as the exact numbers they are. Inside, a table is a common denominator
and an array of Python integers, so that a joint of 4,096 states costs milliseconds and the answers are exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

Value = float | Fraction


@dataclass(frozen=True)
class Plain:
    """A model in words a child understands: for each variable how many states, and tables over names.

    A table is an array with one axis for each name of its scope, in that order. `directed` says that the
    tables are P(child | parents) of the variable that stands last in the scope, one for each variable.
    """

    cards: dict[str, int]
    tables: tuple[tuple[tuple[str, ...], np.ndarray], ...]
    directed: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.cards)


@dataclass(frozen=True)
class Known:
    """What is known of a model, whatever the words it was said in.

    Weights multiply the joint: one-hot for an observed state, 0/1 for OneOf and Not, likelihoods as they are.
    `wanted` holds the marginals that Soft evidence asks for. Where they were made by tilting the joint with
    known weights, `tilts` holds these, and the answer needs no iteration: of all joints with the wanted
    marginals the tilted one is the closest to where we started (Csiszar 1975), which is what proportional
    fitting converges to.
    """

    weights: dict[str, Sequence[Value]] = field(default_factory=dict)
    wanted: dict[str, Sequence[float]] = field(default_factory=dict)
    tilts: dict[str, Sequence[Value]] = field(default_factory=dict)


NOTHING = Known()


def integers(values: object) -> tuple[np.ndarray, int]:
    """An array of Python integers and the denominator they share; exact.

    >>> integers([0.5, Fraction(1, 3)])
    (array([3, 2], dtype=object), 6)
    """
    array = np.asarray(values, dtype=object)
    exact = [value.as_integer_ratio() for value in array.ravel().tolist()]
    denominator = math.lcm(*{below for _, below in exact})
    out = np.empty(len(exact), dtype=object)
    out[:] = [above * (denominator // below) for above, below in exact]
    return out.reshape(array.shape), denominator


def log(x: Fraction) -> float:
    """The natural logarithm, also where the number is not a float; -inf of zero."""
    if x == 0:
        return -math.inf
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    return math.log(x / Fraction(2) ** shift) + shift * math.log(2)


def floats(array: np.ndarray) -> np.ndarray:
    """An array of Fractions or integers as float64, each rounded once."""
    return np.array([float(v) for v in array.ravel().tolist()], dtype=float).reshape(array.shape)


class Oracle:
    """Every answer about one model under one state of knowledge."""

    def __init__(self, plain: Plain, known: Known = NOTHING) -> None:
        self.plain = plain
        self.known = known
        self.names = plain.names
        self.axis = {name: i for i, name in enumerate(self.names)}
        self.shape = tuple(plain.cards.values())
        self._tables = [(scope, *integers(table)) for scope, table in plain.tables]
        self._weights = [((name,), *integers(weights)) for name, weights in known.weights.items()]
        self._prior, self._prior_denominator = self._product(self._tables)
        evidence, denominator = self._product(self._weights)
        self._joint = np.asarray(self._prior * evidence, dtype=object)
        self._denominator = self._prior_denominator * denominator

    def _aligned(self, scope: Sequence[str], table: np.ndarray) -> np.ndarray:
        """The table with an axis for every variable of the model (length one where it has none)."""
        order = sorted(range(len(scope)), key=lambda i: self.axis[scope[i]])
        shape = [1] * len(self.names)
        for i in order:
            shape[self.axis[scope[i]]] = table.shape[i]
        return table.transpose(order).reshape(shape)

    def _product(self, tables: Iterable[tuple[Sequence[str], np.ndarray, int]]) -> tuple[np.ndarray, int]:
        joint = np.full(self.shape, 1, dtype=object)
        denominator = 1
        for scope, table, d in tables:
            joint = np.asarray(joint * self._aligned(scope, table), dtype=object)
            denominator *= d
        return joint, denominator

    def _sum_to(self, joint: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Sum out all but `names`; the axes of the answer are in the order asked."""
        gone = tuple(i for i, name in enumerate(self.names) if name not in names)
        kept = [name for name in self.names if name in names]
        summed = np.asarray(joint.sum(axis=gone) if gone else joint, dtype=object)
        return summed.transpose([kept.index(name) for name in names])

    # --- sums ---

    @property
    def partition(self) -> Fraction:
        """The sum of everything, evidence weights and all."""
        return Fraction(int(self._joint.sum()), self._denominator)

    @property
    def partition_before(self) -> Fraction:
        """The same without evidence: 1 for a Bayesian network (but for the rounding of its rows)."""
        return Fraction(int(self._prior.sum()), self._prior_denominator)

    @property
    def possible(self) -> bool:
        """Whether anything is left."""
        return bool(self._joint.any())

    @property
    def log_probability(self) -> float:
        """Log P(evidence): for a Markov network what the evidence leaves of the partition function."""
        return log(self.partition) - log(self.partition_before)

    def posterior(self, names: Sequence[str]) -> np.ndarray:
        """The joint over `names` as floats, axes in the order asked; Soft evidence is honoured."""
        if self.known.wanted:
            return self._sum_floats(self.projected(), names)
        return self._as_floats(self._sum_to(self._joint, names))

    @staticmethod
    def _as_floats(weights: np.ndarray) -> np.ndarray:
        """Integer weights as probabilities, each rounded once."""
        total = int(weights.sum())
        return np.array([int(w) / total for w in weights.ravel().tolist()], dtype=float).reshape(
            weights.shape
        )

    def _sum_floats(self, joint: np.ndarray, names: Sequence[str]) -> np.ndarray:
        gone = tuple(i for i, name in enumerate(self.names) if name not in names)
        kept = [name for name in self.names if name in names]
        summed = np.asarray(joint.sum(axis=gone))
        return summed.transpose([kept.index(name) for name in names])

    def projected(self, sweeps: int = 20_000, tolerance: float = 2e-15) -> np.ndarray:
        """The joint after Soft evidence, by proportional fitting (Jeffrey's rule when there is one)."""
        q = self._as_floats(self._joint)
        if self.known.tilts:
            tilts, _ = self._product([((name,), *integers(tilt)) for name, tilt in self.known.tilts.items()])
            return self._as_floats(self._joint * tilts)
        for _ in range(sweeps):
            worst = 0.0
            for name, wanted in self.known.wanted.items():
                target = np.asarray(wanted, dtype=float)
                now = self._sum_floats(q, [name])
                if np.any((now == 0) & (target > 0)):
                    raise ValueError(f"{name} cannot have the marginal {wanted}")
                worst = max(worst, float(np.abs(now - target).max()))
                ratio = np.divide(target, now, out=np.zeros_like(target), where=now > 0)
                q = q * self._aligned([name], ratio)
            if worst < tolerance:
                return q
        raise ValueError(f"the marginals wanted do not go together: still {worst} apart")

    # --- maxima ---

    def _ranked(self, names: Sequence[str]) -> list[tuple[int, tuple[int, ...]]]:
        """Non-zero states of `names`, largest first, ties in the order of declaration."""
        kept = [name for name in self.names if name in names]
        summed = self._sum_to(self._joint, kept)
        found = [
            (int(summed[state]), state)
            for state in itertools.product(*(range(k) for k in summed.shape))
            if summed[state]
        ]
        return sorted(found, key=lambda pair: (-pair[0], pair[1]))

    def best(self, names: Sequence[str] | None = None, k: int = 1) -> list[tuple[dict[str, int], Fraction]]:
        """The k most probable assignments of `names` (all by default) with their P(assignment, evidence)."""
        kept = [name for name in self.names if names is None or name in names]
        ranked = self._ranked(kept)[:k]
        return [(dict(zip(kept, state, strict=True)), Fraction(w, self._denominator)) for w, state in ranked]

    def max_marginal(self, name: str) -> list[Fraction]:
        """For each state of a variable the largest P(all states, evidence) that has it."""
        rows = np.moveaxis(self._joint, self.axis[name], 0).reshape(self.shape[self.axis[name]], -1)
        return [Fraction(int(max(row)), self._denominator) for row in rows.tolist()]

    def weight_of(self, codes: Mapping[str, int]) -> Fraction:
        """P(codes, evidence), the other variables summed out."""
        kept = [name for name in self.names if name in codes]
        summed = self._sum_to(self._joint, kept)
        return Fraction(int(summed[tuple(codes[name] for name in kept)]), self._denominator)

    # --- tables ---

    def expected_counts(self, number: int) -> np.ndarray:
        """How often each entry of a table is used, given what is known: the posterior of its scope."""
        return self.posterior(self.plain.tables[number][0])

    def gradient(self, number: int) -> np.ndarray:
        """The derivative of log P(evidence) by each entry of a table, each taken as free; also at zeros."""
        others, denominator = self._product(
            [*self._tables[:number], *self._tables[number + 1 :], *self._weights],
        )
        summed = self._sum_to(others, self.plain.tables[number][0])
        total = self.partition
        return floats(np.frompyfunc(lambda n: Fraction(n, denominator) / total, 1, 1)(summed))


def noisy_or(probabilities: Sequence[Value], leak: Value = 0) -> np.ndarray:
    """The table of a noisy-OR over causes False/True and a child False/True, in exact rationals."""
    table = np.empty((2,) * (len(probabilities) + 1), dtype=object)
    for causes in itertools.product((0, 1), repeat=len(probabilities)):
        quiet = 1 - Fraction(leak)
        for on, p in zip(causes, probabilities, strict=True):
            if on:
                quiet *= 1 - Fraction(p)
        table[(*causes, 0)], table[(*causes, 1)] = quiet, 1 - quiet
    return table
