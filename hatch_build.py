"""Compiles the loops when a wheel is built, where there is a compiler; without one the wheel has none.

pgm works without them, with numba; see docs/decisions/0045. PGM_LOOPS=numba leaves them out.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LoopsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the compiled loops to a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile into a folder of its own: a checkout stays as it is."""
        if self.target_name != "wheel" or version == "editable" or os.environ.get("PGM_LOOPS") == "numba":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root))
        from build_loops import compiler

        self.folder = Path(tempfile.mkdtemp())
        try:
            made = compiler.compile_all(root, self.folder)
        except (FileNotFoundError, RuntimeError) as error:
            self.app.display_warning(f"The loops are not compiled now but by numba, at run time: {error}")
            return
        for path in made:
            build_data["force_include"][str(path)] = path.relative_to(self.folder).as_posix()
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data.update(pure_python=False, tag=f"cp311-abi3-{platform}")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Take the folder away."""
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder, ignore_errors=True)
