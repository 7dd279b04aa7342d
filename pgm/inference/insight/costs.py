"""Costs of observing variables, individually or in groups; and the best sets to observe."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from pgm.cpds.table_input import is_number
from pgm.errors import InvalidArgument, listed, shown
from pgm.evidence import known
from pgm.evidence import names as names_of
from pgm.results.of_sets import Names as Names
from pgm.results.report import EXACT, Report
from pgm.variables import Variable

SETS = 20_000  # the most sets that are tried one by one


def read_costs(
    variables: Mapping[str, Variable], costs: Mapping[Any, float] | None
) -> dict[frozenset[str], float]:
    """Read costs: {name or (name, ...): cost}.

    Args:
        variables: the variables of the model.
        costs: the costs of observing single variables, or groups together.
    """
    found: dict[frozenset[str], float] = {}
    if costs is not None and not isinstance(costs, Mapping):
        raise InvalidArgument(f"costs= is a dict {{name, or (name, ...): cost}}, not {shown(costs)}.")
    for key, cost in (costs or {}).items():
        names = names_of(key, variables, least=1)
        for name in names:
            known(variables, name)
        if not is_number(cost) or not math.isfinite(cost):
            raise InvalidArgument(
                f"The cost of observing {listed(names)} is {shown(cost)}, not a finite number."
            )
        found[frozenset(names)] = float(cost)
    return found


def cost_of(names: Sequence[str], costs: Mapping[frozenset[str], float]) -> float:
    """The cost of observing some variables, with the cheapest use of group costs.

    Args:
        names: the variables.
        costs: as `read_costs` returns them.

    >>> costs = {frozenset("a"): 2.0, frozenset("b"): 3.0, frozenset("ab"): 4.0}
    >>> cost_of("a", costs), cost_of("ab", costs), cost_of("abc", costs)
    (2.0, 4.0, 4.0)
    """
    own = frozenset(names)
    if own in costs:
        return costs[own]
    groups = [group for group in costs if len(group) > 1 and group <= own]
    if groups:
        group = max(
            groups, key=lambda g: (sum(costs.get(frozenset((n,)), 0.0) for n in g) - costs[g], len(g))
        )
        return costs[group] + cost_of(tuple(own - group), costs)
    return math.fsum(costs.get(frozenset((name,)), 0.0) for name in names)


def used_costs(costs: Mapping[frozenset[str], float], sets: Iterable[Names]) -> dict[Names, float]:
    """The cost of each set; empty if no costs were given.

    Args:
        costs: as `read_costs` returns them.
        sets: the sets of names.
    """
    return {names: cost_of(names, costs) for names in sets} if costs else {}


def best_sets(
    there: Sequence[str], k: object, worth: Callable[[Names], float], bound: str = ""
) -> tuple[dict[Names, float], Report]:
    """The worth of every set of k names or, if they are too many to try, of a set chosen greedily.

    Args:
        there: the names to choose from.
        k: how many names a set has.
        worth: the worth of a set.
        bound: what is guaranteed of a set chosen greedily, as the end of a sentence.
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= len(there):
        raise InvalidArgument(f"k= is a whole number from 1 to {len(there)}, not {shown(k)}.")
    k = int(k)
    if math.comb(len(there), k) <= SETS:
        return {some: worth(some) for some in combinations(there, k)}, EXACT
    chosen: Names = ()
    trials: dict[Names, float] = {}
    while len(chosen) < k:
        trials = {(*chosen, name): worth((*chosen, name)) for name in there if name not in chosen}
        chosen = max(trials, key=lambda some: trials[some])
    advice = f"there are too many sets of {k} to try: one variable was added at a time{bound}"
    return {chosen: trials[chosen]}, Report("greedy", exact=False, advice=advice)
