"""Linear ranking: a linear score learned from pairs of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.adapters.linear.traces import WeightTrace
from pgm.adapters.rows import Rows, positive, targets_of, whole
from pgm.errors import InvalidArgument, InvalidFrame, shown
from pgm.printing import label
from pgm.randomness import generator
from pgm.runtime.clock import start_clock
from pgm.runtime.loops import Loops
from pgm.runtime.progress import report as report_progress

from .pairs import Pairs, pairs_given

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RANKING = Loops("pgm.adapters.ranking.compiled", "following pairs")
_CELLS = 12


class LinearRanker(Rows):
    """A linear ranker: orders rows by g(x) = w x, learned from pairs in which one row is better.

    At each pair whose better row is less than `margin` ahead the weights take a step along the difference of
    the two: the hinge error of pairs, one after the other (Alpaydin 2014, section 10.9). `predict` gives the
    scores, `rank` their order, `top` the best.

    Args:
        margin: how far ahead the better row of a pair must be; 0: only not behind.
        rate: of a step.
        max_iter: the maximum number of passes through the pairs; a pass without a step is the last.
        max_pairs: the maximum number of pairs in a pass; from more, this many are sampled for each pass.
        shuffle: whether the pairs of a pass come in random order, not by rank.
        init: the initial weights, by default zeros, from which margin=0 does not move.
        seed: seed of the random draws.

    After `fit` there are `coef_`, `n_pairs_` (all there are), `n_iter_`, `converged_` (whether the last pass
    looked at all pairs and had no step), `loss_` (the hinge error of the last pass's pairs) and `trace_`, the
    weights after each pass. Those of the pass with the smallest error are kept.

    >>> told = LinearRanker(seed=0).fit([[1.0, 5.0], [2.0, 1.0], [3.0, 9.0]], [3, 2, 1])
    >>> told.rank([[7.0, 0.0], [9.0, 1.0], [8.0, 2.0]]).tolist()
    [3, 1, 2]
    """

    _estimator_type = "ranker"
    coef_: np.ndarray
    n_pairs_: int
    n_iter_: int
    converged_: bool
    loss_: float
    trace_: WeightTrace

    def __init__(
        self,
        *,
        margin: float = 1.0,
        rate: float = 0.1,
        max_iter: int = 50,
        max_pairs: int = 100_000,
        shuffle: bool = True,
        init: Any = None,
        seed: int | np.random.Generator | None = 0,
    ) -> None:
        """Store the options; `fit` checks them."""
        self.margin, self.rate, self.max_iter, self.max_pairs = margin, rate, max_iter, max_pairs
        self.shuffle, self.init, self.seed = shuffle, init, seed

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks before it validates: ranks are needed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    # --- learning ---

    def fit(self, X: Any, y: Any, group: Any = None) -> Self:
        """Learn from the ranks of rows; returns the ranker itself.

        Args:
            X: rows: a data frame, or an array.
            y: the rank of each row: 1 is better than 2. Rows of equal rank are not compared.
            group: the list that each row is from, as a query; rows of different lists are not compared.

        Raises:
            InvalidArgument: an option is out of range; no two rows can be compared.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached.

        >>> LinearRanker(seed=0).fit([[1.0], [2.0], [5.0]], [2, 1, 1], ["q", "q", "p"]).n_pairs_
        1
        """
        rows, about = self._begin(X)
        if y is None:
            raise InvalidArgument(
                "This ranker requires y to be passed, but the target y is None: ranks of rows."
            )
        ranks = targets_of(y, len(rows))
        pairs = Pairs(ranks, groups_of(group, len(rows)))
        if not pairs.total:
            raise InvalidArgument(
                f"No two of the n_samples={len(rows):,} rows are of one list and of different ranks: "
                "nothing to compare."
            )
        return self._learn(rows, about, pairs)

    def fit_pairs(self, X: Any, pairs: Any) -> Self:
        """Learn from pairs of rows; returns the ranker itself.

        Args:
            X: rows: a data frame, or an array.
            pairs: (better, worse), by row index; any partial order.

        Raises:
            InvalidArgument: an option is out of range; invalid pairs.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached.

        >>> told = LinearRanker(margin=0, rate=0.5, init=[-1.0, 0.0], max_iter=1)
        >>> told.fit_pairs([[2.0, 1.0], [1.0, 0.0]], [(0, 1)]).coef_.tolist()
        [-0.5, 0.5]
        """
        rows, about = self._begin(X)
        return self._learn(rows, about, pairs_given(pairs, len(rows)))

    def _learn(self, rows: np.ndarray, about: dict[str, Any], pairs: Any) -> Self:
        margin = self.margin
        if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0.0 <= margin < np.inf:
            raise InvalidArgument(f"margin= is a number of at least 0, not {shown(margin)}.")
        margin, rate, passes = float(margin), positive("rate", self.rate), whole("max_iter", self.max_iter)
        most, random, clock = whole("max_pairs", self.max_pairs), generator(self.seed), start_clock()
        weights = self._begun_at(rows.shape[1])
        if margin == 0.0 and not weights.any():
            raise InvalidArgument(
                "With margin=0 weights that are zero tie all rows without an error, and stay: say where they "
                "begin, init=, or ask for a margin."
            )
        total = pairs.total if isinstance(pairs, Pairs) else len(pairs[0])
        every = None if total > most else np.arange(total)
        flat, path = rows.reshape(-1), [weights.copy()]
        best, least, converged = weights.copy(), np.inf, False
        i = 0
        for i in range(1, passes + 1):
            clock.check("ranking")
            numbers = random.integers(0, total, most) if every is None else every
            if self.shuffle and every is not None:
                numbers = random.permutation(total)
            better, worse = (
                pairs.take(numbers) if isinstance(pairs, Pairs) else (pairs[0][numbers], pairs[1][numbers])
            )
            moved = RANKING.follow_pairs(flat, rows.shape[1], better, worse, margin, rate, weights)
            if not np.isfinite(weights).all():
                raise InvalidArgument(
                    f"At rate={rate:g} the weights grow beyond all bounds: take a smaller one."
                )
            lost = RANKING.hinge(rows @ weights, better, worse, margin)
            path.append(weights.copy())
            if lost < least:
                best, least = weights.copy(), float(lost)
            report_progress(i, passes, "ranking")
            if moved == 0 and every is not None:
                converged = True
                break
        names = [f"x{j}" for j in range(rows.shape[1])]
        names = list(about.get("feature_names_in_", names))
        return self._keep(
            about,
            coef_=best,
            n_pairs_=total,
            n_iter_=i,
            converged_=converged,
            loss_=least,
            trace_=WeightTrace(names, np.arange(len(path)), np.array(path)),
        )

    def _begun_at(self, d: int) -> np.ndarray:
        if self.init is None:
            return np.zeros(d)
        try:
            found = np.array(self.init, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.array(np.nan)
        if found.shape != (d,) or not np.isfinite(found).all():
            raise InvalidArgument(f"init= has {d} weights, one for each column, not {shown(self.init)}.")
        return found

    # --- questions ---

    def predict(self, X: Any) -> np.ndarray:
        """Return the score of each row, the higher the better.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = LinearRanker(margin=0, init=[2.0]).fit([[1.0], [2.0]], [2, 1])
        >>> told.predict([[3.0]]).tolist()
        [6.0]
        """
        return np.asarray(self._read(X) @ self.coef_)

    def rank(self, X: Any, group: Any = None) -> np.ndarray:
        """Return the rank of each row in its list: 1 is the best, and rows that tie share the smallest.

        Args:
            X: rows, as for `fit`.
            group: the list that each row is from.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = LinearRanker(margin=0, init=[2.0]).fit([[1.0], [2.0]], [2, 1])
        >>> told.rank([[3.0], [5.0], [3.0], [1.0]]).tolist()
        [2, 1, 2, 4]
        """
        scores = self.predict(X)
        groups = groups_of(group, len(scores))
        order = np.lexsort((-scores, groups))
        sorted_groups, sorted_scores = groups[order], scores[order]
        new_group = np.concatenate([[True], sorted_groups[1:] != sorted_groups[:-1]])
        new_tie = new_group | np.concatenate([[True], sorted_scores[1:] != sorted_scores[:-1]])
        place = np.arange(len(scores))
        first = np.maximum.accumulate(np.where(new_group, place, 0))
        found = np.empty(len(scores), np.int64)
        found[order] = np.maximum.accumulate(np.where(new_tie, place, 0)) - first + 1
        return found

    def top(self, X: Any, k: int = 1) -> np.ndarray:
        """Return the indices of the k best rows, best first; ties keep their order.

        Args:
            X: rows, as for `fit`.
            k: how many.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: there are not this many rows.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = LinearRanker(margin=0, init=[2.0]).fit([[1.0], [2.0]], [2, 1])
        >>> told.top([[3.0], [5.0], [4.0]], 2).tolist()
        [1, 2]
        """
        scores = self.predict(X)
        if whole("k", k) > len(scores):
            raise InvalidArgument(f"k= is {k:,}, and there are {len(scores):,} rows.")
        return np.asarray(np.argsort(-scores, kind="stable")[:k])

    def rerank(self, X: Any, group: Any) -> dict[Any, np.ndarray]:
        """Return for each list of candidates the indices of its rows, best first.

        Candidates come from another model, whose score may be one of the columns; of equals the one that
        comes first stays first.

        Args:
            X: rows, as for `fit`, one for each candidate.
            group: the list that each is from.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: not as many lists as rows.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = LinearRanker(margin=0, init=[2.0]).fit([[1.0], [2.0]], [2, 1])
        >>> found = told.rerank([[3.0], [5.0], [1.0]], ["a", "a", "b"])
        >>> found["a"].tolist(), found["b"].tolist()
        ([1, 0], [2])
        """
        scores = self.predict(X)
        codes = groups_of(group, len(scores))
        order = np.lexsort((-scores, codes))
        cuts = np.flatnonzero(np.diff(codes[order])) + 1
        names = np.asarray(group, dtype=object)
        return {names[part[0]]: part for part in np.split(order, cuts)}

    def score(self, X: Any, y: Any, group: Any = None) -> float:
        """Return the fraction of pairs that are in the right order; ties count half.

        Args:
            X: rows, as for `fit`.
            y: the rank of each row; 1 is better than 2.
            group: the list that each row is from.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: no two rows can be compared.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = LinearRanker(margin=0, init=[2.0]).fit([[1.0], [2.0]], [2, 1])
        >>> round(told.score([[1.0], [2.0], [3.0]], [3, 1, 2]), 6)
        0.666667
        """
        scores = self.predict(X)
        pairs = Pairs(targets_of(y, len(scores)), groups_of(group, len(scores)))
        if not pairs.total:
            raise InvalidArgument("No two rows are of one list and of different ranks: nothing to compare.")
        right, clock = 0.0, start_clock()
        for begin in range(0, pairs.total, 1 << 20):
            clock.check("ranking")
            report_progress(begin, pairs.total, "comparing pairs")
            numbers = np.arange(begin, min(begin + (1 << 20), pairs.total))
            right += RANKING.in_order(scores, *pairs.take(numbers))
        return right / pairs.total

    def plot(
        self,
        X: Any,
        y: Any = None,
        *,
        columns: Any = None,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Return a plot of rows with their ranks in two columns, and the direction of rising scores.

        Args:
            X: rows, as for `fit`.
            y: their ranks; those that the ranker says if left out.
            columns: two columns by name; by default the first two.
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: there are no two such columns; too many rows.
        """
        from pgm import plot

        rows = self._read(X)
        ranks = self.rank(X) if y is None else targets_of(y, len(rows))
        return plot.ranked_rows(self, rows, ranks, columns, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        names = self._names
        rows = [
            [label(n), f"{w:.6g}"] for n, w in zip(names[:_CELLS], self.coef_[:_CELLS].tolist(), strict=True)
        ]
        drawn = f", {self.max_pairs:,} of them in each pass" if self.n_pairs_ > self.max_pairs else ""
        ended = "" if self.converged_ else "; steps were left to make"
        pairs = f"{self.n_pairs_:,} pairs{drawn}, {self.n_iter_} passes"
        note = f"{self._begun()}: hinge error {self.loss_:.6g}, {pairs}"
        more = f"; {len(names) - _CELLS:,} more columns" if len(names) > _CELLS else ""
        return ["column", "weight"], rows, note + ended + more


def groups_of(group: Any, n: int) -> np.ndarray:
    """The index of each row's list.

    >>> groups_of(["q", "p", "q"], 3).tolist(), groups_of(None, 2).tolist()
    ([0, 1, 0], [0, 0])
    """
    if group is None:
        return np.zeros(n, np.int64)
    names = np.asarray(group, dtype=object)
    if names.shape != (n,):
        raise InvalidArgument(f"group= names the list of each of {n:,} rows, not {shown(group)}.")
    place: dict[Any, int] = {}
    found = np.array([place.setdefault(name, len(place)) for name in names.tolist()], dtype=np.int64)
    if any(name is None or name != name for name in place):
        raise InvalidFrame("group= has a row of no list.")
    return found
