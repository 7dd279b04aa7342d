"""Runs each call of a loop twice, interpreted and compiled, and compares every bit of what they leave.

As a plugin, `python -m pytest -n0 -p tests.loops.replay tests/inference`, it does so under any tests; the
environment variable PGM_REPLAY=checked compares with the form in which every index is tested.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from build_loops import builds, compiler
from pgm.runtime import loops
from tests.loops.forms import given_by

ROOT = Path(__file__).resolve().parents[2]
COMPILER = compiler.found()
# Threads may fill one array, each its part: none calls a loop while arguments of another's are compared.
_ALONE = threading.Lock()
_KEPT = Path(tempfile.gettempdir(), f"pgm-loops-{os.getuid() if hasattr(os, 'getuid') else 0}")


def modules() -> dict[str, Path]:
    """The files of loops, by the names of their modules."""
    paths = sorted(ROOT.glob("pgm/**/compiled.py"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}


def build(text: str, variant: str = "baseline", more: tuple[str, ...] = ()) -> Path:
    """The extension module of this C++; kept from one run of the tests to the next."""
    below = [(ROOT / "build_loops" / name).read_text() for name in ("loops.hpp", "compiler.py")]
    key = hashlib.sha256("\0".join([text, *below, variant, *more, *(COMPILER or [])]).encode()).hexdigest()
    path = _KEPT / f"{key[:24]}.so"
    return path if path.exists() else compiler.compile_text(text, path, variant, more)


def build_all(names: Iterable[str], checked: bool = False) -> dict[str, list[ModuleType]]:
    """The loops of these modules, in every variant that this processor can run.

    What pgm itself would load is taken as it is: it is of these sources, and compiled in the same way.
    """
    if not checked and loops.state().form == "compiled" and not loops.state().reason and builds.is_fast(ROOT):
        found = {}
        for name in names:
            first, *more_of_it = [builds.place(modules()[name], variant) for variant in compiler.variants()]
            found[name] = [extension(first)]
            found[name] += [extension(path) for path in more_of_it if found[name][0].has_v3]
        return found
    texts = {name: compiler.translated(modules()[name], ROOT) for name in names}
    more = compiler.CHECKED if checked else ()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = pool.map(lambda text: build(text, "baseline", more), texts.values())
        found = {name: [extension(path)] for name, path in zip(texts, paths, strict=True)}
        if not checked and all(module[0].has_v3 for module in found.values()):
            paths = pool.map(lambda text: build(text, "v3"), texts.values())
            for name, path in zip(texts, paths, strict=True):
                found[name].append(extension(path))
    return found


@contextlib.contextmanager
def installed(count: Counter[str], names: Iterable[str], checked: bool = False) -> Iterator[None]:
    """Every loop of these modules that pgm calls is replayed; `count` says how often which."""
    built = build_all(names, checked)

    def find(module: str) -> dict[str, Any]:
        found = loops.interpreted(module)
        forms = built.get(module, [])
        for name in [name for name, value in found.items() if forms and hasattr(forms[0], name)]:
            if isinstance(found[name], FunctionType):
                found[name] = twin(f"{module}.{name}", found[name], [getattr(f, name) for f in forms], count)
        return found

    with given_by(find):
        yield


def pytest_sessionstart(session: Any) -> None:
    """Used as a plugin."""
    session.replayed = Counter()
    session.replay = installed(session.replayed, modules(), os.environ.get("PGM_REPLAY") == "checked")
    session.replay.__enter__()


def pytest_sessionfinish(session: Any) -> None:
    """Say what was compared."""
    print(f"\n{sum(session.replayed.values())} calls replayed of {len(session.replayed)} loops")  # noqa: T201


def extension(path: Path) -> ModuleType:
    """The compiled loops in a file."""
    loader = ExtensionFileLoader("loops", str(path))
    spec = importlib.util.spec_from_file_location("loops", path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def copied(value: Any, known: dict[int, Any]) -> Any:
    """A copy in which what shares memory still does."""
    if isinstance(value, tuple):
        parts = [copied(x, known) for x in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if not isinstance(value, np.ndarray):
        return value
    if id(value) not in known:
        owner = value
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if owner is value or value.size == 0:
            known[id(value)] = (value, value.copy())  # kept, so that no other array gets its number
        else:
            whole = copied(owner, known)
            offset = value.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
            view = np.ndarray(value.shape, value.dtype, whole.data.cast("B"), offset, value.strides)
            known[id(value)] = (value, view)
        known[id(value)][1].flags.writeable = value.flags.writeable
    return known[id(value)][1]


def same(a: Any, b: Any) -> bool:
    """Whether two values have the same bits."""
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, float | np.floating) or isinstance(b, float | np.floating):
        return np.float64(a).tobytes() == np.float64(b).tobytes()
    return bool(a == b)


def twin(
    name: str, first: Callable[..., Any], others: list[Callable[..., Any]], count: Counter[str]
) -> Callable[..., Any]:
    """Stands for a loop: each call runs the first form and then all others, on copies."""

    def called(*args: Any) -> Any:
        with _ALONE:
            given = [copied(args, {}) for _ in others]
            result = first(*args)
            for other, mine in zip(others, given, strict=True):
                found = other(*mine)
                if not same(result, found):
                    raise AssertionError(f"{name} returns {result!r}, compiled {found!r}")
                for i, (a, b) in enumerate(zip(args, mine, strict=True)):
                    if not same(a, b):
                        raise AssertionError(f"{name} leaves its argument {i} otherwise when compiled")
            count[name] += 1
        return result

    return called
