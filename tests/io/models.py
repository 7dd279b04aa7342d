"""Random models with every kind of distribution, of state and of name, and what they are to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import pgm
from pgm.variables import Domain
from tests.cpds.gates import distribution

NASTY = [
    "rain",
    "wet grass",
    "a/b",
    "<b>&amp;",
    "x + y = z",
    'say "no"',
    "it's",
    "back\\slash\\",
    "{},[]:;|",
    "// no comment",
    "tab\tand\nline",
    "Wärme 温度 🌧",
    "\u2028\u2029\x7f\x85",
    "\ud800 half a pair",
    " blanks ",
    "null",
    "NaN",
    "table",
    "0",
    "\x00\x01",
]
STATES: list[Any] = [
    [False, True],
    [True, False],
    ["no", "yes"],
    ["TRUE", "FALSE"],
    [0, 1],
    ["0", "1"],
    [0.0, 1.0],
    [1.5, -2.5e-300, 1e300],
    [2**70, -(10**400)],
    [float("inf"), 0.1, float("-inf")],
    [("a", 1), ("a", 2.5), (), ((True, None), "b")],
    ["only"],
    ["", "x", " ", '"', "\\"],
    pgm.Bins([0, 18, 65.5, 120]),
    pgm.Bins([float("-inf"), 0, float("inf")]),
    ["unknown", pgm.Interval(0, 18), pgm.Interval(18, float("inf"), True)],
    [f"s{i}" for i in range(70)],
    NASTY[:6],
]
NUMBERS = [0.1, 1 / 3, 5e-324, 1e-17, 2.0, -0.0, 123456789.123456789]


def bits(value: object) -> object:
    """Everything in a value: kinds, order, and numbers to the last bit."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, Domain):
        return type(value).__name__, bits(value.bins), bits(value.states)
    if isinstance(value, pgm.Variable):
        return value.name, bits(value.domain)
    if isinstance(value, pgm.CPD):
        return type(value).__name__, bits(value.__getstate__())
    if isinstance(value, pgm.Interval):
        return "interval", bits((value.lo, value.hi, value.closed))
    if isinstance(value, pgm.Bins):
        return "bins", bits(value.edges)
    if isinstance(value, dict):
        return [(bits(key), bits(entry)) for key, entry in value.items()]
    if isinstance(value, tuple | list):
        return type(value).__name__, [bits(entry) for entry in value]
    if isinstance(value, frozenset):
        return sorted(value)
    if hasattr(value, "__slots__"):  # factors
        return type(value).__name__, [bits(getattr(value, slot)) for slot in value.__slots__]
    return type(value).__name__, repr(value)


def all_bits(model: Any) -> object:
    """Those of a model: name, variables in order, distributions or factors."""
    if isinstance(model, pgm.BayesianNetwork):
        return model.name, [(name, model.parents(name), bits(model.cpd(name))) for name in model]
    return model.name, bits(list(model.variables.values())), bits(model.factors())


