"""UAI: every model of shared/, the axes of tables, evidence in both forms, and files that are wrong."""

from __future__ import annotations

import gzip
import math
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgm.config import config
from pgm.cpds import NoisyOr
from pgm.errors import (
    FileFormatError,
    InvalidArgument,
    InvalidEvidence,
    PGMError,
    TooLarge,
    UnknownState,
    UnknownVariable,
)
from pgm.evidence import Likelihood, OneOf, Soft
from pgm.io import read, read_evidence, uai, write
from pgm.models import BayesianNetwork, MarkovNetwork

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "uai"
FILES = sorted(SHARED.glob("*/*.uai.gz"))
shared = pytest.mark.skipif(not FILES, reason="the models of shared/ are not here")


def loads(text: str, folder: Path) -> BayesianNetwork | MarkovNetwork:
    path = folder / "a.uai"
    path.write_text(text)
    return read(path)


def factors(model: MarkovNetwork) -> list[tuple[list[int], np.ndarray]]:
    return [(factor.scopes[0].tolist(), factor.values) for factor in model.factors()]


# --- the models of shared/ ----------------------------------------------------------------------------------


@shared
@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: path.parent.name + "-" + path.name.removesuffix(".uai.gz")
)
def test_a_shared_model_is_read_number_by_number(path, tmp_path):
    words = gzip.open(path, "rt").read().split()
    kind, n = words[0], int(words[1])
    cards = list(map(int, words[2 : 2 + n]))
    m, at = int(words[2 + n]), 3 + n
    scopes = []
    for _ in range(m):
        size = int(words[at])
        scopes.append(list(map(int, words[at + 1 : at + 1 + size])))
        at += 1 + size
    model = read(path)
    assert kind == "MARKOV"
    assert isinstance(model, MarkovNetwork)
    assert list(model.variables) == [f"x{i}" for i in range(n)]
    assert [variable.states for variable in model.variables.values()] == [
        tuple(range(card)) for card in cards
    ]
    assert model.n_factors == m
    for scope, (mine, values) in zip(scopes, factors(model), strict=True):
        size = int(words[at])
        assert mine == scope
        assert values.shape == tuple(cards[i] for i in scope)
        assert values.ravel().tolist() == list(map(float, words[at + 1 : at + 1 + size]))
        at += 1 + size
    assert at == len(words)

    findings = list(map(int, path.with_name(path.name.removesuffix(".gz") + ".evid").read_text().split()))
    if len(findings) % 2 == 0:  # the number of samples comes first
        findings = findings[1:]
    given = read_evidence(path.with_name(path.name.removesuffix(".gz") + ".evid"), model)
    assert given == {f"x{i}": code for i, code in zip(findings[1::2], findings[2::2], strict=True)}

    write(model, tmp_path / "again.uai.gz", evidence=given)
    again = read(tmp_path / "again.uai.gz")
    assert again == model
    assert read_evidence(tmp_path / "again.uai.evid", again) == given


# --- what the numbers mean ----------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["0 1", "1 0"])
def test_defect_1_of_a_peer_the_axes_follow_the_scope(scope, tmp_path):
    model = loads(f"MARKOV 2 2 3 1 2 {scope} 6 1 2 3 4 5 6", tmp_path)
    ((mine, values),) = factors(model)
    assert mine == [int(word) for word in scope.split()]
    assert values.tolist() == ([[1, 2, 3], [4, 5, 6]] if scope == "0 1" else [[1, 2], [3, 4], [5, 6]])
    table = values if scope == "0 1" else values.T
    assert model.query("x0").values.tolist() == pytest.approx((table.sum(axis=1) / 21).tolist(), abs=1e-14)
    assert model.log_partition() == pytest.approx(math.log(21), abs=1e-13)


def test_defect_2_of_a_peer_variables_of_one_state(tmp_path):
    model = loads("MARKOV 3 1 2 1  2  3 0 1 2  1 2  2 3 1  1 4", tmp_path)
    assert [variable.card for variable in model.variables.values()] == [1, 2, 1]
    assert model.log_partition() == pytest.approx(math.log(16), abs=1e-13)
    assert model.query("x1").values.tolist() == [0.75, 0.25]


