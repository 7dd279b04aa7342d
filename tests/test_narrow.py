"""Where addresses have 32 bits pgm has a numpy that counts in 64: what it changes; no answer changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgm.runtime.narrow import widened

NP: Any = widened(np.dtype(np.int32))  # as if addresses had 32 bits here
SMALL = np.array([3, 1, 2, 2], np.int32)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (NP.array([np.int32(1), np.int32(2)]), np.array([1, 2])),
        (NP.where(True, np.int32(4), np.int32(5)), np.array(4)),
        (NP.sum(SMALL), np.int64(8)),
        (NP.cumsum(SMALL > 1), np.array([1, 1, 2, 3])),
        (NP.flatnonzero(SMALL == 2), np.array([2, 3])),
        (NP.bincount(np.array([0, 2, 2])), np.array([1, 0, 2])),
        (NP.repeat(np.array([5, 6]), np.array([2, 1])), np.array([5, 5, 6])),
        (NP.add.reduceat(np.arange(4), np.array([0, 2])), np.array([1, 5])),
        (NP.unique(SMALL, return_inverse=True)[1], np.array([2, 0, 1, 1])),
    ],
)
def test_whole_numbers_have_64_bits(found: Any, wanted: Any) -> None:
    assert found.dtype == np.int64
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize(
    "found",
    [
        NP.array(SMALL),
        NP.asarray(SMALL),
        NP.array([1, 2], dtype=np.int32),
        NP.full(3, 1, np.int32),
        NP.where(SMALL > 1, SMALL, 0),
        NP.repeat(SMALL, 2),
        NP.maximum.reduceat(SMALL, np.array([0, 2])),
        NP.unique(SMALL),
        NP.unique(SMALL, return_inverse=True)[0],
        NP.maximum(SMALL, 2),
    ],
)
def test_what_was_said_to_have_32_keeps_them(found: np.ndarray) -> None:
    assert found.dtype == np.int32


def test_all_else_is_numpy() -> None:
    assert NP.float64 is np.float64
    assert NP.linalg is np.linalg
    assert NP.add.reduce(SMALL) == 8
    with pytest.raises(AttributeError, match="heard_of"):
        _ = NP.heard_of


ASK = """
import numpy as np, sys
import pgm
from pgm.runtime import narrow
if sys.argv[1] == "narrow":
    narrow.install(np.dtype(np.int32))
    import pgm.inference.trees.sweeps.compiled as late
    assert type(pgm.models.bayesian_network.np).__name__ == type(late.np).__name__ == "Numpy"
assert type(np.add) is np.ufunc and narrow.np is np
net = pgm.load_network("alarm")
rows = dict(net.sample(50, seed=1))
print([p.values.tobytes().hex() for p in net.marginals({"HR": "LOW"}).values()])
print(net.map({"HR": "LOW"}), net.query("HR", engine="loopy").values.tobytes().hex())
print(np.asarray(net.log_likelihood({v: rows[v] for v in net.variables})).tobytes().hex())
hmm = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], pgm.Gaussian([0.0, 3.0], sd=[1.0, 1.5]))
print(hmm.smooth([[0.1, -0.3, None, 2.9], [3.3]])[0].values.tobytes().hex())
"""


def test_no_answer_changes() -> None:
    def said(how: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", ASK, how],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert said("narrow") == said("as always")
