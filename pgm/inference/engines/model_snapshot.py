"""A model at one moment, as the engines see it, and the way from names to positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from pgm.evidence import Observed
from pgm.factors import Factor, GaussianFactor, Score
from pgm.inference.engines.gaussian.gaussian_arrays import Gaussians, collect, same_scopes
from pgm.inference.engines.gaussian.hybrid import HybridPosterior, with_numbers
from pgm.inference.engines.posterior import Posterior
from pgm.inference.program import Program
from pgm.inference.program.other_values import same_structure, with_support_of
from pgm.inference.program.reduction import Known
from pgm.inference.trees import TreeCache
from pgm.runtime.clock import Clock
from pgm.variables import Variable, VariableList

_Value = TypeVar("_Value")


@dataclass(frozen=True, eq=False, slots=True)
class ModelSnapshot:
    """A model at one moment, as the engines see it."""

    program: Program
    trees: TreeCache
    variables: VariableList
    position: Mapping[str, int]
    gaussians: Gaussians | None = None  # the continuous variables, if there are any
    factors: Sequence[Factor] = ()  # of the others, kept where there are
    linked: Linked | None = None  # states that depend on numbers, if there are any

    @property
    def names(self) -> Sequence[str]:
        """Their names, in the model's order."""
        return self.variables.names

    @property
    def by_name(self) -> Mapping[str, Variable]:
        """The variables by name."""
        return _Named(self)

    def with_trees_of(self, old: ModelSnapshot) -> ModelSnapshot:
        """The same model with the trees of an older snapshot, if these differ in values at most."""
        if not (same_structure(self.program, old.program) and same_scopes(self.gaussians, old.gaussians)):
            return self
        program = with_support_of(self.program, old.program)
        if program.support is not old.program.support:
            old.trees.forget(old.program.support)
        return replace(self, program=program, trees=old.trees)


class _Named(Mapping[str, Variable]):
    """The variables of a compiled model by name, without a dict of their own."""

    __slots__ = ("_model",)

    def __init__(self, model: ModelSnapshot) -> None:
        self._model = model

    def __getitem__(self, name: str) -> Variable:
        variables, i = self._model.variables, self._model.position[name]
        return Variable.of(variables.names[i], variables.domains[i])

    def __iter__(self) -> Iterator[str]:
        return iter(self._model.names)

    def __len__(self) -> int:
        return len(self._model.names)


@dataclass(frozen=True, eq=False, slots=True)
class Linked:
    """States that depend on numbers; for each of them `factors` has a uniform table, see scores.py."""

    scores: Sequence[Score]
    densities: Sequence[GaussianFactor]
    parents: Sequence[tuple[int, ...]]  # of every variable, by position


def with_densities(
    compiled: ModelSnapshot, densities: Sequence[GaussianFactor], factors: Callable[[], Sequence[Factor]]
) -> ModelSnapshot:
    """The same with its continuous variables, if there are any."""
    if not densities:
        return compiled
    return replace(compiled, gaussians=collect(len(compiled.names), densities), factors=tuple(factors()))


def make_posterior(
    compiled: ModelSnapshot,
    observed: Observed,
    clock: Clock,
    engine: str = "exact",
    *,
    fit: bool = True,
    cutset: tuple[str, ...] | None = None,
) -> Posterior:
    """Put evidence into positions, in the model's order: written in any order it gives the same bits."""
    known, soft = by_position(compiled, observed)
    if soft and not fit:  # weights of the right form do where only the cost is asked
        known = known.with_weights({v: (0.5 * (w > 0),) for v, w in soft.items()})
    posterior = Posterior(
        compiled.program, compiled.trees, known, clock, compiled.names, engine, cutset, observed.given
    )
    if compiled.gaussians is not None:
        return beside_numbers(compiled, observed, posterior, soft if fit else {})
    return posterior.fitted(soft) if soft and fit else posterior


def beside_numbers(
    compiled: ModelSnapshot, observed: Observed, posterior: Posterior, soft: dict[int, np.ndarray]
) -> HybridPosterior:
    """The same with its continuous variables."""
    assert compiled.gaussians is not None
    number, position = compiled.gaussians.number, compiled.position
    given = {position[name]: v for name, v in observed.given.items() if number[position[name]] >= 0}
    return with_numbers(posterior, soft, compiled.gaussians, compiled.factors, given)


def by_position(compiled: ModelSnapshot, observed: Observed) -> tuple[Known, dict[int, np.ndarray]]:
    """What is known, and the marginals that are wanted afterwards, in the model's order."""
    position = compiled.position

    def ordered(found: Mapping[str, _Value]) -> dict[int, _Value]:
        return dict(sorted([(position[name], value) for name, value in found.items()])) if found else {}

    return Known(ordered(observed.hard), ordered(observed.weights)), ordered(observed.soft)
