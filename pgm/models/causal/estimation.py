"""Average effects from rows of data, with intervals by the bootstrap and checks that should find nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
from pgm.results.base import Frozen, pandas, put
from pgm.runtime.clock import start_clock
from pgm.variables import Variable

from .effects import scores_of, two_states
from .evaluation import chosen, evaluate

if TYPE_CHECKING:
    from .graph import CausalGraph

METHODS = ("plug-in", "inverse-weights", "doubly-robust", "two-stage")
_LEAST_SHARE = 1e-4  # of rows with a state of x, for some values of what is adjusted for


class Estimate(Frozen, Tabular):
    """An average effect estimated from rows: a number, its standard error and its 95 % interval.

    `checks` asks the same of data in which the answer is known: x in another order (the effect should be
    near 0), one more variable of noise to adjust for, and parts of the rows (it should stay).
    """

    __slots__ = ("_again", "adjust", "error", "interval", "method", "rows", "states", "value", "x", "y")
    value: float
    error: float
    interval: tuple[float, float]
    method: str
    adjust: tuple[str, ...]
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
            seed: of what is drawn.

        Raises:
            InvalidArgument: the rows are gone, because the estimate was pickled; times is no whole number
                of at least 1.

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
        """The numbers by name."""
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

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        low, high = self.interval
        row = [f"{self.value:+.6f}", f"{self.error:.6f}", f"{low:+.6f} to {high:+.6f}"]
        what = "instruments" if self.method == "two-stage" else "adjusted for"
        control, treated = self.states
        return (
            ["effect", "standard error", "95 % interval"],
            [row],
            f"of {label(self.x)} from {label(control)} to {label(treated)} on {label(self.y)}, "
            f"{self.method}, {self.rows:,} rows\n"
            f"{what} {joined(self.adjust, len(self.adjust), 80) or 'nothing'}",
        )


def _made(parts: dict[str, Any]) -> Estimate:
    return Estimate(**parts)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The columns of a frame as numbers."""

    x: np.ndarray  # codes, or numbers
    y: np.ndarray  # what each row counts
    states: tuple[Any, Any]
    ends: tuple[float, float]  # the codes, or numbers, of control and treated
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
) -> Estimate:
    """Read the rows, and estimate on them and on rows drawn from them."""
    if method not in METHODS:
        raise InvalidArgument(
            f"method= is one of {', '.join(METHODS)}, not {shown(method)}.{nearest(method, METHODS)}"
        )
    bootstrap = whole_number(bootstrap, "bootstrap=", 2)
    graph._some([x, y], least=2)
    formula = None
    first: tuple[str, ...] = ()
    z: tuple[str, ...] = ()
    if method == "plug-in":
        if adjust is not None:
            raise InvalidArgument("adjust= has no effect: 'plug-in' works out the formula of `identify`.")
        found = graph.identify(y, do=x)
        formula, columns = found.formula, [*dict.fromkeys([x, y, *found.names])]
    elif method == "two-stage":
        first, z = _instrument(graph, x, y, adjust)
        columns = [x, y, *first, *z]
    else:
        z = _set(graph, x, y, adjust)
        columns = [x, y, *z]
    read = read_columns(frame, columns=columns)
    variables = read.variables
    gaps = [v for v in columns if not variables[v].continuous and (np.asarray(read.data[v]) < 0).any()]
    gaps += [v for v in columns if variables[v].continuous and np.isnan(read.data[v]).any()]
    if gaps:
        raise InvalidFrame(
            f"{listed(gaps)}: cells are missing. Leave such rows out, or fill them by `impute`."
        )
    cause = variables[x]
    if cause.continuous and method != "two-stage":
        raise InvalidArgument(
            f"{x!r} is a number: 'two-stage' takes it, or pgm.discretize makes states of it."
        )
    control, treated = two_states(cause, states)
    ends = (
        (float(control), float(treated)) if cause.continuous else tuple(map(cause.code, (control, treated)))
    )
    scores = scores_of(variables[y], outcome)
    value = np.asarray(read.data[y], float) if scores is None else scores[np.asarray(read.data[y], int)]
    rows = _Rows(
        np.asarray(read.data[x]),
        value,
        (control, treated),
        ends,  # type: ignore[arg-type]
        _matrix(z, variables, read.data),
        _matrix(first, variables, read.data),
    )
    n = len(value)
    of: Callable[[np.ndarray, np.ndarray, np.ndarray], float]  # rows, x, more covariates
    if formula is not None:
        codes = [np.asarray(read.data[v]) for v in columns]
        if real := [v for v in columns if variables[v].continuous]:
            raise InvalidArgument(f"{listed(real)}: 'plug-in' counts states; 'doubly-robust' takes numbers.")

        def of(some: np.ndarray, changed: np.ndarray, _: np.ndarray) -> float:
            source = _Drawn(
                [changed if v == x else c for v, c in zip(columns, codes, strict=True)],
                columns,
                some,
                variables,
            )
            table = evaluate(formula, source)
            low, high = (chosen(table, [y], {x: int(end)}, source) for end in rows.ends)
            return math.nan if low is None or high is None else float(np.dot(scores, high - low))
    else:
        work = {"inverse-weights": _weighted, "doubly-robust": _doubly_robust, "two-stage": _two_stage}[
            method
        ]

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
            f"Some values of what is adjusted for occur without {x!r} at {shown(control)} or at "
            f"{shown(treated)}: the rows do not tell what would have been. Adjust for less, or take a model "
            "('doubly-robust').",
        )
    rng, clock = generator(seed), start_clock()
    drawn = []
    for _ in range(bootstrap):
        clock.check("drawing rows again")
        drawn.append(of(rng.integers(n, size=n), rows.x, none))
    good = np.array([v for v in drawn if math.isfinite(v)])
    if len(good) < bootstrap / 2:
        raise InvalidArgument("Most samples of the rows lack a state that is needed: there are too few rows.")

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
        adjust=tuple(first) if method == "two-stage" else tuple(z),
        rows=n,
        states=(control, treated),
        x=x,
        y=y,
        _again=again,
    )


