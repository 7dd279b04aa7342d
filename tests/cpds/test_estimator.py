"""Any classifier as a local distribution: its own probabilities, and sums over what is hidden."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import pgm

RNG = np.random.default_rng(7)
close, same = np.testing.assert_allclose, np.testing.assert_array_equal
CALLS = []


class Counting(ClassifierMixin, BaseEstimator):
    """A classifier that remembers with how many rows it was called."""

    def __init__(self, inner=None):
        self.inner = inner

    def fit(self, x, y, sample_weight=None):
        self.inner_ = self.inner.fit(x, y)
        self.classes_, self.n_features_in_ = self.inner_.classes_, self.inner_.n_features_in_
        return self

    def predict_proba(self, x):
        CALLS.append(len(x))
        return self.inner_.predict_proba(x)

    def predict(self, x):
        return self.classes_[self.predict_proba(x).argmax(axis=1)]


def mixed(kind=LogisticRegression, **options):
    """A classifier of a number, two sorts and a count, and the rows that it was fitted on."""
    x = np.column_stack([RNG.normal(size=400), RNG.integers(0, 2, 400), RNG.integers(0, 3, 400)])
    y = np.array(["no", "yes", "perhaps"])[
        (x @ [1.0, 1.5, -0.7] + RNG.normal(size=400)).round().astype(int) % 3
    ]
    return kind(**options).fit(x, y), x


def network(classifier):
    net = pgm.BayesianNetwork()
    net.add("cause", {"a": 0.3, "b": 0.7})
    net.add("x", {"a": pgm.Gaussian(0.5, sd=1.0), "b": pgm.Gaussian(-0.5, sd=2.0)}, parents=["cause"])
    net.add("s", {"a": 0.8, "b": 0.3}, parents=["cause"])
    net.add("k", {False: [0.2, 0.3, 0.5], True: [0.6, 0.3, 0.1]}, parents=["s"], states=[0, 1, 2])
    net.add("c", pgm.EstimatorCPD(classifier, parents=["x", "s", "k"]))
    net.add("below", {"no": 0.1, "yes": 0.9, "perhaps": 0.4}, parents=["c"])
    return net


def by_enumeration(classifier, given):
    """P(c, given), one number for each class, by summing over everything that has states."""
    normal = lambda x, m, s: np.exp(-0.5 * ((x - m) / s) ** 2) / (s * np.sqrt(2.0 * np.pi))  # noqa: E731
    total = np.zeros(3)
    for cause, s, k in itertools.product("ab", (False, True), (0, 1, 2)):
        if given.get("s", s) != s or given.get("k", k) != k or given.get("cause", cause) != cause:
            continue
        p = 0.3 if cause == "a" else 0.7
        p *= normal(given["x"], *((0.5, 1.0) if cause == "a" else (-0.5, 2.0)))
        p_s = 0.8 if cause == "a" else 0.3
        p *= p_s if s else 1.0 - p_s
        p *= ([0.6, 0.3, 0.1] if s else [0.2, 0.3, 0.5])[k]
        row = classifier.predict_proba([[given["x"], s, k]])[0]
        if "below" in given:
            low = np.array([{"no": 0.1, "yes": 0.9, "perhaps": 0.4}[one] for one in classifier.classes_])
            row = row * (low if given["below"] else 1.0 - low)
        total += p * row
    return total


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (LogisticRegression, {}),
        (RandomForestClassifier, {"n_estimators": 5, "random_state": 0}),
        (KNeighborsClassifier, {"n_neighbors": 3}),
    ],
)
def test_what_is_hidden_is_summed_out(kind, options):
    classifier, _ = mixed(kind, **options)
    net = network(classifier)
    states = [str(one) for one in classifier.classes_]
    assert list(net.variables["c"].states) == states
    free = [
        {},
        {"s": True},
        {"k": 2},
        {"s": False, "k": 0},
        {"cause": "a"},
        {"below": True},
        {"below": False, "k": 1},
    ]
    rows = [{"x": x, **more} for x in (-1.3, 0.2, 2.0) for more in free]
    for given in rows:
        joint = by_enumeration(classifier, given)
        close(net.query("c", given).values, joint / joint.sum(), atol=1e-12)
        close(net.probability(given), joint.sum(), rtol=1e-12)
    frame = {name: [row.get(name) for row in rows] for name in ("x", "s", "k", "cause", "below")}
    joints = np.array([by_enumeration(classifier, row) for row in rows])
    close(net.predict_proba(frame, "c"), joints / joints.sum(axis=1, keepdims=True), atol=1e-12)
    close(net.log_likelihood(frame), np.log(joints.sum(axis=1)), rtol=1e-12)


def test_all_inputs_known_gives_the_classifiers_own_answer_in_one_call():
    inner, x = mixed(RandomForestClassifier, n_estimators=5, random_state=0)
    counting = Counting(inner).fit(x, np.array(["no", "yes", "perhaps"])[RNG.integers(0, 3, len(x))])
    net = network(counting)
    frame = {"x": x[:, 0], "s": x[:, 1] == 1, "k": x[:, 2].astype(int)}
    for more in ({}, {"below": RNG.random(len(x)) < 0.5}):
        CALLS.clear()
        found = np.asarray(net.predict_proba(frame | more, "c"))
        assert CALLS == [len(x)]
        own = counting.inner_.predict_proba(x)
        if more:
            low = np.array([{"no": 0.1, "yes": 0.9, "perhaps": 0.4}[one] for one in counting.classes_])
            own = own * np.where(more["below"][:, None], low, 1.0 - low)
            own /= own.sum(axis=1, keepdims=True)
        close(found, own, atol=1e-12)


def test_gaps_in_some_rows_are_still_one_call():
    inner, x = mixed(RandomForestClassifier, n_estimators=5, random_state=0)
    counting = Counting(inner).fit(x, np.array(["no", "yes", "perhaps"])[RNG.integers(0, 3, len(x))])
    net = network(counting)
    rows = [
        {"x": float(x[i, 0])}
        | ({"s": bool(x[i, 1])} if i % 2 else {})
        | ({"k": int(x[i, 2])} if i % 3 else {})
        for i in range(60)
    ]
    CALLS.clear()
    found = np.asarray(net.predict_proba({n: [r.get(n) for r in rows] for n in ("x", "s", "k")}, "c"))
    assert len(CALLS) == 1
    joints = np.array([by_enumeration(counting.inner_, row) for row in rows])
    close(found, joints / joints.sum(axis=1, keepdims=True), atol=1e-12)


def test_a_logistic_regression_is_a_logistic_also_under_quadrature():
    x = RNG.normal(size=(300, 2))
    model = LogisticRegression().fit(x, x @ [1.0, 0.5] + RNG.normal(size=300) > 0)
    nets = []
    for cpd in (
        pgm.EstimatorCPD(model, parents=["u", "v"]),
        pgm.Logistic(dict(zip("uv", model.coef_[0].tolist(), strict=True)), bias=float(model.intercept_[0])),
    ):
        net = pgm.BayesianNetwork()
        net.add("u", pgm.Gaussian(0.3, sd=1.2))
        net.add("v", pgm.LinearGaussian({"u": 0.7}, bias=0.1, sd=0.8))
        net.add("c", cpd)
        net.add("d", {True: 0.2, False: 0.9}, parents=["c"])
        nets.append(net)
    mine, theirs = nets
    for given in ({"u": 0.5, "v": -1.0}, {"u": 0.5, "v": -1.0, "d": True}):
        close(mine.query("c", given).values, theirs.query("c", given).values, atol=1e-12)
    for given in ({}, {"u": 0.5}, {"d": True}, {"u": -0.5, "d": False}, {"c": True}):
        for target in {"c", "u", "d"} - set(given):
            a, b = (net.query(target, given, engine="quadrature") for net in nets)
            if target == "u":
                close([a.mean, a.variance], [b.mean, b.variance], atol=1e-9)
            else:
                close(a.values, b.values, atol=1e-9)
    for net in nets:
        with pytest.raises(pgm.InvalidArgument, match="quadrature"):
            net.query("c", {"u": 0.5})
    with pytest.raises(pgm.InvalidArgument, match="linear"):
        mine.query("c", {"u": 0.5}, engine="variational")


def test_many_inputs_with_states_need_no_table_as_long_as_few_are_hidden():
    names = [f"word{i}" for i in range(60)]
    x = RNG.integers(0, 2, (200, 60))
    model = BernoulliNB().fit(x, x[:, :5].sum(axis=1) > 2)
    net = pgm.BayesianNetwork()
    for i, name in enumerate(names):
        net.add(name, 0.1 + 0.01 * i)
    net.add("spam", pgm.EstimatorCPD(model, parents=names))
    row = dict(zip(names, x[0].tolist(), strict=True))
    close(net.query("spam", row).values, model.predict_proba(x[:1])[0], atol=1e-12)
    del row["word3"], row["word7"]
    total = np.zeros(2)
    for a, b in itertools.product((0, 1), (0, 1)):
        one = x[:1].copy()
        one[0, [3, 7]] = a, b
        total += (0.13 if a else 0.87) * (0.17 if b else 0.83) * model.predict_proba(one)[0]
    close(net.query("spam", row).values, total, atol=1e-12)
    frame = {name: [row.get(name)] * 2 for name in names}
    close(np.asarray(net.predict_proba(frame, "spam"))[1], total, atol=1e-12)
    with pytest.raises(pgm.TooLarge, match="Observe more of its inputs"):
        net.query("spam")


def test_few_inputs_with_states_are_a_table_for_every_engine():
    model = BernoulliNB().fit([[0, 0], [0, 1], [1, 1]], ["u", "v", "v"])
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("b", 0.6)
    net.add("c", pgm.EstimatorCPD(model, parents=["a", "b"]))
    plain = pgm.BayesianNetwork()
    plain.add("a", 0.3)
    plain.add("b", 0.6)
    plain.add(
        "c",
        model.predict_proba([[0, 0], [0, 1], [1, 0], [1, 1]]).reshape(2, 2, 2),
        parents=["a", "b"],
        states=["u", "v"],
    )
    for given in ({}, {"c": "u"}, {"a": True}):
        for engine in ("auto", "elimination", "loopy"):
            found = net.query("b", given, engine=engine).values
            close(found, plain.query("b", given).values, atol=1e-12)
    assert net.map().to_dict() == plain.map().to_dict()


def test_a_network_keeps_its_own_copy_and_pickles():
    classifier, x = mixed()
    net = network(classifier)
    given = {"x": 0.3, "s": True}
    before = net.query("c", given).values
    classifier.fit(x, np.array(["no", "yes", "perhaps"])[RNG.integers(0, 3, len(x))])
    same(net.query("c", given).values, before)
    other = pickle.loads(pickle.dumps(net))
    assert other == net
    assert net.copy() == net
    same(other.query("c", given).values, before)
    same(net.rename({"x": "length"}).query("c", {"length": 0.3, "s": True}).values, before)


# --- numbers that follow others by any regression ---


def curve():
    """A network in which a number follows another and a state by a tree, a line follows that."""
    x = np.column_stack([RNG.normal(size=300), RNG.integers(0, 2, 300)])
    y = np.sin(3.0 * x[:, 0]) + x[:, 1] + 0.1 * RNG.normal(size=300)
    tree = DecisionTreeRegressor(max_depth=4, random_state=0).fit(x, y)
    net = pgm.BayesianNetwork()
    net.add("s", 0.3)
    net.add("x", {True: pgm.Gaussian(0.5, sd=1.0), False: pgm.Gaussian(-0.5, sd=2.0)}, parents=["s"])
    net.add("y", pgm.EstimatorCPD(tree, parents=["x", "s"], sd=0.4))
    net.add("z", pgm.LinearGaussian({"y": 2.0}, bias=1.0, sd=0.3))
    return net, tree


def normal(x, mean, sd):
    return np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2.0 * np.pi))


def test_a_regressor_is_a_constant_where_its_inputs_are_known():
    net, tree = curve()
    for x in (-0.7, 0.4):
        prior = np.array([0.7 * normal(x, -0.5, 2.0), 0.3 * normal(x, 0.5, 1.0)])
        means = tree.predict([[x, 0], [x, 1]])
        for s in (False, True):
            y = net.query("y", {"x": x, "s": s})
            close([y.mean, y.variance], [means[int(s)], 0.16], atol=1e-12)
        y = net.query("y", {"x": x})
        share = prior / prior.sum()
        close(y.mean, share @ means, atol=1e-12)
        close(y.variance, 0.16 + share @ means**2 - (share @ means) ** 2, atol=1e-12)
        joint = prior * normal(0.8, means, 0.4)
        close(net.query("s", {"x": x, "y": 0.8}).values, joint / joint.sum(), atol=1e-12)
        sd = np.sqrt(0.16 * 4.0 + 0.09)
        joint = prior * normal(1.5, 1.0 + 2.0 * means, sd)
        close(net.query("s", {"x": x, "z": 1.5}).values, joint / joint.sum(), atol=1e-12)
        close(net.probability({"x": x, "z": 1.5}), joint.sum(), rtol=1e-12)
        gain = 0.16 * 2.0 / sd**2
        mean = net.query("y", {"x": x, "z": 1.5, "s": True}).mean
        close(mean, means[1] + gain * (1.5 - 1.0 - 2.0 * means[1]), atol=1e-12)


def test_frames_with_regressors_are_the_rows_one_by_one():
    net, tree = curve()
    x = RNG.normal(size=20)
    rows = [
        {"x": float(x[i])} | ({"s": bool(i % 2)} if i % 3 else {}) | ({"z": 0.5} if i % 4 == 0 else {})
        for i in range(20)
    ]
    frame = {name: [row.get(name) for row in rows] for name in ("x", "s", "z")}
    close(net.predict(frame, "y"), [net.query("y", row).mean for row in rows], atol=1e-12)
    close(net.log_likelihood(frame), [net.log_probability(row) for row in rows], rtol=1e-12)
    whole = {"x": x, "s": x > 0}
    same(net.predict(whole, "y"), tree.predict(np.column_stack([x, x > 0])))


def test_a_number_that_follows_a_hidden_one_is_refused_and_drawn():
    net, tree = curve()
    for engine in ("auto", "quadrature"):
        with pytest.raises(pgm.InvalidArgument, match="'y' follows 'x', not observed, by a regressor"):
            net.query("y", engine=engine)
    net.query("x", {"s": True})
    drawn = net.sample(20_000, seed=0)
    off = drawn["y"] - tree.predict(np.column_stack([drawn["x"], drawn["s"]]))
    assert abs(off.mean()) < 4 * 0.4 / np.sqrt(20_000)
    assert abs(off.var() - 0.16) < 4 * 0.16 * np.sqrt(2.0 / 20_000)
    off = drawn["z"] - 1.0 - 2.0 * drawn["y"]
    assert abs(off.var() - 0.09) < 4 * 0.09 * np.sqrt(2.0 / 20_000)


def test_hidden_inputs_are_drawn_with_the_classifier_below():
    classifier, _ = mixed()
    net = network(classifier)
    drawn = net.sample(40_000, seed=1)
    rows = classifier.predict_proba(np.column_stack([drawn["x"], drawn["s"], drawn["k"]]))
    for j, state in enumerate(classifier.classes_):
        off = (drawn["c"] == state) - rows[:, j]
        assert abs(off.mean()) < 4 * off.std() / 200.0
    given = {"x": 0.4, "c": "yes"}
    drawn = net.sample(20_000, given=given, seed=2)
    p = net.query("s", given)[True]
    assert abs(np.mean(drawn["s"]) - p) < 4 * np.sqrt(p * (1 - p) / 20_000)


def test_the_noise_of_a_regressor_is_its_own_or_given_or_measured():
    x = RNG.normal(size=(60, 1))
    y = x[:, 0] ** 2 + 0.2 * RNG.normal(size=60)
    bayes = BayesianRidge().fit(x, y)
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    net.add("own", pgm.EstimatorCPD(bayes, parents=["x"]))
    held = {"x": RNG.normal(size=50), "measured": RNG.normal(size=50)}
    tree = DecisionTreeRegressor(max_depth=3).fit(x, y)
    net.add("measured", pgm.EstimatorCPD(tree, parents=["x"], rows=held))
    mean, sd = bayes.predict([[0.7]], return_std=True)
    own = net.query("own", {"x": 0.7})
    close([own.mean, own.std], [mean[0], sd[0]], atol=1e-12)
    off = held["measured"] - tree.predict(held["x"][:, None])
    close(net.query("measured", {"x": 0.7}).std, np.sqrt(np.mean(off**2)), rtol=1e-12)
    with pytest.raises(pgm.InvalidTable, match="give sd=, or rows="):
        net.add("bare", pgm.EstimatorCPD(tree, parents=["x"]))


# --- fitting inside ---


def unfitted(estimator, **options):
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    net.add("s", 0.5)
    net.add("c", pgm.EstimatorCPD(estimator, parents=["x", "s"]), **options)
    return net


def rows_of_three(n=300):
    x, s = RNG.normal(size=n), RNG.random(n) < 0.4
    c = np.array(["a", "b", "c"])[((x + s + 0.5 * RNG.normal(size=n)) > 0).astype(int) + (x > 1)]
    return {"x": x, "s": s, "c": c}


def test_an_estimator_is_fitted_inside():
    rows = rows_of_three()
    model = LogisticRegression()
    net = unfitted(model)
    for question in (lambda: net.query("s"), lambda: net.cpd("c")):
        with pytest.raises(pgm.IncompleteModel, match="`fit`"):
            question()
    net.fit(rows)
    assert not hasattr(model, "classes_")  # a clone is fitted
    own = LogisticRegression().fit(np.column_stack([rows["x"], rows["s"]]), rows["c"])
    assert net.variables["c"].states == ("a", "b", "c")
    close(net.query("c", {"x": 0.3, "s": True}).values, own.predict_proba([[0.3, 1]])[0], atol=1e-12)
    shares = own.predict_proba(np.column_stack([rows["x"], rows["s"]]))
    code = np.searchsorted(["a", "b", "c"], rows["c"])
    plain = pgm.BayesianNetwork(edges="x; s").fit({"x": rows["x"], "s": rows["s"]})
    log = plain.score(rows) + np.log(shares[np.arange(len(code)), code]).sum()
    close(net.fit_report.log_likelihood, log, rtol=1e-9)
    kept = net.copy().fit(rows_of_three(), fixed=["c"])
    assert kept.cpd("c") == net.cpd("c")


def test_weights_are_rows_repeated_also_in_em():
    rows = rows_of_three()
    n = len(rows["x"])
    weights = RNG.integers(0, 3, n)
    again = np.repeat(np.arange(n), weights)
    rows["d"] = (rows["c"] == "a") ^ (RNG.random(n) < 0.2)
    gaps = {name: column.astype(object) if name in "sc" else column for name, column in rows.items()}
    gaps["c"][RNG.random(n) < 0.3] = None
    gaps["s"][RNG.random(n) < 0.2] = None
    for frame in (rows, gaps):
        found = []
        for use, more in ((slice(None), {"weights": weights}), (again, {})):
            net = unfitted(LogisticRegression(tol=1e-10, max_iter=1000), states=["a", "b", "c"])
            net.add("d", {"a": 0.6, "b": 0.5, "c": 0.4}, parents=["c"])
            net.fit({name: column[use] for name, column in frame.items()}, **more)
            logs = net.fit_report.log_likelihoods
            assert (np.diff(logs) > -1e-9).all()
            found.append((net.query("c", {"x": 0.3, "s": True}).values, logs))
        close(found[0][0], found[1][0], atol=1e-7)
        close(found[0][1], found[1][1], rtol=1e-9)
    with pytest.raises(pgm.InvalidArgument, match="takes no sample_weight"):
        unfitted(KNeighborsClassifier()).fit(rows, weights=weights)
    with pytest.raises(pgm.InvalidArgument, match="takes no sample_weight"):
        unfitted(KNeighborsClassifier(90), states=["a", "b", "c"]).fit({k: gaps[k] for k in "xsc"})


def test_a_step_of_em_is_what_is_written_in_books():
    x = RNG.normal(size=40)
    c = (x + 0.5 * RNG.normal(size=40) > 0).astype(object)
    d = c.astype(bool) ^ (RNG.random(40) < 0.2)
    c[:15] = None
    begin = GaussianNB().fit(x[15:, None], c[15:].astype(bool))
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    net.add("c", pgm.EstimatorCPD(begin, parents=["x"]))
    net.add("d", {True: 0.8, False: 0.3}, parents=["c"])
    net.fit({"x": x, "c": c, "d": d}, max_iter=1)
    low = np.where(d[:15, None], [0.3, 0.8], [0.7, 0.2])
    share = begin.predict_proba(x[:15, None]) * low
    share /= share.sum(axis=1, keepdims=True)
    there = np.concatenate([x[15:], x[:15], x[:15]])[:, None]
    labels = np.concatenate([c[15:].astype(bool), np.zeros(15, bool), np.ones(15, bool)])
    weights = np.concatenate([np.ones(25), share[:, 0], share[:, 1]])
    after = GaussianNB().fit(there, labels, sample_weight=weights)
    close(net.query("c", {"x": 0.2}).values, after.predict_proba([[0.2]])[0], atol=1e-9)


def test_a_linear_regression_inside_is_a_linear_gaussian():
    x = RNG.normal(size=100)
    rows = {"x": x, "y": 2.0 * x + 1.0 + 0.3 * RNG.normal(size=100)}
    weights = RNG.integers(1, 4, 100)
    one, other = pgm.BayesianNetwork(), pgm.BayesianNetwork(edges="x -> y")
    one.add("x", pgm.Gaussian(0.0, sd=1.0))
    one.add("y", pgm.EstimatorCPD(LinearRegression(), parents=["x"]))
    for more in ({}, {"weights": weights}):
        a, b = (net.fit(rows, **more).query("y", {"x": 0.7}) for net in (one, other))
        close([a.mean, a.std], [b.mean, b.std], rtol=1e-9)
        close(one.fit_report.log_likelihood, other.fit_report.log_likelihood, rtol=1e-9)


# --- what is refused ---


class Odd(ClassifierMixin, BaseEstimator):
    """A classifier of two classes that returns what it is told."""

    def __init__(self, answer):
        self.answer = answer
        self.classes_, self.n_features_in_ = np.array([False, True]), 1

    def fit(self, x, y):
        return self

    def predict_proba(self, x):
        return self.answer(x)


def numbers(**more):
    net = pgm.BayesianNetwork()
    for name in ("u", "v"):
        net.add(name, pgm.Gaussian(0.0, sd=1.0))
    net.add("sort", {"dry": 0.5, "wet": 0.5})
    return net


def rows_of(x, share):
    return np.tile([1.0 - share, share], (len(x), 1))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: rows_of(x, np.nan), "are not all numeric"),
        (lambda x: rows_of(x, 1.25), "are negative"),
        (lambda x: 0.9 * rows_of(x, 0.25), "sum to 0.9, not to one"),
        (lambda x: np.ones((len(x), 1)), r"shape \(1, 1\)"),
        (lambda x: [rows_of(x, 0.5), rows_of(x, 0.5)], "several outputs"),
    ],
)
def test_probabilities_that_are_none_name_node_column_and_estimator(answer, said):
    net = numbers()
    net.add("c", pgm.EstimatorCPD(Odd(answer), parents=["u"]))
    with pytest.raises(pgm.InvalidTable, match=said) as error:
        net.query("c", {"u": 0.5})
    assert "'c'" in str(error.value)
    assert "Odd" in str(error.value)
    if "shape" not in said and "outputs" not in said:
        assert "u=0.5" in str(error.value)


def test_an_estimator_that_raises_keeps_its_error():
    def fails(x):
        raise ZeroDivisionError("no such sensor")

    net = numbers()
    net.add("c", pgm.EstimatorCPD(Odd(fails), parents=["u"]))
    with pytest.raises(
        pgm.InvalidTable, match=r"'c': its Odd raises ZeroDivisionError.*'u': no such sensor"
    ) as error:
        net.query("c", {"u": 0.5})
    assert isinstance(error.value.__cause__, ZeroDivisionError)


def test_an_estimator_that_changes_when_it_predicts_is_refused():
    calls = []

    def drifts(x):
        calls.append(1)
        return rows_of(x, 1.0 / (1.0 + len(calls)))

    with pytest.raises(pgm.InvalidTable, match="'c': its Odd changes when it predicts"):
        numbers().add("c", pgm.EstimatorCPD(Odd(drifts), parents=["u"]))


def test_other_columns_order_or_coding_are_refused():
    pandas = pytest.importorskip("pandas")
    x = RNG.normal(size=(50, 2))
    y = x[:, 0] > 0
    named = LogisticRegression().fit(pandas.DataFrame(x, columns=["u", "v"]), y)
    net = numbers()
    for parents, said in (
        (["v", "u"], "in this order, not in that of"),
        (["u"], "no parent is 'v'"),
        (["u", "v", "sort"], "'sort' is not one of them"),
    ):
        with pytest.raises(pgm.InvalidTable, match=said):
            net.add("c", pgm.EstimatorCPD(named, parents=parents))
    plain = LogisticRegression().fit(np.column_stack([x, x[:, 0]]), y)
    with pytest.raises(pgm.InvalidTable, match=r"fitted on 3 columns.*make 2"):
        net.add("c", pgm.EstimatorCPD(plain, parents=["u", "v"]))
    with pytest.raises(pgm.InvalidArgument, match="'codes'"):
        net.add("c", pgm.EstimatorCPD(plain, parents=["u", "v", "sort"], coding="code"))
    with pytest.raises(pgm.InvalidArgument, match="are not numbers"):
        net.add("c", pgm.EstimatorCPD(plain, parents=["u", "v", "sort"], coding="values"))
    with pytest.raises(pgm.UnknownVariable, match="'w'"):
        net.add("c", pgm.EstimatorCPD(named, parents=["u", "w"]))
    net.add("c", pgm.EstimatorCPD(named, parents=["u", "v"]))
    with pytest.raises(pgm.InvalidFrame, match=r"Did you mean|no column"):
        net.predict_proba({"U": [0.1]}, "c")


def test_classes_are_the_states():
    x = RNG.normal(size=(50, 1))
    words = LogisticRegression().fit(x, np.where(x[:, 0] > 0, "hot", "cold"))
    net = numbers()
    with pytest.raises(pgm.InvalidTable, match="do not include 'cold'"):
        net.add("c", pgm.EstimatorCPD(words, parents=["u"]), states=["cool", "hot"])
    with pytest.raises(pgm.InvalidTable, match="none is the state 'mild'"):
        net.add("c", pgm.EstimatorCPD(words, parents=["u"]), states=["cold", "mild", "hot"])
    net.add("c", pgm.EstimatorCPD(words, parents=["u"]), states=["hot", "cold"])
    same(net.query("c", {"u": 0.3}).values, words.predict_proba([[0.3]])[0, ::-1])
    truth = LogisticRegression().fit(x, np.where(x[:, 0] > 0, "TRUE", "FALSE"))  # rule 6
    net.add("d", pgm.EstimatorCPD(truth, parents=["u"]), states=[False, True])
    same(net.query("d", {"u": 0.3}).values, truth.predict_proba([[0.3]])[0])
    one = DummyClassifier().fit(x, np.zeros(50))
    with pytest.raises(pgm.InvalidTable, match="one class only, 0"):
        net.add("e", pgm.EstimatorCPD(one, parents=["u"]))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: pgm.EstimatorCPD(LogisticRegression, ["u"]), r"write LogisticRegression\(\)"),
        (lambda: pgm.EstimatorCPD("tree", ["u"]), "takes an estimator"),
        (lambda: pgm.EstimatorCPD(LogisticRegression(), []), "parents= lists the inputs"),
        (lambda: pgm.EstimatorCPD(LogisticRegression(), ["u"], sd=1.0), "sd= is for regressors"),
        (lambda: pgm.EstimatorCPD(LogisticRegression(), ["u"], method="isotonic"), "calibrates on rows="),
        (lambda: pgm.EstimatorCPD(LinearRegression(), ["u"], method="isotonic"), "a regressor has an sd="),
        (lambda: pgm.EstimatorCPD(LinearRegression(), ["u"], sd=0.0), "a number above 0"),
    ],
)
def test_options_that_make_no_sense(make, said):
    with pytest.raises(pgm.PGMError, match=said):
        make()


def test_scores_are_calibrated_on_rows_given_for_that():
    x = RNG.normal(size=(200, 1))
    y = x[:, 0] + 0.5 * RNG.normal(size=200) > 0
    machine = LinearSVC().fit(x[:100], y[:100])
    net = numbers()
    with pytest.raises(pgm.InvalidTable, match="no `predict_proba`, only scores: give rows="):
        net.add("c", pgm.EstimatorCPD(machine, parents=["u"]))
    for method in ("sigmoid", "isotonic"):
        net.add(
            method, pgm.EstimatorCPD(machine, ["u"], rows={"u": x[100:, 0], method: y[100:]}, method=method)
        )
        own = CalibratedClassifierCV(FrozenEstimator(machine), method=method).fit(x[100:], y[100:])
        for u in (-1.0, 0.2):
            close(net.query(method, {"u": u}).values, own.predict_proba([[u]])[0], atol=1e-12)
        assert method in repr(net.cpd(method))


def test_states_go_in_as_the_estimator_learned_them():
    pandas = pytest.importorskip("pandas")
    words = np.array(["dry", "wet"])[RNG.integers(0, 2, 80)]
    u = RNG.normal(size=80)
    y = (u + (words == "wet") + RNG.normal(size=80)) > 0
    codes = (words == "wet").astype(float)
    hot = np.column_stack([u, 1.0 - codes, codes])
    frame = pandas.DataFrame({"u": u, "sort": words})
    encoder = ColumnTransformer([("sorts", OneHotEncoder(), ["sort"])], remainder="passthrough")
    pipeline = make_pipeline(encoder, LogisticRegression()).fit(frame, y)
    dummies = pandas.get_dummies(frame, columns=["sort"])
    for model, x, said in (
        (LogisticRegression().fit(np.column_stack([u, codes]), y), [[0.4, 1.0]], "position"),
        (LogisticRegression().fit(hot, y), [[0.4, 0.0, 1.0]], "a column for each state"),
        (pipeline, pandas.DataFrame({"u": [0.4], "sort": ["wet"]}), "the state"),
        (
            LogisticRegression().fit(dummies, y),
            dummies[:1].assign(u=0.4, sort_dry=0.0, sort_wet=1.0),
            "a column",
        ),
    ):
        net = numbers()
        net.add("c", pgm.EstimatorCPD(model, parents=["u", "sort"]))
        close(net.query("c", {"u": 0.4, "sort": "wet"}).values, model.predict_proba(x)[0], atol=1e-12)
        assert said in repr(net.cpd("c"))
        free = net.query("c", {"u": 0.4}).values
        both = [net.query("c", {"u": 0.4, "sort": s}).values for s in ("dry", "wet")]
        close(free, np.mean(both, axis=0), atol=1e-12)


def test_files_refuse_an_estimator_by_name_and_expanded_it_is_a_table(tmp_path):
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("b", 0.6)
    net.add(
        "c",
        pgm.EstimatorCPD(BernoulliNB().fit([[0, 0], [0, 1], [1, 1]], ["u", "v", "v"]), parents=["a", "b"]),
    )
    for name in ("n.json", "n.bif", "n.xdsl"):
        with pytest.raises(
            pgm.InvalidArgument, match=r"'c' is a BernoulliNB \(pgm.EstimatorCPD\).*expand=True"
        ):
            pgm.write(net, tmp_path / name)
        pgm.write(net, tmp_path / name, expand=True)
        close(pgm.read(tmp_path / name).query("c").values, net.query("c").values, atol=1e-15)
    with_number = network(mixed()[0])
    with pytest.raises(pgm.InvalidArgument, match="a pickle keeps it"):
        pgm.write(with_number, tmp_path / "m.json")
    with pytest.raises(pgm.InvalidTable, match="there is no table of it"):
        pgm.write(with_number, tmp_path / "m.json", expand=True)


def test_many_threads_may_ask():
    classifier, _ = mixed(RandomForestClassifier, n_estimators=5, random_state=0)
    net = network(classifier)
    asked = [{"x": float(x)} for x in RNG.normal(size=24)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda given: net.query("c", given).values, asked))
    for given, values in zip(asked, found, strict=True):
        same(values, net.query("c", given).values)


def test_a_network_classifier_is_an_estimator_of_another_network():
    n = 300
    a, b = RNG.random(n) < 0.4, np.array(["x", "y", "z"])[RNG.integers(0, 3, n)]
    y = np.where(a ^ (b == "x") ^ (RNG.random(n) < 0.1), "yes", "no")
    rows = np.array(list(zip(a.tolist(), b.tolist(), strict=True)), dtype=object)
    model = pgm.NaiveBayes().fit(rows, y)
    net = pgm.BayesianNetwork()
    net.add("a", 0.4)
    net.add("b", {"x": 0.2, "y": 0.3, "z": 0.5})
    net.add("c", pgm.EstimatorCPD(model, parents=["a", "b"]))
    turned = pgm.TANClassifier().fit({"a": a, "b": b}, y)
    net.add("d", pgm.EstimatorCPD(turned, parents=["a", "b"]))
    for state in ("x", "y", "z"):
        own = model.predict_proba(np.array([[True, state]], dtype=object))[0]
        close(net.query("c", {"a": True, "b": state}).values, own, atol=1e-12)
        own = turned.predict_proba({"a": [True], "b": [state]})[0]
        close(net.query("d", {"a": True, "b": state}).values, own, atol=1e-12)
    backwards = pgm.BayesianNetwork()
    backwards.add("b", [0.5, 0.3, 0.2], states=["z", "y", "x"])  # states go in as they are, in any order
    backwards.add("a", 0.4)
    backwards.add("c", pgm.EstimatorCPD(model, parents=["a", "b"]))
    given = {"a": True, "b": "y"}
    close(backwards.query("c", given).values, net.query("c", given).values, atol=1e-12)


def test_a_network_classifier_is_stacked_calibrated_cross_validated_and_in_a_pipeline():
    x = RNG.integers(0, 3, (300, 3))
    y = np.where((x[:, 0] == 1) ^ (x[:, 1] == 2) ^ (RNG.random(300) < 0.1), "yes", "no")
    tan = pgm.TANClassifier()
    assert cross_val_score(tan, x, y, cv=3).mean() > 0.7
    found = [
        StackingClassifier([("tan", tan), ("tree", DecisionTreeClassifier(max_depth=3))], cv=3).fit(x, y),
        CalibratedClassifierCV(tan, cv=3).fit(x, y),
        make_pipeline(SelectKBest(k=2), tan).fit(x, y),
    ]
    for number, model in enumerate(found):
        net = pgm.BayesianNetwork()
        for i in range(3):
            net.add(f"x{i}", [0.2, 0.3, 0.5], states=[0, 1, 2])
        net.add("y", pgm.EstimatorCPD(model, parents=["x0", "x1", "x2"], coding="values"))
        shares = net.query("y", {"x0": 1, "x1": 2, "x2": 0}).values
        close(shares, model.predict_proba(np.array([[1, 2, 0]]))[0], atol=1e-12, err_msg=str(number))
        every = model.predict_proba(np.array([[1, 2, k] for k in range(3)]))
        close(net.query("y", {"x0": 1, "x1": 2}).values, np.array([0.2, 0.3, 0.5]) @ every, atol=1e-12)


def test_a_classifier_in_a_network_over_time_is_that_of_its_unrolled_network():
    x = RNG.normal(size=(200, 2))
    rain = RNG.random(200) < 0.5
    model = LogisticRegression().fit(np.column_stack([x[:, 0], rain]), x[:, 0] + rain + x[:, 1] > 0.5)
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
    dbn.add("x", pgm.LinearGaussian(bias=0.0, sd=1.0))
    dbn.add("wet", pgm.EstimatorCPD(model, parents=["x", "rain"]))
    seen = {"x": [0.3, -0.2, 1.1], "wet": [True, None, False]}
    net = dbn.unroll(3)
    given = {"x[0]": 0.3, "x[1]": -0.2, "x[2]": 1.1, "wet[0]": True, "wet[2]": False}
    found = dbn.smooth(seen).marginal("rain").values
    close(found, [net.query(f"rain[{t}]", given).values for t in range(3)], atol=1e-12)


def test_no_rows_are_no_answers():
    net = network(mixed()[0])
    assert np.asarray(net.predict_proba({"x": [], "s": [], "k": []}, "c")).shape == (0, 3)


def test_states_are_drawn_with_the_probabilities_of_the_row() -> None:
    """Of three unequal classes, each as often as `predict_proba` says of the rows that were drawn."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 1))
    y = np.array(["a", "b", "c"])[np.digitize(x[:, 0] + rng.normal(size=300), [0.5, 2.0])]
    told = LogisticRegression().fit(x, y)
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    net.add("y", pgm.EstimatorCPD(told, parents=["x"]))
    for given in ({}, {"x": 1.5}):
        drawn = net.sample(4000, given=given, seed=1).to_pandas()
        found = told.predict_proba(drawn[["x"]].to_numpy())
        for i, state in enumerate(told.classes_):
            error = np.sqrt((found[:, i] * (1.0 - found[:, i])).sum()) / len(drawn)
            assert abs((drawn["y"] == state).mean() - found[:, i].mean()) < 4.0 * error