def test_a_factor_of_no_variable_is_a_constant(tmp_path):
    model = loads("MARKOV 1 2 3  1 0  0  0  2 1 3  1 0.5  1 4", tmp_path)
    assert model.log_partition() == pytest.approx(math.log(8), abs=1e-13)
    write(model, tmp_path / "b.uai")
    assert read(tmp_path / "b.uai") == model


@pytest.mark.parametrize("space", ["\x1c", "\x1f", "\x85", "\xa0", "\u2003"])
def test_white_space_of_other_scripts_is_white_space(space, tmp_path):
    model = loads(f"MARKOV{space}1 2 1{space} 1 0 2 0.25{space}4", tmp_path)
    ((_, values),) = factors(model)
    assert values.tolist() == [0.25, 4]


@pytest.mark.parametrize("text", ["MARKOV 0 0", "BAYES 0 0", "MARKOV\n0\n\n0\n"])
def test_nothing_at_all_is_a_model(text, tmp_path):
    model = loads(text, tmp_path)
    assert not model.variables
    write(model, tmp_path / "b.uai")
    assert read(tmp_path / "b.uai") == model


def test_a_variable_without_a_table(tmp_path):
    model = loads("MARKOV 2 2 7 1 1 0 2 1 3", tmp_path)
    assert model.variables["x1"].states == (0, 1, 2, 3, 4, 5, 6)


def test_a_bayesian_network(tmp_path):
    text = (
        "BAYES 3 2 2 3  3  1 0  3 0 2 1  1 2  2 .25 .75  12 .1 .9 .2 .8 .3 .7 .4 .6 .5 .5 .6 .4  3 .2 .3 .5"
    )
    net = loads(text, tmp_path)
    assert isinstance(net, BayesianNetwork)
    assert list(net.variables) == ["x0", "x1", "x2"]
    assert net.parents("x1") == ("x0", "x2")
    assert net.cpd("x1").values[1].tolist() == [[0.4, 0.6], [0.5, 0.5], [0.6, 0.4]]
    assert net.cpd("x2").values.tolist() == [0.2, 0.3, 0.5]
    write(net, tmp_path / "b.uai")
    assert read(tmp_path / "b.uai") == net


def test_comments_of_2016_and_of_agrum(tmp_path):
    text = "c a model\nc\nMARKOV\n1 # one variable\n2\nc two states\n1\n1 0 #it\n#\n2\n1 2 # the end"
    assert factors(loads(text, tmp_path))[0][1].tolist() == [1, 2]
    assert factors(loads(text.replace("\n", "\r\n"), tmp_path))[0][1].tolist() == [1, 2]


def test_what_agrum_writes(tmp_path):
    gum = pytest.importorskip("pyagrum")
    # One parent each: aGrUM 3.3.1 writes and reads tables of several parents with the first one changing
    # fastest, against the definition of the format, which it keeps to for the child. Two states each: it
    # writes six digits, so that longer rows are often further from one than the 1e-6 that is rounding here.
    peer = gum.fastBN("a->b->c")
    gum.saveBN(peer, str(tmp_path / "peer.uai"))
    net = read(tmp_path / "peer.uai")
    assert isinstance(net, BayesianNetwork)
    assert net.edges == (("x0", "x1"), ("x1", "x2"))
    np.testing.assert_allclose(net.cpd("x0").values, peer.cpt("a").toarray(), atol=1e-5)
    for name, mirror, parent in (("b", "x1", "a"), ("c", "x2", "b")):
        for code, row in enumerate(net.cpd(mirror).values):
            np.testing.assert_allclose(row, peer.cpt(name)[{parent: code}], atol=1e-5)


# --- round trips --------------------------------------------------------------------------------------------

VALUES = st.one_of(st.just(0.0), st.floats(0, allow_nan=False, allow_infinity=False), st.floats(0, 1))


