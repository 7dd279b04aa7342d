"""A model extended by variables for the scores of discrete variables with continuous parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pgm.factors import Dense, GaussianFactor
from pgm.inference.engines.gaussian.strong_tree import SCORE
from pgm.inference.program import compile_program
from pgm.inference.program.continuous import collect
from pgm.inference.trees import TreeCache
from pgm.variables import Domain, VariableList

if TYPE_CHECKING:
    from pgm.inference.engines.model_snapshot import ModelSnapshot


def extended(
    compiled: ModelSnapshot,
    sums: Sequence[GaussianFactor],
    more: Sequence[Dense],
    domains: Sequence[Domain],
    factors: Sequence[Any],
) -> ModelSnapshot:
    """The model with more continuous variables, and with more discrete ones of these domains.

    Args:
        compiled: the model, some of whose discrete variables have continuous parents.
        sums: densities of the new continuous variables, the last of all variables.
        more: new tables.
        domains: of the new variables, in their order.
        factors: factors of the discrete part, replacing the previous ones.
    """
    assert compiled.linked is not None
    names, position = list(compiled.names), dict(compiled.position)
    for i in range(len(domains)):
        name = f"{SCORE}{i % max(1, len(sums)) + 1})"
        while name in position:
            name += "'"
        position[name] = len(names)
        names.append(name)
    old = list(compiled.variables.domains)
    cards = [domain.card for domain in (*old, *domains)]
    every = (*factors, *more)
    return replace(
        compiled,
        program=compile_program(cards, every),
        trees=TreeCache(),
        variables=VariableList(names, [*old, *domains]),
        position=position,
        gaussians=collect(len(names), [*compiled.linked.densities, *sums]),
        factors=every,
        linked=None,
    )
