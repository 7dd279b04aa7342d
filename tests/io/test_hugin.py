"""Hugin NET: what other programs write, nested lists, normal distributions, names, files that are wrong.

Fuzz, nasty names and the networks of shared/ are in test_formats.py.
"""

from __future__ import annotations

import io
import math
import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pgm
from pgm.errors import FileFormatError, IncompleteModel, InvalidArgument, PGMError


def loads(text: str) -> pgm.BayesianNetwork:
    net = pgm.read(io.StringIO(text), format="net")
    assert isinstance(net, pgm.BayesianNetwork)
    return net


def dumps(net: pgm.BayesianNetwork, **options: bool) -> str:
    file = io.StringIO()
    pgm.write(net, file, format="net", **options)
    return file.getvalue()


HEAD = """net { }
node a { states = ("x" "y"); }
node b { states = ("p" "q" "r"); }
"""
ROOT = "potential (a) { data = (0.25 0.75); }\n"
ROWS = [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
CHILD = "potential (b | a) { data = ((0.1 0.2 0.7)(0.3 0.3 0.4)); }\n"


# --- what others write --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        HEAD + ROOT + CHILD,
        HEAD + CHILD + ROOT,
        ROOT + CHILD + HEAD,
        HEAD.replace("net { }\n", "") + ROOT + CHILD,
        HEAD + ROOT + "potential(b|a){data=((0.1 0.2 0.7)(0.3 0.3 0.4));}",
        HEAD + ROOT + "potential (b | a) { data = (0.1 0.2 0.7 0.3 0.3 0.4); }",  # flat
        HEAD + ROOT + "potential (b | a) { data = 0.1 0.2 0.7 0.3 0.3 0.4; }",
        HEAD + ROOT + "potential (b | a) { data = ((0.1 0.2 0.7) 0.3 0.3 0.4); }",  # in part
        HEAD + ROOT + "potential (b | a) { data = ((((0.1 0.2 0.7))((0.3 0.3 0.4)))); }",
        HEAD + ROOT + "potential (b | a) { data = ((0.1, 0.2, 0.7), (0.3, 0.3, 0.4)); }",
        HEAD + ROOT.replace("(a)", "(a | )").replace("0.25", "25e-2").replace("0.75", "+.75") + CHILD,
        HEAD + ROOT + CHILD.replace("data", "experience = (1 2); data").replace("; }", "; fading = (1 1); }"),
        (HEAD + ROOT + CHILD).replace("node", "discrete node"),
        (HEAD + ROOT + CHILD).replace('"', ""),  # aGrUM
        (HEAD + ROOT + CHILD).replace("\n", "\r\n"),
        "% first\n" + (HEAD + ROOT + CHILD).replace(";", '; % a=x ) " { ;\n'),
        "/* first */" + (HEAD + ROOT + CHILD).replace("\n", ' // remark " }\n'),
        (HEAD + ROOT + CHILD).replace(
            'states = ("x" "y");',
            'label = "a, \\"the\\" first\n}"; position = (100 200); HR_x = "0";'
            'subtype = labelled; states = ("x" "y"); HR_State_0 = "";',
        ),
        (HEAD + ROOT + CHILD).replace(
            "net { }", 'net { node_size = (80 40); HR_Zoom = "100"; default = 1e5; }'
        ),
        'class a1 { inputs = (); outputs = (a b); node_size = (80 40); HR_x = ""; '
        + (HEAD + ROOT + CHILD).replace("net { }", "")
        + "} % class a1\n",
    ],
)
def test_ways_of_writing_one_network(text):
    net = loads(text)
    assert set(net.variables) == {"a", "b"}
    assert net.variables["a"].states == ("x", "y")
    assert net.variables["b"].states == ("p", "q", "r")
    assert net.cpd("a").values.tolist() == [0.25, 0.75]
    assert net.cpd("b").values.tolist() == ROWS
    assert net.parents("b") == ("a",)


