"""A model at one moment, as the engines see it, and the way from names to positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pgm.factors import Factor, GaussianFactor, Score
from pgm.inference.engines.gaussian.gaussian_arrays import Gaussians, collect, same_scopes
from pgm.inference.program import Program
from pgm.inference.program.other_values import same_structure, with_support_of
from pgm.inference.trees import TreeCache
from pgm.variables import Variable, VariableList


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

    names: Sequence[str] = field(init=False)  # of the variables, in the model's order
    by_name: Mapping[str, Variable] = field(init=False)

    def __post_init__(self) -> None:
        """Make once what every question looks at."""
        object.__setattr__(self, "names", self.variables.names)
        object.__setattr__(self, "by_name", _Named(self.variables, self.position))

    def with_trees_of(self, old: ModelSnapshot) -> ModelSnapshot:
        """The same model with the trees of an older snapshot, if these differ in values at most."""
        discrete = self.gaussians is None and old.gaussians is None
        if not (discrete or same_scopes(self.gaussians, old.gaussians)):
            return self
        if not same_structure(self.program, old.program):
            return self
        program = with_support_of(self.program, old.program)
        if program.support is not old.program.support:
            old.trees.forget(old.program.support)
        return replace(self, program=program, trees=old.trees)


class _Named(Mapping[str, Variable]):
    """The variables of a compiled model by name, without a dict of their own."""

    __slots__ = ("_position", "_variables")

    def __init__(self, variables: VariableList, position: Mapping[str, int]) -> None:
        self._variables, self._position = variables, position

    def __getitem__(self, name: str) -> Variable:
        variables, i = self._variables, self._position[name]
        return Variable.of(variables.names[i], variables.domains[i])

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables.names)

    def __len__(self) -> int:
        return len(self._variables.names)


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
