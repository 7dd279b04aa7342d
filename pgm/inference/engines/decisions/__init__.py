"""Influence diagrams: chance is summed over, decisions are maximised, in the reverse order of time.

Tables come in two kinds, probabilities and utilities (Jensen, Jensen & Dittmer 1994). A chance variable turns
the utilities that depend on it into their expectation given the rest; a decision turns them into the largest.
`schedule` finds the steps and their sizes, and allocates nothing; `solve` runs them.
"""

from .schedule import DiagramProblem, Schedule, Step, schedule
from .solution import Choice, Solution, best_actions, over_last, solve

__all__ = [
    "Choice",
    "DiagramProblem",
    "Schedule",
    "Solution",
    "Step",
    "best_actions",
    "over_last",
    "schedule",
    "solve",
]
