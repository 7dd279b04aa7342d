"""Numbers at the gates: as evidence, in rows, in interventions; engines for tables beside them."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import pgm
from pgm.frames import real_columns
from pgm.variables import REAL, Variable
from tests.gaussian_oracle import Plain, plains

near = lambda x: pytest.approx(x, rel=1e-7, abs=1e-8)  # noqa: E731
HALVES = [0.5, Fraction(1, 2), Decimal("0.5"), np.float32(0.5), np.array(0.5), np.array(Fraction(1, 2))]
NO_NUMBERS = ["tall", "1.5", True, np.True_, math.inf, Decimal("-Infinity"), 10**400, [1.0], 1j]


def line() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("s", 0.3)
    net.add("x", pgm.Gaussian(1.0, sd=1.0))
    net.add(
        "y", {s: pgm.LinearGaussian({"x": 2.0}, bias=float(s), sd=0.5) for s in (True, False)}, parents="s"
    )
    return net


# --- what is a number --------------------------------------------------------------------------------------


@pytest.mark.parametrize("half", HALVES, ids=repr)
def test_real_numbers_of_any_kind_are_numbers(half: Any) -> None:
    net = line()
    assert net.query("y", {"x": half}).mean == net.query("y", {"x": 0.5}).mean
    assert net.do({"x": half}).query("y").mean == net.do({"x": 0.5}).query("y").mean
    assert net.probability({"x": half}, given={"y": half}) == net.probability({"x": 0.5}, given={"y": 0.5})
    assert pgm.LinearGaussian({"x": half}, bias=half, sd=half) == pgm.LinearGaussian(
        {"x": 0.5}, bias=0.5, sd=0.5
    )
    assert net.log_likelihood({"x": [half]})[0] == net.log_likelihood({"x": [0.5]})[0]
    assert net.cpd("x").probability({"x": half}) == net.cpd("x").probability({"x": 0.5})
    assert pgm.Interval(half, 2) == pgm.Interval(0.5, 2)
    assert half in pgm.Interval(0, 1)


@pytest.mark.parametrize("wrong", NO_NUMBERS, ids=repr)
def test_all_else_is_none_and_is_told_so(wrong: Any) -> None:
    net = line()
    for ask in (
        lambda: net.query("y", {"x": wrong}),
        lambda: net.do({"x": wrong}),
        lambda: net.cpd("x").probability({"x": wrong}),
        lambda: net.log_likelihood({"x": [0.5, wrong]}),
    ):
        with pytest.raises(pgm.UnknownState, match="'x' is continuous: it takes a finite number, not"):
            ask()
    with pytest.raises(pgm.InvalidTable, match="weight of 'x'"):
        pgm.LinearGaussian({"x": wrong})


def test_what_people_take_for_numbers_gets_a_word_of_its_own() -> None:
    with pytest.raises(pgm.UnknownState, match="Text is not a number: leave the quotes out"):
        line().query("y", {"x": "1.5"})
    with pytest.raises(pgm.UnknownState, match="write 1 or 0 if a number is meant"):
        line().do({"x": True})
    with pytest.raises(pgm.InvalidEvidence, match=r"'x': magnitudes up to 1e\+100 are supported"):
        line().do({"x": 1e200})
    with pytest.raises(pgm.InvalidEvidence, match=r"magnitudes up to 1e\+100"):
        line().query("y", {"x": 10**200})


# --- rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [*NO_NUMBERS, 1e200, -(10**200)], ids=repr)
def test_bad_cells_of_numbers_leave_gaps_where_that_is_wanted(wrong: Any) -> None:
    """As for columns of states: a gap for that row, and the others as if it were not there."""
    net = line()
    frame = {"x": [0.5, wrong, None, math.nan], "y": [1.0, 1.0, 1.0, 1.0]}
    good = {"x": [0.5, None, None], "y": [1.0, 1.0, 1.0]}
    with pytest.raises(pgm.PGMError, match="Row 1"):
        net.log_likelihood(frame)
    logs, truth = net.log_likelihood(frame, bad_rows="missing"), net.log_likelihood(good)
    assert np.isnan(logs).tolist() == [False, True, False, False]
    assert logs[[0, 2, 3]].tolist() == truth.tolist()
    assert net.score(frame, bad_rows="missing") == pytest.approx(truth.sum(), rel=1e-14)
    shares = net.predict_proba(frame, "s", bad_rows="missing")
    assert np.isnan(shares[1]).all()
    assert shares[[0, 2, 3]].tolist() == net.predict_proba(good, "s").tolist()
    filled = net.predict(frame, bad_rows="missing")
    assert np.isnan(filled["x"]).tolist() == np.isnan(filled["y"]).tolist() == [False, True, False, False]
    assert filled["s"][1] is None


def test_frames_of_numbers_of_every_kind() -> None:
    data = {"x": [1.5, math.inf, 3.0], "n": [1, None, 3]}
    wanted = {name: Variable(name, REAL) for name in ("x", "n")}
    for frame in (
        data,
        pd.DataFrame(data),
        pd.DataFrame({"x": data["x"], "n": pd.array(data["n"], dtype="Int64")}),
        pl.DataFrame(data),
        [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)],
    ):
        found = real_columns(frame, wanted, bad="missing")
        assert found.n_rows == 3
        assert found.bad.tolist() == [False, True, False]
        assert np.array_equal(found.values["x"], [1.5, math.nan, 3.0], equal_nan=True)
        assert np.array_equal(found.values["n"], [1.0, math.nan, 3.0], equal_nan=True)
        with pytest.raises(pgm.UnknownState, match=r"Row 1 .*'x' is continuous.*not inf"):
            real_columns(frame, wanted)


def test_one_row_is_not_row_0() -> None:
    with pytest.raises(pgm.UnknownState) as caught:
        line().cpd("y").probability({"s": True, "x": "tall", "y": 1.0})
    assert "Row 0" not in str(caught.value)
    assert "such rows" not in str(caught.value)
    assert str(caught.value).startswith("'x' is continuous")


# --- what is done ------------------------------------------------------------------------------------------


def test_what_was_done_is_certain() -> None:
    """Pearl's truncated product: the probability of a case leaves out the factor of what was done."""
    net = line()
    done = net.do({"x": 2.0})
    assert done.probability({"x": 2.0}) == 1.0
    assert done.probability({"x": 2.5}) == 0.0
    assert done.probability({"x": pgm.Interval(1.5, 2.5)}) == 1.0
    assert done.cpd("x").probability({"x": 2.0}) == 1.0
    assert done.cpd("x").probability({"x": 2.5}) == 0.0
    case = {"s": True, "x": 2.0, "y": 5.5}
    rest = net.cpd("s").probability({"s": True}) * net.cpd("y").probability(case)
    assert done.probability(case) == near(rest)
    assert done.log_likelihood([case])[0] == near(math.log(rest))
    assert done.query("y", {"x": 2.0}) == done.query("y")
    with pytest.raises(pgm.ImpossibleEvidence, match=r"x = 2\.5 has probability zero"):
        done.query("y", {"x": 2.5})
    assert done.query("y", {"s": True}).mean == near(5.0)


