"""The engine that answers when none is named."""

from __future__ import annotations

from dataclasses import dataclass

from pgm.inference.engines.exact import Exact


@dataclass(frozen=True, kw_only=True, slots=True)
class Auto(Exact):
    """Exact answers: a clique tree or, if none fits, minimum cuts or a search within the time limit."""

    module = f"{__name__}.prepared"
