"""Worked numbers of the catalogue on Bayesian networks: C.md chapter 14, G.md O2."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pgm
from tests.known import book
from tests.known.book import ENGINES, JOINT, near

T, F = True, False


@pytest.fixture(params=ENGINES)
def p(request):
    """P(target = True | given) by each engine; a target such as `R=1 S=0` is a joint state."""

    def ask(net: pgm.BayesianNetwork, target: str, **given: object) -> float:
        return net.query(target, given, engine=request.param)[True]

    return ask


# --- C1: what a network is ---


def test_C1_a_graph_without_cycles_and_a_table_for_each_node(p):
    """Structure and parameters of the five figures; the joint is the product of the tables, O1 to O5."""
    figures = {
        "C -> R -> W": (book.fig_14_2(), 5),
        "C -> {S, R}": (book.fig_14_3(), 5),
        "{R, S} -> W": (book.fig_14_4(), 6),
        "C -> {S, R} -> W": (book.fig_14_5(), 9),
    }
    assert [sorted(net.edges) for net, _ in figures.values()] == [
        [("C", "R"), ("R", "W")],
        [("C", "R"), ("C", "S")],
        [("R", "W"), ("S", "W")],
        [("C", "R"), ("C", "S"), ("R", "W"), ("S", "W")],
    ]
    for net, n in figures.values():
        assert net.n_parameters == n
        for states in itertools.product((F, T), repeat=len(net)):
            row = dict(zip(net, states, strict=True))
            families = [{n: row[n] for n in (*net.parents(name), name)} for name in net]
            product = math.prod(
                net.cpd(name).probability(family) for name, family in zip(net, families, strict=True)
            )
            assert net.probability(row) == pytest.approx(product, rel=1e-14)
    wet = [p(book.fig_14_1(), "W"), *(p(net, "W") for name, (net, _) in figures.items() if "W" in name)]
    assert wet == near([0.48, 0.466, 0.52, 0.65125])
    assert p(book.fig_14_3(), "R") == near(0.45)


def test_C1_what_is_no_network_is_refused():
    net = book.fig_14_2()
    with pytest.raises(pgm.InvalidTable, match=r"R.*C=False.*1\.1"):
        net.set("R", {True: [0.2, 0.8], False: [0.2, 0.9]})
    with pytest.raises(pgm.InvalidTable, match=r"R.*C=False"):
        net.set("R", {True: 0.8})
    with pytest.raises(pgm.InvalidStructure, match="C -> R -> W -> C"):
        pgm.BayesianNetwork(edges="C -> R -> W -> C")
    with pytest.raises(pgm.InvalidStructure, match="R"):
        net.add("R", 0.4)
    assert net == book.fig_14_2()


# --- C2 to C8: one parent, chains ---


def test_C2_rain_and_wet_grass_is_two_tables(p):
    """O1: what was said of each node, and the four cells that follow."""
    net = book.fig_14_1()
    assert net.nodes == ("R", "W")
    assert net.parents("W") == ("R",)
    assert net.n_parameters == 3
    assert net.cpd("R").to_dict() == near({T: 0.4, F: 0.6})
    assert [p(net, "W", R=r) for r in (T, F)] == near([0.9, 0.2])
    assert net.query(["R", "W"]).to_dict() == near({(T, T): 0.36, (T, F): 0.04, (F, T): 0.12, (F, F): 0.48})


def test_C3_the_marginal_of_a_child(p):
    assert p(book.fig_14_1(), "W") == pytest.approx(12 / 25, abs=1e-15)


def test_C4_diagnosis(p):
    assert p(book.fig_14_1(), "R", W=T) == pytest.approx(3 / 4, abs=1e-15)
    assert p(book.fig_14_1(), "R", W=F) == pytest.approx(1 / 13, abs=1e-15)


@pytest.mark.parametrize("engine", ENGINES)
def test_C5_independence_shows_in_the_joint(engine):
    """O4: P(R, S) = .08 = P(R) P(S); O3: .065, where the product is .135."""
    effect = book.fig_14_4()
    joint = effect.query(["R", "S"], engine=engine)
    assert joint.to_dict() == near({(T, T): 0.08, (T, F): 0.32, (F, T): 0.12, (F, F): 0.48})
    assert joint[T, T] == near(joint[{"R": T}] * joint[{"S": T}])
    assert np.outer(*(effect.query(name, engine=engine).values for name in "RS")) == near(joint.values)
    assert effect.independent("R", "S")
    cause = book.fig_14_3()
    joint = cause.query(["R", "S"], engine=engine)
    assert joint.to_dict() == near({(T, T): 0.065, (T, F): 0.385, (F, T): 0.235, (F, F): 0.315})
    assert joint[{"R": T}] * joint[{"S": T}] == near(0.135)
    apart = np.outer(*(cause.query(name, engine=engine).values for name in "RS"))
    assert apart == near(np.array([[0.385, 0.165], [0.315, 0.135]]))
    assert not cause.independent("R", "S")


def test_C6_conditional_independence(p):
    """Each of the four statements about C, W and what stands between them, in numbers and in the graph."""
    net = book.fig_14_5()
    assert p(net, "C", R=T, S=T, W=T) == pytest.approx(8 / 13, abs=1e-14)
    assert p(net, "C", R=T, S=T) == pytest.approx(8 / 13, abs=1e-14)
    for r, s in itertools.product((F, T), repeat=2):
        joint = net.query(["C", "W"], {"R": r, "S": s})
        apart = np.outer(*(net.query(name, {"R": r, "S": s}).values for name in "CW"))
        assert joint.values == pytest.approx(apart, abs=1e-15)
        assert p(net, "W", C=T, R=r, S=s) == near(book.WET[r, s])
    assert net.independent("C", "W", given=["R", "S"])
    # One of the two leaves the other way open: P(C | R, W) = .362 / .40825, P(C | R) = .4 / .45.
    assert p(net, "C", R=T, W=T) == near(0.362 / 0.40825)
    assert p(net, "C", R=T) == near(8 / 9)
    assert not net.independent("C", "W", given="R")
    assert not net.independent("C", "W", given="S")
    assert not net.independent("C", "W")


def test_C7_head_to_tail(p):
    """The middle of a chain blocks it; nothing given, and what hangs below the middle, do not."""
    net = book.fig_14_2()
    assert net.independent("C", "W", given="R")
    assert not net.independent("C", "W")
    assert [p(net, "W", C=c) for c in (T, F)] == near([0.76, 0.27])
    for r, wet in ((T, 0.9), (F, 0.2)):
        assert [p(net, "W", C=c, R=r) for c in (T, F)] == near([wet, wet])
    net.add("D", {True: 0.8, False: 0.1}, parents=["R"])
    assert not net.independent("C", "W", given="D")
    assert net.independent("C", "W", given=["D", "R"])
    assert not net.independent("C", "R", given=["D", "W"])
    assert abs(p(net, "W", C=T, D=T) - p(net, "W", C=F, D=T)) > 0.1


def test_C8_cloudy_rain_wet(p):
    net = book.fig_14_2()
    assert p(net, "R") == pytest.approx(0.38)
    assert p(net, "W") == pytest.approx(233 / 500)  # .48 as printed is wrong: trap T1
    assert p(net, "W", C=T) == pytest.approx(0.76)
    assert p(net, "C", W=T) == near(0.652360515)
    assert p(net, "W", C=F) == pytest.approx(0.27)
    assert p(net, "C", W=F) == near(0.1797752809)
    assert p(net, "R", W=T) == near(0.7339055794)
    assert p(net, "R", C=T, W=T) == pytest.approx(18 / 19)
    assert p(net, "R", C=F, W=T) == pytest.approx(1 / 3)


# --- C9 to C13: common causes and common effects ---


def test_C9_tail_to_tail(p):
    """The common cause blocks; what hangs below one of its effects does not."""
    net = book.fig_14_3()
    assert net.independent("R", "S", given="C")
    assert not net.independent("R", "S")
    assert [p(net, "R", S=s) for s in (T, F)] == near([13 / 60, 0.55])
    for c, rain in ((T, 0.8), (F, 0.1)):
        assert [p(net, "R", S=s, C=c) for s in (T, F)] == near([rain, rain])
    net.add("W", {True: 0.9, False: 0.2}, parents=["R"])
    assert not net.independent("R", "S", given="W")
    assert not net.independent("W", "S")
    assert net.independent("W", "S", given="C")
    assert net.independent("W", "S", given="R")
    assert p(net, "R", S=T, W=T) == near(0.5545023697)
    assert p(net, "W", S=T) == near(0.3516666667)


def test_C10_cloudy_sprinkler_rain(p):
    net = book.fig_14_3()
    assert p(net, "C", R=T) == pytest.approx(8 / 9)
    assert p(net, "R", S=T) == pytest.approx(13 / 60)
    assert p(net, "R", S=F) == pytest.approx(0.55)
    assert p(net, "R") == pytest.approx(0.45)
    assert p(net, "S") == pytest.approx(0.3)
    assert p(net, "C", S=T) == pytest.approx(1 / 6)
    assert p(net, "C", S=F) == pytest.approx(9 / 14)
    assert p(net, "S", R=T) == pytest.approx(13 / 90)
    assert p(net, "C", R=T, S=T) == pytest.approx(8 / 13)
    assert net.probability({"R": T, "S": T}) == pytest.approx(0.065)


def test_C11_head_to_head_opens_by_a_descendant(p):
    net = book.fig_14_4()
    assert net.independent("R", "S")
    assert not net.independent("R", "S", given="W")
    net.add("D", {True: 0.8, False: 0.1}, parents=["W"])
    assert not net.independent("R", "S", given="D")
    assert p(net, "D") == pytest.approx(0.464)
    assert p(net, "W", D=T) == near(0.8965517241)
    assert p(net, "R", D=T) == near(0.6353448276)
    assert p(net, "S", D=T) == near(0.3206896552)
    assert p(net, "R", D=T, S=T) == near(0.4112903226)
    assert p(net, "R", D=T, S=F) == near(0.7411167513)
    assert p(net, "R", S=T) == pytest.approx(0.4)


def test_C12_prediction_and_diagnosis(p):
    net = book.fig_14_4()
    assert p(net, "W") == pytest.approx(13 / 25)
    assert p(net, "W", S=T) == pytest.approx(23 / 25)
    assert p(net, "S", W=T) == pytest.approx(23 / 65)
    assert p(net, "W", R=T) == pytest.approx(0.91)
    assert p(net, "W", R=F) == pytest.approx(0.26)
    assert p(net, "W", S=F) == pytest.approx(0.42)
    assert p(net, "R", W=F) == pytest.approx(0.075)
    assert p(net, "S", W=F) == pytest.approx(1 / 30)


def test_C13_explaining_away(p):
    net = book.fig_14_4()
    assert p(net, "S", R=T, W=T) == near(0.2087912088)
    assert p(net, "S", R=F, W=T) == near(0.6923076923)
    assert p(net, "S", R=T, W=T) < p(net, "S", W=T) < p(net, "S", R=F, W=T)
    assert p(net, "R", W=T) == pytest.approx(0.7)
    assert p(net, "R", W=T, S=T) == near(0.4130434783)
    assert p(net, "R", W=T, S=F) == near(0.8571428571)
    joint = net.query(["R", "S"], {"W": T})
    assert [joint[T, T], joint[F, T], joint[T, F], joint[F, F]] == [
        near(x) for x in (0.1461538462, 0.2076923077, 0.5538461538, 0.09230769231)
    ]


# --- C14 to C22: the diamond ---

DIAMOND = {  # (target, given): P(target | given); upper case True, lower case False
    ("W", "C"): 19 / 25, ("W", "c"): 217 / 400, ("W", ""): 521 / 800, ("C", "W"): 304 / 521,
    ("C", "w"): 32 / 93, ("R", ""): 0.45, ("S", ""): 0.3, ("R", "W"): 1633 / 2605, ("S", "W"): 1093 / 2605,
    ("S", "RW"): 247 / 1633, ("S", "rW"): 47 / 54, ("R", "SW"): 247 / 1093, ("R", "sW"): 11 / 12,
    ("W", "S"): 1093 / 1200, ("W", "R"): 1633 / 1800, ("W", "s"): 0.54, ("C", "SW"): 188 / 1093,
    ("C", "RS"): 8 / 13, ("C", "RSW"): 8 / 13, ("C", "rS"): 2 / 47,
}  # fmt: skip


def test_C14_the_combined_network(p):
    net = book.fig_14_5()
    assert p(net, "W", C=T) == pytest.approx(0.76)
    assert p(net, "C", W=T) == near(0.5834932821)
    assert net.query(["R", "S"], {"W": T})[T, T] == near(0.09481765835)


def test_C15_the_factorisation_sums_to_one_and_saves_numbers():
    """Each joint is the product of four printed numbers; without the graph 15 numbers would be free."""
    net = book.fig_14_5()
    rain, sprinkler = {T: 0.8, F: 0.1}, {T: 0.1, F: 0.5}
    found = []
    for c, s, r, w in itertools.product((T, F), repeat=4):
        product = 0.5
        for true, p in ((s, sprinkler[c]), (r, rain[c]), (w, book.WET[r, s])):
            product *= p if true else 1 - p
        found.append(net.probability({"C": c, "S": s, "R": r, "W": w}))
        assert found[-1] == pytest.approx(product, rel=1e-14)
    assert sum(found) == pytest.approx(1.0, abs=1e-15)
    assert net.n_parameters == 9
    whole = pgm.BayesianNetwork()
    for i, name in enumerate("CSRW"):  # the chain rule with nothing left out
        whole.add(name, np.full((2,) * (i + 1), 0.5), parents=list("CSRW"[:i]), states=[F, T])
    assert whole.n_parameters == 15


def enumerated(target: str, given: dict[str, bool]) -> dict[tuple[bool, ...], float]:
    """P(target | given) as sums over the printed joint: what any engine has to agree with."""
    sums = dict.fromkeys(itertools.product((F, T), repeat=len(target)), 0.0)
    for key, value in JOINT.items():
        state = book.case(key)
        if all(state[name] == known for name, known in given.items()):
            sums[tuple(state[name] for name in target)] += value
    total = sum(sums.values())
    return {key: value / total for key, value in sums.items()}


@pytest.mark.parametrize("engine", [*ENGINES, "conditioned", "search"])
def test_C16_enumeration_of_the_joint(engine):
    net = book.fig_14_5()
    joint = net.query(["C", "S", "R", "W"], engine=engine)
    for key, value in JOINT.items():
        assert joint[tuple(book.case(key).values())] == pytest.approx(value, abs=1e-16)
        assert net.probability(book.case(key), engine=engine) == pytest.approx(value, abs=1e-16)
    for target in "CSRW":
        rest = [name for name in "CSRW" if name != target]
        for states in itertools.product((F, T, None), repeat=3):
            given = {name: s for name, s in zip(rest, states, strict=True) if s is not None}
            for (state,), value in enumerated(target, given).items():
                assert net.query(target, given, engine=engine)[state] == pytest.approx(value, abs=1e-14)


def test_C17_any_question_given_any_evidence(p):
    net = book.fig_14_5()
    for (target, given), value in DIAMOND.items():
        known = {name.upper(): name.isupper() for name in given}
        assert p(net, target, **known) == pytest.approx(value, abs=1e-15), (target, given)


def test_C17_any_targets_in_any_order_given_any_evidence():
    """All that a database of four columns could be asked: nothing is an input or an output by nature."""
    net = book.fig_14_5()
    for size in (1, 2, 3, 4):
        for target in itertools.permutations("CSRW", size):
            rest = [name for name in "CSRW" if name not in target]
            for states in itertools.product((F, T, None), repeat=len(rest)):
                given = {name: s for name, s in zip(rest, states, strict=True) if s is not None}
                found = net.query(list(target), given)
                assert found.names == target
                for key, value in enumerated("".join(target), given).items():
                    state = dict(zip(target, key, strict=True))
                    assert found[state] == pytest.approx(value, abs=1e-14), (state, given)
    assert net.query(["S", "R"], {"W": T})[T, F] == near(0.3247600768)


def test_C18_states_and_parents_multiply(p):
    """Three states and two parents: nine rows of two free numbers each, and each row is found again."""
    net = book.pedigree()
    assert net.n_parameters == 2 + 2 + 9 * 2 + 9 * 2
    assert net.cpd("K1").values.shape == (3, 3, 3)
    rows = {
        ("AA", "AA"): (1.0, 0.0, 0.0), ("AA", "Aa"): (0.5, 0.5, 0.0), ("AA", "aa"): (0.0, 1.0, 0.0),
        ("Aa", "AA"): (0.5, 0.5, 0.0), ("Aa", "Aa"): (0.25, 0.5, 0.25), ("Aa", "aa"): (0.0, 0.5, 0.5),
        ("aa", "AA"): (0.0, 1.0, 0.0), ("aa", "Aa"): (0.0, 0.5, 0.5), ("aa", "aa"): (0.0, 0.0, 1.0),
    }  # fmt: skip
    for (father, mother), row in rows.items():
        for engine in ENGINES:
            found = net.query("K1", {"F": father, "M": mother}, engine=engine)
            assert found.states == ("AA", "Aa", "aa")
            assert found.values == near(row)
    assert net.query("K1").values == near([0.81, 0.18, 0.01])
    assert net.query("F", {"K1": "aa"}).values == near([0.0, 0.9, 0.1])
    # Three, four and two states with three and five: 3 * 4 * 2 rows of 4 free numbers.
    wide = pgm.BayesianNetwork()
    for name, m in (("a", 3), ("b", 4), ("c", 2)):
        wide.add(name, [1 / m] * m, states=list(range(m)))
    table = np.arange(1.0, 121.0).reshape(3, 4, 2, 5)
    table /= table.sum(axis=-1, keepdims=True)
    wide.add("x", table, parents=["a", "b", "c"], states=list("vwxyz"))
    assert wide.n_parameters == 2 + 3 + 1 + 3 * 4 * 2 * 4
    for a, b, c in itertools.product(range(3), range(4), range(2)):
        assert wide.query("x", {"c": c, "a": a, "b": b}).values == near(table[a, b, c])
    assert wide.query("b", {"x": "v"}).values == near(table[..., 0].sum((0, 2)) / table[..., 0].sum())


def test_C20_a_hidden_common_cause(p):
    net = book.baby_at_home()
    assert p(net, "milk") == pytest.approx(0.45)
    assert p(net, "milk", diapers=T) == near(0.8081632653)
    assert p(net, "milk", diapers=T, food=T) == near(0.8920913884)
    assert p(net, "H", diapers=T, food=T) == near(0.9841827768)
    assert p(net, "food", diapers=T) == near(0.5806122449)
    assert p(net, "food", diapers=T, H=T) == pytest.approx(0.7)
    assert p(net, "H", diapers=T, food=T, milk=T) == near(0.9929078014)


def test_C21_seeing_is_not_doing():
    net = book.fig_14_5()
    assert net.query("W", {"S": T})[T] == near(0.9108333333)
    done = net.do({"S": T})
    assert done.query("W")[T] == pytest.approx(0.9225)
    assert done.query("R")[T] == pytest.approx(0.45)
    assert done.query("C")[T] == pytest.approx(0.5)  # and not 1/6, as when it is seen on
    assert net.query("C", {"S": T})[T] == near(1 / 6)
    assert net.do({"S": F}).query("W")[T] == pytest.approx(0.45 * 0.9 + 0.55 * 0.1)
    # What is seen after that is seen: P(C | do S, W) = .5 (.8 * .95 + .2 * .9) / .9225.
    assert done.query("C", {"W": T})[T] == near(0.47 / 0.9225)
    assert set(net.edges) - set(done.edges) == {("C", "S")}
    assert net.query("W")[T] == pytest.approx(0.65125)  # the network itself is as it was


def test_C21_an_arc_may_be_reversed_for_what_is_seen_but_not_for_what_is_done():
    """Figure 14.1 either way round: the same joint, and so the same answers, but not the same actions."""
    net = book.fig_14_1()
    reversed_ = pgm.BayesianNetwork("rain because of wet grass")
    reversed_.add("W", 0.48)
    reversed_.add("R", {True: 3 / 4, False: 1 / 13}, parents=["W"])
    for other in (net, reversed_):
        assert other.query(["R", "W"]).to_dict() == near(
            {(T, T): 0.36, (T, F): 0.04, (F, T): 0.12, (F, F): 0.48}
        )
        assert other.query("R", {"W": T})[T] == near(3 / 4)
        assert other.independent("R", "W") is False
    assert net.do({"W": T}).query("R")[T] == near(0.4)
    assert reversed_.do({"W": T}).query("R")[T] == near(3 / 4)
    assert net.do({"R": T}).query("W")[T] == near(0.9)
    assert reversed_.do({"R": T}).query("W")[T] == near(0.48)


def test_C22_samples_have_the_joint_as_their_frequencies():
    n = 20_000
    drawn = book.fig_14_5().sample(n, seed=0)
    keys = np.array([drawn[name] for name in "CSRW"]).astype(int).T
    found = {
        "".join(map(str, row)): count / n
        for row, count in zip(*np.unique(keys, axis=0, return_counts=True), strict=True)
    }
    for key, value in JOINT.items():
        assert abs(found.get(key, 0.0) - value) < 4 * math.sqrt(value * (1 - value) / n), key


def test_O5_most_probable_explanation():
    net = book.fig_14_5()
    for given in ({}, {"W": T}):
        best = net.map(given)
        assert {**best, **given} == {"C": T, "S": F, "R": T, "W": T}
        assert math.exp(best.log_joint) == pytest.approx(0.324)
    assert net.map({"W": T}).probability == near(0.4975047985)


def test_O5_independencies_are_two_statements():
    net = book.fig_14_5()
    found = set()
    for a, b in itertools.combinations("CSRW", 2):
        rest = [v for v in "CSRW" if v not in (a, b)]
        for size in range(3):
            for given in itertools.combinations(rest, size):
                if net.independent(a, b, given=list(given)):
                    found.add((a, b, "".join(given)))
    assert found == {("S", "R", "C"), ("C", "W", "SR")}


# --- messages, by their answers ---


def test_C33_a_chain_up_and_down(p):
    net = book.fig_14_2()
    assert p(net, "R", W=T) == near(0.7339055794)
    assert p(net, "C", W=T) == near(0.652360515)
    assert net.probability({"W": T}) == pytest.approx(0.466)


def test_C34_evidence_counts_both_ways(p):
    assert p(book.fig_14_2(), "R", C=T, W=T) == near(0.9473684211)  # not .7339055794: trap T4


def test_C36_a_tree(p):
    net = book.fig_14_3()
    net.add("W", {True: 0.9, False: 0.2}, parents=["R"])
    given = {"S": T, "W": T}
    assert p(net, "C", **given) == near(0.3601895735)
    assert p(net, "R", **given) == near(0.5545023697)
    assert p(net, "W", S=T) == near(0.3516666667)
    assert net.probability(given) == pytest.approx(0.1055)


def test_C37_a_polytree(p):
    net = book.fig_14_4()
    net.add("D", {True: 0.8, False: 0.1}, parents=["W"])
    assert net.marginals({"D": T})["R"][T] == near(0.6353448276)
    assert net.marginals({"D": T})["W"][F] == near(0.1034482759)


# --- C38: noisy-OR ---


def gate(strengths: list[float], leak: float = 0.0) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork("gate")
    for i in range(len(strengths)):
        net.add(f"u{i}", 0.5)
    net.add("x", pgm.NoisyOr({f"u{i}": s for i, s in enumerate(strengths)}, leak=leak))
    return net


@pytest.mark.parametrize(
    ("leak", "expected"), [(0.0, [0.0, 0.9, 0.9, 0.99]), (0.05, [0.05, 0.905, 0.905, 0.9905])]
)
def test_C38_noisy_or_of_two(p, leak, expected):
    net = gate([0.9, 0.9], leak)
    found = [p(net, "x", u0=a, u1=b) for a, b in itertools.product((F, T), repeat=2)]
    assert found == pytest.approx(expected, abs=1e-15)


def test_C38_noisy_or_of_three(p):
    net = gate([0.9, 0.8, 0.5])
    expected = {"1": 0.9, "2": 0.8, "12": 0.98, "3": 0.5, "13": 0.95, "23": 0.9, "123": 0.99}
    for active, value in expected.items():
        assert p(net, "x", **{f"u{i}": str(i + 1) in active for i in range(3)}) == pytest.approx(
            value, abs=1e-15
        )


def test_O11_noisy_or_as_wet_grass(p):
    net = pgm.BayesianNetwork()
    net.add("R", 0.4)
    net.add("S", 0.2)
    net.add("W", pgm.NoisyOr({"R": 0.9, "S": 0.9}))
    assert p(net, "W") == pytest.approx(0.4752)
    assert p(net, "R", W=T) == near(0.7727272727)
    assert p(net, "S", W=T) == near(0.3939393939)
    assert p(net, "R", W=T, S=T) == near(0.4230769231)
    assert p(net, "S", R=T, W=T) == near(0.2156862745)


def test_C38_from_q_as_14_28_writes_it(p):
    net = pgm.BayesianNetwork()
    for i in range(3):
        net.add(f"u{i}", 0.5)
    net.add("x", pgm.NoisyOr.from_q({"u0": 0.1, "u1": 0.2, "u2": 0.5}))
    for code, value in {"100": 0.9, "010": 0.8, "110": 0.98, "101": 0.95, "111": 0.99, "000": 0.0}.items():
        given = {f"u{i}": on == "1" for i, on in enumerate(code)}
        assert p(net, "x", **given) == pytest.approx(value, abs=1e-15)


# --- C39 to C41, O11: sigmoid, softmax (exercise 4), and learning their weights ---


def logistic_grass() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("R", 0.4)
    net.add("S", 0.2)
    net.add("W", pgm.Logistic({"R": 4.0, "S": 3.0}, bias=-2.0))
    return net


def test_C39_sigmoid(p):
    net = logistic_grass()
    assert p(net, "W", R=T, S=T) == near(0.9933071491)
    assert p(net, "W", R=T, S=F) == near(0.880797078, 9)
    assert p(net, "W", R=F, S=T) == near(0.7310585786)
    assert p(net, "W", R=F, S=F) == near(0.119202922, 9)
    assert p(net, "W") == near(0.5062640689)
    assert p(net, "R", W=T) == near(0.7136979673)


@pytest.mark.parametrize("engine", ENGINES)
def test_C40_softmax_of_exercise_4(engine):
    net = pgm.BayesianNetwork()
    net.add("R", 0.4)
    net.add("S", 0.2)
    made = pgm.Logistic({"R": [0.0, 2.0, 0.5], "S": [0.0, -1.0, 2.0]}, bias=[0.0, 1.0, -1.0])
    net.add("X", made, states=[1, 2, 3])
    rows = {
        (F, F): (0.2447284711, 0.6652409558, 0.09003057317),
        (F, T): (0.2119415576, 0.2119415576, 0.5761168848),
        (T, F): (0.04609980105, 0.9259392562, 0.02796094275),
        (T, T): (0.07769557915, 0.574096993, 0.3482074279),
    }
    for (r, s), row in rows.items():
        found = net.query("X", {"R": r, "S": s}, engine=engine).values
        np.testing.assert_allclose(found, row, rtol=1e-9)


def test_C41_sigmoid_weights_are_learned():
    """Counts in the proportions of O11's sigmoid have these weights as their optimum."""
    net = logistic_grass()
    counts = 1000 * np.einsum("r,s,rsw->rsw", *(net.cpd(name).values for name in "RSW"))
    start = pgm.BayesianNetwork()
    start.add("R", 0.5)
    start.add("S", 0.5)
    start.add("W", pgm.Logistic({"R": 0.0, "S": 0.0}))
    fitted = start.cpd("W").fit(counts)
    assert fitted.to_dict() == {
        "weights": {"R": pytest.approx(4.0, abs=1e-8), "S": pytest.approx(3.0, abs=1e-8)},
        "bias": pytest.approx(-2.0, abs=1e-8),
    }


