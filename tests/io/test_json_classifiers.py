"""Classifiers in JSON: every answer to the last bit, options too, by the schema; what is none is refused."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from sklearn.base import clone

import pgm
from tests.models.test_classes_known_in_part import ALL, NUMBERS, STATES, drawn

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "docs/schema/pgm-2.json").read_text(encoding="utf-8"))
)


def text_of(told: Any) -> str:
    file = io.StringIO()
    pgm.write(told, file, format="json")
    return file.getvalue()


def again(told: Any) -> Any:
    text = text_of(told)
    SCHEMA.validate(json.loads(text))
    made = pgm.read(io.StringIO(text), format="json")
    assert text_of(made) == text
    return made


FRAME, Y, PART = drawn()
X = np.column_stack([FRAME["x"], FRAME["z"]])
STRUCTURE = pgm.BayesianNetwork(edges="class -> a -> b; class -> c")
FITTED: dict[str, Any] = {
    "naive Bayes": lambda: pgm.NaiveBayes().fit(FRAME, Y),
    "naive Bayes of arrays": lambda: pgm.NaiveBayes("gaussian", var_smoothing=1e-3).fit(X, Y),
    "with priors": lambda: pgm.NaiveBayes(
        prior={"x": pgm.priors.NormalGamma(0, 1, 2, 2), "z": pgm.priors.Normal(0, 2), ...: "bdeu"},
        states={"a": [1, 0, 2]},
        class_prior={"no": 0.25, "yes": 0.75},
        unknown="missing",
    ).fit(FRAME, Y),
    "multinomial": lambda: pgm.NaiveBayes("multinomial").fit(np.abs(X).round(), Y),
    "bins": lambda: pgm.NaiveBayes(states={"x": pgm.Bins([-9, 0, 1, 19])}).fit(FRAME, Y == "yes"),
    "in part": lambda: pgm.NaiveBayes().fit(FRAME, PART),
    "TAN": lambda: pgm.TANClassifier().fit(FRAME, Y),
    "lines": lambda: pgm.TANClassifier(bins=None, prior=2.0).fit(FRAME, Y),
    "k-dependence": lambda: pgm.KDependenceClassifier(k=1, prior=pgm.priors.BDeu(3)).fit(FRAME, Y),
    "AODE": lambda: pgm.AODEClassifier(bins=None).fit(FRAME, Y),
    "searched for": lambda: pgm.NetworkClassifier(
        search=pgm.searches.Tabu(tenure=5), structure_score=pgm.scores.BDeu(4), seed=0
    ).fit({n: FRAME[n] for n in STATES}, Y),
    "a network": lambda: pgm.NetworkClassifier(STRUCTURE, "class").fit({n: FRAME[n] for n in STATES}, Y),
    "as it is": lambda: pgm.NetworkClassifier.of(pgm.load_network("asia"), "lung"),
    "linear": lambda: pgm.DiscriminantAnalysis("diagonal").fit(X, Y),
    "quadratic": lambda: pgm.DiscriminantAnalysis(shared=False).fit({n: FRAME[n] for n in NUMBERS}, Y),
    "Student": lambda: pgm.DiscriminantAnalysis(
        shared=False, prior=pgm.priors.NormalWishart([0.0, 0.0], rows=2, df=4)
    ).fit(X, Y),
    "mixtures": lambda: pgm.MixtureClassifier(2, seed=0).fit(X, Y),
}


@pytest.mark.parametrize("name", FITTED)
def test_every_answer_is_the_same_to_the_last_bit(name: str) -> None:
    told = FITTED[name]()
    made = again(told)
    assert type(made) is type(told)
    if name == "as it is":
        asked: Any = {"smoke": ["yes", None], "xray": ["no", "yes"]}
    else:
        names = list(told._variables)
        asked = {n: v for n, v in FRAME.items() if n in names} if told._named else np.abs(X).round()
    np.testing.assert_array_equal(made.predict_proba(asked), told.predict_proba(asked))
    assert made.predict(asked).tolist() == told.predict(asked).tolist()
    assert made.classes_.dtype == told.classes_.dtype
    assert made.n_features_in_ == told.n_features_in_
    assert repr(made) == repr(told)
    if name not in ("multinomial", "with priors", "Student", "AODE"):
        assert made.to_network() == told.to_network()
    if name != "as it is":  # its options go with it: learning again gives the same
        whole = {n: FRAME[n] for n in told._variables} if told._named else np.abs(X).round()
        y = (Y == "yes") if name == "bins" else Y
        one, two = clone(told).fit(whole, y), clone(made).fit(whole, y)
        np.testing.assert_allclose(one.predict_proba(whole), two.predict_proba(whole), rtol=1e-12, atol=0)


def test_naive_bayes_goes_on_learning_where_it_was() -> None:
    told = pgm.NaiveBayes().fit(FRAME, Y)
    made = again(told)
    more = {name: column[:40] for name, column in FRAME.items()}
    for one in (told, made):
        one.partial_fit(more, Y[:40], forget=0.1)
    np.testing.assert_array_equal(made.predict_proba(FRAME), told.predict_proba(FRAME))


def test_sequences_too() -> None:
    model = pgm.HMM(n_states=2, emission=pgm.Categorical(symbols=["r", "g"]))
    told = pgm.HMMClassifier(model, seed=0, max_iter=5).fit(
        [list("rrgr"), list("rrrr"), list("ggrg"), list("gggg")], ["a", "a", "b", "b"]
    )
    made = again(told)
    asked = [list("rgr"), list("ggg")]
    np.testing.assert_array_equal(made.predict_proba(asked), told.predict_proba(asked))
    assert made.get_params()["max_iter"] == 5


def test_what_has_no_file_says_so() -> None:
    with pytest.raises(pgm.IncompleteModel, match="fit it before it is written"):
        text_of(pgm.NaiveBayes())
    told = pgm.MixtureClassifier(2, seed=np.random.default_rng(0)).fit(X, Y)
    with pytest.raises(pgm.InvalidArgument, match=r"seed= of the MixtureClassifier is a numpy Generator"):
        text_of(told)
    half = pgm.BayesianNetwork(edges="class -> a")
    half.set("class", {"no": 0.5, "yes": 0.5})
    told = pgm.NetworkClassifier(half, "class").fit({"a": FRAME["a"]}, Y)
    with pytest.raises(pgm.InvalidArgument, match=r"NetworkClassifier is a network some of whose"):
        text_of(told)

    class Mine(pgm.NaiveBayes):
        pass

    with pytest.raises(pgm.InvalidArgument, match="A Mine has no JSON form"):
        text_of(Mine().fit(FRAME, Y))


WRONG: list[tuple[Any, Any, str]] = [
    (("kind",), "os.system", "not a kind of classifier; there are"),
    (("kind",), "NaiveByes", "Did you mean 'NaiveBayes'"),
    (("options", "alpha"), 1, "'alpha' is not a key of the options"),
    (("options", "prior"), {"call": "x"}, "an object that is an option has one key of"),
    (("options", "prior"), {"prior": {"bdeu": {"rows": -1}}}, "greater than 0"),
    (("class", "states"), ["no"], "two states or more"),
    (("class_prior",), [0.5, 0.6], "sum to one"),
    (("class_prior",), [1.0], "2 numbers expected"),
    (("columns", 1, "name"), "a", "a second column 'a'"),
    (("columns", 0, "states"), [0, 1, 2], "."),
    (("learned", "nodes"), [], "there is no node"),
    (("learned", "nodes", 0, "parents"), [], "."),
    (("learned", "nodes", 0, "name"), "q", "is not a column"),
    (("learned", "weight"), [1, 2, 3], "2 numbers expected"),
    (("learned", "statistics", "x", "weight"), [1, "a"], "a number of weight"),
    (("learned", "shares"), [[1.0]], "lists expected"),
    (("ranges", "x"), [1], "2 numbers expected"),
    (("features",), 0, "how many columns"),
    (("learned", "statistics"), {}, "has no"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_no_classifier_is_refused_with_its_line(number: int) -> None:
    path, value, words = WRONG[number]
    body = json.loads(text_of(pgm.NaiveBayes().fit({n: FRAME[n] for n in ALL}, Y)))
    at = body["classifier"]
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    with pytest.raises(pgm.FileFormatError, match=words):
        pgm.read(io.StringIO(json.dumps(body, indent=1)), format="json")
