"""From data to numbers: what learns, whatever the model."""

from .em import Collapsed, Step, climb

__all__ = ["Collapsed", "Step", "climb"]
