"""DSC: what MSBN, GeNIe and bnlearn write, keys of all kinds, names, files that are wrong.

Fuzz, nasty names and the networks of shared/ are in test_formats.py.
"""

from __future__ import annotations

import io
import re
import time

import numpy as np
import pytest

import pgm
from pgm.errors import FileFormatError, InvalidArgument, PGMError


def loads(text: str) -> pgm.BayesianNetwork:
    net = pgm.read(io.StringIO(text), format="dsc")
    assert isinstance(net, pgm.BayesianNetwork)
    return net


def dumps(net: pgm.BayesianNetwork, **options: bool) -> str:
    file = io.StringIO()
    pgm.write(net, file, format="dsc", **options)
    return file.getvalue()


HEAD = """belief network "n"
node a { type : discrete [ 2 ] = { "x", "y" }; }
node b { type : discrete [ 3 ] = { "p", "q", "r" }; }
"""
ROOT = "probability ( a ) { 0.25, 0.75; }\n"
ROWS = [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
CHILD = "probability ( b | a ) { (0) : 0.1, 0.2, 0.7; (1) : 0.3, 0.3, 0.4; }\n"
BNLEARN = """belief network "n"
node a {
  type : discrete [ 2 ] = { "x", "y" };
}
node b {
  type : discrete [ 3 ] = { "p", "q", "r" };
}
probability ( a ) {
   0.25, 0.75;
}
probability ( b | a ) {
  (0) : 0.1, 0.2, 0.7;
  (1) : 0.3, 0.3, 0.4;
}
"""
GENIE = """belief network "n"

node a
{
    name : "Alpha: { the first }";
    type : discrete[2] =
    {
        "x",
        "y"
    };
    position : (207, 95);
}

node b
{
    name : "Alpha: { the first }";
    type : discrete[3] =
    {
        "p",
        "q",
        "r"
    };
    position : (361, 95);
}

probability (a)
{
    0.25000000, 0.75000000;
}

probability (b | a)
{
    (0, 0) : 0.10000000, 0.20000000, 0.70000000;
    (0, 0) : 0.30000000, 0.30000000, 0.40000000
    ;
}
"""
MSBN = """// made by hand
belief network "n"
properties
{
    type label = choice of [other, cause], "what { it } is";
    nested { version is 1.0; }
}
node a { name is "A"; type is discrete[2] = { "x", "y" }; position is (1, 2); (label) = cause; }
node b { name = "B"; type = discrete[3] = { "p", "q", "r" }; property (label) = other; }
probability(a) { default = 0.25, 0.75; } /* the
rest */
probability(b | a) { default is 0.1, 0.2, 0.7; ("y") : 0.3, 0.3, 0.4; }
"""


# --- what others write --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        HEAD + ROOT + CHILD,
        HEAD + CHILD + ROOT,
        BNLEARN,
        GENIE,
        MSBN,
        BNLEARN.replace("\n", "\r\n"),
        BNLEARN.replace("\n", " "),
        BNLEARN.replace('network "n"', "network n"),
        HEAD + ROOT + "probability ( b | a ) { (1) = 0.3 0.3 0.4; (0) = 0.1 0.2 0.7; }",
        HEAD + ROOT + "probability ( b | a ) { (x) : 0.1, 0.2, 0.7; (y) : 0.3, 0.3, 0.4; }",
        HEAD + ROOT + 'probability ( b | a ) { ("x") : 0.1, 0.2, 0.7; ("y") : 0.3, 0.3, 0.4; }',
        HEAD + ROOT + "probability(b|a){(0):0.1,0.2,0.7;default:0.3,0.3,0.4;}",
    ],
)
def test_ways_of_writing_one_network(text):
    net = loads(text)
    assert net.name == "n"
    assert net.variables["a"].states == ("x", "y")
    assert net.variables["b"].states == ("p", "q", "r")
    assert net.cpd("a").values.tolist() == [0.25, 0.75]
    assert net.cpd("b").values.tolist() == ROWS
    assert net.parents("b") == ("a",)


