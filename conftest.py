"""Before the first test the loops of this checkout are compiled, or copied from an installed pgm of the same.

Interpreted, the suite would take hours.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module, metadata
from pathlib import Path

import pytest

from build_loops import builds, compiler
from build_loops.source import Refused

_ROOT = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    """Compile what is stale, once: the workers of xdist are not started yet, other runs wait for a lock."""
    if (
        hasattr(config, "workerinput")
        or os.environ.get("PGM_LOOPS") == "interpreted"
        or not builds.is_fast(_ROOT)  # somebody compiled loops that test each index: those are to be tested
    ):
        return
    try:
        builds.build(_ROOT, installed=_installed())
    except (compiler.CompilerError, Refused, OSError) as error:
        from pgm.runtime.loops import state

        form, _, reason = state()
        if form == "compiled" and not reason:  # none is stale, so no compiler is needed
            return
        raise pytest.UsageError(
            f"The tests need compiled loops ({reason}), and these cannot be made:\n{error}\n"
            "PGM_LOOPS=interpreted in the environment runs the tests without, which takes hours."
        ) from None


def pytest_collection() -> None:
    """Import the package first: pytest would make a second copy of the first module that has doctests."""
    import pgm  # noqa: F401


def pytest_collect_file(file_path: Path) -> None:
    """The same of rooms that pgm does not import by itself."""
    if file_path.suffix == ".py" and file_path.is_relative_to(_ROOT / "pgm"):
        import_module(".".join(file_path.parent.relative_to(_ROOT).parts))


def pytest_collection_finish() -> None:
    """Spare the garbage collector the thousands of tests and modules, which stay to the end."""
    gc.collect()
    gc.freeze()


def _installed() -> Path | None:
    try:
        return Path(str(metadata.distribution("pgm-engine").locate_file("")))
    except metadata.PackageNotFoundError:
        return None