def test_the_state_of_the_child_changes_fastest_and_then_of_the_last_parent():
    numbers = np.random.default_rng(0).dirichlet([1, 1], size=(3, 2))
    text = " ".join(map(repr, numbers.ravel().tolist()))
    head = HEAD + ROOT + CHILD + 'node c { states = ("n" "y"); }\n'
    net = loads(f"{head} potential (c | b a) {{ data = ({text}); }}")
    np.testing.assert_array_equal(net.cpd("c").values, numbers)
    assert net.parents("c") == ("b", "a")


@pytest.mark.parametrize("written", ["gum", "pgm"])
def test_tables_mean_the_same_to_agrum(written, tmp_path):
    gum = pytest.importorskip("pyagrum")
    peer = gum.fastBN("a[3]->b<-c{x|y|z}->d<-b;e->d")
    path = tmp_path / "peer.net"
    gum.saveBN(peer, str(path))
    net = pgm.read(path)
    if written == "pgm":
        pgm.write(net, path)
        peer = gum.loadBN(str(path))
    assert set(net.variables) == peer.names()
    for name, variable in net.variables.items():
        table = peer.cpt(name)
        assert variable.states == peer.variable(name).labels()
        axes = [table.names[::-1].index(v) for v in (*net.parents(name), name)]  # numpy has them reversed
        # It reads single precision, and writes all digits.
        close = 1e-7 if written == "pgm" else 1e-12
        np.testing.assert_allclose(net.cpd(name).values, table.toarray().transpose(axes), atol=close)


def test_names_that_are_no_identifiers_mean_the_same_to_agrum(tmp_path):
    gum = pytest.importorskip("pyagrum")
    net = pgm.BayesianNetwork("wet grass")
    net.add("a b", [0.25, 0.75], states=["<5 %", "x/y"])
    net.add("ä/b", [[0.1, 0.9], [0.2, 0.8]], parents=["a b"], states=["no", "yes; (no)"])
    pgm.write(net, tmp_path / "a.net")
    peer = gum.loadBN(str(tmp_path / "a.net"))
    assert peer.names() == {"a_b", "b"}
    assert peer.variable("a_b").labels() == ("<5 %", "x/y")
    assert peer.variable("b").labels() == ("no", "yes; (no)")
    np.testing.assert_allclose(peer.cpt("b").toarray(), net.cpd("ä/b").values, atol=1e-7)


def test_tables_mean_the_same_to_pgmpy(tmp_path):
    readwrite = pytest.importorskip("pgmpy.readwrite")
    net = loads(HEAD + ROOT + CHILD + 'node c { states = ("n" "y"); }potential (c | b a) {}')
    values = np.random.default_rng(1).dirichlet([1, 1], size=(3, 2))
    net.set("c", values, parents=["b", "a"])
    pgm.write(net, tmp_path / "a.net")
    peer = readwrite.NETReader(str(tmp_path / "a.net")).get_model()
    for name in net.variables:
        cpd = peer.get_cpds(name)
        assert tuple(cpd.variables) == (name, *net.parents(name))
        theirs = np.moveaxis(np.asarray(cpd.values), 0, -1)
        np.testing.assert_allclose(theirs, net.cpd(name).values, atol=1e-12)
    readwrite.NETWriter(peer).write(str(tmp_path / "b.net"))  # eight decimals
    again = pgm.read(tmp_path / "b.net")
    np.testing.assert_allclose(again.cpd("c").values, values, atol=2e-8)


def test_without_data_a_distribution_is_uniform():
    net = loads(HEAD + "potential (a) { } potential (b | a) { experience = (1 1); }")
    assert net.cpd("a").values.tolist() == [0.5, 0.5]
    assert net.cpd("b").values.tolist() == [[1 / 3] * 3] * 2
    assert loads("continuous node x { } potential (x) { }").cpd("x") == pgm.LinearGaussian().bind(
        "x", None, ()
    )


