"""Most probable states by minimum cuts, roof duality and expansion moves, against brute force and scipy."""

from __future__ import annotations

import itertools
import math
import pickle
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

import pgm
from pgm.evidence import observe
from pgm.inference.engines.branching import prepared as branching
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.cuts import compiled, energies, expansion, flow, multilevel
from pgm.inference.program.reduction import reduce_everything
from pgm.runtime import running
from pgm.runtime.clock import Clock
from pgm.runtime.running import CUTS, Impossible
from tests.oracle import Known, Oracle, Plain, log
from tests.strategies import KINDS, NUMBERS, RNG, TIES, Case, Question, knowledge, models

DATA = st.data()


# --- the flow itself ---


def random_graph(rng: np.random.Generator, n: int, m: int, most: int) -> tuple[np.ndarray, ...]:
    left = rng.integers(n, size=m).astype(np.int32)
    right = ((left + 1 + rng.integers(n - 1, size=m)) % n).astype(np.int32)
    there, back = rng.integers(most, size=m), rng.integers(most, size=m)
    excess = rng.integers(-most, most + 1, size=n) * (rng.random(n) < 0.6)
    return left, right, there, back, excess


def flow_by_scipy(n: int, left: Any, right: Any, there: Any, back: Any, excess: np.ndarray) -> int:
    s, t = n, n + 1
    up, down = np.flatnonzero(excess > 0), np.flatnonzero(excess < 0)
    i = np.concatenate([left, right, np.full(up.size, s), down])
    j = np.concatenate([right, left, up, np.full(down.size, t)])
    capacity = np.concatenate([there, back, excess[up], -excess[down]])
    graph = coo_array((capacity, (i, j)), shape=(n + 2, n + 2)).tocsr().astype(np.int32)
    return int(maximum_flow(graph, s, t).flow_value)


@pytest.mark.parametrize("module", [CUTS, compiled], ids=["compiled", "interpreted"])
@given(rng=RNG, n=st.integers(2, 12), m=st.integers(0, 40), most=st.sampled_from([2, 3, 100]))
def test_the_flow_is_scipys_and_its_cut_costs_as_much(
    module: Any, rng: np.random.Generator, n: int, m: int, most: int
) -> None:
    left, right, there, back, excess = random_graph(rng, n, m, most)
    first, head, sister, forward = module.link(n, left, right)
    residual = np.empty(2 * m, np.int64)
    residual[forward], residual[sister[forward]] = there, back
    rest, tree = excess.copy(), np.empty(n, np.uint8)
    assert module.max_flow(first, head, sister, residual, rest, tree, np.zeros(1, np.uint8)) == 0
    pushed = int(excess[excess > 0].sum() - rest[rest > 0].sum())
    assert pushed == flow_by_scipy(n, left, right, there, back, excess)
    assert pushed == int(rest[rest < 0].sum() - excess[excess < 0].sum())
    assert (residual >= 0).all()
    prefer = rng.integers(1, 3, size=n).astype(np.uint8)
    sides = [tree == flow.SOURCE, tree != flow.SINK]
    broken, order = tree.copy(), rng.permutation(n)
    module.break_ties(first, head, sister, residual, broken, order, prefer, np.zeros(1, np.uint8))
    sides.append(broken == flow.SOURCE)

    def cost(side: np.ndarray) -> int:
        over = side[left] & ~side[right], ~side[left] & side[right]
        ends = excess[~side & (excess > 0)].sum() - excess[side & (excess < 0)].sum()
        return int(there[over[0]].sum() + back[over[1]].sum() + ends)

    assert [cost(side) for side in sides] == [pushed] * 3
    if n <= 8:  # of all minimum cuts the first in the order of preference
        best = [
            np.array(s, bool)
            for s in itertools.product([True, False], repeat=n)
            if cost(np.array(s, bool)) == pushed
        ]
        wanted = [tuple((side == (prefer == flow.SOURCE))[order]) for side in best]
        assert tuple((sides[2] == (prefer == flow.SOURCE))[order]) == max(wanted)


