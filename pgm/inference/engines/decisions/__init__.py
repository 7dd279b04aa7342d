"""Influence diagrams: chance variables are summed out and decisions maximised, latest first.

Tables come in two kinds, probabilities and utilities (Jensen, Jensen & Dittmer 1994). Eliminating a chance
variable replaces the utilities that depend on it by their expectation given the rest; eliminating a decision
replaces them by their maximum. `schedule` finds the steps and their sizes without allocating anything;
`solve` runs them.
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