def test_nodes_of_numbers_and_intervals():
    text = """
    node n { subtype = number; state_values = (0 1 2.5); }
    node m { subtype = number; states = ("" ""); state_values = (-1 1); }
    node l { subtype = number; states = ("low" "high"); state_values = (-1 1); }
    node i { subtype = interval; state_values = (-infinity 0 1.5 infinity); }
    node j { subtype = interval; states = ("a" "b" "c"); state_values = (0 1 2 3); }
    node t { subtype = boolean; states = ("false" "true"); }
    potential (n) { } potential (m) { } potential (l) { }
    potential (i) { } potential (j) { } potential (t) { }
    """
    net = loads(text)
    assert net.variables["n"].states == ("0", "1", "2.5")
    assert net.variables["n"].code(2.5) == 2
    assert net.variables["m"].states == ("-1", "1")
    assert net.variables["l"].states == ("low", "high")
    assert net.variables["i"].bins == pgm.Bins([-math.inf, 0, 1.5, math.inf])
    assert net.variables["j"].states == ("a", "b", "c")
    assert net.variables["t"].code(True) == 1
    again = loads(dumps(net))
    assert again == net
    assert again.variables["i"].bins == net.variables["i"].bins


# --- normal distributions -----------------------------------------------------------------------------------

MIXED = (
    HEAD
    + ROOT
    + CHILD
    + """
continuous node z { label = "a number"; }
continuous node w { }
potential (z) { data = normal (1.5, 0.25); }
"""
)


@pytest.mark.parametrize(
    ("mean", "bias", "weight"),
    [
        ("1", 1.0, 0.0),
        ("1 + 2 * z", 1.0, 2.0),
        ("1-2*z", 1.0, -2.0),
        ("z", 0.0, 1.0),
        ("- z", 0.0, -1.0),
        ("-1e-3 + z * 2.5E1", -1e-3, 25.0),
        ("2 * z + 1", 1.0, 2.0),
        ("- 1 - z", -1.0, -1.0),
    ],
)
def test_means_are_sums(mean, bias, weight):
    net = loads(f"{MIXED} potential (w | z) {{ data = normal ( {mean}, 4 ); }}")
    cpd = net.cpd("w")
    assert (cpd.bias, cpd.weights.tolist(), cpd.sd) == (bias, [weight], 2.0)
    assert (net.cpd("z").bias, net.cpd("z").sd) == (1.5, 0.5)


@pytest.mark.parametrize("nested", ["({0} {1} {2} {3} {4} {5})", "(({0} {1} {2}) ({3} {4} {5}))"])
def test_a_normal_distribution_for_each_configuration(nested):
    rows = [f"normal ( {i} + {i}.5 * z, {i * i} )" for i in range(6)]
    net = loads(f"{MIXED} potential (w | a z b) {{ data = {nested.format(*rows)}; }}")
    cpd = net.cpd("w")
    assert cpd.parents == ("a", "b", "z")  # those with states first
    assert cpd.bias.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert cpd.weights.tolist() == [[[0.5], [1.5], [2.5]], [[3.5], [4.5], [5.5]]]
    assert cpd.sd.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert loads(dumps(net)) == net


def test_a_mixed_network_answers_as_the_one_that_was_built():
    # Hugin's numbers are variances: z ~ N(1.5, 0.25), w = 1 + 2 z + N(0, 4) has the variance 4 * 0.25 + 4.
    found = loads(f"{MIXED} potential (w | z) {{ data = normal ( 1 + 2 * z, 4 ); }}").query("w")
    assert (found.mean, found.variance) == (pytest.approx(4.0, abs=1e-12), pytest.approx(5.0, abs=1e-12))


sizes = st.floats(-1e100, 1e100, allow_nan=False)
sds = st.just(0.0) | st.floats(1e-100, 1e100)


