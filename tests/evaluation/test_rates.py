"""Rates of rules beside enumeration, draws and other libraries; curves, calibration, and what is refused."""

import itertools
import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss

import pgm
from pgm.evaluation import calibration, decision_rates, error_estimates, roc

TWO = {"a": stats.norm(0.0, 1.0), "b": stats.norm(2.0, 1.0)}
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 400)
P = np.clip(0.3 * Y + RNG.uniform(0.0, 0.7, 400), 0.0, 1.0)


def mixed() -> pgm.BayesianNetwork:
    """A class, a sign, a number that follows both."""
    net = pgm.BayesianNetwork()
    net.add("c", [0.6, 0.3, 0.1], states=["p", "q", "r"])
    net.add("z", {"p": 0.2, "q": 0.7, "r": 0.0}, parents=["c"])
    rows = {
        (c, z): pgm.Gaussian(i - j, sd=1.0 + 0.5 * i)
        for i, c in enumerate("pqr")
        for j, z in enumerate((True, False))
    }
    net.add("x", rows, parents=["c", "z"])
    return net


def test_a_number_beside_states_is_integrated_in_each():
    from scipy.integrate import quad

    net = mixed()
    pairs = {("p", "q"): 1, ("p", "r"): 1, ("q", "p"): 3, ("q", "r"): 1, ("r", "p"): 8, ("r", "q"): 2}
    found = decision_rates(net, "c", ["x", "z"], loss=pairs, reject=0.4)
    cost = np.array([[0, 1, 1, 0.4], [3, 0, 1, 0.4], [8, 2, 0, 0.4]])
    prior, sign = (
        np.array([0.6, 0.3, 0.1]),
        {True: np.array([0.2, 0.7, 0.0]), False: np.array([0.8, 0.3, 1.0])},
    )

    def joint(x, z):
        j = 0 if z else 1
        return prior * sign[z] * [stats.norm.pdf(x, i - j, 1.0 + 0.5 * i) for i in range(3)]

    risk = sum(
        quad(lambda x, z=z: (joint(x, z) @ cost).min(), -14, 14, limit=400, epsabs=1e-11)[0]
        for z in (True, False)
    )
    assert found.risk == pytest.approx(risk, abs=1e-8)
    error = 1 - sum(
        quad(lambda x, z=z: joint(x, z).max(), -14, 14, limit=400, epsabs=1e-11)[0] for z in (True, False)
    )
    assert found.bayes_error == pytest.approx(error, abs=1e-8)
    assert found.joint.sum(axis=1) == pytest.approx(prior)
    assert found.correct + found.error + found.rejected == pytest.approx(1.0)
    assert {one.seen for one in found.where} == {(True,), (False,)}


def test_rules_get_what_they_see_in_the_order_asked():
    net = mixed()
    rule = lambda x, z: "q" if z and x > 0.5 else "p"  # noqa: E731
    one = decision_rates(net, "c", ["x", "z"], rule=rule)
    other = decision_rates(net, "c", ["z", "x"], rule=lambda z, x: rule(x, z))
    assert one.error == other.error
    p = sum(q * s * stats.norm.sf(0.5, i, 1.0 + 0.5 * i) for i, (q, s) in enumerate([(0.6, 0.2), (0.3, 0.7)]))
    assert one.joint[:, 1].sum() == pytest.approx(p)


@pytest.mark.parametrize("seed", range(5))
def test_states_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    net = pgm.BayesianNetwork()
    tables = [
        rng.dirichlet(np.ones(3) * 0.5),
        rng.dirichlet(np.ones(2), 3),
        rng.dirichlet(np.ones(4), (3, 2)),
    ]
    tables[1][0] = [1.0, 0.0]
    net.add("c", tables[0], states=[0, 1, 2])
    net.add("a", tables[1], parents=["c"], states=[0, 1])
    net.add("b", tables[2], parents=["c", "a"], states=[0, 1, 2, 3])
    cost = rng.uniform(0, 3, (3, 3))
    found = decision_rates(net, "c", ["b", "a"], loss=cost)
    risk = 0.0
    best = 0.0
    for a, b in itertools.product(range(2), range(4)):
        p = tables[0] * tables[1][:, a] * tables[2][:, a, b]
        risk += (p @ cost).min()
        best += p.max()
    assert found.risk == pytest.approx(risk, abs=1e-13)
    assert found.bayes_error == pytest.approx(1 - best, abs=1e-13)


