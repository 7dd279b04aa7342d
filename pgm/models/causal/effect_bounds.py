"""Bounds on an effect that is not identifiable (Balke & Pearl 1997).

The nodes that share hidden causes with the treatment respond to their parents by functions of unknown
probabilities. The effect is linear in these, and so is everything that is observed: its extremes are linear
programs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.errors import InvalidArgument, InvalidFrame, NotIdentifiable, listed, shown
from pgm.graphs import identification
from pgm.graphs.mixed import MixedGraph, each
from pgm.printing import Share, Tabular, label
from pgm.results.base import Frozen, condition, pandas, put
from pgm.runtime.clock import Clock, start_clock

from .evaluation import FrameSource, NetworkSource, Source, evaluate, spread
from .graph import values_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .graph import CausalGraph

MOST_RESPONSES = 4_096  # columns of a linear program
_NOISE = 1e-7  # the error that a linear program leaves


class EffectBounds(Frozen, Tabular, Mapping[Any, tuple[float, float]]):
    """The least and the most that each P(y | do(x)) can be: {state: (least, most)}.

    For several y the keys are tuples of states. `sharp` says whether each is reached by some model of the
    graph with the same data; if not, they still hold. Where the effect is identifiable both are its value,
    and `identified` is True.
    """

    __slots__ = ("_ends", "do", "exact", "given", "identified", "names", "sharp")
    names: tuple[str, ...]
    do: dict[str, Any]
    given: dict[str, Any]
    identified: bool
    sharp: bool
    exact: bool  # from a network, not estimated from rows
    _ends: dict[Any, tuple[float, float]]

    def __init__(self, **parts: Any) -> None:
        """Take what was found."""
        for name in EffectBounds.__slots__:
            put(self, name, parts[name])

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return _again, ({name: getattr(self, name) for name in EffectBounds.__slots__},)

    def __getitem__(self, key: Any) -> tuple[float, float]:
        return self._ends[key]

    def __iter__(self) -> Any:
        return iter(self._ends)

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def question(self) -> str:
        """What they are bounds of: P(y | do(x=...), given)."""
        done = ", ".join(f"{label(name)}={label(state)}" for name, state in self.do.items())
        known = f", {condition(self.given)}" if self.given else ""
        return f"P({', '.join(map(label, self.names))} | do({done}){known})"

    def to_dict(self) -> dict[Any, tuple[float, float]]:
        """{state: (least, most)}."""
        return dict(self._ends)

    def to_pandas(self) -> Any:
        """A data frame with a row for each state."""
        rows = [(state, low, high) for state, (low, high) in self._ends.items()]
        return pandas().DataFrame(rows, columns=["state", "least", "most"])

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the interval of each state; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title; the question if left out.
        """
        from pgm import plot

        named = {self._text(state): ends for state, ends in self._ends.items()}
        return plot.between(named, self.question, ax, figsize=figsize, title=title)

    def _text(self, state: Any) -> str:
        return ", ".join(map(label, state)) if len(self.names) > 1 else label(state)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[self._text(state), Share(low), Share(high)] for state, (low, high) in self._ends.items()]
        how = (
            "identifiable: the value itself"
            if self.identified
            else "sharp bounds"
            if self.sharp
            else "bounds"
        )
        from_rows = "" if self.exact else ", from shares of rows"
        return (
            [", ".join(map(label, self.names)), "least", "most"],
            rows,
            f"{self.question}\n{how}{from_rows}",
        )


def _again(parts: dict[str, Any]) -> EffectBounds:
    return EffectBounds(**parts)


