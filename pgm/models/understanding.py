"""Questions about the answers of a Bayesian network: why, what next, and what if its numbers are off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgm.cpds import CPD, CPDStore
from pgm.inference.asking.questions import Given, Questions
from pgm.variables import State

if TYPE_CHECKING:
    from pgm.inference.insight.sensitivity import AnswerSensitivity
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