def test_a_pipeline_that_picks_columns_by_name_is_fitted_and_refitted_inside():
    pandas = pytest.importorskip("pandas")
    u, sort = RNG.normal(size=60), np.array(["dry", "wet"])[RNG.integers(0, 2, 60)]
    c = (u + (sort == "wet") + RNG.normal(size=60)) > 0.5
    frame = pandas.DataFrame({"u": u, "sort": sort})
    encoder = ColumnTransformer([("sorts", OneHotEncoder(), ["sort"])], remainder="passthrough")
    pipeline = make_pipeline(encoder, LogisticRegression())
    net = numbers()
    net.add("c", pgm.EstimatorCPD(pipeline, parents=["u", "sort"]), states=[False, True])
    for _ in range(2):  # the second time it was fitted before
        net.fit(frame.assign(v=0.5 * u[: len(c)], c=c))
        close(net.predict_proba(frame, "c"), pipeline.fit(frame, c).predict_proba(frame), atol=1e-12)
        frame, c = frame[:40], c[:40]


def test_a_refitted_estimator_keeps_its_encoding():
    net = numbers()
    codes = RNG.integers(0, 2, 60).astype(float)
    rows = np.column_stack([RNG.normal(size=60), codes])
    c = rows.sum(axis=1) + RNG.normal(size=60) > 0.5
    net.add("c", pgm.EstimatorCPD(LogisticRegression().fit(rows, c), parents=["u", "sort"]))
    sort = np.array(["dry", "wet"])[codes.astype(int)]
    net.fit({"u": rows[:, 0], "v": rows[:, 0], "sort": sort, "c": c})
    assert net.cpd("c").estimator.n_features_in_ == 2
    assert "position" in repr(net.cpd("c"))


