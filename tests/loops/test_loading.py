"""Compiled loops are used where they fit sources, machine and Python; else it is interpreted, and says so."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.runtime import loops
from pgm.runtime.loops import RECORD, Build, Loops
from pgm.runtime.running import REDUCTION

HERE = Path(pgm.__file__).parent
GRAPHS, MESSAGES = "pgm.graphs.compiled", "pgm.inference.engines.gaussian.propagation.compiled"
FIRST, SECOND = (module.replace(".", "/") + ".py" for module in (GRAPHS, MESSAGES))

pytestmark = pytest.mark.skipif(
    bool(loops.state().reason), reason="the loops of this checkout are not compiled"
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with two files of loops, compiled."""
    monkeypatch.delenv("PGM_LOOPS", raising=False)
    record = json.loads((HERE / RECORD).read_text())
    record["files"] = {path: record["files"][path] for path in (FIRST, SECOND)}
    for path in (FIRST, SECOND):
        for source in record["files"][path]["made_from"]:
            (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(HERE.parent / source, tmp_path / source)
        for file in (HERE.parent / path).parent.glob("_loops_*.native"):
            shutil.copy(file, (tmp_path / path).parent)
    (tmp_path / "pgm" / RECORD).write_text(json.dumps(record))
    return tmp_path / "pgm"


def rewritten(package: Path, **facts: Any) -> None:
    record = json.loads((package / RECORD).read_text())
    (package / RECORD).write_text(json.dumps({**record, **facts}))


def native(package: Path) -> list[Path]:
    return list((package.parent / FIRST).parent.glob("_loops_*.native"))


def form_of(build: Build, module: str = GRAPHS) -> str:
    kinds = {type(value) for value in build.loops(module).values() if callable(value)}
    return "compiled" if BuiltinFunctionType in kinds else "interpreted"


def refused(package: Path, said: str) -> Build:
    """It runs interpreted, having said why, once."""
    build = Build(package)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        build.announce()
        assert form_of(build) == form_of(build, MESSAGES) == "interpreted"
    assert [each.category for each in warned] == [RuntimeWarning]
    text = str(warned[0].message)
    assert re.search(said, text)
    assert text.startswith(("pgm runs interpreted", "Some loops of pgm run interpreted"))
    assert "PGM_LOOPS=interpreted" in text
    state = build.state()
    assert (state.form, state.variant) == ("interpreted", None)
    assert state.reason in text
    return build


def test_what_was_compiled_is_used_and_nothing_is_said(package: Path) -> None:
    build = Build(package)
    build.announce()
    assert build.state() == Build(HERE).state() == loops.state()
    assert loops.state()[::2] == ("compiled", "")
    found = build.loops(GRAPHS)
    plain = loops.interpreted(GRAPHS)
    assert set(found) == set(plain)
    for name, value in found.items():
        if isinstance(plain[name], FunctionType):
            assert isinstance(value, BuiltinFunctionType), name
        else:
            assert value is plain[name]
    with pytest.raises(TypeError, match="takes"):
        found["core"](np.zeros(1))


def test_either_variant_can_be_had(package: Path) -> None:
    build = Build(package)
    build.has_v3 = False
    assert (form_of(build), build.state().variant) == ("compiled", "baseline")


@pytest.mark.parametrize("checkout", [True, False])
def test_where_none_were_compiled_it_says_how_to_get_them(package: Path, checkout: bool) -> None:
    (package / RECORD).unlink()
    if checkout:
        (package.parent / "build_loops").mkdir()
    refused(package, "python -m build_loops" if checkout else "pip install --force-reinstall")


def test_who_asks_for_the_interpreted_form_hears_nothing(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGM_LOOPS", "interpreted")
    build = Build(package)
    build.announce()
    assert form_of(build) == "interpreted"
    assert build.state() == ("interpreted", None, "PGM_LOOPS=interpreted asks for it")


def test_a_change_makes_one_file_stale_when_it_is_wanted(package: Path) -> None:
    with (package.parent / FIRST).open("a") as file:
        file.write("# changed\n")
    build = Build(package)
    build.announce()
    assert form_of(build, MESSAGES) == "compiled"
    with pytest.warns(RuntimeWarning, match=rf"interpreted.*{FIRST} was changed after") as warned:
        assert [form_of(build) for _ in range(2)] == ["interpreted"] * 2
    assert len(warned) == 1
    assert build.state() == (
        "compiled",
        build.state().variant,
        f"{FIRST} was changed after its loops were compiled",
    )


@pytest.mark.parametrize("edit", [Path.unlink, lambda path: path.write_text("")])
def test_what_the_kinds_of_arguments_come_from_counts_too(
    package: Path, edit: Callable[[Path], object]
) -> None:
    edit(package / "runtime" / "kinds.py")
    build = refused(package, r"runtime/kinds\.py")
    assert "kinds.py" in build.state().reason


def test_line_endings_are_no_change(package: Path) -> None:
    file = package.parent / FIRST
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert form_of(Build(package)) == "compiled"


def test_a_file_that_was_added_is_interpreted(package: Path) -> None:
    record = json.loads((package / RECORD).read_text())
    del record["files"][FIRST]
    (package / RECORD).write_text(json.dumps(record))
    build = Build(package)
    with pytest.warns(RuntimeWarning, match=f"{FIRST} was added after"):
        assert form_of(build) == "interpreted"
    assert form_of(build, MESSAGES) == "compiled"


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"machine": "riscv128"}, r"compiled for .* on riscv128.*and this is"),
        ({"system": "another"}, "compiled for another on "),
        ({"bits": 16}, "16 bits"),
        ({"abi": "cp399-abi3"}, "the interface cp399-abi3, which"),
        ({"abi": "cp311-cp311"}, "the interface cp311-cp311, which"),
    ],
)
def test_loops_for_another_machine_or_python_are_refused_before_they_are_loaded(
    package: Path, facts: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewritten(package, **facts)
    monkeypatch.setattr(Build, "_loaded", None)  # would be called
    refused(package, said)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("implementation", SimpleNamespace(name="pypy")),
        ("version", "3.14.0 free-threading build"),
        ("version_info", (3, 10)),
    ],
)
def test_a_python_without_the_stable_interface_is_told(
    package: Path, name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(f"sys.{name}", value)
        fault = Build(package).fault
    assert "the interface cp311-abi3, which" in fault
    assert Build(package).fault == ""


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"files": 3}', '{"files": {"a": 3}}'])
def test_a_damaged_record_is_said(package: Path, text: str) -> None:
    (package / RECORD).write_text(text)
    refused(package, r"_loops\.json is damaged")
    record = json.loads((HERE / RECORD).read_text())
    (package / RECORD).write_text(json.dumps({**record, "files": {FIRST: {"made_from": {FIRST: "0"}}}}))
    refused(package, r"_loops\.json is damaged")