@given(rng=RNG, n=st.integers(2, 8), m=st.integers(1, 24), most=st.sampled_from([3, 100]))
def test_who_stays_is_who_stays_in_the_least_and_in_the_largest_cut(
    rng: np.random.Generator, n: int, m: int, most: int
) -> None:
    """The nodes that every cheapest set has, and those that none has, when all nodes are paid to leave."""
    left, right, there, back, excess = random_graph(rng, n, m, most)
    tilt = rng.integers(0, 3, size=n)

    def in_all_and_in_none(excess: np.ndarray) -> tuple[list[bool], list[bool]]:
        sides = [
            np.array(side) for side in itertools.product([False, True], repeat=n)
        ]  # True: with the source
        costs = [
            there[s[left] & ~s[right]].sum() + back[~s[left] & s[right]].sum() - excess[s].sum()
            for s in sides
        ]
        best = np.array([s for s, cost in zip(sides, costs, strict=True) if cost == min(costs)])
        return best.all(axis=0).tolist(), (~best).all(axis=0).tolist()

    network = flow.Network(n, left, right, there, back, excess.copy())
    trees = network.push(Clock(None, None))
    before = (trees == flow.SOURCE).tolist(), (trees == flow.SINK).tolist()
    assert before == in_all_and_in_none(excess)
    stays = [
        in_all_and_in_none(excess - tilt)[0] == before[0],
        in_all_and_in_none(excess + tilt)[1] == before[1],
    ]
    sides = (flow.SOURCE, flow.SINK)
    firm = [network.firm(trees, side, tilt, Clock(None, None)) for side in sides]
    assert all(stays[i] for i in range(2) if firm[i])
    if not tilt.any():
        assert firm == [True, True]
    assert network.stays(trees, tilt, Clock(None, None)) == all(stays)


@pytest.mark.parametrize("n", [3_000])
def test_a_larger_flow_is_scipys(n: int) -> None:
    for seed in range(4):
        left, right, there, back, excess = random_graph(np.random.default_rng(seed), n, 4 * n, 50)
        network = flow.Network(n, left, right, there, back, excess.copy())
        network.push(Clock(None, None))
        pushed = int(excess[excess > 0].sum() - network.excess[network.excess > 0].sum())
        assert pushed == flow_by_scipy(n, left, right, there, back, excess)


# --- models of binary variables in pairs ---


def model_of(plain: Plain) -> pgm.MarkovNetwork:
    mrf = pgm.MarkovNetwork()
    for name, card in plain.cards.items():
        mrf.add_variable(name, states=list(range(card)))
    for scope, table in plain.tables:
        mrf.add_factor(list(scope), table)
    return mrf


@st.composite
def pairwise(draw: st.DrawFn, kind: str, cards: Sequence[int] = (2,)) -> tuple[Plain, Known, dict[str, Any]]:
    """A model of tables over one or two variables, and evidence.

    kind: "like" favours equal states, "flipped" does after some variables' states are exchanged, "any" does
    not ask.
    """
    rng = draw(RNG)
    n = draw(st.integers(1, 9 if max(cards) == 2 else 6))
    names = [f"x{i}" for i in range(n)]
    sizes = {name: int(rng.choice(cards)) for name in names}
    ties, zeros = draw(st.booleans()), draw(st.sampled_from([0.0, 0.0, 0.2]))
    flips = rng.integers(2, size=n) * (kind == "flipped")

    def values(shape: tuple[int, ...]) -> np.ndarray:
        table = rng.choice([1.0, 2.0, 4.0], size=shape) / 4 if ties else np.exp(2 * rng.normal(size=shape))
        return np.where(rng.random(shape) < zeros * (len(shape) > 1), 0.0, table)

    tables: list[tuple[tuple[str, ...], np.ndarray]] = [
        ((name,), values((sizes[name],))) for name in names if rng.random() < 0.7
    ]
    for _ in range(draw(st.integers(0, 2 * n)) if n > 1 else 0):
        i, j = rng.choice(n, size=2, replace=False).tolist()
        table = values((sizes[names[i]], sizes[names[j]]))
        if kind != "any":
            if table[0, 0] * table[1, 1] < table[0, 1] * table[1, 0]:
                table = table[::-1].copy()
            if flips[i] != flips[j]:
                table = table[::-1].copy()
        tables.append(((names[i], names[j]), table))
    weights: dict[str, list[float]] = {}
    evidence: dict[str, Any] = {}
    for name in names:
        code, card = int(rng.integers(sizes[name])), sizes[name]
        likelihood = rng.choice([0.25, 0.5, 1.0], size=card).tolist()
        match int(rng.integers(10)):
            case 0:
                evidence[name], weights[name] = code, np.eye(card)[code].tolist()
            case 1:
                evidence[name] = pgm.OneOf(code, 0)
                weights[name] = [float(s in (code, 0)) for s in range(card)]
            case 2:
                evidence[name] = pgm.Likelihood(dict(enumerate(likelihood)))
                weights[name] = likelihood
    note(f"{sizes}\n{[(s, t.tolist()) for s, t in tables]}\n{evidence}")
    return Plain(sizes, tuple(tables)), Known(weights), evidence


