"""Hidden Markov models as users meet them: what goes in, what comes out, and what is said when it cannot."""

from __future__ import annotations

import io
import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pgm
from pgm.distributions import Categorical, Gaussian

A = [[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]
B = [[0.5, 0.2, 0.2, 0.1], [0.1, 0.1, 0.6, 0.2], [0.1, 0.5, 0.2, 0.2]]
SEQ = list("rrgby")


def letters(**changes: Any) -> pgm.HMM:
    given = {"initial": [0.5, 0.2, 0.3], "transition": A, "emission": Categorical(B, ["r", "g", "b", "y"])}
    return pgm.HMM(**{**given, "states": ["u", "v", "w"], **changes})


def numbers(dim: int = 2, form: str = "full") -> pgm.HMM:
    random = np.random.default_rng(0)
    mean = random.normal(size=(3, dim)) * 3
    root = random.normal(size=(3, dim, dim))
    return pgm.HMM(
        [0.5, 0.2, 0.3], A, Gaussian(mean, covariance=root @ root.transpose(0, 2, 1) + np.eye(dim), form=form)
    )


# --- what goes in ---


def test_numbers_may_be_given_by_state() -> None:
    hmm = letters(
        initial={"u": 0.5, "v": 0.2, "w": 0.3},
        transition={"v": A[1], "u": {"u": 0.4, "v": 0.3, "w": 0.3}, "w": A[2]},
    )
    assert hmm == letters()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"transition": [[0.5, 0.3, 0.3], *A[1:]]}, "transition= row 'u' sums to 1.1, not to one."),
        ({"transition": [[0.5, 0.8, -0.3], *A[1:]]}, "transition= row 'u' has -0.3, which is not a prob"),
        ({"transition": [[np.nan, 0.8, 0.3], *A[1:]]}, "transition= row 'u' has nan, which is not a prob"),
        ({"transition": A[:2]}, "states= has 3 states, but transition= has 2."),
        ({"transition": {"u": A[0], "v": A[1]}}, "states= has 3 states, but transition= has 2."),
        ({"transition": {"u": A[0], "v": A[1], "x": A[2]}}, "'state' has no state 'x'"),
        ({"initial": [0.5, 0.5]}, "states= has 3 states, but initial= has 2."),
        ({"initial": [0.5, 0.5, 0.5]}, "initial= sums to 1.5"),
        ({"emission": Categorical([0.5, 0.5])}, "emission= is one distribution, but there are 3 states"),
        ({"emission": None}, "emission= is a distribution such as pgm.Categorical(...)"),
        ({"emission": Categorical(B[:2])}, "states= has 3 states, but emission= has 2."),
        ({"states": {"u", "v", "w"}}, "states= is a list, because states have an order"),
        ({"n_states": 4}, "states= has 3 states, but n_states= has 4."),
        ({"n_states": 0}, "n_states= is a whole number of at least 1, not 0."),
        ({"topology": pgm.LeftToRight()}, "rules out 'u' -> 'w', which transition= makes possible."),
        ({"topology": [[1, 0], [0, 1]]}, "is pgm.LeftToRight(...), pgm.Banded(...), or 3 rows of 3"),
        ({"topology": np.zeros((3, 3))}, "topology= lets state 0 be followed by no state."),
        ({"name": 3}, "The name of a model is text, not 3."),
    ],
)  # fmt: skip
def test_what_is_no_model(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(pgm.PGMError) as error:
        letters(**changes)
    assert said in str(error.value)


def test_the_number_of_states_has_to_be_known() -> None:
    with pytest.raises(pgm.InvalidArgument, match="How many states are there"):
        pgm.HMM(emission=Gaussian())


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda h: h.score("rrg"), pgm.InvalidArgument, "write list(...)"),
        (lambda h: h.score([]), pgm.InvalidArgument, "The sequence is empty"),
        (lambda h: h.score([SEQ, []]), pgm.InvalidArgument, "Sequence 1 is empty"),
        (lambda h: h.score(SEQ, lengths=[2, 2]), pgm.InvalidArgument, "lengths= add up to 4 steps"),
        (lambda h: h.score([SEQ, list("rx")]), pgm.InvalidArgument, "Sequence 1, step 1 (both count from 0)"),
        (lambda h: h.score(SEQ, by="row"), pgm.InvalidArgument, 'by= is "sequence", "step" or left out'),
        (lambda h: h.smooth(SEQ, lag=-1), pgm.InvalidArgument, "lag= is a whole number of steps"),
        (lambda h: h.smooth(SEQ, lag=1, pairs=True), pgm.InvalidArgument, "leave out lag="),
        (lambda h: h.smooth(SEQ).pairs, pgm.InvalidArgument, "hmm.smooth(sequence, pairs=True)"),
        (lambda h: h.decode(SEQ, k=0), pgm.InvalidArgument, "k= is a whole number of at least 1"),
        (lambda h: h.decode(SEQ, k=2, pointwise=True), pgm.InvalidArgument, "combined with pointwise="),
        (lambda h: h.forecast(SEQ, steps=0), pgm.InvalidArgument, "steps= is a whole number of at least 1"),
        (lambda h: h.forecast(SEQ).interval(), pgm.InvalidArgument, "Intervals are of continuous"),
        (lambda h: h.sample(0), pgm.InvalidArgument, "A sequence has at least one step."),
        (lambda h: h.sample(3, given=[SEQ, SEQ]), pgm.InvalidArgument, "given= is one sequence."),
        (lambda h: h.sample(3, given=SEQ, sequences=2), pgm.InvalidArgument, "leave out sequences="),
        (lambda h: h.sample(3, seed="a"), pgm.InvalidArgument, "seed is"),
        (lambda h: h.to_network(0), pgm.InvalidArgument, "steps= is a whole number"),
        (lambda h: h.fit(SEQ, method="gd"), pgm.InvalidArgument, "method= is 'em', 'squarem', 'viterbi'"),
        (lambda h: h.fit(SEQ, max_iter=0), pgm.InvalidArgument, "max_iter= is a whole number of at least 1"),
        (lambda h: h.fit(SEQ, tol=-1), pgm.InvalidArgument, "tol= is a number that is not negative"),
        (lambda h: h.fit(SEQ, starts=0), pgm.InvalidArgument, "starts= is a whole number from 1 to 100,000"),
        (lambda h: h.fit(SEQ, fixed=["initail"]), pgm.InvalidArgument, "Did you mean 'initial'?"),
        (lambda h: h.fit(SEQ, fixed={"transition": ["x"]}), pgm.UnknownState, "has no state 'x'"),
        (lambda h: h.fit(SEQ, prior={"trans": 1}), pgm.InvalidArgument, "prior= names 'trans'"),
        (lambda h: h.fit(SEQ, prior=-1.0), pgm.InvalidArgument, "that is not negative"),
        (lambda h: h.fit([SEQ, SEQ], weights=[1.0]), pgm.InvalidArgument, "weights= has a non-negative"),
        (lambda h: h.smoth(SEQ), AttributeError, "smoth"),
        (lambda h: h.score(X=SEQ), pgm.InvalidCall, "X"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(ask: Any, error: type[Exception], said: str) -> None:
    hmm = letters()
    with pytest.raises(error) as raised:
        ask(hmm)
    assert said in str(raised.value)
    assert hmm == letters()


def test_the_step_that_is_impossible_is_named() -> None:
    hmm = pgm.HMM([1, 0], [[0, 1], [1, 0]], Categorical([[1, 0], [0, 1]], ["a", "b"]))
    for ask in (hmm.score, hmm.filter, hmm.smooth, hmm.decode, hmm.forecast, hmm.fit):
        with pytest.raises(
            pgm.ImpossibleEvidence, match=r"Step 2 \(the first is 0\): what is observed here is"
        ):
            ask(["a", "b", "b", "a"])
        with pytest.raises(pgm.ImpossibleEvidence, match=r"Sequence 1, step 0 \(both count from 0\)"):
            ask([["a"], ["b"]])
    frame = {"id": ["x", "y"], "letter": ["a", "b"]}
    with pytest.raises(pgm.ImpossibleEvidence, match=r"Sequence 'y', step 0"):
        hmm.score(frame, sequence="id")


def test_a_model_without_numbers_says_so() -> None:
    hmm = pgm.HMM(n_states=2, emission=Gaussian())
    for ask in (hmm.score, hmm.decode):
        with pytest.raises(pgm.IncompleteModel, match="give it one, or fit it to data"):
            ask([1.0])
    assert "?" in repr(hmm)


@pytest.mark.parametrize(
    ("many", "options"),
    [
        ([SEQ, list("gy")], {}),
        (np.array([*SEQ, "g", "y"]), {"lengths": [5, 2]}),
        (pd.DataFrame({"id": [1] * 5 + [2] * 2, "x": [*SEQ, "g", "y"]}), {"sequence": "id"}),
    ],
)
def test_many_sequences(many: Any, options: dict[str, Any]) -> None:
    hmm = letters()
    one, two = hmm.smooth(SEQ), hmm.smooth(list("gy"))
    found = hmm.smooth(many, **options)
    assert len(found) == 2
    assert np.array_equal(found.values, np.concatenate([one.values, two.values]))
    assert found.log_likelihood == pytest.approx(one.log_likelihood + two.log_likelihood)
    assert hmm.score(many, **options) == pytest.approx(float(hmm.score(SEQ)) + float(hmm.score(list("gy"))))
    assert hmm.score(many, by="sequence", **options) == pytest.approx(
        [one.log_likelihood, two.log_likelihood]
    )
    assert [len(part) for part in hmm.score(many, by="step", **options)] == [5, 2]
    assert hmm.decode(many, **options).path[0] == hmm.decode(SEQ).path
    assert len(list(hmm.smooth(many, pairs=True, **options))[1].pairs) == 1
    assert list(hmm.smooth(many, pairs=True, **options))[1].pairs == pytest.approx(
        hmm.smooth(list("gy"), pairs=True).pairs
    )
    assert [len(paths) for paths in hmm.decode(many, k=2, **options)] == [2, 2]
    assert list(found.to_pandas().index.names) == ["sequence", "step"]
    assert "sequence" in repr(hmm.filter(many, **options))


def test_sequences_of_a_frame_have_their_names() -> None:
    found = letters().filter({"who": ["ann", "bob", "ann"], "x": ["r", "g", "b"]}, sequence="who")
    assert found.ids == ("ann", "bob")
    assert len(found["ann"]) == 2
    with pytest.raises(pgm.InvalidArgument, match="There is no sequence 'eve'"):
        found["eve"]


# --- what comes out ---


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("model", ["letters", "number", "numbers"])
def test_the_network_of_its_steps_gives_the_same_numbers(model: str, gaps: bool) -> None:
    hmm = {"letters": letters, "number": lambda: numbers(1), "numbers": numbers}[model]()
    seq = hmm.sample(5, seed=3).observations
    seen: dict[str, Any] = {}
    if model == "letters":
        data = seq.tolist()
        if gaps:
            data[2] = None
        seen = {f"observation[{t}]": x for t, x in enumerate(data) if x is not None}
    else:
        data = seq.copy()
        if gaps:
            data[2, 0] = np.nan
            data[3] = np.nan
        d = data.shape[1]
        name = (lambda t, j: f"observation[{t}]") if d == 1 else (lambda t, j: f"observation[{t},{j}]")
        seen = {name(t, j): data[t, j] for t in range(5) for j in range(d) if not np.isnan(data[t, j])}
    net = hmm.to_network(6)
    assert float(hmm.score(data)) == pytest.approx(float(net.log_probability(seen)), abs=1e-9)
    marginals = net.marginals(seen, targets=[f"state[{t}]" for t in range(6)])
    for t, row in enumerate(hmm.smooth(data).values):
        assert marginals[f"state[{t}]"].values == pytest.approx(row, abs=1e-9)
    assert marginals["state[5]"].values == pytest.approx(hmm.forecast(data).values[0], abs=1e-9)
    if model == "letters":
        ahead = net.query("observation[5]", seen).values
        assert hmm.forecast(data).observations[0] == pytest.approx(ahead, abs=1e-9)
    if model == "number":
        ahead = net.query("observation[5]", seen)
        found = hmm.forecast(data)
        assert found.mean[0] == pytest.approx(ahead.mean, abs=1e-9)
        assert found.std[0] == pytest.approx(ahead.std, abs=1e-9)


def test_results_are_values() -> None:
    hmm = letters()
    for found in (hmm.filter(SEQ), hmm.smooth(SEQ, pairs=True), hmm.decode(SEQ), hmm.forecast(SEQ, steps=2),
                  hmm.sample(4, seed=0), hmm.filter([SEQ, SEQ]), hmm.decode([SEQ, SEQ]),
                  hmm.fit(SEQ).fit_report):  # fmt: skip
        again = pickle.loads(pickle.dumps(found))
        assert repr(again) == repr(found)
        assert found._repr_html_().startswith(("<div", "<table"))
        assert found.to_dict()
        with pytest.raises(AttributeError, match="does not change"):
            found.values = 3
        if hasattr(found, "to_pandas"):
            assert len(found.to_pandas())
    with pytest.raises(ValueError, match="read-only"):
        hmm.filter(SEQ).values[0, 0] = 1.0
    assert hmm.smooth(SEQ)[0]["u"] == hmm.smooth(SEQ).values[0, 0]
    assert hmm.filter(SEQ).exact


@pytest.mark.parametrize("hmm", [letters(), letters(name="urns"), numbers(), numbers(1),
                                 numbers(form="diagonal"),
                                 pgm.HMM([1, 0], [[0.9, 0.1], [0, 1]], Categorical([[0.3, 0.7], [0.1, 0.9]]),
                                         topology=pgm.LeftToRight())])  # fmt: skip
def test_models_are_written_and_read_to_the_last_bit(hmm: pgm.HMM) -> None:
    file = io.StringIO()
    pgm.write(hmm, file, format="json")
    again = pgm.read(io.StringIO(file.getvalue()), format="json")
    assert again == hmm
    assert pickle.loads(pickle.dumps(hmm)) == hmm
    assert hmm.copy() == hmm
    jsonschema = pytest.importorskip("jsonschema")
    import json
    from pathlib import Path

    schema = json.loads((Path(__file__).parents[2] / "docs" / "schema" / "pgm-1.json").read_text())
    jsonschema.validate(json.loads(file.getvalue()), schema)


ONE = '{"pgm": 1, "hmm": {"states": ["a"], "initial": [1], "transition": [[1]]'
X = '"emission": {"categorical": {"symbols": ["x"], "p": [[1]]}}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ONE + "}}", 'has no "emission"'),
        (f"{ONE}, {X}}}}}".replace("[[1]],", "[[0.5]],", 1), "sums to 0.5"),
        (f'{ONE}, "emission": {{"normal": {{}}}}}}}}', "'normal' is not a key of an emission"),
        (f"{ONE}, {X}}}}}".replace('"states": ["a"], ', ""), "has states"),
        (f'{ONE}, {X}, "possible": [[1]]}}}}', "expected true or false"),
    ],
)
def test_files_that_are_no_model(text: str, said: str) -> None:
    with pytest.raises(pgm.FileFormatError) as error:
        pgm.read(io.StringIO(text), format="json")
    assert said.replace('"', "'") in str(error.value).replace('"', "'")


