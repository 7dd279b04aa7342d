"""`python -m build_loops`: compile what is stale of the loops of this checkout."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from build_loops import builds, compiler
from build_loops.source import Refused

_ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Build, and say what was built."""
    parser = argparse.ArgumentParser(prog="python -m build_loops", description=__doc__)
    parser.add_argument("--all", action="store_true", help="compile all files, changed or not")
    parser.add_argument("--clean", action="store_true", help="take away all that was compiled")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--checked", action="store_true", help="test every index, shift and division")
    form.add_argument(
        "--sanitized", action="store_true", help="with the address and undefined behaviour sanitizers"
    )
    given = parser.parse_args()
    if given.clean:
        builds.clean(_ROOT)
        return 0
    more = compiler.CHECKED if given.checked else compiler.SANITIZED if given.sanitized else ()
    start = time.perf_counter()
    try:
        made = builds.build(_ROOT, everything=given.all, more=more)
    except (compiler.CompilerError, Refused) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"{error.filename}: {error.strerror}\n")
        return 1
    files = {path.parent for path in made}
    sys.stdout.write(f"{len(files)} files of loops compiled in {time.perf_counter() - start:.1f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
