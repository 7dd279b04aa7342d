"""Prior distributions of parameters; `pgm.priors`."""

from .dirichlet import Beta, Dirichlet
from .normal_priors import Normal, NormalGamma, NormalWishart
from .pseudo_counts import BDeu, Expert, Laplace
from .student import Student

__all__ = [
    "BDeu",
    "Beta",
    "Dirichlet",
    "Expert",
    "Laplace",
    "Normal",
    "NormalGamma",
    "NormalWishart",
    "Student",
]
