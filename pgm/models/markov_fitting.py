"""How a Markov network learns the values of its factors: by the exact gradient, or by pseudo-likelihood.

The gradient of the log-likelihood by the logarithm of an entry is how often the entry was seen, or is
expected in rows with gaps, less how often the model expects it (Koller & Friedman 2009, 20.3).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.distributions.priors import Normal
from pgm.errors import InvalidArgument, InvalidFrame, listed, shown
from pgm.factors import Dense
from pgm.frames import Columns, columns, hold, names_of, weights_of
from pgm.results.fit_report import FitReport
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.progress import report as report_progress

from .pseudo_likelihood import PseudoLikelihood

if TYPE_CHECKING:
    from .markov_network import MarkovNetwork

METHODS = ("likelihood", "pseudo-likelihood")


@dataclass(frozen=True, eq=False)
class _Block:
    """Factors that share their values: the parameters are logarithms of entries, or weights of features."""

    members: list[int]  # indices in `_factors`
    free: np.ndarray  # entries that may change, as places in the flat table
    base: np.ndarray  # the logarithms where nothing is free
    features: np.ndarray | None  # (features, free entries)

    @property
    def size(self) -> int:
        return len(self.free) if self.features is None else len(self.features)

    def logs(self, parameters: np.ndarray) -> np.ndarray:
        found = self.base.copy()
        found[self.free] = parameters if self.features is None else parameters @ self.features
        return found

    def slope(self, by_entry: np.ndarray) -> np.ndarray:
        part = by_entry[self.free]
        return part if self.features is None else np.asarray(self.features @ part)


def fit(
    model: MarkovNetwork,
    frame: Any,
    *,
    prior: Any,
    weights: Any,
    fixed: Any,
    tied: Any,
    features: Any,
    method: Any,
    max_iter: Any,
    tol: Any,
) -> tuple[list[Any], FitReport]:
    """The factors with fitted values, and the report."""
    if method not in METHODS:
        raise InvalidArgument(f"method= is {' or '.join(map(repr, METHODS))}, not {shown(method)}.")
    if prior is not None and not (isinstance(prior, Normal) and prior.mean == 0.0):
        raise InvalidArgument(
            "prior= of a Markov network is pgm.priors.Normal(0, sd=...), of each logarithm, not "
            f"{shown(prior)}."
        )
    if isinstance(max_iter, bool) or not isinstance(max_iter, int | np.integer) or max_iter < 1:
        raise InvalidArgument(f"max_iter= is a whole number of at least 1, not {shown(max_iter)}.")
    number = isinstance(tol, int | float | np.number) and not isinstance(tol, bool)
    if not number or not 0.0 <= tol < np.inf:
        raise InvalidArgument(f"tol= is a number from 0 on, not {shown(tol)}.")
    clock = start_clock()
    held = hold(frame, model.variables, weights, check=clock.check)
    data, shares = _read(model, held.frame, held.weights, clock)
    whole = len(data.codes) == len(model) and not any((c < 0).any() for c in data.codes.values())
    if method == "pseudo-likelihood" and not whole:
        raise InvalidFrame(
            "Pseudo-likelihood needs every variable in every row; method='likelihood' does not."
        )
    objective: _Likelihood | PseudoLikelihood
    blocks = _blocks(model, fixed, tied, features)
    if method == "likelihood":
        objective = _Likelihood(model, data, shares, whole, clock)
    else:
        objective = PseudoLikelihood(model, data, shares)
    seen = objective.seen()
    unseen: list[tuple[str, dict[str, Any]]] = []
    if whole and prior is None:  # what never was seen has its best value, zero, at once
        blocks = [_without_unseen(model, block, seen, unseen) for block in blocks]
    start = [_start(block) for block in blocks]
    ends = np.cumsum([0, *(block.size for block in blocks)])

    def tables(x: np.ndarray) -> list[np.ndarray]:
        found = [_logs_of(factor) for factor in model._factors]
        for i, block in enumerate(blocks):
            values = block.logs(x[ends[i] : ends[i + 1]])
            for member in block.members:
                found[member] = values
        return found

    precision = 0.0 if prior is None else prior.sd**-2.0
    logs: list[float] = []
    last: dict[str, Any] = {}

    def negative(x: np.ndarray) -> tuple[float, np.ndarray]:
        clock.check("fitting a Markov network")
        log, slopes = objective.of(tables(x))
        last["x"], last["log"] = x.copy(), log
        found = [block.slope(np.sum([slopes[m] for m in block.members], axis=0)) for block in blocks]
        slope = np.concatenate(found) if found else np.zeros(0)
        return -log + 0.5 * precision * float(x @ x), -slope + precision * x

    def note(x: np.ndarray) -> None:
        logs.append(last["log"])
        report_progress(len(logs), int(max_iter), "fitting a Markov network")

    from scipy import optimize

    minimize: Any = optimize.minimize
    x0 = np.concatenate(start) if start else np.zeros(0)
    negative(x0)
    logs.append(last["log"])
    stopped = "tol"
    x = x0
    if x0.size:
        options = {
            "maxiter": max_iter,
            "gtol": tol * max(1.0, float(shares.sum())),
            "ftol": 1e-15,
            "maxcor": 20,
        }
        found = minimize(negative, x0, jac=True, method="L-BFGS-B", callback=note, options=options)
        x = found.x
        slope = negative(x)[1]
        if found.nit >= len(logs):  # a last step that was not noted
            logs.append(last["log"])
        if float(np.abs(slope).max(initial=0.0)) > options["gtol"]:
            stopped = "max_iter" if found.nit >= max_iter else "rounding"
    values = tables(x)
    learned = {i for block in blocks for i in block.members}
    factors = [
        _with_logs(factor, values[i]) if isinstance(factor, Dense) and i in learned else factor
        for i, factor in enumerate(model._factors)
    ]
    report = FitReport(
        tuple(logs),
        stopped,
        n_parameters=_free(model, blocks),
        n_rows=data.n_rows if held.n_rows is None else held.n_rows,
        unseen=tuple(unseen[:10_000]),
    )
    return factors, report


def _read(model: MarkovNetwork, frame: Any, weights: Any, clock: Clock) -> tuple[Columns, np.ndarray]:
    variables = model.variables
    known = [name for name in names_of(frame) if isinstance(name, str) and name in variables]
    if not known:
        raise InvalidFrame(f"No column of the frame is a variable: the variables are {listed(variables)}.")
    data = columns(
        frame, {name: variables[name] for name in variables if name in set(known)}, check=clock.check
    )
    if data.n_rows == 0:
        raise InvalidFrame("The frame has no rows: there is nothing to learn from.")
    shares = weights_of(weights, data.n_rows, frame)
    if not shares.any():
        raise InvalidArgument("weights= are all 0: there is nothing to learn from.")
    return data, shares


def _blocks(model: MarkovNetwork, fixed: Any, tied: Any, features: Any) -> list[_Block]:
    at = model.potentials
    count = model.n_factors
    place = [at._place(i)[0] for i in range(count)]

    def checked(index: Any, what: str) -> int:
        if isinstance(index, bool) or not isinstance(index, int | np.integer) or not 0 <= index < count:
            raise InvalidArgument(
                f"{what} names factors by their index in `potentials`, 0 to {count - 1}, not {shown(index)}."
            )
        return place[int(index)]

    stays = {
        checked(i, "fixed=")
        for i in (fixed if isinstance(fixed, Iterable) else [fixed] if fixed is not None else [])
    }
    own = dict(features or {}) if isinstance(features or {}, Mapping) else None
    if own is None:
        raise InvalidArgument(f"features= is a dict {{index of a factor: array}}, not {shown(features)}.")
    design = {checked(i, "features="): value for i, value in own.items()}
    groups: list[list[int]] = []
    taken: set[int] = set()
    if tied is not None and (isinstance(tied, str | Mapping) or not isinstance(tied, Iterable)):
        raise InvalidArgument(f"tied= lists groups of indices, [[0, 1], ...], not {shown(tied)}.")
    for group in tied or ():
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise InvalidArgument(f"tied= lists groups of indices, [[0, 1], ...], not {shown(tied)}.")
        members = sorted({checked(i, "tied=") for i in group})
        if taken.intersection(members) or len(members) < 2:
            raise InvalidArgument(
                f"tied= ties factors in groups of two or more, each once, not {shown(tied)}."
            )
        taken.update(members)
        groups.append(members)
    groups += [[i] for i in range(len(model._factors)) if i not in taken]
    blocks = []
    for members in groups:
        if stays.intersection(members):
            if not stays.issuperset(members):
                raise InvalidArgument("tied= and fixed= disagree about a factor.")
            continue
        shapes = {_logs_shape(model._factors[i]) for i in members}
        if None in shapes or len(shapes) > 1:
            raise InvalidArgument(
                "Factors that are learned are tables, and those that are tied have one shape."
            )
        shape = shapes.pop()
        assert shape is not None
        base = _logs_of(model._factors[members[0]])
        free = np.flatnonzero(np.isfinite(base))
        some = next((design[i] for i in members if i in design), None)
        block = _Block(members, free, base, None)
        if some is not None:
            try:
                array = np.asarray(some, np.float64)
            except (TypeError, ValueError):
                raise InvalidArgument(f"features= of a factor are numbers, not {shown(some)}.") from None
            if (
                not array.size
                or array.ndim != len(shape) + 1
                or array.shape[1:] != shape
                or not np.isfinite(array).all()
            ):
                raise InvalidArgument(
                    f"features= of a factor has the shape (features, {', '.join(map(str, shape))}), "
                    f"not {array.shape}."
                )
            block = _Block(members, free, base, array.reshape(len(array), -1)[:, free])
        blocks.append(block)
    if not blocks:
        raise InvalidArgument("Every factor is fixed: there is nothing to learn.")
    return blocks


def _logs_shape(factor: Any) -> tuple[int, ...] | None:
    return tuple(factor.values.shape) if isinstance(factor, Dense) else None


def _logs_of(factor: Any) -> np.ndarray:
    if not isinstance(factor, Dense):
        return np.zeros(0)
    values = np.asarray(factor.values, np.float64).ravel()
    if factor.log:
        return values.copy()
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def _with_logs(factor: Dense, logs: np.ndarray) -> Dense:
    shape = factor.values.shape
    values = logs if factor.log else np.exp(np.clip(logs, -np.inf, 700.0))
    made = values.reshape(shape).copy()
    made.flags.writeable = False
    return Dense(factor.scopes, made, log=factor.log)  # no longer a conditional table, if it was one


def _start(block: _Block) -> np.ndarray:
    if block.features is None:
        return np.asarray(block.base[block.free])
    return np.asarray(np.linalg.lstsq(block.features.T, block.base[block.free], rcond=None)[0])


def _without_unseen(
    model: MarkovNetwork, block: _Block, seen: list[np.ndarray], unseen: list[tuple[str, dict[str, Any]]]
) -> _Block:
    if block.features is not None:
        return block
    counts = sum(seen[m] for m in block.members)
    never = np.asarray(counts)[block.free] == 0.0
    if not never.any():
        return block
    factor: Any = model._factors[block.members[0]]
    order = list(model.variables.values())
    scope = [order[v] for v in factor.scopes[0]]
    for at in block.free[never].tolist():
        codes = np.unravel_index(at, factor.values.shape)
        states = {v.name: v.states[int(c)] for v, c in zip(scope, codes, strict=True)}
        unseen.append((f"factor {block.members[0]}", states))
    base = block.base.copy()
    base[block.free[never]] = -np.inf
    return _Block(block.members, block.free[~never], base, None)


def _free(model: MarkovNetwork, blocks: Sequence[_Block]) -> int:
    """The number of free parameters; what several tables can express counts once (Koller & Friedman, 4.4).

    Of tables with zeros, that are tied, or log-linear, it is the number of their entries, or of weights.
    """
    scopes, count = [], 0
    for block in blocks:
        tables: list[Any] = [model._factors[i] for i in block.members]
        places = [tuple(scope) for table in tables for scope in table.scopes.tolist()]
        if block.features is None and len(places) == 1 and len(block.free) == block.base.size:
            scopes.append(places[0])
        else:
            count += block.size
    cards = [v.card for v in model.variables.values()]
    parts = {frozenset(t) for s in scopes for k in range(1, len(s) + 1) for t in itertools.combinations(s, k)}
    return int(count + sum(math.prod(cards[v] - 1 for v in part) for part in parts))


class _Likelihood:
    """The log-likelihood, and its derivative by the logarithm of each entry."""

    def __init__(
        self, model: MarkovNetwork, data: Columns, shares: np.ndarray, whole: bool, clock: Clock
    ) -> None:
        self._network, self._data, self._shares, self._clock = model.copy(), data, shares, clock
        self._total = float(shares.sum())
        self._rows: Any = None
        self._whole = whole
        self._begins = [int(b) for b in model.potentials._counts]
        self._counts: list[np.ndarray] | None = None
        self._codes = [data.codes[name] for name in model.variables if name in data.codes]

    def seen(self) -> list[np.ndarray]:
        """How often each entry occurred, where every row is complete."""
        if self._counts is None:
            self._counts = []
            for factor in self._network._factors:
                if not isinstance(factor, Dense):
                    self._counts.append(np.zeros(0))
                    continue
                found = np.zeros(factor.values.size)
                for scope in factor.scopes if self._whole else ():
                    flat = np.ravel_multi_index([self._codes[v] for v in scope], factor.values.shape)
                    found += np.bincount(flat, self._shares, minlength=found.size)
                self._counts.append(found)
        return self._counts

    def of(self, logs: Sequence[np.ndarray]) -> tuple[float, list[np.ndarray]]:
        """The value and the gradient at these logarithms of all factors."""
        network = self._network
        network._factors = [
            Dense(f.scopes, x.reshape(f.values.shape), log=True) if isinstance(f, Dense) else f
            for f, x in zip(network._factors, logs, strict=True)
        ]
        network._values_changed("", None)
        expected = self._by_factor(network.expected_counts())
        partition = float(network.log_partition())
        if self._whole:
            seen = self.seen()
            log = math.fsum(float(s[s > 0.0] @ x[s > 0.0]) for s, x in zip(seen, logs, strict=True) if s.size)
            log += self._others()
        else:
            from pgm.inference.asking.frame_statistics import DiscreteRows

            compiled = network._compile_in(self._clock)
            if self._rows is None:
                self._rows = DiscreteRows(compiled, self._data, self._shares)
            tables, log = self._rows.expected(compiled, self._clock)
            seen = self._by_factor(network._expected(compiled.program, tables, {}))
        slopes = [s - self._total * e for s, e in zip(seen, expected, strict=True)]
        return log - self._total * partition, slopes

    def _others(self) -> float:
        """The contribution of factors that are not tables."""
        if all(isinstance(f, Dense) for f in self._network._factors):
            return 0.0
        raise InvalidArgument("A Markov network with factors that are not tables is not fitted; give tables.")

    def _by_factor(self, found: Mapping[int, np.ndarray]) -> list[np.ndarray]:
        sums = []
        for i, factor in enumerate(self._network._factors):
            if not isinstance(factor, Dense):
                sums.append(np.zeros(0))
                continue
            total = np.zeros(factor.values.size)
            for row in range(len(factor.scopes)):
                total += found[self._begins[i] + row].ravel()
            sums.append(total)
        return sums
