"""How a Bayesian network learns its parameters: the data, the counts or expected counts, the fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD
from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.distributions.pseudo_counts import times
from pgm.errors import (
    InvalidArgument,
    InvalidFrame,
    listed,
    nearest,
    shown,
)
from pgm.frames import hold, names_of
from pgm.learning import Collapsed, EStep, climb
from pgm.learning.counts import Counts
from pgm.learning.counts.grouped import GroupedCounts
from pgm.learning.parameters import Rule, fixed_rows, maximise, pooled, rules, tied_groups
from pgm.randomness import generator
from pgm.results.fit_report import FitReport
from pgm.runtime.clock import Clock, start_clock
from pgm.variables import REAL, Domain, Variable

from .expectation import Expectation
from .first_guess import first_guess
from .fitting_input import Options, TrainingRows, domains_for, kinds_of, latent_of, read

if TYPE_CHECKING:
    from .bayesian_network import BayesianNetwork

_DUST = 2.0**-100  # of the weight of a row of a table
_COLLAPSED = 1e-7  # of the standard deviation of all rows


@dataclass(frozen=True, eq=False)
class Learned:
    """What a network keeps about the data that it was fitted to."""

    statistics: Mapping[str, Any]
    rules: Mapping[str, Rule]
    groups: Sequence[tuple[str, ...]]
    cpds: Mapping[str, CPD]  # as they were learned
    n_rows: int
    latent: frozenset[str]  # what may have no column
    whole: bool = False  # every row was complete, and none forgotten


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of a fit."""

    cpds: dict[str, CPD]
    report: FitReport
    learned: Learned


def fit(net: BayesianNetwork, frame: Any, options: Options) -> Fit:
    """Learn from a frame; the network itself is not changed."""
    clock = start_clock()
    latent = latent_of(net, options.latent)
    held = hold(frame, net.nodes, options.weights, () if latent else _families(net), clock.check)
    domains = domains_for(net, held.frame, latent, options)
    kinds = kinds_of(net, domains)
    rows = read(held, {n: Variable.of(n, d) for n, d in domains.items()}, latent, clock)
    known = [name for name in kinds if name in net._cpds]
    fixed = fixed_rows(options.fixed, kinds, known)
    for name, cpd in kinds.items():
        if fixed.get(name) is not True:
            cpd.check_learnable()
    groups = [] if options.tied is None else tied_groups(options.tied, kinds)
    for group in groups:
        if any(name in fixed for name in group):
            raise InvalidArgument(f"tied= and fixed= both name nodes of {listed(group)}.")
    made = rules(options.prior, options.estimate, fixed, kinds)
    fitting = NetworkFitting(net, kinds, rows, made, groups, latent, clock)
    if not latent and not rows.gaps():
        options.refuse_of_em()
        return fitting.counted()
    return fitting.climbed(options)


def _families(net: BayesianNetwork) -> list[tuple[str, ...]]:
    return [(*net._parents[name], name) for name in net.nodes]