def test_no_other_format_holds_it() -> None:
    with pytest.raises(pgm.PGMError):
        pgm.write(letters(), io.StringIO(), format="bif")


# --- beside hmmlearn ---


@pytest.mark.parametrize("form", ["full", "diagonal", "spherical", "tied"])
def test_hmmlearn_believes_and_learns_the_same_of_numbers(form: str) -> None:
    hmmlearn = pytest.importorskip("hmmlearn.hmm")
    data = [one.observations for one in numbers().sample(60, sequences=5, seed=1)]
    x, lengths = np.concatenate(data), [60] * 5
    new = Gaussian(dim=2, form=form)
    start = new.fitted(new.statistics(x, np.random.default_rng(2).random((300, 3))))
    hmm = pgm.HMM([0.5, 0.2, 0.3], A, start)
    kind = {"diagonal": "diag"}.get(form, form)
    # Its prior of covariances, which cannot be turned off, is set to count nothing.
    nothing = {"full": 2.0, "tied": 2.0, "diag": 1.0, "spherical": 1.0}[kind]
    off = {"min_covar": 0.0, "covars_prior": 0.0, "covars_weight": nothing}
    other = hmmlearn.GaussianHMM(3, kind, init_params="", n_iter=10, tol=-np.inf, **off)

    def as_theirs(cov: np.ndarray) -> np.ndarray:
        alone = {"diag": np.einsum("kii->ki", cov), "spherical": cov[:, 0, 0], "tied": cov[0]}
        return np.array(alone.get(kind, cov))

    other.startprob_, other.transmat_ = hmm.initial.copy(), np.array(A)
    other.means_, other.covars_ = np.array(hmm.emission.mean), as_theirs(hmm.emission.covariance)
    assert float(hmm.score(data)) == pytest.approx(other.score(x, lengths), rel=1e-10)
    assert hmm.smooth(data).values == pytest.approx(other.predict_proba(x, lengths), abs=1e-9)
    assert np.concatenate([p.codes for p in hmm.decode(data)]).tolist() == other.predict(x, lengths).tolist()
    other.fit(x, lengths)
    hmm.fit(data, max_iter=10, tol=0.0)
    assert hmm.transition == pytest.approx(other.transmat_, abs=1e-8)
    assert hmm.emission.mean == pytest.approx(other.means_, abs=1e-8)
    theirs = other._covars_[:, 0] if form == "spherical" else other._covars_
    assert as_theirs(hmm.emission.covariance) == pytest.approx(theirs, abs=1e-7)