def test_a_pipeline_ending_in_a_regressor_returns_its_own_noise():
    rows, y = RNG.normal(size=(40, 1)), RNG.normal(size=40)
    model = make_pipeline(StandardScaler(), BayesianRidge()).fit(rows, y)
    net = pgm.BayesianNetwork()
    net.add("u", pgm.Gaussian(0.0, sd=1.0))
    net.add("y", pgm.EstimatorCPD(model, parents=["u"]))
    mean, sd = model.predict([[0.7]], return_std=True)
    found = net.query("y", {"u": 0.7})
    close([found.mean, found.sd], [mean[0], sd[0]], rtol=1e-12)


def test_columns_of_states_may_be_in_another_order_than_the_states():
    pandas = pytest.importorskip("pandas")
    u, sort = RNG.normal(size=80), np.array(["wet", "dry", "mixed"])[RNG.integers(0, 3, 80)]
    y = u + (sort == "wet") - (sort == "mixed") + RNG.normal(size=80) > 0
    net = pgm.BayesianNetwork()
    net.add("u", pgm.Gaussian(0.0, sd=1.0))
    net.add("sort", {"wet": 0.2, "dry": 0.5, "mixed": 0.3})  # get_dummies sorts: dry, mixed, wet
    dummies = pandas.get_dummies(pandas.DataFrame({"u": u, "sort": sort}))
    model = LogisticRegression().fit(dummies, y)
    net.add("named", pgm.EstimatorCPD(model, parents=["u", "sort"]))
    given = {"sort": sort, "u": u}
    close(net.predict_proba(given, "named"), model.predict_proba(dummies), atol=1e-12)
    with pytest.raises(pgm.InvalidTable, match=r"in the order of its columns: \['u', 'sort'\]"):
        net.add("turned", pgm.EstimatorCPD(model, parents=["sort", "u"]))
    for rows, way in (
        (dummies.to_numpy(float), "one-hot"),
        (np.column_stack([u, np.searchsorted(["dry", "mixed", "wet"], sort)]), "codes"),
    ):
        bare = LogisticRegression().fit(rows, y)
        with pytest.raises(pgm.InvalidTable, match=rf"(?s)'bare'.*LogisticRegression.*{{'sort': '{way}'}}"):
            net.add("bare", pgm.EstimatorCPD(bare, parents=["u", "sort"]))
    order = ["wet", "dry", "mixed"]
    eye = np.column_stack([u, *(sort == s for s in order)]).astype(float)
    bare = LogisticRegression().fit(eye, y)
    net.add("bare", pgm.EstimatorCPD(bare, parents=["u", "sort"], coding={"sort": "one-hot"}))
    close(net.predict_proba(given, "bare"), bare.predict_proba(eye), atol=1e-12)


