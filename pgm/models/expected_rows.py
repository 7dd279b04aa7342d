"""Rows with gaps as weighted complete rows, which estimators are fitted to in EM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pgm.cpds import CPD
from pgm.cpds.statistics import Configurations
from pgm.errors import InvalidArgument, listed
from pgm.runtime.room import check_room
from pgm.variables import states_array

if TYPE_CHECKING:
    from .bayesian_network import BayesianNetwork
    from .fitting import NetworkFitting


def expected_rows(fitting: NetworkFitting, network: BayesianNetwork, name: str, cpd: CPD) -> Configurations:
    """The rows of a family, each gap filled with every state, weighted by its posterior.

    Gap by gap: P(a, b | row) is P(a | row) times P(b | row, a).
    """
    rows = fitting.rows
    family = [*cpd.given, cpd.child]
    reals = [v.name for v in family if v.continuous]
    gone = [v for v in reals if v not in rows.values or np.isnan(rows.values[v]).any()]
    if gone:
        raise InvalidArgument(
            f"{name!r}: an estimator is fitted to rows, and {listed(gone)} is continuous with missing cells: "
            "nothing of a "
            f"size that fits stands for them. Leave such rows out, or keep it, fixed=[{name!r}]."
        )
    there = np.flatnonzero(rows.weights > 0.0)
    weights = rows.weights[there]
    codes = {v: column[there] for v, column in rows.codes.items()}
    for v in family:
        if v.continuous:
            continue
        column = codes.get(v.name)
        open_ = np.ones(there.size, bool) if column is None else column < 0
        if not open_.any():
            continue
        fitting.clock.check("EM")
        card, count = v.card, int(open_.sum())
        total = there.size - count + count * card
        check_room(
            8.0 * total * (len(rows.codes) + len(rows.values) + card),
            f"{name!r}: rows with every state of {v.name!r} are {total:,}, which take",
            "Fit to fewer rows at a time",
        )
        gaps = np.flatnonzero(open_)
        frame = {u: states_array(fitting.kinds[u].child, c[gaps]) for u, c in codes.items() if u != v.name}
        frame |= {u: x[there[gaps]] for u, x in rows.values.items()}
        shares = np.asarray(network.predict_proba(frame, v.name))
        kept = np.flatnonzero(~open_)
        of = np.concatenate([kept, np.repeat(gaps, card)])
        filled = np.tile(np.arange(card, dtype=np.int32), count)
        own = filled if column is None else np.concatenate([column[kept], filled])
        weights = np.concatenate([weights[kept], (weights[gaps, None] * shares).ravel()])
        there = there[of]
        codes = {u: c[of] for u, c in codes.items()} | {v.name: own}
        some = weights > 0.0
        there, weights, codes = there[some], weights[some], {u: c[some] for u, c in codes.items()}
    nothing = np.empty((there.size, 0))
    states = np.column_stack([codes[v.name] for v in family if not v.continuous] or [nothing])
    values = np.column_stack([rows.values[v][there] for v in reals] or [nothing])
    found: Configurations = cpd.gathered(states.astype(np.int64), values, weights)
    return found
