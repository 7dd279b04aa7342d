"""Prepare the exact engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgm.evidence import Observed
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.exact import Exact
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.runtime.clock import Clock

if TYPE_CHECKING:
    from pgm.inference.engines.gaussian.hybrid import HybridPosterior


def prepare(
    options: Exact,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> Posterior | HybridPosterior:
    """The exact engine: clique trees."""
    return make_posterior(compiled, observed, clock, options.name, fit=fit)
