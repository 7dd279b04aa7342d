"""Answers about several hidden chains together: each chain by itself is a marginal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.results.base import put
from pgm.results.report import Report
from pgm.results.steps import CHAIN, StateBeliefs, StatePath
from pgm.variables import Variable


class JointBeliefs(StateBeliefs):
    """What is believed in each step of the states of several chains, whose names are in `variables`.

    `values` has a row for each step and a column for each tuple of states; `marginal` says it of one chain.

    >>> import pgm
    >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    >>> both = pgm.FactorialHMM([coin, coin], pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0, 1]]))
    >>> found = both.smooth([0, 1, 1])
    >>> found.states, found.marginal("chain0").values[0].round(6).tolist()
    (((0, 0), (0, 1), (1, 0), (1, 1)), [0.588338, 0.411662])
    """

    __slots__ = ("variables",)
    variables: tuple[Variable, ...]

    def __init__(
        self,
        variable: Variable,
        values: np.ndarray,
        step_scores: np.ndarray,
        about: str,
        variables: tuple[Variable, ...],
        report: Report = CHAIN,
    ) -> None:
        """Take the beliefs about tuples of states, and the chains that these are of."""
        super().__init__(variable, values, step_scores, about, None, report)
        put(self, "variables", variables)

    def marginal(self, name: str) -> StateBeliefs:
        """What is believed of one chain.

        Args:
            name: the chain.

        Raises:
            InvalidArgument: there is no such chain.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> both = pgm.FactorialHMM([coin, coin], pgm.Categorical([[1, 0], [0.5, 0.5], [0.5, 0.5], [0, 1]]))
        >>> both.filter([0]).marginal("chain1").values.tolist()
        [[0.75, 0.25]]
        """
        m = which(self.variables, name)
        shape = [len(self), *(v.card for v in self.variables)]
        axes = tuple(i + 1 for i in range(len(self.variables)) if i != m)
        found = self.values.reshape(shape).sum(axis=axes)
        return StateBeliefs(
            self.variables[m], found, np.array(self.step_scores), self.about, None, self.report
        )

    def _parts(self) -> tuple[object, ...]:
        return self.variable, self.values, self.step_scores, self.about, self.variables, self.report


class JointPath(StatePath):
    """A tuple of states for each step, one of each chain.

    >>> import pgm
    >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    >>> both = pgm.FactorialHMM([coin, coin], pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0, 1]]))
    >>> path = both.decode([0, 1, 1])
    >>> path.path, path.chain("chain1")
    (((0, 1), (0, 1), (0, 1)), (1, 1, 1))
    """

    __slots__ = ("variables",)
    variables: tuple[Variable, ...]

    def __init__(
        self,
        variable: Variable,
        codes: np.ndarray,
        log_joint: float,
        log_likelihood: float | Callable[[], float],
        variables: tuple[Variable, ...],
        report: Report = CHAIN,
    ) -> None:
        """Take codes of tuples of states, and the chains that these are of."""
        super().__init__(variable, codes, log_joint, log_likelihood, report)
        put(self, "variables", variables)

    def chain(self, name: str) -> tuple[Any, ...]:
        """The states of one chain.

        Args:
            name: the chain.

        Raises:
            InvalidArgument: there is no such chain.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> both = pgm.FactorialHMM([coin, coin], pgm.Categorical([[1, 0], [0, 1], [0, 1], [0, 1]]))
        >>> both.decode([0, 0]).chain("chain0")
        (0, 0)
        """
        m = which(self.variables, name)
        return tuple([states[m] for states in self.path])

    def _parts(self) -> tuple[object, ...]:
        return self.variable, self.codes, self.log_joint, self.log_likelihood, self.variables, self.report


def which(variables: tuple[Variable, ...], name: str) -> int:
    """The number of a chain."""
    names = [variable.name for variable in variables]
    if name not in names:
        raise InvalidArgument(
            f"There is no chain {shown(name)}; there are {listed(names)}.{nearest(name, names)}"
        )
    return names.index(name)
