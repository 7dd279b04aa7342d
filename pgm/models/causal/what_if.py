"""Causal questions to a Bayesian network, whose arrows are read as causes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from pgm import graphs
from pgm.errors import UnknownVariable
from pgm.evidence import names
from pgm.graphs.adjustment import MOST, AdjustmentSets

from . import policies

if TYPE_CHECKING:
    from pgm.cpds.cpd_store import CPDStore

    from .causation import Causation
    from .counterfactuals import Counterfactual
    from .effects import CausalEffect
    from .graph import CausalGraph


class WhatIf:
    """The methods of a Bayesian network that take its arrows as causes."""

    _parents: dict[str, tuple[str, ...]]
    _pending: dict[str, Any]
    _cpds: CPDStore

    def do(self, actions: Mapping[str, Any]) -> Self:
        """Return the network after interventions: variables cut off from their parents (Pearl 2009, 3.2).

        The state or value that was set has probability 1, any other 0, so the probability of a case is the
        product of the distributions of all other variables. An action may also be a policy: a distribution
        over the states, or a rule that decides by what it observes.

        Args:
            actions: {name: state}, or {name: value} for a continuous variable; {name: {state: probability}}
                for one drawn at random; {name: function}, whose arguments name what it observes and which
                returns a state; {name: distribution}, any that `add` takes with its parents.

        Raises:
            UnknownVariable, UnknownState: a name or a state that does not exist.
            InvalidEvidence: the argument is not a mapping.
            InvalidTable: probabilities that do not add up to one, or a rule that returns no state.
            InvalidStructure: a rule that observes what the action influences.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("rain", 0.2)
        >>> net.add("umbrella", {True: 0.7, False: 0.1}, parents=["rain"])
        >>> net.add("wet", {(True, False): 0.9, ...: 0.0}, parents=["rain", "umbrella"])
        >>> net.do({"umbrella": True}).parents("umbrella")
        ()
        >>> always, if_it_rains = net.do({"umbrella": True}), net.do({"umbrella": lambda rain: rain})
        >>> round(net.query("wet")[True], 6), if_it_rains.query("wet")[True], if_it_rains.parents("umbrella")
        (0.054, 0.0, ('rain',))
        """
        made: Self = self.copy()  # type: ignore[attr-defined]
        for node, cpd in policies.act(self, actions).items():  # type: ignore[arg-type]
            made._parents[node] = cpd.parents
            made._pending.pop(node, None)
            made._cpds[node] = cpd
        return made

    def adjustment_sets(
        self,
        x: str | Iterable[str],
        y: str | Iterable[str],
        *,
        hidden: str | Iterable[str] = (),
        costs: Mapping[str, float] | None = None,
        limit: int = MOST,
    ) -> AdjustmentSets:
        """Return all minimal sets of variables to adjust for when the effect of `x` on `y` is estimated.

        Given such a set z, P(y | do(x)) is the sum of P(y | x, z) P(z) over z. The sets are those of the
        adjustment criterion, which is complete (Shpitser, VanderWeele & Robins 2010): a set that fails it is
        wrong for some tables of the same graph, as is every proper subset of a minimal one. `.optimal` is the
        set with which estimates vary least.

        Args:
            x: what is acted on: a node, or several.
            y: what it may influence.
            hidden: nodes that are never observed, which are in no set.
            costs: what it costs to observe each node, 1 for those left out: the cheapest set comes first.
            limit: how many sets are listed at most; of more, the first is still the best of all.

        Raises:
            UnknownVariable: a name that the network does not have.
            InvalidArgument: both ends have a node in common, or one of them is hidden; a negative cost.

        >>> import pgm
        >>> net = pgm.BayesianNetwork(edges="cloudy -> sprinkler -> wet <- rain <- cloudy")
        >>> net.adjustment_sets("sprinkler", "wet")
        adjust for  size
        cloudy      1
        rain        1
        least variance: rain
        >>> net.adjustment_sets("sprinkler", "wet") == [{"cloudy"}, {"rain"}]
        True
        """
        return graphs.adjustment_sets(
            graphs.Arrows.of(self._parents),
            names(x, least=1),
            names(y, least=1),
            hidden=names(hidden),
            costs=costs,
            limit=limit,
        )

    def causal_graph(self, hidden: str | Iterable[str] = ()) -> CausalGraph:
        """Return the graph alone, projected onto the nodes that are observed (latent projection).

        A hidden node leaves an arrow where a path leads through it, and a hidden common cause where such
        paths lead from it to two others (Verma & Pearl 1990).

        Args:
            hidden: nodes that are never observed.

        Raises:
            UnknownVariable: a name that the network does not have.
            InvalidStructure: no node would be left.

        >>> import pgm
        >>> net = pgm.BayesianNetwork(edges="gene -> smoking -> tar -> cancer <- gene")
        >>> print(net.causal_graph(hidden="gene"))
        smoking -> tar; tar -> cancer; smoking <-> cancer
        """
        from .graph import hidden_of

        unseen = names(hidden)
        for name in unseen:
            if name not in self._parents:
                raise UnknownVariable(name, self._parents)
        return hidden_of(self._parents, unseen)

    def effect(
        self,
        x: str,
        y: str,
        *,
        states: Any = None,
        outcome: Any = None,
        given: Mapping[str, Any] | None = None,
    ) -> CausalEffect:
        """Return what setting `x` from one state to another does to `y`, exactly.

        On average, among those who have the second state anyway (on the treated), along the arrow from `x` to
        `y` alone (natural direct effect), along all other paths (natural indirect effect), and along each
        arrow that leaves `x`. What is moved is the mean of `y`, or the probability of one of its states.

        Args:
            x: what is acted on.
            y: what it may influence.
            states: the two states of `x`, (control, treated); left out: its states if it has two, or 0 and 1.
            outcome: the state of `y` that counts; left out: the last of two; the mean if continuous.
            given: evidence seen before the action, on nodes that `x` does not influence.

        Raises:
            UnknownVariable, UnknownState: a name or a state that does not exist.
            InvalidArgument: `states` or `outcome` has to be given, because there are more than two.
            InvalidEvidence: `y` is given, or what `x` influences.
            ImpossibleEvidence: what is given is impossible.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("drug", 0.5)
        >>> net.add("pulse", {True: 0.8, False: 0.4}, parents="drug")
        >>> net.add("well", {(True, True): 0.5, (True, False): 0.9, (False, True): 0.3, (False, False): 0.6},
        ...         parents=["drug", "pulse"])
        >>> net.effect("drug", "well")
        effect          value      if
        average         +0.100000  everyone is treated, or nobody
        on the treated  +0.100000  those who are treated anyway
        direct          +0.260000  along the arrow alone (natural direct effect)
        indirect        -0.120000  along all other paths (natural indirect effect)
        drug -> pulse   -0.120000  along this arrow alone
        drug -> well    +0.260000  along this arrow alone
        effect of drug from False to True on P(well=True)
        under do(drug): False: 0.480000, True: 0.580000
        """
        from .effects import effect

        return effect(self, x, y, states, outcome, given)  # type: ignore[arg-type]

    def counterfactual(
        self, target: str, given: Mapping[str, Any] | None = None, *, do: Mapping[str, Any]
    ) -> Counterfactual:
        """Return what `target` would have been, had something else been done, given what was seen.

        Exact where every node that the action reaches is a function of its parents (write its noise as a
        parent), or linear Gaussian. Tables alone do not say how a node would have responded: then the answer
        is sharp bounds, each reached by some model with the same tables.

        Args:
            target: one node.
            given: what was seen in this world: states.
            do: what would have been done: {name: state}.

        Raises:
            UnknownVariable, UnknownState: a name or a state that does not exist.
            InvalidArgument, InvalidEvidence: nothing is done; what was seen is not a state.
            ImpossibleEvidence: what was seen is impossible.
            TooLarge: too many response functions.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("rain", 0.3)
        >>> net.add("sprinkler", 0.4)
        >>> net.add("wet", pgm.Deterministic(lambda rain, sprinkler: rain or sprinkler))
        >>> net.counterfactual("wet", {"wet": True, "sprinkler": True}, do={"sprinkler": False})
        wet    P
        False  0.700000
        True   0.300000
        P(wet under do(sprinkler=False) | wet=True, sprinkler=True)
        """
        from .counterfactuals import counterfactual

        return counterfactual(self, target, given, do)  # type: ignore[arg-type]

    def necessity_and_sufficiency(
        self,
        x: str,
        y: str,
        *,
        states: Any = None,
        outcome: Any = None,
        given: Mapping[str, Any] | None = None,
    ) -> Causation:
        """Return the probabilities of causation: that `x` was necessary for `y`, sufficient, and both.

        The probability of necessity is that someone treated who had the outcome would not have had it
        untreated; the probability of sufficiency, that someone untreated without the outcome would have had
        it with treatment (Pearl 1999). Exact where the network decides it, else sharp bounds (Tian & Pearl
        2000), as `counterfactual` gives them.

        Args:
            x: the cause.
            y: the outcome, which has two states.
            states: the two states of `x`, (control, treated); left out: its states if it has two.
            outcome: the state of `y` that is the outcome; the second if left out.
            given: evidence seen before the action, on nodes that `x` does not influence.

        Raises:
            UnknownVariable, UnknownState: a name or a state that does not exist.
            InvalidArgument: an outcome of more than two states, or a continuous variable.
            InvalidEvidence: `y` is given, or what `x` influences.
            TooLarge: too many response functions.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("drug", 0.5)
        >>> net.add("well", {True: 0.8, False: 0.4}, parents="drug")
        >>> found = net.necessity_and_sufficiency("drug", "well")
        >>> [tuple(round(end, 6) for end in pair) for pair in found.to_dict().values()]
        [(0.5, 0.75), (0.666667, 1.0), (0.4, 0.6)]
        """
        from .causation import causation

        return causation(self, x, y, states, outcome, given)  # type: ignore[arg-type]
