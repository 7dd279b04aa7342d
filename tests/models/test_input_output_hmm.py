"""Hidden Markov models with inputs: against all paths, the network of their steps, other programs, and EM."""

from __future__ import annotations

import io
import itertools
import json
import math
import pickle
from collections import Counter
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import pgm
from tests.hidden_oracle import Paths, check

ROOT = Path(__file__).parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/schema/pgm-1.json").read_text()))


def rows(random, *shape):
    found = random.dirichlet(np.ones(shape[-1]), shape[:-1]) * (random.random(shape) > 0.2)
    found[found.sum(axis=-1) == 0.0] = 1.0
    return found / found.sum(axis=-1, keepdims=True)


def shares(scores):
    e = [math.exp(s) for s in scores]
    return [x / sum(e) for x in e]


class Case:
    """A random model with one to three inputs, its parts said once more, and a sequence with gaps."""

    def __init__(self, seed):
        random = np.random.default_rng(seed)
        self.random, self.seed = random, seed
        self.k, self.steps = int(random.integers(1, 4)), int(random.integers(1, 5))
        self.d, self.window = int(random.integers(1, 3)), int(random.integers(0, 2))
        self.lags = int(random.integers(0, 3)) if seed % 2 else 0
        self.entering = bool(random.random() < 0.5)
        self.own = random.normal(size=(self.steps, self.d)).round(2)
        k, width = self.k, self.d * (self.window + 1) + self.lags
        self.w, self.b = random.normal(size=(k, width)), random.normal(size=k)
        self.noise = random.uniform(0.3, 2.0, k)
        gated, begun = random.random() < 0.5 and not self.lags, random.random() < 0.5 and not self.lags
        gate = random.normal(size=(k, k, width + 1))
        first = random.normal(size=(1, k, width + 1))
        self.start, self.move = rows(random, k), rows(random, k, k)
        self.model = pgm.InputOutputHMM(
            pgm.Softmax(first[:, :, :-1], first[:, :, -1]) if begun else self.start,
            pgm.Softmax(gate[:, :, :-1], gate[:, :, -1]) if gated else self.move,
            pgm.Regression(self.w, self.b, variance=self.noise),
            window=self.window,
            lags=self.lags,
            entering=self.entering,
        )
        self.seq = random.normal(size=self.steps).tolist()
        if not self.lags:
            self.seq = [None if random.random() < 0.2 else y for y in self.seq]
        self.before = random.normal(size=self.lags).tolist() if self.lags else None
        self.first = (lambda: shares(first[0] @ [*self.x(0), 1.0])) if begun else (lambda: self.start)

        def move(a, t):
            return shares(gate[a] @ [*self.x(t if self.entering else t - 1), 1.0]) if gated else self.move[a]

        self.moved = move

    def x(self, t):
        found = list(self.own[t])
        for w in range(1, self.window + 1):
            found += list(self.own[t - w]) if t >= w else [0.0] * self.d
        for lag in range(1, self.lags + 1):
            found.append(self.seq[t - lag] if t >= lag else self.before[lag - 1 - t])
        return np.array(found)

    def like(self, q, t):
        if self.seq[t] is None:
            return 1.0
        off = self.seq[t] - self.w[q] @ self.x(t) - self.b[q]
        return math.exp(-0.5 * off**2 / self.noise[q]) / math.sqrt(2 * math.pi * self.noise[q])

    def paths(self, steps):
        return Paths(
            range(self.k),
            lambda q: self.first()[q],
            lambda p, q, t: self.moved(p, t)[q],
            self.like,
            steps,
        )

    @property
    def options(self):
        found = {"inputs": self.own}
        return found | ({"before": self.before} if self.lags else {})


@pytest.mark.parametrize("seed", range(40))
def test_against_all_paths_and_the_network(seed):
    case = Case(seed)
    every = case.paths(case.steps)
    check(case.model, case.seq, every, case.paths, **case.options)
    net = case.model.to_network(case.steps, **case.options)
    known = {f"observation[{t}]": y for t, y in enumerate(case.seq) if y is not None}
    if known:
        assert net.log_probability(known) == pytest.approx(math.log(every.total), abs=1e-9)
        smooth = case.model.smooth(case.seq, **case.options)
        for t in range(case.steps):
            assert smooth.values[t] == pytest.approx(net.query(f"state[{t}]", known).values, abs=1e-9)


