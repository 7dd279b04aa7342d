"""Influence diagrams: chance is summed over, decisions are maximised, in the reverse order of time.

Tables come in two kinds, probabilities and utilities (Jensen, Jensen & Dittmer 1994). A chance variable turns
the utilities that depend on it into their expectation given the rest; a decision turns them into the largest.
`schedule` finds the steps and their sizes, and allocates nothing; `solve` runs them.
"""

from .schedule import DiagramProblem, EliminationStep, Schedule, schedule
from .solution import Choice, Solution, best_actions, over_last, solve

__all__ = [
    "Choice",
    "DiagramProblem",
    "EliminationStep",
    "Schedule",
    "Solution",
    "best_actions",
    "over_last",
    "schedule",
    "solve",
]
