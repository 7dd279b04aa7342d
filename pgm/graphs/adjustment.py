"""Which variables to adjust for, so that observations determine the effect of an action.

The adjustment criterion (Shpitser, VanderWeele & Robins 2010) in its constructive form (van der Zander,
Liskiewicz & Textor 2019): no descendants of causal paths, and d-separation once the first arrows of causal
paths are removed. It is complete: a set that it refuses fails for some distribution.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, UnknownVariable, listed, shown
from pgm.graphs import walks
from pgm.graphs.naming import members
from pgm.graphs.separators import Separation
from pgm.graphs.walks import WALKS, Arrows
from pgm.graphs.walks.compiled import Graph
from pgm.printing import ROWS, Tabular, joined
from pgm.runtime.clock import start_clock

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 1_000  # sets that are listed unless more are asked for


class AdjustmentSets(Tabular, list[frozenset[Any]]):
    """The minimal sets to adjust for, the smallest first, or the cheapest: a list that prints as a table.

    `optimal` is the set with the least asymptotic variance (Henckel, Perkovic & Maathuis 2022; with
    hidden variables Smucler, Sapienza & Rotnitzky 2022); it need not be minimal. `optimal_of_all` says
    whether no valid set at all has less variance; if not, that is only so among sets of ancestors of both
    ends, which include all minimal ones: of all sets there may be no best one. `complete` says whether the
    list has all minimal sets; if not, the first is still the smallest of all, or the cheapest.
    """

    def __init__(
        self,
        sets: Iterable[frozenset[Any]] = (),
        arrows: Mapping[Any, tuple[Any, ...]] | None = None,
        ends: tuple[tuple[Any, ...], tuple[Any, ...]] = ((), ()),
        costs: Mapping[Any, float] | None = None,
        optimal: frozenset[Any] | None = None,
        complete: bool = True,
        why: str = "",
        optimal_of_all: bool = True,
    ) -> None:
        """Take the sets, the graph as parents of each node, and both ends of the effect."""
        super().__init__(sets)
        self.arrows = dict(arrows or {})
        self.x, self.y = ends
        self.costs = None if costs is None else dict(costs)
        self.optimal = optimal
        self.optimal_of_all = optimal_of_all
        self.complete = complete
        self.why = why

    def cost(self, some: Collection[Any]) -> float:
        """The cost of a set: the sum of its `costs`, where names without one cost 1.

        Args:
            some: names.

        Raises:
            UnknownVariable: a name that the graph does not have.

        >>> AdjustmentSets([frozenset("ab")], costs={"a": 3}).cost({"a", "b"})
        4.0
        """
        for name in some:
            if self.arrows and name not in self.arrows:
                raise UnknownVariable(name, self.arrows)
        return float(sum((self.costs or {}).get(name, 1.0) for name in some))

    def to_dict(self) -> dict[str, Any]:
        """The sets as lists of names, and what is known about them.

        >>> AdjustmentSets([frozenset(["cloudy"])]).to_dict()["sets"]
        [['cloudy']]
        """
        return {
            "sets": [self._names(some) for some in self],
            "optimal": None if self.optimal is None else self._names(self.optimal),
            "optimal_of_all": self.optimal_of_all,
            "complete": self.complete,
        }

    def to_pandas(self) -> Any:
        """A data frame with a row for each set."""
        import pandas

        return pandas.DataFrame(
            {
                "set": [", ".join(map(str, self._names(some))) for some in self],
                "size": [len(some) for some in self],
                "cost": [self.cost(some) for some in self],
                "optimal": [some == self.optimal for some in self],
            }
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the graph with the causal paths and the first set; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.adjustment(self, ax, figsize=figsize, title=title)

    def _names(self, some: Collection[Any]) -> list[Any]:
        return [name for name in self.arrows if name in some] if self.arrows else sorted(some, key=str)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for some in self[:ROWS]:
            names = self._names(some)
            row = [joined(names, len(names), 80) or "nothing", f"{len(some):,}"]
            if self.costs is not None:
                row.append(f"{self.cost(some):.6g}")
            rows.append(row)
        notes = []
        if len(self) > ROWS:
            notes.append(f"... {len(self) - ROWS:,} more of {len(self):,} sets")
        if not self.complete:
            notes.append(f"there are more: these are {len(self):,}, and the first is the best of all")
        if not self:
            notes.append(self.why)
        if self.optimal is not None:
            names = self._names(self.optimal)
            which = "" if self.optimal_of_all else " among sets of ancestors"
            notes.append(f"least variance{which}: {joined(names, len(names), 80) or 'nothing'}")
        return ["adjust for", "size", *["cost"] * (self.costs is not None)], rows, "\n".join(notes)


@dataclass(frozen=True, eq=False, slots=True)
class Effect:
    """An effect from `x` to `y` along `causal`; nothing in `below` may be adjusted for. Sets are flags."""

    arrows: Arrows
    x: np.ndarray
    y: np.ndarray
    causal: np.ndarray  # on a causal path that leaves x for good
    below: np.ndarray
    back_door: Graph  # without the first arrows of those paths

    @classmethod
    def of(cls, arrows: Arrows, xs: Any, ys: Any) -> Effect:
        """Find the causal paths."""
        x, y = (arrows.flags(members(arrows.index, some)) for some in (xs, ys))
        check_ends(arrows.listed(x), arrows.listed(y))
        tails, heads = walks.pairs(arrows.graph)
        into, out = x[heads] != 0, x[tails] != 0
        down = walks.descendants(walks.without(arrows.graph, into), x)
        up = walks.ancestors(walks.without(arrows.graph, out), y)
        causal = down & up & (1 - x)
        below = walks.descendants(arrows.graph, causal)
        return cls(arrows, x, y, causal, below, walks.without(arrows.graph, out & (causal[heads] != 0)))

    def separates(self, some: np.ndarray) -> bool:
        """Whether a set blocks every path that is not causal."""
        return walks.d_separated(
            self.back_door, np.flatnonzero(self.x), np.flatnonzero(self.y), np.flatnonzero(some)
        )

    def fault(self, some: Collection[Any]) -> str:
        """Why a set is invalid for adjustment; "" if it is valid."""
        flags = self.arrows.flags(some)
        x, y = listed(self.arrows.listed(self.x)), listed(self.arrows.listed(self.y))
        if bad := self.arrows.listed(flags & (self.x | self.y)):
            return f"{listed(bad)} is an end of the effect itself"
        if bad := self.arrows.listed(flags & self.below):
            return f"{listed(bad)} lies on a causal path from {x} to {y}, or below one"
        if not self.separates(flags):
            return f"a path between {x} and {y} that is not causal stays open"
        return ""

    def optimal(self, free: np.ndarray) -> np.ndarray | None:
        """The boundary of y in the ancestors' moral graph, past variables that are not free; None: it has x.

        If all variables are free but those below the causal paths, these are the parents of the causal paths
        (Henckel et al. 2022); else the best set of ancestors (Smucler et al. 2022).
        """
        alive = walks.ancestors(self.back_door, self.x | self.y)
        met = np.zeros_like(self.x)
        WALKS.component(self.back_door, alive, self.y.copy(), free | self.x, met)
        return None if (met & self.x).any() else met


def adjustment_sets(
    arrows: Arrows,
    xs: Any,
    ys: Any,
    *,
    hidden: Collection[Any] = (),
    costs: Mapping[Any, float] | None = None,
    limit: int = MOST,
) -> AdjustmentSets:
    """Return the minimal sets to adjust for, the smallest first, or the cheapest.

    Args:
        arrows: the graph.
        xs: the treatments: a name or several.
        ys: the outcomes.
        hidden: unobserved variables, which are in no set.
        costs: of observing each variable; 1 for those left out.
        limit: the largest number of sets to list.

    >>> graph = Arrows.of({"z": (), "x": ("z",), "y": ("x", "z")})
    >>> adjustment_sets(graph, "x", "y")
    adjust for  size
    z           1
    least variance: z
    """
    effect = Effect.of(arrows, xs, ys)
    unseen = arrows.flags(members(arrows.index, hidden))
    return sets_of(effect, unseen, costs, limit)


def sets_of(
    effect: Effect, unseen: np.ndarray, costs: Mapping[Any, float] | None, limit: int
) -> AdjustmentSets:
    """The minimal sets for an effect; what is marked `unseen` is in none."""
    arrows = effect.arrows
    x, y = arrows.listed(effect.x), arrows.listed(effect.y)
    if bad := arrows.listed(unseen & (effect.x | effect.y)):
        raise InvalidArgument(f"{listed(bad)} is hidden: it can be neither acted on nor observed.")
    weights = np.array([_costs(costs, arrows).get(name, 1.0) for name in arrows.names])
    if type(limit) is not int or limit < 1:
        raise InvalidArgument(f"limit= is the largest number of sets to list, not {shown(limit)}.")
    free = (1 - unseen) & (1 - effect.below) & (1 - (effect.x | effect.y))
    problem = Separation.of(effect.back_door, effect.x, effect.y, free)
    found = list(islice(problem.every(weights, start_clock()), limit + 1))
    complete = len(found) <= limit
    if not complete:
        best = problem.cheapest(weights)
        assert best is not None
        found = [best, *(some for some in found if not np.array_equal(some, best))][:limit]
    found.sort(
        key=lambda some: (float(weights[some != 0].sum()), int(some.sum()), (-some.astype(int)).tolist())
    )
    optimal = effect.optimal(problem.free) if effect.causal.any() and found else None
    hidden_above = (unseen & problem.alive).any() and (free & (1 - problem.alive)).any()
    parents = {
        name: tuple(arrows.names[u] for u in arrows.graph.parents[slice(*arrows.graph.parents_at[v : v + 2])])
        for v, name in enumerate(arrows.names)
    }
    return AdjustmentSets(
        [frozenset(arrows.listed(some)) for some in found],
        parents,
        (x, y),
        costs,
        None if optimal is None else frozenset(arrows.listed(optimal)),
        complete,
        "" if found else _why(effect, unseen),
        not hidden_above,
    )


def _why(effect: Effect, unseen: np.ndarray) -> str:
    """Why no set is valid, and what to try."""
    x, y = listed(effect.arrows.listed(effect.x)), listed(effect.arrows.listed(effect.y))
    tails, heads = walks.pairs(effect.back_door)
    if any(effect.y[u] and effect.x[v] for u, v in zip(tails.tolist(), heads.tolist(), strict=True)):
        return f"no set will do: an arrow leads from {y} to {x}"
    if unseen.any():
        return (
            f"no set will do: a path between {x} and {y} cannot be blocked by what is observed; see identify"
        )
    return f"no set will do: a path between {x} and {y} cannot be blocked; see identify"


def check_ends(x: Collection[Any], y: Collection[Any]) -> None:
    """Raise unless both ends of an effect have names, none in common."""
    if not x or not y:
        raise InvalidArgument("An effect leads from one or several variables to others: one end is empty.")
    if both := [name for name in x if name in y]:
        raise InvalidArgument(f"{listed(both)} cannot be both what is acted on and what it influences.")


def _costs(costs: Any, arrows: Arrows) -> Mapping[Any, float]:
    if costs is None:
        return {}
    if not isinstance(costs, Mapping):
        raise InvalidArgument(f"costs= is a dict {{name: number}}, not {shown(costs)}.")
    for name, cost in costs.items():
        if name not in arrows.index:
            raise UnknownVariable(name, arrows.names, where="costs=")
        if not isinstance(cost, int | float) or isinstance(cost, bool) or not 0.0 <= cost < math.inf:
            raise InvalidArgument(f"costs= of {name!r} is a number, at least 0, not {shown(cost)}.")
    return costs
