"""Decision trees in JSON: a list of nodes and a list of rows, however deep the tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.cpds import TreeCPD
from pgm.cpds import rows as tables
from pgm.cpds.tree import Context, TreeNode
from pgm.errors import shown
from pgm.variables import Variable

from .parts import Part
from .states import read_state, write_state

_NUMBERS_A_STEP = 20  # what one condition of one leaf takes, beside a number


def write_tree(cpd: TreeCPD) -> dict[str, Any]:
    """Return the nodes: which parent is asked, and for which of its states which node or row comes next."""
    nodes = []
    for node in cpd._nodes:
        v = cpd.given[node.parent]
        ways: dict[int, list[Any]] = {}
        for code, target in enumerate(node.branch.tolist()):
            if target:  # the root comes after nothing: its number stands where no path leads
                ways.setdefault(target, []).append(write_state(v.states[code], v.name))
        branches = [
            {"if": states, "node": target} if target > 0 else {"if": states, "row": ~target}
            for target, states in ways.items()
        ]
        nodes.append({"ask": v.name, "branches": branches})
    return {"nodes": nodes, "rows": cpd._rows.tolist()}


def read_tree(part: Part, child: Variable, given: tuple[Variable, ...]) -> TreeCPD:
    """Return the tree, whose nodes stand before those below them and are each reached in one way."""
    found = part.members("a tree", ["nodes", "rows"])
    nodes, count = (
        part.at("nodes").elements("a list of nodes"),
        len(part.at("rows").elements("a list of rows")),
    )
    if not count:
        part.expected("a row at least", "rows")
    values = part.at("rows").rows(count, child.card, "the rows")
    place = {v.name: i for i, v in enumerate(given)}
    made: list[TreeNode] = []
    contexts: dict[int, Context] = {}
    regions: dict[int, Context] = {0: {}}  # of the nodes that were met; what is left of the parents' states
    if not nodes and count == 1:
        contexts[0] = {}
    for number in range(len(nodes)):
        node = part.at("nodes", number)
        node.members("a node of a tree", ["ask", "branches"])
        asked = node.at("ask").text("the name of a parent")
        if asked not in place:
            node.fail(f"{shown(asked)} is no parent of {shown(child.name)}", "ask")
        if number not in regions:
            node.fail("no node before this one leads to it")
        region, i = regions.pop(number), place[asked]
        left = set(region.get(i, range(given[i].card)))
        branch = np.zeros(given[i].card, dtype=np.int64)
        for way in range(len(node.at("branches").elements("a list of branches"))):
            step = node.at("branches", way)
            codes = _codes(step, given[i], left)
            inner = {**region, i: codes} if len(codes) < given[i].card else region
            part.budget.take(_NUMBERS_A_STEP * (len(inner) + len(codes)), f"the tree of {shown(child.name)}")
            branch[list(codes)] = _next(step, number, len(nodes), count, inner, regions, contexts)
        if left:
            states = [given[i].states[code] for code in sorted(left)]
            node.fail(f"no branch for {shown(asked)} = {shown(states[0])}")
        made.append(TreeNode(i, branch))
    if len(contexts) < count:
        part.fail("no node leads to this row", "rows", next(n for n in range(count) if n not in contexts))
    rows = tables.checked(child, (Variable("row", range(count)),), values)
    leaves = tuple([dict(sorted(contexts[n].items())) for n in range(len(found["rows"]))])
    return TreeCPD.__new__(TreeCPD)._made(child, given, tuple(made), leaves, rows)


def _codes(step: Part, v: Variable, left: set[int]) -> frozenset[int]:
    """Return the states of a branch, and take them away from those that are left."""
    found = step.members("a branch", ["if"], ["node", "row"])["if"]
    codes = set()
    for i in range(len(step.at("if").elements("a list of states"))):
        code = v.code(read_state(step.at("if", i)))
        if code not in left:
            step.fail(
                f"{shown(v.name)} = {shown(v.states[code])} does not come here, or a second time", "if", i
            )
        left.discard(code)
        codes.add(code)
    if not found:
        step.expected("the states that take this branch", "if")
    return frozenset(codes)


def _next(
    step: Part,
    number: int,
    nodes: int,
    count: int,
    inner: Context,
    regions: dict[int, Context],
    contexts: dict[int, Context],
) -> int:
    """Return where a branch leads, and keep what is known there."""
    if ("node" in step.value) == ("row" in step.value):
        step.fail("a branch has either a node or a row")
    if "node" in step.value:
        target = step.at("node").whole("the number of a node further down", number + 1, nodes - 1)
        if target in regions:
            step.fail("a second branch to this node", "node")
        regions[target] = inner
        return target
    row = step.at("row").whole("the number of a row", 0, count - 1)
    if row in contexts:
        step.fail("a second branch to this row", "row")
    contexts[row] = inner
    return ~row
