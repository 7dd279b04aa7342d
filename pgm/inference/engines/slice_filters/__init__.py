"""Dynamic networks whose interface is too large for one table: approximate filters."""

from .boyen_koller import assumed_density
from .particles import NoParticles, particle_filter

__all__ = ["NoParticles", "assumed_density", "particle_filter"]
