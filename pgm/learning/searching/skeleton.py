"""Searches by tests of independence: PC, the Markov blanket of a target, and max-min hill climbing."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from pgm.errors import InvalidArgument, OutOfTime, UnknownVariable, listed
from pgm.graphs.equivalence import Sets, extension, orient, topological
from pgm.learning.independence import find_test
from pgm.learning.scoring.testing import Tester
from pgm.learning.searches import IAMB, MMHC, PC
from pgm.runtime import progress

from .climbing import climb
from .constraints import Constraints
from .found import Found, Move
from .problem import StructureProblem


def search(options: PC | IAMB | MMHC, problem: StructureProblem) -> Found:
    """Search by tests."""
    if isinstance(options, PC):
        return _pc(options, problem)
    return _iamb(options, problem) if isinstance(options, IAMB) else _mmhc(options, problem)


def _tester(options: PC | IAMB | MMHC, problem: StructureProblem) -> Tester:
    test = options.test
    if test is None:
        test = "partial-correlation" if problem.continuous else "g"
    return Tester(problem, find_test(test))


# --- PC ---


def _pc(options: PC, problem: StructureProblem) -> Found:
    """Spirtes & Glymour 1991, in the form that does not depend on the order (Colombo & Maathuis 2014)."""
    known, n = problem.known, problem.n
    tester = _tester(options, problem)
    fixed = known.required | known.required.T
    joined = known.allowed | known.allowed.T
    apart: dict[tuple[int, int], tuple[int, ...]] = {}
    found = Found([()] * n, 0.0, [Move("start", None, 0.0)])
    level = 0
    try:
        while options.max_given is None or level <= options.max_given:
            before = joined.copy()
            if not (before.sum(axis=0) > level).any():
                break
            for y in range(n):
                progress.report(y, n, f"tests given {level}")
                near = np.flatnonzero(before[y]).tolist()
                for given in itertools.combinations(near, level) if len(near) > level else ():
                    here = np.array(
                        [
                            x
                            for x in near
                            if joined[y, x] and not fixed[y, x] and x not in given and (level or x > y)
                        ],
                        np.int64,
                    )
                    if not here.size:
                        continue
                    problem.clock.check("testing")
                    p_values = tester.outcomes(y, given, here).p_values
                    for x in here[p_values > options.alpha].tolist():
                        joined[x, y] = joined[y, x] = False
                        apart[min(x, y), max(x, y)] = given
            level += 1
    except (OutOfTime, KeyboardInterrupt) as error:
        if level < 2:  # edges that hardly any test had a chance to remove are no network to show
            raise
        found.interrupt(error)
    parents, beside = _directed(joined, apart, known)
    made = _extended(parents, beside, known, found)
    found.parents = [tuple(sorted(those)) for those in made]
    found.beside = beside
    found.notes["tests"] = f"{tester.asked:,} of independence ({tester.test.name}, alpha {options.alpha:g})"
    if any(problem.gaps):
        found.notes["missing cells"] = "each test uses the rows that are complete in its columns"
    return found


def _directed(
    joined: np.ndarray, apart: dict[tuple[int, int], tuple[int, ...]], known: Constraints
) -> tuple[Sets, Sets]:
    """Direct what is known, then v-structures, then what follows."""
    n = known.n
    parents: Sets = [set() for _ in range(n)]
    beside: Sets = [set(np.flatnonzero(joined[v]).tolist()) for v in range(n)]

    def point(a: int, b: int) -> None:
        beside[a].discard(b)
        beside[b].discard(a)
        parents[b].add(a)

    for a in range(n):
        for b in np.flatnonzero(joined[a]).tolist():
            if known.required[a, b] or (known.allowed[a, b] and not known.allowed[b, a]):
                point(a, b)
    for z in range(n):
        near = np.flatnonzero(joined[z]).tolist()
        for x, y in itertools.combinations(near, 2):
            if joined[x, y] or z in apart.get((x, y), (z,)):
                continue
            if any(a not in parents[z] and not (a in beside[z] and known.allowed[a, z]) for a in (x, y)):
                continue  # it contradicts what was directed before
            for a in (x, y):
                if a in beside[z]:
                    point(a, z)
    orient(parents, beside)
    return parents, beside


def _extended(parents: Sets, beside: Sets, known: Constraints, found: Found) -> Sets:
    """A network with these arcs, if the tests agree with each other; else one with the same edges."""
    n = known.n
    made = extension(parents, beside)
    if made is not None and len(topological(made)) == n and known.obeyed(made):
        return made
    found.notes["orientation"] = "the tests contradict each other: some arcs are directed arbitrarily"
    result: Sets = [set(np.flatnonzero(known.required[:, v]).tolist()) for v in range(n)]
    arcs = [(u, v) for v in range(n) for u in sorted(parents[v])]
    arcs += [(u, v) for v in range(n) for u in sorted(beside[v]) if u < v]
    for u, v in arcs:
        for a, b in ((u, v), (v, u)):
            if known.allowed[a, b] and a not in result[b] and b not in result[a]:
                result[b].add(a)
                if len(topological(result)) == n:
                    break
                result[b].discard(a)
    return result


# --- Markov blankets ---


def _iamb(options: IAMB, problem: StructureProblem) -> Found:
    """Tsamardinos, Aliferis & Statnikov 2003; then the network of the target and its blanket."""
    if options.target is None:
        raise InvalidArgument(
            'search="iamb" needs the node whose blanket is sought: write pgm.searches.IAMB(target="...").'
        )
    if options.target not in problem.names:
        raise UnknownVariable(options.target, problem.names, where="target=")
    target = problem.names.index(options.target)
    tester = _tester(options, problem)
    blanket = markov_blanket(tester, target, options.alpha)
    inside = np.zeros(problem.n, bool)
    inside[[target, *blanket]] = True
    if (problem.known.required & ~np.outer(inside, inside)).any():
        raise InvalidArgument('require= has arcs outside the blanket, which search="iamb" does not learn.')
    families = problem.families()
    known = replace(
        problem.known,
        allowed=problem.known.allowed & np.outer(inside, inside),
        start=_cut(problem.known, inside),
    )
    families.permit(known.allowed)
    found = climb(families, known, restarts=0, changes=0, tenure=10, patience=15, max_steps=None, rng=None)
    names = [problem.names[u] for u in blanket]
    found.notes["Markov blanket"] = f"of {options.target}: {listed(names) if names else 'nothing'}"
    found.notes["tests"] = f"{tester.asked:,} of independence ({tester.test.name}, alpha {options.alpha:g})"
    found.blanket = tuple(names)
    return found


def _cut(known: Constraints, inside: np.ndarray) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(u for u in those if inside[u]) if inside[v] else () for v, those in enumerate(known.start)
    )


def markov_blanket(tester: Tester, target: int, alpha: float) -> list[int]:
    """Add the most informative variable given the rest, then drop those that no longer inform."""
    n = tester.problem.n
    blanket: list[int] = []
    while True:
        others = np.array([u for u in range(n) if u != target and u not in blanket], np.int64)
        if not others.size:
            break
        tester.problem.clock.check("testing")
        seen = tester.outcomes(target, tuple(sorted(blanket)), others)
        order = np.lexsort((others, -seen.statistics / np.maximum(seen.freedom, 1.0), seen.p_values))
        if not seen.p_values[order[0]] <= alpha:
            break
        blanket.append(int(others[order[0]]))
    for u in list(blanket):
        rest = tuple(sorted(w for w in blanket if w != u))
        if tester.outcomes(target, rest, np.array([u])).p_values[0] > alpha:
            blanket.remove(u)
    return sorted(blanket)


# --- max-min hill climbing ---


def _mmhc(options: MMHC, problem: StructureProblem) -> Found:
    """Tsamardinos, Brown & Aliferis 2006: candidates by tests, the network by hill climbing among them."""
    known, n = problem.known, problem.n
    tester = _tester(options, problem)
    near = np.zeros((n, n), bool)
    for v in range(n):
        progress.report(v, n, "candidates")
        near[v, _candidates(tester, v, options)] = True
    near &= near.T
    allowed = known.allowed & (near | known.required | known.required.T)
    begun = np.zeros((n, n), bool)
    for v, those in enumerate(known.start):
        begun[list(those), v] = True
    start = begun & allowed
    families = problem.families()
    families.permit(allowed)
    narrowed = replace(
        known, allowed=allowed, start=tuple(tuple(np.flatnonzero(start[:, v]).tolist()) for v in range(n))
    )
    found = climb(families, narrowed, restarts=0, changes=0, tenure=10, patience=15, max_steps=None, rng=None)
    found.notes["tests"] = f"{tester.asked:,} of independence ({tester.test.name}, alpha {options.alpha:g})"
    return found


def _candidates(tester: Tester, v: int, options: MMHC) -> list[int]:
    """Parents and children of v: the nodes that depend on it whichever of the others are given."""
    n = tester.problem.n
    least = np.zeros(n)  # the largest p-value so far, given some subset
    weakest = np.full(n, np.inf)  # the smallest statistic per degree of freedom
    chosen: list[int] = []
    open_ = np.array([u for u in range(n) if u != v], np.int64)
    newest: int | None = None
    while open_.size:
        tester.problem.clock.check("testing")
        most = len(chosen) if options.max_given is None else options.max_given
        rest = [u for u in chosen if u != newest]
        subsets: list[tuple[int, ...]] = [()] if newest is None else []
        if newest is not None:
            for size in range(min(most - 1, len(rest)) + 1):
                subsets += [tuple(sorted((newest, *some))) for some in itertools.combinations(rest, size)]
        for given in subsets:
            if not open_.size:
                break
            seen = tester.outcomes(v, given, open_)
            least[open_] = np.maximum(least[open_], seen.p_values)
            weakest[open_] = np.minimum(weakest[open_], seen.statistics / np.maximum(seen.freedom, 1.0))
            open_ = open_[least[open_] <= options.alpha]
        if not open_.size:
            break
        newest = int(open_[np.lexsort((open_, -weakest[open_], least[open_]))[0]])
        chosen.append(newest)
        open_ = open_[open_ != newest]
    for u in list(chosen):
        rest = [w for w in chosen if w != u]
        most = len(rest) if options.max_given is None else min(options.max_given, len(rest))
        for size in range(most + 1):
            if any(
                tester.outcomes(v, given, np.array([u])).p_values[0] > options.alpha
                for given in itertools.combinations(rest, size)
            ):
                chosen.remove(u)
                break
    return chosen
