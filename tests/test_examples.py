"""Each example runs as a newcomer would run it: by name, from an empty directory."""

import os
import subprocess
import sys
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
    "marginal_map": ["Rome, Ritz (0.28)", "Paris (0.40)", "Oslo"],  # 0.4 * 0.75 = 0.3 < 0.32
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_says_what_is_known_and_leaves_one_picture(example, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(example)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    for number in KNOWN.get(example.stem, []):
        assert number in done.stdout
    (picture,) = tmp_path.iterdir()
    assert picture.name == f"{example.stem}.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
