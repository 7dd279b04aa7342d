"""Linear classifiers: what users may get wrong, what survives, and what is true of random rows."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import pgm
from pgm.adapters import (
    HoKashyap,
    Hyperplane,
    LeastSquares,
    LinearProgram,
    Perceptron,
    RejectingClassifier,
    VotedPerceptron,
    WeightTrace,
    Winnow,
    criteria,
    descend,
    normalised,
    rates,
    separability,
)

ALL: dict[str, Any] = {
    "Perceptron": lambda: Perceptron(keep="best", max_iter=30),
    "Winnow": lambda: Winnow(1.1, max_iter=30),
    "VotedPerceptron": lambda: VotedPerceptron("rbf"),
    "LeastSquares": LeastSquares,
    "HoKashyap": lambda: HoKashyap(max_iter=200),
    "LinearProgram": LinearProgram,
    "RejectingClassifier": lambda: RejectingClassifier(LeastSquares(), against="pairs"),
}
LINEAR = [name for name in ALL if name not in ("VotedPerceptron", "RejectingClassifier")]


def rows_of(seed: int, n: int = 80, k: int = 3) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    kind = rng.integers(k, size=n)
    centres = 2.5 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    rows = pd.DataFrame(centres[kind] + rng.normal(size=(n, 2)), columns=["a", "b"])
    return rows, np.array(["low", "mid", "top"])[kind]


def quietly(estimator: Any, *data: Any, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(*data, **more)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("k", [2, 3])
def test_what_is_fitted_is_a_good_citizen(name: str, k: int) -> None:
    rows, y = rows_of(3, k=k)
    found = quietly(ALL[name](), rows, y)
    assert found.score(rows, y) > 0.8
    assert found.feature_names_in_.tolist() == ["a", "b"]
    scores = found.decision_function(rows)
    assert scores.shape == ((80,) if k == 2 else (80, 3))
    assert found.predict(rows[["b", "a"]]).tolist() == found.predict(rows).tolist()
    for again in (pickle.loads(pickle.dumps(found)), quietly(clone(found), rows, y)):
        assert again.decision_function(rows).tolist() == scores.tolist()
    assert "<table" in found._repr_html_()
    assert type(found).__name__ in str(found)
    assert not hasattr(found, "predict_proba")
    assert str(ALL[name]()).startswith(type(found).__name__)
    pipe = quietly(make_pipeline(StandardScaler(), ALL[name]()), rows, y)
    assert pipe.score(rows, y) > 0.8
    if name in LINEAR:
        for plane in found.hyperplanes_.values():
            assert plane.columns == ["a", "b"]
        values = np.column_stack([plane.value(rows) for plane in found.hyperplanes_.values()])
        assert values == pytest.approx(scores.reshape(80, -1))
        assert found.plot(title="t").get_title() == "t"


def test_options_are_searched() -> None:
    rows, y = rows_of(4, k=2)
    search = quietly(
        GridSearchCV(Perceptron(keep="best", max_iter=20), {"margin": [0.0, 1.0]}, cv=3), rows, y
    )
    assert search.best_params_["margin"] in (0.0, 1.0)


@pytest.mark.parametrize("name", ALL)
def test_scores_are_calibrated_where_one_is_the_distribution_of_a_node(name: str) -> None:
    """As scikit-learn calibrates them, on rows that were not learned from."""
    rows, y = rows_of(5, 160, k=2)
    found = quietly(ALL[name](), rows[:80], y[:80])
    held = rows[80:].assign(c=y[80:])
    net = pgm.BayesianNetwork()
    for column in "ab":
        net.add(column, pgm.Gaussian(0.0, 2.0))
    net.add("c", pgm.EstimatorCPD(found, parents=["a", "b"], rows=held, method="sigmoid"))
    peer = CalibratedClassifierCV(FrozenEstimator(found), method="sigmoid").fit(rows[80:], y[80:])
    new = rows_of(6, 5, k=2)[0]
    expected = peer.predict_proba(new)
    assert np.asarray(net.predict_proba(new, "c")) == pytest.approx(expected, abs=1e-12)
    assert net.query("c", dict(new.iloc[0])).values == pytest.approx(expected[0], abs=1e-12)


def test_one_that_is_fitted_with_its_network_is_calibrated_by_parts_of_the_rows() -> None:
    rows, y = rows_of(5, 160, k=2)
    net = pgm.BayesianNetwork()
    for column in "ab":
        net.add(column, pgm.Gaussian(0.0, 2.0))
    with pytest.raises(pgm.InvalidTable, match=r"CalibratedClassifierCV\(LeastSquares"):
        net.add("c", pgm.EstimatorCPD(LeastSquares(), parents=["a", "b"]), states=["low", "mid"])
    both = CalibratedClassifierCV(LeastSquares(), cv=3)
    net.add("c", pgm.EstimatorCPD(both, parents=["a", "b"]), states=["low", "mid"])
    net.fit(rows.assign(c=y))
    peer = clone(both).fit(rows, y)
    assert np.asarray(net.predict_proba(rows, "c")) == pytest.approx(peer.predict_proba(rows), abs=1e-12)


# --- what goes wrong ---


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (Perceptron("rows"), "update="),
        (Perceptron(rule="hebb"), "rule="),
        (Perceptron(schedule="linear"), "schedule="),
        (Perceptron(keep="all"), "keep="),
        (Perceptron(start="random"), "start="),
        (Perceptron(increment=0.0), "increment="),
        (Perceptron(margin=np.nan), "margin="),
        (Perceptron(margin=-0.5), 'start="sum"'),
        (Perceptron(rule="relaxation"), "margin=1"),
        (Perceptron(every=0), "every="),
        (Perceptron(max_iter=0), "max_iter="),
        (Perceptron(shuffle=2), "shuffle="),
        (Winnow(1.0), "factor="),
        (Winnow(margin=-1.0), "margin="),
        (VotedPerceptron("cubic"), "kernel="),
        (VotedPerceptron(lambda u, v: np.ones(3)), "kernel="),
        (VotedPerceptron("rbf", gamma=-1.0), "gamma="),
        (LeastSquares("zeros"), "targets="),
        (LeastSquares([1.0, 2.0]), "targets="),
        (LeastSquares(solver="newton"), "solver="),
        (LeastSquares(rate="best"), "rate="),
        (LeastSquares(tol=-1.0), "tol="),
        (HoKashyap("simplex"), "method="),
        (HoKashyap(increment=1.0), "increment="),
        (HoKashyap(targets=-1.0), "targets="),
        (LinearProgram("mean"), "objective="),
        (LinearProgram(margin=0.0), "margin="),
        (LinearProgram(form="both"), "form="),
        (RejectingClassifier(against="all"), "against="),
        (RejectingClassifier(reject="low"), "reject="),
    ],
)
def test_options_that_are_wrong(estimator: Any, said: str) -> None:
    rows, y = rows_of(0)
    with pytest.raises(pgm.InvalidArgument) as caught:
        quietly(estimator, rows, y)
    assert said in str(caught.value)
    assert not hasattr(estimator, "classes_")


def test_questions_that_are_wrong() -> None:
    rows, y = rows_of(0)
    with pytest.raises(pgm.IncompleteModel):
        Perceptron().predict(rows)
    with pytest.raises(pgm.IncompleteModel):
        Perceptron().plot()
    with pytest.raises(pgm.InvalidArgument, match="one class"):
        Perceptron().fit(rows, ["x"] * 80)
    with pytest.raises(pgm.InvalidFrame, match="Row 1"):
        Perceptron().fit([[0.0], [np.nan]], ["x", "y"])
    found = LeastSquares().fit(rows, y)
    with pytest.raises(pgm.InvalidFrame, match="no column 'b'"):
        found.predict(rows[["a"]])
    with pytest.raises(pgm.InvalidArgument, match="columns="):
        found.plot("c")
    with pytest.raises(pgm.InvalidCall, match="max_iter="):
        Perceptron(n_iter=3)  # type: ignore[call-arg]
    with pytest.raises(pgm.InvalidArgument, match="sequential"):
        LeastSquares(solver="sequential").fit(rows, y, sample_weight=np.ones(80))
    with pytest.raises(pgm.InvalidArgument, match="diverge"):
        quietly(LeastSquares(solver="sequential", rate=10.0), rows, y)
    with pytest.raises(pgm.InvalidArgument, match="nearer to 1"):
        quietly(Winnow(2.0), 1e4 * rows, y)
    for wrong, said in (
        (lambda: Hyperplane([np.nan]), "weights="),
        (lambda: Hyperplane([1.0], np.inf), "intercept="),
        (lambda: Hyperplane([1.0], columns=["a", "b"]), "columns="),
        (lambda: Hyperplane([0.0]).distance([[1.0]]), "zero"),
        (lambda: Hyperplane([1.0]).plot(), "two columns"),
        (lambda: criteria([1.0], rows, y == "low"), "weights="),
        (lambda: criteria([1.0, 2.0, 3.0], rows, y), "3 classes"),
        (lambda: normalised(rows, y == "low", positive="x"), "positive="),
        (lambda: separability(rows, y, margin=0.0), "margin="),
        (lambda: separability(rows, y).regions["low"].contains([1.0]), "weights="),
        (lambda: separability(rows, y).regions["low"].plot(), "weights"),
        (lambda: rates("often", 3), "schedule="),
        (lambda: descend(lambda a: a, [1.0]), "hessian="),
        (lambda: descend(lambda a: a, [1.0], rate=5.0), "smaller rate="),
        (lambda: descend(lambda a: [1.0, 2.0], [1.0], rate=0.1), "gradient="),
        (lambda: descend(lambda a: -a, [1.0], hessian=lambda a: [[-1.0]]), "positive curvature"),
    ):
        with pytest.raises(pgm.InvalidArgument) as caught:
            wrong()
        assert said in str(caught.value)
    with pytest.raises(pgm.InvalidFrame):
        Hyperplane([1.0]).value([[1.0, 2.0]])
    with pytest.raises(pgm.IncompleteModel):
        Hyperplane.of(LeastSquares())


def test_a_fit_that_fails_changes_nothing() -> None:
    rows, y = rows_of(1)
    found = LeastSquares().fit(rows, y)
    before = found.decision_function(rows).tolist()
    with pytest.raises(pgm.InvalidArgument):
        found.set_params(solver="wrong").fit(rows, y)
    assert found.decision_function(rows).tolist() == before


def test_the_time_limit_holds() -> None:
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(3000, 3)), rng.random(3000) < 0.5
    for slow in (
        Perceptron(max_iter=10**6),
        VotedPerceptron("rbf", max_iter=100),
        Winnow(1.01, max_iter=10**6),
    ):
        with pgm.config(time_limit=0.2), pytest.raises(pgm.OutOfTime):
            slow.fit(rows, y)
        assert not hasattr(slow, "classes_")


def test_what_has_not_converged_says_so() -> None:
    rows, y = rows_of(2)
    for estimator in (
        Perceptron(max_iter=3),
        Winnow(1.1, max_iter=3),
        LeastSquares(solver="batch", max_iter=2),
        LeastSquares(solver="sequential", max_iter=2),
        HoKashyap(max_iter=1, targets=np.linspace(0.5, 1.5, 80).tolist()),
    ):
        with pytest.warns(UserWarning, match=r"converged|separated"):
            estimator.fit(rows, y)
        assert not estimator.converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not Perceptron(max_iter=3, keep="best").fit(rows, y).converged_  # the best of what there was


# --- what is true ---


@pytest.mark.parametrize("corrections", [1023, 1024, 1025, 3000, 5000])
def test_a_trace_that_is_long_is_thinned_evenly(corrections: int) -> None:
    """By hand: each correction of rows that never come right adds the same row."""
    found = quietly(Perceptron("batch", max_iter=corrections), [[1.0], [1.0], [1.0]], [1, 1, 0])
    trace = found.traces_[1]
    # 1: wrong at zero are all three: +(1, 1); then only the third: -(1, 1); then all again
    assert trace.steps[0] == 0
    assert trace.steps[-1] == corrections == found.n_corrections_[0]
    assert len(trace.steps) <= 1025
    assert (np.diff(trace.steps)[:-1] == trace.every).all()
    assert trace.every == 2 ** max(0, int(np.ceil(np.log2((corrections + 1) / 1024))))
    assert trace.weights.tolist() == [[step % 2, step % 2] for step in trace.steps.tolist()]
    frame = trace.to_pandas()
    assert frame.index.tolist() == trace.steps.tolist()
    assert trace.to_dict()["x0"] == frame["x0"].tolist()
    assert isinstance(trace, WeightTrace)
    assert "step" in str(trace)


def test_a_trace_of_very_many_columns_has_fewer_points() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4, 20_000))
    found = quietly(Perceptron("batch", margin=1e9, max_iter=500), rows, [0, 1, 0, 1])
    trace = found.traces_[1]
    assert trace.weights.size <= (1 << 22) + 20_001
    assert trace.steps[-1] == 500
    assert (np.diff(trace.steps)[:-1] == trace.every).all()
    assert trace.every == 4


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(4, 14), st.booleans())
def test_separability_is_what_a_hard_margin_says(seed: int, d: int, n: int, discrete: bool) -> None:
    """Also of rows that are equal, in a line, or on the border."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, 2, size=(n, d)).astype(float) if discrete else rng.normal(size=(n, d))
    y = rng.random(n) < 0.5
    y[:2] = [True, False]
    region = separability(rows, y).regions[True]
    normal = normalised(rows, y)
    found = quietly(Perceptron(max_iter=20000), rows, y)
    assert region.separable == found.converged_  # Novikoff: it ends where it can
    if region.separable:
        a = region.shortest
        assert a is not None
        assert (normal @ a).min() == pytest.approx(1.0, rel=1e-6)
        longer = np.array([found.intercept_[0], *found.coef_[0]])
        assert np.linalg.norm(a) <= np.linalg.norm(longer / (normal @ longer).min()) * (1 + 1e-9)
        assert region.certificate is None
    else:
        share = region.certificate
        assert share is not None
        assert share.min() >= 0.0
        assert share.sum() == pytest.approx(1.0)
        assert share @ normal == pytest.approx(0.0, abs=1e-9)
        assert LinearSVC(C=1e3, max_iter=20000).fit(rows, y).score(rows, y) < 1.0 or n < 30
    assert LinearProgram().fit(rows, y).separable_[0] == region.separable


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_rows_repeated(seed: int) -> None:
    rows, y = rows_of(seed)
    weights = np.random.default_rng(seed).integers(0, 4, size=80)
    for options in ({}, {"targets": "fisher"}, {"solver": "batch", "tol": 1e-12, "max_iter": 100000}):
        one = quietly(LeastSquares(**options), rows, y, sample_weight=weights)
        other = quietly(LeastSquares(**options), rows.loc[rows.index.repeat(weights)], np.repeat(y, weights))
        assert one.coef_ == pytest.approx(other.coef_, rel=1e-6)
        assert one.intercept_ == pytest.approx(other.intercept_, rel=1e-6)


