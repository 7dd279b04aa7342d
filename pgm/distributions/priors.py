"""Prior distributions of parameters; `pgm.priors`."""

from pgm.calls import guard_classes

from .dirichlet import Beta, Dirichlet
from .normal_priors import Normal, NormalGamma
from .normal_wishart import NormalWishart
from .pseudo_counts import BDeu, Expert, Laplace, Prior
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

# By their names in files.
PRIORS: dict[str, type[Prior]] = {
    made.kind: made for made in (BDeu, Beta, Dirichlet, Expert, Laplace, Normal, NormalGamma, NormalWishart)
}
guard_classes([*PRIORS.values(), Student])