def effect_bounds(graph: CausalGraph, source: Any, y: Any, do: Any, given: Any) -> EffectBounds:
    """See `CausalGraph.bounds`."""
    ys = graph._some(y, least=1)
    done, known = values_of(do, "do="), values_of(given, "given=")
    for what, passed, states in (("do=", do, done), ("given=", given, known)):
        if passed and not states:
            raise InvalidArgument(f"{what} is a dict {{name: state}} for bounds, not {shown(passed)}.")
    if not done:
        raise InvalidArgument("do= is empty: `query` asks for what is seen.")
    xs, zs = graph._some(list(done)), graph._some(list(known))
    on_network = hasattr(source, "query") and hasattr(source, "parents")
    parts: dict[str, Any] = {"names": ys, "do": done, "given": known, "exact": on_network}
    try:
        found = graph.identify(ys, do=done, given=known)
    except NotIdentifiable:
        pass
    else:
        values = np.asarray(found.evaluate(source).values)
        return _made(parts, found_states(source, ys), values, values, identified=True, sharp=True)
    mixed = graph._mixed
    y_set, x_set, z_set = map(mixed.set_of, (ys, xs, zs))
    above = mixed.ancestors(y_set | x_set | z_set, mixed.everything)
    names = mixed.named(above)
    if reached := [name for name in zs if mixed.ancestors(mixed.set_of([name]), mixed.everything) & x_set]:
        raise InvalidArgument(
            f"{listed(reached)} is influenced by what is done, and bounds can only be given what is not. Ask "
            f"for the joint distribution, y={[*ys, *reached]}."
        )
    found_in: Any = NetworkSource(source, names) if on_network else FrameSource(source, names)
    codes = {name: found_in.variables[name].code(state) for name, state in (done | known).items()}
    low, high, sharp = _ends(mixed, found_in, ys, xs, zs, codes)
    return _made(parts, found_in.variables, low, high, identified=False, sharp=sharp)


