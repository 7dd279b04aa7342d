"""States that follow numbers: against adaptive integrals of scipy's, plain grids, and seeded samples."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from scipy.special import expit

import pgm
from pgm.inference.engines.gaussian import quadrature
from tests import strategies  # noqa: F401  (the profile of hypothesis)

near = lambda x: pytest.approx(x, rel=1e-8, abs=1e-9)  # noqa: E731
Q = "quadrature"


def moments(
    weigh: Callable[[float], float], lo: float = -40.0, hi: float = 40.0
) -> tuple[float, float, float]:
    """Total, mean and variance of an unnormalised density of one number."""
    points = np.linspace(lo, hi, 81)

    def integral(f: Callable[[float], float]) -> float:
        pieces = itertools.pairwise(points)
        return math.fsum(integrate.quad(f, a, b, epsabs=1e-15, epsrel=1e-12)[0] for a, b in pieces)

    total = integral(weigh)
    mean = integral(lambda x: x * weigh(x)) / total
    return total, mean, integral(lambda x: (x - mean) ** 2 * weigh(x)) / total


# --- one number --------------------------------------------------------------------------------------------


def voter(weight: float = 2.0, sd: float = 1.5) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("s", 0.3)
    net.add("x", {True: pgm.Gaussian(2.0, sd), False: pgm.Gaussian(-0.5, 1.0)}, parents=["s"])
    net.add("y", pgm.LinearGaussian({"x": 1.0}, bias=0.5, sd=0.7))
    net.add("d", pgm.Logistic({"x": weight, "s": 1.0}, bias=-0.5))
    net.add("e", {True: 0.9, False: 0.2}, parents=["d"])
    return net


def weigh(s: bool, x: float, weight: float = 2.0, sd: float = 1.5) -> float:
    prior = 0.3 * stats.norm.pdf(x, 2.0, sd) if s else 0.7 * stats.norm.pdf(x, -0.5, 1.0)
    return float(prior)


@pytest.mark.parametrize("known", [{}, {"y": 1.0}, {"e": True}, {"e": False, "y": -2.0}])
def test_one_number_against_adaptive_integrals(known: dict[str, Any]) -> None:
    def likelihood(s: bool, x: float, d: bool) -> float:
        p = float(expit(2.0 * x + s - 0.5))
        found = weigh(s, x) * (p if d else 1.0 - p)
        if "y" in known:
            found *= float(stats.norm.pdf(known["y"], x + 0.5, 0.7))
        if "e" in known:
            p = 0.9 if d else 0.2
            found *= p if known["e"] else 1.0 - p
        return found

    each = {
        (s, d): moments(lambda x, s=s, d=d: likelihood(s, x, d)) for s in (False, True) for d in (False, True)
    }
    total = sum(t for t, _, _ in each.values())
    mean = sum(t * m for t, m, _ in each.values()) / total
    variance = sum(t * (v + (m - mean) ** 2) for t, m, v in each.values()) / total
    net = voter()
    assert net.log_probability(known, engine=Q) == near(math.log(total))
    d = net.query("d", known, engine=Q)
    assert d[True] == near((each[True, True][0] + each[False, True][0]) / total)
    assert net.query(["d", "s"], known, engine=Q)[True, False] == near(each[False, True][0] / total)
    x = net.query("x", known, engine=Q)
    assert (x.mean, x.variance) == near((mean, variance))
    everything = net.marginals(known, engine=Q)
    assert everything["s"][True] == near((each[True, True][0] + each[True, False][0]) / total)
    assert (everything["x"].mean, everything["x"].variance) == near((mean, variance))
    if "y" not in known:
        assert everything["y"].mean == near(mean + 0.5)
        assert everything["y"].variance == near(variance + 0.49)
    # the density at a number: all that is hidden is the states
    at = sum(likelihood(s, 0.7, d) for s in (False, True) for d in (False, True)) / total
    assert net.probability({"x": 0.7}, given=known, engine=Q) == near(at)
    assert x.exact == ("e" not in known)  # what nobody asks for and nobody saw tells nothing
    for p in (d, everything, everything["x"], everything["s"], *([] if x.exact else [x])):
        assert not p.report.exact
        assert p.report.points > 20
        assert 0.0 < p.report.error < 1e-9  # no sum is surer than rounding
        assert "points" in repr(p)


@settings(max_examples=30)
@given(
    st.floats(-3, 3),
    st.floats(0.05, 20),
    st.floats(-30, 30),
    st.floats(-5, 5),
    st.booleans(),
    st.integers(1, 3),
)
def test_any_weight_and_width(mean: float, sd: float, weight: float, bias: float, d: bool, n: int) -> None:
    """Steep or flat, narrow or wide, seen several times: against Gauss-Legendre on pieces."""
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(mean, sd))
    for i in range(n):
        net.add(f"d{i}", pgm.Logistic({"x": weight}, bias=bias))
    known = {f"d{i}": d for i in range(n)}
    assume(weight == 0.0 or abs(weight) > 1e-290)  # the test divides by it
    nodes, shares = np.polynomial.legendre.leggauss(30)
    edges = np.unique(
        np.concatenate(
            [
                mean + sd * np.linspace(-12, 12, 400),
                np.clip(
                    (-bias + np.linspace(-40, 40, 800)) / (weight or 1.0), mean - 12 * sd, mean + 12 * sd
                ),
            ]
        )
    )
    half = np.diff(edges)[:, None] / 2
    x = edges[:-1, None] + half * (nodes + 1)
    f = stats.norm.pdf(x, mean, sd) * expit((weight * x + bias) * (1 if d else -1)) ** n * shares * half
    total = f.sum()
    centre = (f * x).sum() / total
    if total < 1e-200:
        return
    p = net.query("x", known, engine=Q)
    assert net.log_probability(known, engine=Q) == pytest.approx(math.log(total), rel=1e-9, abs=1e-9)
    assert (p.mean - centre) / sd == pytest.approx(0.0, abs=1e-8)
    assert p.variance / sd**2 == pytest.approx((f * (x - centre) ** 2).sum() / total / sd**2, abs=1e-8)
    assert p.report.error < 1e-6 * sd


def test_coarse_grids_say_how_coarse_they_are() -> None:
    """The measured error is of the size of the true one, at every number of points."""
    truth = moments(lambda x: float(stats.norm.pdf(x) * expit(4.0 * x - 1.0)))[0]
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.0, 1.0))
    net.add("d", pgm.Logistic({"x": 4.0}, bias=-1.0))
    errors = []
    for points in (4, 8, 12, 16, 24, 36, 48):
        p = net.query("d", engine=pgm.engines.Quadrature(points=points))
        assert p.report.points == points
        true = abs(p[True] - truth)
        assert true <= p.report.error + 1e-15
        assert p.report.error <= 4.0 * true + 1e-15
        errors.append(true)
    assert errors[-1] < 1e-4 * errors[0]


def test_known_limits() -> None:
    flat, steep = voter(weight=0.0), voter(weight=1e4)
    exact = flat.query("d")  # no weight, no dependence: a table
    assert exact.exact
    assert exact[True] == near(0.3 * expit(0.5) + 0.7 * expit(-0.5))
    # a threshold: the normal integral
    above = 0.3 * stats.norm.sf(-0.5e-4, 2.0, 1.5) + 0.7 * stats.norm.sf(0.5e-4, -0.5, 1.0)
    with pgm.config(memory_limit="2 GB"):
        p = steep.query("d", engine=Q)
    assert p[True] == pytest.approx(above, abs=1e-7)


# --- several -----------------------------------------------------------------------------------------------


def test_a_questionnaire_needs_one_grid() -> None:
    """Twenty answers of one ability (Rasch 1960): one integral, not one in twenty dimensions."""
    rng = np.random.default_rng(0)
    easy, sharp = rng.normal(size=20), 0.5 + rng.random(20)
    net = pgm.BayesianNetwork()
    net.add("ability", pgm.Gaussian(0.0, 1.0))
    for i in range(20):
        net.add(f"q{i}", pgm.Logistic({"ability": float(sharp[i])}, bias=float(easy[i])))
    right = {f"q{i}": bool(rng.random() < 0.6) for i in range(19)}
    sign = np.array([1 if right[f"q{i}"] else -1 for i in range(19)])
    prior = lambda x: float(stats.norm.pdf(x) * np.prod(expit(sign * (sharp[:19] * x + easy[:19]))))  # noqa: E731
    total, mean, variance = moments(prior, -10, 10)
    p = net.query("ability", right, engine=Q)
    assert (p.mean, p.variance) == near((mean, variance))
    last = moments(lambda x: prior(x) * float(expit(sharp[19] * x + easy[19])), -10, 10)[0]
    assert net.query("q19", right, engine=Q)[True] == near(last / total)
    assert net.probability(right, engine=Q) == near(total)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.booleans())
def test_softmax_of_two_numbers_against_a_grid_in_two_dimensions(seed: int, card: int, chained: bool) -> None:
    """Correlated numbers, a softmax, a measurement, and a child whose line the state selects."""
    rng = np.random.default_rng(seed)
    states = list(range(card))
    w, bias = rng.normal(size=(2, card)) * 1.5, rng.normal(size=card)
    a, sd, shift = rng.normal(), 0.3 + rng.random(3), rng.normal(size=card)
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(0.3, float(sd[0])))
    net.add("y", pgm.LinearGaussian({"x": a}, sd=float(sd[1])))
    net.add("c", pgm.Logistic({"x": w[0].tolist(), "y": w[1].tolist()}, bias=bias.tolist()), states=states)
    rows = {k: pgm.LinearGaussian({"y": 0.5}, bias=float(shift[k]), sd=float(sd[2])) for k in states}
    net.add("z", rows, parents=["c"])
    net.add("b", pgm.Logistic({"z" if chained else "y": 1.2}, bias=0.1))
    known = {"z": 0.4, "b": True} if not chained else {"b": True, "z": -0.2}
    g = np.linspace(-9, 9, 361)
    x = 0.3 + sd[0] * g[:, None]
    y = a * x + sd[1] * g[None, :]
    f = stats.norm.pdf(g)[:, None] * stats.norm.pdf(g)[None, :] * (g[1] - g[0]) ** 2
    scores = x[..., None] * w[0] + y[..., None] * w[1] + bias
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    joint = f[..., None] * p * stats.norm.pdf(known["z"], 0.5 * y[..., None] + shift, sd[2])
    joint = joint * (expit(1.2 * known["z"] + 0.1) if chained else expit(1.2 * y + 0.1)[..., None])
    total = joint.sum()
    assert net.probability(known, engine=Q) == near(total)
    assert net.query("c", known, engine=Q).values == near(joint.sum(axis=(0, 1)) / total)
    found = net.query(["x", "y"], known, engine=Q)
    both = [(joint * v[..., None]).sum() / total for v in (np.broadcast_to(x, y.shape), y)]
    assert found.mean == near(both)
    xy = (joint * ((x - both[0]) * (y - both[1]))[..., None]).sum() / total
    assert found.covariance[0, 1] == near(xy)
    assert found.report.error < 1e-8


def test_numbers_apart_have_grids_apart() -> None:
    """Ten pairs that do not touch take ten small grids, and give what each gives alone."""
    net, one = pgm.BayesianNetwork(), pgm.BayesianNetwork()
    for made, count in ((net, 10), (one, 1)):
        for i in range(count):
            made.add(f"x{i}", pgm.Gaussian(1.0, 1.0))
            made.add(f"d{i}", pgm.Logistic({f"x{i}": 1.5}))
        made.add("all", pgm.AtLeast(1, [f"d{i}" for i in range(count)]))
    p = one.query("d0", engine=Q)[True]
    assert net.query("all", engine=Q)[True] == near(1.0 - (1.0 - p) ** 10)
    known = {f"d{i}": True for i in range(10)}
    assert net.log_probability(known, engine=Q) == near(10 * math.log(p))
    assert net.query("x3", known, engine=Q).mean == near(one.query("x0", {"d0": True}, engine=Q).mean)


def test_too_many_dimensions_say_so_and_which_option_helps() -> None:
    net = pgm.BayesianNetwork()
    for i in range(8):
        net.add(f"x{i}", pgm.Gaussian(0.0, 1.0))
        net.add(f"d{i}", pgm.Logistic({f"x{i}": 1.0}))
    net.add("sum", pgm.LinearGaussian({f"x{i}": 1.0 for i in range(8)}, sd=0.3))
    known = {f"d{i}": True for i in range(8)} | {"sum": 1.0}
    with pytest.raises(pgm.TooLarge, match=r"pgm\.engines\.Quadrature\(points=\.\.\.\) takes coarser"):
        net.query("x0", known, engine=Q)
    # three at once fit, and a coarser grid for more
    few = {name: value for name, value in known.items() if name in ("d0", "d1", "sum")}
    fine = net.query("x0", few, engine=Q)
    coarse = net.query("x0", few, engine=pgm.engines.Quadrature(points=12))
    assert abs(fine.mean - coarse.mean) <= coarse.report.error < 0.1


# --- what is exact, what is refused ------------------------------------------------------------------------


def test_exact_where_the_numbers_are_known_or_do_not_matter() -> None:
    net = voter()
    for engine in ("auto", Q, "loopy"):
        p = net.query("d", {"x": 0.3, "s": True}, engine=engine)
        assert p.exact
        assert p[True] == near(expit(2 * 0.3 + 1.0 - 0.5))
        assert net.query("s", {"y": 1.0}, engine="auto").exact
    assert net.query("x", {"y": 1.0}).form == "mixture"
    assert net.do({"x": 0.3}).query("d", {"s": True})[True] == near(expit(1.1))
    double = pgm.BayesianNetwork()
    double.add("x", pgm.Gaussian(0.0, 1.0))
    double.add("y", pgm.LinearGaussian({"x": 2.0}, bias=1.0, sd=0.0))
    double.add("d", pgm.Logistic({"y": 1.0}))
    assert double.query("d", {"x": 0.5})[True] == near(expit(2.0))
    frame = {"x": [0.1, -0.4, 2.0], "s": [True, False, True]}
    assert net.predict_proba(frame, "d")[:, 1] == near(expit(2 * np.array(frame["x"]) + frame["s"] - 0.5))
    best = net.map({"x": 1.0})
    assert best["d"] is True
    assert net.compile("d", ["x", "s"])({"x": 0.3, "s": True})[True] == near(expit(1.1))


@pytest.mark.parametrize(
    "engine", ["auto", "exact", "elimination", "search", "loopy", "mean-field", "bounds"]
)
def test_nothing_approximates_it_silently(engine: str) -> None:
    net = voter()
    for ask in (
        lambda: net.query("d", engine=engine),
        lambda: net.query("s", {"d": True}, engine=engine),
        lambda: net.probability({"e": True}, engine=engine),
        lambda: net.marginals(engine=engine),
    ):
        with pytest.raises(
            pgm.InvalidArgument, match=r"'d' depends on 'x', not observed.*engine=\"quadrature\""
        ):
            ask()
    with pytest.raises(pgm.InvalidArgument, match="Row 0: 'd' depends on 'x', not observed"):
        net.predict({"y": [1.0]}, "d")


def test_what_it_does_not_take_is_refused_by_name() -> None:
    net = voter()
    with pytest.raises(pgm.InvalidArgument, match=r"takes no pgm\.Interval, given here for 'x'"):
        net.query("d", {"x": pgm.Interval(0, 1)}, engine=Q)
    with pytest.raises(pgm.InvalidArgument, match="does not answer `map`"):
        net.map(engine=Q)
    with pytest.raises(pgm.InvalidArgument, match="points is a whole number of at least 2"):
        pgm.engines.Quadrature(points=1)
    with pytest.raises(pgm.InvalidArgument, match="mean and variance of 'x' are known here, from a grid"):
        net.query("x", {"d": True}, engine=Q).pdf(1.0)
    still = pgm.BayesianNetwork()
    still.add("s", 0.5)
    still.add("x", {True: pgm.Gaussian(0.0, 1.0), False: pgm.Gaussian(1.0, 0.0)}, parents=["s"])
    still.add("d", pgm.Logistic({"x": 1.0}))
    with pytest.raises(pgm.InvalidArgument, match="without noise"):
        still.query("d", engine=Q)
    with pytest.raises(pgm.InvalidTable, match="no table"):
        net.cpd("d").table()
    with pytest.raises(pgm.InvalidTable, match="'x' is continuous and has no states to weigh"):
        net.add("f", pgm.Logistic({"x": {True: 1.0}}))


def test_evidence_of_every_other_kind() -> None:
    net = voter()
    yes, no = (net.probability({"d": d}, engine=Q) for d in (True, False))
    x = {d: net.query("x", {"d": d}, engine=Q).mean for d in (True, False)}
    like = net.query("x", {"d": pgm.Likelihood({True: 0.8, False: 0.1})}, engine=Q)
    assert like.mean == near((0.8 * yes * x[True] + 0.1 * no * x[False]) / (0.8 * yes + 0.1 * no))
    soft = net.query("x", {"d": pgm.Soft({True: 0.25, False: 0.75})}, engine=Q)
    assert soft.mean == near(0.25 * x[True] + 0.75 * x[False])
    either = net.query("x", {"d": pgm.OneOf(True, False)}, engine=Q)
    assert either.mean == near(yes * x[True] + no * x[False])
    assert net.query("x", {"d": pgm.Not(True)}, engine=Q).mean == near(x[False])


# --- samples, learning, values -----------------------------------------------------------------------------


def test_samples_follow_the_numbers() -> None:
    net, n = voter(), 40_000
    drawn = net.sample(n, seed=1)
    for name in ("d", "e"):
        p = net.query(name, engine=Q)[True]
        assert abs(drawn[name].mean() - p) < 5.2 * math.sqrt(p * (1 - p) / n)
    chosen = drawn["x"][drawn["d"]]
    truth = net.query("x", {"d": True}, engine=Q)
    assert abs(chosen.mean() - truth.mean) < 5.2 * truth.std / math.sqrt(chosen.size)
    assert net.sample(50, seed=1) == net.sample(50, seed=1)
    given_x = net.sample(n, given={"x": 0.3, "s": True}, seed=2)
    p = float(expit(1.1))
    assert abs(given_x["d"].mean() - p) < 5.2 * math.sqrt(p * (1 - p) / n)
    with pytest.raises(pgm.InvalidArgument, match="not observed"):
        net.sample(5, given={"e": True})


def test_its_weights_are_learned_from_rows() -> None:
    """The gradient of the likelihood vanishes there, whatever the units."""
    rng = np.random.default_rng(3)
    n = 2_000
    x, s = 1990 + 10 * rng.normal(size=n), rng.random(n) < 0.4
    d = rng.random(n) < expit(0.3 * (x - 1990) + 1.0 * s - 0.5)
    w = rng.random(n) + 0.5
    net = voter()
    fitted = net.cpd("d").fit({"x": x, "s": s, "d": d}, weights=w)
    off = w * (d - fitted.rows(np.column_stack([x, s]))[:, 1])
    assert abs(off.sum()) < 1e-6
    assert abs((off * (x - 1990)).sum()) < 1e-5
    assert abs((off * s).sum()) < 1e-6
    assert fitted.weights["x"] == pytest.approx(0.3, abs=0.05)
    with pytest.warns(pgm.ConvergenceWarning, match="perfectly"):
        net.cpd("d").fit({"x": [-1.0, -2.0, 1.0, 2.0], "s": [0, 1, 0, 1], "d": [0, 0, 1, 1]})
    with pytest.raises(pgm.InvalidFrame, match="every row needs a value of 'x'"):
        net.cpd("d").fit({"x": [None, 1.0], "s": [0, 1], "d": [0, 1]})


def test_networks_with_it_are_values() -> None:
    net = voter()
    again = pickle.loads(pickle.dumps(net))
    assert again == net
    assert again.query("d", engine=Q) == net.query("d", engine=Q)
    other = net.rename({"x": "height", "d": "tall"})
    assert other.query("tall", engine=Q).values == near(net.query("d", engine=Q).values)
    assert net.cpd("d").probability({"x": 1.0, "s": False, "d": True}) == near(expit(1.5))
    drawn = net.cpd("d").sample({"x": 1.0, "s": False}, n=20_000, seed=0)
    assert abs(drawn.mean() - expit(1.5)) < 5.2 * math.sqrt(0.25 / 20_000)
    assert repr(net.cpd("d")) == "P(d | x, s)\nweight of  True\n(bias)     -0.5\nx          2\ns          1"
    p = net.marginals({"d": True}, engine=Q)
    assert pickle.loads(pickle.dumps(p))["x"] == p["x"]
    plan = net.plan("x", {"d": True}, engine=Q)
    assert (plan.engine, plan.exact, plan.fits) == ("quadrature", False, True)


def test_every_state_of_a_small_network_by_hand() -> None:
    """Two numbers, two states each with its own number and a common discrete parent: sums of products."""
    net = pgm.BayesianNetwork()
    net.add("s", {"a": 0.2, "b": 0.5, "c": 0.3})
    for i in range(2):
        rows = {s: pgm.Gaussian(k - 1.0 + i, 0.5 + 0.4 * k) for k, s in enumerate("abc")}
        net.add(f"x{i}", rows, parents=["s"])
        net.add(f"d{i}", pgm.Logistic({f"x{i}": 1.0 + i, "s": {"b": 0.7}}))
    each = {}
    for (k, s), i in itertools.product(enumerate("abc"), range(2)):
        f = lambda x, k=k, s=s, i=i: float(  # noqa: E731
            stats.norm.pdf(x, k - 1.0 + i, 0.5 + 0.4 * k) * expit((1.0 + i) * x + 0.7 * (s == "b"))
        )
        each[s, i] = moments(f)[0]
    share = {"a": 0.2, "b": 0.5, "c": 0.3}
    joint = {s: share[s] * each[s, 0] * each[s, 1] for s in "abc"}
    assert net.probability({"d0": True, "d1": True}, engine=Q) == near(sum(joint.values()))
    p = net.query("s", {"d0": True, "d1": True}, engine=Q)
    assert p.values == near([joint[s] / sum(joint.values()) for s in "abc"])


def test_hundreds_of_answers() -> None:
    """Of one ability they take one grid about the peak; each of a number of its own they are refused."""
    rng = np.random.default_rng(1)
    easy = rng.normal(size=400)
    net, chain = pgm.BayesianNetwork(), pgm.BayesianNetwork()
    net.add("ability", pgm.Gaussian(0.0, 1.0))
    for i in range(400):
        net.add(f"q{i}", pgm.Logistic({"ability": 1.0}, bias=float(easy[i])))
        chain.add(f"x{i}", pgm.LinearGaussian({f"x{i - 1}": 0.9} if i else {}))
        chain.add(f"q{i}", pgm.Logistic({f"x{i}": 1.0}))
    right = {f"q{i}": bool(rng.random() < 0.9) for i in range(400)}
    x = np.linspace(-6, 6, 20_001)
    log = stats.norm.logpdf(x)
    for i in range(400):
        log = log - np.logaddexp(0.0, -(x + easy[i]) if right[f"q{i}"] else x + easy[i])
    f = np.exp(log - log.max())
    mean = float(f @ x / f.sum())
    p = net.query("ability", right, engine=Q)
    assert (p.mean, p.variance) == near((mean, float(f @ (x - mean) ** 2 / f.sum())))
    assert p.report.points < 500
    truth = log.max() + math.log(f.sum() * (x[1] - x[0]))
    assert net.log_probability(right, engine=Q) == pytest.approx(truth, rel=1e-10)
    with pytest.raises(pgm.TooLarge, match="400 connected sums of hidden variables"):
        chain.query("x7", right, engine=Q)


def test_the_peak_of_a_wide_normal_beside_what_was_seen() -> None:
    """One number, sd 10, and a state of logit x that was seen: the root of the slope, by scipy."""
    logit = (np.zeros((1, 2)), np.array([[0.0, 1.0]]), 1)
    peaks, slope = quadrature._peaks(np.zeros((1, 1)), np.full((1, 1, 1), 100.0), [logit])
    right = optimize.brentq(lambda x: expit(-x) - x / 100.0, 0.0, 10.0)
    assert peaks[0, 0] == pytest.approx(right, abs=0.1)
    assert slope[0, 0] == pytest.approx(expit(-peaks[0, 0]) - peaks[0, 0] / 100.0)


def test_every_kind_of_part_is_drawn_below_a_state_that_follows_numbers() -> None:
    net = pgm.BayesianNetwork()
    net.add("c", 0.3)
    net.add("x", pgm.LinearGaussian(bias=0.2, sd=1.1))
    net.add("d", pgm.Logistic({"x": 1.5, "c": -1.0}, bias=0.4))
    net.add("table", {True: 0.9, False: 0.2}, parents=["d"])
    net.add("gate", pgm.NoisyOr({"d": 0.8, "table": 0.5, "c": 0.7}, leak=0.1))
    net.add("odd", pgm.Parity(["d", "table", "gate", "c"]))
    tree = pgm.TreeCPD("d", {True: pgm.TreeCPD("gate", {True: 0.9, False: 0.4}), False: 0.3})
    net.add("tree", tree)
    rows = {True: pgm.LinearGaussian({"x": 1.0}, sd=0.5), False: pgm.LinearGaussian(bias=3.0, sd=0.2)}
    net.add("y", rows, parents=["tree"])
    net.add("e", pgm.Logistic({"y": -0.7}, bias=1.0))
    n = 40_000
    drawn = net.sample(n, given={"c": True}, seed=3)
    assert drawn["c"].all()
    # every x and y in turn, every combination of the states
    x, w = np.polynomial.hermite_e.hermegauss(60)
    x, w = 0.2 + 1.1 * x, w / w.sum()
    p_d = w @ (1 / (1 + np.exp(-(1.5 * x - 1.0 + 0.4))))
    x_d = (w * x) @ (1 / (1 + np.exp(-(1.5 * x - 0.6)))) / p_d
    x_not = (0.2 - p_d * x_d) / (1 - p_d)
    expected = dict.fromkeys(("d", "table", "gate", "odd", "tree"), 0.0)
    mean_y = 0.0
    for d, t, g in np.ndindex(2, 2, 2):
        p = p_d if d else 1 - p_d
        p *= (0.9 if d else 0.2) if t else 1 - (0.9 if d else 0.2)
        none = 0.9 * 0.3 * (0.2 if d else 1.0) * (0.5 if t else 1.0)
        p *= 1 - none if g else none
        high = (0.9 if g else 0.4) if d else 0.3
        for name, holds in (("d", d), ("table", t), ("gate", g), ("odd", (d + t + g + 1) % 2)):
            expected[name] += p * holds
        expected["tree"] += p * high
        mean_y += p * (high * (x_d if d else x_not) + (1 - high) * 3.0)
    for name, p in expected.items():
        assert drawn[name].mean() == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / n)), name
    assert drawn["y"].mean() == pytest.approx(mean_y, abs=5 * drawn["y"].std() / np.sqrt(n))
    assert (drawn["odd"] == (drawn["d"] ^ drawn["table"] ^ drawn["gate"] ^ drawn["c"])).all()
    p_e = 1 / (1 + np.exp(-(1.0 - 0.7 * drawn["y"])))
    assert drawn["e"].mean() == pytest.approx(p_e.mean(), abs=5 * np.sqrt(p_e.mean() / n))
    kept = drawn["tree"]
    assert (drawn["y"] - drawn["x"])[kept].std() == pytest.approx(0.5, rel=0.02)
    assert drawn["y"][~kept].std() == pytest.approx(0.2, rel=0.02)
