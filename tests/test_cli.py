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
import pandas as pd
import pytest

import pgm
from pgm import cli
from pgm.cli import evidence, main
from pgm.runtime.loops import LoopState, state

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


def test_identify_prints_a_formula_or_what_hides_it(capsys: pytest.CaptureFixture[str], wet: str) -> None:
    front_door = ("identify", "x -> z -> y; x <-> y", "--do", "x", "--of", "y")
    assert said(capsys, *front_door) == "P(y | do(x)) = sum_z P(z | x) sum_{x'} P(x') P(y | x', z)\n"
    assert json.loads(said(capsys, *front_door, "--json"))["observed"] == ["x", "z", "y"]
    bow = ("identify", "x -> y; x <-> y", "--do", "x", "--of", "y")
    found = json.loads(said(capsys, *bow, "--json"))
    assert (found["identifiable"], found["hedge"]) == (False, {"outer": ["x", "y"], "inner": ["y"]})
    assert "hidden causes join 'x', 'y'" in complaint(capsys, *bow)
    assert said(capsys, "identify", wet, "--do", "rain", "--of", "wet").startswith("P(wet | do(rain)) = ")


def test_plan_says_what_a_question_costs(capsys: pytest.CaptureFixture[str], wet: str) -> None:
    assert "largest table" in said(capsys, "plan", wet, "rain")
    found = json.loads(said(capsys, "plan", wet, "rain", "--json"))
    assert found["engine"] == "exact"
    assert found["log2_largest"] == pgm.read(wet).plan("rain").log2_largest


def test_a_network_that_comes_with_pgm_needs_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert re.search(r"^nodes +8$", said(capsys, "info", "asia"), re.MULTILINE)
    assert "yes" in said(capsys, "query", "asia", "dysp", "--given", "smoke=yes")


def test_info(capsys: pytest.CaptureFixture[str], wet: str) -> None:
    text = said(capsys, "info", wet)
    assert re.search(r"^nodes +4$", text, re.MULTILINE)
    assert re.search(r"^arcs +4$", text, re.MULTILINE)
    found = json.loads(said(capsys, "info", wet, "--json"))
    assert found["parameters"] == 9
    assert found["all marginals"]["fits"] is True


