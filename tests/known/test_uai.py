"""The problems of the UAI competitions in shared/uai: solved, refused, or wrong; wrong must be none.

The files are read by pgm; what the answers are worth is computed here, by a reader of ten lines.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

import pgm

UAI = Path(__file__).resolve().parents[3] / "shared" / "uai"
LIMIT = os.environ.get("PGM_UAI_MEMORY", "1 GB")  # "8 GB" on demand
SECONDS = float(os.environ.get("PGM_UAI_SECONDS", "60"))

pytestmark = pytest.mark.skipif(not UAI.is_dir(), reason="the problems of shared/ are not here")


def problems(kind: str) -> list[Path]:
    return sorted((UAI / kind).glob("*.uai.gz")) if UAI.is_dir() else []


def evidence(path: Path, net: pgm.BayesianNetwork | pgm.MarkovNetwork) -> dict[str, object]:
    numbers = [int(x) for x in path.with_name(path.name.removesuffix(".gz") + ".evid").read_text().split()]
    if len(numbers) % 2 == 0:  # an older form says first how many sets there are
        numbers = numbers[1:]
    pairs = zip(numbers[1::2], numbers[2::2], strict=True)
    names = list(net.variables)
    return {names[v]: net.variables[names[v]].states[code] for v, code in pairs}


def published(path: Path, kind: str) -> list[float]:
    words = path.with_name(path.name.removesuffix(".gz") + f".{kind}").read_text().split()
    return [float(x) for x in words[words.index(kind) + 1 :]]


def log_value(path: Path, codes: list[int]) -> float:
    """The log of the product of all factors at one joint state."""
    words = gzip.decompress(path.read_bytes()).decode().split()
    n = int(words[1])
    cards = [int(x) for x in words[2 : 2 + n]]
    at, m = 3 + n, int(words[2 + n])
    scopes = []
    for _ in range(m):
        k = int(words[at])
        scopes.append([int(x) for x in words[at + 1 : at + 1 + k]])
        at += 1 + k
    total = 0.0
    with np.errstate(divide="ignore"):
        for scope in scopes:
            index = 0
            for v in scope:
                index = index * cards[v] + codes[v]
            total += float(np.log(float(words[at + 1 + index])))
            at += 1 + int(words[at])
    return total


@pytest.mark.parametrize("path", problems("MAR"), ids=lambda p: p.name.removesuffix(".uai.gz"))
def test_marginals(path):
    net = pgm.read(path)
    given = evidence(path, net)
    try:
        with pgm.config(memory_limit=LIMIT, time_limit=SECONDS):
            found = net.marginals(given)
    except (pgm.TooLarge, pgm.OutOfTime) as refusal:
        pytest.skip(f"refused: {str(refusal).splitlines()[0]}")
    numbers = published(path, "MAR")
    assert int(numbers[0]) == len(net.variables)
    at = 1
    for name, variable in net.variables.items():
        card = int(numbers[at])
        assert card == len(variable.states)
        expected = numbers[at + 1 : at + 1 + card]
        at += 1 + card
        if name in found:
            assert found[name].values == pytest.approx(expected, abs=1e-4), name
        else:
            assert expected[variable.states.index(given[name])] == pytest.approx(1.0, abs=1e-4)


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
    reference = [int(x) for x in published(path, "MAP")[1:]]
    names = list(net.variables)
    assert all(net.variables[n].states[reference[names.index(n)]] == state for n, state in given.items())
    assert log_value(path, codes) >= log_value(path, reference) - 1e-9 * abs(log_value(path, reference))
    assert log_value(path, codes) == pytest.approx(best.log_joint, rel=1e-9)
