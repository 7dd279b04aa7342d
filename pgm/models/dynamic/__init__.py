"""Models of what unfolds in steps."""

from . import parts
from .linear_dynamical_system import LinearDynamicalSystem

__all__ = ["LinearDynamicalSystem", "parts"]
