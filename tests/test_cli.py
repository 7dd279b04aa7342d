"""The `pgm` command: in this process where that is the same, as a process of its own where it matters."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pgm
from pgm.cli import evidence, main

PAGE = Path(__file__).parents[1].parent / "shared" / "design" / "api.md"
ALARM = Path(__file__).parents[1].parent / "shared" / "networks" / "alarm.bif.gz"


@pytest.fixture
def wet(tmp_path: Path) -> str:
    """The wet grass network of the contract, as a file."""
    net = pgm.BayesianNetwork("wet grass")
    net.add("cloudy", {"no": 0.5, "yes": 0.5})
    net.add("sprinkler", {"yes": {"no": 0.9, "yes": 0.1}, "no": {"no": 0.5, "yes": 0.5}}, parents=["cloudy"])
    net.add("rain", {"yes": {"no": 0.2, "yes": 0.8}, "no": {"no": 0.9, "yes": 0.1}}, parents=["cloudy"])
    rows = {("yes", "yes"): 0.95, ("yes", "no"): 0.9, ("no", "yes"): 0.9, ("no", "no"): 0.1}
    table = {key: {"no": 1 - p, "yes": p} for key, p in rows.items()}
    net.add("wet", table, parents=["rain", "sprinkler"])
    path = tmp_path / "wet.bif"
    pgm.write(net, path)
    return str(path)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command prints when all goes well."""
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that a user's mistake is answered with."""
    try:
        code = main(arguments)
    except SystemExit as stopped:  # argparse
        code = stopped.code
    out, err = capsys.readouterr()
    assert code == 2
    assert out == ""
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


def test_query_prints_the_posterior(capsys: pytest.CaptureFixture[str], wet: str) -> None:
    table = said(capsys, "query", wet, "rain", "--given", "wet=yes")
    assert re.search(r"yes +0\.626871$", table, re.MULTILINE)


def test_query_as_json_has_all_digits_and_says_how(capsys: pytest.CaptureFixture[str], wet: str) -> None:
    found = json.loads(said(capsys, "query", wet, "rain", "sprinkler", "--given", "wet=yes", "--json"))
    assert found["given"] == {"wet": "yes"}
    assert found["exact"] is True
    assert found["engine"] == "exact"
    answer = pgm.read(wet).query(["rain", "sprinkler"], {"wet": "yes"})
    assert {
        (r["states"]["rain"], r["states"]["sprinkler"]): r["p"] for r in found["table"]
    } == answer.to_dict()


def test_query_without_targets_is_every_variable(capsys: pytest.CaptureFixture[str], wet: str) -> None:
    found = json.loads(said(capsys, "query", wet, "--given", "wet=yes", "--json"))
    assert [m["variables"] for m in found["marginals"]] == [["cloudy"], ["sprinkler"], ["rain"]]
    assert "P(cloudy)" in said(capsys, "query", wet)


def test_map_and_the_k_best(capsys: pytest.CaptureFixture[str], wet: str) -> None:
    best = json.loads(said(capsys, "map", wet, "--given", "wet=yes", "--json"))["best"][0]
    assert best["states"] == {"cloudy": "yes", "sprinkler": "no", "rain": "yes"}
    assert best["probability"] == pytest.approx(0.497505, abs=1e-6)
    assert best["log_joint"] == pytest.approx(-1.127012, abs=1e-6)
    three = json.loads(said(capsys, "map", wet, "--given", "wet=yes", "-k", "3", "--json"))["best"]
    assert [b["probability"] for b in three] == sorted((b["probability"] for b in three), reverse=True)
    assert said(capsys, "map", wet, "--given", "wet=yes", "--targets", "rain").startswith("rain  yes\n")


def test_samples_are_csv_and_the_same_for_a_seed(
    capsys: pytest.CaptureFixture[str], wet: str, tmp_path: Path
) -> None:
    out = said(capsys, "sample", wet, "5", "--seed", "1", "--given", "wet=yes")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 5
    assert {row["wet"] for row in rows} == {"yes"}
    assert (
        said(capsys, "sample", wet, "5", "--seed", "1", "--given", "wet=yes", "-o", str(tmp_path / "s.csv"))
        == ""
    )
    assert (tmp_path / "s.csv").read_text() == out
    columns = json.loads(said(capsys, "sample", wet, "5", "--seed", "1", "--given", "wet=yes", "--json"))
    assert columns["columns"]["rain"] == [row["rain"] for row in rows]


def test_plan_says_what_a_question_costs(capsys: pytest.CaptureFixture[str], wet: str) -> None:
    assert "largest table" in said(capsys, "plan", wet, "rain")
    found = json.loads(said(capsys, "plan", wet, "rain", "--json"))
    assert found["engine"] == "exact"
    assert found["largest_entries"] == pgm.read(wet).plan("rain").largest_entries


def test_info(capsys: pytest.CaptureFixture[str], wet: str) -> None:
    text = said(capsys, "info", wet)
    assert re.search(r"^nodes +4$", text, re.MULTILINE)
    assert re.search(r"^arcs +4$", text, re.MULTILINE)
    found = json.loads(said(capsys, "info", wet, "--json"))
    assert found["parameters"] == 9
    assert found["all marginals"]["fits"] is True


