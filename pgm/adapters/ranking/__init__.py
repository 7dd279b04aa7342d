"""Learning to rank, from ranks, pairs or clicks."""

from .linear_ranker import LinearRanker
from .pairs import click_pairs

__all__ = ["LinearRanker", "click_pairs"]
