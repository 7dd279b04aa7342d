"""The files to copy in docs/developer/skeletons do what they say."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import math
import os
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import networkx as nx
import numpy as np
import pytest

import pgm
import pgm.io
from build_loops import compiler
from pgm.calls import guard_constructors, guard_methods
from pgm.io import json
from pgm.io.json import networks
from pgm.learning.searching.problem import StructureProblem
from pgm.runtime.clock import Clock
from tests.adapters import estimators
from tests.io import formats
from tests.learning import test_searches
from tests.loops import replay

FOLDER = Path(__file__).parents[1] / "docs" / "developer" / "skeletons"


def load(name: str, called: str = "") -> ModuleType:
    spec = importlib.util.spec_from_file_location(called or f"skeleton_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # pickle looks there
    spec.loader.exec_module(module)
    return module


def test_the_distribution_to_copy_is_one() -> None:
    echo = load("cpd").Echo
    net, table = pgm.BayesianNetwork(), pgm.BayesianNetwork()
    for model in (net, table):
        model.add("said", [0.5, 0.3, 0.2], states=["a", "b", "c"])
    net.add("heard", echo("said", 0.8))
    rows = {"a": [0.8, 0.1, 0.1], "b": [0.1, 0.8, 0.1], "c": [0.1, 0.1, 0.8]}
    table.add("heard", rows, parents=["said"], states=["a", "b", "c"])
    assert net.query("said", {"heard": "c"}).values == pytest.approx(
        table.query("said", {"heard": "c"}).values
    )
    assert net.cpd("heard").probability({"said": "a", "heard": "b"}) == pytest.approx(0.1)
    assert net.cpd("heard").fit({"said": list("aabb"), "heard": list("aaba")}).to_dict()["p"] == 0.75
    assert pickle.loads(pickle.dumps(net.cpd("heard"))).to_dict() == {"parent": "said", "p": 0.8}
    assert "echo of" in repr(net.cpd("heard"))
    with pytest.raises(pgm.InvalidTable, match="from 0 to 1"):
        echo("said", 1.5)


def test_what_its_head_names_is_all_that_a_distribution_needs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With a line in the registry the rest of the house knows it: files, pictures, EM."""
    echo = load("cpd").Echo
    monkeypatch.setattr(pgm.cpds.registry, "KINDS", {**pgm.cpds.KINDS, "echo": echo})
    monkeypatch.setattr(networks, "KINDS", {**pgm.cpds.KINDS, "echo": echo})
    net = pgm.BayesianNetwork()
    net.add("said", [0.5, 0.3, 0.2], states=["a", "b", "c"])
    net.add("heard", echo("said", 0.8))
    cpd = net.cpd("heard")
    pgm.write(net, tmp_path / "echo.json")
    text = (tmp_path / "echo.json").read_text()
    assert '"echo": 0.8' in text
    assert pgm.read(tmp_path / "echo.json").cpd("heard").to_dict() == cpd.to_dict()
    (tmp_path / "echo.json").write_text(text.replace("0.8", '"often"'))
    with pytest.raises(pgm.FileFormatError, match=r"echo.json:\d+:\d+: expected how often it repeats"):
        pgm.read(tmp_path / "echo.json")
    assert "echo" in [text.get_text() for text in net.plot().texts]
    seen = cpd.statistics({"said": list("aab"), "heard": list("aac")})
    expected = cpd.statistics(net.expected_counts({"heard": "b"})["heard"])  # P(said = b | heard = b)
    assert expected.values == pytest.approx(np.array([[0.24 / 0.31, 0.07 / 0.31]]))
    assert cpd.fitted(seen + expected).to_dict()["p"] == pytest.approx((2 + 0.24 / 0.31) / 4)
    assert "pgm/cpds/registry.py" in named("cpd")