def test_convert_writes_another_format(capsys: pytest.CaptureFixture[str], wet: str, tmp_path: Path) -> None:
    for name in ("wet.json", "wet.xdsl", "wet.xmlbif", "wet.net", "wet.dsc", "wet.bif.gz"):
        assert said(capsys, "convert", wet, str(tmp_path / name)) == ""
        again = pgm.read(tmp_path / name)
        assert (
            again.query("rain", {"wet": "yes"})["yes"] == pgm.read(wet).query("rain", {"wet": "yes"})["yes"]
        )


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_plot_draws_a_file(capsys: pytest.CaptureFixture[str], wet: str, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"wet.{ending}"
    assert said(capsys, "plot", wet, "-o", str(out), "--given", "wet=yes") == ""
    assert out.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r", b"%PDF-")


def test_evidence_on_the_command_line() -> None:
    net = pgm.BayesianNetwork()
    net.add("a=b", {"x|y": 0.5, "z": 0.3, "w": 0.2})
    net.add("a", {"b=x": 0.5, "other": 0.5})
    net.add("age", {"old": 0.5, "young": 0.5})
    net.add("number", pgm.Gaussian(0.0, 1.0))
    net.add("bin", [0.5, 0.5], states=pgm.Bins([0, 18, 65]))
    texts = ["a=b=x|y", "a=b=x", "age!=old", "number=-1.5e3", "bin=20"]
    known = evidence(net, texts[:1])
    assert known == {"a=b": "x|y"}
    assert evidence(net, ["age=old|young"]) == {"age": pgm.OneOf("old", "young")}
    assert evidence(net, texts[1:]) == {"a": "b=x", "age": pgm.Not("old"), "number": -1500.0, "bin": 20.0}


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["query", "{wet}", "rian"], "Did you mean 'rain'?"),
        (["query", "{wet}", "rain", "--given", "wet=si"], "'wet' has no state 'si'"),
        (["query", "{wet}", "rain", "--given", "wet"], "--given takes NAME=STATE, not 'wet'"),
        (["query", "{wet}", "rain", "--given", "wte=yes"], "--given: there is no variable 'wte'"),
        (["query", "{wet}", "rain", "--given", "wet=yes", "wet=no"], "twice"),
        (["query", "{wet}", "rain", "--engine", "lopy"], "Did you mean 'loopy'?"),
        (["query", "{wet}", "rain", "--memory", "much"], "much"),
        (["query", "missing.bif", "rain"], "missing.bif: No such file or directory"),
        (["query"], "required: file; see pgm query --help"),
        (["quarry", "{wet}"], "invalid choice: 'quarry'"),
        (["plot", "{wet}", "-o", "wet.jpgg"], "Did you mean 'jpg'?"),
        (["sample", "{wet}", "-3"], "-3"),
        (["convert", "{wet}", "wet.docx"], "wet.docx"),
        ([], "required: COMMAND"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], wet: str, arguments: list[str], wanted: str
) -> None:
    assert wanted in complaint(capsys, *(a.format(wet=wet) for a in arguments))


def test_a_broken_file_is_one_line_with_its_place(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "broken.bif"
    path.write_text("network wet {\n}\nvariable rain {\n  type discrete [ 2 ] { no, yes\n}\n")
    assert re.search(r"broken\.bif:\d+:\d+: ", complaint(capsys, "info", str(path)))


def test_too_large_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    net = pgm.BayesianNetwork()
    names = [f"x{i}" for i in range(25)]
    for name in names:
        net.add(name, {"no": 0.5, "yes": 0.5})
    pgm.write(net, tmp_path / "coins.bif")
    said = complaint(capsys, "query", str(tmp_path / "coins.bif"), *names, "--memory", "100 MB")
    assert "33,554,432" in said or "3.4e+07" in said


def test_a_warning_is_one_line_on_stderr(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rng, mrf = np.random.default_rng(4), pgm.MarkovNetwork()
    for name in "abcdefgh":
        mrf.add_variable(name, states=[0, 1])
        mrf.add_factor([name], rng.normal(size=2), log=True)
    for pair in itertools.combinations("abcdefgh", 2):
        mrf.add_factor(pair, 4.0 * rng.normal(size=(2, 2)), log=True)  # frustrated: messages never rest
    pgm.write(mrf, tmp_path / "frustrated.uai")
    assert main(["query", str(tmp_path / "frustrated.uai"), "--engine", "loopy"]) == 0
    out, err = capsys.readouterr()
    assert "APPROXIMATE (loopy): not converged" in out
    assert err.startswith("pgm: warning: ")
    assert err.count("\n") == 1


@pytest.mark.skipif(not ALARM.exists(), reason="the networks are not beside this checkout")
def test_the_commands_of_the_contract_run_as_written(tmp_path: Path) -> None:
    """The lines of section 4 of api.md, by a shell, in a folder with the files that they name."""
    page = PAGE.read_text(encoding="utf-8")
    block = next(b for b in page.split("```")[1::2] if "pgm info" in b)
    lines = [part.strip() for line in block.splitlines() for part in re.split(r"\s{2,}(?=pgm )", line)]
    asked = [line for line in lines if line and "learn" not in line]  # learning is not built
    assert len(asked) == 5
    pgm.write(pgm.read(ALARM), tmp_path / "alarm.bif")
    shutil.copy(tmp_path / "alarm.bif", tmp_path / "a.bif")
    for line in asked:
        program, *arguments = line.split()
        assert program == "pgm"
        ran = subprocess.run(
            [sys.executable, "-m", "pgm.cli", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=250,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        )
        assert (ran.returncode, ran.stderr) == (0, ""), line
        if arguments[0] == "query":
            right = pgm.read(ALARM).query("HR", {"CVP": "LOW", "BP": "HIGH"})
            assert f"{right['HIGH']:.6f}" in ran.stdout
    assert (tmp_path / "alarm.svg").exists()
    assert (tmp_path / "b.xdsl").exists()
