"""How a fit went: its log-likelihoods, why it stopped, and the information criteria that follow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pgm.calls import guard_methods
from pgm.printing import html_facts, text_facts
from pgm.results.base import Frozen, pandas

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_SHOWN = 3  # rows without data in print


class FitReport(Frozen):
    """How a fit went; `log_likelihoods` begins with that of the start and has one more for each iteration.

    `stopped_by` says what ended it: "tol", "max_iter", "time limit", or "rounding" if `tol` is not met but
    double precision allows no further gain. Of several starts the best is reported; `starts` has the
    log-likelihoods of all.

    >>> FitReport((-10.0, -8.0), "tol", n_parameters=3, n_rows=20)
    log-likelihood  -8
    iterations      1
    converged       yes
    parameters      3
    AIC, BIC        22, 24.9872
    """

    log_likelihoods: tuple[float, ...]
    stopped_by: str
    n_parameters: int | None
    n_rows: int | None  # observations, for BIC
    starts: tuple[tuple[float, ...], ...]
    kept: tuple[Any, ...]  # states that were never visited, which keep their parameters
    unseen: tuple[tuple[str, dict[str, Any]], ...]  # rows without data: (node, {parent: state})
    engine: str  # which approximated the log-likelihoods; none: they are exact

    def __init__(
        self,
        log_likelihoods: tuple[float, ...],
        stopped_by: str,
        n_parameters: int | None = None,
        n_rows: int | None = None,
        starts: tuple[tuple[float, ...], ...] = (),
        kept: tuple[Any, ...] = (),
        unseen: tuple[tuple[str, dict[str, Any]], ...] = (),
        engine: str = "",
    ) -> None:
        """Store what was recorded."""
        self.__dict__.update(
            log_likelihoods=log_likelihoods,
            stopped_by=stopped_by,
            n_parameters=n_parameters,
            n_rows=n_rows,
            starts=starts,
            kept=kept,
            unseen=unseen,
            engine=engine,
        )

    def changed(self, **changes: Any) -> FitReport:
        """A copy with these fields changed."""
        return FitReport(**{**self.__dict__, **changes})

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood of the fitted parameters."""
        return self.log_likelihoods[-1]

    @property
    def iterations(self) -> int:
        """The number of parameter updates."""
        return len(self.log_likelihoods) - 1

    @property
    def converged(self) -> bool:
        """Whether it stopped because an iteration gained no more than `tol`."""
        return self.stopped_by == "tol"

    @property
    def exact(self) -> bool:
        """Whether the log-likelihoods are exact, up to rounding."""
        return not self.engine

    @property
    def aic(self) -> float:
        """Akaike's criterion, smaller is better: 2 (parameters - log-likelihood)."""
        return 2.0 * ((self.n_parameters or 0) - self.log_likelihood)

    @property
    def bic(self) -> float:
        """Schwarz's criterion, smaller is better: parameters times log(rows), less 2 log-likelihood."""
        return (self.n_parameters or 0) * math.log(self.n_rows or 1) - 2.0 * self.log_likelihood

    def to_dict(self) -> dict[str, Any]:
        """The log-likelihoods, the criteria and how the fit ended, as plain Python objects."""
        names = ("log_likelihood", "iterations", "converged", "stopped_by", "n_parameters", "aic", "bic")
        return {name: getattr(self, name) for name in names} | {"log_likelihoods": list(self.log_likelihoods)}

    def to_pandas(self) -> Any:
        """A data frame with the log-likelihood after each iteration, a column for each of several starts."""
        courses = self.starts if len(self.starts) > 1 else (self.log_likelihoods,)
        names = [f"start {i}" for i in range(len(courses))] if len(courses) > 1 else ["log_likelihood"]
        frame = pandas()
        found = frame.DataFrame({name: frame.Series(logs) for name, logs in zip(names, courses, strict=True)})
        return found.rename_axis("iteration")

    def __eq__(self, other: object) -> bool:
        """Equal when all that was recorded is."""
        return self.__dict__ == other.__dict__ if isinstance(other, FitReport) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        """Pickle everything."""
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore it."""
        self.__dict__.update(state)

    def _lines(self) -> list[tuple[str, str]]:
        stopped = "yes" if self.converged else f"no, stopped by {self.stopped_by}"
        lines = [("exact", f"no: approximated by {self.engine}")] if self.engine else []
        lines += [
            ("log-likelihood", f"{self.log_likelihood:.6g}"),
            ("iterations", f"{self.iterations:,}"),
            ("converged", stopped),
        ]
        if self.n_parameters is not None:
            lines += [
                ("parameters", f"{self.n_parameters:,}"),
                ("AIC, BIC", f"{self.aic:.6g}, {self.bic:.6g}"),
            ]
        if len(self.starts) > 1:
            ends = ", ".join(f"{logs[-1]:.6g}" for logs in self.starts)
            lines.append(("starts", f"{len(self.starts)}, which ended at {ends}"))
        if self.kept:
            lines.append(("never visited", ", ".join(map(str, self.kept))))
        if self.unseen:
            some = ", ".join(_row(*row) for row in self.unseen[:_SHOWN])
            more = f", and {len(self.unseen) - _SHOWN:,} more" if len(self.unseen) > _SHOWN else ""
            lines.append(("rows without data", f"{len(self.unseen):,}: {some}{more}"))
        return lines

    def __repr__(self) -> str:
        """A line for each thing that was recorded."""
        return text_facts(self._lines())

    def _repr_html_(self) -> str:
        return html_facts(self._lines())

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the log-likelihood over the iterations, a line for each start; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.fit(self, ax, figsize=figsize, title=title)


def _row(node: str, parents: dict[str, Any]) -> str:
    """A row of a table as text."""
    given = ", ".join(f"{name} = {state}" for name, state in parents.items())
    return f"{node} | {given}" if given else node


guard_methods([FitReport])
