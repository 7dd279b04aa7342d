"""The pictures of these pages, made by pgm: `python docs/pictures.py` writes them anew, the examples' too.

Each function draws one picture of its name; the pages, the tests and the gallery know no others.
"""

import ast
import contextlib
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import pgm
from pgm import adapters

MOST_BYTES = 100_000  # of a picture in the repository
HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
PACKAGE = HERE.parent / "pgm"


def wet_grass() -> pgm.BayesianNetwork:
    """The network of the tutorial."""
    net = pgm.BayesianNetwork("wet grass")
    net.add("cloudy", 0.5)
    net.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    net.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    rows = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}
    net.add("wet", rows, parents=["rain", "sprinkler"])
    return net


def asia() -> pgm.BayesianNetwork:
    """The chest clinic of Lauritzen and Spiegelhalter (1988)."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(None):
        return runpy.run_path(str(EXAMPLES / "asia.py"))["net"]


def structure() -> Figure:
    """The network of the tutorial, its arrows only."""
    return wet_grass().plot().figure


def believed() -> Figure:
    """The same with what is believed once the grass is seen wet."""
    return wet_grass().plot(given={"wet": True}).figure


def slices() -> Figure:
    """A dynamic network: a step, and the one that it looks back at."""
    dbn = pgm.DynamicBayesianNetwork("weather")
    dbn.add("cloudy", {True: 0.7, False: 0.3}, parents=["cloudy[-1]"], initial=0.5)
    dbn.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    dbn.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    rows = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}
    dbn.add("wet", rows, parents=["rain", "sprinkler"])
    return dbn.plot(title="").figure


def bars() -> Figure:
    """An answer as bars: one variable, and two together."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), layout="constrained")
    wet_grass().query("rain", {"wet": True}).plot(ax=left)
    wet_grass().query(["rain", "sprinkler"], {"wet": True}).plot(ax=right)
    return figure


def clinic() -> Figure:
    """A network, what is connected once it is moral, and its cliques as a tree."""
    net = asia()
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained", width_ratios=[4, 4, 5])
    for ax, (kind, title) in zip(axes, KINDS.items(), strict=True):
        net.plot(ax=ax, kind=kind)
        ax.set_title(title)
    return figure


def tornado() -> Figure:
    """What the clinic's expected utility depends on."""
    d = pgm.InfluenceDiagram("clinic")
    d.add_chance("disease", 0.1)
    d.add_chance("test", {True: 0.9, False: 0.2}, parents=["disease"])
    d.add_decision("treat", states=[False, True], observes=["test"])
    worth = {(True, True): 80, (True, False): -100, (False, True): -20, (False, False): 0}
    d.add_utility("benefit", worth, parents=["disease", "treat"])
    return d.sensitivity().plot().figure


def overlays() -> Figure:
    """What may be laid over a network: paths, a comparison, information, plates."""
    net = wet_grass()
    other = pgm.BayesianNetwork(edges="cloudy -> rain -> wet; rain -> sprinkler")
    figure, axes = plt.subplots(2, 2, figsize=(10, 9), layout="constrained")
    net.plot(ax=axes[0, 0], paths=("sprinkler", "rain"), given=["cloudy", "wet"])
    net.plot(ax=axes[0, 1], compare=other)
    net.plot(ax=axes[1, 0], information=True)
    net.plot(ax=axes[1, 1], plates={"weather": ["cloudy", "rain"]})
    for ax, title in zip(axes.flat, ["paths", "comparison", "information", "plates"], strict=True):
        ax.set_title(title)
    return figure


KINDS = {"network": "arrows", "moral": "parents of a child are linked", "junction-tree": "cliques in a tree"}


def gate() -> Figure:
    """What a noisy-OR of four causes is to the engine: small tables, one after the other."""
    names = [f"cause {i}" for i in range(1, 5)]
    chain = pgm.BayesianNetwork()
    for name in names:
        chain.add(name, 0.1)
    before = None
    for i, name in enumerate(names):
        last = i == len(names) - 1
        parents = [name] if before is None else [before, name]
        state = "effect" if last else f"so far {i + 1}"
        chain.add(state, pgm.NoisyOr(dict.fromkeys(parents, 0.8)))
        before = state
    return chain.plot().figure


def rooms() -> Figure:
    """Which room of pgm imports which; what follows from other arrows is left out."""
    return pgm.BayesianNetwork(edges=room_imports()).plot(title="").figure