# --- engines for tables ------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(plains(most_discrete=3, most_continuous=3), st.data())
def test_engines_for_tables_answer_for_states_beside_numbers(
    model: tuple[Plain, np.random.Generator], data: st.DataObject
) -> None:
    """The numbers are eliminated exactly, whatever engine adds up what they leave."""
    plain, rng = model
    case = plain.draw(rng)
    known = {name: case[name] for name in case if data.draw(st.integers(0, 2), label=name) == 0}
    truth = plain.answer(known)
    left = [name for name in plain.discrete if name not in known]
    assume(truth is not None and left)
    assert truth is not None
    net = plain.network()
    states = {name: [truth.state(name, c) for c in range(plain.cards[name])] for name in left}
    for engine in ("elimination", "search", "conditioned"):
        assert net.log_probability(known, engine=engine) == near(truth.log_density)
        for name in left:
            assert net.query(name, known, engine=engine).values == near(states[name])
        for name in truth.names:
            p = net.query(name, known, engine=engine)
            assert (p.mean, p.variance) == near((truth.mean(name), truth.variance(name)))
            assert p.report.engine == engine
    low, high = net.probability(known, engine="bounds").report.log_bounds or (-math.inf, math.inf)
    assert low - 1e-7 <= truth.log_density <= high + 1e-7
    assert net.log_probability(known, engine="mean-field") <= truth.log_density + 1e-7
    for name in left:
        p = net.query(name, known, engine="bounds")
        ends = p.report.intervals
        assert (ends.low - 1e-7 <= states[name]).all()
        assert (ends.high + 1e-7 >= states[name]).all()
        p = net.query(name, known, engine="loopy")
        if p.exact:
            assert p.values == near(states[name])