@given(st.lists(st.tuples(sizes, sizes, sizes, sds), min_size=2, max_size=2))
@settings(max_examples=200, deadline=None)
def test_normal_distributions_come_back_bit_by_bit(rows):
    net = pgm.BayesianNetwork()
    net.add("on/off", 0.5)
    net.add("x 1", pgm.LinearGaussian())
    net.add("normal", pgm.LinearGaussian())
    net.add(
        "y",
        {
            state: pgm.LinearGaussian({"x 1": one, "normal": two}, bias=bias, sd=sd)
            for state, (one, two, bias, sd) in zip([False, True], rows, strict=True)
        },
        parents=["on/off"],
    )
    again = loads(dumps(net))
    assert again.parents("y") == ("on/off", "x 1", "normal")
    for field in ("weights", "bias", "sd"):
        assert getattr(again.cpd("y"), field).tobytes() == getattr(net.cpd("y"), field).tobytes()


# --- names --------------------------------------------------------------------------------------------------


def test_a_name_is_the_identifier_unless_we_wrote_another():
    net = loads('node a { label = "Age (years)"; states = ("x" "y"); } potential (a) { }')
    assert list(net.variables) == ["a"]
    text = 'node a_b { label = "other"; pgm_name = "a b"; states = ("x" "y"); } potential (a_b) { }'
    assert list(loads(text).variables) == ["a b"]
    # Another program has renamed the node, and kept what it does not know.
    assert list(loads(text.replace("a_b", "foo")).variables) == ["foo"]


def test_names_that_look_alike_stay_apart():
    names = [
        "a b",
        "a_b",
        "a/b",
        "a_b_2",
        "node",
        "data",
        "é",
        "日",
        "1",
        "_",
        "n",
        'q"',
        "b\\s",
        "l\nm",
        "%",
        "=;",
    ]
    net = pgm.BayesianNetwork('all "of\\them"')
    for number, name in enumerate(names):
        net.add(name, [number / 100, 1 - number / 100], states=[name, "else"])
    text = dumps(net)
    nodes = re.findall(r"^node (\S+)$", text, re.MULTILINE)
    assert len(set(nodes)) == len(names)
    assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", node) for node in nodes)
    again = loads(text)
    assert again == net
    assert list(again.variables) == names
    assert again.name == net.name
    assert text.count("pgm_name") == len(names) - 3  # a_b, a_b_2 and n are identifiers


def test_two_nodes_of_one_name_are_refused():
    text = 'node a { pgm_name = "a"; states = (x y); }\nnode a_2 { pgm_name = "a"; states = (x y); }'
    with pytest.raises(FileFormatError, match=":2:1: a second variable has the name 'a'"):
        loads(text)


def test_networks_have_names():
    assert loads("net { name = anonymousBN; }").name == "anonymousBN"
    assert loads('net { name = my net; software = "aGrUM 3"; }').name == "my net"
    assert loads('net { name = "my \\"net\\""; }').name == 'my "net"'
    assert loads("class alone { }").name == "alone"
    assert loads("net { }").name == loads("").name == ""


# --- files that are wrong -----------------------------------------------------------------------------------


def data(list_: str) -> str:
    return HEAD + ROOT + "potential (b | a) {\n" + list_ + "\n}"