def room_imports() -> list[tuple[str, str]]:
    """The arrows between rooms, read off the files of pgm."""
    house = nx.DiGraph()
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if inside[1] in ("__init__", "__main__"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("pgm"):
                continue
            named = [f"pgm.{a.name}" for a in node.names] if node.module == "pgm" else [node.module]
            for above in (room(tuple(name.split("."))) for name in named):
                if above not in ("plot", room(inside)):  # the door to `plot` is open to all, and not drawn
                    house.add_edge(above, room(inside))
    return sorted(nx.transitive_reduction(house).edges)  # its own order changes with the hash seed


def arrows(edges: list[tuple[str, str]]) -> str:
    """The arrows as text, for those who cannot see them."""
    return "; ".join(f"{above} -> {below}" for above, below in sorted(edges))


def room(module: tuple[str, ...]) -> str:
    """The room of a module, of inference the floor."""
    return " ".join(module[1:3]) if module[1] == "inference" else module[1]


def bands() -> Figure:
    """A level that wanders and its gap: filtered, smoothed, and the steps to come."""
    y = series()
    system = pgm.components.level(Q=0.3, R=1.0) + pgm.components.season(6, Q=0.01)
    ax = system.filter(y).plot()
    system.smooth(y).plot(ax=ax)
    system.forecast(y, steps=12).plot(ax=ax)
    return ax.figure


def series() -> np.ndarray:
    """The series of the page on Kalman filters."""
    rng = np.random.default_rng(2)
    t = np.arange(60)
    y = 10 + np.cumsum(rng.normal(scale=0.5, size=60)) + 3 * np.sin(t * np.pi / 3) + rng.normal(size=60)
    y[30:37] = np.nan
    return y


def trellis() -> Figure:
    """The hidden Markov model of the page on sequences: its states, a belief and a path."""
    emitted = [[0.5, 0.2, 0.2, 0.1], [0.1, 0.1, 0.6, 0.2], [0.1, 0.5, 0.2, 0.2]]
    hmm = pgm.HMM(
        [0.5, 0.2, 0.3],
        [[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]],
        pgm.Categorical(emitted, symbols=list("rgby")),
        states=["u", "v", "w"],
    )
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(11, 3.4), layout="constrained", width_ratios=[1.5, 1.2, 1.2]
    )
    hmm.plot(ax=left)
    hmm.smooth(list("rrgby")).plot(ax=middle)
    hmm.decode(list("rrgby")).plot(ax=right)
    return figure


def weights() -> Figure:
    """A perceptron, weight by weight."""
    rows = [[1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [2.0, 3.0]]
    return adapters.Perceptron().fit(rows, ["yes", "yes", "no", "no"]).plot().figure


def hyperplane() -> Figure:
    """A line and its distances."""
    return adapters.Hyperplane([3.0, 4.0], -5.0).plot([[2.0, 1.0], [0.0, 0.0], [-1.0, 0.5]]).figure


def rejects() -> Figure:
    """Three classes against the rest and in pairs, with what is rejected."""
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=150)
    X = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 3.5]])[kind] + rng.normal(size=(150, 2))
    y = np.array(["a", "b", "c"])[kind]
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for ax, (against, said) in zip(axes, (("rest", "against the rest"), ("pairs", "in pairs")), strict=True):
        told = adapters.RejectingClassifier(adapters.LeastSquares(), against=against, reject="none").fit(X, y)
        pgm.evaluation.regions(told, X, y).plot(ax=ax, title=said)
    return figure


def solution_region() -> Figure:
    """All weights that separate four rows of one column."""
    rows = [[2.0], [1.5], [-1.0], [-0.4]]
    return adapters.separability(rows, ["b", "b", "a", "a"]).regions["b"].plot().figure


def windows() -> Figure:
    """A density with two hills by wide and by narrow windows, by cells and by neighbours."""
    from pgm import adapters

    rng = np.random.default_rng(0)
    rows = np.where(rng.random(300) < 0.6, rng.normal(2.0, 0.3, 300), rng.normal(4.3, 0.4, 300))
    figure, axes = plt.subplots(2, 2, figsize=(9, 5.5), layout="constrained", sharex=True)
    few = adapters.ParzenDensity(0.4).fit(rows[:12, None])
    few.plot(ax=axes[0, 0], title="windows around twelve rows")
    every = {
        "windows, the width by validation": adapters.ParzenDensity("validation"),
        "cells": adapters.HistogramDensity(20),
        "the 17 nearest of 300 rows": adapters.NeighbourDensity(),
    }
    for ax, (title, model) in zip(axes.flat[1:], every.items(), strict=True):
        model.fit(rows[:, None]).plot(ax=ax, title=title)
    return figure


def smoothers() -> Figure:
    """The same rows by four smoothers, with what they know of themselves."""
    from pgm import adapters

    rng = np.random.default_rng(0)
    hour = np.sort(rng.uniform(0.0, 24.0, 120))
    load = 50.0 - 20.0 * np.cos(hour / 24.0 * 2.0 * np.pi) + rng.normal(scale=5.0, size=120)
    figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained", sharex=True)
    every = {
        "lines in bins": adapters.Regressogram(width=4.0, degree=1),
        "running mean": adapters.LocalSmoother(2.0, window="box", degree=0),
        "loess": adapters.LocalSmoother(),
        "smoothing spline": adapters.SmoothingSpline(),
    }
    for ax, (title, model) in zip(axes.flat, every.items(), strict=True):
        model.fit(hour[:, None], load).plot(ax=ax, at=10.0, title=f"{title}, 95 % interval of the curve")
        ax.set_xlabel("hour")
    axes[1, 1].set_title("smoothing spline")
    return figure


