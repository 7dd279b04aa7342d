"""Probabilistic graphical models: exact answers, or the reason why not.

>>> import pgm
>>> net = pgm.BayesianNetwork("wet grass")
>>> net.add("rain", 0.2)
>>> net.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
>>> round(net.query("rain", {"wet": True})[True], 6)
0.692308
"""

import sys as _sys
from typing import TYPE_CHECKING, Any

from pgm.calls import guard_constructors, guard_methods
from pgm.config import config, set_config
from pgm.cpds import (
    CPD,
    AtLeast,
    DefaultCPD,
    DensityCPD,
    Deterministic,
    EstimatorCPD,
    Exactly,
    LinearGaussian,
    Logistic,
    MixtureCPD,
    NoisyAnd,
    NoisyMax,
    NoisyMin,
    NoisyOr,
    Parity,
    TableCPD,
    TreeCPD,
    confusion_table,
)
from pgm.distributions import (
    Bernoulli,
    ByInput,
    Categorical,
    ClassifierEmission,
    Codebook,
    Estimators,
    Gaussian,
    GaussianMixture,
    Multinomial,
    Poisson,
    Product,
    Regression,
    Softmax,
    StudentT,
    priors,
)
from pgm.errors import (
    ConvergenceWarning,
    FileFormatError,
    ImpossibleEvidence,
    IncompleteModel,
    InvalidArgument,
    InvalidCall,
    InvalidEvidence,
    InvalidFrame,
    InvalidStructure,
    InvalidTable,
    InvalidVariable,
    NoSupportFound,
    NotIdentifiable,
    OutOfTime,
    PGMError,
    TooLarge,
    UnknownState,
    UnknownVariable,
)
from pgm.evidence import Likelihood, Likelihoods, Not, OneOf, Soft
from pgm.graphs import compare
from pgm.inference import engines
from pgm.inference.engines.plan import Plan
from pgm.models import BayesianNetwork, FactorGraph, MarkovNetwork
from pgm.models.junction_tree import CliqueTree
from pgm.results import (
    Assignment,
    Density,
    Distribution,
    Marginals,
    MaxMarginals,
    Probability,
    RankedAssignments,
    Report,
    Samples,
)
from pgm.runtime import loops as _loops
from pgm.variables import Bins, Interval, Variable

if TYPE_CHECKING:
    from pgm import adapters as adapters
    from pgm import evaluation as evaluation
    from pgm.adapters import KMeans, KMedoids, OnlineKMeans, cluster_quality
    from pgm.io import read, read_evidence, read_result, write, write_result
    from pgm.io.bundled import list_networks, load_network
    from pgm.learning import independence, scores, searches
    from pgm.learning.discretization import discretize
    from pgm.models.causal.effect_range import effect_range
    from pgm.models.causal.graph import CausalGraph
    from pgm.models.classifiers.aode import AODEClassifier
    from pgm.models.classifiers.augmented import KDependenceClassifier, TANClassifier
    from pgm.models.classifiers.discriminant_analysis import DiscriminantAnalysis
    from pgm.models.classifiers.mixture_classifier import MixtureClassifier
    from pgm.models.classifiers.naive_bayes import NaiveBayes
    from pgm.models.classifiers.network_classifier import NetworkClassifier
    from pgm.models.decision import ExponentialUtility, InfluenceDiagram, Policy, loss_diagram
    from pgm.models.distances import distance
    from pgm.models.dynamic import HMM, Banded, LeftToRight, LinearDynamicalSystem, MarkovChain, components
    from pgm.models.dynamic import filters as filters
    from pgm.models.dynamic.dynamic_bayesian_network import DynamicBayesianNetwork
    from pgm.models.dynamic.hmm_classifier import HMMClassifier
    from pgm.models.dynamic.hmm_selection import select_states
    from pgm.models.dynamic.learned_transitions import LearnedTransitions, learn_transitions
    from pgm.models.dynamic.nonlinear_dynamical_system import NonlinearDynamicalSystem
    from pgm.models.dynamic.switching_linear_dynamical_system import SwitchingLinearDynamicalSystem
    from pgm.models.dynamic.variants import (
        AutoregressiveHMM,
        ComposedHMM,
        CoupledHMM,
        FactorialHMM,
        InputOutputHMM,
        MealyHMM,
        SemiMarkovHMM,
        SwitchingHMM,
        TreeHMM,
        UrnHMM,
        choice_of,
        grammar_of,
        loop_of,
        part_of,
        sequence_of,
    )
    from pgm.models.learned import LearnedStructure, learn_structure
    from pgm.models.mixtures import Mixture, select_components
    from pgm.models.random_networks import random_network, random_question
    from pgm.models.structure_data import arc_strength, structure_score