def symbols(seed, lags=0):
    """Symbols emitted by a softmax of inputs, or of past symbols."""
    random = np.random.default_rng(seed)
    width = 2 * lags if lags else 2
    emission = pgm.Softmax(random.normal(size=(2, 3, width)), random.normal(size=(2, 3)), symbols=list("abc"))
    return pgm.InputOutputHMM(rows(random, 2), rows(random, 2, 2), emission, lags=lags)


@pytest.mark.parametrize("lags", [1, 2])
def test_symbols_that_follow_symbols(lags):
    model = symbols(lags, lags)
    seq, before = list("abcab"), list("cb")[:lags]
    w, b = model.emission.weights, model.emission.bias
    past = [*seq[::-1], *before]  # the last one first

    def like(q, t):
        x = []
        for lag in range(1, lags + 1):
            one = past[len(seq) - 1 - t + lag]
            x += [float(one == "b"), float(one == "c")]
        return shares(w[q] @ x + b[q])["abc".index(seq[t])]

    def paths(steps):
        return Paths((0, 1), lambda q: model.initial[q], lambda p, q, t: model.transition[p, q], like, steps)

    check(model, seq, paths(5), paths, before=before)
    net = model.to_network(5, before=before)
    known = {f"observation[{t}]": y for t, y in enumerate(seq)}
    assert net.log_probability(known) == pytest.approx(math.log(paths(5).total), abs=1e-9)
    drawn = model.sample(5, before=before, seed=0)
    assert set(drawn.observations) <= set("abc")


def test_values_of_an_input_by_name():
    random = np.random.default_rng(4)
    tables = {name: rows(random, 2, 2) for name in ("dry", "wet")}
    seen = {name: rows(random, 2, 3) for name in ("dry", "wet")}
    start = rows(random, 2)
    model = pgm.InputOutputHMM(
        start,
        pgm.ByInput(tables),
        pgm.ByInput({name: pgm.Categorical(seen[name]) for name in ("wet", "dry")}),
    )
    x, seq = ["dry", "wet", "wet", "dry"], [0, 2, None, 1]

    def paths(steps):
        return Paths(
            (0, 1),
            lambda q: start[q],
            lambda p, q, t: tables[x[t - 1]][p, q],
            lambda q, t: 1.0 if seq[t] is None else seen[x[t]][q, seq[t]],
            steps,
        )

    check(model, seq, paths(4), paths, inputs=x)
    frame = {"y": [*seq, 1], "road": [*x, "wet"], "who": [1, 1, 1, 1, 2]}
    logs = model.score(frame, inputs="road", sequence="who", by="sequence")
    assert logs[0] == pytest.approx(math.log(paths(4).total), abs=1e-12)
    ahead = model.forecast(seq, 2, inputs=x, future=["wet", "dry"])
    p = model.filter(seq, inputs=x).values[-1] @ tables["dry"]
    assert ahead.values[0] == pytest.approx(p, abs=1e-12)
    assert ahead.observations[1] == pytest.approx(p @ tables["wet"] @ seen["dry"], abs=1e-12)
    net = model.to_network(4, inputs=x)
    known = {f"observation[{t}]": y for t, y in enumerate(seq) if y is not None}
    assert net.log_probability(known) == pytest.approx(math.log(paths(4).total), abs=1e-9)


