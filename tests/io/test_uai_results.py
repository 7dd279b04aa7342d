"""Results of the UAI competitions: the published ones, answers that come back, and files that are wrong."""

from __future__ import annotations

import io
import math
import random
from pathlib import Path

import numpy as np
import pytest

import pgm
from pgm.errors import FileFormatError, InvalidArgument, InvalidEvidence, PGMError, UnknownVariable
from pgm.results import Logarithm
from tests.io.formats import mutant

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "uai"
FILES = sorted([*SHARED.glob("*/*.uai.MAR"), *SHARED.glob("*/*.uai.MAP")])


def wet_grass() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("rain", 0.25)
    net.add("mood", {True: [0.5, 0.25, 0.25], False: [0, 0.5, 0.5]}, parents=["rain"], states=["a", "b", "c"])
    net.add("wet", {True: 0.75, False: 0.125}, parents=["rain"])
    return net


def reads(text: str, net: pgm.BayesianNetwork | None = None) -> object:
    return pgm.read_result(io.StringIO(text), wet_grass() if net is None else net)


def writes(answer: object, given: object = None, net: pgm.BayesianNetwork | None = None) -> str:
    file = io.StringIO()
    pgm.write_result(answer, file, wet_grass() if net is None else net, given=given)
    return file.getvalue()


# --- what was published -------------------------------------------------------------------------------------


@pytest.mark.skipif(not FILES, reason="the problems of shared/ are not here")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_published_answer_is_read_number_by_number(path):
    words = path.read_text().split()
    model = pgm.read(path.with_suffix(".gz"))
    found = pgm.read_result(path, model)
    assert list(found) == list(model.variables)
    if words[0] == "MAP":
        assert found.codes.tolist() == [int(word) for word in words[2:]]
        again = io.StringIO()
        pgm.write_result(found, again, model)
        assert again.getvalue().split() == words
        return
    at = 2
    for name, variable in model.variables.items():
        assert int(words[at]) == variable.card
        expected = [float(word) for word in words[at + 1 : at + 1 + variable.card]]
        assert found[name].values.tolist() == expected
        assert found[name].states == variable.states
        at += 1 + variable.card
    assert at == len(words)
    assert not found.exact


# --- what the numbers mean ----------------------------------------------------------------------------------


def test_marginals():
    found = reads("MAR\n3 2 0.75 0.25 3 0.125 0.4375 0.4375 2 0.25 0.75")
    assert isinstance(found, pgm.Marginals)
    assert found["rain"][True] == 0.25
    assert found["mood"]["a"] == 0.125
    assert found["wet"][True] == 0.75
    net = wet_grass()
    assert writes(net.marginals()) == "MAR\n3 2 0.75 0.25 3 0.125 0.4375 0.4375 2 0.71875 0.28125\n"
    text = writes(net.marginals({"wet": True}), {"wet": True})
    assert text.split()[-3:] == ["2", "0.0", "1.0"]
    again = reads(text)
    for name, p in net.marginals({"wet": True}).items():
        assert again[name].values.tobytes() == p.values.tobytes()


def test_most_probable_states():
    net = wet_grass()
    found = reads("MAP\n3 1 0 1")
    assert isinstance(found, pgm.Assignment)
    assert dict(found) == {"rain": True, "mood": "a", "wet": True}
    assert found.log_joint == pytest.approx(math.log(0.25 * 0.5 * 0.75), abs=1e-12)
    assert (found.exact, found.gap) == (False, math.inf)  # the file does not say that these are the best
    assert dict(reads("MPE\n3 1 0 1")) == dict(found)
    assert reads("MAP 3 0 0 0").log_joint == -math.inf  # mood is never "a" without rain
    best = net.map({"rain": True})
    assert writes(best, {"rain": True}) == "MAP\n3 1 0 1\n"
    assert dict(reads(writes(best, {"rain": True}))) == {**best, "rain": True}


def test_most_probable_states_of_a_markov_network():
    model = pgm.read(io.StringIO("MARKOV 2 2 2 2 1 0 2 0 1 2 3 5 4 1 2 4 8"), format="uai")
    assert pgm.read_result(io.StringIO("MAP 2 1 0"), model).log_joint == pytest.approx(
        math.log(20), abs=1e-12
    )


def test_probabilities():
    found = reads("PR\n-0.2008")
    assert isinstance(found, Logarithm)
    assert math.exp(found) == pytest.approx(10**-0.2008, rel=1e-12)
    assert not found.exact
    assert reads("PR -inf") == -math.inf
    assert reads("PR\n30.5") == pytest.approx(30.5 * math.log(10), rel=1e-15)
    net = wet_grass()
    p = net.probability({"wet": True})
    assert float(writes(p).split()[1]) == pytest.approx(math.log10(0.28125), abs=1e-12)
    assert writes(net.log_probability({"wet": True})) == writes(p)
    assert float(reads(writes(p))) == pytest.approx(p.log, rel=1e-15)
    markov = net.to_markov_network()
    assert float(writes(markov.log_partition(), net=markov).split()[1]) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("MAP\n1\n3 1 0 1", "MAP 3 1 0 1"),  # one sample of evidence
        ("MAR\n1\n3 2 0.75 0.25 3 0 0 1 2 0.25 0.75", "MAR 3 2 0.75 0.25 3 0 0 1 2 0.25 0.75"),
        ("PR\n1\n-2.5", "PR -2.5"),
        ("PR\n-3\n-BEGIN-\n-2.75\n-BEGIN-\n1\n-2.5\n", "PR -2.5"),
        ("MAP\n3 0 0 0\n-BEGIN-\n3 1 0 1\n", "MAP 3 1 0 1"),
    ],
)
def test_older_forms(old, new):
    assert writes(reads(old)) == writes(reads(new))


