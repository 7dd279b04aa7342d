"""Worked numbers of the catalogue on messages and mean fields: C.md O6, O9, O10, O12, O14, O19 to O21."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pgm
from pgm.inference.engines.factor_graph import make_graph
from pgm.inference.engines.mean_field.ascent import Ascent
from pgm.inference.program.reduction import Known, reduce_case
from pgm.runtime.clock import Clock
from tests.known import book
from tests.known.book import factor_graph, near

T, F = True, False
SCHEDULES = ["sequential", "residual", "parallel"]
TRACED = pgm.engines.Loopy(trace=True)


def messages(p: pgm.Distribution | pgm.Marginals) -> dict[str, np.ndarray]:
    """The last of each message in a trace, in the book's order: True, False."""
    return {row[1]: np.array([float(x) for x in row[4].split()])[::-1] for row in p.report.trace}


def like(ratio: tuple[float, float]) -> object:
    """Lambda as it is shown: its largest entry 1, six decimals."""
    return pytest.approx(np.array(ratio) / max(ratio), abs=6e-7)


def share(*p: float) -> object:
    return pytest.approx(p, abs=6e-7)


def test_C33_pi_and_lambda_on_a_chain():
    net = book.fig_14_2()
    before = messages(net.marginals(engine=TRACED))
    assert before["pi(R)"] == share(0.38, 0.62)
    assert before["pi(W)"] == share(0.466, 0.534)
    p = net.marginals({"W": T}, engine=TRACED)
    after = messages(p)
    assert after["lambda_W(R)"] == like((0.9, 0.2))
    assert after["lambda(R)"] == like((0.9, 0.2))
    assert after["lambda_R(C)"] == like((0.76, 0.27))
    assert net.probability({"W": T}, engine=TRACED) == near(0.466)
    assert p["R"][T] == near(0.7339055794)
    assert p["C"][T] == near(0.652360515)
    assert p.exact


def test_C34_evidence_is_an_indicator_for_pi_and_lambda():
    """Trap T4: clamping lambda alone would give 0.7339055794."""
    p = book.fig_14_2().query("R", {"C": T, "W": T}, engine=TRACED)
    assert p[T] == near(0.9473684211)
    assert messages(p)["pi(R)"] == share(0.8, 0.2)


def polytree() -> pgm.BayesianNetwork:
    """O10: figure 14.4 with something below the wet grass."""
    net = book.fig_14_4()
    net.add("D", {T: 0.8, F: 0.1}, parents=["W"])
    return net


def tree() -> pgm.BayesianNetwork:
    """O9: C -> {S, R}, R -> W."""
    net = book.fig_14_3()
    net.add("W", {T: 0.9, F: 0.2}, parents=["R"])
    return net


FIXED_POINTS = {  # the network, what is known, P(name) and messages: O9 and O10
    "chain": (
        book.fig_14_2,
        {"W": T},
        {"R": 0.7339055794, "C": 0.652360515},
        {"lambda(R)": (0.9, 0.2), "lambda_R(C)": (0.76, 0.27), "pi(R)": (0.38, 0.62)},
    ),
    "clamped": (book.fig_14_2, {"C": T, "W": T}, {"R": 0.9473684211}, {"pi(R)": (0.8, 0.2)}),
    "tree": (
        tree,
        {"S": T, "W": T},
        {"C": 0.3601895735, "R": 0.5545023697},
        {
            "lambda_S(C)": (0.1, 0.5),
            "lambda_R(C)": (0.76, 0.27),
            "pi_R(C)": (0.1666666667, 0.8333333333),
            "pi(R)": (0.2166666667, 0.7833333333),
        },
    ),
    "open": (tree, {"W": T}, {}, {"pi_S(C)": (0.7378640777, 0.2621359223), "lambda_R(C)": (0.76, 0.27)}),
    "polytree": (
        polytree,
        {"D": T},
        {"W": 0.8965517241, "R": 0.6353448276, "S": 0.3206896552},
        {
            "pi(W)": (0.52, 0.48),
            "lambda(W)": (0.8, 0.1),
            "lambda_W(R)": (0.737, 0.282),
            "lambda_W(S)": (0.744, 0.394),
        },
    ),
}