@st.composite
def markov_networks(draw: st.DrawFn) -> MarkovNetwork:
    model = MarkovNetwork()
    cards = draw(st.lists(st.integers(1, 4), max_size=5))
    for i, card in enumerate(cards):
        model.add_variable(f"x{i}", states=range(card))
    for _ in range(draw(st.integers(0, 4))):
        scope = draw(st.lists(st.sampled_from(range(len(cards))), unique=True, max_size=3)) if cards else []
        shape = [cards[i] for i in scope]
        values = draw(st.lists(VALUES, min_size=math.prod(shape), max_size=math.prod(shape)))
        model.add_factor([f"x{i}" for i in scope], np.reshape(values, shape) if scope else values[0])
    return model


@given(markov_networks(), st.randoms())
@settings(max_examples=150, deadline=None)
def test_a_markov_network_comes_back(tmp_path_factory, model, random):
    path = tmp_path_factory.mktemp("io") / "a.uai"
    evidence = {name: random.choice(v.states) for name, v in model.variables.items() if random.random() < 0.5}
    write(model, path, evidence=evidence)
    again = read(path)
    assert again == model
    assert list(again.variables) == list(model.variables)
    assert read_evidence(f"{path}.evid", again) == evidence


@given(st.integers(0, 2**32), st.integers(1, 6))
@settings(max_examples=50, deadline=None)
def test_a_bayesian_network_comes_back(tmp_path_factory, seed, size):
    rng = np.random.default_rng(seed)
    net = BayesianNetwork()
    for i in range(size):
        parents = [f"x{j}" for j in rng.permutation(i)[: rng.integers(4)]]
        card = int(rng.integers(1, 5))
        values = rng.dirichlet([0.3] * card, size=[net.variables[parent].card for parent in parents])
        net.add(f"x{i}", values, parents=parents, states=range(card))
    path = tmp_path_factory.mktemp("io") / "a.uai"
    write(net, path)
    assert read(path) == net


@given(st.text(st.sampled_from("0123 .-\neBM#c"), max_size=30), st.integers(0, 60), st.integers(0, 20))
@settings(max_examples=300, deadline=None)
def test_a_file_with_anything_in_it_is_read_or_refused(tmp_path_factory, junk, at, cut):
    text = "MARKOV\n2\n2 3\n2\n1 0\n2 0 1\n2\n0.5 1\n6\n1 2 3 4 5 6\n"
    path = tmp_path_factory.getbasetemp() / "junk.uai"
    path.write_text(text[:at] + junk + text[at + cut :])
    try:
        model = read(path)
    except FileFormatError:
        return
    write(model, path)
    assert read(path) == model


# --- names, logarithms, other distributions -----------------------------------------------------------------


def test_names_and_states_become_numbers_and_evidence_comes_back_in_them(tmp_path):
    net = BayesianNetwork("wet grass")
    net.add("rain", {"no": 0.8, "yes": 0.2})
    net.add("wet", {"yes": 0.9, "no": 0.1}, parents=["rain"])
    write(net, tmp_path / "wet.uai.gz", evidence={"wet": True, "rain": None})
    assert (tmp_path / "wet.uai.evid").read_text() == "1 1 1\n"
    again = read(tmp_path / "wet.uai.gz")
    assert again.cpd("x1").values.tolist() == net.cpd("wet").values.tolist()
    assert read_evidence(tmp_path / "wet.uai.evid", again) == {"x1": 1}
    assert read_evidence(tmp_path / "wet.uai.evid", net) == {"wet": True}
    write(net, tmp_path / "wet.uai", evidence={})
    assert (tmp_path / "wet.uai.evid").read_text() == "0\n"


def test_logarithms_become_numbers_if_they_fit(tmp_path):
    model = MarkovNetwork()
    model.add_variable("a", states=[0, 1])
    model.add_factor(["a"], [0.0, -math.inf], log=True)
    write(model, tmp_path / "a.uai")
    assert factors(read(tmp_path / "a.uai"))[0][1].tolist() == [1, 0]
    for extreme in (800.0, -800.0):
        model.add_factor(["a"], [0.0, extreme], log=True)
        with pytest.raises(InvalidArgument, match="logarithms"):
            write(model, tmp_path / "b.uai")
        model.remove_factor(-1)
    assert not (tmp_path / "b.uai").exists()


