"""Learning to rank: which of two rows comes first, from ranks, from pairs, from clicks."""

from .linear_ranker import LinearRanker
from .pairs import click_pairs

__all__ = ["LinearRanker", "click_pairs"]
