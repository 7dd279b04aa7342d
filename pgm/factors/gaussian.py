"""Conditional linear Gaussians: linear in continuous parents, with parameters selected by discrete ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, slots=True)
class GaussianFactor:
    """Normal with mean bias + weights @ parents and standard deviation sd.

    These depend on the configuration of the discrete parents, in short the selection.
    """

    scope: np.ndarray  # (switches + k + 1,) positions: discrete parents, continuous parents, the child
    n_switches: int
    weights: np.ndarray  # (selections, k), the last discrete parent changing fastest
    bias: np.ndarray  # (selections,)
    sd: np.ndarray  # (selections,); 0: the child is a function of its parents

    heads = 1
