"""Variants of hidden Markov models in JSON: chains with their tables, and what they emit."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from pgm.distributions import EMISSIONS, ByInput, Regression, Softmax
from pgm.distributions.parts import Part
from pgm.errors import InvalidArgument, PGMError, listed
from pgm.models.dynamic import MarkovChain
from pgm.models.dynamic.composed_hmm import Places
from pgm.models.dynamic.hidden import HiddenChain
from pgm.models.dynamic.joint_chains import JointChains
from pgm.models.dynamic.variants import (
    AutoregressiveHMM,
    ComposedHMM,
    CoupledHMM,
    FactorialHMM,
    InputOutputHMM,
    MealyHMM,
    SemiMarkovHMM,
    SwitchingHMM,
    TreeHMM,
    UrnHMM,
)
from pgm.variables import Domain

from .hmm import _emission
from .states import read_domain, write_domain, write_state

HIDDEN = "hidden-chains"


def write(model: HiddenChain) -> dict[str, Any]:
    """Return the model as the object of its file."""
    model._check_parameters()
    kind = next(name for name, (cls, _, _) in KINDS.items() if type(model) is cls)
    return {"kind": kind, **KINDS[kind][1](model)}


def read(part: Part) -> HiddenChain:
    """Return the model of a file."""
    value = part.members("a model", ["pgm", HIDDEN], ["name", "about"])
    for key in ("name", "about"):
        if key in value:
            part.at(key).text("a text")
    inside = part.at(HIDDEN)
    if type(inside.value) is not dict or "kind" not in inside.value:
        inside.expected("hidden chains of some kind")
    kind = inside.at("kind").text("a kind of hidden chains")
    if kind not in KINDS:
        inside.fail(f"a kind is one of {listed(KINDS)}", "kind")
    try:
        made: HiddenChain = KINDS[kind][2](inside, value.get("name", ""))
    except PGMError as error:
        if type(error) is InvalidArgument or not hasattr(error, "line"):
            inside.fail(str(error))
        raise
    return made


def write_emission(emission: Any) -> dict[str, Any]:
    """Return an emission by its kind."""
    if EMISSIONS.get(getattr(emission, "kind", "")) is not type(emission):
        raise InvalidArgument(f"An emission that is a {type(emission).__name__} has no JSON form.")
    symbols = {"state": write_state} if emission.kind in ("categorical", "product") else {}
    return {emission.kind: emission.to_parts(**symbols)}


def _write_chains(model: JointChains) -> dict[str, Any]:
    chains = []
    for v in model.variables:
        tables = {
            part: model._tables[part, v.name].reshape(-1, v.card).tolist()
            for part in ("initial", "transition")
            if (part, v.name) in model._tables
        }
        chains.append({"name": v.name, **write_domain(v.name, v.domain), **tables})
    emission = model.emission
    if isinstance(emission, dict):
        return {"chains": chains, "emissions": [write_emission(one) for one in emission.values()]}
    return {"chains": chains, "emission": write_emission(emission)}


class _Chains:
    """The chains of a file: names, states and tables, whose shapes depend on the kind."""

    def __init__(self, part: Part, emissions: str) -> None:
        part.members("hidden chains", ["kind", "chains", emissions])
        listed_chains = part.at("chains")
        self.parts = [listed_chains.at(i) for i in range(len(listed_chains.elements("a list of chains")))]
        self.names: list[str] = []
        self.domains: list[Domain] = []
        for one in self.parts:
            found = one.members("a chain", ["name", "initial"], ["states", "bins", "transition"])
            name = one.at("name").text("the name of a chain")
            if name in self.names:
                one.fail("two chains have this name", "name")
            if "states" not in found and "bins" not in found:
                one.fail("a chain has states")
            self.names.append(name)
            self.domains.append(read_domain(one, name))
        if not self.parts:
            listed_chains.expected("one chain at least")

    def table(self, m: int, part: str, over: tuple[int, ...]) -> np.ndarray:
        """A table with these axes and then the states."""
        k = self.domains[m].card
        found = self.parts[m].at(part).rows(prod(over), k, "rows of probabilities")
        return found.reshape(*over, k)

    def alone(self, m: int) -> MarkovChain:
        """A chain that moves by itself."""
        k = self.domains[m].card
        if "transition" not in self.parts[m].value:
            self.parts[m].fail("a chain has transitions")
        start, move = self.table(m, "initial", (1,))[0], self.table(m, "transition", (k,))
        return MarkovChain(start, move, states=self.domains[m].states)


def _emissions(part: Part, count: int) -> list[Any]:
    inside = part.at("emissions")
    if len(inside.elements("a list of emissions")) != count:
        inside.expected(f"{count} emissions")
    return [_emission(inside.at(i)) for i in range(count)]


def _read_factorial(part: Part, name: str) -> FactorialHMM:
    chains = _Chains(part, "emission")
    alone = {called: chains.alone(m) for m, called in enumerate(chains.names)}
    return FactorialHMM(alone, _emission(part.at("emission")), name=name)


def _read_tree(part: Part, name: str) -> TreeHMM:
    chains = _Chains(part, "emission")
    levels = {}
    for m, called in enumerate(chains.names):
        over = (chains.domains[m - 1].card,) if m else ()
        k = chains.domains[m].card
        start = chains.table(m, "initial", over) if m else chains.table(m, "initial", (1,))[0]
        levels[called] = (start, chains.table(m, "transition", (*over, k)))
    states = {called: domain.states for called, domain in zip(chains.names, chains.domains, strict=True)}
    return TreeHMM(levels, _emission(part.at("emission")), states=states, name=name)


def _read_coupled(part: Part, name: str) -> CoupledHMM:
    chains = _Chains(part, "emissions")
    shape = tuple(domain.card for domain in chains.domains)
    called = range(len(chains.names))
    return CoupledHMM(
        {chains.names[m]: chains.table(m, "initial", (1,))[0] for m in called},
        {chains.names[m]: chains.table(m, "transition", shape) for m in called},
        dict(zip(chains.names, _emissions(part, len(shape)), strict=True)),
        states={chains.names[m]: chains.domains[m].states for m in called},
        name=name,
    )


def _read_switching(part: Part, name: str) -> SwitchingHMM:
    chains = _Chains(part, "emissions")
    if chains.names[0] != "switch":
        part.fail('the first of switching chains is called "switch"', "chains")
    alone = {chains.names[m]: chains.alone(m) for m in range(1, len(chains.names))}
    anew = "transition" not in chains.parts[0].value
    switch: Any = chains.table(0, "initial", (1,))[0] if anew else chains.alone(0)
    return SwitchingHMM(alone, switch, dict(zip(alone, _emissions(part, len(alone)), strict=True)), name=name)


_BY_INPUTS: dict[str, type[Any]] = {cls.kind: cls for cls in (Regression, Softmax, ByInput)}


def _write_input_output(model: InputOutputHMM) -> dict[str, Any]:
    body: dict[str, Any] = dict(write_domain("state", model.variable.domain))
    for part in ("initial", "transition", "emission"):
        one = model._by_inputs.get(part)
        if one is None:
            table = part != "emission"
            body[part] = model._tables[part, ""].tolist() if table else write_emission(model.emission)
        elif type(one) in _BY_INPUTS.values():
            symbols = {} if one.kind == "regression" else {"state": write_state}
            body[part] = {one.kind: one.to_parts(**symbols)}
        else:
            raise InvalidArgument(f"A part that is {type(one).__name__} has no JSON form.")
    for option in ("window", "lags", "entering"):
        if getattr(model, option):
            body[option] = getattr(model, option)
    return body


def _by_inputs(part: Part) -> Any:
    found = part.members("what depends on inputs", [], [*_BY_INPUTS, *EMISSIONS])
    kinds = [kind for kind in found if kind in _BY_INPUTS]
    return _BY_INPUTS[kinds[0]].from_parts(part.at(kinds[0])) if len(found) == 1 and kinds else None


def _input_output(part: Part) -> dict[str, Any]:
    keys = ["kind", "initial", "transition", "emission"]
    found = part.members("an input-output model", keys, ["states", "bins", "window", "lags", "entering"])
    if "states" not in found and "bins" not in found:
        part.fail("an input-output model has states")
    domain = read_domain(part, "state")
    k = domain.card
    made: dict[str, Any] = {"states": domain.states}
    for name, rows in (("initial", 0), ("transition", k)):
        one = part.at(name)
        if type(one.value) is dict:
            made[name] = _by_inputs(one) or one.expected("what depends on inputs")
        else:
            made[name] = one.rows(k, k, "the transitions") if rows else one.numbers(k, "the first state")
    made["emission"] = _by_inputs(part.at("emission")) or _emission(part.at("emission"))
    for option in ("window", "lags"):
        made[option] = part.at(option).whole("a number of steps") if option in found else 0
    made["entering"] = part.at("entering").truth("whether it is so") if "entering" in found else False
    return made


def _read_input_output(part: Part, name: str) -> InputOutputHMM:
    return InputOutputHMM(**_input_output(part), name=name)


def _read_autoregressive(part: Part, name: str) -> AutoregressiveHMM:
    made = _input_output(part)
    if made.pop("window") or made.pop("entering"):
        part.fail("an autoregressive model has no window")
    return AutoregressiveHMM(**made | {"order": made.pop("lags")}, name=name)


def _write_semi_markov(model: SemiMarkovHMM) -> dict[str, Any]:
    body = {
        **write_domain("state", model.variable.domain),
        "initial": model.initial.tolist(),
        "transition": model.transition.tolist(),
        "durations": model.durations.tolist() if model._form is None else write_emission(model._form),
        "max_duration": model.max_duration,
        "emission": write_emission(model.emission),
    }
    return body | ({"complete": True} if model.complete else {})


def _read_semi_markov(part: Part, name: str) -> SemiMarkovHMM:
    keys = ["kind", "initial", "transition", "durations", "max_duration", "emission"]
    found = part.members("a semi-Markov model", keys, ["states", "bins", "complete"])
    if "states" not in found and "bins" not in found:
        part.fail("a semi-Markov model has states")
    domain = read_domain(part, "state")
    k, d = domain.card, part.at("max_duration").whole("the longest duration", 1)
    given = part.at("durations")
    return SemiMarkovHMM(
        part.at("initial").numbers(k, "the first state"),
        part.at("transition").rows(k, k, "the transitions"),
        _emission(part.at("emission")),
        _emission(given) if type(given.value) is dict else given.rows(k, d, "the durations"),
        max_duration=d,
        complete=part.at("complete").truth("whether it is so") if "complete" in found else False,
        states=domain.states,
        name=name,
    )


def _write_composed(model: ComposedHMM) -> dict[str, Any]:
    p = model._places
    places = []
    for labels, (owner, row) in zip(p.labels, p.rows, strict=True):
        places.append({"labels": list(labels), "part": owner, "row": row} if row >= 0 else {})
    arcs = np.column_stack([p.source, p.to, p.table, p.entry]).tolist()
    tables = [
        {"of": list(key), "rows": np.atleast_2d(model._tables[key]).tolist(), "axes": model._tables[key].ndim}
        for key in p.keys
    ]
    emissions = [{"part": owner, "emission": write_emission(one)} for owner, one in model.emission.items()]
    body: dict[str, Any] = {"places": places, "arcs": arcs, "tables": tables, "parts": emissions}
    return body | ({} if model.whole else {"unfinished": True})


def _read_composed(part: Part, name: str) -> ComposedHMM:
    found = part.members("a composed model", ["kind", "places", "arcs", "tables", "parts"], ["unfinished"])
    emissions: dict[str, Any] = {}
    for i in range(len(part.at("parts").elements("a list of parts"))):
        one = part.at("parts", i)
        one.members("a part", ["part", "emission"])
        emissions[one.at("part").text("the name of a part")] = _emission(one.at("emission"))
    labels, rows = [], []
    for i in range(len(part.at("places").elements("a list of places"))):
        one = part.at("places", i)
        value = one.members("a place", [], ["labels", "part", "row"])
        if not value:
            labels.append(())
            rows.append(("", -1))
            continue
        one.members("a place", ["labels", "part", "row"])
        owner = one.at("part").text("the name of a part")
        if owner not in emissions:
            one.fail(f"there is no part {owner!r}", "part")
        many = len(one.at("labels").elements("labels"))
        labels.append(tuple(one.at("labels", j).state() for j in range(many)))
        rows.append((owner, one.at("row").whole("a row", 0, (emissions[owner].n_states or 1) - 1)))
    keys, tables = [], {}
    for i in range(len(part.at("tables").elements("a list of tables"))):
        one = part.at("tables", i)
        one.members("a table", ["of", "rows", "axes"])
        of = one.at("of").names("what a table is of")
        if len(of) != 2:
            one.expected("a part and a name", "of")
        count = len(one.at("rows").elements("rows"))
        width = len(one.at("rows", 0).elements("a row")) if count else 0
        table = one.at("rows").rows(count, width, "probabilities")
        if (table < 0).any() or not np.allclose(table.sum(axis=1), 1.0, rtol=0, atol=1e-6):
            one.fail("rows of probabilities sum to one", "rows")
        keys.append((of[0], of[1]))
        tables[of[0], of[1]] = table if one.at("axes").whole("axes", 1, 2) == 2 else table[0]
    count = len(part.at("arcs").elements("a list of arcs"))
    arcs = part.at("arcs").rows(count, 4, "an arc").astype(np.int64)
    places = Places(tuple(labels), tuple(rows), arcs[:, 0], arcs[:, 1], tuple(keys), arcs[:, 2], arcs[:, 3])
    bad = (arcs[:, :2] < 0).any(axis=1) | (arcs[:, :2] >= len(labels)).any(axis=1) | (arcs[:, 2] < 0)
    sizes = np.array([tables[key].size for key in keys], np.int64)
    bad |= arcs[:, 2] >= len(keys)
    bad |= (arcs[:, 3] < -1) | (arcs[:, 3] >= sizes[np.clip(arcs[:, 2], 0, len(keys) - 1)])
    if len(labels) < 3 or not keys or bad.any():
        part.fail("arcs lead between places, and take entries of tables", "arcs")
    made = ComposedHMM._of(places, tables, emissions, name)
    unfinished = "unfinished" in found and part.at("unfinished").truth("whether it is so")
    return made.unfinished() if unfinished else made


def _write_mealy(model: MealyHMM) -> dict[str, Any]:
    return {
        **write_domain("state", model.variables[0].domain),
        "initial": model.initial.tolist(),
        "transition": model.transition.tolist(),
        "emission": write_emission(model.emission),
    }


def _read_mealy(part: Part, name: str) -> MealyHMM:
    found = part.members("a model of arcs", ["kind", "initial", "transition", "emission"], ["states", "bins"])
    if "states" not in found and "bins" not in found:
        part.fail("a model of arcs has states")
    domain = read_domain(part, "state")
    k = domain.card
    start = part.at("initial").numbers(k, "the first state")
    move = part.at("transition").rows(k, k, "the transitions")
    return MealyHMM(start, move, _emission(part.at("emission")), states=domain.states, name=name)


def _write_urns(model: UrnHMM) -> dict[str, Any]:
    urns = [
        {"name": write_state(urn, "urn"), "holds": [[write_state(c, "colour"), n] for c, n in balls.items()]}
        for urn, balls in model.urns.items()
    ]
    return {"initial": model.initial.tolist(), "transition": model.transition.tolist(), "urns": urns}


def _read_urns(part: Part, name: str) -> UrnHMM:
    part.members("a model of urns", ["kind", "initial", "transition", "urns"])
    urns: dict[Any, dict[Any, int]] = {}
    for i in range(len(part.at("urns").elements("a list of urns"))):
        one = part.at("urns", i)
        one.members("an urn", ["name", "holds"])
        holds = one.at("holds")
        urns[one.at("name").state()] = balls = {}
        for j in range(len(holds.elements("a list of colours"))):
            if len(holds.at(j).elements("a colour and a count")) != 2:
                holds.expected("a colour and a count", j)
            balls[holds.at(j, 0).state()] = holds.at(j, 1).whole("a count")
    k = len(urns)
    start = part.at("initial").numbers(k, "the first urn")
    return UrnHMM(start, part.at("transition").rows(k, k, "the transitions"), urns, name=name)


KINDS: dict[str, tuple[type[HiddenChain], Callable[[Any], dict[str, Any]], Callable[[Part, str], Any]]] = {
    "factorial": (FactorialHMM, _write_chains, _read_factorial),
    "coupled": (CoupledHMM, _write_chains, _read_coupled),
    "switching": (SwitchingHMM, _write_chains, _read_switching),
    "tree": (TreeHMM, _write_chains, _read_tree),
    "semi-markov": (SemiMarkovHMM, _write_semi_markov, _read_semi_markov),
    "composed": (ComposedHMM, _write_composed, _read_composed),
    "mealy": (MealyHMM, _write_mealy, _read_mealy),
    "urns": (UrnHMM, _write_urns, _read_urns),
    "input-output": (InputOutputHMM, _write_input_output, _read_input_output),
    "autoregressive": (AutoregressiveHMM, _write_input_output, _read_autoregressive),
}
