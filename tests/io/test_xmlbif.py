"""XMLBIF: what other programs write, names, errors with their places, hostile files."""

from __future__ import annotations

import io
import re
import time
import tracemalloc

import numpy as np
import pytest

import pgm
from pgm.config import config
from pgm.errors import FileFormatError, InvalidArgument, PGMError, TooLarge
from pgm.io.markup import Markup
from pgm.io.text import Text


def loads(text: str | bytes) -> pgm.BayesianNetwork:
    data = text.encode() if isinstance(text, str) else text
    net = pgm.read(io.BytesIO(data), format="xmlbif")
    assert isinstance(net, pgm.BayesianNetwork)
    return net


def dumps(net: pgm.BayesianNetwork, **options: bool) -> str:
    file = io.StringIO()
    pgm.write(net, file, format="xmlbif", **options)
    return file.getvalue()


# --- what others write --------------------------------------------------------------------------------------

# In the manner of the interchange page and of JavaBayes: a DTD, comments, properties, names on lines.
JAVABAYES = """<?xml version="1.0" encoding="US-ASCII"?>
<!--
  Bayesian network in XMLBIF v0.3 (BayesNet Interchange Format)
  Produced by a program
-->
<!-- DTD for the XMLBIF 0.3 format -->
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
        <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
  <!ELEMENT NAME (#PCDATA)>
  <!ELEMENT VARIABLE ( NAME, ( OUTCOME |  PROPERTY )* ) >
        <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
  <!ELEMENT OUTCOME (#PCDATA)>
  <!ELEMENT DEFINITION ( FOR | GIVEN | TABLE | PROPERTY )* >
  <!ELEMENT FOR (#PCDATA)>
  <!ELEMENT GIVEN (#PCDATA)>
  <!ELEMENT TABLE (#PCDATA)>
  <!ELEMENT PROPERTY (#PCDATA)>
]>

<BIF VERSION="0.3">
<NETWORK>
<NAME>Dog_Problem</NAME>
<PROPERTY>credal-set constant-density-bounded 1.1</PROPERTY>

<!-- Variables -->
<VARIABLE TYPE="nature">
  <NAME>bowel-problem</NAME>
  <OUTCOME>true</OUTCOME>
  <OUTCOME>false</OUTCOME>
  <PROPERTY>position = (335, 99)</PROPERTY>
</VARIABLE>
<VARIABLE>
  <NAME>
    family-out
  </NAME>
  <PROPERTY>position = (257, 99)</PROPERTY>
  <OUTCOME> true </OUTCOME>
  <OUTCOME>false</OUTCOME>
</VARIABLE>
<VARIABLE TYPE="nature">
  <NAME>dog-out</NAME>
  <OUTCOME>in</OUTCOME>
  <OUTCOME>out</OUTCOME>
  <OUTCOME>away</OUTCOME>
</VARIABLE>

<!-- Probability distributions -->
<DEFINITION>
  <FOR>dog-out</FOR>
  <GIVEN>bowel-problem</GIVEN>
  <GIVEN>family-out</GIVEN>
  <TABLE> <!-- one row for each case -->
    0.9 0.09 1.0E-2
    97e-2 .02 +0.01
    0.8 0.1
    0.1 0.3 0.6 <!-- the last --> 0.1
  </TABLE>
</DEFINITION>
<DEFINITION><FOR>family-out</FOR><TABLE>0.15 0.85 </TABLE></DEFINITION>
<DEFINITION>
  <FOR>bowel-problem</FOR>
  <TABLE>0.01
0.99</TABLE>
  <PROPERTY>source = a book</PROPERTY>
</DEFINITION>
</NETWORK>
</BIF>
"""


def test_the_manner_of_the_interchange_page():
    net = loads(JAVABAYES)
    assert net.name == "Dog_Problem"
    assert list(net.variables) == ["bowel-problem", "family-out", "dog-out"]
    assert net.variables["family-out"].states == ("true", "false")
    assert net.parents("dog-out") == ("bowel-problem", "family-out")
    rows = [[[0.9, 0.09, 0.01], [0.97, 0.02, 0.01]], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1]]]
    assert net.cpd("dog-out").values.tolist() == rows
    assert net.cpd("bowel-problem").values.tolist() == [0.01, 0.99]
    assert loads(dumps(net)) == net


SIMPLE = """<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>b</NAME><OUTCOME>p</OUTCOME><OUTCOME>q</OUTCOME></VARIABLE>
<DEFINITION><FOR>a</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN><TABLE>0.1 0.9
0.3 0.7</TABLE></DEFINITION>
</NETWORK></BIF>
"""


