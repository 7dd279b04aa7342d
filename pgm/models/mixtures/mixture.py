"""Mixtures: each row comes from one of several hidden components."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.distributions import Emission, emission_tables
from pgm.errors import ImpossibleEvidence, IncompleteModel, InvalidArgument, InvalidFrame, nearest, shown
from pgm.frames import Sequences, rows_of
from pgm.models.bayesian_network import BayesianNetwork
from pgm.models.dynamic.checks import distribution, names, printed_rows
from pgm.printing import html_table, text_table
from pgm.randomness import draw_count, generator
from pgm.results import FitReport, Logarithm, Report, Samples
from pgm.variables import Variable, as_domain, typed_array, unordered

from . import learning, online
from .labels import Labels, labels_of
from .nodes import nodes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EXACT = Report("mixture", exact=True)
_ROWS = 20  # components that are printed


class Mixture:
    """A mixture: each row is drawn from one of several components, and which one is hidden.

    `fit` learns what is left out, and starts from what is given. Data are a list of rows, an array
    or a data frame; None and NaN were not observed, and are summed out.

    Args:
        weights: the probabilities of the components; a list, or a dict by component.
        emission: what the components emit, with a row for each of them: `pgm.Gaussian` (with `form=` "full",
            "tied", "diagonal" or "spherical"), `pgm.Bernoulli`, `pgm.Categorical`, `pgm.Poisson`, ..., or
            `pgm.Product` of any of these, one for each column.
        states: the names of the components; if left out the keys of `weights`, else 0, 1, ...
        n_components: the number of components, if it does not follow from the rest.
        columns: the names of the columns; if left out those of the frame that it is fitted to.
        name: the name of the model in print and in files.

    Raises:
        InvalidArgument: `emission` is not a distribution, or sizes do not match.

    >>> import pgm
    >>> heights = Mixture([0.6, 0.4], pgm.Gaussian([0.0, 3.0], sd=[1.0, 2.0**0.5]))
    >>> heights.predict_proba([0.5]).round(6).tolist(), round(heights.score([0.5]), 6)
    ([[0.899306, 0.100694]], -1.448632)
    """

    name: str
    variable: Variable
    emission: Emission
    fit_report: FitReport | None
    _weights: np.ndarray | None
    _columns: tuple[str, ...] | None
    _state: online.OnlineStatistics | None

    def __init__(
        self,
        weights: Any = None,
        emission: Any = None,
        *,
        states: Any = None,
        n_components: int | None = None,
        columns: Any = None,
        name: str = "",
    ) -> None:
        if not isinstance(emission, Emission):
            raise InvalidArgument(
                "emission= is a distribution such as pgm.Gaussian(dim=2) or pgm.Categorical(...), not "
                f"{shown(emission)}."
            )
        if not isinstance(name, str):
            raise InvalidArgument(f"The name of a model is text, not {shown(name)}.")
        self.name, self.emission, self.fit_report, self._state = name, emission, None, None
        if states is None and isinstance(weights, dict):
            states = list(weights)
        sizes = {
            "n_components=": n_components,
            "weights=": len(weights) if hasattr(weights, "__len__") else None,
            "emission=": emission.n_states,
        }
        self.variable = Variable.of("component", _domain(states, sizes))
        self._weights = None if weights is None else distribution(weights, self.variable, "weights=")
        if emission.has_parameters and emission.n_states is None and self.n_components > 1:
            raise InvalidArgument(
                f"emission= is one distribution, and there are {self.n_components} components: it needs a "
                "row for each of them."
            )
        self._columns = None if columns is None else _names(columns, self._width)

    # --- properties ---

    @property
    def states(self) -> tuple[Any, ...]:
        """The components, in order."""
        return self.variable.states

    @property
    def n_components(self) -> int:
        """The number of components."""
        return self.variable.card

    @property
    def weights(self) -> np.ndarray:
        """The probabilities of the components."""
        if self._weights is None:
            raise IncompleteModel("The mixture has no weights= yet: give it some, or fit it to data.")
        return self._weights

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        if self._columns is not None:
            return self._columns
        groups = getattr(self.emission, "names", None)
        if groups is not None:
            return tuple(name for group in groups for name in group)
        return ("x",) if self._width == 1 else tuple(f"x[{i}]" for i in range(self._width))

    @property
    def _width(self) -> int:
        return 1 if self.emission.domain is not None else int(getattr(self.emission, "dim", 1))

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        free = self.emission.n_free(np.ones(self.n_components, bool))
        return int((self.weights > 0.0).sum()) - 1 + free

    # --- questions ---

    def log_likelihood(self, data: Any) -> np.ndarray:
        """Return the log-likelihood of each row; a log density for continuous columns.

        Args:
            data: rows; see the class.

        Raises:
            InvalidArgument: a value cannot be observed.
            InvalidFrame: a column is missing.

        >>> import pgm
        >>> two = Mixture([0.6, 0.4], pgm.Gaussian([0.0, 3.0], sd=1.0))
        >>> two.log_likelihood([0.0, None]).round(6).tolist()
        [-1.422385, 0.0]
        """
        return self._believed(data, impossible=True)[1]

    def score(self, data: Any) -> Logarithm:
        """Return log P of all rows together.

        Args:
            data: rows; see the class.

        Raises:
            InvalidArgument: a value cannot be observed.
            InvalidFrame: a column is missing.

        >>> import pgm
        >>> round(Mixture([0.6, 0.4], pgm.Gaussian([0.0, 3.0], sd=1.0)).score([0.0, 3.0]), 6)
        -3.241089
        """
        return Logarithm(float(self.log_likelihood(data).sum()), _EXACT)

    def predict_proba(self, data: Any) -> np.ndarray:
        """Return P(component | row), a row for each row, a column for each component.

        Args:
            data: rows; see the class.

        Raises:
            InvalidArgument: a value cannot be observed.
            InvalidFrame: a column is missing.
            ImpossibleEvidence: no component can generate a row.

        >>> import pgm
        >>> two = Mixture([0.5, 0.5], pgm.Bernoulli([[0.9, 0.2], [0.3, 0.6]]))
        >>> two.predict_proba([[1, 0], [1, None]]).round(6).tolist()
        [[0.857143, 0.142857], [0.75, 0.25]]
        """
        return self._believed(data)[0]

    def predict(self, data: Any) -> np.ndarray:
        """Return the most probable component of each row.

        Args:
            data: rows; see the class.

        Raises:
            InvalidArgument: a value cannot be observed.
            InvalidFrame: a column is missing.
            ImpossibleEvidence: no component can generate a row.

        >>> import pgm
        >>> Mixture({"low": 0.5, "high": 0.5}, pgm.Gaussian([0.0, 3.0], sd=1.0)).predict([0.1, 2.9]).tolist()
        ['low', 'high']
        """
        found = self.predict_proba(data).argmax(axis=1)
        return np.asarray(np.take(self.variable.domain.array, found))

    def sample(self, n: int, *, seed: int | np.random.Generator | None = None) -> Samples:
        """Draw rows, and the component of each: {"component": ..., column: ...}.

        Args:
            n: how many.
            seed: an integer, or a numpy Generator.

        Raises:
            InvalidArgument: n or seed is not an integer of at least 0.

        >>> import pgm
        >>> Mixture([0.5, 0.5], pgm.Gaussian([0.0, 3.0], sd=0.0)).sample(3, seed=0).to_dict()
        {'component': [1, 0, 0], 'x': [3.0, 0.0, 0.0]}
        """
        self._check_parameters()
        random, n = generator(seed), draw_count(n)
        codes = random.choice(self.n_components, size=n, p=self.weights / self.weights.sum())
        rows = self.emission.draw(codes, random)
        rows = rows.reshape(n, -1) if rows.ndim < 3 else rows
        drawn = {"component": np.take(self.variable.domain.array, codes)}
        for i, name in enumerate(self.columns):
            column = rows[:, i]
            drawn[name] = typed_array(column.tolist()) if column.dtype == object else column.copy()
        return Samples(drawn, _EXACT)

    # --- learning ---

    def fit(
        self,
        data: Any,
        *,
        labels: Any = None,
        label_noise: Any = None,
        weights: Any = None,
        fixed: Any = (),
        prior: Any = None,
        starts: int = 1,
        method: str = "em",
        max_iter: int = 100,
        tol: float = 1e-6,
        seed: int | np.random.Generator | None = None,
    ) -> Self:
        """Fit by EM to rows whose components are unknown or partly known; returns the mixture itself.

        EM starts from the given parameters; the others are initialised from the data. A
        component without any row keeps its parameters. `fit_report` says whether it converged.

        Args:
            data: rows; see the class.
            labels: the observed components: one for each row, None if unknown; for a data frame
                also the name of the column that has them.
            label_noise: the error rate of labels, or P(label | component), a row for each.
            weights: the weight of each row; by default 1.
            fixed: what stays: "weights", "emission", or a dict from these to components.
            prior: pseudo-counts: one for all, or a dict from the names above to pseudo-counts; or
                priors, for MAP estimates: `pgm.priors.Dirichlet` of the weights,
                `NormalWishart` or `NormalGamma` (of diagonal covariances) of a Gaussian emission, for all
                components or a list or dict with one for each.
            starts: the number of starts; all but the first from random guesses. The best is kept.
            method: "em"; "squarem", which accelerates slow convergence; or "hard", which assigns
                each row to its most probable component.
            max_iter: the maximum number of steps.
            tol: convergence tolerance for the gain of a step, relative to the log-likelihood.
            seed: seed of the random guesses.

        Raises:
            InvalidArgument: an option is out of range; a value cannot be observed; a component collapses to a
                point.
            InvalidFrame: there are no rows, or a column is missing.
            ImpossibleEvidence: no component can generate a row.

        >>> import pgm
        >>> two = Mixture([0.5, 0.5], pgm.Gaussian([0.0, 4.0], sd=1.0)).fit([0.0, 1.0, 4.0, 5.0])
        >>> two.emission.mean.round(6).tolist(), two.weights.round(6).tolist()
        ([0.5, 4.5], [0.5, 0.5])
        """
        read, known = self._labelled(data, labels, label_noise)
        fitting = learning.MixtureLearning(
            self, read, known, weights=weights, fixed=fixed, prior=prior, method=method
        )
        made, report = fitting.run(starts, max_iter, tol, generator(seed))
        state = online.begun(fitting, made)
        self._take(made, read)
        self.fit_report, self._state = report, state
        return self

    def partial_fit(
        self,
        data: Any,
        *,
        labels: Any = None,
        label_noise: Any = None,
        weights: Any = None,
        prior: Any = None,
        rate: float | None = None,
        seed: int | np.random.Generator | None = None,
    ) -> Self:
        """Learn online from batches of rows, each seen once (stepwise EM); returns the mixture itself.

        The expected sufficient statistics under the current parameters are averaged with the earlier ones,
        and the new parameters maximise the likelihood for the average (Cappé & Moulines 2009).

        Args:
            data: rows; see the class.
            labels: as for `fit`.
            label_noise: as for `fit`.
            weights: the weight of each row.
            prior: as for `fit`; applied once, to all rows so far.
            rate: the weight of the new batch in the average, above 0 and at most 1, for data that drift; left
                out: the number of batches to the power of -0.6, which forgets a bad start and converges.
            seed: of the initial guess at the first batch, where there are no parameters.

        Raises:
            InvalidArgument: an option is out of range; a value cannot be observed; a component collapses.
            InvalidFrame: there are no rows, or a column is missing.
            ImpossibleEvidence: no component can generate a row.

        >>> import pgm
        >>> two = Mixture([0.5, 0.5], pgm.Gaussian([0.0, 4.0], sd=1.0))
        >>> for batch in ([0.0, 1.0, 4.0, 5.0], [-1.0, 1.0, 3.0, 5.0]):
        ...     two = two.partial_fit(batch)
        >>> two.emission.mean.round(2).tolist()
        [0.17, 4.16]
        """
        read, known = self._labelled(data, labels, label_noise)
        made, self._state = online.step(self, read, known, weights, prior, rate, generator(seed))
        self._take(made, read)
        self.fit_report = None
        return self

    def _take(self, made: learning.Parameters, read: Sequences) -> None:
        made.weights.flags.writeable = False
        self._weights, self.emission = made.weights, made.emission
        named = getattr(made.emission, "names", None) is not None
        if self._columns is None and isinstance(read.rows, dict) and not named:
            self._columns = tuple(map(str, read.rows))

    # --- as other models ---

    def to_network(self) -> BayesianNetwork:
        """Return the Bayesian network: "component" and, below it, the columns.

        Columns whose emission is itself a mixture have a hidden component of their own as well; counts and
        Student's distributions become densities (`pgm.DensityCPD`), evidence on the component if observed.

        Raises:
            IncompleteModel: there are no parameters yet.
            InvalidArgument: the emission cannot be expressed by nodes.

        >>> import pgm
        >>> net = Mixture([0.6, 0.4], pgm.Gaussian([0.0, 3.0], sd=[1.0, 2.0**0.5])).to_network()
        >>> net.query("component", {"x": 2.5}).values.round(6).tolist()
        [0.09026, 0.90974]
        """
        self._check_parameters()
        return BayesianNetwork._from_cpds(self.name, nodes_of(self))

    def copy(self) -> Self:
        """An independent mixture with the same parameters."""
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __eq__(self, other: object) -> bool:
        """Equal when components, columns and parameters are."""
        if not isinstance(other, Mixture):
            return NotImplemented
        mine, theirs = self._weights, other._weights
        same = mine is theirs if mine is None or theirs is None else np.array_equal(mine, theirs)
        parts = (self.name, self.variable, self.emission, self.columns)
        return same and parts == (other.name, other.variable, other.emission, other.columns)

    __hash__ = None  # type: ignore[assignment]

    def plot(
        self,
        data: Any = None,
        *,
        columns: Any = None,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the components: densities of one column, ellipses of two, else a table; returns the Axes.

        Args:
            data: rows that are drawn with them, coloured by their most probable component.
            columns: the names of one column or two, of several.
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.

        Raises:
            IncompleteModel: there are no parameters yet.
            InvalidArgument: there is no such column.
        """
        from pgm import plot

        self._check_parameters()
        return plot.mixture(self, data, columns, ax, figsize=figsize, title=title)

    def __repr__(self) -> str:
        """The weights, then the emissions."""
        below = emission_tables.as_text(self.emission, names(self.variable))
        return f"{text_table(*self._lines(), title=self._title())}\n{below}"

    def _repr_html_(self) -> str:
        below = emission_tables.as_html(self.emission, names(self.variable))
        return html_table(*self._lines(), title=self._title()) + below

    def _title(self) -> str:
        many = f"{self.n_components:,} component{'s' * (self.n_components > 1)}"
        return f"Mixture{f' {self.name!r}' if self.name else ''}: {many}"

    def _lines(self) -> tuple[list[str], list[list[str]], str]:
        k = min(self.n_components, _ROWS)
        chances = ["?"] * k if self._weights is None else printed_rows(self._weights[None, :k])[0]
        rows = [[called, p] for called, p in zip(names(self.variable)[:k], chances, strict=True)]
        more = self.n_components - k
        return ["component", "weight"], rows, f"... {more:,} more of {self.n_components:,}" if more else ""

    # --- how ---

    def _check_parameters(self) -> None:
        if self._weights is None or not self.emission.has_parameters:
            raise IncompleteModel("The mixture has no parameters yet: set them, or fit it to data.")

    def _labelled(self, data: Any, labels: Any, noise: Any) -> tuple[Sequences, Labels]:
        read, known = labels_of(labels, noise, self._rows(data), self.variable)
        return self._selected(read), known

    def _rows(self, data: Any) -> Sequences:
        is_value = getattr(self.emission, "is_value", lambda value: False)
        return rows_of(data, vector=self.emission.vector, is_value=is_value)

    def _selected(self, read: Sequences) -> Sequences:
        """The columns of a frame that are the mixture's, where it knows their names."""
        rows = read.rows
        if self._columns is None or not isinstance(rows, dict):
            return read
        for name in self._columns:
            if name not in rows:
                raise InvalidFrame(f"The frame has no column {shown(name)}.{nearest(name, list(rows))}")
        return replace(read, rows={name: rows[name] for name in self._columns})

    def _believed(self, data: Any, impossible: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """P(component | row), and log P of each row."""
        self._check_parameters()
        read = self._selected(self._rows(data))
        observed = self.emission.read(read)
        with np.errstate(divide="ignore"):
            logs = self.emission.log_rows(observed.rows) + np.log(self.weights)
        shares, each = learning.believed(logs, np.ones(len(logs)))
        if observed.code.size:
            shares, each = shares[observed.code], each[observed.code]
        if not impossible and not (each > -np.inf).all():
            row = int((~(each > -np.inf)).argmax())
            raise ImpossibleEvidence(
                f"Row {row:,} (the first is 0): no component can generate what is observed."
            )
        return shares, each


def _domain(states: Any, sizes: dict[str, Any]) -> Any:
    """The components, from their names or their number, or from the sizes of what was given."""
    given = sizes["n_components="]
    if given is not None and (
        isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1
    ):
        raise InvalidArgument(f"n_components= is a whole number of at least 1, not {shown(given)}.")
    known = {name: int(size) for name, size in sizes.items() if size is not None}
    if states is not None:
        if unordered(states) or isinstance(states, str) or not hasattr(states, "__iter__"):
            raise InvalidArgument(f"states= is a list of names of components, not {shown(states)}.")
        states = list(states)
        known = {"states=": len(states), **known}
    if not known:
        raise InvalidArgument("How many components are there? Say n_components=, or name them in states=.")
    (first, size), *others = known.items()
    for name, other in others:
        if other != size:
            raise InvalidArgument(f"{first} has {size} components, and {name} {other}.")
    return as_domain(states if states is not None else list(range(size)))


def _names(columns: Any, width: int) -> tuple[str, ...]:
    """The names of columns, checked."""
    found = (columns,) if isinstance(columns, str) else tuple(columns) if hasattr(columns, "__iter__") else ()
    bad = [name for name in found if not isinstance(name, str)]
    if not found or bad or len(set(found)) < len(found) or len(found) != width or "component" in found:
        raise InvalidArgument(
            f"columns= has a different text for each of {width} column{'s' * (width > 1)} (and not "
            f"'component'), not {shown(columns)}."
        )
    return found
