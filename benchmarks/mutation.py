"""Which small faults in pgm/inference and pgm/cpds the tests would notice.

A mutant is the source with one thing changed: a comparison, a sign, a number by one, `and` for `or`, a `not`
left out, two arguments swapped, a statement left out. Each is tried in a copy of the tree, with the quickest
of the tests that run its line; what survives them meets more. Compiled code is interpreted: a mutant would
wait for the compiler.
"""

from __future__ import annotations

import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import ROOT, SHARED, Finding, Report, Result

ROOMS = ("pgm/inference", "pgm/cpds")
TESTS = (
    "tests/known",
    "tests/cpds",
    *(
        f"tests/inference/test_{name}.py"
        for name in (
            "conformance truth metamorphic every_question underflow rows numbers gaussian gaussian_messages "
            "quadrature variational sequence search counting cuts branching k_best_by_search tightest bounds "
            "loopy mean_field sampling approximate regressions"
        ).split()
    ),
)
LONGEST = 2.0  # seconds; tests that take longer when interpreted take no part
FIRST, SECOND = 3.0, 30.0  # seconds of tests that a mutant meets first, and that a survivor meets
START = 20.0  # seconds that a run may take besides its tests

_ESTIMATE = "an estimate of work: it chooses how to run, not what comes out"

# Survivors that change no answer, and why: the file, its line, what was there and what is there now.
EQUIVALENT: dict[tuple[str, str, str, str], str] = {
    (
        "pgm/cpds/em_acceleration.py",
        "far = once - first + 2.0 * stride * first + stride * stride * bend",
        "2.0",
        "1.0",
    ): "another stride, kept only where the likelihood does not fall",
    ("pgm/cpds/noisy_fit.py", "first = seen == 0", "0", "-1"): "only columns above the first are summed",
    (
        "pgm/cpds/tree.py",
        "named[self._parents[i]] = states if len(states) > 1 else states[0]",
        "0",
        "-1",
    ): "the first of one state is the last",
    (
        "pgm/inference/engines/reduced.py",
        "self.only_states(None)",
        "self.only_states(None)",
        "pass",
    ): "refused before, in the same words",
    ("pgm/inference/trees/sweeps/compiled.py", "if stop[0] != 0:", "0", "-1"): (
        "the first of one flag is the last"
    ),
    (
        "pgm/inference/engines/by_position.py",
        "if soft and not fit:",
        "soft and (not fit)",
        "soft or not fit",
    ): "the fit begins from weights of its own",
    (
        "pgm/inference/engines/bounds/mini_buckets.py",
        "steps = 30.0 * n + 4.0 * tables.graph.steps",
        "30.0",
        "29.0",
    ): _ESTIMATE,
    (
        "pgm/inference/engines/bounds/messages.py",
        "out = np.where(finite, self.slack + slacks + off + 2.0**-50 * (np.abs(logs) + abs(constant)), 0.0)",
        "50",
        "49",
    ): "a margin for rounding, twice as wide",
    (
        "pgm/inference/engines/branching/relaxation.py",
        "if not np.abs(wanted).sum() < FORBIDDEN / 2:  # so that sums of them do not overflow",
        "FORBIDDEN / 2",
        "FORBIDDEN * 2",
    ): "costs that are moved are far from either",
    ("pgm/inference/engines/cuts/compiled.py", "gain = -1", "1", "0"): "neither -1 nor 0 is above the margin",
    (
        "pgm/inference/engines/cuts/energies.py",
        "clock.check()",
        "clock.check()",
        "pass",
    ): "one look at the clock of several",
    (
        "pgm/inference/engines/cuts/flow.py",
        "back = np.where(linked, curve - curve // 2, 0)",
        "0",
        "-1",
    ): "pairs that are not linked are left out",
    (
        "pgm/inference/engines/elimination/prepared.py",
        "mantissa = math.exp(log_total - exponent * math.log(2.0)) * math.fsum(relative.ravel().tolist())",
        "math.exp(log_total - exponent * math.log(2.0)) * math.fsum(relative.ravel().tolist())",
        "math.exp(log_total - exponent * math.log(2.0)) / math.fsum(relative.ravel().tolist())",
    ): "the total is read where there are no targets, and the sum is 1 there",
    (
        "pgm/inference/engines/gaussian/quadrature.py",
        "runs = [_on_points(found, observed, axes, grid, shift, names) for shift in (0.25, 0.75)]",
        "0.25",
        "-0.75",
    ): "the same grid, moved by a whole step",
    (
        "pgm/inference/engines/gaussian/variational.py",
        "if places is None or places.layout is not solved.made.layout:",
        "places.layout is not solved.made.layout",
        "places.layout is solved.made.layout",
    ): "made anew each time in place of kept",
    (
        "pgm/inference/engines/sampling/draws.py",
        "return np.empty((3, int(layout.arrays.cards.max(initial=1))))",
        "1",
        "0",
    ): "room for no variable",
    (
        "pgm/inference/engines/sampling/weighted.py",
        "if worth > most:",
        "worth > most",
        "worth >= most",
    ): "of two proposals of the same worth either will do",
    (
        "pgm/inference/engines/exact/posterior.py",
        "if not TOTAL.fits(shape) or TOTAL.steps(shape) > _PASSING_STEPS:",
        "TOTAL.steps(shape) > _PASSING_STEPS",
        "TOTAL.steps(shape) >= _PASSING_STEPS",
    ): _ESTIMATE,
    (
        "pgm/inference/program/proportional_fitting.py",
        "if error < 1e-15 or (error < 1e-12 and error >= last):",
        "error >= last",
        "error < last",
    ): "some sweeps more or fewer, below 1e-12",
    (
        "pgm/inference/trees/readout/compiled.py",
        "if t.parent[c] < 0:  # a component without maximisation: a constant",
        "0",
        "1",
    ): "children come before their parents, so that none has the parent 0",
    (
        "pgm/inference/program/reduction/__init__.py",
        "return np.asarray(found / found.max())",
        "found / found.max()",
        "found * found.max()",
    ): "whoever asks divides by the sum",
    (
        "pgm/runtime/buffers.py",
        "if taken.base is None and taken.size < _LEAST:",
        "taken.base is None and taken.size < _LEAST",
        "taken.base is None or taken.size < _LEAST",
    ): "the array is not kept for later",
    (
        "pgm/inference/trees/shared_trees.py",
        "p, low = program.arrays, np.zeros(self.tree.arrays.item_at.size - 1, np.int64)",
        "1",
        "0",
    ): "a place more, which nothing reads",
}  # fmt: skip


