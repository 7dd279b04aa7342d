"""Local distributions in JSON: for each kind its key, and how it is written and read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pgm.cpds import (
    CPD,
    AtLeast,
    DefaultCPD,
    Deterministic,
    Exactly,
    HybridLogistic,
    LinearGaussian,
    Logistic,
    MixtureCPD,
    NoisyAnd,
    NoisyMax,
    NoisyMin,
    NoisyOr,
    Parity,
    TableCPD,
    TreeCPD,
    make,
    table_input,
)
from pgm.cpds.base import active, set_fields
from pgm.cpds.default import checked_rows
from pgm.cpds.noisy_max import pair
from pgm.errors import InvalidArgument, shown
from pgm.io.text import counted
from pgm.variables import Domain, Variable

from .parts import Part
from .states import read_state, write_state
from .trees import read_tree, write_tree


class Node(NamedTuple):
    """What is known of a node when its distribution is read."""

    name: str
    domain: Domain | None  # None: a number
    given: tuple[Variable, ...]

    @property
    def child(self) -> Variable:
        """The node as a variable with states."""
        assert self.domain is not None
        return Variable.of(self.name, self.domain)

    @property
    def shape(self) -> tuple[int, ...]:
        """That of its table."""
        return (*[v.card for v in self.given], self.child.card)


class Kind(NamedTuple):
    """One kind of distribution."""

    types: tuple[type[CPD], ...]
    write: Callable[[Any], Any]
    read: Callable[[Part, Node], CPD]


def write_cpd(cpd: CPD, *, expand: bool) -> dict[str, Any]:
    """Return a distribution as a member of the object of its node."""
    for key, kind in KINDS.items():
        if type(cpd) in kind.types:
            return {key: kind.write(cpd)}
    if expand:
        return {"table": _rows(cpd.table())}
    raise InvalidArgument(
        f"The distribution of {shown(cpd.child.name)} is a {type(cpd).__name__}, which has no JSON form; "
        "expand=True writes its table."
    )


def _rows(values: np.ndarray) -> list[list[float]]:
    found: list[list[float]] = values.reshape(-1, values.shape[-1]).tolist()
    return found


# --- tables and functions -----------------------------------------------------------------------------------


def _read_table(part: Part, node: Node) -> TableCPD:
    shape, child = node.shape, node.child
    if len(shape) > table_input.MAX_AXES:
        part.fail(f"a table of {len(shape) - 1} parents; {table_input.MAX_AXES - 1} are possible")
    values = part.rows(math.prod(shape[:-1]), child.card, "the table")
    return TableCPD._of(child, node.given, table_input.checked(child, node.given, values.reshape(shape)))


def _write_default(cpd: DefaultCPD) -> dict[str, Any]:
    states = [[write_state(state, v.name) for state in v.states] for v in cpd.given]
    keys = [[own[code] for own, code in zip(states, at, strict=True)] for at in cpd._codes.tolist()]
    rows = cpd._rows.tolist()
    return {"if": keys, "then": rows[:-1], "else": rows[-1]}


def _read_default(part: Part, node: Node) -> DefaultCPD:
    part.members("rows and a default", ["if", "then", "else"])
    keys, given, child = part.at("if"), node.given, node.child
    count = len(keys.elements("a list of configurations"))
    part.budget.take(count * (len(given) + child.card), f"the rows of {shown(node.name)}")
    if not given:
        part.fail("rows and a default need parents")
    codes = np.empty((count, len(given)), dtype=np.int32)
    seen: set[bytes] = set()
    for number in range(count):
        key = keys.at(number)
        if len(key.elements("a state of each parent")) != len(given):
            key.expected(f"a state of each of the {len(given)} parents")
        codes[number] = [v.code(read_state(key.at(i))) for i, v in enumerate(given)]
        seen.add(codes[number].tobytes())
        if len(seen) <= number:
            key.fail("these states are there twice")
    values = part.at("then").rows(count, child.card, "the rows")
    other = part.at("else").numbers(child.card, "the row of all others")
    rows_of_all = np.vstack([values, other])
    return DefaultCPD._of(child, given, codes, checked_rows(child, rows_of_all, lambda row: f"number {row}"))


def _write_function(cpd: Deterministic) -> list[Any]:
    states = [write_state(state, cpd.child.name) for state in cpd.child.states]
    return [states[code] for code in cpd.codes.ravel().tolist()]


def _read_function(part: Part, node: Node) -> Deterministic:
    *cards, _ = node.shape
    if len(cards) >= table_input.MAX_AXES:
        part.fail(f"a function of {len(cards)} parents; {table_input.MAX_AXES - 1} are possible")
    found = part.elements("a list of states")
    if len(found) != math.prod(cards):
        part.fail(
            f"a state for each of {counted(math.prod(cards))} configurations expected, found {len(found):,}"
        )
    code = node.child.code
    if set(map(type, found)) <= {str, bool, int, float}:
        codes = np.fromiter(map(code, found), dtype=np.int32, count=len(found))
    else:
        codes = np.array([code(read_state(part.at(i))) for i in range(len(found))], dtype=np.int32)
    return Deterministic.__new__(Deterministic)._bound(node.child, node.given, codes.reshape(cards))


# --- gates --------------------------------------------------------------------------------------------------


def _write_gate(gate: NoisyMax) -> dict[str, Any]:
    causes: dict[str, Any] = {}
    for v, effect, free in zip(gate.given, gate._effects, gate._free, strict=True):
        at = active(v) if not gate._smallest else 1 - active(v)
        one = v.card == 2 == gate.child.card and free[at] and not free[1 - at]
        number = _lone(effect[at], gate._smallest) if one else None
        each = [row if has else None for row, has in zip(effect.tolist(), free.tolist(), strict=True)]
        causes[v.name] = each if number is None else number
    leak = _lone(gate._leak, gate._smallest) if gate.child.card == 2 else None
    return {"causes": causes, "leak": gate._leak.tolist() if leak is None else leak}


def _lone(row: np.ndarray, smallest: bool) -> float | None:
    """Return the one number of which a row of two is made, if that makes it to the last bit."""
    numbers: list[float] = row.tolist()[::-1] if smallest else row.tolist()
    return numbers[1] if list(pair(numbers[1])) == numbers else None


def _read_gate(kind: type[NoisyMax]) -> Callable[[Part, Node], NoisyMax]:
    def read(part: Part, node: Node) -> NoisyMax:
        found = part.members("a noisy gate", ["causes", "leak"])
        part.at("causes").members("the causes", [v.name for v in node.given])
        part.budget.take(sum(v.card for v in node.given) * node.child.card, f"the gate of {shown(node.name)}")
        causes: dict[str, Any] = {}
        for v in node.given:
            entry = part.at("causes", v.name)
            if type(entry.value) is not list:
                causes[v.name] = entry.number("the probability of a cause")
            elif len(entry.value) != v.card:
                entry.expected(f"a row or null for each of the {v.card} states of {shown(v.name)}")
            else:
                causes[v.name] = {
                    state: entry.at(i).numbers(node.child.card, "an effect").tolist()
                    for i, state in enumerate(v.states)
                    if entry.value[i] is not None
                }
        if type(found["leak"]) is not list:
            return kind(causes, part.at("leak").number("the leak")).bind(node.name, node.domain, node.given)
        # A leak that was fitted is a row; noisy-OR and AND take only a number from a user.
        gate = kind(causes, 0.0)
        row = part.at("leak").numbers(node.child.card, "the leak").tolist()
        set_fields(gate, _written=(*gate._written[:-1], row))
        return gate.bind(node.name, node.domain, node.given)

    return read


def _read_counting(kind: type[AtLeast] | type[Exactly]) -> Callable[[Part, Node], CPD]:
    def read(part: Part, node: Node) -> CPD:
        k = part.whole("a count of parents", most=len(node.given))
        return kind(k, [v.name for v in node.given]).bind(node.name, node.domain, node.given)

    return read


def _read_parity(part: Part, node: Node) -> Parity:
    if part.value != "odd":
        part.expected('"odd"')
    return Parity([v.name for v in node.given]).bind(node.name, node.domain, node.given)


def _write_mixture(cpd: MixtureCPD) -> dict[str, Any]:
    tables = {v.name: _rows(table) for v, table in zip(cpd.given, cpd._tables, strict=True)}
    return {"weights": cpd.weights, "tables": tables}


def _read_mixture(part: Part, node: Node) -> MixtureCPD:
    part.members("a mixture", ["weights", "tables"])
    names = [v.name for v in node.given]
    part.at("weights").members("the weights", names)
    part.at("tables").members("the tables", names)
    tables = {
        v.name: part.at("tables", v.name).rows(v.card, node.child.card, "the table") for v in node.given
    }
    weights = {name: part.at("weights", name).number("the weight of a parent") for name in names}
    return MixtureCPD(tables, weights).bind(node.name, node.domain, node.given)


# --- weights ------------------------------------------------------------------------------------------------


def _write_logistic(cpd: Logistic) -> dict[str, Any]:
    weights: dict[str, Any] = {}
    for v, entry in zip(cpd.given, cpd._weights, strict=True):
        if isinstance(entry, dict):
            states = [write_state(_as_declared(key, v), v.name) for key in entry]
            weights[v.name] = {"states": states, "weights": [_short(w) for w in entry.values()]}
        else:
            weights[v.name] = _short(entry)
    return {"weights": weights, "bias": _short(cpd._bias)}


def _as_declared(key: Any, v: Variable) -> Any:
    """Return a state as it was written, or as it was declared where these are equal."""
    state = v.states[v.code(key)]
    return state if state == key else key


def _short(w: tuple[float, ...]) -> float | list[float]:
    """Return a weight of each state; of two, the first being zero, only the second."""
    return w[1] if len(w) == 2 and str(w[0]) == "0.0" else list(w)


def _read_logistic(part: Part, node: Node) -> CPD:
    part.members("a logistic distribution", ["weights", "bias"])
    part.at("weights").members("the weights", [v.name for v in node.given])
    weights: dict[str, Any] = {}
    for v in node.given:
        entry = part.at("weights", v.name)
        part.budget.take(
            v.card * max(v.card, node.child.card), f"what {shown(v.name)} adds in {shown(node.name)}"
        )
        if type(entry.value) is not dict:
            weights[v.name] = _read_weight(entry, node)
            continue
        found = entry.members("the weights of states", ["states", "weights"])
        if len(entry.at("states").elements("a list of states")) != len(
            entry.at("weights").elements("a list of weights")
        ):
            entry.fail("states and weights are not of one length")
        keys = [read_state(entry.at("states", i)) for i in range(len(found["states"]))]
        if len(set(keys)) < len(keys):
            entry.fail("a state has two weights", "states")
        weights[v.name] = {key: _read_weight(entry.at("weights", i), node) for i, key in enumerate(keys)}
    logistic = Logistic(weights, _read_weight(part.at("bias"), node))
    return make(node.name, logistic, node.domain, node.given)


def _read_weight(part: Part, node: Node) -> Any:
    if type(part.value) is list:
        return part.numbers(node.child.card, "a weight for each state").tolist()
    return part.number("a weight")


def _write_gaussian(cpd: LinearGaussian) -> Any:
    weights, bias, sd = cpd._weights.tolist(), cpd._bias.tolist(), cpd._sd.tolist()
    found = [
        {"weights": dict(zip(cpd._causes, w, strict=True)), "bias": b, "sd": s}
        for w, b, s in zip(weights, bias, sd, strict=True)
    ]
    return found if cpd._switches else found[0]


def _read_gaussian(part: Part, node: Node) -> LinearGaussian:
    switches = [v for v in node.given if not v.continuous]
    causes = [v.name for v in node.given if v.continuous]
    if [v.name for v in node.given] != [*[v.name for v in switches], *causes]:
        part.fail("the discrete parents of a linear Gaussian come first, then the continuous ones")
    if not switches:
        return _read_line(part, causes).bind(node.name, None, node.given)
    count = table_input.product(v.card for v in switches)
    if len(part.elements("a list of linear Gaussians")) != count:
        part.fail(
            f"one for each of {counted(count)} states of the discrete parents expected, "
            f"found {len(part.value):,}"
        )
    keys = [
        tuple([v.states[i] for v, i in zip(switches, at, strict=True)])
        for at in np.ndindex(*[v.card for v in switches])
    ]
    lines = {key: _read_line(part.at(i), causes) for i, key in enumerate(keys)}
    made = LinearGaussian.select(node.name, lines, [v.name for v in switches])
    return made.bind(node.name, None, node.given)


def _read_line(part: Part, causes: Sequence[str]) -> LinearGaussian:
    part.members("a linear Gaussian", ["weights", "bias", "sd"])
    part.at("weights").members("the weights", causes)
    weights = {name: part.at("weights", name).number("a weight") for name in causes}
    return LinearGaussian(weights, bias=part.at("bias").number("the bias"), sd=part.at("sd").number("the sd"))


KINDS = {
    "table": Kind((TableCPD,), lambda cpd: _rows(cpd.table()), _read_table),
    "function": Kind((Deterministic,), _write_function, _read_function),
    "rows": Kind((DefaultCPD,), _write_default, _read_default),
    "tree": Kind((TreeCPD,), write_tree, lambda part, node: read_tree(part, node.child, node.given)),
    "noisy-or": Kind((NoisyOr,), _write_gate, _read_gate(NoisyOr)),
    "noisy-and": Kind((NoisyAnd,), _write_gate, _read_gate(NoisyAnd)),
    "noisy-max": Kind((NoisyMax,), _write_gate, _read_gate(NoisyMax)),
    "noisy-min": Kind((NoisyMin,), _write_gate, _read_gate(NoisyMin)),
    "at-least": Kind((AtLeast,), lambda cpd: cpd._k, _read_counting(AtLeast)),
    "exactly": Kind((Exactly,), lambda cpd: cpd._k, _read_counting(Exactly)),
    "parity": Kind((Parity,), lambda cpd: "odd", _read_parity),
    "mixture": Kind((MixtureCPD,), _write_mixture, _read_mixture),
    "logistic": Kind((Logistic, HybridLogistic), _write_logistic, _read_logistic),
    "linear-gaussian": Kind((LinearGaussian,), _write_gaussian, _read_gaussian),
}
