"""Each example runs as a newcomer would run it: by name, from an empty directory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(example)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_wet_grass_prints_the_book_and_saves_a_picture(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "wet_grass.py")],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    for number in ("0.65125", "0.497505", "0.910833", "0.922500"):  # the contract page, section 2
        assert number in done.stdout
    assert (tmp_path / "wet_grass.png").read_bytes().startswith(b"\x89PNG")