def check(best: pgm.Assignment, oracle: Oracle, plain: Plain, evidence: dict[str, Any]) -> None:
    """It is the best, or one of the best and says that there are several."""
    hard = {name for name, w in oracle.known.weights.items() if sum(x > 0 for x in w) == 1}
    assert set(best) == set(plain.cards) - hard
    codes = {name: int(np.argmax(w)) for name, w in oracle.known.weights.items()} | dict(best)
    first, top = oracle.best()[0]
    assert oracle.weight_of(codes) == pytest.approx(float(top), rel=1e-12)
    if not best.report.advice:
        assert codes == first
    assert best.exact
    assert best.log_joint == best.value == best.bound
    assert best.gap == 0.0
    assert best.log_joint == pytest.approx(log(top), abs=1e-11)
    assert best.log_probability == pytest.approx(log(top) - log(oracle.partition), abs=1e-11)


@pytest.mark.parametrize("kind", ["like", "flipped", "any"])
@given(data=DATA)
def test_binary_pairs_against_brute_force(kind: str, data: st.DataObject) -> None:
    plain, known, evidence = data.draw(pairwise(kind))
    oracle, mrf = Oracle(plain, known), model_of(plain)
    if not oracle.possible:
        with pytest.raises(pgm.ImpossibleEvidence):
            mrf.map(evidence, engine="cuts")
        return
    check(mrf.map(evidence, engine="cuts"), oracle, plain, evidence)


@given(data=DATA)
def test_other_pairs_against_brute_force(data: st.DataObject) -> None:
    plain, known, evidence = data.draw(pairwise("any", (2, 2, 3)))
    oracle, mrf = Oracle(plain, known), model_of(plain)
    if not oracle.possible:
        with pytest.raises(pgm.ImpossibleEvidence):
            mrf.map(evidence, engine="cuts")
        return
    check(mrf.map(evidence, engine="cuts"), oracle, plain, evidence)


@pytest.mark.parametrize("numbers", [NUMBERS, TIES], ids=["numbers", "ties"])
@given(data=DATA)
def test_any_model_against_brute_force(numbers: Any, data: st.DataObject) -> None:
    case: Case = data.draw(models(numbers))
    # With ties no likelihoods: 0.8 times 0.3125 is 0.25 to people and to rounding, but not to rationals.
    question: Question = data.draw(knowledge(case, kinds=KINDS if numbers is NUMBERS else KINDS[:3]))
    note(f"{case!r}\ngiven = {question.given}")
    oracle = question.oracle(case)
    if not oracle.possible:
        with pytest.raises(pgm.ImpossibleEvidence):
            case.model.map(question.given, engine="cuts")
        return
    best = case.model.map(question.given, engine="cuts")
    hard = {name: int(np.argmax(w)) for name, w in question.known.weights.items()}
    codes = hard | case.codes(best)
    first, top = oracle.best()[0]
    assert log(oracle.weight_of(codes)) == pytest.approx(log(top), abs=1e-11)
    assert best.exact
    if numbers is TIES and not best.report.advice:
        assert codes == first


