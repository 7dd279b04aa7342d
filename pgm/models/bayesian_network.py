"""Bayesian networks: variables, arrows, and P(child | parents) for each variable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm import graphs
from pgm.cpds import CPD, CPDStore, DensityCPD, make, prepared
from pgm.cpds.base import ROWS_SHOWN, printed
from pgm.cpds.density_cpd import added_as_block
from pgm.cpds.table_input import check_cells, checked_flag, frozen
from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.errors import (
    IncompleteModel,
    InvalidArgument,
    InvalidStructure,
    InvalidTable,
    InvalidVariable,
    UnknownVariable,
    listed,
    shown,
)
from pgm.evidence import names
from pgm.factors import Gate, ModelPart, Tables
from pgm.frames import LongForm
from pgm.inference.asking.compiled_model import edit
from pgm.inference.engines import Engine
from pgm.inference.program import Program
from pgm.inference.program.sorting import in_tables, one_by_one, sort_parts
from pgm.printing import html_table, joined, text_table
from pgm.variables import Continuous, Domain, Variable, Variables, check_name

from . import arrows
from .causal.what_if import WhatIf
from .junction_tree import CliqueTree
from .markov_network import MarkovNetwork
from .renaming import renamed
from .understanding import Understanding

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from pgm.results.fit_report import FitReport

    from .fitting import Fit, Learned
else:
    from pgm.graphs import networkx_later as nx

_FIELDS = (
    *("name", "captions", "positions", "_domains", "_parents", "_cpds", "_pending"),
    *("fit_report", "_learned"),
)


class BayesianNetwork(WhatIf, Understanding):
    """A directed acyclic graph of variables, each with its distribution given its parents.

    Args:
        name: of the network, in print and in files.
        edges: arrows known before the tables, `"smoking -> cancer <- pollution; a -> b"` or a list of pairs
            (parent, child), which take any names; the tables, with the states, follow by `set`, in any order.

    Two dicts keep how files draw nodes: `captions`, the label of a node in the picture,
    and `positions`, its (left, top, right, bottom) there. XDSL and JSON are read and written with them;
    nothing else depends on them.

    >>> net = BayesianNetwork("wet grass")
    >>> net.add("rain", 0.2)
    >>> net.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    >>> net.parents("wet"), net.variables["wet"].states
    (('rain',), (False, True))
    """

    name: str
    captions: dict[str, str]
    positions: dict[str, tuple[int, int, int, int]]
    # Each of a million nodes costs a few dict entries of text, arrays and shared domains: nothing that the
    # garbage collector has to walk through. Nodes made by `edges=` have no domain before their first table.
    _domains: dict[str, Domain | None]
    _parents: dict[str, tuple[str, ...]]
    _known_children: dict[str, dict[str, None]] | None  # built on first access
    _cpds: CPDStore
    # Tables as written, waiting for the states of a parent; the node's own states; whether to normalise rows.
    _pending: dict[str, tuple[object, Domain | None, bool]]
    fit_report: FitReport | None = None  #: how the last `fit` went
    _learned: Learned | None = None  # what `partial_fit` adds to

    def __init__(self, name: str = "", *, edges: str | Iterable[str | tuple[str, str]] | None = None) -> None:
        super().__init__()
        if not isinstance(name, str):
            raise InvalidArgument(
                f"The name of a network is text, not {shown(name)}; arrows are passed as edges=."
            )
        self.name = name
        self.captions, self.positions = {}, {}
        self._parents = {} if edges is None else arrows.parse(edges)
        self._domains = dict.fromkeys(self._parents)
        self._known_children = None
        self._cpds = CPDStore(self._parents, self._domains)
        self._pending = {}

    @classmethod
    def _from_cpds(cls, name: str, cpds: Iterable[CPD]) -> Self:
        """Build a network from distributions, in any order, each of which knows its variables."""
        made = cls(name)
        all_cpds = tuple(cpds)
        for cpd in all_cpds:
            node = cpd.child.name
            if node in made._parents:
                raise InvalidStructure(f"There are two distributions of {node!r}.")
            made._domains[node] = cpd.child.domain
            made._parents[node] = cpd.parents
            made._cpds[node] = cpd
        for node, cpd in zip(made._parents, all_cpds, strict=True):
            for parent in cpd.given:
                if parent.name not in made._parents:
                    raise UnknownVariable(parent.name, made._parents)
                if made._domains[parent.name] != parent.domain:
                    raise InvalidTable(
                        f"{node!r}: its table is for other states of the parent {parent.name!r} than "
                        f"it has: {listed(parent.states)}."
                    )
        arrows.check_acyclic(made._parents)
        return made

    @classmethod
    def _of_parts(
        cls,
        name: str,
        parents: dict[str, tuple[str, ...]],
        domains: dict[str, Domain | None],
        kept: dict[str, np.ndarray | CPD],
    ) -> Self:
        """Build a network from its stored form of each node, which the caller guarantees to be valid."""
        made = cls(name)
        made._parents.update(parents)
        made._domains.update(domains)
        made._cpds.update_kept(kept)
        return made

    # --- what there is ---

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The variables by name, in the order in which they were added; read-only."""
        if len(self._cpds) == len(self._parents):
            return Variables(self._domains)  # type: ignore[arg-type]
        return Variables({node: domain for node, domain in self._domains.items() if domain is not None})

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes, those without a table included."""
        return tuple(self._parents)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The arrows as pairs (parent, child)."""
        return tuple([(parent, node) for node, parents in self._parents.items() for parent in parents])

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of a node, in the order of its table's axes.

        Args:
            name: a node of the network.

        Raises:
            UnknownVariable: there is no such node.

        >>> net = BayesianNetwork(edges="rain -> wet <- sprinkler")
        >>> net.parents("wet")
        ('rain', 'sprinkler')
        """
        return self._parents[self._known(name)]

    def children(self, name: str) -> tuple[str, ...]:
        """Return the children of a node, in the order in which they were added.

        Args:
            name: a node of the network.

        Raises:
            UnknownVariable: there is no such node.

        >>> net = BayesianNetwork(edges="rain -> wet <- sprinkler")
        >>> net.children("rain")
        ('wet',)
        """
        return tuple(self._children[self._known(name)])

    def ancestors(self, name: str) -> tuple[str, ...]:
        """Return the parents of a node, their parents, and so on, in the order in which they were added.

        Args:
            name: a node of the network, which is not among them.

        Raises:
            UnknownVariable: there is no such node.

        >>> BayesianNetwork(edges="a -> b -> d <- c").ancestors("d")
        ('a', 'b', 'c')
        """
        return self._reached(self._known(name), self._parents)

    def descendants(self, name: str) -> tuple[str, ...]:
        """Return the children of a node, their children, and so on, in the order in which they were added.

        Args:
            name: a node of the network, which is not among them.

        Raises:
            UnknownVariable: there is no such node.

        >>> BayesianNetwork(edges="a -> b -> d <- c").descendants("a")
        ('b', 'd')
        """
        return self._reached(self._known(name), self._children)

    def _reached(self, start: str, nexts: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
        """The nodes that can be reached from a node, without it, in the model's order."""
        found = {start}
        queue = [start]
        for node in queue:  # grows during the loop
            for other in nexts[node]:
                if other not in found:
                    found.add(other)
                    queue.append(other)
        return tuple([node for node in self._parents if node in found and node != start])

    @property
    def _children(self) -> dict[str, dict[str, None]]:
        found = self._known_children
        if found is None:
            with self._lock:  # so that no other thread edits
                found = {node: {} for node in self._parents}
                for node, parents in self._parents.items():
                    for parent in parents:
                        found[parent][node] = None
                self._known_children = found
        return found

    def cpd(self, name: str) -> CPD:
        """Return P(name | parents); it prints as a table.

        Args:
            name: a node of the network.

        Raises:
            UnknownVariable: there is no such node.
            IncompleteModel: it has no table yet.

        >>> net = BayesianNetwork()
        >>> net.add("rain", 0.2)
        >>> net.cpd("rain").to_dict()
        {False: 0.8, True: 0.2}
        """
        found = self._cpds.get(self._known(name))
        if found is None:
            if name in self._pending:
                waiting = [parent for parent in self._parents[name] if self._domains[parent] is None]
                if not waiting:
                    raise IncompleteModel(
                        f"The states of {name!r} come with the frame that it is fitted to: call `fit`."
                    )
                raise IncompleteModel(
                    f"The table of {name!r} waits for the states of {listed(waiting)}: set them."
                )
            raise IncompleteModel(f"{name!r} has no table yet: give it one with `set`.")
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._parents

    def __iter__(self) -> Iterator[str]:
        return iter(self._parents)

    def __len__(self) -> int:
        return len(self._parents)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        self._check_complete()
        return sum(cpd.n_parameters for cpd in self._cpds.values())

    def topological_order(self) -> tuple[str, ...]:
        """Return the nodes with parents before children, otherwise in the order in which they were added."""
        return tuple(arrows.sort(self._parents))

    # --- edits: each succeeds or changes nothing ---

    @edit
    def add(
        self,
        name: str | Sequence[str],
        table: object,
        *,
        parents: str | Iterable[str] = (),
        states: Any = None,
        normalize: bool = False,
    ) -> None:
        """Add a node with its distribution.

        Args:
            name: the new variable; or a list of continuous variables that share one pgm.DensityCPD.
            table: a float, P(True); a list in the order of the states; a dict {state: p}, or with parents
                {state or (state, ...): row}, where the key `...` stands for all rows left out; an array of
                shape (parents..., states); a data frame whose last column is `p`; a pandas Series with the
                states as its index, as `value_counts()` gives; or a distribution such as pgm.NoisyOr, or,
                for a continuous variable, pgm.LinearGaussian, pgm.Gaussian or a dict {state: one of these}.
            parents: names in the order that the table uses; a distribution may name its own.
            states: the states in order, or pgm.Bins. Left out: False and True for a float; the keys of a dict
                in the order in which its rows first name them (False before True); those of a frame sorted,
                because data declare no order; gates such as pgm.NoisyOr then require one.
            normalize: divide each row of a table by its sum: for tables printed with rounding, or counts.
                Without it only rows that are off by rounding, at most 1e-6, are normalised; one that is
                further off is an error.

        Raises:
            InvalidTable: values of the wrong shape, negative, or a row that does not sum to one: it names
                the row.
            InvalidVariable: an invalid name or invalid states.
            UnknownVariable: a parent that the network does not have.
            UnknownState: a row of a state that its parent does not have.
            InvalidStructure: there is such a node already, or the arrows would form a cycle.
            TooLarge: the table does not fit the memory limit.

        >>> net = BayesianNetwork()
        >>> net.add("season", {"dry": 0.7, "rainy": 0.3})
        >>> net.add("mood", {"dry": [0.2, 0.8], ...: [0.5, 0.5]}, parents="season", states=["bad", "good"])
        >>> print(net.cpd("mood"))
        P(mood | season)
        season  bad  good
        dry     0.2   0.8
        rainy   0.5   0.5
        """
        if isinstance(name, list | tuple):
            self._add_block(name, table, parents, states)
            return
        node = check_name(name)
        if node in self._parents:
            end = (
                ": `set` gives it another table"
                if node in self._cpds
                else ", without a table: `set` gives it one"
            )
            raise InvalidStructure(f"There is a node {node!r} already{end}.")
        table, parents = prepared(node, table, parents)
        those = self._parents_for(node, table, parents)
        domain = None if states is None else Variable(node, states).domain
        cpd = self._made(node, table, domain, those, normalize)
        if cpd is None:
            self._pending[node] = (frozen(node, table), domain, normalize)
        else:
            self._cpds[node] = cpd
        self._parents[node] = those
        self._domains[node] = None if cpd is None else cpd.child.domain
        children = self._known_children
        if children is not None:
            children[node] = {}
            for parent in those:
                children[parent][node] = None
        self._changed()

    def _add_block(self, members: Sequence[object], table: object, parents: Any, states: Any) -> None:
        """Add variables with a joint density: each follows those before it, and the last has the density."""
        nodes = [check_name(member) for member in members]
        if not isinstance(table, DensityCPD) or states is not None:
            raise InvalidTable(
                f"{listed(nodes)}: a list of names is a block of variables with one pgm.DensityCPD, and "
                "these get "
                f"{shown(table) if states is None else 'states='}. Add them one by one."
            )
        if len(set(nodes)) < len(nodes) or not nodes:
            raise InvalidStructure(f"A block is a list of different names, not {shown(list(members))}.")
        those = (parents,) if isinstance(parents, str) else tuple(parents)
        added: list[str] = []
        try:
            for node, part in zip(nodes, added_as_block(nodes, table, those), strict=True):
                self.add(node, part)
                added.append(node)
        except BaseException:
            for node in reversed(added):
                self.remove(node)
            raise

    @edit
    def set(
        self,
        name: str,
        table: object,
        *,
        parents: str | Iterable[str] | None = None,
        states: Any = None,
        normalize: bool = False,
    ) -> None:
        """Give a node another distribution; its arrows stay, and its states unless `states` declares others.

        Args:
            name: a node of the network.
            table: as for `add`.
            parents: the same parents in another order, if the table has them so.
            states: the states in order, for a node that has none yet or has no children.
            normalize: divide each row of a table by its sum, as for `add`.

        Raises:
            InvalidTable: values of the wrong shape, negative, or a row that does not sum to one: it names
                the row.
            InvalidVariable: an invalid name or invalid states.
            UnknownVariable: there is no such node.
            UnknownState: a row of a state that its parent does not have.
            InvalidStructure: other parents than the node has, or other states although it has children.

        >>> net = BayesianNetwork(edges="rain -> wet")
        >>> net.set("rain", 0.2)
        >>> net.set("wet", {True: 0.9, False: 0.1})
        >>> round(net.query("wet")[True], 6)
        0.26
        """
        node = self._known(name)
        old = self._parents[node]
        if isinstance(table, DensityCPD):
            table = table.among(old if parents is None else parents, self._cpds.get(node))
        those = old
        if parents is not None or isinstance(table, CPD):
            those = self._parents_for(node, table, parents)
        table, brought = prepared(node, table, those)
        those = self._parents_for(node, table, brought)
        if sorted(those) != sorted(old):
            raise InvalidStructure(
                f"{node!r} has the parents {list(old)}, not {list(those)}: `set` leaves the arrows alone; "
                "`remove` the node and `add` it again to change them."
            )
        before = domain = self._domains[node]
        continuous = isinstance(table, CPD) and table.continuous
        if before is not None and isinstance(before, Continuous) != continuous:
            domain = None
        if states is not None:
            domain = Variable(node, states).domain
        cpd = self._made(node, table, domain, those, normalize)
        if cpd is None:
            self._pending[node] = (frozen(node, table), domain, normalize)
            self._parents[node] = those
            return
        if before not in (None, cpd.child.domain) and any(
            child in self._cpds for child in self._children[node]
        ):
            raise InvalidStructure(f"{node!r} has children whose tables depend on its present states.")
        built = self._buildable(node, cpd)
        was_table = self._cpds.array(node) is not None and those == old
        for other, found in built.items():
            self._cpds[other] = found
            self._domains[other] = found.child.domain
            self._pending.pop(other, None)
        self._parents[node] = those
        if cpd.child.domain == before and len(built) == 1:
            self._values_changed(node, self._cpds.array(node) if was_table else None)
        else:
            self._changed()

    @edit
    def remove(self, name: str) -> None:
        """Remove a node that has no children.

        Args:
            name: a node of the network.

        Raises:
            UnknownVariable: there is no such node.
            InvalidStructure: it has children: remove them first.

        >>> net = BayesianNetwork(edges="rain -> wet")
        >>> net.remove("wet")
        >>> net.nodes
        ('rain',)
        """
        node = self._known(name)
        if self._children[node]:
            raise InvalidStructure(
                f"{node!r} has the children {listed(self._children[node])}: remove them first."
            )
        for parent in self._parents[node]:
            del self._children[parent][node]
        for part in (self._cpds, self._pending, self._domains, self._parents, self._children):
            part.pop(node, None)
        self.captions.pop(node, None)
        self.positions.pop(node, None)
        self._changed()

    def _known(self, name: str) -> str:
        try:
            if name in self._parents:
                return name
        except TypeError:  # unhashable
            pass
        raise UnknownVariable(name, self._parents)

    def _parents_for(self, node: str, table: object, parents: object) -> tuple[str, ...]:
        """Return the parents' names, checked; a distribution that names its own needs none passed."""
        if isinstance(parents, str):
            parents = (parents,)
        if parents is None:
            parents = ()
        if type(parents) is not list and type(parents) is not tuple:
            if not isinstance(parents, Iterable) or isinstance(parents, Mapping | AbstractSet):
                raise InvalidStructure(
                    f"{node!r}: parents= lists names in the order of the table, not {shown(parents)}."
                )
        those = tuple(parents)
        if type(table) is not np.ndarray and isinstance(table, CPD):
            if those and set(those) != set(table.parents):
                raise InvalidStructure(
                    f"{node!r}: the distribution has the parents {list(table.parents)}, not {list(those)}."
                )
            those = table.parents
        for parent in those:
            if parent == node:
                raise InvalidStructure(f"{node!r} cannot be its own parent: that would be a cycle.")
            if not isinstance(parent, str) or parent not in self._domains:
                raise UnknownVariable(parent, self._parents, where=f"The parents of {node!r}")
            if type(parent) is not str:
                those = tuple(map(check_name, those))  # as plain text
        if len(set(those)) < len(those):
            twice = next(parent for i, parent in enumerate(those) if parent in those[:i])
            raise InvalidStructure(f"{node!r}: the parent {twice!r} is named twice.")
        return those

    def _made(
        self, node: str, table: object, domain: Domain | None, parents: tuple[str, ...], normalize: bool
    ) -> CPD | None:
        """Return the distribution, or None as long as the states of a parent are unknown."""
        checked_flag(node, normalize)
        if isinstance(table, CPD) and table.waits_for_states and domain is None:
            return None
        given = []
        for parent in parents:
            known = self._domains[parent]
            if known is None:
                return None
            given.append(Variable.of(parent, known))
        return make(node, table, domain, tuple(given), normalize)

    def _buildable(self, node: str, cpd: CPD) -> dict[str, CPD]:
        """Return all distributions that can be built now that this one is known."""
        found = {node: cpd}
        if not self._pending:
            return found
        queue = [node]
        while queue:
            for child in self._children[queue.pop()]:
                if child not in self._pending or child in found:
                    continue
                those = self._parents[child]
                domains = [found[p].child.domain if p in found else self._domains[p] for p in those]
                if None in domains:
                    continue
                given = [Variable.of(p, d) for p, d in zip(those, domains, strict=True) if d is not None]
                table, domain, normalize = self._pending[child]
                if isinstance(table, CPD) and table.waits_for_states and domain is None:
                    continue
                try:
                    found[child] = make(child, table, domain, tuple(given), normalize)
                except (InvalidTable, InvalidVariable) as error:
                    raise InvalidTable(
                        f"The table that was set for {child!r} does not fit {node!r}: {error}"
                    ) from error
                queue.append(child)
        return found

    # --- learning ---

    def fit(
        self,
        frame: Any,
        *,
        prior: Any = None,
        estimate: str = "mean",
        weights: Any = None,
        fixed: Any = None,
        tied: Any = None,
        latent: Any = None,
        states: Any = None,
        continuous: Any = None,
        method: str | None = None,
        starts: int | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        seed: int | np.random.Generator | None = None,
    ) -> Self:
        """Learn the parameters of all distributions from rows of data; returns the network itself.

        Complete rows are counted. With missing cells or hidden variables EM is run (Dempster, Laird & Rubin
        1977), from the current parameters, or else from counts of complete rows and random guesses. Nodes
        without a distribution get a table, or a linear Gaussian if they are continuous; others keep their
        kind. Undeclared states come from the column: booleans, text, integers and categories are
        states, floats are continuous. `fit_report` has the details.

        Args:
            frame: a data frame or a dict of columns, one for each node that is not hidden; lazy frames count
                in their engine, and an iterator of frames is read chunk by chunk.
            prior: "bdeu", "laplace" or "k2", an object of pgm.priors, a network, or {node: one of these},
                `...` for the rest. Left out: maximum likelihood. A network also declares the states.
            estimate: with a prior the "mean" of the posterior, or its "mode" (MAP).
            weights: how much each row counts: an array, or the name of a column.
            fixed: nodes that stay as they are, or {node: rows of its table that stay}.
            tied: groups of nodes that share one distribution, [["a", "b"], ...].
            latent: hidden variables, {name: number of states or list of states}, or a list of names where the
                network has the states. A column of theirs may have labels of some rows.
            states: {node: states} or {node: pgm.Bins}, for nodes without declared states.
            continuous: nodes whose integer column is a measurement.
            method: "em", or "hard": count the most probable completion of each row.
            starts: the number of EM runs, all but the first from random parameters; the best is kept.
            max_iter: the largest number of EM steps, 100 if left out.
            tol: the relative gain in log-likelihood at which it has converged; 1e-6 if left out.
            seed: of the random starts.

        Raises:
            InvalidFrame: no rows, a column that is missing or has no value, whole numbers as floats.
            UnknownState: a value that is not a state of the network.
            InvalidArgument: an option out of range or without effect; a density that collapses to a point.
            ImpossibleEvidence: a row that is impossible with the initial parameters of EM.
            TooLarge: a table does not fit the memory limit.

        >>> net = BayesianNetwork(edges="rain -> wet")
        >>> net.fit({"rain": [True, True, False], "wet": ["yes", "no", "no"]}).cpd("wet").to_dict()
        {False: {'no': 1.0, 'yes': 0.0}, True: {'no': 0.5, 'yes': 0.5}}
        """
        from . import fitting
        from .fitting_input import Options

        options = Options(
            *(prior, estimate, weights, fixed, tied, latent, states, continuous),
            *(method, starts, max_iter, tol, seed),
        )
        self._take_fit(fitting.fit(self, frame, options))
        return self

    def partial_fit(self, frame: Any, *, weights: Any = None, forget: float | None = None) -> Self:
        """Learn from more rows, counted with those before: the same as one `fit` to all; returns the network.

        Prior, fixed nodes and ties are those of `fit`. Rows with gaps contribute expected counts given the
        current parameters, once (stepwise EM, Cappé & Moulines 2009). `fit_report` is about all rows, or
        about the new ones alone if cells were missing or rows forgotten.

        Args:
            frame: as for `fit`.
            weights: how much each row counts: an array, or the name of a column.
            forget: the share of all earlier rows that is forgotten, for processes that drift.

        Raises:
            InvalidArgument: there was no `fit`, or the network was changed since.
            InvalidFrame, UnknownState, ImpossibleEvidence: as for `fit`.

        >>> net = BayesianNetwork(edges="rain -> wet")
        >>> rows = {"rain": [True, True, False], "wet": [True, False, False]}
        >>> net.fit(rows).partial_fit({"rain": [True], "wet": [True]}).cpd("wet").values.round(6).tolist()
        [[1.0, 0.0], [0.333333, 0.666667]]
        """
        from . import fitting

        self._take_fit(fitting.more(self, frame, weights, forget))
        return self

    def posterior(self, name: str) -> Any:
        """Return the posterior of a node's parameters after `fit` with a prior, for each row of a table.

        For a table it is a `TableBelief`, with means and credible intervals of its entries; for a density
        with a `pgm.priors.NormalGamma`, {row: its posterior}, or that alone if no parent selects.

        Args:
            name: a node of the network.

        Raises:
            UnknownVariable: there is no such node.
            InvalidArgument: there was no `fit`, or it had no prior for this node.

        >>> net = BayesianNetwork(edges="rain -> wet")
        >>> net = net.fit({"rain": [True, True, False], "wet": [True, False, False]}, prior="laplace")
        >>> net.posterior("wet")[True].mean.tolist()
        [0.5, 0.5]
        """
        from . import fitting

        return fitting.belief(self, self._known(name))

    @edit
    def _take_fit(self, found: Fit) -> None:
        """Store the result of a fit, all at once."""
        same = all(
            self._domains[node] == cpd.child.domain and node in self._cpds for node, cpd in found.cpds.items()
        )
        for node, cpd in found.cpds.items():
            self._cpds[node] = cpd
            self._domains[node] = cpd.child.domain
            self._parents[node] = cpd.parents
        self._pending.clear()
        self.fit_report, self._learned = found.report, found.learned
        if same:
            self._values_changed("", None)
        else:
            self._changed()

    # --- other networks ---

    def copy(self) -> Self:
        """Return an independent copy of the network."""
        made = type(self)(self.name)
        made._domains = dict(self._domains)
        made._parents = dict(self._parents)
        made._cpds = self._cpds.copy(made._parents, made._domains)
        made._pending = dict(self._pending)
        made.fit_report, made._learned = self.fit_report, self._learned
        made.captions, made.positions = dict(self.captions), dict(self.positions)
        return made

    __copy__ = copy

    def rename(self, new: Mapping[str, str]) -> Self:
        """Return the same network with some variables renamed.

        Args:
            new: {old name: new name}, of some nodes or all.

        Raises:
            UnknownVariable: an old name that the network does not have.
            InvalidStructure, InvalidVariable: new names that are invalid, or taken.

        >>> net = BayesianNetwork(edges="rain -> wet")
        >>> net.rename({"wet": "grass"}).edges
        (('rain', 'grass'),)
        """
        called = renamed(self._parents, new)
        made = type(self)(self.name)
        for node, those in self._parents.items():
            made._parents[called[node]] = tuple([called[p] for p in those])
            made._domains[called[node]] = self._domains[node]
        for node, cpd in self._cpds.items():
            *given, child = [Variable.of(called[v.name], v.domain) for v in (*cpd.given, cpd.child)]
            made._cpds[called[node]] = cpd.renamed(child, tuple(given))
        for node, (table, domain, normalize) in self._pending.items():
            if isinstance(table, LongForm):
                table = LongForm(
                    {called.get(column, column): cells for column, cells in table.columns.items()},
                    table.values,
                )
            made._pending[called[node]] = (table, domain, normalize)
        made.captions = {called[node]: text for node, text in self.captions.items() if node in called}
        made.positions = {called[node]: place for node, place in self.positions.items() if node in called}
        return made

    def __eq__(self, other: object) -> bool:
        """Tell whether variables, arrows and distributions are the same, whatever their order."""
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return (
            self._domains == other._domains
            and all(set(those) == set(other._parents[node]) for node, those in self._parents.items())
            and self._cpds == other._cpds
            and _same(self._pending, other._pending)
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {field: getattr(self, field) for field in _FIELDS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        BayesianNetwork.__init__(self)
        self.__dict__.update(state)

    # --- for inference ---

    def factors(self) -> list[ModelPart]:
        """Return the distributions as inference takes them, one for each node, in order."""
        self._check_complete()
        place = dict(zip(self._parents, range(len(self._parents)), strict=True))
        return [
            self._cpds[node].factor([*[place[p] for p in those], place[node]])
            for node, those in self._parents.items()
        ]

    def _in_bulk(self, position: Mapping[str, int]) -> Iterator[ModelPart]:
        kept = self._cpds.in_order(self._parents)
        parents = list(self._parents.values())
        begin = 0
        for end in (*[i for i, found in enumerate(kept) if not isinstance(found, np.ndarray)], len(kept)):
            if begin < end:
                yield _as_one_part(begin, parents[begin:end], kept[begin:end], position)
            if end < len(kept):
                found = kept[end]
                assert isinstance(found, CPD)
                yield found.factor([*[position[parent] for parent in parents[end]], end])
            begin = end + 1

    def _check_complete(self) -> None:
        if len(self._cpds) == len(self._parents):
            return
        missing = [node for node in self._parents if node not in self._cpds and node not in self._pending]
        if not missing:
            raise IncompleteModel(
                f"{listed(self._pending)}: the states, or those of the parents, come with the frame that "
                "estimators are fitted to: call `fit`, or declare them, states=[...]."
            )
        raise IncompleteModel(
            f"{len(missing):,} of {len(self):,} nodes have no table yet: {listed(missing)}. "
            "Give each one with `set`."
        )

    def _normalised(self) -> bool:
        return True

    def _tables(self, program: Program, found: dict[int, np.ndarray]) -> dict[Any, np.ndarray]:
        """Return the result for each table by the name of its node; nodes of several factors are left out."""
        p, place = program.arrays, {node: i for i, node in enumerate(self._parents)}
        nodes = tuple(node for node in self._parents if not isinstance(self._domains[node], Continuous))
        scopes, begins, cards = p.scopes.tolist(), p.scope_at.tolist(), p.cards.tolist()
        whose = program.factor_of.tolist()
        tables = {}
        for number, flat in found.items():
            node = nodes[whose[number]]
            scope = scopes[begins[number] : begins[number + 1]]
            axes = [place[name] for name in (*self._parents[node], node)]
            if scope == axes:
                tables[node] = flat.reshape([cards[v] for v in scope])
            elif sorted(scope) == sorted(axes):  # a gate may use an axis order of its own
                table = flat.reshape([cards[v] for v in scope]).transpose([scope.index(v) for v in axes])
                tables[node] = np.ascontiguousarray(table)
        return tables

    def _expected(
        self, program: Program, found: dict[int, np.ndarray], densities: dict[int, GaussianStatistics]
    ) -> dict[Any, Any]:
        """Return the expected statistics of each node: table or density, or the parts it is written as."""
        statistics: dict[Any, Any] = self._tables(program, found)
        if len(statistics) == len(self._parents):
            return statistics
        place = {node: i for i, node in enumerate(self._parents)}
        statistics.update({node: densities[v] for node, v in place.items() if v in densities})
        order = np.argsort(program.factor_of, kind="stable")  # that in which a gate writes its tables
        nodes = [node for node in self._parents if not isinstance(self._domains[node], Continuous)]
        begins = np.searchsorted(program.factor_of[order], np.arange(len(nodes) + 1))
        for number, node in enumerate(nodes):
            if node in statistics:
                continue
            cpd = self._cpds[node]
            gate = cpd.factor([place[name] for name in (*cpd.parents, node)])
            own = order[begins[number] : begins[number + 1]].tolist()
            if isinstance(gate, Gate):
                tables = [found[f].reshape(t.shape) for f, (_, t) in zip(own, gate.tables, strict=True)]
                if (made := cpd.expected(gate, tables)) is not None:
                    statistics[node] = made
        return {node: statistics[node] for node in self._parents if node in statistics}

    def to_markov_network(self) -> MarkovNetwork:
        """Return the undirected model whose factors are the distributions; its partition function is one."""
        if continuous := [v.name for v in self.variables.values() if v.continuous]:
            raise InvalidStructure(
                f"{listed(continuous)}: a Markov network has discrete variables only; these are continuous."
            )
        made = MarkovNetwork(self.name)
        self._check_complete()
        tables = one_by_one(sort_parts(in_tables(self.factors())).discrete)
        made._take({node: v.domain for node, v in self.variables.items()}, tables)
        return made

    # --- the graph ---

    def to_networkx(self) -> nx.DiGraph[str]:
        """Return the graph; the node attribute `states` holds the states."""
        graph: nx.DiGraph[str] = nx.DiGraph(name=self.name)
        for node, domain in self._domains.items():
            graph.add_node(node, **({} if domain is None else {"states": domain.states}))
        graph.add_edges_from(self.edges)
        return graph

    def to_dot(self) -> str:
        """Return the graph in DOT, which Graphviz and many other programs read.

        >>> print(BayesianNetwork(edges="rain -> wet").to_dot())
        digraph {
          "rain";
          "wet";
          "rain" -> "wet";
        }
        """
        return graphs.to_dot(self.to_networkx())

    def markov_blanket(self, name: str) -> AbstractSet[str]:
        """Return parents, children and their other parents: given these, the node is independent of the rest.

        Args:
            name: a node of the network.

        Raises:
            UnknownVariable: there is no such node.

        >>> net = BayesianNetwork(edges="rain -> wet <- sprinkler")
        >>> sorted(net.markov_blanket("rain"))
        ['sprinkler', 'wet']
        """
        node = self._known(name)
        blanket = {*self._parents[node], *self._children[node]}
        blanket.update(parent for child in self._children[node] for parent in self._parents[child])
        return blanket - {node}

    def cpdag(self) -> graphs.CPDAG:
        """Return the CPDAG: the arcs and edges that all graphs with the same independences share.

        >>> BayesianNetwork(edges="cloudy -> rain -> wet <- sprinkler").cpdag().undirected
        (('cloudy', 'rain'),)
        """
        return graphs.CPDAG.of(self.to_networkx())

    def moral_graph(self) -> nx.Graph[str]:
        """Return the undirected graph in which the parents of every common child are joined."""
        return graphs.moral_graph(self.to_networkx())

    def junction_tree(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        order: Iterable[str] | None = None,
        root: str | Iterable[str] | None = None,
    ) -> CliqueTree:
        """Return cliques of the triangulated moral graph, joined as a tree, with their tables and messages.

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

        >>> net = BayesianNetwork()
        >>> net.add("rain", 0.2)
        >>> net.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
        >>> net.add("slippery", {True: 0.7, False: 0.0}, parents=["wet"])
        >>> print(net.junction_tree(order=["slippery", "rain", "wet"]).trace)
        step  pass  from  to  over  entries
        1  inward  wet, slippery  rain, wet  wet  1.000000 1.000000
        2  outward  rain, wet  wet, slippery  wet  0.740000 0.260000
        """
        known = len(self._cpds) == len(self._parents)
        cards = {name: v.card for name, v in self.variables.items()} if known else None
        tree = graphs.junction_tree(self.moral_graph(), cards=cards, order=order, root=root)
        return CliqueTree.of(tree, self, given)

    def independent(self, a: str | Iterable[str], b: str | Iterable[str], given: Any = None) -> bool:
        """Tell whether the graph makes two sets of variables independent, given others (d-separation).

        Args:
            a: one node or several.
            b: others.
            given: what is known: a name, a list of names, or a mapping, whose states do not matter.

        Raises:
            UnknownVariable: a name that the network does not have.

        >>> net = BayesianNetwork(edges="rain -> wet <- sprinkler")
        >>> net.independent("rain", "sprinkler"), net.independent("rain", "sprinkler", given="wet")
        (True, False)
        """
        return graphs.d_separated(
            self._arrows(), self._some(a, least=1), self._some(b, least=1), self._some(given)
        )

    def active_trail(self, a: str, b: str, given: Any = None) -> tuple[str, ...] | None:
        """Return a shortest active path between `a` and `b`, or None if there is none.

        Args:
            a: a node.
            b: another.
            given: as for `independent`.

        Raises:
            UnknownVariable: a name that the network does not have.

        >>> net = BayesianNetwork(edges="rain -> wet <- sprinkler")
        >>> net.active_trail("rain", "sprinkler", given="wet"), net.active_trail("rain", "sprinkler")
        (('rain', 'wet', 'sprinkler'), None)
        """
        return graphs.active_trail(self._arrows(), self._known(a), self._known(b), self._some(given))

    def independencies(self) -> graphs.Independencies:
        """Return for each node what it is independent of given its parents, which implies everything else.

        >>> BayesianNetwork(edges="rain -> wet -> slippery").independencies()
        node      independent of  given
        slippery  rain            wet
        """
        check_cells(
            (len(self), len(self)), "The list of independencies", "ask `independent` for those you need"
        )
        return graphs.independencies(self.to_networkx())

    def _arrows(self) -> graphs.Arrows:
        """The graph as arrays."""
        return graphs.Arrows.of(self._parents)

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
        paths: tuple[str, str] | None = None,
        compare: BayesianNetwork | None = None,
        information: bool = False,
        engine: str | Engine = "auto",
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the network; with `given`, every node with its posterior; returns the matplotlib Axes.

        Args:
            given: evidence, possibly empty.
            kind: "network", "moral", "factor-graph" or "junction-tree".
            plates: for each label the nodes that share a rectangle; one may lie inside another.
            paths: two nodes: which paths between them are active given others (here `given` may be names).
            compare: another network of the same nodes: which arrows are common, extra, missing, reversed.
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
            paths=paths,
            compare=compare,
            information=information,
            engine=engine,
            figsize=figsize,
            title=title,
        )

    def __repr__(self) -> str:
        name = f"{shown(self.name)}, " if self.name else ""
        n_edges = sum(map(len, self._parents.values()))
        return f"{type(self).__name__}({name}{len(self):,} nodes, {n_edges:,} edges)"

    def __str__(self) -> str:
        return text_table(*printed(self._lines(), repr(self)))

    def _repr_html_(self) -> str:
        return html_table(*printed(self._lines(), repr(self)))

    def _lines(self) -> tuple[list[str], list[list[str]], int]:
        rows = []
        for node, parents in islice(self._parents.items(), ROWS_SHOWN):
            domain = self._domains[node]
            states = "?" if domain is None else joined(domain.states, len(domain.states)) or "continuous"
            rows.append([node, joined(parents, len(parents)) or "-", states])
        return ["node", "parents", "states"], rows, len(self)


def _as_one_part(
    first: int, parents: list[tuple[str, ...]], tables: Sequence[object], position: Mapping[str, int]
) -> Tables:
    """Return the tables of consecutive nodes as one factor; `first` is the position of the first."""
    widths = np.array(list(map(len, parents)), dtype=np.int64) + 1
    scopes = np.empty(int(widths.sum()), dtype=np.int32)
    is_child = np.zeros(scopes.size, dtype=bool)
    is_child[np.cumsum(widths) - 1] = True
    scopes[is_child] = np.arange(first, first + widths.size)
    scopes[~is_child] = [position[parent] for those in parents for parent in those]
    return Tables(widths, scopes, [table for table in tables if isinstance(table, np.ndarray)], 1)


def _same(mine: object, theirs: object) -> bool:
    """Tell whether two tables are written alike, key order included: it may declare the order of states.

    `==` of arrays gives an array.
    """
    if isinstance(mine, np.ndarray) or isinstance(theirs, np.ndarray):
        return (
            isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray) and np.array_equal(mine, theirs)
        )
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return list(mine) == list(theirs) and all(_same(mine[key], theirs[key]) for key in mine)
    if isinstance(mine, list | tuple) and isinstance(theirs, list | tuple):
        return len(mine) == len(theirs) and all(map(_same, mine, theirs))
    return bool(mine == theirs)
