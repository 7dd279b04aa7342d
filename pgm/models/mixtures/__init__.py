"""Mixtures: distributions of rows whose component is hidden."""

from pgm.calls import guard_constructors, guard_methods

from .mixture import Mixture
from .selection import ComponentSelection, select_components

__all__ = ["ComponentSelection", "Mixture", "select_components"]

guard_methods([Mixture])
guard_constructors([Mixture])
