"""Models of several hidden chains: their states together are one chain, whose step is made of stages."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, TableCPD
from pgm.cpds.table_input import check_cells
from pgm.distributions import Emission
from pgm.errors import InvalidArgument, InvalidTable, listed, shown
from pgm.models.bayesian_network import BayesianNetwork
from pgm.results import JointBeliefs, JointPath
from pgm.variables import Domain, Variable, as_domain, unordered

from .chain_network import observed, steps_of
from .chain_tables import Link
from .checks import names, printed_rows, probabilities, rows_of
from .hidden import HiddenChain, Sheet
from .markov_chain import MarkovChain

if TYPE_CHECKING:
    from .chain_tables import Key

_ROWS = 12
_FLOATS_PER_STATE = 512  # a tuple of states, with its name and its arcs, takes about so many


class JointChains(HiddenChain):
    """Several hidden chains, whose states together are tuples."""

    variables: tuple[Variable, ...]
    _above: tuple[tuple[int, ...], ...]  # for each chain, those whose new states it depends on
    _arcs: int  # how many a step has

    @property
    def chains(self) -> tuple[str, ...]:
        """The names of the chains, in order."""
        return tuple(variable.name for variable in self.variables)

    @property
    def emission(self) -> Any:
        """What the states emit: a row for each tuple of states, the last chain's varying fastest."""
        return self._emission

    def initial(self, chain: str) -> np.ndarray:
        """The probabilities of the first state of a chain.

        Args:
            chain: its name.

        Raises:
            IncompleteModel: it has none yet.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> both = pgm.FactorialHMM([coin, coin], pgm.Categorical([[1, 0], [0, 1], [0, 1], [0, 1]]))
        >>> both.initial("chain0").tolist()
        [0.5, 0.5]
        """
        return self._table("initial", chain)

    def transition(self, chain: str) -> np.ndarray:
        """P(next state | what it depends on); the last two axes are the chain's previous state and the next.

        Args:
            chain: its name.

        Raises:
            IncompleteModel: it has none yet.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> both = pgm.FactorialHMM([coin, coin], pgm.Categorical([[1, 0], [0, 1], [0, 1], [0, 1]]))
        >>> both.transition("chain1").tolist()
        [[0.9, 0.1], [0.1, 0.9]]
        """
        return self._table("transition", chain)

    def _table(self, part: str, chain: str) -> np.ndarray:
        if chain not in self.chains:
            raise InvalidArgument(f"There is no chain {shown(chain)}; there are {listed(self.chains)}.")
        if (part, chain) not in self._tables:
            self._check_parameters()
        return self._tables[part, chain]

    # --- construction ---

    def _take(
        self, variables: tuple[Variable, ...], given: Mapping[Key, Any], shapes: Mapping[Key, Any], name: Any
    ) -> None:
        """Check names, sizes and tables; what is given as None is yet to be learned."""
        if not isinstance(name, str):
            raise InvalidArgument(f"The name of a model is text, not {shown(name)}.")
        self.name, self.fit_report, self.variables = name, None, variables
        self._visible, self._masks, self._above = None, {}, tuple(() for _ in variables)
        k = prod(v.card for v in variables)
        check_cells(
            (k, _FLOATS_PER_STATE),
            "The states of all chains together, and how they move,",
            "choose fewer states, or fewer chains",
        )
        self.variable = Variable.of("state", as_domain(list(product(*(v.states for v in variables)))))
        self._shapes, self._tables = dict(shapes), {}
        by_name = {v.name: v for v in variables}
        for (part, chain), table in given.items():
            if table is not None:
                self._tables[part, chain] = table_of(
                    table, by_name[chain], self._shapes[part, chain], f"{part}= of {chain!r}"
                )

    def _links(self) -> tuple[Link, ...]:
        pairs = zip(self.variables, self._above, strict=True)
        return tuple(Link(v.name, v.card, above) for v, above in pairs)

    # --- results ---

    def _beliefs(self, values: np.ndarray, scores: np.ndarray, about: str) -> JointBeliefs:
        return JointBeliefs(self.variable, np.array(values), np.array(scores), about, self.variables)

    def _path(self, codes: np.ndarray, path: np.ndarray, joint: float, likely: float) -> JointPath:
        return JointPath(self.variable, codes, joint, likely, self.variables)

    # --- as a network, and in print ---

    def to_network(self, steps: int) -> BayesianNetwork:
        """Return the Bayesian network of this many steps: a node for each chain, and what is observed."""
        self._check_parameters()
        cpds: list[CPD] = []
        before: tuple[Variable, ...] = ()
        for t in range(steps_of(steps)):
            now = tuple(Variable.of(f"{v.name}[{t}]", v.domain) for v in self.variables)
            for m in range(len(now)):
                parents, table = self._local(m, before, now)
                cpds.append(TableCPD.trusted(now[m], parents, table))
            cpds += self._observations(now, t)
            before = now
        return BayesianNetwork._from_cpds(self.name, cpds)

    def _local(
        self, m: int, before: tuple[Variable, ...], now: tuple[Variable, ...]
    ) -> tuple[tuple[Variable, ...], np.ndarray]:
        """What the state of a chain depends on, and its table."""
        above = tuple(now[i] for i in self._above[m])
        part = "transition" if before else "initial"
        return (*above, *before[m : m + 1]), self._tables[part, self.chains[m]]

    def _observations(self, now: tuple[Variable, ...], t: int) -> list[CPD]:
        return observed(self._emission, now, str(t))

    def _title(self) -> str:
        called = f" {self.name!r}" if self.name else ""
        sizes = " x ".join(str(v.card) for v in self.variables)
        return f"{self._word}{called}: {len(self.variables)} chains, {sizes} states"

    def _sheets(self) -> list[Sheet]:
        found = []
        for v in self.variables:
            start, move = self._tables.get(("initial", v.name)), self._tables.get(("transition", v.name))
            if start is not None and start.ndim == 1 and move is not None and move.ndim == 2:
                header = ["state", "initial", *(f"to {name}" for name in names(v))]
                rows = [
                    [state, f"{p:.6g}", *moves]
                    for state, p, moves in zip(names(v), start.tolist(), printed_rows(move), strict=True)
                ]
            else:
                header, rows = [self._given(v), *names(v)], []
                for part, table in (("first", start), ("next", move)):
                    if table is None:
                        rows.append([part, *["?"] * v.card])
                        continue
                    flat = table.reshape(-1, v.card)
                    cases = product(*(range(n) for n in table.shape[:-1]))
                    rows += [
                        [f"{part} {self._case(v, part, case)}".strip(), *row]
                        for case, row in zip(cases, printed_rows(flat), strict=True)
                    ]
            note = f"... {len(rows) - _ROWS:,} more rows" if len(rows) > _ROWS else ""
            found.append((v.name, header, rows[:_ROWS], note))
        return found

    def _given(self, v: Variable) -> str:
        return "given"

    def _case(self, v: Variable, part: str, case: tuple[int, ...]) -> str:
        """What a row of a table is conditional on."""
        m = self.variables.index(v)
        parents = [self.variables[i] for i in self._above[m]] + ([v] if part == "next" else [])
        said = [f"{p.name}={p.states[code]}" for p, code in zip(parents, case, strict=True)]
        return ", ".join(said)


