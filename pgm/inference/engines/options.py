"""The options of the engines; and what the door has to know of each: what it answers, takes, where it is.

An engine says which questions it `answers`; whether it `approximates`; in which `module` its `prepare` is;
whether it `takes_soft`, the evidence that says what a marginal shall be afterwards; and whether it
`takes_scores`, states that depend on hidden numbers. All other evidence every engine takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pgm.inference.engines.checks import lists_of_names, number, one_of, seeded, whole
from pgm.inference.trees.needs import SUMS, Question


class Engine:
    """Options of an engine; what does not depend on them is said by the class."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]  # every one is a frozen dataclass
    name: ClassVar[str]
    module: ClassVar[str]  # which has its `prepare`; imported when first used
    answers: ClassVar[tuple[Question, ...]]
    approximates: ClassVar[bool]
    takes_soft: ClassVar[bool] = True
    takes_scores: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Exact(Engine):
    """Message passing on a tree of cliques, made for the question.

    >>> import pgm
    >>> net = pgm.load_network("asia")
    >>> round(net.query("lung", {"xray": "yes", "smoke": "yes"}, engine="exact")["yes"], 6)
    0.645991
    """

    name = "exact"
    module = "pgm.inference.engines.prepared"
    answers = (*SUMS, "map", "k_best", "marginal MAP", "max_marginals", "sample", "plan")
    approximates = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Elimination(Engine):
    """One variable after the other, in logarithms: slow, and written to be checked against.

    >>> import pgm
    >>> net = pgm.load_network("asia")
    >>> round(net.query("lung", {"xray": "yes", "smoke": "yes"}, engine="elimination")["yes"], 6)
    0.645991
    """

    name = "elimination"
    module = "pgm.inference.engines.elimination"
    answers = (*SUMS, "plan")
    approximates = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Cuts(Engine):
    """Minimum cuts for the most probable states of binary variables in linked pairs; a tree for what is left.

    Exact. Only `map` can be asked.

    >>> import pgm
    >>> grid = pgm.MarkovNetwork.grid([[1, 0]], states=[0, 1], coupling=2.0, unary=[[0.9, 0.1], [0.2, 0.8]])
    >>> grid.map(engine="cuts").to_array("pixel")
    array([[1, 1]])
    """

    name = "cuts"
    module = "pgm.inference.engines.cuts.prepared"
    answers = ("map",)
    approximates = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Expansion(Engine):
    """Moves to one state after the other, for the most probable states of variables in linked pairs.

    Not exact, and says how far off it may be. Only `map` can be asked.

    Args:
        sweeps: how often every state is tried at most; it stops sooner when none helps.
        bound_sweeps: how often the bound is tightened at most.

    >>> import pgm
    >>> grid = pgm.MarkovNetwork.grid([[1, 0]], states=[0, 1], coupling=2.0, unary=[[0.9, 0.1], [0.2, 0.8]])
    >>> grid.map(engine=Expansion(sweeps=5)).to_array("pixel")
    array([[1, 1]])
    """

    sweeps: int = 20
    bound_sweeps: int = 100
    name = "expansion"
    module = "pgm.inference.engines.cuts.prepared"
    answers = ("map",)
    approximates = True

    def __post_init__(self) -> None:
        """Refuse what is no number of sweeps."""
        whole(self, "sweeps", 1)
        whole(self, "bound_sweeps", 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Search(Engine):
    """One variable after the other given each of its states: for models full of zeros.

    >>> import pgm
    >>> net = pgm.load_network("asia")
    >>> round(net.query("lung", {"xray": "yes", "smoke": "yes"}, engine="search")["yes"], 6)
    0.645991
    """

    name = "search"
    module = "pgm.inference.engines.search.prepared"
    answers = (*SUMS, "plan")
    approximates = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Conditioned(Engine):
    """Several runs of a smaller tree, one for each state of some variables: for trees past the memory.

    Args:
        variables: which to condition on; None: as few as make the tree fit, perhaps none.

    >>> import pgm
    >>> net = pgm.load_network("asia")
    >>> engine = Conditioned(variables=["smoke"])
    >>> round(net.query("lung", {"xray": "yes", "bronc": "yes"}, engine=engine)["yes"], 6)
    0.552802
    """

    name = "conditioned"
    module = "pgm.inference.engines.conditioned"
    answers = (*SUMS, "plan")
    approximates = False
    variables: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Loopy(Engine):
    """Belief propagation: factors and variables send each other messages until these no longer change.

    Exact on trees, and said to be exact there; on graphs with loops good where these are long or weak. The
    probability of the evidence is Bethe's. `map` sends maxima, and has a bound. Asked about numbers alone it
    sends normal densities: their means are right as soon as messages rest, even with loops.

    Args:
        schedule: "sequential" goes over the factors forwards and backwards; "residual" sends where most has
            changed; "parallel" sends all at once, by several threads.
        damping: the share of the old message that stays, from 0 to below 1; with more of it more converges.
        max_iter: how often all messages are sent at most.
        tol: it has converged when no logarithm of a message changes by more.
        trace: keep every message, for teaching: `p.report.trace` is a table of them.

    >>> Loopy(damping=0.5).schedule
    'sequential'
    """

    schedule: Literal["sequential", "residual", "parallel"] = "sequential"
    damping: float = 0.0
    max_iter: int = 500
    tol: float = 1e-8
    trace: bool = False
    name = "loopy"
    module = "pgm.inference.engines.loopy.prepared"
    answers = (*SUMS, "map")
    approximates = True

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        one_of(self, "schedule", ("sequential", "residual", "parallel"))
        number(self, "damping", 0.0, 1.0)
        number(self, "tol", 0.0, math.inf)
        whole(self, "max_iter", 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class MeanField(Engine):
    """The independent distributions nearest to the model: a lower bound on log P(given), surely.

    Args:
        restarts: from how many starting points; the first is uniform, the best answer counts.
        structured: blocks, lists of variables that stay dependent on each other; inside one the exact engine
            works, so that it must fit there. What is in none is by itself.
        max_iter: how often all distributions are improved at most, from each start.
        tol: it has converged when the bound rises by less.
        seed: of the starting points.

    >>> MeanField(structured=[["rain", "wet"]]).structured
    (('rain', 'wet'),)
    """

    restarts: int = 5
    structured: Iterable[Iterable[str]] = ()
    max_iter: int = 1000
    tol: float = 1e-9
    seed: int = 0
    name = "mean-field"
    module = "pgm.inference.engines.mean_field.prepared"
    answers = SUMS
    approximates = True

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        whole(self, "restarts", 1)
        whole(self, "max_iter", 1)
        seeded(self)
        number(self, "tol", 0.0, math.inf)
        lists_of_names(self, "structured")


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds(Engine):
    """Intervals that surely hold the answer: weighted mini-buckets, from above and from below.

    The evidence has its probability between two bounds, every marginal is an interval with a value inside,
    and `map` gives good states with a bound on all others. Stopped early, bounds are wider and still hold.

    Args:
        ibound: a table has at most one variable more; the larger, the tighter and the slower. None: as large
            as memory allows, and no larger than what takes some seconds.
        iterations: how often the bounds are tightened at most.
        tol: it stops when they gain less, relative to them.

    >>> Bounds(ibound=8).iterations
    100
    """

    ibound: int | None = None
    iterations: int = 100
    tol: float = 1e-6
    name = "bounds"
    module = "pgm.inference.engines.bounds.prepared"
    answers = (*SUMS, "map", "marginal MAP", "plan")
    approximates = True
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        if self.ibound is not None:
            whole(self, "ibound", 1)
        whole(self, "iterations", 0)
        number(self, "tol", 0.0, math.inf)


@dataclass(frozen=True, kw_only=True, slots=True)
class CliqueSequence(Engine):
    """Exact trees of bounded size, one after the other, that tell each other what they believe.

    For models whose own tree is too large. The larger the trees may be, the less is lost between them; where
    one holds everything the numbers are exact. How far off they are otherwise is not known.

    Args:
        clique_bound: no clique has more than 2**clique_bound entries, but where a table of the model has.
            None: as large as memory allows, and no larger than what takes some seconds.
        iterations: how often beliefs are sent to the last tree and back at most.
        tol: it has converged when no two trees differ by more in what they believe.

    >>> CliqueSequence(clique_bound=12).iterations
    100
    """

    clique_bound: int | None = None
    iterations: int = 100
    tol: float = 1e-6
    name = "clique-sequence"
    module = "pgm.inference.engines.clique_sequence.prepared"
    answers = (*SUMS, "plan")
    approximates = True
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        if self.clique_bound is not None:
            whole(self, "clique_bound", 1)
        whole(self, "iterations", 1)
        number(self, "tol", 0.0, math.inf)


@dataclass(frozen=True, kw_only=True, slots=True)
class Srmp(Engine):
    """A bound on the most probable states by moving costs between factors, and good states from it.

    Any factors and any numbers of states. Only `map` can be asked; its answer is exact if it meets the
    bound.

    Args:
        sweeps: how often all costs are moved at most; it stops sooner when the bound gains little.
        moves: how often some variables are freed and solved again beside the others.
        seed: of which variables are freed.

    >>> Srmp(sweeps=50).moves
    300
    """

    sweeps: int = 200
    moves: int = 300
    seed: int = 0
    name = "srmp"
    module = "pgm.inference.engines.branching.prepared"
    answers = ("map",)
    approximates = True
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse what is no number of sweeps."""
        whole(self, "sweeps", 1)
        whole(self, "moves", 0)
        seeded(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Quadrature(Engine):
    """For states that depend on hidden numbers (`pgm.Logistic`): what these add up to is summed over a grid.

    Everything else stays exact. Not exact, and says by how much a shifted grid differs: `p.report.error`.
    Of numbers it gives means and variances. Questions that need no such sum are answered exactly.

    Args:
        points: of the grid, for each sum of numbers that matters; None: so many that the error is far below
            what anybody needs, in the order of 30 for one answer of a questionnaire.

    >>> Quadrature(points=40).points
    40
    """

    points: int | None = None
    name = "quadrature"
    module = "pgm.inference.engines.gaussian.quadrature"
    takes_scores = True
    answers = (*SUMS, "plan")
    approximates = False  # what exact inference refuses for its size is no smaller here

    def __post_init__(self) -> None:
        """Refuse what is no number of points."""
        if self.points is not None:
            whole(self, "points", 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Variational(Engine):
    """For states that depend on hidden numbers (`pgm.Logistic`): normal densities that lie below them.

    Surely a lower bound on log P(given), in `p.report.log_bounds`; what it says of numbers and states is not
    exact, and how far off is not known. It takes models that "quadrature" does not, of thousands of states
    that follow a chain of numbers. Questions that need no such density are answered exactly.

    Args:
        max_iter: how often all densities are improved at most.
        tol: it has converged when none of them moves by more, relative to how wide it is.

    >>> Variational(tol=1e-8).max_iter
    500
    """

    max_iter: int = 500
    tol: float = 1e-6
    name = "variational"
    module = "pgm.inference.engines.gaussian.variational"
    takes_scores = True
    answers = (*SUMS, "plan")
    approximates = False  # what exact inference refuses for its size is no smaller here

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        whole(self, "max_iter", 1)
        number(self, "tol", 0.0, math.inf)


@dataclass(frozen=True, kw_only=True, slots=True)
class BranchAndBound(Engine):
    """The most probable states by search, with the bounds of "srmp": exact when it ends.

    Under a time limit it returns the best states so far with a bound on all others. Only `map` and `k_best`
    can be asked. HiGHS helps with small problems: what it proves in floating point is a bound, not `exact`.

    Args:
        seed: of the moves that improve the states meanwhile.

    >>> BranchAndBound(seed=1).seed
    1
    """

    seed: int = 0
    name = "branch-and-bound"
    module = "pgm.inference.engines.branching.prepared"
    answers = ("map", "k_best")
    approximates = True
    takes_soft = False

    def __post_init__(self) -> None:
        """Refuse what is no seed."""
        seeded(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Best(Engine):
    """Whatever gives the tightest answer in some seconds: exact where the plan fits, else several others.

    Where a tree does not fit the memory, but does with some variables conditioned on, that is done.
    A sequence of trees, belief propagation, bounds and importance sampling are asked in turn. Draws tell
    which answer is nearest to the truth, where there are enough; sure bounds hold it wherever they were had
    in the time.

    Args:
        seconds: how long it may take, about.

    >>> Best(seconds=2).seconds
    2
    """

    seconds: float = 10.0
    name = "best"
    module = "pgm.inference.engines.portfolio"
    answers = (*SUMS, "map", "k_best", "marginal MAP", "plan")
    approximates = True

    def __post_init__(self) -> None:
        """Refuse what is no time."""
        number(self, "seconds", 1e-3, math.inf)


@dataclass(frozen=True, kw_only=True, slots=True)
class Auto(Exact):
    """Exact: a tree of cliques; where none fits minimum cuts, or a search within the time limit."""

    module = "pgm.inference.engines.auto"