@st.composite
def networks(draw: st.DrawFn, most: int = 8) -> pgm.BayesianNetwork:
    """A network whose nodes have any kind of distribution that their parents allow."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = draw(st.lists(st.sampled_from(NASTY) | st.text(max_size=4), max_size=most, unique=True))
    net = pgm.BayesianNetwork(draw(st.sampled_from(["", *NASTY])))
    for name in names:
        if name.strip():
            add(net, name, rng)
    return net


def add(net: pgm.BayesianNetwork, name: str, rng: np.random.Generator) -> None:
    """Add a node of a random kind."""
    before = [p for p in net if rng.random() < 0.5 and net.variables[p].card < 10][-3:]
    parents = [before[i] for i in rng.permutation(len(before))]
    numbers = [p for p in parents if net.variables[p].continuous]
    others = [p for p in parents if p not in numbers]
    if rng.random() < 0.25:
        net.add(name, _gaussian(net, others, numbers, rng), parents=[*others, *numbers])
        return
    states = STATES[rng.integers(len(STATES))]
    domain = pgm.Variable("x", states).domain
    kinds = {
        "table": _table,
        "function": _function,
        "tree": _tree,
        "rules": _rules,
        "gate": _gate,
        "logistic": _logistic,
    }
    if others:
        kinds["default"] = _default
        kinds["mixture"] = _mixture
        if domain.card == 2 and all(net.variables[p].card == 2 for p in others):
            kinds["counting"] = _counting
    kind = "logistic" if numbers else list(kinds)[rng.integers(len(kinds))]
    made = kinds[kind](net, parents if kind == "logistic" else others, domain, rng)
    net.add(name, made, parents=others if kind in ("table", "function") else (), states=domain)


def _rows(rng: np.random.Generator, count: int, k: int) -> list[list[float]]:
    return [distribution(rng, k) for _ in range(count)]


def _number(rng: np.random.Generator) -> float:
    return float(rng.normal()) if rng.random() < 0.7 else NUMBERS[rng.integers(len(NUMBERS))]


def _table(net: Any, parents: list[str], domain: Domain, rng: np.random.Generator) -> Any:
    shape = [net.variables[p].card for p in parents]
    return np.array(_rows(rng, int(np.prod(shape)), domain.card)).reshape([*shape, domain.card])


def _function(net: Any, parents: list[str], domain: Domain, rng: np.random.Generator) -> Any:
    return pgm.Deterministic(lambda *_: domain.states[rng.integers(domain.card)], parents=parents)


def _default(net: Any, parents: list[str], domain: Domain, rng: np.random.Generator) -> Any:
    rows: dict[Any, Any] = {...: distribution(rng, domain.card)}
    for _ in range(rng.integers(4)):
        drawn = [net.variables[p].states[rng.integers(net.variables[p].card)] for p in parents]
        rows[tuple(drawn) if len(drawn) > 1 else drawn[0]] = distribution(rng, domain.card)
    return pgm.DefaultCPD(parents, rows)


def _tree(net: Any, parents: list[str], domain: Domain, rng: np.random.Generator) -> Any:
    if not parents:
        return _rules(net, parents, domain, rng)
    first, *rest = parents
    branches: dict[Any, Any] = {}
    for state in net.variables[first].states:
        if rng.random() < 0.6:
            deeper = rest and rng.random() < 0.6
            branches[state] = _tree(net, rest, domain, rng) if deeper else distribution(rng, domain.card)
    branches[...] = distribution(rng, domain.card)
    return pgm.TreeCPD(first, branches)


def _rules(net: Any, parents: list[str], domain: Domain, rng: np.random.Generator) -> Any:
    rules: list[Any] = []
    for _ in range(4):
        context = {}
        for p in parents:
            states = [s for s in net.variables[p].states if rng.random() < 0.6]
            if states:
                context[p] = pgm.OneOf(*states)
        rules.append((context, distribution(rng, domain.card)))
    return pgm.TreeCPD.from_rules([*rules, ({}, distribution(rng, domain.card))], parents=parents)


def _gate(net: Any, parents: list[str], domain: Domain, rng: np.random.Generator) -> Any:
    two = domain.card == 2 and domain.find(True) != 0
    plain = two and all(net.variables[p].card == 2 for p in parents)
    if plain and rng.random() < 0.7:
        gates = [
            pgm.NoisyOr,
            pgm.NoisyAnd,
            pgm.NoisyMax,
            pgm.NoisyMin,
            pgm.NoisyOr.from_q,
            pgm.NoisyAnd.from_q,
        ]
        return gates[rng.integers(6)]({p: float(rng.random() ** 40) for p in parents}, float(rng.random()))
    if domain.card == 2 and not two:
        return _rules(net, parents, domain, rng)
    causes: dict[str, Any] = {}
    for p in parents:
        v = net.variables[p]
        if rng.random() < 0.3:
            causes[p] = _rows(rng, v.card, domain.card)
        else:
            causes[p] = {s: distribution(rng, domain.card) for s in v.states if rng.random() < 0.6}
    gate = pgm.NoisyMax if rng.random() < 0.5 else pgm.NoisyMin
    return gate(causes, distribution(rng, domain.card) if rng.random() < 0.7 else None)


def _counting(net: Any, parents: list[str], domain: Domain, rng: np.random.Generator) -> Any:
    k = int(rng.integers(len(parents) + 1))
    return [pgm.AtLeast(k, parents), pgm.Exactly(k, parents), pgm.Parity(parents)][rng.integers(3)]


def _mixture(net: Any, parents: list[str], domain: Domain, rng: np.random.Generator) -> Any:
    tables = {p: np.array(_rows(rng, net.variables[p].card, domain.card)) for p in parents}
    weights = dict(zip(parents, distribution(rng, len(parents)), strict=True))
    return pgm.MixtureCPD(tables, weights if rng.random() < 0.7 else None)


def _logistic(net: Any, parents: list[str], domain: Domain, rng: np.random.Generator) -> Any:
    def weight() -> Any:
        if domain.card == 2 and rng.random() < 0.5:
            return _number(rng)
        return [_number(rng) for _ in range(domain.card)]

    weights: dict[str, Any] = {}
    for p in parents:
        v = net.variables[p]
        numeric = all(isinstance(s, bool | int | float) and abs(s) < 1e9 for s in v.states)
        if v.continuous or ((numeric or v.card == 2) and rng.random() < 0.5):
            weights[p] = weight()
        else:
            weights[p] = {s: weight() for s in v.states if rng.random() < 0.7} or {v.states[0]: weight()}
    return pgm.Logistic(weights, bias=weight())


def _gaussian(net: Any, others: list[str], numbers: list[str], rng: np.random.Generator) -> Any:
    def one() -> pgm.LinearGaussian:
        some = {p: _number(rng) for p in numbers if rng.random() < 0.8}
        return pgm.LinearGaussian(some, bias=_number(rng), sd=float(rng.choice([0.0, 0.1, 2.5])))

    if not others:
        weights = {p: _number(rng) for p in numbers}
        return pgm.LinearGaussian(weights, bias=_number(rng), sd=0.3)
    states = [net.variables[p].states for p in others]
    rows: dict[Any, Any] = {...: pgm.LinearGaussian(dict.fromkeys(numbers, 1.0))}
    for codes in np.ndindex(*map(len, states)):
        if rng.random() < 0.7:
            key = tuple([s[i] for s, i in zip(states, codes, strict=True)])
            rows[key] = one()
    return rows
