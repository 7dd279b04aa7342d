"""Policies: a rule for each decision of an influence diagram, and the expected utility."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD
from pgm.errors import InvalidArgument, UnknownVariable
from pgm.models.bayesian_network import BayesianNetwork
from pgm.printing import Tabular, joined, label
from pgm.results.base import Result, pandas, put
from pgm.results.report import EXACT, Report
from pgm.results.samples import Samples
from pgm.results.scalars import ExpectedUtility

from . import utilities as worth
from .advice import Advice, as_cpd, as_network, at_random
from .advising import codes_of, decided, predicted
from .rule import Rule
from .tables import expected

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .attitude import ExponentialUtility
    from .influence_diagram import InfluenceDiagram
    from .risk import RiskProfile
    from .strategy import Strategy


class Policy(Result, Tabular, Mapping[str, Rule]):
    """A policy: a rule for each decision, {decision: rule}; `solve` of an influence diagram returns one.

    Args:
        diagram: the influence diagram; it is kept, so it is not changed afterwards.
        given: the past.
        advice: for each decision how its actions compare.
        value: the expected utility.
        report: how it was found.
        attitude: to risk; None: risk neutral.

    >>> import pgm
    >>> d = pgm.InfluenceDiagram()
    >>> d.add_chance("rain", 0.3)
    >>> d.add_decision("umbrella", [False, True], observes="rain")
    >>> d.add_utility("comfort", {(True, False): -10, (True, True): 2, (False, True): 5, (False, False): 8},
    ...               parents=["rain", "umbrella"])
    >>> policy = d.solve()
    >>> policy["umbrella"].to_dict(), round(policy.expected_utility, 6)
    ({False: False, True: True}, 6.2)
    """

    __slots__ = ("_advice", "_diagram", "_rules", "_value", "attitude", "report")
    report: Report
    _diagram: InfluenceDiagram
    _advice: dict[str, Advice]
    _rules: dict[str, Rule]  # those computed so far
    _value: float
    attitude: ExponentialUtility | None  # to risk; None: risk neutral

    def __init__(
        self,
        diagram: InfluenceDiagram,
        given: Mapping[str, Any],
        advice: Mapping[str, Advice],
        value: float,
        report: Report = EXACT,
        attitude: ExponentialUtility | None = None,
    ) -> None:
        """Store a copy of the diagram, the past, how actions compare, and the expected utility."""
        put(self, "_diagram", diagram)
        put(self, "_advice", dict(advice))
        put(self, "_rules", {})
        put(self, "attitude", attitude)
        put(self, "_value", float(value))
        put(self, "report", report.changed(given=dict(given)) if given else report)

    @property
    def expected_utility(self) -> ExpectedUtility:
        """The expected utility of the policy, given the past; a float with `.exact`."""
        return ExpectedUtility(self._value, self.report)

    @property
    def certainty_equivalent(self) -> ExpectedUtility:
        """The certainty equivalent of this policy, for the attitude to risk it was solved with."""
        if self.attitude is None:
            return self.expected_utility
        rules = {name: as_cpd(one) for name, one in self._advice.items()}
        value, _ = expected(self._diagram, rules, self.given, attitude=self.attitude)
        return ExpectedUtility(float(value), self.report)

    @property
    def diagram(self) -> InfluenceDiagram:
        """A copy of the influence diagram that this is a policy for."""
        return self._diagram.copy()

    @property
    def decisions(self) -> tuple[str, ...]:
        """The decisions that there are rules for, in the order in which they are taken."""
        return tuple(self._advice)

    def __getitem__(self, decision: str) -> Rule:
        """The table of a decision: the action, and the value of each action."""
        advice = self._advised(decision)
        if decision not in self._rules:
            self._rules[decision] = self._rule(advice)
        return self._rules[decision]

    def __iter__(self) -> Iterator[str]:
        return iter(self._advice)

    def __len__(self) -> int:
        return len(self._advice)

    def _advised(self, decision: str) -> Advice:
        try:
            return self._advice[decision]
        except (KeyError, TypeError):
            raise UnknownVariable(
                decision, self._advice, where="Among the decisions of this policy"
            ) from None

    def _rule(self, advice: Advice) -> Rule:
        """The value of each action: the best one under the policy, the others by comparison."""
        names, values = [v.name for v in advice.given], advice.values
        best, probability = expected(self._diagram, self._as_if(names), self.given, names, self.attitude)
        decisions = list(self._advice)
        earlier = decisions[: decisions.index(advice.decision.name)]
        if not (probability > 0.0).all() and not set(earlier) <= set(names):
            # A case that arises only if an earlier decision departs from the policy has advice, too.
            rules = self._as_if([*names, *earlier])
            aside, chance = expected(self._diagram, rules, self.given, names, self.attitude)
            off = (probability == 0.0) & ~np.isnan(values).any(axis=-1)
            best, probability = np.where(off, aside, best), np.where(off, chance, probability)
        own = np.take_along_axis(values, advice.actions[..., np.newaxis], axis=-1)  # of the action taken
        with np.errstate(invalid="ignore", divide="ignore"):
            if self._diagram.combine == "product":
                worth_ = np.where(own > 0.0, best[..., np.newaxis] * values / own, 0.0)
            else:
                worth_ = best[..., np.newaxis] + (values - own)
        worth_[np.isneginf(values)] = -np.inf
        worth_[probability == 0.0] = np.nan
        return Rule.of(advice.decision, advice.given, worth_, advice.actions)

    def _as_if(self, free: Iterable[str]) -> dict[str, CPD]:
        """The rules, but with any allowed action, equally probable, at some decisions."""
        return {
            name: at_random(self._diagram, name) if name in free else as_cpd(one)
            for name, one in self._advice.items()
        }

    def decide(self, decision: str, given: Mapping[str, Any] | None = None) -> Any:
        """Return what to do.

        Args:
            decision: the decision.
            given: what is known, {name: state}; irrelevant variables may be left out.

        Raises:
            UnknownVariable, UnknownState: something that does not exist.
            InvalidEvidence: the state of something that matters is missing; or what is given is not known
                when the decision is taken.
            ImpossibleEvidence: what is given cannot happen, or contradicts the past.

        >>> import pgm
        >>> d = pgm.InfluenceDiagram()
        >>> d.add_decision("bet", ["red", "black"])
        >>> d.add_utility("win", {"red": 1, "black": 2}, parents=["bet"])
        >>> d.solve().decide("bet")
        'black'
        """
        return decided(self, decision, given)

    def predict(self, frame: Any, decision: str, *, bad_rows: str = "raise") -> Any:
        """Return what to do in each row of a frame, as `decide` does for one case.

        A pandas frame gives a Series with its index; polars and pyarrow give their own kind, in which actions
        of mixed types are text. A dict of columns, and all else, gives an array.

        Args:
            frame: a data frame, a dict of columns, or a list of rows; only columns that matter, and those
                that were given as the past, are read.
            decision: the decision.
            bad_rows: "raise" on a row in which something that matters is missing, has an unknown state or
                cannot happen, or "missing" to have None.

        Raises:
            UnknownVariable: there is no such decision in the policy.
            UnknownState: a value that is not a state, with its row.
            InvalidEvidence: something that matters is missing, with its row.
            ImpossibleEvidence: a row that cannot happen.
            InvalidFrame: what was passed is not a frame, or has no column of something that matters.

        >>> import pgm
        >>> d = pgm.InfluenceDiagram()
        >>> d.add_chance("rain", 0.3)
        >>> d.add_decision("umbrella", [False, True], observes="rain")
        >>> comfort = {(True, True): 2, (False, False): 8, ...: -1}
        >>> d.add_utility("comfort", comfort, parents=["rain", "umbrella"])
        >>> d.solve().predict({"rain": [True, False]}, "umbrella")
        array([ True, False])
        """
        return predicted(self, frame, decision, bad_rows)

    def network(self) -> BayesianNetwork:
        """Return the diagram as a Bayesian network in which each decision follows the policy.

        Every question of a network can then be asked: `policy.network().query("cured")`. Decisions given as
        the past are certain. In a case that cannot happen the first allowed action is taken.

        >>> import pgm
        >>> d = pgm.InfluenceDiagram()
        >>> d.add_decision("treat", [False, True])
        >>> d.add_chance("cured", {True: 0.9, False: 0.3}, parents=["treat"])
        >>> d.add_utility("health", {True: 100, False: 0}, parents=["cured"])
        >>> round(d.solve().network().query("cured")[True], 6)
        0.9
        """
        return as_network(
            self._diagram, {name: as_cpd(one) for name, one in self._advice.items()}, self.given
        )

    def simulate(self, n: int, seed: Any = None) -> Samples:
        """Return cases as they would go under this policy, with a column for each utility.

        Args:
            n: the number of cases.
            seed: a seed, or a numpy Generator.

        Raises:
            InvalidArgument: n is not an integer of at least 1, or the seed is invalid.

        >>> import pgm
        >>> d = pgm.InfluenceDiagram()
        >>> d.add_chance("rain", 0.3)
        >>> d.add_decision("umbrella", [False, True], observes="rain")
        >>> comfort = {(True, True): 2, (False, False): 8, ...: -1}
        >>> d.add_utility("comfort", comfort, parents=["rain", "umbrella"])
        >>> float(d.solve().simulate(1000, seed=0)["comfort"].min())
        2.0
        """
        chances = {k: v for k, v in self.given.items() if k not in self._diagram.decisions}
        drawn = self.network().sample(n, given=chances, seed=seed)
        variables = self._diagram.variables
        columns = {name: np.asarray(drawn[name]) for name in drawn}
        for name in variables:
            if name not in columns:
                columns[name] = np.full(n, variables[name].states[variables[name].code(self.given[name])])
        codes = {name: codes_of(variables[name], columns[name]) for name in variables}
        cards = {name: v.card for name, v in variables.items()}
        found = {name: columns[name] for name in variables}
        for name in self._diagram.utilities:
            total = np.zeros(n)
            for scope, values in worth.terms(name, self._diagram._utilities, cards):
                total += values[tuple([codes[v] for v in scope])]
            found[name] = total
        return Samples(found, self.report)

    def risk(self, seed: Any = None) -> RiskProfile:
        """Return the distribution of the total utility under this policy.

        It is exact if there are few enough totals, otherwise simulated, and says so.

        Args:
            seed: a seed for the simulation, if needed.

        Raises:
            InvalidArgument: the seed is invalid.

        >>> import pgm
        >>> d = pgm.InfluenceDiagram()
        >>> d.add_chance("rain", 0.3)
        >>> d.add_utility("harvest", {True: 50, False: -10}, parents=["rain"])
        >>> d.solve().risk()
        total  P
        -10    0.700000
        50     0.300000
        mean 8, sd 27.4955, P(loss) 0.700000, mean of the worst 5 % -10
        """
        from .risk import risk_of

        return risk_of(self, seed)

    def strategy(self) -> Strategy:
        """Return the policy as a decision tree: observations, actions, and expected utilities.

        Branches with the same actions are merged.

        Raises:
            InvalidArgument: there are too many cases for a tree.

        >>> import pgm
        >>> d = pgm.InfluenceDiagram()
        >>> d.add_chance("rain", 0.3)
        >>> d.add_decision("umbrella", [False, True], observes="rain")
        >>> comfort = {(True, True): 2, (False, False): 8, ...: -1}
        >>> d.add_utility("comfort", comfort, parents=["rain", "umbrella"])
        >>> d.solve().strategy()
        what is seen, and done  P         expected utility
        rain: False             0.700000  8
          umbrella: False       0.700000  8
        rain: True              0.300000  2
          umbrella: True        0.300000  2
        """
        from .strategy import strategy

        return strategy(self)

    def contributions(self, by: str | Iterable[str] = ()) -> dict[Any, Any]:
        """Return the contributions to the expected utility, {utility: value}, or by cases.

        Those that no other utility uses make up the expected utility.

        Args:
            by: variables: for each utility a dict {state or (state, ...): value}, whose values, each the
                expected value in this case times its probability, add up to that of the utility.

        Raises:
            UnknownVariable: there is no such variable.

        >>> import pgm
        >>> d = pgm.InfluenceDiagram()
        >>> d.add_chance("rain", 0.25)
        >>> d.add_decision("umbrella", [False, True])
        >>> d.add_utility("dry", {(True, False): -40, ...: 0}, parents=["rain", "umbrella"])
        >>> d.add_utility("load", [0, -12], parents="umbrella")
        >>> policy = d.solve()
        >>> policy.contributions()
        {'dry': -10.0, 'load': 0.0}
        >>> policy.contributions(by="rain")["dry"]
        {False: 0.0, True: -10.0}
        """
        from .contributions import contributions

        return contributions(self, by)

    def plot(
        self,
        decision: str | None = None,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the rule of one decision as a table of colours; returns the Axes.

        Args:
            decision: the decision; by default the last one that depends on anything.
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        if decision is None:
            if not self._advice:
                raise InvalidArgument("Every decision was given: there is nothing left to draw.")
            names = list(self._advice)
            decision = next((n for n in reversed(names) if self._advice[n].given), names[-1])
        return self[decision].plot(ax, figsize=figsize, title=title)

    def to_dict(self) -> dict[str, dict[Any, Any]]:
        """{decision: {what is known: action}}."""
        return {name: rule.to_dict() for name, rule in self.items()}

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each decision: what it depends on, how many cases there are."""
        rows = [
            [
                name,
                ", ".join(v.name for v in rule.given),
                len(rule),
                float(np.nanmin(rule.loses, initial=np.inf)),
            ]
            for name, rule in self.items()
        ]
        columns = ["decision", "depends on", "cases", "second best loses at least"]
        frame: pd.DataFrame = pandas().DataFrame(rows, columns=columns)
        return frame

    def _parts(self) -> tuple[object, ...]:
        return self._diagram, dict(self.given), self._advice, self._value, self.report, self.attitude

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for name, rule in self.items():
            needed = joined([v.name for v in rule.given], len(rule.given)) or "-"
            actions = dict.fromkeys(rule.decision.states[c] for c in rule.actions.flat if c >= 0)
            only = label(next(iter(actions))) if len(actions) == 1 else f"{len(actions)} actions"
            rows.append([name, needed, str(len(rule)), only])
        note = f"expected utility {self._value:.6f}"
        if self.attitude is not None:
            note += f", certainty equivalent {self.certainty_equivalent:.6f}"
        if not self.exact:
            note += "\n" + self.report.summary
        return ["decision", "depends on", "cases", "action"], rows, note
