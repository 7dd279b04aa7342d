"""The solvers of influence diagrams, by kind of memory; to add one, see docs/developer/extend.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from pgm.evidence import Observed
from pgm.runtime.clock import Clock

from .limited import solved_with_limited_memory
from .policy import Policy
from .solving import with_full_memory

if TYPE_CHECKING:
    from .influence_diagram import InfluenceDiagram

Solver: TypeAlias = "Callable[[InfluenceDiagram, Observed, Clock], Policy]"

SOLVERS: Mapping[str, Solver] = {"full": with_full_memory, "limited": solved_with_limited_memory}