def test_the_classifier_to_copy_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    bells = load("adapter").Bells
    estimators.check(bells(), 62, monkeypatch)
    rng = np.random.default_rng(0)
    rows = {"x": rng.normal(size=60), "y": rng.normal(size=60)}
    rows["c"] = np.where(rows["x"] + rng.normal(size=60) > 0, "up", "down")
    weights = rng.integers(1, 4, 60)
    net = pgm.BayesianNetwork()
    for name in "xy":
        net.add(name, pgm.Gaussian(0.0, sd=1.0))
    net.add("c", pgm.EstimatorCPD(bells(0.7), parents=["x", "y"]))
    net.fit(rows, weights=weights)
    X = np.column_stack([rows["x"], rows["y"]])
    own = bells(0.7).fit(np.repeat(X, weights, axis=0), np.repeat(rows["c"], weights))
    found = net.query("c", {"x": 0.3, "y": -1.0}).values
    np.testing.assert_allclose(found, own.predict_proba([[0.3, -1.0]])[0], atol=1e-12)
    assert "P(class)" in repr(own)
    with pytest.raises(pgm.InvalidArgument, match="above 0"):
        bells(0.0).fit(X, rows["c"])


def named(name: str) -> list[str]:
    """The files that the head of a skeleton names; they exist, but for those that would be new."""
    head = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text())) or ""
    found = re.findall(r"\b(?:pgm|docs|tests)/[\w/.-]*\w|\bCHANGELOG\.md", head)
    new = (
        "echo.py",
        "bells.py",
        "sticky.py",
        "words.py",
        "once.py",
        "alone/__init__.py",
        "alone/prepared.py",
    )
    assert [f for f in found if not f.endswith(new) and not (FOLDER.parents[2] / f).exists()] == []
    return found


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_files_that_skeletons_name_exist(name: str) -> None:
    named(name)


def test_the_file_format_to_copy_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pgm.io.words", load("file_format"))
    monkeypatch.setitem(pgm.io.FORMATS, "words", "words")
    monkeypatch.setitem(formats.ROOT, "words", "states a x y\ntable a = {} {}")
    monkeypatch.setitem(formats.MAY_REFUSE, "words", " \t\n\r=")
    monkeypatch.setitem(
        formats.MORE_SEEDS, "words", [formats.write(pgm.load_network("asia"), "words").decode()]
    )
    formats.check_round_trip(pgm.load_network("asia"), "words")
    formats.check_refusals("words", 1000, 0)
    with pytest.raises(pgm.FileFormatError, match=r":2:1: no states were given for 'b'"):
        formats.read(b"states a x y\ntable b = 0.5 0.5", "words")
    with pytest.raises(pgm.FileFormatError, match=r"sum to 1\.2"):
        formats.read(formats.ROOT["words"].format(0.6, 0.6).encode(), "words")


def test_the_engine_to_copy_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = load("engine")
    monkeypatch.setitem(pgm.engines.ENGINES, "alone", alone.Alone)
    apart = pgm.MarkovNetwork()
    for name, weights in (("a", [1.0, 3.0]), ("b", [2.0, 2.0])):
        apart.add_variable(name, states=[0, 1])
        apart.add_factor([name], weights)
    p = apart.query("a", engine="alone")
    assert p.values == pytest.approx([0.25, 0.75])
    assert p.exact
    joint = apart.query(["a", "b"], engine="alone")
    assert np.allclose(joint.values, [[0.125, 0.125], [0.375, 0.375]])
    apart.add_factor(["a", "b"], [[5.0, 1.0], [1.0, 5.0]])
    assert not apart.query("a", engine="alone").exact