def grid_tables(rng: np.random.Generator, rows: int, columns: int, kind: str) -> pgm.MarkovNetwork:
    mrf = pgm.MarkovNetwork()
    for i, j in np.ndindex(rows, columns):
        mrf.add_variable(f"x[{i},{j}]", [0, 1])
        mrf.add_factor([f"x[{i},{j}]"], rng.normal(size=2), log=True)
    for i, j in np.ndindex(rows, columns):
        for k, m in ((i + 1, j), (i, j + 1)):
            if k < rows and m < columns:
                w = rng.exponential() if kind == "like" else rng.normal()
                mrf.add_factor([f"x[{i},{j}]", f"x[{k},{m}]"], [[w, 0], [0, w]], log=True)
    return mrf


@pytest.mark.parametrize("kind", ["like", "any"])
def test_grids_twelve_wide_against_the_tree(kind: str) -> None:
    for seed in range(3):
        mrf = grid_tables(np.random.default_rng(seed), 20, 12, kind)
        tree, cut = mrf.map(engine="exact"), mrf.map(engine="cuts")
        assert dict(cut) == dict(tree)
        assert cut.log_joint == pytest.approx(tree.log_joint, abs=1e-9)
        assert cut.log_probability == pytest.approx(tree.log_probability, abs=1e-9)
        assert (tree.engine, cut.engine) == ("exact", "cuts")


