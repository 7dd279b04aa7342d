"""Random dynamic networks and what may be observed of them, for comparisons with their unrolled form."""

from __future__ import annotations

from typing import Any

import numpy as np

import pgm


def _rows(rng: np.random.Generator, shape: tuple[int, ...], zeros: bool) -> np.ndarray:
    table = rng.random(shape) + 0.05
    if zeros:
        table *= rng.random(shape) < 0.6
        empty = table.sum(axis=-1) == 0
        table[empty, 0] = 1.0
    return table / table.sum(axis=-1, keepdims=True)


def network(rng: np.random.Generator, *, zeros: bool = False, static: bool = True) -> Any:
    """A network of two to four variables that look back up to three steps."""
    dbn = pgm.DynamicBayesianNetwork("random")
    n = int(rng.integers(2, 5))
    names = [f"v{i}" for i in range(n)]
    gates = [bool(rng.random() < 0.3) for _ in names]
    cards = [2 if gate else int(rng.integers(2, 4)) for gate in gates]
    if static and rng.random() < 0.3:
        dbn.add("type", _rows(rng, (2,), False).tolist(), states=["a", "b"], static=True)
    for i, name in enumerate(names):
        parents = [p for p in names[:i] if rng.random() < 0.5]
        if "type" in dbn and rng.random() < 0.5:
            parents.append("type")
        for other in names:
            for lag in (1, 2, 3):
                if rng.random() < (0.5 if lag == 1 else 0.12) and len(parents) < 4:
                    parents.append(f"{other}[-{lag}]")
        sizes = {f"v{j}": cards[j] for j in range(n)} | {"type": 2}
        card = [sizes[p.partition("[")[0]] for p in parents]
        states = [False, True] if gates[i] else [f"s{k}" for k in range(cards[i])]
        most = max((int(p.partition("[-")[2][:-1]) for p in parents if "[" in p), default=0)
        initial: Any = []
        for step in range(most):
            there = [c for p, c in zip(parents, card, strict=True) if _lag(p) <= step]
            initial.append(_rows(rng, (*there, cards[i]), zeros))
        more = {} if not most else {"initial": initial[0] if most == 1 else initial}
        flags = [p for p in parents if p.partition("[")[0] in names and gates[int(p[1])]]
        if gates[i] and parents and len(flags) == len(parents):
            gate = pgm.NoisyOr({p: float(rng.uniform(0.1, 0.9)) for p in parents}, leak=0.1)
            dbn.add(name, gate, **more, states=states)
        else:
            dbn.add(name, _rows(rng, (*card, cards[i]), zeros), parents=parents, states=states, **more)
    return dbn


def _lag(parent: str) -> int:
    return int(parent.partition("[-")[2][:-1]) if "[" in parent else 0


def observed(rng: np.random.Generator, dbn: Any, steps: int, *, soft: bool = True) -> dict[str, list[Any]]:
    """A sequence that is possible, with gaps, and with states of which something is said."""
    drawn = dbn.sample(steps, seed=rng)
    data: dict[str, list[Any]] = {}
    for name, variable in dbn.variables.items():
        if variable.continuous or rng.random() < 0.4:
            continue
        column: list[Any] = []
        for value in drawn[name].tolist():
            u = rng.random()
            if u < 0.35:
                column.append(None)
            elif u < 0.8 or not soft:
                column.append(value)
            elif u < 0.87:
                column.append(pgm.Likelihood({s: float(rng.uniform(0.1, 3.0)) for s in variable.states}))
            elif u < 0.94:
                column.append(pgm.OneOf(value, variable.states[0]))
            else:
                other = [s for s in variable.states if s != value]
                column.append(pgm.Not(other[0]))
        data[name] = column
    return data or {"v0": [None] * steps}


def given(dbn: Any, data: dict[str, list[Any]], until: int | None = None) -> dict[str, Any]:
    """The same for the unrolled network; of what never changes only what agrees in all steps."""
    found: dict[str, Any] = {}
    for name, column in data.items():
        for t, value in enumerate(column[:until]):
            if value is not None:
                found[f"{name}[{t}]"] = value
    return found