class NetworkFitting:
    """Rows, and the nodes that learn from them."""

    def __init__(
        self,
        net: BayesianNetwork,
        kinds: dict[str, CPD],
        rows: TrainingRows,
        made: Mapping[str, Rule],
        groups: Sequence[tuple[str, ...]],
        latent: Mapping[str, Domain],
        clock: Clock,
    ) -> None:
        self.net, self.kinds, self.rows, self.rules = net, kinds, rows, made
        self.groups, self.latent, self.clock = groups, latent, clock
        self.names = list(rows.codes)
        self.counts: Counts | GroupedCounts = (
            Counts(
                list(rows.codes.values()),
                [self._domain(name).card for name in self.names],
                None if rows.plain else rows.weights,
            )
            if rows.grouped is None
            else rows.grouped
        )

    def _domain(self, name: str) -> Domain:
        return self.kinds[name].child.domain

    # --- complete rows ---

    def counted(self) -> Fit:
        """Count, once."""
        statistics = self.statistics()
        cpds = self._maximise(self.kinds, statistics, 0)
        logs = math.fsum(cpd.expected_log(statistics[name]) for name, cpd in cpds.items())
        return self._fit(cpds, statistics, FitReport((logs,), "tol"), whole=True)

    def statistics(self, nodes: Iterable[str] | None = None) -> dict[str, Any]:
        """The statistics of the rows in which the whole family was observed."""
        wanted = self.kinds if nodes is None else {name: self.kinds[name] for name in nodes}
        place = {name: i for i, name in enumerate(self.names)}
        families = {name: [*(v.name for v in cpd.given), name] for name, cpd in wanted.items()}
        tables = [name for name, cpd in wanted.items() if cpd.tabular]
        found: dict[str, Any] = dict(
            zip(
                tables,
                self.counts.tables([[place[v] for v in families[n]] for n in tables], self.clock),
                strict=True,
            )
        )
        for name, cpd in wanted.items():
            if name in found:
                continue
            self.clock.check()
            if all(v in place for v in families[name]) and not (cpd.rowwise and self.rows.grouped is None):
                codes, weights = self.counts.occurring([place[v] for v in families[name]])
                found[name] = cpd.gathered(codes.astype(np.int64), np.empty((len(codes), 0)), weights)
            else:
                found[name] = self._of_continuous(cpd, families[name])
        return {name: found[name] for name in wanted}

    def _of_continuous(self, cpd: CPD, family: Sequence[str]) -> Any:
        rows = self.rows
        states = [rows.codes[v] for v in family if v in rows.codes]
        reals = [rows.values[v] for v in family if v in rows.values]
        there = rows.weights > 0.0
        for column in states:
            there &= column >= 0
        for values in reals:
            there &= ~np.isnan(values)
        every = bool(there.all())
        codes = np.empty((int(there.sum()), len(states)), np.int64)
        for i, column in enumerate(states):
            codes[:, i] = column if every else column[there]
        numbers = np.empty((len(codes), len(reals)), order="F")
        for i, values in enumerate(reals):
            numbers[:, i] = values if every else values[there]
        return cpd.gathered(codes, numbers, rows.weights if every else rows.weights[there])

    def _maximise(
        self, now: Mapping[str, CPD], statistics: Mapping[str, Any], iteration: int
    ) -> dict[str, CPD]:
        if iteration:
            statistics = {name: _without_dust(counts) for name, counts in statistics.items()}
        made = maximise(self.rules, self.groups, now, statistics)
        if iteration:
            for name, cpd in made.items():  # an estimator need not climb; a step that leads down is not taken
                if cpd.rowwise and name in statistics:
                    before = now[name]
                    if before.expected_log(statistics[name]) > cpd.expected_log(statistics[name]):
                        made[name] = before
        for name, cpd in made.items():
            if cpd.continuous and self.rules[name].fixed is not True:
                self._check_spread(name, cpd, iteration)
        return made

    def _check_spread(self, name: str, cpd: CPD, iteration: int) -> None:
        """Refuse a density that collapses to a point: the likelihood is unbounded along this path."""
        sds = np.atleast_1d(getattr(cpd, "sd", 1.0))
        values = self.rows.values.get(name)
        scale = 1.0 if values is None else float(np.nanmax(np.abs(values - np.nanmean(values)), initial=0.0))
        bad = np.argwhere(sds <= _COLLAPSED * scale) if scale > 0.0 else np.argwhere(sds == 0.0)
        if not len(bad):
            return
        at = tuple(int(i) for i in bad[0])
        switches = [v for v in cpd.given if not v.continuous]
        where = ", ".join(f"{v.name} = {v.states[i]}" for v, i in zip(switches, at, strict=False))
        when = f" in iteration {iteration}" if iteration else ""
        lines = any(v.continuous for v in cpd.given)
        prior = "pgm.priors.Expert(a network)" if lines else "pgm.priors.NormalGamma(...)"
        raise Collapsed(
            f"{name!r}{f' where {where}' if where else ''}: the standard deviation collapses to "
            f"nothing{when}, "
            "because the rows that determine it lie on one point or line. "
            f"Give it a prior, prior={{{name!r}: {prior}}}, or fewer states, or keep it, fixed=[{name!r}]."
        )

    # --- rows with gaps ---

    def climbed(self, options: Options) -> Fit:
        """Run EM from each start, and keep the best."""
        method = "em" if options.method is None else options.method
        if method not in ("em", "hard"):
            raise InvalidArgument(f'method= is "em" or "hard", not {shown(method)}.')
        starts = 1 if options.starts is None else options.starts
        if isinstance(starts, bool) or not isinstance(starts, int | np.integer) or starts < 1:
            raise InvalidArgument(f"starts= is a whole number of at least 1, not {shown(starts)}.")
        expectation = Expectation(self, method == "hard")
        seeds = generator(options.seed).spawn(int(starts))
        begin: list[Callable[[], dict[str, CPD]]] = [
            lambda seed=seed, number=number: first_guess(self, seed, anew=number > 0)  # type: ignore[misc]
            for number, seed in enumerate(seeds)
        ]

        def expect(now: dict[str, CPD]) -> EStep[dict[str, Any]]:
            log, statistics = expectation.of(now)
            prior = math.fsum(self.rules[name].log_prior(cpd) for name, cpd in now.items())
            return EStep(log, log + prior, statistics)

        found, reports, best = climb(
            begin,
            expect,
            self._maximise,
            max_iter=100 if options.max_iter is None else options.max_iter,
            tol=1e-6 if options.tol is None else options.tol,
            clock=self.clock,
            what="EM",
        )
        _, statistics = expectation.last(found)
        logs = tuple(report.log_likelihoods for report in reports)
        return self._fit(found, statistics, reports[best].changed(starts=logs))

    def _fit(
        self, cpds: dict[str, CPD], statistics: Mapping[str, Any], report: FitReport, whole: bool = False
    ) -> Fit:
        free = sum(cpd.n_parameters for name, cpd in cpds.items() if self.rules[name].fixed is not True)
        free -= sum(cpds[name].n_parameters for group in self.groups for name in group[1:])
        made = report.changed(
            n_parameters=free, n_rows=self.rows.n_given, unseen=unseen(cpds, statistics, self.rules)
        )
        n_rows, latent = self.rows.n_given, frozenset(self.latent)
        return Fit(cpds, made, Learned(statistics, self.rules, self.groups, cpds, n_rows, latent, whole))


