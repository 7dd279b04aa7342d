"""Probabilities of causation: of necessity, of sufficiency, and of both (Pearl 1999)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgm.errors import ImpossibleEvidence, InvalidArgument, listed
from pgm.printing import Tabular, label
from pgm.results.base import Frozen, condition, pandas, put

from .counterfactuals import Counterfactual, counterfactual
from .effects import known_before, two_states

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pgm.models.bayesian_network import BayesianNetwork

Ends = tuple[float, float]


class Causation(Frozen, Tabular):
    """The probabilities that x is a necessary cause of y, a sufficient one, and both: pairs (least, most).

    `necessity`: of those treated with the outcome, how many would not have it untreated; `sufficiency`: of
    those untreated without the outcome, how many would have it treated; `both`: of all, how many have it
    treated and not untreated. The two ends are equal where the network decides it; None stands where the
    group has probability zero.
    """

    __slots__ = ("both", "given", "necessity", "outcomes", "states", "sufficiency", "undecided", "x", "y")
    necessity: Ends | None
    sufficiency: Ends | None
    both: Ends
    undecided: tuple[str, ...]  # nodes whose tables do not determine how they would have responded
    x: str
    y: str
    states: tuple[Any, Any]
    outcomes: tuple[Any, Any]
    given: dict[str, Any]

    def __init__(self, **parts: Any) -> None:
        """Take what was found."""
        for name in Causation.__slots__:
            put(self, name, parts[name])

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return _again, ({name: getattr(self, name) for name in Causation.__slots__},)

    @property
    def exact(self) -> bool:
        """Whether these are the probabilities themselves, not bounds."""
        return all(ends is None or ends[0] == ends[1] for ends in self.to_dict().values())

    def to_dict(self) -> dict[str, Ends | None]:
        """{"necessity", "sufficiency", "both": (least, most)}."""
        return {"necessity": self.necessity, "sufficiency": self.sufficiency, "both": self.both}

    def to_pandas(self) -> Any:
        """A data frame with a row for each."""
        rows = [(name, *(ends or (None, None))) for name, ends in self.to_dict().items()]
        return pandas().DataFrame(rows, columns=["probability of", "least", "most"])

    @property
    def question(self) -> str:
        """What is asked, in one line."""
        known = f", given {condition(self.given)}" if self.given else ""
        event = f"{label(self.y)}={label(self.outcomes[1])}"
        return f"{label(self.x)}={label(self.states[1])} as the cause of {event}{known}"

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the three as intervals; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title; what it is about if left out.
        """
        from pgm import plot

        ends = {name: pair for name, pair in self.to_dict().items() if pair is not None}
        return plot.between(ends, self.question, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        x, y, (control, treated), (no, yes) = label(self.x), label(self.y), self.states, self.outcomes
        without, with_ = f"{x}={label(control)}", f"{x}={label(treated)}"
        is_, not_ = f"{y}={label(yes)}", f"{y}={label(no)}"
        said = {
            "necessity": f"of those with {with_}, {is_}: {not_} under do({without})",
            "sufficiency": f"of those with {without}, {not_}: {is_} under do({with_})",
            "both": f"of all: {is_} under do({with_}), {not_} under do({without})",
        }
        rows = [
            [name, *(["-", "-"] if ends is None else [f"{end:.6f}" for end in ends]), said[name]]
            for name, ends in self.to_dict().items()
        ]
        notes = [self.question]
        if not self.exact:
            notes.append(f"bounds: tables do not determine how {listed(self.undecided)} would have responded")
        return ["probability of", "least", "most", "how many"], rows, "\n".join(notes)


def _again(parts: dict[str, Any]) -> Causation:
    return Causation(**parts)


def causation(net: BayesianNetwork, x: str, y: str, states: Any, outcome: Any, given: Any) -> Causation:
    """See `BayesianNetwork.necessity_and_sufficiency`."""
    cause, result = net.variables[net._known(x)], net.variables[net._known(y)]
    if x == y:
        raise InvalidArgument(f"{x!r} cannot be both the cause and what it causes.")
    for variable in (cause, result):
        if variable.continuous:
            raise InvalidArgument(f"{variable.name!r} is continuous: cause and outcome need states here.")
    if result.card != 2:
        raise InvalidArgument(
            f"{y!r} has {result.card} states, {listed(result.states)}; probabilities of causation are for "
            "an outcome with two. `counterfactual` answers for each state."
        )
    control, treated = two_states(cause, states)
    code = 1 if outcome is None else result.code(outcome)
    yes, no = result.states[code], result.states[1 - code]
    known = known_before(net, x, y, given)
    undecided: dict[str, None] = {}

    def ends(model: BayesianNetwork, seen: dict[str, Any], done: Any, wanted: Any) -> Ends | None:
        try:
            found: Counterfactual = counterfactual(model, y, known | seen, {x: done})
        except ImpossibleEvidence:
            return None
        undecided.update(dict.fromkeys(() if found.exact else found.undecided))
        return found.bounds[wanted]

    necessity = ends(net, {x: treated, y: yes}, control, no)
    sufficiency = ends(net, {x: control, y: no}, treated, yes)
    with_it = net.do({x: treated})
    share = float(with_it.query(y, known)[yes])
    both = ends(with_it, {y: yes}, control, no)
    return Causation(
        necessity=necessity,
        sufficiency=sufficiency,
        both=(0.0, 0.0) if both is None else (both[0] * share, both[1] * share),
        undecided=tuple(undecided),
        x=x,
        y=y,
        states=(control, treated),
        outcomes=(no, yes),
        given=known,
    )
