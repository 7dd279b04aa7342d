"""Mixtures beside scikit-learn, sums by hand, networks, and the properties of EM."""

from __future__ import annotations

import copy
import io
import json
import pickle
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

import pgm
from pgm.learning import Collapsed

SCHEMA = jsonschema.Draft202012Validator(
    json.loads((Path(__file__).parents[2] / "docs/schema/pgm-2.json").read_text())
)
FORMS = {"full": "full", "tied": "tied", "diagonal": "diag", "spherical": "spherical"}


def clouds(seed: int, n: int = 120, dim: int = 3, k: int = 3) -> np.ndarray:
    """Rows around some centres, each entry correlated with the others."""
    rng = np.random.default_rng(seed)
    centres = 4.0 * rng.normal(size=(k, dim))
    mix = rng.normal(size=(dim, dim))
    return centres[rng.integers(k, size=n)] + rng.normal(size=(n, dim)) @ mix + 10.0


def with_gaps(rows: np.ndarray, seed: int, share: float = 0.2) -> np.ndarray:
    """The same with gaps, and a row of which nothing was observed."""
    made = np.where(np.random.default_rng(seed).random(rows.shape) < share, np.nan, rows)
    made[0] = np.nan
    return made


def started(rows: np.ndarray, k: int, form: str, seed: int = 0) -> pgm.Mixture:
    """A mixture with numbers that are not those of the data."""
    rng = np.random.default_rng(seed)
    means = rows[~np.isnan(rows).any(axis=1)][:k]
    emission = pgm.Gaussian(means, covariance=[np.eye(rows.shape[1]) * 4.0] * k, form=form)
    return pgm.Mixture(rng.dirichlet(np.full(k, 5.0)), emission)


