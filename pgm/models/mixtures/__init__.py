"""Mixtures: distributions of rows whose component nobody saw."""

from pgm.calls import guard_constructors, guard_methods

from .mixture import Mixture

__all__ = ["Mixture"]

guard_methods([Mixture])
guard_constructors([Mixture])
