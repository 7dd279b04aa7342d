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
