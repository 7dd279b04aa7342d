"""The most probable states of models that fit in no tree: minimum cuts, and moves made of them."""

from .expansion import Moved, expand
from .ladder import Found, maximum, one_of_each, only, reduce_everything

__all__ = ["Found", "Moved", "expand", "maximum", "one_of_each", "only", "reduce_everything"]
