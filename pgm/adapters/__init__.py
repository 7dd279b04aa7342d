"""Methods that are not graphical, in scikit-learn's conventions: clusters, hyperplanes, densities, curves."""

from pgm.calls import guard_constructors, guard_methods, guarded

from .densities import HistogramDensity, NeighbourDensity, ParzenDensity, rows_needed
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
from .smoothing import AdditiveSmoother, CondensedSmoother, LocalSmoother, Regressogram, SmoothingSpline

__all__ = [
    "AdditiveSmoother",
    "ClusterQuality",
    "CondensedSmoother",
    "Criteria",
    "Descent",
    "HistogramDensity",
    "HoKashyap",
    "Hyperplane",
    "KMeans",
    "KMedoids",
    "LeastSquares",
    "LinearProgram",
    "LocalSmoother",
    "NeighbourDensity",
    "OnlineKMeans",
    "ParzenDensity",
    "Perceptron",
    "Regressogram",
    "RejectingClassifier",
    "Separability",
    "SmoothingSpline",
    "SolutionRegion",
    "VotedPerceptron",
    "WeightTrace",
    "Winnow",
    "cluster_quality",
    "criteria",
    "descend",
    "normalised",
    "rates",
    "rows_needed",
    "separability",
]

_LINEAR = [HoKashyap, LeastSquares, LinearProgram, Perceptron, RejectingClassifier, VotedPerceptron, Winnow]
_DENSITIES = [HistogramDensity, NeighbourDensity, ParzenDensity]
_SMOOTHERS = [AdditiveSmoother, CondensedSmoother, LocalSmoother, Regressogram, SmoothingSpline]
_GEOMETRY = [Descent, Hyperplane, SolutionRegion, WeightTrace]

guard_methods([KMeans, KMedoids, OnlineKMeans, *_LINEAR, *_GEOMETRY, *_DENSITIES, *_SMOOTHERS])
guard_constructors([KMeans, KMedoids, OnlineKMeans, *_LINEAR, Hyperplane, *_DENSITIES, *_SMOOTHERS])
rows_needed = guarded(rows_needed)
