"""The rules of the house that a machine can check; which room looks into which is import-linter's."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, get_origin

import pytest

from build_loops.translate import _FUNCTIONS
from pgm.inference.trees.shared_trees import Moves
from pgm.inference.trees.tree_arrays import TreeArrays
from pgm.runtime import kinds

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "pgm").rglob("*.py"))
COMPILED = [path for path in SOURCES if path.name == "compiled.py"]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_importing_pgm_is_light() -> None:
    heavy = "narwhals scipy matplotlib pandas polars pyarrow sklearn"
    code = f"import sys, pgm; print([m for m in {heavy.split()!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_package_is_marked_as_typed() -> None:
    assert (ROOT / "pgm" / "py.typed").exists()


def imported(tree: ast.AST) -> set[str]:
    """Return the first part of every module that the file imports when it runs, inside functions too."""
    found = set()
    nodes = [tree]
    for node in nodes:  # grows while it is read
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_matplotlib_keeps_to_its_room(path: Path) -> None:
    modules = imported(ast.parse(path.read_text(encoding="utf-8")))
    assert "numba" not in modules, "loops are compiled when the package is built, see docs/decisions/0050"
    if path.parent.name != "plot":
        assert "matplotlib" not in modules, "pictures belong to pgm/plot"
    assert "pyplot" not in path.read_text(encoding="utf-8") or path.parent.name == "plot"


def test_locks_and_threads_are_those_of_runtime() -> None:
    """A forked child has none of the threads that may have held a lock: runtime/forks.py opens its own."""
    made = re.compile(
        r"\bthreading\.(?:R?Lock|Thread|Event)\b|from threading import|PoolExecutor\(|import signal"
    )
    found = {name(path) for path in SOURCES if made.search(path.read_text(encoding="utf-8"))}
    assert all(each.startswith("pgm/runtime/") for each in found), found


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_first(path: Path, modules: set[str]) -> set[str]:
    """Return what of pgm a file imports as it is loaded: neither inside functions, nor for types."""
    found = set()
    package = module_of(path).split(".")[: None if path.name == "__init__.py" else -1]
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & modules
        elif isinstance(node, ast.ImportFrom):
            home = package[: len(package) + 1 - node.level] if node.level else []
            source = ".".join([*home, *([node.module] if node.module else [])])
            inner = {f"{source}.{alias.name}" for alias in node.names}
            found |= inner & modules
            if source in modules and inner - modules:
                found.add(source)
    return found


def test_any_module_can_be_imported_first() -> None:
    """No cycle: one works only by luck of the order in which pgm/__init__.py imports things."""
    paths = {module_of(path): path for path in SOURCES if path.name != "__main__.py"}
    del paths["pgm"]
    graph = {module: imported_first(path, set(paths)) for module, path in paths.items()}
    assert sum(map(len, graph.values())) > 3 * len(graph)  # imports are found
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


@pytest.mark.parametrize("path", COMPILED, ids=name)
def test_a_compiled_function_calls_none_of_another_file(path: Path) -> None:
    """Each file is compiled alone, and anew when it or what its kinds come from has changed."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for block in [node for node in tree.body if isinstance(node, ast.If)]:  # kinds of arguments: named tuples
        assert ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body:
            assert isinstance(node, ast.ImportFrom)
            module = import_module(node.module or "")
            assert all(issubclass(getattr(module, alias.name), tuple) for alias in node.names)
        tree.body.remove(block)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            assert set(names) <= {"math", "numpy"}, f"line {node.lineno}: {names}"
        elif isinstance(node, ast.ImportFrom):
            allowed = {"__future__", "math", "typing", "numpy", "pgm.runtime.apart", "pgm.runtime.kinds"}
            module = "." * node.level + (node.module or "")
            if module == "pgm.inference.trees.tree_arrays":  # a named tuple, no function; see the test below
                assert [alias.name for alias in node.names] == ["TreeArrays"]
                continue
            assert module in allowed, f"line {node.lineno}: {module}"
            if module == "pgm.runtime.kinds":
                names = [alias.name for alias in node.names]
                assert all(get_origin(getattr(kinds, kind)) is Annotated for kind in names), names


