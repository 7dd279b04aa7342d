"""Logistic distributions: the softmax of a linear function of the parents."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from pgm.config import current
from pgm.distributions.parts import Part
from pgm.errors import ConvergenceWarning, InvalidTable, TooLarge, shown, warn
from pgm.factors import Dense, ModelPart, Writer
from pgm.runtime.clock import start_clock
from pgm.variables import Variable, as_float

from .base import CPD, ROWS_SHOWN, active, as_it_is, check_order, set_fields
from .count_gate import Counted, cells, count
from .own_parameters import OwnParameters
from .statistics import Codes, Configurations
from .table_input import MAX_AXES, Array, BadRow, check_cells, find_row, is_number, number, sentence

_SMALL = 1 << 16  # entries; a table of up to this size is written out without looking for a smaller form
_NARROW = -600.0  # the least logarithm of a probability that is kept as a double, with room to spare
_MOST_STEPS = 100
_SEPARATED = 25.0  # log odds that no finite sample gives a row unless they diverge


class Logistic(CPD):
    """P(child = j | parents) = exp(w_j . u + b_j) / sum over l of exp(w_l . u + b_l): a sigmoid, a softmax.

    Args:
        weights: {parent: w}. A continuous parent, or one with states False and True, enters with its value;
            of two other states the one declared second enters as 1. {parent: {state: w}} gives each state
            its own weight; a state left out has 0. For a child with two states w is a float, the weight of
            the second; else a list, one for each state. Where a continuous parent is unobserved and matters,
            `engine="quadrature"` answers.
        bias: the intercept: a float, or a list with one for each state.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.4); net.add("sprinkler", 0.2)
    >>> net.add("wet", pgm.Logistic({"rain": 4.0, "sprinkler": 3.0}, bias=-2.0))
    >>> round(net.query("rain", {"wet": True})[True], 10)
    0.7136979673
    """

    __slots__ = ("_bias", "_parents", "_scores", "_weights")
    kind, label, takes_continuous = "logistic", "logistic", True

    _parents: tuple[str, ...]
    # For each parent one weight, or a dict with one for each state. A weight is a tuple: over the child's
    # states once bound; before that a lone float is a tuple of one.
    _weights: tuple[tuple[float, ...] | dict[Any, tuple[float, ...]], ...]
    _bias: tuple[float, ...]
    _scores: tuple[Array, ...]  # for each parent what each state adds, (states, child's states); once bound

    def __init__(self, weights: Mapping[str, Any], bias: Any = 0.0) -> None:
        if not isinstance(weights, Mapping) or not all(isinstance(name, str) for name in weights):
            raise InvalidTable(
                f"pgm.Logistic takes its weights as a dict {{parent: weight}}, not {shown(weights)}."
            )
        read = [
            {state: _weight_of(w, f"the weight of {name}={shown(state)}") for state, w in entry.items()}
            if isinstance(entry, Mapping)
            else _weight_of(entry, f"the weight of {name!r}")
            for name, entry in weights.items()
        ]
        set_fields(self, _child=None, _given=(), _parents=tuple(weights), _weights=tuple(read))
        set_fields(self, _bias=_weight_of(bias, "the bias"), _scores=())

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the parents, in the order given."""
        return self._parents

    @property
    def weights(self) -> dict[str, Any]:
        """The weights as a user may write them: floats for a child with two states, else lists."""
        return {
            name: {s: self._short(w) for s, w in entry.items()}
            if isinstance(entry, dict)
            else self._short(entry)
            for name, entry in zip(self._parents, self._weights, strict=True)
        }

    @property
    def bias(self) -> Any:
        """The intercept: a float for a child with two states, else a list."""
        return self._short(self._bias)

    def _short(self, w: tuple[float, ...]) -> float | list[float]:
        if len(w) == 1:
            return w[0]
        return w[1] if len(w) == 2 and w[0] == 0.0 else list(w)

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> Self:
        """Return this distribution of `name` given these parents."""
        if self._child is not None:
            child = self._matched(name, states, given)
            self._check_order(child, given)
            return self.renamed(child, given)
        flat = [w for e in self._weights for w in (e.values() if isinstance(e, dict) else [e])]
        sizes = {len(w) for w in (*flat, self._bias)} - {1, 2}
        if states is None and sizes:
            raise InvalidTable(f"{name!r}: which states do the weights belong to? Write states=[...].")
        child = Variable(name, (False, True) if states is None else states)
        self._check_order(child, given)
        read = list[Any]()
        for parent, entry in zip(given, self._weights, strict=True):
            if isinstance(entry, dict):
                read.append({s: _for(child, w, f"{parent.name}={s!r}") for s, w in entry.items()})
            else:
                read.append(_for(child, entry, repr(parent.name)))
        bias = (0.0,) * child.card if self._bias == (0.0,) else _for(child, self._bias, "the bias")
        return self._made(child, given, tuple(read), bias)

    def _check_order(self, child: Variable, given: tuple[Variable, ...]) -> None:
        """Check the orders that weights depend on: of the child's states, and of parents with one weight."""
        lone = [
            v
            for v, entry in zip(given, self._weights, strict=True)
            if not isinstance(entry, dict) and not _numeric(v)
        ]
        check_order(child.name, "pgm.Logistic", (child, *lone))

    def _made(
        self, child: Variable, given: tuple[Variable, ...], weights: tuple[Any, ...], bias: Any
    ) -> Self:
        scores = []
        for parent, entry in zip(given, weights, strict=True):
            score = features(child.name, parent, entry) @ np.array(
                list(entry.values()) if isinstance(entry, dict) else [entry]
            ).reshape(-1, child.card)
            score.flags.writeable = False
            scores.append(score)
        made = self.__new__(type(self))
        set_fields(made, _child=child, _given=given, _parents=tuple([v.name for v in given]))
        set_fields(made, _weights=weights, _bias=bias, _scores=tuple(scores))
        return made

    def factor(self, scope: Sequence[int]) -> ModelPart:
        """Return the table; or, for many parents with few distinct weights, tables that count active ones."""
        card = self.child.card
        size = math.prod(v.card for v in self._given) * card
        if size <= _SMALL and len(scope) <= MAX_AXES:
            return self._dense(scope)
        kinds = self._kinds(np.argsort(np.array(scope[:-1]), kind="stable").tolist())
        parts = 2 if len(kinds) == 1 else 1
        needed, last = 0, card
        for kind, inputs in kinds.items():
            if isinstance(kind, int):
                last *= len(self._scores[kind])
            else:
                last *= math.prod(n + 1 for n in _halves(len(inputs), parts))
                needed += cells([1] * len(inputs), lambda n: n + 1, parts)
        needed += last
        if 64 * min(size, needed) > current().memory_limit or len(kinds) * parts >= MAX_AXES:
            raise TooLarge(
                f"{self.child.name!r}: a logistic distribution with {len(self._given):,} parents of "
                f"{len(kinds):,} different weights has no small exact form: every sum of weights gives a "
                "different probability. Use fewer parents, or equal weights, which are counted. "
                "Its `probability`, `sample` and `fit` work at any size."
            )
        if size <= needed and len(scope) <= MAX_AXES:
            return self._dense(scope)
        writer = Writer(len(scope))
        places: list[int] = []
        total = np.array(self._bias)
        for score in self._scores:
            if len(score) == 2:
                total = total + score[_low(score)]
        for kind, inputs in kinds.items():
            for place, counts in count(writer, inputs, lambda n: n, parts):
                places.append(place)
                more = self._scores[kind] if isinstance(kind, int) else counts[:, np.newaxis] * np.array(kind)
                total = total[..., np.newaxis, :] + more
        # One table; where entries would underflow, several tables whose product it is.
        logs = log_softmax(total)
        tables = max(1, math.ceil(float(logs.min()) / _NARROW))
        for _ in range(tables):
            writer.put([*places, writer.child], softmax(total) if tables == 1 else np.exp(logs / tables))
        return writer.finish(scope, function=True, unnormalised=tables if tables > 1 else 0)

    def _dense(self, scope: Sequence[int]) -> Dense:
        """The table, or its logarithms where entries would underflow."""
        table, positions = self.table(), np.array([scope], dtype=np.int64)
        if float(table.min()) > math.exp(_NARROW):
            return Dense(positions, table, 1)
        scores = np.array(self._bias)
        for score in self._scores:
            scores = scores[..., np.newaxis, :] + score
        return Dense(positions, log_softmax(scores), 1, log=True)

    def _kinds(self, order: Sequence[int]) -> dict[tuple[float, ...] | int, list[Counted]]:
        """Group two-state parents by the score that acting adds; others stay alone, under their index."""
        kinds: dict[tuple[float, ...] | int, list[Counted]] = {}
        for i in order:
            score = self._scores[i]
            if len(score) == 2:
                low = _low(score)
                counts = np.arange(2) if low == 0 else 1 - np.arange(2)
                kinds.setdefault(tuple((score[1 - low] - score[low]).tolist()), []).append((i, counts))
            else:
                kinds[i] = [(i, np.arange(len(score)))]
        return kinds

    def rows(self, codes: Codes) -> Array:
        """Return the softmax of the sums of weights of each row."""
        total = np.tile(np.array(self._bias), (len(codes), 1))
        for i, score in enumerate(self._scores):
            total += score[codes[:, i]]
        return softmax(total)

    def own_parameters(self, statistics: Any) -> OwnParameters | None:
        """Return bias and weights, for each state of the child but the first, with their derivatives.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("a", 0.5); net.add("b", pgm.Logistic({"a": 2.0}, bias=-1.0))
        >>> net.cpd("b").own_parameters(net.expected_counts({"b": True})["b"]).slopes.round(6).tolist()
        [0.393224, 0.196612]
        """
        if isinstance(statistics, np.ndarray):
            statistics = self.statistics(statistics)
        if not isinstance(statistics, Configurations):
            return None
        codes, weights = statistics.rows, statistics.weights
        off = weights[:, np.newaxis] * (np.eye(self.child.card)[codes[:, -1]] - self.rows(codes[:, :-1]))
        columns, values, texts = [np.ones(len(codes))], [self._bias], ["bias"]
        for i, (v, entry) in enumerate(zip(self._given, self._weights, strict=True)):
            columns += list(features(self.child.name, v, entry)[codes[:, i]].T)
            values += list(entry.values()) if isinstance(entry, dict) else [entry]
            texts += [f"{v.name}={key}" for key in entry] if isinstance(entry, dict) else [v.name]
        slopes = np.stack(columns) @ off[:, 1:]
        own, states = np.array(values)[:, 1:], self.child.states[1:]
        several = len(states) > 1
        names = tuple(f"{text}: {state}" if several else text for text in texts for state in states)
        return OwnParameters(own.ravel(), slopes.ravel(), False, names)

    def _fitted(self, statistics: Any) -> Self:
        """Fit by Newton's method (iteratively reweighted least squares); the child's first state weighs 0."""
        child, found = self.child, self._checked_statistics(statistics, Configurations)
        codes, weights = found.rows, found.weights
        blocks = [
            features(child.name, parent, entry)
            for parent, entry in zip(self._given, self._weights, strict=True)
        ]
        width = 1 + sum(block.shape[1] for block in blocks)
        size = len(codes) * (width + 4 * child.card) + (width * child.card) ** 2
        check_cells((size,), f"{child.name!r}: fitting its weights", "fit to fewer rows")
        design = np.concatenate(
            [np.ones((len(codes), 1)), *[block[codes[:, i]] for i, block in enumerate(blocks)]], axis=1
        )
        fitted = newton(child.name, design, codes[:, -1], weights, child.card)
        return self._of_found(np.concatenate([np.zeros((width, 1)), fitted], axis=1))

    def _of_found(self, found: Array) -> Self:
        """Return the same form with other parameters: (bias and weights, states)."""
        at, fitted = 1, list[Any]()
        for entry in self._weights:
            if isinstance(entry, dict):
                rows = found[at : at + len(entry)].tolist()
                fitted.append({s: tuple(row) for s, row in zip(entry, rows, strict=True)})
                at += len(entry)
            else:
                fitted.append(tuple(found[at].tolist()))
                at += 1
        return self._made(self.child, self._given, tuple(fitted), tuple(found[0].tolist()))

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same distribution for variables that differ only in their names."""
        return self._made(child, given, self._weights, self._bias)

    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> dict[str, Any]:
        """Return the weights of each parent, or of its states, and the bias."""
        weights: dict[str, Any] = {}
        for v, entry in zip(self.given, self._weights, strict=True):
            if isinstance(entry, dict):
                states = [state(_as_declared(key, v), v.name) for key in entry]
                weights[v.name] = {"states": states, "weights": [_of_second(w) for w in entry.values()]}
            else:
                weights[v.name] = _of_second(entry)
        return {"weights": weights, "bias": _of_second(self._bias)}

    @classmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> Self:
        """Return the distribution of these weights."""
        part.members("a logistic distribution", ["weights", "bias"])
        part.at("weights").members("the weights", [v.name for v in given])
        weights: dict[str, Any] = {}
        for v in given:
            entry = part.at("weights", v.name)
            part.take(v.card * max(v.card, child.card), f"what {shown(v.name)} adds in {shown(child.name)}")
            if type(entry.value) is not dict:
                weights[v.name] = _weight(entry, child)
                continue
            found = entry.members("the weights of states", ["states", "weights"])
            if len(entry.at("states").elements("a list of states")) != len(
                entry.at("weights").elements("a list of weights")
            ):
                entry.fail("states and weights do not have the same length")
            keys = [entry.at("states", i).state() for i in range(len(found["states"]))]
            if len(set(keys)) < len(keys):
                entry.fail("a state has two weights", "states")
            weights[v.name] = {key: _weight(entry.at("weights", i), child) for i, key in enumerate(keys)}
        return cls(weights, _weight(part.at("bias"), child)).bind(child.name, child.domain, given)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: weights and bias, for each state of the child but one."""
        count = 1 + sum(len(entry) if isinstance(entry, dict) else 1 for entry in self._weights)
        return count * (self.child.card - 1)

    def to_dict(self) -> dict[Any, Any]:
        """Return {"weights": {parent: weight}, "bias": float or list}."""
        return {"weights": self.weights, "bias": self.bias}

    def __eq__(self, other: object) -> bool:
        """Tell whether the parameters are equal and, where both belong to networks, the variables."""
        if not isinstance(other, Logistic):
            return NotImplemented
        return (
            self._child == other._child
            and set(self._given) == set(other._given)
            and self._bias == other._bias
            and dict(zip(self._parents, self._weights, strict=True))
            == dict(zip(other._parents, other._weights, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self._child is not None:
            return super().__repr__()
        if len(self._parents) > 5:
            return f"Logistic({len(self._parents)} parents, bias={self.bias!r})"
        return f"Logistic({self.weights!r}, bias={self.bias!r})"

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        binary = self.child.card == 2 and self._bias[0] == 0.0
        begin = 1 if binary else 0
        rows: list[list[object]] = [["(bias)", *[f"{w:.6g}" for w in self._bias[begin:]]]]
        count = 1
        for v, entry in zip(self._given, self._weights, strict=True):
            for label, w in (
                [(f"{v.name} = {s}", w) for s, w in entry.items()]
                if isinstance(entry, dict)
                else [(v.name if _numeric(v) else f"{v.name} = {v.states[active(v)]}", entry)]
            ):
                count += 1
                if len(rows) < ROWS_SHOWN:
                    rows.append([label, *[f"{x:.6g}" for x in w[begin:]]])
        return ["weight of", *self.child.states[begin:]], rows, count


def _weight_of(w: object, what: str) -> tuple[float, ...]:
    """Return a weight as written: one float, or one for each state of the child."""
    several = isinstance(w, list | tuple) or (isinstance(w, np.ndarray) and w.ndim > 0)
    values: Any = w if several else [w]
    found = tuple(number(x) if is_number(x) else math.nan for x in values)
    if not found or not all(map(math.isfinite, found)):
        raise InvalidTable(f"pgm.Logistic: {what} is a number or a list of them, not {shown(w)}.")
    return found


def _weight(part: Part, child: Variable) -> Any:
    """Return a weight as it was written: one float, or one for each state of the child."""
    if type(part.value) is list:
        return part.numbers(child.card, "a weight for each state").tolist()
    return part.number("a weight")


def _of_second(w: tuple[float, ...]) -> float | list[float]:
    """Return a weight for each state; of two, only the second if the first is zero."""
    return w[1] if len(w) == 2 and str(w[0]) == "0.0" else list(w)


def _as_declared(key: Any, v: Variable) -> Any:
    """Return a state as it was written, or as it was declared if these are equal."""
    state = v.states[v.code(key)]
    return state if state == key else key


def _for(child: Variable, w: tuple[float, ...], what: str) -> tuple[float, ...]:
    """Return a weight for each of the child's states."""
    if len(w) == 1 and child.card == 2:
        return (0.0, w[0])
    if len(w) != child.card:
        raise InvalidTable(
            f"{child.name!r}: {len(w)} weights of {what} for the {child.card} states of {child.name!r}."
        )
    return w


def features(name: str, parent: Variable, entry: object) -> Array:
    """Return what the weights multiply, (states of the parent, weights); 1 for a continuous parent."""
    if parent.continuous:
        if isinstance(entry, dict):
            raise InvalidTable(
                f"{name!r}: {parent.name!r} is continuous and has no states to weigh; give it one weight."
            )
        return np.ones((1, 1))
    if isinstance(entry, dict):
        found = np.zeros((parent.card, len(entry)))
        for column, state in enumerate(entry):
            try:
                (at,) = find_row((parent,), state)
            except BadRow as bad:
                raise InvalidTable(f"{name!r}, weights of {parent.name!r}: {sentence(str(bad))}") from None
            if found[at].any():
                raise InvalidTable(f"{name!r}: the state {shown(state)} of {parent.name!r} has two weights.")
            found[at, column] = 1.0
        return found
    values = _values(parent)
    if not np.isfinite(values).all():
        if parent.card != 2:
            raise InvalidTable(
                f"{name!r}: {parent.name!r} has {parent.card} states that are not finite numbers; give each "
                f"a weight, {{{parent.name!r}: {{{shown(parent.states[0])}: 1.5, ...}}}}."
            )
        values = (np.arange(2) == active(parent)).astype(np.float64)
    return values[:, np.newaxis]


def _values(parent: Variable) -> Array:
    """Return the states as floats, NaN where they are not numeric."""
    return np.array([float(s) if isinstance(s, bool) else as_float(s) for s in parent.states])


def _numeric(parent: Variable) -> bool:
    """Whether a lone weight multiplies the parent's value, and no state of two has to be chosen."""
    return parent.continuous or bool(np.isfinite(_values(parent)).all())


def softmax(scores: Array) -> Array:
    """Return probabilities over the last axis from scores."""
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))


def log_softmax(scores: Array) -> Array:
    """Return the logarithms of `softmax`, finite even where it underflows."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def _low(score: Array) -> int:
    """The baseline of two states, chosen so that parents with weights of either sign fall into one group."""
    return 0 if tuple(score[0]) <= tuple(score[1]) else 1


def _halves(n: int, parts: int) -> tuple[int, ...]:
    return (n,) if parts == 1 else (n // 2, n - n // 2)


def newton(
    name: str, design: Array, seen: Codes, weights: Array, card: int, most: float = _SEPARATED
) -> Array:
    """Return the maximum-likelihood weights, of shape (features, states but the first).

    Log odds above `most` are taken as a sign that the weights diverge, and warned about.
    """
    n, m = design.shape
    k = card - 1
    total = weights.sum()
    target = (seen[:, np.newaxis] == np.arange(1, card)).astype(np.float64)
    found = np.zeros((m, k))
    clock = start_clock()

    def likelihood(at: Array) -> tuple[float, Array]:
        scores = np.concatenate([np.zeros((n, 1)), design @ at], axis=1)
        top = scores.max(axis=1, keepdims=True)
        logs = scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
        return float(weights @ logs[np.arange(n), seen]), np.exp(logs[:, 1:])

    value, p = likelihood(found)
    converged = False
    for _ in range(_MOST_STEPS):
        clock.check()
        gradient = design.T @ (weights[:, np.newaxis] * (target - p))
        curvature = np.empty((k, m, k, m))
        for a in range(k):
            for b in range(a, k):
                w = weights * p[:, a] * ((a == b) - p[:, b])
                curvature[a, :, b, :] = curvature[b, :, a, :] = design.T @ (w[:, np.newaxis] * design)
        # least squares takes the shortest step, so features that never vary get no weight
        step = np.linalg.lstsq(curvature.reshape(k * m, k * m), gradient.T.ravel(), rcond=1e-12)[0]
        direction = step.reshape(k, m).T
        if float(np.abs(gradient * direction).sum()) <= 1e-14 * total:
            converged = True
            break
        length, better, there = 1.0, -math.inf, p
        while better <= value and length > 1e-6:
            better, there = likelihood(found + length * direction)
            length /= 2
        if better <= value:  # what is left is rounding
            converged = True
            break
        found, value, p = found + 2 * length * direction, better, there
    if converged and float(np.abs(design @ found).max()) < most:
        return found
    text = (
        f"{name!r}: the weights diverge, because the parents separate some states perfectly; those returned "
        "are merely large. Fit to more rows, or add one row of each kind with a small weight."
    )
    warn(text, ConvergenceWarning)
    return found
