"""How much an action moves an outcome: on average, on the treated, directly, and along each arrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pgm.errors import InvalidArgument, InvalidEvidence, listed, shown
from pgm.graphs.walks import Arrows, descendants
from pgm.printing import Tabular, label
from pgm.results.base import Frozen, condition, pandas, put
from pgm.variables import Variable

from .worlds import split

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pgm.models.bayesian_network import BayesianNetwork

_ROWS = (
    ("average", "everyone is treated, or nobody"),
    ("on the treated", "those who are treated anyway"),
    ("direct", "along the arrow alone (natural direct effect)"),
    ("indirect", "along all other paths (natural indirect effect)"),
)


class CausalEffect(Frozen, Tabular):
    """What setting x from one state to another does to the mean of y, or to the probability of a state of y.

    `average` is E[y | do(x = treated)] - E[y | do(x = control)], `means` has both; `on_treated` is the same
    among those who have x = treated anyway; `direct` goes along the arrow from x to y while everything
    between them stays as under control, `indirect` along all other paths while that arrow carries control
    (Pearl 2001). They add up to the average only where they do not interact. `along` has, for each arrow from
    x that begins a causal path, the effect along that arrow alone.
    """

    __slots__ = (
        "along",
        "arrows",
        "average",
        "direct",
        "given",
        "indirect",
        "means",
        "on_treated",
        "outcome",
        "states",
        "x",
        "y",
    )
    average: float
    on_treated: float | None
    direct: float
    indirect: float
    along: dict[str, float]
    means: dict[Any, float]
    x: str
    y: str
    states: tuple[Any, Any]
    outcome: Any
    given: dict[str, Any]
    arrows: dict[str, tuple[str, ...]]

    def __init__(self, **parts: Any) -> None:
        """Take what was found."""
        for name in CausalEffect.__slots__:
            put(self, name, parts[name])

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return _again, ({name: getattr(self, name) for name in CausalEffect.__slots__},)

    def __float__(self) -> float:
        """The average effect."""
        return self.average

    def to_dict(self) -> dict[str, Any]:
        """{kind of effect: value}; those along arrows under "along"."""
        found: dict[str, Any] = {"average": self.average}
        if self.on_treated is not None:
            found["on the treated"] = self.on_treated
        return found | {"direct": self.direct, "indirect": self.indirect, "along": dict(self.along)}

    def to_pandas(self) -> Any:
        """A data frame with a row for each effect."""
        found = self.to_dict()
        along = {f"along {self.x} -> {child}": value for child, value in found.pop("along").items()}
        rows = list((found | along).items())
        return pandas().DataFrame(rows, columns=["effect", "value"])

    @property
    def question(self) -> str:
        """What is asked, in one line."""
        control, treated = self.states
        what = (
            f"P({label(self.y)}={label(self.outcome)})" if self.outcome is not None else f"E[{label(self.y)}]"
        )
        known = f" | {condition(self.given)}" if self.given else ""
        return f"effect of {label(self.x)} from {label(control)} to {label(treated)} on {what}{known}"

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the graph, with arrows from x as wide as the effect along them; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.causal_effect(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        found = self.to_dict()
        rows = [[name, f"{found[name]:+.6f}", said] for name, said in _ROWS if name in found]
        rows += [
            [f"{label(self.x)} -> {label(child)}", f"{value:+.6f}", "along this arrow alone"]
            for child, value in self.along.items()
            if len(self.along) > 1
        ]
        means = ", ".join(f"{label(state)}: {mean:.6f}" for state, mean in self.means.items())
        return ["effect", "value", "if"], rows, f"{self.question}\nunder do({label(self.x)}): {means}"


def _again(parts: dict[str, Any]) -> CausalEffect:
    return CausalEffect(**parts)


def effect(
    net: BayesianNetwork, x: str, y: str, states: Any, outcome: Any, given: Mapping[str, Any] | None
) -> CausalEffect:
    """Compute all effects exactly, by networks in which each arrow from x carries one state or the other."""
    cause, result = net.variables[net._known(x)], net.variables[net._known(y)]
    if x == y:
        raise InvalidArgument(f"{x!r} cannot be both what is acted on and what it influences.")
    control, treated = two_states(cause, states)
    scores = scores_of(result, outcome)
    known = known_before(net, x, y, given)
    arrows = Arrows.of({node: net.parents(node) for node in net.nodes})
    children = net.children(x)
    ancestors = {y, *net.ancestors(y)}

    def mean(to: Mapping[str, Any], more: Mapping[str, Any] | None = None) -> float:
        p = split(net, x, to).query(y, known | dict(more or {}))
        return float(p.mean) if scores is None else float(sum(scores * p.values))

    untouched = dict.fromkeys(children, control)
    low, high = mean(untouched), mean(dict.fromkeys(children, treated))
    direct = mean(untouched | {y: treated}) - low if y in children else 0.0
    others = [child for child in children if child != y and child in ancestors]
    indirect = mean(untouched | dict.fromkeys(others, treated)) - low if others else 0.0
    on_treated = None
    if not cause.continuous and x not in known and net.probability(known | {x: treated}) > 0.0:
        at = {x: treated}
        on_treated = mean(dict.fromkeys(children, treated), at) - mean(untouched, at)
    along = {c: mean(untouched | {c: treated}) - low for c in children if c in ancestors}
    return CausalEffect(
        x=x,
        y=y,
        states=(control, treated),
        outcome=None
        if scores is None or (outcome is None and _numeric(result))
        else _outcome(result, outcome),
        given=known,
        means={control: low, treated: high},
        average=high - low,
        on_treated=on_treated,
        direct=direct,
        indirect=indirect,
        along=along,
        arrows={name: net.parents(name) for name in arrows.names},
    )


def two_states(cause: Variable, states: Any) -> tuple[Any, Any]:
    """Control and treated, checked."""
    if states is None:
        if cause.continuous:
            return 0.0, 1.0
        if cause.card == 2:
            return cause.states[0], cause.states[1]
        raise InvalidArgument(
            f"{cause.name!r} has {cause.card} states, {listed(cause.states)}: say with states=(control, "
            "treated) from which to which it is set."
        )
    if isinstance(states, str) or not hasattr(states, "__len__") or len(states) != 2:
        raise InvalidArgument(f"states= takes two states, (control, treated), not {shown(states)}.")
    control, treated = states
    if not cause.continuous:
        control, treated = (cause.states[cause.code(state)] for state in states)
    return control, treated


def _numeric(result: Variable) -> bool:
    return result.continuous or all(
        isinstance(state, int | float) and not isinstance(state, bool) for state in result.states
    )


def _outcome(result: Variable, outcome: Any) -> Any:
    return result.states[-1] if outcome is None else result.states[result.code(outcome)]


def scores_of(result: Variable, outcome: Any) -> Any:
    """The score of each state of the outcome; None if it is continuous, so that values are their own."""
    import numpy as np

    if result.continuous:
        if outcome is not None:
            raise InvalidArgument(f"outcome= names a state, but {result.name!r} is continuous: leave it out.")
        return None
    if outcome is None and _numeric(result):
        return np.array(result.states, float)
    if outcome is None and result.card > 2:
        raise InvalidArgument(
            f"{result.name!r} has the states {listed(result.states)}: say with outcome= whose probability "
            "counts."
        )
    wanted = np.zeros(result.card)
    wanted[result.code(_outcome(result, outcome))] = 1.0
    return wanted


def known_before(net: BayesianNetwork, x: str, y: str, given: Any) -> dict[str, Any]:
    """Evidence before the action, checked: none on what the action influences."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidEvidence(f"given= is a dict {{name: state}}, not {shown(given)}.")
    arrows = Arrows.of({node: net.parents(node) for node in net.nodes})
    below = set(arrows.listed(descendants(arrows.graph, arrows.flags([x]))))
    for name in given:
        net._known(name)
        if name == y:
            raise InvalidEvidence(f"{y!r} is observed: no action can change it. Ask `counterfactual`.")
        if name in below:
            raise InvalidEvidence(
                f"{name!r} is {'what is acted on' if name == x else f'influenced by {x!r}'}: an effect among "
                "those who have it is a counterfactual, which `counterfactual` answers."
            )
    return dict(given)
