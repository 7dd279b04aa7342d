"""Simplify a formula before counting: facts, equivalent atoms, and atoms that others determine."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pgm.inference.engines.counting.clauses import Clause, Formula
from pgm.inference.engines.counting.counter import Counter
from pgm.inference.program.reduction import wide_multiply
from pgm.runtime.clock import Clock
from pgm.runtime.running import Impossible

_ROUNDS = 20
_STEPS = 300  # of the test whether others determine an atom, beyond which the answer is no
TRUE, FALSE = -1, -2  # in place of a literal: always true, and impossible


def simplified(formula: Formula, kept: Iterable[int], clock: Clock) -> Formula:
    """A formula with the same sum and fewer atoms; its `literal` maps each state to its new literal.

    Args:
        formula: the formula to count.
        kept: the atoms asked about; others may be summed out.
        clock: the clock of the question.
    """
    n = formula.mantissa.size // 2
    wanted = np.zeros(n, bool)
    wanted[list(kept)] = True
    for _ in range(_ROUNDS):
        clock.check()
        before = len(formula.clauses), formula.mantissa.size
        renamed = np.arange(formula.mantissa.size)
        for x in Counter(formula, clock, probe=True).facts():
            renamed[x], renamed[x ^ 1] = TRUE, FALSE
        formula, wanted = _renamed(formula, renamed, wanted)
        formula, wanted = _renamed(formula, _representatives(formula), wanted)
        gone = _decided_by_others(formula, wanted, clock)
        renamed = np.arange(formula.mantissa.size)
        renamed[[x for v in gone for x in (2 * v, 2 * v + 1)]] = TRUE  # both weigh the same; neither is left
        formula, wanted = _renamed(formula, renamed, wanted)
        if before == (len(formula.clauses), formula.mantissa.size):
            break
    return formula


def _renamed(formula: Formula, renamed: np.ndarray, wanted: np.ndarray) -> tuple[Formula, np.ndarray]:
    """Replace literals by others, TRUE or FALSE; atoms are renumbered."""
    size = formula.mantissa.size
    mine = renamed == np.arange(size)
    if mine.all():
        return formula, wanted
    index = np.cumsum(mine) - 1
    new = np.where(renamed >= 0, index[renamed], renamed)
    mantissa, exponent = formula.mantissa[mine], formula.exponent[mine]
    constant = formula.constant
    still = wanted[np.flatnonzero(mine)[::2] // 2]
    for x in np.flatnonzero(~mine).tolist():
        weight = float(formula.mantissa[x]), int(formula.exponent[x])
        to = int(new[x])
        if to == TRUE:
            if x % 2 == 0 or new[x ^ 1] != TRUE:
                constant = wide_multiply(constant, weight)
        elif to >= 0:
            mantissa[to], exponent[to] = wide_multiply((float(mantissa[to]), int(exponent[to])), weight)
            still[to // 2] |= wanted[x // 2]
    literal = formula.literal
    literal = np.where(literal >= 0, new[literal], literal)
    found: dict[Clause, None] = {}
    names = new.tolist()
    for clause in formula.clauses:
        literals = {names[x] for x in clause}
        if TRUE in literals or any(x ^ 1 in literals for x in literals if x >= 0):
            continue
        literals.discard(FALSE)
        if not literals:
            raise Impossible
        found[tuple(sorted(literals))] = None
    return Formula(list(found), mantissa, exponent, literal, constant), still


def _representatives(formula: Formula) -> np.ndarray:
    """For each literal the first that clauses of two literals show to be equivalent to it."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = formula.mantissa.size
    pairs = np.array([c for c in formula.clauses if len(c) == 2], np.int32).reshape(-1, 2)
    if not pairs.size:
        return np.arange(size)
    ends = np.concatenate([pairs ^ np.array([1, 0], np.int32), (pairs ^ np.array([0, 1], np.int32))[:, ::-1]])
    follows = coo_array((np.ones(len(ends), np.int8), (ends[:, 0], ends[:, 1])), shape=(size, size))
    _, group = connected_components(follows.tocsr(), directed=True, connection="strong")
    if (group[::2] == group[1::2]).any():
        raise Impossible
    first = np.full(int(group.max()) + 1, size, np.int64)
    np.minimum.at(first, group, np.arange(size))
    # The group of the negations starts with the negation of the first: literals are numbered in pairs.
    found = first[group]
    lead = np.minimum(found[::2], found[1::2])
    result = np.empty(size, np.int64)
    result[::2] = np.where(found[::2] == lead, lead, lead ^ 1)
    result[1::2] = result[::2] ^ 1
    return result