def test_keys_follow_the_order_of_the_parents():
    numbers = np.random.default_rng(0).dirichlet([1, 1], size=(3, 2))
    head = HEAD + ROOT + CHILD + 'node c { type : discrete [ 2 ] = { "n", "y" }; }\n'
    rows = [
        f"({i}, {j}) : {', '.join(map(repr, numbers[i, j].tolist()))};" for j in range(2) for i in range(3)
    ]
    net = loads(f"{head} probability ( c | b, a ) {{ {' '.join(rows)} }}")
    np.testing.assert_array_equal(net.cpd("c").values, numbers)
    assert net.parents("c") == ("b", "a")
    # GeNIe writes zeros; the last parent changes fastest, as in its tables.
    rows = [f"(0, 0, 0) : {', '.join(map(repr, row))};" for row in numbers.reshape(-1, 2).tolist()]
    net = loads(f"{head} probability ( c | b, a ) {{ {' '.join(rows)} }}")
    np.testing.assert_array_equal(net.cpd("c").values, numbers)


def test_a_number_before_a_row_counts_states_and_a_quoted_one_is_a_state():
    head = 'belief network "n"\nnode a { type : discrete [ 2 ] = { "1", "0" }; }\n'
    head += 'node b { type : discrete [ 2 ] = { "n", "y" }; }\nprobability ( a ) { 0.5, 0.5; }\n'
    by_number = loads(head + "probability ( b | a ) { (0) : 0.1, 0.9; (1) : 0.8, 0.2; }")
    by_name = loads(head + 'probability ( b | a ) { ("0") : 0.8, 0.2; ("1") : 0.1, 0.9; }')
    assert by_number.cpd("b").values.tolist() == by_name.cpd("b").values.tolist() == [[0.1, 0.9], [0.8, 0.2]]
    with pytest.raises(FileFormatError, match="no state '\"2\"'"):
        loads(
            head.replace('{ "1"', '{ "3"') + 'probability ( b | a ) { ("2") : 0.8, 0.2; ("3") : 0.1, 0.9; }'
        )


# --- names --------------------------------------------------------------------------------------------------


def test_a_name_is_the_identifier_unless_we_wrote_another():
    text = BNLEARN.replace("node a {", 'node a {\n name : "Age";')
    assert list(loads(text).variables) == ["a", "b"]
    text = 'belief network ""\nnode a_b { name : "x"; pgm_name : "a b"; type : discrete [ 1 ] = { "x" }; }\n'
    text += "probability ( a_b ) { 1; }"
    assert list(loads(text).variables) == ["a b"]
    assert list(loads(text.replace("a_b", "foo")).variables) == ["foo"]  # another program renamed the node


def test_names_that_look_alike_stay_apart():
    names = ["a b", "a_b", "a/b", "a_b_2", "node", "default", "is", "é", "日", "1", "_", "n"]
    names += ['q"', "b\\s", "l\nm", "//", "=;"]
    net = pgm.BayesianNetwork('all "of\\them"')
    for number, name in enumerate(names):
        parents = names[max(0, number - 1) : number]
        row = [number / 100, 1 - number / 100]
        net.add(name, [row, row[::-1]] if parents else row, parents=parents, states=[name, "else"])
    text = dumps(net)
    nodes = re.findall(r"^node (\S+) \{$", text, re.MULTILINE)
    assert len(set(nodes)) == len(names)
    assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", node) for node in nodes)
    again = loads(text)
    assert again == net
    assert list(again.variables) == names
    assert again.name == net.name


def test_networks_need_no_name():
    assert loads("belief network").name == loads('belief network ""').name == ""
    assert loads("belief network node a { type : discrete[1] = { x }; } probability (a) { 1; }").name == ""
    for name in ("", "node", "a b"):
        assert loads(dumps(pgm.BayesianNetwork(name))).name == name


# --- files that are wrong -----------------------------------------------------------------------------------


def table(body: str) -> str:
    return HEAD + ROOT + "probability ( b | a ) {\n" + body + "\n}"


