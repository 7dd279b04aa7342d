"""The most probable states if gates are too wide to be summed out first: by undominated choices.

A gate's hidden variables are summed while its causes are maximised, so the best states of some causes depend
on all the others. But a gate, with its child in one state, is summarised by coefficients A and B: each cause
turns them into A * a and A * b + B * g (`Gate.in_two`), and P(child | causes) is B in the end. Nothing is
negative, so a choice of states that leaves both smaller than another does is never part of the best.
Variables are eliminated one after the other as usual; but for each state of the variables they depend on, not
a single best choice is kept but the Pareto front of undominated ones (Maua & de Campos 2012). The causes of a
gate may be combined in any order, those with the largest effect first.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pgm.config import current
from pgm.factors import Gate
from pgm.inference.program import SUMMED
from pgm.inference.program.reduction import Case
from pgm.runtime import progress
from pgm.runtime.clock import Clock
from pgm.runtime.loops import Loops
from pgm.runtime.running import run

_TIED = 2.0**-48  # of logarithms, for each variable: smaller differences are rounding
_MOST_OPEN = 8  # gates at once: choices are compared by 2 to this power criteria
_MOST_FACTORS = 20_000  # worth trying in Python
_MOST_ROWS = 1 << 20  # of a front
_LOG_MOST_ROWS = math.log(_MOST_ROWS)
_MOST_COMPARED = 4e9  # comparisons, if every choice is compared with every other
_MOST_WORK = 2e7  # rows in total, without a time limit: a few seconds
_KEPT_TIES = 2_000  # rows of a front above which only the best is followed, not all ties
FRONTS = Loops("pgm.inference.engines.gate_maxima.compiled")
_CODE = np.uint16


class _TooMany(Exception):
    """There are too many undominated choices."""


@dataclass(frozen=True, eq=False, slots=True)
class Front:
    """The best states of all reduced variables except those inside gates."""

    states: np.ndarray
    ties_broken: bool  # whether they are certainly the first among their equals


@dataclass(frozen=True, eq=False, slots=True)
class _Choices:
    """For each joint state of a few variables, choices for the eliminated ones: a row each, and its value."""

    scope: tuple[int, ...]
    gates: tuple[int, ...]
    group: np.ndarray  # int64[rows] which states of the scope, ascending
    weights: np.ndarray  # [rows] logarithm of the product of the tables
    coefficients: np.ndarray  # [rows, gates, 3] logarithms of a, b and g of each open gate
    chosen: tuple[int, ...]  # the eliminated variables, ascending
    codes: np.ndarray  # [rows, chosen] their states


def maximum(case: Case, clock: Clock) -> Front | None:
    """The best states of a reduced case with variables inside gates to be summed; None if too large."""
    if case.reduced.factors.size > _MOST_FACTORS or int(case.reduced.cards.max()) >= 1 << 16:
        return None
    try:
        return _Elimination(case, clock).run()
    except _TooMany:
        return None


def log2_summed_first(case: Case) -> float:
    """log2 of the least entries of a tree that sums inside gates first, which joins each gate's variables."""
    r = case.reduced
    hidden = case.program.kinds[r.variables] == SUMMED
    owner = np.repeat(_owners(case), np.diff(r.scope_at))
    beside = np.isin(owner, owner[hidden[r.scopes]]) & ~hidden[r.scopes]
    gate, v = np.unique(np.stack([owner[beside], r.scopes[beside]]), axis=1)
    return float(np.bincount(gate, np.log2(r.cards[v])).max(initial=0.0))


def _owners(case: Case) -> np.ndarray:
    """Which of the model's factors each reduced one comes from; -1 for weights that were given."""
    program, factors = case.program, case.reduced.factors
    own = factors < program.arrays.heads.size
    owner = np.full(factors.size, -1, np.int64)
    owner[own] = program.factor_of[factors[own]]
    return owner