def test_a_record_that_cannot_be_read_is_said(package: Path) -> None:
    (package / RECORD).unlink()
    (package / RECORD).mkdir()
    refused(package, "cannot be read")


@pytest.mark.parametrize("left", [0, 100, 5000, -1])
def test_a_file_that_was_cut_short_is_not_loaded(package: Path, left: int) -> None:
    """The system would end the whole process as it reads beyond the end."""
    for file in native(package):
        file.write_bytes(file.read_bytes()[:left])
    build = Build(package)
    with pytest.warns(RuntimeWarning, match=r"cannot be loaded .*_loops_\w+\.native is damaged"):
        assert form_of(build) == "interpreted"
    assert form_of(build, MESSAGES) == "compiled"


def test_a_file_that_is_missing_or_no_extension_is_said(package: Path) -> None:
    record = json.loads((package / RECORD).read_text())
    for file in native(package):
        file.unlink()
    with pytest.warns(RuntimeWarning, match="cannot be loaded"):
        assert form_of(Build(package)) == "interpreted"
    (package.parent / FIRST).with_name("_loops_baseline.native").write_bytes(b"none")
    record["files"][FIRST]["digests"] = {"baseline": loops._digest(b"none")}
    (package / RECORD).write_text(json.dumps(record))
    with pytest.warns(RuntimeWarning, match="cannot be loaded"):
        assert form_of(Build(package)) == "interpreted"


# --- in a process of its own ---


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The whole package, elsewhere."""
    shutil.copytree(HERE, tmp_path / "pgm", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def ran(root: Path, script: str, **environment: str) -> tuple[str, str]:
    """What a process with this package prints, and what it says beside."""
    given = {name: value for name, value in os.environ.items() if name != "PGM_LOOPS"}
    done = subprocess.run(
        [sys.executable, "-B", "-c", script],
        env={**given, "PYTHONPATH": str(root), **environment},
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    return done.stdout, done.stderr


ASK = (
    "import pgm\n"
    "net = pgm.load_network('asia')\n"
    "print(net.marginals({'asia': 'yes'})['lung'].values.tobytes().hex())\n"
    "print(net.map(), list(net.sample(3, seed=1)['lung']))\n"
)


def test_an_interpreted_package_answers_alike_and_says_so_at_import(installed: Path) -> None:
    compiled, said = ran(installed, ASK)
    assert said == ""
    (installed / "pgm" / RECORD).unlink()
    interpreted, said = ran(installed, ASK)
    assert interpreted == compiled
    assert said.startswith("<string>:1: RuntimeWarning: pgm runs interpreted")
    assert said.count("\n") == 1
    assert ran(installed, ASK, PGM_LOOPS="interpreted") == (compiled, "")


def test_a_package_that_cannot_be_written_is_used_as_it_is(installed: Path) -> None:
    for path in [installed / "pgm", *(installed / "pgm").rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = sorted((installed / "pgm").rglob("*"))
    try:
        found, said = ran(installed, ASK)
        assert said == ""
        assert found
        assert sorted((installed / "pgm").rglob("*")) == before  # not even who may write there does
    finally:
        for path in [installed / "pgm", *(path for path in before if path.is_dir())]:
            path.chmod(0o755)


# --- a file of loops, as others see it ---


def test_it_is_there_once_and_says_what_it_lacks() -> None:
    assert Loops.every[REDUCTION.module] is REDUCTION
    with pytest.raises(AssertionError, match="import them"):
        Loops(REDUCTION.module)
    with pytest.raises(AttributeError, match=r"reduction\.compiled has no speed"):
        _ = REDUCTION.speed
    assert not hasattr(REDUCTION, "__wrapped__")


def test_threads_that_want_it_at_once_all_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Loops, "every", {})
    mine, found, together = Loops(GRAPHS), [], threading.Barrier(8)

    def want() -> None:
        together.wait()
        found.append(mine.core)

    each = [threading.Thread(target=want) for _ in range(8)]
    for thread in each:
        thread.start()
    for thread in each:
        thread.join()
    assert len(found) == 8
    assert all(isinstance(core, BuiltinFunctionType) for core in found)
