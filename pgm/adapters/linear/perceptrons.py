"""Perceptron and relaxation rules: misclassified rows correct the weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.adapters.rows import positive, whole
from pgm.errors import InvalidArgument, listed, shown, warn

from .linear_classifier import SCHEDULES, LinearClassifier, Separation, Solved, chosen, flag, passes, real
from .loops import LINEAR
from .traces import Recorder

_UPDATES = ("row", "batch", "farthest")
_RULES = ("increment", "relaxation")
_KEPT = ("last", "best")
_STARTS = ("zero", "sum")
_LOOKS = 200_000_000  # entries that the pocket reads between two checks of the clock


class Perceptron(LinearClassifier):
    """The variants of the perceptron, and relaxation (Duda, Hart & Stork 2001, sections 5.5 and 5.6).

    Rows are augmented by a leading 1, and negated in the other class. A row y that is not
    beyond the margin, a y <= margin, corrects the weights a, until there is none. It converges if the classes
    are linearly separable; if they are not, `converged_` is False, and there is a warning unless the best
    weights are kept.

    Args:
        update: the rows behind one correction: "row", each such row in turn; "batch", all such
            rows at once; "farthest", the one that is farthest on the wrong side.
        rule: "increment" adds y; "relaxation" adds (margin - a y) y / |y|**2, which goes to the margin.
        increment: the step size of a correction; below 2 for relaxation.
        schedule: how it decreases with the number k of corrections: "constant", "inverse" (1 / k) or "sqrt"
            (1 / sqrt(k)).
        margin: a y must exceed it. With `start="sum"` it may be negative: slack for rows that are
            wrong by less.
        keep: "last", the final weights; "best", the pocket algorithm: those with the fewest errors.
        every: the pocket is updated after this many corrections.
        start: the initial weights: "zero", or "sum", the sum of all rows.
        shuffle: whether each pass goes through the rows in a new random order.
        max_iter: the maximum number of passes; each correction of "batch" and "farthest" is one.
        seed: seed of the random orders.

    After `fit` there are `classes_`, `coef_` and `intercept_` (a row for two classes, else one for each),
    `traces_` ({class: weights by step}), `n_corrections_`, `n_errors_` (final number of errors), `n_iter_`,
    `converged_` and `hyperplanes_`.

    >>> rows = [[1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [2.0, 3.0]]
    >>> found = Perceptron().fit(rows, ["yes", "yes", "no", "no"])
    >>> found.n_corrections_.tolist(), found.predict([[0.0, 0.0]]).tolist()
    ([52], ['yes'])
    """

    n_corrections_: np.ndarray
    n_errors_: np.ndarray

    def __init__(
        self,
        update: str = "row",
        *,
        rule: str = "increment",
        increment: float = 1.0,
        schedule: str = "constant",
        margin: float = 0.0,
        keep: str = "last",
        every: int = 10,
        start: str = "zero",
        shuffle: bool = False,
        max_iter: int = 100,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        self.update, self.rule, self.increment, self.schedule = update, rule, increment, schedule
        self.margin, self.keep, self.every, self.start = margin, keep, every, start
        self.shuffle, self.max_iter, self.seed = shuffle, max_iter, seed

    def _check(self) -> None:
        chosen("update", self.update, _UPDATES)
        relax = chosen("rule", self.rule, _RULES) == "relaxation"
        chosen("schedule", self.schedule, SCHEDULES)
        chosen("keep", self.keep, _KEPT)
        zero = chosen("start", self.start, _STARTS) == "zero"
        positive("increment", self.increment)
        whole("every", self.every)
        flag("shuffle", self.shuffle)
        whole("max_iter", self.max_iter)
        margin = real("margin", self.margin)
        if margin < 0.0 and zero:
            raise InvalidArgument(
                f'margin={margin:g} is slack that zero weights satisfy already: use start="sum".'
            )
        if relax and margin == 0.0 and zero:
            raise InvalidArgument(
                'rule="relaxation" goes to the margin, where zero weights are already: use margin=1.'
            )

    def _solve(self, separation: Separation, columns: list[str]) -> Solved:
        a = np.zeros(separation.rows.shape[1]) if self.start == "zero" else separation.rows.sum(axis=0)
        recorder = Recorder(a)
        if self.update == "row":
            a, steps, converged = self._by_row(separation, a, recorder)
        else:
            a, steps, converged = self._by_scan(separation, a, recorder)
        facts = {
            "n_corrections_": int(recorder.counts[0]),
            "n_errors_": errors(separation.rows, a),
        }
        return Solved(a, recorder.trace(columns, separation.name, a), steps, converged, facts)

    def _by_row(
        self, separation: Separation, a: np.ndarray, recorder: Recorder
    ) -> tuple[np.ndarray, int, bool]:
        """Single-sample corrections, by the compiled loop; a pass without a correction is the end."""
        n, best = len(separation.rows), self.keep == "best"
        recorder.counts[3] = errors(separation.rows, a)
        flat, order, pocket = separation.rows.reshape(-1), np.arange(n), a.copy()
        # between two checks of the clock the pocket compares so many weights only
        size = max(1, min(n, _LOOKS * int(self.every) // separation.rows.size)) if best else n
        turned = np.ascontiguousarray(separation.rows.T).reshape(-1) if best else np.zeros(0)
        for i in passes(int(self.max_iter), "a perceptron", separation.clock):
            if self.shuffle:
                order = separation.random.permutation(n)
            done = 0
            for some in np.split(order, range(size, n, size)):
                separation.clock.check("a perceptron")
                made = LINEAR.follow_errors(
                    flat, turned, some, int(self.rule == "relaxation"), float(self.margin),
                    float(self.increment), SCHEDULES[self.schedule], int(self.every) if best else 0, a,
                    pocket, recorder.counts, recorder.steps, recorder.path,
                )  # fmt: skip
                if made < 0:
                    raise self._beyond(separation.name)
                done += made
            if done == 0:
                return a, i + 1, True
        if best and errors(separation.rows, a) >= int(recorder.counts[3]):
            a = pocket
        return a, int(self.max_iter), False

    def _by_scan(
        self, separation: Separation, a: np.ndarray, recorder: Recorder
    ) -> tuple[np.ndarray, int, bool]:
        """Corrections that use all rows."""
        rows, margin, least = separation.rows, float(self.margin), len(separation.rows) + 1
        squares = (rows * rows).sum(axis=1) if self.rule == "relaxation" else None
        pocket = a.copy()
        for i in passes(int(self.max_iter), "a perceptron", separation.clock):
            values = rows @ a
            if not np.isfinite(values).all():
                raise self._beyond(separation.name)
            if self.keep == "best" and (wrong := int((values <= 0.0).sum())) < least:
                least, pocket = wrong, a.copy()
            if self.update == "farthest":
                worst = int(values.argmin())
                at = np.array([worst] if values[worst] <= margin else [], np.int64)
            else:
                at = np.flatnonzero(values <= margin)
            if not at.size:
                return a, i, True
            way = np.ones(at.size) if squares is None else (margin - values[at]) / squares[at]
            a = a + rate_at(self.increment, self.schedule, i + 1) * (way @ rows[at])
            recorder.add(a)
        if self.keep == "best" and errors(rows, a) >= least:
            a = pocket
        return a, int(self.max_iter), bool((rows @ a > margin).all())

    def _tell(self, unfinished: list[Any]) -> None:
        if not unfinished or self.keep == "best":
            return
        many = f"in max_iter={int(self.max_iter):,} passes"
        if not self.n_errors_.any():
            warn(
                f"All rows are on their side, but some of {listed(unfinished)} not beyond the margin {many}: "
                "relaxation with increment= up to 1 only approaches it. Use a larger one."
            )
            return
        warn(
            f"The perceptron has not separated {listed(unfinished)} from the others {many}: "
            "pgm.adapters.separability says whether a hyperplane can. "
            'keep="best" keeps the weights with fewest errors; schedule="inverse" lets them settle.'
        )

    def _summary(self) -> str:
        done, wrong = int(self.n_corrections_.sum()), int(self.n_errors_.sum())
        return f"{super()._summary()}, {done:,} corrections, {wrong:,} rows on the wrong side"


class Winnow(LinearClassifier):
    """Balanced Winnow: multiplicative updates (Duda, Hart & Stork 2001, section 5.5, algorithm 7).

    There are two positive vectors, a+ and a-, and g = a+ y - a- y. A row that is not beyond the margin
    multiplies those entries by factor**y and factor**-y. It converges fast if few of many columns matter, and
    expects columns of magnitude about 1.

    Args:
        factor: the factor for a column of 1; 2 is usual for binary columns.
        margin: g must exceed it.
        shuffle: whether each pass goes through the rows in a new random order.
        max_iter: the maximum number of passes.
        seed: seed of the random orders.

    After `fit` there are the attributes of `Perceptron`, and `positive_` and `negative_`, both vectors, the
    intercept first.

    >>> found = Winnow(2.0).fit([[1.0, 0.0], [0.0, 1.0]], ["yes", "no"])
    >>> found.coef_.tolist(), found.converged_
    ([[1.5, -1.5]], True)
    """

    n_corrections_: np.ndarray
    n_errors_: np.ndarray
    positive_: np.ndarray
    negative_: np.ndarray

    def __init__(
        self,
        factor: float = 1.1,
        *,
        margin: float = 0.0,
        shuffle: bool = False,
        max_iter: int = 100,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        self.factor, self.margin, self.shuffle, self.max_iter, self.seed = (
            factor,
            margin,
            shuffle,
            max_iter,
            seed,
        )

    def _check(self) -> None:
        if real("factor", self.factor) <= 1.0:
            raise InvalidArgument(f"factor= is a number above 1, not {self.factor:g}: errors multiply by it.")
        real("margin", self.margin, 0.0)
        flag("shuffle", self.shuffle)
        whole("max_iter", self.max_iter)

    def _beyond(self, name: Any) -> InvalidArgument:
        return InvalidArgument(
            f"The weights for {shown(name)} grow beyond all bounds: take factor= nearer to 1, or put the "
            "columns in units in which they are about 1 (sklearn.preprocessing.StandardScaler)."
        )

    def _solve(self, separation: Separation, columns: list[str]) -> Solved:
        n, dim = separation.rows.shape
        a, up, down = np.zeros(dim), np.ones(dim), np.ones(dim)
        recorder, flat, order = Recorder(a), separation.rows.reshape(-1), np.arange(n)
        steps, converged = int(self.max_iter), False
        for i in passes(int(self.max_iter), "Winnow", separation.clock):
            if self.shuffle:
                order = separation.random.permutation(n)
            done = LINEAR.multiply_errors(
                flat, order, float(self.margin), float(np.log(self.factor)), up, down, a,
                recorder.counts, recorder.steps, recorder.path,
            )  # fmt: skip
            if done < 0:
                raise self._beyond(separation.name)
            if done == 0:
                steps, converged = i + 1, True
                break
        facts = {
            "n_corrections_": int(recorder.counts[0]),
            "n_errors_": errors(separation.rows, a),
            "positive_": up,
            "negative_": down,
        }
        return Solved(a, recorder.trace(columns, separation.name, a), steps, converged, facts)

    def _summary(self) -> str:
        done, wrong = int(self.n_corrections_.sum()), int(self.n_errors_.sum())
        return f"{super()._summary()}, {done:,} corrections, {wrong:,} rows on the wrong side"


def errors(rows: np.ndarray, a: np.ndarray) -> int:
    """How many normalised rows are not on the positive side."""
    return int((rows @ a <= 0.0).sum())


def rate_at(first: float, schedule: str, k: int) -> float:
    """The rate of the k-th correction.

    >>> [rate_at(2.0, schedule, 4) for schedule in ("constant", "inverse", "sqrt")]
    [2.0, 0.5, 1.0]
    """
    return float(first) / (1.0, float(k), float(np.sqrt(k)))[SCHEDULES[schedule]]
