"""Error rates of decision rules for known class distributions, and of the Bayes rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import InvalidArgument, TooLarge, listed, shown
from pgm.evidence import known
from pgm.models.bayesian_network import BayesianNetwork
from pgm.models.classifiers.conventions import class_prior_of
from pgm.models.classifiers.decisions import loss_matrix
from pgm.randomness import generator
from pgm.variables import Variable

from .pieces import Piece, between, density_of, joint_at, reach
from .rates import Curves, Decided, DecisionRates

_PLACES = 4001  # points of the grid on which boundaries are bracketed
_HALVINGS = 80
_PIECES = 10_000  # combinations of states, with a continuous observation


@dataclass(frozen=True)
class DecisionProblem:
    """The classes, the observations, and the costs of decisions."""

    target: Variable
    names: tuple[str, ...]  # of the observations: discrete ones, then the continuous one
    pieces: list[Piece]
    cost: np.ndarray  # a row for each true class, a column for each action
    actions: tuple[Any, ...]

    def code(self, named: Any) -> int:
        """The index of an action."""
        if named is None and None not in self.target.states:
            if self.actions[-1] is not None:
                raise InvalidArgument("The rule sometimes names no class: say what that costs, reject=.")
            return len(self.actions) - 1
        return int(self.target.code(named.item() if isinstance(named, np.generic) else named))


@guarded
def decision_rates(
    model: Any,
    target: str | None = None,
    observes: str | Iterable[str] = (),
    *,
    prior: Any = None,
    rule: Any = None,
    loss: Any = None,
    reject: float | None = None,
    samples: int | None = None,
    seed: int | np.random.Generator | None = None,
) -> DecisionRates:
    """Return the error rates of a decision rule, given the joint distribution of classes and observations.

    The rule is any partition of the observation space; by default it is the Bayes rule, which minimises the
    expected loss, or without `loss` picks the most probable class. Sums over states are exact; integrals over
    one continuous variable are differences of distribution functions, exact up to rounding. Boundaries are
    bracketed on a grid of 4,001 points and found to rounding error; a region narrower than the grid spacing
    is missed. For several continuous variables cases are sampled (`samples=`), with a standard error.

    Args:
        model: a Bayesian network; or {class: density}, with univariate densities from pgm or frozen ones
            of scipy.
        target: the class, in a network.
        observes: the variables of the network that the rule observes. None: the prior alone.
        prior: P(class), for densities: by class or in their order.
        rule: the decisions. Classes and thresholds, as ["N", 1.5, "A"]; one class, always; a dict
            from states to classes; a function of observations in the order of `observes`; or a classifier
            with `predict`, for rows with these columns in this order.
        loss: the cost of each decision: an array (true, named) or a dict {(true, named): loss}.
        reject: the cost of rejecting (None), if that is an option.
        samples: the number of sampled cases, for several continuous observations.
        seed: seed of the random draws.

    Raises:
        UnknownVariable, UnknownState: there is no such variable or class.
        InvalidArgument: an invalid rule; several continuous observations without `samples=`.
        IncompleteModel: a network with a table missing.
        TooLarge: too many combinations of states.

    >>> import pgm
    >>> alarm = {"N": pgm.Gaussian(0.0, sd=1.0), "A": pgm.Gaussian(2.0, sd=1.0)}
    >>> decision_rates(alarm, prior=[0.9, 0.1])
    true class  P(class)  names N   names A
    N           0.9       0.982074  0.0179255
    A           0.1       0.539277  0.460723
    error 0.07006068586; Bayes error 0.07006068586
    N below 2.098612289
    A from 2.098612289
    """
    if isinstance(model, BayesianNetwork):
        if prior is not None:
            raise InvalidArgument("prior= is for densities; a network has its own.")
        if target is None:
            raise InvalidArgument("target= is the class, a variable of the network.")
        model._check_complete()
        variable = known(model.variables, target)
        if variable.continuous:
            raise InvalidArgument(f"{shown(target)} is continuous; a class has states.")
        seen = [observes] if isinstance(observes, str) else list(observes)
        each = [known(model.variables, name) for name in seen]
        if target in seen:
            raise InvalidArgument(f"The rule would see the class {shown(target)} itself.")
        cost, actions = _costs(variable, loss, reject)
        real = [v for v in each if v.continuous]
        if len(real) > 1:
            if samples is None:
                raise InvalidArgument(
                    f"{listed(v.name for v in real)} are {len(real)} continuous variables, over which rates "
                    "are not integrated exactly: say how many cases to draw, samples=100_000, for estimates "
                    "with a standard error."
                )
            if isinstance(samples, bool) or not isinstance(samples, int) or samples < 2:
                raise InvalidArgument(f"samples= is a whole number of at least 2, not {shown(samples)}.")
            return _drawn(model, variable, seen, rule, cost, actions, samples, seed)
        states = [v for v in each if not v.continuous]
        names = (*(v.name for v in states), *(v.name for v in real))
        pieces = _of_network(model, variable, states, real)
        if rule is not None and callable(rule):
            rule = _reordered(rule, seen, names)
    else:
        if not isinstance(model, Mapping) or not model:
            raise InvalidArgument(
                f"model= is a Bayesian network or a dict {{class: density}}, not {shown(model)}."
            )
        if target is not None or observes:
            raise InvalidArgument("target= and observes= are for networks; densities are of one variable.")
        variable = Variable("class", list(model))
        if prior is None:
            raise InvalidArgument("Densities do not determine P(class): give prior=.")
        shares = class_prior_of(prior, list(model), np.ones(len(model)))
        names = ("x",)
        cost, actions = _costs(variable, loss, reject)
        pieces = [Piece((), shares, tuple([density_of(name, one) for name, one in model.items()]))]
    if samples is not None:
        raise InvalidArgument(
            "samples= has no effect: with at most one continuous variable nothing is drawn."
        )
    return _exact(DecisionProblem(variable, names, pieces, cost, actions), rule)


def _costs(target: Variable, loss: Any, reject: float | None) -> tuple[np.ndarray, tuple[Any, ...]]:
    cost = loss_matrix(target, loss)
    if reject is None:
        return cost, target.states
    if isinstance(reject, bool) or not isinstance(reject, int | float) or not math.isfinite(reject):
        raise InvalidArgument(f"reject= is the cost of naming no class, a number, not {shown(reject)}.")
    return np.column_stack([cost, np.full(target.card, float(reject))]), (*target.states, None)


def _of_network(
    net: BayesianNetwork, target: Variable, states: list[Variable], real: list[Variable]
) -> list[Piece]:
    """The possible observations, with their probability under each class."""
    joint = net.query([target.name, *(v.name for v in states)]).values.reshape(target.card, -1)
    every = product(*(v.states for v in states))
    if not real:
        return [Piece(seen, weights, None) for seen, weights in zip(every, joint.T, strict=True)]
    if joint.shape[1] > _PIECES:
        raise TooLarge(
            f"The states observed besides {shown(real[0].name)} have {joint.shape[1]:,} combinations; up to "
            f"{_PIECES:,} are summed."
        )
    pieces = []
    for seen, weights in zip(every, joint.T, strict=True):
        given = dict(zip((v.name for v in states), seen, strict=True))
        each = tuple(
            [
                net.query(real[0].name, {**given, target.name: name}) if p > 0.0 else None
                for name, p in zip(target.states, weights.tolist(), strict=True)
            ]
        )
        pieces.append(Piece(seen, weights, each))
    return pieces


def _reordered(rule: Any, asked: Sequence[str], names: Sequence[str]) -> Callable[..., Any]:
    """The rule as a function of the states first and the continuous value last."""
    place = [list(names).index(name) for name in asked]
    return lambda *values: rule(*(values[i] for i in place))


# --- exact ---


def _exact(problem: DecisionProblem, rule: Any) -> DecisionRates:
    k = problem.target.card
    joint = np.zeros((k, len(problem.actions)))
    where: list[Decided] = []
    best = 0.0
    plain = 1.0 - np.eye(k)
    if problem.pieces[0].densities is None:
        weights = np.array([piece.weights for piece in problem.pieces])
        codes = _of_states(problem, rule, weights)
        for c in range(k):
            joint[c] = np.bincount(codes, weights[:, c], len(problem.actions))
        best = 1.0 - float(weights.max(axis=1).sum())
        where = [
            Decided(piece.seen, -math.inf, math.inf, problem.actions[code])
            for piece, code in zip(problem.pieces, codes.tolist(), strict=True)
        ]
        return _told(problem, joint, best, where, None)
    for piece in problem.pieces:
        own = _by_loss(piece, problem.cost) if rule is None else _of_continuous(problem, rule, piece)
        edges, codes = _regions(piece, own)
        parts = between(piece, edges)
        for part, code, low, high in zip(parts.T, codes.tolist(), edges[:-1], edges[1:], strict=True):
            joint[:, code] += part
            where.append(Decided(piece.seen, float(low), float(high), problem.actions[code]))
        edges, codes = _regions(piece, _by_loss(piece, plain))
        best += float(between(piece, edges)[codes, np.arange(len(codes))].sum())
    return _told(problem, joint, max(0.0, 1.0 - best), where, _curves(problem))


def _told(
    problem: DecisionProblem, joint: np.ndarray, best: float, where: list[Decided], curves: Curves | None
) -> DecisionRates:
    return DecisionRates(
        classes=problem.target.states,
        actions=problem.actions,
        joint=joint,
        bayes_error=max(0.0, best),
        risk=float((joint * problem.cost).sum()),
        where=tuple(where),
        curves=curves,
        standard_error=0.0,
        samples=0,
    )


def _of_states(problem: DecisionProblem, rule: Any, weights: np.ndarray) -> np.ndarray:
    """The action at each combination of states."""
    if rule is None:
        return np.asarray((weights @ problem.cost).argmin(axis=1))
    seen = [piece.seen for piece in problem.pieces]
    if isinstance(rule, Mapping):
        rule = {key if isinstance(key, tuple) else (key,): named for key, named in rule.items()}
        for one in seen:
            if one not in rule:
                raise InvalidArgument(f"rule= has no entry for {shown(one if len(one) > 1 else one[0])}.")
        return np.array([problem.code(rule[one]) for one in seen])
    if hasattr(rule, "predict"):
        rows = np.empty((len(seen), len(problem.names)), dtype=object)
        rows[:] = seen
        return np.array([problem.code(named) for named in np.asarray(rule.predict(rows)).tolist()])
    if callable(rule):
        return np.array([problem.code(rule(*one)) for one in seen])
    return np.full(len(seen), problem.code(rule))


def _by_loss(piece: Piece, cost: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: (joint_at(piece, x).T @ cost).argmin(axis=1)


def _of_continuous(problem: DecisionProblem, rule: Any, piece: Piece) -> Any:
    """The rule as a function of continuous values; a list of edges and codes stays as it is."""
    if isinstance(rule, list | tuple):
        return _cuts(problem, list(rule))
    if isinstance(rule, Mapping):
        raise InvalidArgument(
            "rule= is a dict of states, but a continuous variable is observed: pass cuts or a function."
        )
    if hasattr(rule, "predict"):

        def predicted(x: np.ndarray) -> np.ndarray:
            rows = np.empty((len(x), len(problem.names)), dtype=object)
            rows[:, :-1] = piece.seen
            rows[:, -1] = x
            plain = rows if piece.seen else rows.astype(np.float64)
            return np.array([problem.code(named) for named in np.asarray(rule.predict(plain)).tolist()])

        return predicted
    if callable(rule):
        return lambda x: np.array([problem.code(rule(*piece.seen, value)) for value in x.tolist()])
    return lambda x: np.full(len(x), problem.code(rule))


def _cuts(problem: DecisionProblem, rule: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    named, cuts = rule[::2], rule[1::2]
    if len(rule) % 2 == 0 or not all(isinstance(c, int | float) and math.isfinite(c) for c in cuts):
        raise InvalidArgument(f'rule= has classes and cuts in turn, as ["N", 1.5, "A"], not {shown(rule)}.')
    if any(a >= b for a, b in pairwise(cuts)):
        raise InvalidArgument(f"The cuts of rule= must increase; these do not: {listed(map(str, cuts))}.")
    return np.array([-math.inf, *map(float, cuts), math.inf]), np.array([problem.code(one) for one in named])


def _regions(piece: Piece, own: Any) -> tuple[np.ndarray, np.ndarray]:
    """The intervals of a rule: their edges, from minus infinity to infinity, and the action in each."""
    if isinstance(own, tuple):
        return own
    low, high = reach(piece)
    x = np.linspace(low, high, _PLACES)
    codes = own(x)
    before = np.flatnonzero(np.diff(codes))
    below, above = x[before].copy(), x[before + 1].copy()
    for _ in range(_HALVINGS if before.size else 0):
        middle = 0.5 * (below + above)
        same = own(middle) == codes[before]
        below, above = np.where(same, middle, below), np.where(same, above, middle)
    edges = np.array([-math.inf, *above.tolist(), math.inf])
    return edges, np.array([*codes[before].tolist(), codes[-1]])


def _curves(problem: DecisionProblem) -> Curves | None:
    if len(problem.pieces) > 1:
        return None
    low, high = reach(problem.pieces[0])
    centre = 0.5 * (low + high)
    x = np.linspace(centre - 0.62 * (centre - low), centre + 0.62 * (high - centre), 601)
    return Curves(problem.names[-1], x, joint_at(problem.pieces[0], x))


# --- by sampling ---


def _drawn(
    net: BayesianNetwork,
    target: Variable,
    seen: list[str],
    rule: Any,
    cost: np.ndarray,
    actions: tuple[Any, ...],
    samples: int,
    seed: Any,
) -> DecisionRates:
    """Rates over sampled cases; each counts with P(class | observed), not with its sampled class."""
    problem = DecisionProblem(target, tuple(seen), [], cost, actions)
    cases = net.sample(samples, seed=generator(seed))
    frame = {name: cases[name] for name in seen}
    shares = net.predict_proba(frame, target.name)
    if rule is None:
        codes = (shares @ cost).argmin(axis=1)
    elif hasattr(rule, "predict"):
        rows = np.column_stack([frame[name] for name in seen])
        codes = np.array([problem.code(named) for named in np.asarray(rule.predict(rows)).tolist()])
    elif callable(rule):
        each = zip(*(frame[name].tolist() for name in seen), strict=True)
        codes = np.array([problem.code(rule(*one)) for one in each])
    else:
        codes = np.full(samples, problem.code(rule))
    joint = np.zeros((target.card, len(actions)))
    for c in range(target.card):
        joint[c] = np.bincount(codes, shares[:, c], len(actions)) / samples
    named = codes < target.card
    right = np.where(named, shares[np.arange(samples), np.minimum(codes, target.card - 1)], 0.0)
    wrong = np.where(named, 1.0 - right, 0.0)
    return DecisionRates(
        classes=target.states,
        actions=actions,
        joint=joint,
        bayes_error=float(1.0 - shares.max(axis=1).mean()),
        risk=float((joint * cost).sum()),
        where=(),
        curves=None,
        standard_error=float(wrong.std(ddof=1)) / math.sqrt(samples),
        samples=samples,
    )
