"""Each example runs as a newcomer would run it: by name, from an empty directory, in a process of its own.

Where the system can fork, these are forks of one process that has imported what all of them import.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


# Numbers that stand in books, and what everybody can count.
KNOWN = {
    "wet_grass": ["0.65125", "0.497505", "0.910833", "0.922500"],  # the contract page, section 2
    "sachs": ["0 from the truth   no network scores higher"],
    "asia": ["0.0188   0.1028   0.8340"],  # Lauritzen & Spiegelhalter (1988), short of breath; as pyAgrum
    "explaining_away": ["P(burglary) = 0.284172"],  # Russell & Norvig, section 14.4: 0.284
    "count_colourings": ["3 colours: 120 ways", "4 colours: 12,960 ways"],  # the chromatic polynomial
    "islands": ["a hidden Markov model:   2,597", "a network of 15 letters: 2,"],
    "survey": ["9872.65  best", "told apart without one label: 88%"],  # as it was made: two kinds
    "tagger": ["hidden Markov model: 30 of 30", "commonest tag: 22 of 30"],
    "what_if": ["0.584 would without the drug, 0.726 with it"],  # 0.4 ... + 0.6 ..., by hand
    "fish": ["line: 0.075 wrong"],  # 15 of 200, as scikit-learn's LogisticRegression(C=np.inf)
    "marginal_map": ["Rome, Ritz (0.28)", "Paris (0.40)", "Oslo"],  # 0.4 * 0.75 = 0.3 < 0.32
}


FORKING = """
import os, runpy, sys, traceback
import matplotlib.figure, matplotlib.backends.backend_agg, pgm.plot
for line in sys.stdin:
    example, folder = line.rstrip().split("\\t")
    child = os.fork()
    if child:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    os.chdir(folder)
    for number, name in (1, "printed"), (2, "errors"):
        os.dup2(os.open(f"../{name}", os.O_WRONLY | os.O_CREAT), number)
    sys.argv, code = [example], 1
    sys.path[0] = os.path.dirname(example)
    try:
        runpy.run_path(example, run_name="__main__")
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
"""
PYTHON = [sys.executable, "-W", "error::UserWarning"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
Run = Callable[[Path, Path], tuple[int, str, str]]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """A function that runs an example in a folder: its exit code, what it prints, and its errors."""

    def alone(example: Path, folder: Path) -> tuple[int, str, str]:
        command = [*PYTHON, str(example)]
        done = subprocess.run(
            command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=240
        )
        return done.returncode, done.stdout, done.stderr

    if not hasattr(os, "fork"):
        yield alone
        return
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([*PYTHON, "-c", FORKING], env=ENVIRONMENT, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def forked(example: Path, folder: Path) -> tuple[int, str, str]:
            process.stdin.write(f"{example}\t{folder}\n")
            process.stdin.flush()
            code = int(process.stdout.readline())
            return code, (folder.parent / "printed").read_text(), (folder.parent / "errors").read_text()

        yield forked
        process.stdin.close()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_says_what_is_known_and_leaves_one_picture(
    example: Path, tmp_path: Path, run: Run
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    code, printed, errors = run(example, empty)
    assert code == 0, errors
    assert printed.strip()
    for number in KNOWN.get(example.stem, []):
        assert number in printed
    (picture,) = empty.iterdir()
    assert picture.name == f"{example.stem}.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