def two_kinds() -> tuple[np.ndarray, np.ndarray]:
    """The rows of the page on neighbours."""
    rng = np.random.default_rng(3)
    rows = rng.uniform(size=(60, 2)) * [4.0, 3.0]
    return rows, np.where(rows[:, 1] > 1.5 + 0.6 * np.sin(2.0 * rows[:, 0]), "high", "low")


def edited_sets() -> Figure:
    """Voronoi cells and the rows that are kept; discs of an RCE network, and where they conflict."""
    rows, kinds = two_kinds()
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    adapters.EditedNeighbours("voronoi").fit(rows, kinds).plot(rows, kinds, ax=left)
    adapters.RCENetwork(largest=0.6).fit(rows, kinds).plot(ax=right)
    return figure


def outliers() -> Figure:
    """Circles up to the third neighbour, two queries, and the tree of single linkage."""
    rng = np.random.default_rng(2)
    rows = np.concatenate([rng.normal(size=(25, 2)), [[4.0, 3.6]]])
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    adapters.LocalOutlierRatio(3, limit=2.0).fit(rows[:25]).plot([[0.3, 0.2], [4.0, 3.6]], ax=left)
    adapters.SingleLinkageOutliers().fit(rows).plot(ax=right)
    return figure


def errors() -> Figure:
    """A detector: the errors of a threshold beneath two densities, and all thresholds as a curve."""
    alarm = {"quiet": pgm.Gaussian(0.0, sd=1.0), "attack": pgm.Gaussian(2.0, sd=1.0)}
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=[5, 4])
    rule = ["quiet", 1.5, "attack"]
    pgm.evaluation.decision_rates(alarm, prior=[0.5, 0.5], rule=rule).plot(ax=left)
    pgm.evaluation.roc(alarm).plot(ax=right)
    return figure


def fish() -> tuple[np.ndarray, np.ndarray]:
    """Two kinds of fish that overlap."""
    rng = np.random.default_rng(0)
    y = np.array(["salmon", "bass"])[rng.integers(0, 2, 400)]
    return rng.normal(np.where(y == "bass", 1.4, 0.0)[:, None], 1.0, (400, 2)), y


def curves() -> Figure:
    """Two classifiers: ROC curves, and whether their probabilities come true."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    X, y = fish()
    both = {"line": LogisticRegression(), "neighbours": KNeighborsClassifier(15)}
    p = {name: one.fit(X[:200], y[:200]).predict_proba(X[200:])[:, 1] for name, one in both.items()}
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    pgm.evaluation.roc(y[200:], p).plot(ax=left)
    pgm.evaluation.calibration(y[200:], p, bins=5).plot(ax=right)
    return figure


def regions() -> Figure:
    """Where a classifier names which class, and where none."""
    from sklearn.linear_model import LogisticRegression

    X, y = fish()
    return pgm.evaluation.regions(LogisticRegression().fit(X[:200], y[:200]), X, y, reject=0.2).plot().figure


def descent() -> Figure:
    """Gradient descent of a logistic discriminant."""
    told = adapters.LogisticDiscriminant(optimizer="gradient", rate=0.1, max_iter=1000, tol=None)
    return told.fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]).trace_.plot().figure


def quadric() -> Figure:
    """A disc and what is around it."""
    X = np.random.default_rng(1).normal(size=(300, 2))
    ring = np.where((X**2).sum(axis=1) < 1.4, "in", "out")
    told = adapters.LogisticDiscriminant(quadratic=True, max_iter=30, tol=None)
    return told.fit(X, ring).plot(X, ring).figure


def ranks() -> Figure:
    """Rows with their ranks."""
    rows = np.random.default_rng(0).normal(size=(10, 2))
    order = np.argsort(np.argsort(-(rows @ [2.0, 1.0]))) + 1
    return adapters.LinearRanker(max_iter=500).fit(rows, order).plot(rows, order).figure


PICTURES = [
    structure,
    believed,
    slices,
    bars,
    clinic,
    tornado,
    overlays,
    gate,
    bands,
    trellis,
    rooms,
    weights,
    hyperplane,
    rejects,
    solution_region,
    windows,
    smoothers,
    edited_sets,
    outliers,
    errors,
    curves,
    regions,
    descent,
    quadric,
    ranks,
]


def write(folder: Path) -> None:
    """Draw all pictures into a folder."""
    plt.switch_backend("agg")
    for draw in PICTURES:
        figure = draw()
        # A test compares the arrows in the picture with those of today.
        said = {"Description": arrows(room_imports())} if draw is rooms else {}
        figure.savefig(folder / f"{draw.__name__}.png", dpi=80, metadata=said)
        plt.close(figure)


def run_examples(folder: Path) -> None:
    """Run every example in a folder, which then holds its picture."""
    for example in sorted(EXAMPLES.glob("*.py")):
        subprocess.run([sys.executable, str(example)], cwd=folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run_examples(Path(folder))
        for picture in Path(folder).glob("*.png"):
            if picture.stat().st_size >= MOST_BYTES:  # shades that nobody tells apart
                with Image.open(picture) as drawn:
                    drawn.convert("RGB").quantize(256).save(picture, optimize=True)
            (HERE / "pictures" / picture.name).write_bytes(picture.read_bytes())
    write(HERE / "pictures")
