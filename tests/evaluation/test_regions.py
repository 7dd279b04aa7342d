"""Regions of classifiers: what is drawn is what the classifier says, whoever made it."""

import pickle

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from scipy.stats import norm
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import pgm
from pgm.evaluation import regions
from pgm.plot.canvas import DARK_LINES, GROUPS
from pgm.plot.regions import NONE

RNG = np.random.default_rng(7)
X = np.vstack([RNG.normal(m, 1.0, (40, 3)) for m in ([0, 0, 0], [3, 1, 0], [1, 4, 1])])
Y = np.repeat(["a", "b", "c"], 40)
FITTED = LogisticRegression().fit(X, Y)


class Said:
    """A classifier that says what it is told to."""

    def __init__(self, named, classes=("a", "b"), shares=None):
        self.named, self.classes_ = named, np.array(classes)
        if shares is not None:
            self.predict_proba = lambda rows: np.array([shares] * len(rows))

    def predict(self, rows):
        return np.array([self.named(row) for row in rows], dtype=object)


def test_each_place_is_what_the_classifier_says_there():
    found = regions(FITTED, X, columns=(0, 2), cells=23)
    grid = np.array([[[u, np.median(X[:, 1]), w] for u in found.along[0]] for w in found.along[1]])
    said = FITTED.predict(grid.reshape(-1, 3)).reshape(23, 23)
    assert (np.array(found.classes)[found.codes] == said).all()
    np.testing.assert_allclose(
        found.posterior, FITTED.predict_proba(grid.reshape(-1, 3)).reshape(23, 23, 3), atol=1e-15
    )
    assert found.names == ("x0", "x2")
    assert found.held == {"x1": float(np.median(X[:, 1]))}
    assert sum(found.share(name) for name in "abc") == pytest.approx(1.0)
    assert found.share("b") == pytest.approx((said == "b").mean())


def test_reject_is_chows_rule_and_losses_are_weighed():
    found = regions(FITTED, X, reject=0.3, cells=31)
    surest = found.posterior.max(axis=-1)
    assert ((found.codes == -1) == (surest < 0.7)).all()
    assert 0.0 < found.share(None) < 0.5
    cost = np.array([[0, 5, 1], [1, 0, 1], [1, 1, 0]], dtype=float)
    dear = regions(FITTED, X, loss=cost, cells=31)
    assert (dear.codes == (dear.posterior @ cost).argmin(axis=-1)).all()
    same = regions(FITTED, X, loss={("a", "b"): 5, ("a", "c"): 1, ("b", "a"): 1, ("b", "c"): 1,
                                    ("c", "a"): 1, ("c", "b"): 1}, cells=31)  # fmt: skip
    assert (dear.codes == same.codes).all()
    assert dear.share("b") < regions(FITTED, X, cells=31).share("b")


def test_F11_O3_the_boundary_of_two_normals_is_where_they_tie():
    told = LinearDiscriminantAnalysis()
    told.classes_ = np.array([1, 2])

    def by_bayes(prior):
        def predict_proba(rows):
            joint = norm.pdf(rows, [0.0, 2.0], 1.0) * [prior, 1.0 - prior]
            return joint / joint.sum(axis=1, keepdims=True)

        made = Said(lambda row: 0)
        made.classes_ = np.array(["N", "A"])
        made.predict_proba = predict_proba
        made.predict = lambda rows: made.classes_[predict_proba(rows).argmax(axis=1)]
        return made

    data = np.array([[-4.0], [6.0]])
    (one,) = regions(by_bayes(0.5), data, cells=50).boundaries
    assert (one.below, one.above) == ("N", "A")
    assert one.at == pytest.approx(1.0, abs=1e-12)
    (other,) = regions(by_bayes(0.9), data, cells=50).boundaries
    assert other.at == pytest.approx(2.0986122887, abs=1e-10)
    low, high = regions(by_bayes(0.5), data, reject=0.2, cells=50).boundaries  # sigmoid(2 - 2x) = 0.8
    assert (low.above, high.below) == (None, None)
    np.testing.assert_allclose([low.at, high.at], [1 - np.log(4) / 2, 1 + np.log(4) / 2], atol=1e-12)


