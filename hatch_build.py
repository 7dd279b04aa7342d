"""Compiles the loops of pgm when it is built: into the wheel, or in place for an editable installation.

What compiles is in build_loops/; see docs/developer/release.md. PGM_LOOPS=interpreted leaves them out.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))

from build_loops import builds, compiler  # not installed with pgm
from build_loops.source import Refused


class LoopsHook(BuildHookInterface[Any]):
    """Adds the compiled loops to a wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """A compiler that pip can bring, where the machine has none."""
        return [] if _interpreted() or compiler.found() else ["ziglang"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile: beside the sources for an editable installation, else into a folder of its own."""
        root = Path(self.root)
        if _interpreted():
            self.app.display_warning("PGM_LOOPS=interpreted: pgm is installed without compiled loops.")
            if version == "editable":
                builds.clean(root)
            return
        self.folder = tempfile.TemporaryDirectory()
        to = root if version == "editable" else Path(self.folder.name)
        try:
            builds.build(root, to)
        except (compiler.CompilerError, Refused) as error:
            self.app.abort(f"The loops of pgm cannot be compiled.\n{error}")
        except OSError as error:
            self.app.abort(f"The loops of pgm cannot be compiled: {error.filename}: {error.strerror}.")
        if version == "editable":
            return
        for path in [*to.glob("pgm/**/_loops_*.native"), to / builds.RECORD]:
            build_data["force_include"][str(path)] = path.relative_to(to).as_posix()
        platform = sysconfig.get_platform().replace("universal2", str(builds.facts()["machine"]))
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform.replace('-', '_').replace('.', '_')}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Take the folder away."""
        if hasattr(self, "folder"):
            self.folder.cleanup()


def _interpreted() -> bool:
    return os.environ.get("PGM_LOOPS") == "interpreted"