def test_one_variable_and_none():
    net = pgm.BayesianNetwork()
    assert writes(reads("MAR 0", net), net=net) == "MAR\n0\n"
    net.add("a", 0.5)
    assert reads("MAP 1 0", net)["a"] is False
    assert reads("MAP 1 1 1", net)["a"] is True
    assert reads("MAR 1 1 2 0 1", net)["a"][True] == 1.0


def test_paths(tmp_path):
    net = wet_grass()
    pgm.write_result(net.marginals(), tmp_path / "a.MAR.gz", net)
    assert pgm.read_result(tmp_path / "a.MAR.gz", net)["rain"][True] == 0.25
    with pytest.raises(InvalidArgument, match="read_result"):
        pgm.read(tmp_path / "a.MAR.gz")


# --- files that are wrong -----------------------------------------------------------------------------------

BROKEN = [
    ("", 1, "begins with MAR, MAP, MPE or PR; found the end of the file"),
    ("MMAP 1 0 0", 1, "found 'MMAP'"),
    ("3 1 0 1", 1, "found '3'"),
    ("MAP", 1, "ends before the number of variables"),
    ("MAP\n2 1 0", 2, "the file is about 2 variables, and the model has 3|about '2'"),
    ("MAP\n3 1 0", 2, "announced"),
    ("MAP\n3 1 0 1\n0", 3, "expected the end of the file, found '0'"),
    ("MAP\n3 1\n3 1", 3, r"variable 1 .'mood'. has the states 0 to 2, not '3'"),
    ("MAP\n3 1 0.5 1", 2, "a whole number"),
    ("MAP\n3 1 x 1", 2, "expected a number, found 'x'"),
    ("MAP\n2\n3 1 0 1\n3 1 0 1", 2, "the file is about '2'"),
    ("MAR\n3 2 0.75 0.25 2 0.5 0.5 2 0.25 0.75", 2, r"variable 1 .'mood'. has 3 states in the model and '2'"),
    ("MAR\n3 2 0.75 0.25 3 0.5", 2, "ends within the probabilities of variable 1"),
    ("MAR\n3 2 0.75 0.35 3 0 0 1 2 0 1", 2, "variable 0 .'rain'. sum to 1.1, not to 1"),
    ("MAR\n3 2 1.5 -0.5 3 0 0 1 2 0 1", 2, "'-0.5'"),
    ("MAR\n3 2 nan 1 3 0 0 1 2 0 1", 2, "'nan'"),
    ("MAR\n999999999999999 2 1 0", 2, "is about '999999999999999' variables"),
    ("PR", 1, "ends before the logarithm"),
    ("PR\n1e999", 2, "expected a logarithm, found '1e999'"),
    ("PR\nnan", 2, "expected a logarithm, found 'nan'"),
    ("PR\n-1 -2", 2, "expected the end of the file, found '-2'"),
    ("PR\n-1\n-BEGIN-", 3, "ends before the logarithm"),
]


@pytest.mark.parametrize(("text", "line", "message"), BROKEN)
def test_a_wrong_file_is_refused_with_its_line(text, line, message):
    with pytest.raises(FileFormatError, match=message) as caught:
        reads(text)
    assert caught.value.line == line


def test_broken_files_are_refused_at_once():
    net = wet_grass()
    seeds = (b"MAR\n3 2 0.75 0.25 3 0 0 1 2 0.25 0.75", b"MAP\n1\n3 1 0 1\n", b"PR\n-1\n-BEGIN-\n-2.5e-1\n")
    rng = random.Random(0)
    for _ in range(2000):
        data = mutant(rng, seeds)
        message = ""
        try:
            found = pgm.read_result(io.BytesIO(data), net)
        except PGMError as error:
            message = str(error)
        else:
            again = reads(writes(found))
            close = isinstance(found, Logarithm) and again == pytest.approx(found, rel=1e-15)
            assert close or writes(again) == writes(found)
        assert len(message) < 2000


# --- what is not written ------------------------------------------------------------------------------------


def test_what_a_result_file_cannot_hold():
    net = wet_grass()
    with pytest.raises(InvalidArgument, match=r"lacks 'wet'.*given="):
        writes(net.marginals({"wet": True}))
    with pytest.raises(InvalidArgument, match=r"lacks 'mood', 'wet'"):
        writes(net.map(targets="rain"))
    with pytest.raises(InvalidArgument, match="'wet' is in given= and in the answer"):
        writes(net.marginals(), {"wet": True})
    with pytest.raises(InvalidEvidence, match="not a single state"):
        writes(net.marginals(), {"wet": pgm.Likelihood({True: 0.5, False: 0.25})})
    other = wet_grass().rename({"rain": "snow"})
    with pytest.raises(UnknownVariable, match=r"another model.*'snow'"):
        writes(other.marginals())
    other = pgm.BayesianNetwork()
    other.add("rain", [0.5, 0.25, 0.25], states=["no", "some", "much"])
    with pytest.raises(InvalidArgument, match="'rain' has other states"):
        writes(other.marginals())
    for answer in (net.query("rain"), 0.5, {"rain": True}, np.zeros(3)):
        with pytest.raises(InvalidArgument, match="gave, not"):
            writes(answer)
    mixed = pgm.BayesianNetwork()
    mixed.add("x", pgm.LinearGaussian())
    with pytest.raises(InvalidArgument, match="continuous: 'x'"):
        reads("MAP 1 0", mixed)
