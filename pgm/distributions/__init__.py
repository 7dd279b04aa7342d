"""Distributions without a graph, used for roots and as the emissions of hidden states."""

from typing import Any

from .by_input import ByInput
from .categorical import Categorical
from .codebook import Codebook
from .counts import Bernoulli, Poisson
from .emission import Emission, Observed
from .estimators import Estimators
from .gaussian import Gaussian
from .gaussian_mixture import GaussianMixture
from .multinomial import Multinomial
from .product import Product
from .protocol import LocalDistribution
from .regression import Regression
from .scaled_classifier import ClassifierEmission
from .softmax import Softmax
from .student_t import StudentT
from .tied import Stacked, Tied

# Emissions by the name that files give them: the only list.
EMISSIONS: dict[str, type[Any]] = {
    cls.kind: cls
    for cls in (
        Categorical,
        Gaussian,
        Poisson,
        Bernoulli,
        Multinomial,
        GaussianMixture,
        Product,
        StudentT,
        Codebook,
    )
}

__all__ = [
    "EMISSIONS",
    "Bernoulli",
    "ByInput",
    "Categorical",
    "ClassifierEmission",
    "Codebook",
    "Emission",
    "Estimators",
    "Gaussian",
    "GaussianMixture",
    "LocalDistribution",
    "Multinomial",
    "Observed",
    "Poisson",
    "Product",
    "Regression",
    "Softmax",
    "Stacked",
    "StudentT",
    "Tied",
]
