"""What was compiled when the package was built is used where it fits its sources; else a warning says so."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from build_loops import compiler
from build_loops.source import digest
from pgm.runtime import built, jit
from tests.loops import replay

MODULE = "pgm.inference.engines.gaussian.messages.compiled"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one file of loops, and a record of what these were compiled from."""
    monkeypatch.setattr(built, "_PACKAGE", tmp_path / "pgm")
    monkeypatch.setattr(built, "present", None)
    monkeypatch.setattr(built, "_forms", {})
    monkeypatch.delenv("PGM_LOOPS", raising=False)
    file = tmp_path / "pgm" / "compiled.py"
    file.parent.mkdir()
    shutil.copy(replay.modules()[MODULE], file)
    record = {"files": {"pgm/compiled.py": {"made_from": {"pgm/compiled.py": digest(file)}}}}
    (tmp_path / "pgm" / "_loops.json").write_text(json.dumps(record))
    return tmp_path / "pgm"


def plain(package: Path) -> ModuleType:
    """The interpreted form, as if it stood there."""
    found = ModuleType("plain")
    found.__dict__.update(vars(jit.interpreted(MODULE)))
    found.__file__ = str(package / "compiled.py")
    return found


def test_without_a_build_there_are_none(package: Path) -> None:
    (package / "_loops.json").unlink()
    assert not built.found()
    assert built.form(MODULE, lambda name: plain(package)) is None


def test_they_can_be_turned_off(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGM_LOOPS", "numba")
    assert not built.found()


def test_a_changed_source_is_said_once(package: Path) -> None:
    with (package / "compiled.py").open("a") as file:
        file.write("# changed\n")
    with pytest.warns(RuntimeWarning, match=r"pgm/compiled\.py was changed after"):
        assert not built.found()
    assert not built.found()


def test_line_endings_are_no_change(package: Path) -> None:
    file = package / "compiled.py"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert built.found()


def test_an_extension_that_cannot_be_loaded_is_said(package: Path) -> None:
    (package / "_loops_baseline.native").write_bytes(b"for another machine")
    with pytest.warns(RuntimeWarning, match="cannot be loaded"):
        assert built.form(MODULE, lambda name: plain(package)) is None
    assert not built.found()


@pytest.mark.skipif(replay.COMPILER is None, reason="no C++ compiler is installed")
def test_loops_and_constants_stand_in_one_module(package: Path) -> None:
    text = compiler.translated(replay.modules()[MODULE], replay.ROOT)
    for variant in compiler.variants():
        shutil.copy(replay.build(text, variant), package / f"_loops_{variant}.native")
    form = built.form(MODULE, lambda name: plain(package))
    assert form is not None
    assert form is built.form(MODULE, lambda name: plain(package))
    public = {name for name in vars(jit.interpreted(MODULE)) if not name.startswith("_")} - {"njit"}
    assert public <= set(vars(form))
    assert type(form.sweep).__name__ == "builtin_function_or_method"
    assert form.DONE == 0
    with pytest.raises(TypeError, match="takes"):
        form.sweep(np.zeros(1))
