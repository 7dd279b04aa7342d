"""Continuous variables: linear Gaussian densities on a strong tree (Lauritzen 1992; Lauritzen & Jensen 2001).

Continuous variables are eliminated first, for each configuration of a clique's discrete variables; this
leaves tables over discrete variables for the discrete engine. So probabilities of discrete variables are
exact, and the density of a continuous one is exactly a mixture of normals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pgm.inference.engines.options import Engine, number, whole
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class Quadrature(Engine):
    """For discrete variables with hidden continuous parents (`pgm.Logistic`): linear scores on a grid.

    Each linear score is summed over the points of a grid; everything else stays exact. The error is estimated
    from a shifted grid: `p.report.error`. Continuous variables get means and variances. Questions that need
    no such sum are answered exactly.

    Args:
        points: on the axis of each score that matters; None: enough for an error far below practical needs,
            about 30 for one answer of a questionnaire.

    >>> Quadrature(points=40).points
    40
    """

    points: int | None = None
    name = "quadrature"
    module = f"{__name__}.quadrature"
    takes_scores = True
    answers = (*SUMS, "plan")
    approximates = False  # a model too large for exact inference is no smaller here

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        if self.points is not None:
            whole(self, "points", 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Variational(Engine):
    """For discrete variables with hidden continuous parents (`pgm.Logistic`): a variational lower bound.

    Normal densities bound the probabilities of states from below. Guarantees a lower bound on log P(given),
    in `p.report.log_bounds`; posteriors are approximate, with an unknown error. It takes models that
    "quadrature" does not, such as thousands of discrete variables that depend on a chain of continuous ones.
    Questions that need no such density are answered exactly.

    Args:
        max_iter: the largest number of sweeps over all densities.
        tol: converged when no density moves by more than this, relative to its width.

    >>> Variational(tol=1e-8).max_iter
    500
    """

    max_iter: int = 500
    tol: float = 1e-6
    name = "variational"
    module = f"{__name__}.variational"
    takes_scores = True
    answers = (*SUMS, "plan")
    approximates = False  # a model too large for exact inference is no smaller here

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        whole(self, "max_iter", 1)
        number(self, "tol", 0.0, math.inf)
