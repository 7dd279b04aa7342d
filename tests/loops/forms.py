"""The forms in which loops run, for tests that compare them: interpreted, compiled for two processors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pgm
from pgm.runtime import loops
from pgm.runtime.loops import Build, Loops

Found = dict[str, Any]  # loops and constants, by name


@contextlib.contextmanager
def given_by(find: Callable[[str], Found]) -> Iterator[None]:
    """Within the block all loops are those that `find` gives for the name of a module."""

    class Given(Build):
        def loops(self, module: str) -> Found:
            return find(module)

    before, build = {name: dict(vars(each)) for name, each in Loops.every.items()}, loops._BUILD
    loops._BUILD = Given(build.package)
    _forget()
    try:
        yield
    finally:
        loops._BUILD = build
        _forget()
        for name, found in before.items():
            vars(Loops.every[name]).update(found)


def _forget() -> None:
    for each in Loops.every.values():
        module, doing = each.module, each.doing
        vars(each).clear()
        vars(each).update(module=module, doing=doing)


def interpreted() -> contextlib.AbstractContextManager[None]:
    """Within the block all loops are plain Python."""
    return given_by(loops.interpreted)


def baseline() -> contextlib.AbstractContextManager[None]:
    """Within the block all loops are those compiled for any processor of this kind."""
    build = Build(Path(pgm.__file__).parent)
    build.has_v3 = False
    return given_by(build.loops)


FORMS = {"interpreted": interpreted, "baseline": baseline, "as always": contextlib.nullcontext}
