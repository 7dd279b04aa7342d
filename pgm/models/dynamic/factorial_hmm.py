"""Factorial hidden Markov models: chains that move by themselves and emit together."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.distributions import Tied

from .chain_tables import Key, side_by_side
from .joint_chains import JointChains, chain_of, check_emission, named


class FactorialHMM(JointChains):
    """Hidden chains that move by themselves, and emit together what is observed (Ghahramani & Jordan 1997).

    Exact answers take O(T M K^(M+1)) operations for M chains of K states: chain after chain is moved by its
    own matrix, and the K^M x K^M matrix is never made.

    Args:
        chains: a list of chains, or a dict by name: `pgm.MarkovChain(initial, transition)`, a pair of such
            tables, or a number of states that are yet to be learned.
        emission: what they emit: a row for each combination of states, those of the last chain vary fastest.
        name: what the model is called in print and in files.

    >>> import pgm
    >>> slow = pgm.MarkovChain([0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]], states=["low", "high"])
    >>> quick = pgm.MarkovChain([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], states=["off", "on"])
    >>> both = FactorialHMM({"level": slow, "switch": quick}, pgm.Gaussian([0.0, 1.0, 5.0, 6.0], sd=0.5))
    >>> both.decode([0.1, 0.9, 5.8]).path
    (('low', 'off'), ('low', 'on'), ('high', 'on'))
    """

    _word = "FactorialHMM"

    def __init__(self, chains: Any, emission: Any, *, name: str = "") -> None:
        found = {called: chain_of(called, one) for called, one in named(chains, "chains=").items()}
        given: dict[Key, Any] = {}
        shapes: dict[Key, tuple[int, ...]] = {}
        for called, (variable, start, move) in found.items():
            k = variable.card
            shapes["initial", called], shapes["transition", called] = (k,), (k, k)
            given["initial", called], given["transition", called] = start, move
        variables = tuple(variable for variable, _, _ in found.values())
        self._take(variables, given, shapes, name)
        rows = prod(v.card for v in variables)
        check_emission(emission, rows, "emission=")
        arcs = rows * sum(v.card for v in variables)
        check_cells((arcs, 4), "A step of these chains", self._remedy())
        self._layout = side_by_side(self._links())
        self._emission = Tied(emission, np.arange(rows))

    @property
    def emission(self) -> Any:
        """What the states emit: a row for each tuple of states, the last chain's varying fastest."""
        return self._emission.shared