def test_a_grid_is_written_factor_by_factor(tmp_path):
    grid = MarkovNetwork.grid(
        [[1, 0, 1], [0, 1, 1]], states=[0, 1], coupling=0.5, unary=[[0.9, 0.1], [0.2, 0.8]]
    )
    write(grid, tmp_path / "a.uai")
    again = read(tmp_path / "a.uai")
    assert again.n_factors == grid.n_factors
    assert again.log_partition() == pytest.approx(grid.log_partition(), abs=1e-12)


def test_other_distributions_only_as_tables_on_demand(tmp_path):
    net = BayesianNetwork()
    net.add("rain", 0.3)
    net.add("snow", 0.1)
    net.add("wet", NoisyOr({"rain": 0.9, "snow": 0.5}, leak=0.1))
    for model in (net, net.to_markov_network()):
        with pytest.raises(InvalidArgument, match="expand=True"):
            write(model, tmp_path / "a.uai")
        write(model, tmp_path / "a.uai", expand=True)
        again = read(tmp_path / "a.uai")
        values = again.cpd("x2").values if isinstance(again, BayesianNetwork) else factors(again)[2][1]
        np.testing.assert_allclose(values, net.cpd("wet").values, rtol=1e-15)
        (tmp_path / "a.uai").unlink()


def test_sparse_factors_only_as_tables_on_demand(tmp_path):
    model = MarkovNetwork()
    for i in range(40):
        model.add_variable(f"x{i}", states=[0, 1])
    model.add_factor(list(model.variables), {(0,) * 40: 1.0, (1,) * 40: 2.0})
    with pytest.raises(InvalidArgument, match="Sparse; expand=True"):
        write(model, tmp_path / "a.uai")
    with pytest.raises(TooLarge, match=r"10\*\*12|1,099,511,627,776"):
        write(model, tmp_path / "a.uai", expand=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("evidence", "error"),
    [
        ({"a": OneOf("x", "y")}, InvalidEvidence),
        ({"a": Likelihood({"x": 0.1, "y": 0.2, "z": 0.3})}, InvalidEvidence),
        ({"a": Likelihood({"x": 0.5, "y": 0, "z": 0})}, InvalidEvidence),
        ({"a": Soft({"x": 0.5, "y": 0.5})}, InvalidEvidence),
        ({"a": "w"}, UnknownState),
        ({"b": "x"}, UnknownVariable),
        (["a"], InvalidEvidence),
    ],
)
def test_evidence_that_is_no_state_is_refused_before_anything_is_written(evidence, error, tmp_path):
    net = BayesianNetwork()
    net.add("a", {"x": 0.5, "y": 0.25, "z": 0.25})
    with pytest.raises(error):
        write(net, tmp_path / "a.uai", evidence=evidence)
    assert not list(tmp_path.iterdir())
    write(net, tmp_path / "a.uai", evidence={"a": OneOf("y")})
    assert (tmp_path / "a.uai.evid").read_text() == "1 0 1\n"


def test_only_models_are_written(tmp_path):
    for what in (None, {}, "net"):
        with pytest.raises(InvalidArgument):
            write(what, tmp_path / "a.uai")
        with pytest.raises(InvalidArgument):
            read_evidence(tmp_path / "a.evid", what)


# --- evidence -----------------------------------------------------------------------------------------------

GOOD_EVIDENCE = {
    "0": {},
    "0\n": {},
    "1 0 1": {"x0": 1},
    "2\n1 2\n0 0\n": {"x1": 2, "x0": 0},
    "1\n1 1 2": {"x1": 2},  # the older form: one sample
    "1\n2 0 1 1 2": {"x0": 1, "x1": 2},
    "1 0": {},
    "c a comment\n1 0 1 # why": {"x0": 1},
}
BROKEN_EVIDENCE = {
    "": "empty",
    " \n": "empty",
    "one": "expected a number, found 'one'",
    "-1": "negative",
    "0.5": "whole number",
    "1": "announced",
    "1 0 2": "variable 0 .* has the states 0 to 1, not '2'",
    "1 2 0": "no variable 2; they are 0 to 1",
    "1 0 0.5": "whole number",
    "2 0 1 0 1": "observed twice",
    "2 0 1 1": "2 findings would be 4 numbers, and 3 follow",
    "2 1 0 1 1 1 2": "a file of 2 samples",
    "0 1": "expected the end",
    "1 1 0 1 1 1": "expected the end",
    "1 2 0 1": "ends before",
    "99999999999999999999 0 1": "findings",
    "1e300": "findings|announced",
}