def without_numbers() -> pgm.BayesianNetwork:
    """Figure 14.5 before anything was learned."""
    net = pgm.BayesianNetwork()
    for name, parents in (("C", ""), ("S", "C"), ("R", "C"), ("W", "RS")):
        table = np.full((2,) * (len(parents) + 1), 0.5)
        net.add(name, table, parents=list(parents), states=[F, T])
    return net


def test_C61_complete_data_are_counted():
    """O13: the 4,000 rows of which 4000 P(14.5) are counts have its tables as their shares, exactly."""
    counts = {key: round(4000 * value) for key, value in JOINT.items()}
    assert sum(counts.values()) == 4000
    cases = np.repeat([list(book.case(key).values()) for key in counts], list(counts.values()), axis=0)
    rows = {name: cases[:, i] for i, name in enumerate("CSRW")}
    weighted = {name: [book.case(key)[name] for key in counts] for name in "CSRW"}
    net, other = without_numbers(), without_numbers()
    for name in net:
        net.set(name, net.cpd(name).fit(rows))
        other.set(name, other.cpd(name).fit(weighted, weights=list(counts.values())))
    for name in "CSRW":
        expected = book.fig_14_5().cpd(name).values
        assert net.cpd(name).values == pytest.approx(expected, abs=1e-15)
        assert other.cpd(name).values == pytest.approx(expected, abs=1e-15)
    assert net.score(rows) == near(-7727.444108)
    assert without_numbers().score(rows) == near(-4000 * 4 * math.log(2))


