"""Random distributions of every form, each with its table worked out another way: by enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pgm

STATES = {2: [False, True], 3: ["low", "mid", "top"], 4: [0, 1, 2, 3]}
Made = tuple[Any, np.ndarray]  # a distribution, and its table (parents..., child)


def distribution(rng: np.random.Generator, k: int, zeros: float = 0.25) -> list[float]:
    row = rng.random(k) * (rng.random(k) >= zeros)
    row[rng.integers(k)] += 0.1
    return (row / row.sum()).tolist()


def enumerated(cards: Sequence[int], k: int, row: Callable[..., Sequence[float]]) -> np.ndarray:
    table = np.empty((*cards, k))
    for codes in np.ndindex(*cards):
        table[codes] = row(*codes)
    return table


def extreme(rng: np.random.Generator, parents: dict[str, int], k: int, largest: bool) -> Made:
    """Noisy-MAX or MIN: the extreme of effects, summed over all that each cause and the leak may have."""
    none = 0 if largest else k - 1
    causes: dict[str, Any] = {}
    effects = []
    for name, card in parents.items():
        rows, effect = {}, [[float(s == none) for s in range(k)] for _ in range(card)]
        for code, state in enumerate(STATES[card]):
            if rng.random() < 0.7:
                rows[state] = effect[code] = distribution(rng, k)
        causes[name] = rows
        effects.append(effect)
    leak = distribution(rng, k)
    pick = max if largest else min

    def row(*codes: int) -> list[float]:
        found = [0.0] * k
        tables = [effect[code] for effect, code in zip(effects, codes, strict=True)]
        for drawn in itertools.product(range(k), repeat=len(tables) + 1):
            p = leak[drawn[-1]] * math.prod(t[z] for t, z in zip(tables, drawn, strict=False))
            found[pick(drawn)] += p
        return found

    return (pgm.NoisyMax if largest else pgm.NoisyMin)(causes, leak), enumerated([*parents.values()], k, row)


def noisy(rng: np.random.Generator, parents: dict[str, int], k: int, largest: bool) -> Made:
    """Noisy-OR by eq. 14.29, and noisy-AND as its negation: causes that are off, an effect that stays off."""
    q = rng.random(len(parents)).round(3)
    leak = round(float(rng.random()), 3)
    made = (pgm.NoisyOr if largest else pgm.NoisyAnd)(dict(zip(parents, 1 - q, strict=True)), leak=leak)

    def row(*codes: int) -> list[float]:
        acting = [own for own, code in zip(q.tolist(), codes, strict=True) if (code == 1) == largest]
        quiet = (1 - leak) * math.prod(acting)
        return [quiet, 1 - quiet] if largest else [1 - quiet, quiet]

    return made, enumerated([*parents.values()], 2, row)


def outcome(*states: object) -> str:
    return STATES[3][len("".join(map(str, states))) % 3]


def function(rng: np.random.Generator, parents: dict[str, int], k: int) -> Made:
    def row(*codes: int) -> list[float]:
        found = outcome(*[STATES[card][code] for card, code in zip(parents.values(), codes, strict=True)])
        return [float(state == found) for state in STATES[3]]

    return pgm.Deterministic(outcome, parents=list(parents)), enumerated([*parents.values()], 3, row)


def logistic(rng: np.random.Generator, parents: dict[str, int], k: int) -> Made:
    equal = rng.random() < 0.5
    bias = rng.normal(size=k)
    weights: dict[str, Any] = {}
    scores = []
    same = rng.normal(size=k)
    for name, card in parents.items():
        if card == 3:
            score = rng.normal(size=(card, k))
            weights[name] = {s: list(row) for s, row in zip(STATES[card], score, strict=True)}
        else:
            w = same if equal else rng.normal(size=k)
            score = np.arange(card)[:, np.newaxis] * w
            weights[name] = list(w)
        scores.append(score)

    def row(*codes: int) -> list[float]:
        sums = [
            math.exp(bias[j] + sum(s[c][j] for s, c in zip(scores, codes, strict=True))) for j in range(k)
        ]
        return [x / sum(sums) for x in sums]

    return pgm.Logistic(weights, bias=list(bias)), enumerated([*parents.values()], k, row)


def tree(rng: np.random.Generator, parents: dict[str, int], k: int) -> Made:
    """Rules in the order of which the first that holds decides."""
    rules: list[tuple[dict[str, Any], Any]] = []
    for _ in range(int(rng.integers(1, 4))):
        names = [name for name in parents if rng.random() < 0.6]
        rules.append(({n: STATES[parents[n]][rng.integers(parents[n])] for n in names}, distribution(rng, k)))
    rules.append(({}, "uniform" if rng.random() < 0.3 else distribution(rng, k)))

    def row(*codes: int) -> list[float]:
        seen = {n: STATES[c][code] for (n, c), code in zip(parents.items(), codes, strict=True)}
        found = next(row for context, row in rules if all(seen[n] == s for n, s in context.items()))
        return [1 / k] * k if found == "uniform" else found

    made = pgm.TreeCPD.from_rules(rules, parents=list(parents))
    return made, enumerated([*parents.values()], k, row)


def default(rng: np.random.Generator, parents: dict[str, int], k: int) -> Made:
    """Rows for some configurations, one row for the others."""
    rows: dict[tuple[int, ...], list[float]] = {}
    for _ in range(int(rng.integers(0, 5))):
        rows[tuple(int(rng.integers(card)) for card in parents.values())] = distribution(rng, k)
    other = distribution(rng, k)
    keys = [tuple(STATES[card][i] for card, i in zip(parents.values(), at, strict=True)) for at in rows]
    made = pgm.DefaultCPD(list(parents), {**dict(zip(keys, rows.values(), strict=True)), ...: other})
    return made, enumerated([*parents.values()], k, lambda *codes: rows.get(codes, other))


def counting_gate(which: str) -> Callable[..., Made]:
    def made(rng: np.random.Generator, parents: dict[str, int], k: int) -> Made:
        names, at = list(parents), int(rng.integers(len(parents) + 1))
        gate, says = {
            "at-least": (lambda: pgm.AtLeast(at, names), lambda on: on >= at),
            "exactly": (lambda: pgm.Exactly(at, names), lambda on: on == at),
            "parity": (lambda: pgm.Parity(names), lambda on: on % 2 == 1),
        }[which]
        return gate(), enumerated(
            [*parents.values()], 2, lambda *codes: [1.0 - says(sum(codes)), float(says(sum(codes)))]
        )

    return made


def counting(rng: np.random.Generator, parents: dict[str, int], k: int) -> Made:
    return counting_gate(["at-least", "exactly", "parity"][rng.integers(3)])(rng, parents, k)


def table(rng: np.random.Generator, parents: dict[str, int], k: int) -> Made:
    values = enumerated([*parents.values()], k, lambda *codes: distribution(rng, k))
    return values, values


def mixture(rng: np.random.Generator, parents: dict[str, int], k: int) -> Made:
    weights = distribution(rng, len(parents))
    tables = {n: [distribution(rng, k) for _ in range(card)] for n, card in parents.items()}
    made = pgm.MixtureCPD(
        {n: np.array(t) for n, t in tables.items()}, dict(zip(parents, weights, strict=True))
    )

    def row(*codes: int) -> list[float]:
        return [
            sum(w * t[c][j] for w, t, c in zip(weights, tables.values(), codes, strict=True))
            for j in range(k)
        ]

    return made, enumerated([*parents.values()], k, row)


def any_form(rng: np.random.Generator, parents: dict[str, int], k: int) -> Made:
    """One of the forms, for parents of these cards and a child of k states."""
    forms = [logistic, tree, lambda *a: extreme(*a, True), lambda *a: extreme(*a, False)]
    if parents:
        forms += [mixture, default]
        if k == 2 and set(parents.values()) == {2}:
            forms += [counting, counting]
    return forms[rng.integers(len(forms))](rng, parents, k)


def gaussian(rng: np.random.Generator, parents: dict[str, int], k: int) -> pgm.LinearGaussian:
    """A line in x for each state of `a`."""
    lines = {s: pgm.LinearGaussian({"x": rng.normal()}, bias=rng.normal(), sd=0.5) for s in STATES[2]}
    return pgm.LinearGaussian.select("child", lines, ["a"])


# Of every kind in pgm.cpds.KINDS how a random one is made: test_statistics.py asks each all that it promises.
MAKERS: dict[str, Callable[..., Any]] = {
    "table": table,
    "function": function,
    "rows": default,
    "tree": tree,
    "noisy-or": lambda *a: noisy(*a, True),
    "noisy-and": lambda *a: noisy(*a, False),
    "noisy-max": lambda *a: extreme(*a, True),
    "noisy-min": lambda *a: extreme(*a, False),
    "at-least": counting_gate("at-least"),
    "exactly": counting_gate("exactly"),
    "parity": counting_gate("parity"),
    "mixture": mixture,
    "logistic": logistic,
    "linear-gaussian": gaussian,
}
OF_TWO_STATES = ("noisy-or", "noisy-and", "at-least", "exactly", "parity")


def bound(kind: str, rng: np.random.Generator) -> pgm.CPD:
    """A random distribution of a kind, in a network of its own."""
    net = pgm.BayesianNetwork()
    parents = {"a": 2, "b": 2} if kind in OF_TWO_STATES else {"a": 2, "b": 3}
    k = 2 if kind in OF_TWO_STATES else 3
    for name, card in parents.items():
        net.add(name, [1 / card] * card, states=STATES[card])
    made = MAKERS[kind](rng, parents, k)
    if kind == "linear-gaussian":
        net.add("x", pgm.Gaussian(0.0, sd=1.0))
        net.add("child", made)
    else:
        brings = isinstance(made[0], pgm.CPD)
        net.add("child", made[0], parents=() if brings else list(parents), states=STATES[k])
    return net.cpd("child")


def drawn(cpd: pgm.CPD, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """Rows of the parents, any of them, and of the child as the distribution has it."""
    frame = {
        v.name: rng.normal(size=n) if v.continuous else np.array(v.states)[rng.integers(v.card, size=n)]
        for v in cpd.given
    }
    return {**frame, cpd.child.name: cpd.sample(frame, seed=rng)}
