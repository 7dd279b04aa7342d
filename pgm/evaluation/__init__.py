"""Evaluation of classifiers and decision rules: decision regions, error rates, ROC curves, calibration."""

from pgm.calls import guard_classes

from .calibration import Calibrated, Calibrations, calibration
from .decision_regions import Regions, regions
from .estimates import ErrorEstimates, Estimated, error_estimates
from .rates import Curves, Decided, DecisionRates
from .roc import ROC, ROCs, roc
from .rules import decision_rates

__all__ = [
    "ROC",
    "Calibrated",
    "Calibrations",
    "Curves",
    "Decided",
    "DecisionRates",
    "ErrorEstimates",
    "Estimated",
    "ROCs",
    "Regions",
    "calibration",
    "decision_rates",
    "error_estimates",
    "regions",
    "roc",
]

guard_classes(each for each in map(globals().get, __all__) if isinstance(each, type))