def test_the_model_over_time_to_copy_is_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the lines that its head names it is scored, drawn, fitted, written, pickled and plotted."""
    own = load("dynamic_model", "pgm.models.dynamic.sticky")
    guard_methods([own.Sticky])
    guard_constructors([own.Sticky])
    monkeypatch.setitem(sys.modules, "pgm.io.json.sticky", own)
    form = json.Form("pgm.models.dynamic.sticky.Sticky", "sticky")
    monkeypatch.setattr(json, "FORMS", {**json.FORMS, own.KEY: form})
    chain = own.Sticky(0.7, states=["a", "b", "c"], name="tends")
    net, paths = chain.to_network(4), list(itertools.product("abc", repeat=4))
    for path in paths:
        steps = {f"state[{t}]": state for t, state in enumerate(path)}
        assert chain.score(list(path)) == pytest.approx(net.log_probability(steps), abs=1e-12)
    assert math.fsum(math.exp(chain.score(list(path))) for path in paths) == pytest.approx(1.0)
    assert chain.score([list(path) for path in paths]) == pytest.approx(
        math.fsum(chain.score(list(path)) for path in paths)
    )
    drawn = chain.sample(20_000, seed=0)
    assert (drawn[1:] == drawn[:-1]).mean() == pytest.approx(0.7, abs=4 * math.sqrt(0.21 / 20_000))
    assert np.unique(drawn, return_counts=True)[1] == pytest.approx([20_000 / 3] * 3, rel=0.1)
    assert {own.Sticky(1.0, states=list("abc")).sample(1, seed=s)[0] for s in range(30)} == set("abc")
    assert chain.copy().fit([list("aab"), list("bbbb")]).stay == 0.8
    assert own.Sticky(1.0, states=[1, 2]).score([1, 2]) == -math.inf
    with pytest.raises(pgm.InvalidCall, match=r"random_state=.*seed="):
        chain.sample(3, random_state=0)
    for wrong in (
        lambda: chain.sample(3, seed=-1),
        lambda: chain.score(["a", None]),
        lambda: chain.score(["a", "z"]),
        lambda: chain.copy().fit([["a"]]),
        lambda: own.Sticky(1.5, states=["a", "b"]),
        lambda: own.Sticky(0.5, states=["a"]),
        lambda: own.Sticky(states=["a", "b"]).score(["a"]),
    ):
        with pytest.raises(pgm.InvalidArgument):
            wrong()
    pgm.write(chain, tmp_path / "sticky.json")
    assert pgm.read(tmp_path / "sticky.json") == chain
    text = (tmp_path / "sticky.json").read_text()
    (tmp_path / "sticky.json").write_text(text.replace("0.7", "1.7"))
    with pytest.raises(pgm.FileFormatError, match=r"sticky.json:\d+:\d+: .*from 0 to 1"):
        pgm.read(tmp_path / "sticky.json")
    assert pickle.loads(pickle.dumps(chain)) == chain
    assert "0.7" in repr(chain)
    assert "0.7" in chain._repr_html_()
    assert len(chain.plot(title="two steps").texts) >= 2
    assert "pgm/io/json/__init__.py" in named("dynamic_model")


ROWS = pgm.load_network("asia").sample(600, seed=4).to_pandas()
ARCS = list(itertools.permutations(sorted(map(str, ROWS)), 2))


Arcs = list[tuple[str, str]]


def by_hand(least: float, begun: Arcs, forbid: Arcs, most: int) -> Arcs:
    """The arcs that the search to copy should find: scores of whole networks, cycles by networkx."""

    def score(arcs: list[tuple[str, str]]) -> float:
        text = "; ".join([*ROWS, *(f"{a} -> {b}" for a, b in arcs)])
        return pgm.structure_score(pgm.BayesianNetwork(edges=text), ROWS)

    start = score(begun)
    alone = {arc: score([*begun, arc]) - start for arc in ARCS if fits([*begun, arc], forbid, 8)}
    arcs = list(begun)
    for arc in sorted(alone, key=lambda arc: -round(alone[arc], 6)):
        more = [*arcs, arc]
        if fits(more, forbid, most) and alone[arc] > least and score(more) - score(arcs) > least + 1e-6:
            arcs = more
    return arcs


def fits(arcs: Arcs, forbid: Arcs, most: int) -> bool:
    graph = nx.DiGraph(arcs)
    free = len(set(arcs)) == len(arcs) and not set(arcs) & set(forbid)
    return free and nx.is_directed_acyclic_graph(graph) and max(n for _, n in graph.in_degree()) <= most


class Late:
    """A clock whose time is up after some looks at it."""

    def __init__(self, clock: Clock, looks: int, error: BaseException) -> None:
        self.clock, self.looks, self.error = clock, looks, error

    def check(self, *args: Any) -> None:
        self.looks -= 1
        if self.looks < 0:
            raise self.error

    def __getattr__(self, name: str) -> Any:
        return getattr(self.clock, name)


def test_the_search_to_copy_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    own = load("search")
    monkeypatch.setitem(sys.modules, "pgm.learning.searching.once", own)
    monkeypatch.setitem(pgm.searches.SEARCHES, "once", own.Once)
    required, forbidden = [("asia", "dysp"), ("xray", "smoke")], [("lung", "either"), ("either", "lung")]
    for least, begun, forbid, most in (
        (0.0, [], [], 8),
        (0.0, required, forbidden, 2),
        (9.0, [], [], 8),
        (3.0, required, [], 1),
        (1e9, required, [], 8),
    ):
        found = pgm.learn_structure(
            ROWS,
            search=own.Once(least),
            require=begun,
            forbid=forbid,
            max_parents=None if most == 8 else most,
        )
        assert set(found.network.edges) == set(by_hand(least, begun, forbid, most))
        assert found.score == pytest.approx(pgm.structure_score(found.network, ROWS))
        assert found.trace[-1].score == pytest.approx(found.score)
    assert set(pgm.learn_structure(ROWS, search=own.Once(1e9), start=required).network.edges) == set(required)
    for wrong in (-1.0, True, math.nan, math.inf, "much"):
        with pytest.raises(pgm.InvalidArgument, match="least is a number"):
            own.Once(wrong)
    with pytest.raises(pgm.InvalidArgument, match="Did you mean 'once'"):
        pgm.learn_structure(ROWS, search="onec")
    problem: StructureProblem = test_searches.problem_of(ROWS, "bic")
    whole = own.search(own.Once(), problem)
    for looks, error, said in ((9, pgm.OutOfTime("late"), "time limit"), (20, KeyboardInterrupt(), "Ctrl-C")):
        late: Any = Late(problem.clock, looks, error)
        part = own.search(own.Once(), replace(problem, clock=late))
        assert part.stopped_by == said
        assert part.trace == whole.trace[: len(part.trace)]
        assert part.score == pytest.approx(problem.families().total(part.parents))
    assert 1 < len(part.trace) < len(whole.trace)
    for limit in (1e-4, 0.05):
        with pgm.config(time_limit=limit):
            try:
                found = pgm.learn_structure(pgm.load_network("alarm").sample(300, seed=0), search="once")
                assert found.stopped_by in ("", "time limit")
            except pgm.OutOfTime:
                pass


# --- as a newcomer does it: a copy of the house, in which only files change that the head names ---


class House:
    """A copy of the house to which a skeleton is added; `edits` are what stands there, and what shall."""

    def __init__(
        self, folder: Path, name: str, new: dict[str, str], edits: dict[str, dict[str, str]]
    ) -> None:
        house, self.folder = FOLDER.parents[2], folder
        assert {*new, *edits} <= set(named(name))
        for room in ("pgm", "tests"):
            for place, rooms, files in os.walk(house / room):
                here = folder / Path(place).relative_to(house)
                here.mkdir(parents=True)
                if "__pycache__" in rooms:  # read there, not written
                    rooms.remove("__pycache__")
                    (here / "__pycache__").symlink_to(Path(place, "__pycache__"))
                for file in files:
                    (here / file).symlink_to(Path(place, file))
        for file in ("conftest.py", "pyproject.toml", "build_loops"):
            (folder / file).symlink_to(house / file)
        for path, text in new.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
        for path, changes in edits.items():
            text = (house / path).read_text()
            for old, other in changes.items():
                assert text.count(old) == 1, (path, old)
                text = text.replace(old, other)
            (folder / path).unlink()
            (folder / path).write_text(text)

    def run(self, *command: str) -> str:
        """What this prints there."""
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def tests(self, *which: str) -> str:
        return self.run("pytest", "-q", "-n0", "-p", "no:cacheprovider", *which)


def parts(name: str) -> list[str]:
    """Head and sections of a skeleton that is for several files; what each imports stands in it."""
    head, *found = re.split(r"\n# --- .* ---\n", (FOLDER / f"{name}.py").read_text())
    return [head, *(text.replace("\n# -> from", "\nfrom") for text in found)]


def test_an_engine_needs_no_other_file_than_its_head_names(tmp_path: Path) -> None:
    """The conformance of all engines asks it everything; the command knows its name."""
    head, options, code = parts("engine")
    folder, auto = "pgm/inference/engines/alone", "from pgm.inference.engines.auto import Auto\n"
    here = 'module = __name__  # -> f"{__name__}.prepared"'
    assert here in options
    house = House(
        tmp_path,
        "engine",
        {
            f"{folder}/__init__.py": head + options.replace(here, 'module = f"{__name__}.prepared"  #'),
            f"{folder}/prepared.py": head + code,
        },
        {
            "pgm/inference/engines/__init__.py": {
                auto: f"from pgm.inference.engines.alone import Alone\n{auto}",
                "    for kind in (\n        Exact,\n": "    for kind in (\n        Alone,\n        Exact,\n",
            }
        },
    )
    asked = "tests/inference/test_conformance.py", f"{folder}/__init__.py"
    assert "29 passed" in house.tests(*asked, "-k", "alone or Alone")
    assert "APPROXIMATE (alone)" in house.run("pgm", "query", "asia", "lung", "--engine", "alone")


def test_a_file_format_needs_no_other_file_than_its_head_names(tmp_path: Path) -> None:
    """The tests of all formats find it: round trips of any names, broken files, wrong rows, sizes."""
    root = '"words": "states a x y\\ntable a = {} {}",'
    house = House(
        tmp_path,
        "file_format",
        {"pgm/io/words.py": (FOLDER / "file_format.py").read_text()},
        {
            "pgm/io/__init__.py": {'    "xdsl": "xdsl",\n': '    "xdsl": "xdsl",\n    "words": "words",\n'},
            "tests/io/formats.py": {
                "ROOT = {  #": f"ROOT = {{ {root} #",
                "MAY_REFUSE = {": 'MAY_REFUSE = {"words": " \\t\\n\\r=", ',
                "MORE_SEEDS: dict[str, list[str]] = {": "MORE_SEEDS: dict[str, list[str]] = {"
                '"words": ["states a x y\\ntable a = .5 .5\\nstates b u v w\\n"'
                '"table b a = 1 0 0 .2 3e-1 .5\\n", "network n\\nstates a x\\ntable a = 1.0\\n"],',
            },
            "tests/io/test_formats.py": {
                "TWO_WRONG = {  #": 'TWO_WRONG = {"words": "states a x y\\ntable a = {0}\\n'
                'states b x y\\ntable b = {0}",  #'
            },
        },
    )
    assert "passed" in house.tests("tests/io/test_formats.py", "-k", "words or registry")
    (tmp_path / "net.words").write_text("states a x y\ntable a = 0.25 0.75\n")
    assert "0.75" in house.run("pgm", "query", "net.words", "a")


def test_a_search_needs_no_other_file_than_its_head_names(tmp_path: Path) -> None:
    """The tests of all searches find it; the command takes its options, and its example runs."""
    head, options, code = parts("search")
    registry = "SEARCHES: dict[str, type[Search]] = {"
    house = House(
        tmp_path,
        "search",
        {"pgm/learning/searching/once.py": head + code},
        {
            "pgm/learning/searches.py": {
                registry: options.split("searches import Search\n")[1] + registry,
                "(OrderMCMC, StructureMCMC)": "(OrderMCMC, StructureMCMC, Once)",
            }
        },
    )
    own = "test_a_search_does_not_depend_on_the_order_of_columns_and_rows[once]"
    out = house.tests(
        f"tests/learning/test_searches.py::{own}",
        "tests/learning/test_searches.py::test_a_search_obeys_what_is_known[once]",
        "pgm/learning/searches.py::pgm.learning.searches.Once",
    )
    assert "3 passed" in out
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    assert "Once(least=5)" in house.run("pgm", "learn", "rows.csv", "--search", "once:least=5")


def test_the_loops_to_copy_are_some(tmp_path: Path) -> None:
    """Interpreted, compiled, and compiled with every index tested; networkx counts the steps."""
    plain = load("compiled")
    (tmp_path / "pgm").symlink_to(FOLDER.parents[2] / "pgm")
    copy = tmp_path / "compiled.py"
    copy.write_text((FOLDER / "compiled.py").read_text())
    text = compiler.translated(copy, tmp_path)
    forms = [plain]
    if replay.COMPILER is not None:
        forms += [replay.extension(replay.build(text, "baseline", more)) for more in ((), compiler.CHECKED)]
    for seed in range(5):
        graph = nx.gnp_random_graph(3000, 0.0005, seed=seed)  # in several pieces
        indices = [sorted(graph[v]) for v in graph]
        indptr = np.cumsum([0, *map(len, indices)])
        links = plain.Links(indptr, np.concatenate(indices).astype(np.int32))
        start = max(graph, key=graph.degree)
        known = nx.single_source_shortest_path_length(graph, start)
        for form in forms:
            steps = np.empty(len(graph), np.int64)
            assert form.walk(links, start, steps, np.zeros(1, np.uint8)) == plain.DONE
            assert steps.tolist() == [known.get(v, plain.FAR) for v in graph]
            assert form.walk(links, start, steps, np.ones(1, np.uint8)) == plain.STOPPED
