"""Structure searches. A name such as "tabu" stands for an object with options.

SEARCHES is the only list of them. A search needs a class here, and a module with a function
`search(options, problem)` that returns a `Found`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pgm.calls import guard_classes
from pgm.errors import InvalidArgument, nearest, shown

from .independence import Test, find_test

if TYPE_CHECKING:
    from .searching.found import Found
    from .searching.problem import StructureProblem


class Search:
    """Options of a search; its fixed properties are class attributes."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]
    name: ClassVar[str]
    module: ClassVar[str]  # below pgm.learning.searching; imported when first used
    scores: ClassVar[bool] = True  # whether it maximises a score
    heeds: ClassVar[frozenset[str]] = frozenset({"max_parents", "start"})  # those that it takes into account
    samples: ClassVar[bool] = False  # whether it draws from a posterior, and so gives the confidence of arcs

    def find(self, problem: StructureProblem) -> Found:
        """Search."""
        found: Found = import_module(f"pgm.learning.searching.{self.module}").search(self, problem)
        return found


def _whole(search: Any, **least: int) -> None:
    """Refuse options that are not integers, or too small."""
    for name, low in least.items():
        value = getattr(search, name)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
            raise InvalidArgument(f"{name} is a whole number of at least {low}, not {shown(value)}.")


@dataclass(frozen=True, slots=True)
class HillClimb(Search):
    """Greedy search: the best change of one arc (add, remove, reverse), as long as the score improves.

    Args:
        restarts: the number of restarts from the best network with some random changes.
        changes: the number of random changes; two fifths of the nodes, at least 4, if left out.
        max_steps: the largest number of changes in all.

    >>> HillClimb(restarts=5)
    HillClimb(restarts=5, changes=None, max_steps=None)
    """

    restarts: int = 0
    changes: int | None = None
    max_steps: int | None = None
    name: ClassVar[str] = "hill-climb"
    module: ClassVar[str] = "greedy"

    def __post_init__(self) -> None:
        """Check the options."""
        _whole(self, restarts=0, **_given(self, changes=1, max_steps=0))


@dataclass(frozen=True, slots=True)
class Tabu(Search):
    """Greedy search that also moves downhill, and does not undo its recent changes (Glover 1989).

    Args:
        tenure: the number of steps for which a pair of nodes stays unchanged after a change.
        patience: the number of steps without a new best after which it ends.
        restarts: the number of restarts from the best network with some random changes.
        changes: the number of random changes; two fifths of the nodes, at least 4, if left out.
        max_steps: the largest number of changes in all.

    >>> Tabu(tenure=20).name
    'tabu'
    """

    tenure: int = 10
    patience: int = 15
    restarts: int = 0
    changes: int | None = None
    max_steps: int | None = None
    name: ClassVar[str] = "tabu"
    module: ClassVar[str] = "greedy"

    def __post_init__(self) -> None:
        """Check the options."""
        _whole(self, tenure=1, patience=1, restarts=0, **_given(self, changes=1, max_steps=0))


def _given(search: Any, **least: int) -> dict[str, int]:
    return {name: low for name, low in least.items() if getattr(search, name) is not None}


@dataclass(frozen=True, slots=True)
class Exact(Search):
    """The best of all networks: dynamic programming over sets of nodes (Silander & Myllymäki 2006).

    A problem that does not fit in memory becomes an integer program, solved by HiGHS; at the time limit the
    result is the best so far, with a bound. With a small `max_parents=` it takes seconds for 20 nodes.

    >>> Exact().name
    'exact'
    """

    name: ClassVar[str] = "exact"
    module: ClassVar[str] = "exact"


