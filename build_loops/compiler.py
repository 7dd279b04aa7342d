"""Calls the compiler: one extension module for each file of loops and each kind of processor."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from build_loops.module import Module
from build_loops.source import Source

# A fused multiply-add would change bits; so would what a compiler works out itself of these functions.
_FLAGS = [
    *("-std=c++17", "-O3", "-ffp-contract=off", "-fwrapv", "-fno-exceptions", "-fno-rtti", "-fno-math-errno"),
    *(f"-fno-builtin-{name}" for name in ("exp", "log", "log2", "pow", "cos", "expm1", "log1p")),
    *("-shared", "-fPIC", "-fvisibility=hidden", "-Wno-unused", "-w", "-s"),
]
_VARIANTS = {"baseline": [], "v3": ["-march=x86-64-v3"]}
CHECKED = ["-DCHECKED", "-fno-wrapv"]


def found() -> str | None:
    """The C++ compiler of this machine: what CXX names, else g++ or clang++."""
    named = os.environ.get("CXX")
    return named or next((x for x in ("g++", "clang++") if shutil.which(x)), None)


def variants() -> list[str]:
    """The kinds of processor that are compiled for."""
    return list(_VARIANTS) if platform.machine() in ("x86_64", "AMD64") else ["baseline"]


def translated(path: Path, root: Path) -> str:
    """The C++ of a file of loops."""
    return Module(Source.of(path, root)).text()


def compile_text(text: str, to: Path, variant: str = "baseline", more: tuple[str, ...] = ()) -> Path:
    """Compile to an extension module; what the compiler says, if it fails, is in the error."""
    cxx = found()
    if cxx is None:
        raise FileNotFoundError("no C++ compiler is installed")
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "loops.cpp")
        file.write_text(text, encoding="utf-8")
        made = Path(folder, "loops.so")
        include = [f"-I{Path(__file__).parent}", f"-I{sysconfig.get_paths()['include']}"]
        command = [*cxx.split(), *_FLAGS, *_VARIANTS[variant], *more, *include, str(file), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr[:4000]}")
        shutil.copy(made, to.with_suffix(to.suffix + ".part"))
    os.replace(to.with_suffix(to.suffix + ".part"), to)  # a process that has the old one open keeps it
    return to


def place(path: Path, variant: str) -> Path:
    """Where the extension module of a file of loops stands: beside it."""
    return path.with_name(f"_loops_{variant}.native")


def compile_all(root: Path, to: Path | None = None) -> list[Path]:
    """Compile all files of loops under `root`, into it or into another folder laid out alike."""
    to, files = to or root, sorted(root.glob("pgm/**/compiled.py"))
    made_from: dict[str, str] = {}
    work = []
    for path in files:
        text = translated(path, root)
        made_from.update(Source.of(path, root).made_from())
        work += [(text, place(to / path.relative_to(root), variant), variant) for variant in variants()]
    marker = to / "pgm" / "_loops.json"
    marker.unlink(missing_ok=True)  # until all are there again
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(lambda args: compile_text(*args), work))
    marker.write_text(json.dumps(made_from, indent=1), encoding="utf-8")
    return [*made, marker]


if __name__ == "__main__":
    for path in compile_all(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()):
        print(path, path.stat().st_size)  # noqa: T201
