"""Engines for chains that emit together: the exact one, or an approximate one if it is named."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.errors import InvalidArgument, NoSupportFound, nearest, shown
from pgm.frames import Sequences
from pgm.inference.engines.chain import Chain
from pgm.inference.engines.mean_field import MeanField
from pgm.inference.engines.parallel_chains import Emitted
from pgm.inference.engines.sampling import Gibbs, count_chains
from pgm.randomness import generator
from pgm.results import ChainBeliefs, Intervals, Logarithm, PerSequence, Report
from pgm.runtime.clock import Clock, start_clock

if TYPE_CHECKING:
    from pgm.inference.engines.parallel_chains.ascent import Approximation

    from .factorial_hmm import FactorialHMM

_NAMES = ("exact", MeanField.name, Gibbs.name)
_LEAST_SIZE = 100.0  # effective draws below which an answer counts as not converged
_MOST_R_HAT = 1.05


def engine_of(engine: object, seed: object = None) -> MeanField | Gibbs | None:
    """The engine of this name; None: the exact one."""
    if engine in ("auto", "exact"):
        if seed is not None:
            raise InvalidArgument('The exact engine draws nothing: seed= is for engine="gibbs".')
        return None
    if engine == MeanField.name:
        return MeanField()
    if engine == Gibbs.name:
        return Gibbs(samples=2_000, burn_in=200)
    if isinstance(engine, MeanField):
        if engine.structured:
            raise InvalidArgument("structured= has no effect: here each chain is a block of its own.")
        return engine
    if isinstance(engine, Gibbs):
        if engine.blocks != "trees" or engine.trace:
            raise InvalidArgument("blocks= and trace= have no effect: here each chain is drawn as a whole.")
        return engine
    raise InvalidArgument(
        f'engine={shown(engine)} does not support chains that emit together; there are "exact", '
        f'"mean-field" and "gibbs", or pgm.engines.MeanField(...) and pgm.engines.Gibbs(...).'
        f"{nearest(engine, _NAMES)}"
    )


def chains_of(model: FactorialHMM) -> list[Chain]:
    """The chains as the engines see them."""
    tables = model._tables
    return [Chain(tables["initial", name], tables["transition", name]) for name in model.chains]


def emitted_of(model: FactorialHMM, read: Sequences, observed: Any) -> Emitted:
    """The likelihood of what was observed under tuples of states."""
    shape = tuple(v.card for v in model.variables)
    check_cells((read.n_rows, sum(shape), 8), "The distribution of each chain", "choose shorter sequences")
    return Emitted(model._emission.log_rows, observed.rows, observed.code, read.starts, shape)


def no_path(read: Sequences, row: int) -> NoSupportFound:
    """The error where zeros leave no path to start from."""
    place = read.place(row)
    return NoSupportFound(
        f"{place[0].upper()}{place[1:]}: no path of the chains was found that can emit what is observed "
        "here. It may be possible all the same: the exact engine can tell, if it fits in memory."
    )


def _approximated(
    model: FactorialHMM, read: Sequences, how: MeanField, seed: Any, clock: Clock
) -> Approximation:
    from pgm.inference.engines.parallel_chains.ascent import approximated
    from pgm.inference.engines.parallel_chains.drawing import NoPath

    model._check_parameters()
    emitted = emitted_of(model, read, model._emission.read(read))
    random = generator(how.seed if seed is None else seed)
    try:
        return approximated(chains_of(model), emitted, how.restarts, how.max_iter, how.tol, random, clock)
    except NoPath as error:
        raise no_path(read, error.row) from None


def _report(found: Approximation, bound: float) -> Report:
    return Report(
        MeanField.name,
        exact=False,
        converged=found.converged,
        advice="" if found.converged else "more sweeps: pgm.engines.MeanField(max_iter=...)",
        log_bounds=(bound, np.inf),
        iterations=len(found.changes),
        residuals=found.changes,
    )


def scored(model: FactorialHMM, read: Sequences, by: Any, how: MeanField | Gibbs, seed: Any) -> Any:
    """A lower bound on log P of what was observed."""
    if isinstance(how, Gibbs):
        raise InvalidArgument(
            'Gibbs sampling does not estimate the probability of what was observed; engine="mean-field" '
            "bounds it from below."
        )
    if by not in (None, "sequence"):
        raise InvalidArgument(
            f'With engine="mean-field" by= is "sequence" or left out, not {shown(by)}: the bound is on whole '
            "sequences."
        )
    found = _approximated(model, read, how, seed, start_clock())
    bounds = np.add.reduceat(found.shares, read.starts[:-1])
    total = float(bounds.sum())
    return bounds if by else Logarithm(total, _report(found, total))


def smoothed(model: FactorialHMM, read: Sequences, how: MeanField | Gibbs, seed: Any) -> Any:
    """Beliefs about each chain in each step."""
    clock = start_clock()
    each = (
        _drawn(model, read, how, seed, clock)
        if isinstance(how, Gibbs)
        else _averaged(model, read, how, seed, clock)
    )
    return each[0] if read.lone else PerSequence(each, read.ids, each[0].report)


def _averaged(
    model: FactorialHMM, read: Sequences, how: MeanField, seed: Any, clock: Clock
) -> list[ChainBeliefs]:
    found = _approximated(model, read, how, seed, clock)
    values = np.hstack(found.beliefs)
    return [
        ChainBeliefs(
            model.variables,
            values[a:b].copy(),
            found.shares[a:b].copy(),
            "smoothed",
            _report(found, float(found.shares[a:b].sum())),
        )
        for a, b in pairwise(read.starts.tolist())
    ]


def _drawn(model: FactorialHMM, read: Sequences, how: Gibbs, seed: Any, clock: Clock) -> list[ChainBeliefs]:
    from pgm.inference.engines.parallel_chains.drawing import NoPath, drawn

    model._check_parameters()
    emitted = emitted_of(model, read, model._emission.read(read))
    longest, chains = int(read.lengths.max()), chains_of(model)
    draws = -(-how.samples // count_chains(how)) * count_chains(how)
    check_cells(
        (draws, len(chains), longest),
        "The paths that are drawn",
        "choose fewer samples= of Gibbs",
    )
    randoms = generator(how.seed if seed is None else seed).spawn(len(read))
    each = []
    for n, random in enumerate(randoms):
        try:
            found = drawn(
                chains,
                emitted.part(n),
                int(read.starts[n]),
                how.samples,
                how.burn_in,
                count_chains(how),
                random,
                clock,
            )
        except NoPath as error:
            raise no_path(read, error.row) from None
        parts = zip(
            *((i.low, i.high, i.errors, i.effective_sizes, i.r_hat) for i in found.intervals), strict=True
        )
        intervals = Intervals(*(np.hstack(some) for some in parts))
        unknown = np.full(int(read.lengths[n]), np.nan)
        report = _report_on_draws(intervals, how, draws)
        each.append(ChainBeliefs(model.variables, np.hstack(found.shares), unknown, "smoothed", report))
    return each


def _report_on_draws(measured: Intervals, how: Gibbs, draws: int) -> Report:
    assert measured.errors is not None
    assert measured.effective_sizes is not None
    assert measured.r_hat is not None
    size, hat, advice = float(measured.effective_sizes.min()), float(measured.r_hat.max()), []
    if size < _LEAST_SIZE:
        advice.append(f"the draws are worth only {size:.3g} independent ones; try more samples=")
    if not hat <= _MOST_R_HAT:
        advice.append(f"the runs do not agree yet (R-hat {hat:.3g}); try more samples= and burn_in=")
    return Report(
        Gibbs.name,
        exact=False,
        converged=not advice,
        error=float(measured.errors.max()),
        advice=", and ".join(advice),
        samples=draws + count_chains(how) * how.burn_in,
        effective_sample_size=size,
        r_hat=hat,
        intervals=measured,
    )
