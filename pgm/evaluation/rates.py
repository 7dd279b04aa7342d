"""The rates of a decision rule: errors, rejects, detections, and their costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.printing import Tabular, label
from pgm.results.base import Frozen, put
from pgm.variables import Variable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Decided:
    """The decision in one region: an interval of the continuous observation, or observed states."""

    seen: tuple[Any, ...]  # the states
    low: float  # of the continuous observation; infinite at the ends, and if there is none
    high: float
    named: Any  # None: rejected


@dataclass(frozen=True)
class Curves:
    """P(class) times the density of each class, at values of the continuous observation."""

    name: str
    x: np.ndarray
    joint: np.ndarray  # a row for each class


class DecisionRates(Frozen, Tabular):
    """The rates of a decision rule; made by `decision_rates`.

    `.error`, `.rejected` and `.correct` sum to one; `.bayes_error` is the error of the best rule that always
    names a class. `.joint` is P(true class, action), a column for each of `.actions` (None: reject);
    `.rate(true, named)` is P(named | true), such as a detection or false alarm rate. `.where` lists the
    decision regions. `.standard_error`, of the error, is 0 unless cases were sampled (`.samples`).
    """

    __slots__ = (
        *("actions", "bayes_error", "classes", "curves", "joint", "risk"),
        *("samples", "standard_error", "where"),
    )
    classes: tuple[Any, ...]
    actions: tuple[Any, ...]
    joint: np.ndarray
    bayes_error: float
    risk: float  # the expected loss
    where: tuple[Decided, ...]
    curves: Curves | None
    standard_error: float
    samples: int  # number of sampled cases; 0: exact

    def __init__(self, **parts: Any) -> None:
        """Store the results."""
        for name in self.__slots__:
            put(self, name, parts[name])
        self.joint.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, ({name: getattr(self, name) for name in self.__slots__},)

    @property
    def prior(self) -> np.ndarray:
        """P(class)."""
        return np.asarray(self.joint.sum(axis=1))

    @property
    def correct(self) -> float:
        """The probability of a correct decision."""
        return float(np.trace(self.joint))

    @property
    def rejected(self) -> float:
        """The probability of a reject."""
        return float(self.joint[:, len(self.classes) :].sum())

    @property
    def error(self) -> float:
        """The probability of an error."""
        k = len(self.classes)
        return float(self.joint[:, :k][~np.eye(k, dtype=bool)].sum())

    @property
    def exact(self) -> bool:
        """Whether no sampling was involved."""
        return self.samples == 0

    def rate(self, true: Any, named: Any) -> float:
        """P(named | true class): a detection, false alarm or miss rate.

        Args:
            true: the true class.
            named: the class that is named; None: rejected.

        Raises:
            UnknownState: there is no such class.

        >>> import pgm
        >>> alarm = {"N": pgm.Gaussian(0.0, sd=1.0), "A": pgm.Gaussian(2.0, sd=1.0)}
        >>> found = pgm.evaluation.decision_rates(alarm, prior=[0.5, 0.5], rule=["N", 1.5, "A"])
        >>> round(found.rate("N", "A"), 6), round(found.rate("A", "A"), 6)
        (0.066807, 0.691462)
        """
        variable = Variable("class", list(self.classes))
        row = self.joint[variable.code(true)]
        if named is None and None not in self.classes:
            part = row[len(self.classes) :].sum()
        else:
            part = row[variable.code(named)]
        return float(part / row.sum()) if row.sum() > 0.0 else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """The probabilities, and P(named | true) of each pair.

        >>> import pgm
        >>> alarm = {"N": pgm.Gaussian(0.0, sd=1.0), "A": pgm.Gaussian(2.0, sd=1.0)}
        >>> round(pgm.evaluation.decision_rates(alarm, prior=[0.5, 0.5]).to_dict()["error"], 6)
        0.158655
        """
        pairs = {(true, named): self.rate(true, named) for true in self.classes for named in self.actions}
        names = ("error", "rejected", "correct", "bayes_error", "risk", "standard_error")
        return {**{name: getattr(self, name) for name in names}, "rates": pairs}

    def to_pandas(self) -> Any:
        """A DataFrame of P(named | true): a row for each true class, a column for each action."""
        from pgm.results.base import pandas

        table = [[self.rate(true, named) for named in self.actions] for true in self.classes]
        index = pandas().Index(list(self.classes), name="true")
        return pandas().DataFrame(table, index=index, columns=[*map(_said, self.actions)])

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Return a plot: densities with decisions and errors, or P(named | true).

        Args:
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            InvalidArgument: `ax=` is not an Axes.
        """
        from pgm import plot

        return plot.decision_rates(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for true, p in zip(self.classes, self.prior.tolist(), strict=True):
            rates = [f"{self.rate(true, named):.6g}" for named in self.actions]
            rows.append([label(true), f"{p:.6g}", *rates])
        header = ["true class", "P(class)", *(f"names {_said(action)}" for action in self.actions)]
        drawn = "" if self.exact else f" ± {self.standard_error:.2g} (standard error)"
        rejected = f", rejected {self.rejected:.10g}" if len(self.actions) > len(self.classes) else ""
        notes = [f"error {self.error:.10g}{drawn}{rejected}; Bayes error {self.bayes_error:.10g}"]
        if abs(self.risk - self.error) > 1e-12:
            notes.append(f"expected loss {self.risk:.10g}")
        for one in self.where[:12]:
            ends = [f"from {one.low:.10g}"] if np.isfinite(one.low) else []
            ends += [f"below {one.high:.10g}"] if np.isfinite(one.high) else []
            seen = [f"where it sees {', '.join(map(label, one.seen))}"] if one.seen else []
            notes.append(f"{_said(one.named)} {' '.join([*seen, *ends]) or 'always'}")
        if len(self.where) > 12:
            notes.append(f"... {len(self.where) - 12:,} more")
        return header, rows, "\n".join(notes)


def _said(action: Any) -> str:
    return "none" if action is None else label(action)


def _again(parts: dict[str, Any]) -> DecisionRates:
    return DecisionRates(**parts)
