"""Linear separability: the solution region, the minimum-norm solution, or a proof that there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.adapters.rows import Rows, positive
from pgm.calls import guarded
from pgm.errors import InvalidArgument, shown
from pgm.models.classifiers.conventions import at_least_two, classes_of, labels_of
from pgm.printing import Tabular, label
from pgm.runtime.clock import Clock, start_clock

from .linear_classifier import machines, normalised_rows
from .linear_programs import separates, solve_program

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = 20


class SolutionRegion(Tabular):
    """The solution region: all weights that separate the rows with a margin, an intersection of half spaces.

    Made by `separability`. `rows` are normalised: augmented by a leading 1, and negated in the other class;
    weights a are inside if a y >= margin for each of them.

    >>> region = separability([[2.0], [-1.0]], ["yes", "no"]).regions["yes"]
    >>> region.separable, region.shortest.round(4).tolist()
    (True, [-0.3333, 0.6667])
    >>> region.contains([[0.0, 3.0], [0.0, -1.0]]).tolist()
    [True, False]
    """

    def __init__(
        self,
        rows: np.ndarray,
        margin: float,
        columns: Sequence[str],
        name: Any = None,
        clock: Clock | None = None,
    ) -> None:
        """Decide it by a linear program.

        Args:
            rows: normalised.
            margin: the required margin of each row.
            columns: the names of the weights, "1" first.
            name: the class on the positive side.
            clock: of the question that this is part of.
        """
        self.rows, self.margin, self.columns, self.name = rows, margin, list(columns), name
        found = solve_program(rows, margin, "largest", "dual", clock)
        self.separable = separates(rows, found.a)
        self._inside = found.a
        self._duals = found.duals

    @property
    def certificate(self) -> np.ndarray | None:
        """If the classes are not separable: convex weights for which the normalised rows sum to zero.

        Within each class they are, doubled, the convex weights of one point that both hulls contain.

        >>> separability([[0.0], [2.0], [1.0]], ["a", "a", "b"]).regions["b"].certificate.tolist()
        [0.25, 0.25, 0.5]
        """
        return None if self.separable else self._duals / self._duals.sum()

    @property
    def shortest(self) -> np.ndarray | None:
        """The minimum-norm weights, intercept included, with this margin; None if there are none.

        Lawson and Hanson's least distance by nonnegative least squares: exact, in finitely many steps.
        """
        if not self.separable:
            return None
        from scipy.optimize import nnls

        n, dim = self.rows.shape
        matrix = np.vstack([self.rows.T, np.full(n, self.margin)])
        aim = np.zeros(dim + 1)
        aim[-1] = 1.0
        off = matrix @ nnls(matrix, aim)[0] - aim
        return np.asarray(-off[:-1] / off[-1])

    @property
    def shifts(self) -> np.ndarray:
        """How far the margin shifts the boundary of each row's half space: margin / |y|."""
        return np.asarray(self.margin / np.linalg.norm(self.rows, axis=1))

    def contains(self, weights: Any) -> np.ndarray:
        """Return which weights are inside.

        Args:
            weights: a row for each, the intercept first.

        Raises:
            InvalidArgument: there are more or fewer weights than columns.

        >>> separability([[2.0], [-1.0]], ["yes", "no"]).regions["yes"].contains([[0.0, 3.0]]).tolist()
        [True]
        """
        found = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        if found.ndim != 2 or found.shape[1] != self.rows.shape[1]:
            raise InvalidArgument(
                f"weights= has rows of {self.rows.shape[1]} numbers, the intercept first, not "
                f"{shown(weights)}."
            )
        return np.asarray((found @ self.rows.T >= self.margin).all(axis=1))

    def plot(
        self,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the region of two weights, with the boundary of each row's half space; returns the Axes.

        Args:
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            InvalidArgument: there are more than two weights.
        """
        from pgm import plot

        if self.rows.shape[1] != 2:
            raise InvalidArgument(
                f"There are {self.rows.shape[1]} weights with the intercept: a picture has two."
            )
        return plot.solution_region(self, ax, figsize=figsize, title=title)

    def to_dict(self) -> dict[str, Any]:
        """Return whether it is empty, the shortest weights inside, and the certificate if there is one."""
        shortest, proof = self.shortest, self.certificate
        return {
            "separable": self.separable,
            "margin": self.margin,
            "shortest": None if shortest is None else dict(zip(self.columns, shortest.tolist(), strict=True)),
            "certificate": None if proof is None else proof.tolist(),
        }

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        of = "the classes" if self.name is None else f"{label(self.name)} from the others"
        shortest = self.shortest
        if shortest is None:
            used = int((self._duals > 0.0).sum())
            note = f"no hyperplane separates {of}: the hulls of {used:,} rows share a point"
            return ["column", "shortest"], [], note
        rows = [
            [label(n), f"{x:.6g}"]
            for n, x in zip(self.columns[:_ROWS], shortest[:_ROWS].tolist(), strict=True)
        ]
        note = f"a hyperplane separates {of}; margin {self.margin:g}, {len(self.rows):,} half spaces"
        return ["column", "shortest"], rows, note


class Separability(Tabular):
    """Which classes are linearly separable; see `separability`.

    `regions` has a `SolutionRegion` for each hyperplane, by its class, or by its pair of classes.
    """

    def __init__(self, regions: dict[Any, SolutionRegion]) -> None:
        """Store the results."""
        self.regions = regions

    @property
    def separable(self) -> bool:
        """Whether each of the hyperplanes exists."""
        return all(region.separable for region in self.regions.values())

    def to_dict(self) -> dict[str, Any]:
        """Return which hyperplanes exist."""
        return {
            "separable": self.separable,
            "regions": {name: region.separable for name, region in self.regions.items()},
        }

    def to_pandas(self) -> Any:
        """Return a Series: whether each hyperplane exists."""
        from pgm.results.base import pandas

        return pandas().Series(
            [region.separable for region in self.regions.values()],
            index=[_called(name) for name in self.regions],
            name="separable",
        )

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [_called(name), "yes" if region.separable else "no"]
            for name, region in list(self.regions.items())[:_ROWS]
        ]
        more = len(self.regions) - len(rows)
        found = sum(region.separable for region in self.regions.values())
        note = f"{found:,} of {len(self.regions):,} hyperplanes separate their classes"
        return ["class", "separable"], rows, note + (f"; {more:,} more" if more else "")


def _called(name: Any) -> str:
    return " or ".join(map(label, name)) if isinstance(name, tuple) else label(name)


@guarded
def separability(X: Any, y: Any, *, margin: float = 1.0, pairs: bool = False) -> Separability:
    """Decide whether classes are linearly separable: each from all others, or pairwise.

    It solves a linear program, so that the answer is a proof: separating weights, or a point in both convex
    hulls.

    Args:
        X: numeric rows: a data frame, or an array.
        y: the class of each row.
        margin: of the regions; whether they are empty does not depend on it.
        pairs: whether each pair of classes is to be separated, not each class from all others.

    Raises:
        InvalidArgument: there is one class only, or not one for each row; a margin that is not above 0.
        InvalidFrame: a value is missing or not a number.
        OutOfTime: the time limit is reached.

    >>> separability([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "b", "c"]).to_dict()["regions"]
    {'a': True, 'b': False, 'c': True}
    """
    margin, clock = positive("margin", margin), start_clock()
    rows, about = Rows()._begin(X)
    classes, codes = classes_of(labels_of(y, len(rows)))
    at_least_two(classes)
    names = ["1", *map(str, about.get("feature_names_in_", [f"x{i}" for i in range(rows.shape[1])]))]
    known = classes.tolist()
    regions: dict[Any, SolutionRegion] = {}
    if pairs:
        for i in range(len(known)):
            for j in range(i + 1, len(known)):
                some = (codes == i) | (codes == j)
                signs = np.where(codes[some] == i, 1.0, -1.0)
                found = SolutionRegion(normalised_rows(rows[some], signs), margin, names, known[i], clock)
                regions[known[i], known[j]] = found
    else:
        for name, own in machines(known, codes):
            signs = np.where(own, 1.0, -1.0)
            regions[name] = SolutionRegion(normalised_rows(rows, signs), margin, names, name, clock)
    return Separability(regions)
