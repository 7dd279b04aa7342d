"""The contract page, shared/design/api.md, statement by statement: it works, or is in one list with a reason.

The list only shrinks: a statement on it that starts to work fails the test until it is taken off.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pgm

PAGE = Path(__file__).parents[1].parent / "shared" / "design" / "api.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the contract page is not beside this checkout")

DISTRIBUTIONS = "issue: Local distributions and approximate inference"
CAUSES = "causal and diagnostic questions come after the foundation"

# How a statement starts -> why it does not work yet.
NOT_BUILT = {}


@dataclass(frozen=True)
class Step:
    """What one statement of the page did."""

    line: int
    source: str  # normalised: one line, single quotes
    value: object = None
    error: BaseException | None = None

    def __str__(self) -> str:
        return f"api.md line {self.line}: {self.source}"

    @property
    def reason(self) -> str | None:
        """Why this statement need not work yet."""
        return next((why for start, why in NOT_BUILT.items() if self.source.startswith(start)), None)


def statements(text: str) -> Iterator[tuple[int, ast.stmt]]:
    for block in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        before = text.count("\n", 0, block.start(1))
        for statement in ast.parse(block[1]).body:
            yield before + statement.lineno, statement


def run_page() -> list[Step]:
    """Run every statement after those above it, in one namespace."""
    names: dict[str, object] = {"np": np, "pgm": pgm}
    steps = []
    for line, statement in statements(PAGE.read_text(encoding="utf-8")):
        source = ast.unparse(statement)
        value = error = None
        try:
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), "api.md", "eval"), names)
            else:
                exec(compile(ast.Module([statement], []), "api.md", "exec"), names)
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                    value = names[statement.targets[0].id]
        except Exception as raised:
            error = raised
        steps.append(Step(line, source, value, error))
    return steps


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> list[Step]:
    here = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("page"))  # the page writes files
    try:
        return run_page()
    finally:
        os.chdir(here)


def test_what_is_built_runs_as_written(steps: list[Step]) -> None:
    broken = [f"{s}\n    {type(s.error).__name__}: {s.error}" for s in steps if s.error and not s.reason]
    assert not broken, "\n" + "\n".join(broken)


def test_the_list_of_what_is_not_built_only_shrinks(steps: list[Step]) -> None:
    works = [str(s) for s in steps if s.reason and s.error is None]
    assert not works, "these work now, take them off the list NOT_BUILT:\n" + "\n".join(works)
    unused = [start for start in NOT_BUILT if not any(s.source.startswith(start) for s in steps)]
    assert not unused, f"no statement of the page starts like this: {unused}"


# --- the numbers behind the `#` --------------------------------------------------------------------------


def near(printed: str) -> object:
    """Return what equals a number to the digits that are printed."""
    digits = len(printed.partition(".")[2])
    return pytest.approx(float(printed), abs=0.5000001 * 10**-digits, rel=0)


Check = Callable[[Any], bool]

# How a statement starts -> what its comment says about its value.
NUMBERS: dict[str, Check] = {
    "(net.variables['rain'].states": lambda v: v == ((False, True), ("rain", "sprinkler")),
    "p = net.query('rain', {'wet': True})": lambda v: v[True] == near("0.626871") and v.exact is True,
    "(p[True], p.mode(), p.entropy()": lambda v: (
        v[0] == near("0.626871") and v[1] is True and v[2] == near("0.660600") and v[4] is True
    ),
    "j = net.query(['rain', 'sprinkler']": lambda v: (
        v[True, False] == v[{"sprinkler": False, "rain": True}] and v.names == ("rain", "sprinkler")
    ),
    "net.marginals({'wet': True})": lambda v: (
        set(v) == {"cloudy", "sprinkler", "rain"} and v["rain"][True] == near("0.626871")
    ),
    "net.probability({'wet': True})": lambda v: v == near("0.65125") and v.exact is True,
    "net.probability({'rain': True}, given=": lambda v: v == near("0.225984"),
    "(best.probability, best.log_probability": lambda v: (
        v[0] == near("0.497505") and v[1] == pytest.approx(np.log(v[0])) and v[2] == near("-1.127012")
    ),
    "net.map({'wet': True}, targets='rain')": lambda v: dict(v) == {"rain": True},
    "net.k_best(": lambda v: isinstance(v, list) and len(v) == 3,
    "net.sample(1000, given=": lambda v: set(v["wet"].tolist()) == {True} and len(v["rain"]) == 1000,
    "net.do({'sprinkler': True})": lambda v: v[True] == near("0.9225"),
    "net.adjustment_sets(": lambda v: v == [{"cloudy"}, {"rain"}],
    "net.independent(": lambda v: v is True,
    "net.explain(": lambda v: (
        v.before == near("0.45") and v.without == {"sprinkler": near("0.626871"), "wet": near("0.216667")}
    ),
    "net.informative(": lambda v: next(iter(v.items())) == ("cloudy", near("0.359118")),
    "net.sensitivity(": lambda v: (
        [c.derivative for c in v] == sorted((c.derivative for c in v), key=abs, reverse=True)
        and v["wet"][0, 0, 1] == near("-0.303208")
    ),
    "mrf.log_partition()": lambda v: v == near("3.091042"),
    "mrf.log_partition({'b': 'red'})": lambda v: v == near("2.397895"),
    "mrf.query('a'": lambda v: v["red"] == near("0.909091"),
    "grid.map()": lambda v: v.tolist() == [[1, 1, 0, 0]] * 4,
    "hmm.decode(seq).path": lambda v: v == ("u", "u", "w", "w", "w"),
    "lds.score(": lambda v: v == near("-7.346238"),
    "policy.expected_utility": lambda v: v == near("2.6"),
    "policy.decide(": lambda v: v is True,
    "d.value_of_information(": lambda v: v == near("5.4"),
}


@pytest.mark.parametrize("start", NUMBERS)
def test_the_numbers_are_as_printed(steps: list[Step], start: str) -> None:
    found = [s for s in steps if s.source.startswith(start)]
    assert found, f"the page has no statement that starts with {start}"
    for step in found:
        if step.reason:
            assert step.error is not None
        elif step.error is None:  # else the first test says so
            assert NUMBERS[start](step.value), f"{step}\n    is {step.value!r}"


def test_seen_is_not_done() -> None:
    """The comment beside `do` gives the other number too."""
    net = pgm.BayesianNetwork()
    net.add("cloudy", 0.5)
    net.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    net.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    rows = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}
    net.add("wet", rows, parents=["rain", "sprinkler"])
    assert net.query("wet", {"sprinkler": True})[True] == near("0.910833")