def test_an_image_that_is_of_one_colour_takes_one_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pixels hold each other; to make up for their margins along paths took a minute for 400 x 400."""
    done: list[str] = []
    monkeypatch.setattr(flow, "run", lambda name, *a, **k: (done.append(name), running.run(name, *a, **k)))
    pixels = np.random.default_rng(0).integers(2, size=(60, 60))
    grid = pgm.MarkovNetwork.grid(pixels, states=[0, 1], coupling=1.3, unary=[[0.8, 0.2], [0.3, 0.7]])
    best = grid.map(engine="cuts")
    assert best.report.advice == ""
    assert best.to_array("pixel").all()
    assert (done.count("max_flow"), done.count("firm")) == (1, 2)


def test_ties_but_for_rounding_are_those_of_the_tree() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        image = rng.integers(2, size=(6, 6))
        strong = np.log(9) if seed % 2 else np.log(4) / 2
        p = 0.9 if seed % 2 else 0.8
        grid = pgm.MarkovNetwork.grid(image, [0, 1], strong, [[p, 1 - p], [1 - p, p]])
        tree, cut = grid.map(engine="exact"), grid.map(engine="cuts")
        assert dict(cut) == dict(tree)
        assert cut.report.advice == ""


def test_a_hub_of_many_leaves() -> None:
    rng = np.random.default_rng(1)
    n = 3_000
    mrf = pgm.MarkovNetwork()
    mrf.add_variable("hub", [0, 1])
    tables = rng.random((n, 2, 2))
    for i in range(n):
        mrf.add_variable(f"leaf{i}", [0, 1])
        mrf.add_factor(["hub", f"leaf{i}"], tables[i])
    best = mrf.map(engine="cuts")
    each = np.log(tables.max(axis=2)).sum(axis=0)
    hub = int(each.argmax())
    assert best["hub"] == hub
    assert [best[f"leaf{i}"] for i in range(n)] == tables[:, hub].argmax(axis=1).tolist()
    assert best.value == pytest.approx(float(each.max()), rel=1e-12)
    assert best.engine == "cuts"


def noisy_image(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:n, :n]
    return ((np.sin(x / 7) + np.cos(y / 11) > 0) ^ (rng.random((n, n)) < 0.2)).astype(int)


UNARY = [[0.9, 0.1], [0.1, 0.9]]


def test_an_image_that_fits_no_tree() -> None:
    image = noisy_image(100)
    grid = pgm.MarkovNetwork.grid(image, states=[0, 1], coupling=2.0, unary=UNARY)
    best = grid.map()
    assert best.exact
    assert best.engine == "cuts"
    pixels = best.to_array("pixel")
    agreeing = (pixels[1:] == pixels[:-1]).sum() + (pixels[:, 1:] == pixels[:, :-1]).sum()
    value = 2.0 * agreeing + np.log(np.where(pixels == image, 0.9, 0.1)).sum()
    assert best.value == pytest.approx(value, rel=1e-12)
    with pytest.raises(pgm.TooLarge, match="log_joint"):
        _ = best.probability
    assert "log joint" in repr(best)
    assert "log joint" in best._repr_html_()
    again = pickle.loads(pickle.dumps(best))
    assert (again.value, again.gap, dict(again)) == (best.value, 0.0, dict(best))
    with pytest.raises(pgm.TooLarge):
        grid.map(engine="exact")
    with pytest.raises(pgm.TooLarge):
        grid.k_best(k=2)
    moved = grid.map(engine="expansion")
    assert not moved.exact
    assert moved.value <= best.value + 1e-9
    assert moved.bound >= best.value - 1e-9


def test_a_checkerboard_is_flipped() -> None:
    image = noisy_image(60) ^ (np.indices((60, 60)).sum(axis=0) % 2)
    grid = pgm.MarkovNetwork.grid(image, states=[0, 1], coupling=-2.0, unary=UNARY)
    plain = pgm.MarkovNetwork.grid(noisy_image(60), states=[0, 1], coupling=2.0, unary=UNARY)
    found, like = grid.map(), plain.map()
    n_edges = 2 * 60 * 59
    assert found.value == pytest.approx(like.value - 2.0 * n_edges, rel=1e-12)


# --- roof duality and dead ends ---


def reduced(mrf: pgm.MarkovNetwork, evidence: dict[str, Any]) -> Any:
    compiled_model = mrf._compile()
    posterior = make_posterior(compiled_model, observe(compiled_model.by_name, evidence), Clock(None, None))
    return reduce_everything(posterior.program, posterior.known, posterior.clock)


@given(data=DATA)
def test_what_roof_duality_labels_holds_in_every_best_assignment(data: st.DataObject) -> None:
    plain, known, evidence = data.draw(pairwise("any"))
    oracle, mrf = Oracle(plain, known), model_of(plain)
    if not oracle.possible:
        return
    try:
        case = reduced(mrf, evidence)
    except Impossible:
        return
    clock = Clock(None, None)
    e, use = energies.energies_of(case, clock), np.ones(case.reduced.cards.size, bool)
    pairs = energies.pairs_of(case, e, use, clock)
    if energies.unsupported(pairs, use.size).any():
        return
    sign = flow.curves(pairs.tables, pairs.forbidden, 4 * e.error)
    states = np.full(use.size, -1)
    flow._by_roof_duality(pairs, sign, use, 14 * e.error * pairs.uses, states, clock)
    top = oracle.best()[0][1]
    everybody = [codes for codes, weight in oracle.best(k=512) if weight == top]
    for i, v in enumerate(case.reduced.variables.tolist()):
        if states[i] >= 0:
            here = case.reduced.states[case.reduced.state_at[i] + states[i]]
            assert all(codes[f"x{v}"] == here for codes in everybody)


def test_roof_duality_labels_most_of_a_frustrated_grid() -> None:
    mrf = pgm.MarkovNetwork()
    rng = np.random.default_rng(3)
    n = 60
    names = [[f"x[{i},{j}]" for j in range(n)] for i in range(n)]
    for name in np.ravel(names).tolist():
        mrf.add_variable(name, [0, 1])
        mrf.add_factor([name], 2.0 * rng.normal(size=2), log=True)
    for i, j in np.ndindex(n, n):
        for k, m in ((i + 1, j), (i, j + 1)):
            if k < n and m < n:
                w = rng.choice([-1.0, 1.0]) * rng.exponential()
                mrf.add_factor([names[i][j], names[k][m]], [[w, 0], [0, w]], log=True)
    with pytest.raises(pgm.TooLarge):
        mrf.map(engine="exact")
    best = mrf.map()
    assert best.exact
    assert best.engine == "cuts"
    moved = mrf.map(engine="expansion")
    assert moved.value <= best.value + 1e-9 <= moved.bound + 2e-9


@given(data=DATA)
def test_a_dead_end_is_in_no_best_assignment(data: st.DataObject) -> None:
    plain, known, evidence = data.draw(pairwise("any", (2, 3, 4)))
    oracle, mrf = Oracle(plain, known), model_of(plain)
    if not oracle.possible:
        return
    try:
        case = reduced(mrf, evidence)
    except Impossible:
        return
    r = case.reduced
    alive = np.ones(r.states.size, np.uint8)
    multilevel._close_dead_ends(
        case,
        energies.energies_of(case, Clock(None, None)),
        np.ones(r.cards.size, bool),
        alive,
        Clock(None, None),
    )
    top = oracle.best()[0][1]
    for codes, weight in oracle.best(k=4096):
        if weight == top:
            for i, v in enumerate(r.variables.tolist()):
                here = r.states[r.state_at[i] : r.state_at[i + 1]].tolist().index(codes[f"x{v}"])
                assert alive[r.state_at[i] + here]


def test_dead_ends_make_a_tree_fit() -> None:
    mrf = pgm.MarkovNetwork()
    rng = np.random.default_rng(0)
    n = 40
    for i, j in np.ndindex(n, n):
        mrf.add_variable(f"x[{i},{j}]", list("abcd"))
        strong = 20.0 if j % 5 == 0 else 1.0
        mrf.add_factor([f"x[{i},{j}]"], strong * rng.normal(size=4), log=True)
    for i, j in np.ndindex(n, n):
        for k, m in ((i + 1, j), (i, j + 1)):
            if k < n and m < n:
                mrf.add_factor([f"x[{i},{j}]", f"x[{k},{m}]"], 0.4 * np.eye(4), log=True)
    with pytest.raises(pgm.TooLarge):
        mrf.map(engine="exact")
    best = mrf.map()
    moved = mrf.map(engine="expansion")
    assert best.exact
    assert moved.value <= best.value + 1e-9 <= moved.bound + 2e-9


# --- moves that are not exact ---


@st.composite
def potts(draw: st.DrawFn) -> tuple[Plain, np.random.Generator]:
    rng = draw(RNG)
    n, card = draw(st.integers(1, 6)), draw(st.integers(2, 4))
    cards = {f"x{i}": card for i in range(n)}
    tables: list[tuple[tuple[str, ...], np.ndarray]] = [((x,), np.exp(rng.normal(size=card))) for x in cards]
    for i in range(n):
        for j in range(i):
            if rng.random() < 0.6:
                tables.append(((f"x{i}", f"x{j}"), np.exp(rng.exponential() * np.eye(card))))
    return Plain(cards, tuple(tables)), rng


@given(drawn=potts())
def test_expansion_moves_on_potts_models(drawn: tuple[Plain, Any]) -> None:
    """Within twice the optimum of the energy that is zero where all agree (Boykov, Veksler & Zabih 2001)."""
    plain, _ = drawn
    mrf, oracle = model_of(plain), Oracle(plain)
    top = log(oracle.best()[0][1])
    found = mrf.map(engine="expansion")
    assert not found.exact
    assert "APPROXIMATE (expansion)" in repr(found)
    assert found.report.converged
    assert found.value == pytest.approx(log(oracle.weight_of(dict(found))), abs=1e-11)
    assert found.value <= top + 1e-12 <= found.bound + 2e-12
    assert found.gap == found.bound - found.value >= 0.0
    most = sum(float(np.log(table).max()) for _, table in plain.tables)
    assert most - found.value <= 2.0 * (most - top) + 1e-9


@given(data=DATA)
def test_expansion_moves_on_any_pairs(data: st.DataObject) -> None:
    plain, known, evidence = data.draw(pairwise("any", (2, 3)))
    oracle, mrf = Oracle(plain, known), model_of(plain)
    if not oracle.possible:
        with pytest.raises((pgm.ImpossibleEvidence, pgm.NoSupportFound)):
            mrf.map(evidence, engine="expansion")
        return
    try:
        found = mrf.map(evidence, engine="expansion")
    except pgm.NoSupportFound:
        assert any((table == 0).any() for _, table in plain.tables)
        return
    top = log(oracle.best()[0][1])
    codes = {name: int(np.argmax(w)) for name, w in known.weights.items()} | dict(found)
    assert found.value == pytest.approx(log(oracle.weight_of(codes)), abs=1e-11)
    assert found.value <= top + 1e-12 <= found.bound + 2e-12
    case = reduced(mrf, evidence)
    values = [energy(case, expansion.expand(case, n, 20, Clock(None, None)).states) for n in (0, 1, 2, 20)]
    assert all(b <= a + 1e-9 for a, b in itertools.pairwise(values))


def energy(case: Any, states: np.ndarray) -> float:
    """Minus log2 of the tables at these states; what is forbidden counts a thousand, as a wall does."""
    r = case.reduced
    logs, sources = energies.logarithms(case)
    values = np.minimum(logs.take(sources), 1e3)
    total = 0.0
    for f in range(r.factors.size):
        scope = r.scopes[r.scope_at[f] : r.scope_at[f + 1]]
        total += values[r.table_at[f] + np.ravel_multi_index(states[scope], r.cards[scope])]
    return total


# --- what is refused, and what runs out ---


def test_only_maxima_are_asked_of_cuts_and_moves() -> None:
    mrf = pgm.MarkovNetwork.grid(np.eye(3, dtype=int), states=[0, 1], coupling=1.0, unary=UNARY)
    one = "pixel[0,0]"
    for engine in ("cuts", "expansion", pgm.engines.Cuts(), pgm.engines.Expansion(sweeps=3)):
        for ask in (
            lambda e: mrf.query(one, engine=e),
            lambda e: mrf.marginals(engine=e),
            lambda e: mrf.probability({one: 1}, engine=e),
            lambda e: mrf.sample(3, engine=e),
            lambda e: mrf.plan(engine=e),
        ):
            with pytest.raises(pgm.InvalidArgument, match="it answers `map`"):
                ask(engine)
        with pytest.raises(pgm.InvalidArgument, match="one answer"):
            mrf.k_best(k=2, engine=engine)
        assert len(mrf.k_best(k=1, engine=engine)) == 1
        with pytest.raises(pgm.InvalidArgument, match="to sum out"):
            mrf.map(targets=one, engine=engine)
        rest = {name: 0 for name in mrf.variables if name != one}
        assert dict(mrf.map(rest, targets=[one], engine=engine)) == dict(mrf.map(rest))
        names = list(mrf.variables)[::-1]
        assert list(mrf.map(targets=names, engine=engine)) == names
        assert dict(mrf.map(targets=names, engine=engine)) == dict(mrf.map())
    for bad in ({"sweeps": 0}, {"sweeps": 1.5}, {"bound_sweeps": -1}, {"sweeps": True}):
        with pytest.raises(pgm.InvalidArgument, match="sweeps"):
            pgm.engines.Expansion(**bad)


def test_wide_factors_are_refused_by_name() -> None:
    mrf = pgm.MarkovNetwork()
    for name in "abc":
        mrf.add_variable(name, [0, 1])
    mrf.add_factor(list("abc"), np.arange(1.0, 9.0).reshape(2, 2, 2))
    with pytest.raises(pgm.InvalidArgument, match="over 3"):
        mrf.map(engine="expansion")
    assert dict(mrf.map({"c": 0}, engine="expansion")) == {"a": 1, "b": 1}
    assert dict(mrf.map(engine="cuts")) == {"a": 1, "b": 1, "c": 1}


def potts_image(n: int) -> pgm.MarkovNetwork:
    rng = np.random.default_rng(0)
    return pgm.MarkovNetwork.grid(
        rng.choice(list("abcd"), size=(n, n)), states=list("abcd"), coupling=0.7, unary=0.1 + 0.6 * np.eye(4)
    )


def test_what_cannot_be_exact_says_who_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    image = potts_image(60)
    monkeypatch.setattr(branching, "_WORK", 1e6)  # with more it is found, and proven
    with pytest.raises(pgm.TooLarge, match='engine="expansion"') as raised:
        image.map()
    assert raised.value.plan is not None
    found = image.map(engine="expansion")
    assert not found.exact
    assert 0.0 < found.gap < 0.2 * abs(found.bound)
    assert "below the best" in repr(found)
    assert image.map(engine="expansion") == found  # the same twice


def test_moves_give_the_best_so_far_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    image = potts_image(60)
    case = reduced(image, {})
    late = expansion.expand(
        case, 20, 100, Clock(1.0, time.monotonic() - 1.0)
    )  # not even a bound was worked on
    assert not late.converged
    assert late.sweeps == 0
    best = image.map(engine="expansion")
    towards, asked = expansion._Moves.towards, []

    def three(self: Any, states: np.ndarray, label: int, clock: Clock) -> np.ndarray | None:
        asked.append(label)
        if len(asked) > 3:
            raise pgm.OutOfTime("now")
        return towards(self, states, label, clock)

    monkeypatch.setattr(expansion._Moves, "towards", three)
    found = image.map(engine="expansion")
    assert not found.report.converged
    assert "not converged" in repr(found)
    assert found.value <= best.value + 1e-9 <= found.bound + 2e-9
    assert energy(case, late.states) >= energy(case, codes_of(case, found)) - 1e-9


def codes_of(case: Any, found: pgm.Assignment) -> np.ndarray:
    """An assignment of everything as reduced codes, where every state is open."""
    assert case.reduced.cards.size == len(found)
    return np.array(found.codes, dtype=np.int64)


def test_cuts_need_room() -> None:
    grid = pgm.MarkovNetwork.grid(noisy_image(100), states=[0, 1], coupling=2.0, unary=UNARY)
    for engine in ("auto", "cuts", "expansion"):
        with pytest.raises(pgm.TooLarge, match=r"2\.0 MB are allowed"), pgm.config(memory_limit="2 MB"):
            grid.map(engine=engine)


def test_cuts_run_out_of_time() -> None:
    grid = pgm.MarkovNetwork.grid(noisy_image(400), states=[0, 1], coupling=2.0, unary=UNARY)
    grid._compile()
    with pytest.raises(pgm.OutOfTime), pgm.config(time_limit=0.01):
        grid.map(engine="cuts")


def test_likelihoods_and_the_constant_of_a_network() -> None:
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("b", {True: 0.2, False: 0.4}, parents=["a"])
    given = {"a": pgm.Likelihood({True: 5.0, False: 0.5})}
    for engine in ("cuts", "expansion"):
        best, exact = net.map(given, engine=engine), net.map(given)
        assert dict(best) == dict(exact)
        assert best.log_joint == pytest.approx(exact.log_joint, abs=1e-14)
        assert best.log_probability == pytest.approx(exact.log_probability, abs=1e-14)


def test_soft_evidence() -> None:
    net = pgm.BayesianNetwork()
    net.add("a", 0.3)
    net.add("b", {True: 0.2, False: 0.4}, parents=["a"])
    given = {"b": pgm.Soft({True: 0.9, False: 0.1})}
    best, exact = net.map(given, engine="cuts"), net.map(given)
    assert dict(best) == dict(exact)
    assert best.log_probability == pytest.approx(exact.log_probability, abs=1e-12)


GATES = {
    "noisy-OR": (pgm.NoisyOr({"a": 0.6, "b": 0.5}, leak=0.1), True, 0.25 * (1 - 0.9 * 0.4 * 0.5)),
    "noisy-MAX": (pgm.NoisyMax({"a": {True: [0.4, 0.6]}, "b": {True: [0.5, 0.5]}}), True, 0.25 * 0.8),
    "mixture": (
        pgm.MixtureCPD({"a": {True: 0.9, False: 0.2}, "b": {True: 0.7, False: 0.1}}, {"a": 0.5, "b": 0.5}),
        True,
        0.25 * 0.8,
    ),
}


@pytest.mark.parametrize("gate", GATES)
def test_what_is_hidden_in_a_gate_is_summed_by_expansion_moves(gate: str) -> None:
    """The best is worth `truth`, by hand: both causes are on."""
    cpd, state, truth = GATES[gate]
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    net.add("b", 0.5)
    net.add("x", cpd, states=[False, True])
    found = net.map({"x": state}, engine="expansion")
    own = net.probability({**dict(found), "x": state})
    assert found.log_joint == pytest.approx(math.log(own))
    assert found.log_joint <= math.log(truth) + 1e-12 <= found.bound + 2e-12
