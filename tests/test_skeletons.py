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


# --- as a newcomer does it: a copy of the house, in which only files change that the heads name ---


class House:
    """A copy of the house to which skeletons are added: each changes only files that its head names."""

    def __init__(self, folder: Path) -> None:
        house, self.folder = FOLDER.parents[2], folder
        for room in ("pgm", "tests", "docs"):
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

    def add(self, name: str, new: dict[str, str], edits: dict[str, dict[str, str]]) -> None:
        """Add a skeleton; `edits` are what stands in a file, and what shall."""
        assert {*new, *edits} <= set(named(name))
        for path, text in new.items():
            (self.folder / path).parent.mkdir(exist_ok=True)
            (self.folder / path).write_text(text)
        for path, changes in edits.items():
            text = (self.folder / path).read_text()
            for old, other in changes.items():
                assert text.count(old) == 1, (path, old)
                text = text.replace(old, other)
            (self.folder / path).unlink()
            (self.folder / path).write_text(text)

    def run(self, *command: str) -> str:
        """What this prints there."""
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def parts(name: str) -> list[str]:
    """Head and sections of a skeleton that is for several files; what each imports stands in it."""
    head, *found = re.split(r"\n# --- .* ---\n", (FOLDER / f"{name}.py").read_text())
    return [head, *(text.replace("\n# -> from", "\nfrom") for text in found)]


def before(line: str, more: str) -> dict[str, str]:
    """One more line before this one."""
    return {line: f"{more}\n{line}"}


ECHO = """def echo(rng: np.random.Generator, parents: dict[str, int], k: int) -> Made:
    p = round(float(rng.random()), 3)
    table = [[p if i == j else (1 - p) / (k - 1) for i in range(k)] for j in range(k)]
    return pgm.Echo(*parents, p), np.array(table)

"""


def add_distribution(house: House) -> None:
    house.add(
        "cpd",
        {"pgm/cpds/echo.py": (FOLDER / "cpd.py").read_text()},
        {
            "pgm/cpds/registry.py": {
                **before("from .hybrid_logistic", "from .echo import Echo"),
                "    LinearGaussian,\n)": "    LinearGaussian,\n    Echo,\n)",
            },
            "pgm/cpds/__init__.py": {
                **before("from .estimator import", "from .echo import Echo"),
                **before('    "EstimatorCPD",', '    "Echo",'),
            },
            "pgm/__init__.py": {
                **before("    EstimatorCPD,\n    Exactly", "    Echo,"),
                **before('    "EstimatorCPD",', '    "Echo",'),
                "_FORMS = (": "_FORMS = (\n    Echo,",
            },
            "docs/schema/pgm-1.json": {
                '["linear-gaussian"]}': '["linear-gaussian"]}, {"required": ["echo"]}',
                **before('        "parity": {', '        "echo": {"$ref": "#/$defs/probability"},'),
            },
            "docs/reference/distributions.rst": before(
                ".. autoclass:: pgm.Parity", ".. autoclass:: pgm.Echo\n"
            ),
            "tests/cpds/gates.py": {
                **before("# Of every kind in", ECHO),
                **before("    k = 2 if kind in OF", '    parents = {"a": 3} if kind == "echo" else parents'),
                **before('    "linear-gaussian": gaussian,', '    "echo": echo,'),
            },
            "tests/html_page.py": before(
                '    net.add("odd", pgm.Parity', '    net.add("again", pgm.Echo("a", 0.8))'
            ),
        },
    )


def add_engine(house: House) -> None:
    head, options, code = parts("engine")
    folder, after = "pgm/inference/engines/alone", "from pgm.inference.engines.auto import Auto\n"
    here = 'module = __name__  # -> f"{__name__}.prepared"'
    assert here in options
    house.add(
        "engine",
        {
            f"{folder}/__init__.py": head + options.replace(here, 'module = f"{__name__}.prepared"  #'),
            f"{folder}/prepared.py": head + code,
        },
        {
            "pgm/inference/engines/__init__.py": {
                **before(after, "from pgm.inference.engines.alone import Alone"),
                "        Variational,\n    )": "        Variational,\n        Alone,\n    )",
            },
            "docs/reference/engines.rst": before(
                ".. autoclass:: pgm.engines.Gibbs", ".. autoclass:: pgm.engines.Alone\n"
            ),
        },
    )