@pytest.mark.parametrize("kind", ["dict", "list", "pandas", "polars", "pyarrow"])
def test_frames_of_all_kinds_come_to_the_classifier_as_they_were(kind):
    columns = {"u": X[:, 0], "hot": np.where(X[:, 1] > 1, "yes", "no"), "v": X[:, 2]}
    seen = []

    class Looks(Said):
        def predict(self, rows):
            seen.append(rows)
            n = len(rows["u"]) if not isinstance(rows, list) else len(rows)
            return np.array(["a", "b"])[np.arange(n) % 2]

    frame = columns
    if kind == "list":
        frame = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    elif kind == "pyarrow":
        frame = pytest.importorskip("pyarrow").table({k: v.tolist() for k, v in columns.items()})
    elif kind != "dict":
        frame = pytest.importorskip(kind).DataFrame({k: v.tolist() for k, v in columns.items()})
    found = regions(Looks(None), frame, columns=["v", "hot"], cells=4)
    assert found.codes.shape == (2, 4)
    assert found.held == {"u": float(np.median(X[:, 0]))}
    assert found.along[1].tolist() == ["no", "yes"]
    asked = seen[0]
    assert type(asked) is (dict if kind == "list" else type(frame))
    assert list(asked if kind in ("dict", "list") else getattr(asked, "column_names", asked.columns)) == [
        "u", "hot", "v"]  # fmt: skip
    hot = asked["hot"].to_pylist() if kind == "pyarrow" else list(asked["hot"])
    assert hot == ["no"] * 4 + ["yes"] * 4


def test_a_pipeline_of_states_and_numbers():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"u": X[:, 0], "hot": pd.Categorical(np.where(X[:, 1] > 1, "yes", "no")), "y": Y})
    told = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["hot"]), remainder=StandardScaler()), GaussianNB()
    ).fit(frame[["u", "hot"]], Y)
    found = regions(told, frame, "y", given={"hot": "no"}, columns="u")
    assert found.held == {"hot": "no"}
    assert len(found.points.codes) == 120
    asked = pd.DataFrame({"u": found.along[0], "hot": "no"})
    assert (np.array(found.classes)[found.codes] == told.predict(asked)).all()


def test_classifiers_of_pgm():
    told = pgm.DiscriminantAnalysis().fit({"u": X[:, 0], "v": X[:, 1]}, Y)
    found = regions(told, {"u": X[:, 0], "v": X[:, 1]}, Y, cells=11)
    rows = [{"u": u, "v": v} for v in found.along[1] for u in found.along[0]]
    assert [found.classes[c] for c in found.codes.reshape(-1)] == told.predict(rows).tolist()


def test_what_a_classifier_itself_rejects_is_none_of_the_classes():
    told = Said(lambda row: "a" if row[0] < 0.3 else None if row[0] < 0.6 else "b")
    found = regions(told, [[0.0], [1.0]], cells=100)
    assert [(b.below, b.above) for b in found.boundaries] == [("a", None), (None, "b")]
    np.testing.assert_allclose([b.at for b in found.boundaries], [0.3, 0.6], atol=1e-12)
    assert "none" in repr(found)


def test_detectors_of_outliers_have_regions_too():
    found = regions(IsolationForest(n_estimators=5, random_state=0).fit(X[:, :2]), X[:, :2], cells=20)
    assert found.classes == (-1, 1)
    assert found.posterior is None
    assert 0.0 < found.share(1) < 1.0


def test_the_picture_shows_the_codes():
    for told, options in [(FITTED, {"reject": 0.3}), (LinearSVC().fit(X, Y), {})]:
        found = regions(told, X, Y, cells=20, **options)
        ax = found.plot()
        pixels = ax.images[0].get_array()
        shown = (np.abs(pixels - np.array(to_rgb(NONE))).max(axis=-1) < 1e-9).reshape(20, 20)
        assert (shown == (found.codes < 0)).all()
        for a in range(3):
            mine = pixels[found.codes == a]
            assert len(mine)
            assert not any((pixels[found.codes == b] == mine[0]).all(-1).any() for b in range(3) if b != a)
        assert [t.get_text() for t in ax.get_legend().get_texts()][:3] == ["a", "b", "c"]
        assert ax.get_xlabel() == "x0"
        assert "x2 = " in ax.get_title().replace("\n", " ")
        points = np.vstack([c.get_offsets() for c in ax.collections if len(c.get_offsets()) == 40])
        np.testing.assert_allclose(np.sort(points[:, 0]), np.sort(X[:, 0]))


