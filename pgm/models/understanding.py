"""Questions about the answers of a Bayesian network: why, what next, and what if its numbers are off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, CPDStore
from pgm.inference.asking.questions import Given, Questions
from pgm.variables import State

if TYPE_CHECKING:
    from pgm.inference.insight.explanation import AnswerExplanation
    from pgm.inference.insight.informing import InformationGains
    from pgm.inference.insight.sensitivity import AnswerSensitivity
    from pgm.inference.insight.shapley import ShapleyValues
    from pgm.inference.insight.tuning import Tuning


class Understanding(Questions):
    """What a network answers about its own answers."""

    _cpds: CPDStore

    def _own_numbers(self) -> dict[str, CPD]:
        """The distributions that are written with other numbers than the entries of a table."""
        return {node: self._cpds[node] for node in self._cpds if self._cpds.array(node) is None}

    def sensitivity(
        self,
        target: str,
        given: Given = None,
        *,
        state: State | None = None,
        zeros: bool = False,
        ranges: bool = False,
    ) -> AnswerSensitivity:
        """Return the derivative of P(target = state | given) in each number of the network, largest first.

        A change of an entry changes the others of its row in proportion; the answer is then a ratio of two
        linear functions of the entry (Castillo, Gutierrez & Hadi 1997), which `.curve(node, states)` gives
        with the range in which the most probable state stays. Of noisy-OR, trees and mixtures it is in their
        own numbers; of logistic and Gaussian distributions only the derivative is known.

        Args:
            target: a variable with states, not observed.
            given: as for `query`, without pgm.Soft.
            state: of the target; left out: True, or the most probable one.
            zeros: derive in entries that are 0 or 1 too, which may take much longer; if a 1 falls, the others
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

        return sensitivity(self, self._own_numbers(), target, given, state, zeros=zeros, ranges=ranges)

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
        """Return every single change of a number that makes P(target = state | given) reach a goal.

        The smallest change comes first. With `several`, `.several` is the least change of all entries
        together, by the sum of its squares: a local one, found by successive projections.

        Args:
            target: as for `sensitivity`.
            given: as for `sensitivity`.
            state: as for `sensitivity`.
            at_least: what the probability shall be at least,
            at_most: or at most: one of the two.
            several: look for the least change of several numbers too.

        Raises:
            InvalidArgument: no change reaches the goal, or it is no probability.
            InvalidEvidence, UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for
                `sensitivity`.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("rain", 0.3); net.add("wet", {True: 0.9, False: 0.2}, parents=["rain"])
        >>> net.tune("rain", {"wet": True}, at_least=0.7)
        P(rain=True | wet=True) at least 0.7, now 0.658537
        number                 value     to        change
        wet=True | rain=False  0.200000  0.165306  0.034694
        rain=True              0.300000  0.341463  0.041463
        """
        from pgm.inference.insight.tuning import tune

        own = self._own_numbers()
        return tune(self, own, target, given, state, at_least, at_most, several)

    def explain(self, target: str, given: Given = None, *, state: State | None = None) -> AnswerExplanation:
        """Return why P(target = state | given) is what it is: what each finding does, and which conflict.

        For each finding the answer given it alone and given all others, by how much it moves the log-odds,
        and a path along which it tells; the conflict of the findings, of each pair, and the states that
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
        state: State | None = None,
        orders: int | None = None,
        seed: int | np.random.Generator | None = None,
    ) -> ShapleyValues:
        """Return what each finding contributes to P(target = state | given), averaged over all orders.

        Exact for up to 20 findings, over all sets of them in one batch. Beyond, or with `orders`, orders are
        drawn, each forwards and backwards, with a standard error.

        Args:
            target: as for `explain`.
            given: as for `explain`.
            state: as for `explain`.
            orders: how many orders to draw; left out: all sets of up to 20 findings, 1,000 orders of more.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: the target is continuous, or orders is no whole number of at least 2.
            InvalidEvidence, UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for
                `explain`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> values = net.shapley("lung", {"xray": "yes", "smoke": "yes"}, state="yes")
        >>> round(values["xray"], 6), round(sum(values.values()), 6)
        (0.489851, 0.590991)
        """
        from pgm.inference.insight.shapley import shapley

        return shapley(self, target, given, state, orders, seed)

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

        That is by how much it is expected to lower the target's entropy, in nats, given what is known. For a
        decision with utilities there is `InfluenceDiagram.value_of_information`.

        Args:
            target: a variable with states, or several, taken as one.
            given: as for `query`, without pgm.Soft.
            state: only this state against all others: a fault that is pursued.
            over: the variables that may be seen; left out: all with states that are not observed.
            costs: {name, or (name, ...) seen together: number}; most information for its cost is first.
            k: sets of so many; up to 20,000 sets all are tried, beyond one variable is added at a time.

        Raises:
            InvalidEvidence: a target is given.
            InvalidArgument: a target is continuous, over= names what is known, or k is out of range.
            UnknownVariable, UnknownState, ImpossibleEvidence, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> asia = pgm.load_network("asia")
        >>> found = asia.informative("lung", {"dysp": "yes"}, over=["xray", "smoke", "tub"])
        >>> {name: round(value, 6) for name, value in found.items()}
        {'xray': 0.209155, 'smoke': 0.023759, 'tub': 0.000259}
        """
        from pgm.inference.insight.informing import informative

        return informative(self, target, given, state, over, costs, k)