def test_hmmlearn_learns_the_same_from_symbols() -> None:
    hmmlearn = pytest.importorskip("hmmlearn.hmm")
    random = np.random.default_rng(4)
    start, move, p = (
        random.dirichlet(np.ones(3)),
        random.dirichlet(np.ones(3), 3),
        random.dirichlet(np.ones(5), 3),
    )
    x, lengths = random.integers(0, 5, 200), [50, 1, 149]
    other = hmmlearn.CategoricalHMM(3, init_params="", n_iter=10, tol=-np.inf)
    other.startprob_, other.transmat_, other.emissionprob_ = start.copy(), move.copy(), p.copy()
    hmm = pgm.HMM(start, move, Categorical(p))
    assert float(hmm.score(x, lengths=lengths)) == pytest.approx(other.score(x[:, None], lengths), rel=1e-11)
    assert hmm.smooth(x, lengths=lengths).values == pytest.approx(
        other.predict_proba(x[:, None], lengths), abs=1e-10
    )
    other.fit(x[:, None], lengths)
    hmm.fit(x, lengths=lengths, max_iter=10, tol=0.0)
    assert hmm.transition == pytest.approx(other.transmat_, abs=1e-9)
    assert hmm.emission.p == pytest.approx(other.emissionprob_, abs=1e-9)
    assert hmm.initial == pytest.approx(other.startprob_, abs=1e-9)