def _without_dust(counts: Any) -> Any:
    """Counts without those that vanish: they change no digit, and would soon underflow."""
    if not isinstance(counts, np.ndarray):
        return counts
    return np.where(counts < _DUST * counts.sum(axis=-1, keepdims=True), 0.0, counts)


def unseen(
    cpds: Mapping[str, CPD], statistics: Mapping[str, Any], made: Mapping[str, Rule]
) -> tuple[tuple[str, dict[str, Any]], ...]:
    """The rows of tables and densities without data: (node, {parent: state})."""
    found: list[tuple[str, dict[str, Any]]] = []
    for name, cpd in cpds.items():
        counts = statistics.get(name)
        if isinstance(counts, np.ndarray):
            empty = np.argwhere(~(counts.sum(axis=-1) > 0.0))
            given = cpd.given
        elif isinstance(counts, GaussianStatistics):
            given = tuple([v for v in cpd.given if not v.continuous])
            empty = np.argwhere(~(counts.weight.reshape([v.card for v in given]) > 0.0))
        else:
            continue
        for at in empty[: _LISTED - len(found)].tolist():
            found.append((name, {v.name: v.states[i] for v, i in zip(given, at, strict=True)}))
    return tuple(found)


_LISTED = 10_000  # rows without data that a report names