# --- atoms determined by others ---


def _decided_by_others(formula: Formula, wanted: np.ndarray, clock: Clock) -> list[int]:
    """Sum out atoms that others determine, if that makes the formula no larger.

    Each solution of the rest then extends to exactly one of the whole. The clauses of these atoms are
    resolved, which changes `formula.clauses`. Returns the atoms.
    """
    mantissa, exponent = formula.mantissa, formula.exponent
    even = (mantissa[::2] == mantissa[1::2]) & (exponent[::2] == exponent[1::2]) & ~wanted
    clauses: dict[Clause, None] = dict.fromkeys(formula.clauses)
    users: list[set[Clause]] = [set() for _ in range(mantissa.size)]
    for clause in clauses:
        for x in clause:
            users[x].add(clause)
    gone: list[int] = []
    queue = [v for v in range(even.size) if even[v] and users[2 * v] and users[2 * v + 1]]
    queue.sort(key=lambda v: len(users[2 * v]) * len(users[2 * v + 1]))
    waiting = set(queue)
    for i, v in enumerate(queue):  # grows during the loop
        if i % 256 == 0:
            clock.check()
        waiting.discard(v)
        yes, no = users[2 * v], users[2 * v + 1]
        if not yes or not no or len(yes) * len(no) > 400:
            continue
        made = _resolved(v, yes, no, len(yes) + len(no))
        if made is None or not _is_decided(v, yes, no):
            continue
        gone.append(v)
        touched = set()
        for clause in (*yes, *no):
            del clauses[clause]
            for x in clause:
                touched.add(x // 2)
                if x // 2 != v:
                    users[x].discard(clause)
        yes.clear()
        no.clear()
        for clause in made:
            clauses[clause] = None
            for x in clause:
                users[x].add(clause)
        for w in sorted(touched - waiting - {v}):
            if even[w]:
                queue.append(w)
                waiting.add(w)
    formula.clauses = list(clauses)
    return gone


def _resolved(v: int, yes: set[Clause], no: set[Clause], most: int) -> list[Clause] | None:
    """The resolvents of clauses with v and clauses with its negation; None if there are more than `most`."""
    made: dict[Clause, None] = {}
    for a in sorted(yes):
        for b in sorted(no):
            both = {*a, *b} - {2 * v, 2 * v + 1}
            if any(x ^ 1 in both for x in both):
                continue
            made[tuple(sorted(both))] = None
            if len(made) > most:
                return None
    return list(made)


def _is_decided(v: int, yes: set[Clause], no: set[Clause]) -> bool:
    """Whether no values of the others allow v to be both true and false."""
    rest = [frozenset(c) - {2 * v, 2 * v + 1} for c in (*sorted(yes), *sorted(no))]
    return _has_no_solution(rest, [_STEPS])


def _has_no_solution(clauses: list[frozenset[int]], steps: list[int]) -> bool:
    """Whether clauses contradict each other; False if the steps run out."""
    while True:
        steps[0] -= 1
        if steps[0] < 0 or not clauses:
            return False
        shortest = min(clauses, key=len)
        if not shortest:
            return True
        x = min(shortest)
        if len(shortest) > 1 and not _has_no_solution(_given_literal(clauses, x), steps):
            return False
        clauses = _given_literal(clauses, x if len(shortest) == 1 else x ^ 1)


def _given_literal(clauses: list[frozenset[int]], literal: int) -> list[frozenset[int]]:
    return [c - {literal ^ 1} for c in clauses if literal not in c]
