"""Calls the compiler: makes an extension module of the C++ of a file of loops, for one kind of processor."""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from build_loops.module import Module
from build_loops.source import Source

# A fused multiply-add would change bits; so would what a compiler works out itself of these functions.
_NOT_BY_COMPILER = ("exp", "log", "log2", "pow", "sin", "cos", "tanh", "expm1", "log1p", "erf", "erfc")
_GNU = [
    *("-std=c++17", "-O3", "-ffp-contract=off", "-fwrapv", "-fno-exceptions", "-fno-rtti", "-fno-math-errno"),
    *(f"-fno-builtin-{name}" for name in _NOT_BY_COMPILER),
    *("-fPIC", "-fvisibility=hidden", "-fno-asynchronous-unwind-tables", "-w"),
]
_MICROSOFT = ["/nologo", "/std:c++17", "/Zc:__cplusplus", "/O2", "/fp:precise", "/w", "/MD", "/LD"]
_VARIANTS = {"baseline": "x86-64", "v3": "x86-64-v3"}
_BROWSER = ["-sSIDE_MODULE=2", "-sEXPORTED_FUNCTIONS=_PyInit_loops", "-sWASM_BIGINT"]  # as Pyodide loads them
CHECKED = ("-DCHECKED", "-fno-wrapv")
SANITIZED = ("-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined")

_WITHOUT = """\
or install pgm without compiled loops, 10 to 100 times as slow: PGM_LOOPS=interpreted pip install ."""
INSTALL = f"""\
What to do: install a C++17 compiler (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++;
macOS: xcode-select --install; Windows: the Build Tools for Visual Studio, in whose prompt pip then runs),
name another one with the environment variable CXX,
{_WITHOUT}"""
_HEADERS = f"""\
What to do: install the headers of this Python (Debian, Ubuntu: apt install python3-dev; Fedora: dnf
install python3-devel), {_WITHOUT}"""


_FOR_BROWSER = """\
What to do: say for which, as pyodide-build does, _PYTHON_HOST_PLATFORM=emscripten-3.1.58-wasm32, and give
it the headers of that Python, CXX="em++ -I/where/they/are"; docs/developer/release.md has the rest."""


class CompilerError(Exception):
    """There is no compiler, or it fails: in words that can be shown as they are."""


def found() -> list[str] | None:
    """The C++ compiler: what CXX names, one of this machine, or the one in the wheel called ziglang."""
    if named := os.environ.get("CXX"):
        return shlex.split(named)
    for name in ("g++", "clang++", "c++", "cl"):
        if shutil.which(name):
            return [name]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "c++"]
    return None


def machine() -> str:
    """The processor that is compiled for: this one, or WebAssembly if Python is said to be a browser's."""
    return "wasm32" if "wasm32" in sysconfig.get_platform() else platform.machine()


def variants() -> list[str]:
    """The kinds of processor that are compiled for; one if PGM_LOOPS=native asks for the one that is here."""
    both = machine() in ("x86_64", "AMD64") and os.environ.get("PGM_LOOPS") != "native"
    return list(_VARIANTS) if both and not _microsoft(found() or ["g++"]) else ["baseline"]


def translated(path: Path, root: Path) -> str:
    """The C++ of a file of loops."""
    return Module(Source.of(path, root)).text()


def command(variant: str, more: tuple[str, ...] = ()) -> list[str]:
    """How the compiler is called, but for the names of files."""
    cxx = found()
    if cxx is None:
        raise CompilerError(f"No C++ compiler was found.\n{INSTALL}")
    if _microsoft(cxx):  # it contracts nothing and wraps whole numbers by itself
        return [*cxx, *_MICROSOFT, *(flag.replace("-D", "/D") for flag in more if flag.startswith("-D"))]
    if machine() == "wasm32":
        return [*cxx, *_GNU, *more, *_BROWSER]
    if Path(cxx[0]).stem in ("em++", "emcc"):
        raise CompilerError(f"{cxx[0]} compiles for a browser.\n{_FOR_BROWSER}")
    link = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
    strip = [] if sys.platform == "darwin" or "-g" in more else ["-s"]
    return [*cxx, *_GNU, *_processor(cxx, variant), *more, *link, *strip]


def compile_text(text: str, to: Path, variant: str = "baseline", more: tuple[str, ...] = ()) -> Path:
    """Compile to an extension module; what the compiler says, if it fails, is in the error."""
    called = command(variant, more)
    headers = Path(sysconfig.get_paths()["include"])
    if not (headers / "Python.h").exists():
        raise CompilerError(f"{headers} has no Python.h, which compiled loops need.\n{_HEADERS}")
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "loops.cpp").write_text(text, encoding="utf-8")
        if "#pragma omp simd" in text and not _microsoft(called):  # which needs no library
            called += ["-fopenmp-simd"]
        called += [f"-I{Path(__file__).parent}", f"-I{headers}", "loops.cpp", *_outcome(called)]
        try:
            done = subprocess.run(called, cwd=folder, capture_output=True, text=True, errors="replace")
        except OSError as error:
            raise CompilerError(f"{called[0]} cannot be run: {error.strerror}.\n{INSTALL}") from None
        made = Path(folder, "loops.so")
        if done.returncode or not made.exists():
            lines = (done.stderr.strip() or done.stdout.strip() or "It printed nothing.").splitlines()
            said = "\n".join(f"    {line}" for line in lines[:20])
            raise CompilerError(f"{' '.join(called)}\nfailed with code {done.returncode}:\n{said}\n{INSTALL}")
        part = to.with_name(f"{to.name}.{os.getpid()}.part")
        shutil.copy(made, part)
    os.replace(part, to)  # a process that has the old one open keeps it
    return to


def _microsoft(cxx: list[str]) -> bool:
    return Path(cxx[0]).stem.lower() in ("cl", "clang-cl")


def _processor(cxx: list[str], variant: str) -> list[str]:
    zig = "ziglang" in cxx or Path(cxx[0]).stem == "zig"
    if os.environ.get("PGM_LOOPS") == "native":
        return ["-march=native"]
    if machine() not in ("x86_64", "AMD64"):
        return ["-mcpu=baseline"] if zig else []  # zig would take the processor that is here
    name = _VARIANTS[variant]
    return [f"-march={name.replace('-', '_') if zig else name}"]


def _outcome(called: list[str]) -> list[str]:
    if _microsoft(called):
        libraries = Path(sys.base_prefix, "libs")
        return ["/Fe:loops.so", "/link", f"/LIBPATH:{libraries}", "python3.lib"]
    linked = [f"-L{Path(sys.base_prefix, 'libs')}", "-lpython3"] if sys.platform == "win32" else []
    return [*linked, "-o", "loops.so"]