class _Drawn:
    """Some of the rows, as shares."""

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


def _set(graph: CausalGraph, x: str, y: str, adjust: Any) -> tuple[str, ...]:
    """What to adjust for: as asked, if it is right; else the set of least variance, or the smallest."""
    if adjust is None:
        sets = graph.adjustment_sets(x, y)
        if not sets:
            raise InvalidArgument(
                f"No set of variables is right to adjust for ({sets.why}): 'plug-in' works out the formula "
                "of `identify`, 'two-stage' uses instruments."
            )
        return tuple(sets._names(sets.optimal if sets.optimal is not None else sets[0]))
    wanted = graph._some(names_of(adjust))
    if fault := Effect.of(graph._mixed.arrows(), [x], [y]).fault(wanted):
        raise InvalidArgument(f"adjust={list(wanted)} is wrong for the effect of {x!r} on {y!r}: {fault}.")
    return wanted


def _instrument(graph: CausalGraph, x: str, y: str, adjust: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if adjust is not None:
        raise InvalidArgument("adjust= has no effect: 'two-stage' takes what the instruments need.")
    found = graph.instruments(x, y)
    if not found:
        raise InvalidArgument(f"The graph has no instrument for the effect of {x!r} on {y!r}.")
    z, given = min(found, key=lambda pair: len(pair[1]))
    return (z,), tuple(name for name in graph.nodes if name in given)


def _matrix(names: Sequence[str], variables: Any, data: Any) -> np.ndarray:
    """A column for each number, and for each state but the first."""
    columns: list[np.ndarray] = []
    n = len(next(iter(data.values())))
    for name in names:
        variable: Variable = variables[name]
        if variable.continuous:
            columns.append(np.asarray(data[name], float))
        else:
            codes = np.asarray(data[name])
            columns += [(codes == k).astype(float) for k in range(1, variable.card)]
    return np.column_stack(columns) if columns else np.zeros((n, 0))


def _probability(target: np.ndarray, covariates: np.ndarray) -> np.ndarray:
    """Logistic regression by Newton's method."""
    a = np.column_stack([np.ones(len(target)), covariates])
    beta = np.zeros(a.shape[1])
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(-np.clip(a @ beta, -30.0, 30.0)))
        step = np.linalg.lstsq((a * (p * (1 - p))[:, None]).T @ a, a.T @ (target - p), rcond=None)[0]
        beta = beta + step
        if np.abs(step).max() < 1e-11:
            break
    found: np.ndarray = 1.0 / (1.0 + np.exp(-np.clip(a @ beta, -30.0, 30.0)))
    return found


def _weighted(x: Any, y: Any, z: Any, _: Any, ends: tuple[float, float]) -> float:
    """Rows with a state of x, each weighted by one over its probability given z; weights add up to one."""
    means = []
    for end in ends:
        has = (x == end).astype(float)
        p = _probability(has, z)
        if not has.any() or p.min() < _LEAST_SHARE:
            return math.nan
        means.append(float((has * y / p).sum() / (has / p).sum()))
    return means[1] - means[0]


def _doubly_robust(x: Any, y: Any, z: Any, _: Any, ends: tuple[float, float]) -> float:
    """A linear regression in each arm, and what it misses weighted (Robins, Rotnitzky & Zhao 1994)."""
    a = np.column_stack([np.ones(len(y)), z])
    means = []
    for end in ends:
        has = x == end
        p = _probability(has.astype(float), z)
        if not has.any() or p.min() < _LEAST_SHARE:
            return math.nan
        fitted = a @ np.linalg.lstsq(a[has], y[has], rcond=None)[0]
        means.append(float((fitted + has * (y - fitted) / p).mean()))
    return means[1] - means[0]


def _two_stage(x: Any, y: Any, z: Any, first: Any, ends: tuple[float, float]) -> float:
    """Two-stage least squares: x as the instruments explain it, then y by that."""
    one = np.column_stack([np.ones(len(y)), z])
    stage = np.column_stack([one, first])
    cause = np.asarray(x, float)
    explained = stage @ np.linalg.lstsq(stage, cause, rcond=None)[0]
    second = np.column_stack([one, explained])
    beta, _, rank, _ = np.linalg.lstsq(second, y, rcond=None)
    if rank < second.shape[1]:
        return math.nan
    return float(beta[-1]) * (ends[1] - ends[0])
