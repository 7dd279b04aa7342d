"""Hill climbing and tabu search with their options."""

from __future__ import annotations

from pgm.learning.searches import HillClimb, Tabu

from .climbing import climb
from .found import Found
from .problem import StructureProblem


def search(options: HillClimb | Tabu, problem: StructureProblem) -> Found:
    """Climb from the given start."""
    return climb(
        problem.families(),
        problem.known,
        restarts=options.restarts,
        changes=max(4, 2 * problem.n // 5) if options.changes is None else options.changes,
        tenure=options.tenure if isinstance(options, Tabu) else 0,
        patience=options.patience if isinstance(options, Tabu) else 0,
        max_steps=options.max_steps,
        rng=problem.rng if options.restarts else None,
    )
