"""A regressor as the distribution of a child that is a number."""

from __future__ import annotations

from typing import Any

from pgm.errors import InvalidTable

from .estimator import EstimatorCPD


class RegressorCPD(EstimatorCPD):
    """p(child | parents) of a regressor; `pgm.EstimatorCPD` makes it."""

    __slots__ = ()
    kind, label, continuous = "regressor", "regressor", True

    def __init__(self, estimator: Any, *args: Any, **options: Any) -> None:
        raise InvalidTable("pgm.EstimatorCPD takes classifiers; regressors come next.")
