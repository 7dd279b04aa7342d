"""Choosing the number of components, by a criterion or on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.calls import guarded
from pgm.distributions import Emission
from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.frames import weights_of
from pgm.learning import Collapsed
from pgm.models.selection import Selection
from pgm.randomness import generator
from pgm.runtime.clock import in_one_time
from pgm.runtime.progress import report as report_progress

from .mixture import Mixture

_SCORES = ("bic", "aic", "validation")


@dataclass(frozen=True)
class Candidate:
    """A mixture with a given number of components, and its score."""

    n_components: int
    model: Mixture
    log_likelihood: float
    aic: float
    bic: float
    validation: float | None  # log P of held-out rows


class ComponentSelection(Selection[Candidate]):
    """Mixtures with different numbers of components; `model` is the best by `score`.

    `collapsed` lists numbers of components for which every start collapsed to a point: they are excluded.

    >>> import pgm
    >>> rows = [0.0, 0.4, 1.0, 0.3, 8.0, 8.3, 9.0, 8.6]
    >>> found = select_components(rows, emission=pgm.Gaussian(form="tied"), n_components=[1, 2], seed=0)
    >>> found.n_components, [one.n_components for one in found.candidates]
    (2, [1, 2])
    """

    size, word, rows = "n_components", "components", "rows"
    collapsed: tuple[int, ...] = ()

    @property
    def model(self) -> Mixture:
        """The best mixture."""
        return self.best.model

    @property
    def n_components(self) -> int:
        """How many components the best mixture has."""
        return self.best.n_components

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        header, rows, notes = super()._table()
        if self.collapsed:
            notes += f"; collapsed in every start: {listed(self.collapsed)}"
        return header, rows, notes


@guarded
@in_one_time
def select_components(
    data: Any,
    *,
    emission: Any,
    n_components: Any = range(1, 8),
    score: str = "bic",
    validation: Any = None,
    folds: int | None = None,
    columns: Any = None,
    weights: Any = None,
    prior: Any = None,
    starts: int = 5,
    max_iter: int = 100,
    tol: float = 1e-6,
    seed: int | np.random.Generator | None = None,
) -> ComponentSelection:
    """Fit mixtures of several sizes, and choose the number of components.

    Args:
        data: rows, as for `Mixture.fit`.
        emission: what the components emit, its parameters yet to be learned: `pgm.Gaussian(dim=2)`, ...
        n_components: the numbers of components to try.
        score: "bic" or "aic", the smallest; or "validation", the largest likelihood of rows held out.
        validation: the held-out rows; or
        folds: the number of folds for cross-validation.
        columns: the names of the columns, as for `Mixture`.
        weights: the weight of each row.
        prior: as for `Mixture.fit`.
        starts: the number of starts of each mixture; the best is kept.
        max_iter: the maximum number of EM steps.
        tol: as for `Mixture.fit`.
        seed: seed of the random guesses and folds.

    Raises:
        InvalidArgument: an option is out of range, or conflicts with another; a value cannot be observed;
            with every number of components one collapses.

    >>> import pgm
    >>> rows = [0.0, 0.4, 1.0, 0.3, 8.0, 8.3, 9.0, 8.6]
    >>> select_components(rows, emission=pgm.Gaussian(form="tied"), n_components=[1, 2], seed=0).n_components
    2
    """
    if not isinstance(score, str) or score not in _SCORES:
        raise InvalidArgument(
            f"score= is one of {listed(_SCORES)}, not {shown(score)}.{nearest(score, _SCORES)}"
        )
    if not isinstance(emission, Emission) or emission.n_states is not None:
        raise InvalidArgument(
            f"emission= is a distribution without parameters, such as pgm.Gaussian(dim=2), not "
            f"{shown(emission)}."
        )
    sizes = _sizes(n_components)
    if (score == "validation") != (validation is not None or folds is not None):
        raise InvalidArgument(
            'score="validation" needs validation= or folds=, the rows that are held out; other scores need '
            "none."
        )
    if folds is not None and validation is not None:
        raise InvalidArgument("Rows are held out by validation= or by folds=: give one of the two.")
    random = generator(seed)
    read = Mixture(n_components=1, emission=emission, columns=columns)._rows(data)
    heavy = weights_of(weights, read.n_rows)
    if folds is not None and (
        isinstance(folds, bool) or not isinstance(folds, int) or not 2 <= folds <= read.n_rows
    ):
        raise InvalidArgument(
            f"folds= is a whole number from 2 to {read.n_rows}, the rows, not {shown(folds)}."
        )
    part = random.permutation(read.n_rows) % (folds or 1)

    def fitted(size: int, counts: np.ndarray) -> Mixture:
        made = Mixture(n_components=size, emission=emission, columns=columns)
        return made.fit(
            data, weights=counts, prior=prior, starts=starts, max_iter=max_iter, tol=tol,
            seed=random.spawn(1)[0],
        )  # fmt: skip

    def candidate(size: int) -> Candidate:
        model = fitted(size, heavy)
        report = model.fit_report
        assert report is not None
        found = None if validation is None else float(model.score(validation))
        if folds is not None:
            found = 0.0
            for fold in range(folds):
                other = fitted(size, np.where(part == fold, 0.0, heavy))
                logs = other.log_likelihood(data)
                found += float(np.where(part == fold, heavy, 0.0) @ logs)
        return Candidate(size, model, report.log_likelihood, report.aic, report.bic, found)

    made, failed = [], []
    error: Collapsed | None = None
    for i, size in enumerate(sizes):
        report_progress(i, len(sizes), "choosing the number of components")
        try:
            made.append(candidate(size))
        except Collapsed as collapse:
            error = collapse
            failed.append(size)
    report_progress(len(sizes), len(sizes), "choosing the number of components")
    if not made:
        assert error is not None
        raise error
    found = ComponentSelection(made, score)
    found.collapsed = tuple(failed)
    return found


def _sizes(n_components: Any) -> list[int]:
    try:
        found = sorted(set(n_components))
    except TypeError:
        found = [None]
    if not found or not all(isinstance(n, int | np.integer) and n >= 1 for n in found):
        raise InvalidArgument(
            f"n_components= is a range or a list of whole numbers, 1 at least, not {shown(n_components)}."
        )
    return [int(n) for n in found]
