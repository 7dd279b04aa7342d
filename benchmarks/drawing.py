"""Pictures of networks beside Graphviz's `dot`: how often links cross, and how long a picture takes."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

import pgm
from benchmarks.harness import Finding, Options, Report, Result, networks
from pgm.plot.drawing import GAP_X, GAP_Y, Box, curve
from pgm.plot.placement import place

RACE = "network drawing"
DOT = "dot"
WANTED = {"alarm": 1.5, "win95pts": 1.5, "andes": 1.5}  # crossings for each of dot's, at most
SECONDS = 5.0  # munin, drawn and saved
_SAMPLES = np.linspace(0.0, 1.0, 9)[1:, None]


def run(options: Options) -> Report:
    """Draw every network asked for, by both; count crossings of the routes by the same function."""
    report = Report()
    pgm.BayesianNetwork(edges="a -> b").plot().figure.savefig(tempfile.TemporaryFile(), format="svg")
    for name, net in networks(options):
        sizes = {node: Box((node,)).size() for node in net.nodes}
        start = time.perf_counter()
        placed = place(sizes, list(net.edges), gap_x=GAP_X, gap_y=GAP_Y)
        laid = time.perf_counter() - start
        ours = crossings([_curved(curve(route).vertices) for route in placed.routes.values()])
        seconds = {kind: _saved(net, kind) for kind in ("svg", "png")}
        figures = {"crossings": float(ours), "layout": laid, **seconds}
        report.add(Result(RACE, name, "pgm", max(seconds.values()), 1.0, figures=figures))
        if name == "munin":
            slow = max(seconds.values())
            wanted = f"under {SECONDS:g} s"
            report.find(Finding("munin drawn and saved", f"{slow:.1f} s", wanted, slow < SECONDS))
        if shutil.which(DOT) is None:
            report.add(Result(RACE, name, DOT, note="not installed"))
            continue
        start = time.perf_counter()
        routes = dot_routes(sizes, list(net.edges))
        took = time.perf_counter() - start
        theirs = crossings(routes)
        numbers = {"crossings": float(theirs)}
        report.add(Result(RACE, name, DOT, took, took / laid, "ratio of layouts", numbers))
        if name in WANTED:
            share = ours / max(theirs, 1)
            what = f"{name}: crossings for each of dot's"
            found = f"{share:.2f} ({ours} and {theirs})"
            report.find(Finding(what, found, f"at most {WANTED[name]:g}", share <= WANTED[name]))
    return report


def _saved(net: pgm.BayesianNetwork, kind: str) -> float:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        net.plot().figure.savefig(Path(folder) / f"picture.{kind}")
    return time.perf_counter() - start


def dot_routes(
    sizes: dict[object, tuple[float, float]], links: Sequence[tuple[str, str]]
) -> list[np.ndarray]:
    """Lay the same boxes out with dot, and return its routes as lines of many points, in points."""
    number = {node: i for i, node in enumerate(sizes)}
    lines = [f"digraph {{ nodesep={GAP_X / 72}; ranksep={GAP_Y / 72}; node [shape=box fixedsize=true];"]
    for node, (width, height) in sizes.items():
        lines.append(f"{number[node]} [width={width / 72:.4f} height={height / 72:.4f}];")
    lines += [f"{number[tail]} -> {number[head]};" for tail, head in links]
    done = subprocess.run(
        [DOT, "-Tplain"], input="\n".join([*lines, "}"]), capture_output=True, text=True, check=True
    )
    routes = []
    for line in done.stdout.replace("\\\n", "").splitlines():
        words = line.split()
        if words[0] == "edge":
            count = int(words[3])
            routes.append(_curved(72 * np.array(words[4 : 4 + 2 * count], dtype=float).reshape(-1, 2)))
    assert len(routes) == len(links)
    return routes


def _curved(control: np.ndarray) -> np.ndarray:
    """Return points along a chain of cubic curves given by their control points."""
    assert len(control) % 3 == 1
    points = [control[:1]]
    for i in range(0, len(control) - 1, 3):
        a, b, c, d = control[i : i + 4]
        t, s = _SAMPLES, 1 - _SAMPLES
        points.append(s**3 * a + 3 * s * s * t * b + 3 * s * t * t * c + t**3 * d)
    return np.concatenate(points)


def crossings(routes: Sequence[np.ndarray]) -> int:
    """Count the places where two different routes cross, as drawn.

    >>> crossings([np.array([[0.0, 0.0], [2.0, 2.0]]), np.array([[0.0, 2.0], [2.0, 0.1]])])
    1
    """
    parts = [(i, *p, *q) for i, route in enumerate(routes) for p, q in pairwise(route.tolist())]
    segments = np.array(parts).reshape(-1, 5)
    low, high = np.minimum(segments[:, 2], segments[:, 4]), np.maximum(segments[:, 2], segments[:, 4])
    order = np.argsort(low, kind="stable")
    segments, low, high = segments[order], low[order], high[order]
    last = np.searchsorted(low, high)
    total = 0
    for i in range(len(segments)):
        owner, ax, ay, bx, by = segments[i]
        near = segments[i + 1 : last[i]]
        near = near[near[:, 0] != owner]
        left, right = min(ax, bx), max(ax, bx)
        near = near[
            (np.maximum(near[:, 1], near[:, 3]) >= left) & (np.minimum(near[:, 1], near[:, 3]) <= right)
        ]
        cx, cy, dx, dy = near[:, 1:].T
        sides = ((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) * (
            (bx - ax) * (dy - ay) - (by - ay) * (dx - ax)
        )
        others = ((dx - cx) * (ay - cy) - (dy - cy) * (ax - cx)) * (
            (dx - cx) * (by - cy) - (dy - cy) * (bx - cx)
        )
        total += int(((sides < 0) & (others < 0)).sum())
    return total