def test_info_without_a_file_says_what_runs_here(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = json.loads(said(capsys, "info", "--json"))
    assert found["pgm"] == pgm.__version__
    assert Path(found["folder"]) == Path(pgm.__file__).parent
    assert found["versions"]["numpy"] == np.__version__
    assert found["loops"] == state()._asdict()
    assert found["time limit"] is None
    limited = json.loads(said(capsys, "info", "--json", "--memory", "2 GB", "--time", "3"))
    assert (limited["memory limit"]["bytes"], limited["time limit"]) == (2 * 10**9, 3.0)
    lines = dict(line.split(maxsplit=1) for line in said(capsys, "info", "--time", "3").splitlines())
    assert lines["numpy"] == np.__version__
    assert lines["loops"].startswith(state().form)
    assert "time limit      3 s for a question" in said(capsys, "info", "--time", "3")
    monkeypatch.setattr("pgm.cli.state", lambda: LoopState("interpreted", None, "nothing was compiled"))
    assert "\nloops           interpreted: nothing was compiled\n" in said(capsys, "info")
    monkeypatch.setattr("pgm.cli.state", lambda: LoopState("compiled", "v3", "one was changed"))
    assert "\nloops           compiled, v3, but not all: one was changed\n" in said(capsys, "info")
    assert "none was named" in complaint(capsys, "info", "--format", "bif")


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
        (["query", "{wet}", "rain", "--given", "wet=yes", "--given", "wet=no"], "twice"),
        (["query", "{wet}", "rain", "--given", "wet=yes", "sprinkler"], "what is known is NAME=STATE"),
        (["query", "{wet}", "rain", "--given"], "argument --given: expected at least one argument"),
        (["query", "{wet}", "--given", "wet=yes", "--jsn", "rain"], "unrecognized arguments: --jsn rain"),
        (["map", "{wet}", "rain"], "--targets comes before names"),
        (
            ["map", "--targets", "rain", "{wet}"],
            "it goes before --targets, which takes all names that follow",
        ),
        (["predict", "-", "-"], "cannot both come from stdin"),
        # in the words of the shell
        (["query", "{wet}", "rain", "--engine", "lopy"], "--engine lopy is not one of 'auto'"),
        (
            ["query", "{wet}", "rain", "--engine", "loopy:dampng=1"],
            "has no option 'dampng=1'; it has schedule",
        ),
        (["query", "{wet}", "rain", "--engine", "exact:x=1"], "has no option 'x=1'; it has none"),
        (["query", "{wet}", "rain", "--memory", "much"], "--memory much is not a size"),
        (["query", "{wet}", "rain", "--time", "soon"], "argument --time: a number is expected, not 'soon'"),
        (["query", "{wet}", "rain", "--time", "-1"], "--time -1.0 must be a positive number of seconds."),
        (["map", "{wet}", "-k", "3.5"], "argument -k: a whole number is expected, not '3.5'"),
        (["sample", "{wet}", "many"], "argument n: a whole number is expected, not 'many'"),
        (["map", "{wet}", "-k", "2", "--engine", "gibbs"], "--engine gibbs does not answer map -k"),
        (["info", "{wet}", "--format", "bfi"], "Did you mean 'bif'?"),
        (["convert", "{wet}", "wet.docx"], "or use --to, one of bif"),
        (["convert", "{wet}", "-"], "stdout has no name to tell the format from: --to is one of 'bif'"),
        (["query", "-", "rain"], "stdin has no name to tell the format from: --format is one of 'bif'"),
        (["plot", "{wet}", "-o", "-"], "the ending, or --to, decides how to draw"),
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


@pytest.mark.parametrize(
    "arguments",
    [
        "query asia lung --given dysp=yes --given smoke=no",
        "query asia lung --given dysp=yes smoke=no",
        "query --given dysp=yes smoke=no asia lung",
        "query --given dysp=yes --given=smoke=no asia lung",
        "query asia --given dysp=yes smoke=no lung",
        "query --given dysp=yes --format json --given smoke=no {file} lung",
        "query --given dysp=yes smoke=no -- asia lung",
    ],
)
def test_what_is_known_may_stand_anywhere_and_come_twice(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: str
) -> None:
    net = pgm.load_network("asia")
    pgm.write(net, tmp_path / "asia.json")
    right = net.query("lung", {"dysp": "yes", "smoke": "no"})["yes"]
    assert right == pytest.approx(0.023815, abs=1e-6)
    asked = arguments.format(file=tmp_path / "asia.json").split()
    found = json.loads(said(capsys, *asked[:1], "--json", *asked[1:]))
    assert found["given"] == {"dysp": "yes", "smoke": "no"}
    assert found["variables"] == ["lung"]
    assert found["table"][0]["p"] == right


def test_engines_take_options(capsys: pytest.CaptureFixture[str], wet: str) -> None:
    options = pgm.engines.Gibbs(samples=500, seed=7)
    right = pgm.read(wet).query("rain", {"wet": "yes"}, engine=options).values
    engine = "gibbs:samples=500,seed=7"
    found = json.loads(said(capsys, "query", wet, "rain", "--given", "wet=yes", "--json", "--engine", engine))
    assert [row["p"] for row in found["table"]] == right.tolist()
    assert cli.engine("loopy:schedule=residual") == pgm.engines.Loopy(schedule="residual")
    assert cli.engine("loopy") == "loopy"


PYTHON = re.compile(r"\w=\.\.\.|pgm\.\w|\b(engine|expand|format|encoding|targets|bad_rows|\w+_limit)=|None|`")


def test_no_mistake_is_answered_in_python(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Whatever the library says of its own options, the shell is told of its own."""
    dense = pgm.MarkovNetwork()
    for i in range(40):
        dense.add_variable(f"x{i}", states=[0, 1])
    for pair in itertools.combinations(dense.nodes, 2):
        dense.add_factor(pair, [[1, 2], [3, 1]])
    pgm.write(dense, tmp_path / "dense.json")
    gate = pgm.BayesianNetwork()
    gate.add("a", 0.5)
    gate.add("height", pgm.Gaussian(1.7, 0.1))
    gate.add("b", pgm.NoisyOr({"a": 0.5}))
    pgm.write(gate, tmp_path / "gate.json")
    (tmp_path / "latin.bif").write_bytes(b"network \xe9 {\n}\n")
    (tmp_path / "rows.csv").write_text("a\nmaybe\n")
    tried = [
        ("query dense.json x0", "allow more with --memory"),
        ("query dense.json x0", "--engine loopy,"),
        ("sample dense.json 3", "--engine likelihood-weighting"),
        ("query dense.json x0 --engine rejection", 'Use "importance"'),
        ("query dense.json x0 --engine elimination --memory 2MB", "--engine exact may find a better order"),
        ("query dense.json --time 1e-6", "Allow more with --time"),
        ("map dense.json -k 3 --time 0.3", "--time"),
        ("query gate.json a b height", "Ask for them separately"),
        ("query gate.json height a --engine loopy", "--engine loopy is for discrete variables"),
        ("query gate.json a --given height!=1", "'height' is continuous: use ="),
        ("map gate.json -k 2", "--targets"),
        ("convert gate.json gate.bif", "'height'"),
        ("predict gate.json rows.csv b", "--bad-rows missing leaves such values out"),
        ("predict gate.json rows.csv height --proba", "predict gives its mean"),
        ("info latin.bif", "use --encoding latin-1"),
        ("info latin.bif --encoding what", "There is no encoding 'what'"),
        ("info gate.json --memory 1kB", "--memory raises the limit"),
        ("plot gate.json -o x.svg --kind tree", "no picture of kind 'tree'"),
    ]
    for asked, wanted in tried:
        arguments = [str(tmp_path / a) if a.endswith((".json", ".bif", ".csv")) else a for a in asked.split()]
        line = complaint(capsys, *arguments)
        assert wanted in line, line
        assert not PYTHON.search(line), line


def test_what_a_warning_advises_can_be_typed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rng, mrf = np.random.default_rng(4), pgm.MarkovNetwork()
    for name in "abcdefgh":
        mrf.add_variable(name, states=[0, 1])
    for pair in itertools.combinations("abcdefgh", 2):
        mrf.add_factor(pair, 4.0 * rng.normal(size=(2, 2)), log=True)
    pgm.write(mrf, tmp_path / "frustrated.json")
    asked = ["query", str(tmp_path / "frustrated.json"), "--engine", "loopy:max_iter=2"]
    assert main(asked) == 0
    out, err = capsys.readouterr()
    assert "--engine loopy:damping=0.5" in err
    assert "--engine loopy:damping=0.5" in out
    assert main([*asked[:-1], "loopy:damping=0.5", "--json"]) == 0
    assert "pgm." not in capsys.readouterr().out


@pytest.fixture
def patients(tmp_path: Path) -> str:
    """Rows with gaps, with a column that is not a variable, and with the targets' own."""
    path = tmp_path / "patients.csv"
    path.write_text('rain,wet,note,sprinkler\nno,yes,"a, b",\nno,NA,,yes\n,no,"",no\n')
    return str(path)


def test_predict_is_one_line_for_each_row(
    capsys: pytest.CaptureFixture[str], wet: str, patients: str, tmp_path: Path
) -> None:
    net = pgm.read(wet)
    rows = [
        {"wet": "yes"},
        {"sprinkler": "yes"},
        {"wet": "no", "sprinkler": "no"},
    ]  # without the target's column
    out = said(capsys, "predict", wet, patients, "rain")
    assert out.splitlines() == ["rain", *[net.query("rain", row).mode() for row in rows]]
    out = said(capsys, "predict", wet, patients, "rain", "--proba")
    assert out.splitlines()[0] == "rain=no,rain=yes"
    for line, row in zip(out.splitlines()[1:], rows, strict=True):
        assert list(map(float, line.split(","))) == pytest.approx(net.query("rain", row).values, abs=1e-12)
    found = json.loads(said(capsys, "predict", wet, patients, "rain", "cloudy", "--json"))
    assert list(found["columns"]) == ["rain", "cloudy"]
    assert said(capsys, "predict", wet, patients, "rain", "-o", str(tmp_path / "out.csv")) == ""
    assert (tmp_path / "out.csv").read_text().startswith("rain\n")
    every = list(csv.DictReader(io.StringIO(said(capsys, "predict", wet, patients))))
    assert list(every[0]) == list(net.nodes)
    assert [row["wet"] for row in every][::2] == ["yes", "no"]  # what is known stays


def test_predict_reads_numbers_and_leaves_bad_rows_empty(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    net = pgm.BayesianNetwork()
    net.add("kind", {"a": 0.5, "b": 0.5})
    net.add("height", {"a": pgm.Gaussian(1.6, 0.1), "b": pgm.Gaussian(1.8, 0.1)}, parents="kind")
    table = {"a": [0.9, 0.1], "b": [0.5, 0.5]}
    net.add("age", table, parents="kind", states=pgm.Bins([0, 18, 65]))
    pgm.write(net, tmp_path / "n.json")
    (tmp_path / "d.csv").write_text("height,age\n1.80,\n1.6e0,17.50\n,99\n,\n")
    asked = ["predict", str(tmp_path / "n.json"), str(tmp_path / "d.csv"), "kind", "--proba"]
    assert "'age' has no bin for 99" in complaint(capsys, *asked)
    _, *lines = said(capsys, *asked, "--bad-rows", "missing").splitlines()
    for line, row in zip(lines, [{"height": 1.8}, {"height": 1.6, "age": 17.5}, None, {}], strict=True):
        if row is None:
            assert line == ","
        else:
            assert list(map(float, line.split(","))) == pytest.approx(net.query("kind", row).values, abs=1e-9)


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("", "the file is empty"),
        ("rain,rain\nyes,no\n", "two columns have the name 'rain'"),
        ("rain,wet\nyes,no\nyes\n", "row 1 (the first is 0) has 1 cells, and the header has 2"),
        ('rain,wet\n"yes,no\n', "this is not a CSV file"),
        ("Rain,note\nyes,no\n", "No column of the frame is a variable: it has 'Rain', 'note'"),
        ("rain\nsi\n", "'rain' has no state 'si'"),
    ],
)
def test_what_is_wrong_with_rows(
    capsys: pytest.CaptureFixture[str], wet: str, tmp_path: Path, content: str, wanted: str
) -> None:
    (tmp_path / "rows.csv").write_text(content)
    assert wanted in complaint(capsys, "predict", wet, str(tmp_path / "rows.csv"), "wet")


def shell(folder: Path, line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line as a user types it; `pgm` is this Python's."""
    return subprocess.run(
        ["bash", "-c", f'pgm() {{ "{sys.executable}" -m pgm "$@"; }}; set -o pipefail; {line}'],
        cwd=folder,
        capture_output=True,
        timeout=250,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **environment},
    )


@pytest.mark.skipif(shutil.which("bash") is None, reason="no shell here")
@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("pgm --version", f"pgm {pgm.__version__}\n"),
        ("pgm query - lung --format bif --given smoke=yes < asia.bif", "yes   0.100000\n"),
        (
            "pgm convert asia - --to xdsl | pgm query - lung --format xdsl --given 'smoke!=no'",
            "yes   0.100000",
        ),
        ("gzip -c asia.bif | pgm info - --format bif", "nodes           8\n"),
        ("pgm plot asia -o - --to svg", "<svg"),
        ("pgm sample asia 2 --seed 1 -o - | pgm predict asia - lung either", "lung,either\nno,no\n"),
        ("pgm query asia lung --given 'dysp=yes|no' --given \"smoke=yes\"", "yes   0.100000"),
        ("pgm convert asia - --to bif | head -n 1", "network asia {\n"),
        ("pgm query odd.json --given 'weiß=a b'", r"\xe9t\xe9"),  # a terminal that knows ASCII only
    ],
)
def test_as_a_user_types_it(tmp_path: Path, line: str, wanted: str) -> None:
    pgm.write(pgm.load_network("asia"), tmp_path / "asia.bif")
    odd = pgm.BayesianNetwork()
    odd.add("weiß", {"a b": 0.5, "c": 0.5})
    odd.add("été", 0.5)
    pgm.write(odd, tmp_path / "odd.json")
    ascii_only = {"PYTHONIOENCODING": "ascii"} if "odd" in line else {}
    ran = shell(tmp_path, line, **ascii_only)
    assert (ran.returncode, ran.stderr) == (0, b"") or "head" in line, ran.stderr
    assert wanted in ran.stdout.decode()


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