def test_elements_take_little_beside_their_text():
    """Short elements with an attribute each, as in large files of states: within 20 times the file."""
    text = "<a>" + "".join(f'<state id="s{i}"/>' for i in range(20_000)) + "</a>"
    tracemalloc.start()
    root = Markup(Text("", text)).root
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [root.children[i].attributes for i in (0, 19_999)] == [{"id": "s0"}, {"id": "s19999"}]
    assert taken < 15 * len(text)  # and 5 for what becomes of them


@pytest.mark.parametrize(
    "text",
    [
        SIMPLE,
        '<?xml version="1.0"?>\n' + SIMPLE.replace("\n", "\r\n"),
        re.sub(r"</?[A-Z]+", lambda tag: tag[0].lower(), SIMPLE).replace("TYPE=", "type="),
        SIMPLE.replace("DEFINITION", "PROBABILITY").replace("OUTCOME", "VALUE"),  # the first drafts
        SIMPLE.replace("<VARIABLE", "<PROPERTY>p</PROPERTY><VARIABLE").replace(
            "</NAME>", "</NAME><PROPERTY/>"
        ),
        SIMPLE.replace(' TYPE="nature"', ""),
        SIMPLE.replace("<NAME>a<", "<NAME><![CDATA[a]]><").replace("<FOR>a<", "<FOR>&#97;<"),
        SIMPLE.replace("0.25 0.75", "\n\t2.5E-1\n\n .75 "),
        '<!DOCTYPE BIF SYSTEM "http://example.com/nothing.dtd">' + SIMPLE,  # never fetched
        SIMPLE + "<!-- the end -->\n",
    ],
)
def test_ways_of_writing_one_network(text):
    assert loads(text) == loads(SIMPLE)


def test_an_encoding_that_the_file_declares():
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>\n' + SIMPLE.replace(">a<", ">Zürich<")
    assert "Zürich" in loads(text.encode("latin-1")).variables
    assert "Zürich" in loads(text.replace("ISO-8859-1", "UTF-16").encode("utf-16")).variables
    assert "Zürich" in loads(text.replace("ISO-8859-1", "utf-16").encode()).variables  # converted since
    with pytest.raises(FileFormatError, match=r"<file>:1:31: the encoding 'idna' is not known") as caught:
        loads(text.replace("ISO-8859-1", "idna"))
    assert (caught.value.line, caught.value.column) == (1, 31)
    with pytest.raises(FileFormatError, match="not utf-8 text"):
        loads(text.replace("ISO-8859-1", "UTF-8").encode("latin-1"))


def test_what_pgmpy_writes():
    # As pgmpy 1.0 writes it: an empty property, two digits, a row for each configuration.
    text = """<?xml version='1.0' encoding='utf-8'?>
<BIF VERSION="0.3">
  <NETWORK>
    <NAME>UNTITLED</NAME>
    <VARIABLE TYPE="nature">
      <NAME>a</NAME>
      <OUTCOME>x</OUTCOME>
      <OUTCOME>y</OUTCOME>
      <PROPERTY />
    </VARIABLE>
    <VARIABLE TYPE="nature">
      <NAME>b</NAME>
      <OUTCOME>u v</OUTCOME>
      <OUTCOME>w</OUTCOME>
      <PROPERTY />
    </VARIABLE>
    <DEFINITION>
      <FOR>a</FOR>
      <TABLE>0.3 0.7 </TABLE>
    </DEFINITION>
    <DEFINITION>
      <FOR>b</FOR>
      <GIVEN>a</GIVEN>
      <TABLE>0.1 0.9 0.2 0.8 </TABLE>
    </DEFINITION>
  </NETWORK>
</BIF>"""
    net = loads(text)
    assert net.variables["b"].states == ("u v", "w")
    assert net.cpd("b").values.tolist() == [[0.1, 0.9], [0.2, 0.8]]


def random_network() -> pgm.BayesianNetwork:
    rng = np.random.default_rng(7)
    net = pgm.BayesianNetwork("peer")
    for name, parents in {"a": [], "b": ["a"], "c": ["b", "a"], "d": ["c", "a", "b"]}.items():
        states = [f"{name}{i}" for i in range({"a": 2, "b": 3, "c": 4, "d": 2}[name])]
        shape = [*(net.variables[parent].card for parent in parents), len(states)]
        net.add(name, rng.dirichlet([1] * shape[-1], size=shape[:-1]), parents=parents, states=states)
    return net