def test_text_as_columns_beside_numbers_as_they_are():
    net = numbers()
    net.add("count", [0.2, 0.3, 0.5], states=[0, 1, 2])
    rows = np.column_stack([RNG.normal(size=60), np.tile(np.eye(2), (30, 1)), RNG.integers(0, 3, 60)])
    model = LogisticRegression().fit(rows, rows.sum(axis=1) + RNG.normal(size=60) > 2.0)
    net.add("c", pgm.EstimatorCPD(model, parents=["u", "sort", "count"]))
    found = net.query("c", {"u": 0.3, "sort": "wet", "count": 2}).values
    close(found, model.predict_proba([[0.3, 0.0, 1.0, 2.0]])[0], atol=1e-12)


def test_pickles_are_equal_even_after_one_of_them_was_asked():
    from sklearn.neighbors import KernelDensity

    net = numbers()
    rows = RNG.normal(size=(30, 1))
    net.add(
        "c", pgm.EstimatorCPD(KNeighborsClassifier(3, algorithm="kd_tree").fit(rows, rows[:, 0] > 0), ["u"])
    )
    tree = CalibratedClassifierCV(DecisionTreeClassifier(), cv=2).fit(rows, rows[:, 0] > 0)
    net.add("d", pgm.EstimatorCPD(tree, parents=["u"]))
    net.add("x", pgm.DensityCPD(KernelDensity(bandwidth=0.5).fit(rows)))
    other = pickle.loads(pickle.dumps(net))
    net.query(["c", "d"], {"u": 0.2, "x": 0.1})
    assert net == other
    u, sort, above = rows[:, 0], ["dry"] * 29 + ["wet"], rows[:, 0] > 0.3
    other.fit({"u": u, "v": u, "sort": sort, "c": above, "d": above, "x": u}, fixed=["d", "x"])
    assert net.cpd("c") != other.cpd("c")
    assert net.cpd("d") == other.cpd("d")