def test_C61_few_rows():
    """O13: 36, 4, 12 and 48 rows of figure 14.1 give .9, .2 and .4."""
    net = pgm.BayesianNetwork()
    net.add("R", 0.5)
    net.add("W", {True: 0.5, False: 0.5}, parents=["R"])
    rows = {"R": [T] * 40 + [F] * 60, "W": [T] * 36 + [F] * 4 + [T] * 12 + [F] * 48}
    for name in net:
        net.set(name, net.cpd(name).fit(rows))
    assert net.query("R")[T] == near(0.4)
    assert [net.query("W", {"R": r})[T] for r in (T, F)] == near([0.9, 0.2])
    assert net.query("W")[T] == near(0.48)
    assert net.score(rows) == near(-110.328631)  # O15: one arc


def test_O13_counts_return_the_tables():
    net = book.fig_14_5()
    start = without_numbers()
    joint = np.round(4000 * net.query(list(net)).values)
    for i, name in enumerate(net):
        parents = [list(net).index(parent) for parent in net.parents(name)]
        counts = np.einsum(joint, list(range(4)), [*parents, i])
        np.testing.assert_allclose(start.cpd(name).fit(counts).values, net.cpd(name).values, atol=1e-15)


# --- C25, C67, C73, C76, C78 ---


