"""Every format of the registry: round trips of nasty names and of shared networks, and broken files."""

from __future__ import annotations

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
    assert {"bif", "uai", "xmlbif", "xdsl"} <= set(formats.NAMES)
    for format in formats.NAMES:
        assert len(formats.seeds(format)) >= 2