def test_several_numbers_are_drawn_with_a_standard_error():
    net = pgm.BayesianNetwork()
    net.add("c", [0.5, 0.5], states=["a", "b"])
    for name in "xy":
        net.add(name, {"a": pgm.Gaussian(0.0, sd=1.0), "b": pgm.Gaussian(1.0, sd=1.0)}, parents=["c"])
    found = decision_rates(net, "c", ["x", "y"], samples=20_000, seed=1)
    truth = stats.norm.cdf(-np.sqrt(2.0) / 2.0)
    assert not found.exact
    assert 0.0 < found.standard_error < 0.003
    assert abs(found.error - truth) < 4 * found.standard_error
    told = LogisticRegression(C=1e6).fit([[0, 0], [1, 1]], ["a", "b"])
    drawn = decision_rates(net, "c", ["x", "y"], rule=told, samples=20_000, seed=2)
    assert abs(drawn.error - truth) < 4 * drawn.standard_error
    with pytest.raises(pgm.InvalidArgument, match="samples="):
        decision_rates(net, "c", ["x", "y"])


def test_a_class_that_never_comes_has_no_rates():
    found = decision_rates(TWO, prior=[1.0, 0.0])
    assert found.error == 0.0
    assert np.isnan(found.rate("b", "a"))


def test_rates_are_values_that_print_and_draw():
    found = decision_rates(TWO, prior={"a": 0.5, "b": 0.5}, reject=0.2)
    again = pickle.loads(pickle.dumps(found))
    assert repr(again) == repr(found)
    assert "none from" in repr(found)
    assert found.to_pandas().loc["a", "none"] == pytest.approx(found.rate("a", None))
    ax = found.plot()
    assert "rejected" in ax.get_title().replace("\n", " ")
    assert len([line for line in ax.lines if line.get_linestyle() == ":"]) == 2
    table = decision_rates(mixed(), "c", "z").plot()
    rates = decision_rates(mixed(), "c", "z")
    assert [t.get_text() for t in table.texts][:3] == [f"{rates.rate('p', named):.3g}" for named in "pqr"]


def test_calibration_is_scikit_learns():
    for equal, strategy in (("width", "uniform"), ("rows", "quantile")):
        found = calibration(Y, P, bins=7, equal=equal)[""]
        share, said = calibration_curve(Y, P, n_bins=7, strategy=strategy)
        np.testing.assert_allclose(found.share, share, atol=1e-12)
        np.testing.assert_allclose(found.said, said, atol=1e-12)
    assert found.brier == pytest.approx(brier_score_loss(Y, P))
    assert calibration(Y, np.clip(P, 1e-6, 1 - 1e-6))[""].log_loss == pytest.approx(
        log_loss(Y, np.clip(P, 1e-6, 1 - 1e-6))
    )
    n, hits = found.count[0], round(found.share[0] * found.count[0])
    wanted = stats.binomtest(hits, n).proportion_ci(method="exact")
    assert (found.low[0], found.high[0]) == pytest.approx((wanted.low, wanted.high))
    assert calibration([0, 1], [0.0, 0.0])[""].log_loss == np.inf


def test_calibrations_in_one_picture():
    found = calibration(Y, {"one": P, "other": P**2}, bins=5)
    ax = found.plot()
    assert [t.get_text().split(",")[0] for t in ax.get_legend().get_texts()] == ["one", "other"]
    assert len(found.to_pandas()) == sum(len(one.said) for one in found.values())
    assert "other" in repr(found)


