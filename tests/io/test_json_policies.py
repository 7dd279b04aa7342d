"""Policies in JSON: kept with their diagram, to the last bit, and what is refused."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import pgm
from tests.decision_oracle import random_diagram
from tests.models.test_influence_diagram import clinic, oil

ROOT = Path(__file__).parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/schema/pgm-2.json").read_text()))


def written(policy: pgm.Policy) -> str:
    file = io.StringIO()
    pgm.write(policy, file, format="json")
    return file.getvalue()


def read(text: str) -> Any:
    return pgm.read(io.StringIO(text), format="json")


@pytest.mark.parametrize("seed", range(15))
def test_policies_come_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = random_diagram(rng, chances=3, decisions=1 + seed % 2, combine="product" if seed % 4 == 0 else "sum")
    d.name, d.memory = "a <name>", "limited" if seed % 5 == 1 else "full"
    policy = d.solve()
    text = written(policy)
    SCHEMA.validate(json.loads(text))
    again = read(text)
    assert written(again) == text
    assert (again.to_dict(), again.expected_utility) == (policy.to_dict(), policy.expected_utility)
    assert d.evaluate(again) == pytest.approx(policy.expected_utility, abs=1e-12)
    assert all(again[name] == policy[name] for name in policy)
    assert again.simulate(5, seed=1).to_dict() == policy.simulate(5, seed=1).to_dict()


def test_the_past_and_the_attitude_are_kept() -> None:
    d = oil()
    given = {"test?": "yes", "oil": pgm.Likelihood({"dry": 0.5, "wet": 1.0, "soaking": 1.0})}
    policy = d.solve(given, risk=pgm.ExponentialUtility(tolerance=200))
    again = read(written(policy))
    assert again.certainty_equivalent == policy.certainty_equivalent
    assert again.to_dict() == policy.to_dict()
    assert again.decisions == ("drill",)


def test_what_is_not_proven_says_so() -> None:
    policy = clinic().solve()
    report = pgm.Report("single policy updating", exact=False, error=1.0, value=2.6, bound=3.6, gap=1.0)
    again = read(written(policy.with_report(report)))
    assert not again.exact
    assert (again.report.bound, again.report.gap) == (3.6, pytest.approx(1.0))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["rules", 0, "actions"], [0], "one action for each of 2 cases expected, found 1"),
        (["rules", 0, "actions"], [0, 2], "a whole number 0 to 1"),
        (["rules", 0, "worth"], [0], "4 numbers expected"),
        (["rules", 0, "worth"], [0, 1, 0, None], "not allowed"),
        (["rules", 0, "given"], ["disease"], "'disease' is not known when 'treat' is decided"),
        (["rules", 0, "decision"], "tret", "Did you mean 'treat'"),
        (["rules"], [], "no rule for the decision 'treat'"),
        (["value"], "much", "the expected utility"),
        (["tolerance"], -1, "positive number"),
        (["given"], [{"name": "tets", "state": 0}], "Did you mean 'test'"),
        (["given"], [{"name": "test", "state": 2}], "place of a state"),
        (["given"], [{"name": "test"}], 'either "state" or "weights"'),
        (["given"], [{"name": "treat", "state": 0}], "a second rule of 'treat', or one of a decision"),
    ],
)
def test_broken_files_are_refused(path: list[Any], value: Any, message: str) -> None:
    whole = json.loads(written(clinic().solve()))
    part = whole["policy"]
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    with pytest.raises(pgm.FileFormatError, match=message):
        read(json.dumps(whole))
