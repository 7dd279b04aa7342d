"""What users write passes their type checkers: a page of it, by mypy --strict and by pyright."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "tests" / "user_page.py"


def test_the_page_runs(tmp_path: Path) -> None:
    from tests import user_page

    net = user_page.build()
    assert user_page.ask(net) > 0
    assert "rain" in user_page.structure(net)
    assert user_page.rows(net) < 0
    assert user_page.undirected() == [[1, 1], [1, 1]]
    assert user_page.files(tmp_path) == ("bronc", "either")


@pytest.mark.slow
def test_mypy_accepts_it() -> None:
    arguments = ["--strict", "--config-file=", "--follow-imports=silent", str(PAGE)]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *arguments], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_pyright_accepts_it(tmp_path: Path) -> None:
    """By basedpyright, the same checker with a node of its own: pyright fetches one when it first runs."""
    if importlib.util.find_spec("basedpyright") is None:
        pytest.skip("basedpyright is not installed; there is none for some platforms")
    (tmp_path / PAGE.name).write_bytes(PAGE.read_bytes())
    options = {"typeCheckingMode": "standard", "include": [PAGE.name], "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(options), encoding="utf-8")
    command = [sys.executable, "-m", "basedpyright", "-p", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