def test_weights_of_scores_are_rows_repeated():
    y, score, w = [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0], [1, 3, 2, 1]
    assert roc(y, score, sample_weight=w).auc == pytest.approx(roc(np.repeat(y, w), np.repeat(score, w)).auc)


def test_estimates_print_draw_and_take_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"u": P, "v": RNG.normal(size=400)})
    found = error_estimates(LogisticRegression(), frame, Y, folds=4)
    same = error_estimates(
        pgm.DiscriminantAnalysis(shared=True), {"u": P, "v": frame["v"].to_numpy()}, Y, folds=4
    )
    assert abs(found.cross_validation.rate - same.cross_validation.rate) < 0.03
    assert found.plot().get_xlabel() == "error rate"
    assert "resubstitution" in repr(found)
    assert pickle.loads(pickle.dumps(found)).folds.tolist() == found.folds.tolist()


HALVES = {"prior": [0.5, 0.5]}
WRONG = pgm.InvalidArgument


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        (lambda: decision_rates(TWO), WRONG, "prior="),
        (lambda: decision_rates(3), WRONG, "Bayesian network"),
        (lambda: decision_rates({"a": 3.0}, prior=[1.0]), WRONG, "pdf and cdf"),
        (lambda: decision_rates(TWO, "c", **HALVES), WRONG, "for networks"),
        (lambda: decision_rates(TWO, prior=[0.5, 0.6]), WRONG, "sum to one"),
        (lambda: decision_rates(TWO, **HALVES, rule=["a", 2.0, "b", 1.0, "a"]), WRONG, "must increase"),
        (lambda: decision_rates(TWO, **HALVES, rule=["a", 2.0]), WRONG, "in turn"),
        (lambda: decision_rates(TWO, **HALVES, rule=["a", 2.0, "z"]), pgm.UnknownState, "'z'"),
        (lambda: decision_rates(TWO, **HALVES, rule=["a", 2.0, None]), WRONG, "reject="),
        (lambda: decision_rates(TWO, **HALVES, rule={0: "a"}), WRONG, "cuts or a function"),
        (lambda: decision_rates(TWO, **HALVES, samples=10), WRONG, "no effect"),
        (lambda: decision_rates(TWO, **HALVES, reject="x"), WRONG, "reject="),
        (lambda: decision_rates(mixed()), WRONG, "target="),
        (lambda: decision_rates(mixed(), "x", "z"), WRONG, "continuous"),
        (lambda: decision_rates(mixed(), "c", "c"), WRONG, "itself"),
        (lambda: decision_rates(mixed(), "c", "zz"), pgm.UnknownVariable, "'zz'"),
        (lambda: decision_rates(mixed(), "c", "z", rule={True: "p"}), WRONG, "has no entry for False"),
        (lambda: decision_rates(mixed(), "c", "z", prior=[1]), WRONG, "its own"),
        (lambda: roc([0, 1, 2], [1, 2, 3]), WRONG, "two classes.*positive= which class"),
        (lambda: roc([0, 0], [1, 2], positive=0), WRONG, "two classes"),
        (lambda: roc({"a": stats.norm(), "b": stats.norm(), "c": stats.norm()}), WRONG, "mixture"),
        (lambda: roc([0, 1], [1, np.nan]), pgm.InvalidFrame, "Row 1"),
        (lambda: roc([0, 1], np.eye(2)), WRONG, "column of the positive class"),
        (lambda: roc([0, 1], [1, 2], positive=7), WRONG, "positive=7"),
        (lambda: roc([0, 1], [1, 2], sample_weight=[1, 0]), WRONG, "no weight"),
        (lambda: roc([0, 1]), WRONG, "score="),
        (lambda: roc({"a": stats.norm()}), WRONG, "two densities"),
        (lambda: calibration([0, 1], [0.1, 1.2]), WRONG, "1.2"),
        (lambda: calibration([0, 1], [0.1, np.nan]), pgm.InvalidFrame, "Row 1"),
        (lambda: calibration([0, 1, 2], [0.1, 0.2, 0.3]), WRONG, "positive="),
        (lambda: calibration([0, 1], [0.1, 0.2], bins=0), WRONG, "bins="),
        (lambda: calibration([0, 1], [0.1, 0.2], equal="all"), WRONG, "equal="),
        (lambda: error_estimates(3, [[1.0]], [1]), WRONG, "get_params"),
        (lambda: error_estimates(LogisticRegression(), P[:, None], Y, folds=300), WRONG, "rarest"),
        (lambda: error_estimates(LogisticRegression(), P[:, None], Y, test=3), WRONG, "test="),
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_refused(asked, error, said):
    with pytest.raises(error, match=said):
        asked()


