"""The nodes of a decision tree, the regions that lead to them, and how a file lists them, however deep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pgm.distributions.parts import Part
from pgm.errors import shown
from pgm.variables import Variable

from .table_input import Array, checked

Context = dict[int, frozenset[int]]  # for some parents the codes they may have

_FLOATS_PER_STEP = 50  # memory of a branch, in floats


class TreeNode(NamedTuple):
    """A node of a tree that tests a parent."""

    parent: int  # its position among the parents
    branch: npt.NDArray[np.int64]  # for each of its states the next node, or ~leaf

    def ways(self) -> dict[int, frozenset[int]]:
        """For each node or leaf that comes next, the states that lead there."""
        found: dict[int, list[int]] = {}
        for code, target in enumerate(self.branch.tolist()):
            if target:  # nothing leads back to the root, so 0 marks states that no path comes with
                found.setdefault(target, []).append(code)
        return {target: frozenset(codes) for target, codes in found.items()}


class Region:
    """The states that the parents may have at the current node of a walk down a tree."""

    def __init__(self) -> None:
        self.context: Context = {}
        self.trail: list[tuple[int, frozenset[int] | None]] = []  # what was known before each step

    def enter(self, depth: int, i: int, codes: frozenset[int]) -> None:
        """Go back up to this depth, and down again with these states of parent i (-1: of none)."""
        while len(self.trail) > depth:
            before, known = self.trail.pop()
            if known is None:
                del self.context[before]
            else:
                self.context[before] = known
        if i >= 0:
            self.trail.append((i, self.context.get(i)))
            self.context[i] = codes


# --- in files -----------------------------------------------------------------------------------------------


def write_tree(
    nodes: Sequence[TreeNode], rows: Array, given: Sequence[Variable], state: Callable[[Any, str], Any]
) -> dict[str, Any]:
    """Return the nodes: which parent each one tests, and the next node or row for each of its states."""
    found = []
    for node in nodes:
        v = given[node.parent]
        ways = {
            target: [state(v.states[code], v.name) for code in sorted(codes)]
            for target, codes in node.ways().items()
        }
        branches = [
            {"if": states, "node": target} if target > 0 else {"if": states, "row": ~target}
            for target, states in ways.items()
        ]
        found.append({"ask": v.name, "branches": branches})
    return {"nodes": found, "rows": rows.tolist()}


def read_tree(part: Part, child: Variable, given: tuple[Variable, ...]) -> tuple[tuple[TreeNode, ...], Array]:
    """Return nodes and rows; a node comes before those below it and is reached in exactly one way."""
    part.members("a tree", ["nodes", "rows"])
    nodes, count = (
        part.at("nodes").elements("a list of nodes"),
        len(part.at("rows").elements("a list of rows")),
    )
    if not count:
        part.expected("at least one row", "rows")
    values = part.at("rows").rows(count, child.card, "the rows")
    place = {v.name: i for i, v in enumerate(given)}
    made: dict[int, TreeNode] = {}
    reached: set[int] = set()  # rows, and nodes as ~index
    if not nodes and count == 1:
        reached.add(0)
    region = Region()
    waiting: list[tuple[int, int, frozenset[int], int]] = [(0, -1, frozenset(), 0)] if nodes else []
    while waiting:
        depth, asked, codes, index = waiting.pop()
        region.enter(depth, asked, codes)
        node = part.at("nodes", index)
        node.members("a node of a tree", ["ask", "branches"])
        name = node.at("ask").text("the name of a parent")
        if name not in place:
            node.fail(f"{shown(name)} is not a parent of {shown(child.name)}", "ask")
        i = place[name]
        left = set(region.context.get(i, range(given[i].card)))
        branch = np.zeros(given[i].card, dtype=np.int64)
        ways = []
        for way in range(len(node.at("branches").elements("a list of branches"))):
            step = node.at("branches", way)
            codes = _codes(step, given[i], left)
            part.take(_FLOATS_PER_STEP + len(codes), f"the tree of {shown(child.name)}")
            target = _next(step, index, len(nodes), count, reached)
            branch[list(codes)] = target
            if target >= 0:
                narrower = i if len(codes) < given[i].card else -1
                ways.append((len(region.trail), narrower, codes, target))
        if left:
            states = [given[i].states[code] for code in sorted(left)]
            node.fail(f"no branch for {shown(name)} = {shown(states[0])}")
        waiting += reversed(ways)
        made[index] = TreeNode(i, branch)
    if len(made) < len(nodes):
        part.fail(
            "no node before this one leads to it",
            "nodes",
            next(n for n in range(len(nodes)) if n not in made),
        )
    if unreached := [n for n in range(count) if n not in reached]:
        part.fail("no node leads to this row", "rows", unreached[0])
    rows = checked(child, (Variable("row", range(count)),), values)
    return tuple([made[index] for index in range(len(nodes))]), rows


def _codes(step: Part, v: Variable, left: set[int]) -> frozenset[int]:
    """Return the states of a branch, and remove them from those that are left."""
    found = step.members("a branch", ["if"], ["node", "row"])["if"]
    codes = set()
    for i in range(len(step.at("if").elements("a list of states"))):
        code = v.code(step.at("if", i).state())
        if code not in left:
            step.fail(
                f"{shown(v.name)} = {shown(v.states[code])} cannot reach this branch, or is listed twice",
                "if",
                i,
            )
        left.discard(code)
        codes.add(code)
    if not found:
        step.expected("the states that take this branch", "if")
    return frozenset(codes)


def _next(step: Part, index: int, nodes: int, count: int, reached: set[int]) -> int:
    """Return where a branch of the node at `index` leads, and record it as reached."""
    if ("node" in step.value) == ("row" in step.value):
        step.fail("a branch has either a node or a row")
    if "node" in step.value:
        target = step.at("node").whole("the index of a node further down", index + 1, nodes - 1)
        if ~target in reached:
            step.fail("a second branch to this node", "node")
        reached.add(~target)
        return target
    row = step.at("row").whole("the index of a row", 0, count - 1)
    if row in reached:
        step.fail("a second branch to this row", "row")
    reached.add(row)
    return ~row