def test_pyagrum_reads_and_writes_the_same_numbers(tmp_path):
    gum = pytest.importorskip("pyagrum")
    net = random_network()
    pgm.write(net, tmp_path / "ours.bifxml")
    peer = gum.loadBN(str(tmp_path / "ours.bifxml"))
    gum.saveBN(peer, str(tmp_path / "theirs.bifxml"))
    again = pgm.read(tmp_path / "theirs.bifxml")
    assert set(again.variables) == set(net.variables) == peer.names()
    for name, cpd in {name: net.cpd(name) for name in net.variables}.items():
        assert peer.variable(name).labels() == cpd.child.states == again.variables[name].states
        assert set(again.parents(name)) == set(cpd.parents)
        for codes in np.ndindex(cpd.values.shape):
            at = dict(zip((*cpd.parents, name), map(int, codes), strict=True))
            states = {key: net.variables[key].states[code] for key, code in at.items()}
            assert peer.cpt(name)[at] == cpd.values[codes]
            assert again.cpd(name).probability(states) == pytest.approx(
                cpd.values[codes], abs=2e-6
            )  # six digits


def test_pgmpy_reads_the_same_numbers(tmp_path):
    readwrite = pytest.importorskip("pgmpy.readwrite")
    net = random_network()
    pgm.write(net, tmp_path / "ours.xml")
    peer = readwrite.XMLBIFReader(str(tmp_path / "ours.xml")).get_model()
    for name in net.variables:
        theirs = peer.get_cpds(name)
        cpd = net.cpd(name)
        assert tuple(theirs.variables) == (name, *cpd.parents)
        np.testing.assert_array_equal(np.moveaxis(theirs.values, 0, -1), cpd.values)


# --- names --------------------------------------------------------------------------------------------------


def test_blanks_around_names_are_kept_where_we_wrote_them():
    net = pgm.BayesianNetwork(" n\n")
    net.add(" a", [0.25, 0.75], states=["", "\tx\r\n "])
    text = dumps(net)
    again = loads(text)
    assert (again.name, list(again.variables), again.variables[" a"].states) == (
        " n\n",
        [" a"],
        ("", "\tx\r\n "),
    )
    assert loads(text.replace(' xml:space="preserve"', "")).variables["a"].states == ("", "x")


@pytest.mark.parametrize("bad", ["\x00", "\x1b", "\ufffe", "\ud800"])
def test_what_xml_cannot_hold(bad):
    net = pgm.BayesianNetwork()
    net.add("a", [0.5, 0.5], states=["x", f"y{bad}"])
    with pytest.raises(InvalidArgument, match=r"a state of 'a'.*it has the character"):
        dumps(net)
    with pytest.raises(InvalidArgument, match="the name"):
        dumps(pgm.BayesianNetwork(bad))


def test_what_the_format_cannot_hold():
    with pytest.raises(InvalidArgument, match="XMLBIF holds Bayesian networks"):
        dumps(pgm.MarkovNetwork())
    net = pgm.BayesianNetwork()
    net.add("age", [0.2, 0.8], states=pgm.Bins([0, 18, 120]))
    with pytest.raises(InvalidArgument, match="expand=True writes the bins"):
        dumps(net)
    assert loads(dumps(net, expand=True)).variables["age"].states == ("[0, 18)", "[18, 120]")
    net = pgm.BayesianNetwork()
    net.add("rain", 0.3)
    net.add("wet", pgm.NoisyOr({"rain": 0.9}))
    with pytest.raises(InvalidArgument, match="'wet' is a NoisyOr; expand=True"):
        dumps(net)
    assert loads(dumps(net, expand=True)).cpd("wet").values.tolist() == net.cpd("wet").values.tolist()
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, 1.0))
    with pytest.raises(InvalidArgument, match="continuous: 'x'"):
        dumps(net)


# --- files that are wrong -----------------------------------------------------------------------------------

