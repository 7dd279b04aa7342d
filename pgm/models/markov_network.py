"""Markov networks: variables, and factors whose product is the unnormalised probability."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm import graphs
from pgm.cpds.base import ROWS_SHOWN, printed
from pgm.errors import InvalidArgument, InvalidStructure, UnknownVariable, shown
from pgm.evidence import names, observe
from pgm.factors import Dense, Factor, Gate, Sparse
from pgm.inference.asking.compiled_model import edit
from pgm.inference.asking.failures import refuse_soft
from pgm.inference.asking.questions import Given, Questions
from pgm.inference.asking.session import whole
from pgm.inference.engines import Engine, find
from pgm.inference.engines.wide_numbers import log_of, times_exp
from pgm.inference.program import Program
from pgm.printing import html_table, joined, text_table
from pgm.results import FitReport, Logarithm, Probability, Report
from pgm.runtime.running import Impossible
from pgm.variables import Domain, Variable, VariableList, Variables, check_name

from .grid import Pixels, grid_parts
from .junction_tree import CliqueTree
from .potentials import Potential, read_factor
from .renaming import renamed

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes
else:
    from pgm.graphs import networkx_later as nx


class MarkovNetwork(Questions):
    """An undirected model: a list of factors over named variables.

    Args:
        name: of the model, in print and in files.

    Raises:
        InvalidArgument: a name that is not text.

    >>> mrf = MarkovNetwork()
    >>> mrf.add_variable("a", states=["red", "blue"])
    >>> mrf.add_variable("b", states=["red", "blue"])
    >>> mrf.add_factor(["a", "b"], [[10, 1], [1, 10]])
    >>> mrf.neighbors("a")
    ('b',)
    """

    name: str
    _domains: dict[str, Domain] | Pixels
    _places: dict[str, int] | None  # built on first access
    _factors: list[Factor]
    fit_report: FitReport | None = None  #: how the last `fit` went

    def __init__(self, name: str = "") -> None:
        super().__init__()
        if not isinstance(name, str):
            raise InvalidArgument(f"The name of a network is text, not {shown(name)}.")
        self.name = name
        self._domains = {}
        self._places = {}
        self._factors = []

    @classmethod
    def grid(
        cls, observed: Any, states: Sequence[Any], coupling: float, unary: Any, *, name: str = ""
    ) -> MarkovNetwork:
        """Make the Potts model of an image: variables "pixel[0,0]", "pixel[0,1]", ...

        Args:
            observed: an array of the observed values; None, NaN and masked pixels were not observed.
            states: the true states of a pixel.
            coupling: the log weight of each pair of neighbours that agree.
            unary: unary[true, seen], the probability of seeing each value; the columns are for the states
                in order, or, if there are more or fewer, for the values 0, 1, ... in `observed`.
            name: the name of the network.

        Raises:
            InvalidTable: `unary` has another shape, or a negative value.
            InvalidVariable: invalid states.
            InvalidArgument: an image or a coupling that cannot be read.
            UnknownState: a pixel value that has no column.

        >>> unary = [[0.9, 0.1], [0.1, 0.9]]
        >>> grid = MarkovNetwork.grid([[1, 0], [1, 1]], states=[0, 1], coupling=2.0, unary=unary)
        >>> list(grid.variables)
        ['pixel[0,0]', 'pixel[0,1]', 'pixel[1,0]', 'pixel[1,1]']
        """
        made = cls(name)
        made._take(*grid_parts(observed, states, coupling, unary))
        return made

    def _take(self, domains: dict[str, Domain] | Pixels, factors: Iterable[Factor]) -> None:
        """Replace the variables and factors by these."""
        self._domains = domains.copy()
        self._places = None
        self._factors = list(factors)
        self._changed()

    @property
    def _position(self) -> dict[str, int]:
        found = self._places
        if found is None:
            with self._lock:  # so that no other thread edits
                found = self._places = dict(zip(self._domains, range(len(self._domains)), strict=True))
        return found

    # --- what there is ---

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The variables by name, in the order in which they were added; read-only."""
        return Variables(self._domains)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(self._domains)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The pairs of variables that share a factor."""
        return tuple(self.to_networkx().edges)

    @property
    def n_factors(self) -> int:
        """The number of factors."""
        return sum(len(f.scopes) if isinstance(f, Dense) else 1 for f in self._factors)

    @property
    def potentials(self) -> Potentials:
        """The factors in the order in which they were added; a read-only list."""
        return Potentials(VariableList.of_model(self.variables), tuple(self._factors))

    def factors(self) -> list[Factor]:
        """Return the factors in the form that inference takes; scopes are variable indices."""
        return list(self._factors)

    def log_partition(self, given: Given = None, *, engine: str | Engine = "auto") -> Logarithm:
        """Return the logarithm of `partition(given)`; minus infinity where that is zero.

        Args:
            given: as for `partition`.
            engine: the engine; see `query`.

        Raises:
            TooLarge, OutOfTime: as for `query`.

        >>> mrf = MarkovNetwork()
        >>> mrf.add_variable("a", states=[0, 1])
        >>> mrf.add_factor("a", [3, 4])
        >>> round(mrf.log_partition(), 6), round(mrf.log_partition({"a": 1}), 6)
        (1.94591, 1.386294)
        """
        return self.partition(given, engine=engine).log

    def partition(self, given: Given = None, *, engine: str | Engine = "auto") -> Probability:
        """Return the sum of the product of the factors over all configurations that agree with `given`.

        The answer is a float with a `log` attribute, in case it overflows. Where factors are 0 or 1
        it counts the configurations that all of them allow: exactly, while there are fewer than
        2**53. `probability(given)` is this divided by the sum over everything, `partition()`.

        Args:
            given: evidence of any kind but pgm.Soft, not an event. The weights of a pgm.Likelihood multiply.
            engine: the engine; see `query`.

        Raises:
            TooLarge, OutOfTime: as for `query`.

        >>> mrf = MarkovNetwork()
        >>> for name in "abc":
        ...     mrf.add_variable(name, states=[0, 1])
        >>> mrf.add_factor(["a", "b"], [[0, 1], [1, 1]])    # a or b
        >>> mrf.add_factor(["b", "c"], [[1, 1], [0, 1]])    # if b then c
        >>> mrf.partition(engine="search"), mrf.partition({"a": 1})
        (4.0, 3.0)
        """
        chosen = find(engine, "probability")
        compiled = self._compile()
        observed = observe(compiled.by_name, given)
        refuse_soft(observed)
        try:
            found, report = self._total(compiled, observed, chosen, explain=False)
        except Impossible:
            return Probability(0.0, Report(chosen.name, exact=True, given=observed.given), log=-math.inf)
        if observed.log_weight:  # from a pgm.Likelihood that leaves one state
            found = times_exp(found, observed.log_weight)
        log = log_of(found)
        if abs(log) < 1.0:  # where the logarithm itself has lost digits
            log = math.log(math.ldexp(*found))
        mantissa, power = math.frexp(found[0])
        value = math.ldexp(mantissa, power + found[1]) if power + found[1] <= 1024 else math.inf
        return Probability(value, report, log=log)

    def gradients(self, given: Given = None, *, zeros: bool = False) -> dict[Any, np.ndarray]:
        """Return the derivative of `log_partition(given)` with respect to every entry of every factor.

        For entries that are zero it is NaN, or with `zeros` computed too, which takes longer. Entries are
        independent parameters, also those of a factor given in logarithms: {index in `potentials`: array of
        the factor's shape}. Times the entry, this is `expected_counts(given)`, the derivative with respect to
        its log. The derivative of log P(given) is the difference between `gradients(given)` and
        `gradients()`.

        >>> mrf = MarkovNetwork()
        >>> mrf.add_variable("a", states=[0, 1])
        >>> mrf.add_factor("a", [3, 5])
        >>> mrf.gradients(), mrf.gradients({"a": 1})
        ({0: array([0.125, 0.125])}, {0: array([0. , 0.2])})
        """
        return super().gradients(given, zeros=zeros)

    def _tables(self, program: Program, found: dict[int, np.ndarray]) -> dict[Any, np.ndarray]:
        """Return the result for each table by its index in `potentials`; other factors are left out."""
        begins = self.potentials._counts
        order = np.argsort(program.factor_of, kind="stable")  # the order of the factors, and of their scopes
        firsts = np.searchsorted(program.factor_of[order], np.arange(len(self._factors)))
        tables: dict[Any, np.ndarray] = {}
        for at, factor in enumerate(self._factors):
            if isinstance(factor, Dense):
                for row in range(len(factor.scopes)):
                    flat = found[int(order[firsts[at] + row])]
                    tables[int(begins[at]) + row] = flat.reshape(factor.values.shape)
        return tables

    def neighbors(self, name: str) -> tuple[str, ...]:
        """Return the variables that share a factor with this one.

        Args:
            name: a variable of the model.

        Raises:
            UnknownVariable: there is no such variable.

        >>> mrf = MarkovNetwork()
        >>> for name in "ab":
        ...     mrf.add_variable(name, states=["red", "blue"])
        >>> mrf.add_factor(["a", "b"], [[10, 1], [1, 10]])
        >>> mrf.neighbors("a")
        ('b',)
        """
        at = self._position[self._known(name)]
        found: dict[int, None] = {}
        for scope in self._scopes():
            if scope.shape[1] > 1:
                found.update(dict.fromkeys(scope[(scope == at).any(axis=1)].ravel().tolist()))
        order = tuple(self._domains)
        return tuple([order[i] for i in sorted(found) if i != at])

    def markov_blanket(self, name: str) -> AbstractSet[str]:
        """Return the neighbours: given these, the variable is independent of all others.

        Args:
            name: a variable of the model.

        Raises:
            UnknownVariable: there is no such variable.

        >>> mrf = MarkovNetwork()
        >>> for name in "ab":
        ...     mrf.add_variable(name, states=["red", "blue"])
        >>> mrf.add_factor(["a", "b"], [[10, 1], [1, 10]])
        >>> mrf.markov_blanket("a")
        {'b'}
        """
        return set(self.neighbors(name))

    def __contains__(self, name: object) -> bool:
        return name in self._domains

    def __iter__(self) -> Iterator[str]:
        return iter(self._domains)

    def __len__(self) -> int:
        return len(self._domains)

    # --- edits: each succeeds or changes nothing ---

    @edit
    def add_variable(self, name: str, states: Any) -> None:
        """Add a variable with its states in order, or pgm.Bins.

        Args:
            name: the new variable.
            states: its states in order, or pgm.Bins.

        Raises:
            InvalidStructure: there is such a variable already.
            InvalidVariable: an invalid name or invalid states.

        >>> mrf = MarkovNetwork()
        >>> mrf.add_variable("a", states=["red", "blue"])
        >>> mrf.variables["a"].states
        ('red', 'blue')
        """
        if check_name(name) in self._domains:
            raise InvalidStructure(f"There is a variable {name!r} already.")
        variable = Variable(name, states)
        if self._places is not None:
            self._places[variable.name] = len(self._domains)
        self._domains[variable.name] = variable.domain
        self._changed()

    @edit
    def add_factor(self, names: str | Iterable[str], values: object, *, log: bool = False) -> None:
        """Add a factor over some variables.

        Args:
            names: the variables, in the order that the values use.
            values: an array or nested lists with an axis for each variable; a dict {(state, ...): value}, in
                which rows left out are 0, or the value of the key `...`; or a data frame whose last column is
                `value`.
            log: whether the values are natural logarithms.

        Raises:
            UnknownVariable: a name that the model does not have: add it first.
            InvalidStructure: a variable named twice, or names without an order.
            InvalidTable: values of the wrong shape, or negative.

        >>> mrf = MarkovNetwork()
        >>> for name in "ab":
        ...     mrf.add_variable(name, states=["red", "blue"])
        >>> mrf.add_factor(["a", "b"], [[10, 1], [1, 10]])
        >>> mrf.n_factors
        1
        """
        those = (names,) if isinstance(names, str) else names
        if not isinstance(those, Iterable) or isinstance(those, Mapping | AbstractSet):
            raise InvalidStructure(
                f"A factor takes a list of names, whose order is that of the axes, not {shown(names)}."
            )
        those = tuple(those)
        scope = [self._position[self._known(name)] for name in those]
        if len(set(scope)) < len(scope):
            raise InvalidStructure(f"A factor names each variable once, not {list(those)}.")
        if not isinstance(log, bool):
            raise InvalidArgument(f"log= takes True or False, not {shown(log)}.")
        variables = [Variable.of(name, self._domains[name]) for name in those]
        self._factors.append(read_factor(variables, scope, values, log))
        self._changed()

    @edit
    def remove_factor(self, index: int) -> None:
        """Remove the factor at this index of `potentials`.

        Args:
            index: its index; negative ones count from the end.

        Raises:
            InvalidArgument: there is no such factor.

        >>> mrf = MarkovNetwork()
        >>> for name in "ab":
        ...     mrf.add_variable(name, states=["red", "blue"])
        >>> mrf.add_factor(["a", "b"], [[10, 1], [1, 10]])
        >>> mrf.remove_factor(0)
        >>> mrf.n_factors
        0
        """
        try:
            at, row = self.potentials._place(index)
        except IndexError as error:
            raise InvalidArgument(str(error)) from None
        factor = self._factors[at]
        if isinstance(factor, Dense) and len(factor.scopes) > 1:
            self._factors[at] = replace(factor, scopes=np.delete(factor.scopes, row, axis=0))
        else:
            del self._factors[at]
        self._changed()

    def _known(self, name: str) -> str:
        try:
            if name in self._domains:
                return name
        except TypeError:  # unhashable
            pass
        raise UnknownVariable(name, self._domains)

    def _scopes(self) -> Iterator[np.ndarray]:
        for factor in self._factors:
            yield factor.scopes if isinstance(factor, Dense) else factor.scope[np.newaxis]

    # --- learning ---

    def fit(
        self,
        frame: Any,
        *,
        prior: Any = None,
        weights: Any = None,
        fixed: Any = None,
        tied: Any = None,
        features: Any = None,
        method: str = "likelihood",
        max_iter: int = 1000,
        tol: float = 1e-7,
    ) -> Self:
        """Learn the values of the factors from rows of data; returns the model itself.

        The logarithms of the values follow the exact gradient, one pass of inference for each step; zeros
        stay zero. Entries that never occur in complete rows become zero, their maximum-likelihood value.
        Shared values stay shared. `fit_report` has the details.

        Args:
            frame: a data frame or a dict of columns; with gaps, or without columns of hidden variables, what
                is missing is summed out.
            prior: `pgm.priors.Normal(0, sd=...)`, of each logarithm or weight; left out: maximum likelihood.
            weights: how much each row counts: an array, or the name of a column.
            fixed: indices in `potentials` of factors that stay.
            tied: groups of indices that share their values.
            features: {index: array of shape (features, states...)}: the logarithm of such a factor is a
                weighted sum of features (a log-linear model), and the weights are learned.
            method: "likelihood"; or "pseudo-likelihood", which needs complete rows but no inference, and is
                a different estimate (Besag 1975).
            max_iter: the largest number of steps.
            tol: the largest gradient entry, per row, at which it has converged.

        Raises:
            InvalidFrame: no rows, or no column that is a variable.
            UnknownState: a value that is not a state.
            InvalidArgument: an option out of range.
            TooLarge, OutOfTime: as for `query`.

        >>> mrf = MarkovNetwork()
        >>> for name in "ab":
        ...     mrf.add_variable(name, states=[0, 1])
        >>> mrf.add_factor(["a", "b"], [[1, 1], [1, 1]])
        >>> mrf = mrf.fit({"a": [0, 0, 0, 1], "b": [0, 0, 1, 1]})
        >>> mrf.query(["a", "b"]).values.round(4).tolist()
        [[0.5, 0.25], [0.0, 0.25]]
        """
        from . import markov_fitting

        factors, report = markov_fitting.fit(
            self,
            frame,
            prior=prior,
            weights=weights,
            fixed=fixed,
            tied=tied,
            features=features,
            method=method,
            max_iter=whole(max_iter, "max_iter=", 1),
            tol=tol,
        )
        self._take_fit(factors, report)
        return self

    @edit
    def _take_fit(self, factors: list[Factor], report: FitReport) -> None:
        self._factors, self.fit_report = factors, report
        self._values_changed("", None)

    # --- other models ---

    def copy(self) -> Self:
        """Return an independent copy of the model."""
        made = type(self)(self.name)
        made._take(self._domains, self._factors)
        return made

    __copy__ = copy

    def rename(self, new: Mapping[str, str]) -> Self:
        """Return the same model with some variables renamed.

        Args:
            new: {old name: new name}, of some variables or all.

        Raises:
            UnknownVariable: an old name that the model does not have.
            InvalidStructure, InvalidVariable: new names that are invalid, or taken.

        >>> mrf = MarkovNetwork()
        >>> for name in "ab":
        ...     mrf.add_variable(name, states=["red", "blue"])
        >>> mrf.add_factor(["a", "b"], [[10, 1], [1, 10]])
        >>> mrf.rename({"a": "left"}).nodes
        ('left', 'b')
        """
        called = renamed(self._domains, new)
        made = type(self)(self.name)
        made._take({called[name]: domain for name, domain in self._domains.items()}, self._factors)
        return made

    def __eq__(self, other: object) -> bool:
        """Tell whether the variables are the same, and the factors in their order."""
        if not isinstance(other, MarkovNetwork):
            return NotImplemented
        if self._domains != other._domains or len(self._factors) != len(other._factors):
            return False
        here = np.array([self._position[name] for name in other._domains], dtype=np.int64)
        return all(
            _same(mine, theirs, here) for mine, theirs in zip(self._factors, other._factors, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "_domains": self._domains, "_factors": self._factors}

    def __setstate__(self, state: dict[str, Any]) -> None:
        MarkovNetwork.__init__(self, state["name"])
        for factor in state["_factors"]:
            for part in ("values", "probabilities"):
                if hasattr(factor, part):
                    getattr(factor, part).flags.writeable = False
        self._take(state["_domains"], state["_factors"])

    # --- the graph ---

    def to_networkx(self) -> nx.Graph[str]:
        """Return the graph that joins variables sharing a factor; node attribute `states` has the states."""
        graph: nx.Graph[str] = nx.Graph(name=self.name)
        graph.add_nodes_from((name, {"states": d.states}) for name, d in self._domains.items())
        order = tuple(self._domains)
        for scopes in self._scopes():
            for i, j in combinations(range(scopes.shape[1]), 2):
                pairs = zip(scopes[:, i].tolist(), scopes[:, j].tolist(), strict=True)
                graph.add_edges_from((order[a], order[b]) for a, b in pairs)
        return graph

    def to_dot(self) -> str:
        """Return the graph in DOT, which Graphviz and many other programs read.

        >>> mrf = MarkovNetwork()
        >>> mrf.add_variable("a", states=[0, 1])
        >>> mrf.add_variable("b", states=[0, 1])
        >>> mrf.add_factor(["a", "b"], [[2, 1], [1, 2]])
        >>> print(mrf.to_dot())
        graph {
          "a";
          "b";
          "a" -- "b";
        }
        """
        return graphs.to_dot(self.to_networkx())

    def junction_tree(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        order: Iterable[str] | None = None,
        root: str | Iterable[str] | None = None,
    ) -> CliqueTree:
        """Return the cliques of the triangulated graph, joined as a tree, with their tables and messages.

        For teaching, and for checking by hand: `tree.potentials`, `tree.messages`, `tree.beliefs`,
        `tree.separator_beliefs`, and `tree.trace` for all messages as text. They are exact, and computed on
        first access; the tree that `query` uses is smaller.

        Args:
            given: evidence, which sets table entries to zero and leaves the cliques as they are.
            order: all variables, in elimination order; if left out, a good order is searched for.
            root: one variable or several; a clique that contains them all becomes the root.

        Raises:
            UnknownVariable: a name that the model does not have.
            InvalidArgument: `order` lacks a variable, or no clique holds all of `root`.
            InvalidEvidence: `given` is not an event; pgm.Soft is not one.
            TooLarge: there are too many cliques to list; or, once tables are asked for, they do not fit.
            ImpossibleEvidence: tables are asked for and what is given is impossible.

        >>> mrf = MarkovNetwork()
        >>> for name in "abc":
        ...     mrf.add_variable(name, states=[0, 1])
        >>> mrf.add_factor(["a", "b"], [[2, 1], [1, 2]])
        >>> mrf.add_factor(["b", "c"], [[3, 1], [1, 3]])
        >>> mrf.junction_tree(root="c").messages[0].values, mrf.junction_tree().total
        (array([3., 3.]), 24.0)
        """
        cards = {name: domain.card for name, domain in self._domains.items()}
        tree = graphs.junction_tree(self.to_networkx(), cards=cards, order=order, root=root)
        return CliqueTree.of(tree, self, given)

    def independent(self, a: str | Iterable[str], b: str | Iterable[str], given: Any = None) -> bool:
        """Tell whether every path between two sets of variables passes through others that are given.

        Args:
            a: one variable or several.
            b: others.
            given: what is known: a name, a list of names, or a mapping, whose states do not matter.

        Raises:
            UnknownVariable: a name that the model does not have.

        >>> mrf = MarkovNetwork()
        >>> for name in "ab":
        ...     mrf.add_variable(name, states=["red", "blue"])
        >>> mrf.add_factor(["a", "b"], [[10, 1], [1, 10]])
        >>> mrf.independent("a", "b")
        False
        """
        return graphs.separated(
            self.to_networkx(), self._some(a, least=1), self._some(b, least=1), self._some(given)
        )

    def _some(self, what: Any, least: int = 0) -> tuple[str, ...]:
        found = names(what, least=least)
        for name in found:
            self._known(name)
        return found

    # --- in print ---

    def plot(
        self,
        given: Any = None,
        *,
        kind: str = "network",
        plates: Mapping[str, Sequence[str]] | None = None,
        information: bool = False,
        engine: str | Engine = "auto",
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the model; with `given`, every variable with its posterior; returns the matplotlib Axes.

        Args:
            given: evidence, possibly empty.
            kind: "network" (a large grid is an image), "factor-graph" or "junction-tree".
            plates: for each label the nodes that share a rectangle; one may lie inside another.
            information: draw links as wide as their mutual information, and colour nodes by entropy.
            engine: the engine for posteriors or information; see `query`.
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the drawing needs if left out.
            title: the title; the name of the model if left out.
        """
        from pgm import plot

        return plot.network(
            self,
            ax=ax,
            given=given,
            kind=kind,
            plates=plates,
            information=information,
            engine=engine,
            figsize=figsize,
            title=title,
        )

    def __repr__(self) -> str:
        name = f"{shown(self.name)}, " if self.name else ""
        return f"{type(self).__name__}({name}{len(self):,} variables, {self.n_factors:,} factors)"

    def __str__(self) -> str:
        return text_table(*printed(self._lines(), repr(self)))

    def _repr_html_(self) -> str:
        return html_table(*printed(self._lines(), repr(self)))

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        first = islice(self.potentials, ROWS_SHOWN)
        rows = [
            [joined(p.names, len(p.names)) or "-", " x ".join(str(v.card) for v in p.variables[:8]) or "1"]
            for p in first
        ]
        return ["factor", "states"], rows, self.n_factors


class Potentials(Sequence[Potential]):
    """The factors of a model as a read-only list."""

    __slots__ = ("_counts", "_factors", "_variables")

    def __init__(self, variables: VariableList, factors: tuple[Factor, ...]) -> None:
        self._variables = variables
        self._factors = factors
        self._counts = np.cumsum([0, *(len(f.scopes) if isinstance(f, Dense) else 1 for f in factors)])

    def __len__(self) -> int:
        return int(self._counts[-1])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at, row = self._place(index)
        factor = self._factors[at]
        if isinstance(factor, Dense):
            factor = replace(factor, scopes=factor.scopes[row : row + 1])
            scope = factor.scopes[0]
        else:
            scope = factor.scope
        return Potential(tuple([self._variables[i] for i in scope.tolist()]), factor)

    def __repr__(self) -> str:
        return f"<{len(self):,} factors>"

    def _place(self, index: int) -> tuple[int, int]:
        """Return the family that the factor belongs to, and its row there."""
        try:
            place = operator.index(index)
        except TypeError:
            raise InvalidArgument(f"A factor is found by its index, not by {shown(index)}.") from None
        if not -len(self) <= place < len(self):
            raise IndexError(f"There are {len(self):,} factors; {place} is not an index of one.")
        place %= len(self)
        at = int(np.searchsorted(self._counts, place, side="right")) - 1
        return at, place - int(self._counts[at])


def _same(mine: Factor, theirs: Factor, here: np.ndarray) -> bool:
    """Tell whether two factors are equal once their axes are in the same order."""
    if isinstance(mine, Dense) and isinstance(theirs, Dense):
        return (
            mine.log == theirs.log
            and np.array_equal(mine.scopes, here[theirs.scopes])
            and np.array_equal(mine.values, theirs.values)
        )
    if isinstance(mine, Sparse) and isinstance(theirs, Sparse):
        if mine.log != theirs.log or not np.array_equal(mine.scope, here[theirs.scope]):
            return False
        a, b = (
            dict(zip(map(tuple, f.rows.tolist()), f.values.tolist(), strict=True)) for f in (mine, theirs)
        )
        return a == b
    if isinstance(mine, Gate) and isinstance(theirs, Gate):
        return (
            np.array_equal(mine.scope, here[theirs.scope])
            and len(mine.tables) == len(theirs.tables)
            and all(
                at == other_at and np.array_equal(values, others)
                for (at, values), (other_at, others) in zip(mine.tables, theirs.tables, strict=True)
            )
        )
    return False


FactorGraph = MarkovNetwork
