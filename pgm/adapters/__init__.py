"""Estimators that are not graphical models, following scikit-learn's conventions."""

from pgm.calls import guard_classes, guarded

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
from .logistic import LogisticDiscriminant, LogisticTrace
from .neighbours.adaptive import AdaptiveNeighbours
from .neighbours.cases import SimilarCases, similar_cases
from .neighbours.classifier import NearestNeighbours
from .neighbours.edited import EditedNeighbours, augmented_error
from .neighbours.editing import Condensing, GrabBag, SideEditing, VoronoiEditing
from .neighbours.metrics import LargeMarginMetric, SimilarityMap
from .neighbours.networks import ProbabilisticNeuralNetwork, RCENetwork
from .neighbours.prototypes import PrototypeClassifier
from .outliers import DensityOutliers, LocalOutlierRatio
from .quality import ClusterQuality, cluster_quality
from .ranking import LinearRanker, click_pairs
from .single_linkage import SingleLinkageOutliers
from .smoothing import AdditiveSmoother, CondensedSmoother, LocalSmoother, Regressogram, SmoothingSpline

__all__ = [
    "AdaptiveNeighbours",
    "AdditiveSmoother",
    "ClusterQuality",
    "CondensedSmoother",
    "Condensing",
    "Criteria",
    "DensityOutliers",
    "Descent",
    "EditedNeighbours",
    "GrabBag",
    "HistogramDensity",
    "HoKashyap",
    "Hyperplane",
    "KMeans",
    "KMedoids",
    "LargeMarginMetric",
    "LeastSquares",
    "LinearProgram",
    "LinearRanker",
    "LocalOutlierRatio",
    "LocalSmoother",
    "LogisticDiscriminant",
    "LogisticTrace",
    "NearestNeighbours",
    "NeighbourDensity",
    "OnlineKMeans",
    "ParzenDensity",
    "Perceptron",
    "ProbabilisticNeuralNetwork",
    "PrototypeClassifier",
    "RCENetwork",
    "Regressogram",
    "RejectingClassifier",
    "Separability",
    "SideEditing",
    "SimilarCases",
    "SimilarityMap",
    "SingleLinkageOutliers",
    "SmoothingSpline",
    "SolutionRegion",
    "VoronoiEditing",
    "VotedPerceptron",
    "WeightTrace",
    "Winnow",
    "augmented_error",
    "click_pairs",
    "cluster_quality",
    "criteria",
    "descend",
    "normalised",
    "rates",
    "rows_needed",
    "separability",
    "similar_cases",
]

guard_classes(each for each in map(globals().get, __all__) if isinstance(each, type))
rows_needed = guarded(rows_needed)