def test_one_class_against_all_others_is_scikit_learns() -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(5)
    y, score = rng.integers(0, 3, 80), rng.integers(0, 9, 80)  # ties
    weights = rng.uniform(0.1, 2.0, 80)
    for positive in range(3):
        found = roc(y, {"a": score, "b": -score}, positive=positive, sample_weight=weights)
        for name, sign in (("a", 1), ("b", -1)):
            wanted = roc_auc_score(y == positive, sign * score, sample_weight=weights)
            assert found[name].auc == pytest.approx(wanted, abs=1e-12)
    with pytest.raises(WRONG, match="classes other than 1 have no weight"):
        roc(y, score, positive=1, sample_weight=y == 1)


def test_thresholds_and_edges_of_bins_belong_where_scikit_learn_puts_them() -> None:
    from sklearn.calibration import calibration_curve

    rng = np.random.default_rng(2)
    y = np.r_[0, 1, rng.integers(0, 2, 58)]
    p = rng.integers(0, 11, 60) / 10.0  # on the edges of bins, and in ties
    found = roc(y, p)
    for at in (0.0, 0.25, 0.3, 0.5, 1.0, 1.5):
        assert found.at(at) == pytest.approx(((p >= at)[y == 0].mean(), (p >= at)[y == 1].mean()))
    for equal, strategy in (("width", "uniform"), ("rows", "quantile")):
        share, said = calibration_curve(y, p, n_bins=5, strategy=strategy)
        one = calibration(y, p, bins=5, equal=equal)[""]
        np.testing.assert_allclose(one.said, said, atol=1e-12)
        np.testing.assert_allclose(one.share, share, atol=1e-12)


def test_intervals_of_calibration_are_clopper_and_pearsons() -> None:
    y, p = [0, 1, 1, 0, 1, 1, 1, 0], [0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9, 0.2]
    one = calibration(y, p, bins=2)[""]
    for low, high, hits, count in zip(one.low, one.high, (2, 3), one.count, strict=True):
        found = stats.binomtest(hits, int(count)).proportion_ci(0.95, method="exact")
        assert (low, high) == pytest.approx((found.low, found.high), abs=1e-9)


def test_costs_hold_where_cases_are_drawn() -> None:
    net = pgm.BayesianNetwork()
    net.add("ill", 0.3)
    net.add("x", {True: pgm.Gaussian(1.0, sd=1.0), False: pgm.Gaussian(0.0, sd=1.0)}, parents=["ill"])
    net.add("noise", pgm.Gaussian(0.0, sd=1.0))  # two numbers are drawn, and one says nothing
    loss = {(True, False): 10.0, (False, True): 1.0}
    exact = decision_rates(net, "ill", "x", loss=loss)
    drawn = decision_rates(net, "ill", ["x", "noise"], loss=loss, samples=20_000, seed=0)
    assert exact.exact
    assert not drawn.exact
    assert drawn.risk == pytest.approx(exact.risk, rel=0.05)
    assert drawn.rate(True, False) == pytest.approx(exact.rate(True, False), abs=0.01)
    assert drawn.rate(True, False) < 0.1 < decision_rates(net, "ill", "x").rate(True, False)