Lines = dict[str, dict[str, list[str]]]  # by file and number the tests that run a line


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    number: int = 150
    seconds: float = 900.0
    seed: int = 0
    tests: tuple[str, ...] = TESTS


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    file: str
    line: int
    statement: int  # the line where the statement begins
    text: str  # of the line
    before: str
    after: str
    source: str

    @property
    def room(self) -> str:
        return Path(self.file).parent.as_posix()

    def __str__(self) -> str:
        return f"`{_short(self.before)}` becomes `{_short(self.after)}`"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 90 else line[:87] + "..."


# --- making mutants -------------------------------------------------------------------------------------

_SWAPS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
_SYMMETRIC = {"max", "min", "np.maximum", "np.minimum"}
_REMOVED = (ast.AugAssign, ast.Expr, ast.Raise, ast.Continue, ast.Break)

# What may be changed: its owner, the field and the place there, and the statement it belongs to.
Place = tuple[ast.AST, str, int | None, ast.stmt]


def _changed(node: ast.expr | ast.stmt, rng: random.Random) -> ast.expr | ast.stmt | None:
    """The node with one thing changed, or None if nothing of it can be."""
    if isinstance(node, ast.stmt):
        # Without what it assigns to a name a function would fail at once: only what is written elsewhere.
        elsewhere = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple)
        return ast.Pass() if elsewhere or isinstance(node, _REMOVED) else None
    made = copy.deepcopy(node)
    if isinstance(made, ast.Compare):
        at = rng.randrange(len(made.ops))
        made.ops[at] = rng.choice(_SWAPS[type(made.ops[at])])()  # type: ignore[call-overload]
    elif isinstance(made, ast.BinOp | ast.BoolOp) and type(made.op) in _SWAPS:
        made.op = rng.choice(_SWAPS[type(made.op)])()  # type: ignore[assignment]
    elif isinstance(made, ast.Constant) and type(made.value) in (int, float):
        made.value += rng.choice((1, -1))  # type: ignore[operator]
    elif isinstance(made, ast.UnaryOp) and isinstance(made.op, ast.Not):
        return made.operand
    elif isinstance(made, ast.Call) and len(made.args) >= 2:
        at = rng.randrange(len(made.args) - 1)
        one, two = made.args[at : at + 2]
        if ast.unparse(made.func) in _SYMMETRIC or ast.dump(one) == ast.dump(two):
            return None
        if isinstance(one, ast.Starred) or isinstance(two, ast.Starred):
            return None
        made.args[at : at + 2] = two, one
    else:
        return None
    return made


