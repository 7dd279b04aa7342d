"""Decision regions of any classifier over one or two columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import InvalidArgument, InvalidFrame, InvalidTable, shown
from pgm.frames.matrices import features
from pgm.models.classifiers.conventions import labels_of
from pgm.models.classifiers.decisions import Decisions
from pgm.models.classifiers.training import classes_column
from pgm.printing import Share, Tabular, joined, label
from pgm.results.base import Frozen, put
from pgm.variables import Variable

from .varied_rows import Axis, VariedRows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HALVINGS = 60
_MOST_CELLS = 2000
_OFF = 1e-6  # from one, that a sum of probabilities may be


@dataclass(frozen=True)
class Points:
    """Rows drawn into a plot: their coordinates and their classes; -1: none of them."""

    places: tuple[np.ndarray, ...]
    codes: np.ndarray


@dataclass(frozen=True)
class Boundary:
    """Where the decision changes along one column."""

    at: float
    below: Any
    above: Any


class Regions(Frozen, Tabular):
    """The prediction of a classifier at each point of a grid; made by `regions`.

    `.classes`; `.names` of the columns drawn and `.along`, the grid values of each; `.codes`, the
    code of the class predicted at each point, -1 if rejected; `.posterior`, P(class) there, or None;
    `.held`, the values of the other columns; `.boundaries`, if there is one column.
    """

    __slots__ = ("axes", "boundaries", "classes", "codes", "gains", "held", "points", "posterior")
    classes: tuple[Any, ...]
    axes: tuple[Axis, ...]
    codes: np.ndarray  # of shape (values of the second column, of the first), or (values of the only one,)
    posterior: np.ndarray | None  # the same with a last axis of classes
    gains: np.ndarray | None  # minus the expected loss of each action, which determines the codes
    held: Mapping[str, Any]
    points: Points | None
    boundaries: tuple[Boundary, ...]

    def __init__(self, **parts: Any) -> None:
        """Store the results."""
        for name in self.__slots__:
            put(self, name, parts[name])
        for values in (self.codes, self.posterior, self.gains):
            if values is not None:
                values.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, ({name: getattr(self, name) for name in self.__slots__},)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are drawn."""
        return tuple([axis.name for axis in self.axes])

    @property
    def along(self) -> tuple[np.ndarray, ...]:
        """The grid values of each column."""
        return tuple([axis.values for axis in self.axes])

    def share(self, named: Any) -> float:
        """The fraction of grid points at which a class is predicted; `share(None)` is the reject region.

        Args:
            named: a class, or None.

        Raises:
            UnknownState: there is no such class.

        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> found = regions(KNeighborsClassifier(1).fit([[0.0], [1.0]], ["a", "b"]), [[0.0], [1.0]])
        >>> found.share("a")
        0.5
        """
        code = -1 if named is None else Variable("class", list(self.classes)).code(named)
        return float((self.codes == code).mean())

    def to_dict(self) -> dict[str, Any]:
        """A list for each column: the grid points, and the class predicted there (None: rejected).

        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> model = KNeighborsClassifier(1).fit([[0.0], [1.0]], ["a", "b"])
        >>> regions(model, [[0.0], [1.0]], cells=4).to_dict()["class"]
        ['a', 'a', 'b', 'b']
        """
        grid = np.meshgrid(*self.along) if len(self.axes) == 2 else self.along
        named = np.array([*self.classes, None], dtype=object)[self.codes.reshape(-1)]
        found = {name: place.reshape(-1).tolist() for name, place in zip(self.names, grid, strict=True)}
        return {**found, _besides("class", self.names): named.tolist()}

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each grid point.

        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> model = KNeighborsClassifier(1).fit([[0.0], [1.0]], ["a", "b"])
        >>> regions(model, [[0.0], [1.0]], cells=4).to_pandas().shape
        (4, 2)
        """
        from pgm.results.base import pandas

        found = self.to_dict()
        last = list(found)[-1]
        return pandas().DataFrame({**found, last: pandas().Series(found[last], dtype=object)})

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Return a plot of regions, boundaries and points; with one column, P(class) above them.

        If there are probabilities, the strength of a colour is that of its class.

        Args:
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            InvalidArgument: `ax=` is not an Axes.

        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> model = KNeighborsClassifier(1).fit([[0.0, 0.0], [1.0, 1.0]], ["a", "b"])
        >>> regions(model, [[0.0, 0.0], [1.0, 1.0]]).plot().get_xlabel()
        'x0'
        """
        from pgm import plot

        return plot.regions(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for code, named in [*enumerate(self.classes), (-1, None)]:
            mine = self.codes == code
            if named is None and not mine.any():
                continue
            row = ["none" if named is None else label(named), Share(float(mine.mean()), f"{mine.mean():.4f}")]
            if self.points is not None:
                row.append(f"{int((self.points.codes == code).sum()):,}" if code >= 0 else "")
            rows.append(row)
        header = ["class", "share of the picture", *(["points"] if self.points is not None else [])]
        notes = [f"{' and '.join(map(label, self.names))}: {' by '.join(map(str, self.codes.shape))} places"]
        if self.held:
            said = [f"{label(name)} = {label(_short(value))}" for name, value in self.held.items()]
            notes.append(f"held: {joined(said, len(said), 80)}")
        for one in self.boundaries[:8]:
            below, above = ("none" if side is None else label(side) for side in (one.below, one.above))
            notes.append(f"{below} below {one.at:.10g}, {above} above")
        return header, rows, "\n".join(notes)


def _again(parts: dict[str, Any]) -> Regions:
    return Regions(**parts)


def _short(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


def _besides(name: str, taken: tuple[str, ...]) -> str:
    while name in taken:
        name += "_"
    return name


@guarded
def regions(
    classifier: Any,
    X: Any,
    y: Any = None,
    *,
    columns: Any = None,
    given: Mapping[str, Any] | None = None,
    loss: Any = None,
    reject: float | None = None,
    cells: int = 160,
) -> Regions:
    """Evaluate a classifier over a grid in one or two columns; the result draws itself.

    The classifier is pgm's, scikit-learn's, a pipeline, or anything else with `predict`. The columns that
    are not drawn are fixed at their median, discrete ones at the most frequent state, or as in `given`.

    Without `loss` and `reject` the regions are those of `predict`; with them, those of minimum expected
    loss according to `predict_proba` (with `reject` alone, Chow's rule: reject unless a class has at least
    probability 1 - reject).

    Args:
        classifier: a fitted classifier.
        X: rows, which determine the range of the plot and the values of the other columns.
        y: their classes, if the rows are to be drawn; or the name of the column of X that has them.
        columns: one or two columns, by name, or by position in an array; by default the first two.
        given: the values at which other columns are fixed, {name: value}.
        loss: the cost of each prediction: an array (true class, predicted class) in the order of `classes_`,
            or a dict {(true, predicted): loss}, in which pairs that are left out cost nothing.
        reject: the cost of rejecting, if that is an option.
        cells: the number of grid values of each column.

    Raises:
        InvalidArgument: an option is out of range; the classifier cannot do what is asked.
        InvalidFrame: X cannot be read.
        InvalidTable: the output of `predict_proba` is not a probability.
        UnknownVariable: there is no such column.
        TooLarge: the grid does not fit in the memory limit.

    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0.0, 0.0], [1.0, 0.5], [3.0, 3.0], [4.0, 3.5]], ["a", "a", "b", "b"]
    >>> regions(LogisticRegression().fit(X, y), X, y, reject=0.2, cells=50)
    class  share of the picture  points
    a      0.1448                2
    b      0.1448                2
    none   0.7104
    x0 and x1: 50 by 50 places
    """
    if not hasattr(classifier, "predict") or isinstance(classifier, type):
        raise InvalidArgument(f"A fitted classifier has predict(), and {shown(classifier)} has none.")
    if isinstance(cells, bool) or not isinstance(cells, int | np.integer) or not 2 <= cells <= _MOST_CELLS:
        raise InvalidArgument(f"cells= is a whole number from 2 to {_MOST_CELLS:,}, not {shown(cells)}.")
    if given is not None and not isinstance(given, Mapping):
        raise InvalidArgument(f"given= maps columns to values, not {shown(given)}.")
    rows = features(X)
    _, labels, rows = classes_column(rows, y)
    asked = _Asked(classifier, labels, loss, reject)
    varied = VariedRows(rows, columns, given or {}, int(cells))
    grid = np.meshgrid(*[axis.values for axis in varied.axes])
    codes, posterior, gains = asked.about(varied.rows(*(place.reshape(-1) for place in grid)))
    shape = grid[0].shape
    held = dict(varied.held)
    return Regions(
        classes=tuple(asked.classes),
        axes=varied.axes,
        codes=codes.reshape(shape),
        posterior=None if posterior is None else posterior.reshape(*shape, -1),
        gains=None if gains is None else gains.reshape(*shape, -1),
        held=held,
        points=None if labels is None else _points(labels, varied, asked),
        boundaries=tuple(_boundaries(codes, varied, asked)),
    )


class _Asked:
    """A classifier, wrapped to return codes of classes."""

    def __init__(self, classifier: Any, labels: Any, loss: Any, reject: float | None) -> None:
        self.classifier, self.loss, self.reject = classifier, loss, reject
        self.decides = loss is not None or reject is not None
        known = getattr(classifier, "classes_", None)
        if known is None and labels is not None:
            known = np.unique(np.asarray(labels))
        if known is not None and (isinstance(known, list) or np.asarray(known).ndim != 1):
            raise InvalidArgument("A picture shows one decision, and this classifier makes several.")
        self.classes: list[Any] = [] if known is None else np.asarray(known).tolist()
        if self.decides and not hasattr(classifier, "predict_proba"):
            raise InvalidArgument(
                f"loss= and reject= weigh probabilities, and {type(classifier).__name__} has no "
                "predict_proba: calibrate it first (sklearn.calibration.CalibratedClassifierCV)."
            )

    def about(self, rows: Any) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        """The code of the class predicted for each row; P(class); the gain of each action."""
        shares = None
        if hasattr(self.classifier, "predict_proba") and self.classes:
            shares = checked_shares(self.classifier.predict_proba(rows), self.classes)
        if self.decides:
            assert shares is not None
            target = Variable("class", self.classes)
            found = Decisions.of(shares, target, self.loss, self.reject)
            codes = found.risk.argmin(axis=1)
            codes[codes == len(self.classes)] = -1
            return codes, shares, -found.risk
        named = np.asarray(self.classifier.predict(rows))
        if named.ndim != 1:
            raise InvalidArgument("A picture shows one decision, and this classifier makes several.")
        if not self.classes:
            self.classes = np.unique(named).tolist()
        codes = self.coded(named)
        agree = shares is not None and bool((shares.argmax(axis=1) == codes).all())
        return codes, shares, shares if agree else None

    def coded(self, labels: np.ndarray) -> np.ndarray:
        """Codes of classes; -1 for anything else, such as a rejection."""
        place = {one: i for i, one in enumerate(self.classes)}
        return np.array([place.get(one, -1) for one in labels.tolist()], dtype=np.int64)


def checked_shares(found: Any, classes: list[Any]) -> np.ndarray:
    """P(class) of each row, if the classifier returns probabilities.

    >>> checked_shares([[0.25, 0.75]], ["a", "b"]).tolist()
    [[0.25, 0.75]]
    """
    if isinstance(found, list) and len(found) and np.ndim(found[0]) > 1:
        raise InvalidArgument("A picture shows one decision, and this classifier makes several.")
    shares = np.array(found, dtype=np.float64)
    if shares.ndim != 2 or shares.shape[1] != len(classes):
        raise InvalidTable(
            f"predict_proba has a column for each of the {len(classes)} classes, and these have the shape "
            f"{shares.shape}."
        )
    bad = ~((shares >= 0.0).all(axis=1) & (np.abs(shares.sum(axis=1) - 1.0) <= _OFF))
    if bad.any():
        raise InvalidTable(
            f"predict_proba returns {shown(shares[bad.argmax()].tolist())} for a row: these are not "
            "probabilities."
        )
    return shares


def _points(labels: Any, varied: VariedRows, asked: _Asked) -> Points:
    n = len(varied.column(varied.axes[0].name))
    places = tuple([axis.places(varied.column(axis.name)) for axis in varied.axes])
    codes = asked.coded(labels_of(labels, n))
    if (codes < 0).any():
        odd = np.asarray(labels)[codes < 0].tolist()[0]
        raise InvalidFrame(f"y has the class {shown(odd)}, which the classifier does not know.")
    return Points(places, codes)


def _boundaries(codes: np.ndarray, varied: VariedRows, asked: _Asked) -> list[Boundary]:
    """Where the code changes along one continuous column, by bisection."""
    if len(varied.axes) > 1 or not varied.axes[0].continuous:
        return []
    values = varied.axes[0].values
    before = np.flatnonzero(np.diff(codes))
    if not before.size:
        return []
    low, high = values[before].copy(), values[before + 1].copy()
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        same = asked.about(varied.rows(middle))[0] == codes[before]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    named = [*asked.classes, None]
    return [
        Boundary(float(at), named[codes[i]], named[codes[i + 1]])
        for at, i in zip(0.5 * (low + high), before.tolist(), strict=True)
    ]
