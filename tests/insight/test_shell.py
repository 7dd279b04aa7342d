"""Questions about answers in the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pgm
from pgm.cli import main


def written(folder: Path) -> str:
    """The wet grass network of the contract, as a file."""
    net = pgm.BayesianNetwork("wet grass")
    net.add("cloudy", {"no": 0.5, "yes": 0.5})
    net.add("sprinkler", {"yes": {"no": 0.9, "yes": 0.1}, "no": {"no": 0.5, "yes": 0.5}}, parents=["cloudy"])
    net.add("rain", {"yes": {"no": 0.2, "yes": 0.8}, "no": {"no": 0.9, "yes": 0.1}}, parents=["cloudy"])
    rows = {("yes", "yes"): 0.95, ("yes", "no"): 0.9, ("no", "yes"): 0.9, ("no", "no"): 0.1}
    table = {key: {"no": 1 - p, "yes": p} for key, p in rows.items()}
    net.add("wet", table, parents=["rain", "sprinkler"])
    pgm.write(net, folder / "wet.bif")
    return str(folder / "wet.bif")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command prints when all goes well."""
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_why_what_next_and_what_if_the_numbers_are_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wet = written(tmp_path)
    known = ("--given", "wet=yes", "sprinkler=yes")
    why = json.loads(said(capsys, "explain", wet, "rain", "--state", "yes", *known, "--json"))
    assert (why["before"], why["findings"]["wet"]["without"]) == pytest.approx((0.45, 0.216667), abs=5e-7)
    assert why["story"] in said(capsys, "explain", wet, "rain", "--state", "yes", *known)
    shares = json.loads(said(capsys, "explain", wet, "rain", "--state", "yes", "--shapley", *known, "--json"))
    assert shares["values"]["wet"] == pytest.approx(0.093094, abs=5e-7)
    told = json.loads(said(capsys, "next", wet, "rain", "--given", "wet=yes", "--json"))
    assert next(iter(told["nats"].items())) == ("cloudy", pytest.approx(0.359118, abs=5e-7))
    assert "cloudy?" in said(capsys, "next", wet, "rain", "--given", "wet=yes", "--tree")
    tree = json.loads(said(capsys, "next", wet, "rain", "--given", "wet=yes", "--tree", "--json"))
    assert tree["tree"]["ask"] == "cloudy"
    off = ("sensitivity", wet, "rain", "--state", "yes", "--given", "wet=yes")
    numbers = json.loads(said(capsys, *off, "--json"))
    assert numbers["parameters"][0]["derivative"] == pytest.approx(0.760316, abs=5e-7)
    changes = json.loads(said(capsys, *off, "--at-least", "0.7", "--json"))["changes"]
    assert changes[0]["to"] == pytest.approx(0.599374, abs=5e-7)
    assert "at least 0.7" in said(capsys, *off, "--at-least", "0.7")
