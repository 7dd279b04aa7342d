"""A model at one moment, as the engines see it, and the map from names to positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from pgm.factors import Factor, GaussianFactor, Linking, ModelPart, RowNormal
from pgm.inference.program import Program, compile_program
from pgm.inference.program.continuous import Gaussians, collect, same_scopes
from pgm.inference.program.other_values import same_structure, with_support_of
from pgm.inference.program.sorting import checked, one_by_one, parents_by, sort_parts
from pgm.inference.trees import TreeCache
from pgm.variables import Variable, VariableList


@dataclass(frozen=True, eq=False)
class ModelSnapshot:
    """A model at one moment, as the engines see it."""

    program: Program
    trees: TreeCache
    variables: VariableList
    position: Mapping[str, int]
    gaussians: Gaussians | None = None  # the continuous variables, if there are any
    factors: Sequence[Factor] = ()  # of the discrete variables, kept if there are continuous ones
    linked: Linked | None = None  # states with continuous parents and the like, if there are any

    names: Sequence[str] = field(init=False)  # of the variables, in the model's order
    by_name: Mapping[str, Variable] = field(init=False)

    def __post_init__(self) -> None:
        """Compute once what every question needs."""
        object.__setattr__(self, "names", self.variables.names)
        object.__setattr__(self, "by_name", _Named(self.variables, self.position))

    @classmethod
    def of(
        cls,
        variables: VariableList,
        position: Mapping[str, int],
        parts: Iterable[ModelPart],
        check: Callable[[], None],
    ) -> ModelSnapshot:
        """Compile the parts of a model, whose scopes are positions among its variables.

        `check` is called in between, and may raise.
        """
        found, n = sort_parts(checked(parts, check)), len(variables)
        program = compile_program(map(attrgetter("card"), variables.domains), found.discrete, check=check)
        made = cls(program, TreeCache(), variables, position)
        if not found.densities and not found.scores:
            return made
        made = replace(made, gaussians=collect(n, found.densities), factors=one_by_one(found.discrete))
        if not found.scores and not found.curves:
            return made
        linked = Linked(found.scores, found.densities, parents_by(n, found), found.curves)
        return replace(made, linked=linked)

    def with_program(self, program: Program) -> ModelSnapshot:
        """The same model, which has no continuous variables, with other values in its tables."""
        made = object.__new__(ModelSnapshot)
        made.__dict__.update(self.__dict__)
        made.__dict__["program"] = program
        return made

    def with_trees_of(self, old: ModelSnapshot) -> ModelSnapshot:
        """The same model with the trees of an older snapshot, if they differ at most in values."""
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
    """The variables of a compiled model by name, without another dict."""

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
    """What depends on continuous variables other than linearly; see scores.py.

    A discrete variable with continuous parents has a uniform table among the `factors`; a continuous one
    that follows its parents along a curve has a density of its own, without parents, among the `densities`.
    """

    scores: Sequence[Linking]
    densities: Sequence[GaussianFactor]
    parents: Sequence[tuple[int, ...]]  # of every variable, by position
    curves: Sequence[RowNormal] = ()
