"""Builds what is stale of the loops of a package, and keeps a record of what each was made from."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import struct
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from build_loops import compiler
from build_loops.source import Source, digest

RECORD = Path("pgm", "_loops.json")  # pgm reads it to see whether the loops fit their sources and the machine
_HERE = Path(__file__).parent


def facts() -> dict[str, str | int]:
    """What an extension module needs of a process that loads it."""
    machine, bits = compiler.machine(), struct.calcsize("P") * 8
    system, bits = ("emscripten", 32) if machine == "wasm32" else (sys.platform, bits)
    return {"system": system, "machine": machine, "bits": bits, "abi": "cp311-abi3"}


def place(path: Path, variant: str) -> Path:
    """Where the extension module of a file of loops stands: beside it."""
    return path.with_name(f"_loops_{variant}.native")


def build(
    root: Path,
    to: Path | None = None,
    *,
    everything: bool = False,
    more: tuple[str, ...] = (),
    installed: Path | None = None,
) -> list[Path]:
    """Compile what is stale under `root`, into it or into a folder laid out alike; return what was made.

    A file is compiled anew if its C++ or the way in which it is compiled has changed; one whose C++ is still
    the same, after an edit of a docstring, is only noted. What an `installed` package has
    compiled of the same C++ in the same way is copied from there.
    """
    to = to or root
    variants = compiler.variants() if not more else ["baseline"]  # a build that is to find mistakes
    commands = {variant: compiler.command(variant, more) for variant in variants}
    below = [digest(path) for path in sorted([*_HERE.glob("*.py"), *_HERE.glob("*.hpp")])]
    made_by = _hash(*below, json.dumps(commands), json.dumps(facts()))
    with _locked(to / RECORD.with_suffix(".lock")):
        record = _read(to / RECORD)
        entries = record["files"]
        elsewhere = _read(installed / RECORD) if installed else {"files": {}}
        stale: dict[str, tuple[str, dict[str, Any]]] = {}
        files = {path.relative_to(root).as_posix(): path for path in sorted(root.glob("pgm/**/compiled.py"))}
        for name, path in files.items():
            entry = entries.get(name, {})
            there = not everything and entry.get("digests") == _digests(to / name, variants)
            made_from = dict(Source.of(path, root).made_from())
            there = there and set(entry["digests"]) == set(variants)
            if there and (entry.get("made_from"), entry.get("made_by")) == (made_from, made_by):
                continue
            text = compiler.translated(path, root)
            said = text if "-DCHECKED" in more else re.sub(r"(?m)^ *LINE\(\d+\);\n", "", text)
            cpp = _hash(said, digest(_HERE / "loops.hpp"), json.dumps(commands))
            new = {"made_from": made_from, "made_by": made_by, "cpp": cpp}
            old = elsewhere["files"].get(name, {})
            if there and entry.get("cpp") == cpp:
                entries[name] = {**entry, **new}
            elif (
                installed
                and not everything
                and old.get("cpp") == cpp
                and facts().items() <= elsewhere.items()
                and old["digests"] == _digests(installed / name, variants)
                and set(old["digests"]) == set(variants)
            ):
                for variant in variants:
                    part = place(to / name, variant).with_suffix(f".{os.getpid()}.part")
                    part.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(place(installed / name, variant), part)
                    os.replace(part, place(to / name, variant))
                entries[name] = {**old, **new}
            else:
                stale[name] = text, new
        kept = {name: entries[name] for name in files if name in entries and name not in stale}
        record = {**facts(), "form": " ".join(more) or "fast", "files": kept}
        _write(to / RECORD, record)  # while it is replaced nothing claims that a file fits

        def make(name: str) -> list[Path]:
            text, entry = stale[name]
            made = [compiler.compile_text(text, place(to / name, each), each, more) for each in variants]
            kept[name] = {**entry, "digests": _digests(to / name, variants)}
            return made

        pool = ThreadPoolExecutor(os.cpu_count())
        try:
            made = [path for each in pool.map(make, stale) for path in each]
        finally:
            pool.shutdown(cancel_futures=True)  # one that fails is enough
            _write(to / RECORD, {**record, "files": {name: kept[name] for name in files if name in kept}})
        wanted = {place(to / name, variant) for name in files for variant in variants}
        for left in {*to.glob("pgm/**/_loops_*.native"), *to.glob("pgm/**/*.part")} - wanted:
            left.unlink()
    return made


def is_fast(root: Path) -> bool:
    """Whether what is compiled there is as it is released: not checked, nor sanitized."""
    return bool(_read(root / RECORD).get("form", "fast") == "fast")


def clean(root: Path) -> None:
    """Take away all that `build` has made under `root`."""
    with _locked(root / RECORD.with_suffix(".lock")):
        (root / RECORD).unlink(missing_ok=True)
        for path in root.glob("pgm/**/_loops_*.native*"):
            path.unlink(missing_ok=True)


def _digests(path: Path, variants: list[str]) -> dict[str, str]:
    """Those of the extension modules of a file of loops: pgm loads none that was cut off."""
    there = ((variant, place(path, variant)) for variant in variants)
    return {variant: hashlib.sha256(at.read_bytes()).hexdigest()[:16] for variant, at in there if at.exists()}


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # none yet, or cut off
        return {"files": {}}
    return record if isinstance(record.get("files"), dict) else {"files": {}}


def _write(path: Path, record: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(record, indent=1), encoding="utf-8")
    os.replace(part, path)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One build at a time; the lock of a process that has died is gone with it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
