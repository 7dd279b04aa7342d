"""Questions about the answers of a Bayesian network: why, what next, and what if its parameters are off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, CPDStore
from pgm.errors import InvalidArgument
from pgm.inference.asking.questions import Given, Questions
from pgm.variables import State

if TYPE_CHECKING:
    from pgm.inference.insight.credible import CredibleAnswer
    from pgm.inference.insight.explanation import AnswerExplanation
    from pgm.inference.insight.informing import InformationGains
    from pgm.inference.insight.map_ranges import MapSensitivity
    from pgm.inference.insight.other_findings import RelevantExplanations, Turn
    from pgm.inference.insight.questioning import Diagnosis, NextQuestion
    from pgm.inference.insight.sensitivity import AnswerSensitivity
    from pgm.inference.insight.surprise import Surprises
    from pgm.inference.insight.tuning import Tuning
    from pgm.inference.insight.two_parameters import Surface


class Understanding(Questions):
    """Questions that a network answers about its own answers."""

    _cpds: CPDStore

    def _own_parameters(self) -> dict[str, CPD]:
        """The distributions with parameters other than the entries of a table."""
        return {node: self._cpds[node] for node in self._cpds if self._cpds.array(node) is None}

    def gradients(self, given: Given = None, *, zeros: bool = False) -> dict[Any, Any]:
        """Return the derivative of log P(given) by each parameter: {name: array shaped as the table}.

        The entries of tables are treated as independent parameters. For an entry that is not zero it is how
        often that is expected (`expected_counts`), divided by the entry. A distribution that is not a table,
        such as pgm.NoisyOr, pgm.Logistic or pgm.LinearGaussian, has {name of parameter: derivative}; where
        they come in rows that sum to one, the others of the row change in proportion. Values beyond a
        double are infinite. For the derivative of an answer there is `sensitivity`.

        Args:
            given: as for `query`.
            zeros: include entries that are zero, over all the states that they rule out: this may take
                much longer. Without it these are NaN.

        Raises:
            UnknownVariable, UnknownState, InvalidEvidence: as for `query`.
            ImpossibleEvidence, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> net.gradients({"lung": "yes"})["smoke"].round(6).tolist()
        [1.818182, 0.181818]
        >>> net.add("weight", pgm.LinearGaussian(bias=70.0, sd=10.0))
        >>> {name: round(slope, 6) for name, slope in net.gradients({"weight": 80.0})["weight"].items()}
        {'bias': 0.1, 'sd': 0.0}
        """
        found: dict[Any, Any] = super().gradients(given, zeros=zeros)
        others = self._own_parameters()
        if others:
            statistics = self.expected_counts(given)
            for name, cpd in others.items():
                own = cpd.own_parameters(statistics[name]) if name in statistics else None
                if own is not None:
                    found[name] = dict(zip(own.names, own.slopes.tolist(), strict=True))
        return found

    def sensitivity(
        self,
        target: str,
        given: Given = None,
        *,
        state: State | None = None,
        zeros: bool = False,
        ranges: bool = False,
    ) -> AnswerSensitivity:
        """Return the derivative of P(target = state | given) by each parameter of the network, largest first.

        A change of an entry changes the others of its row in proportion; the answer is then a ratio of two
        linear functions of the entry (Castillo, Gutierrez & Hadi 1997), which `.curve(node, states)` gives
        with the range in which the most probable state stays. For noisy-OR, trees and mixtures it is in their
        own parameters; for logistic and Gaussian distributions only the derivative is known.

        Args:
            target: a variable with states, not observed.
            given: as for `query`, without pgm.Soft.
            state: of the target; left out: True, or the most probable one.
            zeros: include entries that are 0 or 1, which may take much longer; if a 1 falls, the others
                of its row rise evenly.
            ranges: find ranges also if the target has more than two states: a run for each.

        Raises:
            InvalidEvidence: the target is given.
            InvalidArgument: the target is continuous, or the state is impossible.
            UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> found = pgm.load_network("asia").sensitivity("lung", {"xray": "yes"}, state="yes")
        >>> next(iter(found)).node, found["smoke"].round(6).tolist()
        ('xray', [0.43268, -0.43268])
        """
        from pgm.inference.insight.sensitivity import sensitivity

        return sensitivity(self, self._own_parameters(), target, given, state, zeros=zeros, ranges=ranges)

    def sensitivity_of_two(
        self,
        target: str,
        given: Given = None,
        *,
        first: tuple[str, Any],
        second: tuple[str, Any],
        state: State | None = None,
    ) -> Surface:
        """Return P(target = state | given) as a function of two table entries at once, exactly.

        Args:
            target: as for `sensitivity`.
            given: as for `sensitivity`.
            first: a pair of a node and the states of its parents and itself, as for `.curve`.
            second: another, of another row.
            state: as for `sensitivity`.

        Raises:
            InvalidArgument: the two are of one row, or of no table; or as for `sensitivity`.
            InvalidEvidence, UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for
                `sensitivity`.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("rain", 0.3); net.add("wet", {True: 0.9, False: 0.2}, parents=["rain"])
        >>> both = {"first": ("rain", True), "second": ("wet", (False, True))}
        >>> round(net.sensitivity_of_two("rain", {"wet": True}, **both)(0.5, 0.1), 6)
        0.9
        """
        from pgm.inference.insight.two_parameters import of_two

        return of_two(self, self._own_parameters(), target, given, first, second, state)

    def credible_interval(
        self,
        target: str,
        given: Given = None,
        *,
        state: State | None = None,
        level: float = 0.95,
        draws: int = 1_000,
        seed: int | np.random.Generator | None = None,
    ) -> CredibleAnswer:
        """Return a credible interval of P(target = state | given), from the posterior of the tables.

        The tables that matter to the answer are drawn from their posterior, `net.posterior(node)`, and the
        question is asked with each draw. Nodes that `fit` held fixed stay as they are.

        Args:
            target: a variable with states, not observed.
            given: as for `query`, without pgm.Soft.
            state: of the target; left out: True, or the most probable one.
            level: the probability of the interval.
            draws: the number of posterior draws.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: a table that matters has no posterior: `fit` had no prior for it; or a level or a
                number of draws that is out of range.
            InvalidEvidence, UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for
                `sensitivity`.

        >>> import pgm
        >>> net = pgm.BayesianNetwork(edges="rain -> wet")
        >>> rows = {"rain": [True, True, False] * 10, "wet": [True, True, False] * 10}
        >>> found = net.fit(rows, prior="laplace").credible_interval("rain", {"wet": True}, seed=0)
        >>> found.interval[0] < found.probability < found.interval[1]
        True
        """
        from pgm.inference.insight.credible import credible

        return credible(self, target, given, state, level, draws, seed)

    def map_sensitivity(self, given: Given = None) -> MapSensitivity:
        """Return how far each parameter may move until another explanation is the most probable.

        A change of a table entry changes the others of its row in proportion (Chan & Darwiche 2006). The
        those that change the answer of `map(given)` soonest come first.

        Args:
            given: the evidence, as for `map`, without pgm.Soft.

        Raises:
            InvalidArgument: the network has continuous variables.
            UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for `map`.

        >>> import pgm
        >>> found = pgm.load_network("asia").map_sensitivity({"dysp": "yes"})
        >>> found[0].text, round(found[0].range[0], 6)
        ('smoke=no', 0.0)
        """
        from pgm.inference.insight.map_ranges import map_sensitivity

        return map_sensitivity(self, self._own_parameters(), given)

    def tune(
        self,
        target: str,
        given: Given = None,
        *,
        state: State | None = None,
        at_least: float | None = None,
        at_most: float | None = None,
        several: bool = False,
    ) -> Tuning:
        """Return every change of a single parameter that makes P(target = state | given) reach a goal.

        The smallest change comes first. With `several`, `.several` is the least change of all entries
        together, by the sum of its squares: a local one, found by successive projections.

        Args:
            target: as for `sensitivity`.
            given: as for `sensitivity`.
            state: as for `sensitivity`.
            at_least: the least that the probability must reach,
            at_most: or the most that it may be: one of the two.
            several: also look for the least change of several parameters.

        Raises:
            InvalidArgument: no change reaches the goal, or it is not a probability.
            InvalidEvidence, UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for
                `sensitivity`.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("rain", 0.3); net.add("wet", {True: 0.9, False: 0.2}, parents=["rain"])
        >>> net.tune("rain", {"wet": True}, at_least=0.7)
        P(rain=True | wet=True) at least 0.7, now 0.658537
        parameter              value     to        change
        wet=True | rain=False  0.200000  0.165306  0.034694
        rain=True              0.300000  0.341463  0.041463
        """
        from pgm.inference.insight.tuning import tune

        own = self._own_parameters()
        return tune(self, own, target, given, state, at_least, at_most, several)

    def explain(self, target: str, given: Given = None, *, state: State | None = None) -> AnswerExplanation:
        """Explain P(target = state | given): the effect of each finding, and which of them conflict.

        For each finding the answer given it alone and given all others, its effect on the log-odds,
        and a path along which it acts; the conflict of the findings, of each pair, and the states that
        would explain it away. `.story` says the same in sentences.

        Args:
            target: a variable with states, not observed.
            given: the findings, as for `query`.
            state: of the target; left out: True, or the most probable one given all findings.

        Raises:
            InvalidArgument: nothing is given, or the target is continuous.
            InvalidEvidence: the target is given.
            ImpossibleEvidence: with a smallest contradiction; `contradictions` lists all.
            UnknownVariable, UnknownState, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> why = pgm.load_network("asia").explain("lung", {"xray": "yes", "smoke": "yes"}, state="yes")
        >>> round(why.before, 6), round(why.after, 6), round(why.without["smoke"], 6)
        (0.055, 0.645991, 0.488711)
        """
        from pgm.inference.insight.explanation import explain

        return explain(self, target, given, state)

    def shapley(
        self,
        target: str,
        given: Given = None,
        *,
        frame: Any = None,
        state: State | None = None,
        orders: int | None = None,
        seed: int | np.random.Generator | None = None,
    ) -> Any:
        """Return what each finding contributes to P(target = state | given), averaged over all orders.

        Exact for up to 20 findings, over all sets of them in one batch. Beyond that, or with `orders`, orders
        are sampled, each forwards and backwards, with a standard error. For a frame it is done for every row:
        the answer is a frame of the same kind, a column for each that is a finding; missing cells contribute
        0.

        Args:
            target: as for `explain`.
            given: as for `explain`.
            frame: rows of findings instead, at most 20 columns; the target's column is not read.
            state: as for `explain`; with a frame it is required unless the states are False and True.
            orders: the number of orders to sample; left out: all sets of up to 20 findings, 1,000 orders of
                more.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: the target is continuous, orders is not a whole number of at least 2, or both
                given and a frame are passed.
            InvalidEvidence, UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for
                `explain`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> values = net.shapley("lung", {"xray": "yes", "smoke": "yes"}, state="yes")
        >>> round(values["xray"], 6), round(sum(values.values()), 6)
        (0.489851, 0.590991)
        >>> net.shapley("lung", frame={"xray": ["yes"], "smoke": ["yes"]}, state="yes")["xray"].round(6)
        array([0.489851])
        """
        from pgm.inference.insight.shapley import shapley, shapley_of_rows

        if frame is None:
            return shapley(self, target, given, state, orders, seed)
        if given is not None or orders is not None or seed is not None:
            raise InvalidArgument("frame= has the findings: given=, orders= and seed= are for one case.")
        return shapley_of_rows(self, target, frame, state)

    def informative(
        self,
        target: str | Iterable[str],
        given: Given = None,
        *,
        state: State | None = None,
        over: str | Iterable[str] | None = None,
        costs: Mapping[Any, float] | None = None,
        k: int | None = None,
    ) -> InformationGains:
        """Return what to observe next: the mutual information of every other variable with the target.

        That is the expected reduction of the target's entropy, in nats, given the evidence. For a
        decision with utilities there is `InfluenceDiagram.value_of_information`.

        Args:
            target: a variable with states, or several, taken as one.
            given: as for `query`, without pgm.Soft.
            state: only this state against all others, such as one suspected fault.
            over: the variables that may be observed; left out: all unobserved discrete ones.
            costs: {name, or (name, ...) seen together: cost}; the most information per cost is first.
            k: the size of the sets; up to 20,000 sets all are tried, beyond that variables are added
                greedily.

        Raises:
            InvalidEvidence: a target is given.
            InvalidArgument: a target is continuous, over= names an observed variable, or k is out of range.
            UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> asia = pgm.load_network("asia")
        >>> found = asia.informative("lung", {"dysp": "yes"}, over=["xray", "smoke", "tub"])
        >>> {name: round(value, 6) for name, value in found.items()}
        {'xray': 0.209155, 'smoke': 0.023759, 'tub': 0.000259}
        """
        from pgm.inference.insight.informing import informative

        return informative(self, target, given, state, over, costs, k)

    def surprise(
        self, frame: Any, *, rate: float | None = None, seed: int | np.random.Generator | None = None
    ) -> Surprises:
        """Return how improbable each row of a frame is, and each cell given the rest of its row, in nats.

        Odd rows come first; the cells of a row show which value does not fit the others. Missing cells are
        summed out. An impossible row is infinitely surprising, and so are the cells that make it so.

        Args:
            frame: as for `log_likelihood`.
            rate: the rate of false alarms: `row_limit` and `cell_limit` are exceeded by this share of rows
                sampled from the network itself, complete in the frame's columns.
            seed: of these rows: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: a rate that is not between 0 and 1.
            UnknownState, InvalidFrame, TooLarge, OutOfTime: as for `log_likelihood`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> found = net.surprise({"smoke": ["yes", "no"], "lung": ["no", "yes"], "xray": ["no", "no"]})
        >>> found.rows.round(6).tolist(), found.oddest[0].name, found.oddest[0].row
        ([0.860034, 9.21034], 'lung', 1)
        """
        from pgm.inference.insight.surprise import surprise

        return surprise(self, frame, rate, seed)

    def next_question(
        self,
        target: str,
        given: Given = None,
        *,
        over: str | Iterable[str] | None = None,
        costs: Mapping[Any, float] | None = None,
        sure: float = 0.95,
        least: float = 0.0,
    ) -> NextQuestion:
        """Return the most informative variable about the target now, or that it is time to stop, and why.

        Args:
            target: a variable with states, not observed.
            given: what is known, as for `query`, without pgm.Soft.
            over: the variables that may be asked for; left out: all unobserved discrete ones.
            costs: {name, or (name, ...) seen together: cost}; then the most information per cost.
            sure: stop when a state of the target is this probable.
            least: stop when the best gives no more than this many nats (per unit of cost).

        Raises:
            InvalidEvidence: the target is given.
            InvalidArgument: the target is continuous, over= names an observed variable, or an option is out
                of range.
            UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> asia = pgm.load_network("asia")
        >>> print(asia.next_question("lung", {"dysp": "yes"}, over=["xray", "smoke"]))
        ask xray: its expected information is 0.2092 nats
        """
        from pgm.inference.insight.questioning import next_question

        return next_question(self, target, given, over, costs, sure, least)

    def diagnosis(
        self,
        target: str,
        given: Given = None,
        *,
        over: str | Iterable[str] | None = None,
        costs: Mapping[Any, float] | None = None,
        sure: float = 0.95,
        least: float = 0.0,
        depth: int = 5,
    ) -> Diagnosis:
        """Return a diagnosis as a tree: after every answer the most informative question, until it stops.

        Its `right` is the probability that the conclusion is true, `questions` the average number asked, and
        `follow(frame)` runs it over cases.

        Args:
            target: as for `next_question`.
            given: as for `next_question`.
            over: as for `next_question`.
            costs: as for `next_question`; those of a group include what was asked before.
            sure: as for `next_question`.
            least: as for `next_question`.
            depth: the largest number of successive questions.

        Raises:
            InvalidArgument: as for `next_question`; or the tree has more than 20,000 nodes.
            InvalidEvidence, UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for
                `next_question`.

        >>> import pgm
        >>> tree = pgm.load_network("asia").diagnosis("lung", {"dysp": "yes"}, over=["xray", "smoke"])
        >>> tree.root.question, round(tree.right, 6)
        ('xray', 0.954219)
        """
        from pgm.inference.insight.questioning import diagnosis

        return diagnosis(self, target, given, over, costs, sure, least, depth)

    def relevant_explanation(
        self, given: Given, *, over: str | Iterable[str], most: int = 3
    ) -> RelevantExplanations:
        """Return which states of some variables explain the findings, the largest Bayes factor first.

        The most probable explanation includes every variable; this one only those that matter (Yuan,
        Lim & Lu 2011): the generalised Bayes factor of states x is P(given | x) over P(given | not x).

        Args:
            given: the findings, as for `query`.
            over: the variables that may explain.
            most: the largest number of them; above 3, or 20,000 sets, the search is greedy and reports that.

        Raises:
            InvalidArgument: nothing is given, over= names an observed variable, or most= is not a whole
                number.
            UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> asia = pgm.load_network("asia")
        >>> found = asia.relevant_explanation({"xray": "yes"}, over=["lung", "tub", "smoke"])
        >>> dict(found[0].states), round(found[0].factor, 4)
        ({'lung': 'yes'}, 16.4231)
        """
        from pgm.inference.insight.other_findings import relevant_explanation

        return relevant_explanation(self, given, over, most)

    def contradictions(self, given: Given) -> list[dict[str, object]]:
        """Return every minimal impossible subset of the findings; none if they are possible together.

        Args:
            given: the findings, as for `query`, without pgm.Soft.

        Raises:
            InvalidArgument: there are too many sets to try: more than 20,000 of one size.
            UnknownVariable, UnknownState, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> net.contradictions({"tub": "yes", "either": "no", "lung": "yes", "smoke": "no"})
        [{'tub': 'yes', 'either': 'no'}, {'either': 'no', 'lung': 'yes'}]
        """
        from pgm.inference.insight.other_findings import contradictions

        return contradictions(self, given)

    def turning(self, target: str, given: Given, *, to: State | None = None, most: int = 3) -> list[Turn]:
        """Return the smallest changes of the findings that make another state of the target most probable.

        All changes of as few findings as possible, the one with the most probable new state first; none if no
        change of up to `most` findings does it.

        Args:
            target: a variable with states, not observed.
            given: the findings; those that are states may change, others are kept.
            to: the state to become the most probable; left out: any other.
            most: the largest number of findings to change.

        Raises:
            InvalidEvidence: the target is given.
            InvalidArgument: no finding is a state, `to` is most probable already, or there are more than
                20,000 ways to change that many.
            UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> net.turning("lung", {"xray": "yes", "smoke": "yes"})[0].changes
        {'xray': 'no'}
        """
        from pgm.inference.insight.other_findings import turning

        return turning(self, target, given, to, most)