BROKEN = [
    ("", 1, "expected 'belief network'.*found the end of the file"),
    ("network n { }", 1, "expected 'belief network'.*'network'"),
    ("belief\nnet", 2, "expected 'belief network'.*'net'"),
    ("belief network {", 1, "expected the name of the network, found '{'"),
    (HEAD + "variable x", 4, "expected 'node', 'probability', 'properties' or the end.*'variable'"),
    (HEAD + "properties { { }", 4, "'{' after 'properties' is never closed"),
    (HEAD + "decision d { }", 4, "in the decision 'd', found none"),
    (HEAD + "\nutility u { }", 2, "'a' has no probability block"),
    (HEAD.replace("node b", "node a"), 3, "'a' is declared a second time"),
    (
        HEAD.replace("type : discrete [ 3 ]", "type : continuous [ 3 ]"),
        3,
        "expected 'discrete'.*'b'.*'continuous'",
    ),
    (HEAD.replace("type : discrete [ 3 ]", "type : yesno"), 3, "expected 'discrete'.*'b'.*'yesno'"),
    (HEAD.replace("[ 3 ]", "[ 2 ]"), 3, "'2' states are announced in the node 'b', 3 are listed"),
    (HEAD.replace("[ 3 ]", "[ 1000000000000000 ]"), 3, "announced"),
    (HEAD.replace("[ 3 ] =", "[ 3 ]"), 3, "expected ':' or '=' and the states"),
    (HEAD.replace('"r" }; }', '"r" }; type : discrete [1] = { x }; }'), 3, "a second type"),
    (HEAD.replace('type : discrete [ 3 ] = { "p", "q", "r" };', ""), 3, "expected 'type : .*found none"),
    (HEAD.replace('"r"', '"p"'), 3, "'p' appears twice"),
    (HEAD.replace("node b {", "node b { position : (1, 2)\n"), 3, "no ';'"),
    (HEAD + ROOT, 3, "'b' has no probability block"),
    (HEAD + ROOT + CHILD + CHILD, 6, "second probability block for 'b'"),
    (HEAD + ROOT + CHILD.replace("| a", "| z"), 5, "'z' is not a variable"),
    (HEAD + ROOT.replace("( a )", "( a | b )").replace("0.25", "default : 0.25") + CHILD, None, "cycle"),
    (table("(0) : 0.1, 0.2, 0.7; (1) : 0.3, 0.3, 0.4"), 6, "expected ';'"),
    (table("(0) 0.1, 0.2, 0.7;"), 6, "expected ':' after the states of the parents"),
    (table("(0 : 0.1, 0.2, 0.7;"), 6, r"expected '\)'"),
    (table("0.1, 0.2, 0.7, 0.3, 0.3, 0.4;"), 6, "expected '. states . :' before the numbers"),
    (table("(0) : 0.1, 0.2, 0.7;\n(1) : 0.3, 0.4, 0.4;"), 7, "'b', row a='y'.*sum to 1.1"),
    (table("(0) : 0.1, 0.2, 0.7;\n(1) : 0.3, 0.3;"), 7, "expected 3 numbers, found 2"),
    (table("(0) : 0.1, 0.2, 0.7;\n(1) : 0.3, 0.3, x;"), 7, "expected a number or ';', found 'x'"),
    (table("(0) : 0.1, 0.2, 0.7;\n(2) : 0.3, 0.3, 0.4;"), 7, "'a' has no state '2'"),
    (table("(0) : 0.1, 0.2, 0.7;\n(Y) : 0.3, 0.3, 0.4;"), 7, "'a' has no state 'Y'.*Did you mean 'y'"),
    (table("(0) : 0.1, 0.2, 0.7;\n(0) : 0.3, 0.3, 0.4;"), 7, "a second row for a='x'"),
    (table("(0) : 0.1, 0.2, 0.7;\n(0, 1) : 0.3, 0.3, 0.4;"), 7, "expected a state of each parent"),
    (table("(0, 0) : 0.1, 0.2, 0.7;"), 5, "the row for a='y' is missing"),
    (table("(0, 0) : 1, 0, 0;" * 2 + "\n(0, 0) : 1, 0, 0;"), 7, "3 rows, and the parents have 2"),
    (table("(0) : 0.1, 0.2, 0.7;"), 5, "the row for a='y' is missing"),
    (table("function : max;\ndefault : 1, 0, 0;"), 6, "'function' is not supported"),
    (table("default : 1, 0, 0;\ndefault : 1, 0, 0;"), 7, "a second 'default'"),
    (HEAD + "probability ( a ) { }" + CHILD, 4, "its row is missing"),
    (HEAD + "probability ( a ) { 0.25, 0.75; 0.25, 0.75; }" + CHILD, 4, "a second"),
]


