"""The nodes of a dynamic network: names that look back, and the distributions of first and later steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from pgm.cpds import CPD, make, prepared
from pgm.cpds.table_input import child_states, frozen, plain
from pgm.distributions import Gaussian
from pgm.errors import (
    IncompleteModel,
    InvalidStructure,
    InvalidTable,
    InvalidVariable,
    UnknownVariable,
    listed,
    nearest,
    shown,
)
from pgm.factors import ModelPart
from pgm.inference.engines.interface import Template
from pgm.variables import REAL, Domain, Variable, check_name

_BACK = re.compile(r"(.*)\[\s*([+-]?\d+)\s*\]", re.DOTALL)
_MOST_LAG = 1000


@dataclass(frozen=True, eq=False)
class Node:
    """A variable of every step, or a static one, with its distributions.

    `cpds` has those of the first steps, in which not all parents exist, and last the one of all later steps;
    it is empty as long as the states of a parent are unknown.
    """

    name: str
    parents: tuple[str, ...]  # as written: "rain[-1]"
    domain: Domain
    static: bool
    written: tuple[object, object, bool]  # table, initial, whether to normalise rows
    cpds: tuple[CPD, ...] = ()

    @property
    def lag(self) -> int:
        """How many steps back it looks."""
        return max((back_of(parent)[1] for parent in self.parents), default=0)

    @property
    def variable(self) -> Variable:
        """The variable without a step."""
        return Variable.of(self.name, self.domain)


def back_of(parent: str) -> tuple[str, int]:
    """The variable that a parent names, and how many steps back.

    >>> back_of("rain[-2]"), back_of("rain")
    (('rain', 2), ('rain', 0))
    """
    found = _BACK.fullmatch(parent)
    return (parent, 0) if found is None else (found[1], -int(found[2]))


def name_of(name: Any) -> str:
    """The name of a new variable, which must not look like that of a variable in some step."""
    node = check_name(name)
    if _BACK.fullmatch(node):
        raise InvalidVariable(
            f"{shown(node)} looks like a variable of a certain step: a dynamic network names its variables "
            "without steps, and parents of earlier steps as in 'rain[-1]'."
        )
    return node


def parent_names(
    node: str, table: object, parents: Any, known: Mapping[str, Node], static: bool
) -> tuple[str, ...]:
    """The parents, checked; a distribution that names its own needs none passed."""
    if isinstance(parents, str):
        parents = (parents,)
    if parents is None:
        parents = ()
    if not isinstance(parents, Iterable) or isinstance(parents, Mapping | AbstractSet):
        raise InvalidStructure(
            f"{node!r}: parents= lists names in the order of the table, not {shown(parents)}."
        )
    those = tuple(parents)
    if isinstance(table, CPD):
        if those and set(those) != set(table.parents):
            raise InvalidStructure(
                f"{node!r}: the distribution has the parents {list(table.parents)}, not {list(those)}."
            )
        those = table.parents
    found = []
    for parent in those:
        if not isinstance(parent, str):
            raise UnknownVariable(parent, known, where=f"The parents of {node!r}")
        name, back = back_of(parent)
        if back < 0:
            raise InvalidStructure(
                f"{node!r} cannot depend on {shown(parent)}, which lies in the future: parents are of the "
                f"same step, {shown(name)}, or of an earlier one, as {shown(name + '[-1]')}."
            )
        if back == 0 and name != parent:
            raise InvalidStructure(f"{node!r}: the parent of the same step is written {shown(name)}.")
        if back > _MOST_LAG:
            raise InvalidStructure(f"{node!r}: {shown(parent)} is more than {_MOST_LAG:,} steps back.")
        other = known.get(name)
        if back == 0 and name == node:
            raise InvalidStructure(
                f"{node!r} cannot be its own parent in the same step: that would be a cycle. Of the step "
                f"before it is written {shown(node + '[-1]')}."
            )
        if back == 0 and other is None:
            raise UnknownVariable(parent, known, where=f"The parents of {node!r}")
        if static and (other is None or not other.static):
            raise InvalidStructure(
                f"{node!r} is static, one variable for all steps: its parents are static too, and "
                f"{shown(parent)} is not."
            )
        if back and ((other is not None and other.static) or (name == node and static)):
            raise InvalidStructure(
                f"{node!r}: {name!r} is static, the same in every step; leave out [-{back}]."
            )
        found.append(str(parent) if back == 0 else f"{name}[-{back}]")
    if len(set(found)) < len(found):
        twice = next(parent for i, parent in enumerate(found) if parent in found[:i])
        raise InvalidStructure(f"{node!r}: the parent {twice!r} is named twice.")
    return tuple(found)


def made(
    name: str,
    table: object,
    initial: object,
    parents: Any,
    states: Any,
    static: bool,
    normalize: bool,
    known: Mapping[str, Node],
) -> Node:
    """A node from what a user wrote; its distributions follow once the states of all parents are known."""
    table, parents = prepared(name, table, parents)
    those = parent_names(name, table, parents, known, static)
    lag = max((back_of(parent)[1] for parent in those), default=0)
    firsts = _firsts(name, initial, lag, those)
    domain = None if states is None else Variable(name, states).domain
    if domain is None:
        domain = _domain(name, table, firsts, those, known, normalize)
    node = Node(name, those, domain, static, (frozen(name, table), frozen_all(name, firsts), normalize))
    return built(node, {**known, name: node})


def frozen_all(name: str, firsts: Sequence[object]) -> tuple[object, ...]:
    """Tables as written, protected from later changes."""
    return tuple([frozen(name, first) for first in firsts])


def _firsts(name: str, initial: Any, lag: int, parents: tuple[str, ...]) -> tuple[object, ...]:
    """The distributions of the steps in which not all parents exist."""
    if lag == 0:
        if initial is not None:
            raise InvalidTable(f"{name!r} looks back at no earlier step: it takes no initial=.")
        return ()
    has = [f"step {i}, P({_condition(name, parents, i)})" for i in range(lag)]
    if initial is None:
        what = "a distribution" if lag == 1 else f"a list of {lag} distributions"
        raise InvalidTable(
            f"{name!r} looks back {lag} step{'s' * (lag > 1)}, which the first {'one' if lag == 1 else lag} "
            f"cannot: initial= takes {what}, for {listed(has)}."
        )
    if lag == 1:
        return (initial,)
    if not isinstance(initial, list | tuple) or len(initial) != lag:
        raise InvalidTable(
            f"{name!r} looks back {lag} steps: initial= is a list of {lag} distributions, for {listed(has)}; "
            f"not {shown(initial)}."
        )
    return tuple(initial)


def there(parents: Sequence[str], step: int) -> tuple[str, ...]:
    """The parents that exist in one of the first steps."""
    return tuple([parent for parent in parents if back_of(parent)[1] <= step])


def _condition(name: str, parents: tuple[str, ...], step: int) -> str:
    given = there(parents, step)
    return f"{name} | {', '.join(given)}" if given else name


def _domain(
    name: str,
    table: object,
    firsts: tuple[object, ...],
    parents: tuple[str, ...],
    known: Mapping[str, Node],
    normalize: bool,
) -> Domain:
    """States that were not declared: those of a plain table, else of a distribution of the first step."""
    if isinstance(table, CPD) and table.continuous:
        return REAL
    if not isinstance(table, CPD):
        try:
            return child_states(name, frozen(name, table), len(parents))
        except InvalidTable:
            if not firsts:
                raise
    first, given = (table, parents) if not firsts else (firsts[0], there(parents, 0))
    unknown = [p for p in given if back_of(p)[0] not in known]
    if unknown:  # a gate that looks back at what is added later: it knows its states by itself
        given = tuple(p for p in given if p not in unknown)
        if isinstance(first, CPD):
            raise InvalidTable(f"{name!r}: write states=[...], in their order.")
    first, _ = prepared(name, first, given)
    return make(name, first, None, _given(given, known), normalize).child.domain


def _given(parents: Sequence[str], known: Mapping[str, Node]) -> tuple[Variable, ...]:
    return tuple([Variable.of(parent, known[back_of(parent)[0]].domain) for parent in parents])


def built(node: Node, known: Mapping[str, Node]) -> Node:
    """The node with its distributions; unchanged while the states of a parent are unknown."""
    if any(back_of(parent)[0] not in known for parent in node.parents):
        return replace(node, cpds=())
    table, firsts, normalize = node.written
    assert isinstance(firsts, tuple)
    cpds = []
    for step, first in enumerate(firsts):
        where = there(node.parents, step)
        first, brought = prepared(node.name, first, where)
        if isinstance(first, CPD):
            brought = first.parents
        if brought is not None and sorted(brought) != sorted(where):
            raise InvalidTable(
                f"{node.name!r}: in step {step} it has the parents {list(where)}, not {list(brought)}: "
                f"initial= is P({_condition(node.name, node.parents, step)})."
            )
        order = tuple(brought) if isinstance(first, CPD) else where
        try:
            cpds.append(_cpd_of(node, first, _given(order, known), normalize))
        except InvalidTable as error:
            raise InvalidTable(f"initial=, step {step}: {error}") from None
    cpds.append(_cpd_of(node, table, _given(node.parents, known), normalize))
    return replace(node, cpds=tuple(cpds))


def _cpd_of(node: Node, table: object, given: tuple[Variable, ...], normalize: bool) -> CPD:
    if node.domain is REAL or node.domain == REAL:
        if not (isinstance(table, CPD) and table.continuous):
            raise InvalidTable(
                f"{node.name!r} is continuous: its distribution is a pgm.LinearGaussian, pgm.Gaussian, "
                f"pgm.DensityCPD or a regressor, not {shown(table)}."
            )
        return make(node.name, table, None, given)
    if isinstance(table, CPD | Gaussian) and getattr(table, "continuous", False):
        raise InvalidTable(
            f"{node.name!r} has states, but {type(table).__name__} is for continuous variables."
        )
    return make(node.name, table, node.domain, given, normalize)


def changed(node: Node, table: object, initial: object, normalize: bool, known: Mapping[str, Node]) -> Node:
    """The node with another distribution, or others for the first steps."""
    old, firsts, same = node.written
    if initial is not None:
        firsts = frozen_all(node.name, _firsts(node.name, initial, node.lag, node.parents))
    parents = node.parents
    if table is not None:
        table, brought = prepared(node.name, table, parents)
        those = parent_names(node.name, table, brought, known, node.static)
        if sorted(those) != sorted(parents):
            raise InvalidStructure(
                f"{node.name!r} has the parents {list(parents)}, not {list(those)}: `set` leaves the arrows "
                "alone; `remove` the variable and `add` it again to change them."
            )
        if isinstance(table, CPD) and those != parents and initial is None and node.lag:
            firsts = tuple(node.cpds[:-1]) or firsts  # in the order of the parents before
        parents, old, same = those, frozen(node.name, table), normalize
    written = (old, firsts, bool(normalize or same))
    return built(replace(node, parents=parents, written=written), known)


def renamed(nodes: Mapping[str, Node], called: Mapping[str, str]) -> dict[str, Node]:
    """The same nodes under other names."""

    def parent(written: str) -> str:
        name, back = back_of(written)
        return f"{called[name]}[-{back}]" if back else called[name]

    check_whole(nodes)
    found = {}
    for node in nodes.values():
        new = called[node.name]
        cpds = []
        for cpd in node.cpds:
            given = tuple([Variable.of(parent(v.name), v.domain) for v in cpd.given])
            cpds.append(cpd.renamed(Variable.of(new, node.domain), given))
        found[new] = of_cpds(new, tuple(map(parent, node.parents)), node.domain, node.static, cpds)
    return found


def of_cpds(name: str, parents: tuple[str, ...], domain: Domain, static: bool, cpds: Sequence[CPD]) -> Node:
    """A node with these distributions, those of the first steps first."""
    return Node(name, parents, domain, static, (cpds[-1], tuple(cpds[:-1]), False), tuple(cpds))


def alike(mine: Mapping[str, Node], theirs: Mapping[str, Node]) -> bool:
    """Whether two networks have the same variables, arrows and distributions."""
    if set(mine) != set(theirs):
        return False
    for name, node in mine.items():
        other = theirs[name]
        if (node.domain, node.static, len(node.cpds)) != (other.domain, other.static, len(other.cpds)):
            return False
        if set(node.parents) != set(other.parents) or node.cpds != other.cpds:
            return False
        if not node.cpds and plain(name, node.written[0]) != plain(name, other.written[0]):
            return False
    return True


def check_whole(nodes: Mapping[str, Node]) -> None:
    """Refuse a question while parents are missing."""
    for node in nodes.values():
        if node.cpds:
            continue
        missing = [p for p in node.parents if back_of(p)[0] not in nodes]
        if missing:
            name = back_of(missing[0])[0]
            raise IncompleteModel(
                f"{node.name!r} has the parent {missing[0]!r}, but there is no variable {name!r} yet: add it."
                f"{nearest(name, nodes)}"
            )
        raise IncompleteModel(f"{node.name!r} has no distribution yet: give it one with `set`.")
    if not nodes:
        raise IncompleteModel("The network has no variables yet: add some.")


def template(nodes: Mapping[str, Node]) -> Template:
    """The network as the engine takes it; variables in the order in which they were added."""
    check_whole(nodes)
    lags = dict.fromkeys(nodes, 0)
    for node in nodes.values():
        for parent in node.parents:
            name, back = back_of(parent)
            lags[name] = max(lags[name], back)
    at, begin = {}, 0
    for name, lag in lags.items():
        at[name] = begin
        begin += lag + 1
    static = [node.static for node in nodes.values()]
    kinds = max([1 + any(static), *(node.lag + 1 for node in nodes.values())])
    parts = []
    for node in nodes.values():
        own: list[ModelPart | None] = []
        for cpd in node.cpds:
            scope = [at[name] + back for name, back in map(back_of, cpd.parents)]
            own.append(cpd.factor([*scope, at[node.name]]))
        own += [None if node.static else own[-1]] * (kinds - len(own))
        parts.append(tuple(own))
    cards = tuple(0 if node.variable.continuous else node.variable.card for node in nodes.values())
    return Template(cards, tuple(at.values()), tuple(lags.values()), tuple(static), tuple(parts))
