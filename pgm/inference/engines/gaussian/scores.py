"""Distributions with continuous parents that are not linear Gaussian: are these parents observed?

If they are, the distribution is a table or a normal density, and everything is exact. If they are hidden, and
the question or the evidence depends on the child, there is no exact answer: see quadrature.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from pgm.errors import InvalidArgument, listed
from pgm.evidence import Observed
from pgm.factors import Dense, Factor, Linking, RowTable
from pgm.factors.row_table import configurations
from pgm.factors.score import table_of
from pgm.inference.engines.exact.posterior import draw_forward
from pgm.inference.engines.gaussian import own_densities
from pgm.inference.program import compile_program
from pgm.inference.program.continuous import collect
from pgm.inference.trees import TreeCache
from pgm.runtime.running import GAUSSIAN, run
from pgm.variables import Interval, as_float

if TYPE_CHECKING:
    from pgm.inference.engines.gaussian.hybrid import HybridPosterior
    from pgm.inference.engines.model_snapshot import Linked, ModelSnapshot


@dataclass(frozen=True, eq=False, slots=True)
class Open:
    """A discrete variable that matters, with hidden continuous parents."""

    score: Linking
    values: np.ndarray  # of the continuous parents, where they are known
    free: np.ndarray  # bool: which of them are hidden and make a difference
    hidden: np.ndarray  # the indices of those
    offset: np.ndarray  # the known part of the scores, (states of the discrete parents..., states)
    weights: np.ndarray  # (hidden, scores): a score for each state; not linear: 0, then the variables
    informed: bool  # there is evidence on the child, or on its descendants

    @classmethod
    def of(
        cls, score: Linking, values: np.ndarray, free: np.ndarray, hidden: np.ndarray, informed: bool
    ) -> Open:
        """The distribution at these values of the known continuous parents."""
        if isinstance(score, RowTable):
            count = int(free.sum())
            offset, weights = np.zeros((*score.cards, score.card)), np.eye(count, count + 1, 1)
        else:
            offset, weights = score.known(values, free), score.weights[free]
        return cls(score, values, free, hidden, offset, weights, informed)

    def table(self, scores: np.ndarray, scope: Sequence[int]) -> Dense:
        """P(child | discrete parents, points of a grid), from the hidden part of the scores at these points.

        Args:
            scores: (points on an axis ..., scores).
            scope: positions of the discrete parents, the axes, the child.
        """
        card = self.offset.shape[-1]
        if isinstance(self.score, RowTable):
            hidden = scores.reshape(-1, scores.shape[-1])[:, 1:]
            score = self.score
            rows = configurations(score.discrete, score.cards, {}, len(hidden) * (score.scope.size + card))
            values = np.tile(self.values, (len(rows) * len(hidden), 1))
            values[:, self.free] = np.tile(hidden, (len(rows), 1))
            found = self.score.rows(np.repeat(rows, len(hidden), axis=0), values)
            shape = (*self.offset.shape[:-1], *scores.shape[:-1], card)
            return Dense(np.array([scope], np.int64), found.reshape(shape), 1)
        ones = [1] * (scores.ndim - 1)
        return table_of(scope, self.offset.reshape(*self.offset.shape[:-1], *ones, card) + scores)


@dataclass(frozen=True, eq=False, slots=True)
class Tabulated:
    """A model for one question, with tables where continuous parents are observed, and what is left."""

    compiled: ModelSnapshot  # the distributions in `open_` are uniform in it
    open_: list[Open]
    unknown: dict[int, np.ndarray]  # nonlinear regressions, and which of their continuous parents are hidden
    needed: set[int]  # positions of the targets, the evidence and all their ancestors


Written = Callable[[int], Any]  # the table or density of a child, by position, if it was found before


def tabulate(
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    written: Written = lambda child: None,
) -> Tabulated:
    """Replace nonlinear distributions by tables or normal densities where their parents are known.

    Only those that matter for a question about these names (None: all) and the evidence are replaced.
    """
    linked, gaussians = compiled.linked, compiled.gaussians
    assert linked is not None
    assert gaussians is not None
    known = closure([compiled.position[name] for name in observed.given], linked.parents)
    asked = range(len(compiled.names)) if about is None else [compiled.position[name] for name in about]
    needed = known | closure(asked, linked.parents)
    fixed, value = _determined(compiled, observed)
    lost = own_densities.unknown(gaussians, fixed)
    factors: list[Factor] = list(compiled.factors)
    is_continuous = gaussians.index_of >= 0
    place = np.cumsum(~is_continuous) - 1  # of each discrete variable's factor
    codes = {compiled.position[name]: code for name, code in observed.hard.items()}
    open_, changed = [], False
    for score in linked.scores:
        if score.child not in needed:
            continue
        above = gaussians.index_of[score.continuous]
        free = score.matters & ~fixed[above]
        if free.any():
            if lost[above[free]].any():
                names = [compiled.names[int(gaussians.positions[x])] for x in above[free & lost[above]]]
                raise own_densities.refuse(names, [*names, compiled.names[score.child]])
            open_.append(Open.of(score, value[above], free, above[free], score.child in known))
            continue
        table = written(score.child)
        factors[int(place[score.child])] = score.table(value[above], codes) if table is None else table
        changed = True
    densities, unknown = list(linked.densities), {}
    for curve in linked.curves:
        if curve.child not in needed:
            continue
        above = gaussians.index_of[curve.continuous]
        if not fixed[above].all():
            unknown[curve.child] = curve.continuous[~fixed[above]]
            continue
        density = written(curve.child)
        if density is None:
            density = curve.density(value[above], codes)
        densities[int(gaussians.index_of[curve.child])] = density
    if linked.curves:
        gaussians = collect(len(compiled.names), densities)
        compiled = replace(compiled, gaussians=gaussians, linked=replace(linked, densities=densities))
        changed = True
    if changed:
        cards = compiled.program.arrays.cards[: compiled.program.n_named].tolist()
        program = compile_program(cards, factors)
        compiled = replace(compiled, program=program, trees=TreeCache(), factors=tuple(factors))
    return Tabulated(compiled, open_, unknown, needed)


def exactly(
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    written: Written = lambda child: None,
) -> ModelSnapshot:
    """The model for one question; `InvalidArgument` names other engines if there is no exact answer."""
    if compiled.linked is None:
        return compiled
    found = tabulate(compiled, observed, about, written)
    refuse_unknown(found)
    if not found.open_:
        return found.compiled
    states = [compiled.names[one.score.child] for one in found.open_]
    positions = np.unique(np.concatenate([one.hidden for one in found.open_]))
    assert compiled.gaussians is not None
    hidden = [compiled.names[int(compiled.gaussians.positions[x])] for x in positions]
    depend = "depends" if len(states) == 1 else "depend"
    ways = 'engine="quadrature" sums over a grid and estimates its error'
    if all(one.score.linear for one in found.open_):
        ways += '; where that is too large, engine="variational" has a lower bound'
    ways += '; engine="likelihood-weighting" and "gibbs" draw samples'
    raise InvalidArgument(
        f"{listed(states)} {depend} on {listed(hidden)}, not observed: a discrete variable with "
        f"hidden continuous parents has no exact answer. {ways} (`query`, `marginals`, `probability`). "
        f"Or observe {listed(hidden)}."
    )


def refuse_unknown(found: Tabulated) -> None:
    """Refuse nonlinear regressions on hidden variables."""
    names, unknown = found.compiled.names, found.unknown
    if not unknown:
        return
    hidden = [names[v] for v in np.unique(np.concatenate(list(unknown.values()))).tolist()]
    follow = "follows" if len(unknown) == 1 else "follow"
    raise InvalidArgument(
        f"{listed([names[v] for v in unknown])} {follow} {listed(hidden)}, not observed, by a regressor: "
        f"there is no exact answer, and no grid for it. Observe {listed(hidden)}, or draw: "
        'engine="likelihood-weighting" or "gibbs", or `sample`.'
    )


def below(linked: Linked, known: Sequence[int]) -> list[int]:
    """Nonlinear children of continuous variables, and their descendants, without evidence; parents first."""
    above = closure(known, linked.parents)
    waiting = {one.child for one in (*linked.scores, *linked.curves)} - above
    children: defaultdict[int, list[int]] = defaultdict(list)
    for v, those in enumerate(linked.parents):
        for p in those:
            children[p].append(v)
    found = closure(waiting, children)
    within = {v: [p for p in linked.parents[v] if p in found] for v in sorted(found)}
    return list(TopologicalSorter(within).static_order())


def draw_below(at: HybridPosterior, states: np.ndarray, values: np.ndarray, rng: Generator) -> None:
    """Draw the variables of `below` in each row, after their ancestors: no evidence depends on them."""
    linked, g, program = at.linked, at.gaussians, at.program
    assert linked is not None
    given = at.given or {}
    scores = {score.child: score for score in linked.scores}
    curves = {curve.child: curve for curve in linked.curves}
    n, cards = len(states), np.asarray(program.arrays.cards[: g.index_of.size])
    every = np.zeros((n, program.n), np.int64)  # includes variables hidden in gates
    every[:, : g.index_of.size] = states
    order = program.loose[0]
    owners = program.factor_of[order]
    place = np.cumsum(g.index_of < 0) - 1  # of each discrete variable's factor
    blocks, drawn = np.zeros_like(values), set[int]()
    for v in below(linked, [v for v, name in enumerate(at.names) if name in given]):
        x = g.index_of[v : v + 1]
        if v in curves:
            curve = curves[v]
            values[:, x[0]] = curve.drawn(
                every[:, curve.discrete], values[:, g.index_of[curve.continuous]], rng
            )
        elif x[0] >= 0:
            noise = np.zeros_like(values)
            noise[:, x[0]] = rng.standard_normal(n)
            if int(x[0]) in g.own:  # the variables of a block are drawn together with the first
                if int(x[0]) not in drawn:
                    own_densities.draw(g, every, at.seen, blocks, cards, rng, int(x[0]))
                    drawn.update(own_densities.block_of(g, int(x[0])))
                noise[:, x[0]] = blocks[:, x[0]]
            run(
                "forward", g.arrays, x.astype(np.int32), cards, every, noise, values,
                steps=8.0 * n, clock=at.clock, module=GAUSSIAN,
            )  # fmt: skip
        elif v in scores:
            score = scores[v]
            every[:, v] = score.drawn(every[:, score.discrete], values[:, g.index_of[score.continuous]], rng)
        else:
            draw_forward(program, order[owners == place[v]], every, rng, at.clock)
    states[:] = every[:, : g.index_of.size]


def refuse_intervals(observed: Observed, compiled: ModelSnapshot, engine: str) -> None:
    """Refuse an interval on a continuous variable: neither a grid nor a normal can represent its edges."""
    names = [
        n for n, v in observed.given.items() if isinstance(v, Interval) and compiled.by_name[n].continuous
    ]
    if names:
        raise InvalidArgument(
            f'engine="{engine}" takes no pgm.Interval, given here for {listed(names)}: a truncated density '
            "is not normal, and the ends fall between the points of a grid. Give a value."
        )


def closure(seeds: Iterable[int], edges: Sequence[Sequence[int]] | Mapping[int, Sequence[int]]) -> set[int]:
    """These positions and all that can be reached from them along the edges: with parents, the ancestors."""
    found = set(seeds)
    stack = list(found)
    while stack:
        for p in edges[stack.pop()]:
            if p not in found:
                found.add(p)
                stack.append(p)
    return found


def _determined(compiled: ModelSnapshot, observed: Observed) -> tuple[np.ndarray, np.ndarray]:
    """Which continuous variables are observed or functions of such, and the values of these."""
    g = compiled.gaussians
    assert g is not None
    d = g.arrays
    fixed, value = np.zeros(g.n, bool), np.zeros(g.n)
    for name, given in observed.given.items():
        x = int(g.index_of[compiled.position[name]])
        if x >= 0 and not isinstance(given, Interval):
            fixed[x], value[x] = True, as_float(given)
    codes = {compiled.position[name]: code for name, code in observed.hard.items()}
    silent = np.zeros(g.n, bool)
    silent[np.searchsorted(d.row_at, np.flatnonzero(d.sd == 0.0), side="right") - 1] = True
    for x in g.order[silent[g.order] & ~fixed[g.order]].tolist():
        switches = d.switches[d.switch_at[x] : d.switch_at[x + 1]].tolist()
        rows = np.arange(d.row_at[x], d.row_at[x + 1])
        rows = rows.reshape([int(compiled.program.arrays.cards[v]) for v in switches])
        rows = rows[tuple([codes.get(v, slice(None)) for v in switches])].ravel()
        parents = d.parents[d.parent_at[x] : d.parent_at[x + 1]]
        weights = d.weights[d.weight_at[x] : d.weight_at[x + 1]]
        weights = weights.reshape(int(d.row_at[x + 1] - d.row_at[x]), parents.size)[rows - d.row_at[x]]
        if d.sd[rows].any() or (weights[:, ~fixed[parents]] != 0.0).any():
            continue
        values = d.bias[rows] + weights @ value[parents]
        if (values == values[0]).all():
            fixed[x], value[x] = True, float(values[0])
    return fixed, value
