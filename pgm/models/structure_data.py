"""Data frames as input of structure learning, and the score of a given structure on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import InvalidArgument, InvalidFrame, listed, shown
from pgm.frames import columns, hold, names_of, observations, weights_of
from pgm.frames.lazily import EngineRows
from pgm.frames.undeclared import Observations
from pgm.learning.counts.asked import AskedCounts
from pgm.learning.scores import Score, find_score
from pgm.learning.searching.constraints import Constraints, constraints
from pgm.learning.searching.problem import StructureProblem
from pgm.printing import ROWS, Tabular, label
from pgm.results.base import Frozen, pandas, put
from pgm.runtime.clock import Clock, start_clock
from pgm.variables import Variable

from .bayesian_network import BayesianNetwork

Arc = tuple[str, str]


@dataclass(frozen=True)
class ColumnsOfNodes:
    """Columns of a frame, in its order."""

    variables: Mapping[str, Variable]
    data: Mapping[str, np.ndarray]
    weights: np.ndarray | None
    given: int | None = None  # how many rows there were before equal ones were counted once
    engine: EngineRows | None = None  # which holds the rows; `data` then has the values only

    def impossible(self, hidden: Iterable[str] = ()) -> list[Arc]:
        """Arcs that the kinds of the columns forbid: no table is fitted given a continuous parent."""
        real = [name for name, variable in self.variables.items() if variable.continuous]
        states = [name for name, variable in self.variables.items() if not variable.continuous]
        return [(a, b) for a in real for b in (*states, *hidden)]

    def problem(
        self, score: Score, known: Constraints, clock: Clock, rng: np.random.Generator
    ) -> StructureProblem:
        """The columns in the order of their names."""
        names = known.names
        return StructureProblem(
            tuple(self.variables[name] for name in names),
            tuple(self.data[name] for name in names),
            self.weights,
            score,
            known,
            clock,
            rng,
            self.given,
            self._asked(names),
        )

    def _asked(self, names: Sequence[str]) -> AskedCounts | None:
        """Counts of any few columns, by their indices in these names, from the engine."""
        engine = self.engine
        if engine is None:
            return None
        cards = [self.variables[name].card for name in names]

        def group(places: Sequence[int]) -> tuple[list[np.ndarray], np.ndarray]:
            wanted = [names[i] for i in places]
            found = engine.grouped(wanted)
            read = columns(found.frame, {name: self.variables[name] for name in wanted}, numbered=False)
            return [read.codes[name] for name in wanted], found.weights

        total = float(group([0])[1].sum())
        return AskedCounts(cards, group, total, engine.n_rows)


def read_columns(
    frame: Any,
    weights: Any = None,
    *,
    columns: str | Iterable[str] | None = None,
    states: Mapping[str, Any] | None = None,
    continuous: str | Iterable[str] = (),
    declared: Mapping[str, Variable] | None = None,
    check: Callable[[], None] = lambda: None,
    asking: bool = False,
) -> ColumnsOfNodes:
    """Read the columns of a frame, and the weights of its rows: a list, or the name of a column.

    With `asking` rows that do not fit the memory may stay in their engine.
    """
    if columns is not None and not isinstance(columns, Iterable):
        raise InvalidArgument(f"columns= lists names of columns, not {shown(columns)}.")
    wanted = None if columns is None else [columns] if isinstance(columns, str) else list(columns)
    held = hold(frame, wanted, weights, check=check, asking=asking)
    frame, weights = held.frame, held.weights
    if isinstance(weights, str) and wanted is None:
        wanted = [name for name in names_of(frame) if isinstance(name, str) and name != weights]
    read = observations(
        frame,
        states=states,
        continuous=continuous,
        names=wanted,
        declared=declared,
        check=check,
        numbered=held.n_rows is None,
    )
    if not read.variables:
        raise InvalidFrame("The frame has no columns.")
    if not read.n_rows:
        raise InvalidFrame("The frame has no rows: there is nothing to learn from.")
    if held.engine is not None:
        return _in_engine(read, held.engine)
    shares = _weights(weights, read.n_rows, frame)
    return ColumnsOfNodes(read.variables, {**read.codes, **read.values}, shares, held.n_rows)


def _in_engine(read: Observations, engine: EngineRows) -> ColumnsOfNodes:
    """The values of columns whose rows stay in their engine."""
    if real := [name for name, v in read.variables.items() if v.continuous]:
        raise InvalidFrame(
            f"{listed(real)}: these {engine.n_rows:,} rows do not fit the memory limit, and of continuous "
            "columns the "
            "engine makes no counts. Cut them into states in the query, take a sample, or allow more memory."
        )
    if holes := [name for name, column in read.codes.items() if (column < 0).any()]:
        raise InvalidFrame(
            f"Cells are missing in the columns {listed(holes)}, and these {engine.n_rows:,} rows do not fit "
            "the memory limit, so that only counts of complete rows can be asked for: leave those rows out "
            "in the query."
        )
    return ColumnsOfNodes(read.variables, read.codes, None, engine.n_rows, engine)


def _weights(weights: Any, n_rows: int, frame: Any) -> np.ndarray | None:
    if weights is None:
        return None
    found = weights_of(weights, n_rows, frame)
    if not found.any():
        raise InvalidArgument("weights= are all 0: there is nothing to learn from.")
    return found


class ArcStrengths(Frozen, Tabular, Mapping[Arc, float]):
    """How much the score of a network would drop without each of its arcs, the strongest first.

    A mapping from arcs (parent, child) to floats; negative where the network would score higher without.
    """

    __slots__ = ("_strengths", "score")
    _strengths: dict[Arc, float]
    score: Score

    def __init__(self, strengths: Mapping[Arc, float], score: Score) -> None:
        """Take the differences, and the score."""
        put(self, "_strengths", dict(sorted(strengths.items(), key=lambda item: -item[1])))
        put(self, "score", score)

    def __getitem__(self, arc: Arc) -> float:
        """The strength of one arc."""
        return self._strengths[arc]

    def __iter__(self) -> Iterator[Arc]:
        """The arcs, the strongest first."""
        return iter(self._strengths)

    def __len__(self) -> int:
        """The number of arcs."""
        return len(self._strengths)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return ArcStrengths, (self._strengths, self.score)

    def to_dict(self) -> dict[Arc, float]:
        """{arc: strength}."""
        return dict(self._strengths)

    def to_pandas(self) -> Any:
        """A data frame with a row for each arc."""
        rows = [(a, b, strength) for (a, b), strength in self._strengths.items()]
        return pandas().DataFrame(rows, columns=["parent", "child", "strength"])

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[f"{label(a)} -> {label(b)}", f"{s:,.3f}"] for (a, b), s in list(self.items())[:ROWS]]
        more = len(self) - len(rows)
        return ["arc", self.score.name], rows, f"... {more:,} more of {len(self):,} arcs" if more else ""


@guarded
def structure_score(
    net: BayesianNetwork, frame: Any, score: str | Score = "bic", *, weights: Any = None
) -> float:
    """Score the arrows of a network on a data frame; its tables do not matter.

    Args:
        net: the network. Columns of its variables are read with their states, others are inferred.
        frame: data with a column for each node; others are not read.
        score: as for `learn_structure`.
        weights: how much each row counts: a column's name, or an array.

    Raises:
        UnknownVariable: a node without a column.
        InvalidFrame: no rows, or missing cells.

    >>> import pgm
    >>> rows = {"rain": [1, 1, 0, 0], "wet": [1, 1, 0, 0]}
    >>> net = pgm.BayesianNetwork(edges="rain -> wet")
    >>> round(pgm.structure_score(net, rows, "log-likelihood"), 6)  # 4 log(1/2)
    -2.772589
    """
    problem, parents = _on(net, frame, score, weights)
    return problem.families().total(parents)


@guarded
def arc_strength(
    net: BayesianNetwork, frame: Any, score: str | Score = "bic", *, weights: Any = None
) -> ArcStrengths:
    """Return, for each arc of a network, how much the score on a data frame would drop without it.

    Args:
        net: the network; its tables do not matter.
        frame: data with a column for each node; others are not read.
        score: as for `learn_structure`.
        weights: how much each row counts: a column's name, or an array.

    Raises:
        UnknownVariable: a node without a column.
        InvalidFrame: no rows, or missing cells.

    >>> import pgm
    >>> rows = {"rain": [1, 1, 0, 0], "wet": [1, 1, 0, 0]}
    >>> pgm.arc_strength(pgm.BayesianNetwork(edges="rain -> wet"), rows, "log-likelihood")
    arc          log-likelihood
    rain -> wet  2.773
    """
    problem, parents = _on(net, frame, score, weights)
    families, names = problem.families(), problem.names
    strengths = {}
    for v, those in enumerate(parents):
        for u in those:
            without = [w for w in those if w != u]
            strengths[names[u], names[v]] = families.score(v, those) - families.score(v, without)
    return ArcStrengths(strengths, problem.score)


def _on(
    net: BayesianNetwork, frame: Any, score: str | Score, weights: Any
) -> tuple[StructureProblem, list[tuple[int, ...]]]:
    if not isinstance(net, BayesianNetwork):
        raise InvalidArgument(f"A structure is that of a BayesianNetwork, not of {shown(net)}.")
    clock = start_clock()
    read = read_columns(
        frame, weights, columns=net.nodes, declared=net.variables, check=clock.check, asking=True
    )
    names = sorted(read.variables)
    place = {name: i for i, name in enumerate(names)}
    problem = read.problem(find_score(score), constraints(names), clock, np.random.default_rng(0))
    return problem, [tuple(sorted(place[p] for p in net.parents(name))) for name in names]