# --- learning ---


@pytest.mark.parametrize("form", ["full", "diagonal", "spherical", "tied"])
@pytest.mark.parametrize("prior", [None, 0.5])
@pytest.mark.parametrize("gaps", [False, True])
def test_the_likelihood_never_falls_and_its_gradient_vanishes(
    form: str, prior: float | None, gaps: bool
) -> None:
    data = np.concatenate([one.observations for one in numbers().sample(40, sequences=3, seed=5)])
    if gaps:
        data[np.random.default_rng(6).random(data.shape) < 0.15] = np.nan
    hmm = pgm.HMM(n_states=2, emission=Gaussian(dim=2, form=form))
    hmm.fit(data, lengths=[40] * 3, prior=prior, seed=7, max_iter=1000, tol=1e-12)
    report = hmm.fit_report
    assert report.converged
    if prior is None:
        assert (np.diff(report.log_likelihoods) >= -1e-9).all()
        eps = 1e-5
        for k in range(2):
            for d in range(2):
                moved = []
                for sign in (1, -1):
                    mean = np.array(hmm.emission.mean)
                    mean[k, d] += sign * eps
                    other = Gaussian(mean, covariance=hmm.emission.covariance)
                    moved.append(
                        float(pgm.HMM(hmm.initial, hmm.transition, other).score(data, lengths=[40] * 3))
                    )
                assert abs(moved[0] - moved[1]) / (2 * eps) < 1e-2


