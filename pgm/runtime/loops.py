"""Loads the functions of a `compiled.py`: compiled, if the package was built with a compiler, or interpreted.

Both forms execute the same source in the same order of operations, so they give the same bits and differ only
in speed. The form of a file is decided once, at the first use of its loops. See docs/decisions/0050.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import platform
import re
import sys
import types
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from pgm.errors import warn
from pgm.runtime.forks import Lock

# What was compiled, from which sources and for which machine; the build writes it last.
RECORD = "_loops.json"
_ASKED = "PGM_LOOPS"  # environment variable; "interpreted" selects that form, without a warning


class LoopState(NamedTuple):
    """The form in which the loops of this process run.

    >>> state().form in ("compiled", "interpreted")
    True
    """

    form: Literal["compiled", "interpreted"]
    variant: Literal["baseline", "v3"] | None  # the instruction set compiled for; None if interpreted
    reason: str  # why some or all are interpreted; "" if none is


class Loops:
    """The functions and constants of one `compiled.py`, as attributes.

    >>> from pgm.runtime.running import READING
    >>> READING.module, callable(READING.score)
    ('pgm.inference.trees.readout.compiled', True)
    """

    every: ClassVar[dict[str, Loops]] = {}  # by module; each has one

    def __init__(self, module: str, doing: str = "multiplying and summing") -> None:
        """Nothing is loaded yet.

        Args:
            module: the full name of the `compiled.py`.
            doing: what its loops do, for reports of progress.
        """
        assert module not in self.every, f"{module} has its Loops already: import them"
        self.every[module] = self
        self.module = module
        self.doing = doing

    def __getattr__(self, name: str) -> Any:
        """Load them on first access; from then on they are found without a call."""
        if name.startswith("__"):  # copying and documentation look for these
            raise AttributeError(name)
        vars(self).update(_BUILD.loops(self.module))
        try:
            return vars(self)[name]
        except KeyError:
            raise AttributeError(f"{self.module} has no {name}") from None


class Build:
    """The compiled loops of the package in a folder, and whether this machine can use them."""

    def __init__(self, package: Path) -> None:
        """Read the record of the build; compiled files are inspected on demand."""
        self.package = package
        self.wanted = os.environ.get(_ASKED) != "interpreted"
        self.has_v3: bool | None = (
            None  # whether this processor runs that variant; known once a file has been loaded
        )
        self._has_warned = False
        self._lock = Lock()
        self._files: dict[
            str, Any
        ] = {}  # for each compiled.py: digests of its sources and of the compiled files
        self.fault = self._read() if self.wanted else f"{_ASKED}=interpreted asks for it"

    def _read(self) -> str:
        """Read the record; return why no loops of it can be used, or an empty string."""
        try:
            record = json.loads((self.package / RECORD).read_text(encoding="utf-8"))
            made_for = tuple(record[key] for key in ("system", "machine", "bits"))
            abi, files = str(record["abi"]), record["files"]
            if not all(entry["made_from"] and entry["digests"]["baseline"] for entry in files.values()):
                raise ValueError
        except FileNotFoundError:
            return "its loops have not been compiled"
        except OSError as error:
            return f"the record of its compiled loops cannot be read ({error})"
        except (ValueError, KeyError, TypeError, AttributeError):
            return f"{self.package / RECORD} is damaged"
        here = sys.platform, platform.machine(), 64 if sys.maxsize > 2**32 else 32
        if made_for != here:
            there, mine = ("{} on {}, {} bits".format(*each) for each in (made_for, here))
            return f"its loops were compiled for {there}, and this is {mine}"
        if not _takes(abi):
            version = sys.version.partition("(")[0].strip()
            return f"its loops were compiled for the interface {abi}, which Python {version} does not have"
        self._files = files
        return ""

    def announce(self) -> None:
        """Warn, when pgm is imported, if no compiled loops can be used."""
        if self.fault and self.wanted:
            self._warn(self.fault)

    def state(self) -> LoopState:
        """Return the form in use, after inspecting all compiled files."""
        if self.fault:
            return LoopState("interpreted", None, self.fault)
        there = [
            path.relative_to(self.package.parent).as_posix() for path in self.package.rglob("compiled.py")
        ]
        faults = [fault for path in sorted({*there, *self._files}) if (fault := self._fault(path))]
        if len(faults) >= len(there):
            return LoopState("interpreted", None, faults[0])
        if self.has_v3 is None:
            self._extension(next(path for path in self._files if not self._fault(path)))
        return LoopState("compiled", "v3" if self.has_v3 else "baseline", "; ".join(faults))

    def loops(self, module: str) -> dict[str, Any]:
        """The loops and constants of a module by name, in the available form."""
        found = interpreted(module)
        path = module.replace(".", "/") + ".py"
        with self._lock:
            fault = self.fault or self._fault(path)
            if not fault:
                try:
                    for name, value in vars(self._extension(path)).items():
                        if isinstance(value, types.BuiltinFunctionType):
                            found[name] = value
                except (ImportError, OSError) as error:
                    fault = f"the compiled loops of {path} cannot be loaded ({error})"
            if fault and self.wanted:
                self._warn(fault)
        return found

    def _fault(self, path: str) -> str:
        """Why the compiled form of a file cannot be used; "" if it can."""
        if path not in self._files:
            return f"{path} was added after its loops were compiled"
        for source, digest in self._files[path]["made_from"].items():
            try:
                text = (self.package.parent / source).read_bytes()
            except OSError:
                return f"{source}, which its loops were compiled from, cannot be read"
            if _digest(text.replace(b"\r\n", b"\n")) != digest:
                return f"{source} was changed after its loops were compiled"
        return ""

    def _extension(self, path: str) -> types.ModuleType:
        """The compiled loops of a file, in the best variant that this processor can run."""
        if self.has_v3 is None:
            self.has_v3 = bool(self._loaded(path, "baseline").has_v3)
        return self._loaded(
            path, "v3" if self.has_v3 and "v3" in self._files[path]["digests"] else "baseline"
        )

    def _loaded(self, path: str, variant: str) -> types.ModuleType:
        file = (self.package.parent / path).with_name(f"_loops_{variant}.native")
        # Loading a truncated file would crash the process: check it first.
        if _digest(file.read_bytes()) != self._files[path]["digests"][variant]:
            raise ImportError(f"{file} is damaged")
        loader = ExtensionFileLoader("loops", str(file))
        spec = importlib.util.spec_from_loader("loops", loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module

    def _warn(self, fault: str) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        if (self.package.parent / "build_loops").is_dir():
            remedy = "In this checkout `python -m build_loops` compiles them."
        else:
            again = "pip install --force-reinstall --no-cache-dir pgm-engine"
            remedy = f"Install it again where there is a C++ compiler: `{again}`."
        runs = "pgm runs" if fault == self.fault else "Some loops of pgm run"
        text = (
            f"{runs} interpreted, 10 to 100 times as slow: {fault}. {remedy} "
            f"Set the environment variable {_ASKED}=interpreted if this is intended."
        )
        warn(text, RuntimeWarning)


def interpreted(module: str) -> dict[str, Any]:
    """The loops and constants of a module by name, as plain Python."""
    found = vars(importlib.import_module(module))
    return {name: value for name, value in found.items() if not name.startswith("_")}


def announce() -> None:
    """Warn, when pgm is imported, if it runs interpreted although that was not asked for."""
    _BUILD.announce()


def state() -> LoopState:
    """The form in which the loops run, the instruction set, and why if some are not compiled.

    >>> _, variant, reason = state()
    >>> variant in (None, "baseline", "v3")
    True
    """
    return _BUILD.state()


def _takes(abi: str) -> bool:
    """Whether this Python has that version of the stable ABI, which free-threaded ones do not."""
    stable = re.fullmatch(r"cp(\d)(\d+)-abi3", abi)
    own = sys.implementation.name == "cpython" and "free-threading" not in sys.version
    return stable is not None and own and sys.version_info >= tuple(map(int, stable.groups()))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


_BUILD = Build(Path(__file__).parents[1])