class Saying(ClassifierMixin, BaseEstimator):
    """A classifier whose answer is text."""

    def fit(self, x, y):
        self.classes_, self.n_features_in_ = np.unique(y), 1
        return self

    def predict_proba(self, x):
        return "none"


def test_more_bad_input_names_node_and_estimator():
    u, y = RNG.normal(size=(30, 1)), RNG.normal(size=30)
    net = numbers()
    net.add("c", pgm.EstimatorCPD(Saying().fit(u, [True, False]), parents=["u"]))
    with pytest.raises(pgm.InvalidTable, match="'c': its Saying returns 'none'"):
        net.query("c", {"u": 0.0})
    line = LinearRegression().fit(u, 3.0 * u[:, 0] + 1.0)
    with pytest.raises(
        pgm.InvalidArgument, match="'d': its LinearRegression predicts every row without error"
    ):
        net.add("d", pgm.EstimatorCPD(line, ["u"], rows={"u": u[:, 0], "d": 3.0 * u[:, 0] + 1.0}))
    machine = LinearSVC().fit(u, y > 0)
    with pytest.raises(pgm.InvalidFrame, match=r"'d': its LinearSVC .* only True\. Give rows of each"):
        net.add("d", pgm.EstimatorCPD(machine, ["u"], rows={"u": u[:, 0], "d": np.ones(30, bool)}))
    with pytest.raises(pgm.InvalidArgument, match="of which there are none, not 'v'"):
        net.add("d", pgm.EstimatorCPD(line, ["u"], sd=1.0, coding={"v": "codes"}))
    with pytest.raises(
        pgm.InvalidTable, match=r"'d': its LinearSVC has the classes .* do not include False, True"
    ):
        net.add("d", pgm.EstimatorCPD(machine, ["u"], rows={"u": u[:, 0], "d": y > 0}), states=["no", "yes"])


