"""Every result says what it is in plain Python objects, which JSON takes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import pgm


@pytest.fixture(scope="module")
def net() -> pgm.BayesianNetwork:
    made = pgm.BayesianNetwork()
    made.add("cloudy", {"no": 0.5, "yes": 0.5})
    made.add("sprinkler", {"yes": [0.9, 0.1], "no": [0.5, 0.5]}, parents=["cloudy"], states=["off", "on"])
    made.add("rain", {"yes": [0.2, 0.8], "no": [0.9, 0.1]}, parents=["cloudy"], states=["no", "yes"])
    rows = {("yes", "on"): 0.99, ("yes", "off"): 0.9, ("no", "on"): 0.9, ("no", "off"): 0.1}
    made.add("wet", rows, parents=["rain", "sprinkler"])
    return made


def through_json(result: Any) -> Any:
    return json.loads(json.dumps(result.to_dict()))


@pytest.mark.parametrize(
    "engine",
    ["auto", "exact", "elimination", "loopy", "bounds", "mean-field", "gibbs", "likelihood-weighting"],
)
def test_answers_of_every_engine(net, engine):
    found = net.query("rain", {"wet": True}, engine=engine)
    assert through_json(found) == {state: found[state] for state in ("no", "yes")}
    report = through_json(found.report)
    assert report["engine"] == found.report.engine
    assert report["exact"] is found.exact
    assert ("effective_sample_size" in report) == (found.report.effective_sample_size is not None)
    marginals = net.marginals({"wet": True}, engine=engine)
    assert set(through_json(marginals)) == {"cloudy", "sprinkler", "rain"}
    through_json(marginals.report)


def test_probabilities(net):
    p = net.probability({"wet": True})
    assert through_json(p) == {"value": float(p), "log": float(p.log)}
    assert through_json(p.log) == {"log": float(p.log)}
    assert through_json(net.log_probability({"wet": True})) == through_json(p.log)


def test_explanations_and_samples(net):
    best = net.map({"wet": True})
    assert through_json(best) == dict(best)
    several = net.k_best({"wet": True}, k=3)
    assert list(map(through_json, several)) == list(map(dict, several))
    drawn = net.sample(5, seed=0)
    assert through_json(drawn) == {name: column.tolist() for name, column in drawn.items()}
    assert drawn.to_pandas().equals(type(drawn.to_pandas())(drawn.to_dict()))


def test_densities():
    made = pgm.BayesianNetwork()
    made.add("x", pgm.Gaussian(1.0, sd=2.0))
    made.add("y", pgm.LinearGaussian({"x": 2.0}, sd=0.5))
    made.add("high", pgm.Logistic({"x": 1.0}))
    assert through_json(made.query("y")) == {"mean": pytest.approx(2.0), "sd": pytest.approx(16.25**0.5)}
    assert set(through_json(made.query(["x", "y"]))) == {"names", "mean", "covariance"}
    del made
    mixed = pgm.BayesianNetwork()
    mixed.add("side", {"left": 0.3, "right": 0.7})
    mixed.add("x", {"left": pgm.Gaussian(-1, sd=1), "right": pgm.Gaussian(1, sd=1)}, parents=["side"])
    assert set(through_json(mixed.marginals({}))) == {"side", "x"}
    assert set(through_json(mixed.map({"x": 0.5}))) == {"side"}
    assert set(through_json(mixed.query("side", {"x": 0.5}))) == {"left", "right"}


def test_plans(net):
    plan = net.plan("rain", {"wet": True})
    found = through_json(plan)
    assert found["largest"] == list(plan.largest)
    assert found["fits"] is True
    assert found["bytes"] == plan.bytes


def test_junction_trees(net):
    tree = net.junction_tree()
    found = through_json(tree)
    assert found["cliques"] == [list(clique) for clique in tree.cliques]
    assert len(found["separators"]) == len(found["edges"]) == len(tree.cliques) - 1
    assert found["width"] == 2


def test_bounds_are_lists(net):
    report = net.query("rain", {"wet": True}, engine="bounds").report
    low, high = report.to_dict()["intervals"]["low"], report.to_dict()["intervals"]["high"]
    assert np.all(np.array(low) <= high)
