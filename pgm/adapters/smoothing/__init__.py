"""Smoothers: regression without a form given in advance, by what is near."""

from .additive import AdditiveSmoother
from .condensed import CondensedSmoother
from .local import LocalSmoother
from .regressogram import Regressogram
from .splines import SmoothingSpline

__all__ = ["AdditiveSmoother", "CondensedSmoother", "LocalSmoother", "Regressogram", "SmoothingSpline"]
