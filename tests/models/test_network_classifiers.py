"""TAN, k-dependence, AODE, any network: beside definitions, sums over all completions, their networks."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score

import pgm

RNG = np.random.default_rng(5)
Y = RNG.integers(0, 2, 90)
A = (Y + RNG.integers(0, 2, 90)) % 3
B = (A + RNG.integers(0, 2, 90)) % 3
C = (B + Y + (RNG.random(90) < 0.2)) % 2
D = RNG.integers(0, 4, 90)
FRAME = {"a": A, "b": B, "c": C, "d": D}
ROWS = np.column_stack(list(FRAME.values()))


def conditional(x, z):
    return sum((Y == c).mean() * mutual_info_score(x[Y == c], z[Y == c]) for c in (0, 1))


def by_definition(parents, row, alpha=1.0):
    """P(class | row) with Laplace's rule, gaps summed out: every completion one by one."""
    names = list(FRAME)
    cards = {name: int(FRAME[name].max()) + 1 for name in names}
    total = []
    every = itertools.product(
        *(range(cards[n]) if v is None else [v] for n, v in zip(names, row, strict=True))
    )
    cells = [dict(zip(names, each, strict=True)) for each in every]
    for c in (0, 1):
        p = 0.0
        for cell in cells:
            q = (Y == c).mean()
            for name in names:
                mine = Y == c
                for parent in parents[name]:
                    mine = mine & (FRAME[parent] == cell[parent])
                hits = (mine & (FRAME[name] == cell[name])).sum()
                q *= (hits + alpha) / (mine.sum() + alpha * cards[name])
            p += q
        total.append(p)
    return np.array(total)


ASKED = [(0, 1, 1, 2), (2, 2, 0, 3), (1, None, 1, 0), (None, 0, None, 1), (None, None, None, None)]


def asked(rows=ASKED):
    return pd.DataFrame(rows, columns=list(FRAME), dtype=object)


def test_the_tree_is_the_heaviest_of_all():
    told = pgm.TANClassifier().fit(FRAME, Y)
    weights = {frozenset(p): conditional(FRAME[p[0]], FRAME[p[1]]) for p in itertools.combinations(FRAME, 2)}

    def spans(edges):
        group = {name: name for name in FRAME}
        for u, v in map(sorted, edges):
            if group[u] == group[v]:
                return False
            group = {name: group[u] if g == group[v] else g for name, g in group.items()}
        return True

    best = max(
        (e for e in itertools.combinations(weights, 3) if spans(e)), key=lambda e: sum(weights[x] for x in e)
    )
    found = {frozenset(edge) for edge in told.network.edges if "class" not in edge}
    assert found == set(best)
    assert all(("class", name) in told.network.edges for name in FRAME)


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_k_dependence_as_defined(k):
    told = pgm.KDependenceClassifier(k).fit(FRAME, Y)
    worth = mutual_info_classif(ROWS, Y, discrete_features=True)
    order = [list(FRAME)[i] for i in np.argsort(-worth, kind="stable")]
    for at, name in enumerate(order):
        before = sorted(order[:at], key=lambda u: -conditional(FRAME[name], FRAME[u]))[:k]
        assert set(told.network.parents(name)) == {"class", *before}


@pytest.mark.parametrize("alpha", [1.0, 0.5])
@pytest.mark.parametrize("model", [pgm.TANClassifier, pgm.KDependenceClassifier])
def test_shares_as_defined(model, alpha):
    told = model(prior=alpha).fit(FRAME, Y)
    parents = {name: [p for p in told.network.parents(name) if p != "class"] for name in FRAME}
    want = np.array([by_definition(parents, row, alpha) for row in ASKED])
    want /= want.sum(axis=1, keepdims=True)
    assert told.predict_proba(asked()) == pytest.approx(want, abs=1e-12)
    assert told.predict_proba(asked(ASKED[:2])) == pytest.approx(want[:2], abs=1e-12)
    assert told.to_network().predict_proba(asked(), "class").to_numpy() == pytest.approx(want, abs=1e-12)


