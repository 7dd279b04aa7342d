"""Weighted constraint problems like those of UAI-2014, generated: beside toulbar2 after 20 s.

Rules cost -log(1e-4) where they are broken, wishes a little. `planted` problems have states of up to 60 and
tables that allow few pairs, with one solution that was put in. `planning` problems are plans of actions: a
variable for each fact and step, whose states are "no", "as before", and the actions that give it.
"""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import processes, uai
from benchmarks.harness import Finding, Options, Report, Result

CONSTRAINTS = "weighted constraints"
SECONDS = 20.0
RULE = 1e-4  # the factor that a broken rule costs
CLOSE = 0.01  # of toulbar2's value
Table = tuple[Sequence[int], np.ndarray]
Problem = tuple[list[int], list[Table]]

# Variables, most states, tables, share of pairs that a table allows, how far apart its variables are.
PLANTED = [
    (100, 20, 400, 0.15, 10),
    (150, 40, 500, 0.08, 8),
    (200, 12, 900, 0.3, 15),
    (80, 60, 240, 0.04, 9),
]
PLANNING = [(12, 6, 8), (20, 8, 12), (25, 10, 20), (30, 8, 30), (15, 12, 25)]  # facts, steps, most states


def planted(n: int, most: int, n_tables: int, share: float, near: int, seed: int) -> Problem:
    """Tables that allow few pairs, among them those of one solution; each state costs a little."""
    rng = np.random.default_rng(seed)
    cards = [int(c) for c in rng.integers(max(2, most // 4), most + 1, n)]
    solution = [int(rng.integers(c)) for c in cards]
    costs = np.array([0, 0, 0.01, 0.02, 0.05, 0.1, 0.2])
    tables: list[Table] = [([v], np.exp(-rng.choice(costs, c))) for v, c in enumerate(cards)]
    seen: set[tuple[int, int]] = set()
    while len(seen) < n_tables:
        a = int(rng.integers(n))
        b = a + int(rng.integers(1, near + 1))
        if b < n and (a, b) not in seen:
            seen.add((a, b))
            allowed = rng.random((cards[a], cards[b])) < share
            allowed[solution[a], solution[b]] = True
            tables.append(([a, b], np.where(allowed, 1.0, RULE)))
    return cards, tables


def planning(n_facts: int, n_steps: int, most: int, seed: int) -> Problem:
    """Facts at each step; actions need facts, give some, and take some; some facts are the goal."""
    rng = np.random.default_rng(seed)
    n = n_facts * most // 3
    needs = [set(rng.choice(n_facts, 2, replace=False).tolist()) for _ in range(n)]
    gives = [set(rng.choice(n_facts, rng.integers(1, 4), replace=False).tolist()) for _ in range(n)]
    takes = [set(rng.choice(n_facts, rng.integers(0, 3), replace=False).tolist()) for _ in range(n)]
    costs = rng.choice(np.array([0.01, 0.02, 0.05, 0.1, 0.3]), n)

    def disturbs(a: int, b: int) -> bool:
        return bool(takes[a] & (needs[b] | gives[b])) or bool(takes[b] & (needs[a] | gives[a]))

    first = set(rng.choice(n_facts, n_facts // 2, replace=False).tolist())
    facts = set(first)
    for _ in range(1, n_steps):  # two actions that fit together at each step lead to the goal
        chosen: list[int] = []
        for a in rng.permutation([a for a in range(n) if needs[a] <= facts]).tolist():
            if len(chosen) < 2 and not any(disturbs(a, b) for b in chosen):
                chosen.append(a)
        facts = (facts - set().union(*(takes[a] for a in chosen))).union(*(gives[a] for a in chosen))
    size = min(len(facts), n_facts // 3 + 1)
    goal = set(rng.choice(np.array(sorted(facts)), size, replace=False).tolist())

    givers = [[a for a in range(n) if f in gives[a]][: most - 2] for f in range(n_facts)]
    cards = [2 + len(givers[f]) for _ in range(n_steps) for f in range(n_facts)]
    tables: list[Table] = []
    for f in range(n_facts):
        table = np.full(cards[f], RULE)
        table[1 if f in first else 0] = 1.0
        tables.append(([f], table))
    for step in range(1, n_steps):
        here, before = step * n_facts, (step - 1) * n_facts
        for f in range(n_facts):
            table = np.ones(cards[f])
            table[2:] = np.exp(-costs[givers[f]])
            if step == n_steps - 1 and f in goal:
                table[0] = RULE
            tables.append(([here + f], table))
            for g in range(n_facts):  # what an action needs, and what stays, held before
                table = np.ones((cards[g], cards[f]))
                table[0, 2:][[g in needs[a] for a in givers[f]]] = RULE
                if f == g:
                    table[0, 1] = RULE
                if (table < 1.0).any():
                    tables.append(([before + g, here + f], table))
            for g in range(f + 1, n_facts):
                table = np.ones((cards[f], cards[g]))
                table[2:, 1:][[g in takes[a] for a in givers[f]]] = RULE
                table[1:, 2:][:, [f in takes[b] for b in givers[g]]] = RULE
                for i, a in enumerate(givers[f]):
                    table[2 + i, 2:][[a != b and disturbs(a, b) for b in givers[g]]] = RULE
                if (table < 1.0).any():
                    tables.append(([here + f, here + g], table))
    return cards, tables


def write(path: Path, problem: Problem) -> None:
    """As a UAI file, without evidence."""
    cards, tables = problem
    lines = ["MARKOV", str(len(cards)), " ".join(map(str, cards)), str(len(tables))]
    lines += [" ".join(map(str, (len(scope), *scope))) for scope, _ in tables]
    for _, values in tables:
        lines += [str(values.size), " ".join(f"{x:.10g}" for x in values.ravel())]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    path.with_name(f"{uai.name_of(path)}.uai.evid").write_text("0\n")


def run(report: Report, options: Options) -> None:
    """The values after 20 s, ours and toulbar2's."""
    if not options.wants(CONSTRAINTS):
        return
    solver = os.environ.get("TOULBAR2") or shutil.which("toulbar2")
    problems = {f"planted-{i}": planted(*sizes, i) for i, sizes in enumerate(PLANTED)}
    problems |= {f"planning-{i}": planning(*sizes, i) for i, sizes in enumerate(PLANNING)}
    near, apart = 0, []
    for name, problem in problems.items():
        if not options.asked(name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.uai.gz"
            write(path, problem)
            theirs = uai.maximum_of_toulbar2(solver, path, SECONDS) if solver else {}
            ours = processes.ask(
                "benchmarks.uai_worker",
                "map",
                path,
                SECONDS,
                uai.MEMORY,
                folder,
                seconds=SECONDS + uai.READING,
            )
        values = {}
        for side, found in (("pgm", ours), (uai.TOULBAR2, theirs)):
            if "codes" in found:
                values[side] = uai.log_value(problem[1], found["codes"])
                exact = found.get("exact", "failed" not in found)
                figures = {"log value": values[side]}
                note = "" if exact else "not proven"
                report.add(Result(CONSTRAINTS, name, side, found.get("seconds"), None, note, figures))
            elif found:
                report.add(Result(CONSTRAINTS, name, side, note=str(found.get("failed"))))
        if len(values) == 2:
            close = values["pgm"] >= values[uai.TOULBAR2] - CLOSE * abs(values[uai.TOULBAR2])
            near += close
            if not close:
                apart.append(f"{name} {values['pgm']:.3g} for {values[uai.TOULBAR2]:.3g}")
    if near or apart:
        what = f"{CONSTRAINTS}: log value within 1 % of toulbar2's, or above, of {near + len(apart)}"
        report.find(Finding(what, ", ".join([str(near), *apart]), "all", not apart))
