"""How odd rows and cells are, against the joint distribution."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import pgm
from tests.insight.enumeration import Joint, random_network
from tests.insight.test_sensitivity import gates


def minus_log(p: float) -> float:
    return math.inf if p == 0 else -math.log(p)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("gaps", [False, True])
def test_every_cell_given_the_rest_of_its_row(seed: int, gaps: bool) -> None:
    net = random_network(seed, 5, zeros=0.3)
    joint, rng = Joint(net), np.random.default_rng(seed)
    frame: dict[str, list[Any]] = {n: [] for n in net}
    for _ in range(12):
        for name in net:
            states = net.variables[name].states
            frame[name].append(None if gaps and rng.random() < 0.3 else states[rng.integers(len(states))])
    found = net.surprise(frame)
    for row in range(12):
        known = {n: frame[n][row] for n in net if frame[n][row] is not None}
        whole = joint.probability(known)
        assert found.rows[row] == pytest.approx(minus_log(whole), abs=1e-10)
        for name in net:
            cell = found.cells[name][row]
            rest = joint.probability({n: s for n, s in known.items() if n != name})
            if name not in known or rest == 0:
                assert np.isnan(cell)
            else:
                assert cell == pytest.approx(minus_log(whole / rest), abs=1e-9)
    sizes = [cell.surprise for cell in found.oddest]
    assert sizes == sorted(sizes, reverse=True)
    for cell in found.oddest[:5]:
        known = {n: frame[n][cell.row] for n in net if frame[n][cell.row] is not None and n != cell.name}
        assert cell.value == frame[cell.name][cell.row]
        best = joint.posterior(cell.name, known)
        assert best[net.variables[cell.name].code(cell.likely)] == pytest.approx(best.max())


def test_gates_and_densities() -> None:
    net = gates()
    frame = {"or": [True, False], "a": [True, None], "x": [1.3, 0.2], "y": [0.5, 4.0]}
    found = net.surprise(frame)
    for row in range(2):
        known = {n: v[row] for n, v in frame.items() if v[row] is not None}
        whole = net.log_probability(known)
        assert found.rows[row] == pytest.approx(-whole)
        for name in known:
            rest = net.log_probability({n: v for n, v in known.items() if n != name})
            assert found.cells[name][row] == pytest.approx(rest - whole)
    assert np.isnan(found.cells["a"][1])
    gated = pgm.BayesianNetwork()
    gated.add("a", 0.3)
    gated.add("b", 0.2)
    gated.add("or", pgm.NoisyOr({"a": 0.9, "b": 0.8}, leak=0.05))
    rows = {"a": [True, False], "b": [False, True], "or": [False, False]}
    joint = Joint(gated)
    cells = gated.surprise(rows).cells["or"]
    wanted = [joint.posterior("or", {"a": a, "b": b})[0] for a, b in zip(rows["a"], rows["b"], strict=True)]
    assert cells == pytest.approx(-np.log(wanted))


def test_undirected_sums_do_not_matter() -> None:
    """The rows of a network, of which one variable is left out, are those of what is left."""
    net = pgm.load_network("asia")
    rows = {n: list(v) for n, v in net.sample(20, seed=3).items() if n != "either"}
    found = net.surprise(rows)
    assert -found.rows == pytest.approx(net.log_likelihood(rows), abs=1e-10)
    less = {n: v for n, v in rows.items() if n != "xray"}
    wanted = net.log_likelihood(less) - net.log_likelihood(rows)
    assert found.cells["xray"] == pytest.approx(wanted, abs=1e-10)


def test_limits_hold_their_rate_of_false_alarms() -> None:
    net = pgm.load_network("asia")
    fresh = {n: list(v) for n, v in net.sample(20_000, seed=5).items()}
    found = net.surprise(fresh, rate=0.02, seed=1)
    assert float((found.rows > found.row_limit).mean()) == pytest.approx(0.02, abs=0.008)
    worst = np.max(list(found.cells.values()), axis=0)
    assert float((worst > found.cell_limit).mean()) <= 0.028
    assert found.alarms.sum() >= (found.rows > found.row_limit).sum()
    assert "rows are odd" in repr(found)


def test_results_print_pickle_and_draw() -> None:
    net = pgm.load_network("asia")
    found = net.surprise({n: list(v) for n, v in net.sample(30, seed=3).items()})
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)
    assert "<table" in found._repr_html_()
    assert list(found.to_pandas().columns) == [*net, "row"]
    assert list(found.rows[found.ranked]) == sorted(found.rows, reverse=True)
    assert not found.alarms.any()
    assert found.plot(count=5).get_title()
    with pytest.raises(pgm.InvalidArgument, match="rate= is a share of false alarms"):
        net.surprise({"smoke": ["yes"]}, rate=2)
    with pytest.raises(pgm.UnknownState):
        net.surprise({"smoke": ["maybe"]})
