"""Answers about steps: forecasts of whatever is emitted, several sequences at once, values and indices."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import pgm

START, MOVES = [0.3, 0.7], [[0.9, 0.1], [0.2, 0.8]]
SKY = pgm.Categorical([[0.9, 0.1], [0.3, 0.7]], ["grey", "blue"])
VISITS = pgm.Poisson([1.0, 6.0])
BOTH = pgm.Product({"visits": VISITS, "sky": SKY})
ROWS = {"visits": [0, None, 7], "sky": ["grey", None, "blue"]}


def believed(hmm: pgm.HMM, data: Any, steps: int) -> np.ndarray:
    """The states of a step to come, by all paths behind it."""
    p = hmm.filter(data).values[-1]
    for _ in range(steps):
        p = np.array([sum(p[i] * MOVES[i][j] for i in range(2)) for j in range(2)])
    return p


# --- forecasts ---


def test_columns_of_any_kinds_are_forecast_by_name():
    hmm = pgm.HMM(START, MOVES, BOTH)
    found = hmm.forecast(ROWS, steps=3)
    for step in range(3):
        p = believed(hmm, ROWS, step + 1)
        assert found.values[step] == pytest.approx(p, rel=1e-12)
        mean = p @ [1.0, 6.0]
        assert found.column("visits").mean[step] == pytest.approx(mean)
        spread = p @ [1.0 + 1.0**2, 6.0 + 6.0**2] - mean**2
        assert found.column("visits").std[step] == pytest.approx(np.sqrt(spread))
        assert found.column("sky").observations[step] == pytest.approx(p @ np.array(SKY.p))
        assert found[step]["sky"]["blue"] == pytest.approx(p @ [0.1, 0.7])
    low, high = found.column("visits").interval(0.8)
    p = believed(hmm, ROWS, 1)
    for end, tail in ((low[0], 0.1), (high[0], 0.9)):
        assert p @ stats.poisson.cdf(end, [1, 6]) >= tail > p @ stats.poisson.cdf(end - 1, [1, 6])
    assert found.columns == ("visits", "sky")
    assert list(found.to_pandas().columns)[2:] == ["visits mean", "visits sd", "sky: P(grey)", "sky: P(blue)"]
    assert found.to_dict()["sky: P(grey)"] == pytest.approx(found.column("sky").observations[:, 0])
    assert found.plot().get_title() == "Forecast of the states"
    for ask, said in (
        (
            lambda: found.column("visit"),
            "no column 'visit'; there are 'visits', 'sky'. Did you mean 'visits'",
        ),
        (lambda: found.interval(0.9), "one column"),
        (lambda: found.mean, "'sky' are not numeric"),
        (lambda: found.column("sky").column("sky"), "no columns"),
    ):
        with pytest.raises(pgm.InvalidArgument, match=said):
            ask()


def test_columns_of_numbers_stand_side_by_side():
    numbers = pgm.Product([pgm.Gaussian([0.0, 3.0], sd=[1.0, 2.0]), VISITS])
    hmm = pgm.HMM(START, MOVES, numbers)
    found = hmm.forecast([[0.1, 2]], steps=2)
    p = believed(hmm, [[0.1, 2]], 2)
    assert found.mean[1] == pytest.approx([p @ [0.0, 3.0], p @ [1.0, 6.0]])
    assert found.std[1, 0] == pytest.approx(np.sqrt(p @ [1.0, 4.0 + 9.0] - (p @ [0.0, 3.0]) ** 2))
    assert found.columns == ("observation[0]", "observation[1]")


def test_bags_are_forecast_where_their_size_is_known():
    words = [[0.1, 0.9], [0.8, 0.2]]
    open_, known = (pgm.HMM(START, MOVES, pgm.Multinomial(words, size=size)) for size in (None, 10))
    states = open_.forecast([[0, 3]], steps=1)
    assert states.values == pytest.approx(known.forecast([[0, 3]], steps=1).values)
    assert "Set Multinomial(..., size=20)." in repr(states)
    assert states.plot().get_title() == "Forecast of the states"
    assert list(states.to_dict()) == ["states"]
    with pytest.raises(pgm.InvalidArgument, match="size="):
        _ = states.mean
    found, p = known.forecast([[0, 3]], steps=1), believed(known, [[0, 3]], 1)
    assert found.mean[0] == pytest.approx(p @ np.array(words) * 10)
    low, high = found.interval(0.8)
    for d in range(2):
        rows = np.array(words)[:, d]
        for end, tail in ((low[0, d], 0.1), (high[0, d], 0.9)):
            cdf = [p @ stats.binom.cdf(x, 10, rows) for x in (end, end - 1)]
            assert cdf[0] >= tail > cdf[1]


@pytest.mark.parametrize("emission", [VISITS, pgm.StudentT([0.0, 3.0], scale=[1.0, 2.0], df=[4.0, 5.0])])
def test_variants_forecast_what_hidden_markov_models_do(emission):
    """A factorial model of one moving chain, and one that never moves, is a hidden Markov model."""
    still, moves = pgm.MarkovChain([1.0], [[1.0]]), pgm.MarkovChain(START, MOVES)
    both = pgm.FactorialHMM([still, moves], emission).forecast([1, 4], steps=3)
    one = pgm.HMM(START, MOVES, emission).forecast([1, 4], steps=3)
    assert both.values == pytest.approx(one.values)
    assert both.mean == pytest.approx(one.mean)
    assert np.array(both.interval(0.9)) == pytest.approx(np.array(one.interval(0.9)))


def test_coupled_chains_of_other_kinds_are_forecast_by_chain():
    rows = np.full((2, 2, 2), 0.5)
    both = pgm.CoupledHMM({"a": START, "b": START}, {"a": rows, "b": rows}, {"a": VISITS, "b": SKY})
    found = both.forecast({"a": [1], "b": ["grey"]}, steps=1)
    assert found.column("a").mean == pytest.approx([3.5])
    assert found.column("b").observations[0] == pytest.approx([0.6, 0.4])


def test_far_forecasts_are_those_of_single_steps():
    hmm = pgm.HMM(START, MOVES, SKY)
    found = hmm.forecast(["grey"], steps=1000)
    for step in (1, 2, 3, 7, 8, 31, 1000):
        assert found.values[step - 1] == pytest.approx(believed(hmm, ["grey"], step), rel=1e-12)
    far = hmm.forecast(["grey"], steps=1_000_000)
    assert far.values[-1] == pytest.approx([2 / 3, 1 / 3], rel=1e-12)
    assert far.observations.shape == (1_000_000, 2)
    assert "... 999,980 more of 1,000,000 steps" in repr(far)


def test_forecasts_of_variants_keep_to_the_time():
    chain = pgm.MarkovChain(START, MOVES)
    both = pgm.FactorialHMM([chain, chain], pgm.Poisson([1.0, 2.0, 3.0, 4.0]))
    with pgm.config(time_limit=0.05), pytest.raises(pgm.OutOfTime):
        both.forecast([1], steps=10_000_000)


# --- values, indices, pictures ---


def answers() -> dict[str, Any]:
    hmm, seq = pgm.HMM(START, MOVES, BOTH), ROWS
    chain = pgm.MarkovChain(START, MOVES)
    both = pgm.FactorialHMM([chain, chain], pgm.Categorical([[0.5, 0.5], [0.1, 0.9], [0.3, 0.7], [0.2, 0.8]]))
    return {
        "filtered": hmm.filter(seq),
        "pairs": hmm.smooth(seq, pairs=True),
        "drawn": hmm.sample(4, seed=0),
        "forecast": hmm.forecast(seq, steps=2),
        "joint": both.smooth([0, 1]),
        "bound": both.smooth([0, 1], engine="mean-field"),
        "several": both.filter([[0, 1], [1]]),
    }


@pytest.mark.parametrize("name", list(answers()))
def test_answers_are_values(name):
    one, other = answers()[name], answers()[name]
    assert one == other
    assert pickle.loads(pickle.dumps(one)) == one
    assert one != answers()["joint" if name != "joint" else "drawn"]
    assert (one == 3) is False


def test_answers_differ_where_their_numbers_do():
    hmm = pgm.HMM(START, MOVES, VISITS)
    assert hmm.filter([1, 2]) != hmm.filter([1, 3])
    assert hmm.filter([1]) != hmm.smooth([1])  # the same numbers, said of something else
    assert hmm.forecast([1], steps=2) != hmm.forecast([2], steps=2)
    assert hmm.sample(50, seed=0) != hmm.sample(50, seed=1)
    other = pgm.HMM(START, MOVES, pgm.Poisson([1.0, 6.5]))
    assert hmm.forecast([None], steps=1) != other.forecast([None], steps=1)


def test_steps_and_sequences_that_are_not_there():
    hmm = pgm.HMM(START, MOVES, VISITS)
    found, several = hmm.filter([1, 2]), hmm.filter([[1, 2], [3]])
    assert found[-1] == found[1]
    assert several[-1] == several[1]
    assert several[np.int64(1)] == several[1]
    for ask, said in (
        (lambda: found[2], "There is no step 2: there are 2, and the first is 0."),
        (lambda: found["a"], "A step is found by its index"),
        (lambda: found[True], "A step is found by its index"),
        (lambda: several[2], "There is no sequence 2: there are 2, and the first is 0."),
        (lambda: several["a"], "A sequence is found by its index"),
        (lambda: hmm.forecast([1], steps=2)[2], "There is no step 2"),
    ):
        with pytest.raises(pgm.InvalidArgument, match=said):
            ask()


def test_several_sequences_are_one_picture():
    hmm, lds = pgm.HMM(START, MOVES, VISITS), pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8)
    data, series = [[1, 2, None], [5]], [[1.0, 2.0], [0.5, None, 3.0]]
    for found in (
        hmm.smooth(data),
        hmm.decode(data),
        hmm.forecast(data, steps=3),
        hmm.sample(5, sequences=3),
    ):
        ax = found.plot(figsize=(4, 3))
        assert ax.figure.get_size_inches().tolist() == [4, 3]
        assert f"States of {len(found)} sequences" in ax.get_title()
        assert [t.get_text() for t in ax.get_yticklabels()] == [str(name) for name in found.ids]
    picture = hmm.smooth(data).plot().images[0].get_array()
    assert picture[1, :, 3].tolist() == [1.0, 0.0, 0.0]  # the second sequence has one step
    for found in (
        lds.filter(series),
        lds.smooth(series),
        lds.forecast(series, steps=2),
        lds.sample(4, sequences=2),
    ):
        assert len(found.plot(title="so").lines) == 2
    many = hmm.decode([[1]] * 100).plot()
    assert many.get_title() == "States of the first 40 of 100 sequences"
    dbn = pgm.DynamicBayesianNetwork()
    dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
    with pytest.raises(pgm.InvalidArgument, match="draw one of them"):
        dbn.filter([{"rain": [True]}, {"rain": [False]}]).plot()


def test_streams_and_reports_show_themselves():
    hmm, lds = pgm.HMM(START, MOVES, VISITS), pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8)
    for model in (hmm, lds):
        assert "0 steps" in model.stream()._repr_html_()
    frame = hmm.fit([1, 0, 7, 6, 1], starts=2, max_iter=3, seed=0).fit_report.to_pandas()
    assert frame.index.name == "iteration"
    assert frame.shape[1] == 2
    assert frame.max().max() == hmm.fit_report.log_likelihood
    assert lds.fit_report is None
    assert lds.n_parameters == 6  # A, C, Q, R, and the mean and variance of the start
    assert lds.fit([1.0, 0.5, -0.3, 1.2], max_iter=1).fit_report.n_parameters == 6


def test_rows_of_what_is_emitted_have_the_names_of_states():
    named = pgm.HMM(START, MOVES, BOTH, states=["calm", "busy"])
    assert "busy   6" in repr(named)
    assert "calm   0.9" in repr(named)
    assert "busy" in named._repr_html_().split("visits", 1)[1]
    numbers = pgm.HMM(START, MOVES, pgm.Gaussian([[0, 0], [1, 1]], covariance=np.stack([np.eye(2)] * 2)),
                      states=["calm", "busy"])  # fmt: skip
    assert "busy   1     1, 0" in repr(numbers)


# --- chains that are seen ---


def test_far_steps_of_a_chain_are_powers_of_its_transitions():
    rng = np.random.default_rng(0)
    for order, k in ((1, 3), (2, 2), (3, 2)):
        tables = [rng.dirichlet(np.ones(k), k**i).reshape((k,) * (i + 1)) for i in range(order + 1)]
        chain = pgm.MarkovChain(tables[0] if order == 1 else tables[:-1], tables[-1], order=order)
        for step in (0, 1, 2, 3, 5, 300):
            joint = tables[0]
            for t in range(1, step + 1):
                joint = joint[..., None] * tables[min(t, order)]
                joint = joint.sum(axis=0) if joint.ndim > order else joint
            want = joint.sum(axis=tuple(range(joint.ndim - 1)))
            assert chain.distribution(step) == pytest.approx(want, rel=1e-11)
        assert chain.distribution(10**18) == pytest.approx(chain.stationary(), rel=1e-9)


def test_chains_of_any_order_are_drawn_and_are_networks():
    chain = pgm.MarkovChain(order=2, n_states=3)
    assert chain.n_states == 3
    chain.fit([[0, 1, 2, 2, 1, 0, 0, 2]], prior=0.5)
    net = chain.to_network(4)
    for path in product(range(3), repeat=4):
        want = chain.probability(list(path))
        assert net.probability({f"state[{t}]": s for t, s in enumerate(path)}) == pytest.approx(want)
    drawn = chain.sample(3, sequences=20_000, seed=0)
    assert len(drawn) == 20_000
    counts = np.zeros((3, 3, 3))
    np.add.at(counts, tuple(np.array(drawn).T), 1)
    want = np.array([chain.probability(list(path)) for path in product(range(3), repeat=3)]).reshape(3, 3, 3)
    assert np.abs(counts / 20_000 - want).max() < 4 * np.sqrt(0.25 / 20_000)
    assert chain.sample(5, seed=3).tolist() == chain.sample(5, sequences=1, seed=3)[0].tolist()
    with pytest.raises(pgm.TooLarge, match="steps"):
        chain.sample(10**13)
    large = pgm.MarkovChain(order=2, n_states=200)
    large._tables = (np.empty(200), np.empty((200, 200)), np.empty((200, 200, 200)))
    with pytest.raises(pgm.TooLarge, match="order 1"):
        large.to_first_order()


# --- as networks ---


GAPS = [[[0.3, 1], [None, 0], [2.5, None]], [[1, 0], [None, 1], [1, None]], [0.4, None, 2.0]]
MIXED = pgm.Product([pgm.Gaussian([0.0, 3.0], sd=[1.0, 2.0]), pgm.Categorical([[0.9, 0.1], [0.3, 0.7]])])
NAMED = pgm.Product({"level": pgm.Gaussian([0.0, 3.0], sd=1.0), "on": pgm.Bernoulli([0.2, 0.7])})
COINS = pgm.Bernoulli([[0.2, 0.5], [0.7, 0.9]])
SHARES = [[0.5, 0.5], [0.3, 0.7]]
LUMPS = pgm.GaussianMixture(SHARES, mean=[[0.0, 1.0], [3.0, 4.0]], sd=[[1.0, 2.0], [1.0, 0.5]])
LUMPY = pgm.Product({"a": LUMPS, "b": LUMPS})
SHARED = pgm.GaussianMixture([[0.5, 0.5], [0.3, 0.7]], mean=[0.0, 3.0], sd=1.0, shared=True)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    ("emission", "data", "names"),
    [
        (MIXED, GAPS[0], ["observation[{t},0]", "observation[{t},1]"]),
        (NAMED, GAPS[0], ["level[{t}]", "on[{t}]"]),
        (LUMPY, [[0.1, None], [2.0, 3.0]], ["a[{t}]", "b[{t}]"]),
        (COINS, GAPS[1], ["observation[{t},0]", "observation[{t},1]"]),
        (LUMPS, GAPS[2], ["observation[{t}]"]),
        (SHARED, GAPS[2], ["observation[{t}]"]),
    ],
    ids=["product", "columns", "mixtures", "bernoulli", "mixture", "shared"],
)
def test_whatever_has_nodes_is_a_network(emission, data, names, tied):
    """The general engine gives the numbers of the special one, gaps included; of a variant too."""
    model: Any = pgm.HMM(START, MOVES, emission)
    if tied:
        model = pgm.SemiMarkovHMM(START, [[0, 1], [1, 0]], emission, durations=[[0.2, 0.8], [0.5, 0.5]])
    given = {}
    for t, row in enumerate(data):
        for name, value in zip(names, row if isinstance(row, list) else [row], strict=True):
            if value is not None:
                given[name.format(t=t)] = value
    net = model.to_network(len(data))
    assert net.log_probability(given) == pytest.approx(model.score(data), abs=1e-9)
    smoothed = model.smooth(data).values
    for t in range(len(data)):
        assert net.query(f"state[{t}]", given).values == pytest.approx(smoothed[t], abs=1e-9)
    if not tied:
        ahead, step = model.forecast(data, steps=1), len(data)
        further = model.to_network(step + 1)
        found = further.query(names[0].format(t=step), given)
        assert found.mean == pytest.approx(float(np.ravel(ahead.mean[0])[0]), abs=1e-9)


def test_counts_and_long_tails_are_nodes_with_densities():
    for emission in (pgm.Poisson([1.0, 4.0]), pgm.StudentT([0.0, 3.0], scale=[1.0, 2.0], df=[4.0, 5.0])):
        hmm = pgm.HMM(START, MOVES, emission)
        found = hmm.to_network(2).log_probability({"observation[0]": 1, "observation[1]": 3})
        assert found == pytest.approx(hmm.score([1, 3]))