def more(net: BayesianNetwork, frame: Any, weights: Any, forget: float | None) -> Fit:
    """Rows that are added to those before."""
    before = net._learned
    if before is None:
        raise InvalidArgument("`partial_fit` adds rows to those of a `fit`: call `fit` first.")
    if forget is not None and (
        isinstance(forget, bool) or not isinstance(forget, int | float) or not 0.0 < forget < 1.0
    ):
        raise InvalidArgument(
            "forget= is the share of what was counted before that is forgotten, between 0 and 1, not "
            f"{shown(forget)}."
        )
    clock = start_clock()
    for name, cpd in before.cpds.items():
        if name not in net or net._cpds.get(name) != cpd:
            raise InvalidArgument(
                f"{name!r} was changed after it was learned, and its counts no longer match: call `fit`."
            )
    if len(before.cpds) != len(net):
        raise InvalidArgument("The network has nodes that it did not have when it was fitted: call `fit`.")
    kinds = dict(before.cpds)
    held = hold(frame, net.nodes, weights, () if before.latent else _families(net), clock.check)
    there = set(names_of(held.frame))
    absent = [name for name in kinds if name not in there and name not in before.latent]
    if absent:
        hint = nearest(absent[0], [name for name in there if isinstance(name, str) and name not in net])
        raise InvalidFrame(
            f"The frame has no column {listed(absent)}, which `fit` had.{hint} Where it was not observed, "
            "leave its cells empty."
        )
    latent = {name: cpd.child.domain for name, cpd in kinds.items() if name not in there}
    variables = {name: cpd.child for name, cpd in kinds.items()}
    rows = read(held, variables, latent | dict.fromkeys(kinds, REAL), clock)
    fitting = NetworkFitting(net, kinds, rows, before.rules, before.groups, latent, clock)
    gaps = bool(latent) or rows.gaps()
    if gaps:
        log, new = Expectation(fitting, False).of(kinds)
    else:
        log, new = 0.0, fitting.statistics()
    keep = 1.0 if forget is None else 1.0 - forget
    statistics = {name: times(before.statistics[name], keep) + one for name, one in new.items()}
    cpds = fitting._maximise(kinds, statistics, 0)
    whole = before.whole and not gaps and forget is None
    if not gaps:
        heard = statistics if whole else new
        log = math.fsum(cpd.expected_log(heard[name]) for name, cpd in cpds.items())
    made = fitting._fit(cpds, statistics, FitReport((log,), "tol"))
    n_rows = before.n_rows + rows.n_given
    learned = Learned(statistics, before.rules, before.groups, cpds, n_rows, before.latent, whole)
    return Fit(cpds, made.report.changed(n_rows=n_rows) if whole else made.report, learned)


def belief(net: BayesianNetwork, name: str) -> Any:
    """The posterior of a node's parameters."""
    from .beliefs import TableBelief

    learned = net._learned
    if learned is None or name not in learned.cpds:
        raise InvalidArgument(f"There is no posterior of {name!r}: call `fit` with a prior first.")
    rule, cpd = learned.rules[name], learned.cpds[name]
    if rule.fixed is not False or (rule.pseudo is None and rule.conjugate is None):
        raise InvalidArgument(
            f'There is no posterior of {name!r}, for `fit` had no prior for it: fit(frame, prior="bdeu").'
        )
    statistics = pooled(learned.groups, learned.statistics)[name]
    if cpd.tabular:
        alpha = np.asarray(statistics) + rule.pseudo + (1.0 if rule.mode else 0.0)
        return TableBelief(cpd.child, cpd.given, alpha)
    if rule.conjugate is None:
        raise InvalidArgument(f"{name!r}: the posterior of a {type(cpd).__name__} has no name of its own.")
    rows = rule.conjugate.rows_of(statistics)
    if not cpd.given:
        return rows[0]
    keys = [
        tuple([v.states[i] for v, i in zip(cpd.given, at, strict=True)])
        for at in np.ndindex(*[v.card for v in cpd.given])
    ]
    return {key[0] if len(key) == 1 else key: row for key, row in zip(keys, rows, strict=True)}
