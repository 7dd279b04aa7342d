"""A model with continuous variables and its evidence: they are eliminated, and tables are left."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.config import current
from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.errors import InvalidArgument, InvalidEvidence, listed
from pgm.evidence import Observed
from pgm.factors import Dense, Factor
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.gaussian import (
    answers,
    deterministic,
    elimination,
    expected_statistics,
    own_densities,
    scores,
)
from pgm.inference.engines.gaussian.elimination import Eliminated
from pgm.inference.engines.gaussian.strong_tree import StrongTreeLayout, make_layout
from pgm.inference.engines.naming import Explanation, NamedMaxima, NamedSums
from pgm.inference.engines.table_sums import Context, TableSums
from pgm.inference.engines.wide_numbers import Wide, log_of, times_exp
from pgm.inference.program import Program, compile_program
from pgm.inference.program.continuous import Gaussians
from pgm.results import (
    Assignment,
    Density,
    Distribution,
    Marginals,
    MaxMarginals,
    Report,
    Samples,
    as_density,
    exact_report,
)
from pgm.runtime.running import GAUSSIAN, Impossible, run
from pgm.variables import Interval, Variable, VariableList, as_float

if TYPE_CHECKING:
    from pgm.inference.engines.model_snapshot import Linked, ModelSnapshot
    from pgm.inference.engines.plan import Plan

_LN2 = math.log(2.0)
_FARTHEST = 1e9  # between the logarithms of a table
_NOTHING = np.empty(0, np.int64)
_DOUBLES = 600.0  # logarithms further apart do not fit weights in doubles
_MIXTURE_BYTES = 2e8  # of mixtures for all variables at once; above, only their moments are kept


@dataclass(frozen=True, eq=False, slots=True)
class Solved:
    """A model whose continuous variables have been eliminated, and what the outward pass needs."""

    made: Eliminated | None  # None: no continuous variable matters
    discrete: TableSums
    offset: float  # log of the factor to multiply `discrete` by
    repeats: bool  # some of the evidence follows from the rest without noise, so it has no density
    tables: Mapping[
        tuple[int, ...], int
    ]  # the factors of `discrete` that elimination left, by their variables

    def factor(self, axes: tuple[int, ...]) -> int:
        """The index of the table over these variables in the program of `discrete`."""
        return int(np.flatnonzero(self.discrete.program.factor_of == self.tables[axes])[0])


@dataclass(frozen=True, eq=False, slots=True)
class HybridSums(Context, NamedSums):
    """A compiled model with continuous variables and its evidence, ready to be summed.

    The discrete variables are summed by another engine, for which a continuous variable has a single state;
    `known` holds the evidence on discrete variables only.
    """

    plain: TableSums = field(kw_only=True)  # the discrete part by itself
    gaussians: Gaussians = field(kw_only=True)
    factors: Sequence[Factor] = field(kw_only=True)  # of the discrete part
    soft: dict[int, np.ndarray] = field(kw_only=True)  # marginals wanted of discrete variables
    seen: np.ndarray = field(kw_only=True)  # uint8[n] which continuous variables are observed
    value: np.ndarray = field(kw_only=True)  # float64[n] their values
    intervals: dict[int, Interval] = field(kw_only=True)
    # Discrete variables with continuous parents, which are observed where they matter.
    linked: Linked | None = field(kw_only=True)
    # of observed blocks with densities of their own, see own_densities.py
    likelihoods: Mapping[tuple[int, ...], np.ndarray] = field(kw_only=True, default_factory=dict)
    unknown: np.ndarray = field(kw_only=True)  # bool[n], see own_densities.py
    solved: dict[object, Solved] = field(kw_only=True, default_factory=dict)
    measured: Report | None = field(kw_only=True, default=None)  # of a model that approximates another

    @property
    def report(self) -> Report:
        """How the answers are made."""
        if self.measured is None:
            return exact_report(self.engine, self.clock.profile, self.given)
        return self.measured.changed(profile=self.clock.profile)

    @property
    def doubtful(self) -> bool:
        """Whether the approximating model has not converged."""
        return self.measured is not None and not self.measured.converged

    # --- helpers ---

    def named(self, indices: np.ndarray | Sequence[int] | None = None) -> list[str]:
        """The names of continuous variables, of all or of those with these indices."""
        indices = np.arange(self.gaussians.n) if indices is None else indices
        return [self.names[int(self.gaussians.positions[x])] for x in indices]

    def among(self, positions: Sequence[int]) -> list[int]:
        """The indices of the continuous variables among these positions."""
        index_of = self.gaussians.index_of
        return [x for v in positions if (x := int(index_of[v])) >= 0]

    def _layout(self, targets: np.ndarray, wanted: np.ndarray, whole: bool) -> StrongTreeLayout:
        g = self.gaussians
        last = np.array(sorted(self.intervals), dtype=np.int64)
        marked = self.seen.copy()
        for some in (targets, wanted, last):
            marked[some] = 1
        cards = np.asarray(self.program.arrays.cards[: g.index_of.size])
        codes = np.full(g.index_of.size, -1, np.int64)
        for v, code in self.known.hard.items():
            codes[v] = code

        room = min(_MIXTURE_BYTES, 0.25 * current().memory_limit) if whole else 0.0

        def lay_out() -> StrongTreeLayout:
            relevant = elimination.ancestors(g, marked)
            self.refuse_unknown(relevant != 0)
            return make_layout(
                g, cards, codes, self.seen, relevant, targets, last, room, self.names, self.clock
            )

        key = ("gaussian", marked.tobytes(), self.seen.tobytes(), (codes >= 0).tobytes(), targets.tobytes(),
               last.tobytes(), room)  # fmt: skip
        return self.trees.get(key, lay_out)

    def refuse_unknown(self, relevant: np.ndarray | None = None, *, others: bool = False) -> None:
        """Refuse a question that needs hidden variables with arbitrary densities; None: that needs all.

        `others`: the same question about other variables has an answer.
        """
        lost = self.unknown if relevant is None else self.unknown & relevant
        if lost.any():
            own = [x for x in np.flatnonzero(lost).tolist() if x in self.gaussians.own]
            raise own_densities.refuse(
                self.named(own or np.flatnonzero(lost)), self.named(np.flatnonzero(lost)), others=others
            )

    def _reachable(self) -> np.ndarray:
        """The continuous variables about which exact inference has answers."""
        return np.flatnonzero(~self.unknown)

    def solve(
        self,
        targets: Sequence[int] = (),
        *,
        everything: bool = False,
        maximise: bool = False,
    ) -> Solved:
        """Eliminate the continuous variables, the targets last and in one clique; results are kept.

        Args:
            targets: indices of continuous variables.
            everything: keep all continuous variables in the tree, irrelevant ones included.
            maximise: for the mode of the density instead of its integral.
        """
        key = (tuple(targets), everything, maximise)
        if key not in self.solved:
            self.solved[key] = self._solve(np.array(targets, dtype=np.int64), everything, maximise)
        return self.solved[key]

    def _solve(self, targets: np.ndarray, everything: bool, maximise: bool) -> Solved:
        g = self.gaussians
        wanted = self._reachable() if everything else _NOTHING
        if not (targets.size or wanted.size or self.seen.any() or self.intervals):
            discrete = self.plain.fitted(self.soft) if self.soft else self.plain
            return Solved(None, discrete, 0.0, False, {})
        layout = self._layout(targets, wanted, everything and not maximise)
        layout.check(self.names, outward=everything or targets.size > 0)
        digit = np.zeros(g.index_of.size, np.int64)
        for v, code in self.known.hard.items():
            digit[v] = code
        made = elimination.eliminate(
            g.arrays, layout, digit, self.seen, self.value, self.clock, maximise=maximise
        )
        found = elimination.tables(made, self._inside(made, targets))
        for axes, more in self.likelihoods.items():
            logs, orders = found.get(axes, (0.0, np.zeros(more.shape, np.int64)))
            found[axes] = logs + more, orders
        return self._for_discrete(made, found)

    def _inside(self, made: Eliminated, targets: np.ndarray) -> dict[int, np.ndarray]:
        """Log probabilities that variables lie in their intervals, for each configuration of their root."""
        found: dict[int, np.ndarray] = {}
        t = made.layout.tree
        for x, interval in self.intervals.items():
            c, j = self.place(made.layout, x)
            if targets.size and (
                t.parent[c] >= 0 or any(self.place(made.layout, y)[0] == c for y in targets)
            ):
                self.refuse_truncated([], always=True)
            if c in found or t.parent[c] >= 0:
                raise InvalidEvidence(
                    f"{listed(self.named(list(self.intervals)))}: intervals of several dependent variables "
                    "need an integral in several dimensions, which has no exact value. Give one interval, "
                    "and values for the others."
                )
            mean, cov = self._root(made, c, [j])
            with np.errstate(invalid="ignore"):
                inside = elimination.log_inside(mean[:, j], cov[:, j, j], interval)
            impossible = made.logs[t.log_at[c] : t.log_at[c + 1]] == -np.inf
            found[c] = np.where(impossible, 0.0, inside)
        return found

    def place(self, layout: StrongTreeLayout, x: int) -> tuple[int, int]:
        """The clique that eliminates a variable, and its column there."""
        t = layout.tree
        for at in (t.columns == x).nonzero()[0].tolist():
            c = int(t.column_at.searchsorted(at, side="right")) - 1
            if at - t.column_at[c] < t.own[c]:
                return c, int(at - t.column_at[c])
        raise AssertionError(f"variable {x} is in no clique")

    def _root(
        self, made: Eliminated, c: int, columns: Sequence[int], weight: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of a root clique, for each of its configurations.

        They are right for the columns asked for and for all columns after the first of these.
        """
        t = made.layout.tree
        assert t.parent[c] < 0
        n_confs = int(t.log_at[c + 1] - t.log_at[c])
        if weight is None:
            weight = (made.logs[t.log_at[c] : t.log_at[c + 1]] > -np.inf).astype(np.float64)
        found = elimination.moments(made, np.array([c]), {c: weight}, self.clock, min(columns))
        n = int(t.column_at[c + 1] - t.column_at[c])
        mean = found.mean[t.mean_at[c] : t.mean_at[c + 1]].reshape(n_confs, n)
        return mean, found.cov[t.cov_at[c] : t.cov_at[c + 1]].reshape(n_confs, n, n)

    def _for_discrete(
        self, made: Eliminated, found: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]]
    ) -> Solved:
        """Hand the tables to the engine for tables: as weights of single variables, or as factors."""
        repeats = False
        tables: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
        offset = 0.0
        for axes, (logs, orders) in found.items():
            self.clock.check()
            possible = logs > -np.inf
            if not possible.any():
                raise Impossible
            some = orders[possible]
            if axes:  # it may be large: each pass over it takes time
                self.clock.check()
            repeats = repeats or bool(some.any())
            if axes and (some >= elimination.REPEATED).any() and (some != some.flat[0]).any():
                raise elimination.refuse_repeats(self.named(np.flatnonzero(self.seen)))
            if axes:
                self.clock.check()
                tables[axes] = (logs, np.where(possible, orders - some.min(), 0))
            else:
                offset += float(logs)
        # If some states determine a value (sd = 0) and others have a density there, the former have all the
        # probability: they are lifted out of reach of the others.
        if tables and any(orders.any() for _, orders in tables.values()):
            spans = [float(np.ptp(logs[logs > -np.inf])) for logs, _ in tables.values()]
            lift = 60.0 + math.fsum(spans) + self._span()
            tables = {axes: (logs + lift * orders, orders) for axes, (logs, orders) in tables.items()}
        weights: dict[int, tuple[np.ndarray]] = {}
        more: list[Factor] = []
        factor_of: dict[tuple[int, ...], int] = {}
        for axes, (logs, _) in tables.items():
            self.clock.check()
            top = float(logs.max())
            offset += top
            low = float(logs[logs > -np.inf].min())
            if top - low > _FARTHEST:
                raise InvalidEvidence(
                    f"{listed(self.named(np.flatnonzero(self.seen)))}: so far from the expected values "
                    f"that the likelihoods of different states differ by a factor of e**{top - low:.3g}; "
                    f"the largest that can be handled is e**{_FARTHEST:g}. Use other units, or a larger sd."
                )
            self.clock.check()
            narrow = top - low < _DOUBLES
            values = np.ascontiguousarray(np.exp(logs - top) if narrow else logs - top)
            if len(axes) == 1 and narrow:
                weights[axes[0]] = (values,)
            else:
                factor_of[axes] = len(self.factors) + len(more)
                more.append(Dense(np.array([axes], dtype=np.int64), values, log=not narrow))
                # Uniform weights: without any the engine would cache a tree for these particular tables.
                weights.setdefault(axes[0], (np.ones(logs.shape[0]),))
        discrete = self.plain
        if more:
            cards = self.program.arrays.cards[: self.program.n_named].tolist()
            discrete = replace(
                discrete, program=compile_program(cards, [*self.factors, *more], check=self.clock.check)
            )
        if weights:
            discrete = replace(discrete, known=discrete.known.with_weights(weights))
        if self.soft:
            discrete = discrete.fitted(self.soft)
        return Solved(made, discrete, offset, repeats, factor_of)

    def _span(self) -> float:
        """An upper bound on how far apart the logarithms of products of the discrete part are."""
        weights = [w[w > 0] for tables in self.known.weights.values() for w in tables]
        return -_LN2 * float(self.program.arrays.low.sum()) + math.fsum(
            math.log(w.max()) - math.log(w.min()) for w in weights
        )

    # --- questions ---

    def total(self) -> Wide:
        """The density of the evidence, as a wide number."""
        return times_exp(self.solve().discrete.total(), self.log_density())

    def log_density(self) -> float:
        """The log of the factor that turns the discrete part's total into the density of the evidence."""
        solved = self.solve()
        if solved.repeats:
            raise elimination.refuse_repeats(self.named(np.flatnonzero(self.seen)))
        return solved.offset

    def joint(self, targets: Sequence[int], question: str = "the joint distribution") -> np.ndarray:
        """P(targets | evidence) of discrete variables."""
        return self.solve().discrete.joint(targets, question)

    def density(self, positions: Sequence[int], variables: tuple[Variable, ...], report: Report) -> Density:
        """The joint density of continuous variables."""
        g = self.gaussians
        continuous = self.among(positions)
        if len(continuous) < len(positions):
            discrete = [self.names[v] for v in positions if g.index_of[v] < 0]
            raise InvalidArgument(
                f"A joint distribution is over discrete or over continuous variables; {listed(discrete)} and "
                f"{listed(self.named(continuous))} are of both kinds. Ask for them separately, or for the "
                "continuous ones given each state."
            )
        known = [x for x in continuous if self.seen[x]]
        free = [x for x in continuous if not self.seen[x]]
        own = own_densities.asked_for(g, continuous, self.seen, list(self.intervals)) if g.own else None
        if own is not None:
            return self._of_own(own, continuous, variables, report)
        if self.intervals:
            self.refuse_truncated(free)
        k, d = 1, len(continuous)
        weights = np.ones(1)
        means, covs = np.zeros((1, d)), np.zeros((1, d, d))
        solved = self.solve(free)
        if free and solved.made is not None:
            made, t = solved.made, solved.made.layout.tree
            c, _ = self.place(made.layout, free[0])
            weights = self.weights(solved, c)
            columns = t.columns[t.column_at[c] : t.column_at[c + 1]].tolist()
            at = [columns.index(x) for x in free]
            mean, cov = self._root(made, c, at, weights)
            used = (weights > 0).nonzero()[0]
            weights, k = weights[used] / weights[used].sum(), used.size
            place = [continuous.index(x) for x in free]
            means, covs = np.zeros((k, d)), np.zeros((k, d, d))
            rows, columns_ = np.array(place)[:, None], np.array(at)[:, None]
            means[:, place] = mean[used[:, None], at]
            covs[:, rows, place] = cov[used[:, None, None], columns_, at]
        elif self.known.hard or self.known.weights or self.soft:
            solved.discrete.total()  # it may be impossible
        for x in known:
            means[:, continuous.index(x)] = self.value[x]
        return as_density(variables, weights, means, covs, report)

    def _of_own(
        self, x: int, continuous: Sequence[int], variables: tuple[Variable, ...], report: Report
    ) -> Density:
        """The moments of variables of a block with a density of its own, which no evidence informs.

        x is the last variable of the block.
        """
        g, discrete = self.gaussians, self.solve().discrete
        axes = own_densities.switches_of(g, x)
        codes, open_ = self.known.hard, [v for v in axes if v not in self.known.hard]
        if open_:
            shares = discrete.joint(open_)
        else:
            discrete.total()  # it may be impossible
            shares = np.ones(())
        means, covs = g.own[x].moments()
        at = np.arange(len(means)).reshape([int(self.program.arrays.cards[v]) for v in axes])
        selected = at[tuple([codes.get(v, slice(None)) for v in axes])].ravel()
        columns = [own_densities.columns_of(g, x).index(c) for c in continuous]
        weights = shares.ravel() / shares.sum()
        chosen = covs[selected][:, columns][:, :, columns]
        return as_density(variables, weights, means[selected][:, columns], chosen, report, "moments")

    def refuse_truncated(self, continuous: Sequence[int], *, always: bool = False) -> None:
        """Refuse an interval on one of these; `always`: on any variable, where all densities matter."""
        held = [x for x in continuous if x in self.intervals]
        if held or always:
            some = held or list(self.intervals)
            raise InvalidEvidence(
                f"{listed(self.named(some))}: given an interval, the continuous variables that depend on it "
                "are no longer normally distributed. Give a value, or ask for P(interval): "
                "net.probability({name: pgm.Interval(lo, hi)}, given=...)."
            )

    def weights(self, solved: Solved, c: int) -> np.ndarray:
        """P(configuration | evidence) of the discrete variables of a root clique, flat."""
        assert solved.made is not None
        t = solved.made.layout.tree
        axes = t.axes[t.axis_at[c] : t.axis_at[c + 1]].tolist()
        if not axes:
            if self.known.hard or self.known.weights or solved.discrete.known.weights:
                solved.discrete.total()  # it may be impossible
            return np.ones(1)
        return solved.discrete.joint(axes).ravel()

    def marginals(self, targets: Sequence[int] | None = None) -> np.ndarray:
        """P(v | evidence) of all discrete variables, one after the other; continuous ones have one entry."""
        return self.solve(everything=self.at_once()).discrete.marginals()

    def at_once(self) -> bool:
        """Whether all continuous variables fit into one tree, irrelevant ones included."""
        return self._layout(_NOTHING, self._reachable(), True).fits(outward=True)

    def plan(self, question: str, targets: Sequence[int] | None) -> Plan:
        """The plan of the discrete part, plus the cost of the continuous variables before and after it."""
        continuous = [x for x in self.among(targets or ()) if not self.seen[x]]
        if not (targets is None or continuous or self.seen.any() or self.intervals):
            found = self.plain.plan(question, targets)
            own = self.measured
            return found if own is None else replace(found, engine=own.engine, exact=False)
        wanted = self._reachable() if targets is None else _NOTHING
        layout = self._layout(np.array(continuous, dtype=np.int64), wanted, targets is None)
        t = layout.tree
        scopes = {
            tuple(sorted(t.axes[t.axis_at[c] : t.axis_at[c + 1]].tolist())): None
            for c in np.flatnonzero(t.parent < 0).tolist()
        }
        ones: list[Factor] = []
        cards = layout.cards
        for axes in scopes:
            if len(axes) > 1 and layout.log2_largest < 20.0:
                ones.append(Dense(np.array([axes]), np.ones([int(cards[v]) for v in axes])))
        plain = self.plain
        if ones:
            program = compile_program(cards.tolist(), [*self.factors, *ones], as_given=True)
            plain = replace(plain, program=program)
        states = None if targets is None else [v for v in targets if self.gaussians.index_of[v] < 0]
        if states == []:  # the weights of the mixture
            c = self.place(layout, continuous[0])[0] if continuous else -1
            states = t.axes[t.axis_at[c] : t.axis_at[c + 1]].tolist() if continuous else []
        found = plain.plan(question, states)
        outward = targets is None or bool(continuous)
        more = layout.bytes(outward=outward)
        if self.measured is not None:
            found = replace(found, engine=self.measured.engine, exact=False)
        return replace(
            found,
            bytes=found.bytes + more,
            bytes_in_doubles=found.bytes_in_doubles + more,
            bytes_inward=found.bytes_inward + layout.bytes_inward,
            bytes_all=found.bytes_all + layout.bytes_inward + layout.bytes_outward,
            operations=found.operations + layout.steps * (2.0 if outward else 1.0),
            continuous=layout.described(self.names),
        )

    def distribution(self, variables: VariableList, targets: Sequence[int]) -> Distribution | Density:
        """P(targets | evidence): a density if they are continuous."""
        if self.among(targets):
            return self.density(targets, tuple([variables[i] for i in targets]), self.report)
        return NamedSums.distribution(self, variables, targets)

    def every_marginal(self, variables: VariableList, targets: Sequence[int] | None) -> Marginals:
        """P(variable | evidence) of each variable that is not observed."""
        return answers.marginals(variables, self, targets, self.marginals())


