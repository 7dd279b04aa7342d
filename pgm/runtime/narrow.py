"""numpy with 64-bit indices where addresses have 32 bits: in a browser.

pgm counts in 64 bits, as numpy does nearly everywhere. Where addresses have 32 bits, numpy refuses 64-bit
indices (`repeat`, `bincount`, `reduceat`), and integers without an explicit width have 32 bits. There, and
only there, the modules of pgm get a numpy of their own as `np`, which behaves as on other machines; that of
other packages is unchanged. Methods of arrays are numpy's own: a sum of int32 stays int32. See
docs/decisions/0061.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any

import numpy as np

_PLACES = (
    *(
        "flatnonzero",
        "nonzero",
        "argsort",
        "lexsort",
        "searchsorted",
        "argmax",
        "argmin",
        "argwhere",
        "digitize",
    ),
    *("ravel_multi_index", "unravel_index"),
)
_NATIVE = np.dtype(np.intp)  # the type of an index
_MADE = ("arange", "array", "asarray", "full", "where")  # widened unless made from arrays
_ADDED = ("sum", "prod", "cumsum", "cumprod")
_REDUCED = ("add", "multiply", "maximum", "minimum", "logical_or", "logical_and")


def install(native: np.dtype[Any] = _NATIVE) -> None:
    """Give this numpy to all modules of pgm, those loaded and those to come."""
    given = widened(native)
    for name, module in list(sys.modules.items()):
        _give(name, module, given)
    sys.meta_path.insert(0, _Finder(given))


def widened(native: np.dtype[Any]) -> types.ModuleType:
    """A numpy whose indices are `native` inside, and 64 bits wide for the caller."""

    class Numpy(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

    def wide(found: Any) -> Any:
        if isinstance(found, tuple):
            parts = map(wide, found)
            return type(found)(*parts) if hasattr(found, "_fields") else tuple(parts)
        same = isinstance(found, np.ndarray | np.generic) and found.dtype == native
        return found.astype(np.int64) if same else found

    def places(given: Any) -> Any:
        whole = isinstance(given, np.ndarray) and given.dtype.kind in "iu"
        return given.astype(native, casting="same_kind") if whole else given

    def answering(call: Callable[..., Any]) -> Callable[..., Any]:
        return wraps(call)(lambda *args, **named: wide(call(*args, **named)))

    def making(call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def made(*args: Any, **named: Any) -> Any:
            has_type = "dtype" in named or any(isinstance(x, type | np.dtype | np.ndarray) for x in args)
            return call(*args, **named) if has_type else wide(call(*args, **named))

        return made

    def adding(call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def added(given: Any, *args: Any, **named: Any) -> Any:
            if np.asarray(given).dtype.kind in "bi":
                named.setdefault("dtype", np.int64)
            return call(given, *args, **named)

        return added

    class Reduced:
        """A binary ufunc whose `reduceat` takes 64-bit indices."""

        def __init__(self, of: np.ufunc) -> None:
            self.of = of

        def __call__(self, *args: Any, **named: Any) -> Any:
            return self.of(*args, **named)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.of, name)

        def reduceat(self, given: Any, at: Any, *args: Any, **named: Any) -> Any:
            kept = isinstance(given, np.ndarray) and given.dtype == native
            found = self.of.reduceat(given, places(at), *args, **named)
            return found if kept else wide(found)

    def unique(given: Any, *args: Any, **named: Any) -> Any:
        values, *places = found if isinstance(found := np.unique(given, *args, **named), tuple) else (found,)
        return (values, *map(wide, places)) if places else values

    made: Any = Numpy("numpy")
    made.unique = unique
    made.repeat = lambda given, n, axis=None: np.repeat(given, places(n), axis=axis)
    made.bincount = lambda x, weights=None, minlength=0: wide(np.bincount(places(x), weights, minlength))
    for names, kind in ((_PLACES, answering), (_MADE, making), (_ADDED, adding), (_REDUCED, Reduced)):
        for name in names:
            setattr(made, name, kind(getattr(np, name)))
    assert isinstance(made, types.ModuleType)
    return made


def _give(name: str, module: Any, given: types.ModuleType) -> None:
    if name.startswith("pgm.") and vars(module).get("np") is np and module is not sys.modules[__name__]:
        module.np = given


class _Finder(MetaPathFinder):
    """Finds modules of pgm as usual, and gives them this numpy once they are loaded."""

    def __init__(self, given: types.ModuleType) -> None:
        self.given = given

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        found = PathFinder.find_spec(name, path, target) if name.startswith("pgm.") else None
        if found is None or not isinstance(found.loader, SourceFileLoader):
            return None
        run = found.loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            run(module)
            _give(name, module, self.given)

        found.loader.exec_module = exec_module  # type: ignore[method-assign]
        return found
