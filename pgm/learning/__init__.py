"""From data to parameters and arrows: learning algorithms that do not depend on the kind of model."""

from . import independence, scores, searches
from .em import Collapsed, EStep, climb, strides

__all__ = ["Collapsed", "EStep", "climb", "independence", "scores", "searches", "strides"]
