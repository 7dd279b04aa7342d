"""Rows reach an estimator without a copy where they are one matrix, and nothing is written into the frame."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pgm
from pgm.frames import real_columns, side_by_side
from pgm.frames.side_by_side import block
from pgm.variables import REAL, Variable

RNG = np.random.default_rng(3)
NAMES = ["a", "b", "c"]
ROWS = RNG.normal(size=(50, 3))
CLASSES = np.where(ROWS @ [1.0, -2.0, 0.5] > 0.0, "yes", "no")
same = np.testing.assert_array_equal
SEEN = []


class Looking(ClassifierMixin, RegressorMixin, BaseEstimator):
    """An estimator that remembers the memory it was given; `writes`: it changes it, too."""

    def __init__(self, writes=False):
        self.writes = writes

    def fit(self, x, y):
        self.inner_ = LogisticRegression().fit(x, y)
        self.classes_, self.n_features_in_ = self.inner_.classes_, x.shape[1]
        return self

    def predict_proba(self, x):
        SEEN.append(x)
        if self.writes:
            x *= 2.0
        return self.inner_.predict_proba(x)


def network(estimator):
    net = pgm.BayesianNetwork()
    for name in NAMES:
        net.add(name, pgm.Gaussian(0.0, sd=1.0))
    net.add("class", pgm.EstimatorCPD(estimator, parents=NAMES))
    return net


FRAMES = {
    "pandas": lambda rows: pd.DataFrame(rows, columns=NAMES),
    "pandas, a column more": lambda rows: pd.DataFrame(rows, columns=NAMES).assign(class_0="x", note=1),
    "pandas, other order": lambda rows: pd.DataFrame(rows, columns=NAMES)[["c", "a", "b"]],
    "pandas, in three parts": lambda rows: pd.concat(
        [pd.Series(rows[:, i], name=name) for i, name in enumerate(NAMES)], axis=1
    ),
    "columns of a matrix": lambda rows: {name: rows[:, i] for i, name in enumerate(NAMES)},
    "arrays": lambda rows: {name: rows[:, i].copy() for i, name in enumerate(NAMES)},
    "polars": lambda rows: pl.DataFrame({name: rows[:, i] for i, name in enumerate(NAMES)}),
    "lists": lambda rows: {name: rows[:, i].tolist() for i, name in enumerate(NAMES)},
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_gives_the_classifiers_own_answer(kind):
    rows = RNG.normal(size=(20, 3))
    own = LogisticRegression().fit(ROWS, CLASSES)
    found = network(own).predict_proba(FRAMES[kind](rows), "class")
    np.testing.assert_allclose(np.asarray(found), own.predict_proba(rows), atol=1e-15)


@pytest.mark.parametrize("kind", ["pandas", "columns of a matrix"])
def test_rows_that_are_one_matrix_are_not_copied(kind):
    frame = FRAMES[kind](RNG.normal(size=(20, 3)))
    net = network(Looking().fit(ROWS, CLASSES))
    SEEN.clear()
    net.predict_proba(frame, "class")
    (taken,) = SEEN
    assert np.shares_memory(taken, frame["a"])


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    "estimator", [Looking(writes=True), make_pipeline(StandardScaler(copy=False), Looking())]
)
def test_an_estimator_that_writes_to_its_rows_changes_no_frame(kind, estimator):
    rows = RNG.normal(size=(20, 3))
    frame, before = FRAMES[kind](rows), FRAMES[kind](rows.copy())
    fitted = estimator.fit(ROWS.copy(), CLASSES)
    found = network(fitted).predict_proba(frame, "class")
    np.testing.assert_allclose(np.asarray(found), fitted.predict_proba(rows.copy()), atol=1e-15)
    for name in NAMES:
        same(np.asarray(frame[name]), np.asarray(before[name]))


def test_bad_rows_are_left_out_and_the_frame_keeps_them():
    frame = pd.DataFrame(ROWS[:4].copy(), columns=NAMES)
    frame.iloc[1, 0], frame.iloc[2, 1] = np.inf, np.nan
    net = network(LogisticRegression().fit(ROWS, CLASSES))
    with pytest.raises(pgm.PGMError, match=r"Row 1.*'a'|'a'.*Row 1|inf"):
        net.predict_proba(frame[[*NAMES]].drop(index=2).reset_index(drop=True), "class")
    found = np.asarray(net.predict_proba(frame.drop(index=2), "class", bad_rows="missing"))
    assert np.isnan(found[1]).all()
    assert not np.isnan(found[[0, 2]]).any()
    assert np.isinf(frame.iloc[1, 0])
    assert np.isnan(frame.iloc[2, 1])


def test_a_row_that_is_bad_elsewhere_has_no_answer():
    own = LogisticRegression().fit(ROWS, CLASSES)
    net = network(own)
    net.add("day", {"off": 0.5, "on": 0.5})
    frame = pd.DataFrame(ROWS[:3].copy(), columns=NAMES).assign(day=["on", "sometimes", "off"])
    found = np.asarray(net.predict_proba(frame, "class", bad_rows="missing"))
    np.testing.assert_allclose(found[[0, 2]], own.predict_proba(ROWS[[0, 2]]), atol=1e-15)
    assert np.isnan(found[1]).all()
    states = net.predict(dict(frame), "class", bad_rows="missing").tolist()
    assert states == [own.predict(ROWS[:1])[0], None, own.predict(ROWS[2:3])[0]]
    whole = net.predict(frame.assign(day="on"), "class")
    assert whole.tolist() == own.predict(ROWS[:3]).tolist()


@pytest.mark.parametrize("n", [1, 4])
def test_rows_that_are_bad_have_neither_state_nor_mean_in_groups(n):
    net = pgm.BayesianNetwork()
    net.add("sex", {"f": 0.5, "m": 0.5})
    net.add("height", {"f": pgm.Gaussian(1.6, 0.1), "m": pgm.Gaussian(1.8, 0.1)}, parents=["sex"])
    tall = pd.DataFrame({"height": [1.9] * n + [np.inf] * n + [1.5] * n})
    assert net.predict(dict(tall), "sex", bad_rows="missing").tolist() == ["m"] * n + [None] * n + ["f"] * n
    assert np.isnan(net.predict_proba(tall, "sex", bad_rows="missing").to_numpy()[n : 2 * n]).all()
    sexes = pd.DataFrame({"sex": ["m"] * n + ["x"] * n + ["f"] * n})
    means = net.predict(sexes, "height", bad_rows="missing").to_numpy()
    np.testing.assert_allclose(means, [1.8] * n + [np.nan] * n + [1.6] * n, atol=1e-12)


def test_text_among_values_is_bad_where_large_values_are():
    found = real_columns(
        {"a": [1.0, "x", None, 1e200]}, {"a": Variable("a", REAL)}, bad="missing", largest=1e150
    )
    assert found.bad.tolist() == [False, True, False, True]
    same(found.values["a"], [1.0, np.nan, np.nan, np.nan])


@pytest.mark.parametrize(
    "columns",
    [
        [ROWS[:, 0], ROWS[:, 2]],
        [ROWS[:, 2], ROWS[:, 1], ROWS[:, 0]],
        [ROWS[::2, 1], ROWS[::2, 2]],
        [ROWS[:, 1]],
        [ROWS[:, 0], ROWS[:, 0]],
    ],
)
def test_columns_of_one_array_are_a_view(columns):
    found = side_by_side(columns, len(columns[0]))
    same(found, np.column_stack(columns))
    assert np.shares_memory(found, ROWS)
    assert not found.flags.writeable


@pytest.mark.parametrize(
    "columns",
    [
        [ROWS[:, 0], ROWS[:, 1], ROWS[:, 0]],
        [ROWS[:25, 0], ROWS[25:, 0], ROWS[:25, 1]],
        [ROWS[:25, 0], ROWS[::2, 1]],
        [ROWS[:, 0], ROWS[:, 1].copy()],
        [ROWS[:, 0].astype(np.float32), ROWS[:, 1].astype(np.float32)],
        [],
    ],
)
def test_other_columns_are_copied(columns):
    n = len(columns[0]) if columns else 3
    found = side_by_side(columns, n)
    same(found, np.column_stack(columns) if columns else np.empty((3, 0)))
    assert not np.shares_memory(found, ROWS)
    assert found.flags.writeable


def test_a_block_is_of_doubles_with_names_of_their_own():
    frame = pd.DataFrame({"a": [1.0, 2.0], "n": [1, 2], "b": [3.0, 4.0], "s": ["x", "y"]})
    n, found = block(frame, ["b", "nothing", "a"]).columns
    assert n == 2
    assert {name: column.tolist() for name, column in found.items()} == {"b": [3, 4], "a": [1, 2]}
    assert block(frame, ["a", "n"]) is None
    assert block(frame, ["nothing"]) is None
    assert block(frame.astype({"a": "Float64"}), ["a"]) is None
    assert block(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), ["a"]) is None
    assert block({"a": [1.0]}, ["a"]) is None


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("odd", [None, np.nan, np.inf, -np.inf, 1e200, 1e308])
@pytest.mark.parametrize("bad", ["raise", "missing"])
@pytest.mark.parametrize("copy", [True, False])
def test_a_block_is_checked_as_its_columns_are(order, odd, bad, copy):
    rows = np.array(ROWS, order=order)
    if odd is not None:
        rows[7, 1] = odd
    wanted = {name: Variable(name, REAL) for name in ["c", "b", "a"]}
    options = {"bad": bad, "largest": 1e150, "copy": copy}

    def read(frame):
        try:
            return real_columns(frame, wanted, **options)
        except pgm.PGMError as error:
            return str(error)

    found = read(pd.DataFrame(rows, columns=NAMES, copy=False))
    one_by_one = read({name: rows[:, i].tolist() for i, name in enumerate(NAMES)})
    if bad == "raise" and odd is not None and np.isinf(odd):
        assert "Row 7" in found
        assert found == one_by_one
        return
    assert list(found.values) == list(one_by_one.values)
    for name, column in found.values.items():
        same(column, one_by_one.values[name])
        assert np.shares_memory(column, rows) <= (not copy)
    same(found.bad, one_by_one.bad)
    assert found.complete == one_by_one.complete
    assert ("b" in found.complete) == (odd is None or (bad == "raise" and np.isfinite(odd)))
    assert found.bad[7] == (bad == "missing" and odd is not None and not np.isnan(odd))
