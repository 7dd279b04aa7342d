"""Linear dynamical systems in JSON: every bit returns, and what is not one is refused with its place."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import pgm

SCHEMA = jsonschema.Draft202012Validator(
    json.loads((Path(__file__).parents[2] / "docs/schema/pgm-1.json").read_text())
)


def written(system: Any) -> str:
    file = io.StringIO()
    pgm.write(system, file, format="json")
    return file.getvalue()


def read(text: str) -> Any:
    return pgm.read(io.StringIO(text), format="json")


def changing() -> pgm.LinearDynamicalSystem:
    rng = np.random.default_rng(3)
    return pgm.LinearDynamicalSystem(
        A=rng.normal(size=(4, 2, 2)),
        C=rng.normal(size=(5, 1, 2)),
        Q=[1 / 3, 0.0],
        R=rng.uniform(0.1, 1.0, size=(5, 1, 1)),
        covariance="diffuse",
    )


def pushed() -> pgm.LinearDynamicalSystem:
    return pgm.LinearDynamicalSystem(
        A=[[0.9, 0.1], [0.0, 1 / 3]],
        C=np.eye(2),
        Q=[[1.0, 0.3], [0.3, 2.0]],
        R=[0.1, 5e-324],
        B=[[1.0], [0.0]],
        D=[[0.1], [0.2]],
        b=[1.0, 2.0],
        d=[-1.0, 1e300],
        states=["Wärme", 'say "x"'],
        observations=["a", "b"],
    )


def learned() -> pgm.LinearDynamicalSystem:
    y = np.sin(np.arange(30.0))
    return pgm.LinearDynamicalSystem(A=0.5, C=1.0, Q=1.0, R=1.0).fit(y, max_iter=3)


def half_known() -> pgm.LinearDynamicalSystem:
    return pgm.LinearDynamicalSystem(
        A=np.eye(2), C=[[1.0, 1.0]], Q=[0.1, 0.2], R=1.0, covariance=[2.0, np.inf]
    )


@pytest.mark.parametrize("make", [changing, pushed, learned, half_known, pgm.components.trend])
def test_every_bit_returns(make: Any) -> None:
    system = make()
    text = written(system)
    SCHEMA.validate(json.loads(text))
    again = read(text)
    assert again == system
    for name in ("A", "C", "Q", "R", "B", "D", "b", "d", "mean", "covariance"):
        mine, theirs = getattr(system, name), getattr(again, name)
        assert (mine is None and theirs is None) or mine.tobytes() == theirs.tobytes(), name
    assert (again.states, again.observations) == (system.states, system.observations)
    assert repr(again) == repr(system)
    assert written(again) == text


def test_the_file_is_for_people() -> None:
    system = pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, covariance="diffuse")
    assert json.loads(written(system)) == {
        "pgm": 1,
        "linear-dynamical-system": {
            "states": ["x"],
            "observations": ["y"],
            "A": [[0.9]],
            "C": [[1.0]],
            "Q": [[0.5]],
            "R": [[0.8]],
            "start": "diffuse",
            "mean": [0.0],
            "covariance": [["inf"]],
        },
    }


def test_a_path_and_gzip(tmp_path: Path) -> None:
    for name in ("system.json", "system.json.gz"):
        pgm.write(pushed(), tmp_path / name)
        assert pgm.read(tmp_path / name) == pushed()


def test_functions_are_refused_by_name() -> None:
    walk = pgm.LinearDynamicalSystem(A=1.0, C=1.0, Q=lambda gap: 0.3 * gap, R=0.1, covariance="diffuse")
    with pytest.raises(pgm.InvalidArgument, match=r"^Q= is a function of the gap"):
        written(walk)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"A": [[0.9, 1.0]]}, r"the matrix A: a row of 1 number expected, found 2"),
        ({"A": [[[0.9]], [["x"]]]}, r"expected a number of the matrix A of step 1, found 'x'"),
        ({"C": 3.0}, r"expected the matrix C, a list of rows, found 3"),
        ({"B": []}, r"the matrix B: 1 row expected, found 0"),
        ({"Q": [[-1.0]]}, r"Q= has a negative variance"),
        ({"R": None}, r"expected the matrix R"),
        ({"start": "free"}, r"how the start was chosen"),
        ({"start": []}, r"how the start was chosen"),
        ({"covariance": [["-inf"]]}, r"the covariance of the first state"),
        ({"covariance": ["inf"]}, r"expected a row"),
        ({"mean": [1.0, 2.0]}, r"mean: 1 number expected, found 2"),
        ({"states": ["x", "x"]}, r"appears twice"),
        ({"states": []}, r"the matrix A"),
        ({"more": 1}, r"'more' is not a key of a linear dynamical system"),
    ],
)
def test_what_is_not_one_is_refused(change: dict[str, Any], words: str) -> None:
    system = pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8)
    found = json.loads(written(system))
    found["linear-dynamical-system"] |= change
    with pytest.raises(pgm.errors.FileFormatError, match=words):
        read(json.dumps(found))


def test_other_formats_have_no_form() -> None:
    with pytest.raises(pgm.InvalidArgument):
        pgm.write(pushed(), io.StringIO(), format="bif")  # type: ignore[arg-type]