def test_learn_writes_the_network_that_the_rows_show(tmp_path, capsys):
    asia = pgm.load_network("asia")
    frame = asia.sample(1500, seed=0).to_pandas().assign(age=[20.5 + i % 7 for i in range(1500)])
    rows, out = tmp_path / "rows.csv", tmp_path / "net.json"
    frame.to_csv(rows, index=False)
    arguments = ["learn", str(rows), "-o", str(out), "--score", "bic", "--require", "asia->tub", "--json"]
    assert main([*arguments, "--tiers", "asia,smoke", "lung,tub", "--max-parents", "3", "--seed", "0"]) == 0
    said = json.loads(capsys.readouterr().out)
    net = pgm.read(out)
    assert [tuple(arc) for arc in said["arcs"]] == list(net.edges)
    wanted = pgm.learn_structure(
        frame,
        require=[("asia", "tub")],
        tiers=[["asia", "smoke"], ["lung", "tub"]],
        max_parents=3,
        name="rows",
    )
    assert net == wanted.network
    assert said["score"] == pytest.approx(wanted.score)
    assert main(["learn", str(rows), "--search", "boss:restarts=1", "--bootstrap", "2", "--seed", "0"]) == 0
    assert "averaged" in capsys.readouterr().out
    for wrong, told in (
        (["--search", "boss:starts=1"], "--search boss has no option 'starts=1'"),
        (["--score", "bick"], "Did you mean 'bic'?"),
        (["--forbid", "asia->tubb"], "--forbid"),
        (["--search", "pc", "--score", "bic"], "--score has no effect"),
    ):
        assert main(["learn", str(rows), *wrong]) == 2
        assert told in capsys.readouterr().err


