"""Normal classes beside scikit-learn's discriminants, mixtures beside its mixtures, and their networks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.mixture import GaussianMixture

import pgm

RNG = np.random.default_rng(7)
Y = np.repeat(["a", "b", "c"], [40, 30, 50])
MIX = np.array([[1.0, 0.6, 0.0], [0.0, 1.0, -0.4], [0.0, 0.0, 0.7]])
X = RNG.normal(size=(120, 3)) @ MIX + np.array([[0, 0, 0], [2, 1, 0], [0, 2, 1]]).repeat([40, 30, 50], axis=0)
X[Y == "b", 0] *= 1.7


def test_one_covariance_as_in_LinearDiscriminantAnalysis():
    same = LinearDiscriminantAnalysis(solver="lsqr")  # "svd" divided by fewer rows in older versions
    told, peer = (each.fit(X, Y) for each in (pgm.DiscriminantAnalysis(), same))
    assert told.predict_proba(X) == pytest.approx(peer.predict_proba(X), abs=1e-9)
    assert np.array_equal(told.predict(X), peer.predict(X))
    two = Y != "c"
    told, peer = (each.fit(X[two], Y[two]) for each in (told, peer))
    assert told.decision_function(X) == pytest.approx(peer.decision_function(X), abs=1e-9)
    line = told.discriminants_["b"].linear - told.discriminants_["a"].linear
    assert line == pytest.approx(peer.coef_[0], abs=1e-9)


def test_own_covariances_as_in_QuadraticDiscriminantAnalysis():
    told = pgm.DiscriminantAnalysis(shared=False).fit(X, Y)
    for c, name in enumerate(told.classes_):
        assert told.covariances_[c] == pytest.approx(np.cov(X[name == Y].T, bias=True), abs=1e-12)
    peer = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, Y)
    scale = [peer.covariance_[c] / told.covariances_[c] for c in range(3)]
    if np.allclose(scale, 1.0):  # from 1.9 on it divides by the rows, before by one less
        assert told.predict_proba(X) == pytest.approx(peer.predict_proba(X), abs=1e-9)
    weights = RNG.uniform(0.5, 2.0, 120)
    told = pgm.DiscriminantAnalysis(shared=False).fit(X, Y, weights)
    mine = Y == "b"
    assert told.covariances_[1] == pytest.approx(
        np.cov(X[mine].T, bias=True, aweights=weights[mine]), abs=1e-12
    )


@pytest.mark.parametrize("form", ["full", "diagonal", "spherical"])
@pytest.mark.parametrize("shared", [True, False])
def test_every_form_of_covariance_by_hand(form, shared):
    told = pgm.DiscriminantAnalysis(form, shared=shared).fit(X, Y)
    each = [np.cov(X[name == Y].T, bias=True) for name in told.classes_]
    if shared:
        each = [sum(n * cov for n, cov in zip([40, 30, 50], each, strict=True)) / 120] * 3
    if form == "diagonal":
        each = [np.diag(np.diag(cov)) for cov in each]
    if form == "spherical":
        each = [np.eye(3) * np.trace(cov) / 3 for cov in each]
    logs = np.column_stack(
        [
            stats.multivariate_normal(X[name == Y].mean(axis=0), cov).logpdf(X) + np.log((name == Y).mean())
            for name, cov in zip(told.classes_, each, strict=True)
        ]
    )
    want = np.exp(logs - logs.max(axis=1, keepdims=True))
    want /= want.sum(axis=1, keepdims=True)
    assert told.predict_proba(X) == pytest.approx(want, abs=1e-9)
    g = np.column_stack(
        [
            np.einsum("ni,ij,nj->n", X, d.quadratic, X) + X @ d.linear + d.constant
            for d in told.discriminants_.values()
        ]
    )
    assert g - g[:, :1] == pytest.approx(logs - logs[:, :1], abs=1e-8)
    number = {"full": 6, "diagonal": 3, "spherical": 1}[form] * (1 if shared else 3)
    assert told.n_parameters == 9 + number + 2
    assert told.to_network().predict_proba({f"x{j}": X[:9, j] for j in range(3)}, "class") == pytest.approx(
        want[:9], abs=1e-9
    )


def test_gaps_are_summed_out_and_expected():
    told = pgm.DiscriminantAnalysis(shared=False).fit(X, Y)
    asked = X[:20].copy()
    asked[RNG.random(asked.shape) < 0.4] = np.nan
    for row, got in zip(asked, told.predict_proba(asked), strict=True):
        seen = ~np.isnan(row)
        p = [1 / 3, 1 / 4, 5 / 12]
        if seen.any():
            p = [
                w * stats.multivariate_normal(m[seen], s[np.ix_(seen, seen)]).pdf(row[seen])
                for w, m, s in zip(told.class_prior_, told.means_, told.covariances_, strict=True)
            ]
        assert got == pytest.approx(np.array(p) / sum(p), abs=1e-12)
    holes = X.copy()
    holes[RNG.random(X.shape) < 0.2] = np.nan
    told = pgm.DiscriminantAnalysis(shared=False).fit(holes, Y)
    assert told.fit_report_.converged
    assert np.all(np.diff(told.fit_report_.log_likelihoods) > -1e-9)

    def log_likelihood(means, covariances):  # of what is there, by scipy
        total = 0.0
        for row, label in zip(holes, Y, strict=True):
            seen, c = ~np.isnan(row), "abc".index(label)
            if seen.any():
                cov = covariances[c][np.ix_(seen, seen)]
                total += stats.multivariate_normal(means[c][seen], cov).logpdf(row[seen])
        return total

    best = log_likelihood(told.means_, told.covariances_)
    assert best == pytest.approx(told.fit_report_.log_likelihood, abs=1e-8)
    for c, j in ((0, 0), (1, 2), (2, 1)):
        for step in (1e-3, -1e-3):  # at rest no step leads higher
            means, spreads = told.means_.copy(), told.covariances_.copy()
            means[c, j] += step
            assert log_likelihood(means, told.covariances_) < best + 1e-7
            spreads[c, j, j] += step
            assert log_likelihood(told.means_, spreads) < best + 1e-7


def test_beliefs_about_means_and_covariances_are_averaged_over():
    prior = pgm.priors.NormalWishart([0.0, 0.0, 0.0], rows=2.0, df=5.0, scale=np.eye(3) / 5)
    told = pgm.DiscriminantAnalysis(shared=False, prior=prior).fit(X, Y)
    row = np.array([1.0, 0.5, 0.25])
    p = []
    for name in "abc":
        after = prior.posterior(X[name == Y])
        joint = after.log_evidence(row[None])  # of one row more: the same by another way
        p.append((name == Y).mean() * np.exp(joint))
    assert told.predict_proba(row[None])[0] == pytest.approx(np.array(p) / sum(p), abs=1e-9)
    assert told.predict_proba([[1.0, np.nan, np.nan]]).sum() == pytest.approx(1.0)
    with pytest.raises(pgm.InvalidStructure, match="Student"):
        told.to_network()


def test_what_is_singular_is_said():
    rows = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.warns(UserWarning, match=r"singular.*So 0.001 of the variance"):
        told = pgm.DiscriminantAnalysis().fit(rows, Y)
    assert told.var_smoothing_ == 0.001
    with pytest.raises(pgm.InvalidArgument, match=r"singular.*shared=True"):
        pgm.DiscriminantAnalysis(var_smoothing=0.0).fit(rows, Y)


# --- mixtures ---


def test_mixtures_of_each_class_as_in_GaussianMixture():
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(m, s, (60, 2)) for m, s in ((0, 1), (6, 0.7), (3, 0.6), (9, 1))])
    y = np.repeat([0, 0, 1, 1], 60)
    told = pgm.MixtureClassifier(2, prior=0.0, tol=1e-12).fit(x, y)
    peers = [
        GaussianMixture(2, reg_covar=0.0, tol=1e-10, max_iter=1000, random_state=0).fit(x[y == c])
        for c in (0, 1)
    ]
    logs = np.column_stack([peer.score_samples(x) for peer in peers])
    want = np.exp(logs - logs.max(axis=1, keepdims=True))
    assert told.predict_proba(x) == pytest.approx(want / want.sum(axis=1, keepdims=True), abs=1e-5)
    assert told.score(x, y) > pgm.DiscriminantAnalysis(shared=False).fit(x, y).score(x, y)
    asked = x[::20].copy()
    asked[::2, 1] = np.nan
    net = told.to_network()
    assert net.nodes[:2] == ("class", "component")
    assert told.predict_proba(asked) == pytest.approx(
        net.predict_proba({"x0": asked[:, 0], "x1": asked[:, 1]}, "class"), abs=1e-9
    )
    part = net.query("component", {"class": 1, "x0": 3.2, "x1": 2.9}).values
    assert told.predict_component([[3.2, 2.9]], of=1)[0] == pytest.approx(part, abs=1e-9)


@pytest.mark.parametrize("form", ["full", "diagonal", "spherical"])
def test_the_likelihood_of_mixtures_never_falls(form):
    holes = X.copy()
    holes[RNG.random(X.shape) < 0.15] = np.nan
    told = pgm.MixtureClassifier(2, form=form, starts=2, seed=0, max_iter=60).fit(holes, Y)
    plain = pgm.MixtureClassifier(2, form=form, prior=0.0, max_iter=60).fit(X, Y)
    assert np.all(np.diff(plain.fit_report_.log_likelihoods) > -1e-9)
    assert len(told.fit_report_.starts) == 2
    assert told.predict_proba(holes).sum(axis=1) == pytest.approx(np.ones(120))
    assert told.n_iter_ >= 1


def test_one_component_is_a_discriminant():
    told = pgm.MixtureClassifier(1, prior=0.0).fit(X, Y)
    assert told.predict_proba(X) == pytest.approx(
        pgm.DiscriminantAnalysis(shared=False).fit(X, Y).predict_proba(X), abs=1e-9
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pgm.DiscriminantAnalysis("ful").fit(X, Y), "form= is 'full'"),
        (lambda: pgm.DiscriminantAnalysis(shared="yes").fit(X, Y), "shared= is True or False"),
        (lambda: pgm.DiscriminantAnalysis(var_smoothing=-1.0).fit(X, Y), "var_smoothing="),
        (lambda: pgm.DiscriminantAnalysis(prior=1).fit(X, Y), "NormalWishart"),
        (
            lambda: pgm.DiscriminantAnalysis(prior=pgm.priors.NormalWishart([0, 0, 0])).fit(X, Y),
            "shared=False",
        ),
        (lambda: pgm.DiscriminantAnalysis().fit({"a": ["x", "y"]}, [0, 1]), "'a' has no state 'x'|'a'"),
        (lambda: pgm.DiscriminantAnalysis().fit([[1.0], [1.0], [1.0]], [0, 1, 1]), "a single value"),
        (
            lambda: pgm.DiscriminantAnalysis().fit([[1.0, 2], [np.nan, 3], [5, 6]], [0, 1, 0]),
            "'x0' has no value",
        ),
        (lambda: pgm.DiscriminantAnalysis().n_parameters, "learned nothing yet"),
        (lambda: pgm.MixtureClassifier(0).fit(X, Y), "n_components= is a whole number"),
        (lambda: pgm.MixtureClassifier(prior=-1).fit(X, Y), "prior= is a number of rows"),
        (lambda: pgm.MixtureClassifier(form="tied").fit(X, Y), "form= is 'full'"),
        (
            lambda: pgm.MixtureClassifier(20, prior=0.0).fit(X[:50], Y[:50]),
            "component .* of the class .*fewer components",
        ),
        (lambda: pgm.MixtureClassifier(max_iter=0).fit(X, Y), "max_iter="),
    ],
)
def test_bad_input_is_answered_in_words(call, words):
    with pytest.raises(pgm.PGMError, match=words):
        call()


def test_they_print_and_draw():
    frame = {"length": X[:, 0], "width": X[:, 1]}
    for told in (pgm.DiscriminantAnalysis(), pgm.MixtureClassifier(2)):
        assert "not fitted yet" in repr(told)
        told.fit(frame, Y)
        assert "length" in repr(told)
        assert "<table" in told._repr_html_()
        assert told.plot(frame, Y).get_xlabel() == "length"
        assert told.plot(columns="width").get_xlabel() == "width"
