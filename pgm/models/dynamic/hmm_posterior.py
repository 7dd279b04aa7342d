"""The posterior of the parameters of a hidden Markov model given data: draws by Gibbs sampling.

Each draw samples all paths of states given the parameters, by forward filtering and backward sampling
(Fruehwirth-Schnatter 1994), then the parameters given the paths, from Dirichlet and normal-Wishart
distributions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.distributions import Emission
from pgm.distributions.pseudo_counts import tail_of
from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.inference.engines import chain as engine
from pgm.inference.engines.sampling.diagnostics import effective_sample_size, r_hat
from pgm.printing import ROWS, Tabular, label
from pgm.results.base import Frozen, pandas, put
from pgm.runtime.progress import report as report_progress

from .hmm_learning import HMMLearning, Parameters
from .hmm_priors import EmissionPrior, UnseenRows, drawn_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_R_HAT = 1.05  # the largest R-hat at which chains are taken to agree
_HEAD = ["", "mean", "sd", "95 % from", "to", "effective size", "R-hat"]


class ParameterDraws(Frozen, Tabular):
    """Draws of the parameters of one part of a model; summaries have the shape of the part.

    >>> values = np.array([[0.2, 0.4, 0.3, 0.3], [0.3, 0.4, 0.2, 0.3]])
    >>> two = ParameterDraws("p", values[:, :, None], ["p[0]"])
    >>> two.mean.round(6).tolist(), [round(float(x[0]), 4) for x in two.interval(0.5)]
    ([0.3], [0.275, 0.325])
    """

    __slots__ = ("entries", "name", "values")
    name: str
    values: np.ndarray  # (chains, draws of each, *shape)
    entries: tuple[str, ...]  # the name of each parameter, row after row

    def __init__(self, name: str, values: np.ndarray, entries: Sequence[str]) -> None:
        """Take draws, and the names of their entries."""
        values = np.array(values)
        values.flags.writeable = False
        for slot, value in (("name", name), ("values", values), ("entries", tuple(entries))):
            put(self, slot, value)

    @property
    def draws(self) -> np.ndarray:
        """The draws of all chains, one chain after the other."""
        return self.values.reshape(-1, *self.values.shape[2:])

    @property
    def mean(self) -> np.ndarray:
        """The mean of the draws."""
        return np.asarray(self.draws.mean(axis=0))

    @property
    def sd(self) -> np.ndarray:
        """Their standard deviation."""
        return np.asarray(self.draws.std(axis=0, ddof=1))

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the credible interval of each parameter, with equal tails on both sides.

        Args:
            level: the probability that lies inside.

        Raises:
            InvalidArgument: the level is not between 0 and 1.

        >>> one = ParameterDraws("p", np.arange(8.0).reshape(2, 4, 1), ["p[0]"])
        >>> [end.tolist() for end in one.interval(0.5)]
        [[1.75], [5.25]]
        """
        tail = tail_of(level)
        low, high = np.quantile(self.draws, [tail, 1.0 - tail], axis=0)
        return low, high

    @property
    def effective_sizes(self) -> np.ndarray:
        """Effective sample sizes: as many independent draws estimate the mean as well; NaN of constants."""
        return effective_sample_size(self._last())

    @property
    def r_hat(self) -> np.ndarray:
        """How much the chains disagree: near 1 once they have forgotten where they started."""
        return r_hat(self._last())

    def _last(self) -> np.ndarray:
        return np.moveaxis(self.values, (0, 1), (-2, -1))

    def to_dict(self) -> dict[str, list[float]]:
        """Return the draws of each parameter."""
        flat = self.draws.reshape(-1, len(self.entries))
        return {name: flat[:, i].tolist() for i, name in enumerate(self.entries)}

    def to_pandas(self) -> Any:
        """Return a data frame with a row for each parameter."""
        columns = [np.ravel(part) for part in self._summary()]
        return pandas().DataFrame(
            dict(zip(["mean", "sd", "low", "high", "effective_size", "r_hat"], columns, strict=True)),
            index=list(self.entries),
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        level: float = 0.95,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the mean of each parameter as a point, and its interval as a line; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            level: the probability that lies inside an interval.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        mean, low, high = (np.ravel(part) for part in (self.mean, *self.interval(level)))
        return plot.intervals(
            self.entries, mean, low, high, self.name, level, ax, figsize=figsize, title=title
        )

    def _summary(self) -> tuple[np.ndarray, ...]:
        return self.mean, self.sd, *self.interval(), self.effective_sizes, self.r_hat

    def _rows(self) -> Iterator[list[str]]:
        for name, *numbers, size, hat in zip(self.entries, *map(np.ravel, self._summary()), strict=True):
            shown_size = "-" if np.isnan(size) else f"{size:,.0f}"
            yield [name, *(f"{number:.4g}" for number in numbers), shown_size, f"{hat:.3f}"]

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        more = len(self.entries) - ROWS
        note = f"... {more:,} more of {len(self.entries):,} parameters" if more > 0 else ""
        return _HEAD, list(self._rows())[:ROWS], note

    def __eq__(self, other: object) -> bool:
        """Equal when all draws are."""
        if not isinstance(other, ParameterDraws):
            return NotImplemented
        alike = (self.name, self.entries) == (other.name, other.entries)
        return alike and np.array_equal(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return ParameterDraws, (self.name, self.values, self.entries)


class HMMPosterior(Frozen, Tabular):
    """Draws from the posterior of the parameters of a hidden Markov model; `HMM.posterior` makes it.

    `found["transition"]` and the like are `ParameterDraws`; `names` lists them.

    >>> import pgm
    >>> hmm = pgm.HMM(states=["u", "v"], emission=pgm.Categorical(symbols=[0, 1]))
    >>> found = hmm.posterior([0, 1, 1], states=["u", "v", "v"], draws=400, seed=0)
    >>> found.names, found["emission.p"].mean.shape
    (('initial', 'transition', 'emission.p'), (2, 2))
    """

    __slots__ = ("parts",)
    parts: tuple[ParameterDraws, ...]

    def __init__(self, parts: Sequence[ParameterDraws]) -> None:
        """Take the draws of each part."""
        put(self, "parts", tuple(parts))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts."""
        return tuple(part.name for part in self.parts)

    @property
    def exact(self) -> bool:
        """Whether this is exact; draws never are."""
        return False

    @property
    def initial(self) -> ParameterDraws:
        """The probabilities of the first state."""
        return self["initial"]

    @property
    def transition(self) -> ParameterDraws:
        """The probabilities of the next state, a row for each state."""
        return self["transition"]

    @property
    def emission(self) -> dict[str, ParameterDraws]:
        """The parameters of the emission, by name."""
        return {part.name.removeprefix("emission."): part for part in self.parts[2:]}

    @property
    def r_hat(self) -> float:
        """The largest R-hat of any parameter: near 1 if the chains agree."""
        return max(float(part.r_hat.max()) for part in self.parts)

    def __getitem__(self, name: str) -> ParameterDraws:
        """One part."""
        for part in self.parts:
            if part.name == name:
                return part
        raise InvalidArgument(
            f"There are draws of {listed(self.names)}, not of {shown(name)}.{nearest(str(name), self.names)}"
        )

    def to_dict(self) -> dict[str, dict[str, list[float]]]:
        """Return the draws of each parameter of each part."""
        return {part.name: part.to_dict() for part in self.parts}

    def to_pandas(self) -> Any:
        """Return a data frame with a row for each parameter of each part."""
        return pandas().concat({part.name: part.to_pandas() for part in self.parts})

    def plot(
        self,
        ax: Axes | None = None,
        *,
        part: str = "transition",
        level: float = 0.95,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the means and intervals of one part; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            part: which: one of `names`.
            level: the probability that lies inside an interval.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        return self[part].plot(ax, level=level, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[f"{part.name} {row[0]}", *row[1:]] for part in self.parts for row in part._rows()]
        chains, each = self.parts[0].values.shape[:2]
        notes = [f"{chains * each:,} draws of {chains} chains"]
        if len(rows) > ROWS:
            notes.insert(0, f"... {len(rows) - ROWS:,} more of {len(rows):,} parameters")
        if self.r_hat > _MOST_R_HAT:
            notes.append(
                f"R-hat up to {self.r_hat:.3f}: the chains disagree. Draw more; or states were swapped, "
                "which only a prior, observed states or parameters to start from can prevent"
            )
        return _HEAD, rows[:ROWS], "; ".join(notes)

    def __eq__(self, other: object) -> bool:
        """Equal when all draws are."""
        return self.parts == other.parts if isinstance(other, HMMPosterior) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return HMMPosterior, (self.parts,)


def draw(
    fitting: HMMLearning, draws: Any, burn_in: Any, chains: Any, random: np.random.Generator
) -> HMMPosterior:
    """Alternate paths and parameters, in several chains."""
    for name, number, least in (("draws", draws, 1), ("burn_in", burn_in, 0), ("chains", chains, 2)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
            raise InvalidArgument(f"{name}= is a whole number of at least {least}, not {shown(number)}.")
    each = -(-int(draws) // int(chains))
    if each < 4:
        raise InvalidArgument(f"draws= is at least 4 for each of {chains} chains, not {draws}.")
    if fitting.observed.code.size and fitting.observed.rows.ndim == 2:
        raise InvalidArgument(
            "Symbols observed as a Likelihood cannot be combined with draws of the parameters."
        )
    believed: EmissionPrior = fitting.prior_emission or UnseenRows(None)
    kept: list[np.ndarray] = []
    total = int(chains) * (each + int(burn_in))
    for chain, seed in enumerate(random.spawn(int(chains))):
        now = _begin(fitting, believed, seed)
        for i in range(-int(burn_in), each):
            report_progress(chain * (each + burn_in) + burn_in + i, total, "Gibbs sampling")
            fitting.clock.check("Gibbs sampling")
            now = _next(fitting, believed, now, seed)
            if i < 0:
                continue
            numbers = [now.start, now.move, *now.emission.parameters()]  # type: ignore[attr-defined]
            if not kept:
                check_cells(
                    (total, sum(n.size for n in numbers)),
                    "The draws of all parameters",
                    "ask for fewer, by draws=",
                )
                kept = [np.empty((int(chains), each, *n.shape)) for n in numbers]
            for array, number in zip(kept, numbers, strict=True):
                array[chain, i] = number
    report_progress(total, total, "Gibbs sampling")
    named = _names(fitting, now.emission)
    return HMMPosterior([ParameterDraws(n, a, e) for (n, e), a in zip(named, kept, strict=True)])


def _begin(fitting: HMMLearning, believed: EmissionPrior, random: np.random.Generator) -> Parameters:
    """The current parameters, and draws from the prior for missing ones."""
    model, k = fitting.model, fitting.k
    start, move = model._initial, model._transition
    if start is None:
        start = drawn_rows(_alpha(fitting, np.zeros(k), None), random)
    if move is None:
        move = drawn_rows(_alpha(fitting, None, np.zeros((k, k))), random)
    emission = model.emission
    if not emission.has_parameters:
        rows = fitting.observed.rows
        emission = believed.drawn(emission, emission.gathered(rows, np.zeros((len(rows), k))), random)
    return Parameters(start, move, emission)


def _alpha(fitting: HMMLearning, first: np.ndarray | None, pairs: np.ndarray | None) -> np.ndarray:
    """Dirichlet parameters: counts, those of the prior, and one; zero for what the model rules out."""
    model = fitting.model
    if first is not None:
        there = model._first if model._initial is None else model._first & (model._initial > 0.0)
        return np.asarray(np.where(there, first + fitting.prior_start + 1.0, 0.0))
    moves = model._mask if model._transition is None else model._mask & (model._transition > 0.0)
    return np.asarray(np.where(moves, pairs + fitting.prior_move + 1.0, 0.0))


def _next(
    fitting: HMMLearning, believed: EmissionPrior, now: Parameters, random: np.random.Generator
) -> Parameters:
    chain, rows = fitting._chain(now)
    with fitting._naming_steps():
        path = engine.draw_given(chain, rows, 1, random, fitting.clock)[0]
    found = fitting.along(path, rows, np.empty(0))
    start = drawn_rows(_alpha(fitting, found.first, None), random)
    move = drawn_rows(_alpha(fitting, None, found.pairs), random)
    observed, emission = fitting.observed, now.emission
    seen = fitting.seen.per_row(found.seen, len(observed.rows))
    full = observed.rows
    if not observed.code.size and np.isnan(full).any():  # missing entries are drawn too
        nothing = np.isnan(full).all(axis=1)
        full = np.array(emission.filled(observed, path, random), np.float64).reshape(full.shape)
        full[nothing] = np.nan
    emission = believed.drawn(emission, emission.gathered(full, seen), random)
    return Parameters(start, move, emission)


def _names(fitting: HMMLearning, emission: Emission) -> Iterator[tuple[str, list[str]]]:
    """The parts, and the names of their entries."""
    states = [label(state) for state in fitting.model.states]
    yield "initial", states
    yield "transition", [f"{a} -> {b}" for a in states for b in states]
    if emission.domain is not None:
        yield "emission.p", [f"{a}: {label(symbol)}" for a in states for symbol in emission.domain.states]
        return
    d = emission.parameters()[0].shape[1]  # type: ignore[attr-defined]
    at = [str(i) for i in range(d)]
    yield "emission.mean", [f"{a}[{i}]" if d > 1 else a for a in states for i in at]
    yield "emission.covariance", [f"{a}[{i}, {j}]" if d > 1 else a for a in states for i in at for j in at]