@dataclass(frozen=True, eq=False, slots=True)
class HybridPosterior(HybridSums, NamedMaxima):
    """The same with the exact engine for the discrete variables, which can do more than sum."""

    def _solved(self) -> Posterior:
        """The discrete part, for the exact engine."""
        found = self.solve().discrete
        assert isinstance(found, Posterior)
        return found

    def explained(
        self, targets: Sequence[int] | None, k: int
    ) -> tuple[list[Explanation], Callable[[], Wide | None]]:
        """The k most probable states of discrete variables, and P(evidence)."""
        report_of = self._solved().report_of
        found = self.best(targets, k)
        return [
            Explanation(codes, value, report_of("exact", sure)) for codes, value, sure in found
        ], self.total

    def assignments(
        self,
        variables: VariableList,
        targets: Sequence[int] | None,
        k: int,
        observed: Observed,
        *,
        normalised: bool,
    ) -> list[Assignment]:
        """The k most probable assignments; if some targets are continuous, the one of greatest density."""
        if targets is None or self.among(targets):
            return answers.best(variables, self, targets, k, observed)
        return NamedMaxima.assignments(self, variables, targets, k, observed, normalised=normalised)

    def max_assignments(self, variables: VariableList, observed: Observed) -> MaxMarginals:
        """For each state the most probable assignment with it, if all continuous variables are observed."""
        free = [n for n in self.named() if isinstance(observed.given.get(n), Interval | None)]
        if free:
            is_or_are = "are" if free[1:] else "is"
            raise InvalidArgument(
                f"Max-marginals are of discrete variables; {listed(free)} {is_or_are} continuous. Give the "
                "values of all continuous variables, or use `map` for the mode of the density."
            )
        more = observed.log_weight + self.log_density()
        return self._solved().max_assignments(variables, replace(observed, log_weight=more))

    def best(
        self, targets: Sequence[int] | None, k: int = 1, allowed: np.ndarray | None = None
    ) -> list[tuple[np.ndarray, Wide, bool]]:
        """The k most probable states of discrete variables, continuous ones integrated out."""
        solved = self.solve()
        found = self._solved().best(targets, k, allowed)
        return [(codes, times_exp(value, solved.offset), ties_broken) for codes, value, ties_broken in found]

    def expected_statistics(self) -> tuple[dict[int, np.ndarray], dict[int, GaussianStatistics]]:
        """For each table of the discrete part P(entry | evidence), and the statistics of each density."""
        own = np.isin(np.arange(self.gaussians.n), list(self.gaussians.own))
        self.refuse_unknown(self.unknown & ~own)
        solved = self.solve(everything=not self.intervals and self.at_once())
        discrete = solved.discrete
        assert isinstance(discrete, Posterior)
        counts, p = discrete.expected_counts(), discrete.program.arrays

        def weights(axes: Sequence[int]) -> np.ndarray:
            """P(states | evidence) of variables that select densities together."""
            key = tuple(sorted(axes))
            if key in solved.tables:
                table = counts[solved.factor(key)].reshape(p.cards[list(key)])
                return table.transpose([key.index(v) for v in axes])
            if not axes:
                return np.ones(1)
            (v,) = axes
            own = counts[int(discrete.program.own_tables[v])]
            found: np.ndarray = own.reshape(-1, int(p.cards[v])).sum(axis=0)
            return found

        # Truncated to an interval, densities are no longer normal, and their statistics have no formula.
        densities = {} if self.intervals else expected_statistics.expected_moments(self, weights)
        normals = {v: found for v, found in densities.items() if not own[self.gaussians.index_of[v]]}
        return self._own(counts, discrete.program), normals

    def derivatives(self, *, zeros: bool) -> dict[int, np.ndarray]:
        """For each table of the discrete part the derivative of log P(evidence) by each entry."""
        return self._own(self._solved().derivatives(zeros=zeros), self.solve().discrete.program)

    def _own(self, found: dict[int, np.ndarray], program: Program) -> dict[int, np.ndarray]:
        """Leave out the tables left by continuous variables, and index by the program without them.

        Their factors come last, but a large program orders its tables in its own way.
        """
        mine, theirs = self.program.factor_of, program.factor_of
        pairs = zip(np.argsort(mine, kind="stable"), np.argsort(theirs, kind="stable"), strict=False)
        return {int(f): found[int(g)] for f, g in pairs if int(g) in found}

    def samples(self, variables: VariableList, n: int, rng: np.random.Generator) -> Samples:
        """Cases from P(all variables | evidence)."""
        return answers.samples(variables, self, n, rng)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw n samples: codes of all variables, and values of the continuous ones by their index."""
        if self.intervals:
            self.refuse_truncated([], always=True)
        g = self.gaussians
        solved = self.solve()
        states = np.ascontiguousarray(self._solved().sample(n, rng))
        values = np.tile(self.value, (n, 1))
        noise = rng.standard_normal((n, g.n))
        barren = g.order if solved.made is None else solved.made.layout.barren
        cards = np.asarray(self.program.arrays.cards[: g.index_of.size])
        own_densities.draw(g, states, self.seen, noise, cards, rng)
        if solved.made is not None:
            self._draw_outward(solved.made, cards, states, noise, values)
        steps = 8.0 * n * (barren.size + 1)
        run(
            "forward", g.arrays, barren, cards, states, noise, values,
            steps=steps, clock=self.clock, module=GAUSSIAN,
        )  # fmt: skip
        if self.linked is not None:
            scores.draw_below(self, states, values, rng)
        return states, values

    def _draw_outward(
        self, made: Eliminated, cards: np.ndarray, states: np.ndarray, noise: np.ndarray, values: np.ndarray
    ) -> None:
        t = made.layout.tree
        steps = float(states.shape[0]) * float((t.own * np.diff(t.column_at)).sum() + 1)
        run(
            "draw", t, cards, states, made.rows, made.kinds, noise, values,
            steps=steps, clock=self.clock, module=GAUSSIAN,
        )  # fmt: skip

    def highest(self) -> tuple[np.ndarray, np.ndarray, float]:
        """The states and values of greatest density, and its logarithm (evidence included).

        Variables without noise (sd = 0) are functions of the others: the density is that of the others.
        """
        if self.intervals:
            self.refuse_truncated([], always=True)
        g = self.gaussians
        self.refuse_unknown()
        deterministic.check_comparable(self)
        solved = self.solve(everything=True, maximise=True)
        assert solved.made is not None
        if solved.repeats:
            raise elimination.refuse_repeats(self.named(np.flatnonzero(self.seen)))
        tables = solved.discrete
        assert isinstance(tables, Posterior)
        codes, value, _ = tables.best(None, 1)[0]
        states = np.ascontiguousarray(codes[None, : g.index_of.size].astype(np.int64))
        values = self.value[None, :].copy()
        cards = np.asarray(self.program.arrays.cards[: g.index_of.size])
        self._draw_outward(solved.made, cards, states, np.zeros((1, g.n)), values)
        log = log_of(value) + solved.offset
        return codes, values[0], log + deterministic.stretch(self, solved.made, states[0])


def hybrid_fields(
    compiled: ModelSnapshot, observed: Observed, plain: TableSums, soft: dict[int, np.ndarray]
) -> dict[str, Any]:
    """The fields of `HybridSums`: those of `plain`, and the continuous variables with their evidence."""
    gaussians = compiled.gaussians
    assert gaussians is not None
    n = gaussians.n
    seen, value, intervals = np.zeros(n, np.uint8), np.zeros(n), {}
    for name, what in observed.given.items():
        x = int(gaussians.index_of[compiled.position[name]])
        if x < 0:
            continue
        if isinstance(what, Interval):
            intervals[x] = what
        else:
            seen[x], value[x] = 1, as_float(what)
    likelihoods: own_densities.Likelihoods = {}
    if gaussians.own and seen.any():
        cards = np.asarray(plain.program.arrays.cards)
        names = [compiled.names[v] for v in gaussians.positions.tolist()]
        gaussians, likelihoods = own_densities.observe(gaussians, seen, value, plain.known.hard, cards, names)
    return {
        "program": plain.program,
        "trees": plain.trees,
        "known": plain.known,
        "clock": plain.clock,
        "names": plain.names,
        "engine": plain.engine,
        "given": plain.given,
        "plain": plain,
        "gaussians": gaussians,
        "factors": compiled.factors,
        "soft": soft,
        "seen": seen,
        "value": value,
        "intervals": intervals,
        "linked": compiled.linked,
        "likelihoods": likelihoods,
        "unknown": own_densities.unknown(gaussians, seen) if gaussians.own else np.zeros(seen.size, bool),
    }