def test_a_kernel_of_ones_own() -> None:
    rows, y = rows_of(7)
    ours = VotedPerceptron(lambda u, v: (1.0 + 0.5 * (u @ v.T)) ** 3, max_iter=2).fit(rows, y)
    named = VotedPerceptron("poly", degree=3, gamma=0.5, max_iter=2).fit(rows, y)
    assert ours.decision_function(rows) == pytest.approx(named.decision_function(rows))
    assert ours.n_mistakes_.tolist() == named.n_mistakes_.tolist()


def test_seeds_and_orders() -> None:
    rows, y = rows_of(8, k=2)
    one, two, three = (
        quietly(Perceptron(shuffle=True, max_iter=5, seed=seed), rows, y).coef_.tolist() for seed in (1, 1, 2)
    )
    assert one == two != three


def test_rejects_keep_the_kind_of_classes() -> None:
    rows, y = rows_of(9)
    codes = np.unique(y, return_inverse=True)[1]
    numbers = RejectingClassifier(reject=-1).fit(rows, codes).predict(rows)
    words = RejectingClassifier(reject="?").fit(rows, y).predict(rows)
    assert numbers.dtype.kind == "i"
    assert ((numbers == -1) == (words == "?")).all()
    assert 0 < (numbers == -1).sum() < 80
    both = RejectingClassifier(reject="?").fit(rows, y == "low")  # of two classes only the border is neither
    assert set(both.predict(rows).tolist()) == {True, False}
    assert "low" in str(RejectingClassifier(against="pairs").fit(rows, y))


def test_results_are_values() -> None:
    rows, y = rows_of(10)
    for found in (
        separability(rows, y),
        separability(rows, y, pairs=True),
        separability(rows, y).regions["low"],
        separability([[0.0], [1.0]], ["a", "b"]).regions["b"],
        criteria([0.0, 1.0, 1.0], rows, y == "low", margin=1.0),
        Hyperplane([1.0, 2.0]),
        descend(lambda a: a, [1.0], rate=0.5),
    ):
        assert "<table" in found._repr_html_()
        assert found.to_dict()
        assert len(str(found).splitlines()) > 1
        assert str(pickle.loads(pickle.dumps(found))) == str(found)
    assert separability(rows, y, pairs=True).to_pandas().index.tolist() == [
        "low or mid",
        "low or top",
        "mid or top",
    ]
    assert Hyperplane([1.0, 2.0]).to_pandas()["x1"] == 2.0
    ax = descend(lambda a: a, [1.0, 2.0], rate=0.5, columns=["u", "v"]).plot("v")
    assert ax.get_ylabel() == "weight"
    three = quietly(Perceptron(max_iter=20), rows, y).plot()
    assert [text.get_text() for text in three.get_legend().get_texts()][-3:] == ["low", "mid", "top"]
