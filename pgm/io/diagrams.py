"""What formats of networks that also hold decisions and utilities share, in both directions.

None of them has the order of decisions: it follows from the arrows, and where these leave it open from the
file. Nor do they say what is forgotten, and whether utilities are multiplied: ours keep `memory` and
`combine` as properties of their own. What an action depends on (`allowed`) only JSON holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pgm.cpds import CPD, TableCPD
from pgm.cpds.table_input import check_cells
from pgm.errors import InvalidArgument, InvalidStructure, PGMError, listed, shown
from pgm.models import BayesianNetwork
from pgm.models.decision import InfluenceDiagram
from pgm.models.decision import utilities as worth
from pgm.models.decision.decisions import Decision
from pgm.models.decision.tables import sinks
from pgm.models.decision.utilities import Utility
from pgm.variables import Variable

MEMORY, COMBINE = "pgm_memory", "pgm_combine"  # properties
_MEMORIES, _COMBINATIONS = ("full", "limited"), ("sum", "product")

# --- reading ------------------------------------------------------------------------------------------------


@dataclass
class Decisions:
    """The decisions and utilities of a file."""

    observes: dict[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # by decision, in the order of the file
    utilities: dict[str, Utility] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.observes or self.utilities)


def open_decision(variable: Variable) -> TableCPD:
    """Return the node that represents a decision in the network inside a diagram.

    Args:
        variable: the decision.
    """
    values = np.full(variable.card, 1.0 / variable.card)
    values.flags.writeable = False
    return TableCPD.trusted(variable, (), values)


def utility_table(variables: Sequence[Variable], values: np.ndarray) -> Utility:
    """Return a utility of variables.

    Args:
        variables: its parents.
        values: finite numbers, an axis for each.
    """
    values = np.array(values, dtype=np.float64).reshape([v.card for v in variables])
    values.flags.writeable = False
    return Utility(tuple([v.name for v in variables]), values)


def assembled(title: str, cpds: Iterable[CPD], found: Decisions) -> InfluenceDiagram:
    """Return the diagram of a file.

    Args:
        title: its name.
        cpds: of all variables in order, those of decisions by `open_decision`.
        found: what else there is.

    Raises:
        InvalidStructure: a cycle, or a utility of its own consequence.
        InvalidTable: negative utilities that are multiplied.
    """
    memory = _chosen(found.properties.get(MEMORY), _MEMORIES)
    made = InfluenceDiagram(title, memory, combine=_chosen(found.properties.get(COMBINE), _COMBINATIONS))
    made._network = BayesianNetwork._from_cpds(title, cpds)
    made._decisions = {name: Decision(found.observes[name]) for name in _in_order(made._network, found)}
    made._check_order(made._decisions)
    for name in _made_first(found.utilities):
        utility = found.utilities[name]
        if utility.values is None:
            made.add_utility(name, list(utility.weights or ()), parents=utility.parents)
        elif utility.parents:
            made.add_utility(name, utility.values, parents=utility.parents)
        else:
            made.add_utility(name, float(utility.values))
    made._utilities = {name: made._utilities[name] for name in found.utilities}
    return made


def _chosen(written: str | None, among: tuple[str, ...]) -> str:
    """What a property says; another program may have put anything there."""
    return written if written in among else among[0]


def _in_order(net: BayesianNetwork, found: Decisions) -> list[str]:
    """The decisions in an order of the arrows, and of the file where these leave it open."""
    above = {name: {*net.parents(name), *found.observes.get(name, ())} for name in net}
    before: dict[str, set[str]] = {}
    for start in found.observes:
        seen: set[str] = set()
        queue = [start]
        for node in queue:  # grows during the loop
            new = above[node] - seen
            seen |= new
            queue += new
        before[start] = seen
    order: list[str] = []
    waiting = list(found.observes)
    while waiting:
        # In a cycle none is free: the check that follows tells.
        free = next((d for d in waiting if not before[d] & ({*waiting} - {d})), waiting[0])
        order.append(free)
        waiting.remove(free)
    return order


def _made_first(utilities: Mapping[str, Utility]) -> list[str]:
    order: list[str] = []
    waiting = list(utilities)
    while waiting:
        free = next((u for u in waiting if not {*utilities[u].parents} & {*waiting}), None)
        if free is None:
            raise InvalidStructure(f"Among the utilities {listed(waiting)} one depends on itself.")
        order.append(free)
        waiting.remove(free)
    return order


def told(build: Callable[[], InfluenceDiagram], fail: Callable[[str], object]) -> InfluenceDiagram:
    """Return what is built; the error of a file says what is wrong with the diagram.

    Args:
        build: makes the diagram.
        fail: raises the error of the file.
    """
    try:
        return build()
    except PGMError as error:
        fail(str(error))
        raise


# --- writing ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """A diagram as a format without functions holds it."""

    diagram: InfluenceDiagram
    network: BayesianNetwork
    utilities: dict[str, Utility]  # tables, and sums where the format has them

    @property
    def properties(self) -> dict[str, str]:
        """What is not as usual."""
        said = {MEMORY: self.diagram.memory, COMBINE: self.diagram.combine}
        return {key: value for key, value in said.items() if value not in ("full", "sum")}


def to_write(diagram: InfluenceDiagram, format: str, *, expand: bool, sums: bool = False) -> Written:
    """Return a diagram with its utilities as tables.

    Args:
        diagram: the diagram.
        format: what the format is called, for messages.
        expand: whether utilities of utilities become tables.
        sums: whether the format has weighted sums of utilities.

    Raises:
        InvalidArgument: something that the format cannot hold.
    """
    diagram._network._check_complete()
    for name in diagram.decisions:
        if diagram.allowed(name) is not None:
            raise InvalidArgument(
                f"{format} has no form for the actions that {name!r} is allowed only now and then "
                '(allowed=); a JSON file holds it: format="json".'
            )
    own = diagram._utilities
    strange = [
        name for name, u in own.items() if u.function is not None or (u.weights is not None and not sums)
    ]
    if not strange:
        return Written(diagram, diagram._network, dict(own))
    if not expand:
        kind = "function" if own[strange[0]].function is not None else "weighted sum"
        raise InvalidArgument(
            f"{format} has no form for it: the utility {shown(strange[0])} is a {kind} of others; "
            "expand=True writes its table"
        )
    cards = {name: v.card for name, v in diagram.variables.items()}
    found = {}
    for name in sinks(diagram):
        parts = worth.terms(name, own, cards)
        scope = tuple(dict.fromkeys(v for names, _ in parts for v in names))
        shape = [cards[v] for v in scope]
        check_cells(shape, f"The table of the utility {name!r}", 'write JSON: format="json"')
        found[name] = Utility(scope, worth.sum_of(parts, scope, shape))
    return Written(diagram, diagram._network, found)
