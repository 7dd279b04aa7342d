"""What is stale is compiled and nothing else; a compiler that fails or is missing is said in words."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import pytest

import hatch_build
from build_loops import __main__ as command
from build_loops import builds, compiler

LOOPS = '''"""Loops."""


def twice(n: int):
    """Twice as much."""
    return 2 * n
'''

# Writes where -o says so, and notes each call in the folder that it stands in.
COMPILER = """
import pathlib, sys, time
here = pathlib.Path(__file__).parent
with (here / "calls").open("a") as file:
    file.write("|".join(sys.argv) + "\\n")
time.sleep(float((here / "pause").read_text()))
text = pathlib.Path("loops.cpp").read_text()
if (here / "wrong").exists() and (here / "wrong").read_text() in text:
    sys.stderr.write("".join(f"line {i} of what is wrong\\n" for i in range(50)))
    sys.exit(7)
pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_text(text)
"""


class Tree:
    """A package with two files of loops, and a compiler that is quick."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.first, self.second = (root / "pgm" / name / "compiled.py" for name in ("first", "second"))
        for path, text in ((self.first, LOOPS), (self.second, LOOPS.replace("twice", "double"))):
            path.parent.mkdir(parents=True)
            path.write_text(text)
        self.script = root / "cxx" / "compiler.py"
        self.script.parent.mkdir()
        self.script.write_text(COMPILER)
        self.pause("0")

    def pause(self, seconds: str) -> None:
        (self.script.parent / "pause").write_text(seconds)

    def built(self, **options: object) -> set[str]:
        """The folders of what is made now."""
        return {path.parent.name for path in builds.build(self.root, **options)}  # type: ignore[arg-type]

    def calls(self) -> list[list[str]]:
        path = self.script.parent / "calls"
        return [line.split("|") for line in path.read_text().splitlines()] if path.exists() else []

    def record(self) -> dict[str, dict[str, object]]:
        found: dict[str, dict[str, object]] = json.loads((self.root / builds.RECORD).read_text())["files"]
        return found


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    made = Tree(tmp_path)
    monkeypatch.delenv("PGM_LOOPS", raising=False)
    monkeypatch.setenv("CXX", shlex.join([sys.executable, str(made.script)]))
    # each is parsed once in a process, and these are written anew
    monkeypatch.setattr("build_loops.source.Source._read", {})
    return made


