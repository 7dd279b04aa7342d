"""What a model is made of, as the engine sees it: functions of a few variables, multiplied together.

A scope lists positions in the order of the model. The last `heads` variables of a scope are those over
which the factor sums to one for every state of the others; an undirected factor has none.
"""

from .dense import Dense
from .linear_gaussian import LinearGaussian
from .noisy_or import NoisyOr
from .sparse import Sparse

Factor = Dense | Sparse | NoisyOr  # over states; LinearGaussian is over numbers

__all__ = ["Dense", "Factor", "LinearGaussian", "NoisyOr", "Sparse"]