def test_what_is_fixed_stays() -> None:
    hmm = letters().fit([SEQ, SEQ[::-1]], fixed=["transition", "emission"])
    assert np.array_equal(hmm.transition, letters().transition)
    assert hmm.emission == letters().emission
    hmm = letters().fit([SEQ, SEQ[::-1]], fixed={"transition": ["v"], "emission": "w"})
    assert np.array_equal(hmm.transition[1], letters().transition[1])
    assert not np.array_equal(hmm.transition[0], letters().transition[0])
    assert hmm.emission.p[2].tolist() == B[2]
    assert hmm.emission.p[0].tolist() != B[0]
    mask = np.zeros((3, 3), bool)
    mask[0, 1] = True
    hmm = letters().fit([SEQ, SEQ[::-1]], fixed={"transition": mask})
    assert hmm.transition[0, 1] == A[0][1]
    assert hmm.transition.sum(axis=1) == pytest.approx(np.ones(3))
    assert letters().fit(SEQ, fixed=["emission"], max_iter=1).fit_report.n_parameters == 8


def test_weights_are_repetitions() -> None:
    twice = letters().fit([SEQ, SEQ, list("gy")], max_iter=3)
    weighed = letters().fit([SEQ, list("gy")], weights=[2, 1], max_iter=3)
    assert weighed.transition == pytest.approx(twice.transition, abs=1e-12)
    assert weighed.fit_report.log_likelihood == pytest.approx(twice.fit_report.log_likelihood)


