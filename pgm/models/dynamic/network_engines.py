"""Engines that filter a dynamic network: the exact one, or an approximate one if it is named."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, NoSupportFound, UnknownVariable, nearest, shown
from pgm.inference.engines import interface
from pgm.randomness import generator
from pgm.results import NetworkBeliefs, PerSequence, Report
from pgm.runtime.clock import start_clock

from . import network_slices
from .filters import BoyenKoller, Particles
from .network_rows import Read, check_noise
from .network_slices import back_of

if TYPE_CHECKING:
    from .dynamic_bayesian_network import DynamicBayesianNetwork

_NAMES = ("interface", "boyen-koller", "particles")


def engine_of(engine: object) -> BoyenKoller | Particles | None:
    """The filter of this name; None: the exact one."""
    if isinstance(engine, BoyenKoller | Particles):
        return engine
    if engine in ("auto", "interface"):
        return None
    if engine == BoyenKoller.name:
        return BoyenKoller()
    if engine == Particles.name:
        return Particles()
    raise InvalidArgument(
        f'engine={shown(engine)} cannot filter a dynamic network; there are "interface", which is exact, '
        f'"boyen-koller" and "particles", or pgm.filters.BoyenKoller(...).{nearest(engine, _NAMES)}'
    )


def filtered(
    model: DynamicBayesianNetwork, found: Read, wanted: list[int], how: BoyenKoller | Particles
) -> Any:
    """Beliefs about each sequence, with estimates of their error."""
    values, scores, errors, sizes = (
        _by_clusters(model, found, wanted, how)
        if isinstance(how, BoyenKoller)
        else _by_particles(model, found, wanted, how)
    )
    reports = []
    for a, b in pairwise(found.sequences.starts.tolist()):
        if isinstance(how, BoyenKoller):
            reports.append(Report(how.name, exact=False, advice="larger clusters= forget less"))
        else:
            error = float(np.nanmax(errors[a:b], initial=0.0))
            reports.append(
                Report(
                    how.name,
                    exact=False,
                    error=error,
                    advice="more samples= reduce the error",
                    samples=how.samples,
                    effective_sample_size=float(sizes[a:b].min()),
                )
            )
    variables, starts = model._some(wanted), found.sequences.starts.tolist()
    each = [
        NetworkBeliefs(variables, values[a:b], scores[a:b], "filtered", 0, report)
        for (a, b), report in zip(pairwise(starts), reports, strict=True)
    ]
    return each[0] if found.sequences.lone else PerSequence(each, found.sequences.ids, reports[0])


_Found = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _by_clusters(model: DynamicBayesianNetwork, found: Read, wanted: list[int], how: BoyenKoller) -> _Found:
    from pgm.inference.engines.slice_filters import assumed_density

    names = list(model.nodes)
    given = [list(those) for those in how.clusters]
    for those in given:
        for name in those:
            if name not in names:
                raise UnknownVariable(name, names, where="clusters=")
    named = {name for those in given for name in those}
    given += [[name] for name in names if name not in named]
    clock = start_clock()
    template = network_slices.template(model._nodes)
    clusters = [[names.index(name) for name in those] for those in given]
    layout = interface.SliceLayout(template, clock, clusters=clusters)
    interface.check_slice(layout, names)
    values, scores = model._answered(found, lambda: assumed_density(layout, found.rows, wanted, clock))
    return values, scores, np.empty(0), np.empty(0)


def _by_particles(model: DynamicBayesianNetwork, found: Read, wanted: list[int], how: Particles) -> _Found:
    from pgm.inference.engines.slice_filters import NoParticles, particle_filter

    names = list(model.nodes)
    template = network_slices.template(model._nodes)
    check_noise(model._nodes, template, found)
    nodes = list(model._nodes.values())
    cpds = [node.cpds for node in nodes]
    parents = [
        [[(names.index(u), back) for u, back in map(back_of, cpd.parents)] for cpd in node.cpds]
        for node in nodes
    ]
    try:
        swarm = particle_filter(
            template,
            cpds,
            parents,
            found.rows,
            wanted,
            how.groups,
            how.samples // how.groups,
            how.threshold,
            generator(how.seed),
            start_clock(),
        )
    except NoParticles as error:
        place = found.sequences.place(error.row)
        raise NoSupportFound(
            f"{place[0].upper()}{place[1:]}: none of {how.samples:,} particles can produce what is observed "
            "here. It may be possible all the same: take more, by pgm.filters.Particles(samples=...)."
        ) from None
    return swarm.values, swarm.shares, swarm.errors, swarm.sizes