def test_statsmodels_has_the_same_likelihood_of_an_autoregression():
    """MarkovAutoregression of order 1 without a mean, MarkovRegression on the last two values with one."""
    regimes = pytest.importorskip("statsmodels.api").tsa
    random = np.random.default_rng(0)
    y = np.cumsum(random.normal(size=150)) * 0.1 + random.normal(size=150)
    stay, back = 0.9, 0.25
    start, move = np.array([back, 1 - stay]) / (back + 1 - stay), [[stay, 1 - stay], [back, 1 - back]]
    params = {"p[0->0]": stay, "p[1->0]": back, "sigma2[0]": 0.5, "sigma2[1]": 1.5}
    params |= {"ar.L1[0]": 0.6, "ar.L1[1]": -0.4}
    theirs = regimes.MarkovAutoregression(
        y, k_regimes=2, order=1, trend="n", switching_ar=True, switching_variance=True
    )
    given = [params[name] for name in theirs.param_names]
    ours = pgm.AutoregressiveHMM(start, move, pgm.Regression([0.6, -0.4], variance=[0.5, 1.5]))
    assert ours.score(y) == pytest.approx(theirs.loglike(given), abs=1e-8)
    smoothed = np.asarray(theirs.smooth(given).smoothed_marginal_probabilities)
    assert ours.smooth(y).values[1:] == pytest.approx(smoothed, abs=1e-8)
    params |= {"const[0]": 0.3, "const[1]": -0.2, "x1[0]": 0.6, "x1[1]": -0.4, "x2[0]": 0.2, "x2[1]": 0.1}
    theirs = regimes.MarkovRegression(
        y[2:], k_regimes=2, exog=np.column_stack([y[1:-1], y[:-2]]), switching_variance=True
    )
    wanted = theirs.loglike([params[name] for name in theirs.param_names])
    lines = pgm.Regression([[0.6, 0.2], [-0.4, 0.1]], bias=[0.3, -0.2], variance=[0.5, 1.5])
    assert pgm.AutoregressiveHMM(start, move, lines, order=2).score(y) == pytest.approx(wanted, abs=1e-8)


def learnable(kind, random):
    """A model, and data that another one drew."""
    x = random.normal(size=(2, 60, 1))
    if kind == "gate":
        true = pgm.InputOutputHMM(
            [0.5, 0.5],
            pgm.Softmax([2.0, -1.0], bias=[-1.0, 1.0]),
            pgm.Regression([1.0, -1.0], bias=[0.0, 2.0], variance=[0.25, 0.5]),
        )
        model = pgm.InputOutputHMM(
            pgm.Softmax([[[0.1], [0.3]]], [[0.0, 0.2]], ridge=0.1),
            pgm.Softmax([0.5, 0.3], ridge=0.01),
            pgm.Regression([0.7, -0.5], bias=[0.3, 1.0], variance=[1.0, 1.0]),
        )
        return (
            model,
            [true.sample(60, inputs=one, seed=random).observations for one in x],
            {"inputs": list(x)},
        )
    if kind == "values":
        x = random.integers(0, 2, (2, 60))
        seen = pgm.ByInput(
            {0: pgm.Categorical([[0.9, 0.1], [0.5, 0.5]]), 1: pgm.Categorical([[0.4, 0.6], [0.1, 0.9]])}
        )
        model = pgm.InputOutputHMM(
            pgm.ByInput({0: [0.5, 0.5], 1: [0.2, 0.8]}),
            pgm.ByInput({0: [[0.8, 0.2], [0.3, 0.7]], 1: [[0.4, 0.6], [0.1, 0.9]]}),
            seen,
        )
        return model, random.integers(0, 2, (2, 60)).tolist(), {"inputs": x.tolist()}
    if kind == "symbols":
        model = symbols(5)
        x = random.normal(size=(2, 60, 2))
        data = [model.sample(60, inputs=one, seed=random).observations.tolist() for one in x]
        return symbols(6), data, {"inputs": list(x)}
    true = pgm.AutoregressiveHMM(
        [0.5, 0.5],
        [[0.9, 0.1], [0.2, 0.8]],
        pgm.Regression([0.9, -0.5], bias=[0.0, 1.0], variance=[0.1, 0.2]),
    )
    y = [true.sample(80, before=0.0, seed=random).observations for _ in range(2)]
    model = pgm.AutoregressiveHMM([0.5, 0.5], [[0.6, 0.4], [0.4, 0.6]], pgm.Regression([0.5, 0.1], sd=[1, 1]))
    return model, y, {}


@pytest.mark.parametrize("kind", ["gate", "values", "symbols", "lags"])
def test_em_climbs_to_where_the_gradient_vanishes(kind):
    model, data, options = learnable(kind, np.random.default_rng(2))
    learned = model.copy().fit(data, **options, max_iter=2000, tol=1e-12)
    logs = np.array(learned.fit_report.log_likelihoods)
    prior = kind == "gate"  # what a ridge costs is not part of the log-likelihood
    assert prior or (np.diff(logs) >= -1e-8).all()
    assert logs[-1] == pytest.approx(learned.score(data, **options), abs=1e-8)
    assert logs[-1] > logs[0] + 0.5

    def value(changed):
        ridge = sum(part._log_prior for part in changed._by_inputs.values())
        return changed.score(data, **options) + ridge

    def slope(make):
        return (value(make(1e-5)) - value(make(-1e-5))) / 2e-5

    for part, one in learned._by_inputs.items():
        arrays = one._w if hasattr(one, "_w") else None
        if arrays is None:
            continue
        for index in np.ndindex(arrays.shape):
            if isinstance(one, pgm.Softmax) and index[1] == 0:
                continue  # weights of the first class stay, whatever they cost: others are relative to them

            def moved(h, part=part, one=one, arrays=arrays, index=index):
                w = arrays.copy()
                w[index] += h
                made = learned.copy()
                new = one._with(w, one._s) if hasattr(one, "_s") else one._with(w)
                made._by_inputs = {**learned._by_inputs, part: new}
                made._emission = made._by_inputs.get("emission", learned._emission)
                return made

            assert abs(slope(moved)) < 1e-3


