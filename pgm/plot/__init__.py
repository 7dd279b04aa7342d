"""Pictures of models and answers; the only room that imports matplotlib.

Every function takes `ax=` and returns the Axes. Without `ax` it makes a figure of the size that the content
needs, on a canvas that needs no screen; in a notebook the returned axes show themselves.
"""

from .bars import assignment, distribution, marginals
from .networks import network

__all__ = ["assignment", "distribution", "marginals", "network"]