@pytest.mark.parametrize("engine", ["loopy", "mean-field", "bounds"])
def test_numbers_that_do_not_matter_are_no_hindrance(engine: str) -> None:
    net, bare = line(), pgm.BayesianNetwork()
    bare.add("s", 0.3)
    for made in (net, bare):
        made.add("t", {True: 0.9, False: 0.2}, parents=["s"])
    for ask in (
        lambda n: n.query("s", {"t": True}, engine=engine).values.tolist(),
        lambda n: n.marginals({"t": True}, targets=["s"], engine=engine)["s"].values.tolist(),
        lambda n: float(n.probability({"t": True}, engine=engine)),
    ):
        assert ask(net) == near(ask(bare))


@pytest.mark.parametrize("engine", ["loopy", "mean-field", "bounds"])
def test_questions_about_numbers_are_refused_by_name(engine: str) -> None:
    net = line()
    # Belief propagation takes numbers, but no mixtures of them: tests/inference/test_gaussian_messages.py.
    error, what = pgm.InvalidArgument, "'y' is continuous; ask for other variables"
    if engine == "loopy":
        error, what = pgm.InvalidEvidence, "depend on 's', so their distributions are mixtures"
    with pytest.raises(error, match=what):
        net.query("y", {"x": 1.0}, engine=engine)
    with pytest.raises(pgm.InvalidArgument, match="'x', 'y' are continuous"):
        net.marginals(engine=engine)
    if engine != "mean-field":
        with pytest.raises(pgm.InvalidArgument, match="'x', 'y' are continuous"):
            net.map(engine=engine)
    double = line()
    double.add("z", pgm.LinearGaussian({"x": 1.0}, sd=0.0))
    assert double.query("s", {"x": 1.0, "z": 1.0, "y": 2.0}, engine=engine).values.sum() == near(1.0)
    with pytest.raises(pgm.InvalidEvidence, match="no density"):
        double.probability({"x": 1.0, "z": 1.0}, engine=engine)


def test_what_does_not_fit_says_how_much_in_bytes() -> None:
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, 1.0))
    for i in range(120):
        net.add(f"b{i}", 0.5)
        rows = {s: pgm.LinearGaussian({"x": 1.0}, sd=1.0 + s) for s in (True, False)}
        net.add(f"y{i}", rows, parents=[f"b{i}"])
    with pytest.raises(pgm.TooLarge) as caught:
        net.query("x", {f"y{i}": 0.1 for i in range(120)})
    assert "inf" not in str(caught.value).split(":")[0]
    assert "e+" in str(caught.value).split(":")[0]


# --- the most probable numbers, some without noise ---------------------------------------------------------