@pytest.fixture
def pair(tmp_path):
    return loads("MARKOV 2 2 3 1 2 0 1 6 1 2 3 4 5 6", tmp_path)


@pytest.mark.parametrize("text", GOOD_EVIDENCE)
def test_evidence(text, pair, tmp_path):
    (tmp_path / "a.evid").write_text(text)
    assert read_evidence(tmp_path / "a.evid", pair) == GOOD_EVIDENCE[text]
    with gzip.open(tmp_path / "b.evid.gz", "wt") as stream:
        stream.write(text)
    assert read_evidence(str(tmp_path / "b.evid.gz"), pair) == GOOD_EVIDENCE[text]


@pytest.mark.parametrize("text", BROKEN_EVIDENCE)
def test_wrong_evidence(text, pair, tmp_path):
    (tmp_path / "a.evid").write_text(text)
    with pytest.raises(FileFormatError, match=BROKEN_EVIDENCE[text]) as caught:
        read_evidence(tmp_path / "a.evid", pair)
    assert caught.value.line == 1


# --- files that are wrong -----------------------------------------------------------------------------------

BROKEN = [
    ("", 1, "MARKOV or BAYES; found the end of the file"),
    ("markov 0 0", 1, "found 'markov'"),
    ("2 2 2", 1, "MARKOV or BAYES; found '2'"),
    ("MARKOV", 1, "ends before the number of variables"),
    ("MARKOV\n2\n2", 2, "'2' numbers are announced, and 1 numbers follow"),
    ("MARKOV\n1\n2", 3, "ends before the number of tables"),
    ("MARKOV\n1\n0\n0", 3, "expected the number of states of variable 0, a whole number from 1, found '0'"),
    ("MARKOV\n1\n2.5\n0", 3, "number of states of variable 0"),
    ("MARKOV\n-1\n2\n0", 2, "negative"),
    ("MARKOV\n1\ntwo\n0", 3, "expected a number, found 'two'"),
    ("MARKOV\n1\nnan\n0", 3, "found 'nan'"),
    ("MARKOV\n1\n1_0\n0", 3, "found '1_0'"),
    ("MARKOV\n1\n1e999\n0", 3, "infinite"),
    ("MARKOV\n1\n0,5\n0", 3, "found '0,5'"),
    ("MARKOV\n1\n2\n1\n1 1\n2\n1 1", 5, "table 0: there is no variable '1'; they are 0 to 0"),
    ("MARKOV\n2\n2 2\n1\n2 0 0\n4\n1 1 1 1", 5, "appears twice"),
    ("MARKOV\n1\n2\n1\n1 0\n3\n1 1 1", 6, "table 0 has '3' numbers; its variables 0 need 2"),
    ("MARKOV\n1\n2\n1\n1 0\n1\n1", 6, "table 0 has '1' numbers"),
    ("MARKOV\n1\n2\n1\n1 0\n2\n1", 7, "ends within the 2 numbers of table 0"),
    ("MARKOV\n1\n2\n1\n1 0\n", 5, "ends before how many numbers table 0 has"),
    ("MARKOV\n1\n2\n2\n1 0\n2\n1 1", 7, "table 1"),
    ("MARKOV\n1\n2\n1\n1 0\n2\n1 1\n1", 8, "expected the end of the file, found '1'"),
    ("MARKOV\n1\n2\n1\n1 0\n2\n1 1\nend", 8, "expected a number, found 'end'"),
    ("MARKOV\n1\n2\n1\n1 0\n2\n1 -1", 7, "negative"),
    ("MARKOV\n1\n2\n1\n1 0\n2\n1 1e999", 7, "infinite"),
    ("BAYES\n1\n2\n1\n1 0\n2\n0.5 0.6", 6, "table 0: 'x0'.*sum to 1.1.*MARKOV instead of BAYES"),
    ("BAYES\n2\n2 2\n1\n2 0 1\n4\n.5 .5 .5 .5", None, "variable 0 has no distribution"),
    ("BAYES\n1\n2\n2\n1 0\n1 0\n2\n.5 .5\n2\n.5 .5", 9, "second distribution of variable 0"),
    ("BAYES\n1\n2\n2\n1 0\n0\n2\n.5 .5\n1\n1", 9, "no variables"),
    ("BAYES\n2\n2 2\n2\n2 0 1\n2 1 0\n4\n.5 .5 .5 .5\n4\n.5 .5 .5 .5", None, "cycle"),
]


