"""Average effects estimated from rows, with bootstrap intervals and refutation checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, listed, nearest, shown
from pgm.evidence import names as names_of
from pgm.graphs.adjustment import Effect
from pgm.inference.asking.session import whole as whole_number
from pgm.learning.counts import Counts
from pgm.models.structure_data import read_columns
from pgm.printing import Tabular, joined, label
from pgm.randomness import generator
from pgm.results.base import Frozen, condition, pandas, put
from pgm.runtime.clock import start_clock
from pgm.variables import Variable

from .effects import scores_of, two_states
from .evaluation import chosen, evaluate
from .regressions import doubly_robust, matrix, two_stage, weighted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .graph import CausalGraph

METHODS = ("plug-in", "inverse-weights", "doubly-robust", "two-stage")


class Estimate(Frozen, Tabular):
    """An average effect estimated from rows: the estimate, its standard error and its 95 % interval.

    `checks` estimates again where the answer is known: with x permuted the effect should be near 0; with a
    variable of noise added to adjust for, or on part of the rows, it should stay.
    """

    __slots__ = (
        "_again",
        "adjust",
        "error",
        "given",
        "interval",
        "method",
        "rows",
        "states",
        "value",
        "x",
        "y",
    )
    value: float
    error: float
    interval: tuple[float, float]
    method: str
    adjust: tuple[str, ...]
    given: dict[str, Any]  # the subgroup that it is about
    rows: int
    states: tuple[Any, Any]
    x: str
    y: str
    _again: Callable[[str, np.random.Generator], float] | None

    def __init__(self, **parts: Any) -> None:
        """Take what was found."""
        for name in Estimate.__slots__:
            put(self, name, parts.get(name))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts; the rows stay behind, so what is read back has no checks."""
        return _made, ({name: getattr(self, name) for name in Estimate.__slots__ if name != "_again"},)

    def __float__(self) -> float:
        """The estimate."""
        return self.value

    def checks(self, *, times: int = 20, seed: int | np.random.Generator | None = None) -> dict[str, float]:
        """Return the mean estimate over some repetitions of each check.

        Args:
            times: how often each is repeated.
            seed: of the random draws.

        Raises:
            InvalidArgument: the rows are gone, because the estimate was pickled; `times` is not a whole
                number of at least 1.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("x", 0.5)
        >>> net.add("y", {True: 0.7, False: 0.4}, parents="x")
        >>> found = net.causal_graph().estimate(net.sample(2000, seed=0), "x", "y", seed=0)
        >>> abs(found.checks(seed=0)["placebo"]) < 0.03
        True
        """
        if self._again is None:
            raise InvalidArgument("The rows of this estimate are not kept in a pickle: estimate again.")
        times, rng = whole_number(times, "times=", 1), generator(seed)
        kinds = ["placebo", *["random common cause"] * (self.method in METHODS[1:3]), "subset"]
        return {kind: float(np.mean([self._again(kind, rng) for _ in range(times)])) for kind in kinds}

    def to_dict(self) -> dict[str, Any]:
        """The values by name."""
        return {
            "effect": self.value,
            "standard error": self.error,
            "low": self.interval[0],
            "high": self.interval[1],
            "method": self.method,
            "adjust": list(self.adjust),
            "rows": self.rows,
        }

    def to_pandas(self) -> Any:
        """A data frame with one row."""
        return pandas().DataFrame([self.to_dict()])

    def plot(
        self,
        ax: Axes | None = None,
        *,
        checks: Mapping[str, float] | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the estimate with its interval, and below it the checks if they are passed; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            checks: what `.checks()` returned.
            figsize: width and height of a new figure in inches.
            title: the title; what was estimated if left out.
        """
        from pgm import plot

        return plot.estimate(self, checks or {}, ax, figsize=figsize, title=title)

    @property
    def question(self) -> str:
        """What is asked, in one line."""
        control, treated = self.states
        given = f" | {condition(self.given)}" if self.given else ""
        return f"of {label(self.x)} from {label(control)} to {label(treated)} on {label(self.y)}{given}"

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        low, high = self.interval
        row = [f"{self.value:+.6f}", f"{self.error:.6f}", f"{low:+.6f} to {high:+.6f}"]
        what = "instruments" if self.method == "two-stage" else "adjusted for"
        return (
            ["effect", "standard error", "95 % interval"],
            [row],
            f"{self.question}, {self.method}, {self.rows:,} rows\n"
            f"{what} {joined(self.adjust, len(self.adjust), 80) or 'nothing'}",
        )


def _made(parts: dict[str, Any]) -> Estimate:
    return Estimate(**parts)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The columns of a frame as floats."""

    x: np.ndarray  # codes, or values
    y: np.ndarray  # the score of each row's outcome
    states: tuple[Any, Any]
    ends: tuple[float, float]  # the codes, or values, of control and treated
    covariates: np.ndarray  # (rows, columns), one for each state but the first
    first: np.ndarray  # instruments


def estimate(
    graph: CausalGraph,
    frame: Any,
    x: str,
    y: str,
    method: str,
    states: Any,
    outcome: Any,
    adjust: Any,
    bootstrap: int,
    seed: Any,
    given: Any = None,
) -> Estimate:
    """Read the rows, estimate on them, and on bootstrap samples of them."""
    if method not in METHODS:
        raise InvalidArgument(
            f"method= is one of {', '.join(METHODS)}, not {shown(method)}.{nearest(method, METHODS)}"
        )
    bootstrap = whole_number(bootstrap, "bootstrap=", 2)
    graph._some([x, y], least=2)
    known = _given(graph, x, y, given)
    formula = None
    first: tuple[str, ...] = ()
    z: tuple[str, ...] = ()
    if method == "plug-in":
        if adjust is not None:
            raise InvalidArgument("adjust= has no effect: 'plug-in' evaluates the formula of `identify`.")
        found = graph.identify(y, do=x, given=list(known))
        formula, columns = found.formula, [*dict.fromkeys([x, y, *found.names, *known])]
    elif method == "two-stage":
        if known:
            raise InvalidArgument(
                "given= has no effect: 'two-stage' finds one effect for all. 'plug-in' and 'doubly-robust' "
                "estimate it in a subgroup."
            )
        first, z = _instrument(graph, x, y, adjust)
        columns = [x, y, *first, *z]
    else:
        z = _set(graph, x, y, adjust, tuple(known))
        columns = [x, y, *z, *known]
    read = read_columns(frame, columns=columns)
    variables = read.variables
    gaps = [v for v in columns if not variables[v].continuous and (np.asarray(read.data[v]) < 0).any()]
    gaps += [v for v in columns if variables[v].continuous and np.isnan(read.data[v]).any()]
    if gaps:
        raise InvalidFrame(
            f"{listed(gaps)}: cells are missing. Leave such rows out, or fill the cells by `impute`."
        )
    cause = variables[x]
    codes_of = {name: _code(variables[name], state) for name, state in known.items()}
    data = read.data
    if known and formula is None:  # the formula needs all rows, a regression those of the subgroup
        mine = np.all([np.asarray(data[v]) == code for v, code in codes_of.items()], axis=0)
        if not mine.any():
            raise InvalidFrame(f"No row has {condition(known)}.")
        data = {v: np.asarray(data[v])[mine] for v in columns}
    if cause.continuous and method != "two-stage":
        raise InvalidArgument(
            f"{x!r} is continuous: 'two-stage' takes it, or pgm.discretize cuts it into states."
        )
    control, treated = two_states(cause, states)
    ends = (
        (float(control), float(treated)) if cause.continuous else tuple(map(cause.code, (control, treated)))
    )
    scores = scores_of(variables[y], outcome)
    value = np.asarray(data[y], float) if scores is None else scores[np.asarray(data[y], int)]
    rows = _Rows(
        np.asarray(data[x]),
        value,
        (control, treated),
        ends,  # type: ignore[arg-type]
        matrix(z, variables, data),
        matrix(first, variables, data),
    )
    n = len(value)
    of: Callable[[np.ndarray, np.ndarray, np.ndarray], float]  # rows, x, more covariates
    if formula is not None:
        codes = [np.asarray(data[v]) for v in columns]
        if real := [v for v in columns if variables[v].continuous]:
            raise InvalidArgument(
                f"{listed(real)}: 'plug-in' counts states; 'doubly-robust' takes continuous variables."
            )

        def of(some: np.ndarray, changed: np.ndarray, _: np.ndarray) -> float:
            source = _Drawn(
                [changed if v == x else c for v, c in zip(columns, codes, strict=True)],
                columns,
                some,
                variables,
            )
            table = evaluate(formula, source)
            low, high = (chosen(table, [y], {x: int(end), **codes_of}, source) for end in rows.ends)
            return math.nan if low is None or high is None else float(np.dot(scores, high - low))
    else:
        work = {"inverse-weights": weighted, "doubly-robust": doubly_robust, "two-stage": two_stage}[method]

        def of(some: np.ndarray, changed: np.ndarray, more: np.ndarray) -> float:
            return work(
                changed[some],
                rows.y[some],
                np.hstack([rows.covariates, more])[some],
                rows.first[some],
                rows.ends,
            )

    none = np.zeros((n, 0))
    whole = np.arange(n)
    found_value = of(whole, rows.x, none)
    if not math.isfinite(found_value):
        raise InvalidArgument(
            f"Some values of what is adjusted for never or hardly occur with {x!r} at {shown(control)} or at "
            f"{shown(treated)} (no overlap): the rows do not tell what would have been. Adjust for less, or "
            "take a model ('doubly-robust').",
        )
    rng, clock = generator(seed), start_clock()
    drawn = []
    for _ in range(bootstrap):
        clock.check("drawing bootstrap samples")
        drawn.append(of(rng.integers(n, size=n), rows.x, none))
    good = np.array([v for v in drawn if math.isfinite(v)])
    if len(good) < bootstrap / 2:
        raise InvalidArgument("Most bootstrap samples lack a state that is needed: there are too few rows.")

    def again(kind: str, own: np.random.Generator) -> float:
        if kind == "placebo":
            return of(whole, own.permutation(rows.x), none)
        if kind == "subset":
            return of(own.permutation(n)[: max(2, int(0.8 * n))], rows.x, none)
        return of(whole, rows.x, own.normal(size=(n, 1)))

    low, high = np.quantile(good, [0.025, 0.975])
    return Estimate(
        value=found_value,
        error=float(good.std(ddof=1)),
        interval=(float(low), float(high)),
        method=method,
        given=known,
        adjust=tuple(first) if method == "two-stage" else tuple(z),
        rows=n,
        states=(control, treated),
        x=x,
        y=y,
        _again=again,
    )


class _Drawn:
    """A sample of the rows as a source of relative frequencies."""

    def __init__(
        self, codes: Sequence[np.ndarray], names: Sequence[str], some: np.ndarray, variables: Any
    ) -> None:
        self.names, self.variables = list(names), variables
        self.counts = Counts(
            [column[some] for column in codes], [variables[v].card for v in names], merge=False
        )

    def joint(self, names: tuple[str, ...]) -> np.ndarray:
        """The share of the rows that have each combination."""
        return self.counts.table([self.names.index(name) for name in names]) / self.counts.total


def _given(graph: CausalGraph, x: str, y: str, given: Any) -> dict[str, Any]:
    """The subgroup that the effect is about: {name: state}, checked."""
    from .graph import values_of

    known = values_of(given, "given=")
    if given and not known:
        raise InvalidArgument(f"given= is a dict {{name: state}}, not {shown(given)}.")
    for name in graph._some(list(known)):
        if name in (x, y):
            raise InvalidArgument(f"{name!r} is the cause or the outcome: it cannot be given.")
    return known


def _code(variable: Variable, state: Any) -> int:
    if variable.continuous:
        raise InvalidArgument(
            f"given= names states, but {variable.name!r} is continuous: pgm.discretize cuts it into states."
        )
    return variable.code(state)


def _set(graph: CausalGraph, x: str, y: str, adjust: Any, given: tuple[str, ...]) -> tuple[str, ...]:
    """What to adjust for: as asked, if that is valid; left out, the set of least variance, or the smallest.

    In a subgroup, a set is valid if it is so together with what is given.
    """
    effect = Effect.of(graph._mixed.arrows(), [x], [y])
    if adjust is None:
        sets = graph.adjustment_sets(x, y)
        some = [*([] if sets.optimal is None else [sets.optimal]), *sets]
        for one in some:
            if not effect.fault([*one, *given]):
                return tuple(name for name in sets._names(one) if name not in given)
        why = sets.why if not sets else f"together with {listed(given)}: {effect.fault([*some[0], *given])}"
        raise InvalidArgument(
            f"No set of variables is valid to adjust for ({why}): 'plug-in' evaluates the formula of "
            "`identify`, 'two-stage' uses instruments."
        )
    wanted = graph._some(names_of(adjust))
    if fault := effect.fault([*wanted, *given]):
        also = f" among rows with {listed(given)} given" if given else ""
        raise InvalidArgument(
            f"adjust={list(wanted)} is not valid for the effect of {x!r} on {y!r}{also}: {fault}."
        )
    return tuple(name for name in wanted if name not in given)


def _instrument(graph: CausalGraph, x: str, y: str, adjust: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if adjust is not None:
        raise InvalidArgument("adjust= has no effect: 'two-stage' adjusts for what its instrument needs.")
    found = graph.instruments(x, y)
    if not found:
        raise InvalidArgument(f"The graph has no instrument for the effect of {x!r} on {y!r}.")
    z, given = min(found, key=lambda pair: len(pair[1]))
    return (z,), tuple(name for name in graph.nodes if name in given)