class Forgetful(LogisticRegression):
    """A classifier that learns nothing from weighted rows."""

    def fit(self, x, y, sample_weight=None):
        super().fit(x, y)
        if sample_weight is not None:
            self.coef_, self.intercept_ = np.zeros((1, 1)), np.array([3.0])
        return self


def test_em_keeps_an_estimator_where_a_new_one_would_lower_the_likelihood():
    a = np.tile([False, True], 20)
    c = np.where(np.arange(40) % 5 == 0, ~a, a)
    start = Forgetful().fit(a[:, None].astype(float), c)
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("c", pgm.EstimatorCPD(start, parents=["a"]))
    gaps = [None if i < 6 else bool(one) for i, one in enumerate(a)]
    before = net.score({"a": gaps, "c": c})
    net.fit({"a": gaps, "c": c}, max_iter=3)
    same(net.cpd("c").estimator.coef_, start.coef_)
    assert net.score({"a": gaps, "c": c}) >= before


class Single(LogisticRegression):
    """A classifier that rounds, as those in single precision do."""

    def predict_proba(self, x):
        return super().predict_proba(x) * (1.0 + 4e-7)


def test_probabilities_that_are_off_by_rounding_sum_to_one():
    u = RNG.normal(size=(30, 1))
    net = numbers()
    net.add("c", pgm.EstimatorCPD(Single().fit(u, u[:, 0] > 0.1), parents=["u"]))
    net.add("d", 0.5)
    both = [net.probability({"c": state}, given={"u": 0.2}) for state in (False, True)]
    close(sum(both), 1.0, atol=1e-12)
    close(net.cpd("c").probability({"u": 0.2, "c": True}), both[1], atol=1e-12)


def test_an_unknown_coding_is_refused_where_no_parent_has_states_too():
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, sd=1.0))
    model = LogisticRegression().fit([[-1.0], [1.0]], [False, True])
    with pytest.raises(pgm.InvalidArgument, match="Did you mean 'one-hot'"):
        net.add("c", pgm.EstimatorCPD(model, parents=["x"], coding="onehot"))
