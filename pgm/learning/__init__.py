"""From data to parameters: learning algorithms that do not depend on the kind of model."""

from .em import Collapsed, Step, climb, strides

__all__ = ["Collapsed", "Step", "climb", "strides"]
