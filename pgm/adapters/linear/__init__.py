"""Linear classifiers: perceptrons, least squares, linear programs; geometry and separability."""

from .criteria import Criteria, criteria, normalised
from .descent import Descent, descend, rates
from .geometry import Hyperplane
from .least_squares import HoKashyap, LeastSquares
from .linear_programs import LinearProgram
from .perceptrons import Perceptron, Winnow
from .rejecting import RejectingClassifier
from .separability import Separability, SolutionRegion, separability
from .traces import WeightTrace
from .voted_perceptron import VotedPerceptron

__all__ = [
    "Criteria",
    "Descent",
    "HoKashyap",
    "Hyperplane",
    "LeastSquares",
    "LinearProgram",
    "Perceptron",
    "RejectingClassifier",
    "Separability",
    "SolutionRegion",
    "VotedPerceptron",
    "WeightTrace",
    "Winnow",
    "criteria",
    "descend",
    "normalised",
    "rates",
    "separability",
]