BROKEN = [
    ("network unknown { }", 1, "expected 'net', 'node', 'potential' or the end of the file, found 'network'"),
    ("<BIF/>", 1, "'<BIF/>'"),
    ("net", 1, "expected '{'.*the end of the file"),
    ("net { a }", 1, "expected '=' after 'a' in 'net', found '}'"),
    ("net { a = 1 }", 1, "the attribute 'a' in 'net' has no ';'"),
    ("net { } }", 1, "found '}'"),
    ("class a { \n", 2, "expected '}' at the end of the class"),
    ("class a { }\nclass b { }", 2, "found 'class'"),
    (HEAD + "\ndecision d { }", 5, "in the node 'd', found none"),
    (HEAD + "\nutility u { }", 2, "'a' has no potential"),
    (HEAD + "\ncontinuous utility u { }", 5, "found 'continuous'"),
    (HEAD + "\nfunction f { }", 5, "'f' is of the kind function"),
    (HEAD + "\ninstance i : c (x = y) { }", 5, "'i' is of the kind instance"),
    (HEAD.replace("node b", "node a"), 3, "'a' is declared a second time"),
    (HEAD.replace('states = ("p" "q" "r");', ""), 3, "expected 'states = .* in the node 'b', found none"),
    (HEAD.replace('("p" "q" "r")', "()"), 3, "expected 'states"),
    (HEAD.replace('"r"', '"p"'), 3, "'p' appears twice"),
    (HEAD.replace('"r"', '"1" "1.0"'), 3, "'1' and '1.0' would be confused"),
    (HEAD.replace('"r"', '"r'), 3, "quote.*never closed"),
    (HEAD.replace('"r"', '"r\n"'), 3, "line break"),
    (HEAD.replace('"r");', '"r"); states = (x);'), 3, "a second 'states' in the node 'b'"),
    (
        HEAD.replace('states = ("p"', 'states ("p"'),
        3,
        r"expected '=' after 'states' in the node 'b', found '\('",
    ),
    ("\nnode i { subtype = interval; state_values = (0 x); }", 2, "expected a number .* found 'x'"),
    ("\nnode i { subtype = interval; state_values = (1 0); }", 2, "must increase"),
    ("\nnode i { subtype = interval; state_values = (1); }", 2, "two edges"),
    (HEAD + ROOT, 3, "'b' has no potential"),
    (HEAD + ROOT + CHILD + CHILD, 6, "a second potential for 'b'"),
    (HEAD + ROOT + CHILD.replace("| a", "| z"), 5, "'z' is not a variable"),
    (HEAD + ROOT + CHILD.replace("| a", "| a a"), 5, "name appears twice"),
    (HEAD + ROOT + CHILD.replace("b | a", "a b | a"), 5, r"one variable before the '\|'"),
    (HEAD + ROOT.replace("(a)", "(a | b)").replace("data = (0.25 0.75);", "") + CHILD, None, "cycle"),
    (data("data = (0.1 0.2 0.7 0.3 0.3);"), 6, "'b': expected 6 numbers, found 5"),
    (data("data = ();"), 6, "expected 6 numbers, found 0"),
    (data("data = ;"), 6, "expected 6 numbers, found 0"),
    (data("data = (0.1 0.2 0.7\n0.3 four 0.4);"), 7, "expected a number or ';', found 'four'"),
    (data("data = (0.1 0.2 0.7\n0.3 nan 0.7);"), 7, "found 'nan'"),
    (data("data = ((0.1 0.2 0.7)\n(0.3 0.4 0.4));"), 7, "'b', row a='y'.*sum to 1.1"),
    (data("data = ((0.1 0.2 0.7)\n(-0.3 0.9 0.4));"), 7, "'b', row a='y'.*'p' is -0.3"),
    (
        data("data = ((0.1 0.2)\n(0.7 0.3) (0.3 0.4));"),
        6,
        "parentheses that end here hold 2, and 3 or 6 belong",
    ),
    (data("data = (0.1 (0.2 0.7 0.3) 0.3 0.4);"), 6, "hold 3"),
    (data("data = ((0.1 0.2 0.7)(0.3 0.3 0.4)()) ;"), 6, "hold 0"),
    (data("data = ((0.1 0.2 0.7)(0.3 0.3 0.4) ;"), 6, "never closed"),
    (data("data = (0.1 0.2 0.7)\n)(0.3 0.3 0.4);"), 7, r"this '\)' has no '\('"),
    (data("data = (0.1 0.2 0.7 0.3 0.3 0.4)"), 6, "'data' in the potential of 'b' has no ';'"),
    (data("data = (1 0 0 1 0 0);\ndata = (1 0 0 1 0 0);"), 7, "a second 'data'"),
    (data('model_nodes = ();\nmodel_data = ("Binomial(2, 0.5)");'), 5, "'b' has a model .* and no 'data'"),
    (data("data = normal ( 0, 1 );"), 6, "'b'.*expected 6 numbers|found 'normal'"),
    (
        MIXED + "potential (w | z) { data = (0.5 0.5); }",
        10,
        "'normal . mean, variance .', found '0.5'",
    ),
    (MIXED + "potential (w | z) { data = normal ( 1 ); }", 10, "mean, variance"),
    (MIXED + "potential (w | z) { data = normal ( 1, 2, 3 ); }", 10, "mean, variance"),
    (MIXED + "potential (w | z) { data = normal ( 1, -2 ); }", 10, "variance a number from 0"),
    (MIXED + "potential (w | z) { data = normal ( 1, inf ); }", 10, "variance"),
    (MIXED + "potential (w | z) { data = normal ( , 2 ); }", 10, "a sum of numbers"),
    (MIXED + "potential (w | z) { data = normal ( 1 2, 2 ); }", 10, "a sum of numbers"),
    (MIXED + "potential (w | z) { data = normal ( 1 + 2 * y, 2 ); }", 10, "'y' is not a continuous parent"),
    (MIXED + "potential (w | z) { data = normal ( z * z, 2 ); }", 10, "a sum of numbers"),
    (MIXED + "potential (w | z) { data = normal ( z + z, 2 ); }", 10, "a second term"),
    (MIXED + "potential (w | z) { data = normal ( 1e300, 2 ); }", 10, "bias"),
    (
        MIXED + "potential (w | z) { data = normal (1, 1) normal (1, 1); }",
        10,
        "expected 1 normal .*, found 2",
    ),
    (
        MIXED + "potential (w | b) { data = (normal (1, 1)(normal (1, 1) normal (1, 1))); }",
        10,
        "hold 2, and 1 or 3",
    ),
    (MIXED + "potential (w | a) { data = (normal (1, 1)); }", 10, "expected 2 normal .*, found 1"),
    (
        MIXED.replace("potential (b | a)", "potential (b | a z)") + "potential (w) { }",
        5,
        "'b' is discrete, and its parent 'z' is not",
    ),
]


