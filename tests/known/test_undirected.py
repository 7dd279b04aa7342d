"""Worked numbers of the catalogue on undirected models: C.md O6, O7, O12, O19 to O21."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pgm
from tests.known import book
from tests.known.book import factor_graph

T, F = True, False


DENOISED = [  # O20: P(+1) of each pixel
    [0.9691785653, 0.8471342003, 0.02238535782, 0.009044449548],
    [0.978590015, 0.7170096801, 0.0126549382, 0.008194179485],
    [0.9900193882, 0.9417860599, 0.02803469721, 0.04988280036],
    [0.9872464801, 0.9542112639, 0.0389879016, 0.02548832697],
]


def near(value: float, digits: int = 10) -> object:
    return pytest.approx(value, rel=0.6 * 10.0 ** (1 - digits))


def mean(net: pgm.MarkovNetwork, name: str, given: dict | None = None) -> float:
    d = net.query(name, given or {})
    return d[1] - d[-1]


def correlation(net: pgm.MarkovNetwork, a: str, b: str) -> float:
    d = net.query([a, b])
    return d[1, 1] + d[-1, -1] - d[1, -1] - d[-1, 1]


def test_C44_a_markov_random_field_and_its_partition():
    net = book.ising_ring()
    assert net.log_partition() == near(3.341982775)
    assert math.exp(net.log_partition()) == near(28.27513438)
    assert [mean(net, f"x{i}") for i in range(4)] == [
        near(x) for x in (0.2913126125, 0.1562436565, 0.1189942557, 0.1562436565)
    ]
    assert correlation(net, "x0", "x1") == near(0.536343604)
    assert net.query("x0")[1] == near(0.6456563062)
    assert math.exp(book.ising_ring(0.0).log_partition()) == near(27.04878276)


def test_C45_undirected_separation():
    """On a ring only what is opposite is separated, and only by both of the others; all 24 statements."""
    net = book.ising_ring()
    names = list(net.variables)
    found = set()
    for a, b in itertools.combinations(names, 2):
        rest = [name for name in names if name not in (a, b)]
        for given in itertools.chain.from_iterable(itertools.combinations(rest, k) for k in range(3)):
            if net.independent(a, b, given=list(given)):
                found.add((a, b, given))
    assert found == {("x0", "x2", ("x1", "x3")), ("x1", "x3", ("x0", "x2"))}
    assert not net.independent(["x0", "x1"], "x2", given="x3")
    assert correlation(net, "x0", "x2") == near(0.4084761544)
    for x1, x3 in itertools.product((1, -1), repeat=2):
        joint = net.query(["x0", "x2"], {"x1": x1, "x3": x3}).values
        assert joint == pytest.approx(np.outer(joint.sum(1), joint.sum(0)), abs=1e-15)
    # With x1 known the other way round is open: x3 summed out is 2 cosh((x0 + x2) / 2).
    joint = net.query(["x0", "x2"], {"x1": 1})
    odds = joint[1, 1] * joint[-1, -1] / (joint[1, -1] * joint[-1, 1])
    assert odds == near(math.cosh(1.0) ** 2)


def test_C49_directions_dropped_with_the_prior_kept():
    net = book.fig_14_2().to_markov_network()
    assert net.log_partition() == pytest.approx(0.0, abs=1e-15)
    assert net.query("W")[T] == pytest.approx(0.466)


def test_C50_undirected_chains_give_the_same_marginals():
    net = pgm.MarkovNetwork()
    for name in "CRW":
        net.add_variable(name, states=[F, T])
    net.add_factor(["C", "R"], [[0.6 * 0.9, 0.6 * 0.1], [0.4 * 0.2, 0.4 * 0.8]])
    net.add_factor(["R", "W"], [[0.8, 0.2], [0.1, 0.9]])
    assert net.query("C", {"W": T})[T] == near(0.652360515)
    assert net.query("R", {"W": T})[T] == near(0.7339055794)
    assert net.query("R", {"W": T, "C": T})[T] == near(0.9473684211)


def test_C51_a_factor_graph_is_a_markov_network():
    assert pgm.FactorGraph is pgm.MarkovNetwork
    net = factor_graph()
    assert net.log_partition() == pytest.approx(0.0, abs=1e-15)
    assert net.query("W")[T] == pytest.approx(0.52)


def test_C52_sum_product():
    net = factor_graph()
    assert net.query("R", {"W": T}).values == pytest.approx([0.3, 0.7])
    assert net.query("S", {"W": T}).values == pytest.approx([0.6461538462, 0.3538461538], abs=1e-10)
    assert net.probability({"W": T}) == pytest.approx(0.52)


def test_C53_max_product():
    net = factor_graph()
    best = net.map({"W": T})
    assert {**best, "W": T} == {"R": T, "S": F, "W": T}
    assert math.exp(best.log_joint) == pytest.approx(0.288)
    assert best.probability == near(0.5538461538)
    assert dict(net.map()) == {"R": F, "S": F, "W": F}
    assert net.map().probability == pytest.approx(0.432)
    found = net.max_marginals({"W": T})
    assert (found["R"][T], found["R"][F]) == (near(0.288), near(0.108))
    assert (found["S"][T], found["S"][F]) == (near(0.108), near(0.288))


def test_C54_pixels_behind_an_obstacle():
    """O20: what was not seen is filled in from its neighbours; what was seen wrong is mended."""
    missing = ((0, 0), (1, 1), (2, 3))
    net = book.denoising(1.0, missing)
    assert net.log_partition() == near(30.47936026)
    found = [net.query(f"x{i}{j}")[1] for i, j in missing]
    assert found == [near(0.93424942), near(0.927860906), near(0.006175425237)]
    assert dict(net.map()) == book.CLEAN
    # A pixel that was not seen depends on its neighbours alone: both off, then one of each.
    assert net.query("x00", {"x10": -1, "x01": -1})[1] == near(1 / (1 + math.exp(4.0)))
    assert net.query("x00", {"x10": 1, "x01": -1})[1] == near(0.5)


def test_C55_denoising():
    net = book.denoising(1.0)
    assert net.log_partition() == near(29.65907445)
    clean = {f"x{i}{j}": 1 if j < 2 else -1 for i in range(4) for j in range(4)}
    best, second = net.k_best(k=2)
    assert dict(best) == clean
    assert best.probability == near(0.6214331218)
    assert best.log_joint == near(29.18334746)  # log of the product of factors: the energy of the book
    assert second.log_joint == near(27.38057204)
    m = net.marginals()
    for i in range(4):
        for j in range(4):
            assert m[f"x{i}{j}"][1] == near(DENOISED[i][j])
            assert m[f"x{i}{j}"].mode() == clean[f"x{i}{j}"]
    weak = book.denoising(0.2)
    assert dict(weak.map()) == {f"x{i}{j}": int(book.PIXELS[i, j]) for i in range(4) for j in range(4)}
    assert weak.log_partition() == near(20.32570166)


def test_C55_denoising_as_a_grid():
    seen = (book.PIXELS + 1) // 2  # 0 and 1
    grid = pgm.MarkovNetwork.grid(seen, states=[0, 1], coupling=2.0, unary=[[0.9, 0.1], [0.1, 0.9]])
    assert grid.map().to_array("pixel").tolist() == [[1, 1, 0, 0]] * 4
    # exp(x y) on spins is exp(2 [x = y]) but for a constant: the same posterior
    assert grid.query("pixel[1,1]")[1] == near(0.7170096801)
    believed = grid.marginals().to_array("pixel")
    assert believed.shape == (4, 4, 2)
    assert believed[..., 1].tolist() == [list(map(near, row)) for row in DENOISED]
    assert grid.map().probability == near(0.6214331218)


# --- C56: lines and corners ---

# The drawing of a cube: an outline a b c d e f, clockwise, and three lines from a, c and e to the middle.
# A line is a convex edge +, a concave edge -, or the edge of a body in front, which lies to the right of the
# arrow: > clockwise along the outline, < against it, "in" and "out" as seen from the middle.
OUTLINE = ["ab", "bc", "cd", "de", "ef", "fa"]
# Huffman (1971) and Clowes (1971): what three faces that meet can look like.
ARROW = [(">", ">", "+"), ("+", "+", "-"), ("-", "-", "+")]  # line before, line after, line to the middle
ELL = [(">", ">"), ("<", "<"), ("-", ">"), (">", "-"), ("+", "<"), ("<", "+")]
FORK = [("+",) * 3, ("-",) * 3, ("-", "in", "out"), ("out", "-", "in"), ("in", "out", "-")]


def cube_of_lines(attached: float = 1.0) -> pgm.MarkovNetwork:
    """Labels of nine lines and kinds of seven corners; one on something else has the weight `attached`."""
    net = pgm.MarkovNetwork("line drawing")
    for line in OUTLINE:
        net.add_variable(line, states=["<", "+", "-", ">"])
    for line in ("ag", "cg", "eg"):
        net.add_variable(line, states=["in", "out", "-", "+"])

    def corner(name: str, kinds: list[tuple[str, ...]], lines: list[str], weights: list[float]) -> None:
        net.add_variable(name, states=list(range(len(kinds))))
        rows = {(k, *kind): w for k, (kind, w) in enumerate(zip(kinds, weights, strict=True))}
        net.add_factor([name, *lines], rows)

    for i, name in enumerate("abcdef"):
        lines = [OUTLINE[i - 1], OUTLINE[i]]
        if name in "ace":
            corner(name, ARROW, [*lines, f"{name}g"], [1.0, 1.0, attached])
        else:
            corner(name, ELL, lines, [1.0] * 6)
    corner("g", FORK, ["ag", "cg", "eg"], [1.0] * 5)
    return net


def labels(found: pgm.Assignment, given: dict[str, str]) -> str:
    return "".join({**found, **given}[line] for line in OUTLINE)


AFLOAT, ATTACHED = ">>>>>>", {"->>>>-", ">-->>>", ">>>-->"}


def test_C56_a_cube_has_four_readings():
    """Afloat, or attached on one of three sides.

    Two attached arrows would leave the L between them concave on both sides, which is no legal L; a concave
    line to the middle would make the outline convex on both sides of an L, which is none either. So 1 + 3.
    """
    net = cube_of_lines()
    assert net.partition() == 4.0
    assert net.partition(engine="search") == 4.0
    readings = net.k_best(k=10)
    assert len(readings) == 4
    assert {labels(best, {}) for best in readings} == {AFLOAT, *ATTACHED}
    found = net.marginals()
    for line in ("ag", "cg", "eg"):
        assert found[line]["+"] == near(1.0)
    for line in OUTLINE:
        assert found[line].to_dict() == near({"<": 0.0, "+": 0.0, "-": 1 / 4, ">": 3 / 4})
    assert net.probability({"ab": "-", "fa": "-"}) == near(1 / 4)
    with pytest.raises(pgm.ImpossibleEvidence):
        net.query("g", {"ab": "-", "bc": "-"})


@pytest.mark.parametrize("engine", ["auto", "branch-and-bound", "loopy"])
def test_C56_the_most_compatible_reading(engine):
    """Where being attached counts half: .4 for afloat, .2 for each of the others; what is seen decides."""
    net = cube_of_lines(attached=0.5)
    best = net.map(engine=engine)
    assert labels(best, {}) == AFLOAT
    assert {best[line] for line in ("ag", "cg", "eg")} == {"+"}
    assert [best[corner] for corner in "abcdefg"] == [0] * 7
    assert best.log_joint == pytest.approx(0.0, abs=1e-9)
    for given, reading in (({"cd": "-"}, ">-->>>"), ({"fa": "-"}, "->>>>-"), ({"e": 2}, ">>>-->")):
        best = net.map(given, engine=engine)
        assert labels(best, given) == reading
        assert best.log_joint == near(math.log(0.5))
    assert net.map(engine="auto").probability == near(0.4)


def test_C57_necker_cube():
    net = book.necker_cube()
    assert net.log_partition() == near(17.10536712)
    first, second, third = net.k_best(k=3)
    assert [first.probability, second.probability] == [near(0.3310893108)] * 2
    assert third.probability < 0.1
    assert first.log_joint == pytest.approx(16.0)
    assert dict(first) == {name: 1 if name[0] == "A" else -1 for name in first}  # 1 is declared first
    assert dict(second) == {name: -state for name, state in first.items()}
    assert mean(net, "A0") == pytest.approx(0.0, abs=1e-14)
    assert correlation(net, "A0", "A1") == near(0.8776901444)
    assert correlation(net, "A0", "A7") == near(0.8501187062)
    assert correlation(net, "A0", "B0") == near(-0.8776901444)
    clamped = net.marginals({"A0": 1})
    assert [clamped[name][1] for name in ("A7", "B0", "B7")] == [
        near(x) for x in (0.9250593531, 0.06115492781, 0.07695261234)
    ]
    assert net.map({"A0": 1}).probability == near(0.6621786217)


def test_C57_necker_cube_of_eight_nodes():
    net = book.cube_of_interpretations()
    assert math.exp(net.log_partition()) == near(1566.895211)
    assert 2 * net.map().probability == near(0.514940362)
    assert correlation(net, "x0", "x1") == near(0.6755263838)
    assert correlation(net, "x0", "x7") == near(0.5534554195)


def test_C77_parity_checks_correct_an_error():
    """A (7, 4) Hamming code as local functions: one flipped bit is found by the most probable word."""
    checks = [(0, 2, 4, 6), (1, 2, 5, 6), (3, 4, 5, 6)]
    net = pgm.MarkovNetwork()
    received = [1, 0, 1, 1, 0, 1, 0]  # the word 1011010 reads right but for bit 5
    for i, bit in enumerate(received):
        net.add_variable(f"b{i}", states=[0, 1])
        net.add_factor([f"b{i}"], [0.1, 0.9] if bit else [0.9, 0.1])
    for check in checks:
        rows = {key: 1.0 for key in np.ndindex(2, 2, 2, 2) if sum(key) % 2 == 0}
        net.add_factor([f"b{i}" for i in check], rows)
    best = net.map()
    word = [best[f"b{i}"] for i in range(7)]
    assert all(sum(word[i] for i in check) % 2 == 0 for check in checks)
    assert sum(a != b for a, b in zip(word, received, strict=True)) <= 1
    words = [w for w in np.ndindex(*(2,) * 7) if all(sum(w[i] for i in c) % 2 == 0 for c in checks)]
    weight = {w: math.prod(0.9 if a == b else 0.1 for a, b in zip(w, received, strict=True)) for w in words}
    assert len(words) == 16
    assert net.log_partition() == pytest.approx(math.log(sum(weight.values())), abs=1e-14)
    assert best.probability == pytest.approx(max(weight.values()) / sum(weight.values()))


# --- closed forms ---


@pytest.mark.parametrize(
    "engine", ["exact", "elimination", "loopy", "bounds", "clique-sequence", "importance"]
)
def test_an_ising_chain_by_its_transfer_matrix(engine):
    """Z and P(spin) are products of matrices of two rows (Ising 1925); on a chain all of these agree."""
    n, coupling, field = 40, 0.7, 0.2
    chain = {(f"x{i}", f"x{i + 1}"): coupling for i in range(n - 1)}
    net = book.spins({f"x{i}": field for i in range(n)}, chain)
    sign = np.array([1.0, -1.0])
    step = np.exp(coupling * np.outer(sign, sign)) * np.exp(field * sign)  # of the next spin
    left = [np.exp(field * sign)]
    right = [np.ones(2)]
    for _ in range(n - 1):
        left.append(left[-1] @ step)
        right.append(step @ right[-1])
    assert net.log_partition(engine=engine) == near(math.log(left[-1].sum()), 9)
    if engine == "importance":  # its weights are all the same here; its marginals are drawn
        return
    found = net.marginals(engine=engine)
    for i in (0, 1, 17, n - 1):
        p = left[i] * right[n - 1 - i]
        assert found[f"x{i}"].values == pytest.approx(p / p.sum(), abs=1e-9)


def test_an_ising_ring_by_its_eigenvalues():
    """tr T**n = (2 cosh J)**n + (2 sinh J)**n without a field."""
    n, coupling = 30, 0.4
    net = book.spins({}, {(f"x{i}", f"x{(i + 1) % n}"): coupling for i in range(n)})
    expected = n * math.log(2 * math.cosh(coupling)) + math.log1p(math.tanh(coupling) ** n)
    assert net.log_partition() == near(expected)
    both = (math.tanh(coupling) ** 5 + math.tanh(coupling) ** (n - 5)) / (1 + math.tanh(coupling) ** n)
    assert correlation(net, "x0", "x5") == near(both)
    low, high = net.log_partition(engine=pgm.engines.Bounds(ibound=1)).report.log_bounds
    assert low <= expected <= high