def test_several_starts_keep_the_best_and_are_seeded() -> None:
    data = [one.observations.tolist() for one in letters().sample(50, sequences=4, seed=1)]
    new = lambda: pgm.HMM(n_states=3, emission=Categorical(symbols=["r", "g", "b", "y"]))  # noqa: E731
    hmm = new().fit(data, starts=4, seed=2)
    assert len(hmm.fit_report.starts) == 4
    assert hmm.fit_report.log_likelihood == max(logs[-1] for logs in hmm.fit_report.starts)
    assert new().fit(data, starts=4, seed=2) == hmm
    assert hmm.fit_report.bic > hmm.fit_report.aic


def test_given_numbers_are_where_it_starts() -> None:
    """What others overwrite: the numbers that a user has given."""
    hmm = letters().fit(SEQ, max_iter=1)
    assert hmm.fit_report.log_likelihoods[0] == float(letters().score(SEQ))


def test_an_iteration_that_ran_out_has_not_converged() -> None:
    assert not letters().fit(SEQ, max_iter=2).fit_report.converged
    assert letters().fit(SEQ, max_iter=10_000, tol=1e-4).fit_report.converged


def test_a_covariance_that_collapses_is_named() -> None:
    data = [0.0, 0.0, 0.0, 5.0, 6.0, 7.0]
    hmm = pgm.HMM(
        [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], Gaussian([0.0, 6.0], sd=[0.5, 1.0]), states=["low", "high"]
    )
    with pytest.raises(pgm.InvalidArgument, match=r"The covariance of state 'low' collapsed in iteration"):
        hmm.fit(data)
    assert hmm.emission == Gaussian([0.0, 6.0], sd=[0.5, 1.0])
    hmm.fit(data, prior={"emission": 1.0})
    assert (hmm.emission.sd > 0.1).all()


