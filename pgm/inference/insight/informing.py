"""What to observe next: the mutual information of each unobserved variable with a target."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, InvalidEvidence, UnknownVariable, listed, shown
from pgm.evidence import Not, observe
from pgm.evidence import names as names_of
from pgm.inference.asking import session
from pgm.inference.asking.failures import refuse_soft
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.insight.aims import Given
from pgm.inference.insight.costs import Names, best_sets, read_costs, used_costs
from pgm.printing import ROWS, Tabular, joined, number
from pgm.results.base import condition, put
from pgm.results.of_sets import OfSets
from pgm.results.report import EXACT, Report
from pgm.runtime.clock import start_clock
from pgm.variables import State, Variable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROUNDING = 1e-14  # nats; less is rounding
_MOST_STATES = 1_000  # joint states of several targets, each a query for all marginals


class InformationGains(OfSets, Tabular):
    """The mutual information of each variable, or set of them, with a target, in nats, largest first.

    `entropy` is that of the target. With costs, the order is by information per unit of cost.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.3); net.add("sprinkler", 0.2)
    >>> net.add("wet", {(False, False): 0.1, ...: 0.9}, parents=["rain", "sprinkler"])
    >>> net.informative("rain", {"wet": True})
    observe next  information  share
    sprinkler     0.124839     0.185201
    rain has an entropy of 0.674073 nats given wet=True
    """

    __slots__ = ("costs", "entropy", "network", "report", "target")
    _called = "information"
    report: Report
    target: Names
    entropy: float  # nats
    costs: Mapping[Names, float]
    network: tuple[tuple[str, str], ...]  # the arrows, for the picture

    def __init__(
        self,
        target: Names,
        entropy: float,
        values: Mapping[Names, float],
        costs: Mapping[Names, float],
        network: Iterable[tuple[str, str]],
        report: Report = EXACT,
    ) -> None:
        """Store the information of sets of variables."""

        def rank(names: Names) -> tuple[float, float]:
            cost = costs.get(names, 0.0) if costs else 1.0
            return (-values[names] / cost if cost > 0.0 else -math.inf, -values[names])

        put(self, "target", target)
        put(self, "entropy", entropy)
        put(self, "_values", {names: values[names] for names in sorted(values, key=rank)})
        put(self, "costs", dict(costs))
        put(self, "network", tuple(network))
        put(self, "report", report)

    def _parts(self) -> tuple[object, ...]:
        return self.target, self.entropy, self._values, self.costs, self.network, self.report

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "bars",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the information as bars, or over the network; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            kind: "bars", or "map": the network, in which the darker a variable, the more informative it is.
            figsize: width and height of a new figure in inches.
            title: the title.

        Raises:
            InvalidArgument: there is no such kind, or sets are to be drawn as a map.
        """
        from pgm import plot

        head = f"information about {joined(self.target, len(self.target))}"
        if kind == "map":
            return plot.information_map(self, head, ax, figsize=figsize, title=title)
        if kind != "bars":
            raise InvalidArgument(f'kind is "bars" or "map", not {shown(kind)}.')
        telling = {names: value for names, value in islice(self._values.items(), ROWS) if value > 0.0}
        labels, values = [joined(names, len(names)) for names in telling], list(telling.values())
        return plot.ranked(labels, values, ax, xlabel="nats", head=head, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        priced = bool(self.costs)
        rows = []
        for names, value in islice(self._values.items(), ROWS):
            row = [
                joined(names, len(names)),
                number(value),
                number(value / self.entropy if self.entropy else 0.0),
            ]
            if priced:
                cost = self.costs.get(names, 0.0)
                row += [f"{cost:g}", number(value / cost) if cost > 0.0 else "free"]
            rows.append(row)
        header = ["observe next", "information", "share", *(["cost", "per cost"] if priced else [])]
        given = f" given {condition(self.given)}" if self.given else ""
        whose = joined(self.target, len(self.target))
        notes = [f"{whose} has an entropy of {number(self.entropy)} nats{given}"]
        if len(self) > len(rows):
            notes.insert(0, f"... {len(self) - len(rows):,} more")
        return header, rows, "\n".join(notes if self.exact else [*notes, self.report.summary])


class Cases:
    """The states of a target, or of several together, with their probabilities.

    Args:
        model: the network.
        target: a name, or several.
        given: the evidence.
        state: this state against all others together; None: every state.
    """

    def __init__(self, model: Any, target: object, given: Given, state: State | None) -> None:
        variables = model.variables
        self.names = names_of(target, least=1)
        for name in self.names:
            if name not in variables:
                raise UnknownVariable(name, variables)
            if variables[name].continuous:
                raise InvalidArgument(
                    f"{name!r} is continuous: its mutual information has no closed form here."
                )
        observed = observe(variables, given)
        refuse_soft(observed)
        self.given = dict(observed.given)
        for name in self.names:
            if name in self.given:
                raise InvalidEvidence(
                    f"The target {name!r} is given ({name} = {shown(self.given[name])}): nothing is left to "
                    "learn about it."
                )
        mine: list[Variable] = [variables[name] for name in self.names]
        joint = model.query(list(self.names), self.given)
        self.report = joint.report
        self.state = state
        if state is not None:
            if len(mine) > 1:
                raise InvalidArgument("state= is for one target, and there are several.")
            code = mine[0].code(state)
            p = float(joint.values[code])
            self.events: list[dict[str, Any]] = [{self.names[0]: mine[0].states[code]}]
            self.p = np.array([p, 1.0 - p])
            return
        if joint.values.size > _MOST_STATES:
            raise InvalidArgument(
                f"{listed(self.names)} have {joint.values.size:,} states together, and each takes a query; "
                f"at most {_MOST_STATES:,} are allowed. Name fewer targets."
            )
        every = product(*[v.states for v in mine])
        keep = joint.values.ravel() > 0.0
        pairs = zip(every, keep.tolist(), strict=True)
        self.events = [dict(zip(self.names, states, strict=True)) for states, there in pairs if there]
        self.p = joint.values.ravel()[keep]

    @property
    def entropy(self) -> float:
        """The entropy of the target, in nats."""
        return _entropy(self.p)


def gains(model: Any, cases: Cases, over: Sequence[str] | None) -> dict[str, float]:
    """The mutual information of each variable with the target, given the evidence.

    Args:
        model: the network.
        cases: the states of the target.
        over: the variables; None: all discrete ones that are neither observed nor targets.
    """
    variables = model.variables
    skip = {*cases.names, *observe(variables, cases.given).hard}
    names = [n for n in (variables if over is None else over) if n not in skip]
    shares = _Shares(model, names, whole=over is None)
    names = shares.names
    if not names:
        return {}
    events = cases.events
    if cases.state is not None:  # the other states together
        events = [*events, {cases.names[0]: _other_than(variables[cases.names[0]], cases.state)}]
    chances = [(event, p) for event, p in zip(events, cases.p.tolist(), strict=True) if p > 0.0]
    after = [shares.given({**cases.given, **event}) for event, _ in chances]
    before = sum((p * share for (_, p), share in zip(chances, after, strict=True)), np.zeros(after[0].size))
    found = np.zeros(len(names))
    for (_, p), share in zip(chances, after, strict=True):
        found += p * shares.divergences(share, before)
    found[found < _ROUNDING] = 0.0
    return dict(zip(names, found.tolist(), strict=True))


class _Shares:
    """The marginals of some variables, concatenated, under any evidence.

    Args:
        model: the network.
        names: the variables; continuous ones are left out.
        whole: whether these are all the variables that are not observed.
    """

    def __init__(self, model: Any, names: Sequence[str], *, whole: bool) -> None:
        self.model, self.whole = model, whole
        self.clock = start_clock()
        self.compiled = model._compile_in(self.clock)
        self.places = np.empty(0, np.int64)
        if self.compiled.gaussians is None:
            self.names, arrays = list(names), self.compiled.program.arrays
            self.at = np.array([self.compiled.position[name] for name in self.names], np.int64)
            sizes = arrays.cards[self.at]
        else:
            variables = model.variables
            self.names = [name for name in names if not variables[name].continuous]
            sizes = np.array([variables[name].card for name in self.names], np.int64)
        self.begins = np.cumsum(sizes) - sizes
        if self.compiled.gaussians is None:
            first = arrays.state_at[self.at]
            self.places = np.repeat(first - self.begins, sizes) + np.arange(int(sizes.sum()))

    def given(self, known: Mapping[str, Any]) -> np.ndarray:
        """The marginals given this evidence."""
        compiled = self.compiled
        if compiled.gaussians is not None:
            found = self.model.marginals(known, targets=self.names)
            return np.concatenate([found[name].values for name in self.names])
        observed = observe(compiled.by_name, known)

        def work() -> np.ndarray:
            at = make_posterior(compiled, observed, self.clock)
            assert isinstance(at, Posterior)
            return np.asarray(at.marginals(None if self.whole else self.at.tolist())[self.places])

        return session.answered(compiled, observed, self.clock, work)

    def divergences(self, p: np.ndarray, q: np.ndarray) -> np.ndarray:
        """The Kullback-Leibler divergence of each marginal p from q, which is positive where p is."""
        terms = np.zeros(p.size)
        some = p > 0.0
        terms[some] = p[some] * np.log(p[some] / q[some])
        return np.maximum(np.add.reduceat(terms, self.begins), 0.0)  # below zero is rounding


def _other_than(variable: Variable, state: State) -> Any:
    return Not(variable.states[variable.code(state)])


def _entropy(p: np.ndarray) -> float:
    some = p[p > 0.0]
    return float(-(some * np.log(some)).sum()) + 0.0


def set_gain(model: Any, cases: Cases, some: Names) -> float:
    """The mutual information of a set of variables with the target.

    Args:
        model: the network.
        cases: the states of the target.
        some: the set.
    """
    joint = np.asarray(model.query([*cases.names, *some], cases.given).values)
    table = joint.reshape(math.prod(joint.shape[: len(cases.names)]), -1)
    if cases.state is not None:
        code = model.variables[cases.names[0]].code(cases.state)
        table = np.stack([table[code], np.delete(table, code, axis=0).sum(axis=0)])
    told = _entropy(table.sum(axis=1)) + _entropy(table.sum(axis=0)) - _entropy(table.ravel())
    return max(told, 0.0)


def candidates(model: Any, cases: Cases, over: object) -> list[str] | None:
    """The variables that may be observed next, checked; None: all.

    Args:
        model: the network.
        cases: the states of the target.
        over: as the user gave it.
    """
    if over is None:
        return None
    names = list(names_of(over, model.variables, least=1))
    for name in names:
        if name in cases.names or name in cases.given:
            why = "the target" if name in cases.names else "given"
            raise InvalidArgument(f"over= names {name!r}, which is {why}: nothing is left to learn from it.")
    return names


def informative(
    model: Any,
    target: object,
    given: Given,
    state: State | None,
    over: object,
    costs: Mapping[Any, float] | None,
    k: object,
) -> InformationGains:
    """See `BayesianNetwork.informative`."""
    cases = Cases(model, target, given, state)
    priced = read_costs(model.variables, costs)
    names = candidates(model, cases, over)
    report = cases.report
    each = gains(model, cases, names)
    values: dict[Names, float] = {(name,): value for name, value in each.items()}
    if k is not None and k != 1:
        apart = _told_apart(model, cases, list(each))
        bound = ", and is worth at least 0.63 of the best set (Nemhauser et al. 1978)" if apart else ""
        values, how = best_sets(list(each), k, lambda some: set_gain(model, cases, some), bound)
        report = report if how.exact else how.changed(given=report.given)
    return InformationGains(
        cases.names, cases.entropy, values, used_costs(priced, values), model.edges, report
    )


def _told_apart(model: Any, cases: Cases, names: Sequence[str]) -> bool:
    """Whether the candidates are independent given the target: greedy selection then has a guarantee."""
    known = [*cases.names, *cases.given]
    return all(
        model.independent(name, list(names[i + 1 :]), given=known) for i, name in enumerate(names[:-1])
    )