def add_file_format(house: House) -> None:
    root = '"words": "states a x y\\ntable a = {} {}",'
    house.add(
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


def add_search(house: House) -> None:
    head, options, code = parts("search")
    registry = "SEARCHES: dict[str, type[Search]] = {"
    house.add(
        "search",
        {"pgm/learning/searching/once.py": head + code},
        {
            "pgm/learning/searches.py": {
                registry: options.split("searches import Search\n")[1] + registry,
                "(OrderMCMC, StructureMCMC)": "(OrderMCMC, StructureMCMC, Once)",
            },
            "tests/test_house.py": before(
                '    "pgm/variables.py"', '    "pgm/learning/searches.py": "one list",'
            ),
            "docs/reference/learning.rst": before(
                ".. autoclass:: pgm.searches.Tabu", ".. autoclass:: pgm.searches.Once\n"
            ),
        },
    )


def add_dynamic_model(house: House) -> None:
    model, code = parts("dynamic_model")[0], (FOLDER / "dynamic_model.py").read_text()
    own, form = (
        code.split("# --- its JSON")[0],
        code.split("finds the line and column of whatever is wrong ---\n")[1],
    )
    imports = "\n".join(
        line for line in model.splitlines() if re.match("from (pgm.(dist|err|io)|typ.*Any|__)", line)
    )
    made = "from pgm.models.dynamic.sticky import Sticky"
    house.add(
        "dynamic_model",
        {
            "pgm/models/dynamic/sticky.py": own,
            "pgm/io/json/sticky.py": f'"""Sticky chains in JSON."""\n\n{imports}\n{made}\n\n{form}',
        },
        {
            "pgm/models/dynamic/__init__.py": {
                **before("from .switching_linear", "from .sticky import Sticky"),
                **before('    "SwitchingLinear', '    "Sticky",'),
                "[HMM, MarkovChain,": "[HMM, MarkovChain, Sticky,",
            },
            "pgm/io/json/__init__.py": before(
                '    "mixture": Form', '    "sticky": Form(f"{_DYNAMIC}.sticky.Sticky", "sticky", version=2),'
            ),
            "docs/schema/pgm-2.json": {
                '{"required": ["mixture"]}': '{"required": ["mixture"]}, {"required": ["sticky"]}',
                **before(
                    '    "mixture": {', '    "sticky": {"type": "object", "required": ["states", "stay"]},'
                ),
            },
            "pgm/__init__.py": {
                "LinearDynamicalSystem, MarkovChain, components": "MarkovChain, Sticky, components",
                **before('    "StudentT",', '    "Sticky",'),
                **before('    "LeftToRight": "pgm', '    "Sticky": "pgm.models.dynamic",'),
            },
            "docs/reference/models.rst": before(
                ".. autoclass:: pgm.MarkovChain", ".. autoclass:: pgm.Sticky\n   :members:\n"
            ),
            "docs/conf.py": before("        pgm.MarkovChain,", "        pgm.Sticky,"),
            "tests/test_randomness.py": before(
                "    yield pgm.MarkovChain(", '    yield pgm.Sticky(0.6, states=["a", "b"])'
            ),
            "tests/html_page.py": before(
                '        "Markov chain": pgm', '        "sticky": pgm.Sticky(0.7, states=["a", "b"]),'
            ),
        },
    )


def add_adapter(house: House) -> None:
    house.add(
        "adapter",
        {"pgm/adapters/bells.py": (FOLDER / "adapter.py").read_text()},
        {
            "pgm/adapters/__init__.py": {
                **before("from .densities import", "from .bells import Bells"),
                **before('    "ClusterQuality",', '    "Bells",'),
            },
            "docs/reference/adapters.rst": before(
                ".. autoclass:: pgm.adapters.Winnow", ".. autoclass:: pgm.adapters.Bells\n"
            ),
        },
    )


ADDED = (add_distribution, add_engine, add_file_format, add_search, add_dynamic_model, add_adapter)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    made = House(tmp_path_factory.mktemp("house"))
    for add in ADDED:
        add(made)
    return made


# Tests that go over everything of a kind, and what of it they find there; a name alone is that of a test.
FIND_IT = {
    "tests/cpds/test_statistics.py": "every_kind_of_the_registry echo",
    "tests/inference/test_conformance.py": "sums[alone maxima[alone samples[alone plans[alone",
    "tests/inference/test_the_door.py": "and_no_others[None-Alone prepares_it[Alone",
    "tests/io/test_formats.py": "promises words-0] words-1] back[words once[words",
    "tests/io/test_json.py": "every_key_of_a_kind version[sticky",
    "tests/learning/test_searches.py": "columns_and_rows[once what_is_known[once",
    "tests/test_docstrings.py": "every_type_that [Sticky [Bells [Echo [Alone [Once",
    "tests/test_printing.py": "one_of_every_public terminal[sticky and_escaped[sticky",
    "pgm/cpds/echo.py": "Echo",
    "pgm/models/dynamic/sticky.py": "Sticky Sticky.score Sticky.fit Sticky.sample Sticky.to_network",
    "pgm/adapters/bells.py": "Bells Bells.fit Bells.predict_proba",
    "pgm/inference/engines/alone/__init__.py": "Alone",
    "pgm/learning/searches.py": "searches.Once",
}


def test_what_is_copied_needs_no_other_file_than_its_head_names(house: House) -> None:
    """Conformance, round trips, broken files, statistics, help, print and schema know it at once."""
    asked = sorted({word for words in FIND_IT.values() for word in words.split()})
    out = house.run(
        *("-m", "pytest", "-q", "-rA", "-n0", "-p", "no:cacheprovider", *FIND_IT),
        *("-k", " or ".join(word.strip("]") for word in asked)),
    )
    passed = re.findall(r"^PASSED (.*?)::(.*)$", out, re.MULTILINE)
    for path, words in FIND_IT.items():
        for word in words.split():
            assert any(file == path and word in test for file, test in passed), (path, word)


def test_the_command_and_the_bridge_know_what_is_copied(house: House) -> None:
    (house.folder / "net.words").write_text("states a x y\ntable a = 0.25 0.75\n")
    ROWS.to_csv(house.folder / "rows.csv", index=False)
    lines = [
        "import io, sys, pgm, pgm.cli",
        "net = pgm.BayesianNetwork()",
        "net.add('x', pgm.Gaussian(0.0, sd=1.0))",
        "bells = pgm.adapters.Bells(1.0).fit([[0.0], [2.0]], ['low', 'high'])",
        "net.add('y', pgm.EstimatorCPD(bells, parents=['x']))",
        "print(net.query('y', {'x': 1.0})['low'])",
        "chain = pgm.Sticky(0.7, states=['a', 'b'])",
        "pgm.write(chain, 'sticky.json')",
        "print(pgm.read('sticky.json') == chain)",
        "for wrong in (lambda: pgm.Sticky(0.5, names=['a']), lambda: pgm.Echo(father='a', p=1)):",
        "    try: wrong()",
        "    except pgm.InvalidCall as error: print(error)",
        "pgm.cli.main('query asia lung --engine alone'.split())",
        "pgm.cli.main('query net.words a'.split())",
        "pgm.cli.main('learn rows.csv --search once:least=5'.split())",
    ]
    out = house.run("-c", "\n".join(lines))
    for wanted in ("0.5\nTrue\n", "states=", "parent=", "APPROXIMATE (alone)", "0.75", "Once(least=5)"):
        assert wanted in out, (wanted, out)


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