def test_the_picture_of_one_column_has_curves_of_probabilities():
    found = regions(FITTED, X, Y, columns=1, reject=0.4)
    ax = found.plot(title="one")
    curves = [line for line in ax.lines if line.get_label() in "abc"]
    for c, line in enumerate(curves):
        np.testing.assert_allclose(line.get_ydata(), found.posterior[:, c])
    assert len(curves) == 3
    assert ax.get_title() == "one"
    assert regions(LinearSVC().fit(X, Y), X, columns=1).plot().get_yticks().size == 0


def test_answers_are_values():
    found = regions(FITTED, X, Y, reject=0.3, cells=5)
    again = pickle.loads(pickle.dumps(found))
    assert repr(again) == repr(found)
    assert (again.codes == found.codes).all()
    with pytest.raises(AttributeError, match="does not change"):
        found.codes = None
    with pytest.raises(ValueError, match="read-only"):
        found.codes[0, 0] = 1
    assert found.to_dict()["class"][:5] == found.to_pandas()["class"].tolist()[:5]
    assert "<table" in found._repr_html_()


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        (lambda: regions(LogisticRegression, X), pgm.InvalidArgument, "predict"),
        (lambda: regions(FITTED, X, cells=1), pgm.InvalidArgument, "cells="),
        (lambda: regions(FITTED, X, columns=[0, 0]), pgm.InvalidArgument, "one column or two"),
        (lambda: regions(FITTED, X, columns=3), pgm.InvalidArgument, "0 to 2"),
        (lambda: regions(FITTED, X, columns="x7"), pgm.UnknownVariable, "x7"),
        (lambda: regions(FITTED, X, given={"x0": 1}), pgm.InvalidArgument, "one of the columns drawn"),
        (lambda: regions(FITTED, X, given={"z": 1}), pgm.UnknownVariable, "given="),
        (lambda: regions(FITTED, X, given=3), pgm.InvalidArgument, "given="),
        (lambda: regions(LinearSVC().fit(X, Y), X, reject=0.1), pgm.InvalidArgument, "calibrate"),
        (lambda: regions(FITTED, X, ["z"] * 120), pgm.InvalidFrame, "'z'"),
        (lambda: regions(FITTED, X, Y[:3]), pgm.InvalidArgument, "120 rows"),
        (lambda: regions(Said(str, shares=[0.3, 0.3]), X), pgm.InvalidTable, "not probabilities"),
        (lambda: regions(Said(str, shares=[np.nan, 0.3]), X), pgm.InvalidTable, "not probabilities"),
        (lambda: regions(Said(str, shares=[1.0]), X), pgm.InvalidTable, "2 classes"),
        (lambda: regions(MultiOutputClassifier(LogisticRegression()).fit(X, np.c_[Y, Y]), X),
         pgm.InvalidArgument, "several"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_said(asked, error, said):
    with pytest.raises(error, match=said):
        asked()


def test_more_places_than_memory_are_refused_before():
    with pgm.config(memory_limit="1 MB"), pytest.raises(pgm.TooLarge, match="cells=1,000"):
        regions(FITTED, X, cells=1000)


def test_classes_have_hues_of_their_own():
    """Also three and four: pairs of one hue, dark and light, come only after all hues."""
    ax = regions(FITTED, X, Y, cells=11).plot()
    points = [
        c.get_facecolor()[0, :3].tolist()
        for c in ax.collections
        if len(c.get_facecolor()) and len(c.get_offsets()) == 40
    ]
    assert points == [list(to_rgb(colour)) for colour in DARK_LINES[:3]]
    assert len(set(GROUPS)) == 8