WRONG = [
    ("", 1, 1, "no element found"),
    ("network n { }", 1, 1, "not well-formed XML"),
    ("<html/>", 1, 1, "XMLBIF begins with <BIF>, this file with <html>"),
    ("<smile/>", 1, 1, "format='xdsl'"),
    ("<BIF/>", 1, 1, "expected one <NETWORK>, found 0"),
    ("<BIF><NETWORK/><NETWORK/></BIF>", 1, 1, "expected one <NETWORK>, found 2"),
    (SIMPLE[:-20], 6, 16, "not well-formed XML.*<DEFINITION> of line 5 is open"),
    (SIMPLE.replace("</TABLE></DEF", "</TABEL></DEF", 1), 4, 43, "mismatched tag.*<TABLE> of line 4 is open"),
    (SIMPLE.replace("<OUTCOME>q</OUTCOME>", "<OUT>q</OUT>"), 3, 59, "one of NAME, OUTCOME.*found <OUT>"),
    (SIMPLE.replace("<GIVEN>a</GIVEN>", "<GIVE>a</GIVE>"), 5, 25, "found <GIVE>"),
    (SIMPLE.replace("<GIVEN>a</GIVEN>", "a"), 5, 1, "expected elements in <DEFINITION>, found the text 'a'"),
    (
        SIMPLE.replace("<GIVEN>a<", "<GIVEN>aa<"),
        5,
        25,
        "'aa' is not a variable of this file. Did you mean 'a'",
    ),
    (SIMPLE.replace("<FOR>b<", "<FOR>c<"), 5, 13, "'c' is not a variable"),
    (SIMPLE.replace("<FOR>b<", "<FOR>a<"), 5, 1, "a name appears twice"),
    (SIMPLE.replace("<FOR>b</FOR><GIVEN>a</GIVEN>", "<FOR>a</FOR>"), 5, 25, "expected 2 numbers for 'a'"),
    (SIMPLE.replace("<FOR>b</FOR>", ""), 5, 1, "expected one <FOR> in <DEFINITION>, found 0"),
    (SIMPLE.replace("<FOR>b</FOR>", "<FOR>b</FOR><FOR>a</FOR>"), 5, 25, "expected one <FOR>.*found 2"),
    (SIMPLE.replace("<NAME>b</NAME>", ""), 3, 1, "expected one <NAME> in <VARIABLE>, found 0"),
    (SIMPLE.replace("<NAME>b<", "<NAME> <"), 3, 1, "text that is not empty"),
    (SIMPLE.replace("<NAME>b<", "<NAME>a<"), 3, 1, "'a' is declared a second time"),
    (SIMPLE.replace(">q<", ">p<"), 3, 1, "'p' appears twice"),
    (SIMPLE.replace("<OUTCOME>p</OUTCOME><OUTCOME>q</OUTCOME>", ""), 3, 1, "state"),
    (
        SIMPLE.replace("<OUTCOME>p", "<OUTCOME><b/>p"),
        3,
        48,
        "expected text in <OUTCOME>, found the element <b>",
    ),
    (
        SIMPLE.replace('"nature"><NAME>b', '"utility"><NAME>b'),
        5,
        41,
        "expected 2 numbers for 'b' in <TABLE>, found 4",
    ),
    (SIMPLE.replace('"nature"><NAME>b', '"deciding"><NAME>b'), 3, 1, "'b' is of the type 'deciding'"),
    (SIMPLE.replace("0.3 0.7", "0.3"), 5, 41, "expected 4 numbers for 'b' in <TABLE>, found 3"),
    (SIMPLE.replace("0.3 0.7", "0.3 0.7 1"), 5, 41, "found 5"),
    (SIMPLE.replace("0.3 0.7", "0.3 0.8"), 6, 1, "'b', row a='y'.*sum to 1.1"),
    (SIMPLE.replace("0.3 0.7", "-0.3 1.3"), 6, 1, "'b', row a='y'.*-0.3"),
    (SIMPLE.replace("0.3 0.7", "0.3 four"), 6, 5, "'b': expected a number, found 'four'"),
    (SIMPLE.replace("0.3 0.7", "0.3 <!-- 0 -->nan"), 6, 15, "found 'nan'"),
    (SIMPLE.replace("0.3 0.7", "0.3 0,7"), 6, 5, "found '0,7'"),
    (SIMPLE.replace("0.3 0.7", "0.3 0_7"), 6, 5, "found '0_7'"),
    (SIMPLE.replace("0.3 0.7", "0.3 \u0660.7"), 6, 5, "expected a number"),
    (SIMPLE.replace("<TABLE>0.25 0.75</TABLE>", ""), 4, 1, "expected one <TABLE> in <DEFINITION>, found 0"),
    (
        SIMPLE.replace("<DEFINITION><FOR>a</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>", ""),
        2,
        1,
        "'a' has no <DEF",
    ),
    (
        SIMPLE.replace("</NETWORK>", "<DEFINITION><FOR>a</FOR><TABLE>1 0</TABLE></DEFINITION></NETWORK>"),
        7,
        1,
        "a second definition of 'a'",
    ),
    (
        SIMPLE.replace("<FOR>a</FOR><TABLE>0.25 0.75", "<FOR>a</FOR><GIVEN>b</GIVEN><TABLE>0.5 0.5 0.5 0.5"),
        1,
        1,
        "cycle: a -> b -> a",
    ),
    (SIMPLE.replace("0.25", "&x;"), 4, 32, "undefined entity"),
    (SIMPLE.replace("0.25", "&lt;"), 4, 32, "found '<'"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), WRONG)
