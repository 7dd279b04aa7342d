"""Calibration: how often events of a predicted probability happen, and proper scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import InvalidArgument, InvalidFrame, shown
from pgm.models.classifiers.conventions import labels_of
from pgm.printing import Tabular, label
from pgm.results.base import Frozen, put

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Calibrated:
    """Calibration of one classifier: for each bin the mean prediction `said`, the observed frequency `share`.

    `low` and `high` are its 95 % Clopper-Pearson interval, `count` is the number of rows in the bin. `brier`
    and `log_loss` are means over all rows.
    """

    said: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    count: np.ndarray
    brier: float
    log_loss: float

    @property
    def gap(self) -> float:
        """The expected calibration error: the mean gap over bins, weighted by their rows."""
        return float(self.count @ np.abs(self.said - self.share) / self.count.sum())


class Calibrations(Frozen, Tabular, Mapping[str, Calibrated]):
    """The calibration of one classifier or several; made by `calibration`."""

    __slots__ = ("_each",)
    _each: dict[str, Calibrated]

    def __init__(self, each: Mapping[str, Calibrated]) -> None:
        put(self, "_each", dict(each))

    def __reduce__(self) -> tuple[Any, ...]:
        return Calibrations, (self._each,)

    def __getitem__(self, name: str) -> Calibrated:
        """One of the classifiers; the only one is called "" if it has no name."""
        return self._each[name]

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._each)

    def __len__(self) -> int:
        """How many classifiers there are."""
        return len(self._each)

    def to_dict(self) -> dict[str, Any]:
        """A list for each column of the table.

        >>> calibration([0, 1], [0.25, 0.75], bins=2).to_dict()["share"]
        [0.0, 1.0]
        """
        found: dict[str, list[Any]] = {"name": [], "said": [], "share": [], "low": [], "high": [], "rows": []}
        for name, one in self._each.items():
            found["name"] += [name] * len(one.said)
            for column, values in (
                ("said", one.said),
                ("share", one.share),
                ("low", one.low),
                ("high", one.high),
                ("rows", one.count),
            ):
                found[column] += values.tolist()
        return found

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each bin."""
        from pgm.results.base import pandas

        return pandas().DataFrame(self.to_dict())

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Return a calibration curve: observed frequency over predicted probability, with intervals.

        Args:
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            InvalidArgument: `ax=` is not an Axes.
        """
        from pgm import plot

        return plot.calibration(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for name, one in self._each.items():
            columns = (one.said, one.share, one.low, one.high, one.count)
            for said, share, low, high, n in zip(*(c.tolist() for c in columns), strict=True):
                rows.append(
                    [label(name), f"{said:.4f}", f"{share:.4f}", f"{low:.4f} to {high:.4f}", f"{n:,}"]
                )
        notes = [
            f"{label(name) + ': ' if name else ''}Brier {one.brier:.6g}, log loss {one.log_loss:.6g}, "
            f"mean gap {one.gap:.4g}"
            for name, one in self._each.items()
        ]
        header = ["classifier", "predicted", "observed", "95 %", "rows"]
        if list(self._each) == [""]:
            header, rows = header[1:], [row[1:] for row in rows]
        return header, rows, "\n".join(notes)


@guarded
def calibration(
    y: Any, p: Any, *, positive: Any = None, bins: int = 10, equal: str = "width"
) -> Calibrations:
    """Return how often the positive class occurs among rows with each predicted probability.

    Args:
        y: the true class of each row, of two.
        p: P(positive) of each row; or {name: probabilities} of several classifiers.
        positive: the positive class; by default the second in order.
        bins: the number of intervals of probability.
        equal: "width": the bins have equal width; "rows": they have equally many rows.

    Raises:
        InvalidArgument: not two classes; values that are not probabilities; an option out of range.
        InvalidFrame: a probability that is missing.

    >>> calibration([0, 0, 1, 1, 0, 1], [0.1, 0.3, 0.35, 0.8, 0.9, 0.9], bins=2)
    predicted  observed  95 %              rows
    0.2500     0.3333    0.0084 to 0.9057  3
    0.8667     0.6667    0.0943 to 0.9916  3
    Brier 0.230417, log loss 0.690491, mean gap 0.1417
    """
    if isinstance(bins, bool) or not isinstance(bins, int) or not 1 <= bins <= 1000:
        raise InvalidArgument(f"bins= is a whole number from 1 to 1,000, not {shown(bins)}.")
    if equal not in ("width", "rows"):
        raise InvalidArgument(f'equal= is "width" or "rows", not {shown(equal)}.')
    each = p if isinstance(p, Mapping) else {"": p}
    if not each:
        raise InvalidArgument("p= has no classifier.")
    return Calibrations({str(name): _calibrated(y, one, positive, bins, equal) for name, one in each.items()})


def _calibrated(y: Any, p: Any, positive: Any, bins: int, equal: str) -> Calibrated:
    from scipy.stats import beta

    try:
        said = np.array(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidArgument(f"A probability for each row is needed, not {shown(p)}.") from None
    if said.ndim != 1 or not len(said):
        raise InvalidArgument(
            f"One probability for each row is needed, not the shape {said.shape}: of predict_proba take the "
            "column of the positive class."
        )
    if np.isnan(said).any():
        raise InvalidFrame(f"Row {int(np.isnan(said).argmax()):,} (the first is 0) has no probability (NaN).")
    if (said < 0.0).any() or (said > 1.0).any():
        odd = said[(said < 0.0) | (said > 1.0)].tolist()[0]
        raise InvalidArgument(f"There is a value that is not a probability: {shown(odd)}.")
    labels = labels_of(y, len(said))
    classes = np.unique(labels).tolist()
    if positive is None:
        if len(classes) != 2:
            raise InvalidArgument(f"Two classes are needed, and y has {len(classes)}: set positive=.")
        positive = classes[1]
    if positive not in classes:
        raise InvalidArgument(f"positive={shown(positive)} is not a class of y, which has {shown(classes)}.")
    true = np.asarray(labels == positive)
    inner = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    edges = inner if equal == "width" else np.unique(np.quantile(said, inner))
    which = np.searchsorted(edges, said)
    count = np.bincount(which, minlength=len(edges) + 1)
    there = count > 0
    n = count[there]
    hits = np.bincount(which, true, len(count))[there]
    with np.errstate(invalid="ignore"):
        low = np.where(hits > 0, beta.ppf(0.025, hits, n - hits + 1), 0.0)
        high = np.where(hits < n, beta.ppf(0.975, hits + 1, n - hits), 1.0)
    with np.errstate(divide="ignore"):
        lost = -np.log(np.where(true, said, 1.0 - said))
    return Calibrated(
        said=np.bincount(which, said, len(count))[there] / n,
        share=hits / n,
        low=low,
        high=high,
        count=n,
        brier=float(((said - true) ** 2).mean()),
        log_loss=float(lost.mean()),
    )