@pytest.mark.parametrize("case", FIXED_POINTS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_C35_every_schedule_has_the_same_fixed_point(schedule, case):
    """All the posteriors and messages of O9 and O10, whichever goes first."""
    make, given, beliefs, expected = FIXED_POINTS[case]
    p = make().marginals(given, engine=pgm.engines.Loopy(schedule=schedule, trace=True))
    for name, value in beliefs.items():
        assert p[name][T] == near(value)
    last = messages(p)
    for name, numbers in expected.items():
        ends = last[name] / last[name].sum()
        assert ends == pytest.approx(np.array(numbers) / sum(numbers), abs=2e-6), name
    assert p.exact
    # Where C and W are known there is nothing to send.
    assert max(p.report.residuals[-1:], default=0.0) < 1e-12


def chain(n: int) -> pgm.BayesianNetwork:
    """x1 -> ... -> xn, of figure 14.2's kind, and y below the last."""
    net = pgm.BayesianNetwork()
    for i in range(1, n + 1):
        net.add(f"x{i}", 0.4 if i == 1 else {T: 0.8, F: 0.1}, parents=[f"x{i - 1}"] if i > 1 else [])
    net.add("y", {T: 0.9, F: 0.2}, parents=[f"x{n}"])
    return net


@pytest.mark.parametrize("n", [2, 5, 12, 40])
def test_C35_flooding_takes_as_many_rounds_as_the_longest_path(n):
    """And one more to see that nothing moves. Going forwards and backwards takes three sweeps at any length.

    So flooding sends some n**2 messages, and the other two some n.
    """
    net = chain(n)
    sweeps, sent = {}, {}
    for schedule in SCHEDULES:
        p = net.marginals({"y": T}, engine=pgm.engines.Loopy(schedule=schedule, trace=True))
        exact = net.marginals({"y": T})
        assert all(p[name][T] == near(exact[name][T]) for name in p)
        sweeps[schedule] = p.report.iterations
        sent[schedule] = len(p.report.trace)
    assert sweeps["parallel"] == n + 1
    assert sweeps["sequential"] <= 3
    assert sent["parallel"] > n * n
    assert max(sent["sequential"], sent["residual"]) < 9 * n


def test_C35_the_largest_change_first_needs_no_sweep_to_see_that_nothing_moves():
    """On C -> R -> W one message goes each way, and nothing is left that would change."""
    net, sweeps = book.fig_14_2(), {}
    for schedule in SCHEDULES:
        p = net.marginals({"W": T}, engine=pgm.engines.Loopy(schedule=schedule))
        sweeps[schedule] = p.report.iterations
    assert sweeps == {"sequential": 2, "residual": 1, "parallel": 3}


def test_C35_in_flooding_all_speak_before_they_have_heard():
    """In round one R has heard nothing of C, nor C of W: pi(R) is the mean of .8 and .1, lambda is flat."""
    net = book.fig_14_2()
    p = net.marginals({"W": T}, engine=pgm.engines.Loopy(schedule="parallel", trace=True))
    first = {row[1]: row[4] for row in p.report.trace if int(row[0]) == 1}
    assert first["pi(R)"] == "0.550000 0.450000"  # False first
    assert first["lambda_R(C)"] == "1.000000 1.000000"
    assert messages(p)["lambda_R(C)"] == like((0.76, 0.27))
    p = net.marginals({"W": T}, engine=pgm.engines.Loopy(schedule="sequential", trace=True))
    first = {row[1]: row[4] for row in p.report.trace if int(row[0]) == 1}
    assert first["pi(R)"] == "0.620000 0.380000"


def test_C36_pi_and_lambda_on_a_tree():
    net = tree()
    given = {"S": T, "W": T}
    p = net.marginals(given, engine=TRACED)
    m = messages(p)
    assert m["lambda_S(C)"] == like((0.1, 0.5))
    assert m["lambda_R(C)"] == like((0.76, 0.27))
    assert m["pi_R(C)"] == share(0.1666666667, 0.8333333333)
    assert m["pi(R)"] == share(0.2166666667, 0.7833333333)
    below = m["lambda_S(C)"] * m["lambda_R(C)"]  # lambda(C)
    assert below / below.max() == pytest.approx(np.array([0.076, 0.135]) / 0.135, abs=2e-6)
    assert p["C"][T] == near(0.3601895735)
    assert p["R"][T] == near(0.5545023697)
    assert net.probability(given, engine="loopy") == near(0.1055)
    assert net.probability({"W": T}, given={"S": T}, engine="loopy") == near(0.3516666667)
    # What C sends S, which is observed, needs S open.
    open_s = messages(net.marginals({"W": T}, engine=TRACED))
    assert open_s["pi_S(C)"] == share(0.7378640777, 0.2621359223)


def test_C37_pi_and_lambda_on_a_polytree():
    net = polytree()
    p = net.marginals({"D": T}, engine=TRACED)
    m = messages(p)
    assert m["pi(W)"] == share(0.52, 0.48)
    assert m["lambda_D(W)"] == like((0.8, 0.1))
    assert m["lambda(W)"] == like((0.8, 0.1))
    assert m["lambda_W(R)"] == like((0.737, 0.282))
    assert m["lambda_W(S)"] == like((0.744, 0.394))
    assert net.probability({"D": T}, engine="loopy") == near(0.464)
    assert p["W"][T] == near(0.8965517241)
    assert p["S"][T] == near(0.3206896552)
    assert net.query("R", {"D": T, "S": T}, engine="loopy")[T] == near(0.4112903226)
    assert net.query("R", {"D": T, "S": F}, engine="loopy")[T] == near(0.7411167513)


def test_C42_loops_make_it_approximate():
    net = book.fig_14_5()
    before = net.marginals(engine="loopy")
    assert before["W"][T] == near(0.59875)
    assert [before[n][T] for n in "CSR"] == pytest.approx([0.5, 0.3, 0.45], abs=1e-12)
    after = net.marginals({"W": T}, engine="loopy")
    assert [after[n][T] for n in "CSR"] == [near(x, 7) for x in (0.6149069939, 0.3893194702, 0.6746058)]
    assert before.exact is False
    assert after.exact is False
    assert net.query("C", {"W": T})[T] == near(0.5834932821)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_C50_messages_on_undirected_chains(schedule):
    net = pgm.MarkovNetwork()
    for name in "CRW":
        net.add_variable(name, states=[F, T])
    net.add_factor(["C", "R"], [[0.6 * 0.9, 0.6 * 0.1], [0.4 * 0.2, 0.4 * 0.8]])
    net.add_factor(["R", "W"], [[0.8, 0.2], [0.1, 0.9]])
    engine = pgm.engines.Loopy(schedule=schedule)
    assert net.query("C", {"W": T}, engine=engine)[T] == near(0.652360515)
    assert net.query("R", {"W": T}, engine=engine)[T] == near(0.7339055794)
    assert net.query("R", {"W": T, "C": T}, engine=engine)[T] == near(0.9473684211)


def sent(p: pgm.Distribution | pgm.Marginals | pgm.Assignment) -> dict[tuple[str, str], np.ndarray]:
    return {row[2:4]: np.array([float(x) for x in row[4].split()])[::-1] for row in p.report.trace}


def test_C51_messages_of_a_factor_graph():
    found = sent(factor_graph().marginals(engine=TRACED))
    assert found["f(R)", "R"] == share(0.4, 0.6)
    assert found["f(S)", "S"] == share(0.2, 0.8)
    assert found["f(R, S, W)", "W"] == share(0.52, 0.48)


def test_C52_sum_product():
    net = factor_graph()
    p = net.marginals({"W": T}, engine=TRACED)
    found = sent(p)
    assert found["f(R, S)", "R"] == share(0.91 / 1.17, 0.26 / 1.17)
    assert found["f(R, S)", "S"] == share(0.92 / 1.34, 0.42 / 1.34)
    assert net.probability({"W": T}, engine="loopy") == near(0.52)
    assert p["R"][T] == near(0.7)
    assert p["S"][T] == near(0.3538461538)


def test_C53_max_product():
    net = factor_graph()
    best = net.map({"W": T}, engine="loopy")
    assert dict(best) == {"R": T, "S": F}
    assert math.exp(best.log_joint) == near(0.288)
    assert best.probability == near(0.5538461538)
    assert best.exact
    assert dict(net.map(engine="loopy")) == {"R": F, "S": F, "W": F}
    assert math.exp(net.map(engine="loopy").log_joint) == near(0.432)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_C53_messages_of_max_product(schedule):
    """O6: f_c -> R = (.72, .18), f_c -> S = (.54, .36); with the priors max-marginals, R (.288, .108).

    Sums would send (.91, .26) and (.92, .42).
    """
    best = factor_graph().map({"W": T}, engine=pgm.engines.Loopy(schedule=schedule, trace=True))
    found = sent(best)
    assert found["f(R, S)", "R"] == share(0.72 / 0.9, 0.18 / 0.9)
    assert found["f(R, S)", "S"] == share(0.54 / 0.9, 0.36 / 0.9)
    assert found["f(R)", "R"] == share(0.4, 0.6)
    assert found["f(S)", "S"] == share(0.2, 0.8)
    through_r = found["f(R, S)", "R"] * found["f(R)", "R"]
    through_s = found["f(R, S)", "S"] * found["f(S)", "S"]
    assert through_r * 0.9 == pytest.approx([0.288, 0.108], abs=2e-6)
    assert through_s * 0.9 == pytest.approx([0.108, 0.288], abs=2e-6)


@pytest.mark.parametrize("engine", ["exact", "loopy"])
def test_C53_the_best_with_each_state(engine):
    """O6: max-marginals as what is best when the state is given: R (.288, .108), S (.108, .288)."""
    for name, values in (("R", {T: 0.288, F: 0.108}), ("S", {T: 0.108, F: 0.288})):
        for state, value in values.items():
            best = factor_graph().map({"W": T, name: state}, engine=engine)
            assert math.exp(best.log_joint) == near(value)


def test_C54_C55_pixels():
    """On loops the numbers are others; the picture is the same, and the bound proves it."""
    for net in (book.denoising(1.0), book.denoising(1.0, ((0, 0), (1, 1), (2, 3)))):
        best = net.map(engine=pgm.engines.Loopy(damping=0.3))
        assert (
            dict(best)
            == dict(net.map())
            == {f"x{i}{j}": 1 if j < 2 else -1 for i in range(4) for j in range(4)}
        )
        assert best.bound >= best.log_joint - 1e-9
        found = net.marginals(engine=pgm.engines.Loopy(damping=0.3))
        assert {name: p.mode() for name, p in found.items()} == dict(best)
    assert book.denoising(1.0).map(engine="loopy").log_joint == near(29.18334746)
    assert book.denoising(1.0).log_partition(engine="mean-field") < 29.65907445


def test_C56_compatible_corners():
    """O21 is the instance that the catalogue gives: every edge wants its ends alike."""
    best = book.cube_of_interpretations().map(engine="loopy")
    assert len(set(best.values())) == 1
    assert best.log_joint == pytest.approx(6.0)
    # Which of the two is not the order of the states: a corner that is seen decides for all.
    for reading in (1, -1):
        best = book.cube_of_interpretations().map({"x5": reading}, engine="loopy")
        assert set(best.values()) == {reading}
        assert best.log_joint == pytest.approx(6.0)


def test_C57_necker_cube_falls_into_one_reading():
    net = book.necker_cube()
    best = net.map({"A0": 1}, engine="loopy")
    assert dict(best) == {name: 1 if name[0] == "A" else -1 for name in best}
    assert best.log_joint == pytest.approx(16.0)
    # Two modes: one is all that independent distributions can follow. The bound says what that costs.
    found = net.log_partition(engine="mean-field")
    assert 17.10536712 - math.log(2) - 0.5 < found < 17.10536712 - math.log(2) + 0.1


def ascent(net: pgm.BayesianNetwork | pgm.MarkovNetwork, known: dict[int, int], start: list[float]) -> Ascent:
    """Mean field from a given start: the probabilities of the second state of each variable left."""
    compiled = net._compile()
    case = reduce_case(compiled.program, Known(known), np.arange(len(compiled.names)), Clock(None, None))
    graph = make_graph(case, "mean-field", each_message=16.0)
    g = graph.arrays
    q = np.array([[1 - p, p] for p in start]).ravel()
    every, none = np.ones(g.cards.size, np.uint8), np.zeros(g.low.size, np.uint8)
    rest = every, np.arange(g.cards.size), np.ones(g.table.size, np.uint8), none, Clock(None, None)
    found = Ascent(graph, [], *rest, q)
    found.climb(1000, 1e-13)
    found.bound += math.log(graph.constant[0]) + graph.constant[1] * math.log(2.0)
    return found


def test_C60_mean_field():
    net = book.fig_14_5()
    p = net.marginals({"W": T}, engine="mean-field")
    assert [p[n][T] for n in "CSR"] == [near(x, 4) for x in (0.8978653268, 0.1408039793, 0.9486196595)]
    assert p.report.log_bounds == (near(-0.8806793371, 8), math.inf)
    assert net.probability({"W": T}, engine="mean-field").log == near(-0.8806793371, 8)
    known = {net.nodes.index("W"): 1}
    order = [n for n in net.nodes if n != "W"]
    first = ascent(net, known, [0.5] * 3)
    second = ascent(net, known, [{"C": 0.1, "S": 0.9, "R": 0.1}[n] for n in order])
    for found, bound, q in (
        (first, -0.8806793371, {"C": 0.8978653268, "S": 0.1408039793, "R": 0.9486196595}),
        (second, -1.24486818, {"C": 0.1290407466, "S": 0.8091364555, "R": 0.2189686386}),
    ):
        assert found.bound == near(bound, 9)
        assert found.q[1::2] == pytest.approx([q[n] for n in order], abs=1e-6)


def test_C44_four_spins_by_messages_and_by_mean_field():
    net = book.ising_ring()
    p = net.marginals(engine="loopy")
    means = [p[f"x{i}"][1] - p[f"x{i}"][-1] for i in range(4)]
    assert means == [near(x, 8) for x in (0.3164746481, 0.1697391533, 0.1292723472, 0.1697391533)]
    found = ascent(net, {}, [0.25] * 4)  # the mean of each is 0.5; +1 is the first state
    assert 1 - 2 * found.q[1::2] == pytest.approx(
        [0.6751043854, 0.5200634085, 0.4777489495, 0.5200634085], abs=1e-6
    )
    assert found.bound == near(2.922112506)
    assert net.log_partition(engine="mean-field") == near(2.922112506, 8)
