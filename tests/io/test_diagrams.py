"""Influence diagrams in XDSL, NET, DSC and XMLBIF: round trips, files of others, what is refused where."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import pgm
from tests.decision_oracle import random_diagram
from tests.io import formats
from tests.models.test_influence_diagram import clinic, oil

FORMATS = ["xdsl", "net", "dsc", "xmlbif"]


def read(text: str, format: str) -> Any:
    return pgm.read(io.StringIO(text), format=format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("seed", range(8))
def test_diagrams_come_back_to_the_last_bit(format: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    combine = "product" if seed % 3 == 0 else "sum"
    d = random_diagram(rng, masks=False, decisions=1 + seed % 3, combine=combine)
    d.name, d.memory = f"nr. {seed} <a>", "limited" if seed % 2 else "full"
    d = d.rename({d.nodes[0]: 'a "b" & c', d.utilities[0]: "été / 2"})
    values = rng.normal(size=[v.card for v in map(d.variables.__getitem__, d.parents("été / 2"))])
    d.set("été / 2", np.abs(values))
    data = formats.write(d, format)
    again = formats.read(data, format)
    assert (again, again.nodes, again.decisions, again.name) == (d, d.nodes, d.decisions, d.name)
    assert formats.write(again, format) == data
    mine, theirs = d.utility("été / 2").values, again.utility("été / 2").values
    assert mine is not None
    assert theirs is not None
    assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("format", FORMATS)
def test_sums_and_functions_of_utilities(format: str) -> None:
    d = oil()
    d.add_utility("net", {"profit": 0.5, "cost": 2.0}, parents=["profit", "cost"])
    if format == "xdsl":  # GeNIe's MAU
        assert formats.read(formats.write(d, format), format) == d
    else:
        with pytest.raises(pgm.InvalidArgument, match="'net' is a weighted sum of others; expand=True"):
            formats.write(d, format)
        again = formats.read(formats.write(d, format, expand=True), format)
        assert again.utilities == ("net",)
        assert again.solve().expected_utility == pytest.approx(d.solve().expected_utility)
    d.add_utility("root", lambda net: max(net + 100, 0) ** 0.5, parents=["net"])
    with pytest.raises(pgm.InvalidArgument, match="of others; expand=True"):
        formats.write(d, format)
    again = formats.read(formats.write(d, format, expand=True), format)
    assert again.solve().expected_utility == pytest.approx(d.solve().expected_utility)


@pytest.mark.parametrize("format", FORMATS)
def test_what_a_format_has_no_place_for_is_refused(format: str) -> None:
    d = clinic()
    d.set("treat", allowed={True: [False, True], False: [False]})
    with pytest.raises(pgm.InvalidArgument, match=r"'treat' is allowed only now and then.*JSON"):
        formats.write(d, format)
    d = clinic()
    d.add_chance("any", pgm.AtLeast(1, ["disease", "test"]))
    if format != "xdsl":  # which has functions
        with pytest.raises(pgm.InvalidArgument, match="'any' is a AtLeast"):
            formats.write(d, format)
    assert formats.read(formats.write(d, format, expand=True), format).parents("any") == ("disease", "test")


@pytest.mark.parametrize("format", ["bif", "uai"])
def test_formats_without_decisions_say_so(format: str) -> None:
    with pytest.raises(pgm.InvalidArgument, match=r"Bayesian .*, not InfluenceDiagram"):
        formats.write(oil(), format)


GENIE = """<smile version="1.0" id="venture"><nodes>
<cpt id="success"><state id="yes" /><state id="no" /><probabilities>0.2 0.8</probabilities></cpt>
<cpt id="forecast"><state id="good" /><state id="moderate" /><state id="poor" /><parents>success</parents>
<probabilities>0.4 0.4 0.2 0.1 0.3 0.6</probabilities></cpt>
<decision id="invest"><state id="invest" /><state id="do_not" /><parents>forecast</parents></decision>
<utility id="gain"><parents>invest success</parents><utilities>10000 -5000 500 500</utilities></utility>
<utility id="fee"><parents>invest</parents><utilities>100 0</utilities></utility>
<mau id="total"><parents>gain fee</parents><weights>1 -1</weights></mau>
</nodes></smile>"""


def test_a_file_of_genie() -> None:
    """The venture of GeNIe's manual, with a fee: after a good forecast 10,000 at even odds."""
    d = read(GENIE, "xdsl")
    policy = d.solve()
    assert policy["invest"].to_dict() == {"good": "invest", "moderate": "do_not", "poor": "do_not"}
    good = 0.2 * 0.4 + 0.8 * 0.1
    assert policy.expected_utility == pytest.approx(good * (2500 - 100) + (1 - good) * 500)
    plain = GENIE.replace("<weights>1 -1</weights>", "")
    assert read(plain, "xdsl").utility("total").weights == (1.0, 1.0)


HUGIN = """net { node_size = (80 40); }
decision second { states = ("a" "b"); }
decision first { states = ("x" "y"); }
node c { states = ("n" "p"); }
utility U1 { label = ""; }
utility U2 { }
potential (c | first) { data = ((0.9 0.1)(0.4 0.6)); }
potential (second | c) { }
potential (first) { }
potential (U1 | c second) { data = ((0 10)(20 -5)); }
potential (U2) { data = (7); }
"""


