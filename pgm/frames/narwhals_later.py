"""narwhals, loaded when the first frame is looked at: most programs that import pgm have none."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    import narwhals

    return getattr(narwhals, name)
