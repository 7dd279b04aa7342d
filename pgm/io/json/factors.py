"""Markov networks in JSON: one table may have many scopes, and the pixels of an image are one entry."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from pgm.cpds.table_input import MAX_AXES, TOLERANCE, check_cells, product
from pgm.distributions.parts import Part
from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.factors import Dense, Factor, Gate, Sparse
from pgm.models import MarkovNetwork
from pgm.models.grid import Pixels, check_pixels
from pgm.models.potentials import LARGEST_LOG
from pgm.variables import Domain

from .formatting import Filled
from .networks import read_variable
from .states import read_domain, write_domain

_MOST_AXES_OF_AN_IMAGE = 8


def write_variables(model: MarkovNetwork) -> list[dict[str, Any]]:
    """Return an object for each variable, and one for all pixels of an image."""
    domains: Mapping[str, Domain] = model._domains
    found: list[dict[str, Any]] = []
    if isinstance(domains, Pixels):
        found.append({"pixels": list(domains._shape), **write_domain("pixel", domains._domain)})
        domains = domains._more
    return [*found, *({"name": name, **write_domain(name, domain)} for name, domain in domains.items())]


def write_factors(model: MarkovNetwork, *, expand: bool) -> list[dict[str, Any]]:
    """Return an object for each factor, or for each table with all its scopes."""
    names = list(model.variables)
    found = []
    for factor in model.factors():
        if isinstance(factor, Gate):
            factor = _expanded(factor, model, names, expand)
        entry: dict[str, Any] = {}
        scopes = factor.scopes if isinstance(factor, Dense) else factor.scope[np.newaxis]
        if len(scopes) == 1:
            entry["of"] = [names[i] for i in scopes[0].tolist()]
        else:
            entry["scopes"] = Filled(scopes.tolist())
        if factor.log:
            entry["log"] = True
        if factor.heads:
            entry["conditional"] = True
        if isinstance(factor, Sparse):
            entry["states"] = Filled(factor.rows.tolist())
        entry["values"] = _finite(
            factor.values.tolist() if isinstance(factor, Sparse) else _rows(factor.values)
        )
        found.append(entry)
    return found


def _expanded(gate: Gate, model: MarkovNetwork, names: Sequence[str], expand: bool) -> Dense:
    scope = [names[i] for i in gate.scope.tolist()]
    if not expand:
        raise InvalidArgument(
            f"The factor of {listed(scope)} is a gate, which has no JSON form without its network: write the "
            "Bayesian network it is of; expand=True writes its table."
        )
    shape = [model._domains[name].card for name in scope]
    check_cells(shape, f"The factor of {listed(scope)} written out", "write the network it is of")
    return Dense(gate.scope[np.newaxis], gate.written_out(shape), 1)


def _rows(values: np.ndarray) -> list[list[float]]:
    found: list[list[float]] = values.reshape(-1, values.shape[-1] if values.ndim else 1).tolist()
    return found


def _finite(values: Any) -> Any:
    """Return the values with a text in place of minus infinity."""
    if isinstance(values, list):
        return list(map(_finite, values))
    return "-inf" if values == -math.inf else values


# --- reading ------------------------------------------------------------------------------------------------


def read_factors(variables: Part, factors: Part, title: str) -> MarkovNetwork:
    """Return the network of these variables and factors."""
    made = MarkovNetwork(title)
    made._take(_domains(variables), ())  # type: ignore[arg-type]
    cards = np.fromiter((d.card for d in made._domains.values()), dtype=np.int64, count=len(made))
    count = len(factors.elements("a list of factors"))
    made._factors = [_factor(factors.at(i), made, cards) for i in range(count)]
    return made


def _domains(part: Part) -> Mapping[str, Domain]:
    found: Any = {}
    for i, entry in enumerate(part.elements("a list of variables")):
        inside = part.at(i)
        if i == 0 and type(entry) is dict and "pixels" in entry:
            found = _pixels(inside)
            continue
        variable = read_variable(inside, [])
        if variable.continuous:
            inside.fail(f"{shown(variable.name)} has no states")
        if variable.name in found:
            inside.fail(f"a second variable {shown(variable.name)}", "name")
        found[variable.name] = variable.domain
    return found  # type: ignore[no-any-return]


def _pixels(part: Part) -> Pixels:
    value = part.members("an image", ["pixels"], ["states", "bins"])
    if "states" not in value and "bins" not in value:
        part.fail("the pixels have no states")
    sizes = part.at("pixels")
    if not 1 <= len(sizes.elements("a list of sizes")) <= _MOST_AXES_OF_AN_IMAGE:
        sizes.expected(f"the sizes of an image, at most {_MOST_AXES_OF_AN_IMAGE}")
    shape = tuple([sizes.at(i).whole("a size of the image", 1) for i in range(len(sizes.value))])
    check_pixels(math.prod(shape))
    return Pixels(shape, read_domain(part, "pixel"))


def _factor(part: Part, model: MarkovNetwork, cards: np.ndarray) -> Factor:
    value = part.members("a factor", ["values"], ["of", "scopes", "log", "conditional", "states"])
    if ("of" in value) == ("scopes" in value):
        part.fail('a factor has either "of", its variables, or "scopes", a list of their positions')
    scopes = _scope(part.at("of"), model) if "of" in value else _scopes(part.at("scopes"), cards)
    log = "log" in value and part.at("log").truth("whether the values are logarithms")
    conditional = "conditional" in value and part.at("conditional").truth("whether the last sums to one")
    shape = tuple(cards[scopes[0]].tolist())
    if conditional and (log or not shape):
        part.fail("logarithms, or no variables, cannot be a conditional distribution", "conditional")
    if "states" in value:
        return _sparse(part, scopes, shape, log, int(conditional))
    if len(shape) > MAX_AXES:
        part.fail(f"a table of {len(shape)} variables; at most {MAX_AXES} are possible")
    width = shape[-1] if shape else 1
    values = part.at("values").rows(math.prod(shape[:-1]), width, "the values", infinite=log)
    _check(part, values, log, lambda i: divmod(i, width))
    if conditional and (np.abs(values.sum(axis=1) - 1.0) > TOLERANCE).any():
        row = int(np.argmax(np.abs(values.sum(axis=1) - 1.0) > TOLERANCE))
        part.fail("the row of a conditional distribution that does not sum to one", "values", row)
    values = values.reshape(shape)
    values.flags.writeable = False
    return Dense(scopes, values, int(conditional), log)


def _scope(part: Part, model: MarkovNetwork) -> np.ndarray:
    for i, name in enumerate(part.names("the variables of a factor")):
        if name not in model:
            part.fail(f"there is no variable {shown(name)}.{nearest(name, model)}", i)
    return np.array([[model._position[name] for name in part.value]], dtype=np.int64)


def _scopes(part: Part, cards: np.ndarray) -> np.ndarray:
    found = part.elements("a list of scopes")
    if not found:
        part.expected("a scope at least")
    width = len(found[0]) if type(found[0]) is list else 0
    for i, scope in enumerate(found):
        if type(scope) is not list or len(scope) != width or not width:
            part.expected(f"a list of {width or 'some'} positions, as the first has", i)
    flat = list(chain.from_iterable(found))
    scopes = part.positions(flat, lambda i: divmod(i, width), cards.size, "the position of a variable")
    scopes = scopes.reshape(-1, width)
    ordered = np.sort(scopes, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if twice.any():
        part.fail("a variable appears twice", int(np.argmax(twice)))
    other = (cards[scopes] != cards[scopes[0]]).any(axis=1)
    if other.any():
        part.fail(
            "these variables have other numbers of states than those of the first scope",
            int(np.argmax(other)),
        )
    return scopes


def _sparse(part: Part, scopes: np.ndarray, shape: tuple[int, ...], log: bool, heads: int) -> Sparse:
    if len(scopes) > 1 or not shape:
        part.fail('a factor of listed rows has one scope, "of" some variables')
    rows, width = part.at("states"), len(shape)
    for i, row in enumerate(rows.elements("a list of rows")):
        if type(row) is not list or len(row) != width:
            rows.expected(f"the positions of {width} states", i)
    flat = list(chain.from_iterable(rows.value))
    codes = rows.positions(flat, lambda i: divmod(i, width), max(shape), "the position of a state").reshape(
        -1, width
    )
    if not (codes < shape).all():
        i, j = np.argwhere(codes >= shape)[0].tolist()
        rows.expected(f"the position of a state, below {shape[j]}", i, j)
    if len(np.unique(codes, axis=0)) < len(codes):
        rows.fail("a row appears twice")
    values = part.at("values").numbers(len(codes), "the values", infinite=log)
    _check(part, values, log, lambda i: (i,))
    if heads and not _sums_to_one(codes[:, :-1], values, product(shape[:-1])):
        part.fail("the rows of a conditional distribution do not each sum to one", "values")
    values.flags.writeable = codes.flags.writeable = False
    return Sparse(scopes[0], codes, values, heads, log)


def _sums_to_one(given: np.ndarray, values: np.ndarray, count: int) -> bool:
    found, which = np.unique(given, axis=0, return_inverse=True)
    sums = np.bincount(which.ravel(), values)
    return len(found) == count and bool((np.abs(sums - 1.0) <= TOLERANCE).all())


def _check(part: Part, values: np.ndarray, log: bool, step: Any) -> None:
    bad = ((values > LARGEST_LOG) | ((values < -LARGEST_LOG) & (values > -np.inf))) if log else values < 0.0
    if bad.any():
        what = (
            f"a log value, of size up to {LARGEST_LOG:g}"
            if log
            else 'a value from 0 on; "log": true has logarithms'
        )
        part.at("values").expected(what, *step(int(np.argmax(bad.ravel()))))
