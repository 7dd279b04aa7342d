"""Linear dynamical systems in JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.distributions.parts import Part
from pgm.errors import InvalidArgument, PGMError, listed
from pgm.models.dynamic import LinearDynamicalSystem

KEY = "linear-dynamical-system"
_STARTS = ("given", "stationary", "diffuse", "fitted")
_ADDED = ("B", "D", "b", "d")  # what may be left out


def write(system: LinearDynamicalSystem) -> dict[str, Any]:
    """Return the system as the object of its file."""
    body: dict[str, Any] = {"states": list(system.states), "observations": list(system.observations)}
    for name in ("A", "C", "Q", "R", *_ADDED):
        value = getattr(system, name)
        if callable(value):
            raise InvalidArgument(
                f"{name}= is a function of the gap between two times, which has no JSON form: give the "
                "matrix of each step instead."
            )
        if value is not None:
            body[name] = value.tolist()
    covariance = [["inf" if x == np.inf else x for x in row] for row in system.covariance.tolist()]
    return body | {"start": system._start, "mean": system.mean.tolist(), "covariance": covariance}


def read(part: Part) -> LinearDynamicalSystem:
    """Return the system of a file."""
    value = part.members("a model", ["pgm", KEY], ["about"])
    if "about" in value:
        part.at("about").text("a text")
    return read_system(part.at(KEY))


def read_system(inside: Part) -> LinearDynamicalSystem:
    """Return the system of an object."""
    required = ["states", "observations", "A", "C", "Q", "R", "start", "mean", "covariance"]
    found = inside.members("a linear dynamical system", required, _ADDED)
    states = inside.at("states").names("the names of a state's entries")
    observations = inside.at("observations").names("the names of an observation's entries")
    n, m = len(states), len(observations)
    start = inside.at("start")
    if start.value not in _STARTS:
        start.expected(f"how the start was chosen: {listed(_STARTS)}")
    made: dict[str, Any] = {
        name: _matrices(inside.at(name), rows, columns, f"the matrix {name}")
        for name, rows, columns in (("A", n, n), ("C", m, n), ("Q", n, n), ("R", m, m))
    }
    for name, size in (("B", n), ("D", m)):
        if name in found:
            own = inside.at(name)
            first: Any = next(iter(own.elements("a list of rows")), [])
            width = len(first) if isinstance(first, list) else 0
            made[name] = own.rows(size, width, f"the matrix {name}")
    for name, size in (("b", n), ("d", m), ("mean", n)):
        if name in found:
            made[name] = inside.at(name).numbers(size, name)
    made["covariance"] = _covariance(inside.at("covariance"), n)
    try:
        system = LinearDynamicalSystem(**made, states=states, observations=observations)
    except PGMError as error:
        inside.fail(str(error))
    system._start = start.value
    return system


def _matrices(part: Part, rows: int, columns: int, what: str) -> np.ndarray:
    """A matrix, or a list with one for each step."""
    found = part.elements(f"{what}, a list of rows")
    if found and isinstance(found[0], list) and found[0] and isinstance(found[0][0], list):
        return np.array([part.at(t).rows(rows, columns, f"{what} of step {t}") for t in range(len(found))])
    return part.rows(rows, columns, what)


def _covariance(part: Part, n: int) -> np.ndarray:
    """That of the first state, with "inf" where a variance is infinite."""
    value = part.elements("the covariance of the first state, a list of rows")
    wide = [i for i, row in enumerate(value) if isinstance(row, list) and row[i : i + 1] == ["inf"]]
    if wide:
        value = [[*row[:i], 0.0, *row[i + 1 :]] if i in wide else row for i, row in enumerate(value)]
    found = Part(part.source, value, part.path).rows(n, n, "the covariance of the first state")
    found[wide, wide] = np.inf
    return found