def test_averaged_one_dependence_as_defined():
    told = pgm.AODEClassifier().fit(FRAME, Y)
    want = np.zeros((len(ASKED), 2))
    for first in FRAME:
        parents = {name: [] if name == first else [first] for name in FRAME}
        want += [by_definition(parents, row) for row in ASKED]
    assert np.exp(told._log_joint(told._seen(asked()))) == pytest.approx(want / 4, abs=1e-12)
    want /= want.sum(axis=1, keepdims=True)
    assert told.predict_proba(asked()) == pytest.approx(want, abs=1e-12)
    nets = told.networks
    assert nets["b"].parents("a") == ("class", "b")
    mean = sum(np.exp(net.log_likelihood({**FRAME, "class": Y})) for net in nets.values()) / 4
    joint = np.exp(told._log_joint(told._seen(FRAME)))
    assert joint[np.arange(90), Y] == pytest.approx(mean, abs=1e-12)
    with pytest.raises(pgm.InvalidStructure, match=r"mean of 4 networks.*\.networks"):
        told.to_network()


def test_numbers_are_cut_where_classes_change():
    x = np.concatenate([RNG.normal(0, 1, 60), RNG.normal(4, 1, 60)])
    y = np.repeat(["low", "high"], 60)
    told = pgm.TANClassifier().fit({"x": x, "n": RNG.integers(0, 2, 120)}, y)
    bins = told.network.variables["x"].bins
    assert bins == pgm.discretize({"x": x, "y": y}, "mdlp", target="y")["x"]
    assert told.predict({"x": [-9.0, 9.0, np.nan], "n": [0, 1, 1]}).tolist()[:2] == ["low", "high"]
    four = pgm.AODEClassifier(bins=4).fit({"x": x}, y)
    assert (
        four._variables["x"].bins == pgm.discretize({"x": x}, "quantile", 4)["x"]
        or four._variables["x"].card == 4
    )


# --- any network ---


def test_a_network_as_it_is():
    net = pgm.load_network("asia")
    told = pgm.NetworkClassifier.of(net, "lung")
    frame = pd.DataFrame(net.sample(60, seed=0)).drop(columns="lung").astype(object)
    frame = frame.where(RNG.random(frame.shape) < 0.7, None)
    want = net.predict_proba(frame, "lung")
    assert told.classes_.tolist() == ["no", "yes"]  # in order, whatever the network's
    assert told.predict_proba(frame) == pytest.approx(want[["no", "yes"]].to_numpy(), abs=1e-12)
    assert told.log_odds(frame, "yes", "no") == pytest.approx(
        np.log(want["yes"] / want["no"]).to_numpy(), abs=1e-9
    )
    found = told.decide(frame, {("yes", "no"): 50.0, ("no", "yes"): 1.0})
    assert found.decisions.tolist() == np.where(want["yes"] * 50 > want["no"], "yes", "no").tolist()
    assert told.to_network() == net


def test_the_numbers_of_a_network_are_learned():
    shape = pgm.BayesianNetwork(edges="a -> class -> b; class -> c -> d")
    told = pgm.NetworkClassifier(shape, "class", prior="bdeu").fit(FRAME, Y)
    net = shape.copy().fit({**FRAME, "class": Y}, prior="bdeu")
    assert told.network == net
    assert told.predict_proba(FRAME) == pytest.approx(net.predict_proba(FRAME, "class"), abs=1e-12)
    assert shape.nodes == pgm.BayesianNetwork(edges="a -> class -> b; class -> c -> d").nodes
    plain = pgm.NetworkClassifier(shape, "class").fit({**FRAME, "class": Y})
    laplace = shape.copy().fit({**FRAME, "class": Y}, prior="laplace")
    assert plain.network == laplace
    places = pgm.NetworkClassifier(shape, "class").fit(
        ROWS[:, [0, 1, 2, 3]], Y
    )  # a, b, c, d: as the nodes stand
    assert places.predict_proba(ROWS) == pytest.approx(plain.predict_proba(FRAME), abs=1e-12)
    naive = pgm.BayesianNetwork(edges="class -> a; class -> b; class -> c; class -> d")
    same = pgm.NetworkClassifier(naive, "class").fit(FRAME, Y).predict_proba(FRAME)
    shares = (Y == 1).mean(), ((Y == 1).sum() + 1) / 92  # Laplace's rule is for the class as well
    other = pgm.NaiveBayes(class_prior=[1 - shares[1], shares[1]]).fit(FRAME, Y).predict_proba(FRAME)
    assert same == pytest.approx(other, abs=1e-12)