def test_a_file_of_hugin_has_decisions_in_the_order_of_its_arrows() -> None:
    d = read(HUGIN, "net")
    assert d.decisions == ("first", "second")
    assert d.known("second") == ("first", "c")
    assert d.solve().expected_utility == pytest.approx(7 + 0.4 * 10 + 0.6 * 20)
    assert read(HUGIN.replace("{ data = (7); }", "{ }"), "net").solve().expected_utility == pytest.approx(
        16.0
    )


def test_pyagrum_reads_and_writes_the_same(tmp_path: Any) -> None:
    gum = pytest.importorskip("pyagrum")
    for seed in range(4):
        d = random_diagram(np.random.default_rng(seed), masks=False, zeros=False)
        pgm.write(d, tmp_path / "ours.bifxml")
        theirs = gum.InfluenceDiagram()
        theirs.loadBIFXML(str(tmp_path / "ours.bifxml"))
        engine = gum.ShaferShenoyLIMIDInference(theirs)
        engine.addNoForgettingAssumption(list(d.decisions))
        engine.makeInference()
        assert engine.MEU()["mean"] == pytest.approx(d.solve().expected_utility)
        theirs.saveBIFXML(str(tmp_path / "theirs.bifxml"))
        again = pgm.read(tmp_path / "theirs.bifxml")
        # The order of decisions is not in such files.
        if again.decisions == d.decisions:
            assert again.solve().expected_utility == pytest.approx(d.solve().expected_utility)


BROKEN = [
    ("net", HUGIN.replace("(c | first)", "(c | U2)"), 7, "'U2' is a utility, on which no variable depends"),
    ("net", HUGIN.replace("(0 10)", "(0 1e999)"), 10, "a utility is a finite number"),
    ("net", HUGIN.replace("(0 10)", "(0 ten)"), 10, "expected a number"),
    ("net", HUGIN.replace("(0 10)(20 -5)", "0 10"), 10, "expected 4 numbers, found 2"),
    ("net", HUGIN.replace("(U2)", "(U3)"), 6, "'U2' has no potential"),
    ("net", HUGIN.replace("(first) {", "(first | c) {"), 1, "observe its own consequence"),
    ("net", HUGIN.replace("utility U2", "utility first"), 6, "declared a second time"),
    ("xdsl", GENIE.replace("gain fee<", "gain invest<"), 8, "'invest' is not a utility"),
    ("xdsl", GENIE.replace(">success</parents>", ">gain</parents>"), 3, "'gain' is a utility"),
    ("xdsl", GENIE.replace("500 500", "500 1e999"), 6, "a utility is a finite number"),
    ("xdsl", GENIE.replace("500 500", "500"), 6, "expected 4 numbers"),
    ("xdsl", GENIE.replace("<weights>1 -1", "<weights>1"), 8, "expected 2 numbers"),
    ("xdsl", GENIE.replace("gain fee<", "total fee<"), 1, "depends on itself"),
    (
        "xdsl",
        GENIE.replace("weights>1 -1</weights", "expressions>gain-fee</expressions"),
        8,
        "a function of utilities",
    ),
]


@pytest.mark.parametrize(("format", "text", "line", "message"), BROKEN)
def test_a_broken_diagram_is_refused_with_its_place(format: str, text: str, line: int, message: str) -> None:
    with pytest.raises(pgm.FileFormatError, match=message) as caught:
        read(text, format)
    assert caught.value.line == line


def test_broken_tables_of_dsc_and_xmlbif() -> None:
    text = formats.write(oil(), "dsc").decode()
    for old, new, message in [
        ("(0, 1) : 0.0;", "(0, 1) : 0.0, 1;", "expected 1 numbers, found 2"),
        ("(0, 1) : 0.0;", "", "the row for drill='no', oil='wet' is missing"),
        ("(0, 1) : 0.0;", "(0, 1) : 1e999;", "a utility is a finite number"),
        ("| drill, oil", "| drill, cost", "'cost' is a utility"),
    ]:
        assert old in text
        with pytest.raises(pgm.FileFormatError, match=message) as caught:
            read(text.replace(old, new, 1), "dsc")
        assert caught.value.line
    assert read(text.replace("(0, 1) : 0.0;", "default : 0.0;", 1), "dsc").solve().expected_utility == 22.5
    text = formats.write(oil(), "xmlbif").decode()
    for old, new, message in [
        ("<TABLE>0.0 0.0", "<TABLE>0.0", "expected 6 numbers"),
        ("-70.0", "1e999", "a utility is a finite number"),
        ("<GIVEN>drill</GIVEN>", "<GIVEN>cost</GIVEN>", "'cost' is not a variable"),
        ('TYPE="utility"', 'TYPE="worth"', "'worth', which is not supported"),
        ("<GIVEN>drill</GIVEN>", "<GIVEN>oil</GIVEN>", "named twice"),
    ]:
        assert old in text
        with pytest.raises(pgm.FileFormatError, match=message):
            read(text.replace(old, new, 1), "xmlbif")
