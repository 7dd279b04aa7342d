"""Rows of which only some have a class: networks learn from all of them by EM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pgm.cpds import CPD, TableCPD
from pgm.learning.parameters import Rule
from pgm.models import BayesianNetwork
from pgm.models.fitting import Fit, NetworkFitting
from pgm.models.fitting_input import Options, TrainingRows

from .row_classifier import frozen
from .training import Training

_STEPS, _TOL = 1000, 1e-10


def climbed(data: Training, cpds: Iterable[CPD], made: Mapping[str, Rule], *, keep_shares: bool) -> Fit:
    """Learn from all rows by EM, starting from what was learned from those with a class.

    Args:
        data: the rows.
        cpds: of the columns, as learned from the rows with a class.
        made: how each is learned.
        keep_shares: whether P(class) stays fixed.
    """
    target = data.target
    net = BayesianNetwork._from_cpds(
        "classes", [TableCPD.trusted(target, (), frozen(data.class_prior)), *cpds]
    )
    codes = {target.name: data.labels, **data.codes}
    there = {name: column for name, column in codes.items() if name in net}
    rows = TrainingRows(
        len(data.labels), there, dict(data.values), data.weights, bool((data.weights == 1.0).all())
    )
    rules = {**made, target.name: Rule(fixed=keep_shares)}
    fitting = NetworkFitting(net, {n: net.cpd(n) for n in net.nodes}, rows, rules, [], {}, data.clock)
    return fitting.climbed(Options(max_iter=_STEPS, tol=_TOL))