def test_C25_bernoulli_naive_bayes(p):
    net = pgm.BayesianNetwork("naive Bayes")
    net.add("c", 0.4)
    for i, (one, zero) in enumerate([(0.9, 0.2), (0.6, 0.3), (0.1, 0.5)], start=1):
        net.add(f"x{i}", {True: one, False: zero}, parents=["c"])
    assert p(net, "c", x1=T, x2=T, x3=F) == pytest.approx(54 / 59)
    assert p(net, "c", x1=T, x3=F) == pytest.approx(0.84375)
    assert p(net, "x3", x1=T) == pytest.approx(0.2)


def test_C67_a_network_assembled_from_parts(p):
    """14.3 and 14.4 share S and R: the one says what they depend on, the other what depends on them."""
    above, below = book.fig_14_3(), book.fig_14_4()
    assembled = above.copy()
    assembled.add("W", below.cpd("W"), parents=["R", "S"])
    assert sorted(assembled.edges) == [("C", "R"), ("C", "S"), ("R", "W"), ("S", "W")]
    for (target, given), value in DIAMOND.items():
        known = {name.upper(): name.isupper() for name in given}
        assert p(assembled, target, **known) == pytest.approx(value, abs=1e-15), (target, given)
    # Neither part was touched, and the order in which they are put together does not count.
    assert above == book.fig_14_3()
    assert below == book.fig_14_4()
    assert p(below, "W") == near(0.52)
    later = pgm.BayesianNetwork(edges=[*below.edges, *above.edges])
    for name in "CSR":
        later.set(name, above.cpd(name))
    later.set("W", below.cpd("W"))
    assert p(later, "C", W=T) == near(0.5834932821)
    assert p(later, "S", R=T, W=T) == near(247 / 1633)


