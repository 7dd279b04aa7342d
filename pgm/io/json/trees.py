"""Decision trees in JSON: a list of nodes and a list of rows, however deep the tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.cpds import TreeCPD, table_input
from pgm.cpds.tree import Region, TreeNode
from pgm.errors import shown
from pgm.variables import Variable

from .parts import Part
from .states import read_state, write_state

_NUMBERS_A_STEP = 50  # what a branch takes


def write_tree(cpd: TreeCPD) -> dict[str, Any]:
    """Return the nodes: which parent is asked, and for which of its states which node or row comes next."""
    nodes = []
    for node in cpd._nodes:
        v = cpd.given[node.parent]
        ways = {
            target: [write_state(v.states[code], v.name) for code in sorted(codes)]
            for target, codes in node.ways().items()
        }
        branches = [
            {"if": states, "node": target} if target > 0 else {"if": states, "row": ~target}
            for target, states in ways.items()
        ]
        nodes.append({"ask": v.name, "branches": branches})
    return {"nodes": nodes, "rows": cpd._rows.tolist()}


def read_tree(part: Part, child: Variable, given: tuple[Variable, ...]) -> TreeCPD:
    """Return the tree, whose nodes stand before those below them and are each reached in one way."""
    part.members("a tree", ["nodes", "rows"])
    nodes, count = (
        part.at("nodes").elements("a list of nodes"),
        len(part.at("rows").elements("a list of rows")),
    )
    if not count:
        part.expected("a row at least", "rows")
    values = part.at("rows").rows(count, child.card, "the rows")
    place = {v.name: i for i, v in enumerate(given)}
    made: dict[int, TreeNode] = {}
    reached: set[int] = set()  # rows, and nodes as ~number
    if not nodes and count == 1:
        reached.add(0)
    region = Region()
    waiting: list[tuple[int, int, frozenset[int], int]] = [(0, -1, frozenset(), 0)] if nodes else []
    while waiting:
        depth, asked, codes, number = waiting.pop()
        region.enter(depth, asked, codes)
        node = part.at("nodes", number)
        node.members("a node of a tree", ["ask", "branches"])
        name = node.at("ask").text("the name of a parent")
        if name not in place:
            node.fail(f"{shown(name)} is no parent of {shown(child.name)}", "ask")
        i = place[name]
        left = set(region.context.get(i, range(given[i].card)))
        branch = np.zeros(given[i].card, dtype=np.int64)
        ways = []
        for way in range(len(node.at("branches").elements("a list of branches"))):
            step = node.at("branches", way)
            codes = _codes(step, given[i], left)
            part.budget.take(_NUMBERS_A_STEP + len(codes), f"the tree of {shown(child.name)}")
            target = _next(step, number, len(nodes), count, reached)
            branch[list(codes)] = target
            if target >= 0:
                narrower = i if len(codes) < given[i].card else -1
                ways.append((len(region.trail), narrower, codes, target))
        if left:
            states = [given[i].states[code] for code in sorted(left)]
            node.fail(f"no branch for {shown(name)} = {shown(states[0])}")
        waiting += reversed(ways)
        made[number] = TreeNode(i, branch)
    if len(made) < len(nodes):
        part.fail(
            "no node before this one leads to it",
            "nodes",
            next(n for n in range(len(nodes)) if n not in made),
        )
    if unreached := [n for n in range(count) if n not in reached]:
        part.fail("no node leads to this row", "rows", unreached[0])
    rows = table_input.checked(child, (Variable("row", range(count)),), values)
    in_order = tuple([made[number] for number in range(len(nodes))])
    return TreeCPD.__new__(TreeCPD)._made(child, given, in_order, rows)


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


def _next(step: Part, number: int, nodes: int, count: int, reached: set[int]) -> int:
    """Return where a branch leads, and keep that it does."""
    if ("node" in step.value) == ("row" in step.value):
        step.fail("a branch has either a node or a row")
    if "node" in step.value:
        target = step.at("node").whole("the number of a node further down", number + 1, nodes - 1)
        if ~target in reached:
            step.fail("a second branch to this node", "node")
        reached.add(~target)
        return target
    row = step.at("row").whole("the number of a row", 0, count - 1)
    if row in reached:
        step.fail("a second branch to this row", "row")
    reached.add(row)
    return ~row
