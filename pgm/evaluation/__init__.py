"""How well something does: regions of classifiers, errors, curves."""

from pgm.calls import guard_methods

from .decision_regions import Regions, regions

__all__ = ["Regions", "regions"]

guard_methods([Regions])