def test_C67_arcs_of_an_expert_make_no_cycle():
    with pytest.raises(pgm.InvalidStructure, match="C -> R -> W -> C"):
        pgm.BayesianNetwork(edges=[*book.fig_14_5().edges, ("W", "C")])


def test_C73_phylogeny():
    net = book.phylogeny()
    leaves = {"a": "A", "b": "A", "c": "C", "d": "C"}
    assert net.probability(leaves) == near(0.01203146552)
    assert net.log_probability(leaves) == near(-4.420229935)
    m = net.marginals(leaves)
    assert m["root"].values == pytest.approx(
        [0.6368477784, 0.3168491253, 0.02315154818, 0.02315154818], abs=1e-10
    )
    assert m["U"]["A"] == near(0.9806038809)
    assert m["V"]["C"] == near(0.9800760686)
    # O25: what each node sends up is the probability of the leaves below it, by its own state.
    below = {
        "U": ({"a": "A", "b": "A"}, [0.7831558757, *[0.001414202403] * 3]),
        "V": ({"c": "C", "d": "C"}, [0.001328878388, 0.7163301788, *[0.001328878388] * 2]),
        "root": (leaves, [0.03064884834, 0.0152486373, *[0.001114188214] * 2]),
    }
    for name, (seen, likelihoods) in below.items():
        for base, likelihood in zip("ACGT", likelihoods, strict=True):
            assert net.probability(seen, given={name: base}) == near(likelihood)
    assert net.query("U", {"root": "G"}).values == near([*[0.03120667024] * 2, 0.9063799893, 0.03120667024])
    assert net.query("a", {"U": "T"}).values == near([*[0.03120667024] * 3, 0.9063799893])
    assert net.query("V", leaves).values.sum() == near(1.0)
    assert net.probability(dict.fromkeys("abcd", "A")) == near(0.1056996951)
    patterns = itertools.product("ACGT", repeat=4)
    assert sum(net.probability(dict(zip("abcd", x, strict=True))) for x in patterns) == pytest.approx(
        1, abs=1e-13
    )