class _Elimination:
    """The remaining tables as variables and gates are eliminated one by one. Gate i is node n + i."""

    def __init__(self, case: Case, clock: Clock) -> None:
        r, program = case.reduced, case.program
        self._case, self._clock, self._n = case, clock, r.variables.size
        self._tied = _TIED * (16 + self._n)
        self._cards: list[int] = r.cards.tolist()
        self._hidden = program.kinds[r.variables] == SUMMED
        self._order = np.empty(self._n, np.int64)  # the place of each variable among all, as declared
        self._order[case.declared()] = np.arange(self._n)
        self._ties_broken, self._ties = True, True
        self._work = 0
        owner = _owners(case)
        open_gates = np.unique(np.repeat(owner, np.diff(r.scope_at))[self._hidden[r.scopes]])
        if not all(i in program.gates for i in open_gates.tolist()):
            raise _TooMany
        self._gates: list[Gate] = [program.gates[i] for i in open_gates.tolist()]
        self._children: list[int] = []  # of each gate, -1 if observed
        self._least: list[float] = []  # of each gate the least log of g relative to a
        self._items: dict[int, _Choices] = {}
        self._with: list[set[int]] = [set() for _ in range(self._n + len(self._gates))]
        self._next_key = itertools.count()
        mantissas, exponents = case.wide_tables()
        with np.errstate(divide="ignore"):
            logs = np.log(mantissas) + exponents * math.log(2.0)
        for f in np.flatnonzero(~np.isin(owner, open_gates)).tolist():
            table = logs[r.table_at[f] : r.table_at[f + 1]]
            scope = tuple(r.scopes[r.scope_at[f] : r.scope_at[f + 1]].tolist())
            self._add_table(scope, table - table.max())
        places = np.full(program.n, -1, np.int64)
        places[r.variables] = np.arange(self._n)
        for i, gate in enumerate(self._gates):
            self._add_gate(i, gate, places)

    def _add(self, item: _Choices) -> None:
        key = next(self._next_key)
        self._items[key] = item
        for node in (*item.scope, *(self._n + g for g in item.gates)):
            self._with[node].add(key)

    def _add_table(self, scope: tuple[int, ...], logs: np.ndarray) -> None:
        order = sorted(range(len(scope)), key=scope.__getitem__)
        logs = logs.reshape([self._cards[v] for v in scope]).transpose(order).ravel()
        kept = np.flatnonzero(logs > -np.inf)
        nothing, no_codes = np.empty((kept.size, 0, 3)), np.empty((kept.size, 0), _CODE)
        self._add(_Choices(tuple(sorted(scope)), (), kept, logs[kept], nothing, (), no_codes))

    def _add_gate(self, i: int, gate: Gate, places: np.ndarray) -> None:
        """The effect of each open cause on the two coefficients, and of all other causes together."""
        r, codes = self._case.reduced, self._case.codes

        def states(v: int) -> np.ndarray:
            at = int(places[v])
            return codes[v : v + 1] if at < 0 else r.states[r.state_at[at] : r.state_at[at + 1]]

        *causes, child = gate.scope.tolist()
        effects = states(child)
        with np.errstate(divide="ignore", invalid="ignore"):
            assert gate.in_two is not None
            start, each = gate.in_two()
            known = np.log(start[effects])
            least = 0.0
            for v, steps in zip(causes, each, strict=True):
                logs = np.log(steps[np.ix_(states(v), effects)])
                share = logs[..., 2] - logs[..., 0]
                least += float(share[~np.isnan(share)].min(initial=0.0))
                if places[v] < 0:
                    known = _combined(known, logs[0])
                else:
                    self._add_step(i, (int(places[v]), int(places[child])), logs)
        self._add_step(i, (int(places[child]),), known)
        self._children.append(int(places[child]))
        self._least.append(least)

    def _add_step(self, i: int, scope: tuple[int, ...], logs: np.ndarray) -> None:
        kept = tuple(v for v in scope if v >= 0)
        order = sorted(range(len(kept)), key=kept.__getitem__)
        logs = logs.reshape([*(self._cards[v] for v in kept), 3]).transpose([*order, len(kept)])
        rows = logs.reshape(-1, 1, 3)
        codes = np.empty((len(rows), 0), _CODE)
        self._add(
            _Choices(tuple(sorted(kept)), (i,), np.arange(len(rows)), np.zeros(len(rows)), rows, (), codes)
        )

    # --- the order ---

    def _cost(self, node: int) -> float:
        """The approximate log of the size of the table that eliminating this node leaves; inf: too large."""
        nodes, gates, size = {node}, set[int](), 0.0
        for key in self._with[node]:
            item = self._items[key]
            gates.update(item.gates)
            for v in item.scope:
                if v not in nodes:
                    nodes.add(v)
                    size += math.log(self._cards[v])
            if size > _LOG_MOST_ROWS:  # do not go through all the causes of a wide gate each time
                return math.inf
        if any(self._children[g] == node for g in gates):
            return math.inf  # a child's state is chosen only after its gate
        return size + 2.0 * len(gates - {node - self._n})

    def run(self) -> Front:
        """Repeatedly eliminate the cheapest node."""
        left = {v for v in range(self._n) if not self._hidden[v]} | set(range(self._n, len(self._with)))
        costs = {node: self._cost(node) for node in left}
        heap = [(cost, node) for node, cost in costs.items()]
        heapq.heapify(heap)
        total = len(left)
        while left:
            cost, node = heapq.heappop(heap)
            if node not in left or cost != costs[node]:
                continue
            if cost > _LOG_MOST_ROWS:
                raise _TooMany
            progress.report(total - len(left), total, "most probable states")
            left.discard(node)
            made = self._eliminate(node)
            for near in {*made.scope, *(self._n + g for g in made.gates)} & left:
                costs[near] = self._cost(near)
                heapq.heappush(heap, (costs[near], near))
        states = np.full(self._n, -1, np.int64)
        for item in self._items.values():
            states[list(item.chosen)] = item.codes[0]
        return Front(states, self._ties_broken)

    def _eliminate(self, node: int) -> _Choices:
        keys = sorted(self._with[node])
        items = [self._items.pop(key) for key in keys]
        for key, item in zip(keys, items, strict=True):
            for v in (*item.scope, *(self._n + g for g in item.gates)):
                self._with[v].discard(key)
        if node >= self._n:  # largest effect first, so that dominated choices are dropped early
            place = [item.gates.index(node - self._n) for item in items]
            gains = [
                float((item.weights + item.coefficients[:, i, 1]).max(initial=-math.inf))
                for item, i in zip(items, place, strict=True)
            ]
            items = [
                items[i] for i in sorted(range(len(items)), key=lambda i: (len(items[i].scope), -gains[i]))
            ]
        made = items[0] if items else self._no_choice()
        for item in items[1:]:
            made = self._undominated(self._multiplied(made, item))
        made = self._undominated(self._without(made, node))
        if not made.weights.size:
            raise _TooMany  # nothing is possible: the engine that sums reports it
        self._add(made)
        return made

    def _no_choice(self) -> _Choices:
        """The only choice, of nothing: for variables that are no longer in any table."""
        return _Choices(
            (), (), np.zeros(1, np.int64), np.zeros(1), np.empty((1, 0, 3)), (), np.empty((1, 0), _CODE)
        )

    # --- products and maxima ---

    def _multiplied(self, a: _Choices, b: _Choices) -> _Choices:
        scope, gates = tuple(sorted({*a.scope, *b.scope})), tuple(sorted({*a.gates, *b.gates}))
        cards = [self._cards[v] for v in scope]
        size = math.prod(cards)
        if size > _MOST_ROWS or len(gates) > _MOST_OPEN:
            raise _TooMany
        states = np.indices(cards).reshape(len(cards), size)
        of_a, of_b = (self._group(x.scope, scope, states) for x in (a, b))
        at_a, at_b = (np.searchsorted(x.group, np.arange(self._size(x.scope) + 1)) for x in (a, b))
        many_a, many_b = np.diff(at_a)[of_a], np.diff(at_b)[of_b]
        rows = many_a * many_b
        count = int(rows.sum())
        self._work += count
        if self._work > _MOST_WORK and self._clock.deadline is None:
            raise _TooMany
        chosen = (*a.chosen, *b.chosen)
        if (
            count > _MOST_ROWS
            or count * (2 * len(chosen) + 24 * len(gates) + 32) > current().memory_limit // 4
        ):
            raise _TooMany
        group = np.repeat(np.arange(size), rows)
        within = np.arange(count) - np.repeat(np.cumsum(rows) - rows, rows)
        i = at_a[of_a[group]] + within // many_b[group]
        j = at_b[of_b[group]] + within % many_b[group]
        coefficients = np.empty((count, len(gates), 3))
        for place, g in enumerate(gates):
            if g not in b.gates:
                coefficients[:, place] = a.coefficients[i, a.gates.index(g)]
            elif g not in a.gates:
                coefficients[:, place] = b.coefficients[j, b.gates.index(g)]
            else:
                first, second = a.coefficients[i, a.gates.index(g)], b.coefficients[j, b.gates.index(g)]
                coefficients[:, place] = _combined(first, second)
        order = np.argsort(self._order[list(chosen)], kind="stable") if chosen else np.empty(0, np.int64)
        codes = np.concatenate([a.codes[i], b.codes[j]], axis=1)[:, order]
        ordered = tuple([chosen[k] for k in order.tolist()])
        return _Choices(scope, gates, group, a.weights[i] + b.weights[j], coefficients, ordered, codes)

    def _size(self, scope: Sequence[int]) -> int:
        return math.prod(self._cards[v] for v in scope)

    def _group(self, part: tuple[int, ...], scope: tuple[int, ...], states: np.ndarray) -> np.ndarray:
        found = np.zeros(states.shape[1], np.int64)
        for v in part:
            found = found * self._cards[v] + states[scope.index(v)]
        return found

    def _without(self, made: _Choices, node: int) -> _Choices:
        """The choices after the gate is evaluated or the variable chosen."""
        if node >= self._n:
            i = made.gates.index(node - self._n)
            weights = made.weights + made.coefficients[:, i, 1]
            gates = made.gates[:i] + made.gates[i + 1 :]
            coefficients = np.delete(made.coefficients, i, axis=1)
            return _Choices(made.scope, gates, made.group, weights, coefficients, made.chosen, made.codes)
        if node in made.scope:
            i = made.scope.index(node)
            inner = self._size(made.scope[i + 1 :])
            outer, own = np.divmod(made.group // inner, self._cards[node])
            group = outer * inner + made.group % inner
        else:  # in no table: all states are equally good
            i, group, own = 0, made.group, np.zeros(made.group.size, np.int64)
        sort = np.argsort(group, kind="stable")
        place = int(np.searchsorted(self._order[list(made.chosen)], self._order[node])) if made.chosen else 0
        codes = np.insert(made.codes, place, own, axis=1)[sort]
        chosen = (*made.chosen[:place], node, *made.chosen[place:])
        scope = tuple(v for v in made.scope if v != node)
        weights, coefficients = made.weights[sort], made.coefficients[sort]
        return _Choices(scope, made.gates, group[sort], weights, coefficients, chosen, codes)

    # --- undominated choices ---

    def _undominated(self, made: _Choices) -> _Choices:
        """Drop choices that another beats whatever comes later; of equals keep the first as declared."""
        self._clock.check()
        worth = made.weights[:, None]
        for i in range(len(made.gates)):
            a, b = made.coefficients[:, i, :1], made.coefficients[:, i, 1:2]
            worth = np.concatenate([worth + a, worth + b], axis=1)
        possible = np.any(worth > -np.inf, axis=1)
        if not possible.all():
            made, worth = _rows_of(made, possible), worth[possible]
        if (np.diff(made.group) == 0).any():
            made = _rows_of(made, self._winners(made, worth))
        return made

    def _winners(self, made: _Choices, worth: np.ndarray) -> np.ndarray:
        """Which rows are left, ascending."""
        sort = np.lexsort((*-worth.T[::-1], made.group))
        groups = made.group[sort]
        begins = np.flatnonzero(np.concatenate([[True], np.diff(groups) > 0, [True]]))
        if worth.shape[1] > 2 and float(np.diff(begins).max()) ** 2 * worth.shape[1] > _MOST_COMPARED:
            raise _TooMany
        # How much the last criterion certainly counts relative to each of the others.
        shares = np.zeros(worth.shape[1])
        for i, g in enumerate(made.gates):
            shares[np.arange(shares.size) >> i & 1 == 0] -= self._least[g]
        args = worth[sort], made.codes[sort], begins, shares, self._tied
        steps = float(worth.size) * 8.0
        keep = np.empty(groups.size, np.uint8)
        run("winners", *args, self._ties, keep, steps=steps, clock=self._clock, module=FRONTS)
        if self._ties and int(np.add.reduceat(keep, begins[:-1], dtype=np.int64).max()) > _KEPT_TIES:
            fewer = np.empty_like(keep)
            run("winners", *args, False, fewer, steps=steps, clock=self._clock, module=FRONTS)
            if not np.array_equal(fewer, keep):
                keep, self._ties, self._ties_broken = fewer, False, False
        return np.sort(sort[keep != 0])


def _combined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The coefficients of two parts of a gate combined."""
    a, b, g = np.moveaxis(first, -1, 0)
    more_a, more_b, more_g = np.moveaxis(second, -1, 0)
    return np.stack([a + more_a, np.logaddexp(a + more_b, b + more_g), g + more_g], axis=-1)


def _rows_of(made: _Choices, rows: np.ndarray) -> _Choices:
    return replace(
        made,
        group=made.group[rows],
        weights=made.weights[rows],
        coefficients=made.coefficients[rows],
        codes=made.codes[rows],
    )