def test_learned_from_nothing():
    random = np.random.default_rng(5)
    x = random.normal(size=300)
    state = np.repeat(random.integers(0, 2, 30), 10)
    y = np.where(state == 1, 3.0 * x, 5.0 - 2.0 * x) + 0.2 * random.normal(size=300)
    model = pgm.InputOutputHMM(n_states=2, emission=pgm.Regression(inputs=1))
    model.fit(y, inputs=x, seed=0, starts=5)
    assert sorted(model.emission.weights[:, 0].round(1).tolist()) == [-2.0, 3.0]
    agree = (model.smooth(y, inputs=x).values[:, 0] > 0.5) == (state == 1)
    assert max(agree.mean(), 1 - agree.mean()) > 0.97


def test_any_estimator_never_lets_the_likelihood_fall():
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeRegressor

    random = np.random.default_rng(1)
    x = random.uniform(-2, 2, 300)
    state = np.repeat(random.integers(0, 2, 30), 10)
    y = np.where(state == 1, np.abs(x) * 3, -3.0) + 0.3 * random.normal(size=300)
    model = pgm.InputOutputHMM(
        n_states=2,
        transition=pgm.Estimators(LogisticRegression(), inputs=1),
        emission=pgm.Estimators(DecisionTreeRegressor(max_depth=3), inputs=1),
    ).fit(y, inputs=x, seed=0, max_iter=15)
    assert (np.diff(model.fit_report.log_likelihoods) >= -1e-9).all()
    agree = (model.smooth(y, inputs=x).values[:, 0] > 0.5) == (state == 1)
    assert max(agree.mean(), 1 - agree.mean()) > 0.95
    ahead = model.forecast(y, inputs=x, future=[1.0])
    p = model.filter(y, inputs=x).values[-1] @ np.exp(model.transition._logs(x[-1:, None])[0])
    wanted = p @ [one.predict([[1.0]])[0] for one in model.emission.estimators]
    assert ahead.mean[0] == pytest.approx(wanted, abs=1e-9)
    with pytest.raises(pgm.InvalidArgument, match="no JSON form"):
        pgm.write(model, io.StringIO(), format="json")


def test_draws_follow_gates_and_gaps_are_filled():
    gate = pgm.InputOutputHMM(
        [1.0, 0.0], pgm.Softmax([50.0, 50.0]), pgm.Regression([0.0, 0.0], [0.0, 9.0], sd=0.1)
    )
    x = np.array([1.0, -1.0, 1.0, -1.0])
    drawn = gate.sample(4, inputs=x, seed=0)
    assert drawn.states.tolist() == [0, 1, 0, 1]
    assert drawn.observations.round(0).tolist() == [0.0, 9.0, 0.0, 9.0]
    filled = gate.sample(2, given=[0.1, None, 0.1, None], inputs=x, seed=0)
    assert filled[1].observations.round(0).tolist() == [0.0, 9.0, 0.0, 9.0]