def found_states(source: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """The variables of a source."""
    if hasattr(source, "query"):
        variables: Mapping[str, Any] = source.variables
        return variables
    return FrameSource(source, names).variables


def _made(
    parts: dict[str, Any], variables: Mapping[str, Any], low: Any, high: Any, **more: Any
) -> EffectBounds:
    names = parts["names"]
    every = list(product(*(variables[name].states for name in names)))
    keys = every if len(names) > 1 else [states[0] for states in every]
    ends = zip(low.ravel().tolist(), high.ravel().tolist(), strict=True)
    return EffectBounds(_ends=dict(zip(keys, ends, strict=True)), **parts, **more)


def _ends(
    mixed: MixedGraph,
    source: Source,
    ys: Sequence[str],
    xs: Sequence[str],
    zs: Sequence[str],
    codes: Mapping[str, int],
) -> tuple[np.ndarray, np.ndarray, bool]:
    """The least and the most probability of each state of y, and whether they are sharp."""
    clock = start_clock()
    y_set, x_set, z_set = map(mixed.set_of, (ys, xs, zs))
    above = mixed.ancestors(y_set | z_set, mixed.everything)
    homes = [part for part in mixed.districts(above) if part & x_set]
    known = float(_chosen(source, zs, codes)) if zs else 1.0
    if known <= 0.0:
        low = np.zeros([source.variables[name].card for name in ys])
        return low, low + 1.0, True
    if len(homes) == 1:
        responses = _Responses(mixed, source, above, homes[0])
        if responses.columns <= MOST_RESPONSES:
            low, high = responses.extremes(ys, zs, codes, clock)
            every = list(each(homes[0]))
            joined = all(mixed.beside[v] >> u & 1 for i, v in enumerate(every) for u in every[:i])
            return np.clip(low / known, 0.0, 1.0), np.clip(high / known, 0.0, 1.0), joined
    seen = np.asarray(_chosen(source, [*xs, *zs], codes)) / known
    both = np.asarray(_chosen(source, [*xs, *zs], codes, ys)) / known
    return both, np.minimum(both + 1.0 - seen, 1.0), False


def _chosen(source: Source, fixed: Sequence[str], codes: Mapping[str, int], free: Sequence[str] = ()) -> Any:
    table = source.joint((*fixed, *free))
    return table[tuple(codes[name] for name in fixed)]


class _Responses:
    """All combinations of response functions of the nodes of one district, and what each implies.

    Args:
        mixed: the graph.
        source: of probabilities.
        above: the vertices that matter.
        home: the district.
    """

    def __init__(self, mixed: MixedGraph, source: Source, above: int, home: int) -> None:
        self.mixed, self.source, self.above, self.home = mixed, source, above, home
        self.inside = [v for v in mixed.order if home >> v & 1]
        self.cards = {v: source.variables[mixed.names[v]].card for v in each(above)}
        self.counts = [self.cards[v] ** self._rows(v) for v in self.inside]

    def _rows(self, v: int) -> int:
        return math.prod(self.cards[u] for u in each(self.mixed.parents[v]))

    @property
    def columns(self) -> int:
        """How many combinations of response functions there are."""
        return math.prod(self.counts)

    def _run(self, outside: Sequence[int], do: Mapping[int, int]) -> tuple[dict[int, np.ndarray], int]:
        """The state of each vertex by combination of functions (rows) and states outside (columns)."""
        sizes = [self.cards[v] for v in outside]
        width = math.prod(sizes)
        check_cells([self.columns, width], "The table of responses", "use variables with fewer states")
        states: dict[int, np.ndarray] = {}
        for v, codes in zip(outside, np.unravel_index(np.arange(width), sizes or [1]), strict=False):
            states[v] = np.broadcast_to(codes, (self.columns, width))
        ways = np.unravel_index(np.arange(self.columns), self.counts)
        for v, way in zip(self.inside, ways, strict=True):
            if v in do:
                states[v] = np.full((self.columns, width), do[v])
                continue
            row = np.zeros((self.columns, width), np.int64)
            for u in each(self.mixed.parents[v]):
                row = row * self.cards[u] + states[u]
            states[v] = way[:, None] // self.cards[v] ** row % self.cards[v]
        return states, width

    def _factor(self, part: int) -> tuple[tuple[int, ...], np.ndarray]:
        """Q[district] as a table with an axis for each vertex that it depends on."""
        mixed = self.mixed
        found = evaluate(identification.district(mixed, part, self.above), self.source)
        names = tuple(mixed.names[v] for v in mixed.order if mixed.names[v] in found.names)
        return tuple(mixed.index[name] for name in names), spread(found, names)

    def extremes(
        self, ys: Sequence[str], zs: Sequence[str], codes: Mapping[str, int], clock: Clock
    ) -> tuple[np.ndarray, np.ndarray]:
        """The least and the most P(y, z | do(x)) for each y, by linear programs."""
        from scipy.optimize import linprog

        mixed = self.mixed
        number, fixed = mixed.index, {mixed.index[name]: code for name, code in codes.items()}
        do = {v: code for v, code in fixed.items() if mixed.names[v] not in zs}
        equal, seen = self._seen()
        outside = [v for v in mixed.order if self.above >> v & 1 and not self.home >> v & 1]
        states, width = self._run(outside, do)
        weight = np.ones((self.columns, width))
        for part in mixed.districts(self.above):
            if part == self.home:
                continue
            scope, table = self._factor(part)
            weight = weight * np.nan_to_num(table[tuple(states[v] for v in scope)])
        for v in outside:  # actions are all inside the district, but evidence may be outside
            if v in fixed:
                weight = weight * (states[v] == fixed[v])
        for name in zs:
            if self.home >> number[name] & 1:
                weight = weight * (states[number[name]] == codes[name])
        shape = [self.source.variables[name].card for name in ys]
        low, high = np.empty(shape), np.empty(shape)
        for at in np.ndindex(*shape):
            clock.check("bounding an effect")
            mine = np.ones((self.columns, width), bool)
            for name, code in zip(ys, at, strict=True):
                mine &= states[number[name]] == code
            gain = (weight * mine).sum(axis=1)
            for sign, ends in ((1.0, low), (-1.0, high)):
                found = linprog(sign * gain, A_eq=equal, b_eq=seen, bounds=(0.0, None), method="highs")
                if found.status == 2:
                    raise InvalidFrame(
                        "No model of this graph has these frequencies: they break a constraint that it "
                        "implies (such as the instrumental inequality). The rows are too few, or the graph "
                        "is wrong."
                    )
                assert found.status == 0, found.message
                ends[at] = sign * float(found.fun or 0.0)
        return low, high

    def _seen(self) -> tuple[np.ndarray, np.ndarray]:
        """The equations A q = b that the observed distribution sets for the column probabilities q."""
        mixed = self.mixed
        scope, table = self._factor(self.home)
        outside = [v for v in scope if not self.home >> v & 1]
        parents = 0
        for v in self.inside:
            parents |= mixed.parents[v]
        outside += [v for v in each(parents & ~self.home) if v not in outside]
        states, width = self._run(outside, {})
        sizes = [self.cards[v] for v in self.inside]
        shown_ = np.zeros((self.columns, width), np.int64)
        for v in self.inside:
            shown_ = shown_ * self.cards[v] + states[v]
        cells = math.prod(sizes)
        rows, wanted = [np.ones(self.columns)], [1.0]
        for column in range(width):
            inside = np.unravel_index(np.arange(cells), sizes)
            at = dict(zip(self.inside, inside, strict=True))
            at |= {v: np.full(cells, states[v][0, column]) for v in outside}
            shares = table[tuple(at[v] for v in scope)]
            if np.isnan(shares).any():
                continue  # these states of the parents never occur
            for cell in range(cells - 1):
                rows.append((shown_[:, column] == cell).astype(float))
                wanted.append(float(shares[cell]))
        return np.array(rows), np.array(wanted)
