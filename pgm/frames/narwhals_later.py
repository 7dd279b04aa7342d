"""narwhals, loaded with the first frame: most programs that import pgm use no frames."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    import narwhals

    return getattr(narwhals, name)
