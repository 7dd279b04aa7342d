"""Decision models: influence diagrams and their policies."""

from pgm.calls import guard_classes

from .attitude import ExponentialUtility
from .influence_diagram import InfluenceDiagram
from .losses import loss_diagram
from .policy import Policy

guard_classes([InfluenceDiagram, ExponentialUtility, Policy])

__all__ = ["ExponentialUtility", "InfluenceDiagram", "Policy", "loss_diagram"]
