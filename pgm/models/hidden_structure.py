"""Structures with hidden variables: structural EM (Friedman 1997), and whether they improve the score."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.errors import InvalidArgument, InvalidFrame, OutOfTime, listed, shown
from pgm.learning.searches import Search
from pgm.learning.searching.constraints import Constraints
from pgm.learning.searching.found import Found, Move
from pgm.learning.searching.problem import StructureProblem
from pgm.variables import Variable

from .bayesian_network import BayesianNetwork

_ROUNDS = 25
_STARTS = 5  # of EM, for the first network


def hidden_variables(latent: Any, columns: Mapping[str, Variable]) -> dict[str, Variable]:
    """The hidden variables of `latent=`, which are not columns.

    >>> hidden_variables({"cause": 2}, {})["cause"].states
    (0, 1)
    """
    if not isinstance(latent, Mapping) or not latent:
        raise InvalidArgument(
            f"latent= is a dict such as {{'cause': 3}}, the number of states, not {shown(latent)}."
        )
    found = {}
    for name, states in latent.items():
        if name in columns:
            raise InvalidArgument(f"latent= names {name!r}, which is a column: it is not hidden.")
        whole = isinstance(states, int | np.integer) and not isinstance(states, bool)
        if whole and states < 2:
            raise InvalidArgument(f"latent={{{name!r}: {states}}}: a hidden variable has two states or more.")
        if whole:
            check_cells((int(states),), f"latent={{{name!r}: {states}}}: its table", "give it fewer states")
        found[name] = Variable(name, list(range(int(states))) if whole else states)
    return found


def search_with_hidden(
    problem: StructureProblem, hidden: Mapping[str, Variable], known: Constraints, how: Search
) -> tuple[Found, BayesianNetwork | None]:
    """Find a network in which hidden variables explain the observations.

    Alternately, EM fits the network, each row counts for each hidden state with its probability, and the
    search uses the rows completed in this way. A hidden variable stays only if the score, based on the
    likelihood of the observations, is higher with it than without.

    Args:
        problem: the observed columns.
        hidden: the hidden variables.
        known: the constraints on all of them.
        how: the search.

    Returns:
        The result, and the network if it has hidden variables; None if it has none.
    """
    score = problem.score
    if score.name not in ("bic", "aic"):
        raise InvalidArgument(
            f'score="{score.name}" is not for hidden variables: use "bic" or "aic", whose penalty '
            "per parameter suits any likelihood."
        )
    if any(problem.gaps):
        raise InvalidFrame("Cells are missing: a structure with hidden variables needs rows without gaps.")
    if how.samples or not how.scores:
        raise InvalidArgument(f'latent= needs a search by score, and search="{how.name}" is none.')
    plain = how.find(problem)
    best, network = plain, None
    try:
        one, made = _climbed(problem, hidden, known, how, plain)
    except (OutOfTime, KeyboardInterrupt) as error:
        plain.interrupt(error)
        return plain, None
    said = f"{one.score:,.3f} with {listed(list(hidden))}, {plain.score:,.3f} without"
    if one.score > plain.score:
        best, network = one, made
        best.notes["hidden"] = f"kept: {score.name} {said}"
    else:
        best.notes["hidden"] = f"removed: {score.name} {said}"
    return best, network


def _climbed(
    problem: StructureProblem, hidden: Mapping[str, Variable], known: Constraints, how: Search, plain: Found
) -> tuple[Found, BayesianNetwork]:
    """Structural EM from the network in which the hidden variable is the parent of all observed ones."""
    names = known.names
    variables = {v.name: v for v in (*problem.variables, *hidden.values())}
    seen = {v.name: c for v, c in zip(problem.variables, problem.columns, strict=True)}
    states = {
        name: column if variables[name].continuous else variables[name].domain.array[column]
        for name, column in seen.items()
    }
    total = float(len(problem.columns[0]) if problem.weights is None else problem.weights.sum())
    each = problem.score.per_parameter(total)
    place = {name: i for i, name in enumerate(names)}
    begin = [set(those) for those in known.start]
    if not any(begin[place[name]] or any(place[name] in those for those in begin) for name in hidden):
        for h in hidden:
            for name in seen:
                if known.allowed[place[h], place[name]] and len(begin[place[name]]) < known.room[place[name]]:
                    begin[place[name]].add(place[h])
    parents = [tuple(sorted(those)) for those in begin]
    seeds = problem.rng.integers(0, 2**31, _ROUNDS + 1).tolist()

    def fit(parents: list[tuple[int, ...]], seed: int, starts: int) -> tuple[BayesianNetwork, float]:
        net = _network(names, parents)
        net.fit(
            states,
            weights=problem.weights,
            latent={name: list(v.states) for name, v in hidden.items()},
            states={
                name: list(v.states) for name, v in variables.items() if name in seen and not v.continuous
            },
            continuous=[name for name, v in variables.items() if v.continuous] or None,
            seed=int(seed),
            starts=starts,
        )
        report = net.fit_report
        assert report is not None
        return net, report.log_likelihood - each * net.n_parameters

    net, score = fit(parents, seeds[0], _STARTS)
    found = Found(parents, score, [*plain.trace, Move("hidden", None, score)])
    for round_ in range(_ROUNDS):
        problem.clock.check("searching with hidden variables")
        completed = _completed(problem, hidden, known, net, states)
        made = how.find(replace(completed, known=replace(known, start=tuple(found.parents))))
        if made.stopped_by:
            found.stopped_by = made.stopped_by
            break
        if made.parents == found.parents:
            break
        other, higher = fit(list(made.parents), seeds[round_ + 1], _STARTS)
        if not higher > score + 1e-6 * (1.0 + abs(score)):
            break
        net, score = other, higher
        found.parents, found.score = list(made.parents), score
        found.trace.append(Move("structural EM", None, score))
    return found, net


def _network(names: tuple[str, ...], parents: list[tuple[int, ...]]) -> BayesianNetwork:
    edges = [(names[u], names[v]) for v, those in enumerate(parents) for u in those]
    alone = [name for name in names if not any(name in edge for edge in edges)]
    graph: Any = BayesianNetwork(edges=edges).to_networkx()
    graph.add_nodes_from(alone)
    return BayesianNetwork(edges=graph)


def _completed(
    problem: StructureProblem,
    hidden: Mapping[str, Variable],
    known: Constraints,
    net: BayesianNetwork,
    states: Mapping[str, np.ndarray],
) -> StructureProblem:
    """Each row once for each hidden state, weighted by its probability given the row."""
    each = list(itertools.product(*(range(v.card) for v in hidden.values())))
    n_rows = problem.n_rows
    logs = np.empty((len(each), n_rows))
    for i, codes in enumerate(each):
        filled = {
            name: np.full(n_rows, v.states[code])
            for (name, v), code in zip(hidden.items(), codes, strict=True)
        }
        with np.errstate(all="ignore"):
            logs[i] = np.asarray(net.log_likelihood({**states, **filled}, bad_rows="missing"))
    logs[np.isnan(logs)] = -np.inf  # this state is impossible in the row
    shares = np.exp(logs - logs.max(axis=0))
    shares /= shares.sum(axis=0)
    if problem.weights is not None:
        shares *= problem.weights
    columns = {v.name: np.tile(c, len(each)) for v, c in zip(problem.variables, problem.columns, strict=True)}
    for k, name in enumerate(hidden):
        columns[name] = np.repeat(np.array([codes[k] for codes in each], np.int32), n_rows)
    variables = {v.name: v for v in (*problem.variables, *hidden.values())}
    return replace(
        problem,
        variables=tuple(variables[name] for name in known.names),
        columns=tuple(columns[name] for name in known.names),
        weights=shares.reshape(-1),
        known=known,
    )