def test_viterbi_training_climbs_too() -> None:
    data = [one.observations.tolist() for one in letters().sample(50, sequences=4, seed=1)]
    hmm = letters().fit(data, method="viterbi")
    assert hmm.fit_report.converged
    assert (np.diff(hmm.fit_report.log_likelihoods) >= 0).all()
    best = sum(path.log_joint for path in hmm.decode(data))
    assert hmm.fit_report.log_likelihood == pytest.approx(best)


def test_left_to_right_is_learned_in_order() -> None:
    random = np.random.default_rng(0)
    data = [np.concatenate([random.normal(m, 0.3, 20) for m in (0, 3, -2)]) for _ in range(5)]
    hmm = pgm.HMM(n_states=3, emission=Gaussian(), topology=pgm.LeftToRight(max_jump=2)).fit(data, seed=0)
    assert hmm.emission.mean == pytest.approx([0, 3, -2], abs=0.2)
    assert hmm.initial.tolist() == [1.0, 0.0, 0.0]
    assert (np.tril(hmm.transition, -1) == 0).all()


def test_a_time_limit_keeps_the_best_so_far() -> None:
    data = [one.observations.tolist() for one in letters().sample(500, sequences=40, seed=1)]
    with pgm.config(time_limit=0.2):
        hmm = letters().fit(data, tol=0.0, max_iter=10**6)
    assert hmm.fit_report.stopped_by == "time limit"
    assert not hmm.fit_report.converged
    assert hmm.fit_report.log_likelihood >= hmm.fit_report.log_likelihoods[0]


def test_gaps_are_filled_given_what_is_around_them() -> None:
    hmm = numbers()
    data = hmm.sample(6, seed=2).observations.copy()
    data[2, 1] = np.nan
    drawn = hmm.sample(4000, given=data, seed=3)
    values = np.array([one.observations for one in drawn])
    assert (values[:, 2, 0] == data[2, 0]).all()
    net, name = hmm.to_network(6), "observation[2,1]"
    seen = {
        f"observation[{t},{j}]": data[t, j] for t in range(6) for j in range(2) if not np.isnan(data[t, j])
    }
    exact = net.query(name, seen)
    assert values[:, 2, 1].mean() == pytest.approx(exact.mean, abs=5 * exact.std / math.sqrt(4000))


# --- pictures ---


def test_pictures() -> None:
    import matplotlib.pyplot as plt

    hmm, many = (
        letters(),
        pgm.HMM(np.full(20, 0.05), np.full((20, 20), 0.05), Gaussian(np.arange(20.0), sd=1.0)),
    )
    long = many.sample(100, seed=0)
    pictures = [hmm.plot, hmm.smooth(SEQ).plot, hmm.decode(SEQ).plot, hmm.sample(30, seed=0).plot,
                hmm.forecast(SEQ, steps=3).plot, hmm.copy().fit(SEQ, starts=2, seed=0).fit_report.plot,
                many.plot, many.smooth(long.observations).plot, many.decode(long.observations).plot,
                long.plot,
                many.forecast(long.observations, steps=5).plot]  # fmt: skip
    for draw in pictures:
        _, ax = plt.subplots()
        assert draw(ax=ax, title="so") is ax
        assert ax.get_title() == "so"
        plt.close(ax.figure)
        assert draw(figsize=(4, 3)).figure.get_size_inches().tolist() == [4, 3]


def test_a_path_works_out_the_log_likelihood_of_its_model_when_asked():
    coin = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
    data = [np.array([0, 0, 1, 1, 1]), np.array([1, 0])]
    scores = coin.score(data, by="sequence")
    found, kept, other = coin.decode(data), pickle.loads(pickle.dumps(coin.decode(data))), coin.decode(data)
    data[0][:] = 0
    coin.fit(data, max_iter=3)
    assert [path.log_likelihood for path in found] == scores.tolist()
    assert [path.log_likelihood for path in kept] == scores.tolist()
    assert other[0] == found[0]
    assert found.log_likelihood == pytest.approx(scores.sum())
    assert found[1].log_probability == found[1].log_joint - scores[1]
