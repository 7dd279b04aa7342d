"""Methods that are not graphical, in scikit-learn's conventions: clusters of rows of numbers, hyperplanes."""

from pgm.calls import guard_constructors, guard_methods

from .kmeans import KMeans, OnlineKMeans
from .kmedoids import KMedoids
from .linear import (
    Criteria,
    Descent,
    HoKashyap,
    Hyperplane,
    LeastSquares,
    LinearProgram,
    Perceptron,
    RejectingClassifier,
    Separability,
    SolutionRegion,
    VotedPerceptron,
    WeightTrace,
    Winnow,
    criteria,
    descend,
    normalised,
    rates,
    separability,
)
from .quality import ClusterQuality, cluster_quality

__all__ = [
    "ClusterQuality",
    "Criteria",
    "Descent",
    "HoKashyap",
    "Hyperplane",
    "KMeans",
    "KMedoids",
    "LeastSquares",
    "LinearProgram",
    "OnlineKMeans",
    "Perceptron",
    "RejectingClassifier",
    "Separability",
    "SolutionRegion",
    "VotedPerceptron",
    "WeightTrace",
    "Winnow",
    "cluster_quality",
    "criteria",
    "descend",
    "normalised",
    "rates",
    "separability",
]

_LINEAR = [HoKashyap, LeastSquares, LinearProgram, Perceptron, RejectingClassifier, VotedPerceptron, Winnow]
_GEOMETRY = [Descent, Hyperplane, SolutionRegion, WeightTrace]

guard_methods([KMeans, KMedoids, OnlineKMeans, *_LINEAR, *_GEOMETRY])
guard_constructors([KMeans, KMedoids, OnlineKMeans, *_LINEAR, Hyperplane])
