"""Logistic discrimination: sigmoid and softmax models, with a choice of optimisers."""

from .logistic_discriminant import LogisticDiscriminant
from .trace import LogisticTrace

__all__ = ["LogisticDiscriminant", "LogisticTrace"]
