"""Coupled hidden Markov models: chains that see each other's previous states, and emit separately."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

from pgm.cpds import CPD
from pgm.cpds.table_input import check_cells
from pgm.distributions import Categorical, Gaussian, Product, Tied
from pgm.errors import InvalidArgument, listed
from pgm.results.outlook import Outlook
from pgm.variables import Variable

from .chain_network import observed
from .chain_tables import Key, coupled_stages
from .joint_chains import JointChains, check_emission, named, variable_of


class CoupledHMM(JointChains):
    """Hidden chains that each depend on the previous states of all, with emissions of their own (Brand 1997).

    Args:
        initial: for each chain the probabilities of its first state: a list, or a dict by name.
        transition: for each chain P(next state | previous states of all chains): an axis for each chain, in
            their order, and one for the next state.
        emission: for each chain what its states emit, a column of what is observed.
        states: for each chain its states, or how many; 0, 1, ... if left out.
        name: of the model, in print and in files.

    A sequence is a list of rows with a column for each chain, or a data frame whose columns have their names.

    >>> import pgm
    >>> sees = [[[0.9, 0.1], [0.6, 0.4]], [[0.4, 0.6], [0.1, 0.9]]]
    >>> other = [[[0.9, 0.1], [0.4, 0.6]], [[0.6, 0.4], [0.1, 0.9]]]
    >>> coin = pgm.Categorical([[0.8, 0.2], [0.2, 0.8]])
    >>> both = CoupledHMM([[0.7, 0.3], [0.5, 0.5]], [sees, other], [coin, coin])
    >>> both.decode([[0, 0], [1, 0], [1, 1]]).path
    ((0, 0), (1, 0), (1, 1))
    """

    _word = "CoupledHMM"

    def __init__(
        self,
        initial: Any = None,
        transition: Any = None,
        emission: Any = None,
        *,
        states: Any = None,
        name: str = "",
    ) -> None:
        emissions = named(emission, "emission=")
        chains = list(emissions)
        by_part: dict[str, dict[str, Any]] = {}
        for what, given in (("initial", initial), ("transition", transition), ("states", states)):
            found: dict[str, Any] = dict.fromkeys(chains) if given is None else named(given, f"{what}=")
            if set(found) != set(chains):
                raise InvalidArgument(
                    f"{what}= has the chains {listed(found)}, but emission= has {listed(chains)}."
                )
            by_part[what] = found
        variables = []
        for called in chains:
            start, move = by_part["initial"][called], by_part["transition"][called]
            size: int | None = getattr(emissions[called], "n_states", None)
            if hasattr(start, "__len__"):
                size = len(start)
            elif hasattr(move, "__len__"):
                size = int(np.shape(move)[-1])
            variables.append(variable_of(called, by_part["states"][called], size))
        shape = tuple(v.card for v in variables)
        shapes: dict[Key, tuple[int, ...]] = {}
        given_tables: dict[Key, Any] = {}
        for v in variables:
            shapes["initial", v.name], shapes["transition", v.name] = (v.card,), (*shape, v.card)
            for part in ("initial", "transition"):
                given_tables[part, v.name] = by_part[part][v.name]
            check_emission(emissions[v.name], v.card, f"emission= of {v.name!r}")
        self._take(tuple(variables), given_tables, shapes, name)
        k = prod(shape)
        check_cells((k, k, 2 + len(shape)), "A step of these chains", "choose fewer states, or fewer chains")
        self._layout = coupled_stages(self._links())
        joint = np.stack(np.unravel_index(np.arange(k), shape))
        parts = {v.name: Tied(emissions[v.name], joint[m]) for m, v in enumerate(variables)}
        self._emission = Product(_columns(parts))

    @property
    def emission(self) -> Any:
        """What each chain emits, by its name."""
        return {v.name: part.shared for v, part in zip(self.variables, self._emission.parts, strict=True)}

    def _local(
        self, m: int, before: tuple[Variable, ...], now: tuple[Variable, ...]
    ) -> tuple[tuple[Variable, ...], np.ndarray]:
        return before, self._tables["transition" if before else "initial", self.chains[m]]

    def _observations(self, now: tuple[Variable, ...], t: int) -> list[CPD]:
        return [
            cpd
            for one, part in zip(now, self._emission.parts, strict=True)
            for cpd in observed(part.shared, (one,), f"{t},{one.name.rpartition('[')[0]}")
        ]

    def _outlook(self, p: np.ndarray) -> Outlook:
        """Symbols of all chains jointly, or normal densities of all; else those of each chain by itself."""
        parts = self._emission.parts
        if all(part.domain is not None for part in parts):
            table: Any = np.ones((p.shape[1], 1))
            for part in parts:
                with np.errstate(divide="ignore"):
                    one = np.exp(part.log_rows(np.arange(part.domain.card))).T
                table = (table[:, :, None] * one[:, None, :]).reshape(len(table), -1)
            symbols = list(product(*(part.domain.states for part in parts)))
            return Outlook(Categorical(table, symbols), p)
        found = [part.normals() for part in parts]
        if any(one is None for one in found):
            return Outlook(self._emission, p)
        means = np.hstack([one[0] for one in found])
        covariances = np.zeros((len(means), means.shape[1], means.shape[1]))
        called, at = [], 0
        for v, one in zip(self.variables, found, strict=True):
            d = one[0].shape[1]
            covariances[:, at : at + d, at : at + d] = one[1]
            called += (
                [f"observation[{v.name}]"] if d == 1 else [f"observation[{v.name},{i}]" for i in range(d)]
            )
            at += d
        return Outlook(Gaussian(means, covariance=covariances), p, names=called)

    def _given(self, v: Variable) -> str:
        return "given previous states"

    def _case(self, v: Variable, part: str, case: tuple[int, ...]) -> str:
        if part == "first":
            return ""
        said = [f"{u.name}={u.states[code]}" for u, code in zip(self.variables, case, strict=True)]
        return ", ".join(said)


def _columns(parts: dict[str, Tied]) -> Any:
    """Columns by name, where each chain has one; else in order."""
    if all(part.domain is not None or part.dim == 1 for part in parts.values()):
        numbered = [f"chain{i}" for i in range(len(parts))]
        return list(parts.values()) if list(parts) == numbered else parts
    return list(parts.values())
