"""The parts of a model, as engines see them: functions of a few variables, multiplied together.

A scope lists positions in the order of the model. The last `heads` variables of a scope are those over
which the factor sums to one for every state of the others; an undirected factor has none.
"""

from .dense import Dense
from .gate import Gate, Writer
from .gaussian import GaussianFactor
from .own_density import OwnDensity
from .row_normal import RowNormal
from .row_table import RowTable
from .score import Score
from .sparse import Sparse
from .tables import Tables

Factor = Dense | Sparse | Gate  # discrete, one object per factor
Linking = Score | RowTable  # discrete children of continuous parents
ModelPart = Factor | Tables | GaussianFactor | RowNormal | Linking  # everything that a model may hand over

__all__ = [
    "Dense",
    "Factor",
    "Gate",
    "GaussianFactor",
    "Linking",
    "ModelPart",
    "OwnDensity",
    "RowNormal",
    "RowTable",
    "Score",
    "Sparse",
    "Tables",
    "Writer",
]
