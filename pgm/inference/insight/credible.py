"""Credible intervals: the uncertainty of an answer due to parameters learned from few rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds.table_input import is_number
from pgm.errors import InvalidArgument, shown
from pgm.inference.asking.session import whole
from pgm.inference.insight.aims import Aim, Given, aim
from pgm.inference.insight.slopes import Parameters
from pgm.printing import Tabular, number
from pgm.randomness import generator
from pgm.results.base import Result, pandas, put
from pgm.results.report import Report
from pgm.runtime import progress
from pgm.runtime.clock import start_clock
from pgm.variables import State

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class CredibleAnswer(Result, Tabular):
    """A credible interval for P(state | given), given the posterior of the parameters.

    `interval` contains the answer with probability `level`, with equal tails; `mean` and `sd` are those of
    its posterior, `draws` the answers for tables drawn from theirs. `probability` is the answer with the
    parameters of the network. `nodes` are those whose tables were drawn.
    """

    __slots__ = ("aim", "draws", "interval", "level", "nodes", "report")
    report: Report
    aim: Aim
    draws: np.ndarray
    interval: tuple[float, float]
    level: float
    nodes: tuple[str, ...]

    def __init__(
        self, aim: Aim, draws: np.ndarray, level: float, nodes: tuple[str, ...], report: Report
    ) -> None:
        """Take the answers that were drawn."""
        put(self, "aim", aim)
        draws = np.array(draws)
        draws.setflags(write=False)
        put(self, "draws", draws)
        low, high = np.quantile(draws, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        put(self, "interval", (float(low), float(high)))
        put(self, "level", level)
        put(self, "nodes", nodes)
        put(self, "report", report)

    def _parts(self) -> tuple[object, ...]:
        return self.aim, self.draws, self.level, self.nodes, self.report

    @property
    def probability(self) -> float:
        """The answer with the parameters of the network."""
        return self.aim.probability

    @property
    def mean(self) -> float:
        """The posterior mean of the answer."""
        return float(self.draws.mean())

    @property
    def sd(self) -> float:
        """The posterior standard deviation of the answer."""
        return float(self.draws.std(ddof=1))

    def to_dict(self) -> dict[str, float]:
        """The values by name."""
        low, high = self.interval
        return {"probability": self.probability, "mean": self.mean, "sd": self.sd, "low": low, "high": high}

    def to_pandas(self) -> pd.DataFrame:
        """A frame with one row."""
        frame: pd.DataFrame = pandas().DataFrame([self.to_dict()])
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the posterior distribution of the answer, with the interval; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        return plot.belief(self.draws, self.interval, self.aim.title, ax, figsize=figsize, title=title)

    def _heading(self) -> str:
        return f"{self.aim.title} = {number(self.probability)}"

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        low, high = self.interval
        row = [number(self.mean), number(self.sd), f"{number(low)} to {number(high)}"]
        return ["mean", "sd", f"with probability {self.level:g}"], [row], self.report.summary


def credible(
    model: Any, target: object, given: Given, state: State | None, level: Any, draws: object, seed: Any
) -> CredibleAnswer:
    """See `BayesianNetwork.credible_interval`."""
    if not is_number(level) or not 0.0 < float(level) < 1.0:
        raise InvalidArgument(f"level= is a probability between 0 and 1, not {shown(level)}.")
    count = whole(draws, "draws=", 2)
    rng, clock = generator(seed), start_clock()
    asked = aim(model, target, given, state)
    others = model._own_parameters()
    parameters = Parameters(model, model._compile_in(clock), others, zeros=False, clock=clock)
    nodes = tuple(node.name for node in parameters.layout(parameters.counts(asked.given, asked.name)).nodes)
    learned = model._learned
    rules = {} if learned is None else learned.rules
    uncertain = tuple([name for name in nodes if name not in rules or rules[name].fixed is not True])
    first = {} if learned is None else {name: group[0] for group in learned.groups for name in group}
    beliefs = {name: model.posterior(name) for name in uncertain}  # raises where there is none
    shared = {first.get(name, name): belief for name, belief in beliefs.items()}  # tied tables are drawn once
    drawn = {owner: belief.sample(count, seed=rng) for owner, belief in shared.items()}
    trial = model.copy()
    found = np.empty(count)
    for k in range(count):
        clock.check("drawing tables")
        progress.report(k, count, "drawing tables")
        for name in uncertain:
            trial.set(name, drawn[first.get(name, name)][k])
        found[k] = trial.query(asked.name, asked.given)[asked.state]
    progress.report(count, count, "drawing tables")
    error = float(found.std(ddof=1)) / np.sqrt(count)
    report = Report(
        "posterior draws",
        exact=False,
        error=error,
        advice=f"each of {len(uncertain):,} tables drawn {count:,} times from its posterior",
        given=asked.answer.report.given,
    )
    return CredibleAnswer(asked, found, float(level), uncertain, report)
