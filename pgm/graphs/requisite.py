"""Which observations are requisite for a decision: those relevant to utilities that it can still change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def requisite(
    parents: Mapping[int, Sequence[int]],
    decisions: Sequence[int],
    known: Mapping[int, Sequence[int]],
    utilities: Sequence[Sequence[int]],
    given: Collection[int] = (),
    *,
    product: bool = False,
) -> dict[int, tuple[int, ...]]:
    """Return for each decision the known variables that matter to it, in the order of `known`.

    From the last decision to the first, what is d-separated from the utilities below a decision by the rest
    of what is known is dropped (Lauritzen & Nilsson 2001). A later decision depends on what matters to it.

    Args:
        parents: of each variable; decisions have none.
        decisions: in the order in which they are taken.
        known: what is known when each decision is taken.
        utilities: the variables that each utility depends on.
        given: variables whose states are known beforehand.
        product: whether utilities are multiplied: then one that a decision does not influence may still
            matter to it, through variables that it shares with those below.

    >>> weather, forecast, noise, umbrella = range(4)
    >>> arrows = {weather: [], forecast: [weather], noise: [], umbrella: []}
    >>> requisite(arrows, [umbrella], {umbrella: [forecast, noise]}, [[weather, umbrella]])
    {3: (1,)}
    """
    above = {node: tuple(those) for node, those in parents.items()}
    first = max(above, default=-1) + 1  # utilities follow from this index on, as nodes without children
    for k, those in enumerate(utilities):
        above[first + k] = tuple(those)
    below: dict[int, list[int]] = {node: [] for node in above}
    for node, those in above.items():
        for parent in those:
            below[parent].append(node)
    found: dict[int, tuple[int, ...]] = {}
    for decision in reversed(decisions):
        aims = [node for node in _descendants(decision, below) if node >= first]
        seen = {*known[decision], decision, *given}
        if product and aims:
            aims = [
                u for u in range(first, first + len(utilities)) if u in aims or not seen.issuperset(above[u])
            ]
        met = _requisite_observations(aims, seen, above, below)
        found[decision] = tuple([node for node in known[decision] if node in met])
        above[decision] = found[decision]
        for parent in found[decision]:
            below[parent].append(decision)
    return {decision: found[decision] for decision in decisions}


def settled_first(
    parents: Mapping[int, Sequence[int]],
    decisions: Sequence[int],
    observed: Mapping[int, Sequence[int]],
    utilities: Sequence[Sequence[int]],
    given: Collection[int] = (),
    *,
    product: bool = False,
) -> list[int] | None:
    """Return decisions in an order in which each can be settled before the next; None: there is none.

    A decision can be settled if the policies of those still open are irrelevant to its utilities, given what
    it observes (Lauritzen & Nilsson 2001: the diagram is soluble). The arguments are those of `requisite`;
    here a decision knows only what it observes.

    >>> state, first, second = range(3)
    >>> settled_first({0: [], 1: [], 2: []}, [1, 2], {1: [0], 2: [0]}, [[0, 1], [0, 2]])
    [2, 1]
    >>> settled_first({0: [], 1: [], 2: []}, [1, 2], {1: [0], 2: []}, [[1, 2]]) is None
    True
    """
    above = {node: tuple(those) for node, those in parents.items()}
    above |= {decision: tuple(observed[decision]) for decision in decisions}
    first = max(above, default=-1) + 1
    for k, those in enumerate(utilities):
        above[first + k] = tuple(those)
    policy = first + len(utilities)  # each open policy is a parent of its decision
    for k, decision in enumerate(decisions):
        above[policy + k] = ()
        above[decision] = (*above[decision], policy + k)
    below: dict[int, list[int]] = {node: [] for node in above}
    for node, those in above.items():
        for parent in those:
            below[parent].append(node)
    open_ = list(decisions)
    found: list[int] = []
    while open_:
        for decision in reversed(open_):
            aims = [node for node in _descendants(decision, below) if first <= node < policy]
            seen = {*observed[decision], decision, *given}
            if product and aims:
                aims = [u for u in range(first, policy) if u in aims or not seen.issuperset(above[u])]
            others = {policy + decisions.index(other) for other in open_ if other != decision}
            if not others & _met(aims, seen, above, below):
                break
        else:
            return None
        found.append(decision)
        open_.remove(decision)
    return found


def _descendants(start: int, below: Mapping[int, Sequence[int]]) -> list[int]:
    found = {start: None}
    queue = [start]
    for node in queue:  # grows during the loop
        for child in below[node]:
            if child not in found:
                found[child] = None
                queue.append(child)
    return queue[1:]


def _requisite_observations(
    aims: Sequence[int],
    seen: Collection[int],
    above: Mapping[int, Sequence[int]],
    below: Mapping[int, Sequence[int]],
) -> set[int]:
    """Return the observed nodes that a Bayes ball thrown from the aims meets (Shachter 1998)."""
    return {node for node in _met(aims, seen, above, below) if node in seen}


def _met(
    aims: Sequence[int],
    seen: Collection[int],
    above: Mapping[int, Sequence[int]],
    below: Mapping[int, Sequence[int]],
) -> set[int]:
    """Return all nodes that the ball meets."""
    visited = {(node, False) for node in aims}  # a node, and whether the ball came from a parent
    queue = list(visited)
    for node, from_parent in queue:  # grows during the loop
        observed = node in seen
        steps: list[tuple[int, bool]] = []
        if observed == from_parent:
            steps += [(parent, False) for parent in above[node]]
        if not observed:
            steps += [(child, True) for child in below[node]]
        for step in steps:
            if step not in visited:
                visited.add(step)
                queue.append(step)
    return {node for node, _ in visited}
