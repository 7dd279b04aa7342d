"""Make the stored posteriors of `references/`: the networks of shared/networks, answered by pyAgrum.

    python tests/known/make_references.py [network ...]

Not a test and not run in CI. The BIF files are parsed here, to float64, and handed to pyAgrum through its
API, because its own reader keeps float32. Nothing of pgm is used, so that the answers owe it nothing. Each
evidence set is a forward sample of which a share is kept: 0 to 30 % over the twenty sets (link: from 10 %,
below it pyAgrum runs out of memory). Every posterior of every set is stored.
"""

from __future__ import annotations

import gzip
import math
import multiprocessing
import re
import sys
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

NETWORKS = Path(__file__).resolve().parents[3] / "shared" / "networks"
REFERENCES = Path(__file__).with_name("references")
SETS = 20
CAP_SECONDS = 900.0


@dataclass
class Bif:
    """A network in the order of its file; tables are arrays (parents..., states)."""

    states: dict[str, list[str]] = field(default_factory=dict)
    parents: dict[str, list[str]] = field(default_factory=dict)
    tables: dict[str, np.ndarray] = field(default_factory=dict)


def parse_bif(text: str) -> Bif:
    """Parse the plain BIF of the bnlearn repository: no quotes, no comments, no default rows."""
    net = Bif()
    for name, count, states in re.findall(
        r"variable\s+(\S+)\s*\{\s*type\s+discrete\s*\[\s*(\d+)\s*\]\s*\{([^}]*)\}", text
    ):
        net.states[name] = [state.strip() for state in states.split(",")]
        if len(net.states[name]) != int(count):
            raise ValueError(f"{name} declares {count} states and lists {len(net.states[name])}")
    for head, body in re.findall(r"probability\s*\(([^{]*)\)\s*\{([^}]*)\}", text):
        child, _, given = head.partition("|")
        name = child.strip()
        parents = [parent.strip() for parent in given.split(",")] if given.strip() else []
        codes = [{state: code for code, state in enumerate(net.states[p])} for p in parents]
        table = np.full([len(c) for c in codes] + [len(net.states[name])], np.nan)
        for line in filter(None, (line.strip() for line in body.split(";"))):
            if line.startswith("table"):
                table[...] = np.array([float(x) for x in line[5:].split(",")]).reshape(table.shape)
            else:
                key, _, row = line[1:].partition(")")
                labels = [label.strip() for label in key.split(",")]
                where = tuple(code[label] for code, label in zip(codes, labels, strict=True))
                table[where] = [float(x) for x in row.split(",")]
        sums = table.sum(axis=-1, keepdims=True)
        if not np.all(np.abs(sums - 1.0) < 1e-2):  # also where a row is missing: NaN
            raise ValueError(f"the table of {name} has rows that sum to {sums.min()} .. {sums.max()}")
        net.parents[name], net.tables[name] = parents, table / sums
    if set(net.states) != set(net.tables):
        raise ValueError("a variable has no table")
    return net


def read_bif(path: Path) -> Bif:
    """Read one gzipped file."""
    return parse_bif(gzip.decompress(path.read_bytes()).decode())


def topological(net: Bif) -> list[str]:
    """Parents before children."""
    order: list[str] = []
    done: set[str] = set()
    for start in net.states:
        stack = [start]
        while stack:
            name = stack[-1]
            todo = [p for p in net.parents[name] if p not in done]
            if name in done or not todo:
                stack.pop()
                if name not in done:
                    done.add(name)
                    order.append(name)
            else:
                stack.extend(todo)
    return order


def forward_sample(net: Bif, rng: np.random.Generator) -> dict[str, int]:
    """One draw of every variable."""
    codes: dict[str, int] = {}
    for name in topological(net):
        row = net.tables[name][tuple(codes[p] for p in net.parents[name])]
        codes[name] = int(rng.choice(row.size, p=row / row.sum()))
    return codes


