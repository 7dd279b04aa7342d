"""What was learned with a prior, in JSON: posteriors and further rows go on after reading."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import pgm

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "docs/schema/pgm-2.json").read_text(encoding="utf-8"))
)
RNG = np.random.default_rng(0)
ROWS: dict[str, Any] = {
    "rain": RNG.random(60) < 0.3,
    "tone": np.array(["calm", "loud", "odd"])[RNG.integers(0, 3, 60)],
    "mm": RNG.normal(size=60),
}
ROWS["wet"] = ROWS["rain"] ^ (RNG.random(60) < 0.2)
EDGES = "rain -> wet <- tone; wet -> mm"


def again(net: pgm.BayesianNetwork) -> pgm.BayesianNetwork:
    file = io.StringIO()
    pgm.write(net, file, format="json")
    SCHEMA.validate(json.loads(file.getvalue()))
    made = pgm.read(io.StringIO(file.getvalue()), format="json")
    assert made == net
    twice = io.StringIO()
    pgm.write(made, twice, format="json")
    assert twice.getvalue() == file.getvalue()
    return made


@pytest.mark.parametrize(
    "options",
    [
        {"prior": "bdeu"},
        {"prior": {...: "laplace", "mm": pgm.priors.NormalGamma(0, 1, 2, 2)}},
        {"prior": {"mm": pgm.priors.Normal(0, 1), "wet": pgm.priors.Dirichlet([1.0, 3.0])}},
        {"prior": pgm.priors.Laplace(2), "estimate": "mode", "fixed": []},
    ],
)
def test_posteriors_and_more_rows_go_on(options: dict[str, Any]) -> None:
    net = pgm.BayesianNetwork(edges=EDGES).fit(ROWS, **options)
    made = again(net)
    for name in net.nodes:
        prior = options["prior"]
        if isinstance(prior, dict) and name not in prior and ... not in prior:
            with pytest.raises(pgm.InvalidArgument, match="no posterior of"):
                made.posterior(name)
            continue
        if name == "mm" and "Normal" not in repr(prior):
            continue  # these priors say nothing about numbers
        mine = net.posterior(name)
        theirs = made.posterior(name)
        assert repr(theirs) == repr(mine)
        if name == "wet":
            np.testing.assert_array_equal(theirs.alpha, mine.alpha)
    more = {name: column[:10] for name, column in ROWS.items()}
    assert made.partial_fit(more, forget=0.25) == net.partial_fit(more, forget=0.25)


def test_fixed_rows_ties_and_hidden_nodes_are_kept() -> None:
    net = pgm.BayesianNetwork(edges="h -> a; h -> b")
    net.set("h", {0: 0.4, 1: 0.6})
    net.set("a", {0: 0.1, 1: 0.8})
    net.set("b", {0: 0.1, 1: 0.8})
    rows = {"a": RNG.random(40) < 0.5, "b": RNG.random(40) < 0.5}
    net.fit(rows, prior="laplace", tied=[["a", "b"]], latent=["h"], fixed=["h"], max_iter=5)
    made = again(net)
    np.testing.assert_array_equal(made.posterior("a").alpha, net.posterior("a").alpha)
    assert made.partial_fit(rows) == net.partial_fit(rows)


def test_without_a_prior_a_file_is_as_before() -> None:
    for net in (pgm.load_network("asia"), pgm.BayesianNetwork(edges=EDGES).fit(ROWS)):
        file = io.StringIO()
        pgm.write(net, file, format="json")
        assert json.loads(file.getvalue())["pgm"] == 1
    changed = pgm.BayesianNetwork(edges="rain -> wet").fit(ROWS, prior="bdeu")
    changed.set("rain", 0.5)
    made = again(changed)
    np.testing.assert_array_equal(made.posterior("wet").alpha, changed.posterior("wet").alpha)
    with pytest.raises(pgm.InvalidArgument, match="no posterior of 'rain'"):
        made.posterior("rain")


WRONG: list[tuple[tuple[Any, ...], Any, str]] = [
    (("pgm",), 1, "of version 2"),
    (("learned", "rows"), -1, "how many rows"),
    (("learned", "nodes", "wet", "counts"), [[1.0]], "lists expected"),
    (("learned", "nodes", "wet", "added"), "x", "pseudo-counts, a number"),
    (
        ("learned", "nodes", "wet", "prior"),
        {"normal": {"mean": 0, "sd": 1, "noise": 1}},
        "not a prior of this node",
    ),
    (("learned", "nodes", "wet", "fixed"), [True], "for each row of the table"),
    (("learned", "nodes"), {"wett": {}}, "Did you mean 'wet'"),
    (("learned", "hidden"), ["q"], "no node 'q'"),
    (("learned", "tied"), [["wet", "q"]], "not a node that is tied"),
    (("learned", "tied"), [["wet", "rain"]], "other states"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_does_not_fit_is_refused(number: int) -> None:
    path, value, words = WRONG[number]
    file = io.StringIO()
    pgm.write(pgm.BayesianNetwork(edges=EDGES).fit(ROWS, prior="bdeu"), file, format="json")
    body = json.loads(file.getvalue())
    at = body
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    with pytest.raises(pgm.FileFormatError, match=words):
        pgm.read(io.StringIO(json.dumps(body, indent=1)), format="json")