def on_the_plane(mean: np.ndarray, cov: np.ndarray, c: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Where N(mean, cov) is highest on C x = y, and its log there by the plane's own measure, with P(y)."""
    if not len(c):
        return mean, -0.5 * float(np.linalg.slogdet(2 * math.pi * cov)[1])
    plane = np.linalg.svd(c)[2][len(c) :].T  # orthonormal: lengths on the plane are lengths
    foot = np.linalg.lstsq(c, y, rcond=None)[0]
    precision = np.linalg.inv(cov)
    z = np.linalg.solve(plane.T @ precision @ plane, plane.T @ precision @ (mean - foot))
    x = foot + plane @ z
    log = -0.5 * float((x - mean) @ precision @ (x - mean)) - 0.5 * float(
        np.linalg.slogdet(2 * math.pi * cov)[1]
    )
    return x, log - 0.5 * float(np.linalg.slogdet(c @ c.T)[1])


@settings(max_examples=80)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2))
def test_the_highest_point_where_some_numbers_follow_from_others(
    seed: int, n: int, n_followers: int, n_seen: int
) -> None:
    """Sums without noise of noisy numbers, some observed, in two states of different means and shares."""
    rng = np.random.default_rng(seed)
    n_seen = min(n_seen, n_followers, n)
    net = pgm.BayesianNetwork()
    share, bias, sd = 0.2 + 0.6 * rng.random(), rng.normal(size=(2, n)), 0.3 + rng.random((2, n))
    net.add("s", float(share))
    for i in range(n):
        rows = {bool(k): pgm.Gaussian(bias[k, i], sd[k, i]) for k in (0, 1)}
        net.add(f"x{i}", rows, parents=["s"])
    sums, shift = rng.normal(size=(n_followers, n)), rng.normal(size=n_followers)
    for j in range(n_followers):
        weights = {f"x{i}": float(sums[j, i]) for i in range(n)}
        if j:  # and of the one before
            weights[f"y{j - 1}"] = 0.5
        net.add(f"y{j}", pgm.LinearGaussian(weights, bias=float(shift[j]), sd=0.0))
        if j:
            sums[j] += 0.5 * sums[j - 1]
            shift[j] += 0.5 * shift[j - 1]
    c, y = sums[:n_seen], rng.normal(size=n_seen)
    known = {f"y{j}": float(y[j]) for j in range(n_seen)}
    peaks = [on_the_plane(bias[k], np.diag(sd[k] ** 2), c, y - shift[:n_seen]) for k in (0, 1)]
    logs = np.array([math.log(p) + peak[1] for p, peak in zip((1 - share, share), peaks, strict=True)])
    assume(abs(logs[0] - logs[1]) > 1e-6 and (n_seen == 0 or np.linalg.cond(c) < 1e3))
    best = net.map(known)
    k = int(logs.argmax())
    assert best["s"] is bool(k)
    assert [best[f"x{i}"] for i in range(n)] == pytest.approx(peaks[k][0], rel=1e-6, abs=1e-6)
    for j in range(n_seen, n_followers):
        assert best[f"y{j}"] == pytest.approx(float(sums[j] @ peaks[k][0] + shift[j]), rel=1e-6, abs=1e-6)
    assert best.log_joint == pytest.approx(logs[k], rel=1e-6, abs=1e-6)
    if n == n_seen:  # nothing but the state is free
        assert best.probability == pytest.approx(float(np.exp(logs[k] - np.logaddexp(*logs))), rel=1e-6)


def test_the_highest_point_of_what_was_done() -> None:
    best = line().do({"x": 2.0}).map()
    assert dict(best) == {"s": False, "x": 2.0, "y": 4.0}
    assert best.log_joint == near(math.log(0.7) - math.log(0.5) - 0.5 * math.log(2 * math.pi))
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(1.0, 2.0))
    net.add("y", pgm.LinearGaussian({"x": 3.0}, bias=1.0, sd=0.0))
    assert dict(net.map(targets=["x", "y"])) == {"x": 1.0, "y": 4.0}
    flat = stats.multivariate_normal([1.0, 4.0], [[4.0, 12.0], [12.0, 36.0]], allow_singular=True)
    assert net.map(targets=["y", "x"]).log_joint == near(float(flat.logpdf([1.0, 4.0])))


def test_planes_that_states_choose_cannot_be_compared() -> None:
    net = pgm.BayesianNetwork()
    net.add("s", 0.3)
    net.add("x", pgm.Gaussian(1.0, 2.0))
    net.add("y", {True: pgm.LinearGaussian({"x": 3.0}, sd=0.0), False: pgm.Gaussian(0.0, 1.0)}, parents=["s"])
    with pytest.raises(
        pgm.InvalidArgument, match=r"'y' follows from its parents without noise .* some states"
    ):
        net.map()
    best = net.map({"s": True})
    assert dict(best) == {"x": 1.0, "y": 3.0}
    assert best.log_probability == near(-0.5 * math.log(2 * math.pi * 4.0))


# --- compiled questions ------------------------------------------------------------------------------------


def test_compiled_questions_with_numbers() -> None:
    net = line()
    states, number = net.compile("s", given=["x", "y"]), net.compile("y", given="x")
    for known in ({"x": 1.0, "y": 2.5}, {"x": 0.0}, {}):
        assert states(known) == net.query("s", known)
        assert pickle.loads(pickle.dumps(states))(known) == net.query("s", known)
    assert number({"x": 1.0}) == net.query("y", {"x": 1.0})
    before = net.query("y", {"x": 1.0})
    net.set("x", pgm.Gaussian(5.0, 1.0))
    net.set("s", 0.9)
    assert number({"x": 1.0}) == before  # the tables are those of then
    with pytest.raises(pgm.InvalidEvidence, match="'y' is not among the names"):
        number({"y": 1.0})
