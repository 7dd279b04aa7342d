"""What went wrong, in the user's terms: impossible evidence, unattainable marginals."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pgm.errors import ImpossibleEvidence, InvalidEvidence, PGMError, TooLarge, listed, shown
from pgm.evidence import Observed
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.program.proportional_fitting import NoFit
from pgm.runtime.clock import Clock
from pgm.runtime.running import Impossible


def possible(compiled: ModelSnapshot, observed: Observed, names: Iterable[str], clock: Clock) -> bool:
    """Whether these pieces of the evidence are possible together."""
    kept = set(names)
    supports = {name: ((w > 0).astype(np.float64),) for name, w in observed.soft.items()}
    part = Observed(
        {name: code for name, code in observed.hard.items() if name in kept},
        {name: w for name, w in (observed.weights | supports).items() if name in kept},
        {},
        0.0,
        {name: value for name, value in observed.given.items() if name in kept},
    )
    posterior = make_posterior(compiled, part, clock)
    try:
        posterior.total()
    except Impossible:
        return False
    except InvalidEvidence:  # it has no density, but is possible
        return True
    return True


def contradiction(compiled: ModelSnapshot, observed: Observed, clock: Clock) -> ImpossibleEvidence:
    """Find an irreducible contradiction in the evidence; if it may be reducible, the message says so."""
    items = list(observed.given)  # together with the core, impossible
    core: list[str] = []
    smallest = True
    try:
        if not possible(compiled, observed, [], clock):
            return ImpossibleEvidence(
                "The model itself is impossible: the product of its factors is zero for every assignment.", {}
            )
        while items and possible(compiled, observed, core, clock):
            low, high = 0, len(items)  # the shortest prefix of items that is impossible with the core
            while low < high:
                middle = (low + high) // 2
                if possible(compiled, observed, core + items[:middle], clock):
                    low = middle + 1
                else:
                    high = middle
                    items = items[:high]
            core.append(items[low - 1])
            items = items[: low - 1]
    except PGMError:  # no room or no time to look for less
        core, smallest = core + items, False
    core = [name for name in observed.given if name in core]
    found = {name: observed.given[name] for name in core}
    text = ", ".join(f"{name} = {shown(value)}" for name, value in found.items())
    if len(found) == 1:
        message = f"The evidence is impossible: {text} has probability zero."
    elif smallest:
        message = (
            f"The evidence is impossible: {text} cannot all be true, but can be if any one of these "
            "is left out."
        )
    else:
        message = (
            f"The evidence is impossible: {text} cannot all be true. Fewer of these may already be "
            "impossible: the search for a smaller contradiction needed too much memory or time."
        )
    return ImpossibleEvidence(message, found, smallest=smallest)


def impossible_row(
    row: str,
    compiled: ModelSnapshot,
    observed: Observed,
    clock: Clock,
    remedy: str = 'Leave such rows out, or pass bad_rows="missing".',
) -> ImpossibleEvidence:
    """The `contradiction` of a row of a frame, with the row and what to do about it."""
    cause = contradiction(compiled, observed, clock)
    return ImpossibleEvidence(
        f"Row {row}: {cause} {remedy}",
        cause.contradiction,
        smallest=cause.smallest,
    )


def no_fit(compiled: ModelSnapshot, observed: Observed, clock: Clock, failed: NoFit) -> PGMError:
    """The error if no weights give the marginals that `Soft` evidence asks for."""
    names = list(observed.soft)
    others = [name for name in observed.given if name not in observed.soft]
    try:
        if not possible(compiled, observed, others, clock):
            return contradiction(compiled, observed, clock)
    except TooLarge:
        pass  # the question went to an approximate engine
    several = f"The target marginals of {listed(names)}"
    what = several if len(names) > 1 else f"The target marginal of {names[0]!r}"
    if failed.place is not None:
        variable = compiled.variables[failed.place[0]]
        state = variable.states[failed.place[1]]
        return InvalidEvidence(
            f"{what} cannot be reached: pgm.Soft gives {variable.name!r} = {shown(state)} the probability "
            f"{failed.error:.6g}, and the model or the other evidence excludes that state. Give it 0."
        )
    verb = "were" if len(names) > 1 else "was"
    return InvalidEvidence(
        f"{what} {verb} not reached: fitting stopped {failed.error:.2g} away; perhaps they cannot be met "
        "all at once. Change the targets, or use pgm.Likelihood for evidence that need not be met exactly."
    )


def refuse_soft(observed: Observed) -> None:
    """Refuse the probability of evidence that prescribes a posterior marginal."""
    if observed.soft:
        raise InvalidEvidence(
            f"{listed(list(observed.soft))}: pgm.Soft fixes a marginal after the update; that is not an "
            "event and has no probability. Use pgm.Likelihood for uncertain evidence."
        )
