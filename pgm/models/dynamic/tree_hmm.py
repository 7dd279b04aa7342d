"""Tree-structured hidden Markov models: a hierarchy of states in each step, from coarse to fine."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.distributions import Tied
from pgm.errors import InvalidArgument, listed, shown
from pgm.variables import Variable

from .chain_tables import Key, side_by_side
from .joint_chains import JointChains, check_emission, named, variable_of


class TreeHMM(JointChains):
    """Levels of states: each depends on its own past and on the level above it (Jordan et al. 1997).

    Args:
        levels: from top to bottom, a list or a dict by name: pairs of tables. For the top level, the initial
            and the transition probabilities; for any other, P(first state | state above) and P(next state |
            state above, previous state). A count of states instead of tables is yet to be learned.
        emission: what they emit: a row for each combination of states, those of the last level vary fastest.
        states: the states of each level, by name or in order; 0, 1, ... if left out.
        name: of the model, in print and in files.

    >>> import pgm
    >>> mood = ([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    >>> word = ([[0.9, 0.1], [0.1, 0.9]], [[[0.8, 0.2], [0.8, 0.2]], [[0.1, 0.9], [0.1, 0.9]]])
    >>> text = TreeHMM({"mood": mood, "word": word}, pgm.Categorical([[1, 0], [0, 1], [1, 0], [0, 1]]))
    >>> text.decode([0, 0, 1, 1, 1]).chain("mood")
    (0, 0, 1, 1, 1)
    """

    _word = "TreeHMM"

    def __init__(self, levels: Any, emission: Any, *, states: Any = None, name: str = "") -> None:
        variables: list[Variable] = []
        given: dict[Key, Any] = {}
        shapes: dict[Key, tuple[int, ...]] = {}
        found = named(levels, "levels=", "level")
        called_states = dict.fromkeys(found) if states is None else named(states, "states=", "level")
        if set(called_states) != set(found):
            raise InvalidArgument(f"states= has those of each level {listed(found)}, not {shown(states)}.")
        for called, one in found.items():
            start: Any = None
            move: Any = None
            size = one
            if isinstance(one, list | tuple) and len(one) == 2:
                start, move = one
                try:
                    size = int(np.shape(start)[-1])
                except (ValueError, IndexError):
                    size = None
            if isinstance(size, bool) or not isinstance(size, int | np.integer):
                raise InvalidArgument(
                    f"The level {called!r} is a pair of tables, or a number of states, not {shown(one)}."
                )
            variable = variable_of(called, called_states[called], int(size))
            over = (variables[-1].card,) if variables else ()
            k = variable.card
            shapes["initial", called], shapes["transition", called] = (*over, k), (*over, k, k)
            given["initial", called], given["transition", called] = start, move
            variables.append(variable)
        self._take(tuple(variables), given, shapes, name)
        self._above = tuple((m - 1,) if m else () for m in range(len(variables)))
        rows = prod(v.card for v in variables)
        check_emission(emission, rows, "emission=")
        check_cells((rows * sum(v.card for v in variables), 4), "A step of these levels", self._remedy())
        self._layout = side_by_side(self._links())
        self._emission = Tied(emission, np.arange(rows))

    @property
    def emission(self) -> Any:
        """What the states emit: a row for each tuple of states, the last level's varying fastest."""
        return self._emission.shared