@pytest.mark.parametrize(("text", "line", "message"), BROKEN)
def test_a_wrong_file_is_refused_with_its_line(text, line, message):
    with pytest.raises(FileFormatError, match=f"(?s){message}") as caught:
        loads(text)
    assert caught.value.line == line
    assert len(str(caught.value)) < 600


def test_the_column_is_that_of_the_word():
    with pytest.raises(FileFormatError) as caught:
        loads(data("data = ((0.1 0.2 0.7) % here\n  (0.3 four 0.4));"))
    assert (caught.value.line, caught.value.column) == (7, 8)
    with pytest.raises(FileFormatError) as caught:
        loads(data("data = ((0.1 0.2 0.7)\n (0.3 0.4 0.4));"))
    assert (caught.value.line, caught.value.column) == (7, 3)


def test_every_beginning_of_a_file_is_refused():
    text = (HEAD + ROOT + CHILD).rstrip()
    for end in range(text.index("node a"), len(text)):
        with pytest.raises(FileFormatError):
            loads(text[: end + 1] if end + 1 < len(text) else text[:-1])


# --- hostile files ------------------------------------------------------------------------------------------


def test_blanks_of_other_scripts_around_a_variance():
    for blank in ("\x1c", "\x85", "\u2003"):
        net = loads("continuous node z { }\npotential (z) { data = normal ( 1.5, 2.25" + blank + "); }")
        assert net.query("z").variance == pytest.approx(2.25, rel=1e-14)


@pytest.mark.parametrize("parents", [40, 70, 2000])
def test_a_table_too_large_for_any_memory_is_not_made(parents):
    text = "".join(f"node v{i} {{ states = (n y); }} potential (v{i}) {{ }}\n" for i in range(parents))
    text += f"node c {{ states = (n y); }} potential (c | {' '.join(f'v{i}' for i in range(parents))}) "
    begun = time.thread_time()
    assert len(loads(text + "{ }").cpd("c").to_dict()) == 1
    with pytest.raises(PGMError, match="'c'"):
        loads(text + "{ data = (0.5 0.5); }")
    with pytest.raises(PGMError, match="'c'"):
        loads(text.replace("node c { states = (n y);", "continuous node c {") + "{ }")
    assert time.thread_time() - begun < 5