__version__ = "0.1.0"

__all__ = [
    "CPD",
    "HMM",
    "AODEClassifier",
    "Assignment",
    "AtLeast",
    "AutoregressiveHMM",
    "Banded",
    "BayesianNetwork",
    "Bernoulli",
    "Bins",
    "ByInput",
    "Categorical",
    "CausalGraph",
    "ClassifierEmission",
    "Codebook",
    "ComposedHMM",
    "ConvergenceWarning",
    "CoupledHMM",
    "DefaultCPD",
    "Density",
    "DensityCPD",
    "Deterministic",
    "DiscriminantAnalysis",
    "Distribution",
    "DynamicBayesianNetwork",
    "EstimatorCPD",
    "Estimators",
    "Exactly",
    "ExponentialUtility",
    "FactorGraph",
    "FactorialHMM",
    "FileFormatError",
    "Gaussian",
    "GaussianMixture",
    "HMMClassifier",
    "ImpossibleEvidence",
    "IncompleteModel",
    "InfluenceDiagram",
    "InputOutputHMM",
    "Interval",
    "InvalidArgument",
    "InvalidCall",
    "InvalidEvidence",
    "InvalidFrame",
    "InvalidStructure",
    "InvalidTable",
    "InvalidVariable",
    "KDependenceClassifier",
    "KMeans",
    "KMedoids",
    "LearnedStructure",
    "LearnedTransitions",
    "LeftToRight",
    "Likelihood",
    "Likelihoods",
    "LinearDynamicalSystem",
    "LinearGaussian",
    "Logistic",
    "Marginals",
    "MarkovChain",
    "MarkovNetwork",
    "MaxMarginals",
    "MealyHMM",
    "Mixture",
    "MixtureCPD",
    "MixtureClassifier",
    "Multinomial",
    "NaiveBayes",
    "NetworkClassifier",
    "NoSupportFound",
    "NoisyAnd",
    "NoisyMax",
    "NoisyMin",
    "NoisyOr",
    "NonlinearDynamicalSystem",
    "Not",
    "NotIdentifiable",
    "OneOf",
    "OnlineKMeans",
    "OutOfTime",
    "PGMError",
    "Parity",
    "Poisson",
    "Policy",
    "Probability",
    "Product",
    "Regression",
    "Report",
    "Samples",
    "SemiMarkovHMM",
    "Soft",
    "Softmax",
    "StudentT",
    "SwitchingHMM",
    "SwitchingLinearDynamicalSystem",
    "TANClassifier",
    "TableCPD",
    "TooLarge",
    "TreeCPD",
    "TreeHMM",
    "UnknownState",
    "UnknownVariable",
    "UrnHMM",
    "Variable",
    "arc_strength",
    "choice_of",
    "cluster_quality",
    "compare",
    "components",
    "config",
    "confusion_table",
    "discretize",
    "distance",
    "effect_range",
    "engines",
    "filters",
    "grammar_of",
    "independence",
    "learn_structure",
    "learn_transitions",
    "list_networks",
    "load_network",
    "loop_of",
    "loss_diagram",
    "part_of",
    "priors",
    "random_network",
    "random_question",
    "read",
    "read_evidence",
    "read_result",
    "scores",
    "searches",
    "select_components",
    "select_states",
    "sequence_of",
    "set_config",
    "structure_score",
    "write",
    "write_result",
]

