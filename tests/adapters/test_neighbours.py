"""Neighbours, edited sets and outliers: scikit-learn's battery, brute force, errors, prints and pictures."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import pgm
from pgm.adapters import (
    AdaptiveNeighbours,
    Condensing,
    DensityOutliers,
    EditedNeighbours,
    LargeMarginMetric,
    LocalOutlierRatio,
    NearestNeighbours,
    ProbabilisticNeuralNetwork,
    PrototypeClassifier,
    RCENetwork,
    SimilarityMap,
    SingleLinkageOutliers,
    VoronoiEditing,
    augmented_error,
    similar_cases,
)
from pgm.adapters.neighbours import voronoi
from pgm.adapters.neighbours.searching import nearest, nearest_in_part
from pgm.runtime.clock import start_clock
from tests.adapters.estimators import check

ALL: dict[str, tuple[Any, int]] = {
    "NearestNeighbours": (NearestNeighbours(3), 62),
    "tree": (NearestNeighbours(3, search="tree"), 62),
    "quadrants": (NearestNeighbours(3, search="quadrants", weights="distance"), 62),
    "PrototypeClassifier": (PrototypeClassifier(), 62),
    "several prototypes": (PrototypeClassifier(prototypes=2, seed=0), 62),
    "AdaptiveNeighbours": (AdaptiveNeighbours(), 55),
    "condensing": (EditedNeighbours(Condensing(seed=0)), 55),
    "voronoi": (EditedNeighbours("voronoi"), 55),
    "side": (EditedNeighbours("side", k=3), 55),
    "grab-bag": (EditedNeighbours("grab-bag"), 55),
    "ProbabilisticNeuralNetwork": (ProbabilisticNeuralNetwork(0.1), 62),
    "RCENetwork": (RCENetwork(), 55),
    "LargeMarginMetric": (LargeMarginMetric(), 48),
    "SimilarityMap": (SimilarityMap(), 47),
    "DensityOutliers": (DensityOutliers(), 46),
    "LocalOutlierRatio": (LocalOutlierRatio(), 45),
    "SingleLinkageOutliers": (SingleLinkageOutliers(), 43),
}


@pytest.mark.parametrize("name", ALL)
def test_scikit_learn_takes_them_for_its_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    estimator, count = ALL[name]
    check(clone(estimator), count, monkeypatch)


@pytest.mark.parametrize("name", ALL)
def test_columns_by_name_pickles_and_prints(name: str) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    classes = np.where(frame["a"] > 0.2, "high", "low")
    model = clone(ALL[name][0])
    assert repr(model).startswith(type(model).__name__)
    assert "<" in model._repr_html_()
    model.fit(frame, classes)
    again = pickle.loads(pickle.dumps(model))
    for ask in ("predict", "transform"):
        if hasattr(model, ask):
            found = getattr(model, ask)(frame[["b", "a"]])
            assert found.tolist() == getattr(again, ask)(frame.to_numpy()).tolist()
            with pytest.raises(pgm.InvalidFrame, match="no column 'b'"):
                getattr(model, ask)(frame[["a"]])
            with pytest.raises(pgm.InvalidFrame, match=r"Row 1 .* column 'b' \(NaN\)"):
                getattr(model, ask)(frame.assign(b=[0.0, np.nan] + [1.0] * 58))
    assert "<table" in model._repr_html_()
    assert type(model).__name__ in repr(model)


# --- the search ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_neighbours_by_all_distances(seed: int) -> None:
    """Equal distances go to the first row; more rows than one block."""
    rng = np.random.default_rng(seed)
    n, d, k = (1200, 3, 6) if seed == 0 else (30, seed, 5)
    rows, queries = rng.integers(4, size=(n, d)) * 1.0, rng.integers(4, size=(25, d)) * 1.0
    square = cdist(queries, rows, "sqeuclidean")
    order = np.argsort(square, axis=1, kind="stable")[:, :k]
    for search in (nearest, nearest_in_part):
        found = search(rows, queries, k, start_clock())
        assert found.near.tolist() == order.tolist()
        assert found.far.tolist() == np.take_along_axis(square, order, 1).tolist()
    own = nearest(rows, rows, k, start_clock(), own=True)
    square = cdist(rows, rows, "sqeuclidean")
    np.fill_diagonal(square, np.inf)
    assert own.near.tolist() == np.argsort(square, axis=1, kind="stable")[:, :k].tolist()
    few = nearest(rows[:2], queries, 3, start_clock())
    assert (few.near[:, 2] == -1).all()
    assert np.isinf(few.far[:, 2]).all()


# --- Voronoi editing ----------------------------------------------------------------------------------------


def walls_by_program(rows: np.ndarray) -> np.ndarray:
    """Pairs that some place is equally near to, and nearer than to all others: a program for each pair."""
    n, d = rows.shape
    found = np.zeros((n, n), bool)
    for i, j in itertools.combinations(range(n), 2):
        off, square = rows - rows[i], (rows**2).sum(axis=1) - (rows[i] ** 2).sum()
        others = [t for t in range(n) if t not in (i, j)]
        answer = linprog(
            [0.0] * d + [-1.0],
            A_ub=np.column_stack([2 * off[others], np.ones(n - 2)]),
            b_ub=square[others],
            A_eq=[[*(2 * off[j]), 0.0]],
            b_eq=[square[j]],
            bounds=[(None, None)] * d + [(None, 1.0)],
        )
        found[i, j] = found[j, i] = answer.status == 0 and answer.x[-1] > 1e-9
    return found


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_voronoi_editing_in_any_dimension(d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(d)
    rows = rng.normal(size=(14, d))
    classes = (rows[:, 0] > 0.3).astype(int)
    walls = walls_by_program(rows)
    expected = [i for i in range(14) if (walls[i] & (classes != classes[i])).any()]
    assert EditedNeighbours("voronoi").fit(rows, classes).indices_.tolist() == expected
    monkeypatch.setattr(voronoi, "voronoi_neighbours", lambda rows: None)  # by rays and programs alone
    assert EditedNeighbours("voronoi").fit(rows, classes).indices_.tolist() == expected
    monkeypatch.setattr(voronoi, "_TRIES", 1)
    assert EditedNeighbours("voronoi").fit(rows, classes).indices_.tolist() == expected


@pytest.mark.parametrize("d", [2, 6])
def test_the_nearest_row_decides_as_before(d: int) -> None:
    rng = np.random.default_rng(10 + d)
    rows = rng.normal(size=(60, d))
    classes = (rows[:, 0] + rows[:, 1] > 0.0).astype(int)
    edited = EditedNeighbours("voronoi").fit(rows, classes)
    assert len(edited.indices_) < 60 or d == 6
    asked = rng.normal(size=(3000, d)) * 2.0
    whole = NearestNeighbours(1).fit(rows, classes)
    assert edited.predict(asked).tolist() == whole.predict(asked).tolist()


def test_places_of_several_classes_and_rows_in_a_line() -> None:
    rows = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [2.0, 2.0], [3.0, 3.0], [9.0, 9.0]])
    found = EditedNeighbours("voronoi").fit(rows, list("aaabbb"))
    assert found.indices_.tolist() == [1, 2, 3, 4]
    again = EditedNeighbours(Condensing(order="given")).fit(rows, list("aaabbb"))
    assert again.converged_  # rows 2 and 3 cannot both be right
    assert again.training_error_ == pytest.approx(1 / 6)


def test_many_programs_are_said_before() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 6))
    classes = (rows[:, 0] > 0.0).astype(int)
    with pytest.raises(pgm.TooLarge, match=r"up to [\d,]+ linear programs of 299 constraints") as caught:
        EditedNeighbours(VoronoiEditing(programs=10)).fit(rows, classes)
    assert "programs=10 are allowed" in str(caught.value)


# --- stops, errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        EditedNeighbours("condensing"),
        EditedNeighbours(VoronoiEditing(programs=10**9)),
        RCENetwork(),
        NearestNeighbours(search="partial"),
    ],
    ids=lambda model: repr(model)[:40],
)
def test_the_time_limit_holds(model: Any) -> None:
    rng = np.random.default_rng(2)
    rows, classes = rng.normal(size=(6000, 12)), rng.integers(2, size=6000)
    with pgm.config(time_limit=0.05), pytest.raises(pgm.OutOfTime):
        clone(model).fit(rows, classes).predict(rows)


ROWS, OF = [[0.0, 1.0], [1.0, 0.5], [4.0, 1.0], [5.0, 0.0]], list("aabb")
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "k": (lambda: NearestNeighbours(0).fit(ROWS, OF), "k= is a whole number"),
    "many": (lambda: NearestNeighbours(9).fit(ROWS, OF), "k=9 neighbours, and there are n_samples=4 rows"),
    "weights": (lambda: NearestNeighbours(weights="distances").fit(ROWS, OF), "Did you mean 'distance'"),
    "search": (lambda: NearestNeighbours(search="trees").fit(ROWS, OF), "Did you mean 'tree'"),
    "first": (lambda: NearestNeighbours(first=1).fit(ROWS, OF), "first= and limit= go together"),
    "first of": (lambda: NearestNeighbours(first=1, limit=1.0).fit(ROWS, OF), 'search="partial"'),
    "first much": (
        lambda: NearestNeighbours(search="partial", first=3, limit=1.0).fit(ROWS, OF),
        "there are 2 columns",
    ),
    "counted": (
        lambda: NearestNeighbours(search="tree").fit(ROWS, OF).looked_at(ROWS),
        "does not count",
    ),
    "volume": (lambda: NearestNeighbours(1).fit(ROWS, OF).class_densities(ROWS), "Row 0 .* no volume"),
    "prototypes": (lambda: PrototypeClassifier(3).fit(ROWS, OF), "the class 'a' has 2 rows"),
    "distance": (lambda: PrototypeClassifier(distance="mahalanobi").fit(ROWS, OF), "Did you mean 'mahalan"),
    "singular": (
        lambda: PrototypeClassifier(distance="mahalanobis").fit(ROWS, OF),
        "class 'a', which is sing",
    ),
    "neighbourhood": (lambda: AdaptiveNeighbours(3, neighbourhood=2).fit(ROWS, OF), "make that larger"),
    "method": (lambda: EditedNeighbours("condense").fit(ROWS, OF), "Did you mean 'condensing'"),
    "method kind": (lambda: EditedNeighbours(3).fit(ROWS, OF), "method= is .* or one with options"),
    "order": (lambda: EditedNeighbours(Condensing(order="up")).fit(ROWS, OF), "order= is"),
    "starts": (lambda: EditedNeighbours(Condensing(order="given", starts=2)).fit(ROWS, OF), "same rows"),
    "voronoi": (lambda: EditedNeighbours("voronoi", k=3).fit(ROWS, OF), "k=1"),
    "boundary": (
        lambda: EditedNeighbours(pgm.adapters.SideEditing(boundary=3)).fit(ROWS, OF),
        "boundary= is a classifier",
    ),
    "kept": (lambda: augmented_error(ROWS, OF, [0, 7]), "places from 0 to 3"),
    "kept none": (lambda: augmented_error(ROWS, OF, []), "has places of rows"),
    "penalty": (lambda: augmented_error(ROWS, OF, [0], penalty=-1.0), "penalty="),
    "sigma": (lambda: ProbabilisticNeuralNetwork(0.0).fit(ROWS, OF), "sigma= is a finite number above 0"),
    "classes": (lambda: ProbabilisticNeuralNetwork().partial_fit(ROWS, OF), "names all classes"),
    "strange": (
        lambda: ProbabilisticNeuralNetwork().fit(ROWS, OF).partial_fit(ROWS, list("aabc")),
        "the class 'c'",
    ),
    "largest": (lambda: RCENetwork(largest=-1.0).fit(ROWS, OF), "largest="),
    "form": (lambda: LargeMarginMetric(form="diag").fit(ROWS, OF), "form= is"),
    "dim": (lambda: LargeMarginMetric(dim=3).fit(ROWS, OF), "at most the number of columns, 2"),
    "sparsity": (lambda: LargeMarginMetric(sparsity=1.0).fit(ROWS, OF), 'form="diagonal"'),
    "weight": (lambda: LargeMarginMetric(margin_weight=1.0).fit(ROWS, OF), "margin_weight="),
    "similarity": (lambda: SimilarityMap("rfb").fit(ROWS), "Did you mean 'rbf'"),
    "contamination": (lambda: DensityOutliers(contamination=0.7).fit(ROWS), "0.5 at most"),
    "density": (lambda: DensityOutliers(LogisticRegression()).fit(ROWS), "score_samples"),
    "equal": (lambda: DensityOutliers().fit([[1.0]] * 5), "rows are equal"),
    "ratio": (lambda: LocalOutlierRatio(4).fit(ROWS), "k=5|n_samples=4"),
    "one": (lambda: SingleLinkageOutliers().fit([[1.0]]), "1 sample"),
    "cases": (
        lambda: similar_cases(LogisticRegression().fit(ROWS, OF), [ROWS[0]], ROWS, OF),
        "LogisticRegression has no neighbours",
    ),
    "cases many": (
        lambda: similar_cases(NearestNeighbours(1).fit(ROWS, OF), ROWS, ROWS, OF),
        "There are 4 rows",
    ),
    "cases other": (
        lambda: similar_cases(NearestNeighbours(1).fit(ROWS, OF), [ROWS[0]], ROWS[:3], OF[:3]),
        "fitted to 4 cases",
    ),
    "picture": (lambda: RCENetwork().fit([[1.0], [2.0]], ["a", "b"]).plot(), "two columns"),
    "picture of others": (
        lambda: EditedNeighbours("voronoi").fit(ROWS, OF).plot(ROWS[:2], OF[:2]),
        "not the 4 rows",
    ),
    "columns": (lambda: LocalOutlierRatio(2).fit(ROWS).plot(ROWS, columns="x7"), "columns among"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name: str) -> None:
    call, said = WRONG[name]
    with pytest.raises(pgm.PGMError, match=said):
        call()


def test_tables_are_planned() -> None:
    rows = np.zeros((2000, 1)) + np.arange(2000)[:, None]
    with pgm.config(memory_limit="10 MB"):
        with pytest.raises(pgm.TooLarge, match=r"2,000 times 2,000 similarities takes about 32\.0 MB"):
            SimilarityMap().fit_transform(rows)
        with pytest.raises(pgm.TooLarge, match="distances"):
            SingleLinkageOutliers().fit(rows)


def test_a_fit_that_fails_changes_nothing() -> None:
    model = EditedNeighbours("voronoi").fit(ROWS, OF)
    before = model.indices_.tolist()
    with pytest.raises(pgm.InvalidArgument):
        model.set_params(k=3).fit(ROWS, OF)
    assert model.indices_.tolist() == before


def test_classes_that_editing_removes_are_said() -> None:
    rows = [[0.0], [1.0], [1.1], [2.0], [3.0]]
    with pytest.warns(UserWarning, match="No row of the class 'b' is left"):
        found = EditedNeighbours("side").fit(rows, list("aabaa"))
    assert found.predict([[1.1]]).tolist() == ["a"]


def test_a_metric_that_says_nothing_is_said() -> None:
    rng = np.random.default_rng(3)
    rows, classes = rng.uniform(size=(60, 2)), rng.integers(2, size=60)
    with pytest.warns(UserWarning, match="all rows are in one place"):
        LargeMarginMetric(5).fit(rows, classes)


def test_rows_in_one_place_are_no_outliers() -> None:
    model = LocalOutlierRatio(2).fit([[0.0], [0.0], [0.0], [5.0]])
    assert model.ratios_.tolist() == [1.0, 1.0, 1.0, np.inf]


# --- pictures -----------------------------------------------------------------------------------------------


def test_pictures_show_what_was_found() -> None:
    rng = np.random.default_rng(4)
    rows = pd.DataFrame(rng.normal(size=(40, 2)), columns=["length", "$width"])
    classes = np.where(rows["length"] > 0.0, "a", "b")
    edited = EditedNeighbours("voronoi").fit(rows, classes)
    ax = edited.plot(rows, classes)
    assert ax.get_title() == f"{len(edited.indices_)} of 40 rows kept"
    stars = [line for line in ax.lines if line.get_marker() == "*"]
    assert len(stars[0].get_xdata()) == 40 - len(edited.indices_)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "not kept"]
    assert len(ax.collections[0].get_paths()) == 40
    ax = RCENetwork().fit(rows, classes).plot(title="discs")
    assert ax.get_title() == "discs"
    assert sum(len(c.get_paths()) for c in ax.collections) == 40
    model = LocalOutlierRatio(3).fit(rows)
    ax = model.plot([[9.0, 9.0], [0.0, 0.0]])
    circles = ax.collections[0].get_paths()
    assert len(circles) == 40
    radii = [path.get_extents().width / 2 for path in circles]
    assert radii == pytest.approx(model.reach_.tolist())
    assert ax.get_title() == "1 of 2 rows are outliers"
    assert DensityOutliers().fit(rows).plot(rows, columns="length").get_xlabel() == "length"
    tree = SingleLinkageOutliers().fit(rows)
    assert tree.plot().lines[-1].get_ydata()[0] == tree.distance_
    assert SingleLinkageOutliers().fit(rng.normal(size=(90, 2))).plot().get_xlabel().startswith("the last")
    cases = similar_cases(NearestNeighbours(3).fit(rows, classes), rows[:1], rows, classes)
    assert [bar.get_width() for bar in cases.plot().patches] == pytest.approx(cases.distances)


@pytest.mark.parametrize("kind", ["array", "objects", "pandas", "nullable", "polars", "dict"])
def test_true_and_false_are_the_numbers_one_and_zero(kind: str) -> None:
    told = np.array([True, False, True, True, False])
    x = np.array([0.1, 0.9, 0.4, 0.3, 0.7])
    columns: dict[str, Any] = {"told": told, "x": x}
    if kind == "array":
        rows: Any = np.column_stack([told, ~told])
        columns = {"told": told, "other": ~told}
    elif kind == "objects":
        rows = np.array([[bool(a), b] for a, b in zip(told, x, strict=True)], dtype=object)
    elif kind == "dict":
        rows = columns
    elif kind == "polars":
        rows = pytest.importorskip("polars").DataFrame(columns)
    else:
        rows = pytest.importorskip("pandas").DataFrame(columns)
        if kind == "nullable":
            rows = rows.astype({"told": "boolean"})
    plain = np.column_stack(list(columns.values())).astype(float)
    found = NearestNeighbours(2).fit(rows, ["a", "b", "b", "a", "b"])
    other = NearestNeighbours(2).fit(plain, ["a", "b", "b", "a", "b"])
    np.testing.assert_array_equal(found.predict_proba(rows), other.predict_proba(plain))
    with pytest.raises(pgm.InvalidFrame, match=r"not .dog.[^;]*Leave such rows out"):
        found.fit([["dog", 1.0], [True, 0.0]], ["a", "b"])


@pytest.mark.parametrize("made", [LargeMarginMetric(1, dim=1), SimilarityMap("rbf"), pgm.KMeans(2, seed=0)])
def test_transformers_return_frames_on_request(made: Any) -> None:
    from sklearn import config_context
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    polars = pytest.importorskip("polars")
    frame = pd.DataFrame(
        np.random.default_rng(1).normal(size=(6, 2)), columns=["a", "b"], index=[5, 3, 9, 1, 7, 8]
    )
    classes = ["p", "q", "p", "q", "p", "q"]
    plain = clone(made).fit(frame, classes).transform(frame)
    names = [f"{type(made).__name__.lower()}{i}" for i in range(plain.shape[1])]
    told = clone(made).set_output(transform="pandas").fit(frame, classes)
    found = clone(told).fit(frame, classes).transform(frame)  # a clone keeps the choice
    assert found.columns.tolist() == told.get_feature_names_out().tolist() == names
    assert found.index.tolist() == [5, 3, 9, 1, 7, 8]
    np.testing.assert_array_equal(found.to_numpy(), plain)
    np.testing.assert_array_equal(
        told.set_output(transform=None).fit_transform(frame, classes).to_numpy(), plain
    )
    with config_context(transform_output="polars"):
        assert isinstance(clone(made).fit(frame, classes).transform(frame), polars.DataFrame)
    pipeline = make_pipeline(StandardScaler(), clone(made)).set_output(transform="pandas")
    assert pipeline.fit_transform(frame, classes).columns.tolist() == names
    assert isinstance(told.set_output(transform="default").transform(frame), np.ndarray)
    with pytest.raises(pgm.InvalidArgument, match="'default', 'pandas'"):
        told.set_output(transform="excel")
    with pytest.raises(pgm.IncompleteModel):
        clone(made).get_feature_names_out()


def test_a_probabilistic_network_draws_its_layers() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(pgm.IncompleteModel):
        ProbabilisticNeuralNetwork().plot()
    told = ProbabilisticNeuralNetwork().fit([[1, 0], [3, 4], [0, 1], [-1, 0]], [1, 1, 2, 2])
    ax = told.plot()
    assert ax.get_title() == "2 inputs, 4 hidden units, 2 classes"
    assert len(ax.collections[0].get_segments()) == 2 * 4  # each column goes to each unit
    links = [line for line in ax.lines if len(line.get_xdata()) == 2]
    ends: dict[float, int] = {}
    for line in links:  # each unit goes to its class alone
        ends[line.get_ydata()[1]] = ends.get(line.get_ydata()[1], 0) + 1
    assert sorted(ends.values()) == [2, 2]
    frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=["a", "b", "c"])
    many = ProbabilisticNeuralNetwork().fit(frame, np.repeat(["x", "y", "z"], 30)).plot(title="units")
    assert "and 74 more" in [text.get_text() for text in many.texts]
    assert many.get_title() == "units"


WEIGHED = {
    "uniform": NearestNeighbours(4),
    "distance": NearestNeighbours(4, weights="distance"),
    "partial": NearestNeighbours(3, search="partial"),
    "tree": NearestNeighbours(5, search="tree"),
    "quadrants": NearestNeighbours(3, search="quadrants"),
    "means": PrototypeClassifier(distance="mahalanobis"),
    "shared": PrototypeClassifier(distance="shared"),
    "units": ProbabilisticNeuralNetwork(0.5),
}


@pytest.mark.parametrize("name", WEIGHED)
def test_weights_are_rows_repeated(name: str) -> None:
    """Whole weights, with zeros; and fractions of them, where only their ratios to k matter."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows, classes = rng.normal(size=(30, 2)), rng.permutation(np.repeat(["a", "b", "c"], 10))
        weights = rng.integers(0, 5, 30)
        asked = rng.normal(size=(25, 2))
        weighed, repeated = clone(WEIGHED[name]), clone(WEIGHED[name])
        weighed.fit(rows, classes, sample_weight=weights)
        repeated.fit(rows.repeat(weights, axis=0), classes.repeat(weights))
        assert weighed.predict(asked).tolist() == repeated.predict(asked).tolist()
        for method in ("predict_proba", "class_densities", "distances", "activations"):
            if hasattr(weighed, method):
                found, right = (getattr(one, method)(asked) for one in (weighed, repeated))
                np.testing.assert_allclose(found, right, rtol=1e-9)
        right = (weighed.predict(rows) == classes).astype(float)
        assert weighed.score(rows, classes, weights) == pytest.approx((right * weights).sum() / weights.sum())
        if isinstance(weighed, NearestNeighbours) and name != "quadrants":
            far, near = weighed.kneighbors(asked)
            assert (weights[near] > 0).all()  # the places are those of all rows of `fit`
            np.testing.assert_allclose(far, np.linalg.norm(asked[:, None] - rows[near], axis=2))
            tenth = clone(weighed).set_params(k=1).fit(rows, classes, sample_weight=np.full(30, 0.1))
            ten = clone(weighed).set_params(k=10).fit(rows, classes)
            np.testing.assert_allclose(tenth.predict_proba(asked), ten.predict_proba(asked), atol=1e-12)
            with pytest.raises(
                pgm.errors.InvalidArgument, match="k=4 neighbours, and there are n_samples=3 "
            ):
                tenth.set_params(k=4).fit(rows, classes, sample_weight=np.full(30, 0.1))


