"""Influence diagrams: chance nodes, decisions and utilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.cpds import CPD
from pgm.cpds.table_input import row_label
from pgm.errors import (
    IncompleteModel,
    InvalidArgument,
    InvalidStructure,
    InvalidTable,
    UnknownVariable,
    listed,
    shown,
)
from pgm.models import arrows
from pgm.models.bayesian_network import BayesianNetwork
from pgm.models.renaming import renamed
from pgm.printing import html_table, joined, text_table
from pgm.variables import Variable, check_name

from . import utilities as worth
from .decisions import Decision, decision
from .utilities import Utility

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from pgm.results import ExpectedUtility

    from .attitude import ExponentialUtility
    from .evaluation import Evaluation
    from .policy import Policy
    from .sensitivity import Sensitivities, Sensitivity
    from .sensitivity_map import SensitivityMap
    from .solving import DecisionPlan
else:
    from pgm.graphs import networkx_later as nx

_ROWS = 30  # nodes that are printed
_MEMORIES = ("full", "limited")


class InfluenceDiagram:
    """A decision problem: chance nodes with their distributions, decisions in order, and utilities.

    Decisions are made in the order in which they are added.

    Args:
        name: the name of the diagram in print and in files.
        memory: "full": what was known at a decision stays known (no-forgetting); "limited": a decision knows
            only what it observes.
        combine: how utilities combine: "sum", or "product" of nonnegative utilities.

    >>> d = InfluenceDiagram("umbrella")
    >>> d.add_chance("rain", 0.3)
    >>> d.add_decision("umbrella", states=[False, True])
    >>> d.add_utility("comfort", {(True, False): -10, (True, True): 2, (False, True): 5, (False, False): 8},
    ...               parents=["rain", "umbrella"])
    >>> round(d.solve().expected_utility, 6)
    4.1
    """

    name: str
    memory: str
    combine: str
    _network: BayesianNetwork  # decisions are roots in it, whose distribution is ignored
    _decisions: dict[str, Decision]
    _utilities: dict[str, Utility]

    def __init__(self, name: str = "", memory: str = "full", *, combine: str = "sum") -> None:
        if not isinstance(name, str):
            raise InvalidArgument(f"The name of a diagram is text, not {shown(name)}.")
        if combine not in ("sum", "product"):
            raise InvalidArgument(f'combine= is "sum" or "product", not {shown(combine)}.')
        if memory not in ("full", "limited"):
            raise InvalidArgument(f'memory= is "full" or "limited", not {shown(memory)}.')
        self.name, self.memory, self.combine = name, memory, combine
        self._network = BayesianNetwork(name)
        self._decisions, self._utilities = {}, {}
        self._prepared: dict[Any, Any] = {}

    # --- properties ---

    @property
    def chances(self) -> tuple[str, ...]:
        """The names of the chance nodes, in the order in which they were added."""
        return tuple([node for node in self._network.nodes if node not in self._decisions])

    @property
    def decisions(self) -> tuple[str, ...]:
        """The names of the decisions, in the order in which they are taken."""
        return tuple(self._decisions)

    @property
    def utilities(self) -> tuple[str, ...]:
        """The names of the utilities, in the order in which they were added."""
        return tuple(self._utilities)

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The variables by name, chance nodes and decisions in the order in which they were added."""
        return self._network.variables

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes: chance nodes and decisions, then utilities."""
        return (*self._network.nodes, *self._utilities)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The arrows as pairs; those into a decision say what is observed before it."""
        return tuple([(parent, node) for node in self.nodes for parent in self.parents(node)])

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of a node: of a decision what it observes, of a utility what it depends on.

        Args:
            name: any node.

        Raises:
            UnknownVariable: there is no such node.

        >>> d = InfluenceDiagram()
        >>> d.add_chance("rain", 0.3)
        >>> d.add_decision("umbrella", states=[False, True], observes=["rain"])
        >>> d.parents("umbrella")
        ('rain',)
        """
        node = self._known_node(name)
        if node in self._utilities:
            return self._utilities[node].parents
        if node in self._decisions:
            return self._decisions[node].observes
        return self._network.parents(node)

    def known(self, decision: str) -> tuple[str, ...]:
        """Return what is known when a decision is taken: what it observes, and all that was known before.

        With limited memory it is what the decision observes.

        Args:
            decision: the name of a decision.

        Raises:
            UnknownVariable: there is no such decision.

        >>> d = InfluenceDiagram()
        >>> d.add_chance("forecast", 0.4)
        >>> d.add_decision("plan", ["out", "in"], observes=["forecast"])
        >>> d.add_decision("umbrella", [False, True])
        >>> d.known("umbrella")
        ('forecast', 'plan')
        """
        own = self._decision(decision)
        if self.memory == "limited":
            return own.observes
        found: dict[str, None] = {}
        for name, one in self._decisions.items():
            found.update(dict.fromkeys(one.observes))
            if name == decision:
                break
            found[name] = None
        return tuple(found)

    def allowed(self, decision: str) -> np.ndarray | None:
        """Return which actions a decision has, an axis for each of `allowed_given`; None: always all.

        Args:
            decision: the name of a decision.

        Raises:
            UnknownVariable: there is no such decision.

        >>> d = InfluenceDiagram()
        >>> d.add_decision("treat", ["no", "yes"], allowed=["no"])
        >>> d.allowed("treat").tolist()
        [True, False]
        """
        return self._decision(decision).allowed

    def cpd(self, name: str) -> CPD:
        """Return the distribution of a chance node; it prints as a table.

        Args:
            name: a chance node.

        Raises:
            UnknownVariable: there is no such chance node.

        >>> d = InfluenceDiagram()
        >>> d.add_chance("rain", 0.25)
        >>> d.cpd("rain").to_dict()
        {False: 0.75, True: 0.25}
        """
        if name in self._decisions or name in self._utilities or name not in self._network:
            raise UnknownVariable(name, self.chances, where="Among the chance nodes")
        return self._network.cpd(name)

    def utility(self, name: str) -> Utility:
        """Return a utility: its parents with its table, its weights or its function.

        Args:
            name: a utility.

        Raises:
            UnknownVariable: there is no such utility.

        >>> d = InfluenceDiagram()
        >>> d.add_decision("dose", [0, 1])
        >>> d.add_utility("harm", [0, -1], parents="dose")
        >>> d.utility("harm").values.tolist()
        [0.0, -1.0]
        """
        if not isinstance(name, str) or name not in self._utilities:
            raise UnknownVariable(name, self._utilities, where="Among the utilities")
        return self._utilities[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._network or name in self._utilities)

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self._network) + len(self._utilities)

    def kind(self, name: str) -> str:
        """Return "chance", "decision" or "utility".

        Args:
            name: any node.

        Raises:
            UnknownVariable: there is no such node.

        >>> d = InfluenceDiagram()
        >>> d.add_decision("dose", [0, 1])
        >>> d.kind("dose")
        'decision'
        """
        node = self._known_node(name)
        return "utility" if node in self._utilities else "decision" if node in self._decisions else "chance"

    def _known_node(self, name: object) -> str:
        if isinstance(name, str) and name in self:
            return name
        raise UnknownVariable(name, self.nodes)

    def _decision(self, name: object) -> Decision:
        if isinstance(name, str) and name in self._decisions:
            return self._decisions[name]
        raise UnknownVariable(name, self._decisions, where="Among the decisions")

    # --- edits: each succeeds or changes nothing ---

    def add_chance(
        self,
        name: str,
        table: object,
        *,
        parents: str | Iterable[str] = (),
        states: Any = None,
        normalize: bool = False,
    ) -> None:
        """Add a chance node with its distribution; decisions may be parents.

        Args:
            name: the new variable.
            table: as for `BayesianNetwork.add`: a table in any form, or a distribution such as pgm.NoisyOr.
            parents: names in the order that the table uses.
            states: the states in order.
            normalize: divide each row of a table by its sum.

        Raises:
            InvalidTable, InvalidVariable, UnknownVariable, UnknownState: as for `BayesianNetwork.add`.
            InvalidStructure: there is such a node already; the variable would be continuous; or a utility is
                named as a parent.

        >>> d = InfluenceDiagram()
        >>> d.add_decision("treat", [False, True])
        >>> d.add_chance("cured", {True: 0.9, False: 0.3}, parents=["treat"])
        >>> d.parents("cured")
        ('treat',)
        """
        node = self._new(name)
        self._refuse_utilities(node, parents)
        self._network.add(node, table, parents=parents, states=states, normalize=normalize)
        try:
            self._check_discrete(node, self._network)
        except InvalidStructure:
            self._network.remove(node)
            raise
        self._prepared = {}

    def add_decision(
        self,
        name: str,
        states: Any,
        *,
        observes: str | Iterable[str] = (),
        allowed: object = None,
    ) -> None:
        """Add a decision, which is taken after the existing ones.

        Args:
            name: the new decision.
            states: the actions, in order; ties go to the first.
            observes: what becomes known just before it is taken: chance nodes, or earlier decisions.
            allowed: the actions available given what is known, if not always all: a dict
                {state or (state, ...): list of actions} whose keys are states of what it observes, in this
                order, with `...` for the rest; or a list of actions.

        Raises:
            InvalidStructure: there is such a node already; or a utility is observed.
            InvalidVariable: invalid states.
            UnknownVariable, UnknownState: something that does not exist is observed or allowed.
            InvalidTable: no action is left.

        >>> d = InfluenceDiagram()
        >>> d.add_chance("tested", 0.5)
        >>> rule = {False: ["no"], True: ["no", "yes"]}
        >>> d.add_decision("treat", ["no", "yes"], observes="tested", allowed=rule)
        >>> d.allowed("treat").tolist()
        [[True, False], [True, True]]
        """
        node = self._new(name)
        seen = self._observed(node, observes)
        variable = Variable(node, states)
        made = decision(variable, self._all(seen), allowed)
        self._network.add(node, np.full(variable.card, 1.0 / variable.card), states=states)
        self._decisions[node] = made
        self._prepared = {}

    def add_utility(self, name: str, table: object, *, parents: str | Iterable[str] = ()) -> None:
        """Add a utility: a value for each outcome of some variables, or a function of other utilities.

        Utilities add up (or multiply, with `combine="product"`); one that is the parent of another
        counts only through its child.

        Args:
            name: the new utility.
            table: a value without parents; a dict {state or (state, ...): value}, where `...` stands for
                the rows left out; an array with an axis for each parent; a frame whose last column is
                `value`; or a function of the states. Where the parents are utilities: a weight for each, in
                a dict or in order, or a function of them. Functions are called with the names of the parents.
            parents: variables, or other utilities.

        Raises:
            InvalidTable: a value is missing, infinite or not a number; weights do not fit.
            UnknownVariable, UnknownState: a parent or state that does not exist.
            InvalidStructure: there is such a node already; or parents are variables and utilities mixed.

        >>> d = InfluenceDiagram()
        >>> d.add_decision("dose", [0, 1, 2])
        >>> d.add_utility("effect", [0, 6, 8], parents="dose")
        >>> d.add_utility("harm", lambda dose: dose**2, parents="dose")
        >>> d.add_utility("total", {"effect": 1.0, "harm": -1.0}, parents=["effect", "harm"])
        >>> d.solve().decide("dose")
        1
        """
        node = self._new(name)
        self._utilities[node] = self._made_utility(node, table, parents)
        self._prepared = {}

    def set(
        self,
        name: str,
        table: object = None,
        *,
        parents: str | Iterable[str] | None = None,
        states: Any = None,
        observes: str | Iterable[str] | None = None,
        allowed: object = ...,
        normalize: bool = False,
    ) -> None:
        """Give a node another distribution, table, or set of observations.

        Args:
            name: any node.
            table: of a chance node or a utility: as for `add_chance` and `add_utility`.
            parents: of a chance node the same parents in another order; of a utility any.
            states: of a chance node that has no children.
            observes: of a decision: what becomes known just before it is taken.
            allowed: of a decision: which actions there are; None: always all.
            normalize: divide each row of a table by its sum.

        Raises:
            UnknownVariable: there is no such node.
            InvalidStructure: a decision would observe its own consequence.
            InvalidArgument: an option that such a node does not have.

        >>> d = InfluenceDiagram()
        >>> d.add_chance("rain", 0.3)
        >>> d.set("rain", 0.4)
        >>> d.cpd("rain").to_dict()[True]
        0.4
        """
        node = self._known_node(name)
        if node in self._decisions:
            if table is not None or parents is not None or states is not None or normalize:
                raise InvalidArgument(f"{node!r} is a decision: it takes observes= and allowed=.")
            self._set_decision(node, observes, allowed)
        elif observes is not None or allowed is not ...:
            raise InvalidArgument(f"{node!r} is not a decision: observes= and allowed= do not apply.")
        elif node in self._utilities:
            if states is not None or normalize:
                raise InvalidArgument(f"{node!r} is a utility: it takes a table and parents=.")
            old = self._utilities[node].parents
            made = self._made_utility(node, table, old if parents is None else parents)
            users = [user for user, one in self._utilities.items() if node in one.parents]
            if users and set(made.parents) & {node, *users}:
                raise InvalidStructure(f"{node!r} would depend on itself, through {listed(users)}.")
            self._utilities = {**self._utilities, node: made}
        else:
            trial = self._network.copy()
            trial.set(node, table, parents=parents, states=states, normalize=normalize)
            self._check_discrete(node, trial)
            self._check_users(node, trial)
            self._network = trial
        self._prepared = {}

    def remove(self, name: str) -> None:
        """Remove a node on which no other depends.

        Args:
            name: any node.

        Raises:
            UnknownVariable: there is no such node.
            InvalidStructure: another node depends on it: remove that first.

        >>> d = InfluenceDiagram()
        >>> d.add_chance("rain", 0.3)
        >>> d.remove("rain")
        >>> d.nodes
        ()
        """
        node = self._known_node(name)
        users = [other for other in self.nodes if node in self.parents(other)]
        users += [o for o, one in self._decisions.items() if node in one.allowed_given and o not in users]
        if users:
            raise InvalidStructure(f"{listed(users)} depend on {node!r}: remove them first.")
        if node in self._utilities:
            del self._utilities[node]
        else:
            self._network.remove(node)
            self._decisions.pop(node, None)
        self._prepared = {}

    def _new(self, name: str) -> str:
        node = check_name(name)
        if node in self:
            raise InvalidStructure(f"There is a node {node!r} already: `set` changes it.")
        return node

    def _refuse_utilities(self, node: str, parents: object) -> None:
        several = (parents,) if isinstance(parents, str) else parents
        if isinstance(several, Iterable):
            for parent in several:
                if isinstance(parent, str) and parent in self._utilities:
                    raise InvalidStructure(
                        f"{node!r} cannot depend on the utility {parent!r}: utilities are leaves. Let it "
                        "depend on what the utility depends on."
                    )

    def _check_discrete(self, node: str, network: BayesianNetwork) -> None:
        if network.variables[node].continuous:
            raise InvalidStructure(
                f"{node!r} would be continuous, and an influence diagram has states only: cut it into states "
                "with states=pgm.Bins([...])."
            )

    def _check_users(self, node: str, network: BayesianNetwork) -> None:
        if network.variables[node].domain == self._network.variables[node].domain:
            return
        users = [name for name, one in self._utilities.items() if node in one.parents]
        users += [name for name, one in self._decisions.items() if node in one.allowed_given]
        if users:
            raise InvalidStructure(f"{listed(users)} have tables for the current states of {node!r}.")

    def _observed(self, node: str, observes: object) -> tuple[str, ...]:
        if isinstance(observes, str):
            observes = (observes,)
        if not isinstance(observes, Iterable) or isinstance(observes, Mapping | AbstractSet):
            raise InvalidStructure(f"{node!r}: observes= lists names, not {shown(observes)}.")
        found: dict[str, None] = {}
        for name in observes:
            if isinstance(name, str) and name in self._utilities:
                raise InvalidStructure(
                    f"{node!r} cannot observe the utility {name!r}: observe what it is about."
                )
            if not isinstance(name, str) or name not in self._network:
                raise UnknownVariable(name, self._network.nodes, where=f"What {node!r} observes")
            found[name] = None
        return tuple(found)

    def _all(self, names: Iterable[str]) -> tuple[Variable, ...]:
        return tuple([self.variables[name] for name in names])

    def _made_utility(self, node: str, table: object, parents: object) -> Utility:
        if isinstance(parents, str):
            parents = (parents,)
        if not isinstance(parents, Iterable) or isinstance(parents, Mapping | AbstractSet):
            raise InvalidStructure(f"{node!r}: parents= lists names in order, not {shown(parents)}.")
        those = tuple(parents)
        for parent in those:
            if not isinstance(parent, str) or parent not in self or parent == node:
                raise UnknownVariable(parent, self.nodes, where=f"The parents of {node!r}")
        if len(set(those)) < len(those):
            twice = next(parent for i, parent in enumerate(those) if parent in those[:i])
            raise InvalidStructure(f"{node!r}: the parent {twice!r} is named twice.")
        above = [parent for parent in those if parent in self._utilities]
        if above and len(above) < len(those):
            mixed = next(parent for parent in those if parent not in above)
            raise InvalidStructure(
                f"{node!r} depends on the utility {above[0]!r} and on the variable {mixed!r}: a utility "
                f"takes either. Make the table of {mixed!r} a utility of its own, and combine the two."
            )
        if above:
            return worth.of_utilities(node, those, table)
        made = worth.of_variables(node, [self.variables[parent] for parent in those], table)
        if self.combine == "product":
            assert made.values is not None
            if (made.values < 0).any():
                at = np.argwhere(made.values < 0)[0]
                row = row_label([self.variables[parent] for parent in those], at)
                raise InvalidTable(
                    f"The utility {node!r}, row {row}: {float(made.values[tuple(at)])!r} is negative, and "
                    'combine="product" takes utilities from 0 on.'
                )
        return made

    def _set_decision(self, node: str, observes: Any, allowed: object) -> None:
        old = self._decisions[node]
        seen = old.observes if observes is None else self._observed(node, observes)
        variable = self.variables[node]
        made = replace(old, observes=seen)
        if allowed is not ...:
            made = decision(variable, self._all(seen), allowed)
        elif not set(old.allowed_given) <= set(seen):
            raise InvalidStructure(
                f"{node!r}: allowed= depends on {listed(old.allowed_given)}: give allowed= again."
            )
        trial = {**self._decisions, node: made}
        self._check_order(trial)
        self._decisions = trial

    def _check_order(self, decisions: Mapping[str, Decision]) -> None:
        """Refuse a decision that observes its own consequence, or that of a later one."""
        above = {node: self._network.parents(node) for node in self._network}
        before: tuple[str, ...] = ()
        for name, one in decisions.items():
            above[name] = tuple(dict.fromkeys((*one.observes, *before)))
            before = (name,)
        try:
            arrows.check_acyclic(above)
        except InvalidStructure as error:
            raise InvalidStructure(f"A decision would observe its own consequence. {error}") from None

    # --- copies ---

    def copy(self) -> Self:
        """Return an independent copy of the diagram."""
        made = type(self)(self.name, self.memory, combine=self.combine)
        made._network = self._network.copy()
        made._decisions, made._utilities = dict(self._decisions), dict(self._utilities)
        return made

    __copy__ = copy

    def rename(self, new: Mapping[str, str]) -> Self:
        """Return the same diagram with some nodes renamed.

        Args:
            new: {old name: new name}, of some nodes or all.

        Raises:
            UnknownVariable: an old name that the diagram does not have.
            InvalidStructure, InvalidVariable: new names that are invalid, or taken.
            InvalidArgument: a utility is a function of what is renamed: functions take names.

        >>> d = InfluenceDiagram()
        >>> d.add_chance("rain", 0.3)
        >>> d.rename({"rain": "Regen"}).nodes
        ('Regen',)
        """
        called = renamed(self.nodes, new)
        made = type(self)(self.name, self.memory, combine=self.combine)
        made._network = self._network.rename({old: called[old] for old in self._network})

        def names(old: Iterable[str]) -> tuple[str, ...]:
            return tuple([called[name] for name in old])

        for name, one in self._decisions.items():
            made._decisions[called[name]] = Decision(
                names(one.observes), names(one.allowed_given), one.allowed
            )
        for name, utility in self._utilities.items():
            if utility.function is not None and names(utility.parents) != utility.parents:
                raise InvalidArgument(
                    f"{name!r} is a function that is called with the names {listed(utility.parents)}: give "
                    "the renamed diagram another function with `set`, or leave these names."
                )
            made._utilities[called[name]] = replace(utility, parents=names(utility.parents))
        return made

    def __eq__(self, other: object) -> bool:
        """Tell whether nodes, arrows, tables and the order of decisions are the same."""
        if not isinstance(other, InfluenceDiagram):
            return NotImplemented
        return (
            self.combine == other.combine
            and self.memory == other.memory
            and list(self._decisions) == list(other._decisions)
            and self._decisions == other._decisions
            and self._utilities == other._utilities
            and self._network == other._network
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_prepared"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepared = {}

    def to_networkx(self) -> nx.DiGraph[str]:
        """Return the graph; the node attribute `kind` is "chance", "decision" or "utility"."""
        graph: nx.DiGraph[str] = nx.DiGraph(name=self.name)
        for node in self.nodes:
            kind = self.kind(node)
            graph.add_node(node, kind=kind)
        graph.add_edges_from(self.edges)
        return graph

    # --- questions ---

    def solve(
        self, given: Mapping[str, Any] | None = None, *, risk: ExponentialUtility | None = None
    ) -> Policy:
        """Return the optimal policy: a rule for each decision, given its requisite observations.

        Args:
            given: what is known already: evidence on chance nodes, and decisions that were taken.
            risk: the attitude to risk: pgm.ExponentialUtility(tolerance=...); by default risk
                neutral.

        Raises:
            IncompleteModel: there is no utility, or no decision.
            InvalidEvidence: something that an open decision influences; a decision without those
                before it.
            ImpossibleEvidence: what is given has probability zero.
            TooLarge: the tables do not fit the memory limit.

        >>> d = InfluenceDiagram()
        >>> d.add_chance("disease", 0.1)
        >>> d.add_chance("test", {True: 0.9, False: 0.2}, parents=["disease"])
        >>> d.add_decision("treat", states=[False, True], observes=["test"])
        >>> d.add_utility("benefit", {(True, True): 80, (True, False): -100, (False, True): -20,
        ...     (False, False): 0}, parents=["disease", "treat"])
        >>> policy = d.solve()
        >>> round(policy.expected_utility, 6), policy.decide("treat", {"test": True})
        (2.6, True)
        """
        from .solving import solved

        return solved(self, given, risk)

    def evaluate(
        self, rules: Mapping[str, Any] | Policy, given: Mapping[str, Any] | None = None
    ) -> Evaluation:
        """Return the expected utility of any policy, and its loss compared to the optimal one.

        Args:
            rules: a policy, or for each decision that is not given a state, a dict {what it observes: state}
                with `...` for the rest, a function of what is known (by name) that returns a state, a
                fitted classifier (whose features are known then), or a table of probabilities in any form.
            given: the past, as for `solve`.

        Raises:
            InvalidArgument: a decision without a rule, or a rule for something that is no open decision.
            InvalidTable: an action that is not allowed.
            UnknownState: an action that does not exist.

        >>> d = InfluenceDiagram()
        >>> d.add_chance("rain", 0.3)
        >>> d.add_decision("umbrella", [False, True], observes="rain")
        >>> comfort = {(True, False): -10, (True, True): 2, (False, True): 5, (False, False): 8}
        >>> d.add_utility("comfort", comfort, parents=["rain", "umbrella"])
        >>> always = d.evaluate({"umbrella": True})
        >>> round(always, 6), round(always.loses, 6)
        (4.1, 2.1)
        """
        from .evaluation import evaluated

        return evaluated(self, rules, given)

    def value_of_information(
        self,
        names: str | Iterable[str] | None = None,
        *,
        before: str | None = None,
        given: Mapping[str, Any] | None = None,
        costs: Mapping[Any, float] | None = None,
        k: int | None = None,
        accuracy: Mapping[Any, Mapping[Any, float]] | None = None,
    ) -> Any:
        """Return the value of information: the gain in expected utility from observing before a decision.

        Args:
            names: a chance node, or several observed together: the answer is one value. By default, all
                that could be observed, one by one: the answer is a table, the best first.
            before: the decision; by default the first open one.
            given: the past, as for `solve`.
            costs: the cost of observing each, {name: cost}; of several together {(name, ...): cost}. The
                answer is net of it.
            k: find the best set of this size; up to 20,000 sets are all tried, else the search is greedy, and
                says so.
            accuracy: for an imperfect test, {state: {reading: probability}}; the reading is observed.

        Raises:
            UnknownVariable: there is no such node.
            InvalidArgument: what is named is given, or influenced by the decision or a later one.

        >>> d = InfluenceDiagram()
        >>> d.add_chance("disease", 0.1)
        >>> d.add_chance("test", {True: 0.9, False: 0.2}, parents=["disease"])
        >>> d.add_decision("treat", states=[False, True], observes=["test"])
        >>> d.add_utility("benefit", {(True, True): 80, (True, False): -100, (False, True): -20,
        ...     (False, False): 0}, parents=["disease", "treat"])
        >>> round(d.value_of_information("disease", before="treat"), 6)
        5.4
        """
        from .information import value_of_information

        return value_of_information(self, names, before, given, costs, k, accuracy)

    def value_of_control(self, name: str, *, given: Mapping[str, Any] | None = None) -> ExpectedUtility:
        """Return the value of control: the gain in expected utility if a chance node is decided first.

        Args:
            name: the chance node.
            given: the past, as for `solve`.

        Raises:
            UnknownVariable: there is no such node.
            InvalidArgument, InvalidEvidence: it is a decision, or given.

        >>> d = InfluenceDiagram()
        >>> d.add_chance("rain", 0.3)
        >>> d.add_utility("comfort", {True: -10, False: 8}, parents=["rain"])
        >>> round(d.value_of_control("rain"), 6)
        5.4
        """
        from .information import value_of_control

        return value_of_control(self, name, given)

    def sensitivity(
        self,
        first: Any = None,
        second: Any = None,
        *,
        decision: str | None = None,
        given: Mapping[str, Any] | None = None,
        spread: float = 0.1,
        low: float | None = None,
        high: float | None = None,
    ) -> Sensitivities | Sensitivity | SensitivityMap:
        """Return how expected utility depends on probabilities and utilities, and where the policy changes.

        If a probability changes, the rest of its row stays in proportion. Thresholds are exact:
        for each policy the expected utility, times the probability of what is given, is a line.

        Args:
            first: a node, whose parameters are varied one at a time; by default those of all nodes:
                the answer is a table, the largest effect first, drawn as a tornado. Or one parameter, as
                (node, {name: state}) with the states of the parents and, of a chance node, its own: the
                answer is the expected utility as a function of it, for each action as well.
            second: another parameter: the answer is a two-way map of the optimal policy.
            decision: whose actions are compared; by default the first open one.
            given: the past, as for `solve`.
            spread: how far each of several parameters moves up and down: probabilities by this, utilities by
                this share of the range of a table.
            low: the smallest value of the parameter.
            high: the largest.

        Raises:
            UnknownVariable, UnknownState: a node or state that does not exist.
            InvalidStructure: parameters that are not entries of a row, such as those of gates.
            InvalidArgument: a parameter that is not named in full, or a range without the current value.

        >>> d = InfluenceDiagram()
        >>> d.add_chance("disease", 0.1)
        >>> d.add_chance("test", {True: 0.9, False: 0.2}, parents=["disease"])
        >>> d.add_decision("treat", states=[False, True], observes=["test"])
        >>> d.add_utility("benefit", {(True, True): 80, (True, False): -100, (False, True): -20,
        ...     (False, False): 0}, parents=["disease", "treat"])
        >>> found = d.sensitivity(("disease", {"disease": True}))
        >>> [round(x, 6) for x in found.stays]
        [0.024096, 0.470588]
        >>> found.segments[0].changes
        {'treat': {True: False}}
        """
        from .effects import sensitivity

        return sensitivity(self, first, second, decision, given, spread, low, high)

    def plan(self, given: Mapping[str, Any] | None = None) -> DecisionPlan:
        """Return the plan of `solve`: requisite observations, elimination order, sizes.

        It allocates nothing.

        Args:
            given: the past, as for `solve`.

        Raises:
            IncompleteModel: there is no utility.
            InvalidEvidence: something that an open decision influences.

        >>> d = InfluenceDiagram()
        >>> d.add_chance("rain", 0.3)
        >>> d.add_decision("umbrella", [False, True], observes="rain")
        >>> comfort = {(True, True): 2, (False, False): 8, ...: -1}
        >>> d.add_utility("comfort", comfort, parents=["rain", "umbrella"])
        >>> d.plan().requisite
        {'umbrella': ('rain',)}
        """
        from .solving import planned

        return planned(self, given)

    def _check_complete(self) -> None:
        if not self._utilities:
            raise IncompleteModel("The diagram has no utility yet: there is nothing to maximise.")

    # --- in print ---

    def plot(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the diagram: chance nodes rounded, decisions square, utilities as rhombs.

        What is observed before a decision has a dashed arrow to it. Returns the matplotlib Axes.

        Args:
            given: the past, possibly empty: chance nodes show their posterior under the best policy, and
                decisions the value of each action, or how often it is taken if that depends on more.
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the drawing needs if left out.
            title: the title; the name of the diagram if left out.
        """
        from pgm import plot

        return plot.influence_diagram(self, ax, given, figsize=figsize, title=title)

    def __repr__(self) -> str:
        name = f"{shown(self.name)}, " if self.name else ""
        return (
            f"{type(self).__name__}({name}{len(self.chances):,} chance nodes, {len(self._decisions):,} "
            f"decisions, {len(self._utilities):,} utilities)"
        )

    def __str__(self) -> str:
        return text_table(*self._table(), title=repr(self))

    def _repr_html_(self) -> str:
        return html_table(*self._table(), title=repr(self))

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for node in self.nodes[:_ROWS]:
            parents = self.parents(node)
            kind = (
                "utility" if node in self._utilities else "decision" if node in self._decisions else "chance"
            )
            states = (
                "" if kind == "utility" else joined(self.variables[node].states, self.variables[node].card)
            )
            rows.append([node, kind, joined(parents, len(parents)) or "-", states])
        more = len(self) - len(rows)
        return ["node", "kind", "parents", "states"], rows, f"... {more:,} more" if more else ""