@pytest.mark.parametrize("lags", [0, 2])
def test_several_sequences_are_drawn_as_often_as_they_are_probable(lags):
    random, many = np.random.default_rng(7), 8000
    width = 1 + 2 * lags  # two of the symbols stand for one of three that was seen
    start, move = rows(random, 2), pgm.Softmax(random.normal(size=(2, 2, width)), random.normal(size=(2, 2)))
    emission = pgm.Softmax(random.normal(size=(2, 3, width)), random.normal(size=(2, 3)), symbols=list("abc"))
    model = pgm.InputOutputHMM(start, move, emission, lags=lags)
    more = {"inputs": [0.5, -1.0, 2.0]} | ({"before": ["b", "c"]} if lags else {})
    drawn = model.sample(3, sequences=many, seed=0, **more)
    assert drawn[5] == model.sample(3, sequences=many, seed=0, **more)[5]
    assert type(model.sample(3, sequences=1, seed=0, **more)) is type(drawn)
    assert model.sample(3, sequences=1, seed=0, **more)[0] == model.sample(3, seed=0, **more)
    seen = Counter(tuple(one.observations) for one in drawn)
    assert sum(seen.values()) == many
    for path in itertools.product("abc", repeat=3):
        share = math.exp(model.score(list(path), **more))
        assert abs(seen[path] / many - share) < 4 * math.sqrt(share * (1 - share) / many)
    with pytest.raises(pgm.InvalidArgument, match="leave out sequences="):
        model.sample(3, sequences=2, given=list("abc"), **more)
    with pytest.raises(pgm.InvalidArgument, match="at least 1, not 0"):
        model.sample(3, sequences=0, **more)


@pytest.mark.parametrize("kind", ["gate", "values", "symbols", "lags"])
def test_files_pickles_and_print(kind):
    model = learnable(kind, np.random.default_rng(2))[0]
    file = io.StringIO()
    pgm.write(model, file, format="json")
    SCHEMA.validate(json.loads(file.getvalue()))
    again = pgm.read(io.StringIO(file.getvalue()), format="json")
    assert again == model
    assert pickle.loads(pickle.dumps(model)) == model
    assert type(model).__name__ in repr(model)
    assert "<table" in model._repr_html_()
    assert model.plot() is not None


def test_what_is_wrong_is_said():
    lines = pgm.Regression([1.0, -1.0], sd=1.0)
    A = [[0.8, 0.2], [0.3, 0.7]]
    model = pgm.InputOutputHMM([0.5, 0.5], A, lines)
    lagged = pgm.AutoregressiveHMM([0.5, 0.5], A, lines)
    for wrong, said in [
        (lambda: model.score([1.0, 2.0]), "inputs= has a row for each step"),
        (lambda: model.score([1.0, 2.0], inputs=[1.0]), "each step needs a row"),
        (lambda: model.score([1.0, 2.0], inputs=[1.0, None]), "Step 1 .* missing"),
        (lambda: model.score([1.0, 2.0], inputs=[1.0, "a"]), "inputs=, step 1"),
        (lambda: model.score([1.0], inputs=[1.0], before=[1.0]), "no lags"),
        (lambda: lagged.score([1.0], inputs=[1.0]), "no effect"),
        (lambda: lagged.score([1.0, 2.0], before=[1.0, 2.0]), "before= takes 1 observation"),
        (lambda: lagged.score([1.0, None, 2.0]), "Step 2 .*gap"),
        (lambda: lagged.forecast([1.0, 2.0], 2), "one step is forecast"),
        (lambda: lagged.sample(3), "before="),
        (lambda: model.forecast([1.0], inputs=[1.0]), "future="),
        (lambda: model.fit([1.0, 2.0], inputs=[1.0, 2.0], fixed=["start"]), "names 'start'"),
        (lambda: pgm.InputOutputHMM([0.5, 0.5], pgm.Softmax([1.0]), lines), "2 rows and 2 classes"),
        (lambda: pgm.InputOutputHMM([0.5, 0.5], pgm.ByInput({0: [[1.0, 0.0]]}), lines), "shape"),
        (lambda: pgm.InputOutputHMM([0.5, 0.5], A, "lines"), "emission= is pgm.Regression"),
        (lambda: pgm.Regression([1.0], sd=0.0), "positive"),
        (lambda: pgm.Regression([1.0]), "one of sd="),
        (lambda: pgm.Softmax([1.0], bias=[1.0, 2.0]), "bias"),
        (lambda: pgm.ByInput({}), "a dict from values"),
        (lambda: pgm.AutoregressiveHMM([0.5, 0.5], A, pgm.Gaussian([0, 1], sd=1)), "past observations"),
        (
            lambda: pgm.InputOutputHMM([1.0], [[1.0]], pgm.ByInput({0: pgm.Categorical([[1.0, 0]])})).score(
                [0], inputs=[1]
            ),
            "not one of the values",
        ),
    ]:
        with pytest.raises(pgm.PGMError, match=said):
            wrong()
