"""Switching hidden Markov models: of several chains, a switch says which one is observed."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.distributions import Stacked, Tied
from pgm.errors import InvalidArgument, shown
from pgm.variables import Variable, as_domain

from .chain_tables import ChainLayout, Entries, side_by_side
from .joint_chains import JointChains, chain_of, check_emission, named
from .markov_chain import MarkovChain


class SwitchingHMM(JointChains):
    """Independent hidden chains, with a switch that selects which of them emits at each step.

    Args:
        chains: a list of chains, or a dict by name: `pgm.MarkovChain(initial, transition)`, a pair of such
            tables, or a count of states whose tables are yet to be learned.
        switch: a `pgm.MarkovChain` (or a pair of tables) whose states are the chains in their order; or one
            probability for each chain, if each step chooses independently; if left out, a Markov chain yet to
            be learned.
        emission: for each chain what its states emit; all are of one kind.
        name: of the model, in print and in files.

    >>> import pgm
    >>> quiet = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    >>> two = SwitchingHMM(
    ...     [quiet, quiet],
    ...     switch=[0.5, 0.5],
    ...     emission=[pgm.Gaussian([0.0, 1.0], sd=0.1), pgm.Gaussian([5.0, 6.0], sd=0.1)],
    ... )
    >>> two.decode([0.0, 5.1, 0.1]).chain("switch")
    ('chain0', 'chain1', 'chain0')
    """

    _word = "SwitchingHMM"

    def __init__(self, chains: Any, switch: Any = None, emission: Any = None, *, name: str = "") -> None:
        found = {called: chain_of(called, one) for called, one in named(chains, "chains=").items()}
        if "switch" in found:
            raise InvalidArgument('The switch is called "switch": no chain may have this name.')
        emissions = named(emission, "emission=")
        if set(emissions) != set(found):
            raise InvalidArgument(
                f"emission= has a distribution for each of the {len(found)} chains, by the same names, not "
                f"{shown(emission)}."
            )
        given: dict[Any, Any] = {}
        shapes: dict[Any, Any] = {}
        for called, (variable, start, move) in found.items():
            k = variable.card
            shapes["initial", called], shapes["transition", called] = (k,), (k, k)
            given["initial", called], given["transition", called] = start, move
            check_emission(emissions[called], k, f"emission= of {called!r}")
        kinds = {(type(e), e.domain) for e in emissions.values()}
        if len({kind for kind, _ in kinds}) > 1 or len({str(domain) for _, domain in kinds}) > 1:
            raise InvalidArgument("All chains emit the same kind of distribution, over the same symbols.")
        m = len(found)
        selector = Variable.of("switch", as_domain(list(found)))
        self._memoryless = _probabilities(switch, m)
        shapes["initial", "switch"] = (m,)
        if self._memoryless:
            given["initial", "switch"] = switch
        else:
            shapes["transition", "switch"] = (m, m)
            start, move = _moves(switch, m)
            given["initial", "switch"], given["transition", "switch"] = start, move
        variables = (selector, *(variable for variable, _, _ in found.values()))
        self._take(variables, given, shapes, name)
        shape = tuple(v.card for v in variables)
        k = prod(shape)
        check_cells((k * sum(shape), 4), "A step of these chains", self._remedy())
        self._layout = self._made(side_by_side(self._links()))
        joint = np.stack(np.unravel_index(np.arange(k), shape))
        sizes = [v.card for v in variables[1:]]
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        rows = first[joint[0]] + joint[1:][joint[0], np.arange(k)]
        self._emission = Tied(Stacked([emissions[called] for called in found], sizes), rows)

    def _made(self, layout: ChainLayout) -> ChainLayout:
        """The layout, in which all steps take the table of the start if each chooses independently."""
        if not self._memoryless:
            return layout
        (one, (entries,)), *others = layout.stages
        entries = Entries(("initial", "switch"), entries.index % self.variables[0].card)
        return ChainLayout(layout.start, ((one, (entries,)), *others))

    @property
    def emission(self) -> Any:
        """What each chain emits, by its name."""
        return dict(zip(self.chains[1:], self._emission.shared.parts, strict=True))

    def transition(self, chain: str) -> np.ndarray:
        """P(next state | previous state) of a chain; for a switch without memory, equal rows."""
        if chain == "switch" and self._memoryless:
            return np.tile(self._table("initial", chain), (self.variables[0].card, 1))
        return self._table("transition", chain)

    def _local(
        self, m: int, before: tuple[Variable, ...], now: tuple[Variable, ...]
    ) -> tuple[tuple[Variable, ...], np.ndarray]:
        if m == 0 and self._memoryless:
            return (), self._tables["initial", "switch"]
        return super()._local(m, before, now)


def _probabilities(switch: Any, m: int) -> bool:
    """Whether it is one probability for each chain, and not a pair of tables."""
    if isinstance(switch, MarkovChain) or switch is None:
        return False
    return hasattr(switch, "__len__") and len(switch) == m and all(np.ndim(p) == 0 for p in switch)


def _moves(switch: Any, m: int) -> tuple[Any, Any]:
    if switch is None:
        return None, None
    variable, start, move = chain_of("switch", switch)
    if variable.card != m:
        raise InvalidArgument(f"switch= has {variable.card} states, but there are {m} chains.")
    return start, move
