"""Continuous variables: linear Gaussian densities on a strong tree (Lauritzen 1992; Lauritzen & Jensen 2001).

Continuous variables are eliminated first, for each configuration of a clique's discrete variables; what is
left are tables over discrete variables, which the discrete engine takes from there. So
probabilities of discrete variables are exact, and that of a continuous one is exactly a mixture of normals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pgm.inference.engines.options import Engine, number, whole
from pgm.inference.trees.needs import SUMS


@dataclass(frozen=True, kw_only=True, slots=True)
class Quadrature(Engine):
    """For states that depend on hidden numbers (`pgm.Logistic`): what these add up to is summed over a grid.

    Everything else stays exact. Not exact, and says by how much a shifted grid differs: `p.report.error`.
    Of numbers it gives means and variances. Questions that need no such sum are answered exactly.

    Args:
        points: of the grid, for each sum of numbers that matters; None: so many that the error is far below
            what anybody needs, in the order of 30 for one answer of a questionnaire.

    >>> Quadrature(points=40).points
    40
    """

    points: int | None = None
    name = "quadrature"
    module = f"{__name__}.quadrature"
    takes_scores = True
    answers = (*SUMS, "plan")
    approximates = False  # what exact inference refuses for its size is no smaller here

    def __post_init__(self) -> None:
        """Refuse what is no number of points."""
        if self.points is not None:
            whole(self, "points", 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Variational(Engine):
    """For states that depend on hidden numbers (`pgm.Logistic`): normal densities that lie below them.

    Surely a lower bound on log P(given), in `p.report.log_bounds`; what it says of numbers and states is not
    exact, and how far off is not known. It takes models that "quadrature" does not, of thousands of states
    that follow a chain of numbers. Questions that need no such density are answered exactly.

    Args:
        max_iter: how often all densities are improved at most.
        tol: it has converged when none of them moves by more, relative to how wide it is.

    >>> Variational(tol=1e-8).max_iter
    500
    """

    max_iter: int = 500
    tol: float = 1e-6
    name = "variational"
    module = f"{__name__}.variational"
    takes_scores = True
    answers = (*SUMS, "plan")
    approximates = False  # what exact inference refuses for its size is no smaller here

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        whole(self, "max_iter", 1)
        number(self, "tol", 0.0, math.inf)
