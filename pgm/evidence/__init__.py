"""What was observed: the user's mapping becomes states to keep and weights over states."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.errors import InvalidEvidence, UnknownVariable, listed, shown
from pgm.variables import Interval, State, Variable, as_float, is_missing

from .values import Likelihood, Likelihoods, Not, OneOf, Soft, StatesGiven, Weighted

__all__ = [
    "LARGEST",
    "Likelihood",
    "Likelihoods",
    "Not",
    "Observed",
    "OneOf",
    "Soft",
    "is_weighed",
    "known",
    "names",
    "observe",
    "value_of",
    "weights_over",
]

_PLAIN = frozenset((bool, int, str))  # the usual types of states, and never missing
_WEIGHED = StatesGiven | Interval | Weighted
LARGEST = 1e100  # the largest magnitude of a continuous value: its square is a finite double
_ONE = 1e-6  # how far from one the sum of a Soft may be: rounding, not a mistake


@dataclass(frozen=True, slots=True)
class Observed:
    """The evidence as codes and weights; a name is in one of `hard`, `weights` and `soft`."""

    hard: dict[str, int]  # the code of the only state left
    weights: dict[str, tuple[np.ndarray, ...]]  # weights over the states, at least two of them non-zero
    soft: dict[str, np.ndarray]  # the target marginal, at least two entries non-zero
    log_weight: float  # the log weight of variables for which a Likelihood leaves only one state
    given: dict[str, object]  # as the user wrote it, for messages; without missing values

    @property
    def log_most(self) -> float:
        """An upper bound on the log of its probability: weights may be larger than one."""
        every = [w for tables in self.weights.values() for w in tables]
        return self.log_weight + math.fsum(math.log(w.max()) for w in every)


def observe(variables: Mapping[str, Variable], given: Mapping[str, Any] | None) -> Observed:
    """Read what is given; the work grows with the evidence, not with the model.

    >>> wet = Variable("wet", [False, True])
    >>> observe({"wet": wet}, {"wet": True}).hard
    {'wet': 1}
    """
    hard: dict[str, int] = {}
    weighted: dict[str, tuple[np.ndarray, ...]] = {}
    soft: dict[str, np.ndarray] = {}
    log_weight = 0.0
    kept: dict[str, object] = {}
    for name, value in _items(given):
        variable = known(variables, name)
        if type(value) in _PLAIN and variable.domain.states:
            hard[variable.name] = variable.code(value)
        elif is_missing(value):
            continue
        elif isinstance(value, _WEIGHED):
            weights = weights_over(variable, value)
            left = np.flatnonzero(weights)
            if len(left) > 1 and isinstance(value, Soft):
                soft[variable.name] = weights
            elif len(left) > 1:
                weighted[variable.name] = (weights,)
            else:
                hard[variable.name] = int(left[0])
                log_weight += math.log(weights[left[0]])
        else:
            hard[variable.name] = _code(variable, value)
        kept[variable.name] = value
    return Observed(hard, weighted, soft, log_weight, kept)


def is_weighed(value: object) -> bool:
    """Whether this is evidence that weights states or leaves several of them possible."""
    return isinstance(value, _WEIGHED)


def _items(given: Mapping[str, Any] | None) -> Iterable[tuple[str, Any]]:
    if given is None:
        return ()
    if not hasattr(given, "keys") or not hasattr(given, "items"):  # a row of a data frame has both
        raise InvalidEvidence(
            f"Evidence is a mapping from names to states, such as {{'wet': True}}, not {shown(given)}."
        )
    return given.items()


def known(variables: Mapping[str, Variable], name: object) -> Variable:
    """The variable of this name; `UnknownVariable` with the nearest name if there is none."""
    try:
        return variables[name]  # type: ignore[index]
    except (KeyError, TypeError):
        raise UnknownVariable(name, variables) from None


def names(
    given: object, variables: Mapping[str, Variable] | None = None, *, least: int = 0
) -> tuple[str, ...]:
    """The names in `given`, where only names matter: a name, a list of names, or a mapping.

    Each name comes once, in the order given (those of a set are sorted). In a mapping, None and NaN mean
    not observed. With `variables`, every name must be one of them; `least` is the minimum number of names.

    >>> names("rain"), names(["rain", "wet"]), names({"wet": True, "rain": None}), names(None)
    (('rain',), ('rain', 'wet'), ('wet',), ())
    """
    found: Iterable[object]
    if given is None:
        found = ()
    elif isinstance(given, str):
        found = (given,)
    elif isinstance(given, Mapping):
        found = [name for name, value in given.items() if not is_missing(value)]
    elif isinstance(given, AbstractSet):
        found = sorted(given, key=str)
    elif isinstance(given, list | tuple):
        found = given
    else:
        raise InvalidEvidence(f"Names are given as a list such as ['rain', 'wet'], not {shown(given)}.")
    result = []
    for name in found:
        if not isinstance(name, str):
            raise InvalidEvidence(f"Names are text; {shown(name)} in {shown(given)} is not.")
        result.append(name if variables is None else known(variables, name).name)
    if len(result) < least:
        raise InvalidEvidence(
            f"The name of a variable, or a list of them, is expected; {shown(given)} names none."
        )
    return tuple(dict.fromkeys(result))


# --- one value ----------------------------------------------------------------------------------------------


def weights_over(variable: Variable, value: StatesGiven | Interval | Weighted) -> np.ndarray:
    """The weight of each state; at least one is not zero."""
    if variable.continuous:
        if isinstance(value, Interval):
            return np.ones(1)
        raise InvalidEvidence(
            f"{variable.name!r} is continuous and has no states for {shown(value)}: give a number or "
            "pgm.Interval(lo, hi)."
        )
    if isinstance(value, Weighted):
        return _weights(variable, value)
    weights = _selected(variable, value).astype(np.float64)
    if not weights.any():
        raise InvalidEvidence(
            f"{variable.name!r}: {shown(value)} leaves none of the states {_states(variable)}."
        )
    return weights


def _code(variable: Variable, value: object) -> int:
    if variable.continuous:
        value_of(variable, value)
        return 0
    if type(value) in _PLAIN:
        return variable.code(value)
    if isinstance(value, Mapping):
        raise InvalidEvidence(
            f"{variable.name!r}: {shown(value)} is not a state; write pgm.Likelihood({{...}}) for virtual "
            "evidence, or pgm.Soft({...}) for a target marginal."
        )
    if isinstance(value, list | set) or getattr(value, "ndim", None):
        raise InvalidEvidence(
            f"{variable.name!r}: {shown(value)} is not a state; write pgm.OneOf(...) for one of several "
            "states (many cases at once are asked through a data frame)."
        )
    return variable.code(value)


def value_of(variable: Variable, value: object) -> float:
    """The value given for a continuous variable."""
    variable.code(value)
    found = as_float(value)
    if abs(found) > LARGEST:
        raise InvalidEvidence(
            f"{variable.name!r}: magnitudes up to {LARGEST:g} are supported, not {shown(value)}. Choose "
            "another unit."
        )
    return found


def _selected(variable: Variable, value: StatesGiven | Interval) -> np.ndarray:
    """Which states remain possible, as a boolean array."""
    if isinstance(value, Interval):
        return _inside(variable, value)
    chosen = np.zeros(variable.card, dtype=bool)
    if not value.states:
        raise InvalidEvidence(f"{variable.name!r}: {value!r} is empty; the states are {_states(variable)}.")
    for state in value.states:
        if isinstance(state, Interval):
            chosen |= _inside(variable, state)
        else:
            chosen[_code(variable, state)] = True
    return ~chosen if isinstance(value, Not) else chosen


def _inside(variable: Variable, interval: Interval) -> np.ndarray:
    """The states in an interval [lo, hi): whole bins, or numeric states from lo up to but excluding hi."""
    if variable.bins is not None:
        edges = np.array(variable.bins.edges, dtype=float)
        lo, hi = (min(max(float(end), edges[0]), edges[-1]) for end in (interval.lo, interval.hi))
        for end in (lo, hi):
            if end not in edges:
                raise InvalidEvidence(
                    f"{variable.name!r}: {interval} cuts a bin at {end:g}; "
                    f"let it begin and end at edges: {listed(variable.bins.edges)}."
                )
        return np.array((edges[:-1] >= lo) & (edges[1:] <= hi), dtype=bool)
    code = variable.domain.find(interval)  # an interval that is itself a state
    if code >= 0:
        return np.array(np.arange(variable.card) == code, dtype=bool)
    if not all(isinstance(state, int | float) and not isinstance(state, bool) for state in variable.states):
        raise InvalidEvidence(
            f"{variable.name!r}: {interval} needs states that are numbers or bins, not {_states(variable)}."
        )
    return np.array([state in interval for state in variable.states], dtype=bool)


def _weights(variable: Variable, value: Weighted) -> np.ndarray:
    """The weight of each state, checked; those of a Soft sum to one."""
    kind = type(value).__name__
    weights = np.full(variable.card, math.nan)
    for state, weight in value.items:
        code = _code(variable, state)
        if weights[code] == weights[code]:
            raise InvalidEvidence(
                f"{variable.name!r}: {kind} gives two weights for the state {shown(variable.states[code])}."
            )
        weights[code] = _weight(variable, kind, state, weight)
    if isinstance(value, Soft):
        weights[np.isnan(weights)] = 0.0
        total = math.fsum(weights)
        if abs(total - 1.0) > _ONE:
            raise InvalidEvidence(f"{variable.name!r}: {shown(value)} must sum to one, not {total:.6g}.")
        return weights / total
    absent = np.flatnonzero(np.isnan(weights))
    if len(absent):
        raise InvalidEvidence(
            f"{variable.name!r}: {kind} has no weight for {listed([variable.states[i] for i in absent])}; "
            "give every state one (0 if it is excluded)."
        )
    if not weights.any():
        raise InvalidEvidence(f"{variable.name!r}: {kind} has only zeros; one weight must be positive.")
    return weights


def _weight(variable: Variable, kind: str, state: State, weight: object) -> float:
    try:
        number = math.nan if isinstance(weight, str) else float(weight)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0.0 <= number < math.inf:
        raise InvalidEvidence(
            f"{variable.name!r}: {kind} gives {shown(weight)} for {shown(state)}; "
            "weights must be non-negative, finite numbers."
        )
    return number


def _states(variable: Variable) -> str:
    if variable.bins is None:
        return listed(variable.states)
    first = ", ".join(map(str, variable.states[:10]))
    return first if variable.card <= 10 else f"{first}, ..., {variable.states[-1]}"
