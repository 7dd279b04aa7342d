"""Evidence by position: a model prepared for the exact engine, or for another engine that sums tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pgm.errors import InvalidArgument, listed
from pgm.evidence import Observed
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.table_sums import TableSums
from pgm.inference.program.reduction import Known
from pgm.runtime.clock import Clock

if TYPE_CHECKING:
    from pgm.inference.engines.gaussian.hybrid import HybridPosterior, HybridSums

_Value = TypeVar("_Value")


def make_posterior(
    compiled: ModelSnapshot,
    observed: Observed,
    clock: Clock,
    engine: str = "exact",
    *,
    fit: bool = True,
    kind: type[Posterior] = Posterior,
) -> Posterior | HybridPosterior:
    """The model and its evidence, ready for exact answers; `engine` is the name in reports."""
    known, soft = by_position(compiled, observed, fit)
    made = kind(compiled.program, compiled.trees, known, clock, compiled.names, engine, observed.given)
    if compiled.gaussians is not None:
        from pgm.inference.engines.gaussian.hybrid import HybridPosterior, hybrid_fields

        return HybridPosterior(**hybrid_fields(compiled, observed, made, soft))
    return made.fitted(soft) if soft else made


def make_sums(
    kind: type[TableSums],
    compiled: ModelSnapshot,
    observed: Observed,
    clock: Clock,
    engine: str,
    *own: Any,
    fit: bool = True,
) -> TableSums | HybridSums:
    """Like `make_posterior`, for another engine that sums tables: its class, and its own fields."""
    known, soft = by_position(compiled, observed, fit)
    made = kind(compiled.program, compiled.trees, known, clock, compiled.names, engine, observed.given, *own)
    if compiled.gaussians is not None:
        from pgm.inference.engines.gaussian.hybrid import HybridSums, hybrid_fields

        return HybridSums(**hybrid_fields(compiled, observed, made, soft))
    return made.fitted(soft) if soft else made


def by_position(
    compiled: ModelSnapshot, observed: Observed, fit: bool = True
) -> tuple[Known, dict[int, Any]]:
    """The evidence, and the marginals that `Soft` evidence prescribes, in the model's order.

    The order in which evidence is given does not change the last bit of a result. Without `fit` only the
    cost is wanted, and weights of the right shape stand in for the marginals.
    """
    position = compiled.position

    def ordered(found: Mapping[str, _Value]) -> dict[int, _Value]:
        return dict(sorted([(position[name], value) for name, value in found.items()]))

    known = Known(
        ordered(observed.hard) if observed.hard else {}, ordered(observed.weights) if observed.weights else {}
    )
    soft = ordered(observed.soft) if observed.soft else {}
    if soft and not fit:
        return known.with_weights({v: (0.5 * (w > 0),) for v, w in soft.items()}), {}
    return known, soft


def no_states(engine: str, names: Sequence[str]) -> InvalidArgument:
    """The error of an engine for tables that is asked about continuous variables."""
    are = "is" if len(names) == 1 else "are"
    return InvalidArgument(
        f'engine="{engine}" is for discrete variables, and {listed(names)} {are} continuous; ask for other '
        'variables, or use engine="exact".'
    )