_RESULTS = (
    *(Distribution, Density, Marginals, MaxMarginals, Probability, Assignment, RankedAssignments, Samples),
    *(CliqueTree, Plan, Report),
)
_FORMS = (
    *(TableCPD, NoisyOr, NoisyAnd, NoisyMax, NoisyMin, Logistic, Deterministic, TreeCPD, AtLeast, Exactly),
    *(Parity, MixtureCPD, DefaultCPD, DensityCPD, EstimatorCPD, LinearGaussian, Gaussian, Categorical),
    *(Poisson, Bernoulli, Multinomial, GaussianMixture, Product, Regression, Softmax, ByInput, Estimators),
    *(StudentT, Codebook, ClassifierEmission),
)
_EVIDENCE = (OneOf, Not, Likelihood, Likelihoods, Soft, Interval)
guard_methods([BayesianNetwork, MarkovNetwork, Likelihood, *_FORMS, *_RESULTS])
guard_constructors(
    [
        BayesianNetwork,
        MarkovNetwork,
        *_FORMS,
        *_EVIDENCE,
        Variable,
        Bins,
        config,
        *engines.ENGINES.values(),
    ]
)

_LAZY = {
    "DiscriminantAnalysis": "pgm.models.classifiers.discriminant_analysis",
    "AODEClassifier": "pgm.models.classifiers.aode",
    "KDependenceClassifier": "pgm.models.classifiers.augmented",
    "TANClassifier": "pgm.models.classifiers.augmented",
    "MixtureClassifier": "pgm.models.classifiers.mixture_classifier",
    "NetworkClassifier": "pgm.models.classifiers.network_classifier",
    "NaiveBayes": "pgm.models.classifiers.naive_bayes",
    "CausalGraph": "pgm.models.causal.graph",
    "distance": "pgm.models.distances",
    "effect_range": "pgm.models.causal.effect_range",
    "random_network": "pgm.models.random_networks",
    "random_question": "pgm.models.random_networks",
    "discretize": "pgm.learning.discretization",
    "DynamicBayesianNetwork": "pgm.models.dynamic.dynamic_bayesian_network",
    "ExponentialUtility": "pgm.models.decision",
    "InfluenceDiagram": "pgm.models.decision",
    "Policy": "pgm.models.decision",
    "loss_diagram": "pgm.models.decision",
    "LearnedStructure": "pgm.models.learned",
    "learn_structure": "pgm.models.learned",
    "arc_strength": "pgm.models.structure_data",
    "structure_score": "pgm.models.structure_data",
    "LearnedTransitions": "pgm.models.dynamic.learned_transitions",
    "learn_transitions": "pgm.models.dynamic.learned_transitions",
    "independence": "pgm.learning",
    "scores": "pgm.learning",
    "searches": "pgm.learning",
    "Mixture": "pgm.models.mixtures",
    "select_components": "pgm.models.mixtures",
    **dict.fromkeys("KMeans KMedoids OnlineKMeans cluster_quality".split(), "pgm.adapters"),
    "HMM": "pgm.models.dynamic",
    "select_states": "pgm.models.dynamic.hmm_selection",
    "HMMClassifier": "pgm.models.dynamic.hmm_classifier",
    "MarkovChain": "pgm.models.dynamic",
    "LinearDynamicalSystem": "pgm.models.dynamic",
    "LeftToRight": "pgm.models.dynamic",
    "components": "pgm.models.dynamic",
    "filters": "pgm.models.dynamic",
    "NonlinearDynamicalSystem": "pgm.models.dynamic",
    "SwitchingLinearDynamicalSystem": "pgm.models.dynamic",
    "Banded": "pgm.models.dynamic",
    **dict.fromkeys(
        "AutoregressiveHMM ComposedHMM CoupledHMM FactorialHMM InputOutputHMM MealyHMM SemiMarkovHMM "
        "SwitchingHMM TreeHMM UrnHMM choice_of grammar_of loop_of part_of sequence_of".split(),
        "pgm.models.dynamic.variants",
    ),
    "list_networks": "pgm.io.bundled",
    "load_network": "pgm.io.bundled",
    "read": "pgm.io",
    "read_evidence": "pgm.io",
    "read_result": "pgm.io",
    "write": "pgm.io",
    "write_result": "pgm.io",
}  # rooms that most programs never enter


_ROOMS = ("adapters", "evaluation")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _ROOMS:
        return import_module(f"pgm.{name}")
    if name in _LAZY:
        value = getattr(import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pgm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_loops.announce()
if _sys.maxsize < 2**32:
    from pgm.runtime import narrow as _narrow

    _narrow.install()