def evidence_sets(name: str, net: Bif) -> list[dict[str, int]]:
    """The twenty sets of a network: fixed by its name."""
    lowest = 0.1 if name == "link" else 0.0
    names = list(net.states)
    sets = []
    for number in range(SETS):
        rng = np.random.default_rng([zlib.crc32(name.encode()), number])
        share = lowest + (0.3 - lowest) * number / (SETS - 1)
        drawn = forward_sample(net, rng)
        seen = rng.choice(len(names), size=round(share * len(names)), replace=False)
        sets.append({names[i]: drawn[names[i]] for i in sorted(seen)})
    return sets


def pyagrum_network(net: Bif):
    """The network in pyAgrum, its tables in float64; states are called by their number."""
    import pyagrum as gum

    bn = gum.BayesNet()
    for name, states in net.states.items():
        bn.add(gum.LabelizedVariable(name, name, [f"s{i}" for i in range(len(states))]))
    for name, parents in net.parents.items():
        for parent in parents:
            bn.addArc(parent, name)
    for name, table in net.tables.items():
        axes = [*net.parents[name], name]
        tensor = bn.cpt(name)
        tensor[:] = np.ascontiguousarray(table.transpose([axes.index(n) for n in reversed(tensor.names)]))
        rng = np.random.default_rng(0)
        for _ in range(3):  # the axes of arrays are those of `names` reversed: make sure
            where = {axis: int(rng.integers(size)) for axis, size in zip(axes, table.shape, strict=True)}
            if tensor[where] != table[tuple(where.values())]:
                raise AssertionError(f"pyAgrum holds another table for {name}")
    return bn


def answer(net: Bif, given: dict[str, int], wanted: list[str], results) -> None:
    """Put log P(given) and the wanted posteriors into the queue (runs in a process of its own)."""
    import pyagrum as gum

    engine = gum.LazyPropagation(pyagrum_network(net))
    engine.setNumberOfThreads(1)
    engine.setEvidence(given)
    engine.makeInference()
    posteriors = [engine.posterior(name).toarray() for name in wanted]
    p = engine.evidenceProbability()
    results.put((math.log(p) if p > 1e-290 else math.nan, np.concatenate(posteriors)))


def make(name: str) -> None:
    """All sets of one network into one file; a set that takes too long is left out and said so."""
    net = read_bif(NETWORKS / f"{name}.bif.gz")
    names = list(net.states)
    spawn = multiprocessing.get_context("spawn")
    index = {n: i for i, n in enumerate(names)}
    observed, states, wanted, posteriors, logs = [], [], [], [], []
    for number, given in enumerate(evidence_sets(name, net)):
        free = [n for n in names if n not in given]
        results = spawn.Queue()
        process = spawn.Process(target=answer, args=(net, given, free, results))
        start = time.perf_counter()
        process.start()
        found = None
        while found is None and process.is_alive() and time.perf_counter() - start < CAP_SECONDS:
            try:
                found = results.get(timeout=0.5)
            except Exception:
                continue
        if found is None and not results.empty():
            found = results.get()
        if found is None:
            process.kill()
        process.join()
        took = time.perf_counter() - start
        if found is None:
            print(f"{name} set {number}: no answer in {took:.0f} s", flush=True)  # noqa: T201
            continue
        log_p, values = found
        observed.append(np.array([index[n] for n in given], dtype=np.int32))
        states.append(np.array(list(given.values()), dtype=np.int32))
        wanted.append(np.array([index[n] for n in free], dtype=np.int32))
        posteriors.append(values)
        logs.append(log_p)
        print(f"{name} set {number}: {len(given)} observed, {took:.1f} s, log P {log_p:.3f}", flush=True)  # noqa: T201
    if logs:
        REFERENCES.mkdir(exist_ok=True)
        np.savez_compressed(
            REFERENCES / f"{name}.npz",
            names=np.array(names),
            log_p=np.array(logs),  # NaN where pyAgrum's P(evidence) underflows
            observed=np.concatenate(observed),
            n_observed=np.array([a.size for a in observed]),
            states=np.concatenate(states),
            wanted=np.concatenate(wanted),
            n_wanted=np.array([a.size for a in wanted]),
            posteriors=np.concatenate(posteriors),  # those of `wanted`, one after another
        )


if __name__ == "__main__":
    for network in sys.argv[1:] or sorted(p.name.removesuffix(".bif.gz") for p in NETWORKS.glob("*.bif.gz")):
        make(network)
