"""Rows with one pattern of observed variables: the continuous part is eliminated once, for all of them.

Under each configuration of the discrete variables that select densities, the observed values are jointly
normal. Means, covariance factors and gains are computed once for each configuration, log densities of all
rows are matrix products, and the discrete part is a table over the configurations and the other observed
variables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pgm.errors import TooLarge
from pgm.factors import Dense, Factor
from pgm.frames.soft_cells import SoftCells
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.gaussian import elimination, own_densities
from pgm.inference.engines.gaussian.linked_rows import CurveLink, Link
from pgm.inference.engines.gaussian.row_densities import Conditional, Normals, conditional_of
from pgm.inference.engines.gaussian.scores import closure
from pgm.inference.engines.wide_numbers import log_of
from pgm.inference.program.continuous import Gaussians
from pgm.inference.program.reduction import Known
from pgm.runtime.room import check_room
from pgm.runtime.running import Impossible

_MOST_CONFIGURATIONS = 4096
_MOST_ENTRIES = 2**16  # of a table over configurations and what is observed
_MOST_MOMENTS = 2**21  # entries of the covariances of all configurations
_AT_ONCE = 2**20  # values in a chunk of rows
_MOST_AXES = 30
_FARTHEST = 5e8  # rows with logarithms further apart are answered one by one, which may refuse them
_SMALLEST = 1e-200  # of a table's entries: smaller ones may have underflowed
_LEAST_LOW = -900  # as a power of two, the smallest product of all tables together


@dataclass(frozen=True, eq=False, slots=True)
class Answers:
    """The results for the rows of a frame; rows that are not `done` have to be answered one by one."""

    done: np.ndarray  # bool
    logs: np.ndarray  # log density of each row
    shares: Mapping[int, np.ndarray]  # P(state | row) of discrete targets, by position: (rows, states)
    means: Mapping[int, np.ndarray]  # of continuous targets, by index


@dataclass(frozen=True, eq=False, slots=True)
class Linked:
    """The distributions with continuous parents that are not linear, in all rows."""

    links: Sequence[Link]
    curves: Sequence[CurveLink]
    parents: Sequence[tuple[int, ...]]  # of every variable, by position
    factors: Sequence[Factor]  # of the discrete variables, in order

    def surely_possible(self, observed: Iterable[int], g: Gaussians) -> bool:
        """Whether every state or value of these variables has positive probability or density."""
        if not (g.arrays.sd > 0.0).all():
            return False
        place = np.cumsum(g.index_of < 0) - 1
        children = {link.score.child for link in self.links}
        for v in observed:
            if v in children:
                return False
            if int(g.index_of[v]) in g.own:
                return False
            if g.index_of[v] < 0:
                part = self.factors[int(place[v])]
                if not isinstance(part, Dense) or part.log or not (part.values > 0.0).all():
                    return False
        return True


class Rows:
    """Rows with codes of discrete variables and values of continuous ones, and a question about them."""

    def __init__(
        self,
        posterior: Posterior,
        gaussians: Gaussians,
        codes: Mapping[int, np.ndarray],
        values: Mapping[int, np.ndarray],
        n_rows: int,
        targets: Sequence[int],
        continuous: Sequence[int],
        linked: Linked | None = None,
        soft: Mapping[int, SoftCells] | None = None,
    ) -> None:
        """Take in the rows.

        Args:
            posterior: the discrete part, without evidence.
            gaussians: the continuous part.
            codes: the states of discrete variables by position, -1 where not observed.
            values: the values of continuous ones by index, NaN where not observed.
            n_rows: how many rows there are.
            targets: discrete variables whose probabilities are wanted, by position.
            continuous: continuous ones whose means are wanted, by index.
            linked: distributions with continuous parents that are not linear, if there are any.
            soft: cells that weight the states of discrete variables, by position.
        """
        self.linked, self.soft = linked, soft or {}
        self._weights = {v: cells.logs() for v, cells in self.soft.items()}
        self.posterior, self.gaussians, self.codes, self.values = posterior, gaussians, codes, values
        self.targets, self.continuous = targets, continuous
        self._own: dict[int, np.ndarray] = {}  # log densities of blocks with densities of their own
        self.cards, self.n_rows = posterior.program.arrays.cards, n_rows

    @cached_property
    def found(self) -> Answers:
        """The answers so far: at first none."""
        n = self.n_rows
        return Answers(
            np.zeros(n, bool),
            np.full(n, math.nan),
            {v: np.full((n, int(self.cards[v])), math.nan) for v in self.targets},
            {x: np.full(n, math.nan) for x in self.continuous},
        )

    def answer(self, rows: np.ndarray) -> Answers:
        """Answer the rows that share their observed variables with others, if possible."""
        for group in self._groups(rows):
            self.posterior.clock.check()
            if group.size > 1 or self.linked is not None:
                self._answer(group, {})
        return self.found

    def at_once(self) -> Answers | None:
        """The distributions of targets, if in all rows all parents and no descendants are observed."""
        linked, g = self.linked, self.gaussians
        if linked is None:
            return None
        links = {link.score.child: link for link in linked.links}
        curves = {link.score.child: link for link in linked.curves}
        real = g.positions[self.continuous].tolist()
        targets = [*self.targets, *real]
        seen = [*self.codes, *(int(g.positions[x]) for x in self.values)]
        above = closure(seen, linked.parents)  # including the observed variables
        if (
            not targets
            or any(v not in links or v in above for v in self.targets)
            or any(v not in curves or v in above for v in real)
            or not linked.surely_possible(above, g)
            or not all((links[v] if v in links else curves[v]).all_known() for v in targets)
        ):
            return None
        return Answers(
            np.ones(self.n_rows, bool),
            np.broadcast_to(math.nan, self.n_rows),
            {v: links[v].shares() for v in self.targets},
            {x: curves[v].moments()[1] for x, v in zip(self.continuous, real, strict=True)},
        )

    def _groups(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        """Rows that observe the same variables, and the same states of those that select densities."""
        switches = set(self.gaussians.arrays.switches.tolist())
        keys = [column[rows] if v in switches else column[rows] >= 0 for v, column in self.codes.items()]
        keys += [~np.isnan(column[rows]) for column in self.values.values()]
        keys += [cells.which[rows] >= 0 for cells in self.soft.values()]
        return _split(rows, keys)

    def _answer(self, rows: np.ndarray, fixed: dict[int, int]) -> None:
        """Answer the rows of one group, which also share these states."""
        g, first = self.gaussians, rows[0]
        observed = [v for v, column in self.codes.items() if column[first] >= 0]
        seen = [x for x, column in self.values.items() if not math.isnan(column[first])]
        hidden = [x for x in self.continuous if x not in seen]
        marked = np.zeros(g.n, np.uint8)
        marked[[*seen, *hidden]] = 1
        relevant = elimination.ancestors(g, marked)
        if g.own and self._is_refused(seen, relevant):
            return
        switches = set(g.arrays.switches[np.repeat(relevant, np.diff(g.arrays.switch_at)) != 0].tolist())
        fixed = dict(fixed)
        fixed |= {v: int(self.codes[v][first]) for v in observed if v in switches}
        weighted = [v for v, cells in self.soft.items() if cells.which[first] >= 0]
        about = [*observed, *weighted, *self.targets, *(int(g.positions[x]) for x in (*seen, *hidden))]
        links = self._relevant(first, self._about(about))
        if links is None:
            return
        open_ = {v for link in links for v in (*link.open_at(first), link.score.child)} - set(observed)
        others = [v for v in observed if v not in fixed]
        normals = self._normals(relevant, switches | open_ | set(weighted), fixed)
        if normals is None:
            return
        size = math.prod(int(self.cards[v]) for v in (*normals.axes, *others))
        if size > _MOST_ENTRIES or len(normals.axes) + len(others) > _MOST_AXES:
            if others:
                for part in _split(rows, [self.codes[v][rows] for v in others]):
                    self.posterior.clock.check()
                    if part.size > 1:
                        self._answer(part, {v: int(self.codes[v][part[0]]) for v in others})
            return
        discrete = replace(self.posterior, known=Known(dict(sorted(fixed.items())), {}))
        conditional = conditional_of(g, normals, seen, hidden)
        if conditional is None:
            return
        try:
            # Rows that overflow here become infinite or NaN, and are answered one by one.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                self._fill(rows, discrete, normals, others, seen, hidden, conditional, links)
        except (TooLarge, Impossible):  # one by one they may fit, or report what is impossible
            self.found.done[rows] = False

    def _about(self, named: list[int]) -> list[int]:
        """The variables whose distributions matter, beside those of their ancestors."""
        return named

    def _relevant(self, first: int, about: Sequence[int]) -> list[Link] | None:
        """The discrete children of continuous variables that matter here; None if such a parent is hidden."""
        if self.linked is None:
            return []
        needed = closure(about, self.linked.parents)
        if any(link.score.child in needed for link in self.linked.curves):
            return None  # each row has a density of its own
        found = [link for link in self.linked.links if link.score.child in needed]
        return found if all(link.logs()[0][first] >= 0 for link in found) else None

    def _is_refused(self, seen: list[int], relevant: np.ndarray) -> bool:
        """Whether these rows are refused: a block is observed in part, or hidden although it matters."""
        g, there = self.gaussians, np.zeros(self.gaussians.n, bool)
        there[seen] = True
        torn = own_densities.whole_blocks(g, there)[1]
        return bool(torn) or bool((own_densities.unknown(g, there) & (relevant != 0)).any())

    def _own_logs(self, x: int) -> np.ndarray:
        """Log densities of a block in all rows, a column for each density: computed once."""
        if x not in self._own:
            own = self.gaussians.own[x]
            columns = own_densities.columns_of(self.gaussians, x)
            rows, states = self.n_rows, own.bias.size
            densities = f"The densities of {rows:,} rows under {states:,} states take"
            check_room(8.0 * rows * states, densities, "Ask for fewer rows at a time")
            values = np.column_stack([self.values[y] for y in columns])
            there = ~np.isnan(values).any(axis=1)
            found = np.zeros((len(values), own.bias.size))
            found[there] = own.logs(values[there])
            self._own[x] = found
        return self._own[x]

    def _normals(self, relevant: np.ndarray, switches: set[int], fixed: Mapping[int, int]) -> Normals | None:
        d = self.gaussians.arrays
        axes = sorted(v for v in switches if v not in fixed)
        cards = [int(self.cards[v]) for v in axes]
        n, m = math.prod(cards), int(np.count_nonzero(relevant))
        if n > _MOST_CONFIGURATIONS or n * m * m > _MOST_MOMENTS:
            return None
        digits: dict[int, np.ndarray | int] = dict(fixed)
        digits |= dict(zip(axes, np.unravel_index(np.arange(n), cards), strict=True)) if axes else {}
        order = [int(x) for x in self.gaussians.order if relevant[x]]
        rows = {}
        for x in order:
            row = np.zeros(n, np.int64)
            for v in d.switches[d.switch_at[x] : d.switch_at[x + 1]].tolist():
                row = row * int(self.cards[v]) + digits[v]
            rows[x] = d.row_at[x] + row
        return Normals(axes, rows, order)

    def _fill(
        self,
        rows: np.ndarray,
        discrete: Posterior,
        normals: Normals,
        others: list[int],
        seen: list[int],
        hidden: list[int],
        conditional: Conditional,
        links: Sequence[Link] = (),
    ) -> None:
        axes, cards = normals.axes, self.cards
        weighted = [v for v, cells in self.soft.items() if cells.which[rows[0]] >= 0]
        digits = (
            np.unravel_index(np.arange(math.prod(dims)), dims)
            if (dims := [int(cards[v]) for v in axes])
            else ()
        )
        total = log_of(discrete.total())
        n = math.prod(int(cards[v]) for v in axes)
        shape = [int(cards[v]) for v in others]

        def table(more: Sequence[int] = ()) -> np.ndarray:
            scope = [*axes, *others, *more]
            found = discrete.joint(scope) if scope else np.ones(())
            return np.asarray(found).reshape(n, math.prod(shape), -1)

        weights = table()[:, :, 0]
        low = float(discrete.program.arrays.low.sum())
        positive = weights[weights > 0.0]
        narrow = low < _LEAST_LOW and positive.size < weights.size
        if narrow or discrete.program.wide_exponents is not None or positive.min(initial=1.0) < _SMALLEST:
            return
        state_of = dict(discrete.known.hard)
        open_ = [v for v in self.targets if v not in state_of and v not in others and v not in axes]
        tables = {v: table([v]) for v in open_}
        widest = max([1, len(normals.order), *[int(cards[v]) for v in open_]])
        step = max(1, _AT_ONCE // (n * widest))
        for begin in range(0, rows.size, step):
            self.posterior.clock.check()
            part = rows[begin : begin + step]
            at = np.zeros(part.size, np.int64)
            for v, card in zip(others, shape, strict=True):
                at = at * card + self.codes[v][part]
            values = np.array([self.values[x][part] for x in seen]).reshape(-1, part.size)
            logs, means = conditional.of(values)
            for link in links:
                logs = logs + link.likelihood(part, axes, digits, n)
            for v in weighted:
                logs = logs + self._weights[v][self.soft[v].which[part]].T[digits[axes.index(v)]]
            here = weights[:, at]
            possible = (here > 0.0) & (logs > -math.inf) if links or weighted else here > 0.0
            for x, which in conditional.own.items():
                more = self._own_logs(x)[part].T[which]
                logs, possible = logs + more, possible & (more > -math.inf)
            top = np.where(possible, logs, -math.inf).max(axis=0)
            least = np.where(possible, logs, math.inf).min(axis=0)
            fine = np.isfinite(top) & (top - least < _FARTHEST)
            likely = np.exp(np.where(possible, logs - np.where(fine, top, 0.0), -math.inf).clip(max=0.0))
            joint = likely * here
            sums = joint.sum(axis=0)
            self.found.logs[part] = np.log(sums) + top + total
            joint /= sums
            self.found.done[part] = fine & (sums > 0.0)
            pattern = Pattern(normals, others, state_of, seen, hidden, conditional)
            self._use(part, joint, at, pattern, values, means)
            for v in self.targets:
                out = self.found.shares[v]
                if v in state_of or v in others:
                    out[part] = 0.0
                    out[part, self.codes[v][part]] = 1.0
                elif v in axes:
                    place = axes.index(v)
                    all_ = joint.reshape(*[int(cards[a]) for a in axes], part.size)
                    out[part] = (
                        np.moveaxis(all_, place, 0).reshape(int(cards[v]), -1, part.size).sum(axis=1).T
                    )
                else:
                    shares = np.einsum("kn,knc->nc", likely, tables[v][:, at])
                    out[part] = shares / shares.sum(axis=1, keepdims=True)

    def _use(
        self,
        part: np.ndarray,
        joint: np.ndarray,
        at: np.ndarray,
        pattern: Pattern,
        values: np.ndarray,
        means: list[np.ndarray],
    ) -> None:
        """Use what was found for some rows of a pattern: here for the means of continuous targets.

        Args:
            part: the rows.
            joint: P(configuration | row), (configurations, rows).
            at: the index of the combination of states that each row has of `pattern.others`.
            pattern: what these rows have in common.
            values: of the observed variables, (seen, rows).
            means: for each hidden target, (configurations, rows).
        """
        for x in self.continuous:
            if x in pattern.seen:
                self.found.means[x][part] = self.values[x][part]
            else:
                self.found.means[x][part] = (joint * means[pattern.hidden.index(x)]).sum(axis=0)


@dataclass(frozen=True, eq=False, slots=True)
class Pattern:
    """What rows of a group have in common."""

    normals: Normals
    others: list[int]  # discrete variables observed in all rows that select no density
    fixed: Mapping[int, int]  # states that all rows share
    seen: list[int]  # observed continuous variables, by index
    hidden: list[int]  # continuous targets that are not observed
    conditional: Conditional


def _split(rows: np.ndarray, keys: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
    """The rows whose keys are equal, in their order."""
    words = np.array([key for key in keys if (key != key[:1]).any()], dtype=np.int64)
    if not words.size:
        yield rows
        return
    order = np.lexsort(words)
    differs = (words[:, order[1:]] != words[:, order[:-1]]).any(axis=0)
    yield from np.split(rows[order], np.flatnonzero(differs) + 1)