def edit(path: Path, old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    monkeypatch.setattr("build_loops.source.Source._read", {})


def test_only_what_has_changed_is_compiled(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tree.built() == {"first", "second"}
    assert tree.built() == set()
    edit(tree.first, "2 * n", "n + n", monkeypatch)
    assert tree.built() == {"first"}
    before = tree.record()["pgm/second/compiled.py"]
    edit(tree.second, "Twice as much.", "Two times as much,\n    in two lines.", monkeypatch)
    assert tree.built() == set()  # the C++ is the same
    after = tree.record()["pgm/second/compiled.py"]
    assert before["made_from"] != after["made_from"]
    assert {**before, "made_from": 0} == {**after, "made_from": 0}
    assert tree.built(everything=True) == {"first", "second"}


def test_what_was_taken_away_or_damaged_is_made_anew(tree: Tree) -> None:
    tree.built()
    builds.place(tree.first, "baseline").write_text("cut off")
    builds.place(tree.second, "baseline").unlink()
    assert tree.built() == {"first", "second"}
    (tree.root / builds.RECORD).write_text("{")
    assert tree.built() == {"first", "second"}


def test_what_is_installed_of_the_same_loops_is_copied(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    builds.build(tree.root, site)
    edit(tree.first, "2 * n", "n + n", monkeypatch)
    before = len(tree.calls())
    assert tree.built(installed=site) == {"first"}
    assert len(tree.calls()) == before + len(compiler.variants())
    assert builds.place(tree.second, "baseline").read_text() == (
        builds.place(site / "pgm" / "second" / "compiled.py", "baseline").read_text()
    )
    assert tree.built() == set()
    builds.clean(tree.root)
    builds.place(site / "pgm" / "second" / "compiled.py", "baseline").write_text("cut off")
    assert tree.built(installed=site) == {"first", "second"}
    builds.build(tree.root, site)
    builds.clean(tree.root)
    assert tree.built(installed=site, more=compiler.CHECKED) == {"first", "second"}
    assert tree.built(installed=site, everything=True) == {"first", "second"}
    builds.clean(tree.root)
    (site / builds.RECORD).write_text(
        (site / builds.RECORD).read_text().replace('"abi": "', '"abi": "other-')
    )
    assert tree.built(installed=site) == {"first", "second"}
    assert tree.built(installed=tmp_path / "nowhere") == set()


def test_what_has_no_source_any_more_is_taken_away(tree: Tree) -> None:
    tree.built()
    tree.second.unlink()
    tree.built()
    assert set(tree.record()) == {"pgm/first/compiled.py"}
    assert not list(tree.second.parent.iterdir())
    builds.clean(tree.root)
    assert not list(tree.root.glob("pgm/**/_loops_*"))
    assert not (tree.root / builds.RECORD).exists()


def test_another_form_or_compiler_is_another_build(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.built()
    assert tree.built(more=compiler.CHECKED) == {"first", "second"}
    assert all("-DCHECKED" in call for call in tree.calls()[-2:])
    assert not list(tree.root.glob("pgm/**/_loops_v3.native"))  # one form is enough to look for mistakes
    assert tree.built() == {"first", "second"}
    monkeypatch.setenv("CXX", f"{shlex.join([sys.executable, str(tree.script)])} -another")
    assert tree.built() == {"first", "second"}


def test_flags_keep_the_bits_and_every_processor(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.built()
    for call in tree.calls():
        assert "-ffp-contract=off" in call
        assert not {"-march=native", "-ffast-math", "-Ofast"} & set(call)
    monkeypatch.setenv("PGM_LOOPS", "native")
    assert tree.built() == {"first", "second"}
    assert all("-march=native" in call and "-ffp-contract=off" in call for call in tree.calls()[-2:])


def test_for_a_browser_it_is_cross_compiled(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Pyodide loads it: one kind of processor, 32 bits, tagged with the platform that is named."""
    monkeypatch.setenv("CXX", str(tree.root / "em++"))
    with pytest.raises(
        compiler.CompilerError, match=r"em\+\+ compiles for a browser(.|\n)*PYTHON_HOST_PLATFORM"
    ):
        tree.built()
    monkeypatch.setenv("CXX", shlex.join([sys.executable, str(tree.script)]))
    monkeypatch.setenv("_PYTHON_HOST_PLATFORM", "emscripten-3.1.58-wasm32")
    assert tree.built() == {"first", "second"}
    for call in tree.calls():
        assert {"-sSIDE_MODULE=2", "-sEXPORTED_FUNCTIONS=_PyInit_loops", "-ffp-contract=off"} <= set(call)
        assert not {"-shared", "-s", "-march=x86-64", "-march=x86-64-v3"} & set(call)
    record = json.loads((tree.root / builds.RECORD).read_text())
    assert (record["system"], record["machine"], record["bits"]) == ("emscripten", "wasm32", 32)
    assert not list(tree.root.glob("pgm/**/_loops_v3.native"))
    data: dict[str, object] = {"force_include": {}}
    made = hook(tree.root)
    made.initialize("standard", data)
    assert data["tag"] == "cp311-abi3-emscripten_3_1_58_wasm32"
    made.finalize("standard", data, "")


def test_two_builds_at_once_wait_for_each_other(tree: Tree) -> None:
    tree.pause("0.3")
    found: list[set[str]] = []
    threads = [threading.Thread(target=lambda: found.append(tree.built())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found, key=len) == [set(), {"first", "second"}]


def test_a_process_keeps_what_it_has_open(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.built()
    with builds.place(tree.first, "baseline").open() as file:
        edit(tree.first, "2 * n", "3 * n", monkeypatch)
        tree.built()
        assert "2LL" in file.read()
    assert "3LL" in builds.place(tree.first, "baseline").read_text()


def test_one_that_fails_says_what_it_said(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.built()
    (tree.script.parent / "wrong").write_text("v_n")
    edit(tree.first, "2 * n", "4 * n", monkeypatch)
    with pytest.raises(compiler.CompilerError, match="failed with code 7") as error:
        tree.built()
    assert "line 0 of what is wrong" in str(error.value)
    assert "line 19 " in str(error.value)
    assert "line 20 " not in str(error.value)
    assert "apt install g++" in str(error.value)
    assert set(tree.record()) == {"pgm/second/compiled.py"}  # nothing claims that the first fits
    (tree.script.parent / "wrong").unlink()
    assert tree.built() == {"first"}


def test_one_that_is_missing_says_what_to_install(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", str(tree.root / "no-such-compiler"))
    with pytest.raises(compiler.CompilerError, match=r"no-such-compiler cannot be run: No such file"):
        tree.built()
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", str(tree.root))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        compiler.CompilerError, match=r"No C\+\+ compiler was found(.|\n)*PGM_LOOPS=interpreted"
    ):
        tree.built()


def test_headers_that_are_missing_are_said(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"include": str(tree.root)})
    with pytest.raises(compiler.CompilerError, match=r"no Python\.h(.|\n)*python3-dev"):
        tree.built()


def test_the_command_says_what_it_did(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "_ROOT", tree.root)

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["build_loops", *arguments])
        code, written = command.main(), capsys.readouterr()
        return code, written.out + written.err

    assert run()[1].startswith("2 files of loops compiled in ")
    assert run()[1].startswith("0 files of loops compiled in ")
    assert run("--all")[1].startswith("2 files of loops compiled in ")
    assert run("--clean") == (0, "")
    edit(tree.first, "2 * n", "[n]", monkeypatch)
    code, said = run()
    assert (code, said.partition(": ")[0]) == (1, "pgm/first/compiled.py:6")
    (tree.root / "pgm" / "_loops.lock").unlink()
    (tree.root / "pgm" / "_loops.lock").mkdir()  # as if nothing could be written there, which root always can
    code, said = run()
    assert code == 1
    assert "_loops.lock: " in said
    assert "Traceback" not in said


def hook(root: Path) -> hatch_build.LoopsHook:
    return hatch_build.LoopsHook(str(root), {}, None, None, "", "wheel")  # type: ignore[arg-type]


def test_pip_brings_a_compiler_only_where_there_is_none(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hook(tree.root).dependencies() == []
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", str(tree.root))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert hook(tree.root).dependencies() == ["ziglang"]
    monkeypatch.setenv("PGM_LOOPS", "interpreted")
    assert hook(tree.root).dependencies() == []


def test_a_wheel_has_its_loops_and_a_checkout_stays_as_it_is(tree: Tree) -> None:
    data: dict[str, object] = {"force_include": {}}
    made = hook(tree.root)
    made.initialize("standard", data)
    assert data["pure_python"] is False
    assert str(data["tag"]).startswith("cp311-abi3-")
    inside = data["force_include"]
    assert isinstance(inside, dict)
    assert {"pgm/_loops.json", "pgm/first/_loops_baseline.native"} <= set(inside.values())
    assert all(Path(path).exists() for path in inside)
    assert not (tree.root / builds.RECORD).exists()
    made.finalize("standard", data, "")
    assert not any(Path(path).exists() for path in inside)


def test_an_editable_installation_is_compiled_in_place(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    data: dict[str, object] = {"force_include": {}}
    hook(tree.root).initialize("editable", data)
    assert data == {"force_include": {}}
    assert tree.built() == set()
    monkeypatch.setenv("PGM_LOOPS", "interpreted")
    hook(tree.root).initialize("editable", data)
    assert not (tree.root / builds.RECORD).exists()


def test_pip_ends_with_the_compilers_words(tree: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    (tree.script.parent / "wrong").write_text("v_n")
    with pytest.raises(SystemExit):
        hook(tree.root).initialize("standard", {"force_include": {}})
    said = capsys.readouterr().err
    assert said.startswith("The loops of pgm cannot be compiled.\n")
    assert "line 0 of what is wrong" in said


def test_the_same_file_gives_the_same_cpp_in_every_process() -> None:
    root = Path(__file__).parents[2]
    code = (
        "import pathlib, sys; from build_loops import compiler; root = pathlib.Path(sys.argv[1]); "
        "print(compiler.translated(root / 'pgm/inference/trees/sweeps/compiled.py', root))"
    )
    said = set()
    for seed in ("1", "2"):
        given = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", code, str(root)], env=given, cwd=root, capture_output=True, check=True
        )
        said.add(done.stdout)
    assert len(said) == 1
