"""Where EM starts: the current parameters, counts of complete rows, random guesses for hidden variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pgm.cpds import CPD, LinearGaussian
from pgm.distributions.gaussian_statistics import GaussianStatistics, near_centres
from pgm.errors import InvalidArgument

if TYPE_CHECKING:
    from .fitting import NetworkFitting

_FIRM = 10.0  # how near a hidden variable's own distribution begins to the uniform one


def first_guess(fitting: NetworkFitting, random: np.random.Generator, *, anew: bool) -> dict[str, CPD]:
    """Initial parameters: those of the network, unless `anew`, and guesses for the rest."""
    own = fitting.net._cpds.keys() | fitting.net._pending.keys()
    keep = {
        name
        for name, cpd in fitting.kinds.items()
        if fitting.rules[name].fixed is True or (name in own and not anew and cpd.is_fitted)
    }
    hidden = {name for name in fitting.latent if not _labelled(fitting, name)}
    assigned = {
        name: codes for name in sorted(hidden) if (codes := _clusters(fitting, name, random)) is not None
    }
    statistics = fitting.statistics(
        [n for n, cpd in fitting.kinds.items() if hidden.isdisjoint((*cpd.parents, n))]
    )
    found: dict[str, CPD] = {}
    for name, cpd in fitting.kinds.items():
        if name in keep:
            found[name] = cpd
        elif cpd.rowwise:
            found[name] = _estimator(fitting, name, cpd, assigned, random)
        elif cpd.tabular:
            found[name] = _table(fitting, name, cpd, statistics.get(name), assigned, hidden, random, anew)
        elif cpd.continuous:
            found[name] = _density(fitting, name, cpd, assigned, random)
        else:
            found[name] = cpd
    for group in fitting.groups:
        first = found[group[0]]
        for name in group[1:]:
            found[name] = first.renamed(fitting.kinds[name].child, fitting.kinds[name].given)
    for name in sorted(hidden):
        _check_apart(fitting, name, found)
    return found


def _labelled(fitting: NetworkFitting, name: str) -> bool:
    codes = fitting.rows.codes.get(name)
    return codes is not None and bool((codes >= 0).any())


def _clusters(fitting: NetworkFitting, name: str, random: np.random.Generator) -> np.ndarray | None:
    """States of a hidden variable with continuous children: clusters of their values."""
    children = [c for c, cpd in fitting.kinds.items() if name in cpd.parents and c in fitting.rows.values]
    cpd = fitting.kinds[name]
    if not children or cpd.continuous:
        return None
    k, rows = cpd.child.card, np.column_stack([fitting.rows.values[c] for c in children])
    shares = near_centres(rows, np.ones(len(rows)), k, random)
    codes = np.where(shares.any(axis=1), shares.argmax(axis=1), random.integers(k, size=len(rows)))
    return np.asarray(codes, np.int64)


def _columns(fitting: NetworkFitting, names: list[str], assigned: dict[str, np.ndarray]) -> np.ndarray | None:
    known = fitting.rows.codes | assigned
    if not known.keys() >= set(names):
        return None
    found = [known[name] for name in names]
    return np.column_stack(found).astype(np.int64) if found else np.empty((fitting.rows.n_rows, 0), np.int64)


def _table(
    fitting: NetworkFitting,
    name: str,
    cpd: CPD,
    counts: np.ndarray | None,
    assigned: dict[str, np.ndarray],
    hidden: set[str],
    random: np.random.Generator,
    anew: bool,
) -> CPD:
    shape = cpd.values.shape
    if counts is None and hidden.intersection((*cpd.parents, name)) <= assigned.keys():
        codes = _columns(fitting, [*cpd.parents, name], assigned)
        if codes is not None:
            there = (codes >= 0).all(axis=1)
            counts = cpd.gathered(codes[there], np.empty((int(there.sum()), 0)), fitting.rows.weights[there])
    if counts is None:
        firm = _FIRM if name in hidden else 1.0
        return cpd.fitted(random.dirichlet(np.full(shape[-1], firm), size=shape[:-1]).reshape(shape))
    guess = np.asarray(counts) + 1.0
    if anew:
        guess = guess * random.standard_exponential(shape)
    return cpd.fitted(guess)


def _estimator(
    fitting: NetworkFitting, name: str, cpd: CPD, assigned: dict[str, np.ndarray], random: np.random.Generator
) -> CPD:
    """From the rows that have all states of the family, those of hidden variables assigned or drawn."""
    rows, family = fitting.rows, [*cpd.given, cpd.child]
    there = rows.weights > 0.0
    codes, values = [], []
    for v in family:
        if v.continuous:
            if v.name not in rows.values:
                return cpd
            values.append(rows.values[v.name])
            there &= ~np.isnan(values[-1])
            continue
        column = rows.codes.get(v.name, assigned.get(v.name))
        column = random.integers(v.card, size=rows.n_rows) if column is None else column
        codes.append(column)
        there &= column >= 0
    nothing = np.empty((int(there.sum()), 0))
    return cpd.fitted(
        cpd.gathered(
            np.column_stack([c[there] for c in codes] or [nothing]).astype(np.int64),
            np.column_stack([x[there] for x in values] or [nothing]),
            rows.weights[there],
        )
    )


def _density(
    fitting: NetworkFitting, name: str, cpd: CPD, assigned: dict[str, np.ndarray], random: np.random.Generator
) -> CPD:
    """From the complete rows, with one pseudo-row that varies as all do."""
    switches = [v.name for v in cpd.given if not v.continuous]
    family = [*(v.name for v in cpd.given if v.continuous), name]
    if any(v not in fitting.rows.values for v in family):
        return cpd
    values = np.column_stack([fitting.rows.values[v] for v in family])
    codes = _columns(fitting, switches, assigned)
    if codes is None:
        cards = [v.card for v in cpd.given if not v.continuous]
        codes = np.column_stack([random.integers(card, size=len(values)) for card in cards])
    weights = fitting.rows.weights
    centre = np.nan_to_num(np.array([np.nanmean(x) for x in values.T]))
    spread = np.nan_to_num(np.array([np.nanvar(x) for x in values.T]))
    spread[spread == 0.0] = 1.0
    there = ~np.isnan(values).any(axis=1) & (codes >= 0).all(axis=1)
    found = cpd.gathered(codes[there], np.asfortranarray(values[there]), weights[there])
    k = found.weight.size
    one = GaussianStatistics(np.ones(k), np.tile(centre, (k, 1)), np.tile(np.diag(spread), (k, 1, 1)))
    return cpd.fitted(found + one)


def _check_apart(fitting: NetworkFitting, name: str, found: dict[str, CPD]) -> None:
    """Refuse a start that EM cannot leave: all states of a hidden variable give its children the same."""
    if fitting.kinds[name].continuous or fitting.kinds[name].child.card == 1:
        return
    for cpd in found.values():
        if name not in cpd.parents:
            continue
        axis = [v.name for v in cpd.given if not v.continuous].index(name)
        if cpd.tabular:
            parts = [cpd.values]
        elif isinstance(cpd, LinearGaussian):
            parts = [np.asarray(getattr(cpd, part)) for part in ("bias", "sd", "weights")]
        else:
            return  # a gate: its states act or do not
        for values in parts:
            if not (values == np.take(values, [0], axis=axis)).all():
                return
    raise InvalidArgument(
        f"EM cannot begin here: all states of the hidden {name!r} give its children the same "
        "distributions, so no step would ever distinguish them. Give the children other parameters by "
        "`set`, or take starts=5: all but "
        "the first are "
        "by chance."
    )
