"""Mixtures: distributions of rows whose component is hidden."""

from pgm.calls import guard_classes

from .mixture import Mixture
from .selection import ComponentSelection, select_components

__all__ = ["ComponentSelection", "Mixture", "select_components"]

guard_classes([Mixture])
