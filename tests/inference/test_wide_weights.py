"""Evidence whose weights, or their products, no double holds: against exact rationals."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import pgm
from pgm.cpds import logistic
from pgm.inference.engines.conditioning.prepared import ConditionedSums
from pgm.inference.engines.elimination.prepared import EliminationSums
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.search.prepared import SearchSums
from tests.oracle import Known, Oracle, Plain, log

T, F = True, False
TINY = [1e-85, 1e-165, 1e-300, 1e-310, 5e-324]
EXACT = ["exact", "elimination", "search", "conditioned", pgm.engines.Conditioned(variables=["x0"])]


def causes(p: float, k: int) -> pgm.BayesianNetwork:
    """So many causes, each as rare as that, of one effect."""
    net = pgm.BayesianNetwork()
    for i in range(k):
        net.add(f"x{i}", p)
    net.add("y", pgm.NoisyOr({f"x{i}": 0.5 for i in range(k)}))
    return net


def soft(k: int, p: float = 0.3) -> dict[str, Any]:
    return {f"x{i}": pgm.Soft({T: p, F: 1 - p}) for i in range(k)}


@pytest.fixture(params=["jointly", "by passes"])
def fitted(request, monkeypatch):
    """Both ways to fit: to the joint of what is wanted, and where that does not fit to one at a time."""
    if request.param == "by passes":
        for kind in (Posterior, EliminationSums, SearchSums, ConditionedSums):

            def refuse(self, targets, needs, whole=kind.joint_table):
                if "soft" in needs.question:
                    raise pgm.TooLarge("the joint of what is wanted")
                return whole(self, targets, needs)

            monkeypatch.setattr(kind, "joint_table", refuse)


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize("engine", EXACT, ids=str)
@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("p", TINY)
def test_soft_evidence_on_what_is_next_to_impossible(p: float, k: int, engine: Any) -> None:
    """Independent before, they are so afterwards: each of .3, and the effect a noisy-OR of that."""
    net = causes(p, k)
    found = net.marginals(soft(k), engine=engine)
    stays_off = Fraction(17, 20)  # 1 - .3 * .5
    assert [found[f"x{i}"][T] for i in range(k)] == pytest.approx([0.3] * k, rel=1e-13)
    assert found["y"][T] == pytest.approx(float(1 - stays_off**k), rel=1e-13)
    j = net.query(["y", "x0"], soft(k), engine=engine)
    assert j.exact
    assert j[T, T] == pytest.approx(float(Fraction(3, 10) * (1 - stays_off ** (k - 1) / 2)), rel=1e-13)


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("p", TINY)
def test_soft_evidence_in_messages(p: float, k: int) -> None:
    """The graph is a tree, where messages are exact; joints of what shares no factor are put together."""
    found = causes(p, k).marginals(soft(k), engine="loopy")
    assert found["y"][T] == pytest.approx(1 - 0.85**k, rel=1e-9)
    j = causes(p, k).query(["y", "x0"], soft(k), engine="loopy")
    assert j[T, T] == pytest.approx(0.3 * (1 - 0.5 * 0.85 ** (k - 1)), rel=1e-9)


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize("tiny", [1e-80, 1e-160, 1e-310])
@pytest.mark.parametrize("engine", EXACT, ids=str)
def test_soft_evidence_on_rare_variables_that_depend_on_each_other(engine: Any, tiny: float) -> None:
    """Fitting keeps the odds ratio; with the marginals wanted that decides the joint (Csiszar 1975)."""
    second = Fraction(tiny) / 4, Fraction(tiny)  # the chances of x1, by x0
    net = pgm.BayesianNetwork()
    net.add("x0", tiny)
    net.add("x1", {F: float(second[0]), T: tiny}, parents=["x0"])
    for i in range(2):  # and rarer still
        net.add(f"e{i}", {F: 1.0, T: tiny}, parents=[f"x{i}"])
    given = {"x0": pgm.Soft({T: 0.3, F: 0.7}), "x1": pgm.Soft({T: 0.4, F: 0.6}), "e0": T, "e1": T}
    j = net.query(["x0", "x1"], given, engine=engine).values
    assert j.sum(axis=1) == pytest.approx([0.7, 0.3], rel=1e-9)
    assert j.sum(axis=0) == pytest.approx([0.6, 0.4], rel=1e-9)
    odds = (1 - second[0]) * second[1] / (second[0] * (1 - second[1]))  # x0's own chances cancel
    assert j[0, 0] * j[1, 1] / (j[0, 1] * j[1, 0]) == pytest.approx(float(odds), rel=1e-7)


@pytest.mark.parametrize("tiny", [1e-100, 1e-200])
def test_soft_evidence_that_meets_only_in_what_is_rarest(tiny: float) -> None:
    """Both mostly on takes that both are on, which all but never is."""
    net = pgm.MarkovNetwork()
    for name in ("x0", "x1"):
        net.add_variable(name, states=[0, 1])
    for _ in range(4):
        net.add_factor(["x0", "x1"], [[1.0, 1.0], [1.0, tiny]])
    given = {"x0": pgm.Soft({0: 0.1, 1: 0.9}), "x1": pgm.Soft({0: 0.2, 1: 0.8})}
    j = net.query(["x0", "x1"], given).values
    assert j == pytest.approx(np.array([[0.0, 0.1], [0.2, 0.7]]), abs=1e-9)


def test_what_cannot_be_had_is_still_said() -> None:
    net = causes(1e-310, 2)
    net.add("both", pgm.Deterministic(lambda x0, x1: x0 and x1))
    with pytest.raises(pgm.InvalidEvidence, match=r"were not reached: fitting stopped .* away"):
        net.query("y", {**soft(2), "both": pgm.Soft({T: 0.5, F: 0.5})})
    with pytest.raises(pgm.InvalidEvidence, match="excludes that state"):
        net.query("y", {**soft(2), "both": T})


@pytest.mark.parametrize("counted", [False, True])
def test_log_odds_beyond_doubles(counted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three states and five equal parents, in a table or by counts: weights of -700 make e**-3500."""
    if counted:
        monkeypatch.setattr(logistic, "_SMALL", 0)
    net, names = pgm.BayesianNetwork(), [f"a{i}" for i in range(5)]
    for name in names:
        net.add(name, 0.25)
    weights = (0.0, -700.0, 3.0)
    net.add("c", pgm.Logistic({name: weights for name in names}, bias=[0.0, 0.5, 0.0]), states=[0, 1, 2])

    def log_p(n: int, k: int) -> float:
        scores = [0.0, 0.5 - 700.0 * n, 3.0 * n]
        return scores[k] - float(np.logaddexp.reduce(scores))

    chance = [math.comb(5, n) * 0.25**n * 0.75 ** (5 - n) for n in range(6)]
    for engine in EXACT[:4]:
        for k in range(3):
            every = dict.fromkeys(names, T)
            found = net.log_probability({"c": k}, given=every, engine=engine)
            assert found == pytest.approx(log_p(5, k), rel=1e-12, abs=1e-12)
            expected = np.logaddexp.reduce([math.log(chance[n]) + log_p(n, k) for n in range(6)])
            assert net.log_probability({"c": k}, engine=engine) == pytest.approx(expected, rel=1e-12)
        known = {"c": 1, **dict.fromkeys(names[:3], T)}  # one more that is on costs a factor of e**700
        assert net.query("a4", known, engine=engine)[T] == pytest.approx(0.0, abs=1e-12)
        assert net.probability({"a0": T}, given={"c": 2}, engine=engine) == pytest.approx(
            sum(chance[n] * n / 5 * math.exp(log_p(n, 2)) for n in range(6))
            / sum(chance[n] * math.exp(log_p(n, 2)) for n in range(6)),
            rel=1e-12,
        )
    best = net.map({"c": 1, "a0": T})
    assert best.log_joint == pytest.approx(math.log(0.25 * 0.75**4) + log_p(1, 1), rel=1e-12)
    drawn = net.sample(50, given={"c": 1, "a0": T, "a1": T}, seed=0)
    assert not drawn["a4"].any()