@pytest.mark.parametrize(("text", "line", "message"), BROKEN)
def test_a_wrong_file_is_refused_with_its_line(text, line, message, tmp_path):
    with pytest.raises(FileFormatError, match=message) as caught:
        loads(text, tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "a.uai"))
    assert caught.value.line == line


def test_every_beginning_of_a_file_is_refused(tmp_path):
    text = "MARKOV\n2\n2 3\n2\n1 0\n2 0 1\n2\n0.5 1\n6\n1 2 3 4 5 6"
    for end in range(len(text)):
        with pytest.raises(FileFormatError):
            loads(text[:end], tmp_path)


HUGE = "9" * 18


@pytest.mark.parametrize(
    "text",
    [
        f"MARKOV {HUGE}",
        f"MARKOV {HUGE} 2 2 2",
        f"MARKOV 1 {HUGE} 0",
        f"MARKOV 1 {HUGE} 1 1 0 {HUGE} 1",
        f"MARKOV 1 2 {HUGE} 1 0",
        f"MARKOV 1 2 1 {HUGE} 0 0 0",
        f"MARKOV 1 2 1 1 {HUGE} 2 1 1",
        f"MARKOV 1 2 1 1 0 {HUGE} 1 1",
        "MARKOV 1 1e300 1 1 0 1e300 1",
        "MARKOV 100 " + "1000000000 " * 100 + "1 100 " + " ".join(map(str, range(100))) + " 1 1",
        "MARKOV 1 2 1 1 0 2 1 " + "1" * 1_000_000 + "x",
        "MARKOV " + "0 " * 500_000,
        "MARKOV 500000 " + "1 " * 500_000 + "1",
        "MARKOV 1 2 1 1 0 2 " + "(" * 1_000_000,
        f"MARKOV 300000 {'2 ' * 300_000} 1 300000 {' '.join(map(str, range(300_000)))} 2 1 1",
    ],
    ids=lambda text: text[:30],
)
def test_hostile_headers_allocate_nothing(text, tmp_path):
    begun = time.thread_time()
    with pytest.raises(FileFormatError) as caught:
        loads(text, tmp_path)
    assert time.thread_time() - begun < 3
    assert len(str(caught.value)) < 600 + len(str(tmp_path))


def test_many_kinds_of_variables_are_counted_before_they_are_made(tmp_path):
    cards = range(5000, 9000)
    text = f"MARKOV {len(cards)} {' '.join(map(str, cards))} 0"
    with config(memory_limit="200 MB"), pytest.raises(TooLarge, match="different states"):
        loads(text, tmp_path)


def test_a_table_of_too_many_axes(tmp_path):
    n = 70
    text = f"MARKOV {n} {'1 ' * n} 1 {n} {' '.join(map(str, range(n)))} 1 1"
    with pytest.raises(FileFormatError, match="70 variables"):
        loads(text, tmp_path)


def test_all_errors_are_ours(tmp_path):
    assert issubclass(FileFormatError, PGMError)
    assert uai.write(MarkovNetwork(), expand=False).startswith("MARKOV\n0\n")