@pytest.mark.parametrize(("text", "line", "message"), BROKEN)
def test_a_wrong_file_is_refused_with_its_line(text, line, message):
    with pytest.raises(FileFormatError, match=f"(?s){message}") as caught:
        loads(text)
    assert caught.value.line == line
    assert len(str(caught.value)) < 600


def test_every_beginning_of_a_file_is_refused():
    text = (HEAD + ROOT + CHILD).rstrip()
    for end in range(text.index("node b"), len(text)):
        with pytest.raises(FileFormatError):
            loads(text[:end])


# --- hostile files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parents", [40, 70, 2000])
def test_a_table_too_large_for_any_memory_is_not_made(parents):
    text = "belief network\n"
    for i in range(parents + 1):
        text += f"node v{i} {{ type : discrete [ 2 ] = {{ n, y }}; }}\n"
        text += f"probability ( v{i} ) {{ 0.5 0.5; }}\n" if i < parents else ""
    text += f"probability ( v{parents} | {' '.join(f'v{i}' for i in range(parents))} ) "
    begun = time.thread_time()
    assert len(loads(text + "{ default : 0.5 0.5; }").cpd(f"v{parents}").to_dict()) == 1
    with pytest.raises(PGMError, match="missing"):
        loads(text + "{ (" + "0 " * parents + ") : 0.5 0.5; }")
    with pytest.raises(PGMError, match="missing"):
        loads(text + "{ (" + "0 " * (parents + 1) + ") : 0.5 0.5; }")
    assert time.thread_time() - begun < 5


@pytest.mark.parametrize(
    "text",
    [
        "belief network " + '"' * 300_001,
        "belief network " + "{" * 600_000,
        "belief network n properties " + "{" * 600_000,
        HEAD + "node c { " + "x : " * 150_000,
        HEAD + "node c { " + "x : 1;" * 100_000,
        HEAD + ROOT + "probability ( b | a ) { " + "(0) : 0.1, 0.2, 0.7;" * 30_000 + "}",
        HEAD + ROOT + "probability ( b | a ) { " + "(0, 0) : 0.1, 0.2, 0.7;" * 30_000 + "}",
        HEAD + ROOT + "probability ( b | a ) { (0) " + " " * 600_000 + "x; }",
        HEAD + ROOT + "probability ( b | a ) { " + "x" * 600_000 + "; }",
        HEAD + ROOT + "probability ( b | a ) { (" + "9" * 600_000 + ") : 1 0 0; }",
    ],
    ids=lambda text: text[-40:-20].strip().replace("\n", " "),
)
def test_no_file_takes_long(text):
    begun = time.thread_time()
    with pytest.raises(FileFormatError) as caught:
        loads(text)
    assert time.thread_time() - begun < 3
    assert len(str(caught.value)) < 600


# --- what it cannot hold ------------------------------------------------------------------------------------


def test_what_dsc_cannot_hold():
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("b", pgm.NoisyOr({"a": 0.5}))
    with pytest.raises(InvalidArgument, match=r"'b' is a NoisyOr; expand=True"):
        dumps(net)
    written = loads(dumps(net, expand=True))
    np.testing.assert_array_equal(written.cpd("b").values, net.cpd("b").table())
    net = pgm.BayesianNetwork()
    net.add("x", pgm.LinearGaussian())
    with pytest.raises(InvalidArgument, match="continuous: 'x'"):
        dumps(net)
    net = pgm.BayesianNetwork()
    net.add("age", [0.5, 0.5], states=pgm.Bins([0, 18, 120]))
    with pytest.raises(InvalidArgument, match="expand=True writes the bins as text"):
        dumps(net)
    assert loads(dumps(net, expand=True)).variables["age"].states == ("[0, 18)", "[18, 120]")


def test_what_is_written_is_what_bnlearn_writes():
    assert dumps(loads(BNLEARN)) == BNLEARN.replace("   0.25", "  0.25")