@pytest.mark.filterwarnings("error")
def test_a_derivative_that_is_no_double_is_infinite() -> None:
    """P(b) = P(a) * 1e-310: the derivatives are 1 / P(a) for one, and 1e310 for the other."""
    net = pgm.BayesianNetwork()
    net.add("a", 0.25)
    net.add("b", {T: 1e-310, F: 0.0}, parents=["a"])
    for known in ({"b": T}, {"b": T, "a": T}):
        found = net.gradients(known, zeros=True)
        assert found["a"] == pytest.approx([0.0, 4.0])
        assert found["b"][1].tolist() == [0.0, np.inf]


WEIGHTS = st.sampled_from([0.0, 5e-324, 1e-310, 1e-300, 1e-200, 1e-150, 0.3, 1.0, 4.0, 1e150, 1e200, 1e300])


@given(data=st.data())
def test_likelihoods_in_the_event_and_in_what_is_given(data: st.DataObject) -> None:
    """Their product on one variable may be no double, as each span of them; the rest may undo it."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    cards = {"a": 3, "b": 2, "c": 2}
    tables = [(("a",), rng.dirichlet(np.ones(3))), (("a", "b"), rng.dirichlet(np.ones(2), 3))]
    tables.append((("b", "c"), rng.dirichlet(np.ones(2), 2)))
    zeros = rng.random((2, 2)) < 0.3
    tables[2][1][zeros & ~zeros.all(axis=1, keepdims=True)] = 0.0
    tables[2] = (tables[2][0], tables[2][1] / tables[2][1].sum(axis=1, keepdims=True))
    net = pgm.BayesianNetwork()
    for scope, table in tables:
        net.add(scope[-1], table, parents=scope[:-1], states=list(range(cards[scope[-1]])))
    plain = Plain(cards, tuple(tables), directed=True)

    def evidence() -> tuple[dict[str, Any], dict[str, list[Fraction]]]:
        names = data.draw(st.lists(st.sampled_from(list(cards)), unique=True))
        found = {
            name: data.draw(st.lists(WEIGHTS, min_size=cards[name], max_size=cards[name])) for name in names
        }
        found = {name: w for name, w in found.items() if any(w)}
        said = {name: pgm.Likelihood(dict(enumerate(w))) for name, w in found.items()}
        return said, {name: [Fraction(x) for x in w] for name, w in found.items()}

    (event, first), (known, second) = evidence(), evidence()
    both = {
        name: [x * y for x, y in zip(first.get(name, [1] * k), second.get(name, [1] * k), strict=True)]
        for name, k in cards.items()
    }
    below, above = Oracle(plain, Known(second)), Oracle(plain, Known(both))
    assume(below.possible)
    expected = log(above.partition) - log(below.partition)
    models = [net, net.to_markov_network()]
    for model, engine in itertools.product(models, ["exact", "elimination", "search", "conditioned"]):
        p = model.log_probability(event, given=known, engine=engine)
        assert p == pytest.approx(expected, rel=1e-11, abs=1e-11)
    for engine in ("exact", "elimination", "search", "conditioned"):
        assert models[1].log_partition(known, engine=engine) == pytest.approx(log(below.partition), rel=1e-11)
        values = net.query(["c", "a"], known, engine=engine).values
        np.testing.assert_allclose(values, below.posterior(["c", "a"]), rtol=1e-11, atol=1e-300)
    counts, gradients = net.expected_counts(known), net.gradients(known, zeros=True)
    for number, (scope, table) in enumerate(tables):
        np.testing.assert_allclose(counts[scope[-1]], below.expected_counts(number), rtol=1e-11, atol=1e-300)
        if table.all():  # else a derivative may be larger than a double
            np.testing.assert_allclose(gradients[scope[-1]], below.gradient(number), rtol=1e-11, atol=1e-290)


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("p", [1e-200, 1e-308, 1e-310, 5e-324])
def test_effects_whose_product_is_no_double(p: float, n: int) -> None:
    """P(child stays up) = P(leak stays up) * the product over causes, each as small as that."""
    net = pgm.BayesianNetwork()
    for i in range(n):
        net.add(f"a{i}", 0.5)
    rows = {f"a{i}": {T: [1.0 - p, p], F: [0.5, 0.5]} for i in range(n)}
    net.add("least", pgm.NoisyMin(rows, leak=[1.0 - p, p]), states=[F, T])
    rows = {f"a{i}": {T: [p, 1.0 - p], F: [0.5, 0.5]} for i in range(n)}
    net.add("most", pgm.NoisyMax(rows, leak=[p, 1.0 - p]), states=[F, T])
    every = Fraction(p) * ((Fraction(p) + Fraction(1, 2)) / 2) ** n
    for child in ({"least": T}, {"most": F}):
        assert net.log_probability(child) == pytest.approx(log(every), rel=1e-13)
        on = {f"a{i}": T for i in range(n)}
        all_on = Fraction(p) * (Fraction(p) / 2) ** n
        assert net.log_probability({**child, **on}) == pytest.approx(log(all_on), rel=1e-13)
        assert net.query("a0", child)[T] == pytest.approx(float(Fraction(p) / (Fraction(p) + Fraction(1, 2))))
        assert float(all_on) == 0.0
