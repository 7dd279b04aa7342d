"""Rows for some configurations of the parents and one for all others: what they say, and what they take."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import time

import numpy as np
import pytest

import pgm
from tests.machine import slowness

PARENTS = [f"x{i}" for i in range(25)]
CHANCE = [0.1 + 0.03 * i for i in range(25)]


def wide(rows: int, seed: int = 0) -> tuple[pgm.BayesianNetwork, dict[tuple[bool, ...], float]]:
    """25 causes, and P(y = True) for so many of their 2**25 configurations; 0.25 for the others."""
    rng = np.random.default_rng(seed)
    listed: dict[tuple[bool, ...], float] = {}
    while len(listed) < rows:  # near each other, and likely, so that they matter
        listed[tuple(bool(rng.random() < p**4 / (p**4 + (1 - p) ** 4)) for p in CHANCE)] = rng.random()
    net = pgm.BayesianNetwork()
    for name, p in zip(PARENTS, CHANCE, strict=True):
        net.add(name, p)
    net.add("y", pgm.DefaultCPD(PARENTS, {**listed, ...: 0.25}))
    return net, listed


def weight(key: tuple[bool, ...], given: dict[str, bool]) -> float:
    """P(key | given), the causes being independent."""
    parts = zip(PARENTS, CHANCE, key, strict=True)
    return math.prod(float(given[n] == on) if n in given else p if on else 1 - p for n, p, on in parts)


@pytest.mark.parametrize("rows", [0, 1, 20, 300])
def test_posteriors_of_a_wide_one_are_sums_over_its_rows(rows):
    net, listed = wide(rows)
    for given in (
        {},
        {"x0": True},
        dict(zip(PARENTS[3:20], next(iter(listed), (True,) * 25)[3:], strict=False)),
    ):
        more = sum(weight(key, given) * (p - 0.25) for key, p in listed.items())
        assert net.query("y", given)[True] == pytest.approx(0.25 + more, abs=1e-13)
        name = "x24"
        own = sum(weight(key, given) * (p - 0.25) for key, p in listed.items() if key[24])
        both = own + 0.25 * CHANCE[24]
        assert net.query(name, {**given, "y": True})[True] == pytest.approx(both / (0.25 + more), abs=1e-13)


def test_the_most_probable_explanation_of_a_wide_one():
    net, listed = wide(50)
    usual = tuple(p > 0.5 for p in CHANCE)
    best = max([*listed, usual], key=lambda key: weight(key, {}) * listed.get(key, 0.25))
    found = net.map({"y": True})
    assert tuple(found[name] for name in PARENTS) == best
    assert found.log_joint == pytest.approx(math.log(weight(best, {}) * listed.get(best, 0.25)), abs=1e-10)


def test_it_takes_time_and_room_for_its_rows_alone():
    names = [f"x{i}" for i in range(3_000)]
    net = pgm.BayesianNetwork()
    for name in names:
        net.add(name, 0.5)
    begun = time.thread_time()
    on = (True,) * 3_000
    with pgm.config(memory_limit="100 MB"):
        net.add("y", pgm.DefaultCPD(names, {on: 0.9, (*on[1:], False): 0.8, ...: 0.1}))
        assert net.query("y", dict.fromkeys(names, True))[True] == 0.9
        assert net.query("y")[True] == pytest.approx(0.1)
        cpd = net.cpd("y")
        assert cpd == copy.deepcopy(cpd) == pickle.loads(pickle.dumps(cpd))
        assert cpd.n_parameters == 3
        with pytest.raises(pgm.TooLarge, match="'y'"):
            cpd.table()
    assert time.thread_time() - begun < 5 * slowness()


def test_it_equals_what_says_the_same():
    net = pgm.BayesianNetwork()
    net.add("a", [0.2, 0.3, 0.5], states=["p", "q", "r"])
    net.add("b", 0.5)
    other = net.copy()
    rows = {("p", True): 0.9, ("r", False): 0.3}
    net.add("y", pgm.DefaultCPD(["a", "b"], {**rows, ...: 0.2}))
    listed = {key: rows.get(key, 0.2) for key in itertools.product("pqr", [False, True])}
    for same in (
        pgm.DefaultCPD(["a", "b"], {**dict(reversed(rows.items())), ...: 0.2}),
        pgm.DefaultCPD(["b", "a"], {(b, a): p for (a, b), p in rows.items()} | {...: 0.2}),
        pgm.DefaultCPD(["a", "b"], {**rows, ("q", True): 0.2, ...: 0.2}),
    ):
        made = other.copy()
        made.add("y", same)
        assert made.cpd("y") == net.cpd("y")
    for table in (listed, {key: p for key, p in listed.items() if key != ("q", True)} | {...: 0.2}):
        made = other.copy()
        made.add("y", table, parents=["a", "b"])
        assert made.cpd("y") == net.cpd("y")
        assert net.cpd("y") == made.cpd("y")
    made = other.copy()
    made.add("y", {**listed, ("q", True): 0.21}, parents=["a", "b"])
    assert made.cpd("y") != net.cpd("y")
    assert (
        pgm.DefaultCPD("a", {...: 0.5})
        == pgm.DefaultCPD(["a"], {...: 0.5})
        != pgm.DefaultCPD("b", {...: 0.5})
    )
    again = other.copy()
    again.add("y", pgm.DefaultCPD(["a", "b"], net.cpd("y").to_dict()))
    assert again == net


def test_it_prints_its_rows_and_then_all_others():
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("b", 0.5)
    net.add("y", pgm.DefaultCPD(["a", "b"], {(True, True): 0.9, ...: 0.2}))
    assert str(net.cpd("y")).splitlines() == [
        "P(y | a, b)",
        "a     b     False  True",
        "True  True  0.1    0.9",
        "...   ...   0.8    0.2",
    ]


@pytest.mark.parametrize(
    ("parents", "rows", "message"),
    [
        (["a", "b"], {(True, True): 0.9}, "`...` has the row of all others"),
        (["a", "b"], 0.9, "takes a dict"),
        (["a", "a"], {...: 0.9}, "names of its parents"),
        ([], {...: 0.9}, "names of its parents"),
        (["a", 3], {...: 0.9}, "names of its parents"),
        (
            ["a", "b"],
            {True: 0.5, ...: 0.9},
            "'y', row True: the key of a row is a tuple of states of 'a', 'b'",
        ),
        (["a", "b"], {(True, 2): 0.5, ...: 0.9}, r"'y', row \(True, 2\): 'b' has no state 2"),
        (["a", "b"], {(True, True): 1.5, ...: 0.9}, r"'y', row a=True, b=True: P\(True\) is 1.5"),
        (["a", "b"], {(True, True): [0.5, 0.6], ...: 0.9}, "'y', row a=True, b=True: .* sum to 1.1"),
        (["a", "b"], {(True, True): 0.5, ...: [0.5, 0.6]}, r"'y', row \.\.\.: .* sum to 1.1"),
        (["a", "b"], {(True, True): 0.5, ("True", "true"): 0.5, ...: 0.5}, "mean the same row"),
    ],
)
def test_what_cannot_be_is_refused(parents, rows, message):
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("b", 0.5)
    with pytest.raises(pgm.InvalidTable, match=message):
        net.add("y", pgm.DefaultCPD(parents, rows), states=[False, True])
