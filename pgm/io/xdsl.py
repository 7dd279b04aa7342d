"""XDSL, the files of GeNIe and SMILE: tables, noisy-MAX gates, functions, decisions and utilities.

    <smile version="1.0" id="wet"> <nodes>
      <cpt id="rain"> <state id="no" /> <state id="yes" /> <probabilities>0.8 0.2</probabilities> </cpt>
      <noisymax id="wet"> <state id="yes" /> <state id="no" /> <parents>rain</parents>
        <strengths>1 0</strengths> <parameters>0.9 0.1 0 1 0.05 0.95</parameters> </noisymax>
      <deterministic id="dry"> ... <parents>wet</parents> <resultingstates>no yes</resultingstates>
        </deterministic>
      <decision id="go"> <state id="no" /> <state id="yes" /> <parents>wet</parents> </decision>
      <utility id="fun"> <parents>rain go</parents> <utilities>1 0 -5 10</utilities> </utility>
      <mau id="total"> <parents>fun</parents> <weights>2</weights> </mau>
    </nodes> <extensions> <genie name="wet"> ... how it is drawn ... </genie> </extensions> </smile>

The child's state changes fastest, then that of the last parent. In a gate of GeNIe the child's last state is
"no effect" and the first that any cause brings about shows, so it is our NoisyMin of the same states; a
NoisyMax is written with its states reversed, and reversed back when it is read. Its parameters are each
cause's own, without the leak ("net", Diez 1993): for each parent a row for each of its states in the order of
`strengths`, of which the last has no effect; then the leak. For names see identifiers.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cached_property
from graphlib import TopologicalSorter

import numpy as np

from pgm.cpds import CPD, KINDS, Deterministic, NoisyMax, NoisyMin
from pgm.cpds.base import Causes
from pgm.cpds.table import TableCPD
from pgm.cpds.table_input import Array
from pgm.errors import InvalidArgument, listed, shown
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.models.decision import InfluenceDiagram
from pgm.models.decision.utilities import Utility
from pgm.runtime.progress import each
from pgm.variables import Variable

from .diagrams import Decisions, Written, assembled, open_decision, to_write, told, utility_table
from .identifiers import identifiers, stands_for
from .marked import MarkedNetwork
from .markup import Element, leaf, marked
from .refusals import Refusals
from .text import Text
from .writing import bayesian, captions, positions, states_as_text, tables

_KINDS = ("cpt", "noisymax", "deterministic", "decision", "utility", "mau")
_GATES = {gate.__name__: gate for gate in KINDS.values() if issubclass(gate, NoisyMax)}
_PLACE = re.compile(r"-?[0-9]{1,9}")
_NAME, _STATE, _GATE = "pgm_name", "pgm_state_", "pgm_gate"  # properties, which GeNIe keeps


def read(source: Text) -> BayesianNetwork | InfluenceDiagram:
    """Read a network or an influence diagram; states and names are text."""
    return _Reader(source).read()


class _Node:
    """A node of the file: its variable, with the states in file order, and its content."""

    def __init__(self, reader: _Reader, element: Element, taken: Mapping[str, object]) -> None:
        self.element = element
        self.parts: dict[str, list[Element]] = {}
        for child in reader.inside(element):
            self.parts.setdefault(child.name, []).append(child)
        self.id = reader.attribute(element, "id")
        if len(self.id.split()) > 1:  # in a list of parents it would be several
            reader.fail(f"the id {shown(self.id)} of a node has blanks in it", element)
        self.properties = {p.attributes.get("id", ""): p for p in self.parts.get("property", [])}
        self.name = self.id
        if _NAME in self.properties:
            name = reader.leaf(self.properties[_NAME])
            if stands_for(self.id, name, "n") and name not in taken:
                self.name = name
        self.ids = [reader.attribute(state, "id") for state in self.parts.get("state", [])]
        states = [
            reader.leaf(self.properties[_STATE + id]) if _STATE + id in self.properties else id
            for id in self.ids
        ]
        self.is_utility = element.name in ("utility", "mau")
        if self.is_utility:
            self.variable = self.final = reader.new(self.name, ["worth"], element)
            self.turned = False
            return
        gate = reader.leaf(self.properties[_GATE]) if _GATE in self.properties else ""
        self.gate = _GATES.get(gate, NoisyMin) if element.name == "noisymax" else NoisyMin
        if len(states) != 2 and self.gate.of_two:
            self.gate = NoisyMin if self.gate.smallest else NoisyMax
        self.turned = not self.gate.smallest
        self.variable = reader.new(self.name, states, element)
        self.final = reader.new(self.name, states[::-1], element) if self.turned else self.variable


class _Reader(MarkedNetwork):
    def read(self) -> BayesianNetwork | InfluenceDiagram:
        root = self.root
        if root.name != "smile":
            hint = "; it is XMLBIF: pass format='xmlbif'" if root.name.upper() == "BIF" else ""
            self.fail(f"XDSL begins with <smile>, this file with <{root.tag}>{hint}", root)
        parts = {part.name: part for part in self.inside(root)}
        if "dynamic" in parts:
            self.fail("this is a dynamic network, which is not supported", parts["dynamic"])
        count = [part.name for part in root.children].count("nodes")
        if count != 1:
            self.fail(f"expected one <nodes> in <smile>, found {count}", root)
        self.nodes: dict[str, _Node] = {}  # by their identifiers
        names: dict[str, _Node] = {}
        refusals = Refusals()
        for element in each(list(self.inside(parts["nodes"])), "reading nodes"):
            with refusals:
                if element.name not in _KINDS:
                    self.fail(
                        f"{shown(element.attributes.get('id', ''))} is a node of the kind <{element.tag}>, "
                        f"which is not supported; {listed(_KINDS)} are",
                        element,
                    )
                node = _Node(self, element, names)
                if node.id in self.nodes or node.name in names:
                    self.fail(f"a second node with the id {shown(node.id)}", element)
                self.nodes[node.id] = names[node.name] = node
        refusals.check()
        genie = (
            [e for e in parts["extensions"].children if e.name == "genie"] if "extensions" in parts else []
        )
        about = genie[0].attributes if genie else {}
        # aGrUM writes and reads the tables of this format with the first parent fastest.
        self.first_fastest = about.get("app", "").startswith("aGrUM")
        title = about.get("name", root.attributes.get("id", ""))
        cpds: list[CPD] = []
        decided = Decisions()
        for node in each(self.nodes.values(), "reading tables"):
            with refusals:
                if node.is_utility:
                    decided.utilities[node.name] = self.utility(node)
                elif node.element.name == "decision":
                    given = [self.variable(id, at).name for id, at in self.parents(node)]
                    decided.observes[node.name] = tuple(dict.fromkeys(given))
                    decided.properties |= {key: self.leaf(p) for key, p in node.properties.items()}
                    cpds.append(open_decision(node.final))
                else:
                    cpds.append(self.cpd(node))
        refusals.check()
        if not decided:
            net = self.network(title, cpds)
        else:
            for node in self.nodes.values():
                if node.is_utility:
                    decided.properties |= {key: self.leaf(p) for key, p in node.properties.items()}
            diagram = told(lambda: assembled(title, cpds, decided), lambda message: self.fail(message, root))
            net = diagram._network
        for drawing in genie:
            self.drawn(net, drawing)
        return diagram if decided else net

    def parents(self, node: _Node) -> list[tuple[str, Element]]:
        """Return the identifiers of the parents of a node, and their positions."""
        if "parents" not in node.parts:
            return []
        at = self.part(node, "parents")
        return [(id, at) for id in self.leaf(at).split()]

    def variable(self, id: str, at: Element) -> Variable:
        """Return the variable of a parent, which is not a utility."""
        found = self.known(id, self.by_id, at)
        if self.nodes[id].is_utility:
            self.fail(f"{shown(found.name)} is a utility, on which only other utilities depend", at)
        return found

    def utility(self, node: _Node) -> Utility:
        ids = self.parents(node)
        if node.element.name == "utility":
            given = [self.variable(id, at) for id, at in ids]
            if self.first_fastest:
                given = given[::-1]
            element = self.part(node, "utilities")
            values = self.worth(element, node.name, given, node.element).reshape([v.card for v in given])
            if self.first_fastest:
                given, values = given[::-1], values.transpose()
            turned = tuple([i for i, (id, _) in enumerate(ids) if self.nodes[id].turned])
            return utility_table([self.nodes[id].final for id, _ in ids], np.flip(values, turned))
        if "expressions" in node.parts:
            message = f"{shown(node.id)} is a function of utilities, which is not supported; sums are"
            self.fail(message, node.parts["expressions"][0])
        for id, at in ids:
            self.known(id, self.by_id, at)
            if not self.nodes[id].is_utility:
                self.fail(f"{shown(self.nodes[id].name)} is not a utility, and <mau> adds up utilities", at)
        weights = [1.0] * len(ids)
        if "weights" in node.parts:
            element = self.part(node, "weights")
            weights = self.numbers(element, len(ids), node.name).tolist()
            if not all(map(math.isfinite, weights)):
                self.fail(f"{shown(node.name)}: a weight is a finite number", element)
        return Utility(tuple([self.nodes[id].name for id, _ in ids]), weights=tuple(weights))

    def drawn(self, net: BayesianNetwork, drawing: Element) -> None:
        """Record the captions and positions of the nodes, also in submodels."""
        inside = list(reversed(drawing.children))
        while inside:
            element = inside.pop()
            node = self.nodes.get(element.attributes.get("id", "")) if element.name == "node" else None
            if node is None:
                inside += reversed(element.children)
                continue
            for part in element.children:
                if part.name == "name" and self.leaf(part) != node.name:
                    net.captions[node.name] = self.leaf(part)
                elif part.name == "position":
                    words = self.words(part, 4, f"numbers for {shown(node.name)}")
                    for number, word in enumerate(words):
                        if not _PLACE.fullmatch(word):
                            self.fail_word(f"expected a whole number, found {shown(word)}", part, number)
                    left, top, right, bottom = map(int, words)
                    net.positions[node.name] = left, top, right, bottom

    def attribute(self, element: Element, name: str) -> str:
        every = element.attributes
        if name not in every:
            self.fail(f'expected {name}="..." in <{element.tag}>, found none', element)
        return every[name].strip()

    @cached_property
    def by_id(self) -> dict[str, Variable]:
        return {id: node.variable for id, node in self.nodes.items()}

    def part(self, node: _Node, name: str) -> Element:
        found = node.parts.get(name, [])
        if len(found) != 1:
            self.fail(
                f"{shown(node.id)}: expected one <{name}> in <{node.element.tag}>, found {len(found)}",
                node.element,
            )
        return found[0]

    def cpd(self, node: _Node) -> CPD:
        ids: list[str] = []
        at = node.element
        if "parents" in node.parts:
            at = self.part(node, "parents")
            ids = self.leaf(at).split()
        given = tuple([self.variable(id, at) for id in ids])
        parents = [self.nodes[id] for id in ids]
        final = tuple([parent.final for parent in parents])
        turned = tuple([axis for axis, parent in enumerate(parents) if parent.turned])
        if node.element.name == "noisymax":
            return self.noisy(node, parents, at)
        if node.element.name == "deterministic":
            return Deterministic.trusted(node.final, final, self.outcomes(node, given, turned, at))
        element = self.part(node, "probabilities")
        if self.first_fastest:
            values = self.table(element, node.variable, given[::-1], at)
            values = values.transpose(*range(len(given))[::-1], len(given))
        else:
            values = self.table(element, node.variable, given, at)
        values = np.ascontiguousarray(np.flip(values, turned))
        values.flags.writeable = False
        return TableCPD.trusted(node.final, final, values)

    def outcomes(
        self, node: _Node, given: tuple[Variable, ...], turned: tuple[int, ...], at: Element
    ) -> np.ndarray:
        shape = self.shape(node.variable, given, at)[:-1]
        element = self.part(node, "resultingstates")
        codes = {id: code for code, id in enumerate(node.ids)}
        words = self.words(element, math.prod(shape), f"states for {shown(node.name)}")
        for number, word in enumerate(words):
            if word not in codes:
                message = f"{shown(node.name)} has no state {shown(word)}; it has {listed(node.ids)}"
                self.fail_word(message, element, number)
        found = np.array([codes[word] for word in words], dtype=np.int32).reshape(shape)
        return np.array(np.flip(found, turned), order="C")

    def noisy(self, node: _Node, parents: list[_Node], at: Element) -> NoisyMax:
        if len({parent.id for parent in (node, *parents)}) <= len(parents):
            self.fail(f"{shown(node.name)}: a name appears twice among it and its parents", at)
        child = node.variable
        cards = [parent.variable.card for parent in parents]
        element = self.part(node, "parameters")
        flat = self.numbers(element, (sum(cards) + 1) * child.card, node.name).reshape(-1, child.card)
        flat = self.checked(element, child, (), flat, "of the parameters")
        back = slice(None, None, -1 if node.turned else 1)
        effects = []
        begin = 0
        for parent, order in zip(parents, self.strengths(node, cards), strict=True):
            effect = np.empty((len(order), child.card))
            effect[order] = flat[begin : begin + len(order), back]
            begin += len(order)
            effects.append(np.ascontiguousarray(effect[::-1]) if parent.turned else effect)
        final = tuple([parent.final for parent in parents])
        return node.gate.trusted(node.final, final, tuple(effects), flat[-1, back].copy())

    def strengths(self, node: _Node, cards: list[int]) -> list[list[int]]:
        """Return for each parent the order of its states' rows, "no effect" last."""
        if "strengths" not in node.parts:
            return [list(range(card)) for card in cards]
        element = self.part(node, "strengths")
        words = self.words(element, sum(cards), f"strengths for {shown(node.name)}")
        orders = []
        begin = 0
        for card in cards:
            own = words[begin : begin + card]
            if sorted(own) != sorted(map(str, range(card))):
                expected = f"expected the numbers 0 to {card - 1}, each once"
                self.fail_word(f"{shown(node.name)}: {expected}, found {listed(own)}", element, begin)
            orders.append(list(map(int, own)))
            begin += card
        return orders