def _places(tree: ast.AST) -> Iterator[Place]:
    """Whatever in the bodies of functions may be changed; what messages say is tested by reading."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for at, child in enumerate(function.body):
                if not isinstance(child, ast.FunctionDef | ast.ClassDef) and not _docstring(child):
                    yield function, "body", at, child
                    yield from _within(child, child)


def _within(node: ast.AST, statement: ast.stmt) -> Iterator[Place]:
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.FunctionDef | ast.ClassDef):
        return
    for field, value in ast.iter_fields(node):
        children = enumerate(value) if isinstance(value, list) else [(None, value)]
        for at, child in children:
            if isinstance(child, ast.expr | ast.stmt) and field != "annotation":
                own = child if isinstance(child, ast.stmt) else statement
                yield node, field, at, own
                yield from _within(child, own)
            elif isinstance(child, ast.AST):
                yield from _within(child, statement)


def _docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def mutants(file: str, text: str, rng: random.Random) -> Iterator[Mutant]:
    """Mutants of a file, in random order, each place once."""
    tree, lines = ast.parse(text), text.splitlines()
    places = list(_places(tree))
    rng.shuffle(places)
    for owner, field, at, statement in places:
        held = getattr(owner, field)
        node = held if at is None else held[at]
        changed = _changed(node, rng)
        if changed is None:
            continue
        if at is None:
            setattr(owner, field, changed)
        else:
            held[at] = changed
        source = ast.unparse(ast.fix_missing_locations(tree))
        if at is None:
            setattr(owner, field, node)
        else:
            held[at] = node
        before, after = ast.unparse(node), ast.unparse(changed)
        yield Mutant(
            file, node.lineno, statement.lineno, lines[node.lineno - 1].strip(), before, after, source
        )


# --- running them ---------------------------------------------------------------------------------------


class Copy:
    """A copy of the tree in which mutants live one after the other."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        skipped = shutil.ignore_patterns("__pycache__", "results", ".*")
        for name in ("pgm", "tests", "benchmarks", "build_loops"):
            shutil.copytree(ROOT / name, self.root / name, ignore=skipped)
        for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
            shutil.copy(ROOT / name, self.root / name)
        if SHARED.is_dir():
            (folder / "shared").symlink_to(SHARED)

    def pytest(self, tests: Sequence[str], longest: float, **environment: str) -> int | None:
        """Run these tests: the exit code, or None where they took longer."""
        command = [sys.executable, "-m", "pytest", "-n0", "-x", "-q", "-p", "no:cacheprovider"]
        command += ["-p", "benchmarks.mutation_plugin", *tests]
        settings = {
            "PGM_LOOPS": "interpreted",
            "HYPOTHESIS_PROFILE": "mutation",
            "PYTHONPATH": str(self.root),
            **environment,
        }
        try:
            done = subprocess.run(
                command,
                cwd=self.root,
                env={**os.environ, **settings},
                timeout=longest,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        return done.returncode

    def lines(self, tests: Sequence[str], seconds: float) -> tuple[dict[str, float], Lines]:
        """How long each test takes, and which of them run a line of a file."""
        found = self.root / "lines.json"
        code = self.pytest(
            [*tests, "--maxfail=1000000"],
            seconds * 2 + 60.0,
            MUTATION_LINES=str(found),
            MUTATION_UNTIL=str(time.time() + seconds),
            MUTATION_LONGEST=str(LONGEST),
        )
        if code not in (0, 1, 2):  # all passed, some failed, no time for more
            raise RuntimeError(f"The tests did not run: pytest ended with {code}.")
        content = json.loads(found.read_text())
        return content["seconds"], content["lines"]

    def survives(self, mutant: Mutant, tests: Sequence[str], longest: float) -> bool:
        """Whether these tests pass with the mutant in place of its file."""
        path = self.root / mutant.file
        kept = path.read_text()
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()
        try:
            path.write_text(mutant.source)
            return self.pytest(tests, longest, PYTHONDONTWRITEBYTECODE="1") == 0
        finally:
            path.write_text(kept)


def within(tests: Sequence[str], took: dict[str, float], seconds: float) -> tuple[list[str], float]:
    """The quickest of these tests that fit a time, one at least, and what they take."""
    chosen: list[str] = []
    total = 0.0
    for test in sorted(tests, key=lambda t: (took[t], t)):
        if chosen and total + took[test] > seconds:
            break
        chosen.append(test)
        total += took[test]
    return chosen, total


def run(options: Options) -> Report:
    """As many mutants as there is time for, of all files in turn."""
    report = Report()
    rng = random.Random(options.seed)
    files = [p.relative_to(ROOT).as_posix() for room in ROOMS for p in sorted((ROOT / room).rglob("*.py"))]
    rng.shuffle(files)
    waiting = [mutants(f, (ROOT / f).read_text(), random.Random(f"{options.seed} {f}")) for f in files]
    tried: list[tuple[Mutant, bool]] = []
    unrun = 0
    end = report.start + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        tree = Copy(Path(folder))
        took, lines = tree.lines(options.tests, options.seconds / 3)
        while waiting and len(tried) < options.number and time.perf_counter() < end:
            mutant = next(source := waiting.pop(0), None)
            if mutant is None:
                continue
            waiting.append(source)
            ran = lines.get(mutant.file, {})
            runs = ran.get(str(mutant.line)) or ran.get(str(mutant.statement)) or ()
            tests = [test for test in runs if test in took]
            if not tests:
                unrun += 1
                continue
            survived = True
            for seconds in (FIRST, SECOND):
                chosen, total = within(tests, took, seconds)
                survived = survived and tree.survives(mutant, chosen, START + 5.0 * total)
            tried.append((mutant, survived))
            print("survived" if survived else "killed", f"{mutant.file}:{mutant.line}", mutant, flush=True)
    summarise(report, tried, unrun, len(took))
    return report


def summarise(report: Report, tried: Sequence[tuple[Mutant, bool]], unrun: int, tests: int) -> None:
    """Killed and survived for each room, and the survivors by name."""
    for room in sorted({mutant.room for mutant, _ in tried}):
        own = [survived for mutant, survived in tried if mutant.room == room]
        figures = {"killed": float(own.count(False)), "survived": float(own.count(True))}
        report.add(Result("mutants", room, "tests", figures=figures))
    survivors = [mutant for mutant, survived in tried if survived]
    same = 0
    for mutant in sorted(survivors, key=lambda m: (m.file, m.line)):
        why = EQUIVALENT.get((mutant.file, mutant.text, mutant.before, mutant.after), "")
        same += bool(why)
        said = f"{mutant}: {why}" if why else str(mutant)
        report.add(Result("survivors", f"{mutant.file}:{mutant.line}", "", note=said))
    killed = len(tried) - len(survivors)
    report.find(
        Finding(
            f"mutants killed by the {tests} tests that took part",
            f"{killed} of {len(tried)}; {same} of the survivors cannot be",
            "all that can be",
            killed + same == len(tried),
        )
    )
    report.find(Finding("mutants of lines that none of these tests runs, not tried", str(unrun), ""))