def test_learn_finds_the_components_of_a_mixture_and_predict_names_them(tmp_path, capsys):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 60)
    frame = pd.DataFrame(
        {
            "mm": rng.normal(9.0 * group),
            "cm": rng.normal(5.0 * group),
            "tone": np.where(group, "loud", "calm"),
        }
    )
    frame.loc[3, "tone"] = None
    rows, out = tmp_path / "rows.csv", tmp_path / "groups.json"
    frame.to_csv(rows, index=False)
    assert main(["learn", str(rows), "--components", "1-3", "-o", str(out), "--seed", "0", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["components"] == 2
    assert sorted(said["weights"].values()) == pytest.approx([0.5, 0.5])
    model = pgm.read(out)
    assert (model.columns, model.name) == (("mm", "cm", "tone"), "rows")
    assert main(["predict", str(out), str(rows)]) == 0
    header, *found = capsys.readouterr().out.split()
    assert header == "component"
    assert [int(x) for x in found] == model.predict(frame).tolist()
    assert main(["predict", str(out), str(rows), "--proba"]) == 0
    assert capsys.readouterr().out.startswith("component=0,component=1\n")
    for options in (["2"], ["2", "--form", "diagonal"]):
        assert main(["learn", str(rows), "--components", *options, "--seed", "0"]) == 0
        printed = capsys.readouterr().out
        assert "Mixture 'rows': 2 components" in printed
        assert "log" in printed
    assert main(["info", str(out)]) == 0
    assert "Mixture" in capsys.readouterr().out
    for wrong, told in (
        (["--components", "many"], "--components is a number such as 3, or 1-6"),
        (["--components", "2", "--search", "pc"], "--search has no effect with --components"),
        (["--components", "2", "--score", "bic"], "--score is bic or aic"),
        (["--starts", "2"], "--starts has no effect without --components"),
    ):
        assert main(["learn", str(rows), *wrong]) == 2
        assert told in capsys.readouterr().err


def test_predict_asks_classifiers(tmp_path, capsys):
    told = pgm.NaiveBayes().fit(
        {"link": [1, 1, 0, 0], "length": [1.5, 2.5, 9.0, 8.25]}, ["spam", "spam", "mail", "mail"]
    )
    pgm.write(told, tmp_path / "told.json")
    (tmp_path / "rows.csv").write_text("link,length,more\n1,,x\n0,8.5,y\n")
    assert main(["predict", str(tmp_path / "told.json"), str(tmp_path / "rows.csv")]) == 0
    assert capsys.readouterr().out.split() == ["class", "spam", "mail"]
    assert main(["predict", str(tmp_path / "told.json"), str(tmp_path / "rows.csv"), "kind"]) == 2
    assert "predicts 'class', and nothing else" in capsys.readouterr().err


@pytest.fixture
def clinic(tmp_path: Path) -> str:
    """The influence diagram of the contract, as a file."""
    d = pgm.InfluenceDiagram("clinic")
    d.add_chance("disease", 0.1)
    d.add_chance("test", {True: 0.9, False: 0.2}, parents=["disease"])
    d.add_decision("treat", states=[False, True], observes=["test"])
    worth = {(True, True): 80, (True, False): -100, (False, True): -20, (False, False): 0}
    d.add_utility("benefit", worth, parents=["disease", "treat"])
    pgm.write(d, tmp_path / "clinic.json")
    return str(tmp_path / "clinic.json")


def test_what_to_do_in_the_shell(clinic: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = said(capsys, "solve", clinic)
    assert "expected utility 2.600000" in text
    assert "True   True   -33.333333  13.333333   46.666667" in text
    found = json.loads(said(capsys, "solve", clinic, "treat", "--given", "test=True", "--json"))
    assert found["expected_utility"] == pytest.approx(13.333333)
    assert found["policy"]["treat"][0]["action"] is True
    assert found["exact"] is True
    assert said(capsys, "value", clinic, "disease", "--before", "treat") == "5.4\n"
    table = json.loads(said(capsys, "value", clinic, "--json"))
    assert table["before"] == "treat"
    assert table["values"] == {"disease": pytest.approx(5.4)}
    assert "decisions       treat" in said(capsys, "info", clinic)
    assert "treat: depends on test" in said(capsys, "plan", clinic)
    picture = tmp_path / "clinic.svg"
    assert main(["plot", clinic, "-o", str(picture), "--given", "test=True"]) == 0
    assert "13.333" in picture.read_text() or picture.stat().st_size > 5000


def test_questions_of_networks_are_refused_for_diagrams(
    clinic: str, wet: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["query", clinic, "disease"]) == 2
    assert "`pgm solve` says what to do" in capsys.readouterr().err
    assert main(["solve", wet]) == 2
    assert "holds no influence diagram" in capsys.readouterr().err
    assert main(["solve", clinic, "--given", "tset=True"]) == 2
    assert "Did you mean 'test'" in capsys.readouterr().err


CHAIN = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], pgm.Categorical([[0.9, 0.1], [0.2, 0.8]]))


@pytest.mark.parametrize("model", [pgm.priors.Beta(2, 3), CHAIN], ids=["Beta", "HMM"])
def test_what_the_shell_has_no_questions_of_is_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, model: pgm.priors.Beta | pgm.HMM
) -> None:
    pgm.write(model, path := str(tmp_path / "model.json"))
    out = said(capsys, "info", path)
    assert type(model).__name__ in out
    assert repr(model) in out
    for line in (["query", path, "x"], ["map", path], ["plan", path], ["sample", path, "3"]):
        assert "cannot query" in complaint(capsys, *line)


def test_a_policy_that_was_kept(capsys, tmp_path):
    oil = pgm.load_network("oil_wildcatter")
    pgm.write(oil.solve(), tmp_path / "plan.json")
    plan = str(tmp_path / "plan.json")
    assert "expected utility 22.500000" in said(capsys, "info", plan)
    assert "expected utility 22.500000" in said(capsys, "solve", plan)
    assert "expected utility 20.000000" in said(capsys, "solve", plan, "--given", "test=no")
    assert "32.500000" in said(capsys, "value", plan)
    assert "0.228571" in said(capsys, "query", plan, "oil", "--given", "report=open")  # as a network
    assert "22.500000" in said(capsys, "solve", "oil_wildcatter")
