"""Exact answers by variable elimination in logarithms: slow, short, easy to check."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pgm.errors import TooLarge
from pgm.evidence import Observed
from pgm.inference.engines.by_position import make_sums
from pgm.inference.engines.elimination import Elimination
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.table_sums import TableSums
from pgm.inference.engines.wide_numbers import Wide
from pgm.inference.program import logs_to_wide
from pgm.inference.program.reduction import Case, WideArray, reduce_case, spread, wide_multiply
from pgm.inference.trees.needs import Needs
from pgm.runtime.clock import RUNNING, Clock
from pgm.runtime.progress import report
from pgm.runtime.room import check_room
from pgm.runtime.running import Impossible

if TYPE_CHECKING:
    from pgm.inference.engines.gaussian.hybrid import HybridSums

_MOST_AXES = 64
_BLOCK = 1 << 20  # entries multiplied between two checks of the clock
_NOTHING = np.empty(0, np.int32)
_DOUBLES = -600.0  # exponentials of logarithms above this fit doubles with room to spare
_Table = tuple[tuple[int, ...], np.ndarray]  # a scope in ascending order, and logarithms


def joint(case: Case, targets: np.ndarray, clock: Clock) -> tuple[WideArray, tuple[float, int]]:
    """The table over the reduced variables `targets`, up to a scale, and the total."""
    cards = case.reduced.cards.tolist()
    touching: dict[int, dict[int, _Table]] = {v: {} for v in range(len(cards))}
    constants: list[float] = []
    last_key = 0

    def put(table: _Table) -> None:
        nonlocal last_key
        last_key += 1
        for v in table[0]:
            touching[v][last_key] = table
        if not table[0]:
            constants.append(float(table[1]))

    for table in _tables(case):
        put(table)
    kept = set(targets.tolist())
    costs = {v: _size(touching[v].values(), cards) for v in touching if v not in kept}
    heap = [(cost, v) for v, cost in costs.items()]
    heapq.heapify(heap)
    first = len(costs)
    while heap:
        clock.check("eliminating")
        report(first - len(costs), first, "eliminating")
        cost, v = heapq.heappop(heap)
        if costs.get(v) != cost:
            continue  # an outdated entry: the cost has changed
        del costs[v]
        mine = touching.pop(v)
        summed = scope, _ = _summed_out(v, [*mine.values()], cards, clock)
        for u in scope:
            for key in mine:
                touching[u].pop(key, None)
        put(summed)
        for u in scope:
            if u in costs:
                costs[u] = _size(touching[u].values(), cards)
                heapq.heappush(heap, (costs[u], u))
    wanted = sorted(kept)
    left = {key: table for v in wanted for key, table in touching[v].items()}
    _check_room(len(wanted), math.prod(cards[v] for v in wanted))
    product = np.zeros([cards[v] for v in wanted])
    for factor in left.values():
        clock.check("eliminating")
        product += _spread(factor, wanted, cards)
    answer = product.transpose([wanted.index(t) for t in targets.tolist()])
    top = float(answer.max())
    if top == -math.inf or -math.inf in constants:
        raise Impossible
    relative = np.exp(answer - top)
    log_total = math.fsum([top, *constants])
    exponent = math.floor(log_total / math.log(2.0))
    mantissa = math.exp(log_total - exponent * math.log(2.0)) * math.fsum(relative.ravel().tolist())
    clock.lap(RUNNING)
    whole = wide_multiply(case.constant(), (mantissa, exponent))
    if float(answer[answer > -math.inf].min()) - top > _DOUBLES:
        return (relative, None), whole
    return logs_to_wide(answer - top), whole


def _tables(case: Case) -> list[_Table]:
    r = case.reduced
    mantissas, exponents = case.wide_tables()
    with np.errstate(divide="ignore"):
        logs = np.log(mantissas) + exponents * math.log(2.0)
    tables = []
    for g in range(r.factors.size):
        scope = r.scopes[r.scope_at[g] : r.scope_at[g + 1]].tolist()
        table = logs[r.table_at[g] : r.table_at[g + 1]].reshape([int(r.cards[v]) for v in scope])
        tables.append((tuple(sorted(scope)), table.transpose(np.argsort(scope, kind="stable"))))
    return tables


def _size(tables: Iterable[_Table], cards: list[int]) -> int:
    scope = {u for t in tables for u in t[0]}
    return math.prod(cards[u] for u in scope)


def _summed_out(v: int, tables: list[_Table], cards: list[int], clock: Clock) -> _Table:
    """The product of these tables, summed over v block by block."""
    scope = tuple(sorted({u for t in tables for u in t[0]} - {v}))
    shape = [cards[u] for u in scope]
    _check_room(len(scope) + 1, math.prod(shape) * cards[v])
    spread_out = [_spread(table, (*scope, v), cards) for table in tables]
    total = np.empty(shape)
    lead = 0  # axes that index the blocks
    while math.prod(shape[lead:]) * cards[v] > _BLOCK:
        lead += 1
    for block in itertools.product(*map(range, shape[:lead])):
        clock.check("eliminating")
        product = np.zeros([*shape[lead:], cards[v]])
        for table in spread_out:
            if lead:
                product += table[tuple([i % n for i, n in zip(block, table.shape, strict=False)])]
            else:
                product += table
        total[block] = np.logaddexp.reduce(product, axis=-1)
    return scope, total


def _spread(table: _Table, scope: Sequence[int], cards: list[int]) -> np.ndarray:
    """The table with an axis for each variable of the scope, of length 1 for those it does not depend on."""
    own, values = table
    axes = sorted(range(len(own)), key=lambda i: scope.index(own[i]))
    return values.transpose(axes).reshape([cards[u] if u in own else 1 for u in scope])


def _check_room(variables: int, entries: int) -> None:
    what = f"Eliminating one variable after another needs a table over {variables} variables"
    remedy = 'engine="exact" may find a better order; otherwise observe more'
    if variables > _MOST_AXES:
        raise TooLarge(f"{what}. {remedy}.")
    check_room(min(24 * entries, 10**300), f"{what}, which takes", remedy)


@dataclass(frozen=True, eq=False, slots=True)
class EliminationSums(TableSums):
    """A model and its evidence, to be summed one variable after another."""

    def total(self) -> Wide:
        """The sum of the product of all factors with the evidence."""
        return joint(reduce_case(self.program, self.known, [], self.clock), _NOTHING, self.clock)[1]

    def joint_table(self, targets: Sequence[int], needs: Needs) -> WideArray:
        """The joint up to a scale; as wide numbers if doubles would lose any of it."""
        case, inner = self.targeted(targets)
        (values, powers), _ = joint(case, inner, self.clock)
        return spread(case, targets, values), None if powers is None else spread(case, targets, powers)

    def marginals_and_total(self, targets: Sequence[int] | None = None) -> tuple[np.ndarray, Wide]:
        """P(v | known) for all of the user's variables, or for some, concatenated, and the total."""
        state_at = self.program.arrays.state_at
        flat = np.zeros(int(state_at[self.program.n_named]))
        for v in range(self.program.n_named) if targets is None else targets:
            flat[state_at[v] : state_at[v + 1]] = self.joint([v])
        return flat, self.total()


def prepare(
    options: Elimination,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> TableSums | HybridSums:
    """Elimination over tables; continuous variables are eliminated first."""
    return make_sums(EliminationSums, compiled, observed, clock, options.name, fit=fit)