def test_C76_pedigree():
    net = book.pedigree()
    assert net.query("K1")["aa"] == pytest.approx(0.01)
    assert net.query("F", {"K1": "aa"})["Aa"] == pytest.approx(0.9)
    assert net.query("K2", {"K1": "aa"})["aa"] == pytest.approx(121 / 400)
    assert net.query("K2", {"F": "Aa", "M": "Aa"})["aa"] == pytest.approx(0.25)
    assert net.query("K2", {"K1": "AA"})["Aa"] == pytest.approx(0.095)


def test_C78_O26_topics_of_successive_days():
    net = book.newspaper()
    days = [("w1", "w1", "w2"), ("w1", "w3", "w2"), ("w3", "w3", "w3")]
    seen = {f"word{d}{i}": w for d, day in enumerate(days, 1) for i, w in enumerate(day, 1)}
    assert net.probability(seen) == near(9.30446e-05, 6)
    m = net.marginals(seen)
    assert [m[f"topic{d}"][1] for d in (1, 2, 3)] == [
        near(x) for x in (0.9706519239, 0.5840231459, 0.007251361175)
    ]
    best = net.map(seen)
    assert [best[f"topic{d}"] for d in (1, 2, 3)] == [1, 1, 2]
    assert math.exp(best.log_joint) == pytest.approx(5.334336e-05, rel=1e-12)
    for day, likelihoods in ((1, (0.108, 0.002)), (2, (0.018, 0.014)), (3, (0.001, 0.343))):
        words = {k: v for k, v in seen.items() if k.startswith(f"word{day}")}
        for topic, value in zip((1, 2), likelihoods, strict=True):
            assert net.probability(words, given={f"topic{day}": topic}) == pytest.approx(value)


