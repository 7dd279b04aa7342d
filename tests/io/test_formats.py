"""Every format of the registry: round trips of nasty names and of shared networks, and broken files."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings

import pgm
from tests.io import formats

NETWORKS = Path(__file__).resolve().parents[2].parent / "shared" / "networks"
FILES = sorted(NETWORKS.glob("*.bif.gz"))
PARTS = 10  # of a thousand cases each


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("format", formats.NAMES)
def test_a_broken_file_is_refused_at_once(format, part):
    formats.check_refusals(format, 1000, part)


@pytest.mark.parametrize("format", formats.NAMES)
@given(formats.networks())
@settings(max_examples=150, deadline=None)
def test_any_names_come_back(format, net):
    formats.check_round_trip(net, format)


@pytest.mark.skipif(not FILES, reason="the networks of shared/ are not here")
@pytest.mark.parametrize("format", formats.NAMES)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".bif.gz"))
def test_a_shared_network_comes_back_bit_by_bit(path, format):
    net = pgm.read(path)
    assert isinstance(net, pgm.BayesianNetwork)
    formats.check_round_trip(net, format)


def test_the_registry_has_what_it_promises():
    assert {"bif", "xmlbif", "xdsl", "net", "dsc", "uai"} <= set(formats.NAMES)
    for format in formats.NAMES:
        assert len(formats.seeds(format)) >= 2


@pytest.mark.parametrize("format", formats.NAMES)
@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("1e308", "1e308"), "1e\\+308, not from 0 to 1"),
        (("0.1", "1e308"), "1e\\+308, not from 0 to 1"),
        (("0.6", "0.6"), "sum to 1.2, not to 1"),
    ],
)
def test_numbers_that_are_no_probabilities_are_refused_without_a_warning(format, row, message):
    assert formats.read(formats.ROOT[format].format("0.25", "0.75").encode(), format)
    warnings.simplefilter("error")  # pytest puts them back
    with pytest.raises(pgm.FileFormatError, match=message) as caught:
        formats.read(formats.ROOT[format].format(*row).encode(), format)
    assert caught.value.line == formats.ROOT[format].count("\n") + 1


TWO_WRONG = {  # line 2 and line 4 have each a row that does not sum to one
    "bif": "network n {{ }} variable a {{ type discrete [ 2 ] {{ x, y }}; }} "
    "variable b {{ type discrete [ 2 ] {{ x, y }}; }}"
    "\nprobability ( b ) {{ table {0}; }}\n\nprobability ( a ) {{ table {0}; }}",
    "net": "node a {{ states = (x y); }} node b {{ states = (x y); }}"
    "\npotential (b) {{ data = ({0}); }}\n\npotential (a) {{ data = ({0}); }}",
    "dsc": 'belief network "n" node a {{ type : discrete [2] = {{ "x", "y" }}; }} '
    'node b {{ type : discrete [2] = {{ "x", "y" }}; }}'
    "\nprobability ( b ) {{ {0}; }}\n\nprobability ( a ) {{ {0}; }}",
    "uai": "BAYES 2 2 2 2 1 1 1 0\n2 {0}\n\n2 {0}",
    "xmlbif": '<BIF VERSION="0.3"><NETWORK><NAME>n</NAME><VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME>'
    "<OUTCOME>y</OUTCOME></VARIABLE><VARIABLE><NAME>b</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>"
    "\n<DEFINITION><FOR>b</FOR><TABLE>{0}</TABLE></DEFINITION>\n"
    "\n<DEFINITION><FOR>a</FOR><TABLE>{0}</TABLE></DEFINITION></NETWORK></BIF>",
    "xdsl": '<smile version="1.0" id="n"><nodes><cpt id="b"><state id="x" /><state id="y" />'
    "\n<probabilities>{0}</probabilities></cpt>\n"
    '\n<cpt id="a"><state id="x" /><state id="y" /><probabilities>{0}</probabilities></cpt></nodes></smile>',
    "json": '{{"pgm": 1, "nodes": [{{"name": "b", "states": ["x", "y"],\n"table": [[{0}]]}},\n'
    '{{"name": "a", "states": ["x", "y"],\n"table": [[{0}]]}}]}}',
}


@pytest.mark.parametrize("format", formats.NAMES)
def test_several_refusals_are_listed_at_once(format):
    comma = ", " if format == "json" else " "
    assert formats.read(TWO_WRONG[format].format(f"0.25{comma}0.75").encode(), format)
    with pytest.raises(pgm.FileFormatError) as caught:
        formats.read(TWO_WRONG[format].format(f"0.25{comma}0.25").encode(), format)
    first, second = str(caught.value).split("\n")
    assert (first[:9], second[:9]) == ("<file>:2:", "<file>:4:")
    assert caught.value.line == 2
    assert "sum to 0.5" in first
    assert "sum to 0.5" in second


def test_a_hundred_refusals_are_listed_in_part():
    nodes = "".join(f'<equation id="e{i}" />\n' for i in range(100))
    with pytest.raises(pgm.FileFormatError) as caught:
        formats.read(f'<smile version="1.0" id="n"><nodes>\n{nodes}</nodes></smile>'.encode(), "xdsl")
    lines = str(caught.value).split("\n")
    assert [int(line.split(":")[1]) for line in lines] == list(range(2, 2 + len(lines)))
    assert 5 <= len(lines) <= 10
    assert lines[-1].endswith("(there may be more)")


def test_all_that_a_format_cannot_hold_is_listed_at_once():
    net = pgm.BayesianNetwork()
    for name in ("a", "b"):
        net.add(name, 0.5)
    for i in range(12):
        net.add(f"g{i}", pgm.NoisyOr({"a": 0.5, "b": 0.5}))
    for format in ("bif", "xmlbif", "net", "dsc", "uai"):
        with pytest.raises(pgm.InvalidArgument, match=r"'g0' is a NoisyOr, .*, and 2 more; expand=True"):
            formats.write(net, format)