def test_units_that_are_added_have_weights() -> None:
    whole = ProbabilisticNeuralNetwork().fit([[3, 4], [0, 2], [1, 0]], list("abb"), [2.0, 0.5, 1.5])
    parts = ProbabilisticNeuralNetwork().partial_fit([[3, 4]], ["a"], ["a", "b"], sample_weight=[2.0])
    parts.partial_fit([[0, 2], [5, 5], [1, 0]], list("bab"), sample_weight=[0.5, 0.0, 1.5])
    np.testing.assert_array_equal(parts.activations([[1, 2]]), whole.activations([[1, 2]]))
    assert len(parts.weights_) == 3


def test_neighbours_learn_with_a_network_from_rows_that_count_differently() -> None:
    """By weights, and in EM, where a class that is missing is divided among the states."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    frame = {"x": x, "c": (x + rng.normal(size=40) > 0.0).tolist()}
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    net.add("c", pgm.EstimatorCPD(NearestNeighbours(3), parents=["x"]))
    counts = rng.integers(0, 3, 40)
    net.fit(frame, weights=counts.astype(float))
    alone = NearestNeighbours(3).fit(x.repeat(counts)[:, None], np.array(frame["c"]).repeat(counts))
    np.testing.assert_allclose(net.predict_proba({"x": x}, "c"), alone.predict_proba(x[:, None]), atol=1e-12)
    net = net.copy()
    net.fit(frame)  # all rows, so that each is among its own neighbours
    frame["c"] = [None, None, *frame["c"][2:]]
    net.fit(frame)
    assert net.query("c", {"x": 0.0}).values.sum() == pytest.approx(1.0)