# --- writing ------------------------------------------------------------------------------------------------


def write(model: BayesianNetwork | MarkovNetwork | InfluenceDiagram, *, expand: bool) -> str:
    """Return a network or an influence diagram as text.

    Args:
        model: what to write.
        expand: write tables in place of other distributions and of functions of utilities, and bins as text.
    """
    if isinstance(model, InfluenceDiagram):
        whole = to_write(model, "XDSL", expand=expand, sums=True)
        return _Writer(bayesian(whole.network, "XDSL"), expand, whole).written()
    return _Writer(bayesian(model, "XDSL"), expand).written()


class _Writer:
    def __init__(self, net: BayesianNetwork, expand: bool, whole: Written | None = None) -> None:
        self.net = net
        self.expand = expand
        self.name = net.name if whole is None else whole.diagram.name
        self.decisions = (
            {} if whole is None else {d: whole.diagram.parents(d) for d in whole.diagram.decisions}
        )
        self.utilities = {} if whole is None else whole.utilities
        self.properties = {} if whole is None else whole.properties
        self.ids = identifiers([*net.variables, *self.utilities], "n")
        self.states: dict[str, list[str]] = {}  # the identifiers, in the order of the file
        # Which gates are written as such, and which states are reversed for it, is decided before any table.
        self.kept = {name for name in net.variables if self.fits(net.cpd(name))}
        self.turned = {name for name in self.kept if self.turns(net.cpd(name))}

    def fits(self, cpd: CPD) -> bool:
        if cpd.outcomes() is not None:
            return True
        causes = cpd.causes()
        if causes is None:
            return False
        for cause, effect in causes.effects.items():
            if not (effect == causes.none).all(axis=1).any():
                if self.expand:
                    return False
                raise InvalidArgument(
                    f"XDSL holds gates of which each cause has a state without effect; {shown(cause)} has "
                    f"none for {shown(cpd.child.name)}; expand=True writes its table"
                )
        return True

    def turns(self, cpd: CPD) -> bool:
        causes = cpd.causes()
        return causes is not None and not causes.smallest

    def written(self) -> str:
        net = self.net
        (title,) = identifiers([self.name], "net").values()
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<smile version="1.0" id="{title}">', "  <nodes>"]
        heads = {name: self.head(name) for name in net.variables}  # functions need the states of all nodes
        rest = tables(net, "XDSL", self.expand, {*self.kept, *self.decisions})
        about = [leaf("property", value, "it", f' id="{id}"') for id, value in self.properties.items()]
        for name in net.variables:
            cpd = net.cpd(name)
            start, properties = heads[name]
            parents = self.decisions.get(name, cpd.parents)
            if name in self.decisions:
                kind, body, properties, about = "decision", [], [*properties, *about], []
            elif name not in self.kept:
                kind, (_, values) = "cpt", next(rest)
                body = [f"<probabilities>{_text(self.in_file(values, cpd.parents))}</probabilities>"]
            elif (causes := cpd.causes()) is not None:
                kind, body = "noisymax", self.gate(causes)
            elif (found := cpd.outcomes()) is not None:
                codes = self.in_file(found, cpd.parents).ravel().tolist()
                outcomes = " ".join([self.states[name][code] for code in codes])
                kind, body = "deterministic", [f"<resultingstates>{outcomes}</resultingstates>"]
            lines += self.node(kind, name, parents, start, [*body, *properties])
        for name, utility in self.utilities.items():
            if utility.values is not None:
                kind = "utility"
                body = [f"<utilities>{_text(self.in_file(utility.values, utility.parents))}</utilities>"]
            else:
                kind, body = "mau", [f"<weights>{_text(np.array(utility.weights))}</weights>"]
            named = [leaf("property", name, "the name", f' id="{_NAME}"')] if self.ids[name] != name else []
            lines += self.node(kind, name, utility.parents, [], [*body, *named, *about])
            about = []
        lines += ["  </nodes>", *self.drawn(), "</smile>", ""]
        return "\n".join(lines)

    def node(
        self, kind: str, name: str, parents: tuple[str, ...], start: list[str], rest: list[str]
    ) -> list[str]:
        """Return the lines of a node."""
        given = " ".join([self.ids[parent] for parent in parents])
        body = [*start, *([f"<parents>{given}</parents>"] if given else []), *rest]
        return [f'    <{kind} id="{self.ids[name]}">', *[f"      {line}" for line in body], f"    </{kind}>"]

    def head(self, name: str) -> tuple[list[str], list[str]]:
        """Return the states of a variable, and the properties with its name and theirs."""
        texts = states_as_text(self.net.variables[name], "XDSL", self.expand)
        ids = identifiers(texts, "s")
        order = texts[::-1] if name in self.turned else texts
        self.states[name] = [ids[text] for text in order]
        names = {_NAME: name} if self.ids[name] != name else {}
        names |= {_STATE + ids[text]: text for text in order if ids[text] != text}
        cpd = self.net.cpd(name)
        if name in self.kept and cpd.causes() is not None:
            names[_GATE] = type(cpd).__name__
        what = f"a name of {shown(name)} or of its states"
        properties = [leaf("property", text, what, f' id="{id}"') for id, text in names.items()]
        return [f'<state id="{id}" />' for id in self.states[name]], properties

    def in_file(self, values: np.ndarray, parents: tuple[str, ...]) -> np.ndarray:
        """Return a table with the states of the parents in their order in the file."""
        turned = tuple([axis for axis, parent in enumerate(parents) if parent in self.turned])
        return np.flip(values, turned)

    def gate(self, causes: Causes) -> list[str]:
        back = slice(None, None, 1 if causes.smallest else -1)
        orders: list[int] = []
        blocks: list[Array] = []
        for cause, effect in causes.effects.items():
            effect = effect[::-1, back] if cause in self.turned else effect[:, back]
            none = int(np.flatnonzero(effect[:, -1] == 1.0)[-1])
            order = [*(at for at in range(len(effect)) if at != none), none]
            orders += order
            blocks.append(effect[order])
        parameters = np.concatenate([*blocks, causes.leak[np.newaxis, back]])
        strengths = " ".join(map(str, orders))
        return [f"<strengths>{strengths}</strengths>", f"<parameters>{_text(parameters)}</parameters>"]

    def drawn(self) -> list[str]:
        """Return how GeNIe draws it: names and positions; nodes without one go in rows below the others."""
        net = self.net
        placed, called = positions(net, self.utilities), captions(net, self.utilities)
        under = max((bottom for _, _, _, bottom in placed.values()), default=-30)
        depth: dict[str, int] = {}
        above = {name: {*net.parents(name), *self.decisions.get(name, ())} for name in net.variables}
        above |= {name: {*utility.parents} for name, utility in self.utilities.items()}
        for name in TopologicalSorter(above).static_order():
            depth[name] = 1 + max([depth[parent] for parent in above[name]], default=-1)
        lines = [
            "  <extensions>",
            f'    <genie version="1.0" app="pgm" name="{marked(self.name, "the name")}">',
        ]
        count = [0] * (len(depth) + 1)
        for name, id in self.ids.items():
            if name not in placed:
                left, top = 20 + 160 * count[depth[name]], 50 + under + 100 * depth[name]
                count[depth[name]] += 1
                placed[name] = left, top, left + 120, top + 50
            lines += [
                f'      <node id="{id}">',
                "        " + leaf("name", called.get(name, name), "the caption"),
                '        <interior color="e5f6f7" />',
                '        <outline color="000080" />',
                '        <font color="000000" name="Arial" size="8" />',
                f"        <position>{' '.join(map(str, placed[name]))}</position>",
                "      </node>",
            ]
        return [*lines, "    </genie>", "  </extensions>"]


def _text(values: np.ndarray) -> str:
    return " ".join(map(repr, values.ravel().tolist()))
