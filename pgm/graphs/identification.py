"""The effect of an action as a formula of observed probabilities; or the hedge that makes this impossible.

Tian & Pearl 2002 and Shpitser & Pearl 2006: the effect is a product of factors, one for each district among
the ancestors of the outcome once the action has cut its arrows; each is computed from the district of the
whole graph that contains it. Complete: where a factor cannot be computed, two models agree on all that is
observed and differ in the effect. Sets are bits of an int.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pgm.graphs import walks
from pgm.graphs.formulas import Formula, P, Product, product, ratio, total
from pgm.graphs.mixed import MixedGraph, each


class Hedge(Exception):
    """Two nested sets of variables, each connected by hidden causes, that make an effect unidentifiable."""

    def __init__(self, outer: tuple[Any, ...], inner: tuple[Any, ...]) -> None:
        """Take their names."""
        super().__init__(outer, inner)
        self.outer = outer
        self.inner = inner


@dataclass(frozen=True, eq=False, slots=True)
class _Factor:
    """Q[vertices]: their distribution when all else is set by action; `seen`: it is an observed one."""

    vertices: int
    formula: Formula
    seen: bool = False


def identify(graph: MixedGraph, y: int, do: int, given: int = 0) -> tuple[Formula, int]:
    """Return P(y | do, given) as a formula of P over the names of the graph, and what was done in it.

    Some of what is given may be set by action instead without changing the answer (rule 2 of the
    do-calculus): it then counts among what was done (Shpitser & Pearl 2006b, IDC).

    Raises:
        Hedge: there is no such formula.
    """
    moved = True
    while moved:
        moved = False
        for v in each(given):
            rest = given & ~(1 << v)
            arrows = graph.arrows(no_arrows_into=do, no_arrows_from=1 << v)
            if walks.d_separated(arrows.graph, [v], list(each(y)), list(each(do | rest))):
                do, given = do | 1 << v, rest
                moved = True
                break
    seen = graph.arrows(no_arrows_from=do)
    if walks.d_separated(seen.graph, list(each(y)), list(each(do)), list(each(given))):
        return P(graph.named(y), graph.named(do | given)), do  # rule 2: to set is as good as to observe
    joint = _effect(graph, y | given, do)
    if not given:
        return joint, do
    return ratio(joint, total(graph.named(y), joint)), do


def district(graph: MixedGraph, part: int, above: int) -> Formula:
    """Return Q[district] as a formula of observed probabilities: its distribution when all else is set.

    Args:
        graph: the graph.
        part: the district, in the subgraph of `above`.
        above: vertices with all their ancestors.
    """
    return _district(graph, part, _Factor(above, P(graph.named(above)), seen=True)).formula


def _effect(graph: MixedGraph, y: int, do: int) -> Formula:
    above = graph.ancestors(y, graph.everything)
    seen = _Factor(above, P(graph.named(above)), seen=True)
    needed = graph.ancestors(y, above & ~do)
    whole = graph.districts(above)
    parts = []
    for district in graph.districts(needed):
        home = next(part for part in whole if part & district)
        parts.append(_identified(graph, district, _district(graph, home, seen)))
    return total(graph.named(needed & ~y), product(parts))


def _identified(graph: MixedGraph, wanted: int, known: _Factor) -> Formula:
    """Q[wanted] from Q of a district that contains it (Tian & Pearl 2002, algorithm Identify)."""
    while True:
        above = graph.ancestors(wanted, known.vertices)
        if above == wanted:
            return _marginal(graph, known, wanted).formula
        if above == known.vertices:
            raise Hedge(graph.named(known.vertices), graph.named(wanted))
        part = graph.district((wanted & -wanted).bit_length() - 1, above)
        known = _district(graph, part, _marginal(graph, known, above))


def _marginal(graph: MixedGraph, known: _Factor, kept: int) -> _Factor:
    """Q[kept], of a set that contains its own ancestors: the others are summed out."""
    if known.seen:
        return _Factor(kept, P(graph.named(kept)), seen=True)
    return _Factor(kept, total(graph.named(known.vertices & ~kept), known.formula))


def _district(graph: MixedGraph, part: int, known: _Factor) -> _Factor:
    """Q[district] from Q of the whole: each vertex given those before it (Tian & Pearl 2002, lemma 4)."""
    order = [v for v in graph.order if known.vertices >> v & 1]
    if known.seen:
        terms: list[Formula] = []
        before = 0
        for v in order:
            before |= 1 << v
            if part >> v & 1:
                terms.append(P((graph.names[v],), graph.named(_pillow(graph, v, before))))
        return _Factor(part, product(terms))
    terms, before, run = [], 0, False
    end = known.vertices
    bottom: Formula = Product(())
    for v in [*order, -1]:
        member = v >= 0 and bool(part >> v & 1)
        if member != run:  # within a run of members, successive quotients cancel
            upto = total(graph.named(end & ~before), known.formula) if before else Product(())
            if member:
                bottom = upto
            else:
                terms.append(ratio(upto, bottom))
            run = member
        if v >= 0:
            before |= 1 << v
    return _Factor(part, product(terms))


def _pillow(graph: MixedGraph, v: int, before: int) -> int:
    """What v depends on among those before it: its district with the parents (Richardson 2003)."""
    district = graph.district(v, before)
    found = district
    for u in each(district):
        found |= graph.parents[u]
    return found & before & ~(1 << v)