# --- G.md ---


def test_G35_diagnosis_in_five_nodes(p):
    net = book.five_nodes()
    assert p(net, "E") == pytest.approx(0.46)
    assert p(net, "A", D=T) == pytest.approx(0.69375)
    assert p(net, "A", E=T) == near(0.391304, 6)
    assert p(net, "B", D=T) == pytest.approx(0.525)
    assert p(net, "B", D=T, A=T) == near(0.567568, 6)
    assert p(net, "C", D=T) == pytest.approx(0.6775)
    assert p(net, "A", D=T, E=T) == near(0.772622, 6)
    assert dict(net.map()) == {"A": F, "B": T, "C": F, "D": F, "E": F}
    assert net.map().probability == pytest.approx(0.18144)


def test_G36_independencies_of_five_nodes():
    net = book.five_nodes()
    assert net.independent("A", "B")
    assert net.independent("C", "B", given="A")
    assert net.independent("D", "C", given=["A", "B"])
    assert net.independent("E", ["A", "B", "D"], given="C")
    assert not net.independent("A", "B", given="D")
    assert not net.independent("C", "D")
    joint = net.query(["A", "B"], {"D": T})
    apart = np.abs(joint.values - np.outer(joint.marginal(["A"]).values, joint.marginal(["B"]).values))
    assert apart.max() == pytest.approx(0.02953, abs=1e-5)


def test_G37_enumeration_over_parents(p):
    assert p(book.five_nodes(), "D") == pytest.approx(0.32)


def test_G38_diagnostic_query(p):
    assert p(book.five_nodes(), "C") == pytest.approx(0.52)
    assert p(book.five_nodes(), "A", C=T) == pytest.approx(6 / 13)
