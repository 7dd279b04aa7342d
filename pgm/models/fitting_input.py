"""What a network learns from: the options of `fit`, the states of its nodes, and the columns of a frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, LinearGaussian, TableCPD, make
from pgm.cpds.table_input import check_cells
from pgm.distributions.pseudo_counts import Expert
from pgm.errors import InvalidArgument, InvalidFrame, UnknownVariable, listed, nearest, shown
from pgm.evidence import LARGEST
from pgm.frames import Held, columns, domains_of, names_of, real_columns, weights_of
from pgm.frames.soft_cells import SoftCells
from pgm.learning.counts.grouped import GroupedCounts
from pgm.runtime.clock import Clock
from pgm.variables import REAL, Domain, Variable, as_domain

if TYPE_CHECKING:
    from .bayesian_network import BayesianNetwork


@dataclass(frozen=True, eq=False)
class Options:
    """The options of `fit`; None where left out."""

    prior: Any = None
    estimate: str = "mean"
    weights: Any = None
    fixed: Any = None
    tied: Any = None
    latent: Any = None
    states: Any = None
    continuous: Any = None
    method: str | None = None
    starts: int | None = None
    max_iter: int | None = None
    tol: float | None = None
    seed: Any = None

    def refuse_of_em(self) -> None:
        """Raise if an option was passed that only EM uses."""
        for name in ("method", "starts", "max_iter", "tol", "seed"):
            if getattr(self, name) is not None:
                raise InvalidArgument(
                    f"{name}= has no effect: every row has a value of every variable, so the parameters "
                    "are counted, "
                    "not searched for. Leave it out."
                )


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The columns of a frame that are nodes."""

    n_rows: int
    codes: dict[str, np.ndarray]  # -1 where missing
    values: dict[str, np.ndarray]  # NaN where missing
    weights: np.ndarray
    plain: bool  # no weights were given
    given: int | None = None  # how many rows there were before equal ones were counted once
    grouped: GroupedCounts | None = None  # counts that the engine made; there are no rows then
    soft: dict[str, SoftCells] = field(default_factory=dict)  # cells that weigh states; their codes are -1

    @property
    def n_given(self) -> int:
        """The number of rows of the frame."""
        return self.n_rows if self.given is None else self.given

    def gaps(self) -> bool:
        """Whether a cell is missing."""
        return any(bool((c < 0).any()) for c in self.codes.values()) or any(
            bool(np.isnan(x).any()) for x in self.values.values()
        )


def latent_of(net: BayesianNetwork, latent: Any) -> dict[str, Any]:
    """Hidden variables, with their states: a domain, or None where the network has them."""
    if latent is None:
        return {}
    if isinstance(latent, str):
        latent = [latent]
    given = (
        latent
        if isinstance(latent, Mapping)
        else dict.fromkeys(latent)
        if isinstance(latent, list | tuple) and all(isinstance(name, str) for name in latent)
        else None
    )
    if not given:
        raise InvalidArgument(
            f"latent= is a dict such as {{'cause': 3}}, the number of states, not {shown(latent)}."
        )
    found: dict[str, Any] = {}
    for name, states in given.items():
        if name not in net:
            raise UnknownVariable(name, net.nodes, where="latent=")
        domain = net._domains[name]
        if states is None:
            if domain is None:
                raise InvalidArgument(
                    f"latent={{{name!r}: ...}} needs the number of states of {name!r}, or a list."
                )
            found[name] = domain
            continue
        if isinstance(states, np.integer):
            states = int(states)
        if isinstance(states, bool) or (isinstance(states, int) and states < 1):
            raise InvalidArgument(
                f"latent={{{name!r}: {shown(states)}}}: the number of states is at least 1."
            )
        if isinstance(states, int):
            check_cells((states,), f"latent={{{name!r}: {states}}}: its table", "give it fewer states")
        new = as_domain(list(range(states)) if isinstance(states, int) else states)
        if domain is not None and (domain.card != new.card if isinstance(states, int) else domain != new):
            raise InvalidArgument(
                f"latent={{{name!r}: {shown(states)}}}: {name!r} has states already, {listed(domain.states)}."
            )
        found[name] = domain if domain is not None else new
    return found


def domains_for(
    net: BayesianNetwork, frame: Any, latent: Mapping[str, Domain], options: Options
) -> dict[str, Domain]:
    """The states of each node: the network's, else declared, else inferred from the column."""
    written = list(names_of(frame))
    there = {name for name in written if isinstance(name, str)}
    if not written:
        columns(frame, {})  # what is not a frame is refused
    declared = _declared(net, options)
    absent = [name for name in net.nodes if name not in there and name not in latent]
    if absent:
        hint = nearest(absent[0], [name for name in written if name not in net])
        raise InvalidFrame(
            f"The frame has no column {listed(absent)}.{hint} If it was never observed, say how many "
            "states it has: "
            f"latent={{{absent[0]!r}: 2}}."
        )
    found: dict[str, Domain] = {}
    unknown: list[str] = []
    for name in net.nodes:
        domain = net._domains[name]
        if domain is None and name in net._pending:
            domain = net._pending[name][1]
        if domain is None:
            domain = declared.get(name, latent.get(name))
        if domain is None:
            domain = _believed(options.prior, name)
        if domain is None:
            unknown.append(name)
        else:
            found[name] = domain
    found |= domains_of(frame, unknown)
    return {name: found[name] for name in net.nodes}