def test_a_wrong_file_is_refused_with_its_place(text, line, column, message):
    with pytest.raises(FileFormatError, match=message) as caught:
        loads(text)
    assert (caught.value.line, caught.value.column) == (line, column), str(caught.value)


# --- hostile files ------------------------------------------------------------------------------------------

LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f'<!DOCTYPE BIF [<!ENTITY l0 "ha">{LAUGHS}]>' + SIMPLE.replace("<NAME>n", "<NAME>&l11;"),
            "declares the entity",
        ),
        (
            '<!DOCTYPE BIF [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + SIMPLE.replace(">n<", ">&x;<"),
            "entity 'x'",
        ),
        ('<!DOCTYPE BIF [<!ENTITY % x SYSTEM "http://example.com/x">%x;]>' + SIMPLE, "entity 'x'"),
        ('<!DOCTYPE BIF SYSTEM "x.dtd">' + SIMPLE.replace(">n<", ">&x;<"), "the entity 'x' is not known"),
        ("<BIF>" * 100_000, "more than 100 deep"),
        ("<BIF>" + "<NETWORK>" * 99 + "</NETWORK>" * 99 + "</BIF>", "found <NETWORK>"),
    ],
    ids=["laughs", "external", "parameter", "unknown", "deep", "less deep"],
)
def test_entities_and_depths_are_refused(text, message):
    begun = time.thread_time()
    with pytest.raises(FileFormatError, match=message):
        loads(text)
    assert time.thread_time() - begun < 1


def test_attributes_of_a_dtd_do_not_multiply():
    text = f"<!DOCTYPE BIF [<!ATTLIST PROPERTY x CDATA '{'y' * 100_000}'>]>" + SIMPLE
    text = text.replace("<VARIABLE", "<PROPERTY/>" * 20_000 + "<VARIABLE", 1)
    begun = time.thread_time()
    assert loads(text) == loads(SIMPLE)
    assert time.thread_time() - begun < 1


def wide(parents: int) -> str:
    names = [f"v{i}" for i in range(parents + 1)]
    states, table = "<OUTCOME>n</OUTCOME><OUTCOME>y</OUTCOME>", "<TABLE>0.5 0.5</TABLE>"
    text = "".join(f"<VARIABLE><NAME>{name}</NAME>{states}</VARIABLE>" for name in names)
    text += "".join(f"<DEFINITION><FOR>{name}</FOR>{table}</DEFINITION>" for name in names[:-1])
    given = "".join(f"<GIVEN>{name}</GIVEN>" for name in names[:-1])
    last = f"<DEFINITION><FOR>{names[-1]}</FOR>{given}{table}</DEFINITION>"
    return f"<BIF><NETWORK>{text}{last}</NETWORK></BIF>"


@pytest.mark.parametrize(
    ("parents", "message"),
    [(49, "expected more than 10.*15 numbers"), (70, "too many"), (20_000, "too many")],
)
def test_a_table_too_large_for_any_memory_is_not_made(parents, message):
    with pytest.raises(FileFormatError, match=message):
        loads(wide(parents))


def test_elements_are_counted():
    text = "<BIF>" + "<x/>" * 200_000 + "</BIF>"
    with config(memory_limit="16 MB"), pytest.raises(TooLarge, match="more XML elements"):
        loads(text)


@pytest.mark.parametrize(
    "text",
    [
        "<!--" + "-" * 300_000,
        "<BIF " + "a" * 300_000,
        "<BIF " + " ".join(f'a{i}="1"' for i in range(20_000)) + "/>",
        SIMPLE.replace("0.3 0.7", "0.3 " * 100_000),
        SIMPLE.replace("0.3 0.7", "0.3 " + "<!--x-->" * 30_000 + "y"),
        SIMPLE.replace("0.3 0.7", "\n" * 300_000 + "0.3 y"),
        SIMPLE.replace("<OUTCOME>p<", "<OUTCOME>" + "p" * 300_000 + "<").replace("0.3", "y"),
        SIMPLE.replace("0.3 0.7", "1" * 300_000 + " 0"),
    ],
    ids=["comment", "tag", "attributes", "numbers", "comments", "lines", "name", "digits"],
)
def test_no_file_takes_long(text):
    begun = time.thread_time()
    with pytest.raises(PGMError) as caught:
        loads(text)
    assert time.thread_time() - begun < 1
    assert len(str(caught.value)) < 600