# --- beside scikit-learn ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_the_same_numbers_as_scikit_learn_from_the_same_start(form: str) -> None:
    from sklearn.mixture import GaussianMixture

    rows, k = clouds(1), 3
    mine = started(rows, k, form)
    precision: Any = {"full": [np.eye(3) / 4] * k, "tied": np.eye(3) / 4, "diagonal": np.full((k, 3), 0.25)}
    peer = GaussianMixture(
        k, covariance_type=FORMS[form], reg_covar=0.0, tol=0.0, max_iter=12, weights_init=mine.weights,
        means_init=mine.emission.mean, precisions_init=precision.get(form, np.full(k, 0.25)),
    )  # fmt: skip
    with pytest.warns(UserWarning, match="did not converge"):
        peer.fit(rows)
    mine.fit(rows, max_iter=12, tol=0.0)
    assert mine.weights == pytest.approx(peer.weights_, rel=1e-9)
    np.testing.assert_allclose(mine.emission.mean, peer.means_, rtol=1e-9)
    theirs = {
        "full": lambda c: c,
        "tied": lambda c: np.repeat(c[None], k, axis=0),
        "diagonal": lambda c: np.array([np.diag(v) for v in c]),
        "spherical": lambda c: np.array([np.eye(3) * v for v in c]),
    }[form](peer.covariances_)
    np.testing.assert_allclose(mine.emission.covariance, theirs, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(mine.predict_proba(rows), peer.predict_proba(rows), atol=1e-9)
    np.testing.assert_allclose(mine.log_likelihood(rows), peer.score_samples(rows), rtol=1e-9)
    assert mine.fit_report.bic == pytest.approx(peer.bic(rows), rel=1e-9)
    assert mine.predict(rows).tolist() == peer.predict(rows).tolist()


# --- EM -----------------------------------------------------------------------------------------------------


def one_step(rows: np.ndarray, w: np.ndarray, means: np.ndarray, covs: np.ndarray) -> Any:
    """A step of EM row by row, by conditional moments."""
    k, d = means.shape
    weight, first, second = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    total, seen_at_all = 0.0, np.zeros(k)
    for x in rows:
        seen = ~np.isnan(x)
        logs = np.log(w)
        if seen.any():
            logs = logs + [
                multivariate_normal(m[seen], c[np.ix_(seen, seen)]).logpdf(x[seen])
                for m, c in zip(means, covs, strict=True)
            ]
        total += logsumexp(logs)
        h = np.exp(logs - logsumexp(logs))
        seen_at_all += h
        if not seen.any():
            continue
        for i in range(k):
            gain = covs[i][np.ix_(~seen, seen)] @ np.linalg.inv(covs[i][np.ix_(seen, seen)])
            full = np.where(seen, x, 0.0)
            full[~seen] = means[i][~seen] + gain @ (x[seen] - means[i][seen])
            left = np.zeros((d, d))
            left[np.ix_(~seen, ~seen)] = covs[i][np.ix_(~seen, ~seen)] - gain @ covs[i][np.ix_(seen, ~seen)]
            weight[i] += h[i]
            first[i] += h[i] * full
            second[i] += h[i] * (np.outer(full, full) + left)
    mean = first / weight[:, None]
    cov = second / weight[:, None, None] - mean[:, :, None] * mean[:, None, :]
    return seen_at_all / seen_at_all.sum(), mean, cov, total


@pytest.mark.parametrize("dim", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_a_step_with_gaps_is_that_of_conditional_moments(seed: int, dim: int) -> None:
    rows = with_gaps(clouds(seed, 60, dim, 2), seed, 0.3)
    mine = started(rows, 2, "full", seed)
    w, mean, cov, log = one_step(rows, mine.weights, mine.emission.mean, mine.emission.covariance)
    assert mine.score(rows) == pytest.approx(log, rel=1e-10)
    mine.fit(rows, max_iter=1)
    assert mine.weights == pytest.approx(w, rel=1e-9)
    np.testing.assert_allclose(mine.emission.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(mine.emission.covariance, cov, rtol=1e-7, atol=1e-9)


def product() -> pgm.Product:
    return pgm.Product(
        {
            "kind": pgm.Categorical(symbols=["a", "b", "c"]),
            "yes": pgm.Bernoulli(),
            "count": pgm.Poisson(),
            ("x", "y"): pgm.Gaussian(dim=2),
        }
    )


def mixed(seed: int, n: int = 80, gaps: float = 0.15) -> pd.DataFrame:
    """Rows of columns of all kinds."""
    rng = np.random.default_rng(seed)
    z = rng.integers(2, size=n)
    frame = pd.DataFrame(
        {
            "kind": np.where(rng.random(n) < 0.3, "a", np.where(z, "b", "c")).astype(object),
            "yes": (rng.random(n) < 0.2 + 0.5 * z).astype(float),
            "count": rng.poisson(1 + 3 * z).astype(float),
            "x": rng.normal(size=n) + 3 * z,
            "y": rng.normal(size=n) - z,
        }
    )
    for column in frame:
        frame.loc[rng.random(n) < gaps, column] = None
    return frame


CASES: dict[str, Any] = {
    "full": lambda s: (pgm.Gaussian(dim=2), with_gaps(clouds(s, 60, 2), s)),
    "tied": lambda s: (pgm.Gaussian(dim=2, form="tied"), with_gaps(clouds(s, 60, 2), s)),
    "diagonal": lambda s: (pgm.Gaussian(dim=2, form="diagonal"), with_gaps(clouds(s, 60, 2), s)),
    "spherical": lambda s: (pgm.Gaussian(dim=2, form="spherical"), clouds(s, 60, 2)),
    "univariate": lambda s: (pgm.Gaussian(), clouds(s, 60, 1)[:, 0].tolist()),
    "Bernoulli": lambda s: (
        pgm.Bernoulli(dim=4),
        with_gaps((np.random.default_rng(s).random((60, 4)) < 0.4).astype(float), s),
    ),
    "product": lambda s: (product(), mixed(s)),
}


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6), method=st.sampled_from(["em", "squarem"]))
def test_the_likelihood_never_falls(case: str, seed: int, method: str) -> None:
    emission, data = CASES[case](seed)
    try:
        report = (
            pgm.Mixture(n_components=2, emission=emission)
            .fit(data, max_iter=30, method=method, seed=seed)
            .fit_report
        )
    except Collapsed:
        return
    logs = np.array(report.log_likelihoods)
    assert (np.diff(logs) >= -1e-9 * (1 + np.abs(logs[:-1]))).all()


@pytest.mark.parametrize("case", CASES)
def test_at_rest_the_gradient_vanishes(case: str) -> None:
    emission, data = CASES[case](3)
    found = pgm.Mixture(n_components=2, emission=emission).fit(
        data, max_iter=20_000, tol=1e-14, method="squarem", seed=3
    )
    assert found.fit_report.converged
    at, k = found.emission.coordinates(), 2  # type: ignore[attr-defined]

    def log(theta: np.ndarray) -> float:
        shares = np.exp(theta[:k])
        made = pgm.Mixture(shares / shares.sum(), found.emission.at(theta[k:]), columns=found._columns)
        return float(made.score(data))

    theta = np.concatenate([np.log(found.weights), at])
    step = 1e-4
    for i in range(theta.size):
        off = np.zeros(theta.size)
        off[i] = step
        slope = (log(theta + off) - log(theta - off)) / (2 * step)
        bend = abs(log(theta + off) + log(theta - off) - 2 * log(theta)) / step**2
        assert abs(slope) <= 1e-3 * max(1.0, bend), (i, slope, bend)


def test_rows_that_count_twice_are_two_rows() -> None:
    rows = with_gaps(clouds(4, 50, 2), 4)
    times = np.random.default_rng(0).integers(0, 4, size=50)
    one = started(rows, 2, "full").fit(rows, weights=times, max_iter=7, tol=0.0)
    other = started(rows, 2, "full").fit(np.repeat(rows, times, axis=0), max_iter=7, tol=0.0)
    np.testing.assert_allclose(one.emission.mean, other.emission.mean, rtol=1e-10)
    assert one.fit_report.log_likelihood == pytest.approx(other.fit_report.log_likelihood, rel=1e-12)


def test_hard_em_gives_each_row_to_one_component() -> None:
    rows = clouds(5, 60, 2)
    found = started(rows, 3, "full").fit(rows, method="hard", max_iter=200, tol=0.0)
    codes = found.predict(rows)
    assert found.weights == pytest.approx(np.bincount(codes, minlength=3) / 60)
    for k in range(3):
        np.testing.assert_allclose(found.emission.mean[k], rows[codes == k].mean(axis=0), rtol=1e-9)


def test_fixed_parts_stay() -> None:
    rows = clouds(6, 60, 2)
    begin = started(rows, 3, "full")
    found = begin.copy().fit(rows, fixed={"emission": [1], "weights": True}, max_iter=5)
    assert found.weights.tolist() == begin.weights.tolist()
    assert found.emission.mean[1].tolist() == begin.emission.mean[1].tolist()
    assert found.emission.mean[0].tolist() != begin.emission.mean[0].tolist()
    assert begin.copy().fit(rows, fixed=["emission"]).emission == begin.emission


def test_a_number_as_a_prior_is_rows_that_vary_as_all_do() -> None:
    rows = np.array([0.0, 0.0, 0.0, 5.0, 6.0, 7.0])
    begin = pgm.Mixture([0.5, 0.5], pgm.Gaussian([0.0, 6.0], sd=0.5))
    with pytest.raises(pgm.InvalidArgument, match="collapsed in the column 'x' in iteration"):
        begin.copy().fit(rows)
    found = begin.fit(rows, prior={"emission": 1.0}, max_iter=500, tol=1e-12)
    h = found.predict_proba(rows)[:, 0]
    n, m, v = h.sum(), rows.mean(), rows.var()
    mean = (h @ rows + m) / (n + 1)
    assert found.emission.mean[0] == pytest.approx(mean, rel=1e-5)
    variance = (h @ (rows - mean) ** 2 + v + (m - mean) ** 2) / (n + 1)
    assert found.emission.covariance[0, 0, 0] == pytest.approx(variance, rel=1e-4)


# --- labels -------------------------------------------------------------------------------------------------


def test_rows_with_labels_are_counted() -> None:
    rows = clouds(7, 90, 2)
    z = np.random.default_rng(7).integers(3, size=90)
    names = np.array(["a", "b", "c"])
    found = pgm.Mixture(states=["a", "b", "c"], emission=pgm.Gaussian(dim=2)).fit(rows, labels=names[z])
    for k in range(3):
        np.testing.assert_allclose(found.emission.mean[k], rows[z == k].mean(axis=0), rtol=1e-9)
        np.testing.assert_allclose(found.emission.covariance[k], np.cov(rows[z == k].T, ddof=0), rtol=1e-8)
    assert found.weights == pytest.approx(np.bincount(z) / 90)


@pytest.mark.parametrize("noise", [None, 0.2, [[0.7, 0.3], [0.1, 0.9]]])
def test_labels_known_in_part_are_a_column_below_the_component(noise: Any) -> None:
    """The likelihood and a step of EM are those of a network in which the label is a child."""
    rng = np.random.default_rng(8)
    z = rng.integers(2, size=40)
    x = rng.normal(size=40) + 2.5 * z
    labels = [None if u < 0.5 else ["no", "yes"][k] for u, k in zip(rng.random(40), z, strict=True)]
    begin = pgm.Mixture([0.4, 0.6], pgm.Gaussian([0.0, 2.0], sd=1.0), states=["no", "yes"])
    table = {None: np.eye(2), 0.2: np.array([[0.8, 0.2], [0.2, 0.8]])}.get(
        noise if not isinstance(noise, list) else "own", np.array([[0.7, 0.3], [0.1, 0.9]])
    )
    net = begin.to_network()
    net.add("label", table, parents=["component"], states=["no", "yes"])
    frame = {"x": x, "label": labels}
    net.fit(frame, latent=["component"], fixed=["label"], max_iter=8, tol=0.0)
    found = begin.fit({"x": x, "said": labels}, labels="said", label_noise=noise, max_iter=8, tol=0.0)
    assert found.columns == ("x",)
    assert found.weights == pytest.approx(net.cpd("component").values, rel=1e-8)
    assert found.emission.mean == pytest.approx(net.cpd("x").bias, rel=1e-8)
    assert found.fit_report.log_likelihoods == pytest.approx(net.fit_report.log_likelihoods, rel=1e-9)


def test_wrong_labels_matter_less_when_said_to_be_wrong() -> None:
    rng = np.random.default_rng(9)
    z = np.repeat([0, 1], 100)
    x = rng.normal(size=200) * 0.5 + 4.0 * z
    labels = np.where(rng.random(200) < 0.2, 1 - z, z)
    naive = pgm.Mixture(n_components=2, emission=pgm.Gaussian()).fit(x, labels=labels)
    wary = pgm.Mixture(n_components=2, emission=pgm.Gaussian()).fit(x, labels=labels, label_noise=0.2)
    assert wary.emission.mean == pytest.approx([0.0, 4.0], abs=0.15)
    assert abs(naive.emission.mean[0]) > 0.5
    assert (wary.predict(x) == z).all()


# --- as rows come -------------------------------------------------------------------------------------------


def test_batches_are_averaged_as_stepwise_em_says() -> None:
    rows = clouds(10, 90, 1)[:, 0]
    found = pgm.Mixture([0.5, 0.5], pgm.Gaussian([rows.min(), rows.max()], sd=2.0))
    w, m, v = found.weights, found.emission.mean, found.emission.sd**2
    kept = None
    for t, batch in enumerate(np.split(rows, 3), start=1):
        found.partial_fit(batch)
        h = w * np.exp(-0.5 * (batch[:, None] - m) ** 2 / v) / np.sqrt(v)
        h /= h.sum(axis=1, keepdims=True)
        new = np.array([h.sum(axis=0), h.T @ batch, h.T @ batch**2]) / len(batch)
        rate = t**-0.6
        kept = new if kept is None else (1 - rate) * kept + rate * new
        w, m = kept[0] / kept[0].sum(), kept[1] / kept[0]
        v = kept[2] / kept[0] - m**2
        assert found.weights == pytest.approx(w, rel=1e-9)
        assert found.emission.mean == pytest.approx(m, rel=1e-9)
        assert found.emission.sd**2 == pytest.approx(v, rel=1e-6)


def test_many_batches_come_near_to_what_all_rows_give() -> None:
    rng = np.random.default_rng(11)
    z = rng.random(6000) < 0.3
    rows = np.where(z, rng.normal(4.0, 1.0, 6000), rng.normal(0.0, 1.0, 6000))
    found = pgm.Mixture([0.5, 0.5], pgm.Gaussian([-1.0, 6.0], sd=2.0))
    whole = found.copy().fit(rows)
    for batch in np.split(rows, 60):
        found.partial_fit(batch)
    assert found.emission.mean == pytest.approx(whole.emission.mean, abs=0.15)
    for i, batch in enumerate(np.split(rows, 60)):  # it drifts
        found.partial_fit(batch + 2.0 * i / 59, rate=0.3)
    assert found.emission.mean == pytest.approx(whole.emission.mean + 2.0, abs=0.5)


# --- as networks, in files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_each_is_a_network_whose_posterior_is_a_query(case: str) -> None:
    emission, data = CASES[case](12)
    if case == "product":  # counts have no last state, so no node has them
        parts = dict(zip(emission.names, emission.parts, strict=True))
        del parts["count",]
        emission, data = pgm.Product(parts), data.drop(columns="count")
    found = pgm.Mixture(n_components=2, emission=emission, name="m").fit(data, max_iter=3, seed=0)
    net = found.to_network()
    frame = data if isinstance(data, pd.DataFrame) else pd.DataFrame(np.asarray(data), columns=found.columns)
    if case == "Bernoulli":
        frame = frame.astype(object).where(frame.notna(), None)
    found = found.copy()
    found._columns = None if case == "product" else found.columns
    mine = found.log_likelihood(frame[:8])
    shares = found.predict_proba(frame[:8])
    for i in range(1, 8):
        row = {name: value for name, value in frame.iloc[i].items() if not pd.isna(value)}
        assert float(net.log_probability(row)) == pytest.approx(mine[i], rel=1e-9)
        np.testing.assert_allclose(net.query("component", row).values, shares[i], atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_files_pickles_and_copies(case: str) -> None:
    emission, data = CASES[case](13)
    found = pgm.Mixture(states=["low", "high"], emission=emission, name="m").fit(data, max_iter=3, seed=0)
    file = io.StringIO()
    pgm.write(found, file, format="json")
    SCHEMA.validate(json.loads(file.getvalue()))
    again = pgm.read(io.StringIO(file.getvalue()), format="json")
    assert again == found == pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == found.copy()
    assert again.score(data) == found.score(data)
    other = found.copy()
    other.name = "n"
    assert again != other


def test_a_broken_file_says_where() -> None:
    file = io.StringIO()
    pgm.write(pgm.Mixture([0.5, 0.5], pgm.Gaussian([0.0, 1.0], sd=1.0)), file, format="json")
    whole = json.loads(file.getvalue())
    whole["mixture"]["weights"] = [0.5, 0.6]
    with pytest.raises(pgm.FileFormatError, match="sums to"):
        pgm.read(io.StringIO(json.dumps(whole)), format="json")
    whole["pgm"] = 1
    with pytest.raises(pgm.FileFormatError, match="version 2"):
        pgm.read(io.StringIO(json.dumps(whole)), format="json")


def test_draws_have_the_shares_and_moments_of_the_model() -> None:
    found = pgm.Mixture(n_components=2, emission=product()).fit(mixed(14, 200), seed=0)
    drawn = found.sample(20_000, seed=0)
    assert list(drawn) == ["component", "kind", "yes", "count", "x", "y"]
    for k in range(2):
        mine = drawn["component"] == k
        assert mine.mean() == pytest.approx(found.weights[k], abs=0.015)
        assert drawn["count"][mine].mean() == pytest.approx(found.emission.parts[2].rate[k], rel=0.05)
        assert drawn["x"][mine].mean() == pytest.approx(found.emission.parts[3].mean[k, 0], abs=0.05)
    again = pgm.Mixture(n_components=2, emission=product()).fit(drawn, labels="component", max_iter=1)
    assert again.weights == pytest.approx(found.weights, abs=0.02)


# --- columns ------------------------------------------------------------------------------------------------


def test_columns_are_found_by_name() -> None:
    rows = clouds(15, 40, 2)
    frame = pd.DataFrame(rows, columns=["length", "width"])
    found = pgm.Mixture(n_components=2, emission=pgm.Gaussian(dim=2)).fit(frame, seed=0)
    assert found.columns == ("length", "width")
    other = frame.assign(colour="red")[["colour", "width", "length"]]
    np.testing.assert_array_equal(found.predict_proba(other), found.predict_proba(rows))
    with pytest.raises(pgm.InvalidFrame, match=r"no column 'length'. Did you mean 'lenght'\?"):
        found.predict(frame.rename(columns={"length": "lenght"}))
    named = pgm.Mixture(n_components=2, emission=pgm.Gaussian(dim=2), columns=["length", "width"])
    assert named.fit(other, seed=0) == found
    lazy = pytest.importorskip("polars").DataFrame(frame)
    np.testing.assert_array_equal(found.predict_proba(lazy), found.predict_proba(rows))


# --- how many components ------------------------------------------------------------------------------------


def test_the_number_of_components_by_criteria_and_held_out_rows() -> None:
    rng = np.random.default_rng(18)
    rows = np.concatenate([rng.normal(m, 0.6, 60) for m in (0.0, 4.0, 9.0)])
    more = np.concatenate([rng.normal(m, 0.6, 60) for m in (0.0, 4.0, 9.0)])
    options: dict[str, Any] = {"emission": pgm.Gaussian(), "n_components": range(1, 5), "starts": 3}
    prior = {"emission": 1.0}
    by_bic = pgm.select_components(rows, **options, seed=0)
    assert by_bic.n_components == 3
    one = by_bic.candidates[2]
    assert one.bic == pytest.approx(8 * np.log(180) - 2 * float(one.model.score(rows)))
    assert one.aic == pytest.approx(2 * 8 - 2 * float(one.model.score(rows)))
    held = pgm.select_components(rows, **options, score="validation", validation=more, prior=prior, seed=0)
    assert held.best.validation == pytest.approx(float(held.model.score(more)))
    assert held.best.validation == max(one.validation for one in held.candidates)
    folds = pgm.select_components(rows, **options, score="validation", folds=3, prior=prior, seed=0)
    assert folds.n_components in (3, 4)
    assert folds.candidates[0].validation < folds.best.validation - 50
    assert "held out" in repr(folds)
    assert by_bic.to_pandas().loc[3, "bic"] == one.bic
    assert by_bic.plot().get_xlabel() == "components"


def test_sizes_that_collapse_are_no_candidates() -> None:
    rows = [0.0, 0.0, 0.0, 1.0, 2.0, 5.0]
    found = pgm.select_components(rows, emission=pgm.Gaussian(), n_components=[1, 4], starts=2, seed=0)
    assert (found.n_components, found.collapsed) == (1, (4,))
    assert "collapsed in every start: 4" in repr(found)
    with pytest.raises(pgm.InvalidArgument, match="collapsed"):
        pgm.select_components([1.0, 1.0], emission=pgm.Gaussian(), n_components=[1])
    for wrong, said in (
        ({"score": "dic"}, "score= is one of"),
        ({"n_components": [0]}, "n_components= is a range"),
        ({"score": "validation"}, "needs validation= or folds="),
        ({"score": "validation", "folds": 9}, "folds= is a whole number from 2 to 6"),
        ({"emission": pgm.Gaussian([0.0, 1.0], sd=1.0)}, "without parameters"),
    ):
        with pytest.raises(pgm.InvalidArgument, match=said):
            pgm.select_components(rows, **{"emission": pgm.Gaussian(), **wrong})


# --- what is wrong ------------------------------------------------------------------------------------------


def two() -> pgm.Mixture:
    return pgm.Mixture([0.5, 0.5], pgm.Gaussian([0.0, 4.0], sd=1.0))


WRONG: list[tuple[Any, str]] = [
    (lambda: pgm.Mixture([0.5, 0.5]), "emission= is a distribution"),
    (lambda: pgm.Mixture(emission=pgm.Gaussian()), "How many components"),
    (lambda: pgm.Mixture(n_components=0, emission=pgm.Gaussian()), "at least 1, not 0"),
    (lambda: pgm.Mixture([0.5, 0.5], pgm.Gaussian([0, 1, 2.0], sd=1.0)), "2 components, and emission= 3"),
    (lambda: pgm.Mixture([0.5, 0.6], pgm.Gaussian([0, 1.0], sd=1.0)), "sums to 1.1"),
    (lambda: pgm.Mixture([0.5, 0.5], pgm.Gaussian(0.0, sd=1.0)), "needs a row for each"),
    (lambda: pgm.Mixture(n_components=2, emission=pgm.Gaussian(dim=2), columns=["a"]), "2 columns"),
    (lambda: two().fit([]), "no rows"),
    (lambda: two().fit(3.0), "Data are rows"),
    (lambda: two().fit([[1.0, 2.0], [3.0, 4.0]]), "a row is one value"),
    (lambda: two().fit([0.0, "a"]), "Row 1 .the first is 0.: 'a' is not a finite number"),
    (lambda: two().fit([0.0, np.inf]), "Row 1"),
    (lambda: two().fit([0.0, 1.0], weights=[1.0]), "one number for each of the 2 rows"),
    (lambda: two().fit([0.0, 1.0], weights=[0.0, 0.0]), "nothing to learn from"),
    (lambda: two().fit([0.0, 1.0], labels=[0]), "one label for each of 2 rows"),
    (lambda: two().fit([0.0, 1.0], labels=[0, 5]), "labels=, row 1 .the first is 0.: 5 is not one of the"),
    (lambda: two().fit([0.0, 1.0], labels="who"), "labels= names the column 'who'"),
    (lambda: two().fit([0.0, 1.0], label_noise=0.1), "no effect without labels="),
    (lambda: two().fit([0.0, 1.0], labels=[0, 1], label_noise=2), "share of labels that are wrong"),
    (lambda: two().fit([0.0, 1.0], fixed=["weight"]), "Did you mean 'weights'"),
    (lambda: two().fit([0.0, 1.0], prior={"emissions": 1}), "Did you mean 'emission'"),
    (lambda: two().fit([0.0, 1.0], prior={"weights": pgm.priors.Dirichlet(0.5)}), "need not have a mode"),
    (lambda: two().fit([0.0, 1.0], method="soft"), "method= is"),
    (lambda: two().fit([0.0, 1.0], starts=0), "starts= is a whole number from 1"),
    (lambda: two().fit([0.0, 1.0], max_iter=0), "max_iter="),
    (lambda: two().partial_fit([0.0, 1.0], rate=0.0), "rate= is a number above 0"),
    (lambda: pgm.Mixture(n_components=2, emission=pgm.Gaussian()).fit([0.0, 0.0, 1.0, 1.0]), "collapsed"),
    (
        lambda: pgm.Mixture([0.5, 0.5], pgm.Gaussian([1.0, 1.0], sd=1.0)).fit([0.0, 1.0]),
        "all components are alike",
    ),
    (lambda: pgm.Mixture(n_components=2, emission=pgm.Poisson()).to_network(), "no parameters yet"),
    (lambda: pgm.Mixture(n_components=2, emission=pgm.Poisson()).predict([1]), "no parameters yet"),
    (lambda: two().plot(columns="y"), "columns= names one or two continuous columns"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_wrong_is_said(number: int) -> None:
    do, said = WRONG[number]
    with pytest.raises(pgm.PGMError, match=said):
        do()


def test_a_collapse_names_component_column_and_iteration() -> None:
    rows = pd.DataFrame({"a": [0.0, 1.0, 2.0, 9.0, 9.1, 9.2], "b": [1.0, 0.0, 2.0, 7.0, 7.0, 7.0]})
    begin = pgm.Mixture(
        [0.5, 0.5],
        pgm.Gaussian([[1.0, 1.0], [9.0, 7.0]], covariance=[np.eye(2)] * 2, form="diagonal"),
        states=["low", "high"],
        columns=["a", "b"],
    )
    with pytest.raises(pgm.InvalidArgument, match=r"'high' collapsed in the column 'b' in iteration \d"):
        begin.fit(rows)
    assert begin.emission.mean[1].tolist() == [9.0, 7.0]  # as it was


def test_heavy_tails_collapse_too() -> None:
    rows = [[1.0, 0.0], [1.0, 0.5], [1.0, 1.0], [4.0, 9.0], [5.0, 9.5], [6.0, 10.0], [5.5, 9.2]]
    emission = pgm.Product([pgm.StudentT(df=4.0), pgm.Gaussian()])
    with pytest.raises(pgm.InvalidArgument, match=r"collapsed in the column 'x\[0\]'"):
        pgm.Mixture(n_components=2, emission=emission).fit(rows, seed=0)


def test_one_column_of_symbols() -> None:
    """Rows that are alike are worked out once; with labels the tables are those of the classes."""
    words, kind = list("aabbbcab"), [0, 0, 1, 1, 1, None, None, 0]
    found = pgm.Mixture(n_components=2, emission=pgm.Categorical(symbols=list("abc")))
    found.fit(words, labels=kind, max_iter=500, tol=1e-12)
    assert np.diff(found.fit_report.log_likelihoods).min() >= -1e-9
    alone = found.copy().fit([w for w, z in zip(words, kind, strict=True) if z is not None],
                             labels=[z for z in kind if z is not None])  # fmt: skip
    np.testing.assert_allclose(alone.emission.p, [[2 / 3, 1 / 3, 0], [0, 1, 0]], atol=1e-12)
    assert alone.weights.tolist() == [0.5, 0.5]
    p = found.weights[0] * found.emission.p[0, 0]
    assert found.predict_proba(["a"])[0, 0] == pytest.approx(
        p / (p + found.weights[1] * found.emission.p[1, 0])
    )
    assert found.to_network().query("component", {"x": "b"}).values == pytest.approx(
        found.predict_proba(["b"])[0]
    )
    assert found.sample(3, seed=0)["x"].tolist()[0] in words


def test_an_impossible_row_is_named() -> None:
    sure = pgm.Mixture([0.5, 0.5], pgm.Bernoulli([[1.0, 0.0], [1.0, 1.0]]))
    assert sure.log_likelihood([[1, 0], [0, 0]])[1] == -np.inf
    with pytest.raises(pgm.ImpossibleEvidence, match="Row 1"):
        sure.predict_proba([[1, 0], [0, 0]])
    with pytest.raises(pgm.ImpossibleEvidence, match=r"Row 1 .*impossible with the parameters"):
        sure.fit([[1, 0], [0, 0]])
    with pytest.raises(pgm.ImpossibleEvidence, match=r"Row 0 .*impossible in the component 1"):
        sure.fit([[1, 0], [1, 1]], labels=[1, 0])


def test_an_interrupted_fit_changes_nothing() -> None:
    rows = clouds(16, 200, 2)
    begin = started(rows, 3, "full")
    before = begin.copy()
    with pgm.config(time_limit=1e-9), pytest.raises(pgm.OutOfTime):
        begin.fit(rows)
    assert begin == before
    assert begin.fit_report is None


@pytest.mark.parametrize("case", CASES)
def test_pictures_and_tables(case: str) -> None:
    emission, data = CASES[case](17)
    found = pgm.Mixture(n_components=2, emission=emission, name="m").fit(data, max_iter=3, seed=0)
    assert found.plot(data).get_title() == "m: 2 components"
    assert "Mixture 'm': 2 components" in repr(found)
    assert "<table" in found._repr_html_()


# --- as networks, whatever is emitted -----------------------------------------------------------------------

TWO = pgm.GaussianMixture(
    [[0.5, 0.5], [0.2, 0.8]], mean=[[0.0, 4.0], [8.0, 9.0]], sd=[[1.0, 1.0], [2.0, 1.0]]
)


@pytest.mark.parametrize(
    ("emission", "rows"),
    [
        (pgm.Poisson([1.0, 5.0]), [0, 3, 7]),
        (pgm.StudentT([0.0, 2.0], scale=[1.0, 3.0], df=[3.0, 5.0]), [0.5, 9.0]),
        (TWO, [0.5, 6.0, 11.0]),
        (
            pgm.Product({"n": pgm.Poisson([1.0, 4.0]), "h": pgm.Gaussian([0.0, 1.0], sd=1.0), "g": TWO}),
            [[2, 0.5, 3.0], [0, None, 8.0], [None, 1.5, None]],
        ),
    ],
    ids=lambda one: type(one).__name__,
)
def test_the_network_of_any_emission_says_the_same(emission: Any, rows: list[Any]) -> None:
    model = pgm.Mixture([0.3, 0.7], emission)
    net, names = model.to_network(), list(model.columns)
    for row, shares, log in zip(rows, model.predict_proba(rows), model.log_likelihood(rows), strict=True):
        cells = row if isinstance(row, list) else [row]
        seen = {name: float(x) for name, x in zip(names, cells, strict=True) if x is not None}
        np.testing.assert_allclose(net.query("component", seen).values, shares, rtol=1e-12)
        assert float(net.log_probability(seen)) == pytest.approx(log, rel=1e-12)
    drawn = net.sample(2000, seed=0)
    assert np.mean(drawn["component"]) == pytest.approx(0.7, abs=0.05)


def test_vectors_with_one_density_are_a_block() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 2)) + np.repeat([[0, 0], [4, 4]], 40, axis=0)
    model = pgm.Mixture(n_components=2, emission=pgm.StudentT(dim=2)).fit(rows, seed=0)
    net = model.to_network()
    seen = {"x[0]": 0.5, "x[1]": 1.5}
    np.testing.assert_allclose(net.query("component", seen).values, model.predict_proba([[0.5, 1.5]])[0])


def test_columns_ask_for_an_emission() -> None:
    from pgm.models.mixtures.columns import emission_of

    frame = {"a": [0.5, 1.5, 2.5], "b": ["x", "y", "x"], "c": [1.5, 2.5, 0.25]}
    made = emission_of(frame, form="diagonal")
    assert made.names == (("a", "c"), ("b",))
    assert [type(part).__name__ for part in made.parts] == ["Gaussian", "Categorical"]
    assert emission_of({"b": [1, 2, 1]}, continuous="b").parts[0].dim == 1
