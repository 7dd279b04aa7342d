"""The value of information and of control."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from pgm.errors import InvalidArgument, InvalidEvidence
from pgm.evidence import known, observe
from pgm.evidence import names as names_of
from pgm.inference.insight.costs import Names, best_sets, cost_of, read_costs, used_costs
from pgm.printing import ROWS, Tabular, joined
from pgm.results.base import put
from pgm.results.of_sets import OfSets
from pgm.results.report import EXACT, Report
from pgm.results.scalars import ExpectedUtility
from pgm.runtime.progress import each

from .decisions import Decision
from .one_pass import gains_in_one_pass
from .solving import refuse, solved

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .influence_diagram import InfluenceDiagram

_ROUNDING = 1e-9  # relative to the utilities: an advantage below this is rounding


class ValuesOfInformation(OfSets, Tabular):
    """The value of observing variables before a decision, the best first: {name or names: value}.

    Values are net of costs, if these were given.

    >>> ValuesOfInformation("treat", {("test",): 3.0, ("age",): 0.5}, {})
    seen before treat  value
    test               3.000000
    age                0.500000
    """

    __slots__ = ("before", "costs", "report")
    _called = "value"
    report: Report
    before: str
    costs: Mapping[Names, float]

    def __init__(
        self,
        before: str,
        values: Mapping[Names, float],
        costs: Mapping[Names, float],
        report: Report = EXACT,
    ) -> None:
        """Store values of sets of names, net of these costs."""
        ranked = sorted(values, key=lambda names: -values[names])
        put(self, "before", before)
        put(self, "_values", {names: float(values[names]) for names in ranked})
        put(self, "costs", dict(costs))
        put(self, "report", report)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the values as bars, the best first; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        labels = [joined(names, len(names)) for names in islice(self._values, ROWS)]
        values = list(islice(self._values.values(), ROWS))
        head = f"worth seeing before {self.before}"
        return plot.ranked(
            labels, values, ax, xlabel="expected utility gained", head=head, figsize=figsize, title=title
        )

    def _parts(self) -> tuple[object, ...]:
        return self.before, self._values, self.costs, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        priced = bool(self.costs)
        header = [f"seen before {self.before}", *(["value", "cost", "net"] if priced else ["value"])]
        rows = []
        for names, value in islice(self._values.items(), ROWS):
            row = [joined(names, len(names))]
            if priced:
                cost = self.costs.get(names, 0.0)
                row += [f"{value + cost:.6f}", f"{cost:.6f}"]
            rows.append([*row, f"{value:.6f}"])
        more = len(self) - len(rows)
        notes = [f"... {more:,} more"] if more else []
        return header, rows, "\n".join(notes if self.exact else [*notes, self.report.summary])


def value_of_information(
    diagram: InfluenceDiagram,
    names: str | Iterable[str] | None,
    before: str | None,
    given: Mapping[str, Any] | None,
    costs: Mapping[Any, float] | None,
    k: int | None,
    accuracy: Mapping[Any, Mapping[Any, float]] | None,
) -> ExpectedUtility | ValuesOfInformation:
    """See `InfluenceDiagram.value_of_information`."""
    observed = observe(diagram.variables, given)
    given = observed.given
    before = _before(diagram, before, given)
    priced = read_costs(diagram.variables, costs)
    diagram._check_complete()
    refuse(diagram, observed)
    wanted = None if names is None else names_of(names, diagram.variables)
    if wanted is not None and k is None:
        base = solved(diagram, given).expected_utility
        some = wanted
        if not some:
            raise InvalidArgument("names= is empty: name what may be observed, or leave it out for a table.")
        seen = diagram
        if accuracy is not None:
            if len(some) != 1:
                raise InvalidArgument("accuracy= describes the test of one variable: name one.")
            _check_seen(diagram, some[0], before, given)
            seen, reading = with_test(diagram, some[0], accuracy)
            gain = _gain(seen, (reading,), before, given, base)
        else:
            for name in some:
                _check_seen(diagram, name, before, given)
            gain = _gain(diagram, some, before, given, base)
        return ExpectedUtility(gain - cost_of(some, priced))
    if accuracy is not None:
        raise InvalidArgument("accuracy= describes the test of one variable: name it as names=.")
    there = visible(diagram, before, given) if wanted is None else wanted
    for name in there:
        _check_seen(diagram, name, before, given)
    if not there:
        raise InvalidArgument(
            f"There is nothing more to observe before {before!r}: everything else comes after it, or is "
            "known."
        )
    values: dict[Names, float]
    if k is None:
        gains = _each(diagram, there, before, given)
        values = {(name,): gain - cost_of((name,), priced) for name, gain in gains.items()}
        return ValuesOfInformation(before, values, used_costs(priced, values))
    base = solved(diagram, given).expected_utility
    values, report = best_sets(
        there, k, lambda some: _gain(diagram, some, before, given, base) - cost_of(some, priced)
    )
    return ValuesOfInformation(before, values, used_costs(priced, values), report)


def value_of_control(
    diagram: InfluenceDiagram, name: str, given: Mapping[str, Any] | None
) -> ExpectedUtility:
    """See `InfluenceDiagram.value_of_control`."""
    variable = known(diagram.variables, name)
    if name in diagram.decisions:
        raise InvalidArgument(f"{name!r} is a decision already.")
    given = observe(diagram.variables, given).given
    if name in given:
        raise InvalidEvidence(f"{name!r} is given: there is nothing left to control.")
    base = solved(diagram, given).expected_utility
    return ExpectedUtility(solved(_controlled(diagram, name, variable.states), given).expected_utility - base)


def visible(diagram: InfluenceDiagram, before: str, given: Mapping[str, Any] | None) -> Names:
    """Return the chance nodes that could be observed before a decision, and are not.

    Args:
        diagram: the diagram.
        before: the decision.
        given: what is known already.
    """
    out = {*diagram.known(before), *(given or ())}
    for decision in diagram.decisions[diagram.decisions.index(before) :]:
        out.update(diagram._network.descendants(decision))
    return tuple([name for name in diagram.chances if name not in out])


def with_test(
    diagram: InfluenceDiagram, name: str, accuracy: Mapping[Any, Mapping[Any, float]]
) -> tuple[InfluenceDiagram, str]:
    """Return the diagram with a test of a variable, and the name of the test.

    Args:
        diagram: the diagram.
        name: the variable.
        accuracy: {state: {reading: probability}}.
    """
    reading = f"test of {name}"
    while reading in diagram:
        reading += "'"
    made = diagram.copy()
    made.add_chance(reading, accuracy, parents=[name])
    return made, reading


def _before(diagram: InfluenceDiagram, before: str | None, given: Mapping[str, Any] | None) -> str:
    open_ = [name for name in diagram.decisions if name not in (given or {})]
    if before is None:
        if not open_:
            raise InvalidArgument("There is no decision left to inform.")
        return open_[0]
    diagram._decision(before)
    if before not in open_:
        raise InvalidArgument(f"{before!r} is given: it was taken, and no observation can change it now.")
    return before


def _check_seen(diagram: InfluenceDiagram, name: str, before: str, given: Mapping[str, Any] | None) -> None:
    known(diagram.variables, name)
    if name in diagram.decisions:
        raise InvalidArgument(f"{name!r} is a decision: only chance nodes can be observed.")
    if name in (given or {}):
        raise InvalidArgument(f"{name!r} is given: it is known already.")
    first = diagram.decisions.index(before)
    for decision in diagram.decisions[first:]:
        if name in diagram._network.descendants(decision):
            raise InvalidArgument(
                f"{name!r} cannot be seen before {before!r}: the decision {decision!r} influences it."
            )


def _gain(
    diagram: InfluenceDiagram, names: Names, before: str, given: Mapping[str, Any] | None, base: float
) -> float:
    """The gain in expected utility if these are observed before a decision."""
    made = diagram.copy()
    made.set(before, observes=tuple(dict.fromkeys((*made.parents(before), *names))))
    gain = float(solved(made, given).expected_utility) - base
    return 0.0 if abs(gain) <= _ROUNDING * max(1.0, abs(base)) else gain


def _each(
    diagram: InfluenceDiagram, names: Names, before: str, given: Mapping[str, Any] | None
) -> dict[str, float]:
    found = gains_in_one_pass(diagram, names, before, given)
    if found is not None:
        return found
    base = solved(diagram, given).expected_utility
    return {name: _gain(diagram, (name,), before, given, base) for name in each(names, "solving")}


def _controlled(diagram: InfluenceDiagram, name: str, states: Sequence[Any]) -> InfluenceDiagram:
    """The diagram in which a chance node is decided before all else."""
    made = type(diagram)(diagram.name, diagram.memory, combine=diagram.combine)
    made._network = diagram._network.do({name: states[0]})
    made._decisions = {name: Decision(()), **diagram._decisions}
    made._utilities = dict(diagram._utilities)
    return made