def _believed(prior: Any, name: str) -> Domain | None:
    """The states that a prior network gives a node: including those that never occurred."""
    if isinstance(prior, Mapping):
        prior = prior.get(name, prior.get(...))
    network = prior.network if isinstance(prior, Expert) else prior
    variable = getattr(network, "variables", {}).get(name)
    return None if variable is None else variable.domain


def _declared(net: BayesianNetwork, options: Options) -> dict[str, Domain]:
    states, continuous = options.states or {}, options.continuous or ()
    if not isinstance(states, Mapping):
        raise InvalidArgument(f"states= is a dict {{node: its states}}, not {shown(states)}.")
    if isinstance(continuous, str):
        continuous = [continuous]
    if isinstance(continuous, Mapping) or not isinstance(continuous, Iterable):
        raise InvalidArgument(f"continuous= lists nodes, not {shown(continuous)}.")
    found = {}
    for what, names in (("states=", states), ("continuous=", tuple(continuous))):
        for name in names:
            if not isinstance(name, str) or name not in net:
                raise UnknownVariable(name, net.nodes, where=what)
            domain = REAL if what == "continuous=" else Variable(name, states[name]).domain
            before = net._domains[name]
            if before is not None and before != domain:
                raise InvalidArgument(
                    f"{what} names {name!r}, which is declared already "
                    f"({listed(before.states) or 'continuous'}): "
                    "`set` gives it others."
                )
            if name in found:
                raise InvalidArgument(f"{name!r} cannot be both in states= and in continuous=.")
            found[name] = domain
    return found


def kinds_of(net: BayesianNetwork, domains: Mapping[str, Domain]) -> dict[str, CPD]:
    """A distribution for each node, of the kind to be learned: the network's, else a new one."""
    found: dict[str, CPD] = {}
    for name in net.nodes:
        cpd = net._cpds.get(name)
        parents = net._parents[name]
        given = tuple([Variable.of(p, domains[p]) for p in parents])
        if cpd is None and name in net._pending:
            table, _, normalize = net._pending[name]
            cpd = make(name, table, domains[name], given, normalize)
        if cpd is None:
            child = Variable.of(name, domains[name])
            if child.continuous:
                cpd = LinearGaussian.standard(child, given)
            else:
                for parent in given:
                    if parent.continuous:
                        raise InvalidFrame(
                            f"{name!r} has states and {parent.name!r}, one of its parents, is "
                            "continuous: no table "
                            f"has such rows. Set {name!r} to pgm.Logistic({{{parent.name!r}: 0.0}}) before "
                            f"`fit`, cut {parent.name!r} into states with states={{{parent.name!r}: "
                            "pgm.Bins([...])}, or reverse the arrow."
                        )
                shape = tuple(v.card for v in (*given, child))
                check_cells(shape, f"{name!r}: its table", "give it fewer parents")
                values = np.full(shape, 1.0 / child.card)
                values.flags.writeable = False
                cpd = TableCPD.trusted(child, given, values)
        found[name] = cpd
    return found


def read(
    held: Held, variables: Mapping[str, Variable], latent: Mapping[str, Domain], clock: Clock
) -> TrainingRows:
    """The columns as codes and values; a latent variable may have a column, with labels of some rows."""
    frame, weights = held.frame, held.weights
    remedy = "Such a value is not a state of the network; leave the row out, or declare the states"
    states = {n: v for n, v in variables.items() if not v.continuous}
    reals = {n: v for n, v in variables.items() if v.continuous}
    data = columns(frame, states, remedy=remedy, check=clock.check, numbered=held.n_rows is None, soft=True)
    found = real_columns(frame, reals, remedy="Leave such rows out", check=clock.check)
    n = max(data.n_rows, found.n_rows)
    if n == 0:
        raise InvalidFrame("The frame has no rows: there is nothing to learn from.")
    for name, column in data.codes.items():
        if name not in latent and name not in data.soft and not (column >= 0).any():
            raise InvalidFrame(
                f"The column {shown(name)} has no value. If {shown(name)} was never observed, say so: "
                f"latent=[{name!r}]."
            )
    for name, values in found.values.items():
        if name not in latent and np.isnan(values).all():
            raise InvalidFrame(f"The column {shown(name)} has no value.")
        if np.nanmax(np.abs(values), initial=0.0) > LARGEST:
            raise InvalidFrame(f"The column {shown(name)} has values beyond {LARGEST:g}; use another unit.")
    shares = weights_of(weights, n, frame)
    if not shares.any():
        raise InvalidArgument("weights= are all 0: there is nothing to learn from.")
    if held.families:
        grouped = _grouped(held, data.codes, variables)
        return TrainingRows(n, data.codes, found.values, shares, True, held.n_rows, grouped)
    return TrainingRows(n, data.codes, found.values, shares, weights is None, held.n_rows, soft=data.soft)


def _grouped(held: Held, order: Mapping[str, Any], variables: Mapping[str, Variable]) -> GroupedCounts:
    places = {name: i for i, name in enumerate(order)}
    groups = []
    for each in held.families:
        codes = columns(each.frame, {name: variables[name] for name in each.frame}).codes
        groups.append(([places[n] for n in codes], np.column_stack(list(codes.values())), each.weights))
    return GroupedCounts([variables[name].card for name in order], groups)
