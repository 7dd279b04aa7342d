"""Decision models: influence diagrams and their policies."""

from pgm.calls import guard_constructors, guard_methods

from .attitude import ExponentialUtility
from .influence_diagram import InfluenceDiagram
from .losses import loss_diagram
from .policy import Policy

guard_methods([InfluenceDiagram, Policy])
guard_constructors([InfluenceDiagram, ExponentialUtility])

__all__ = ["ExponentialUtility", "InfluenceDiagram", "Policy", "loss_diagram"]
