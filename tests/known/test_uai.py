"""The problems of the UAI competitions in shared/uai: solved, refused, or wrong; wrong must be none.

The files are read by pgm; what the answers are worth is computed here, by a reader of ten lines.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import pgm

UAI = Path(__file__).resolve().parents[3] / "shared" / "uai"
LIMIT = os.environ.get("PGM_UAI_MEMORY", "1 GB")  # "8 GB" on demand
SECONDS = float(os.environ.get("PGM_UAI_SECONDS", "3"))
SEARCH_SECONDS = min(SECONDS, float(os.environ.get("PGM_UAI_SEARCH_SECONDS", "5")))

pytestmark = pytest.mark.skipif(not UAI.is_dir(), reason="the problems of shared/ are not here")


def problems(kind: str) -> list[Path]:
    return sorted((UAI / kind).glob("*.uai.gz")) if UAI.is_dir() else []


def evidence(path: Path, net: pgm.BayesianNetwork | pgm.MarkovNetwork) -> dict[str, object]:
    return pgm.read_evidence(path.with_name(path.name.removesuffix(".gz") + ".evid"), net)


def published(path: Path, kind: str, net: pgm.BayesianNetwork | pgm.MarkovNetwork) -> Any:
    return pgm.read_result(path.with_name(path.name.removesuffix(".gz") + f".{kind}"), net)


def factors(path: Path) -> list[tuple[list[int], np.ndarray]]:
    """The tables of a file, read here: (scope, values)."""
    words = gzip.decompress(path.read_bytes()).decode().split()
    n = int(words[1])
    cards = [int(x) for x in words[2 : 2 + n]]
    at = 3 + n
    scopes = []
    for _ in range(int(words[2 + n])):
        k = int(words[at])
        scopes.append([int(x) for x in words[at + 1 : at + 1 + k]])
        at += 1 + k
    found = []
    for scope in scopes:
        size = int(words[at])
        values = np.array([float(x) for x in words[at + 1 : at + 1 + size]])
        found.append((scope, values.reshape([cards[v] for v in scope])))
        at += 1 + size
    return found


def log_value(tables: list[tuple[list[int], np.ndarray]], codes: list[int]) -> float:
    """The log of the product of all factors at one joint state."""
    with np.errstate(divide="ignore"):
        return sum(float(np.log(values[tuple(codes[v] for v in scope)])) for scope, values in tables)


@pytest.mark.parametrize("path", problems("MAR"), ids=lambda p: p.name.removesuffix(".uai.gz"))
def test_marginals(path):
    if path.name.startswith("relational_3"):
        pytest.skip("the published numbers leave the evidence out: see the next test")
    net = pgm.read(path)
    given = evidence(path, net)
    try:
        with pgm.config(memory_limit=LIMIT, time_limit=SECONDS):
            found = net.marginals(given)
    except (pgm.TooLarge, pgm.OutOfTime) as refusal:
        pytest.skip(f"refused: {str(refusal).splitlines()[0]}")
    check_marginals(path, net, given, found)


def check_marginals(path, net, given, found):
    """As published, to the digits that were."""
    expected = published(path, "MAR", net)
    assert list(expected) == list(net.variables)
    for name in net.variables:
        if name in found:
            assert found[name].values == pytest.approx(expected[name].values, abs=1e-4), name
        else:
            assert expected[name][given[name]] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    "path",
    [p for p in problems("MAR") if p.name.startswith(("Promedus", "Pedigree", "linkage"))],
    ids=lambda p: p.name.removesuffix(".uai.gz"),
)
def test_marginals_by_search(path):
    """The problems whose tables have zeros; what it does not solve in time it refuses."""
    net = pgm.read(path)
    given = evidence(path, net)
    try:
        with pgm.config(memory_limit=LIMIT, time_limit=SEARCH_SECONDS):
            found = net.marginals(given, engine="search")
    except (pgm.TooLarge, pgm.OutOfTime) as refusal:
        pytest.skip(f"refused: {str(refusal).splitlines()[0]}")
    check_marginals(path, net, given, found)
    assert found.engine == "search"


@pytest.mark.parametrize("path", problems("PR"), ids=lambda p: p.name.removesuffix(".uai.gz"))
def test_models_are_counted(path):
    """Model-counting problems: log10 Z as published, also by auto under a time limit; or out of time."""
    net = pgm.read(path)
    expected = float(path.with_name(path.name.removesuffix(".gz") + ".PR").read_text().split()[-1])
    for engine in ("search", "auto"):
        try:
            with pgm.config(memory_limit=LIMIT, time_limit=SEARCH_SECONDS):
                found = net.log_partition(engine=engine)
        except (pgm.TooLarge, pgm.OutOfTime) as refusal:
            pytest.skip(f"refused: {str(refusal).splitlines()[0]}")
        assert found / np.log(10.0) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("path", problems("MAR"), ids=lambda p: p.name.removesuffix(".uai.gz"))
def test_bounds_hold_the_exact_answers(path):
    """The partition function where it is had at once, and the marginals that were published."""
    net = pgm.read(path)
    given = evidence(path, net)
    try:
        with pgm.config(memory_limit="100 MB", time_limit=1.0):
            exact = net.log_probability(given) if given else 0.0
            if isinstance(net, pgm.MarkovNetwork):
                exact += net.log_partition()
    except (pgm.TooLarge, pgm.OutOfTime):
        exact = None
    engine = pgm.engines.Bounds(ibound=2, iterations=5)
    with pgm.config(memory_limit=LIMIT):
        found = net.marginals(given, engine=engine)
    low, high = found.report.log_bounds
    if exact is not None:
        assert low <= exact + 1e-9 * abs(exact)
        assert exact <= high + 1e-9 * abs(exact)
    if path.name.startswith("relational_3"):
        return  # see the next test
    for name, expected in published(path, "MAR", net).items():
        if name in found:
            low, high = found[name].bounds.T
            assert (low <= expected.values + 1e-4).all()
            assert (expected.values <= high + 1e-4).all()


def test_relational_3_against_brute_force():
    """What was published for it is the same for parts with and without findings, so it is no exact answer.

    Its graph falls into a hundred parts of ten variables: 1,024 joint states each.
    """
    path = UAI / "MAR" / "relational_3.uai.gz"
    net = pgm.read(path)
    given = evidence(path, net)
    found = net.marginals(given)
    names = list(net.variables)
    tables = factors(path)
    graph = nx.Graph([(scope[0], v) for scope, _ in tables for v in scope])
    parts = [sorted(part) for part in nx.connected_components(graph)]
    assert {len(part) for part in parts} == {10}
    for part in parts:
        axis = {v: i for i, v in enumerate(part)}
        joint = np.ones((2,) * 10)
        for scope, values in tables:
            if scope[0] in axis:
                order = sorted(range(len(scope)), key=lambda i: axis[scope[i]])
                shape = [2 if v in scope else 1 for v in part]
                joint = joint * values.transpose(order).reshape(shape)
        for v in part:
            if names[v] in given:
                seen = np.arange(2) == given[names[v]]
                joint = joint * seen.reshape([2 if u == v else 1 for u in part])
        joint /= joint.sum()
        for v in part:
            if names[v] not in given:
                expected = joint.sum(axis=tuple(i for i in range(10) if i != axis[v]))
                assert found[names[v]].values == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("path", problems("MAP"), ids=lambda p: p.name.removesuffix(".uai.gz"))
def test_most_probable_explanation(path):
    """At least as good as what was published: the published one need not be the best."""
    net = pgm.read(path)
    given = evidence(path, net)
    try:
        with pgm.config(memory_limit=LIMIT, time_limit=SECONDS):
            best = net.map(given)
    except (pgm.TooLarge, pgm.OutOfTime) as refusal:
        pytest.skip(f"refused: {str(refusal).splitlines()[0]}")
    states = {**given, **best}
    codes = [variable.states.index(states[name]) for name, variable in net.variables.items()]
    reference = published(path, "MAP", net)
    assert all(reference[name] == state for name, state in given.items())
    tables = factors(path)
    known, found = log_value(tables, reference.codes.tolist()), log_value(tables, codes)
    assert known == pytest.approx(reference.log_joint, rel=1e-9)
    assert found >= known - 1e-9 * abs(known)
    assert found == pytest.approx(best.log_joint, rel=1e-9)
