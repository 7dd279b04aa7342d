"""The loops that were compiled when the package was built: used where they are there and fit their sources.

See docs/decisions/0045. Where they are not, `jit` uses numba. The environment variable PGM_LOOPS=numba turns
them off.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import threading
import types
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader
from pathlib import Path

from pgm.errors import warn

_PACKAGE = Path(__file__).parents[1]
_MADE_FROM = "_loops.json"  # which sources the compiled loops were made from; the build writes it last

_lock = threading.RLock()
present: bool | None = None  # whether they are there and fit; None: not looked yet
_forms: dict[str, types.ModuleType] = {}


def found() -> bool:
    """Say whether the loops were compiled when the package was built, from the sources that are there now."""
    global present
    if present is None:
        with _lock:
            if present is None:
                present = os.environ.get("PGM_LOOPS") != "numba" and _fit()
    return present


def form(module: str, plain: Callable[[str], types.ModuleType]) -> types.ModuleType | None:
    """The compiled loops of a module, with the constants of its `plain` form; None where there are none."""
    global present
    if module in _forms:
        return _forms[module]
    if not found():
        return None
    with _lock:
        try:
            return _forms.setdefault(module, _joined(module, plain(module)))
        except ImportError as error:
            present = False
            warn(
                f"The compiled loops of pgm cannot be loaded ({error}): numba compiles them.", RuntimeWarning
            )
            return None


def _fit() -> bool:
    try:
        files = json.loads((_PACKAGE / _MADE_FROM).read_text(encoding="utf-8"))["files"]
    except FileNotFoundError:  # built without a compiler
        return False
    for path, digest in {path: d for each in files.values() for path, d in each["made_from"].items()}.items():
        text = (_PACKAGE.parent / path).read_bytes().replace(b"\r\n", b"\n")
        if hashlib.sha256(text).hexdigest()[:16] != digest:
            text = (
                f"{path} was changed after the loops of pgm were compiled: numba compiles them. "
                "`python -m build_loops`, in a checkout, compiles them anew."
            )
            warn(text, RuntimeWarning)
            return False
    return True


def _joined(module: str, plain: types.ModuleType) -> types.ModuleType:
    assert plain.__file__ is not None
    folder = Path(plain.__file__).parent
    loops = _extension(folder / "_loops_baseline.native")
    better = folder / "_loops_v3.native"
    if loops.has_v3 and better.exists():
        loops = _extension(better)
    joined = types.ModuleType(module, plain.__doc__)
    for name, value in vars(plain).items():
        if not name.startswith("_") and not isinstance(value, types.FunctionType):
            setattr(joined, name, value)
    for name, value in vars(loops).items():
        if isinstance(value, types.BuiltinFunctionType):
            setattr(joined, name, value)
    return joined


def _extension(path: Path) -> types.ModuleType:
    loader = ExtensionFileLoader("loops", str(path))
    spec = importlib.util.spec_from_loader("loops", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
