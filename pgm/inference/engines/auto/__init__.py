"""The engine that answers when none is named."""

from __future__ import annotations

from dataclasses import dataclass

from pgm.inference.engines.exact import Exact


@dataclass(frozen=True, kw_only=True, slots=True)
class Auto(Exact):
    """Exact answers from a clique tree or, if none fits, from minimum cuts or a search within the limits."""

    module = f"{__name__}.prepared"