def test_a_change_of_the_tree_arrays_is_one_of_the_loops() -> None:
    """`sliced` puts them together in their order: whoever adds one must write there."""
    lines = (
        (ROOT / "pgm" / "inference" / "trees" / "sweeps" / "compiled.py")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    begin = lines.index("    t = TreeArrays(")
    end = lines.index("    )", begin)
    order = [line.split("#")[-1].strip(" ,") for line in lines[begin + 1 : end]]
    assert order == list(TreeArrays._fields)
    moves = [line.split(" = packed")[0].strip() for line in lines[end + 1 : end + 1 + len(Moves._fields)]]
    assert moves == list(Moves._fields)


@pytest.mark.parametrize("path", COMPILED, ids=name)
def test_loops_are_plain_functions(path: Path) -> None:
    """Every function of such a file is one; no recursion: its depth would be a user's data."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            assert not node.decorator_list, node.name
            called = {
                n.func.id for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
            }
            assert node.name not in called, f"{node.name} calls itself"


# What the answers of each file of loops are checked against, that shares no code with them.
ORACLES = {
    "pgm/adapters/ranking": ("tests/adapters/test_ranking.py", "itertools.combinations"),
    "pgm/adapters": ("tests/adapters/test_clusters.py", "itertools.product"),
    "pgm/adapters/linear": ("tests/known/test_perceptron_rules.py", "by_hand("),
    "pgm/adapters/smoothing": ("tests/adapters/test_smoothing.py", "statsmodels"),
    "pgm/adapters/neighbours": ("tests/adapters/test_neighbours.py", "import cdist"),
    "pgm/frames": ("tests/models/test_naive_bayes.py", "from sklearn import naive_bayes"),
    "pgm/models/classifiers": ("tests/models/test_naive_bayes.py", "from sklearn import naive_bayes"),
    "pgm/distributions": ("tests/distributions/test_normal.py", "from scipy import stats"),
    "pgm/graphs": ("tests/graphs/test_triangulation.py", "tests.graphs import twins"),
    "pgm/graphs/walks": ("tests/graphs/test_separation.py", "nx.is_d_separator"),
    "pgm/learning/scoring": ("tests/learning/test_scores.py", "from fractions import Fraction"),
    "pgm/learning/searching": ("tests/learning/test_learn_structure.py", "itertools.permutations"),
    "pgm/inference/program/reduction": ("tests/inference/test_truth.py", "tests.oracle import"),
    "pgm/inference/trees": ("tests/inference/test_truth.py", "tests.oracle import"),
    "pgm/inference/trees/sweeps": ("tests/inference/test_paths.py", "tests.inference import test_truth"),
    "pgm/inference/trees/readout": ("tests/inference/test_truth.py", "tests.oracle import"),
    "pgm/inference/trees/batching": ("tests/inference/test_rows.py", "tests.oracle import"),
    "pgm/inference/engines/chain": ("tests/inference/test_chain.py", "itertools.product"),
    "pgm/inference/engines/bounds": ("tests/inference/test_bounds.py", "tests.oracle import"),
    "pgm/inference/engines/branching": ("tests/inference/test_branching.py", "itertools.product"),
    "pgm/inference/engines/counting": ("tests/inference/test_counting.py", "tests.oracle import"),
    "pgm/inference/engines/cuts": ("tests/inference/test_cuts.py", "tests.oracle import"),
    "pgm/inference/engines/factor_graph": ("tests/inference/test_loopy.py", "tests.oracle import"),
    "pgm/inference/engines/gate_maxima": ("tests/inference/test_gate_maxima.py", "itertools.product"),
    "pgm/inference/engines/gaussian": ("tests/inference/test_gaussian.py", "tests.gaussian_oracle import"),
    "pgm/inference/engines/gaussian/propagation": ("tests/inference/test_gaussian_messages.py", "np.linalg"),
    "pgm/inference/engines/interface": ("tests/inference/test_interface.py", "itertools.product"),
    "pgm/inference/engines/kalman": ("tests/inference/test_kalman.py", "tests.linear_oracle import"),
    "pgm/inference/engines/loopy": ("tests/inference/test_loopy.py", "tests.oracle import"),
    "pgm/inference/engines/mean_field": ("tests/inference/test_mean_field.py", "tests.oracle import"),
    "pgm/inference/engines/sampling": ("tests/inference/test_sampling.py", "tests.oracle import"),
    "pgm/inference/engines/staged": ("tests/inference/test_staged.py", "itertools.product"),
    "pgm/inference/engines/search": ("tests/inference/test_search.py", "tests.oracle import"),
    "pgm/learning/counts": ("tests/learning/test_counts.py", "np.add.at"),
}


def test_every_file_of_loops_has_an_oracle() -> None:
    assert set(ORACLES) == {str(path.parent.relative_to(ROOT)) for path in COMPILED}
    for test, oracle in ORACLES.values():
        assert oracle in (ROOT / test).read_text(encoding="utf-8"), f"{test} no longer uses {oracle}"


@pytest.mark.parametrize("file", ["rows", "layout", "arrays", "numbers", "solving", "reading", "problems"])
def test_a_general_name_is_that_of_one_file(file: str) -> None:
    """Where several rooms had one, a newcomer opened the wrong one."""
    assert len([path for path in SOURCES if path.stem == file]) <= 1


MOST_LINES = 400
# Files of ordinary code that are longer, and why. None is added without a reason; none stays that is shorter.
LONG = {
    "pgm/cli.py": "one command, a function for each of its verbs",
    "pgm/cpds/base.py": "what every distribution can do, with its help",
    "pgm/cpds/density_cpd.py": "one distribution: densities by state, blocks, draws, statistics and text",
    "pgm/cpds/linear_gaussian.py": "one distribution: table, density, statistics, fit and text",
    "pgm/cpds/logistic.py": "one distribution: table, statistics, fit and text",
    "pgm/cpds/noisy_max.py": "one distribution: table, chain, statistics, fit and text",
    "pgm/cpds/table_input.py": "each way to write a table down, with its errors",
    "pgm/cpds/tree.py": "one distribution: table, leaves, statistics, fit and text",
    "pgm/distributions/categorical.py": "one distribution: density, statistics, fit, parts and text",
    "pgm/distributions/gaussian_mixture.py": "one distribution: density, statistics, fit, parts and text",
    "pgm/distributions/gaussian.py": "one distribution: density, statistics, fit, parts and text",
    "pgm/distributions/of_states.py": "what distributions of each state share: each method with its help",
    "pgm/frames/reading.py": "the one gate for data: every kind of frame, with its errors",
    "pgm/frames/sequences.py": "each way to write sequences down, with its errors",
    "pgm/inference/asking/questions.py": "a method for each question, with help",
    "pgm/inference/engines/portfolio/prepared.py": "one engine: who is asked, how long, and who is believed",
    "pgm/inference/engines/branching/branch_and_bound.py": "one search, its queue and its moves",
    "pgm/inference/engines/chain/__init__.py": "one engine: each question in doubles, and in logarithms",
    "pgm/inference/engines/gaussian/hybrid.py": "one posterior of states and continuous variables",
    "pgm/inference/engines/gaussian/quadrature.py": "one engine: grids, their error, and both ways",
    "pgm/io/hugin.py": "one format, read and written",
    "pgm/io/xdsl.py": "one format, read and written",
    "pgm/models/bayesian_network.py": "a method for each question, with help",
    "pgm/models/classifiers/naive_bayes.py": "one classifier: columns of each kind, learned and printed",
    "pgm/models/classifiers/row_classifier.py": "a method for each question, with help",
    "pgm/models/decision/influence_diagram.py": "a method for each question, with help",
    "pgm/models/dynamic/dynamic_bayesian_network.py": "a method for each question, with help",
    "pgm/models/dynamic/linear_dynamical_system.py": "a method for each question, with help",
    "pgm/models/dynamic/nonlinear_dynamical_system.py": "a method for each question, with help",
    "pgm/models/dynamic/switching_linear_dynamical_system.py": "a method for each question, with help",
    "pgm/models/mixtures/mixture.py": "a method for each question, with help",
    "pgm/models/causal/graph.py": "a method for each question, with help",
    "pgm/models/markov_network.py": "a method for each question, with help",
    "pgm/plot/canvas.py": "one canvas: boxes, arrows and text",
    "pgm/models/dynamic/hidden.py": "a method for each question, with help",
    "pgm/models/dynamic/input_output_hmm.py": "a method for each question, with help",
    "pgm/models/dynamic/hmm.py": "a method for each question, with help",
    "pgm/models/dynamic/markov_chain.py": "a method for each question, with help",
    "pgm/results/density.py": "one kind of result: each question about it, with its help",
    "pgm/results/gaussian_path.py": "one kind of result, of states and of what is observed",
    "pgm/results/steps.py": "what is said of steps: one small class for each kind of answer",
    "pgm/variables.py": "variables, states and bins, with their errors",
    "pgm/models/classifiers/network_classifier.py": "one estimator: a method for each question, with help",
    "pgm/models/understanding.py": "what a network is asked about its answers: nearly all of it is help",
}


def test_a_file_is_read_in_a_sitting() -> None:
    long = {
        name(path)
        for path in SOURCES
        if path.name != "compiled.py" and len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES
    }
    assert long == set(LONG)


# Functions outside a room that ask which of several distributions, posteriors or engines they were given, and
# why. The thing itself should say what it can do: none is added without a reason.
ASK_FOR_KINDS = {
    "pgm/models/dynamic/chain_network.py: observed": "nodes of three emissions; others say it themselves",
    "pgm/models/dynamic/factorial_engines.py: engine_of": "two classes of options; some have no effect",
    "pgm/models/dynamic/hmm_priors.py: drawn": "one kind has draws; the other the words of what would have",
    "pgm/models/dynamic/input_output_hmm.py: __init__": "whether an argument is one at all",
}


def kinds_asked_for(tree: ast.AST, kinds: set[str]) -> set[str]:
    """Functions with `isinstance` of one thing and several of these classes, or one test after the other."""
    found = set()
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        asked: dict[str, set[str]] = {}
        for call in [node for node in ast.walk(function) if isinstance(node, ast.Call)]:
            if ast.unparse(call.func) == "isinstance":
                words = set(re.findall(r"\w+", ast.unparse(call.args[1])))
                asked.setdefault(ast.unparse(call.args[0]), set()).update(words & kinds)
        if any(len(several) > 1 for several in asked.values()):
            found.add(function.name)
    return found


def test_nobody_asks_what_kind_a_thing_is() -> None:
    rooms = {
        "pgm.cpds": "pgm/cpds",
        "pgm.distributions": "pgm/distributions",
        "pgm.inference.engines": "pgm/inference/engines",
    }
    kinds = {"Posterior", "HybridPosterior"}
    for room in rooms:
        kinds |= {key for key, value in vars(import_module(room)).items() if isinstance(value, type)}
    kinds -= {"CPD", "Any", "Engine"}
    some = re.compile(rf"isinstance\([^)]*\b({'|'.join(kinds)})\b")
    found = set()
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        if not name(path).startswith(tuple(rooms.values())) and some.search(text):
            found |= {f"{name(path)}: {each}" for each in kinds_asked_for(ast.parse(text), kinds)}
    assert found == set(ASK_FOR_KINDS)


def test_nobody_reads_the_private_fields_of_a_distribution() -> None:
    """Neither files nor pictures nor models: `to_parts`, `label` and public attributes say what is wanted."""
    own = ("pgm/cpds", "pgm/distributions")
    private = re.compile(r"\b(?:cpd|distribution|density)\._[a-z]")
    found = [
        f"{name(path)}: {line.strip()}"
        for path in SOURCES
        if not name(path).startswith(own)
        for line in path.read_text(encoding="utf-8").splitlines()
        if private.search(line)
    ]
    assert not found, "\n".join(found)


def test_the_normal_log_density_stands_once() -> None:
    """Compiled loops cannot call it; constants of priors and of kernels are no densities."""
    constant = re.compile(r"= 1\.83787|log\(2(\.0)? \* (math|np)\.pi\)")
    found = {name(path) for path in SOURCES if constant.search(path.read_text(encoding="utf-8"))}
    own = {"pgm/distributions/normal.py", "pgm/adapters/densities/planning.py"}
    assert {path for path in found if not path.endswith("compiled.py")} == own


def test_sizes_are_written_by_one_function() -> None:
    """How much memory is taken and allowed, and what to do: by `check_room`, or at least `size_of`."""
    for path in SOURCES:
        if name(path) != "pgm/runtime/room.py":
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"/ 1e[69]\b[^\n]*\b[MG]B\b", text), name(path)


TEXTS = [
    path
    for pattern in (
        "*.md",
        "*.toml",
        "*.yaml",
        ".*.yaml",
        ".ci/*",
        "docs/**/*.md",
        "examples/*.py",
        "benchmarks/**/*",
    )
    for path in sorted(ROOT.glob(pattern))
    if path.is_file() and path.suffix in {".md", ".toml", ".yaml", ".py", ".json", ""}
] + [*SOURCES, *sorted((ROOT / "tests").rglob("*.py"))]


def test_files_that_pages_name_exist() -> None:
    """In sentences and tables, on every page but decisions, which are never rewritten."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    named = 0
    for page in sorted(
        page for page in pages if page.parent.name != "decisions" and page.name != "CHANGELOG.md"
    ):
        text = page.read_text(encoding="utf-8")
        for path in re.findall(
            r"\b(?<!/)((?:pgm|tests|docs|benchmarks|build_loops|examples)/[\w/.-]*\w)", text
        ):
            named += 1
            assert (ROOT / path).exists(), f"{page.name} names {path}"
    assert named > 150  # the map among them


def test_commands_and_functions_that_pages_for_developers_list_are_all() -> None:
    listed = re.findall(
        r"^python -m benchmarks (\w+)", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.M
    )
    made = re.findall(
        r'\("(\w+)", \w+, "|add_parser\(\s*"(\w+)"', (ROOT / "benchmarks/__main__.py").read_text()
    )
    assert set(listed) == {name for pair in made for name in pair if name}
    page = " ".join((ROOT / "docs/developer/loops.md").read_text(encoding="utf-8").split())
    math_, _, _ = page.partition("; `np.empty`")
    said = set(re.findall(r"\w+", math_.rpartition("`math.")[2]))
    assert {f"math.{name}" for name in said} == {name for name in _FUNCTIONS if name.startswith("math.")}


def test_every_decision_is_in_the_list() -> None:
    """Each once, in order; a number that has no record is said to have none."""
    folder = ROOT / "docs" / "decisions"
    text = (folder / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[(\d{4})\]\((\1-[\w-]+\.md)\) \w", text, re.MULTILINE)
    assert [file for _, file in listed] == sorted(path.name for path in folder.glob("0*.md"))
    numbers = {f"{n:04d}" for n in range(1, int(listed[-1][0]) + 1)}
    unused = text.split("\n- ")[0].split("stay unused")[1]
    assert set(re.findall(r"\d{4}", unused)) == numbers - {number for number, _ in listed}


def test_no_file_names_this_machine() -> None:
    """A checkout works anywhere: no home or work directories, no hosts that packages come from."""
    here = re.compile(r"/(home|root|Users|work|opt|tmp)/\w|index-url|find-links|\blocalhost\b|\b[A-Z]:\\")
    found = [
        f"{name(path)}:{number}: {line.strip()}"
        for path in TEXTS
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if here.search(line)
    ]
    assert not found, "\n".join(found)


def test_the_readme_has_its_two_commands() -> None:
    block = re.findall(
        r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert [b.splitlines() for b in block] == [
        ["pip install . && python examples/wet_grass.py", "pip install '.[test]' && pytest"]
    ]
