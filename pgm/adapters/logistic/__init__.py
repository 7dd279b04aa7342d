"""Logistic discrimination: sigmoids and softmax of lines and quadrics, by several ways down an error."""

from .logistic_discriminant import LogisticDiscriminant
from .trace import LogisticTrace

__all__ = ["LogisticDiscriminant", "LogisticTrace"]