@pytest.mark.parametrize(
    "text",
    [
        '"' * 300_001,
        "(" * 600_000,
        "%" * 600_000 + "\nx",
        "net {" + "a = 1;" * 100_000,
        "net {" + "a = " * 100_000,
        "class " * 100_000,
        "node " * 100_000,
        HEAD + ROOT + "potential (b | a) { data = " + "(" * 500_000 + ";}",
        HEAD + ROOT + "potential (b | a) { data = " + "(" * 250_000 + ")" * 250_000 + ";}",
        HEAD + ROOT + "potential (b | a) { data = " + "0.1 " * 150_000 + ";}",
        HEAD + ROOT + "potential (b | a) { data = " + "e" * 500_000 + ";}",
        MIXED + "potential (w | z) { data = " + "normal (" * 60_000 + ";}",
        MIXED + "potential (w | z) { data = " + "normal (1, 1)" * 40_000 + ";}",
        MIXED + "potential (w | z) { data = normal (" + "1 " * 200_000 + ", 1);}",
        MIXED + "potential (w | z) { data = normal (" + " " * 500_000 + "x, 1);}",
        MIXED + "potential (w | z) { data = normal (" + "z * " * 100_000 + ", 1);}",
        MIXED + "potential (w | z) { data = normal (" + "1" * 500_000 + "x, 1);}",
    ],
    ids=lambda text: text[-40:-20].strip().replace("\n", " "),
)
def test_no_file_takes_long(text):
    begun = time.thread_time()
    with pytest.raises(FileFormatError) as caught:
        loads(text)
    assert time.thread_time() - begun < 3
    assert len(str(caught.value)) < 600


def test_parentheses_may_be_deep():
    net = loads(data(f"data = {'(' * 100_000}0.1 0.2 0.7 0.3 0.3 0.4{')' * 100_000};"))
    assert net.cpd("b").values.tolist() == ROWS


# --- what it cannot hold ------------------------------------------------------------------------------------


def test_what_net_cannot_hold():
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("b", pgm.NoisyOr({"a": 0.5}))
    with pytest.raises(InvalidArgument, match=r"'b' is a NoisyOr; expand=True"):
        dumps(net)
    written = loads(dumps(net, expand=True))
    np.testing.assert_array_equal(written.cpd("b").values, net.cpd("b").table())
    with pytest.raises(InvalidArgument, match=r"\.uai"):
        dumps(pgm.MarkovNetwork())
    with pytest.raises(IncompleteModel):
        dumps(pgm.BayesianNetwork(edges="a -> b"))
    net = pgm.BayesianNetwork()
    net.add("a\x00", 0.5)
    with pytest.raises(InvalidArgument, match="control character"):
        dumps(net)
    net = pgm.BayesianNetwork()
    net.add("a", [0.5, 0.5], states=["x", ("y", 1)])
    with pytest.raises(InvalidArgument, match="states as text"):
        dumps(net)


def test_what_is_written_is_plain():
    net = loads(HEAD + ROOT + CHILD)
    assert (
        dumps(net)
        == """net
{
}

node a
{
  states = ("x" "y");
}

node b
{
  states = ("p" "q" "r");
}

potential (a)
{
  data = (0.25 0.75);
}

potential (b | a)
{
  data = ((0.1 0.2 0.7)
          (0.3 0.3 0.4));
}
"""
    )


@pytest.mark.parametrize("expand", [False, True])
def test_what_depends_on_a_number_is_not_promised_a_table(expand):
    net = pgm.BayesianNetwork()
    net.add("x", pgm.LinearGaussian({}, bias=0.0, sd=1.0))
    net.add("y", pgm.Logistic({"x": 2.0}, bias=1.0))
    said = r"'y' depends on 'x', continuous, and has no table\. A JSON file holds it: format=\"json\""
    with pytest.raises(InvalidArgument, match=said):
        dumps(net, expand=expand)
