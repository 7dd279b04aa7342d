"""Counterfactuals: two worlds that share their noise (twin networks, Balke & Pearl 1994).

Where a node is a function of its parents, both worlds follow it. A table alone does not say how a node would
have responded in the other world: its response function, which maps parents to states, is then a hidden cause
of both (Balke & Pearl 1997). With one such node the bounds are linear programs; with several, one linear
program for each combination of corners of all but one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, LinearGaussian, TableCPD
from pgm.errors import InvalidArgument, InvalidEvidence, TooLarge, listed, shown
from pgm.evidence import observe
from pgm.inference.asking.failures import contradiction
from pgm.printing import Share, Tabular, label
from pgm.results import Density, Distribution
from pgm.results.base import Frozen, condition, pandas, put
from pgm.runtime.clock import start_clock
from pgm.variables import Variable

from .responses import constraints_of, extremes
from .worlds import another, fixed, renamed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pgm.models.bayesian_network import BayesianNetwork

MOST_RESPONSES = 4_096  # functions of one node


class Counterfactual(Frozen, Tabular):
    """What a variable would have been, had something else been done: probabilities, or sharp bounds on them.

    `exact` says whether the network decides it: indexing with a state then gives its probability, and
    `answer` is the whole distribution. Otherwise tables alone do not say how `undecided` nodes would have
    responded, and `bounds[state]` is the least and the most that the probability can be: each is reached by
    some model with the same tables.
    """

    __slots__ = ("answer", "do", "given", "high", "low", "undecided", "variable", "worlds")
    answer: Distribution | Density | None
    variable: Variable
    low: np.ndarray
    high: np.ndarray
    undecided: tuple[str, ...]
    given: dict[str, Any]
    do: dict[str, Any]
    worlds: dict[str, tuple[str, ...]]

    def __init__(self, **parts: Any) -> None:
        """Take what was found."""
        for name in Counterfactual.__slots__:
            put(self, name, parts[name])

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return _again, ({name: getattr(self, name) for name in Counterfactual.__slots__},)

    @property
    def exact(self) -> bool:
        """Whether this is the answer itself, not bounds."""
        return self.answer is not None

    @property
    def bounds(self) -> dict[Any, tuple[float, float]]:
        """The least and the most probability of each state; the same twice where it is decided."""
        ends = zip(self.variable.states, self.low.tolist(), self.high.tolist(), strict=True)
        return {state: (low, high) for state, low, high in ends}

    def __getitem__(self, state: Any) -> float:
        """The probability of a state, where it is decided."""
        if not isinstance(self.answer, Distribution):
            low, high = self.bounds[self.variable.states[self.variable.code(state)]]
            raise InvalidArgument(
                f"{self.question}: tables do not determine how {listed(self.undecided)} would have "
                f"responded; the probability of {shown(state)} is between {low:.6g} and {high:.6g}, see "
                ".bounds."
            )
        return self.answer[state]

    @property
    def question(self) -> str:
        """What is asked: P(y under do(x=...) | what was seen)."""
        done = ", ".join(f"{label(name)}={label(state)}" for name, state in self.do.items())
        known = f" | {condition(self.given)}" if self.given else ""
        return f"P({label(self.variable.name)} under do({done}){known})"

    def to_dict(self) -> dict[Any, Any]:
        """{state: (least, most)}."""
        return dict(self.bounds)

    def to_pandas(self) -> Any:
        """A data frame with a row for each state."""
        ends = {"state": list(self.variable.states), "least": self.low, "most": self.high}
        return pandas().DataFrame(ends)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the twin network: the world as it was, the other, and what both share; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; the question if left out.
        """
        from pgm import plot

        return plot.twin_network(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        if isinstance(self.answer, Density):
            return ["mean", "sd"], [[f"{self.answer.mean:.6g}", f"{self.answer.std:.6g}"]], self.question
        name = label(self.variable.name)
        if self.exact:
            rows = [
                [label(s), Share(p)] for s, p in zip(self.variable.states, self.low.tolist(), strict=True)
            ]
            return [name, "P"], rows, self.question
        rows = [[label(s), Share(low), Share(high)] for s, (low, high) in self.bounds.items()]
        why = f"bounds: tables do not determine how {listed(self.undecided)} would have responded"
        return [name, "least", "most"], rows, f"{self.question}\n{why}"


def _again(parts: dict[str, Any]) -> Counterfactual:
    return Counterfactual(**parts)


def counterfactual(net: BayesianNetwork, target: Any, given: Any, do: Any) -> Counterfactual:
    """Answer by a twin network, with response functions where tables do not decide."""
    known, actions = _checked(net, target, given, do)
    if net.log_probability(known) == -math.inf:
        clock = start_clock()
        compiled = net._compile_in(clock)
        raise contradiction(compiled, observe(compiled.by_name, known), clock)
    twin = Twin(net, target, known, actions)
    variable = net.variables[target]
    parts: dict[str, Any] = {"variable": variable, "given": known, "do": actions, "worlds": twin.arrows()}
    if not twin.undecided:
        answer = twin.network({}).query(twin.name(target), known)
        if isinstance(answer, Density):
            return Counterfactual(answer=answer, low=np.zeros(0), high=np.zeros(0), undecided=(), **parts)
        values = np.array(answer.values)
        own = Distribution((variable,), values, answer.report)
        return Counterfactual(answer=own, low=values, high=values, undecided=(), **parts)
    low, high = twin.bounds()
    decided = bool((high - low < 1e-9).all())
    answer = None
    if decided:
        low = high = (low + high) / 2.0
        answer = Distribution((variable,), low.copy())
    return Counterfactual(answer=answer, low=low, high=high, undecided=tuple(twin.undecided), **parts)


class Twin:
    """Two worlds: nodes that the action reaches have a copy, the others are shared."""

    def __init__(
        self, net: BayesianNetwork, target: str, known: Mapping[str, Any], do: Mapping[str, Any]
    ) -> None:
        self.net, self.target, self.known, self.do = net, target, known, do
        reached: dict[str, None] = {}
        for node in do:
            reached |= dict.fromkeys([node, *net.descendants(node)])
        taken = set(net.nodes)
        self.copies: dict[str, str] = {}
        order = net.topological_order()
        for node in order:
            if node in reached:
                self.copies[node] = another(f"{node}*", taken)
                taken.add(self.copies[node])
        # `wanted`: ancestors of the target in the other world; `seen`: ancestors of the evidence in this one.
        wanted = {target}
        for node in reversed(order):
            if node in wanted and node not in do:
                wanted |= set(net.parents(node))
        seen = set(known)
        for node in reversed(order):
            if node in seen:
                seen |= set(net.parents(node))
        self.order = [node for node in order if node in wanted or node in seen]
        self.wanted, self.seen = wanted, seen
        self.undecided: list[str] = []
        for node in order:
            if node not in self.copies or node in do or node not in wanted or node not in seen:
                continue
            cpd = net.cpd(node)
            if isinstance(cpd, LinearGaussian):
                continue
            if cpd.continuous:
                raise InvalidArgument(
                    f"{node!r} is a {cpd.label}: a counterfactual needs to know its noise, which a linear "
                    "Gaussian or a function of its parents has."
                )
            table = cpd.table()
            if not ((table == 0.0) | (table == 1.0)).all():
                self.undecided.append(node)

    def name(self, node: str) -> str:
        """What a node is called in the other world."""
        return self.copies.get(node, node)

    def arrows(self) -> dict[str, tuple[str, ...]]:
        """The parents of each node of both worlds, for a picture."""
        found = {node: self.net.parents(node) for node in self.order if self.is_here(node)}
        for node in self.order:
            if self.is_there(node):
                those = () if node in self.do else tuple(map(self.name, self.net.parents(node)))
                found[self.copies[node]] = those
        return found

    def is_here(self, node: str) -> bool:
        """Whether a node is needed in the world as it was, or is shared by both."""
        return node in self.seen or node not in self.copies

    def is_there(self, node: str) -> bool:
        """Whether a node has a copy in the other world that is needed."""
        return node in self.copies and node in self.wanted

    def network(self, responses: Mapping[str, Sequence[tuple[int, ...]]]) -> BayesianNetwork:
        """Both worlds; nodes with response functions share one, which is a root with equal probabilities."""
        cpds: dict[str, CPD] = {}
        for node in self.order:
            cpd = self.net.cpd(node)
            variants: list[Mapping[str, str]] = [{}] if self.is_here(node) else []
            if self.is_there(node):
                if node in self.do:
                    copy = self.copies[node]
                    cpds[copy] = fixed(self.net.variables[node], copy, self.do[node])
                else:
                    variants.append(self.copies)
            if node in responses:
                cpds |= _responding(cpd, variants, responses[node], self.response(node))
            elif len(variants) == 2 and isinstance(cpd, LinearGaussian):
                cpds |= _with_noise(cpd, variants, another(f"noise of {node}", self.net.nodes))
            else:
                for called in variants:
                    made = renamed(cpd, called)
                    cpds[made.child.name] = made
        return type(self.net)._from_cpds(self.net.name, cpds.values())

    def response(self, node: str) -> str:
        """The name of the root that holds a node's response function."""
        return another(f"response of {node}", self.net.nodes)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the most probability of each state of the target."""
        clock = start_clock()
        functions, tables = {}, {}
        for node in self.undecided:
            table = self.net.cpd(node).table()
            card, rows = table.shape[-1], math.prod(table.shape[:-1])
            if card**rows > MOST_RESPONSES:
                raise TooLarge(
                    f"{node!r} has {card}**{rows} response functions, and at most {MOST_RESPONSES:,} are "
                    "enumerated: write it as a function of its parents and of a node for its noise."
                )
            functions[node] = list(product(range(card), repeat=rows))
            tables[node] = table.reshape(rows, card)
        both = self.network(functions)
        responses = [self.response(node) for node in self.undecided]
        observed = observe(both.variables, self.known)
        assert observed is not None
        joint = both.query([self.name(self.target), *responses], self.known)
        seen = self.net.probability(self.known)
        scale = float(both.probability(self.known)) / float(seen)
        gains = np.array(joint.values) * scale * math.prod(len(functions[node]) for node in self.undecided)
        constraints = [constraints_of(functions[node], tables[node]) for node in self.undecided]
        return extremes(gains, constraints, clock)


def _responding(
    cpd: CPD,
    variants: Sequence[Mapping[str, str]],
    functions: Sequence[tuple[int, ...]],
    root: str,
) -> dict[str, CPD]:
    """A root that chooses a function, and each copy of a node as that function of its parents."""
    count = len(functions)
    response = Variable(root, list(range(count)))
    equal = np.full(count, 1.0 / count)
    equal.flags.writeable = False
    found: dict[str, CPD] = {root: TableCPD.trusted(response, (), equal)}
    cards = [v.card for v in cpd.given]
    table = np.zeros((count, math.prod(cards), cpd.child.card))
    answers = np.array(functions).reshape(count, -1)
    np.put_along_axis(table, answers[:, :, None], 1.0, axis=2)
    table = table.reshape(count, *cards, cpd.child.card)
    table.flags.writeable = False
    for called in variants:
        *given, child = [Variable.of(called.get(v.name, v.name), v.domain) for v in (*cpd.given, cpd.child)]
        found[child.name] = TableCPD.trusted(child, (response, *given), table)
    return found


def _with_noise(cpd: LinearGaussian, variants: Sequence[Mapping[str, str]], noise: str) -> dict[str, CPD]:
    """A root with the noise, and each copy of a node as a linear function of its parents and of that."""
    found: dict[str, CPD] = {noise: LinearGaussian(sd=1.0).bind(noise, None, ())}
    bias, sd = np.ravel(cpd.bias), np.ravel(cpd.sd)
    weights = np.reshape(cpd.weights, (bias.size, -1))
    switches = [v for v in cpd.given if not v.continuous]
    causes = [v.name for v in cpd.given if v.continuous]
    for called in variants:
        rows: dict[Any, LinearGaussian] = {}
        for k, states in enumerate(product(*(v.states for v in switches))):
            terms = {called.get(c, c): float(w) for c, w in zip(causes, weights[k], strict=True)}
            rows[states if len(switches) > 1 else states[0] if switches else ()] = LinearGaussian(
                terms | {noise: float(sd[k])}, bias=float(bias[k]), sd=0.0
            )
        name = called.get(cpd.child.name, cpd.child.name)
        given = [Variable.of(called.get(v.name, v.name), v.domain) for v in cpd.given]
        unit = found[noise].child
        if switches:
            names = [called.get(v.name, v.name) for v in switches]
            made = LinearGaussian.select(name, rows, names)
        else:
            made = rows[()]
        by_name = {v.name: v for v in (*given, unit)}
        found[name] = made.bind(name, None, tuple(by_name[parent] for parent in made.parents))
    return found


def _checked(net: BayesianNetwork, target: Any, given: Any, do: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    if not isinstance(target, str):
        raise InvalidArgument(f"A counterfactual is about one variable, not {shown(target)}.")
    net._known(target)
    known = {} if given is None else given
    for what, some in (("given", known), ("do", do)):
        if not isinstance(some, Mapping):
            raise InvalidEvidence(f"{what}= is a dict {{name: state}}, not {shown(some)}.")
        for name in some:
            net._known(name)
    if not do:
        raise InvalidArgument("do= is empty: what would have been done instead? `query` asks what is.")
    for name, state in do.items():
        variable = net.variables[name]
        if not variable.continuous:
            variable.code(state)
    observed = observe(net.variables, known)
    if soft := [name for name in known if name not in observed.hard and not net.variables[name].continuous]:
        raise InvalidEvidence(f"{listed(soft)}: a counterfactual needs a state for each observation.")
    if target in do:
        raise InvalidArgument(f"{target!r} is set by do=: it would have been {shown(do[target])}.")
    return dict(known), dict(do)