def table_of(given: Any, variable: Variable, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Rows of probabilities of this shape, checked."""
    found = probabilities(given, what)
    if found.shape != shape:
        raise InvalidTable(f"{what} has the shape {shape}, not {found.shape}.")
    flat = found.reshape(-1, shape[-1])
    one = Variable.of("row", as_domain([*range(len(flat))]))
    return np.asarray(rows_of(flat, one, 1, what).reshape(shape))


def named(given: Any, what: str, default: str = "chain") -> dict[str, Any]:
    """A dict by the names of chains; a list gets names with an index."""
    if isinstance(given, Mapping):
        found = dict(given)
        for name in found:
            if not isinstance(name, str) or not name:
                raise InvalidArgument(f"The name of a chain is text, not {shown(name)}.")
    elif isinstance(given, list | tuple):
        found = {f"{default}{i}": one for i, one in enumerate(given)}
    else:
        raise InvalidArgument(
            f"{what} is a list with an entry for each chain, or a dict by name, not {shown(given)}."
        )
    if not found:
        raise InvalidArgument(f"{what} is empty: at least one chain is needed.")
    return found


def variable_of(name: str, states: Any, size: int | None) -> Variable:
    """A chain's variable, from its states or from how many there are."""
    domain: Domain
    if isinstance(states, int | np.integer) and not isinstance(states, bool):
        if states < 1:
            raise InvalidArgument(f"The chain {name!r} has at least one state, not {shown(states)}.")
        domain = as_domain(list(range(int(states))))
    elif states is not None:
        if unordered(states) or isinstance(states, str) or not hasattr(states, "__iter__"):
            raise InvalidArgument(
                f"The states of {name!r} are a list, or how many there are, not {shown(states)}."
            )
        domain = as_domain(list(states))
    elif size is not None:
        domain = as_domain(list(range(size)))
    else:
        raise InvalidArgument(f"How many states does {name!r} have? Give its tables, or its states.")
    if size is not None and domain.card != size:
        raise InvalidArgument(f"The chain {name!r} has {domain.card} states, but its tables have {size}.")
    return Variable.of(name, domain)


def chain_of(name: str, given: Any) -> tuple[Variable, Any, Any]:
    """A chain that moves by itself: its variable, start and transitions (None: yet to be learned)."""
    if isinstance(given, MarkovChain):
        if given.order != 1:
            raise InvalidArgument(
                f"The chain {name!r} is of order {given.order}; hidden chains are of order 1."
            )
        known = given._tables
        start, move = (None, None) if known is None else known
        return Variable.of(name, given.variable.domain), start, move
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return variable_of(name, given, None), None, None
    if isinstance(given, list | tuple) and len(given) == 2:
        start, move = given
        made = MarkovChain(start, move)
        return Variable.of(name, made.variable.domain), *(made._tables or (None, None))
    raise InvalidArgument(
        f"The chain {name!r} is a pgm.MarkovChain, a pair of initial and transition probabilities, or a "
        f"number of states, not {shown(given)}."
    )


def check_emission(emission: Any, rows: int, what: str) -> None:
    """Refuse what is not an emission with a row for each combination of states."""
    if not isinstance(emission, Emission):
        raise InvalidArgument(
            f"{what} is a distribution such as pgm.Categorical(...) or pgm.Gaussian(...), not "
            f"{shown(emission)}."
        )
    if emission.has_parameters and (emission.n_states or 1) != rows:
        raise InvalidArgument(
            f"{what} has {emission.n_states or 1} rows, but there are {rows:,} combinations of states: it "
            "needs a row for each, and the states of the last chain vary fastest."
        )