@dataclass(frozen=True, slots=True)
class ChowLiu(Search):
    """The tree of the highest likelihood (Chow & Liu 1968), directed away from a root.

    Args:
        root: the node without parents; the first by name if left out.
        forest: whether to leave out arcs that do not improve the score.

    >>> ChowLiu(root="smoke")
    ChowLiu(root='smoke', forest=False)
    """

    root: str | None = None
    forest: bool = False
    name: ClassVar[str] = "chow-liu"
    module: ClassVar[str] = "trees"
    heeds: ClassVar[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class TAN(Search):
    """Tree-augmented naive Bayes: the best tree among the children of a class (Friedman et al. 1997).

    Args:
        target: the class.
        root: the node of the tree that has no other parent; the first by name if left out.

    >>> TAN("disease").target
    'disease'
    """

    target: str | None = None
    root: str | None = None
    name: ClassVar[str] = "tan"
    module: ClassVar[str] = "trees"
    heeds: ClassVar[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class K2Search(Search):
    """Parents added one by one, from the nodes earlier in a given order (Cooper & Herskovits 1992).

    Args:
        order: all nodes, causes first.

    >>> K2Search(order=["rain", "wet"]).order
    ('rain', 'wet')
    """

    order: tuple[str, ...] = ()
    name: ClassVar[str] = "k2"
    module: ClassVar[str] = "k2"
    heeds: ClassVar[frozenset[str]] = frozenset({"max_parents"})

    def __post_init__(self) -> None:
        """Keep the order as a tuple."""
        given: object = self.order
        if not isinstance(given, list | tuple):
            raise InvalidArgument(f"order= lists the nodes, causes first, not {shown(given)}.")
        object.__setattr__(self, "order", tuple(self.order))


@dataclass(frozen=True, slots=True)
class GES(Search):
    """Greedy equivalence search (Chickering 2002): arcs added to, then removed from, classes of networks.

    >>> GES().name
    'ges'
    """

    name: ClassVar[str] = "ges"
    module: ClassVar[str] = "equivalent"


@dataclass(frozen=True, slots=True)
class BOSS(Search):
    """Best order score search (Andrews et al. 2023): nodes move within an order, parents grow and shrink.

    Args:
        restarts: the number of restarts from a random order.

    >>> BOSS(restarts=3)
    BOSS(restarts=3)
    """

    restarts: int = 0
    name: ClassVar[str] = "boss"
    module: ClassVar[str] = "boss"

    def __post_init__(self) -> None:
        """Check the options."""
        _whole(self, restarts=0)


@dataclass(frozen=True, slots=True)
class PC(Search):
    """The PC algorithm: edges that no independence test removes; stable, whatever the order of columns.

    Spirtes & Glymour 1991; Colombo & Maathuis 2014.

    Args:
        test: "g", "chi-square", "permutation", "mutual-information" or "partial-correlation", or an object of
            pgm.independence; G squared if left out, the partial correlation where all columns are continuous.
        alpha: the significance level at which independence is rejected.
        max_given: the largest size of the conditioning set.

    >>> PC(alpha=0.01).alpha
    0.01
    """

    test: str | Test | None = None
    alpha: float = 0.05
    max_given: int | None = None
    name: ClassVar[str] = "pc"
    module: ClassVar[str] = "skeleton"
    scores: ClassVar[bool] = False
    heeds: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        """Check the options."""
        _level(self)


@dataclass(frozen=True, slots=True)
class IAMB(Search):
    """The Markov blanket of a node by tests (Tsamardinos et al. 2003), then their network by a score.

    Args:
        target: the node.
        test: as for PC.
        alpha: as for PC.

    >>> IAMB("lung").target
    'lung'
    """

    target: str | None = None
    test: str | Test | None = None
    alpha: float = 0.05
    name: ClassVar[str] = "iamb"
    module: ClassVar[str] = "skeleton"

    def __post_init__(self) -> None:
        """Check the options."""
        _level(self)


@dataclass(frozen=True, slots=True)
class MMHC(Search):
    """Max-min hill climbing: candidates by tests, the network by a score (Tsamardinos et al. 2006).

    Args:
        test: as for PC.
        alpha: as for PC.
        max_given: the largest size of the conditioning set.

    >>> MMHC().max_given
    3
    """

    test: str | Test | None = None
    alpha: float = 0.05
    max_given: int | None = 3
    name: ClassVar[str] = "mmhc"
    module: ClassVar[str] = "skeleton"

    def __post_init__(self) -> None:
        """Check the options."""
        _level(self)


@dataclass(frozen=True, slots=True)
class OrderMCMC(Search):
    """Orders of the nodes drawn from their posterior (Friedman & Koller 2003); arcs get a `confidence`.

    For each order, sets of parents are summed over exactly; so a network counts once for each of its orders.

    Args:
        steps: the number of moves.
        burn_in: the number of initial moves that are discarded.
        thin: the number of moves between counted orders.

    >>> OrderMCMC(steps=20_000).burn_in
    1000
    """

    steps: int = 10_000
    burn_in: int = 1_000
    thin: int = 10
    name: ClassVar[str] = "order-mcmc"
    module: ClassVar[str] = "sampling"
    heeds: ClassVar[frozenset[str]] = frozenset({"max_parents", "start"})
    samples: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the options."""
        _whole(self, steps=1, burn_in=0, thin=1)
        _walk(self)


@dataclass(frozen=True, slots=True)
class StructureMCMC(Search):
    """Networks drawn from their posterior under a uniform prior (Madigan & York 1995).

    Args:
        steps: the number of moves.
        burn_in: the number of initial moves that are discarded.

    >>> StructureMCMC(steps=50_000).name
    'structure-mcmc'
    """

    steps: int = 50_000
    burn_in: int = 5_000
    name: ClassVar[str] = "structure-mcmc"
    module: ClassVar[str] = "sampling"
    samples: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the options."""
        _whole(self, steps=1, burn_in=0)
        _walk(self)


def _level(search: Any) -> None:
    value = search.alpha
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < 1.0:
        raise InvalidArgument(f"alpha is a number between 0 and 1, not {shown(value)}.")
    if search.test is not None:
        find_test(search.test)
    if getattr(search, "max_given", None) is not None:
        _whole(search, max_given=0)


def _walk(search: Any) -> None:
    if search.burn_in >= search.steps:
        raise InvalidArgument(f"burn_in={search.burn_in} leaves nothing of steps={search.steps}.")


SEARCHES: dict[str, type[Search]] = {
    kind.name: kind
    for kind in (
        *(HillClimb, Tabu, Exact, ChowLiu, TAN, K2Search, GES, BOSS, PC, IAMB, MMHC),
        *(OrderMCMC, StructureMCMC),
    )
}
guard_classes(SEARCHES.values())


def find_search(search: str | Search) -> Search:
    """The search of this name.

    >>> find_search("hill-climb")
    HillClimb(restarts=0, changes=None, max_steps=None)
    """
    if isinstance(search, Search):
        return search
    if isinstance(search, str) and search in SEARCHES:
        return SEARCHES[search]()
    passed: object = search
    if isinstance(passed, type) and issubclass(passed, Search):
        name = passed.__name__
        raise InvalidArgument(f"search= takes a search, and {name} is the class of one: write {name}().")
    names = ", ".join(map(repr, SEARCHES))
    raise InvalidArgument(f"search={shown(search)} is not one of {names}.{nearest(search, SEARCHES)}")
