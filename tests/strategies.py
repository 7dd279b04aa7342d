"""Random models for hypothesis, each as a pgm model and as the plain description that the oracle answers.

Structure is drawn by hypothesis, so that failures shrink: one whole number for each variable, because what
costs time is how often hypothesis is asked. Numbers come from a seed that it draws, so that a model of 4,096
joint states costs milliseconds. How many examples are tried is a profile:
`HYPOTHESIS_PROFILE=thorough pytest tests/inference` tries thousands.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import pgm
from tests.oracle import Known, Oracle, Plain, noisy_or

_quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, print_blob=True, suppress_health_check=_quiet
)
settings.register_profile(
    "thorough",
    max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "3000")),
    deadline=None,
    print_blob=True,
    suppress_health_check=_quiet,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

LARGEST_JOINT = 4096
STATES: dict[int, list[tuple[Any, ...]]] = {
    1: [("only",), (0,), (False,)],
    2: [(False, True), ("yes", "no"), (1, 0), ("a b", "a, b")],
    3: [("red", "green", "blue"), (0, 1, 2), (2.5, -1.0, 0.5)],
    4: [("d", "c", "b", "a"), (10, 20, 5, 0)],
    5: [("v", "w", "x", "y", "z"), (-2, -1, 0, 1, 2)],
}
NAMES = ("rain", "b", "x1", "Zeta", "alpha", "m_2", "c", "wet")


@dataclass
class Case:
    """One model twice: as pgm has it and in plain words."""

    model: Any
    plain: Plain
    states: dict[str, tuple[Any, ...]]
    story: list[str] = field(default_factory=list)  # how to build it, for the report of a failure

    @property
    def names(self) -> tuple[str, ...]:
        return self.plain.names

    def state(self, name: str, code: int) -> Any:
        return self.states[name][code]

    def codes(self, assignment: Mapping[str, Any]) -> dict[str, int]:
        return {name: self.states[name].index(state) for name, state in assignment.items()}

    def __repr__(self) -> str:
        return "\n".join(["", *self.story])


@dataclass
class Question:
    """What is known, in the words of the contract and in plain weights."""

    given: dict[str, Any]
    known: Known

    def oracle(self, case: Case) -> Oracle:
        return Oracle(case.plain, self.known)

    @property
    def several_soft(self) -> bool:
        return len(self.known.wanted) > 1

    @property
    def tolerance(self) -> float:
        """1e-12, and 1e-9 where several marginals are fitted at once."""
        return 1e-9 if self.several_soft else 1e-12


# --- numbers ---


@dataclass(frozen=True)
class Numbers:
    """How the values of a model's tables are drawn."""

    zeros: float = 0.0  # share
    decades: float = 0.0  # values are 10 ** -uniform(0, decades)
    eighths: bool = False  # multiples of 1/8: products are exact in float64, so ties are ties

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        if self.eighths:
            values = rng.choice([1.0, 2.0, 4.0, 8.0], size=shape) / 8
        else:
            values = (0.05 + rng.random(shape)) * 10.0 ** -rng.uniform(0, self.decades, size=shape)
        return np.where(rng.random(shape) < self.zeros, 0.0, values)

    def rows(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Rows that sum to one, none all zero."""
        k = shape[-1]
        if self.eighths:
            return rng.multinomial(8, np.full(k, 1 / k), size=shape[:-1]) / 8
        table = self.draw(rng, shape).reshape(-1, k)
        dead = ~table.any(axis=1)
        table[dead, rng.integers(k, size=int(dead.sum()))] = 1.0
        return (table / table.sum(axis=1, keepdims=True)).reshape(shape)


NUMBERS = st.sampled_from(
    [Numbers(zeros, decades) for decades in (0.0, 0.0, 3.0, 40.0) for zeros in (0.0, 0.0, 0.3, 0.6, 0.9)]
)
TAME = st.sampled_from([Numbers(zeros, decades) for decades in (0.0, 2.0) for zeros in (0.0, 0.3, 0.6, 0.9)])
TIES = st.sampled_from([Numbers(zeros, eighths=True) for zeros in (0.0, 0.3, 0.6)])
RNG = st.integers(0, 2**32 - 1).map(np.random.default_rng)


# --- choices ---

CHOICES = st.integers(0, 2**24 - 1)  # hypothesis draws from larger ranges mostly small numbers


class Choices:
    """Choices that are read off one whole number, digit by digit; off zero the first of everything."""

    def __init__(self, number: int) -> None:
        self._left = number

    def below(self, n: int) -> int:
        self._left, digit = divmod(self._left, n)
        return digit

    def of(self, options: Sequence[Any]) -> Any:
        return options[self.below(len(options))]

    def some(self, options: Sequence[Any], most: int) -> list[Any]:
        """None to `most` of them, all different, in any order."""
        left = list(options)
        return [left.pop(self.below(len(left))) for _ in range(self.below(min(most, len(left)) + 1))]


def domains(draw: st.DrawFn, most: int) -> tuple[dict[str, tuple[Any, ...]], list[Choices]]:
    """Names with their states, at most LARGEST_JOINT joint states; and what else each variable may choose."""
    n = draw(st.integers(1, most))
    order, left = Choices(draw(CHOICES)), list(NAMES)
    states, choices = {}, []
    room = LARGEST_JOINT
    for _ in range(n):
        choice = Choices(draw(CHOICES))
        card = min(choice.of([2, 2, 2, 1, 3, 3, 4, 5]), max(1, room))
        room //= card
        states[left.pop(order.below(len(left)))] = choice.of(STATES[card])
        choices.append(choice)
    return states, choices


# --- Bayesian networks ---


def function_of_rows(parents: Sequence[str], answers: Mapping[tuple[Any, ...], Any]) -> Callable[..., Any]:
    """A function whose arguments are called like the parents, as Deterministic wants it."""
    arguments = ", ".join(parents)
    return eval(f"lambda {arguments}: answers[({arguments},)]", {"answers": answers})


@st.composite
def bayesian_networks(draw: st.DrawFn, numbers: st.SearchStrategy[Numbers] = NUMBERS, most: int = 8) -> Case:
    """Tables, Deterministic and NoisyOr nodes; with zeros, constants, several components."""
    style, rng = draw(numbers), draw(RNG)
    states, choices = domains(draw, most)
    gates = not style.eighths  # a noisy-OR of eighths leaves the exact floats
    net = pgm.BayesianNetwork("random")
    tables: list[tuple[tuple[str, ...], np.ndarray]] = []
    story = ["net = pgm.BayesianNetwork()"]
    for i, (name, own) in enumerate(states.items()):
        kind = choices[i].of(["table", "table", "table", "constant", "deterministic", "noisy-or"])
        parents = choices[i].some(list(states)[:i], 4)
        cards = tuple(len(states[p]) for p in parents)
        shape = (*cards, len(own))
        switches = [p for p in parents if len(states[p]) == 2]
        if kind == "noisy-or" and gates and own == (False, True) and switches:
            parents = switches
            strengths = [float(p) for p in rng.choice([0.0, 1.0, 0.3, 0.9, 1e-9], size=len(parents))]
            leak = float(rng.choice([0.0, 0.05, 1.0], p=[0.5, 0.45, 0.05]))
            net.add(name, pgm.NoisyOr(dict(zip(parents, strengths, strict=True)), leak=leak))
            story.append(
                f"net.add({name!r}, pgm.NoisyOr({dict(zip(parents, strengths, strict=True))}, leak={leak}))"
            )
            table = noisy_or(strengths, leak)
            for axis, parent in enumerate(parents):
                if states[parent] == (1, 0):  # a cause acts in True, written 1 here, else in its second state
                    table = np.flip(table, axis)
        elif kind == "deterministic" and parents:
            answers = rng.integers(len(own), size=cards)
            table = np.eye(len(own))[answers]
            rows = {
                tuple(states[p][c] for p, c in zip(parents, where, strict=True)): own[answers[where]]
                for where in np.ndindex(*cards)
            }
            net.add(name, pgm.Deterministic(function_of_rows(parents, rows)), states=list(own))
            story.append(f"net.add({name!r}, <function of {parents}: {rows}>, states={list(own)})")
        else:
            table = style.rows(rng, shape)
            if kind == "constant" and parents:
                table = np.broadcast_to(style.rows(rng, (len(own),)), shape).copy()
            net.add(name, table, parents=parents, states=list(own))
            story.append(f"net.add({name!r}, {table.tolist()}, parents={parents}, states={list(own)})")
        tables.append(((*parents, name), table))
    plain = Plain({name: len(own) for name, own in states.items()}, tuple(tables), directed=True)
    return Case(net, plain, states, story)


# --- Markov networks ---


@st.composite
def markov_networks(draw: st.DrawFn, numbers: st.SearchStrategy[Numbers] = NUMBERS, most: int = 8) -> Case:
    """Factors over any scopes: duplicates, none at all, constants; as arrays, rows or logarithms."""
    style, rng = draw(numbers), draw(RNG)
    states, _ = domains(draw, most)
    net = pgm.MarkovNetwork()
    story = ["net = pgm.MarkovNetwork()"]
    for name, own in states.items():
        net.add_variable(name, states=list(own))
        story.append(f"net.add_variable({name!r}, states={list(own)})")
    tables: list[tuple[tuple[str, ...], np.ndarray]] = []
    scopes: list[list[str]] = []
    for choice in map(Choices, draw(st.lists(CHOICES, max_size=8))):
        kind = choice.of(["array", "array", "rows", "log", "constant"])
        again = len(scopes) > 0 and choice.below(4) == 3  # the same scope again
        first = choice.of(list(states))
        rest = choice.some([name for name in states if name != first], 3)
        scope = choice.of(scopes) if again else [first, *rest]
        scopes.append(scope)
        shape = tuple(len(states[name]) for name in scope)
        table = style.draw(rng, shape)
        if kind == "constant":
            table = np.full(shape, 4.0)
        if kind == "rows":
            rows = {
                tuple(states[name][c] for name, c in zip(scope, where, strict=True)): float(table[where])
                for where in np.ndindex(*shape)
                if table[where] != 0
            }
            if len(scope) == 1:
                rows = {key[0]: value for key, value in rows.items()}
            if rows:
                net.add_factor(scope, rows)
                story.append(f"net.add_factor({scope}, {rows})")
            else:
                kind = "array"
        if kind in ("array", "constant"):
            net.add_factor(scope, table)
            story.append(f"net.add_factor({scope}, {table.tolist()})")
        if kind == "log":
            with np.errstate(divide="ignore"):
                logs = np.log(table)
            table = np.exp(logs) if not style.eighths else table
            net.add_factor(scope, logs, log=True)
            story.append(f"net.add_factor({scope}, {logs.tolist()}, log=True)")
        tables.append((tuple(scope), table))
    plain = Plain({name: len(own) for name, own in states.items()}, tuple(tables))
    return Case(net, plain, states, story)


def models(numbers: st.SearchStrategy[Numbers] = NUMBERS, most: int = 8) -> st.SearchStrategy[Case]:
    """Either kind."""
    return st.one_of(bayesian_networks(numbers, most), markov_networks(numbers, most))


# --- evidence ---

HARD = ("hard",)
KINDS = ("hard", "one of", "not", "likelihood")


@st.composite
def knowledge(
    draw: st.DrawFn, case: Case, kinds: Sequence[str] = KINDS, soft: int = 0, most: int = 8
) -> Question:
    """Evidence of any mixture of kinds on some of the variables, at most `soft` of them Soft."""
    rng = draw(RNG)
    seen = Choices(draw(CHOICES)).some(case.names, most)
    wanting = [n for n in seen if len(case.states[n]) > 1][: draw(st.integers(0, soft))] if soft else []
    choice = Choices(draw(CHOICES))
    given: dict[str, Any] = {}
    weights: dict[str, list[float]] = {}
    for name in seen:
        own = case.states[name]
        if name in wanting:
            given[name] = None  # keeps its place in the mapping; filled in below
            continue
        kind = choice.of(kinds)
        mask = rng.random(len(own)) < 0.6
        code = int(rng.integers(len(own)))
        mask[code] = True
        if kind == "hard":
            given[name], weights[name] = own[code], np.eye(len(own))[code].tolist()
        elif kind == "one of":
            given[name] = pgm.OneOf(*(s for s, m in zip(own, mask, strict=True) if m))
            weights[name] = mask.astype(float).tolist()
        elif kind == "not" and not mask.all():
            given[name] = pgm.Not(*(s for s, m in zip(own, mask, strict=True) if not m))
            weights[name] = mask.astype(float).tolist()
        else:
            values = np.where(mask, rng.choice([0.8, 0.1, 1.0, 3.0, 1e-6], size=len(own)), 0.0)
            given[name] = pgm.Likelihood(dict(zip(own, values.tolist(), strict=True)))
            weights[name] = values.tolist()
    known = Known(weights)
    if wanting and Oracle(case.plain, known).possible:
        tilts = {}
        for name in wanting:
            tilts[name] = rng.choice(
                [0.5, 1.0, 2.0, 0.0], p=[0.3, 0.3, 0.3, 0.1], size=len(case.states[name])
            ).tolist()
        tilted = Oracle(case.plain, Known({**weights, **tilts}))
        if tilted.possible:
            wanted = {name: tilted.posterior([name]).tolist() for name in wanting}
            for name, target in wanted.items():
                given[name] = pgm.Soft(dict(zip(case.states[name], target, strict=True)))
            known = Known(weights, wanted, tilts)
    return Question(given, known)
