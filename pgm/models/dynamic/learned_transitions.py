"""Learning the structure of dynamic networks: what depends on what, within a step and on earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guard_methods, guarded
from pgm.errors import InvalidArgument, InvalidFrame, listed, shown
from pgm.frames import names_of, observations
from pgm.frames.sequences import sequences
from pgm.learning.scores import Score
from pgm.learning.searches import Search
from pgm.results.base import Frozen

from ..learned import LearnedStructure, learn_structure
from .dynamic_bayesian_network import DynamicBayesianNetwork
from .network_rows import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LearnedTransitions(Frozen):
    """A dynamic Bayesian network learned from sequences.

    `network` is the fitted `DynamicBayesianNetwork`, `structure` the result of the search, with nodes such as
    "rain" and "rain[-1]".
    """

    network: DynamicBayesianNetwork
    structure: LearnedStructure

    def __init__(self, network: DynamicBayesianNetwork, structure: LearnedStructure) -> None:
        """Take both."""
        self.__dict__.update(network=network, structure=structure)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle everything."""
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore everything."""
        self.__dict__.update(state)

    def to_dict(self) -> dict[str, Any]:
        """Return what the search found, as plain Python objects."""
        return self.structure.to_dict()

    def to_pandas(self) -> Any:
        """Return a data frame with a row for each arc, those from earlier steps included."""
        return self.structure.to_pandas()

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the step and what it looks back to, and how the score grew; returns the Axes.

        Args:
            ax: axes to draw on, the network alone; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        return self.structure.plot(ax, figsize=figsize, title=title)

    def __repr__(self) -> str:
        """What the search found."""
        return repr(self.structure)

    def _repr_html_(self) -> str:
        return self.structure._repr_html_()


@guarded
def learn_transitions(
    frame: Any,
    *,
    sequence: str | None = None,
    lengths: Sequence[int] | None = None,
    lag: int = 1,
    score: str | Score | None = None,
    search: str | Search = "tabu",
    max_parents: int | Mapping[str, int] | None = None,
    require: Iterable[tuple[str, str]] = (),
    forbid: Iterable[tuple[str, str]] = (),
    seed: int | np.random.Generator | None = None,
    states: Mapping[str, Any] | None = None,
) -> LearnedTransitions:
    """Learn the arrows of a dynamic Bayesian network, within a step and from earlier ones, and fit it.

    Every step that has enough steps before it is a row; parents are sought among the variables of the same
    step and, as "rain[-1]", of earlier ones. No arrow points back in time.

    Args:
        frame: a data frame or dict of columns of states, one row for each step, without gaps; or a list of
            these, one for each sequence; or what `sample` of a dynamic network draws.
        sequence: the column that says which sequence a row belongs to.
        lengths: how many steps each sequence has, if all are concatenated.
        lag: how many steps back a parent may lie.
        score: as for `learn_structure`.
        search: as for `learn_structure`.
        max_parents: as for `learn_structure`.
        require: arcs such as ("rain[-1]", "rain") that the network must have.
        forbid: arcs that it must not have.
        seed: for everything random.
        states: {name: states in order} for columns whose states are not to be taken from the data.

    Raises:
        InvalidFrame: gaps, continuous columns, or sequences that are all too short.
        InvalidStructure: constraints that contradict each other.
        InvalidArgument: an option out of range.

    >>> import pgm
    >>> dbn = pgm.DynamicBayesianNetwork()
    >>> dbn.add("rain", {True: 0.8, False: 0.2}, parents=["rain[-1]"], initial=0.5)
    >>> dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    >>> found = pgm.learn_transitions(dbn.sample(500, seed=0))
    >>> "rain[-1]" in found.structure.network.parents("rain"), found.network.lag
    (True, 1)
    """
    if isinstance(lag, bool) or not isinstance(lag, int | np.integer) or lag < 1:
        raise InvalidArgument(f"lag= is a whole number of at least 1, not {shown(lag)}.")
    if sequence is not None and lengths is not None:
        raise InvalidArgument("sequence= and lengths= say the same thing in two ways: leave one of them out.")
    frame = plain(frame)
    if isinstance(frame, list):
        read_apart = sequences(frame, vector=True, lengths=lengths, sequence=sequence)
        if not isinstance(read_apart.rows, dict):
            raise InvalidFrame(
                "Sequences are data frames or dicts of columns: steps of variables with names."
            )
        frame, lengths, sequence = read_apart.rows, read_apart.lengths.tolist(), None
    names = [name for name in names_of(frame) if isinstance(name, str) and name != sequence]
    read = observations(frame, states=states, names=names)
    if read.values:
        raise InvalidFrame(
            f"The columns {listed(list(read.values))} are continuous; transitions are learned between states."
        )
    gaps = [name for name, codes in read.codes.items() if (codes < 0).any()]
    if gaps:
        raise InvalidFrame(f"Cells are missing in the columns {listed(gaps)}: each step needs all values.")
    order, sizes = _sequences(frame, sequence, lengths, read.n_rows)
    starts = np.cumsum([0, *sizes]).tolist()
    now = np.array([t for a, b in pairwise(starts) for t in range(a + lag, b)], np.int64)
    if not now.size:
        raise InvalidFrame(f"No sequence has more than lag={lag} steps: nothing shows a transition.")
    whole = {name: read.variables[name].domain.array[codes[order]] for name, codes in read.codes.items()}
    rows, of_rows, back = {}, {}, []
    for k in range(lag + 1):
        for name, column in whole.items():
            called = name if k == 0 else f"{name}[-{k}]"
            rows[called] = column[now - k]
            of_rows[called] = list(read.variables[name].states)
            if k:
                back.append(called)
    structure = learn_structure(
        rows,
        score=score,
        search=search,
        max_parents=max_parents,
        require=require,
        forbid=[*forbid, *((a, b) for b in back for a in rows if a != b)],
        seed=seed,
        states=of_rows,
    )
    return LearnedTransitions(_fitted(structure, read.variables, whole, sizes, lag), structure)


def _sequences(
    frame: Any, sequence: str | None, lengths: Sequence[int] | None, n_rows: int
) -> tuple[np.ndarray, list[int]]:
    """The order of rows, sequence by sequence, and the length of each."""
    if sequence is not None:
        keys = observations(frame, names=[sequence]).codes.get(sequence)
        if keys is None:
            raise InvalidFrame(f"The column {shown(sequence)} is continuous: it cannot tell sequences apart.")
        _, first = np.unique(keys, return_index=True)
        rank = np.argsort(np.argsort(first))
        order = np.argsort(rank[np.searchsorted(np.unique(keys), keys)], kind="stable")
        return order, np.bincount(rank[np.searchsorted(np.unique(keys), keys)]).tolist()
    sizes = [n_rows] if lengths is None else [int(size) for size in lengths]
    if sum(sizes) != n_rows or min(sizes, default=0) < 1:
        raise InvalidArgument(f"lengths= adds up to {sum(sizes):,}, but the frame has {n_rows:,} rows.")
    return np.arange(n_rows), sizes


def _fitted(
    structure: LearnedStructure,
    variables: Mapping[str, Any],
    whole: Mapping[str, np.ndarray],
    sizes: list[int],
    lag: int,
) -> DynamicBayesianNetwork:
    """The dynamic network with these arrows, fitted to the whole sequences."""
    net = structure.network
    made = DynamicBayesianNetwork(net.name)
    for name in [node for node in net.topological_order() if node in variables]:
        parents, card = net.parents(name), variables[name].card
        found = [_named(parent, variables) for parent in parents]
        tables = []  # of step 0, of step 1, ..., and of all later ones
        for behind in [*range(max((k for _, k in found), default=0)), lag]:
            shape = [variables[parent].card for parent, k in found if k <= behind]
            tables.append(np.full([*shape, card], 1.0 / card))
        *first, always = tables
        initial = None if not first else first[0] if len(first) == 1 else first
        made.add(name, always, parents=parents, states=list(variables[name].states), initial=initial)
    return made.fit(dict(whole), lengths=sizes)


def _named(parent: str, variables: Mapping[str, Any]) -> tuple[str, int]:
    """The variable that a parent names, and how many steps back."""
    if parent in variables:
        return parent, 0
    name, _, back = parent[:-1].rpartition("[-")
    return name, int(back)


guard_methods([LearnedTransitions])
