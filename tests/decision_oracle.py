"""Decision problems by enumeration: every case, every history, every policy, in fractions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from pgm import InfluenceDiagram


def cases(d: InfluenceDiagram, given: Mapping[str, Any]) -> list[tuple[dict[str, int], Fraction, Fraction]]:
    """Every assignment that agrees with what is given: codes, the product of probabilities, the utility."""
    variables = d.variables
    names = list(variables)
    tables = {name: d.cpd(name).table() for name in d.chances}
    used = {p for u in d.utilities for p in d.parents(u)}
    tops = [u for u in d.utilities if u not in used]
    ranges = [
        [variables[name].code(given[name])] if name in given else range(variables[name].card)
        for name in names
    ]
    found = []
    for codes in product(*ranges):
        case = dict(zip(names, codes, strict=True))
        p = Fraction(1)
        for name, table in tables.items():
            p *= Fraction(float(table[tuple([case[q] for q in (*d.parents(name), name)])]))
        worths = [worth(d, u, case) for u in tops]
        total = sum(worths, Fraction(0))
        if d.combine == "product":
            total = Fraction(1)
            for one in worths:
                total *= one
        found.append((case, p, total))
    return found


def worth(d: InfluenceDiagram, name: str, case: Mapping[str, int]) -> Fraction:
    utility = d.utility(name)
    if utility.values is not None:
        return Fraction(float(utility.values[tuple([case[p] for p in utility.parents])]))
    parts = [worth(d, p, case) for p in utility.parents]
    if utility.weights is not None:
        return sum((Fraction(w) * p for w, p in zip(utility.weights, parts, strict=True)), Fraction(0))
    assert utility.function is not None
    return Fraction(utility.function(**{n: float(p) for n, p in zip(utility.parents, parts, strict=True)}))


def allowed(d: InfluenceDiagram, name: str, case: Mapping[str, int]) -> bool:
    mask = d.allowed(name)
    if mask is None:
        return True
    return bool(mask[tuple([case[p] for p in (*d._decisions[name].allowed_given, name)])])


def best(d: InfluenceDiagram, given: Mapping[str, Any] | None = None) -> Fraction:
    """The largest expected utility: sums and maxima in turn over all histories."""
    given = given or {}
    every = cases(d, given)
    waiting = [name for name in d.decisions if name not in given]
    total = sum((p for _, p, _ in every), Fraction(0))
    for name in d.decisions:
        if name in waiting:
            total /= d.variables[name].card  # each case of an open decision was counted
    order: list[tuple[bool, str]] = []
    known: set[str] = set(given)
    for name in waiting:
        for seen in d.known(name):
            if seen not in known:
                known.add(seen)
                order.append((seen in d.decisions, seen))
        if name not in known:
            known.add(name)
            order.append((True, name))

    def value(depth: int, left: list[tuple[dict[str, int], Fraction, Fraction]]) -> Fraction:
        if depth == len(order):
            return sum((p * u for _, p, u in left), Fraction(0))
        decision, name = order[depth]
        card = d.variables[name].card
        groups = [[one for one in left if one[0][name] == code] for code in range(card)]
        if not decision:
            return sum((value(depth + 1, group) for group in groups if group), Fraction(0))
        return max(value(depth + 1, group) for group in groups if group and allowed(d, name, group[0][0]))

    return value(0, every) / total


def best_policy(d: InfluenceDiagram, limited: bool = False) -> Fraction:
    """The largest expected utility over all policies, one by one."""
    every = [one for one in cases(d, {}) if one[1]]
    histories = []
    for name in d.decisions:
        seen = d.parents(name) if limited else d.known(name)
        histories.append((name, seen, list(product(*[range(d.variables[s].card) for s in seen]))))
    rules = [list(product(range(d.variables[name].card), repeat=len(rows))) for name, _, rows in histories]
    values = []
    for choice in product(*rules):
        acts = {
            name: dict(zip(rows, rule, strict=True))
            for (name, _, rows), rule in zip(histories, choice, strict=True)
        }
        total = Fraction(0)
        for case, p, u in every:
            if all(acts[name][tuple([case[s] for s in seen])] == case[name] for name, seen, _ in histories):
                if not all(allowed(d, name, case) for name, _, _ in histories):
                    break
                total += p * u
        else:
            values.append(total)
    return max(values)


def random_diagram(
    rng: np.random.Generator,
    *,
    chances: int = 4,
    decisions: int = 2,
    zeros: bool = True,
    masks: bool = True,
    combine: str = "sum",
) -> InfluenceDiagram:
    """A random diagram: chance nodes above and below decisions, several utilities, some actions ruled out."""
    d = InfluenceDiagram(combine=combine)
    kinds = ["chance"] * chances + ["decision"] * decisions
    rng.shuffle(kinds)
    for number, kind in enumerate(kinds):
        name = f"{kind[0]}{number}"
        there = list(d.variables)
        card = int(rng.integers(2, 4))
        states = [f"s{i}" for i in range(card)]
        if kind == "chance":
            parents = [str(p) for p in rng.permutation(there)[: rng.integers(0, 3)]]
            shape = (*[d.variables[p].card for p in parents], card)
            table = rng.random(shape)
            if zeros:
                table *= rng.random(shape) > 0.3
                table[..., 0] += table.sum(axis=-1) == 0
            d.add_chance(name, table / table.sum(axis=-1, keepdims=True), parents=parents, states=states)
            continue
        open_ = [c for c in d.chances if c in there]
        observes = [str(c) for c in rng.permutation(open_)[: rng.integers(0, 3)]]
        rule: Any = None
        if masks and rng.random() < 0.4:
            if observes and rng.random() < 0.7:
                rows = product(*[d.variables[o].states for o in observes])
                rule = {(row if len(row) > 1 else row[0]): _some(rng, states) for row in rows}
            else:
                rule = _some(rng, states)
        d.add_decision(name, states, observes=observes, allowed=rule)
    for number in range(int(rng.integers(1, 4))):
        parents = [str(p) for p in rng.permutation(list(d.variables))[: rng.integers(1, 4)]]
        values = rng.integers(0 if combine == "product" else -9, 10, [d.variables[p].card for p in parents])
        d.add_utility(f"u{number}", values.astype(float), parents=parents)
    return d


def _some(rng: np.random.Generator, states: list[str]) -> list[str]:
    kept = [s for s in states if rng.random() < 0.6]
    return kept or [states[-1]]
