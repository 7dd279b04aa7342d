"""ROC curves, from scores with true classes or from known densities, one or several in one plot."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import InvalidArgument, InvalidFrame, shown
from pgm.models.classifiers.conventions import labels_of
from pgm.printing import Tabular, label
from pgm.results.base import Frozen, put
from pgm.runtime.clock import start_clock
from pgm.runtime.running import unstoppable

from .pieces import density_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PLACES = 2001  # points of a curve from densities


class ROC(Frozen, Tabular):
    """The false and true positive rates at each threshold; made by `roc`.

    `.false_positive`, `.true_positive` and `.thresholds` are arrays, from the highest threshold, infinity,
    on; a case is positive if its score is at least the threshold. `.auc` is the area under the curve: the
    probability that a positive case scores higher than a negative one, with ties counting half.
    """

    __slots__ = ("auc", "false_positive", "name", "thresholds", "true_positive")
    name: str
    false_positive: np.ndarray
    true_positive: np.ndarray
    thresholds: np.ndarray
    auc: float

    def __init__(self, name: str, false: np.ndarray, true: np.ndarray, at: np.ndarray, auc: float) -> None:
        put(self, "name", name)
        put(self, "auc", auc)
        for what, values in (("false_positive", false), ("true_positive", true), ("thresholds", at)):
            values.flags.writeable = False
            put(self, what, values)

    def __reduce__(self) -> tuple[Any, ...]:
        return ROC, (self.name, self.false_positive, self.true_positive, self.thresholds, self.auc)

    def __len__(self) -> int:
        """The number of points."""
        return len(self.thresholds)

    def at(self, threshold: float) -> tuple[float, float]:
        """The false and true positive rates at a threshold.

        Args:
            threshold: scores of at least this are positive.

        Raises:
            Nothing.

        >>> roc([0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6]).at(3)
        (0.3333333333333333, 1.0)
        """
        place = int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1
        return float(self.false_positive[place]), float(self.true_positive[place])

    def to_dict(self) -> dict[str, Any]:
        """A list for each column, and the area.

        >>> roc([0, 1], [1.0, 2.0]).to_dict()["auc"]
        1.0
        """
        return {
            "threshold": self.thresholds.tolist(),
            "false positive": self.false_positive.tolist(),
            "true positive": self.true_positive.tolist(),
            "auc": self.auc,
        }

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each threshold."""
        from pgm.results.base import pandas

        found = self.to_dict()
        del found["auc"]
        return pandas().DataFrame(found)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Return a plot of the curve, added to those that `ax` has.

        Args:
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            InvalidArgument: `ax=` is not an Axes.
        """
        from pgm import plot

        return plot.roc_curves([self], ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        n = len(self)
        shows = np.unique(np.linspace(0, n - 1, min(n, 12)).astype(np.int64)).tolist()
        rows = [
            [f"{self.thresholds[i]:.6g}", f"{self.false_positive[i]:.6g}", f"{self.true_positive[i]:.6g}"]
            for i in shows
        ]
        more = f"{len(shows)} of {n:,} thresholds; " if len(shows) < n else ""
        return ["threshold", "false positive", "true positive"], rows, f"{more}area {self.auc:.10g}"


class ROCs(Frozen, Tabular, Mapping[str, ROC]):
    """The ROC curves of several classifiers, by name; made by `roc`."""

    __slots__ = ("_curves",)
    _curves: dict[str, ROC]

    def __init__(self, curves: Mapping[str, ROC]) -> None:
        put(self, "_curves", dict(curves))

    def __reduce__(self) -> tuple[Any, ...]:
        return ROCs, (self._curves,)

    def __getitem__(self, name: str) -> ROC:
        """One of the curves."""
        return self._curves[name]

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._curves)

    def __len__(self) -> int:
        """The number of curves."""
        return len(self._curves)

    def to_dict(self) -> dict[str, Any]:
        """Each curve as lists, by name.

        >>> list(roc([0, 1], {"a": [1.0, 2.0], "b": [2.0, 1.0]}).to_dict())
        ['a', 'b']
        """
        return {name: one.to_dict() for name, one in self._curves.items()}

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each threshold of each curve."""
        from pgm.results.base import pandas

        each = {name: one.to_pandas() for name, one in self._curves.items()}
        return pandas().concat(each, names=["curve", "point"]).reset_index(level=0)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Return a plot of all curves.

        Args:
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            InvalidArgument: `ax=` is not an Axes.
        """
        from pgm import plot

        return plot.roc_curves(list(self._curves.values()), ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[label(name), f"{len(one):,}", f"{one.auc:.10g}"] for name, one in self._curves.items()]
        return ["curve", "points", "area"], rows, ""


@guarded
def roc(y: Any, score: Any = None, *, positive: Any = None, sample_weight: Any = None) -> Any:
    """The ROC curve of a score, of several, or of two densities.

    Args:
        y: the true class of each row; or {class: density}, the densities of the score in two classes, of
            pgm or frozen scipy distributions, of which the second is the positive one.
        score: a score for each row, larger if positive is more probable; or {name: scores} of several
            classifiers.
        positive: the positive class; by default the second in order. With more than two classes in `y` it
            is needed, and all others are negative (one-vs-rest).
        sample_weight: the weight of each row; by default 1.

    Raises:
        InvalidArgument: one class, or several and no `positive=`; not as many scores as rows; no weight.
        InvalidFrame: a score that is missing.

    >>> roc([0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6]).auc
    0.888888888888889
    """
    if isinstance(y, Mapping):
        if score is not None or sample_weight is not None:
            raise InvalidArgument("Densities take no scores or weights: they give the whole curve.")
        return _of_densities(y, positive)
    if score is None:
        raise InvalidArgument("score= has a number for each row, or {name: numbers} of several classifiers.")
    if isinstance(score, Mapping):
        if not score:
            raise InvalidArgument("score= has no curve.")
        return ROCs({str(n): _of_scores(str(n), y, one, positive, sample_weight) for n, one in score.items()})
    return _of_scores("", y, score, positive, sample_weight)


def _of_scores(name: str, y: Any, score: Any, positive: Any, weights: Any) -> ROC:
    from sklearn.metrics import roc_curve

    try:
        values = np.array(score, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidArgument(f"A score is a number for each row, not {shown(score)}.") from None
    if values.ndim != 1 or not len(values):
        raise InvalidArgument(
            f"A score is one number for each row, not the shape {values.shape}: of predict_proba take the "
            "column of the positive class."
        )
    if np.isnan(values).any():
        row = int(np.isnan(values).argmax())
        raise InvalidFrame(f"Row {row:,} (the first is 0) has no score (NaN).")
    labels = labels_of(y, len(values))
    classes = np.unique(labels).tolist()
    if len(classes) != 2 and (len(classes) < 2 or positive is None):
        more = ": say with positive= which class is set against all others" if len(classes) > 2 else ""
        raise InvalidArgument(
            f"A ROC curve needs two classes, and y has {len(classes)}, {shown(classes)}{more}."
        )
    if positive is None:
        positive = classes[1]
    if positive not in classes:
        raise InvalidArgument(f"positive={shown(positive)} is not a class of y, which has {shown(classes)}.")
    if weights is not None:
        from pgm.frames import weights_of

        weights = weights_of(weights, len(values))
        for what, rows in (("class", labels == positive), ("classes other than", labels != positive)):
            if not weights[rows].any():
                raise InvalidArgument(f"The rows of the {what} {shown(positive)} have no weight.")
    ask = partial(roc_curve, labels == positive, values, sample_weight=weights, drop_intermediate=False)
    false, true, at = unstoppable(ask, start_clock(), "a ROC curve")
    return ROC(name, false, true, at, float(np.trapezoid(true, false)))


def _of_densities(densities: Mapping[Any, Any], positive: Any) -> ROC:
    if len(densities) != 2:
        raise InvalidArgument(
            f"A ROC curve needs two densities, not {len(densities)}: for one class against the rest, pass "
            "the mixture of the others, weighted by their probabilities."
        )
    names = list(densities)
    if positive is None:
        positive = names[1]
    if positive not in names:
        raise InvalidArgument(f"positive={shown(positive)} is not one of the classes, {shown(names)}.")
    negative = names[1 - names.index(positive)]
    quiet, alarm = density_of(negative, densities[negative]), density_of(positive, densities[positive])
    ends = []
    for one in (quiet, alarm):
        quantile = one.ppf if hasattr(one, "ppf") else one.quantile
        ends.append([float(quantile(q)) for q in (1e-12, 1.0 - 1e-12)])
    at = np.linspace(max(e[1] for e in ends), min(e[0] for e in ends), _PLACES)
    at = np.concatenate([[np.inf], at, [-np.inf]])
    false, true = (
        np.concatenate([[0.0], 1.0 - np.asarray(one.cdf(at[1:-1]), dtype=np.float64), [1.0]])
        for one in (quiet, alarm)
    )
    return ROC("", false, true, at, _area(quiet, alarm, at[1:-1][::-1]))


def _area(quiet: Any, alarm: Any, x: np.ndarray) -> float:
    """P(a positive score exceeds a negative one): the integral of F_quiet dF_alarm."""
    from scipy.integrate import fixed_quad

    def below(t: np.ndarray) -> np.ndarray:
        return np.asarray(np.asarray(quiet.cdf(t)) * np.asarray(alarm.pdf(t)))

    edges = [*x[:-1:40].tolist(), float(x[-1])]
    return math.fsum(float(fixed_quad(below, low, high, n=20)[0]) for low, high in pairwise(edges))