def test_numbers_and_hidden_variables():
    x = Y * 2.0 + RNG.normal(0, 1, 90)
    net = pgm.BayesianNetwork(edges="class -> x; class -> a")
    told = pgm.NetworkClassifier(net, "class").fit({"x": x, "a": A}, Y)
    assert told.predict_proba({"x": x, "a": A}) == pytest.approx(
        told.network.predict_proba({"x": x, "a": A}, "class"), abs=1e-12
    )
    hidden = pgm.BayesianNetwork(edges="class -> h -> a; h -> b")
    told = pgm.NetworkClassifier(hidden, "class", latent={"h": 2}, seed=0).fit({"a": A, "b": B}, Y)
    assert told.network.variables["h"].card == 2
    assert told.predict_proba({"a": A}).shape == (90, 2)


def test_a_network_is_searched_for():
    net = pgm.load_network("asia")
    frame = pd.DataFrame(net.sample(3000, seed=1))
    told = pgm.NetworkClassifier(target="dysp", structure_score="bdeu").fit(frame)
    assert "bronc" in set(told.network.markov_blanket("dysp"))
    want = net.predict(frame, "dysp")
    assert (told.predict(frame) == want.to_numpy()).mean() > 0.97
    with pytest.warns(UserWarning, match="rows without gaps"):
        pgm.NetworkClassifier().fit(
            frame.drop(columns="dysp").mask(RNG.random((3000, 7)) < 0.02), frame["dysp"]
        )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pgm.KDependenceClassifier(-1).fit(FRAME, Y), "k= is a whole number of at least 0"),
        (lambda: pgm.TANClassifier(bins="mdl").fit(FRAME | {"x": RNG.random(90)}, Y), "bins= is 'quantile'"),
        (lambda: pgm.TANClassifier(prior=-1).fit(FRAME, Y), "0 or more"),
        (lambda: pgm.TANClassifier().fit(FRAME, Y).predict({"a": [7]}), "'a' has no state 7"),
        (lambda: pgm.NetworkClassifier(3, "class").fit(FRAME, Y), "net= is a pgm.BayesianNetwork"),
        (lambda: pgm.NetworkClassifier(pgm.load_network("asia")).fit(FRAME, Y), "target= names the class"),
        (lambda: pgm.NetworkClassifier(pgm.load_network("asia"), "lungs").fit(FRAME, Y), "lung"),
        (lambda: pgm.NetworkClassifier.of(pgm.BayesianNetwork(edges="a -> b"), "a"), "a"),
        (lambda: pgm.NetworkClassifier(latent={"h": 2}).fit(FRAME, Y), "latent= has no effect without net="),
        (
            lambda: pgm.NetworkClassifier(pgm.BayesianNetwork(edges="class -> a"), "class").fit(ROWS, Y),
            "1 variables",
        ),
        (lambda: pgm.NetworkClassifier().predict(ROWS), "learned nothing yet"),
        (lambda: pgm.AODEClassifier().networks, "learned nothing yet"),
    ],
)
def test_bad_input_is_answered_in_words(call, words):
    with pytest.raises(pgm.PGMError, match=words):
        call()


def test_they_print_and_draw():
    for told in (
        pgm.TANClassifier(),
        pgm.AODEClassifier(),
        pgm.NetworkClassifier(),
        pgm.KDependenceClassifier(),
    ):
        assert "not fitted yet" in repr(told)
        told.fit(FRAME, Y)
        assert "a" in repr(told)
        assert "<table" in told._repr_html_()
        assert told.plot(columns=["a", "b"]).get_xlabel() == "a"
        assert told.plot(columns="c").get_xlabel() == "c"


def test_a_file_holds_its_network(tmp_path):
    told = pgm.TANClassifier().fit(FRAME, Y)
    pgm.write(told.to_network(), tmp_path / "told.json")
    again = pgm.NetworkClassifier.of(pgm.read(tmp_path / "told.json"), "class")
    assert again.predict_proba(FRAME) == pytest.approx(told.predict_proba(FRAME), abs=1e-12)
