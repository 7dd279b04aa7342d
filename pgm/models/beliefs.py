"""The posterior of a table's parameters after learning: a Dirichlet distribution for each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guard_methods
from pgm.cpds.table_input import BadRow, find_row
from pgm.distributions.dirichlet import Dirichlet
from pgm.errors import InvalidArgument, shown
from pgm.printing import html_table, label, text_table
from pgm.variables import Variable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = 30  # lines in print


class TableBelief(Mapping[Any, Dirichlet]):
    """Dirichlet distributions over the rows of a table, one for each configuration of the parents.

    `belief[key]` is that of a row, with keys as in `net.add`; of a root, `belief[()]`.

    >>> import pgm
    >>> net = pgm.BayesianNetwork(edges="rain -> wet")
    >>> rows = {"rain": [True, True, False], "wet": [True, False, False]}
    >>> belief = net.fit(rows, prior="laplace").posterior("wet")
    >>> belief
    P(wet | rain): mean, and interval with probability 0.95
    rain   wet    mean      from        to
    False  False  0.666667  0.158114    0.987421
    False  True   0.333333  0.0125791   0.841886
    True   False  0.5       0.0942993   0.905701
    True   True   0.5       0.0942993   0.905701
    >>> belief[True]
    Dirichlet([2, 2])
    """

    def __init__(self, child: Variable, given: tuple[Variable, ...], alpha: np.ndarray) -> None:
        """Take alpha of all rows, in the shape of the table."""
        self.child, self.given, self.rows = child, given, Dirichlet(alpha)

    @property
    def alpha(self) -> np.ndarray:
        """The parameters of the Dirichlet distributions, in the shape of the table."""
        return self.rows.alpha

    @property
    def mean(self) -> np.ndarray:
        """The expected probabilities, in the shape of the table."""
        return self.rows.mean

    @property
    def sd(self) -> np.ndarray:
        """The standard deviation of each entry."""
        return np.asarray(np.sqrt(self.rows.variance))

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the credible interval of each entry, with equal tails.

        Args:
            level: the probability inside.

        Raises:
            InvalidArgument: the level is not between 0 and 1.

        >>> import pgm
        >>> coin = pgm.BayesianNetwork(edges=[("coin", "other")])
        >>> coin = coin.fit({"coin": [True] * 8 + [False] * 2, "other": [True] * 10}, prior="laplace")
        >>> low, high = coin.posterior("coin").interval(0.9)
        >>> low.round(4).tolist(), high.round(4).tolist()
        ([0.0788, 0.5299], [0.4701, 0.9212])
        """
        return self.rows.interval(level)

    def __getitem__(self, key: Any) -> Dirichlet:
        if not self.given:
            if key != ():
                raise InvalidArgument(f"{self.child.name!r} has no parents: its one row is belief[()].")
            return Dirichlet(self.alpha)
        try:
            return Dirichlet(self.alpha[find_row(list(self.given), key)])
        except BadRow as bad:
            raise InvalidArgument(f"{self.child.name!r}, row {shown(key)}: {bad}") from None

    def __iter__(self) -> Iterator[Any]:
        for at in np.ndindex(*self.alpha.shape[:-1]):
            states = tuple(v.states[i] for v, i in zip(self.given, at, strict=True))
            yield states[0] if len(states) == 1 else states

    def __len__(self) -> int:
        return int(self.alpha.size // self.alpha.shape[-1])

    def sample(self, n: int, *, seed: Any = None) -> np.ndarray:
        """Draw whole tables.

        Args:
            n: how many.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: n or seed is not a whole number of at least 0.

        >>> import pgm
        >>> net = pgm.BayesianNetwork(edges="a -> b").fit({"a": [0, 1], "b": [0, 1]}, prior="laplace")
        >>> net.posterior("b").sample(3, seed=0).shape
        (3, 2, 2)
        """
        return self.rows.sample(n, seed=seed)

    def to_dict(self) -> dict[Any, list[float]]:
        """Return {row: alpha}."""
        return {key: self[key].alpha.tolist() for key in self}

    def to_pandas(self, level: float = 0.95) -> Any:
        """Return a DataFrame with a row for each entry: parents, child, mean, sd, from, to.

        Args:
            level: of the intervals.

        Raises:
            InvalidArgument: the level is not between 0 and 1.

        >>> import pgm
        >>> net = pgm.BayesianNetwork(edges="a -> b").fit({"a": [0, 1], "b": [0, 1]}, prior="laplace")
        >>> net.posterior("a").to_pandas()["mean"].tolist()
        [0.5, 0.5]
        """
        import pandas as pd

        columns: dict[str, list[Any]] = {v.name: [] for v in (*self.given, self.child)}
        for states in np.ndindex(*self.alpha.shape):
            for v, i in zip((*self.given, self.child), states, strict=True):
                columns[v.name].append(v.states[i])
        low, high = self.interval(level)
        parts = {"mean": self.mean, "sd": self.sd, "from": low, "to": high}
        return pd.DataFrame({**columns, **{name: values.ravel() for name, values in parts.items()}})

    def _lines(self) -> tuple[list[str], list[list[str]], str, str]:
        low, high = self.interval()
        rows = []
        for at in islice(np.ndindex(*self.alpha.shape), _SHOWN):
            states = [label(v.states[i]) for v, i in zip((*self.given, self.child), at, strict=True)]
            rows.append([*states, *(f"{x[at]:.6g}" for x in (self.mean, low, high))])
        more = self.alpha.size - len(rows)
        names = [v.name for v in self.given]
        title = f"P({self.child.name}{' | ' + ', '.join(names) if names else ''}): "
        note = f"... {more:,} more of {self.alpha.size:,} entries" if more else ""
        header = [*names, self.child.name, "mean", "from", "to"]
        return header, rows, note, title + "mean, and interval with probability 0.95"

    def __repr__(self) -> str:
        return text_table(*self._lines())

    def _repr_html_(self) -> str:
        return html_table(*self._lines())

    def plot(
        self,
        ax: Axes | None = None,
        *,
        level: float = 0.95,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw each entry with its interval; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            level: of the intervals.
            figsize: width and height of a new figure in inches.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.table_belief(self, level, ax, figsize=figsize, title=title)


guard_methods([TableBelief])
