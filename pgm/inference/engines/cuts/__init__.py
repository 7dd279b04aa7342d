"""The most probable states of models that fit in no tree: minimum cuts, and moves made of them."""

from .expansion import Moved, expand
from .multilevel import Found, check_room, maximum, one_of_each, only, reduce_everything

__all__ = [
    "Found",
    "Moved",
    "check_room",
    "expand",
    "maximum",
    "one_of_each",
    "only",
    "reduce_everything",
]
